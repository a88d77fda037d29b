// Contacts and joints where something vanishes, is only touched, or stands exactly at its limit: ties, tips of cones, shared reactions. The right values are closed
// forms, or come from Moreau's scheme with small steps. Every run is read by the referee.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

const std::vector<std::string> kBoth{"event", "exact"};

/// A point of mass 1 on a floor, pressed by `force` along y and pulled by `pull` along x.
TestModel point(const std::string& force, const std::string& pull, double until,
                const std::string& more = "slip = \"x'\"\nfriction = 0.3") {
  return text_model("[coordinates]\nx = 0\ny = 0\n[energy]\nkinetic = \"x'^2/2 + y'^2/2\"\n" +
                    std::string("[[force]]\nalong = \"y'\"\nvalue = \"") + force +
                    "\"\n[[force]]\nalong = \"x'\"\nvalue = \"" + pull +
                    "\"\n[[contact]]\nname = \"c\"\ngap = \"y\"\nimpact = 0.5\n" + more +
                    "\n[run]\nuntil = " + std::to_string(until) + "\n[output]\nsamples = 5\n");
}

// The normal force passes zero while nothing pulls, or less than friction would hold.
TEST(TipOfTheCone, AContactThatNothingPullsAlongOpens) {
  for (const std::string& engine : kBoth) {
    const Outcome rest = outcome_of(trial("switch-c01"), engine);
    ASSERT_EQ(rest.words, std::vector<std::string>{"lift-off c"}) << engine;
    EXPECT_NEAR(rest.times[0], 1, 1e-9);
    EXPECT_EQ(rest.y[0], 0);
    EXPECT_NEAR(rest.y[1], 1.0 / 6, 1e-9);

    const Outcome carried = outcome_of(trial("switch-c02"), engine);
    EXPECT_NEAR(carried.y[0], 5, 1e-9) << engine;
    const double first = std::asin(0.8) / 4;
    ASSERT_EQ(carried.words.size(), 7u) << engine;
    for (int k = 0; k < 4; ++k) {
      EXPECT_EQ(carried.words[2 * k], "lift-off c");
      EXPECT_NEAR(carried.times[2 * k], first + k * std::acos(-1.0) / 2, 1e-9) << engine;
    }

    const Outcome pulled = outcome_of(point("t - 1", "0.1*(t - 1)", 2), engine);
    EXPECT_EQ(pulled.words, std::vector<std::string>{"lift-off c"}) << engine;
    EXPECT_NEAR(pulled.y[0], 0.1 / 6, 1e-9) << engine;

    const Outcome flat = outcome_of(point("(t - 1)^3", "0", 2), engine);
    EXPECT_EQ(flat.words, std::vector<std::string>{"lift-off c"}) << engine;
    EXPECT_NEAR(flat.y[1], 0.05, 1e-9) << engine;
    EXPECT_NEAR(flat.y[0], 0, 1e-15) << engine;
  }
}

TEST(TipOfTheCone, AReactionThatOnlyTouchesZeroEndsNothing) {
  for (const std::string& engine : kBoth) {
    const Outcome rests = outcome_of(trial("switch-i08"), engine);
    EXPECT_TRUE(rests.words.empty()) << engine;
    EXPECT_EQ(rests.y, (std::vector<double>{0, 0})) << engine;

    for (const char* pull : {"0", "0.1*(t - 1)^2"}) {
      const Outcome sticks = outcome_of(point("-(t - 1)^2", pull, 3), engine);
      EXPECT_TRUE(sticks.words.empty()) << engine << " " << pull;
      EXPECT_EQ(sticks.y[0], 0) << engine;
    }
    const Outcome slips = outcome_of(point("-(t - 1)^2", "0.5*(t - 1)^2", 3), engine);  // x'' = 0.2 (t − 1)²
    EXPECT_TRUE(slips.words.empty()) << engine;
    EXPECT_NEAR(slips.y[2], 0.6, 1e-8) << engine;
  }
}

// The same where reactions are shared: three supports of one bar, two feet of one block.
TEST(SharedReactions, AMarginThatIsOnlyTouchedEndsNothing) {
  const TestModel bar = text_model(R"toml(
[coordinates]
y = 0
a = 0
[energy]
kinetic = "y'^2/2 + a'^2/2"
[[force]]
along = "y'"
value = "sin(3*t) - 1"
[[contact]]
name = "c"
each = "i = 1 to 3"
gap = "y + (i - 2)*a"
impact = 0.5
[run]
until = 3.5
[output]
samples = 5
)toml");
  const auto feet = [](double pull, double until) {
    return text_model(R"toml(
[coordinates]
x = 0
y = 0
a = 0
[energy]
kinetic = "x'^2/2 + y'^2/2 + a'^2/10"
potential = "y"
[[force]]
along = "x'"
value = ")toml" + std::to_string(pull) +
                      R"toml(*sin(3*t)"
[[contact]]
name = "c"
each = "i = 1 to 2"
gap = "y + (i - 1.5)*a"
slip = "x'"
friction = 0.5
[run]
until = )toml" + std::to_string(until) +
                      "\n[output]\nsamples = 5\n");
  };
  for (const std::string& engine : kBoth) {
    EXPECT_TRUE(outcome_of(bar, engine).words.empty()) << engine;
    const Outcome rests = outcome_of(feet(0.5, 3.5), engine);
    EXPECT_TRUE(rests.words.empty()) << engine;
    EXPECT_EQ(rests.y[0], 0) << engine;
    // A little more, and both slip at asin(5/6)/3: x' = 0.2 (cos 3t₀ − cos 3t) − 0.5 (t − t₀).
    const Outcome slips = outcome_of(feet(0.6, 0.8), engine);
    const double start = std::asin(5.0 / 6) / 3;
    ASSERT_EQ(slips.words, (std::vector<std::string>{"slip c[1]", "slip c[2]"})) << engine;
    EXPECT_NEAR(slips.times[0], start, 1e-8) << engine;
    EXPECT_NEAR(slips.y[3], 0.2 * (std::cos(3 * start) - std::cos(2.4)) - 0.5 * (0.8 - start), 1e-8)
        << engine;
  }
}

// A body that shares its reactions, one that stands at its limit for ever, and a third that slips when its own time comes.
TEST(SharedReactions, ABlockAtItsLimitHidesNoOther) {
  for (const std::string& engine : kBoth) {
    const TestModel model = trial("contact-R1");
    const Outcome all = outcome_of(model, engine);
    std::vector<double> joint;
    for (std::size_t i = 0; i < all.words.size(); ++i) {
      if (all.words[i] == "slip cj2" || all.words[i] == "stick cj2") joint.push_back(all.times[i]);
    }
    // Moreau's scheme for the third body alone, steps of 2e-5: 0.52614, 1.07818, 1.18204, 1.70508, 1.97286.
    const std::vector<double> expected{0.5261334, 1.0782000, 1.1820448, 1.7050927, 1.9728629};
    ASSERT_EQ(joint.size(), expected.size()) << engine;
    for (std::size_t i = 0; i < joint.size(); ++i) EXPECT_NEAR(joint[i], expected[i], 1e-6) << engine;
    EXPECT_NEAR(all.y[4], 0.45570681, 1e-7) << engine;
  }
}

// Loads that balance to rounding: what is shared is zero where it must be, and what rests is told so.
TEST(SharedReactions, BalancedLoadsBreakNoLaw) {
  for (const std::string& engine : kBoth) {
    const Outcome tie = outcome_of(trial("contact-d1"), engine);
    EXPECT_TRUE(tie.words.empty()) << engine;
    EXPECT_EQ(tie.y, (std::vector<double>{0, 1, 0, 0})) << engine;
    const Outcome feet = outcome_of(trial("contact-m1"), engine);
    EXPECT_TRUE(feet.words.empty()) << engine;
    EXPECT_NEAR(feet.y[0], 0, 1e-15) << engine;
    EXPECT_NEAR(feet.y[3], 3 / std::sqrt(80.0) * std::sin(0.015 * std::sqrt(80.0)), 1e-9) << engine;
  }
}

// Blocks on each other that decelerate alike: the upper one needs exactly the friction that it has.
TEST(Ties, RowsThatNoLoadActsOnAreAsExactAsTheirNeighbours) {
  for (const std::string& engine : kBoth) {
    const Outcome stack = outcome_of(trial("contact-R4"), engine);
    EXPECT_EQ(stack.words, (std::vector<std::string>{"stick c0", "stick c1"})) << engine;
    EXPECT_NEAR(stack.y[2], -0.98290231592, 1e-9) << engine;
    EXPECT_NEAR(stack.y[4], -0.98290231592, 1e-9) << engine;
    const Outcome joints = outcome_of(trial("contact-R5"), engine);
    ASSERT_FALSE(joints.words.empty()) << engine;
    EXPECT_EQ(joints.words[0], "slip j3") << engine;
    EXPECT_NEAR(joints.times[0], 0.61601276, 1e-6) << engine;
  }
}

// One joint stops where another breaks loose: the jump of its friction lets the first one go on. Before, both move together with 0.19 on 1 kg.
TEST(Ties, AReleaseAtTheSameInstantLetsTheOtherGoOn) {
  for (const std::string& engine : kBoth) {
    const Outcome pair = outcome_of(trial("contact-w6"), engine);
    ASSERT_EQ(pair.words, std::vector<std::string>{"slip b"}) << engine;
    const double stop = 0.05 / 0.19;
    EXPECT_NEAR(pair.times[0], stop, 1e-9) << engine;
    const double left = 0.5 - stop;
    EXPECT_NEAR(pair.y[0], -0.025 * stop - 0.35 * left * left, 1e-9)
        << engine;  // x'' = (0.3 + 0.5 − 1.15)/0.5
    EXPECT_NEAR(pair.y[1], -0.025 * stop + 0.54 * left * left, 1e-9) << engine;  // y'' = (1.04 − 0.5)/0.5
  }
}

// Two feet whose slip depends on an angle that is the least number there is: shared reactions stay numbers.
TEST(SharedReactions, DenormalRowsLeaveThemFinite) {
  const Outcome block = outcome_of(trial("E10-accumulation-too-early"), "event");
  ASSERT_EQ(block.y.size(), 6u);
  for (int i = 3; i < 6; ++i) EXPECT_EQ(block.y[i], 0);
}

// A contact that was closed from the start opens by an impact beside it, with a gap of rounding.
TEST(ExactEngine, AContactThatOpensByAnImpactBesideItIsNotInside) {
  const Outcome stepped = outcome_of(trial("contact-b_0.06"), "event");
  const Outcome exact = outcome_of(trial("contact-b_0.06"), "exact");
  ASSERT_EQ(exact.words, stepped.words);
  for (std::size_t i = 0; i < exact.times.size(); ++i) EXPECT_NEAR(exact.times[i], stepped.times[i], 1e-8);
  for (std::size_t i = 0; i < exact.y.size(); ++i) EXPECT_NEAR(exact.y[i], stepped.y[i], 1e-8);
}

// Impacts without friction, a contact with it: the tail must be shorter than what that friction would do. Flights by Taylor series, 27 impacts, then sliding by Runge-Kutta.
TEST(Accumulations, FrictionThatTheImpactsDoNotHaveIsNotFeltInTheirTail) {
  for (const std::string& engine : kBoth) {
    const Outcome ball = outcome_of(trial("contact-accumulation-frictionless-impacts"), engine);
    EXPECT_NEAR(ball.y[0], -2.581858155705, 1e-6) << engine;
    EXPECT_NEAR(ball.y[2], -0.902371934123, 1e-6) << engine;
    EXPECT_NEAR(ball.times.back(), 1.209851793779, 1e-8) << engine;
  }
}

// Three joints hold two bodies and reach their limits together: one of them holds on. Moreau's scheme, steps of 2e-4: x0 = -0.83213, x1 = -0.41931, x2 = 0.
TEST(Ties, OfRowsAtTheirLimitsOneMayHoldOn) {
  for (const std::string& engine : kBoth) {
    const Outcome bodies = outcome_of(trial("contact-one-lets-go"), engine);
    EXPECT_EQ(bodies.words, (std::vector<std::string>{"slip a1", "slip b2"})) << engine;
    EXPECT_NEAR(bodies.y[0], -0.83213, 1e-4) << engine;
    EXPECT_NEAR(bodies.y[1], -0.41931, 1e-4) << engine;
    EXPECT_EQ(bodies.y[2], 0) << engine;
  }
}

// A slip would end at the instant of an impact that drives it on: its direction is that of its value afterwards.
TEST(Ties, AnImpactAtTheEndOfASlipDrivesItOn) {
  for (const std::string& engine : kBoth) {
    const Outcome bodies = outcome_of(trial("contact-impact-at-the-end-of-a-slip"), engine);
    ASSERT_GE(bodies.words.size(), 5u) << engine;
    EXPECT_EQ(bodies.words[4], "impact c2") << engine;
    EXPECT_NE(bodies.words[5], "stick a1") << engine;
  }
}

// A drive below a body at rest does work: 0.3 m/s against 1 N for two seconds.
TEST(Rest, DrivesBelowItDoTheirWork) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "x'^2/2"
potential = "2*x"
[[contact]]
name = "w"
gap = "x"
[[friction]]
name = "j"
slip = "x' + 0.3"
normal = 1
law = 1
[run]
until = 2
[output]
samples = 5
columns = { d = "dissipated(j)", s = "supplied(j)" }
)toml");
  for (const std::string& engine : kBoth) {
    simulate::MemorySink sink(model.system);
    const engines::EngineResult result = simulate::run(model.system, engine, model.options, sink);
    EXPECT_TRUE(result.status.ok()) << result.status.message;
    for (const char* column : {"d", "s"}) {
      const auto c = static_cast<std::size_t>(sink.column(column));
      for (std::size_t row = 0; row < sink.rows(); ++row)
        EXPECT_NEAR(sink.cell(row, c), 0.3 * sink.cell(row, 0), 1e-12) << engine << " " << column;
    }
    const Outcome bouncing = outcome_of(trial("contact-w7"), engine);
    EXPECT_EQ(bouncing.y, (std::vector<double>{-0.5, 0.5, 0, 0})) << engine;
  }
}

/// Every value of a column.
void expect_zero(const TestModel& model, const char* column) {
  simulate::MemorySink sink(model.system);
  const engines::EngineResult result = simulate::run(model.system, "event", model.options, sink);
  EXPECT_TRUE(result.status.ok()) << result.status.message;
  const auto c = static_cast<std::size_t>(sink.column(column));
  for (std::size_t row = 0; row < sink.rows(); ++row)
    ASSERT_EQ(sink.cell(row, c), 0) << "t = " << sink.cell(row, 0);
}

// x rests on w while y strikes it: the last bit of y's way is no reason for x to leave w.
TEST(Rest, WhatRestsOnAContactStaysThereWhereAnotherBodyStrikesIt) {
  expect_zero(text_model(R"toml(
[coordinates]
x = 0
y = 1
[energy]
kinetic = "0.25*x'^2 + y'^2"
potential = "(y + 1)^2"
[[contact]]
name = "c"
gap = "y - x"
[[contact]]
name = "w"
gap = "x"
slip = "y'"
friction = { static = 1, dynamic = 0 }
[run]
until = 2.2
)toml"),
              "x");
}

// y rests at the bottom of a curved gap beside a contact whose positions are corrected.
TEST(Rest, ACorrectionOfOneContactMovesNothingThatAnotherHolds) {
  expect_zero(text_model(R"toml(
[coordinates]
x = 1
y = 0
[energy]
kinetic = "0.25*x'^2 + 0.5*y'^2"
potential = "3*x + y"
[[force]]
along = "y' - x'"
value = "0.5*sin(3*t)"
[[contact]]
name = "bottom"
gap = "y + 0.3*sin(3*y)"
[[contact]]
name = "c"
gap = "x - y - t + 2.5"
slip = "y' - x' + 2"
friction = 0.8
[run]
until = 3
)toml"),
              "y");
}

// Balls on springs of one frequency w, the first drawn back by 0.2: all meet at zero, where no force tells them apart. By Moreau's law the first goes back with
// a third of its speed 0.2 w, the others go on together with two thirds of it, and half a period later all meet again, back and forth. Those that go
// together never part, though rounding leaves them some 1e-17 apart and their forces with it.
TEST(Ties, BallsThatSwingTogetherNeverPart) {
  constexpr double kPi = 3.14159265358979323846;
  for (const std::string& engine : kBoth) {
    for (int w = 1; w <= 7; ++w) {
      const TestModel model = text_model(
          "[parameters]\nw = " + std::to_string(w) +
          "\n[coordinates]\nx1 = { start = -0.2 }\nx2 = 0\nx3 = 0\n[energy]\nkinetic = \"(x1'^2 + x2'^2 + "
          "x3'^2)/2\"\npotential = \"w^2/2*(x1^2 + x2^2 + x3^2)\"\n[[contact]]\nname = \"a\"\ngap = \"x2 - "
          "x1\"\nimpact = 1\n[[contact]]\nname = \"b\"\ngap = \"x3 - x2\"\nimpact = 1\n[run]\nuntil = \"" +
          std::to_string(10 * kPi) + "/w\"\n");
      const simulate::Result result = simulate::simulate(model.system, model.options, engine);
      ASSERT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
      ASSERT_EQ(result.data.events.size(), 20U) << engine << ' ' << w;
      for (std::size_t k = 0; k < 20; ++k) {
        const engines::Event& event = result.data.events[k];
        EXPECT_EQ(event.kind, engines::EventKind::impact);
        EXPECT_NEAR(event.time, (0.5 + static_cast<double>(k / 2)) * kPi / w, 1e-8);
        EXPECT_NEAR(event.normal_impulse, 0.2 * w * (k % 2 == 0 ? 4. / 3 : 2. / 3), 1e-8 * w);
      }
    }
  }
}

// y strikes x, and both go on as one mass on y's spring: 5.5 s'' = -100 s - 0.45 s'. Viscous friction of the contact brakes one of them. On y it ends with the
// contact and lets y press on x again: closed the contact would pull, open it would be passed. On x it keeps x behind, and the contact opens.
TEST(Openings, EndTheViscousFrictionOfTheContact) {
  const auto text = [](const char* slip) {
    return std::string(R"toml(
[coordinates]
x = { velocity = -0.5 }
y = -1
[energy]
kinetic = "2.5*x'^2 + 0.25*y'^2"
potential = "50*y^2"
[[contact]]
name = "c"
gap = "x - y"
slip = ")toml") +
           slip + R"toml("
friction = { static = 1, dynamic = 0, viscous = 0.45 }
[run]
until = 0.2
)toml";
  };
  // The touch, and from there the reaction: 5 s'' where y is braked, 5 s'' + 0.45 s' where x is.
  double touch = 0.1;
  for (int i = 0; i < 50; ++i) {
    const double w = std::sqrt(200.0);
    touch -= (-0.5 * touch + std::cos(w * touch)) / (-0.5 - w * std::sin(w * touch));
  }
  const auto opens = [&](double brake_on_x) {
    double s = -0.5 * touch;
    double v = (-2.5 + 0.5 * std::sqrt(200.0) * std::sin(std::sqrt(200.0) * touch)) / 5.5;
    const auto a = [](double at, double speed) { return (-100 * at - 0.45 * speed) / 5.5; };
    const double h = 1e-6;
    double t = touch;
    for (; 5 * a(s, v) + brake_on_x * v > 0; t += h) {
      const double half = v + h / 2 * a(s, v);
      const double middle = s + h / 2 * v;
      s += h * half;
      v += h * a(middle, half);
    }
    return t;
  };
  for (const char* engine : {"event", "exact"}) {
    for (const double tolerance : {1e-8, 1e-10}) {
      TestModel model = text_model(text("y'"));
      model.options.tolerance = tolerance;
      simulate::Result result = simulate::simulate(model.system, model.options, engine);
      EXPECT_EQ(result.end.status.reason, Reason::inconsistent) << engine;
      EXPECT_NEAR(result.end.status.time, opens(0), 3e-6) << engine;
      EXPECT_TRUE(result.end.verdict.silent()) << engine;
      ASSERT_FALSE(result.data.events.empty());
      EXPECT_EQ(result.data.events.back().kind, engines::EventKind::painleve) << engine;

      model = text_model(text("x'"));
      model.options.tolerance = tolerance;
      result = simulate::simulate(model.system, model.options, engine);
      EXPECT_EQ(result.end.status.reason, Reason::done) << engine << result.end.status.message;
      ASSERT_FALSE(result.data.events.empty());
      EXPECT_EQ(result.data.events.back().kind, engines::EventKind::lift_off) << engine;
      EXPECT_NEAR(result.data.events.back().time, opens(0.45), 3e-6) << engine;
    }
  }
}

// The reaction of a constraint goes through zero while what it presses rests, without load: it goes on resting, pressed from the other side.
TEST(Rest, GoesOnWhereTheReactionOfAConstraintTurns) {
  const char* const models[] = {R"toml(
[coordinates]
x = 0
y = 1
w = 0
[energy]
kinetic = "x'^2 + 2.5*y'^2 + w'^2"
potential = "10*(w + 1)^2"
[[constraint]]
name = "k"
zero = "y + w - 1"
slip = "x'"
friction = 1
[run]
until = 2.1
)toml",
                                R"toml(
[coordinates]
x = 0
y = 0.5
w = 0
[energy]
kinetic = "(1 + y^2)*x'^2 + 1.5*y'^2 + 0.5*w'^2"
potential = "50*(y + 0.5)^2"
[[constraint]]
name = "k"
zero = "y + 0.5*w - 0.5"
slip = "x'"
friction = 0.3
[run]
until = 0.56
)toml"};
  for (const char* text : models) {
    TestModel model = text_model(text);
    for (const char* engine : {"event", "exact"}) {
      if (!simulate::engine_problem(model.system, engine).empty()) continue;
      for (const double tolerance : {1e-6, 1e-8, 1e-10, 1e-12}) {
        model.options.tolerance = tolerance;
        const simulate::Result result = simulate::simulate(model.system, model.options, engine);
        EXPECT_EQ(result.end.status.reason, Reason::done) << engine << result.end.status.message;
        EXPECT_TRUE(result.data.events.empty()) << engine << ' ' << tolerance;
        const simulate::MemorySink& data = result.data;
        for (std::size_t row = 0; row < data.rows(); ++row)
          ASSERT_EQ(data.cell(row, static_cast<std::size_t>(data.column("x"))), 0) << engine;
      }
    }
  }
}

// Two contacts and a joint that nothing presses yet, at rest: x'' = t - 38 x lifts x off both.
TEST(Rest, EndsBesideAJointThatNothingPresses) {
  const TestModel model = text_model(R"toml(
[tables]
load = { x = [-1, -0.5, 1.5, 2, 2.5], y = [0, -1, 2, 0, 0], between = "linear", outside = "zero" }
[coordinates]
x = 0
[energy]
kinetic = "0.25*x'^2"
potential = "10*x^2"
[[force]]
name = "force"
along = "x'"
value = "if(x + 1 < 5, x + 0.5*t, -x)"
[[friction]]
name = "j"
slip = "x'"
normal = "max(0, load(t))"
law = { mu = "0.1*(1 + 0.5*sin(1.5*t))" }
[[contact]]
name = "one"
gap = "x"
[[contact]]
name = "two"
gap = "x + 0.3*sin(0.5*x)"
impact = { type = "newton", restitution = 0 }
[run]
until = 0.15
)toml");
  const simulate::Result result = simulate::simulate(model.system, model.options, "event");
  ASSERT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
  const double w = std::sqrt(38.0);
  const simulate::MemorySink& data = result.data;
  EXPECT_NEAR(data.cell(data.rows() - 1, static_cast<std::size_t>(data.column("x"))),
              (0.15 - std::sin(0.15 * w) / w) / 38, 1e-11);
}

// A floor that moves as -sin(t)/2 takes a body along at t = pi, and brakes from there on: y' = 1/2 for good. Its acceleration at the last bit of that time is rounding, and
// presses nothing.
TEST(Impact, LeavesNothingPressedWhereTheWallBeginsToBrake) {
  const TestModel model = text_model(R"toml(
[coordinates]
y = -0.7
[energy]
kinetic = "0.25*y'^2"
[[contact]]
name = "c"
gap = "y + 0.5*sin(t) + 0.7"
[run]
until = 5.4
[output]
samples = 5
)toml");
  for (const std::string& engine : kBoth) {
    const Outcome end = outcome_of(model, engine);
    EXPECT_EQ(end.words, (std::vector<std::string>{"impact c", "lift-off c"})) << engine;
    EXPECT_NEAR(end.y[0], -0.7 + 0.5 * (5.4 - std::acos(-1.0)), 1e-9) << engine;
    EXPECT_NEAR(end.y[1], 0.5, 1e-9) << engine;
  }
}

// Limits and loads that read |λ| have a kink where λ passes zero, and no polynomial follows them there: the contact opens at that zero all the same, also out of rest.
TEST(Rest, EndsAtTheZeroOfTheReactionThatFrictionReads) {
  const std::string bristles =
      "{ type = \"lugre\", static = 1, dynamic = 1, velocity = 0.5, stiffness = 10, damping = 1 }";
  const Outcome joint = outcome_of(
      text_model("[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = "
                 "\"2*cos(t) - 1\"\n[[friction]]\nname = \"bristles\"\nslip = \"x'\"\nnormal = 1\nlaw = " +
                 bristles +
                 "\n[[friction]]\nname = \"fed\"\nslip = \"x'\"\nnormal = \"normal(c)\"\nlaw = { type = "
                 "\"arctan\", mu = 1, beta = 1 }\n[[contact]]\nname = \"c\"\ngap = \"-x\"\n[run]\nuntil = "
                 "2\n[output]\nsamples = 5\n"),
      "event");
  ASSERT_EQ(joint.words, std::vector<std::string>{"lift-off c"});
  EXPECT_NEAR(joint.times[0], std::acos(0.5), 1e-8);

  const Outcome contact = outcome_of(text_model(R"toml(
[coordinates]
x = 0
y = -3
[energy]
kinetic = "0.5*x'^2 + 2.5*y'^2"
[[force]]
along = "y'"
value = "2*t - 1"
[[contact]]
name = "below"
gap = "y + 4"
compliant = { stiffness = 1 }
slip = "x'"
friction = { type = "penalty", mu = 1, stiffness = 50, damping = 5 }
[[contact]]
name = "c"
gap = "y + 3"
slip = "x'"
friction = "0.1*(1 + 0.5*sin(1.5*t))"
[run]
until = 1.4
[output]
samples = 5
)toml"),
                                     "event");
  ASSERT_EQ(contact.words, std::vector<std::string>{"lift-off c"});
  EXPECT_NEAR(contact.times[0], 0.5, 1e-8);
  EXPECT_NEAR(contact.y[1], -3 + 0.9 * 0.9 * 0.9 / 15, 1e-9);
}

// Two contacts that clamp a body press as hard as they like: a load that passes zero opens neither, though their rows change with the place.
TEST(SharedReactions, OfAClampEndWithNoLoad) {
  const Outcome end = outcome_of(text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "1.5*x'^2"
potential = "x^2"
[[force]]
along = "x'"
value = "1.5*sin(3*t) - 0.5"
[[contact]]
name = "below"
gap = "x"
[[contact]]
name = "above"
gap = "-x + sin(0.7*x)"
[run]
until = 1.6
[output]
samples = 5
)toml"),
                                 "event");
  EXPECT_TRUE(end.words.empty());
  EXPECT_EQ(end.y, (std::vector<double>{0, 0}));
}

/// A mass of 1 under `force` and a brake with the law `law`, pressed by `normal`.
TestModel braked(const std::string& force, const std::string& law, double normal, const std::string& energy,
                 const std::string& more) {
  return text_model("[coordinates]\ny = 0\n[energy]\nkinetic = \"y'^2/2\"\n" + energy +
                    "\n[[force]]\nalong = \"y'\"\nvalue = \"" + force +
                    "\"\n[[friction]]\nname = \"brake\"\nslip = \"y'\"\nnormal = " + std::to_string(normal) +
                    "\nlaw = \"" + law + "\"\n" + more + "\n[run]\nuntil = 4\n[output]\nsamples = 5\n");
}

// A brake beside a stop shares what it holds with it: it lets go at the limit of the direction that it is pulled to, whatever side its law has had at rest.
TEST(SharedReactions, OfABrakeThatHoldsOneWayBetterEndAtTheLimitOfThatWay) {
  const std::string stop = "[[contact]]\nname = \"stop\"\ngap = \"y\"";
  for (const std::string& engine : kBoth) {
    for (const auto& [law, limit] :
         {std::pair<const char*, double>{"if(0 < y', 0.5, 1)", 2.5}, {"if(0 < y', 0.6, 0.2)", 3}}) {
      const Outcome end = outcome_of(braked("t", law, 5, "", stop), engine);
      ASSERT_EQ(end.words,
                (std::vector<std::string>{"switch friction.brake.law", "slip brake", "lift-off stop"}))
          << engine << " " << law;
      EXPECT_NEAR(end.times[1], limit, 1e-9) << engine;
      EXPECT_NEAR(end.y[0], std::pow(4 - limit, 3) / 6, 1e-8) << engine;
    }
  }
}

// The same beside a dry force along the same velocity: both hold together.
TEST(DryForce, BesideABrakeThatHoldsOneWayBetterSharesWithTheLimitOfThatWay) {
  for (const auto& [force, limit] : {std::pair<const char*, double>{"t", 1.8}, {"-t", 1.4}}) {
    const Outcome end =
        outcome_of(braked(force, "if(0 < y', 0.8, 0.4)", 1, "dissipation = \"abs(y')\"", ""), "event");
    ASSERT_EQ(end.words.size(), 2u) << force;
    EXPECT_EQ(end.words[1], "slip brake") << force;
    EXPECT_NEAR(end.times[1], limit, 1e-9) << force;
    EXPECT_NEAR(std::abs(end.y[0]), std::pow(4 - limit, 3) / 6, 1e-8) << force;
  }
}

// A level that nothing moves has the value of equality, whatever the rows do on its other side: floor(x) = 0, and the belt takes the mass along until 2 s² = 0.1.
TEST(Rest, OnABeltIsKeptBesideALevelThatNothingMoves) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
u = -3
[energy]
kinetic = "0.5*x'^2 + 1.5*u'^2"
potential = "u^2"
[[force]]
along = "u'"
value = "floor(x)"
[[friction]]
name = "belt"
slip = "u' - 2*t"
normal = 1
law = "if(0 < u' - 2*t, 1, 0.1)"
[run]
until = 0.2
[output]
samples = 5
)toml");
  for (const std::string& engine : kBoth) {
    const Outcome end = outcome_of(model, engine);
    EXPECT_TRUE(end.words.empty()) << engine;
    EXPECT_NEAR(end.y[1], -3 + 0.04, 1e-12) << engine;
    EXPECT_NEAR(end.y[3], 0.4, 1e-12) << engine;
  }
}

// What rests on a plate that a constraint moves stays there where a body coupled to the plate strikes a wall: of the two impulses on the plate nothing is left but
// rounding. 5 w'' + 20 w + 5 > 0 all the time.
TEST(Impact, OfOthersThatCancelOpensNothing) {
  const TestModel model = text_model(R"toml(
[tables]
wall = { x = [-2, -1.5, 0.5, 1], y = [0, 1.5, -1, 1.5], outside = "hold" }
[coordinates]
x = { velocity = 1 }
y = -0.3
w = 0.2
[energy]
kinetic = "x'^2 + 2.5*y'^2 + 0.5*(y' - x')^2 + 2.5*w'^2"
potential = "2*x^2 + x^4 + 10*w^2 + 5*w"
[[contact]]
name = "plate"
gap = "w - y - 0.5"
[[contact]]
name = "wall"
gap = "-x - wall(t) + 0.625"
slip = "y'"
friction = { type = "arctan", mu = 0.3, beta = 1 }
impact = 0.5
[[constraint]]
name = "lift"
zero = "y - 0.3*(1 - cos(0.5*t)) + 0.3"
slip = "x'"
friction = 0.1
[run]
until = 1.7
[output]
samples = 5
)toml");
  for (const double tolerance : {1e-8, 1e-9, 1e-10, 1e-11}) {
    engines::EngineOptions options = model.options;
    options.tolerance = tolerance;
    const simulate::Result result = simulate::simulate(model.system, options, "event");
    ASSERT_EQ(result.end.status.reason, Reason::done) << tolerance << " " << result.end.status.message;
    for (const engines::Event& event : result.data.events) EXPECT_NE(event.place, 0) << tolerance;
    const simulate::MemorySink& data = result.data;
    EXPECT_NEAR(data.cell(data.rows() - 1, static_cast<std::size_t>(data.column("w"))),
                0.2 + 0.3 * (1 - std::cos(0.85)), 1e-10)
        << tolerance;
  }
}

// What slides into a groove or the corner of a room stays there, as between one contact for each side.
TEST(Corners, HoldWhatComesToRestInThem) {
  for (const char* name :
       {"kink-groove", "kink-groove-at-rest", "kink-groove-symmetric", "kink-room-corner"}) {
    for (const std::string& engine : kBoth) {
      const Outcome out = outcome_of(trial(name), engine);
      for (const double value : out.y) EXPECT_NEAR(value, 0, 1e-12) << name << engine;
    }
  }
}

TEST(Corners, AreAsManyContactsAsTheyHaveSides) {
  const std::string body = R"toml(
[coordinates]
x = { start = 0.3, velocity = 0.1 }
y = { start = 0.8, velocity = 0.2 }
[energy]
kinetic = "(x'^2 + 2*y'^2)/2"
potential = "9.81*y + 2*x"
)toml";
  const auto wall = [](const std::string& name, const std::string& gap, const std::string& law) {
    return "[[contact]]\nname = \"" + name + "\"\ngap = \"" + gap + "\"\n" + law;
  };
  const std::string run = "[run]\nuntil = 3\n";
  const std::vector<std::vector<std::string>> corners{
      {"min(x, y)", "x", "y"},
      {"y - max(x, -2*x)", "y - x", "y + 2*x"},
      {"min(min(x, y), 3 - x - y)", "x", "y", "3 - x - y"},
      {"if(y < x, y, x)", "x", "y"},
      {"y - max(0.2*sin(3*t), -x)", "y - 0.2*sin(3*t)", "y + x"}};
  for (const std::string& law :
       {std::string(), std::string("impact = 0.4\n"), std::string("slip = \"x'\"\nfriction = 0.3\n"),
        std::string("slip = \"x' + 0.5*y'\"\nimpact = 0.3\n"
                    "friction = { static = 0.5, dynamic = 0.3 }\n")}) {
    for (const std::vector<std::string>& corner : corners) {
      std::string sides;
      for (std::size_t k = 1; k < corner.size(); ++k) sides += wall("c" + std::to_string(k), corner[k], law);
      const TestModel one = text_model(body + wall("vee", corner[0], law) + run);
      const TestModel several = text_model(body + sides + run);
      for (const std::string& engine : kBoth) {
        const Outcome a = outcome_of(one, engine), b = outcome_of(several, engine);
        ASSERT_EQ(a.y.size(), b.y.size());
        for (std::size_t i = 0; i < a.y.size(); ++i)
          EXPECT_NEAR(a.y[i], b.y[i], 1e-9) << corner[0] << law << engine;
      }
    }
  }
}

// A block on three or four feet, pulled by 5 t at some height above its centre: it rests until the pull is 0.45 of its weight, however its feet share it, and then slips with 0.3. Feet
// at angles have rows that turn with the block; rounding of forces that balance had turned them, and some feet slipped at rest, with the smaller coefficient.
TEST(SharedRest, FeetThatTurnWithTheirBodyHoldAsLongAsTheyCan) {
  constexpr double kWeight = 4 * 9.81;
  constexpr double kSlips = 0.45 * kWeight / 5;
  constexpr double kEnd = 5;
  const auto way = [](double t) { return 5.0 / 24 * t * t * t - 0.15 * 9.81 * t * t; };
  const auto speed = [](double t) { return 5.0 / 8 * t * t - 0.3 * 9.81 * t; };
  const double right = way(kEnd) - way(kSlips) - speed(kSlips) * (kEnd - kSlips);
  for (const char* height : {"0", "0.1", "0.05"}) {
    for (const int feet : {2, 3, 4}) {
      const std::string place = "0.4*(2*i - " + std::to_string(feet + 1) + ")/2";
      const std::string text = R"toml(
[coordinates]
x = 0
y = 0.3
th = 0
[definitions]
"px(s)" = "x + s*cos(th) + 0.3*sin(th)"
"py(s)" = "y + s*sin(th) - 0.3*cos(th)"
[energy]
kinetic = "2*(x'^2 + y'^2) + 0.25*th'^2"
potential = "4*9.81*y"
[[force]]
along = "(x + )toml" + std::string(height) +
                               R"toml(*sin(th))'"
value = "5*t"
[[contact]]
name = "leg"
each = "i = 1 to )toml" + std::to_string(feet) +
                               "\"\ngap = \"py(" + place + ")\"\nslip = \"px(" + place + ")'\"\n" +
                               "friction = { static = 0.45, dynamic = 0.3 }\n[run]\nuntil = 5\n";
      TestModel model = text_model(text);
      for (const double tolerance : {1e-7, 1e-9}) {
        model.options.tolerance = tolerance;
        const Outcome out = outcome_of(model, "event");
        EXPECT_EQ(out.words.size(), static_cast<std::size_t>(feet)) << height << ' ' << feet;
        for (const double time : out.times) EXPECT_NEAR(time, kSlips, 1e-9) << height << ' ' << feet;
        EXPECT_NEAR(out.y[0], right, 1e-8) << height << ' ' << feet;
      }
    }
  }
}

}  // namespace
}  // namespace judder
