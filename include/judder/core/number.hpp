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

/// The whole of `text` as a finite decimal number, or nothing.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

}  // namespace judder
