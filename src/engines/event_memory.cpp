// What a run remembers: saved at its end, taken up where another run goes on.
#include <algorithm>
#include <cmath>
#include <limits>

#include "event_run.hpp"
#include "judder/core/number.hpp"
#include "phase_lists.hpp"

namespace judder::engines {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kGuardNumbers = phase_lists::kGuard;
constexpr std::size_t kIntervalNumbers = phase_lists::kInterval;
constexpr std::size_t kTailNumbers = phase_lists::kTail;
constexpr std::size_t kMethodNumbers = phase_lists::kMethod;

}  // namespace

void EventEngine::Run::save(Moment& out) const {
  out.time = t_;
  out.y.assign(y_.begin(), y_.begin() + layout_.integrated());
  out.dissipated.assign(y_.begin() + layout_.integrated(),
                        y_.begin() + layout_.integrated() + layout_.audits);
  out.supplied.assign(y_.begin() + layout_.integrated() + layout_.audits, y_.end());
  out.initial_energy = work_.in[layout_.initial_energy()];
  out.mode = mode_;
  out.step = h_;
  out.scales.assign(scale_.begin(), scale_.end());
  out.scales.insert(out.scales.end(), guards_.scales().begin(), guards_.scales().end());
  out.events = result_.events;
  out.watch_counts = watch_counts_;
  out.history = accumulation_.save();
  out.started = true;

  PhaseMemory& phase = out.phase;
  phase = phase_;
  // Before a mode has been set there is no phase.
  if (phase.y.size() != static_cast<std::size_t>(layout_.integrated())) {
    phase = {};
    out.scales.resize(scale_.size());
    return;
  }
  phase.start = phase_start_;
  phase.last_flight = last_flight_;
  phase.side = motion_.mode().side;
  phase.listed_sides = listed_side_;
  for (const Guard& guard : guards_.list())
    phase.guards.insert(phase.guards.end(), {static_cast<double>(guard.zeros), guard.noise, guard.noise_rate,
                                             guard.band, guard.flat, guard.stays ? 1.0 : 0.0});
  phase.watch_sides.assign(watch_side_.begin(), watch_side_.end());
  phase.watch_sides.insert(phase.watch_sides.end(), work_.in.begin() + layout_.observed_side(),
                           work_.in.begin() + layout_.observed_side() + layout_.observed);
  if (have_f0_) phase.rate = f0_;
  if (noise_measured_) {
    phase.noise = rate_noise_;
    phase.noise.insert(phase.noise.end(), damping_.begin(), damping_.end());
  }
  phase.grow = grow_allowed_;
  phase.largest_energy = result_.largest_energy;
  phase.stiff = stiff_;
  phase.stepper.assign({static_cast<double>(stiffness_.beyond()), static_cast<double>(stiffness_.calm()),
                        static_cast<double>(since_trial_), static_cast<double>(trial_every_),
                        unstable_ ? 1.0 : 0.0, leaving_rest_ ? rest_step_ : 0.0, origin_, noise_h_,
                        static_cast<double>(noise_age_)});
  phase.stepper.insert(phase.stepper.end(), mean_.begin(), mean_.end());
  phase.stepper.insert(phase.stepper.end(), recent_.begin(), recent_.end());
  phase.stepper.insert(phase.stepper.end(), motion_.acceleration_terms().begin(),
                       motion_.acceleration_terms().end());
  if (stiff_) radau_.save(phase.stepper);
  phase.switchings = switching_.save();
  phase.tail_end = accumulation_end_;
  if (!std::isnan(accumulation_end_)) {
    for (const Tail& tail : tails_)
      phase.tail.insert(phase.tail.end(), {tail.end, tail.count, tail.remaining, tail.impulse,
                                           tail.tangential[0], tail.tangential[1], tail.tangential[2]});
  }
  for (int r = 0; r < layout_.relations; ++r) {
    const Interval& open = open_intervals_[r];
    phase.intervals.insert(phase.intervals.end(), {open.from, open.peak, open.impulse, last_reaction_[r]});
  }
  phase.timetable = timetable_.save();
}

bool EventEngine::Run::take_up(const Moment& from) {
  result_.start_mode = from.mode;
  std::copy_n(from.scales.begin(), layout_.integrated(), scale_.begin());
  guards_.load_scales({from.scales.begin() + layout_.integrated(), from.scales.end()});
  work_.in[layout_.initial_energy()] = from.initial_energy;
  accumulation_.load(from.history);
  watch_counts_ = from.watch_counts;
  result_.events = from.events;
  std::fill(fresh_relation_.begin(), fresh_relation_.end(), std::uint8_t{0});
  std::fill(fresh_tangent_.begin(), fresh_tangent_.end(), std::uint8_t{0});
  std::fill(fresh_switch_.begin(), fresh_switch_.end(), std::uint8_t{0});
  std::fill(fresh_watch_.begin(), fresh_watch_.end(), std::uint8_t{0});

  const PhaseMemory& phase = from.phase;
  const bool whole = phase.y.size() == static_cast<std::size_t>(layout_.integrated());
  if (whole && phase.stiff && !stiff_) {
    stiff_ = true;
    motion_.always_audit(true);
  }
  // The mode is set anew where it was set: pins, rank and guards are those of the start of the phase.
  t_ = whole ? phase.time : from.time;
  mode_ = whole ? phase.mode : from.mode;
  reference_ = mode_;  // nothing turns by taking a run up
  const std::vector<double>& entry = whole ? phase.y : from.y;
  std::copy_n(entry.begin(), layout_.integrated(), y_.begin());
  std::copy_n(from.dissipated.begin(), layout_.audits, y_.begin() + layout_.integrated());
  std::copy_n(from.supplied.begin(), layout_.audits, y_.begin() + layout_.integrated() + layout_.audits);
  phase_start_ = t_;
  h_ = from.step;
  if (!restart()) return false;

  t_ = resumed_at_ = from.time;
  h_ = from.step;
  mode_ = from.mode;
  std::copy_n(from.y.begin(), layout_.integrated(), y_.begin());
  std::copy_n(from.dissipated.begin(), layout_.audits, y_.begin() + layout_.integrated());
  std::copy_n(from.supplied.begin(), layout_.audits, y_.begin() + layout_.integrated() + layout_.audits);
  guards_.load_scales({from.scales.begin() + layout_.integrated(), from.scales.end()});
  listed_side_ = mode_.side;
  for (int k = 0; k < layout_.switches; ++k) {
    if (mode_.slides(k)) listed_side_[k] = kNone;
  }
  if (whole && !recall(phase)) return false;
  motion_.load(t_, y_.data());
  load_statuses();
  for (int k = 0; k < layout_.switches; ++k)
    dead_[k] = !system_.switches()[k].time_only && !contains_sliding(k) && !system_.live(work_, k) ? 1 : 0;
  while (next_sample_ <= t_) advance_sample();
  return true;
}

bool EventEngine::Run::recall(const PhaseMemory& phase) {
  phase_start_ = phase.start;
  last_flight_ = phase.last_flight;
  if (phase.watch_sides.size() == watch_side_.size() + static_cast<std::size_t>(layout_.observed)) {
    std::copy_n(phase.watch_sides.end() - layout_.observed, layout_.observed,
                work_.in.begin() + layout_.observed_side());
    guards_.build_observed();
  }
  std::vector<Guard>& guards = guards_.list();
  // How many there are is known only here.
  if (phase.guards.size() != kGuardNumbers * guards.size())
    return fail({Reason::unsupported, t_, {}, "the state does not have the sizes of this model: 'guards'"});
  for (std::size_t i = 0; i < guards.size(); ++i) {
    const double* const saved = phase.guards.data() + kGuardNumbers * i;
    guards[i].zeros = static_cast<int>(whole_number(saved[0], -1, 64).value_or(-1));
    guards[i].noise = saved[1];
    guards[i].noise_rate = saved[2];
    guards[i].band = saved[3];
    guards[i].flat = saved[4];
    guards[i].stays = saved[5] != 0;
  }
  for (std::size_t w = 0; w < std::min(watch_side_.size(), phase.watch_sides.size()); ++w) {
    watch_side_[w] = static_cast<std::int8_t>(whole_number(phase.watch_sides[w], -1, 1).value_or(0));
  }
  if (phase.listed_sides.size() == listed_side_.size()) listed_side_ = phase.listed_sides;
  have_f0_ = phase.rate.size() == f0_.size();
  if (have_f0_) f0_ = phase.rate;
  noise_measured_ = phase.noise.size() == 2 * rate_noise_.size();
  if (noise_measured_) {
    const auto middle = phase.noise.begin() + static_cast<std::ptrdiff_t>(rate_noise_.size());
    std::copy(phase.noise.begin(), middle, rate_noise_.begin());
    std::copy(middle, phase.noise.end(), damping_.begin());
  }
  grow_allowed_ = phase.grow;
  result_.largest_energy = phase.largest_energy;
  const std::size_t terms = motion_.acceleration_terms().size();
  const std::size_t before = kMethodNumbers + 2 * static_cast<std::size_t>(layout_.states);
  if (phase.stepper.size() >= before + terms && phase.side.size() == mode_.side.size()) {
    const auto count = [&phase](std::size_t i) {
      return whole_number(phase.stepper[i], 0, 1L << 30).value_or(0);  // they go on counting
    };
    stiffness_.load(static_cast<int>(count(0)), static_cast<int>(count(1)));
    since_trial_ = count(2);
    trial_every_ = count(3);
    unstable_ = phase.stepper[4] != 0;
    rest_step_ = phase.stepper[5];
    leaving_rest_ = rest_step_ != 0;
    origin_ = phase.stepper[6];
    noise_h_ = phase.stepper[7];
    noise_age_ = static_cast<int>(count(8));
    const std::span<const double> memory(phase.stepper);
    std::copy_n(memory.begin() + kMethodNumbers, layout_.states, mean_.begin());
    std::copy_n(memory.begin() + kMethodNumbers + layout_.states, layout_.states, recent_.begin());
    motion_.recall(memory.subspan(before, terms), phase.side);
    if (stiff_) static_cast<void>(radau_.load(memory.subspan(before + terms)));
  }
  switching_.load(phase.switchings, layout_.switches);
  accumulation_end_ = kNone;
  for (Tail& tail : tails_) tail.end = kNone;
  if (phase.tail.size() == kTailNumbers * tails_.size()) {
    for (std::size_t r = 0; r < tails_.size(); ++r) {
      const double* saved = phase.tail.data() + kTailNumbers * r;
      tails_[r] = {saved[0], saved[1], saved[2], saved[3], {saved[4], saved[5], saved[6]}};
    }
    find_accumulation_end();
  }
  if (phase.intervals.size() == kIntervalNumbers * open_intervals_.size()) {
    for (int r = 0; r < layout_.relations; ++r) {
      const double* saved = phase.intervals.data() + kIntervalNumbers * r;
      open_intervals_[r] = {r, saved[0], saved[0], saved[1], saved[2]};
      last_reaction_[r] = saved[3];
    }
  }
  timetable_.load(phase.timetable);
  return true;
}

}  // namespace judder::engines
