// Motions that tend to a point and never reach it.
#include "judder/analysis/approach.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "judder/analysis/attractors.hpp"
#include "judder/analysis/ensemble.hpp"
#include "judder/io/load.hpp"

namespace judder::analysis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Where the motion of a model with these start values ends up.
MotionEnd end_of(const std::string& text, std::vector<std::pair<std::string, double>> values = {},
                 const std::string& engine = "event") {
  const io::LoadedModel model = io::load_model(io::read_model_text(text), {});
  EXPECT_TRUE(model.ok()) << render(model.diagnostics, "model", text);
  if (!model.ok()) return {};
  const model::Spec spec = with_sections(model.file.spec, *model.compiled.system, 0);
  std::vector<Plan::Axis> axes;
  for (const auto& [name, value] : values) axes.push_back({name, {value}});
  if (axes.empty()) axes.push_back({"x", {1.0}});
  Diagnostics said;
  const Ensemble ensemble(spec, {}, Plan::grid(std::move(axes)), said);
  EXPECT_TRUE(ensemble.ok()) << render(said, "model", text);
  Runner runner(ensemble);
  EXPECT_TRUE(runner.take(0));
  EndFinder finder(runner.system(), 0, kInfinity);
  MotionEnd out;
  EXPECT_TRUE(finder.find(engine, engines::options_of(runner.options()), nullptr, out));
  return out;
}

std::string damped(const std::string& c, const std::string& potential, const std::string& until) {
  return "format = 1\n[parameters]\nc = " + c +
         "\n[coordinates]\nx = 1\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"" + potential +
         "\"\ndissipation = \"c*x'^2/2\"\n[run]\nuntil = " + until + "\n";
}

// Weak and strong damping, short runs and long ones: whatever the way, it leads to x = 0.
TEST(Approach, SmoothDampingEndsAtRest) {
  for (const char* engine : {"event", "exact"}) {
    for (const char* c : {"0.02", "0.1", "1", "2", "10"}) {
      for (const char* until : {"20", "400"}) {
        const MotionEnd end = end_of(damped(c, "x^2/2", until), {}, engine);
        EXPECT_EQ(end.kind, EndKind::rest) << c << " " << until << " " << engine;
        EXPECT_FALSE(end.set);
        ASSERT_EQ(end.least.size(), 2U);
        EXPECT_NEAR(end.least[0], 0, 1e-9) << c << " " << until;
        EXPECT_NEAR(end.most[1], 0, 1e-9);
      }
    }
  }
}

TEST(Approach, SaysHowFastTheSlowestPartDecays) {
  const io::LoadedModel model = io::load_model(io::read_model_text(damped("0.2", "x^2/2 + x", "5")), {});
  ASSERT_TRUE(model.ok());
  simulate::NullSink nobody;
  const engines::EngineResult result =
      simulate::run(*model.compiled.system, "event", engines::options_of(model.compiled.run), nobody);
  ApproachFinder finder(*model.compiled.system);
  const std::array<double, 2> reach{4, 4};
  const auto rest = finder.find(result.end, reach);
  ASSERT_TRUE(rest.has_value());
  EXPECT_NEAR(rest->decay, -0.1, 1e-8);
  EXPECT_NEAR(rest->y[0], -1, 1e-12);
}

// Nothing decays, or something else is the end: a swing for ever, a limit cycle around an unstable rest, a run that is over before it is
// clear which of two wells it is.
TEST(Approach, WhatDoesNotDecayIsNoRest) {
  EXPECT_NE(end_of(damped("0", "x^2/2", "50")).kind, EndKind::rest);
  const std::string vanderpol =
      "format = 1\n[coordinates]\nx = 0.01\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n"
      "[[force]]\nname = \"pump\"\nalong = \"x'\"\nvalue = \"(1 - x^2)*x'\"\n[run]\nuntil = 100\n";
  EXPECT_EQ(end_of(vanderpol).kind, EndKind::periodic);
  // At t = 2 the motion, from far above both wells, may still end in either.
  EXPECT_EQ(end_of(damped("0.05", "x^4/4 - x^2/2", "2"), {{"x", 3.0}}).kind, EndKind::not_settled);
}

/// The well into which x'' = x − x³ − c x' falls, by steps of Runge and Kutta that know nothing of rests.
double well(double x, double v, double c) {
  constexpr double h = 1e-3;
  const auto f = [c](double x0, double v0) { return x0 - x0 * x0 * x0 - c * v0; };
  for (int i = 0; i < 200'000; ++i) {
    const double a1 = f(x, v), x2 = x + 0.5 * h * v, v2 = v + 0.5 * h * a1, a2 = f(x2, v2);
    const double x3 = x + 0.5 * h * v2, v3 = v + 0.5 * h * a2, a3 = f(x3, v3);
    const double x4 = x + h * v3, v4 = v + h * a3, a4 = f(x4, v4);
    x += h / 6 * (v + 2 * v2 + 2 * v3 + v4);
    v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
  }
  return x > 0 ? 1 : -1;
}

TEST(Approach, EachWellIsAnAttractorOfItsOwn) {
  Attractors all;
  for (int i = 0; i < 25; ++i) {
    const double x = -2 + 4.0 * (i % 5) / 4 + 0.013, v = -1.5 + 3.0 * (i / 5) / 4 + 0.007;
    const MotionEnd end = end_of(damped("0.15", "x^4/4 - x^2/2", "60"), {{"x", x}, {"x'", v}});
    ASSERT_EQ(end.kind, EndKind::rest) << x << " " << v;
    EXPECT_NEAR(end.least[0], well(x, v, 0.15), 1e-9) << x << " " << v;
    static_cast<void>(all.add(end));
  }
  EXPECT_EQ(all.all().size(), 2U);
  // What stands there from the start is the same rest as what comes near to it.
  const MotionEnd there = end_of(damped("0.15", "x^4/4 - x^2/2", "60"), {{"x", 1.0}, {"x'", 0.0}});
  EXPECT_EQ(there.kind, EndKind::rest);
  static_cast<void>(all.add(there));
  EXPECT_EQ(all.all().size(), 2U);
}

// States alone, with a stop that is never met.
TEST(Approach, FirstOrderModelsToo) {
  const std::string text =
      "format = 1\n[state]\nz = { start = 0.1, rate = \"z - z^3\" }\nu = { start = 1, rate = \"z - u\" "
      "}\n[run]\nuntil = 30\n";
  for (const double z : {0.1, -0.1, 3.0, -2.0}) {
    const MotionEnd end = end_of(text, {{"z", z}});
    EXPECT_EQ(end.kind, EndKind::rest) << z;
    ASSERT_EQ(end.least.size(), 2U);
    EXPECT_NEAR(end.least[0], z > 0 ? 1 : -1, 1e-9);
    EXPECT_NEAR(end.least[1], z > 0 ? 1 : -1, 1e-9);
  }
}

// On the ground: a contact is closed, pressed by the weight, while x swings out over it.
TEST(Approach, ClosedContactsAreNoHindrance) {
  const std::string text =
      "format = 1\n[coordinates]\nx = 1\ny = 0\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"2*x^2 "
      "+ 9.81*y\"\n"
      "dissipation = \"0.2*x'^2\"\n[[contact]]\nname = \"ground\"\ngap = \"y\"\nimpact = 0\n[run]\nuntil = "
      "25\n";
  const MotionEnd end = end_of(text);
  EXPECT_EQ(end.kind, EndKind::rest);
  EXPECT_FALSE(end.set);
  EXPECT_NEAR(end.least[0], 0, 1e-9);
  EXPECT_NE(end.events.find("ground"), std::string::npos);
}

// On a belt that always slips: x* = μ N/k, approached by swings that the damper calms.
TEST(Approach, SteadySlidingIsAnEquilibrium) {
  const std::string text =
      "format = 1\n[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\ndissipation "
      "= \"0.15*x'^2\"\n"
      "[[friction]]\nname = \"belt\"\nslip = \"x' - 3\"\nnormal = \"2\"\nlaw = { mu = 0.25 }\n[run]\nuntil = "
      "30\n";
  const MotionEnd end = end_of(text, {{"x", 0.0}});
  EXPECT_EQ(end.kind, EndKind::equilibrium);
  EXPECT_NEAR(end.least[0], 0.5, 1e-9);
}

// Nothing holds a sled but the drag: it stops anywhere. A body in a viscous fall goes on for ever.
TEST(Approach, WhatMayStandAnywhereIsASet) {
  const MotionEnd sled = end_of(damped("0.5", "0*x", "20"), {{"x'", 2.0}});
  EXPECT_EQ(sled.kind, EndKind::rest);
  EXPECT_TRUE(sled.set);
  EXPECT_NEAR(sled.least[1], 0, 1e-9);
  const MotionEnd fall = end_of(damped("0.5", "3*x", "20"), {{"x'", 2.0}});
  EXPECT_EQ(fall.kind, EndKind::drifting);
  EXPECT_NEAR(fall.drift[0], -6, 1e-6);
}

// Two bodies tied to one another and damped: x + x' + y' is kept, so they end at x = y = x(0) + x'(0) + y'(0), all ends being one line. The curve
// y = x^2 of rests, the same without a motion, and the single rest of x^4, whose derivative vanishes as well.
TEST(Approach, LinesOfRestsAreOneSet) {
  const std::string pair =
      "format = 1\n[coordinates]\nx = 0\ny = 1\n[energy]\nkinetic = \"x'^2/2 + y'^2/2\"\n";
  const std::string tied =
      pair + "potential = \"(x-y)^2/2\"\ndissipation = \"(x'-y')^2/2 + x'^2/2\"\n[run]\nuntil = 30\n";
  Attractors ends;
  for (const double x : {-2.0, -0.5, 1.0, 2.0}) {  // 2 and -1: y does not move at all
    for (const double v : {-1.0, 0.0, 0.5}) {
      for (const char* engine : {"event", "exact"}) {
        const MotionEnd end = end_of(tied, {{"x", x}, {"x'", v}}, engine);
        EXPECT_EQ(end.kind, EndKind::rest) << x << " " << v << " " << engine;
        EXPECT_TRUE(end.set) << x << " " << v << " " << engine;
        EXPECT_NEAR(end.least[0], x + v, 1e-4) << v;
        EXPECT_NEAR(end.most[1], x + v, 1e-4) << v;
        ends.add(end);
      }
    }
  }
  EXPECT_EQ(ends.all().size(), 1U);
  const std::string curve =
      pair + "potential = \"(x^2-y)^2/2\"\ndissipation = \"x'^2 + y'^2\"\n[run]\nuntil = 60\n";
  Attractors along;
  for (const double x : {-1.5, 0.3, 1.0, 2.0}) {
    const MotionEnd end = end_of(curve, {{"x", x}});
    EXPECT_EQ(end.kind, EndKind::rest) << x;
    EXPECT_TRUE(end.set) << x;
    EXPECT_NEAR(end.least[1], end.least[0] * end.least[0], 1e-6);
    along.add(end);
  }
  EXPECT_EQ(along.all().size(), 1U);
  EXPECT_TRUE(end_of(curve, {{"x", 1.0}, {"y", 1.0}}).set);
  EXPECT_FALSE(end_of(damped("1", "x^4/4", "50"), {{"x", 0.0}}).set);
}

// A rest behind a wall: the motion would go there, but the wall is in the way.
TEST(Approach, APointThatCannotBeReachedIsNoEnd) {
  std::string text = damped("0.1", "x^2/2", "12");
  text += "[[contact]]\nname = \"wall\"\ngap = \"x - 0.05\"\nimpact = 0.9\n";
  const MotionEnd end = end_of(text);
  EXPECT_EQ(end.kind == EndKind::rest ? end.least[0] : 0.05, 0.05);
}

}  // namespace
}  // namespace judder::analysis
