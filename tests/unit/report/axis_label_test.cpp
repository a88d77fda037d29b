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
  EXPECT_EQ(axis_label(labels, "xi'"), "ξ̇ [m/s]");
  EXPECT_EQ(axis_label(labels, "N"), "N [kN]");
  EXPECT_EQ(axis_label(labels, "eta"), "η");
  EXPECT_EQ(axis_label(labels, "etas"), "etas");
  EXPECT_EQ(axis_label(labels, "x'"), "x'");
}

// The dot stands over the letter, whoever wrote that: a label by name, an index, no label at all.
TEST(AxisLabel, SetsTheDotOverTheLetter) {
  const std::vector<io::ColumnLabel> labels{
      {"a", "xi", ""}, {"b", "x_1", "mm"}, {"c", "\\mathrm{gap}", ""}, {"d", "", "m"}, {"f", "", "N m"}};
  EXPECT_EQ(axis_label(labels, "a"), "ξ");
  EXPECT_EQ(axis_label(labels, "a'"), "ξ̇");
  EXPECT_EQ(axis_label(labels, "b'"), "x\u0307₁ [mm/s]");
  EXPECT_EQ(axis_label(labels, "c'"), "gap'");
  EXPECT_EQ(axis_label(labels, "d'"), "d' [m/s]");
  EXPECT_EQ(axis_label(labels, "f'"), "f' [(N m)/s]");
  EXPECT_EQ(axis_label(labels, "xi'"), "ξ̇");
  EXPECT_EQ(axis_label(labels, "phi12'"), "φ\u0307₁₂");
  EXPECT_EQ(axis_label(labels, "phi1"), "φ₁");
  EXPECT_EQ(axis_label(labels, ""), "");
}

}  // namespace
}  // namespace judder::report
