// Impacts by the engines with fixed steps: the law that comes out does not depend on where in a step a contact is met, nor on how long the step is.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>

#include "engines/stepping/rebound.hpp"
#include "step_support.hpp"

namespace judder {
namespace {

// --- Moreau's law of one planar contact, by its three modes ---

struct PlanarImpact {
  double m11, m12, m22;  ///< inertia of (x, y): the slip is x', the gap is y
  double vx, vy, mu, e;
};

/// Velocities behind it and the normal impulse: the mode that contradicts nothing.
std::array<double, 3> moreau(const PlanarImpact& p) {
  const double det = p.m11 * p.m22 - p.m12 * p.m12;
  const double tt = p.m22 / det, tn = -p.m12 / det, nn = p.m11 / det;
  const double due = -p.e * p.vy;
  // sticks: γ_T = 0, γ_N = due
  const double n = ((due - p.vy) * tt + p.vx * tn) / (nn * tt - tn * tn), t = (-p.vx - tn * n) / tt;
  if (n >= 0 && std::abs(t) <= p.mu * n) return {0, due, n};
  for (const double side : {1.0, -1.0}) {
    const double slides = (due - p.vy) / (nn - side * p.mu * tn);
    const double after = p.vx + (tn - side * p.mu * tt) * slides;
    if (slides >= 0 && side * after >= 0) return {after, due, slides};
  }
  throw std::runtime_error("no mode");
}

TestModel planar(const PlanarImpact& p, double height, const std::string& restitution) {
  const auto text = [](double x) { return std::to_string(x); };
  return text_model("[coordinates]\nx = { velocity = " + text(p.vx) + " }\ny = { start = " + text(height) +
                    ", velocity = " + text(p.vy) + " }\n[energy]\nkinetic = \"" + text(p.m11) +
                    "*x'^2/2 + (" + text(p.m12) + ")*x'*y' + " + text(p.m22) +
                    "*y'^2/2\"\n[[contact]]\nname = \"floor\"\ngap = \"y\"\nslip = \"x'\"\nfriction = " +
                    text(p.mu) + "\nimpact = " + restitution + "\n[run]\nuntil = 1\n");
}

/// Six digits, as they stand in the model.
double digits(double x) { return std::round(x * 1e6) / 1e6; }

const engines::Event& impact_of(const simulate::Result& run) {
  for (const engines::Event& event : run.data.events) {
    if (event.kind == engines::EventKind::impact) return event;
  }
  throw std::runtime_error("no impact");
}

TEST(PaoliSchatzman, FrictionInAnImpactIsCoulombsAtEveryPlaceInAStep) {
  std::mt19937_64 generator(1512);
  const auto draw = [&](double a, double b) {
    return digits(a + (b - a) * std::generate_canonical<double, 53>(generator));
  };
  int sticks = 0, turned = 0;
  for (int k = 0; k < 60; ++k) {
    PlanarImpact p{draw(0.5, 2), draw(-0.4, 0.4), draw(0.5, 2), draw(-1, 1), -1, draw(0, 0.6), 0};
    p.e = digits(k % 3 == 0 ? 0 : draw(0, 1));
    const std::array<double, 3> right = moreau(p);
    sticks += right[0] == 0 ? 1 : 0;
    turned += right[0] * p.vx < 0 ? 1 : 0;
    const TestModel model = planar(p, 0.4, std::to_string(p.e));
    for (const char* form : {"modified", "explicit"}) {
      for (const double h : {1e-2, 0.77e-2, 1.3e-3}) {
        const simulate::Result run = step_to(model, "paoli-schatzman", h, 1, {{"form", 0, form}});
        ASSERT_TRUE(run.end.status.ok()) << run.end.status.message;
        EXPECT_NEAR(last(run, "x'"), right[0], 1e-9) << k << form << h;
        EXPECT_NEAR(last(run, "y'"), right[1], 1e-9) << k << form << h;
        EXPECT_NEAR(impact_of(run).normal_impulse, right[2], 1e-9) << k << form << h;
      }
    }
  }
  EXPECT_GT(sticks, 5);
  EXPECT_GT(turned, 2);
}

// A restitution that depends on the speed has that of the approach, though the second step of an impact begins with another one.
TEST(PaoliSchatzman, TheRestitutionIsThatOfTheApproach) {
  const PlanarImpact p{1, 0, 1, 0.5, -1, 0.2, 0.8 * std::exp(-1.0)};
  const std::array<double, 3> right = moreau(p);
  for (const double h : {1e-2, 0.77e-2, 0.61e-2, 1.3e-3}) {
    const simulate::Result run =
        step_to(planar(p, 0.4, "{ restitution = \"0.8*exp(-speed)\" }"), "paoli-schatzman", h, 1);
    EXPECT_NEAR(last(run, "y'"), right[1], 1e-9) << h;
    EXPECT_NEAR(last(run, "x'"), right[0], 1e-9) << h;
  }
}

/// Steps by which two engines are asked for one motion, and what they are off by.
void expect_motion(const TestModel& model, const std::string& engine, double h, double share,
                   const std::vector<std::string>& columns) {
  const simulate::Result right = run(model);
  ASSERT_TRUE(right.end.status.ok()) << right.end.status.message;
  engines::EngineOptions options = model.options;
  options.step = h;
  const simulate::Result stepped = simulate::simulate(model.system, options, engine);
  ASSERT_TRUE(stepped.end.status.ok()) << engine << stepped.end.status.message;
  for (const std::string& column : columns)
    EXPECT_NEAR(last(stepped, column), last(right, column), share) << engine << ' ' << column;
}

// Joints beside the contact, one of them loaded by it, and a second contact that is closed.
TEST(PaoliSchatzman, JointsAndClosedContactsShareTheImpact) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 0.2 }
y = { start = 0.35, velocity = -1 }
p = { velocity = -0.3 }
z = 0
[energy]
kinetic = "(x'^2 + y'^2)/2 + 0.3*p'^2 + z'^2/2 + 0.2*p'*x' + 0.15*y'*p' - 0.2*y'*z'"
[[contact]]
name = "floor"
gap = "y"
slip = "x' + 0.3*p'"
friction = 0.4
impact = 0.5
[[contact]]
name = "shelf"
gap = "z"
slip = "p'"
friction = 0.2
[[friction]]
name = "pivot"
slip = "p' - 0.3*y'"
normal = "abs(normal(floor))"
law = 0.1
[run]
until = 1
)toml");
  for (const double h : {1e-4, 0.77e-4})
    expect_motion(model, "paoli-schatzman", h, 1e-3, {"x", "y", "p", "x'", "y'", "p'"});
}

// --- springs ---

// By small steps of the equation that the formula solves.
TEST(Rebound, TheDampingRatioGivesTheRestitution) {
  for (const double ratio : {0.01, 0.2, 0.7, 0.95, 1.0, 1.3, 4.0}) {
    double x = 0, v = 1;
    constexpr double kStep = 2e-5;
    while (v > 0 || 2 * ratio * v + x > 0) {
      const double middle = v - 0.5 * kStep * std::max(0.0, 2 * ratio * v + x);
      x += kStep * middle;
      v -= kStep * std::max(0.0, 2 * ratio * middle + x - 0.5 * kStep * middle);
    }
    EXPECT_NEAR(engines::rebound_of(ratio), -v, 1e-6) << ratio;
  }
  for (const double e : {1.0, 0.9, 0.5, 0.2, std::exp(-2.0), 0.1, 0.01})
    EXPECT_NEAR(engines::rebound_of(engines::damping_ratio_of(e)), e, 1e-12);
}

TEST(Springs, ReboundWithTheRestitutionAndGiveItsImpulse) {
  for (const char* engine : {"penalty", "arctan"}) {
    for (const double e : {0.0, 0.05, 0.2, 0.5, 0.8, 1.0}) {
      for (const double h : {1e-3, 1.07e-4, 1.3e-5}) {
        const PlanarImpact p{1, 0, 2, 0, -1, 0, e};
        const simulate::Result run = step_to(planar(p, 0.5, std::to_string(e)), engine, h, 1);
        ASSERT_TRUE(run.end.status.ok()) << engine << e << run.end.status.message;
        EXPECT_NEAR(last(run, "y'"), e, 5e-4) << engine << e << ' ' << h;
        double impulse = 0;
        for (const engines::Interval& interval : run.data.intervals) impulse += interval.impulse;
        EXPECT_NEAR(impulse, 2 * (1 + e), 1e-3) << engine << e << ' ' << h;
        EXPECT_LT(monitor(run, "impacts").worst, 5e-4);
      }
    }
  }
}

// A block that slides from the start has the reaction of its rest from the start, and friction in its cone.
TEST(Springs, SlideRightFromTheFirstStep) {
  for (const double h : {1e-3, 1e-4}) {
    TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 1 }
y = 0
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[contact]]
name = "floor"
gap = "y"
slip = "x'"
friction = 0.1
[run]
until = 0.4
)toml");
    const simulate::Result run = step_to(model, "penalty", h, 0.4);
    EXPECT_NEAR(last(run, "x"), 0.4 - 0.5 * 0.981 * 0.16, 1e-12) << h;
  }
}

// Where friction couples strongly with the normal direction springs go another way than Moreau's law: the run says so and does not end as done.
TEST(Springs, SayWhereTheyDifferFromTheLaw) {
  const PlanarImpact p{1, 0.7, 1, 0.5, -1, 0.5, 0.8};
  const simulate::Result run = step_to(planar(p, 0.4, "0.8"), "penalty", 1e-3, 1);
  EXPECT_EQ(run.end.status.reason, Reason::laws_violated);
  EXPECT_NE(run.end.status.message.find("of the approach"), std::string::npos) << run.end.status.message;
  EXPECT_GT(monitor(run, "impacts").worst, 0.1);
}

// --- Runge and Kutta ---

const char* const kTurnedSlip = R"toml(
[coordinates]
x = { start = 0.5, velocity = -1 }
p = { start = 0, velocity = 0.3 }
[energy]
kinetic = "x'^2/2 + 0.2*p'^2 + 0.2*p'*x'"
[[contact]]
name = "wall"
gap = "x"
impact = 0.8
[[friction]]
name = "pivot"
slip = "p'"
normal = 1
law = { static = 0.05, dynamic = 0.04 }
[run]
until = 1
)toml";

TEST(RungeKutta, AnImpactThatTurnsASlipIsNotItsEnd) {
  const TestModel model = text_model(kTurnedSlip);
  for (const char* engine : {"rk4", "rk4-zabuga"})
    expect_motion(model, engine, 1e-4, 1e-3, {"x", "p", "x'", "p'"});
}

// A slip that was set to zero is off it by rounding: the step behind it is not cut again, for ever.
TEST(Zabuga, AReversalIsOne) {
  for (const double share : {0.37, 0.53, 0.7071, 0.831}) {
    const TestModel model = text_model(R"toml(
[parameters]
c = 0.3
[coordinates]
x = { velocity = 0.3 }
y = { velocity = -0.2 }
w = { velocity = 0.1 }
[energy]
kinetic = "(x'^2 + y'^2)/2 + 0.3*w'^2 + 0.2*(1 + 0.3*sin(w))*y'*w'"
potential = "20*(x - 0.3*y)^2 + 7*(y + c*w)^2 + 3*(w + 0.2*x)^2"
[[friction]]
name = "belt"
slip = "y' - c*x' + 0.7*w' + 0.05*sin(t)"
normal = 1
law = 0.02
[run]
until = 6
)toml",
                                       {{"c", share}});
    expect_motion(model, "rk4-zabuga", 1e-3, 1e-3, {"x", "y", "w"});
  }
}

// --- Moreau's scheme beside impacts ---

// The coefficient of a joint whose slip an impact turns is that of the slip before.
TEST(Moreau, AJointThatAnImpactTurnsKeepsItsCoefficient) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { start = 0.5, velocity = -1 }
p = { velocity = 0.3 }
[energy]
kinetic = "x'^2/2 + 0.2*p'^2 + 0.2*p'*x'"
[[contact]]
name = "wall"
gap = "x"
impact = 0.8
[[friction]]
name = "pivot"
slip = "p'"
normal = "0.3*normal(wall)"
law = { static = 0.9, dynamic = 0.1 }
[run]
until = 1
)toml");
  for (const char* engine : {"moreau", "paoli-schatzman"})
    expect_motion(model, engine, 1e-4, 1e-3, {"x", "p", "x'", "p'"});
}

// What rests approaches by rounding: that has no restitution, and forces that ask whether it is closed go on.
TEST(Moreau, RestHasNoRestitution) {
  const TestModel model = text_model(R"toml(
[tables]
f1 = { x = [-2, 0, 1, 2], y = [1, -1, 0.3, 2], outside = "hold" }
[coordinates]
x = 0
y = 0
[energy]
kinetic = "0.5*(x'^2) + 0.5*(1 + 0.5*sin(0.7*y))*(y'^2)"
[[force]]
name = "force1"
along = "y' - x'"
value = "-2.308 - 0.7*y + f1(-2*x - 0.5*x' + 0.2)"
[[contact]]
name = "c1"
gap = "-x"
slip = "y' - (0.2*sin(2.5*t))"
friction = { mu = "0.1*(1 + 0.5*sin(0.2*t))", viscous = 0.9 }
impact = "0.8/(1 + speed)"
[run]
until = 0.49
)toml");
  expect_motion(model, "moreau", 1e-4, 1e-3, {"x", "y", "y'"});
}

// --- rests ---

// 0.5 sin(3t) against 0.2 forwards and 0.6 backwards: slips to one side alone. By small steps of the set-valued law.
TEST(Rest, HoldsWithTheCoefficientOfItsDirection) {
  double x = 0, v = 0;
  constexpr int kSteps = 500000;
  constexpr double kStep = 5.0 / kSteps;
  for (int k = 0; k < kSteps; ++k) {
    const double free = v + kStep * 0.5 * std::sin(3 * kStep * (k + 0.5));
    const double after = free > 0.2 * kStep    ? free - 0.2 * kStep
                         : free < -0.6 * kStep ? free + 0.6 * kStep
                                               : 0;
    x += kStep * 0.5 * (v + after);
    v = after;
  }
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "x'^2/2"
[[friction]]
name = "belt"
slip = "x'"
normal = 1
law = "if(x' > 0, 0.2, 0.6)"
[[force]]
along = "x'"
value = "0.5*sin(3*t)"
[run]
until = 5
)toml");
  for (const char* engine :
       {"moreau", "theta", "newmark", "paoli-schatzman", "rk4-zabuga", "rk4", "penalty"}) {
    const simulate::Result run = step_to(model, engine, 1e-4, 5);
    ASSERT_TRUE(run.end.status.ok()) << engine << run.end.status.message;
    EXPECT_NEAR(last(run, "x"), x, 1e-4) << engine;
    EXPECT_NEAR(last(run, "x'"), v, 1e-4) << engine;
  }
}

// A joint and a dry force hold together up to t = 3; from there x'' = t − 2, x(4) = 2/3.
TEST(Rest, AJointAndADryForceHoldTogether) {
  const TestModel model = text_model(R"toml(
[coordinates]
a = 0
b = 0
[energy]
kinetic = "a'^2/2 + b'^2/2"
[[force]]
along = "a'"
value = "-sign(a')"
[[force]]
name = "dry"
along = "b'"
value = "t - sign(b')"
[[friction]]
name = "pad"
slip = "b'"
normal = 1
law = { static = 2, dynamic = 1 }
[run]
until = 4
)toml");
  for (const char* engine : {"moreau", "theta", "newmark", "paoli-schatzman"}) {
    for (const double h : {1e-3, 1e-4}) {
      const simulate::Result run = step_to(model, engine, h, 4);
      EXPECT_NEAR(last(run, "b"), 2.0 / 3, 2 * h) << engine;
      EXPECT_NEAR(last(run, "b'"), 1.5, 3 * h) << engine;
    }
  }
  for (const char* engine : {"rk4", "rk4-zabuga", "penalty", "arctan"})
    EXPECT_NE(simulate::engine_problem(model.system, engine).find("hold together"), std::string::npos)
        << engine;
}

// Poisson's law without restitution is Moreau's as long as nothing else gives back.
TEST(Moreau, RefusesMixedImpactLaws) {
  const auto problem = [](const std::string& other) {
    return simulate::engine_problem(text_model(R"toml(
[coordinates]
x = { start = 0.5, velocity = -1 }
[energy]
kinetic = "x'^2/2"
[[contact]]
name = "one"
gap = "x"
impact = { type = "poisson" }
[[contact]]
name = "other"
gap = "x"
impact = )toml" + other + "\n[run]\nuntil = 1\n")
                                        .system,
                                    "moreau");
  };
  EXPECT_EQ(problem("0"), "");
  EXPECT_NE(problem("1").find("poisson"), std::string::npos);
}

}  // namespace
}  // namespace judder
