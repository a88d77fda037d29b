#include "judder/contact/decision.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "allocations.hpp"
#include "count.hpp"
#include "decision_oracle.hpp"

namespace judder::contact {
namespace {

using oracle::Case;

constexpr double kGravity = 9.81;

// Rows given by their velocity components in a body's coordinates (x, y, angle), loads as accelerations of
// the free body.
struct Body {
  double mass = 1, inertia = 1;
  std::vector<std::array<double, 3>> normals,
      tangents;  // tangents[k] is the slip of normals[k], or of a joint
  std::array<double, 3> force{};
  std::vector<double>
      centrifugal;  // part of the normal acceleration that is there without any force; may be empty
};

Case contacts_of(const Body& body, double mu) {
  Case c;
  c.normals = static_cast<int>(body.normals.size());
  c.tangents = static_cast<int>(body.tangents.size());
  std::vector<std::array<double, 3>> rows = body.normals;
  rows.insert(rows.end(), body.tangents.begin(), body.tangents.end());
  const std::array<double, 3> inverse{1 / body.mass, 1 / body.mass, 1 / body.inertia};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const auto& other : rows) {
      double sum = 0;
      for (int d = 0; d < 3; ++d) sum += rows[i][d] * inverse[d] * other[d];
      c.A.push_back(sum);
    }
    double b = i < body.centrifugal.size() ? body.centrifugal[i] : 0;
    for (int d = 0; d < 3; ++d) b += rows[i][d] * inverse[d] * body.force[d];
    c.b.push_back(b);
  }
  for (int j = 0; j < c.tangents; ++j) {
    c.base.push_back(0);
    c.mu_slip.push_back(mu);
    c.mu_static.push_back(mu);
    c.state.push_back(TangentState::rest);
    for (int k = 0; k < c.normals; ++k) c.coupling.push_back(j == k ? 1 : 0);
  }
  c.kind.assign(body.normals.size(), NormalKind::unilateral);
  return c;
}

// One joint with known normal force on a mass: the smallest friction problem.
Case joint(double mass, double normal, double mu_static, double mu_slip, double pull) {
  Case c;
  c.tangents = 1;
  c.A = {1 / mass};
  c.b = {pull / mass};
  c.base = {normal};
  c.mu_static = {mu_static};
  c.mu_slip = {mu_slip};
  c.state = {TangentState::rest};
  return c;
}

// Zabuga 2017, 1.2: a rod of length 1 slides on one end; slip in the negative direction.
Case painleve_rod(double theta, double mu, double rate) {
  Body rod;
  rod.inertia = 1.0 / 12;
  rod.normals = {{0, 1, -0.5 * std::cos(theta)}};
  rod.tangents = {{1, 0, 0.5 * std::sin(theta)}};
  rod.force = {0, -kGravity, 0};
  rod.centrifugal = {rate * rate * 0.5 * std::sin(theta)};
  Case c = contacts_of(rod, mu);
  c.state = {TangentState::slip_minus};
  return c;
}

TEST(Decision, RestIsKeptWhileTheStaticCoefficientAllows) {
  DecisionWorkspace workspace(0, 1);
  // docs/theory.md, "Deciding the mode", 1: m = 1, N = 1, coefficients 0.3 and 0.2, pull 0.25: stick and slip both satisfy the laws.
  Case c = joint(1, 1, 0.3, 0.2, 0.25);
  Decision d = decide(c.problem(), {}, workspace);
  EXPECT_EQ(d.verdict, Verdict::unique);
  EXPECT_EQ(d.mode[0], RowStatus::stick);
  EXPECT_DOUBLE_EQ(d.force[0], -0.25);
  EXPECT_EQ(d.candidates, 1);
  // Pulled harder it slips, and with the slip coefficient.
  c = joint(1, 1, 0.3, 0.2, 0.31);
  d = decide(c.problem(), {}, workspace);
  EXPECT_EQ(d.mode[0], RowStatus::slip_plus);
  EXPECT_TRUE(d.static_rule);
  EXPECT_NEAR(d.acceleration[0], 0.11, 1e-15);
  // A guard that was crossed outwards forbids stick even where it would hold by rounding.
  c = joint(1, 1, 0.3, 0.2, 0.3);
  DecisionProblem p = c.problem();
  const std::uint16_t excluded = bit(RowStatus::stick);
  p.excluded = &excluded;
  d = decide(p, {}, workspace);
  EXPECT_EQ(d.mode[0], RowStatus::slip_plus);
  EXPECT_NEAR(d.acceleration[0], 0.1, 1e-15);
}

// Forwards the joint has 0.6/0.5 of twice the load, backwards 0.3/0.2 of it: at rest it holds what each of these can.
TEST(Decision, RestAndSlipHaveCoefficientsOfEachDirection) {
  DecisionWorkspace workspace(0, 1);
  const double static_below = 0.6, slip_below = 0.5, base_below = 2;
  const auto decided = [&](double pull) {
    const Case c = joint(1, 1, 0.3, 0.2, pull);
    DecisionProblem p = c.problem();
    p.mu_static_below = &static_below;
    p.mu_slip_below = &slip_below;
    p.base_below = &base_below;
    const Decision d = decide(p, {}, workspace);
    EXPECT_EQ(d.verdict, Verdict::unique) << pull;
    return std::pair(d.mode[0], d.acceleration[0]);
  };
  for (const double pull : {1.19, 0.5, 0.0, -0.29}) {
    EXPECT_EQ(decided(pull).first, RowStatus::stick) << pull;
    EXPECT_EQ(decided(pull).second, 0) << pull;
  }
  EXPECT_EQ(decided(1.25).first, RowStatus::slip_plus);
  EXPECT_NEAR(decided(1.25).second, 0.25, 1e-15);
  EXPECT_EQ(decided(-0.31).first, RowStatus::slip_minus);
  EXPECT_NEAR(decided(-0.31).second, -0.11, 1e-15);
}

TEST(Decision, ReachedConeListsStickAndSlip) {
  DecisionWorkspace workspace(0, 1);
  for (const double side : {1.0, -1.0}) {
    const Case c = joint(2, 3, 0.5, 0.5, side * 1.5);
    const Decision d = decide(c.problem(), {}, workspace);
    ASSERT_EQ(d.verdict, Verdict::unique);
    ASSERT_EQ(d.candidates, 2);
    EXPECT_EQ(d.candidate(0)[0], RowStatus::stick);
    EXPECT_EQ(d.candidate(1)[0], side > 0 ? RowStatus::slip_plus : RowStatus::slip_minus);
  }
}

TEST(Decision, UnloadedContactListsOpenAndClosed) {
  DecisionWorkspace workspace(1, 1);
  Body body;
  body.normals = {{0, 1, 0}};
  body.tangents = {{1, 0, 0}};
  body.force = {0.7, 0, 0};  // no weight, pulled sideways
  const Case c = contacts_of(body, 0.4);
  const Decision d = decide(c.problem(), {}, workspace);
  ASSERT_EQ(d.verdict, Verdict::unique);
  EXPECT_EQ(d.acceleration[1], 0.7);
  bool open = false, closed = false;
  for (int i = 0; i < d.candidates; ++i) {
    open = open || d.candidate(i)[0] == RowStatus::open;
    closed = closed || (d.candidate(i)[0] == RowStatus::closed && d.candidate(i)[1] == RowStatus::slip_plus);
  }
  EXPECT_TRUE(open);
  EXPECT_TRUE(closed);
}

// Zabuga 2017, (1.14) and (1.15): μ = 2, θ = 60°, slip to the left: k = −0.84808, q = −9.81, no reaction exists.
TEST(Decision, PainleveRodHasNoReaction) {
  const Case c = painleve_rod(std::numbers::pi / 3, 2, 0);
  const double k = c.A[0] + 2 * c.A[1];  // slip −: λ_T = +μ λ_N
  EXPECT_NEAR(k, -0.84808, 1e-5);
  DecisionWorkspace workspace(1, 1);
  const Decision d = decide(c.problem(), {}, workspace);
  EXPECT_EQ(d.verdict, Verdict::inconsistent);
  EXPECT_EQ(d.row, 0);
}

// The same with q = θ̇² r/2 sin θ − g > 0: lift-off and sliding both satisfy the laws.
TEST(Decision, PainleveRodHasTwoReactions) {
  const Case c = painleve_rod(std::numbers::pi / 3, 2, 6);
  ASSERT_GT(c.b[0], 0);
  DecisionWorkspace workspace(1, 1);
  const Decision d = decide(c.problem(), {}, workspace);
  EXPECT_EQ(d.verdict, Verdict::indeterminate);
  ASSERT_EQ(d.candidates, 2);
  EXPECT_EQ(d.candidate(0)[0], RowStatus::closed);
  EXPECT_EQ(d.candidate(1)[0], RowStatus::open);
  EXPECT_NEAR(d.force[0], -c.b[0] / (c.A[0] + 2 * c.A[1]), 1e-12);
}

TEST(Decision, PainleveRodIsRegularOutsideTheCriticalAngles) {
  // k < 0 exactly for tan θ between 3 − √5 and 3 + √5 when μ = 2.
  DecisionWorkspace workspace(1, 1);
  for (double degrees = 5; degrees < 90; degrees += 1) {
    const double theta = degrees * std::numbers::pi / 180;
    const double tangent = std::tan(theta);
    const bool critical = tangent > 3 - std::sqrt(5.0) && tangent < 3 + std::sqrt(5.0);
    const Case c = painleve_rod(theta, 2, 0);
    EXPECT_EQ(decide(c.problem(), {}, workspace).verdict, critical ? Verdict::inconsistent : Verdict::unique)
        << degrees;
  }
}

// docs/theory.md, "Deciding the mode", 5: feet carrying 0.2 and 0.8, μ = 0.5, pushed at the level of the ground. The reaction of
// smallest norm would slip at a push of 0.2; the block rests until 0.5.
Case two_feet(double push) {
  Body block;
  block.inertia = 0.4;
  // Feet at −0.8 and +0.2 from the centre of mass, which is at height 0.3; the push acts at ground level.
  block.normals = {{0, 1, -0.8}, {0, 1, 0.2}};
  block.tangents = {{1, 0, 0.3}, {1, 0, 0.3}};
  block.force = {push, -1, 0.3 * push};
  return contacts_of(block, 0.5);
}

TEST(Decision, BlockOnTwoFeetRestsUntilNoReactionHolds) {
  DecisionWorkspace workspace(2, 2);
  for (const double push : {0.0, 0.1, 0.2, 0.3, 0.45, 0.4999999, -0.4999999}) {
    const Decision d = decide(two_feet(push).problem(), {}, workspace);
    ASSERT_EQ(d.verdict, Verdict::unique) << push;
    EXPECT_FALSE(d.reactions_unique);
    EXPECT_EQ(d.candidates, 1) << push;
    EXPECT_EQ(d.mode[2], RowStatus::stick) << push;
    EXPECT_EQ(d.mode[3], RowStatus::stick) << push;
    EXPECT_NEAR(d.force[0], 0.2, 1e-12);
    EXPECT_NEAR(d.force[1], 0.8, 1e-12);
    EXPECT_NEAR(d.force[2] + d.force[3], -push, 1e-12);
    EXPECT_LE(std::abs(d.force[2]), 0.1 + 1e-9) << push;
    EXPECT_LE(std::abs(d.force[3]), 0.4 + 1e-9) << push;
  }
  for (const double push : {0.5000001, 0.7}) {
    const Decision d = decide(two_feet(push).problem(), {}, workspace);
    ASSERT_EQ(d.verdict, Verdict::unique) << push;
    EXPECT_EQ(d.mode[2], RowStatus::slip_plus);
    EXPECT_EQ(d.mode[3], RowStatus::slip_plus);
    EXPECT_NEAR(d.acceleration[2], push - 0.5, 1e-12);
  }
}

TEST(LargestMargin, VanishesWhereTheBlockStartsToSlide) {
  DecisionWorkspace workspace(2, 2);
  ModeFactor factor;
  factor.resize(4);
  const std::vector<RowStatus> mode{RowStatus::closed, RowStatus::closed, RowStatus::stick, RowStatus::stick};
  std::vector<double> force(4), acceleration(4);
  factor_mode(two_feet(0).problem(), mode, 1e-10, factor, workspace);
  EXPECT_EQ(factor.active(), 4);
  EXPECT_EQ(factor.rank(), 3);
  for (double push = -0.8; push <= 0.8; push += 0.05) {
    const Case c = two_feet(push);
    const MarginResult m = largest_margin(c.problem(), mode, factor, workspace, force, acceleration);
    ASSERT_EQ(m.status, MarginStatus::bounded);
    // Two feet share the push; margins 0.1 − |f1| and 0.4 − |f2| are equal at best unless 0.2 of the normal
    // binds earlier.
    EXPECT_NEAR(m.margin, std::min(0.1, (0.5 - std::abs(push)) / 2), 1e-12) << push;
    EXPECT_NEAR(force[2] + force[3], -push, 1e-12);
  }
  // Of equal margins the smallest reaction: unpushed, no friction at all.
  const Case c = two_feet(0);
  (void)largest_margin(c.problem(), mode, factor, workspace, force, acceleration);
  EXPECT_NEAR(force[2], 0, 1e-9);
  EXPECT_NEAR(force[3], 0, 1e-9);
}

TEST(Decision, TableOnFourLegsRestsWithEqualLoads) {
  DecisionWorkspace workspace(4, 4);
  Body table;
  table.inertia = 2;
  table.force = {0.3, -4, 0.5 * 0.3};
  for (const double x : {-1.5, -0.5, 0.5, 1.5}) {
    table.normals.push_back({0, 1, x});
    table.tangents.push_back({1, 0, 0.5});
  }
  const Decision d = decide(contacts_of(table, 0.4).problem(), {}, workspace);
  ASSERT_EQ(d.verdict, Verdict::unique);
  EXPECT_FALSE(d.reactions_unique);
  EXPECT_EQ(d.candidates, 1);
  double normal = 0, friction = 0, moment = 0;
  for (int k = 0; k < 4; ++k) {
    EXPECT_EQ(d.mode[k], RowStatus::closed);
    EXPECT_EQ(d.mode[4 + k], RowStatus::stick);
    normal += d.force[k];
    friction += d.force[4 + k];
    moment += d.force[k] * (k - 1.5);
    // The largest smallest margin shares everything equally.
    EXPECT_NEAR(d.force[k], 1, 1e-8);
    EXPECT_NEAR(d.force[4 + k], -0.075, 1e-8);
  }
  EXPECT_NEAR(normal, 4, 1e-12);
  EXPECT_NEAR(friction, -0.3, 1e-12);
  EXPECT_NEAR(moment, 0, 1e-12);
}

TEST(LargestMargin, WedgedBodyIsAsSafeAsOneLikes) {
  // A body between two parallel walls: pressing both does nothing and allows any friction.
  Body body;
  body.inertia = 0.1;
  body.normals = {{1, 0, 0}, {-1, 0, 0}};
  body.tangents = {{0, 1, 0}, {0, 1, 0}};
  body.force = {0, -1, 0};
  const Case c = contacts_of(body, 0.5);
  DecisionWorkspace workspace(2, 2);
  ModeFactor factor;
  factor.resize(4);
  const std::vector<RowStatus> mode{RowStatus::closed, RowStatus::closed, RowStatus::stick, RowStatus::stick};
  factor_mode(c.problem(), mode, 1e-10, factor, workspace);
  std::vector<double> force(4), acceleration(4);
  const MarginResult m = largest_margin(c.problem(), mode, factor, workspace, force, acceleration);
  EXPECT_EQ(m.status, MarginStatus::unbounded);
  // The smallest admissible reaction: friction 1/2 on each wall needs a pressure of 1.
  for (int k = 0; k < 2; ++k) {
    EXPECT_NEAR(force[k], 1, 1e-8);
    EXPECT_NEAR(force[2 + k], 0.5, 1e-8);
  }
}

// docs/theory.md, "Painlevé": λ is the root of k λ − μ s b |λ| + a = 0, unique only if μ|b| < k.
TEST(Decision, BilateralRowWithFrictionTriesBothSides) {
  DecisionWorkspace workspace(1, 1);
  Case c;
  c.normals = c.tangents = 1;
  c.kind = {NormalKind::bilateral};
  c.state = {TangentState::slip_plus};
  c.base = {0};
  c.coupling = {1};
  const double k = 1, cross = 0.8, mu_regular = 1, mu_paradox = 1.5;
  c.A = {k, cross, cross, 2};
  for (const double a : {0.6, -0.6}) {
    c.b = {a, 0};
    c.mu_slip = c.mu_static = {mu_regular};
    Decision d = decide(c.problem(), {}, workspace);
    ASSERT_EQ(d.verdict, Verdict::unique);
    EXPECT_EQ(d.mode[0], a > 0 ? RowStatus::held_minus : RowStatus::held_plus);
    EXPECT_NEAR(k * d.force[0] - mu_regular * cross * std::abs(d.force[0]) + a, 0, 1e-15);
    c.mu_slip = c.mu_static = {mu_paradox};
    d = decide(c.problem(), {}, workspace);
    // Pressed to the plus side k − μ b < 0: a > 0 has two solutions, a < 0 none.
    EXPECT_EQ(d.verdict, a > 0 ? Verdict::indeterminate : Verdict::inconsistent);
  }
}

TEST(Decision, FrictionOfAPressedConstraintIsNamedByItsSide) {
  DecisionWorkspace workspace(1, 1);
  Case c;
  c.normals = c.tangents = 1;
  c.kind = {NormalKind::bilateral};
  c.state = {TangentState::rest};
  c.base = {0};
  c.coupling = {1};
  c.mu_slip = c.mu_static = {0.5};
  c.A = {1, 0, 0, 1};
  c.b = {-2, 0.9};
  Decision d = decide(c.problem(), {}, workspace);
  EXPECT_EQ(d.mode[0], RowStatus::held_plus);
  EXPECT_EQ(d.mode[1], RowStatus::stick);
  c.b = {2, 1.1};
  d = decide(c.problem(), {}, workspace);
  EXPECT_EQ(d.mode[0], RowStatus::held_minus);
  EXPECT_EQ(d.mode[1], RowStatus::slip_plus);
  EXPECT_NEAR(d.acceleration[1], 0.1, 1e-15);
}

TEST(Decision, JointThatRidesOnAContactSharesItsNormalForce) {
  // The joint's limit is 0.5 + 2 λ_N; the contact carries weight 3.
  Case c;
  c.normals = c.tangents = 1;
  c.kind = {NormalKind::unilateral};
  c.state = {TangentState::rest};
  c.base = {0.5};
  c.coupling = {2};
  c.mu_slip = c.mu_static = {0.1};
  c.A = {1, 0, 0, 1};
  DecisionWorkspace workspace(1, 1);
  c.b = {-3, 0.64};
  EXPECT_EQ(decide(c.problem(), {}, workspace).mode[1], RowStatus::stick);
  c.b = {-3, 0.66};
  EXPECT_EQ(decide(c.problem(), {}, workspace).mode[1], RowStatus::slip_plus);
  c.b = {3, 0.04};  // contact open, base alone
  EXPECT_EQ(decide(c.problem(), {}, workspace).mode[1], RowStatus::stick);
  c.b = {3, 0.06};
  const Decision d = decide(c.problem(), {}, workspace);
  EXPECT_EQ(d.mode[0], RowStatus::open);
  EXPECT_NEAR(d.acceleration[1], 0.01, 1e-15);
}

TEST(Decision, DoesNotDependOnUnitsOrOrder) {
  DecisionWorkspace workspace(4, 6);
  std::mt19937_64 random(11);
  for (int i = 0; i < count(20'000); ++i) {
    const Case c = oracle::random_case(random);
    const Decision d = decide(c.problem(), {}, workspace);
    const Verdict verdict = d.verdict;
    const std::vector<RowStatus> mode(d.mode.begin(), d.mode.end());
    const std::vector<double> force(d.force.begin(), d.force.end());
    // Mass unit by 2^3, length unit by 2^-5, time unit by 2^2: powers of two change no bit.
    Case s = c;
    const double length = std::ldexp(1.0, -5), mass = 8, time = 4;
    for (double& a : s.A) a /= mass;
    for (double& b : s.b) b *= length / (time * time);
    for (double& b : s.base) b *= mass * length / (time * time);
    const Decision scaled = decide(s.problem(), {}, workspace);
    ASSERT_EQ(scaled.verdict, verdict) << "case " << i << '\n' << c.text();
    for (int k = 0; k < c.rows(); ++k) {
      ASSERT_EQ(scaled.mode[k], mode[k]) << "case " << i << '\n' << c.text();
      ASSERT_EQ(scaled.force[k], force[k] * (mass * length / (time * time))) << "case " << i << '\n'
                                                                             << c.text();
    }
  }
}

TEST(Decision, FindsASolutionWhereModesAreTooManyToList) {
  // The same problems with listing forbidden: what is found must be one of the listed accelerations.
  DecisionWorkspace workspace(4, 6);
  DecisionOptions options;
  options.max_modes = 1;
  std::mt19937_64 random(12);
  int solvable = 0, found = 0;
  oracle::RandomOptions draw;
  draw.hysteresis = false;
  for (int i = 0; i < count(20'000); ++i) {
    const Case c = oracle::random_case(random, draw);
    const auto listed = oracle::Enumeration(c).all_modes(c.state, c.mu_slip);
    const Decision d = decide(c.problem(), options, workspace);
    if (!listed.empty()) ++solvable;
    if (!d.found()) continue;  // unique: a single mode, listed after all, or a convex problem
    ASSERT_FALSE(listed.empty()) << "seed 12, case " << i << '\n' << c.text();
    ++found;
    double nearest = 1e300;
    for (const auto& answer : listed) {
      double distance = 0;
      for (int k = 0; k < c.rows(); ++k)
        distance = std::max(distance, std::abs(answer.acceleration[k] - d.acceleration[k]));
      nearest = std::min(nearest, distance);
    }
    EXPECT_LT(nearest, 1e-6) << "seed 12, case " << i << '\n' << c.text();
  }
  EXPECT_GT(found, 0.97 * solvable) << found << " of " << solvable;
}

TEST(ModeFactor, RepeatsTheEliminationAtOtherNumbers) {
  DecisionWorkspace workspace(4, 6);
  std::mt19937_64 random(13);
  std::uniform_real_distribution<double> unit(-1, 1);
  ModeFactor factor;
  factor.resize(10);
  std::vector<double> force(10), acceleration(10), limit(10), margin(10);
  for (int i = 0; i < count(5'000); ++i) {
    Case c = oracle::random_case(random);
    const Decision d = decide(c.problem(), {}, workspace);
    if (d.verdict != Verdict::unique) continue;
    const std::vector<RowStatus> mode(d.mode.begin(), d.mode.end());
    const std::vector<double> expected(d.acceleration.begin(), d.acceleration.end());
    factor_mode(c.problem(), mode, 1e-10, factor, workspace);
    const ModeValues values{force, acceleration, limit, margin};
    const ModeResult r = evaluate_mode(c.problem(), mode, factor, workspace, values);
    for (int k = 0; k < c.rows(); ++k)
      EXPECT_NEAR(acceleration[k], expected[k], 1e-9) << "case " << i << '\n' << c.text();
    EXPECT_LT(r.inconsistency, 1e-9);
    // Other loads, same mode: the equations of the mode hold whatever the inequalities say.
    if (!factor.reactions_unique()) continue;
    for (double& b : c.b) b += unit(random);
    (void)evaluate_mode(c.problem(), mode, factor, workspace, values);
    const int n = c.rows();
    for (int k = 0; k < n; ++k) {
      double a = c.b[k];
      for (int l = 0; l < n; ++l) a += c.A[k * n + l] * force[l];
      EXPECT_NEAR(a, acceleration[k], 1e-6) << "case " << i << '\n' << c.text();
    }
  }
}

TEST(Decision, AllocatesNothing) {
  DecisionWorkspace workspace(4, 6);
  std::mt19937_64 random(14);
  std::vector<Case> cases;
  for (int i = 0; i < 200; ++i) cases.push_back(oracle::random_case(random));
  DecisionOptions few;
  few.max_modes = 1;
  const long before = allocations();
  for (const Case& c : cases) {
    (void)decide(c.problem(), {}, workspace);
    (void)decide(c.problem(), few, workspace);
  }
  EXPECT_EQ(allocations(), before);
}

}  // namespace
}  // namespace judder::contact
