// Programs, layout, switches and start inputs of the System.
#include <algorithm>
#include <cmath>
#include <limits>

#include "judder/expr/through.hpp"
#include "model/builder.hpp"

namespace judder::model {
bool Builder::quasi_static() const { return result.run.engine == "quasi-static"; }

expr::Program Builder::program(std::span<const Node> outputs, expr::Sides sides) const {
  constexpr int kLargeEnergies = 2;  // behind the others
  const int inputs = system.data_->layout.size() + 1 + (large != nullptr ? kLargeEnergies : 0);
  return expr::compile(graph, outputs, map, inputs, sides);
}

/// Switches used by the motion, relations and energies, also through surfaces of other switches. Their order
/// is that of the graph: a surface uses sides of earlier switches only.
void Builder::collect_switches() {
  std::vector<Node> motion, accounts, related, impacts;
  std::copy_if(mass.begin(), mass.end(), std::back_inserter(motion),
               [this](Node node) { return !graph.is_constant(node); });
  append(motion, force);
  for (const StateDraft& s : states) motion.push_back(s.rate);
  append(accounts, {kinetic, potential, energy});
  for (const AuditDraft& a : audits) accounts.push_back(a.power);
  // Most entries of most rows are constants, which hold no switch and no variable.
  const auto append_varying = [&](const std::vector<Node>& nodes) {
    std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(related),
                 [this](Node node) { return !graph.is_constant(node); });
  };
  for (const RelationDraft& r : relations) {
    append(related, {r.gap, r.gap_rate, r.gap_time, r.zeta, r.base});
    append(impacts, {r.restitution, r.tangential});  // read at impacts only, with the sides of their values
    append_varying(r.w);
    append_varying(r.push);
    append(related, r.factors);
    for (const TangentDraft& row : r.slip) {
      append(related, {row.slip, row.drive, row.zeta, row.mu, row.mu_static, row.added});
      append_varying(row.w);
      append_varying(row.drag);
    }
  }
  const auto closure = [this](const std::vector<Node>& nodes) {
    std::vector<bool> found(graph.switches().size(), false);
    for (const expr::SwitchId id : expr::switches_through(graph, nodes)) found[id] = true;
    return found;
  };
  const std::vector<bool> in_motion = closure(motion), in_relations = closure(related),
                          in_accounts = closure(accounts);
  System::Data& d = *system.data_;
  append(motion, related);
  evaluated_nodes = motion;
  std::vector<Node> moving(motion);
  append(moving, impacts);
  find_time_and_cyclic(moving);
  append(evaluated_nodes, accounts);
  expr::Texts text(graph, kLongestSide);
  const std::vector<bool> time_only = expr::switches_of(graph, t);
  for (std::size_t id = 0; id < graph.switches().size(); ++id) {
    if (!in_motion[id] && !in_relations[id] && !in_accounts[id]) continue;
    used_switches.push_back(static_cast<expr::SwitchId>(id));
    const expr::Switch& from = graph.switches()[id];
    SwitchInfo info;
    info.kind = id < moving_kinds.size() ? moving_kinds[id] : from.kind;
    info.whole = from.whole;
    info.levels = from.levels;
    info.never_negative = from.never_negative;
    info.one_sided = from.one_sided;
    info.top = from.top;
    info.in_motion = in_motion[id];
    info.in_relations = in_relations[id];
    info.place = from.place;
    const std::string surface = from.above.empty() || from.below.empty() ? text(from.surface) : std::string();
    if (from.above.empty()) for_form.above.push_back(d.switches.size());
    if (from.below.empty()) for_form.below.push_back(d.switches.size());
    info.above = from.above.empty() ? surface + " > 0" : from.above;
    info.below = from.below.empty() ? surface + " < 0" : from.below;
    constexpr std::size_t kLettersPerFormula = 256;
    budget.keep((info.above.size() + info.below.size()) / kLettersPerFormula);
    info.time_only = time_only[id];
    info.at_zero = from.at_zero;
    info.differ_at_zero = from.differ_at_zero;
    d.switches.push_back(std::move(info));
    d.symbols.surface.push_back(from.surface);
  }
}

/// Switches that watches read: those of the motion where their side is kept at every moment, others with sides of their own.
void Builder::collect_observed() {
  std::vector<bool> read(graph.switches().size(), false);
  std::vector<Node> open;
  for (const WatchDraft& w : watches) open.push_back(w.value);
  for (const expr::SwitchId id : expr::switches_through(graph, open)) read[id] = true;
  if (std::find(read.begin(), read.end(), true) == read.end()) return;
  const std::vector<Node> uses = graph.uses(evaluated_nodes);
  for (std::size_t id = 0; id < read.size(); ++id) {
    if (!read[id]) continue;
    const auto own = static_cast<expr::SwitchId>(id);
    const bool moves = std::find(used_switches.begin(), used_switches.end(), own) != used_switches.end();
    if (!moves || !graph.is_constant(uses[id])) {
      observed_switches.push_back(own);
    } else {
      const auto at = std::find(used_switches.begin(), used_switches.end(), own) - used_switches.begin();
      system.data_->switches[static_cast<std::size_t>(at)].watched =
          graph.switches()[id].kind == expr::SwitchKind::jump;
    }
  }
}

bool Builder::reads_works(Node node) const {
  return std::any_of(audits.begin(), audits.end(), [&](const AuditDraft& audit) {
    return graph.depends_on(node, audit.dissipated) || graph.depends_on(node, audit.supplied);
  });
}

/// The watches, and the surfaces of their own switches.
void Builder::build_watches(const std::vector<Variable>& directions) {
  System::Data& d = *system.data_;
  const std::size_t width = 2 * coordinates.size() + states.size();
  const expr::InputMap motions = map;
  std::vector<int> number(graph.switches().size(), -1);
  for (std::size_t k = 0; k < used_switches.size(); ++k) number[used_switches[k]] = static_cast<int>(k);
  for (std::size_t k = 0; k < observed_switches.size(); ++k) {
    const int place = static_cast<int>(k);
    number[observed_switches[k]] = d.layout.switches + place;
    map.side[observed_switches[k]] = d.layout.observed_side() + place;
  }
  const std::vector<bool> time_only = expr::switches_of(graph, t);
  for (const expr::SwitchId id : observed_switches) {
    const expr::Switch& from = graph.switches()[id];
    const Node s = from.surface;
    SwitchInfo info;
    info.kind = from.kind;
    info.whole = from.whole;
    info.levels = from.levels;
    info.never_negative = from.never_negative;
    info.one_sided = from.one_sided;
    info.top = from.top;
    info.at_zero = from.at_zero;
    info.differ_at_zero = from.differ_at_zero;
    info.place = from.place;
    info.time_only = time_only[id];
    for (const expr::SwitchId inner : graph.switches(s)) info.inner.push_back(number[inner]);
    std::vector<Node> nodes{s, graph.derivative(s, t)};
    for (std::size_t i = 0; i < width; ++i) nodes.push_back(graph.derivative(s, directions[i]));
    info.surface = program(nodes);
    info.value = program(std::span<const Node>(&s, 1));
    d.watches_read_works = d.watches_read_works || reads_works(s);
    d.observed.push_back(std::move(info));
  }
  for (const WatchDraft& w : watches) {
    d.watches_read_works = d.watches_read_works || reads_works(w.value);
    d.watches.push_back(w.info);
    d.watches.back().one_sided = graph.only_sign(w.value);
    d.watches.back().value = program(std::span<const Node>(&w.value, 1));
  }
  map = motions;
}

/// Which switches, coordinates, states and relations a switch touches: surfaces that are met together are decided together only where
/// these meet.
void Builder::link_switches() {
  System::Data& d = *system.data_;
  std::vector<int> number(graph.switches().size(), -1);
  for (std::size_t k = 0; k < used_switches.size(); ++k) number[used_switches[k]] = static_cast<int>(k);
  const auto note = [&](Node node, std::vector<int> SwitchInfo::*list, std::size_t item) {
    for (const expr::SwitchId id : graph.switches(node)) {
      std::vector<int>& items = d.switches[static_cast<std::size_t>(number[id])].*list;
      if (items.empty() || items.back() != static_cast<int>(item)) items.push_back(static_cast<int>(item));
    }
  };
  for (std::size_t i = 0; i < coordinates.size(); ++i) note(force[i], &SwitchInfo::moves, i);
  for (std::size_t i = 0; i < states.size(); ++i) note(states[i].rate, &SwitchInfo::feeds, i);
  for (std::size_t r = 0; r < relations.size(); ++r) {
    const RelationDraft& draft = relations[r];
    std::vector<Node> nodes{draft.gap, draft.gap_rate, draft.gap_time, draft.zeta, draft.base};
    append(nodes, draft.w);
    append(nodes, draft.push);
    append(nodes, draft.factors);
    for (const TangentDraft& row : draft.slip) {
      append(nodes, {row.slip, row.drive, row.zeta, row.mu, row.mu_static, row.added});
      append(nodes, row.w);
      append(nodes, row.drag);
    }
    for (const Node node : nodes) note(node, &SwitchInfo::relations, r);
  }
  for (std::size_t k = 0; k < d.switches.size(); ++k) {
    SwitchInfo& info = d.switches[k];
    const Node s = d.symbols.surface[k];
    for (const expr::SwitchId id : graph.switches(s)) info.inner.push_back(number[id]);
    for (std::size_t i = 0; i < coordinates.size(); ++i) {
      if (graph.depends_on(s, coordinates[i].q) || graph.depends_on(s, coordinates[i].v))
        info.sees.push_back(static_cast<int>(i));
    }
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (graph.depends_on(s, states[i].z)) info.sees_states.push_back(static_cast<int>(i));
    }
  }
}

/// Where a switch stands only in a branch, the condition under which it is read.
void Builder::find_live_switches() {
  System::Data& d = *system.data_;
  const std::vector<Node> uses = graph.uses(evaluated_nodes);
  for (std::size_t k = 0; k < used_switches.size(); ++k) {
    const Node use = uses[used_switches[k]];
    if (!graph.is_constant(use)) d.switches[k].live = program(std::span<const Node>(&use, 1));
  }
}

/// ṡ of the surfaces that do not see velocities, with its derivatives.
void Builder::build_surface_rates(const std::vector<Variable>& directions) {
  System::Data& d = *system.data_;
  const std::size_t width = 2 * coordinates.size() + states.size();
  for (std::size_t k = 0; k < d.switches.size(); ++k) {
    SwitchInfo& info = d.switches[k];
    const Node s = d.symbols.surface[k];
    const bool sees_velocities =
        std::any_of(coordinates.begin(), coordinates.end(),
                    [&](const CoordinateDraft& c) { return graph.depends_on(s, c.v); });
    if (info.time_only || info.kind == expr::SwitchKind::smooth || sees_velocities) continue;
    const Node rate = partial_time_and_position(s);
    std::vector<Node> nodes{rate, graph.derivative(rate, t)};
    for (std::size_t i = 0; i < width; ++i) nodes.push_back(graph.derivative(rate, directions[i]));
    info.rate = program(nodes);
  }
}

/// What the motion depends on: t with its periods, and the coordinates and states that only enter by their rates.
void Builder::find_time_and_cyclic(const std::vector<Node>& moving) {
  System::Data& d = *system.data_;
  std::vector<bool> reads(graph.variable_count(), false);
  for (const Variable x : expr::variables_through(graph, moving)) reads[x] = true;
  d.time_free = !reads[t];
  // t outside of what stands on a timetable: in the formulas themselves, and in surfaces that see more than t.
  d.steady = true;
  const std::vector<bool> time_only = expr::switches_of(graph, t);
  std::vector<bool> seen(graph.switches().size(), false);
  std::vector<Node> open(moving);
  while (!open.empty() && d.steady) {
    const Node node = open.back();
    open.pop_back();
    d.steady = !graph.depends_on(node, t);
    for (const expr::SwitchId id : graph.switches(node)) {
      if (seen[id]) continue;
      seen[id] = true;
      if (!time_only[id]) open.push_back(graph.switches()[id].surface);
    }
  }
  if (!d.time_free) for_form.periods = graph.period_numbers(moving, t);
  d.periods = d.time_free ? std::vector<double>() : graph.periods(moving, t);
  for (const CoordinateDraft& c : coordinates) d.cyclic.push_back(!reads[c.q]);
  for (const StateDraft& s : states) d.cyclic.push_back(!reads[s.z]);
}

/// The entries of M that are not zero by their form, row by row up to the diagonal, and the places that elimination fills.
std::vector<Node> Builder::find_mass_pattern() {
  System::Data& d = *system.data_;
  const std::size_t n = coordinates.size();
  std::vector<Node> entries;
  if (large != nullptr) {
    const MatrixRows& m = large->mass;
    for (std::size_t i = 0; i < n; ++i) {
      d.mass_pattern.begin.push_back(static_cast<int>(d.mass_pattern.at.size()));
      for (int e = m.begin[i]; e < m.begin[i + 1] && m.column[e] <= static_cast<int>(i); ++e)
        d.mass_pattern.at.push_back(m.column[e]);
    }
    d.mass_pattern.begin.push_back(static_cast<int>(d.mass_pattern.at.size()));
    d.mass_pattern.list_columns();
    d.factor_begin.assign(1, 0);
    for (std::size_t i = 0; i < n; ++i) {
      const int first = d.mass_pattern.at[static_cast<std::size_t>(d.mass_pattern.begin[i])];
      d.factor_first.push_back(first);
      d.factor_last.push_back(static_cast<int>(i));
      for (int c = first; c < static_cast<int>(i); ++c)
        d.factor_last[static_cast<std::size_t>(c)] = static_cast<int>(i);
      d.factor_begin.push_back(d.factor_begin.back() + i - static_cast<std::size_t>(first));
    }
    return entries;
  }
  std::vector<int> number(n, -1);  // of a massive coordinate among these
  for (std::size_t k = 0; k < d.massive.size(); ++k)
    number[static_cast<std::size_t>(d.massive[k])] = static_cast<int>(k);
  d.factor_begin.assign(1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    d.mass_pattern.begin.push_back(static_cast<int>(entries.size()));
    int first = number[i];
    for (std::size_t j = 0; j <= i; ++j) {
      if (j < i && is_zero(mass[i * n + j])) continue;
      if (number[j] >= 0) first = std::min(first, number[j]);
      entries.push_back(mass[i * n + j]);
      d.mass_pattern.at.push_back(static_cast<int>(j));
    }
    if (number[i] < 0) continue;
    d.factor_first.push_back(first);
    d.factor_last.push_back(number[i]);
    for (int c = first; c < number[i]; ++c) d.factor_last[static_cast<std::size_t>(c)] = number[i];
    d.factor_begin.push_back(d.factor_begin.back() + static_cast<std::size_t>(number[i] - first));
  }
  d.mass_pattern.begin.push_back(static_cast<int>(entries.size()));
  d.mass_pattern.list_columns();
  return entries;
}

// A gap whose slopes are 1 and −1, and whose value and rate each take one operation at most.
std::optional<PlainGap> Builder::plain_gap(const RelationDraft& r, const Relation& made,
                                           std::span<const double> zeros) const {
  const expr::Program& gap = made.gap;
  if (!r.has_normal || gap.length() > 2 || !is_zero(r.gap_time)) return std::nullopt;
  if (graph.tape() != nullptr) return std::nullopt;  // an offset may be another number later
  PlainGap out;
  int slopes = 0;
  for (const int i : made.touches) {
    const Node slope = r.w[static_cast<std::size_t>(i)];
    if (is_zero(slope)) continue;
    if (!graph.is_constant(slope) || ++slopes > 2) return std::nullopt;
    const double sign = graph.value(slope).raw();
    if (sign != 1 && sign != -1) return std::nullopt;
    (slopes == 1 ? out.first : out.second) = i;
    (slopes == 1 ? out.first_sign : out.second_sign) = sign;
  }
  if (slopes == 0 || gap.only(0).length() > 1 || gap.only(1).length() > 1) return std::nullopt;
  for (const Variable x : all_variables(r.gap)) {
    const auto is = [&](int i) { return i >= 0 && x == coordinates[static_cast<std::size_t>(i)].q; };
    if (!is(out.first) && !is(out.second)) return std::nullopt;
  }
  out.offset = graph.evaluate(r.gap, zeros);
  if (out.second >= 0 && out.offset != 0) return std::nullopt;
  return out;
}

void Builder::assemble() {
  count_places();
  place_variables();
  place_audits();

  std::vector<Node> rates(force);
  for (const StateDraft& s : states) rates.push_back(s.rate);
  std::vector<bool> reads(graph.variable_count(), false);
  for (const Node node : rates) {
    for (const Variable x : all_variables(node)) reads[x] = true;
  }
  std::vector<Variable> directions;
  for (const CoordinateDraft& c : coordinates) directions.push_back(c.q);
  for (const CoordinateDraft& c : coordinates) directions.push_back(c.v);
  for (const StateDraft& s : states) directions.push_back(s.z);
  for (const ParameterDraft& p : parameters) {
    if (p.free) directions.push_back(p.variable);
  }
  System::Data& d = *system.data_;
  d.autonomous = !reads[t];
  build_motion(rates, directions);
  assemble_relations(*this, reads);
  d.symbols.t = t;
  d.speed = approach;
  d.symbols.mass = mass;
  d.symbols.force = force;
  d.symbols.kinetic = kinetic;
  d.symbols.potential = potential;
  d.symbols.energy = energy;
  d.symbols.lagrangian_time = lagrangian_time;
  build_outputs(directions);
  find_instants();
  build_massless();
  recognise_linear();  // these last: they make formulas that nothing else needs
  link_forces();
  link_switches();
  build_surface_rates(directions);
  find_live_switches();
  measure_memory();
  start_inputs();
}

void Builder::count_places() {
  System::Data& d = *system.data_;
  const std::size_t n = coordinates.size(), m = states.size();

  d.layout.coordinates = static_cast<int>(n);
  d.layout.states = static_cast<int>(m);
  d.layout.relations = static_cast<int>(relations.size());
  d.layout.audits = static_cast<int>(audits.size());
  for (const ParameterDraft& p : parameters) d.layout.free_parameters += p.free ? 1 : 0;
  for (const RelationDraft& r : relations) {
    const bool rows = r.friction && !(r.smooth && r.known_load);
    tangent_count.push_back(rows ? static_cast<int>(r.slip.size()) : 0);
    d.layout.tangents += tangent_count.back();
  }
  collect_switches();
  d.layout.switches = static_cast<int>(used_switches.size());
  collect_observed();
  d.layout.observed = static_cast<int>(observed_switches.size());
}

void Builder::place_variables() {
  System::Data& d = *system.data_;
  const Layout& layout = d.layout;
  const std::size_t n = coordinates.size(), m = states.size();
  map.variable.assign(graph.variable_count(), -1);
  map.side.assign(graph.switches().size(), -1);
  const auto set = [this](Variable x, int place) { map.variable[x] = place; };
  set(t, layout.time());
  set(approach, layout.approach_speed());
  set(energy_start, layout.initial_energy());
  if (large != nullptr) {
    set(large_kinetic, large->kinetic = layout.size() + 1);
    set(large_potential, large->potential = layout.size() + 2);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const int k = static_cast<int>(i);
    set(coordinates[i].q, layout.q() + k);
    set(coordinates[i].v, layout.v() + k);
    set(coordinates[i].a, layout.acceleration() + k);
    d.coordinate_names.push_back(coordinates[i].name);
    d.massless.push_back(coordinates[i].spec->massless);
    if (!d.massless.back()) d.massive.push_back(k);
    d.scale_floor.push_back(coordinates[i].scale);
    d.symbols.q.push_back(coordinates[i].q);
    d.symbols.v.push_back(coordinates[i].v);
  }
  for (std::size_t i = 0; i < m; ++i) {
    set(states[i].z, layout.z() + static_cast<int>(i));
    d.state_names.push_back(states[i].name);
    d.symbols.z.push_back(states[i].z);
    d.symbols.rate.push_back(states[i].rate);
  }
  for (std::size_t i = 0; i < used_switches.size(); ++i)
    map.side[used_switches[i]] = layout.side() + static_cast<int>(i);
  int tangent = 0, free = 0;
  for (std::size_t r = 0; r < relations.size(); ++r) {
    set(relations[r].lambda, layout.normal() + static_cast<int>(r));
    set(relations[r].closed, layout.closed() + static_cast<int>(r));
    for (int j = 0; j < tangent_count[r]; ++j, ++tangent) {
      set(relations[r].slip[static_cast<std::size_t>(j)].direction, layout.direction() + tangent);
      set(relations[r].slip[static_cast<std::size_t>(j)].lambda, layout.tangent() + tangent);
    }
  }
  for (const ParameterDraft& p : parameters) {
    if (!p.free) continue;
    set(p.variable, layout.free_parameter() + free++);
  }
}

void Builder::place_audits() {
  System::Data& d = *system.data_;
  const Layout& layout = d.layout;
  for (std::size_t k = 0; k < audits.size(); ++k) {
    map.variable[audits[k].dissipated] = layout.dissipated() + static_cast<int>(k);
    map.variable[audits[k].supplied] = layout.supplied() + static_cast<int>(k);
    AuditInfo info{audits[k].name, audits[k].relation, -1, audits[k].dissipative, audits[k].of_jumps};
    if (audits[k].has_power) {
      info.power = static_cast<int>(power_nodes.size());
      power_nodes.push_back(audits[k].power);
    }
    d.audits.push_back(std::move(info));
  }
}

void Builder::build_motion(const std::vector<Node>& rates, const std::vector<Variable>& directions) {
  System::Data& d = *system.data_;
  d.force = program(rates);
  std::vector<Node> motion(rates);
  d.mass_constant = true;
  for (const Node node : find_mass_pattern()) {
    motion.push_back(node);
    d.mass_constant = d.mass_constant && graph.is_constant(node);
  }
  d.motion = program(motion);
  build_jacobian(rates, directions);
  if (large != nullptr) finish_large_matrices();
  const Node energies[] = {kinetic, potential, energy};
  d.energies = program(energies);
  d.power = program(power_nodes);
  std::vector<bool> told(graph.variable_count(), false);
  told[t] = true;
  for (const Variable x : directions) told[x] = true;
  powers_with_motion =
      !power_nodes.empty() && std::all_of(power_nodes.begin(), power_nodes.end(), [&](Node node) {
        const std::vector<Variable> used = all_variables(node);
        return std::all_of(used.begin(), used.end(), [&](Variable x) { return told[x]; });
      });
  if (powers_with_motion) {
    std::vector<Node> both(d.mass_constant ? rates : motion);
    both.insert(both.end(), power_nodes.begin(), power_nodes.end());
    d.motion_and_powers = program(both);
  }
}

void Builder::build_jacobian(const std::vector<Node>& rates, const std::vector<Variable>& directions) {
  System::Data& d = *system.data_;
  std::vector<Node> jacobian;
  // Every entry costs an operation below; what is too large for that is refused before there is a list of it.
  if (large == nullptr &&
      static_cast<double>(rates.size()) * static_cast<double>(directions.size()) > budget.limits().operations)
    budget.spend(rates.size() * directions.size());
  std::vector<std::size_t> direction_of(graph.variable_count(), directions.size());
  for (std::size_t k = 0; k < directions.size(); ++k) direction_of[directions[k]] = k;
  std::vector<std::size_t> seen;
  for (std::size_t row = 0; row < rates.size(); ++row) {
    seen.clear();
    for (const Variable x : graph.variables(rates[row])) {
      if (direction_of[x] < directions.size()) seen.push_back(direction_of[x]);
    }
    std::sort(seen.begin(), seen.end());
    for (const std::size_t k : seen) {
      jacobian.push_back(graph.derivative(rates[row], directions[k]));
      d.jacobian_place.push_back(row * directions.size() + k);
    }
  }
  d.jacobian = program(jacobian);
}

void Builder::build_outputs(const std::vector<Variable>& directions) {
  System::Data& d = *system.data_;
  for (std::size_t k = 0; k < d.switches.size(); ++k) {
    const Node s = d.symbols.surface[k];
    std::vector<Node> nodes{s, graph.derivative(s, t)};
    for (std::size_t i = 0; i < 2 * coordinates.size() + states.size(); ++i)
      nodes.push_back(graph.derivative(s, directions[i]));
    d.switches[k].surface = program(nodes);
    d.switches[k].value = program(std::span<const Node>(&s, 1));
  }
  d.columns = column_infos;
  d.column_program = program(column_nodes, expr::Sides::where_given);
  d.drawings = drawing_infos;
  d.drawing_program = program(drawing_nodes, expr::Sides::by_value);
  build_watches(directions);
  for (const Node node : column_nodes) {
    const std::vector<Variable> used = all_variables(node);
    for (const CoordinateDraft& c : coordinates) {
      if (c.spec->massless && std::binary_search(used.begin(), used.end(), c.a))
        d.reads_massless_acceleration = true;
    }
  }
}

/// Memory for the largest program.
void Builder::measure_memory() {
  System::Data& d = *system.data_;
  const auto enlarge = [&d](const expr::Program& p) {
    d.registers = std::max(d.registers, p.registers());
    d.outputs = std::max(d.outputs, p.outputs());
  };
  for (const expr::Program* p :
       {&d.motion, &d.gaps, &d.force, &d.jacobian, &d.energies, &d.power, &d.column_program,
        &d.drawing_program, &d.follow.balance, &d.follow.velocity_balance, &d.follow.friction,
        &d.linear.coefficients, &d.linked.coefficients, &d.linked.varying, &d.linked.varying_and_powers,
        &d.motion_and_powers}) {
    enlarge(*p);
  }
  for (const Relation& r : d.relations) {
    for (const expr::Program* p : {&r.gap, &r.rows, &r.law, &r.restitution, &r.sliding, &r.curve})
      enlarge(*p);
  }
  for (const SwitchInfo& s : d.switches) enlarge(s.surface);
  for (const SwitchInfo& s : d.switches) enlarge(s.value);
  for (const SwitchInfo& s : d.switches) enlarge(s.rate);
  for (const SwitchInfo& s : d.switches) enlarge(s.live);
  for (const WatchInfo& w : d.watches) enlarge(w.value);
  for (const SwitchInfo& s : d.observed) enlarge(s.surface);
  for (const SwitchInfo& s : d.observed) enlarge(s.value);
}

void Builder::find_instants() {
  System::Data& d = *system.data_;
  for (std::size_t k = 0; k < d.switches.size(); ++k) {
    const Node s = d.symbols.surface[k];
    const Node slope = graph.derivative(s, t);
    if (!d.switches[k].time_only || !graph.switches(s).empty() || !graph.is_constant(slope) ||
        graph.value(slope) == 0)
      continue;
    for_form.timetables.push_back({k, slope});
  }
  d.instants = known_instants(d, graph, for_form.timetables, t, start_values, result.run, &budget);
}

/// Whether it is a friction joint with a known normal load that moves a massless coordinate.
bool Builder::on_massless(const RelationDraft& r) const {
  if (!r.friction || r.smooth || r.has_normal || !r.feeds.empty()) return false;
  for (const TangentDraft& row : r.slip) {
    for (std::size_t i = 0; i < coordinates.size(); ++i) {
      if (coordinates[i].spec->massless && (!is_zero(row.w[i]) || !is_zero(row.drag[i]))) return true;
    }
  }
  return false;
}

/// Whether the forces on massless coordinate i, or its own on others of the kind, see velocities of such.
bool Builder::damped_massless(const std::vector<Node>& balance, std::size_t i) const {
  for (std::size_t j = 0; j < coordinates.size(); ++j) {
    if (!coordinates[j].spec->massless) continue;
    if (graph.depends_on(balance[i], coordinates[j].v) || graph.depends_on(balance[j], coordinates[i].v))
      return true;
  }
  return false;
}

void Builder::build_massless() {
  if (quasi_static()) return;
  System::Data& d = *system.data_;
  // Friction of joints enters the balance: of slipping ones as a known force, −σ μ L.
  std::vector<Node> balance(force);
  struct Joined {
    std::size_t relation, row;
    Node known;
  };
  std::vector<Joined> joined;
  for (std::size_t r = 0; r < relations.size(); ++r) {
    if (!on_massless(relations[r])) continue;
    for (std::size_t j = 0; j < relations[r].slip.size(); ++j) {
      const TangentDraft& row = relations[r].slip[j];
      const Node known = graph.negate(
          graph.multiply(graph.variable(row.direction), graph.multiply(row.mu, relations[r].base)));
      for (std::size_t i = 0; i < coordinates.size(); ++i) {
        if (d.massless[i]) balance[i] = graph.add(balance[i], graph.multiply(row.drag[i], known));
      }
      joined.push_back({r, j, known});
    }
  }
  std::vector<std::size_t> damped, undamped;
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    if (d.massless[i]) (damped_massless(balance, i) ? damped : undamped).push_back(i);
  }
  if (damped.empty() && undamped.empty()) return;
  std::vector<std::size_t> order(damped);
  order.insert(order.end(), undamped.begin(), undamped.end());
  std::vector<Variable> unknown;
  for (const std::size_t i : damped) unknown.push_back(coordinates[i].v);
  for (const std::size_t i : undamped) unknown.push_back(coordinates[i].q);
  std::vector<Node> nodes;
  for (const std::size_t i : order) nodes.push_back(balance[i]);
  d.follow.affine = true;
  std::vector<bool> is_unknown(graph.variable_count(), false);
  for (const Variable x : unknown) is_unknown[x] = true;
  for (const std::size_t i : order) {
    for (const Variable x : unknown) {
      const Node slope = graph.derivative(balance[i], x);
      nodes.push_back(slope);
      if (graph.is_constant(slope)) continue;
      for (const Variable y : all_variables(slope)) d.follow.affine = d.follow.affine && !is_unknown[y];
    }
  }
  for (const Variable x : unknown) d.follow.unknown.push_back(map.variable[x]);
  d.follow.balance = program(nodes);
  nodes.clear();
  for (const Joined& slider : joined) {
    const TangentDraft& row = relations[slider.relation].slip[slider.row];
    bool on_damped = false, on_undamped = false;
    for (const std::size_t i : damped) on_damped = on_damped || !is_zero(row.w[i]) || !is_zero(row.drag[i]);
    for (const std::size_t i : undamped)
      on_undamped = on_undamped || !is_zero(row.w[i]) || !is_zero(row.drag[i]);
    const RelationDraft& of = relations[slider.relation];
    const auto refuse = [&](const std::string& message, const std::string& help) {
      report_error(of.span, of.where, message, help);
    };
    if (on_damped && on_undamped) {
      refuse("the slip moves massless coordinates of which one has a damper and another has none",
             "give both a damper, or neither");
    } else if (on_undamped && row.mu != row.mu_static) {
      refuse("a static coefficient above the dynamic one makes a massless coordinate without damper jump",
             "write one coefficient, give it a damper, or give it inertia");
    }
    for (std::size_t i = 0; i < coordinates.size(); ++i) {
      if (!d.massless[i] || !graph.depends_on(slider.known, coordinates[i].v)) continue;
      refuse(
          "the friction of the massless coordinate " + quoted(coordinates[i].name) + " depends on its speed",
          "write a constant coefficient and 'viscous', or give it inertia");
      break;
    }
    const auto constant = [&](std::size_t i) {
      return graph.is_constant(row.drag[i]) && graph.is_constant(row.w[i]);
    };
    d.follow.joints.push_back({map.variable[row.direction], map.variable[row.lambda], on_damped,
                               std::all_of(order.begin(), order.end(), constant)});
    d.follow.sliders.push_back(
        {d.follow.joints.back(), static_cast<int>(slider.relation), static_cast<int>(slider.row)});
    for (const std::size_t i : order) nodes.push_back(row.drag[i]);
    for (const std::size_t i : order) nodes.push_back(row.w[i]);
    nodes.push_back(row.slip);
    nodes.push_back(slider.known);
  }
  d.follow.friction = program(nodes);

  // Undamped positions move with dF/dt = 0, where F must not see velocities.
  std::vector<Node> velocity;
  for (const std::size_t i : undamped) {
    Node rest = graph.derivative(balance[i], t);
    for (std::size_t j = 0; j < coordinates.size(); ++j) {
      if (std::find(undamped.begin(), undamped.end(), j) != undamped.end()) continue;
      rest = graph.add(rest, graph.multiply(graph.variable(coordinates[j].v),
                                            graph.derivative(balance[i], coordinates[j].q)));
    }
    for (const StateDraft& s : states)
      rest = graph.add(rest, graph.multiply(s.rate, graph.derivative(balance[i], s.z)));
    velocity.push_back(graph.negate(rest));
    const std::string where = "coordinate '" + coordinates[i].name + "'";
    for (std::size_t j = 0; j < coordinates.size(); ++j) {
      const bool sees = graph.depends_on(balance[i], coordinates[j].v);
      const bool circular = d.massless[j] && graph.depends_on(rest, coordinates[j].v) &&
                            std::find(undamped.begin(), undamped.end(), j) != undamped.end();
      if (!sees && !circular) continue;
      error(coordinates[i].spec->name, where,
            "the force on the massless coordinate " + quoted(coordinates[i].name) +
                " depends on the velocity of " + quoted(coordinates[j].name) + ", but not on its own",
            "add a damper to it, or give it inertia");
      break;
    }
    d.follow.velocity.push_back(map.variable[coordinates[i].v]);
  }
  for (const std::size_t i : undamped) {
    for (const std::size_t j : undamped) velocity.push_back(graph.derivative(balance[i], coordinates[j].q));
  }
  d.follow.velocity_balance = program(velocity);
}

void Builder::start_inputs() {
  System::Data& d = *system.data_;
  const Layout& layout = d.layout;
  std::vector<double> in(static_cast<std::size_t>(layout.size()) + (large != nullptr ? 3 : 1), 0.0);
  const auto at = [&in](int place) -> double& { return in[static_cast<std::size_t>(place)]; };
  at(layout.time()) = result.run.from;
  std::vector<int> place(graph.variable_count(), -1);
  for (int i = 0; i < layout.coordinates; ++i) {
    const CoordinateDraft& c = coordinates[static_cast<std::size_t>(i)];
    at(place[c.q] = layout.q() + i) = c.start_value;
    at(place[c.v] = layout.v() + i) = c.velocity_value;
  }
  for (int i = 0; i < layout.states; ++i) {
    const StateDraft& s = states[static_cast<std::size_t>(i)];
    at(place[s.z] = layout.z() + i) = s.start_value;
  }
  int free = 0;
  for (const ParameterDraft& p : parameters) {
    if (p.free) at(layout.free_parameter() + free++) = start_values[p.variable];
  }
  if (making_form) {  // it begins when it is bound
    for (FormParts::Start& item : for_form.start) {
      item.place = place[item.variable];
      const bool primed = item.name.ends_with('\'');
      const std::size_t index = item.name.find('[');
      item.family = index == std::string::npos ? item.name : item.name.substr(0, index) + (primed ? "'" : "");
      for (const CoordinateDraft& c : coordinates)
        item.massless_velocity = item.massless_velocity || (c.v == item.variable && c.spec->massless);
      for_form.start_names.push_back(item.name);
    }
    d.start = std::move(in);
    return;
  }
  begin_inputs(system, d, std::move(in));
}

}  // namespace judder::model
