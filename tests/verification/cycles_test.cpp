// Limit cycles found in a run: against closed forms, and the same cycle in every writing of one system.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "judder/analysis/periodic.hpp"
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
                     const std::vector<model::Named>& set = {}) {
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
  out.end = analysis::run_until_periodic(*watched.system, "event", run, *out.forcing, out.data, out.motion);
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
    EXPECT_LT(found.end.end.time, 36) << "three periods after the first stick are enough";
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
