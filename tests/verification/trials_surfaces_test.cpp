// Models that once came out wrong: surfaces that read the speed of a node without mass, surfaces without a slope at zero, surfaces that one value of a
// switch would leave and no side does, and those that begin as softly as exp(-1/t). What is right is a closed form, or a sum over short steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

constexpr double kTolerances[] = {1e-8, 1e-10, 1e-12};

/// The end of a run that must reach it, with the referee silent.
std::vector<double> end_of(TestModel& model, double tolerance) {
  model.options.tolerance = tolerance;
  return outcome_of(model, "event").y;
}

// The node y follows y = -w by its balance, w = -2 + 2 cos ωt with ω² = 40, and its speed passes twelve levels again and again. A landing leaves more of
// a zero of such a speed than its last bit.
TEST(Surfaces, OfTheSpeedOfANodeArePassedAtEveryLevel) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = { massless = true }
w = 0
[energy]
kinetic = "x'^2/2 + w'^2/4"
potential = "(y + w)^2 + 10*(w + 2)^2"
[[force]]
along = "x'"
value = "mod(y', 1)"
[run]
until = 1.5
)toml");
  const double omega = std::sqrt(40.0);
  const double until = 1.5;
  const int n = 1 << 21;
  double x = 0;
  double v = 0;
  for (int i = 0; i < n; ++i) {
    const double t = (i + 0.5) * until / n;
    const double speed = 2 * omega * std::sin(omega * t);
    const double force = speed - std::floor(speed);
    v += force * until / n;
    x += (until - t) * force * until / n;
  }
  for (const double tolerance : kTolerances) {
    const std::vector<double> y = end_of(model, tolerance);
    EXPECT_NEAR(y[0], x, 2e-5) << tolerance;
    EXPECT_NEAR(y[3], v, 2e-5) << tolerance;
  }
}

// The limit of the friction falls with the square root of the speed, and has no slope where the slip begins; without load it has no value that matters. The
// body is above the ground for 0.2 s, and slips there without friction.
TEST(Surfaces, WithoutASlopeAreLeftWhereTheirValueGoes) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = { start = 0, velocity = 1 }
[energy]
kinetic = "x'^2/2 + y'^2/2"
potential = "10*y"
[[force]]
along = "x'"
value = 1
[[contact]]
name = "ground"
gap = "y"
compliant = { stiffness = 500 }
slip = "x'"
friction = { type = "penalty", static = 0.1, dynamic = 0.05, velocity = 1, exponent = 0.5, stiffness = 500, damping = 0.5 }
[run]
until = 0.25
)toml");
  // From the landing on: y' = -1, and the law as it is written, with short steps.
  double q[2] = {0.02, 0};
  double v[2] = {0.2, -1};
  double z = 0;
  const int n = 1 << 20;
  const double h = 0.05 / n;
  for (int i = 0; i < n; ++i) {
    const double load = std::max(0.0, -500 * q[1]);
    const double limit = load * (0.05 + 0.05 * std::exp(-std::sqrt(std::abs(v[0]))));
    const double friction = std::clamp(500 * z + 0.5 * v[0], -limit, limit);
    z += h * (friction - 500 * z) / 0.5;
    v[0] += h * (1 - friction);
    v[1] += h * (load - 10);
    for (int k : {0, 1}) q[k] += h * v[k];
  }
  for (const double tolerance : kTolerances) {
    const std::vector<double> y = end_of(model, tolerance);
    EXPECT_NEAR(y[0], q[0], 1e-6) << tolerance;
    EXPECT_NEAR(y[2], v[0], 1e-6) << tolerance;
  }
}

// On both sides of x' = 0 the forces balance. The value that sign has at zero would push, and be left at once: it has no time to do so.
TEST(Surfaces, ThatNoSideLeavesAreStayedOn) {
  for (const char* const constraint : {"", "[[constraint]]\nname = \"link\"\nzero = \"y - x\"\n"}) {
    TestModel model = text_model(std::string(R"toml(
[coordinates]
x = 0
y = 0
[energy]
kinetic = "x'^2/2 + y'^2/2"
[[force]]
along = "x'"
value = "1 - abs(sign(x'))"
)toml") + constraint + "[run]\nuntil = 1\n");
    for (const double tolerance : kTolerances) {
      const std::vector<double> y = end_of(model, tolerance);
      EXPECT_EQ(y[0], 0) << constraint << tolerance;
      EXPECT_EQ(y[2], 0) << constraint << tolerance;
    }
  }
}

// bump is zero in numbers up to t = 0.00134, and then grows by hundreds of orders of magnitude in a step. What a long trial step has met behind its end says
// nothing about where the surface is left.
TEST(Surfaces, ThatBeginSoftlyAreLeftWhereTheyAreNumbers) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
w = 0
[energy]
kinetic = "x'^2/2 + w'^2"
[[force]]
along = "w'"
value = "step(-bump(t) + if(x >= 1, 1, 0))"
[run]
until = 0.0065
)toml");
  for (const double tolerance : kTolerances) {
    const std::vector<double> y = end_of(model, tolerance);
    EXPECT_LE(y[3], 0.5 * 0.00141) << tolerance;
  }
}

// Friction holds x, and with it the constraint, which has nothing to carry and rubs with nothing: the reactions of the two sides of x' = 0 cancel.
TEST(Surfaces, ThatAreSlidOnLeaveAConstraintWithoutFriction) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = 1
w = 0
[energy]
kinetic = "1.5*x'^2 + y'^2 + w'^2/2"
potential = "w"
dissipation = "abs(x')"
[[constraint]]
name = "link"
zero = "x - 2*y + 2"
slip = "w'"
friction = 1
[run]
until = 1
)toml");
  for (const double tolerance : kTolerances) {
    const std::vector<double> y = end_of(model, tolerance);
    EXPECT_NEAR(y[2], -0.5, 1e-12) << tolerance;
    EXPECT_NEAR(y[5], -1, 1e-12) << tolerance;
  }
}

// A reaction that is zero has the sign of its rounding, and so has the friction that it loads: 3 x'' = -2 x'.
TEST(Surfaces, OfAJointWhoseLoadIsRoundingAreNoFault) {
  TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 1 }
y = -1.5
[energy]
kinetic = "1.5*x'^2 + y'^2"
dissipation = "(y' - x')^2"
[[friction]]
name = "rub"
slip = "y' - 1"
normal = "0.2*normal(floor)"
law = "if(0 < y' - 1, 0.3, 0.6)"
[[contact]]
name = "floor"
gap = "y + 1.5"
[[constraint]]
name = "hold"
zero = "y + 1.5"
[run]
until = 1
)toml");
  for (const double tolerance : kTolerances) {
    const std::vector<double> y = end_of(model, tolerance);
    EXPECT_NEAR(y[0], 1.5 * (1 - std::exp(-2.0 / 3)), 1e-7) << tolerance;
  }
}

// The guide is pressed from the other side from some time on. Where that is, its reaction is as near to zero as the tolerance asks for.
TEST(Surfaces, OfAConstraintThatIsPressedFromTheOtherSideAreNoFault) {
  TestModel model = text_model(R"toml(
[coordinates]
x = -1
y = 0
w = 0
[energy]
kinetic = "0.25*x'^2 + 0.5*y'^2 + 0.5*w'^2"
potential = "50 + 5*(w + x)^2"
[[friction]]
name = "rest"
slip = "y'"
normal = 1
law = 1
[[friction]]
name = "rest2"
slip = "y'"
normal = 1
law = 1
[[constraint]]
name = "guide"
zero = "x - (2*(1 - cos(3*t))) + 1"
slip = "w'"
friction = 1
[run]
until = 0.14
)toml");
  for (const double tolerance : kTolerances)
    EXPECT_NEAR(end_of(model, tolerance)[0], 1 - 2 * std::cos(0.42), 1e-9) << tolerance;
}

}  // namespace
}  // namespace judder
