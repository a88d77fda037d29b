#include "judder/contact/lcp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <sstream>
#include <vector>

#include "count.hpp"

namespace judder::contact {
namespace {

struct Lcp {
  int n = 0;
  std::vector<double> M, q;
  std::vector<std::uint8_t> free;
  [[nodiscard]] LcpProblem problem() const {
    return {n, M.data(), q.data(), free.empty() ? nullptr : free.data()};
  }
  [[nodiscard]] std::string text() const {
    std::ostringstream out;
    out.precision(17);
    out << "n = " << n << "\nM =";
    for (const double x : M) out << ' ' << x;
    out << "\nq =";
    for (const double x : q) out << ' ' << x;
    return out.str();
  }
};

// A positive definite or general matrix with a q that has the solution z by construction.
Lcp random_lcp(std::mt19937_64& random, int n, bool definite, bool mixed) {
  std::uniform_real_distribution<double> unit(-1, 1);
  Lcp lcp;
  lcp.n = n;
  std::vector<double> B(n * n);
  for (double& x : B) x = unit(random);
  lcp.M.assign(n * n, 0);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      if (!definite) {
        lcp.M[i * n + j] = B[i * n + j];
        continue;
      }
      for (int k = 0; k < n; ++k) lcp.M[i * n + j] += B[i * n + k] * B[j * n + k];
      lcp.M[i * n + j] += 0.3 * (B[i * n + j] - B[j * n + i]) + (i == j ? 0.1 : 0.0);
    }
  }
  std::vector<double> z(n), w(n);
  lcp.free.assign(mixed ? n : 0, 0);
  for (int i = 0; i < n; ++i) {
    const bool free = mixed && unit(random) < -0.4;
    if (mixed) lcp.free[i] = free ? 1 : 0;
    z[i] = free ? unit(random) : std::max(0.0, unit(random));
    w[i] = free || z[i] > 0 ? 0 : std::max(0.0, unit(random));
  }
  for (int i = 0; i < n; ++i) {
    double q = w[i];
    for (int j = 0; j < n; ++j) q -= lcp.M[i * n + j] * z[j];
    lcp.q.push_back(q);
  }
  return lcp;
}

TEST(Lcp, ResidualIsZeroAtSolutionsAndHasNoUnit) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int i = 0; i < count(5'000); ++i) {
    Lcp lcp = random_lcp(random, 4, true, false);
    LcpWorkspace workspace;
    const LcpSolution s = solve_lemke(lcp.problem(), {}, workspace);
    ASSERT_EQ(s.status, LcpStatus::solved);
    std::vector<double> z(s.z.begin(), s.z.end());
    EXPECT_LT(lcp_residual(lcp.problem(), z), 1e-12) << lcp.text();
    z[1] += 0.1;
    const double off = lcp_residual(lcp.problem(), z);
    EXPECT_GT(off, 1e-4) << lcp.text();
    // Other units of rows and unknowns.
    Lcp scaled = lcp;
    for (int r = 0; r < 4; ++r) {
      const double row = std::ldexp(1.0, 7 * r - 9);
      scaled.q[r] *= row;
      for (int c = 0; c < 4; ++c) scaled.M[r * 4 + c] *= row / std::ldexp(1.0, 3 * c);
    }
    for (int c = 0; c < 4; ++c) z[c] *= std::ldexp(1.0, 3 * c);
    EXPECT_DOUBLE_EQ(lcp_residual(scaled.problem(), z), off);
  }
}

TEST(Lcp, LemkeSolvesPositiveDefiniteProblems) {
  std::mt19937_64 random(2);
  LcpWorkspace workspace;
  for (int i = 0; i < count(20'000); ++i) {
    const Lcp lcp = random_lcp(random, 1 + i % 12, true, false);
    const LcpSolution s = solve_lemke(lcp.problem(), {}, workspace);
    ASSERT_EQ(s.status, LcpStatus::solved) << "case " << i << '\n' << lcp.text();
    ASSERT_LT(s.residual, 1e-10) << "case " << i << '\n' << lcp.text();
  }
}

TEST(Lcp, MixedProblemsKeepTheirFreeRowsAtZero) {
  std::mt19937_64 random(3);
  LcpWorkspace workspace;
  for (int i = 0; i < count(20'000); ++i) {
    const Lcp lcp = random_lcp(random, 1 + i % 10, true, true);
    const LcpSolution s = solve_lemke(lcp.problem(), {}, workspace);
    ASSERT_EQ(s.status, LcpStatus::solved) << "case " << i << '\n' << lcp.text();
    ASSERT_LT(s.residual, 1e-9) << "case " << i << '\n' << lcp.text();
    const LcpSolution e = solve_enumeration(lcp.problem(), {}, workspace);
    ASSERT_EQ(e.status, LcpStatus::solved) << "case " << i << '\n' << lcp.text();
    ASSERT_LT(e.residual, 1e-9) << "case " << i << '\n' << lcp.text();
  }
}

TEST(Lcp, WhatLemkeFindsEnumerationFinds) {
  // Matrices of no class: Lemke may end on a ray, but what it returns is a solution, and enumeration always
  // finds one here.
  std::mt19937_64 random(4);
  LcpWorkspace workspace;
  int rays = 0;
  for (int i = 0; i < count(20'000); ++i) {
    const Lcp lcp = random_lcp(random, 1 + i % 6, false, false);
    const LcpSolution s = solve_lemke(lcp.problem(), {}, workspace);
    if (s.status == LcpStatus::solved) {
      EXPECT_LT(s.residual, 1e-8) << "case " << i << '\n' << lcp.text();
    } else {
      EXPECT_EQ(s.status, LcpStatus::ray) << "case " << i << '\n' << lcp.text();
      ++rays;
    }
    const LcpSolution e = solve_enumeration(lcp.problem(), {}, workspace);
    EXPECT_EQ(e.status, LcpStatus::solved) << "case " << i << '\n' << lcp.text();
  }
  EXPECT_GT(rays, 0);  // otherwise the draws are too tame for this test
}

TEST(Lcp, LexicographicRuleEndsOnDegenerateProblems) {
  // All ratios tie at every pivot.
  LcpWorkspace workspace;
  for (int n = 2; n <= 20; ++n) {
    Lcp lcp;
    lcp.n = n;
    lcp.M.assign(n * n, 1.0);
    for (int i = 0; i < n; ++i) lcp.M[i * n + i] = 2;
    lcp.q.assign(n, -1.0);
    const LcpSolution s = solve_lemke(lcp.problem(), {}, workspace);
    ASSERT_EQ(s.status, LcpStatus::solved) << n;
    EXPECT_LT(s.residual, 1e-12);
    for (const double z : s.z) EXPECT_NEAR(z, 1.0 / (n + 1), 1e-12);
  }
}

TEST(Lcp, SaysWhenThereIsNoSolution) {
  LcpWorkspace workspace;
  Lcp lcp;
  lcp.n = 1;
  lcp.M = {-1};
  lcp.q = {-1};
  EXPECT_EQ(solve_lemke(lcp.problem(), {}, workspace).status, LcpStatus::ray);
  EXPECT_EQ(solve_enumeration(lcp.problem(), {}, workspace).status, LcpStatus::no_solution);
  lcp.q = {1};
  const LcpSolution both = solve_enumeration(lcp.problem(), {1e-10, true}, workspace);
  EXPECT_EQ(both.solutions, 2);
  Lcp contradictory;
  contradictory.n = 2;
  contradictory.M = {1, 1, 1, 1};
  contradictory.q = {-1, -2};
  contradictory.free = {1, 1};
  EXPECT_EQ(solve_lemke(contradictory.problem(), {}, workspace).status, LcpStatus::inconsistent_free_rows);
  contradictory.q = {-2, -2};
  const LcpSolution redundant = solve_lemke(contradictory.problem(), {}, workspace);
  EXPECT_EQ(redundant.status, LcpStatus::solved);
  EXPECT_NEAR(redundant.z[0] + redundant.z[1], 2, 1e-14);
}

TEST(LcpFile, RefusesWhatItCannotRead) {
  EXPECT_EQ(read_lcp("2 0 2 2 2 2 1 2 3 4 -1 -2 remark").size, 2);
  EXPECT_EQ(read_lcp("2 0 2 2 2 2 1 2 3 4 -1 -2 remark").M[1], 3);  // by columns
  EXPECT_NE(read_lcp("2 0 2 2 2 2 1 2 3").error, "");
  EXPECT_NE(read_lcp("2 0 2 2 2 2 1 2 3 4 -1 x").error, "");
  EXPECT_NE(read_lcp("2 1 2 2 2 2 1 2 3 4 -1 -2").error, "");
  EXPECT_NE(read_lcp("1e9 0 2 2 2 2").error, "");
  EXPECT_NE(read_lcp("2 0 2 3 2 2 1 2 3 4 -1 -2").error, "");
  EXPECT_NE(read_lcp("").error, "");
}

}  // namespace
}  // namespace judder::contact
