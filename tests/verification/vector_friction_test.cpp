// Friction with several slip components in motion: order of the time-stepping scheme against closed forms, and roundness.
#include <gtest/gtest.h>

#include <cmath>

#include "run_model.hpp"

namespace judder {
namespace {

struct End {
  double stop = 0;  ///< time of the last event "stick"
  double x = 0, y = 0, third = 0;
};

End end_of(const std::string& name, double step, const std::vector<std::string>& variants = {},
           const std::vector<model::Named>& set = {}) {
  TestModel model = gallery_model(name, variants, set);
  model.options.step = step;
  simulate::MemorySink sink(model.system);
  const engines::EngineResult result = simulate::run(model.system, "moreau", model.options, sink);
  EXPECT_TRUE(result.status.ok()) << result.status.message;
  End out;
  for (const engines::Event& event : sink.events) {
    if (event.kind == engines::EventKind::stick) out.stop = event.time;
  }
  const double* last = sink.cells.data() + sink.cells.size() - sink.width;
  out.x = last[1];
  out.y = last[2];
  out.third = last[3];
  return out;
}

// w = c v²: closed forms of gallery/spinning-disc, variant wide.
TEST(SpinningDisc, PathAndAngleConvergeWithTheFirstPowerOfTheStep) {
  const double path = 0.38538121344664417, angle = 8.420705448444846, stop = 0.640235555540673;
  std::vector<double> path_error, angle_error;
  for (const double step : {8e-4, 4e-4, 2e-4, 1e-4}) {
    const End end = end_of("spinning-disc", step, {"wide"});
    path_error.push_back(std::hypot(end.x, end.y) - path);
    angle_error.push_back(end.third - angle);
    EXPECT_NEAR(end.stop, stop, 1.5 * step);
  }
  EXPECT_LT(std::abs(path_error.back()), 1e-3 * path);
  EXPECT_LT(std::abs(angle_error.back()), 1e-3 * angle);
  for (std::size_t k = 1; k < path_error.size(); ++k) {
    EXPECT_NEAR(std::log2(angle_error[k - 1] / angle_error[k]), 1, 0.15) << "halving " << k;
  }
}

// ε² = J/m: the direction in (v, ε w) stays whatever the step.
TEST(SpinningDisc, SpinAndSpeedKeepTheirRatioWithTheLeverOfTheDisc) {
  TestModel model = gallery_model("spinning-disc");
  model.options.step = 1e-3;
  model.options.until = 0.79;
  simulate::MemorySink sink(model.system);
  const engines::EngineResult result = simulate::run(model.system, "moreau", model.options, sink);
  ASSERT_TRUE(result.status.ok());
  for (std::size_t row = 0; row < sink.kinds.size(); ++row) {
    const double* cells = sink.cells.data() + row * sink.width;
    EXPECT_NEAR(cells[6], 30 * std::hypot(cells[4], cells[5]), 1e-9);
  }
}

// A cone, not a pyramid: the way of the disc turns with its start.
TEST(SpinningDisc, TheDirectionOfTheStartTurnsThePathAndNothingElse) {
  const End one = end_of("spinning-disc", 1e-3, {"pressure"});
  for (const double direction : {0.0, 0.785398163397448, 2.0}) {
    const End other = end_of("spinning-disc", 1e-3, {"pressure"}, {model::Named{"dir", direction}});
    EXPECT_NEAR(std::hypot(other.x, other.y), std::hypot(one.x, one.y), 1e-11);
    EXPECT_NEAR(std::atan2(other.y, other.x), direction, 1e-11);
    EXPECT_NEAR(other.third, one.third, 1e-9);
    EXPECT_EQ(other.stop, one.stop);
  }
}

TEST(TiltingTable, TheBlockStopsWhereTheHodographEnds) {
  const double x = 0.47197257496895917, y = 0.2138987854075381, stop = 0.6914766235042756;
  std::vector<double> error;
  for (const double step : {8e-4, 4e-4, 2e-4, 1e-4}) {
    const End end = end_of("tilting-table", step);
    EXPECT_NEAR(end.stop, stop, 0.03 * stop);
    error.push_back(std::hypot(end.x - x, end.y - y));
  }
  EXPECT_LT(error.back(), 1e-3 * x);
  for (std::size_t k = 1; k < error.size(); ++k) EXPECT_NEAR(std::log2(error[k - 1] / error[k]), 1, 0.2);
}

}  // namespace
}  // namespace judder
