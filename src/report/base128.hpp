// Bytes as text in the fewest letters that a page can hold: eight for seven bytes, where base64 has nine and a third.
//
// The bits of the bytes, the highest first, are numbers of seven bits, and most of them are the letters with these codes. Fifteen are none that a page can hold
// as they are: what means something to HTML, ends of lines, and what programs that move texts may take for the end of a file. Such a number and the one behind
// it are together one letter of two bytes in UTF-8, 0x80 + 128·(place in the list) + next: no more than they would have taken. How many bytes there are stands in
// front, in decimal digits, with a blank behind it; the last number is filled up with zeros.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace judder::report {

/// In boot.ts, too.
inline constexpr std::array<unsigned, 14> kNoLetters{0,  8,   10,  11,  12,  13,  26,
                                                     27, 127, '"', '&', '<', '>', '\\'};

inline std::string base128(std::string_view bytes) {
  std::string out = std::to_string(bytes.size()) + ' ';
  out.reserve(out.size() + bytes.size() / 7 * 8 + 16);
  const std::size_t count = (8 * bytes.size() + 6) / 7;
  const auto number = [&bytes](std::size_t i) {
    const std::size_t bit = 7 * i, at = bit / 8;
    const auto byte = [&bytes](std::size_t k) {
      return k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0U;
    };
    return (byte(at) << 8U | byte(at + 1)) >> (9 - bit % 8) & 127U;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned here = number(i);
    std::size_t place = 0;
    while (place < kNoLetters.size() && kNoLetters[place] != here) ++place;
    if (place == kNoLetters.size()) {
      out += static_cast<char>(here);
      continue;
    }
    const auto letter = static_cast<unsigned>(0x80 + 128 * place + (++i < count ? number(i) : 0U));
    out += static_cast<char>(0xC0U | letter >> 6U);
    out += static_cast<char>(0x80U | (letter & 63U));
  }
  return out;
}

}  // namespace judder::report
