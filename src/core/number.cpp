#include "judder/core/number.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace judder {

void append_number(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "nan";
    return;
  }
  std::array<char, 32> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  out.append(buffer.data(), result.ptr);
}

std::string to_text(double value) {
  std::string out;
  append_number(out, value);
  return out;
}

std::string to_text(double value, int digits) {
  if (!std::isfinite(value)) return to_text(value);
  if (value == 0) value = 0;  // people read no sign of zero
  std::array<char, 64> buffer;
  const auto result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, digits);
  return {buffer.data(), result.ptr};
}

namespace {

/// Not zero, and of less digits than a number has.
bool below_normal(double value) { return value != 0 && std::abs(value) < std::numeric_limits<double>::min(); }

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  if (below_normal(value)) return std::nullopt;
  return value;
}

const char* number_problem(std::string_view text) {
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr const char* kTooSmall = "is too small for a number (write 0)";
  if (result.ec == std::errc{} && result.ptr == text.data() + text.size() && below_normal(value))
    return kTooSmall;
  if (result.ec == std::errc::result_out_of_range && result.ptr == text.data() + text.size()) {
    // The same digits say which of the two it is: with an exponent below zero no finite text is too large unless its digits are many.
    const std::size_t exponent = text.find_first_of("eE");
    std::string_view digits = text.substr(0, exponent);
    const bool negative = exponent != std::string_view::npos && text.substr(exponent + 1, 1) == "-";
    const bool fraction = digits.find_first_of("123456789") > digits.find('.');
    return negative || (exponent == std::string_view::npos && fraction) ? kTooSmall
                                                                        : "is too large for a number";
  }
  return "is not a finite number";
}

}  // namespace judder
