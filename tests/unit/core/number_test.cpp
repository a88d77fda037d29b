#include "judder/core/number.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace judder {
namespace {

// People read no sign of zero; files keep it, so that they read back as the same number.
TEST(Number, ZeroHasItsSignInFilesOnly) {
  EXPECT_EQ(to_text(-0.0, 9), "0");
  EXPECT_EQ(to_text(-1e-300, 3), "-1e-300");
  EXPECT_EQ(to_text(-0.0), "-0");
  EXPECT_TRUE(std::signbit(*parse_number(to_text(-0.0))));
}

// Below the least normal number digits are lost, and what somebody has written there was meant as another number.
TEST(Number, WhatHasLostItsDigitsIsTooSmall) {
  EXPECT_TRUE(parse_number("2.3e-308").has_value());
  EXPECT_TRUE(parse_number("0e-999").has_value());
  for (const char* text : {"1e-320", "-1e-320", "5e-324", "2.2e-308", "1e-400"}) {
    EXPECT_FALSE(parse_number(text).has_value()) << text;
    EXPECT_STREQ(number_problem(text), "is too small for a number (write 0)") << text;
  }
  EXPECT_STREQ(number_problem("1e400"), "is too large for a number");
}

}  // namespace
}  // namespace judder
