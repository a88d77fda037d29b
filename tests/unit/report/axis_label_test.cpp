#include "report/axis_label.hpp"

#include <gtest/gtest.h>

namespace judder::report {
namespace {

TEST(AxisLabel, SetsTheLatexOfLabelsAsText) {
  EXPECT_EQ(plain_label("\\xi"), "ξ");
  EXPECT_EQ(plain_label("$\\dot{\\xi}_{12}$"), "ξ̇₁₂");
  EXPECT_EQ(plain_label("\\lambda_{N}"), "λ_N");
  EXPECT_EQ(plain_label("x^2 \\cdot \\mathrm{abc}"), "x² ·abc");
  EXPECT_EQ(plain_label("50\\% \\unknown{u}"), "50% u");
  for (const char* broken :
       {"{", "}", "\\", "_", "^{", "{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{x", "\\dot", "a_{b_{c"})
    static_cast<void>(plain_label(broken));
}

TEST(AxisLabel, AddsTheUnitAndKnowsVelocities) {
  const std::vector<io::ColumnLabel> labels{{"xi", "\\xi", "m"}, {"N", "", "kN"}};
  EXPECT_EQ(axis_label(labels, "xi"), "ξ [m]");
  EXPECT_EQ(axis_label(labels, "xi'"), "ξ̇");
  EXPECT_EQ(axis_label(labels, "N"), "N [kN]");
  EXPECT_EQ(axis_label(labels, "eta"), "eta");
}

}  // namespace
}  // namespace judder::report
