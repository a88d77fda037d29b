// Equations of motion by differentiation, and the audit of energy.
//
//     M = ∂²T/∂v∂v
//     h_i = −Σ_j ∂²T/∂v_i∂q_j v_j − ∂²T/∂v_i∂t + ∂T/∂q_i − ∂V/∂q_i − ∂D/∂v_i + Σ value ∂(along)/∂v_i + …
//
// E = v·∂T/∂v − T + V changes by  dE/dt = ∂V/∂t − ∂T/∂t + Σ ∂V/∂z ż + Σ Q_i v_i  over all generalised forces
// Q that are not from V.
#include <algorithm>

#include "model/builder.hpp"

namespace judder::model {

bool Builder::is_zero(Node node) const { return graph.is_constant(node) && graph.value(node) == 0; }

bool Builder::all_zero(const std::vector<Node>& nodes) const {
  return std::all_of(nodes.begin(), nodes.end(), [this](Node node) { return is_zero(node); });
}

std::vector<Node> Builder::velocity_gradient(Node node) {
  budget.spend(4 *
               coordinates.size());  // a row of every contact is kept as it is, for the memory that it takes
  std::vector<Node> out(coordinates.size(), graph.constant(0));
  const std::vector<Variable> used = graph.variables(node);
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    if (std::binary_search(used.begin(), used.end(), coordinates[i].v))
      out[i] = graph.derivative(node, coordinates[i].v);
  }
  return out;
}

Node Builder::at_rest(Node node) {
  std::vector<Variable> velocities;
  std::vector<Node> zeros;
  for (const CoordinateDraft& c : coordinates) {
    velocities.push_back(c.v);
    zeros.push_back(graph.constant(0));
  }
  return graph.substitute(node, velocities, zeros);
}

namespace {

/// Where the list, which is sorted by that variable, has it.
template <class Draft>
std::optional<std::size_t> place(const std::vector<Draft>& drafts, Variable Draft::*variable, Variable x) {
  const auto at = std::lower_bound(drafts.begin(), drafts.end(), x,
                                   [variable](const Draft& a, Variable b) { return a.*variable < b; });
  if (at == drafts.end() || !((*at).*variable == x)) return std::nullopt;
  return static_cast<std::size_t>(at - drafts.begin());
}

}  // namespace

std::optional<std::size_t> Builder::coordinate_at(Variable x) const {
  return place(coordinates, &CoordinateDraft::q, x);
}
std::optional<std::size_t> Builder::coordinate_moving(Variable x) const {
  return place(coordinates, &CoordinateDraft::v, x);
}
std::optional<std::size_t> Builder::state_of(Variable x) const { return place(states, &StateDraft::z, x); }

Node Builder::partial_time_and_position(Node node) {
  const std::vector<Variable> used = graph.variables(node);
  const auto uses = [&](Variable x) { return std::binary_search(used.begin(), used.end(), x); };
  std::vector<Node> terms;
  if (uses(t)) terms.push_back(graph.derivative(node, t));
  // Variables are numbered as coordinates and states are, so that this is their order, too.
  for (const Variable x : used) {
    if (const auto c = coordinate_at(x)) {
      terms.push_back(graph.multiply(graph.variable(coordinates[*c].v), graph.derivative(node, x)));
    } else if (const auto z = state_of(x)) {
      std::optional<expr::Forbidden> cycle;
      const Node rate = state_rate(static_cast<int>(*z), cycle);
      terms.push_back(graph.multiply(rate, graph.derivative(node, x)));
    }
  }
  return graph.sum(terms);
}

Node Builder::total_derivative(Node node, bool accelerations) {
  Node out = partial_time_and_position(node);
  if (!accelerations) return out;
  for (const Variable x : graph.variables(node)) {
    if (const auto c = coordinate_moving(x))
      out = graph.add(out, graph.multiply(graph.variable(coordinates[*c].a), graph.derivative(node, x)));
  }
  return out;
}

void Builder::derive_motion() {
  const std::size_t n = coordinates.size();
  const Node zero = graph.constant(0);
  if (large == nullptr) {
    budget.spend(n * n);
    mass.assign(n * n, zero);
  }
  force.assign(n, zero);

  Node matrix_kinetic = zero;  // constant inertia adds nothing to h; keep it out of the differentiation
  Node varying = kinetic;
  if (!given_mass.empty()) {
    std::vector<Node> terms;
    for (const Entry& entry : given_mass) {
      const Node vv = graph.multiply(graph.variable(coordinates[entry.row].v),
                                     graph.variable(coordinates[entry.column].v));
      terms.push_back(graph.multiply(graph.constant(0.5), graph.multiply(entry.value, vv)));
    }
    matrix_kinetic = graph.sum(terms);
    kinetic = graph.add(kinetic, matrix_kinetic);
  }

  std::size_t given = 0;  // entries of the given mass, which are in the order of rows
  for (std::size_t i = 0; i < n; ++i) {
    const CoordinateDraft& c = coordinates[i];
    const Node momentum = graph.derivative(varying, c.v);
    std::vector<Node> terms;
    if (!is_zero(momentum) && large == nullptr) {
      const std::vector<Node> row = velocity_gradient(momentum);
      std::copy(row.begin(), row.end(), mass.begin() + static_cast<std::ptrdiff_t>(i * n));
      terms.push_back(graph.negate(partial_time_and_position(momentum)));
    }
    for (; given < given_mass.size() && given_mass[given].row == i; ++given) {
      Node& entry = mass[i * n + given_mass[given].column];
      entry = graph.add(entry, given_mass[given].value);
    }
    terms.push_back(graph.derivative(varying, c.q));
    terms.push_back(graph.negate(graph.derivative(potential, c.q)));
    terms.push_back(graph.negate(graph.derivative(dissipation, c.v)));
    terms.push_back(matrix_force[i]);
    for (const ForceDraft& f : forces) {
      if (!is_zero(f.w[i])) terms.push_back(graph.multiply(f.value, f.w[i]));
    }
    for (const RelationDraft& r : relations) {
      if (r.compliant && !is_zero(r.push[i])) terms.push_back(graph.multiply(r.normal_force, r.push[i]));
      for (const TangentDraft& row : r.slip) {
        if (!is_zero(row.added) && !is_zero(row.drag[i]))
          terms.push_back(graph.multiply(row.added, row.drag[i]));
      }
    }
    force[i] = graph.sum(terms);
  }

  if (large != nullptr) {
    kinetic = graph.add(kinetic, graph.variable(large_kinetic));
    matrix_potential = graph.variable(large_potential);
  }
  potential = graph.add(potential, matrix_potential);
  lagrangian_time = graph.subtract(graph.derivative(kinetic, t), graph.derivative(potential, t));
  std::vector<Node> stored{potential};
  for (const RelationDraft& r : relations) {
    if (r.compliant) stored.push_back(r.stored);
  }
  potential = graph.sum(stored);

  if (large != nullptr) {
    energy = graph.add(kinetic, potential);
    return;
  }
  bool homogeneous = is_zero(at_rest(kinetic));
  std::vector<Node> legendre{graph.negate(kinetic)};
  for (const CoordinateDraft& c : coordinates) {
    const Node momentum = graph.derivative(kinetic, c.v);
    if (is_zero(momentum)) continue;
    homogeneous = homogeneous && is_zero(at_rest(momentum));
    legendre.push_back(graph.multiply(graph.variable(c.v), momentum));
  }
  energy = graph.add(homogeneous ? kinetic : graph.sum(legendre), potential);
}

void Builder::derive_audit() {
  const auto along = [this](const std::vector<Node>& w) {
    std::vector<Node> terms;
    for (std::size_t i = 0; i < w.size(); ++i) {
      if (!is_zero(w[i])) terms.push_back(graph.multiply(w[i], graph.variable(coordinates[i].v)));
    }
    return graph.sum(terms);
  };
  const auto add = [this](std::string name, int relation, Node power, bool dissipative, bool builtin,
                          bool of_jumps = false) {
    if (is_zero(power) && relation < 0 && !of_jumps) return;
    AuditDraft audit;
    audit.name = std::move(name);
    audit.relation = relation;
    audit.builtin = builtin;
    audit.power = power;
    audit.has_power = !is_zero(power);
    audit.dissipative = dissipative;
    audit.of_jumps = of_jumps;
    const std::string label = std::to_string(audits.size());
    audit.dissipated = graph.declare("dissipated#" + label);
    audit.supplied = graph.declare("supplied#" + label);
    constexpr std::size_t kFormulasPerAudit = 4;  // the names and variables of its account
    budget.keep(kFormulasPerAudit);
    audits.push_back(std::move(audit));
  };

  for (const ForceDraft& f : forces) add(f.name, -1, graph.multiply(f.value, along(f.w)), false, false);

  // A damper between the system and a moving point dissipates 2D; what remains of −v·∂D/∂v is work done by
  // that point.
  std::vector<Variable> velocities;
  for (const CoordinateDraft& c : coordinates) velocities.push_back(c.v);
  std::vector<Node> terms, lowest;
  for (const CoordinateDraft& c : coordinates) {
    const Node f = graph.derivative(dissipation, c.v);
    if (is_zero(f)) continue;
    terms.push_back(graph.negate(graph.multiply(graph.variable(c.v), f)));
    lowest.push_back(graph.multiply(graph.variable(c.v), at_rest(f)));
  }
  const Node damping = graph.sum(terms);
  if (graph.polynomial_degree_at_most(dissipation, velocities, 2) && graph.switches(dissipation).empty()) {
    const Node two = graph.constant(2);
    const Node driven = graph.add(graph.sum(lowest), graph.multiply(two, at_rest(dissipation)));
    add("dissipation", -1, graph.negate(graph.multiply(two, dissipation)), true, true);
    add("dissipation", -1, driven, false, true);
  } else {
    add("dissipation", -1, damping, true, true);
  }
  if (large != nullptr && large->damping.size > 0) {
    // Its power is a number that the System adds.
    add("damping", -1, graph.constant(1), true, true);
    large_damping = audits.size() - 1;
    audits.back().power = graph.constant(0);
  }
  add("damping", -1, damping_power, true, true);
  add("stiffness", -1, skew_power, false, true);
  add("load", -1, load_power, false, true);

  std::vector<Node> drive{graph.negate(lagrangian_time)};
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Node slope = graph.derivative(potential, states[i].z);
    if (!is_zero(slope)) drive.push_back(graph.multiply(slope, states[i].rate));
  }
  add("drive", -1, graph.sum(drive), false, true);

  for (std::size_t k = 0; k < relations.size(); ++k) {
    const RelationDraft& r = relations[k];
    std::vector<Node> lost, supplied;
    if (r.compliant) {
      const Node rate = graph.negate(r.gap_rate);
      lost.push_back(graph.negate(graph.multiply(graph.subtract(r.normal_force, r.stored_force), rate)));
      const Node excess = r.own_push ? graph.subtract(along(r.push), r.gap_rate) : graph.negate(r.gap_time);
      supplied.push_back(graph.multiply(r.normal_force, excess));
    }
    for (const TangentDraft& row : r.slip) {
      if (is_zero(row.added)) continue;
      lost.push_back(graph.multiply(row.added, row.slip));
      const Node excess = r.own_push ? graph.subtract(along(row.drag), row.slip) : graph.negate(row.drive);
      supplied.push_back(graph.multiply(row.added, excess));
    }
    const bool moving = r.has_normal && (r.kind == RelationKind::contact || !is_zero(r.gap_time) ||
                                         r.own_push || !graph.switches(r.gap_rate).empty());
    const bool rubs = r.friction && !(r.smooth && r.known_load);
    const Node losses = graph.sum(lost), supply = graph.sum(supplied);
    if (moving || rubs || !is_zero(losses)) add(r.name, static_cast<int>(k), losses, true, false);
    add(r.name, -1, supply, false, false);
  }

  // What has neither inertia nor damper jumps with its forces, and the jump loses energy.
  bool jumps = false;
  for (std::size_t i = 0; i < coordinates.size(); ++i)
    jumps = jumps || (coordinates[i].spec->massless && !damped_massless(force, i));
  if (jumps || quasi_static()) {
    add("jump", -1, graph.constant(0), true, true, true);
  }
}

}  // namespace judder::model
