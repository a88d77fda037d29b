// The event engine against motions known in closed form.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "closed_forms.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

using engines::EventKind;

double close(Real found, Real exact) { return static_cast<double>(std::abs(found - exact)); }

// code_aster SDND106 (sdnd106.md).
TEST(EngineClosedForms, FrictionPadWithTwoCoefficients) {
  TestModel model = gallery_model("sdnd106");
  model.options.tolerance = 1e-13;
  const simulate::Result result = run(model);
  const FrictionPad exact = friction_pad();
  EXPECT_NEAR(static_cast<double>(exact.t3), 0.314923275447486, 1e-15)
      << "the oracle itself, against the source";
  const std::vector<double> slip = event_times(model.system, result.data.events, "slip pad");
  const std::vector<double> stick = event_times(model.system, result.data.events, "stick pad");
  ASSERT_EQ(slip.size(), 1u) << event_list(model.system, result.data.events);
  ASSERT_EQ(stick.size(), 1u) << event_list(model.system, result.data.events);
  EXPECT_LE(close(slip[0], exact.t1), 1e-12);
  EXPECT_LE(close(stick[0], exact.t3), 1e-12);
  EXPECT_LE(close(last(result, "x1"), exact.x1), 4e-12);
  EXPECT_LE(close(last(result, "x2"), exact.x2), 4e-12);
  // Stuck means exactly stuck (docs/theory.md, "Stuck means stuck").
  const auto x1 = static_cast<std::size_t>(result.data.column("x1"));
  const auto v1 = static_cast<std::size_t>(result.data.column("x1'"));
  std::size_t stuck = 0;
  for (std::size_t r = 0; r < result.data.rows(); ++r) {
    const double t = result.data.cell(r, 0);
    if (t < slip[0]) {
      EXPECT_EQ(result.data.cell(r, x1), 0) << t;
      EXPECT_EQ(result.data.cell(r, v1), 0) << t;
      ++stuck;
    } else if (t > stick[0]) {
      EXPECT_EQ(result.data.cell(r, x1), last(result, "x1")) << t;
      EXPECT_EQ(result.data.cell(r, v1), 0) << t;
      ++stuck;
    }
  }
  EXPECT_GT(stuck, 200u);
}

// Zabuga 2017, 4.2.
TEST(EngineClosedForms, OscillatorWithDryFrictionAndARamp) {
  TestModel model = gallery_model("zabuga-oscillator");
  model.options.tolerance = 1e-13;
  const simulate::Result result = run(model);
  const ZabugaOscillator exact = zabuga_oscillator();
  const std::vector<double> reversals = event_times(model.system, result.data.events, "reversal plane");
  ASSERT_EQ(reversals.size(), 5u) << event_list(model.system, result.data.events);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_LE(close(reversals[i], exact.turns[i]), 1e-9) << i;
  const std::vector<double> stick = event_times(model.system, result.data.events, "stick plane");
  const std::vector<double> slip = event_times(model.system, result.data.events, "slip plane");
  ASSERT_EQ(stick.size(), 1u);
  ASSERT_EQ(slip.size(), 1u);
  EXPECT_LE(close(stick[0], exact.turns[5]), 1e-9);
  EXPECT_LE(close(slip[0], exact.slip), 1e-9);
  EXPECT_LE(close(last(result, "x"), exact.x), 1e-9);
  EXPECT_LE(close(last(result, "x'"), exact.v), 1e-9);
}

// Zabuga 2017, Table 3.1 as recomputed there: five bounces, and the piston's marginal decisions.
TEST(EngineClosedForms, PressBouncesFiveTimes) {
  const TestModel model = gallery_model("press");
  const simulate::Result result = run(model);
  ASSERT_TRUE(result.end.status.ok());
  const auto& events = result.data.events;
  const std::vector<double> landings{0.090305, 0.315640, 0.512120, 0.684887, 0.836568, 0.976111};
  const std::vector<double> departures{0.171492, 0.400031, 0.600650, 0.779188, 0.942706};
  const std::vector<double> impacts = event_times(model.system, events, "impact plane");
  const std::vector<double> lifts = event_times(model.system, events, "lift-off plane");
  ASSERT_EQ(impacts.size(), landings.size()) << event_list(model.system, events);
  ASSERT_EQ(lifts.size(), departures.size()) << event_list(model.system, events);
  for (std::size_t i = 0; i < landings.size(); ++i) EXPECT_NEAR(impacts[i], landings[i], 2e-6) << i;
  for (std::size_t i = 0; i < departures.size(); ++i) EXPECT_NEAR(lifts[i], departures[i], 2e-6) << i;
  EXPECT_NEAR(impacts[0], std::sqrt(2 * 0.04 / 9.81), 1e-13);
  const std::vector<double> stop = event_times(model.system, events, "stick plane");
  ASSERT_EQ(stop.size(), 1u);
  EXPECT_NEAR(stop[0], 1.529302, 2e-6);
  const std::vector<double> stops = event_times(model.system, events, "stick piston");
  const std::vector<double> expected{0.288179, 0.495299, 0.674407, 0.972277, 1.592262};
  ASSERT_EQ(stops.size(), expected.size()) << event_list(model.system, events);
  for (std::size_t i = 0; i < stops.size(); ++i) EXPECT_NEAR(stops[i], expected[i], 2e-6) << i;
  // Third turning point of flight 5: the spring pulls with 0.5024 N against 0.5 N, so the piston turns and does not stop.
  bool turned = false;
  for (const double t : event_times(model.system, events, "reversal piston"))
    turned = turned || std::abs(t - 0.831233) < 2e-6;
  EXPECT_TRUE(turned) << event_list(model.system, events);
}

// h = 1, e = 0.9, g = 9.81: impact k at t1 (1 + 2 Σ e^i), accumulation at t1 (1 + e)/(1 − e).
TEST(EngineClosedForms, ABouncingBallComesToRest) {
  const TestModel model = gallery_model("bouncing-ball");
  ASSERT_EQ(model.options.tolerance, 1e-9) << "the default";
  const simulate::Result result = run(model);
  ASSERT_TRUE(result.end.status.ok());
  const Real g = static_cast<Real>(9.81);
  const Real e = static_cast<Real>(0.9);
  const Real first = std::sqrt(2 / g);
  const std::vector<double> impacts = event_times(model.system, result.data.events, "impact ground");
  ASSERT_GE(impacts.size(), 44u);
  const std::vector<double> end = event_times(model.system, result.data.events, "accumulation ground");
  ASSERT_EQ(end.size(), 1u);
  EXPECT_LE(close(end[0], first * (1 + e) / (1 - e)), 1e-10);
  EXPECT_LE(close(end[0], 8.578949178729L), 1e-10);
  EXPECT_EQ(last(result, "h"), 0);
  EXPECT_EQ(last(result, "h'"), 0);
  EXPECT_NEAR(last(result, "N"), 9.81, 1e-13) << "then it rests";
}

TEST(EngineClosedForms, BouncingBallsOfEveryRestitutionComeToRest) {
  for (double e = 0; e < 0.99; e += 0.03) {
    TestModel model = gallery_model("bouncing-ball", {}, {{"e", e}});
    const Real end =
        std::sqrt(2 / static_cast<Real>(9.81)) * (1 + static_cast<Real>(e)) / (1 - static_cast<Real>(e));
    model.options.until = static_cast<double>(end) + 1;
    model.options.samples = 2;
    const simulate::Result result = run(model);
    ASSERT_TRUE(result.end.status.ok()) << e << ": " << result.end.status.message;
    const std::vector<double> found =
        event_times(model.system, result.data.events, e == 0 ? "impact ground" : "accumulation ground");
    ASSERT_EQ(found.size(), 1u) << e << "\n" << event_list(model.system, result.data.events);
    EXPECT_LE(close(found[0], end), 1e-10 * static_cast<double>(end)) << e;
    EXPECT_EQ(last(result, "h"), 0) << e;
  }
}

// A ball that falls on a slope: normal motion is the bouncing ball with g cos a; the tangential speed gains g sin a t and loses μ (1 + e) v_N
// per impact while it slips.
TEST(EngineClosedForms, BallOnAnInclineSlipsAtEveryBounce) {
  TestModel model = gallery_model("incline", {"bounce"});
  model.options.until = 10;
  const simulate::Result result = run(model);
  ASSERT_TRUE(result.end.status.ok());
  const Real g = static_cast<Real>(9.81);
  const Real a = static_cast<Real>(0.3);
  const Real mu = static_cast<Real>(0.5);
  const Real e = static_cast<Real>(0.5);
  const Real gn = g * std::cos(a);
  const Real gt = g * std::sin(a);
  const Real speed = std::sqrt(2 * gn * 0.5L);
  const std::vector<double> impacts = event_times(model.system, result.data.events, "impact plane");
  ASSERT_GE(impacts.size(), 8u);
  Real t = speed / gn;
  Real down = speed;
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_LE(close(impacts[i], t), 1e-13) << i;
    t += 2 * e * down / gn;
    down *= e;
  }
  // The impulses of all impacts sum to (1 + e) v (1 + e + e² + …), then the weight presses: v_s stays v0 + g sin a t − μ g cos a t.
  const Real end = static_cast<Real>(model.options.until);
  const Real vs = 4 + gt * end - mu * gn * end;
  ASSERT_LT(vs, 0) << "it stops before the end of the run";
  const Real stop = 4 / (mu * gn - gt);
  const std::vector<double> stick = event_times(model.system, result.data.events, "stick plane");
  ASSERT_EQ(stick.size(), 1u) << event_list(model.system, result.data.events);
  EXPECT_LE(close(stick[0], stop), 1e-9);
  EXPECT_EQ(last(result, "s'"), 0);
  // While it flies it is not braked, so the way is longer than that of a block: impact i at time t_i takes μ (1 + e) v_i at once.
  Real way = 4 * stop + gt * stop * stop / 2;
  Real time = speed / gn;
  Real v = speed;
  for (int i = 0; i < 60; ++i) {
    way -= mu * (1 + e) * v * (stop - time);
    time += 2 * e * v / gn;
    v *= e;
  }
  way -= mu * gn * (stop - time) * (stop - time) / 2;
  EXPECT_LE(close(last(result, "s"), way), 1e-8);
}

// Dropped without tangential speed, μ > tan a: every impact takes all of the speed that the flight before it gave.
TEST(EngineClosedForms, BallOnAnInclineSticksAtEveryBounce) {
  TestModel model = gallery_model("incline", {"hop"});
  const simulate::Result result = run(model);
  ASSERT_TRUE(result.end.status.ok());
  const Real g = static_cast<Real>(9.81);
  const Real a = static_cast<Real>(0.3);
  const Real e = static_cast<Real>(0.5);
  const Real gn = g * std::cos(a);
  const Real gt = g * std::sin(a);
  Real v = std::sqrt(2 * gn * 0.5L);
  Real flight = v / gn;
  Real way = 0;
  for (int i = 0; i < 60; ++i) {
    way += gt * flight * flight / 2;
    v *= e;
    flight = 2 * v / gn;
  }
  EXPECT_LE(close(last(result, "s"), way), 1e-9);
  EXPECT_EQ(last(result, "s'"), 0);
  for (const engines::Event& event : result.data.events) {
    if (event.kind == EventKind::impact) {
      EXPECT_EQ(engines::detail(model.system, event), "rebound stick");
    }
  }
}

// A millionth below the limit of friction a block rests exactly, a millionth above it slides.
TEST(EngineClosedForms, TheLimitOfFrictionIsSharp) {
  const simulate::Result rest = run(gallery_model("incline", {"almost"}));
  EXPECT_EQ(last(rest, "s"), 0);
  EXPECT_EQ(last(rest, "s'"), 0);
  EXPECT_TRUE(rest.data.events.empty());
  const TestModel model = gallery_model("incline", {"slides"});
  const simulate::Result slides = run(model);
  const Real a = std::atan(0.5L) * (1 + static_cast<Real>(1e-6));
  const Real g = static_cast<Real>(9.81);
  const Real acceleration = g * (std::sin(a) - 0.5L * std::cos(a));
  EXPECT_NEAR(last(slides, "s'"), static_cast<double>(acceleration * 3), 1e-9 * last(slides, "s'") + 1e-14);
}

// Housner 1963: a block that rocks without slip turns from corner to corner; each impact leaves 1 − (3/2) sin²α of its angular velocity. The
// time from rest at θ0 to the impact follows from energy.
TEST(EngineClosedForms, RockingBlock) {
  TestModel model = gallery_model("rocking-block");
  model.options.tolerance = 1e-12;
  const simulate::Result result = run(model);
  ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
  const Real b = static_cast<Real>(0.1);
  const Real h = static_cast<Real>(0.3);
  const Real alpha = std::atan(b / h);
  const Real square = 3 * static_cast<Real>(9.81) / (4 * std::sqrt(b * b + h * h));  // p² = 3 g/(4 R)
  const Real ratio = 1 - 1.5L * std::sin(alpha) * std::sin(alpha);
  // θ'² = 2 p² (cos(α − θ0) − cos(α − θ)); the time ∫ dθ/θ' with θ = θ0 (1 − s²), which is smooth where it starts from rest.
  const auto quarter = [&](Real theta0) {
    const auto energy = [&](Real theta) { return std::cos(alpha - theta); };
    const int panels = 2000;
    Real sum = 0;
    const Real node[3] = {-std::sqrt(0.6L), 0, std::sqrt(0.6L)};
    const Real weight[3] = {5.0L / 9, 8.0L / 9, 5.0L / 9};
    for (int p = 0; p < panels; ++p) {
      for (int i = 0; i < 3; ++i) {
        const Real s = (p + 0.5L + 0.5L * node[i]) / panels;
        const Real theta = theta0 * (1 - s * s);
        const Real rate = std::sqrt(2 * square * (energy(theta0) - energy(theta)));
        sum += weight[i] / 2 / panels * 2 * theta0 * s / rate;
      }
    }
    return sum;
  };
  Real theta = static_cast<Real>(0.15);
  Real time = quarter(theta);
  std::vector<double> impacts;
  for (const engines::Event& event : result.data.events) {
    if (event.kind == EventKind::impact && (impacts.empty() || event.time > impacts.back()))
      impacts.push_back(event.time);
  }
  ASSERT_GE(impacts.size(), 6u) << event_list(model.system, result.data.events);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_LE(close(impacts[i], time), 1e-9) << i;
    // Speed after the impact → angle where it turns.
    const Real energy = ratio * ratio * (std::cos(alpha - theta) - std::cos(alpha));
    theta = alpha - std::acos(std::cos(alpha) + energy);
    time += 2 * quarter(theta);
  }
}

// Klarbring's particle, variant hops: landing at rest beyond the tip, hops of 3.707697559 s whose size shrinks by 0.3878698678 each.
TEST(EngineClosedForms, HopsOfEqualLengthShrinkByAConstantFactor) {
  TestModel model = gallery_model("klarbring", {},
                                  {{"KN", 1},
                                   {"W", 0.9},
                                   {"KT", 1},
                                   {"FN", 0.9},
                                   {"FT", 1},
                                   {"mu", 1},
                                   {"UN", 0},
                                   {"UT", 1},
                                   {"UT'", 1}});
  model.options.until = 43;
  const simulate::Result result = run(model);
  ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
  const auto ut = static_cast<std::size_t>(result.data.column("UT"));
  std::vector<double> times;
  std::vector<double> places;
  for (std::size_t r = 0; r < result.data.rows(); ++r) {
    if (result.data.kinds[r] != engines::RowKind::before) continue;
    times.push_back(result.data.cell(r, 0));
    places.push_back(result.data.cell(r, ut) - 1);
  }
  ASSERT_EQ(times.size(), 10u) << event_list(model.system, result.data.events);
  EXPECT_NEAR(times[0], 9.536606821, 1e-8);
  EXPECT_NEAR(places[0], 0.396931677, 1e-8);
  // The hops shrink, the error of a step does not: it counts relative to the size of the hop.
  double size = 1;
  for (std::size_t i = 1; i < times.size(); ++i, size *= 0.3878698678) {
    EXPECT_NEAR(times[i] - times[i - 1], 3.707697559, 1e-8 / size) << i;
    EXPECT_NEAR(places[i] / places[i - 1], 0.3878698678, 1e-8 / size) << i;
  }
}

// x' = B s, s = −sgn x: |x1| + |x2| falls at the rate 2, so everything ends at t = 3 after infinitely many switchings (peers.md 4).
TEST(EngineClosedForms, SwitchingsOfARelayAccumulate) {
  const TestModel model = gallery_model("relay");
  const simulate::Result result = run(model);
  ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
  double end = 0;
  long accumulations = 0;
  for (const engines::Event& event : result.data.events) {
    if (event.kind != EventKind::accumulation) continue;
    ++accumulations;
    end = event.time + event.numbers[1];
  }
  EXPECT_EQ(accumulations, 2) << "one per switch of the pattern";
  EXPECT_NEAR(end, 3, 1e-8);
  EXPECT_NEAR(last(result, "x1"), 0, 1e-12);
  EXPECT_NEAR(last(result, "x2"), 0, 1e-12);
}

// Between events the radius falls linearly: r(t) = 6 − 2 t at every row before the end.
TEST(EngineClosedForms, TheRelaySpiralsInAtAConstantRate) {
  const TestModel model = gallery_model("relay");
  const simulate::Result result = run(model);
  const auto r = static_cast<std::size_t>(result.data.column("r"));
  for (std::size_t i = 0; i < result.data.rows(); ++i) {
    const double t = result.data.cell(i, 0);
    if (t < 2.999) {
      EXPECT_NEAR(result.data.cell(i, r), 6 - 2 * t, 1e-11) << t;
    }
  }
}

// Redundant contacts (docs/theory.md, "Deciding the mode", 5): the minimum-norm answer would slip at a push of 0.2 N; statics holds the block until 0.5 N.
TEST(EngineClosedForms, ABlockOnTwoOrFourFeetRestsUntilStaticsLetsGo) {
  for (const char* name : {"two-feet", "two-feet/model-four.toml"}) {
    const TestModel model = gallery_model(name);
    const simulate::Result result = run(model);
    ASSERT_TRUE(result.end.status.ok()) << name << ": " << result.end.status.message;
    EXPECT_TRUE(result.end.reactions_not_unique) << name;
    double slip = 0;
    for (const engines::Event& event : result.data.events) {
      if (event.kind == EventKind::slip && slip == 0) slip = event.time;
    }
    EXPECT_NEAR(slip, 5, 1e-8) << name << "\n" << event_list(model.system, result.data.events);
    const auto x = static_cast<std::size_t>(result.data.column("x"));
    const auto load = static_cast<std::size_t>(result.data.column("load"));
    const auto hold = static_cast<std::size_t>(result.data.column("hold"));
    for (std::size_t r = 0; r < result.data.rows(); ++r) {
      const double t = result.data.cell(r, 0);
      EXPECT_NEAR(result.data.cell(r, load), 1, 1e-9) << name << " at " << t;
      if (t < slip) {
        EXPECT_EQ(result.data.cell(r, x), 0) << name << " at " << t;
        EXPECT_NEAR(result.data.cell(r, hold), -0.1 * t, 1e-9) << name << " at " << t;
      }
    }
    // Then m x'' = rate t − μ m g: x = rate (t − 5)³/(6 m).
    EXPECT_NEAR(last(result, "x"), 0.1 * 27 / 0.6, 1e-7) << name;
  }
}

}  // namespace
}  // namespace judder
