#include "judder/analysis/estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace judder::analysis {
namespace {

// A swing that hits a wall; neither flight nor impact times are polynomial, so a loose tolerance shows.
model::Compiled swing(double start) {
  model::Spec spec;
  spec.coordinates.push_back({.name = "x", .start = start});
  spec.energy.kinetic = "x'^2/2";
  spec.energy.potential = "1 - cos(x)";
  spec.contacts.push_back({.name = "wall", .gap = "x + 0.2", .impact = {.restitution = 0.8}});
  spec.output.columns = {{"status", "mode(wall)"}, {"E", "energy()"}};
  spec.run.until = 20;
  return model::compile(spec);
}

simulate::MemorySink run(const model::Compiled& compiled, double tolerance) {
  engines::EngineOptions options = engines::options_of(compiled.run);
  options.tolerance = tolerance;
  return simulate::simulate(*compiled.system, options).data;
}

TEST(Estimate, ARunDoesNotDifferFromItself) {
  const model::Compiled compiled = swing(1);
  const simulate::MemorySink data = run(compiled, 1e-6);
  const RunDifference none = difference(*compiled.system, data, data);
  EXPECT_TRUE(none.events_agree);
  EXPECT_EQ(none.events, data.events.size());
  EXPECT_GT(none.samples, 900U);
  EXPECT_EQ(none.largest_time, 0);
  ASSERT_EQ(none.columns.size(), 3U) << "x, x', E; words are left out";
  for (const ColumnDifference& column : none.columns) EXPECT_EQ(column.largest, 0) << column.name;
}

// What the second run says about the first must be what a far better run says, within a factor.
TEST(Estimate, ATenthOfTheToleranceTellsTheError) {
  const model::Compiled compiled = swing(1);
  const simulate::MemorySink loose = run(compiled, 1e-5);
  const RunDifference estimate = difference(*compiled.system, loose, run(compiled, 1e-6));
  const RunDifference truth = difference(*compiled.system, loose, run(compiled, 1e-13));
  ASSERT_TRUE(truth.events_agree);
  EXPECT_GT(truth.columns[0].largest, 1e-9) << "the loose run must have an error to find";
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_GT(estimate.columns[c].largest, truth.columns[c].largest / 3) << truth.columns[c].name;
    EXPECT_LT(estimate.columns[c].largest, truth.columns[c].largest * 3) << truth.columns[c].name;
  }
  EXPECT_GT(estimate.largest_time, truth.largest_time / 3);
  EXPECT_LT(estimate.columns[1].largest, 0.1 * estimate.columns[1].range)
      << "samples between two times of one impact do not count";
}

TEST(Estimate, SaysWhereTheEventsPartWays) {
  const model::Compiled far = swing(1);
  const model::Compiled near = swing(0.1);  // never reaches the wall
  const RunDifference apart = difference(*far.system, run(far, 1e-8), run(near, 1e-8));
  EXPECT_FALSE(apart.events_agree);
  EXPECT_EQ(apart.events, 0U);
}

}  // namespace
}  // namespace judder::analysis
