// A model whose units of length, mass and time are changed by powers of two has the same bits: nothing is compared with a number that has a unit, and
// nothing of one unit with something of another.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <ostream>
#include <stdexcept>
#include <string>

#include "run_model.hpp"

namespace judder {
namespace {

/// Exponents of two.
struct Units {
  int length, mass, time;
};

/// The text with "@(value,l,m,t)" replaced by value · L^l M^m T^t.
std::string in_units(const std::string& text, const Units& u) {
  std::string out;
  std::size_t at = 0;
  for (std::size_t next = text.find("@("); next != std::string::npos; next = text.find("@(", at)) {
    out += text.substr(at, next - at);
    double value = 0;
    int l = 0, m = 0, t = 0;
    if (std::sscanf(text.c_str() + next, "@(%lf,%d,%d,%d)", &value, &l, &m, &t) != 4)
      throw std::runtime_error("not a number with its dimension");
    char number[40];
    std::snprintf(number, sizeof number, "%.17g", std::ldexp(value, l * u.length + m * u.mass + t * u.time));
    out += number;
    at = text.find(')', next) + 1;
  }
  return out + text.substr(at);
}

struct Case {
  const char* name;
  const char* text;
  int first_angle;  ///< coordinates from this one on are angles
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class SameBits : public testing::TestWithParam<Case> {};

TEST_P(SameBits, InOtherUnits) {
  const Units first{18, -30, 24};
  const TestModel one = text_model(in_units(GetParam().text, first));
  const engines::EngineResult a = run_to_end(one);
  ASSERT_EQ(a.status.reason, Reason::done) << a.status.message;
  const int n = one.system.layout().coordinates;
  for (const Units& second : {Units{36, 24, 6}, Units{18, -24, 30}}) {
    const TestModel two = text_model(in_units(GetParam().text, second));
    const engines::EngineResult b = run_to_end(two);
    ASSERT_EQ(b.status.reason, Reason::done) << b.status.message;
    for (int i = 0; i < 2 * n; ++i) {
      const bool angle = i % n >= GetParam().first_angle;
      const auto in_draft = [&](double value, const Units& u) {
        return std::ldexp(value, (angle ? 0 : -u.length) + (i < n ? 0 : u.time));
      };
      EXPECT_EQ(in_draft(a.end.y[i], first), in_draft(b.end.y[i], second))
          << "component " << i << ", time " << second.time;
    }
    EXPECT_EQ(a.steps, b.steps);
  }
}

// Where each once had other bits: pivots compared across units; the size of what has never moved taken from a component of
// another unit; impulses of a torque compared with those of a force; a time scale of accelerations of both; a stiffness
// compared with the row of a joint; accelerations that reactions do not move, compared with the reactions; the time of what rests taken for one second; limits of a force and of a
// moment watched with the size of the larger number.
INSTANTIATE_TEST_SUITE_P(, SameBits,
                         testing::Values(Case{"HeldByARow", R"toml(
[tables]
f = { x = [0, @(1,0,0,1), @(2,0,0,1)], y = [0, @(-1,0,0,-1), @(1,0,0,-1)], outside = "hold" }
[coordinates]
x = @(0.5,1,0,0)
th = 0
[energy]
kinetic = "@(0.5,0,1,0)*x'^2 + @(0.5,2,1,0)*th'^2"
potential = "@(1,2,1,-2)*th"
[[friction]]
name = "j"
slip = "th' - f(t)"
normal = @(1.5,1,1,-2)
law = "max(0, @(1,1,0,0) - @(0.1,1,0,-1)*t)"
[[constraint]]
name = "k"
zero = "x - @(1,1,0,0)*th - @(0.5,1,0,0)"
[run]
until = @(0.91,0,0,1)
)toml",
                                              1},
                                         Case{"StiffBesideWhatRests", R"toml(
[coordinates]
x = @(0.5,1,0,0)
y = 0
[energy]
kinetic = "@(0.25,0,1,0)*x'^2 + @(1,0,1,0)*y'^2"
potential = "@(1,0,1,-2)*x^2 + @(10,1,1,-2)*x"
[[contact]]
name = "c"
gap = "x - @(0.5,1,0,0)"
slip = "y' + @(1,1,0,-2)*t"
friction = { type = "arctan", static = 1, dynamic = 1, velocity = @(0.1,1,0,-1), beta = @(100,-1,0,1) }
[run]
until = @(0.91,0,0,1)
)toml",
                                              2},
                                         Case{"StrongeBesideAConstraint", R"toml(
[coordinates]
x = 0
u = 0
th = 0
[energy]
kinetic = "@(1,2,1,0)*th'^2 + @(0.5,0,1,0)*((x' + @(0.5,1,0,0)*th'*cos(th))^2 + (@(0.5,1,0,0)*th'*sin(th))^2) + @(1.5,0,1,0)*u'^2"
potential = "@(1,2,1,-2)*th"
[[contact]]
name = "c"
gap = "th + 1"
impact = { type = "stronge", restitution = 0.3, stiffness = @(1,2,1,-2) }
[[constraint]]
name = "k"
zero = "x"
slip = "u'"
friction = 0.1
[run]
until = @(3,0,0,1)
)toml",
                                              2},
                                         Case{"SlideLeftWhereTwoUnitsMove", R"toml(
[coordinates]
x = 0
th = 0
[energy]
kinetic = "@(0.5,2,1,0)*th'^2 + @(0.5,0,1,0)*((x' + @(0.7,1,0,0)*th'*cos(th))^2 + (@(0.7,1,0,0)*th'*sin(th))^2)"
potential = "@(10,2,1,-2)*th"
[[friction]]
name = "j"
slip = "x'"
normal = @(10,1,1,-2)
law = "if(@(1,1,0,-1) < x', 1, 0.2)"
[run]
until = @(2.1,0,0,1)
)toml",
                                              1},
                                         Case{"ALoadThatBumps", R"toml(
[coordinates]
y = 0
[energy]
kinetic = "@(0.5,0,1,0)*y'^2"
potential = "@(1,1,1,-2)*y"
[[friction]]
name = "j"
slip = "y'"
normal = "abs(@(1,1,1,-2)*bump(@(1,0,0,-1)*t))"
law = 1
[run]
until = @(0.84,0,0,1)
)toml",
                                              9},
                                         Case{"ALoadThatBumpsAlone", R"toml(
[coordinates]
y = 0
[energy]
kinetic = "@(0.5,0,1,0)*y'^2"
[[friction]]
name = "j"
slip = "y'"
normal = "max(0, @(1,1,1,-2)*bump(@(3,0,0,-1)*t))"
law = { type = "lugre", mu = 1, stiffness = @(1,-1,0,0), damping = @(1,-1,0,1) }
[run]
until = @(0.34,0,0,1)
)toml",
                                              9},
                                         Case{"AForceThatBumps", R"toml(
[coordinates]
x = 0
[energy]
kinetic = "@(0.5,0,1,0)*x'^2"
[[force]]
along = "x'"
value = "@(1,1,1,-2)*bump(@(1,0,0,-1)*t)"
[run]
until = @(0.015,0,0,1)
)toml",
                                              9},
                                         Case{"AFloorThatBumps", R"toml(
[coordinates]
x = 0
[energy]
kinetic = "@(0.5,0,1,0)*x'^2"
[[contact]]
name = "c1"
gap = "x"
[[contact]]
name = "c3"
gap = "x + @(0.7,1,0,0)*bump(@(1,0,0,-1)*t)"
[run]
until = @(0.053,0,0,1)
)toml",
                                              9},
                                         Case{"NodesHeldByFriction", R"toml(
[coordinates]
x = 0
y = { massless = true }
u = { massless = true }
[energy]
kinetic = "@(0.5,0,1,0)*x'^2"
potential = "@(9.81,1,1,-2)*x + @(2.5,0,1,-2)*(y + x)^2 + @(1.5,0,1,-2)*(u - x)^2 + @(0.7,0,1,-2)*(u - y)^2"
dissipation = "@(0.1,0,1,-1)*y'^2"
[[friction]]
name = "damped"
slip = "y'"
normal = @(0.2,1,1,-2)
law = 0.3
[[friction]]
name = "undamped"
slip = "u'"
normal = @(0.3,1,1,-2)
law = 1
[run]
until = @(1.3,0,0,1)
)toml",
                                              3},
                                         Case{"ThreeContactsOfOneGapAndThreeLaws", R"toml(
[coordinates]
x = 0
y = { velocity = @(-0.5,1,0,-1) }
u = 0
[energy]
kinetic = "@(0.5,0,1,0)*x'^2 + @(2.5,0,1,0)*y'^2 + @(1,0,1,0)*u'^2"
[[friction]]
name = "j"
slip = "u' - x' + @(1,1,0,-1)"
normal = "@(4,1,1,-2) + normal(c3)"
law = 0.8
[[contact]]
name = "c1"
gap = "y + @(0.3,1,0,0)*sin(@(0.5,-1,0,0)*y)"
[[contact]]
name = "c2"
gap = "y"
impact = 0.5
[[contact]]
name = "c3"
gap = "y + @(0.3,1,0,0)*sin(@(0.3,-1,0,0)*y)"
impact = { type = "poisson" }
[run]
until = @(1.3,0,0,1)
)toml",
                                              3},
                                         Case{"HeldUntilALoadHasGone", R"toml(
[coordinates]
x = @(-1,1,0,0)
y = 0
[energy]
kinetic = "@(1,0,1,0)*x'^2 + @(0.5,0,1,0)*y'^2"
potential = "@(50,0,1,-2)*(x - y)^2 + @(10,0,1,-2)*(y + @(1,1,0,0)*sin(@(4,0,0,-1)*t))^2"
[[friction]]
name = "j2"
slip = "y'"
normal = @(4,1,1,-2)
law = "if(0 < y', 0.2, 0.4)"
[[contact]]
name = "c1"
gap = "y - x - @(0.8,1,0,0)"
compliant = { stiffness = @(1000,0,1,-2) }
slip = "y' - x'"
friction = "1/(1 + @(0.7,-1,0,1)*speed)"
[[contact]]
name = "c2"
gap = "y + @(0.3,1,0,0)"
[[contact]]
name = "c3"
gap = "-y + @(1,1,0,0)"
compliant = { stiffness = @(500,0,1,-2) }
slip = "x'"
friction = 0.8
[run]
until = @(0.86,0,0,1)
tolerance = 1e-8
)toml",
                                              2},
                                         Case{"AForceAndAMomentHoldTogether", R"toml(
[coordinates]
x = 0
th = 0
[energy]
kinetic = "@(0.5,0,1,0)*x'^2 + @(0.5,2,1,0)*th'^2"
[[force]]
name = "pull"
along = "x'"
value = @(2,1,1,-2)
[[friction]]
name = "j1"
slip = "x'"
normal = @(1,1,1,-2)
law = "0.5*(1 + 0.5*sin(@(1,0,0,-1)*t))"
[[friction]]
name = "j2"
slip = "th'"
normal = "@(1,2,1,-2)*(1.5 + sin(@(2,0,0,-1)*t))"
law = { static = 1, dynamic = 0.5 }
[[constraint]]
name = "k"
velocity = "x' - @(1,1,0,0)*th'"
[run]
until = @(3,0,0,1)
)toml",
                                              1}),
                         [](const auto& each) { return std::string(each.param.name); });

// How two walls share what presses them together is not known, and one of them has smooth friction: that is told in all units, also for bodies of a microgram and of
// ten thousand tonnes, at once.
TEST(OtherUnits, WhatIsNotUniqueIsSaidInAllUnits) {
  const char* const text = R"toml(
[coordinates]
y = 0
w = 0
[energy]
kinetic = "@(1,0,1,0)*y'^2 + @(1.5,0,1,0)*w'^2"
[[force]]
name = "pull"
along = "w'"
value = @(0.7,1,1,-2)
[[contact]]
name = "c1"
gap = "y"
[[contact]]
name = "c2"
gap = "-y"
slip = "w'"
friction = { type = "arctan", mu = 0.5, beta = @(1,-1,0,1) }
[run]
until = @(4,0,0,1)
)toml";
  for (const Units& units : {Units{0, 0, 0}, Units{18, -30, 24}, Units{36, 24, 6}, Units{0, 24, 0},
                             Units{0, -30, 0}, Units{0, 0, 30}, Units{0, 0, -30}}) {
    const engines::EngineResult end = run_to_end(text_model(in_units(text, units)));
    EXPECT_EQ(end.status.reason, Reason::indeterminate)
        << units.length << ' ' << units.mass << ' ' << units.time;
    EXPECT_EQ(end.status.time, 0);
  }
}

}  // namespace
}  // namespace judder
