// Petcoviciu 2010, figures 2.9 to 2.15: what dither does to elasto-plastic friction. The source's break-away deflection is lost; its five
// outcomes hold for the one of the gallery.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "judder/analysis/dither_run.hpp"
#include "judder/io/reader.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

using analysis::DitherStudy;
using analysis::FilteredRun;

model::Spec spec() {
  return io::read_model(std::string(JUDDER_SOURCE_DIR) + "/gallery/elastoplastic/model.toml").spec;
}

FilteredRun simulated(const std::vector<model::Named>& set, double until) {
  model::CompileOptions options;
  options.set = set;
  analysis::DitherProblem problem;
  auto study = analysis::dither_study(spec(), options, "", problem);
  if (!study) throw std::runtime_error(problem.message);
  FilteredRun run = analysis::filtered_run(spec(), options, *study, {.until = until});
  EXPECT_TRUE(run.status.ok()) << run.status.message;
  return run;
}

/// Mean friction at a held slip velocity, at the frequency of the dither.
double held(double amplitude, double frequency, double v) {
  model::CompileOptions options;
  options.set = {{"W", amplitude}, {"Om", frequency}};
  analysis::DitherProblem problem;
  auto study = analysis::dither_study(spec(), options, "", problem);
  if (!study) throw std::runtime_error(problem.message);
  model::FrictionCurve curve(study->system, study->relation);
  return analysis::held_mean(curve, study->dither, v);
}

// 1 and 2: long sticks and slides without dither; with it many short ones, and more sliding with more dither.
TEST(ElastoPlastic, DitherReplacesLongSticksByManyShortOnes) {
  const FilteredRun still = simulated({{"W", 0}}, 60);
  EXPECT_GT(still.shares.longest_stick, 1) << "long sticks";
  EXPECT_GT(still.shares.slip, 0.1);
  double slides = 0;
  for (const double amplitude : {0.5, 1.5, 2.5}) {
    const FilteredRun run = simulated({{"W", amplitude}}, 30);
    EXPECT_LT(run.shares.longest_stick, 0.1) << amplitude;
    EXPECT_GT(run.shares.sticks, 20 * still.shares.sticks) << amplitude;
    EXPECT_GT(run.shares.slip, slides + 0.1)
        << "the share of sliding grows with the amplitude: " << amplitude;
    slides = run.shares.slip;
  }
}

// 3: friction at rest, a vertical segment of the averaged law, shrinks with the dither and is gone at 1.5 and 2: there the law is viscous.
TEST(ElastoPlastic, FrictionAtRestVanishesWithTheAmplitude) {
  double before = 1;
  for (const double amplitude : {0.5, 0.8, 1.5, 2.0}) {
    const double rest = held(amplitude, 100, 0.002);
    EXPECT_LT(rest, before) << amplitude;
    before = rest;
    const double ratio = held(amplitude, 100, 0.02) / rest;
    if (amplitude >= 1.5) {
      EXPECT_NEAR(ratio, 10, 0.2) << "proportional to the speed: " << amplitude;
    } else if (amplitude == 0.5) {
      EXPECT_LT(ratio, 8) << "not proportional";
    }
  }
}

// 4: at the same velocity amplitude a higher frequency brings the long sticks back: the bristle no longer bends to its break-away.
TEST(ElastoPlastic, FasterDitherBringsLongSticksBack) {
  const auto longest = [](double frequency) {
    return simulated({{"vm", 0}, {"P", 0.5}, {"W", 1.5}, {"Om", frequency}}, 20).shares.longest_stick;
  };
  const double slow = longest(100), fast = longest(1000), faster = longest(3000);
  EXPECT_LT(slow, 0.05);
  EXPECT_GT(fast, 2);
  EXPECT_GT(faster, 15) << "it never leaves";
}

// 5: under dither friction grows with the command velocity, and so does the share of short sticks.
TEST(ElastoPlastic, FrictionAndShortSticksGrowWithTheCommandVelocity) {
  double friction = 0, sticks = 0;
  for (const double v : {0.1, 0.5, 1.0}) {
    EXPECT_GT(held(1.5, 100, v), friction + 0.02) << v;
    friction = held(1.5, 100, v);
    const FilteredRun run = simulated({{"vm", v}, {"W", 1.5}}, 40);
    EXPECT_GT(run.shares.stick, sticks) << v;
    EXPECT_LT(run.shares.longest_stick, 0.1) << v;
    sticks = run.shares.stick;
  }
}

}  // namespace
}  // namespace judder
