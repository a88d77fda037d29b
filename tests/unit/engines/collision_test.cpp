// Impacts inside runs: who takes part, in which order, and what Painlevé's paradox says and does.
#include "judder/engines/collision.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "run_model.hpp"

namespace judder::engines {
namespace {

std::string balls(double gap, const std::string& law) {
  return R"model(
[parameters]
d = )model" +
         std::to_string(gap * 1e9) + R"model(e-9
[coordinates]
a = { velocity = 1 }
b = { start = "1 + d" }
c = { start = "2 + 2*d" }
[energy]
kinetic = "a'^2/2 + b'^2/2 + c'^2/2"
[[contact]]
name = "ab"
gap = "b - a - 1"
impact = { type = ")model" +
         law + R"model(", restitution = 1 }
[[contact]]
name = "bc"
gap = "c - b - 1"
impact = { type = ")model" +
         law + R"model(", restitution = 1 }
[run]
until = 1e-3
)model";
}

// In contact the laws for simultaneous impacts give (−1/3, 2/3, 2/3); a gap of 1e-9 makes it one impact after the other.
TEST(ThreeBalls, ShareTheirMomentumOnlyInContact) {
  for (const char* law : {"moreau", "poisson"}) {
    const simulate::Result touching = run(text_model(balls(0, law)));
    EXPECT_NEAR(last(touching, "a'"), -1.0 / 3, 1e-14) << law;
    EXPECT_NEAR(last(touching, "b'"), 2.0 / 3, 1e-14) << law;
    EXPECT_NEAR(last(touching, "c'"), 2.0 / 3, 1e-14) << law;
    const simulate::Result apart = run(text_model(balls(1e-9, law)));
    EXPECT_NEAR(last(apart, "a'"), 0, 1e-14) << law;
    EXPECT_NEAR(last(apart, "b'"), 0, 1e-14) << law;
    EXPECT_NEAR(last(apart, "c'"), 1, 1e-14) << law;
  }
}

std::string block(bool left_first) {
  const std::string left = R"model(
[[contact]]
name = "left"
gap = "y - b*sin(th) - h*cos(th)"
slip = "(x - b*cos(th) + h*sin(th))'"
friction = 0.6
impact = 0.3
)model";
  const std::string right = R"model(
[[contact]]
name = "right"
gap = "y + b*sin(th) - h*cos(th)"
slip = "(x + b*cos(th) + h*sin(th))'"
friction = 0.6
impact = 0.3
)model";
  return R"model(
[parameters]
b = 0.3
h = 1
th0 = 0.1
[coordinates]
x = { velocity = 0.2 }
y = { start = "b*sin(th0) + h*cos(th0) + 0.01" }
th = { start = "th0" }
[energy]
kinetic = "(x'^2 + y'^2)/2 + (b^2 + h^2)/6*th'^2"
potential = "9.81*y"
)model" + (left_first ? left + right : right + left) +
         "[run]\nuntil = 0.6\n";
}

TEST(Collisions, DoNotDependOnTheOrderOfTheFile) {
  const TestModel one = text_model(block(true)), other = text_model(block(false));
  const simulate::Result a = run(one), b = run(other);
  ASSERT_GT(a.data.events.size(), 2U);
  for (const char* column : {"x", "y", "th", "x'", "th'"})
    EXPECT_NEAR(last(a, column), last(b, column), 1e-8) << column;
  EXPECT_EQ(a.data.events.size(), b.data.events.size());
}

const char* const kRod = R"model(
[parameters]
mu = 2
M = 0
[coordinates]
x = { velocity = -1 }
y = { start = "sin(theta)/2" }
theta = { start = "pi/3" }
[energy]
kinetic = "x'^2/2 + (1 + M)*y'^2/2 + theta'^2/24"
potential = "9.81*(1 + M)*y"
[[contact]]
name = "end"
gap = "y - sin(theta)/2"
slip = "(x - cos(theta)/2)'"
friction = "mu"
[run]
until = 0.05
on_painleve = "tangential-impact"
)model";

// A carriage that is held to the rod takes part in its tangential impact as mass of the rod would.
TEST(TangentialImpacts, CarryWhatIsHeldToTheContact) {
  const std::string held = R"model(
[parameters]
mu = 2
M = 0.7
[coordinates]
x = { velocity = -1 }
y = { start = "sin(theta)/2" }
theta = { start = "pi/3" }
z = { start = "y + 1" }
[energy]
kinetic = "(x'^2 + y'^2)/2 + theta'^2/24 + M*z'^2/2"
potential = "9.81*(y + M*z)"
[[contact]]
name = "end"
gap = "y - sin(theta)/2"
slip = "(x - cos(theta)/2)'"
friction = "mu"
[[constraint]]
name = "tow"
zero = "z - y - 1"
[run]
until = 0.05
on_painleve = "tangential-impact"
)model";
  const simulate::Result a = run(text_model(kRod, {{"M", 0.7}}));
  const simulate::Result b = run(text_model(held));
  const auto impulse = [](const simulate::Result& result) {
    for (const Event& event : result.data.events) {
      if (event.kind == EventKind::tangential_impact) return event;
    }
    throw std::runtime_error("no tangential impact");
  };
  EXPECT_NEAR(impulse(a).normal_impulse, impulse(b).normal_impulse, 1e-13);
  EXPECT_NEAR(impulse(a).tangential_impulse[0], impulse(b).tangential_impulse[0], 1e-13);
  EXPECT_NEAR(impulse(a).energy_after - impulse(a).energy_before,
              impulse(b).energy_after - impulse(b).energy_before, 1e-13);
  for (const char* column : {"x'", "y'", "theta'"})
    EXPECT_NEAR(last(a, column), last(b, column), 1e-7) << column;
}

TEST(TangentialImpacts, AreInTheEnergyAudit) {
  for (const double mass : {0.0, 0.7}) {
    const EngineResult result = run_to_end(text_model(kRod, {{"M", mass}}));
    EXPECT_TRUE(result.status.ok()) << result.status.message;
    EXPECT_NEAR(result.energy_imbalance, 0, 1e-9);
  }
}

TEST(Paradoxes, AreNamedWithTheirNumbers) {
  Status status = run_to_end(gallery_model("painleve-rod")).status;
  EXPECT_EQ(status.reason, Reason::inconsistent);
  EXPECT_EQ(status.where, "contact 'end'");
  EXPECT_NE(status.message.find("k = -0.848076, a = -9.81"), std::string::npos) << status.message;
  const std::string rail = R"model(
[parameters]
v0 = -1
[coordinates]
x = { velocity = "v0" }
y = { start = "sin(theta)/2" }
theta = { start = "pi/3" }
[energy]
kinetic = "(x'^2 + y'^2)/2 + theta'^2/24"
potential = "9.81*y"
[[constraint]]
name = "rail"
zero = "y - sin(theta)/2"
slip = "(x - cos(theta)/2)'"
friction = 2
[run]
until = 1
)model";
  status = run_to_end(text_model(rail)).status;
  EXPECT_EQ(status.reason, Reason::inconsistent);
  EXPECT_NE(status.message.find("friction of a constraint with mu*|b| = 2.59808 >= k = 1.75"),
            std::string::npos)
      << status.message;
  status = run_to_end(text_model(rail, {{"v0", 1}})).status;
  EXPECT_EQ(status.reason, Reason::indeterminate);
  EXPECT_NE(status.message.find("mu*|b|"), std::string::npos) << status.message;
}

TEST(Observation, TellsTouchingFromClosedFromOpen) {
  const TestModel model = text_model(R"model(
[coordinates]
a = { velocity = -1 }
b = 0
c = 1
d = { velocity = 1 }
[energy]
kinetic = "(a'^2 + b'^2 + c'^2 + d'^2)/2"
[[contact]]
name = "hits"
gap = "a"
[[contact]]
name = "rests"
gap = "b"
[[contact]]
name = "away"
gap = "c"
[[contact]]
name = "leaves"
gap = "d"
)model");
  model::Workspace work(model.system);
  work.in = model.system.start();
  Mode mode;
  std::vector<std::uint8_t> touching;
  EXPECT_TRUE(observe(model.system, work, mode, touching));
  EXPECT_EQ(touching, (std::vector<std::uint8_t>{strikes, 0, 0, separates}));
  EXPECT_EQ(mode.normal, (std::vector<NormalStatus>{NormalStatus::open, NormalStatus::closed,
                                                    NormalStatus::open, NormalStatus::open}));
}

}  // namespace
}  // namespace judder::engines
