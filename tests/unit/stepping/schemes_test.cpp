// θ, Newmark and Paoli-Schatzman: orders, energy identities, and motions that are known step by step.
#include <gtest/gtest.h>

#include <cmath>

#include "step_support.hpp"

namespace judder {
namespace {

TestModel klarbring(const std::vector<std::string>& variants, const std::vector<model::Named>& set = {}) {
  return gallery_model("klarbring", variants, set);
}

// Petcoviciu 1.7: the energy of a step is told by the scheme's numbers and reactions, contacts included.
TEST(Identities, HoldAtEveryStep) {
  for (const char* variant : {"T05", "T15a", "T15c", "TC42"}) {
    const TestModel model = klarbring({variant});
    for (const double theta : {0.5, 0.7, 1.0}) {
      const simulate::Result run = step_run(model, "theta", 0.01, 800, {{"theta", theta, ""}});
      ASSERT_TRUE(run.end.status.ok()) << run.end.status.message;
      EXPECT_EQ(monitor(run, "energy_identity").checks, 800);
      EXPECT_LT(monitor(run, "energy_identity").worst, 1e-12) << variant << theta;
    }
    for (const auto& [beta, gamma] : {std::pair{0.25, 0.5}, {0.3, 0.6}, {0.4, 0.7}}) {
      const simulate::Result run =
          step_run(model, "newmark", 0.01, 800, {{"beta", beta, ""}, {"gamma", gamma, ""}});
      ASSERT_TRUE(run.end.status.ok()) << run.end.status.message;
      EXPECT_LT(monitor(run, "energy_identity").worst, 1e-12) << variant << beta;
    }
  }
}

double final_error(const simulate::Result& run) {
  return std::hypot(last(run, "UN") + 0.9305440897, last(run, "UT") - 2.9824255227);
}

TEST(Orders, AreTwoWithoutContact) {
  const TestModel model = klarbring({"T05"});
  for (const char* engine : {"theta", "newmark", "paoli-schatzman"}) {
    double before = 0;
    for (const double h : {0.02, 0.01, 0.005, 0.0025}) {
      const double error = final_error(step_to(model, engine, h, 20));
      if (before > 0) {
        EXPECT_NEAR(std::log2(before / error), 2, 0.1) << engine << h;
      }
      before = error;
    }
  }
  double before = 0;
  for (const double h : {0.02, 0.01, 0.005}) {
    const double error = final_error(step_to(model, "paoli-schatzman", h, 20, {{"form", 0, "explicit"}}));
    if (before > 0) {
      EXPECT_NEAR(std::log2(before / error), 2, 0.1) << h;
    }
    before = error;
  }
  before = 0;
  for (const double h : {0.01, 0.005, 0.0025}) {
    const double error = final_error(step_to(model, "theta", h, 20, {{"theta", 1, ""}}));
    if (before > 0) {
      EXPECT_NEAR(std::log2(before / error), 1, 0.1) << h;
    }
    before = error;
  }
}

// Implicit Euler with a contact never gains energy (Petcoviciu 1.7).
TEST(ImplicitEuler, NeverGainsEnergy) {
  const TestModel model = klarbring({"TC42"});
  const simulate::Result run = step_run(model, "theta", 0.01, 4000, {{"theta", 1, ""}});
  double before = INFINITY;
  for (long row = 0; row <= 4000; ++row) {
    const double n = cell(run, row, "UN"), t = cell(run, row, "UT"), vn = cell(run, row, "UN'"),
                 vt = cell(run, row, "UT'");
    const double energy = 0.5 * (vn * vn + vt * vt) + n * n + n * t + 0.5 * t * t - n - 2 * t;
    EXPECT_LE(energy - before, 1e-12 * std::max(1.0, std::abs(energy))) << row;
    before = energy;
  }
}

// A free particle that meets a wall at 0 (Petcoviciu 1.46): the numbers of each step.
TEST(PaoliSchatzman, MovesAFreeParticleAsItsFormulaSays) {
  const auto particle = [](const std::string& e) {
    return text_model(R"toml(
[coordinates]
x = { start = -1, velocity = 1 }
[energy]
kinetic = "x'^2/2"
[[contact]]
name = "wall"
gap = "-x"
impact = )toml" + e + R"toml(
[run]
until = 1
)toml");
  };
  const double expected[3][5] = {{0, 0, 0, 0, 0}, {0, 0.05, 0, -0.05, -0.1}, {0, 0.1, 0, -0.1, -0.2}};
  const char* restitution[3] = {"0", "0.5", "1"};
  for (int i = 0; i < 3; ++i) {
    for (const char* form : {"modified", "explicit"}) {
      const simulate::Result run =
          step_run(particle(restitution[i]), "paoli-schatzman", 0.1, 14, {{"form", 0, form}});
      ASSERT_TRUE(run.end.status.ok()) << run.end.status.message;
      for (long row = 0; row < 10; ++row)
        EXPECT_NEAR(cell(run, row, "x"), -1 + 0.1 * static_cast<double>(row), 1e-14);
      for (int k = 0; k < 5; ++k)
        EXPECT_NEAR(cell(run, 10 + k, "x"), expected[i][k], 1e-14) << restitution[i] << form << k;
    }
  }
}

// A ball rebounds with its restitution wherever in a step it meets the ground: its hops shrink by e.
TEST(PaoliSchatzman, ReboundsAlikeAtEveryPlaceInAStep) {
  const TestModel ball = text_model(R"toml(
[coordinates]
h = 1
[energy]
kinetic = "h'^2/2"
potential = "9.81*h"
[[contact]]
name = "ground"
gap = "h"
impact = 0.5
[run]
until = 1
)toml");
  const double fall = std::sqrt(2 / 9.81);
  for (const char* form : {"modified", "explicit"}) {
    for (const double step : {1e-3, 0.97e-3, 0.83e-3, 0.7e-3, 0.51e-3}) {
      const simulate::Result run = step_to(ball, "paoli-schatzman", step, 1.25, {{"form", 0, form}});
      std::vector<double> impacts;
      for (const engines::Event& event : run.data.events) {
        const bool hit =
            event.kind == engines::EventKind::impact || event.kind == engines::EventKind::contact;
        if (hit && (impacts.empty() || event.time > impacts.back() + 5 * step)) impacts.push_back(event.time);
      }
      ASSERT_GE(impacts.size(), 3u) << form << step;
      EXPECT_NEAR(impacts[0], fall, 3 * step) << form << step;
      EXPECT_NEAR(impacts[1], 2 * fall, 6 * step) << form << step;
      EXPECT_NEAR(impacts[2], 2.5 * fall, 10 * step) << form << step;
    }
  }
}

// A floor that swings lifts a body that stands still at the start: an impact in the first step, and none behind it.
TEST(PaoliSchatzman, BeginsWithAnImpact) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = 0
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "10*y"
[[contact]]
name = "floor"
gap = "y - 0.05*sin(6*t)"
slip = "x' - 0.5"
friction = 0.3
[run]
until = 2
)toml");
  const simulate::Result right = run(model);
  for (const double h : {1e-3, 2.5e-4}) {
    const simulate::Result stepped = step_to(model, "paoli-schatzman", h, 2);
    ASSERT_TRUE(stepped.end.status.ok());
    EXPECT_NEAR(last(stepped, "x"), last(right, "x"), 0.5 * h) << h;
    EXPECT_NEAR(last(stepped, "y"), 0.05 * std::sin(12), 1e-12) << h;
    // It stays on the floor.
    const long rows = std::lround(2 / h);
    for (long row = 0; row <= rows; ++row)
      EXPECT_NEAR(cell(stepped, row, "y"), 0.05 * std::sin(6 * cell(stepped, row, "t")), h * h) << h << row;
  }
}

// All schemes reach the rests of Klarbring's particle.
TEST(Schemes, ReachTheRestsOfTheExactMotion) {
  struct Case {
    const char* variant;
    double rest;
  };
  for (const Case& each : {Case{"T15a", 0.9949619267}, {"T15b", 1.021114562}, {"T15c", 1.152146807527911}}) {
    const TestModel model = klarbring({each.variant});
    for (const char* engine : {"moreau", "theta", "newmark", "paoli-schatzman"}) {
      const simulate::Result run = step_to(model, engine, 1e-3, 4);
      ASSERT_TRUE(run.end.status.ok()) << engine << run.end.status.message;
      EXPECT_NEAR(last(run, "UT"), each.rest, 1e-3) << engine << each.variant;
    }
  }
}

}  // namespace
}  // namespace judder
