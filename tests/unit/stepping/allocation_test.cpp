// Nothing is allocated inside a step with fixed length, whatever the scheme, events included.
#include <gtest/gtest.h>

#include "allocations.hpp"
#include "judder/engines/registry.hpp"
#include "step_support.hpp"

namespace judder {
namespace {

/// Counts what is allocated between two ends of steps.
class CountingSink : public engines::Sink {
 public:
  void row(engines::RowKind, const engines::Mode&, model::Workspace&) override {}
  void event(const engines::Event&, std::span<const double>) override {}
  void progress(double) override {
    if (steps++ > 0) inside += allocations() - last_;
    last_ = allocations();
  }
  long inside = 0, steps = 0;

 private:
  long last_ = 0;
};

TEST(SteppingMemory, StepsAllocateNothing) {
  for (const char* engine :
       {"moreau", "theta", "newmark", "paoli-schatzman", "rk4-zabuga", "rk4", "penalty", "arctan"}) {
    for (const char* name :
         {"klarbring", "two-feet", "sdnd106", "pivot-pendulum", "stewart-blocks", "woodpecker"}) {
      TestModel model = gallery_model(name);
      if (!simulate::engine_problem(model.system, engine).empty()) continue;
      engines::EngineOptions options = model.options;
      options.until = std::min(options.until, 1.0);
      options.step = options.until / 2000;
      options.referee = false;
      const auto made = engines::find_engine(engine)->make(model.system);
      simulate::NullSink warm;
      static_cast<void>(made->run(options, warm));
      CountingSink sink;
      const engines::EngineResult result = made->run(options, sink);
      EXPECT_GT(sink.steps, 100) << engine << ' ' << name << ' ' << result.status.message;
      EXPECT_EQ(sink.inside, 0) << engine << ' ' << name;
    }
  }
}

}  // namespace
}  // namespace judder
