// The right-hand side of a mode as a table: against the equations solved in 113 bits, against the press by hand, and that a mode that
// comes back has the bits it had.
#include "engines/mode_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "count.hpp"
#include "engines/mode_motion.hpp"
#include "random_system.hpp"
#include "run_model.hpp"

namespace judder::engines {
namespace {

__extension__ using Quad = __float128;

constexpr double kEpsilon = 2.220446049250313e-16;

Quad size_of(Quad x) { return x < 0 ? -x : x; }

/// Columns x of A x = b for every column of b, by elimination with row pivoting in 113 bits; false: singular.
bool solve(std::vector<std::vector<Quad>> a, std::vector<std::vector<Quad>>& b) {
  const std::size_t n = a.size();
  for (std::size_t p = 0; p < n; ++p) {
    std::size_t best = p;
    for (std::size_t r = p + 1; r < n; ++r) {
      if (size_of(a[r][p]) > size_of(a[best][p])) best = r;
    }
    if (size_of(a[best][p]) < Quad(1e-9)) return false;
    std::swap(a[p], a[best]);
    std::swap(b[p], b[best]);
    for (std::size_t r = 0; r < n; ++r) {
      if (r == p) continue;
      const Quad ratio = a[r][p] / a[p][p];
      for (std::size_t c = p; c < n; ++c) a[r][c] -= ratio * a[p][c];
      for (std::size_t c = 0; c < b[r].size(); ++c) b[r][c] -= ratio * b[p][c];
    }
  }
  for (std::size_t p = 0; p < n; ++p) {
    for (Quad& x : b[p]) x /= a[p][p];
  }
  return true;
}

/// A mode with statuses drawn at random.
Mode random_mode(const model::System& system, std::mt19937_64& random) {
  const model::Layout& layout = system.layout();
  Mode mode;
  mode.normal.assign(layout.relations, NormalStatus::none);
  mode.pressed.assign(layout.relations, 0);
  mode.tangent.assign(layout.tangents, TangentStatus::free);
  mode.side.assign(layout.switches, 0);
  mode.surface.assign(layout.switches, AtSurface::away);
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system.relations()[r];
    if (relation.has_normal) mode.normal[r] = random() % 2 == 0 ? NormalStatus::open : NormalStatus::closed;
    if (mode.normal[r] == NormalStatus::open) continue;
    for (int j = 0; j < relation.tangents; ++j) {
      constexpr TangentStatus kStatuses[] = {TangentStatus::stick, TangentStatus::slip_plus,
                                             TangentStatus::slip_minus};
      mode.tangent[relation.first_tangent + j] = kStatuses[random() % 3];
    }
  }
  return mode;
}

/// A system, its memory and its motion.
struct Bench {
  explicit Bench(const model::System& system) : work(system), motion(system, work) {}
  model::Workspace work;
  ModeMotion motion;
};

// M v̇ = h + Σ C λ, G v̇ + ζ = 0 as one linear system in 113 bits. Forces from their gradients, which the table does not use.
TEST(ModeTable, GivesTheSolutionOfTheEquations) {
  int compared = 0;
  int modes = 0;
  for (int seed = 1; seed <= count(5000); ++seed) {
    const TestModel model = spec_model(random_system(seed).spec());
    const model::System& system = model.system;
    const model::Layout& layout = system.layout();
    const int n = layout.coordinates;
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    Bench bench(system);
    const Mode mode = random_mode(system, random);
    if (!bench.motion.set_mode(mode) || bench.motion.redundant()) continue;
    ++modes;
    ASSERT_TRUE(bench.motion.tabled()) << "seed " << seed;

    std::vector<double> y(layout.integrated());
    for (double& x : y) x = uniform(random);
    const double t = std::abs(uniform(random));
    bench.motion.load(t, y.data());
    std::copy_n(bench.work.in.begin() + 1, layout.integrated(), y.begin());  // what is pinned is pinned
    ASSERT_TRUE(bench.motion.evaluate()) << "seed " << seed;

    // h = J y + h(0, t)
    model::Workspace other(system);
    std::copy_n(bench.work.in.begin(), other.in.size(), other.in.begin());
    std::fill_n(other.in.begin() + 1, layout.integrated(), 0.0);
    std::vector<double> jacobian((n + layout.states) * (layout.integrated() + layout.free_parameters));
    system.jacobian(other, jacobian.data());
    ASSERT_TRUE(system.motion(other));
    std::vector<Quad> h(n);
    std::vector<double> terms(n);
    for (int i = 0; i < n; ++i) {
      h[i] = other.force[i];
      terms[i] = std::abs(other.force[i]);
      for (int k = 0; k < layout.integrated(); ++k) {
        const Quad term = Quad(jacobian[i * layout.integrated() + k]) * y[k];
        h[i] += term;
        terms[i] += static_cast<double>(size_of(term));
      }
    }
    // Columns: the loads, then one unit force per coordinate for the size of what rounding is relative to.
    const int active = bench.motion.active();
    const auto size = static_cast<std::size_t>(n + active);
    std::vector<std::vector<Quad>> a(size, std::vector<Quad>(size)), b(size, std::vector<Quad>(n + 1));
    const std::vector<double> mass = system.full_mass(bench.work);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) a[i][j] = mass[i * n + j];
      b[i][1 + i] = 1;
    }
    for (int k = 0; k < active; ++k) {
      const model::RelationRows& rows = bench.work.relation[bench.motion.active_relation(k)];
      const int tangent = bench.motion.active_tangent(k);
      const model::Row& w = tangent < 0 ? rows.w : rows.tangent[tangent].w;
      const model::Row& push = tangent < 0 ? rows.push : rows.tangent[tangent].drag;
      for (int i = 0; i < n; ++i) {
        a[n + k][i] = w[i];
        a[i][n + k] = -Quad(push[i]);
      }
      b[n + k][0] = -Quad(tangent < 0 ? rows.zeta_n : rows.tangent[tangent].zeta);
    }
    for (int r = 0; r < layout.relations; ++r) {
      const model::Relation& relation = system.relations()[r];
      const model::RelationRows& rows = bench.work.relation[r];
      for (int j = 0; j < relation.tangents; ++j) {
        const Quad factor = Quad(direction(mode.tangent[relation.first_tangent + j])) * rows.tangent[j].mu;
        for (int i = 0; i < n; ++i) {
          const Quad drag = factor * rows.tangent[j].drag[i];
          h[i] -= drag * rows.base;
          terms[i] += static_cast<double>(size_of(drag * rows.base));
          for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
            for (int k = 0; k < active; ++k) {
              if (bench.motion.active_relation(k) == relation.feeds[f] && bench.motion.active_tangent(k) < 0)
                a[i][n + k] += drag * rows.factors[f];
            }
          }
        }
      }
    }
    for (int i = 0; i < n; ++i) b[i][0] = h[i];
    if (!solve(a, b)) continue;
    const auto compare = [&](double ours, std::size_t row, const std::string& what) {
      double bound = 0;
      double all = 0;  // for what is zero up to the rounding of the oracle
      for (int j = 0; j < n; ++j) bound += static_cast<double>(size_of(b[row][1 + j])) * terms[j];
      for (int j = 0; j < n; ++j) all += terms[j];
      EXPECT_LE(static_cast<double>(size_of(b[row][0] - ours)), 24 * kEpsilon * bound + 1e-28 * all)
          << what << " is " << ours << ", in 113 bits " << static_cast<double>(b[row][0]) << ", seed "
          << seed;
      ++compared;
    };
    for (int i = 0; i < n; ++i)
      compare(bench.motion.acceleration()[i], i, "acceleration " + std::to_string(i));
    for (int k = 0; k < active; ++k) {
      const int r = bench.motion.active_relation(k);
      const int tangent = bench.motion.active_tangent(k);
      const int first = system.relations()[r].first_tangent;
      compare(tangent < 0 ? bench.motion.normal()[r] : bench.motion.tangent()[first + tangent], n + k,
              "reaction " + std::to_string(k));
    }
    // Friction of slipping rows follows from the normal forces.
    for (int r = 0; r < layout.relations; ++r) {
      const model::Relation& relation = system.relations()[r];
      const model::RelationRows& rows = bench.work.relation[r];
      for (int j = 0; j < relation.tangents; ++j) {
        const int sigma = direction(mode.tangent[relation.first_tangent + j]);
        if (sigma == 0) continue;
        double limit = rows.base;
        for (std::size_t f = 0; f < relation.feeds.size(); ++f)
          limit += rows.factors[f] * std::abs(bench.motion.normal()[relation.feeds[f]]);
        EXPECT_EQ(bench.motion.tangent()[relation.first_tangent + j], -sigma * rows.tangent[j].mu * limit)
            << "seed " << seed;
      }
    }
  }
  EXPECT_GT(modes, 50);
  EXPECT_GT(compared, 200);
}

/// The press with its plane open, or closed and slipping forward, the rings slipping up.
Mode press_mode(const model::System& system, bool closed) {
  std::mt19937_64 random(1);
  Mode mode = random_mode(system, random);
  for (std::size_t r = 0; r < mode.normal.size(); ++r) {
    const model::Relation& relation = system.relations()[r];
    mode.tangent[relation.first_tangent] = TangentStatus::slip_plus;
    if (!relation.has_normal) continue;
    mode.normal[r] = closed ? NormalStatus::closed : NormalStatus::open;
    if (!closed) mode.tangent[relation.first_tangent] = TangentStatus::free;
  }
  return mode;
}

// Zabuga 2017, chapter 3.
TEST(ModeTable, OfThePressIsThatByHand) {
  const TestModel model = gallery_model("press");
  const double mc = 0.1, mp = 1, l = 0.1, c = 2000, n = 1, mu = 0.4, q0 = 0.5, g = 9.81;
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Bench bench(model.system);
  for (int trial = 0; trial < 200; ++trial) {
    const bool closed = trial % 2 == 1;
    std::vector<double> y{uniform(random),
                          closed ? 0 : 0.1 + uniform(random) / 20,
                          l + uniform(random) / 20,
                          uniform(random),
                          closed ? 0 : uniform(random),
                          uniform(random)};
    bench.motion.load(0, y.data());
    ASSERT_TRUE(bench.motion.set_mode(press_mode(model.system, closed)));
    ASSERT_TRUE(bench.motion.tabled());
    ASSERT_TRUE(bench.motion.evaluate());
    const auto a = bench.motion.acceleration();
    const double force = -c * (y[2] - l) - 2 * n * y[5] - q0;
    const double terms = c * std::abs(y[2] - l) + 2 * n * std::abs(y[5]) + q0 + mp * g;
    int plane = 0;
    for (int r = 0; r < model.system.layout().relations; ++r)
      if (model.system.relations()[r].has_normal) plane = r;
    const double normal = bench.motion.normal()[plane];
    const double friction = bench.motion.tangent()[model.system.relations()[plane].first_tangent];
    if (closed) {
      const double expected = mc * g + force;
      EXPECT_NEAR(normal, expected, 8 * kEpsilon * terms) << trial;
      EXPECT_EQ(friction, -mu * std::abs(normal)) << trial;
      EXPECT_NEAR(a[0], -mu * expected / (mc + mp), 8 * kEpsilon * terms) << trial;
      EXPECT_EQ(a[1], 0) << "the cylinder rests on the plane, trial " << trial;
      EXPECT_NEAR(a[2], -g + force / mp, 8 * kEpsilon * terms) << trial;
    } else {
      EXPECT_EQ(a[0], 0) << "nothing acts sideways in flight, trial " << trial;
      EXPECT_NEAR(a[1], -g - force / mc, 16 * kEpsilon * terms / mc) << trial;
      EXPECT_NEAR(a[2], force * (1 / mp + 1 / mc), 16 * kEpsilon * terms / mc) << trial;
      EXPECT_EQ(normal, 0);
      EXPECT_EQ(friction, 0);
    }
  }
}

// A spring far from the origin and near its free length: the force is right to its last bits, not to those of stiffness times distance.
TEST(ModeTable, KeepsTheDifferencesThatAreWritten) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 1000
y = 1001
[energy]
kinetic   = "3/2*x'^2 + 7/2*y'^2"
potential = "1e6/2*(y - x - 1)^2"
[run]
until = 1
)toml");
  Bench bench(model.system);
  Mode mode;
  ASSERT_TRUE(bench.motion.set_mode(mode));
  ASSERT_TRUE(bench.motion.tabled());
  for (int k = 0; k < 50; ++k) {
    const double stretch = std::ldexp(1.0, -40 + k / 2);  // a multiple of the last bit of 1001
    const std::vector<double> y{1000, 1001 + stretch, 0, 0};
    bench.motion.load(0, y.data());
    ASSERT_TRUE(bench.motion.evaluate());
    EXPECT_NEAR(bench.motion.acceleration()[0], 1e6 * stretch / 3, 2 * kEpsilon * 1e6 * stretch / 3) << k;
    EXPECT_NEAR(bench.motion.acceleration()[1], -1e6 * stretch / 7, 2 * kEpsilon * 1e6 * stretch / 7) << k;
  }
}

TEST(ModeTable, EvaluatesWhatVariesByItsProgram) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = 0
[state]
z = { start = 0, rate = "x - 2*z + t" }
[energy]
kinetic   = "x'^2/2 + y'^2"
potential = "x^4/4 + 3/2*(x - y)^2"
[[force]]
along = "y'"
value = "2*sin(t) + z"
[run]
until = 1
)toml");
  Bench bench(model.system);
  ASSERT_TRUE(bench.motion.set_mode(Mode{}));
  ASSERT_TRUE(bench.motion.tabled());
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int trial = 0; trial < 100; ++trial) {
    const std::vector<double> y{uniform(random), uniform(random), uniform(random), uniform(random),
                                uniform(random)};
    const double t = uniform(random);
    std::vector<double> rate(bench.motion.components());
    ASSERT_TRUE(bench.motion(t, y.data(), rate.data()));
    const double pull = 3 * (y[0] - y[1]);
    EXPECT_EQ(rate[0], y[2]);
    EXPECT_EQ(rate[1], y[3]);
    EXPECT_NEAR(rate[2], -y[0] * y[0] * y[0] - pull, 2e-15 * 8) << trial;
    EXPECT_NEAR(rate[3], (pull + 2 * std::sin(t) + y[4]) / 2, 2e-15 * 8) << trial;
    EXPECT_NEAR(rate[4], y[0] - 2 * y[4] + t, 2e-15 * 8) << trial;
  }
}

// More modes than are kept, in random order: each time the bits of a motion that has never seen another mode.
TEST(ModeTable, AModeThatComesBackHasTheSameBits) {
  std::string text = "[coordinates]\n";
  std::string kinetic = "0", potential = "0", contacts;
  for (int i = 1; i <= 5; ++i) {
    const std::string k = std::to_string(i);
    text += "x" + k + " = 0\n";
    kinetic += " + (1 + " + k + "/7)*x" + k + "'^2/2";
    potential += " + " + k + "*(x" + k + (i > 1 ? " - x" + std::to_string(i - 1) : "") + " - 0.1)^2";
    contacts += "[[friction]]\nname = \"f" + k + "\"\nslip = \"x" + k + "' - 0.3\"\nnormal = 1\nlaw = 0.3\n";
  }
  const TestModel model = text_model(text + "[energy]\nkinetic = \"" + kinetic + "\"\npotential = \"" +
                                     potential + "\"\n" + contacts + "[run]\nuntil = 1\n");
  const model::Layout& layout = model.system.layout();
  std::mt19937_64 random(17);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Bench kept(model.system);
  for (int trial = 0; trial < 1000; ++trial) {
    const Mode mode = random_mode(model.system, random);  // one of 243
    std::vector<double> y(layout.integrated());
    for (double& x : y) x = uniform(random);
    const double t = uniform(random);
    Bench fresh(model.system);
    for (Bench* bench : {&kept, &fresh}) {
      bench->motion.release_pins();
      bench->motion.load(t, y.data());
      ASSERT_TRUE(bench->motion.set_mode(mode));
      bench->motion.load(t + 0.5, y.data());
      ASSERT_TRUE(bench->motion.evaluate());
    }
    ASSERT_TRUE(kept.motion.mode() == mode);
    ASSERT_EQ(kept.work.in, fresh.work.in) << "trial " << trial;
    for (int i = 0; i < layout.coordinates; ++i)
      ASSERT_EQ(kept.motion.acceleration()[i], fresh.motion.acceleration()[i]) << "trial " << trial;
    for (int j = 0; j < layout.tangents; ++j)
      ASSERT_EQ(kept.motion.tangent()[j], fresh.motion.tangent()[j]) << "trial " << trial;
  }
}

TEST(ModeTable, IsNotMadeWhereTheStructureVaries) {
  const TestModel pendulum = text_model(R"toml(
[coordinates]
a = 1
x = 0
[energy]
kinetic   = "x'^2 + (x' + a'*cos(a))^2/2 + (a'*sin(a))^2/2"
potential = "-cos(a)"
[run]
until = 1
)toml");
  Bench bench(pendulum.system);
  ASSERT_TRUE(bench.motion.set_mode(Mode{}));
  EXPECT_FALSE(bench.motion.structure_constant());
  EXPECT_FALSE(bench.motion.tabled());
  ASSERT_TRUE(bench.motion.evaluate());
  EXPECT_TRUE(std::isfinite(bench.motion.acceleration()[0]));
}

TEST(ModeTable, SaysWhenAResultIsNotFinite) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 1
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = "1/x - x"
[run]
until = 1
)toml");
  Bench bench(model.system);
  ASSERT_TRUE(bench.motion.set_mode(Mode{}));
  ASSERT_TRUE(bench.motion.tabled());
  for (const double x : {1.0, 0.0, 2.0}) {
    const std::vector<double> y{x, 0};
    bench.motion.load(0, y.data());
    EXPECT_EQ(bench.motion.evaluate(), x != 0) << x;
  }
}

}  // namespace
}  // namespace judder::engines
