#include "engines/event/leaving.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/elementary.hpp"
#include "engines/event/roundings.hpp"
#include "engines/event/watching.hpp"

namespace judder::engines {
Leaving::Leaving(Phase& now, InstantState& here, Roundings& rounding, Watching& watching)
    : now_(now), here_(here), rounding_(rounding), watching_(watching) {
  landing_y_.resize(now_.motion.all_components());
}

// Whether the surface of switch k changes with the speed of a massless coordinate, at the loaded state.
bool Leaving::reads_node_speed(int k) {
  const expr::Program& program = now_.system.switches()[k].surface;
  surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), program.outputs()));
  program.evaluate(now_.work.in.data(), surface_memory_.data(), now_.work.registers.data());
  const int n = now_.layout.coordinates;
  for (int i = 0; i < n; ++i) {
    if (now_.system.massless()[i] && surface_memory_[2 + n + i] != 0) return true;
  }
  return false;
}

// The direction in which a row leaves its rest across the surface of switch k, away from the side that the switch has in `trial`: friction there is that of
// the other side, and the forces are of this one, so no motion shows it. 0: none does.
int Leaving::slips_across(int k, const Mode& trial) const {
  if (trial.slides(k)) return 0;
  const bool upper = trial.side[k] > here_.lower[k];
  for (int j = 0; j < now_.layout.tangents; ++j) {
    if (direction(trial.tangent[j]) == 0 || here_.entering.tangent[j] != TangentStatus::stick) continue;
    const int to = direction(trial.tangent[j]) * now_.decider.rest_laws().along(j, k);
    if (to != 0 && (to > 0) != upper) return to;
  }
  return 0;
}

// In which direction the motion of the mode that is set leaves the surface of switch k: the sign of the first derivative that is not zero, and its
// order. Zero: the motion stays on it, as far as order 8 tells.
Departure Leaving::leaving_direction(int k, const Mode& trial) {
  now_.patience.look();
  if (const int across = slips_across(k, trial); across != 0) return {across, 1};
  if (now_.has_massless && reads_node_speed(k)) {
    // The speed of a massless node jumps where its friction is overcome, and a surface that reads it is left by that jump. What a landing has left
    // of its zero is none: it was there before the instant.
    const model::SwitchInfo& info = now_.system.switches()[k];
    double s = 0;
    info.value.evaluate(now_.work.in.data(), &s, now_.work.registers.data());
    const double distance = s - (info.two_sided() ? 0 : info.level_above(here_.lower[k]));
    if (std::min(std::abs(distance), std::abs(s - here_.surface_before[k])) >
        kRoundingUnits * rounding_.surface_rounding(k))
      return {distance > 0 ? 1 : -1, 1};
  }
  // A multiple of a surface that is slid on stays where that one does: what is left is what parts them.
  double ratio = 0;
  const int along = rounding_.slide_along(k, trial, ratio);
  const double rate = now_.motion.surface_rate(k) - (along < 0 ? 0 : ratio * now_.motion.surface_rate(along));
  // A surface with a fractional power may have no slope at zero, and goes where its value does all the same.
  if (std::isnan(rate)) return leaving_ahead(k, trial);
  const double scale = rounding_.faded_rate_scale(k);
  const double rounding = rounding_.surface_rate_rounding(k);
  if (std::abs(rate) > std::max(kSmallRate * scale, rounding) && std::abs(rate) > rounding_.force_rounding(k))
    return {rate > 0 ? 1 : -1, 1};
  // To the highest order that it has: at the touch the force of a contact with the exponent 1.5 has two.
  if (!now_.follow(trial) && now_.series.order() < 2) return leaving_by_acceleration(k);
  expr::Series s = now_.series.surface(k);
  if (along >= 0) {
    const expr::Series other = now_.series.surface(along);
    for (int o = 1; o <= now_.series.order(); ++o) {
      const double terms = std::abs(s.c[o]) + std::abs(ratio * other.c[o]);
      s.c[o] -= ratio * other.c[o];
      if (std::abs(s.c[o]) <= kSmallRate * terms) s.c[o] = 0;
    }
  }
  // Terms that cancel for good leave rounding in all derivatives.
  const double least =
      std::max(kSmallRate * scale * now_.series.time_scale(),
               rounding > 0 && scale <= rounding ? kRoundingUnits * rounding_.surface_rounding(k) : 0);
  const int from = rounding > 0 ? 2 : 1;
  double power = from == 2 ? now_.series.time_scale() * now_.series.time_scale() : now_.series.time_scale();
  // A friction that is just overcome leaves the rounding of forces that balance, where nothing has moved yet.
  const model::SwitchInfo& info = now_.system.switches()[k];
  surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), info.surface.outputs()));
  info.surface.evaluate(now_.work.in.data(), surface_memory_.data(), now_.work.registers.data());
  const auto unbalanced = [&](int o) {
    double sum = 0;
    for (int i = 0; i < now_.layout.coordinates; ++i) {
      sum += std::abs(surface_memory_[2 + now_.layout.coordinates + i]) * now_.series.rounding(o - 1, i) / o;
      if (o > 1) sum += std::abs(surface_memory_[2 + i]) * now_.series.rounding(o - 2, i) / (o * (o - 1));
    }
    return sum;
  };
  if (here_.exit_side[k] != 0 && info.rate.outputs() == 0) {
    // What the landing has left of the rate is no more than rounding either.
    const Departure leaves =
        leaving_past_rounding(s, std::max({rounding, rounding_.force_rounding(k), std::abs(s.c[1])}));
    if (leaves.sign != 0) return leaves;
  }
  for (int o = from; o <= now_.series.order(); ++o, power *= now_.series.time_scale()) {
    if (std::abs(s.c[o] * power) > least && std::abs(s.c[o]) > unbalanced(o)) return {s.c[o] > 0 ? 1 : -1, o};
  }
  now_.note_unknown(s);
  if (now_.series.order() < 2) return leaving_by_acceleration(k);
  // The time in which the series changes may be nothing but rounding, where a push comes back to zero and turns: the derivatives tell
  // after the time of a phase.
  constexpr double kNoTime = 1e-9;  ///< of the time that phases last
  const double phase = std::max(now_.t - now_.entry.time, now_.last_flight);
  const bool place = info.rate.outputs() > 0 && info.sees_states.empty();
  if (!place && along < 0 && now_.series.time_scale() < kNoTime * phase)
    return leaving_past_rounding(s, std::max({rounding, rounding_.force_rounding(k), std::abs(s.c[1])}));
  return {0, 0};
}

// Where a slide ends because its push passes zero to a high order, rounding puts the instant somewhere into the time in which the push is less than that: its
// derivatives there may have either sign (those of (t - 2)^3 shortly before t = 2). What leaves is the rate that comes out of the rounding first.
Departure Leaving::leaving_past_rounding(const expr::Series& surface, double rounding) const {
  constexpr int kHalvings = 60;  ///< of the time that phases last
  constexpr double kClear = 8;   ///< roundings
  const double longest = std::max({now_.series.time_scale(), now_.t - now_.entry.time, now_.last_flight});
  for (int halving = kHalvings; halving >= 0; --halving) {
    const double time = elementary::whole_pow(0.5, halving) * longest;
    double rate = 0;
    double largest = 0;
    double power = 1;
    int order = 0;
    for (int o = 1; o <= now_.series.order(); ++o, power *= time) {
      const double term = o * surface.c[o] * power;
      rate += term;
      if (std::abs(term) > largest) order = o;
      largest = std::max(largest, std::abs(term));
    }
    if (std::abs(rate) > kClear * rounding) return {rate > 0 ? 1 : -1, order};
  }
  return {0, 0};
}

// The sign of a rate that sees the forces, and is more than rounding, however small beside its terms.
Departure Leaving::small_push(int k, const Mode& trial) {
  if (now_.system.switches()[k].rate.outputs() > 0) return {0, 0};
  now_.load();
  if (!now_.motion.set_mode(trial) || !now_.motion.evaluate()) return {0, 0};
  const double rate = now_.motion.surface_rate(k);
  if (!(std::abs(rate) > std::max(rounding_.surface_rate_rounding(k), rounding_.force_rounding(k))))
    return {0, 0};
  return {rate > 0 ? 1 : -1, 1};
}

// The same by the values that the surface has a little later.
Departure Leaving::leaving_ahead(int k, const Mode& trial) {
  const model::SwitchInfo& info = now_.system.switches()[k];
  const double level = info.two_sided() ? 0 : info.level_above(here_.lower[k]);
  const int sign =
      watching_.direction_ahead(trial, info.value, level, kRoundingUnits * rounding_.surface_rounding(k));
  return {sign, 1};
}

// The same where higher derivatives do not exist, as those of sqrt(abs(x)) at zero: s̈ of a surface that does not see velocities.
Departure Leaving::leaving_by_acceleration(int k) {
  constexpr double kSure = 1e-9;  ///< share of its terms beyond which the sign is known
  const model::SwitchInfo& info = now_.system.switches()[k];
  if (info.rate.outputs() == 0) return {0, 0};
  surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), info.rate.outputs()));
  info.rate.evaluate(now_.work.in.data(), surface_memory_.data(), now_.work.registers.data());
  double sum = surface_memory_[1];
  double terms = std::abs(sum);
  const auto add = [&](double slope, double by, double size) {
    if (slope == 0) return;
    sum += slope * by;
    terms += std::abs(slope) * size;
  };
  const int n = now_.layout.coordinates;
  for (int i = 0; i < n; ++i) {
    const double v = now_.work.in[now_.layout.v() + i];
    add(surface_memory_[2 + i], v, std::abs(v));
    add(surface_memory_[2 + n + i], now_.motion.acceleration()[i], now_.motion.acceleration_terms()[i]);
  }
  for (int i = 0; i < now_.layout.states; ++i)
    add(surface_memory_[2 + 2 * n + i], now_.work.rate[i], std::abs(now_.work.rate[i]));
  return std::abs(sum) > kSure * terms ? Departure{sum > 0 ? 1 : -1, 2} : Departure{0, 0};
}

// Whether the motion that is set stands still, beside the rates with which the sides push to the surfaces.
bool Leaving::nothing_moves() {
  double most = 0;
  for (const int k : here_.open) {
    if (!now_.motion.mode().slides(k) || now_.motion.parallel(k)) continue;
    most =
        std::max({most, std::abs(now_.motion.sliding_rate(k, 0)), std::abs(now_.motion.sliding_rate(k, 1))});
  }
  std::vector<double>& rates = landing_y_;
  if (!now_.motion(now_.t, now_.y.data(), rates.data())) return false;
  for (int i = 0; i < now_.layout.integrated(); ++i) {
    if (std::abs(rates[i]) > kSmallRate * most) return false;
  }
  return true;
}

// Whether this instant has changed the side of a switch other than k that neither slides now nor did so before.
bool Leaving::others_changed(int k) const {
  for (int j = 0; j < now_.layout.switches; ++j) {
    if (j != k && here_.acts_on_block(now_.system, j) && !now_.mode.slides(j) && !here_.reference.slides(j) &&
        now_.mode.side[j] != here_.reference.side[j])
      return true;
  }
  return false;
}

}  // namespace judder::engines
