// Forms: a System for given values of open parameters and given start values.
#include "judder/model/form.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "judder/model/compile.hpp"
#include "model/form_data.hpp"
#include "model/held_rows.hpp"

namespace judder::model {
namespace {

/// Calls `use` with every program of a System.
template <class Use>
void each_program(System::Data& d, const Use& use) {
  for (Relation& r : d.relations) {
    for (expr::Program* p : {&r.gap, &r.rows, &r.law, &r.restitution, &r.sliding, &r.curve}) use(*p);
  }
  for (std::vector<SwitchInfo>* switches : {&d.switches, &d.observed}) {
    for (SwitchInfo& s : *switches) {
      for (expr::Program* p : {&s.surface, &s.value, &s.rate, &s.live}) use(*p);
    }
  }
  for (WatchInfo& w : d.watches) use(w.value);
  for (expr::Program* p : {&d.motion, &d.gaps, &d.force, &d.jacobian, &d.energies, &d.power,
                           &d.motion_and_powers, &d.column_program, &d.drawing_program, &d.follow.balance,
                           &d.follow.friction, &d.follow.velocity_balance, &d.linear.coefficients,
                           &d.linked.coefficients, &d.linked.varying, &d.linked.varying_and_powers})
    use(*p);
}

/// All of a System but its graph.
void copy_data(const System::Data& from, System::Data& to) {
  to.layout = from.layout;
  to.coordinate_names = from.coordinate_names;
  to.state_names = from.state_names;
  to.relations = from.relations;
  to.switches = from.switches;
  to.watches = from.watches;
  to.observed = from.observed;
  to.audits = from.audits;
  to.columns = from.columns;
  to.drawings = from.drawings;
  to.massless = from.massless;
  to.massive = from.massive;
  to.mass_pattern = from.mass_pattern;
  to.factor_first = from.factor_first;
  to.factor_last = from.factor_last;
  to.factor_begin = from.factor_begin;
  to.scale_floor = from.scale_floor;
  to.mass_constant = from.mass_constant;
  to.watches_read_works = from.watches_read_works;
  to.reads_massless_acceleration = from.reads_massless_acceleration;
  to.autonomous = from.autonomous;
  to.time_free = from.time_free;
  to.steady = from.steady;
  to.cyclic = from.cyclic;
  to.symbols = from.symbols;
  to.motion = from.motion;
  to.gaps = from.gaps;
  to.with_gap = from.with_gap;
  to.plain_gaps = from.plain_gaps;
  to.force = from.force;
  to.jacobian = from.jacobian;
  to.jacobian_place = from.jacobian_place;
  to.energies = from.energies;
  to.power = from.power;
  to.motion_and_powers = from.motion_and_powers;
  to.column_program = from.column_program;
  to.drawing_program = from.drawing_program;
  to.follow = from.follow;
  to.linear = from.linear;
  to.linked = from.linked;
  to.registers = from.registers;
  to.outputs = from.outputs;
}

/// Entry of M in a row, at a column up to it.
double mass_entry(const System::Data& d, const Workspace& work, int row, int column) {
  const auto first = d.mass_pattern.at.begin() + d.mass_pattern.begin[static_cast<std::size_t>(row)];
  const auto last = d.mass_pattern.at.begin() + d.mass_pattern.begin[static_cast<std::size_t>(row) + 1];
  const auto found = std::lower_bound(first, last, column);
  return found == last || *found != column
             ? 0
             : work.mass[static_cast<std::size_t>(found - d.mass_pattern.at.begin())];
}

/// Whether the massive block of M is positive definite, by the measure of compile().
bool has_inertia(const System::Data& d, const Workspace& work, std::vector<double>& l) {
  const std::size_t k = d.massive.size();
  l.assign(d.factor_begin.back() + k, 0.0);
  double* const diagonal = l.data() + d.factor_begin.back();
  for (std::size_t i = 0; i < k; ++i) {
    const auto first = static_cast<std::size_t>(d.factor_first[i]);
    double* row = l.data() + d.factor_begin[i];
    for (std::size_t j = first; j <= i; ++j) {
      const auto there = static_cast<std::size_t>(j < i ? d.factor_first[j] : d.factor_first[i]);
      const double* above = l.data() + d.factor_begin[j];
      const double entry = mass_entry(d, work, d.massive[i], d.massive[j]);
      double product = 0;
      for (std::size_t c = std::max(first, there); c < j; ++c) product += row[c - first] * above[c - there];
      const double sum = entry - product;
      if (j < i) {
        row[j - first] = sum / diagonal[j];
        continue;
      }
      if (!(sum > 4 * static_cast<double>(k) * std::numeric_limits<double>::epsilon() * std::abs(entry)))
        return false;
      diagonal[i] = std::sqrt(sum);
    }
  }
  return true;
}

}  // namespace

std::vector<double> known_instants(const System::Data& data, const expr::Graph& graph,
                                   const std::vector<FormParts::Timetable>& timetables, expr::Variable t,
                                   std::vector<double> at, const RunOptions& run, Work* budget) {
  std::vector<double> out;
  const double from = run.from;
  const double until = std::isnan(run.until) ? std::numeric_limits<double>::infinity() : run.until;
  at.resize(graph.variable_count(), 0.0);
  for (const FormParts::Timetable& timetable : timetables) {
    const SwitchInfo& info = data.switches[timetable.of];
    const expr::Node s = data.symbols.surface[timetable.of];
    const auto value = [&](double time) {
      at[t] = time;
      return graph.evaluate(s, at);
    };
    const double rate = graph.value(timetable.slope).raw(), offset = value(0);
    const auto add = [&](double level) {
      constexpr std::size_t kPerInstant = 100;  // some evaluations, and its place among the others
      if (budget != nullptr) budget->spend(kPerInstant);
      // The formula a t + b rounds; of the doubles around the quotient the one nearest to the level as it is
      // evaluated is meant.
      double best = (level - offset) / rate;
      double low = best;
      for (int i = 0; i < 4; ++i) low = std::nextafter(low, -std::numeric_limits<double>::infinity());
      double error = std::abs(value(best) - level);
      for (int i = 0; i < 9 && error > 0;
           ++i, low = std::nextafter(low, std::numeric_limits<double>::infinity())) {
        const double found = std::abs(value(low) - level);
        if (found < error) {
          error = found;
          best = low;
        }
      }
      if (best > from && best <= until) out.push_back(best);
    };
    if (info.whole) {
      if (std::isinf(until)) continue;
      const double first = std::min(value(from), value(until)), last = std::max(value(from), value(until));
      constexpr double kMost = 100000;  // beyond that the engine finds them one after the other
      if (last - first > kMost) continue;
      for (double level = std::ceil(first); level <= last; level += 1) add(level);
    } else if (!info.levels.empty()) {
      for (const double level : info.levels) {
        if (std::isfinite(level)) add(level);
      }
    } else {
      add(0);
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void begin_inputs(System& system, System::Data& data, std::vector<double> in) {
  data.start = std::move(in);
  Workspace work(system);
  begin_inputs(system, data, work);
}

void begin_inputs(System& system, System::Data& data, Workspace& work) {
  std::fill_n(data.start.begin() + data.layout.closed(), data.layout.relations, 1.0);
  std::copy(data.start.begin(), data.start.end(), work.in.begin());
  system.sides_by_value(work.in, work);
  if (!data.follow.unknown.empty() && system.motion(work)) system.sides_by_value(work.in, work);
  data.start = work.in;
}

bool may_begin(System& system, System::Data& d) {
  Workspace work(system);
  std::vector<double> memory;
  return may_begin(system, d, work, memory);
}

/// Why no run can begin at the state in work.in, whose sides are those by value: what is wrong, and of which relation (−1: of none). `closed`: by relation, 1 where
/// its gap is zero.
struct BeginProblem {
  const char* what = nullptr;  ///< null: a run can begin
  int relation = -1;
};

BeginProblem begin_problem(const System& system, Workspace& work, std::vector<double>& memory,
                           double* closed) {
  const System::Data& d = system.data();
  const Layout& layout = d.layout;
  const auto n = static_cast<std::size_t>(layout.coordinates);
  const BeginProblem not_finite{"the equations of motion give no finite number"};
  if (!system.motion(work))
    return work.mass_failed ? BeginProblem{"the mass matrix is singular"} : not_finite;
  const auto small = [](double x) { return std::abs(x) <= kLargest; };
  if (!std::all_of(work.force.begin(), work.force.end(), small) ||
      !std::all_of(work.rate.begin(), work.rate.end(), small) ||
      !std::all_of(work.in.begin() + layout.q(), work.in.begin() + layout.q() + layout.integrated(), small))
    return not_finite;
  if (work.mass_failed || !has_inertia(d, work, memory)) return {"the mass matrix is singular"};
  const double* q = work.in.data() + layout.q();
  const double* v = work.in.data() + layout.v();
  std::vector<HeldRow> held;
  for (std::size_t k = 0; k < d.relations.size(); ++k) {
    const Relation& r = d.relations[k];
    const auto problem = [k](const char* what) { return BeginProblem{what, static_cast<int>(k)}; };
    const RelationRows& rows = system.rows(work, static_cast<int>(k));
    bool finite = std::isfinite(rows.gap) && std::isfinite(rows.gap_rate) && std::isfinite(rows.base) &&
                  std::isfinite(rows.zeta_n);
    for (const double x : work.row_memory[k]) finite = finite && std::isfinite(x);
    if (!finite) return problem("it has values that are no finite numbers");
    if (r.has_normal) {
      double reach = std::abs(rows.gap_time * work.in[0]), pace = std::abs(rows.gap_time);
      for (const int i : r.touches) {
        reach += std::abs(rows.w[i] * q[i]);
        pace += std::abs(rows.w[i] * v[i]);
      }
      if (r.kind == RelationKind::contact) {
        const bool touches = rows.gap <= kRoundOff * reach;
        closed[k] = touches ? 1 : 0;
        if (rows.gap < -kRoundOff * reach) return problem("its gap is negative");
        if (touches && rows.w.vanishes()) return problem("its normal vanishes");
        double e = 0, tangential = 0;
        system.restitution(work, static_cast<int>(k), std::max(0.0, -rows.gap_rate), e, tangential);
        if (std::isfinite(e) && !(e >= 0 && e <= 1)) return problem("its restitution is not between 0 and 1");
      } else {
        if (r.holonomic && std::abs(rows.gap) > kRoundOff * reach) return problem("it is not satisfied");
        if (std::abs(rows.gap_rate) > kRoundOff * pace) return problem("the velocities do not satisfy it");
        held.push_back({k, rows.w.dense(n), rows.zeta_n});
      }
    }
    for (int j = 0; j < r.tangents && !r.smooth_friction; ++j) {
      if (rows.tangent[j].mu < 0 || rows.tangent[j].mu_static < 0)
        return problem("its coefficient of friction is negative");
    }
    if (r.kind != RelationKind::joint) continue;
    if (r.feeds.empty() && rows.base < 0) return problem("its normal force is negative");
    for (std::size_t f = 0; f < r.feeds.size(); ++f) {
      if (rows.factors[f] < 0) return problem("its normal force falls when a reaction grows");
    }
  }
  Work budget{WorkLimits{}, nullptr};
  if (!contradictions(held, n, budget).empty()) return {"the constraints contradict each other"};
  return {};
}

bool may_begin(System& system, System::Data& d, Workspace& work, std::vector<double>& memory) {
  const Layout& layout = d.layout;
  if (begin_problem(system, work, memory, d.start.data() + layout.closed()).what != nullptr) return false;
  std::copy_n(d.start.begin() + layout.closed(), layout.relations, work.in.begin() + layout.closed());
  double kinetic = 0, potential = 0, total = 0;
  system.energies(work, kinetic, potential, total);
  d.start = work.in;
  d.start[static_cast<std::size_t>(layout.initial_energy())] = total;
  d.start[static_cast<std::size_t>(layout.approach_speed())] = 0;
  return true;
}

std::string System::begin(Workspace& work) const {
  const Layout& layout = data_->layout;
  std::fill_n(work.in.begin() + layout.closed(), layout.relations, 1.0);
  sides_by_value(work.in, work);
  if (!data_->follow.unknown.empty() && motion(work)) sides_by_value(work.in, work);
  std::vector<double> memory, closed(static_cast<std::size_t>(layout.relations), 1.0);
  const BeginProblem problem = begin_problem(*this, work, memory, closed.data());
  if (problem.what != nullptr)
    return problem.relation < 0 ? problem.what
                                : data_->relations[problem.relation].place + ": " + problem.what;
  std::copy(closed.begin(), closed.end(), work.in.begin() + layout.closed());
  double kinetic = 0, potential = 0, total = 0;
  energies(work, kinetic, potential, total);
  work.in[layout.initial_energy()] = total;
  work.in[layout.approach_speed()] = 0;
  return {};
}

Form::Form() = default;
Form::~Form() = default;
Form::Form(Form&&) noexcept = default;
Form& Form::operator=(Form&&) noexcept = default;

const expr::Tape* Form::tape() const { return data_->open.graph().tape(); }
std::vector<std::string> Form::open() const {
  return tape() != nullptr ? tape()->names() : std::vector<std::string>();
}
const std::vector<std::string>& Form::start() const { return data_->parts.start_names; }

Bound Form::bind(std::span<const Value> parameters, std::span<const Value> start) const {
  const FormParts& parts = data_->parts;
  const expr::Tape nothing;
  const expr::Tape& record = tape() != nullptr ? *tape() : nothing;
  Bound out;
  out.run = data_->run;
  const auto refuse = [&out](std::string why) {
    out.refused = std::move(why);
    out.system.reset();
    return std::move(out);
  };

  std::vector<double> given(record.names().size(), std::numeric_limits<double>::quiet_NaN());
  for (const auto& [name, value] : parameters) {
    const auto found = std::find(record.names().begin(), record.names().end(), name);
    if (found == record.names().end()) return refuse("the parameter '" + name + "' is not open");
    if (!std::isfinite(value)) return refuse("the parameter '" + name + "' is not a finite number");
    given[static_cast<std::size_t>(found - record.names().begin())] = value;
  }
  std::vector<double> values;
  std::size_t behind = 0;
  if (!record.run(given, values, behind))
    return refuse("with this value of '" + record.names()[behind] + "' the equations have another form");
  const expr::Graph& open_graph = data_->open.graph();
  if (open_graph.coincide(data_->alike, values))
    return refuse("with these values two of the formulas are one");

  for (const FormParts::Time& time : parts.times) out.run.*time.field = values[time.step];
  if (!parts.times.empty() &&
      (out.run.until < out.run.from || !length_problem(out.run.from, out.run.until).empty() ||
       !step_problem(out.run.step, out.run.from, out.run.until).empty() ||
       !step_problem(out.run.max_step, out.run.from, out.run.until).empty()))
    return refuse("with these values there is no such run");

  System made;
  System::Data& d = *made.data_;
  copy_data(data_->open.data(), d);
  each_program(d, [&](expr::Program& program) { program.bind(values); });
  d.graph = open_graph.bound(values);
  const auto bound = [&](const expr::Number& number) {
    return number.open() ? values[number.origin()->step] : number.raw();
  };
  for (const FormParts::Impact& impact : parts.impacts) {
    d.relations[impact.relation].impact_stiffness = bound(impact.stiffness);
    d.relations[impact.relation].impact_exponent = bound(impact.exponent);
  }
  for (const expr::Number& period : parts.periods) d.periods.push_back(bound(period));
  std::sort(d.periods.begin(), d.periods.end());
  d.periods.erase(std::unique(d.periods.begin(), d.periods.end()), d.periods.end());
  if (!parts.above.empty() || !parts.below.empty()) {
    expr::Texts text(d.graph, kLongestSide);
    for (const std::size_t k : parts.above) d.switches[k].above = text(d.symbols.surface[k]) + " > 0";
    for (const std::size_t k : parts.below) d.switches[k].below = text(d.symbols.surface[k]) + " < 0";
  }
  if (parts.reason) d.linear.reason = parts.reason_before + d.graph.text(*parts.reason) + parts.reason_after;

  // Start values: those that are given, and the others from their expressions.
  std::vector<double> at = data_->start_values;
  at[data_->t] = out.run.from;
  std::vector<double> in(static_cast<std::size_t>(d.layout.size()) + 1, 0.0);
  in[0] = out.run.from;
  for (const Value& entry : start) {
    const std::string& name = entry.first;
    const double value = entry.second;
    const bool known = std::any_of(parts.start.begin(), parts.start.end(), [&](const FormParts::Start& item) {
      return item.name == name || item.family == name;
    });
    if (!known) return refuse("there is no start value '" + name + "'");
    if (!std::isfinite(value)) return refuse("the start value '" + name + "' is not a finite number");
  }
  for (const FormParts::Start& item : parts.start) {
    double value = d.graph.evaluate(item.node, at);
    for (const auto& [name, number] : start) {
      if (item.name != name && item.family != name) continue;
      if (item.massless_velocity)
        return refuse("'" + name + "' follows from the balance of forces: the coordinate is massless");
      value = number;  // the last one wins
    }
    if (!std::isfinite(value)) return refuse("the start value '" + item.name + "' is not a finite number");
    at[item.variable] = value;
    in[static_cast<std::size_t>(item.place)] = value;
  }
  for (const FormParts::Sign& sign : parts.signs) {
    const double value = d.graph.evaluate(sign.node, at);
    if ((value < 0 ? -1.0 : value > 0 ? 1.0 : 0.0) != sign.sign)
      return refuse("the motion starts on another side of a gap");
  }
  for (const FormParts::Scale& scale : parts.scales) {
    const double value = d.graph.evaluate(scale.node, at);
    if (!(value > 0) || !std::isfinite(value)) return refuse("a scale is not positive");
    d.scale_floor[scale.coordinate] = value;
  }
  d.instants = known_instants(d, d.graph, parts.timetables, data_->t, at, out.run, nullptr);
  begin_inputs(made, d, std::move(in));
  if (!may_begin(made, d)) return refuse("no run can begin at these start values");
  out.system.emplace(std::move(made));
  return out;
}

struct Restart::Memory {
  Memory(const Form::Data& of, System& restarted) : form(of), system(restarted), work(restarted) {}
  const Form::Data& form;
  System& system;
  Workspace work;
  std::vector<double> at;        ///< values of the variables of formulas
  std::vector<double> inertia;   ///< of may_begin
  std::vector<double> constant;  ///< by start value: that of its expression, NaN where it follows others
};

Restart::Restart(const Form& form, System& system) : memory_(std::make_unique<Memory>(*form.data_, system)) {
  const expr::Graph& graph = system.graph();
  for (const FormParts::Start& item : memory_->form.parts.start)
    memory_->constant.push_back(graph.is_constant(item.node) ? graph.value(item.node).raw()
                                                             : std::numeric_limits<double>::quiet_NaN());
}
Restart::~Restart() = default;
Restart::Restart(Restart&&) noexcept = default;
Restart& Restart::operator=(Restart&&) noexcept = default;

bool Restart::begin(std::span<const Form::Value> start) {
  Memory& m = *memory_;
  const FormParts& parts = m.form.parts;
  System::Data& d = *m.system.data_;
  const double from = d.start[0];
  m.at.assign(m.form.start_values.begin(), m.form.start_values.end());
  m.at[m.form.t] = from;
  std::fill(d.start.begin(), d.start.end(), 0.0);
  d.start[0] = from;
  for (const Form::Value& entry : start) {
    const bool known = std::any_of(parts.start.begin(), parts.start.end(), [&](const FormParts::Start& item) {
      return item.name == entry.first || item.family == entry.first;
    });
    if (!known || !std::isfinite(entry.second)) return false;
  }
  for (std::size_t i = 0; i < parts.start.size(); ++i) {
    const FormParts::Start& item = parts.start[i];
    double value = m.constant[i];
    bool given = false;
    for (const auto& [name, number] : start) {
      if (item.name != name && item.family != name) continue;
      if (item.massless_velocity) return false;
      value = number;
      given = true;
    }
    if (!given && std::isnan(value)) value = d.graph.evaluate(item.node, m.at);
    if (!std::isfinite(value)) return false;
    m.at[item.variable] = value;
    d.start[static_cast<std::size_t>(item.place)] = value;
  }
  for (const FormParts::Sign& sign : parts.signs) {
    const double value = d.graph.evaluate(sign.node, m.at);
    if ((value < 0 ? -1.0 : value > 0 ? 1.0 : 0.0) != sign.sign) return false;
  }
  // What an engine has taken over from the System must not hang on the start.
  for (const FormParts::Scale& scale : parts.scales) {
    if (d.graph.evaluate(scale.node, m.at) != d.scale_floor[scale.coordinate]) return false;
  }
  begin_inputs(m.system, d, m.work);
  return may_begin(m.system, d, m.work, m.inertia);
}

}  // namespace judder::model
