// Patterns of impacts that end in finite time: what counts as one, how long it still lasts, what breaks it.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "count.hpp"
#include "engines/accumulation.hpp"

namespace judder::engines {
namespace {

/// `events` impacts whose distances start at `first` and shrink by `ratio`; members cycle through `pattern`.
Accumulation geometric(double first, double ratio, int events, const std::vector<std::uint64_t>& pattern,
                       double start = 0) {
  Accumulation out;
  double time = start;
  double distance = first;
  for (int i = 0; i < events; ++i) {
    out.push({time, pattern[static_cast<std::size_t>(i) % pattern.size()], distance, -9.81});
    time += distance;
    distance *= ratio;
  }
  return out;
}

// The bouncing ball: distances 2v/g shrink by e; after the last of n impacts there remains (last distance) e/(1 − e).
TEST(Accumulation, PredictsTheEndOfABouncingBall) {
  for (const double e : {0.05, 0.3, 0.5, 0.9, 0.99}) {
    const int events = 6;
    const Accumulation::Pattern pattern = geometric(0.5, e, events, {1}).pattern();
    ASSERT_EQ(pattern.length, 1) << e;
    EXPECT_FALSE(pattern.equal_time);
    EXPECT_NEAR(pattern.ratio, e, 1e-9);
    const double last = 0.5 * std::pow(e, events - 2);
    EXPECT_NEAR(pattern.remaining, last * e / (1 - e), 1e-6 * last) << e;
    EXPECT_EQ(pattern.members, 1u);
    EXPECT_EQ(pattern.count, events);
  }
}

TEST(Accumulation, NeedsFourOccurrences) {
  for (std::size_t length = 1; length <= 8; ++length) {
    std::vector<std::uint64_t> cycle;
    for (std::size_t i = 0; i < length; ++i) cycle.push_back(std::uint64_t{1} << i);
    const int needed = static_cast<int>(4 * length + 1);
    EXPECT_EQ(geometric(1, 0.9, needed - 1, cycle).pattern().length, 0) << length;
    const Accumulation::Pattern found = geometric(1, 0.9, needed, cycle).pattern();
    EXPECT_EQ(found.length, static_cast<int>(length));
    EXPECT_EQ(found.members, (std::uint64_t{1} << length) - 1) << "all contacts of the pattern take part";
    // A pattern of p impacts shrinks by e^p from one occurrence to the next.
    EXPECT_NEAR(found.ratio, std::pow(0.9, static_cast<double>(length)), 1e-9);
  }
}

TEST(Accumulation, PatternsLongerThanEightAreNotSought) {
  std::vector<std::uint64_t> cycle;
  for (std::size_t i = 0; i < 9; ++i) cycle.push_back(std::uint64_t{1} << i);
  EXPECT_EQ(geometric(1, 0.95, 80, cycle).pattern().length, 0);
}

TEST(Accumulation, AnInterruptionStartsAnew) {
  Accumulation accumulation = geometric(1, 0.5, 10, {1});
  ASSERT_EQ(accumulation.pattern().length, 1);
  accumulation.finish_pattern();
  EXPECT_EQ(accumulation.pattern().length, 0);
  accumulation.push({20, 1, 1, -1});
  EXPECT_EQ(accumulation.pattern().length, 0);
}

TEST(Accumulation, EqualTimesWithShrinkingSizesAreNoAccumulation) {
  Accumulation hops;
  for (int i = 0; i < 6; ++i) hops.push({3.7 * i, 1, std::pow(0.39, i), -1});
  const Accumulation::Pattern pattern = hops.pattern();
  ASSERT_EQ(pattern.length, 1);
  EXPECT_TRUE(pattern.equal_time);
  EXPECT_NEAR(pattern.ratio, 0.39, 1e-9);
}

TEST(Accumulation, EqualTimesAndSizesAreAPeriodicMotion) {
  Accumulation periodic;
  for (int i = 0; i < 20; ++i) periodic.push({3.7 * i, 1, 1.0, -1});
  EXPECT_EQ(periodic.pattern().length, 0);
}

TEST(Accumulation, GrowingDistancesAreNone) { EXPECT_EQ(geometric(0.1, 1.05, 20, {1}).pattern().length, 0); }

// The ratio must be steady within one per cent: a random walk of ratios is no pattern.
TEST(Accumulation, UnsteadyRatiosAreRefused) {
  std::mt19937_64 random(20260101);
  std::uniform_real_distribution<double> sign(0, 1);
  for (int i = 0; i < count(10'000); ++i) {
    Accumulation steady;
    Accumulation unsteady;
    double t = 0;
    double u = 0;
    double d = 1;
    double w = 1;
    const double e = 0.2 + 0.7 * sign(random);
    for (int k = 0; k < 6; ++k) {
      steady.push({t, 1, d, -1});
      unsteady.push({u, 1, w, -1});
      t += d;
      d *= e * (1 + 0.004 * (sign(random) - 0.5));  // half a per cent between two ratios at most
      u += w;
      w *= e * (k % 2 == 0 ? 1.03 : 1);
    }
    ASSERT_EQ(steady.pattern().length, 1) << "e = " << e;
    ASSERT_EQ(unsteady.pattern().length, 0) << "e = " << e;
  }
}

TEST(Accumulation, TheJerkIsTheChangeOfAccelerationOverTheLastDuration) {
  Accumulation accumulation;
  double time = 0;
  double distance = 1;
  for (int i = 0; i < 8; ++i) {
    accumulation.push({time, 1, distance, -10 + 2 * time});
    time += distance;
    distance *= 0.5;
  }
  EXPECT_NEAR(accumulation.pattern().jerk, 2, 1e-9);
}

TEST(Accumulation, SavedAndLoadedItGoesOnTheSame) {
  std::vector<std::uint64_t> cycle{1, std::uint64_t{1} << 63U, (std::uint64_t{1} << 40U) | 3U};
  for (int events = 0; events < 40; ++events) {
    Accumulation original = geometric(1, 0.9, events, cycle, 17.25);
    Accumulation copy;
    copy.push({1, 1, 1, 1});  // must be forgotten
    copy.load(original.save());
    EXPECT_EQ(copy.save(), original.save());
    const Accumulation::Pattern a = original.pattern();
    const Accumulation::Pattern b = copy.pattern();
    EXPECT_EQ(a.length, b.length);
    EXPECT_EQ(a.ratio, b.ratio);
    EXPECT_EQ(a.remaining, b.remaining);
    EXPECT_EQ(a.members, b.members);
    EXPECT_EQ(a.jerk, b.jerk);
    EXPECT_EQ(a.count, b.count);
  }
}

// Two contacts that disturb each other in no order that repeats, ever more weakly.
TEST(Accumulation, AClusterOfWeakeningImpactsNeedsNoRhythm) {
  Accumulation accumulation;
  const std::uint64_t order[] = {1, 2, 2, 1, 1, 1, 2, 1, 2, 2, 2, 1, 2, 1, 1, 2};
  double time = 0;
  double size = 1;
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(accumulation.cluster().length, 0) << i;
    accumulation.push({time, order[i], size, -1});
    if (i == 7) accumulation.finish_pattern();
    time += 0.1 * size;
    size *= 0.9;
  }
  const Accumulation::Pattern cluster = accumulation.cluster();
  EXPECT_EQ(cluster.length, 16);
  EXPECT_EQ(cluster.members, 3u);
  EXPECT_EQ(cluster.remaining, 0);
  EXPECT_GE(cluster.height, 0.25 * 1 * 0.1) << "at least that of the first flight";
}

TEST(Accumulation, ImpactsThatDoNotWeakenAreNoCluster) {
  Accumulation accumulation;
  for (int i = 0; i < 40; ++i) accumulation.push({0.1 * i, i % 3 == 0 ? 1u : 2u, 1, -1});
  EXPECT_EQ(accumulation.cluster().length, 0);
}

}  // namespace
}  // namespace judder::engines
