// Long runs of the exact engine: a periodic motion whose phase is known for ever, and a chaotic one that must agree with itself.
#include <gtest/gtest.h>

#include <cmath>

#include "count.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

constexpr double kEpsilon = 2.220446049250313e-16;

/// Keeps the times of the events, and the gap at the row before each.
class TimesSink : public engines::Sink {
 public:
  void row(engines::RowKind kind, const engines::Mode&, model::Workspace& work) override {
    if (kind == engines::RowKind::before) {
      position = work.in[1];
      velocity = work.in[2];
    }
  }
  void event(const engines::Event& event, std::span<const double> /*state*/) override {
    times.push_back(event.time);
    bounds.push_back(event.bound);
    positions.push_back(position);
    velocities.push_back(velocity);
  }
  std::vector<double> times, bounds, positions, velocities;

 private:
  double position = 0, velocity = 0;
};

/// x″ + x = F cos ωt with a stop at x = d and restitution e: the motion with one impact per period T = 2π/ω. Between impacts
/// x = a cos s + b sin s + γ cos(ωs + φ), s the time since the last impact, γ = F/(1 − ω²). From x(0) = x(T) = d: a = b cot(T/2); from
/// v(0) = −e v(T): b (1 − e) = γ ω (1 + e) sin φ; and d = a + γ cos φ. A quadratic for b.
struct PeriodOne {
  long double b = 0, phi = 0, speed = 0;  ///< speed: v(0), after the impact
  PeriodOne(long double f, long double w, long double d, long double e) {
    const long double gamma = f / (1 - w * w);
    const long double half = 3.14159265358979323846264338327950288L / w;
    const long double cotangent = std::cos(half) / std::sin(half);
    const long double q = (1 - e) / (gamma * w * (1 + e));
    // (d − b cot)²/γ² + b² q² = 1
    const long double a2 = cotangent * cotangent / (gamma * gamma) + q * q;
    const long double a1 = -2 * d * cotangent / (gamma * gamma);
    const long double a0 = d * d / (gamma * gamma) - 1;
    const long double root = std::sqrt(a1 * a1 - 4 * a2 * a0);
    for (const long double sign : {-1.0L, 1.0L}) {
      const long double trial = (-a1 + sign * root) / (2 * a2);
      const long double sine = trial * q;
      const long double cosine = (d - trial * cotangent) / gamma;
      const long double after = trial - gamma * w * sine;
      if (after >= 0) continue;  // it must leave the stop
      b = trial;
      phi = std::atan2(sine, cosine);
      speed = after;
    }
  }
};

TEST(ExactLongRun, APeriodicMotionKeepsItsPhaseForAHundredThousandImpacts) {
  const double f = 1;
  const double w = 1.8;
  const double d = 0;
  const double e = 0.6;
  const PeriodOne orbit(f, w, d, e);  // stable: both multipliers of its return map have modulus e
  ASSERT_LT(orbit.speed, 0);
  const int impacts = count(100'000);
  const long double period = 2 * 3.14159265358979323846264338327950288L / static_cast<long double>(w);
  // The phase of the load at an impact is φ; the run starts just after one, at the time when the load has that phase.
  const long double phase_of_impact =
      orbit.phi < 0 ? orbit.phi + 2 * 3.14159265358979323846264338327950288L : orbit.phi;
  const auto start = static_cast<double>(phase_of_impact / static_cast<long double>(w));
  TestModel model = text_model(
      "[parameters]\nV = 0\n[coordinates]\nx = { start = 0, velocity = \"V\" }\n[energy]\nkinetic = "
      "\"x'^2/2\"\npotential = \"x^2/2\"\n"
      "[[force]]\nalong = \"x'\"\nvalue = \"cos(1.8*t)\"\n[[contact]]\nname = \"stop\"\ngap = \"-x\"\nimpact "
      "= 0.6\n[run]\nuntil = 1\n",
      {model::Named{"V", static_cast<double>(orbit.speed)}});
  model.options.from = start;
  model.options.until = static_cast<double>(start + (impacts + 0.5L) * period);
  model.options.samples = 2;
  model.options.max_events = 2L * impacts;
  engines::ExactEngine engine(model.system);
  TimesSink sink;
  const engines::EngineResult result = engine.run(model.options, sink);
  ASSERT_TRUE(result.status.ok()) << result.status.message;
  ASSERT_EQ(sink.times.size(), static_cast<std::size_t>(impacts)) << "impacts lost or made up";
  double worst = 0;
  for (int k = 0; k < impacts; ++k) {
    const long double expected = phase_of_impact / static_cast<long double>(w) + (k + 1) * period;
    const auto phase = static_cast<double>(
        std::abs(static_cast<long double>(sink.times[static_cast<std::size_t>(k)]) - expected) *
        static_cast<long double>(w));
    const double allowed = 8 * kEpsilon * w * sink.times[static_cast<std::size_t>(k)];
    ASSERT_LE(phase, allowed) << "impact " << k + 1 << " at " << sink.times[static_cast<std::size_t>(k)];
    worst = std::max(worst, phase / allowed * 8);
  }
  std::printf("  %d impacts, phase within %.2g eps omega t\n", impacts, worst);
}

TEST(ExactLongRun, AChaoticMotionAgreesWithItself) {
  TestModel model = gallery_model("impact-oscillator");
  model.options.until = 20.0 * count(5000);
  model.options.samples = 2;
  TimesSink first, second;
  engines::ExactEngine engine(model.system);
  const engines::EngineResult a = engine.run(model.options, first);
  const engines::EngineResult b = engines::ExactEngine(model.system).run(model.options, second);
  ASSERT_TRUE(a.status.ok()) << a.status.message;
  ASSERT_GT(first.times.size(), static_cast<std::size_t>(count(5000)));
  EXPECT_EQ(first.times, second.times);
  EXPECT_EQ(first.velocities, second.velocities);
  EXPECT_EQ(a.end.y, b.end.y);
  // Every phase ends on the stop, d = 1, to the bound of its time.
  for (std::size_t k = 0; k < first.times.size(); ++k) {
    const double slack = std::abs(first.velocities[k]) * first.bounds[k] + 8 * kEpsilon;
    EXPECT_LE(std::abs(1 - first.positions[k]), slack) << "impact " << k + 1 << " at " << first.times[k];
  }
}

}  // namespace
}  // namespace judder
