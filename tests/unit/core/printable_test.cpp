#include "judder/core/printable.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace judder {
namespace {

std::string utf8(std::uint32_t code) {
  const auto byte = [](std::uint32_t value) { return std::string(1, static_cast<char>(value)); };
  const auto rest = [&](int shift) { return byte(0x80U | ((code >> shift) & 0x3FU)); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) return byte(0xC0U | (code >> 6U)) + rest(0);
  if (code < 0x10000) return byte(0xE0U | (code >> 12U)) + rest(6) + rest(0);
  return byte(0xF0U | (code >> 18U)) + rest(12) + rest(6) + rest(0);
}

// Every character of Unicode. Default_Ignorable_Code_Point has 4174 (the total at its end in DerivedCoreProperties.txt); beside them are 33 controls of ASCII
// and 32 after it, 2 separators, 3 annotations, 32 + 34 noncharacters and one blank of Braille.
TEST(Printable, WritesOutWhatNobodySeesAndNothingElse) {
  int written_out = 0;
  for (std::uint32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    const std::string character = utf8(code), shown = printable_name(character);
    if (shown == character) continue;
    ++written_out;
    EXPECT_EQ(shown[0], '\\') << code;
    for (const char c : shown) EXPECT_TRUE(c > ' ' && c < 0x7F) << code;
  }
  EXPECT_EQ(written_out, 4174 + 33 + 32 + 2 + 3 + 32 + 34 + 1);
}

TEST(Printable, ShowsTheCodeOfAnInvisibleCharacter) {
  EXPECT_EQ(printable("a\u3164b"), "a\\u3164b") << "a filler of Hangul";
  EXPECT_EQ(printable("\u115f\u1160\uffa0"), "\\u115f\\u1160\\uffa0") << "other fillers";
  EXPECT_EQ(printable("\u034f\u17b4\u17b5\u00ad"), "\\u034f\\u17b4\\u17b5\\u00ad");
  EXPECT_EQ(printable("\ufe00\ufe0f\U000e0100"), "\\ufe00\\ufe0f\\udb40\\udd00") << "variation selectors";
  EXPECT_EQ(printable("\U000e0041\U000e01ef"), "\\udb40\\udc41\\udb40\\uddef") << "a tag, a selector";
  EXPECT_EQ(printable("\ufffe\uffff\ufdd0\U0010ffff"), "\\ufffe\\uffff\\ufdd0\\udbff\\udfff")
      << "no characters";
  EXPECT_EQ(printable("\u2800"), "\\u2800") << "a symbol without ink";
  EXPECT_EQ(printable("ö\u0301 \u00a0\u3000質量µ→"), "ö\u0301 \u00a0\u3000質量µ→")
      << "letters, accents, spaces, signs";
}

// Only a name is kept to one line; a text of ours keeps its lines.
TEST(Printable, ANameIsOneLine) {
  EXPECT_EQ(printable("a\n\tb\r"), "a\n\tb\\x0d");
  EXPECT_EQ(printable_name("a\n\tb\r"), "a\\x0a\\x09b\\x0d");
  EXPECT_EQ(printable_name("a\u0085\u2028b"), "a\\u0085\\u2028b");
}

}  // namespace
}  // namespace judder
