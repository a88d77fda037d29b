#include "judder/contact/painleve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "count.hpp"

namespace judder::contact {
namespace {

/// A decision problem that owns its numbers: random mechanism, every tangential row slips or sticks as given.
struct Problem {
  int normals = 0, tangents = 0;
  std::vector<double> A, b, mu, coupling, base;
  std::vector<NormalKind> kind;
  std::vector<TangentState> state;
  std::vector<RowStatus> mode;

  [[nodiscard]] DecisionProblem view() const {
    DecisionProblem d;
    d.normals = normals;
    d.tangents = tangents;
    d.A = A.data();
    d.b = b.data();
    d.kind = kind.data();
    d.state = state.data();
    d.mu_slip = mu.data();
    d.base = base.data();
    d.coupling = coupling.data();
    return d;
  }
};

/// Row 0 is a contact that slips, the others are drawn from `kinds`; `sticks` adds that many sticking joints.
Problem draw(std::mt19937_64& random, NormalKind first, int bilateral, int closed, int sticks) {
  std::uniform_real_distribution<double> unit(-1, 1), positive(0, 1);
  Problem p;
  p.normals = 1 + bilateral + closed;
  p.tangents = 1 + closed + sticks;
  const int n = p.normals + p.tangents;
  const int freedom = n + 1;
  std::vector<double> W(static_cast<std::size_t>(n * freedom));
  for (double& x : W) x = unit(random);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < freedom; ++k) sum += W[i * freedom + k] * W[j * freedom + k];
      p.A.push_back(sum);
    }
    p.b.push_back(unit(random));
  }
  for (int k = 0; k < p.normals; ++k) {
    const bool held = k == 0 ? first == NormalKind::bilateral : k <= bilateral;
    p.kind.push_back(held ? NormalKind::bilateral : NormalKind::unilateral);
    p.mode.push_back(held ? RowStatus::held : RowStatus::closed);
  }
  p.coupling.assign(static_cast<std::size_t>(p.normals * p.tangents), 0.0);
  for (int j = 0; j < p.tangents; ++j) {
    p.base.push_back(0);
    if (j <= closed) {
      p.coupling[j * p.normals + (j == 0 ? 0 : bilateral + j)] = 1;
      p.mu.push_back(2 * positive(random));
      const bool forward = positive(random) < 0.5;
      p.state.push_back(forward ? TangentState::slip_plus : TangentState::slip_minus);
      p.mode.push_back(forward ? RowStatus::slip_plus : RowStatus::slip_minus);
    } else {
      // A joint pressed so hard that it cannot slip.
      p.base.back() = 1e6;
      p.mu.push_back(1);
      p.state.push_back(TangentState::rest);
      p.mode.push_back(RowStatus::stick);
    }
  }
  return p;
}

// Zabuga 2017, (1.14): k(θ) of the rod with one end on the plane, in closed form.
TEST(SlidingContact, IsTheRodOfPainleve) {
  for (const double mu : {0.5, 1.3, 2.0}) {
    for (const double theta : {0.2, 0.7, 1.1, 1.4}) {
      for (const int s : {-1, 1}) {
        Problem p;
        p.normals = p.tangents = 1;
        const double c = std::cos(theta), w = std::sin(theta);
        // m = r = 1, J = 1/12: r²/(4J) = 3.
        p.A = {1 + 3 * c * c, -3 * c * w, -3 * c * w, 1 + 3 * w * w};
        p.b = {-9.81, 0};
        p.mu = {mu};
        p.coupling = {1};
        p.base = {0};
        p.kind = {NormalKind::unilateral};
        p.mode = {RowStatus::closed, s > 0 ? RowStatus::slip_plus : RowStatus::slip_minus};
        const SlidingContact alone = sliding_contact(p.view(), p.mode, 0, 0);
        const double k = 1 + 3 * (c + mu * s * w) * c;
        EXPECT_NEAR(alone.k, k, 1e-14);
        EXPECT_EQ(alone.b_N, -9.81);
        EXPECT_EQ(alone.direction, s);
        EXPECT_EQ(alone.sliding, k > 0 ? SlidingCase::slides : SlidingCase::inconsistent);
        // Also where the rod turns so fast that its end would fly up.
        p.b[0] = 2;
        EXPECT_EQ(sliding_contact(p.view(), p.mode, 0, 0).sliding,
                  k > 0 ? SlidingCase::lifts_off : SlidingCase::indeterminate);
      }
    }
  }
}

TEST(SlidingContact, KnowsTheJamBetweenBoth) {
  EXPECT_EQ(unilateral_case(0, -1, 2), SlidingCase::jam);
  EXPECT_EQ(unilateral_case(1e-15, -1, 2), SlidingCase::jam);
  EXPECT_EQ(unilateral_case(1e-12, -1, 2), SlidingCase::slides);
  EXPECT_EQ(unilateral_case(-1e-12, -1, 2), SlidingCase::inconsistent);
  EXPECT_EQ(unilateral_case(0, 1, 2), SlidingCase::lifts_off);
}

void expect_verdict(const Problem& p, DecisionWorkspace& workspace, const std::string& where,
                    int (&seen)[5]) {
  const SlidingContact alone = sliding_contact(p.view(), p.mode, 0, 0);
  const Decision decision = decide(p.view(), {}, workspace);
  ++seen[static_cast<int>(alone.sliding)];
  if (std::abs(alone.k) < 1e-6) return;
  switch (alone.sliding) {
    case SlidingCase::slides:
    case SlidingCase::lifts_off:
      EXPECT_EQ(decision.verdict, Verdict::unique) << where << " k " << alone.k << " a " << alone.b_N;
      if (alone.kind == NormalKind::unilateral) {
        const double force = alone.sliding == SlidingCase::slides ? -alone.b_N / alone.k : 0;
        EXPECT_NEAR(decision.force[0], force, 1e-8 * (1 + force)) << where;
      }
      break;
    case SlidingCase::inconsistent:
      EXPECT_EQ(decision.verdict, Verdict::inconsistent) << where << " k " << alone.k << " a " << alone.b_N;
      break;
    case SlidingCase::indeterminate:
      EXPECT_EQ(decision.verdict, Verdict::indeterminate) << where << " k " << alone.k << " a " << alone.b_N;
      break;
    case SlidingCase::jam:
      break;
  }
}

// The enumeration of modes knows nothing of k: both must say the same, with bilateral rows around.
TEST(SlidingContact, SaysWhatTheEnumerationOfModesFinds) {
  std::mt19937_64 random(61);
  DecisionWorkspace workspace(5, 5);
  int seen[5] = {};
  for (int i = 0; i < count(50'000); ++i) {
    const Problem p = draw(random, NormalKind::unilateral, i % 3, 0, 0);
    expect_verdict(p, workspace, "seed 61, case " + std::to_string(i), seen);
    if (HasFailure()) break;
  }
  for (const SlidingCase each :
       {SlidingCase::slides, SlidingCase::lifts_off, SlidingCase::inconsistent, SlidingCase::indeterminate})
    EXPECT_GT(seen[static_cast<int>(each)], 0) << name(each);
}

// λ of k λ − μ s b |λ| + a = 0 is unique for every a if and only if μ|b| < k.
TEST(SlidingContact, OfAConstraintIsRegularOnlyBelowItsLimit) {
  std::mt19937_64 random(62);
  DecisionWorkspace workspace(5, 5);
  int seen[5] = {};
  int beyond = 0;
  for (int i = 0; i < count(50'000); ++i) {
    const Problem p = draw(random, NormalKind::bilateral, i % 3, 0, 0);
    expect_verdict(p, workspace, "seed 62, case " + std::to_string(i), seen);
    const SlidingContact alone = sliding_contact(p.view(), p.mode, 0, 0);
    const bool limit = alone.mu * std::abs(alone.A_NT) < alone.A_NN;
    if (std::abs(alone.k) > 1e-6) {
      EXPECT_EQ(limit, regular(alone.sliding)) << "seed 62, case " << i;
    }
    beyond += limit ? 0 : 1;
    if (HasFailure()) break;
  }
  EXPECT_GT(beyond, 0);
  EXPECT_GT(seen[static_cast<int>(SlidingCase::inconsistent)], 0);
  EXPECT_GT(seen[static_cast<int>(SlidingCase::indeterminate)], 0);
}

// Another closed contact that slips brings its friction with it: in the mode where both press, the reaction is −a/k.
TEST(SlidingContact, CarriesTheFrictionOfItsNeighbours) {
  std::mt19937_64 random(63);
  DecisionWorkspace workspace(5, 5);
  ModeFactor factor;
  factor.resize(10);
  int compared = 0;
  for (int i = 0; i < count(20'000); ++i) {
    const Problem p = draw(random, NormalKind::unilateral, i % 2, 1 + i % 2, i % 3 == 0 ? 1 : 0);
    const SlidingContact alone = sliding_contact(p.view(), p.mode, 0, 0);
    factor_mode(p.view(), p.mode, 1e-10, factor, workspace);
    if (!factor.reactions_unique() || std::abs(alone.k) < 1e-3) continue;
    const auto n = static_cast<std::size_t>(p.normals + p.tangents);
    std::vector<double> force(n), acceleration(n), limit(n), margin(n);
    (void)evaluate_mode(p.view(), p.mode, factor, workspace, {force, acceleration, limit, margin});
    EXPECT_NEAR(force[0], -alone.b_N / alone.k, 1e-7 * (1 + std::abs(force[0]))) << "seed 63, case " << i;
    ++compared;
    if (HasFailure()) break;
  }
  EXPECT_GT(compared, 100);
}

TEST(SlidingContact, LeavesDependentRowsOut) {
  std::mt19937_64 random(64);
  const Problem p = draw(random, NormalKind::unilateral, 1, 0, 0);
  const SlidingContact once = sliding_contact(p.view(), p.mode, 0, 0);
  // The same constraint twice.
  Problem twice;
  twice.normals = 3;
  twice.tangents = 1;
  const int from[] = {0, 1, 1, 2};
  for (const int i : from) {
    for (const int j : from) twice.A.push_back(p.A[i * 3 + j]);
    twice.b.push_back(p.b[i]);
  }
  twice.kind = {NormalKind::unilateral, NormalKind::bilateral, NormalKind::bilateral};
  twice.mode = {RowStatus::closed, RowStatus::held, RowStatus::held, p.mode[2]};
  twice.mu = p.mu;
  twice.base = {0};
  twice.coupling = {1, 0, 0};
  const SlidingContact both = sliding_contact(twice.view(), twice.mode, 0, 0);
  EXPECT_NEAR(both.k, once.k, 1e-10);
  EXPECT_NEAR(both.b_N, once.b_N, 1e-10);
}

}  // namespace
}  // namespace judder::contact
