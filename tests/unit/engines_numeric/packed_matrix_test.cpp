#include "engines/numeric/packed_matrix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "engines/numeric/exponential.hpp"
#include "engines/numeric/power_of_two.hpp"
#include "quad.hpp"

namespace judder::engines::numeric {
namespace {

/// Random numbers of both signs over many magnitudes, some of them zero.
std::vector<double> numbers(std::mt19937_64& random, int count) {
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> power(-40, 40);
  std::vector<double> out(static_cast<std::size_t>(count));
  for (double& x : out) x = power(random) > 30 ? 0 : std::ldexp(normal(random), power(random));
  return out;
}

TEST(PackedMatrix, ProductsHaveTheBitsOfThePlainLoopsForAllSizes) {
  std::mt19937_64 random(11);
  for (int n = 1; n <= 40; ++n) {
    const std::vector<double> m = numbers(random, n * n), x = numbers(random, n);
    std::vector<double> weight = numbers(random, n), packed(packed_size(n)), out(x), bound(x), both_out(x);
    for (double& w : weight) w = std::abs(w);
    pack(n, m.data(), packed.data());
    multiply(n, packed.data(), x.data(), out.data());
    multiply_bounded(n, packed.data(), x.data(), weight.data(), both_out.data(), bound.data());
    double form = 0, absolute_form = 0;
    for (int i = 0; i < n; ++i) {
      double sum = 0, error = 0;
      for (int j = 0; j < n; ++j) {
        sum += m[i * n + j] * x[j];
        error += std::abs(m[i * n + j]) * weight[j];
        absolute_form += std::abs(x[i] * m[i * n + j] * x[j]);
      }
      ASSERT_EQ(out[i], sum) << n << ", row " << i;
      ASSERT_EQ(both_out[i], sum) << n << ", row " << i;
      ASSERT_EQ(bound[i], error) << n << ", row " << i;
      form += x[i] * sum;
    }
    double terms = 0;
    ASSERT_EQ(quadratic_form(n, packed.data(), x.data(), terms), form) << n;
    ASSERT_NEAR(terms, absolute_form, 1e-14 * absolute_form) << n;
  }
}

TEST(PackedMatrix, AProductWritesNoMoreThanItsRows) {
  for (int n = 1; n <= 17; ++n) {
    const std::vector<double> m(static_cast<std::size_t>(n * n), 1.0), x(static_cast<std::size_t>(n), 1.0);
    std::vector<double> packed(packed_size(n)), out(static_cast<std::size_t>(n + 1), -7.0), memory(x);
    pack(n, m.data(), packed.data());
    multiply(n, packed.data(), x.data(), out.data());
    EXPECT_EQ(out[n], -7) << n;
    exponential_series(n, packed.data(), x.data(), 0.1, 3, out.data(), memory.data());
    EXPECT_EQ(out[n], -7) << n;
  }
}

// Chains of masses: what the first does to the last is tiny and comes late in the series, and still has its bits.
TEST(PackedMatrix, TheSeriesKeepsTheLastBitsOfWhatActsThroughManySteps) {
  for (const int masses : {1, 2, 3, 4, 6, 9}) {
    const int n = 2 * masses;
    std::vector<double> a(static_cast<std::size_t>(n * n));
    for (int i = 0; i < masses; ++i) {
      a[i * n + masses + i] = 1;
      a[(masses + i) * n + i] = -2;
      if (i > 0) a[(masses + i) * n + i - 1] = 1;
      if (i + 1 < masses) a[(masses + i) * n + i + 1] = 1;
    }
    DyadicExponentials exponentials;
    exponentials.build(n, a.data());
    std::vector<double> x(static_cast<std::size_t>(n)), out(x);
    x[0] = 1;
    for (const double share : {1e-9, 0.003, 1.0 / 16, 0.9}) {
      const double tau = share * power_of_two(exponentials.natural_exponent());
      exponentials.series(x.data(), tau, out.data());
      const auto exact = quad_exponential(n, a, tau);
      for (int i = 0; i < n; ++i) {
        const double expected = static_cast<double>(exact[i * n]);
        EXPECT_NEAR(out[i], expected, 16 * 2.3e-16 * std::abs(expected))
            << masses << " masses, share " << share << ", state " << i;
      }
    }
  }
}

TEST(PowerOfTwo, IsThatOfTheLibraryOverTheWholeRange) {
  for (int p = -1080; p <= 1030; ++p) {
    ASSERT_EQ(power_of_two(p), std::ldexp(1.0, p)) << p;
    const double x = std::ldexp(1.7, p);
    if (x > 0 && std::isfinite(x)) {
      ASSERT_EQ(exponent_of(x), std::ilogb(x)) << p;
      ASSERT_EQ(exponent_of(-x), std::ilogb(x)) << p;
    }
  }
}

}  // namespace
}  // namespace judder::engines::numeric
