#include "core/dense/ranked_lu.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "count.hpp"

namespace judder::dense {
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

/// The same factorisation as it is defined, over all rows and columns: complete pivoting, of equal entries the first row, then the first column, in their
/// present order. False: not finite.
bool plain_factor(std::vector<double>& a, const std::vector<double>& size, std::vector<int>& row,
                  std::vector<int>& column, int& rank) {
  const int n = static_cast<int>(size.size());
  const auto share = [&](int r, int c) { return a[r * n + c] / size[r] * (a[r * n + c] / size[c]); };
  double first = 0;
  for (rank = 0; rank < n; ++rank) {
    int best_row = rank, best_column = rank;
    double best = -1;
    for (int i = rank; i < n; ++i) {
      for (int j = rank; j < n; ++j) {
        if (!std::isfinite(a[row[i] * n + column[j]])) return false;
        if (share(row[i], column[j]) <= best) continue;
        best = share(row[i], column[j]);
        best_row = i;
        best_column = j;
      }
    }
    if (rank == 0) first = best;
    if (!(best > 1e-20 * first)) return true;
    std::swap(row[rank], row[best_row]);
    std::swap(column[rank], column[best_column]);
    for (int i = rank + 1; i < n; ++i) {
      const double ratio = a[row[i] * n + column[rank]] / a[row[rank] * n + column[rank]];
      a[row[i] * n + column[rank]] = ratio;
      for (int j = rank + 1; j < n && ratio != 0; ++j)
        a[row[i] * n + column[j]] -= ratio * a[row[rank] * n + column[j]];
    }
  }
  return true;
}

// Blocks that are not coupled, their unknowns mixed, with small whole numbers, so that many entries are equal: pivots and bits are those of the whole.
TEST(RankedLu, BlocksAreFactoredAsTheWholeIs) {
  std::mt19937_64 random(20171);
  for (int test = 0; test < count(3000); ++test) {
    const int n = 1 + static_cast<int>(random() % 24);
    const int blocks = 1 + static_cast<int>(random() % 8);
    std::vector<int> block(n);
    for (int& b : block) b = static_cast<int>(random() % blocks);
    std::vector<double> a(n * n), size(n), right(n);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        if (block[i] == block[j]) a[i * n + j] = static_cast<double>(random() % 5) - 2;
      }
      size[i] = 1 + static_cast<double>(random() % 2);
      right[i] = static_cast<double>(random() % 7) - 3;
    }
    RankedLu lu;
    lu.resize(n);
    std::copy(a.begin(), a.end(), lu.matrix());
    std::vector<int> row(n), column(n);
    for (int i = 0; i < n; ++i) row[i] = column[i] = i;
    int rank = 0;
    ASSERT_TRUE(plain_factor(a, size, row, column, rank));
    ASSERT_TRUE(lu.factor(size.data()));
    ASSERT_EQ(lu.rank(), rank) << "test " << test;
    std::vector<double> y(n), x(n);
    for (int p = 0; p < rank; ++p) {
      ASSERT_EQ(lu.row(p), row[p]) << "test " << test << ", pivot " << p;
      ASSERT_EQ(lu.column(p), column[p]) << "test " << test << ", pivot " << p;
      y[p] = right[row[p]];
      for (int j = 0; j < p; ++j) y[p] -= a[row[p] * n + column[j]] * y[j];
    }
    for (int p = rank - 1; p >= 0; --p) {
      double sum = y[p];
      for (int j = p + 1; j < rank; ++j) sum -= a[row[p] * n + column[j]] * x[column[j]];
      x[column[p]] = sum / a[row[p] * n + column[p]];
    }
    lu.solve(right.data());
    for (int i = 0; i < n; ++i) ASSERT_EQ(right[i], x[i]) << "test " << test << ", unknown " << i;
  }
}

}  // namespace
}  // namespace judder::dense
