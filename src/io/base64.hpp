// Numbers as text for pages and run.json: little-endian bytes as base64 (RFC 4648).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace judder::io {

inline constexpr std::string_view kBase64Digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

inline std::string base64(std::span<const std::uint8_t> bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto at = [&bytes](std::size_t k) { return k < bytes.size() ? std::uint32_t{bytes[k]} : 0U; };
    const std::uint32_t three = at(i) << 16U | at(i + 1) << 8U | at(i + 2);
    out += kBase64Digits[three >> 18U & 63U];
    out += kBase64Digits[three >> 12U & 63U];
    out += i + 1 < bytes.size() ? kBase64Digits[three >> 6U & 63U] : '=';
    out += i + 2 < bytes.size() ? kBase64Digits[three & 63U] : '=';
  }
  return out;
}

/// Number is double or float.
template <class Number, class Bits>
std::string base64_numbers(std::span<const Number> numbers) {
  static_assert(sizeof(Number) == sizeof(Bits));
  std::vector<std::uint8_t> bytes;
  bytes.reserve(numbers.size() * sizeof(Bits));
  for (const Number number : numbers) {
    const Bits bits = std::bit_cast<Bits>(number);
    for (std::size_t k = 0; k < sizeof(Bits); ++k)
      bytes.push_back(static_cast<std::uint8_t>(bits >> (8 * k)));
  }
  return base64(bytes);
}
inline std::string base64_of(std::span<const double> numbers) {
  return base64_numbers<double, std::uint64_t>(numbers);
}
inline std::string base64_of(std::span<const float> numbers) {
  return base64_numbers<float, std::uint32_t>(numbers);
}

/// The numbers of a text that base64_of has written; nothing: it is none.
inline std::optional<std::vector<double>> doubles_of_base64(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(text.size() / 4 * 3);
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t pads = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const bool pad = i + k >= text.size() - pads;
      const std::size_t digit = pad ? 0 : kBase64Digits.find(text[i + k]);
      if (digit == std::string_view::npos) return std::nullopt;
      three = three << 6U | static_cast<std::uint32_t>(digit);
    }
    for (unsigned k = 0; k < 3; ++k) bytes.push_back(static_cast<std::uint8_t>(three >> (16U - 8U * k)));
  }
  bytes.resize(bytes.size() - pads);
  if (bytes.size() % sizeof(double) != 0) return std::nullopt;
  std::vector<double> out(bytes.size() / sizeof(double));
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint64_t bits = 0;
    for (std::size_t k = 0; k < sizeof(double); ++k)
      bits |= std::uint64_t{bytes[sizeof(double) * i + k]} << (8 * k);
    out[i] = std::bit_cast<double>(bits);
  }
  return out;
}

}  // namespace judder::io
