// Works: watches that read them, rows between steps, and what a massless node does while it jumps. What is right are closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "run_model.hpp"

namespace judder {
namespace {

constexpr engines::Integrator kMethods[] = {engines::Integrator::explicit_only, engines::Integrator::stiff};

/// The times of one watch.
std::vector<double> times_of(const TestModel& model, const simulate::Result& result,
                             const std::string& watch) {
  std::vector<double> out;
  for (const engines::Event& event : result.data.events) {
    if (event.kind == engines::EventKind::watch && model.system.watches()[event.place].name == watch)
      out.push_back(event.time);
  }
  return out;
}

const char* const kSlowingDown =
    "[coordinates]\nx = { velocity = 1 }\n[energy]\nkinetic = \"x'^2/2\"\n"
    "[[friction]]\nname = \"f\"\nslip = \"x'\"\nnormal = 0.1\nlaw = 1\n";

/// v = 1 − t/10: D = (1 − v²)/2.
double time_of_work(double work) { return 10 * (1 - std::sqrt(1 - 2 * work)); }

TEST(WatchesOnWorks, EndARunAtTheirZero) {
  const TestModel model =
      text_model(std::string(kSlowingDown) +
                 "[[watch]]\nname = \"worn\"\nzero = \"dissipated(f) - 0.1\"\nstop = true\n[run]\nuntil = 9\n"
                 "[output]\ncolumns = { D = \"dissipated(f)\" }\n");
  for (const engines::Integrator method : kMethods) {
    engines::EngineOptions options = model.options;
    options.integrator = method;
    const simulate::Result result = simulate::simulate(model.system, options, "event");
    EXPECT_EQ(result.end.status.reason, Reason::watch);
    EXPECT_NEAR(result.end.status.time, time_of_work(0.1), 1e-9);
    EXPECT_NEAR(last(result, "D"), 0.1, 1e-12);
  }
}

// Without a single output column, and inside switches and products.
TEST(WatchesOnWorks, AreFollowedInsideFormulas) {
  const TestModel model =
      text_model(std::string(kSlowingDown) +
                 "[[watch]]\nname = \"if\"\nzero = \"if(dissipated(f) > 0.1, 1, -1)\"\n"
                 "[[watch]]\nname = \"max\"\nzero = \"max(dissipated(f), 0.2) - 0.25\"\n"
                 "[[watch]]\nname = \"balance\"\nzero = \"balance() - dissipated(f) + 0.3\"\n"
                 "[[watch]]\nname = \"product\"\nzero = \"x*dissipated(f) - 0.3\"\n[run]\nuntil = 9\n");
  for (const engines::Integrator method : kMethods) {
    engines::EngineOptions options = model.options;
    options.integrator = method;
    const simulate::Result result = simulate::simulate(model.system, options, "event");
    const auto once = [&](const std::string& watch, double time) {
      const std::vector<double> times = times_of(model, result, watch);
      ASSERT_EQ(times.size(), 1U) << watch;
      EXPECT_NEAR(times[0], time, 1e-8) << watch;
    };
    once("if", time_of_work(0.1));
    once("max", time_of_work(0.25));
    once("balance", time_of_work(0.3));
    once("product", 10 * (1 - std::sqrt(1 - 0.2 * std::sqrt(3.0))));  // D = x/10
  }
}

// A belt: S = 0.2 t, D = 0.1 t − 0.005 t².
TEST(WatchesOnWorks, OfDrivesAreFollowed) {
  const TestModel model = text_model(
      "[coordinates]\nx = { velocity = 1 }\n[energy]\nkinetic = \"x'^2/2\"\n"
      "[[friction]]\nname = \"f\"\nslip = \"x' - 2\"\nnormal = 0.1\nlaw = 1\n"
      "[[watch]]\nname = \"d\"\nzero = \"dissipated(f) - 0.05\"\n"
      "[[watch]]\nname = \"s\"\nzero = \"supplied(f) - 0.1\"\n[run]\nuntil = 5\n");
  const simulate::Result result = run(model);
  ASSERT_EQ(result.data.events.size(), 2U);
  EXPECT_NEAR(result.data.events[0].time, 0.5, 1e-10);
  EXPECT_NEAR(result.data.events[1].time, 10 * (1 - std::sqrt(0.9)), 1e-10);
  // The work is an integral of products: no row of a linear system, and refused with that reason.
  EXPECT_FALSE(model.system.linear().reason.empty());
}

// An impact makes a work jump, in a flight that does none.
TEST(WatchesOnWorks, JumpWithAnImpact) {
  const TestModel model = text_model(
      "[coordinates]\ny = 1\n[energy]\nkinetic = \"y'^2/2\"\npotential = \"10*y\"\n"
      "[[contact]]\nname = \"floor\"\ngap = \"y\"\nimpact = 0.5\n"
      "[[watch]]\nname = \"w\"\nzero = \"dissipated(floor) - 8\"\n"
      "[[watch]]\nname = \"late\"\nzero = \"dissipated(floor) - 9*t\"\n[run]\nuntil = 1.1\n");
  const simulate::Result result = run(model);
  const double fall = std::sqrt(0.2);
  const std::vector<double> jumps = times_of(model, result, "w");
  ASSERT_EQ(jumps.size(), 1U);  // D = 7.5, then 9.375
  EXPECT_NEAR(jumps[0], 2 * fall, 1e-12);
  const std::vector<double> crossings = times_of(model, result, "late");
  ASSERT_EQ(crossings.size(),
            4U);  // up with an impact, down at 7.5 = 9 t, up with an impact, down at 9.375 = 9 t
  EXPECT_NEAR(crossings[0], fall, 1e-12);
  EXPECT_NEAR(crossings[1], 7.5 / 9, 1e-10);
  EXPECT_NEAR(crossings[2], 2 * fall, 1e-12);
  EXPECT_NEAR(crossings[3], 9.375 / 9, 1e-10);
}

// Rows lie between steps: D = ∫ 0.3 v² along an oscillation that is known.
TEST(RowsOfWorks, AreAsExactAsPositions) {
  const TestModel model = text_model(
      "[coordinates]\nx = { velocity = 1 }\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"2*x^2\"\n"
      "dissipation = \"0.3*x'^2/2\"\n[run]\nuntil = 10\n"
      "[output]\nsamples = 997\ncolumns = { D = \"dissipated(dissipation)\" }\n");
  for (const engines::Integrator method : kMethods) {
    engines::EngineOptions options = model.options;
    options.integrator = method;
    const simulate::Result result = simulate::simulate(model.system, options, "event");
    const double damping = 0.15;
    const double omega = std::sqrt(4 - damping * damping);
    const int column = result.data.column("D");
    for (std::size_t row = 0; row < result.data.rows(); ++row) {
      const double t = result.data.cell(row, 0);
      const double fade = std::exp(-damping * t);
      const double x = fade * std::sin(omega * t) / omega;
      const double v = fade * (std::cos(omega * t) - damping / omega * std::sin(omega * t));
      EXPECT_NEAR(result.data.cell(row, static_cast<std::size_t>(column)), 0.5 - (0.5 * v * v + 2 * x * x),
                  3e-9)
          << t;
    }
  }
}

}  // namespace
}  // namespace judder
