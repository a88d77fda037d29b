// The path of equilibria in one mode: steps of arc length, each corrected by Newton's method across the tangent of its beginning.
//
// A step is as long as its middle, taken from Hermite's cubic through both ends, needs no correction beyond the tolerance. A contact, a reaction, a cone, a
// slip or a watch that changes sign is found by halving the time of the step with points of the path itself, to the last bit. Where dt/ds vanishes the
// path folds back in time: there time stops, and a jump begins.
#include <algorithm>
#include <cmath>

#include "quasi_static_run.hpp"

namespace judder::engines {
namespace {

constexpr double kGuardNoise = 1e-13;    ///< share of its size by which a guard may be below zero
constexpr double kLeastGap = 1e-4;       ///< of the reach
constexpr double kFold = 1e-7;           ///< dt/ds below this is a fold
constexpr double kFirstStep = 1.0 / 16;  ///< share of the way to the next known time
constexpr int kHalvings = 80;

/// Hermite's cubic at the share x of a step, from values and slopes (times the step) at its ends.
double hermite(double x, double a, double slope_a, double b, double slope_b) {
  const double y = 1 - x;
  return a * (1 + 2 * x) * y * y + slope_a * x * y * y + b * x * x * (3 - 2 * x) - slope_b * x * x * y;
}

}  // namespace

void QuasiStaticEngine::Run::between(const QuasiStaticPoint& a, const QuasiStaticPoint& b, double arc,
                                     double share, QuasiStaticPoint& out) const {
  const auto mix = [&](double from, double from_rate, double to, double to_rate) {
    return hermite(share, from, arc * from_rate, to, arc * to_rate);
  };
  out = a;
  out.t = mix(a.t, a.t_rate, b.t, b.t_rate);
  for (std::size_t i = 0; i < n_; ++i) out.q[i] = mix(a.q[i], a.q_rate[i], b.q[i], b.q_rate[i]);
  for (std::size_t r = 0; r < a.normal.size(); ++r)
    out.normal[r] = mix(a.normal[r], a.normal_rate[r], b.normal[r], b.normal_rate[r]);
  for (std::size_t j = 0; j < a.tangent.size(); ++j)
    out.tangent[j] = mix(a.tangent[j], a.tangent_rate[j], b.tangent[j], b.tangent_rate[j]);
}

/// The point of the path at a time within a step. False: Newton's method does not find it.
bool QuasiStaticEngine::Run::at_time(double t, const QuasiStaticPoint& from, const QuasiStaticPoint& to,
                                     QuasiStaticPoint& out) {
  double arc = std::abs(to.t - from.t), way = 0;
  for (std::size_t i = 0; i < n_; ++i) way += (to.q[i] - from.q[i]) * (to.q[i] - from.q[i]);
  arc += std::sqrt(way);
  double low = 0, high = 1;
  for (int k = 0; k < kHalvings && high - low > 1e-16; ++k) {
    const double share = 0.5 * (low + high);
    (hermite(share, from.t, arc * from.t_rate, to.t, arc * to.t_rate) < t ? low : high) = share;
  }
  between(from, to, arc, high, out);
  out.t = t;
  return statics_.correct(out, no_border_, 1) && statics_.tangent(out, no_border_, 1);
}

/// The smallest guard relative to its size, below zero where one is violated; those that are, where asked for. The point was corrected last.
double QuasiStaticEngine::Run::worst_guard(const QuasiStaticPoint& point, std::vector<Fired>* fired) {
  double worst = 1;
  const auto look = [&](double value, double size, Fired::What what, int place) {
    const double share = size > 0 ? value / size + kGuardNoise : (value < 0 ? -1 : 1);
    worst = std::min(worst, share);
    if (share < 0 && fired != nullptr) fired->push_back({what, place});
  };
  const double force = force_scale();
  double moved = 0;
  for (std::size_t i = 0; i < n_; ++i)
    moved = std::max({moved, largest_[i], std::abs(point.q[i] - start_[i])});
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = statics_.rows(r);
    if (mode_.normal[r] == NormalStatus::open) {
      double scale = 0;
      for (const double w : rows.w.values()) scale += std::abs(w);
      look(statics_.gap(r), std::max(scale * moved, std::abs(rows.gap_time * (point.t - options_.from))),
           Fired::What::gap, r);
      continue;
    }
    double size = std::max(force, std::abs(point.normal[r]));
    if (mode_.normal[r] == NormalStatus::closed) look(point.normal[r], size, Fired::What::reaction, r);
    for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j) {
      const int sigma = direction(mode_.tangent[j]);
      if (sigma == 0) {
        const double limit = statics_.limit(r, j, point.normal);
        size = std::max(size, limit);
        look(limit - std::abs(point.tangent[j]), size, Fired::What::cone, r);
      } else {
        const double slip = statics_.slip(r, j, point.q_rate, point.t_rate);
        look(sigma * slip, 1, Fired::What::slip, r);
      }
    }
  }
  for (std::size_t k = 0; k < watch_values_.size(); ++k) {
    if (watch_values_[k] == 0) continue;
    publish(point);
    double value = 0;
    system_.watches()[k].value.evaluate(work_.in.data(), &value, work_.registers.data());
    if (value * watch_values_[k] < 0) {
      worst = std::min(worst, -1.0);
      if (fired != nullptr) fired->push_back({Fired::What::watch, static_cast<int>(k)});
    }
  }
  return worst;
}

/// The first time in a step at which a guard is violated: next_ is the point there.
bool QuasiStaticEngine::Run::locate(const QuasiStaticPoint& from, const QuasiStaticPoint& to) {
  const QuasiStaticPoint begin = from, end = to;
  double low = begin.t, high = end.t;
  for (int k = 0; k < kHalvings; ++k) {
    const double middle = 0.5 * (low + high);
    if (!(middle > low && middle < high)) break;
    if (!at_time(middle, begin, end, scratch_)) return false;
    (worst_guard(scratch_, nullptr) < 0 ? high : low) = middle;
  }
  if (high < end.t || high == begin.t) {
    if (!at_time(high, begin, end, next_)) return false;
  } else {
    next_ = end;
    if (!statics_.correct(next_, no_border_, 1) || !statics_.tangent(next_, no_border_, 1)) return false;
  }
  fired_.clear();
  static_cast<void>(worst_guard(next_, &fired_));
  return !fired_.empty();
}

/// By how much reactions and gaps at the middle of a step miss their cubics, as a share of what is allowed: guards are functions of them.
double QuasiStaticEngine::Run::curve_error(const QuasiStaticPoint& from, const QuasiStaticPoint& middle,
                                           const QuasiStaticPoint& to, double arc) const {
  double worst = 0;
  const auto compare = [&](const std::vector<double>& a, const std::vector<double>& a_rate,
                           const std::vector<double>& b, const std::vector<double>& b_rate,
                           const std::vector<double>& half, double size) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double present = std::max({size, std::abs(a[i]), std::abs(b[i])});
      if (!(present > 0)) continue;
      const double miss = std::abs(hermite(0.5, a[i], arc * a_rate[i], b[i], arc * b_rate[i]) - half[i]);
      worst = std::max(worst, miss / (options_.tolerance * present));
    }
  };
  const double force = force_scale();
  compare(from.normal, from.normal_rate, to.normal, to.normal_rate, middle.normal, force);
  compare(from.tangent, from.tangent_rate, to.tangent, to.tangent_rate, middle.tangent, force);
  for (int r = 0; r < layout_.relations; ++r) {
    if (mode_.normal[r] != NormalStatus::open || from.gap.empty()) continue;
    double length = 0;
    for (const double w : statics_.rows(r).w.values()) length += std::abs(w);
    // A gap that has just begun is measured by a small share of what moves it: below that its digits are rounding.
    const double present = std::max({std::abs(from.gap[r]), std::abs(to.gap[r]),
                                     arc * std::abs(from.gap_rate[r]), kLeastGap * length * reach()});
    const double miss = std::abs(
        hermite(0.5, from.gap[r], arc * from.gap_rate[r], to.gap[r], arc * to.gap_rate[r]) - middle.gap[r]);
    if (present > 0) worst = std::max(worst, miss / (options_.tolerance * present));
  }
  return worst;
}

/// One step of the path; next_ is its end.
QuasiStaticEngine::Run::StepEnd QuasiStaticEngine::Run::advance(double limit) {
  const double left = limit - here_.t;
  if (!(arc_step_ > 0)) arc_step_ = kFirstStep * left / std::max(here_.t_rate, kFold);
  const double shortest = 4 * 2.220446049250313e-16 * (std::abs(here_.t) + left);
  const double size = reach();
  for (int attempt = 0; attempt < 200; ++attempt) {
    patience_.look();
    double arc = arc_step_;
    if (options_.max_step > 0) arc = std::min(arc, options_.max_step / std::max(here_.t_rate, kFold));
    const bool to_limit = here_.t + 1.0001 * arc * here_.t_rate >= limit;
    next_ = here_;
    if (to_limit) arc = left / here_.t_rate;
    for (std::size_t i = 0; i < n_; ++i) next_.q[i] += arc * here_.q_rate[i];
    for (std::size_t r = 0; r < next_.normal.size(); ++r) next_.normal[r] += arc * here_.normal_rate[r];
    for (std::size_t j = 0; j < next_.tangent.size(); ++j) next_.tangent[j] += arc * here_.tangent_rate[j];
    next_.t = to_limit ? limit : here_.t + arc * here_.t_rate;
    if (arc * here_.t_rate < shortest && here_.t_rate > kFold) {
      static_cast<void>(
          fail(Reason::step_too_small, "the path cannot be followed: its step has become too small"));
      return StepEnd::failed;
    }
    const bool corrected = to_limit ? statics_.correct(next_, no_border_, 1)
                                    : statics_.correct(next_, here_.q_rate, here_.t_rate);
    const bool fine = corrected && statics_.tangent(next_, here_.q_rate, here_.t_rate);
    if (statics_.sees_velocity()) {
      static_cast<void>(
          fail(Reason::unsupported, "a force depends on velocities; quasi-static evolution has no dampers"));
      return StepEnd::failed;
    }
    if (!fine || next_.t > limit) {
      arc_step_ = (to_limit ? std::min(arc, arc_step_) : arc_step_) / 4;
      continue;
    }
    double real = std::abs(next_.t - here_.t), way = 0;
    for (std::size_t i = 0; i < n_; ++i) way += (next_.q[i] - here_.q[i]) * (next_.q[i] - here_.q[i]);
    real += std::sqrt(way);
    middle_ = here_;
    between(here_, next_, real, 0.5, middle_);
    double error = 0;
    if (!statics_.correct(middle_, next_.q_rate, next_.t_rate, &error) ||
        !statics_.tangent(middle_, next_.q_rate, next_.t_rate)) {
      arc_step_ = arc / 4;
      continue;
    }
    const double allowed = options_.tolerance * std::max(size, real);
    error = std::max(error, allowed * curve_error(here_, middle_, next_, real));
    if (error > allowed) {
      arc_step_ = arc * std::clamp(0.8 * std::sqrt(std::sqrt(allowed / error)), 0.1, 0.8);
      continue;
    }
    if (next_.t_rate <= kFold || next_.t <= here_.t) {
      // Beyond the fold, or just there: the last point from which time still goes on is near enough where steps no longer resolve it.
      if (here_.t_rate > 4 * kFold && arc_step_ > 1e-10 * (size + real)) {
        arc_step_ = arc / 2;
        continue;
      }
      next_ = here_;
      return StepEnd::fold;
    }
    const double growth = error > 0 ? 0.9 * std::sqrt(std::sqrt(allowed / error)) : 4;
    if (!to_limit || growth < 1) arc_step_ = arc * std::clamp(growth, 0.2, 4.0);
    // The middle first: what happens twice in a step is seen there.
    const QuasiStaticPoint end = next_, half = middle_;
    if (statics_.correct(middle_, no_border_, 1) && worst_guard(half, nullptr) < 0)
      return locate(here_, half) ? StepEnd::event : StepEnd::plain;
    scratch_ = end;
    if (statics_.correct(scratch_, no_border_, 1) && worst_guard(end, nullptr) < 0)
      return locate(here_, end) ? StepEnd::event : StepEnd::plain;
    next_ = end;
    middle_ = half;
    return next_.t >= limit ? StepEnd::limit : StepEnd::plain;
  }
  static_cast<void>(fail(Reason::step_too_small, "the path cannot be followed: no step converges"));
  return StepEnd::failed;
}

/// Samples that lie before the end of a step.
void QuasiStaticEngine::Run::rows_before(const QuasiStaticPoint& from, const QuasiStaticPoint& to) {
  for (; recorder_.samples.next() < to.t; recorder_.samples.advance()) {
    if (!at_time(recorder_.samples.next(), from, to, scratch_)) continue;
    row(RowKind::sample, scratch_);
  }
}

}  // namespace judder::engines
