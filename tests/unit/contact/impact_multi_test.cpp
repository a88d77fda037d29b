#include "judder/contact/impact_multi.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include "allocations.hpp"
#include "count.hpp"
#include "impact_support.hpp"
#include "judder/contact/impact_path.hpp"

namespace judder::contact {
namespace {

using test::Collision;

// Balls in a row, contacts between neighbours: gap rate v_{i+1} − v_i.
struct Row {
  std::vector<double> mass, velocity;
  std::vector<ImpactLaw> law;
};

Collision balls(const Row& row) {
  Collision c;
  c.normals = static_cast<int>(row.mass.size()) - 1;
  for (int i = 0; i < c.normals; ++i) {
    c.before.push_back(row.velocity[i + 1] - row.velocity[i]);
    c.kind.push_back(NormalKind::unilateral);
    for (int j = 0; j < c.normals; ++j) {
      c.A.push_back(i == j       ? 1 / row.mass[i] + 1 / row.mass[i + 1]
                    : i == j + 1 ? -1 / row.mass[i]
                    : i + 1 == j ? -1 / row.mass[j]
                                 : 0);
    }
  }
  c.law = row.law;
  return c;
}

std::vector<double> ball_velocities(const Row& row, std::span<const double> impulse) {
  std::vector<double> v = row.velocity;
  for (std::size_t i = 0; i < impulse.size(); ++i) {
    v[i] -= impulse[i] / row.mass[i];
    v[i + 1] += impulse[i] / row.mass[i + 1];
  }
  return v;
}

// The same balls with springs between them, integrated in time with fourth-order steps and located changes
// of contact. With `gaps` a spring that has let go acts again only when its gap has closed; without, as
// soon as its ends approach.
std::vector<double> spring_chain(const Row& row, const std::vector<double>& stiffness, bool gaps,
                                 double step) {
  const std::size_t n = row.mass.size(), m = n - 1;
  std::vector<double> y(m + n);  // compressions, velocities
  std::copy(row.velocity.begin(), row.velocity.end(), y.begin() + static_cast<long>(m));
  std::vector<bool> on(m, true);
  const auto approach = [&](const std::vector<double>& s, std::size_t i) { return s[m + i] - s[m + i + 1]; };
  const auto rate = [&](const std::vector<double>& s) {
    std::vector<double> d(m + n, 0.0);
    for (std::size_t i = 0; i < m; ++i) {
      const double f = on[i] ? stiffness[i] * s[i] : 0;
      d[i] = on[i] || gaps ? approach(s, i) : 0;
      d[m + i] -= f / row.mass[i];
      d[m + i + 1] += f / row.mass[i + 1];
    }
    return d;
  };
  const auto advance = [&](std::vector<double> s, double h) {
    const auto k1 = rate(s);
    auto t = s;
    for (std::size_t i = 0; i < t.size(); ++i) t[i] = s[i] + h / 2 * k1[i];
    const auto k2 = rate(t);
    for (std::size_t i = 0; i < t.size(); ++i) t[i] = s[i] + h / 2 * k2[i];
    const auto k3 = rate(t);
    for (std::size_t i = 0; i < t.size(); ++i) t[i] = s[i] + h * k3[i];
    const auto k4 = rate(t);
    for (std::size_t i = 0; i < t.size(); ++i) s[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    return s;
  };
  // A spring that is on goes off where its compression falls to zero; one that is off goes on where the gap
  // closes, or where its ends begin to approach.
  const auto changed = [&](const std::vector<double>& s, std::size_t i) {
    if (on[i]) return s[i] < 0;
    return gaps ? s[i] > 0 : approach(s, i) > 1e-15;
  };
  const auto any_change = [&](const std::vector<double>& s) {
    for (std::size_t i = 0; i < m; ++i) {
      if (changed(s, i)) return true;
    }
    return false;
  };
  for (std::size_t i = 0; i < m; ++i) on[i] = approach(y, i) > 0 || row.velocity[i] == row.velocity[i + 1];
  for (long guard = 0; guard < 1'000'000; ++guard) {
    bool over = true;
    for (std::size_t i = 0; i < m; ++i) over = over && approach(y, i) <= 0 && y[i] <= 1e-13;
    if (over && guard > 0) break;
    auto next = advance(y, step);
    if (any_change(next)) {
      double low = 0, high = step;
      for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (low + high);
        (any_change(advance(y, middle)) ? high : low) = middle;
      }
      next = advance(y, high);
      for (std::size_t i = 0; i < m; ++i) {
        if (!changed(next, i)) continue;
        on[i] = !on[i];
        next[i] = 0;
      }
    }
    y = next;
  }
  return {y.begin() + static_cast<long>(m), y.end()};
}

ImpactLaw law(ImpactType type, double e, double stiffness = 1) {
  ImpactLaw l{type, e};
  l.stiffness = stiffness;
  return l;
}

// docs/theory.md, "Impacts": one ball against two that touch.
TEST(SeveralContacts, ThreeBallsByMoreauAndPoisson) {
  ImpactWorkspace workspace(2, 0);
  for (const ImpactType type : {ImpactType::moreau, ImpactType::newton, ImpactType::poisson}) {
    const Row row{{1, 1, 1}, {1, 0, 0}, {law(type, 1), law(type, 1)}};
    const ImpactResult r = impact(balls(row).problem(), {}, workspace);
    ASSERT_TRUE(r.ok());
    const auto v = ball_velocities(row, r.impulse);
    EXPECT_NEAR(v[0], -1.0 / 3, 1e-14);
    EXPECT_NEAR(v[1], 2.0 / 3, 1e-14);
    EXPECT_NEAR(v[2], 2.0 / 3, 1e-14);
    EXPECT_EQ(r.form, type == ImpactType::poisson ? ImpactForm::two_phases : ImpactForm::moreau);
  }
}

TEST(SeveralContacts, StrongeIsASpringChain) {
  ImpactWorkspace workspace(3, 0);
  struct Chain {
    Row row;
    std::vector<double> stiffness;
    bool recontact;
  };
  std::vector<Chain> chains{{{{1, 1, 1}, {1, 0, 0}, {}}, {1, 1}, false},
                            {{{1, 2, 0.5}, {1, 0.1, -0.3}, {}}, {1, 3}, true},
                            {{{1, 1, 1, 1}, {1, 0, 0, 0}, {}}, {1, 1, 1}, false},
                            {{{3, 1, 2, 1}, {1, 0.5, 0.5, -1}, {}}, {1, 0.2, 5}, true}};
  for (Chain& chain : chains) {
    for (const double k : chain.stiffness) chain.row.law.push_back(law(ImpactType::stronge, 1, k));
    const ImpactResult r = impact(balls(chain.row).problem(), {}, workspace);
    ASSERT_TRUE(r.ok()) << name(r.status);
    EXPECT_EQ(r.form, ImpactForm::energetic);
    const auto v = ball_velocities(chain.row, r.impulse);
    const auto expected = spring_chain(chain.row, chain.stiffness, !chain.recontact, 1e-3);
    for (std::size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(v[i], expected[i], 1e-10);
    EXPECT_NEAR(r.energy_change, 0, 1e-10);
  }
}

TEST(SeveralContacts, StrongeDoesNotKnowAbsoluteStiffness) {
  ImpactWorkspace workspace(2, 0);
  for (const double exponent : {1.0, 1.5, 2.0}) {
    std::array<std::vector<double>, 2> after;
    for (int scale = 0; scale < 2; ++scale) {
      Row row{{1, 2, 1.5}, {1, 0.2, 0}, {law(ImpactType::stronge, 0.8), law(ImpactType::stronge, 0.6, 3)}};
      for (auto& l : row.law) {
        l.exponent = exponent;
        if (scale == 1) l.stiffness *= 1e6;
      }
      const ImpactResult r = impact(balls(row).problem(), {}, workspace);
      ASSERT_TRUE(r.ok());
      after[scale].assign(r.after.begin(), r.after.end());
    }
    for (int k = 0; k < 2; ++k) EXPECT_NEAR(after[0][k], after[1][k], 1e-9);
  }
}

// A far softer contact comes later: the impacts happen one after the other.
TEST(SeveralContacts, StrongeBecomesSequentialWhenStiffnessesDiffer) {
  ImpactWorkspace workspace(2, 0);
  const Row row{{1, 1, 1}, {1, 0, 0}, {law(ImpactType::stronge, 1, 1e8), law(ImpactType::stronge, 1, 1)}};
  const ImpactResult r = impact(balls(row).problem(), {}, workspace);
  ASSERT_TRUE(r.ok());
  const auto v = ball_velocities(row, r.impulse);
  EXPECT_NEAR(v[0], 0, 1e-3);
  EXPECT_NEAR(v[1], 0, 1e-3);
  EXPECT_NEAR(v[2], 1, 1e-3);
}

TEST(SeveralContacts, StrongeOfOneContactIsThePath) {
  // Also where slip stops, reverses or jams inside the impact.
  std::mt19937_64 random(41);
  std::uniform_real_distribution<double> positive(0, 1);
  ImpactWorkspace workspace(1, 1);
  test::DrawOptions options;
  options.max_contacts = 1;
  options.dependent = false;
  for (int i = 0; i < count(5'000); ++i) {
    Collision c = test::random_collision(random, options);
    if (i % 20 == 0) c.before[1] = 0;
    c.law[0] = law(ImpactType::stronge, i % 5 == 0 ? 0 : 0.1 + 0.9 * positive(random));
    c.law[0].exponent = i % 2 == 0 ? 1 : 1.5;
    const PathResult path =
        path_impact({c.A[0], c.A[1], c.A[2], c.A[3], c.before[0], c.before[1], c.mu[0]}, c.law[0]);
    const ImpactResult r = stronge_impact(c.problem(), {}, workspace);
    ASSERT_TRUE(r.ok()) << name(r.status) << " seed 41, case " << i << '\n' << c.text();
    const double size = path.normal_impulse + 0.01 * std::abs(c.before[1]) / c.A[3];
    EXPECT_NEAR(r.impulse[0], path.normal_impulse, 1e-8 * size) << "seed 41, case " << i << '\n' << c.text();
    EXPECT_NEAR(r.impulse[1], path.tangential_impulse, 1e-8 * size) << "seed 41, case " << i << '\n'
                                                                    << c.text();
    EXPECT_NEAR(r.work[0], path.normal_work, 1e-8 * size) << "seed 41, case " << i << '\n' << c.text();
    EXPECT_NEAR(r.work[1], path.tangential_work, 1e-8 * size) << "seed 41, case " << i << '\n' << c.text();
    // The dispatcher takes the path itself.
    EXPECT_EQ(impact(c.problem(), {}, workspace).form, ImpactForm::path);
    if (HasFailure()) break;
  }
}

// A constraint drives a body into a contact whose row is its own, but for a factor: nothing gives way, and what rounding leaves of the mobility of the contact is none.
TEST(SingleContact, HasNoSolutionWhereAConstraintDrivesIt) {
  ImpactWorkspace workspace(2, 0);
  for (int i = 0; i < 500; ++i) {
    const double w = 1 + 0.00137 * i;
    Collision c;
    c.normals = 2;
    c.A = {1.0 / 3, w / 3, w / 3, w * w / 3};
    c.before = {0, -1.2};
    c.kind = {NormalKind::bilateral, NormalKind::unilateral};
    for (const ImpactType type : {ImpactType::newton, ImpactType::poisson, ImpactType::stronge}) {
      c.law = {ImpactLaw{}, law(type, i % 2 == 0 ? 0 : 0.5)};
      const ImpactResult r = impact(c.problem(), {}, workspace);
      EXPECT_FALSE(r.ok()) << "w = " << w;
    }
  }
}

// Housner's block: rocking over one edge and landing on the other, both in contact afterwards or not: the
// inelastic impact keeps ω⁺/ω⁻ = 1 − (3/2) sin²α.
TEST(SeveralContacts, HousnerBlockLosesItsShareOfRotation) {
  ImpactWorkspace workspace(2, 2);
  for (const double alpha : {0.1, 0.3, 0.5, 0.8, 0.95}) {  // sin²α < 2/3
    const double b = std::sin(alpha), h = std::cos(alpha), m = 1, J = m * (b * b + h * h) / 3;
    // Coordinates x, y, angle; corners at (±b, −h). Rotation about the left corner with rate ω⁻ < 0 brings
    // the right one down.
    const std::vector<std::array<double, 3>> rows{{0, 1, -b}, {0, 1, b}, {1, 0, h}, {1, 0, h}};
    const double omega = -1;
    const std::array<double, 3> v{-h * omega, b * omega, omega};
    for (const ImpactType type : {ImpactType::moreau, ImpactType::poisson, ImpactType::stronge}) {
      Collision c;
      c.normals = c.tangents = 2;
      c.mu = {3, 3};
      c.coupling = {1, 0, 0, 1};
      c.kind = {NormalKind::unilateral, NormalKind::unilateral};
      c.law = {law(type, 0), law(type, 0)};
      const std::array<double, 3> inverse{1 / m, 1 / m, 1 / J};
      for (const auto& r : rows) {
        double velocity = 0;
        for (int d = 0; d < 3; ++d) velocity += r[d] * v[d];
        c.before.push_back(velocity);
        for (const auto& s : rows) {
          double a = 0;
          for (int d = 0; d < 3; ++d) a += r[d] * inverse[d] * s[d];
          c.A.push_back(a);
        }
      }
      c.before[0] = c.before[2] = c.before[3] = 0;  // zero by construction, without its rounding
      const ImpactResult r = impact(c.problem(), {}, workspace);
      ASSERT_TRUE(r.ok()) << name(r.status);
      double after = omega;
      for (int i = 0; i < 4; ++i) after += rows[i][2] * inverse[2] * r.impulse[i];
      EXPECT_NEAR(after / omega, 1 - 1.5 * b * b, type == ImpactType::stronge ? 1e-8 : 1e-12)
          << alpha << ' ' << static_cast<int>(type);
      EXPECT_NEAR(r.impulse[0], 0, 1e-9);
    }
  }
}

// A block falling flat on its face, with or without sliding: its two corners take the same impulse. Two corners on one
// plane with friction are redundant (both slips are one), so the sum of the tangential impulses counts.
TEST(SeveralContacts, ABlockOnItsFaceHasSymmetricImpulses) {
  ImpactWorkspace workspace(2, 2);
  for (const double slip : {0.0, 0.8}) {
    for (const double e : {0.0, 0.5}) {
      for (const ImpactType type : {ImpactType::moreau, ImpactType::poisson, ImpactType::stronge}) {
        // Wide and flat: the friction at its corners cannot tip it.
        const double b = 2, h = 0.1, m = 1.5, J = m * (b * b + h * h) / 3, mu = slip == 0 ? 0.4 : 0;
        const std::vector<std::array<double, 3>> rows{{0, 1, -b}, {0, 1, b}, {1, 0, h}, {1, 0, h}};
        Collision c;
        c.normals = c.tangents = 2;
        c.mu = {mu, mu};
        c.coupling = {1, 0, 0, 1};
        c.kind = {NormalKind::unilateral, NormalKind::unilateral};
        c.law = {law(type, e), law(type, e)};
        const std::array<double, 3> inverse{1 / m, 1 / m, 1 / J}, v{slip, -1, 0};
        for (const auto& r : rows) {
          double velocity = 0;
          for (int d = 0; d < 3; ++d) velocity += r[d] * v[d];
          c.before.push_back(velocity);
          for (const auto& s : rows) {
            double a = 0;
            for (int d = 0; d < 3; ++d) a += r[d] * inverse[d] * s[d];
            c.A.push_back(a);
          }
        }
        const ImpactResult r = impact(c.problem(), {}, workspace);
        ASSERT_TRUE(r.ok()) << name(r.status);
        EXPECT_NEAR(r.impulse[0], r.impulse[1], 1e-9) << slip << ' ' << e << ' ' << static_cast<int>(type);
        EXPECT_NEAR(r.impulse[0] + r.impulse[1], m * (1 + e), 1e-8)
            << slip << ' ' << e << ' ' << static_cast<int>(type);
        EXPECT_NEAR(r.impulse[2] + r.impulse[3], 0, 1e-9);
      }
    }
  }
}

// False where constraints leave no freedom and all velocities are rounding of the draw, or where a very short bilateral row
// was left unprojected and does not hold before the impact.
bool is_collision(const Collision& c) {
  bool moves = false;
  for (int i = 0; i < c.rows(); ++i) {
    moves = moves || std::abs(c.before[i]) > 1e-9;
    if (i < c.normals && c.kind[i] == NormalKind::bilateral && std::abs(c.before[i]) > 1e-9) return false;
  }
  return moves;
}

TEST(SeveralContacts, EnergyNeverRisesWithoutFriction) {
  std::mt19937_64 random(48);
  ImpactWorkspace workspace(4, 0);
  test::DrawOptions options;
  options.friction = false;
  for (int i = 0; i < count(100'000); ++i) {
    options.bilateral = i % 3 == 0;
    options.restitution = i % 2 == 0 ? -1 : 0.1 * (i % 11);
    const Collision c = test::random_collision(random, options);
    if (!is_collision(c)) continue;
    const ImpactResult moreau = moreau_impact(c.problem(), {}, workspace);
    ASSERT_TRUE(moreau.ok()) << "seed 48, case " << i << '\n' << c.text();
    EXPECT_EQ(moreau.energy_gain, 0) << "seed 48, case " << i << '\n' << c.text();
    const ImpactResult stronge = stronge_impact(c.problem(), {}, workspace);
    EXPECT_EQ(stronge.energy_gain, 0) << "seed 48, case " << i << ' ' << name(stronge.status) << '\n'
                                      << c.text();
    const ImpactResult poisson = poisson_impact(c.problem(), {}, workspace);
    ASSERT_TRUE(poisson.ok()) << "seed 48, case " << i << '\n' << c.text();
    EXPECT_EQ(poisson.energy_gain, 0) << "seed 48, case " << i << '\n' << c.text();
    if (HasFailure()) break;
  }
}

// Many contacts without friction are solved by pivoting instead of listing all modes: the law itself is the judge.
TEST(SeveralContacts, ManyWithoutFrictionSatisfyTheLaw) {
  std::mt19937_64 random(49);
  ImpactWorkspace workspace(9, 0);
  test::DrawOptions options;
  options.friction = false;
  options.max_contacts = 9;
  options.restitution = -1;
  int many = 0;
  for (int i = 0; i < count(20'000); ++i) {
    options.bilateral = i % 4 == 0;
    const Collision c = test::random_collision(random, options);
    if (!is_collision(c)) continue;
    many += c.normals > 5 ? 1 : 0;
    const ImpactResult r = moreau_impact(c.problem(), {}, workspace);
    ASSERT_TRUE(r.ok()) << "seed 49, case " << i << '\n' << c.text();
    double size = 0;
    for (int k = 0; k < c.normals; ++k) size = std::max(size, r.impulse[k]);
    for (int k = 0; k < c.normals; ++k) {
      double after = c.before[k];
      for (int j = 0; j < c.normals; ++j) after += c.A[k * c.normals + j] * r.impulse[j];
      EXPECT_NEAR(after, r.after[k], 1e-7 * (1 + size)) << "seed 49, case " << i << '\n' << c.text();
      if (c.kind[k] == NormalKind::bilateral) continue;
      const double residual = r.after[k] + c.law[k].restitution * c.before[k];
      EXPECT_GE(residual, -1e-8 * (1 + size)) << "seed 49, case " << i << '\n' << c.text();
      EXPECT_GE(r.impulse[k], -1e-8 * size) << "seed 49, case " << i << '\n' << c.text();
      EXPECT_NEAR(residual * r.impulse[k], 0, 1e-7 * (1 + size * size)) << "seed 49, case " << i << '\n'
                                                                        << c.text();
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(many, 0);
}

TEST(SeveralContacts, EnergyNeverRisesUnderStronge) {
  std::mt19937_64 random(42);
  std::uniform_real_distribution<double> positive(0, 1);
  ImpactWorkspace workspace(3, 3);
  test::DrawOptions options;
  options.max_contacts = 3;
  options.restitution = -1;
  int failures = 0, cut = 0;
  const int cases = count(100'000);
  for (int i = 0; i < cases; ++i) {
    options.bilateral = i % 4 == 0;
    Collision c = test::random_collision(random, options);
    for (auto& l : c.law) {
      l.type = ImpactType::stronge;
      l.stiffness = std::exp(4 * positive(random) - 2);
      if (i % 7 == 0) l.restitution = 0;
    }
    const ImpactResult r = stronge_impact(c.problem(), {}, workspace);
    if (r.status == ImpactStatus::no_solution && options.bilateral) {
      ++failures;  // friction of a pressed constraint can be paradoxical along the path
      continue;
    }
    if (r.status == ImpactStatus::not_finished) {
      ++cut;  // wedged bodies can chatter loose very slowly; even then no energy may appear
    } else {
      ASSERT_TRUE(r.ok()) << name(r.status) << " seed 42, case " << i << '\n' << c.text();
    }
    EXPECT_EQ(r.energy_gain, 0) << "seed 42, case " << i << '\n' << c.text();
    double scale = 0, works = 0;
    for (int k = 0; k < c.rows(); ++k) {
      scale = std::max(scale, c.before[k] * c.before[k] / c.A[k * c.rows() + k]);
      works += r.work[k];
    }
    EXPECT_NEAR(works, r.energy_change, 1e-7 * scale) << "seed 42, case " << i << '\n' << c.text();
    EXPECT_LE(r.energy_change, 1e-8 * scale) << "seed 42, case " << i << '\n' << c.text();
    for (int k = 0; k < c.normals; ++k) {
      if (c.kind[k] == NormalKind::unilateral) {
        EXPECT_GE(r.after[k], -1e-7) << name(r.status) << " seed 42, case " << i << '\n' << c.text();
      }
    }
    if (HasFailure()) break;
  }
  EXPECT_LE(failures, cases / 20);
  EXPECT_LE(cut, 1 + cases / 500);
}

TEST(SeveralContacts, EnergyNeverRisesUnderPoissonWithEqualRestitution) {
  std::mt19937_64 random(43);
  ImpactWorkspace workspace(3, 3);
  test::DrawOptions options;
  options.max_contacts = 3;
  for (int i = 0; i < count(100'000); ++i) {
    options.restitution = 0.1 * (i % 11);
    const Collision c = test::random_collision(random, options);
    const ImpactResult r = poisson_impact(c.problem(), {}, workspace);
    ASSERT_TRUE(r.ok()) << name(r.status) << " seed 43, case " << i << '\n' << c.text();
    EXPECT_EQ(r.energy_gain, 0) << "seed 43, case " << i << '\n' << c.text();
    for (int k = 0; k < c.normals; ++k)
      EXPECT_GE(r.after[k], -1e-8) << "seed 43, case " << i << '\n' << c.text();
    if (HasFailure()) break;
  }
}

TEST(SeveralContacts, EnergyCanRiseUnderPoissonWithUnequalRestitutionAndIsFlagged) {
  std::mt19937_64 random(44);
  ImpactWorkspace workspace(3, 3);
  test::DrawOptions options;
  options.max_contacts = 3;
  options.restitution = -1;
  int gains = 0;
  for (int i = 0; i < std::max(count(100'000), 5'000); ++i) {
    const Collision c = test::random_collision(random, options);
    const ImpactResult r = poisson_impact(c.problem(), {}, workspace);
    ASSERT_TRUE(r.ok());
    double scale = 0;
    for (int k = 0; k < c.rows(); ++k)
      scale = std::max(scale, c.before[k] * c.before[k] / c.A[k * c.rows() + k]);
    if (r.energy_change > 1e-6 * scale) {
      ++gains;
      EXPECT_NEAR(r.energy_gain, r.energy_change, 1e-9 * scale);
    }
  }
  EXPECT_GT(gains, 0);
}

TEST(SeveralContacts, NewtonGainIsFlagged) {
  // Zabuga 2017, (2.6), slip stops, with e = 1: path Newton creates 0.1077.
  ImpactWorkspace workspace(1, 1);
  const Collision c = test::rod(0.25, 0.5, 0.5, law(ImpactType::newton, 1));
  const ImpactResult r = impact(c.problem(), {}, workspace);
  EXPECT_EQ(r.form, ImpactForm::path);
  EXPECT_NEAR(r.energy_gain, 0.10769226, 1e-8);
  EXPECT_NEAR(r.energy_change, 0.10769226, 1e-8);
}

TEST(SeveralContacts, DoNotDependOnTheOrderOfContacts) {
  std::mt19937_64 random(45);
  ImpactWorkspace workspace(3, 3);
  test::DrawOptions options;
  options.max_contacts = 3;
  options.restitution = -1;
  for (int i = 0; i < count(5'000); ++i) {
    options.dependent = i % 2 == 0;
    Collision c = test::random_collision(random, options);
    for (auto& l : c.law) l.type = i % 4 < 2 ? ImpactType::poisson : ImpactType::stronge;
    const int k = c.normals;
    const ImpactResult first = impact(c.problem(), {}, workspace);
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
    const ImpactResult second = impact(p.problem(), {}, workspace);
    ASSERT_EQ(second.status, status) << "seed 45, case " << i << '\n' << c.text();
    if (!second.ok()) continue;
    for (int r = 0; r < 2 * k; ++r) {
      EXPECT_NEAR(second.after[r], after[row(r)], 1e-6) << "seed 45, case " << i << '\n' << c.text();
    }
    if (HasFailure()) break;
  }
}

TEST(SeveralContacts, PathSeesThroughBilateralRows) {
  // A hinged body is a body with a bilateral row: eliminating the hinge beforehand gives the same impact.
  std::mt19937_64 random(46);
  std::uniform_real_distribution<double> unit(-1, 1), positive(0, 1);
  ImpactWorkspace workspace(2, 1);
  for (int i = 0; i < count(5'000); ++i) {
    // Rows in three coordinates of unit mass: contact normal, hinge, slip. The hinge is coordinate 2.
    std::array<double, 3> normal{unit(random), unit(random), unit(random)},
        slip{unit(random), unit(random), unit(random)};
    const std::array<double, 3> hinge{0, 0, 1}, v{unit(random), unit(random), 0};
    const auto dot = [](const std::array<double, 3>& a, const std::array<double, 3>& b) {
      return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    };
    if (dot(normal, v) > 0) {
      for (double& x : normal) x = -x;
    }
    const ImpactLaw l = law(std::array{ImpactType::newton, ImpactType::poisson, ImpactType::stronge}[i % 3],
                            positive(random));
    const double mu = positive(random);
    Collision c;
    c.normals = 2;
    c.tangents = 1;
    const std::array<std::array<double, 3>, 3> rows{normal, hinge, slip};
    for (const auto& r : rows) {
      c.before.push_back(dot(r, v));
      for (const auto& s : rows) c.A.push_back(dot(r, s));
    }
    c.kind = {NormalKind::unilateral, NormalKind::bilateral};
    c.law = {l, {}};
    c.mu = {mu};
    c.coupling = {1, 0};
    const ImpactResult r = impact(c.problem(), {}, workspace);
    ASSERT_TRUE(r.ok());
    ASSERT_EQ(r.form, ImpactForm::path);
    std::array<double, 3> flat_normal = normal, flat_slip = slip;
    flat_normal[2] = flat_slip[2] = 0;
    const PathResult expected =
        path_impact({dot(flat_normal, flat_normal), dot(flat_normal, flat_slip), dot(flat_normal, flat_slip),
                     dot(flat_slip, flat_slip), dot(normal, v), dot(slip, v), mu},
                    l);
    EXPECT_NEAR(r.impulse[0], expected.normal_impulse, 1e-9 * expected.normal_impulse);
    EXPECT_NEAR(r.impulse[2], expected.tangential_impulse, 1e-9 * expected.normal_impulse);
    // The hinge stays at rest under all impulses.
    double velocity = 0;
    for (int k = 0; k < 3; ++k) velocity += c.A[3 + k] * r.impulse[k];
    EXPECT_NEAR(velocity, 0, 1e-9 * expected.normal_impulse);
    if (HasFailure()) break;
  }
}

TEST(SeveralContacts, AllocateNothing) {
  std::mt19937_64 random(47);
  ImpactWorkspace workspace(4, 4);
  test::DrawOptions options;
  options.restitution = 0.5;
  std::vector<Collision> cases;
  for (int i = 0; i < 60; ++i) {
    cases.push_back(test::random_collision(random, options));
    for (auto& l : cases.back().law) l.type = static_cast<ImpactType>(i % 4);
  }
  const long before = judder::allocations();
  for (const Collision& c : cases) (void)impact(c.problem(), {}, workspace);
  EXPECT_EQ(judder::allocations(), before);
}

}  // namespace
}  // namespace judder::contact
