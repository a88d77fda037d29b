// Eigenvalues and solutions against Eigen.
#include "core/dense/matrix.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "count.hpp"

namespace judder::dense {
namespace {

TEST(Dense, EigenvaluesAreThoseOfEigen) {
  for (int seed = 0; seed < count(2000); ++seed) {
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    std::normal_distribution<double> normal;
    const int n = 1 + seed % 12;
    ComplexMatrix a(static_cast<std::size_t>(n));
    Eigen::MatrixXd b(n, n);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        b(i, j) = seed % 3 == 0 && j > i + 1 ? 0 : normal(random);  // every third is nearly triangular
        a(static_cast<std::size_t>(i), static_cast<std::size_t>(j)) = b(i, j);
      }
    }
    const std::vector<Complex> found = eigenvalues(a);
    ASSERT_EQ(found.size(), static_cast<std::size_t>(n)) << "seed " << seed;
    const Eigen::VectorXcd expected = b.eigenvalues();
    // Each has a partner.
    for (int i = 0; i < n; ++i) {
      double nearest = 1e300;
      for (const Complex& value : found) nearest = std::min(nearest, std::abs(value - expected(i)));
      EXPECT_LT(nearest, 1e-9 * (1 + b.norm())) << "seed " << seed << ", eigenvalue " << i;
    }
    for (std::size_t i = 1; i < found.size(); ++i) EXPECT_GE(found[i - 1].real(), found[i].real());
  }
}

TEST(Dense, MatricesWithHardSpectraConverge) {
  // A rotation (all eigenvalues of one size) and a matrix that is similar to no diagonal one.
  ComplexMatrix cycle(5);
  for (std::size_t i = 0; i < 5; ++i) cycle(i, (i + 1) % 5) = 1;
  const std::vector<Complex> roots = eigenvalues(cycle);
  ASSERT_EQ(roots.size(), 5U);
  for (const Complex& root : roots) EXPECT_NEAR(std::abs(std::pow(root, 5) - 1.0), 0, 1e-12);
  ComplexMatrix jordan(3);
  for (std::size_t i = 0; i < 3; ++i) jordan(i, i) = 2;
  jordan(0, 1) = jordan(1, 2) = 1;
  for (const Complex& value : eigenvalues(jordan)) EXPECT_NEAR(std::abs(value - 2.0), 0, 1e-4);
  ComplexMatrix broken(2);
  broken(0, 0) = NAN;
  EXPECT_TRUE(eigenvalues(broken).empty());
}

TEST(Dense, SolvesAndNoticesSingularity) {
  for (int seed = 0; seed < count(2000); ++seed) {
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    std::normal_distribution<double> normal;
    const auto n = static_cast<std::size_t>(1 + seed % 9);
    ComplexMatrix a(n);
    std::vector<Complex> b(2 * n);
    for (Complex& x : a.a) x = Complex(normal(random), normal(random));
    for (Complex& x : b) x = Complex(normal(random), normal(random));
    ComplexMatrix used = a;
    std::vector<Complex> x = b;
    ASSERT_TRUE(solve(used, x, 2)) << seed;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t c = 0; c < 2; ++c) {
        Complex sum = -b[2 * i + c];
        double size = 0;
        for (std::size_t j = 0; j < n; ++j) {
          sum += a(i, j) * x[2 * j + c];
          size += std::abs(a(i, j) * x[2 * j + c]);
        }
        EXPECT_LT(std::abs(sum), 1e-12 * (size + 1)) << "seed " << seed;
      }
    }
  }
  RealMatrix real(2);
  real.a = {0, 2, 4, 1};  // a row that must be changed for the other
  std::vector<double> right{6, 11};
  ASSERT_TRUE(solve(real, right));
  EXPECT_DOUBLE_EQ(right[0], 2);
  EXPECT_DOUBLE_EQ(right[1], 3);
  ComplexMatrix zero(2);
  zero(0, 0) = 1;
  std::vector<Complex> b(2, 1.0);
  EXPECT_FALSE(solve(zero, b));
}

}  // namespace
}  // namespace judder::dense
