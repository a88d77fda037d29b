// Steps that never get stuck: what starts from rest, what has a kink, what runs long, what is only watched.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

using engines::EngineResult;
using std::numbers::pi;

// --- kinks that are written by inverse functions ---

// Velocity of x'' = asin(sin(w t)) from rest. The triangle rises from −π/2 to π/2 in half a period π/w; over each half about its zero it gives
// nothing, so only the time s since the last lowest or highest point counts.
double triangle_velocity(double w, double t) {
  const double s = std::fmod(w * t + pi / 2, pi) - pi / 2;  // phase in the present half
  const bool rising = std::fmod(w * t + pi / 2, 2 * pi) < pi;
  return (rising ? 0.5 * s * s : pi * pi / 4 - 0.5 * s * s) / w;
}

TEST(StepsOverKinks, TrianglesAndSawsByInverseFunctionsAreMetAtTheirKinks) {
  for (const double w : {0.7, 7.0, 70.0}) {
    const auto forced = [w](const std::string& wave) {
      return text_model("[parameters]\nw = " + std::to_string(w) + R"toml(
[coordinates]
x = 0
y = 0
[energy]
kinetic = "(x'^2 + y'^2)/2"
[[force]]
along = "x'"
value = ")toml" + wave + R"toml("
[run]
until = 10
)toml");
    };
    for (const double tolerance : {1e-5, 1e-12}) {
      TestModel triangle = forced("asin(sin(w*t))");
      triangle.options.tolerance = tolerance;
      EXPECT_NEAR(finish(triangle).end.y[2], triangle_velocity(w, 10), 1e-12) << w;
      TestModel saw = forced("atan(tan(w*t))");
      saw.options.tolerance = tolerance;
      const double phase = std::fmod(w * 10 + pi / 2, pi) - pi / 2;
      EXPECT_NEAR(finish(saw).end.y[2], 0.5 * phase * phase / w, 1e-12) << w;
    }
  }
}

// Friction of size 1 in other words than sign: 1.5 m/s are gone after 1.5 s and 1.125 m, and the body stays there.
TEST(StepsOverKinks, FrictionWrittenWithSizesSticks) {
  for (const std::string force : {"-x'/abs(x')", "-x'/sqrt(x'^2)", "-x'*(x'^2)^(-0.5)", "-hypot(x', 0)/x'"}) {
    TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 1.5 }
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = ")toml" + force + R"toml("
[run]
until = 3
)toml");
    for (const double tolerance : {1e-6, 1e-11}) {
      model.options.tolerance = tolerance;
      const EngineResult result = finish(model);
      EXPECT_LT(result.steps, 20) << force;
      EXPECT_NEAR(result.end.y[0], 1.125, 1e-12) << force;
      EXPECT_EQ(result.end.y[1], 0) << force;
    }
  }
}

// --- what lies between the points of a step ---

std::string flying(const std::string& force, const std::string& more = "") {
  return R"toml(
[coordinates]
x = { velocity = 1 }
y = 1
[energy]
kinetic = "(x'^2 + y'^2)/2"
[[force]]
along = "x'"
value = ")toml" +
         force + "\"\n" + more + "[run]\nuntil = 10\n";
}

// A body that no force has moved for long comes to a hill of the width w. Below its top it goes through, late by ∫ (1/v(x) − 1/v(∞)) dx, and has its
// speed again; a higher one throws it back.
TEST(StepsOverNarrowPlaces, AHillOfPotentialIsMet) {
  for (const double width : {0.1, 1e-2, 1e-3, 1e-5}) {
    for (const double place : {5.0, 5.1234}) {
      for (const double height : {0.1, 0.3, 2.0}) {
        const std::string w = std::to_string(width);
        const std::string u = "((x - " + std::to_string(place) + ")/" + w + ")";
        TestModel model =
            text_model(flying("2*" + std::to_string(height) + "*" + u + "/" + w + "*exp(-" + u + "^2)"));
        double late = 0;
        constexpr int kPieces = 4000;
        for (int k = 0; k < kPieces; ++k) {  // midpoint rule, exact to rounding for what fades like this
          const double s = -8 + 16 * (k + 0.5) / kPieces;
          late += 16.0 / kPieces * width * (1 / std::sqrt(1 - 2 * height * std::exp(-s * s)) - 1);
        }
        for (const double tolerance : {1e-6, 1e-9}) {
          model.options.tolerance = tolerance;
          const EngineResult result = finish(model);
          const double right = height < 0.5 ? 1 : -1;
          EXPECT_NEAR(result.end.y[2], right, 300 * tolerance) << width << ' ' << place << ' ' << height;
          if (height < 0.5) {
            EXPECT_NEAR(result.end.y[0], 10 - late, 2000 * tolerance)
                << width << ' ' << place << ' ' << height;
          }
          EXPECT_LT(result.steps, 400);
        }
      }
    }
  }
}

// The work of a bump of the width w is its integral, w.
TEST(StepsOverNarrowPlaces, TheWorkOfANarrowBumpIsItsIntegral) {
  for (const double width : {0.3, 1e-2, 1e-4}) {
    TestModel model = text_model(flying("-bump((x - 5.05)/" + std::to_string(width) + ")"));
    for (const double tolerance : {1e-6, 1e-9}) {
      model.options.tolerance = tolerance;
      EXPECT_NEAR(finish(model).end.y[2], std::sqrt(1 - 2 * width), 300 * tolerance) << width;
    }
  }
}

// Windows in position, velocity or a state that open and close within one step, as max writes them: the work of −5 (1 − u²) over |u| < 1, u = (x − 5.3)/w,
// is 20 w/3. With w = 0.3 that is more than the body has: it comes back with its speed.
TEST(StepsOverNarrowPlaces, AWindowThatOpensAndClosesWithinAStepIsMet) {
  for (const double tolerance : {1e-6, 1e-9}) {
    const auto end_of = [&](const std::string& force, int component) {
      TestModel model = text_model(flying(force));
      model.options.tolerance = tolerance;
      return finish(model).end.y[component];
    };
    EXPECT_NEAR(end_of("-5*max(0, 1 - ((x - 5.3)/0.3)^2)", 2), -1, 300 * tolerance);
    EXPECT_NEAR(end_of("-5*max(0, 1 - ((x - 5.3)/0.06)^2)", 2), std::sqrt(0.2), 300 * tolerance);
    EXPECT_NEAR(end_of("-5*(abs(1 - ((x - 5.3)/0.06)^2) + 1 - ((x - 5.3)/0.06)^2)/2", 2), std::sqrt(0.2),
                300 * tolerance);
    EXPECT_NEAR(end_of("-max(0, (x - 5)*(5.6 - x))^2", 2), std::sqrt(1 - std::pow(0.6, 5) / 15),
                300 * tolerance);
  }
}

// Powers of quotients: the constant alone would be beyond the range of numbers.
TEST(StepsOverNarrowPlaces, PowersOfQuotientsStayInRange) {
  TestModel rising = text_model(flying("(t/10)^400"));
  EXPECT_NEAR(finish(rising).end.y[2], 1 + 10.0 / 401, 1e-8);
  TestModel falling = text_model(flying("1/(1 + (t/4)^800)"));
  EXPECT_NEAR(finish(falling).end.y[2], 1 + 4 * (1 / std::sin(pi / 800)) * pi / 800, 1e-7);
}

// A body in free flight hits a thin spike: x = t, y = 1, and the spike is as high as y where 2 exp(−((x − 5)/w)²) = 1.
TEST(StepsOverNarrowPlaces, AThinSpikeIsHit) {
  for (const double width : {0.05, 1e-3, 1e-5}) {
    const TestModel model =
        text_model(flying("0", "[[contact]]\nname = \"spike\"\ngap = \"y - 2*exp(-((x - 5)/" +
                                   std::to_string(width) + ")^2)\"\n[contact.impact]\nrestitution = 1\n"));
    const simulate::Result result = run(model);
    ASSERT_EQ(result.data.events.size(), 1U) << width;
    EXPECT_NEAR(result.data.events[0].time, 5 - width * std::sqrt(std::log(2.0)), 1e-8) << width;
  }
}

// --- what has not moved yet ---

std::string chain(int masses) {
  return "[parameters]\nn = " + std::to_string(masses) + R"toml(
[coordinates]
x = { each = "i = 1 to n", velocity = "if(i == 1, 1, 0)" }
[energy]
kinetic   = "sum(i = 1 to n, x[i]'^2/2)"
potential = "sum(i = 1 to n - 1, (x[i+1] - x[i])^2/2)"
[run]
until = 30
)toml";
}

// The modes of a free chain are cosines: x_i = t/n + Σ_j 2/n cos(π j (i − ½)/n) cos(π j/2n) sin(ω_j t)/ω_j, ω_j = 2 sin(π j/2n).
TEST(StepsFromRest, AChainOfWhichOneMassMovesFollowsItsModes) {
  for (const int n : {3, 4, 9, 20, 50}) {
    TestModel model = text_model(chain(n));
    for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
      model.options.tolerance = tolerance;
      const EngineResult result = finish(model);
      EXPECT_LT(result.steps, 3000);
      for (int i = 0; i < n; ++i) {
        double x = 30.0 / n;
        for (int j = 1; j < n; ++j) {
          const double w = 2 * std::sin(pi * j / (2 * n));
          x += 2.0 / n * std::cos(pi * j * (i + 0.5) / n) * std::cos(pi * j / (2 * n)) * std::sin(30 * w) / w;
        }
        EXPECT_NEAR(result.end.y[i], x, 300 * tolerance) << n << " masses, mass " << i << " at " << tolerance;
      }
    }
  }
}

// A ball strikes the end of a chain at rest; nothing is lost.
TEST(StepsFromRest, AChainHitByABallKeepsEnergyAndMomentum) {
  TestModel model = text_model(R"toml(
[parameters]
n = 12
[coordinates]
b = { start = -1, velocity = 2 }
x = { each = "i = 1 to n" }
[energy]
kinetic   = "b'^2/2 + sum(i = 1 to n, x[i]'^2/2)"
potential = "sum(i = 1 to n - 1, 50*(x[i+1] - x[i])^2)"
[[contact]]
name = "hit"
gap  = "x[1] - b"
impact = 1
[run]
until = 4
)toml");
  for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
    model.options.tolerance = tolerance;
    const EngineResult result = finish(model);
    double momentum = 0;
    double energy = 0;
    const std::size_t n = 13;
    for (std::size_t i = 0; i < n; ++i) {
      momentum += result.end.y[n + i];
      energy += result.end.y[n + i] * result.end.y[n + i] / 2;
      if (i > 1) energy += 50 * std::pow(result.end.y[i] - result.end.y[i - 1], 2);
    }
    EXPECT_NEAR(momentum, 2, 300 * tolerance);
    EXPECT_NEAR(energy, 2, 1000 * tolerance);
  }
}

/// ∫₀ᵀ sin(ω(T − s))/ω f(s) ds by the rule of Gauss with three points in 40000 parts; ω = 0: (T − s) f(s).
double duhamel(const std::function<double(double)>& f, double w, double end) {
  constexpr int kParts = 40000;
  const double node = std::sqrt(0.6);
  double sum = 0;
  for (int k = 0; k < kParts; ++k) {
    const double half = end / (2 * kParts);
    const double middle = (2 * k + 1) * half;
    for (const auto& [place, weight] :
         {std::pair{-node, 5.0 / 9}, std::pair{0.0, 8.0 / 9}, std::pair{node, 5.0 / 9}}) {
      const double s = middle + place * half;
      sum += weight * half * f(s) * (w > 0 ? std::sin(w * (end - s)) / w : end - s);
    }
  }
  return sum;
}

double bump(double s) { return s > 0 && s < 1 ? std::exp(1 / (s * (s - 1))) / 0.0070298584066096562392 : 0; }

TEST(StepsFromRest, ForcesThatBeginFlatMoveABodyAtRest) {
  struct Force {
    const char* text;
    std::function<double(double)> value;
  };
  const std::vector<Force> forces = {
      {"t^3", [](double t) { return std::pow(t, 3); }},
      {"t^4", [](double t) { return std::pow(t, 4); }},
      {"t^5", [](double t) { return std::pow(t, 5); }},
      {"t^6", [](double t) { return std::pow(t, 6); }},
      {"sin(t)^4", [](double t) { return std::pow(std::sin(t), 4); }},
      {"(1 - cos(t))^2", [](double t) { return std::pow(1 - std::cos(t), 2); }},
      {"bump(t)", [](double t) { return bump(t); }},
      {"bump(t/2)", [](double t) { return bump(t / 2); }},
      {"bump(t - 1)", [](double t) { return bump(t - 1); }},
      {"max(0, t - 1)^4", [](double t) { return std::pow(std::max(0.0, t - 1), 4); }},
  };
  for (const Force& force : forces) {
    for (const double k : {0.0, 1e-6, 1.0, 100.0}) {
      TestModel model =
          text_model(std::string("[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"") +
                     std::to_string(k) + "*x^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = \"" + force.text +
                     "\"\n[run]\nuntil = 3\n");
      for (const double tolerance : {1e-6, 1e-9, 1e-11}) {
        model.options.tolerance = tolerance;
        const EngineResult result = finish(model);
        const double x = duhamel(force.value, std::sqrt(k), 3);
        EXPECT_NEAR(result.end.y[0], x, 100 * tolerance * std::max(1.0, std::abs(x)))
            << force.text << " on " << k << " at " << tolerance;
        EXPECT_LT(result.steps, 20000) << force.text << " on " << k << " at " << tolerance;
      }
    }
  }
}

/// x'' + k x = t^p from rest, by its series Σ (−k)^m Γ(p+1)/Γ(p+3+2m) t^(p+2+2m).
double power_response(double p, double k, double t) {
  long double sum = 0;
  for (int m = 0; m < 60; ++m) {
    const long double exponent = static_cast<long double>(p) + 2 + 2 * m;
    sum += std::pow(static_cast<long double>(-k), m) *
           std::exp(std::lgamma(static_cast<long double>(p) + 1) - std::lgamma(exponent + 1)) *
           std::pow(static_cast<long double>(t), exponent);
  }
  return static_cast<double>(sum);
}

// A power of time that is no whole number is the same share of itself wrong in a first step of any length.
TEST(StepsFromRest, FractionalPowersOfTimeMoveABodyAtRest) {
  for (const double p : {0.5, 0.7, 1.5, 2.5, 3.3}) {
    for (const double k : {0.0, 1.0, 4.0}) {
      for (const char* beside : {"", "y = 1\n"}) {  // another one that moves from the start
        const std::string other = *beside == 0 ? "" : " + y'^2/2";
        TestModel model = text_model("[coordinates]\nx = 0\n" + std::string(beside) +
                                     "[energy]\nkinetic = \"x'^2/2" + other + "\"\npotential = \"" +
                                     std::to_string(k) + "*x^2/2" + (*beside == 0 ? "" : " + 2*y^2") +
                                     "\"\n[[force]]\nalong = \"x'\"\nvalue = \"max(0, t - 0.5)^" +
                                     std::to_string(p) + "\"\n[run]\nuntil = 3.5\n");
        for (const double tolerance : {1e-6, 1e-9, 1e-11, 1e-12}) {
          model.options.tolerance = tolerance;
          const EngineResult result = finish(model);
          const double x = power_response(p, k, 3);
          EXPECT_NEAR(result.end.y[0], x, 100 * tolerance * std::max(1.0, std::abs(x)))
              << p << " on " << k << " at " << tolerance << beside;
          EXPECT_LT(result.steps, 1000) << p << " on " << k << " at " << tolerance << beside;
        }
      }
    }
  }
}

// No Taylor series decides whether a contact opens under √t; the first step does.
TEST(StepsFromRest, AContactUnderAFractionalPowerOpensAtOnce) {
  for (const double p : {0.5, 1.5, 2.5}) {
    TestModel model = text_model(
        "[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\npotential = "
        "\"x^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = \"t^" +
        std::to_string(p) + "\"\n[[contact]]\nname = \"w\"\ngap = \"x\"\nimpact = 0.5\n[run]\nuntil = 3\n");
    for (const double tolerance : {1e-6, 1e-9, 1e-11}) {
      model.options.tolerance = tolerance;
      const simulate::Result result = run(model);
      ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
      EXPECT_NEAR(result.end.end.y[0], power_response(p, 1, 3), 1000 * tolerance);
      for (const engines::Event& event : result.data.events) EXPECT_EQ(event.time, 0);
    }
  }
}

// Balls in a row that touch without pressing, struck at one end: ball i begins to move like t to a power that grows with i and is no whole
// number. Momentum and energy are kept, and the tolerances agree.
TEST(StepsFromRest, AGranularChainIsStruck) {
  for (const double exponent : {1.5, 2.5}) {
    for (const int n : {4, 10, 16}) {
      TestModel model = text_model("[parameters]\nn = " + std::to_string(n) + R"toml(
[coordinates]
x = { each = "i = 1 to n", start = 0, velocity = "if(i == 1, 1, 0)" }
[energy]
kinetic   = "sum(i = 1 to n, x[i]'^2/2)"
[[contact]]
each = "i = 1 to n - 1"
name = "c"
gap = "x[i+1] - x[i]"
compliant = { stiffness = 1000, exponent = )toml" +
                                   std::to_string(exponent) + " }\n[run]\nuntil = 3\n");
      model.options.tolerance = 1e-13;
      const EngineResult finest = finish(model);
      for (const double tolerance : {1e-6, 1e-9, 1e-11, 1e-12}) {
        model.options.tolerance = tolerance;
        const EngineResult result = finish(model);
        double momentum = 0;
        double energy = 0;
        for (int i = 0; i < n; ++i) {
          const double v = result.end.y[n + i];
          momentum += v;
          energy += v * v / 2;
          if (i + 1 < n)
            energy += 1000 / (exponent + 1) *
                      std::pow(std::max(0.0, result.end.y[i] - result.end.y[i + 1]), exponent + 1);
          EXPECT_NEAR(result.end.y[i], finest.end.y[i], 2000 * tolerance) << n << " balls, ball " << i;
        }
        EXPECT_NEAR(momentum, 1, 1000 * tolerance);
        EXPECT_NEAR(energy, 0.5, 1000 * tolerance);
        EXPECT_LT(result.steps, 4000) << n << " balls at " << tolerance;
      }
    }
  }
}

TEST(StepsFromRest, TheFirstMovementCostsHundredsOfSteps) {
  const auto model = [](const char* force) {
    return text_model(std::string("[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\npotential = "
                                  "\"x^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = \"") +
                      force + "\"\n[run]\nuntil = 3\n");
  };
  const EngineResult power = finish(model("t^4"));
  EXPECT_NEAR(power.end.y[0], 20.7598199, 5e-8);  // 24 − 12 t² + t⁴ − 24 cos t
  EXPECT_NEAR(power.end.y[0], 24 - 12 * 9 + 81 - 24 * std::cos(3.0), 1e-7);
  EXPECT_LT(power.steps, 340);
  EXPECT_LT(finish(model("bump(t)")).steps, 2000);
}

// A state at the end of a row of integrators has no energy to be compared with.
TEST(StepsFromRest, ARowOfIntegratorsStarts) {
  TestModel model = text_model(R"toml(
[state]
a = { start = 0, rate = "1" }
b = { start = 0, rate = "a" }
c = { start = 0, rate = "b" }
d = { start = 0, rate = "c" }
e = { start = 0, rate = "d" }
f = { start = 0, rate = "e - f" }
g = { start = 0, rate = "f - g" }
h = { start = 0, rate = "g - h" }
i = { start = 0, rate = "h" }
[run]
until = 2
)toml");
  for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
    model.options.tolerance = tolerance;
    const EngineResult result = finish(model);
    EXPECT_NEAR(result.end.y[4], 32.0 / 120, 100 * tolerance);
  }
}

// A gram beside a tonne: the light one has its own size, and its motion is as exact as that of the heavy one.
TEST(StepsFromRest, ALightMassBesideAHeavyOneKeepsItsErrorControl) {
  for (const double ratio : {1e-3, 1e-5, 1e-6}) {
    // (1 + k) and coupling k = 100 ratio: in the limit the light mass swings with ω = 10 about the heavy one, driven by it.
    const std::string m = std::to_string(ratio * 1e12) + "e-12";
    TestModel model = text_model("[parameters]\nm = " + m + R"toml(
[coordinates]
a = 1
b = 0
[energy]
kinetic   = "a'^2/2 + m*b'^2/2"
potential = "a^2/2 + 100*m*(a - b)^2/2"
[run]
until = 20
)toml");
    for (const double tolerance : {1e-6, 1e-9, 1e-11}) {
      model.options.tolerance = tolerance;
      const EngineResult result = finish(model);
      // Modes of [1 + 100 m, −100 m; −100, 100], by the quadratic equation.
      const double trace = 101 + 100 * ratio;
      const double root = std::sqrt(trace * trace / 4 - 100);
      double a = 0;
      double b = 0;
      for (const double w2 : {100 / (trace / 2 + root), trace / 2 + root}) {
        // shape (1, r), r = 100/(100 − ω²); amplitude from a(0) = 1, b(0) = 0 in the metric (1, m)
        const double r = 100 / (100 - w2);
        const double amplitude = 1 / (1 + ratio * r * r);
        a += amplitude * std::cos(std::sqrt(w2) * 20);
        b += amplitude * r * std::cos(std::sqrt(w2) * 20);
      }
      EXPECT_NEAR(result.end.y[0], a, 300 * tolerance) << ratio;
      EXPECT_NEAR(result.end.y[1], b, 1000 * tolerance + 1e-9) << ratio;
    }
  }
}

// --- powers with a kink ---

// Hertz: a ball of speed v stays T = 4 √π Γ(2/5)/(5 Γ(9/10)) (5 m v²/(4 k))^(2/5)/v on its spring and leaves with −v.
TEST(StepsAtKinks, AHertzContactLastsAsLongAsItMust) {
  TestModel model = text_model(R"toml(
[coordinates]
x = { start = 0.01, velocity = -2 }
[energy]
kinetic = "x'^2/2"
[[contact]]
name = "c"
gap  = "x"
compliant = { stiffness = 1e4, exponent = 1.5 }
[run]
until = 0.2
)toml");
  const double depth = std::pow(5 * 4 / (4 * 1e4), 0.4);
  const double duration = 4 * std::sqrt(pi) * std::tgamma(0.4) / (5 * std::tgamma(0.9)) * depth / 2;
  for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
    model.options.tolerance = tolerance;
    const EngineResult result = finish(model);
    EXPECT_NEAR(result.end.y[1], 2, 1000 * tolerance);
    EXPECT_NEAR(result.end.y[0], 2 * (0.2 - 0.005 - duration), 1000 * tolerance);
  }
}

TEST(StepsAtKinks, DropsOnPowersOfTheDepthKeepTheirEnergyOrAgreeAtTwoTolerances) {
  std::mt19937 random(7);
  const auto between = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random()) / 4294967296.0;
  };
  for (const double exponent : {1.2, 1.5, 2.5}) {
    for (int drop = 0; drop < 10; ++drop) {
      const double k = std::pow(10, between(2, 6));
      const double start = between(0.1, 2);
      const double velocity = between(-3, 1);
      const double damping = drop % 2 == 0 ? 0 : between(0.1, 3);
      TestModel model =
          text_model("[coordinates]\nx = { start = " + std::to_string(start) +
                     ", velocity = " + std::to_string(velocity) +
                     " }\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"9.81*x\"\n[[contact]]\nname = "
                     "\"c\"\ngap = \"x\"\ncompliant = { stiffness = " +
                     std::to_string(k) + ", exponent = " + std::to_string(exponent) +
                     (damping > 0 ? ", damping = " + std::to_string(damping) : std::string()) +
                     " }\n[run]\nuntil = 2\n");
      model.options.tolerance = 1e-10;
      const EngineResult result = finish(model);
      if (damping > 0) {
        model.options.tolerance = 1e-12;
        const EngineResult finer = finish(model);
        EXPECT_NEAR(result.end.y[0], finer.end.y[0], 1e-6) << exponent << " drop " << drop;
        EXPECT_NEAR(result.end.y[1], finer.end.y[1], 1e-5) << exponent << " drop " << drop;
      } else {
        const double x = result.end.y[0];
        const double v = result.end.y[1];
        const double kept = std::stod(std::to_string(k));
        const double energy =
            v * v / 2 + 9.81 * x + kept * std::pow(std::max(0.0, -x), exponent + 1) / (exponent + 1);
        const double before =
            std::pow(std::stod(std::to_string(velocity)), 2) / 2 + 9.81 * std::stod(std::to_string(start));
        EXPECT_NEAR(energy, before, 1e-7 * before) << exponent << " drop " << drop;
      }
    }
  }
}

// x'' = −sign(x) |x|^p has the period 4 √((p+1)/2) √π Γ(1 + 1/(p+1))/Γ(1/2 + 1/(p+1)).
TEST(StepsAtKinks, PowersOfTheDistanceSwingWithTheirPeriod) {
  struct Law {
    const char* text;
    double power;
  };
  for (const Law& law :
       {Law{"sign(x)*sqrt(abs(x))", 0.5}, Law{"x*sqrt(abs(x))", 1.5}, Law{"sign(x)*abs(x)^1.5", 1.5},
        Law{"max(0, x)^1.5 - max(0, -x)^1.5", 1.5}, Law{"x*abs(x)^0.3", 1.3},
        Law{"sign(x)*abs(x)^(1/3)", 1.0 / 3}, Law{"sign(x)*(9*abs(x))^0.25/sqrt(3)", 0.25}}) {
    const double q = 1 / (law.power + 1);
    const double period =
        4 * std::sqrt((law.power + 1) / 2) * std::sqrt(pi) * std::tgamma(1 + q) / std::tgamma(0.5 + q);
    TestModel model = text_model(
        std::string(
            "[coordinates]\nx = 1\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = \"-(") +
        law.text + ")\"\n[run]\nuntil = 1\n");
    model.options.until = 3 * period;
    for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
      model.options.tolerance = tolerance;
      const EngineResult result = finish(model);
      EXPECT_NEAR(result.end.y[0], 1, 1000 * tolerance + 1e-10) << law.text << " at " << tolerance;
      EXPECT_NEAR(result.end.y[1], 0, 3000 * tolerance + 1e-10) << law.text << " at " << tolerance;
    }
  }
}

// A fractional power of a quantity whose sign nothing fixes is still refused beyond its range: no zero is made up for it.
TEST(StepsAtKinks, ARootOfANegativeNumberIsStillNoNumber) {
  TestModel model = text_model(R"toml(
[coordinates]
x = { start = 1, velocity = -1 }
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = "1e-3*sqrt(x)"
[run]
until = 3
)toml");
  const EngineResult result = run_to_end(model);
  EXPECT_EQ(result.status.reason, Reason::not_finite);
  EXPECT_NEAR(result.status.time, 1, 1e-2);
}

// --- watches ---

TEST(StepsWithWatches, ALongRunListsEveryZero) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 1
[energy]
kinetic = "x'^2/2"
potential = "x^2/2"
[[watch]]
name = "v"
zero = "x'"
[run]
until = 20000
[output]
samples = 2
event_rows = false
)toml");
  for (const double tolerance : {1e-10, 1e-12, 1e-13}) {
    model.options.tolerance = tolerance;
    const simulate::Result result = run(model);
    EXPECT_TRUE(result.end.status.ok()) << result.end.status.message << " at " << result.end.status.time;
    ASSERT_EQ(result.data.events.size(), static_cast<std::size_t>(20000 / pi));
    // The phase drifts by less than a tolerance per radian.
    for (std::size_t k = 0; k < result.data.events.size(); ++k)
      ASSERT_NEAR(result.data.events[k].time, pi * static_cast<double>(k + 1), 20000 * tolerance + 1e-9);
  }
}

TEST(StepsWithWatches, AnOverdampedDecayHasNoZero) {
  for (const double damping : {1.5, 3.0, 20.0, 400.0}) {
    TestModel model = text_model(
        "[coordinates]\nx = 1\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\ndissipation = \"" +
        std::to_string(damping) + "*x'^2\"\n[[watch]]\nname = \"w\"\nzero = \"x\"\n[run]\nuntil = 2000\n");
    for (const double tolerance : {1e-6, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13}) {
      model.options.tolerance = tolerance;
      const simulate::Result result = run(model);
      EXPECT_TRUE(result.end.status.ok()) << result.end.status.message << " at " << result.end.status.time;
      EXPECT_EQ(result.data.events.size(), 0U) << damping << " at " << tolerance << "\n"
                                               << event_list(model.system, result.data.events);
    }
  }
}

// Poles, kinks, double zeros, zeros of rounding and endless oscillation in a watch: the motion is the same as without it.
TEST(StepsWithWatches, NoWatchChangesTheMotion) {
  const std::string motion = R"toml(
[coordinates]
x = 1
y = 1
[energy]
kinetic = "x'^2/2 + y'^2/2"
potential = "x^2/2 + y^2/2"
[run]
until = 60
tolerance = 1e-11
)toml";
  for (const char* zero : {"tan(2*x)", "1/x", "(x - 1)^2", "x - y", "x^2 + x'^2 - 1", "sin(3000*x)", "abs(x)",
                           "sqrt(abs(x))", "log(x)", "sqrt(x)", "x'^3", "(x - 0.5)^2 - 1e-17",
                           "1e9*(x + y/7 - y*(1 + 1/7))", "x^2 - x^2", "exp(-t) - exp(-40)", "floor(3*x)"}) {
    TestModel model = text_model(motion + "[[watch]]\nname = \"w\"\nzero = \"" + zero + "\"\n");
    model.options.list_switches = false;
    const EngineResult result = finish(model);
    EXPECT_NEAR(result.end.y[0], std::cos(60.0), 1e-8) << zero;
    EXPECT_NEAR(result.end.y[1], std::cos(60.0), 1e-8) << zero;
    EXPECT_LT(result.steps, 60000) << zero;
  }
}

// --- states that fall by many powers of ten and come back ---

// Prey and predators: x − ln x + y − ln y stays what it was. The prey falls to 6e-11 of what it is at most, and when the next wave comes hangs on
// the relative error there.
TEST(SmallStates, PreyThatAlmostDiesOutKeepsItsInvariant) {
  TestModel model = text_model(R"toml(
[coordinates]
q = 0
[state]
x = { start = 15, rate = "x*(1 - y)" }
y = { start = 15, rate = "y*(x - 1)" }
[energy]
kinetic = "q'^2/2"
[run]
until = 30
)toml");
  const double invariant = 2 * (15 - std::log(15.0));
  for (const double tolerance : {1e-7, 1e-9, 1e-11}) {
    model.options.tolerance = tolerance;
    const simulate::Result result = simulate::simulate(model.system, model.options, "event");
    ASSERT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
    const double x = last(result, "x");
    const double y = last(result, "y");
    ASSERT_GT(x, 0);
    ASSERT_GT(y, 0);
    EXPECT_NEAR(x - std::log(x) + y - std::log(y), invariant, 1e3 * tolerance) << tolerance;
    // By ln x and ln y, in which nothing is small: DOP853 at 1e-12.
    EXPECT_NEAR(x, 7.13054744, 3e4 * tolerance + 1e-8) << tolerance;
    EXPECT_NEAR(y / 3.68962811e-9, 1, 3e4 * tolerance + 1e-8) << tolerance;
  }
}

// A state that is zero with a rate of zero for a while is under control when it starts to move, also beside one that always moved.
TEST(SmallStates, OneThatStartsLateIsAsExactAsTheOthers) {
  TestModel model = text_model(R"toml(
[state]
p = { start = 1, rate = "1" }
r = { start = 0, rate = "max(t - 5, 0)^12" }
s = { start = 0, rate = "(1 + tanh(10*(t - 8)))/2" }
[run]
until = 10
)toml");
  for (const double tolerance : {1e-7, 1e-9, 1e-11}) {
    model.options.tolerance = tolerance;
    const simulate::Result result = simulate::simulate(model.system, model.options, "event");
    ASSERT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
    const double power = std::pow(5.0, 13) / 13;
    EXPECT_NEAR(last(result, "r"), power, 100 * tolerance * power) << tolerance;
    EXPECT_NEAR(last(result, "s"), 1 + 0.05 * std::log(std::cosh(20.0) / std::cosh(80.0)) + 4,
                100 * tolerance)
        << tolerance;
  }
}

// What drives a state begins with zero, and the state answers in a hundredth of the step before: z' = (s − z)/τ, w' = s (1 − w²)/τ with the solutions s − τ (1 − exp(−s/τ))
// and tanh(s²/2τ), s the time, or the way of a body, since then. The first step of them must be as exact as the others, with and without inertia.
TEST(SmallStates, OnesThatStartLateAndAnswerFastAreAsExactAsTheOthers) {
  const double tau = 1e-3;
  for (const std::string way : {"max(x, 0)", "max(t - 1, 0)"}) {
    const std::string linear = "(" + way + " - z)*1e3";
    const std::string quadratic = way + "*(1 - w^2)*1e3";
    const TestModel states = text_model(
        "[coordinates]\nx = { start = -1, velocity = 1 }\n[energy]\nkinetic = \"x'^2/2\"\n"
        "[state]\nz = { start = 0, rate = \"" +
        linear + "\" }\nw = { start = 0, rate = \"" + quadratic + "\" }\n[run]\nuntil = 1.5\n");
    const TestModel massless = text_model(
        "[coordinates]\nx = { start = -1, velocity = 1 }\nz = { massless = true }\nw = { massless = true }\n"
        "[energy]\nkinetic = \"x'^2/2\"\ndissipation = \"z'^2/2 + w'^2/2\"\n"
        "[[force]]\nalong = \"z'\"\nvalue = \"" +
        linear + "\"\n[[force]]\nalong = \"w'\"\nvalue = \"" + quadratic + "\"\n[run]\nuntil = 1.5\n");
    for (const TestModel* model : {&states, &massless}) {
      engines::EngineOptions options = model->options;
      for (const double tolerance : {1e-5, 1e-8, 1e-11}) {
        options.tolerance = tolerance;
        for (const double s : {0.004, 0.03, 0.5}) {
          options.until = 1 + s;
          const simulate::Result result = simulate::simulate(model->system, options, "event");
          ASSERT_EQ(result.end.status.reason, Reason::done) << way << ' ' << tolerance;
          EXPECT_NEAR(last(result, "z"), s - tau * (1 - std::exp(-s / tau)), 100 * tolerance) << way << s;
          EXPECT_NEAR(last(result, "w"), std::tanh(s * s / (2 * tau)), 100 * tolerance) << way << s;
        }
      }
    }
  }
}

// The bristle of a row whose load begins with zero while it slips: k z + c ż = −L with L = x on the way x = t − 1 of the body that loads it.
TEST(SmallStates, ABristleFollowsALoadThatBegins) {
  TestModel model = text_model(R"toml(
[coordinates]
x = { start = -1, velocity = 1 }
y = { velocity = -1 }
[energy]
kinetic = "x'^2/2 + 1e6*y'^2"
[[friction]]
name = "pad"
slip = "y'"
normal = "max(x, 0)"
law = { type = "penalty", mu = 1, stiffness = 100, damping = 0.5 }
[run]
until = 1.5
)toml");
  const double tau = 0.005;
  for (const double tolerance : {1e-6, 1e-8, 1e-10}) {
    model.options.tolerance = tolerance;
    for (const double s : {0.001, 0.02, 0.5}) {
      model.options.until = 1 + s;
      const simulate::Result result = simulate::simulate(model.system, model.options, "event");
      ASSERT_EQ(result.end.status.reason, Reason::done);
      const double bristle = (s - tau * (1 - std::exp(-s / tau))) / 100;
      EXPECT_NEAR(last(result, "pad.bristle"), -bristle, 1e3 * tolerance * bristle) << s << ' ' << tolerance;
    }
  }
}

// --- what lies between the points of a step ---

// A pulse of force long after the start acts whatever `until` is: on a free mass, on a block that it makes slip, by a wall that comes and goes.
TEST(Pulses, AreMetHoweverLongTheStepsBefore) {
  const double width = std::sqrt(std::acos(-1.0));
  for (const double until : {10.0, 37.0, 90.0}) {
    for (const double tolerance : {1e-6, 1e-9, 1e-11}) {
      TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 0.1 }
y = 0
z = 0
[energy]
kinetic = "x'^2/2 + y'^2/2 + z'^2/2"
[[force]]
along = "x'"
value = "exp(-((t - 8)/0.05)^2)"
[[force]]
along = "y'"
value = "2*exp(-((t - 8)/0.1)^2)"
[[friction]]
name = "pad"
slip = "y'"
normal = 1
law = 0.5
[[contact]]
name = "wall"
gap = "z + 0.0005 - 0.001*exp(-((t - 8)/0.1)^2)"
[[friction]]
name = "brake"
slip = "z'"
normal = 1
law = 0.5
[run]
until = 10
)toml");
      model.options.until = until;
      model.options.tolerance = tolerance;
      const simulate::Result result = simulate::simulate(model.system, model.options, "event");
      ASSERT_EQ(result.end.status.reason, Reason::done) << until << ' ' << result.end.status.message;
      EXPECT_NEAR(last(result, "x'"), 0.1 + 0.05 * width, 100 * tolerance) << until << ' ' << tolerance;
      // From ln 4 on the pulse is above the limit: it slips at 8 - 0.1 sqrt(ln 4), and stops where the work of friction has eaten the rest.
      EXPECT_NEAR(last(result, "y"), 0.0716656185, 1e-9 + 100 * tolerance) << until << ' ' << tolerance;
      EXPECT_NEAR(last(result, "z"), 0.0005, 1e-9 + tolerance) << until << ' ' << tolerance;
    }
  }
}

// --- belts that begin with a small difference ---

// The body rests on one joint while a belt begins to slip under it with b(t) ~ t², a difference of numbers near one: first its sign is rounding, then the power of its friction
// has few digits. The friction 0.2 of the belt dissipates 0.2 ∫ |b| dt, and nothing happens.
TEST(StepsFromRest, BeltsThatBeginWithASmallDifference) {
  struct Belt {
    const char* speed;
    double way;  ///< ∫ |b| dt over 1.1
  };
  const Belt belts[] = {{"0.3*(1 - cos(0.6*t))", 0.3 * (1.1 - std::sin(0.66) / 0.6)},
                        {"0.3*(exp(t) - 1 - t)", 0.3 * (std::exp(1.1) - 1 - 1.1 - 0.605)},
                        {"0.3*(sin(t) - t)", 0.3 * (0.605 - (1 - std::cos(1.1)))}};
  for (const Belt& belt : belts) {
    for (const double tolerance : {1e-6, 1e-8, 1e-11}) {
      TestModel model = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "x'^2/2"
[[friction]]
name = "ground"
slip = "x'"
normal = 2
law = 0.6
[[friction]]
name = "belt"
slip = "x' - )toml" + std::string(belt.speed) +
                                   R"toml("
normal = 0.25
law = 0.8
[run]
until = 1.1
[output]
columns = { lost = "dissipated(belt)" }
)toml");
      model.options.tolerance = tolerance;
      const simulate::Result result = simulate::simulate(model.system, model.options, "event");
      ASSERT_EQ(result.end.status.reason, Reason::done) << belt.speed << ' ' << result.end.status.message;
      EXPECT_LT(result.end.steps, 200) << belt.speed << ' ' << tolerance;
      EXPECT_EQ(result.data.events.size(), 0U) << belt.speed << ' ' << tolerance;
      EXPECT_EQ(last(result, "x"), 0) << belt.speed;
      EXPECT_NEAR(last(result, "lost"), 0.2 * belt.way, 10 * tolerance * belt.way) << belt.speed;
    }
  }
}

// --- where a motion ends ---

// x' = 1/(1 − t): no step is short enough at t = 1, and the report says whose.
TEST(StepsThatEnd, AMotionThatEndsNamesItsCoordinate) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { start = 0, velocity = 1 }
still = 1
[energy]
kinetic = "x'^2/2 + still'^2/2"
[[force]]
along = "x'"
value = "x'^2"
[run]
until = 2
)toml");
  const EngineResult result = run_to_end(model);
  EXPECT_FALSE(result.status.ok());
  EXPECT_NEAR(result.status.time, 1, 1e-6);
  EXPECT_NE((result.status.where + result.status.message).find("x"), std::string::npos);
  if (result.status.reason == Reason::step_too_small) {
    EXPECT_NE(result.status.where.find("'x'"), std::string::npos);
  }
}

}  // namespace
}  // namespace judder
