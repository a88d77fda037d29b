// What the exact engine gives before a time depends on nothing later; stiff, huge and never-ending motions end right or with a status.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>
#include <numbers>
#include <random>
#include <thread>

#include "count.hpp"
#include "judder/io/gallery.hpp"
#include "random_system.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

using engines::Event;
using engines::EventKind;

/// Keeps events, and cancels the run once it has passed a time.
class EventsUpTo final : public engines::Sink {
 public:
  explicit EventsUpTo(double until) : until_(until) {}
  void row(engines::RowKind /*kind*/, const engines::Mode& /*mode*/, model::Workspace& /*work*/) override {}
  void event(const Event& event, std::span<const double> /*state*/) override {
    if (event.time > until_) cancel = true;
    if (event.time < until_) events.push_back(event);
  }
  void progress(double time) override {
    if (time > until_) cancel = true;
  }
  std::vector<Event> events;
  std::atomic<bool> cancel{false};

 private:
  double until_;
};

/// The events before `seen` of a run that is asked to go on until `until`.
std::vector<Event> events_before(const TestModel& model, double seen, double until, long samples) {
  EventsUpTo sink(seen);
  engines::EngineOptions options = model.options;
  options.until = until;
  options.samples = samples;
  options.every = 0;
  options.event_rows = false;
  options.cancel = &sink.cancel;
  static_cast<void>(simulate::run(model.system, "exact", options, sink));
  return sink.events;
}

/// "" or how the lists differ; times must be the same bits.
std::string difference(const model::System& system, const std::vector<Event>& a,
                       const std::vector<Event>& b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i) {
    same = a[i].kind == b[i].kind && a[i].place == b[i].place && a[i].words == b[i].words &&
           a[i].time == b[i].time && a[i].mode == b[i].mode;
  }
  return same ? "" : "first:\n" + event_list(system, a) + "second:\n" + event_list(system, b);
}

TEST(ExactHorizon, AFloorIsMetHoweverLongTheRunIs) {
  const double meets = 2e-4 / (0.1 + std::sqrt(0.01 + 4 * 4.905 * 1e-4));  // y = 1e-4 − t/10 − 4.905 t²
  for (const double until : {1e-2, 1.0, 1e2, 3e3, 1e4, 1e5, 1e7, 1e10, 1e15}) {
    TestModel model = text_model(R"(
[coordinates]
y = { start = 1e-4, velocity = -0.1 }
[energy]
kinetic = "y'^2/2"
potential = "9.81*y"
[[contact]]
name = "floor"
gap = "y"
)");
    model.options.until = until;
    model.options.samples = 5;
    const simulate::Result result = simulate::simulate(model.system, model.options, "exact");
    EXPECT_EQ(result.end.status.reason, Reason::done) << until;
    ASSERT_EQ(result.data.events.size(), 1u) << until;
    EXPECT_NEAR(result.data.events[0].time, meets, 4e-16 * meets) << until;
    EXPECT_EQ(last(result, "y"), 0) << until;
  }
}

// Bounces, loads that are polynomials of time, gaps of very different size: polynomial motion has no time scale but that of its own terms.
TEST(ExactHorizon, PolynomialMotionIsSeenAtItsOwnScale) {
  std::mt19937_64 random(7);
  const auto log_uniform = [&](double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random));
  };
  for (int trial = 0; trial < count(400); ++trial) {
    const double height = log_uniform(1e-9, 1e9);
    const double speed = log_uniform(1e-9, 1e9);
    const double weight = log_uniform(1e-3, 1e3);
    TestModel model = text_model(R"(
[coordinates]
y = { start = 1, velocity = 0 }
[energy]
kinetic = "y'^2/2"
potential = "g*y"
[parameters]
g = 1
[[contact]]
name = "floor"
gap = "y"
impact = 0.5
)",
                                 {{"g", weight}, {"y", height}, {"y'", -speed}});
    model.options.until = 1e15;
    model.options.samples = 2;
    model.options.event_rows = false;
    model.options.max_events = 5;
    const simulate::Result result = simulate::simulate(model.system, model.options, "exact");
    ASSERT_GE(result.data.events.size(), 2u) << trial;
    const double root = std::sqrt(speed * speed + 2 * weight * height);
    const double first = 2 * height / (speed + root);
    EXPECT_NEAR(result.data.events[0].time, first, 1e-15 * first) << trial;
    EXPECT_NEAR(result.data.events[1].time, first + root / weight, 4e-15 * (first + root / weight)) << trial;
  }
}

TEST(ExactHorizon, EventsOfTheGalleryDoNotDependOnTheEndOfTheRunOrOnItsSamples) {
  int compared = 0;
  const std::filesystem::path folder = std::string(JUDDER_SOURCE_DIR) + "/gallery";
  for (const io::GalleryModel& listed : io::list_gallery(folder)) {
    for (const std::string& file : listed.models) {
      std::vector<std::vector<std::string>> variants{{}};
      for (const model::Variant& variant : io::read_model(folder / listed.name / file).spec.variants)
        variants.push_back({variant.name.text});
      for (const std::vector<std::string>& variant : variants) {
        TestModel model = gallery_model(listed.name + "/" + file, variant);
        if (!engines::ExactEngine::unsupported(model.system).empty() || !std::isfinite(model.options.until))
          continue;
        const double until = model.options.until;
        const std::vector<Event> base = events_before(model, until * (1 - 1e-9), until, 2);
        for (const double factor : {1.0, 1.7, 1e3, 1e6}) {
          const std::vector<Event> longer =
              events_before(model, until * (1 - 1e-9), until * factor, factor == 1 ? 1234 : 3);
          EXPECT_EQ(difference(model.system, base, longer), "")
              << listed.name << "/" << file << " " << (variant.empty() ? "" : variant[0]) << ", " << factor
              << " times as long";
        }
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 100);
}

TEST(ExactHorizon, EventsOfRandomSystemsDoNotDependOnTheEndOfTheRun) {
  for (int trial = 0; trial < count(30); ++trial) {
    const unsigned seed = 91'000U + static_cast<unsigned>(trial);
    TestModel model = spec_model(random_system(seed).spec());
    model.options.max_events = 2000;
    const double until = model.options.until;
    const std::vector<Event> base = events_before(model, until * (1 - 1e-9), until, 2);
    for (const double factor : {1.3, 1e6}) {
      const std::vector<Event> longer = events_before(model, until * (1 - 1e-9), until * factor, 7);
      ASSERT_EQ(difference(model.system, base, longer), "")
          << "seed " << seed << ", " << factor << " times as long";
    }
  }
}

TEST(ExactHorizon, ThePressKeepsItsImpactInALongRun) {
  TestModel model = gallery_model("press");
  const double until = model.options.until;
  const std::vector<Event> base = events_before(model, until * (1 - 1e-9), until, 2);
  const std::vector<Event> longer = events_before(model, until * (1 - 1e-9), 2e5, 1001);
  EXPECT_EQ(difference(model.system, base, longer), "");
  EXPECT_TRUE(std::any_of(base.begin(), base.end(), [](const Event& event) {
    return event.kind == EventKind::impact && std::abs(event.time - 0.976) < 1e-3;
  })) << event_list(model.system, base);
}

// Two bodies on a stiff spring, one of them braked. x'(t) = 1 − a t − (b/ω) sin ωt with a = μN/(m1 + m2), b = μN/m1 − a, ω² = k (1/m1 + 1/m2).
TEST(ExactStiff, AnUndampedSpringStopsWhereItsClosedFormDoes) {
  struct Case {
    double m1, m2, k;
  };
  for (const Case& bodies : {Case{1, 0.5, 1e12}, Case{1.1, 0.7, 1.3e10}}) {
    const TestModel model = text_model(R"(
[parameters]
k = 1
m1 = 1
m2 = 1
[coordinates]
x = { start = 0, velocity = 1 }
u = { start = 0, velocity = 1 }
[energy]
kinetic = "m1*x'^2/2 + m2*u'^2/2"
potential = "k*(x - u)^2/2"
[[friction]]
name = "f"
slip = "x'"
normal = 9.81
law = 0.2
[run]
until = 0.95
)",
                                       {{"k", bodies.k}, {"m1", bodies.m1}, {"m2", bodies.m2}});
    const simulate::Result result = simulate::simulate(model.system, model.options, "exact");
    EXPECT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
    const long double m1 = bodies.m1, m2 = bodies.m2, limit = 0.2L * 9.81L, a = limit / (m1 + m2),
                      b = limit / m1 - a, omega = std::sqrt(bodies.k * (1 / m1 + 1 / m2));
    const auto slip = [&](long double t) { return 1 - a * t - b / omega * std::sin(omega * t); };
    long double low = 1 / a - 3 * b / (omega * a), high = low;
    while (slip(high) > 0) {
      low = high;
      high += 1e-3L / omega;
    }
    for (int round = 0; round < 60; ++round)
      (slip(0.5L * (low + high)) > 0 ? low : high) = 0.5L * (low + high);
    ASSERT_EQ(result.data.events.size(), 1u) << event_list(model.system, result.data.events);
    EXPECT_EQ(result.data.events[0].kind, EventKind::stick);
    // The last bit of x is 1.4e-10 in the velocity of the stiffest spring.
    EXPECT_NEAR(result.data.events[0].time, static_cast<double>(low), 1e-9);
    EXPECT_NEAR(last(result, "x"), static_cast<double>(0.5L / a), 3e-12);
    EXPECT_LE(std::abs(result.end.energy_imbalance), 1e-9);
  }
}

// Nothing but weight acts from outside: the centre of mass knows nothing of the springs, whatever their coefficients round to.
TEST(ExactStiff, SpringsDoNotPushTheBodiesThatTheyJoin) {
  const TestModel model = text_model(R"(
[coordinates]
a = { start = 0, velocity = 0.731 }
b = { start = 0, velocity = 0.731 }
c = { start = 0, velocity = 0.731 }
[energy]
kinetic = "2.614*a'^2/2 + 2.409*b'^2/2 + 1.52*c'^2/2"
potential = "1.885e9*(a - b)^2/2 + 8.902e5*(b - c)^2/2 + 1.14*a"
[run]
until = 3
)");
  const simulate::Result result = simulate::simulate(model.system, model.options, "exact");
  const double mass = 2.614 + 2.409 + 1.52;
  const double speed =
      (2.614 * last(result, "a'") + 2.409 * last(result, "b'") + 1.52 * last(result, "c'")) / mass;
  EXPECT_NEAR(speed, 0.731 - 3 * 1.14 / mass, 1e-13);
}

// The same where stiffnesses meet whose sum is no double, and a brake: without the rounding of the sum it stops after 1/(2·0.2·9.81) · 2 m.
TEST(ExactStiff, SumsOfStiffnessesDoNotPushEither) {
  TestModel model = text_model(R"toml(
[coordinates]
a = { start = 0, velocity = 1 }
b = { start = 0, velocity = 1 }
c = { start = 0, velocity = 1 }
[energy]
kinetic = "a'^2/2 + 0.7*b'^2/2 + 0.3*c'^2/2"
potential = "(1e9/3)*(a - b)^2/2 + 0.777777e9*(b - c)^2/2"
[[friction]]
name = "f"
slip = "a'"
normal = 9.81
law = 0.2
[run]
until = 1.1
)toml");
  const simulate::Result result = simulate::simulate(model.system, model.options, "exact");
  EXPECT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
  // The last swing of the springs decides 3e-9 m.
  EXPECT_NEAR(last(result, "a"), 1 / (0.2 * 9.81), 5e-9);
  EXPECT_LE(std::abs(result.end.energy_imbalance), 1e-12);
}

TEST(ExactStiff, WorkOfAStiffDamperKeepsItsDigits) {
  for (const double stiffness : {1e4, 1e8, 1e12}) {
    TestModel model = text_model(R"(
[parameters]
k = 1
c = 1
[coordinates]
x = { start = 0, velocity = 1 }
u = { start = 0, velocity = 1 }
[energy]
kinetic = "x'^2/2 + 0.5*u'^2/2"
potential = "k*(x - u)^2/2"
dissipation = "c*(x' - u')^2/2"
[[friction]]
name = "f"
slip = "x'"
normal = 9.81
law = 0.2
[run]
until = 0.77
)",
                                 {{"k", stiffness}, {"c", std::sqrt(stiffness)}});
    const simulate::Result result = simulate::simulate(model.system, model.options, "exact");
    EXPECT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
    EXPECT_LE(std::abs(result.end.energy_imbalance), 1e-10) << stiffness;
    ASSERT_EQ(result.data.events.size(), 1u) << event_list(model.system, result.data.events);
    // What is lost before the stop is 3/4, what the damper takes of it is μN/4 of the creep of its spring: nothing for a stiff one.
    if (stiffness > 1e11) {
      EXPECT_NEAR(result.data.events[0].time, 1.5 / (0.2 * 9.81), 1e-9);
      EXPECT_NEAR(last(result, "x"), 0.75 / (0.2 * 9.81), 1e-11);
    }
  }
}

TEST(ExactStiff, WhatTimeCannotResolveIsRefused) {
  const std::string oscillator = R"(
[parameters]
k = 1
[coordinates]
x = { start = 1, velocity = 0 }
[energy]
kinetic = "x'^2/2"
potential = "k*x^2/2"
[[contact]]
name = "wall"
gap = "x + 2"
[run]
until = 1
)";
  for (const double stiffness : {1e40, 1e80, 1e120, 1e149}) {
    const TestModel model = text_model(oscillator, {{"k", stiffness}});
    const simulate::Result result = simulate::simulate(model.system, model.options, "exact");
    EXPECT_FALSE(result.end.status.ok()) << stiffness;
    EXPECT_FALSE(result.end.status.message.empty()) << stiffness;
  }
  TestModel late = text_model(oscillator, {{"k", 1e20}});
  late.options.from = 1e7;
  late.options.until = 1e7 + 1e-8;
  EXPECT_EQ(simulate::simulate(late.system, late.options, "exact").end.status.reason, Reason::step_too_small);
}

TEST(ExactStiff, MotionThatLeavesTheNumbersEndsWithAStatus) {
  TestModel model = text_model(R"(
[coordinates]
x = { start = 1, velocity = 0 }
[energy]
kinetic = "x'^2/2"
potential = "-x^2/2"
[[contact]]
name = "wall"
gap = "x + 2"
[run]
until = 2000
)");
  model.options.samples = 3;
  const simulate::Result result = simulate::simulate(model.system, model.options, "exact");
  EXPECT_EQ(result.end.status.reason, Reason::not_finite) << result.end.status.message;
  EXPECT_NEAR(result.end.status.time, std::log(std::numeric_limits<double>::max()), 8);  // x = cosh t
}

TEST(ExactStiff, AStateThatIsNoNumberEndsWithAStatus) {
  const TestModel model = gallery_model("sdnd100");
  simulate::NullSink sink;
  engines::EngineOptions options = model.options;
  options.until = 0.1;
  const engines::EngineResult first = simulate::run(model.system, "exact", options, sink);
  ASSERT_EQ(first.status.reason, Reason::done);
  options.until = 0.2;
  for (const double broken :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 1e308}) {
    for (std::size_t i = 0; i < first.end.y.size(); ++i) {
      engines::Moment moment = first.end;
      moment.y[i] = broken;
      EXPECT_FALSE(simulate::run(model.system, "exact", options, sink, &moment).status.ok())
          << i << ", " << broken;
    }
  }
}

// A slide that ends where the rate of its surface vanishes is left to one side, once: no pairs of switchings by rounding.
TEST(ExactSwitches, ASlideEndsOnceInBothEngines) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0.4
[energy]
kinetic = "x'^2/2"
potential = "x^2/2"
[[force]]
along = "x'"
value = "cos(1.3*t) - 0.7*sign(x' - 0.1)"
[run]
until = 60
tolerance = 1e-12
)toml");
  model.options.samples = 7;
  const simulate::Result event = simulate::simulate(model.system, model.options, "event");
  const simulate::Result exact = simulate::simulate(model.system, model.options, "exact");
  ASSERT_EQ(event_words(model.system, event.data.events), event_words(model.system, exact.data.events));
  for (std::size_t i = 0; i < exact.data.events.size(); ++i) {
    EXPECT_NEAR(event.data.events[i].time, exact.data.events[i].time, 1e-9) << i;
    if (i == 0) continue;
    EXPECT_GT(exact.data.events[i].time, exact.data.events[i - 1].time) << i;
  }
}

/// Seconds of processor time between the request to stop and the end of the run, which would take minutes: not those of a machine that does something else.
double seconds_to_stop(const TestModel& model) {
  std::atomic<bool> cancel{false};
  std::clock_t asked = 0;
  std::thread waits([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    asked = std::clock();
    cancel = true;
  });
  engines::EngineOptions options = model.options;
  options.cancel = &cancel;
  simulate::NullSink sink;
  const engines::EngineResult result = simulate::run(model.system, "exact", options, sink);
  waits.join();
  EXPECT_EQ(result.status.reason, Reason::interrupted) << result.status.message;
  return static_cast<double>(std::clock() - asked) / CLOCKS_PER_SEC;
}

constexpr double kHeard = 10;  ///< a second, on a machine that is ten times slower

TEST(ExactCancel, IsHeardWhileZerosAreSearched) {
  TestModel model = text_model(R"(
[coordinates]
x = { start = 0, velocity = 1 }
u = { start = 0, velocity = 1 }
[energy]
kinetic = "x'^2/2 + u'^2/4"
potential = "1e20*(x - u)^2/2"
[[contact]]
name = "wall"
gap = "1e9 - x"
[run]
until = 100
)");
  model.options.samples = 2;
  EXPECT_LT(seconds_to_stop(model), kHeard);
}

TEST(ExactCancel, IsHeardWhileRowsAreWritten) {
  TestModel model = text_model(R"(
[coordinates]
y = { start = 1, velocity = 1 }
[energy]
kinetic = "y'^2/2"
potential = "-9.81*y"
[[contact]]
name = "floor"
gap = "y"
[run]
until = 100
)");
  model.options.samples = 1'000'000'000;
  EXPECT_LT(seconds_to_stop(model), kHeard);
}

// Den Hartog's oscillator with two stops in each period; the amplitude is that of an integration with steps of another method.
TEST(ExactLong, DryFrictionWithTwoStopsKeepsItsPeriod) {
  TestModel model = text_model(R"toml(
[parameters]
w = 0.378
F = 0.238
[coordinates]
x = 1
[energy]
kinetic = "x'^2/2"
potential = "x^2/2"
[[force]]
along = "x'"
value = "cos(w*t)"
[[friction]]
name = "f"
slip = "x'"
normal = 1
law = "F"
[run]
until = 20000
tolerance = 1e-12
)toml");
  model.options.samples = 2;
  const simulate::Result result = simulate::simulate(model.system, model.options, "exact");
  EXPECT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
  const double period = 2 * std::numbers::pi / 0.378;
  const std::vector<double> slips = event_times(model.system, result.data.events, "slip f");
  ASSERT_GT(slips.size(), 2400u);
  for (std::size_t i = slips.size() - 400; i + 2 < slips.size(); ++i)
    ASSERT_NEAR(slips[i + 2] - slips[i], period, 1e-10) << i;
  double amplitude = 0;  // there are rows at the stops
  const auto x = static_cast<std::size_t>(result.data.column("x"));
  for (std::size_t i = result.data.rows() - 50; i < result.data.rows(); ++i)
    amplitude = std::max(amplitude, std::abs(result.data.cell(i, x)));
  EXPECT_NEAR(amplitude, 1.0805187519, 1e-10);
}

// Stick and slip on a belt. It rides from x = 0 to 0.1 in one second; then x'' = 0.5 − 10 x swings about 0.05 until x' = 0.1 again, at x = 0:
// x' = r cos(ωt + ψ) with tan ψ = ω/2 has it back after (2π − 2ψ)/ω.
TEST(ExactLong, StickAndSlipKeepTheirPeriodForTwoHundredThousandSeconds) {
  TestModel model = text_model(R"(
[coordinates]
x = { start = 0, velocity = 0.1 }
[energy]
kinetic = "x'^2/2"
potential = "5*x^2"
[[friction]]
name = "f"
slip = "x' - 0.1"
normal = 1
law = { static = 1, dynamic = 0.5 }
[run]
until = 200000
)");
  model.options.samples = 2;
  model.options.event_rows = false;
  const simulate::Result result = simulate::simulate(model.system, model.options, "exact");
  EXPECT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
  const double omega = std::sqrt(10.0);
  const double slipping = 2 * (std::numbers::pi - std::atan(omega / 2)) / omega;
  const std::vector<double> slips = event_times(model.system, result.data.events, "slip f");
  const std::vector<double> sticks = event_times(model.system, result.data.events, "stick f");
  ASSERT_GT(slips.size(), 80'000u);
  ASSERT_EQ(slips.size() + sticks.size(), result.data.events.size());
  for (std::size_t i = 0; i < slips.size(); ++i) {
    const auto cycles = static_cast<double>(i);
    const double slack = 2e-16 * (slips[i] + 2) * (4 + cycles);  // each event rounds its time, for ever
    ASSERT_NEAR(slips[i], 1 + cycles * (1 + slipping), slack) << i;
    if (i == sticks.size()) break;
    ASSERT_NEAR(sticks[i], (1 + cycles) * (1 + slipping), slack) << i;
  }
}

// t² (t − τ): a double zero at the start and a switch at τ, in any unit of time.
TEST(ExactTime, ASwitchOfTimeHasNoScaleButItsOwn) {
  for (const double tau : {1e-60, 1e-30, 1e-9, 1.0, 1e9}) {
    for (const char* engine : {"event", "exact"}) {
      TestModel model = text_model(R"toml(
[parameters]
tau = 1
[coordinates]
x = 0
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = "sign(t^2*(t - tau))"
)toml",
                                   {{"tau", tau}});
      model.options.until = 2 * tau;
      model.options.samples = 5;
      const simulate::Result result = simulate::simulate(model.system, model.options, engine);
      EXPECT_EQ(result.end.status.reason, Reason::done) << engine << tau;
      ASSERT_EQ(result.data.events.size(), 1u) << engine << ", " << tau;
      EXPECT_NEAR(result.data.events[0].time, tau, 1e-15 * tau) << engine;
      EXPECT_NEAR(last(result, "x"), -tau * tau, 1e-8 * tau * tau) << engine << ", " << tau;
    }
  }
}

}  // namespace
}  // namespace judder
