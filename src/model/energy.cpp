// Energies, matrices, rates of states and forces.
#include <algorithm>

#include "judder/core/number.hpp"
#include "model/builder.hpp"

namespace judder::model {

Node Builder::state_rate(int number, std::optional<expr::Forbidden>& cycle) {
  using Progress = StateDraft::Progress;
  if (rates_running > 0) return nested_rate(number, cycle);
  // As with parameters: what lies too deep in a chain is evaluated first, then the others again.
  const void* outer = reading;
  std::vector<int> roots{number};
  const auto at = [this](int state) -> StateDraft& { return states[static_cast<std::size_t>(state)]; };
  while (!roots.empty()) {
    const int root = roots.back();
    if (at(root).progress == Progress::later) at(root).progress = Progress::waiting;
    try {
      std::optional<expr::Forbidden> inner;
      nested_rate(root, inner);
      roots.pop_back();
      if (root == number && inner) cycle = inner;
    } catch (const Later& deeper) {
      rates_running = 0;
      reading = outer;
      at(root).progress = Progress::later;
      roots.push_back(deeper.number);
    }
  }
  return at(number).rate;
}

Node Builder::nested_rate(int number, std::optional<expr::Forbidden>& cycle) {
  using Progress = StateDraft::Progress;
  constexpr std::size_t kMostNested = 40;
  StateDraft& state = states[static_cast<std::size_t>(number)];
  if (state.progress == Progress::done) return state.rate;
  if (state.progress != Progress::waiting) {
    cycle = expr::Forbidden{
        "the rates of states depend on each other in a cycle through " + quoted(state.name), ""};
    return graph.constant(0);
  }
  if (rates_running >= kMostNested) throw Later{number, 0};
  state.progress = Progress::running;
  ++rates_running;
  const std::string where = "state '" + state.name + "', rate";
  Node rate = graph.constant(0);
  if (!state.spec->rate.given) {
    error(state.spec->name, "state '" + state.name + "'", "the state has no rate", "add the key 'rate'");
  } else {
    Scope scope(*this, kVelocity, where);
    const StateVariable& written = *state.spec;
    const std::vector<Index> indices = state.indices;
    try {
      const auto node = lower(written.rate, scope, where, "state." + written.name.text + ".rate", indices);
      if (node) rate = *node;
    } catch (const Later&) {
      states[static_cast<std::size_t>(number)].progress = Progress::waiting;
      throw;
    }
  }
  --rates_running;
  StateDraft& done = states[static_cast<std::size_t>(number)];
  done.rate = rate;
  done.progress = Progress::done;
  return rate;
}

void Builder::read_energy() {
  const Node zero = graph.constant(0);
  kinetic = potential = dissipation = zero;
  const auto read = [&](const Value& value, const Allowed& allowed, const char* key, Node& target) {
    if (!value.given) return;
    const std::string where = std::string("energy, ") + key;
    Scope scope(*this, allowed, where);
    target = lower(value, scope, where, std::string("energy.") + key, {}).value_or(zero);
  };
  read(spec.energy.kinetic, kKinetic, "kinetic", kinetic);
  read(spec.energy.potential, kPotential, "potential", potential);
  read(spec.energy.dissipation, kVelocity, "dissipation", dissipation);

  std::vector<Variable> velocities;
  for (const CoordinateDraft& c : coordinates) velocities.push_back(c.v);
  const Value& value = spec.energy.kinetic;
  if (!graph.polynomial_degree_at_most(kinetic, velocities, 2)) {
    error(
        value, "energy, kinetic", "the kinetic energy is not a polynomial of degree two in the velocities",
        graph.outside().empty()
            ? "velocities may enter as products of at most two"
            : "velocities may enter as products of at most two, and not as arguments of a function from "
              "outside, whose degree cannot be seen: let it give the inertia at a place, inertia(x)*x'^2/2");
    kinetic = zero;
  }
  for (const expr::SwitchId id : graph.switches(kinetic)) {
    const expr::Switch& found = graph.switches()[id];
    if (found.kind == expr::SwitchKind::smooth) continue;
    error(value, "energy, kinetic", "the kinetic energy switches at " + graph.text(found.surface) + " = 0",
          "inertia that jumps has no equation of motion; write it smoothly");
    kinetic = zero;
    break;
  }
}

// Entries that are not zero, by rows; nothing where the matrix has errors.
std::vector<Builder::Entry> Builder::read_matrix(const Matrix& matrix, const char* key) {
  const std::size_t n = coordinates.size();
  std::vector<Entry> entries;
  if (!matrix.given) return entries;
  const std::string where = std::string("matrices, ") + key;
  const auto refuse = [&](std::string message) { report_error(matrix.span, where, std::move(message)); };
  const std::size_t rows = matrix.sparse ? static_cast<std::size_t>(matrix.row_count) : matrix.rows.size();
  if (rows != n) {
    refuse("the matrix has " + std::to_string(rows) + " rows; the model has " + std::to_string(n) +
           " coordinates");
    return entries;
  }
  if (matrix.sparse && matrix.column_count != matrix.row_count) {
    refuse("row 1 has " + std::to_string(matrix.column_count) + " values; " + std::to_string(n) +
           " are needed");
    return entries;
  }
  for (const MatrixEntry& entry : matrix.entries) {
    if (entry.value != 0)
      entries.push_back({static_cast<std::size_t>(entry.row), static_cast<std::size_t>(entry.column),
                         graph.constant(entry.value)});
  }
  for (std::size_t i = 0; i < matrix.rows.size(); ++i) {
    if (matrix.rows[i].size() != n) {
      refuse("row " + std::to_string(i + 1) + " has " + std::to_string(matrix.rows[i].size()) + " values; " +
             std::to_string(n) + " are needed");
      return {};
    }
    for (std::size_t j = 0; j < n; ++j) {
      Scope scope(*this, kParameters, where);
      const auto node = lower(matrix.rows[i][j], scope, where, where, {});
      if (!node) return {};
      if (!is_zero(*node)) entries.push_back({i, j, *node});
    }
  }
  return entries;
}

namespace {

/// The entry in row `row` and column `column`; null where it is zero.
const Builder::Entry* find_entry(const std::vector<Builder::Entry>& entries, std::size_t row,
                                 std::size_t column) {
  const auto at =
      std::lower_bound(entries.begin(), entries.end(), std::pair(row, column),
                       [](const Builder::Entry& e, const std::pair<std::size_t, std::size_t>& place) {
                         return std::pair(e.row, e.column) < place;
                       });
  return at != entries.end() && at->row == row && at->column == column ? &*at : nullptr;
}

}  // namespace

void Builder::check_given_mass() {
  for (const Entry& entry : given_mass) {
    const Entry* const mirror = find_entry(given_mass, entry.column, entry.row);
    if (mirror != nullptr && mirror->value == entry.value) continue;
    const std::string row = std::to_string(std::max(entry.row, entry.column) + 1);
    const std::string column = std::to_string(std::min(entry.row, entry.column) + 1);
    report_error(spec.matrices.mass.span, "matrices, mass",
                 "the mass matrix is not symmetric: entries (" + row + ", " + column + ") and (" + column +
                     ", " + row + ") differ");
    return;
  }
}

void Builder::read_matrices() {
  const std::size_t n = coordinates.size();
  const Node zero = graph.constant(0);
  matrix_force.assign(n, zero);
  damping_power = skew_power = load_power = zero;
  if (matrices_are_large()) {
    matrix_potential = zero;
    read_large_matrices();
    read_load();
    return;
  }
  const auto half = [&](Node a) { return graph.multiply(graph.constant(0.5), a); };

  given_mass = read_matrix(spec.matrices.mass, "mass");
  check_given_mass();
  const std::vector<Entry> damping = read_matrix(spec.matrices.damping, "damping");
  const std::vector<Entry> stiffness = read_matrix(spec.matrices.stiffness, "stiffness");
  budget.spend(damping.size() + stiffness.size());
  std::vector<Node> stored, skew, damped;
  std::vector<std::vector<Node>> rows(n);
  // Both matrices go through together, by rows and columns: the order of the terms of a sum is part of the result.
  for (std::size_t c = 0, k = 0; c < damping.size() || k < stiffness.size();) {
    const auto place = [](const std::vector<Entry>& m, std::size_t at) {
      return at < m.size() ? std::pair(m[at].row, m[at].column) : std::pair(~std::size_t{0}, std::size_t{0});
    };
    const auto [i, j] = std::min(place(damping, c), place(stiffness, k));
    if (place(damping, c) == std::pair(i, j)) {
      const Node f = graph.negate(graph.multiply(damping[c++].value, graph.variable(coordinates[j].v)));
      rows[i].push_back(f);
      damped.push_back(graph.multiply(graph.variable(coordinates[i].v), f));
    }
    if (place(stiffness, k) != std::pair(i, j)) continue;
    const Node kij = stiffness[k++].value;
    const Entry* const mirror = find_entry(stiffness, j, i);
    const Node kji = mirror != nullptr ? mirror->value : zero;
    const Node qj = graph.variable(coordinates[j].q);
    rows[i].push_back(graph.negate(graph.multiply(kij, qj)));
    const Node product = graph.multiply(graph.variable(coordinates[i].q), qj);
    const auto add_antisymmetric = [&](std::size_t row, std::size_t column, Node value) {
      if (is_zero(value)) return;
      skew.push_back(graph.negate(graph.multiply(
          graph.variable(coordinates[row].v), graph.multiply(value, graph.variable(coordinates[column].q)))));
    };
    const Node symmetric = half(graph.add(kij, kji));
    if (!is_zero(symmetric)) stored.push_back(half(graph.multiply(symmetric, product)));
    const Node antisymmetric = half(graph.subtract(kij, kji));
    add_antisymmetric(i, j, antisymmetric);
    if (mirror == nullptr) {  // the place across is zero, and no entry of its own
      if (!is_zero(symmetric)) stored.push_back(half(graph.multiply(symmetric, product)));
      add_antisymmetric(j, i, graph.negate(antisymmetric));
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (!rows[i].empty()) matrix_force[i] = graph.sum(rows[i]);
  }
  matrix_potential = graph.sum(stored);
  damping_power = graph.sum(damped);
  skew_power = graph.sum(skew);
  read_load();
}

void Builder::read_load() {
  const std::size_t n = coordinates.size();
  const Matrix& load = spec.matrices.load;
  if (!load.given) return;
  std::vector<const Value*> values;
  for (const auto& row : load.rows) {
    for (const Value& value : row) values.push_back(&value);
  }
  if (values.size() != n) {
    report_error(load.span, "matrices, load",
                 "the load has " + std::to_string(values.size()) + " values; the model has " +
                     std::to_string(n) + " coordinates");
    return;
  }
  std::vector<Node> work;
  for (std::size_t i = 0; i < n; ++i) {
    Scope scope(*this, kLoad, "matrices, load");
    const Node node =
        lower(*values[i], scope, "matrices, load", "matrices.load", {}).value_or(graph.constant(0));
    matrix_force[i] = graph.add(matrix_force[i], node);
    work.push_back(graph.multiply(node, graph.variable(coordinates[i].v)));
  }
  load_power = graph.sum(work);
}

std::optional<ElementName*> Builder::add_element(const std::string& kind, const Text& name, std::size_t count,
                                                 int arity) {
  const std::string where = kind + " '" + name.text + "'";
  if (!is_name(name, where)) return std::nullopt;
  if (count == 0) {
    left_out.emplace(name.text, kind);
    return std::nullopt;
  }
  const auto [at, fresh] =
      elements.emplace(name.text, ElementName{kind, static_cast<int>(count), arity, {}, {}, {}});
  if (!fresh) {
    error(name, where, quoted(name.text) + " is already the name of a " + at->second.kind,
          "forces, joints, contacts, constraints and watches share one set of names; at most one may remain "
          "after 'when'");
    return std::nullopt;
  }
  return &at->second;
}

void Builder::read_forces() {
  int count = 0;
  for (const Force& f : spec.forces) {
    ++count;
    Text name = f.name;
    if (name.empty()) {
      name.text = "force" + std::to_string(count);
      name.span = f.span;
    }
    const std::string where = "force '" + name.text + "'";
    const std::size_t errors_before = static_cast<std::size_t>(result.diagnostics.errors());
    const std::vector<Instance> all = instances(name.text, f.each, &f.when, where);
    if (static_cast<std::size_t>(result.diagnostics.errors()) > errors_before) continue;
    const auto entry =
        add_element("force", name, all.size(), all.empty() ? 0 : static_cast<int>(all.front().values.size()));
    if (!entry) continue;
    if (!f.along.given || !f.value.given) {
      report_error(f.span, where,
                   std::string("the force has no '") + (f.along.given ? "value" : "along") + "'");
      continue;
    }
    for (const Instance& instance : all) {
      const std::string place = "force '" + instance.name + "'";
      const auto along = acting_direction(f.along, place + ", along", "force." + name.text + ".along",
                                          "along", instance.indices);
      const Node value = lower_or_one(f.value, kVelocity, place + ", value", "force." + name.text + ".value",
                                      instance.indices);
      if (!along) continue;
      (*entry)->forces[instance.values] = static_cast<int>(forces.size());
      forces.push_back({instance.name, place, value, *along});
    }
  }
}

std::optional<std::vector<Node>> Builder::acting_direction(const Value& value, const std::string& where,
                                                           const std::string& place, const char* key,
                                                           const std::vector<Index>& indices) {
  Scope scope(*this, kVelocity, where);
  const std::optional<Node> node = lower(value, scope, where, place, indices);
  if (!node || !affine_in_velocities(*node, value, where, key)) return std::nullopt;
  std::vector<Node> gradient = velocity_gradient(*node);
  // A factor that happens to be zero leaves zero; anything else was meant as a velocity, and what acts along it would move nothing.
  if (all_zero(gradient) && !is_zero(*node)) {
    error(value, where, std::string("'") + key + "' does not depend on any velocity",
          "write a velocity with a prime: x' is that of x");
    return std::nullopt;
  }
  return gradient;
}

bool Builder::affine_in_velocities(Node node, const Value& value, const std::string& where, const char* key) {
  std::vector<Variable> velocities;
  for (const CoordinateDraft& c : coordinates) velocities.push_back(c.v);
  if (graph.polynomial_degree_at_most(node, velocities, 1)) {
    for (const expr::SwitchId id : graph.switches(node)) {
      const std::vector<Variable> used = all_variables(graph.switches()[id].surface);
      for (const Variable v : velocities) {
        if (!std::binary_search(used.begin(), used.end(), v)) continue;
        error(value, where,
              std::string("'") + key + "' switches with a velocity and is not affine in the velocities",
              "write it as a sum of velocities, each times a factor without velocities");
        return false;
      }
    }
    return true;
  }
  error(value, where, std::string("'") + key + "' is not affine in the velocities",
        "write it as a sum of velocities, each times a factor without velocities");
  return false;
}

}  // namespace judder::model
