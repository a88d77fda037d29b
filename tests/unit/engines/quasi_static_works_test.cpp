// Quasi-static runs: works and ends of jumps, drives without inertia, and contacts that let go within their noise.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "count.hpp"
#include "judder/core/number.hpp"
#include "run_model.hpp"

namespace judder::engines {
namespace {

simulate::Result follow(const std::string& text, const std::string& engine = "quasi-static") {
  const TestModel model = text_model(text);
  return simulate::simulate(model.system, model.options, engine);
}

double cell(const simulate::Result& result, std::size_t row, const std::string& name) {
  return result.data.cell(row, static_cast<std::size_t>(result.data.column(name)));
}

// V = x^4/4 - x^2/2 under the load t: from -1/sqrt(3) to 2/sqrt(3) at t = 2/sqrt(27). The spring gives 1/12 and the load 2/3.
TEST(QuasiStaticWorks, OfALoadOverAJumpAreCounted) {
  const std::string head = "[coordinates]\nq = { start = -1, massless = true }\n";
  const std::string spring = "[energy]\npotential = \"q^4/4 - q^2/2\"\n";
  const std::string force = "[[force]]\nname = \"load\"\nalong = \"q'\"\nvalue = \"t\"\n";
  const std::string bend = "[[force]]\nname = \"bend\"\nalong = \"q'\"\nvalue = \"q - q^3\"\n";
  const std::string run =
      "[run]\nuntil = 1\nengine = \"quasi-static\"\n[output]\nsamples = 51\ncolumns = { D = "
      "\"dissipated(jump)\" }\n";
  const std::string zero = "[energy]\npotential = \"0*q\"\n";
  const std::vector<std::string> ways{"[energy]\npotential = \"q^4/4 - q^2/2 - t*q\"\n", spring + force,
                                      zero + force + bend, spring + "[matrices]\nload = [\"t\"]\n",
                                      zero + bend + "[matrices]\nload = [\"t\"]\n"};
  for (const std::string& way : ways) {
    const simulate::Result result = follow(head + way + run);
    ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
    const std::size_t last = result.data.rows() - 1;
    EXPECT_NEAR(cell(result, last, "D"), 0.75, 1e-7) << way;
    EXPECT_NEAR(result.end.energy_imbalance, 0, 1e-9) << way;
    for (std::size_t row = 0; row < last; ++row) {
      const double t = result.data.cell(row, 0);
      if (t > 0.3 && t < 0.5) continue;
      EXPECT_NEAR(cell(result, row, "D"), t < 0.4 ? 0 : 0.75, 1e-7);
    }
  }
}

// A load that turns with no potential does work that depends on the way. The oracle is the same body in a thin viscous medium, moved by another engine.
TEST(QuasiStaticWorks, OfALoadWithoutPotentialAreThoseOfTheWay) {
  const auto text = [](double damping) {
    return "[coordinates]\nx = { start = -1, massless = true }\ny = { massless = true }\n[energy]\npotential "
           "= "
           "\"x^4/4 - x^2/2 - t*x + (y - x)^2/4 + y^2/2\"\n" +
           (damping > 0 ? "dissipation = \"" + std::to_string(damping) + "*(x'^2 + y'^2)/2\"\n"
                        : std::string()) +
           "[[force]]\nname = \"swirl\"\nalong = \"x'\"\nvalue = \"0.2*y\"\n[[force]]\nname = "
           "\"back\"\nalong = \"y'\"\nvalue = \"-0.2*x\"\n[[friction]]\nname = \"pad\"\nslip = "
           "\"y'\"\nnormal = 1\nlaw = 0.05\n[run]\nuntil = 1\nengine = \"" +
           (damping > 0 ? "event" : "quasi-static") +
           "\"\n[output]\nsamples = 121\ncolumns = { S = "
           "\"supplied(swirl)\", B = \"supplied(back)\", P = \"dissipated(pad)\" }\n";
  };
  const simulate::Result path = follow(text(0));
  ASSERT_TRUE(path.end.status.ok()) << path.end.status.message;
  EXPECT_TRUE(std::any_of(path.data.events.begin(), path.data.events.end(),
                          [](const Event& event) { return event.kind == EventKind::jump; }));
  double before = 0;
  for (const double damping : {1e-3, 1e-4}) {
    TestModel viscous = text_model(text(damping));
    viscous.options.event_rows = false;
    const simulate::Result motion = simulate::simulate(viscous.system, viscous.options, "event");
    ASSERT_TRUE(motion.end.status.ok()) << motion.end.status.message;
    const std::size_t there = motion.data.rows() - 1, here = path.data.rows() - 1;
    double worst = 0;
    for (const char* name : {"x", "y", "S", "B", "P"})
      worst = std::max(worst, std::abs(cell(path, here, name) - cell(motion, there, name)));
    if (before > 0) {
      EXPECT_LT(worst, 0.35 * before);
      EXPECT_LT(worst, 5e-3);
    }
    before = worst;
  }
}

// A constraint that drives a coordinate needs no start velocity without inertia. With x on a pad between springs: slides where |4 x - 2 y| = 0.1.
TEST(QuasiStaticWorks, AConstraintMayDriveFromTheStart) {
  for (const char* mass : {"", "kinetic = \"(x'^2 + y'^2)/2\"\n"}) {
    const std::string light = *mass == 0 ? "{ massless = true }" : "0";
    const simulate::Result result = follow(
        "[coordinates]\nx = " + light + "\ny = " + light + "\n[energy]\npotential = \"x^2 + (x - y)^2\"\n" +
        mass +
        "[[constraint]]\nname = \"drive\"\nzero = \"y - 0.5*sin(t)\"\n[[friction]]\nname = \"pad\"\nslip = "
        "\"x'\"\nnormal = 1\nlaw = 0.1\n[run]\nuntil = 10\nengine = \"quasi-static\"\n[output]\nsamples = "
        "401\ncolumns = { S = \"supplied(drive)\", P = \"dissipated(pad)\", N = \"normal(drive)\" }\n");
    ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
    double x = 0, way = 0;
    for (std::size_t row = 0; row < result.data.rows(); ++row) {
      const double y = 0.5 * std::sin(result.data.cell(row, 0));
      // Held until the spring has the limit, then drawn along behind it.
      const double next = std::clamp(x, (2 * y - 0.1) / 4, (2 * y + 0.1) / 4);
      way += std::abs(next - x);
      x = next;
      EXPECT_NEAR(cell(result, row, "x"), x, 1e-9) << result.data.cell(row, 0);
      EXPECT_NEAR(cell(result, row, "y"), y, 1e-9);
      EXPECT_NEAR(cell(result, row, "N"), 2 * (y - x), 1e-9);
      EXPECT_NEAR(cell(result, row, "P"), 0.1 * way, 2e-5) << "turning points lie between rows";
      EXPECT_NEAR(cell(result, row, "S"), x * x + (x - y) * (x - y) + cell(result, row, "P"), 1e-7);
    }
  }
}

// At t = 4.823 a contact lets go whose reaction is met within 1e-13 of the forces: that leaves the body off the new path by as much, which is no reason to end.
TEST(QuasiStaticWorks, AContactThatLetsGoWithinItsNoiseGoesOn) {
  const simulate::Result result = follow(R"toml([coordinates]
q0 = { massless = true }
q1 = { massless = true }
q2 = { massless = true }
q3 = { massless = true }
[energy]
potential = "(1.425852612544531*q0 + 0.070627081311476311*q1 + -0.28720120279951539*q2 + 0.31239043537354938*q3)^2/2 + (0.32233891467411385*q0 + 1.0085137051563275*q1 + -0.091091215967291292*q2 + -0.2387886178039656*q3)^2/2 + (0.09352903780839314*q0 + 0.36403689285217361*q1 + 1.5817475539046242*q2 + -0.15406594331097301*q3)^2/2 + (-0.36823855193679894*q0 + 0.37427463152706408*q1 + 0.31960049223364451*q2 + 0.99513161235210346*q3)^2/2"
[[force]]
along = "q0'"
value = "0 + -0.88491799304075691*sin(0.69171288151218269*t) + 0.25647354166469127*sin(2.3725497654006742*t)"
[[force]]
along = "q1'"
value = "-0.80000000000000004 + 0.34080220491282365*sin(0.58767909292995202*t) + 0.75976395912859296*sin(1.5447770169936079*t)"
[[force]]
along = "q2'"
value = "0 + -0.25061445162524354*sin(1.261451027459227*t) + -0.42562344619194759*sin(2.2996637149305794*t)"
[[force]]
along = "q3'"
value = "-0.80000000000000004 + 0.53343851992142244*sin(0.90529469025014508*t) + 0.055584718512590392*sin(1.7619469307875597*t)"
[[contact]]
name = "c0"
gap = "q1"
slip = "q0'"
friction = 0.65556172142850344
[[contact]]
name = "c1"
gap = "q3"
slip = "q2'"
friction = 0.36711646723741742
[[friction]]
name = "pad"
slip = "q0' - q2'"
normal = 0.1622819097757858
law = 0.5
[run]
until = 6
engine = "quasi-static"
[output]
samples = 301
columns = { N0 = "normal(c0)", T0 = "tangent(c0)", N1 = "normal(c1)", T1 = "tangent(c1)", P = "tangent(pad)" }
)toml");
  EXPECT_TRUE(result.end.status.ok()) << result.end.status.message;
  EXPECT_EQ(result.end.status.time, 6);
}

// A mass on a wavy force under a load that swings, with a rough pad. Jumps go to the first place at which the pad can hold what is left over, however far the next
// one would be: on a line the direction of a jump is the same everywhere and says nothing of the places that lie within a step. The oracle moves by small steps of place and time.
TEST(QuasiStaticWorks, JumpsEndAtTheFirstBalanceOnTheirWay) {
  std::mt19937_64 random(7);
  int jumps = 0;
  const int systems = count(1000) / 20;
  for (int i = 0; i < systems; ++i) {
    const auto number = [&](double low, double high) {
      return low + (high - low) * (static_cast<double>(random() >> 11U) * 0x1p-53);
    };
    const double a = number(0.8, 1.6), b = number(1.5, 2.5), c = number(0.1, 0.35), limit = number(0.02, 0.3),
                 w = number(0.5, 1), size = number(0.8, 2);
    const simulate::Result run = follow(
        "[coordinates]\nx = { start = 0.1, massless = true }\n[energy]\npotential = \"0*x\"\n[[force]]\nname "
        "= "
        "\"bend\"\nalong = \"x'\"\nvalue = \"" +
        to_text(a) + "*sin(" + to_text(b) + "*x) - " + to_text(c) +
        "*x\"\n[[force]]\nname = \"load\"\nalong = \"x'\"\nvalue = \"" + to_text(size) + "*sin(" +
        to_text(w) + "*t)\"\n[[friction]]\nname = \"pad\"\nslip = \"x'\"\nnormal = 1\nlaw = " +
        to_text(limit) + "\n[run]\nuntil = 20\nengine = \"quasi-static\"\n[output]\nsamples = 401\n");
    ASSERT_TRUE(run.end.status.ok()) << i << ": " << run.end.status.message;
    EXPECT_NEAR(run.end.energy_imbalance, 0, 1e-6) << i;
    const auto force = [&](double x, double t) {
      return a * std::sin(b * x) - c * x + size * std::sin(w * t);
    };
    std::vector<double> times;
    for (const Event& event : run.data.events) {
      if (event.kind == EventKind::jump) times.push_back(event.time);
    }
    jumps += static_cast<int>(times.size());
    double x = 0.1;
    std::size_t row = 0;
    for (int k = 0; k <= 20000; ++k) {
      const double t = k / 1000.0;
      while (std::abs(force(x, t)) > limit * (1 + 1e-12)) {
        const double sign = force(x, t) > 0 ? 1 : -1, next = x + sign * 2e-3;
        if (sign * force(next, t) > limit) {
          x = next;
          continue;
        }
        double low = x, high = next;
        for (int halving = 0; halving < 60; ++halving) {
          const double middle = low + (high - low) / 2;
          (sign * force(middle, t) > limit ? low : high) = middle;
        }
        x = high;
        break;
      }
      while (row + 1 < run.data.rows() && run.data.cell(row, 0) < t - 1e-9) ++row;
      const bool beside =
          std::none_of(times.begin(), times.end(), [&](double j) { return std::abs(j - t) < 0.02; });
      if (k % 50 == 0 && beside && std::abs(run.data.cell(row, 0) - t) < 1e-9) {
        ASSERT_NEAR(run.data.cell(row, 1), x, 2e-3) << "system " << i << " at " << t;
      }
    }
  }
  EXPECT_GT(jumps, systems);
}

}  // namespace
}  // namespace judder::engines
