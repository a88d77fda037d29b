#include "quasi_static_path.hpp"

#include <algorithm>
#include <cmath>

namespace judder::engines {
namespace {

constexpr double kGuardNoise = 1e-13;  ///< share of its size by which a guard may be below zero
constexpr double kLeastGap = 1e-4;     ///< of the reach
constexpr double kLocated =
    4 *
    kGuardNoise;  ///< share of its size by which a guard that was located may be off: it is met within its noise
constexpr double kFold = 1e-7;           ///< dt/ds below this is a fold
constexpr double kNearFold = 1e-4;       ///< dt/ds from which one may lie within a step
constexpr double kFirstStep = 1.0 / 16;  ///< share of the way to the next known time
constexpr int kHalvings = 80;

}  // namespace

QuasiStaticPath::QuasiStaticPath(QuasiStaticScene& scene, QuasiStaticRecords& records)
    : scene_(scene),
      records_(records),
      next_(scene.point()),
      middle_(scene.point()),
      trial_(scene.point()),
      last_(scene.point()) {
  watch_values_.assign(scene.system.watches().size(), 0.0);
}

void QuasiStaticPath::look_at_watches() {
  for (std::size_t k = 0; k < watch_values_.size(); ++k) {
    records_.publish(scene_.here);
    scene_.system.watches()[k].value.evaluate(scene_.work.in.data(), &watch_values_[k],
                                              scene_.work.registers.data());
  }
}

void QuasiStaticPath::blend(const QuasiStaticPoint& a, const QuasiStaticPoint& b, double arc, double share,
                            QuasiStaticPoint& out) const {
  const auto mix = [&](double from, double from_rate, double to, double to_rate) {
    return hermite(share, from, arc * from_rate, to, arc * to_rate);
  };
  out = a;
  out.t = mix(a.t, a.t_rate, b.t, b.t_rate);
  for (std::size_t i = 0; i < scene_.n; ++i) out.q[i] = mix(a.q[i], a.q_rate[i], b.q[i], b.q_rate[i]);
  for (std::size_t r = 0; r < a.normal.size(); ++r)
    out.normal[r] = mix(a.normal[r], a.normal_rate[r], b.normal[r], b.normal_rate[r]);
  for (std::size_t j = 0; j < a.tangent.size(); ++j)
    out.tangent[j] = mix(a.tangent[j], a.tangent_rate[j], b.tangent[j], b.tangent_rate[j]);
}

double QuasiStaticPath::arc_between(const QuasiStaticPoint& a, const QuasiStaticPoint& b) const {
  double way = 0;
  for (std::size_t i = 0; i < scene_.n; ++i) way += (b.q[i] - a.q[i]) * (b.q[i] - a.q[i]);
  return std::abs(b.t - a.t) + std::sqrt(way);
}

bool QuasiStaticPath::between(const QuasiStaticPoint& from, const QuasiStaticPoint& to, double t,
                              QuasiStaticPoint& out, double& share) {
  const double arc = arc_between(from, to);
  double low = 0, high = 1;
  for (int k = 0; k < kHalvings && high - low > 1e-16; ++k) {
    const double half = 0.5 * (low + high);
    (hermite(half, from.t, arc * from.t_rate, to.t, arc * to.t_rate) < t ? low : high) = half;
  }
  share = high;
  blend(from, to, arc, share, out);
  out.t = t;
  return scene_.statics.correct(out, scene_.no_border, 1) && scene_.statics.tangent(out, scene_.no_border, 1);
}

bool QuasiStaticPath::at_time(double t, QuasiStaticPoint& out, double& share) {
  return between(scene_.here, next_, t, out, share);
}

bool QuasiStaticPath::middle(QuasiStaticPoint& out, double& arc) {
  arc = arc_between(scene_.here, next_);
  blend(scene_.here, next_, arc, 0.5, out);
  return scene_.statics.correct(out, next_.q_rate, next_.t_rate);
}

/// The smallest guard relative to its size, below zero where one is violated; those that are, where asked for. The point was corrected last.
double QuasiStaticPath::worst_guard(const QuasiStaticPoint& point, std::vector<QuasiStaticFired>* fired) {
  double worst = 1;
  const auto look = [&](double value, double size, QuasiStaticFired::What what, int place) {
    const double share = size > 0 ? value / size + kGuardNoise : (value < 0 ? -1 : 1);
    worst = std::min(worst, share);
    if (share < 0 && fired != nullptr) fired->push_back({what, place});
  };
  const double force = scene_.force_scale();
  const double moved = scene_.moved(point);
  for (int r = 0; r < scene_.layout.relations; ++r) {
    const model::Relation& relation = scene_.system.relations()[r];
    const model::RelationRows& rows = scene_.statics.rows(r);
    if (scene_.mode.normal[r] == NormalStatus::open) {
      double scale = 0;
      for (const double w : rows.w.values()) scale += std::abs(w);
      look(scene_.statics.gap(r),
           std::max(scale * moved, std::abs(rows.gap_time * (point.t - scene_.options.from))),
           QuasiStaticFired::What::gap, r);
      continue;
    }
    double size = std::max(force, std::abs(point.normal[r]));
    if (scene_.mode.normal[r] == NormalStatus::closed)
      look(point.normal[r], size, QuasiStaticFired::What::reaction, r);
    for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j) {
      const int sigma = direction(scene_.mode.tangent[j]);
      if (sigma == 0) {
        const double limit = scene_.statics.limit(r, j, point.normal);
        size = std::max(size, limit);
        look(limit - std::abs(point.tangent[j]), size, QuasiStaticFired::What::cone, r);
      } else {
        const double slip = scene_.statics.slip(r, j, point.q_rate, point.t_rate);
        look(sigma * slip, 1, QuasiStaticFired::What::slip, r);
      }
    }
  }
  for (std::size_t k = 0; k < watch_values_.size(); ++k) {
    if (watch_values_[k] == 0) continue;
    records_.publish(point);
    double value = 0;
    scene_.system.watches()[k].value.evaluate(scene_.work.in.data(), &value, scene_.work.registers.data());
    if (value * watch_values_[k] < 0) {
      worst = std::min(worst, -1.0);
      if (fired != nullptr) fired->push_back({QuasiStaticFired::What::watch, static_cast<int>(k)});
    }
  }
  return worst;
}

QuasiStaticPath::End QuasiStaticPath::locate(const QuasiStaticPoint& to) {
  last_ = to;
  double low = scene_.here.t, high = last_.t, share = 0;
  const double first = low;
  for (int k = 0; k < kHalvings; ++k) {
    const double half = 0.5 * (low + high);
    if (!(half > low && half < high)) break;
    if (!between(scene_.here, last_, half, trial_, share)) return End::failed;
    (worst_guard(trial_, nullptr) < 0 ? high : low) = half;
  }
  if (high < last_.t || high == first) {
    if (!between(scene_.here, last_, high, next_, share)) return End::failed;
  } else {
    next_ = last_;
    if (!scene_.statics.correct(next_, scene_.no_border, 1) ||
        !scene_.statics.tangent(next_, scene_.no_border, 1))
      return End::failed;
  }
  scene_.fired.clear();
  static_cast<void>(worst_guard(next_, &scene_.fired));
  return scene_.fired.empty() ? End::plain : End::event;
}

/// By how much reactions and gaps at the middle of a step miss their cubics, as a share of what is allowed: guards are functions of them.
double QuasiStaticPath::curve_error(const QuasiStaticPoint& from, const QuasiStaticPoint& middle,
                                    const QuasiStaticPoint& to, double arc) const {
  double worst = 0;
  const auto compare = [&](const std::vector<double>& a, const std::vector<double>& a_rate,
                           const std::vector<double>& b, const std::vector<double>& b_rate,
                           const std::vector<double>& half, double size) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double present = std::max({size, std::abs(a[i]), std::abs(b[i])});
      if (!(present > 0)) continue;
      const double miss = std::abs(hermite(0.5, a[i], arc * a_rate[i], b[i], arc * b_rate[i]) - half[i]);
      worst = std::max(worst, (miss - kLocated * present) / (scene_.options.tolerance * present));
    }
  };
  const double force = scene_.force_scale();
  compare(from.normal, from.normal_rate, to.normal, to.normal_rate, middle.normal, force);
  compare(from.tangent, from.tangent_rate, to.tangent, to.tangent_rate, middle.tangent, force);
  for (int r = 0; r < scene_.layout.relations; ++r) {
    if (scene_.mode.normal[r] != NormalStatus::open || from.gap.empty()) continue;
    double length = 0;
    for (const double w : scene_.statics.rows(r).w.values()) length += std::abs(w);
    // A gap that has just begun is measured by a small share of what moves it: below that its digits are rounding.
    const double present = std::max({std::abs(from.gap[r]), std::abs(to.gap[r]),
                                     arc * std::abs(from.gap_rate[r]), kLeastGap * length * scene_.reach()});
    const double miss = std::abs(
        hermite(0.5, from.gap[r], arc * from.gap_rate[r], to.gap[r], arc * to.gap_rate[r]) - middle.gap[r]);
    // A reaction that ended within its noise has left the body off the new path by as much.
    const double off = kLocated * length * scene_.reach();
    if (present > 0) worst = std::max(worst, (miss - off) / (scene_.options.tolerance * present));
  }
  return worst;
}

QuasiStaticPath::End QuasiStaticPath::fails(const char* message, Reason reason) {
  static_cast<void>(scene_.fail(reason, message));
  return End::failed;
}

/// Along the tangent of the beginning; to the limit itself where the step reaches it.
void QuasiStaticPath::predict(double arc, double limit, bool to_limit) {
  const QuasiStaticPoint& here = scene_.here;
  next_ = here;
  for (std::size_t i = 0; i < scene_.n; ++i) next_.q[i] += arc * here.q_rate[i];
  for (std::size_t r = 0; r < next_.normal.size(); ++r) next_.normal[r] += arc * here.normal_rate[r];
  for (std::size_t j = 0; j < next_.tangent.size(); ++j) next_.tangent[j] += arc * here.tangent_rate[j];
  next_.t = to_limit ? limit : here.t + arc * here.t_rate;
}

QuasiStaticPath::End QuasiStaticPath::advance(double limit) {
  const QuasiStaticPoint& here = scene_.here;
  QuasiStatics& statics = scene_.statics;
  const EngineOptions& options = scene_.options;
  const double left = limit - here.t;
  if (!(arc_step_ > 0)) arc_step_ = kFirstStep * left / std::max(here.t_rate, kFold);
  const double shortest = 4 * 2.220446049250313e-16 * (std::abs(here.t) + left);
  const double size = scene_.reach();
  bool beyond = false;  // a longer step has ended behind a fold
  // Where time nearly stands still a step is long enough to see it go on, or to see that it does not.
  if (here.t_rate > kFold && here.t_rate < kNearFold)
    arc_step_ = std::max(arc_step_, 4 * shortest / here.t_rate);
  for (int attempt = 0; attempt < 200; ++attempt) {
    scene_.patience.look();
    double arc = arc_step_;
    if (options.max_step > 0) arc = std::min(arc, options.max_step / std::max(here.t_rate, kFold));
    const bool to_limit = here.t + 1.0001 * arc * here.t_rate >= limit;
    if (to_limit) arc = left / here.t_rate;
    if (arc * here.t_rate < shortest && here.t_rate > kFold) {
      // Between here and the fold there is no other time.
      if (beyond) {
        next_ = here;
        return End::fold;
      }
      return fails("the path cannot be followed: its step has become too small", Reason::step_too_small);
    }
    predict(arc, limit, to_limit);
    const bool corrected = to_limit ? statics.correct(next_, scene_.no_border, 1)
                                    : statics.correct(next_, here.q_rate, here.t_rate);
    const bool fine = corrected && statics.tangent(next_, here.q_rate, here.t_rate);
    if (statics.sees_velocity())
      return fails("a force depends on velocities; quasi-static evolution has no dampers",
                   Reason::unsupported);
    if (!fine || next_.t > limit) {
      arc_step_ = (to_limit ? std::min(arc, arc_step_) : arc_step_) / 4;
      continue;
    }
    const double real = arc_between(here, next_);
    blend(here, next_, real, 0.5, middle_);
    double error = 0;
    if (!statics.correct(middle_, next_.q_rate, next_.t_rate, &error) ||
        !statics.tangent(middle_, next_.q_rate, next_.t_rate)) {
      arc_step_ = arc / 4;
      continue;
    }
    const double allowed = options.tolerance * std::max(size, real);
    error = std::max(error, allowed * curve_error(here, middle_, next_, real));
    if (error > allowed) {
      arc_step_ = arc * std::clamp(0.8 * std::sqrt(std::sqrt(allowed / error)), 0.1, 0.8);
      continue;
    }
    if (next_.t_rate <= kFold || next_.t <= here.t) {
      // Beyond the fold, or just there: the last point from which time still goes on is near enough where steps no longer resolve it.
      if (here.t_rate > 4 * kFold && arc_step_ > 1e-10 * (size + real)) {
        beyond = true;
        arc_step_ = arc / 2;
        continue;
      }
      next_ = here;
      return End::fold;
    }
    const double growth = error > 0 ? 0.9 * std::sqrt(std::sqrt(allowed / error)) : 4;
    if (!to_limit || growth < 1) arc_step_ = arc * std::clamp(growth, 0.2, 4.0);
    // The middle first: what happens twice in a step is seen there.
    const QuasiStaticPoint* violated = nullptr;
    for (const QuasiStaticPoint* point : {&middle_, &next_}) {
      trial_ = *point;
      if (violated == nullptr && statics.correct(trial_, scene_.no_border, 1) &&
          worst_guard(*point, nullptr) < 0)
        violated = point;
    }
    if (violated != nullptr) {
      const End end = locate(*violated);
      if (end != End::failed) return end;
      arc_step_ = arc / 4;
      continue;
    }
    return next_.t >= limit ? End::limit : End::plain;
  }
  return fails("the path cannot be followed: no step converges", Reason::step_too_small);
}

}  // namespace judder::engines
