// bump(s) begins and ends more softly than any power of s: forces, loads, drives and switches that it stands in do what it does from its first instant on
// (docs/theory.md, "What begins flat"). Right values are integrals of bump, found by a rule of Gauss.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

const std::array<double, 3> kTolerances = {1e-6, 1e-8, 1e-10};

double bump(double s) { return s > 0 && s < 1 ? std::exp(1 / (s * (s - 1))) / 0.0070298584066096562392 : 0; }

double integral(const std::function<double(double)>& f, double from, double to) {
  constexpr int kParts = 4000;
  const double node = std::sqrt(0.6);
  double sum = 0;
  for (int k = 0; k < kParts; ++k) {
    const double half = (to - from) / (2 * kParts);
    const double middle = from + (2 * k + 1) * half;
    for (const auto& [place, weight] :
         {std::pair{-node, 5.0 / 9}, std::pair{0.0, 8.0 / 9}, std::pair{node, 5.0 / 9}})
      sum += weight * half * f(middle + place * half);
  }
  return sum;
}

/// Half of a bump is over in its middle, and all of it at its end.
double area(double s) { return s <= 0 ? 0 : s >= 1 ? 1 : integral(bump, 0, s); }

/// Where bump reaches a value on its way up.
double place_of(double value) {
  double low = 0;
  double high = 0.5;
  for (int i = 0; i < 100; ++i) (bump(0.5 * (low + high)) < value ? low : high) = 0.5 * (low + high);
  return low;
}

/// A mass of 1 on a line.
TestModel mass(const std::string& more, double until) {
  return text_model("[coordinates]\nx = 0\n[energy]\nkinetic = \"0.5*x'^2\"\n" + more +
                    "\n[run]\nuntil = " + std::to_string(until) + "\n");
}

std::string force(const std::string& value) {
  return "[[force]]\nalong = \"x'\"\nvalue = \"" + value + "\"\n";
}
std::string joint(const std::string& slip, const std::string& normal, const std::string& law) {
  return "[[friction]]\nname = \"j\"\nslip = \"" + slip + "\"\nnormal = \"" + normal + "\"\nlaw = " + law +
         "\n";
}

double speed(const TestModel& model, double tolerance) {
  engines::EngineOptions options = model.options;
  options.tolerance = tolerance;
  const simulate::Result result = simulate::simulate(model.system, options, "event");
  EXPECT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
  EXPECT_TRUE(result.end.verdict.silent());
  EXPECT_LT(result.end.steps, 3000);
  return last(result, "x'");
}

// --- loads of joints ---

// A force of 1 moves the mass while nothing presses the joint. It has stopped it at the middle, and holds it until the load is 1 again.
TEST(FlatStarts, ALoadThatBumpsStopsWhatAForceMoves) {
  const double loose = 1 - place_of(1);
  for (const char* load :
       {"bump(t)", "max(0, bump(t))", "abs(bump(t))", "max(0, bump(t)) + abs(min(0, bump(t)))"}) {
    for (const double tolerance : kTolerances) {
      const auto at = [&](double until) {
        return speed(mass(force("1") + joint("x'", load, "1"), until), tolerance);
      };
      EXPECT_NEAR(at(0.01), 0.01, 10 * tolerance) << load;
      EXPECT_NEAR(at(0.4), 0.4 - area(0.4), 10 * tolerance) << load;
      EXPECT_EQ(at(0.7), 0) << load;
      EXPECT_NEAR(at(1.2), 1.2 - loose - (1 - area(loose)), 10 * tolerance) << load;
    }
  }
}

// Nothing moves what nothing but such a joint acts on.
TEST(FlatStarts, ALoadThatBumpsAloneMovesNothing) {
  for (const char* load : {"bump(t)", "abs(-2*bump(0.5*t))", "max(0, bump(3*t - 0.5))"}) {
    for (const char* law : {"1", "{ static = 0.2, dynamic = 0.1 }", "\"if(0 < x', 0.5, 0.25)\""}) {
      for (const double tolerance : kTolerances)
        EXPECT_EQ(speed(mass(joint("x'", load, law), 2.5), tolerance), 0) << load << ' ' << law;
    }
  }
}

// It slips where the force is larger than the limit of 0.5.
TEST(FlatStarts, AForceThatBumpsMovesABodyAtRest) {
  const double from = place_of(0.5);
  for (const double tolerance : kTolerances) {
    TestModel model = mass(force("bump(t)") + joint("x'", "1", "0.5"), 0.6);
    EXPECT_NEAR(speed(model, tolerance), area(0.6) - area(from) - 0.5 * (0.6 - from), 10 * tolerance);
    model.options.tolerance = tolerance;
    const Outcome out = outcome_of(model, "event");
    ASSERT_EQ(out.words, std::vector<std::string>{"slip j"});
    EXPECT_NEAR(out.times[0], from, 10 * tolerance);
  }
}

// --- drives ---

// A belt carries the mass as long as the limit of 1 can: 0.05 bump' is less.
TEST(FlatStarts, ABeltThatBumpsCarriesAMass) {
  for (const double tolerance : kTolerances) {
    EXPECT_NEAR(speed(mass(joint("x' - 0.05*bump(t)", "1", "1"), 0.5), tolerance), 0.05 * bump(0.5), 1e-15);
    EXPECT_EQ(speed(mass(joint("x' - 0.05*bump(t)", "1", "1"), 1.5), tolerance), 0);
  }
}

// A wall, or a floor that only rounding lets part from what holds beside it: sin(x) = bump(t) against a brake, which slips from the first instant on.
TEST(FlatStarts, AWallThatBumpsPushesABodyOffItsBrake) {
  for (const double tolerance : kTolerances) {
    TestModel model =
        mass(joint("x'", "1", "1") + "[[contact]]\nname = \"wall\"\ngap = \"sin(x) - 0.1*bump(t)\"\n", 0.3);
    model.options.tolerance = tolerance;
    const Outcome out = outcome_of(model, "event");
    EXPECT_TRUE(out.words.empty()) << out.words.front();
    EXPECT_NEAR(out.y[0], std::asin(0.1 * bump(0.3)), 10 * tolerance);
  }
}

// --- formulas ---

TEST(FlatStarts, SumsProductsAndTablesOfBumps) {
  const std::string table = "[tables]\nf = { x = [0, 1, 5], y = [0, 2, 2] }\n";
  const std::vector<std::pair<std::string, std::function<double(double)>>> cases = {
      {"bump(t) + bump(2*t)", [](double t) { return bump(t) + bump(2 * t); }},
      {"bump(2*t - 0.5) - 3*bump(t)", [](double t) { return bump(2 * t - 0.5) - 3 * bump(t); }},
      {"t^2*bump(t)", [](double t) { return t * t * bump(t); }},
      {"bump(t)^2", [](double t) { return bump(t) * bump(t); }},
      {"sqrt(bump(t))", [](double t) { return std::sqrt(bump(t)); }},
      {"f(bump(t))", [](double t) { return std::min(2 * bump(t), 2.0); }},
      {"max(bump(t), 0.3)", [](double t) { return std::max(bump(t), 0.3); }},
      {"min(bump(t) - 1, 0)", [](double t) { return std::min(bump(t) - 1, 0.0); }},
  };
  for (const auto& [text, value] : cases) {
    for (const double until : {0.005, 0.4, 1.3}) {
      for (const double tolerance : kTolerances) {
        const double right = integral(value, 0, until);
        const TestModel model =
            text_model(table + "[coordinates]\nx = 0\n[energy]\nkinetic = \"0.5*x'^2\"\n" + force(text) +
                       "[run]\nuntil = " + std::to_string(until) + "\n");
        EXPECT_NEAR(speed(model, tolerance), right,
                    1e-6 * std::max(tolerance, 1e-7) / 1e-7 * (1 + std::abs(right)))
            << text << ' ' << until;
      }
    }
  }
}

// x'' = bump(t) x from x = 1, by short steps.
TEST(FlatStarts, ABumpTimesTheState) {
  double x = 1;
  double v = 0;
  constexpr int kSteps = 20000;
  for (int i = 0; i < kSteps; ++i) {
    const double h = 1.5 / kSteps;
    const double t = i * h;
    const double a1 = bump(t) * x;
    const double a2 = bump(t + h / 2) * (x + h / 2 * v);
    const double a3 = bump(t + h / 2) * (x + h / 2 * v + h * h / 4 * a1);
    const double a4 = bump(t + h) * (x + h * v + h * h / 2 * a2);
    x += h * v + h * h / 6 * (a1 + a2 + a3);
    v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
  }
  for (const double tolerance : kTolerances) {
    TestModel model = text_model("[coordinates]\nx = 1\n[energy]\nkinetic = \"0.5*x'^2\"\n" +
                                 force("bump(t)*x") + "[run]\nuntil = 1.5\n");
    EXPECT_NEAR(speed(model, tolerance), v, 100 * tolerance);
  }
}

// bump is above zero inside of its ends, and zero beyond them: sides tell that from the first instant on.
TEST(FlatStarts, SidesOfABump) {
  const std::vector<std::pair<std::string, double>> cases = {
      {"sign(bump(t - 0.25))", 1},
      {"step(-bump(t - 0.25))", 0.5},
      {"step(bump(t - 0.25))", 1.5},
      {"if(bump(t) > 0, 1, 0)", 1},
      {"if(bump(t) <= 0, 1, 0)", 0.5},
      {"if(bump(t) < 0, 1, 0)", 0},
      {"if(-0.3*bump(t) < 0, 1, 0)", 1},
      {"if(bump(t)*t >= 0, 1, 0)", 1.5},
      {"sign(bump(t) - 2*bump(2*t))", -0.5 + 0.5},
      {"if(bump(2*t) > bump(t), 1, 0)", 0},
  };
  // bump(2t) is above bump(t) from the start until they meet; both of the last two ask where.
  double low = 0.2;
  double high = 0.45;
  for (int i = 0; i < 100; ++i)
    (bump(2 * (0.5 * (low + high))) > bump(0.5 * (low + high)) ? low : high) = 0.5 * (low + high);
  double twice = 0.2;
  high = 0.49;
  for (int i = 0; i < 100; ++i)
    (2 * bump(2 * (0.5 * (twice + high))) > bump(0.5 * (twice + high)) ? twice : high) = 0.5 * (twice + high);
  for (const auto& [text, right] : cases) {
    const double expected = text == "if(bump(2*t) > bump(t), 1, 0)" ? low
                            : text == "sign(bump(t) - 2*bump(2*t))" ? 1 - 2 * twice
                                                                    : right;
    for (const double tolerance : kTolerances)
      EXPECT_NEAR(speed(mass(force(text), 1.5), tolerance), expected, 1e-10 + 10 * tolerance) << text;
  }
}

// A bump of the place: v² = 1 + 2 times its area, and twice the way where it is above zero.
TEST(FlatStarts, ABumpOfThePlace) {
  for (const double from : {0.0, -0.5}) {
    for (const auto& [text, right] :
         {std::pair{"bump(x)", 2.0}, std::pair{"bump(2*x - 0.5)", 1.0},
          std::pair{"step(bump(x) - 0.5)", 2 * (1 - 2 * place_of(0.5))}, std::pair{"sign(bump(x))", 2.0}}) {
      for (const double tolerance : kTolerances) {
        TestModel model = text_model("[coordinates]\nx = { start = " + std::to_string(from) +
                                     ", velocity = 1 }\n[energy]\nkinetic = \"0.5*x'^2\"\n" + force(text) +
                                     "[run]\nuntil = 2\n");
        EXPECT_NEAR(speed(model, tolerance), std::sqrt(1 + right), 100 * tolerance) << text << ' ' << from;
      }
    }
  }
}

// --- what must not matter ---

TEST(FlatStarts, TheEndOfTheRunIsFarAway) {
  const std::string more = force("bump(t) - bump(t - 2)") + joint("x'", "1", "0.5");
  TestModel near = mass(more, 5);
  TestModel far = mass(more, 5e6);
  const Outcome one = outcome_of(near, "event");
  const Outcome other = outcome_of(far, "event");
  EXPECT_EQ(one.words, other.words);
  EXPECT_EQ(one.words.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(one.times[i], other.times[i], 1e-8);
  EXPECT_NEAR(one.y[0], other.y[0], 1e-9);
  EXPECT_EQ(one.y[1], 0);
  EXPECT_EQ(other.y[1], 0);
}

}  // namespace
}  // namespace judder
