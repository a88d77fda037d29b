// Schemes do not make energy out of nothing, and say so where they do. θ and Newmark with consistent ends: constraints, landings, slips
// of several components.
#include <gtest/gtest.h>

#include <cmath>

#include "step_support.hpp"

namespace judder {
namespace {

constexpr double kGravity = 9.81;

TestModel pendulum() {
  return text_model(R"toml(
[coordinates]
x = 1
y = 0
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[constraint]]
name = "rod"
zero = "x^2 + y^2 - 1"
[run]
until = 1
[output]
columns = { E = "energy()" }
)toml");
}

// The angle of the same pendulum by a method of order four with steps of 1e-5.
double pendulum_angle(double until) {
  double a = 0, w = 0;
  const double h = 1e-4;
  const auto rate = [](double angle) { return -kGravity * std::cos(angle); };
  for (long i = 0; i < std::lround(until / h); ++i) {
    const double k1 = rate(a), k2 = rate(a + h / 2 * w), k3 = rate(a + h / 2 * w + h * h / 4 * k1),
                 k4 = rate(a + h * w + h * h / 2 * k2);
    a += h * w + h * h / 6 * (k1 + k2 + k3);
    w += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return a;
}

TEST(ConsistentEnds, SwingAPendulumWithOrderTwo) {
  const TestModel model = pendulum();
  const double angle = pendulum_angle(2);
  for (const char* engine : {"theta", "newmark"}) {
    double before = 0;
    for (const double h : {0.01, 0.005, 0.0025}) {
      const simulate::Result run = step_to(model, engine, h, 2);
      ASSERT_TRUE(run.end.status.ok()) << engine << run.end.status.message;
      const double error = std::hypot(last(run, "x") - std::cos(angle), last(run, "y") - std::sin(angle));
      if (before > 0) {
        EXPECT_NEAR(std::log2(before / error), 2, 0.2) << engine << h;
      }
      before = error;
    }
  }
}

// A floor that swings picks a body up that stood still: after that impact the reaction is that of the swing, and does not ring. In a row
// that lies a rounding before the end of a step stands the reaction of that end, which is off by its rate times the step.
TEST(ConsistentEnds, ReactionsDoNotRing) {
  const TestModel model = text_model(R"toml(
[coordinates]
y = 0
[energy]
kinetic = "y'^2/2"
potential = "10*y"
[[contact]]
name = "floor"
gap = "y - 0.05*sin(6*t)"
[run]
until = 1
[output]
columns = { N = "normal(floor)" }
)toml");
  for (const char* engine : {"theta", "newmark"}) {
    const simulate::Result run = step_to(model, engine, 1e-3, 3);
    ASSERT_TRUE(run.end.status.ok()) << engine << run.end.status.message;
    for (long row = 2; row <= 3000; ++row) {
      const double swing = 0.05 * std::sin(6 * cell(run, row, "t"));
      EXPECT_NEAR(cell(run, row, "y"), swing, 1e-12) << engine << row;
      EXPECT_NEAR(cell(run, row, "N"), 10 - 36 * swing, 0.012) << engine << row;
    }
  }
}

// A body that falls onto the floor stays there, at whatever place in a step it lands.
TEST(ConsistentEnds, LandAtRest) {
  for (const double height : {0.1, 0.1003, 0.1007, 0.101}) {
    const TestModel model = text_model(R"toml(
[coordinates]
x = { start = 0, velocity = 3 }
y = )toml" + std::to_string(height) + R"toml(
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[contact]]
name = "floor"
gap = "y"
slip = "x'"
friction = 0.3
[run]
until = 1
[output]
columns = { E = "energy()", N = "normal(floor)" }
)toml");
    const double land = std::sqrt(2 * height / kGravity), fast = kGravity * land;
    for (const char* engine : {"theta", "newmark"}) {
      const simulate::Result run = step_to(model, engine, 1e-3, 1.5);
      ASSERT_TRUE(run.end.status.ok()) << engine << run.end.status.message;
      const double slip = 3 - 0.3 * fast;  // behind the impact with its friction
      EXPECT_NEAR(last(run, "x"), 3 * land + slip * slip / (2 * 0.3 * kGravity), 5e-3) << engine;
      EXPECT_NEAR(last(run, "y"), 0, 1e-15) << engine;
      EXPECT_NEAR(last(run, "N"), kGravity, 1e-9) << engine;
      double before = INFINITY;
      for (long row = 0; row <= 1500; ++row) {
        const double energy = cell(run, row, "E");
        EXPECT_LE(energy, before + 1e-9) << engine << row;
        before = energy;
      }
    }
  }
}

// A block on a table slides straight on, in whatever direction, and stops after v²/(2 μ g).
TEST(ConsistentEnds, SlipInTwoDirectionsGoesStraight) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { start = 0, velocity = 0.6 }
y = { start = 0, velocity = 0.8 }
z = 0
[energy]
kinetic = "(x'^2 + y'^2 + z'^2)/2"
potential = "10*z"
[[contact]]
name = "table"
gap = "z"
slip = ["x'", "y'"]
friction = 0.25
[run]
until = 1
)toml");
  for (const char* engine : {"theta", "newmark"}) {
    const simulate::Result run = step_to(model, engine, 1e-3, 1);
    ASSERT_TRUE(run.end.status.ok()) << engine << run.end.status.message;
    EXPECT_NEAR(std::hypot(last(run, "x"), last(run, "y")), 0.2, 1e-6) << engine;
    for (long row = 1; row <= 1000; ++row)
      EXPECT_NEAR(0.8 * cell(run, row, "x") - 0.6 * cell(run, row, "y"), 0, 1e-13) << engine << row;
  }
}

// Petcoviciu 1.7: as printed both make energy in contact, and the block of the gallery has more with every stroke. The run does not end
// as done; with consistent ends it does.
TEST(EnergyOutOfNothing, IsTheEndOfARun) {
  const TestModel block = gallery_model("elastic-block");
  for (const char* engine : {"theta", "newmark"}) {
    const simulate::Result printed = step_run(block, engine, 2e-3, 400, kPrinted);
    EXPECT_EQ(printed.end.status.reason, Reason::laws_violated) << engine;
    EXPECT_NE(printed.end.status.message.find("out of nothing"), std::string::npos);
    EXPECT_GT(monitor(printed, "energy_gain").worst, 0.2) << engine;
    const simulate::Result standard = step_run(block, engine, 2e-3, 400);
    EXPECT_TRUE(standard.end.status.ok()) << engine << standard.end.status.message;
    EXPECT_LT(monitor(standard, "energy_gain").worst, 0.01) << engine;
    for (long row = 0; row <= 400; ++row) EXPECT_LT(cell(standard, row, "E"), 1) << engine << row;
  }
}

TEST(EnergyOutOfNothing, IsSeenInForcesToo) {
  const TestModel swing = text_model(R"toml(
[coordinates]
x = 1
[energy]
kinetic = "x'^2/2"
potential = "x^2/2"
[run]
until = 1
)toml");
  const simulate::Result euler = step_to(swing, "moreau", 0.01, 100, {{"theta", 0, ""}});
  EXPECT_EQ(euler.end.status.reason, Reason::laws_violated);
  const simulate::Result middle = step_to(swing, "moreau", 0.01, 100);
  EXPECT_TRUE(middle.end.status.ok());
  EXPECT_LT(monitor(middle, "energy_gain").worst, 1e-9);
}

// What drives and forces supply is no gain, and what springs give back neither.
TEST(EnergyOutOfNothing, IsNotWhatIsSupplied) {
  const TestModel belt = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "x'^2/2"
potential = "20*x^2"
[[friction]]
name = "belt"
slip = "x' - 1"
normal = 10
law = { static = 0.4, dynamic = 0.3 }
[run]
until = 1
)toml");
  for (const char* engine :
       {"moreau", "theta", "newmark", "paoli-schatzman", "rk4", "rk4-zabuga", "penalty", "arctan"}) {
    const simulate::Result run = step_to(belt, engine, 1e-3, 20);
    EXPECT_TRUE(run.end.status.ok()) << engine << run.end.status.message;
    EXPECT_LT(monitor(run, "energy_gain").worst, 0.05) << engine;
  }
  const TestModel ball = text_model(R"toml(
[coordinates]
h = 1
[energy]
kinetic = "h'^2/2"
potential = "9.81*h"
[[contact]]
name = "ground"
gap = "h"
impact = 0.8
[run]
until = 1
)toml");
  for (const char* engine : {"moreau", "paoli-schatzman", "rk4", "penalty"}) {
    const simulate::Result run = step_to(ball, engine, 1e-3, 2);
    EXPECT_TRUE(run.end.status.ok()) << engine << run.end.status.message;
  }
}

}  // namespace
}  // namespace judder
