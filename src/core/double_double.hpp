// Arithmetic with 106 bits: a number is the unevaluated sum of two doubles, high + low, |low| ≤ ulp(high)/2.
//
// Used where a table is computed once and then serves a whole run, so that its entries are right to the last bit of a double, and inside
// the elementary functions, so that only their last rounding is seen. Products of numbers beyond 1e292 overflow in the splitting and give
// infinities or not a number. Everything but the root can be evaluated while compiling.
//
// T. J. Dekker, A floating-point technique for extending the available precision, Numer. Math. 18 (1971).
#pragma once

#include <cmath>

namespace judder {

struct DoubleDouble {
  double high = 0;
  double low = 0;
};

/// a + b exactly; |a| ≥ |b| or a = 0.
constexpr DoubleDouble quick_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

/// a + b exactly.
constexpr DoubleDouble two_sum(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

/// a · b exactly, without a fused operation: the baseline processor has none.
constexpr DoubleDouble two_product(double a, double b) {
  constexpr double splitter = 134217729.0;  // 2²⁷ + 1
  const double product = a * b;
  const double a_big = splitter * a;
  const double a_high = a_big - (a_big - a);
  const double a_low = a - a_high;
  const double b_big = splitter * b;
  const double b_high = b_big - (b_big - b);
  const double b_low = b - b_high;
  return {product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

constexpr DoubleDouble operator-(const DoubleDouble& a) { return {-a.high, -a.low}; }

constexpr DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
  DoubleDouble sum = two_sum(a.high, b.high);
  const DoubleDouble tail = two_sum(a.low, b.low);
  sum = quick_two_sum(sum.high, sum.low + tail.high);
  return quick_two_sum(sum.high, sum.low + tail.low);
}

constexpr DoubleDouble operator+(const DoubleDouble& a, double b) {
  const DoubleDouble sum = two_sum(a.high, b);
  return quick_two_sum(sum.high, sum.low + a.low);
}

constexpr DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble product = two_product(a.high, b.high);
  return quick_two_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

constexpr DoubleDouble operator*(const DoubleDouble& a, double b) {
  const DoubleDouble product = two_product(a.high, b);
  return quick_two_sum(product.high, product.low + a.low * b);
}

/// a/b for a double b.
constexpr DoubleDouble operator/(const DoubleDouble& a, double b) {
  const double first = a.high / b;
  const DoubleDouble back = two_product(first, b);
  const double rest = ((a.high - back.high) - back.low) + a.low;
  return quick_two_sum(first, rest / b);
}

constexpr DoubleDouble operator/(const DoubleDouble& a, const DoubleDouble& b) {
  const double first = a.high / b.high;
  const DoubleDouble rest = a + -(b * first);
  return quick_two_sum(first, rest.high / b.high);
}

/// √a, a ≥ 0.
inline DoubleDouble sqrt(const DoubleDouble& a) {
  if (a.high == 0) return {};
  const double first = std::sqrt(a.high);
  const DoubleDouble rest = a + -two_product(first, first);
  return quick_two_sum(first, rest.high / (2 * first));
}

inline constexpr DoubleDouble kPiExact{3.141592653589793, 1.2246467991473532e-16};
inline constexpr DoubleDouble kLn2Exact{0.6931471805599453, 2.3190468138462996e-17};

}  // namespace judder
