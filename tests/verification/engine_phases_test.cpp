// How phases begin and end: guards that start at a zero of some order, stiff stops, sliding and sticking for ever.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "closed_forms.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

// A mass on the floor is pulled up by P(t) = g + sin(t − 1): it leaves at t = 1 with acceleration zero, so its gap begins like (t − 1)³, a zero
// of order three that must not be taken for a landing. It never comes down: x = (t − 1) − sin(t − 1).
TEST(EnginePhases, ALiftOffWithZeroAccelerationIsNoLanding) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic   = "x'^2/2"
potential = "9.81*x"
[[force]]
along = "x'"
value = "9.81 + sin(t - 1)"
[[contact]]
name = "floor"
gap  = "x"
[run]
until = 9
)toml");
  const simulate::Result result = run(model);
  ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
  EXPECT_EQ(event_words(model.system, result.data.events), std::vector<std::string>{"lift-off floor"});
  ASSERT_FALSE(result.data.events.empty());
  EXPECT_NEAR(result.data.events[0].time, 1, 1e-12);
  EXPECT_NEAR(last(result, "x"), 8 - std::sin(8.0), 1e-8);
}

// A block is pulled by μ g + a (t − 1)ᵖ, p odd: it starts at t = 1 and its slip velocity begins like (t − 1)^(p+1).
TEST(EnginePhases, SlipThatBeginsSlowlyIsNotReversed) {
  for (const int p : {1, 3, 5}) {
    const TestModel model = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = "2 + (t - 1)^)toml" + std::to_string(p) +
                                       R"toml("
[[friction]]
name   = "pad"
slip   = "x'"
normal = "4"
law    = 0.5
[run]
from  = 0.5
until = 3
)toml");
    const simulate::Result result = run(model);
    ASSERT_TRUE(result.end.status.ok()) << p << ": " << result.end.status.message;
    ASSERT_EQ(event_words(model.system, result.data.events), std::vector<std::string>{"slip pad"}) << p;
    // A zero of order p is as sharp as the p-th root of the tolerance.
    EXPECT_NEAR(result.data.events[0].time, 1, p == 1 ? 1e-12 : 2 * std::pow(1e-9, 1.0 / p)) << p;
    EXPECT_NEAR(last(result, "x'"), std::pow(2.0, p + 1) / (p + 1), 1e-7) << p;
  }
}

// Up a slope the block turns and slides back, or stays: the sign of what is left decides, not the smallness of the velocity.
TEST(EnginePhases, AStopIsARestOrAReversal) {
  for (const double mu : {0.29, 0.33}) {  // tan 0.3 = 0.3093
    const TestModel model = gallery_model("incline", {"up"}, {{"mu", mu}});
    const simulate::Result result = run(model);
    ASSERT_TRUE(result.end.status.ok());
    const double stop = 1 / (9.81 * (std::sin(0.3) + mu * std::cos(0.3)));
    ASSERT_EQ(result.data.events.size(), 1u) << event_list(model.system, result.data.events);
    EXPECT_NEAR(result.data.events[0].time, stop, 1e-13) << mu;
    EXPECT_EQ(result.data.events[0].kind,
              mu > 0.31 ? engines::EventKind::stick : engines::EventKind::reversal);
    if (mu > 0.31) {
      EXPECT_EQ(last(result, "s'"), 0);
    } else {
      EXPECT_NEAR(last(result, "s'"), 9.81 * (std::sin(0.3) - mu * std::cos(0.3)) * (3 - stop), 1e-9);
    }
  }
}

// A drop from 1 cm onto a stop of 1e9 N/m: contact lasts a ten-thousandth of a second, a flight a tenth. Closed form of both. Returns the
// number of trial steps.
long expect_thousand_hits(engines::Integrator integrator, const std::string& stiffness = "1e9") {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0.01
[energy]
kinetic   = "x'^2/2"
potential = "9.81*x"
[[contact]]
name      = "stop"
gap       = "x"
compliant = { stiffness = )toml" +
                               stiffness + R"toml( }
[[watch]]
name      = "hit"
zero      = "x"
direction = "down"
stop      = 1000
[run]
until = 200
)toml");
  model.options.integrator = integrator;
  model.options.samples = 2;
  const simulate::Result result = run(model);
  EXPECT_EQ(result.end.status.reason, Reason::watch) << result.end.status.message;
  const std::vector<double> hits = event_times(model.system, result.data.events, "watch hit");
  EXPECT_EQ(hits.size(), 1000u);
  const Real g = static_cast<Real>(9.81);
  const Real omega = std::sqrt(std::stold(stiffness));
  const Real speed = std::sqrt(2 * g * static_cast<Real>(0.01));
  const Real phase = std::atan2(speed / omega, g / (omega * omega));
  const Real period = 2 * speed / g + 2 * (kPiReal - phase) / omega;
  for (std::size_t k = 0; k < hits.size(); ++k) {
    const Real exact = speed / g + static_cast<Real>(k) * period;
    EXPECT_LE(static_cast<double>(std::abs(hits[k] - exact)), 1e-6 * static_cast<double>(exact))
        << "hit " << k + 1;
    if (testing::Test::HasFailure()) break;
  }
  return result.end.steps + result.end.rejected;
}

// A hundred times the stiffness shortens the contact, not the number of steps that it takes.
TEST(EnginePhases, AStiffStopIsHitAThousandTimesByTheAutomaticMethod) {
  const long steps = expect_thousand_hits(engines::Integrator::automatic);
  EXPECT_LT(steps, 100 * 1000);
  EXPECT_LT(static_cast<double>(expect_thousand_hits(engines::Integrator::automatic, "1e11")),
            1.2 * static_cast<double>(steps));
}

TEST(EnginePhases, AStiffStopIsHitAThousandTimesByTheStiffMethod) {
  const long steps = expect_thousand_hits(engines::Integrator::stiff);
  EXPECT_LT(steps, 200 * 1000);
  EXPECT_LT(static_cast<double>(expect_thousand_hits(engines::Integrator::stiff, "1e11")),
            1.2 * static_cast<double>(steps));
}

// Two zeros of a watch so close that rounding of its expression matters: both are found, each once.
TEST(EnginePhases, AWatchCarriesItsSideOverRounding) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "x'^2/2"
[[watch]]
name = "dip"
zero = "1 - cos(2*pi*t) - 4e-7"
[run]
from  = 0.5
until = 20.5
)toml");
  const simulate::Result result = run(model);
  ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
  ASSERT_EQ(result.data.events.size(), 40u);
  const double half = std::acos(1 - 4e-7) / (2 * std::numbers::pi);
  for (int k = 0; k < 20; ++k) {
    const engines::Event& down = result.data.events[2 * k];
    const engines::Event& up = result.data.events[2 * k + 1];
    EXPECT_EQ(down.words[0], engines::Word::down);
    EXPECT_EQ(up.words[0], engines::Word::up);
    EXPECT_NEAR(down.time, k + 1 - half, 1e-11) << k;
    EXPECT_NEAR(up.time, k + 1 + half, 1e-11) << k;
  }
}

// A restitution so small that the second hop is already below the tolerance: the contact closes, and the work is finite.
TEST(EnginePhases, HopsBelowTheToleranceEnd) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 1 }
y = 0
[energy]
kinetic = "x'^2/2 + y'^2/2"
[[friction]]
name   = "pad"
slip   = "y' + 0.5*x'"
normal = 3
law    = 0.5
[[contact]]
name   = "wall"
gap    = "1 - x - y"
impact = 0.001
[[force]]
along = "x'"
value = 1
[run]
until = 6
)toml");
  const simulate::Result result = run(model);
  ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
  EXPECT_LT(result.end.steps, 1000);
  EXPECT_FALSE(event_times(model.system, result.data.events, "accumulation wall").empty());
}

// An engine that has run before knows nothing of it: switches of time change again.
TEST(EnginePhases, ASecondRunOfAnEngineIsTheFirstAgain) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = "if(t < 1, 1, -1) + 0.1*sign(sin(7*t))"
[run]
until = 2
)toml");
  engines::EventEngine engine(model.system);
  std::vector<double> ends;
  for (int i = 0; i < 2; ++i) {
    simulate::NullSink sink;
    const engines::EngineResult result = engine.run(model.options, sink);
    ASSERT_TRUE(result.status.ok());
    EXPECT_EQ(result.events, 5) << "1 and four zeros of sin(7 t)";
    ends.push_back(result.end.y[0]);
  }
  EXPECT_EQ(ends[0], ends[1]);
}

// Petcoviciu 2010, 3.4, forces that grow from zero: after its first slip the particle's velocity touches zero again and again, and goes on. Whatever side of zero a landing
// ends on, the motion continues.
TEST(EnginePhases, ASlipThatTouchesZeroGoesOn) {
  for (const double tolerance : {1e-9, 1e-10, 1e-11, 1e-12, 1e-13}) {
    TestModel model = gallery_model("klarbring/model-bilateral.toml", {"TC35"});
    model.options.tolerance = tolerance;
    const simulate::Result result = run(model);
    ASSERT_EQ(result.end.status.reason, Reason::done) << tolerance << ": " << result.end.status.message;
    EXPECT_NEAR(event_times(model.system, result.data.events, "slip wall")[0], 5.5750782, 1e-6) << tolerance;
    EXPECT_TRUE(event_times(model.system, result.data.events, "reversal wall").empty()) << tolerance;
  }
}

// A stuck joint transmits no impulse and is released by an impact that moves it (docs/theory.md, "Impacts"): two equal masses, a wall that sees their sum.
TEST(EnginePhases, AnImpactReleasesAStuckJoint) {
  for (const double e : {0.0, 0.5}) {
    const TestModel model = text_model(R"toml(
[parameters]
e = 0
[coordinates]
x = { velocity = 1 }
y = 0
[energy]
kinetic = "x'^2/2 + y'^2/2"
[[contact]]
name   = "wall"
gap    = "1 - x - y"
impact = "e"
[[friction]]
name   = "pad"
slip   = "y'"
normal = "3"
law    = 0.5
[run]
until = 1.3
)toml",
                                       {{"e", e}});
    const simulate::Result result = run(model);
    ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
    const std::vector<double> impacts = event_times(model.system, result.data.events, "impact wall");
    ASSERT_GE(impacts.size(), 1u);
    EXPECT_NEAR(impacts[0], 1, 1e-13);
    // Both get the impulse (1 + e)/2 backwards.
    const auto v = static_cast<std::size_t>(result.data.column("y'"));
    for (std::size_t r = 0; r < result.data.rows(); ++r) {
      if (result.data.kinds[r] != engines::RowKind::after || result.data.cell(r, 0) != impacts[0]) continue;
      EXPECT_NEAR(result.data.cell(r, v), -(1 + e) / 2, 1e-14) << e;
      EXPECT_NEAR(result.data.cell(r, v - 1), 1 - (1 + e) / 2, 1e-14) << e;
    }
    EXPECT_EQ(event_times(model.system, result.data.events, "slip pad").size(), 1u)
        << event_list(model.system, result.data.events);
  }
}

// The belt turns round at t = 1 under a block that rides on it: the block slips, slows down by μ N/m = 1 and is taken along again at t = 3.
TEST(EnginePhases, ADriveThatJumpsLeavesWhatStuckToIt) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 1 }
[energy]
kinetic = "x'^2/2"
[[friction]]
name   = "belt"
slip   = "x' - if(t < 1, 1, -1)"
normal = 2
law    = 0.5
[run]
until = 4
)toml");
  for (const char* engine : {"event", "exact"}) {
    const simulate::Result result = simulate::simulate(model.system, model.options, engine);
    ASSERT_TRUE(result.end.status.ok()) << engine << ": " << result.end.status.message;
    EXPECT_EQ(event_words(model.system, result.data.events),
              (std::vector<std::string>{"switch friction.belt.slip", "slip belt", "stick belt"}))
        << engine;
    EXPECT_NEAR(result.data.events.back().time, 3, 1e-12) << engine;
    EXPECT_NEAR(last(result, "x"), 0, 1e-12) << engine;  // 1 + 0 − 1
    EXPECT_EQ(last(result, "x'"), -1) << engine;
  }
}

// At rest the drag x'|x'| stands on the surface of its own switch; the push at t = 1 is to the left: ẍ = −2 + x'²/2, x' = −2 tanh(t − 1).
TEST(EnginePhases, ABodyAtRestLeavesASurfaceToTheSideItMovesTo) {
  for (const double push : {-3.0, 3.0}) {
    const TestModel model = text_model(R"toml(
[parameters]
push = 0
[coordinates]
x = 0
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = "if(t < 1, 0, push) - 0.5*x'*abs(x')"
[[friction]]
name   = "ground"
slip   = "x'"
normal = 1
law    = 1
[run]
until = 3
)toml",
                                       {{"push", push}});
    const simulate::Result result = run(model);
    ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
    EXPECT_NEAR(last(result, "x'"), std::copysign(2 * std::tanh(2.0), push), 1e-8) << push;
    EXPECT_LT(std::abs(result.end.energy_imbalance), 1e-8) << push;
  }
}

}  // namespace
}  // namespace judder
