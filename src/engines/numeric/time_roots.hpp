// The next instant at which a function of time alone changes sign, found without a step and never overlooked.
//
// Switches of t (`step(t - 2)`, `sign(cos(w*t))`) are scheduled: before a phase begins the next zero of f on
// (t, t_end] must be known. f is given twice: as a function, and as an enclosure that returns, for [t0, t1],
// intervals that contain all values of f and of ḟ there (interval arithmetic, rounded outwards). On an
// interval of centre m and half width r, besides the enclosure itself,
//
//     f(t) ∈ F(m) + ḟ([t0, t1]) · [−r, r]                                    (mean value form)
//
// holds. An interval whose enclosure excludes zero has none. One on which ḟ keeps its sign has at most one,
// and the values at its ends tell. Any other is halved, until its enclosure is nothing but the rounding of f:
// there f is zero as far as can be known, and what the sign does before and after decides between a crossing
// and a touch.
//
// A function that is zero on a whole piece (abs(sin(t)) - sin(t) while the sine is positive) can be enclosed
// but not proved to be zero, and halving would never end. f is analytic between two instants, so it is taken
// for zero where it is zero to rounding at many places, some near t and some spread over the interval.
//
// A zero at t itself is not reported, nor a touch that rounding cannot separate from it. The time of a
// crossing is the first double at which the function has reached zero or the new sign, so a phase that starts
// there is on the new side and does not find it again.
//
// R. E. Moore, R. B. Kearfott, M. J. Cloud, Introduction to Interval Analysis, SIAM 2009, ch. 8.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace judder::engines::numeric {

struct Bounds {
  double lower = 0;
  double upper = 0;
};

struct TimeEnclosure {
  Bounds value;  ///< contains f on [t0, t1]
  Bounds rate;   ///< contains ḟ on [t0, t1]; unbounded where unknown
};

enum class TimeRootKind {
  none,       ///< no zero in (t, t_end]
  crossing,   ///< the sign changes
  touch,      ///< zero to rounding without change of sign
  undecided,  ///< max_pieces used up; nothing lies before `time`
};

struct TimeRoot {
  TimeRootKind kind = TimeRootKind::none;
  double time = 0;
  int direction = 0;  ///< crossing: +1 rising, −1 falling
};

struct TimeRootOptions {
  int max_pieces = 1'000'000;  ///< intervals looked at before giving up, ≥ 1
};

namespace detail {

inline int time_sign(double value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

/// The first double in (a, b] where f has left the sign it has at a; f(a) and f(b) differ in sign or f(b) =
/// 0.
template <class Function>
double first_changed(Function& f, double a, double b, double at_a, double at_b) {
  const int sign = time_sign(at_a);
  bool bisect = false;
  for (;;) {
    const double middle = a + 0.5 * (b - a);
    if (!(middle > a && middle < b)) return b;
    double next = middle;
    if (!bisect && at_a != at_b) {
      // Regula falsi, halved every other time so that neither end can stall.
      next = a - at_a * ((b - a) / (at_b - at_a));
      if (!(next > a && next < b)) next = middle;
    }
    bisect = !bisect;
    const double value = f(next);
    if (time_sign(value) == sign) {
      a = next;
      at_a = value;
    } else {
      b = next;
      at_b = value;
    }
  }
}

/// Whether f is zero to rounding at places of every distance from t, and at places spread over the interval.
template <class Enclosure>
bool zero_throughout(Enclosure& enclose, double t, double t_end) {
  const auto zero_at = [&](double time) {
    const Bounds value = enclose(time, time).value;
    return value.lower <= 0 && value.upper >= 0;
  };
  if (!(t < t_end) || !zero_at(t)) return false;
  constexpr double kGoldenRatio = 0.6180339887498949;
  for (int i = 1; i <= 16; ++i) {
    const double turns = i * kGoldenRatio;
    if (!zero_at(t + (turns - std::floor(turns)) * (t_end - t))) return false;
  }
  for (double away = 0.5 * (t_end - t); t + away > t; away *= 0.5) {
    if (!zero_at(t + away)) return false;
  }
  return true;
}

}  // namespace detail

/// `double f(double t)`; `TimeEnclosure enclose(double t0, double t1)`, also for t0 == t1. Requires t ≤
/// t_end, both finite.
template <class Function, class Enclosure>
TimeRoot next_time_root(Function& f, Enclosure& enclose, double t, double t_end,
                        const TimeRootOptions& options = {}) {
  struct Piece {
    double a;
    double b;
  };
  std::array<Piece, 1100> stack;  // deeper than doubles can be halved
  int top = -1;
  if (detail::zero_throughout(enclose, t, t_end)) return {};
  if (t < t_end) stack[static_cast<std::size_t>(++top)] = {t, t_end};
  const auto certain_sign = [](const Bounds& bounds) {
    return bounds.lower > 0 ? 1 : bounds.upper < 0 ? -1 : 0;
  };
  int sign = certain_sign(enclose(t, t).value);  // before the current piece or zone; 0: f starts with a zero
  bool in_zone = false;                          // the last pieces may hold a zero that rounding hides
  double zone_begin = t;
  double anchor = t;  // a place at or before the zone where f has `sign`
  int pieces = 0;
  while (top >= 0) {
    const Piece piece = stack[static_cast<std::size_t>(top--)];
    if (++pieces > options.max_pieces) return {TimeRootKind::undecided, in_zone ? zone_begin : piece.a, 0};
    const TimeEnclosure whole = enclose(piece.a, piece.b);
    const double middle = piece.a + 0.5 * (piece.b - piece.a);
    const Bounds centre = enclose(middle, middle).value;
    const double radius = std::max(middle - piece.a, piece.b - middle);
    const double change = radius * std::max(std::abs(whole.rate.lower), std::abs(whole.rate.upper));
    const Bounds range{std::max(whole.value.lower, centre.lower - change),
                       std::min(whole.value.upper, centre.upper + change)};
    int known = certain_sign(range);
    const bool monotone = whole.rate.lower > 0 || whole.rate.upper < 0;
    if (known == 0 && monotone) {
      const int sign_end = certain_sign(enclose(piece.b, piece.b).value);
      if (sign_end == 0) {
        if (!in_zone) {
          zone_begin = piece.b;
          anchor = piece.a;
        }
        in_zone = true;
        continue;
      }
      if (!in_zone && sign == -sign_end) {
        const double time = detail::first_changed(f, piece.a, piece.b, f(piece.a), f(piece.b));
        return {TimeRootKind::crossing, time, sign_end};
      }
      known = sign_end;
    }
    if (known != 0) {
      if (in_zone && sign == known)
        return {TimeRootKind::touch, zone_begin + 0.5 * (piece.a - zone_begin), 0};
      if (in_zone && sign == -known) {
        const double time = detail::first_changed(f, anchor, piece.b, f(anchor), f(piece.b));
        return {TimeRootKind::crossing, time, known};
      }
      in_zone = false;
      sign = known;
      continue;
    }
    // Outward rounding gives a function that is zero a rate of the least number there is, which counts for something over a long time.
    constexpr double kNothing = std::numeric_limits<double>::min();
    const bool nothing = whole.value.lower > -kNothing && whole.value.upper < kNothing;
    const bool only_rounding =
        centre.lower <= 0 && centre.upper >= 0 && (nothing || change <= centre.upper - centre.lower);
    if (only_rounding || !(middle > piece.a && middle < piece.b)) {
      if (!in_zone) {
        zone_begin = piece.a;
        anchor = piece.a;
      }
      in_zone = true;
      continue;
    }
    stack[static_cast<std::size_t>(++top)] = {middle, piece.b};
    stack[static_cast<std::size_t>(++top)] = {piece.a, middle};
  }
  if (in_zone && sign != 0) {
    const double at_end = f(t_end);
    if (detail::time_sign(at_end) != sign) {
      return {TimeRootKind::crossing, detail::first_changed(f, anchor, t_end, f(anchor), at_end), -sign};
    }
    // A last value of rounding size on the old side: whether it is a touch or a crossing, the next search
    // from t_end sees it.
    if (zone_begin < t_end) return {TimeRootKind::touch, zone_begin + 0.5 * (t_end - zone_begin), 0};
  }
  return {};
}

}  // namespace judder::engines::numeric
