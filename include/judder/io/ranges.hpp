// Lists and ranges as they are written on the command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace judder::io {

/// The parts between `separator`, empty ones too: "a,,b" has three.
[[nodiscard]] std::vector<std::string> split(const std::string& text, char separator);

struct Range {
  double from = 0, to = 0;
  std::optional<int> count{};  ///< values, both ends included; ≥ 2
};

/// Why parse_range has nothing for the text: "'1.5' is no count: a whole number from 2 to 1000000".
[[nodiscard]] std::string range_problem(const std::string& text, int most, bool counted);

/// "a:b" or "a:b:n" with a whole n from 2 to `most`, or nothing.
[[nodiscard]] std::optional<Range> parse_range(const std::string& text, int most);

}  // namespace judder::io
