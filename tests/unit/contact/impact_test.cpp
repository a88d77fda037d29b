#include "judder/contact/impact.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "count.hpp"
#include "impact_support.hpp"

namespace judder::contact {
namespace {

using test::Collision;

// Basseville 2004, 1.3: a point mass. The slip velocity falls by μ (1 + e) v_N and cannot reverse.
TEST(MoreauImpact, SlowsAPointMassAndNeverReversesIt) {
  ImpactWorkspace workspace(1, 1);
  for (const double m : {0.5, 2.0}) {
    for (const double mu : {0.1, 0.4, 3.0}) {
      for (const double e : {0.0, 0.5, 1.0}) {
        for (const double slip : {-1.5, -0.2, 0.3, 2.0}) {
          const double approach = 0.7;
          const Collision c = test::planar(1 / m, 1 / m, 0, mu, approach, slip, {ImpactType::moreau, e});
          const ImpactResult r = moreau_impact(c.problem(), {}, workspace);
          ASSERT_EQ(r.status, ImpactStatus::solved);
          const double expected = (1 - std::min(1.0, mu * (1 + e) * approach / std::abs(slip))) * slip;
          EXPECT_NEAR(r.impulse[0], m * (1 + e) * approach, 1e-14);
          EXPECT_NEAR(r.after[0], e * approach, 1e-15);
          EXPECT_NEAR(r.after[1], expected, 1e-14);
          EXPECT_NEAR(r.impulse[1], m * (expected - slip), 1e-14);
          EXPECT_NEAR(
              r.energy_change,
              m / 2 * (e * e * approach * approach + expected * expected - approach * approach - slip * slip),
              1e-14);
          EXPECT_EQ(r.energy_gain, 0);
        }
      }
    }
  }
}

// One contact without friction needs no search for its mode. Giving a scale of zero for the velocities changes nothing but takes the
// general way: every bit of the two answers is the same.
TEST(MoreauImpact, OfOneContactIsTheSameToTheLastBitByTheShortWay) {
  ImpactWorkspace workspace(1, 0);
  std::mt19937_64 random(20261);
  std::uniform_real_distribution<double> exponent(-8, 8), unit(0, 1);
  const double zero = 0;
  for (int i = 0; i < count(20000); ++i) {
    const double A = std::pow(10, exponent(random));
    const double before = (unit(random) < 0.9 ? -1 : 1) * std::pow(10, exponent(random));
    const double drive = unit(random) - 0.5;
    ImpactLaw law;
    law.restitution = unit(random) < 0.2 ? 0 : unit(random);
    ImpactProblem problem;
    problem.normals = 1;
    problem.A = &A;
    problem.before = &before;
    problem.law = &law;
    problem.drive = &drive;
    const ImpactResult r = moreau_impact(problem, {}, workspace);
    const double impulse = r.impulse[0], after = r.after[0], work = r.work[0], change = r.energy_change,
                 gain = r.energy_gain;
    const RowStatus mode = r.mode[0];
    ASSERT_EQ(r.status, ImpactStatus::solved);
    problem.velocity_scale = &zero;
    const ImpactResult general = moreau_impact(problem, {}, workspace);
    ASSERT_EQ(general.status, r.status) << "case " << i;
    ASSERT_EQ(general.impulse[0], impulse) << "case " << i << ", A " << A << ", before " << before;
    ASSERT_EQ(general.after[0], after) << "case " << i;
    ASSERT_EQ(general.work[0], work) << "case " << i;
    ASSERT_EQ(general.energy_change, change) << "case " << i;
    ASSERT_EQ(general.energy_gain, gain) << "case " << i;
    ASSERT_EQ(general.mode[0], mode) << "case " << i;
    ASSERT_EQ(general.impulses_unique, r.impulses_unique) << "case " << i;
    ASSERT_EQ(general.several_velocities, r.several_velocities) << "case " << i;
  }
}

// Zabuga 2017, (2.5) and (2.6): while slip keeps its direction, or stops and stays stopped, the path and Moreau's law
// agree.
TEST(MoreauImpact, AgreesWithThePathWhereSlipDoesNotReverse) {
  ImpactWorkspace workspace(1, 1);
  Collision c = test::rod(0.25, 0.3, 3, {});  // slip goes on
  ImpactResult r = moreau_impact(c.problem(), {}, workspace);
  EXPECT_NEAR(r.impulse[0], 0.46735274, 1e-8);
  EXPECT_NEAR(-r.impulse[1], 0.14020582, 1e-8);
  EXPECT_NEAR(r.after[1], 1.93722206, 1e-8);
  EXPECT_NEAR(r.energy_change, -0.57979001, 1e-8);
  c = test::rod(0.25, 0.5, 0.5, {});  // slip stops
  r = moreau_impact(c.problem(), {}, workspace);
  EXPECT_NEAR(r.impulse[0], 0.65012024, 1e-8);
  EXPECT_NEAR(-r.impulse[1], -0.10600953, 1e-8);
  EXPECT_EQ(r.after[1], 0);
  EXPECT_NEAR(r.energy_change, -0.29855774, 1e-8);
  EXPECT_EQ(r.mode[1], RowStatus::stick);
}

// docs/theory.md, "Impacts": where slip reverses on the path, Moreau's law slides the other way from the beginning.
TEST(MoreauImpact, DiffersFromThePathWhereSlipReverses) {
  ImpactWorkspace workspace(1, 1);
  const Collision c = test::rod(0.25, 0.3, 0.2, {});  // slip reverses
  const ImpactResult r = moreau_impact(c.problem(), {}, workspace);
  EXPECT_NEAR(r.impulse[0], 0.73513813, 1e-8);
  EXPECT_NEAR(r.impulse[1], 0.22054144, 1e-8);
  EXPECT_NEAR(r.after[1], -0.038213, 1e-6);
  EXPECT_EQ(r.mode[1], RowStatus::slip_minus);
}

TEST(MoreauImpact, LeavesASeparatingContactAlone) {
  ImpactWorkspace workspace(1, 1);
  const Collision c = test::planar(2, 1, 0.3, 0.5, -0.4, 1, {ImpactType::moreau, 0.5});
  const ImpactResult r = moreau_impact(c.problem(), {}, workspace);
  EXPECT_EQ(r.impulse[0], 0);
  EXPECT_EQ(r.impulse[1], 0);
  EXPECT_EQ(r.after[0], 0.4);
  EXPECT_EQ(r.mode[0], RowStatus::open);
}

TEST(MoreauImpact, TangentialRestitutionReplacesCoulomb) {
  ImpactWorkspace workspace(1, 1);
  ImpactLaw law{ImpactType::moreau, 0.5};
  law.tangential = -0.25;
  const Collision c = test::rod(0.25, 0.01, 0.8, law);
  const ImpactResult r = moreau_impact(c.problem(), {}, workspace);
  EXPECT_DOUBLE_EQ(r.after[0], 0.5);
  EXPECT_DOUBLE_EQ(r.after[1], -0.2);
  // Zabuga 2017, (2.3), with 1.4: a I_N + b I_T = (1 + e) v_N0, b I_N + ã I_T = (1 − λ) v_T0.
  const double I_N = r.impulse[0], I_T = -r.impulse[1];
  EXPECT_NEAR(1.75 * I_N - c.A[1] * I_T, 1.5, 1e-14);
  EXPECT_NEAR(-c.A[1] * I_N + 3.25 * I_T, 1.25 * 0.8, 1e-14);
}

TEST(MoreauImpact, FrictionCanBeLeftOutOfTheImpulse) {
  ImpactWorkspace workspace(1, 1);
  ImpactLaw law{ImpactType::moreau, 0.25};
  law.friction = false;
  const Collision c = test::rod(0.25, 0.5, 0.8, law);
  const ImpactResult r = moreau_impact(c.problem(), {}, workspace);
  EXPECT_EQ(r.impulse[1], 0);
  EXPECT_NEAR(r.impulse[0], 1.25 / 1.75, 1e-15);
}

void expect_moreau_law(const Collision& c, const ImpactResult& r, const std::string& where) {
  double size = 1e-300, velocity = 0;
  const int n = c.rows();
  for (int i = 0; i < n; ++i) {
    size = std::max(size, std::abs(r.impulse[i]));
    velocity = std::max({velocity, std::abs(c.before[i]), std::abs(r.after[i])});
    size = std::max(size, 1e-3 * std::abs(c.before[i]) / c.A[i * n + i]);
  }
  for (int i = 0; i < n; ++i) {
    double after = c.before[i];
    for (int k = 0; k < n; ++k) after += c.A[i * n + k] * r.impulse[k];
    EXPECT_NEAR(after, r.after[i], 1e-7 * velocity) << where << c.text();
    if (i < c.normals) {
      if (c.kind[i] == NormalKind::bilateral) {
        EXPECT_NEAR(r.after[i], 0, 1e-7 * velocity) << where << c.text();
        continue;
      }
      const double separation = r.after[i] + c.law[i].restitution * c.before[i];
      EXPECT_GE(separation, -1e-7 * velocity) << where << c.text();
      EXPECT_GE(r.impulse[i], -1e-7 * size) << where << c.text();
      EXPECT_NEAR(separation * r.impulse[i], 0, 1e-6 * velocity * size) << where << c.text();
    } else {
      const double limit = c.mu[i - c.normals] * std::abs(r.impulse[i - c.normals]);
      EXPECT_LE(std::abs(r.impulse[i]), limit + 1e-7 * size) << where << c.text();
      if (std::abs(r.after[i]) > 1e-7 * velocity) {
        EXPECT_NEAR(r.impulse[i], -std::copysign(limit, r.after[i]), 1e-6 * size) << where << c.text();
      }
    }
  }
}

TEST(MoreauImpact, SatisfiesItsLawAndGainsNoEnergyWithoutRestitution) {
  std::mt19937_64 random(21);
  ImpactWorkspace workspace(4, 4);
  test::DrawOptions options;
  options.bilateral = true;
  int several = 0;
  const int cases = count(100'000);
  for (int i = 0; i < cases; ++i) {
    options.max_contacts = i % 20 == 0 ? 4 : 2;
    const Collision c = test::random_collision(random, options);
    const ImpactResult r = moreau_impact(c.problem(), {}, workspace);
    const std::string where = "seed 21, case " + std::to_string(i) + "\n";
    ASSERT_TRUE(r.ok()) << where << name(r.status) << '\n' << c.text();
    expect_moreau_law(c, r, where);
    EXPECT_EQ(r.energy_gain, 0) << where << c.text();
    EXPECT_LE(r.energy_change, 1e-9) << where << c.text();
    several += r.several_velocities ? 1 : 0;
    if (HasFailure()) break;
  }
  RecordProperty("several_velocities", several);
}

TEST(MoreauImpact, GainsNoEnergyWithoutFriction) {
  std::mt19937_64 random(22);
  ImpactWorkspace workspace(4, 0);
  test::DrawOptions options;
  options.friction = false;
  for (int i = 0; i < count(100'000); ++i) {
    options.restitution = i % 2 == 0 ? -1 : 0.1 * (i % 11);
    const Collision c = test::random_collision(random, options);
    const ImpactResult r = moreau_impact(c.problem(), {}, workspace);
    ASSERT_TRUE(r.ok()) << "seed 22, case " << i << '\n' << c.text();
    EXPECT_EQ(r.energy_gain, 0) << "seed 22, case " << i << '\n' << c.text();
  }
}

TEST(MoreauImpact, SaysHowMuchEnergyItsLawCreates) {
  // With friction and restitution the law can gain energy; the draws must show it, and the amount is the
  // change itself.
  std::mt19937_64 random(23);
  ImpactWorkspace workspace(1, 1);
  test::DrawOptions options;
  options.max_contacts = 1;
  options.restitution = 1;
  options.dependent = false;
  int gains = 0;
  for (int i = 0; i < count(20'000); ++i) {
    const Collision c = test::random_collision(random, options);
    const ImpactResult r = moreau_impact(c.problem(), {}, workspace);
    ASSERT_TRUE(r.ok());
    if (r.energy_change > 1e-6) {
      ++gains;
      EXPECT_NEAR(r.energy_gain, r.energy_change, 1e-10 * r.energy_change);
    }
  }
  EXPECT_GT(gains, 0);
}

TEST(MoreauImpact, DoesNotDependOnTheOrderOfContacts) {
  std::mt19937_64 random(24);
  ImpactWorkspace workspace(3, 3);
  test::DrawOptions options;
  options.max_contacts = 3;
  options.restitution = -1;
  for (int i = 0; i < count(20'000); ++i) {
    const Collision c = test::random_collision(random, options);
    const int k = c.normals;
    const ImpactResult first = moreau_impact(c.problem(), {}, workspace);
    const ImpactStatus status = first.status;
    const std::vector<double> after(first.after.begin(), first.after.end());
    std::vector<int> order(k);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    Collision p = c;
    const auto row = [&](int r) { return r < k ? order[r] : k + order[r - k]; };
    for (int r = 0; r < 2 * k; ++r) {
      p.before[r] = c.before[row(r)];
      for (int s = 0; s < 2 * k; ++s) p.A[r * 2 * k + s] = c.A[row(r) * 2 * k + row(s)];
    }
    for (int r = 0; r < k; ++r) {
      p.law[r] = c.law[order[r]];
      p.mu[r] = c.mu[order[r]];
    }
    const ImpactResult second = moreau_impact(p.problem(), {}, workspace);
    ASSERT_EQ(second.status, status) << "seed 24, case " << i << '\n' << c.text();
    if (!second.ok()) continue;
    for (int r = 0; r < 2 * k; ++r) {
      EXPECT_NEAR(second.after[r], after[row(r)], 1e-7) << "seed 24, case " << i << '\n' << c.text();
    }
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace judder::contact
