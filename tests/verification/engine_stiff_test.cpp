// The event engine where stiffness and rounding meet: which method it takes, what it costs, and that both give the same motion.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

using engines::Integrator;

engines::EngineResult run_with(TestModel& model, Integrator integrator) {
  model.options.integrator = integrator;
  const engines::EngineResult result = run_to_end(model);
  EXPECT_TRUE(result.status.ok()) << result.status.message << " at t = " << result.status.time;
  return result;
}

// z follows sin t with a time constant of 1e-4: the slow motion asks for a hundred steps, stability of explicit ones for twenty thousand.
TEST(EngineStiff, TheCheaperMethodIsFoundAndGivesTheSameMotion) {
  TestModel model = text_model(R"toml(
[state]
z = { start = 0, rate = "-1e4*(z - sin(t)) + cos(t)" }
[run]
until = 20
)toml");
  const engines::EngineResult explicit_run = run_with(model, Integrator::explicit_only);
  const engines::EngineResult stiff_run = run_with(model, Integrator::stiff);
  const engines::EngineResult automatic = run_with(model, Integrator::automatic);
  EXPECT_GT(explicit_run.evaluations, 20 * stiff_run.evaluations);
  EXPECT_LT(automatic.evaluations, 2 * stiff_run.evaluations + 2000);
  for (const engines::EngineResult* run : {&explicit_run, &stiff_run, &automatic}) {
    EXPECT_NEAR(run->end.y[0], std::sin(20.0), 100 * model.options.tolerance);
  }
}

// Stiff for a tenth of the run only: afterwards the explicit method is taken again, and the run is cheaper than with either alone.
TEST(EngineStiff, TheWayBackIsFoundToo) {
  TestModel model = text_model(R"toml(
[state]
z = { start = 0, rate = "-if(t < 10, 1e4, 0)*(z - sin(t)) + cos(t)" }
[run]
until = 100
tolerance = 1e-11
)toml");
  const engines::EngineResult explicit_run = run_with(model, Integrator::explicit_only);
  const engines::EngineResult stiff_run = run_with(model, Integrator::stiff);
  const engines::EngineResult automatic = run_with(model, Integrator::automatic);
  EXPECT_LT(automatic.evaluations, explicit_run.evaluations);
  EXPECT_LT(automatic.evaluations, stiff_run.evaluations);
  EXPECT_NEAR(automatic.end.y[0], std::sin(100.0), 1e-8);
}

// A model without stiffness keeps the explicit method: trials of the other cost a few per cent and change no bit.
TEST(EngineStiff, TrialsChangeNothingWhereTheyFail) {
  TestModel model = gallery_model("press");
  model.options.tolerance = 1e-12;
  const engines::EngineResult explicit_run = run_with(model, Integrator::explicit_only);
  const engines::EngineResult automatic = run_with(model, Integrator::automatic);
  EXPECT_EQ(explicit_run.end.y, automatic.end.y);
  EXPECT_EQ(explicit_run.steps, automatic.steps);
  EXPECT_LT(static_cast<double>(automatic.evaluations), 1.1 * static_cast<double>(explicit_run.evaluations));
}

// Nothing has a size at the start: at rest, no force, everything zero. x = t⁵/20 behind a stiff spring that follows.
TEST(EngineStiff, TheImplicitMethodStartsFromRest) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = { massless = true }
[energy]
kinetic     = "x'^2/2"
potential   = "1e9/2*(y - x)^2"
dissipation = "1e4/2*(y' - x')^2"
[[force]]
along = "x'"
value = "t^3"
[run]
until = 1
)toml");
  const engines::EngineResult result = run_with(model, Integrator::stiff);
  EXPECT_NEAR(result.end.y[0], 0.05, 1e-8);
  EXPECT_NEAR(result.end.y[1], 0.05, 1e-8);
}

// A block that friction brings to rest: its velocity is linear, exact for any step; the heat is not.
TEST(EngineStiff, WorkIsAsExactAsTheMotion) {
  TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 3 }
[energy]
kinetic = "2/2*x'^2"
[[friction]]
name   = "table"
slip   = "x' - sin(t)"
normal = "10*exp(-t)"
law    = 0.1
[run]
until = 1
)toml");
  const engines::EngineResult result = run_with(model, Integrator::stiff);
  // v = 3 − (1 − e^−t)/2;  heat = ∫ e^−t (v − sin t) dt = 5/2 (1 − e^−1) + (1 − e^−2)/4 − (1 − e^−1 (sin 1 + cos 1))/2
  const double e = std::exp(-1.0);
  const double heat = 2.5 * (1 - e) + (1 - e * e) / 4 - (1 - e * (std::sin(1.0) + std::cos(1.0))) / 2;
  EXPECT_NEAR(result.end.y[1], 3 - (1 - e) / 2, 1e-9);
  EXPECT_NEAR(result.end.dissipated[0], heat, 1e-8);
}

// Two points that fall together, and a switch on their distance times a large number: its surface is rounding, and steps must not be cut
// to resolve that.
TEST(EngineStiff, ASurfaceMadeOfRoundingDoesNotHoldTheRunBack) {
  TestModel model = text_model(R"toml(
[coordinates]
x = { start = 1, velocity = 0.3 }
y = { start = 2, velocity = 0.6 }
[energy]
kinetic   = "x'^2/2 + y'^2/2"
potential = "x^2/2 + y^2/2"
[[force]]
along = "x'"
value = "1e-30*abs(1e9*(x + y/7 - y*(1/2 + 1/7)))"
[run]
until = 20
)toml");
  const engines::EngineResult result = run_with(model, Integrator::automatic);
  EXPECT_LT(result.steps, 2000);
  EXPECT_NEAR(result.end.y[0], std::cos(20.0) + 0.3 * std::sin(20.0), 1e-7);
}

// Friction of 0.5 and a force of 2 that only opposes x' > 0 hold a body together while the pull 2 − t falls: from t = 0.5 to 2 the motion
// slides on x' = 0 with a coefficient that changes all the time, and only at t = 2.5 friction alone gives way. The kink of another coordinate at
// t = 1.2 is an event in between, at which the coefficient of the beginning would let the body go.
TEST(EngineStiff, AnEventWhileASwitchAndFrictionHoldTogetherSeesTheirPresentShare) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = { start = -1.2, velocity = 1 }
[energy]
kinetic = "x'^2/2 + y'^2/2"
[[force]]
along = "x'"
value = "2 - t - 2*step(x')"
[[force]]
along = "y'"
value = "1e-3*abs(y)"
[[friction]]
name   = "pad"
slip   = "x'"
normal = 1
law    = 0.5
[run]
until = 4
)toml");
  const simulate::Result result = run(model);
  const std::vector<double> slips = event_times(model.system, result.data.events, "slip pad");
  ASSERT_EQ(slips.size(), 1U) << event_list(model.system, result.data.events);
  EXPECT_NEAR(slips[0], 2.5, 1e-9);
  EXPECT_NEAR(last(result, "x"), -std::pow(1.5, 3) / 6, 1e-9) << "x'' = 2.5 − t";
}

// A body at rest on the surface of a switch, left to the side that the switch has already: no event but the slip itself.
TEST(EngineStiff, LeavingASurfaceToItsOwnSideIsOneEvent) {
  for (const Integrator integrator : {Integrator::explicit_only, Integrator::stiff}) {
    TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 1 }
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = "-2*cos(t)- 0.1*step(x')*x'"
[[friction]]
name   = "pad"
slip   = "x'"
normal = 1
law    = 1.2
[run]
until = 4
)toml");
    model.options.integrator = integrator;
    const simulate::Result result = run(model);
    EXPECT_EQ(event_times(model.system, result.data.events, "slip pad").size(), 1U)
        << event_list(model.system, result.data.events);
    EXPECT_EQ(event_times(model.system, result.data.events, "stick pad").size(), 1U)
        << event_list(model.system, result.data.events);
  }
}

}  // namespace
}  // namespace judder
