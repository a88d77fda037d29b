// The quasi-static engine: paths and jumps with closed forms, the laws at every row of random systems, slow dynamics as an oracle, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "count.hpp"
#include "run_model.hpp"

namespace judder::engines {
namespace {

simulate::Result follow(const TestModel& model) {
  return simulate::simulate(model.system, model.options, "quasi-static");
}

std::vector<Event> jumps_of(const simulate::Result& result) {
  std::vector<Event> out;
  for (const Event& event : result.data.events) {
    if (event.kind == EventKind::jump) out.push_back(event);
  }
  return out;
}

TestModel wall(double mu, double f1, const std::string& load = "t") {
  std::ostringstream text;
  text << "[parameters]\nmu = " << mu << "\nf1 = " << f1 << R"toml(
[coordinates]
u1 = { massless = true }
u2 = { massless = true }
[energy]
potential = "(u1^2 + 2*u1*u2 + 2*u2^2)/2 - (f1 + )toml"
       << load << R"toml()*u1 - u2"
[[contact]]
name = "wall"
gap = "-u2"
slip = "u1'"
friction = "mu"
[run]
until = 1
engine = "quasi-static"
[output]
samples = 11
columns = { N = "normal(wall)", T = "tangent(wall)" }
)toml";
  return text_model(text.str());
}

// Petcoviciu 2010, 3.4, K = [1 1; 1 2], μ = 1.25, f = (1.25 + t, 1): TC-3.6.
TEST(QuasiStatic, JumpsAlongTheWallAndThenAwayFromIt) {
  const TestModel model = wall(1.25, 1.25);
  const simulate::Result result = follow(model);
  ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
  EXPECT_EQ(event_words(model.system, result.data.events),
            (std::vector<std::string>{"slip wall", "jump ", "lift-off wall", "jump "}));
  const std::vector<Event> jumps = jumps_of(result);
  ASSERT_EQ(jumps.size(), 2u);
  EXPECT_EQ(jumps[0].time, 0);
  EXPECT_NEAR(jumps[0].numbers[0], 1, 1e-9);
  EXPECT_NEAR(jumps[1].numbers[0], 0.5647552, 1e-7);
  // The two rows of the instant, then K⁻¹ f = (1.5 + 2 t, −0.25 − t).
  EXPECT_EQ(result.data.kinds[0], RowKind::before);
  EXPECT_EQ(result.data.cell(0, 1), 0);
  for (std::size_t row = 1; row < result.data.rows(); ++row) {
    const double t = result.data.cell(row, 0);
    EXPECT_NEAR(result.data.cell(row, 1), 1.5 + 2 * t, 1e-12);
    EXPECT_NEAR(result.data.cell(row, 2), -0.25 - t, 1e-12);
    EXPECT_NEAR(result.data.cell(row, 3), 2, 1e-12);
    EXPECT_NEAR(result.data.cell(row, 4), -1, 1e-12);
  }
  EXPECT_NEAR(result.end.energy_imbalance, 0, 1e-12);
}

// The gradient orbit in the air by its closed form: U − K⁻¹f = Σ c_i e_i exp(−k_i τ), whose length Gauss quadrature over τ gives.
TEST(QuasiStatic, MeasuresTheLengthOfTheOrbit) {
  const double root = std::sqrt(5.0), k1 = (3 - root) / 2, k2 = (3 + root) / 2;
  // Eigenvectors of [1 1; 1 2]: (1, k − 1), start (1, 0) − (1.5, −0.25).
  const double a1 = k1 - 1, a2 = k2 - 1, x = -0.5, y = 0.25;
  const double c1 = (y - a2 * x) / (a1 - a2), c2 = x - c1;
  double length = 0;
  const int steps = 400000;
  const double end = 60, h = end / steps;
  for (int i = 0; i < steps; ++i) {
    const double tau = (i + 0.5) * h;
    const double v1 = k1 * c1 * std::exp(-k1 * tau), v2 = k2 * c2 * std::exp(-k2 * tau);
    length += h * std::hypot(v1 + v2, a1 * v1 + a2 * v2);
  }
  const std::vector<Event> jumps = jumps_of(follow(wall(1.25, 1.25)));
  ASSERT_EQ(jumps.size(), 2u);
  EXPECT_NEAR(jumps[1].numbers[0], length, 1e-8);
}

TEST(QuasiStatic, SlidesWithoutAJumpWhereTheSlipIsStable) {
  const TestModel model = wall(0.5, 0.5);
  const simulate::Result result = follow(model);
  ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
  ASSERT_EQ(event_words(model.system, result.data.events), std::vector<std::string>{"lift-off wall"});
  EXPECT_NEAR(result.data.events[0].time, 0.5, 1e-12);
  for (std::size_t row = 0; row < result.data.rows(); ++row) {
    const double t = result.data.cell(row, 0);
    EXPECT_NEAR(result.data.cell(row, 1), 2 * t, 1e-12);
    EXPECT_NEAR(result.data.cell(row, 2), t < 0.5 ? 0 : 0.5 - t, 1e-12);
  }
}

// The edge where K_11 = μ K_12 exactly (A = 0): nothing is left over along the slide, and it runs to the tip of the cone.
TEST(QuasiStatic, SlidesThroughNeutralEquilibria) {
  const simulate::Result result = follow(wall(1, 1));
  ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
  const std::vector<Event> jumps = jumps_of(result);
  ASSERT_FALSE(jumps.empty());
  EXPECT_EQ(jumps[0].time, 0);
  EXPECT_NEAR(jumps[0].numbers[0], 1, 1e-9);
  const std::size_t last = result.data.rows() - 1;
  EXPECT_NEAR(result.data.cell(last, 1), 3, 1e-9);  // K⁻¹ f(1), f = (2, 1)
  EXPECT_NEAR(result.data.cell(last, 2), -1, 1e-9);
}

// From far outside every equilibrium the first thing is a jump; stepping the load makes others, with friction: x'' is nobody's business.
TEST(QuasiStatic, JumpsWithSteppedLoads) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { start = 5, massless = true }
[energy]
potential = "x^2"
[[force]]
along = "x'"
value = "3*step(t - 1) - 8*step(t - 2)"
[[friction]]
name = "pad"
slip = "x'"
normal = 2
law = 0.25
[run]
until = 3
engine = "quasi-static"
)toml");
  const simulate::Result result = follow(model);
  ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
  const std::vector<Event> jumps = jumps_of(result);
  ASSERT_EQ(jumps.size(), 3u);
  // 2 x = load ± 1/2, whichever side it came from.
  const double ends[] = {0.25, 1.25, -2.25};
  double from = 5;
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(jumps[static_cast<std::size_t>(k)].time, k);
    EXPECT_NEAR(jumps[static_cast<std::size_t>(k)].numbers[0], std::abs(ends[k] - from), 1e-9);
    from = ends[k];
  }
  EXPECT_NEAR(result.end.energy_imbalance, 0, 1e-8);
}

// All forces vanish at the end of the jump together with their slope, so that neither Newton's method nor a linear rate of approach finds it.
TEST(QuasiStatic, EndsAJumpWhereForcesVanishWithTheirSlope) {
  for (const char* potential : {"x^4/4", "x^6", "1e8*x^4", "x^4/4 + y^2/2 + x^2*y^2"}) {
    const TestModel model = text_model(
        std::string(
            "[coordinates]\nx = { start = 1, massless = true }\ny = { start = 0.5, massless = true }\n"
            "[energy]\npotential = \"") +
        potential + (std::string(potential).find('y') == std::string::npos ? " + y^2" : "") +
        "\"\n[run]\nuntil = 1\nengine = \"quasi-static\"\n");
    const simulate::Result result = follow(model);
    ASSERT_TRUE(result.end.status.ok()) << potential << ": " << result.end.status.message;
    EXPECT_EQ(jumps_of(result).size(), 1u) << potential;
    EXPECT_NEAR(result.end.end.y[0], 0, 1e-9) << potential;
    EXPECT_NEAR(result.end.end.y[1], 0, 1e-9) << potential;
  }
}

std::string snap_text(const std::string& potential, const std::string& slip, double law, double damping) {
  std::ostringstream text;
  text << "[coordinates]\nx = { start = -1, massless = true }\ny = { massless = true }\n[energy]\npotential "
          "= \""
       << potential << "\"\n";
  if (damping > 0) text << "dissipation = \"" << damping << "/2*(x'^2 + y'^2)\"\n";
  text << "[[friction]]\nname = \"pad\"\nslip = \"" << slip << "\"\nnormal = 1\nlaw = " << law
       << "\n[run]\nuntil = 1\nengine = \"" << (damping > 0 ? "event" : "quasi-static")
       << "\"\n[output]\nsamples = 101\nevent_rows = false\ncolumns = { W = \"dissipated(pad)\" }\n";
  return text.str();
}

// A snap while a joint slides beside it: the oracle is the same body in a medium of small viscosity, moved by another engine. It goes through the same places and
// loses the same work to the joint, the closer the thinner the medium.
TEST(QuasiStatic, SnapsBesideAJointThatSlides) {
  struct Case {
    const char *potential, *slip;
    double law;
  };
  for (const Case& c : {Case{"x^4/4 - x^2/2 - t*x + (y - x)^2/2", "y'", 0.1},
                        Case{"x^4/4 - x^2/2 - t*x + (y - x)^2/4 + y^2/20", "y'", 0.05},
                        Case{"x^4/4 - x^2/2 - t*x + (y - x)^2/4 + y^2/2", "y' - x'", 0.05},
                        Case{"x^4/4 - x^2/2 - t*x + 3*(y - x)^2 + y^2/20 + t*y/5", "y'", 0.05}}) {
    const simulate::Result path = follow(text_model(snap_text(c.potential, c.slip, c.law, 0)));
    ASSERT_TRUE(path.end.status.ok()) << c.potential << ": " << path.end.status.message;
    EXPECT_LE(jumps_of(path).size(), 3u) << c.potential;
    EXPECT_NEAR(path.end.energy_imbalance, 0, 1e-7) << c.potential;
    double before = 0;
    for (const double damping : {1e-3, 1e-4}) {
      const TestModel viscous = text_model(snap_text(c.potential, c.slip, c.law, damping));
      const simulate::Result motion = simulate::simulate(viscous.system, viscous.options, "event");
      ASSERT_TRUE(motion.end.status.ok()) << motion.end.status.message;
      double worst = 0;
      for (const std::size_t row : {20u, 60u, 100u}) {
        for (const std::size_t column : {1u, 2u, 5u})
          worst = std::max(worst, std::abs(path.data.cell(row, column) - motion.data.cell(row, column)));
      }
      if (before > 0) {
        EXPECT_LT(worst, 0.35 * before) << c.potential;
        EXPECT_LT(worst, 5e-3) << c.potential;
      }
      before = worst;
    }
  }
}

// Works are those of the row and not of the last step: friction of a slide under a growing load, and the potential that a spring takes.
TEST(QuasiStatic, KnowsTheWorkAtEveryRow) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { massless = true }
[energy]
potential = "x^2/2 + x^4/4"
[[force]]
name = "pull"
along = "x'"
value = "2*t"
[[friction]]
name = "pad"
slip = "x'"
normal = 1
law = 0.3
[run]
until = 2
engine = "quasi-static"
[output]
samples = 401
columns = { W = "dissipated(pad)", P = "supplied(pull)" }
)toml");
  const simulate::Result result = follow(model);
  ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
  for (std::size_t row = 0; row < result.data.rows(); ++row) {
    const double x = result.data.cell(row, 1), slid = 0.3 * x;
    // What was supplied is stored or rubbed away: x + x^3 + 0.3 = 2 t on the slide.
    EXPECT_NEAR(result.data.cell(row, 3), slid, 1e-9) << result.data.cell(row, 0);
    EXPECT_NEAR(result.data.cell(row, 4), x * x / 2 + x * x * x * x / 4 + slid, 1e-7)
        << result.data.cell(row, 0);
  }
}

TEST(QuasiStatic, FollowsAPathToItsFoldAndJumps) {
  const TestModel model = text_model(R"toml(
[coordinates]
q = { start = -1, massless = true }
[energy]
potential = "q^4/4 - q^2/2 - t*q"
[run]
until = 1
engine = "quasi-static"
)toml");
  const simulate::Result result = follow(model);
  ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
  const std::vector<Event> jumps = jumps_of(result);
  ASSERT_EQ(jumps.size(), 1u);
  EXPECT_NEAR(jumps[0].time, 2 / std::sqrt(27.0), 1e-12);
  EXPECT_NEAR(jumps[0].numbers[0], std::sqrt(3.0), 1e-6);
  for (std::size_t row = 0; row < result.data.rows(); ++row) {
    const double t = result.data.cell(row, 0), q = result.data.cell(row, 1);
    EXPECT_NEAR(q * q * q - q, t, 1e-12);
    EXPECT_EQ(q > 0, t > jumps[0].time || result.data.kinds[row] == RowKind::after);
  }
}

/// A random body on two rough walls and a pad: three to five coordinates, positive definite stiffness, loads that swing. `inertia` > 0 gives it mass and a damper.
std::string random_text(std::mt19937_64& random, double slow, double inertia) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  const int n = 4 + static_cast<int>(random() % 2);
  std::ostringstream text;
  text.precision(17);
  text << "[coordinates]\n";
  for (int i = 0; i < n; ++i) text << "q" << i << (inertia > 0 ? " = 0\n" : " = { massless = true }\n");
  text << "[energy]\npotential = \"";
  for (int k = 0; k < n; ++k) {  // sums of squares
    text << (k > 0 ? " + (" : "(");
    for (int i = 0; i < n; ++i)
      text << (i > 0 ? " + " : "") << (i == k ? 1.2 + 0.4 * uniform(random) : 0.45 * uniform(random)) << "*q"
           << i;
    text << ")^2/2";
  }
  text << "\"\n";
  if (inertia > 0) {
    text << "kinetic = \"";
    for (int i = 0; i < n; ++i) text << (i > 0 ? " + " : "") << inertia << "*q" << i << "'^2";
    text << "\"\ndissipation = \"";
    for (int i = 0; i < n; ++i) text << (i > 0 ? " + " : "") << 0.02 << "*q" << i << "'^2";
    text << "\"\n";
  }
  for (int i = 0; i < n; ++i) {
    const bool normal = i == 1 || i == 3;
    text << "[[force]]\nalong = \"q" << i << "'\"\nvalue = \"" << (normal ? -0.8 : 0.0) << " + "
         << uniform(random) << "*sin(" << (1 + 0.5 * uniform(random)) * slow << "*t) + " << uniform(random)
         << "*sin(" << (2 + 0.5 * uniform(random)) * slow << "*t)\"\n";
  }
  for (int c = 0; c < 2; ++c)
    text << "[[contact]]\nname = \"c" << c << "\"\ngap = \"q" << 2 * c + 1 << "\"\nslip = \"q" << 2 * c
         << "'\"\nfriction = " << 0.5 + 0.4 * uniform(random) << "\n";
  text << "[[friction]]\nname = \"pad\"\nslip = \"q0' - q2'\"\nnormal = " << 0.3 + 0.2 * uniform(random)
       << "\nlaw = 0.5\n";
  text << "[run]\nuntil = " << 6 / slow << "\nengine = \"" << (inertia > 0 ? "event" : "quasi-static")
       << "\"\n[output]\nsamples = 301\n";
  text << "columns = { N0 = \"normal(c0)\", T0 = \"tangent(c0)\", N1 = \"normal(c1)\", T1 = \"tangent(c1)\", "
          "P = \"tangent(pad)\" }\n";
  return text.str();
}

// The laws, read off the rows alone: gaps, signs, complementarity, cones, friction against the slip, and the balance of forces through the linear
// equations of the model itself, evaluated at the row.
TEST(QuasiStatic, KeepsTheLawsAtEveryRowOfRandomSystems) {
  std::mt19937_64 random(34);
  long rows = 0, slips = 0, open = 0, ended = 0;
  const int tests = count(10000) / 10;
  for (int test = 0; test < tests; ++test) {
    const std::string text = random_text(random, 1, 0);
    const TestModel model = text_model(text);
    const simulate::Result result = follow(model);
    if (!result.end.status.ok()) {
      // Nothing but a cone of several answers may end it.
      EXPECT_EQ(result.end.status.reason, Reason::indeterminate) << result.end.status.message << "\n" << text;
      continue;
    }
    ++ended;
    const model::Layout& layout = model.system.layout();
    const auto n = static_cast<std::size_t>(layout.coordinates);
    model::Workspace work(model.system);
    for (std::size_t row = 0; row < result.data.rows(); ++row) {
      ++rows;
      const auto cell = [&](const char* name) {
        return result.data.cell(row, static_cast<std::size_t>(result.data.column(name)));
      };
      std::copy(model.system.start().begin(), model.system.start().end(), work.in.begin());
      work.in[layout.time()] = result.data.cell(row, 0);
      for (std::size_t i = 0; i < n; ++i) work.in[layout.q() + i] = result.data.cell(row, 1 + i);
      if (result.data.kinds[row] == RowKind::before && result.data.cell(row, 0) == 0)
        continue;  // the start need not be balanced
      model.system.motion_program().evaluate(work.in.data(), work.output.data(), work.registers.data());
      std::vector<double> force(work.output.begin(), work.output.begin() + static_cast<std::ptrdiff_t>(n));
      for (int c = 0; c < 2; ++c) {
        const double normal = cell(c == 0 ? "N0" : "N1"), tangent = cell(c == 0 ? "T0" : "T1");
        const std::size_t at = static_cast<std::size_t>(2 * c);
        const double gap = result.data.cell(row, 1 + at + 1), slip = result.data.cell(row, 1 + n + at);
        const double mu = model.system.rows(work, c).tangent[0].mu;
        force[at + 1] += normal;
        force[at] += tangent;
        ASSERT_GE(gap, -1e-8) << text;
        ASSERT_GE(normal, -1e-8) << text;
        ASSERT_LE(std::abs(gap * normal), 1e-8) << text;
        ASSERT_LE(std::abs(tangent), mu * normal + 1e-8) << text;
        open += gap > 1e-6 ? 1 : 0;
        if (std::abs(slip) > 1e-6 && normal > 1e-6) {
          ++slips;
          ASSERT_NEAR(tangent, -std::copysign(mu * normal, slip), 1e-9) << text;
        }
      }
      const double pad = cell("P"), slip = result.data.cell(row, 1 + n) - result.data.cell(row, 1 + n + 2);
      force[0] += pad;
      force[2] -= pad;
      const double limit = model.system.rows(work, 2).base * 0.5;
      ASSERT_LE(std::abs(pad), limit + 1e-8) << text;
      if (std::abs(slip) > 1e-6) {
        ASSERT_NEAR(pad, -std::copysign(limit, slip), 1e-9) << text;
      }
      for (const double f : force)
        ASSERT_NEAR(f, 0, 1e-9) << "row " << row << " at " << result.data.cell(row, 0) << "\n" << text;
    }
    ASSERT_NEAR(result.end.energy_imbalance, 0, 1e-6) << text;
  }
  EXPECT_GT(ended, tests * 9 / 10);
  EXPECT_GT(slips, rows / 20);
  EXPECT_GT(open, rows / 20);
}

// A body with little mass and a little damping under the same load, slowed down: it goes through the same equilibria, the closer the slower.
TEST(QuasiStatic, IsTheLimitOfSlowMotion) {
  int compared = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    std::mt19937_64 random(seed);
    const simulate::Result path = follow(text_model(random_text(random, 1, 0)));
    ASSERT_TRUE(path.end.status.ok()) << path.end.status.message;
    if (!jumps_of(path).empty() || path.data.events.size() < 4) continue;
    double before = 0;
    for (const double slow : {0.1, 0.025}) {
      std::mt19937_64 again(seed);
      TestModel moving = text_model(random_text(again, slow, 1e-3));
      moving.options.event_rows = false;
      moving.options.tolerance = 1e-7;
      const simulate::Result motion = simulate::simulate(moving.system, moving.options, "event");
      ASSERT_TRUE(motion.end.status.ok()) << motion.end.status.message;
      double worst = 0;
      std::size_t at = 0;
      for (std::size_t row = 0; row < path.data.rows(); ++row) {
        if (path.data.kinds[row] != RowKind::sample) continue;
        while (at + 1 < motion.data.rows() && motion.data.cell(at, 0) * slow < path.data.cell(row, 0) - 1e-9)
          ++at;
        for (std::size_t i = 1; i <= 4; ++i)
          worst = std::max(worst, std::abs(path.data.cell(row, i) - motion.data.cell(at, i)));
      }
      if (before > 0) {
        EXPECT_LT(worst, 0.5 * before) << seed;
        EXPECT_LT(worst, 0.02) << seed;
      }
      before = worst;
    }
    ++compared;
  }
  EXPECT_GE(compared, 2);
}

// A run that is cut anywhere goes on to the same end.
TEST(QuasiStatic, GoesOnWhereItWasCut) {
  const TestModel model = wall(0.3, 0, "0.8*sin(9*t)");
  const simulate::Result whole = follow(model);
  ASSERT_TRUE(whole.end.status.ok());
  for (const double cut : {0.1, 0.33, 0.7}) {
    EngineOptions first = model.options;
    first.until = cut;
    simulate::NullSink sink;
    const EngineResult half = simulate::run(model.system, "quasi-static", first, sink);
    ASSERT_TRUE(half.status.ok());
    const EngineResult rest = simulate::run(model.system, "quasi-static", model.options, sink, &half.end);
    ASSERT_TRUE(rest.status.ok()) << rest.status.message;
    EXPECT_EQ(rest.events, whole.end.events);
    for (std::size_t i = 0; i < whole.end.end.y.size(); ++i)
      EXPECT_NEAR(rest.end.y[i], whole.end.end.y[i], 1e-10) << cut;
    EXPECT_NEAR(rest.end.dissipated[0], whole.end.end.dissipated[0], 1e-8) << cut;
  }
}

TEST(QuasiStatic, EndsWhenItIsCancelled) {
  const TestModel model = wall(0.3, 0, "0.8*sin(9*t)");
  EngineOptions options = model.options;
  const std::atomic<bool> cancel{true};
  options.cancel = &cancel;
  simulate::NullSink sink;
  EXPECT_EQ(simulate::run(model.system, "quasi-static", options, sink).status.reason, Reason::interrupted);
}

TEST(QuasiStatic, CountsAndStopsAtWatches) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { massless = true }
[energy]
potential = "x^2/2 - sin(t)*x"
[[watch]]
name = "half"
zero = "x - 0.5"
direction = "up"
stop = 2
[run]
until = 20
engine = "quasi-static"
)toml");
  const simulate::Result result = follow(model);
  EXPECT_EQ(result.end.status.reason, Reason::watch);
  ASSERT_EQ(result.data.events.size(), 2u);
  EXPECT_NEAR(result.data.events[0].time, std::acos(-1.0) / 6, 1e-10);
  EXPECT_NEAR(result.data.events[1].time, std::acos(-1.0) * 13 / 6, 1e-10);
}

TEST(QuasiStatic, SaysWhereNoEquilibriumIsLeft) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { massless = true }
[energy]
potential = "-t*x"
[[friction]]
name = "pad"
slip = "x'"
normal = 1
law = 0.5
[run]
until = 1
engine = "quasi-static"
)toml");
  const simulate::Result result = follow(model);
  EXPECT_FALSE(result.end.status.ok());
  EXPECT_NEAR(result.end.status.time, 0.5, 1e-9);
}

TEST(QuasiStatic, RefusesWithTheReason) {
  const auto reason = [](const std::string& text) {
    return simulate::engine_problem(text_model(text + "[run]\nuntil = 1\nengine = \"quasi-static\"\n").system,
                                    "quasi-static");
  };
  const std::string mass = "[coordinates]\nx = 1\n[energy]\nkinetic = \"x'^2\"\npotential = \"x^2\"\n";
  EXPECT_EQ(reason(mass), "");
  EXPECT_NE(reason(mass + "dissipation = \"x'^2\"\n").find("depends on the speed of 'x'"), std::string::npos);
  EXPECT_NE(reason(mass + "[state]\nz = { start = 0, rate = \"x\" }\n").find("'z'"), std::string::npos);
  EXPECT_NE(reason(mass + "[[force]]\nalong = \"x'\"\nvalue = \"abs(x)\"\n")
                .find("switch that depends on the state"),
            std::string::npos);
  EXPECT_NE(
      reason(
          mass +
          "[[friction]]\nname = \"pad\"\nslip = \"x'\"\nnormal = 1\nlaw = { static = 0.3, dynamic = 0.2 }\n")
          .find("static coefficient"),
      std::string::npos);
  EXPECT_NE(
      reason(mass + "[[friction]]\nname = \"pad\"\nslip = \"x'\"\nnormal = 1\nlaw = \"0.3/(1 + speed)\"\n")
          .find("not constant"),
      std::string::npos);
  EXPECT_NE(reason(mass + "[[friction]]\nname = \"pad\"\nslip = \"x*x'\"\nnormal = 1\nlaw = 0.3\n")
                .find("slip row varies"),
            std::string::npos);
}

}  // namespace
}  // namespace judder::engines
