// Surfaces that stay at zero because the motion rests on them: what a switch of a position shows while dry friction holds that position, rest that the value at
// equality allows, loads that friction and a switch bear together, and slides whose friction begins with zero. The right values are closed forms, or those of
// steps of the set-valued law (mechanics: docs/theory.md, "An instant").
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

const std::vector<std::string> kBoth{"event", "exact"};

/// Masses of 1 at rest at zero, each under a force.
TestModel masses(const std::vector<std::string>& forces, const std::string& more = "", double until = 1,
                 const std::string& kinetic = "") {
  const std::array<std::string, 3> names{"x", "y", "z"};
  std::string coordinates = "[coordinates]\n";
  std::string energy = kinetic;
  std::string text;
  for (std::size_t i = 0; i < forces.size(); ++i) {
    coordinates += names[i] + " = 0\n";
    if (kinetic.empty()) energy += (i > 0 ? " + " : "") + names[i] + "'^2/2";
    text += "[[force]]\nalong = \"" + names[i] + "'\"\nvalue = \"" + forces[i] + "\"\n";
  }
  return text_model(coordinates + "[energy]\nkinetic = \"" + energy + "\"\n" + text + more +
                    "[run]\nuntil = " + std::to_string(until) + "\n[output]\nsamples = 2\n");
}

std::string joint(double limit) {
  return "[[friction]]\nname = \"j\"\nslip = \"x'\"\nnormal = 1\nlaw = " + std::to_string(limit) + "\n";
}

engines::EngineResult end_of(const TestModel& model, const std::string& engine, double tolerance = 1e-9) {
  engines::EngineOptions options = model.options;
  options.tolerance = tolerance;
  simulate::NullSink sink;
  return simulate::run(model.system, engine, options, sink);
}

void expect_end(const TestModel& model, const std::vector<double>& right, const std::string& name,
                const std::vector<std::string>& engines = kBoth) {
  for (const std::string& engine : engines) {
    for (const double tolerance : {1e-6, 1e-9, 1e-11}) {
      const engines::EngineResult end = end_of(model, engine, tolerance);
      ASSERT_TRUE(end.status.ok()) << name << " " << engine << " " << tolerance << ": " << end.status.where
                                   << ": " << end.status.message;
      for (std::size_t i = 0; i < right.size(); ++i)
        EXPECT_NEAR(end.end.y[i], right[i], 20 * tolerance)
            << name << " " << engine << " " << tolerance << " " << i;
    }
  }
}

struct Case {
  std::vector<std::string> forces;
  std::vector<double> right;  ///< positions at t = 1
};

// The friction holds the position, and the switch shows what the language gives at equality, whatever a side of it would do.
TEST(Rests, BesideADryForceASwitchOfThePositionHasTheValueOfEquality) {
  for (const Case& c : std::vector<Case>{
           {{"-sign(x') + if(x < 0, -1.25, 0)"}, {0}},
           {{"-sign(x') + if(x > 0, 1.25, 0)"}, {0}},
           {{"-sign(x') + if(x >= 0, 1.25, 0)"}, {0.125}},
           {{"-sign(x') + if(x <= 0, -1.25, 0)"}, {-0.125}},
           {{"-sign(x') + 0.75*sign(x) - 0.5"}, {0}},
           {{"-sign(x') + 0.75*sign(x) - 0.5", "sign(x)"}, {0, 0}},
           {{"-sign(x') + sign(x) - 0.25", "0.5 + sign(x)"}, {0, 0.25}},
           {{"-sign(x') - 0.5*sign(x) - 0.75", "sign(x)"}, {0, 0}},
           {{"-sign(x') - 1.5*sign(x) - 0.2", "1 + sign(x)"}, {0, 0.5}},
           {{"-2*sign(x') + 0.75*step(x) - 0.5", "step(x)"}, {0, 0.5}},
           {{"-sign(x') + 0.9*sign(x) + 0.2*sign(y) - 0.05", "-sign(y') - 0.2*sign(x) + 0.9*sign(y)"},
            {0, 0}},
       })
    expect_end(masses(c.forces), c.right, c.forces[0]);
}

// The same with friction of a joint in the place of the dry force.
TEST(Rests, BesideAJointASwitchOfThePositionHasTheValueOfEquality) {
  for (const Case& c : std::vector<Case>{
           {{"if(x < 0, -1.25, 0)", "sign(x)"}, {0, 0}},
           {{"if(x > 0, 1.25, 0)"}, {0}},
           {{"if(x >= 0, 1.25, 0)"}, {0.125}},
           {{"0.75*sign(x) - 0.5", "1 + sign(x)"}, {0, 0.5}},
           {{"-0.5*sign(x) - 0.75", "sign(x)"}, {0, 0}},
           {{"-1.5*sign(x) - 0.2", "sign(x)"}, {0, 0}},
       })
    expect_end(masses(c.forces, joint(1)), c.right, c.forces[0]);
}

// Without friction too: rest solves the equations as they are written.
TEST(Rests, WhereTheValueOfEqualityGivesNoForceRestIsKept) {
  expect_end(masses({"if(x < 0, -1, 0)"}), {0}, "below");
  expect_end(masses({"if(x > 0, 1, 0)"}), {0}, "above");
  expect_end(masses({"if(x <= 0, -1, 0)"}), {-0.5}, "at or below");
  expect_end(text_model("[state]\nz = { start = 0, rate = \"if(z < 0, -1, 0)\" }\n[run]\nuntil = 1\n"), {0},
             "a state");
}

// Both sides leave, or one of them takes the motion through: no rest, whatever the value at equality.
TEST(Rests, WhatBothSidesLeaveIsNotUnique) {
  for (const std::string force : {"-sign(x') + 1.25*sign(x)", "sign(x)"}) {
    for (const std::string& engine : kBoth)
      EXPECT_EQ(end_of(masses({force}), engine).status.reason, Reason::indeterminate) << force << engine;
  }
}

// The same where a place beside it could rest, and one of the two ways takes more of the others along.
TEST(Rests, WhatBothSidesLeaveIsNotUniqueHoweverManyEitherWayTakesAlong) {
  const TestModel model = masses({"-0.01 - 0.5*sign(x') + 0.74*sign(x)", "1.34 - 1.5*sign(y') - 0.41*sign(x)",
                                  "-0.34 - 0.5*sign(z') + 0.29*if(z > 0, 1, 0)"},
                                 "", 1, "x'^2 + 0.5*y'^2 + 0.5*z'^2 + 0.2*z'*x'");
  for (const std::string& engine : kBoth)
    EXPECT_EQ(end_of(model, engine).status.reason, Reason::indeterminate) << engine;
}

// Held until the load overcomes the friction, also where a side would have let it go before; then x < 0, and x'' = 0.25 - t.
TEST(Rests, LastUntilFrictionIsOvercome) {
  const double right = 0.25 / 2 - (8.0 / 6 - 1.0 / 6) + 0.5;
  expect_end(masses({"-sign(x') + 0.75*sign(x) - t"}, "", 2), {right}, "dry force");
  expect_end(masses({"0.75*sign(x) - t"}, joint(1), 2), {right}, "joint");
}

// Masses that share inertia, dry friction on each, and switches of the positions in both forces, against steps of the set-valued law: friction solved at the
// end of each step, switches read from the positions, literally. Loads grow, so that what rests lets go.
struct Drawn {
  int n = 2;
  double coupling = 0;
  std::array<double, 2> limit{}, load{}, growth{};
  std::array<std::array<double, 2>, 2> factor{};
  std::array<std::array<int, 2>, 2> kind{};
};

double value_of(int kind, double x) {
  return kind == 0 ? (x > 0) - (x < 0) : kind == 1 ? (x < 0 ? 1 : 0) : kind == 2 ? (x > 0 ? 1 : 0) : x >= 0;
}

std::string text_of(int kind, const std::string& x, double factor) {
  const std::string c = std::to_string(factor);
  return kind == 0   ? c + "*sign(" + x + ")"
         : kind == 1 ? "if(" + x + " < 0, " + c + ", 0)"
         : kind == 2 ? "if(" + x + " > 0, " + c + ", 0)"
                     : c + "*step(" + x + ")";
}

std::array<double, 2> stepped(const Drawn& d, double until, double h) {
  const double det = 1 - d.coupling * d.coupling;
  std::array<double, 2> x{}, v{}, impulse{};
  for (long step = 0; step < std::lround(until / h); ++step) {
    const double t = (static_cast<double>(step) + 0.5) * h;
    std::array<double, 2> force{};
    for (int i = 0; i < 2; ++i) {
      force[i] = d.load[i] + d.growth[i] * t;
      for (int j = 0; j < 2; ++j) force[i] += d.factor[i][j] * value_of(d.kind[i][j], x[j]);
    }
    const auto accelerated = [&](const std::array<double, 2>& p) {
      return std::array<double, 2>{(p[0] - d.coupling * p[1]) / det, (p[1] - d.coupling * p[0]) / det};
    };
    const std::array<double, 2> free = accelerated({h * force[0], h * force[1]});
    for (int i = 0; i < 2; ++i) v[i] += free[i];
    std::array<double, 2> next = v;
    for (int sweep = 0; sweep < 200; ++sweep) {
      double change = 0;
      for (int i = 0; i < 2; ++i) {
        const std::array<double, 2> pushed = accelerated(impulse);
        const double most = d.limit[i] * h;
        const double now = std::clamp(impulse[i] - (v[i] + pushed[i]) * det, -most, most);
        change = std::max(change, std::abs(now - impulse[i]));
        impulse[i] = now;
      }
      if (change < 1e-17) break;
    }
    const std::array<double, 2> pushed = accelerated(impulse);
    for (int i = 0; i < 2; ++i) {
      next[i] = v[i] + pushed[i];
      if (std::abs(next[i]) < 1e-12) next[i] = 0;
    }
    v = next;
    for (int i = 0; i < 2; ++i) x[i] += h * v[i];
  }
  return x;
}

TEST(Rests, DrawnPairsAgreeWithStepsOfTheSetValuedLaw) {
  std::mt19937 draw(4711);
  const auto one_of = [&](std::initializer_list<double> values) {
    return values.begin()[draw() % values.size()];
  };
  int compared = 0;
  for (int number = 0; number < 110; ++number) {
    Drawn d;
    d.coupling = one_of({0, 0.3, -0.3});
    for (int i = 0; i < 2; ++i) {
      d.limit[i] = one_of({0.5, 1, 1.5});
      d.load[i] = one_of({0, 0.31, -0.31, 0.53, -0.53});
      d.growth[i] = one_of({0, 0.43, -0.43, 0.91, -0.91});
      for (int j = 0; j < 2; ++j) {
        d.factor[i][j] = i == j ? one_of({-0.77, -0.41, 0.29, 0.41, 0.74, 1.23}) : 0;
        d.kind[i][j] = static_cast<int>(draw() % 4);
      }
    }
    std::vector<std::string> forces;
    for (int i = 0; i < 2; ++i) {
      const std::array<std::string, 2> names{"x", "y"};
      std::string force = std::to_string(d.load[i]) + " + (" + std::to_string(d.growth[i]) + ")*t";
      for (int j = 0; j < 2; ++j) {
        if (d.factor[i][j] != 0) force += " + " + text_of(d.kind[i][j], names[j], d.factor[i][j]);
      }
      forces.push_back(force + " - " + std::to_string(d.limit[i]) + "*sign(" + names[i] + "')");
    }
    const TestModel model =
        masses(forces, "", 1.5, "x'^2/2 + y'^2/2 + (" + std::to_string(d.coupling) + ")*x'*y'");
    const std::array<double, 2> right = stepped(d, 1.5, 5e-4);
    for (const std::string& engine : kBoth) {
      const engines::EngineResult end = end_of(model, engine);
      if (end.status.reason == Reason::indeterminate) continue;  // two sides that leave: told
      ASSERT_TRUE(end.status.ok()) << number << engine << end.status.message << forces[0] << forces[1];
      ++compared;
      for (int i = 0; i < 2; ++i)
        EXPECT_NEAR(end.end.y[i], right[i], 1e-2) << number << engine << "\n"
                                                  << forces[0] << "\n"
                                                  << forces[1];
    }
  }
  EXPECT_GT(compared, 170);
}

// Two masses that share inertia reach their limits at once. On its lower side the sign would hold y while x goes, but on the surface it is zero, and y leaves upwards; then
// inertia holds x, until 0.91 s is more than 0.3 y''.
TEST(LimitsMetAtOnce, WhatTheValueAtZeroLetsGoDoesNotRestByASide) {
  const double s = 1.5 - 0.97 / 0.91;
  const double first =
      0.3 * 0.74 /
      (0.7 * 0.91);  // x lets go; from here 0.91 x'' = 0.222 - 0.637 s and 0.91 y'' = 0.74 + 0.637 s
  const double u = s - first;
  const double speed = 0.74 * first + 0.91 * first * first / 2;
  const double y = 0.74 * first * first / 2 + 0.91 * std::pow(first, 3) / 6 + speed * u +
                   ((0.74 + 0.637 * first) * u * u / 2 + 0.637 * std::pow(u, 3) / 6) / 0.91;
  expect_end(trial("two-limits-at-once"), {-0.7 * std::pow(u, 3) / 6, y}, "a sign");
}

// y goes down and takes the force from x: that rests. Where x goes instead, y would have to rest on the side of y > 0, and goes down with the value at zero.
TEST(LimitsMetAtOnce, AndTheOthersAreDecidedWithTheSideThatItTakes) {
  const std::string joint_y = "[[friction]]\nname = \"j\"\nslip = \"y'\"\nnormal = 1\nlaw = 0.5\n";
  expect_end(masses({"1.5 + 0.43*(t - 0.6) - 1.5*sign(x') - 0.41*if(y < 0, 1, 0)",
                     "-0.5 - 0.43*(t - 0.6) + 0.29*if(y > 0, 1, 0)"},
                    joint_y, 1.3, "x'^2/2 + y'^2 + 0.3*x'*y'"),
             {0, -0.43 * std::pow(0.7, 3) / 12}, "a side that takes a force away");
}

// Three joints reach their limits at once, and the motion of two of them holds the third: with x and z gone, y is pushed back. Nothing but the derivatives tell.
TEST(LimitsMetAtOnce, InertiaHoldsAJointBesideOthersThatSlip) {
  const auto held = [](const std::string& name, double limit) {
    return "[[friction]]\nname = \"j" + name + "\"\nslip = \"" + name +
           "'\"\nnormal = 1\nlaw = " + std::to_string(limit) + "\n";
  };
  const TestModel model = masses({"1 + 0.91*(t - 0.63)", "1.5 + 0.2*(t - 0.63)", "0.5 + 0.3*(t - 0.63)"},
                                 held("x", 1) + held("y", 1.5) + held("z", 0.5), 1.33,
                                 "x'^2 + 0.5*y'^2 + 0.3*y'*x' + 0.5*z'^2 - 0.3*z'*x' + 0.2*z'*y'");
  // 2 x'' - 0.3 z'' = 0.91 s and z'' - 0.3 x'' = 0.3 s, with y at rest.
  const double share = std::pow(0.7, 3) / 6 / (2 - 0.09);
  expect_end(model, {(0.91 + 0.3 * 0.3) * share, 0, (2 * 0.3 + 0.3 * 0.91) * share}, "three joints");
}

// The same of dry forces: where y goes, inertia holds x. How the push of a slide grows tells whether it is at its end, also where a place might bear the load of y.
TEST(LimitsMetAtOnce, ASlideWithoutAPushIsJudgedByItsGrowth) {
  const std::string kinetic = "0.5*x'^2 + 0.5*y'^2 - 0.3*x'*y'";
  const std::string x = "0.5 + 0.2*(t - 0.8) - 0.5*sign(x')";
  const std::string y = "-0.5 - 0.91*(t - 0.8) - 0.5*sign(y')";
  const std::vector<double> right{0, -0.91 * std::pow(0.7, 3) / 6};
  expect_end(masses({x, y}, "", 1.5, kinetic), right, "dry forces");
  expect_end(masses({x, y + " + 0.41*if(y > 0, 1, 0)"}, "", 1.5, kinetic), right, "beside a place");
}

// 1.5 is more than the joint bears, and less than joint and dry force together: any share of the dry force from 0.5 to 1 solves the equations, and y shows it.
TEST(SharedLoads, AreToldWhereTheyAreNotUnique) {
  const engines::EngineResult shown = end_of(masses({"1.5 - sign(x')", "0.3*sign(x')"}, joint(1)), "event");
  EXPECT_EQ(shown.status.reason, Reason::indeterminate) << shown.status.message;
  const engines::EngineResult unseen = end_of(masses({"1.5 - sign(x')"}, joint(1)), "event");
  EXPECT_TRUE(unseen.status.ok()) << unseen.status.message;
  EXPECT_TRUE(unseen.reactions_not_unique);
  EXPECT_EQ(unseen.end.y[0], 0);
  for (const std::string& engine : kBoth) {
    const engines::EngineResult place = end_of(masses({"-1.5*sign(x) - 1.2", "sign(x)"}, joint(1)), engine);
    EXPECT_EQ(place.status.reason, Reason::indeterminate) << engine << place.status.message;
  }
}

// The joint bears it alone, and the sign of what does not move is 0.
TEST(SharedLoads, BelongToTheJointThatBearsThemAlone) {
  const engines::EngineResult end = end_of(masses({"0.5 - sign(x')", "0.3 + sign(x')"}, joint(1)), "event");
  ASSERT_TRUE(end.status.ok()) << end.status.message;
  EXPECT_EQ(end.end.y[0], 0);
  EXPECT_NEAR(end.end.y[1], 0.15, 1e-9);
}

// A dry force that grows from nothing holds a load that grows more slowly, and lets go where that has caught up with it.
TEST(SlidesBornAtZero, EndWhereTheLoadIsMore) {
  const auto ramp = [](double from, double to, double a, double b) {  // x'' = a t^2 - b t from rest
    const double v0 = -(a / 3 * from * from * from - b / 2 * from * from);
    return a / 12 * (std::pow(to, 4) - std::pow(from, 4)) - b / 6 * (std::pow(to, 3) - std::pow(from, 3)) +
           v0 * (to - from);
  };
  expect_end(masses({"-t*sign(x') + 0.5*t^2"}, "", 3), {ramp(2, 3, 0.5, 1)}, "ends at 2");
  expect_end(masses({"-t*sign(x') + t^2 - 0.5*t"}, "", 3), {ramp(1.5, 3, 1, 1.5)}, "ends at 1.5");
  expect_end(masses({"-t*sign(x') - 0.5*t^2"}, "", 3), {-ramp(2, 3, 0.5, 1)}, "the other way");
  // With y held, its share of the inertia is not: x'' = F - 0.3 y'' with y'' = 0.
  const std::string shared = "0.5*x'^2 + 0.5*y'^2 + 0.3*x'*y'";
  expect_end(masses({"-t*sign(x') + 0.5*t^2", "-2*sign(y')"}, "", 3, shared), {ramp(2, 3, 0.5, 1), 0},
             "beside a slide");
  expect_end(masses({"-t*sign(x') + 0.5*t^2", "-t*sign(y') + 0.2*t^2"}, "", 2.2, shared),
             {ramp(2, 2.2, 0.5, 1), 0}, "beside a slide that begins with zero too");
}

// Closed forms cannot follow the motion on a surface of positions; they say so, and the other engine goes on.
TEST(RestsOnPlaces, AreHandedOver) {
  for (const std::vector<std::string>& forces : std::vector<std::vector<std::string>>{
           {"0.3 - sign(x)", "0.1 - 2*sign(y) - sign(y')"},
           {"0.3 - sign(x - 0.1*t^2)", "0.1 - 2*sign(y) - sign(y')"},
       }) {
    const TestModel model = masses(forces, "", 3, "0.5*x'^2 + 0.5*y'^2 + 0.3*x'*y'");
    const bool moves = forces[0].find("t^2") != std::string::npos;
    for (const char* engine : {"auto", "event"}) {
      const engines::EngineResult end = end_of(model, engine);
      ASSERT_TRUE(end.status.ok()) << engine << forces[0] << end.status.message;
      EXPECT_NEAR(end.end.y[0], moves ? 0.9 : 0, 1e-8) << engine;
      EXPECT_NEAR(end.end.y[1], 0, 1e-8) << engine;
    }
    EXPECT_EQ(end_of(model, "exact").status.reason, Reason::unsupported) << forces[0];
  }
}

}  // namespace
}  // namespace judder
