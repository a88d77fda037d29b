#include "engines/numeric/time_roots.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "count.hpp"

namespace judder::engines::numeric {
namespace {

Bounds widened(double lower, double upper) {
  const double infinite = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 4; ++i) {
    lower = std::nextafter(lower, -infinite);
    upper = std::nextafter(upper, infinite);
  }
  return {lower, upper};
}

/// Range of cos on [a, b].
Bounds cosine(double a, double b) {
  const double turns = std::numbers::pi;
  if (b - a >= 2 * turns) return {-1, 1};
  double lower = std::min(std::cos(a), std::cos(b));
  double upper = std::max(std::cos(a), std::cos(b));
  for (double k = std::ceil(a / turns - 1e-9); k * turns <= b + 1e-9; ++k) {
    if (std::fmod(std::abs(k), 2.0) == 0) {
      upper = 1;
    } else {
      lower = -1;
    }
  }
  return widened(lower, upper);
}

/// f = cos(ωt + φ) − level.
struct Wave {
  double omega, phase, level;
  double operator()(double t) const { return std::cos(omega * t + phase) - level; }
  TimeEnclosure operator()(double t0, double t1) const {
    const Bounds argument = widened(omega * t0 + phase, omega * t1 + phase);
    const Bounds c = cosine(argument.lower, argument.upper);
    const Bounds s = cosine(argument.lower + std::numbers::pi / 2, argument.upper + std::numbers::pi / 2);
    return {widened(c.lower - level, c.upper - level), widened(omega * s.lower, omega * s.upper)};
  }
};

/// f = a (t − r₁)(t − r₂), naive interval evaluation.
struct Parabola {
  double a, first, second;
  double operator()(double t) const { return a * (t - first) * (t - second); }
  TimeEnclosure operator()(double t0, double t1) const {
    const Bounds u = widened(t0 - first, t1 - first);
    const Bounds v = widened(t0 - second, t1 - second);
    const double products[4] = {u.lower * v.lower, u.lower * v.upper, u.upper * v.lower, u.upper * v.upper};
    double lower = products[0];
    double upper = products[0];
    for (double product : products) {
      lower = std::min(lower, product);
      upper = std::max(upper, product);
    }
    if (a < 0) std::swap(lower, upper);
    const Bounds rate = widened(u.lower + v.lower, u.upper + v.upper);
    const double sign = a < 0 ? -1 : 1;
    return {widened(a * lower, a * upper),
            sign > 0 ? widened(a * rate.lower, a * rate.upper) : widened(a * rate.upper, a * rate.lower)};
  }
};

TEST(TimeRoots, EveryCrossingOfAWaveIsFoundInTurn) {
  std::mt19937_64 random(21);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int trial = 0; trial < count(5000); ++trial) {
    Wave wave{0.1 + 50 * uniform(random), 6 * uniform(random), 1.9 * uniform(random) - 0.95};
    const double end = 3;
    double t = 0;
    std::vector<double> found;
    int direction = wave(0) > 0 ? -1 : 1;
    for (;;) {
      const TimeRoot root = next_time_root(wave, wave, t, end);
      if (root.kind == TimeRootKind::none) break;
      ASSERT_EQ(root.kind, TimeRootKind::crossing) << "trial " << trial;
      ASSERT_GT(root.time, t);
      EXPECT_EQ(root.direction, direction) << "trial " << trial << ", t = " << root.time;
      // The first double on the new side.
      EXPECT_GE(wave(root.time) * direction, 0);
      EXPECT_LT(wave(std::nextafter(root.time, 0.0)) * direction, 0);
      direction = -direction;
      found.push_back(root.time);
      t = root.time;
    }
    // Closed form: ωt + φ = ±acos(level) + 2πk.
    const double angle = std::acos(wave.level);
    int expected = 0;
    for (int k = -5; k < 60; ++k) {
      for (double sign : {-1.0, 1.0}) {
        const double time = (sign * angle + 2 * std::numbers::pi * k - wave.phase) / wave.omega;
        expected += time > 0 && time <= end ? 1 : 0;
      }
    }
    EXPECT_EQ(static_cast<int>(found.size()), expected) << "trial " << trial;
  }
}

TEST(TimeRoots, PairsOfRootsCloseTogetherAreSeparatedDownToRounding) {
  std::mt19937_64 random(22);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int trial = 0; trial < count(5000); ++trial) {
    const double first = 0.5 + uniform(random);
    const double distance = std::pow(10.0, -1 - 5 * uniform(random));
    Parabola f{trial % 2 == 0 ? 1.0 : -1.0, first, first + distance};
    const TimeRoot one = next_time_root(f, f, 0, 10);
    ASSERT_EQ(one.kind, TimeRootKind::crossing) << "trial " << trial << ", distance " << distance;
    EXPECT_NEAR(one.time, first, 1e-15 * 4) << "trial " << trial;
    const TimeRoot two = next_time_root(f, f, one.time, 10);
    ASSERT_EQ(two.kind, TimeRootKind::crossing) << "trial " << trial;
    EXPECT_NEAR(two.time, first + distance, 1e-15 * 4) << "trial " << trial;
    EXPECT_EQ(one.direction, -two.direction);
    EXPECT_EQ(next_time_root(f, f, two.time, 10).kind, TimeRootKind::none);
  }
}

TEST(TimeRoots, ATouchIsATouch) {
  Parabola f{1, 0.7, 0.7};
  const TimeRoot root = next_time_root(f, f, 0, 5);
  EXPECT_EQ(root.kind, TimeRootKind::touch);
  EXPECT_NEAR(root.time, 0.7, 1e-7);
  Wave grazing{3, 0.4, -1};
  EXPECT_EQ(next_time_root(grazing, grazing, 0, 1.5).kind, TimeRootKind::touch);
}

TEST(TimeRoots, AZeroAtTheStartIsNotFoundAgainAndOneAtTheEndIs) {
  Parabola f{1, 1, 2};
  EXPECT_EQ(next_time_root(f, f, 2, 10).kind, TimeRootKind::none);
  const TimeRoot from_first = next_time_root(f, f, 1, 10);
  EXPECT_EQ(from_first.kind, TimeRootKind::crossing);
  EXPECT_EQ(from_first.time, 2);
  const TimeRoot at_end = next_time_root(f, f, 0.5, 1);
  EXPECT_EQ(at_end.kind, TimeRootKind::crossing);
  EXPECT_EQ(at_end.time, 1);
  EXPECT_EQ(next_time_root(f, f, 0.5, std::nextafter(1, 0)).kind, TimeRootKind::none);
  EXPECT_EQ(next_time_root(f, f, 0.5, 0.5).kind, TimeRootKind::none);
}

TEST(TimeRoots, AJumpThroughZeroIsACrossing) {
  const double infinite = std::numeric_limits<double>::infinity();
  auto f = [](double t) { return t < 0.3 ? -1.0 : 1.0; };
  auto enclose = [&](double t0, double t1) {
    return TimeEnclosure{{t0 < 0.3 ? -1.0 : 1.0, t1 < 0.3 ? -1.0 : 1.0}, {-infinite, infinite}};
  };
  const TimeRoot root = next_time_root(f, enclose, 0, 1);
  EXPECT_EQ(root.kind, TimeRootKind::crossing);
  EXPECT_EQ(root.time, 0.3);
  EXPECT_EQ(root.direction, 1);
}

// Zero for a long time, then below: rounded outwards, zero has the least number for its value and for its rate.
TEST(TimeRoots, AFunctionThatIsZeroForLongCostsLittle) {
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  constexpr double kBegin = 1e7;
  auto f = [](double t) { return t < kBegin ? 0.0 : kBegin - t; };
  auto enclose = [&](double t0, double t1) {
    return TimeEnclosure{{f(t1) - kLeast, f(t0) + kLeast}, {t1 < kBegin ? -kLeast : -1.0, kLeast}};
  };
  EXPECT_EQ(next_time_root(f, enclose, 0, 1e9, {.max_pieces = 1000}).kind, TimeRootKind::none);
}

TEST(TimeRoots, SaysSoWhenItsWorkIsLimited) {
  Wave wave{1e5, 0, 0.99};
  const TimeRoot root = next_time_root(wave, wave, 1e-4, 1, {.max_pieces = 3});
  EXPECT_EQ(root.kind, TimeRootKind::undecided);
  EXPECT_GE(root.time, 1e-4);
}

}  // namespace
}  // namespace judder::engines::numeric
