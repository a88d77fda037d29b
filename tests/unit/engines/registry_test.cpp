// Engines by name, what 'auto' stands for, and options that make no run.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "judder/engines/registry.hpp"
#include "run_model.hpp"

namespace judder::engines {
namespace {

TEST(Registry, EveryEngineRunsUnderItsName) {
  const TestModel model = mass_under("1");
  std::set<std::string> names;
  for (const EngineEntry& entry : all_engines()) {
    EXPECT_TRUE(names.insert(entry.words.name).second) << entry.words.name;
    EXPECT_EQ(find_engine(entry.words.name), &entry);
    EXPECT_EQ(simulate::engine_problem(model.system, entry.words.name), entry.unsupported(model.system));
    if (!entry.unsupported(model.system).empty()) continue;
    simulate::NullSink sink;
    const EngineResult result = entry.make(model.system)->run(model.options, sink);
    if (entry.words.name == "quasi-static") {  // without inertia nothing balances this force
      EXPECT_EQ(result.status.reason, Reason::inconsistent);
      continue;
    }
    EXPECT_EQ(result.status.reason, Reason::done) << entry.words.name;
    EXPECT_NEAR(result.end.y[0], 50, 1e-6) << entry.words.name;  // t²/2 at 10
  }
  EXPECT_EQ(find_engine("evnt"), nullptr);
  EXPECT_EQ(find_engine("auto"), nullptr) << "a word, not an engine";
}

TEST(Registry, AutoIsTheHighestRankThatTakesTheModel) {
  const TestModel linear = mass_under("-x");
  const TestModel cubic = mass_under("-x^3");
  EXPECT_EQ(best_engine(linear.system)->words.name, "exact");
  EXPECT_EQ(best_engine(cubic.system)->words.name, "event");
  EXPECT_EQ(simulate::engine_used(linear.system, "auto"), "exact");
  EXPECT_EQ(simulate::engine_used(cubic.system, "auto"), "event");
  EXPECT_EQ(simulate::engine_names().back(), "auto");
  EXPECT_EQ(simulate::engine_problem(linear.system, "evnt"),
            "there is no engine 'evnt'; there are: event, exact, moreau, theta, newmark, paoli-schatzman, "
            "rk4-zabuga, rk4, penalty, arctan, quasi-static, auto");
}

TEST(Options, ThatMakeNoRunAreAStatus) {
  TestModel model = mass_under("1");
  EXPECT_EQ(options_problem(model.options), "");
  const auto refused = [&](auto change) {
    EngineOptions options = model.options;
    change(options);
    simulate::NullSink sink;
    const EngineResult result = simulate::run(model.system, "event", options, sink);
    return result.status.reason == Reason::unsupported && result.status.message == options_problem(options) &&
           !result.status.message.empty();
  };
  for (const double tolerance : {-1.0, 0.0, 1e-15, 0.1, std::nan("")})
    EXPECT_TRUE(refused([&](EngineOptions& o) { o.tolerance = tolerance; })) << tolerance;
  EXPECT_TRUE(refused([](EngineOptions& o) { o.until = -1; }));
  EXPECT_TRUE(refused([](EngineOptions& o) { o.until = std::nan(""); }));
  EXPECT_TRUE(refused([](EngineOptions& o) { o.until = INFINITY; }));
  EXPECT_TRUE(refused([](EngineOptions& o) { o.from = std::nan(""); }));
  EXPECT_TRUE(refused([](EngineOptions& o) { o.until = 1e-300; }));
  EXPECT_TRUE(refused([](EngineOptions& o) { o.step = -1; }));
  EXPECT_TRUE(refused([](EngineOptions& o) { o.max_step = std::nan(""); }));
  EXPECT_TRUE(refused([](EngineOptions& o) { o.every = -1; }));
  EXPECT_TRUE(refused([](EngineOptions& o) { o.samples = 1; }));
  EXPECT_TRUE(refused([](EngineOptions& o) { o.max_events = 0; }));
  model.options.until = model.options.from;
  EXPECT_EQ(options_problem(model.options), "") << "a run of no length has its start";
}

}  // namespace
}  // namespace judder::engines
