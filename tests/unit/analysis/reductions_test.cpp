#include "judder/analysis/reductions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>

#include "judder/io/load.hpp"

namespace judder::analysis {
namespace {

constexpr double kPi = std::numbers::pi;

/// What is collected of a run of a model, by its words.
std::map<std::string, double> collect(const std::string& text, const std::string& words,
                                      double after = -INFINITY, long samples = 2,
                                      const std::string& engine = "event", bool* followed = nullptr) {
  io::ModelFile file = io::read_model_text(text);
  std::vector<Reduction> reductions;
  std::string problem;
  EXPECT_TRUE(parse_reductions(words, reductions, problem)) << problem;
  file.spec = with_reductions(file.spec, reductions);
  const io::LoadedModel model = io::load_model(std::move(file), {});
  EXPECT_TRUE(model.ok()) << render(model.diagnostics, "model", text);
  if (!model.ok()) return {};
  EXPECT_EQ(reductions_problem(*model.compiled.system, reductions), "");
  Reducer reducer(*model.compiled.system, reductions, after);
  engines::EngineOptions options = engines::options_of(model.compiled.run);
  options.samples = samples;
  options.observer = &reducer;
  const engines::EngineResult result = simulate::run(*model.compiled.system, engine, options, reducer);
  EXPECT_TRUE(result.status.ok()) << result.status.message;
  if (followed != nullptr) *followed = reducer.followed();
  std::vector<double> values(reductions.size());
  reducer.values(values);
  std::map<std::string, double> out;
  for (std::size_t i = 0; i < values.size(); ++i) out[reductions[i].text] = values[i];
  return out;
}

const std::string kSwing = R"toml(format = 1
[coordinates]
x = 1
[energy]
kinetic = "x'^2/2"
potential = "x^2/2"
[run]
until = 20
tolerance = 1e-11
)toml";

// x = cos t. No row is near any of these.
TEST(Reductions, ExtremesLieBetweenRowsWhereverTheyAre) {
  for (const char* engine : {"event", "exact"}) {
    const auto found =
        collect(kSwing, "max(x*x'), min(x), range(x'), at_max(x*x'), max(x + x')", -INFINITY, 2, engine);
    EXPECT_NEAR(found.at("max(x*x')"), 0.5, 1e-9) << engine;  // −sin(2t)/2
    EXPECT_NEAR(found.at("min(x)"), -1, 1e-9);
    EXPECT_NEAR(found.at("range(x')"), 2, 1e-9);
    EXPECT_NEAR(found.at("max(x + x')"), std::sqrt(2), 1e-9);
    const double phase = std::fmod(found.at("at_max(x*x')"), kPi);
    EXPECT_NEAR(phase, 0.75 * kPi, 1e-4);
  }
}

// Nothing bends the motion, so that a step is as long as the run; what is collected turns three hundred times in it, or jumps. x = t.
TEST(Reductions, FollowWhatTurnsOftenInOneStep) {
  const std::string flight =
      "format = 1\n[coordinates]\nx = { velocity = 1 }\n[energy]\nkinetic = \"x'^2/2\"\n[run]\nuntil = 10\n";
  for (const char* engine : {"event", "exact"}) {
    const auto found = collect(flight, "integral(cos(7*x)), integral(sin(100*t)^2), integral(step(x - 3.3))",
                               -INFINITY, 2, engine);
    EXPECT_NEAR(found.at("integral(cos(7*x))"), std::sin(70.0) / 7, 1e-10) << engine;
    EXPECT_NEAR(found.at("integral(sin(100*t)^2)"), 5 - std::sin(2000.0) / 400, 1e-10) << engine;
    EXPECT_NEAR(found.at("integral(step(x - 3.3))"), 6.7, 1e-6) << engine;
  }
}

// Nothing moves but x = t, so that a step is as long as the run.
const std::string kFlight =
    "format = 1\n[coordinates]\nx = { velocity = 1 }\n[energy]\nkinetic = \"x'^2/2\"\n[run]\nuntil = 10\n";

// Turns lie anywhere in the pieces of a step, at their ends too: 60 frequencies. The largest value of x sin(w x) is at the last root of
// tan(w x) = −w x.
TEST(Reductions, ExtremesOfWhatTurnsOftenAreTrue) {
  for (int w = 11; w < 71; ++w) {
    const std::string f = "x*sin(" + std::to_string(w) + "*x)";
    const auto found = collect(kFlight, "max(" + f + "), min(" + f + "), at_max(" + f + ")");
    double most = 10 * std::sin(10.0 * w), least = most, when = 10;
    for (int k = 0; k < static_cast<int>(20 * w / kPi) + 2; ++k) {
      double x = (k + 0.5) * kPi / w;
      for (int i = 0; i < 30; ++i)
        x -= (std::sin(w * x) + w * x * std::cos(w * x)) /
             (2 * w * std::cos(w * x) - w * w * x * std::sin(w * x));
      if (x > 10) continue;
      const double value = x * std::sin(w * x);
      if (value > most) when = x;
      most = std::max(most, value);
      least = std::min(least, value);
    }
    EXPECT_NEAR(found.at("max(" + f + ")"), most, 1e-10) << w;
    EXPECT_NEAR(found.at("min(" + f + ")"), least, 1e-10) << w;
    EXPECT_NEAR(found.at("at_max(" + f + ")"), when, 1e-6) << w;
  }
}

// Peaks ten thousand times and more narrower than the step, of every form that has them.
TEST(Reductions, PeaksNarrowerThanAStepAreFound) {
  struct Peak {
    std::string formula;
    double most, integral;
  };
  const double root = std::sqrt(kPi);
  const Peak peaks[] = {
      {"exp(-((x - 3.3)/1e-4)^2)", 1, 1e-4 * root},
      {"2 - exp(-((x - 7.7)/1e-5)^2)", 2, 20 - 1e-5 * root},
      {"1/(1 + ((x - 7.1)/1e-5)^2)", 1, 1e-5 * (std::atan(2.9e5) + std::atan(7.1e5))},
      {"1e-3/cosh((x - 1.234567)/1e-4)", 1e-3, 1e-3 * 1e-4 * kPi},
      {"cos(x)^2000", 1, 3.5 * std::exp(std::lgamma(1000.5) + std::lgamma(0.5) - std::lgamma(1001.0))},
      {"tanh((x - 4)/1e-5) - tanh((x - 4.001)/1e-5)", 2, 2 * 1e-3},
  };
  for (const Peak& peak : peaks) {
    for (const char* engine : {"event", "exact"}) {
      const std::string &f = peak.formula, max = "max(" + f + ")", integral = "integral(" + f + ")";
      const auto found = collect(kFlight, max + ", " + integral, -INFINITY, 2, engine);
      EXPECT_NEAR(found.at(max), peak.most, 1e-10 * peak.most) << f << engine;
      EXPECT_NEAR(found.at(integral), peak.integral, 1e-9 * std::max(1e-4, peak.integral)) << f << engine;
    }
  }
  EXPECT_NEAR(collect(kFlight, "min(2 - exp(-((x - 7.7)/1e-5)^2))").begin()->second, 1, 1e-10);
}

// A corner is where the polynomial is wrong, and a jump too.
TEST(Reductions, ExtremesAtCornersAreTrue) {
  for (const double at : {3.3, 1.7, 0.01, 9.999, 5.0}) {
    const std::string c = std::to_string(at);
    const auto found =
        collect(kFlight, "max(-abs(x - " + c + ")), min(abs(x - " + c + ") + step(x - " + c +
                             ")), integral(abs(x - " + c + ")), integral(step(x - " + c + "))");
    EXPECT_NEAR(found.at("max(-abs(x - " + c + "))"), 0, 1e-10) << at;
    EXPECT_NEAR(found.at("integral(abs(x - " + c + "))"), 0.5 * (at * at + (10 - at) * (10 - at)), 1e-9);
    EXPECT_NEAR(found.at("integral(step(x - " + c + "))"), 10 - at, 1e-9) << at;
  }
}

// Pieces of a formula between two of its own corners or jumps, narrower than the distance of nodes. x = t.
TEST(Reductions, NarrowPiecesAndTablesAreFound) {
  const std::string tables = "\n[tables]\ntri = { x = [0, 3.33, 3.34, 3.35, 10], y = [0, 0, 1, 0, 0] }\n";
  for (const char* engine : {"event", "exact"}) {
    const auto found = collect(kFlight + tables,
                               "max(tri(x)), integral(tri(x)), integral(if(x > 3.33 and x < 3.35, 1, 0)), "
                               "max(if(t > 3.105 and t < 3.106, 1, 0)), max(max(0, 1 - abs(x - 7.7)/1e-4)), "
                               "integral(max(0, 1 - abs(x - 7.7)/1e-4))",
                               -INFINITY, 2, engine);
    EXPECT_NEAR(found.at("max(tri(x))"), 1, 1e-9) << engine;
    EXPECT_NEAR(found.at("integral(tri(x))"), 0.01, 1e-9) << engine;
    EXPECT_NEAR(found.at("integral(if(x > 3.33 and x < 3.35, 1, 0))"), 0.02, 1e-9) << engine;
    EXPECT_EQ(found.at("max(if(t > 3.105 and t < 3.106, 1, 0))"), 1) << engine;
    EXPECT_NEAR(found.at("max(max(0, 1 - abs(x - 7.7)/1e-4))"), 1, 1e-6) << engine;
    EXPECT_NEAR(found.at("integral(max(0, 1 - abs(x - 7.7)/1e-4))"), 1e-4, 1e-9) << engine;
  }
}

// x = cos t is zero six times up to t = 20, at (k + ½)π, and within the band for 2 asin(0.02) each time.
TEST(Reductions, TimesWithinANarrowBandAreTrue) {
  for (const char* engine : {"event", "exact"}) {
    const auto found = collect(kSwing, "integral(if(abs(x) < 0.02, 1, 0))", -INFINITY, 2, engine);
    EXPECT_NEAR(found.begin()->second, 6 * 2 * std::asin(0.02), 1e-8) << engine;
  }
}

TEST(Reductions, WhatCannotBeFollowedIsSaid) {
  for (const bool fast : {false, true}) {
    io::ModelFile file = io::read_model_text(kFlight);
    std::vector<Reduction> reductions;
    std::string problem;
    ASSERT_TRUE(parse_reductions(fast ? "max(sin(1e8*x))" : "max(sin(1e2*x))", reductions, problem));
    file.spec = with_reductions(file.spec, reductions);
    const io::LoadedModel model = io::load_model(std::move(file), {});
    ASSERT_TRUE(model.ok());
    Reducer reducer(*model.compiled.system, reductions);
    engines::EngineOptions options = engines::options_of(model.compiled.run);
    options.observer = &reducer;
    static_cast<void>(simulate::run(*model.compiled.system, "event", options, reducer));
    EXPECT_EQ(reducer.followed(), !fast);
    EXPECT_EQ(reducer.unfollowed_text().empty(), !fast);
    reducer.restart(0);
    EXPECT_TRUE(reducer.followed());
  }
}

// x = 1/(1 − t): close to the pole a step is hardly longer than what times are off by, and values jump by as much. Nothing is halved for that.
TEST(Reductions, AreFollowedUpToAPole) {
  const std::string pole =
      "format = 1\n[coordinates]\nx = { start = 1, velocity = 1 }\n[energy]\nkinetic = \"x'^2/2\"\n"
      "[[force]]\nalong = \"x'\"\nvalue = \"2*x^3\"\n[run]\nuntil = 0.999999999\ntolerance = 1e-12\n";
  bool followed = false;
  const auto found = collect(pole, "max(x), min(x), end(x), integral(x)", -INFINITY, 2, "event", &followed);
  EXPECT_TRUE(followed);
  EXPECT_EQ(found.at("max(x)"), found.at("end(x)"));
  EXPECT_EQ(found.at("min(x)"), 1);
  EXPECT_NEAR(found.at("integral(x)"), 9 * std::log(10.0), 1e-4);
}

// Only what is hard is named; its neighbour is followed to its end. ∫ sin³⁰ over (0, 10): Wallis for three half periods, Simpson for the rest.
TEST(Reductions, AHardColumnDoesNotSpoilItsNeighbours) {
  io::ModelFile file = io::read_model_text(kFlight);
  std::vector<Reduction> reductions;
  std::string problem;
  ASSERT_TRUE(parse_reductions("max(sin(1e8*x)), integral(sin(x)^30)", reductions, problem));
  file.spec = with_reductions(file.spec, reductions);
  const io::LoadedModel model = io::load_model(std::move(file), {});
  ASSERT_TRUE(model.ok());
  Reducer reducer(*model.compiled.system, reductions);
  engines::EngineOptions options = engines::options_of(model.compiled.run);
  options.observer = &reducer;
  static_cast<void>(simulate::run(*model.compiled.system, "event", options, reducer));
  EXPECT_EQ(reducer.unfollowed_text().rfind("max(sin(1e8*x)) may be off", 0), 0U)
      << reducer.unfollowed_text();
  double half = kPi, rest = 0;
  for (int k = 1; k <= 15; ++k) half *= (2.0 * k - 1) / (2.0 * k);
  const double from = 3 * kPi;
  constexpr int kParts = 2000;
  for (int i = 0; i <= kParts; ++i)
    rest += (i == 0 || i == kParts ? 1
             : i % 2 == 1          ? 4
                                   : 2) *
            std::pow(std::sin(from + i * (10 - from) / kParts), 30);
  double values[2];
  reducer.values(values);
  EXPECT_NEAR(values[1], 3 * half + rest * (10 - from) / kParts / 3, 1e-11);
}

TEST(Reductions, DoNotDependOnRows) {
  const std::string words = "max(x*x'), rms(x), mean(x'), end(x)";
  EXPECT_EQ(collect(kSwing, words, -INFINITY, 2), collect(kSwing, words, -INFINITY, 7));
  EXPECT_EQ(collect(kSwing, words, -INFINITY, 2), collect(kSwing, words, -INFINITY, 8001));
}

TEST(Reductions, IntegralsAreQuadratures) {
  const auto found = collect(kSwing, "integral(x^2), mean(x'), rms(x), end(x), start(x)");
  EXPECT_NEAR(found.at("integral(x^2)"), 10 + std::sin(40) / 4, 1e-8);
  EXPECT_NEAR(found.at("mean(x')"), (std::cos(20) - 1) / 20, 1e-9);
  EXPECT_NEAR(found.at("rms(x)"), std::sqrt((10 + std::sin(40) / 4) / 20), 1e-9);
  EXPECT_NEAR(found.at("end(x)"), std::cos(20), 1e-9);
  EXPECT_EQ(found.at("start(x)"), 1);
}

TEST(Reductions, BeginWhereTheyAreAskedTo) {
  const double after = 1.234;  // inside a step
  const auto found = collect(kSwing, "integral(x), start(x), max(x), min(x')", after);
  EXPECT_NEAR(found.at("integral(x)"), std::sin(20) - std::sin(after), 1e-8);
  EXPECT_NEAR(found.at("start(x)"), std::cos(after), 1e-9);
  EXPECT_NEAR(found.at("max(x)"), 1, 1e-9);
  const auto end = collect(kSwing, "max(x)", 15.0);
  EXPECT_NEAR(end.at("max(x)"), 1, 1e-9);
  const auto last = collect(kSwing, "max(x)", 19.5);  // cos rises from 0.80 to 0.41 … falls
  EXPECT_NEAR(last.at("max(x)"), std::cos(19.5), 1e-9);
}

// A quantity with corners of its own, and one that is faster than the motion: steps are long where nothing moves.
TEST(Reductions, FollowFormulasThatAreFasterThanTheMotion) {
  const auto found = collect(kSwing, "integral(abs(sin(7*t))), max(sin(31*t)*t), mean(abs(x))");
  // 20 = 44 half periods of sin 7t and a rest.
  const double half = kPi / 7, rest = 20 - 44 * half;
  EXPECT_NEAR(found.at("integral(abs(sin(7*t)))"), 44 * 2.0 / 7 + (1 - std::cos(7 * rest)) / 7, 1e-6);
  double best = 0;
  for (int i = 0; i <= 2000000; ++i) best = std::max(best, std::sin(31 * 1e-5 * i) * 1e-5 * i);
  EXPECT_NEAR(found.at("max(sin(31*t)*t)"), best, 1e-6);
  const double swings = std::floor(20 / kPi + 0.5), over = 20 - (swings - 0.5) * kPi;
  EXPECT_NEAR(found.at("mean(abs(x))") * 20, 1 + 2 * (swings - 1) + (1 - std::cos(over)), 1e-6);
}

const std::string kBall = R"toml(format = 1
[parameters]
g = 9.81
[coordinates]
h = 1
[energy]
kinetic = "h'^2/2"
potential = "g*h"
[[contact]]
name = "ground"
gap = "h"
impact = 0.5
[run]
until = 3
tolerance = 1e-11
[output]
columns = { N = "normal(ground)" }
)toml";

// Momentum: what the ground has given is what gravity has taken and what is left of the velocity. Impacts, an accumulation and rest are
// in it.
TEST(Reductions, ImpulsesAreThoseOfTheBalance) {
  for (const char* engine : {"event", "exact"}) {
    const auto found =
        collect(kBall, "impulse(ground), end(h'), max(N), count(impact ground), first(impact), max(h')",
                -INFINITY, 2, engine);
    EXPECT_NEAR(found.at("impulse(ground)"), 9.81 * 3 + found.at("end(h')"), 1e-8) << engine;
    EXPECT_NEAR(found.at("max(N)"), 9.81, 1e-9);
    EXPECT_NEAR(found.at("first(impact)"), std::sqrt(2 / 9.81), 1e-9);
    EXPECT_NEAR(found.at("max(h')"), 0.5 * std::sqrt(2 * 9.81), 1e-8);
    EXPECT_GT(found.at("count(impact ground)"), 5);
  }
  const auto later = collect(kBall, "impulse(ground), start(h'), end(h')", 1.0);
  EXPECT_NEAR(later.at("impulse(ground)"), 9.81 * 2 + later.at("end(h')") - later.at("start(h')"), 1e-8);
}

// The same balance where the ground is a spring.
TEST(Reductions, ImpulsesOfCompliantContactsAreThoseOfTheBalance) {
  std::string text = kBall;
  const std::string rigid = "impact = 0.5";
  text.replace(text.find(rigid), rigid.size(), "compliant = { stiffness = 500 }");
  const auto found = collect(text, "impulse(ground), end(h')");
  EXPECT_GT(found.at("impulse(ground)"), 10);
  EXPECT_NEAR(found.at("impulse(ground)"), 9.81 * 3 + found.at("end(h')"), 1e-8);
}

TEST(Reductions, SayWhatCannotBeRead) {
  std::vector<Reduction> out;
  std::string problem;
  for (const char* text : {"maximum(x)", "max()", "max(x", "count(bang)", "period(3)", "max(x),,end(x)",
                           "max(x), max(x)", "impulse"}) {
    out.clear();
    problem.clear();
    EXPECT_FALSE(parse_reductions(text, out, problem)) << text;
    EXPECT_FALSE(problem.empty()) << text;
  }
  out.clear();
  EXPECT_TRUE(parse_reductions("max(atan2(x, x')), count(watch top) , period", out, problem)) << problem;
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(out[0].expression, "atan2(x, x')");
  EXPECT_EQ(out[1].where, "top");
}

}  // namespace
}  // namespace judder::analysis
