// Runs that once did not end: steps that could not be made shorter, events that followed each other at one time, rows that parted again and again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>

#include "run_model.hpp"

namespace judder {
namespace {

// --- instants of the timetable that are the last bit of the time apart ---

// Nothing moves, and the time of a jump is found once as the zero of a surface and once as an instant, one bit later.
TEST(StepsInTheLastBits, AKnownInstantWithinTheRoundingOfTheTimeIsPassed) {
  const TestModel pressed = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "2.5*(x'^2)"
[[force]]
along = "x'"
value = "-0.5*mod(t, 0.2)"
[[friction]]
name = "j1"
slip = "x'"
normal = 0.5
law = { type = "elastoplastic", mu = 0.5, stiffness = 100, damping = 1, breakaway = 0.00125 }
[[contact]]
name = "c1"
gap = "x"
[[contact]]
name = "c3"
gap = "x"
[[watch]]
name = "look"
zero = "x'"
[run]
until = 4
)toml");
  const TestModel slid = text_model(R"toml(
[state]
u = { start = 0, rate = "-0.3*u - 2.5*sign(u)" }
w = { start = 0, rate = "-1.5*w + max(-0.3*mod(1.5*t + 1, 1.5), -0.2*u) - 2*sign(w)" }
[run]
from = 1
until = 3
)toml");
  for (const TestModel* model : {&pressed, &slid}) {
    const engines::EngineResult result = finish(*model);
    EXPECT_EQ(result.end.y[0], 0);
    EXPECT_EQ(result.end.y[1], 0);
    EXPECT_LT(result.steps, 1000);
  }
}

// --- forces that read the speed of a massless node ---

struct Node {
  double x, v, y;
};

/// A mass of 1 and a node without mass on the spring 10 (y - x), from x = y = 0 with the speed 1; the node carries 0.5 at most. Short steps of Euler's
/// midpoint rule that know no events.
Node short_steps(const std::function<double(double)>& force, double damper, double until) {
  constexpr int kSteps = 2000000;
  const double h = until / kSteps;
  Node now{0, 1, 0};
  const auto speed = [&](const Node& n) {
    const double pull = 10 * (n.x - n.y);
    if (damper > 0) return (pull - std::clamp(pull, -0.5, 0.5)) / damper;
    return std::abs(pull) >= 0.5 * (1 - 1e-12) && pull * n.v > 0 ? n.v : 0.0;
  };
  const auto step = [&](const Node& n, double length) {
    const double w = speed(n);
    Node next{now.x + length * n.v, now.v + length * (force(w) - 10 * (n.x - n.y)), now.y + length * w};
    if (damper == 0) next.y = std::clamp(next.y, next.x - 0.05, next.x + 0.05);
    return next;
  };
  for (int i = 0; i < kSteps; ++i) now = step(step(now, 0.5 * h), h);
  return now;
}

// Where the friction of the node is overcome its speed jumps from zero to that of the mass, or begins to grow; the force follows it to another side.
TEST(NodesThatSlip, ASwitchOfTheirSpeedFollowsThem) {
  struct Case {
    const char* force;
    std::function<double(double)> value;
    double damper;
  };
  const Case cases[] = {
      {"-max(3*y', 0.3)", [](double w) { return -std::max(3 * w, 0.3); }, 0},
      {"-0.25*floor(3*y')", [](double w) { return -0.25 * std::floor(3 * w); }, 0},
      {"-1.5*sign(0.3*y')", [](double w) { return w > 0   ? -1.5
                                                  : w < 0 ? 1.5
                                                          : 0; }, 0},
      {"-0.5*mod(y', 0.4)", [](double w) { return -0.5 * (w - 0.4 * std::floor(w / 0.4)); }, 0},
      {"-sqrt(1 + abs(y'))", [](double w) { return -std::sqrt(1 + std::abs(w)); }, 0.7},
      {"-2*max(y', 0)", [](double w) { return -2 * std::max(w, 0.0); }, 0.7},
  };
  for (const Case& one : cases) {
    TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 1 }
y = { massless = true }
[energy]
kinetic = "0.5*(x'^2)"
potential = "5*((y - x)^2)"
dissipation = ")toml" + std::to_string(0.5 * one.damper) +
                                 R"toml(*(y'^2)"
[[force]]
along = "x'"
value = ")toml" + std::string(one.force) +
                                 R"toml("
[[friction]]
name = "node"
slip = "y'"
normal = 1
law = 0.5
[run]
until = 0.9
)toml");
    const Node right = short_steps(one.value, one.damper, 0.9);
    for (const double tolerance : {1e-8, 1e-10}) {
      model.options.tolerance = tolerance;
      const simulate::Result result = simulate::simulate(model.system, model.options, "event");
      ASSERT_EQ(result.end.status.reason, Reason::done) << one.force << ' ' << result.end.status.message;
      EXPECT_TRUE(result.end.verdict.silent()) << one.force;
      EXPECT_NEAR(last(result, "x"), right.x, 3e-6) << one.force;
      EXPECT_NEAR(last(result, "x'"), right.v, 3e-6) << one.force;
      EXPECT_NEAR(last(result, "y"), right.y, 3e-6) << one.force;
    }
  }
}

// --- surfaces that start at a level, and are known to be left only by rounding at first ---

// The node follows the mass, and 2 y' falls from 1 at once: below each level the force is another, 0.1 n where 2 w' is between n and n + 1.
TEST(LevelsAtTheStart, TheSpeedOfANodeFallsFromOne) {
  TestModel model = text_model(R"toml(
[coordinates]
y = { massless = true }
w = { velocity = 0.5 }
[energy]
kinetic = "0.5*(w'^2)"
potential = "10*((y - w)^2) + 9.81*w"
[[force]]
along = "w'"
value = "0.1*floor(2*y')"
[run]
until = 0.2
)toml");
  double left = 0.2;
  double speed = 0.5;
  for (int n = 0; left > 0; --n) {
    const double time = std::min(left, 0.5 / (9.81 - 0.1 * n));
    speed -= (9.81 - 0.1 * n) * time;
    left -= time;
  }
  for (const double tolerance : {1e-8, 1e-10}) {
    model.options.tolerance = tolerance;
    const engines::EngineResult result = finish(model);
    EXPECT_NEAR(result.end.y[3], speed, 1e-9);
    EXPECT_LT(result.steps, 1000);
  }
}

// y rises from a level of floor(4 y) so softly that nothing tells when; the force on x is 1.5 until y = -1.25, which is not reached.
TEST(LevelsAtTheStart, ABumpLeavesOneUpwards) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = -1.5
[energy]
kinetic = "0.5*(x'^2) + 0.5*(y'^2)"
[[force]]
along = "x'"
value = "-0.25*floor(4*y)"
[[force]]
along = "y'"
value = "0.7*bump(1.5*t)"
[[friction]]
name = "j"
slip = "y'"
normal = 0.2
law = { type = "arctan", mu = 0.1, beta = 100 }
[run]
until = 0.8
)toml");
  for (const double tolerance : {1e-8, 1e-10}) {
    model.options.tolerance = tolerance;
    const engines::EngineResult result = finish(model);
    EXPECT_NEAR(result.end.y[0], 0.75 * 0.64, 1e-9);
    EXPECT_LT(result.end.y[1], -1.25);
    EXPECT_LT(result.steps, 1000);
  }
}

// y leaves a level by a power of t, which tells its side at once, and then for long by less than the last bit of 1.5: no zero lies among these bits.
TEST(LevelsAtTheStart, APowerLeavesOneByLessThanRounding) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = -1.5
[energy]
kinetic = "0.5*(x'^2) + 0.5*(y'^2)"
[[force]]
along = "x'"
value = "-0.25*floor(4*y)"
[[force]]
along = "y'"
value = "1e-60*t^4 + 0.7*bump(1.5*t)"
[run]
until = 0.03
)toml");
  for (const double tolerance : {1e-8, 1e-10}) {
    model.options.tolerance = tolerance;
    const engines::EngineResult result = run_to_end(model);
    ASSERT_EQ(result.status.reason, Reason::done) << result.status.message;
    EXPECT_NEAR(result.end.y[0], 0.75 * 0.0009, 1e-12);
    EXPECT_LT(result.steps, 60);
  }
}

// --- drives that part by numbers near the end of their range ---

// A belt starts like exp(-1/t) below a body that lies on the table: it slips at once, and lifts 0.15 of the weight.
TEST(RowsThatPart, ABeltThatStartsSoftlySlipsBelowABodyAtRest) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "0.5*(x'^2)"
potential = "9.81*x"
[[friction]]
name = "belt"
slip = "x' - bump(t)"
normal = 0.3
law = 0.5
[[contact]]
name = "table"
gap = "x"
[output]
columns = { n = "normal(table)" }
[run]
until = 0.5
)toml");
  for (const double tolerance : {1e-8, 1e-10}) {
    model.options.tolerance = tolerance;
    const simulate::Result result = simulate::simulate(model.system, model.options, "event");
    ASSERT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
    EXPECT_TRUE(result.end.verdict.silent());
    EXPECT_EQ(last(result, "x"), 0);
    EXPECT_NEAR(last(result, "n"), 9.81 - 0.15, 1e-12);
    EXPECT_LT(result.end.steps, 10000);
  }
}

// A table that rises, or sinks, like exp(-1/t) carries a body along from rest, sideways too: no impact, no lift-off and no slip, although the table moves by less than
// any power of the time at first, and the restitution would turn the smallest step of it into hops. Half of the bump is over at t = 0.5.
TEST(RowsThatPart, ATableThatStartsSoftlyCarriesABody) {
  constexpr double kTop = 2.6054065145200274;  // exp(-4)/0.0070298584066096562
  for (const double height : {0.02, -0.02}) {
    TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = 0
[energy]
kinetic = "0.5*(x'^2) + 0.5*(y'^2)"
potential = "9.81*y"
[[contact]]
name = "table"
gap = "y - ()toml" + std::to_string(height) +
                                 R"toml()*bump(t)"
slip = "x' - 0.1*bump(t)"
friction = 0.3
impact = 0.3
[run]
until = 0.5
)toml");
    for (const double tolerance : {1e-8, 1e-10}) {
      model.options.tolerance = tolerance;
      const simulate::Result result = simulate::simulate(model.system, model.options, "event");
      ASSERT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
      EXPECT_TRUE(result.end.verdict.silent());
      EXPECT_EQ(result.end.events, 0) << height << ' ' << tolerance;
      EXPECT_NEAR(last(result, "y"), height * kTop, 1e-15);
      EXPECT_NEAR(last(result, "x'"), 0.1 * kTop, 1e-14);
      EXPECT_NEAR(last(result, "x"), 0.05, 10 * tolerance);
    }
  }
}

// --- hops that rounding hides ---

// s = y - w - 1 hops with s'' = -14 s - 19 in closed form, each time with 0.8 of its speed; the contact pushes y alone. Its friction, which the impacts do not
// have, is felt only where s has come to rest: a force of 0.1 times 38/1.04 on the mass of 5.
TEST(Hops, TheirTailBeginsWhereTheyCanNoLongerBeSeen) {
  TestModel model = text_model(R"toml(
[coordinates]
y = 1
w = { velocity = 1.5 }
[energy]
kinetic = "y'^2 + 2.5*(w'^2)"
potential = "10*((y - w)^2) + 10*y"
[[contact]]
name = "c"
gap = "y - w - 1"
slip = "w'"
friction = 0.1
push = "y'"
drag = "w'"
impact = { type = "moreau", restitution = 0.8, friction = false }
[run]
until = 1
)toml");
  const double omega = std::sqrt(14.0);
  const double c = 19.0 / 14;
  double t = 0;
  double w = 0;
  double rate = 1.5;
  for (double v = 1.2; v > 1e-18; v *= 0.8) {
    const double h = 2 * std::atan(v / (omega * c)) / omega;
    const double sine = std::sin(omega * h);
    const double part = 2 * std::pow(std::sin(omega * h / 2), 2);  // 1 - cos
    w += rate * h + 4 * ((1 - c) * h * h / 2 + c * part / 14 + v / 14 * (h - sine / omega));
    rate += 4 * ((1 - c) * h + c * sine / omega + v / 14 * part);
    t += h;
  }
  const double acceleration = 4 - 0.02 * 38 / 1.04;
  w += rate * (1 - t) + acceleration * (1 - t) * (1 - t) / 2;
  rate += acceleration * (1 - t);
  for (const double tolerance : {1e-8, 1e-10, 1e-12}) {
    model.options.tolerance = tolerance;
    const simulate::Result result = simulate::simulate(model.system, model.options, "event");
    ASSERT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
    EXPECT_NEAR(last(result, "w"), w, 1e-6) << tolerance;
    EXPECT_NEAR(last(result, "w'"), rate, 1e-6) << tolerance;
    EXPECT_LT(result.end.events, 100) << tolerance;
  }
}

// --- forces that have come down to zero ---

// The load is the only force and passes zero at pi/4.5: the body leaves its floor with an acceleration that is the rounding of it, of either sign. Then
// v' = -v - sin(4.5 t), the damping written so that its velocity has two sides.
TEST(WhatHasFadedHasNoSign, ABodyLeavesItsFloorWhereItsOnlyForcePassesZero) {
  constexpr double kOmega = 4.5;
  const double since = 1.2 - std::numbers::pi / kOmega;
  const double sum = 1 + kOmega * kOmega;
  const double velocity =
      (-std::sin(kOmega * 1.2) + kOmega * std::cos(kOmega * 1.2) + kOmega * std::exp(-since)) / sum;
  const double position =
      ((std::cos(kOmega * 1.2) + 1) / kOmega + std::sin(kOmega * 1.2) - kOmega * std::expm1(-since)) / sum;
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "0.5*x'^2"
dissipation = "0.5*abs(x')*abs(x')"
[[force]]
along = "x'"
value = "-sin(4.5*t)"
[[contact]]
name = "floor"
gap = "x"
[run]
until = 1.2
)toml");
  for (const double tolerance : {1e-6, 1e-8, 1e-10}) {
    model.options.tolerance = tolerance;
    const simulate::Result result = simulate::simulate(model.system, model.options, "event");
    ASSERT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
    EXPECT_EQ(result.end.events, 1) << tolerance;
    EXPECT_NEAR(last(result, "x"), position, 10 * tolerance) << tolerance;
    EXPECT_NEAR(last(result, "x'"), velocity, 10 * tolerance) << tolerance;
  }
}

// A body with dry friction starts and stops under a load; another is pushed by a table of its velocity, which jumps where friction holds it. Where it
// starts, the forces on it balance, and the table must not read a direction of its own in what rounding leaves. Against small steps.
TEST(WhatHasFadedHasNoSign, TwoSwitchesOfOneVelocityLeaveItTogether) {
  struct Case {
    double load, omega, factor;
  };
  for (const Case& c : {Case{4.278, 1.987, -1}, Case{5.546, 0.885, 0.7}, Case{4.59, 1.98, -3},
                        Case{4.003, 1.971, 1}, Case{5.504, 1.847, -3}}) {
    TestModel model = text_model("[parameters]\na = " + std::to_string(c.load) +
                                 "\nw = " + std::to_string(c.omega) + "\nc = " + std::to_string(c.factor) +
                                 R"toml(
[tables]
push = { x = [-2, 0, 1], y = [0.5, 0, 0.5], between = "step", outside = "hold" }
[coordinates]
x = { velocity = 0.3 }
y = 0
[energy]
kinetic = "0.5*x'^2 + 0.5*y'^2"
dissipation = "3*abs(x')"
[[force]]
along = "x'"
value = "-a*sin(w*t)"
[[force]]
along = "y'"
value = "push(c*x')"
[run]
until = 8
)toml");
    constexpr int kSteps = 800000;
    constexpr double kStep = 8.0 / kSteps;
    double v = 0.3;
    double pushed = 0;
    for (int k = 0; k < kSteps; ++k) {
      const double free = v - kStep * c.load * std::sin(c.omega * kStep * (k + 0.5));
      v = std::copysign(std::max(std::abs(free) - 3 * kStep, 0.0), free);
      const double at = c.factor * v;
      pushed += kStep * (at >= 0 && at < 1 ? 0 : 0.5);
    }
    for (const double tolerance : {1e-8, 1e-10}) {
      model.options.tolerance = tolerance;
      const simulate::Result result = simulate::simulate(model.system, model.options, "event");
      ASSERT_EQ(result.end.status.reason, Reason::done) << c.load << ' ' << result.end.status.message;
      EXPECT_NEAR(last(result, "x'"), v, 1e-4) << c.load;
      EXPECT_NEAR(last(result, "y'"), pushed, 1e-4) << c.load;
    }
  }
}

// A node without mass is dragged by a spring while the body behind it rests on the kink of its friction. The node starts at its limit, 0.01 ahead of x,
// and is overcome 0.01 behind it: x + 1 = 1.3/31 (1 - cos(sqrt(31) t)) up to 0.02, then x'' = -x - 0.3.
TEST(NodesWithoutMass, ANodeIsReleasedWhileAnotherBodySlides) {
  TestModel model = text_model(R"toml(
[coordinates]
x = -1
y = 0
w = { massless = true }
[energy]
kinetic = "0.5*x'^2 + 1.5*y'^2"
potential = "0.5*(x - y)^2 + 15*(w - x)^2"
dissipation = "2*abs(y')"
[[force]]
along = "y'"
value = "1.5 - t"
[[friction]]
name = "node"
slip = "w'"
normal = 1
law = 0.3
[run]
until = 1
)toml");
  const double omega = std::sqrt(31.0);
  const double phase = std::acos(1 - 0.02 * 31 / 1.3);
  const double speed = 1.3 / 31 * omega * std::sin(phase);
  const double since = 1 - phase / omega;
  const double x = -0.3 - 0.68 * std::cos(since) + speed * std::sin(since);
  for (const double tolerance : {1e-6, 1e-8, 1e-10}) {
    model.options.tolerance = tolerance;
    const simulate::Result result = simulate::simulate(model.system, model.options, "event");
    ASSERT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
    EXPECT_NEAR(last(result, "x"), x, 10 * tolerance) << tolerance;
    EXPECT_NEAR(last(result, "w"), x - 0.01, 10 * tolerance) << tolerance;
    EXPECT_EQ(last(result, "y"), 0) << tolerance;
  }
}

// --- touches ---

// A body is pressed to its floor, from which it would bounce for good, and a wall comes up to its place with the speed zero, from a*sin(w t) = a. What
// rounding makes of that touch must not throw it: it stays where it is, and every highest point of the wall is at most a graze.
TEST(TouchesWithoutSpeed, AWallThatComesUpToABodyAtRestDoesNotThrowIt) {
  for (const double omega : {0.9, 1.1, 1.4, 2.3, 3.7}) {
    for (const double size : {0.3, 0.7, 1.3}) {
      TestModel model =
          text_model("[parameters]\na = " + std::to_string(size) + "\nw = " + std::to_string(omega) + R"toml(
[coordinates]
x = -2
[energy]
kinetic = "0.5*x'^2"
[[force]]
along = "x'"
value = "-0.7*bump(0.5*t)"
[[contact]]
name = "floor"
gap = "x + 2"
impact = 1
[[contact]]
name = "wall"
gap = "x - a*sin(w*t) + 2 + a"
impact = 0.5
[run]
until = 6
max_events = 100
)toml");
      for (const double tolerance : {1e-6, 1e-8, 1e-10}) {
        model.options.tolerance = tolerance;
        const simulate::Result result = simulate::simulate(model.system, model.options, "event");
        ASSERT_EQ(result.end.status.reason, Reason::done)
            << omega << ' ' << size << ' ' << result.end.status.message;
        EXPECT_EQ(result.end.impacts, 0) << omega << ' ' << size << ' ' << tolerance;
        EXPECT_EQ(last(result, "x"), -2) << omega << ' ' << size << ' ' << tolerance;
        EXPECT_EQ(last(result, "x'"), 0) << omega << ' ' << size << ' ' << tolerance;
      }
    }
  }
}

// --- hops ---

// A ball bounces without loss under 38 while friction of 2 slows it both ways: each hop is sqrt(36/40) times the one before, and all of them take a time
// that is known. Hops of 1e-12 are landed on as exactly as large ones; landings that were late by a share of a hop fed them for good.
TEST(Hops, FrictionEndsThemInTheTimeThatTheirSumTakes) {
  TestModel model = text_model(R"toml(
[coordinates]
x = { start = 3, velocity = 0.7 }
y = 0
[energy]
kinetic = "0.5*x'^2 + 0.5*y'^2"
[[force]]
along = "x'"
value = -38
[[force]]
along = "y'"
value = "3*cos(t)"
[[friction]]
name = "slide"
slip = "x'"
normal = 2
law = 1
[[contact]]
name = "floor"
gap = "x - 3"
impact = 1
[run]
until = 1.2
max_events = 5000
)toml");
  const double ratio = std::sqrt(36.0 / 40);
  const double sum = 0.7 / (1 - ratio) * (1.0 / 40 + ratio / 36);
  for (const double tolerance : {1e-8, 1e-9, 1e-10, 1e-11, 1e-12}) {
    model.options.tolerance = tolerance;
    const simulate::Result result = simulate::simulate(model.system, model.options, "event");
    ASSERT_EQ(result.end.status.reason, Reason::done) << tolerance << ' ' << result.end.status.message;
    EXPECT_LT(result.end.events, 1000) << tolerance;
    EXPECT_NEAR(result.data.events.back().time, sum, 1e-5) << tolerance;
    EXPECT_NEAR(last(result, "x"), 3, 1e-14) << tolerance;
    EXPECT_EQ(last(result, "x'"), 0) << tolerance;
  }
}

}  // namespace
}  // namespace judder
