#include "judder/core/printable.hpp"

#include <cstdint>
#include <vector>

namespace judder {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t length = 0;  ///< bytes; 0: not UTF-8
};

Character character_at(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  if (length == 0 || first > 0xF4 || text.size() < length) return {first, 0};
  std::uint32_t code = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {first, 0};
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return overlong || surrogate || code > 0x10FFFF ? Character{first, 0} : Character{code, length};
}

/// Controls, marks of direction, line ends, and what has no width: joiners, signs between the lines, tags.
bool is_mark(std::uint32_t code) {
  return (code >= 0x80 && code < 0xA0) || code == 0xAD || code == 0x61C || code == 0x180E ||
         (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF || (code >= 0xFFF9 && code <= 0xFFFB) ||
         (code >= 0xE0000 && code <= 0xE007F);
}

std::string written_out(const Character& c) {
  constexpr std::string_view digits = "0123456789abcdef";
  const bool wide = c.length > 1 || c.code == 0x7F;  // \u… may stand in JSON as well
  const auto unit = [&](std::uint32_t code) {
    std::string out = wide ? "\\u" : "\\x";
    for (int shift = wide ? 12 : 4; shift >= 0; shift -= 4) out += digits[(code >> shift) & 0xFU];
    return out;
  };
  if (c.code < 0x10000) return unit(c.code);
  const std::uint32_t above = c.code - 0x10000;  // as JSON writes it: two halves
  return unit(0xD800 + (above >> 10U)) + unit(0xDC00 + (above & 0x3FFU));
}

std::string shown(std::string_view text, bool lines, std::vector<std::size_t>* starts) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = character_at(text);
    const bool blank = lines && (c.code == '\n' || c.code == '\t');
    const bool control = c.length == 1 && (c.code < 0x20 || c.code == 0x7F) && !blank;
    if (starts != nullptr) starts->push_back(out.size());
    if (c.length == 0 || control || is_mark(c.code))
      out += written_out(c);
    else
      out += text.substr(0, c.length);
    text.remove_prefix(c.length == 0 ? 1 : c.length);
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return shown(text, true, nullptr); }

std::string printable_name(std::string_view name, std::size_t longest) {
  std::vector<std::size_t> starts;
  std::string out = shown(name, false, &starts);
  if (starts.size() <= longest) return out;
  const std::size_t head = (longest - 1) * 2 / 3, tail = longest - 1 - head;
  return out.substr(0, starts[head]) + "…" + out.substr(starts[starts.size() - tail]);
}

}  // namespace judder
