// Bytes as text in the fewest letters that a page can hold: five for four bytes, where base64 has six for the same (Ascii85, with other letters).
//
// Four bytes are a number, the first byte first, and its digits to the base 85, the largest first, are the letters from '#' on without '&', '<', '>' and the
// backslash, so that nothing in the text means anything to HTML. The last group is filled with zeros; how many bytes there are stands before the first letter,
// in decimal digits, with a blank behind it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace judder::report {

inline std::string base85(std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "#$%'()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{";
  static_assert(kDigits.size() == 85);
  std::string out = std::to_string(bytes.size()) + ' ';
  out.reserve(out.size() + (bytes.size() + 3) / 4 * 5);
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    std::uint32_t four = 0;
    for (std::size_t k = i; k < i + 4; ++k)
      four = four << 8U | (k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0U);
    char letters[5];
    for (int k = 4; k >= 0; --k) {
      letters[k] = kDigits[four % 85];
      four /= 85;
    }
    out.append(letters, 5);
  }
  return out;
}

}  // namespace judder::report
