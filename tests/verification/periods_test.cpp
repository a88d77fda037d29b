// Least periods that are known in another way: elliptic integrals by the arithmetic-geometric mean, closed forms between impacts, the least period
// of a force. Found at any tolerance, whatever rows are asked for, from any start.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "count.hpp"
#include "judder/analysis/periodic.hpp"
#include "judder/core/number.hpp"
#include "judder/io/reader.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

constexpr double kPi = 3.141592653589793;

struct Found {
  engines::EngineResult end;
  std::optional<analysis::PeriodicMotion> motion;
  std::optional<double> forcing;
};

Found until_periodic(const std::string& text, double tolerance, long samples, const std::string& engine) {
  const model::Spec spec = io::read_model_text("format = 1\n" + text).spec;
  model::Compiled plain = model::compile(spec, {});
  if (!plain.system) throw std::runtime_error(render(plain.diagnostics, "model", text));
  Found out{{}, {}, analysis::forcing_period(*plain.system)};
  if (!out.forcing) return out;
  model::Compiled watched = model::compile(analysis::with_sections(spec, *plain.system, *out.forcing), {});
  if (!watched.system) throw std::runtime_error(render(watched.diagnostics, "model", text));
  engines::EngineOptions run = engines::options_of(watched.run);
  run.tolerance = tolerance;
  run.samples = samples;
  simulate::MemorySink data(*watched.system);
  out.end = analysis::run_until_periodic(*watched.system, engine, run, *out.forcing, data, out.motion);
  return out;
}

/// Complete elliptic integral of the first kind of modulus k: π/(2 agm(1, √(1 − k²))).
double elliptic(double k) {
  double a = 1, b = std::sqrt(1 - k * k);
  for (int i = 0; i < 40 && std::abs(a - b) > 1e-16 * a; ++i) {
    const double mean = 0.5 * (a + b);
    b = std::sqrt(a * b);
    a = mean;
  }
  return kPi / (2 * a);
}

class Periods : public testing::Test {
 protected:
  double between(double low, double high) { return std::uniform_real_distribution<>(low, high)(random_); }
  int whole(int low, int high) { return std::uniform_int_distribution<>(low, high)(random_); }
  static std::string number(double x) { return "(" + to_text(x) + ")"; }

  static std::string body(double start, double velocity, const std::string& energies, double until,
                          const std::string& more = "") {
    return "[coordinates]\nx = { start = " + to_text(start) + ", velocity = " + to_text(velocity) +
           " }\n[energy]\nkinetic = \"x'^2/2\"\n" + energies + "\n" + more +
           "[run]\nuntil = " + to_text(until) + "\n";
  }
  /// A damped oscillator under a force: its motion has the period of the force.
  std::string forced(const std::string& force, const std::string& more = "") {
    return body(between(-1, 1), between(-1, 1),
                "potential = \"" + to_text(between(0.2, 9)) + "*x^2/2\"\ndissipation = \"" +
                    to_text(between(0.02, 0.4)) + "*x'^2\"",
                3000, "[[force]]\nalong = \"x'\"\nvalue = \"" + force + "\"\n" + more);
  }

  /// At a tolerance, a number of rows and an engine of chance; the period to 1e-5, which multiples and parts are far from.
  void expect(const std::string& text, double period) {
    const double tolerance = std::pow(10.0, -between(7, 12));
    const std::vector<long> rows{11, 101, 1001, 5001};
    const long samples = rows[static_cast<std::size_t>(whole(0, 3))];
    const std::string engine = whole(0, 1) == 0 ? "event" : "auto";
    const Found found = until_periodic(text, tolerance, samples, engine);
    const std::string which = "tolerance " + to_text(tolerance) + ", rows " + std::to_string(samples) +
                              ", engine " + engine + "\n" + text;
    ASSERT_TRUE(found.forcing) << which;
    ASSERT_EQ(found.end.status.reason, Reason::periodic) << found.end.status.message << "\n" << which;
    ASSERT_TRUE(found.motion && !found.motion->equilibrium) << which;
    EXPECT_NEAR(found.motion->period / period, 1, 1e-5) << which;
    EXPECT_TRUE(found.end.verdict.silent());
  }
  std::mt19937_64 random_{20};
};

TEST_F(Periods, OfOscillatorsWithoutDamping) {
  for (int i = 0; i < count(3000) / 10; ++i) {
    const double start = whole(0, 4) == 0 ? 0 : between(0.1, 1.5);
    const double velocity = start == 0 ? between(0.2, 1) : whole(0, 1) == 0 ? 0 : between(-1, 1);
    const double kinetic = velocity * velocity / 2, until = std::pow(10, between(2.3, 3.4));
    const double k = between(0.1, 10);
    expect(body(start, velocity, "potential = \"" + to_text(k) + "*x^2/2\"", until), 2 * kPi / std::sqrt(k));
    const double height = kinetic - std::cos(start);
    expect(body(start, velocity, "potential = \"-cos(x)\"", until),
           4 * elliptic(std::sqrt((height + 1) / 2)));
    // x⁴/4: the frequency is the amplitude over Γ(1/4)²/√π
    const double quartic = std::pow(4 * kinetic + std::pow(start, 4), 0.25);
    expect(body(start, velocity, "potential = \"x^4/4\"", until),
           std::pow(std::tgamma(0.25), 2) / std::sqrt(kPi) / quartic);
    const double energy = kinetic + start * start / 2 + std::pow(start, 4) / 4;
    const double a2 = std::sqrt(1 + 4 * energy) - 1;
    expect(body(start, velocity, "potential = \"x^2/2 + x^4/4\"", until),
           4 * elliptic(std::sqrt(a2 / (2 * (1 + a2)))) / std::sqrt(1 + a2));
    expect(body(start, velocity, "potential = \"abs(x)\"", until),
           4 * std::sqrt(2 * (kinetic + std::abs(start))));
  }
}

TEST_F(Periods, OfTwoModesWithCommensurableFrequencies) {
  const std::vector<std::pair<int, int>> pairs{{1, 2}, {2, 3}, {1, 3}, {3, 4}, {2, 5}};
  for (int i = 0; i < count(3000) / 10; ++i) {
    const auto [first, second] = pairs[static_cast<std::size_t>(whole(0, 4))];
    const double w = between(0.5, 2), a = std::pow(first * w, 2), b = std::pow(second * w, 2);
    const double turn = between(0.2, 1.3), c = std::cos(turn), s = std::sin(turn);
    const std::string text = "[coordinates]\nx = " + to_text(between(0.2, 1)) +
                             "\ny = " + to_text(between(-1, 0)) +
                             "\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"" +
                             number(a * c * c + b * s * s) + "*x^2/2 + " + number(a * s * s + b * c * c) +
                             "*y^2/2 + " + number((a - b) * c * s) + "*x*y\"\n[run]\nuntil = 1000\n";
    expect(text, 2 * kPi / w);
  }
}

TEST_F(Periods, OfLimitCycles) {
  for (int i = 0; i < count(3000) / 10; ++i) {
    // Van der Pol with ε = 1 in another time; its period to 20 digits by many.
    const double s = between(0.5, 3);
    expect(body(between(0.2, 2.5), between(-1, 1), "potential = \"" + to_text(s * s) + "*x^2/2\"", 800,
                "[[force]]\nalong = \"x'\"\nvalue = \"" + to_text(s) + "*(1 - x^2)*x'\"\n"),
           6.6632868593231302 / s);
    // A belt of speed v: slip about the dynamic friction from the static one, stick over the same way.
    const double v = between(0.1, 1), held = between(0.5, 1), kinetic = held * between(0.3, 0.8);
    expect(body(kinetic + v + between(0.1, 1), 0, "potential = \"x^2/2\"", 800,
                "[[friction]]\nname = \"belt\"\nslip = \"x' - " + to_text(v) +
                    "\"\nnormal = 1\nlaw = { static = " + to_text(held) + ", dynamic = " + to_text(kinetic) +
                    " }\n"),
           2 * (kPi - std::atan2(held - kinetic, v)) + 2 * (held - kinetic) / v);
  }
}

TEST_F(Periods, OfElasticImpacts) {
  for (int i = 0; i < count(3000) / 10; ++i) {
    const double g = between(1, 10), h = between(0.1, 3), u = between(-1, 1);
    const std::string bounces = "[[contact]]\nname = \"wall\"\nimpact = 1\ngap = ";
    expect(body(h, u, "potential = \"" + to_text(g) + "*x\"", 500, bounces + "\"x\"\n"),
           2 * std::sqrt(u * u + 2 * g * h) / g);
    const double d = between(-0.5, 0.8), amplitude = between(1, 2);
    expect(body(amplitude, 0, "potential = \"x^2/2\"", 500, bounces + "\"x + " + number(d) + "\"\n"),
           2 * std::acos(-d / amplitude));
    const double width = between(0.2, 2), speed = between(0.3, 3);
    expect(body(0.3 * width, speed, "", 500,
                "[[contact]]\nname = \"left\"\nimpact = 1\ngap = \"x\"\n[[contact]]\nname = "
                "\"right\"\nimpact = 1\ngap = \"" +
                    to_text(width) + " - x\"\n"),
           2 * width / speed);
  }
}

TEST_F(Periods, OfForces) {
  for (int i = 0; i < count(3000) / 10; ++i) {
    const double u = between(0.4, 2), p = between(0.3, 4);
    const std::string w = to_text(u), P = to_text(p);
    const int a = whole(1, 4), b = whole(5, 8);
    expect(forced("cos(" + to_text(a * u) + "*t) + 0.7*sin(" + to_text(b * u) + "*t)"),
           2 * kPi / u / std::gcd(a, b));
    expect(forced("cos(" + to_text(a * u) + "*t)*cos(" + to_text(b * u) + "*t)"),
           2 * kPi / u / std::gcd(b - a, b + a));
    expect(forced("4*cos(" + w + "*t)^3 - 3*cos(" + w + "*t)"), 2 * kPi / (3 * u));
    expect(forced("abs(sin(" + w + "*t))"), kPi / u);
    expect(forced("sign(sin(" + w + "*t))"), 2 * kPi / u);
    expect(forced("mod(t, 2)"), 2);
    expect(forced("mod(t, " + P + ")"), p);
    expect(forced("mod(t + 0.7, " + P + ")^2"), p);
    expect(forced("sin(mod(t, " + P + "))"), p);
    expect(forced("mod(t, 2) + sin(2*pi*t/" + std::to_string(a) + ")"), std::lcm(2, a));
    expect(forced("floor(mod(t, " + P + ")*" + to_text(3 / p) + ")"), p);
    expect(forced("mod(floor(t/" + P + "), 3)"), 3 * p);
    expect(forced("if(mod(t, " + P + ") < " + to_text(0.3 * p) + ", 1, -0.5)"), p);
    expect(forced("f(mod(t, " + P + "))", "[tables.f]\nx = [0, " + to_text(0.3 * p) + ", " + to_text(2 * p) +
                                              "]\ny = [0.5, -1, 1]\n"),
           p);
  }
}

/// Runs a model that comes back a turn further on.
void expect_round(const std::string& text, double period, double turn, const std::string& engine = "event") {
  const Found found = until_periodic(text, 1e-9, 11, engine);
  ASSERT_TRUE(found.forcing) << text;
  ASSERT_EQ(found.end.status.reason, Reason::periodic) << found.end.status.message << "\n" << text;
  ASSERT_TRUE(found.motion && !found.motion->equilibrium) << text;
  EXPECT_NEAR(found.motion->period / period, 1, 1e-5) << text;
  ASSERT_EQ(found.motion->drifts.size(), 1U) << text;
  EXPECT_NEAR(found.motion->drifts[0].change, turn, 1e-9 * std::abs(turn)) << text;
  EXPECT_TRUE(found.end.verdict.silent());
}

// A pendulum that goes round: 2 K(1/k)/k with k = v/2 at the lowest point. A length of its own: one turn of the wave is L.
TEST_F(Periods, OfPendulumsThatGoRound) {
  for (int i = 0; i < count(3000) / 30; ++i) {
    const double v = between(2.2, 6) * (whole(0, 1) == 0 ? 1 : -1), L = between(0.2, 20);
    const double k = std::abs(v) / 2;
    const double c = 2 * kPi / L;  // x = φ/c
    expect_round("[coordinates]\nx = { start = 0, velocity = " + to_text(v / c) +
                     " }\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"-cos(2*pi*x/" + number(L) + ")/(" +
                     number(c) + ")^2\"\n[run]\nuntil = 400\n",
                 2 * elliptic(1 / k) / k, v > 0 ? L : -L);
  }
}

// Locked to a wave that travels: x = w t/k + π/k, whatever the damping.
TEST_F(Periods, OfWhatAWaveTakesAlong) {
  for (int i = 0; i < count(3000) / 30; ++i) {
    const double k = between(0.3, 4), w = between(0.5, 3), c = between(0.3, 1);
    expect_round("[coordinates]\nx = { start = " + to_text(kPi / k + 0.3 / k) +
                     ", velocity = " + to_text(w / k) +
                     " }\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = \"2*sin(" +
                     number(k) + "*x - " + number(w) + "*t)/" + number(k) + " - " + number(c) + "*(x' - " +
                     number(w / k) + ")\"\n[run]\nuntil = 600\n",
                 2 * kPi / w, 2 * kPi / k);
  }
}

// Two forces in turn over one way each: x = f t/c + (v − f/c)(1 − exp(−c t))/c, solved by halving, leg after leg until nothing changes.
TEST_F(Periods, OfASawThatIsClimbed) {
  for (int i = 0; i < 1 + count(3000) / 100; ++i) {
    const double c = between(0.1, 0.5), low = between(0.3, 1), high = low + between(0.2, 1),
                 P = between(0.5, 4);
    double v = 1, period = 0;
    const auto leg = [&](double f) {
      const auto way = [&](double t) { return f / c * t - (v - f / c) * std::expm1(-c * t) / c; };
      double from = 0, to = 1;
      while (way(to) < P / 2) to *= 2;
      for (int halving = 0; halving < 80; ++halving)
        (way(0.5 * (from + to)) < P / 2 ? from : to) = 0.5 * (from + to);
      v = f / c + (v - f / c) * std::exp(-c * to);
      return to;
    };
    for (int turn = 0; turn < 3000; ++turn) {
      period = leg(low);
      period += leg(high);
    }
    for (const char* engine : {"event", "exact"}) {
      expect_round(
          "[coordinates]\nx = { start = 0.1, velocity = 1 }\n[energy]\nkinetic = "
          "\"x'^2/2\"\n[[force]]\nalong = "
          "\"x'\"\nvalue = \"if(mod(x, " +
              number(P) + ") < " + number(P / 2) + ", " + number(low) + ", " + number(high) + ") - " +
              number(c) + "*x'\"\n[run]\nuntil = 400\n",
          period, P, engine);
    }
  }
}

// What repeats by its form, and does not.
TEST_F(Periods, OfAPlaceAreTurnsOnlyWhereNothingElseTellsTurnsApart) {
  const auto turn = [](const std::string& potential, const std::string& more = "",
                       const std::string& y = "0.5") {
    const std::string text = "format = 1\n[coordinates]\nx = 0.3\ny = " + y +
                             "\n[energy]\nkinetic = \"x'^2/2 + y'^2/2\"\npotential = "
                             "\"" +
                             potential + "\"\n" + more + "[run]\nuntil = 1\n";
    const model::Compiled made = model::compile(io::read_model_text(text).spec, {});
    if (!made.system) throw std::runtime_error(render(made.diagnostics, "model", text));
    return analysis::turns(*made.system)[0];
  };
  EXPECT_NEAR(turn("cos(x)"), 2 * kPi, 1e-12);
  EXPECT_NEAR(turn("cos(x) + sin(1.5*x)*y"), 4 * kPi, 1e-12);
  EXPECT_NEAR(turn("sin(3*x)^2 + y^2"), kPi / 3, 1e-12);
  EXPECT_NEAR(turn("cos(x - y)"), 2 * kPi, 1e-12);
  EXPECT_EQ(turn("cos(x) + 1e-3*x^2"), 0);
  EXPECT_EQ(turn("cos(x) + cos(sqrt(2)*x)"), 0);
  EXPECT_NEAR(turn("cos(x) + 0.1*x"), 2 * kPi, 1e-12) << "the slope of a hill is the same a turn further on";
  EXPECT_EQ(turn("y^2"), 0) << "nothing depends on it";
  const std::string fence = "[[force]]\nalong = \"x'\"\nvalue = \"0.1*x*y\"\n";
  EXPECT_EQ(turn("-cos(x)", fence), 0);
  EXPECT_EQ(turn("-cos(x)", fence, "0"), 0) << "what is nothing at the start need not stay so";
  const std::string floor = "[[contact]]\nname = \"floor\"\ngap = \"y + 0.2*cos(x)\"\nimpact = ";
  EXPECT_NEAR(turn("9*y", floor + "0.5\n"), 2 * kPi, 1e-12);
  EXPECT_EQ(turn("9*y", floor + "\"0.5 + 0.2*cos(x/2)\"\n"), 0);
  EXPECT_EQ(turn("9*y + cos(x)", "[[contact]]\nname = \"wall\"\ngap = \"40 - x\"\n"), 0);
}

// Whatever rows are asked for: a range that is measured between them alone gave three times the period here.
TEST_F(Periods, DoNotDependOnRows) {
  for (const long samples : {2L, 11L, 101L, 1001L}) {
    const Found found =
        until_periodic(body(0.8554644278296902, 0, "potential = \"x^4/4\"", 3009), 3e-10, samples, "event");
    ASSERT_TRUE(found.motion) << samples;
    EXPECT_NEAR(found.motion->period, std::pow(std::tgamma(0.25), 2) / std::sqrt(kPi) / 0.8554644278296902,
                1e-7);
    EXPECT_TRUE(std::isnan(found.motion->contraction)) << "nothing shrinks in it";
  }
}

// What shrinks too slowly to be seen is no motion of its own period: x'' + 2 z x' + x = 0 loses 1 - e^(-2πz) per turn.
TEST_F(Periods, ASlowDecayIsNoPeriod) {
  for (const double z : {3e-8, 1e-6, 1e-5, 1e-4, 1e-3}) {
    const Found found =
        until_periodic(body(1, 0, "potential = \"x^2/2\"\ndissipation = \"" + to_text(z) + "*x'^2\"", 600),
                       1e-10, 1001, "event");
    EXPECT_FALSE(found.motion) << "z = " << z << ": " << found.end.status.message;
  }
}

}  // namespace
}  // namespace judder
