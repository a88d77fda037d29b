// Which rows a comparison of engines has.
#include "judder/analysis/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "judder/core/number.hpp"
#include "run_model.hpp"

namespace judder::analysis {
namespace {

std::string oscillator(const std::string& spring) {
  return "[coordinates]\nx = 1\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = \"" +
         spring +
         "\"\n[[contact]]\nname = \"stop\"\ngap = \"x + 0.5\"\nimpact = { restitution = 0.8 }\n[run]\nuntil "
         "= 10\n";
}

/// "event 0.0001", "exact", "event step 0.1", …
std::vector<std::string> rows(const Comparison& comparison) {
  std::vector<std::string> out;
  for (const CompareRow& row : comparison.rows) {
    out.push_back(row.engine + (row.tolerance ? " " + to_text(*row.tolerance) : "") +
                  (row.step ? " step " + to_text(*row.step) : ""));
  }
  return out;
}

TEST(Compare, TheExactEngineHasOneRowAlsoWhenItWasChosenByAuto) {
  const TestModel model = text_model(oscillator("-x"));
  CompareOptions options;
  options.repeats = 1;
  options.engines = {"event", "exact", "auto"};
  options.tolerances = {1e-4, 1e-6};
  const Comparison by_tolerance = compare(model.system, model.options, options);
  EXPECT_EQ(by_tolerance.reference, "exact");
  EXPECT_EQ(rows(by_tolerance),
            (std::vector<std::string>{"event 1e-04", "event 1e-06", "exact", "auto: exact"}));
  for (const CompareRow& row : by_tolerance.rows) EXPECT_TRUE(row.events_agree) << row.engine;
  EXPECT_EQ(by_tolerance.rows[2].error, 0);
  EXPECT_GT(by_tolerance.rows[0].error, by_tolerance.rows[1].error);

  options.tolerances.clear();
  options.steps = {0.8, 0.4};
  const Comparison by_step = compare(model.system, model.options, options);
  EXPECT_EQ(rows(by_step),
            (std::vector<std::string>{"event step 0.8", "event step 0.4", "exact", "auto: exact"}));
  EXPECT_FALSE(by_step.rows[0].order);
  ASSERT_TRUE(by_step.rows[1].order);
  EXPECT_NEAR(*by_step.rows[1].order, std::log2(by_step.rows[0].error / by_step.rows[1].error), 1e-12);
}

// sin x cos x − sin(2x)/2 is zero: y only has the rounding of its force, which two runs do not have in common.
TEST(Compare, WhatIsRoundingOnlyIsNoError) {
  const TestModel model = text_model(
      "[coordinates]\nx = 1\ny = 1\n[energy]\nkinetic = \"x'^2/2 + y'^2/2\"\npotential = \"-cos(x)\"\n"
      "[[force]]\nalong = \"y'\"\nvalue = \"sin(x)*cos(x) - sin(2*x)/2\"\n[run]\nuntil = 10\n");
  CompareOptions options;
  options.repeats = 1;
  options.engines = {"event"};
  options.tolerances = {1e-6, 1e-9};
  const Comparison comparison = compare(model.system, model.options, options);
  ASSERT_EQ(comparison.rows.size(), 2U);
  EXPECT_LT(comparison.rows[0].error, 1e-4);
  EXPECT_LT(comparison.rows[1].error, 1e-7);
  EXPECT_LT(comparison.reference_error, 1e-7);
}

TEST(Compare, WhereTheExactEngineDoesNotApplyAutoIsComparedAsTheEventEngine) {
  const TestModel model = text_model(oscillator("-x^3"));
  CompareOptions options;
  options.repeats = 1;
  options.engines = {"auto", "exact"};
  const Comparison comparison = compare(model.system, model.options, options);
  EXPECT_EQ(comparison.reference, "event, tolerance 1e-10");
  EXPECT_EQ(rows(comparison), (std::vector<std::string>{"auto: event 1e-09", "exact"}));
  EXPECT_TRUE(comparison.rows[0].ran);
  EXPECT_FALSE(comparison.rows[1].ran);
  EXPECT_NE(comparison.rows[1].problem.find("not linear"), std::string::npos) << comparison.rows[1].problem;
}

// What lies between two steps is interpolated: orders are those of the scheme only where its steps end.
TEST(Compare, OrdersOfFixedStepsAreThoseOfTheScheme) {
  const TestModel model = text_model(
      "[coordinates]\nx = 1\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n[run]\nuntil = 7\n");
  CompareOptions options;
  options.repeats = 1;
  options.engines = {"rk4", "moreau"};
  options.steps = {0.1, 0.05, 0.025};
  const Comparison comparison = compare(model.system, model.options, options);
  ASSERT_EQ(comparison.rows.size(), 6U);
  for (const std::size_t i : {1U, 2U, 4U, 5U}) {
    const CompareRow& row = comparison.rows[i];
    ASSERT_TRUE(row.order && row.velocity_order) << i;
    EXPECT_NEAR(*row.order, i < 3 ? 4 : 2, 0.1) << i;
    EXPECT_NEAR(*row.velocity_order, i < 3 ? 4 : 2, 0.1) << i;
  }
  // Moreau's scheme turns by 2 atan(h/2) in a step.
  for (std::size_t i = 3; i < 6; ++i) {
    const double h = *comparison.rows[i].step;
    double worst = 0;
    for (long k = 0; k <= std::lround(7 / h); ++k) {
      const double t = static_cast<double>(k) * h;
      worst =
          std::max(worst, std::abs(std::cos(2 * std::atan(h / 2) * static_cast<double>(k)) - std::cos(t)));
    }
    EXPECT_NEAR(comparison.rows[i].error, worst / 2, 1e-3 * worst) << h;
  }
}

// A step of order eight is soon better than the tolerance of the run: the reference must be better still, and no order is said where it is not.
TEST(Compare, TheReferenceIsBetterThanTheStepsOrNoOrderIsGiven) {
  const TestModel model = gallery_model("order-test");
  CompareOptions options;
  options.repeats = 1;
  options.engines = {"event"};
  options.steps = {0.1, 0.05, 0.025, 0.0125, 0.00625};
  const Comparison comparison = compare(model.system, model.options, options);
  EXPECT_TRUE(comparison.reference_status.ok());
  EXPECT_GT(comparison.reference_error, 0);
  EXPECT_LT(comparison.reference_error, 1e-12);
  ASSERT_EQ(comparison.rows.size(), 5U);
  for (const std::size_t i : {1U, 2U}) {
    ASSERT_TRUE(comparison.rows[i].order) << i;
    EXPECT_NEAR(*comparison.rows[i].order, 8, 0.5) << i;
  }
  EXPECT_FALSE(comparison.rows[0].order_unknown) << "there is no step before it";
  for (const std::size_t i : {3U, 4U}) {
    EXPECT_FALSE(comparison.rows[i].order) << "the error is that of rounding";
    EXPECT_TRUE(comparison.rows[i].order_unknown);
  }
}

}  // namespace
}  // namespace judder::analysis
