#include "engines/numeric/enclose.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "allocations.hpp"
#include "count.hpp"
#include "engines/numeric/linear.hpp"
#include "quad.hpp"

namespace judder::engines::numeric {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

struct Problem {
  int n = 0;
  std::vector<double> a;
  std::vector<double> rows;
  std::vector<double> start;
};

struct Answer {
  Crossing crossing;
  std::vector<Graze> grazes;
  std::vector<double> state;
};

/// A search with its exponentials, built once for many starts.
struct Finder {
  DyadicExponentials exponentials;
  CrossingSearch search;
  int n;
  Finder(int size, const std::vector<double>& a, const std::vector<double>& rows) : n(size) {
    exponentials.build(size, a.data());
    EXPECT_TRUE(search.build(exponentials, static_cast<int>(rows.size()) / size, rows.data()));
  }
  Answer find(const std::vector<double>& start, double horizon, const std::vector<int>& zeros = {},
              bool rising = false) {
    Answer answer;
    answer.crossing = search.find(exponentials, start.data(), horizon, zeros, {.rising = rising});
    answer.grazes.assign(search.grazes().begin(), search.grazes().end());
    answer.state.assign(search.state(), search.state() + n);
    return answer;
  }
};

/// Polynomial motion: state k is the k-th derivative of f, so the first row is f itself.
Finder polynomial(int n) {
  std::vector<double> a(static_cast<std::size_t>(n * n), 0.0);
  for (int i = 0; i + 1 < n; ++i) a[static_cast<std::size_t>(i * n + i + 1)] = 1;
  std::vector<double> row(static_cast<std::size_t>(n), 0.0);
  row[0] = 1;
  return {n, a, row};
}

/// Derivatives at 0 of c Π (t − r).
std::vector<double> derivatives(const std::vector<double>& roots, double factor, int n) {
  std::vector<long double> power(static_cast<std::size_t>(n), 0);
  power[0] = factor;
  for (double root : roots) {
    for (std::size_t k = power.size() - 1; k > 0; --k)
      power[k] = power[k - 1] - power[k] * static_cast<long double>(root);
    power[0] *= -static_cast<long double>(root);
  }
  std::vector<double> result;
  long double factorial = 1;
  for (std::size_t k = 0; k < power.size(); ++k) {
    if (k > 0) factorial *= static_cast<long double>(k);
    result.push_back(static_cast<double>(power[k] * factorial));
  }
  return result;
}

/// f = e^{−σt} (cos ω(t − m) − cos(ωd/2)): zeros at m ± d/2 and a period on. States e^{−σt} cos ωt, e^{−σt}
/// sin ωt, e^{−σt}, mixed by a rotation so that the matrix is full.
struct Wave {
  double omega = 1;
  double sigma = 0;
  std::array<double, 9> mix{};

  Wave(double frequency, double decay, std::mt19937_64& random) : omega(frequency), sigma(decay) {
    std::normal_distribution<double> normal;
    double q[4];
    double norm = 0;
    for (double& part : q) {
      part = normal(random);
      norm += part * part;
    }
    norm = std::sqrt(norm);
    for (double& part : q) part /= norm;
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    mix = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
           2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
           2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  }
  [[nodiscard]] std::vector<double> rotate(const std::array<double, 3>& v) const {
    std::vector<double> out(3);
    for (std::size_t i = 0; i < 3; ++i)
      out[i] = mix[3 * i] * v[0] + mix[3 * i + 1] * v[1] + mix[3 * i + 2] * v[2];
    return out;
  }
  [[nodiscard]] std::vector<double> matrix() const {
    const double plain[9] = {-sigma, -omega, 0, omega, -sigma, 0, 0, 0, -sigma};
    std::vector<double> a(9, 0.0);
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        for (std::size_t k = 0; k < 3; ++k) {
          for (std::size_t l = 0; l < 3; ++l)
            a[3 * i + j] += mix[3 * i + k] * plain[3 * k + l] * mix[3 * j + l];
        }
      }
    }
    return a;
  }
  [[nodiscard]] std::vector<double> row(double middle, double distance) const {
    return rotate({std::cos(omega * middle), std::sin(omega * middle), -std::cos(omega * distance / 2)});
  }
  [[nodiscard]] std::vector<double> start() const { return rotate({1, 0, 1}); }
};

TEST(CrossingSearch, FindsTheZeroOfAFallingBody) {
  // h + v t − g t²/2 with an upward start, over a horizon much longer than the flight.
  Finder finder = polynomial(3);
  const double g = 9.81;
  for (double h : {0.0, 1e-9, 0.3, 40.0}) {
    for (double v : {0.0, 1e-3, 2.0}) {
      if (h == 0 && v == 0) continue;
      const Answer answer = finder.find({h, v, -g}, 1000, {h == 0 ? 1 : 0});
      ASSERT_EQ(answer.crossing.outcome, SearchOutcome::crossing) << h << " " << v;
      const double exact = (v + std::sqrt(v * v + 2 * g * h)) / g;
      EXPECT_NEAR(answer.crossing.time, exact, answer.crossing.error + 2 * kEpsilon * exact) << h << " " << v;
      EXPECT_LT(answer.crossing.error, 40 * kEpsilon * exact) << h << " " << v;
      EXPECT_NEAR(answer.crossing.slope, v - g * exact, 1e-12 * g);
      EXPECT_EQ(answer.crossing.direction, -1);
      EXPECT_NEAR(answer.state[1], v - g * exact, 1e-14 * (v + g * exact));
    }
  }
}

// Two zeros, or a graze where rounding cannot tell them apart; never none. Distances from 1e-2 to 1e-7 and
// below.
TEST(CrossingSearch, LosesNoPairOfZerosOfAPolynomial) {
  std::mt19937_64 random(41);
  std::uniform_real_distribution<double> uniform(0, 1);
  Finder finder = polynomial(4);
  int two = 0;
  int grazed = 0;
  for (int trial = 0; trial < count(400'000); ++trial) {
    const double distance = std::pow(10.0, -2 - 8 * uniform(random));
    const double first = 0.05 + 3 * uniform(random);
    const double third = -1 - 3 * uniform(random);
    const auto start = derivatives({first, first + distance, third}, 1, 4);
    const Answer answer = finder.find(start, 20);
    // |f| near the pair against the rounding of the terms of f.
    const double size = std::abs(start[0]) + std::abs(start[1]) * first +
                        std::abs(start[2]) * first * first / 2 + first * first * first;
    const double bend = 2 * (first - third);
    const double delta = std::sqrt(8 * kEpsilon * size / bend);
    if (answer.crossing.outcome == SearchOutcome::crossing) {
      ++two;
      EXPECT_NEAR(answer.crossing.time, first,
                  answer.crossing.error + 4 * delta * delta / distance + 4 * kEpsilon)
          << "trial " << trial << ", distance " << distance;
      EXPECT_TRUE(answer.grazes.empty()) << "trial " << trial;
      EXPECT_GT(distance, 0.05 * delta) << "trial " << trial;
    } else {
      ++grazed;
      ASSERT_EQ(answer.grazes.size(), 1u)
          << "trial " << trial << ", distance " << distance << ", first " << first;
      EXPECT_NEAR(answer.grazes[0].time, first + distance / 2, answer.grazes[0].error + distance + delta)
          << "trial " << trial;
      EXPECT_LT(distance, 12 * delta) << "trial " << trial;
    }
  }
  EXPECT_GT(two, 0);
  EXPECT_GT(grazed, 0);
}

/// f, ḟ and f̈ at t, computed with 113 bits.
std::array<double, 3> expansion(const std::vector<double>& a, const std::vector<double>& row,
                                const std::vector<double>& start, double t) {
  const auto n = row.size();
  const auto e = quad_exponential(static_cast<int>(n), a, static_cast<Quad>(t));
  const auto product = [n](const auto& matrix, const auto& vector) {
    std::vector<Quad> out(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j)
        out[i] += static_cast<Quad>(matrix[i * n + j]) * static_cast<Quad>(vector[j]);
    }
    return out;
  };
  std::vector<Quad> x = product(e, start);
  std::array<double, 3> result{};
  for (double& derivative : result) {
    Quad sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += static_cast<Quad>(row[i]) * x[i];
    derivative = static_cast<double>(sum);
    x = product(a, x);
  }
  return result;
}

TEST(CrossingSearch, LosesNoPairOfZerosOfADampedWave) {
  std::mt19937_64 random(42);
  std::uniform_real_distribution<double> uniform(0, 1);
  int two = 0;
  int grazed = 0;
  int clear = 0;
  const int waves = count(400'000) / 40;
  for (int trial = 0; trial < waves; ++trial) {
    const Wave wave(std::exp2(8 * uniform(random) - 3), trial % 2 == 0 ? 0.0 : 0.3 * uniform(random), random);
    const double period = 2 * std::numbers::pi / wave.omega;
    Finder finder(3, wave.matrix(), wave.row(0, 0));
    for (int pair = 0; pair < 40; ++pair) {
      const double distance = std::pow(10.0, -2 - 5.5 * uniform(random)) / wave.omega;
      const double middle = (0.05 + 0.9 * uniform(random)) * period;
      const double sign = -1;
      std::vector<double> row = wave.row(middle, distance);
      for (double& entry : row) entry *= sign;  // positive except between the pair
      ASSERT_TRUE(finder.search.build(finder.exponentials, 1, row.data()));
      const Answer answer =
          finder.find(wave.start(), 0.98 * period + (middle > 0.9 * period ? 0.1 * period : 0.0));
      const double delta = std::sqrt(8 * kEpsilon * 3) / wave.omega;
      if (answer.crossing.outcome == SearchOutcome::crossing) {
        ++two;
        // The matrix of the test is itself rounded: a phase error of a few ε per radian.
        const double given =
            80 * kEpsilon * (1 + wave.omega * middle) / (wave.omega * std::sin(wave.omega * distance / 2));
        EXPECT_NEAR(answer.crossing.time, middle - distance / 2, answer.crossing.error + given)
            << "trial " << trial << ", pair " << pair << ", distance " << distance * wave.omega;
        if (pair == 0 && distance > 10 * delta) {
          // Against the problem as rounded: the error bound brackets its zero.
          const auto a = wave.matrix();
          const double time = answer.crossing.time;
          const double error = answer.crossing.error;
          EXPECT_GT(expansion(a, row, wave.start(), time - error)[0], 0)
              << "trial " << trial << ", error " << error;
          EXPECT_LT(expansion(a, row, wave.start(), time + error)[0], 0)
              << "trial " << trial << ", error " << error;
        }
        EXPECT_GT(distance, 0.1 * delta) << "trial " << trial << ", pair " << pair;
      } else {
        ++grazed;
        if (answer.grazes.empty()) {
          // The rounded problem may stay clear of zero where the intended one crosses twice.
          const auto f = expansion(wave.matrix(), row, wave.start(), middle);
          ASSERT_GT(f[0] - f[1] * f[1] / (2 * f[2]), 0)
              << "trial " << trial << ", pair " << pair << ", distance " << distance * wave.omega;
          ++clear;
          continue;
        }
        ASSERT_EQ(answer.grazes.size(), 1u) << "trial " << trial << ", pair " << pair;
        EXPECT_NEAR(answer.grazes[0].time, middle, answer.grazes[0].error + distance + delta)
            << "trial " << trial;
        EXPECT_LT(distance, 20 * delta) << "trial " << trial << ", pair " << pair;
      }
    }
  }
  EXPECT_GT(two, 0);
  EXPECT_GT(grazed, 0);
  EXPECT_LE(clear, waves * 40 / 1000);
}

// Dyadic times are window ends: the sign there is open, and the next window must continue with the question.
TEST(CrossingSearch, LosesNoZeroAtTheEndOfAWindow) {
  std::mt19937_64 random(43);
  for (int trial = 0; trial < count(50'000); ++trial) {
    const Wave wave(1.3, trial % 3 == 0 ? 0.1 : 0.0, random);
    const double at = std::ldexp(static_cast<double>(1 + trial % 37), -(trial % 5)) * 0.125;
    if (at > 3) continue;
    // sin ω(t − at), zeros half a period apart.
    const std::vector<double> row = wave.rotate({std::sin(1.3 * at), -std::cos(1.3 * at), 0});
    const double half_period = std::numbers::pi / 1.3;
    const double first = at < half_period ? at : at - half_period;
    Finder finder(3, wave.matrix(), row);
    const Answer answer = finder.find(wave.start(), 5, {}, true);
    ASSERT_EQ(answer.crossing.outcome, SearchOutcome::crossing) << "trial " << trial << ", zero at " << at;
    EXPECT_NEAR(answer.crossing.time, first, answer.crossing.error + 8 * kEpsilon) << "trial " << trial;
    EXPECT_LT(answer.crossing.error, 1e-13);
    EXPECT_TRUE(answer.grazes.empty()) << "trial " << trial;
  }
}

// t^z (r − t): a known zero of order z at the start, and the next one soon or late after it.
TEST(CrossingSearch, KnownZerosAtTheStartHideNothing) {
  std::mt19937_64 random(44);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int zeros = 1; zeros <= 3; ++zeros) {
    Finder finder = polynomial(6);
    for (int trial = 0; trial < count(50'000); ++trial) {
      const double next = std::pow(10.0, -9 + 9.5 * uniform(random));
      const double far = 5 + uniform(random);
      std::vector<double> roots(static_cast<std::size_t>(zeros), 0.0);
      roots.push_back(next);
      if (trial % 2 == 0) roots.push_back(far);
      // Positive between 0 and `next`.
      const double factor = trial % 2 == 0 ? 1 : -1;
      auto start = derivatives(roots, factor, 6);
      const Answer answer = finder.find(start, 4, {zeros});
      ASSERT_EQ(answer.crossing.outcome, SearchOutcome::crossing) << "order " << zeros << ", next " << next;
      EXPECT_NEAR(answer.crossing.time, next, answer.crossing.error + 4 * kEpsilon * next)
          << "order " << zeros;
      EXPECT_LT(answer.crossing.error, 1e3 * kEpsilon * next) << "order " << zeros << ", next " << next;
      EXPECT_TRUE(answer.grazes.empty()) << "order " << zeros << ", next " << next;
    }
  }
}

// The same beside states of ordinary size: f is a small difference of large terms soon after the start, and
// only its expansion at the known zero can see it.
TEST(CrossingSearch, KnownZerosAreSeenThroughTheRoundingOfLargeStates) {
  for (int zeros = 1; zeros <= 3; ++zeros) {
    for (double next : {1e-7, 1e-5, 1e-3, 0.1, 1.0}) {
      // f = y − 1 with y = 1 + t^z (r − t).
      const int n = 6;
      std::vector<double> a(36, 0.0);
      for (std::size_t i = 0; i < 4; ++i) a[i * 6 + i + 1] = 1;
      const std::vector<double> row{1, 0, 0, 0, 0, -1};
      std::vector<double> roots(static_cast<std::size_t>(zeros), 0.0);
      roots.push_back(next);
      auto start = derivatives(roots, -1, n);
      start[0] += 1;
      start[5] = 1;
      Finder finder(n, a, row);
      const Answer answer = finder.find(start, 4, {zeros});
      ASSERT_EQ(answer.crossing.outcome, SearchOutcome::crossing) << "order " << zeros << ", next " << next;
      EXPECT_NEAR(answer.crossing.time, next, answer.crossing.error + 4 * kEpsilon * next)
          << "order " << zeros;
      EXPECT_TRUE(answer.grazes.empty()) << "order " << zeros << ", next " << next;
    }
  }
}

TEST(CrossingSearch, AStartAtRestOnTheSideOfADoubleZeroIsNoCrossing) {
  // 1 − cos t: zero of order 2 at the start, touches again after each period.
  const std::vector<double> a{0, -1, 0, 1, 0, 0, 0, 0, 0};
  const std::vector<double> row{-1, 0, 1};
  Finder finder(3, a, row);
  const Answer answer = finder.find({1, 0, 1}, 20, {2});
  EXPECT_EQ(answer.crossing.outcome, SearchOutcome::none);
  ASSERT_EQ(answer.grazes.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(answer.grazes[i].time, 2 * std::numbers::pi * static_cast<double>(i + 1), 2e-7);
    EXPECT_LT(answer.grazes[i].bound, 1e-13);
  }
}

TEST(CrossingSearch, ReturnsTheEarliestOfSeveralFunctions) {
  std::mt19937_64 random(45);
  std::uniform_real_distribution<double> uniform(0, 1);
  const std::vector<double> a{0, -1, 0, 1, 0, 0, 0, 0, 0};
  for (int trial = 0; trial < count(5000); ++trial) {
    // cos(t − φ_i) + level_i, each falling through zero at φ_i + acos(−level_i).
    std::vector<double> rows;
    double earliest = 1e9;
    int which = -1;
    for (int f = 0; f < 5; ++f) {
      const double phase = 0.5 * uniform(random);
      const double level = 0.98 * uniform(random);
      rows.insert(rows.end(), {std::cos(phase), std::sin(phase), level});
      const double time = phase + std::acos(-level);
      if (time < earliest) {
        earliest = time;
        which = f;
      }
    }
    Finder finder(3, a, rows);
    const Answer answer = finder.find({1, 0, 1}, 7);
    ASSERT_EQ(answer.crossing.outcome, SearchOutcome::crossing) << "trial " << trial;
    EXPECT_EQ(answer.crossing.function, which) << "trial " << trial;
    EXPECT_NEAR(answer.crossing.time, earliest, answer.crossing.error + 4 * kEpsilon) << "trial " << trial;
  }
}

// Full random systems against dense sampling of the same motion: no sign change before the time returned, one
// at it.
TEST(CrossingSearch, AgreesWithDenseSamplingOnRandomSystems) {
  std::mt19937_64 random(46);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < count(2000); ++trial) {
    const int n = 2 + trial % 6;
    std::vector<double> a(static_cast<std::size_t>(n * n)), row(static_cast<std::size_t>(n)),
        start(row.size());
    for (double& entry : a) entry = normal(random);
    for (int i = 0; i < n; ++i) a[static_cast<std::size_t>(i * n + i)] -= 1.5;
    for (double& entry : row) entry = normal(random);
    for (double& entry : start) entry = normal(random);
    Finder finder(n, a, row);
    if (finder.search.value(0, start.data()) < 0) {
      for (double& entry : start) entry = -entry;
    }
    const double horizon = 6;
    const Answer answer = finder.find(start, horizon);
    const bool found = answer.crossing.outcome == SearchOutcome::crossing;
    std::vector<double> x(start.size());
    double size = 0;
    for (int i = 1; i <= 3000; ++i) {
      const double t = horizon * i / 3000;
      finder.exponentials.advance(start.data(), t, x.data());
      const double value = finder.search.value(0, x.data());
      size = std::max(size, std::abs(value));
      if (found && t > answer.crossing.time - answer.crossing.error) break;
      ASSERT_GT(value, -finder.search.rounding(0, x.data())) << "trial " << trial << ", t " << t;
    }
    if (!found) continue;
    EXPECT_NEAR(finder.search.value(0, answer.state.data()), 0,
                2 * finder.search.rounding(0, answer.state.data()) +
                    8 * kEpsilon * answer.crossing.time * std::abs(answer.crossing.slope))
        << "trial " << trial;
    EXPECT_NEAR(finder.search.slope(0, answer.state.data()), answer.crossing.slope, 1e-9 * (1 + size))
        << "trial " << trial;
    EXPECT_LT(answer.crossing.slope, 0) << "trial " << trial;
  }
}

// ẍ + x = cos Ωt: the crossing of a driven oscillator, thousands of windows from its start.
TEST(CrossingSearch, KeepsItsPrecisionOverLongPhases) {
  const double a[4] = {0, 1, -1, 0};
  const LoadTerm load{.power = 0, .frequency = 0.3, .cosine = {0, 1}};
  LinearMotion motion;
  motion.build(2, a, {&load, 1});
  const double gain = 1 / (1 - 0.09);
  // Start on the forced motion: x = gain cos 0.3 t, falls through −gain/2·… only where asked: row = x + gain
  // (1 − 1e-9).
  std::vector<double> start(static_cast<std::size_t>(motion.size()));
  const double x0[2] = {gain, 0};
  motion.start(0, x0, start.data());
  DyadicExponentials exponentials;
  exponentials.build(motion.size(), motion.matrix());
  CrossingSearch search;
  // e^{−1e-4 t}-free check: zeros of x itself after 1000 falling crossings, found one by one from t = 0 by
  // restarting.
  const double row[4] = {1, 0, 0, 0};
  ASSERT_TRUE(search.build(exponentials, 1, row));
  double t = 0;
  std::vector<double> state = start;
  for (int k = 0; k < 1000; ++k) {
    const Crossing crossing =
        search.find(exponentials, state.data(), 100, std::array<int, 1>{k == 0 ? 0 : 1});
    ASSERT_EQ(crossing.outcome, SearchOutcome::crossing) << k;
    t += crossing.time;
    const double exact = (std::numbers::pi / 2 + 2 * std::numbers::pi * k) / 0.3;
    ASSERT_NEAR(t, exact, 1e-13 * (k + 1) * 20) << k;
    motion.start(t, search.state(), state.data());
  }
  // One phase of 2^17 windows: nothing crosses x + 2 gain, and the last state is still right.
  const double high[4] = {0, 0, 0, 1};
  ASSERT_TRUE(search.build(exponentials, 1, high));
  std::vector<double> end(start.size());
  exponentials.advance(start.data(), 60'000, end.data());
  EXPECT_NEAR(end[0], gain * std::cos(0.3 * 60'000), 1e-10);
}

// Four undamped oscillators, seen through a rotation, so that absolute values of matrices multiply far beyond what the motion does. The sum of
// their cosines is lifted until one dip, late in the phase, is 1e-11 deep: all earlier ones stay above zero.
TEST(CrossingSearch, ShallowZerosLateInALongPhaseAreFound) {
  constexpr std::size_t n = 4;
  const std::array<double, n> omega{1, std::numbers::sqrt2, std::numbers::sqrt3, std::sqrt(5.0)};
  const auto sum = [&](long double t) {
    long double value = 0;
    for (const double w : omega) value += std::cos(static_cast<long double>(w) * t);
    return value;
  };
  // The last dip that is deeper than all before it, by more than its neighbourhood.
  const double horizon = 12'000;
  long double record = 0, depth = 0, where = 0;
  for (long double t = 0.5L; t < horizon; t += 0.05L) {
    const long double here = sum(t);
    if (!(here < record + 0.01L && here <= sum(t - 0.05L) && here <= sum(t + 0.05L))) continue;
    long double low = t - 0.05L, high = t + 0.05L;
    for (int round = 0; round < 80; ++round) {
      const long double third = (high - low) / 3;
      if (sum(low + third) < sum(high - third)) {
        high -= third;
      } else {
        low += third;
      }
    }
    if (sum(low) < record - 1e-6L) {
      depth = sum(low);
      where = low;
    }
    record = std::min(record, sum(low));
  }
  ASSERT_GT(where, 1000);
  // Rotation: the reflection that takes the first axis to (1, 2, 3, 4)/√30, and then Q = 1 − 2 h hᵀ.
  std::array<double, n> h{1, 2, 3, 4};
  for (double& x : h) x /= std::sqrt(30.0);
  const auto q = [&](std::size_t i, std::size_t j) { return (i == j ? 1.0 : 0.0) - 2 * h[i] * h[j]; };
  constexpr std::size_t size = 2 * n + 1;
  std::vector<double> a(size * size, 0.0), row(size, 0.0), start(size, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    a[i * size + n + i] = 1;
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) a[(n + i) * size + j] -= q(i, k) * omega[k] * omega[k] * q(j, k);
      row[i] += q(i, j);
      start[i] += q(i, j);
    }
  }
  const double deep = 1e-11;
  row[2 * n] = static_cast<double>(-depth) - deep;
  start[2 * n] = 1;
  Finder finder(static_cast<int>(size), a, row);
  const Answer answer = finder.find(start, horizon);
  ASSERT_EQ(answer.crossing.outcome, SearchOutcome::crossing);
  long double curvature = 0;
  for (const double w : omega) curvature -= w * w * std::cos(static_cast<long double>(w) * where);
  EXPECT_NEAR(answer.crossing.time, static_cast<double>(where - std::sqrt(2 * deep / curvature)), 2e-6);
}

TEST(CrossingSearch, WhatIsSeenDependsOnNoHorizon) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> size(-6, 6), unit(-1, 1);
  for (int trial = 0; trial < count(300); ++trial) {
    const double length = std::exp(size(random)), speed = std::exp(size(random)),
                 weight = std::exp(size(random));
    const bool waves = trial % 2 == 0;
    const std::vector<double> a{0, 1, 0, waves ? -weight : 0.0, 0, -weight, 0, 0, 0};
    Finder finder(3, a, {1, 0, 0.1 * length * unit(random)});
    const std::vector<double> start{length, speed * unit(random), 1};
    const Crossing near = finder.find(start, 1e3 * (length + 1) * (speed + 1)).crossing;
    if (near.outcome != SearchOutcome::crossing) continue;
    for (const double horizon : {1.0, 1.5, 1e2, 1e5, 1e9}) {
      const Crossing far = finder.find(start, near.time * horizon).crossing;
      ASSERT_EQ(far.outcome, SearchOutcome::crossing) << trial << ", " << horizon;
      EXPECT_EQ(far.time, near.time) << trial << ", " << horizon;
    }
  }
}

TEST(CrossingSearch, WhatBeginsAtZeroAndMustStayPositiveDoesNotFallUnseen) {
  Finder finder = polynomial(3);
  const std::array<unsigned char, 1> positive{1};
  for (const double value : {0.0, 1e-17, -1e-17}) {
    // f = value − t/10 − t², rounding of 1 in its neighbourhood: only a row that knows of it may call the start a zero.
    const std::vector<double> a{0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    Finder lifted(4, a, {1, 0, 0, -1});
    const std::vector<double> start{1 + value, -0.1, -2, 1};
    EXPECT_EQ(lifted.find(start, 10).crossing.outcome, SearchOutcome::none) << value;
    const Crossing crossing =
        lifted.search.find(lifted.exponentials, start.data(), 10, {}, {.positive = positive});
    ASSERT_EQ(crossing.outcome, SearchOutcome::crossing) << value;
    EXPECT_LT(crossing.time, 1e-13) << value;
  }
  // One that rises is no event.
  const std::vector<double> rising{0, 0.1, 2};
  EXPECT_EQ(finder.search.find(finder.exponentials, rising.data(), 10, {}, {.positive = positive}).outcome,
            SearchOutcome::none);
}

TEST(CrossingSearch, SaysSoWhenTheMotionLeavesTheNumbersOrItIsCancelled) {
  Finder growing(2, {0, 1, 1, 0}, {1, 0});
  const Answer answer = growing.find({1, 0}, 1e5);
  EXPECT_EQ(answer.crossing.outcome, SearchOutcome::overflow);
  EXPECT_LT(growing.search.windows(), 2000);
  EXPECT_EQ(growing.find({INFINITY, 0}, 1).crossing.outcome, SearchOutcome::overflow);
  EXPECT_EQ(growing.find({NAN, 0}, 1).crossing.outcome, SearchOutcome::overflow);
  const std::atomic<bool> cancel{true};
  const std::vector<double> start{1, 0};
  EXPECT_EQ(growing.search.find(growing.exponentials, start.data(), 1, {}, {.cancel = &cancel}).outcome,
            SearchOutcome::cancelled);
}

TEST(CrossingSearch, AFunctionThatStaysZeroToRoundingIsNoEvent) {
  const std::vector<double> a{0, 1, 0, 0, 0, 0, 0, 0, 0};
  const std::vector<double> row{0, 1, -1};  // v − drive, equal for ever
  Finder finder(3, a, row);
  const Answer answer = finder.find({0, 0.7, 0.7}, 10);
  EXPECT_EQ(answer.crossing.outcome, SearchOutcome::none);
  EXPECT_TRUE(answer.grazes.empty());
}

TEST(CrossingSearch, TheHorizonIsIncludedAndNothingBeyond) {
  Finder finder = polynomial(2);
  const Answer at = finder.find({1, -1}, 1);
  EXPECT_EQ(at.crossing.outcome, SearchOutcome::crossing);
  EXPECT_EQ(at.crossing.time, 1);
  EXPECT_EQ(finder.find({1, -1}, std::nextafter(1, 0)).crossing.outcome, SearchOutcome::none);
  EXPECT_EQ(finder.find({1, -1}, 0).crossing.outcome, SearchOutcome::none);
}

TEST(CrossingSearch, RisingZerosCountOnlyWhenAskedFor) {
  Finder finder = polynomial(3);
  const auto start = derivatives({1, 2}, -1, 3);  // negative, rises at 1, falls at 2
  EXPECT_NEAR(finder.find(start, 5).crossing.time, 2, 1e-14);
  const Crossing rising = finder.find(start, 5, {}, true).crossing;
  EXPECT_NEAR(rising.time, 1, 1e-14);
  EXPECT_EQ(rising.direction, 1);
}

TEST(CrossingSearch, GivesTheSameBitsWhenUnitsChangeByPowersOfTwo) {
  const std::vector<double> a{0, 1, 0, -40, -0.4, 9.81, 0, 0, 0};
  const std::vector<double> row{1, 0, 0.125};
  const double length = 1024, time = 1.0 / 64;
  const double unit[3] = {length, length / time, 1};
  std::vector<double> scaled = a;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) scaled[3 * i + j] *= unit[i] / unit[j] / time;
  }
  std::vector<double> scaled_row = row;
  for (std::size_t j = 0; j < 3; ++j) scaled_row[j] *= length / unit[j];
  Finder one(3, a, row);
  Finder other(3, scaled, scaled_row);
  const Answer first = one.find({0.5, -7, 1}, 16);
  const Answer second = other.find({0.5 * unit[0], -7 * unit[1], 1}, 16 * time);
  ASSERT_EQ(first.crossing.outcome, SearchOutcome::crossing);
  EXPECT_EQ(first.crossing.time * time, second.crossing.time);
  EXPECT_EQ(first.state[1] * unit[1], second.state[1]);
}

TEST(CrossingSearch, SaysSoWhenItsWorkIsLimited) {
  const std::vector<double> a{0, -1, 1, 0};
  DyadicExponentials exponentials;
  exponentials.build(2, a.data());
  CrossingSearch search;
  const double row[2] = {0, 0};
  ASSERT_TRUE(search.build(exponentials, 1, row));
  const double start[2] = {1, 0};
  const double positive[2] = {1, 0};
  ASSERT_TRUE(search.build(exponentials, 1, positive));
  const Crossing crossing = search.find(exponentials, start, 1e6, {}, {.rising = false, .max_windows = 1});
  EXPECT_EQ(crossing.outcome, SearchOutcome::undecided);
}

TEST(CrossingSearch, AllocatesNothing) {
  Finder finder = polynomial(4);
  const std::vector<double> start{1, 2, -9.81, 0.1};
  const long before = allocations();
  const Crossing crossing = finder.search.find(finder.exponentials, start.data(), 10, {});
  EXPECT_EQ(allocations(), before);
  EXPECT_EQ(crossing.outcome, SearchOutcome::crossing);
}

}  // namespace
}  // namespace judder::engines::numeric
