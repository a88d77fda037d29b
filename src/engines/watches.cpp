#include "watches.hpp"

#include <algorithm>
#include <cmath>

#include "judder/core/number.hpp"

namespace judder::engines {
namespace {

constexpr double kSmall = 1e-9;  ///< share of its scale below which a watch that met its zero has not jumped

}  // namespace

Watches::Watches(const model::System& system)
    : system_(system),
      side_(system.watches().size()),
      rising_(system.watches().size()),
      fresh_(system.watches().size()),
      reached_(system.watches().size()),
      before_(system.watches().size()),
      crossings_(system.watches().size()) {}

void Watches::start() {
  std::fill(side_.begin(), side_.end(), std::int8_t{0});
  std::fill(crossings_.begin(), crossings_.end(), 0L);
  std::fill(fresh_.begin(), fresh_.end(), std::uint8_t{1});
  stopped_ = false;
}

void Watches::begin_instant() {
  std::fill(fresh_.begin(), fresh_.end(), std::uint8_t{0});
  std::fill(reached_.begin(), reached_.end(), std::uint8_t{0});
}

bool Watches::counts(int watch, bool rising) const {
  const int wanted = system_.watches()[watch].direction;
  return wanted == 0 || (wanted > 0) == rising;
}

void Watches::count(int watch) {
  const int stop = system_.watches()[watch].stop;
  if (stop > 0 && ++crossings_[watch] >= stop) stopped_ = true;
}

Word Watches::cross(int watch) {
  fresh_[watch] = 1;
  side_[watch] = rising_[watch] != 0 ? 1 : -1;
  count(watch);
  return rising_[watch] != 0 ? Word::up : Word::down;
}

void Watches::note_before(model::Workspace& work) {
  for (std::size_t w = 0; w < before_.size(); ++w)
    system_.watches()[w].value.evaluate(work.in.data(), &before_[w], work.registers.data());
}

std::optional<Word> Watches::jumped(const Guard& guard, double after, MotionAhead& ahead) {
  const int w = guard.place;
  const double before = before_[w];
  const expr::Program& value = system_.watches()[w].value;
  double zero = std::max(guard.noise, kRoundingUnits * ahead.rounding(value));
  // What was zero has the sign that it had before; so has what its own zero brought here, whatever the landing has left of it.
  int from = std::abs(before) > zero ? (before > 0 ? 1 : -1) : side_[w];
  if (reached_[w] != 0) {
    from = rising_[w] != 0 ? -1 : 1;
    if (std::abs(after) <= kSmall * guard.scale) zero = std::max(zero, std::abs(after));
  }
  const int to = std::abs(after) > zero ? (after > 0 ? 1 : -1) : ahead.direction(value, 0, zero);
  if (to == 0) return std::nullopt;
  carry(w, to);
  if (from * to >= 0) return std::nullopt;
  if (!(std::abs(after) > zero)) fresh_[w] = 1;
  if (!counts(w, to > 0)) return std::nullopt;
  count(w);
  return to > 0 ? Word::up : Word::down;
}

void Watches::save_sides(std::vector<double>& out) const { out.assign(side_.begin(), side_.end()); }

void Watches::load_crossings(const std::vector<long>& crossings) {
  crossings_ = crossings;
  std::fill(fresh_.begin(), fresh_.end(), std::uint8_t{0});
}

void Watches::load_sides(std::span<const double> saved) {
  for (std::size_t w = 0; w < std::min(side_.size(), saved.size()); ++w)
    side_[w] = static_cast<std::int8_t>(whole_number(saved[w], -1, 1).value_or(0));
}

ObservedSwitches::ObservedSwitches(const model::System& system)
    : system_(system),
      crossed_(system.layout().observed),
      turned_(system.layout().observed),
      crossed_side_(system.layout().observed),
      crossed_value_(system.layout().observed),
      before_(system.layout().observed) {}

void ObservedSwitches::start() { std::fill(crossed_.begin(), crossed_.end(), std::uint8_t{0}); }

void ObservedSwitches::cross(const Guard& guard, model::Workspace& work) {
  const model::SwitchInfo& info = system_.observed()[guard.place];
  double lower = 0;  // side below the level
  if (info.whole) {
    lower = guard.level - 1;
  } else if (!info.levels.empty()) {
    const auto at = std::lower_bound(info.levels.begin(), info.levels.end(), guard.level);
    lower = static_cast<double>(at - info.levels.begin()) - 1;
  }
  crossed_[guard.place] = 1;
  crossed_side_[guard.place] = guard.sign > 0 ? lower : lower + 1;
  info.value.evaluate(work.in.data(), &crossed_value_[guard.place], work.registers.data());
}

bool ObservedSwitches::take_timetable(double t, Timetable& timetable, model::Workspace& work) {
  const double* const side = work.in.data() + system_.layout().observed_side();
  std::copy_n(side, before_.size(), before_.begin());
  const bool changed = timetable.observe(t, work.in.data());
  for (std::size_t k = 0; k < before_.size(); ++k) turned_[k] = side[k] != before_[k] ? 1 : 0;
  return changed;
}

// Where a switch inside it has turned, a surface goes elsewhere: abs(x) comes down to zero and rises again.
bool ObservedSwitches::inner_turned(const model::SwitchInfo& info, const Mode& mode,
                                    const Mode& before) const {
  const int switches = system_.layout().switches;
  return std::any_of(info.inner.begin(), info.inner.end(), [&](int inner) {
    return inner < switches ? mode.side[inner] != before.side[inner] : turned_[inner - switches] != 0;
  });
}

bool ObservedSwitches::take(const Mode& mode, const Mode& before, model::Workspace& work,
                            MotionAhead& ahead) {
  bool changed = false;
  for (std::size_t k = 0; k < crossed_.size(); ++k) {
    const model::SwitchInfo& info = system_.observed()[k];
    if (info.time_only) continue;
    double s = 0;
    info.value.evaluate(work.in.data(), &s, work.registers.data());
    if (!std::isfinite(s)) continue;
    double lower = 0;
    const double distance = distance_from_level(info, s, lower);
    const double bound = Watches::kRoundingUnits * ahead.rounding(info.value);
    double& side = work.in[system_.layout().observed_side() + k];
    const int only = info.only_side(lower);
    double next = (only != 0 ? only > 0 : distance > 0) ? lower + 1 : lower;
    if (crossed_[k] != 0 && !inner_turned(info, mode, before) && std::abs(s - crossed_value_[k]) <= bound) {
      next = crossed_side_[k];
    } else if (std::abs(distance) <= bound) {
      const int leaves = ahead.direction(info.value, s - distance, bound);
      if (leaves == 0) {
        next = lower + info.at_zero;
      } else if (only == 0) {
        next = leaves > 0 ? lower + 1 : lower;
      }
    }
    changed = changed || next != side;
    turned_[k] = next != side ? 1 : 0;
    side = next;
  }
  std::fill(crossed_.begin(), crossed_.end(), std::uint8_t{0});
  return changed;
}

}  // namespace judder::engines
