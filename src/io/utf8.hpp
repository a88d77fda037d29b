// Is a text UTF-8? (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.)
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace judder::io {

/// The first byte that is not part of a well-formed character, or nothing.
[[nodiscard]] inline std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  const auto byte = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  std::size_t i = 0;
  while (i < text.size()) {
    const unsigned lead = byte(i);
    const unsigned next = byte(i + 1);
    std::size_t length = 0;
    if (lead < 0x80)
      length = 1;
    else if (lead >= 0xC2 && lead <= 0xDF)
      length = 2;
    else if (lead >= 0xE0 && lead <= 0xEF)
      length = 3;
    else if (lead >= 0xF0 && lead <= 0xF4)
      length = 4;
    if (length == 0) return i;
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xC0U) != 0x80U) return i;
    }
    const bool overlong = (lead == 0xE0 && next < 0xA0) || (lead == 0xF0 && next < 0x90);
    const bool outside = (lead == 0xED && next > 0x9F) || (lead == 0xF4 && next > 0x8F);
    if (overlong || outside) return i;
    i += length;
  }
  return std::nullopt;
}

}  // namespace judder::io
