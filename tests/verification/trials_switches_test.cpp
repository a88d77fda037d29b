// Models that once came out wrong: watches whose expressions switch, slips that begin without acceleration while a switch of the same velocity stands
// in a force, slides that begin and end at rest. What is right was derived without the engines.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

using std::numbers::pi;

// --- watches ---

struct Watched {
  const char* motion;
  const char* zero;
  double until;
  std::vector<std::pair<double, const char*>> right;  ///< time and direction of every event
};

const char* const kUniform =
    "[coordinates]\nx = { start = 0, velocity = 1 }\n[energy]\nkinetic = \"x'^2/2\"\n";
const char* const kBackwards =
    "[coordinates]\nx = { start = 0, velocity = -1 }\n[energy]\nkinetic = \"x'^2/2\"\n";
const char* const kCosine =
    "[coordinates]\nx = { start = 1, velocity = 0 }\n[energy]\nkinetic = \"x'^2/2\"\npotential = "
    "\"x^2/2\"\n";
const char* const kSine =
    "[coordinates]\nx = { start = 0, velocity = 1 }\n[energy]\nkinetic = \"x'^2/2\"\npotential = "
    "\"x^2/2\"\n";
const char* const kAtRest =
    "[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\n[[friction]]\nname = \"f\"\nslip = \"x'\"\nnormal "
    "= 1\nlaw = 1\n[[force]]\nalong = \"x'\"\nvalue = \"0.5*sin(7*t)\"\n";
const char* const kBall =
    "[coordinates]\nx = 1\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x\"\n[[contact]]\nname = \"c\"\ngap "
    "= \"x\"\nimpact = 1\n";
const char* const kPressed =
    "[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x*(2 + sin(t))\"\n[[contact]]\nname "
    "= \"c\"\ngap = \"x\"\nimpact = 0\n";
const char* const kRarelyASwitch =
    "[coordinates]\nx = { start = 1, velocity = 0 }\n[energy]\nkinetic = \"x'^2/2\"\npotential = "
    "\"x^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = \"if(t > 100, sign(x'), 0)\"\n";
const char* const kDrag =
    "[coordinates]\nx = { start = 1, velocity = 0 }\n[energy]\nkinetic = \"x'^2/2\"\npotential = "
    "\"x^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = \"0*abs(x')*x'\"\n";

class SwitchedWatch : public testing::TestWithParam<Watched> {};

TEST_P(SwitchedWatch, ListsItsCrossingsAndJumpsAndNothingElse) {
  const Watched& watched = GetParam();
  const std::string motion = watched.motion;
  const std::string run = "[run]\nuntil = " + std::to_string(watched.until) + "\n";
  const TestModel without = text_model(motion + run);
  TestModel model = text_model(motion + "[[watch]]\nname = \"w\"\nzero = \"" + watched.zero + "\"\n" + run);
  for (const double tolerance : {1e-6, 1e-9, 1e-11}) {
    model.options.tolerance = tolerance;
    const simulate::Result result = simulate::simulate(model.system, model.options, "event");
    ASSERT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
    std::vector<engines::Event> events;
    for (const engines::Event& event : result.data.events) {
      if (event.kind == engines::EventKind::watch) events.push_back(event);
    }
    const std::string list = event_list(model.system, result.data.events);
    ASSERT_EQ(events.size(), watched.right.size()) << tolerance << "\n" << list;
    for (std::size_t i = 0; i < events.size(); ++i) {
      EXPECT_NEAR(events[i].time, watched.right[i].first, 30 * tolerance) << list;
      EXPECT_EQ(engines::detail(model.system, events[i]), watched.right[i].second) << list;
    }
    // What else happens does not depend on the watch.
    TestModel bare = text_model(motion + run);
    bare.options.tolerance = tolerance;
    const simulate::Result alone = simulate::simulate(bare.system, bare.options, "event");
    EXPECT_EQ(alone.data.events.size(), result.data.events.size() - events.size()) << list;
    EXPECT_NEAR(last(alone, "x"), last(result, "x"), 100 * tolerance);
    EXPECT_NEAR(last(alone, "x'"), last(result, "x'"), 100 * tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(
    OfTime, SwitchedWatch,
    testing::Values(
        Watched{kUniform,
                "mod(t, 1) - 0.5",
                3,
                {{0.5, "up"}, {1, "down"}, {1.5, "up"}, {2, "down"}, {2.5, "up"}, {3, "down"}}},
        Watched{kAtRest, "floor(t) - 1.5", 3, {{2, "up"}}},
        Watched{kUniform,
                "if(mod(t, 0.8) < 0.4, 1, -1)",
                3,
                {{0.4, "down"},
                 {0.8, "up"},
                 {1.2, "down"},
                 {1.6, "up"},
                 {2, "down"},
                 {2.4, "up"},
                 {2.8, "down"}}},
        Watched{kUniform, "sign(sin(3*t))", 3, {{pi / 3, "down"}, {2 * pi / 3, "up"}}},
        Watched{kUniform, "step(t - 1.1) - 0.5", 3, {{1.1, "up"}}},
        Watched{kUniform,
                "abs(mod(t, 2) - 1) - 0.25",
                4.1,
                {{0.75, "down"}, {1.25, "up"}, {2.75, "down"}, {3.25, "up"}}},
        Watched{kUniform, "floor(mod(t, 3)/2) - 0.5", 7.5, {{2, "up"}, {3, "down"}, {5, "up"}, {6, "down"}}},
        Watched{kUniform, "x*sign(t - 1.5) - 1", 3, {{1.5, "up"}}},
        Watched{kUniform, "if(t < 1, x - 0.3, 0.3 - x)", 3, {{0.3, "up"}, {1, "down"}}},
        Watched{kAtRest, "mod(t, 1) - 0.5", 1.2, {{0.5, "up"}, {1, "down"}}}));

INSTANTIATE_TEST_SUITE_P(
    OfTheState, SwitchedWatch,
    testing::Values(
        Watched{kUniform,
                "mod(x, 1) - 0.5",
                3.2,
                {{0.5, "up"}, {1, "down"}, {1.5, "up"}, {2, "down"}, {2.5, "up"}, {3, "down"}}},
        Watched{kBackwards,
                "mod(x, 1) - 0.5",
                2.7,
                {{0.5, "down"}, {1, "up"}, {1.5, "down"}, {2, "up"}, {2.5, "down"}}},
        Watched{kUniform, "floor(2*x) - 2.5", 3, {{1.5, "up"}}},
        Watched{kUniform,
                "if(mod(x, 0.8) < 0.4, 1, -1)",
                1.7,
                {{0.4, "down"}, {0.8, "up"}, {1.2, "down"}, {1.6, "up"}}},
        Watched{kCosine, "if(x > 0.5, 1, -1)", 7, {{pi / 3, "down"}, {5 * pi / 3, "up"}}},
        Watched{kSine, "abs(x) - 0.5", 4, {{pi / 6, "up"}, {5 * pi / 6, "down"}, {7 * pi / 6, "up"}}},
        Watched{kCosine, "max(x, x') - 0.5", 7, {{pi / 3, "down"}, {7 * pi / 6, "up"}}},
        Watched{kCosine, "step(x') - 0.5", 7, {{pi, "up"}, {2 * pi, "down"}}},
        Watched{kCosine, "sign(x - 1) + 0.5", 7, {}}, Watched{kCosine, "x - 1", 7, {}},
        Watched{kCosine, "abs(x)", 7, {}}, Watched{kUniform, "abs(sin(2*t))", 7, {}},
        Watched{kUniform, "abs(sin(2*x + 0.1))", 7, {}}, Watched{kCosine, "min(x, 0)", 7, {}},
        Watched{kCosine, "max(x, 2*x)", 7, {{pi / 2, "down"}, {3 * pi / 2, "up"}}},
        Watched{
            kCosine, "x*sign(x')", 7, {{pi / 2, "up"}, {pi, "down"}, {3 * pi / 2, "up"}, {2 * pi, "down"}}},
        Watched{kCosine, "step(x + 1) - 0.5", 7, {}},
        Watched{kDrag, "sign(x')", 7, {{pi, "up"}, {2 * pi, "down"}}},
        Watched{kRarelyASwitch, "sign(x')", 7, {{pi, "up"}, {2 * pi, "down"}}},
        Watched{kBall,
                "sign(x')",
                5,
                {{std::sqrt(2.0), "up"}, {2 * std::sqrt(2.0), "down"}, {3 * std::sqrt(2.0), "up"}}},
        Watched{kPressed,
                "abs(normal(c) - 2) - 0.5",
                6,
                {{pi / 6, "up"}, {5 * pi / 6, "down"}, {7 * pi / 6, "up"}, {11 * pi / 6, "down"}}}));

// The same bits in one run and in two, cut anywhere.
TEST(SwitchedWatches, GoOnWhereARunWasCut) {
  const TestModel model =
      text_model(std::string(kCosine) +
                 "[[watch]]\nname = \"w\"\nzero = \"mod(t, 0.7) - abs(x)\"\n[[watch]]\nname = "
                 "\"u\"\nzero = \"if(x > 0.3, x', mod(t, 1) - 0.5)\"\n[run]\nuntil = 8\n");
  const simulate::Result whole = simulate::simulate(model.system, model.options, "event");
  ASSERT_TRUE(whole.end.status.ok());
  ASSERT_GT(whole.data.events.size(), 10U);
  for (const double cut : {0.35, 1.0, 2.1, 5.3}) {
    engines::EngineOptions options = model.options;
    options.until = cut;
    engines::EventEngine engine(model.system);
    simulate::MemorySink sink(model.system);
    const engines::EngineResult first = engine.run(options, sink, nullptr);
    ASSERT_TRUE(first.status.ok());
    const engines::EngineResult second = engine.run(model.options, sink, &first.end);
    ASSERT_TRUE(second.status.ok());
    ASSERT_EQ(sink.events.size(), whole.data.events.size()) << cut;
    for (std::size_t i = 0; i < whole.data.events.size(); ++i)
      EXPECT_NEAR(sink.events[i].time, whole.data.events[i].time, 1e-7) << cut;
  }
}

// --- slips that begin without acceleration, slides that begin and end at rest ---

/// A block on dry friction under a force.
std::string block(const std::string& force, const std::string& law, const std::string& slip = "x'",
                  const std::string& velocity = "0") {
  return "[coordinates]\nx = { start = 0, velocity = " + velocity +
         " }\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = \"" + force +
         "\"\n[[friction]]\nname = \"f\"\nslip = \"" + slip + "\"\nnormal = 1\nlaw = " + law + "\n";
}

std::string free_block(const std::string& force) {
  return "[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = \"" +
         force + "\"\n";
}

struct End {
  std::string model;
  double until;
  const char* column;
  double right;
  double tolerance = 1e-7;
};

class EndOfASwitch : public testing::TestWithParam<End> {};

TEST_P(EndOfASwitch, IsRightByEveryEngine) {
  const End& end = GetParam();
  TestModel model = text_model(end.model + "[run]\nuntil = " + std::to_string(end.until) + "\n");
  model.options.referee = true;
  for (const double tolerance : {1e-8, 1e-9, 1e-11}) {
    model.options.tolerance = tolerance;
    for (const std::string engine : {"event", "exact"}) {
      if (engine == "exact" && !engines::ExactEngine::unsupported(model.system).empty()) continue;
      const simulate::Result result = simulate::simulate(model.system, model.options, engine);
      if (engine == "exact" && result.end.status.reason == Reason::unsupported) continue;  // it says so
      ASSERT_EQ(result.end.status.reason, Reason::done)
          << engine << " at " << tolerance << ": " << result.end.status.message;
      EXPECT_NEAR(last(result, end.column), end.right, end.tolerance)
          << engine << " at " << tolerance << "\n"
          << event_list(model.system, result.data.events);
    }
  }
}

// v̇ = 0.5 t − 0.1 − 0.2 v from t = 0.2 on gives v = 2.5 t − 13 + 12.5 exp(−0.2 (t − 0.2)); the others likewise. The block of two switches by
// steps of 2e-5.
INSTANTIATE_TEST_SUITE_P(
    SlipsFromRest, EndOfASwitch,
    testing::Values(End{block("0.5*t - 0.2*abs(x')", "0.1"), 3, "x'", -5.5 + 12.5 * std::exp(-0.56)},
                    End{block("0.5*t - 0.2*abs(x')*sign(x')", "0.1"), 3, "x'", -5.5 + 12.5 * std::exp(-0.56)},
                    End{block("0.5*t - 0.2*abs(x' - 1)", "0.1", "x' - 1", "1"), 3, "x'",
                        -4.5 + 12.5 * std::exp(-0.56)},
                    End{block("-0.5*t - 0.3*max(0, x')", "0.1"), 3, "x'", -1.96},
                    End{block("0.5*t - 0.3*min(0, x')", "0.1"), 3, "x'", 1.96},
                    End{block("0.5*t - 0.2*sign(x')", "0.1"), 3, "x", 1.152},
                    End{block("-0.5*t - 0.2*sign(x')", "0.1"), 3, "x", -1.152},
                    End{block("0.5*t - 0.2*sign(x') - 0.3*abs(x')", "0.1"), 3, "x'",
                        5 - 59.0 / 9 + 50.0 / 9 * std::exp(-0.72)},
                    End{block("0.5*t - if(x' > 0, 0.3, 0.1)*x'", "0.1"), 3, "x'",
                        5 - 53.0 / 9 + 50.0 / 9 * std::exp(-0.84)},
                    End{block("0.5*t", "\"if(x' >= 0, 0.3, 0.6)\""), 3, "x", 1.152},
                    End{block("-0.5*t", "\"if(x' >= 0, 0.3, 0.6)\""), 3, "x", -0.486},
                    End{block("0.5*max(0, sin(4*t)) - if(abs(x') > 0.3, 0.5, 0)*sign(x')", "0.1"), 5, "x",
                        0.96618, 1e-5}));

// Rest until the force exceeds the switch; two surfaces at once; one that is rested on while the rate changes its formula (v of the last model is
// (1 − exp(−0.7 t))/0.7, and w = −(v − 1) keeps u at zero).
INSTANTIATE_TEST_SUITE_P(
    SlidesFromRest, EndOfASwitch,
    testing::Values(
        End{free_block("-2*sign(x') + t"), 4, "x'", 2}, End{free_block("-2*sign(x') + t"), 4, "x", 4.0 / 3},
        End{free_block("-2*sign(x') - t"), 4, "x'", -2},
        End{"[state]\ny = { start = 0, rate = \"t - sign(y)\" }\n", 2, "y", 0.5},
        End{"[state]\ny = { start = 0, rate = \"-t - 2*sign(y)\" }\n", 4, "y", -2},
        End{"[state]\ny = { start = 0, rate = \"t^2 - sign(y)\" }\n", 2, "y", 4.0 / 3},
        End{"[state]\ny = { start = 0, rate = \"sin(t) - 0.5*sign(y)\" }\n", 2, "y",
            std::cos(pi / 6) - std::cos(2.0) - 0.5 * (2 - pi / 6)},
        End{"[state]\nx = { start = 0, rate = \"-2*sign(x) + 0.5*t\" }\ny = { start = 0, rate = \"-sign(y) + "
            "0.5*t\" }\n",
            6, "x", 1},
        End{"[state]\nx = { start = 0, rate = \"-2*sign(x) + 0.5*t\" }\ny = { start = 0, rate = \"-sign(y) + "
            "0.5*t\" }\n",
            6, "y", 4},
        End{"[state]\nx = { start = 1, rate = \"-2*sign(x) + sign(y) + 0.3*t\" }\ny = { start = 1, rate = "
            "\"-2*sign(y) - sign(x) + 0.2*t\" }\n",
            12, "x", 6.6125},
        End{"[tables]\nf1 = { x = [0, 1, 2, 3, 4], y = [0, 0, 1, 1, 0], outside = \"zero\" }\n[state]\nu = { "
            "start = 0, "
            "rate = \"-0.5*u + w + f1(v)\" }\nv = { start = 0, rate = \"-0.7*v - 0.3*u + 1\" }\nw = { start "
            "= 0, "
            "rate = \"-3.5*w - 0.7*sign(u)\" }\n",
            1.8, "w", 1 - (1 - std::exp(-1.26)) / 0.7}));

// --- the tip of the cone, and a normal force that only touches zero ---

/// A block on the floor under a vertical force.
std::string pressed(const std::string& force, const std::string& friction,
                    const std::string& velocity = "0") {
  return "[coordinates]\nx = { start = 0, velocity = " + velocity +
         " }\ny = 0\n[energy]\nkinetic = \"x'^2/2 + y'^2/2\"\n[[force]]\nalong = \"y'\"\nvalue = \"" + force +
         "\"\n[[contact]]\nname = \"c\"\ngap = \"y\"\nimpact = 0\n" + friction;
}

struct Lifted {
  std::string model;
  double until;
  std::vector<double> right;  ///< times of lift-off
};

class LiftOff : public testing::TestWithParam<Lifted> {};

TEST_P(LiftOff, IsWhereTheNormalForceWouldPull) {
  const Lifted& lifted = GetParam();
  TestModel model = text_model(lifted.model + "[run]\nuntil = " + std::to_string(lifted.until) + "\n");
  model.options.referee = true;
  for (const double tolerance : {1e-7, 1e-9, 1e-11}) {
    model.options.tolerance = tolerance;
    const simulate::Result result = simulate::simulate(model.system, model.options, "event");
    const std::string list = event_list(model.system, result.data.events);
    ASSERT_EQ(result.end.status.reason, Reason::done) << result.end.status.message << "\n" << list;
    const std::vector<double> times = event_times(model.system, result.data.events, "lift-off c");
    ASSERT_EQ(times.size(), lifted.right.size()) << list;
    for (std::size_t i = 0; i < times.size(); ++i) EXPECT_NEAR(times[i], lifted.right[i], 1e-9) << list;
    EXPECT_TRUE(event_times(model.system, result.data.events, "slip c").empty()) << list;
  }
}

const char* const kRough = "slip = \"x'\"\nfriction = 0.4\n";
const char* const kOnABelt = "slip = \"x' - 1\"\nfriction = 0.4\n";

INSTANTIATE_TEST_SUITE_P(OfABlock, LiftOff,
                         testing::Values(Lifted{pressed("-1 + t", kRough), 2, {1}},
                                         Lifted{pressed("-2 + 2.5*sin(4*t)", kOnABelt, "1"),
                                                5,
                                                {std::asin(0.8) / 4, std::asin(0.8) / 4 + pi / 2,
                                                 std::asin(0.8) / 4 + pi, std::asin(0.8) / 4 + 3 * pi / 2}},
                                         Lifted{pressed("sin(3*t) - 1", ""), 3.5, {}},
                                         Lifted{pressed("-(t - 1)^2", kRough), 3, {}},
                                         Lifted{pressed("1.001*sin(3*t) - 1", ""),
                                                3.5,
                                                {std::asin(1 / 1.001) / 3,
                                                 (std::asin(1 / 1.001) + 2 * pi) / 3}}));

// --- laws that depend on the direction of slip ---

// The load −0.3 sin t is below the limit 0.5 against a slip backwards, and reaches the limit 0.1 forwards at π + asin(1/3); from there on v' = −0.3 sin t − 0.1.
TEST(LawByDirection, HoldsByTheLimitOfEachDirection) {
  for (const char* law : {"if(x' >= 0, 0.1, 0.5)", "if(x' > 0, 0.1, 0.5)", "if(0 < x', 0.1, 0.5)",
                          "0.3 - 0.2*sign(x')", "abs(0.2 - 0.3*sign(x'))", "if(sign(x') > 0.5, 0.1, 0.5)"}) {
    const TestModel model = text_model(
        std::string(
            "[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = "
            "\"-0.3*sin(t)\"\n[[friction]]\nname = \"j\"\nslip = \"x'\"\nnormal = 1\nlaw = \"") +
        law + "\"\n[run]\nuntil = 6\n");
    const double begins = pi + std::asin(1.0 / 3);
    const auto speed = [&](double t) { return 0.3 * (std::cos(t) - std::cos(begins)) - 0.1 * (t - begins); };
    for (const char* engine : {"event", "exact"}) {
      const simulate::Result result = simulate::simulate(model.system, model.options, engine);
      ASSERT_EQ(result.end.status.reason, Reason::done) << law << ' ' << engine << result.end.status.message;
      const std::vector<double> slips = event_times(model.system, result.data.events, "slip j");
      ASSERT_EQ(slips.size(), 1u) << law << ' ' << engine << '\n'
                                  << event_list(model.system, result.data.events);
      EXPECT_NEAR(slips[0], begins, 1e-8) << law << ' ' << engine;
      EXPECT_NEAR(last(result, "x'"), speed(6), 1e-8) << law << ' ' << engine;
    }
  }
}

// The limits are 1 and 1.05 in either direction: the body, which comes to rest at 0.43 and 0.49, is pulled back with 0.86 and 0.98.
TEST(LawByDirection, IsNotReadAtRestAsIfThereWereNoDirection) {
  const std::string motion =
      "[coordinates]\nx = { start = 0.3, velocity = 1 }\n[energy]\nkinetic = \"x'^2/2\"\npotential = "
      "\"x^2\"\n[[friction]]\nname = \"j\"\nslip = \"x'\"\n";
  for (const char* law : {"normal = 1\nlaw = \"0.9*abs(sign(x')) + 0.1\"\n",
                          "normal = \"2*abs(sign(sin(x'))) + 0.1\"\nlaw = 0.5\n"}) {
    const TestModel model = text_model(motion + law + "[run]\nuntil = 3\n");
    const double force = law[9] == '1' ? 1 : 1.05;
    // ω² = 2: a swing forward about −force/2, then one back about +force/2.
    const double first = std::sqrt((0.3 + force / 2) * (0.3 + force / 2) + 0.5) - force / 2;
    const double second = force - first;  // mirrored at +force/2
    for (const char* engine : {"event", "exact"}) {
      if (std::string(engine) == "exact" && force != 1) continue;  // sin(x') is not linear
      const simulate::Result result = simulate::simulate(model.system, model.options, engine);
      ASSERT_EQ(result.end.status.reason, Reason::done) << law << ' ' << engine << result.end.status.message;
      EXPECT_EQ(last(result, "x'"), 0) << law << ' ' << engine;
      EXPECT_NEAR(last(result, "x"), second, 1e-8) << law << ' ' << engine;
    }
  }
}

// --- runs that are taken up where something happens ---

// However near to a reversal, a switch or a whole number the first run ends, it happens once, in one run or the other.
TEST(TakenUp, WhatHappensAtTheCutHappensOnce) {
  struct Cut {
    const char* text;
    const char* column;
  };
  for (const Cut& model_of :
       {Cut{"[coordinates]\nx = { start = 1, velocity = 0.3 }\n[energy]\nkinetic = \"x'^2/2\"\npotential = "
            "\"x^2/2\"\n[[friction]]\nname = \"j\"\nslip = \"x' - 0.2*sin(3*t)\"\nnormal = 1\nlaw = "
            "0.2\n[run]\nuntil = 6\n",
            "x"},
        Cut{"[state]\nx = { start = 0.3, rate = \"cos(t)\" }\ny = { start = 0, rate = \"sign(sin(2*x) - "
            "0.7)\" "
            "}\n[run]\nuntil = 6\n",
            "y"},
        Cut{"[state]\nx = { start = 0.3, rate = \"cos(t)\" }\ny = { start = 0, rate = \"floor(3*sin(x))\" "
            "}\n[run]\nuntil = 6\n",
            "y"}}) {
    const TestModel model = text_model(model_of.text);
    for (const char* engine : {"event", "exact"}) {
      if (!simulate::engine_problem(model.system, engine).empty()) continue;
      const simulate::Result whole = simulate::simulate(model.system, model.options, engine);
      ASSERT_EQ(whole.end.status.reason, Reason::done) << whole.end.status.message;
      ASSERT_FALSE(whole.data.events.empty()) << model_of.text;
      for (const engines::Event& event : whole.data.events) {
        for (const double later : {-1e-11, -1e-13, -1e-15, 0.0, 1e-15, 1e-13, 1e-11}) {
          engines::EngineOptions first = model.options;
          first.until = event.time * (1 + later);
          simulate::NullSink sink;
          const engines::EngineResult part = simulate::run(model.system, engine, first, sink);
          const engines::EngineResult rest =
              simulate::run(model.system, engine, model.options, sink, &part.end);
          ASSERT_TRUE(rest.status.ok())
              << engine << ' ' << event.time << ' ' << later << ' ' << rest.status.message;
          EXPECT_EQ(rest.events, static_cast<long>(whole.data.events.size()))
              << engine << ' ' << event.time << ' ' << later << model_of.text;
          for (std::size_t i = 0; i < rest.end.y.size(); ++i)
            EXPECT_NEAR(rest.end.y[i], whole.end.end.y[i], 1e-8)
                << engine << ' ' << event.time << ' ' << later;
        }
      }
    }
  }
}

// x falls from 1 to −1: abs(x) comes down to zero and rises again, and its floor is 0 all the time.
TEST(Watches, AWatchOfWhatTouchesAWholeNumberDoesNotJump) {
  for (const auto& [zero, right] : std::vector<std::pair<std::string, std::vector<double>>>{
           {"floor(abs(x)) + 0.5", {}},
           {"sign(abs(x)) - 0.5", {}},
           {"floor(-abs(x)) + 0.5", {}},
           {"floor(max(x, 0)) + 0.5", {}},
           {"floor(abs(x) + 0.5) - 0.5", {0.5, 1.5}},
           {"floor(abs(x) - abs(x + 0.5)) + 0.2", {1.25}},
           {"sign(x*abs(x)) + 0.2", {1}}}) {
    const TestModel model =
        text_model("[state]\nx = { start = 1, rate = -1 }\n[[watch]]\nname = \"w\"\nzero = \"" + zero +
                   "\"\n[run]\nuntil = 1.9\n");
    const simulate::Result result = simulate::simulate(model.system, model.options, "event");
    ASSERT_EQ(result.end.status.reason, Reason::done) << zero << result.end.status.message;
    const std::vector<double> times = event_times(model.system, result.data.events, "watch w");
    ASSERT_EQ(times.size(), right.size()) << zero << '\n' << event_list(model.system, result.data.events);
    for (std::size_t i = 0; i < times.size(); ++i) EXPECT_NEAR(times[i], right[i], 1e-8) << zero;
  }
}

// Above 2^50 the steps of floor lie closer together than doubles tell apart: there is no motion to give. Below it stays as written.
TEST(WholeNumbers, ThatTheArithmeticDoesNotTellApartEndTheRun) {
  for (const char* const engine : {"event", "exact"}) {
    for (const auto& [start, reason] :
         std::vector<std::pair<std::string, Reason>>{{"1e12", Reason::done},
                                                     {"-1e12", Reason::done},
                                                     {"3e15", Reason::not_finite},
                                                     {"-3e15", Reason::not_finite},
                                                     {"1e20", Reason::not_finite},
                                                     {"-1e140", Reason::not_finite}}) {
      const TestModel model =
          text_model("[coordinates]\nx = " + start +
                     "\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = "
                     "\"mod(x, 2)\"\n[run]\nuntil = 1\n");
      const simulate::Result result = simulate::simulate(model.system, model.options, engine);
      EXPECT_EQ(result.end.status.reason, reason) << engine << ' ' << start << result.end.status.message;
    }
  }
}

}  // namespace
}  // namespace judder
