// The conversions of number.cpp for standard libraries without std::to_chars of floating numbers, against those with it.
#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include "core/convert.hpp"
#include "count.hpp"
#include "judder/core/number.hpp"

// The same source once more, under another name and as if the library had no such conversions.
namespace printed {
using judder::NumberEnd;
std::string fixed_text(double value, int decimals);
NumberEnd read_number(std::string_view text, double& value);
}  // namespace printed
#define JUDDER_PRINTED_NUMBERS
#define judder printed
#include "core/number.cpp"
#undef judder

namespace judder {
namespace {

/// Doubles of all sizes, of few digits, and whole ones.
double any(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  switch (random() % 4) {
    case 0:
      return std::bit_cast<double>(bits);
    case 1:
      return static_cast<double>(static_cast<std::int64_t>(bits) >> (random() % 60));
    case 2:
      return static_cast<double>(static_cast<std::int64_t>(bits % 20001) - 10000) / 1000;
    default:
      return std::ldexp(static_cast<double>(bits >> 11U) * 0x1p-53, static_cast<int>(random() % 200) - 100);
  }
}

std::string bits_of(double x) { return std::to_string(std::bit_cast<std::uint64_t>(x)); }

TEST(PrintedNumbers, AreWrittenAsOthersWriteThem) {
  std::mt19937_64 random(3);
  for (int i = 0; i < count(1'000'000); ++i) {
    const double x = any(random);
    ASSERT_EQ(printed::to_text(x), to_text(x)) << bits_of(x);
    const int digits = 1 + static_cast<int>(random() % 17);
    ASSERT_EQ(printed::to_text(x, digits), to_text(x, digits)) << bits_of(x) << " " << digits;
    ASSERT_EQ(printed::fixed_text(x, digits), fixed_text(x, digits)) << bits_of(x) << " " << digits;
  }
  for (const double x :
       {0.0, -0.0, 1e5, 1e6, 1e22, 1e23, 123456.0, 0.001, 0.0001, 5e-324, 1.7976931348623157e308}) {
    EXPECT_EQ(printed::to_text(x), to_text(x));
    EXPECT_EQ(printed::to_text(-x), to_text(-x));
  }
  EXPECT_EQ(printed::to_text(INFINITY), "inf");
  EXPECT_EQ(printed::to_text(-INFINITY), "-inf");
}

/// Compares what both read at the begin of a text.
void compare(const std::string& text) {
  double one = 7, other = 7;
  const NumberEnd a = printed::read_number(text, one), b = read_number(text, other);
  ASSERT_EQ(a.error, b.error) << text;
  ASSERT_EQ(a.length, b.length) << text;
  if (std::isnan(one) && std::isnan(other)) return;
  ASSERT_EQ(std::bit_cast<std::uint64_t>(one), std::bit_cast<std::uint64_t>(other)) << text;
}

TEST(PrintedNumbers, AreReadAsOthersReadThem) {
  std::mt19937_64 random(4);
  for (int i = 0; i < count(1'000'000); ++i) compare(to_text(any(random)));
  // Texts of the letters of numbers, most of which are none.
  const std::string letters = "0123456789..eE+-- xinfa";
  for (int i = 0; i < count(1'000'000); ++i) {
    std::string text;
    for (std::size_t k = random() % 12; k > 0; --k) text += letters[random() % letters.size()];
    compare(text);
  }
  for (const char* text : {"",         "-",      ".",     "1.",    ".5",
                           "1e",       "1e+",    "1e5x",  "0x1p3", "1e400",
                           "-1e400",   "1e-400", "0e999", "inf",   "-inf",
                           "nan",      "+1",     " 1",    "00012", "2.2250738585072011e-308",
                           "4.9e-324", "2e-324"})
    compare(text);
}

}  // namespace
}  // namespace judder
