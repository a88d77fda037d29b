// Models that once came out wrong: surfaces that see speeds of massless coordinates, fractional powers or kinks at zero, slides of which one side only
// begins to push, and surfaces that stay at zero beside others. What is right is a closed form, or the same model with the massless coordinate put in
// by hand. The referee listens to every run.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "judder/core/number.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

simulate::Result run(const TestModel& model, double tolerance, const char* engine = "event") {
  engines::EngineOptions options = model.options;
  options.tolerance = tolerance;
  return simulate::simulate(model.system, options, engine);
}

constexpr double kTolerances[] = {1e-7, 1e-8, 1e-10};

/// One coordinate x with kinetic energy x'²·mass/2 and a force on it.
std::string pushed(const std::string& mass, const std::string& velocity, const std::string& force,
                   const std::string& until) {
  return "[coordinates]\nx = { velocity = " + velocity + " }\n[energy]\nkinetic = \"" + mass +
         "*x'^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = \"" + force + "\"\n[run]\nuntil = " + until + "\n";
}

// w = −x by a spring without mass, and a force of steps of w'.
TEST(Sides, OfMasslessSpeeds) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = -2 }
w = { massless = true }
[energy]
kinetic = "1.5*x'^2"
potential = "(w + x)^2"
[[force]]
along = "x'"
value = "0.5*floor(4*w' - t) + 2"
[run]
until = 3
)toml");
  const TestModel by_hand = text_model(pushed("3", "-2", "0.5*floor(-4*x' - t) + 2", "3"));
  for (const double tolerance : kTolerances) {
    const simulate::Result one = run(model, tolerance);
    const simulate::Result other = run(by_hand, tolerance);
    ASSERT_EQ(one.end.status.reason, Reason::done) << tolerance << ' ' << one.end.status.message;
    ASSERT_EQ(other.end.status.reason, Reason::done) << tolerance;
    EXPECT_EQ(one.end.events, other.end.events);
    EXPECT_NEAR(one.end.end.y[0], other.end.end.y[0], 1e-9);
    EXPECT_NEAR(one.end.end.y[2], other.end.end.y[1], 1e-9);
  }
}

// u = (1 + x)/2. It is slid on from the start: x' = 0.4 sin t, x = 0.4 (1 − cos t).
TEST(Sides, OfMasslessSpeedsAreSlidOn) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
u = { massless = true }
[energy]
kinetic = "x'^2"
potential = "(1 - u)^2 + (u - x)^2"
[[force]]
along = "x'"
value = "-2*floor(u' - 0.2*sin(t))"
[[friction]]
name = "j"
slip = "x'"
normal = 1
law = 1.6
[run]
until = 1.3
)toml");
  for (const double tolerance : kTolerances) {
    const simulate::Result result = run(model, tolerance);
    ASSERT_EQ(result.end.status.reason, Reason::done) << tolerance << ' ' << result.end.status.message;
    EXPECT_NEAR(result.end.end.y[0], 0.4 * (1 - std::cos(1.3)), 1e-7);
    EXPECT_NEAR(result.end.end.y[2], 0.4 * std::sin(1.3), 1e-7);
  }
}

// A massless coordinate that begins to move, with and without a damper: the side is left at once.
TEST(Sides, OfMasslessCoordinatesAreLeftAtOnce) {
  for (const char* const damper : {"", "dissipation = \"y'^2\"\n"}) {
    const TestModel model = text_model(std::string(R"toml(
[coordinates]
x = { velocity = 1 }
y = { massless = true }
[energy]
kinetic = "x'^2"
potential = "(y + x)^2"
)toml") + damper + "[[force]]\nalong = \"x'\"\nvalue = \"0.1*step(y)\"\n[run]\nuntil = 0.5\n");
    const TestModel by_hand = text_model(std::string(R"toml(
[coordinates]
x = { velocity = 1 }
y = { massless = true }
[energy]
kinetic = "x'^2"
potential = "(y + x)^2"
)toml") + damper + "[run]\nuntil = 0.5\n");
    for (const double tolerance : kTolerances) {
      const simulate::Result one = run(model, tolerance);
      const simulate::Result other = run(by_hand, tolerance);
      ASSERT_EQ(one.end.status.reason, Reason::done) << tolerance << ' ' << one.end.status.message;
      EXPECT_EQ(one.end.events, 0) << damper;
      EXPECT_NEAR(one.end.end.y[0], other.end.end.y[0], 1e-7);
    }
  }
}

// w = 1 - cos t rises from the level of floor(w) beside another node, which its joint holds: the upper side from the start.
TEST(Sides, OfMasslessCoordinatesBesideANodeAtRest) {
  for (const char* const load : {"0", "1"}) {
    const TestModel model = text_model(std::string(R"toml(
[coordinates]
x = 0
y = { massless = true }
w = { massless = true }
z = 0
[energy]
kinetic = "0.5*x'^2 + 0.5*z'^2"
potential = "(w + x)^2"
[[force]]
along = "z'"
value = "floor(w)"
[[friction]]
name = "node"
slip = "y'"
normal = )toml") + load + R"toml(
law = 1
[[constraint]]
name = "drive"
zero = "x + (1 - cos(t))"
[run]
until = 2
)toml");
    for (const double tolerance : kTolerances) {
      const simulate::Result result = run(model, tolerance);
      ASSERT_EQ(result.end.status.reason, Reason::done) << tolerance << ' ' << result.end.status.message;
      // z'' = 1 from t = pi/2 on
      const double since = 2 - std::acos(-1) / 2;
      EXPECT_NEAR(result.end.end.y[3], since * since / 2, 1e-7) << load << ' ' << tolerance;
      EXPECT_EQ(result.end.end.y[1], 0) << load;
    }
  }
}

// The slide of x holds sign(x') at -1/2 in the mean, and so the node has the mean of its two speeds: w' = 2 sign(x') = -1.
TEST(Sides, OfASlideHaveSpeedsOfMasslessCoordinatesOfTheirOwn) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
w = { massless = true }
[energy]
kinetic = "x'^2/2"
potential = "0"
dissipation = "0.5*w'^2"
[[force]]
along = "x'"
value = "-0.5 - sign(x')"
[[force]]
along = "w'"
value = "2*sign(x')"
[run]
until = 2
)toml");
  for (const double tolerance : kTolerances) {
    const simulate::Result result = run(model, tolerance);
    ASSERT_EQ(result.end.status.reason, Reason::done) << tolerance << ' ' << result.end.status.message;
    EXPECT_EQ(result.end.end.y[0], 0);
    EXPECT_NEAR(result.end.end.y[1], -2, 1e-12);
  }
}

// A joint that carries nothing until y, which goes with w = 1 - t, comes below zero: then it brakes x, whatever else slides at that instant.
TEST(Sides, OfALoadThatBeginsBesideASlideBrake) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 1 }
y = { massless = true }
w = { start = 1, velocity = -1 }
u = 0
[energy]
kinetic = "x'^2/2 + w'^2/2 + u'^2/2"
potential = "(y - w)^2"
dissipation = "abs(u')"
[[friction]]
name = "brake"
slip = "x'"
normal = "abs(floor(y))"
law = 1
[run]
until = 1.5
)toml");
  for (const double tolerance : kTolerances) {
    const simulate::Result result = run(model, tolerance);
    ASSERT_EQ(result.end.status.reason, Reason::done) << tolerance << ' ' << result.end.status.message;
    EXPECT_NEAR(result.end.end.y[0], 1.375, 1e-9);
    EXPECT_NEAR(result.end.end.y[4], 0.5, 1e-9);
  }
}

// abs(x') is never negative: x'' = −4 x + 2 throughout.
TEST(Sides, OfAbsoluteValuesAreNeverBelow) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = -0.5 }
[energy]
kinetic = "0.25*x'^2"
potential = "x^2"
[[force]]
along = "x'"
value = "step(abs(x'))"
[run]
until = 3
)toml");
  for (const char* const engine : {"event", "exact"}) {
    for (const double tolerance : kTolerances) {
      const simulate::Result result = run(model, tolerance, engine);
      ASSERT_EQ(result.end.status.reason, Reason::done)
          << engine << ' ' << tolerance << ' ' << result.end.status.message;
      EXPECT_EQ(result.end.events, 0) << engine;
      EXPECT_NEAR(result.end.end.y[0], 0.5 - 0.5 * std::cos(6.0) - 0.25 * std::sin(6.0), 2e-6) << engine;
    }
  }
}

// From rest `abs(x') > 0` becomes true at once: x'' = 0.1.
TEST(Sides, OfAbsoluteValuesThatBegin) {
  const TestModel model = trial("switch-abs-greater-zero");
  for (const double tolerance : kTolerances) {
    const simulate::Result result = run(model, tolerance);
    ASSERT_EQ(result.end.status.reason, Reason::done) << tolerance << ' ' << result.end.status.message;
    EXPECT_NEAR(result.end.end.y[0], 0.45, 1e-9);
  }
}

// Surfaces and forces that have no second or third derivative where they begin.
TEST(Sides, OfFractionalPowers) {
  struct Case {
    const char* force;
    double x;
  };
  for (const Case& c :
       {Case{"1 - 0.5*sign(abs(0.2*x')^1.5)", 0.25}, Case{"t + 0.5*step(abs(x')^1.5)", 1.0 / 6 + 0.25},
        Case{"2 - step(-min(abs(x)^1.5, 2))", 1.0}}) {
    const TestModel model = text_model(pushed("1", "0", c.force, "1"));
    for (const double tolerance : kTolerances) {
      const simulate::Result result = run(model, tolerance);
      ASSERT_EQ(result.end.status.reason, Reason::done)
          << c.force << ' ' << tolerance << ' ' << result.end.status.message;
      EXPECT_NEAR(result.end.end.y[0], c.x, 1e-7) << c.force << ' ' << tolerance;
    }
  }
}

// The upper side pushes back with 2 t/3 only: held until t = 0.1, then x'' = −2 (t − 0.1)/3.
TEST(Sides, OfWhichOneOnlyBeginsToPush) {
  const TestModel model = text_model(pushed("3", "0", "-2*t - 0.2*floor(x')", "1"));
  for (const double tolerance : kTolerances) {
    const simulate::Result result = run(model, tolerance);
    ASSERT_EQ(result.end.status.reason, Reason::done) << tolerance << ' ' << result.end.status.message;
    EXPECT_LT(result.end.steps, 1000);
    EXPECT_NEAR(result.end.end.y[0], -0.081, 1e-6);
    EXPECT_NEAR(result.end.end.y[1], -0.27, 1e-6);
  }
  // At a start so short that the push has not grown to rounding of the other.
  const TestModel beginning = text_model(pushed("3", "0", "-2*t - 0.2*floor(x')", "1.4e-18"));
  const simulate::Result result = run(beginning, 1e-8);
  ASSERT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
  EXPECT_EQ(result.end.end.y[1], 0);
}

// The spring cancels the push of the lower side at the start, in some units to the last bit and in others not: the acceleration there is 40 t, that on the upper
// side −2 + 40 t (for M = L = T = 1), and x' = −1 is stayed on.
TEST(Sides, WhosePushCancelsToRounding) {
  constexpr double kUnits[][3] = {{1, 1, 1}, {1e-3, 1e3, 1e3}, {1e-3, 1, 60}, {0.1, 1, 10}, {1, 1, 1e3}};
  for (const auto& [length, mass, time] : kUnits) {
    const TestModel model = text_model(
        "[coordinates]\nx = { velocity = " + to_text(-length / time) + " }\n[energy]\nkinetic = \"" +
        to_text(0.25 * mass) + "*x'^2\"\npotential = \"" + to_text(10 * mass / (time * time)) + "*(x + " +
        to_text(0.2 * length) + ")^2\"\n[[force]]\nalong = \"-x'\"\nvalue = \"" +
        to_text(mass * length / (time * time)) + "*floor(" + to_text(4 * time / length) +
        "*x' + 1)\"\n[run]\nuntil = " + to_text(0.0049 * time) + "\n");
    for (const double tolerance : kTolerances) {
      const simulate::Result result = run(model, tolerance);
      ASSERT_EQ(result.end.status.reason, Reason::done) << tolerance << ' ' << result.end.status.message;
      EXPECT_NEAR(result.end.end.y[0] / length, -0.0049, 1e-14) << time;
      EXPECT_NEAR(result.end.end.y[1] * time / length, -1, 1e-14) << time;
    }
  }
}

// A surface that nothing moves has its value at equality, and what stands beside it is decided with that: v stays zero.
TEST(Sides, BesideASurfaceThatNothingMoves) {
  const TestModel model = text_model(R"toml(
[state]
u = { start = 1, rate = 0 }
v = { start = 0, rate = "2*mod(u, 1) - 0.7*sign(v)" }
[run]
until = 0.4
)toml");
  for (const double tolerance : kTolerances) {
    const simulate::Result result = run(model, tolerance);
    ASSERT_EQ(result.end.status.reason, Reason::done) << tolerance << ' ' << result.end.status.message;
    EXPECT_EQ(result.end.end.y[1], 0);
  }
}

// In the instant in which the load reaches the limit it falls to zero: u never leaves.
TEST(Sides, WhosePushVanishesAndReturnsAtOnce) {
  const TestModel model = text_model(
      "[state]\nu = { start = 0, rate = \"-0.2*u - 0.7*sign(u) - mod(t, 0.7)\" }\n[run]\nuntil = 2.3\n");
  for (const double tolerance : kTolerances) {
    const simulate::Result result = run(model, tolerance);
    ASSERT_EQ(result.end.status.reason, Reason::done) << tolerance << ' ' << result.end.status.message;
    EXPECT_EQ(result.end.end.y[0], 0);
  }
}

// Comparisons of one quantity share its surface. Where the motion stays on that, each has the value that the language gives at equality, whatever stands beside it.
TEST(Sides, OfOneSurfaceThatIsNotLeftEachUseHasItsOwnValue) {
  struct Use {
    const char* rate;
    double falling;  ///< its value while y' < 0
    double at_rest;
  };
  const std::vector<Use> uses{{"if(y' > 0, 1, 0)", 0, 0},
                              {"if(y' < 0, 1, 0)", 1, 0},
                              {"sign(y')", -1, 0},
                              {"if(y' >= 0, 1, 0)", 0, 1},
                              {"if(y' <= 0, 1, 0)", 1, 1},
                              {"step(y')", 0, 1},
                              {"if(y' > 0 or y' < 0, 1, 0)", 1, 0},
                              {"if(y' >= 0 and y' <= 0, 1, 0)", 0, 1},
                              {"if(y' > 0, 1, if(y' < 0, -1, 0))", -1, 0},
                              {"step(y') - step(-y')", -1, 0}};
  // Each alone, all together, and all in the other order; a mass that nothing moves, and a ball that lands without rebound at t = 0.3.
  std::vector<std::vector<Use>> models{uses, {uses.rbegin(), uses.rend()}};
  for (const Use& use : uses) models.push_back({use});
  for (const char* engine : {"event", "exact"}) {
    for (const std::vector<Use>& model : models) {
      for (const bool falls : {false, true}) {
        std::string text = "[coordinates]\ny = " + std::string(falls ? "0.45" : "0") + "\n[state]\n";
        for (std::size_t k = 0; k < model.size(); ++k)
          text += "z" + std::to_string(k) + " = { start = 0, rate = \"" + model[k].rate + "\" }\n";
        text += "[energy]\nkinetic = \"y'^2/2\"\n";
        if (falls) text += "potential = \"10*y\"\n[[contact]]\nname = \"floor\"\ngap = \"y\"\nimpact = 0\n";
        const Outcome out = outcome_of(text_model(text + "[run]\nuntil = 2\n"), engine);
        for (std::size_t k = 0; k < model.size(); ++k) {
          const double right = falls ? 0.3 * model[k].falling + 1.7 * model[k].at_rest : 2 * model[k].at_rest;
          EXPECT_NEAR(out.y[2 + k], right, 1e-9)
              << engine << " " << model[k].rate << " of " << model.size() << falls;
        }
      }
    }
  }
}

// The same in forces and in laws of friction: 1 s of push before a dead stop, and none behind it.
TEST(Sides, OfOneSurfaceThatIsNotLeftEachForceHasItsOwn) {
  for (const char* force : {"if(x' > 0, 1, 0) - if(x' < 0, 1, 0)", "step(x') - step(-x')", "sign(x')"}) {
    const TestModel model = text_model(
        "[coordinates]\nx = { start = 0, velocity = 1 }\ny = 0\n[energy]\nkinetic = "
        "\"x'^2/2 + y'^2/2\"\n[[force]]\nalong = \"y'\"\nvalue = \"" +
        std::string(force) +
        "\"\n[[contact]]\nname = \"wall\"\ngap = \"1 - x\"\nimpact = 0\n[run]\nuntil = 3\n");
    for (const char* engine : {"event", "exact"})
      EXPECT_NEAR(outcome_of(model, engine).y[3], 1, 1e-9) << force << engine;
  }
  const TestModel joints = text_model(R"toml(
[coordinates]
x = 0
y = { start = 0, velocity = 5 }
z = { start = 0, velocity = 5 }
[energy]
kinetic = "x'^2/2 + y'^2/2 + z'^2/2"
[[friction]]
name = "a"
slip = "y'"
normal = 1
law = "if(x' > 0, 2, 1.5)"
[[friction]]
name = "b"
slip = "z'"
normal = 1
law = "if(x' < 0, 2, 1.5)"
[run]
until = 2
)toml");
  const Outcome out = outcome_of(joints, "event");
  EXPECT_NEAR(out.y[4], 2, 1e-9);
  EXPECT_NEAR(out.y[5], 2, 1e-9);
}

// An impact stops the slip of its joint but for the last digits of its impulses, and the spring drives it on at once: a force that reads the sign of the slip is that of the
// new one. The other mass has nothing but that force, 0.1, from the second impact on: w' grows by 0.2 a second.
TEST(Sides, ASlipThatAnImpactHasStoppedGoesOnToTheOtherSide) {
  const TestModel model = text_model(R"toml(
[coordinates]
y = { velocity = -0.5 }
w = 0
[energy]
kinetic = "0.5*y'^2 + 0.25*w'^2"
potential = "50*(y - 1)^2"
[[force]]
along = "w'"
value = "0.1*if(0 < y' - w', 1, 0)"
[[friction]]
name = "pad"
slip = "y' - w'"
normal = "normal(stop)"
law = "if(0 < y' - w', 0.5, 1)"
[[contact]]
name = "stop"
gap = "-y"
impact = { type = "stronge", restitution = 1 }
[run]
until = 0.022
)toml");
  for (const double tolerance : {1e-8, 1e-10, 1e-12}) {
    engines::EngineOptions options = model.options;
    options.tolerance = tolerance;
    const simulate::Result result = simulate::simulate(model.system, options, "event");
    ASSERT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
    EXPECT_TRUE(result.end.verdict.silent()) << tolerance;
    const auto width = static_cast<std::size_t>(model.system.layout().integrated());
    std::size_t last_impact = 0;
    for (std::size_t e = 0; e < result.data.events.size(); ++e) {
      if (result.data.events[e].kind == engines::EventKind::impact) last_impact = e;
    }
    const double then = result.data.event_states[last_impact * width + 3];
    const double since = 0.022 - result.data.events[last_impact].time;
    EXPECT_GT(since, 0.004);
    EXPECT_NEAR(result.end.end.y[3], then + 0.2 * since, 10 * tolerance) << tolerance;
  }
}

}  // namespace
}  // namespace judder
