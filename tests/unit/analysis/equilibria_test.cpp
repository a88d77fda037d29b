// Rest states: the corrected table of Klarbring's particle, random systems against the line in the cone, counts and speed.
#include "judder/analysis/equilibria.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <random>

#include "count.hpp"
#include "klarbring.hpp"
#include "run_model.hpp"

namespace judder::analysis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

RestProblem problem_of(const TestModel& model, EquilibriaOptions options = {}) {
  EquilibriaProblem problem;
  auto rest = rest_problem(model.system, options, problem);
  if (!rest) throw std::runtime_error(problem.message + "; " + problem.help);
  return *rest;
}

std::string refusal(const TestModel& model, EquilibriaOptions options = {}) {
  EquilibriaProblem problem;
  EXPECT_FALSE(rest_problem(model.system, options, problem));
  return problem.message + " | " + problem.help;
}

const RestRange& range(const RestFamily& family, const std::string& name) {
  for (const RestRange& each : family.ranges) {
    if (each.name == name) return each;
  }
  throw std::runtime_error("no range " + name);
}

// Basseville, table IV.1, with the stuck states for A < 0, mu > K_T/W that it misses; both sets of stiffness.
TEST(Equilibria, NineCasesOfTheCorrectedTable) {
  for (const bool doubled : {false, true}) {
    const double scale = doubled ? 2 : 1;
    for (const double A : {-1.0, 0.0, 1.0}) {
      for (const double mu : {0.25, 1.0, 1.25}) {
        Klarbring k;
        k.KN = 2 * scale, k.W = scale, k.KT = scale;
        k.FN = A > 0 ? 2 : 1, k.FT = A < 0 ? 2 : 1, k.mu = mu;
        SCOPED_TRACE("A " + std::to_string(A) + ", mu " + std::to_string(mu) + ", scale " +
                     std::to_string(scale));
        const Equilibria found = equilibria(problem_of(k.model()));
        const double KT = k.KT, W = k.W, a = k.KT * k.FN - k.W * k.FT;
        std::size_t contact = 0;
        if (A < 0) {
          ASSERT_EQ(found.families.size(), mu > 1 ? 2U : 1U);
          const RestFamily& flight = found.families[0];
          EXPECT_EQ(flight.inside.status[0], RestStatus::detached);
          EXPECT_EQ(flight.dimension, 0U);
          EXPECT_NEAR(flight.inside.x[0], doubled ? -0.5 : -1, 1e-12);
          EXPECT_NEAR(flight.inside.x[1], doubled ? 1.5 : 3, 1e-12);
          if (mu < 1.1) continue;
          contact = 1;
        } else {
          ASSERT_EQ(found.families.size(), 1U);
        }
        const RestFamily& family = found.families[contact];
        const RestRange normal = range(family, "normal(wall)");
        if (A < 0) {
          EXPECT_EQ(family.inside.status[0], RestStatus::stuck);
          EXPECT_NEAR(normal.low, -a / (mu * W - KT), 1e-12);
          EXPECT_EQ(normal.high, kInfinity);
          ASSERT_EQ(family.vertices.size(), 1U);
          EXPECT_EQ(family.vertices[0].status[0], RestStatus::slip_plus);
          ASSERT_EQ(family.faces.size(), 1U);
          EXPECT_EQ(family.faces[0].meaning, "imminent slip+ of wall");
          EXPECT_EQ(family.rays.size(), 1U);
        } else if (A == 0) {
          EXPECT_EQ(family.dimension, mu < 1 ? 0U : 1U);
          EXPECT_EQ(normal.low, 0);
          EXPECT_EQ(normal.high, mu < 1 ? 0 : kInfinity);
          EXPECT_EQ(family.inside.status[0], mu < 1    ? RestStatus::grazing
                                             : mu == 1 ? RestStatus::slip_plus
                                                       : RestStatus::stuck);
          ASSERT_EQ(family.vertices.size(), 1U);
          EXPECT_EQ(family.vertices[0].status[0], RestStatus::grazing);
          EXPECT_NEAR(family.vertices[0].x[1], k.FN / W, 1e-12);
        } else {
          EXPECT_EQ(family.inside.status[0], RestStatus::stuck);
          EXPECT_NEAR(normal.low, a / (KT + mu * W), 1e-12);
          if (mu < 1) {
            EXPECT_NEAR(normal.high, a / (KT - mu * W), 1e-12);
            EXPECT_EQ(family.vertices.size(), 2U);
          } else {
            EXPECT_EQ(normal.high, kInfinity);
            EXPECT_EQ(family.rays.size(), 1U);
          }
          EXPECT_NEAR(range(family, "UT").high, (k.FN - normal.low) / W, 1e-12);
        }
      }
    }
  }
}

// Proposition IV.1: the reaction lies on a line, inside the cone. 61 reactions of each system.
TEST(Equilibria, RandomSystemsAgreeWithTheLineInTheCone) {
  std::mt19937_64 random(1800);
  std::uniform_real_distribution<double> u(0, 1);
  int inside = 0, outside = 0;
  for (int i = 0; i < std::max(count(1800), 60); ++i) {
    Klarbring k = Klarbring::random(random);
    if (i % 3 == 0) k.FT = k.KT * k.FN / k.W;  // A = 0 up to rounding
    if (i % 5 == 0) k.mu = k.KT / k.W;
    const RestProblem rest = problem_of(k.model());
    contact::Polyhedron closed = rest_polyhedron(rest, {1});
    const double A = k.KT * k.FN - k.W * k.FT;
    const double size = std::abs(k.FN) + std::abs(k.FT);
    for (int j = 0; j <= 60; ++j) {
      const double normal = 4 * size * j / 60;  // −R_N
      const double RT = A / k.W - k.KT / k.W * normal;
      const double slack = k.mu * normal - std::abs(RT);
      if (std::abs(slack) < 1e-7 * (size + normal)) continue;
      contact::Polyhedron at = closed;
      at.add_equation(std::vector<double>{0, 0, 1, 0}, normal);
      contact::PolyhedronSolver solver(at);
      ASSERT_EQ(solver.feasible(), slack > 0) << i << ", reaction " << normal;
      EXPECT_LT(solver.feasibility().certificate, 1e-9);
      ++(slack > 0 ? inside : outside);
    }
  }
  EXPECT_GT(inside, 200);
  EXPECT_GT(outside, 200);
}

std::string chain(int n, bool walls) {
  std::string coordinates = "[coordinates]\n", kinetic, potential, contacts;
  for (int i = 0; i < n; ++i) {
    const std::string x = "x" + std::to_string(i), y = "y" + std::to_string(i);
    coordinates += x + " = 0\n" + (walls ? y + " = 0\n" : "");
    kinetic += (i > 0 ? " + " : "") + ("0.5*" + x + "'^2") + (walls ? " + 0.5*" + y + "'^2" : "");
    potential +=
        (i > 0 ? " + " : "") +
        (walls ? "0.5*" + x + "^2 + " + y + "^2 + 0.3*" + x + "*" + y + " + " + y + " + 0.2*" + x : "0*" + x);
    if (walls && i > 0) potential += " + 0.1*(" + x + " - x" + std::to_string(i - 1) + ")^2";
    contacts += walls ? "[[contact]]\nname = \"c" + std::to_string(i) + "\"\ngap = \"" + y + "\"\nslip = \"" +
                            x + "'\"\nfriction = 0.4\n"
                      : "[[friction]]\nname = \"f" + std::to_string(i) + "\"\nslip = \"" + x +
                            "'\"\nnormal = 1\nlaw = 0.5\n";
    if (!walls) potential += " + 0.5*" + x + "^2";
  }
  return coordinates + "[energy]\nkinetic = \"" + kinetic + "\"\npotential = \"" + potential + "\"\n" +
         contacts + "[run]\nuntil = 1\n";
}

TEST(Equilibria, TwelveStuckMassesAreOneBox) {
  const Equilibria found = equilibria(problem_of(text_model(chain(12, false))));
  ASSERT_EQ(found.families.size(), 1U);
  const RestFamily& box = found.families[0];
  EXPECT_EQ(box.dimension, 12U);
  EXPECT_EQ(box.vertices.size(), 4096U);
  EXPECT_EQ(box.faces.size(), 24U);
  EXPECT_TRUE(box.complete);
  for (int i = 0; i < 12; ++i) {
    EXPECT_NEAR(range(box, "x" + std::to_string(i)).low, -0.5, 1e-12);
    EXPECT_NEAR(range(box, "reserve(f" + std::to_string(i) + ")").high, 0.5, 1e-12);
  }
}

// All statuses of twelve contacts; timed with room for a busy machine.
TEST(Equilibria, TwelveContactsAreQuick) {
  using Clock = std::chrono::steady_clock;
  const RestProblem rest = problem_of(text_model(chain(12, true)));
  auto start = Clock::now();
  std::size_t feasible = 0;
  for (std::size_t mask = 0; mask < 4096; ++mask) {
    std::vector<std::uint8_t> choice(12);
    for (std::size_t i = 0; i < 12; ++i) choice[i] = mask >> i & 1U;
    feasible += contact::PolyhedronSolver(rest_polyhedron(rest, choice)).feasible() ? 1 : 0;
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  RecordProperty("feasibility_seconds", std::to_string(seconds));
  std::printf("[ MEASURED ] feasibility of 4096 statuses: %.2f s, %zu feasible\n", seconds, feasible);
  EXPECT_GT(feasible, 0U);
  EXPECT_LT(seconds, 10) << "about half a second on an idle machine";
  // Twelve particles that may each be detached or held by friction: 4096 families.
  std::string coordinates = "[coordinates]\n", kinetic = "0", potential = "0", contacts;
  const int many = count(100000) == 100000 ? 12 : 7;  // all twelve take ten seconds
  for (int i = 0; i < many; ++i) {
    const std::string n = "n" + std::to_string(i), t = "t" + std::to_string(i);
    coordinates += n + " = 0\n" + t + " = 0\n";
    kinetic += " + (" + n + "'^2 + " + t + "'^2)/2";
    potential += " + " + n + "^2 + " + n + "*" + t + " + " + t + "^2/2 - " + n + " - 2*" + t;
    contacts += "[[contact]]\nname = \"c" + std::to_string(i) + "\"\ngap = \"-" + n + "\"\nslip = \"" + t +
                "'\"\nfriction = 1.25\n";
  }
  const RestProblem cells =
      problem_of(text_model(coordinates + "[energy]\nkinetic = \"" + kinetic + "\"\npotential = \"" +
                            potential + "\"\n" + contacts + "[run]\nuntil = 1\n"));
  start = Clock::now();
  EquilibriaOptions options;
  options.limit = 10;
  const Equilibria found = equilibria(cells, options);
  EXPECT_EQ(found.families.size(), std::size_t{1} << many);
  EXPECT_EQ(found.families.back().dimension, static_cast<std::size_t>(many));
  EXPECT_NEAR(range(found.families.back(), "normal(c5)").low, 4, 1e-12);
  std::printf("[ MEASURED ] ranges of %zu families: %.2f s\n", found.families.size(),
              std::chrono::duration<double>(Clock::now() - start).count());
  EXPECT_EQ(found.choices, found.families.size());
  EXPECT_EQ(found.left_out, 0U);
}

// Above twelve contacts parts without a rest are not looked into, and what is left out is said.
TEST(Equilibria, ManyContactsArePruned) {
  const RestProblem rest = problem_of(text_model(chain(14, true)));
  EquilibriaOptions options;
  options.limit = 10;
  const Equilibria found = equilibria(rest, options);
  EXPECT_EQ(found.choices, std::size_t{1} << 14U);
  EXPECT_EQ(found.left_out, 0U);
  EXPECT_LT(found.looked_at, 2 * found.choices);
  options.most_parts = 5;
  EXPECT_GT(equilibria(rest, options).left_out, 0U);
}

TEST(Equilibria, BadInputIsAnsweredClearly) {
  EXPECT_NE(refusal(mass_under("sin(t)")).find("not constant after t = 0"), std::string::npos)
      << refusal(mass_under("sin(t)"));
  const TestModel late = mass_under("if(t < 2, 3*t, 0) - x");
  EXPECT_NE(refusal(late).find("--at"), std::string::npos);
  EquilibriaOptions options;
  options.at = 2;
  EXPECT_EQ(equilibria(problem_of(late, options)).families.size(), 1U);
  // A force on a free mass: no rest, and the direction is named.
  const Equilibria loaded = equilibria(problem_of(mass_under("1")));
  EXPECT_TRUE(loaded.families.empty());
  EXPECT_EQ(loaded.floating, std::vector<std::string>{"x"});
  // Without the force every place is a rest.
  const Equilibria free = equilibria(problem_of(mass_under("0")));
  ASSERT_EQ(free.families.size(), 1U);
  EXPECT_EQ(free.families[0].lines.size(), 1U);
  EquilibriaProblem problem;
  EXPECT_FALSE(rest_problem(mass_under("-x^3 + x").system, {}, problem));
  EXPECT_TRUE(problem.not_affine);
}

// A mass on a belt whose friction falls with the slip speed: the rest is k x = mu(v) m g.
TEST(Equilibria, ABeltSlidesWithItsKnownFriction) {
  const Equilibria found = equilibria(problem_of(gallery_model("belt")));
  ASSERT_EQ(found.families.size(), 1U);
  EXPECT_EQ(found.families[0].dimension, 0U);
  EXPECT_NEAR(found.families[0].inside.x[0], 0.625, 1e-12);
  EXPECT_EQ(found.families[0].inside.status[0], RestStatus::sliding_minus);
}

}  // namespace
}  // namespace judder::analysis
