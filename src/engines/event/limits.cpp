#include "engines/event/limits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/elementary.hpp"
#include "engines/event/roundings.hpp"

namespace judder::engines {
Limits::Limits(Phase& now, InstantState& here, Roundings& rounding)
    : now_(now), here_(here), rounding_(rounding) {
  node_y_.resize(now_.motion.all_components());
}

// Whether a limit of friction, or the end of a reaction, is reached with a horizontal tangent and left again, as far as the series of the motion tells.
bool Limits::only_touches(const Guard& guard) {
  constexpr double kFlat = 1e-6;  ///< share of its scale that it would change by in the time of a phase
  const double time = std::max(now_.t - now_.phase_start, now_.last_flight);
  const Mode& mode = now_.motion.mode();
  if (!(time > 0) || !here_.changed.empty()) return false;
  if (now_.decider.on_massless(guard.place)) return false;  // the series knows no balance of forces
  if (guard.kind == GuardKind::margin && guard.tangent < 0) return margin_touches(guard, time);
  if (guard.kind == GuardKind::cone_plus || guard.kind == GuardKind::cone_minus) {
    const int number = now_.system.relations()[guard.place].first_tangent + guard.tangent;
    if (now_.guards.rest.directed(number)) {
      Mode& turned = turned_;
      turned = mode;
      now_.guards.rest.take_direction(number, guard.kind == GuardKind::cone_plus ? -1 : 1);
      std::copy_n(now_.work.in.begin() + now_.layout.side(), now_.layout.switches, turned.side.begin());
      now_.guards.rest.take_back();
      if (!now_.series.compute(turned, 3)) return false;
    } else if (!now_.series.compute(mode, 3)) {
      return false;
    }
  } else if (!now_.series.compute(mode, 3)) {
    return false;
  }
  const expr::Series margin =
      guard.kind == GuardKind::reaction ? now_.series.normal(guard.place)
      : guard.kind == GuardKind::margin
          ? now_.series.condition(now_.guards.condition(guard))
          : now_.series.cone(guard.place, guard.tangent, guard.kind == GuardKind::cone_plus ? 1 : -1);
  if (margin.c[1] * time < -kFlat * guard.scale) return false;
  return margin.c[2] * time * time > kFlat * guard.scale || stays_at_limit(guard, time);
}

// Whether no derivative takes a load away from the limit of its friction, or those that do take it back inside: what touches with a high order
// is zero to rounding long before, and its low derivatives there say little.
bool Limits::stays_at_limit(const Guard& guard, double time) {
  constexpr double kFlat = 1e-9;  ///< share of its scale that it would change by in the time of a phase
  constexpr int kHalvings = 40;
  if (guard.kind != GuardKind::cone_plus && guard.kind != GuardKind::cone_minus) return false;
  if (!now_.series.compute(now_.motion.mode(), expr::kTaylorOrder)) return false;
  const expr::Series margin =
      now_.series.cone(guard.place, guard.tangent, guard.kind == GuardKind::cone_plus ? 1 : -1);
  const int last = now_.series.order() - 1;
  double power = 1;
  bool stays = true;
  for (int k = 1; k <= last; ++k) {
    power *= time;
    stays = stays && std::abs(margin.c[k]) * power <= kFlat * guard.scale;
  }
  if (stays) return true;
  // The first value that is more than a dip without consequence tells, as long as the series does.
  double later = std::ldexp(time, -kHalvings);
  for (int j = 0; j < kHalvings; ++j, later *= 2) {
    double value = margin.c[last];
    for (int k = last - 1; k >= 1; --k) value = margin.c[k] + later * value;
    value *= later;
    if (!(std::abs(value) > now_.options.tolerance * guard.scale)) continue;
    return value > 2 * std::abs(margin.c[last]) * elementary::whole_pow(later, last);
  }
  return false;
}

// The margin of reactions that are not unique has no series: it is asked for a little earlier and later.
bool Limits::margin_touches(const Guard& guard, double time) {
  constexpr double kShare = 1e-3;  ///< of the time of a phase
  constexpr double kFlat = 1e-6;   ///< as above
  if (!now_.series.compute(now_.motion.mode(), expr::kTaylorOrder)) return false;
  const auto margin_at = [&](double later) {
    now_.series.state(later, node_y_.data());
    now_.motion.load(now_.t + later, node_y_.data());
    if (!now_.motion.evaluate()) return std::numeric_limits<double>::quiet_NaN();
    now_.guards.sharing.share(now_.motion);
    return now_.guards.value(guard);
  };
  const double before = margin_at(-kShare * time);
  const double after = margin_at(kShare * time);
  now_.load();
  if (!now_.motion.evaluate()) return false;
  const double slope = (after - before) / (2 * kShare);
  const double curvature = (after + before) / (kShare * kShare);
  return slope >= -kFlat * guard.scale && curvature > kFlat * guard.scale;
}

// A slip that is zero and grows in the direction of its mode has only been touched: the dip was shallower than what the landing resolves.
bool Limits::slip_returns(const Guard& guard) {
  const model::RelationRows::Tangent& row = now_.work.relation[guard.place].tangent[guard.tangent];
  double rate = row.zeta;
  double terms = std::abs(row.zeta);
  for (const int i : now_.system.relations()[guard.place].touches) {
    rate += row.w[i] * now_.motion.acceleration()[i];
    terms += std::abs(row.w[i] * now_.motion.acceleration()[i]);
  }
  if (guard.sign * rate > 64 * std::numeric_limits<double>::epsilon() * terms) return true;
  // Reached with a horizontal tangent, and left again: a belt that stops for a moment.
  constexpr double kFlat = 1e-6;  ///< share of its scale that it would change by in the time of a phase
  const double time = std::max(now_.t - now_.phase_start, now_.last_flight);
  if (!(time > 0) || !here_.changed.empty() || guard.sign * rate * time < -kFlat * guard.scale) return false;
  if (!now_.series.compute(now_.motion.mode(), 3)) return false;
  const expr::Series slip = now_.series.slip(guard.place, guard.tangent);
  if (guard.sign * slip.c[1] * time < -kFlat * guard.scale ||
      !(guard.sign * slip.c[2] * time * time > kFlat * guard.scale))
    return false;
  // A rate that takes away what the phase began with is no horizontal tangent, however small both are beside what slips have been.
  constexpr double kFalls = 0.5;
  now_.motion.load_state(now_.entry.time, now_.entry.y.data());
  const double first = now_.system.rows(now_.work, guard.place).tangent[guard.tangent].slip;
  now_.load();
  static_cast<void>(now_.system.rows(now_.work, guard.place));
  return guard.sign * rate * (now_.t - now_.entry.time) > -kFalls * std::abs(first) || first == 0;
}

// The laws of a condition are at their limits together: their rows let go, or, where it is only touched, none of them does. Where a side
// changes at the same instant, what follows tells.
void Limits::exclude_condition(const Guard& guard, bool touched, bool switches) {
  const bool binding = touched || !switches;
  constexpr std::uint16_t kStick = contact::bit(contact::RowStatus::stick);
  for (const ReactionConditions::Part& part : now_.guards.condition(guard)) {
    const model::Relation& relation = now_.system.relations()[part.relation];
    if (part.tangent >= 0) {
      const int number = relation.first_tangent + part.tangent;
      if (binding) here_.exclusions.tangent[number] |= touched ? kSlips : kStick;
      here_.fresh_tangent[number] = 1;
      continue;
    }
    here_.fresh_relation[part.relation] = 1;
    if (now_.mode.normal[part.relation] == NormalStatus::held) {
      if (!touched && binding)
        here_.exclusions.normal[part.relation] |=
            contact::bit(part.side > 0 ? contact::RowStatus::held_plus : contact::RowStatus::held_minus);
      continue;
    }
    // At the tip of the cone a sticking contact may also go on slipping.
    bool sticks = false;
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (now_.mode.tangent[number] != TangentStatus::stick) continue;
      sticks = true;
      if (!touched && binding) here_.exclusions.tangent[number] |= kStick;
      here_.fresh_tangent[number] = 1;
    }
    if (touched)
      here_.exclusions.normal[part.relation] |= contact::bit(contact::RowStatus::open);
    else if (!sticks && binding)
      here_.exclusions.normal[part.relation] |= contact::bit(contact::RowStatus::closed);
  }
}

// Other conditions of the block may touch zero with it, though no zero of theirs was seen.
void Limits::exclude_touched(const Guard& guard) {
  constexpr double kNear = 1e-6;  ///< of its scale: at zero
  exclude_condition(guard, true, false);
  for (const Guard& other : now_.guards.list()) {
    if (other.kind != GuardKind::margin || other.tangent < 0 || other.tangent == guard.tangent ||
        other.place != guard.place || now_.guards.value(other) > kNear * other.scale)
      continue;
    if (only_touches(other)) exclude_condition(other, true, false);
  }
}

// Where the normal force of a joint only touches zero, so do the limits of its rows at rest, though no zero of theirs was seen.
void Limits::keep_touched_rest(int relation) {
  std::array<int, 3> touched{};  // limits, by row
  for (const Guard& guard : now_.guards.list()) {
    if (guard.place != relation ||
        (guard.kind != GuardKind::cone_plus && guard.kind != GuardKind::cone_minus))
      continue;
    if (!only_touches(guard) || ++touched[guard.tangent] < 2) continue;
    const int number = now_.system.relations()[relation].first_tangent + guard.tangent;
    here_.exclusions.tangent[number] |= kSlips;
    here_.fresh_tangent[number] = 1;
  }
}

// Rows whose share of the reactions is used up, at the margin of a redundant block. Where it is only touched they may not leave.
void Limits::exclude_exhausted_rows(const Guard& margin, bool touched, bool switches) {
  now_.guards.sharing.share(now_.motion);
  // Forces that vanish together leave no scale of their own: what they have been counts too.
  const double threshold = 1e-6 * std::max(now_.guards.sharing.force_scale(margin.place), margin.scale);
  for (int r = 0; r < now_.layout.relations; ++r) {
    if (now_.mode.normal[r] == NormalStatus::open || now_.guards.sharing.block(r) != margin.place) continue;
    const model::Relation& relation = now_.system.relations()[r];
    const model::RelationRows& rows = now_.work.relation[r];
    double limit = rows.base;
    for (std::size_t f = 0; f < relation.feeds.size(); ++f)
      limit += rows.factors[f] * std::abs(now_.motion.normal()[relation.feeds[f]]);
    bool sticks = false;
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (now_.mode.tangent[number] != TangentStatus::stick) continue;
      sticks = true;
      const double force = now_.motion.tangent()[number];
      // Friction that pushes forward ends with a slip backwards, and its law may know the direction.
      const bool directed = now_.guards.rest.directed(number);
      if (directed) {
        now_.guards.rest.take_direction(number, force > 0 ? -1 : 1);
        static_cast<void>(now_.system.rows(now_.work, r));
      }
      const double most = rows.tangent[j].mu_static * limit;
      if (directed) {
        now_.guards.rest.take_back();
        static_cast<void>(now_.system.rows(now_.work, r));
      }
      if (most - std::abs(force) > threshold) continue;
      if (touched || !switches)
        here_.exclusions.tangent[number] |= touched ? kSlips : contact::bit(contact::RowStatus::stick);
      here_.fresh_tangent[number] = 1;
    }
    if (now_.mode.normal[r] == NormalStatus::closed && (!sticks || touched) &&
        now_.motion.normal()[r] <= threshold) {
      if (touched || !switches)
        here_.exclusions.normal[r] |=
            contact::bit(touched ? contact::RowStatus::open : contact::RowStatus::closed);
      here_.fresh_relation[r] = 1;
    }
  }
}

// What may be left of a slip at an instant at which another has ended that closed contacts and constraints tie to it: they are held as exactly as the projection onto
// them has moved the velocities, in the measure of the energy.
double Limits::tied_to_rows(const Guard& guard) const {
  constexpr double kTimes = 4;
  const std::vector<int>& own = now_.system.relations()[guard.place].touches;
  const model::RelationRows::Tangent& row = now_.work.relation[guard.place].tangent[guard.tangent];
  double mobility = 0;
  for (const int i : own) {
    if (now_.projected[i] > 0) mobility += row.w[i] / now_.work.inertia[i] * row.w[i];
  }
  if (!(mobility > 0)) return 0;
  double moved = 0;
  for (int r = 0; r < now_.layout.relations; ++r) {
    const model::Relation& relation = now_.system.relations()[r];
    if (!relation.has_normal || now_.mode.normal[r] == NormalStatus::open) continue;
    if (std::none_of(relation.touches.begin(), relation.touches.end(),
                     [&](int i) { return std::find(own.begin(), own.end(), i) != own.end(); }))
      continue;
    for (const int i : relation.touches) {
      const double by = now_.projected[i];
      moved = std::max(moved, std::sqrt(now_.work.inertia[i] * mobility) * by);
    }
  }
  return kTimes * moved;
}

// A slip that is nothing but rounding, since it began with no acceleration or because this is the instant at which it ends: what it has been says
// nothing, and the row is decided as one at rest.
void Limits::rest_unmoved_slips() {
  constexpr double kBits = 64 * std::numeric_limits<double>::epsilon();
  const double elapsed = now_.t - now_.entry.time;
  if (!(elapsed > 0)) return;
  now_.load();
  for (const Guard& guard : now_.guards.list()) {
    if (guard.kind != GuardKind::slip || now_.decider.on_massless(guard.place)) continue;
    const int number = now_.system.relations()[guard.place].first_tangent + guard.tangent;
    if (now_.mode.tangent[number] != here_.reference.tangent[number] || here_.slip_returned[number] != 0)
      continue;
    const model::RelationRows::Tangent& row = now_.system.rows(now_.work, guard.place).tangent[guard.tangent];
    double size = std::abs(row.drive);
    double terms = std::abs(row.zeta);
    for (const int i : now_.system.relations()[guard.place].touches) {
      size +=
          std::abs(row.w[i]) * std::max(std::abs(now_.work.in[now_.layout.v() + i]), here_.speed_before[i]);
      terms += std::abs(row.w[i]) * now_.motion.acceleration_terms()[i];
    }
    const double rounding = kBits * size + 0.125 * kBits * terms * elapsed;
    const double slip = std::abs(now_.guards.value(guard));
    if (slip > rounding && slip > rounding + tied_to_rows(guard)) continue;
    now_.mode.tangent[number] = TangentStatus::stick;
    here_.fresh_tangent[number] = 1;
  }
}

// Slips that are zero to rounding where time switches: what follows tells whether they go on.
void Limits::stop_slips() {
  constexpr double kStopped = 1e-13;  ///< share of what a slip has been
  for (int r = 0; r < now_.layout.relations; ++r) {
    const model::Relation& relation = now_.system.relations()[r];
    if (now_.mode.normal[r] == NormalStatus::open || relation.smooth_friction) continue;
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (direction(now_.mode.tangent[number]) == 0) continue;
      const double slip = now_.system.rows(now_.work, r).tangent[j].slip;
      if (std::abs(slip) > std::max(kStopped * now_.guards.slip_scale(number), rounding_.slip_rounding(r, j)))
        continue;
      now_.mode.tangent[number] = TangentStatus::stick;
      here_.fresh_tangent[number] = 1;
    }
  }
}

}  // namespace judder::engines
