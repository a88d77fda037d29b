// Models in which a law of mechanics was once found broken: limits of friction that depend on the direction of slip while the row follows a belt, reactions that
// are not unique beside laws that need them, loads that begin at zero more softly than any power of time. The right values are closed forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

// A belt 0.5 sin(1.4 t) carries a mass against a spring: friction is 0.7 cos(1.4 t) + 4 x with x = 0.1 + (0.5/1.4)(1 - cos(1.4 t)), and 1.8 backwards is the limit. How exactly
// the mass follows the belt is a matter of the tolerance, and no reason for its law to change sides.
TEST(Laws, DependOnTheDirectionOfSlipWhileABeltIsFollowed) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0.1
[energy]
kinetic = "x'^2/2"
potential = "2*x^2"
[[friction]]
name = "belt"
slip = "x' - 0.5*sin(1.4*t)"
normal = 3
law = "if(0 < x' - 0.5*sin(1.4*t), 0.9, 0.6)"
[run]
until = 1.5
)toml");
  const double reach = 4 * 0.5 / 1.4;
  const double right = std::acos((0.4 + reach - 1.8) / (reach - 0.7)) / 1.4;
  for (const double tolerance : {1e-6, 1e-7, 1e-8, 1e-9, 1e-11}) {
    model.options.tolerance = tolerance;
    const Outcome out = outcome_of(model, "event");
    ASSERT_EQ(out.words, std::vector<std::string>{"slip belt"}) << tolerance;
    EXPECT_NEAR(out.times[0], right, 100 * tolerance);
  }
}

// Nothing presses the two joints at first, so neither of them holds the mass nor the other: 3 x'' = -2 + 1.1 t², with both against the motion.
TEST(Laws, JointsThatNothingPressesLetGoTogether) {
  for (const char* belt : {"0", "sin(t)", "t^2"}) {
    TestModel model = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "1.5*x'^2"
potential = "2*x"
[[friction]]
name = "first"
slip = "x'"
normal = "t^2"
law = 1
[[friction]]
name = "second"
slip = "x' - )toml" + std::string(belt) +
                                 R"toml("
normal = "t^2"
law = 0.1
[run]
until = 0.5
)toml");
    const double t = 0.5;
    for (const double tolerance : {1e-6, 1e-9}) {
      model.options.tolerance = tolerance;
      const Outcome out = outcome_of(model, "event");
      EXPECT_NEAR(out.y[0], (-t * t + 1.1 * std::pow(t, 4) / 12) / 3, 10 * tolerance) << belt;
      EXPECT_NEAR(out.y[1], (-2 * t + 1.1 * std::pow(t, 3) / 3) / 3, 10 * tolerance) << belt;
    }
  }
}

// Friction of a compliant contact reaches its limit while a kink of the slip velocity and a joint without load stand beside it. What was left of the limit at
// that instant, some 1e-16, was taken for a margin. Right is where 2 y' + y/2 = 0 on 3 (1 + sin(y)/2) y'' + 0.75 cos(y) y'² + 2 y' + y = 0, with short steps.
TEST(Laws, ALimitThatIsPassedAtTheBeginningOfAPhaseIsSeen) {
  const auto acceleration = [](double y, double v) {
    return -(0.75 * std::cos(y) * v * v + 2 * v + y) / (3 * (1 + 0.5 * std::sin(y)));
  };
  const double h = 1e-4;
  double y = 1;
  double v = 0;
  double right = 0;
  while (true) {
    const double before = 2 * v + 0.5 * y;
    const double k1 = acceleration(y, v);
    const double k2 = acceleration(y + h / 2 * v, v + h / 2 * k1);
    const double k3 = acceleration(y + h / 2 * v + h * h / 4 * k1, v + h / 2 * k2);
    const double k4 = acceleration(y + h * v + h * h / 2 * k2, v + h * k3);
    y += h * v + h * h / 6 * (k1 + k2 + k3);
    v += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    const double after = 2 * v + 0.5 * y;
    if (after < 0) {
      right += h * before / (before - after);
      break;
    }
    right += h;
  }
  TestModel model = text_model(R"toml(
[coordinates]
y = 1
w = 0
[energy]
kinetic = "1.5*(1 + 0.5*sin(y))*y'^2 + 0.25*w'^2"
dissipation = "(y' + w')^2 + abs(w')^3"
[[friction]]
name = "unloaded"
slip = "w'"
normal = "max(0, 0)"
law = 1
[[contact]]
name = "pad"
gap = "-y"
compliant = { stiffness = 1 }
slip = "w'"
friction = { static = 0.5, dynamic = 0 }
[run]
until = 1.4
)toml");
  for (const double until : {1.4, 1.8, 2.5, 4.0}) {
    for (const double tolerance : {1e-7, 1e-8, 1e-10}) {
      model.options.until = until;
      model.options.tolerance = tolerance;
      const Outcome out = outcome_of(model, "event");
      ASSERT_FALSE(out.words.empty());
      EXPECT_EQ(out.words[0], "slip pad") << until << " " << tolerance;
      EXPECT_NEAR(out.times[0], right, 1e-8 + 100 * tolerance) << until << " " << tolerance;
    }
  }
}

// A load by the sign of the coordinate of a contact at rest, which is 0, and by the sign of its velocity, which is not above zero: the contact holds both surfaces.
TEST(Laws, SurfacesThatAContactHoldsDoNotChangeSides) {
  const double t = 2.0 / 3;  // 0.5 t = 0.5 (1 - 0.5 t)
  const double speed_at_2 = 0.325 * (4 - t * t) - 0.3 * (2 - t);
  const double x_at_2 = 0.325 * ((8 - t * t * t) / 3 - t * t * (2 - t)) - 0.15 * (2 - t) * (2 - t);
  TestModel by_coordinate = trial("rest-sign-y-normal");
  TestModel by_velocity = trial("rest-if-ydot-normal");
  for (const double tolerance : {1e-6, 1e-9, 1e-11}) {
    by_coordinate.options.tolerance = by_velocity.options.tolerance = tolerance;
    const Outcome first = outcome_of(by_coordinate, "event");
    ASSERT_EQ(first.words, std::vector<std::string>{"slip j168"});
    EXPECT_NEAR(first.times[0], 1, 10 * tolerance);  // 0.5 t = 0.5
    EXPECT_NEAR(first.y[0], 2.0 / 3, 10 * tolerance);
    EXPECT_NEAR(first.y[2], 1, 10 * tolerance);
    const Outcome second = outcome_of(by_velocity, "event");
    ASSERT_EQ(second.words.size(), 2U);
    EXPECT_EQ(second.words[0], "slip j169");
    EXPECT_NEAR(second.times[0], t, 10 * tolerance);
    EXPECT_NEAR(second.y[0], x_at_2 + speed_at_2 + 0.25 * (19.0 / 3 - 4) - 0.15, 10 * tolerance);
    EXPECT_NEAR(second.y[2], speed_at_2 + 0.25 * 5 - 0.3, 10 * tolerance);
  }
}

// Hops that become smaller than the noise of the gap are over: one that is missed is followed by a fall through the contact. A tangential restitution, and
// friction that impacts do not have, are reasons to follow hops for longer, but not for that long.
TEST(Laws, HopsEndWhereTheyCannotBeFollowed) {
  const char* const rests_at_half = R"toml(
[coordinates]
x = -1
y = -1.5
w = 1
u = 0
[energy]
kinetic = "2.5*x'^2 + 0.5*y'^2 + 0.5*w'^2 + 0.25*u'^2"
[matrices]
stiffness = [[5.2, 0, 0.5, 0], [0, 12, 0.3333333333333333, 1], [0.5, 0.3333333333333333, 16, -0.16666666666666666], [0, 1, -0.16666666666666666, 8]]
[[contact]]
name = "stop"
gap = "-y - 0.5"
slip = "w'"
impact = { restitution = 0.5, tangential = 0.5 }
[[constraint]]
name = "lever"
zero = "x - 0.5*y + 0.25"
[run]
until = 2.6
)toml";
  const char* const rests_at_one = R"toml(
[coordinates]
x = 0.7
y = 0
[energy]
kinetic = "1.5*x'^2 + 1.5*y'^2"
potential = "5*y"
[[force]]
along = "y'"
value = -2
[[contact]]
name = "stop"
gap = "x + 1"
slip = "y' + 1"
friction = { type = "elastoplastic", mu = 1, stiffness = 1, damping = 0, breakaway = 0.0025 }
impact = "0.5/(1 + 3*speed)"
[[constraint]]
name = "lever"
zero = "y - 0.5*x + 0.35"
[run]
until = 3
)toml";
  const auto expect_rest = [](const char* text, double x, double y) {
    TestModel model = text_model(text);
    for (const double tolerance : {1e-6, 1e-8, 1e-10}) {
      model.options.tolerance = tolerance;
      const Outcome out = outcome_of(model, "event");
      EXPECT_NEAR(out.y[0], x, 1e-12) << tolerance;
      EXPECT_NEAR(out.y[1], y, 1e-12) << tolerance;
      EXPECT_EQ(std::count(out.words.begin(), out.words.end(), "accumulation stop"), 1) << tolerance;
    }
  };
  expect_rest(rests_at_half, -0.5, -0.5);
  expect_rest(rests_at_one, -1, -0.85);
}

// A belt that starts with t²/2 and a brake hold the same mass. No reaction holds both for any time, though nothing moves at first and the reactions have room: the
// weaker one slips from the beginning on.
TEST(Laws, DependentRowsLetGoWhereADerivativeDrivesThemApart) {
  const auto model = [](const std::string& belt, const std::string& other) {
    return text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "x'^2/4"
[[friction]]
name = "belt"
slip = "x' + t^2/2"
normal = )toml" + belt +
                      R"toml(
law = 1
)toml" + other + R"toml(
[run]
until = 1
)toml");
  };
  const std::string brake = "[[friction]]\nname = \"brake\"\nslip = \"x'\"\nlaw = 1\nnormal = ";
  for (const char* engine : {"event", "exact"}) {
    EXPECT_EQ(outcome_of(model("1", "[[contact]]\nname = \"wall\"\ngap = \"x\""), engine).y[0], 0) << engine;
    EXPECT_EQ(outcome_of(model("1", brake + "1"), engine).y[0], 0) << engine;
    EXPECT_EQ(outcome_of(model("1", brake + "2"), engine).y[0], 0) << engine;
    // Carried by the belt: 1 + t/2 is less than 2.
    EXPECT_NEAR(outcome_of(model("2", brake + "1"), engine).y[0], -1.0 / 6, 1e-9) << engine;
  }
}

// The same with a wall, or a belt, that starts more softly than any power of time: the rows part at once, before anything is to be listed.
TEST(Laws, DependentRowsLetGoWhereTheirAccelerationsPart) {
  const auto model = [](const std::string& more) {
    return text_model(R"toml(
[coordinates]
x = 0
y = 0
[energy]
kinetic = "1.5*x'^2 + y'^2"
potential = "y"
)toml" + more + R"toml(
[run]
until = 0.2
)toml");
  };
  const TestModel belt = model(R"toml(
[[friction]]
name = "belt"
slip = "x' + bump(3*t)"
normal = 1
law = 1
[[contact]]
name = "wall"
gap = "x"
)toml");
  const Outcome carried = outcome_of(belt, "event");
  EXPECT_TRUE(carried.words.empty());
  EXPECT_EQ(carried.y[0], 0);
  const TestModel wall = model(R"toml(
[[friction]]
name = "brake"
slip = "x'"
normal = 1
law = 1
[[contact]]
name = "wall"
gap = "x + bump(t)"
)toml");
  const Outcome left = outcome_of(wall, "event");
  EXPECT_TRUE(left.words.empty());
  EXPECT_EQ(left.y[0], 0);
}

// A joint that holds 0.1 against a slip forwards and nothing against one backwards shares what holds a mass with two stops that are one: t - 0.5 moves it from
// t = 0.6 on, x = (t - 0.6)³/6. Which of its limits counts is known by the sign of the share, which is not known before.
TEST(Laws, SharesHaveALimitForEachDirection) {
  for (const char* mass : {"1", "1 + 0.5*sin(w)"}) {
    const TestModel model = text_model(R"toml(
[coordinates]
x = 0
w = { velocity = 0.5 }
[energy]
kinetic = "x'^2/2 + ()toml" + std::string(mass) +
                                       R"toml()*w'^2"
[[force]]
along = "x'"
value = "t - 0.5"
[[friction]]
name = "joint"
slip = "x'"
normal = 0.2
law = "if(0 < x', 0.5, 0)"
[[contact]]
name = "first"
gap = "x"
[[contact]]
name = "second"
gap = "x"
[run]
until = 1
)toml");
    const Outcome out = outcome_of(model, "event");
    const auto slip = std::find(out.words.begin(), out.words.end(), "slip joint");
    ASSERT_NE(slip, out.words.end()) << mass;
    EXPECT_NEAR(out.times[slip - out.words.begin()], 0.6, 1e-9) << mass;
    EXPECT_NEAR(out.y[0], 0.4 * 0.4 * 0.4 / 6, 1e-9) << mass;
  }
}

// A contact that nothing presses holds nothing beside a joint, whatever its coefficient is: 2 t reaches 0.025 at t = 0.0125, and slip friction is 0.02. Masses that
// change with the place have no part in what rows share.
TEST(Laws, AnUnloadedContactSharesNothing) {
  for (const char* mass : {"1", "1 + 0.5*sin(y)"}) {
    const TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = 0
[energy]
kinetic = "x'^2/2 + ()toml" + std::string(mass) +
                                       R"toml()*y'^2/2"
[[force]]
along = "x'"
value = "-2*t"
[[friction]]
name = "joint"
slip = "x'"
normal = 0.25
law = { static = 0.1, dynamic = 0.08 }
[[contact]]
name = "floor"
gap = "y"
slip = "x'"
friction = { static = 1, dynamic = 0 }
[run]
until = 0.5
)toml");
    const Outcome out = outcome_of(model, "event");
    ASSERT_FALSE(out.times.empty()) << mass;
    EXPECT_NEAR(out.times[0], 0.0125, 1e-13) << mass;
    const double from = 0.0125;
    const double t = 0.5;
    const double right =
        -(std::pow(t, 3) - std::pow(from, 3)) / 3 + from * from * (t - from) + 0.01 * (t - from) * (t - from);
    EXPECT_NEAR(out.y[0], right, 1e-9) << mass;
  }
}

// A joint that nothing ever presses does not hold the rod, so the spring lifts w from its stop at once, though with t² only: with d = x - w, d'' = 1 - 1.5 d
// and 2 x + w = t².
TEST(Laws, AJointWithoutLoadHoldsNothingWhileOthersAreDecided) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = 0
w = 0
[energy]
kinetic = "(x'^2 + y'^2 + w'^2)/2"
potential = "(w - y)^2/2 - 2*x"
[[friction]]
name = "joint"
slip = "y'"
normal = 0
law = 1
[[contact]]
name = "stop"
gap = "w"
[[constraint]]
name = "rod"
zero = "y - x"
[run]
until = 1
)toml");
  const double d = (1 - std::cos(std::sqrt(1.5))) / 1.5;
  for (const char* engine : {"event", "exact"}) {
    const Outcome out = outcome_of(model, engine);
    EXPECT_TRUE(out.words.empty()) << engine;
    EXPECT_NEAR(out.y[2], (1 - 2 * d) / 3, 1e-9) << engine;
  }
}

// A stop and a brake hold a mass; anything from 0 to 1 may press the stop, and its friction, smooth and zero at first, moves the other coordinate. That motion is
// not unique, whether the slip is under way or only begins; without a force there is no slip, and nothing to be not unique.
TEST(Laws, SmoothFrictionOfAShareIsIndeterminateFromTheBeginning) {
  const auto end = [](const std::string& start, const std::string& force) {
    const TestModel model = text_model(R"toml(
[coordinates]
w = 0
u = { velocity = )toml" + start + R"toml( }
[energy]
kinetic = "w'^2 + u'^2"
[[force]]
along = "u'"
value = )toml" + force + R"toml(
[[friction]]
name = "brake"
slip = "w'"
normal = 1
law = 1
[[contact]]
name = "stop"
gap = "w"
slip = "u'"
friction = { type = "arctan", mu = 1, beta = 1 }
[run]
until = 1
)toml");
    return run(model).end.status.reason;
  };
  EXPECT_EQ(end("1", "0"), Reason::indeterminate);
  EXPECT_EQ(end("0", "1"), Reason::indeterminate);
  EXPECT_EQ(end("0", "0"), Reason::done);
}

// Two joints share what a spring pulls with, 20 y: they let go together at 0.4 + 1.2, the second with its limit forwards. That the end of the spring is driven, or that the
// laws change with the slip, changes nothing in what they share at rest.
TEST(Laws, SharesAreJudgedWhateverDrivesTheOthers) {
  for (const char* law : {"if(1 < x', 0.2, 0.4)", "0.4/(1 + speed)"}) {
    TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = 0
[energy]
kinetic = "0.25*x'^2 + 0.5*y'^2"
potential = "10*(y - x)^2"
[[friction]]
name = "first"
slip = "x'"
normal = 1
law = ")toml" + std::string(law) +
                                 R"toml("
[[friction]]
name = "second"
slip = "x'"
normal = 2.4
law = "if(0 < x', 0.5, 0.25)"
[[constraint]]
name = "pulled"
velocity = "y' - 0.5*sin(0.2*t)"
[run]
until = 1.3
)toml");
    const Outcome out = outcome_of(model, "event");
    const auto slip = std::find(out.words.begin(), out.words.end(), "slip second");
    ASSERT_NE(slip, out.words.end()) << law;
    EXPECT_NEAR(out.times[slip - out.words.begin()], 5 * std::acos(1 - 0.08 / 2.5), 1e-9) << law;
  }
}

// Load and pull grow from zero together, 0.3 t and 2 t, and slip friction is half of the static one. What lets go backwards slips backwards: x'' = -2 (x + t) + 0.15 t.
TEST(Laws, ARowThatAnUndecidedLoadReleasesKeepsItsDirection) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = 0
[energy]
kinetic = "x'^2/2 + 2.5*y'^2"
potential = "(x + t)^2"
[[force]]
along = "y'"
value = "-0.3*t"
[[contact]]
name = "floor"
gap = "y"
slip = "x'"
friction = { static = 1, dynamic = 0.5 }
[run]
until = 1
)toml");
  const Outcome out = outcome_of(model, "event");
  EXPECT_TRUE(out.words.empty());
  EXPECT_NEAR(out.y[0], -0.925 * (1 - std::sin(std::sqrt(2.0)) / std::sqrt(2.0)), 1e-9);
}

// A lever, x = 2 y, lifts a foot whose friction has a law for each direction from the floor, against a joint that holds 0.2: 2 t reaches 0.4 at t = 0.2, and
// 8.5 y'' = 2 t from there on. The law of the foot is the same on either side of its switch for as long as it stands there.
TEST(Laws, SharesWithALawForEachDirectionAreJudgedAtOnce) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = 0
[energy]
kinetic = "x'^2 + 0.25*y'^2"
[[force]]
along = "y'"
value = "2*t"
[[friction]]
name = "joint"
slip = "x'"
normal = 1
law = { static = 0.2, dynamic = 0 }
[[contact]]
name = "foot"
gap = "y"
slip = "x'"
friction = "if(0 < x', 0, 1)"
[[constraint]]
name = "lever"
zero = "x - 2*y"
[run]
until = 0.5
)toml");
  const Outcome out = outcome_of(model, "event");
  for (const double time : out.times) EXPECT_NEAR(time, 0.2, 1e-10);
  EXPECT_EQ(std::count(out.words.begin(), out.words.end(), "lift-off foot"), 1);
  EXPECT_NEAR(out.y[1], ((0.125 - 0.008) / 3 - 0.04 * 0.3) / 8.5, 1e-9);
}

// --- what a row at rest may carry, where forces and coefficients change with the direction of its slip ---

// A mass under e - r t, braked by a dry force of ±A and by a joint with P forwards and M backwards, all against one belt. It rests on the belt for as long as
// some force between the two and some friction between -P and M hold it: from -A - M to A + P.
TEST(Laws, RestHasTheLimitOfEachDirectionUnderAForceThatSwitchesWithIt) {
  struct Case {
    double dry, forwards, backwards, start, ramp;
  };
  constexpr double kEnd = 4;
  for (const Case& c : {Case{1, 10, 0, 0.3, -1}, Case{1, 10, 0, -0.3, -1}, Case{1, 0, 2, -0.5, 1},
                        Case{1, 0, 2, 0.25, 1}, Case{0.5, 1, 0.25, 0.4, 1}, Case{0.5, 0.25, 1, -0.4, -1},
                        Case{0.25, 0.5, 0, 0, -0.5}, Case{2, 0.5, 0, -0.1, 1}, Case{2, 0, 0.5, 0.1, -1}}) {
    // Down to the belt: against |start| with both, while the ramp is small.
    const double sign = c.start < 0 ? -1 : 1;
    const double brake = c.dry + (sign > 0 ? c.forwards : c.backwards);
    double stop = 0;
    for (int i = 0; i < 60; ++i) stop = std::abs(c.start) / (brake - sign * c.ramp * stop / 2);
    const double relative = c.start * stop - sign * brake * stop * stop / 2 + c.ramp * stop * stop * stop / 6;
    const double leaves = c.ramp > 0 ? (c.dry + c.forwards) / c.ramp : -(c.dry + c.backwards) / c.ramp;
    const double rest = std::max(0.0, kEnd - leaves);
    for (const double belt : {0.0, 0.75}) {
      const std::string speed = std::to_string(belt);
      const TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = )toml" + std::to_string(belt + c.start) +
                                         R"toml( }
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = ")toml" + std::to_string(c.ramp) +
                                         "*t - " + std::to_string(c.dry) + "*sign(x' - " + speed + R"toml()"
[[friction]]
name = "joint"
slip = "x' - )toml" + speed + R"toml("
normal = 1
law = "if(0 < x' - )toml" + speed + ", " +
                                         std::to_string(c.forwards) + ", " + std::to_string(c.backwards) +
                                         R"toml()"
[run]
until = 4
)toml");
      const Outcome out = outcome_of(model, "event");
      const std::string name = std::to_string(c.dry) + " " + std::to_string(c.forwards) + " " +
                               std::to_string(c.start) + " belt " + speed;
      EXPECT_NEAR(out.y[1], belt + c.ramp * rest * rest / 2, 1e-8) << name;
      EXPECT_NEAR(out.y[0], relative + belt * kEnd + c.ramp * rest * rest * rest / 6, 1e-8) << name;
    }
  }
}

// The same with the coefficient of a contact, and with a force of its own on what presses it: nothing moves.
TEST(Laws, AContactThatHoldsInOneDirectionIsNotPressedIntoMotion) {
  const Outcome out = outcome_of(text_model(R"toml(
[coordinates]
x = -0.5
y = 0.7
[energy]
kinetic = "2.5*(x'^2) + 1.5*(y'^2)"
dissipation = "abs(x')"
[[contact]]
name = "c1"
gap = "x - y + 1.2"
slip = "y'"
friction = "if(0 < y', 1, 0)"
[run]
until = 2
)toml"),
                                 "event");
  EXPECT_EQ(out.y, (std::vector<double>{-0.5, 0.7, 0, 0}));
}

// The coefficient reads the slip against a neighbour that a kink holds: free forwards, held backwards. It goes half an oscillation.
TEST(Laws, ACoefficientOfTheSpeedAgainstANeighbourAtRest) {
  const Outcome out = outcome_of(text_model(R"toml(
[coordinates]
x = 0
y = -1
[energy]
kinetic = "0.5*(x'^2) + 0.5*(y'^2)"
potential = "abs(x) + y^2/2"
[[friction]]
name = "j1"
slip = "y'"
normal = 10
law = "if(0 < x' - y', 1, 0)"
[run]
until = 4
)toml"),
                                 "event");
  ASSERT_FALSE(out.words.empty());
  EXPECT_EQ(out.words.back(), "stick j1");
  EXPECT_NEAR(out.times[0], std::acos(-1.0), 1e-8);
  EXPECT_NEAR(out.y[1], 1, 1e-8);
  EXPECT_EQ(out.y[3], 0);
}

// --- loads that begin at zero and are not unique ---

// Two contacts of one gap, or a contact beside a joint at its limit: how the load is shared is not known, and only where their friction differs is the motion
// not unique, from the moment on at which there is a load.
TEST(Laws, FrictionOfAShareThatBeginsAtZeroIsIndeterminateFromTheBeginning) {
  const auto end = [](const std::string& first, const std::string& second, const std::string& start,
                      const std::string& load) {
    const TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = { start = 1, velocity = )toml" + start +
                                       R"toml( }
[energy]
kinetic = "x'^2 + 0.25*y'^2"
potential = "y^2"
[[force]]
along = "x'"
value = ")toml" + load + R"toml("
[[contact]]
name = "c1"
gap = "x"
slip = "y'"
friction = )toml" + first + R"toml(
[[contact]]
name = "c2"
gap = "x"
slip = "y'"
friction = )toml" + second + R"toml(
[run]
until = 0.01
)toml");
    return run(model).end.status.reason;
  };
  const std::string arctan = "{ type = \"arctan\", mu = 1, beta = 10 }";
  for (const char* load : {"-0.7*t", "-t^2", "-0.7*t*y"}) {
    for (const char* start : {"0", "-0.5"}) {
      EXPECT_EQ(end("0", "1", start, load), Reason::indeterminate) << load << " " << start;
      EXPECT_EQ(end("0.5", "1", start, load), Reason::indeterminate) << load << " " << start;
      EXPECT_EQ(end("1", "1", start, load), Reason::done) << load << " " << start;
    }
    EXPECT_EQ(end("0", arctan, "-0.5", load), Reason::indeterminate) << load;
  }
  EXPECT_EQ(end("0", "1", "0", "0"), Reason::done);
}

TEST(Laws, AContactBesideAJointAtItsLimitIsIndeterminateWhereTheLimitGrows) {
  const auto end = [](const std::string& limit) {
    const TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = 0
[energy]
kinetic = "0.25*x'^2 + y'^2"
potential = "y - 0.3*x"
[[friction]]
name = "joint"
slip = "x'"
normal = 1
law = ")toml" + limit + R"toml("
[[contact]]
name = "contact"
gap = "x"
slip = "y'"
friction = 1
[run]
until = 0.01
)toml");
    return run(model).end.status.reason;
  };
  EXPECT_EQ(end("0.3*(1 + t)"), Reason::indeterminate);
  EXPECT_EQ(end("0.3*(1 + t^2)"), Reason::indeterminate);
  EXPECT_EQ(end("0.3*(1 - t)"), Reason::done);
}

// --- what surfaces decide one after another ---

// The force is zero at the origin only. It is decided before the kink inside it and again behind that: the joint begins to slip once, the way it is pulled. With the masses
// m = 1 and 0.7 (y' + x')² / 2: x'' = 0.8, y'' = -0.8 - 0.8/0.7.
TEST(Laws, ASlipThatBeginsWithOneSideOfAForceIsDecidedAgainWithTheOther) {
  for (const char* force : {"sign(-1*(abs(0.3*x)^1.5))", "sign(-1*(abs(x)^2.5))", "sign(-abs(x))", "-1"}) {
    const Outcome out = outcome_of(text_model(R"toml(
[coordinates]
x = 0
y = 0
[energy]
kinetic = "0.5*(x'^2) + 0.35*((y' + x')^2)"
[[force]]
along = "y'"
value = ")toml" + std::string(force) + R"toml("
[[friction]]
name = "joint"
slip = "y'"
normal = 1
law = { static = 0.5, dynamic = 0.2 }
[run]
until = 0.5
)toml"),
                                   "event");
    EXPECT_TRUE(out.words.empty()) << force;
    EXPECT_NEAR(out.y[0], 0.1, 1e-8) << force;
    EXPECT_NEAR(out.y[1], -(0.8 + 0.8 / 0.7) / 8, 1e-8) << force;
  }
}

// A belt that turns at an instant which is known to rounding of the time only: sin(π) is no zero of numbers. A body on the floor begins to go along with it.
TEST(Laws, ABeltThatTurnsWhileABodyRestsTakesItAlong) {
  const Outcome out = outcome_of(text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "0.25*(x'^2)"
[[friction]]
name = "joint"
slip = "x' + 2*sin(t)"
normal = 1
law = { static = 1, dynamic = 0 }
[[contact]]
name = "floor"
gap = "x"
[run]
until = 4
)toml"),
                                 "event");
  EXPECT_NEAR(out.y[0], 2 * (std::cos(4.0) + 1), 1e-8);
  EXPECT_NEAR(out.y[1], -2 * std::sin(4.0), 1e-8);
}

// A force and a coefficient that switch at the speed of the belt hold a mass on it until the belt moves on. A load that switches at 0.1 lets go of a mass
// that a belt brings there: it slides on that speed while the sides push to it, until 0.3 - 0.6 t is zero.
TEST(Laws, LoadsAndForcesThatSwitchAtTheSpeedOfABelt) {
  const Outcome held = outcome_of(trial("stick-force-and-mu-switch"), "event");
  EXPECT_NEAR(held.y[0], 1.51, 1e-9);
  EXPECT_NEAR(held.y[1], 0.7, 1e-12);
  const Outcome let_go = outcome_of(trial("switch-stick-limit-down"), "event");
  ASSERT_EQ(let_go.words.size(), 3U);
  EXPECT_NEAR(let_go.times[0], 0.25, 1e-9);
  EXPECT_NEAR(let_go.times[2], 0.5, 1e-9);
  EXPECT_NEAR(let_go.y[1], 0.1 + 0.75 - 0.3 * 8.75, 1e-8);
}

// A constraint draws a body along a parabola until nothing presses it: 2 y'' + 20 y = 0 with y² = (0.018 - x)/0.2, x = (1 - cos 1.5 t)/7.5. The load of a joint that is the
// pressure has a kink there, and changes nothing of when it is.
TEST(Laws, AJointThatAContactLoadsDoesNotHideWhereItLiftsOff) {
  const auto pressure = [](double t) {
    const double x = (1 - std::cos(1.5 * t)) / 7.5;
    const double speed = 0.2 * std::sin(1.5 * t);
    const double rate = 0.3 * std::cos(1.5 * t);
    const double y = std::sqrt((0.018 - x) / 0.2);
    const double slope = -speed / (0.4 * y);
    return 2 * (-rate / 0.4 - slope * slope) / y + 20 * y;
  };
  double low = 0;
  double high = 0.2;
  for (int i = 0; i < 60; ++i) (pressure((low + high) / 2) > 0 ? low : high) = (low + high) / 2;
  for (const char* law : {"1/(1 + 0.3*speed)", "0.5 + 0.1*x", "0.5"}) {
    for (const char* normal : {"normal(c3)", "2*normal(c3)", "normal(c3) + 0.1*t"}) {
      for (const char* friction : {"0", "{ static = 0.3, dynamic = 0.15 }"}) {
        TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = 0.3
[energy]
kinetic = "0.25*(x'^2) + y'^2"
potential = "10*((x + 3)^2) + 10*(y^2)"
[[friction]]
name = "j1"
slip = "x'"
normal = ")toml" + std::string(normal) +
                                     R"toml("
law = ")toml" + std::string(law) + R"toml("
[[contact]]
name = "c3"
gap = "x + 0.2*(y^2) - 0.018"
slip = "y'"
friction = )toml" + std::string(friction) +
                                     R"toml(
[[constraint]]
name = "k1"
velocity = "x' - 0.2*sin(1.5*t)"
[run]
until = 0.15
)toml");
        for (const double tolerance : {1e-8, 1e-10, 1e-12}) {
          model.options.tolerance = tolerance;
          const Outcome out = outcome_of(model, "event");
          const auto lift = std::find(out.words.begin(), out.words.end(), "lift-off c3");
          ASSERT_NE(lift, out.words.end()) << law << " " << normal << " " << friction;
          EXPECT_NEAR(out.times[lift - out.words.begin()], low, 100 * tolerance + 2e-12)
              << law << " " << normal << " " << friction << " " << tolerance;
        }
      }
    }
  }
}

// A brake whose coefficient falls with the root of the speed, on a body that hops: at every apex the slip reverses, however small the hop is. The slope of the law has no
// bound there, and says nothing of where the slip goes.
TEST(Laws, SlipReversesAtEveryApexUnderALawWithoutASlope) {
  for (const char* law : {"{ static = 0.3, dynamic = 0, velocity = 1, exponent = 0.5 }",
                          "{ static = 0.3, dynamic = 0.1, velocity = 0.5, exponent = 0.7 }"}) {
    TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 1 }
[energy]
kinetic = "2.5*(x'^2)"
potential = "10*x"
[[friction]]
name = "brake"
slip = "x'"
normal = 8
law = )toml" + std::string(law) +
                                 R"toml(
[[contact]]
name = "floor"
gap = "x"
impact = 0.3
[run]
until = 1.5
)toml");
    for (const double tolerance : {1e-6, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12}) {
      model.options.tolerance = tolerance;
      const Outcome out = outcome_of(model, "event");
      EXPECT_EQ(std::count(out.words.begin(), out.words.end(), "graze brake"), 0) << law << " " << tolerance;
      EXPECT_NEAR(out.y[0], 0, 1e-12) << law << " " << tolerance;
      EXPECT_EQ(out.y[1], 0) << law << " " << tolerance;
    }
  }
}

// A coefficient that is below zero for a short time between the places of a step: the run ends where it gets there, (π + asin(0.1/a))/w. One that only comes near to zero is fine.
// A coefficient that becomes negative in the middle of a closed form: friction that pushes is no motion of the law, and the referee says so.
TEST(Laws, ACoefficientThatFallsBelowZeroIsToldByEveryEngine) {
  const TestModel model = text_model(
      "[coordinates]\nx = { velocity = 3 }\n[energy]\nkinetic = \"x'^2/2\"\n[[friction]]\nname = \"j\"\nslip "
      "= \"x'\"\n"
      "normal = 1\nlaw = \"0.3 - 0.2*t\"\n[run]\nuntil = 4\n");
  for (const char* engine : {"event", "exact"}) {
    simulate::NullSink sink;
    const engines::EngineResult result = simulate::run(model.system, engine, model.options, sink);
    EXPECT_FALSE(result.status.ok()) << engine;
  }
}

TEST(Laws, NumbersThatDipBelowZeroBetweenTheirPlacesAreSeen) {
  for (const double speed : {0.9, 1.1, 1.3, 1.7, 1.9, 2.3}) {
    for (const double a : {0.1002, 0.10002, 0.100002, 0.1, 0.09998}) {
      const auto text = [](double number) {
        std::string out(32, ' ');
        out.resize(std::snprintf(out.data(), out.size(), "%.9g", number));
        return out;
      };
      const TestModel model = text_model(
          "[coordinates]\nx = { velocity = 3 }\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nalong = "
          "\"x'\"\nvalue = 0.2\n"
          "[[friction]]\nname = \"j\"\nslip = \"x'\"\nnormal = 1\nlaw = \"0.1 + " +
          text(a) + "*sin(" + text(speed) + "*t)\"\n[run]\nuntil = 6\n");
      simulate::NullSink sink;
      const engines::EngineResult result = simulate::run(model.system, "event", model.options, sink);
      if (a <= 0.1) {
        EXPECT_TRUE(result.status.ok()) << speed << " " << a << ": " << result.status.message;
        continue;
      }
      EXPECT_EQ(result.status.reason, Reason::inconsistent) << speed << " " << a;
      const double right = (3.14159265358979324 + std::asin(0.1 / a)) / speed;
      EXPECT_NEAR(result.status.time, right, 1e-7) << speed << " " << a;
    }
  }
}

}  // namespace
}  // namespace judder
