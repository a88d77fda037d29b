// Works: watches that read them, rows between steps, and what a massless node does while it jumps. What is right are closed forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

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

/// The largest entry of a column.
double largest(const simulate::Result& result, const char* column) {
  const int at = result.data.column(column);
  double most = 0;
  for (std::size_t row = 0; row < result.data.rows(); ++row)
    most = std::max(most, std::abs(result.data.cell(row, static_cast<std::size_t>(at))));
  return most;
}

/// A run whose every jump the referee finds in balance.
simulate::Result judged(const TestModel& model) {
  simulate::Result result = simulate::simulate(model.system, model.options, "event");
  EXPECT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
  EXPECT_TRUE(result.end.verdict.judged);
  for (const Finding& finding : result.end.verdict.findings) ADD_FAILURE() << simulate::finding_text(finding);
  return result;
}

// A spring of stiffness 4 pulls the node: 0.4 long at t = 2, where the limit falls from 2.5 to 0.5. The node jumps to 0.4 − 0.5/4 = 0.275, and follows by 0.4 more.
TEST(JumpsOfMasslessNodes, WorkAgainstTheLimitOfTheirFriction) {
  const TestModel model = text_model(
      "[coordinates]\nx = { velocity = 0.2 }\np = { massless = true, start = 0 }\n"
      "[energy]\nkinetic = \"x'^2/2\"\npotential = \"4*(p - x)^2/2\"\n"
      "[[constraint]]\nname = \"drive\"\nzero = \"x - 0.2*t\"\n"
      "[[friction]]\nname = \"f\"\nslip = \"p'\"\nnormal = \"if(t < 2, 5, 1)\"\nlaw = 0.5\n[run]\nuntil = 4\n"
      "[output]\ncolumns = { b = \"balance()\", D = \"dissipated(f)\", J = \"dissipated(jump)\" }\n");
  const simulate::Result result = judged(model);
  EXPECT_NEAR(last(result, "D"), 0.5 * (0.275 + 0.4), 1e-9);
  EXPECT_NEAR(last(result, "J"), (0.32 - 0.03125) - 0.5 * 0.275, 1e-9);
  EXPECT_LT(largest(result, "b"), 1e-9);
}

// A force of 1 comes at once on a node between springs of stiffness 2 and 1: it moves by 1/3, with friction 0.3 by 0.7/3.
TEST(JumpsOfMasslessNodes, TakeTheWorkOfTheForceThatJumps) {
  const std::string text =
      "[coordinates]\nx = 0\np = { massless = true, start = 0 }\n"
      "[energy]\nkinetic = \"x'^2/2\"\npotential = \"2*(p - x)^2/2 + p^2/2\"\n"
      "[[force]]\nname = \"F\"\nalong = \"p'\"\nvalue = \"if(t < 1, 0, 1)\"\n";
  const std::string end =
      "[run]\nuntil = 1.0001\n[output]\ncolumns = { b = \"balance()\", S = \"supplied(F)\", J = "
      "\"dissipated(jump)\"";
  {
    const TestModel model = text_model(text + end + " }\n");
    const simulate::Result result = judged(model);
    EXPECT_NEAR(last(result, "S"), 1.0 / 3, 1e-7);  // and what x moves in the rest of the time
    EXPECT_NEAR(last(result, "J"), 1.0 / 6, 1e-9);
    EXPECT_LT(largest(result, "b"), 1e-9);
    ASSERT_EQ(result.data.events.size(), 1U);
    EXPECT_EQ(result.data.events[0].energy_before, 0);
    EXPECT_NEAR(result.data.events[0].energy_after, 1.0 / 6, 1e-12);
  }
  const TestModel model =
      text_model(text + "[[friction]]\nname = \"f\"\nslip = \"p'\"\nnormal = 1\nlaw = 0.3\n" + end +
                 ", D = \"dissipated(f)\" }\n");
  const simulate::Result result = judged(model);
  const double way = 0.7 / 3;
  EXPECT_NEAR(last(result, "S"), way, 1e-7);
  EXPECT_NEAR(last(result, "D"), 0.3 * way, 1e-7);
  EXPECT_NEAR(last(result, "J"), way - 0.3 * way - 1.5 * way * way, 1e-9);
  EXPECT_LT(largest(result, "b"), 1e-9);
}

// A force that depends on the place, over a kink: ∫ (1 − p − max(0, p − 0.1)) dp up to p + p + (p − 0.1) = 1.
TEST(JumpsOfMasslessNodes, AddUpForcesAlongTheWay) {
  const TestModel model = text_model(
      "[coordinates]\nx = 0\np = { massless = true, start = 0 }\n"
      "[energy]\nkinetic = \"x'^2/2\"\npotential = \"p^2/2\"\n"
      "[[force]]\nname = \"F\"\nalong = \"p'\"\nvalue = \"if(t < 1, 0, 1) - p - max(0, p - 0.1)\"\n"
      "[run]\nuntil = 2\n[output]\ncolumns = { b = \"balance()\", S = \"supplied(F)\", J = "
      "\"dissipated(jump)\" }\n");
  const simulate::Result result = judged(model);
  const double p = 1.1 / 3;
  const double work = p - p * p / 2 - (p - 0.1) * (p - 0.1) / 2;
  EXPECT_NEAR(last(result, "p"), p, 1e-12);
  EXPECT_NEAR(last(result, "S"), work, 1e-4);  // the kink lies within a panel of the quadrature
  EXPECT_NEAR(last(result, "J"), work - p * p / 2, 1e-4);
  EXPECT_LT(largest(result, "b"), 1e-12);
}

// The limit of f falls from 2 to 0.5 where x passes 0.4: what is decided by x keeps its new side along the whole jump. The spring is 0.4 long, and 0.125 behind it.
TEST(JumpsOfMasslessNodes, HaveTheLimitBehindASwitchOfTheState) {
  const TestModel model = text_model(
      "[coordinates]\nx = { velocity = 1 }\np = { massless = true, start = 0 }\n"
      "[energy]\nkinetic = \"x'^2/2\"\npotential = \"4*(p - x)^2/2\"\n"
      "[[friction]]\nname = \"f\"\nslip = \"p'\"\nnormal = \"if(x > 0.4, 1, 4)\"\nlaw = 0.5\n[run]\nuntil = "
      "0.6\n"
      "[output]\ncolumns = { b = \"balance()\", D = \"dissipated(f)\", J = \"dissipated(jump)\" }\n");
  const simulate::Result result = judged(model);
  const double way = 0.4 - 0.125;
  EXPECT_NEAR(last(result, "J"), 2 * 0.4 * 0.4 - 2 * 0.125 * 0.125 - 0.5 * way, 1e-8);
  EXPECT_NEAR(last(result, "D"), 0.5 * last(result, "p"), 1e-8);
  EXPECT_LT(largest(result, "b"), 1e-8);
}

// q = (2/3) sin t between two springs.
TEST(AccelerationsOfMasslessCoordinates, FollowFromTheBalance) {
  const TestModel model = text_model(
      "[coordinates]\nq = { massless = true }\n[energy]\npotential = \"2*(q - sin(t))^2/2 + q^2/2\"\n"
      "[run]\nuntil = 3\n[output]\ncolumns = { a = \"q''\" }\n");
  const simulate::Result result = run(model);
  const int column = result.data.column("a");
  for (std::size_t row = 0; row < result.data.rows(); ++row)
    EXPECT_NEAR(result.data.cell(row, static_cast<std::size_t>(column)),
                -2.0 / 3 * std::sin(result.data.cell(row, 0)), 1e-9);
}

// p' = 3 (x − p) − 2 p by its damper, so that p'' = 3 x' − 5 p'.
TEST(AccelerationsOfMasslessCoordinates, FollowFromTheDamper) {
  const TestModel model = text_model(
      "[coordinates]\np = { massless = true, start = 1 }\nx = { velocity = 1 }\n"
      "[energy]\nkinetic = \"x'^2/2\"\npotential = \"2*p^2/2 + 3*(x - p)^2/2\"\ndissipation = \"p'^2/2\"\n"
      "[run]\nuntil = 3\n[output]\ncolumns = { a = \"p''\", v = \"p'\", u = \"x'\" }\n");
  const simulate::Result result = run(model);
  const auto cell = [&](std::size_t row, const char* name) {
    return result.data.cell(row, static_cast<std::size_t>(result.data.column(name)));
  };
  for (std::size_t row = 0; row < result.data.rows(); ++row)
    EXPECT_NEAR(cell(row, "a"), 3 * cell(row, "u") - 5 * cell(row, "v"), 1e-9);
}

// A run that finds no reaction at its start has a row all the same.
TEST(AccelerationsOfMasslessCoordinates, AreAskedForBeforeAModeIsKnown) {
  const TestModel model = text_model(
      "[coordinates]\nx = 0\ny = -0.7\nw = { massless = true }\nu = { velocity = -1 }\n"
      "[energy]\nkinetic = \"x'^2/2 + y'^2/2 + 2.5*u'^2\"\npotential = \"x^2/2 + y + 7.5*(w - u)^2 + "
      "50*u^2\"\n"
      "[[friction]]\nname = \"node\"\nslip = \"w'\"\nnormal = 0.5\nlaw = 1\n"
      "[[contact]]\nname = \"c1\"\ngap = \"-x\"\nslip = \"y'\"\nfriction = 0.1\n"
      "[[contact]]\nname = \"c2\"\ngap = \"y + 0.7\"\n"
      "[[constraint]]\nname = \"k1\"\nzero = \"y + 1.5*(1 - cos(0.7*t)) + 0.7\"\n[run]\nuntil = 2\n"
      "[output]\ncolumns = { a = \"w''\" }\n");
  EXPECT_EQ(run(model).end.status.reason, Reason::inconsistent);
}

}  // namespace
}  // namespace judder
