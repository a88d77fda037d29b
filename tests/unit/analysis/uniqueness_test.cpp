// Loads with two motions, the check that both solve the problem of measures, and what restores uniqueness: power series, bilateral friction, monotone friction.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "count.hpp"
#include "judder/analysis/bilateral.hpp"
#include "judder/analysis/contact_germ.hpp"
#include "judder/analysis/distance.hpp"
#include "judder/analysis/measure_problem.hpp"
#include "judder/analysis/non_uniqueness.hpp"
#include "run_model.hpp"

namespace judder::analysis {
namespace {

// --- the bump ---

// Basseville 2004, III.2.1, with the values of 30-digit arithmetic.
TEST(Bump, HasIntegralOneAndItsKnownMoments) {
  EXPECT_NEAR(bump(0.5), 2.605406514520, 1e-11);
  EXPECT_EQ(bump(0), 0);
  EXPECT_EQ(bump(1), 0);
  EXPECT_NEAR(bump_integral(1 - 1e-16), 1, 1e-15);
  EXPECT_NEAR(bump_integral(0.5), 0.5, 1e-14);
  EXPECT_NEAR(bump_second_integral(1 - 1e-16), 0.5, 1e-14);
  for (const double s : {0.05, 0.2, 0.5, 0.8, 0.99}) {
    const double h = 1e-4;
    EXPECT_NEAR((bump_integral(s + h) - bump_integral(s - h)) / (2 * h), bump(s), 1e-5);
    EXPECT_NEAR((bump_second_integral(s + h) - bump_second_integral(s - h)) / (2 * h), bump_integral(s),
                1e-7);
    EXPECT_NEAR(bump_integral(s) + bump_integral(1 - s), 1, 1e-14);
  }
}

// --- the members ---

TEST(CounterExamples, HaveTheMembersOfTheElasticFamily) {
  const CounterExample example = counter_example(CounterExampleKind::elastic, 0, 5);
  ASSERT_EQ(example.members.size(), 5u);
  const double ends[] = {0.2515873015873016, 0.32777777777777778, 0.46388888888888889, 0.76388888888888889,
                         65.0 / 36};
  double factorial = 1;
  for (int n = 4; n >= 0; --n) {
    const CounterExample::Member& m = example.members[static_cast<std::size_t>(4 - n)];
    EXPECT_EQ(m.n, n);
    EXPECT_NEAR(m.end, ends[4 - n], 1e-15);
    EXPECT_NEAR(m.second_begin + m.second_length, m.end, 1e-15);
    EXPECT_NEAR(m.second_begin - m.begin, (n + 5.0) / ((n + 1.0) * (n + 2) * (n + 4)), 1e-15);
    // F_n/2 (a_n − a_{n+1} − d_n) = (n + 5)/(n + 4)!
    factorial = 1;
    for (int i = 2; i <= n + 4; ++i) factorial *= i;
    EXPECT_NEAR(m.second_load * m.second_length, (n + 5) / factorial, 1e-14);
  }
}

// Basseville 2004, III.2.3 and III.3.1; the last digits by 30-digit arithmetic.
TEST(CounterExamples, HaveTheMembersOfTheInelasticFamilies) {
  struct Row {
    int n;
    double d1, d2, f2;
  };
  const auto compare = [](CounterExampleKind kind, const std::vector<Row>& rows) {
    const CounterExample example = counter_example(kind, 0, 21);
    for (const Row& row : rows) {
      const auto at = std::find_if(example.members.begin(), example.members.end(),
                                   [&](const CounterExample::Member& m) { return m.n == row.n; });
      ASSERT_NE(at, example.members.end());
      EXPECT_NEAR(at->first_length / row.d1, 1, 1e-8) << row.n;
      EXPECT_NEAR(at->second_length / row.d2, 1, 1e-8) << row.n;
      EXPECT_NEAR(at->second_load / row.f2, 1, 1e-8) << row.n;
    }
    EXPECT_EQ(example.members.back().n, 4);  // none exists before
  };
  compare(CounterExampleKind::inelastic, {{4, 1.80957103e-3, 3.18976835e-3, 21.8631187},
                                          {5, 8.65169782e-4, 3.53399512e-3, 9.79898622},
                                          {8, 1.66632117e-4, 1.72058832e-3, 2.46399106},
                                          {20, 5.37282878e-6, 1.84037824e-4, 5.40468110e-3}});
  compare(CounterExampleKind::spring, {{4, 1.80956886e-3, 3.18605858e-3, 21.8858652},
                                       {5, 8.65169547e-4, 3.53301789e-3, 9.80119512},
                                       {8, 1.66632115e-4, 1.72053181e-3, 2.46405450},
                                       {20, 5.37282878e-6, 1.84037660e-4, 5.40468531e-3}});
}

// --- both motions solve the problem ---

void expect_solution(const CounterExample& example, const std::vector<CandidatePiece>& motion,
                     const char* which) {
  const MeasureResiduals found = check_measure_problem(example.problem, motion);
  EXPECT_LE(found.motion.value, 1e-10) << which << ", piece " << found.motion.piece;
  EXPECT_LE(found.admissible.value, 1e-10) << which << ", piece " << found.admissible.piece;
  EXPECT_LE(found.reaction.value, 1e-10) << which << ", piece " << found.reaction.piece;
  EXPECT_LE(found.impact.value, 1e-10) << which << ", piece " << found.impact.piece;
  EXPECT_LE(found.friction.value, 1e-10) << which << ", piece " << found.friction.piece;
}

TEST(CounterExamples, HaveTwoMotionsThatBothSolveTheProblem) {
  for (const CounterExampleKind kind :
       {CounterExampleKind::elastic, CounterExampleKind::inelastic, CounterExampleKind::spring}) {
    const CounterExample example = counter_example(kind, 0, kind == CounterExampleKind::elastic ? 30 : 20);
    expect_solution(example, example.one, "one");
    expect_solution(example, example.other, "other");
    double one = 0, other = 0;
    example.one.back().position(example.one.back().length / 2, &one);
    example.other.back().position(example.other.back().length / 2, &other);
    EXPECT_GT(std::abs(one - other), 1e-6);  // and they are two
  }
}

// Basseville 2004, III.3.2: the same in the plane and in space, with friction that never acts.
TEST(CounterExamples, AreCarriedOverToMoreDimensions) {
  for (const std::size_t dimension : {2, 3}) {
    const CounterExample example = counter_example(CounterExampleKind::spring, 4, 8, dimension, 0.7);
    expect_solution(example, example.one, "one");
    expect_solution(example, example.other, "other");
  }
}

// --- what does not solve it ---

// A particle of mass 1 in the plane, no spring, pressed by F_N = 1 and pushed by F_T = 2 against μ = 0.5: it strikes the wall at t = 1, slides on, with e = 0.
struct Sliding {
  MeasureProblem problem;
  std::vector<CandidatePiece> motion;
  Sliding() {
    problem.dimension = 2;
    problem.friction = 0.5;
    problem.load = [](double, double* f) {
      f[0] = 1;
      f[1] = 2;
    };
    CandidatePiece flight, slide;
    flight.length = 1;
    flight.position = [](double t, double* u) {
      u[0] = t * t / 2 - 0.5;
      u[1] = t * t + 3 * t;
    };
    flight.velocity = [](double t, double* v) {
      v[0] = t;
      v[1] = 2 * t + 3;
    };
    // Impulse −1 across, −0.5 along: 5 − 0.5 = 4.5, then 2 − 0.5 = 1.5.
    slide.begin = 1;
    slide.length = 2;
    slide.impulse = {-1, -0.5};
    slide.position = [](double t, double* u) {
      u[0] = 0;
      u[1] = 4 + 4.5 * t + 0.75 * t * t;
    };
    slide.velocity = [](double t, double* v) {
      v[0] = 0;
      v[1] = 4.5 + 1.5 * t;
    };
    slide.density = [](double, double* r) {
      r[0] = -1;
      r[1] = -0.5;
    };
    motion = {flight, slide};
  }
};

TEST(MeasureProblem, AcceptsASlideBehindAnImpact) {
  const Sliding right;
  EXPECT_LE(check_measure_problem(right.problem, right.motion).largest(), 1e-13);
}

// Five candidates, each of which breaks one law and keeps the other four.
TEST(MeasureProblem, RefusesWhatBreaksOneLawAlone) {
  constexpr double kKept = 1e-12, kBroken = 1e-3;
  {  // the motion: a density that the velocities do not show, within the cone's edge
    Sliding wrong;
    wrong.motion[1].density = [](double, double* r) {
      r[0] = -1.1;
      r[1] = -0.55;
    };
    const MeasureResiduals found = check_measure_problem(wrong.problem, wrong.motion);
    EXPECT_GE(found.motion.value, kBroken);
    EXPECT_LE(
        std::max({found.admissible.value, found.reaction.value, found.impact.value, found.friction.value}),
        kKept);
  }
  {  // the wall: it flies through
    Sliding wrong;
    wrong.motion.resize(1);
    wrong.motion[0].length = 2;
    const MeasureResiduals found = check_measure_problem(wrong.problem, wrong.motion);
    EXPECT_GE(found.admissible.value, kBroken);
    EXPECT_LE(std::max({found.motion.value, found.reaction.value, found.impact.value, found.friction.value}),
              kKept);
  }
  {  // the sign of the reaction: the wall holds what is pulled away, without friction
    MeasureProblem problem;
    problem.load = [](double, double* f) { *f = -1; };
    CandidatePiece rest;
    rest.length = 1;
    rest.position = rest.velocity = [](double, double* x) { *x = 0; };
    rest.density = [](double, double* r) { *r = 1; };
    const MeasureResiduals found = check_measure_problem(problem, {rest});
    EXPECT_GE(found.reaction.value, kBroken);
    EXPECT_LE(
        std::max({found.motion.value, found.admissible.value, found.impact.value, found.friction.value}),
        kKept);
  }
  {  // the impact: it bounces with e = 1/2 where e = 0 is asked, friction in proportion
    Sliding wrong;
    CandidatePiece& bounce = wrong.motion[1];
    bounce.length = 1;
    bounce.impulse = {-1.5, -0.75};
    bounce.density = nullptr;
    bounce.position = [](double t, double* u) {
      u[0] = -0.5 * t + 0.5 * t * t;
      u[1] = 4 + 4.25 * t + t * t;
    };
    bounce.velocity = [](double t, double* v) {
      v[0] = -0.5 + t;
      v[1] = 4.25 + 2 * t;
    };
    const MeasureResiduals found = check_measure_problem(wrong.problem, wrong.motion);
    EXPECT_GE(found.impact.value, kBroken);
    EXPECT_LE(
        std::max({found.motion.value, found.admissible.value, found.reaction.value, found.friction.value}),
        kKept);
  }
  // Friction: an impulse that is too weak; then a force that is too weak.
  for (const bool in_impact : {true, false}) {
    Sliding wrong;
    CandidatePiece& slide = wrong.motion[1];
    const double strike = in_impact ? 0.4 : 0.5, force = in_impact ? 0.5 : 0.4;
    slide.impulse = {-1, -strike};
    slide.density = [force](double, double* r) {
      r[0] = -1;
      r[1] = -force;
    };
    slide.position = [=](double t, double* u) {
      u[0] = 0;
      u[1] = 4 + (5 - strike) * t + 0.5 * (2 - force) * t * t;
    };
    slide.velocity = [=](double t, double* v) {
      v[0] = 0;
      v[1] = 5 - strike + (2 - force) * t;
    };
    const MeasureResiduals found = check_measure_problem(wrong.problem, wrong.motion);
    EXPECT_GE(found.friction.value, kBroken) << in_impact;
    EXPECT_LE(
        std::max({found.motion.value, found.admissible.value, found.reaction.value, found.impact.value}),
        kKept);
  }
}

// The motions of the examples themselves, corrupted.
TEST(MeasureProblem, RefusesCorruptedCounterExamples) {
  const CounterExample good = counter_example(CounterExampleKind::elastic, 0, 12);
  {  // a bounce that is a thousandth too weak for its motion
    std::vector<CandidatePiece> motion = good.other;
    motion[5].impulse[0] *= 0.999;
    EXPECT_GE(check_measure_problem(good.problem, motion).motion.value, 1e-5);
  }
  {  // a motion that is 1 % too far
    std::vector<CandidatePiece> motion = good.other;
    const auto position = motion[7].position;
    motion[7].position = [position](double t, double* u) {
      position(t, u);
      *u *= 1.01;
    };
    EXPECT_GE(check_measure_problem(good.problem, motion).motion.value, 1e-4);
  }
  {  // the elastic motion under the inelastic law
    MeasureProblem problem = good.problem;
    problem.restitution = 0;
    EXPECT_GE(check_measure_problem(problem, good.other).impact.value, 0.1);
    EXPECT_LE(check_measure_problem(problem, good.one).largest(), 1e-10);  // rest knows no restitution
  }
  {  // parts exchanged one interval too late: what rests jumps away
    CounterExample example = counter_example(CounterExampleKind::inelastic, 4, 10);
    std::swap(example.one.back(), example.other.back());
    EXPECT_GE(check_measure_problem(example.problem, example.one).motion.value, 0.1);
  }
}

// --- power series ---

// Basseville 2004, T-23 of its checks: K = [2 1; 1 1], F constant.
TEST(ContactGerm, DecidesTheParticleAtTheTipOfItsCone) {
  GermProblem p;
  p.normal_stiffness = 2;
  p.coupling = p.tangential_stiffness = 1;
  p.friction = 0.5;
  const auto at = [&](double fn, double ft, double u, double v) {
    p.normal_load = {fn};
    p.tangential_load = {ft};
    p.position = u;
    p.velocity = v;
    return contact_germ(p);
  };
  EXPECT_EQ(at(1, 1, 0.5, 0).status,
            GermStatus::slip_plus);  // W U_T < F_N: contact; here it slips at μ = 1/2 (0.5 > 0.25)
  EXPECT_EQ(at(1, 1, 1.5, 0).status, GermStatus::leaves);
  EXPECT_EQ(at(1, 1, 1.5, 0).order, 2);
  const Germ third = at(1, 1, 1, 0.3);
  EXPECT_EQ(third.status, GermStatus::leaves);
  EXPECT_EQ(third.order, 3);
  EXPECT_NEAR(third.coefficient, -0.3 / 6, 1e-15);  // −W V_T/(6 m)
  EXPECT_EQ(at(1, 1, 1, -0.3).status, GermStatus::slip_minus);
  const Germ fourth = at(1, 2, 1, 0);  // A = K_T F_N − W F_T = −1
  EXPECT_EQ(fourth.status, GermStatus::leaves);
  EXPECT_EQ(fourth.order, 4);
  EXPECT_NEAR(fourth.coefficient, -1.0 / 24, 1e-15);
  EXPECT_EQ(at(2, 1, 2, 0).status, GermStatus::slip_minus);  // A = 1
  EXPECT_EQ(at(1, 1, 1, 0).status, GermStatus::grazes);      // A = 0
}

// The inequality of forces is decided at a higher order than the forces themselves: 1 + t against 1.
TEST(ContactGerm, ComparesForcesByTheExcessAndNotByTheirFirstOrder) {
  GermProblem p;
  p.friction = 0.5;
  p.normal_load = {2};
  p.tangential_load = {1, 1};
  const Germ germ = contact_germ(p);
  EXPECT_EQ(germ.status, GermStatus::slip_plus);
  EXPECT_EQ(germ.slip_order, 3);
  EXPECT_NEAR(germ.slip_coefficient, 1.0 / 6, 1e-15);
  p.tangential_load = {1, -1};
  EXPECT_EQ(contact_germ(p).status, GermStatus::stick);
  p.tangential_load = {-1, 0, -0.25};
  EXPECT_EQ(contact_germ(p).status, GermStatus::slip_minus);
  EXPECT_EQ(contact_germ(p).slip_order, 4);
  p.tangential_load = {1};
  EXPECT_EQ(contact_germ(p).status, GermStatus::stick);  // equal for ever
  // Petcoviciu 2010, 3.4: F_T = t, F_N = t/2, μ = 0.5.
  p.normal_load = {0, 0.5};
  p.tangential_load = {0, 1};
  EXPECT_EQ(contact_germ(p).slip_order, 3);
  EXPECT_NEAR(contact_germ(p).slip_coefficient, 0.125, 1e-15);
}

/// The same motion by Moreau's time stepping with tiny steps, θ = 1: where it is after `steps` of length h, with the impulses of the last step.
struct Stepped {
  double un = 0, ut = 0, vt = 0, pressed = 0;
};

Stepped step_through(const GermProblem& p, double h, int steps) {
  Stepped s;
  s.ut = p.position;
  s.vt = p.velocity;
  double vn = 0;
  const auto load = [](const std::vector<double>& f, double t) {
    double sum = 0;
    for (std::size_t k = f.size(); k-- > 0;) sum = sum * t + f[k];
    return sum;
  };
  for (int i = 0; i < steps; ++i) {
    const double t = (i + 0.5) * h, middle_n = s.un + 0.5 * h * vn, middle_t = s.ut + 0.5 * h * s.vt;
    const double fn = load(p.normal_load, t) - p.normal_stiffness * middle_n - p.coupling * middle_t;
    const double ft = load(p.tangential_load, t) - p.coupling * middle_n - p.tangential_stiffness * middle_t;
    const double free_n = vn + h * fn / p.mass, free_t = s.vt + h * ft / p.mass;
    const bool closed = s.un >= 0 && free_n > 0;
    s.pressed = closed ? p.mass * free_n : 0;
    vn = closed ? 0 : free_n;
    const double most = p.friction * s.pressed / p.mass;
    s.vt = std::abs(free_t) <= most ? 0 : free_t - std::copysign(most, free_t);
    s.un = closed ? 0 : s.un + h * vn;
    s.ut += h * s.vt;
  }
  return s;
}

// Random loads whose first coefficients vanish: what the series decides is what small steps do.
TEST(ContactGerm, AgreesWithSmallSteps) {
  std::mt19937_64 random(4041);
  std::uniform_real_distribution<double> uniform(-1, 1);
  int compared = 0, kinds[5] = {};
  for (int test = 0; test < count(3000); ++test) {
    GermProblem p;
    p.normal_stiffness = 2 + uniform(random);
    p.tangential_stiffness = 2 + uniform(random);
    p.coupling = uniform(random);
    p.friction = 0.6 + 0.5 * uniform(random);
    p.position = uniform(random);
    p.normal_load.resize(4);
    p.tangential_load.resize(4);
    // At the tip in half of the cases; the driving force on the edge of the cone in a third.
    const int first = test % 2 == 0 ? 0 : 1 + test % 3;
    for (int k = 0; k < 4; ++k) {
      p.normal_load[static_cast<std::size_t>(k)] = k < first ? 0 : uniform(random);
      p.tangential_load[static_cast<std::size_t>(k)] = uniform(random);
    }
    p.normal_load[0] += p.coupling * p.position;
    p.tangential_load[0] += p.tangential_stiffness * p.position;
    if (test % 3 == 0)
      p.tangential_load[0] = p.tangential_stiffness * p.position +
                             p.friction * std::abs(p.normal_load[0] - p.coupling * p.position);
    if (test % 5 == 0) p.velocity = uniform(random);
    const Germ germ = contact_germ(p);
    // Series decide in the limit; steps decide over a time in which the leading term is large against the rest.
    const double time = 0.02;
    const int steps = 4000;
    const double scale =
        germ.status == GermStatus::leaves ? std::abs(germ.coefficient) * std::pow(time, germ.order)
        : germ.slip_order > 1             ? std::abs(germ.slip_coefficient) * std::pow(time, germ.slip_order)
                                          : 1;
    const Stepped s = step_through(p, time / steps, steps);
    ++kinds[static_cast<int>(germ.status)];
    if (scale < 1e-9) continue;  // too slow to be told from the error of the steps
    switch (germ.status) {
      case GermStatus::leaves:
        if (std::abs(germ.coefficient) < 0.05) continue;
        EXPECT_LT(s.un, 0) << test;
        EXPECT_NEAR(s.un / (germ.coefficient * std::pow(time, germ.order)), 1, 0.5) << test;
        break;
      case GermStatus::stick:
        if (std::abs(germ.coefficient) < 0.05) continue;
        EXPECT_EQ(s.un, 0) << test;
        break;
      case GermStatus::slip_plus:
      case GermStatus::slip_minus:
        if (std::abs(germ.coefficient) < 0.05 ||
            (germ.slip_order > 1 && std::abs(germ.slip_coefficient) < 0.05))
          continue;
        EXPECT_EQ(s.un, 0) << test;
        if (germ.slip_order == 1) break;
        EXPECT_NEAR((s.ut - p.position) / (germ.slip_coefficient * std::pow(time, germ.slip_order)), 1, 0.5)
            << test;
        break;
      case GermStatus::grazes:
        continue;
    }
    ++compared;
  }
  EXPECT_GT(compared, count(3000) / 3);
  EXPECT_GT(kinds[0], 0);
  EXPECT_GT(kinds[1], 0);
  EXPECT_GT(kinds[2], 0);
  EXPECT_GT(kinds[3], 0);
}

// --- held on the wall ---

BilateralProblem held() {
  BilateralProblem p;
  p.stiffness = {1};
  p.coupling = {0.5};
  p.friction = 0.25;
  p.normal_load = [](double) { return 2.0; };
  p.tangential_load = [](double, double* f) { *f = 1; };
  p.position = {0};
  p.velocity = {0};
  return p;
}

// As long as it slides forward: U'' + U = 1 − μ (2 − U/2), so U'' = −(1 − μ/2) U + (1 − 2 μ), from rest.
double held_exactly(double t) {
  const double k = 1 - 0.125, f = 0.5;
  return f / k * (1 - std::cos(std::sqrt(k) * t));
}

TEST(Bilateral, ConvergesToTheSlideInFirstOrder) {
  double before = 0;
  for (const int steps : {200, 400, 800}) {
    BilateralOptions options;
    options.steps = steps;
    options.until = 3;
    const BilateralMotion motion = solve_bilateral(held(), options);
    ASSERT_TRUE(motion.converged);
    const double error = std::abs(motion.position.back() - held_exactly(3));
    if (before > 0) {
      EXPECT_NEAR(before / error, 2, 0.1) << steps;
    }
    before = error;
  }
  EXPECT_LT(before, 1e-2);
}

// |Δ_k| ≤ (c T²)^k/k! |Δ_0|, Basseville 2004, III.4. The thesis prints (c T)^k/k!, which is no number: c is a stiffness by a mass.
TEST(Bilateral, RoundsContractLikeTheFactorial) {
  BilateralOptions options;
  options.until = 4;
  options.tolerance = 0;
  options.rounds = 14;
  BilateralProblem p = held();
  p.stiffness = {4};
  const BilateralMotion motion = solve_bilateral(p, options);
  const double c = 4 + p.friction * 0.5;
  double bound = motion.changes[0];
  for (std::size_t k = 1; k < motion.changes.size(); ++k) {
    bound *= c * options.until * options.until / static_cast<double>(k);
    EXPECT_LE(motion.changes[k], bound * (1 + 1e-9)) << k;
  }
  EXPECT_LT(motion.changes.back(), 1e-2 * *std::max_element(motion.changes.begin(), motion.changes.end()));
}

TEST(Bilateral, RestsExactlyInsideItsCone) {
  BilateralProblem p = held();
  p.friction = 0.6;
  const BilateralMotion motion = solve_bilateral(p);
  ASSERT_TRUE(motion.converged);
  for (const double u : motion.position) EXPECT_EQ(u, 0);
  EXPECT_NEAR(motion.reaction.back(), -1, 1e-12);
}

// In a plane the friction opposes the motion in every direction: a start across the load turns towards it and never gains speed by friction.
TEST(Bilateral, OpposesTheMotionInThePlane) {
  BilateralProblem p;
  p.dimension = 2;
  p.stiffness = {1, 0.2, 0.2, 2};
  p.coupling = {0.3, -0.1};
  p.friction = 0.4;
  p.normal_load = [](double t) { return 1 + 0.5 * std::sin(t); };
  p.tangential_load = [](double t, double* f) {
    f[0] = std::cos(t);
    f[1] = 0.5;
  };
  p.position = {0.2, -0.1};
  p.velocity = {1, 2};
  BilateralOptions options;
  options.until = 5;
  options.steps = 2000;
  const BilateralMotion motion = solve_bilateral(p, options);
  ASSERT_TRUE(motion.converged);
  for (std::size_t i = 1; i < motion.time.size(); ++i) {
    const double* const v = &motion.velocity[2 * i];
    const double* const r = &motion.reaction[2 * i];
    const double* const u = &motion.position[2 * i];
    const double limit = p.friction * std::abs(p.normal_load(motion.time[i]) - 0.3 * u[0] + 0.1 * u[1]);
    EXPECT_LE(std::hypot(r[0], r[1]), limit * (1 + 1e-9));
    EXPECT_NEAR(r[0] * v[0] + r[1] * v[1], -limit * std::hypot(v[0], v[1]), 1e-9);
  }
}

// --- monotone friction ---

TestModel belt(const std::string& law, double start, double velocity) {
  return text_model("[coordinates]\nx = { start = " + std::to_string(start) +
                    ", velocity = " + std::to_string(velocity) + " }\ny = 0.3\n" + R"toml(
[energy]
kinetic = "x'^2/2 + y'^2"
potential = "x^2/2 + (y - x)^2/2"
[[force]]
along = "y'"
value = "0.3*sin(2*t)"
[[friction]]
name = "belt"
slip = "x' - 0.2"
normal = 1
law = )toml" + law + R"toml(
[run]
until = 40
[output]
samples = 4001
)toml");
}

TEST(Distance, NeverGrowsUnderMonotoneFriction) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform(-2, 2);
  for (int test = 0; test < 12; ++test) {
    const TestModel one = belt("0.3", uniform(random), uniform(random));
    const TestModel other = belt("0.3", uniform(random), uniform(random));
    const Distances found = distance_of_motions(one.system, other.system, "event", one.options);
    ASSERT_TRUE(found.status.ok()) << found.status.message;
    EXPECT_GT(found.distance.front(), 0.01);
    EXPECT_LE(found.largest_rise, 1e-7 * found.distance.front());
    EXPECT_LT(found.distance.back(), found.distance.front());
  }
}

TEST(Distance, GrowsWhereFrictionFallsWithTheSpeed) {
  const TestModel one = belt("\"0.3/(1 + 3*speed)\"", 0.30, 0.0),
                  other = belt("\"0.3/(1 + 3*speed)\"", 0.31, 0.0);
  const Distances found = distance_of_motions(one.system, other.system, "event", one.options);
  ASSERT_TRUE(found.status.ok()) << found.status.message;
  EXPECT_GT(found.largest_rise, 0.1 * found.distance.front());
}

TEST(Distance, IsRefusedWhereThereIsNoSuchNorm) {
  const TestModel wall = text_model(R"toml(
[coordinates]
x = 1
[energy]
kinetic = "x'^2/2"
[[contact]]
name = "wall"
gap = "x"
[run]
until = 1
)toml");
  EXPECT_EQ(distance_of_motions(wall.system, wall.system, "event", wall.options).status.reason,
            Reason::unsupported);
}

}  // namespace
}  // namespace judder::analysis
