// Bodies that rows hold: at rest while loads grow from zero, on belts that start, between impacts that stop them, and with reactions that are not unique. What is held does not
// move by rounding, however small everything else is. The right values are closed forms unless something else is said.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

const std::vector<std::string> kBoth{"event", "exact"};
const std::vector<double> kTolerances{1e-6, 1e-9, 1e-11};

/// The state at the end, which must be reached without a finding and without many steps.
std::vector<double> end_of(const TestModel& model, const std::string& engine, double tolerance) {
  engines::EngineOptions options = model.options;
  options.tolerance = tolerance;
  simulate::MemorySink sink(model.system);
  const engines::EngineResult result = simulate::run(model.system, engine, options, sink);
  EXPECT_TRUE(result.status.ok()) << engine << " " << tolerance << ": " << result.status.where << ": "
                                  << result.status.message;
  EXPECT_LT(result.steps, 3000) << engine << " " << tolerance;
  return {result.end.y.begin(), result.end.y.begin() + model.system.layout().integrated()};
}

void expect_end(const TestModel& model, const std::vector<std::string>& engines,
                const std::vector<double>& right, double error = 0) {
  for (const std::string& engine : engines) {
    for (const double tolerance : kTolerances) {
      const std::vector<double> y = end_of(model, engine, tolerance);
      ASSERT_LE(right.size(), y.size());
      for (std::size_t i = 0; i < right.size(); ++i)
        EXPECT_NEAR(y[i], right[i], std::max(error, 100 * tolerance))
            << engine << " " << tolerance << " " << i;
    }
  }
}

/// Blocks on each other, the lowest on a belt; block `loaded` is pulled by `force`.
TestModel stack(int blocks, const std::string& belt, int loaded, const std::string& force,
                const std::vector<double>& limits) {
  std::string coordinates = "[coordinates]\n";
  std::string kinetic;
  std::string joints;
  for (int i = 0; i < blocks; ++i) {
    const std::string x = "x" + std::to_string(i);
    coordinates += x + " = 0\n";
    kinetic += (i > 0 ? " + " : "") + std::string(i % 2 == 0 ? "0.3" : "0.5") + "*" + x + "'^2";
    const std::string below = i == 0 ? "(" + belt + ")" : "x" + std::to_string(i - 1) + "'";
    joints += "[[friction]]\nname = \"j" + std::to_string(i) + "\"\nslip = \"" + x + "' - " + below +
              "\"\nnormal = 1\nlaw = " + std::to_string(limits[i % limits.size()]) + "\n";
  }
  return text_model(coordinates + "[energy]\nkinetic = \"" + kinetic + "\"\n[[force]]\nalong = \"x" +
                    std::to_string(loaded) + "'\"\nvalue = \"" + force + "\"\n" + joints +
                    "[run]\nuntil = 2\n[output]\nsamples = 5\n");
}

TEST(HeldStacks, TwoBlocksOnABeltThatStartsUnderALoadFromZero) {
  expect_end(trial("contact-stack-on-belt"), kBoth, {1.125, 0.3375, 1.5, 0.45});
}

TEST(HeldStacks, RestBesideABodyThatIsCarriedAlong) {
  const TestModel model = trial("contact-stack-at-rest");
  expect_end(model, kBoth, {0, 0, 0.3375, 0, 0, 0.45});
  for (const std::string& engine : kBoth) {
    const std::vector<double> y = end_of(model, engine, 1e-9);
    EXPECT_EQ(y[0], 0) << engine;  // exactly
    EXPECT_EQ(y[1], 0) << engine;
  }
}

// The belt stands until 1.9, but no formula says so.
TEST(HeldStacks, StandStillToTheLastBitUnderAnyLoadFromZero) {
  for (const std::string force : {"t", "t^2", "t^3", "sin(t)", "1 - cos(t)", "-sin(3*t)", "1"}) {
    for (int blocks = 2; blocks <= 6; ++blocks) {
      for (const std::vector<double>& limits :
           {std::vector<double>{20}, std::vector<double>{20, 30, 17, 9}}) {
        TestModel model = stack(blocks, "max(0, t - 1.9)", blocks / 2, force, limits);
        model.options.until = 1.9;
        for (const std::string& engine : kBoth) {
          const std::vector<double> y = end_of(model, engine, 1e-9);
          for (const double value : y) EXPECT_EQ(value, 0) << engine << " " << blocks << " " << force;
        }
      }
    }
  }
}

TEST(HeldStacks, MoveWithTheirBeltUnderForcesThatBalance) {
  for (int blocks = 2; blocks <= 6; ++blocks) {
    std::vector<double> right(2 * blocks, 0.8);  // ∫ 0.2 t³
    std::fill(right.begin() + blocks, right.end(), 1.6);
    expect_end(stack(blocks, "0.2*t^3", 0, "1", {30, 41, 27}), kBoth, right);
    expect_end(stack(blocks, "0.2*t^3", blocks - 1, "t^3", {30, 41, 27}), kBoth, right);
  }
}

// A force on the lower block, limits of both joints and of the ground: all grow from zero together.
TEST(HeldStacks, LimitsAndLoadThatGrowFromZeroTogetherAreDecidedTogether) {
  expect_end(trial("contact-exact-cone-tip"), kBoth, {7.0 / 120, 0.05, 0.35, 0.3});
}

TEST(HeldBodies, AnImpactThatStopsABodyLeavesNoRoundingBehind) {
  const TestModel corner = trial("contact-impact-corner");
  for (const std::string& engine : kBoth) {
    const std::vector<double> y = end_of(corner, engine, 1e-9);
    EXPECT_EQ(y, (std::vector<double>{1, 0, 1, 0, 0, 0, 0, 0})) << engine;
  }
}

TEST(HeldBodies, AnImpactAlongTheFloorHasNoImpulseOnIt) {
  const TestModel model = trial("contact-impulse-roundoff");
  for (const std::string& engine : kBoth) {
    simulate::MemorySink sink(model.system);
    const engines::EngineResult result = simulate::run(model.system, engine, model.options, sink);
    EXPECT_TRUE(result.status.ok()) << engine << ": " << result.status.message;
    ASSERT_FALSE(sink.events.empty());
    for (const engines::Event& event : sink.events) {
      if (event.kind == engines::EventKind::impact) {
        EXPECT_NEAR(event.normal_impulse, engines::where(model.system, event) == "ra" ? 2.0 / 3 : 0, 1e-15);
      }
    }
    // Both go on with 2/3 and are braked by 0.3 g.
    const double speed = 2.0 / 3 - 0.1 * 0.3 * 9.81;
    EXPECT_NEAR(result.end.y[4], speed, 1e-12) << engine;
    EXPECT_NEAR(result.end.y[6], speed, 1e-12) << engine;
  }
}

// A ram comes from below through the floor and strikes what lies on it: the body is where the ram is, to the last bit of the ram.
TEST(HeldBodies, ARamStrikesWhatLiesOnTheFloor) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "x'^2/2"
potential = "10*x"
[[contact]]
name = "floor"
gap = "x"
[[contact]]
name = "ram"
gap = "x - sin(3*t) + 0.5"
impact = { type = "poisson", restitution = 1 }
[run]
until = 0.3
)toml");
  const double struck = std::acos(-1) / 18;
  const double speed = 2 * 3 * std::cos(3 * struck);
  const double flight = 0.3 - struck;
  expect_end(model, kBoth, {speed * flight - 5 * flight * flight, speed - 10 * flight});
}

// A guide whose slip turns between compression and expansion: its impulse may be one along the slip afterwards. In the compression
// 0.5 (v - 0.15) = 1.1 P, the expansion has half of P, and 0.9 of it moves the body.
TEST(HeldBodies, AGuideTurnsBetweenCompressionAndExpansion) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 0.5 }
y = 3
[energy]
kinetic = "2.5*x'^2 + 0.25*y'^2"
potential = "9.81*y"
[[friction]]
name = "guide"
slip = "y'"
normal = "0.2*normal(floor)"
law = 0.5
[[contact]]
name = "floor"
gap = "y + 0.3*x"
slip = "x'"
friction = 0.3
impact = { type = "poisson", restitution = 0.5 }
[run]
until = 0.6
)toml");
  // 3 - 9.81 t² + 0.15 t = 0
  const double t = (0.15 + std::sqrt(0.15 * 0.15 + 4 * 9.81 * 3)) / (2 * 9.81);
  const double P = 0.5 * (19.62 * t - 0.15) / 1.1;
  const double after = -0.15 + 0.5 * P * 0.9 / 0.5;
  for (const std::string& engine : kBoth) {
    const std::vector<double> y = end_of(model, engine, 1e-9);
    EXPECT_NEAR(y[2], 0.5, 1e-9) << engine;
    EXPECT_NEAR(y[3], after - 19.62 * (0.6 - t), 1e-8) << engine;
  }
}

// Which foot carries how much is not unique; what their friction does together is.
TEST(HeldBodies, FeetThatShareTheirReactionsDoTheWorkOfTheirSum) {
  expect_end(trial("contact-four-feet-work"), kBoth, {0.4 - 0.5 * 0.2 * 9.81 * 0.16, 0, 0, 0});
}

// A wall that comes so softly that no derivative tells when: from the first number on that is not zero it pushes.
TEST(HeldBodies, AWallThatComesSoftlyPushesABlockOnItsBrake) {
  const TestModel model = trial("pulse-wall-brake");
  for (const double tolerance : {1e-6, 1e-9}) {
    const std::vector<double> y = end_of(model, "event", tolerance);
    EXPECT_NEAR(y[0], 0.0005, 0.0005 * 100 * tolerance) << tolerance;
    EXPECT_EQ(y[1], 0) << tolerance;
  }
}

// The slip (a³)' touches zero where a does, and goes on.
TEST(Touches, ASlipThatTouchesZeroGoesOn) {
  const TestModel model = trial("contact-flatslip");
  for (const double tolerance : kTolerances) {
    engines::EngineOptions options = model.options;
    options.tolerance = tolerance;
    simulate::MemorySink sink(model.system);
    const engines::EngineResult result = simulate::run(model.system, "event", options, sink);
    EXPECT_TRUE(result.status.ok()) << tolerance << ": " << result.status.message;
    int reversals = 0;
    for (const engines::Event& event : sink.events) {
      if (event.kind == engines::EventKind::reversal)
        ++reversals;
      else
        EXPECT_EQ(event.kind, engines::EventKind::graze);
    }
    EXPECT_EQ(reversals, 2) << tolerance;  // where a' is zero
  }
}

// From the run at a tolerance of 1e-13.
TEST(Touches, ImpactsThatAccumulateInAChainMoveNoPosition) {
  expect_end(trial("contact-ties-1088"), kBoth, {-0.26232488, -0.26232488, -0.26232488, -0.46232488}, 1e-7);
}

// The load of a joint that is at its limit for good, by the numbers of the model: it rests, whatever the error of the steps makes of it.
TEST(Touches, ALoadThatStaysAtItsLimitLeavesItsJointAtRest) {
  const TestModel model = trial("joints-limit-touch");
  expect_end(model, kBoth, {0.121865, 0.180729}, 5e-7);
  std::vector<std::vector<std::string>> words;
  for (const std::string& engine : kBoth) {
    simulate::MemorySink sink(model.system);
    static_cast<void>(simulate::run(model.system, engine, model.options, sink));
    words.push_back(event_words(model.system, sink.events));
  }
  EXPECT_EQ(words[0], words[1]);
}

// Beside a joint at its limit, where time turns the load, one that an open contact does not load holds nothing.
TEST(Touches, AJointWithoutLoadHoldsNoOtherAtItsLimit) {
  for (const std::string law : {"0.3", "\"if(0 < y', 0.3, 0.15)\""}) {
    const TestModel model = text_model(R"toml(
[coordinates]
y = 0.3
[energy]
kinetic = "y'^2"
[[force]]
along = "y'"
value = "0.5*max(0, t - 0.2) - 1.5*t"
[[friction]]
name = "brake"
slip = "y'"
normal = 1
law = 0.3
[[contact]]
name = "stop"
gap = "y"
[[friction]]
name = "guide"
slip = "y'"
normal = "0.2*normal(stop)"
law = )toml" + law + R"toml(
[run]
until = 0.5
)toml");
    // 2 y'' = -(t - 0.2)
    expect_end(model, kBoth, {0.3 - 0.3 * 0.3 * 0.3 / 12, -0.3 * 0.3 / 4});
  }
}

// With a restitution of one half the hops of ball k end where ball 2k comes down for the first time.
TEST(Touches, ABallComesDownWhereTheHopsOfAnotherEnd) {
  const TestModel model = text_model(R"toml(
[coordinates]
y = { start = 0, velocity = "0.1*i", each = "i = 1 to 12" }
[energy]
kinetic = "sum(i = 1 to 12, y[i]'^2/2)"
potential = "sum(i = 1 to 12, 9.81*y[i])"
[[contact]]
name = "floor"
each = "i = 1 to 12"
gap = "y[i]"
impact = 0.5
[run]
until = 1
)toml");
  for (const std::string& engine : kBoth) {
    simulate::MemorySink sink(model.system);
    const engines::EngineResult result = simulate::run(model.system, engine, model.options, sink);
    EXPECT_TRUE(result.status.ok()) << engine << ": " << result.status.where << ": " << result.status.message;
    std::vector<double> ends;
    for (const engines::Event& event : sink.events) {
      if (event.kind == engines::EventKind::accumulation) ends.push_back(event.time);
    }
    ASSERT_EQ(ends.size(), 12U) << engine;
    for (int i = 1; i <= 12; ++i) EXPECT_NEAR(ends[i - 1], 0.4 * i / 9.81, 1e-8) << engine;
  }
}

// Six joints, two of them driven, and a relay between three bodies share their reactions. The right value comes from Moreau's scheme.
TEST(SharedReactions, BelongToTheForcesOfTheSlide) {
  const TestModel model = trial("joints-cone");
  for (const std::string engine : {"event", "auto"}) {
    const std::vector<double> y = end_of(model, engine, 1e-9);
    EXPECT_NEAR(y[0], 0.25661, 2e-5) << engine;
    for (int i = 3; i < 6; ++i) EXPECT_EQ(y[i], 0) << engine;
  }
}

// Ten bodies that move together are clamped to each other, each to each, from t = 1 on: reactions are shared in more ways than closed forms follow.
TEST(Auto, GoesOnWithTheEventEngineWhereClosedFormsEnd) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { each = "i = 1 to 10", velocity = 1 }
[energy]
kinetic = "sum(i = 1 to 10, i*x[i]'^2/2)"
[[force]]
along = "x[1]'"
value = "if(t < 1, 0, 0.3)"
[[friction]]
name = "clamp"
each = "i = 1 to 10, j = 1 to i - 1"
slip = "x[i]' - x[j]'"
normal = "if(t < 1, 0, 1)"
law = 1
[run]
until = 2
)toml");
  simulate::MemorySink sink(model.system);
  const engines::EngineResult alone = simulate::run(model.system, "exact", model.options, sink);
  EXPECT_EQ(alone.status.reason, Reason::unsupported);
  simulate::MemorySink both(model.system);
  const engines::EngineResult result = simulate::run(model.system, "auto", model.options, both);
  EXPECT_TRUE(result.status.ok()) << result.status.message;
  EXPECT_EQ(result.gave_way.reason, Reason::unsupported);
  EXPECT_EQ(result.gave_way.time, 1);
  EXPECT_FALSE(result.gave_way.message.empty());
  simulate::MemorySink reference(model.system);
  const engines::EngineResult event = simulate::run(model.system, "event", model.options, reference);
  EXPECT_TRUE(event.status.ok()) << event.status.message;
  EXPECT_TRUE(event.gave_way.ok());
  // What only touches is seen by closed forms alone.
  std::erase_if(both.events, [](const engines::Event& e) { return e.kind == engines::EventKind::graze; });
  std::erase_if(reference.events,
                [](const engines::Event& e) { return e.kind == engines::EventKind::graze; });
  EXPECT_EQ(event_words(model.system, both.events), event_words(model.system, reference.events));
  for (std::size_t row = 1; row < both.rows(); ++row) EXPECT_GE(both.cell(row, 0), both.cell(row - 1, 0));
  for (std::size_t i = 0; i < event.end.y.size(); ++i)
    EXPECT_NEAR(result.end.y[i], event.end.y[i], 1e-7) << i;
  for (int i = 0; i < 10; ++i) EXPECT_NEAR(result.end.y[i], 2 + 0.15 / 55, 1e-9) << i;
}

}  // namespace
}  // namespace judder
