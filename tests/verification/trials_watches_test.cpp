// Watches of one direction beside other events: what ends a step must not fire a watch whose zero lies elsewhere in the step.
//
// The watches are functions of time alone, whatever moves beside them: their zeros are closed forms, and nothing else may be listed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

using std::numbers::pi;

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}

std::string short_number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", x);
  return text;
}

/// A watch and the times of its events.
struct Watched {
  std::string name;
  std::string zero;
  std::string direction;
  std::vector<double> times;
};

/// A name of the language: "sin_0_4_up".
std::string name_of(std::string text) {
  for (char& c : text) {
    if (c == '.' || c == ' ') c = '_';
  }
  return text;
}

/// sin(ω t + φ), which is zero where ω t + φ = n π: upwards for even n.
Watched sine(double omega, double phase, const std::string& direction, double until) {
  Watched out{name_of("sin " + short_number(omega) + " " + short_number(phase) + " " + direction),
              "sin(" + number(omega) + "*t + " + number(phase) + ")",
              direction,
              {}};
  for (int n = 0; (n * pi - phase) / omega < until; ++n) {
    const double time = (n * pi - phase) / omega;
    const bool even = n % 2 == 0;
    if (time > 0 && (direction == "both" || even == (direction == "up"))) out.times.push_back(time);
  }
  return out;
}

std::string text_of(const std::vector<Watched>& watches) {
  std::string out;
  for (const Watched& watch : watches)
    out += "[[watch]]\nname = \"" + watch.name + "\"\nzero = \"" + watch.zero + "\"\ndirection = \"" +
           watch.direction + "\"\n";
  return out;
}

/// The events of each watch are those at its times, and no others.
void expect_times(const TestModel& model, const std::vector<Watched>& watches, const std::string& what) {
  const simulate::Result result = run(model);
  ASSERT_TRUE(result.end.status.ok()) << what << ": " << result.end.status.message;
  for (const Watched& watch : watches) {
    const std::vector<double> times = event_times(model.system, result.data.events, "watch " + watch.name);
    std::string listed;
    for (const double time : times) listed += number(time) + " ";
    EXPECT_EQ(times.size(), watch.times.size()) << what << ", " << watch.name << ": " << listed;
    for (std::size_t i = 0; i < std::min(times.size(), watch.times.size()); ++i)
      EXPECT_NEAR(times[i], watch.times[i], 1e-8) << what << ", " << watch.name;
  }
}

/// Many directions, speeds and phases.
std::vector<Watched> sines(double until) {
  std::vector<Watched> out;
  for (const double omega : {0.31, 1.0, 4.3}) {
    for (const double phase : {0.0, 1.9, 3.3}) {
      for (const char* direction : {"up", "down", "both"})
        out.push_back(sine(omega, phase, direction, until));
    }
  }
  return out;
}

/// Motions with impacts, lift-offs, slips and switches, with steps that are much longer than the time between events.
struct Beside {
  const char* name;
  const char* model;
};

const Beside kBeside[] = {
    {"a shaken table and a ceiling that moves", R"toml(
[coordinates]
y = { start = 0, velocity = 1 }
[energy]
kinetic = "y'^2/2"
potential = "0.15*y"
[[contact]]
name = "table"
gap = "y - sin(t)"
[[contact]]
name = "ceiling"
gap = "0.25 - y + sin(t)"
)toml"},
    {"a bouncing mass", R"toml(
[coordinates]
y = 0.4
[energy]
kinetic = "y'^2/2"
potential = "0.2*y"
[[contact]]
name = "floor"
gap = "y"
impact = 0.9
)toml"},
    {"a mass on a soft spring between walls", R"toml(
[coordinates]
x = { start = 0, velocity = 0.9 }
[energy]
kinetic = "x'^2/2"
potential = "x^2/50 + x^4/400"
[[contact]]
name = "left"
gap = "x + 0.6"
impact = 0.95
[[contact]]
name = "right"
gap = "0.7 - x"
impact = 0.97
)toml"},
    {"a mass that slips and sticks", R"toml(
[coordinates]
x = 0
[energy]
kinetic = "x'^2/2"
potential = "x^2/20"
[[friction]]
name = "belt"
slip = "x' - 0.3"
normal = 1
law = { static = 0.2, dynamic = 0.1 }
)toml"},
};

TEST(WatchesBesideEvents, OfOneDirectionFireAtTheirOwnZerosOnly) {
  const double until = 20;
  const std::vector<Watched> watches = sines(until);
  for (const Beside& beside : kBeside) {
    // All together, whose events shorten each other's steps, and each alone.
    for (std::size_t alone = 0; alone <= watches.size(); ++alone) {
      const std::vector<Watched> these =
          alone < watches.size() ? std::vector<Watched>{watches[alone]} : watches;
      TestModel model = text_model(beside.model + text_of(these) + "[run]\nuntil = " + number(until) + "\n");
      for (const double tolerance : {1e-9, 1e-11}) {
        model.options.tolerance = tolerance;
        expect_times(model, these, beside.name + std::string(", ") + number(tolerance));
      }
    }
  }
}

// Steps of the stiff method, and lengths that do not adapt.
TEST(WatchesBesideEvents, FireAtTheirOwnZerosWithEveryKindOfStep) {
  const double until = 20;
  const std::vector<Watched> watches = sines(until);
  for (const Beside& beside : kBeside) {
    for (std::size_t alone = 0; alone <= watches.size(); ++alone) {
      const std::vector<Watched> these =
          alone < watches.size() ? std::vector<Watched>{watches[alone]} : watches;
      TestModel model = text_model(beside.model + text_of(these) + "[run]\nuntil = " + number(until) + "\n");
      model.options.integrator = engines::Integrator::stiff;
      expect_times(model, these, beside.name + std::string(", stiff"));
      model.options.integrator = engines::Integrator::automatic;
      model.options.max_step = 0.45;
      expect_times(model, these, beside.name + std::string(", short steps"));
    }
  }
}

// An impact at the very instant at which a watch passes zero the other way: y = 1 − t²/2, and its time is √2.
TEST(WatchesBesideEvents, AnUnwantedZeroAtAnImpactIsNone) {
  const double impact = std::sqrt(2.0);
  const double until = 10;
  for (const double omega : {0.6, 1.0, 2.0, 3.7}) {
    for (const char* direction : {"up", "down", "both"}) {
      for (const double turns : {0.0, 1.0, 2.0, 3.0}) {
        const double phase = turns * pi - omega * impact;
        Watched watch = sine(omega, phase, direction, until);
        // The zeros before are those of negative n.
        watch.times.clear();
        for (int n = -20; n < 60; ++n) {
          const double time = impact + n * pi / omega;
          const bool up = (n + static_cast<int>(turns)) % 2 == 0;
          if (time > 0 && time < until &&
              (direction == std::string("both") || up == (direction == std::string("up"))))
            watch.times.push_back(time);
        }
        watch.name = "w";
        TestModel model = text_model(R"toml(
[coordinates]
y = 1
[energy]
kinetic = "y'^2/2"
potential = "y"
[[contact]]
name = "floor"
gap = "y"
impact = 0.8
)toml" + text_of({watch}) +
                                     "[run]\nuntil = " + number(until) + "\non_accumulation = \"finish\"\n");
        for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
          model.options.tolerance = tolerance;
          expect_times(model, {watch}, number(omega) + " " + direction + " " + number(turns));
        }
      }
    }
  }
}

// Poles have no zeros, and what is small for long is not at its zero yet.
TEST(WatchesBesideEvents, PolesAndSmallValuesAreNoZeros) {
  const double until = 12;
  std::vector<Watched> watches;
  for (const double early : {0.001, 0.01, 0.3, 1.2, 2.2, 3.7})
    watches.push_back({name_of("at " + short_number(early)), "t - " + number(early), "up", {early}});
  watches.push_back({"tangent_up", "tan(t)", "up", {pi, 2 * pi, 3 * pi}});
  watches.push_back({"tangent_down", "tan(t)", "down", {}});
  watches.push_back({"pole_up", "1/sin(t)", "up", {}});
  watches.push_back({"pole_down", "1/sin(t)", "down", {}});
  watches.push_back({"soft", "t^6*(11 - t)", "down", {11}});
  watches.push_back({"softer", "t^9*(11 - t)", "down", {11}});
  watches.push_back({"soft_up", "t^6*(11 - t)", "up", {}});
  watches.push_back({"between", "(t - 2)*(t - 5)*(t - 10)", "up", {2, 10}});
  watches.push_back({"between_down", "(t - 2)*(t - 5)*(t - 10)", "down", {5}});
  watches.push_back({"twice", "(t - 2)^2*(t - 5)", "up", {5}});
  watches.push_back({"parabola_up", "(t - 2)*(t - 9)", "up", {9}});
  watches.push_back({"parabola_down", "(t - 2)*(t - 9)", "down", {2}});
  for (const Beside& beside : kBeside) {
    TestModel model = text_model(beside.model + text_of(watches) + "[run]\nuntil = " + number(until) + "\n");
    for (const double tolerance : {1e-7, 1e-9, 1e-11}) {
      model.options.tolerance = tolerance;
      expect_times(model, watches, beside.name + std::string(", ") + number(tolerance));
    }
  }
}

// The end of a run by a watch, and the part of a run that another goes on from.
TEST(WatchesBesideEvents, ARunEndsAtTheWatchAndNotBefore) {
  for (const Beside& beside : kBeside) {
    for (const double phase : {0.0, 1.0, 2.0, 4.0}) {
      Watched watch = sine(1, phase, "up", 40);
      watch.name = "w";
      TestModel model = text_model(beside.model + text_of({watch}) + "stop = 2\n[run]\nuntil = 40\n");
      const engines::EngineResult result = run_to_end(model);
      EXPECT_EQ(result.status.reason, Reason::watch) << beside.name;
      ASSERT_GE(watch.times.size(), 2U);
      EXPECT_NEAR(result.status.time, watch.times[1], 1e-8) << beside.name << ' ' << phase;
    }
  }
}

}  // namespace
}  // namespace judder
