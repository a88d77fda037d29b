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

}  // namespace
}  // namespace judder
