// sin, cos, exp and log of several numbers at once, by arithmetic that is the same on every machine.
//
// V is a vector of doubles (GCC vector extension), W the vector of 64-bit integers of the same size. Only +, −, ·, / and comparisons of
// single lanes are used, without contraction, so a lane has the same bits in any width and with any instruction set. Errors stay
// below 2 units in the last place inside the ranges named by `…_range`; outside, the caller asks the C library for the lane.
// Polynomials of sine and cosine are best approximations in z = r² of (sin r − r)/r³ and (cos r − 1 + z/2)/z² on |r| ≤ π/4, found by exchange
// of extrema with 60 digits; they leave 3e-18 of sin r and 5e-20 of cos r. The others are plain Taylor series about the middle of the
// reduced range, with remainders below 1e-17.
#pragma once

#include <cstdint>

namespace judder::expr::batch {

// Masks (all bits of a lane, or none) are made by integer arithmetic: compilers take comparisons of long vectors apart.

template <class V, class W>
[[gnu::always_inline]] inline V choose(W mask, V a, V b) {
  return (V)(((W)a & mask) | ((W)b & ~mask));
}

/// Whether |x| < bound; not for NaN.
template <class V, class W>
[[gnu::always_inline]] inline W magnitude_below(V x, std::int64_t bits_of_bound) {
  return (((W)x & 0x7fffffffffffffffLL) - bits_of_bound) >> 63;
}

/// Adding and subtracting 1.5·2⁵² rounds to the nearest whole number, which also stands in the low bits of the sum.
constexpr double kRound = 6755399441055744.0;

template <class V, class W>
[[gnu::always_inline]] inline W trigonometric_range(V x) {
  return magnitude_below<V, W>(x, 0x40f86a0000000000LL);  // 1e5
}

/// sin(x + quarter π/2) for |x| < 1e5: Cody and Waite's reduction with π/2 in three parts of 33 bits, and a rest.
template <class V, class W>
[[gnu::always_inline]] inline V sine(V x, std::int64_t quarter) {
  const V shifted = x * 0.63661977236758138 + kRound;
  const V n = shifted - kRound;
  const V coarse = x - n * 1.5707963267341256;
  const V part = n * 6.0771005063039660e-11;
  const V r0 = coarse - part;
  const V rest = ((coarse - r0) - part) - n * 2.0222662487959506e-21;
  const V r = r0 + rest;
  const V low = (r0 - r) + rest;
  const V z = r * r;
  // Even and odd powers of z apart, so that the two halves of each polynomial run side by side.
  const V y = z * z;
  const V even = (y * -2.5050758092068576e-08 + -1.984126982980723e-04) * y + -1.6666666666666632e-01;
  const V odd = (y * 1.5896794445879583e-10 + 2.755731369174883e-06) * y + 8.333333333322413e-03;
  const V s = even + z * odd;
  const V sin_r = r + (r * (z * s) + low);
  const V even_c = (y * 2.0875723270634347e-09 + 2.4801587289482103e-05) * y + 4.16666666666666e-02;
  const V odd_c = (y * -1.1359647678961737e-11 + -2.7557314352311716e-07) * y + -1.3888888888874125e-03;
  const V c = even_c + z * odd_c;
  const V half = z * 0.5;
  const V one = half * 0.0 + 1.0;
  const V w = one - half;
  const V cos_r = w + (((one - w) - half) + (z * (z * c) - r * low));
  const W k = (W)shifted + quarter;
  const V value = choose<V, W>(-(k & 1), cos_r, sin_r);
  return (V)((W)value ^ ((k & 2) << 62));
}

template <class V, class W>
[[gnu::always_inline]] inline W exponential_range(V x) {
  return magnitude_below<V, W>(x, 0x4085e00000000000LL);  // 700
}

/// 2ⁿ e^r with x = n ln 2 + r, |r| ≤ ln 2 / 2.
template <class V, class W>
[[gnu::always_inline]] inline V exponential(V x) {
  const V shifted = x * 1.4426950408889634 + kRound;
  const V n = shifted - kRound;
  const V high = x - n * 6.93147180369123816490e-01;
  const V low = n * 1.90821492927058770002e-10;
  const V r = high - low;
  const V rest = (high - r) - low;
  V p = r * (1.0 / 6227020800.0) + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  const V e = (r + (r * r * p + rest)) + 1.0;
  const W scale = ((W)shifted + 1023) << 52;
  return e * (V)scale;
}

template <class V, class W>
[[gnu::always_inline]] inline W logarithm_range(V x) {
  // Normal, positive, finite: between the bits of the least normal number and of infinity.
  const W bits = (W)x;
  const W size = bits & 0x7fffffffffffffffLL;
  return ~((bits | (size - 0x0010000000000000LL) | (0x7fefffffffffffffLL - size)) >> 63);
}

/// k ln 2 + 2 artanh(s), x = 2ᵏ m, √½ < m ≤ √2, s = (m − 1)/(m + 1).
template <class V, class W>
[[gnu::always_inline]] inline V logarithm(V x) {
  const W bits = (W)x;
  W exponent = (bits >> 52) - 1023;
  const W mantissa = (bits & 0x000fffffffffffffLL) | 0x3ff0000000000000LL;
  const V m0 = (V)mantissa;
  const W large = (0x3ff6a09e667f3bcdLL - mantissa) >> 63;  // beyond √2
  const V m = choose<V, W>(large, m0 * 0.5, m0);
  exponent = exponent - large;  // a true lane is −1
  // The whole number as a double, by the same trick as in rounding.
  const V k = (V)(exponent + 0x4338000000000000LL) - kRound;
  const V f = m - 1.0;
  const V s = f / (f + 2.0);
  const V z = s * s;
  V p = z * (1.0 / 23.0) + 1.0 / 21.0;
  p = p * z + 1.0 / 19.0;
  p = p * z + 1.0 / 17.0;
  p = p * z + 1.0 / 15.0;
  p = p * z + 1.0 / 13.0;
  p = p * z + 1.0 / 11.0;
  p = p * z + 1.0 / 9.0;
  p = p * z + 1.0 / 7.0;
  p = p * z + 1.0 / 5.0;
  p = p * z + 1.0 / 3.0;
  // 2 s = f − s f, which keeps the leading term exact.
  const V tail = s * (z * p * 2.0 - f) + k * 1.90821492927058770002e-10;
  return k * 6.93147180369123816490e-01 + (f + tail);
}

}  // namespace judder::expr::batch
