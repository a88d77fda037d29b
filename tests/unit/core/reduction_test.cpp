// Reduction and scaled elimination against Eigen.
#include "core/dense/reduction.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <limits>
#include <random>
#include <vector>

#include "core/dense/elimination.hpp"
#include "core/dense/matrix.hpp"
#include "count.hpp"

namespace judder::dense {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A matrix of this rank, entries of size one.
Matrix drawn(std::mt19937_64& random, int rows, int columns, int rank) {
  std::normal_distribution<double> normal;
  const auto entry = [&] { return normal(random); };
  return Matrix::NullaryExpr(rows, rank, entry) * Matrix::NullaryExpr(rank, columns, entry);
}

TEST(Reduce, SolvesSeveralRightHandSides) {
  std::mt19937_64 random(1);
  for (int round = 0; round < count(500); ++round) {
    const int n = 1 + round % 7, sides = 1 + round % 3;
    const Matrix a = drawn(random, n, n, n), x = drawn(random, n, sides, sides);
    Matrix all(n, n + sides);
    all << a, a * x;
    ASSERT_EQ(reduce(all.data(), n, n + sides), n);
    const double bound = 1e-13 * a.norm() * a.inverse().norm() * x.norm();
    for (int i = 0; i < n; ++i) {
      for (int s = 0; s < sides; ++s)
        EXPECT_NEAR(all(i, n + s) / all(i, i), x(i, s), bound) << "round " << round;
    }
  }
}

TEST(Reduce, NamesTheFirstColumnWithoutPivot) {
  // x + y = 1, 2x + 2y = 2, z = 3: nothing is left of the second column, and the others are solved.
  std::vector<double> a = {1, 1, 0, 1, 2, 2, 0, 2, 0, 0, 1, 3};
  EXPECT_EQ(reduce(a.data(), 3, 4), 1);
  EXPECT_EQ(a[2 * 4 + 3] / a[2 * 4 + 2], 3);
  std::vector<double> small = {1, 0, 1, 0, 1e-9, 1};
  EXPECT_EQ(reduce(small.data(), 2, 3, 1e-8), 1);
  std::vector<double> infinite = {std::numeric_limits<double>::infinity(), 1};
  EXPECT_EQ(reduce(infinite.data(), 1, 2), 0);
}

TEST(ReduceRanked, FindsRankAndSolution) {
  std::mt19937_64 random(2);
  for (int round = 0; round < count(500); ++round) {
    const int rows = 1 + round % 6, unknowns = 1 + round % 5;
    const int rank = 1 + round % std::min(rows, unknowns);
    const Matrix a = drawn(random, rows, unknowns, rank);
    const Matrix b = a * drawn(random, unknowns, 1, 1);
    Matrix all(rows, unknowns + 1);
    all << a, b;
    const auto size = [&](std::size_t i, std::size_t j) {
      return std::abs(all(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)));
    };
    const std::vector<Pivot> pivots =
        reduce_ranked(all.data(), static_cast<std::size_t>(rows), static_cast<std::size_t>(unknowns),
                      static_cast<std::size_t>(unknowns + 1), 1e-9, size);
    ASSERT_EQ(pivots.size(), static_cast<std::size_t>(rank)) << "round " << round;
    Matrix x = Matrix::Zero(unknowns, 1);
    for (const Pivot& at : pivots)
      x(static_cast<Eigen::Index>(at.column), 0) = all(static_cast<Eigen::Index>(at.row), unknowns);
    // Free unknowns are zero, and the rest solves all equations, those without a pivot too.
    EXPECT_LT((a * x - b).norm(), 1e-7 * (1 + b.norm())) << "round " << round;
  }
}

// W with some rows held is the Schur complement of what is left.
TEST(HoldRow, LeavesTheSchurComplement) {
  std::mt19937_64 random(5);
  for (int round = 0; round < count(300); ++round) {
    const int n = 2 + round % 5, held = 1 + round % (n - 1), left = n - held;
    const Matrix root = drawn(random, n, n, n), w = root * root.transpose();
    Matrix a = w;
    for (int k = 0; k < held; ++k)
      hold_row(a.data(), static_cast<std::size_t>(n), static_cast<std::size_t>(k));
    const Matrix inverse = w.topLeftCorner(held, held).inverse();
    const Matrix right = w.bottomRightCorner(left, left) -
                         w.bottomLeftCorner(left, held) * inverse * w.topRightCorner(held, left);
    EXPECT_LT((a.bottomRightCorner(left, left) - right).norm(),
              1e-11 * w.norm() * (1 + inverse.norm() * w.norm()))
        << round;
  }
}

TEST(SolveScaled, SolvesInAnyUnitsAndTellsTheSignOfTheDeterminant) {
  std::mt19937_64 random(3);
  std::uniform_int_distribution<int> power(-40, 40);
  for (int round = 0; round < count(500); ++round) {
    const int n = 1 + round % 6;
    Matrix a = drawn(random, n, n, n);
    const Matrix x = drawn(random, n, 1, 1);
    const double conditioned = a.norm() * a.inverse().norm() * x.norm();
    for (int i = 0; i < n; ++i) a.row(i) *= std::ldexp(1.0, power(random));
    Matrix b = a * x, used = a;
    std::vector<double> size(static_cast<std::size_t>(n));
    const int sign = solve_scaled(used.data(), b.data(), size.data(), static_cast<std::size_t>(n));
    EXPECT_EQ(sign, a.determinant() > 0 ? 1 : -1) << "round " << round;
    for (int i = 0; i < n; ++i) EXPECT_NEAR(b(i, 0), x(i, 0), 1e-12 * conditioned) << "round " << round;
  }
  std::vector<double> singular = {1, 2, 2, 4}, right = {1, 2}, size(2);
  EXPECT_EQ(solve_scaled(singular.data(), right.data(), size.data(), 2), 0);
}

TEST(OrthogonalTo, CompletesABasis) {
  std::mt19937_64 random(4);
  for (int round = 0; round < count(300); ++round) {
    const int width = 1 + round % 7, rank = round % (width + 1);
    const Matrix a = drawn(random, width + 2, width, rank);
    std::vector<std::vector<double>> rows;
    for (int i = 0; i < a.rows(); ++i) rows.emplace_back(a.data() + i * width, a.data() + (i + 1) * width);
    const auto basis = independent(std::move(rows), 1e-9);
    ASSERT_EQ(basis.size(), static_cast<std::size_t>(rank)) << "round " << round;
    const auto rest = orthogonal_to(basis, static_cast<std::size_t>(width));
    ASSERT_EQ(rest.size(), static_cast<std::size_t>(width - rank)) << "round " << round;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      for (const auto& each : basis) EXPECT_NEAR(dot(rest[i], each), 0, 1e-14);
      for (std::size_t j = 0; j < rest.size(); ++j) EXPECT_NEAR(dot(rest[i], rest[j]), i == j ? 1 : 0, 1e-14);
    }
  }
}

}  // namespace
}  // namespace judder::dense
