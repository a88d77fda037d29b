// The elementary functions by arithmetic that is the same on every machine.
//
// The C library chooses its code by the processor (with fused multiplication or without), so that the same program gives other last
// bits on another machine; and a library for another kind of machine is another one altogether. Here only +, −, ·, / and √ are used, in a
// written order and without contraction. Nothing of this is faster than the C library, but for sin, cos, exp and log in their usual ranges
// (kernels.hpp); what matters in a step goes there.
//
// Errors: sin, cos, asin, acos, exp, log below one unit in the last place, tan and hypot below 1.25; all others below 0.55 units, because they are computed with
// 60 bits and more (double_double.hpp) and rounded once. Subnormal results are rounded twice. Signs of zero, infinities and what is not a number
// follow the C standard (annex F); no flags, no errno.
//
// How: an argument is brought near zero by a table (2^(j/64), ln of 128 places, atan of 65), what is left by a short Taylor polynomial. The
// tables are computed by the compiler with 106 bits from the series, so that there is nothing to mistype.
//
//     e^x = 2^e 2^(j/64) (1 + q),  q = r + r²/2 + …,  x = (64 e + j) ln2/64 + r,  |r| ≤ ln2/128
//     ln x = k ln2 − ln c + ln(1 + r),  r = m c − 1,  x = 2^k m,  c ≈ 1/m of 10 bits, |r| < 2^-6.9
//     atan t = atan(i/64) + atan(u),  u = (t − i/64)/(1 + t i/64),  |u| ≤ 1/128
//
// P. T. P. Tang, Table-driven implementation of the exponential function, ACM TOMS 15 (1989); the reduction of large angles: M. H. Payne,
// R. N. Hanek, Radian reduction for trigonometric functions, SIGNUM Newsletter 18 (1983).
#pragma once

namespace judder::elementary {

[[nodiscard]] double sin(double x);
[[nodiscard]] double cos(double x);
[[nodiscard]] double tan(double x);
[[nodiscard]] double asin(double x);
[[nodiscard]] double acos(double x);
[[nodiscard]] double atan(double x);
[[nodiscard]] double atan2(double y, double x);
[[nodiscard]] double sinh(double x);
[[nodiscard]] double cosh(double x);
[[nodiscard]] double tanh(double x);
[[nodiscard]] double asinh(double x);
[[nodiscard]] double acosh(double x);
[[nodiscard]] double atanh(double x);
[[nodiscard]] double exp(double x);
[[nodiscard]] double expm1(double x);  ///< e^x − 1
[[nodiscard]] double log(double x);
[[nodiscard]] double log1p(double x);  ///< ln(1 + x)
[[nodiscard]] double pow(double x, double y);
[[nodiscard]] double cbrt(double x);
[[nodiscard]] double hypot(double a, double b);

/// x^p of a positive x, off by as many units in the last place as p ln x has: for the control of steps, where pow would be waste.
[[nodiscard]] double rough_pow(double x, double p);

/// x^n by products.
[[nodiscard]] constexpr double whole_pow(double x, int n) {
  double out = 1, square = n < 0 ? 1 / x : x;
  for (int left = n < 0 ? -n : n; left != 0; left >>= 1, square *= square) {
    if ((left & 1) != 0) out *= square;
  }
  return out;
}

}  // namespace judder::elementary
