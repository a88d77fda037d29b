// The largest normal force and the impulse of a closed phase: those of the motion, not of the points that a step or a row happens to have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "closed_forms.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

/// A mass of 1 on a floor, with weight 10, pressed down by `press`.
std::string pressed(const std::string& press, const std::string& more = {}) {
  return R"toml(
[coordinates]
y = 0
[energy]
kinetic   = "y'^2/2"
potential = "10*y"
[[force]]
name  = "press"
along = "y'"
value = "-()toml" +
         press + R"toml()"
[[contact]]
name = "floor"
gap  = "y"
)toml" + more +
         R"toml([run]
until = 1
)toml";
}

TEST(Loads, ThePeakOfASmoothForceIsItsMaximum) {
  const TestModel model = text_model(pressed("5*sin(3*t)"));
  for (const char* engine : {"event", "exact"}) {
    const simulate::Result result = simulate::simulate(model.system, model.options, engine);
    ASSERT_EQ(result.data.intervals.size(), 1U) << engine;
    EXPECT_NEAR(result.data.intervals[0].peak, 15, 1e-12) << engine;
    EXPECT_NEAR(result.data.intervals[0].impulse, 10 + 5 * (1 - std::cos(3.0)) / 3, 1e-8) << engine;
  }
}

// One step goes over all of it: the pulse is higher than the points of any fixed grid show.
TEST(Loads, ThePeakOfAPulseWithinAStepIsItsMaximum) {
  for (const double width : {0.2, 0.05, 0.01, 0.003}) {
    const TestModel model = text_model(pressed("100*exp(-((t - 0.47)/" + std::to_string(width) + ")^2)"));
    const simulate::Result result = run(model);
    ASSERT_EQ(result.data.intervals.size(), 1U) << width;
    EXPECT_NEAR(result.data.intervals[0].peak, 110, 1e-6) << width;
    const double pulse =
        50 * width * std::sqrt(std::numbers::pi) * (std::erf(0.53 / width) + std::erf(0.47 / width));
    EXPECT_NEAR(result.data.intervals[0].impulse, 10 + pulse, 1e-4) << width;
  }
}

// The force rises to 40 and falls away at an event: the value before it counts.
TEST(Loads, ThePeakAtTheEndOfAPhaseCounts) {
  const TestModel model = text_model(pressed("if(t < 0.5, 120*t^2, 0)"));
  const simulate::Result result = run(model);
  ASSERT_EQ(result.data.intervals.size(), 1U);
  EXPECT_NEAR(result.data.intervals[0].peak, 40, 1e-9);
  EXPECT_NEAR(result.data.intervals[0].impulse, 15, 1e-9);
}

// A point slides through a round bowl from its rim: it presses with three times its weight at the bottom.
TEST(Loads, ThePeakInABowlIsThreeWeights) {
  for (const std::string method : {"explicit", "stiff"}) {
    TestModel model = text_model(R"toml(
[coordinates]
x = -1
y = 0
[energy]
kinetic   = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[contact]]
name = "bowl"
gap  = "1 - sqrt(x^2 + y^2)"
[run]
until  = 1
method = ")toml" + method + R"toml("
)toml");
    const simulate::Result result = run(model);
    ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
    ASSERT_EQ(result.data.intervals.size(), 1U);
    EXPECT_NEAR(result.data.intervals[0].peak, 3 * 9.81, 1e-6) << method;
  }
}

// Two equal contacts under one body share its load: each carries half, and has the peak of half.
TEST(Loads, SharedForcesHaveTheirPeaks) {
  const std::string twin = R"toml([[contact]]
name = "floor2"
gap  = "y"
)toml";
  const TestModel model = text_model(pressed("5*sin(3*t)", twin));
  for (const char* engine : {"event", "exact"}) {
    const simulate::Result result = simulate::simulate(model.system, model.options, engine);
    ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
    ASSERT_EQ(result.data.intervals.size(), 2U) << engine;
    const double sum = result.data.intervals[0].peak + result.data.intervals[1].peak;
    const double impulse = result.data.intervals[0].impulse + result.data.intervals[1].impulse;
    EXPECT_NEAR(sum, 15, 1e-9) << engine;
    EXPECT_NEAR(impulse, 10 + 5 * (1 - std::cos(3.0)) / 3, 1e-8) << engine;
  }
}

// What stands in the rows of a contact is never more than its peak.
TEST(Loads, NoRowShowsMoreThanThePeak) {
  for (const char* variant : {"low", "thesis"}) {
    TestModel model = gallery_model("roller-table", {variant});
    model.options.samples = 30001;
    const simulate::Result result = run(model);
    double row = 0, peak = 0;
    const int force = result.data.column("N");
    ASSERT_GE(force, 0);
    for (std::size_t i = 0; i < result.data.rows(); ++i)
      row = std::max(row, result.data.cell(i, static_cast<std::size_t>(force)));
    for (const engines::Interval& interval : result.data.intervals) {
      if (model.system.relations()[interval.relation].name == "roller") peak = std::max(peak, interval.peak);
    }
    ASSERT_GT(row, 1e5);
    EXPECT_GE(peak, row) << variant;
    EXPECT_LE(peak, row * (1 + 1e-5)) << variant;
  }
}

}  // namespace
}  // namespace judder
