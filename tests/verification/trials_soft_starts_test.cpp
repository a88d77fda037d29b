// Contacts and joints that are left softly: the first derivative that moves them is of an order which the polynomial of a step may not carry.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "run_model.hpp"

namespace judder {
namespace {

/// A body of one kilogram rests in a contact or moves with a joint's slip from zero under a force that begins like a power of the time.
std::string pushed(const std::string& force, double start) {
  const std::string at = std::to_string(start);
  return "[coordinates]\nx = " + at +
         "\ny = 0\n[energy]\nkinetic = \"x'^2/2 + 3*y'^2/2\"\npotential = \"y\"\n[[force]]\nalong = "
         "\"x'\"\n" +
         "value = \"" + force + "\"\n[[contact]]\nname = \"stop\"\ngap = \"x - " + at +
         "\"\n[run]\nuntil = 4\n";
}

// x'' = t^p: x = t^(p + 2)/((p + 1)(p + 2)).
TEST(SoftStarts, AContactUnderAPowerOfTimeOpensAtOnce) {
  for (const int power : {1, 2, 3, 4, 5, 6, 8}) {
    for (const double start : {0.0, 5.0}) {
      TestModel model = text_model(pushed("t^" + std::to_string(power), start));
      for (const double tolerance : {1e-6, 1e-7, 1e-8, 1e-9, 1e-11}) {
        model.options.tolerance = tolerance;
        const engines::EngineResult end = run_to_end(model);
        ASSERT_EQ(end.status.reason, Reason::done)
            << power << " at " << tolerance << ": " << end.status.message;
        const double x = std::pow(4.0, power + 2) / ((power + 1) * (power + 2));
        EXPECT_NEAR(end.end.y[0] - start, x, 100 * tolerance * x) << power << " at " << tolerance;
        EXPECT_LT(end.steps, 1000) << power << " at " << tolerance;
      }
    }
  }
}

// The same by what another body has moved: y = −t²/6, x'' = 3 |y|^p.
TEST(SoftStarts, AContactUnderAPowerOfAnotherPlaceOpensAtOnce) {
  for (const int power : {1, 2, 3, 4, 5}) {
    TestModel model = text_model(pushed("3*abs(y)^" + std::to_string(power), 0));
    for (const double tolerance : {1e-6, 1e-8, 1e-9, 1e-10}) {
      model.options.tolerance = tolerance;
      const engines::EngineResult end = run_to_end(model);
      ASSERT_EQ(end.status.reason, Reason::done)
          << power << " at " << tolerance << ": " << end.status.message;
      const double x =
          3 * std::pow(1.0 / 6, power) * std::pow(4.0, 2 * power + 2) / ((2 * power + 1) * (2 * power + 2));
      EXPECT_NEAR(end.end.y[0], x, 100 * tolerance * x) << power << " at " << tolerance;
    }
  }
}

// Friction under a load like |x|^1.5 that begins at zero, m v²/2 + |k x|^1.5 x/2.5 stays what it was; the way back is not taken, since static friction holds it.
TEST(SoftStarts, ALoadLikeAFractionalPowerOfThePlaceGrowsFromZero) {
  TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 1 }
[energy]
kinetic = "2.5*x'^2"
[[friction]]
name = "j"
slip = "x'"
normal = "abs(abs(0.3*x)^1.5)"
law = 1
[run]
until = 3
)toml");
  for (const double tolerance : {1e-6, 1e-8, 1e-9, 1e-11}) {
    model.options.tolerance = tolerance;
    const engines::EngineResult end = run_to_end(model);
    ASSERT_EQ(end.status.reason, Reason::done) << tolerance << ": " << end.status.message;
    const double x = end.end.y[0];
    const double v = end.end.y[1];
    EXPECT_GT(v, 0.5);
    EXPECT_NEAR(2.5 * v * v + std::pow(0.3 * x, 1.5) * x / 2.5, 2.5, 1000 * tolerance) << tolerance;
  }
}

// A bristle between a body that is held and a belt that starts: z' = v − σ |v| z/g(v) has no time of its own while v = 0, and a short one soon after. By small steps of order four.
TEST(SoftStarts, ABristleUnderABeltIsRightFromTheFirstStepOn) {
  const double stiffness = 100;
  const auto rate = [&](double t, double z) {
    const double v = -0.5 * std::sin(3.5 * t);
    const double g = 0.15 + 0.15 * std::exp(-4 * v * v);
    return v - stiffness * std::abs(v) * z / g;
  };
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "2.5*x'^2"
[[force]]
along = "x'"
value = 1
[[friction]]
name = "j"
slip = "x' - 0.5*sin(3.5*t)"
normal = 0.1
law = { type = "lugre", static = 0.3, dynamic = 0.15, velocity = 0.5, stiffness = 100, damping = 1 }
[[contact]]
name = "stop"
gap = "-x"
[run]
until = 3
)toml");
  for (const double tolerance : {1e-6, 1e-8, 1e-10}) {
    model.options.tolerance = tolerance;
    model.options.samples = 1001;
    const simulate::Result result = run(model);
    ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
    const int column = result.data.column("j.bristle");
    ASSERT_GE(column, 0);
    double z = 0;
    double t = 0;
    constexpr double kStep = 3e-6;
    for (std::size_t row = 1; row < 12; ++row) {
      const double end = result.data.cell(row, 0);
      const int steps = static_cast<int>(std::lround((end - t) / kStep));
      const double h = (end - t) / steps;
      for (int k = 0; k < steps; ++k, t += h) {
        const double a = rate(t, z);
        const double b = rate(t + h / 2, z + h / 2 * a);
        const double c = rate(t + h / 2, z + h / 2 * b);
        const double d = rate(t + h, z + h * c);
        z += h / 6 * (a + 2 * b + 2 * c + d);
      }
      t = end;
      EXPECT_NEAR(result.data.cell(row, static_cast<std::size_t>(column)), z, 100 * tolerance * std::abs(z))
          << "t = " << end << " at " << tolerance;
    }
  }
}

}  // namespace
}  // namespace judder
