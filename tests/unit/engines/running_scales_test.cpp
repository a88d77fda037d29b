// What the error of a step is measured by, without any engine: steps are written down by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engines/mode_motion.hpp"
#include "engines/rate_noise.hpp"
#include "engines/running_scales.hpp"
#include "run_model.hpp"

namespace judder::engines {
namespace {

/// A model at its start, in its only mode.
struct Bench {
  explicit Bench(const std::string& text)
      : model(text_model(text)),
        work(model.system),
        motion(model.system, work),
        scales(model.system, motion.all_components()),
        noise(model.system.layout(), motion.all_components()),
        y(motion.all_components()),
        rate(motion.all_components()),
        end(motion.all_components()) {
    const model::Layout& layout = model.system.layout();
    std::copy(model.system.start().begin(), model.system.start().end(), work.in.begin());
    std::copy_n(work.in.begin() + 1, layout.integrated(), y.begin());
    Mode mode;
    mode.side.assign(layout.switches, 0);
    mode.surface.assign(layout.switches, AtSurface::away);
    motion.load(0, y.data());
    ready = motion.set_mode(mode) && motion(0, y.data(), rate.data());
    motion.note_terms();
    scales.start(0, y.data());
    end = y;
  }
  [[nodiscard]] TrialStep step(double t, double h) const { return {t, h, y.data(), rate.data(), end.data()}; }
  void weigh(double t, double h, double tolerance = 1e-6) {
    scales.weigh(step(t, h), motion, work.inertia.data(), noise, {tolerance, 0, 1e9});
  }
  TestModel model;
  model::Workspace work;
  ModeMotion motion;
  RunningScales scales;
  RateNoise noise;
  std::vector<double> y, rate, end;
  bool ready = false;
};

const char* const kTwoMasses = R"toml(
[coordinates]
a = { velocity = 2 }
b = 5
[energy]
kinetic = "1e6*a'^2/2 + 1e-6*b'^2/2"
[run]
until = 1
)toml";

TEST(RunningScales, AreTheLargestThatTheMotionHasBeen) {
  Bench bench(kTwoMasses);
  ASSERT_TRUE(bench.ready);
  bench.end = {0.2, 5, 2, 0};
  bench.scales.update(bench.step(0, 0.1));
  EXPECT_EQ(bench.scales.sizes()[0], 0.2);
  EXPECT_EQ(bench.scales.sizes()[2], 2);
  bench.y = bench.end;
  bench.end = {0.1, 5, -1, 0};  // it comes back: what was stays
  bench.scales.update(bench.step(0.1, 0.1));
  EXPECT_EQ(bench.scales.sizes()[0], 0.2);
  EXPECT_EQ(bench.scales.sizes()[2], 2);
  bench.scales.note(2, 3);
  EXPECT_EQ(bench.scales.sizes()[2], 3);
  EXPECT_EQ(bench.scales.start_of(1), 5);
}

// 10⁶/2·2² of energy would give the milligram 2·10⁶: the tolerance of a tolerance of it is what its speed must be exact to.
TEST(RunningScales, MeasureWhatHasNotMovedByTheEnergyOfItsFellows) {
  Bench bench(kTwoMasses);
  ASSERT_TRUE(bench.ready);
  bench.end = {0.2, 5, 2, 0};
  bench.weigh(0, 0.1, 1e-6);
  EXPECT_NEAR(1 / bench.scales.weights()[2], 1e-6 * 2, 1e-18);
  EXPECT_NEAR(1 / bench.scales.weights()[3], 1e-6 * 1e-6 * 2e6, 1e-15);
  EXPECT_NEAR(bench.scales.speed_floor(1), 1e-12 * 2e6, 1e-15);
  EXPECT_FALSE(bench.scales.rounding_rules());
}

const char* const kState = R"toml(
[coordinates]
x = 0
[energy]
kinetic = "x'^2/2"
[state]
z = { start = 1, rate = "-z" }
[run]
until = 1
)toml";

// z = 1/(1 + t) in steps of a tenth of the time passed: about its mean it is as small as it has become, not as large as it was.
TEST(RunningScales, ForgetWhatAStateHasBeen) {
  Bench bench(kState);
  ASSERT_TRUE(bench.ready);
  double t = 0;
  double h = 1e-3;
  for (; t < 1e6; h = std::max(1e-3, 0.1 * t)) {
    bench.y[2] = 1 / (1 + t);
    bench.rate[2] = -bench.y[2] * bench.y[2];
    bench.end[2] = 1 / (1 + t + h);
    bench.scales.update(bench.step(t, h));
    t += h;
  }
  bench.y[2] = bench.end[2];
  bench.weigh(t, h, 1e-6);
  EXPECT_LT(1 / bench.scales.weights()[2], 1e-6 * 1e-4);
  EXPECT_GT(1 / bench.scales.weights()[2], 1e-6 * 1e-7);
  EXPECT_NEAR(bench.scales.sizes()[2], 1, 1e-5);  // the size itself is not forgotten
  bench.scales.recall_states();
  bench.weigh(t, h, 1e-6);
  EXPECT_NEAR(1 / bench.scales.weights()[2], 1e-6, 1e-11);
}

TEST(RunningScales, GoOnWhereTheyWereSaved) {
  Bench whole(kState);
  whole.end[2] = 0.25;
  whole.scales.update(whole.step(0, 1));
  Bench other(kState);
  other.scales.load_sizes(whole.scales.sizes());
  std::vector<double> states;
  whole.scales.save_states(states);
  other.scales.load_states(whole.scales.origin(), states);
  for (Bench* bench : {&whole, &other}) {
    bench->y[2] = 0.25;
    bench->end[2] = 0.2;
    bench->scales.update(bench->step(1, 0.5));
    bench->weigh(1, 0.5);
  }
  EXPECT_EQ(whole.scales.sizes(), other.scales.sizes());
  EXPECT_EQ(whole.scales.weights(), other.scales.weights());
}

// A rejected step gives a size to what has none, if it knows it; a step that is taken has sizes of its own.
TEST(RunningScales, CountRejectedStepsForWhatHasNeverMoved) {
  const auto error_of_a = [](double estimate) {
    Bench bench(R"toml(
[coordinates]
a = 0
b = 0
[energy]
kinetic = "a'^2/2 + b'^2/2"
[run]
until = 1
)toml");
    bench.end = {0, 0, 0.5, 0};
    const std::vector<double> errors{0, 0, estimate, 0};
    TrialStep step = bench.step(0, 1);
    step.errors = errors;
    bench.scales.note_rejected(step);
    bench.end = {0, 0, 1e-3, 0};
    bench.weigh(0, 1e-2);
    return 1 / bench.scales.weights()[2];
  };
  EXPECT_NEAR(error_of_a(0.01), 0.5e-6, 1e-15);
  EXPECT_NEAR(error_of_a(0.1), 1e-9, 1e-18);  // a fifth of the size: not known
}

TEST(RunningScales, GiveNewtonASizeForEverything) {
  Bench bench(kTwoMasses);
  ASSERT_TRUE(bench.ready);
  const numeric::RadauScales foreseen =
      bench.scales.foresee(bench.step(0, 0.1), bench.motion, bench.work.inertia.data(), bench.noise, 1e-6);
  EXPECT_NEAR(foreseen.typical[0], 0.2, 1e-15);
  // Nothing has a speed yet that would give energy: what has a value takes that, what has none the largest of the others.
  EXPECT_EQ(foreseen.typical[1], 5);
  EXPECT_EQ(foreseen.typical[2], 2);
  EXPECT_EQ(foreseen.typical[3], foreseen.typical[0]);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(foreseen.inverse[i] * 1e-6 * foreseen.typical[i], 1, 1e-12) << i;
}

// --- rounding of the rates ---

// ẍ = −k x with k = 10¹² at x = 1: the last bit of x makes ε k of noise, and the margin of 64 counts the stages.
TEST(RateNoise, IsThatOfTheStiffestSpring) {
  Bench bench(R"toml(
[coordinates]
x = 1
[energy]
kinetic = "x'^2/2"
potential = "1e12*x^2/2"
[run]
until = 1
)toml");
  ASSERT_TRUE(bench.ready);
  EXPECT_FALSE(bench.noise.measured());
  ASSERT_TRUE(bench.noise.measure(bench.motion, 0, bench.y.data(), bench.rate.data(), 1e-8, false));
  EXPECT_TRUE(bench.noise.measured());
  const double expected = 64 * 2.220446049250313e-16 * 1e12;
  EXPECT_NEAR(bench.noise.rate(1), expected, 1e-3 * expected);
  EXPECT_EQ(bench.noise.over(1, 1e-8), bench.noise.rate(1) * 1e-8);
  EXPECT_FALSE(bench.noise.aged(1e-8));
  EXPECT_TRUE(bench.noise.aged(2e-8));
  for (int step = 0; step < 8; ++step) bench.noise.age();
  EXPECT_TRUE(bench.noise.aged(1e-8));
  // The weights know it: no step can make the velocity more exact.
  bench.weigh(0, 1e-8, 1e-14);
  EXPECT_TRUE(bench.scales.rounding_rules());
  bench.noise.forget();
  EXPECT_FALSE(bench.noise.measured());
  EXPECT_EQ(bench.noise.rate(1), 0);
}

// ż = −1000 z damps its own rounding in a millisecond: over a step of one second it adds up no longer than that.
TEST(RateNoise, LastsNoLongerThanItsDampingTakes) {
  Bench bench(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "x'^2/2"
[state]
z = { start = 1, rate = "-1000*z" }
[run]
until = 1
)toml");
  ASSERT_TRUE(bench.ready);
  ASSERT_TRUE(bench.noise.measure(bench.motion, 0, bench.y.data(), bench.rate.data(), 1, false));
  EXPECT_NEAR(bench.noise.lasts(2, 1), 1e-3, 1e-8);
  EXPECT_EQ(bench.noise.lasts(2, 1e-4), 1e-4);
  ASSERT_TRUE(bench.noise.measure(bench.motion, 0, bench.y.data(), bench.rate.data(), 1, true));
  EXPECT_EQ(bench.noise.lasts(2, 1), 1);
}

TEST(RateNoise, GoesOnWhereItWasSaved) {
  Bench bench(kState);
  ASSERT_TRUE(bench.noise.measure(bench.motion, 0, bench.y.data(), bench.rate.data(), 0.5, false));
  std::vector<double> saved;
  bench.noise.save(saved);
  RateNoise other(bench.model.system.layout(), bench.motion.all_components());
  other.load(saved);
  other.load_age(bench.noise.measured_for(), bench.noise.steps_since());
  EXPECT_TRUE(other.measured());
  for (int i = 0; i < bench.motion.all_components(); ++i)
    EXPECT_EQ(other.over(i, 2), bench.noise.over(i, 2)) << i;
  other.load({});
  EXPECT_FALSE(other.measured());
}

}  // namespace
}  // namespace judder::engines
