// Numbers, lists and ranges as they are written on the command line.
//
// Wherever a number is taken an expression of numbers, pi and functions may stand: 2*pi/3, sqrt(2), 0:2*pi:25, 1e-6,1e-6/2.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace judder::io {

/// The parts between `separator`, empty ones too: "a,,b" has three.
[[nodiscard]] std::vector<std::string> split(const std::string& text, char separator);

/// The parts between commas that stand in no bracket: "min(1, 2),3" has two. Spaces around them are left out.
[[nodiscard]] std::vector<std::string> split_list(const std::string& text);

/// A finite number, or an expression of numbers and pi. Otherwise nothing, and why, if `why` is given.
[[nodiscard]] std::optional<double> read_value(const std::string& text, std::string* why = nullptr);

struct Range {
  double from = 0, to = 0;
  std::optional<int> count{};  ///< values, both ends included; ≥ 2
};

/// Why parse_range has nothing for the text: "'1.5' is no count: a whole number from 2 to 1000000".
[[nodiscard]] std::string range_problem(const std::string& text, int most, bool counted);

/// "a:b" or "a:b:n" with a whole n from 2 to `most`, or nothing.
[[nodiscard]] std::optional<Range> parse_range(const std::string& text, int most);

}  // namespace judder::io
