#include "judder/core/number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "core/convert.hpp"

namespace judder {
namespace {

#if defined(__cpp_lib_to_chars) && !defined(JUDDER_PRINTED_NUMBERS)

/// The digits that read back as the same number, as few as possible.
void append_shortest(std::string& out, double value) {
  std::array<char, 32> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  out.append(buffer.data(), result.ptr);
}

std::string general(double value, int digits) {
  std::array<char, 64> buffer;
  const auto result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, digits);
  return {buffer.data(), result.ptr};
}

std::string fixed(double value, int decimals) {
  std::array<char, 400> buffer;
  const auto result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, decimals);
  return {buffer.data(), result.ptr};
}

std::from_chars_result read(const char* begin, const char* end, double& value) {
  return std::from_chars(begin, end, value);
}

#else

// Standard libraries that have no conversions of floating numbers (that of emscripten). Their printf and strtod are exact there and know one locale
// only; slower, which does not matter where numbers travel as they are.

std::string printed(const char* format, int digits, double value) {
  std::array<char, 400> buffer;
  const int length = std::snprintf(buffer.data(), buffer.size(), format, digits, value);
  return {buffer.data(),
          static_cast<std::size_t>(std::clamp(length, 0, static_cast<int>(buffer.size()) - 1))};
}

void append_shortest(std::string& out, double value) {
  if (std::isinf(value)) {
    out += value < 0 ? "-inf" : "inf";
    return;
  }
  constexpr int kMostDigits = 17;
  int digits = 1;
  while (digits < kMostDigits && std::strtod(printed("%.*e", digits - 1, value).c_str(), nullptr) != value)
    ++digits;
  // Written out or with an exponent, whichever is shorter, as std::to_chars does it; written out if both are as long.
  const std::string scientific = printed("%.*e", digits - 1, value);
  const int exponent = std::atoi(scientific.c_str() + scientific.find('e') + 1);
  const std::string written = printed("%.*f", std::max(0, digits - 1 - exponent), value);
  out += written.size() <= scientific.size() ? written : scientific;
}

std::string general(double value, int digits) { return printed("%.*g", digits, value); }
std::string fixed(double value, int decimals) { return printed("%.*f", decimals, value); }

std::from_chars_result read(const char* begin, const char* end, double& value) {
  // strtod takes more than from_chars does (blanks, a plus, hexadecimal digits), and wants an end.
  const bool minus = begin != end && *begin == '-';
  const char* at = begin + (minus ? 1 : 0);
  const auto digit = [&] { return at != end && *at >= '0' && *at <= '9'; };
  const char* const first = at;
  while (digit()) ++at;
  auto count = at - first;
  if (at != end && *at == '.') {
    ++at;
    const char* const fraction = at;
    while (digit()) ++at;
    count += at - fraction;
  }
  const std::string_view word(first, static_cast<std::size_t>(end - first));
  if (count == 0) {
    const bool infinite = word.substr(0, 3) == "inf", none = word.substr(0, 3) == "nan";
    if (!infinite && !none) return {begin, std::errc::invalid_argument};
    value = infinite ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    if (minus) value = -value;
    return {first + 3, std::errc{}};
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    const char* const mark = at;
    ++at;
    if (at != end && (*at == '+' || *at == '-')) ++at;
    if (digit())
      while (digit()) ++at;
    else
      at = mark;
  }
  const std::string text(begin, at);
  const double found = std::strtod(text.c_str(), nullptr);
  const bool zero = std::string_view(text).substr(0, text.find_first_of("eE")).find_first_of("123456789") ==
                    std::string_view::npos;
  if (std::isinf(found) || (found == 0 && !zero)) return {at, std::errc::result_out_of_range};
  value = found;
  return {at, std::errc{}};
}

#endif

}  // namespace

NumberEnd read_number(std::string_view text, double& value) {
  const auto result = read(text.data(), text.data() + text.size(), value);
  return {static_cast<std::size_t>(result.ptr - text.data()), result.ec};
}

std::string fixed_text(double value, int decimals) { return fixed(value, decimals); }

void append_number(std::string& out, double value) {
  if (std::isnan(value))
    out += "nan";
  else
    append_shortest(out, value);
}

std::string to_text(double value) {
  std::string out;
  append_number(out, value);
  return out;
}

std::string to_text(double value, int digits) {
  if (!std::isfinite(value)) return to_text(value);
  if (value == 0) value = 0;  // people read no sign of zero
  return general(value, digits);
}

namespace {

/// Not zero, and of less digits than a number has.
bool below_normal(double value) { return value != 0 && std::abs(value) < std::numeric_limits<double>::min(); }

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const NumberEnd end = read_number(text, value);
  if (end.error != std::errc{} || end.length != text.size() || !std::isfinite(value)) return std::nullopt;
  if (below_normal(value)) return std::nullopt;
  return value;
}

const char* number_problem(std::string_view text) {
  double value = 0;
  const NumberEnd end = read_number(text, value);
  constexpr const char* kTooSmall = "is too small for a number (write 0)";
  if (end.error == std::errc{} && end.length == text.size() && below_normal(value)) return kTooSmall;
  if (end.error == std::errc::result_out_of_range && end.length == text.size()) {
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
