// Constraints whose prescribed velocity jumps, and contacts that close beside constraints.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

constexpr double kPi = 3.14159265358979323846;

const std::vector<std::string> kEngines = {"event", "exact"};

/// Normal impulses of the impacts at `where`.
std::vector<double> impulses(const TestModel& model, const std::string& engine, const std::string& where) {
  simulate::MemorySink sink(model.system);
  static_cast<void>(simulate::run(model.system, engine, model.options, sink));
  std::vector<double> out;
  for (const engines::Event& event : sink.events) {
    if (event.kind == engines::EventKind::impact && engines::where(model.system, event) == where)
      out.push_back(event.normal_impulse);
  }
  return out;
}

// --- a prescribed velocity that jumps is an impact ---

// x goes to and fro with the speed 1, and friction of 0.7 pulls y along: parabolas. y' is 0.7 after one second and 0 after two, and y then 0.7.
TEST(PrescribedVelocity, AKinkOfATableReversesTheFriction) {
  for (const std::string& engine : kEngines) {
    TestModel model = trial("constraint-table-kink");
    const Outcome out = outcome_of(model, engine);
    const std::vector<std::string> words = {"impact drive", "reversal f",   "impact drive",
                                            "reversal f",   "impact drive", "reversal f"};
    EXPECT_EQ(out.words, words) << engine;
    EXPECT_NEAR(out.y[1], 1.4, 1e-9) << engine;
    EXPECT_NEAR(out.y[3], 0, 1e-9) << engine;
    const std::vector<double> given = impulses(model, engine, "drive");
    ASSERT_EQ(given.size(), 3U) << engine;
    EXPECT_NEAR(given[0], -2, 1e-12) << engine;
    EXPECT_NEAR(given[1], 2, 1e-12) << engine;
    model.options.until = 2;
    EXPECT_NEAR(outcome_of(model, engine).y[1], 0.7, 1e-9) << engine;
  }
}

// The same with a velocity that a switch gives.
TEST(PrescribedVelocity, ASwitchReversesTheFriction) {
  for (const std::string& engine : kEngines) {
    const TestModel model = trial("constraint-velocity-jump");
    EXPECT_NEAR(outcome_of(model, engine).y[1], 2.1, 1e-9) << engine;
    const simulate::Result result = simulate::simulate(model.system, model.options, engine);
    // 0.7 times the way of the slip: 0.65 and 1.35 in turn.
    EXPECT_NEAR(last(result, "D"), 0.7 * 3 * (0.65 + 1.35), 1e-9) << engine;
    EXPECT_NEAR(last(result, "bal"), 0, 1e-9) << engine;
  }
}

// Before and after the jump there is a row, though no switch is listed.
TEST(PrescribedVelocity, TheJumpHasTwoRows) {
  const TestModel model = trial("constraint-table-kink");
  const simulate::Result result = run(model);
  const int time = result.data.column("t");
  const int speed = result.data.column("x'");
  ASSERT_GE(time, 0);
  ASSERT_GE(speed, 0);
  std::vector<double> speeds;
  for (std::size_t i = 0; i < result.data.rows(); ++i) {
    if (result.data.cell(i, static_cast<std::size_t>(time)) == 1)
      speeds.push_back(result.data.cell(i, static_cast<std::size_t>(speed)));
  }
  EXPECT_EQ(speeds, (std::vector<double>{1, -1}));
}

// x = |sin(t + 1) - sin 1| has its kink at π - 2, and y'' = 3 (x - y): of x = A + B sin(t + 1) it is A + 1.5 B sin(t + 1) and an oscillation.
TEST(PrescribedVelocity, AKinkOfAbsGivesAnImpulse) {
  for (const std::string& engine : kEngines) {
    const TestModel model = trial("constraint-abs");
    const Outcome out = outcome_of(model, engine);
    ASSERT_EQ(out.words, std::vector<std::string>{"impact drive"}) << engine;
    EXPECT_NEAR(out.times[0], kPi - 2, 1e-12) << engine;
    EXPECT_NEAR(impulses(model, engine, "drive")[0], 2 * std::cos(1), 1e-12) << engine;
    const double w = std::sqrt(3);
    double y = 0;
    double v = 0;
    double t = 0;
    for (const double sign : {1.0, -1.0}) {
      const double end = sign > 0 ? kPi - 2 : 6;
      const auto given = [&](double at) { return sign * (1.5 * std::sin(at + 1) - std::sin(1)); };
      const auto rate = [&](double at) { return sign * 1.5 * std::cos(at + 1); };
      const double a = y - given(t);
      const double b = (v - rate(t)) / w;
      const double phase = w * (end - t);
      y = given(end) + a * std::cos(phase) + b * std::sin(phase);
      v = rate(end) + w * (b * std::cos(phase) - a * std::sin(phase));
      t = end;
    }
    EXPECT_NEAR(out.y[1], y, 1e-8) << engine;
    EXPECT_NEAR(out.y[3], v, 1e-8) << engine;
  }
}

TEST(PrescribedVelocity, ASpeedThatChangesWithThePlace) {
  for (const std::string& engine : kEngines) {
    const TestModel model = trial("constraint-speed-by-place");
    const Outcome out = outcome_of(model, engine);
    EXPECT_EQ(out.words, (std::vector<std::string>{"switch constraint.drive.velocity", "impact drive"}))
        << engine;
    EXPECT_NEAR(out.y[0], 5, 1e-12) << engine;
    EXPECT_NEAR(impulses(model, engine, "drive")[0], 1, 1e-12) << engine;
  }
}

// The impulse acts by the new ratio: x' = 1 - Λ/2, y' = 2 + Λ/3, y' = x'/2, so Λ = -18/7. What it takes of the energy is dissipated.
TEST(PrescribedVelocity, AGearThatChanges) {
  for (const std::string& engine : kEngines) {
    const TestModel model = trial("constraint-gear-change");
    const Outcome out = outcome_of(model, engine);
    EXPECT_NEAR(out.y[0], 39.0 / 7, 1e-12) << engine;
    EXPECT_NEAR(out.y[1], 30.0 / 7, 1e-12) << engine;
    EXPECT_NEAR(impulses(model, engine, "gear")[0], -18.0 / 7, 1e-12) << engine;
    const simulate::Result result = simulate::simulate(model.system, model.options, engine);
    EXPECT_NEAR(last(result, "bal"), 0, 1e-12) << engine;
  }
}

// At each corner of the cam the impulse is along its new normal: (2, 0) becomes (1, 1), and that (1, 0).
TEST(PrescribedVelocity, ACornerOfACam) {
  for (const std::string& engine : kEngines) {
    const TestModel model = trial("constraint-cam-corner");
    const Outcome out = outcome_of(model, engine);
    EXPECT_EQ(out.words, (std::vector<std::string>{"impact cam", "impact cam"})) << engine;
    EXPECT_NEAR(out.times[0], 0.5, 1e-12) << engine;
    EXPECT_NEAR(out.times[1], 1.5, 1e-12) << engine;
    EXPECT_NEAR(out.y[0], 2, 1e-12) << engine;
    EXPECT_NEAR(out.y[2], 1, 1e-12) << engine;
    EXPECT_NEAR(out.y[3], 0, 1e-12) << engine;
  }
}

// The friction of the constraint is bounded by 0.3 of its own impulse, 2 each time: the slip of 2 loses 0.6 three times.
TEST(PrescribedVelocity, FrictionTakesItsShareOfTheImpulse) {
  for (const std::string& engine : kEngines) {
    const Outcome out = outcome_of(trial("constraint-kink-with-friction"), engine);
    EXPECT_EQ(out.words, std::vector<std::string>(3, "impact rod")) << engine;
    EXPECT_NEAR(out.y[0], 2 + 1.4 + 0.8 + 0.2, 1e-12) << engine;
    EXPECT_NEAR(out.y[2], 0.2, 1e-12) << engine;
  }
}

// A body that is pressed to a drive when that turns back is struck by what the drive does from then on: the way 1 − (t − 1) comes with 2, and half of it is given
// back, so that y' is −2. After that y'' = 0.5, and the drive never comes up to it again until 4.
TEST(PrescribedVelocity, AClosedContactIsStruckByTheNewVelocity) {
  for (const std::string& engine : kEngines) {
    const TestModel model = trial("constraint-kink-and-contact");
    const Outcome out = outcome_of(model, engine);
    EXPECT_EQ(out.words,
              (std::vector<std::string>{"impact drive", "impact c", "impact drive", "impact drive"}))
        << engine;
    EXPECT_NEAR(out.y[1], 1 - 2 * 3 + 0.25 * 9, 1e-9) << engine;
    EXPECT_NEAR(out.y[3], -2 + 1.5, 1e-9) << engine;
    EXPECT_NEAR(last(simulate::simulate(model.system, model.options, engine), "bal"), 0, 1e-9) << engine;
  }
}

/// A body before a wall that goes to and fro, once with the way of the wall in the gap, once with a driven coordinate, which may carry another body that is tied to it.
enum class Wall { gap, driven, carried };
TestModel before_a_wall(Wall wall, const std::string& law, const std::string& start) {
  std::string text = R"toml(
[tables]
way = { x = [0, 1, 2, 3], y = [0, 1, 0, 1] }
[coordinates]
y = )toml" + start;
  if (wall != Wall::gap) text += "\nx = { velocity = 1 }";
  if (wall == Wall::carried) text += "\nz = { start = 1, velocity = 1 }";
  text += "\n[energy]\nkinetic = \"y'^2/2";
  if (wall != Wall::gap) text += " + 3*x'^2/2";
  if (wall == Wall::carried) text += " + z'^2";
  text += "\"\n";
  if (wall != Wall::gap) text += "[[constraint]]\nname = \"drive\"\nzero = \"x - way(t)\"\n";
  if (wall == Wall::carried) text += "[[constraint]]\nname = \"rod\"\nzero = \"z - x - 1\"\n";
  text += std::string("[[contact]]\nname = \"c\"\ngap = \"") +
          (wall == Wall::gap      ? "way(t)"
           : wall == Wall::driven ? "x"
                                  : "z - 1") +
          " - y\"\nimpact = " + law + "\n[[force]]\nalong = \"y'\"\nvalue = 0.5\n[run]\nuntil = 3\n";
  return text_model(text);
}

// However the wall is written, the motion is the same: a body that is pressed to it when it turns, one that hovers before it by nothing, and one that comes to it
// at the same instant.
TEST(PrescribedVelocity, AWallIsAWallHoweverItIsWritten) {
  for (const std::string& engine : kEngines) {
    for (const char* law :
         {"0.5", "1", "0", "{ restitution = 0.6, type = \"newton\" }",
          "{ restitution = 0.6, type = \"poisson\" }", "{ restitution = 0.6, type = \"stronge\" }"}) {
      for (const char* start : {"{ start = 0, velocity = 1 }", "{ start = -0.25, velocity = 1 }"}) {
        const Outcome gap = outcome_of(before_a_wall(Wall::gap, law, start), engine);
        for (const Wall wall : {Wall::driven, Wall::carried}) {
          const Outcome driven = outcome_of(before_a_wall(wall, law, start), engine);
          EXPECT_NEAR(driven.y[0], gap.y[0], 1e-9) << engine << " " << law << " " << start;
          const std::size_t n = driven.y.size() / 2;
          EXPECT_NEAR(driven.y[n], gap.y[1], 1e-9) << engine << " " << law << " " << start;
        }
      }
    }
  }
}

// The second start comes with 1.5 to y = 1 at t = 1, when the wall there, that went with 1, turns: it meets 1.5 + 1, and half of that is given back from −1.
// A gap that is a little wider at the turn gives the same but for that little; the velocity of the wall before the turn would give −1.25.
TEST(PrescribedVelocity, WhatClosesAtTheTurnMeetsTheNewVelocity) {
  for (const std::string& engine : kEngines) {
    for (const Wall wall : {Wall::gap, Wall::driven, Wall::carried}) {
      for (const char* start :
           {"{ start = -0.25, velocity = 1 }", "{ start = -0.250000001, velocity = 1 }"}) {
        TestModel model = before_a_wall(wall, "0.5", start);
        model.options.until = 1.5;
        const Outcome out = outcome_of(model, engine);
        const std::size_t n = out.y.size() / 2;
        EXPECT_NEAR(out.y[n], -1 - 0.5 * 2.5 + 0.5 * 0.5, 1e-7) << engine << start;
        EXPECT_NEAR(out.y[0], 1 - 2.25 * 0.5 + 0.25 * 0.25, 1e-7) << engine << start;
      }
    }
  }
}

// --- contacts that close beside constraints ---

// The wall comes to a body that rests: what the landing leaves of the gap does not move it off its rod, by no bit.
TEST(BesideConstraints, AWallThatComesMovesNothingOffTheRod) {
  for (const std::string& engine : kEngines) {
    const Outcome out = outcome_of(trial("constraint-wall-comes-to-rest"), engine);
    EXPECT_EQ(out.y[1], 0) << engine;
    EXPECT_NEAR(out.y[0], 0.5 * std::sqrt(2), 1e-12) << engine;
  }
}

// x = sin t meets y = 0.5 at π/6. The zero of the gap is that of the state on its constraint, to rounding.
TEST(BesideConstraints, TheLandingIsOnTheConstraint) {
  for (const std::string& engine : kEngines) {
    const Outcome out = outcome_of(trial("constraint-drive-strikes"), engine);
    ASSERT_EQ(out.words, std::vector<std::string>{"impact c"}) << engine;
    EXPECT_NEAR(out.times[0], kPi / 6, 4e-16) << engine;
    EXPECT_NEAR(out.y[1], 0.5 + 1.5 * std::cos(kPi / 6) * (4 - kPi / 6), 1e-11) << engine;
  }
}

}  // namespace
}  // namespace judder
