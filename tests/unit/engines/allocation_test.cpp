// Nothing is allocated inside a step, and nothing at an event of a kind that has been seen before.
#include <gtest/gtest.h>

#include <string>

#include "allocations.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

/// Keeps nothing, and counts what was allocated between two of its calls.
class CountingSink : public engines::Sink {
 public:
  void row(engines::RowKind, const engines::Mode&, model::Workspace&) override { first(); }
  void event(const engines::Event&) override {
    first();
    event_ = true;
  }
  void progress(double) override {
    first();
    (event_ ? in_events : in_steps) += allocations - last_;
    last_ = allocations;
    event_ = false;
    ++steps;
  }

  long in_steps = 0;   ///< allocations in steps without events, from the first row on
  long in_events = 0;  ///< and in those that end with events
  long steps = 0;

 private:
  void first() {
    if (!begun_) last_ = allocations;
    begun_ = true;
  }
  bool begun_ = false;
  bool event_ = false;
  long last_ = 0;
};

/// Runs twice; the second time everything is warm.
void expect_no_allocation(const std::string& name, const TestModel& model) {
  engines::EventEngine engine(model.system);
  simulate::NullSink warm;
  const engines::EngineResult first = engine.run(model.options, warm);
  ASSERT_TRUE(first.status.ok()) << name << ": " << first.status.message;
  CountingSink sink;
  const engines::EngineResult second = engine.run(model.options, sink);
  EXPECT_GT(sink.steps, 2) << name;
  EXPECT_EQ(sink.in_steps, 0) << name << " in " << second.steps << " steps";
  EXPECT_EQ(sink.in_events, 0) << name << " at " << second.events << " events";
}

TEST(EngineMemory, StepsAndEventsAllocateNothing) {
  for (const char* name :
       {"press", "sdnd106", "zabuga-oscillator", "incline", "order-test", "two-feet", "bouncing-ball", "belt",
        "rocking-block", "dieci-lopez", "stewart-blocks", "klarbring", "newton-cradle"}) {
    expect_no_allocation(name, gallery_model(name));
  }
}

TEST(EngineMemory, StepsOfTheStiffMethodAllocateNothing) {
  TestModel model = gallery_model("zabuga-oscillator");
  model.options.integrator = engines::Integrator::stiff;
  expect_no_allocation("zabuga-oscillator, stiff", model);
}

// The count is alive: it sees what a vector takes.
TEST(EngineMemory, TheCounterCounts) {
  const long before = allocations;
  std::vector<double> some(1000);
  EXPECT_EQ(allocations, before + 1);
  EXPECT_EQ(some.size(), 1000u);
}

}  // namespace
}  // namespace judder
