// Taylor coefficients of motions in a mode, against closed forms and against steps of order eight.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engines/motion_series.hpp"
#include "run_model.hpp"

namespace judder::engines {
namespace {

double value(const expr::Series& s, int order, double tau) {
  double out = 0;
  for (int k = order; k >= 0; --k) out = out * tau + s.c[k];
  return out;
}

/// The mode the engine starts with, and a workspace at the start.
struct Start {
  explicit Start(const TestModel& model) : work(model.system), series(model.system, work) {
    simulate::NullSink sink;
    EngineOptions options = model.options;
    options.until = options.from;
    mode = simulate::run(model.system, "event", options, sink).start_mode;
    work.in = model.system.start();
  }
  Mode mode;
  model::Workspace work;
  MotionSeries series;
};

TEST(MotionSeries, OfAnOscillatorIsThatOfSineAndCosine) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { start = 0.7, velocity = -1.3 }
[energy]
kinetic   = "x'^2/2"
potential = "2*x^2"
[[contact]]
name = "far"
gap  = "x + 5"
[run]
until = 1
)toml");
  Start start(model);
  ASSERT_TRUE(start.series.compute(start.mode, expr::kTaylorOrder));
  ASSERT_EQ(start.series.order(), expr::kTaylorOrder);
  const expr::Series gap = start.series.gap(0);
  const expr::Series rate = start.series.gap_rate(0);
  // x = 0.7 cos 2t − 0.65 sin 2t; derivatives turn in a cycle of four.
  const double cycle[4] = {0.7, -0.65, -0.7, 0.65};
  double factor = 1;  // 2^k / k!
  for (int k = 0; k <= 8; ++k) {
    const double exact = cycle[k % 4] * factor + (k == 0 ? 5 : 0);
    EXPECT_NEAR(gap.c[k], exact, 1e-14 * std::max(1.0, std::abs(exact))) << k;
    if (k > 0) {
      EXPECT_NEAR(rate.c[k - 1], k * cycle[k % 4] * factor, 1e-13) << k;
    }
    factor *= 2.0 / (k + 1);
  }
  EXPECT_EQ(start.series.normal(0).c[0], 0) << "an open contact carries nothing";
}

// Block on a plane, pulled by a polynomial of time: reactions and slip are polynomials known in full.
TEST(MotionSeries, OfASlidingBlockIsItsPolynomial) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 2 }
y = 0
[energy]
kinetic   = "3/2*(x'^2 + y'^2)"
potential = "3*10*y"
[[force]]
along = "x'"
value = "1 + 2*t^3"
[[force]]
along = "y'"
value = "6*t - 3*t^4"
[[contact]]
name     = "floor"
gap      = "y"
slip     = "x'"
friction = 0.25
[run]
until = 1
)toml");
  Start start(model);
  ASSERT_EQ(start.mode.tangent[0], TangentStatus::slip_plus);
  ASSERT_TRUE(start.series.compute(start.mode, expr::kTaylorOrder));
  const double normal[9] = {30, -6, 0, 0, 3, 0, 0, 0, 0};
  for (int k = 0; k < 8; ++k) {
    EXPECT_NEAR(start.series.normal(0).c[k], normal[k], 1e-12) << k;
    EXPECT_NEAR(start.series.limit(0).c[k], normal[k], 1e-12) << k;
    EXPECT_NEAR(start.series.tangent(0).c[k], -0.25 * normal[k], 1e-12) << k;
    EXPECT_NEAR(start.series.cone(0, 0, 1).c[k], 0.5 * normal[k], 1e-12) << k;
    EXPECT_NEAR(start.series.cone(0, 0, -1).c[k], 0, 1e-12) << k;
  }
  // 3 x'' = 1 + 2 t^3 − 0.25 λ_N
  const double slip[9] = {2, (1 - 7.5) / 3, 1.5 / 6, 0, 2.0 / 12, -0.75 / 15, 0, 0, 0};
  for (int k = 0; k <= 8; ++k) EXPECT_NEAR(start.series.slip(0, 0).c[k], slip[k], 1e-12) << k;
}

// Massless coordinates between x = 1 + 2 t and the ground: u = x/2 by two springs; w' = x − w by a spring and a damper, and v' + v = u.
TEST(MotionSeries, OfMasslessCoordinatesIsThatOfTheirBalance) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { start = 1, velocity = 2 }
u = { massless = true }
w = { massless = true, start = 0.5 }
v = { massless = true, start = 0 }
[energy]
kinetic = "x'^2"
potential = "0"
dissipation = "0.5*w'^2 + 0.5*v'^2"
[[force]]
along = "u'"
value = "x - 2*u"
[[force]]
along = "w'"
value = "x - w"
[[force]]
along = "v'"
value = "u - v"
[run]
until = 1
)toml");
  Start start(model);
  ASSERT_TRUE(start.series.compute(start.mode, expr::kTaylorOrder));
  double factor = 1;
  // w = 2 t − 1 + 1.5 e^(−t), v = t − 1/2 + e^(−t)/2
  for (int k = 0; k <= start.series.order(); ++k) {
    EXPECT_NEAR(start.series.velocity(1).c[k], k == 0 ? 1 : 0, 1e-13) << k;
    EXPECT_NEAR(start.series.velocity(2).c[k], (k == 0 ? 2 : 0) - 1.5 * factor, 1e-13) << k;
    EXPECT_NEAR(start.series.velocity(3).c[k], (k == 0 ? 1 : 0) - 0.5 * factor, 1e-13) << k;
    factor *= -1.0 / (k + 1);
  }
}

// Nodes that joints hold, on a body: u on the ground, v carried along by x, n between them; w is carried along as well, with a damper and a force of its own. n = x/4, the joint of v
// pulls the body by 3 x/4, that of w by x' - t - x.
TEST(MotionSeries, OfNodesThatJointsHoldIsThatOfTheirBalance) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 2 }
u = { massless = true }
w = { massless = true, start = 0 }
v = { massless = true }
n = { massless = true }
[energy]
kinetic = "x'^2/2"
potential = "3*(u - n)^2/2 + (n - v)^2/2"
dissipation = "0.5*w'^2"
[[force]]
along = "x'"
value = "1 + t"
[[force]]
along = "w'"
value = "t + w"
[[friction]]
name = "ground"
slip = "u'"
normal = 1
law = 100
[[friction]]
name = "pulled"
slip = "w' - x'"
normal = 1
law = 100
[[friction]]
name = "carried"
slip = "v' - x'"
normal = 1
law = 100
[run]
until = 1
)toml");
  Start start(model);
  ASSERT_TRUE(model.system.motion(start.work));
  ASSERT_TRUE(start.series.compute(start.mode, expr::kTaylorOrder));
  // x'' = 1 + 2 t + x/4 - x'
  double x[10] = {0, 2};
  for (int k = 0; k < 8; ++k)
    x[k + 2] = ((k == 0 ? 1 : k == 1 ? 2 : 0) + x[k] / 4 - (k + 1) * x[k + 1]) / ((k + 1) * (k + 2));
  ASSERT_GE(start.series.order(), expr::kTaylorOrder - 1);
  for (int k = 0; k <= start.series.order(); ++k) {
    const double speed = (k + 1) * x[k + 1];
    EXPECT_NEAR(start.series.velocity(0).c[k], speed, 1e-13) << k;
    EXPECT_NEAR(start.series.velocity(1).c[k], 0, 1e-13) << k;
    EXPECT_NEAR(start.series.velocity(2).c[k], speed, 1e-13) << k;
    EXPECT_NEAR(start.series.velocity(3).c[k], speed, 1e-13) << k;
    EXPECT_NEAR(start.series.velocity(4).c[k], speed / 4, 1e-13) << k;
    EXPECT_NEAR(start.series.tangent(0).c[k], -0.75 * x[k], 1e-13) << k;
    EXPECT_NEAR(start.series.tangent(1).c[k], speed - x[k] - (k == 1 ? 1 : 0), 1e-13) << k;
    EXPECT_NEAR(start.series.tangent(2).c[k], 0.75 * x[k], 1e-13) << k;
  }
}

// A sticking block: the friction force is the pull, and the cone closes as the pull grows.
TEST(MotionSeries, OfAStickingBlockIsItsPull) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = "exp(t) - 1"
[[friction]]
name   = "pad"
slip   = "x'"
normal = "4"
law    = 0.5
[run]
until = 0.5
)toml");
  Start start(model);
  ASSERT_EQ(start.mode.tangent[0], TangentStatus::stick);
  ASSERT_TRUE(start.series.compute(start.mode, expr::kTaylorOrder));
  double factorial = 1;
  for (int k = 0; k < 8; ++k) {
    const double pull = k == 0 ? 0 : 1 / factorial;
    EXPECT_NEAR(start.series.tangent(0).c[k], -pull, 1e-14) << k;
    EXPECT_NEAR(start.series.cone(0, 0, -1).c[k], (k == 0 ? 2 : 0) - pull, 1e-14) << k;
    factorial *= k + 1;
  }
}

// Nonlinear motions without a closed form: the truncated series must leave the integrated motion as τ⁹ (positions), τ⁸ (reactions).
void expect_series_along_motion(const std::string& text, double tau) {
  TestModel model = text_model(text);
  Start start(model);
  ASSERT_TRUE(start.series.compute(start.mode, expr::kTaylorOrder));
  model.options.tolerance = 1e-14;
  model.options.samples = 2;
  double error[2][4];
  for (int half = 0; half < 2; ++half) {
    const double t = half == 0 ? tau : tau / 2;
    model.options.until = t;
    const simulate::Result result = run(model);
    ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
    ASSERT_TRUE(result.data.events.empty()) << event_list(model.system, result.data.events);
    error[half][0] = std::abs(value(start.series.slip(0, 0), 8, t) - last(result, "slip"));
    error[half][1] = std::abs(value(start.series.normal(0), 7, t) - last(result, "normal"));
    error[half][2] = std::abs(value(start.series.tangent(0), 7, t) - last(result, "tangent"));
    error[half][3] = std::abs(value(start.series.gap(0), 8, t) - last(result, "gap"));
  }
  const double order[4] = {9, 8, 8, 9};
  for (int i = 0; i < 4; ++i) {
    // Either rounding has been reached, or halving the time divides the error by nearly 2^order.
    const double rounding = 2e-13;
    if (error[1][i] < rounding) {
      EXPECT_LT(error[0][i], rounding * std::pow(2.0, order[i] + 2)) << "quantity " << i;
    } else {
      EXPECT_GT(std::log2(error[0][i] / error[1][i]), order[i] - 0.7)
          << "quantity " << i << ", " << error[0][i] << ", " << error[1][i];
    }
  }
}

constexpr const char* kColumns = R"toml(
[output]
columns = { slip = "slip(wire)", normal = "normal(wire)", tangent = "tangent(wire)", gap = "gap(wire)" }
)toml";

TEST(MotionSeries, FollowsABeadSlidingOnAParabola) {
  expect_series_along_motion(std::string(R"toml(
[coordinates]
x = { start = 0.3, velocity = 1 }
y = { start = 0.045, velocity = 0.3 }
[energy]
kinetic   = "1/2*(x'^2 + y'^2)"
potential = "9.81*y"
[[contact]]
name     = "wire"
gap      = "y - x^2/2"
slip     = "(x' + x*y')/sqrt(1 + x^2)"
friction = 0.2
[run]
until = 1
)toml") + kColumns,
                             0.2);
}

TEST(MotionSeries, FollowsACoefficientThatDependsOnTheSlipSpeed) {
  expect_series_along_motion(std::string(R"toml(
[coordinates]
x = { velocity = 1 }
y = { velocity = -0.06 }
th = { start = 0.4, velocity = -2 }
[energy]
kinetic   = "1/2*(x'^2 + y'^2) + 1/5*th'^2 + 1/4*th'*x'*cos(th)"
potential = "9.81*y + x^2"
[[force]]
along = "y'"
value = "-sin(th) - t^2"
[[contact]]
name     = "wire"
gap      = "y + 0.02*sin(3*x)"
slip     = "x' + 0.1*y'*x"
friction = { static = 0.5, dynamic = 0.2, velocity = 0.6 }
[run]
until = 1
)toml") + kColumns,
                             0.1);
}

TEST(MotionSeries, FollowsABeadThatSticksToAShakenFloor) {
  expect_series_along_motion(std::string(R"toml(
[coordinates]
x = { velocity = "0.3" }
y = { start = "0" , velocity = 0.2 }
[energy]
kinetic   = "1/2*(x'^2 + y'^2)"
potential = "9.81*y + x^2/2"
[[contact]]
name     = "wire"
gap      = "y - 0.1*sin(2*t)"
slip     = "x' - 0.3*cos(4*t)"
friction = 0.9
[run]
until = 1
)toml") + kColumns,
                             0.1);
}

TEST(MotionSeries, SurfacesOfSwitchesAndStates) {
  const TestModel model = text_model(R"toml(
[state]
a = { start = 2, rate = "-a" }
b = { start = 1, rate = "3*b + sign(a*b - 5)" }
[run]
until = 0.1
)toml");
  Start start(model);
  ASSERT_TRUE(start.series.compute(start.mode, expr::kTaylorOrder));
  // Below the surface: b = (1 − 1/3) e^{3t} + 1/3, a = 2 e^{−t}, so a b − 5 = 4/3 e^{2t} + 2/3 e^{−t} − 5.
  const expr::Series s = start.series.surface(0);
  double two = 1;
  double one = 1;
  double factorial = 1;
  for (int k = 0; k <= 8; ++k) {
    EXPECT_NEAR(s.c[k] / s.c[0] * (2 - 5),
                4.0 / 3 * two / factorial + 2.0 / 3 * one / factorial - (k == 0 ? 5 : 0), 1e-13)
        << k;
    two *= 2;
    one *= -1;
    factorial *= k + 1;
  }
}

TEST(MotionSeries, SaysSoWhenItIsNotFinite) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { start = 0, velocity = 1 }
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = "sqrt(x)"
[run]
until = 1
)toml");
  model::Workspace work(model.system);
  MotionSeries series(model.system, work);
  work.in = model.system.start();
  Mode mode;
  EXPECT_FALSE(series.compute(mode, expr::kTaylorOrder)) << "the square root has no derivative at zero";
}

}  // namespace
}  // namespace judder::engines
