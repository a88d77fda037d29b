// Numbers for a page: little-endian bytes as base64 (RFC 4648).
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace judder::report {

inline std::string base64(std::span<const std::uint8_t> bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto at = [&bytes](std::size_t k) { return k < bytes.size() ? std::uint32_t{bytes[k]} : 0U; };
    const std::uint32_t three = at(i) << 16U | at(i + 1) << 8U | at(i + 2);
    out += kDigits[three >> 18U & 63U];
    out += kDigits[three >> 12U & 63U];
    out += i + 1 < bytes.size() ? kDigits[three >> 6U & 63U] : '=';
    out += i + 2 < bytes.size() ? kDigits[three & 63U] : '=';
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

}  // namespace judder::report
