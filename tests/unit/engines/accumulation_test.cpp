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
Accumulation geometric(double first, double ratio, int events, const std::vector<Members>& pattern,
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

Accumulation::Pattern pattern_of(const Accumulation& accumulation) {
  Accumulation::Pattern out;
  const bool found = accumulation.pattern(out);
  EXPECT_EQ(found, out.length > 0);
  return out;
}

Accumulation::Pattern cluster_of(const Accumulation& accumulation) {
  Accumulation::Pattern out;
  const bool found = accumulation.cluster(out);
  EXPECT_EQ(found, out.length > 0);
  return out;
}

// The bouncing ball: distances 2v/g shrink by e; after the last of n impacts there remains (last distance) e/(1 − e).
TEST(Accumulation, PredictsTheEndOfABouncingBall) {
  for (const double e : {0.05, 0.3, 0.5, 0.9, 0.99}) {
    const int events = 6;
    const Accumulation::Pattern pattern = pattern_of(geometric(0.5, e, events, {{1}}));
    ASSERT_EQ(pattern.length, 1) << e;
    EXPECT_FALSE(pattern.equal_time);
    EXPECT_NEAR(pattern.ratio, e, 1e-9);
    const double last = 0.5 * std::pow(e, events - 2);
    EXPECT_NEAR(pattern.remaining, last * e / (1 - e), 1e-6 * last) << e;
    EXPECT_EQ(pattern.members, Members{1});
    EXPECT_EQ(pattern.count, events);
  }
}

TEST(Accumulation, NeedsFourOccurrences) {
  for (std::size_t length = 1; length <= 8; ++length) {
    std::vector<Members> cycle;
    Members all;
    for (std::size_t i = 0; i < length; ++i) {
      cycle.push_back({static_cast<int>(64 * i)});  // numbers that are equal modulo 64 are different contacts
      all.push_back(static_cast<int>(64 * i));
    }
    const int needed = static_cast<int>(4 * length + 1);
    EXPECT_EQ(pattern_of(geometric(1, 0.9, needed - 1, cycle)).length, 0) << length;
    const Accumulation::Pattern found = pattern_of(geometric(1, 0.9, needed, cycle));
    EXPECT_EQ(found.length, static_cast<int>(length));
    EXPECT_EQ(found.members, all) << "all contacts of the pattern take part";
    // A pattern of p impacts shrinks by e^p from one occurrence to the next.
    EXPECT_NEAR(found.ratio, std::pow(0.9, static_cast<double>(length)), 1e-9);
  }
}

TEST(Accumulation, PatternsLongerThanEightAreNotSought) {
  std::vector<Members> cycle;
  for (int i = 0; i < 9; ++i) cycle.push_back({i});
  EXPECT_EQ(pattern_of(geometric(1, 0.95, 80, cycle)).length, 0);
}

TEST(Accumulation, AnInterruptionStartsAnew) {
  Accumulation accumulation = geometric(1, 0.5, 10, {{1}});
  ASSERT_EQ(pattern_of(accumulation).length, 1);
  accumulation.finish_pattern();
  EXPECT_EQ(pattern_of(accumulation).length, 0);
  accumulation.push({20, {1}, 1, -1});
  EXPECT_EQ(pattern_of(accumulation).length, 0);
}

TEST(Accumulation, EqualTimesWithShrinkingSizesAreNoAccumulation) {
  Accumulation hops;
  for (int i = 0; i < 6; ++i) hops.push({3.7 * i, {1}, std::pow(0.39, i), -1});
  const Accumulation::Pattern pattern = pattern_of(hops);
  ASSERT_EQ(pattern.length, 1);
  EXPECT_TRUE(pattern.equal_time);
  EXPECT_NEAR(pattern.ratio, 0.39, 1e-9);
}

TEST(Accumulation, EqualTimesAndSizesAreAPeriodicMotion) {
  Accumulation periodic;
  for (int i = 0; i < 20; ++i) periodic.push({3.7 * i, {1}, 1.0, -1});
  EXPECT_EQ(pattern_of(periodic).length, 0);
}

TEST(Accumulation, GrowingDistancesAreNone) {
  EXPECT_EQ(pattern_of(geometric(0.1, 1.05, 20, {{1}})).length, 0);
}

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
      steady.push({t, {1}, d, -1});
      unsteady.push({u, {1}, w, -1});
      t += d;
      d *= e * (1 + 0.004 * (sign(random) - 0.5));  // half a per cent between two ratios at most
      u += w;
      w *= e * (k % 2 == 0 ? 1.03 : 1);
    }
    ASSERT_EQ(pattern_of(steady).length, 1) << "e = " << e;
    ASSERT_EQ(pattern_of(unsteady).length, 0) << "e = " << e;
  }
}

TEST(Accumulation, TheJerkIsTheChangeOfAccelerationOverTheLastDuration) {
  Accumulation accumulation;
  double time = 0;
  double distance = 1;
  for (int i = 0; i < 8; ++i) {
    accumulation.push({time, {1}, distance, -10 + 2 * time});
    time += distance;
    distance *= 0.5;
  }
  EXPECT_NEAR(pattern_of(accumulation).jerk, 2, 1e-9);
}

TEST(Accumulation, SavedAndLoadedItGoesOnTheSame) {
  const std::vector<Members> cycle{{1}, {63, 64, 1000}, {0, 1, 40}};
  for (int events = 0; events < 40; ++events) {
    Accumulation original = geometric(1, 0.9, events, cycle, 17.25);
    Accumulation copy;
    copy.push({1, {1}, 1, 1});  // must be forgotten
    copy.load(original.save());
    EXPECT_EQ(copy.save(), original.save());
    const Accumulation::Pattern a = pattern_of(original);
    const Accumulation::Pattern b = pattern_of(copy);
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
  const int order[] = {1, 2, 2, 1, 1, 1, 2, 1, 2, 2, 2, 1, 2, 1, 1, 2};
  double time = 0;
  double size = 1;
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(cluster_of(accumulation).length, 0) << i;
    accumulation.push({time, {order[i]}, size, -1});
    if (i == 7) accumulation.finish_pattern();
    time += 0.1 * size;
    size *= 0.9;
  }
  const Accumulation::Pattern cluster = cluster_of(accumulation);
  EXPECT_EQ(cluster.length, 16);
  EXPECT_EQ(cluster.members, (Members{1, 2}));
  EXPECT_EQ(cluster.remaining, 0);
  EXPECT_GE(cluster.height, 0.25 * 1 * 0.1) << "at least that of the first flight";
}

TEST(Accumulation, ImpactsThatDoNotWeakenAreNoCluster) {
  Accumulation accumulation;
  for (int i = 0; i < 40; ++i) accumulation.push({0.1 * i, {i % 3 == 0 ? 1 : 2}, 1, -1});
  EXPECT_EQ(cluster_of(accumulation).length, 0);
}

// Balls 1 and 65 bounce by themselves, with other ratios and interleaved: each ends by itself, its own impacts counted.
TEST(Accumulations, BlocksThatAreNotConnectedEndEachByItself) {
  std::vector<int> block_of(66);
  for (int r = 0; r < 66; ++r) block_of[r] = r;
  Accumulations both(66, block_of);
  struct Ball {
    int number;
    double ratio, time, distance;
    int impacts = 0;
  };
  std::vector<Ball> balls{{1, 0.8, 0.1, 0.5}, {65, 0.85, 0.25, 0.3}};
  for (int i = 0; i < 40; ++i) {
    Ball& ball = balls[0].time < balls[1].time ? balls[0] : balls[1];
    both.begin(ball.time);
    both.add(ball.number, ball.distance, -9.81);
    both.end();
    ++ball.impacts;
    Accumulation::Pattern pattern;
    ASSERT_EQ(both.pattern(pattern), ball.impacts >= 2) << "impact " << ball.impacts << " of " << ball.number;
    if (ball.impacts >= 5) {
      EXPECT_EQ(pattern.members, Members{ball.number});
      EXPECT_EQ(pattern.count, ball.impacts);
      EXPECT_NEAR(pattern.ratio, ball.ratio, 1e-6);
    }
    ball.time += ball.distance;
    ball.distance *= ball.ratio;
  }
  EXPECT_GT(balls[0].impacts, 5);
  EXPECT_GT(balls[1].impacts, 5);

  Accumulations copy(66, block_of);
  copy.load(both.save());
  EXPECT_EQ(copy.save(), both.save());
}

// Two blocks strike at one instant: the tail begins only where both have a pattern, and then it is one of both.
TEST(Accumulations, BlocksThatStrikeTogetherEndTogether) {
  const std::vector<int> block_of{0, 1};
  Accumulations both(2, block_of);
  double time = 0;
  double distance = 1;
  Accumulation::Pattern pattern;
  for (int i = 0; i < 8; ++i) {
    both.begin(time);
    both.add(0, distance, -1);
    if (i >= 3) both.add(1, distance, -1);
    both.end();
    if (i == 3) {
      EXPECT_FALSE(both.pattern(pattern));
    }
    time += distance;
    distance *= 0.5;
  }
  ASSERT_TRUE(both.pattern(pattern));
  EXPECT_EQ(pattern.members, (Members{0, 1}));
  both.finish_pattern();
  EXPECT_FALSE(both.pattern(pattern));
}

// A body that is pushed by 3 beside a ball of restitution 0.5: what an occurrence changes is its own, whatever another block does to the same velocity in between.
TEST(Accumulations, WhatAnOccurrenceChangesLeavesOutImpactsOfOthers) {
  const std::vector<int> block_of{0, 1};
  Accumulations both(2, block_of);
  Accumulation::Pattern pattern;
  double time = 0;
  double flight = 1;
  std::vector<double> velocity{0, 0};  // of the body, of the ball
  const auto strike = [&](int relation, double jump, int place) {
    both.begin(time);
    both.add(relation, std::abs(jump), -10);
    both.end(velocity);
    const std::vector<double> before = velocity;
    velocity[place] += jump;
    both.jumped(before, velocity);
  };
  for (int i = 0; i < 12; ++i) {
    velocity[1] = -5 * flight;
    strike(0, 7.5 * flight, 1);
    flight /= 2;
    time += flight / 3;
    velocity[0] += flight;
    strike(1, 0.25, 0);
    time += 2 * flight / 3;
    velocity[0] += 2 * flight;
  }
  velocity[1] = -5 * flight;
  both.begin(time);
  both.add(0, 5 * flight, -10);
  both.end(velocity);
  ASSERT_TRUE(both.pattern(pattern));
  ASSERT_EQ(pattern.change.all.size(), 2U);
  EXPECT_NEAR(pattern.change.all[0], 3 * flight, 1e-13);
  EXPECT_NEAR(pattern.change.all[1], 5 * flight, 1e-13);

  Accumulations copy(2, block_of);
  copy.load(both.save());
  EXPECT_EQ(copy.save(), both.save());
}

// What is asked before the next instant begins is that of the last one, also behind a load.
TEST(Accumulations, TheBlocksOfTheLastInstantAreKept) {
  const std::vector<int> block_of{0, 1};
  Accumulations original(2, block_of);
  const auto strike = [](Accumulations& at, double time, int relation, double speed) {
    at.begin(time);
    at.add(relation, speed, -1);
    at.end();
    at.jumped({}, {});
  };
  strike(original, 0, 1, 1);
  double time = 0;
  double flight = 1;
  for (int i = 0; i < 8; ++i, time += flight, flight *= 0.5) strike(original, time, 0, flight);
  Accumulations copy(2, block_of);
  copy.load(original.save());
  EXPECT_EQ(copy.save(), original.save());
  EXPECT_TRUE(Accumulations::readable(original.save(), 2, 0, 0));
  Accumulation::Pattern before;
  Accumulation::Pattern behind;
  ASSERT_TRUE(original.pattern(before));
  ASSERT_TRUE(copy.pattern(behind));
  EXPECT_EQ(behind.remaining, before.remaining);
  EXPECT_EQ(behind.members, before.members);
  // Block 1 has no pattern: with both there is none.
  strike(original, time, 1, 1);
  copy.load(original.save());
  EXPECT_FALSE(original.pattern(before));
  EXPECT_FALSE(copy.pattern(behind));
  // Numbers of blocks that there are not.
  std::vector<double> memory = original.save();
  ASSERT_EQ(memory.back(), 1);
  for (const double wrong : {2.0, -1.0, 0.5}) {
    memory.back() = wrong;
    EXPECT_FALSE(Accumulations::readable(memory, 2, 0, 0)) << wrong;
  }
}

// Δ → Δ (1 − √Δ/4): the sum of all that follow is that of the hops above 1e-10 and 8 √Δ for the others; a rhythm would have half of it.
TEST(Accumulation, HopsThatShrinkEverMoreSlowlyAreSummedByTheirPower) {
  Accumulation accumulation;
  double time = 0;
  double flight = 1e-2;
  for (int i = 0; i < 40; ++i) {
    accumulation.push({time, {0}, flight, -2});
    time += flight;
    flight *= 1 - std::sqrt(flight) / 4;
  }
  // The last impact is at the start of `flight`'s predecessor: that one and all that follow remain.
  double right = time;
  for (; flight > 1e-10; flight *= 1 - std::sqrt(flight) / 4) right += flight;
  right += 8 * std::sqrt(flight);
  Accumulation::Pattern pattern;
  ASSERT_TRUE(accumulation.pattern(pattern));
  right -= pattern.time;
  EXPECT_LT(pattern.remaining, 0.6 * right);
  accumulation.slow_end(pattern, 1e-16);
  EXPECT_NEAR(pattern.remaining, right, 1e-4 * right);
}

}  // namespace
}  // namespace judder::engines
