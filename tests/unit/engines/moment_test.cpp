// Moments of other systems, damaged and made-up ones: refused with a status or taken up, never ignored, never a crash.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
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
    m.y[0] += 1;
  }));
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
