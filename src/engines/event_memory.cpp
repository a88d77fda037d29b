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
  out.scales = scales_.sizes();
  out.scales.insert(out.scales.end(), guards_.scales().begin(), guards_.scales().end());
  out.events = recorder_.events();
  out.watch_counts = watches_.crossings();
  out.history = accumulation_.save();
  out.started = true;

  PhaseMemory& phase = out.phase;
  phase = phase_;
  // Before a mode has been set there is no phase.
  if (phase.y.size() != static_cast<std::size_t>(layout_.integrated())) {
    phase = {};
    out.scales.resize(scales_.sizes().size());
    return;
  }
  phase.start = phase_start_;
  phase.last_flight = last_flight_;
  phase.side = motion_.mode().side;
  phase.listed_sides = listed_side_;
  for (const Guard& guard : guards_.list())
    phase.guards.insert(phase.guards.end(), {static_cast<double>(guard.zeros), guard.noise, guard.noise_rate,
                                             guard.band, guard.flat, guard.stays ? 1.0 : 0.0});
  watches_.save_sides(phase.watch_sides);
  phase.watch_sides.insert(phase.watch_sides.end(), work_.in.begin() + layout_.observed_side(),
                           work_.in.begin() + layout_.observed_side() + layout_.observed);
  if (have_f0_) phase.rate = f0_;
  noise_.save(phase.noise);
  phase.grow = grow_allowed_;
  phase.largest_energy = recorder_.residuals.largest_energy();
  phase.stiff = methods_.stiff();
  const auto choice = method_choice_.save();
  phase.stepper.assign(choice.begin(), choice.end());
  phase.stepper.insert(phase.stepper.end(),
                       {leaving_rest_ ? rest_step_ : 0.0, scales_.origin(), noise_.measured_for(),
                        static_cast<double>(noise_.steps_since())});
  scales_.save_states(phase.stepper);
  phase.stepper.insert(phase.stepper.end(), motion_.acceleration_terms().begin(),
                       motion_.acceleration_terms().end());
  methods_.save(phase.stepper);
  phase.switchings = switching_.save();
  phase.tail_end = tails_.first_end();
  tails_.save(phase.tail);
  recorder_.loads.save(phase.intervals);
  phase.timetable = timetable_.save();
}

bool EventEngine::Run::take_up(const Moment& from) {
  result_.start_mode = from.mode;
  scales_.load_sizes(from.scales);
  guards_.load_scales({from.scales.begin() + layout_.integrated(), from.scales.end()});
  work_.in[layout_.initial_energy()] = from.initial_energy;
  accumulation_.load(from.history);
  watches_.load_crossings(from.watch_counts);
  recorder_.take_up(from.events);
  std::fill(fresh_relation_.begin(), fresh_relation_.end(), std::uint8_t{0});
  std::fill(fresh_tangent_.begin(), fresh_tangent_.end(), std::uint8_t{0});
  std::fill(fresh_switch_.begin(), fresh_switch_.end(), std::uint8_t{0});

  const PhaseMemory& phase = from.phase;
  const bool whole = phase.y.size() == static_cast<std::size_t>(layout_.integrated());
  if (whole && phase.stiff && !methods_.stiff()) {
    methods_.start(true, methods_.order());
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
  recorder_.samples.pass(t_);
  return true;
}

bool EventEngine::Run::recall(const PhaseMemory& phase) {
  phase_start_ = phase.start;
  last_flight_ = phase.last_flight;
  if (phase.watch_sides.size() == system_.watches().size() + static_cast<std::size_t>(layout_.observed)) {
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
  watches_.load_sides(phase.watch_sides);
  if (phase.listed_sides.size() == listed_side_.size()) listed_side_ = phase.listed_sides;
  have_f0_ = phase.rate.size() == f0_.size();
  if (have_f0_) f0_ = phase.rate;
  noise_.load(phase.noise);
  grow_allowed_ = phase.grow;
  recorder_.residuals.take_up(phase.largest_energy);
  const std::size_t terms = motion_.acceleration_terms().size();
  const std::size_t before = kMethodNumbers + 2 * static_cast<std::size_t>(layout_.states);
  if (phase.stepper.size() >= before + terms && phase.side.size() == mode_.side.size()) {
    const auto count = [&phase](std::size_t i) {
      return whole_number(phase.stepper[i], 0, 1L << 30).value_or(0);  // they go on counting
    };
    method_choice_.load(static_cast<int>(count(0)), static_cast<int>(count(1)), count(2), count(3),
                        phase.stepper[4] != 0);
    rest_step_ = phase.stepper[5];
    leaving_rest_ = rest_step_ != 0;
    noise_.load_age(phase.stepper[7], static_cast<int>(count(8)));
    const std::span<const double> memory(phase.stepper);
    scales_.load_states(phase.stepper[6], memory.subspan(kMethodNumbers, before - kMethodNumbers));
    motion_.recall(memory.subspan(before, terms), phase.side);
    methods_.load(memory.subspan(before + terms));
  }
  switching_.load(phase.switchings, layout_.switches);
  tails_.load(phase.tail);
  static_cast<void>(recorder_.loads.load(phase.intervals));
  timetable_.load(phase.timetable);
  return true;
}

}  // namespace judder::engines
