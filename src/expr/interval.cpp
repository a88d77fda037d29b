// Intervals with outward rounding.
//
// Every operation returns an interval that contains all results for arguments in the given intervals, whatever the rounding: ends are
// moved outwards by one unit in the last place after arithmetic and by four after a function (functions.hpp is within two). Where a
// function has no value for part of its argument the answer is the whole line, so no end is ever NaN.
#include <algorithm>
#include <limits>
#include <span>

#include "core/elementary.hpp"
#include "expr/functions.hpp"
#include "expr/graph_data.hpp"
#include "expr/outside_calls.hpp"
#include "expr/run.hpp"

namespace judder::expr {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPi = 3.141592653589793;
constexpr double kFarthest =
    1e13;  ///< arguments of waves up to which the margin in meets() is a small part of a period
constexpr Interval kLine{-kInfinity, kInfinity};

/// At least one and at most two units in the last place below x (S. M. Rump et al., BIT 49 (2009) 419, without changing the mode). An infinite
/// end that was not asked for is an overflow: what lies below it are all numbers from the largest on.
double down(double x) {
  if (x == kInfinity) return std::numeric_limits<double>::max();
  return x - (std::abs(x) * 1.1102230246251568e-16 + std::numeric_limits<double>::denorm_min());
}
double up(double x) {
  if (x == -kInfinity) return std::numeric_limits<double>::lowest();
  return x + (std::abs(x) * 1.1102230246251568e-16 + std::numeric_limits<double>::denorm_min());
}

/// [low, high], or the whole line if an end is not a number (inf − inf).
Interval make(double low, double high) { return low <= high ? Interval{low, high} : kLine; }
Interval outward(double low, double high) { return make(down(low), up(high)); }
Interval outward_library(double low, double high) {
  return make(down(down(down(down(low)))), up(up(up(up(high)))));
}
Interval clipped(Interval x, double least, double most) {
  return {std::clamp(x.low, least, most), std::clamp(x.high, least, most)};
}
Interval hull(Interval a, Interval b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }
bool is_point(Interval a) { return a.low == a.high; }

/// A product of ends: an infinite end stands for large finite values, so 0 times it is 0.
double end_product(double a, double b) { return a == 0 || b == 0 ? 0.0 : a * b; }

/// Whether offset + n period lies in [low, high] for some whole n, or perhaps does.
bool meets(Interval x, double offset, double period) {
  const double from = (x.low - offset) / period, to = (x.high - offset) / period;
  const double margin = 1e-15 * (std::abs(from) + std::abs(to) + 1);
  return std::floor(to + margin) >= std::ceil(from - margin);
}

struct IntervalAlgebra {
  using Value = Interval;
  static void set(Interval& to, double c) { to = c == c ? Interval{c, c} : kLine; }
  static Interval add(Interval a, Interval b) { return outward(a.low + b.low, a.high + b.high); }
  static Interval subtract(Interval a, Interval b) { return outward(a.low - b.high, a.high - b.low); }
  static Interval multiply(Interval a, Interval b) {
    const double p = end_product(a.low, b.low), q = end_product(a.low, b.high);
    const double r = end_product(a.high, b.low), s = end_product(a.high, b.high);
    return outward(std::min(std::min(p, q), std::min(r, s)), std::max(std::max(p, q), std::max(r, s)));
  }
  static Interval scale(double c, Interval a) {
    const double p = end_product(c, a.low), q = end_product(c, a.high);
    return c < 0 ? outward(q, p) : outward(p, q);
  }
  static Interval shift(double c, Interval a) { return outward(a.low + c, a.high + c); }
  static Interval reciprocal(Interval a) {
    if (a.low <= 0 && a.high >= 0) return kLine;
    return outward(1 / a.high, 1 / a.low);
  }
  static Interval divide(Interval a, Interval b) {
    if (b.low <= 0 && b.high >= 0) return kLine;
    const double p = a.low / b.low, q = a.low / b.high, r = a.high / b.low, s = a.high / b.high;
    if (p != p || q != q || r != r || s != s) return multiply(a, reciprocal(b));
    return outward(std::min(std::min(p, q), std::min(r, s)), std::max(std::max(p, q), std::max(r, s)));
  }
  static Interval negate(Interval a) { return {-a.high, -a.low}; }
  static Interval absolute(Interval a) {
    if (a.low >= 0) return a;
    if (a.high <= 0) return negate(a);
    return {0, std::max(-a.low, a.high)};
  }
  static Interval clip(Interval a) { return {std::max(a.low, 0.0), std::max(a.high, 0.0)}; }
  static Interval square(Interval a) {
    const Interval m = absolute(a);
    const Interval s = outward(m.low * m.low, m.high * m.high);
    return {std::max(s.low, 0.0), s.high};
  }
  static Interval cube(Interval a) {
    return make(down(down(a.low * a.low * a.low)), up(up(a.high * a.high * a.high)));
  }
  static Interval power_whole(Interval a, std::uint32_t n) {
    // Monotone on each side of zero; of the base's absolute value for even n.
    const Interval base = (n & 1) == 0 ? absolute(a) : a;
    const auto end = [n](double x, bool lower) {
      Interval r = power_by_squaring(Interval{x, x}, n, multiply);
      return lower ? r.low : r.high;
    };
    Interval r = make(end(base.low, true), end(base.high, false));
    if ((n & 1) == 0) r.low = std::max(r.low, 0.0);
    return r;
  }
  static Interval power(Interval a, Interval b) {
    if (is_point(b) && is_whole(b.low) && b.low > 0 && b.low < 4e9)
      return power_whole(a, static_cast<std::uint32_t>(b.low));
    if (!(a.low >= 0) || (a.low == 0 && b.low <= 0)) return kLine;
    // Monotone in each argument where the base is positive: the extremes are at the corners.
    const double p = elementary::pow(a.low, b.low), q = elementary::pow(a.low, b.high);
    const double r = elementary::pow(a.high, b.low), s = elementary::pow(a.high, b.high);
    if (p != p || q != q || r != r || s != s) return kLine;
    const Interval all =
        outward_library(std::min(std::min(p, q), std::min(r, s)), std::max(std::max(p, q), std::max(r, s)));
    return {std::max(all.low, 0.0), all.high};
  }
  static Interval hypot(Interval a, Interval b) {
    const Interval p = absolute(a), q = absolute(b);
    const Interval r = outward_library(hypotenuse(p.low, q.low), hypotenuse(p.high, q.high));
    return {std::max(r.low, 0.0), r.high};
  }
  static Interval atan2(Interval y, Interval x) {
    constexpr Interval kAll{-kPi - 1e-15, kPi + 1e-15};
    if (x.low <= 0 && y.low <= 0 && y.high >= 0) return kAll;  // the cut, or the origin
    // Away from both, the extremes of the angle over a rectangle are at its corners.
    const double p = elementary::atan2(y.low, x.low), q = elementary::atan2(y.low, x.high);
    const double r = elementary::atan2(y.high, x.low), s = elementary::atan2(y.high, x.high);
    return outward_library(std::min(std::min(p, q), std::min(r, s)),
                           std::max(std::max(p, q), std::max(r, s)));
  }
  static Interval wave(Interval x, double maximum, double low, double high) {
    if (!(x.high - x.low < 6.3) || std::abs(x.low) > kFarthest || std::abs(x.high) > kFarthest)
      return {-1, 1};
    Interval r = outward_library(std::min(low, high), std::max(low, high));
    if (meets(x, maximum, 2 * kPi)) r.high = 1;
    if (meets(x, maximum + kPi, 2 * kPi)) r.low = -1;
    return clipped(r, -1, 1);
  }
  static Interval function(Function f, Interval x) {
    double least = -kInfinity, most = kInfinity;  // where the function has values
    Interval range = kLine;
    switch (f) {
      case Function::sin:
        return wave(x, kPi / 2, apply(f, x.low), apply(f, x.high));
      case Function::cos:
        return wave(x, 0, apply(f, x.low), apply(f, x.high));
      case Function::tan:
        if (!(x.high - x.low < 3.2) || std::abs(x.low) > kFarthest || std::abs(x.high) > kFarthest)
          return kLine;
        if (meets(x, kPi / 2, kPi)) return kLine;
        break;
      case Function::cosh: {
        const Interval m = absolute(x);
        const Interval r = outward_library(elementary::cosh(m.low), elementary::cosh(m.high));
        return {std::max(r.low, 1.0), r.high};
      }
      case Function::acos:
        if (x.low < -1 || x.high > 1) return kLine;
        return outward_library(elementary::acos(x.high), elementary::acos(x.low));
      case Function::asin:
      case Function::atanh:
        least = -1, most = 1;
        break;
      case Function::acosh:
        least = 1, range.low = 0;
        break;
      case Function::log:
        least = 0;
        break;
      case Function::sqrt:
        least = 0, range.low = 0;
        break;
      case Function::exp:
        range.low = 0;
        break;
      case Function::tanh:
        range = {-1, 1};
        break;
      default:
        break;
    }
    if (x.low < least || x.high > most) return kLine;
    const Interval r = outward_library(apply(f, x.low), apply(f, x.high));  // increasing
    return clipped(r, range.low, range.high);
  }
  static Interval select(Interval c, Interval a, Interval b) {
    // Conditions are products and sums of sides; outward rounding must not open the other branch.
    constexpr double kSure = 1e-9;
    if (c.low >= 1 - kSure) return a;
    if (c.high <= kSure) return b;
    return hull(a, b);
  }
  static Interval side_to_sign(Interval s) { return {2 * s.low - 1, 2 * s.high - 1}; }
  static Interval own_side(Interval s, double at_zero) {
    return s.low == kOnSurface && s.high == kOnSurface ? Interval{at_zero, at_zero} : s;
  }
  static Interval side(Interval s, double at_zero) {
    return {side_value(s.low, at_zero), side_value(s.high, at_zero)};
  }
  static Interval sign(Interval s) { return {sign_value(s.low), sign_value(s.high)}; }
  static Interval floor(Interval x) { return {std::floor(x.low), std::floor(x.high)}; }
  static Interval level(std::span<const double> levels, Interval x) {
    return {level_of(levels, x.low), level_of(levels, x.high)};
  }
  static Interval lookup(std::span<const double> list, Interval side) {
    const double last = static_cast<double>(list.size() - 1);
    const auto from = static_cast<std::size_t>(std::floor(std::clamp(side.low + 1, 0.0, last)));
    const auto to = static_cast<std::size_t>(std::ceil(std::clamp(side.high + 1, 0.0, last)));
    Interval r{kInfinity, -kInfinity};
    for (std::size_t i = from; i <= to; ++i) {
      if (list[i] != list[i]) return kLine;
      r = hull(r, {list[i], list[i]});
    }
    return r;
  }
  static Interval turn(Interval side, Interval angle) {
    const auto turned = [&](double s) {
      Interval r = make(turn_value(s, angle.low), turn_value(s, angle.high));
      // An interval that reaches round the branch of this side may take any angle of it.
      const bool split = s == 1 ? angle.low < -kPi / 2 && angle.high >= -kPi / 2
                                : angle.high > kPi / 2 && angle.low <= kPi / 2;
      if (split) r = s == 1 ? Interval{-kPi / 2, 1.5 * kPi} : Interval{-1.5 * kPi, kPi / 2};
      return outward_library(r.low, r.high);
    };
    if (side.low == 1 && side.high == 1) return turned(1);
    if (side.low == 0 && side.high == 0) return turned(0);
    return hull(turned(0), turned(1));
  }
  static Interval flat(Interval u, std::uint32_t order) {
    // Rises to its maximum at u = 1/order and falls after it; order 0 rises only.
    const double peak = order == 0 ? kInfinity : 1.0 / order;
    const double p = u.low == kInfinity ? 0 : flat_value(u.low, order);
    const double q = u.high == kInfinity ? (order == 0 ? 1.0 : 0.0) : flat_value(u.high, order);
    double high = std::max(p, q);
    if (u.low <= peak && peak <= u.high && order > 0) high = flat_value(peak, order);
    // The whole power costs a rounding per multiplication.
    const double slack = 1e-15 * (order + 4.0);
    return {std::min(p, q) * (1 - slack), high * (1 + slack)};
  }
  static Interval outside(const OutsideCall& call, Interval* block) {
    expr::evaluate_interval(call, block, block + call.arguments);
    return *block;
  }
};

// The same, with an eye on what Program::has_peaks() names.
struct GentleAlgebra : IntervalAlgebra {
  static constexpr double kSmallFactor = 8;  ///< between the least and the most that a result is
  static constexpr double kLittleBend = 1;   ///< of an argument, where slopes are 1 at most
  static constexpr double kConstant = 1e-3;  ///< of a result: smaller changes count for none
  static constexpr double kNothing =
      1e-100;  ///< an exponential below it counts for none, whatever stands before it
  static constexpr std::uint32_t kBroad = 4;  ///< powers up to this one are flat nowhere that counts

  explicit GentleAlgebra(bool& all_gentle) : gentle(all_gentle) {}

  Interval small_factor(Interval r) const {
    const double least = std::min(std::abs(r.low), std::abs(r.high));
    const double most = std::max(std::abs(r.low), std::abs(r.high));
    const bool one_sign = r.low > 0 || r.high < 0 || (r.low == 0 && r.high == 0);
    gentle = gentle && one_sign && most <= kSmallFactor * least;
    return r;
  }
  Interval little_bend(Interval x, Interval r) const {
    const double most = std::max(std::abs(r.low), std::abs(r.high));
    gentle = gentle && (x.high - x.low <= kLittleBend || r.high - r.low <= kConstant * most);
    return r;
  }
  /// Of corners and jumps: on one of their sides the side is a point.
  Interval decided(Interval side) const {
    gentle = gentle && is_point(side);
    return side;
  }
  Interval absolute(Interval a) const {
    gentle = gentle && (a.low >= 0 || a.high <= 0);
    return IntervalAlgebra::absolute(a);
  }
  Interval clip(Interval a) const {
    gentle = gentle && (a.low >= 0 || a.high <= 0);
    return IntervalAlgebra::clip(a);
  }
  Interval side(Interval s, double at_zero) const { return decided(IntervalAlgebra::side(s, at_zero)); }
  Interval sign(Interval s) const { return decided(IntervalAlgebra::sign(s)); }
  Interval floor(Interval x) const { return decided(IntervalAlgebra::floor(x)); }
  Interval level(std::span<const double> levels, Interval x) const {
    return decided(IntervalAlgebra::level(levels, x));
  }
  Interval reciprocal(Interval a) const { return small_factor(IntervalAlgebra::reciprocal(a)); }
  Interval divide(Interval a, Interval b) const {
    small_factor(b);
    return IntervalAlgebra::divide(a, b);
  }
  Interval power_whole(Interval a, std::uint32_t n) const {
    const Interval r = IntervalAlgebra::power_whole(a, n);
    return n > kBroad ? small_factor(r) : r;
  }
  Interval power(Interval a, Interval b) const { return small_factor(IntervalAlgebra::power(a, b)); }
  Interval flat(Interval u, std::uint32_t order) const {
    return small_factor(IntervalAlgebra::flat(u, order));
  }
  Interval atan2(Interval y, Interval x) const {
    const Interval r = IntervalAlgebra::atan2(y, x);
    return little_bend(r, r);
  }
  Interval function(Function f, Interval x) const {
    const Interval r = IntervalAlgebra::function(f, x);
    switch (f) {
      case Function::exp:
        return r.high < kNothing ? r : small_factor(r);
      case Function::cosh:
        return small_factor(r);
      case Function::log:
        small_factor(x);
        return r;
      case Function::tan:
      case Function::sinh:
        return little_bend(r, r);
      case Function::atan:
      case Function::tanh:
        return little_bend(x, r);
      default:
        return r;
    }
  }

  bool& gentle;
};

}  // namespace

void Program::evaluate_interval(const Interval* in, Interval* out, Interval* registers) const {
  constexpr IntervalAlgebra algebra;
#include "expr/loop.inc"
}

void Program::evaluate_gentle(const Interval* in, Interval* out, Interval* registers, bool& gentle) const {
  gentle = true;
  const GentleAlgebra algebra(gentle);
#include "expr/loop.inc"
}

}  // namespace judder::expr
