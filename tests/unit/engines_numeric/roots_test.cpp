#include "engines/numeric/roots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "allocations.hpp"
#include "count.hpp"

namespace judder::engines::numeric {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

struct Sampled {
  std::vector<double> bernstein;
  Interpolation info;
};

Sampled sample(const SamplingGrid& grid, const std::function<double(double)>& f, int zeros = 0) {
  std::vector<double> values;
  for (int j = 0; j < grid.points(); ++j) values.push_back(f(grid.theta(j)));
  Sampled result{std::vector<double>(static_cast<std::size_t>(grid.points())), {}};
  result.info = grid.interpolate(values.data(), 1, zeros, result.bernstein.data());
  return result;
}

/// Bernstein coefficients of c Π (θ − r), in long double: multiplication by (θ − r) = −r(1−θ) + (1−r)θ.
std::vector<double> from_roots(const std::vector<double>& roots, long double factor) {
  std::vector<long double> b{factor};
  for (double root : roots) {
    const auto degree = static_cast<long double>(b.size());
    std::vector<long double> next(b.size() + 1, 0);
    for (std::size_t i = 0; i < b.size(); ++i) {
      const auto at = static_cast<long double>(i);
      next[i] += b[i] * -static_cast<long double>(root) * (degree - at) / degree;
      next[i + 1] += b[i] * (1 - static_cast<long double>(root)) * (at + 1) / degree;
    }
    b = next;
  }
  return {b.begin(), b.end()};
}

double largest(const std::vector<double>& values) {
  double size = 0;
  for (double value : values) size = std::max(size, std::abs(value));
  return size;
}

RootList isolate(const std::vector<double>& bernstein, double band) {
  RootList roots;
  EXPECT_TRUE(numeric::isolate(bernstein.data(), static_cast<int>(bernstein.size()) - 1, band, roots));
  for (int i = 1; i < roots.size(); ++i) EXPECT_LE(roots[i - 1].theta, roots[i].theta);
  return roots;
}

std::vector<Root> crossings(const RootList& roots) {
  std::vector<Root> result;
  for (const Root& root : roots) {
    if (root.kind != RootKind::graze) result.push_back(root);
  }
  return result;
}

TEST(SamplingGrid, ReproducesPolynomialsUpToItsDegree) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int degree : {4, 8, 12, 16}) {
    const SamplingGrid grid(degree);
    for (int trial = 0; trial < 50; ++trial) {
      std::vector<double> exact(static_cast<std::size_t>(degree) + 1);
      for (double& value : exact) value = uniform(random);
      const Sampled sampled =
          sample(grid, [&](double theta) { return bernstein_value(exact.data(), degree, theta); });
      for (int i = 0; i <= 20; ++i) {
        const double theta = i / 20.0;
        const double error = std::abs(bernstein_value(sampled.bernstein.data(), degree, theta) -
                                      bernstein_value(exact.data(), degree, theta));
        // The condition of the map from samples to coefficients is C(2N, N)/C(N, N/2): 184 for N = 8, 46706
        // for N = 16.
        EXPECT_LT(error, (degree <= 8 ? 1e-13 : degree <= 12 ? 2e-12 : 4e-11)) << "degree " << degree;
      }
    }
  }
}

TEST(SamplingGrid, EstimatesItsInterpolationErrorOnSmoothFunctions) {
  std::mt19937_64 random(12);
  std::uniform_real_distribution<double> uniform(0, 1);
  int pessimistic = 0;
  int fooled = 0;
  int fooled_by_five = 0;
  int cases = 0;
  const std::vector<SamplingGrid> grids{SamplingGrid(4), SamplingGrid(8), SamplingGrid(12), SamplingGrid(16)};
  for (int trial = 0; trial < count(20'000); ++trial) {
    const double frequency = 0.2 + 3 * uniform(random);
    const double phase = 6.3 * uniform(random);
    const double growth = 2 * uniform(random) - 1;
    const double pole = 1.3 + 2 * uniform(random);
    const auto f = [&](double theta) {
      return std::sin(frequency * theta + phase) * std::exp(growth * theta) + 0.3 / (theta + pole - 1);
    };
    for (const SamplingGrid& grid : grids) {
      const int degree = grid.degree();
      const Sampled sampled = sample(grid, f);
      double error = 0;
      for (int i = 0; i <= 40; ++i) {
        const double theta = i / 40.0;
        error =
            std::max(error, std::abs(bernstein_value(sampled.bernstein.data(), degree, theta) - f(theta)));
      }
      ++cases;
      (degree == 4 ? fooled_by_five : fooled) += error < 2 * sampled.info.error ? 0 : 1;
      if (degree > 4) {
        EXPECT_LT(error, 30 * sampled.info.error) << "trial " << trial << ", degree " << degree;
      }
      if (sampled.info.error > 1e3 * error && sampled.info.error > 1e-9) ++pessimistic;
    }
  }
  EXPECT_LT(pessimistic, cases / 20);
  EXPECT_LE(fooled, cases / 2000);
  EXPECT_LT(fooled_by_five, cases / 100);
}

TEST(SamplingGrid, ReportsNotANumberAsAnInfiniteError) {
  const SamplingGrid grid(8);
  const Sampled sampled = sample(grid, [](double theta) { return std::sqrt(theta - 0.5); });
  EXPECT_EQ(sampled.info.error, std::numeric_limits<double>::infinity());
  RootList roots;
  EXPECT_FALSE(numeric::isolate(sampled.bernstein.data(), 8, 0, roots));
  EXPECT_TRUE(roots.empty());
}

// docs/theory.md, "What ends a mode": every crossing deeper than the tolerance is found. A smooth function that is positive at
// both ends of the step dips below zero by 100 tolerances somewhere inside.
TEST(Roots, FindEveryHiddenDoubleCrossing) {
  const double tolerance = 1e-9;
  std::mt19937_64 random(13);
  std::uniform_real_distribution<double> uniform(0, 1);
  const SamplingGrid grid(12);
  int accepted = 0;
  for (int trial = 0; trial < count(100'000); ++trial) {
    const double middle = 0.01 + 0.98 * uniform(random);
    const double a = 2 * uniform(random) - 1;
    const double b = 1.5 * uniform(random);
    const double c = 6.3 * uniform(random);
    const auto q = [&](double theta) { return std::exp(a * theta + 0.5 * std::sin(b * theta + c)); };
    const double half = std::sqrt(100 * tolerance / q(middle));
    const auto f = [&](double theta) {
      return q(theta) * ((theta - middle) * (theta - middle) - half * half);
    };
    const Sampled sampled = sample(grid, f);
    if (sampled.info.error > tolerance) continue;  // the engine would shorten the step
    ++accepted;
    const RootList list = isolate(sampled.bernstein, tolerance);
    const auto roots = crossings(list);
    ASSERT_EQ(roots.size(), 2u) << "trial " << trial;
    const double slope = 2 * half * q(middle);
    EXPECT_NEAR(roots[0].theta, middle - half, 2 * tolerance / slope) << "trial " << trial;
    EXPECT_NEAR(roots[1].theta, middle + half, 2 * tolerance / slope) << "trial " << trial;
    EXPECT_EQ(roots[0].kind, RootKind::falling);
    EXPECT_EQ(roots[1].kind, RootKind::rising);
  }
  EXPECT_GT(accepted, count(100'000) * 9 / 10);
}

TEST(Roots, GrazesWithinTheBandAreReportedWithTheirDepth) {
  for (double depth : {-3e-4, -1e-6, 1e-6, 3e-4}) {
    const std::vector<double> b{0.09 + depth, -0.21 + depth, 0.49 + depth};  // (θ − 0.3)² + depth
    const RootList roots = isolate(b, 1e-3);
    int grazes = 0;
    for (const Root& root : roots) {
      if (root.kind != RootKind::graze) continue;
      ++grazes;
      EXPECT_NEAR(root.theta, 0.3, 1e-8);
      EXPECT_NEAR(root.value, depth, 1e-15);
    }
    EXPECT_EQ(grazes, 1);
    EXPECT_EQ(crossings(roots).size(), depth < 0 ? 2u : 0u);
    EXPECT_EQ(isolate(b, 1e-7).size(), depth < 0 ? 2 : 0);
  }
}

// All zeros prescribed. Two that lie closer than rounding can tell are one graze; no other pair may be lost
// or merged.
TEST(Roots, FindPrescribedRootsOfPolynomialsDownToRounding) {
  std::mt19937_64 random(14);
  std::uniform_real_distribution<double> uniform(0, 1);
  int merged = 0;
  for (int trial = 0; trial < count(100'000); ++trial) {
    const double distance = std::pow(10.0, -2 - 5 * uniform(random));
    const double first = 0.02 + 0.9 * uniform(random);
    std::vector<double> roots{first, first + distance};
    const int others = static_cast<int>(6 * uniform(random));
    for (int i = 0; i < others; ++i) {
      const double root = 4 * uniform(random) - 1.5;
      roots.push_back(std::abs(root - first) < 0.1 ? root + 2 : root);
    }
    const auto b = from_roots(roots, uniform(random) < 0.5 ? 1 : -1);
    const double floor = 8 * kEpsilon * largest(b);
    const double cofactor = [&] {
      double product = 1;
      for (std::size_t i = 2; i < roots.size(); ++i) product *= std::abs(first - roots[i]);
      return product;
    }();
    const double depth = cofactor * distance * distance / 4;
    const RootList list = isolate(b, 0);
    std::vector<double> found;
    for (const Root& root : list) {
      if (std::abs(root.theta - first) < 1.5 * distance + 1e-6) found.push_back(root.theta);
    }
    if (depth > 4 * floor) {
      ASSERT_EQ(found.size(), 2u) << "trial " << trial << ", distance " << distance;
      const double uncertainty = 2 * floor / (cofactor * distance) + 4 * kEpsilon;
      EXPECT_NEAR(found[0], first, uncertainty) << "trial " << trial;
      EXPECT_NEAR(found[1], first + distance, uncertainty) << "trial " << trial;
    } else {
      ++merged;
      ASSERT_TRUE(found.size() == 1 || found.size() == 2) << "trial " << trial << ", distance " << distance;
    }
    int inside = 0;
    for (double root : roots) inside += root > 0 && root <= 1 ? 1 : 0;
    const auto simple = crossings(list);
    if (depth > 4 * floor && others == 0) {
      EXPECT_EQ(static_cast<int>(simple.size()), inside);
    }
  }
  EXPECT_GT(merged, 0) << "no case came close to rounding";
}

TEST(Roots, DirectionsAlternateAndAgreeWithTheSignsBetween) {
  std::mt19937_64 random(15);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < count(100'000); ++trial) {
    const int degree = 2 + trial % 15;
    std::vector<double> b(static_cast<std::size_t>(degree) + 1);
    for (double& value : b) value = normal(random);
    const auto roots = crossings(isolate(b, 0));
    double last = 0;
    int sign = b.front() > 0 ? 1 : -1;
    for (const Root& root : roots) {
      const double between = bernstein_value(b.data(), degree, 0.5 * (last + root.theta));
      EXPECT_GT(between * sign, 0) << "trial " << trial << ", theta " << root.theta;
      EXPECT_EQ(root.kind, sign > 0 ? RootKind::falling : RootKind::rising) << "trial " << trial;
      EXPECT_LT(root.slope * sign, 0) << "trial " << trial;
      EXPECT_NEAR(bernstein_value(b.data(), degree, root.theta), 0, 8 * kEpsilon * largest(b))
          << "trial " << trial;
      sign = -sign;
      last = root.theta;
    }
    EXPECT_GT(b.back() * sign, 0) << "trial " << trial;
    // Nothing between: values on a fine grid have the sign that the list says.
    for (int i = 1; i < 200; ++i) {
      const double theta = i / 200.0;
      int expected = b.front() > 0 ? 1 : -1;
      for (const Root& root : roots) expected = root.theta < theta ? -expected : expected;
      const double value = bernstein_value(b.data(), degree, theta);
      if (std::abs(value) <= 1e-13) continue;
      ASSERT_GT(value * expected, 0) << "trial " << trial << ", theta " << theta;
    }
  }
}

TEST(Roots, ADoubleRootIsOneGrazeAndATripleRootOneCrossing) {
  for (double place : {0.25, 0.3, 0.5, 0.7, 1.0 / 3, 0.01, 0.99}) {
    const RootList twice = isolate(from_roots({place, place}, 1), 0);
    ASSERT_EQ(twice.size(), 1) << place;
    EXPECT_EQ(twice[0].kind, RootKind::graze);
    EXPECT_NEAR(twice[0].theta, place, 1e-7);
    const RootList thrice = isolate(from_roots({place, place, place}, -1), 0);
    ASSERT_EQ(crossings(thrice).size(), 1u) << place;
    EXPECT_EQ(crossings(thrice)[0].kind, RootKind::falling);
    EXPECT_NEAR(crossings(thrice)[0].theta, place, 3e-5);
    const RootList four = isolate(from_roots({place, place, place, place}, 1), 0);
    EXPECT_EQ(crossings(four).size(), 0u) << place;
    ASSERT_GE(four.size(), 1) << place;
    EXPECT_NEAR(four[0].theta, place, 1e-3);
  }
}

// After an event f has a zero of known order at θ = 0; the next one may follow at once.
TEST(Roots, KnownZerosAtTheStartHideNothing) {
  const SamplingGrid grid(8);
  for (int zeros = 1; zeros <= 3; ++zeros) {
    for (double next : {1e-9, 1e-6, 1e-3, 0.4, 1.0}) {
      const auto f = [&](double theta) {
        return std::pow(theta, zeros) * (next - theta) * std::exp(0.3 * theta);
      };
      const Sampled sampled = sample(grid, f, zeros);
      const RootList roots = isolate(sampled.bernstein, 0);
      if (next == 1.0) {
        RootList closed = roots;
        close_at_end(f(1), 1, closed);
        ASSERT_EQ(closed.size(), 1) << zeros;
        EXPECT_NEAR(closed[0].theta, 1, 1e-10);
        continue;
      }
      ASSERT_EQ(roots.size(), 1) << "order " << zeros << ", next " << next;
      EXPECT_EQ(roots[0].kind, RootKind::falling);
      EXPECT_NEAR(roots[0].theta, next, 1e-12 + sampled.info.error);
    }
    const Sampled none = sample(
        grid, [&](double theta) { return std::pow(theta, zeros) * (2 - theta); }, zeros);
    EXPECT_TRUE(isolate(none.bernstein, 1e-3).empty());
  }
}

TEST(Roots, TheStepOwnsItsEndAndNotItsStart) {
  EXPECT_TRUE(isolate({0, 1}, 0).empty());             // zero at 0
  EXPECT_TRUE(isolate({0, -1, 3, 4}, 0).size() == 1);  // zero at 0, then a rising one inside
  const RootList at_end = isolate({1, 0}, 0);
  ASSERT_EQ(at_end.size(), 1);
  EXPECT_EQ(at_end[0].theta, 1);
  EXPECT_EQ(at_end[0].kind, RootKind::falling);
  EXPECT_TRUE(isolate({1, 1e-17}, 0).empty());  // beyond 1 by less than rounding: the next step's
  const RootList before = isolate({1, -1e-17}, 0);
  ASSERT_EQ(before.size(), 1);
  EXPECT_EQ(before[0].theta, 1);
  EXPECT_TRUE(isolate({1, 0.6, 1e-12}, 0).empty());
  EXPECT_EQ(isolate({1, 0.6, -1e-12}, 0).size(), 1);
}

TEST(Roots, TheFunctionsOwnEndValueHasTheLastWord) {
  RootList roots = isolate({1, 1e-17}, 0);
  close_at_end(-1e-18, 1, roots);
  ASSERT_EQ(roots.size(), 1);
  EXPECT_EQ(roots[0].theta, 1);
  EXPECT_EQ(roots[0].kind, RootKind::falling);
  close_at_end(-1e-18, 1, roots);
  EXPECT_EQ(roots.size(), 1);
  roots = isolate({1, 0.5}, 0);
  close_at_end(0.5, 1, roots);
  EXPECT_TRUE(roots.empty());
}

TEST(Roots, AFunctionThatIsZeroThroughoutGivesNoCrossing) {
  EXPECT_TRUE(crossings(isolate(std::vector<double>(9, 0.0), 0)).empty());
}

TEST(Roots, GiveTheSameBitsWhenUnitsChangeByPowersOfTwo) {
  std::mt19937_64 random(16);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> b(9);
    for (double& value : b) value = normal(random);
    std::vector<double> scaled = b;
    for (double& value : scaled) value *= 4096;
    const RootList one = isolate(b, 1e-3);
    const RootList other = isolate(scaled, 4.096);
    ASSERT_EQ(one.size(), other.size());
    for (int i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].theta, other[i].theta);
  }
}

TEST(Roots, AllocateNothing) {
  const SamplingGrid grid(16);
  double samples[17];
  double b[17];
  for (int j = 0; j < 17; ++j) samples[j] = std::cos(9 * grid.theta(j));
  RootList roots;
  const long before = allocations();
  (void)grid.interpolate(samples, 1, 0, b);
  numeric::isolate(b, 16, 1e-3, roots);
  EXPECT_EQ(allocations(), before);
  EXPECT_EQ(crossings(roots).size(), 3u);
}

}  // namespace
}  // namespace judder::engines::numeric
