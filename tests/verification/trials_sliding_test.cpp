// Models that once came out wrong: fast states beside slow ones, slides that end, slides on several surfaces, switchings that accumulate. What is
// right was derived without the engines.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

using std::numbers::pi;

std::vector<double> column_of(const simulate::Result& result, const std::string& name) {
  const auto column = static_cast<std::size_t>(result.data.column(name));
  std::vector<double> out(result.data.rows());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = result.data.cell(i, column);
  return out;
}

/// The largest difference of a column to `right`, which is a function of time, over all rows behind `from`.
template <class Function>
double worst_difference(const simulate::Result& result, const std::string& column, double from,
                        Function right) {
  const std::vector<double> time = column_of(result, "t");
  const std::vector<double> value = column_of(result, column);
  double worst = 0;
  for (std::size_t i = 0; i < time.size(); ++i) {
    if (time[i] > from) worst = std::max(worst, std::abs(value[i] - right(time[i])));
  }
  return worst;
}

// --- steps that stability keeps short ---

// z = ∓1 + (z₀ ± 1) e^(−40 (t − t₀)): where the error estimate of order 8 vanishes, the samples were off by 50000 tolerances.
TEST(FastState, IsAsExactInsideItsStepsAsTheToleranceSays) {
  TestModel model = text_model(R"toml(
[coordinates]
x = { start = 0, velocity = 1 }
[state]
z = { start = 0, rate = "40*(if(t < 1.4441, 1, -1) - z)" }
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = "-3*z - 0.2*x'"
[run]
until = 8
[output]
every = 0.01
)toml");
  for (const double tolerance : {1e-6, 1e-9, 1e-11}) {
    model.options.tolerance = tolerance;
    const simulate::Result result = simulate::simulate(model.system, model.options, "event");
    ASSERT_EQ(result.end.status.reason, Reason::done);
    const double jump = 1 - std::exp(-40 * 1.4441);
    const double worst = worst_difference(
        result, "z", 1.4441, [&](double t) { return -1 + (1 + jump) * std::exp(-40 * (t - 1.4441)); });
    EXPECT_LT(worst, 60 * tolerance);
  }
}

// Two masses on a stiff damped spring: their eigenvalues go through both blind places of the estimate.
TEST(FastState, DampedPairsAgreeWithTheirClosedForm) {
  for (const char* damping : {"40", "36", "20", "10"}) {
    TestModel model = text_model(std::string(R"toml(
[coordinates]
x = { start = 0, velocity = 1 }
y = { start = 0, velocity = 0 }
[parameters]
d = )toml") + damping + R"toml(
[energy]
kinetic = "x'^2/2 + y'^2/2"
potential = "x^2/2 + 200*(y - x)^2"
[[force]]
along = "y'"
value = "-d*(y' - x') + if(t < 2, 1, -1)"
[[force]]
along = "x'"
value = "d*(y' - x')"
[run]
until = 8
[output]
every = 0.01
)toml");
    const simulate::Result right = simulate::simulate(model.system, model.options, "exact");
    ASSERT_EQ(right.end.status.reason, Reason::done);
    const std::vector<double> speed = column_of(right, "x'");
    for (const double tolerance : {1e-9, 1e-11}) {
      model.options.tolerance = tolerance;
      const simulate::Result result = simulate::simulate(model.system, model.options, "event");
      ASSERT_EQ(result.end.status.reason, Reason::done);
      std::size_t row = 0;
      ASSERT_EQ(result.data.rows(), speed.size());
      EXPECT_LT(worst_difference(result, "x'", -1, [&](double) { return speed[row++]; }), 200 * tolerance)
          << damping << ' ' << tolerance;
    }
  }
}

}  // namespace
}  // namespace judder
