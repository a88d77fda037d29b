// Steps of long runs, at the end of equations, of stiff states, and before an end that changes nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

using engines::EngineResult;

// --- long runs ---

TEST(StepsOfLongRuns, StickAndSlipGoOnAtEveryTolerance) {
  TestModel model = text_model(R"toml(
[coordinates]
x = { start = 0, velocity = 0.1 }
[energy]
kinetic = "x'^2/2"
potential = "5*x^2"
[[friction]]
name = "f"
slip = "x' - 0.1"
normal = 1
law = { static = 1, dynamic = 0.5 }
[run]
until = 20000
[output]
samples = 3
event_rows = false
)toml");
  const simulate::Result exact = simulate::simulate(model.system, model.options, "exact");
  for (const double tolerance : {1e-9, 1e-12, 1e-13}) {
    model.options.tolerance = tolerance;
    const simulate::Result result = run(model);
    ASSERT_TRUE(result.end.status.ok()) << result.end.status.message << " at " << result.end.status.time;
    ASSERT_EQ(result.data.events.size(), exact.data.events.size());
    EXPECT_NEAR(result.data.events.back().time, exact.data.events.back().time, 20000 * tolerance + 1e-8);
  }
}

TEST(StepsOfLongRuns, AJenkinsElementBySwitchesEndsAtOnce) {
  TestModel model = text_model(R"toml(
[coordinates]
x = { start = 0, velocity = 3 }
[state]
z = { start = 0, rate = "if((z >= 0.1 and x' > 0) or (z <= -0.1 and x' < 0), 0, x')" }
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = "-20*z + 0.3"
[run]
until = 5
max_events = 1000
[output]
samples = 6
)toml");
  // Spring to z = 0.1, a constant force of −1.7 to rest, then swings about z = 0.015 with ω² = 20.
  const double w = std::sqrt(20.0);
  const double swing = std::hypot(0.015, 3 / w);
  const double phase = std::atan2(0.015, 3 / w);
  const double slip = (std::asin((0.1 - 0.015) / swing) + phase) / w;
  const double speed = swing * w * std::cos(w * slip - phase);
  const double turn = slip + speed / 1.7;
  const double x_turn = 0.1 + speed * speed / (2 * 1.7);
  const double x_end = x_turn - 0.085 * (1 - std::cos(w * (5 - turn)));
  for (const double tolerance : {1e-9, 1e-11}) {
    model.options.tolerance = tolerance;
    const simulate::Result result = run(model);
    ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
    EXPECT_NEAR(result.end.end.y[0], x_end, 1e-6);
    EXPECT_LT(result.end.steps, 5000);
    EXPECT_LT(result.data.rows(), 2000U);
  }
}

// --- where the equations end ---

// A vessel that empties: h = (1 − t/2)² until t = 2, then nothing. However its emptiness is written, it stays empty: rest is kept where it is
// possible, also where −√|h| would let it go on below.
TEST(StepsAtTheEndOfEquations, AnEmptyVesselStaysEmpty) {
  for (const char* rate : {"if(h > 0, -sqrt(h), 0)", "if(h >= 0, -sqrt(h), 0)", "-sqrt(max(h, 0))",
                           "-sqrt(abs(h))", "-sign(h)*sqrt(abs(h))"}) {
    TestModel model = text_model(std::string("[state]\nh = { start = 1, rate = \"") + rate +
                                 "\" }\n[run]\nuntil = 3\n[output]\nsamples = 31\n");
    for (const double tolerance : {1e-6, 1e-9, 1e-11, 1e-12}) {
      model.options.tolerance = tolerance;
      const simulate::Result result = run(model);
      ASSERT_TRUE(result.end.status.ok()) << rate << ": " << result.end.status.message << " at " << tolerance;
      EXPECT_NEAR(result.end.end.y[0], 0, 1e-300) << rate << " at " << tolerance;
      const auto column = static_cast<std::size_t>(result.data.column("h"));
      for (std::size_t row = 0; row < result.data.rows(); ++row) {
        const double t = result.data.cell(row, 0);
        EXPECT_NEAR(result.data.cell(row, column), t < 2 ? (1 - t / 2) * (1 - t / 2) : 0, 100 * tolerance)
            << rate;
      }
    }
  }
}

// The same with other powers, levels, what comes in later, and as a body that √v slows down: v = (1 − t/2)², x(2) = 2/3.
TEST(StepsAtTheEndOfEquations, LevelsInflowAndSpeeds) {
  struct Vessel {
    const char* rate;
    double until, end;
  };
  for (const Vessel& vessel :
       {Vessel{"if(h > 0, -h^0.3, 0)", 5, 0}, Vessel{"if(h > 0, -h^0.9, 0)", 20, 0},
        Vessel{"if(h > 0.1, -sqrt(h - 0.1), 0)", 5, 0.1}, Vessel{"-sqrt(abs(h - 0.1))", 5, 0.1},
        // from h = 0 at t = 3 towards the balance at 0.04: t − 3 = −2 √h − 0.4 ln(1 − 5 √h)
        Vessel{"if(h > 0, -sqrt(h), 0) + if(t > 3, 0.2, 0)", 6, 0.039983720874}}) {
    TestModel model = text_model(std::string("[state]\nh = { start = 1, rate = \"") + vessel.rate +
                                 "\" }\n[run]\nuntil = 1\n");
    model.options.until = vessel.until;
    for (const double tolerance : {1e-6, 1e-9, 1e-11}) {
      model.options.tolerance = tolerance;
      EXPECT_NEAR(finish(model).end.y[0], vessel.end, 100 * tolerance + 1e-12)
          << vessel.rate << " at " << tolerance;
    }
  }
  const double root = std::sqrt(0.039983720874);
  EXPECT_NEAR(-2 * root - 0.4 * std::log(1 - 5 * root), 3, 1e-6);
  for (const char* force : {"if(x' > 0, -sqrt(x'), 0)", "-sqrt(abs(x'))"}) {
    TestModel model =
        text_model(std::string("[coordinates]\nx = { start = 0, velocity = 1 }\n[energy]\nkinetic = "
                               "\"x'^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = \"") +
                   force + "\"\n[run]\nuntil = 3\n");
    for (const double tolerance : {1e-6, 1e-9, 1e-11}) {
      model.options.tolerance = tolerance;
      const EngineResult result = finish(model);
      EXPECT_NEAR(result.end.y[0], 2.0 / 3, 100 * tolerance) << force;
      EXPECT_EQ(result.end.y[1], 0) << force;
    }
  }
}

// --- stiff chemistry ---

// Robertson's reactions: y1 falls like 1/t to 2e-8 while it began with one; values of Hairer and Wanner at t = 1e11. An error relative to what
// it has been once would be more than all of it, and where it falls below zero the motion goes away for good.
TEST(StepsOfStiffStates, RobertsonsReactionsAreRightAfterTenToTheEleven) {
  TestModel model = text_model(R"toml(
[state]
y1 = { start = 1, rate = "-0.04*y1 + 1e4*y2*y3" }
y2 = { start = 0, rate = "0.04*y1 - 1e4*y2*y3 - 3e7*y2^2" }
y3 = { start = 0, rate = "3e7*y2^2" }
[run]
until = 1e11
)toml");
  for (const double tolerance : {1e-5, 1e-6, 1e-7, 3e-8, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12}) {
    model.options.tolerance = tolerance;
    const EngineResult result = finish(model);
    const double share = std::max(1e-7, 100 * tolerance);
    EXPECT_NEAR(result.end.y[0], 2.083340149701255e-08, share * 2.08e-8) << tolerance;
    EXPECT_NEAR(result.end.y[1], 8.333360770334713e-14, share * 8.33e-14) << tolerance;
    EXPECT_NEAR(result.end.y[2], 0.9999999791665050, 1e-12 + share * 2.08e-8) << tolerance;
    EXPECT_LT(result.steps, 20000);
  }
}

// The Oregonator at t = 360 and van der Pol's equation with μ = 1000 at t = 2000: values of Hairer and Wanner.
TEST(StepsOfStiffStates, RelaxationOscillationsKeepTheirPhase) {
  TestModel oregonator = text_model(R"toml(
[state]
a = { start = 1, rate = "77.27*(b + a*(1 - 8.375e-6*a - b))" }
b = { start = 2, rate = "(c - (1 + a)*b)/77.27" }
c = { start = 3, rate = "0.161*(a - c)" }
[run]
until = 360
)toml");
  TestModel body = text_model(R"toml(
[coordinates]
x = 2
[energy]
kinetic = "x'^2/2"
potential = "x^2/2"
[[force]]
along = "x'"
value = "1000*(1 - x^2)*x'"
[run]
until = 2000
)toml");
  TestModel states = text_model(R"toml(
[state]
x = { start = 2, rate = "v" }
v = { start = 0, rate = "((1 - x^2)*v - x)/1e-6" }
[run]
until = 2
)toml");
  for (const double tolerance : {1e-6, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12}) {
    const double share = 1e4 * tolerance;
    oregonator.options.tolerance = body.options.tolerance = states.options.tolerance = tolerance;
    const EngineResult waves = finish(oregonator);
    EXPECT_NEAR(waves.end.y[0], 1.000814870318523, share) << tolerance;
    EXPECT_NEAR(waves.end.y[1], 1228.178521549917, share * 1e3) << tolerance;
    EXPECT_NEAR(waves.end.y[2], 132.0554942846706, share * 1e3) << tolerance;
    const EngineResult slow = finish(body);
    EXPECT_NEAR(slow.end.y[0], 1.706167732170483, share) << tolerance;
    EXPECT_NEAR(slow.end.y[1], -0.8928097010247975e-3, share * 1e-3) << tolerance;
    const EngineResult scaled = finish(states);
    EXPECT_NEAR(scaled.end.y[0], 1.706167732170483, share) << tolerance;
    EXPECT_NEAR(scaled.end.y[1], -0.8928097010247975, share) << tolerance;
  }
}

// --- what happens before t ---

TEST(StepsBeforeTheEnd, TheEndOfTheRunChangesNothingBeforeIt) {
  TestModel fall = text_model(R"toml(
[coordinates]
y = { start = 0.5, velocity = 1 }
[energy]
kinetic = "y'^2/2"
potential = "9.81*y"
[[contact]]
name = "floor"
gap = "y"
[run]
until = 1
)toml");
  const double contact = (1 + std::sqrt(1 + 2 * 9.81 * 0.5)) / 9.81;
  for (const double until : {1.0, 3.0, 1e3, 1e6, 2e9, 1e12}) {
    for (const long samples : {2L, 17L, 1001L}) {
      fall.options.until = until;
      fall.options.samples = samples;
      const simulate::Result result = run(fall);
      ASSERT_FALSE(result.data.events.empty());
      EXPECT_NEAR(result.data.events[0].time, contact, 1e-12) << until << ", " << samples;
    }
  }
}

TEST(StepsBeforeTheEnd, GalleryModelsHaveTheSameEventsInALongerRun) {
  for (const char* name :
       {"press", "impact-oscillator", "friction-oscillator", "rocking-block", "two-stops"}) {
    TestModel model = gallery_model(name);
    model.options.list_switches = false;
    model.options.until = std::min(model.options.until, 10.0);
    const double end = model.options.until;
    const simulate::Result first = run(model);
    for (const double factor : {1.37, 4.0}) {
      model.options.until = factor * end;
      model.options.samples = 41;
      const simulate::Result longer = run(model);
      std::size_t common = 0;
      while (common < first.data.events.size() && first.data.events[common].time < 0.999 * end) ++common;
      ASSERT_LE(common, longer.data.events.size()) << name;
      for (std::size_t k = 0; k < common; ++k) {
        ASSERT_EQ(longer.data.events[k].kind, first.data.events[k].kind) << name << " event " << k;
        ASSERT_NEAR(longer.data.events[k].time, first.data.events[k].time, 1e-6 * end)
            << name << " event " << k;
      }
    }
  }
}

// With equal rods and cranks the difference of the rods' forces, whose size the guide feels, is nothing but rounding at first. How large that is hangs on the
// last bits of every number: other heights of the crank have other ones.
TEST(StepsAtKinks, ADifferenceOfRoundingInsideAbsDoesNotHoldTheRunBack) {
  const auto mill = [](double difference, double height) {
    return gallery_model("pilger-mill", {}, {{"dl", difference}, {"dr", difference}, {"h", height}});
  };
  const TestModel nearly = mill(1e-7, 0.28);
  const EngineResult second = finish(nearly);
  for (const double height : {0.28, 0.28 * (1 + 1e-7), 0.28 * (1 - 1e-7)}) {
    const TestModel equal = mill(0, height);
    const EngineResult first = finish(equal);
    EXPECT_LT(first.steps, 2 * second.steps) << height;
    for (std::size_t i = 0; i < first.end.y.size() / 2; ++i)
      EXPECT_NEAR(first.end.y[i], second.end.y[i], 1e-6 * (1 + std::abs(second.end.y[i])))
          << i << ", " << height;
  }
}

// --- energy ---

// A fall from E = 0: the sum stays zero, and what is lost of it is measured by what has become motion.
TEST(StepsAndEnergy, TheLargestEnergyIsWhatFlows) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "x'^2/2"
potential = "-9.81*x"
[run]
until = 2
)toml");
  for (const char* engine : {"event", "exact"}) {
    simulate::NullSink sink;
    const EngineResult result = simulate::run(model.system, engine, model.options, sink);
    EXPECT_NEAR(result.largest_energy, 9.81 * 9.81 * 2, 1e-6) << engine;
    EXPECT_LT(std::abs(result.energy_imbalance), 1e-12 * result.largest_energy) << engine;
  }
}

}  // namespace
}  // namespace judder
