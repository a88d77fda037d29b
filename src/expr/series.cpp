// Truncated power series in time: f(x(τ)) from x(τ), coefficient by coefficient.
//
// Every elementary function solves a small differential equation, which gives its coefficients in turn (R. E. Moore, Methods and
// Applications of Interval Analysis, SIAM 1979, chapter 3; A. Griewank and A. Walther, Evaluating Derivatives, SIAM 2008, chapter 13).
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

struct SeriesAlgebra {
  using Value = Series;
  int order = 0;

  void set(Series& to, double c) const {
    to.c[0] = c;
    for (int k = 1; k <= order; ++k) to.c[k] = 0;
  }
  [[nodiscard]] Series constant(double c) const {
    Series s;
    s.c[0] = c;
    return s;
  }
  [[nodiscard]] Series add(const Series& a, const Series& b) const {
    Series s;
    for (int k = 0; k <= order; ++k) s.c[k] = a.c[k] + b.c[k];
    return s;
  }
  [[nodiscard]] Series subtract(const Series& a, const Series& b) const {
    Series s;
    for (int k = 0; k <= order; ++k) s.c[k] = a.c[k] - b.c[k];
    return s;
  }
  [[nodiscard]] Series scale(double f, const Series& a) const {
    Series s;
    for (int k = 0; k <= order; ++k) s.c[k] = f * a.c[k];
    return s;
  }
  [[nodiscard]] Series shift(double c, const Series& a) const {
    Series s;
    s.c[0] = a.c[0] + c;
    for (int k = 1; k <= order; ++k) s.c[k] = a.c[k];
    return s;
  }
  [[nodiscard]] Series multiply(const Series& a, const Series& b) const {
    Series s;
    for (int k = 0; k <= order; ++k) {
      double total = a.c[0] * b.c[k];
      for (int i = 1; i <= k; ++i) total += a.c[i] * b.c[k - i];
      s.c[k] = total;
    }
    return s;
  }
  [[nodiscard]] Series divide(const Series& a, const Series& b) const {
    Series s;
    for (int k = 0; k <= order; ++k) {
      double total = a.c[k];
      for (int i = 1; i <= k; ++i) total -= b.c[i] * s.c[k - i];
      s.c[k] = total / b.c[0];
    }
    return s;
  }
  [[nodiscard]] Series negate(const Series& a) const {
    Series s;
    for (int k = 0; k <= order; ++k) s.c[k] = -a.c[k];
    return s;
  }
  [[nodiscard]] Series reciprocal(const Series& a) const { return divide(constant(1), a); }
  [[nodiscard]] Series square(const Series& a) const { return multiply(a, a); }
  [[nodiscard]] Series cube(const Series& a) const { return multiply(multiply(a, a), a); }
  [[nodiscard]] Series power_whole(const Series& a, std::uint32_t n) const {
    return power_by_squaring(a, n, [this](const Series& x, const Series& y) { return multiply(x, y); });
  }

  /// f(a) from f(a₀) and the series g of f'(a): f' = g a'.
  [[nodiscard]] Series integrate(double start, const Series& g, const Series& a) const {
    Series s;
    s.c[0] = start;
    for (int k = 1; k <= order; ++k) {
      double total = 0;
      for (int i = 1; i <= k; ++i) total += i * a.c[i] * g.c[k - i];
      s.c[k] = total / k;
    }
    return s;
  }
  [[nodiscard]] bool is_constant(const Series& a) const {
    for (int k = 1; k <= order; ++k) {
      if (a.c[k] != 0) return false;
    }
    return true;
  }
  /// a^p: a s' = p a' s.
  [[nodiscard]] Series constant_power(double start, const Series& a, double p) const {
    Series s;
    s.c[0] = start;
    if (is_constant(a)) return s;  // also at a = 0, where the recurrence has no start
    if (a.c[0] == 0 && p > 0) return power_from_zero(a, p);
    for (int k = 1; k <= order; ++k) {
      double total = 0;
      for (int i = 1; i <= k; ++i) total += (p * i - (k - i)) * a.c[i] * s.c[k - i];
      s.c[k] = total / (k * a.c[0]);
    }
    return s;
  }
  /// The same where a begins as b τ^m: b^p τ^(p m). Where p m is no whole number the derivatives end below it; the next one is infinite, with the
  /// sign of b^p, and those behind it are no numbers.
  [[nodiscard]] Series power_from_zero(const Series& a, double p) const {
    int m = 1;
    while (a.c[m] == 0) ++m;
    const double begins = p * m;
    const int first = static_cast<int>(std::min(std::ceil(begins), static_cast<double>(order) + 1));
    Series s;
    if (first > order) return s;
    const double leading = elementary::pow(a.c[m], p);
    if (begins == first) {
      // b to the power p; it is known as far as a is.
      s.c[first] = leading;
      for (int k = 1; first + k <= order; ++k) {
        if (m + k > order) {
          s.c[first + k] = std::numeric_limits<double>::quiet_NaN();
          continue;
        }
        double total = 0;
        for (int i = 1; i <= k; ++i) total += (p * i - (k - i)) * a.c[m + i] * s.c[first + k - i];
        s.c[first + k] = total / (k * a.c[m]);
      }
      return s;
    }
    s.c[first] = leading * std::numeric_limits<double>::infinity();
    for (int k = first + 1; k <= order; ++k) s.c[k] = std::numeric_limits<double>::quiet_NaN();
    return s;
  }
  [[nodiscard]] Series power(const Series& a, const Series& b) const {
    if (is_constant(b)) {
      if (is_whole(b.c[0]) && b.c[0] > 0 && b.c[0] < 4e9)
        return power_whole(a, static_cast<std::uint32_t>(b.c[0]));
      return constant_power(elementary::pow(a.c[0], b.c[0]), a, b.c[0]);
    }
    Series s = exponential(multiply(b, logarithm(a)));
    return s;
  }
  [[nodiscard]] Series exponential(const Series& a) const {
    Series s;
    s.c[0] = apply(Function::exp, a.c[0]);
    for (int k = 1; k <= order; ++k) {
      double total = 0;
      for (int i = 1; i <= k; ++i) total += i * a.c[i] * s.c[k - i];
      s.c[k] = total / k;
    }
    return s;
  }
  [[nodiscard]] Series logarithm(const Series& a) const {
    Series s;
    s.c[0] = apply(Function::log, a.c[0]);
    for (int k = 1; k <= order; ++k) {
      double total = 0;
      for (int i = 1; i < k; ++i) total += i * s.c[i] * a.c[k - i];
      s.c[k] = (a.c[k] - total / k) / a.c[0];
    }
    return s;
  }
  /// sin and cos (sign = −1), or sinh and cosh (sign = 1), together: s' = c a', c' = sign s a'.
  void sine_and_cosine(const Series& a, double sine, double cosine, int sign, Series& s, Series& c) const {
    s.c[0] = sine;
    c.c[0] = cosine;
    for (int k = 1; k <= order; ++k) {
      double to_sine = 0, to_cosine = 0;
      for (int i = 1; i <= k; ++i) {
        to_sine += i * a.c[i] * c.c[k - i];
        to_cosine += i * a.c[i] * s.c[k - i];
      }
      s.c[k] = to_sine / k;
      c.c[k] = sign * to_cosine / k;
    }
  }
  /// t' = (1 + sign t²) a': tan and tanh.
  [[nodiscard]] Series tangent(const Series& a, double start, int sign) const {
    Series t, w;
    t.c[0] = start;
    w.c[0] = 1 + sign * start * start;
    for (int k = 1; k <= order; ++k) {
      double total = 0;
      for (int i = 1; i <= k; ++i) total += i * a.c[i] * w.c[k - i];
      t.c[k] = total / k;
      double squares = 0;
      for (int i = 0; i <= k; ++i) squares += t.c[i] * t.c[k - i];
      w.c[k] = sign * squares;
    }
    return t;
  }
  [[nodiscard]] Series root(const Series& a) const { return constant_power(std::sqrt(a.c[0]), a, 0.5); }
  /// c + f a².
  [[nodiscard]] Series quadratic(double c, double f, const Series& a) const {
    Series s = scale(f, multiply(a, a));
    s.c[0] += c;
    return s;
  }

  [[nodiscard]] Series function(Function f, const Series& a) const {
    const double start = apply(f, a.c[0]);
    Series s, c;
    switch (f) {
      case Function::sin:
        sine_and_cosine(a, start, apply(Function::cos, a.c[0]), -1, s, c);
        return s;
      case Function::cos:
        sine_and_cosine(a, apply(Function::sin, a.c[0]), start, -1, s, c);
        return c;
      case Function::sinh:
        sine_and_cosine(a, start, elementary::cosh(a.c[0]), 1, s, c);
        return s;
      case Function::cosh:
        sine_and_cosine(a, elementary::sinh(a.c[0]), start, 1, s, c);
        return c;
      case Function::tan:
        return tangent(a, start, 1);
      case Function::tanh:
        return tangent(a, start, -1);
      case Function::exp:
        return exponential(a);
      case Function::log:
        return logarithm(a);
      case Function::sqrt:
        return root(a);
      case Function::cbrt:
        return constant_power(start, a, 1.0 / 3.0);
      case Function::asin:
        return integrate(start, reciprocal(root(quadratic(1, -1, a))), a);
      case Function::acos:
        return integrate(start, negate(reciprocal(root(quadratic(1, -1, a)))), a);
      case Function::atan:
        return integrate(start, reciprocal(quadratic(1, 1, a)), a);
      case Function::asinh:
        return integrate(start, reciprocal(root(quadratic(1, 1, a))), a);
      case Function::acosh:
        return integrate(start, reciprocal(root(quadratic(-1, 1, a))), a);
      case Function::atanh:
        return integrate(start, reciprocal(quadratic(1, -1, a)), a);
      case Function::atan2:
      case Function::hypot:
        break;
    }
    return s;
  }
  [[nodiscard]] Series atan2(const Series& y, const Series& x) const {
    // θ' = (x y' − y x')/(x² + y²)
    const Series squares = add(multiply(x, x), multiply(y, y));
    const Series over = divide(x, squares), under = divide(y, squares);
    Series s;
    s.c[0] = elementary::atan2(y.c[0], x.c[0]);
    for (int k = 1; k <= order; ++k) {
      double total = 0;
      for (int i = 1; i <= k; ++i) total += i * (y.c[i] * over.c[k - i] - x.c[i] * under.c[k - i]);
      s.c[k] = total / k;
    }
    return s;
  }
  [[nodiscard]] Series hypot(const Series& a, const Series& b) const {
    // h h' = a a' + b b', scaled by h₀ so that no square overflows.
    const double start = hypotenuse(a.c[0], b.c[0]);
    if (start == 0) return constant_power(0, add(multiply(a, a), multiply(b, b)), 0.5);
    const Series u = scale(1 / start, a), v = scale(1 / start, b);
    Series s = constant_power(1, add(multiply(u, u), multiply(v, v)), 0.5);
    for (int k = 1; k <= order; ++k) s.c[k] *= start;
    s.c[0] = start;
    return s;
  }
  [[nodiscard]] Series absolute(const Series& a) const { return a.c[0] < 0 ? negate(a) : a; }
  [[nodiscard]] Series clip(const Series& a) const { return a.c[0] < 0 ? constant(0) : a; }
  [[nodiscard]] Series select(const Series& condition, const Series& a, const Series& b) const {
    // While a surface is slid on, the share of its sides changes with time.
    for (int k = 1; k <= order; ++k) {
      if (condition.c[k] != 0) return add(b, multiply(condition, subtract(a, b)));
    }
    const double c = condition.c[0];
    return c == 1 ? a : c == 0 ? b : add(scale(c, a), scale(1 - c, b));
  }
  [[nodiscard]] Series side_to_sign(const Series& s) const {
    Series sign = scale(2, s);
    sign.c[0] -= 1;
    return sign;
  }
  [[nodiscard]] Series own_side(const Series& s, double at_zero) const {
    return is_constant(s) && s.c[0] == kOnSurface ? constant(at_zero) : s;
  }
  [[nodiscard]] Series side(const Series& s, double at_zero) const {
    return constant(side_value(s.c[0], at_zero));
  }
  [[nodiscard]] Series sign(const Series& s) const { return constant(sign_value(s.c[0])); }
  [[nodiscard]] Series floor(const Series& x) const { return constant(std::floor(x.c[0])); }
  [[nodiscard]] Series level(std::span<const double> levels, const Series& x) const {
    return constant(level_of(levels, x.c[0]));
  }
  [[nodiscard]] Series lookup(std::span<const double> list, const Series& side) const {
    return constant(lookup_value(list, side.c[0]));
  }
  [[nodiscard]] Series turn(const Series& side, const Series& angle) const {
    Series s = angle;
    s.c[0] = turn_value(side.c[0], angle.c[0]);
    return s;
  }
  [[nodiscard]] Series flat(const Series& u, std::uint32_t n) const {
    if (flat_value(u.c[0], n) == 0) return constant(0);
    const Series r = reciprocal(u);
    const Series e = exponential(negate(r));
    return n == 0 ? e : multiply(e, power_whole(r, n));
  }
  [[nodiscard]] Series outside(const OutsideCall& call, Series* block) const {
    evaluate_series(call, block, block + call.arguments, order);
    return *block;
  }
};

}  // namespace

void Program::evaluate_series(const Series* in, Series* out, Series* registers, int order) const {
  const SeriesAlgebra algebra{std::clamp(order, 0, kTaylorOrder)};
#include "expr/loop.inc"
}

}  // namespace judder::expr
