// What an instant with events leaves in the result: its events with their energies, and its two rows.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

/// Every event has the total energies of the two rows of its instant; `energy` is a column.
void expect_energies(const TestModel& model, const std::vector<std::string>& engines,
                     const std::vector<engines::EventKind>& kinds) {
  for (const std::string& engine : engines) {
    const simulate::Result result = simulate::simulate(model.system, model.options, engine);
    ASSERT_TRUE(result.end.status.ok()) << engine << ": " << result.end.status.message;
    const int column = result.data.column("energy");
    ASSERT_GE(column, 0);
    for (const engines::EventKind kind : kinds) {
      bool seen = false;
      for (const engines::Event& event : result.data.events) seen = seen || event.kind == kind;
      EXPECT_TRUE(seen) << engine << ": no event of kind " << engines::name(kind);
    }
    for (const engines::Event& event : result.data.events) {
      int rows = 0;
      for (std::size_t i = 0; i < result.data.rows(); ++i) {
        if (result.data.cell(i, 0) != event.time || result.data.kinds[i] == engines::RowKind::sample)
          continue;
        ++rows;
        const double energy = result.data.cell(i, static_cast<std::size_t>(column));
        const double listed =
            result.data.kinds[i] == engines::RowKind::before ? event.energy_before : event.energy_after;
        EXPECT_NEAR(listed, energy, 1e-12 * std::abs(energy))
            << engine << ": " << engines::name(event.kind) << " at " << event.time;
      }
      EXPECT_EQ(rows, 2) << engine << ": " << engines::name(event.kind) << " at " << event.time;
    }
  }
}

TEST(Instants, WatchesAndLevelsCarryTheTotalEnergy) {
  expect_energies(text_model(R"toml(
[coordinates]
x = { start = 0, velocity = 1 }
[energy]
kinetic   = "x'^2/2"
potential = "x^2/2 + 10"
[[force]]
along = "x'"
value = "0.1*floor(3*x)"
[[watch]]
name = "middle"
zero = "x - 0.5"
[run]
until = 5
[output]
columns = { energy = "x'^2/2 + x^2/2 + 10" }
)toml"),
                  {"event", "exact"}, {engines::EventKind::watch, engines::EventKind::switch_side});
}

TEST(Instants, TheEndOfSlidingCarriesTheTotalEnergy) {
  expect_energies(text_model(R"toml(
[coordinates]
x = { start = 0, velocity = 1 }
[energy]
kinetic   = "x'^2/2"
potential = "x/4 + 10"
[[force]]
along = "x'"
value = "t - 2*sign(x')"
[run]
until = 5
[output]
columns = { energy = "x'^2/2 + x/4 + 10" }
)toml"),
                  {"event", "exact"}, {engines::EventKind::slide_begin, engines::EventKind::slide_end});
}

/// A run that stops where impacts accumulate has the accumulation, whatever else happened then, and both rows of that instant.
simulate::Result expect_stop_with_its_rows(const TestModel& model, const char* engine) {
  engines::EngineOptions options = model.options;
  options.on_accumulation = engines::OnAccumulation::stop;
  simulate::Result result = simulate::simulate(model.system, options, engine);
  EXPECT_EQ(result.end.status.reason, Reason::accumulation) << engine << ": " << result.end.status.message;
  EXPECT_FALSE(result.data.events.empty());
  EXPECT_EQ(result.end.events, static_cast<long>(result.data.events.size()));
  if (result.data.events.empty() || result.data.rows() < 2) return result;
  const double stop = result.end.status.time;
  EXPECT_EQ(result.data.events.back().time, stop) << engine;
  const std::size_t rows = result.data.rows();
  EXPECT_EQ(result.data.cell(rows - 1, 0), stop) << engine;
  EXPECT_EQ(result.data.kinds[rows - 1], engines::RowKind::after) << engine;
  EXPECT_EQ(result.data.cell(rows - 2, 0), stop) << engine;
  EXPECT_EQ(result.data.kinds[rows - 2], engines::RowKind::before) << engine;
  return result;
}

// Hops of equal length shrink by e each: the tail has no length, the accumulation is part of the instant of an impact.
TEST(Instants, AStopWhereHopsOfEqualLengthEndHasItsRowAfter) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { start = 0, velocity = 1 }
[energy]
kinetic   = "x'^2/2"
potential = "x^2/2"
[[contact]]
name   = "stop"
gap    = "x"
impact = { restitution = 0.5 }
[run]
until     = 200
tolerance = 1e-6
)toml");
  for (const char* engine : {"event", "exact"}) {
    const simulate::Result result = expect_stop_with_its_rows(model, engine);
    EXPECT_EQ(result.data.events.back().kind, engines::EventKind::accumulation) << engine;
    EXPECT_EQ(last(result, "x'"), 0) << engine << ": at rest in the row after";
  }
}

// A ball comes to rest at 3 s of its first fall; another one lands on it within the tail that replaces the last hops of the first.
TEST(Instants, AnImpactThatCutsATailIsListedWhereTheRunStops) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0.5
y = { start = 4.4253125 }
[energy]
kinetic   = "x'^2/2 + y'^2/2"
potential = "x + y"
[[contact]]
name   = "first"
gap    = "x"
impact = { restitution = 0.5 }
[[contact]]
name   = "second"
gap    = "y - x"
impact = { restitution = 0.5 }
[[watch]]
name = "landing"
zero = "y"
[run]
until     = 10
tolerance = 1e-3
)toml");
  const double landing = std::sqrt(2 * 4.4253125);
  for (const char* engine : {"event", "exact"}) {
    const simulate::Result result = expect_stop_with_its_rows(model, engine);
    EXPECT_NEAR(result.end.status.time, landing, 1e-3) << engine;
    ASSERT_EQ(event_times(model.system, result.data.events, "accumulation first").size(), 1u)
        << engine << "\n"
        << event_list(model.system, result.data.events);
    EXPECT_EQ(event_times(model.system, result.data.events, "impact second").size(), 1u) << engine;
    EXPECT_EQ(event_times(model.system, result.data.events, "watch landing").size(), 1u) << engine;
    EXPECT_NEAR(last(result, "y'"), 0.5 * landing, 1e-3) << engine << ": it has bounced";
  }
}

// A ball of mass 1 under gravity 1, from rest to rest: the floor has given it the impulse of its weight. What the last hops give, which are not
// followed, is listed with their accumulation.
TEST(Instants, AnAccumulationHasTheImpulseOfTheHopsThatItReplaces) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0.5
[energy]
kinetic   = "x'^2/2"
potential = "x"
[[contact]]
name   = "floor"
gap    = "x"
impact = { restitution = 0.8 }
[run]
until     = 20
tolerance = 1e-3
)toml");
  for (const char* engine : {"event", "exact"}) {
    const simulate::Result result = simulate::simulate(model.system, model.options, engine);
    ASSERT_FALSE(result.data.events.empty());
    const engines::Event& end = result.data.events.back();
    ASSERT_EQ(end.kind, engines::EventKind::accumulation) << engine;
    EXPECT_GT(end.normal_impulse, 1e-2) << engine << ": it is worth listing";
    double impulse = 0;
    for (const engines::Event& event : result.data.events) impulse += event.normal_impulse;
    EXPECT_NEAR(impulse, end.time, 1e-6) << engine;
  }
}

// x = cos t reaches the stop at −1 with no speed, and leaves it again.
TEST(Instants, ATouchWithoutSpeedIsAGrazeAndNoImpact) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 1
[energy]
kinetic   = "x'^2/2"
potential = "x^2/2"
[[contact]]
name   = "stop"
gap    = "x + 1"
impact = 0.5
[run]
until = 5
)toml");
  for (const char* engine : {"event", "exact"}) {
    for (const double tolerance : {1e-6, 1e-8, 1e-10}) {
      model.options.tolerance = tolerance;
      const simulate::Result result = simulate::simulate(model.system, model.options, engine);
      ASSERT_EQ(event_words(model.system, result.data.events), std::vector<std::string>{"graze stop"})
          << engine << ", tolerance " << tolerance;
      const engines::Event& graze = result.data.events.front();
      EXPECT_NEAR(graze.time, 3.14159265358979, 2 * std::sqrt(tolerance)) << engine;
      EXPECT_LE(std::abs(graze.numbers[0]), 2 * tolerance) << engine;  // its depth; gaps are up to 2
    }
  }
}

// Each hop has a thousandth of the speed of the one before: the third impact is below the tolerance and ends the hopping, although two hops show no rhythm yet.
TEST(Instants, HopsThatShrinkAThousandfoldEndAtTheThird) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 1
[energy]
kinetic   = "x'^2/2"
potential = "9.81*x"
[[contact]]
name   = "floor"
gap    = "x"
impact = 0.001
[run]
until = 2
)toml");
  for (const char* engine : {"event", "exact"}) {
    const simulate::Result result = simulate::simulate(model.system, model.options, engine);
    EXPECT_EQ(event_words(model.system, result.data.events),
              (std::vector<std::string>{"impact floor", "impact floor", "accumulation floor"}))
        << engine;
    // Fall from 1 m, then hops of 2 e v/g, 2 e² v/g, …
    const double fall = std::sqrt(2 / 9.81);
    EXPECT_NEAR(result.data.events.back().time, fall * (1 + 2 * 0.001 / (1 - 0.001)), 2e-9) << engine;
    EXPECT_EQ(last(result, "x"), 0) << engine;
  }
}

// x = cos t against a stop at −1 + d: a dip is met however shallow it is, and whatever the tolerance, so that nothing but rounding is below zero.
TEST(Residuals, ADipLeavesNoGap) {
  for (const double depth : {1e-6, 1e-4, 1e-2}) {
    for (const double tolerance : {1e-3, 1e-6, 1e-10}) {
      TestModel model = text_model(R"toml(
[parameters]
d = 0
[coordinates]
x = 1
[energy]
kinetic   = "x'^2/2"
potential = "x^2/2"
[[contact]]
name = "stop"
gap  = "x + 1 - d"
[run]
until    = 5
max_step = 0.02
)toml",
                                   {{"d", depth}});
      model.options.tolerance = tolerance;
      const engines::EngineResult result = run_to_end(model);
      EXPECT_GE(result.impacts, 1) << depth << ", " << tolerance;
      EXPECT_LE(result.worst_gap, 1e-14) << depth << ", " << tolerance;
    }
  }
}

// With a fixed step nothing refuses a step that is too long for its events: the floor x = 0.2 sin(40 t) passes the body at rest at 0.1 unseen.
// The samples of the step tell how deep.
TEST(Residuals, AStepThatIsTooLongShowsInTheGap) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0.1
[energy]
kinetic = "x'^2/2"
[[contact]]
name = "floor"
gap  = "x - 0.2*sin(40*t)"
[run]
until = 6
)toml");
  model.options.step = 3;
  const double coarse = run_to_end(model).worst_gap;
  EXPECT_GT(coarse, 0.1) << "of a gap that goes from −0.1 to 0.3";
  EXPECT_LE(coarse, 0.1 / 0.3 * 1.1);
  model.options.step = 0.01;
  EXPECT_LE(run_to_end(model).worst_gap, 1e-12);
}

// Contacts that stay closed are kept at zero by projection, however loose the tolerance; every bundled run keeps its tolerance.
TEST(Residuals, ClosedContactsPenetrateByRoundingOnly) {
  TestModel bowl = text_model(R"toml(
[coordinates]
x = { start = 1, velocity = 0 }
y = 0.5
[energy]
kinetic   = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[contact]]
name = "bowl"
gap  = "y - x^2/2"
[run]
until     = 10
tolerance = 1e-4
)toml");
  const engines::EngineResult result = run_to_end(bowl);
  ASSERT_TRUE(result.status.ok()) << result.status.message;
  EXPECT_GT(result.worst_gap, 0) << "rounding of a curved gap";
  EXPECT_LE(result.worst_gap, 1e-14);
  for (const char* name :
       {"press", "bouncing-ball", "two-feet", "rocking-block", "newton-cradle", "klarbring"}) {
    const TestModel model = gallery_model(name);
    EXPECT_LE(run_to_end(model).worst_gap, model.options.tolerance) << name;
  }
}

}  // namespace
}  // namespace judder
