#include <gtest/gtest.h>

#include <array>
#include <random>

#include "count.hpp"
#include "decision_oracle.hpp"
#include "judder/contact/decision.hpp"

namespace judder::contact {
namespace {

using oracle::Case;
using oracle::Enumeration;

std::string describe(std::span<const RowStatus> mode) {
  std::string text;
  for (const RowStatus s : mode) text += std::string(name(s)) + ' ';
  return text;
}

// Verdict and accelerations of `decide` against the enumeration of the test; returns the verdict for
// statistics.
Verdict expect_agreement(const Case& c, DecisionWorkspace& workspace, const std::string& where) {
  const DecisionProblem problem = c.problem();
  const Decision decision = decide(problem, {}, workspace);
  const auto expected = Enumeration(c).decide();
  EXPECT_EQ(decision.verdict, expected.verdict) << where << "mode " << describe(decision.mode) << '\n'
                                                << c.text();
  if (decision.verdict != expected.verdict || decision.verdict != Verdict::unique) return expected.verdict;
  double scale = 0;
  for (const double b : c.b) scale = std::max(scale, std::abs(b));
  for (int i = 0; i < c.rows(); ++i) {
    EXPECT_NEAR(decision.acceleration[i], expected.answers.front().acceleration[i], 1e-7 * scale)
        << where << "row " << i << ", mode " << describe(decision.mode) << '\n'
        << c.text();
  }
  // The reactions returned satisfy the laws themselves, whatever mode they are filed under.
  for (int i = 0; i < c.rows(); ++i) {
    double a = c.b[i];
    for (int k = 0; k < c.rows(); ++k) a += c.A[i * c.rows() + k] * decision.force[k];
    EXPECT_NEAR(a, decision.acceleration[i], 1e-8 * scale) << where << c.text();
    if (i < c.normals) {
      if (c.kind[i] == NormalKind::unilateral) {
        EXPECT_GE(decision.force[i], -1e-8) << where << c.text();
      }
      continue;
    }
    const int j = i - c.normals;
    if (c.state[j] == TangentState::follows) continue;
    double limit = c.base[j];
    for (int k = 0; k < c.normals; ++k) limit += c.coupling[j * c.normals + k] * std::abs(decision.force[k]);
    const double mu =
        c.state[j] == TangentState::rest ? std::max(c.mu_static[j], c.mu_slip[j]) : c.mu_slip[j];
    EXPECT_LE(std::abs(decision.force[i]), mu * limit + 1e-8) << where << "row " << i << '\n' << c.text();
  }
  return expected.verdict;
}

void run(const oracle::RandomOptions& options, std::uint64_t seed, int cases, std::array<int, 5>& verdicts) {
  DecisionWorkspace workspace(4, 6);
  std::mt19937_64 random(seed);
  for (int i = 0; i < cases && !testing::Test::HasFailure(); ++i) {
    const Case c = oracle::random_case(random, options);
    const std::string where = "seed " + std::to_string(seed) + ", case " + std::to_string(i) + "\n";
    ++verdicts[static_cast<std::size_t>(expect_agreement(c, workspace, where))];
  }
}

TEST(DecisionRandom, AgreesWithEnumerationForIndependentRows) {
  std::array<int, 5> verdicts{};
  oracle::RandomOptions options;
  options.dependent = false;
  run(options, 1, count(30'000), verdicts);
  // The draws must contain the paradoxes, or this test says nothing about them.
  EXPECT_GT(verdicts[static_cast<std::size_t>(Verdict::unique)], 0);
  EXPECT_GT(verdicts[static_cast<std::size_t>(Verdict::inconsistent)], 0);
  EXPECT_GT(verdicts[static_cast<std::size_t>(Verdict::indeterminate)], 0);
}

TEST(DecisionRandom, AgreesWithEnumerationForDependentRows) {
  std::array<int, 5> verdicts{};
  oracle::RandomOptions options;
  options.max_contacts = 3;
  run(options, 2, count(50'000), verdicts);
  EXPECT_GT(verdicts[static_cast<std::size_t>(Verdict::unique)], 0);
}

// Feet on common ground: slips and normals are dependent in exactly the way real blocks make them, and
// slips of opposite direction contradict each other.
TEST(DecisionRandom, AgreesWithEnumerationForBlocksOnFeet) {
  DecisionWorkspace workspace(3, 3);
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> unit(-1, 1);
  std::array<int, 5> verdicts{};
  const int cases = count(10'000);
  for (int i = 0; i < cases && !testing::Test::HasFailure(); ++i) {
    Case c;
    c.normals = c.tangents = 2 + i % 2;
    const int n = c.rows();
    const double height = 0.5 + 0.4 * unit(random);
    const double inverse[3] = {1, 1, 1 / (0.3 + 0.2 * unit(random))};
    const double load[3] = {unit(random), -1 + 0.5 * unit(random), 0.4 * unit(random)};
    Eigen::MatrixXd W = Eigen::MatrixXd::Zero(3, n);
    const double step = i % 3 == 0 ? 0.2 * unit(random) : 0;  // one foot on a step
    for (int k = 0; k < c.normals; ++k) {
      W(1, k) = 1;
      W(2, k) = unit(random);
      W(0, c.normals + k) = 1;
      W(2, c.normals + k) = height + (k == 0 ? step : 0.0);
    }
    for (int r = 0; r < n; ++r) {
      double b = 0;
      for (int d = 0; d < 3; ++d) b += W(d, r) * inverse[d] * load[d];
      c.b.push_back(b);
      for (int s = 0; s < n; ++s) {
        double a = 0;
        for (int d = 0; d < 3; ++d) a += W(d, r) * inverse[d] * W(d, s);
        c.A.push_back(a);
      }
    }
    for (int j = 0; j < c.tangents; ++j) {
      const double mu = 0.4 + 0.3 * unit(random);
      c.mu_slip.push_back(mu);
      c.mu_static.push_back(i % 5 == 0 ? 1.3 * mu : mu);
      c.base.push_back(0);
      c.state.push_back(TangentState::rest);
      c.kind.push_back(NormalKind::unilateral);
      for (int k = 0; k < c.normals; ++k) c.coupling.push_back(j == k ? 1 : 0);
    }
    ++verdicts[static_cast<std::size_t>(
        expect_agreement(c, workspace, "seed 4, case " + std::to_string(i) + "\n"))];
  }
  EXPECT_GT(verdicts[static_cast<std::size_t>(Verdict::unique)], cases / 2);
}

TEST(DecisionRandom, AgreesWithEnumerationForFourContacts) {
  std::array<int, 5> verdicts{};
  oracle::RandomOptions options;
  options.joints = false;
  run(options, 3, count(20'000), verdicts);
  EXPECT_GT(verdicts[static_cast<std::size_t>(Verdict::unique)], 0);
}

}  // namespace
}  // namespace judder::contact
