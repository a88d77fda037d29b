// Guards that start at zero because of the event just handled, with the order of that zero.
#include <algorithm>
#include <cmath>
#include <limits>

#include "event_run.hpp"

namespace judder::engines {
namespace {

constexpr double kAhead =
    1e-3;  ///< share of the time of a phase in which a load that leaves zero has left it

constexpr double kEpsilon = 2.220446049250313e-16;
constexpr double kSmall =
    1e-9;  ///< relative size below which a guard at the start of a phase counts as a zero of some order

}  // namespace

// Guards that start at zero because of the event just handled, with the order of that zero. Derivatives beyond the accelerations are those of
// the Taylor series, unless a cheaper way sees the next one clearly.
void EventEngine::Run::set_guard_zeros() {
  bool have_series = false;
  // The first coefficient from `from` on that is more than rounding; `scale` is the size of that of order `from`.
  const auto order_of = [&](const Guard& guard, const auto& series_of, int from, double scale) {
    if (!have_series) {
      if (next_derivative_clear(guard, from)) return from + 1;
      have_series = series_.compute(mode_, expr::kTaylorOrder);
    }
    if (!have_series) return from;
    const expr::Series s = series_of();
    double power = 1;
    for (int k = from; k <= series_.order(); ++k, power *= series_.time_scale()) {
      if (std::abs(s.c[k]) * power > kSmall * scale) return k;
    }
    return from;
  };
  negative_joint_ = -1;
  for (Guard& guard : guards_.list()) {
    guard.zeros = 0;
    const int place = guard.place;
    switch (guard.kind) {
      case GuardKind::gap: {
        if (fresh_relation_[place] == 0) break;
        const model::RelationRows& rows = system_.rows(work_, place);
        const double gap = rows.gap;
        const double rate = rows.gap_rate;
        double terms = 0;
        double speed = std::abs(rows.gap_time);
        double acceleration = std::abs(rows.zeta_n);
        double normal_acceleration = rows.zeta_n;
        for (const int i : system_.relations()[place].touches) {
          terms += std::abs(rows.w[i] * work_.in[layout_.q() + i]);
          speed += std::abs(rows.w[i] * work_.in[layout_.v() + i]);
          acceleration += std::abs(rows.w[i]) * motion_.acceleration_terms()[i];
          normal_acceleration += rows.w[i] * motion_.acceleration()[i];
        }
        acceleration += faded(rows.w);
        if (std::abs(gap) > 64 * kEpsilon * terms)
          break;  // at the start of a run all are fresh, also those far away
        if (rate > kSmall * speed) {
          guard.zeros = 1;
        } else if (normal_acceleration > kSmall * acceleration) {
          guard.zeros = 2;
        } else {
          guard.zeros = order_of(
              guard, [&] { return series_.gap(place); }, 2, acceleration);
        }
        break;
      }
      case GuardKind::slip: {
        const int number = system_.relations()[place].first_tangent + guard.tangent;
        if (fresh_tangent_[number] == 0) break;
        const model::RelationRows::Tangent& row = work_.relation[place].tangent[guard.tangent];
        double slip = row.drive;
        double speed = std::abs(row.drive);
        double rate = row.zeta;
        double terms = std::abs(row.zeta);
        for (const int i : system_.relations()[place].touches) {
          slip += row.w[i] * work_.in[layout_.v() + i];
          speed += std::abs(row.w[i] * work_.in[layout_.v() + i]);
          rate += row.w[i] * motion_.acceleration()[i];
          terms += std::abs(row.w[i]) * motion_.acceleration_terms()[i];
        }
        terms += faded(row.w);
        if (decider_.on_massless(place) && guard.sign * slip <= 1e-13 * guard.scale) {
          guard.zeros = 1;  // without inertia there is no acceleration that could tell
          break;
        }
        if (std::abs(slip) > std::max(64 * kEpsilon * speed, 1e-13 * guard.scale)) break;
        guard.zeros = std::abs(rate) > kSmall * terms
                          ? 1
                          : order_of(
                                guard, [&] { return series_.slip(place, guard.tangent); }, 1, terms);
        guard.noise_rate = 8 * kEpsilon * terms;
        // A drive that begins with a small difference, as the speed 1 − cos t of a belt, has signs that are rounding: they count once it has grown.
        if (!system_.relations()[place].rows_constant) guard.noise = slip_rounding(place, guard.tangent);
        if (guard.noise > 0)
          guard.noise_rate = std::max(guard.noise_rate, std::numeric_limits<double>::min());  // to be armed
        break;
      }
      case GuardKind::reaction:
      case GuardKind::pressed: {
        if (fresh_relation_[place] == 0) break;
        if (std::abs(motion_.normal()[place]) > kSmall * guard.scale && guard.scale > 0) break;
        if (motion_.normal()[place] * guard.sign > 0 && guard.scale == 0) break;
        guard.zeros = order_of(
            guard, [&] { return series_.normal(place); }, 0,
            guard.scale > 0 ? guard.scale : reaction_scale(place));
        break;
      }
      case GuardKind::cone_plus:
      case GuardKind::cone_minus: {
        const int number = system_.relations()[place].first_tangent + guard.tangent;
        if (fresh_tangent_[number] == 0) break;
        const double value = guards_.value(guard);
        const double scale = std::max(guard.scale, std::abs(motion_.tangent()[number]));
        if (std::abs(value) > kSmall * scale && scale > 0) break;
        if (value > 0 && scale == 0) break;
        if (decider_.on_massless(place)) {
          if (!have_series) have_series = series_.compute(mode_, expr::kTaylorOrder);
          if (!have_series || !series_.follows_nodes()) {
            guard.zeros = 1;
            break;
          }
        }
        if (guards_.rest.directed(number)) {  // the series has one side for both
          guard.zeros = -1;
          break;
        }
        const auto load = [&] {
          return series_.cone(place, guard.tangent, guard.kind == GuardKind::cone_plus ? 1 : -1);
        };
        guard.zeros = order_of(guard, load, 0, scale > 0 ? scale : reaction_scale(place));
        // Nothing takes the load away from its limit but the error of the steps.
        if (guard.zeros == 0 && have_series && scale > 0) {
          guard.stays = true;
          guard.flat = std::max(guard.flat, options_.tolerance * scale);
        }
        break;
      }
      case GuardKind::margin: {
        if (guard.tangent < 0) break;
        const double value = guards_.value(guard);
        double scale = guard.scale;
        for (const ReactionConditions::Part& part : guards_.condition(guard))
          scale = std::max(scale, part.weight * motion_.natural_force(part.relation, part.tangent));
        if (!(scale > 0) || std::abs(value) > kSmall * scale) break;
        const bool directed = std::any_of(
            guards_.condition(guard).begin(), guards_.condition(guard).end(), [this](const auto& part) {
              return part.tangent >= 0 &&
                     guards_.rest.directed(system_.relations()[part.relation].first_tangent + part.tangent);
            });
        if (directed) {  // the series has one side for both directions
          guard.zeros = -1;
          break;
        }
        guard.zeros = order_of(
            guard, [&] { return series_.condition(guards_.condition(guard)); }, 0, scale);
        break;
      }
      case GuardKind::joint_normal: {
        const double value = guards_.value(guard);
        // A load that has been nothing so far has no scale but the rounding of its own terms.
        const double small =
            std::max(kSmall * guard.scale, kRoundingUnits * rounding_of(system_.relations()[place].law));
        if (value > small) break;
        if (value < -small) {
          negative_joint_ = place;
          break;
        }
        if (!have_series) have_series = series_.compute(mode_, expr::kTaylorOrder);
        if (!have_series) break;
        const expr::Series load = series_.limit(place);
        // What it does within the time that phases last.
        const double time = std::max(t_ - phase_start_, last_flight_);
        double power = 1;
        for (int k = 1; k < series_.order() && guard.zeros == 0; ++k) {
          power *= time > 0 ? time : series_.time_scale();
          if (!(std::abs(load.c[k]) * power > small)) continue;
          guard.zeros = k;
          if (load.c[k] < 0 && negative_ahead(guard, kAhead * (time > 0 ? time : series_.time_scale())))
            negative_joint_ = place;
        }
        break;
      }
      case GuardKind::side:
      case GuardKind::level_below:
      case GuardKind::level_above: {
        // Also a surface on which the state rested until now, with the side that it is left to.
        const double value = guards_.value(guard);
        if (value != 0 && (fresh_switch_[place] == 0 || t_ <= options_.from)) break;
        // In a branch that is taken for the first time it has no scale yet.
        if (std::abs(value) >
            (guard.scale > 0 ? 1e-12 * guard.scale : kRoundingUnits * surface_rounding(place)))
          break;
        const double rate = motion_.surface_rate(place);
        const double terms = faded_rate_scale(place);
        const double inwards = guard.kind == GuardKind::level_below   ? rate
                               : guard.kind == GuardKind::level_above ? -rate
                                                                      : guard.sign * rate;
        // It stands on this side by its value, as an impact has left it, and goes to the other: that zero is ahead.
        if (value > 0 && inwards < -kSmall * terms) break;
        guard.zeros = std::abs(rate) > kSmall * terms
                          ? 1
                          : order_of(
                                guard, [&] { return series_.surface(place); }, 1, terms);
        break;
      }
      case GuardKind::corner:
        if (fresh_switch_[place] != 0 &&
            std::abs(guards_.value(guard)) <=
                std::max(1e-12 * guard.scale, kRoundingUnits * surface_rounding(place)))
          guard.zeros = -1;  // of some order: its samples tell
        break;
      case GuardKind::slide_above:
      case GuardKind::slide_below:
        guard.zeros = push_zeros_[2 * place + (guard.kind == GuardKind::slide_above ? 1 : 0)];
        break;
      default:
        break;
    }
  }
  set_watch_zeros();
  guards_.note_scales();
}

// Whether a load that the series takes below zero is negative a little later. A load that fades, as bump(t) does, has terms of either sign at its end
// and stays positive.
bool EventEngine::Run::negative_ahead(const Guard& guard, double time) {
  series_.state(time, node_y_.data());
  motion_.load(t_ + time, node_y_.data());
  const bool negative = motion_.evaluate() && guards_.value(guard) < 0;
  motion_.load(t_, y_.data());
  static_cast<void>(motion_.evaluate());
  return negative;
}

double EventEngine::Run::reaction_scale(int relation) {
  const model::RelationRows& rows = work_.relation[relation];
  double sum = std::abs(rows.zeta_n);
  if (rows.w.empty()) return 1;
  double inverse = 0;
  rows.w.write(node_y_.data(), layout_.coordinates);
  system_.solve_mass(work_, node_y_.data());
  for (const int i : system_.relations()[relation].touches) {
    inverse += rows.w[i] * node_y_[i];
    sum += std::abs(rows.w[i] * f0_[layout_.coordinates + i]);
  }
  return inverse > 0 ? sum / inverse : 1;
}

}  // namespace judder::engines
