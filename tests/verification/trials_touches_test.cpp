// Models that once came out wrong: functions that come to zero and turn there, by their form (abs, mod, cos) or by the motion, and watches of
// reactions that are not unique. What is right is a closed form.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "judder/core/number.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

constexpr double kPi = std::numbers::pi;

/// x = cos(t): passes zero and turns at every height again and again; z' is the function.
struct Touch {
  const char* name;
  const char* rate;
  double z;  ///< after a time of 2π
  std::size_t switches;
};
void PrintTo(const Touch& c, std::ostream* out) { *out << c.name; }

class Touches : public testing::TestWithParam<Touch> {};

TEST_P(Touches, AreNotCrossed) {
  const Touch& c = GetParam();
  const TestModel model = text_model(std::string(R"toml(
[coordinates]
x = 1
[state]
z = { start = 0, rate = ")toml") + c.rate +
                                     R"toml(" }
[energy]
kinetic = "x'^2/2"
potential = "x^2/2"
[run]
until = "2*pi"
)toml");
  for (const double tolerance : {1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12}) {
    engines::EngineOptions options = model.options;
    options.tolerance = tolerance;
    const simulate::Result result = simulate::simulate(model.system, options, "event");
    ASSERT_EQ(result.end.status.reason, Reason::done) << tolerance << ' ' << result.end.status.message;
    EXPECT_NEAR(result.end.end.y[2], c.z, 1e-5) << tolerance;
    EXPECT_EQ(result.data.events.size(), c.switches) << tolerance << '\n'
                                                     << event_list(model.system, result.data.events);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Trials, Touches,
    testing::Values(Touch{"step_of_a_power_of_abs", "step(-1*min(abs(x)^3, 2))", 0, 0},
                    Touch{"sign_of_abs", "sign(abs(x'))", 2 * kPi, 0},
                    Touch{"sign_of_a_square", "sign(x^2)", 2 * kPi, 0},
                    Touch{"abs_of_abs", "abs(abs(x)^1.5)",
                          2 * std::sqrt(kPi) * std::tgamma(1.25) / std::tgamma(1.75), 0},
                    Touch{"not_below_zero", "if(abs(x')*abs(x) < 0, 5, 1)", 2 * kPi, 0},
                    // Between -3.5 and 4.5 there are eight levels, each of them met twice.
                    Touch{"sign_of_mod", "sign(mod(4*x + 0.5, 1))", 2 * kPi, 16},
                    Touch{"mod_below_its_divisor", "if(mod(4*x + 0.5, 1) >= 1, 5, 1)", 2 * kPi, 0},
                    // Levels that are reached at x = 0 or x' = 0 only.
                    Touch{"floor_of_a_root", "floor(-2*sqrt(1 + abs(x)))", -6 * kPi, 0},
                    Touch{"floor_of_cos", "floor(cos(x')) + 1", 2 * kPi, 0},
                    Touch{"at_its_largest", "if(3*cos(1.5*x) >= 3, 7, 1)", 2 * kPi, 0}),
    [](const auto& tested) { return std::string(tested.param.name); });

// A body that friction brings to rest at t = 1 stays on the surface that it has touched: the language says what holds there.
TEST(Touching, ASurfaceThatIsStayedOnHasTheValueAtEquality) {
  for (const auto& [rate, z] : {std::pair("step(-abs(x'))", 2.0), std::pair("sign(abs(x'))", 1.0),
                                std::pair("if(abs(x') > 0, 1, 5)", 11.0)}) {
    const TestModel model = text_model(std::string(R"toml(
[coordinates]
x = { start = 0, velocity = 1 }
[state]
z = { start = 0, rate = ")toml") + rate +
                                       R"toml(" }
[energy]
kinetic = "x'^2/2"
[[friction]]
name = "pad"
slip = "x'"
normal = 1
law = 1
[run]
until = 3
)toml");
    EXPECT_NEAR(finish(model).end.y[2], z, 1e-9) << rate;
  }
}

TEST(Touching, AWatchThatHasOneSignCrossesNothing) {
  for (const char* const zero : {"abs(x)^3", "0.5*min(abs(x')^3, 2)", "mod(x, 0.25)", "-1*x^2"}) {
    TestModel model = text_model(std::string(R"toml(
[coordinates]
x = 1
[energy]
kinetic = "x'^2/2"
potential = "x^2/2"
[[watch]]
name = "look"
zero = ")toml") + zero + R"toml("
[run]
until = 10
)toml");
    for (const double tolerance : {1e-8, 1e-10}) {
      model.options.tolerance = tolerance;
      const simulate::Result result = run(model);
      EXPECT_TRUE(event_times(model.system, result.data.events, "watch look").empty())
          << zero << '\n'
          << event_list(model.system, result.data.events);
    }
  }
}

// x' = (1 - cos(20 t))/20 touches zero at the multiples of π/10, and passes it nowhere.
TEST(Touching, ASlipThatTouchesZeroIsNotReversed) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
w = 0
[energy]
kinetic = "x'^2/2 + w'^2/2"
[[force]]
along = "w'"
value = "sin(20*t)"
[[constraint]]
name = "guide"
zero = "x"
slip = "w'"
friction = 1
[run]
until = 1
)toml");
  for (const double tolerance : {1e-7, 1e-8, 1e-9, 1e-10, 1e-11}) {
    model.options.tolerance = tolerance;
    const simulate::Result result = run(model);
    EXPECT_TRUE(event_times(model.system, result.data.events, "reversal guide").empty())
        << tolerance << '\n'
        << event_list(model.system, result.data.events);
    EXPECT_NEAR(last(result, "w'"), (1 - std::cos(20.0)) / 20, 1e-7);
  }
}

// The body falls on a contact and sticks in a joint at the same instant: they share its weight, and the contact has its share at once.
TEST(Touching, AWatchOfASharedReactionJumpsAtTheImpact) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 1
[energy]
kinetic = "x'^2/4"
potential = "10*x"
[[friction]]
name = "pad"
slip = "x'"
normal = 1
law = 2
[[contact]]
name = "floor"
gap = "x"
[[watch]]
name = "look"
zero = "normal(floor) - 0.2"
[run]
until = 1.6
)toml");
  for (const double tolerance : {1e-8, 1e-10}) {
    model.options.tolerance = tolerance;
    const simulate::Result result = run(model);
    const std::vector<double> impacts = event_times(model.system, result.data.events, "impact floor");
    const std::vector<double> watches = event_times(model.system, result.data.events, "watch look");
    ASSERT_EQ(impacts.size(), 1U);
    EXPECT_NEAR(impacts[0], 0.5 / std::sqrt(2.0), 1e-9);  // 1 = 16 t²/2
    EXPECT_EQ(watches, impacts) << event_list(model.system, result.data.events);
  }
}

// At rest on a ground until the load turns up: its velocity is zero and then positive, and has never been negative.
TEST(Touching, AVelocityThatGrowsFromRestHasCrossedNothing) {
  TestModel model = text_model(R"toml(
[coordinates]
y = 0.7
[energy]
kinetic = "2.5*y'^2"
potential = "50*(y - 3*(1 - cos(0.7*t)))^2"
[[contact]]
name = "ground"
gap = "y - 0.7"
[[watch]]
name = "look"
zero = "y'"
[run]
until = 1.1
)toml");
  for (const double tolerance : {1e-7, 1e-8, 1e-9, 1e-10}) {
    model.options.tolerance = tolerance;
    const simulate::Result result = run(model);
    EXPECT_TRUE(event_times(model.system, result.data.events, "watch look").empty())
        << tolerance << '\n'
        << event_list(model.system, result.data.events);
  }
}

// x'' = 2 on the floor, (2 - 9.81)/2 along the ramp behind x = 1. Where they meet an impact without rebound takes half of the speed on the way up, and the floor none of it: 2, 1 | 1, 1/2 | 1/2, …
TEST(Touches, AtTheFootOfARampTheSpeedIsHalvedEachTime) {
  for (const char* engine : {"event", "exact"}) {
    const Outcome out = outcome_of(trial("kink-foot-of-a-ramp"), engine);
    const double up = 2 / ((9.81 - 2) / 2), last = 2 + 1.5 * up;
    const std::vector<double> times{1, 1 + up, 2 + up, last};
    ASSERT_EQ(out.times.size(), 2 * times.size()) << engine;  // it leaves the one where it meets the other
    for (std::size_t i = 0; i < out.times.size(); ++i)
      EXPECT_NEAR(out.times[i], times[i / 2], 1e-8) << engine;
    const double left = 3 - last;
    EXPECT_NEAR(out.y[0], 1 - 0.5 * left + left * left, 1e-8) << engine;
    EXPECT_NEAR(out.y[1], 0, 1e-12) << engine;
  }
}

// It rests on x = 0 while 0.2 t < 1 - t.
TEST(Touches, ARelayThatFadesLetsGo) {
  const Outcome out = outcome_of(trial("rest-sign-x-position"), "event");
  ASSERT_EQ(out.times.size(), 1U);
  EXPECT_NEAR(out.times[0], 1 / 1.2, 1e-9);
  EXPECT_NEAR(out.y[1], 0.6 * (1 - 1 / 1.44) - (1 - 1 / 1.2) + 0.3, 1e-9);
}

// The load -0.1 + 0.4 cos(3 (t - 0.1)) touches the limit 0.3 at t = 2.19 and passes -0.3 where the cosine is -1/2.
TEST(Touches, ALoadThatTouchesItsLimitMovesNothing) {
  for (const char* engine : {"event", "exact"}) {
    const Outcome out = outcome_of(trial("slide-graze-hang"), engine);
    ASSERT_EQ(out.times.size(), 1U) << engine;
    EXPECT_NEAR(out.times[0], 0.1 + (2 + 2.0 / 3) * kPi / 3, 1e-9) << engine;
  }
}

// At rest it is pushed by 0.3, and moving by 0.1: rest lasts no time.
TEST(Touches, WhatHoldsAtRestOnlyHoldsNoTime) {
  const Outcome out = outcome_of(trial("sqrt-abs-greater-zero"), "event");
  EXPECT_NEAR(out.y[0], 0.45, 1e-9);
  EXPECT_NEAR(out.y[1], 0.3, 1e-9);
}

// A pawl on teeth: the slider leaves its stop at the edge of a tooth, where the gap jumps, and comes back. Small steps of Moreau's scheme have the same 36 events.
TEST(Touches, ASliderLeavesTheEdgeOfAToothAsOftenAsItIsPushed) {
  TestModel model = trial("switch-ratchet");
  const Outcome exact = outcome_of(model, "exact");
  EXPECT_EQ(exact.words.size(), 36U);
  for (const double tolerance : {1e-6, 1e-8, 1e-10}) {
    model.options.tolerance = tolerance;
    const Outcome event = outcome_of(model, "event");
    ASSERT_EQ(event.words, exact.words) << tolerance;
    for (std::size_t i = 0; i < exact.times.size(); ++i)
      EXPECT_NEAR(event.times[i], exact.times[i], 100 * tolerance) << exact.words[i];
  }
}

// Nothing loads the joint: whatever its normal force does, it rests, and goes with its belt.
TEST(Touches, ANormalForceThatTouchesZeroLetsNothingGo) {
  for (const char* normal : {"1 + cos(W*t)", "sin(W*t)^2", "cos(W*t)^6"}) {
    for (const char* rate : {"1", "1.3", "2", "2.7", "3.8", "11"}) {
      std::string load = normal;
      load.replace(load.find('W'), 1, rate);
      for (const bool belt : {false, true}) {
        const TestModel model = text_model(
            std::string("[coordinates]\nx = { velocity = ") + (belt ? "0.5" : "0") +
            " }\n[energy]\nkinetic = \"x'^2/2\"\n[[friction]]\nname = "
            "\"f\"\nslip = \"x'" +
            (belt ? " - 0.5" : "") + "\"\nnormal = \"" + load + "\"\nlaw = 0.5\n[run]\nuntil = 8\n");
        const Outcome out = outcome_of(model, "event");
        EXPECT_TRUE(out.words.empty()) << load;
        EXPECT_NEAR(out.y[0], belt ? 4 : 0, belt ? 1e-14 : 0) << load;
        EXPECT_EQ(out.y[1], belt ? 0.5 : 0) << load;
      }
    }
  }
  for (const char* name : {"rest-normal-touches-zero", "rest-normal-touches-zero-2"}) {
    const Outcome out = outcome_of(trial(name), "event");
    for (const double y : out.y) EXPECT_EQ(y, 0) << name;
  }
  EXPECT_NEAR(outcome_of(trial("belt-normal-touches-zero"), "event").y[0], 2, 1e-14);
}

// Two belts of one speed, 3 and 5 strong, that a pulse parts so softly that no derivative tells: the stronger one takes the body along as far as it can. The value is
// that of implicit steps of 1e-5, which know no events.
TEST(BeltsThatPart, SoftlyAreParted) {
  EXPECT_NEAR(outcome_of(trial("contact-twobelts"), "event").y[0], 2.80643482, 1e-8);
}

// A damper min(sqrt|x'|, 1/4) whose root dips through zero within a step; Runge-Kutta steps of 1e-5.
TEST(Dips, AreMetWithinAStep) {
  const Outcome out = outcome_of(trial("switch-missed-dip"), "event");
  EXPECT_NEAR(out.y[0], -0.37279391248, 1e-9);
  EXPECT_NEAR(out.y[1], 0.16632276848, 1e-9);
}

// A body meets a wall within the last bits of the start, stays without rebound and is drawn away while the wall recedes. The gap is a small difference of terms
// as large as the unit of length is small: it grows by steps of their last bits, and steps that tried to follow these never came to an end.
TEST(Gaps, ThatBeginWithinTheRoundingOfTheirTermsAreLeft) {
  for (const double size : {1.0, 2e3, 3e4, 3e5, 1e6}) {
    const std::string length = to_text(size);
    TestModel model =
        text_model("[coordinates]\nx = { velocity = -" + length +
                   " }\n[energy]\nkinetic = \"0.5*x'^2\"\npotential = \"-10*x\"\n"
                   "dissipation = \"0.005*x'^2\"\n"
                   "[[contact]]\nname = \"c\"\ngap = \"x - " +
                   length + "*(0.2*abs(mod(t, 3) - 1.5)) + " + to_text(0.30000000000000004 * size) +
                   "\"\nimpact = { type = \"moreau\", restitution = 0 }\n[run]\nuntil = 1\n");
    for (const double tolerance : {1e-8, 1e-10}) {
      model.options.tolerance = tolerance;
      const simulate::Result result = simulate::simulate(model.system, model.options, "event");
      ASSERT_EQ(result.end.status.reason, Reason::done) << size << result.end.status.message;
      EXPECT_LT(result.end.steps, 1000) << size;
      const double right = 1000 + (-0.2 * size - 1000) * (1 - std::exp(-0.01)) / 0.01;
      EXPECT_NEAR(result.end.end.y[0], right, (10 * tolerance + 1e-12) * size) << size;
    }
  }
}

}  // namespace
}  // namespace judder
