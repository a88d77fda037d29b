// The event engine keeps the order of its methods through events, and its tolerance means what docs/theory.md ("Tolerance") says.
//
// With fixed steps the error at the end is fitted as C h^p over many step lengths: events fall at all places within a step, so a single pair of
// lengths shows the place as much as the order. Exact ends are closed forms in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "closed_forms.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

using engines::EngineOptions;
using engines::Integrator;

struct Problem {
  std::string name;
  TestModel model;
  std::vector<Real> end;  ///< exact y at the end
  long events = 0;        ///< how many there are
};

TestModel stopped_model() {
  return text_model(R"toml(
[coordinates]
x = 1
[energy]
kinetic   = "x'^2/2"
potential = "x^2/2"
[[force]]
along = "x'"
value = "cos(2*t)"
[[contact]]
name   = "stop"
gap    = "x + 0.2"
impact = 0.8
[run]
until = 10
)toml");
}

std::vector<Problem> problems() {
  std::vector<Problem> out;
  // NOSNOC's order experiment: a switch met at t = 1 (peers.md 4).
  const Real T = std::acos(0.0L) /* π/2 */;
  const Real end = static_cast<double>(T);  // the run ends at the double nearest to it
  out.push_back({"order-test",
                 gallery_model("order-test"),
                 {std::exp(end - 1) * std::cos(2 * kPiReal * (end - 1)),
                  -std::exp(end - 1) * std::sin(2 * kPiReal * (end - 1))},
                 1});
  // Stick, slip, a load switched off, stick.
  const FrictionPad pad = friction_pad();
  out.push_back({"sdnd106", gallery_model("sdnd106"), {pad.x1, pad.x2, pad.v1, pad.v2}, -1});
  // Five reversals, stick, slip.
  const ZabugaOscillator zabuga = zabuga_oscillator();
  out.push_back({"zabuga-oscillator", gallery_model("zabuga-oscillator"), {zabuga.x, zabuga.v}, 7});
  // Impacts.
  const StoppedOscillator stopped = stopped_oscillator(static_cast<Real>(0.8), 10);
  out.push_back(
      {"impacts", stopped_model(), {stopped.x, stopped.v}, static_cast<long>(stopped.impacts.size())});
  for (Problem& problem : out) problem.model.options.samples = 2;
  return out;
}

/// Largest error of the end state relative to the running scales (docs/theory.md, "Tolerance").
double end_error(const Problem& problem, const engines::EngineResult& result) {
  Real worst = 0;
  for (std::size_t i = 0; i < problem.end.size(); ++i) {
    const Real scale = result.end.scales[i] > 0 ? result.end.scales[i] : 1;
    worst = std::max(worst, std::abs(result.end.y[i] - problem.end[i]) / scale);
  }
  return static_cast<double>(worst);
}

/// Slope of log(error) over log(h), fitted to `points` step counts from `fewest` to `most` steps.
double fitted_order(Problem& problem, double fewest, double most, int points) {
  const double span = problem.model.options.until - problem.model.options.from;
  double sx = 0;
  double sy = 0;
  double sxx = 0;
  double sxy = 0;
  for (int i = 0; i < points; ++i) {
    const double steps = fewest * std::pow(most / fewest, i / (points - 1.0));
    problem.model.options.step = span / steps;
    const engines::EngineResult result = run_to_end(problem.model);
    EXPECT_TRUE(result.status.ok()) << problem.name << ", " << steps << " steps: " << result.status.message;
    if (!result.status.ok()) return 0;
    const double x = std::log(problem.model.options.step);
    const double y = std::log(end_error(problem, result));
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  problem.model.options.step = 0;
  return (sxy - sx * sy / points) / (sxx - sx * sx / points);
}

struct Range {
  double fewest, most;
};

void expect_order(Integrator integrator, double tolerance, double order, const std::vector<Range>& ranges) {
  std::vector<Problem> all = problems();
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].model.options.integrator = integrator;
    all[i].model.options.tolerance = tolerance;
    const double found = fitted_order(all[i], ranges[i].fewest, ranges[i].most, 48);
    EXPECT_NEAR(found, order, 0.1) << all[i].name;
  }
}

TEST(EngineOrder, TheExplicitMethodOfOrderEightKeepsItThroughEvents) {
  expect_order(Integrator::explicit_only, 1e-9, 8, {{13, 63}, {34, 62}, {85, 145}, {60, 92}});
}

TEST(EngineOrder, TheExplicitMethodOfOrderFiveKeepsItThroughEvents) {
  expect_order(Integrator::explicit_only, 1e-6, 5, {{300, 700}, {100, 800}, {60, 600}, {300, 520}});
}

// The error at the end is at most a hundred times the tolerance, and a thousand times smaller tolerance gives a much smaller error.
TEST(EngineOrder, ErrorsFollowTheTolerance) {
  for (Problem& problem : problems()) {
    std::vector<double> errors;
    for (const double tolerance : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12}) {
      problem.model.options.tolerance = tolerance;
      const engines::EngineResult result = run_to_end(problem.model);
      ASSERT_TRUE(result.status.ok()) << result.status.message;
      const double error = end_error(problem, result);
      EXPECT_LE(error, 100 * tolerance) << problem.name << " at " << tolerance;
      errors.push_back(error);
    }
    for (std::size_t i = 3; i < errors.size(); ++i) {
      EXPECT_LT(errors[i], std::max(0.2 * errors[i - 3], 1e-13))
          << problem.name << ", tolerance number " << i;
    }
  }
}

TEST(EngineOrder, EventsAreTheSameAtEveryTolerance) {
  for (Problem& problem : problems()) {
    if (problem.events < 0) continue;
    for (const double tolerance : {1e-4, 1e-7, 1e-10, 1e-13}) {
      problem.model.options.tolerance = tolerance;
      problem.model.options.list_switches = problem.name == "order-test";
      EXPECT_EQ(run_to_end(problem.model).events, problem.events) << problem.name << " at " << tolerance;
    }
  }
}

}  // namespace
}  // namespace judder
