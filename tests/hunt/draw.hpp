// Random models from the whole language. Case (seed, index) is always the same model.
//
// Numbers are round and many start values are zero: the starts of real models are special. Everything drawn is well posed as far as that can be
// seen beforehand: gaps are continuous and not negative at the start, constraints hold there, nothing grows without bound.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "draft.hpp"

namespace judder::hunt {

/// Random numbers that are the same with every compiler and library (SplitMix64).
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t index) : state_(seed * 0x9E3779B97F4A7C15ULL + index) {
    for (int i = 0; i < 4; ++i) next();
  }
  std::uint64_t next();
  double unit() { return static_cast<double>(next() >> 11U) * 0x1p-53; }
  bool chance(double p) { return unit() < p; }
  int whole(int low, int high) {
    return low + static_cast<int>(next() % static_cast<std::uint64_t>(high - low + 1));
  }
  template <class T>
  T pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(whole(0, static_cast<int>(from.size()) - 1))];
  }

 private:
  std::uint64_t state_;
};

/// Every feature that can be drawn, for the table at the end.
[[nodiscard]] const std::vector<std::string>& all_features();

[[nodiscard]] Draft draw(std::uint64_t seed, std::uint64_t index);

}  // namespace judder::hunt
