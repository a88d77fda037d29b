// What lies between the points of a step: pulses, hills, narrow places, and stiffness that only a trial of the other method shows.
//
// The right values are closed forms: areas of pulses, energies behind hills, times of flight.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

using engines::EngineResult;
using std::numbers::pi;

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}

// x'' = −ω² x + p(t)/w beside a pulse of width w about c: from c on, the area A of the pulse swings with, x = cos ωt + A/ω sin ω(t − c).
TEST(HiddenPulses, BesideAMotionThatHoldsTheStepsBack) {
  struct Pulse {
    const char* shape;  // of u
    double area;        // over u, of p(u) cos(κ u) to first order in κ²
    double spread;      // share of κ² that the area loses
  };
  const Pulse pulses[] = {{"exp(-(u)^2)", std::sqrt(pi), 0.25},
                          {"1/cosh(u)^2", 2, pi * pi / 24},
                          {"1/(1 + (u)^2)^4", 5 * pi / 16, 0.1}};
  for (const Pulse& pulse : pulses) {
    for (const double width : {1e-4, 3e-3}) {
      for (const double center : {0.777, 3.3, 5.61}) {
        for (const double omega : {1.0, 7.0}) {
          std::string shape = pulse.shape;
          const std::string u = "(t - " + number(center) + ")/" + number(width);
          shape.replace(shape.find("u"), 1, u);
          const double end = center + 3 / omega;
          TestModel model = text_model("[coordinates]\nx = { start = 1 }\n[energy]\nkinetic = \"x'^2/2\"\n" +
                                       std::string("[[force]]\nalong = \"x'\"\nvalue = \"-") +
                                       number(omega * omega) + "*x + " + number(1 / width) + "*" + shape +
                                       "\"\n[run]\nuntil = " + number(end) + "\n");
          const double swing = omega * width;
          const double area = pulse.area * (1 - pulse.spread * swing * swing);
          const double right = std::cos(omega * end) + area / omega * std::sin(3.0);
          for (const double tolerance : {1e-6, 1e-9}) {
            model.options.tolerance = tolerance;
            EXPECT_NEAR(finish(model).end.y[0], right, 100 * tolerance + std::pow(swing, 4))
                << pulse.shape << ' ' << width << ' ' << center << ' ' << omega << ' ' << tolerance;
          }
        }
      }
    }
  }
}

// z' = −z + p(t): the area decays from the pulse on.
TEST(HiddenPulses, InTheRateOfAState) {
  TestModel model = text_model(R"toml(
[state]
z = { start = 1, rate = "-z + 1/0.003*exp(-((t - 3.3)/0.003)^2)" }
[run]
until = 4.3
)toml");
  const double right = std::exp(-4.3) + std::sqrt(pi) * std::exp(-1.0 + 0.25 * 0.003 * 0.003);
  for (const double tolerance : {1e-6, 1e-9}) {
    model.options.tolerance = tolerance;
    EXPECT_NEAR(finish(model).end.y[0], right, 100 * tolerance);
  }
}

// A state that nothing has moved before: what a pulse gives is all of it. By time, and by a place that a body passes.
TEST(HiddenPulses, MoveAStateThatHasNotMoved) {
  const double fourth = 2 * std::tgamma(1.25);  // of exp(−u⁴)
  const auto moved = [](const std::string& rate, double right) {
    TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 1 }
[energy]
kinetic = "x'^2/2"
[state]
z = { start = 0, rate = ")toml" + rate +
                                 "\" }\n[run]\nuntil = 20\n");
    for (const double tolerance : {1e-6, 1e-9}) {
      model.options.tolerance = tolerance;
      EXPECT_NEAR(finish(model).end.y[2], right, 100 * tolerance * right) << rate << ' ' << tolerance;
    }
  };
  moved("exp(-((t - 3.3)/0.001)^2)", 0.001 * std::sqrt(pi));
  moved("exp(-((x - 7.3)/0.003)^4)", 0.003 * fourth);
  moved("exp(-((x - 5.1)/0.02)^2)", 0.02 * std::sqrt(pi));
}

// 1/(1 + exp(u² − 4)) overflows on the way to zero. Its area by the trapezoidal rule, which is exact for such functions.
TEST(HiddenPulses, WhoseExponentialOverflows) {
  double area = 0;
  for (int k = -4000; k <= 4000; ++k) area += 0.005 / (1 + std::exp(0.005 * k * (0.005 * k) - 4));
  TestModel model = mass_under("1/(1 + exp(((t - 5.621)/0.001)^2 - 4))");
  for (const double tolerance : {1e-6, 1e-9}) {
    model.options.tolerance = tolerance;
    EXPECT_NEAR(finish(model).end.y[1], 0.001 * area, 100 * tolerance * 0.001 * area);
  }
}

// A hill higher than the energy sends the body back with the speed it came with.
TEST(HiddenHills, SendABodyBack) {
  struct Hill {
    const char* potential;
    double until, x;
    double start = 0;  // how much higher it begins than it ends
  };
  const Hill hills[] = {
      {"2/(1 + ((x - 3.217)/0.001)^2)", 15, -8.5651, 2e-6 / (3.217 * 3.217) - 2e-6 / (11.782 * 11.782)},
      {"2/(1 + ((x - 8.413)/0.3)^20)", 20, -3.7525},
      {"tanh(100*(x - 3.217)) + 1", 15, -8.55995}};
  for (const Hill& hill : hills) {
    TestModel model =
        text_model("[coordinates]\nx = { velocity = 1 }\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"" +
                   std::string(hill.potential) + "\"\n[run]\nuntil = " + number(hill.until) + "\n");
    for (const double tolerance : {1e-6, 1e-9}) {
      model.options.tolerance = tolerance;
      const EngineResult result = finish(model);
      EXPECT_NEAR(result.end.y[0], hill.x, 1e-4) << hill.potential << ' ' << tolerance;
      EXPECT_NEAR(result.end.y[1], -std::sqrt(1 + 2 * hill.start), 100 * tolerance)
          << hill.potential << ' ' << tolerance;
    }
  }
}

// A load that is zero to the last bit at the start is none that stays zero: the brake takes N w of the kinetic energy.
TEST(HiddenHills, OfALoadThatUnderflows) {
  TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 1 }
[energy]
kinetic = "x'^2/2"
[[friction]]
name = "f"
slip = "x'"
normal = "50*exp(-((x - 5.3)/0.003)^4)"
law = "1"
[run]
until = 20
)toml");
  const double right = std::sqrt(1 - 2 * 50 * 0.003 * 2 * std::tgamma(1.25));
  for (const double tolerance : {1e-6, 1e-9}) {
    model.options.tolerance = tolerance;
    EXPECT_NEAR(finish(model).end.y[1], right, 100 * tolerance);
  }
}

// A watch and a switch that are beyond their zero within a narrow place only: x = 5.3 ∓ 0.003 (ln 2)^(1/4).
TEST(HiddenPlaces, OfWatchesAndSwitches) {
  TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 1 }
y = 0
[energy]
kinetic = "x'^2/2 + y'^2/2"
[[force]]
along = "y'"
value = "step(exp(-((x - 7.1)/0.003)^4) - 0.5)"
[[watch]]
name = "narrow"
zero = "exp(-((x - 5.3)/0.003)^4) - 0.5"
[run]
until = 20
)toml");
  const double half = 0.003 * std::pow(std::log(2.0), 0.25);
  for (const double tolerance : {1e-6, 1e-9}) {
    model.options.tolerance = tolerance;
    const simulate::Result result = simulate::simulate(model.system, model.options, "event");
    ASSERT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
    std::vector<double> times;
    for (const engines::Event& event : result.data.events) times.push_back(event.time);
    ASSERT_EQ(times.size(), 4u);
    EXPECT_NEAR(times[0], 5.3 - half, 1e-8 + tolerance);
    EXPECT_NEAR(times[1], 5.3 + half, 1e-8 + tolerance);
    EXPECT_NEAR(times[2], 7.1 - half, 1e-8 + tolerance);
    EXPECT_NEAR(times[3], 7.1 + half, 1e-8 + tolerance);
    EXPECT_NEAR(last(result, "y'"), 2 * half, 1e-8 + tolerance);
  }
}

// --- stiffness that explicit steps hide from the implicit method ---

// Steps at the limit of stability leave a transient of the size of the tolerance behind; the trial of the implicit method looks past it.
TEST(HiddenStiffness, EndsByTheDefaultMethod) {
  for (const double tolerance : {1e-6, 1e-9, 1e-11}) {
    for (const double rate : {1e6, 1e9}) {
      TestModel driven = text_model(
          "[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = \"-" +
          number(rate) + "*(x' - cos(t))\"\n[run]\nuntil = 10\n");
      driven.options.tolerance = tolerance;
      const EngineResult result = finish(driven);
      EXPECT_LT(result.steps, 20000) << tolerance << ' ' << rate;
      // x' = cos t + (sin t − e^(−rt))/r to first order.
      EXPECT_NEAR(result.end.y[0], std::sin(10.0) - (1 + std::cos(10.0) - 1) / rate,
                  1e3 * tolerance + 3 / rate);
    }
    TestModel brake = text_model(R"toml(
[coordinates]
x = { velocity = 1 }
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = "-0.3*tanh(1e8*x')"
[run]
until = 10
)toml");
    brake.options.tolerance = tolerance;
    const EngineResult result = finish(brake);
    EXPECT_NEAR(result.end.y[0], 1 / 0.6, 1e3 * tolerance + 1e-7) << tolerance;
    EXPECT_LT(result.steps, 100000) << tolerance;
  }
}

// --- formulas at the ends of their range ---

// Over a hill 0.45/cosh²(1000 (x − 4)) a body of energy 1/2 needs ln 10/1000 more than over none: ∫ cosh u/√(cosh² u − 0.9) − 1 du = ln 10.
TEST(FormulasAtTheirEnds, AHillByHyperbolicFunctionsIsPassed) {
  TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 1 }
[energy]
kinetic = "x'^2/2"
potential = "0.45/cosh(1000*(x - 4))^2"
[run]
until = 8
)toml");
  for (const double tolerance : {1e-6, 1e-9}) {
    model.options.tolerance = tolerance;
    const EngineResult result = finish(model);
    EXPECT_NEAR(result.end.y[0], 8 - std::log(10.0) / 1000, 1000 * tolerance);
    EXPECT_NEAR(result.end.y[1], 1, 100 * tolerance);
  }
}

// A step of 0.45 by 1/(1 + exp(u)), down and with exp(u) far beyond the range of numbers on one side.
TEST(FormulasAtTheirEnds, AStepByALogisticFunctionIsPassed) {
  TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 1 }
[energy]
kinetic = "x'^2/2"
potential = "0.45/(1 + exp(1000*(x - 4)))"
[run]
until = 8
)toml");
  model.options.tolerance = 1e-9;
  EXPECT_NEAR(finish(model).end.y[1], std::sqrt(1.9), 1e-7);
}

// v' = −v/|v|^p ends at rest after v^p/p, at v^(p+1)/(p+1), with p = 1 − the power that is written.
TEST(FormulasAtTheirEnds, ADragThatEndsAMotionLeavesItAtRest) {
  struct Drag {
    const char* force;
    double x;
  };
  for (const Drag& drag : {Drag{"-x'/sqrt(abs(x'))", 1 / 1.5}, Drag{"-x'*abs(x')^(-0.5)", 1 / 1.5},
                           Drag{"-x'/abs(x')^0.3", 1 / 1.3}}) {
    TestModel model = text_model(
        "[coordinates]\nx = { velocity = 1 }\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nalong = "
        "\"x'\"\nvalue = \"" +
        std::string(drag.force) + "\"\n[run]\nuntil = 10\n");
    for (const double tolerance : {1e-6, 1e-9}) {
      model.options.tolerance = tolerance;
      const EngineResult result = finish(model);
      EXPECT_NEAR(result.end.y[0], drag.x, 10 * tolerance) << drag.force;
      EXPECT_EQ(result.end.y[1], 0) << drag.force;
    }
  }
}

// atan2(0, sin 3t) is π where the sine is negative: four times π/3, and what is left of the fifth time until 10.
TEST(FormulasAtTheirEnds, AnAngleOnItsCutSwitches) {
  TestModel model = mass_under("atan2(0*t, sin(3*t))");
  for (const double tolerance : {1e-6, 1e-9}) {
    model.options.tolerance = tolerance;
    EXPECT_NEAR(finish(model).end.y[1], pi * (4 * pi / 3 + (30 - 9 * pi) / 3), 1e-10);
  }
}

}  // namespace
}  // namespace judder
