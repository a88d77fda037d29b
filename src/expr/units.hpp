// Words that beginners write behind a number, for hints only: the language has no units.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace judder::expr {

inline constexpr std::string_view kNoUnits =
    "numbers stand without units: 2, not 2 N or 2*N; a factor is written with *: 2*x, not 2 x";

[[nodiscard]] inline bool is_unit(std::string_view word) {
  constexpr std::array<std::string_view, 38> kUnits = {
      "m",  "mm", "cm",  "km",  "kg",  "g",   "mg",  "t",   "s",   "ms",  "us", "min", "h",
      "N",  "kN", "mN",  "MN",  "Nm",  "Pa",  "kPa", "MPa", "GPa", "bar", "J",  "kJ",  "W",
      "kW", "Hz", "kHz", "rad", "deg", "rpm", "K",   "A",   "V",   "lb",  "ft", "inch"};
  return std::find(kUnits.begin(), kUnits.end(), word) != kUnits.end();
}

}  // namespace judder::expr
