#include <algorithm>
#include <cmath>
#include <limits>

#include "event_run.hpp"
#include "judder/engines/collision.hpp"

namespace judder::engines {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

EventEngine::EventEngine(const model::System& system) : run_(std::make_unique<Run>(system)) {}
EventEngine::~EventEngine() = default;
EventEngine::EventEngine(EventEngine&&) noexcept = default;

std::string EventEngine::unsupported(const model::System& system) {
  for (const model::Relation& relation : system.relations()) {
    if (relation.tangents > 1) {
      return relation.place + " has " + std::to_string(relation.tangents) +
             " slip components: no engine simulates spatial friction; 'judder impact' solves its collisions";
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
      guards_(system, work_, motion_),
      decider_(system, work_),
      collider_(system, work_),
      timetable_(system, work_),
      hidden_change_(system),
      series_(system, work_),
      coupling_(system),
      nested_sides_(system, work_),
      accumulation_(decider_.coupling().blocks(), decider_.coupling().block_of()) {
  const int components = motion_.all_components();
  y_.resize(components);
  f0_.resize(components);
  node_y_.resize(components);
  landing_y_.resize(components);
  energy_state_.assign(layout_.direction(), kNone);
  scale_.resize(layout_.integrated());
  trial_scale_.resize(layout_.integrated());
  speed_floor_.resize(layout_.coordinates);
  mean_.resize(layout_.states);
  recent_.resize(layout_.states);
  movement_ahead_.resize(layout_.states);
  ahead_y_.resize(y_.size());
  last_look_.resize(layout_.integrated());
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
  watch_before_.resize(system.watches().size());
  nested_ = std::any_of(
      system.switches().begin(), system.switches().end(),
      [](const model::SwitchInfo& info) { return !info.inner.empty() || info.live.outputs() > 0; });
  weight_.resize(components);
  start_y_.resize(layout_.integrated());
  typical_.resize(layout_.integrated());
  has_massless_ =
      std::find(system.massless().begin(), system.massless().end(), true) != system.massless().end();
  may_jump_ = !system.massless_balance().velocity.empty();
  rate_noise_.resize(components);
  damping_.resize(components);
  rounding_.resize(layout_.integrated());
  touching_.resize(layout_.relations);
  fresh_relation_.resize(layout_.relations);
  fresh_tangent_.resize(layout_.tangents);
  slip_returned_.resize(layout_.tangents);
  fresh_switch_.resize(layout_.switches);
  fresh_watch_.resize(system.watches().size());
  reached_.resize(system.watches().size());
  exclusions_ = decider_.no_exclusions();
  no_exclusions_ = decider_.no_exclusions();
  kept_exclusions_ = decider_.no_exclusions();
  open_intervals_.resize(layout_.relations);
  last_reaction_.resize(layout_.relations);
  follows_.resize(layout_.relations);
  force_samples_.resize(static_cast<std::size_t>(layout_.relations) * kForcePoints);
  watch_counts_.resize(system.watches().size());
  watch_rising_.resize(system.watches().size());
  watch_side_.resize(system.watches().size());
  crossed_.resize(layout_.observed);
  turned_.resize(layout_.observed);
  observed_before_.resize(layout_.observed);
  crossed_side_.resize(layout_.observed);
  crossed_value_.resize(layout_.observed);
  ahead_.resize(work_.in.size());
  tails_.resize(layout_.relations);
  explicit_.resize(components);
  radau_.resize(layout_.integrated(), components - layout_.integrated());
  reads_audits_ = !system.columns().empty() || system.watches_read_works();
  motion_.carry_works(system.watches_read_works());
  needs_reactions_ = std::any_of(system.columns().begin(), system.columns().end(),
                                 [](const model::ColumnInfo& column) { return column.needs_reactions; });
  pending_.reserve(16);
  together_.reserve(16);
  changed_.reserve(2 * layout_.switches);
  open_.reserve(layout_.switches);
  seen_open_.reserve(layout_.switches);
  later_.reserve(layout_.switches);
  at_surface_.reserve(layout_.switches);
  decider_.use(&patience_);
  collider_.use(&patience_);
  guards_.use(&patience_);
  radau_.use(&patience_);
  motion_.use(&patience_);
  series_.use(&patience_);
}

EngineResult EventEngine::Run::go(const EngineOptions& options, Sink& sink, const Moment* resume) {
  options_ = options;
  sink_ = &sink;
  result_ = {};
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
  return std::move(result_);
}

void EventEngine::Run::follow(const Moment* resume) {
  handed_ = false;
  begin(resume);
  if (result_.status.reason == Reason::done) {
    tell_start();
    // The run before may have ended just where something happens, without having seen what it does behind its end.
    if (resume != nullptr && t_ < options_.until && meets_at_once()) {
      limit_ = timetable_.next(t_, options_.until);
      if (handle_guards()) tell_after();
    }
    constexpr long kMostInstants = 1000;  ///< at one time, and more where much can happen together
    long instants_here = 0;
    double handled_at = t_;
    while (t_ < options_.until && !stop_by_watch_ && result_.status.reason == Reason::done) {
      if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed)) {
        static_cast<void>(fail({Reason::interrupted, t_, {}, "interrupted"}));
        break;
      }
      double limit = timetable_.next(t_, options_.until);
      if (accumulation_end_ > t_) limit = std::min(limit, accumulation_end_);
      // A step may hold millions of rows: after so many of them saving, progress and cancelling have their turn. The same in every run, cut or not.
      constexpr long kRowsPerTurn = 1L << 16;
      const double turn = regular_sample((sample_index_ / kRowsPerTurn + 1) * kRowsPerTurn);
      if (turn > t_) limit = std::min(limit, turn);
      limit_ = limit;
      const StepEnd end = advance(limit);
      if (end == StepEnd::failed) break;
      if (end == StepEnd::guard && !handle_guards()) break;
      if (end == StepEnd::limit) {
        if (t_ == accumulation_end_ && !finish_accumulation()) break;
        if (!handle_timetable(t_)) break;
        if (t_ >= options_.until && meets_at_end() && !handle_guards()) break;
      }
      const bool parted = (end == StepEnd::plain || end == StepEnd::limit) && rows_part();
      if (parted && !handle_parting()) break;
      const bool handled = end != StepEnd::plain || parted;
      if (handled) tell_after();
      // What is handled again and again at one time need not be listed: then nothing else would end it.
      instants_here = !handled || t_ > handled_at ? 0 : instants_here + 1;
      handled_at = t_;
      if (instants_here > kMostInstants + 10L * (layout_.relations + layout_.switches)) {
        static_cast<void>(
            fail({Reason::too_many_events, t_, {}, "one event follows the other at this time"}));
        break;
      }
      if (result_.events > options_.max_events) {
        static_cast<void>(fail({Reason::too_many_events,
                                t_,
                                {},
                                "more than " + std::to_string(options_.max_events) + " events"}));
        break;
      }
      if (next_sample_ <= t_) {
        motion_.load(t_, y_.data());
        load_audits(y_.data());
        emit_row(RowKind::sample);
        advance_sample();
      }
      sink_->progress(t_);
      if (sink_->wants_state()) hand_state();
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
  accumulation_end_ = kNone;
  for (Tail& tail : tails_) tail.end = kNone;
  stop_by_watch_ = false;
  time_bound_ = 0;
  have_f0_ = false;
  stiff_ = options_.integrator == Integrator::stiff;
  motion_.always_audit(stiff_);
  method_ = options_.tolerance < 1e-8 ? numeric::Method::order8 : numeric::Method::order5;
  power_ = method_ == numeric::Method::order8 ? 8 : 5;
  grow_allowed_ = true;
  stiffness_.restart();
  std::fill(trial_scale_.begin(), trial_scale_.end(), 0.0);
  std::fill(speed_floor_.begin(), speed_floor_.end(), 0.0);
  since_trial_ = trial_every_ = 0;
  unstable_ = false;
  leaving_rest_ = false;
  radau_.restart();
  for (Interval& interval : open_intervals_) interval.from = kNone;
  std::fill(last_reaction_.begin(), last_reaction_.end(), 0.0);
  std::fill(watch_counts_.begin(), watch_counts_.end(), 0L);
  std::fill(watch_side_.begin(), watch_side_.end(), std::int8_t{0});
  std::copy(system_.start().begin(), system_.start().end(), work_.in.begin());
  std::copy_n(work_.in.begin() + 1, layout_.integrated(), start_y_.begin());
  std::copy_n(start_y_.begin() + 2 * layout_.coordinates, layout_.states, mean_.begin());
  std::fill(recent_.begin(), recent_.end(), 0.0);
  origin_ = options_.from;
  std::fill(fresh_watch_.begin(), fresh_watch_.end(), std::uint8_t{1});

  first_sample();
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
  std::fill(scale_.begin(), scale_.end(), 0.0);
  for (int i = 0; i < layout_.coordinates; ++i) scale_[i] = system_.scale_floor()[i];
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
  note_energy();
  if (next_sample_ <= t_) {
    emit_row(RowKind::sample);
    advance_sample();
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

// Of the present state; at an event it is asked for more than once. Energies read nothing behind the sides of the switches.
double EventEngine::Run::total_energy() {
  const auto begin = work_.in.begin();
  if (std::equal(energy_state_.begin(), energy_state_.end(), begin)) return energy_;
  std::copy_n(begin, energy_state_.size(), energy_state_.begin());
  double potential = 0;
  system_.energies(work_, kinetic_energy_, potential, energy_);
  return energy_;
}

double EventEngine::Run::imbalance() {
  double balance = total_energy() - work_.in[layout_.initial_energy()];
  for (int e = 0; e < layout_.audits; ++e) {
    balance += y_[layout_.integrated() + e] - y_[layout_.integrated() + layout_.audits + e];
  }
  return balance;
}

/// What finish() would give if the run were interrupted here. The motion does not notice.
void EventEngine::Run::hand_state() {
  save(result_.end);
  handed_ = true;
  result_.evaluations = motion_.evaluations;
  sink_->state(result_);
}

void EventEngine::Run::finish() {
  save(result_.end);
  motion_.load(t_, y_.data());
  result_.energy_imbalance = imbalance();
  result_.evaluations = motion_.evaluations;
  // A closed phase that an interrupt cuts goes on when the run is taken up.
  const bool goes_on = result_.status.reason == Reason::interrupted ||
                       (options_.another_goes_on && engine_ends(result_.status.reason));
  for (int r = 0; r < layout_.relations && !goes_on; ++r) close_interval(r);
  if (result_.status.reason == Reason::done) {
    result_.status.time = t_;
    if (stop_by_watch_) result_.status.reason = Reason::watch;
  }
}

// --- rows ---

// Time of the k-th regular sample; infinity behind the last.
double EventEngine::Run::regular_sample(long k) const {
  if (k > last_sample_) return std::numeric_limits<double>::infinity();
  if (k == last_sample_) return options_.until;
  const auto index = static_cast<double>(k);
  return options_.from + (options_.every > 0 ? index * options_.every
                                             : (options_.until - options_.from) *
                                                   (index / static_cast<double>(last_sample_)));
}

void EventEngine::Run::first_sample() {
  sample_index_ = 0;
  instant_index_ = 0;
  const double span = options_.until - options_.from;
  last_sample_ =
      options_.every > 0 ? static_cast<long>(std::ceil(span / options_.every - 1e-9)) : options_.samples - 1;
  set_next_sample();
}

void EventEngine::Run::set_next_sample() {
  next_sample_ = regular_sample(sample_index_);
  if (instant_index_ < options_.instants.size())
    next_sample_ = std::min(next_sample_, options_.instants[instant_index_]);
}

void EventEngine::Run::advance_sample() {
  const double now = next_sample_;
  if (regular_sample(sample_index_) <= now) ++sample_index_;
  while (instant_index_ < options_.instants.size() && options_.instants[instant_index_] <= now)
    ++instant_index_;
  set_next_sample();
}

void EventEngine::Run::emit_row(RowKind kind) {
  if (needs_reactions_ || has_massless_ || motion_.slides()) {
    if (motion_.evaluate()) {
      if (motion_.redundant()) guards_.sharing.share(motion_);
      motion_.publish();
      note_peaks();
    }
  }
  sink_->row(kind, mode_, work_);
}

// Regular samples before `to`, straight from the polynomial of the step into the rows.
void EventEngine::Run::emit_states(double to) {
  if (!(next_sample_ < to)) return;
  const double spacing = options_.every > 0
                             ? options_.every
                             : (options_.until - options_.from) / static_cast<double>(last_sample_);
  long end =
      sample_index_ + static_cast<long>((to - next_sample_) / spacing);  // right but for one, by rounding
  while (end > sample_index_ && !(regular_sample(end - 1) < to)) --end;
  while (regular_sample(end) < to) ++end;
  const auto count = static_cast<std::size_t>(end - sample_index_);
  const int width = layout_.integrated();
  const auto stride = static_cast<std::size_t>(width) + 1;
  double* const block = sink_->state_rows(count);
  if (block != nullptr) {
    // As in regular_sample, without its questions.
    const double from = options_.from;
    const double span = options_.until - options_.from;
    const auto last = static_cast<double>(last_sample_);
    auto index = static_cast<double>(sample_index_);
    for (std::size_t i = 0; i < count; ++i, ++index) {
      block[i * stride] = from + (options_.every > 0 ? index * options_.every : span * (index / last));
    }
    if (end > last_sample_) block[(count - 1) * stride] = options_.until;
    explicit_.dense_rows(block, count, stride, width);
    if (motion_.pinned()) {
      for (std::size_t i = 0; i < count; ++i) motion_.pin(block[i * stride], block + i * stride + 1);
    }
  } else {
    double* const in = work_.in.data();
    for (; sample_index_ < end; ++sample_index_) {
      in[0] = regular_sample(sample_index_);
      explicit_.dense_rows(in, 1, stride, width);
      motion_.pin(in[0], in + 1);
      sink_->row(RowKind::sample, mode_, work_);
    }
  }
  sample_index_ = end;
  next_sample_ = regular_sample(end);
}

// Rows at the sample times before `to`, along the step just made.
void EventEngine::Run::emit_samples(double to) {
  const double h = to - t_;
  if (!stiff_ && !needs_reactions_ && !has_massless_ && !reads_audits_ && motion_.all_pinned() &&
      instant_index_ >= options_.instants.size()) {
    // Only the state is asked for.
    emit_states(to);
    return;
  }
  while (next_sample_ < to) {
    patience_.look();
    dense((next_sample_ - t_) / h, node_y_.data());
    if (motion_.active() > 0) static_cast<void>(motion_.project(next_sample_, node_y_.data(), true));
    motion_.load(next_sample_, node_y_.data());
    load_audits(motion_.components() == motion_.all_components() ? node_y_.data() : y_.data());
    emit_row(RowKind::sample);
    advance_sample();
  }
}

void EventEngine::Run::load_audits(const double* y) {
  if (!reads_audits_) return;
  std::copy_n(y + layout_.integrated(), layout_.audits, work_.in.begin() + layout_.dissipated());
  std::copy_n(y + layout_.integrated() + layout_.audits, layout_.audits,
              work_.in.begin() + layout_.supplied());
}

void EventEngine::Run::rows_before_event() {
  if (!options_.event_rows) return;
  motion_.load(t_, y_.data());
  load_audits(y_.data());
  emit_row(RowKind::before);
}

void EventEngine::Run::rows_after_event() {
  if (options_.event_rows) {
    motion_.load(t_, y_.data());
    load_audits(y_.data());
    emit_row(RowKind::after);
    while (next_sample_ <= t_) advance_sample();
  } else if (next_sample_ <= t_) {
    motion_.load(t_, y_.data());
    load_audits(y_.data());
    emit_row(RowKind::sample);
    while (next_sample_ <= t_) advance_sample();
  }
}

void EventEngine::Run::report(Event event) {
  event.time = t_;
  event.bound = time_bound_;
  event.mode = mode_.key();
  sink_->event(event);
  if (options_.observer != nullptr) options_.observer->event(event);
  ++result_.events;
}

// A touch without consequence at the state in work_, before the end of the phase: its event, and two equal rows instead of a sample.
void EventEngine::Run::report_graze(double time, int place, double depth, double bound) {
  Event event = event_here(EventKind::graze, place);
  event.time = time;
  event.bound = bound;
  event.numbers[0] = depth;
  event.mode = mode_.key();
  if (options_.event_rows) emit_row(RowKind::before);
  sink_->event(event);
  ++result_.events;
  if (!options_.event_rows) return;
  emit_row(RowKind::after);
  while (next_sample_ <= time) advance_sample();
}

}  // namespace judder::engines
