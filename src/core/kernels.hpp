// sin, cos, exp, log and hypot by arithmetic that is the same on every machine.
//
// Written once for one number (V = double, W = 64-bit integer) and for a vector of them (GCC vector extension). Only +, −, ·, / and √ are
// used, in a written order and without contraction, so a number has the same bits alone, in a lane of any width, at any optimisation
// level and with any instruction set; the C library, which chooses its code by the processor, does not promise that. Errors stay below one
// unit in the last place inside the ranges named by `…_range`; outside, elementary.hpp goes on.
//
// Polynomials are best approximations found by exchange of extrema with 60 digits, in the sense of the relative error of the whole:
//
//     (sin r − r)/r³ and (cos r − 1 + z/2)/z², z = r², |r| ≤ π/4        3e-18 and 5e-20
//     (e^r − 1 − r − r²/2)/r³, |r| ≤ ½ ln 2                             6e-20
//     (artanh(s)/s − 1)/z, z = s², |s| ≤ 3 − 2√2                         2e-18
//
// They are summed in pairs: the parts of a sum run side by side.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace judder::kernel {

#define JUDDER_KERNEL [[gnu::always_inline]] inline

/// The same bits as another type.
template <class To, class From>
JUDDER_KERNEL To as(From x) {
  if constexpr (std::is_arithmetic_v<From>) {
    return std::bit_cast<To>(x);
  } else {
    return (To)x;
  }
}

// Masks (all bits of a lane, or none) are made by integer arithmetic: compilers take comparisons of long vectors apart.

template <class V, class W>
JUDDER_KERNEL V choose(W mask, V a, V b) {
  return as<V>((as<W>(a) & mask) | (as<W>(b) & ~mask));
}

/// Whether |x| < bound; not for NaN.
template <class V, class W>
JUDDER_KERNEL W magnitude_below(V x, std::int64_t bits_of_bound) {
  return ((as<W>(x) & 0x7fffffffffffffffLL) - bits_of_bound) >> 63;
}

/// Adding and subtracting 1.5·2⁵² rounds to the nearest whole number, which also stands in the low bits of the sum.
constexpr double kRound = 6755399441055744.0;

template <class V, class W>
JUDDER_KERNEL W trigonometric_range(V x) {
  return magnitude_below<V, W>(x, 0x40f86a0000000000LL);  // 1e5
}

/// x = n π/2 + r + rest, |r| ≤ π/4: Cody and Waite's reduction with π/2 in three parts, the first two of 33 bits.
template <class V>
struct Angle {
  V turns, r, rest, z;  ///< n in the low bits of `turns`; z = r²
};
template <class V>
JUDDER_KERNEL Angle<V> reduce(V x) {
  const V shifted = x * 0.63661977236758138 + kRound;
  const V n = shifted - kRound;
  const V coarse = x - n * 1.5707963267341256;
  const V part = n * 6.0771005063039660e-11;
  const V r = coarse - part;
  return {shifted, r, ((coarse - r) - part) - n * 2.0222662487959506e-21, r * r};
}

// The rest enters by the first term of its own series: sin(r + ε) = sin r + ε cos r, and 1 − z/2 is cosine enough.

/// sin(r + rest) − r.
template <class V>
JUDDER_KERNEL V sine_beside(const Angle<V>& a) {
  const V z = a.z, y = z * z;
  const V low = (z * 8.333333333322413e-03 + -1.6666666666666632e-01) +
                y * (z * 2.755731369174883e-06 + -1.984126982980723e-04);
  const V s = low + (y * y) * (z * 1.5896794445879583e-10 + -2.5050758092068576e-08);
  return (a.r * z) * s + a.rest * (1.0 - z * 0.5);
}
template <class V>
JUDDER_KERNEL V sine_of(const Angle<V>& a) {
  return a.r + sine_beside(a);
}
/// cos(r + rest) − w, w = 1 − z/2 as it is rounded.
template <class V>
JUDDER_KERNEL V cosine_beside(const Angle<V>& a, V w) {
  const V z = a.z, y = z * z;
  const V low = (z * -1.3888888888874125e-03 + 4.16666666666666e-02) +
                y * (z * -2.7557314352311716e-07 + 2.4801587289482103e-05);
  const V c = low + (y * y) * (z * -1.1359647678961737e-11 + 2.0875723270634347e-09);
  return y * c + (((1.0 - w) - z * 0.5) - a.r * a.rest);
}
template <class V>
JUDDER_KERNEL V cosine_of(const Angle<V>& a) {
  const V w = 1.0 - a.z * 0.5;
  return w + cosine_beside(a, w);
}

/// sin(x + quarter π/2), quarter = 0 or 1.
template <class V, class W>
JUDDER_KERNEL V sine(V x, std::int64_t quarter) {
  const Angle<V> a = reduce(x);
  const W k = as<W>(a.turns) + quarter;
  V value;
  if constexpr (std::is_arithmetic_v<V>) {
    value = (k & 1) != 0 ? cosine_of(a) : sine_of(a);
  } else {
    value = choose<V, W>(-(k & 1), cosine_of(a), sine_of(a));
  }
  value = as<V>(as<W>(value) ^ ((k & 2) << 62));
  // sin x = x for small x: it is, and −0 stays −0.
  return quarter == 0 ? choose<V, W>(magnitude_below<V, W>(x, 0x3e40000000000000LL), x, value) : value;
}

template <class V, class W>
JUDDER_KERNEL W exponential_range(V x) {
  return magnitude_below<V, W>(x, 0x4085e00000000000LL);  // 700
}

/// 2ⁿ e^r with x = n ln 2 + r, |r| ≤ ½ ln 2.
template <class V, class W>
JUDDER_KERNEL V exponential(V x) {
  const V shifted = x * 1.4426950408889634 + kRound;
  const V n = shifted - kRound;
  const V high = x - n * 6.93147180369123816490e-01;
  const V low = n * 1.90821492927058770002e-10;
  const V r = high - low;
  const V rest = (high - r) - low;
  const V y = r * r, q = y * y;
  const V first = (r * 0.041666666666666415 + 0.1666666666666668) +
                  y * (r * 0.0013888888889033123 + 0.008333333333318543);
  const V second = (r * 2.4801587025823864e-05 + 0.00019841269893305208) +
                   y * (r * 2.755752596709965e-07 + 2.7557237490339366e-06);
  const V third = r * 2.083853285958671e-09 + 2.51112339722453e-08;
  const V p = (first + q * second) + (q * q) * third;
  const V e = (r + ((y * 0.5 + rest) + (r * y) * p)) + 1.0;
  return e * as<V>((as<W>(shifted) + 1023) << 52);
}

template <class V, class W>
JUDDER_KERNEL W logarithm_range(V x) {
  // Normal, positive, finite: between the bits of the least normal number and of infinity.
  const W bits = as<W>(x);
  const W size = bits & 0x7fffffffffffffffLL;
  return ~((bits | (size - 0x0010000000000000LL) | (0x7fefffffffffffffLL - size)) >> 63);
}

/// k ln 2 + 2 artanh(s), x = 2ᵏ m, √½ < m ≤ √2, s = (m − 1)/(m + 1).
template <class V, class W>
JUDDER_KERNEL V logarithm(V x) {
  const W bits = as<W>(x);
  const W mantissa = (bits & 0x000fffffffffffffLL) | 0x3ff0000000000000LL;
  const W large = (0x3ff6a09e667f3bcdLL - mantissa) >> 63;  // beyond √2; a true lane is −1
  const V m0 = as<V>(mantissa);
  const V m = choose<V, W>(large, m0 * 0.5, m0);
  // The whole number as a double, by the same trick as in rounding.
  const V k = as<V>((((bits >> 52) - 1023) - large) + 0x4338000000000000LL) - kRound;
  const V f = m - 1.0;
  const V s = f / (f + 2.0);
  const V z = s * s, y = z * z;
  const V low =
      (z * 0.19999999999707346 + 0.3333333333333367) + y * (z * 0.11111099286675943 + 0.14285714371192554);
  const V high = (z * 0.07657025311676897 + 0.09091782160410976) + y * 0.07397974739966265;
  const V p = low + (y * y) * high;
  // 2 s = f − s f, which keeps the leading term exact.
  const V tail = s * ((z * p) * 2.0 - f) + k * 1.90821492927058770002e-10;
  return k * 6.93147180369123816490e-01 + (f + tail);
}

/// Whether a sum of two squares lost nothing to overflow or underflow: between 2⁻⁹⁰⁰ and 2¹⁰⁰⁰.
template <class V, class W>
JUDDER_KERNEL W squares_range(V sum) {
  const W bits = as<W>(sum);
  return ~(((bits - 0x07b0000000000000LL) | (0x7e70000000000000LL - bits)) >> 63);
}

#undef JUDDER_KERNEL

}  // namespace judder::kernel
