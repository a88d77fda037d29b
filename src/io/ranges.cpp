#include "judder/io/ranges.hpp"

#include <cmath>

#include "judder/core/number.hpp"

namespace judder::io {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> out{""};
  for (const char c : text) {
    if (c == separator)
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

std::string range_problem(const std::string& text, int most, bool counted) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() > 3 || parts.size() < (counted ? 3U : 2U))
    return "'" + text + "' is no range, which is FROM:TO" + (counted ? ":COUNT" : " or FROM:TO:COUNT");
  for (std::size_t i = 0; i < 2; ++i) {
    if (!parse_number(parts[i])) return "'" + parts[i] + "' " + number_problem(parts[i]);
  }
  return "'" + parts.back() + "' is no count, which is a whole number from 2 to " + std::to_string(most);
}

std::optional<Range> parse_range(const std::string& text, int most) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  const auto from = parse_number(parts[0]);
  const auto to = parse_number(parts[1]);
  if (!from || !to) return std::nullopt;
  Range range{*from, *to};
  if (parts.size() == 3) {
    const auto count = parse_number(parts[2]);
    if (!count || !(*count >= 2 && *count <= most) || *count != std::floor(*count)) return std::nullopt;
    range.count = static_cast<int>(*count);
  }
  return range;
}

}  // namespace judder::io
