// Nothing is allocated inside a step, and nothing at an event of a kind that has been seen before; so memory does not grow with time.
#include <gtest/gtest.h>

#include <string>

#include "allocations.hpp"
#include "judder/engines/quasi_static.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

/// Keeps nothing, and counts what was allocated between two of its calls.
class CountingSink : public engines::Sink {
 public:
  void row(engines::RowKind, const engines::Mode&, model::Workspace&) override { first(); }
  void event(const engines::Event&, std::span<const double> /*state*/) override {
    first();
    event_ = true;
  }
  void progress(double) override {
    first();
    (event_ ? in_events : in_steps) += allocations() - last_;
    last_ = allocations();
    event_ = false;
    ++steps;
  }

  long in_steps = 0;   ///< allocations in steps without events, from the first row on
  long in_events = 0;  ///< and in those that end with events
  long steps = 0;

 private:
  void first() {
    if (!begun_) last_ = allocations();
    begun_ = true;
  }
  bool begun_ = false;
  bool event_ = false;
  long last_ = 0;
};

/// Runs twice; the second time everything is warm, and nothing that was left behind changes a bit of the result.
template <class Engine = engines::EventEngine>
void expect_no_allocation(const std::string& name, const TestModel& model) {
  Engine engine(model.system);
  simulate::NullSink warm;
  const engines::EngineResult first = engine.run(model.options, warm);
  ASSERT_TRUE(first.status.ok()) << name << ": " << first.status.message;
  CountingSink sink;
  const engines::EngineResult second = engine.run(model.options, sink);
  EXPECT_EQ(second.events, first.events) << name;
  EXPECT_EQ(second.end.y, first.end.y) << name;
  EXPECT_GT(sink.steps, 2) << name;
  EXPECT_EQ(sink.in_steps, 0) << name << " in " << second.steps << " steps";
  EXPECT_EQ(sink.in_events, 0) << name << " at " << second.events << " events";
}

// Events of a quasi-static path are decided by all combinations of statuses, and may take memory for them; its steps do not.
TEST(EngineMemory, QuasiStaticStepsAllocateNothing) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { massless = true }
y = { massless = true }
[energy]
potential = "x^2 + x^4/4 + y^2/2 + 0.3*x*y - y"
[[force]]
along = "x'"
value = "sin(3*t)"
[[contact]]
name = "wall"
gap = "-y"
slip = "x'"
friction = 0.3
[run]
until = 5
engine = "quasi-static"
[output]
samples = 101
columns = { N = "normal(wall)", W = "dissipated(wall)" }
)toml");
  engines::QuasiStaticEngine engine(model.system);
  simulate::NullSink warm;
  ASSERT_TRUE(engine.run(model.options, warm).status.ok());
  CountingSink sink;
  const engines::EngineResult result = engine.run(model.options, sink);
  ASSERT_TRUE(result.status.ok()) << result.status.message;
  EXPECT_GT(result.events, 3);
  EXPECT_GT(sink.steps, 20);
  EXPECT_EQ(sink.in_steps, 0) << "in " << result.steps << " steps";
}

TEST(EngineMemory, StepsAndEventsAllocateNothing) {
  for (const char* name :
       {"press", "sdnd106", "zabuga-oscillator", "incline", "order-test", "two-feet", "bouncing-ball", "belt",
        "rocking-block", "dieci-lopez", "stewart-blocks", "klarbring", "newton-cradle"}) {
    expect_no_allocation(name, gallery_model(name));
  }
}

// Patterns of impacts in several blocks, and decisions block by block, of more contacts and joints than a word has bits.
TEST(EngineMemory, ManyContactsAndJointsAllocateNothing) {
  TestModel balls = text_model(R"toml(
[coordinates]
x = { each = "i = 1 to 70", start = "if(i == 1, 1, if(i == 65, 1.07, 1000 + i))" }
[energy]
kinetic = "sum(i = 1 to 70, x[i]'^2/2)"
potential = "sum(i = 1 to 70, 9.81*x[i])"
[[contact]]
name = "floor"
each = "i = 1 to 70"
gap = "x[i]"
impact = 0.5
[run]
until = 2
[output]
samples = 3
)toml");
  expect_no_allocation("balls", balls);
  TestModel chain = text_model(R"toml(
[coordinates]
x = { each = "i = 1 to 12", start = "i" }
[energy]
kinetic = "sum(i = 1 to 12, x[i]'^2/2)"
potential = "sum(i = 1 to 11, 5*(x[i+1] - x[i] - 1)^2)"
[[force]]
along = "x[1]'"
value = "3*sin(2*t)"
[[friction]]
name = "f"
each = "i = 1 to 11"
slip = "x[i+1]' - x[i]'"
normal = "1 + i/8"
law = 0.3
[run]
until = 3
[output]
samples = 3
)toml");
  expect_no_allocation("chain", chain);
}

TEST(EngineMemory, StepsOfTheStiffMethodAllocateNothing) {
  TestModel model = gallery_model("zabuga-oscillator");
  model.options.integrator = engines::Integrator::stiff;
  expect_no_allocation("zabuga-oscillator, stiff", model);
}

TEST(EngineMemory, PhasesOfTheExactEngineAllocateNothing) {
  for (const char* name : {"press", "sdnd106", "zabuga-oscillator", "bouncing-ball", "impact-oscillator",
                           "klarbring", "two-stops"}) {
    const TestModel model = gallery_model(name);
    ASSERT_EQ(engines::ExactEngine::unsupported(model.system), "") << name;
    expect_no_allocation<engines::ExactEngine>(name, model);
  }
}

// Closed forms are kept by mode, not by time: a run of a hundred impacts takes as many allocations as one of eight hundred.
TEST(EngineMemory, OfTheExactEngineDoesNotGrowWithTime) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic   = "x'^2/2"
potential = "x^2/2"
[[force]]
along = "x'"
value = "cos(2.8*t)"
[[contact]]
name   = "stop"
gap    = "x + 0.05"
impact = { restitution = 0.8 }
[run]
until = 2000
)toml");
  model.options.samples = 2;
  engines::ExactEngine engine(model.system);
  simulate::NullSink sink;
  const engines::EngineResult first = engine.run(model.options, sink);
  ASSERT_TRUE(first.status.ok()) << first.status.message;
  ASSERT_GT(first.impacts, 400);
  const auto allocated = [&](double until) {
    model.options.until = until;
    const long before = allocations();
    const engines::EngineResult result = engine.run(model.options, sink);
    EXPECT_TRUE(result.status.ok()) << result.status.message;
    return allocations() - before;
  };
  const long brief = allocated(250);
  EXPECT_EQ(allocated(2000), brief);
}

// The count is alive: it sees what a vector takes.
TEST(EngineMemory, TheCounterCounts) {
  const long before = allocations();
  std::vector<double> some(1000);
  EXPECT_EQ(allocations(), before + 1);
  EXPECT_EQ(some.size(), 1000u);
}

}  // namespace
}  // namespace judder
