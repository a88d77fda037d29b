#include "engines/event/memory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engines/event/impact_tails.hpp"
#include "engines/event/settling.hpp"
#include "engines/event/sides.hpp"
#include "engines/event/sliding.hpp"
#include "engines/event/trial.hpp"
#include "engines/event/watching.hpp"
#include "engines/phase_lists.hpp"
#include "judder/core/number.hpp"

namespace judder::engines {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kGuardNumbers = phase_lists::kGuard;
constexpr std::size_t kMethodNumbers = phase_lists::kMethod;

}  // namespace

Memory::Memory(Phase& now, InstantState& here, Trial& trial, Sides& sides, ImpactTails& tails,
               Watching& watching, Sliding& sliding, Settling& settling)
    : now_(now),
      here_(here),
      trial_(trial),
      sides_(sides),
      tails_(tails),
      watching_(watching),
      sliding_(sliding),
      settling_(settling) {}

void Memory::save(Moment& out) const {
  out.time = now_.t;
  out.y.assign(now_.y.begin(), now_.y.begin() + now_.layout.integrated());
  out.dissipated.assign(now_.y.begin() + now_.layout.integrated(),
                        now_.y.begin() + now_.layout.integrated() + now_.layout.audits);
  out.supplied.assign(now_.y.begin() + now_.layout.integrated() + now_.layout.audits, now_.y.end());
  out.initial_energy = now_.work.in[now_.layout.initial_energy()];
  out.mode = now_.mode;
  out.step = now_.h;
  out.scales = now_.scales.sizes();
  out.scales.insert(out.scales.end(), now_.guards.scales().begin(), now_.guards.scales().end());
  out.events = now_.recorder.events();
  out.watch_counts = watching_.watches().crossings();
  out.history = tails_.accumulation().save();
  out.started = true;

  PhaseMemory& phase = out.phase;
  phase = now_.entry;
  // Before a mode has been set there is no phase.
  if (phase.y.size() != static_cast<std::size_t>(now_.layout.integrated())) {
    phase = {};
    out.scales.resize(now_.scales.sizes().size());
    return;
  }
  phase.start = now_.phase_start;
  phase.last_flight = now_.last_flight;
  phase.side = now_.motion.mode().side;
  phase.listed_sides = here_.listed_side;
  for (const Guard& guard : now_.guards.list())
    phase.guards.insert(phase.guards.end(), {static_cast<double>(guard.zeros), guard.noise, guard.noise_rate,
                                             guard.band, guard.flat, guard.stays ? 1.0 : 0.0});
  watching_.watches().save_sides(phase.watch_sides);
  phase.watch_sides.insert(phase.watch_sides.end(), now_.work.in.begin() + now_.layout.observed_side(),
                           now_.work.in.begin() + now_.layout.observed_side() + now_.layout.observed);
  if (now_.have_f0) phase.rate = now_.f0;
  now_.noise.save(phase.noise);
  phase.grow = now_.grow_allowed;
  phase.largest_energy = now_.recorder.residuals.largest_energy();
  phase.stiff = trial_.methods().stiff();
  const auto choice = trial_.choice().save();
  phase.stepper.assign(choice.begin(), choice.end());
  phase.stepper.insert(phase.stepper.end(),
                       {now_.leaving_rest ? now_.rest_step : 0.0, now_.scales.origin(),
                        now_.noise.measured_for(), static_cast<double>(now_.noise.steps_since())});
  now_.scales.save_states(phase.stepper);
  phase.stepper.insert(phase.stepper.end(), now_.motion.acceleration_terms().begin(),
                       now_.motion.acceleration_terms().end());
  trial_.methods().save(phase.stepper);
  phase.switchings = sliding_.switching().save();
  phase.tail_end = tails_.tails().first_end();
  tails_.tails().save(phase.tail);
  now_.recorder.loads.save(phase.intervals);
  phase.timetable = now_.timetable.save();
}

bool Memory::take_up(const Moment& from) {
  now_.result.start_mode = from.mode;
  now_.scales.load_sizes(from.scales);
  now_.guards.load_scales({from.scales.begin() + now_.layout.integrated(), from.scales.end()});
  now_.work.in[now_.layout.initial_energy()] = from.initial_energy;
  tails_.accumulation().load(from.history);
  watching_.watches().load_crossings(from.watch_counts);
  now_.recorder.take_up(from.events);
  std::fill(here_.fresh_relation.begin(), here_.fresh_relation.end(), std::uint8_t{0});
  std::fill(here_.fresh_tangent.begin(), here_.fresh_tangent.end(), std::uint8_t{0});
  std::fill(here_.fresh_switch.begin(), here_.fresh_switch.end(), std::uint8_t{0});

  const PhaseMemory& phase = from.phase;
  const bool whole = phase.y.size() == static_cast<std::size_t>(now_.layout.integrated());
  if (whole && phase.stiff && !trial_.methods().stiff()) {
    trial_.methods().start(true, trial_.methods().order());
    now_.motion.always_audit(true);
  }
  // The mode is set anew where it was set: pins, rank and guards are those of the start of the phase.
  now_.t = whole ? phase.time : from.time;
  now_.mode = whole ? phase.mode : from.mode;
  here_.reference = now_.mode;  // nothing turns by taking a run up
  const std::vector<double>& entry = whole ? phase.y : from.y;
  std::copy_n(entry.begin(), now_.layout.integrated(), now_.y.begin());
  std::copy_n(from.dissipated.begin(), now_.layout.audits, now_.y.begin() + now_.layout.integrated());
  std::copy_n(from.supplied.begin(), now_.layout.audits,
              now_.y.begin() + now_.layout.integrated() + now_.layout.audits);
  now_.phase_start = now_.t;
  now_.h = from.step;
  if (!settling_.restart()) return false;

  now_.t = now_.resumed_at = from.time;
  now_.h = from.step;
  now_.mode = from.mode;
  std::copy_n(from.y.begin(), now_.layout.integrated(), now_.y.begin());
  std::copy_n(from.dissipated.begin(), now_.layout.audits, now_.y.begin() + now_.layout.integrated());
  std::copy_n(from.supplied.begin(), now_.layout.audits,
              now_.y.begin() + now_.layout.integrated() + now_.layout.audits);
  now_.guards.load_scales({from.scales.begin() + now_.layout.integrated(), from.scales.end()});
  here_.listed_side = now_.mode.side;
  for (int k = 0; k < now_.layout.switches; ++k) {
    if (now_.mode.slides(k)) here_.listed_side[k] = kNone;
  }
  if (whole && !recall(phase)) return false;
  now_.load();
  sides_.load_statuses();
  for (int k = 0; k < now_.layout.switches; ++k)
    here_.dead[k] =
        !now_.system.switches()[k].time_only && !sides_.contains_sliding(k) && !now_.system.live(now_.work, k)
            ? 1
            : 0;
  now_.recorder.samples.pass(now_.t);
  return true;
}

bool Memory::recall(const PhaseMemory& phase) {
  now_.phase_start = phase.start;
  now_.last_flight = phase.last_flight;
  if (phase.watch_sides.size() ==
      now_.system.watches().size() + static_cast<std::size_t>(now_.layout.observed)) {
    std::copy_n(phase.watch_sides.end() - now_.layout.observed, now_.layout.observed,
                now_.work.in.begin() + now_.layout.observed_side());
    now_.guards.build_observed();
  }
  std::vector<Guard>& guards = now_.guards.list();
  // How many there are is known only here.
  if (phase.guards.size() != kGuardNumbers * guards.size())
    return now_.fail(
        {Reason::unsupported, now_.t, {}, "the state does not have the sizes of this model: 'guards'"});
  for (std::size_t i = 0; i < guards.size(); ++i) {
    const double* const saved = phase.guards.data() + kGuardNumbers * i;
    guards[i].zeros = static_cast<int>(whole_number(saved[0], -1, 64).value_or(-1));
    guards[i].noise = saved[1];
    guards[i].noise_rate = saved[2];
    guards[i].band = saved[3];
    guards[i].flat = saved[4];
    guards[i].stays = saved[5] != 0;
  }
  watching_.watches().load_sides(phase.watch_sides);
  if (phase.listed_sides.size() == here_.listed_side.size()) here_.listed_side = phase.listed_sides;
  now_.have_f0 = phase.rate.size() == now_.f0.size();
  if (now_.have_f0) now_.f0 = phase.rate;
  now_.noise.load(phase.noise);
  now_.grow_allowed = phase.grow;
  now_.recorder.residuals.take_up(phase.largest_energy);
  const std::size_t terms = now_.motion.acceleration_terms().size();
  const std::size_t before = kMethodNumbers + 2 * static_cast<std::size_t>(now_.layout.states);
  if (phase.stepper.size() >= before + terms && phase.side.size() == now_.mode.side.size()) {
    const auto count = [&phase](std::size_t i) {
      return whole_number(phase.stepper[i], 0, 1L << 30).value_or(0);  // they go on counting
    };
    trial_.choice().load(static_cast<int>(count(0)), static_cast<int>(count(1)), count(2), count(3),
                         phase.stepper[4] != 0);
    now_.rest_step = phase.stepper[5];
    now_.leaving_rest = now_.rest_step != 0;
    now_.noise.load_age(phase.stepper[7], static_cast<int>(count(8)));
    const std::span<const double> memory(phase.stepper);
    now_.scales.load_states(phase.stepper[6], memory.subspan(kMethodNumbers, before - kMethodNumbers));
    now_.motion.recall(memory.subspan(before, terms), phase.side);
    trial_.methods().load(memory.subspan(before + terms));
  }
  sliding_.switching().load(phase.switchings, now_.layout.switches);
  tails_.tails().load(phase.tail);
  static_cast<void>(now_.recorder.loads.load(phase.intervals));
  now_.timetable.load(phase.timetable);
  return true;
}

}  // namespace judder::engines
