// Sliding on switching surfaces, and friction laws that are stiff, smooth or lopsided.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "closed_forms.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

/// Follows the largest |value| of a column while a switch slides.
class SurfaceSink : public engines::Sink {
 public:
  SurfaceSink(std::vector<double> row, double offset) : row_(std::move(row)), offset_(offset) {}
  void row(engines::RowKind, const engines::Mode& mode, model::Workspace& work) override {
    for (std::size_t k = 0; k < mode.surface.size(); ++k) {
      if (!mode.slides(k)) continue;
      double sum = offset_;
      for (std::size_t i = 0; i < row_.size(); ++i) sum += row_[i] * work.in[1 + i];
      worst = std::max(worst, std::abs(sum));
      ++rows;
      return;
    }
  }
  void event(const engines::Event&, std::span<const double> /*state*/) override {}
  double worst = 0;
  long rows = 0;

 private:
  std::vector<double> row_;
  double offset_;
};

// x' = y − 0.3 s, y' = −x − s, s = sign(x + 2y − 0.1 …): sliding for ever under a force of time, on an oblique surface.
TEST(Sliding, KeepsTheSurfaceForAnyLengthOfRun) {
  for (const double until : {10.0, 1000.0, 20000.0}) {
    TestModel model = text_model(R"toml(
[state]
x = { start = 0, rate = "y - 0.3*sign(x + 2*y) + 0.2*sin(t)" }
y = { start = 0, rate = "-0.5*y - 1.5*sign(x + 2*y) + 0.3*cos(0.7*t)" }
[run]
until = 10
)toml");
    model.options.until = until;
    model.options.samples = static_cast<long>(std::min(until, 2000.0) * 10) + 1;
    SurfaceSink sink({1, 2}, 0);
    const engines::EngineResult result = simulate::run(model.system, "event", model.options, sink);
    ASSERT_TRUE(result.status.ok()) << result.status.message;
    ASSERT_GT(sink.rows, 90) << "it slides from the start";
    EXPECT_LE(sink.worst, 1e-12 * result.end.scales[0]) << "until " << until;
  }
}

// The equivalent control of the sliding belt is exact: while it slides, x' is the belt's speed to rounding, also after a thousand cycles.
TEST(Sliding, AMechanicalSwitchKeepsItsSurfaceOverAThousandCycles) {
  TestModel model = gallery_model("belt/model-sign.toml");
  model.options.until = 12001;
  model.options.samples = 120001;
  SurfaceSink sink({0, 1}, -0.2);
  const engines::EngineResult result = simulate::run(model.system, "event", model.options, sink);
  ASSERT_TRUE(result.status.ok()) << result.status.message;
  EXPECT_GT(sink.rows, 60000);
  EXPECT_LE(sink.worst, 1e-12);
}

// NOSNOC's order experiment with the implicit method: order 5 of Radau IIA through the switch (explicit ones: engine_order_test).
TEST(Sliding, TheStiffMethodKeepsItsOrderThroughASwitch) {
  TestModel model = gallery_model("order-test");
  model.options.samples = 2;
  model.options.integrator = engines::Integrator::stiff;
  model.options.tolerance = 1e-12;
  const Real end = static_cast<double>(std::acos(0.0L));
  const Real exact[2] = {std::exp(end - 1) * std::cos(2 * kPiReal * (end - 1)),
                         -std::exp(end - 1) * std::sin(2 * kPiReal * (end - 1))};
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  constexpr int kPoints = 24;
  for (int i = 0; i < kPoints; ++i) {
    const double steps = 40 * std::pow(8.0, i / (kPoints - 1.0));
    model.options.step = static_cast<double>(end) / steps;
    const engines::EngineResult result = run_to_end(model);
    ASSERT_TRUE(result.status.ok()) << result.status.message;
    const double error =
        static_cast<double>(std::hypot(result.end.y[0] - exact[0], result.end.y[1] - exact[1]));
    const double x = std::log(model.options.step), y = std::log(error);
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  EXPECT_NEAR((sxy - sx * sy / kPoints) / (sxx - sx * sx / kPoints), 5, 0.3);
}

// Bristles a million times stiffer than the spring that pulls: the stiff method goes through stick and slip with steps of the motion, not of
// the bristle.
TEST(StiffBristles, RunWithoutCollapseOfTheStep) {
  for (const std::string type : {"lugre", "elastoplastic"}) {
    TestModel model = text_model(R"toml(
[coordinates]
X = 0
[energy]
kinetic   = "X'^2/2"
potential = "(X - 0.1*t)^2/2"
[[friction]]
name   = "surface"
slip   = "X'"
normal = 1
[friction.law]
type      = ")toml" + type + R"toml("
static    = 1.5
dynamic   = 1
velocity  = 0.1
exponent  = 2
stiffness = 1e6
damping   = "1e3*exp(-(speed/0.01)^2)"
viscous   = 0.004
)toml" + (type == "elastoplastic" ? "breakaway = 0.5e-6\n" : "") +
                                 R"toml(
[run]
until = 60
method = "stiff"
)toml");
    model.options.tolerance = 1e-7;
    const engines::EngineResult result = run_to_end(model);
    ASSERT_TRUE(result.status.ok()) << type << ": " << result.status.message << " at " << result.status.time;
    EXPECT_LT(result.steps, 20000) << type << ": explicit steps would be some 1e-7 long, 6e8 of them";
    // Stick and slip: the same as with the set-valued law with the same Stribeck curve, until differences of the break-away add up.
    TestModel ideal = text_model(R"toml(
[coordinates]
X = 0
[energy]
kinetic   = "X'^2/2"
potential = "(X - 0.1*t)^2/2"
[[friction]]
name   = "surface"
slip   = "X'"
normal = 1
law    = { static = 1.5, dynamic = 1, velocity = 0.1, exponent = 2, viscous = 0.004 }
[run]
until = 60
)toml");
    for (const double at : {17.0, 25.0}) {
      model.options.until = ideal.options.until = at;
      EXPECT_NEAR(run_to_end(model).end.y[0], run_to_end(ideal).end.y[0], 5e-3) << type << " at " << at;
    }
    RecordProperty(type + "_steps", static_cast<int>(result.steps));
    RecordProperty(type + "_evaluations", static_cast<int>(result.evaluations));
  }
}

// Smooth laws on a rigid contact: the normal force is a reaction, and λ_T = −κ λ_N is solved with it.
TEST(SmoothLaws, ActOnRigidContacts) {
  const struct {
    const char* law;
    double sliding;  ///< steady coefficient at 1 m/s
  } laws[]{
      {R"({ type = "arctan", mu = 0.3, beta = 1e4 })", 0.3 * 2 / 3.14159265358979 * std::atan(1e4)},
      {R"({ type = "lugre", mu = 0.3, stiffness = 1e3, damping = 0.1 })", 0.3},
      {R"({ type = "elastoplastic", mu = 0.3, stiffness = 1e3, damping = 0.1, breakaway = 1e-4 })", 0.3}};
  for (const auto& c : laws) {
    // Dropped from 0.1 m while sliding; lands without bounce; slides on and slows by mu g.
    TestModel model = text_model(std::string(R"toml(
[coordinates]
x = { velocity = 3 }
y = 0.1
[energy]
kinetic   = "x'^2/2 + y'^2/2"
potential = "9.81*y"
[[contact]]
name     = "floor"
gap      = "y"
slip     = "x'"
friction = )toml") + c.law + R"toml(
[run]
until = 0.6
[output]
columns = { N = "normal(floor)", F = "tangent(floor)" }
)toml");
    model.options.tolerance = 1e-10;
    const simulate::Result result = run(model);
    ASSERT_TRUE(result.end.status.ok()) << c.law << ": " << result.end.status.message;
    EXPECT_NEAR(last(result, "N"), 9.81, 1e-9) << c.law;
    EXPECT_NEAR(-last(result, "F"), c.sliding * 9.81, 2e-3) << c.law;
    EXPECT_NEAR(result.end.energy_imbalance, 0, 1e-6) << c.law;
    EXPECT_LT(last(result, "x'"), 3);
  }
}

// A bristle that bends under the push is straight again once the contact has opened: it lands as it was made.
TEST(SmoothLaws, BristlesStraightenWhenTheirContactOpens) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = 0
[energy]
kinetic   = "x'^2/2 + y'^2/2"
potential = "9.81*y"
[[force]]
along = "x'"
value = "if(t < 1, 1, 0)"
[[force]]
along = "y'"
value = "if(t < 1, 0, 20)"
[[contact]]
name     = "floor"
gap      = "y"
slip     = "x'"
friction = { type = "lugre", mu = 0.5, stiffness = 100, damping = 1 }
[run]
until = 0.99
)toml");
  const std::size_t bristle = 4;  // behind q and v
  const engines::EngineResult bent = run_to_end(model);
  ASSERT_TRUE(bent.status.ok()) << bent.status.message;
  ASSERT_EQ(bent.end.y.size(), bristle + 1);
  EXPECT_NEAR(bent.end.y[bristle], 1 / (9.81 * 100), 0.5 / (9.81 * 100));  // L σ0 z carries the push
  model.options.until = 1.5;
  const engines::EngineResult open = run_to_end(model);
  ASSERT_TRUE(open.status.ok()) << open.status.message;
  EXPECT_GT(open.end.y[1], 0.1);
  EXPECT_EQ(open.end.y[bristle], 0);
}

TEST(SmoothLaws, PenaltyOnARigidContactIsRefusedWithTheWayOut) {
  io::ModelFile file = io::read_model_text(R"toml(
format = 1
[coordinates]
x = 0
y = 0
[energy]
kinetic = "x'^2/2 + y'^2/2"
[[contact]]
name     = "floor"
gap      = "y"
slip     = "x'"
friction = { type = "penalty", mu = 0.3, stiffness = 1e4, damping = 10 }
[run]
until = 1
)toml");
  const model::Compiled compiled = model::compile(file.spec);
  ASSERT_FALSE(compiled.system);
  EXPECT_NE(render(compiled.diagnostics, "m", file.text).find("compliant contact"), std::string::npos);
}

// A coefficient that differs with the direction of slip: the sticking force lies between the two slip forces.
TEST(SmoothLaws, ALopsidedCoefficientHoldsLessOnOneSide) {
  for (const double pull : {0.25, 0.35, -0.15, -0.25}) {
    TestModel model = text_model(R"toml(
[parameters]
pull = 0
[coordinates]
x = 0
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = "pull"
[[friction]]
name   = "pawl"
slip   = "x'"
normal = 1
law    = "if(x' > 0, 0.3, 0.2)"
[run]
until = 1
)toml",
                                 {{"pull", pull}});
    const engines::EngineResult result = run_to_end(model);
    ASSERT_TRUE(result.status.ok()) << pull << ": " << result.status.message;
    const double free = pull > 0.3 ? pull - 0.3 : pull < -0.2 ? pull + 0.2 : 0;
    EXPECT_NEAR(result.end.y[1], free, 1e-12) << "pull " << pull;
  }
}

}  // namespace
}  // namespace judder
