// Numbers as text, the same in every locale.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace judder {

/// The shortest decimal text that reads back as the same double; "nan", "inf", "-inf" otherwise.
[[nodiscard]] std::string to_text(double value);
void append_number(std::string& out, double value);

/// `value` with `digits` significant digits, for tables that people read.
[[nodiscard]] std::string to_text(double value, int digits);

/// The whole of `text` as a finite decimal number, or nothing. For what people write: what lies below the least normal number has lost digits, and is nothing.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

/// Why parse_number has nothing to say of a text, in words that go behind it: "is too large for a number", "is too small for a number (write 0)",
/// "is not a finite number".
[[nodiscard]] const char* number_problem(std::string_view text);

/// `value` cut to a whole number if it lies in [least, most], which a double must be able to hold; nothing otherwise, and for NaN.
[[nodiscard]] inline std::optional<long> whole_number(double value, long least, long most) {
  if (!(value >= static_cast<double>(least) && value <= static_cast<double>(most))) return std::nullopt;
  return static_cast<long>(value);
}

}  // namespace judder
