#include "judder/contact/decision_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "count.hpp"
#include "decision_oracle.hpp"

namespace judder::contact {
namespace {

using oracle::Case;

/// A random problem with exclusions and floors of scales, as the engines pose them.
struct Posed {
  Case numbers;
  std::vector<std::uint16_t> excluded;
  std::vector<double> force_floor, acceleration_floor;

  [[nodiscard]] DecisionProblem problem() const {
    DecisionProblem p = numbers.problem();
    p.excluded = excluded.data();
    p.force_scale = force_floor.data();
    p.acceleration_scale = acceleration_floor.data();
    return p;
  }
};

Posed pose(std::mt19937_64& random, const oracle::RandomOptions& options) {
  Posed out;
  out.numbers = oracle::random_case(random, options);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int i = 0; i < out.numbers.rows(); ++i) {
    const RowStatus status = i < out.numbers.normals ? RowStatus::closed
                             : unit(random) < 0.5    ? RowStatus::stick
                                                     : RowStatus::slip_plus;
    out.excluded.push_back(unit(random) < 0.2 ? bit(status) : std::uint16_t{0});
    out.force_floor.push_back(unit(random) < 0.5 ? unit(random) : 0);
    out.acceleration_floor.push_back(unit(random) < 0.5 ? unit(random) : 0);
  }
  return out;
}

std::string text(std::span<const RowStatus> mode) {
  std::string out;
  for (const RowStatus status : mode) out += std::string(out.empty() ? "" : " ") + name(status);
  return out;
}

void draw(std::mt19937_64& random, std::vector<double>& b) {
  std::uniform_real_distribution<double> unit(-1, 1);
  for (double& value : b) value = unit(random);
}

TEST(DecisionTable, SaysWhatTheDecisionSaysOrNothing) {
  constexpr std::uint64_t kSeed = 11;
  std::mt19937_64 random(kSeed);
  DecisionWorkspace workspace(4, 6);
  DecisionTable table;
  oracle::RandomOptions options;
  options.dependent = false;
  options.bilateral = true;
  long unique = 0;
  long told = 0;
  long paradoxes = 0;
  for (int i = 0; i < count(20'000) && !HasFailure(); ++i) {
    Posed posed = pose(random, options);
    if (!table.build(posed.problem(), {}, workspace)) continue;
    for (int k = 0; k < 10; ++k) {
      draw(random, posed.numbers.b);
      const DecisionProblem problem = posed.problem();
      const Decision decision = decide(problem, {}, workspace);
      const auto found = table.find(problem.b, problem.force_scale, problem.acceleration_scale);
      if (decision.verdict == Verdict::unique && !decision.static_rule) ++unique;
      if (decision.verdict != Verdict::unique) ++paradoxes;
      if (found.empty()) continue;
      ++told;
      EXPECT_EQ(decision.verdict, Verdict::unique) << "seed " << kSeed << ", case " << i << '.' << k;
      EXPECT_EQ(decision.candidates, 1);
      EXPECT_TRUE(decision.reactions_unique);
      EXPECT_TRUE(std::equal(found.begin(), found.end(), decision.mode.begin(), decision.mode.end()))
          << "seed " << kSeed << ", case " << i << '.' << k << '\n'
          << posed.numbers.text();
    }
  }
  // A table that never speaks would agree as well; and without paradoxes nothing would tempt it.
  EXPECT_GT(told, 0.9 * static_cast<double>(unique));
  EXPECT_GT(paradoxes, 0);
}

TEST(DecisionTable, IsSilentWhereTheModeChanges) {
  constexpr std::uint64_t kSeed = 12;
  std::mt19937_64 random(kSeed);
  DecisionWorkspace workspace(4, 6);
  DecisionTable table;
  oracle::RandomOptions options;
  options.dependent = false;
  options.hysteresis = false;
  long changes = 0;
  for (int i = 0; i < count(5'000) && !HasFailure(); ++i) {
    Posed posed = pose(random, options);
    // Scales of their own: without them a single row is clearly on one side however small its b.
    posed.force_floor.assign(posed.force_floor.size(), 1);
    posed.acceleration_floor.assign(posed.acceleration_floor.size(), 1);
    if (!table.build(posed.problem(), {}, workspace)) continue;
    const auto at = [&](const std::vector<double>& b) {
      return text(table.find(b.data(), posed.force_floor.data(), posed.acceleration_floor.data()));
    };
    std::vector<double> low = posed.numbers.b;
    std::vector<double> high = low;
    draw(random, low);
    draw(random, high);
    const std::string first = at(low);
    if (first.empty() || at(high).empty() || first == at(high)) continue;
    // Towards the place where the mode of `low` ends, to the last bit.
    std::vector<double> middle = low;
    for (int step = 0; step < 200; ++step) {
      for (std::size_t k = 0; k < low.size(); ++k) middle[k] = 0.5 * (low[k] + high[k]);
      if (middle == low || middle == high) break;
      (at(middle) == first ? low : high) = middle;
    }
    ++changes;
    EXPECT_TRUE(at(high).empty()) << "seed " << kSeed << ", case " << i << '\n' << posed.numbers.text();
  }
  EXPECT_GT(changes, 10);
}

// A block on the ground, pushed and pulled up: k = b_N, f = b_T.
TEST(DecisionTable, KnowsTheBlockOnTheGround) {
  DecisionWorkspace workspace(1, 1);
  const double A[] = {1, 0, 0, 1};
  const double mu = 0.5;
  const double coupling = 1;
  DecisionProblem problem;
  problem.normals = problem.tangents = 1;
  problem.A = A;
  problem.mu_slip = problem.mu_static = &mu;
  problem.coupling = &coupling;
  DecisionTable table;
  ASSERT_TRUE(table.build(problem, {}, workspace));
  const auto mode = [&](double normal, double tangent) {
    const double b[] = {normal, tangent};
    return text(table.find(b, nullptr, nullptr));
  };
  EXPECT_EQ(mode(-1, 0.4), "closed stick");
  EXPECT_EQ(mode(-1, 0.6), "closed slip+");
  EXPECT_EQ(mode(-1, -0.6), "closed slip-");
  EXPECT_EQ(mode(1, 0.6), "open free");
  EXPECT_TRUE(mode(-1, 0.5).empty());
  EXPECT_TRUE(mode(0, 1).empty());
}

TEST(DecisionTable, LeavesTheReleaseFromRestToTheDecision) {
  DecisionWorkspace workspace(0, 1);
  const double A = 1;
  const double mu = 0.4;
  const double mu_static = 0.5;
  const double base = 1;
  DecisionProblem problem;
  problem.tangents = 1;
  problem.A = &A;
  problem.mu_slip = &mu;
  problem.mu_static = &mu_static;
  problem.base = &base;
  DecisionTable table;
  ASSERT_TRUE(table.build(problem, {}, workspace));
  double b = 0.45;
  const auto rests = table.find(&b, nullptr, nullptr);
  ASSERT_EQ(rests.size(), 1u);
  EXPECT_EQ(rests[0], RowStatus::stick);
  b = 0.6;
  EXPECT_TRUE(table.find(&b, nullptr, nullptr).empty());
}

TEST(DecisionTable, RefusesDependentRows) {
  DecisionWorkspace workspace(2, 0);
  const double A[] = {1, 1, 1, 1};
  DecisionProblem problem;
  problem.normals = 2;
  problem.A = A;
  DecisionTable table;
  EXPECT_FALSE(table.build(problem, {}, workspace));
}

}  // namespace
}  // namespace judder::contact
