// The page for C++ programs: models by file, text and Spec, runs by name, observers, runs moved on from outside.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "judder/io/load.hpp"
#include "judder/io/run_folder.hpp"
#include "judder/judder.hpp"

namespace judder {
namespace {

// A ball that falls 1 m and rebounds with half of its speed: impacts at √(2/g), then after 2 e^k √(2/g) each.
constexpr const char* kBall = R"toml(
format = 1
title = "Ball"
[parameters]
g = 10
e = 0.5
[coordinates]
y = 1
[energy]
kinetic = "y'^2/2"
potential = "g*y"
[[contact]]
name = "floor"
gap = "y"
impact = "e"
[run]
until = 1
[output]
samples = 11
columns = { speed = "abs(y')" }
)toml";

double first_impact(double g) { return std::sqrt(2 / g); }

TEST(FrontModel, IsLoadedFromAFile) {
  const Model press = Model::load(JUDDER_SOURCE_DIR "/gallery/press/model.toml");
  ASSERT_TRUE(press.ok()) << press.problems();
  EXPECT_EQ(press.title(), "Two-mass vibro-impact system (press)");
  EXPECT_EQ(press.columns().front(), "t");
  EXPECT_EQ(press.parameter("g"), 9.81);
  EXPECT_THROW(static_cast<void>(press.parameter("nothing")), std::out_of_range);
}

TEST(FrontModel, SaysWhatIsWrong) {
  const Model none = Model::load("no/such/file.toml");
  EXPECT_FALSE(none.ok());
  EXPECT_NE(none.problems().find("no/such/file.toml"), std::string::npos);
  const Model bad = Model::from_text("format = 1\n[coordinates]\nx = 0\n[energy]\nkinetic = \"m*x'^2\"\n");
  EXPECT_FALSE(bad.ok());
  EXPECT_NE(bad.problems().find("unknown name 'm'"), std::string::npos) << bad.problems();
  EXPECT_THROW(static_cast<void>(bad.run()), std::logic_error);
  EXPECT_FALSE(bad.with({{"m", 1}}).ok());
}

TEST(FrontModel, IsTheSameWithOtherValues) {
  const Model ball = Model::from_text(kBall);
  ASSERT_TRUE(ball.ok()) << ball.problems();
  const Model moon = ball.with({{"g", 1.6}, {"y", 0.5}});
  ASSERT_TRUE(moon.ok()) << moon.problems();
  EXPECT_EQ(moon.parameter("g"), 1.6);
  EXPECT_EQ(ball.parameter("g"), 10);
  EXPECT_NEAR(moon.run().times("impact").at(0), std::sqrt(2 * 0.5 / 1.6), 1e-9);
  EXPECT_NEAR(moon.with({{"g", 10}}).run().times("impact").at(0), std::sqrt(2 * 0.5 / 10), 1e-9);
  EXPECT_FALSE(ball.with({{"G", 1}}).ok());
}

TEST(FrontModel, TellsAllThatIsWrongInATextAsInAFile) {
  const std::string text =
      "format = 1\nnonsense = 1\n[coordinates]\nx = 1\n[energy]\nkinetic = \"x'^2/2\"\npotential = "
      "\"unknown*x\"\n";
  const Model model = Model::from_text(text);
  EXPECT_FALSE(model.ok());
  EXPECT_NE(model.problems().find("nonsense"), std::string::npos) << model.problems();
  EXPECT_NE(model.problems().find("unknown name 'unknown'"), std::string::npos) << model.problems();
}

TEST(FrontModel, ThatWasMovedAwaySaysSo) {
  Model model = Model::from_text(
      "format = 1\n[coordinates]\nx = 1\n[energy]\nkinetic = \"x'^2/2\"\n[run]\nuntil = 1\n");
  const Model other = std::move(model);
  EXPECT_TRUE(other.ok());
  EXPECT_FALSE(model.ok());  // NOLINT(bugprone-use-after-move)
  EXPECT_THROW(static_cast<void>(model.problems()), std::logic_error);
  EXPECT_THROW(static_cast<void>(model.columns()), std::logic_error);
  EXPECT_THROW(static_cast<void>(model.run()), std::logic_error);
  EXPECT_THROW(static_cast<void>(model.with({{"x", 1}})), std::logic_error);
  Stepper stepper(other);
  const Stepper later = std::move(stepper);
  EXPECT_EQ(later.time(), 0);
  EXPECT_THROW(stepper.advance_to(1), std::logic_error);  // NOLINT(bugprone-use-after-move)
  EXPECT_THROW(static_cast<void>(stepper.time()), std::logic_error);
  EXPECT_THROW(static_cast<void>(stepper.verdict()), std::logic_error);
}

// m ẍ = −k x with m = 4, k = 1: half a turn in 2π.
TEST(FrontSpec, AMatrixThatIsFilledIsMeant) {
  model::Spec spec;
  spec.coordinates.push_back({.name = "x", .start = 1.0});
  spec.matrices.mass.rows = {{4.0}};
  spec.matrices.stiffness.rows = {{1.0}};
  spec.run.until = "2*pi";
  const Model model = Model::from_spec(spec);
  ASSERT_TRUE(model.ok()) << model.problems();
  EXPECT_NEAR(model.run().last("x"), -1, 1e-7);
}

// A ball that is thrown up and down: after the first impact nothing is kept, by no engine, however long its steps are.
TEST(FrontRun, EndsWhereAnObserverSays) {
  const Model model = Model::from_text(
      "format = 1\n[coordinates]\ny = 1\n[energy]\nkinetic = \"y'^2/2\"\npotential = "
      "\"2*y\"\n[[contact]]\nname = \"floor\"\n"
      "gap = \"y\"\nimpact = 0.9\n[run]\nuntil = 5\n");
  ASSERT_TRUE(model.ok()) << model.problems();
  for (const char* engine : {"event", "exact"}) {
    const judder::Run run =
        model.run({.engine = engine, .on_event = [](const RunEvent&) { return Going::stop; }});
    EXPECT_TRUE(run.stopped());
    EXPECT_EQ(run.events().size(), 1U) << engine;
    EXPECT_NEAR(run.status().time, 1, 1e-9) << engine;
    EXPECT_NEAR(run.last("t"), 1, 1e-9) << engine;
    const judder::Run rows = model.run({.samples = 51, .engine = engine, .on_row = [](Row row) {
                                          return row[0] > 0.45 ? Going::stop : Going::on;
                                        }});
    EXPECT_EQ(rows.last("t"), 0.5) << engine;
    EXPECT_EQ(rows.status().time, 0.5) << engine;
  }
}

TEST(FrontRun, GivesColumnsAndEventsByName) {
  const judder::Run run = Model::from_text(kBall).run();
  ASSERT_TRUE(run.ok()) << run.status().message;
  EXPECT_TRUE(run.verdict().judged);
  const std::vector<double> impacts = run.times("impact", "floor");
  ASSERT_GE(impacts.size(), 2U);
  EXPECT_NEAR(impacts[0], first_impact(10), 1e-9);
  EXPECT_NEAR(impacts[1] - impacts[0], first_impact(10), 1e-9);  // 2 e √(2/g)
  EXPECT_TRUE(run.times("impact", "wall").empty());
  const RunEvent& first = run.events().front();
  EXPECT_EQ(first.kind, "impact");
  EXPECT_EQ(first.where, "floor");
  const double speed = std::sqrt(20.0);
  ASSERT_EQ(first.state.size(), 2U);
  EXPECT_NEAR(first.state[0], 0, 1e-12);
  EXPECT_NEAR(first.state[1], 0.5 * speed, 1e-8);
  EXPECT_NEAR(first.normal_impulse, 1.5 * speed, 1e-8);
  EXPECT_NEAR(first.energy_lost, 0.75 * speed * speed / 2, 1e-8);
  const std::vector<double> t = run.column("t"), y = run.column("y"), absolute = run.column("speed");
  ASSERT_EQ(t.size(), run.rows());
  EXPECT_EQ(run.row(0).size(), run.columns().size());
  EXPECT_EQ(t.back(), 1);
  EXPECT_EQ(run.last("t"), 1);
  EXPECT_NEAR(y[1], 1 - 5 * t[1] * t[1], 1e-9);
  EXPECT_NEAR(absolute[1], 10 * t[1], 1e-9);
  EXPECT_THROW(static_cast<void>(run.column("z")), std::out_of_range);
  EXPECT_THROW(static_cast<void>(run.row(run.rows())), std::out_of_range);
}

TEST(FrontRun, TakesOptionsAndRefusesThoseThatMakeNoRun) {
  const Model ball = Model::from_text(kBall);
  EXPECT_EQ(ball.run({.samples = 5, .event_rows = false}).rows(), 5U);
  EXPECT_EQ(ball.run({.until = 0.4, .every = 0.1}).rows(), 5U);
  EXPECT_EQ(ball.run({.keep_rows = false}).rows(), 1U);
  EXPECT_EQ(ball.run({.engine = "auto"}).engine(), "exact");
  EXPECT_FALSE(ball.run({.referee = false}).verdict().judged);
  const auto refused = [&](const RunOptions& options) {
    const judder::Run run = ball.run(options);
    return run.status().reason == Reason::unsupported && !run.status().message.empty();
  };
  EXPECT_TRUE(refused({.tolerance = -1.0}));
  EXPECT_TRUE(refused({.until = -1.0}));
  EXPECT_TRUE(refused({.until = std::nan("")}));
  EXPECT_TRUE(refused({.samples = 1}));
  EXPECT_TRUE(refused({.every = -0.1}));
  EXPECT_TRUE(refused({.engine = "evnt"}));
}

TEST(FrontRun, ObserversEndIt) {
  const Model ball = Model::from_text(kBall);
  for (const char* engine : {"event", "exact"}) {
    int rows = 0;
    const judder::Run by_row = ball.run({.engine = engine, .on_row = [&](Row row) {
                                           ++rows;
                                           return row[0] < 0.25 ? Going::on : Going::stop;
                                         }});
    EXPECT_TRUE(by_row.stopped()) << engine;
    EXPECT_EQ(by_row.status().reason, Reason::interrupted) << engine;
    EXPECT_LT(by_row.status().time, 1) << engine;
    EXPECT_EQ(rows, 4) << engine;  // 0, 0.1, 0.2, 0.3

    int events = 0;
    const judder::Run by_event = ball.run({.engine = engine, .on_event = [&](const RunEvent& event) {
                                             ++events;
                                             return event.kind == "impact" ? Going::stop : Going::on;
                                           }});
    EXPECT_TRUE(by_event.stopped()) << engine;
    EXPECT_EQ(events, 1) << engine;
  }
  std::atomic<bool> cancel{true};
  const judder::Run cancelled = ball.run({.cancel = &cancel});
  EXPECT_EQ(cancelled.status().reason, Reason::interrupted);
  EXPECT_FALSE(cancelled.stopped());
}

TEST(FrontRun, ThreadsShareOneModel) {
  const Model press = Model::load(JUDDER_SOURCE_DIR "/gallery/press/model.toml");
  const judder::Run alone = press.run();
  std::vector<double> ends(4);
  std::vector<std::thread> threads;
  for (double& end : ends) threads.emplace_back([&press, &end] { end = press.run().last("y"); });
  for (std::thread& thread : threads) thread.join();
  for (const double end : ends) EXPECT_EQ(end, alone.last("y"));
}

TEST(FrontSpec, ANumberIsFriction) {
  model::Spec spec;
  spec.coordinates = {{.name = {"x"}, .velocity = 2}};
  spec.energy.kinetic = "x'^2/2";
  spec.joints = {{.name = {"floor"}, .slip = {"x'"}, .normal = 10, .law = {.mu = 0.2}}};
  spec.run.until = 2;
  const Model block = Model::from_spec(spec);
  ASSERT_TRUE(block.ok()) << block.problems();
  const judder::Run run = block.run();
  EXPECT_NEAR(run.times("stick", "floor").at(0), 1, 1e-9);  // 2/(0.2 · 10)
  EXPECT_NEAR(run.last("x"), 1, 1e-9);
}

TEST(FrontStepper, GoesWhereARunGoes) {
  const Model ball = Model::from_text(kBall);
  for (const char* engine : {"event", "exact"}) {
    const judder::Run whole = ball.run({.engine = engine});
    Stepper stepper(ball, {.engine = engine});
    EXPECT_EQ(stepper.time(), 0);
    EXPECT_EQ(stepper.value("y"), 1);
    std::vector<double> impacts;
    for (int k = 1; k <= 100; ++k) {
      ASSERT_TRUE(stepper.advance_to(0.01 * k)) << engine << k << stepper.status().message;
      for (const RunEvent& event : stepper.events()) {
        if (event.kind == "impact") impacts.push_back(event.time);
      }
    }
    EXPECT_TRUE(stepper.over());
    EXPECT_FALSE(stepper.advance_to(2));
    EXPECT_EQ(stepper.time(), 1);
    EXPECT_NEAR(stepper.value("y"), whole.last("y"), 1e-9);
    const std::vector<double> expected = whole.times("impact");
    ASSERT_EQ(impacts.size(), expected.size()) << engine;
    for (std::size_t i = 0; i < impacts.size(); ++i) EXPECT_NEAR(impacts[i], expected[i], 1e-9);
    EXPECT_TRUE(stepper.verdict().judged);
    EXPECT_TRUE(stepper.verdict().silent());
  }
}

TEST(FrontStepper, StaysWhereItIsForATimeThatIsPast) {
  const Model ball = Model::from_text(kBall);
  Stepper stepper(ball);
  ASSERT_TRUE(stepper.advance_to(0.2));
  EXPECT_FALSE(stepper.advance_to(0.1));
  EXPECT_FALSE(stepper.over());
  EXPECT_EQ(stepper.time(), 0.2);
  EXPECT_TRUE(stepper.advance_to(0.3));
  Stepper none(ball, {.tolerance = -1.0});
  EXPECT_TRUE(none.over());
  EXPECT_FALSE(none.advance_to(0.1));
  EXPECT_EQ(none.status().reason, Reason::unsupported);
}

// A watch ends the run at 0.75: the row is the one there, not that of the last time asked for.
TEST(Stepper, ShowsTheRowAtItsEnd) {
  const Model model = Model::from_text(
      "format = 1\n[coordinates]\nx = { velocity = 1 }\n[energy]\nkinetic = \"x'^2/2\"\n[[watch]]\nname = "
      "\"w\"\nzero = \"x - 0.75\"\nstop = true\n[run]\nuntil = 2\n");
  ASSERT_TRUE(model.ok()) << model.problems();
  Stepper stepper(model);
  while (stepper.advance_to(stepper.time() + 0.5) && !stepper.over()) {
  }
  EXPECT_TRUE(stepper.over());
  EXPECT_EQ(stepper.status().reason, Reason::watch);
  EXPECT_NEAR(stepper.time(), 0.75, 1e-12);
  EXPECT_EQ(stepper.value("t"), stepper.time());
  EXPECT_NEAR(stepper.value("x"), 0.75, 1e-12);
}

TEST(Stepper, IsNotMovedByItsOwnObserver) {
  const Model model = Model::from_text(
      "format = 1\n[coordinates]\nx = { velocity = 1 }\n[energy]\nkinetic = \"x'^2/2\"\n[run]\nuntil = 2\n");
  Stepper* inner = nullptr;
  RunOptions options;
  options.on_row = [&](Row) {
    if (inner != nullptr) inner->advance_to(1.5);
    return Going::on;
  };
  Stepper stepper(model, options);
  inner = &stepper;
  EXPECT_THROW(stepper.advance_to(1), std::logic_error);
  EXPECT_TRUE(stepper.over());
  EXPECT_EQ(stepper.status().reason, Reason::interrupted);
  EXPECT_FALSE(stepper.advance_to(1.2));
  static_assert(!std::is_constructible_v<Stepper, Model&&>);
}

TEST(Run, RefusesRowsWithoutNumberAndKindsThatThereAreNot) {
  const Model model = Model::from_text(
      "format = 1\n[coordinates]\nx = { velocity = 1 }\n[energy]\nkinetic = \"x'^2/2\"\n[run]\nuntil = 1\n");
  RunOptions options;
  options.every = 1e-19;
  EXPECT_EQ(model.run(options).status().reason, Reason::unsupported);
  options.every.reset();
  options.samples = 10000000000;
  EXPECT_EQ(model.run(options).status().reason, Reason::unsupported);
  const judder::Run run = model.run();
  EXPECT_TRUE(run.times("impact").empty());
  EXPECT_THROW(static_cast<void>(run.times("impct")), std::out_of_range);
}

// What is asked of a model beyond runs (judder/tasks/) is asked of the same one: file, text or Spec, with its data files, variants and settings.
TEST(FrontModel, IsHandedToTheTasksAsItIs) {
  const Model ball = Model::from_text(kBall, {.set = {{"g", 9.5}}}).with({{"y", 2.5}});
  const Model block =
      Model::load(JUDDER_SOURCE_DIR "/gallery/elastic-block/model.toml");  // with matrices in files
  model::Spec spec;
  spec.coordinates.push_back({.name = "h", .start = 3});
  spec.energy.kinetic = "h'^2/2";
  spec.run.until = 1;
  const Model written = Model::from_spec(spec);
  for (const Model* model : {&ball, &block, &written}) {
    ASSERT_TRUE(model->ok()) << model->problems();
    const io::LoadedModel loaded = io::load_model(model->request());
    ASSERT_TRUE(loaded.ok());
    EXPECT_EQ(loaded.compiled.parameters, model->parameters());
    EXPECT_EQ(loaded.compiled.system->start(), model->system().start());
  }
  EXPECT_EQ(ball.spec().title.text, "Ball");
}

TEST(FrontRun, GivesTheTablesOfAFolder) {
  const Model model = Model::from_text(R"toml(
format = 1
[coordinates]
x = { velocity = 2 }
[energy]
kinetic = "x'^2/2"
[[friction]]
name = "floor"
slip = "x'"
normal = "10"
law = 0.5
[run]
until = 1
[output]
samples = 3
event_rows = false
columns = { status = "mode(floor)", twice = "2*x" }
)toml");
  ASSERT_TRUE(model.ok()) << model.problems();
  const judder::Run run = model.run();
  const io::RunData data = run.data();
  ASSERT_EQ(data.columns.size(), 5U);
  // It slides at 2 − 5 t until 0.4 s.
  EXPECT_EQ(data.columns[3].words, (std::vector<std::string>{"slip+", "stick", "stick"}));
  EXPECT_EQ(data.columns[4].numbers, run.column("twice"));
  EXPECT_TRUE(data.columns[4].words.empty());
  EXPECT_EQ(data.event_columns, (std::vector<std::string>{"x", "x'"}));
  ASSERT_EQ(data.events.size(), 1U);
  EXPECT_NEAR(data.events[0].time, 0.4, 1e-9);
  EXPECT_EQ(data.events[0].where, "floor");
  EXPECT_EQ(data.events[0].state, run.events()[0].state);
}

// theta's free fall with steps h: the velocity is exact, and the middle rule gives the way to rounding; with θ = 1 it is off by g h t/2, which tells the step.
TEST(FrontRun, TakesItsStep) {
  const Model ball = Model::from_text(std::string(kBall) + "[run.theta]\ntheta = 1\n", {.set = {{"e", 0}}});
  ASSERT_TRUE(ball.ok()) << ball.problems();
  for (const double step : {0.02, 0.01}) {
    const judder::Run run = ball.run({.until = 0.4, .step = step, .engine = "theta"});
    ASSERT_TRUE(run.ok()) << run.status().message;
    EXPECT_NEAR(run.last("y"), 1 - 10 * 0.4 * 0.4 / 2 - 10 * step * 0.4 / 2, 1e-12);
  }
}

}  // namespace
}  // namespace judder
