// Models that once came out wrong: the tail of an accumulation, closed while something acted in the air, in the impacts or at rest alone; and hops that shrink
// ever more slowly. What is right are geometric series and closed forms. The referee listens to every run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

const std::vector<std::string> kBoth{"event", "exact"};

/// A ball of mass 1 that falls from 0.45 with g = 10 and restitution 0.5: impacts at 0.3, 0.6, 0.75, …, the last one at 0.9.
TestModel ball(const std::string& coordinates, const std::string& kinetic, const std::string& more) {
  return text_model("[coordinates]\ny = { start = 0.45 }\n" + coordinates + "[energy]\nkinetic = \"y'^2/2" +
                    kinetic + "\"\npotential = \"10*y\"\n" +
                    "[[contact]]\nname = \"c\"\ngap = \"y\"\nimpact = 0.5\n" + more + "[run]\nuntil = 2\n");
}

void expect_end(const Outcome& outcome, double time) {
  const auto at = std::find(outcome.words.begin(), outcome.words.end(), "accumulation c");
  ASSERT_NE(at, outcome.words.end());
  EXPECT_NEAR(outcome.times[static_cast<std::size_t>(at - outcome.words.begin())], time, 1e-12);
}

TEST(Tails, ViscousFrictionActsWhereTheContactIsClosed) {
  // Impacts take 0.1 (1 + 0.5) v of x', until 0.9: x = 5.04, x' = 5.1. Then v' = −1 − 0.4 v.
  const double v = 7.6 * std::exp(-0.84) - 2.5;
  const double x = 5.04 + 19 * (1 - std::exp(-0.84)) - 5.25;
  for (const std::string& engine : kBoth) {
    const Outcome outcome = outcome_of(text_model(R"toml(
[coordinates]
x = { velocity = 6 }
y = { start = 0.45 }
[energy]
kinetic = "x'^2 + y'^2"
potential = "20*y"
[[contact]]
name = "c"
gap = "y"
slip = "x'"
friction = { mu = 0.1, viscous = 0.8 }
impact = 0.5
[run]
until = 3
)toml"),
                                       engine);
    EXPECT_NEAR(outcome.y[0], x, 1e-7) << engine;
    EXPECT_NEAR(outcome.y[2], v, 1e-7) << engine;
    expect_end(outcome, 0.9);
  }
}

TEST(Tails, ASlipComesToRestAsItsViscousFrictionSays) {
  // From 0.6, x = 1.04 and v = 1.4 on v' = −1 − 0.5 v: rest after 2 ln 1.7.
  for (const std::string& engine : kBoth) {
    const Outcome outcome = outcome_of(text_model(R"toml(
[coordinates]
x = { velocity = 2 }
y = { start = 0.2 }
[energy]
kinetic = "x'^2/2 + y'^2/2"
potential = "10*y"
[[contact]]
name = "c"
gap = "y"
slip = "x'"
friction = { mu = 0.1, viscous = 0.5 }
impact = 0.5
[run]
until = 2
)toml"),
                                       engine);
    EXPECT_NEAR(outcome.y[0], 3.84 - 4 * std::log(1.7), 1e-7) << engine;
    ASSERT_EQ(outcome.words.back(), "stick c") << engine;
    EXPECT_NEAR(outcome.times.back(), 0.6 + 2 * std::log(1.7), 1e-7) << engine;
  }
}

TEST(Tails, FrictionOfAConstraintBesideTheImpactsHasTheirImpulses) {
  // In the air the constraint bears 4, in impacts 0.6 times their impulses (12.5 in the mean), at rest 7.5 − 4.
  for (const std::string& engine : kBoth) {
    const Outcome outcome = outcome_of(text_model(R"toml(
[coordinates]
x = 0
y = { start = 0.45 }
z = { velocity = 5 }
[energy]
kinetic = "x'^2/2 + y'^2/2 + z'^2/2"
potential = "10*y + 4*x"
[[constraint]]
name = "k"
zero = "x"
slip = "z'"
friction = 0.1
[[contact]]
name = "c"
gap = "0.6*x + 0.8*y"
impact = 0.5
[run]
until = 2
)toml"),
                                       engine);
    EXPECT_NEAR(outcome.y[5], 5 - 0.1 * (0.9 * (4 + 7.5) + 1.1 * 3.5), 1e-7) << engine;
    expect_end(outcome, 0.9);
  }
}

TEST(Tails, WhatActsInTheAirActsToTheEndOfTheHops) {
  for (const std::string& engine : kBoth) {
    const Outcome pushed = outcome_of(
        ball("x = 0\n", " + x'^2/2", "[[force]]\nalong = \"x'\"\nvalue = \"if(y > 0, 5, 0)\"\n"), engine);
    EXPECT_NEAR(pushed.y[3], 4.5, 1e-7) << engine;
    expect_end(pushed, 0.9);
    const Outcome counted =
        outcome_of(ball("", "", "[state]\nair = { start = 0, rate = \"if(y > 0, 1, 0)\" }\n"), engine);
    EXPECT_NEAR(counted.y[2], 0.9, 1e-7) << engine;
    const Outcome rising =
        outcome_of(ball("", "", "[state]\nup = { start = 0, rate = \"if(y' > 0, 1, 0)\" }\n"), engine);
    EXPECT_NEAR(rising.y[2], 0.3, 1e-7) << engine;
    expect_end(rising, 0.9);
  }
}

// What is the same in the air, in the impacts and at rest leaves the tail as it is.
TEST(Tails, NothingIsFollowedThatTheClosedContactDoesAlike) {
  for (const std::string& engine : kBoth) {
    const Outcome plain = outcome_of(ball("", "", ""), engine);
    const Outcome beside =
        outcome_of(ball("x = 0\n", " + x'^2/2", "[[force]]\nalong = \"x'\"\nvalue = \"5\"\n"), engine);
    EXPECT_EQ(plain.words, beside.words) << engine;
    EXPECT_NEAR(beside.y[3], 10, 1e-9) << engine;
  }
}

TEST(Tails, HopsWithoutARhythmAreFollowedAsWell) {
  // A restitution of 0.03: the fourth impact is below notice, before there is a rhythm. As in the first test, with another end.
  const double end = 0.3 + 0.6 * 0.03 / 0.97;
  const double v = (8.5 - end) * std::exp(-0.4 * (3 - end)) - 2.5;
  for (const std::string& engine : kBoth) {
    const Outcome outcome = outcome_of(text_model(R"toml(
[coordinates]
x = { velocity = 6 }
y = { start = 0.45 }
[energy]
kinetic = "x'^2 + y'^2"
potential = "20*y"
[[contact]]
name = "c"
gap = "y"
slip = "x'"
friction = { mu = 0.1, viscous = 0.8 }
impact = 0.03
[run]
until = 3
)toml"),
                                       engine);
    EXPECT_NEAR(outcome.y[2], v, 1e-8) << engine;
  }
}

// Impacts of another body during the hops are no difference: both lists are what each ball has alone.
TEST(Tails, HopsOfAnotherBallAreNoDifference) {
  for (const std::string& engine : kBoth) {
    const Outcome plain = outcome_of(ball("", "", ""), engine);
    const Outcome both = outcome_of(text_model(R"toml(
[coordinates]
y = { start = 0.45 }
z = { start = 0.4500001 }
[energy]
kinetic = "y'^2/2 + z'^2/2"
potential = "10*y + 10*z"
[[contact]]
name = "c"
gap = "y"
impact = 0.5
[[contact]]
name = "d"
gap = "z"
impact = 0.5
[run]
until = 2
)toml"),
                                    engine);
    const auto of_c = [](const Outcome& outcome) {
      return std::count_if(outcome.words.begin(), outcome.words.end(),
                           [](const std::string& word) { return word.find(" c") != std::string::npos; });
    };
    EXPECT_EQ(of_c(both), of_c(plain)) << engine;
    expect_end(both, 0.9);
  }
}

// A body that hops on one corner and strikes with the other a moment after the end of its hops: when that is comes from all impacts one after another and the closed form of
// the motion on the first corner, in arithmetic of 50 digits.
TEST(Tails, WhatFollowsAShortTailComesInTime) {
  for (const std::string& engine : kBoth) {
    const Outcome outcome = outcome_of(trial("contact-R1"), engine);
    std::size_t at = 0;
    while (at < outcome.words.size() &&
           !(outcome.words[at].find("ac0") != std::string::npos && outcome.times[at] > 0.61344))
      ++at;
    ASSERT_LT(at, outcome.words.size()) << engine;
    EXPECT_NEAR(outcome.times[at], 0.61344325558719, 1e-8) << engine;
  }
}

TEST(Tails, HopsThatShrinkEverMoreSlowlyEndWhereTheirSumDoes) {
  // v → v (1 − √v/4) with flights of length v: the sum of 25000 hops, and 8 √v − 5 v/4 for all that follow.
  double v = 2;
  double right = 1;
  double lost = 0;
  while (v > 1e-7) {
    v *= 1 - std::min(1.0, std::sqrt(v)) / 4;
    const double sum = right + (v - lost);
    lost = (sum - right) - (v - lost);
    right = sum;
  }
  right += 8 * std::sqrt(v) - 1.25 * v;
  for (const std::string& engine : kBoth) {
    const Outcome outcome = outcome_of(text_model(R"toml(
[coordinates]
y = { start = 1 }
[energy]
kinetic = "y'^2/2"
potential = "2*y"
[[contact]]
name = "c"
gap = "y"
impact = { restitution = "1 - min(1, sqrt(speed))/4" }
[run]
until = 16
)toml"),
                                       engine);
    ASSERT_EQ(outcome.words.back(), "accumulation c") << engine;
    EXPECT_NEAR(outcome.times.back(), right, 1e-6) << engine;
  }
}

// Four balls of restitution 0.1 lose all relative speed in infinitely many impacts in a finite time: what is left is the mean momentum.
TEST(Tails, BallsThatCollapseKeepTheirMomentumAlone) {
  for (const std::string& engine : kBoth) {
    const Outcome outcome = outcome_of(text_model(R"toml(
[coordinates]
a = { start = 0, velocity = 1 }
b = 0.7
c = 2
d = { start = 2.9, velocity = -1.3 }
[energy]
kinetic = "(a'^2 + b'^2 + c'^2 + d'^2)/2"
[[contact]]
name = "ab"
gap = "b - a"
impact = 0.1
[[contact]]
name = "bc"
gap = "c - b"
impact = 0.1
[[contact]]
name = "cd"
gap = "d - c"
impact = 0.1
[run]
until = 6
)toml"),
                                       engine);
    for (int i = 4; i < 8; ++i) EXPECT_NEAR(outcome.y[i], -0.075, 1e-8) << engine << " " << i;
  }
}

// Two contacts of a corner strike in turn, at times that no number tells apart after the eighth impact. The velocities where this ends come from the same law, one
// contact after the other, in arithmetic of 60 digits.
TEST(Tails, ContactsOfACornerStrikeInTurnWhereNoTimeIsLeft) {
  for (const std::string& engine : kBoth) {
    const Outcome outcome = outcome_of(text_model(R"toml(
[coordinates]
q0 = { start = 0.13, velocity = 0.74 }
q1 = { start = 0.85, velocity = -0.42 }
q2 = { start = 0.21, velocity = 1.33 }
[energy]
kinetic = "0.1/2*q0'^2 + q1'^2/2 + q2'^2/2"
potential = "10*q1 - q0 - 3*q2"
[[contact]]
name = "c0"
gap = "q1 - 0.5*q0 - q2"
impact = { type = "moreau", restitution = 0.3 }
slip = "q0' - q1' + 0.5*q2'"
friction = 0.1
[[contact]]
name = "c1"
gap = "q0 - 0.5*q1 + 0.524"
impact = { type = "moreau", restitution = 0 }
slip = "0.5*q0'"
friction = 0.1
[run]
until = 0.35479589713468
)toml"),
                                       engine);
    const double right[] = {-0.623155776859, -1.24631155372, -0.934733665288};
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(outcome.y[3 + i], right[i], 1e-8) << engine << " " << i;
  }
}

// A ball on a table that begins to rise, and a body that it takes along by a joint which the table loads. The first impact stops their slip, the ball hops with restitution 0.3, slower than the body,
// and rests in the end, rubbing: hop by hop with steps of 1e-7.
TEST(Tails, PushWhereAJointIsLoaded) {
  TestModel model = text_model(R"toml(
[coordinates]
x = { start = -0.3, velocity = 0.5 }
y = 0
[energy]
kinetic = "0.5*(x'^2) + 0.5*(y'^2)"
potential = "10*((y + 1)^2)"
[[force]]
along = "y'"
value = 1
[[friction]]
name = "j1"
slip = "y' - (-0.2*cos(4.5*t))"
normal = "abs(-1*cos(1.5*t))"
law = 0.5
[[friction]]
name = "j2"
slip = "y' - x'"
normal = "0.2 + normal(c1)"
law = "(1 + 0.5*sin(t))"
[[contact]]
name = "c1"
gap = "y - (0.3*abs(sin(t)))"
impact = { type = "poisson", restitution = 0.3 }
[run]
until = 0.018
)toml");
  for (const double tolerance : {1e-8, 1e-9, 1e-10}) {
    model.options.tolerance = tolerance;
    const Outcome out = outcome_of(model, "event");
    EXPECT_NEAR(out.times.back(), 0.0072200423, 1e-9) << tolerance;
    EXPECT_NEAR(out.y[0], -0.294342873317, 1e-10) << tolerance;
    EXPECT_NEAR(out.y[2], 0.3 * std::cos(0.018), 1e-10) << tolerance;
  }
}

// Friction brakes the hops on the way up and holds them on the way down, and each impact leaves the slip at rest: so does the last one, whatever the tolerance. A contact that was
// taken for closed at the top of a small hop slipped there, under a reaction that the brake shares: "several motions". The place by the closed forms of the
// flights, with 11 impacts.
TEST(Tails, EndInTheRestThatEachImpactLeaves) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
w = { start = 0.5, velocity = 1 }
[energy]
kinetic = "0.5*(x'^2) + 0.25*(w'^2)"
potential = "w^2 + 5*w"
[[friction]]
name = "j2"
slip = "w'"
normal = 3
law = { static = 1, dynamic = 1 }
[[contact]]
name = "c1"
gap = "w - 0.5"
slip = "x' + 0.2*w'"
friction = 1
impact = 0.3
[run]
until = 0.22
)toml");
  for (const double tolerance : {1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12}) {
    model.options.tolerance = tolerance;
    const Outcome out = outcome_of(model, "event");
    EXPECT_NEAR(out.y[0], -0.000944410113, 1e-10) << tolerance;
    EXPECT_EQ(out.y[2], 0) << tolerance;
    EXPECT_EQ(out.y[3], 0) << tolerance;
  }
}

}  // namespace
}  // namespace judder
