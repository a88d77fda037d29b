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

}  // namespace
}  // namespace judder
