#include "engines/event/guard_zeros.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engines/event/roundings.hpp"
#include "engines/event/watching.hpp"

namespace judder::engines {
namespace {

constexpr double kAhead =
    1e-3;  ///< share of the time of a phase in which a load that leaves zero has left it
constexpr double kEpsilon = 2.220446049250313e-16;
constexpr double kSmall =
    1e-9;  ///< relative size below which a guard at the start of a phase counts as a zero of some order

}  // namespace

GuardZeros::GuardZeros(Phase& now, InstantState& here, Roundings& rounding, Watching& watching)
    : now_(now), here_(here), rounding_(rounding), watching_(watching) {
  node_y_.resize(now_.motion.all_components());
}

// Guards that start at zero because of the event just handled, with the order of that zero. Derivatives beyond the accelerations are those of
// the Taylor series, unless a cheaper way sees the next one clearly.
void GuardZeros::set_guard_zeros() {
  bool have_series = false;
  // The first coefficient from `from` on that is more than rounding; `scale` is the size of that of order `from`.
  const auto order_of = [&](const Guard& guard, const auto& series_of, int from, double scale) {
    if (!have_series) {
      if (now_.way->next_derivative_clear(guard, from)) return from + 1;
      have_series = now_.follow(now_.mode);
    }
    if (!have_series) return from;
    const expr::Series s = series_of();
    double power = 1;
    for (int k = from; k <= now_.series.order(); ++k, power *= now_.series.time_scale()) {
      if (std::abs(s.c[k]) * power > kSmall * scale) return k;
    }
    now_.note_unknown(s);
    return from;
  };
  negative_joint_ = -1;
  for (Guard& guard : now_.guards.list()) {
    guard.zeros = 0;
    const int place = guard.place;
    switch (guard.kind) {
      case GuardKind::gap: {
        if (here_.fresh_relation[place] == 0) break;
        const model::RelationRows& rows = now_.system.rows(now_.work, place);
        const double gap = rows.gap;
        const double rate = rows.gap_rate;
        double terms = 0;
        double speed = std::abs(rows.gap_time);
        double acceleration = std::abs(rows.zeta_n);
        double normal_acceleration = rows.zeta_n;
        for (const int i : now_.system.relations()[place].touches) {
          terms += std::abs(rows.w[i] * now_.work.in[now_.layout.q() + i]);
          speed += std::abs(rows.w[i] * now_.work.in[now_.layout.v() + i]);
          acceleration += std::abs(rows.w[i]) * now_.motion.acceleration_terms()[i];
          normal_acceleration += rows.w[i] * now_.motion.acceleration()[i];
        }
        acceleration += rounding_.faded(rows.w);
        if (std::abs(gap) > 64 * kEpsilon * terms)
          break;  // at the start of a run all are fresh, also those far away
        if (rate > kSmall * speed) {
          guard.zeros = 1;
        } else if (normal_acceleration > kSmall * acceleration) {
          guard.zeros = 2;
        } else {
          guard.zeros = order_of(
              guard, [&] { return now_.series.gap(place); }, 2, acceleration);
        }
        break;
      }
      case GuardKind::slip: {
        const int number = now_.system.relations()[place].first_tangent + guard.tangent;
        if (here_.fresh_tangent[number] == 0) break;
        const model::RelationRows::Tangent& row = now_.work.relation[place].tangent[guard.tangent];
        double slip = row.drive;
        double speed = std::abs(row.drive);
        double rate = row.zeta;
        double terms = std::abs(row.zeta);
        for (const int i : now_.system.relations()[place].touches) {
          slip += row.w[i] * now_.work.in[now_.layout.v() + i];
          speed += std::abs(row.w[i] * now_.work.in[now_.layout.v() + i]);
          rate += row.w[i] * now_.motion.acceleration()[i];
          terms += std::abs(row.w[i]) * now_.motion.acceleration_terms()[i];
        }
        terms += rounding_.faded(row.w);
        if (now_.decider.on_massless(place) && guard.sign * slip <= 1e-13 * guard.scale) {
          guard.zeros = 1;  // without inertia there is no acceleration that could tell
          break;
        }
        if (std::abs(slip) > std::max(64 * kEpsilon * speed, 1e-13 * guard.scale)) break;
        guard.zeros = std::abs(rate) > kSmall * terms
                          ? 1
                          : order_of(
                                guard, [&] { return now_.series.slip(place, guard.tangent); }, 1, terms);
        guard.noise_rate = 8 * kEpsilon * terms;
        // A drive that begins with a small difference, as the speed 1 − cos t of a belt, has signs that are rounding: they count once it has grown.
        if (!now_.system.relations()[place].rows_constant)
          guard.noise = rounding_.slip_rounding(place, guard.tangent);
        if (guard.noise > 0)
          guard.noise_rate = std::max(guard.noise_rate, std::numeric_limits<double>::min());  // to be armed
        break;
      }
      case GuardKind::reaction:
      case GuardKind::pressed: {
        if (here_.fresh_relation[place] == 0) break;
        if (std::abs(now_.motion.normal()[place]) > kSmall * guard.scale && guard.scale > 0) break;
        if (now_.motion.normal()[place] * guard.sign > 0 && guard.scale == 0) break;
        guard.zeros = order_of(
            guard, [&] { return now_.series.normal(place); }, 0,
            guard.scale > 0 ? guard.scale : reaction_scale(place));
        break;
      }
      case GuardKind::cone_plus:
      case GuardKind::cone_minus: {
        const int number = now_.system.relations()[place].first_tangent + guard.tangent;
        if (here_.fresh_tangent[number] == 0) break;
        const double value = now_.guards.value(guard);
        const double scale = std::max(guard.scale, std::abs(now_.motion.tangent()[number]));
        if (std::abs(value) > kSmall * scale && scale > 0) break;
        if (value > 0 && scale == 0) break;
        if (now_.decider.on_massless(place)) {
          if (!have_series) have_series = now_.follow(now_.mode);
          if (!have_series || !now_.series.follows_nodes()) {
            guard.zeros = 1;
            break;
          }
        }
        if (now_.guards.rest.directed(number)) {  // the series has one side for both
          guard.zeros = -1;
          break;
        }
        const auto load = [&] {
          return now_.series.cone(place, guard.tangent, guard.kind == GuardKind::cone_plus ? 1 : -1);
        };
        guard.zeros = order_of(guard, load, 0, scale > 0 ? scale : reaction_scale(place));
        // Nothing takes the load away from its limit but the error of the steps.
        if (guard.zeros == 0 && have_series && scale > 0) {
          guard.stays = true;
          guard.flat = std::max(guard.flat, now_.options.tolerance * scale);
        }
        break;
      }
      case GuardKind::margin: {
        if (guard.tangent < 0) break;
        const double value = now_.guards.value(guard);
        double scale = guard.scale;
        for (const ReactionConditions::Part& part : now_.guards.condition(guard))
          scale = std::max(scale, part.weight * now_.motion.natural_force(part.relation, part.tangent));
        if (!(scale > 0) || std::abs(value) > kSmall * scale) break;
        const bool directed =
            std::any_of(now_.guards.condition(guard).begin(), now_.guards.condition(guard).end(),
                        [this](const auto& part) {
                          return part.tangent >= 0 &&
                                 now_.guards.rest.directed(
                                     now_.system.relations()[part.relation].first_tangent + part.tangent);
                        });
        if (directed) {  // the series has one side for both directions
          guard.zeros = -1;
          break;
        }
        guard.zeros = order_of(
            guard, [&] { return now_.series.condition(now_.guards.condition(guard)); }, 0, scale);
        break;
      }
      case GuardKind::joint_normal: {
        const double value = now_.guards.value(guard);
        // A load that has been nothing so far has no scale but the rounding of its own terms.
        const double small = std::max(
            kSmall * guard.scale, kRoundingUnits * rounding_.rounding_of(now_.system.relations()[place].law));
        if (value > small) break;
        if (value < -small) {
          negative_joint_ = place;
          break;
        }
        if (!have_series) have_series = now_.follow(now_.mode);
        if (!have_series) break;
        const expr::Series load = now_.series.limit(place);
        // What it does within the time that phases last.
        const double time = std::max(now_.t - now_.phase_start, now_.last_flight);
        double power = 1;
        for (int k = 1; k < now_.series.order() && guard.zeros == 0; ++k) {
          power *= time > 0 ? time : now_.series.time_scale();
          if (!(std::abs(load.c[k]) * power > small)) continue;
          guard.zeros = k;
          if (load.c[k] < 0 && negative_ahead(guard, kAhead * (time > 0 ? time : now_.series.time_scale())))
            negative_joint_ = place;
        }
        break;
      }
      case GuardKind::side:
      case GuardKind::level_below:
      case GuardKind::level_above: {
        // Also a surface on which the state rested until now, with the side that it is left to.
        const double value = now_.guards.value(guard);
        if (value != 0 && (here_.fresh_switch[place] == 0 || now_.t <= now_.options.from)) break;
        // In a branch that is taken for the first time it has no scale yet.
        if (std::abs(value) >
            (guard.scale > 0 ? 1e-12 * guard.scale : kRoundingUnits * rounding_.surface_rounding(place)))
          break;
        const double rate = now_.motion.surface_rate(place);
        const double terms = rounding_.faded_rate_scale(place);
        const double inwards = guard.kind == GuardKind::level_below   ? rate
                               : guard.kind == GuardKind::level_above ? -rate
                                                                      : guard.sign * rate;
        // It stands on this side by its value, as an impact has left it, and goes to the other: that zero is ahead.
        if (value > 0 && inwards < -kSmall * terms) break;
        guard.zeros = std::abs(rate) > kSmall * terms
                          ? 1
                          : order_of(
                                guard, [&] { return now_.series.surface(place); }, 1, terms);
        break;
      }
      case GuardKind::corner:
        if (here_.fresh_switch[place] != 0 &&
            std::abs(now_.guards.value(guard)) <=
                std::max(1e-12 * guard.scale, kRoundingUnits * rounding_.surface_rounding(place)))
          guard.zeros = -1;  // of some order: its samples tell
        break;
      case GuardKind::slide_above:
      case GuardKind::slide_below:
        guard.zeros = here_.push_zeros[2 * place + (guard.kind == GuardKind::slide_above ? 1 : 0)];
        break;
      default:
        break;
    }
  }
  watching_.set_watch_zeros();
  now_.guards.note_scales();
}

// Whether a load that the series takes below zero is negative a little later. A load that fades, as bump(t) does, has terms of either sign at its end
// and stays positive.
bool GuardZeros::negative_ahead(const Guard& guard, double time) {
  now_.series.state(time, node_y_.data());
  now_.motion.load(now_.t + time, node_y_.data());
  const bool negative = now_.motion.evaluate() && now_.guards.value(guard) < 0;
  now_.load();
  static_cast<void>(now_.motion.evaluate());
  return negative;
}

double GuardZeros::reaction_scale(int relation) {
  const model::RelationRows& rows = now_.work.relation[relation];
  double sum = std::abs(rows.zeta_n);
  if (rows.w.empty()) return 1;
  double inverse = 0;
  rows.w.write(node_y_.data(), now_.layout.coordinates);
  now_.system.solve_mass(now_.work, node_y_.data());
  for (const int i : now_.system.relations()[relation].touches) {
    inverse += rows.w[i] * node_y_[i];
    sum += std::abs(rows.w[i] * now_.f0[now_.layout.coordinates + i]);
  }
  return inverse > 0 ? sum / inverse : 1;
}

}  // namespace judder::engines
