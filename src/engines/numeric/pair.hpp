// Two numbers side by side, as GCC and Clang offer them on every machine; each lane rounds as a plain double does.
//
// Compilers turn short loops over sums into shuffles rather than into lanes, so the few kernels that count are written with lanes.
#pragma once

#include <cstdint>
#include <cstring>

namespace judder::engines::numeric {

using Pair = double __attribute__((vector_size(16)));

inline Pair load_pair(const double* from) {
  Pair out;
  std::memcpy(&out, from, sizeof out);
  return out;
}

inline void store_pair(Pair value, double* to) { std::memcpy(to, &value, sizeof value); }

inline Pair both(double value) { return Pair{value, value}; }

inline Pair magnitude(Pair value) {
  using Bits = std::int64_t __attribute__((vector_size(16)));
  return reinterpret_cast<Pair>(reinterpret_cast<Bits>(value) & Bits{INT64_MAX, INT64_MAX});
}

}  // namespace judder::engines::numeric
