// Models that once came out wrong: several surfaces at one place, slides whose motion is nothing but what cancels, and values beside which a small movement
// is lost. What is right is a closed form.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

// u' = 0.5 u + 0.9 up to u = 0.1, where mod(u - 1.5, 0.7) falls from 0.7 to 0: below u grows by 0.95, above it falls by 0.1, so it stays. What rounding left of
// that slide had a natural time of 2^54, the twentieth power of which is no number.
TEST(Beside, SlideThatStandsStillStandsInClosedFormToo) {
  const TestModel model = text_model(R"toml(
[state]
u = { start = 0, rate = "-u + 1.5*mod(u - 1.5, 0.7)" }
[run]
until = 0.62
)toml");
  for (const char* engine : {"event", "exact"}) {
    const Outcome outcome = outcome_of(model, engine);
    EXPECT_NEAR(outcome.y[0], 0.1, 1e-12) << engine;
  }
}

// A motion of 1e-17 per second by itself, not by rounding: u = 1 + 3e-17 t is 1 to the last bit, and w = -1 + 2 t passes the watch.
TEST(Beside, MotionSlowerThanAnyRunHasItsZeros) {
  const TestModel model = text_model(R"toml(
[state]
u = { start = 1, rate = "3e-17*u" }
w = { start = -1, rate = "2*u" }
[[watch]]
name = "passes"
zero = "w"
[run]
until = 2
)toml");
  const Outcome outcome = outcome_of(model, "exact");
  ASSERT_EQ(outcome.times.size(), 1U);
  EXPECT_NEAR(outcome.times[0], 0.5, 1e-14);
}

// u = t on the lower side of floor, which w = -t^4/8 leaves at once; beside the 1 that is less than rounding for a while, and the level is not one that
// never moves.
TEST(Beside, LevelThatIsLeftSlowlyHasTheSideOfTheMotion) {
  const TestModel model = text_model(R"toml(
[state]
u = { start = 0, rate = "floor(w + 1) + 1" }
w = { start = 0, rate = "-0.5*u^3" }
[run]
until = 1
)toml");
  const Outcome outcome = outcome_of(model, "event");
  EXPECT_NEAR(outcome.y[0], 1, 1e-8);
  EXPECT_NEAR(outcome.y[1], -0.125, 1e-8);
}

// x'' = 1.5 sin t + F/5 from rest: x = 1.5 (t - sin t) with F = 0, the side that 1/(1 + x) < 1 goes to.
TEST(Beside, QuotientThatIsLeftSlowlyHasTheSideOfTheMotion) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "2.5*(x' + 1.5*cos(t))^2"
[[force]]
along = "x'"
value = "if(1/(1 + x) >= 1, 1, 0)"
[run]
until = 1
)toml");
  EXPECT_NEAR(outcome_of(model, "event").y[0], 1.5 * (1 - std::sin(1.0)), 1e-8);
}

// The angle's arm pushes x up with 0.2 sin(th1), less than the 1 with which the kink and the floor push down above x = 0; below nothing pushes. So x rests. What is
// left of the second surface along the first is rounding, whichever coordinate is written first.
TEST(Beside, SurfaceAlongOneThatIsRestedOnStaysWithIt) {
  const std::string head = "[coordinates]\n";
  const std::string rest = R"toml(
[energy]
kinetic = "0.25*(1 + th1^2)*x'^2 + 2.5*th1'^2 + 0.5*((x' + 0.2*th1'*cos(th1))^2 + (0.2*th1'*sin(th1))^2)"
potential = "abs(x)"
[[force]]
along = "x'"
value = "floor(x)"
[run]
until = 1
)toml";
  const std::string x = "x = 0\n";
  const std::string angle = "th1 = { velocity = 1 }\n";
  const std::vector<double> first = outcome_of(text_model(head + x + angle + rest), "event").y;
  const std::vector<double> second = outcome_of(text_model(head + angle + x + rest), "event").y;
  EXPECT_EQ(first[0], 0);
  EXPECT_EQ(second[1], 0);
  // At rest in x the angle turns evenly.
  EXPECT_NEAR(first[1], 1, 1e-8);
  EXPECT_NEAR(second[0], 1, 1e-8);
}

// It slides on x' = -3 x from t1 = 1/15, where x = -1/6, until the switch inside the upper side changes at x = -0.05: t2 = t1 + ln(10/3)/3. Then x' = 0.15 stays.
TEST(Beside, SwitchInsideASideMayChangeWhereTheSlideEnds) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { start = -0.2, velocity = 0.5 }
y = 0.2
[energy]
kinetic = "0.25*x'^2 + 0.5*y'^2"
[[force]]
along = "x'"
value = "-step(if(1.5*x + 0.5*x' < 0, -0.3*y - t - 0.3, -0.5*y - 2*x))"
[run]
until = 0.55
)toml");
  const double end = 1.0 / 15 + std::log(10.0 / 3) / 3;
  EXPECT_NEAR(outcome_of(model, "event").y[0], -0.05 + 0.15 * (0.55 - end), 1e-9);
}

// Below u = 0 the rate v + 0.2 = t pushes up, above it pushes down: u stays, and floor(u) is 0 there: v = -0.2 + t. A slide on the level, which nothing holds, is no
// answer.
TEST(Beside, LevelBesideASlideIsHeldByIt) {
  const TestModel model = text_model(R"toml(
[state]
u = { start = 0, rate = "v - 0.2*sign(u)" }
v = { start = -0.2, rate = "1 + 0.2*floor(u)" }
[run]
until = 0.18
)toml");
  for (const char* engine : {"event", "exact", "auto"}) {
    const simulate::Result result = simulate::simulate(model.system, model.options, engine);
    ASSERT_EQ(result.end.status.reason, Reason::done) << engine << ": " << result.end.status.message;
    EXPECT_EQ(result.end.end.y[0], 0) << engine;
    EXPECT_NEAR(result.end.end.y[1], -0.02, 1e-12) << engine;
  }
}

// A column is a question: the motion has the same bits whatever it asks for. With a mass that varies the acceleration of a node solved the balance once more and
// moved the node by its rounding.
TEST(Beside, ColumnsDoNotMoveNodesWithoutMass) {
  const std::string varying = R"toml(
[coordinates]
x = 1
y = { massless = true }
[energy]
kinetic = "2.5*(1 + (0.2*y)^2)*x'^2"
potential = "(y - x)^2"
dissipation = "0.1*y'^2"
[[friction]]
name = "node"
slip = "y'"
normal = 1
law = 1
[[watch]]
name = "look"
zero = "x'"
[run]
until = 1
)toml";
  const std::string held = R"toml(
[coordinates]
x = { start = 1, velocity = 0.3 }
y = { massless = true }
[energy]
kinetic = "x'^2/2"
potential = "(y - x)^2 + y^4 + y^2"
[run]
until = 3
)toml";
  for (const std::string& text : {varying, held}) {
    const auto with = [&](const std::string& column) {
      return outcome_of(text_model(text + "[output]\ncolumns = { " + column + " }\n"), "event").y;
    };
    const std::vector<double> plain = with("");
    EXPECT_EQ(plain, with("a = \"x''\""));
    EXPECT_EQ(plain, with("a = \"y''\""));
  }
}

// Three switches at w = 0 when v comes to zero: w is slid on, and the levels of 3 w and 1.7 w beside it have the values of equality, which move nothing.
TEST(Beside, LevelsBesideASlideMoveNothingWhereAnotherStateComesToZero) {
  const TestModel model = text_model(R"toml(
[state]
u = { start = 0, rate = "-3*u + 0.5*floor(3*w) - 0.7*mod(1.7*w, 0.2)" }
v = { start = 0.3, rate = "-2*v - 0.5 - 0.5*mod(v - 2, 1)" }
w = { start = 0, rate = "-w + if(v + 0.834 >= 0, mod(v, 1), if(u >= 0, 1 - 1.5*w, 2 - u)) - sign(w)" }
[run]
until = 0.38
)toml");
  const double zero = std::log(2.5) / 2.5;  // v' = -0.2 - 2.5 v until then, and -0.5 - 2.5 v behind it
  for (const char* engine : {"event", "exact", "auto"}) {
    const simulate::Result result = simulate::simulate(model.system, model.options, engine);
    ASSERT_TRUE(result.end.status.ok()) << engine << result.end.status.message;
    EXPECT_NEAR(result.end.end.y[0], 0, 1e-12) << engine;
    EXPECT_NEAR(result.end.end.y[2], 0, 1e-12) << engine;
    EXPECT_LT(result.end.end.y[1], 0) << engine;
    EXPECT_GT(result.end.end.y[1], -(0.38 - zero)) << engine;
  }
}

/// States that begin on their surfaces, with the values that they have at the end.
struct AtOnePlace {
  const char* states;
  std::vector<double> right;
};

// A surface that nothing moves has the value of equality, and its neighbours are decided beside that value: also those that nothing moved before, and
// those that could go either way with a side.
TEST(Beside, NeighboursOfASurfaceThatNothingMovesAreDecidedWithItsValue) {
  const std::vector<AtOnePlace> models{
      {R"toml(
u = { start = 0, rate = "-2*u" }
v = { start = 0, rate = "-0.7*sign(u) - 0.7*sign(v)" }
)toml",
       {0, 0}},
      {R"toml(
v = { start = 0, rate = "-0.7*sign(u) - 0.7*sign(v)" }
u = { start = 0, rate = "-2*u" }
)toml",
       {0, 0}},
      {R"toml(
v = { start = 0, rate = "-2*sign(w) - sign(v)" }
w = { start = 0, rate = "-w" }
)toml",
       {0, 0}},
      {R"toml(
v = { start = 0, rate = "2 - 4*step(w) - sign(v)" }
w = { start = 0, rate = "-w" }
)toml",
       {-1, 0}},
      {R"toml(
u = { start = 0, rate = "-2*u" }
v = { start = 0, rate = "-0.7*sign(u) - 0.7*sign(v)" }
w = { start = 0, rate = "0.1 - sign(u) - 0.5*sign(w) - 0.2*sign(v)" }
)toml",
       {0, 0, 0}},
      {R"toml(
a = { start = 0, rate = "-a" }
b = { start = 0, rate = "-sign(a) - sign(b)" }
c = { start = 0, rate = "0.3 - sign(b)" }
d = { start = 0, rate = "-sign(c)" }
)toml",
       {0, 0, 0.3, -1}},
      {R"toml(
u = { start = 0, rate = "-0.5*step(v)" }
v = { start = 0, rate = "-sign(v)" }
w = { start = 0, rate = "-3*sign(u)" }
)toml",
       {-0.25, 0, 3}},
  };
  for (const AtOnePlace& model : models) {
    const TestModel ready = text_model(std::string("[state]") + model.states + "[run]\nuntil = 1\n");
    for (const char* engine : {"event", "exact"}) {
      const Outcome outcome = outcome_of(ready, engine);
      for (std::size_t i = 0; i < model.right.size(); ++i)
        EXPECT_NEAR(outcome.y[i], model.right[i], 1e-12) << engine << model.states << i;
    }
  }
}

// Of a surface that would be left with the value of equality the side holds on which nothing moves it: v rises, so u stands; where v fell, u would fall, and v
// would rise again.
TEST(Beside, SurfaceThatItsNeighboursWouldMoveKeepsItsSide) {
  for (const char* states :
       {"u = { start = 0, rate = \"floor(v - 1)\" }\nv = { start = 1, rate = \"-0.5 - 0.7*sign(u)\" }",
        "u = { start = 0, rate = \"-floor(v - 1)\" }\nv = { start = 1, rate = \"-0.5 + 0.7*sign(u)\" }"}) {
    const TestModel model = text_model(std::string("[state]\n") + states + "\n[run]\nuntil = 1\n");
    for (const char* engine : {"event", "exact"}) {
      const Outcome outcome = outcome_of(model, engine);
      EXPECT_EQ(outcome.y[0], 0) << engine << states;
      EXPECT_NEAR(outcome.y[1], 1.2, 1e-12) << engine << states;
      EXPECT_TRUE(outcome.times.empty()) << engine << states;
    }
  }
}

// y leaves the upper side, where the force is -1 as soon as t > 0, and stays on the lower one, where it is sign(0): the switches around that of y stand as they
// do on the side that is looked at.
TEST(Beside, SwitchesAroundASurfaceFollowEachOfItsSides) {
  const TestModel model = text_model(R"toml(
[coordinates]
y = 0
[energy]
kinetic = "1.5*(y'^2)"
[[force]]
along = "y'"
value = "sign(-2*sign(if(y >= 0, t, 0)))"
[[friction]]
name = "unloaded"
slip = "y'"
normal = 0
law = "if(0 < y', 0.8, 1.6)"
[run]
until = 2
)toml");
  EXPECT_EQ(outcome_of(model, "event").y, (std::vector<double>{0, 0}));
}

// A contact that presses on the upper side of the corner of its gap opens on the lower one: there x falls freely. The dry damper of y holds y meanwhile.
TEST(Beside, ContactOpensBesideASlide) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = 0
w = 0
[energy]
kinetic = "0.5*(x'^2) + 0.5*(y'^2) + 1.5*(w'^2)"
potential = "x"
dissipation = "abs(y')"
[[contact]]
name = "corner"
gap = "w + abs(x)"
slip = "x' + y'"
friction = 1
[run]
until = 1
)toml");
  const Outcome outcome = outcome_of(model, "event");
  EXPECT_NEAR(outcome.y[0], -0.5, 1e-9);
  EXPECT_EQ(outcome.y[1], 0);
  EXPECT_EQ(outcome.y[2], 0);
}

// With z = 0 held at sign(0) = 0 the body falls, floor(t + x') is -1, z falls too, and sign(-abs(z)) pushes the body back: so it is -1 from the start, and x and z stay where they are up to
// t = 1. What is around abs(z) is decided after the surfaces inside it, and must not contradict them.
TEST(Beside, SwitchAroundOthersDoesNotContradictThem) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
[state]
z = { start = 0, rate = "floor(t + x')" }
[energy]
kinetic = "0.5*(x'^2)"
potential = "5*((x + 0.2)^2)"
[[force]]
along = "x'"
value = "-2*sign(-1*abs(z))"
[run]
until = 1.5
)toml");
  const Outcome outcome = outcome_of(model, "event");
  EXPECT_NEAR(outcome.y[0], 0, 1e-12);
  EXPECT_NEAR(outcome.y[1], 0, 1e-12);
  EXPECT_NEAR(outcome.y[2], 0.5, 1e-12);
}

// Three surfaces at zero of which one follows from the others. The right values come from small steps.
TEST(Beside, ThreeSlidesOfWhichOneFollowsFromTheOthers) {
  const TestModel model = trial("switch-redundant-slides");
  for (const char* engine : {"event", "exact"}) {
    const Outcome outcome = outcome_of(model, engine);
    EXPECT_NEAR(outcome.y[0], 0.1, 1e-9) << engine;
    EXPECT_NEAR(outcome.y[1], 0.10097, 1e-5) << engine;
  }
}

}  // namespace
}  // namespace judder
