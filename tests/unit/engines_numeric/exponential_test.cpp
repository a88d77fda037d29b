#include "engines/numeric/exponential.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "allocations.hpp"
#include "count.hpp"
#include "engines/numeric/linear.hpp"
#include "quad.hpp"

namespace judder::engines::numeric {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

struct Case {
  std::string name;
  int n;
  std::vector<double> a;
};

std::vector<Case> named_cases() {
  return {
      {"undamped", 2, {0, 1, -4, 0}},
      {"critically damped", 2, {0, 1, -1, -2}},
      {"overdamped, stiff", 2, {0, 1, -1e9, -1e6}},
      {"stiff spring in bad units", 2, {0, 1e-3, -1e12, 0}},
      {"free body", 2, {0, 1, 0, 0}},
      {"free fall with load", 3, {0, 1, 0, 0, 0, 1, 0, 0, 0}},
      {"Jordan block", 3, {-0.5, 1, 0, 0, -0.5, 1, 0, 0, -0.5}},
      {"resonance", 4, {0, 1, 0, 0, -1, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1, 0}},
      {"two masses, one free mode", 4, {0, 0, 1, 0, 0, 0, 0, 1, -10, 10, 0, 0, 10, -10, 0, 0}},
      {"ratio of a million", 4, {0, 0, 1, 0, 0, 0, 0, 1, -1e12, 1, -10, 0, 1, -1, 0, -0.1}},
      {"zero", 2, {0, 0, 0, 0}},
      {"saddle", 2, {0, 1, 1, 0}},
  };
}

std::vector<double> random_matrix(std::mt19937_64& random, int n) {
  std::normal_distribution<double> normal;
  std::vector<double> a(static_cast<std::size_t>(n * n));
  for (double& entry : a) entry = normal(random);
  return a;
}

/// Largest |E − exp(A 2^p)| in units of ε|exp(A 2^p)|, entry by entry; an entry that vanishes by cancellation
/// counts relative to 1e-14 of the largest of its row.
double worst_entry(DyadicExponentials& exponentials, const Case& which, int p) {
  Quad h = 1;
  for (int i = 0; i < p; ++i) h *= 2;
  for (int i = 0; i > p; --i) h /= 2;
  const auto exact = quad_exponential(which.n, which.a, h);
  const double* e = exponentials.at(p);
  double worst = 0;
  for (int i = 0; i < which.n; ++i) {
    double row = 0;
    for (int j = 0; j < which.n; ++j) {
      row = std::max(row, std::abs(static_cast<double>(exact[static_cast<std::size_t>(i * which.n + j)])));
    }
    for (int j = 0; j < which.n; ++j) {
      const Quad reference = exact[static_cast<std::size_t>(i * which.n + j)];
      const double size = std::max(std::abs(static_cast<double>(reference)), 1e-14 * row);
      if (size < 1e-280) continue;
      const auto error = static_cast<double>(magnitude(static_cast<Quad>(e[i * which.n + j]) - reference));
      worst = std::max(worst, error / size / kEpsilon);
    }
  }
  return worst;
}

/// |exp(A r)| |exp(A (τ − r))| |x|, largest over several r: what one rounding on the way may grow to.
std::vector<double> condition(const Case& which, double tau, const std::vector<double>& x) {
  std::vector<double> largest(x.size(), 0.0);
  const auto n = static_cast<std::size_t>(which.n);
  for (double rest : {tau, 0.99 * tau, 0.5 * tau, 0.1 * tau, 0.01 * tau, 1e-3, 1e-6, 2e-7}) {
    if (rest > tau) continue;
    const auto first = quad_exponential(which.n, which.a, static_cast<Quad>(tau) - static_cast<Quad>(rest));
    const auto second = quad_exponential(which.n, which.a, static_cast<Quad>(rest));
    for (std::size_t i = 0; i < n; ++i) {
      Quad sum = 0;
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t j = 0; j < n; ++j) {
          sum +=
              magnitude(second[i * n + k]) * magnitude(first[k * n + j]) * static_cast<Quad>(std::abs(x[j]));
        }
      }
      largest[i] = std::max(largest[i], static_cast<double>(sum));
    }
  }
  return largest;
}

TEST(DyadicExponentials, AreRightToTheLastBit) {
  for (const Case& which : named_cases()) {
    DyadicExponentials exponentials;
    exponentials.build(which.n, which.a.data());
    for (int p = -30; p <= 6; ++p) {
      EXPECT_LE(worst_entry(exponentials, which, p), 1) << which.name << ", exp(A 2^" << p << ")";
    }
  }
  std::mt19937_64 random(31);
  for (int trial = 0; trial < 30; ++trial) {
    const int n = 2 + trial % 7;
    const Case which{"random", n, random_matrix(random, n)};
    DyadicExponentials exponentials;
    exponentials.build(n, which.a.data());
    for (int p : {-20, -3, 0, 2, 4}) {
      EXPECT_LE(worst_entry(exponentials, which, p), 4) << "trial " << trial << ", exp(A 2^" << p << ")";
    }
  }
}

TEST(DyadicExponentials, KnowNilpotentMotionAndNaturalScales) {
  const auto scale = [](const std::vector<double>& a, int n) {
    DyadicExponentials exponentials;
    exponentials.build(n, a.data());
    return exponentials.nilpotent() ? 1000 : exponentials.natural_exponent();
  };
  EXPECT_EQ(scale({0, 1, 0, 0}, 2), 1000);
  EXPECT_EQ(scale({0, 1, 0, 0, 0, 1, 0, 0, 0}, 3), 1000);
  EXPECT_EQ(scale({0, 1, -1, 0}, 2), -1);
  // The same oscillator in other units of length ratio between the states: the scale does not move.
  EXPECT_EQ(scale({0, 1024, -1.0 / 1024, 0}, 2), -1);
  EXPECT_EQ(scale({0, 1, -16, 0}, 2), -3);
}

// 53 bits of x(t) after thousands of periods: the binary digits of t pick exact factors, so errors do not
// pile up.
TEST(DyadicExponentials, AdvanceOverLongTimesWithoutLosingBits) {
  std::mt19937_64 random(32);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (const Case& which : named_cases()) {
    if (which.name == "saddle") continue;  // grows beyond all numbers
    DyadicExponentials exponentials;
    exponentials.build(which.n, which.a.data());
    for (double scale : {1e-6, 1e-2, 1.0, 100.0, 1e4}) {
      const double tau = scale * (0.5 + uniform(random));
      std::vector<double> x(static_cast<std::size_t>(which.n));
      for (double& value : x) value = 2 * uniform(random) - 1;
      std::vector<double> out(x.size());
      exponentials.advance(x.data(), tau, out.data());
      const auto exact = quad_exponential(which.n, which.a, static_cast<Quad>(tau));
      const auto largest = condition(which, tau, x);
      for (int i = 0; i < which.n; ++i) {
        Quad sum = 0;
        for (int j = 0; j < which.n; ++j) {
          sum += exact[static_cast<std::size_t>(i * which.n + j)] *
                 static_cast<Quad>(x[static_cast<std::size_t>(j)]);
        }
        const auto at = static_cast<std::size_t>(i);
        const auto error = static_cast<double>(magnitude(static_cast<Quad>(out[at]) - sum));
        EXPECT_LE(error, 20 * kEpsilon * largest[at] + 1e-300)
            << which.name << ", tau " << tau << ", component " << i;
      }
    }
  }
}

TEST(DyadicExponentials, ComposeAsAGroup) {
  std::mt19937_64 random(33);
  for (int trial = 0; trial < 20; ++trial) {
    const int n = 3 + trial % 4;
    const auto a = random_matrix(random, n);
    DyadicExponentials exponentials;
    exponentials.build(n, a.data());
    std::vector<double> x(static_cast<std::size_t>(n), 1.0), once(x.size()), half(x.size()), twice(x.size());
    exponentials.advance(x.data(), 1.7, once.data());
    exponentials.advance(x.data(), 0.9, half.data());
    exponentials.advance(half.data(), 0.8, twice.data());
    double size = 0;
    for (double value : once) size = std::max(size, std::abs(value));
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(once[i], twice[i], 1e-13 * size) << "trial " << trial;
  }
}

TEST(DyadicExponentials, GiveTheSameBitsWhenUnitsChangeByPowersOfTwo) {
  const double length = 4096;
  const std::vector<double> a{0, 0, 1, 0, 0, 0, 0, 1, -3, 1, -0.1, 0, 1, -2, 0, -0.3};
  std::vector<double> scaled = a;
  // Second coordinate and its velocity in another unit.
  const double unit[4] = {1, length, 1, length};
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) scaled[static_cast<std::size_t>(4 * i + j)] *= unit[i] / unit[j];
  }
  DyadicExponentials one, other;
  one.build(4, a.data());
  other.build(4, scaled.data());
  EXPECT_EQ(one.natural_exponent(), other.natural_exponent());
  const double x[4] = {0.3, -0.2, 0.7, 0.1};
  const double y[4] = {0.3, -0.2 * length, 0.7, 0.1 * length};
  double out[4], out_scaled[4];
  one.advance(x, 7.3, out);
  other.advance(y, 7.3, out_scaled);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(out[i] * unit[i], out_scaled[i]);
}

// Closed forms: constant, ramp, exponential, harmonic, resonant and t² cos loads on an oscillator.
// Small matrices are multiplied two and four rows at a time, large ones row by row: a system inside of a larger one that it does not touch has the same bits.
TEST(DyadicExponentials, AdvanceExactlyToTheSameBitsWhateverTheirSize) {
  constexpr int kLarge = 40;  // beyond what is multiplied by several rows
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> power(-12, 12), chance(0, 2);
  for (int round = 0; round < count(300); ++round) {
    const int n = 1 + round % 9;
    std::vector<double> a(static_cast<std::size_t>(n * n)), wide(kLarge * kLarge, 0.0);
    std::vector<double> x(static_cast<std::size_t>(n)), wide_x(kLarge, 0.0), out(x), wide_out(wide_x);
    for (int i = 0; i < n; ++i) {
      x[i] = wide_x[i] = std::ldexp(normal(random), power(random));
      for (int j = 0; j < n; ++j)
        a[i * n + j] = wide[i * kLarge + j] = chance(random) == 0 ? 0 : normal(random);
      a[i * n + i] = wide[i * kLarge + i] = -std::abs(normal(random));
    }
    DyadicExponentials small, large;
    small.build(n, a.data());
    large.build(kLarge, wide.data());
    for (const double tau : {0.25, 2.0, 1.7 + normal(random) * 0.1}) {
      small.advance_exactly(x.data(), tau, out.data());
      large.advance_exactly(wide_x.data(), tau, wide_out.data());
      for (int i = 0; i < n; ++i) ASSERT_EQ(out[i], wide_out[i]) << "n " << n << ", row " << i << ", " << tau;
    }
  }
}

TEST(LinearMotion, CarriesItsLoadsExactly) {
  const double omega = 3;
  const double a[4] = {0, 1, -omega * omega, 0};
  const std::vector<double> push{0, 1};
  const double t0 = 0.37;
  const double x0[2] = {0.2, -0.5};
  const double tau = 2.9;
  const auto response = [&](const LoadTerm& load) {
    LinearMotion motion;
    motion.build(2, a, {&load, 1});
    std::vector<double> start(static_cast<std::size_t>(motion.size())), end(start.size());
    motion.start(t0, x0, start.data());
    DyadicExponentials exponentials;
    exponentials.build(motion.size(), motion.matrix());
    exponentials.advance(start.data(), tau, end.data());
    return end[0];
  };
  // x = particular(t) + free motion that fits the start.
  const auto expected = [&](const std::function<double(double)>& particular, double particular_rate) {
    const double c = x0[0] - particular(t0);
    const double s = (x0[1] - particular_rate) / omega;
    return particular(t0 + tau) + c * std::cos(omega * tau) + s * std::sin(omega * tau);
  };
  EXPECT_NEAR(response({.power = 0, .cosine = push}),
              expected([&](double) { return 1 / (omega * omega); }, 0), 4e-15);
  EXPECT_NEAR(response({.power = 1, .cosine = push}),
              expected([&](double t) { return t / (omega * omega); }, 1 / (omega * omega)), 4e-15);
  const double sigma = -0.8;
  const double gain = 1 / (sigma * sigma + omega * omega);
  EXPECT_NEAR(
      response({.power = 0, .rate = sigma, .cosine = push}),
      expected([&](double t) { return gain * std::exp(sigma * t); }, gain * sigma * std::exp(sigma * t0)),
      4e-15);
  const double other = 1.7;
  const double quotient = 1 / (omega * omega - other * other);
  EXPECT_NEAR(response({.power = 0, .frequency = other, .cosine = push}),
              expected([&](double t) { return quotient * std::cos(other * t); },
                       -quotient * other * std::sin(other * t0)),
              4e-15);
  EXPECT_NEAR(response({.power = 0, .frequency = omega, .cosine = push}),
              expected([&](double t) { return t * std::sin(omega * t) / (2 * omega); },
                       std::sin(omega * t0) / (2 * omega) + t0 * std::cos(omega * t0) / 2),
              8e-15);
  EXPECT_NEAR(response({.power = 0, .frequency = omega, .cosine = {}, .sine = push}),
              expected([&](double t) { return -t * std::cos(omega * t) / (2 * omega); },
                       -std::cos(omega * t0) / (2 * omega) + t0 * std::sin(omega * t0) / 2),
              8e-15);
}

TEST(LinearMotion, SharesOneChainForEqualRates) {
  const double a[1] = {-1};
  const std::vector<LoadTerm> loads{{.power = 0, .cosine = {1}},
                                    {.power = 2, .cosine = {3}},
                                    {.power = 1, .frequency = 2, .cosine = {1}},
                                    {.power = 0, .frequency = 2, .sine = {1}}};
  LinearMotion motion;
  motion.build(1, a, loads);
  EXPECT_EQ(motion.size(), 1 + 3 + 4);
  std::vector<double> start(8);
  const double x[1] = {5};
  motion.start(0.5, x, start.data());
  double rate = 0;
  for (std::size_t j = 0; j < 8; ++j) rate += motion.matrix()[j] * start[j];
  EXPECT_NEAR(rate, -5 + 1 + 3 * 0.25 + 0.5 * std::cos(1.0) + std::sin(1.0), 1e-15);
}

TEST(DyadicExponentials, AllocateNothingAfterBuild) {
  DyadicExponentials exponentials;
  const double a[4] = {0, 1, -1, -0.1};
  exponentials.build(2, a);
  const double x[2] = {1, 0};
  double out[2];
  const long before = allocations();
  exponentials.advance(x, 123.4, out);
  EXPECT_EQ(allocations(), before);
}

}  // namespace
}  // namespace judder::engines::numeric
