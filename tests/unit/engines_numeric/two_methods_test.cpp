// Two methods as one: whichever is in use, a step is that of the method itself, and trials of the other one come when they should.
#include "engines/numeric/two_methods.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace judder::engines::numeric {
namespace {

/// ẏ = −λ y with its integral behind it: y(h) = exp(−λh), ∫ y = (1 − exp(−λh))/λ.
struct Decay {
  bool operator()(double /*t*/, const double* y, double* f) const {
    f[0] = -lambda * y[0];
    f[1] = y[0];
    return true;
  }
  double lambda = 1;
};

struct Bench {
  Bench(bool stiff, Method order) {
    methods.resize(1, 1);
    methods.start(stiff, order);
    methods.begin(2);
    decay(0, y.data(), f0.data());
  }
  bool step(double h) {
    const RadauScales scales{weight.data(), typical.data(), rounding.data()};
    return methods.step(decay, 0, y.data(), f0.data(), h, scales);
  }
  Decay decay;
  TwoMethods methods;
  std::array<double, 2> y{1, 0}, f0{};
  std::array<double, 2> weight{1e9, 1e9}, typical{1, 1}, rounding{1e-16, 1e-16};
};

TEST(TwoMethods, GiveStepRatesAndValuesBetweenWhicheverIsInUse) {
  const double h = 0.1;
  for (const bool stiff : {false, true}) {
    for (const Method order : {Method::order5, Method::order8}) {
      Bench bench(stiff, order);
      EXPECT_EQ(bench.methods.stiff(), stiff);
      ASSERT_TRUE(bench.step(h));
      const double allowed = stiff || order == Method::order5 ? 1e-8 : 1e-12;
      EXPECT_NEAR(bench.methods.y1()[0], std::exp(-h), allowed);
      EXPECT_LT(bench.methods.error(bench.weight.data(), 1), 1e9 * 1e-5);
      EXPECT_GT(std::abs(bench.methods.errors()[0]), 0);
      ASSERT_TRUE(bench.methods.prepare_dense(bench.decay));
      std::array<double, 2> inside{};
      bench.methods.dense(0.5, 1, inside.data());
      EXPECT_NEAR(inside[0], std::exp(-0.5 * h), 1e-6);
      bench.methods.dense(1, 1, inside.data());
      EXPECT_EQ(inside[0], bench.methods.y1()[0]);
      ASSERT_TRUE(bench.methods.prepare_end_rate(bench.decay));
      EXPECT_EQ(bench.methods.f1()[0], -bench.methods.y1()[0]);
      EXPECT_EQ(bench.methods.order(), order);
      EXPECT_GE(bench.methods.nodes().size(), 3u);
      EXPECT_FALSE(bench.methods.newton_failed());
    }
  }
}

// The error falls with the power that is promised: halving h divides it by 2^k, to a bit.
TEST(TwoMethods, HaveErrorsThatFallWithTheirPower) {
  for (const bool stiff : {false, true}) {
    for (const Method order : {Method::order5, Method::order8}) {
      const auto error = [&](double h) {
        Bench bench(stiff, order);
        EXPECT_TRUE(bench.step(h));
        return bench.methods.error(bench.weight.data(), 1);
      };
      Bench bench(stiff, order);
      const double power = std::log2(error(0.5) / error(0.25));
      EXPECT_NEAR(power, bench.methods.power(), 0.5) << stiff;
    }
  }
}

// λh = 1000: an explicit step explodes, the implicit one, in use after the change, does not.
TEST(TwoMethods, ChangeBetweenThemInTheMiddleOfARun) {
  Bench bench(false, Method::order8);
  bench.decay.lambda = 1000;
  bench.decay(0, bench.y.data(), bench.f0.data());
  ASSERT_TRUE(bench.step(1));
  EXPECT_GT(std::abs(bench.methods.y1()[0]), 1e3);
  bench.methods.change(2);
  EXPECT_TRUE(bench.methods.stiff());
  ASSERT_TRUE(bench.step(1));
  EXPECT_LT(std::abs(bench.methods.y1()[0]), 1);
  std::vector<double> saved;
  bench.methods.accept();
  bench.methods.save(saved);
  EXPECT_FALSE(saved.empty());
  bench.methods.change(2);
  saved.clear();
  bench.methods.save(saved);  // an explicit method remembers nothing
  EXPECT_TRUE(saved.empty());
}

TEST(MethodChoice, GivesTrialsMoreAndMoreRarely) {
  MethodChoice choice;
  choice.start();
  long steps = 0;
  std::vector<long> trials;
  for (; trials.size() < 6; ++steps) {
    if (!choice.due()) continue;
    trials.push_back(steps);
    choice.begin_trial();
  }
  for (std::size_t i = 1; i < trials.size(); ++i)
    EXPECT_EQ(trials[i] - trials[i - 1], std::min(64L << i, 1024L)) << i;
  // One that was worth the change begins anew, and so does a run.
  choice.passed();
  int until = 0;
  while (!choice.due()) ++until;
  EXPECT_EQ(until, 63);
}

TEST(MethodChoice, GivesATrialSoonWhereStabilityKeepsStepsShort) {
  MethodChoice choice;
  choice.start();
  for (int trial = 0; trial < 5;) {
    if (!choice.due()) continue;
    choice.begin_trial();
    ++trial;
  }
  for (int step = 0; step < 100; ++step) choice.note(2);
  int until = 1;
  while (!choice.due()) ++until;
  EXPECT_EQ(until, 64);
  const auto saved = choice.save();
  EXPECT_EQ(saved[4], 1);
  MethodChoice other;
  other.load(static_cast<int>(saved[0]), static_cast<int>(saved[1]), static_cast<long>(saved[2]),
             static_cast<long>(saved[3]), saved[4] != 0);
  EXPECT_EQ(other.save(), saved);
  EXPECT_EQ(other.due(), choice.due());
}

}  // namespace
}  // namespace judder::engines::numeric
