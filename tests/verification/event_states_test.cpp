// Every event comes with the state behind its instant: that of the row after it, bit for bit, and the same where no such rows are asked for.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <numbers>

#include "judder/io/gallery.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

bool same_bits(const double* a, const double* b, std::size_t count) {
  return std::memcmp(a, b, count * sizeof(double)) == 0;
}

TEST(EventStates, AreThoseOfTheRowsAfterOnTheGallery) {
  std::size_t events = 0;
  for (const io::GalleryModel& listed : io::list_gallery(JUDDER_SOURCE_DIR "/gallery")) {
    const TestModel model = gallery_model(listed.name);
    const auto width = static_cast<std::size_t>(model.system.layout().integrated());
    for (const char* engine : {"event", "exact"}) {
      if (!simulate::engine_problem(model.system, engine).empty()) continue;
      engines::EngineOptions options = model.options;
      options.samples = 11;
      options.every = 0;
      options.event_rows = true;
      simulate::MemorySink rows(model.system);
      const engines::EngineResult result = simulate::run(model.system, engine, options, rows);
      ASSERT_EQ(rows.event_states.size(), rows.events.size() * width);
      std::size_t row = 0;
      for (std::size_t e = 0; e < rows.events.size(); ++e) {
        while (row < rows.rows() &&
               (rows.cell(row, 0) < rows.events[e].time || rows.kinds[row] != engines::RowKind::after))
          ++row;
        // The instant that a run cannot get over has no row after it: the state is the last one.
        const bool last = row == rows.rows();
        ASSERT_FALSE(last && result.status.ok()) << listed.name << ' ' << engine;
        ASSERT_EQ(last ? result.end.time : rows.cell(row, 0), rows.events[e].time)
            << listed.name << ' ' << engine;
        const double* const expected = last ? result.end.y.data() : &rows.cells[row * rows.width + 1];
        EXPECT_TRUE(same_bits(&rows.event_states[e * width], expected, width))
            << listed.name << ' ' << engine << " at t = " << rows.events[e].time;
      }
      options.event_rows = false;
      simulate::MemorySink none(model.system);
      static_cast<void>(simulate::run(model.system, engine, options, none));
      ASSERT_EQ(none.event_states.size(), rows.event_states.size()) << listed.name << ' ' << engine;
      EXPECT_TRUE(none.event_states.empty() ||
                  same_bits(none.event_states.data(), rows.event_states.data(), rows.event_states.size()))
          << listed.name << ' ' << engine;
      events += rows.events.size();
    }
  }
  EXPECT_GT(events, 1000U);
}

// y = 1 + cos t touches the ground at π, in the middle of a step, while x = sin t goes on.
TEST(EventStates, OfAGrazeInsideAStepAreThoseOfItsTime) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { start = 0, velocity = 1 }
y = { start = 2 }
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "(x^2 + (y - 1)^2)/2"
[[contact]]
name = "ground"
gap = "y"
impact = 1
[run]
until = 5
)toml");
  const std::pair<const char*, double> engines[] = {{"exact", 1e-14}, {"event", 1e-12}};
  for (const auto& [engine, tolerance] : engines) {
    for (const bool event_rows : {true, false}) {
      engines::EngineOptions options = model.options;
      options.event_rows = event_rows;
      options.samples = 2;
      options.tolerance = tolerance;
      simulate::MemorySink sink(model.system);
      ASSERT_TRUE(simulate::run(model.system, engine, options, sink).status.ok());
      ASSERT_EQ(sink.events.size(), 1U) << engine;
      ASSERT_EQ(sink.events[0].kind, engines::EventKind::graze);
      const double t = sink.events[0].time;
      EXPECT_NEAR(t, std::numbers::pi, 1e-5);  // a touch is dated to the root of its depth
      ASSERT_EQ(sink.event_states.size(), 4U);
      const double expected[] = {std::sin(t), 1 + std::cos(t), std::cos(t), -std::sin(t)};
      // Each of some tens of steps adds an error of the tolerance.
      for (std::size_t i = 0; i < 4; ++i)
        EXPECT_NEAR(sink.event_states[i], expected[i], 50 * tolerance) << engine << ' ' << i;
    }
  }
}

}  // namespace
}  // namespace judder
