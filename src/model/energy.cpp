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
    error(value, "energy, kinetic", "the kinetic energy is not a polynomial of degree two in the velocities",
          "velocities may enter as products of at most two");
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

void Builder::read_matrices() {
  const std::size_t n = coordinates.size();
  const Node zero = graph.constant(0);
  matrix_force.assign(n, zero);
  damping_power = skew_power = load_power = zero;
  const auto read = [&](const Matrix& matrix, const char* key) {
    std::vector<Node> entries;
    if (!matrix.given) return entries;
    const std::string where = std::string("matrices, ") + key;
    const auto refuse = [&](std::string message) { report_error(matrix.span, where, std::move(message)); };
    if (matrix.rows.size() != n) {
      refuse("the matrix has " + std::to_string(matrix.rows.size()) + " rows; the model has " +
             std::to_string(n) + " coordinates");
      return entries;
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (matrix.rows[i].size() != n) {
        refuse("row " + std::to_string(i + 1) + " has " + std::to_string(matrix.rows[i].size()) +
               " values; " + std::to_string(n) + " are needed");
        return std::vector<Node>();
      }
      for (const Value& value : matrix.rows[i]) {
        Scope scope(*this, kParameters, where);
        const auto node = lower(value, scope, where, where, {});
        if (!node) return std::vector<Node>();
        entries.push_back(*node);
      }
    }
    return entries;
  };
  const auto half = [&](Node a) { return graph.multiply(graph.constant(0.5), a); };

  given_mass = read(spec.matrices.mass, "mass");
  if (!given_mass.empty()) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (given_mass[i * n + j] == given_mass[j * n + i]) continue;
        report_error(spec.matrices.mass.span, "matrices, mass",
                     "the mass matrix is not symmetric: entries (" + std::to_string(i + 1) + ", " +
                         std::to_string(j + 1) + ") and (" + std::to_string(j + 1) + ", " +
                         std::to_string(i + 1) + ") differ");
        i = n;
        break;
      }
    }
  }

  const std::vector<Node> damping = read(spec.matrices.damping, "damping");
  const std::vector<Node> stiffness = read(spec.matrices.stiffness, "stiffness");
  std::vector<Node> stored, skew, damped;
  for (std::size_t i = 0; i < n && !(damping.empty() && stiffness.empty()); ++i) {
    std::vector<Node> row{matrix_force[i]};
    for (std::size_t j = 0; j < n; ++j) {
      if (!damping.empty() && !is_zero(damping[i * n + j])) {
        const Node f = graph.negate(graph.multiply(damping[i * n + j], graph.variable(coordinates[j].v)));
        row.push_back(f);
        damped.push_back(graph.multiply(graph.variable(coordinates[i].v), f));
      }
      if (!stiffness.empty()) {
        const Node kij = stiffness[i * n + j], kji = stiffness[j * n + i];
        const Node qj = graph.variable(coordinates[j].q);
        if (!is_zero(kij)) row.push_back(graph.negate(graph.multiply(kij, qj)));
        const Node symmetric = half(graph.add(kij, kji));
        if (!is_zero(symmetric)) {
          stored.push_back(
              half(graph.multiply(symmetric, graph.multiply(graph.variable(coordinates[i].q), qj))));
        }
        const Node antisymmetric = half(graph.subtract(kij, kji));
        if (!is_zero(antisymmetric)) {
          skew.push_back(graph.negate(
              graph.multiply(graph.variable(coordinates[i].v), graph.multiply(antisymmetric, qj))));
        }
      }
    }
    matrix_force[i] = graph.sum(row);
  }
  matrix_potential = graph.sum(stored);
  damping_power = graph.sum(damped);
  skew_power = graph.sum(skew);

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
