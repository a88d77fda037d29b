// Moments of other systems, damaged and made-up ones: refused with a status or taken up, never ignored, never a crash.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder::engines {
namespace {

/// A quarter of the run of a gallery model, and the moment it ends in.
struct Cut {
  explicit Cut(const std::string& name) : model(gallery_model(name)) {
    EngineOptions options = model.options;
    options.until = options.from + 0.25 * (model.options.until - options.from);
    simulate::NullSink sink;
    end = simulate::run(model.system, "event", options, sink).end;
    model.options.from = end.time;
    model.options.until = end.time + 0.05 * (model.options.until - end.time);
    model.options.max_events = 10000;
  }
  [[nodiscard]] EngineResult go_on(const Moment& moment, const std::string& engine = "event") const {
    simulate::NullSink sink;
    return simulate::run(model.system, engine, model.options, sink, &moment);
  }
  TestModel model;
  Moment end;
};

TEST(MomentCheck, TakesUpWhatARunGave) {
  const Cut press("press");
  EXPECT_EQ(moment_problem(press.model.system, press.end), "");
  EXPECT_EQ(press.go_on(press.end).status.reason, Reason::done);
}

TEST(MomentCheck, RefusesWhatIsOfAnotherSystem) {
  const Cut press("press");
  const Cut ball("bouncing-ball");
  const EngineResult result = press.go_on(ball.end);
  EXPECT_EQ(result.status.reason, Reason::unsupported);
  EXPECT_EQ(result.status.message, "the state does not have the sizes of this model");
  EXPECT_EQ(press.go_on(Moment{}).status.reason, Reason::unsupported) << "an empty one is not the start";
}

TEST(MomentCheck, RefusesWhatNoRunGives) {
  const Cut press("press");
  const auto refused = [&](auto change) {
    Moment moment = press.end;
    change(moment);
    return press.go_on(moment).status.reason == Reason::unsupported;
  };
  EXPECT_TRUE(refused([](Moment& m) { m.y.pop_back(); }));
  EXPECT_TRUE(refused([](Moment& m) { m.y[0] = std::nan(""); }));
  EXPECT_TRUE(refused([](Moment& m) { m.time = INFINITY; }));
  EXPECT_TRUE(refused([](Moment& m) { m.step = -1; }));
  EXPECT_TRUE(refused([](Moment& m) { m.mode.normal.clear(); }));
  EXPECT_TRUE(refused([](Moment& m) { m.mode.normal[0] = NormalStatus::held; }));
  EXPECT_TRUE(refused([](Moment& m) { m.scales.clear(); }));
  EXPECT_TRUE(refused([](Moment& m) { m.phase.time = m.time + 1; }));
  EXPECT_TRUE(refused([](Moment& m) {
    m.started = false;
    m.y[1] = -1;
  })) << "inside the plane";
}

const std::string kPendulum = R"toml(
[coordinates]
x = 1
y = { start = 0, velocity = 0.5 }
[state]
z = { start = 0, rate = "x - z" }
[energy]
kinetic   = "x'^2/2 + y'^2/2"
potential = "10*y"
[[force]]
along = "x'"
value = "z - 0.3*x'"
[[constraint]]
name = "rod"
zero = "hypot(x, y) - 1"
[[contact]]
name     = "wall"
gap      = "x + 0.6"
slip     = "y'"
friction = 0.2
impact   = 0.5
[run]
until = 2
)toml";

struct EndOf {
  EngineResult result;
  std::vector<double> y;
};
EndOf run_from(const TestModel& model, const Moment* from, const std::string& engine = "event") {
  EngineOptions options = model.options;
  if (from != nullptr) options.from = from->time;
  simulate::NullSink sink;
  EndOf out{simulate::run(model.system, engine, options, sink, from), {}};
  out.y = out.result.end.y;
  return out;
}

// A state given by numbers is the start of the model that has these numbers in its text: to the bit, by every engine that takes it.
TEST(MomentAt, IsTheStartOfTheModelThatStandsThere) {
  std::string moved = kPendulum;
  moved.replace(moved.find("x = 1"), 5, "x = 0.8");
  moved.replace(moved.find("start = 0, velocity = 0.5"), 25, "start = 0.6, velocity = 0");
  moved.replace(moved.find("start = 0, rate"), 15, "start = 2, rate");
  const TestModel model = text_model(kPendulum);
  const TestModel other = text_model(moved);
  const std::vector<double> q{0.8, 0.6}, v{0, 0}, z{2};
  const Moment start = Moment::at(model.system, 0, q, v, z);
  EXPECT_EQ(moment_problem(model.system, start), "");
  for (const char* engine : {"event", "moreau"}) {
    const EndOf one = run_from(model, &start, engine);
    const EndOf two = run_from(other, nullptr, engine);
    ASSERT_EQ(one.result.status.reason, Reason::done) << engine << ": " << one.result.status.message;
    EXPECT_EQ(one.y, two.y) << engine;
    EXPECT_EQ(one.result.events, two.result.events) << engine;
    EXPECT_GT(one.result.impacts, 0) << engine;
    EXPECT_NE(one.y, run_from(model, nullptr, engine).y) << engine;
  }
}

// Where rest is all that counts, the places decide in which of two valleys it is found: ±1 at first.
TEST(MomentAt, IsWhereAPathOfRestsBegins) {
  const std::string valleys = R"toml(
[coordinates]
x = 1
[energy]
kinetic   = "x'^2/2"
potential = "(x^2 - 1)^2 - 0.1*t*x"
[run]
until = 1
)toml";
  std::string left = valleys;
  left.replace(left.find("x = 1"), 5, "x = -1");
  const TestModel model = text_model(valleys);
  const std::vector<double> q{-1}, v{0};
  const Moment start = Moment::at(model.system, 0, q, v);
  const EndOf one = run_from(model, &start, "quasi-static");
  ASSERT_EQ(one.result.status.reason, Reason::done) << one.result.status.message;
  EXPECT_EQ(one.y, run_from(text_model(left), nullptr, "quasi-static").y);
  EXPECT_NEAR(4 * one.y[0] * (one.y[0] * one.y[0] - 1), 0.1, 1e-8);  // the balance at t = 1
  EXPECT_LT(one.y[0], -0.9);
}

// Taken from the middle of a run it goes on as the run does; steps begin anew, so the last digits differ.
TEST(MomentAt, GoesOnAsTheRunThatItIsTakenFrom) {
  const TestModel model = text_model(kPendulum);
  TestModel half = text_model(kPendulum);
  half.options.until = 0.5;
  const Moment middle = run_from(half, nullptr).result.end;
  const std::span<const double> y(middle.y);
  const Moment again = Moment::at(model.system, middle.time, y.first(2), y.subspan(2, 2), y.subspan(4));
  const EndOf whole = run_from(model, nullptr);
  const EndOf rest = run_from(model, &again);
  ASSERT_EQ(rest.result.status.reason, Reason::done) << rest.result.status.message;
  for (std::size_t i = 0; i < whole.y.size(); ++i) EXPECT_NEAR(rest.y[i], whole.y[i], 1e-7) << i;
}

TEST(MomentAt, RefusesWhereNoModelCouldStart) {
  const TestModel model = text_model(kPendulum);
  using List = std::vector<double>;
  const auto problem = [&](const List& q, const List& v, const List& z) {
    const Moment moment = Moment::at(model.system, 0, q, v, z);
    const EndOf end = run_from(model, &moment);
    EXPECT_EQ(end.result.status.reason, Reason::unsupported);
    return end.result.status.message;
  };
  const std::string head = "no run can begin at this state: ";
  EXPECT_EQ(problem({0.8, 0.5}, {0, 0}, {0}), head + "constraint 'rod': it is not satisfied");
  EXPECT_EQ(problem({0.8, 0.6}, {1, 0}, {0}), head + "constraint 'rod': the velocities do not satisfy it");
  EXPECT_EQ(problem({-0.8, 0.6}, {0, 0}, {0}), head + "contact 'wall': its gap is negative");
  EXPECT_EQ(problem({0.8}, {0, 0}, {0}), "the state does not have the sizes of this model");
  EXPECT_EQ(problem({0.8, 0.6, 0}, {0, 0}, {}), "the state does not have the sizes of this model")
      << "lists that make up for each other";
  EXPECT_EQ(problem({0.8, 0.6}, {0, 0}, {std::nan("")}), "the state holds numbers that are not finite: 'y'");
}

TEST(MomentAt, BeginsWhereItsTimeIs) {
  const TestModel model = text_model(kPendulum);
  const std::vector<double> q{1, 0}, v{0, 0.5}, z{0};
  const Moment moment = Moment::at(model.system, 0.25, q, v, z);
  simulate::NullSink sink;
  EXPECT_EQ(simulate::run(model.system, "event", model.options, sink, &moment).status.reason,
            Reason::unsupported);
  EXPECT_EQ(run_from(model, &moment).result.status.reason, Reason::done);
}

// Lists of the moment cut, lengthened or filled with what nobody expects. Whatever comes of it is a status.
TEST(MomentCheck, SurvivesDamage) {
  const std::vector<double> odd{0,      -0.0,         1,        -1,       0.5, 1e-320, 1e308,
                                -1e308, std::nan(""), INFINITY, -INFINITY};
  long refused = 0, taken = 0;
  for (const char* name : {"press", "belt", "two-feet"}) {
    const Cut cut(name);
    std::mt19937_64 random(7);
    const auto pick = [&random](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    for (int k = 0; k < 400; ++k) {
      Moment moment = cut.end;
      std::vector<std::vector<double>*> lists{&moment.y,
                                              &moment.dissipated,
                                              &moment.supplied,
                                              &moment.scales,
                                              &moment.history,
                                              &moment.mode.side,
                                              &moment.phase.y,
                                              &moment.phase.side,
                                              &moment.phase.guards,
                                              &moment.phase.rate,
                                              &moment.phase.noise,
                                              &moment.phase.stepper,
                                              &moment.phase.tail,
                                              &moment.phase.intervals,
                                              &moment.phase.switchings,
                                              &moment.phase.timetable,
                                              &moment.phase.watch_sides,
                                              &moment.phase.listed_sides};
      std::vector<double>& list = *lists[pick(lists.size())];
      switch (pick(4)) {
        case 0:
          list.clear();
          break;
        case 1:
          list.push_back(odd[pick(odd.size())]);
          break;
        case 2:
          for (double& value : list) value = odd[pick(odd.size())];
          break;
        default:
          if (!list.empty()) list[pick(list.size())] = odd[pick(odd.size())];
      }
      if (pick(8) == 0) moment.phase.time = odd[pick(odd.size())];
      const EngineResult result = cut.go_on(moment);
      (result.status.reason == Reason::unsupported ? refused : taken) += 1;
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(taken, 100);
}

}  // namespace
}  // namespace judder::engines
