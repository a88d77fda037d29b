#include "judder/core/printable.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
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

struct Range {
  std::uint32_t first, last;
};

/// What is not seen, or changes how the rest is seen. First the property Default_Ignorable_Code_Point of Unicode 14 (DerivedCoreProperties.txt of
/// the Unicode Character Database; what a display leaves out where it does not know it): soft hyphen, joiners, fillers, marks of direction, variation
/// selectors, tags. Then what is not in it: controls, ends of lines and paragraphs, annotations, noncharacters, and the Braille pattern without dots.
constexpr Range kUnseen[] = {{0xAD, 0xAD},
                             {0x34F, 0x34F},
                             {0x61C, 0x61C},
                             {0x115F, 0x1160},
                             {0x17B4, 0x17B5},
                             {0x180B, 0x180F},
                             {0x200B, 0x200F},
                             {0x202A, 0x202E},
                             {0x2060, 0x206F},
                             {0x3164, 0x3164},
                             {0xFE00, 0xFE0F},
                             {0xFEFF, 0xFEFF},
                             {0xFFA0, 0xFFA0},
                             {0xFFF0, 0xFFF8},
                             {0x1BCA0, 0x1BCA3},
                             {0x1D173, 0x1D17A},
                             {0xE0000, 0xE0FFF},
                             // not in the property
                             {0x80, 0x9F},
                             {0x2028, 0x2029},
                             {0xFFF9, 0xFFFB},
                             {0xFDD0, 0xFDEF},
                             {0x2800, 0x2800}};

bool is_mark(std::uint32_t code) {
  if (code < 0x80) return false;
  if ((code & 0xFFFEU) == 0xFFFEU) return true;  // the last two of each plane are no characters
  return std::any_of(std::begin(kUnseen), std::end(kUnseen),
                     [code](const Range& range) { return code >= range.first && code <= range.last; });
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
