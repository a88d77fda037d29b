// Switches inside switches while the motion slides: outer switches are read on each side of the surface that is slid on, and what is zero over a whole
// region has the value that the language gives there.
//
// What is right: by hand, or by Euler's method with short steps and the functions of the C++ library. Its steps go to and fro across a surface, and their mean
// is Filippov's combination of the fields on the two sides, whatever stands around the switch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

using State = std::vector<double>;

double sign(double a) { return a > 0 ? 1 : a < 0 ? -1 : 0; }
double step(double a) { return a >= 0 ? 1 : 0; }
double modulo(double a, double b) { return a - b * std::floor(a / b); }

struct Case {
  const char* name;
  std::vector<std::pair<const char*, const char*>> states;  ///< name and rate
  State start;
  double until;
  bool linear;  ///< `exact` takes it
  std::function<State(double, const State&)> rates;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class NestedSlides : public testing::TestWithParam<Case> {};

TEST_P(NestedSlides, GoTheWayOfShortSteps) {
  const Case& c = GetParam();
  std::string text = "[state]\n";
  for (std::size_t i = 0; i < c.states.size(); ++i)
    text += std::string(c.states[i].first) + " = { start = " + std::to_string(c.start[i]) + ", rate = \"" +
            c.states[i].second + "\" }\n";
  const TestModel model = text_model(text + "[run]\nuntil = " + std::to_string(c.until) + "\n");
  constexpr int kSteps = 400'000;
  const double h = c.until / kSteps;
  State right = c.start;
  for (int i = 0; i < kSteps; ++i) {
    const State rate = c.rates(i * h, right);
    for (std::size_t j = 0; j < right.size(); ++j) right[j] += h * rate[j];
  }
  for (const char* engine : {"event", "exact"}) {
    if (!c.linear && std::string(engine) == "exact") continue;
    const simulate::Result result = simulate::simulate(model.system, model.options, engine);
    ASSERT_EQ(result.end.status.reason, Reason::done) << engine << ": " << result.end.status.message;
    for (std::size_t j = 0; j < right.size(); ++j)
      EXPECT_NEAR(last(result, c.states[j].first), right[j], 1e-4) << engine << ": " << c.states[j].first;
  }
}

const char* const kSlides = "if(x > 0.3, -1, 0.5)";
double slides(double x) { return x > 0.3 ? -1 : 0.5; }

INSTANTIATE_TEST_SUITE_P(
    ByEuler, NestedSlides,
    testing::Values(
        Case{"SignOfSign",
             {{"x", kSlides}, {"y", "sign(sign(x - 0.3) + 0.2)"}},
             {-0.1, 0},
             2,
             true,
             [](double, const State& s) {
               return State{slides(s[0]), sign(sign(s[0] - 0.3) + 0.2)};
             }},
        Case{"AbsOfIf",
             {{"x", kSlides}, {"y", "abs(if(x > 0.3, 1.2, -0.9))"}},
             {-0.1, 0},
             2,
             true,
             [](double, const State& s) {
               return State{slides(s[0]), std::abs(s[0] > 0.3 ? 1.2 : -0.9)};
             }},
        Case{"ArgumentsThatMoveWhileItSlides",
             {{"x", kSlides},
              {"w", "1"},
              {"y", "sign(sign(x - 0.3) + w)"},
              {"z", "mod(w*sign(x - 0.3), 0.7)"}},
             {-0.1, -3, 0, 0},
             5,
             false,
             [](double, const State& s) {
               return State{slides(s[0]), 1, sign(sign(s[0] - 0.3) + s[1]),
                            modulo(s[1] * sign(s[0] - 0.3), 0.7)};
             }},
        Case{"ThreeDeep",
             {{"x", kSlides}, {"y", "max(0.4, sign(floor(1.5*step(x - 0.3) + 0.2) - 0.5) + 0.1)"}},
             {-0.1, 0},
             2,
             true,
             [](double, const State& s) {
               return State{slides(s[0]),
                            std::max(0.4, sign(std::floor(1.5 * step(s[0] - 0.3) + 0.2) - 0.5) + 0.1)};
             }},
        Case{"OuterSwitchEndsTheSlide",
             {{"x", "1"}, {"y", "mod(if(y > 0, -0.5, x), 1) - 0.7"}},
             {0.1, 0.1},
             3,
             true,
             [](double, const State& s) {
               return State{1, modulo(s[1] > 0 ? -0.5 : s[0], 1) - 0.7};
             }},
        Case{"SignOfStep",
             {{"x", "0.5 - sign(step(x))"}},
             {-0.3},
             2,
             true,
             [](double, const State& s) { return State{0.5 - sign(step(s[0]))}; }},
        Case{"SignOfMaximum",
             {{"x", "0.5 - 0.8*sign(max(x, 0))"}, {"y", "sign(max(x, 0))"}},
             {-0.3, 0},
             2,
             true,
             [](double, const State& s) {
               return State{0.5 - 0.8 * sign(std::max(s[0], 0.0)), sign(std::max(s[0], 0.0))};
             }},
        Case{"FloorAtLeastOne",
             {{"x", "if(floor(x + 1) >= 1, -0.3, 0.5)"}, {"y", "floor(x + 1)"}},
             {0.3, 0},
             2,
             true,
             [](double, const State& s) {
               return State{std::floor(s[0] + 1) >= 1 ? -0.3 : 0.5, std::floor(s[0] + 1)};
             }},
        Case{"SignOfFloorBesideASlide",
             {{"z", "-sign(z)"}, {"w", "1"}, {"y", "sign(floor(w))"}},
             {0.1, -0.5, 0},
             1.2,
             true,
             [](double, const State& s) {
               return State{-sign(s[0]), 1, sign(std::floor(s[1]))};
             }},
        Case{"BranchesThatWereNotTaken",
             {{"x", "if(x > 0.3, -1, sign(0.5 - x))"}},
             {1},
             2,
             true,
             [](double, const State& s) { return State{s[0] > 0.3 ? -1 : sign(0.5 - s[0])}; }},
        Case{"ModOfMod",
             {{"x", "mod(mod(1.68*x - 0.26, 0.89), 1.08) - 0.445 + 0.445*t"}},
             {2.174},
             2,
             true,
             [](double time, const State& s) {
               return State{modulo(modulo(1.68 * s[0] - 0.26, 0.89), 1.08) - 0.445 + 0.445 * time};
             }},
        Case{"TwoSlidesAndWhatStandsAroundBoth",
             {{"x", kSlides}, {"v", "0.4 - sign(v)"}, {"y", "sign(sign(x - 0.3) + sign(v) + 0.5)"}},
             {-0.1, -0.2, 0},
             3,
             false,
             [](double, const State& s) {
               return State{slides(s[0]), 0.4 - sign(s[1]), sign(sign(s[0] - 0.3) + sign(s[1]) + 0.5)};
             }}),
    [](const auto& one) { return one.param.name; });

// x(2) = 2.27381 + 0.445 (e^1.68 − 1 − 1.68)/1.68², the closed form behind the end of the slide at t = 1.
TEST(SlidesWithNestedSwitches, AModOfAModIsASingleOne) {
  const double surface = (4 * 0.89 + 0.26) / 1.68;
  const double right = surface + 0.445 * (std::exp(1.68) - 1 - 1.68) / (1.68 * 1.68);
  const TestModel model = text_model(
      "[state]\nx = { start = 2.174, rate = \"mod(mod(1.68*x - 0.26, 0.89), 1.08) - 0.445 + 0.445*t\" "
      "}\n[run]\nuntil = "
      "2\n");
  for (const char* engine : {"event", "exact"})
    EXPECT_NEAR(last(simulate::simulate(model.system, model.options, engine), "x"), right, 1e-8) << engine;
  const auto force = [](const std::string& value) {
    return text_model(
        "[coordinates]\ny = { start = 0.2, velocity = -0.6 }\n[energy]\nkinetic = \"y'^2/2\"\npotential = "
        "\"y^2\"\n[[force]]\nalong = \"y'\"\nvalue = \"" +
        value + " - 1\"\n[run]\nuntil = 3\n");
  };
  const TestModel twice = force("mod(mod(1.71*y' - 0.41, 1.36), 1.42)");
  const TestModel once = force("mod(1.71*y' - 0.41, 1.36)");
  for (const char* engine : {"event", "exact"}) {
    const simulate::Result a = simulate::simulate(twice.system, twice.options, engine);
    const simulate::Result b = simulate::simulate(once.system, once.options, engine);
    ASSERT_EQ(a.end.status.reason, Reason::done) << engine << ": " << a.end.status.message;
    EXPECT_EQ(event_words(twice.system, a.data.events), event_words(once.system, b.data.events)) << engine;
    EXPECT_NEAR(last(a, "y"), last(b, "y"), 1e-9) << engine;
  }
}

// x' slides at 0.3 with the share 1/3 above: on a second body the mean of the two values of the outer switch acts, in a coefficient of friction too.
TEST(SlidesWithNestedSwitches, ForcesAndCoefficientsOfOthersHaveTheMeanOfBothSides) {
  const TestModel forces = text_model(R"toml(
[coordinates]
x = { start = 0, velocity = -0.1 }
y = 0
[energy]
kinetic = "x'^2/2 + y'^2/2"
[[force]]
along = "x'"
value = "if(x' > 0.3, -1, 0.5)"
[[force]]
along = "y'"
value = "sign(sign(x' - 0.3) + 0.2)"
[run]
until = 2
)toml");
  for (const char* engine : {"event", "exact"}) {
    const simulate::Result result = simulate::simulate(forces.system, forces.options, engine);
    ASSERT_EQ(result.end.status.reason, Reason::done) << engine << ": " << result.end.status.message;
    EXPECT_NEAR(last(result, "y'"), -1.2, 1e-8) << engine;
    EXPECT_NEAR(last(result, "y"), -1.52, 1e-8) << engine;
  }
  const TestModel coefficient = text_model(R"toml(
[coordinates]
q = { start = 0, velocity = 2 }
[state]
x = { start = -0.1, rate = "if(x > 0.3, -1, 0.5)" }
[energy]
kinetic = "q'^2/2"
[[friction]]
name = "j"
slip = "q'"
normal = 1
law = "if(step(x - 0.3) > 0.5, 0.9, 0.3)"
[run]
until = 2
)toml");
  const simulate::Result result = simulate::simulate(coefficient.system, coefficient.options, "event");
  ASSERT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
  EXPECT_NEAR(last(result, "q'"), 1.16, 1e-8);
}

// The speed is 0.5 from t = 0.3 on, held there by the two values ±1 of the force: it does no work.
TEST(SlidesWithNestedSwitches, WorkIsThatOfTheCombinedForce) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { start = 0, velocity = 0.2 }
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = "sign(sign(0.5 - x'))"
[run]
until = 2
[output]
columns = { b = "balance()", s = "supplied(force1)" }
)toml");
  for (const char* engine : {"event", "exact"}) {
    const simulate::Result result = simulate::simulate(model.system, model.options, engine);
    ASSERT_EQ(result.end.status.reason, Reason::done) << engine << ": " << result.end.status.message;
    EXPECT_NEAR(last(result, "x"), 0.955, 1e-8) << engine;
    EXPECT_NEAR(last(result, "s"), (0.25 - 0.04) / 2, 1e-8) << engine;
    EXPECT_NEAR(last(result, "b"), 0, 1e-8) << engine;
  }
}

// A belt turns under a mass that a nested force holds at rest: the joint is decided with the combination that slides, which is the field of no sides.
TEST(Nested, SlidesHoldAMassWhileTheBeltUnderItTurns) {
  for (const char* force :
       {"-2*sign(sign(x') - 0.3)", "-2*sign(sign(x') + 0.3)", "-sign(x') - sign(sign(x')*abs(sign(x')))",
        "-2*sign(x'*(2 + sign(x')))", "-2*sign(x')"}) {
    const TestModel model = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "0.33*x'^2"
[[force]]
along = "x'"
value = ")toml" + std::string(force) + R"toml("
[[friction]]
name = "belt"
slip = "x' - 0.5*(1 - t)"
normal = 1
law = 0.7
[run]
until = 2
)toml");
    const Outcome out = outcome_of(model, "event");
    ASSERT_EQ(out.words, std::vector<std::string>{"reversal belt"}) << force;
    EXPECT_NEAR(out.times[0], 1, 1e-9) << force;
    EXPECT_EQ(out.y, (std::vector<double>{0, 0})) << force;
  }
  const Outcome still = outcome_of(trial("switch-slide-belt-zero"), "event");
  EXPECT_NEAR(still.y[0], 0.1212, 1e-9);
}

// A dry force stops y, and a force on w asks whether |y'| is zero: beside the surface that is slid on it is not, on either side, whatever the order in which it touches.
TEST(SlidesWithNestedSwitches, HaveWhatTouchesZeroOnTheSideOfItsSign) {
  for (const char* force : {"sign(abs(y'))", "sign(abs(y')^1.5)", "sign(abs(y')^2)", "sign(abs(y')^3)",
                            "if(abs(y')^3 > 0, 1, 0)", "-sign(-2*abs(y')^5)"}) {
    const Outcome out = outcome_of(text_model(R"toml(
[coordinates]
y = { start = 2, velocity = 1 }
w = 0
[energy]
kinetic = "0.5*(y'^2) + 2.5*(w'^2)"
dissipation = "abs(y')"
[[force]]
along = "w'"
value = ")toml" + std::string(force) + R"toml("
[run]
until = 1.5
)toml"),
                                   "event");
    EXPECT_NEAR(out.y[0], 2.5, 1e-9) << force;
    EXPECT_NEAR(out.y[1], 0.1 * 1.5 * 1.5, 1e-9) << force;
    EXPECT_NEAR(out.y[3], 0.2 * 1.5, 1e-9) << force;
  }
}

}  // namespace
}  // namespace judder
