#include "engines/numeric/ranked_lu.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "count.hpp"

namespace judder::engines::numeric {
namespace {

/// A = B Bᵀ in units: D B Bᵀ D with B n × r, so the rank is r and the rows depend on each other where r < n.
struct Case {
  int n = 0;
  int rank = 0;
  std::vector<double> b, unit, a, size;
};

Case random_case(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  Case c;
  c.n = 1 + static_cast<int>(random() % 6);
  c.rank = 1 + static_cast<int>(random() % c.n);
  for (int i = 0; i < c.n * c.rank; ++i) c.b.push_back(normal(random));
  for (int i = 0; i < c.n; ++i) c.unit.push_back(std::pow(10.0, static_cast<double>(random() % 13) - 6));
  c.a.resize(c.n * c.n);
  for (int i = 0; i < c.n; ++i) {
    for (int j = 0; j < c.n; ++j) {
      double sum = 0;
      for (int k = 0; k < c.rank; ++k) sum += c.b[i * c.rank + k] * c.b[j * c.rank + k];
      c.a[i * c.n + j] = c.unit[i] * sum * c.unit[j];
    }
  }
  for (int i = 0; i < c.n; ++i) c.size.push_back(c.a[i * c.n + i]);
  return c;
}

TEST(RankedLu, FindsTheRankAndASolutionInAnyUnits) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  for (int i = 0; i < count(100000); ++i) {
    const Case c = random_case(random);
    RankedLu lu;
    lu.resize(c.n);
    std::copy(c.a.begin(), c.a.end(), lu.matrix());
    ASSERT_TRUE(lu.factor(c.size.data()));
    ASSERT_EQ(lu.rank(), c.rank) << "seed 11, case " << i;
    // A right-hand side in the range.
    std::vector<double> x(c.n), right(c.n), scale(c.n);
    for (int k = 0; k < c.n; ++k) x[k] = normal(random) / c.unit[k];
    for (int k = 0; k < c.n; ++k) {
      for (int j = 0; j < c.n; ++j) {
        right[k] += c.a[k * c.n + j] * x[j];
        scale[k] += std::abs(c.a[k * c.n + j] * x[j]);
      }
    }
    std::vector<double> solution = right;
    lu.solve(solution.data());
    for (int k = 0; k < c.n; ++k) {
      double sum = -right[k];
      for (int j = 0; j < c.n; ++j) {
        sum += c.a[k * c.n + j] * solution[j];
        scale[k] = std::max(scale[k], std::abs(c.a[k * c.n + j] * solution[j]));
      }
      EXPECT_LE(std::abs(sum), 1e-7 * scale[k]) << "seed 11, case " << i << ", equation " << k;
    }
    if (HasFailure()) break;
  }
}

// Three unknowns, the last two of which only count together.
TEST(RankedLu, KnowsWhichUnknownsAreUnique) {
  RankedLu lu;
  lu.resize(3);
  const double a[9] = {2, 0, 0, 0, 1, 1, 0, 1, 1};
  const double size[3] = {2, 1, 1};
  std::copy(a, a + 9, lu.matrix());
  ASSERT_TRUE(lu.factor(size));
  EXPECT_EQ(lu.rank(), 2);
  EXPECT_TRUE(lu.unique(0));
  EXPECT_FALSE(lu.unique(1));
  EXPECT_FALSE(lu.unique(2));
  double x[3] = {4, 3, 3};
  lu.solve(x);
  EXPECT_EQ(x[0], 2);
  EXPECT_EQ(x[1] + x[2], 3);
}

}  // namespace
}  // namespace judder::engines::numeric
