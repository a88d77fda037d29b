// Where the referee must say nothing: right motions of every kind, with both engines; and that it changes nothing.
#include <gtest/gtest.h>

#include "bench_model.hpp"
#include "judder/io/json.hpp"
#include "story.hpp"

namespace judder {
namespace {

struct Motion {
  const char* name;
  const char* text;
};

void PrintTo(const Motion& motion, std::ostream* out) { *out << motion.name; }

class Silence : public testing::TestWithParam<Motion> {};

TEST_P(Silence, OnRightMotions) {
  TestModel model = text_model(GetParam().text);
  for (const char* engine : {"event", "exact"}) {
    if (!simulate::engine_problem(model.system, engine).empty()) continue;
    for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
      model.options.tolerance = tolerance;
      const simulate::Result result = simulate::simulate(model.system, model.options, engine);
      EXPECT_TRUE(result.end.status.ok()) << engine << ": " << result.end.status.message;
      EXPECT_TRUE(result.end.verdict.judged);
      EXPECT_TRUE(result.end.verdict.silent()) << engine << " at " << tolerance << "\n"
                                               << words(result.end.verdict);
    }
  }
}

const Motion kMotions[] = {
    // What is held does not move, and yet the drive of its spring stores sin²t.
    {"drive_of_a_spring_at_rest", R"toml(
[coordinates]
x = { start = 0 }
[energy]
kinetic = "x'^2/2"
potential = "(x + sin(t))^2"
[[constraint]]
name = "hold"
velocity = "x'"
[run]
until = 3.7
)toml"},
    {"moved_frame_at_rest", R"toml(
[coordinates]
x = { start = 0 }
[energy]
kinetic = "(x' + 3*cos(1.5*t))^2/4"
potential = "5*x"
[[contact]]
name = "floor"
gap = "x"
[run]
until = 3
)toml"},
    // The clock has 14 digits left of the first step, in which the belt gives to friction what moves nothing.
    {"late_start", R"toml(
[coordinates]
x = { start = 0 }
[energy]
kinetic = "1.721*x'^2"
[[force]]
along = "x'"
value = "0.5"
[[friction]]
name = "belt"
slip = "x' - 0.5"
normal = 1
law = 0.5
[run]
from = 100
until = 103
)toml"},
    // The reaction of the lever is zero, to the last bits of what the stop carries: they are solved for together.
    {"constraint_beside_a_loaded_contact", R"toml(
[coordinates]
x = { start = 0 }
y = { start = 0 }
w = { start = 0 }
[energy]
kinetic = "2.5*x'^2 + y'^2 + (w' + 0.3*cos(t))^2/2"
potential = "50*(w + 1)^2"
[[force]]
along = "x'"
value = 1
[[contact]]
name = "stop"
gap = "w"
slip = "x'"
friction = "max(0, 0.5 - 0.1*t)"
[[constraint]]
name = "lever"
zero = "y - 2*w"
slip = "x'"
friction = 0.1
[run]
until = 4
)toml"},
    // The impulse of the first ends with compression, at a mean speed of -0.5; that of the second goes on. Together they do what the energy shows.
    {"push_beside_compression_and_expansion", R"toml(
[coordinates]
y = { start = 1 }
[energy]
kinetic = "y'^2"
potential = "y^4"
[[contact]]
name = "first"
gap = "y"
push = "y'"
[[contact]]
name = "second"
gap = "y"
impact = { type = "poisson", restitution = 1 }
[run]
until = 1.9
)toml"},
    {"drag_beside_a_path", R"toml(
[coordinates]
x = { start = 0.2 }
y = { start = 0, velocity = -1 }
[energy]
kinetic = "x'^2/2 + y'^2/2"
[[force]]
along = "y'"
value = 3
[[contact]]
name = "belt"
gap = "-y"
slip = "x' + 1"
friction = 1
drag = "x'"
impact = { type = "stronge" }
[[contact]]
name = "wall"
gap = "x + 0.3*sin(x) - 0.25960079923851836"
impact = 1
[run]
until = 1.4
)toml"},
    // A damped node that sticks to a belt has the velocity of the belt, and no inertia for which an acceleration would be told.
    {"massless_node_on_a_belt", R"toml(
[coordinates]
x = { start = 0, velocity = 0.5 }
y = { start = 0, massless = true }
[energy]
kinetic = "x'^2/2"
potential = "2*(x - y)^2"
dissipation = "0.4*y'^2"
[[friction]]
name = "belt"
slip = "y' - 0.4*t"
normal = 1
law = 0.5
[run]
until = 1
)toml"},
    // The constraint takes part in compression, where its friction (-50/7) brakes x' from 20 to 10/7, and in expansion, where it brakes (+40/7) what has
    // turned to -2: the sum is along the slip afterwards.
    {"constraint_in_compression_and_expansion", R"toml(
[coordinates]
x = { start = -2 }
y = { start = 0 }
w = { start = 0 }
[energy]
kinetic = "x'^2/2 + 2.5*y'^2 + 1.5*w'^2"
potential = "50*x^2"
[[contact]]
name = "floor"
gap = "w - x"
impact = { type = "poisson", restitution = 0.8 }
[[constraint]]
name = "hold"
zero = "y + w"
slip = "x'"
friction = 1
[run]
until = 0.17
)toml"},
    {"everything", kOfEverything},
    {"free_fall", R"toml(
[coordinates]
y = { start = 2, velocity = 1 }
[energy]
kinetic = "y'^2/2"
potential = "9.81*y"
[run]
until = 1
)toml"},
    {"stiff_spring", R"toml(
[coordinates]
x = { start = 1 }
y = { start = 0 }
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "1e6*(x - y)^2/2 + x^2/2"
dissipation = "1e4*(x' - y')^2/2"
[run]
until = 2
)toml"},
    {"massless_node", R"toml(
[coordinates]
x = { start = 1 }
n = { start = 0.5, massless = true }
[energy]
kinetic = "x'^2/2"
potential = "10*(x - n)^2/2 + 20*n^2/2"
dissipation = "3*n'^2/2"
[run]
until = 3
)toml"},
    {"branch_not_taken", R"toml(
[coordinates]
x = { start = -1, velocity = 0 }
[energy]
kinetic = "x'^2/2"
potential = "x^2/2"
[[force]]
along = "x'"
value = "if(t < 0.5, 0, if(x > -0.9, 1, -1))"
[run]
until = 4
)toml"},
    {"belt_of_time", R"toml(
[coordinates]
x = { start = 0.3 }
[energy]
kinetic = "x'^2/2"
potential = "5*x^2/2"
[[friction]]
name = "belt"
slip = "x' - 0.3 - 0.2*sin(3*t)"
normal = 1
law = { static = 0.6, dynamic = "0.3 + 0.2*exp(-3*speed)" }
[run]
until = 20
)toml"},
    {"smooth_friction", R"toml(
[coordinates]
x = { start = 0, velocity = 1 }
y = { start = 0.2 }
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[contact]]
name = "floor"
gap = "y"
slip = "x'"
friction = { type = "lugre", mu = 0.3, stiffness = 1000, damping = 5 }
impact = 0
[run]
until = 1
)toml"},
    {"slider_crank", R"toml(
[coordinates]
phi = { start = 0, velocity = 2 }
x = { start = 1.5 }
[energy]
kinetic = "phi'^2/2*(1 + 0.2*cos(phi)) + x'^2/2"
[[constraint]]
name = "rod"
zero = "(x - 0.5*cos(phi))^2 + 0.25*sin(phi)^2 - 1"
[run]
until = 5
)toml"},
    // The load drops where the belt, not the slip, passes 0.1.
    {"load_that_drops_at_rest", R"toml(
[coordinates]
u = { start = 0.3, velocity = 0.4 }
s = { start = -0.2, velocity = 0.1 }
[energy]
kinetic = "(u'^2 + s'^2)/2"
potential = "(u + s)^2 + 0.5*(u - s)^2"
[[friction]]
name = "f"
slip = "0.6*u' + 0.8*s' - 0.3*sin(2*t)"
normal = "1 + 0.5*sign(0.6*u' + 0.8*s' - 0.1)"
law = 0.8
[run]
until = 4
)toml"},
    {"rising_table", R"toml(
[coordinates]
y = { start = 0, velocity = 2 }
[energy]
kinetic = "y'^2/2"
potential = "9.81*y"
[[contact]]
name = "table"
gap = "y - 0.1*sin(20*t)"
impact = 0.5
[run]
until = 1
)toml"},
    // Its momentum is zero, and so is its kinetic energy.
    {"moved_frame_that_is_stood_still_in", R"toml(
[coordinates]
x = { start = 0, velocity = -1 }
[energy]
kinetic = "(x' + cos(0.7*t))^2/2"
[run]
until = 1.5e-5
)toml"},
    // The wall strikes w, and y shares inertia with it.
    {"moved_with_what_is_struck", R"toml(
[coordinates]
y = 0
w = 0
[energy]
kinetic = "0.5*y'^2 + 0.1*(w' + y')^2"
[[contact]]
name = "wall"
gap = "w - sin(15*t) + 0.5"
[run]
until = 0.046
)toml"},
    // One of two contacts at the same place has a compression and an expansion, and so has the impact of both: the friction of the other turns in it.
    {"two_impact_laws_at_one_place", R"toml(
[coordinates]
y = 0
w = 0
[energy]
kinetic = "0.25*y'^2 + 2.5*w'^2"
potential = "y"
[[contact]]
name = "one"
gap = "y + 1"
impact = { type = "poisson" }
[[contact]]
name = "two"
gap = "y + 1"
slip = "w' + y'"
friction = 0.2
impact = 0.5
[run]
until = 2
)toml"},
};

INSTANTIATE_TEST_SUITE_P(Referee, Silence, testing::ValuesIn(kMotions),
                         [](const auto& motion) { return std::string(motion.param.name); });

TEST(Referee, ChangesNothing) {
  for (const char* name : {"press", "relay", "belt", "rocking-block", "bouncing-ball"}) {
    TestModel model = gallery_model(name);
    for (const char* engine : {"event", "exact"}) {
      if (!simulate::engine_problem(model.system, engine).empty()) continue;
      model.options.referee = true;
      const simulate::Result watched = simulate::simulate(model.system, model.options, engine);
      model.options.referee = false;
      const simulate::Result alone = simulate::simulate(model.system, model.options, engine);
      EXPECT_FALSE(alone.end.verdict.judged);
      EXPECT_EQ(watched.data.cells, alone.data.cells) << name << ' ' << engine;
      EXPECT_EQ(watched.end.evaluations, alone.end.evaluations) << name << ' ' << engine;
      EXPECT_EQ(watched.data.events.size(), alone.data.events.size()) << name << ' ' << engine;
    }
  }
}

TEST(Referee, JudgesWhateverTheOutputAsksFor) {
  TestModel model = text_model(kOfEverything);
  const Story full = record(model);
  model.options.samples = 2;
  model.options.event_rows = false;
  const Story bare = record(model);
  ASSERT_EQ(full.size(), bare.size());
  for (std::size_t i = 0; i < full.size(); ++i) {
    EXPECT_EQ(full[i].time, bare[i].time);
    EXPECT_EQ(full[i].q, bare[i].q);
    EXPECT_EQ(full[i].normal_force, bare[i].normal_force);
  }
}

TEST(Referee, IsHeardInRunJson) {
  const TestModel model = text_model(kOfEverything);
  Story story = record(model);
  for (Told& told : story) {
    if (!told.impact && told.time > 0.5 && told.time < 0.6) told.acceleration[0] += 1;
  }
  io::RunSummary summary;
  EXPECT_EQ(io::run_json(summary).find("\"referee\""), std::string::npos) << "nobody has judged";
  summary.verdict = judge(model, story);
  ASSERT_FALSE(summary.verdict.silent());
  const std::string text = io::run_json(summary);
  for (const char* part : {"\"referee\"", "\"laws\"", "\"checks\"", "\"findings\"", "\"motion\"",
                           "\"coordinate b\"", "\"worst_ratio\"", "\"not_listed\": 0"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  EXPECT_NE(
      simulate::finding_text(summary.verdict.findings.front()).find("the law 'motion' is broken at t = 0.5"),
      std::string::npos);
}

TEST(Referee, JudgesARunThatIsTakenUp) {
  TestModel model = text_model(kOfEverything);
  model.options.until = 1.3;
  simulate::NullSink sink;
  const engines::EngineResult half = simulate::run(model.system, "event", model.options, sink);
  ASSERT_TRUE(half.status.ok()) << half.status.message;
  model.options.until = 3;
  const engines::EngineResult rest = simulate::run(model.system, "event", model.options, sink, &half.end);
  EXPECT_TRUE(rest.status.ok()) << rest.status.message;
  EXPECT_TRUE(rest.verdict.judged);
  EXPECT_TRUE(rest.verdict.silent()) << words(rest.verdict);
}

}  // namespace
}  // namespace judder
