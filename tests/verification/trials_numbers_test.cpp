// Motions that once ended because a formula gave no number, or a balance of forces none that was exact enough.
#include <gtest/gtest.h>

#include <cmath>

#include "run_model.hpp"

namespace judder {
namespace {

// v' = −10 exp(−√(2 v)) from v = 1: with u = √(2 v), the slip ends at 0.1 ∫ u eᵘ du after 0.05 ∫ u³ eᵘ du, over (0, √2).
TEST(NoNumber, TheEndOfASlipWithAFractionalExponent) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 1 }
[energy]
kinetic = "0.25*x'^2"
[[friction]]
name = "j"
slip = "x'"
normal = 5
law = { static = 1, dynamic = 0, velocity = 0.5, exponent = 0.5 }
[run]
until = 0.65
)toml");
  const simulate::Result r = run(model);
  ASSERT_EQ(r.end.status.reason, Reason::done) << r.end.status.message;
  const double u = std::sqrt(2);
  ASSERT_EQ(r.data.events.size(), 1U);
  EXPECT_NEAR(r.data.events[0].time, 0.1 * ((u - 1) * std::exp(u) + 1), 1e-7);
  EXPECT_NEAR(r.end.end.y[0], 0.05 * ((u * u * u - 3 * u * u + 6 * u - 6) * std::exp(u) + 6), 1e-7);
}

// A massless node on a spring leaves its limit at t = 1 with y = 0: what the forces leave of each other there is rounding, and y has no size yet. The
// tanh makes its balance one that is solved by iteration. 20 y + 0.1 tanh y = t − 1.
TEST(NoNumber, AMasslessNodeThatLeavesItsLimitAtZero) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = { massless = true }
[energy]
kinetic = "0.5*x'^2"
potential = "10*y^2"
[[force]]
along = "y'"
value = "t - 0.1*tanh(y)"
[[friction]]
name = "node"
slip = "y'"
normal = 1
law = 1
[run]
until = 6
)toml");
  const simulate::Result r = run(model);
  ASSERT_EQ(r.end.status.reason, Reason::done) << r.end.status.message;
  ASSERT_EQ(r.data.events.size(), 1U);
  EXPECT_NEAR(r.data.events[0].time, 1, 1e-8);
  const double y = r.end.end.y[1];
  EXPECT_NEAR(20 * y + 0.1 * std::tanh(y), 5, 1e-8);
}

}  // namespace
}  // namespace judder
