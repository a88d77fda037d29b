// Powers of two by their bits: the search for zeros asks for several in every window, and the library's calls cost more than the rest.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace judder::engines::numeric {

/// 2^p, as std::ldexp(1.0, p).
inline double power_of_two(int p) {
  if (p < -1022 || p > 1023) return std::ldexp(1.0, p);
  return std::bit_cast<double>(static_cast<std::uint64_t>(p + 1023) << 52U);
}

/// ⌊log₂|x|⌋, as std::ilogb(x).
inline int exponent_of(double x) {
  const auto bits = static_cast<int>((std::bit_cast<std::uint64_t>(x) >> 52U) & 2047U);
  return bits == 0 || bits == 2047 ? std::ilogb(x) : bits - 1023;
}

}  // namespace judder::engines::numeric
