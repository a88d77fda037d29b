#include "stepping_run.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engines/law_numbers.hpp"
#include "engines/stepping/energy_gain.hpp"
#include "engines/stepping/step_inputs.hpp"
#include "engines/stepping/step_monitors.hpp"
#include "engines/stepping/step_options.hpp"
#include "judder/core/number.hpp"
#include "judder/engines/collision.hpp"

namespace judder::engines {
namespace {

/// Steps of a run whose author gives none.
constexpr double kDefaultSteps = 1e4;
/// A grid time this close to the end, in steps, is the end.
constexpr double kCloseToEnd = 1e-6;
/// Energies and gaps of what flies are looked at in every so many-th step: the largest of them are what others are relative to.
constexpr long kLookEvery = 8;
/// The energy that the steps may have made is looked at in every so many-th.
constexpr long kBalanceEvery = 32;
/// Steps of a run: beyond this a grid time has lost its digits.
constexpr double kMostSteps = 1e12;

}  // namespace

std::string stepping_unsupported(const model::System& system) {
  for (std::size_t i = 0; i < system.massless().size(); ++i) {
    if (system.massless()[i])
      return "the coordinate '" + system.coordinate_names()[i] +
             "' is massless: the engines with fixed steps move masses alone";
  }
  return {};
}

struct SteppingEngine::Run {
  Run(const model::System& s, const MakeScheme& make)
      : system(s), layout(s.layout()), work(s), recorder(s, &patience), scheme(make(s)), gain(s) {
    const auto n = static_cast<std::size_t>(layout.coordinates);
    state.y.resize(layout.integrated());
    before.resize(layout.integrated());
    works.resize(2 * layout.audits);
    report.normal.resize(layout.relations);
    report.tangent.resize(layout.tangents);
    report.struck.resize(layout.relations);
    report.met.resize(layout.relations);
    report.through.resize(layout.relations);
    met_with.resize(n);
    report.acceleration.resize(n);
    report.dissipated.resize(layout.audits);
    report.supplied.resize(layout.audits);
    seen_gap.resize(layout.relations);
    moved.resize(n);
    start_q.resize(n);
    watch_side.resize(s.watches().size());
    crossings.resize(s.watches().size());
    balance_y.resize(layout.integrated() + 2 * layout.audits);
    scheme->use(&patience);
  }

  EngineResult go(const EngineOptions& given, Sink& sink, const Moment* resume);
  [[nodiscard]] bool begin(const Moment* resume);
  [[nodiscard]] EngineResult not_begun(const Moment* resume);
  void start_from_model();
  [[nodiscard]] bool take_up(const Moment& from);
  void follow();
  [[nodiscard]] bool one_step();
  [[nodiscard]] bool laws_hold(double t);
  [[nodiscard]] bool restitution_holds(double t0);
  void rows_inside(double t0, double t1);
  void handle_end(double h);
  void list_changes();
  void list_relation(int r);
  void list_slips(int r);
  Event event_here(EventKind kind, int place) const;
  void note_loads(double h);
  void note_springs(double h);
  void note_gaps();
  [[nodiscard]] bool gaps_hold();
  void look_at_energy(bool end);
  [[nodiscard]] bool touched() const;
  void note_watches();
  void load(double t, const double* y);
  void publish(double h);
  void row(RowKind kind);
  void save(Moment& out) const;
  void hand_state();
  void tell_monitors();
  bool fail(Status status) {
    if (result.status.reason == Reason::done) result.status = std::move(status);
    return false;
  }
  [[nodiscard]] double grid_time(long i) const {
    const double t = origin + static_cast<double>(i) * step;
    return t >= options.until - kCloseToEnd * step ? options.until : t;
  }

  std::string name;
  std::vector<model::OptionField> fields;
  const model::System& system;
  const model::Layout& layout;
  model::Workspace work;
  Patience patience;
  Recorder recorder;
  std::unique_ptr<Scheme> scheme;
  EngineOptions options;
  EngineResult result;
  StepState state;
  StepReport report;
  Mode mode_before;
  std::vector<double> before;  ///< q, v, z at the beginning of the step
  std::vector<double> works;   ///< dissipated, supplied
  std::vector<double> seen_gap, moved, start_q;
  std::vector<std::int8_t> watch_side;
  std::vector<long> crossings;
  std::vector<double> met_with;   ///< velocities before an impact that takes two steps
  std::vector<double> balance_y;  ///< y with the works behind it
  double origin = 0, step = 0;
  long index = 0;
  double length = 0;  ///< of the last step
  bool stopped = false, handed = false;
  StepMonitor penetration{"penetration"};
  EnergyGain gain;
};

SteppingEngine::SteppingEngine(const model::System& system, std::string name,
                               const std::vector<model::OptionField>& fields, const MakeScheme& make)
    : run_(std::make_unique<Run>(system, make)) {
  run_->name = std::move(name);
  run_->fields = fields;
}
SteppingEngine::~SteppingEngine() = default;

EngineResult SteppingEngine::run(const EngineOptions& options, Sink& sink, const Moment* resume) {
  return run_->go(options, sink, resume);
}

EngineResult SteppingEngine::Run::go(const EngineOptions& given, Sink& sink, const Moment* resume) {
  options = given;
  result = {};
  recorder.begin(options, sink);
  recorder.testimony.listen(
      nullptr);  // the laws that it would be asked about are broken by the step (docs/stepping.md)
  patience.start(options.abandon);
  handed = false;
  try {
    if (!begin(resume)) return not_begun(resume);
    follow();
  } catch (const Abandoned&) {
    static_cast<void>(fail({Reason::interrupted, state.t, {}, "interrupted"}));
    result.whole = false;
    if (!handed) result.end = resume != nullptr ? *resume : Moment{};
    recorder.fill(result);
    tell_monitors();
    return std::move(result);
  }
  save(result.end);
  load(state.t, state.y.data());
  std::copy(state.y.begin(), state.y.end(), balance_y.begin());
  std::copy(works.begin(), works.end(), balance_y.begin() + layout.integrated());
  result.energy_imbalance = recorder.residuals.imbalance(work, balance_y.data());
  result.evaluations = scheme->evaluations;
  result.impacts = scheme->impacts;
  recorder.fill(result);
  tell_monitors();
  const bool goes_on = result.status.reason == Reason::interrupted;
  for (int r = 0; r < layout.relations && !goes_on; ++r) recorder.close(r, state.t);
  if (result.status.reason == Reason::done) {
    result.status.time = state.t;
    if (stopped) result.status.reason = Reason::watch;
    if (Status status = scheme->verdict(state.t); !status.ok()) result.status = std::move(status);
    if (Status status = gain.verdict(state.t); !status.ok()) result.status = std::move(status);
  }
  return std::move(result);
}

// What the run was to begin with, as it was given.
EngineResult SteppingEngine::Run::not_begun(const Moment* resume) {
  if (resume != nullptr) {
    result.end = *resume;
  } else {
    Moment& end = result.end;
    end = {};
    end.time = options.from;
    end.y.assign(system.start().begin() + layout.q(),
                 system.start().begin() + layout.q() + layout.integrated());
    end.dissipated.assign(layout.audits, 0);
    end.supplied.assign(layout.audits, 0);
    end.mode.normal.assign(layout.relations, NormalStatus::none);
    end.mode.pressed.assign(layout.relations, 0);
    end.mode.tangent.assign(layout.tangents, TangentStatus::free);
    end.mode.side.assign(layout.switches, 0);
    end.mode.surface.assign(layout.switches, AtSurface::away);
    for (int r = 0; r < layout.relations; ++r) {
      const model::Relation& relation = system.relations()[r];
      if (relation.has_normal)
        end.mode.normal[r] =
            relation.kind == model::RelationKind::constraint ? NormalStatus::held : NormalStatus::open;
    }
    end.scales.assign(layout.integrated(), 0);
    end.watch_counts.assign(crossings.size(), 0);
  }
  recorder.fill(result);
  return std::move(result);
}

bool SteppingEngine::Run::begin(const Moment* resume) {
  const double duration = options.until - options.from;
  step = options.step > 0 ? options.step : duration / kDefaultSteps;
  if (options.max_step > 0) step = std::min(step, options.max_step);
  origin = options.from;
  index = 0;
  length = 0;
  stopped = false;
  penetration.start();
  scheme->evaluations = scheme->impacts = 0;
  if (duration > 0 && !(duration / step <= kMostSteps))
    return fail({Reason::unsupported,
                 options.from,
                 {},
                 "the step " + to_text(step) + " is too short for a run of length " + to_text(duration)});
  if (const std::string problem = step_options_problem(options, name, fields); !problem.empty())
    return fail({Reason::unsupported, options.from, {}, problem});
  if (const std::string problem = scheme->begin(options, step); !problem.empty())
    return fail({Reason::unsupported, options.from, {}, problem});
  gain.start(scheme->springs(), scheme->spreads_impacts(), step);
  load_start(system, resume, work);
  std::fill(works.begin(), works.end(), 0.0);
  std::fill(report.normal.begin(), report.normal.end(), 0.0);
  std::fill(report.tangent.begin(), report.tangent.end(), 0.0);
  std::fill(report.acceleration.begin(), report.acceleration.end(), 0.0);
  std::fill(crossings.begin(), crossings.end(), 0L);
  std::fill(watch_side.begin(), watch_side.end(), std::int8_t{0});
  std::fill(seen_gap.begin(), seen_gap.end(), 0.0);
  std::fill(moved.begin(), moved.end(), 0.0);
  std::fill(met_with.begin(), met_with.end(), 0.0);
  if (resume != nullptr && resume->started) return take_up(*resume);
  start_from_model();
  return result.status.reason == Reason::done;
}

void SteppingEngine::Run::start_from_model() {
  state.t = options.from;
  work.in[0] = state.t;
  std::copy_n(work.in.begin() + layout.q(), layout.integrated(), state.y.begin());
  std::copy_n(state.y.begin(), layout.coordinates, start_q.begin());
  state.mode = {};
  state.mode.surface.assign(layout.switches, AtSurface::away);
  std::vector<std::uint8_t> touching;
  for (int k = 0; k < layout.switches; ++k)
    work.in[layout.side() + k] = side_by_value(system.switches()[k], work);
  static_cast<void>(observe(system, work, state.mode, touching));
  state.mode.side.assign(work.in.begin() + layout.side(), work.in.begin() + layout.side() + layout.switches);
  load(state.t, state.y.data());
  if (!system.motion(work)) {
    static_cast<void>(fail({work.mass_failed ? Reason::singular_mass : Reason::not_finite,
                            state.t,
                            {},
                            "the equations cannot be evaluated at the start"}));
    return;
  }
  double kinetic = 0, potential = 0, total = 0;
  system.energies(work, kinetic, potential, total);
  work.in[layout.initial_energy()] = total;
  Status status = scheme->start(state);
  if (!status.ok()) {
    status.time = state.t;
    static_cast<void>(fail(std::move(status)));
    return;
  }
  result.start_mode = state.mode;
  mode_before = state.mode;
  load(state.t, state.y.data());
  recorder.residuals.note_energy(work);
  static_cast<void>(recorder.loads.follow(state.mode, state.t));
  note_gaps();
  note_watches();
  if (recorder.samples.next() <= state.t) {
    row(RowKind::sample);
    recorder.samples.advance();
  }
}

void SteppingEngine::Run::tell_monitors() {
  result.monitors.clear();
  if (penetration.used()) result.monitors.push_back(penetration.record());
  if (gain.monitor().used()) result.monitors.push_back(gain.monitor().record());
  scheme->monitors(result.monitors);
}

void SteppingEngine::Run::follow() {
  while (state.t < options.until && !stopped) {
    if (options.cancel != nullptr && options.cancel->load(std::memory_order_relaxed)) {
      static_cast<void>(fail({Reason::interrupted, state.t, {}, "interrupted"}));
      return;
    }
    if (!one_step()) return;
    if (recorder.events() > options.max_events) {
      static_cast<void>(fail({Reason::too_many_events,
                              state.t,
                              {},
                              "more than " + std::to_string(options.max_events) + " events"}));
      return;
    }
    if (recorder.wants_state(state.t)) hand_state();
  }
  look_at_energy(true);
}

void SteppingEngine::Run::look_at_energy(bool end) {
  load(state.t, state.y.data());
  double kinetic = 0, potential = 0, total = 0;
  system.energies(work, kinetic, potential, total);
  gain.look(work, kinetic, total, work.in[layout.initial_energy()], works, end);
}

// Numbers of the friction laws that the step begins with.
bool SteppingEngine::Run::laws_hold(double t) {
  if (!laws_vary(system)) return true;
  load(t, state.y.data());
  const LawDefect defect = defect_of_laws(system, work, state.mode);
  if (!defect) return true;
  return fail({Reason::inconsistent, t, system.relations()[defect.relation].place, describe(defect)});
}

// A gap that is no number would be open, and nobody would hear of it: sqrt(x) below zero. Functions from outside may say so where they have no value,
// and are asked after every step.
bool SteppingEngine::Run::gaps_hold() {
  if (system.graph().outside().empty() && index % kLookEvery != 0 && state.t < options.until) return true;
  load(state.t, state.y.data());
  for (int r = 0; r < layout.relations; ++r) {
    if (!system.relations()[r].has_normal) continue;
    double gap = 0, rate = 0;
    system.gap(work, r, gap, rate);
    if (std::isnan(gap))
      return fail({Reason::not_finite, state.t, system.relations()[r].place, "the gap is not a number"});
  }
  return true;
}

// The restitution of what the step has met, at the velocities that it began with; the step is taken back where it is none.
bool SteppingEngine::Run::restitution_holds(double t0) {
  LawDefect defect;
  for (int r = 0; r < layout.relations && !defect; ++r) {
    const bool begins = report.met[r] != 0 || (report.struck[r] != 0 && !report.finishes);
    if (!begins || system.relations()[r].kind != model::RelationKind::contact) continue;
    load(state.t, state.y.data());
    std::copy_n(before.begin() + layout.coordinates, layout.coordinates, work.in.begin() + layout.v());
    double gap = 0, rate = 0;
    system.gap(work, r, gap, rate);
    defect = defect_of_restitution(system, work, r, std::max(0.0, -rate));
  }
  if (!defect) return true;
  state.t = t0;
  std::copy(before.begin(), before.end(), state.y.begin());
  state.mode = mode_before;
  return fail({Reason::impact_failed, t0, system.relations()[defect.relation].place, describe(defect)});
}

bool SteppingEngine::Run::one_step() {
  const double t0 = state.t;
  if (!laws_hold(t0)) return false;
  std::copy(state.y.begin(), state.y.end(), before.begin());
  mode_before = state.mode;
  std::fill(report.struck.begin(), report.struck.end(), std::uint8_t{0});
  std::fill(report.met.begin(), report.met.end(), std::uint8_t{0});
  report.smooth = true;
  report.unfinished = report.finishes = false;
  Status status = scheme->advance(state, grid_time(++index), report);
  if (!status.ok()) {
    status.time = t0;
    state.t = t0;
    std::copy(before.begin(), before.end(), state.y.begin());
    state.mode = mode_before;
    return fail(std::move(status));
  }
  if (!gaps_hold() || !restitution_holds(t0)) return false;
  ++result.steps;
  // As the scheme has it: a step of the grid is one, whatever the rounding of its ends.
  length = state.t - t0;
  if (std::abs(length - step) <= kCloseToEnd * step) length = step;
  for (int e = 0; e < layout.audits; ++e) {
    works[e] += report.dissipated[e];
    works[layout.audits + e] += report.supplied[e];
  }
  gain.add(report);
  if (recorder.samples.next() < state.t) rows_inside(t0, state.t);
  handle_end(length);
  if (report.unfinished)
    std::copy_n(before.begin() + layout.coordinates, layout.coordinates, met_with.begin());
  if (index % kBalanceEvery == 0) look_at_energy(false);
  return true;
}

void SteppingEngine::Run::rows_inside(double t0, double t1) {
  const int n = layout.coordinates;
  const double h = t1 - t0;
  for (double time = recorder.samples.next(); time < t1; time = recorder.samples.next()) {
    const double s = (time - t0) / h;
    double* const in = work.in.data();
    write_statuses(layout, state.mode, in);
    in[0] = time;
    const double a = s * s * (3 - 2 * s), b = s * (1 - s) * (1 - s), c = s * s * (s - 1);
    for (int i = 0; i < n; ++i) {
      const double q0 = before[i], q1 = state.y[i], v0 = before[n + i], v1 = state.y[n + i];
      in[layout.q() + i] = report.smooth ? q0 + a * (q1 - q0) + h * (b * v0 + c * v1) : q0 + s * (q1 - q0);
      in[layout.v() + i] = v0 + s * (v1 - v0);
    }
    for (int i = 2 * n; i < layout.integrated(); ++i)
      in[layout.q() + i] = before[i] + s * (state.y[i] - before[i]);
    publish(h);
    recorder.row(RowKind::sample, state.mode, work);
    recorder.samples.advance();
  }
}

void SteppingEngine::Run::handle_end(double h) {
  list_changes();
  note_loads(h);
  load(state.t, state.y.data());
  const bool look = index % kLookEvery == 0;
  if (look) recorder.residuals.note_energy(work);
  if (look || touched()) note_gaps();
  if (!watch_side.empty()) {
    publish(h);
    note_watches();
  }
  if (!recorder.pending().empty()) {
    if (recorder.event_rows()) {
      // The limit before: places of the end, velocities of the beginning.
      std::copy_n(before.begin() + layout.coordinates, layout.coordinates, work.in.begin() + layout.v());
      publish(h);
      recorder.row(RowKind::before, mode_before, work);
      load(state.t, state.y.data());
    }
    recorder.report_pending(state.t, 0, state.mode);
    RowKind kind{};
    const bool shown = recorder.row_after(state.t, kind);
    recorder.tell(work);
    if (shown) row(kind);
    recorder.samples.pass(state.t);
  } else if (recorder.samples.next() <= state.t) {
    row(RowKind::sample);
    recorder.samples.advance();
  }
}

Event SteppingEngine::Run::event_here(EventKind kind, int place) const {
  Event event;
  event.time = state.t;
  event.kind = kind;
  event.place = place;
  return event;
}

void SteppingEngine::Run::list_changes() {
  for (int r = 0; r < layout.relations; ++r) {
    if (report.struck[r] != 0 || state.mode.normal[r] != mode_before.normal[r]) {
      list_relation(r);
    } else if (state.mode.normal[r] != NormalStatus::open) {
      list_slips(r);
    }
  }
  if (!options.list_switches) return;
  for (int k = 0; k < layout.switches; ++k) {
    const double side = state.mode.side[k];
    const model::SwitchInfo& info = system.switches()[k];
    if (side == mode_before.side[k] || info.kind != expr::SwitchKind::jump) continue;
    if (info.two_sided() && side == 0.5) continue;
    Event event = event_here(EventKind::switch_side, k);
    event.words[0] = side > 0.5 ? Word::above : Word::below;
    event.numbers[0] = side;
    recorder.pending().push_back(event);
  }
}

namespace {

Word slip_word_of(const model::Relation& relation, const Mode& mode) {
  if (relation.tangents == 0) return Word::none;
  bool sticks = true;
  for (int j = 0; j < relation.tangents; ++j)
    sticks = sticks && mode.tangent[relation.first_tangent + j] == TangentStatus::stick;
  if (sticks) return Word::stick;
  if (relation.tangents > 1) return Word::slip;
  switch (mode.tangent[relation.first_tangent]) {
    case TangentStatus::slip_plus:
      return Word::slip_plus;
    case TangentStatus::slip_minus:
      return Word::slip_minus;
    default:
      return Word::none;
  }
}

}  // namespace

void SteppingEngine::Run::list_relation(int r) {
  const model::Relation& relation = system.relations()[r];
  const bool open = state.mode.normal[r] == NormalStatus::open;
  if (report.struck[r] == 0) {
    Event event = event_here(open ? EventKind::lift_off : EventKind::contact, r);
    if (!open) event.words[0] = Word::rest;
    recorder.pending().push_back(event);
    return;
  }
  Event event = event_here(EventKind::impact, r);
  event.words = {open ? Word::rebound : Word::rest, Word::none};
  if (!open) event.words[1] = slip_word_of(relation, state.mode);
  event.normal_impulse = report.normal[r];
  for (int j = 0; j < relation.tangents; ++j)
    event.tangential_impulse[j] = report.tangent[relation.first_tangent + j];
  double kinetic = 0, potential = 0;
  load(state.t, state.y.data());
  system.energies(work, kinetic, potential, event.energy_after);
  const auto from = report.finishes ? met_with.begin() : before.begin() + layout.coordinates;
  std::copy_n(from, layout.coordinates, work.in.begin() + layout.v());
  system.energies(work, kinetic, potential, event.energy_before);
  recorder.pending().push_back(event);
}

// As the event-driven engine words it: a row that comes to rest names the direction it had. Several components stick and slip together.
void SteppingEngine::Run::list_slips(int r) {
  const model::Relation& relation = system.relations()[r];
  if (relation.tangents == 0 || relation.smooth_friction) return;
  if (relation.tangents > 1) {
    const Word was = slip_word_of(relation, mode_before), is = slip_word_of(relation, state.mode);
    if (was != is)
      recorder.pending().push_back(event_here(is == Word::stick ? EventKind::stick : EventKind::slip, r));
    return;
  }
  const TangentStatus was = mode_before.tangent[relation.first_tangent],
                      is = state.mode.tangent[relation.first_tangent];
  if (was == is || was == TangentStatus::free || is == TangentStatus::free) return;
  Event event = event_here(is == TangentStatus::stick    ? EventKind::stick
                           : was == TangentStatus::stick ? EventKind::slip
                                                         : EventKind::reversal,
                           r);
  const TangentStatus named = is == TangentStatus::stick ? was : is;
  event.words[0] = named == TangentStatus::slip_plus ? Word::plus : Word::minus;
  recorder.pending().push_back(event);
}

void SteppingEngine::Run::note_loads(double h) {
  if (scheme->springs()) return note_springs(h);
  for (int r = 0; r < layout.relations; ++r) {
    const bool was = mode_before.normal[r] == NormalStatus::closed;
    const bool is = state.mode.normal[r] == NormalStatus::closed;
    if (report.struck[r] != 0) {
      recorder.strike(r, state.t, report.normal[r], is);
    } else if (was) {
      recorder.loads.add(r, report.normal[r], report.normal[r] / h);
    }
    if (was && !is) recorder.close(r, state.t);
  }
  static_cast<void>(recorder.loads.follow(state.mode, state.t));
}

// Of springs all that they give counts, from where they begin to press.
void SteppingEngine::Run::note_springs(double h) {
  static_cast<void>(recorder.loads.follow(state.mode, state.t - h));
  for (int r = 0; r < layout.relations; ++r) {
    const bool was = mode_before.normal[r] == NormalStatus::closed;
    const bool is = state.mode.normal[r] == NormalStatus::closed;
    if (was || is) recorder.loads.add(r, report.through[r], report.normal[r] / h);
    if (was && !is) recorder.close(r, state.t);
    if (!was && !is && report.through[r] > 0) recorder.strike(r, state.t, report.through[r], false);
  }
}

// Some contact is closed, or was struck in this step.
bool SteppingEngine::Run::touched() const {
  for (int r = 0; r < layout.relations; ++r) {
    if (state.mode.normal[r] == NormalStatus::closed || report.struck[r] != 0) return true;
  }
  return false;
}

// The gaps of the state in work, and how far it has come.
void SteppingEngine::Run::note_gaps() {
  bool any = false;
  for (int r = 0; r < layout.relations; ++r) {
    if (state.mode.normal[r] != NormalStatus::open && state.mode.normal[r] != NormalStatus::closed) continue;
    if (!any) {
      for (int i = 0; i < layout.coordinates; ++i)
        moved[i] = std::max(moved[i], std::abs(state.y[i] - start_q[i]));
      any = true;
    }
    double gap = 0, rate = 0;
    system.gap(work, r, gap, rate);
    seen_gap[r] = std::max(seen_gap[r], gap);
    penetration.note(std::max(0.0, -gap), INFINITY, state.t);
    recorder.residuals.note_gap(work, r, gap, seen_gap[r], moved);
  }
}

void SteppingEngine::Run::note_watches() {
  if (watch_side.empty()) return;
  for (std::size_t k = 0; k < system.observed().size(); ++k)
    work.in[layout.observed_side() + static_cast<int>(k)] = side_by_value(system.observed()[k], work);
  for (std::size_t w = 0; w < watch_side.size(); ++w) {
    const model::WatchInfo& info = system.watches()[w];
    double value = 0;
    info.value.evaluate(work.in.data(), &value, work.registers.data());
    const auto side = static_cast<std::int8_t>(value > 0 ? 1 : value < 0 ? -1 : 0);
    if (side == 0) continue;  // the sign before is carried over zeros
    const std::int8_t was = std::exchange(watch_side[w], side);
    if (was == 0 || was == side || (info.direction != 0 && info.direction != side)) continue;
    ++crossings[w];
    Event event = event_here(EventKind::watch, static_cast<int>(w));
    event.words[0] = side > 0 ? Word::up : Word::down;
    recorder.pending().push_back(event);
    if (info.stop > 0 && crossings[w] >= info.stop) stopped = true;
  }
}

void SteppingEngine::Run::load(double t, const double* y) {
  write_state(layout, t, y, work.in.data());
  write_statuses(layout, state.mode, work.in.data());
}

// What columns and watches read beside the state: the forces that stand for the impulses of the step, its accelerations, works.
void SteppingEngine::Run::publish(double h) {
  double* const in = work.in.data();
  const double share = h > 0 ? 1 / h : 0;
  std::copy(report.acceleration.begin(), report.acceleration.end(), in + layout.acceleration());
  for (int r = 0; r < layout.relations; ++r) in[layout.normal() + r] = share * report.normal[r];
  for (int j = 0; j < layout.tangents; ++j) in[layout.tangent() + j] = share * report.tangent[j];
  std::copy(works.begin(), works.end(), in + layout.dissipated());
}

void SteppingEngine::Run::row(RowKind kind) {
  load(state.t, state.y.data());
  publish(length);
  recorder.row(kind, state.mode, work);
}

// --- what another run needs to go on ---

namespace {

constexpr std::size_t kHead = 5;  ///< origin, step, number of the step, largest energy, evaluations

}  // namespace

void SteppingEngine::Run::save(Moment& out) const {
  out = {};
  out.time = state.t;
  out.y = state.y;
  out.dissipated.assign(works.begin(), works.begin() + layout.audits);
  out.supplied.assign(works.begin() + layout.audits, works.end());
  out.initial_energy = work.in[layout.initial_energy()];
  out.mode = state.mode;
  out.mode.pressed.resize(layout.relations);
  out.step = step;
  out.scales.assign(layout.integrated(), 0);
  out.events = recorder.events();
  out.watch_counts = crossings;
  out.started = true;
  std::vector<double>& list = out.phase.scheme;
  list = {origin, step, static_cast<double>(index), recorder.residuals.largest_energy(), length};
  list.insert(list.end(), seen_gap.begin(), seen_gap.end());
  list.insert(list.end(), moved.begin(), moved.end());
  list.insert(list.end(), start_q.begin(), start_q.end());
  list.insert(list.end(), met_with.begin(), met_with.end());
  list.insert(list.end(), watch_side.begin(), watch_side.end());
  list.insert(list.end(), report.normal.begin(), report.normal.end());
  list.insert(list.end(), report.tangent.begin(), report.tangent.end());
  list.insert(list.end(), report.acceleration.begin(), report.acceleration.end());
  recorder.loads.save(list);
  penetration.save(list);
  gain.save(list);
  scheme->save(list);
}

void SteppingEngine::Run::hand_state() {
  save(result.end);
  handed = true;
  result.evaluations = scheme->evaluations;
  result.impacts = scheme->impacts;
  recorder.fill(result);
  tell_monitors();
  recorder.state(result);
}

bool SteppingEngine::Run::take_up(const Moment& from) {
  result.start_mode = from.mode;
  state.t = from.time;
  state.y = from.y;
  state.mode = mode_before = from.mode;
  std::copy(from.dissipated.begin(), from.dissipated.end(), works.begin());
  std::copy(from.supplied.begin(), from.supplied.end(), works.begin() + layout.audits);
  work.in[layout.initial_energy()] = from.initial_energy;
  crossings = from.watch_counts;
  recorder.take_up(from.events);
  std::span<const double> rest(from.phase.scheme);
  const auto count = [](int n) { return static_cast<std::size_t>(n); };
  const std::size_t n = count(layout.coordinates), relations = count(layout.relations), loads = 4 * relations;
  const std::size_t fixed = kHead + 2 * relations + 4 * n + watch_side.size() + count(layout.tangents) +
                            loads + StepMonitor::kSaved + gain.saved_size();
  const auto take = [&rest](std::size_t size) {
    const std::span<const double> out = rest.first(size);
    rest = rest.subspan(size);
    return out;
  };
  const auto copy_to = [&](std::size_t size, auto& out) {
    const std::span<const double> part = take(size);
    for (std::size_t i = 0; i < size; ++i)
      out[i] = static_cast<std::remove_reference_t<decltype(out[0])>>(part[i]);
  };
  load(state.t, state.y.data());
  recorder.samples.pass(state.t);
  if (rest.size() < fixed || rest[1] != step) {
    // Of another engine or another step: the state goes on, the memory of its scheme does not, and the grid is counted from here.
    if (!rest.empty() && rest.size() < fixed)
      return fail({Reason::unsupported, state.t, {}, "the state is of another engine with fixed steps"});
    origin = state.t;
    std::copy_n(state.y.begin(), n, start_q.begin());
    Status status = scheme->start(state);
    if (!status.ok()) return fail(std::move(status));
    return true;
  }
  const std::span<const double> head = take(kHead);
  for (const double x : head) {
    if (!std::isfinite(x))
      return fail({Reason::unsupported, state.t, {}, "the state holds numbers that are not finite"});
  }
  origin = head[0];
  index = std::lround(head[2]);
  recorder.residuals.take_up(head[3]);
  length = head[4];
  copy_to(relations, seen_gap);
  copy_to(n, moved);
  copy_to(n, start_q);
  copy_to(n, met_with);
  copy_to(watch_side.size(), watch_side);
  copy_to(relations, report.normal);
  copy_to(count(layout.tangents), report.tangent);
  copy_to(n, report.acceleration);
  const std::span<const double> intervals = take(loads);
  penetration.load(take(StepMonitor::kSaved));
  gain.load(take(gain.saved_size()));
  if (!recorder.loads.load(intervals) || !scheme->load(rest, state))
    return fail({Reason::unsupported, state.t, {}, "the state is of another engine with fixed steps"});
  return true;
}

}  // namespace judder::engines
