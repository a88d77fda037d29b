// What an instant with events leaves in the result: its events with their energies, and its two rows.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

/// Every event has the total energies of the two rows of its instant; `energy` is a column.
void expect_energies(const TestModel& model, const std::vector<engines::EventKind>& kinds) {
  for (const char* engine : {"event", "exact"}) {
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
        if (result.data.cell(i, 0) != event.time || result.data.kinds[i] == engines::RowKind::sample) continue;
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
                  {engines::EventKind::watch, engines::EventKind::switch_side});
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
                  {engines::EventKind::slide_begin, engines::EventKind::slide_end});
}

}  // namespace
}  // namespace judder
