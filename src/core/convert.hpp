// Numbers and text where a caller wants to know more than core/number.hpp tells. All conversions of floating numbers in the library are in number.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

namespace judder {

/// `value` with so many digits behind the point.
[[nodiscard]] std::string fixed_text(double value, int decimals);

/// How std::from_chars reads the number at the begin of `text`: how many characters belong to it, and what was wrong. `value` stays as it is then.
struct NumberEnd {
  std::size_t length = 0;
  std::errc error{};
};
[[nodiscard]] NumberEnd read_number(std::string_view text, double& value);

/// The largest whole number up to which both a long and a double count.
inline constexpr long kMostCount = std::numeric_limits<long>::digits > 53
                                       ? static_cast<long>(std::int64_t{1} << 53)
                                       : std::numeric_limits<long>::max();

}  // namespace judder
