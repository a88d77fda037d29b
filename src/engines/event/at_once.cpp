#include "engines/event/at_once.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/elementary.hpp"
#include "engines/event/roundings.hpp"
#include "engines/event/scan.hpp"
#include "engines/event/sides.hpp"
#include "engines/event/trial.hpp"

namespace judder::engines {
namespace {

constexpr double kEpsilon = 2.220446049250313e-16;
constexpr double kOfShares = 1e-9;  ///< of the largest margin so far

}  // namespace

AtOnce::AtOnce(Phase& now, StepFindings& found, Roundings& rounding, Trial& trial, Sides& sides, Scan& scan)
    : now_(now), found_(found), rounding_(rounding), trial_(trial), sides_(sides), scan_(scan) {
  node_y_.resize(now_.motion.all_components());
}

// Slips and surfaces that are zero here, to rounding of the state and of the time, and on their way to the other side.
bool AtOnce::meets_at_once() {
  // A run that is not cut does not look: what it remembers stays what it was.
  const std::vector<double> terms(now_.motion.acceleration_terms().begin(),
                                  now_.motion.acceleration_terms().end());
  const std::vector<double> side = now_.motion.mode().side;
  find_at_once();
  now_.motion.recall(terms, side);
  return !found_.together.empty();
}

void AtOnce::find_at_once() {
  constexpr double kBits = 64 * kEpsilon;
  found_.together.clear();
  if (!(now_.t > now_.phase_start)) return;  // the mode has just been decided
  now_.load();
  if (!now_.motion.evaluate()) return;
  const std::vector<Guard>& list = now_.guards.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Guard& guard = list[i];
    double rate = 0;
    double terms = 0;
    double rounding = 0;
    if (guard.kind == GuardKind::slip) {
      const model::RelationRows::Tangent& row =
          now_.system.rows(now_.work, guard.place).tangent[guard.tangent];
      rate = row.zeta;
      terms = std::abs(row.zeta);
      for (const int k : now_.system.relations()[guard.place].touches) {
        rate += row.w[k] * now_.motion.acceleration()[k];
        terms += std::abs(row.w[k] * now_.motion.acceleration()[k]);
      }
      rate *= guard.sign;
      rounding = std::max(guard.noise, rounding_.slip_rounding(guard.place, guard.tangent));
      sides_.load_statuses();
    } else if (guard.kind == GuardKind::side || guard.kind == GuardKind::level_below ||
               guard.kind == GuardKind::level_above) {
      rate = (guard.kind == GuardKind::level_above ? -1 : guard.sign) * now_.motion.surface_rate(guard.place);
      terms = rounding_.surface_rate_scale(guard.place);
      rounding = kRoundingUnits * rounding_.surface_rounding(guard.place);
    } else {
      continue;
    }
    if (!(rate < -kSmallRate * terms)) continue;
    const double value = now_.guards.value(guard);
    if (value <= rounding - rate * kBits * std::abs(now_.t)) found_.together.push_back(static_cast<int>(i));
  }
}

// Reactions and limits that begin a phase at zero and are negative from there on, and kinks that are held and left at once, where no Taylor
// series could tell (a force like √t or t^2.5 has none): their zero is the start itself, and the instant is decided again without them. In
// together_.
bool AtOnce::gives_way_at_once(double h) {
  constexpr int kPlaces = 12;
  constexpr int kClear = 3;      // of the places, the last ones: more than rounding
  constexpr int kClearHeld = 2;  // near its beginning the polynomial of a step like t^2.5 has no sign
  found_.together.clear();
  const std::vector<Guard>& list = now_.guards.list();
  const auto of_shares = [](const Guard& guard) {
    return guard.kind == GuardKind::margin && guard.tangent < 0;
  };
  const auto of_a_force = [&](const Guard& guard) {
    return guard.kind != GuardKind::pressed && (is_reaction(guard) || of_shares(guard));
  };
  // What friction leaves of its limit is as exact as the forces along its own row; joints and compliant contacts have no other.
  // What shared reactions leave of theirs is as exact as the decision about them.
  const auto rounding = [&](const Guard& guard) {
    return std::max({guard.noise, guard.flat, of_shares(guard) ? kOfShares * guard.scale : 0});
  };
  const auto value_of = [&](const Guard& guard) {
    if (of_shares(guard)) now_.guards.sharing.share(now_.motion);
    return now_.guards.value(guard);
  };
  const auto held = [this](const Guard& guard) {
    return (guard.kind == GuardKind::held_above || guard.kind == GuardKind::held_below) &&
           now_.system.switches()[guard.place].kind == expr::SwitchKind::kink;
  };
  if (std::none_of(list.begin(), list.end(), [&](const Guard& g) { return of_a_force(g) || held(g); }))
    return false;
  now_.load();
  if (!now_.motion.evaluate()) return false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (held(list[i]) || (of_a_force(list[i]) && std::abs(value_of(list[i])) <= rounding(list[i])))
      found_.together.push_back(static_cast<int>(i));
  }
  double theta = elementary::whole_pow(0.25, kPlaces - 1);
  for (int place = 0; place < kPlaces && !found_.together.empty(); ++place, theta *= 4) {
    trial_.dense(theta, node_y_.data());
    now_.motion.load(now_.t + theta * h, node_y_.data());
    if (!now_.motion.evaluate()) {
      found_.together.clear();
      break;
    }
    std::erase_if(found_.together, [&](int i) {
      const Guard& guard = list[i];
      const double value = value_of(guard);
      const double small = rounding(guard);
      if (!held(guard)) return !(place >= kPlaces - kClear ? value < -small : value <= small);
      return place >= kPlaces - kClearHeld &&
             !(value < -std::max(scan_.unmoved(guard.place, h),
                                 kRoundingUnits * rounding_.surface_rounding(guard.place)));
    });
  }
  // The forces that balance may have faded at the start alone. The last place is the end of the step.
  std::erase_if(found_.together, [&](int i) {
    Guard& guard = now_.guards.list()[i];
    return guard.kind == GuardKind::reaction && now_.guards.renew_noise(guard, now_.scales.sizes()) &&
           std::abs(now_.guards.value(guard)) <= guard.noise;
  });
  if (!found_.together.empty()) now_.have_f0 = false;
  return !found_.together.empty();
}

// Where the equations end at a surface, as √h at h = 0, no step goes over it, and its zero is only approached. It is reached where it is within
// `rounding` of the time: in together_.
bool AtOnce::reaches_surface(double rounding) {
  found_.together.clear();
  now_.load();
  if (!now_.motion.evaluate()) return false;
  const std::vector<Guard>& list = now_.guards.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].kind != GuardKind::side) continue;
    const double value = now_.guards.value(list[i]);
    const double rate = list[i].sign * now_.motion.surface_rate(list[i].place);
    if (value >= 0 && value <= now_.options.tolerance * list[i].scale && rate * rounding <= -value)
      found_.together.push_back(static_cast<int>(i));
  }
  if (!found_.together.empty()) now_.have_f0 = false;
  return !found_.together.empty();
}

}  // namespace judder::engines
