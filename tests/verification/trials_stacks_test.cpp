// Bodies on bodies whose loads stand exactly at their limits, and stacks with one coefficient for all: what starts to slip together, what stays together without being
// held, and what the reactions that are not unique allow. The right values come from Moreau's scheme with 30000 steps (errors of 2e-5), or are closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

const std::vector<std::string> kBoth{"event", "exact"};

/// Both engines end alike, and where Moreau's scheme does.
void expect_end(const std::string& name, const std::vector<double>& right) {
  const TestModel model = trial(name);
  const Outcome event = outcome_of(model, "event");
  const Outcome exact = outcome_of(model, "exact");
  EXPECT_EQ(event.words, exact.words) << name;
  ASSERT_LE(right.size(), exact.y.size());
  for (std::size_t i = 0; i < right.size(); ++i) {
    EXPECT_NEAR(exact.y[i], right[i], 2e-4) << name << " " << i;
    EXPECT_NEAR(event.y[i], exact.y[i], 1e-9) << name << " " << i;
  }
}

// Reactions that are not unique have no sign of their own: what they must satisfy together decides what the next instant brings.
TEST(LoadsAtTheirLimits, WhatSharedReactionsCannotHoldGivesWayAtOnce) {
  expect_end("contact-ties-2", {-0.5, -0.2345412, 0, 0, -0.2420378, 0});
  expect_end("contact-ties-8", {0.3217619, 0.0386000, 0.2573043, 0.4119616, 0, 0});
}

TEST(LoadsAtTheirLimits, ALoadThatStaysAtItsLimitMovesNothing) {
  expect_end("contact-ties-3", {0.7507548, 0.8037656, 0.6037656, 0.5, 0.5, 0.5});
  expect_end("contact-ties-5", {-0.8247737, -0.1961800, -0.3961813, -0.3777778, -0.3777778, -0.3777778});
  for (const std::string& engine : kBoth) {
    const Outcome rest = outcome_of(trial("contact-ties-9"), engine);
    EXPECT_TRUE(rest.words.empty()) << engine;
    EXPECT_EQ(rest.y, (std::vector<double>(6, 0.0))) << engine;
  }
  expect_end("contact-ties-held", {-0.4042204, -0.4042204, 0.75, 0.75, -0.3, -0.3, 0.5, 0.5});
}

// A slip that has never had a speed is at rest, whatever was decided about it.
TEST(LoadsAtTheirLimits, ASlipThatHasNotMovedIsDecidedAgain) {
  expect_end("contact-ties-6", {-0.5, -2.018977, -2.018974, 0, -2.599983, -2.599983});
  expect_end("contact-ties-chain",
             {-0.3550725, 0.7007007, 0.7007002, -0.386, -0.0490673, 0.7250833, 0.7250833, -0.3});
  expect_end("contact-ties-tail", {-0.5633329, -0.5633329, -3.75, -0.3, -0.3, -5.5});
}

// Of two joints the one that is at its static limit lets go, and with less friction behind it the other one holds.
TEST(LoadsAtTheirLimits, ALimitThatIsPassedLaterLetsGoWithItsStaticCoefficient) {
  expect_end("contact-ties-static", {-2.5491160, -2.5540083, -3.5620278, -2.4277145, -2.4558420, -4.7083});
}

// x'' = t/6 of both bodies on a belt of speed 1/2: the slip is a difference of velocities that hardly differ.
TEST(LoadsAtTheirLimits, ASlipThatGrowsFromRoundingIsFollowed) {
  for (const std::string& engine : kBoth) {
    const Outcome carried = outcome_of(trial("contact-ties-belt"), engine);
    for (const int i : {0, 1}) EXPECT_NEAR(carried.y[i], 0.75 + 1.5 * 1.5 * 1.5 / 36, 1e-12) << engine;
    for (const int i : {2, 3}) EXPECT_NEAR(carried.y[i], 0.5 + 1.5 * 1.5 / 12, 1e-12) << engine;
  }
}

// x0 reaches the wall at the end of the run, to the last bit: x0 = -t/3, and the impact is its last event.
TEST(LoadsAtTheirLimits, AnImpactAtTheEndOfTheRunIsListed) {
  for (const std::string& engine : kBoth) {
    const Outcome hit = outcome_of(trial("contact-ties-7"), engine);
    ASSERT_GE(hit.words.size(), 2u) << engine;
    EXPECT_EQ(hit.words[hit.words.size() - 2], "impact w") << engine;
    EXPECT_EQ(hit.times.back(), 1.5) << engine;
    EXPECT_NEAR(hit.y[3], 1.0 / 6, 1e-14) << engine;
  }
}

TEST(Stacks, BlocksWithOneCoefficientForAllMoveTogether) {
  for (const std::string& engine : kBoth) {
    const Outcome belt = outcome_of(trial("contact-eqstack"), engine);
    EXPECT_NEAR(belt.y[0], 0.106524, 1e-6) << engine;
    EXPECT_NEAR(belt.y[1], 0.106524, 1e-6) << engine;
    const Outcome three = outcome_of(trial("contact-eqstack-exact"), engine);
    EXPECT_NEAR(three.y[2], 8.395, 1e-3) << engine;
    EXPECT_NEAR(three.y[1], three.y[2], 1e-9) << engine;
  }
}

// Two loads of one coefficient that touch: they slide as one load would. By Moreau's scheme with 400000 steps.
TEST(Stacks, LoadsThatTouchSlideTogether) {
  for (const std::string& engine : kBoth) {
    const Outcome loads = outcome_of(trial("contact-touchloads"), engine);
    EXPECT_NEAR(loads.y[0], 5.349082556, 1e-5) << engine;
    EXPECT_NEAR(loads.y[1], 4.830857018, 1e-5) << engine;
    EXPECT_NEAR(loads.y[2] - loads.y[1], 0.5, 1e-12) << engine;
    for (const std::string& word : loads.words) EXPECT_EQ(word.find("graze"), std::string::npos) << engine;
  }
}

// Forces that fade in from nothing: ∫ exp(-((t - 8)/w)²) dt, and a belt whose speed is a small difference. The latter by Moreau's scheme.
TEST(FadingForces, WhatGrowsFromNothingIsFollowed) {
  const Outcome pushed = outcome_of(trial("contact-tinyforce"), "event");
  const double half = 0.25 * std::sqrt(std::acos(-1.0));
  EXPECT_NEAR(pushed.y[1], 0.1 + half * (1 + std::erf(4.0)), 1e-9);
  const Outcome belt = outcome_of(trial("contact-tanhbelt"), "event");
  EXPECT_EQ(belt.words, std::vector<std::string>{"slip f"});
  EXPECT_NEAR(belt.y[0], 0.0669957, 1e-7);
}

// A slip of 1e-20 ends within 5e-21 s, and a load of 1e-77 holds nothing: no step is too short for what a phase begins with. The second by Moreau's scheme.
TEST(FadingForces, WhatIsNextToNothingIsUsedUpAtOnce) {
  for (const std::string& engine : kBoth) {
    const Outcome sticks = outcome_of(trial("contact-tinyslip-sd"), engine);
    EXPECT_EQ(sticks.words, std::vector<std::string>{"stick f"}) << engine;
    EXPECT_NEAR(sticks.times[0], 5e-21, 1e-24) << engine;
    EXPECT_NEAR(sticks.y[0], 1e-20, 1e-24) << engine;
  }
  const Outcome slips = outcome_of(trial("contact-tinyload"), "event");
  EXPECT_NEAR(slips.y[0], 0.184597938, 1e-5);
  EXPECT_NEAR(slips.y[1], 0.005965574, 1e-5);
}

// Late in a run the last bit of the time moves a shaking table: impacts are met within it, and what lifts off and lands again is the same in both engines.
TEST(LateTimes, ATableThatShakesIsMetToTheLastBitOfTheTime) {
  for (const std::string& engine : kBoth) {
    const Outcome bounces = outcome_of(trial("contact-lategap"), engine);
    EXPECT_GT(bounces.words.size(), 3000u) << engine;
  }
  const TestModel shaker = trial("contact-lateshaker");
  const Outcome event = outcome_of(shaker, "event");
  const Outcome exact = outcome_of(shaker, "exact");
  EXPECT_EQ(event.words, exact.words);
  EXPECT_EQ(event.words.size(), 45u);
  ASSERT_EQ(event.times.size(), exact.times.size());
  for (std::size_t i = 0; i < exact.times.size(); ++i) EXPECT_NEAR(event.times[i], exact.times[i], 1e-8);
  // From 9.81 = 0.01 47² sin(47 t) on it flies, to the moment where the parabola meets the sine: the same in every period.
  for (const double time : {exact.times[0], exact.times[2], exact.times[4]})
    EXPECT_NEAR(0.01 * 47 * 47 * std::sin(47 * time), 9.81, 1e-5);
}

// u' + u = 3 t - 0.5 - N(t) with N = 0.6 + 0.4 t + 0.1 t² from where the right side is zero.
TEST(MasslessNodes, AtItsLimitANodeWithADamperBeginsToSlip) {
  const Outcome slips = outcome_of(trial("contact-massless-hang"), "event");
  const double from = 13 - std::sqrt(158.0);
  ASSERT_EQ(slips.words, std::vector<std::string>{"slip a"});
  EXPECT_NEAR(slips.times[0], from, 1e-12);
  EXPECT_NEAR(slips.y[0], -1.2 + (0.1 * from * from - 2.8 * from + 3.9) * std::exp(from - 1), 1e-9);
}

// The limit is passed for a short time only. By the method of Runge and Kutta with 80000 steps.
TEST(MasslessNodes, AShortSlipIsNotTakenForATouch) {
  const Outcome node = outcome_of(trial("contact-massless-cone"), "event");
  EXPECT_EQ(node.words,
            (std::vector<std::string>{"slip a", "stick a", "slip a", "stick a", "slip a", "stick a"}));
  ASSERT_EQ(node.times.size(), 6u);
  EXPECT_NEAR(node.times[4], 3.88447, 1e-5);
  EXPECT_NEAR(node.y[0], 0.0249869016, 2e-9);
  EXPECT_NEAR(node.y[1], 0.0337369545, 2e-9);
}

// The slip cos(a)' has no direction where sin(a) = 0: there friction vanishes, and the contact is pressed as before. a'' = 2 a - 0.2 (5 + sin t) |sin a|, by
// the method of Runge and Kutta on the pieces between.
TEST(DeadCentres, AContactStaysPressedWhereItsSlipHasNoDirection) {
  const Outcome crank = outcome_of(trial("contact-deadcentre-min"), "event");
  ASSERT_EQ(crank.words.size(), 15u);
  for (const std::string& word : crank.words) EXPECT_EQ(word, "reversal f");
  EXPECT_EQ(crank.y[1], 0);
  EXPECT_NEAR(crank.y[0], 48.6760579777, 1e-7);
  EXPECT_NEAR(crank.y[2], 68.429181132, 1e-7);
}

}  // namespace
}  // namespace judder
