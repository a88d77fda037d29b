// One planar contact in closed form, and all solutions of small problems, against each other and against cases that are known.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "count.hpp"
#include "judder/contact/one_step_all.hpp"
#include "judder/contact/one_step_planar.hpp"

namespace judder::contact {
namespace {

/// M̃ V = F̃ + h R of Basseville's particle, h = 1, as a one-step problem: u_N = −V_N, r_N = −R_N.
struct Particle {
  double m11, m12, m22, f_normal, f_slip, mu;

  [[nodiscard]] PlanarStep step() const {
    const double det = m11 * m22 - m12 * m12;
    PlanarStep out;
    out.a = m22 / det;
    out.b = out.c = m12 / det;
    out.d = m11 / det;
    out.q_normal = -(m22 * f_normal - m12 * f_slip) / det;
    out.q_slip = (m11 * f_slip - m12 * f_normal) / det;
    out.mu = mu;
    return out;
  }
};

std::vector<OneStepSolution> all_of(const PlanarStep& step) {
  const std::vector<StepBlock> blocks{{StepBlockKind::contact, 1, step.mu}};
  const double q[] = {step.q_normal, step.q_slip}, W[] = {step.a, step.b, step.c, step.d};
  OneStepProblem problem;
  problem.blocks = blocks;
  problem.q = q;
  problem.W = W;
  EXPECT_EQ(OneStepModes::count(problem), 4);
  OneStepModes modes;
  return modes.find(problem);
}

TEST(PlanarStep, KnowsTheThreeSolutionsOfBassevillesExample) {
  const Particle particle{1, 0.9, 1, 1, 1.5, 2};
  const std::vector<OneStepSolution> all = all_of(particle.step());
  ASSERT_EQ(all.size(), 3u);
  for (const OneStepSolution& each : all) {
    switch (each.modes[0]) {
      case StepMode::open:
        EXPECT_NEAR(-each.velocity[0], -1.8421052631578947, 1e-13);
        EXPECT_NEAR(each.velocity[1], 3.1578947368421053, 1e-13);
        break;
      case StepMode::stick:
        EXPECT_NEAR(-each.impulse[0], -1, 1e-13);
        EXPECT_NEAR(each.impulse[1], -1.5, 1e-13);
        break;
      case StepMode::slip_plus:
        EXPECT_NEAR(each.velocity[1], 0.625, 1e-13);
        EXPECT_NEAR(-each.impulse[0], -0.4375, 1e-13);
        EXPECT_NEAR(each.impulse[1], -0.875, 1e-13);
        break;
      default:
        ADD_FAILURE() << name(each.modes[0]);
    }
  }
}

// Where m₂₂ − μ m₁₂ > 0 there is one solution, and the branches find it. Where it is not, the sectors are those that were derived: three solutions in one, and
// in another the slip against the force, which a branch without the test of its sign takes for the other slip.
TEST(PlanarStep, FindsWhatAllModesFind) {
  std::mt19937_64 random(31696);
  std::uniform_real_distribution<double> uniform(-1, 1);
  int several = 0, against = 0, failing = 0;
  for (int test = 0; test < count(100000); ++test) {
    Particle particle{0.5 + std::abs(uniform(random)),
                      0,
                      0.5 + std::abs(uniform(random)),
                      uniform(random),
                      2 * uniform(random),
                      1.5 * (1 + uniform(random))};
    particle.m12 = std::sqrt(particle.m11 * particle.m22) * std::abs(uniform(random)) * 0.99;
    const double condition = particle.m22 - particle.mu * particle.m12;
    if (std::abs(condition) < 1e-6) continue;
    const std::vector<OneStepSolution> all = all_of(particle.step());
    const std::optional<PlanarStepResult> found = solve_planar_step(particle.step());
    ASSERT_TRUE(found.has_value()) << test;
    const bool known = std::any_of(all.begin(), all.end(), [&](const OneStepSolution& each) {
      return std::abs(each.impulse[0] - found->normal) <= 1e-9 * (1 + found->normal) &&
             std::abs(each.impulse[1] - found->tangent) <= 1e-9 * (1 + found->normal);
    });
    ASSERT_TRUE(known) << test;
    const double ratio = particle.m22 / particle.m12, fn = particle.f_normal, ft = particle.f_slip;
    const bool three = condition < 0 && fn > 0 && ratio * fn < ft && ft < particle.mu * fn;
    ASSERT_EQ(all.size(), three ? 3u : 1u) << test;
    several += three ? 1 : 0;
    failing += condition < 0 ? 1 : 0;
    if (condition < 0 && fn < 0 && particle.mu * fn <= ft && ft <= ratio * fn) {
      ++against;
      EXPECT_EQ(found->status, StepContact::slip);
      EXPECT_LT(found->slip, 0);
    }
  }
  EXPECT_GT(several, failing / 100);
  EXPECT_GT(against, failing / 100);
}

TEST(OneStepModes, CountsWhatItTries) {
  const double q[5] = {-1, 0, -1, 0, 0};
  std::vector<double> W(25);
  for (int i = 0; i < 5; ++i) W[6 * i] = 1;
  std::vector<StepBlock> blocks{
      {StepBlockKind::contact, 1, 0.5}, {StepBlockKind::contact, 1, 0.5}, {StepBlockKind::friction, 1, 0.5}};
  blocks[2].load = 1;
  OneStepProblem problem;
  problem.blocks = blocks;
  problem.q = q;
  problem.W = W.data();
  EXPECT_EQ(OneStepModes::count(problem), 48);
  EXPECT_FALSE(may_be_several(problem));
  OneStepModes modes;
  const auto& all = modes.find(problem);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].impulse, (std::vector<double>{1, 0, 1, 0, 0}));
  W[1] = W[5] = 2.5;
  EXPECT_TRUE(may_be_several(problem));
  blocks[0].slips = 2;  // a cone in space has no modes to try
  EXPECT_EQ(OneStepModes::count(problem), 0);
}

}  // namespace
}  // namespace judder::contact
