// Limit cycles found in a run: against closed forms, and the same cycle in every writing of one system.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "count.hpp"
#include "judder/analysis/periodic.hpp"
#include "judder/core/number.hpp"
#include "judder/io/reader.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

using analysis::PeriodicMotion;

constexpr double kPi = 3.141592653589793;

struct Found {
  engines::EngineResult end;
  std::optional<PeriodicMotion> motion;
  simulate::MemorySink data;
  std::optional<double> forcing;
};

/// Runs a model until it is periodic, as `judder run --until-periodic` does.
Found until_periodic(const model::Spec& spec, double tolerance = 1e-9,
                     const std::vector<model::Named>& set = {}, const std::string& engine = "event") {
  model::CompileOptions options;
  options.set = set;
  model::Compiled plain = model::compile(spec, options);
  if (!plain.system) throw std::runtime_error(render(plain.diagnostics, "model", ""));
  Found out{{}, {}, simulate::MemorySink(*plain.system), analysis::forcing_period(*plain.system)};
  if (!out.forcing) return out;
  model::Compiled watched =
      model::compile(analysis::with_sections(spec, *plain.system, *out.forcing), options);
  if (!watched.system) throw std::runtime_error(render(watched.diagnostics, "model", ""));
  engines::EngineOptions run = engines::options_of(watched.run);
  run.tolerance = tolerance;
  out.end = analysis::run_until_periodic(*watched.system, engine, run, *out.forcing, out.data, out.motion);
  return out;
}

model::Spec spec_of(const std::string& text) { return io::read_model_text("format = 1\n" + text).spec; }

model::Spec gallery_spec(const std::string& file) {
  return io::read_model(std::string(JUDDER_SOURCE_DIR) + "/gallery/" + file).spec;
}

double share_of(const PeriodicMotion& motion, const std::string& mode) {
  double sum = 0;
  for (const auto& share : motion.shares) sum += share.mode == mode ? share.share : 0;
  return sum;
}

PeriodicMotion::Range range_of(const PeriodicMotion& motion, const std::string& name) {
  for (const auto& range : motion.ranges) {
    if (range.name == name) return range;
  }
  throw std::runtime_error("no range " + name);
}

// Petcoviciu and Sebes 2011; numbers from a 22-digit Taylor integration (gallery/belt).
TEST(Cycles, TheBeltHasOneCycleInAllItsSetValuedWritings) {
  for (const std::string file : {"model.toml", "model-sign.toml", "model-first-order.toml"}) {
    const Found found = until_periodic(gallery_spec("belt/" + file), 1e-12);
    ASSERT_TRUE(found.motion) << file;
    EXPECT_EQ(found.end.status.reason, Reason::periodic);
    const PeriodicMotion& motion = *found.motion;
    EXPECT_FALSE(motion.equilibrium);
    EXPECT_NEAR(motion.period, 12.0010312948305771, 1e-8) << file;
    EXPECT_NEAR(range_of(motion, "x").most, 1.1339446764416568, 1e-8) << file;
    EXPECT_NEAR(range_of(motion, "x").least, -0.5554326900602317, 1e-8) << file;
    const double stick = file == "model.toml" ? share_of(motion, "stick") : share_of(motion, "slide");
    EXPECT_NEAR(stick, (17.141755135832078 - 9.436723366481656) / 12.0010312948305771, 1e-8) << file;
    EXPECT_EQ(motion.events.size(), 4U) << file << ": leaves, top, bottom, caught";
    EXPECT_TRUE(motion.drifts.empty());
    EXPECT_LT(found.end.end.time, 48) << "four periods after the first stick are enough";
  }
}

// The arctan writing: no stick, and a cycle that approaches the set-valued one as beta grows.
TEST(Cycles, TheSmoothedBeltApproachesTheCycleWithBeta) {
  double before = 1;
  for (const double beta : {100.0, 1000.0, 10000.0}) {
    model::Spec spec = gallery_spec("belt/model.toml");
    spec.joints[0].law.type = "arctan";
    spec.joints[0].law.beta = beta;
    const Found found = until_periodic(spec);
    ASSERT_TRUE(found.motion) << beta;
    const double error = std::abs(range_of(*found.motion, "x").most - 1.1339446764416568);
    EXPECT_LT(error, 0.3 * before) << "beta = " << beta;
    before = error;
    EXPECT_EQ(share_of(*found.motion, "stick"), 0);
  }
}

// Nothing that repeats before a force begins is the motion asked for: x'' + 0.4 x' + x = cos t from t = 50 on, amplitude 1/0.4.
TEST(Cycles, AForceThatIsStillToComeIsAwaited) {
  const Found found = until_periodic(spec_of(R"toml(
[coordinates]
x = 0
[energy]
kinetic     = "x'^2/2"
potential   = "x^2/2"
dissipation = "0.2*x'^2"
[[force]]
along = "x'"
value = "step(t - 50)*cos(t)"
[run]
until = 500
)toml"));
  ASSERT_TRUE(found.motion);
  EXPECT_FALSE(found.motion->equilibrium);
  EXPECT_NEAR(found.motion->period, 2 * std::acos(-1.0), 1e-9);
  EXPECT_NEAR(range_of(*found.motion, "x").most, 2.5, 1e-6);
}

// x'' + 2D x' + x = cos(w t): the steady amplitude is known, and so is the factor e^(−D T) per period.
TEST(Cycles, AForcedOscillatorIsComparedAtWholePeriodsOfItsForce) {
  const double w = 1.7;
  const Found found = until_periodic(spec_of(R"toml(
[coordinates]
x = 1
[energy]
kinetic     = "x'^2/2"
potential   = "x^2/2"
dissipation = "0.1*x'^2"
[[force]]
along = "x'"
value = "cos(1.7*t)"
[run]
until = 1000
)toml"),
                                     1e-10);
  ASSERT_TRUE(found.forcing);
  EXPECT_NEAR(*found.forcing, 2 * kPi / w, 1e-12);
  ASSERT_TRUE(found.motion);
  EXPECT_NEAR(found.motion->period, 2 * kPi / w, 1e-12);
  const double amplitude = 1 / std::hypot(1 - w * w, 0.2 * w);
  EXPECT_NEAR(range_of(*found.motion, "x").most, amplitude, 1e-6);
  EXPECT_NEAR(range_of(*found.motion, "x").least, -amplitude, 1e-6);
  EXPECT_LE(found.motion->distance, 1e-7);
  EXPECT_LT(found.end.end.time, 250) << "e^(−0.1 t) is below 1e-8 after 180";
}

// A period-two motion of a forced system is twice the period of the force, and no return after one is taken for it.
TEST(Cycles, SubharmonicsAreSeenAsSuch) {
  const Found found = until_periodic(spec_of(R"toml(
[coordinates]
x = { start = 0.3, velocity = 0.4 }
[energy]
kinetic     = "x'^2/2"
dissipation = "0.05*x'^2"
potential   = "x^4/4 - x^2/2"
[[force]]
along = "x'"
value = "0.34875*cos(t)"
[run]
until = 4000
)toml"),
                                     1e-10);
  ASSERT_TRUE(found.motion);
  const double ratio = found.motion->period / *found.forcing;
  EXPECT_NEAR(ratio, std::round(ratio), 1e-12);
  EXPECT_GE(ratio, 1);
}

TEST(Cycles, CommensurableForcesHaveACommonPeriodAndOthersNone) {
  const auto period = [](const std::string& value) {
    return analysis::forcing_period(
        text_model(
            "[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = \"" +
            value + "\"\n[run]\nuntil = 1\n")
            .system);
  };
  EXPECT_NEAR(*period("sin(2*t) + cos(3*t)"), 2 * kPi, 1e-12);
  EXPECT_NEAR(*period("sign(sin(5*t)) + abs(cos(10*t + 1))"), 2 * kPi / 5, 1e-12);
  EXPECT_NEAR(*period("mod(t, 0.25) + sin(2*pi*t)"), 1, 1e-12);
  EXPECT_FALSE(period("sin(t) + sin(sqrt(2)*t)"));
  EXPECT_FALSE(period("sin(t) + 0.1*t")) << "a ramp";
  EXPECT_FALSE(period("exp(-t)"));
  EXPECT_EQ(*period("-x - x'"), 0);
}

TEST(Cycles, AMotionThatSettlesIsAnEquilibrium) {
  const Found found = until_periodic(gallery_spec("dither-stability/model.toml"));
  ASSERT_TRUE(found.motion);
  EXPECT_TRUE(found.motion->equilibrium);
  EXPECT_NEAR(range_of(*found.motion, "v").most, 0.4, 1e-5);
  const Found moving = until_periodic(gallery_spec("dither-stability/model.toml"), 1e-9, {{"W", 0.5}});
  ASSERT_TRUE(moving.motion);
  EXPECT_FALSE(moving.motion->equilibrium);
  EXPECT_NEAR(range_of(*moving.motion, "v").least, 0.291, 0.001);
  EXPECT_NEAR(range_of(*moving.motion, "v").most, 0.462, 0.001);
}

// x'' + 2 z x' + x = cos(w t): the transient turns with the natural frequency, so that it is near to itself after periods of the force that are
// near to its own, long before it is gone. What is left of it is known.
TEST(Cycles, ATransientThatTurnsIsNoPeriodOfItsOwnAndIsNotForgotten) {
  std::mt19937_64 random(7);
  for (int i = 0; i < count(8); ++i) {
    const double z = std::pow(10.0, std::uniform_real_distribution<>(-3.3, -1)(random));
    const double w = std::uniform_real_distribution<>(0.3, 4)(random);
    const std::string text = R"toml(
[parameters]
z = 0.1
w = 2
[coordinates]
x = 1
[energy]
kinetic     = "x'^2/2"
potential   = "x^2/2"
dissipation = "z*x'^2"
[[force]]
along = "x'"
value = "cos(w*t)"
[run]
until = 1e6
)toml";
    const Found found = until_periodic(spec_of(text), 1e-11, {{"z", z}, {"w", w}});
    ASSERT_TRUE(found.motion) << "z = " << z << ", w = " << w;
    const PeriodicMotion& motion = *found.motion;
    EXPECT_NEAR(motion.period, 2 * kPi / w, 1e-11) << "z = " << z << ", w = " << w;
    // x = Re(H e^(iwt)) + e^(−zt) (a cos nt + b sin nt)
    const std::complex<double> response = 1.0 / std::complex<double>(1 - w * w, 2 * z * w);
    const double n = std::sqrt(1 - z * z), a = 1 - response.real();
    const double b = (z * a + w * response.imag()) / n;
    const double t = motion.from, decay = std::exp(-z * t);
    const double x = decay * (a * std::cos(n * t) + b * std::sin(n * t));
    const double v = -z * x + decay * n * (b * std::cos(n * t) - a * std::sin(n * t));
    const double range = 2 * std::abs(response);
    EXPECT_LE(std::max(std::abs(x) / range, std::abs(v) / (range * w)), motion.distance)
        << "z = " << z << ", w = " << w;
    EXPECT_LE(motion.distance, 1e-7);
    EXPECT_NEAR(range_of(motion, "x").most, std::abs(response), 2e-7 * range) << "z = " << z << ", w = " << w;
  }
}

// Forces whose formula has a longer period than they have: cos² w t repeats twice in 2π/w.
TEST(Cycles, AMotionMayRepeatWithinThePeriodOfTheFormula) {
  const Found found = until_periodic(spec_of(R"toml(
[coordinates]
x = 1
[energy]
kinetic     = "x'^2/2"
potential   = "x^2/2"
dissipation = "0.1*x'^2"
[[force]]
along = "x'"
value = "sin(0.7*t)^2"
[run]
until = 1000
)toml"));
  ASSERT_TRUE(found.motion);
  EXPECT_NEAR(found.motion->period, kPi / 0.7, 1e-9);
  // sin² = (1 − cos 1.4 t)/2 about x = 1/2
  EXPECT_NEAR(range_of(*found.motion, "x").most, 0.5 + 0.5 / std::hypot(1 - 1.96, 0.2 * 1.4), 1e-6);
}

// A square wave switches at the ends of its periods, to rounding before or after them.
TEST(Cycles, AForceThatSwitchesHasItsPeriod) {
  const Found found = until_periodic(spec_of(R"toml(
[coordinates]
x = 1
[energy]
kinetic     = "x'^2/2"
potential   = "x^2/2"
dissipation = "0.2*x'^2"
[[force]]
along = "x'"
value = "sign(sin(0.7*t))"
[run]
until = 1000
)toml"));
  ASSERT_TRUE(found.motion);
  EXPECT_NEAR(found.motion->period, 2 * kPi / 0.7, 1e-9);
  EXPECT_EQ(found.motion->events.size(), 2U);
  // Half a period from −a with slope s to a with slope −s about 1: (a, s) is the fixed point of the damped swing.
  const double d = 0.2, n = std::sqrt(1 - d * d), h = kPi / 0.7, e = std::exp(-d * h);
  // y = x − 1 after h: y = e^(−dt)(y0 cos nt + (v0 + d y0)/n sin nt); x(h) = −x(0), x'(h) = −x'(0)
  const double c = e * std::cos(n * h), s = e * std::sin(n * h) / n;
  // [c + d s, s; −s, c − d s] (x0 − 1, v0) = (−x0 − 1, −v0)
  const double a11 = c + d * s + 1, a12 = s, a21 = -s, a22 = c - d * s + 1;
  const double r1 = c + d * s - 1, r2 = -s, det = a11 * a22 - a12 * a21;
  const double x0 = (r1 * a22 - a12 * r2) / det, v0 = (a11 * r2 - r1 * a21) / det;
  double most = x0;
  for (int i = 0; i <= 100000; ++i) {
    const double t = h * i / 100000, y = x0 - 1;
    most = std::max(most, 1 + std::exp(-d * t) * (y * std::cos(n * t) + (v0 + d * y) / n * std::sin(n * t)));
  }
  EXPECT_NEAR(range_of(*found.motion, "x").most, most, 1e-6);
}

const char* const kImpactOscillator = R"toml(
[parameters]
w = 2.8
e = 0.8
s = 0
[coordinates]
x = 0.4
[energy]
kinetic   = "x'^2/2"
potential = "x^2/2"
[[force]]
along = "x'"
value = "cos(w*t)"
[[contact]]
name   = "wall"
gap    = "x + s"
impact = "e"
[run]
until = 6000
)toml";

/// The state after a time, from closed forms between impacts and bisection on a fine grid; false if impacts come too close.
bool strike_on(double& x, double& v, double from, double to, double w, double e, double s) {
  const double c = 1 / (1 - w * w), grid = 2 * kPi / (400 * std::max(w, 1.0));
  for (int impacts = 0; impacts < 1000; ++impacts) {
    const double a = x - c * std::cos(w * from), b = v + c * w * std::sin(w * from), t0 = from;
    const auto at = [&](double t) {
      return a * std::cos(t - t0) + b * std::sin(t - t0) + c * std::cos(w * t);
    };
    const auto rate = [&](double t) {
      return b * std::cos(t - t0) - a * std::sin(t - t0) - c * w * std::sin(w * t);
    };
    double low = t0, high = t0;
    while (high < to && (high == t0 || at(high) + s >= 0)) {
      low = high;
      high = std::min(high + grid, to);
    }
    if (!(at(high) + s < 0)) {
      x = at(to);
      v = rate(to);
      return true;
    }
    if (low == t0) return false;
    for (int i = 0; i < 100; ++i) (at(0.5 * (low + high)) + s > 0 ? low : high) = 0.5 * (low + high);
    x = -s;
    v = -e * rate(high);
    from = high;
  }
  return false;
}

// The stroboscopic map, written anew: the motion found is back after its period and after no smaller multiple of that of the force.
TEST(Cycles, TheLeastPeriodOfAnImpactOscillatorIsFound) {
  std::mt19937_64 random(11);
  int compared = 0, longer = 0;
  for (int i = 0; i < count(20); ++i) {
    const double w = std::uniform_real_distribution<>(1.3, 4)(random);
    const double e = std::uniform_real_distribution<>(0.2, 0.9)(random);
    const double s = std::uniform_real_distribution<>(-0.3, 0.5)(random);
    const std::string which = "w = " + to_text(w) + ", e = " + to_text(e) + ", s = " + to_text(s);
    const Found found = until_periodic(spec_of(kImpactOscillator), 1e-10, {{"w", w}, {"e", e}, {"s", s}});
    ASSERT_TRUE(found.end.status.reason == Reason::periodic || found.end.status.reason == Reason::done)
        << which;
    if (!found.motion) continue;
    const double period = 2 * kPi / w, times = found.motion->period / period;
    const std::vector<double>& y = found.end.end.y;
    double x = y[0], v = y[1], t = found.end.end.time;
    bool regular = true;
    for (int k = 1; k <= std::lround(times) && regular; ++k, t += period) {
      regular = strike_on(x, v, t, t + period, w, e, s);
      const double apart = std::max(std::abs(x - y[0]), std::abs(v - y[1]));
      if (!regular) break;
      if (k == std::lround(times))
        EXPECT_LT(apart, 3e-6) << which;
      else
        EXPECT_GT(apart, 3e-6) << which << ": repeats after " << k << " periods, not " << times;
    }
    compared += regular ? 1 : 0;
    longer += times > 1.5 ? 1 : 0;
  }
  EXPECT_GT(compared, count(20) / 3);
  EXPECT_GT(longer, 0);
}

const char* const kFrictionOscillator = R"toml(
[parameters]
w = 0.8
F = 0.3
[coordinates]
x = 1
[energy]
kinetic   = "x'^2/2"
potential = "x^2/2"
[[force]]
along = "x'"
value = "cos(w*t)"
[[friction]]
name   = "f"
slip   = "x'"
normal = 1
law    = "F"
[run]
until = 20000
)toml";

// Den Hartog 1931: without stops the amplitude is √(V² − F² H²), V = 1/(1 − w²), H = sin(π/w)/(w (1 + cos(π/w))); with two
// stops in a period the value is from a 40-digit integration of the pieces.
TEST(Cycles, DenHartogsAmplitudes) {
  for (const std::string engine : {"event", "exact"}) {
    const Found sliding = until_periodic(spec_of(kFrictionOscillator), 1e-12, {}, engine);
    ASSERT_TRUE(sliding.motion) << engine;
    const double w = 0.8, force = 0.3;
    const double damping = std::sin(kPi / w) / (w * (1 + std::cos(kPi / w)));
    const double amplitude = std::sqrt(std::pow(1 / (1 - w * w), 2) - std::pow(force * damping, 2));
    EXPECT_NEAR(amplitude, 2.626104875723, 1e-12);
    EXPECT_NEAR(range_of(*sliding.motion, "x").most, amplitude, 1e-9) << engine;
    EXPECT_NEAR(sliding.motion->period, 2 * kPi / w, 1e-12) << engine;
    const Found stopping =
        until_periodic(spec_of(kFrictionOscillator), 1e-12, {{"w", 0.378}, {"F", 0.238}}, engine);
    ASSERT_TRUE(stopping.motion) << engine;
    EXPECT_NEAR(range_of(*stopping.motion, "x").most, 1.0805187519, 1e-9) << engine;
    EXPECT_EQ(stopping.motion->events.size(), 4U) << engine << ": two stops";
  }
}

// Half-swings of π, each 2 F shorter than the one before: 1, −0.9, … 0, where it stays.
TEST(Cycles, RestIsFoundWithItsTime) {
  const Found found = until_periodic(spec_of(R"toml(
[coordinates]
x = 1
[energy]
kinetic   = "x'^2/2"
potential = "x^2/2"
[[friction]]
name   = "f"
slip   = "x'"
normal = 1
law    = "0.05"
[run]
until = 2000
)toml"));
  ASSERT_TRUE(found.motion);
  EXPECT_TRUE(found.motion->equilibrium);
  EXPECT_TRUE(found.motion->at_rest);
  EXPECT_NEAR(found.motion->from, 10 * kPi, 1e-7);
  EXPECT_EQ(share_of(*found.motion, "stick"), 1);
  EXPECT_LT(found.end.end.time, 40);
}

// Impacts and switchings that come faster and faster are the end of a motion, not a period.
TEST(Cycles, AccumulationsEndInRest) {
  const Found ball = until_periodic(gallery_spec("bouncing-ball/model.toml"));
  ASSERT_TRUE(ball.motion);
  EXPECT_TRUE(ball.motion->at_rest);
  const TestModel plain = gallery_model("bouncing-ball");
  simulate::MemorySink sink(plain.system);
  static_cast<void>(simulate::run(plain.system, "event", plain.options, sink));
  EXPECT_NEAR(ball.motion->from, sink.events.back().time, 1e-6);
  const Found relay = until_periodic(gallery_spec("relay/model.toml"));
  ASSERT_TRUE(relay.motion);
  EXPECT_TRUE(relay.motion->at_rest);
  EXPECT_NEAR(relay.motion->from, 3, 1e-6);
}

// A creep without extremes or events.
TEST(Cycles, WhatCreepsToRestSettles) {
  const Found found = until_periodic(spec_of(R"toml(
[coordinates]
x = 1
[energy]
kinetic     = "x'^2/2"
potential   = "x^2/2"
dissipation = "2*x'^2"
[run]
until = 1000
)toml"));
  ASSERT_TRUE(found.motion);
  EXPECT_TRUE(found.motion->equilibrium);
  EXPECT_FALSE(found.motion->at_rest);
  EXPECT_NEAR(range_of(*found.motion, "x").most, 0, 1e-6);
  EXPECT_LT(found.end.end.time, 200) << "e^(−0.268 t)";
}

// A sled on springs that is pulled along: nothing depends on where it is.
TEST(Cycles, ACoordinateOnWhichNothingDependsMayDrift) {
  const Found found = until_periodic(spec_of(R"toml(
[coordinates]
s = 0
x = 0.2
[energy]
kinetic   = "x'^2/2 + s'^2/2"
potential = "x^2/2"
[[friction]]
name   = "belt"
slip   = "x' - 0.2"
normal = 1
law    = "1/(1 + 3*speed)"
[[force]]
along = "s'"
value = "x - s'"
[run]
until = 400
)toml"));
  ASSERT_TRUE(found.motion);
  ASSERT_EQ(found.motion->drifts.size(), 1U);
  EXPECT_EQ(found.motion->drifts[0].name, "s");
  // s'' + s' = x over one period: the drift is the integral of x.
  EXPECT_GT(found.motion->drifts[0].change, 1);
  EXPECT_NEAR(found.motion->period, 12.0010312948, 1e-6);
}

// What grows for ever is not at rest, though nothing depends on it: by ∫(1 + cos t) = 2π per period, or steadily.
TEST(Cycles, WhatOnlyDriftsIsNotAtRest) {
  const auto of_rate = [](const std::string& rate) {
    return until_periodic(
        spec_of("[state]\nz = { start = 0, rate = \"" + rate + "\" }\n[run]\nuntil = 200\n"));
  };
  struct Driven {
    const char* rate;
    double period, drift;
  };
  const double turn = 2 * std::numbers::pi;
  for (const Driven& right : {Driven{"1 + cos(t)", turn, turn}, Driven{"cos(t)", turn, 0},
                              Driven{"abs(cos(t))", turn / 2, 2}, Driven{"sign(sin(t))", turn, 0}}) {
    const Found found = of_rate(right.rate);
    ASSERT_TRUE(found.motion) << right.rate;
    EXPECT_FALSE(found.motion->equilibrium) << right.rate;
    EXPECT_NEAR(found.motion->period, right.period, 1e-9) << right.rate;
    ASSERT_EQ(found.motion->drifts.size(), right.drift != 0 ? 1U : 0U) << right.rate;
    if (right.drift != 0) {
      EXPECT_NEAR(found.motion->drifts[0].change, right.drift, 1e-6) << right.rate;
    }
  }
  const Found steady = of_rate("1.5");
  ASSERT_TRUE(steady.motion);
  EXPECT_FALSE(steady.motion->at_rest);
  ASSERT_EQ(steady.motion->drifts.size(), 1U);
  EXPECT_NEAR(steady.motion->drifts[0].change, 1.5, 1e-9);
  const Found coasting =
      until_periodic(spec_of("[coordinates]\nx = { start = 0, velocity = 0.5 }\n[energy]\nkinetic = "
                             "\"x'^2/2\"\n[run]\nuntil = 20\n"));
  ASSERT_TRUE(coasting.motion);
  EXPECT_FALSE(coasting.motion->at_rest);
  const Found still = of_rate("0");
  ASSERT_TRUE(still.motion);
  EXPECT_TRUE(still.motion->at_rest);
}

TEST(Cycles, AMotionThatNeverReturnsRunsToItsEnd) {
  const Found found = until_periodic(spec_of(R"toml(
[coordinates]
x = 1
y = 1
[energy]
kinetic   = "x'^2/2 + y'^2/2"
potential = "x^2/2 + y^2"
[run]
until = 300
)toml"));
  EXPECT_FALSE(found.motion) << "two incommensurable oscillations";
  EXPECT_EQ(found.end.status.reason, Reason::done);
}

// What others see of the run is what they would see without the search.
TEST(Cycles, TheSectionsAreShownToNobody) {
  const Found found = until_periodic(gallery_spec("belt/model.toml"));
  const TestModel plain = gallery_model("belt");
  simulate::MemorySink sink(plain.system);
  engines::EngineOptions options = plain.options;
  static_cast<void>(simulate::run(plain.system, "event", options, sink));
  ASSERT_LT(found.data.events.size(), sink.events.size());
  for (std::size_t i = 0; i < found.data.events.size(); ++i) {
    EXPECT_EQ(found.data.events[i].kind, sink.events[i].kind) << i;
    EXPECT_EQ(found.data.events[i].place, sink.events[i].place) << i;
    EXPECT_NEAR(found.data.events[i].time, sink.events[i].time, 1e-7) << i;
  }
  ASSERT_LE(found.data.rows(), sink.rows());
  for (std::size_t i = 0; i < found.data.rows(); ++i) {
    ASSERT_EQ(found.data.kinds[i], sink.kinds[i]) << i;
    ASSERT_NEAR(found.data.cell(i, 0), sink.cell(i, 0), 1e-7) << i;
    ASSERT_NEAR(found.data.cell(i, 1), sink.cell(i, 1), 1e-6) << i;
  }
}

}  // namespace
}  // namespace judder
