// What holds for every engine with fixed steps: resuming, options, refusals, rows, memory.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>

#include "judder/engines/registry.hpp"
#include "step_support.hpp"

namespace judder {
namespace {

const std::vector<std::string> kEngines{"moreau",     "theta", "newmark", "paoli-schatzman",
                                        "rk4-zabuga", "rk4",   "penalty", "arctan"};

/// Ends the run by its flag after some steps, and keeps the state there.
struct Stopper final : engines::Sink {
  explicit Stopper(long after) : left(after) {}
  void row(engines::RowKind, const engines::Mode&, model::Workspace&) override {}
  void event(const engines::Event&, std::span<const double>) override {}
  void progress(double) override {
    if (--left == 0) stop = true;
  }
  long left;
  std::atomic<bool> stop{false};
};

/// NaN stands for "none" in closed phases.
bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

// A run that was interrupted anywhere goes on with the same bits, monitors included.
TEST(SteppingRuns, GoOnWithTheSameBits) {
  for (const std::string& engine : kEngines) {
    for (const char* variant : {"TC42", "T15c", "T21d"}) {
      TestModel model = gallery_model("klarbring", {variant});
      ASSERT_EQ(simulate::engine_problem(model.system, engine), "") << engine;
      engines::EngineOptions options = model.options;
      options.until = 9;
      options.step = 0.0077;
      simulate::NullSink nobody;
      const engines::EngineResult whole = simulate::run(model.system, engine, options, nobody);
      ASSERT_TRUE(whole.status.ok()) << engine << variant << whole.status.message;
      for (const long cut : {1L, 2L, 333L, 700L}) {
        Stopper first(cut);
        engines::EngineOptions part = options;
        part.cancel = &first.stop;
        const engines::EngineResult begun = simulate::run(model.system, engine, part, first);
        ASSERT_EQ(begun.status.reason, Reason::interrupted);
        const engines::EngineResult rest = simulate::run(model.system, engine, options, nobody, &begun.end);
        ASSERT_TRUE(rest.status.ok()) << rest.status.message;
        EXPECT_EQ(rest.end.y, whole.end.y) << engine << variant << cut;
        EXPECT_EQ(rest.end.dissipated, whole.end.dissipated) << engine << variant << cut;
        EXPECT_EQ(rest.end.events, whole.end.events) << engine << variant << cut;
        EXPECT_TRUE(same_bits(rest.end.phase.scheme, whole.end.phase.scheme)) << engine << variant << cut;
        EXPECT_EQ(begun.steps + rest.steps, whole.steps);
      }
    }
  }
}

TEST(SteppingRuns, RefuseTheStateOfAnotherScheme) {
  TestModel model = gallery_model("klarbring");
  engines::EngineOptions options = model.options;
  options.until = 1;
  options.step = 0.01;
  simulate::NullSink nobody;
  const engines::EngineResult first = simulate::run(model.system, "newmark", options, nobody);
  options.until = 2;
  const engines::EngineResult other = simulate::run(model.system, "rk4", options, nobody, &first.end);
  EXPECT_EQ(other.status.reason, Reason::unsupported);
  // With another step nothing of the scheme is taken over, and the run goes on.
  options.step = 0.005;
  EXPECT_TRUE(simulate::run(model.system, "newmark", options, nobody, &first.end).status.ok());
}

TEST(SteppingRuns, SayWhatTheyCannotRun) {
  const auto problem = [](const char* engine, const std::string& text) {
    return simulate::engine_problem(text_model(text).system, engine);
  };
  const std::string ball = R"toml(
[coordinates]
h = 1
[energy]
kinetic = "h'^2/2"
potential = "9.81*h"
[[contact]]
name = "ground"
gap = "h"
impact = 0.5
[run]
until = 1
)toml";
  for (const char* engine : {"moreau", "paoli-schatzman", "rk4", "rk4-zabuga", "penalty", "arctan"})
    EXPECT_EQ(problem(engine, ball), "") << engine;
  for (const char* engine : {"theta", "newmark"})
    EXPECT_NE(problem(engine, ball).find("restitution"), std::string::npos) << engine;
  const std::string poisson = R"toml(
[coordinates]
h = 1
[energy]
kinetic = "h'^2/2"
[[contact]]
name = "ground"
gap = "h"
impact = { type = "poisson", restitution = 0.5 }
[run]
until = 1
)toml";
  EXPECT_NE(problem("moreau", poisson).find("poisson"), std::string::npos);
  const std::string states = R"toml(
[coordinates]
x = 1
[state]
z = { start = 1, rate = "-z" }
[energy]
kinetic = "x'^2/2"
[run]
until = 1
)toml";
  EXPECT_NE(problem("paoli-schatzman", states).find("states"), std::string::npos);
  const std::string massless = R"toml(
[coordinates]
x = 1
s = { massless = true }
[energy]
kinetic = "x'^2/2"
potential = "(x - s)^2"
dissipation = "s'^2"
[run]
until = 1
)toml";
  for (const std::string& engine : kEngines)
    EXPECT_NE(problem(engine.c_str(), massless).find("massless"), std::string::npos) << engine;
}

// A gap that has no value below the floor: a body that got there would fly on, as if the contact were open.
TEST(SteppingRuns, EndWhereAGapIsNoNumber) {
  for (const std::string& engine : kEngines) {
    TestModel model = text_model(
        "[coordinates]\nx = 1\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"10*x\"\n"
        "[[contact]]\nname = \"floor\"\ngap = \"sqrt(x)\"\nimpact = \"0\"\n[run]\nuntil = 2\n");
    engines::EngineOptions options = model.options;
    options.step = 0.01;
    if (!simulate::engine_problem(model.system, engine).empty()) continue;
    simulate::NullSink nobody;
    const engines::EngineResult result = simulate::run(model.system, engine, options, nobody);
    EXPECT_TRUE(!result.status.ok() || result.end.y[0] > -0.1) << engine;
  }
}

TEST(SteppingRuns, CheckTheOptionsOfCallers) {
  TestModel model = gallery_model("klarbring");
  const auto status = [&](const char* engine, const StepOption& option) {
    engines::EngineOptions options = model.options;
    options.until = 0.1;
    options.own.push_back({engine, option.key, option.number, option.text});
    simulate::NullSink nobody;
    return simulate::run(model.system, engine, options, nobody).status;
  };
  EXPECT_TRUE(status("moreau", {"theta", 1, ""}).ok());
  EXPECT_EQ(status("moreau", {"theta", 1.5, ""}).reason, Reason::unsupported);
  EXPECT_EQ(status("moreau", {"form", 0, "other"}).reason, Reason::unsupported);
  EXPECT_EQ(status("newmark", {"alpha", 0, ""}).reason, Reason::unsupported);
  EXPECT_EQ(status("rk4-zabuga", {"chords", 0, ""}).reason, Reason::unsupported);
}

// A block that rests on a slope costs the contact solver nothing once its impulses are known.
TEST(SteppingRuns, SolveRestInOneIteration) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = 0
a = 0
[energy]
kinetic = "x'^2/2 + y'^2/2 + a'^2/6"
potential = "9.81*(y + 0.2*x)"
[[contact]]
name = "left"
gap = "y - a"
slip = "x'"
friction = 0.5
[[contact]]
name = "right"
gap = "y + a"
slip = "x'"
friction = 0.5
[run]
until = 1
)toml");
  const simulate::Result run = step_run(model, "moreau", 0.001, 1000);
  ASSERT_TRUE(run.end.status.ok()) << run.end.status.message;
  EXPECT_EQ(last(run, "x"), 0);
  EXPECT_LE(std::abs(last(run, "y")), 1e-12);
  // Behind the first step, which has no impulses to start from.
  engines::EngineOptions options = model.options;
  options.step = 0.001;
  options.until = 0.001;
  simulate::NullSink nobody;
  const engines::EngineResult first = simulate::run(model.system, "moreau", options, nobody);
  engines::Moment moment = first.end;
  options.until = 1;
  const engines::EngineResult rest = simulate::run(model.system, "moreau", options, nobody, &moment);
  for (const engines::Monitor& each : rest.monitors) {
    if (each.name != "contact_iterations") continue;
    EXPECT_GT(each.checks, 990);
    // The monitor goes on from the first step; no later step costs more than one.
    EXPECT_LE(each.worst, std::max(1.0, first.monitors.back().worst));
  }
}

// A block on a slope: Coulomb's law holds it, an arctan lets it creep by the speed at which its friction balances.
TEST(Regularised, CreepsByItsLaw) {
  const auto slope = [](const std::string& more) {
    return text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "x'^2/2"
potential = "-2*x"
[[friction]]
name = "slope"
slip = "x'"
normal = 10
law = 0.5
[run]
until = 1
)toml" + more);
  };
  const simulate::Result held = step_run(slope(""), "moreau", 1e-3, 1000);
  EXPECT_EQ(last(held, "x"), 0);
  const simulate::Result creeping = step_run(slope(""), "arctan", 1e-3, 3000, {{"beta", 100, ""}});
  const double speed = std::tan(std::acos(-1.0) / 2 * 2 / 5.0) / 100;
  EXPECT_NEAR(last(creeping, "x'"), speed, 1e-12 * speed);
  const simulate::Result sprung = step_run(slope(""), "penalty", 1e-4, 20000,
                                           {{"tangent_stiffness", 1e4, ""}, {"tangent_damping", 100, ""}});
  EXPECT_NEAR(last(sprung, "x"), 2e-4, 1e-10);  // F/k
}

// The spring pulls with more than slip resists and less than rest does when the slip comes to its end: it stays, wherever its end falls in a step.
TEST(SteppingRuns, HoldByStaticFrictionWhatHasStopped) {
  const TestModel model = text_model(R"toml(
[coordinates]
y = { start = 1, velocity = 1.5 }
[energy]
kinetic = "y'^2/2"
potential = "y^2"
[[friction]]
name = "j"
slip = "y'"
normal = 5
law = { static = 0.8, dynamic = 0.4 }
[run]
until = 1.6
)toml");
  const double rest = last(run(model), "y");
  for (const long steps : {1000L, 1777L, 2500L, 4000L, 9001L}) {
    const simulate::Result stepped = step_run(model, "moreau", 1.6 / static_cast<double>(steps), steps);
    EXPECT_NEAR(last(stepped, "y"), rest, 1e-4) << steps;
    EXPECT_EQ(stepped.data.events.size(), 1u) << steps;
  }
}

// The push of a tilted gap carries the slip along, or turns it: either way friction has the coefficient of the slip before the impact.
TEST(SteppingRuns, StrikeWithTheCoefficientOfTheSlipBefore) {
  const TestModel model = text_model(R"toml(
[coordinates]
y = { start = 1, velocity = -2 }
w = { start = 0, velocity = 0.1 }
[energy]
kinetic = "y'^2/2 + w'^2/2"
[[contact]]
name = "c"
gap = "y + 0.3*w"
slip = "w'"
friction = { static = 0.1, dynamic = 0.05 }
impact = 0.5
[run]
until = 1
)toml");
  // γ_N = y' + 0.3 w' goes from −1.97 to 0.985 by p (1 + 0.3 (0.3 − μ)), and w' grows by p (0.3 − μ).
  const simulate::Result run = step_to(model, "moreau", 1e-4, 0.8);
  ASSERT_EQ(run.data.events.size(), 1u);
  const double p = 2.955 / (1.09 - 0.3 * 0.05);
  EXPECT_NEAR(run.data.events[0].normal_impulse, p, 1e-9);
  EXPECT_NEAR(last(run, "w'"), 0.1 + p * (0.3 - 0.05), 1e-9);
  TestModel turned = text_model(R"toml(
[coordinates]
y = { start = 1, velocity = -2 }
w = { start = 0, velocity = -0.1 }
[energy]
kinetic = "y'^2/2 + w'^2/2"
[[contact]]
name = "c"
gap = "y + 0.3*w"
slip = "w'"
friction = { static = 0.1, dynamic = 0.05 }
impact = 0.5
[run]
until = 1
)toml");
  const simulate::Result other = step_to(turned, "moreau", 1e-4, 0.8);
  ASSERT_EQ(other.data.events.size(), 1u);
  const double q =
      1.5 * 2.03 / (1.09 - 0.3 * 0.05);  // it turns to positive, and dynamic friction acts against that
  EXPECT_NEAR(other.data.events[0].normal_impulse, q, 1e-9);
  EXPECT_NEAR(last(other, "w'"), -0.1 + q * (0.3 - 0.05), 1e-9);
}

// A joint that a contact presses takes its share of an impact, unless friction is left out of its impulses.
TEST(SteppingRuns, LeaveJointsOutOfImpulsesWithoutFriction) {
  for (const bool friction : {true, false}) {
    const TestModel model = text_model(R"toml(
[coordinates]
x = { start = 0, velocity = 3 }
y = { start = 0.1001, velocity = -2 }
[energy]
kinetic = "(x'^2 + y'^2)/2"
[[contact]]
name = "c"
gap = "y"
impact = { friction = )toml" + std::string(friction ? "true" : "false") +
                                       R"toml( }
[[friction]]
name = "j"
slip = "x'"
normal = "normal(c)"
law = 0.5
[run]
until = 0.1
)toml");
    const simulate::Result stepped = step_to(model, "moreau", 1e-3, 0.1);
    ASSERT_TRUE(stepped.end.status.ok());
    EXPECT_NEAR(last(stepped, "x'"), friction ? 2 : 3, 1e-9);
    EXPECT_NEAR(last(stepped, "x'"), last(run(model), "x'"), 1e-9);
  }
}

// A ball on a spring that pushes: the half swing of a damped oscillator leaves e of its speed.
TEST(Regularised, ReboundsWithItsRestitution) {
  const TestModel ball = text_model(R"toml(
[coordinates]
h = { start = 0.1, velocity = -1 }
[energy]
kinetic = "h'^2"
[[contact]]
name = "ground"
gap = "h"
impact = 0.6
[run]
until = 1
)toml");
  const simulate::Result run = step_run(ball, "penalty", 1e-5, 30000, {{"normal_stiffness", 1e5, ""}});
  // The force is cut where it would pull: the rebound is a little faster than that of the whole half swing.
  EXPECT_NEAR(last(run, "h'"), 0.6, 0.06);
  EXPECT_GT(last(run, "h'"), 0.6);
}

}  // namespace
}  // namespace judder
