// Models that break down while they run: the run ends where it happens, says why and where, and what came before is there.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <ctime>
#include <string>

#include "run_model.hpp"

namespace judder {
namespace {

constexpr const char* kMass = R"toml(
[coordinates]
x = 1
y = 2
[energy]
kinetic = "x'^2/2 + y'^2/2 + t*x'*y'"
[run]
until = 3
)toml";

TEST(EngineFailures, AMassThatVanishesEndsTheRunThere) {
  const TestModel model = text_model(kMass);
  const simulate::Result result = run(model);
  EXPECT_EQ(result.end.status.reason, Reason::singular_mass) << result.end.status.message;
  EXPECT_NEAR(result.end.status.time, 1, 1e-12) << "the matrix [1 t; t 1]";
  EXPECT_LE(result.end.end.time, 1);
  EXPECT_FALSE(result.end.status.message.empty());
  EXPECT_GT(result.data.rows(), 300u) << "rows before the failure are there";
  EXPECT_LE(result.data.cell(result.data.rows() - 1, 0), 1);
}

TEST(EngineFailures, AnExpressionWithoutAValueEndsTheRunThere) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { start = 1, velocity = -1 }
[energy]
kinetic = "x'^2/2"
[[force]]
name  = "root"
along = "x'"
value = "1e-9*sqrt(x)"
[run]
until = 3
)toml");
  const simulate::Result result = run(model);
  EXPECT_EQ(result.end.status.reason, Reason::not_finite) << result.end.status.message;
  EXPECT_NEAR(result.end.status.time, 1, 1e-6) << "x = 1 − t, nearly";
  EXPECT_GT(result.data.rows(), 300u);
  EXPECT_NEAR(last(result, "x"), 0, 0.01);
}

/// Contacts without number, all closed at the start.
std::string closed_contacts(int coordinates, int contacts) {
  const std::string n = std::to_string(coordinates);
  return "[coordinates]\nx = { each = \"i = 1 to " + n + "\" }\n[energy]\nkinetic = \"sum(i = 1 to " + n +
         ", x[i]'^2)\"\n[[contact]]\nname = \"c\"\neach = \"i = 1 to " + n + ", j = 1 to " +
         std::to_string(contacts) +
         "\"\ngap = \"x[i]\"\nslip = \"x[j]'\"\nfriction = 0.3\n[run]\nuntil = 1\n";
}

TEST(EngineFailures, MoreRowsThanCanBeDecidedAreRefused) {
  const simulate::Result result = run(text_model(closed_contacts(20, 18)));
  EXPECT_EQ(result.end.status.reason, Reason::unsupported);
  EXPECT_EQ(result.end.status.where, "contact 'c[1,1]'");
  EXPECT_NE(result.end.status.message.find("at most 700"), std::string::npos) << result.end.status.message;
  EXPECT_NE(result.end.status.message.find("720"), std::string::npos) << result.end.status.message;
}

// The decision at the start takes long, and there is no state before it: nothing of it is left.
TEST(EngineFailures, ADecisionIsLeftWhenNobodyWaitsForIt) {
  const TestModel model = text_model(closed_contacts(18, 18));
  engines::EngineOptions options = model.options;
  std::atomic<bool> stop{true};
  options.abandon = &stop;
  simulate::MemorySink sink(model.system);
  const engines::EngineResult result = simulate::run(model.system, "event", options, sink);
  EXPECT_EQ(result.status.reason, Reason::interrupted) << result.status.message;
  EXPECT_FALSE(result.whole);
  EXPECT_FALSE(result.end.started);
}

std::string chain(int bodies) {
  const std::string n = std::to_string(bodies);
  return "[coordinates]\nx = { each = \"i = 1 to " + n +
         "\", start = \"sin(i)\" }\n[energy]\nkinetic = \"sum(i = 1 to " + n +
         ", x[i]'^2/2)\"\npotential = \"sum(i = 1 to " + n + " - 1, (x[i+1] - x[i])^2*(1 + i/" + n +
         "))\"\n[run]\nuntil = 10\n";
}

// The exponentials of two hundred states take seconds.
TEST(EngineFailures, AClosedFormIsLeftWhenNobodyWaitsForIt) {
  const TestModel model = text_model(chain(100));
  engines::EngineOptions options = model.options;
  std::atomic<bool> stop{true};
  options.abandon = &stop;
  simulate::MemorySink sink(model.system);
  const std::clock_t begin = std::clock();  // of the process: a busy machine is no fault of the engine
  const engines::EngineResult result = simulate::run(model.system, "exact", options, sink);
  EXPECT_EQ(result.status.reason, Reason::interrupted) << result.status.message;
  EXPECT_FALSE(result.whole);
  EXPECT_LT(std::clock() - begin, 20 * CLOCKS_PER_SEC);
}

// A form of N states takes 2.2 kB N²: positions, velocities, and the constant load make 349 of them with 174 bodies, and 351 with 175.
TEST(EngineFailures, ModelsTooLargeForClosedFormsAreLeftToTheOtherEngine) {
  EXPECT_EQ(simulate::engine_problem(text_model(chain(174)).system, "exact"), "");
  const TestModel large = text_model(chain(175));
  const std::string problem = simulate::engine_problem(large.system, "exact");
  EXPECT_NE(problem.find("more than 349"), std::string::npos) << problem;
  EXPECT_EQ(simulate::engine_used(large.system, "auto"), "event");
  // Loads are states, too: each frequency has a sine and a cosine.
  const auto loaded = [](int frequencies) {
    return text_model(
        "[coordinates]\nx = 1\n[energy]\nkinetic = \"x'^2\"\n[[force]]\nalong = \"x'\"\nvalue = \"sum(i = 1 "
        "to " +
        std::to_string(frequencies) + ", sin(i*t))\"\n[run]\nuntil = 1\n");
  };
  EXPECT_EQ(simulate::engine_problem(loaded(150).system, "exact"), "");
  EXPECT_NE(simulate::engine_problem(loaded(300).system, "exact").find("more than 349"), std::string::npos);
  EXPECT_EQ(simulate::engine_used(loaded(300).system, "auto"), "event");
}

// Free flight is a polynomial, and keeps no matrices: many balls are no burden, and strike when the other engine lets them.
TEST(EngineFailures, ManyFreeBallsHaveAClosedForm) {
  const TestModel balls = text_model(
      "[parameters]\nn = 180\n[coordinates]\nx = { each = \"i = 1 to n\", start = \"i + 0.3*sin(7*i)\", "
      "velocity "
      "= \"sin(i^2)\" }\n[energy]\nkinetic = \"sum(i = 1 to n, (1 + mod(i, "
      "3))*x[i]'^2)/2\"\n[[contact]]\nname "
      "= \"pair\"\neach = \"i = 1 to n - 1\"\ngap = \"x[i+1] - x[i]\"\nimpact = 1\n[run]\nuntil = 2\n");
  ASSERT_EQ(simulate::engine_problem(balls.system, "exact"), "");
  const simulate::Result exact = simulate::simulate(balls.system, balls.options, "exact");
  const simulate::Result steps = simulate::simulate(balls.system, balls.options, "event");
  ASSERT_TRUE(exact.end.status.ok()) << exact.end.status.message;
  ASSERT_TRUE(steps.end.status.ok()) << steps.end.status.message;
  ASSERT_GT(exact.data.events.size(), 50U);
  ASSERT_EQ(exact.data.events.size(), steps.data.events.size());
  for (std::size_t i = 0; i < exact.data.events.size(); ++i) {
    EXPECT_EQ(exact.data.events[i].place, steps.data.events[i].place) << i;
    EXPECT_NEAR(exact.data.events[i].time, steps.data.events[i].time, 1e-11) << i;
  }
}

// A thousand joints in a ring at rest share their forces in more ways than can be listed; what cannot be listed is not begun.
TEST(EngineFailures, ReactionsOfManyJointsAreSharedWithinBounds) {
  const TestModel model = text_model(
      "[coordinates]\nx = { each = \"i = 1 to 600\" }\n[energy]\nkinetic = \"sum(i = 1 to 600, "
      "x[i]'^2)\"\n[[friction]]\nname = \"j\"\n"
      "each = \"i = 1 to 600\"\nslip = \"x[i]' - x[mod(i, 600) + 1]'\"\nnormal = 1\nlaw = { mu = 0.3 "
      "}\n[run]\nuntil = 0.01\n");
  engines::EngineOptions options = model.options;
  std::atomic<bool> stop{true};
  options.abandon = &stop;
  simulate::MemorySink sink(model.system);
  const std::clock_t begin = std::clock();  // of the process: a busy machine is no fault of the engine
  const engines::EngineResult result = simulate::run(model.system, "event", options, sink);
  EXPECT_EQ(result.status.reason, Reason::interrupted) << result.status.message;
  EXPECT_LT(std::clock() - begin, 20 * CLOCKS_PER_SEC);
}

// Who does not wait has what he asked for if it comes within a moment: an ordinary run is not left inside an instant, and is the same run.
TEST(EngineFailures, AnOrdinaryRunHearsOfItBetweenSteps) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 1
[energy]
kinetic = "x'^2/2"
potential = "9.81*x"
[[contact]]
name = "floor"
gap = "x"
impact = { restitution = 0.5 }
[run]
until = 0.5
)toml");
  const simulate::Result plain = run(model);
  engines::EngineOptions options = model.options;
  std::atomic<bool> stop{true};
  options.abandon = &stop;
  simulate::MemorySink sink(model.system);
  const engines::EngineResult result = simulate::run(model.system, "event", options, sink);
  EXPECT_TRUE(result.whole);
  EXPECT_EQ(result.status.reason, Reason::done) << "only `cancel` ends it between steps";
  EXPECT_EQ(sink.cells, plain.data.cells);
}

// A pole that the motion runs into: the step cannot be made small enough.
TEST(EngineFailures, APoleEndsTheRun) {
  const TestModel model = text_model(R"toml(
[state]
x = { start = 1, rate = "x^2" }
[run]
until = 3
)toml");
  const simulate::Result result = run(model);
  EXPECT_TRUE(result.end.status.reason == Reason::not_finite ||
              result.end.status.reason == Reason::step_too_small)
      << result.end.status.message;
  EXPECT_NEAR(result.end.status.time, 1, 1e-9) << "x = 1/(1 − t)";
}

TEST(EngineFailures, ANegativeNormalForceNamesItsJoint) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 5 }
[energy]
kinetic = "x'^2/2"
[[friction]]
name   = "pad"
slip   = "x'"
normal = "0.75 - t"
law    = 0.5
[run]
until = 3
)toml");
  const simulate::Result result = run(model);
  EXPECT_EQ(result.end.status.reason, Reason::negative_normal);
  EXPECT_NEAR(result.end.status.time, 0.75, 1e-12);
  EXPECT_NE(result.end.status.where.find("pad"), std::string::npos) << result.end.status.where;
  EXPECT_GT(result.data.rows(), 200u);
}

// --- numbers of laws that leave their range ---

/// A block that is pulled over a joint with this law.
TestModel pulled_over(const std::string& law) {
  return text_model(R"toml(
[coordinates]
x = { velocity = 5 }
[state]
wear = { start = 0, rate = "1" }
[energy]
kinetic = "x'^2/2"
[[friction]]
name   = "pad"
slip   = "x'"
normal = "1"
law    = )toml" + law +
                    "\n[run]\nuntil = 3\n");
}

TEST(EngineFailures, ACoefficientThatBecomesNegativeIsNamed) {
  struct Case {
    const char* law;
    const char* says;
    double time;
  };
  for (const Case& c :
       {Case{"\"0.3 - 0.2*t\"", "'mu'", 1.5}, Case{"\"0.3 - 0.2*wear\"", "'mu'", 1.5},
        Case{"{ static = 0.5, dynamic = \"cos(t)/2\" }", "'dynamic'", std::acos(0.0)},
        Case{"{ mu = 0.2, viscous = \"0.5 - t^2\" }", "'viscous'", std::sqrt(0.5)},
        Case{"\"(t - 1)^2 - 1e-4\"", "'mu'", 0.99},
        Case{"{ type = \"lugre\", mu = \"0.2\", stiffness = 10, damping = \"1.25 - t\" }", "'damping'", 1.25},
        Case{"{ type = \"arctan\", mu = \"1.25 - t\", beta = 10 }", "'mu'", 1.25}}) {
    const TestModel model = pulled_over(c.law);
    const simulate::Result result = run(model);
    EXPECT_EQ(result.end.status.reason, Reason::inconsistent) << c.law;
    EXPECT_NEAR(result.end.status.time, c.time, 1e-9) << c.law;
    EXPECT_NE(result.end.status.where.find("pad"), std::string::npos) << result.end.status.where;
    EXPECT_NE(result.end.status.message.find(c.says), std::string::npos) << result.end.status.message;
    EXPECT_NE(result.end.status.message.find("negative"), std::string::npos) << result.end.status.message;
    EXPECT_NEAR(result.data.cell(result.data.rows() - 1, 0), c.time, 0.01)
        << c.law << ": the rows reach up to there";
  }
}

// What only touches zero is no fault, nor what a contact has while it is open.
TEST(EngineFailures, ACoefficientThatStaysPositiveEndsNothing) {
  for (const char* law :
       {"\"(t - 1)^2\"", "\"1 - sin(3*t)\"", "\"max(0, 0.3 - 0.2*t)\"", "\"0.3*exp(-speed)\""})
    EXPECT_EQ(run(pulled_over(law)).end.status.reason, Reason::done) << law;
  const TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 1 }
y = { start = 0, velocity = 2 }
[energy]
kinetic = "x'^2/2 + y'^2/2"
potential = "y"
[[contact]]
name = "floor"
gap = "y"
slip = "x'"
friction = "0.3 - y"
impact = 0.5
[run]
until = 10
)toml");
  EXPECT_EQ(run(model).end.status.reason, Reason::done) << "at y = 0 the coefficient is 0.3";
}

TEST(EngineFailures, ARestitutionAboveOneIsNamed) {
  for (const char* engine : {"event", "exact"}) {
    for (const char* e : {"0.4*t", "0.5 - 0.2*t", "0.5*speed", "0.7*sqrt(2 - t)"}) {
      const TestModel model = text_model(std::string(R"toml(
[coordinates]
y = { start = 4.5 }
[energy]
kinetic = "y'^2/2"
potential = "y"
[[contact]]
name = "floor"
gap = "y"
impact = ")toml") + e + "\"\n[run]\nuntil = 10\n");
      const simulate::Result result = simulate::simulate(model.system, model.options, engine);
      EXPECT_EQ(result.end.status.reason, Reason::impact_failed) << engine << e;
      EXPECT_NEAR(result.end.status.time, 3, 1e-9) << engine << e;
      EXPECT_NE(result.end.status.message.find("restitution"), std::string::npos)
          << result.end.status.message;
      EXPECT_NE(result.end.status.where.find("floor"), std::string::npos);
    }
  }
}

// --- energies that jump over a place ---

/// A unit mass that comes from −1 with 2 to a potential with a step or a kink.
TestModel over(const std::string& potential) {
  return text_model(
      "[coordinates]\nx = { start = -1, velocity = 2 }\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"" +
      potential + "\"\n[run]\nuntil = 3\n");
}

TEST(EngineFailures, APotentialThatJumpsEndsTheRunAtTheStep) {
  for (const char* engine : {"event", "exact"}) {
    for (const char* potential :
         {"if(x < 0, 0, 0.5)", "0.5*step(x)", "0.25*sign(x)", "if(x < 0, x, 1 + 2*x)", "floor(x)/10"}) {
      const TestModel model = over(potential);
      const simulate::Result result = simulate::simulate(model.system, model.options, engine);
      EXPECT_EQ(result.end.status.reason, Reason::discontinuous) << engine << potential;
      EXPECT_NEAR(result.end.status.time,
                  potential[0] == 'i' && potential[10] == 'x' ? 2 - std::sqrt(2.0) : 0.5, 1e-9)
          << engine << potential;
      EXPECT_NE(result.end.status.message.find("potential"), std::string::npos) << result.end.status.message;
      EXPECT_NE(result.end.status.where.find("energy.potential"), std::string::npos)
          << result.end.status.where;
    }
  }
  // mod(x, 1)/10 jumps back by 0.1 where its slope has stood.
  EXPECT_EQ(run(over("mod(x, 1)/10")).end.status.reason, Reason::discontinuous);
}

TEST(EngineFailures, APotentialWithKinksEndsNothing) {
  for (const char* potential : {"abs(x)", "max(x, 0)^2", "min(x, 0.3)", "if(x < 0, x, 2*x)",
                                "if(x < 0.5, x^2, x - 0.25)", "abs(mod(x, 1) - 0.5)", "if(t < 1, 1, 2)*x^2",
                                "1e6 + max(x, 0)", "floor(t)*x", "if(x > -0.3, 1e3*(x + 0.3)^2, 0)"})
    EXPECT_EQ(run(over(potential)).end.status.reason, Reason::done) << potential;
}

TEST(EngineFailures, TheLimitOfEventsIsKept) {
  TestModel model = gallery_model("bouncing-ball", {"perfect"});
  model.options.until = 1000;
  model.options.max_events = 57;
  const simulate::Result result = run(model);
  EXPECT_EQ(result.end.status.reason, Reason::too_many_events);
  EXPECT_FALSE(result.end.status.ok());
  EXPECT_EQ(result.data.events.size(), 58u) << "the one too many is listed";
  const double flight = 2 * std::sqrt(2 / 9.81);
  EXPECT_NEAR(result.end.status.time, flight * 57.5, 1e-9);
  EXPECT_NE(result.end.status.message.find("57"), std::string::npos) << result.end.status.message;
}

TEST(EngineFailures, ASlippingRodThatJamsIsNamed) {
  const TestModel model = gallery_model("painleve-rod");
  const simulate::Result result = run(model);
  EXPECT_TRUE(result.end.status.reason == Reason::inconsistent ||
              result.end.status.reason == Reason::indeterminate)
      << result.end.status.message;
  EXPECT_NE(result.end.status.where.find("contact"), std::string::npos) << result.end.status.where;
}

TEST(EngineFailures, TwoSidesThatPushApartAreNotUnique) {
  const TestModel model = text_model(R"toml(
[state]
x = { start = 0, rate = "sign(x)" }
[run]
until = 1
)toml");
  const simulate::Result result = run(model);
  EXPECT_EQ(result.end.status.reason, Reason::indeterminate) << result.end.status.message;
  EXPECT_EQ(result.end.status.time, 0);
  EXPECT_NE(result.end.status.where.find("x"), std::string::npos);
}

TEST(EngineFailures, ACancelledRunKeepsWhatItHas) {
  TestModel model = gallery_model("press");
  class Canceller : public simulate::MemorySink {
   public:
    Canceller(const model::System& system, std::atomic<bool>& flag) : MemorySink(system), flag_(flag) {}
    void progress(double time) override {
      if (time > 0.5) flag_ = true;
    }

   private:
    std::atomic<bool>& flag_;
  };
  std::atomic<bool> flag{false};
  model.options.cancel = &flag;
  Canceller sink(model.system, flag);
  const engines::EngineResult result = simulate::run(model.system, "event", model.options, sink);
  EXPECT_EQ(result.status.reason, Reason::interrupted);
  EXPECT_GT(result.end.time, 0.5);
  EXPECT_LT(result.end.time, 0.6);
  EXPECT_GT(sink.rows(), 400u);
  EXPECT_LE(sink.cell(sink.rows() - 1, 0), result.end.time);
}

// Moving bodies, whose mass matrix fails only after some steps of error control.
TEST(EngineFailures, AMassThatVanishesUnderMotionIsNamedToo) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 1 }
y = { velocity = 1 }
[energy]
kinetic = "x'^2/2 + y'^2/2 + t*x'*y'"
[run]
until = 3
)toml");
  const simulate::Result result = run(model);
  EXPECT_EQ(result.end.status.reason, Reason::singular_mass) << result.end.status.message;
  EXPECT_NEAR(result.end.status.time, 1, 1e-9);
}

// docs/theory.md, "What ends a mode": branches of a gap must meet while the contact is closed.
TEST(EngineFailures, AGapThatJumpsWhileItIsClosedIsNamed) {
  const auto ends = [](const char* step) {
    const TestModel model = text_model(std::string(R"toml(
[coordinates]
x = { velocity = 1 }
y = 0
[energy]
kinetic   = "x'^2/2 + y'^2/2"
potential = "9.81*y"
[[contact]]
name = "step"
gap  = "y + if(x < 0.5, 0, )toml") + step +
                                       R"toml()"
[run]
until = 1
)toml");
    return run(model).end.status;
  };
  const Status jump = ends("0.1");
  EXPECT_EQ(jump.reason, Reason::discontinuous) << jump.message;
  EXPECT_NEAR(jump.time, 0.5, 1e-9);
  EXPECT_NE(jump.where.find("step"), std::string::npos) << jump.where;
  EXPECT_TRUE(ends("x - 0.5").ok()) << "branches that meet";
}

TEST(EngineFailures, ARunOfNoLengthIsARow) {
  TestModel model = gallery_model("press");
  model.options.until = model.options.from;
  const simulate::Result result = run(model);
  EXPECT_TRUE(result.end.status.ok());
  EXPECT_TRUE(result.data.events.empty());
  EXPECT_GE(result.data.rows(), 1u);
}

TEST(EngineFailures, SpatialFrictionIsRefusedBeforeTheRun) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = 0
z = 0
[energy]
kinetic   = "1/2*(x'^2 + y'^2 + z'^2)"
potential = "9.81*z"
[[contact]]
name     = "floor"
gap      = "z"
slip     = ["x'", "y'"]
friction = 0.5
[run]
until = 1
)toml");
  const std::string problem = engines::EventEngine::unsupported(model.system);
  EXPECT_NE(problem.find("floor"), std::string::npos) << problem;
}

}  // namespace
}  // namespace judder
