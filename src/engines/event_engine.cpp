#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "event_run.hpp"
#include "judder/engines/collision.hpp"
#include "judder/model/large_matrices.hpp"

namespace judder::engines {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

EventEngine::EventEngine(const model::System& system) : run_(std::make_unique<Run>(system)) {}
EventEngine::~EventEngine() = default;
EventEngine::EventEngine(EventEngine&&) noexcept = default;

std::string EventEngine::unsupported(const model::System& system) {
  if (std::string problem = model::large_matrices_problem(system); !problem.empty()) return problem;
  const std::vector<bool>& massless = system.massless();
  if (std::find(massless.begin(), massless.end(), true) != massless.end() &&
      system.massless_balance().unknown.empty())
    return "the model is made for 'quasi-static', which leaves out all inertia; without it the massless "
           "coordinates have no balance";
  for (const model::Relation& relation : system.relations()) {
    if (relation.tangents > 1) {
      return relation.place + " has " + std::to_string(relation.tangents) +
             " slip components: engines that find events do not simulate it; '--engine moreau' moves it with "
             "fixed steps, 'judder impact' solves its collisions";
    }
  }
  return {};
}

EngineResult EventEngine::run(const EngineOptions& options, Sink& sink, const Moment* resume) {
  return run_->go(options, sink, resume);
}

EventEngine::Run::Run(const model::System& system)
    : system_(system),
      layout_(system.layout()),
      work_(system),
      motion_(system, work_),
      scales_(system, motion_.all_components()),
      noise_(layout_, motion_.all_components()),
      guards_(system, work_, motion_),
      decider_(system, work_),
      collider_(system, work_),
      timetable_(system, work_),
      hidden_change_(system),
      series_(system, work_),
      coupling_(system),
      nested_sides_(system, work_),
      accumulation_(decider_.coupling().blocks(), decider_.coupling().block_of()),
      tails_(layout_.relations),
      watches_(system),
      observed_(system),
      recorder_(system, &patience_) {
  const int components = motion_.all_components();
  every_coordinate_.resize(layout_.coordinates);
  std::iota(every_coordinate_.begin(), every_coordinate_.end(), 0);
  y_.resize(components);
  f0_.resize(components);
  node_y_.resize(components);
  landing_y_.resize(components);
  landed_.resize(layout_.switches);
  inside_.resize(layout_.switches);
  carried_.resize(layout_.switches);
  dead_.resize(layout_.switches);
  exit_side_.resize(layout_.switches);
  push_zeros_.resize(2 * layout_.switches);
  surface_before_.resize(layout_.switches);
  slip_before_.resize(layout_.tangents);
  lower_.resize(layout_.switches);
  listed_side_.resize(layout_.switches);
  speed_before_.resize(layout_.coordinates);
  nested_ = std::any_of(
      system.switches().begin(), system.switches().end(),
      [](const model::SwitchInfo& info) { return !info.inner.empty() || info.live.outputs() > 0; });
  has_massless_ =
      std::find(system.massless().begin(), system.massless().end(), true) != system.massless().end();
  may_jump_ = !system.massless_balance().velocity.empty();
  touching_.resize(layout_.relations);
  find_compliant();
  fresh_relation_.resize(layout_.relations);
  fresh_tangent_.resize(layout_.tangents);
  slip_returned_.resize(layout_.tangents);
  fresh_switch_.resize(layout_.switches);
  exclusions_ = decider_.no_exclusions();
  no_exclusions_ = decider_.no_exclusions();
  kept_exclusions_ = decider_.no_exclusions();
  ahead_.resize(work_.in.size());
  methods_.resize(layout_.integrated(), components - layout_.integrated(), &patience_);
  motion_.carry_works(system.watches_read_works());
  together_.reserve(16);
  changed_.reserve(2 * layout_.switches);
  open_.reserve(layout_.switches);
  seen_open_.reserve(layout_.switches);
  later_.reserve(layout_.switches);
  at_surface_.reserve(layout_.switches);
  timetable_.use(&patience_);
  decider_.use(&patience_);
  collider_.use(&patience_);
  guards_.use(&patience_);
  motion_.use(&patience_);
  series_.use(&patience_);
}

EngineResult EventEngine::Run::go(const EngineOptions& options, Sink& sink, const Moment* resume) {
  options_ = options;
  result_ = {};
  recorder_.begin(options, sink);
  motion_.evaluations = 0;
  patience_.start(options.abandon);
  try {
    follow(resume);
  } catch (const Abandoned&) {
    return give_up(resume);
  }
  finish();
  return std::move(result_);
}

// Inside a step or an instant there is no state to go on from: the last one that was handed over is.
EngineResult EventEngine::Run::give_up(const Moment* resume) {
  static_cast<void>(fail({Reason::interrupted, t_, {}, "interrupted"}));
  result_.whole = false;
  if (!handed_) result_.end = resume != nullptr ? *resume : Moment{};
  result_.evaluations = motion_.evaluations;
  motion_.load(t_, y_.data());
  recorder_.tell(work_);
  recorder_.fill(result_);
  return std::move(result_);
}

void EventEngine::Run::follow(const Moment* resume) {
  handed_ = false;
  begin(resume);
  if (result_.status.reason == Reason::done) {
    recorder_.testimony.after(mode_, t_, y_.data());
    // The run before may have ended just where something happens, without having seen what it does behind its end.
    if (resume != nullptr && t_ < options_.until && meets_at_once()) {
      limit_ = timetable_.next(t_, options_.until);
      if (handle_guards()) recorder_.testimony.after(mode_, t_, y_.data());
    }
    constexpr long kMostInstants = 1000;  ///< at one time, and more where much can happen together
    long instants_here = 0;
    double handled_at = t_;
    while (t_ < options_.until && !watches_.stopped() && result_.status.reason == Reason::done) {
      if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed)) {
        static_cast<void>(fail({Reason::interrupted, t_, {}, "interrupted"}));
        break;
      }
      double limit = timetable_.next(t_, options_.until);
      if (tails_.first_end() > t_) limit = std::min(limit, tails_.first_end());
      // A step may hold millions of rows: after so many of them, few enough for a slow machine to write in a moment, saving, progress and cancelling have their
      // turn. The same in every run, cut or not.
      constexpr long kRowsPerTurn = 1L << 13;
      const double turn = recorder_.samples.turn(kRowsPerTurn);
      if (turn > t_) limit = std::min(limit, turn);
      limit_ = limit;
      const StepEnd end = advance(limit);
      if (end == StepEnd::failed) break;
      if (end == StepEnd::guard && !handle_guards()) break;
      if (end == StepEnd::limit) {
        if (t_ == tails_.first_end() && !finish_accumulation()) break;
        if (!handle_timetable(t_)) break;
        if (t_ >= options_.until && meets_at_end() && !handle_guards()) break;
      }
      const bool parted = (end == StepEnd::plain || end == StepEnd::limit) && rows_part();
      if (parted && !handle_parting()) break;
      const bool handled = end != StepEnd::plain || parted;
      if (handled) recorder_.testimony.after(mode_, t_, y_.data());
      // What is handled again and again at one time need not be listed: then nothing else would end it.
      instants_here = !handled || t_ > handled_at ? 0 : instants_here + 1;
      handled_at = t_;
      if (instants_here > kMostInstants + 10L * (layout_.relations + layout_.switches)) {
        static_cast<void>(
            fail({Reason::too_many_events, t_, {}, "one event follows the other at this time"}));
        break;
      }
      if (recorder_.events() > options_.max_events) {
        static_cast<void>(fail({Reason::too_many_events,
                                t_,
                                {},
                                "more than " + std::to_string(options_.max_events) + " events"}));
        break;
      }
      if (recorder_.samples.next() <= t_) {
        row_here(RowKind::sample);
        recorder_.samples.advance();
      }
      if (recorder_.wants_state(t_)) hand_state();
    }
  }
}

void EventEngine::Run::begin(const Moment* resume) {
  accumulation_.clear();
  switching_.clear();
  timetable_.restart();
  motion_.release_pins();  // where the last run ended is not where this one starts
  phase_ = {};
  resumed_at_ = kNone;
  tails_.clear();
  time_bound_ = 0;
  have_f0_ = false;
  methods_.start(options_.integrator == Integrator::stiff,
                 options_.tolerance < 1e-8 ? numeric::Method::order8 : numeric::Method::order5);
  motion_.always_audit(methods_.stiff());
  grow_allowed_ = true;
  method_choice_.start();
  leaving_rest_ = false;
  watches_.start();
  observed_.start();
  load_start(system_, resume, work_);
  scales_.start(options_.from, work_.in.data() + 1);
  last_flight_ = 0;
  if (resume != nullptr && resume->started) {
    static_cast<void>(take_up(*resume));
    return;
  }
  start_from_model();
}

void EventEngine::Run::start_from_model() {
  t_ = options_.from;
  work_.in[0] = t_;
  std::fill(y_.begin(), y_.end(), 0.0);
  std::copy_n(work_.in.begin() + 1, layout_.integrated(), y_.begin());
  guards_.load_scales({});
  h_ = 0;
  phase_start_ = t_;
  mode_ = {};
  mode_.normal.assign(layout_.relations, NormalStatus::none);
  mode_.pressed.assign(layout_.relations, 0);
  mode_.tangent.assign(layout_.tangents, TangentStatus::free);
  mode_.side.assign(layout_.switches, 0);
  mode_.surface.assign(layout_.switches, AtSurface::away);
  begin_instant();
  // Sides, and the directions of slips that they may read or move, until they agree. What touches at the start: gaps that are zero to
  // rounding. Slips that are zero are at rest.
  bool closing = false;
  for (int round = 0; round <= layout_.switches; ++round) {
    timetable_.sides_after(t_, mode_.side);
    load_statuses();
    for (int k = 0; k < layout_.switches; ++k) {
      if (!system_.switches()[k].time_only) mode_.side[k] = start_side(k);
      work_.in[layout_.side() + k] = mode_.side[k];
    }
    const Mode before = mode_;
    closing = observe(system_, work_, mode_, touching_);
    if (mode_ == before && round > 0) break;
  }
  load_statuses();
  note_instant();

  double kinetic = 0;
  double potential = 0;
  double total = 0;
  if (!system_.motion(work_)) {
    static_cast<void>(fail({work_.mass_failed ? Reason::singular_mass : Reason::not_finite,
                            t_,
                            {},
                            "the equations cannot be evaluated at the start"}));
    return;
  }
  system_.energies(work_, kinetic, potential, total);
  work_.in[layout_.initial_energy()] = total;

  std::fill(fresh_relation_.begin(), fresh_relation_.end(), std::uint8_t{1});
  std::fill(fresh_tangent_.begin(), fresh_tangent_.end(), std::uint8_t{1});
  std::fill(fresh_switch_.begin(), fresh_switch_.end(), std::uint8_t{1});
  listed_side_ = mode_.side;
  reference_ = mode_;
  if (closing) {
    quiet_rows_ = false;
    rows_before_event();
    result_.start_mode = mode_;
    strikes_ = true;
    static_cast<void>(settle());
    return;
  }
  // The modes at the start are no events.
  reference_ = mode_;
  quiet_ = true;
  const bool settled = settle();
  quiet_ = false;
  result_.start_mode = mode_;
  if (!settled) return;
  recorder_.residuals.note_energy(work_);
  if (recorder_.samples.next() <= t_) {
    emit_row(RowKind::sample);
    recorder_.samples.advance();
  }
}

// The side of a switch by its value; of one at its surface that to which the velocities lead, where they tell: gaps and rates are read behind it.
double EventEngine::Run::start_side(int k) {
  const model::SwitchInfo& info = system_.switches()[k];
  double value = 0;
  double lower = 0;
  info.value.evaluate(work_.in.data(), &value, work_.registers.data());
  if (std::abs(distance_from_level(info, value, lower)) <= kRoundingUnits * surface_rounding(k)) {
    const int leaves = direction_by_speed(k);
    if (leaves != 0) return lower + (leaves > 0 ? 1 : 0);
  }
  return system_.side_of_value(work_, k);
}

bool EventEngine::Run::fail(Status status) {
  if (result_.status.reason == Reason::done) result_.status = std::move(status);
  return false;
}

/// What finish() would give if the run were interrupted here. The motion does not notice.
void EventEngine::Run::hand_state() {
  save(result_.end);
  handed_ = true;
  result_.evaluations = motion_.evaluations;
  recorder_.fill(result_);
  recorder_.state(result_);
}

void EventEngine::Run::finish() {
  save(result_.end);
  motion_.load(t_, y_.data());
  recorder_.tell(work_);  // of an instant that the motion did not get over
  result_.energy_imbalance = recorder_.residuals.imbalance(work_, y_.data());
  result_.evaluations = motion_.evaluations;
  recorder_.fill(result_);
  // A closed phase that an interrupt cuts goes on when the run is taken up.
  const bool goes_on = result_.status.reason == Reason::interrupted ||
                       (options_.another_goes_on && engine_ends(result_.status.reason));
  for (int r = 0; r < layout_.relations && !goes_on; ++r) recorder_.close(r, t_);
  if (result_.status.reason == Reason::done) {
    result_.status.time = t_;
    if (watches_.stopped()) result_.status.reason = Reason::watch;
  }
}

// --- rows ---

void EventEngine::Run::emit_row(RowKind kind) {
  complete_row();
  recorder_.row(kind, mode_, work_);
}

// What follows from the state in work_ and belongs to a row: reactions, and speeds that the forces alone decide.
void EventEngine::Run::complete_row() {
  if (recorder_.reads_reactions() || has_massless_ || motion_.slides()) {
    if (motion_.evaluate()) {
      if (motion_.redundant()) guards_.sharing.share(motion_);
      motion_.publish();
      recorder_.loads.note_peaks(mode_, motion_.normal());
    }
  }
}

// Regular samples before `to`, straight from the polynomial of the step into the rows.
void EventEngine::Run::emit_states(double to) {
  const std::size_t count = recorder_.samples.count_before(to);
  if (count == 0) return;
  const int width = layout_.integrated();
  const auto stride = static_cast<std::size_t>(width) + 1;
  double* const block = recorder_.state_rows(count);
  if (block != nullptr) {
    recorder_.samples.take(count, block, stride);
    methods_.dense_rows(block, count, stride, width);
    if (motion_.pinned()) {
      for (std::size_t i = 0; i < count; ++i) motion_.pin(block[i * stride], block + i * stride + 1);
    }
    return;
  }
  double* const in = work_.in.data();
  for (std::size_t i = 0; i < count; ++i) {
    recorder_.samples.take(1, in, stride);
    methods_.dense_rows(in, 1, stride, width);
    motion_.pin(in[0], in + 1);
    recorder_.row(RowKind::sample, mode_, work_);
  }
}

// Rows at the sample times before `to`, along the step just made.
void EventEngine::Run::emit_samples(double to) {
  const double h = to - t_;
  if (!methods_.stiff() && !recorder_.reads_reactions() && !has_massless_ && !recorder_.reads_works() &&
      motion_.all_pinned() && recorder_.samples.only_regular()) {
    // Only the state is asked for.
    emit_states(to);
    return;
  }
  for (double time = recorder_.samples.next(); time < to; time = recorder_.samples.next()) {
    patience_.look();
    dense((time - t_) / h, node_y_.data());
    if (motion_.active() > 0) static_cast<void>(motion_.project(time, node_y_.data(), true));
    motion_.load(time, node_y_.data());
    recorder_.load_works(motion_.components() == motion_.all_components() ? node_y_.data() : y_.data(),
                         work_);
    emit_row(RowKind::sample);
    recorder_.samples.advance();
  }
}

void EventEngine::Run::row_here(RowKind kind) {
  motion_.load(t_, y_.data());
  recorder_.load_works(y_.data(), work_);
  emit_row(kind);
}

void EventEngine::Run::rows_before_event() {
  if (recorder_.event_rows()) row_here(RowKind::before);
}

void EventEngine::Run::rows_after_event() {
  RowKind kind{};
  const bool row = recorder_.row_after(t_, kind);
  if (row || recorder_.untold()) {
    motion_.load(t_, y_.data());
    recorder_.load_works(y_.data(), work_);
    complete_row();
    recorder_.tell(work_);
    if (row) recorder_.row(kind, mode_, work_);
  }
  recorder_.samples.pass(t_);
}

// A touch without consequence at the state in work_, before the end of the phase: its event, and two equal rows instead of a sample.
void EventEngine::Run::report_graze(double time, int place, double depth, double bound) {
  Event event = event_here(EventKind::graze, place);
  event.time = time;
  event.bound = bound;
  event.numbers[0] = depth;
  event.mode = mode_.key();
  if (recorder_.event_rows()) emit_row(RowKind::before);
  recorder_.report_inside(event, work_);
  if (!recorder_.event_rows()) return;
  emit_row(RowKind::after);
  recorder_.samples.pass(time);
}

}  // namespace judder::engines
