// Slides and rests whose push begins at zero, touches it or passes it softly, and landings beside zeros of other functions. What is right is a closed form, or short
// steps of Moreau's scheme.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

constexpr double kTolerances[] = {1e-8, 1e-10, 1e-12};

/// bump(s) by its formula; its integral is one. The midpoint rule has all digits where all derivatives vanish at both ends.
double pulse(double s) {
  constexpr int kParts = 1000;
  double area = 0;
  for (int i = 0; i < kParts; ++i) {
    const double at = (i + 0.5) / kParts;
    area += std::exp(1 / (at * (at - 1))) / kParts;
  }
  return std::exp(1 / (s * (s - 1))) / area;
}

/// A run that must reach its end with the referee silent.
Outcome at(TestModel& model, double tolerance) {
  model.options.tolerance = tolerance;
  return outcome_of(model, "event");
}

// --- a push that grows from zero ---

// x'' = -tⁿ sign(x') + 0.2 tⁿ + tⁿ⁺²: it is slid on from t = 0, where nothing pushes yet, to a = √0.8; behind it x' = [-0.8 tⁿ⁺¹/(n+1) + tⁿ⁺³/(n+3)] from a.
TEST(Pushes, ThatGrowFromZeroEndWhereTheyReturnToIt) {
  for (int n = 1; n <= 3; ++n) {
    const std::string power = "t^" + std::to_string(n);
    TestModel model = mass_under("-" + power + "*sign(x') + 0.2*" + power + " + t^" + std::to_string(n + 2));
    model.options.until = 2;
    const double a = std::sqrt(0.8);
    const auto speed = [&](double t) {
      return -0.8 * std::pow(t, n + 1) / (n + 1) + std::pow(t, n + 3) / (n + 3);
    };
    const auto place = [&](double t) {
      return -0.8 * std::pow(t, n + 2) / ((n + 1) * (n + 2)) + std::pow(t, n + 4) / ((n + 3) * (n + 4));
    };
    for (const double tolerance : kTolerances) {
      const Outcome run = at(model, tolerance);
      ASSERT_EQ(run.words, std::vector<std::string>{"slide-end force.force1.value"}) << n;
      EXPECT_NEAR(run.times[0], a, 1e-12) << n;
      EXPECT_NEAR(run.y[1], speed(2) - speed(a), 100 * tolerance) << n;
      EXPECT_NEAR(run.y[0], place(2) - place(a) - (2 - a) * speed(a), 100 * tolerance) << n;
    }
  }
}

TEST(Pushes, ThatBeginTogetherWithTheirLoadEnd) {
  TestModel model = trial("sliding-born-at-zero");
  for (const double tolerance : kTolerances) {
    const Outcome run = at(model, tolerance);
    EXPECT_NEAR(run.y[0], 0.7770088797013, 100 * tolerance);
    EXPECT_NEAR(run.y[1], 2.56, 100 * tolerance);
  }
}

// --- a push that touches zero, or passes it to a high order ---

TEST(Pushes, ThatTouchZeroPressOn) {
  TestModel touched = trial("slide-graze-hang-2");
  TestModel softly = mass_under("-0.6*step(x') + 0.2 + 0.4*(1 - (t - 2)^4)");
  TestModel twice = mass_under("-0.6*step(x') + 0.2 + 0.4*cos(2*t)^2");
  for (TestModel* model : {&touched, &softly, &twice}) {
    model->options.from = 1.8;
    model->options.until = 2.9;
    for (const double tolerance : kTolerances) {
      const Outcome run = at(*model, tolerance);
      EXPECT_TRUE(run.words.empty());
      EXPECT_EQ(run.y[0], 0);
      EXPECT_EQ(run.y[1], 0);
    }
  }
}

// x'' = (t - 2)ⁿ from t = 2 on. Rounding of the force hides a time of its n-th root before and behind that.
TEST(Pushes, ThatPassZeroToAHighOrderLetGo) {
  for (const int n : {3, 5}) {
    TestModel model = n == 3 ? trial("slide-cubic-exit-hang") : mass_under("-sign(x') + 1 + (t - 2)^5");
    model.options.from = 1.8;
    model.options.until = 3;
    for (const double tolerance : kTolerances) {
      const Outcome run = at(model, tolerance);
      ASSERT_EQ(run.words, std::vector<std::string>{"slide-end force.force1.value"}) << n;
      EXPECT_NEAR(run.times[0], 2, std::pow(1e-14, 1.0 / n)) << n;
      EXPECT_NEAR(run.y[1], 1.0 / (n + 1), 100 * tolerance) << n;
      EXPECT_NEAR(run.y[0], 1.0 / ((n + 1) * (n + 2)), 100 * tolerance) << n;
    }
  }
}

// --- rest on a place that forces push to from both sides ---

// The push passes zero at t = 1 on both sides and comes back: it rests.
TEST(Pushes, ThatPassZeroTogetherKeepRestOnAPlace) {
  TestModel linear = trial("rest-sign-x-notfinite");
  TestModel square = mass_under("0.2*(t - 1)^2 - (t - 1)^2*sign(x)");
  TestModel begins = mass_under("-t*sign(x) + 0.3*t");
  for (TestModel* model : {&linear, &square, &begins}) {
    model->options.until = 2;
    for (const double tolerance : kTolerances) {
      const Outcome run = at(*model, tolerance);
      EXPECT_EQ(run.y[0], 0);
      EXPECT_EQ(run.y[1], 0);
    }
  }
}

// Behind t = 1 it is -0.8 s + 2 s³ on the upper side, s = t - 1: it leaves at s = √0.4, and x' = [-0.4 s² + s⁴/2] from there.
TEST(Pushes, ThatPassedZeroTogetherEndRestOnAPlace) {
  TestModel model = mass_under("-abs(t - 1)*sign(x) + 0.2*(t - 1) + 2*max(0, t - 1)^3");
  model.options.until = 2;
  const double a = std::sqrt(0.4);
  const auto speed = [](double s) { return -0.4 * s * s + s * s * s * s / 2; };
  const auto place = [](double s) { return -0.4 * s * s * s / 3 + std::pow(s, 5) / 10; };
  for (const double tolerance : kTolerances) {
    const Outcome run = at(model, tolerance);
    EXPECT_NEAR(run.y[1], speed(1) - speed(a), 100 * tolerance);
    EXPECT_NEAR(run.y[0], place(1) - place(a) - (1 - a) * speed(a), 100 * tolerance);
  }
}

// --- two joints, one of which carries the more the other slips ---

/// Moreau's scheme for tests/trials/switch-hang-sign-rest: fixed steps, impulses of the joints by Gauss and Seidel.
std::vector<double> moreau(int steps) {
  const double until = 3.855;
  const double h = until / steps;
  const double m11 = 2 * 0.566;
  const double m22 = 2 * 0.448;
  const double m12 = 0.287;
  const double det = m11 * m22 - m12 * m12;
  const double i11 = m22 / det;
  const double i22 = m11 / det;
  const double i12 = -m12 / det;
  double x = 0.098;
  double u = -0.133;
  double y = 0.291;
  double v = 0;
  const auto table = [](double s) { return s < 0.145 ? 0.616 : s < 0.854 ? 0.174 : -0.579; };
  for (int k = 0; k < steps; ++k) {
    const double t = (k + 0.5) * h;
    const double xm = x + 0.5 * h * u;
    const double ym = y + 0.5 * h * v;
    const double s = 0.757 * t - std::floor(0.757 * t);
    const double fx = -2 * 2.899 * xm - 2 * 0.789 * (xm - ym) + 0.368;
    const double fy = -2 * 4.99 * ym + 2 * 0.789 * (xm - ym) + table(s) * 0.592 - 0.748 * std::abs(v) * v;
    const double free_u = u + h * (i11 * fx + i12 * fy);
    const double free_v = v + h * (i12 * fx + i22 * fy);
    const double most_x = 0.3 * std::abs(0.701 - t) * h;
    double py = 0;
    double px = 0;
    u = free_u;
    v = free_v;
    for (int i = 0; i < 100; ++i) {
      const double last = px;
      const double most_y = 0.3 * (1 + 0.4 * (u > 0 ? 1 : u < 0 ? -1 : 0)) * h;
      py = std::clamp(py - v / i22, -most_y, most_y);
      u = free_u + i12 * py + i11 * px;
      px = std::clamp(px - u / i11, -most_x, most_x);
      u = free_u + i12 * py + i11 * px;
      v = free_v + i22 * py + i12 * px;
      if (std::abs(u) < 1e-15) u = 0;
      if (std::abs(v) < 1e-15) v = 0;
      if (std::abs(px - last) < 1e-18) break;
    }
    x = xm + 0.5 * h * u;
    y = ym + 0.5 * h * v;
  }
  return {x, y, u, v};
}

TEST(Pushes, OfJointsThatFeedEachOtherGoOn) {
  const std::vector<double> right = moreau(640000);
  TestModel model = trial("switch-hang-sign-rest");
  for (const double tolerance : kTolerances) {
    const Outcome run = at(model, tolerance);
    for (std::size_t i = 0; i < right.size(); ++i) EXPECT_NEAR(run.y[i], right[i], 2e-6) << tolerance;
  }
}

// --- kinks that a landing has left behind ---

// A dry force and a friction that has come to its limit are equally large: the body rests, with its bristle a tolerance below that limit. z' = -3 z - 0.2 from there.
TEST(Kinks, ThatNothingMovesAnyMoreHaveTheSideOfTheirValue) {
  const auto until = [](double end) {
    TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = -0.7 }
[state]
z = { start = 1, rate = "-3*z - 0.2*step(-2*x')" }
[energy]
kinetic = "0.5*(x'^2)"
dissipation = "0.5*(x'^2) + abs(x')"
[[friction]]
name = "j1"
slip = "x'"
normal = 2
law = { type = "penalty", mu = 0.5, stiffness = 500, damping = 0.5 }
[[contact]]
name = "c1"
gap = "x"
compliant = { stiffness = 100, damping = 1 }
[run]
until = 1
)toml");
    model.options.until = end;
    const engines::EngineResult result = finish(model);
    EXPECT_LT(result.steps, 1000);
    return result.end.y;
  };
  const std::vector<double> before = until(0.42);
  const std::vector<double> after = until(0.6);
  EXPECT_NEAR(after[1], 0, 1e-12);
  EXPECT_NEAR(after[0], before[0], 1e-12);
  const double rest = 0.2 / 3;
  EXPECT_NEAR(after[2], (before[2] + rest) * std::exp(-3 * 0.18) - rest, 1e-9);
}

// --- functions that have not moved from what an event has left of their zero ---

// The speed u' of a body on a lugre contact fades with that of its bristle to 1e-17; x swings beside it with ω² = 4/3.
TEST(Residues, OfASpeedThatFadesAreNoZerosAgainAndAgain) {
  TestModel model = text_model(R"toml(
[coordinates]
x = -0.5
w = 0
u = -0.5
[energy]
kinetic = "1.5*(x'^2) + 1.5*(w'^2) + 0.25*(u'^2)"
potential = "2*(x^2) + (w - u)^2 + 10*w"
dissipation = "0.5*(u'^2)"
[[contact]]
name = "c1"
gap = "w + 1"
slip = "u'"
friction = { type = "lugre", mu = 0.5, stiffness = 100, damping = 0.5 }
impact = 0.5
[[watch]]
name = "look1"
zero = "u'"
direction = "down"
[run]
until = 6
)toml");
  for (const double tolerance : kTolerances) {
    const Outcome run = at(model, tolerance);
    EXPECT_NEAR(run.y[0], -0.5 * std::cos(6 * std::sqrt(4.0 / 3)), 100 * tolerance);
    EXPECT_EQ(run.y[1], -1);
    EXPECT_LT(finish(model).steps, 5000);
  }
}

// x comes back to its place between two equal dry forces, one of them a joint, and its slip is 1e-20 there.
TEST(Residues, OfASlipThatFadesAreNoTouchesAgainAndAgain) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = 0
[energy]
kinetic = "1.5*(x'^2) + 0.25*(y'^2)"
potential = "50*(x^2) + 0.5*abs(x) + y"
[[force]]
name = "force1"
along = "x'"
value = "0.5*bump(1.5*t)"
[[friction]]
name = "j1"
slip = "x'"
normal = 1
law = 0.5
[run]
until = 1.5
)toml");
  for (const double tolerance : kTolerances) {
    const Outcome run = at(model, tolerance);
    EXPECT_LT(run.words.size(), 100U);
    EXPECT_NEAR(run.y[0], 0, 1e-10);
    EXPECT_NEAR(run.y[1], -2.25, 100 * tolerance);
  }
}

// --- landings beside other zeros ---

// x' = -0.5 sin 4.5 t along a belt, and x touches the level 0 where x' passes zero: a touch has no place of its own.
TEST(Landings, OnATouchStayBeforeTheZeroOfAnother) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = 0
[energy]
kinetic = "0.5*(x'^2) + 0.5*(y'^2)"
potential = "x^2 + 5*y"
dissipation = "1.5*abs(x')"
[[force]]
along = "y'"
value = "floor(x)"
[[contact]]
name = "c1"
gap = "y"
slip = "x' + 0.5*sin(4.5*t)"
friction = { static = 1, dynamic = 1 }
[run]
until = 1.5
)toml");
  for (const double tolerance : kTolerances) {
    const Outcome run = at(model, tolerance);
    EXPECT_NEAR(run.y[0], -(1 - std::cos(4.5 * 1.5)) / 9, 100 * tolerance);
    EXPECT_NEAR(run.y[2], -0.5 * std::sin(4.5 * 1.5), 100 * tolerance);
  }
}

// y = 1 - cos 3 t is held, and presses the pad from t = π/6 on: x' = 2 t - 2 (1 - sin 3 t)/3. Until then there is no load, to the last bit.
TEST(Landings, BesideConstraintsAreMetOnTheConstraint) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 1
y = 0
[energy]
kinetic = "0.25*(x'^2) + 0.5*(y'^2)"
[[force]]
along = "x'"
value = 1
[[contact]]
name = "c1"
gap = "-y + 1"
compliant = { stiffness = 1 }
slip = "x'"
friction = { static = 1, dynamic = 1 }
[[constraint]]
name = "k1"
zero = "y - ((1 - cos(3*t)))"
[run]
until = 0.54
)toml");
  for (const double tolerance : kTolerances) {
    const Outcome run = at(model, tolerance);
    EXPECT_NEAR(run.y[2], 2 * 0.54 - 2 * (1 - std::sin(3 * 0.54)) / 3, 100 * tolerance);
  }
}

// The node follows w = -x - 0.2 until x = -0.7 (1 - cos t) turns at π, and stands from there on. Its speed is known from the balance of forces only.
TEST(Landings, OnTheStopOfANodeBesideAConstraint) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
w = { massless = true }
[energy]
kinetic = "0.25*(x'^2)"
potential = "2.5*((w + x)^2)"
[[friction]]
name = "node2"
slip = "w'"
normal = 1
law = 1
[[constraint]]
name = "k1"
zero = "x + 0.7*(1 - cos(t))"
[run]
until = 3.4
)toml");
  for (const double tolerance : {1e-8, 1e-9, 1e-10, 1e-12}) {
    const Outcome run = at(model, tolerance);
    ASSERT_EQ(run.words, (std::vector<std::string>{"slip node2", "stick node2"}));
    EXPECT_NEAR(run.times[0], std::acos(5.0 / 7), 1e-7);
    EXPECT_NEAR(run.times[1], std::numbers::pi, 1e-7);
    EXPECT_NEAR(run.y[1], 1.2, 100 * tolerance);
  }
}

// --- bodies on bodies that start softly ---

// The table moves by t³/2; the upper box lets go where 3 t = 0.25 g. Forces of 60 N balance from the start, and nothing else has a size yet. The same with a start at 0.2.
TEST(Stacks, ThatTurnStartWithATableThatStartsSoftly) {
  const double slips = 0.25 * 9.81 / 3;
  const auto upper = [&](double t) {
    const double late = t - slips;
    return 0.5 * std::pow(slips, 3) + 1.5 * slips * slips * late + 0.125 * 9.81 * late * late;
  };
  for (const double begin : {0.0, 0.2}) {
    TestModel model = trial(begin == 0 ? "contact-stack-turns" : "contact-stack-turns-late");
    for (const double tolerance : {1e-8, 1e-9, 1e-10}) {
      const Outcome run = at(model, tolerance);
      ASSERT_EQ(run.words, (std::vector<std::string>{"slip top[1]", "slip top[2]"}));
      EXPECT_NEAR(run.times[0], begin + slips, 1e-7);
      EXPECT_NEAR(run.y[0], 0.5 * std::pow(1.4 - begin, 3), 1e-7);
      EXPECT_NEAR(run.y[1], upper(1.4 - begin), 1e-7);
    }
  }
}

// Three feet share the weight of a block in more ways than one, and whatever foot bears nothing could slip either way. It slips where 5 t = 0.45 m g, and from there
// m x'' = ∓(5 t - 0.3 m g).
TEST(Stacks, OnManyFeetSlipTheWayTheyArePulled) {
  const std::string text = R"toml(
[parameters]
m = 4
J = 0.5
h = 0.3
[coordinates]
x = 0
y = { start = "h" }
th = 0
[definitions]
"px(s)" = "x + s*cos(th) + h*sin(th)"
"py(s)" = "y + s*sin(th) - h*cos(th)"
[energy]
kinetic = "m/2*(x'^2 + y'^2) + J/2*th'^2"
potential = "m*9.81*y"
[[force]]
along = "(x + 0.1*sin(th))'"
value = "5*t"
[[contact]]
name = "leg"
each = "i = 1 to 3"
gap = "py(0.4*(2*i - 4)/2)"
slip = "px(0.4*(2*i - 4)/2)'"
friction = { static = 0.45, dynamic = 0.3 }
impact = 0
[run]
until = 5
)toml";
  TestModel forwards = text_model(text);
  TestModel backwards = trial("feet-pulled-backwards");
  const double weight = 4 * 9.81;
  const double slips = 0.45 * weight / 5;
  const auto speed = [&](double t) { return (2.5 * t * t - 0.3 * weight * t) / 4; };
  const auto place = [&](double t) { return (2.5 / 3 * t * t * t - 0.15 * weight * t * t) / 4; };
  const double way = place(5) - place(slips) - (5 - slips) * speed(slips);
  for (TestModel* model : {&forwards, &backwards}) {
    const int sign = model == &forwards ? 1 : -1;
    for (const double tolerance : kTolerances) {
      const Outcome run = at(*model, tolerance);
      ASSERT_EQ(run.words, (std::vector<std::string>{"slip leg[1]", "slip leg[2]", "slip leg[3]"}));
      EXPECT_NEAR(run.times[0], slips, 1e-9);
      EXPECT_NEAR(run.y[0], sign * way, 1e-8);
    }
  }
}

// --- what the referee cannot ask for ---

// A node without friction or load, held by nothing: w = -x, and its springs cancel.
TEST(Nodes, WhoseSpringsCancelHaveNoSizeOfTheirOwn) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = { massless = true }
w = { massless = true }
[energy]
kinetic = "0.5*(x'^2)"
potential = "(y + 1)^2 + (w + x)^2"
[[friction]]
name = "node1"
slip = "y'"
normal = 1
law = 1
[[constraint]]
name = "k1"
zero = "x + (1 - cos(t))"
[run]
until = 0.18
)toml");
  for (const double tolerance : kTolerances) {
    const Outcome run = at(model, tolerance);
    EXPECT_NEAR(run.y[2], 1 - std::cos(0.18), tolerance);
    EXPECT_EQ(run.y[1], -0.5);
  }
}

// w' = -(w + u) under a joint that nothing presses; m(u) u'' + m'(u) u'²/2 = 2 - 2 (w + u) as long as u' < 1, by Runge and Kutta.
TEST(Nodes, ThatNothingPressesHaveNoDirection) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
w = { massless = true }
u = 0
[energy]
kinetic = "1.5*(x'^2) + 0.5*(1 + 0.5*sin(0.3*u))*(u'^2)"
potential = "(w + u)^2"
dissipation = "w'^2"
[[force]]
name = "force2"
along = "u'"
value = "1"
[[friction]]
name = "node2"
slip = "w'"
normal = 0
law = 1
[[friction]]
name = "j1"
slip = "u' - 1"
normal = 1
law = 1
[[constraint]]
name = "k1"
velocity = "x'"
[run]
until = 0.26
)toml");
  using State = std::array<double, 3>;  // w, u, u'
  const auto rate = [](const State& s) {
    const double mass = 1 + 0.5 * std::sin(0.3 * s[1]);
    const double slope = 0.15 * std::cos(0.3 * s[1]);
    return State{-(s[0] + s[1]), s[2], (2 - 2 * (s[0] + s[1]) - 0.5 * slope * s[2] * s[2]) / mass};
  };
  State s{0, 0, 0};
  constexpr int kSteps = 2000;
  const double h = 0.26 / kSteps;
  const auto moved = [](const State& from, const State& by, double length) {
    return State{from[0] + length * by[0], from[1] + length * by[1], from[2] + length * by[2]};
  };
  for (int i = 0; i < kSteps; ++i) {
    const State k1 = rate(s);
    const State k2 = rate(moved(s, k1, h / 2));
    const State k3 = rate(moved(s, k2, h / 2));
    const State k4 = rate(moved(s, k3, h));
    for (int j = 0; j < 3; ++j) s[j] += h / 6 * (k1[j] + 2 * k2[j] + 2 * k3[j] + k4[j]);
  }
  for (const double tolerance : kTolerances) {
    const Outcome run = at(model, tolerance);
    EXPECT_NEAR(run.y[1], s[0], 100 * tolerance);
    EXPECT_NEAR(run.y[2], s[1], 100 * tolerance);
  }
}

// A coordinate that has moved by 1e-17 is tied to one of size 0.5. 7 x'' = -2 bump(t) where x is still small beside it.
TEST(Tied, CoordinatesHaveTheDigitsOfTheLargest) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
th1 = -0.5
[energy]
kinetic = "x'^2 + 2.5*(th1'^2)"
potential = "(x + bump(t))^2"
[[constraint]]
name = "k1"
zero = "th1 + x + 0.5"
[run]
until = 0.083
)toml");
  constexpr int kParts = 2000;
  double sum = 0;
  for (int i = 0; i < kParts; ++i) {
    const double t = (i + 0.5) * 0.083 / kParts;
    sum += pulse(t) * 0.083 / kParts;
  }
  for (const double tolerance : kTolerances) {
    const Outcome run = at(model, tolerance);
    EXPECT_NEAR(run.y[2], -2.0 / 7 * sum, 1e-4 * sum) << tolerance;
  }
}

// Two walls close in on a body; the hops between them shorten to 1e-9 s, and each is met. Both bodies are at rest against each other in the end.
TEST(Squeezed, BodiesHopUntilRounding) {
  TestModel model = text_model(R"toml(
[coordinates]
x = -0.7
y = 0
[energy]
kinetic = "0.5*(1 + (0.3*y)^2)*(x'^2) + 0.5*(y'^2)"
potential = "5*((x + 0.5)^2) + 5*y"
[[contact]]
name = "c2"
gap = "y - (3*bump(1.5*t))"
slip = "x'"
friction = { type = "arctan", mu = 0.8, beta = 10 }
impact = { type = "poisson", restitution = 0.8 }
[[contact]]
name = "c3"
gap = "x - y + 0.7"
impact = 0.3
[run]
until = 0.065
)toml");
  const double wall = 3 * pulse(1.5 * 0.065);
  for (const double tolerance : {1e-8, 1e-10}) {
    const Outcome run = at(model, tolerance);
    EXPECT_NEAR(run.y[1], wall, 1e-12);
    EXPECT_NEAR(run.y[0], wall - 0.7, 1e-12);
  }
}

}  // namespace
}  // namespace judder
