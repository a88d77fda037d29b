// Models that once came out wrong: sides of switches at an instant, rest while something moves with time, sets of switches. What is right was derived
// without the engines: closed forms, or an implicit method with small steps. Each is asked of both engines where the exact one takes the model.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

/// Engines that take the model.
std::vector<std::string> engines_of(const TestModel& model) {
  std::vector<std::string> out{"event"};
  if (engines::ExactEngine::unsupported(model.system).empty()) out.emplace_back("exact");
  return out;
}

struct Value {
  const char* file;
  const char* column;
  double right;             ///< in the last row
  double tolerance = 1e-6;  ///< relative to max(1, |right|)
};

class LastRow : public testing::TestWithParam<Value> {};

TEST_P(LastRow, IsRightByEveryEngine) {
  const Value& value = GetParam();
  TestModel model = trial(value.file);
  for (const double tolerance : {1e-9, 1e-11}) {
    model.options.tolerance = tolerance;
    for (const std::string& engine : engines_of(model)) {
      const simulate::Result result = simulate::simulate(model.system, model.options, engine);
      ASSERT_EQ(result.end.status.reason, Reason::done) << engine << ": " << result.end.status.message;
      const double scale = std::max(1.0, std::abs(value.right));
      EXPECT_NEAR(last(result, value.column), value.right, value.tolerance * scale)
          << engine << "\n"
          << event_list(model.system, result.data.events);
    }
  }
}

// Friction under a triangle asin(sin(W t)): found twice at 1e-11, with its kinks as switches of mod, and stepped over.
INSTANTIATE_TEST_SUITE_P(TriangleOfDither, LastRow,
                         testing::Values(Value{"E09-dither-triangle", "X", 0.0463083927631, 1e-9},
                                         Value{"E09-dither-triangle", "X'", 0.0092275550857, 1e-9}));

// Square waves, nested switches, coefficients by direction and speed, forces that jump under a sliding switch (closed forms); the block of
// D13 by an implicit method with steps of 1e-6.
INSTANTIATE_TEST_SUITE_P(
    SidesByValue, LastRow,
    testing::Values(Value{"A01-square-wave", "z", 1.5}, Value{"A02-square-wave-force", "x'", 0},
                    Value{"A02-square-wave-force", "x", 0.75}, Value{"A03-nested", "y", 1},
                    Value{"A03-nested", "a", 1}, Value{"A03-nested", "b", 1}, Value{"A03-nested", "c", 5},
                    Value{"A03-nested", "d", 0}, Value{"A03-nested", "e", 10}, Value{"A03-nested", "f", 1.5},
                    Value{"A03-nested", "h", 1}, Value{"A08-sliding-force-jumps", "x", 0.5},
                    Value{"A08-sliding-force-jumps", "x'", 1}, Value{"A09-floor-start", "x'", -0.8},
                    Value{"A10-slide-end", "x", -0.003, 2e-5}, Value{"A13-abs-normal", "x'", 2.6},
                    Value{"D13-slide-and-stick", "x", -0.01602395, 1e-6},
                    Value{"D13-slide-and-stick", "x'", 0.02183103, 1e-6}, Value{"E06-stay", "x", 0},
                    Value{"E07-twisting", "x", 0}, Value{"E07-twisting", "y", 0}));

INSTANTIATE_TEST_SUITE_P(RestOfEverything, LastRow,
                         testing::Values(Value{"B01-belt-from-rest", "x", 2},
                                         Value{"B01-belt-from-rest", "x'", 2},
                                         Value{"B02-crank-from-rest", "phi", 1},
                                         Value{"B02-crank-from-rest", "x", 0.578886399, 1e-8},
                                         Value{"B03-rising-floor", "y", 8}));

struct Times {
  const char* file;
  const char* event;
  std::vector<double> right;  ///< the first ones of that name
  double tolerance = 1e-6;
};

class EventTimes : public testing::TestWithParam<Times> {};

TEST_P(EventTimes, AreRightByEveryEngine) {
  const Times& times = GetParam();
  const TestModel model = trial(times.file);
  for (const std::string& engine : engines_of(model)) {
    const simulate::Result result = simulate::simulate(model.system, model.options, engine);
    ASSERT_EQ(result.end.status.reason, Reason::done) << engine << ": " << result.end.status.message;
    const std::vector<double> found = event_times(model.system, result.data.events, times.event);
    ASSERT_GE(found.size(), times.right.size()) << engine << "\n"
                                                << event_list(model.system, result.data.events);
    for (std::size_t i = 0; i < times.right.size(); ++i)
      EXPECT_NEAR(found[i], times.right[i], times.tolerance) << engine << ", number " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Instants, EventTimes,
    testing::Values(
        Times{"A04-relay-drag-bounce", "impact g", {0.471404521, 1.15702603}, 1e-8},
        Times{"A05-quadratic-drag-bounce", "impact g", {0.703904194, 1.412921568, 1.908216938}, 2e-9},
        Times{"A06-mu-by-direction", "stick f", {2.094306}},
        Times{"A07-mu-by-speed", "reversal f", {1.16988497}, 1e-8},
        Times{"B04-clamp-opens", "slip clamp", {0.916291}},
        Times{"B05-wall-into-resting-block", "impact w", {2.0}, 1e-12},
        Times{"D06-watch-that-jumps", "watch v", {0.101937, 0.451524}},
        Times{"E07-twisting", "slide-begin state.y.rate", {2.44362053}, 2e-7},
        // x = 0.1 falls onto x' = −x with x'' = −1: 0.1 − t²/2 = t.
        Times{"C03-ten-relays", "slide-begin force.force1.value", {std::sqrt(1.2) - 1}, 1e-9}));

TEST(Instant, TenRelaysThatAreNotCoupledSlideTogether) {
  const TestModel model = trial("C03-ten-relays");
  for (const std::string& engine : engines_of(model)) {
    const simulate::Result result = simulate::simulate(model.system, model.options, engine);
    EXPECT_EQ(result.data.events.size(), 10U) << engine;
    // x' = −x from t = √1.2 − 1 on.
    const double begin = std::sqrt(1.2) - 1;
    for (int i = 1; i <= 10; ++i)
      EXPECT_NEAR(last(result, "x[" + std::to_string(i) + "]"), begin * std::exp(begin - 1), 1e-8) << engine;
  }
}

TEST(Instant, AClosedContactStrikesWhereItsWallTurns) {
  const TestModel model = trial("D05-kinked-wall");
  for (const std::string& engine : engines_of(model)) {
    const simulate::Result result = simulate::simulate(model.system, model.options, engine);
    ASSERT_EQ(result.end.status.reason, Reason::done) << engine;
    const std::vector<double> impacts = event_times(model.system, result.data.events, "impact w");
    ASSERT_FALSE(impacts.empty()) << engine;
    EXPECT_NEAR(impacts.front(), std::acos(-1.0), 1e-12) << engine;
    // The wall's velocity jumps by 0.2; half of it is given back, and the hop lasts 2·0.1/10 but for the curvature of the wall.
    ASSERT_GE(impacts.size(), 2U);
    EXPECT_NEAR(impacts[1] - impacts[0], 0.02, 1e-4) << engine;
    EXPECT_NEAR(last(result, "y"), 0.1 * std::abs(std::sin(4.0)), 1e-9) << engine;
  }
}

TEST(Instant, BothEnginesListTheSameSwitchings) {
  const TestModel model = trial("E17-switch-pairs");
  const simulate::Result event = simulate::simulate(model.system, model.options, "event");
  const simulate::Result exact = simulate::simulate(model.system, model.options, "exact");
  EXPECT_EQ(event_words(model.system, event.data.events), event_words(model.system, exact.data.events));
}

TEST(Instant, WhatNoForceMovesRestsOnASurfaceOfItsPosition) {
  // 0.5 − sign(x) at rest in x = 0: both sides push back.
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = "if(t < 1, 0.5, 1.5) - sign(x)"
[run]
until = 2
)toml");
  const simulate::Result result = simulate::simulate(model.system, model.options, "event");
  ASSERT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
  EXPECT_NEAR(last(result, "x"), 0.25, 1e-8);  // 0.5 from t = 1 on
}

TEST(Instant, ARestitutionAsksForTheSpeedOfItsOwnImpact) {
  // From y = 1 under 2: the first impact at t = 1 with speed 2 has e = 0.5, the second at t = 2 with speed 1 has 0.9.
  const TestModel model = text_model(R"toml(
[coordinates]
y = 1
[energy]
kinetic   = "y'^2/2"
potential = "2*y"
[[contact]]
name   = "c"
gap    = "y"
impact = { restitution = "if(speed > 1.2, 0.5, 0.9)" }
[run]
until = 3.2
)toml");
  for (const std::string& engine : engines_of(model)) {
    const simulate::Result result = simulate::simulate(model.system, model.options, engine);
    const std::vector<double> found = event_times(model.system, result.data.events, "impact c");
    ASSERT_EQ(found.size(), 3U) << engine;
    EXPECT_NEAR(found[0], 1, 1e-9) << engine;
    EXPECT_NEAR(found[1], 2, 1e-9) << engine;
    EXPECT_NEAR(found[2], 2.9, 1e-9) << engine;
    EXPECT_EQ(result.data.events.size(), 3U) << engine << ": the law of an impact is no switch of the motion";
  }
}

/// x at the end of a block of mass 1 that starts at rest under `force`, on a joint with normal force 1 and the law given.
double pulled(const std::string& force, const std::string& law, double until, const std::string& engine) {
  const TestModel model = text_model(
      "[tables]\ntent = { x = [0, 1, 2, 3], y = [0, 0.5, 0, 1], outside = \"hold\" }\n"
      "[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nalong = \"x'\"\n"
      "value = \"" +
      force +
      "\"\n[[friction]]\nname = \"f\"\nslip = \"x'\"\nnormal = 1\n"
      "law = " +
      law + "\n[run]\nuntil = " + std::to_string(until) + "\n");
  return last(simulate::simulate(model.system, model.options, engine), "x");
}

// Rest is kept wherever the static coefficient can hold it: a load at its limit, one that touches it, one that turns there.
TEST(Instant, ALoadThatDoesNotExceedItsLimitMovesNothing) {
  EXPECT_EQ(pulled("-1", "{ static = 1, dynamic = 0.7 }", 2, "event"), 0);
  EXPECT_EQ(pulled("0.5*sin(5*t)", "{ static = 0.5, dynamic = 0.35 }", 2, "event"), 0);
  EXPECT_EQ(pulled("0.5*sin(5*t)", "{ static = 0.5, dynamic = 0.35 }", 2, "exact"), 0);
  EXPECT_EQ(pulled("sin(2*t)", "1", 5, "event"), 0);
  // Above its limit it moves: rest until 2.5, then x'' = (t − 2) − 0.3 to t = 3 and 0.7 behind it.
  EXPECT_NEAR(pulled("tent(t)", "{ static = 0.5, dynamic = 0.3 }", 3.5, "event"), 0.245833333, 1e-8);
  EXPECT_NEAR(
      pulled("if(t < 2, min(1, t), if(t < 3, -0.5, -1.5))", "{ static = 1, dynamic = 0.5 }", 4, "event"),
      -0.5, 1e-8);
  EXPECT_LT(pulled("-1.01", "{ static = 1, dynamic = 0.7 }", 2, "event"), -0.6);
}

// y alone is not attracted (its own sign pushes it away), the corner of both surfaces is: weights −2/13 and −10/13.
TEST(Instant, SurfacesThatOnlyHoldTogetherAreSlidOnTogether) {
  const TestModel model = text_model(R"toml(
[state]
x = { start = 0.5, rate = "1 - sign(x) + 1.5*sign(y)" }
y = { start = -1, rate = "-2.5*sign(x) + 0.5*sign(y)" }
z = { start = 0, rate = "sign(x)" }
[run]
until = 8
)toml");
  const simulate::Result result = simulate::simulate(model.system, model.options, "event");
  ASSERT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
  EXPECT_NEAR(last(result, "x"), 0, 1e-12);
  EXPECT_NEAR(last(result, "y"), 0, 1e-12);
  EXPECT_NEAR(last(result, "z"), -1 - 5 * 2 / 13.0, 1e-8);
}

/// The reaction of a ball that rests on y = 0 under its weight of 10 and a force that asks for y.
double reaction_under(const std::string& force) {
  const std::string before = R"toml(
[coordinates]
y = 0
[energy]
kinetic   = "y'^2/2"
potential = "10*y"
[[contact]]
name = "c"
gap  = "y"
[run]
until = 1
[output]
columns = { N = "normal(c)" }
[[force]]
along = "y'"
)toml";
  const TestModel model = text_model(before + "value = \"" + force + "\"\n");
  return last(simulate::simulate(model.system, model.options, "event"), "N");
}

TEST(Instant, EqualityIsReadAsItIsWritten) {
  EXPECT_DOUBLE_EQ(reaction_under("if(y >= 0, 1, 0)"), 9);
  EXPECT_DOUBLE_EQ(reaction_under("if(y > 0, 1, 0)"), 10);
  EXPECT_DOUBLE_EQ(reaction_under("if(y <= 0, 1, 0)"), 9);
  EXPECT_DOUBLE_EQ(reaction_under("if(y < 0, 1, 0)"), 10);
  EXPECT_DOUBLE_EQ(reaction_under("step(y)"), 9);
  EXPECT_DOUBLE_EQ(reaction_under("sign(y)"), 10);
}

// A body lies still until a load of -2 cos(3 t) overcomes the friction of 0.2. Its speed is zero from the start, has no sign that it could change when it begins to
// grow, and crosses nothing, whatever rounding leaves of the load and of the friction that balance before, where max() has its kink.
TEST(Watches, OfASpeedThatLeavesRestForTheFirstTimeAreSilent) {
  for (const char* unit : {"1", "3", "0.3", "7", "0.7", "11", "0.001"}) {
    const TestModel model = text_model("[parameters]\nu = " + std::string(unit) + R"toml(
[coordinates]
x = 0
[energy]
kinetic = "u*2.5*x'^2"
[[force]]
along = "x'"
value = "u*max(-2*cos(3*t), 0)"
[[friction]]
name = "joint"
slip = "x'"
normal = "0.2*u"
law = 1
[[watch]]
name = "look"
zero = "x'"
stop = true
[run]
until = 0.59
)toml");
    const simulate::Result result = simulate::simulate(model.system, model.options, "event");
    EXPECT_EQ(result.end.status.reason, Reason::done) << unit;
    EXPECT_EQ(result.end.events, 1) << unit;  // the slip
    // 2.5*2 x'' = -2 cos(3 t) - 0.2 from cos(3 s) = -0.1 on
    const double s = std::acos(-0.1) / 3;
    const double speed = (-2 * (std::sin(3 * 0.59) - std::sin(3 * s)) / 3 - 0.2 * (0.59 - s)) / 5;
    EXPECT_NEAR(result.end.end.y[1], speed, 1e-9) << unit;
  }
}

}  // namespace
}  // namespace judder
