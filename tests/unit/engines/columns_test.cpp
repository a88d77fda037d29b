// Output columns at switches: a row shows the side that the motion is on, not the one that rounding of the state suggests.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "run_model.hpp"

namespace judder::engines {
namespace {

TestModel body(const std::string& force, const std::string& column, const std::string& start = "0") {
  return text_model(R"toml(
[coordinates]
x = { velocity = ")toml" +
                    start + R"toml(" }
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = ")toml" + force +
                    R"toml("
[run]
until = 2
[output]
samples = 9
[output.columns]
F = ")toml" + column +
                    R"toml("
)toml");
}

class Columns : public testing::TestWithParam<const char*> {};

TEST_P(Columns, ShowBothSidesOfASwitchAtItsInstant) {
  const TestModel model = body("if(t < 0.7, 1, 5)", "if(t < 0.7, 1, 5)");
  const simulate::Result result = simulate::simulate(model.system, model.options, GetParam());
  int before = 0;
  int after = 0;
  const auto f = static_cast<std::size_t>(result.data.column("F"));
  for (std::size_t row = 0; row < result.data.rows(); ++row) {
    const double time = result.data.cell(row, 0);
    if (result.data.kinds[row] == RowKind::before) {
      EXPECT_EQ(time, 0.7);
      EXPECT_EQ(result.data.cell(row, f), 1);
      ++before;
    } else if (result.data.kinds[row] == RowKind::after) {
      EXPECT_EQ(time, 0.7);
      EXPECT_EQ(result.data.cell(row, f), 5);
      ++after;
    } else {
      EXPECT_EQ(result.data.cell(row, f), time < 0.7 ? 1 : 5) << time;
    }
  }
  EXPECT_EQ(before, 1);
  EXPECT_EQ(after, 1);
}

// ẍ = sin t − 3 sign ẋ from ẋ = 1: ẋ = 2 − cos t − 3 t falls to zero at t = 0.354 and stays there; the mean of the sign is then sin(t)/3.
TEST_P(Columns, ShowTheMeanOfBothSidesWhileTheMotionSlidesBetweenThem) {
  const TestModel model = body("sin(t) - 3*sign(x')", "sign(x')", "1");
  const simulate::Result result = simulate::simulate(model.system, model.options, GetParam());
  const auto f = static_cast<std::size_t>(result.data.column("F"));
  int sliding = 0;
  for (std::size_t row = 0; row < result.data.rows(); ++row) {
    if (result.data.kinds[row] != RowKind::sample) continue;
    const double time = result.data.cell(row, 0);
    const bool rests = 2 - std::cos(time) - 3 * time < 0;
    sliding += rests ? 1 : 0;
    EXPECT_NEAR(result.data.cell(row, f), rests ? std::sin(time) / 3 : 1, 1e-15) << time;
  }
  EXPECT_GT(sliding, 4);
}

// A switch that only the column has follows from its value.
TEST_P(Columns, JudgeByValueWhatIsNoSwitchOfTheMotion) {
  const TestModel model = body("1", "if(x > 0.5, 2, 3)");
  const simulate::Result result = simulate::simulate(model.system, model.options, GetParam());
  const auto f = static_cast<std::size_t>(result.data.column("F"));
  for (std::size_t row = 0; row < result.data.rows(); ++row)
    EXPECT_EQ(result.data.cell(row, f), result.data.cell(row, 1) > 0.5 ? 2 : 3);
}

INSTANTIATE_TEST_SUITE_P(BothEngines, Columns, testing::Values("event", "exact"));

}  // namespace
}  // namespace judder::engines
