// Verdicts and margins of rest states: published numbers, theorems against experiments, eigenvalues against closed forms.
#include "judder/analysis/rest_stability.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "count.hpp"
#include "judder/analysis/perturbation.hpp"
#include "judder/analysis/rest_survey.hpp"
#include "klarbring.hpp"
#include "run_model.hpp"

namespace judder::analysis {
namespace {

RestProblem problem_of(const TestModel& model) {
  EquilibriaProblem problem;
  auto rest = rest_problem(model.system, {}, problem);
  if (!rest) throw std::runtime_error(problem.message + "; " + problem.help);
  return *rest;
}

/// A state in contact of Klarbring's particle, by its place.
RestState at(const RestProblem& rest, double UT) {
  contact::Polyhedron p = rest_polyhedron(rest, {1});
  p.add_equation(std::vector<double>{0, 1, 0, 0}, UT);
  contact::PolyhedronSolver solver(p);
  if (!solver.feasible()) throw std::runtime_error("no rest there");
  const std::vector<double>& x = solver.interior();
  RestState out;
  out.x = {x[0], x[1]};
  out.normal = {x[2]};
  out.tangent = {x[3]};
  out.gap = {0};
  const double mu = rest.relations[0].tangents[0].mu, reserve = mu * x[2] - std::abs(x[3]);
  out.reserve = {reserve};
  const bool edge = reserve < 1e-9 * (mu * x[2] + std::abs(x[3]));
  out.status = {x[2] < 1e-9 ? RestStatus::grazing
                : !edge     ? RestStatus::stuck
                : x[3] < 0  ? RestStatus::slip_plus
                            : RestStatus::slip_minus};
  return out;
}

// Basseville, proposition IV.2 (test numbers of the second reading): P, F = (2, 1), mu = 0.25.
TEST(RestStability, LoadMarginsAreThoseOfTheCone) {
  Klarbring k;
  k.FN = 2, k.FT = 1, k.mu = 0.25;
  const RestProblem rest = problem_of(k.model());
  for (const auto& [UT, margin] : std::map<double, double>{
           {0.7, 0.0242536}, {0.75, 0.0606339}, {0.9, 0.1697749}, {1.0, 0.2425356}, {1.1, 0.1212678}}) {
    const RestJudgement found = judge(rest, at(rest, UT), {{"press", {1, 0}}, {"pull", {0, 1}}});
    EXPECT_NEAR(found.margin, margin, 5e-8) << UT;
    EXPECT_FALSE(found.margin_is_bound);
    // |R_T − f| ≤ μ |R_N|
    const double RN = 2 - UT, RT = UT - 1;
    EXPECT_NEAR(found.forces[1].more, 0.25 * RN + RT, 1e-12);
    EXPECT_NEAR(found.forces[1].less, 0.25 * RN - RT, 1e-12);
    EXPECT_NEAR(found.forces[0].less, RN - std::abs(RT) / 0.25, 1e-12);
    EXPECT_EQ(found.forces[0].more, INFINITY);
  }
  EXPECT_NEAR(judge(rest, at(rest, 2.0 / 3)).margin, 0, 1e-9);
  EXPECT_NEAR(judge(rest, at(rest, 1.2)).margin, 0, 1e-9);
}

// The corrected tables, IV.3 and 4.3.
TEST(RestStability, VerdictsAreThoseOfTheTheorems) {
  const auto verdict = [](double FN, double FT, double mu, double UT) {
    Klarbring k;
    k.FN = FN, k.FT = FT, k.mu = mu;
    const RestProblem rest = problem_of(k.model());
    const RestJudgement found = judge(rest, at(rest, UT));
    EXPECT_EQ(found.basis, Basis::theorem);
    EXPECT_FALSE(found.ambiguous);
    return found.stability;
  };
  EXPECT_EQ(verdict(1, 2, 1.25, -3), Stability::unstable);
  EXPECT_EQ(verdict(1, 2, 1.25, -7), Stability::lyapunov) << "the stuck states that the theses miss";
  EXPECT_EQ(verdict(1, 1, 0.25, 1), Stability::asymptotic);
  EXPECT_EQ(verdict(1, 1, 1, 1), Stability::lyapunov);
  EXPECT_EQ(verdict(1, 1, 1, 0), Stability::unstable);
  EXPECT_EQ(verdict(1, 1, 1.25, 1), Stability::lyapunov);
  EXPECT_EQ(verdict(1, 1, 1.25, 0), Stability::lyapunov);
  EXPECT_EQ(verdict(2, 1, 0.25, 2.0 / 3), Stability::lyapunov);
  EXPECT_EQ(verdict(2, 1, 0.25, 1.2), Stability::lyapunov);
  EXPECT_EQ(verdict(2, 1, 1, 1.5), Stability::lyapunov);
}

// Basseville lemma IV.4 and Petcoviciu T4 with their corrections, and by the engine 1 % on both sides of each threshold.
TEST(RestStability, StopBeforeTheTipIsExact) {
  struct Case {
    double FN, FT, mu, UT;
  };
  for (const Case& c : {Case{2, 1, 0.25, 0.9}, Case{2, 1, 0.25, 2.0 / 3}, Case{2, 1, 1, 0.5},
                        Case{2, 1, 1.25, 0.4}, Case{1, 1, 1.25, 0}, Case{1, 2, 1.25, -7}}) {
    Klarbring k;
    k.FN = c.FN, k.FT = c.FT, k.mu = c.mu, k.UT = c.UT;
    const auto numbers = klarbring_numbers(problem_of(k.model()));
    ASSERT_TRUE(numbers);
    const StopBeforeTip stop = stop_before_tip(*numbers, c.FN - c.UT);
    const auto leaves = [&](double V) {
      Klarbring pushed = k;
      pushed.VT = V;
      TestModel model = pushed.model();
      model.options.until = 200;
      simulate::MemorySink sink(model.system);
      const auto result = simulate::run(model.system, "auto", model.options, sink);
      EXPECT_TRUE(result.status.ok()) << result.status.message;
      return std::any_of(sink.events.begin(), sink.events.end(),
                         [](const auto& event) { return event.kind == engines::EventKind::lift_off; });
    };
    EXPECT_FALSE(leaves(0.99 * stop.forward)) << c.UT << ", mu " << c.mu;
    EXPECT_TRUE(leaves(1.01 * stop.forward)) << c.UT << ", mu " << c.mu;
    if (std::isinf(stop.backward)) {
      EXPECT_FALSE(leaves(-3));
      continue;
    }
    EXPECT_FALSE(leaves(-0.99 * stop.backward));
    EXPECT_TRUE(leaves(-1.01 * stop.backward));
  }
  Klarbring k;
  k.FN = 2, k.FT = 1, k.mu = 0.25;
  EXPECT_NEAR(stop_before_tip(*klarbring_numbers(problem_of(k.model())), 4.0 / 3).backward, 2, 1e-12)
      << "Petcoviciu T4";
  k.FN = 1, k.mu = 1.25;
  EXPECT_NEAR(stop_before_tip(*klarbring_numbers(problem_of(k.model())), 1).forward, 0.5, 1e-12)
      << "Petcoviciu TC-4.7";
  k.FT = 2;
  EXPECT_NEAR(stop_before_tip(*klarbring_numbers(problem_of(k.model())), 8).forward, 2, 1e-12)
      << "F = (1, 2), UT = -7";
}

// Successive passages of the tip: Petcoviciu TC-4.3 as computed by the second reading, and endless hops (second reading, C4).
TEST(RestStability, PassagesOfTheTipContract) {
  KlarbringNumbers k{1, 2, 1, 1, 1, 1, 0.25, false};
  TipReturn back = tip_return(k);
  EXPECT_EQ(back.kind, TipReturn::Kind::returns);
  EXPECT_NEAR(back.ratio, 0.39667347, 5e-9);
  EXPECT_NEAR(back.duration, 8.499584, 5e-7);
  EXPECT_EQ(back.landings, 2);
  k.mu = 1;
  back = tip_return(k);
  EXPECT_EQ(back.kind, TipReturn::Kind::rests);
  EXPECT_NEAR(back.duration, 7.345113827, 1e-8) << "Basseville, Fig. IV.9";
  k = {1, 1, 0.9, 1, 0.9, 1, 1, false};
  back = tip_return(k);
  EXPECT_EQ(back.kind, TipReturn::Kind::hops);
  EXPECT_NEAR(back.duration, 3.707697559, 1e-8);
  EXPECT_NEAR(back.ratio, 0.3878698678, 1e-9);
}

// The same particle in turned and shifted coordinates is recognised, with its numbers.
TEST(RestStability, ATurnedParticleIsRecognised) {
  const TestModel turned = text_model(R"toml(
[coordinates]
a = 0
b = 0
[definitions]
UN = "0.6*a + 0.8*b - 0.5"
UT = "-(-0.8*a + 0.6*b)"
[energy]
kinetic = "1.5*(a'^2 + b'^2)/2"
potential = "UN^2 + UN*UT + UT^2/2 - 2*UN - UT"
[[contact]]
name = "wall"
gap = "0.5 - 0.6*a - 0.8*b"
slip = "-0.8*a' + 0.6*b'"
friction = 0.25
[run]
until = 1
)toml");
  const auto found = klarbring_numbers(problem_of(turned));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->m, 1.5, 1e-12);
  EXPECT_NEAR(found->KN, 2, 1e-12);
  EXPECT_NEAR(found->W, 1, 1e-12);
  EXPECT_NEAR(found->KT, 1, 1e-12);
  EXPECT_NEAR(found->FN, 2, 1e-12);
  EXPECT_NEAR(found->FT, 1, 1e-12);
  EXPECT_TRUE(found->mirrored);
}

// x″ + K x = 0 in steady slip, K = (2, 0.25 − 1.25 μ; 0.25, 1): flutter from μ = 1 on, where both frequencies are √1.5; none for the other slip.
TEST(RestStability, ModeCouplingFluttersAtTheCriticalCoefficient) {
  const auto model = [](double mu, double belt) {
    return text_model(
        "[coordinates]\nx = 0\ny = 0\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"x^2 + 0.25*x*y "
        "+ y^2/2\"\n[[friction]]\nname = \"belt\"\nslip = \"x' - (" +
        to_text(belt) + ")\"\nnormal = \"10 + 1.25*y\"\nlaw = " + to_text(mu) + "\n[run]\nuntil = 1\n");
  };
  const auto judged = [&](double mu, double belt) {
    const RestProblem rest = problem_of(model(mu, belt));
    const Equilibria found = equilibria(rest);
    EXPECT_EQ(found.families.size(), 1U);
    return judge(rest, found.families[0].inside);
  };
  const RestJudgement below = judged(0.9, 1), above = judged(1.1, 1);
  EXPECT_EQ(above.stability, Stability::unstable);
  EXPECT_EQ(above.basis, Basis::linearised);
  EXPECT_NE(below.stability, Stability::unstable);
  for (const RestJudgement* each : {&below, &above}) {
    ASSERT_TRUE(each->critical_mu);
    EXPECT_NEAR(*each->critical_mu, 1, 1e-6);
    EXPECT_TRUE(each->flutter);
  }
  // s⁴ + 3 s² + 2 − 0.25 (0.25 − 1.25 μ) = 0
  for (const double mu : {0.3, 0.9, 1.1, 1.7}) {
    for (const std::complex<double> s : judged(mu, 1).eigenvalues) {
      EXPECT_LT(std::abs(s * s * s * s + 3.0 * (s * s) + 2.0 - 0.25 * (0.25 - 1.25 * mu)), 1e-10) << mu;
    }
  }
  const RestJudgement border = judged(1, 1);
  for (const std::complex<double> s : border.eigenvalues) EXPECT_NEAR(std::norm(s), 1.5, 1e-6);
  const RestJudgement other = judged(1.5, -1);
  EXPECT_NE(other.stability, Stability::unstable);
  EXPECT_FALSE(other.critical_mu && other.flutter) << "slip the other way does not flutter";
}

TEST(RestStability, AFallingLawMakesTheBeltUnstable) {
  const RestProblem rest = problem_of(gallery_model("belt"));
  const RestJudgement found = judge(rest, equilibria(rest).families[0].inside);
  EXPECT_EQ(found.stability, Stability::unstable);
  // x″ + m g μ′(v) x′ + x = 0, μ′ = −0.3/(1 + 3 v)²
  EXPECT_NEAR(found.eigenvalues[0].real(), 0.5 * 10 * 0.3 / (1.6 * 1.6), 1e-5);
}

// Rest held by the static coefficient alone goes at any push; below the dynamic one it stays.
TEST(RestStability, StaticFrictionAloneIsNoStability) {
  const auto judged = [](double pull) {
    const RestProblem rest = problem_of(text_model(
        "[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = " +
        to_text(pull) +
        "\n[[friction]]\nname = \"pad\"\nslip = \"x'\"\nnormal = 1\nlaw = { static = 0.3, dynamic = 0.2 "
        "}\n[run]\nuntil = 1\n"));
    return judge(rest, equilibria(rest).families[0].inside);
  };
  EXPECT_EQ(judged(0.25).stability, Stability::unstable);
  EXPECT_EQ(judged(0.25).basis, Basis::onset);
  EXPECT_NE(judged(0.15).stability, Stability::unstable);
}

// A rod wedged against a wall by large friction may also fly off: several motions, no theorem.
TEST(RestStability, AmbiguousRestsAreListedAndNotCalledStable) {
  // Painlevé's rod at rest: w_N M⁻¹ (w_N − μ w_T) < 0, so that sticking, slipping and lifting off all satisfy the laws.
  const TestModel rod = text_model(R"toml(
[coordinates]
u = 0
v = 0
[energy]
kinetic = "(u'^2 + v'^2)/2 + 0.9*u'*v'"
potential = "(u^2 + v^2)/2 + 2*u + v"
[[contact]]
name = "tip"
gap = "v"
slip = "u'"
friction = 3
[run]
until = 1
)toml");
  const RestProblem rest = problem_of(rod);
  const Equilibria found = equilibria(rest);
  ASSERT_EQ(found.families.size(), 1U);
  // λ_N = 1 and λ_T = u + 2 from −3 to 3; where λ_T > λ_N/0.9 the tip may also fly off at once.
  EXPECT_FALSE(judge(rest, found.families[0].inside).ambiguous);
  ASSERT_EQ(found.families[0].faces.size(), 2U);
  for (const RestFace& face : found.families[0].faces) {
    const RestJudgement judged = judge(rest, face.state);
    EXPECT_EQ(judged.ambiguous, face.state.tangent[0] > 0);
    if (!judged.ambiguous) continue;
    EXPECT_EQ(judged.stability, Stability::open);
    EXPECT_NE(std::find(judged.other_modes.begin(), judged.other_modes.end(), "tip open"),
              judged.other_modes.end())
        << testing::PrintToString(judged.other_modes);
  }
}

Experiment experiment_on(const Klarbring& k, const RestProblem& rest, const RestState& state) {
  ExperimentOptions how;
  how.sizes = {1e-3, 1e-4};
  how.forces = false;
  how.mixed = 2;
  how.swings = 40;
  const io::ModelFile file = io::read_model_text("format = 1\n" + k.text());
  return experiment(file.spec, {}, rest, state, how);
}

// Verdict by theorem against verdict by experiment. Differences are counted by kind and printed; only those that are understood may occur.
TEST(RestStability, TheoremsAgreeWithExperiments) {
  std::mt19937_64 random(3000);
  std::map<std::string, int> differences, failed;
  int agree = 0, all = 0, open = 0;
  const int systems = count(3000) == 3000 ? 3000 : 60;
  for (int i = 0; i < systems; ++i) {
    Klarbring k = Klarbring::random(random);
    if (i % 4 == 0) k.FT = k.KT * k.FN / k.W;
    if (i % 8 == 4) k.mu = k.KT / k.W;
    const RestProblem rest = problem_of(k.model());
    const Equilibria found = equilibria(rest);
    for (const RestFamily& family : found.families) {
      std::vector<RestState> states{family.inside};
      for (const RestFace& face : family.faces) states.push_back(face.state);
      for (const RestState& state : states) {
        const RestJudgement by_theorem = judge(rest, state);
        ASSERT_EQ(by_theorem.basis, Basis::theorem) << i;
        const Experiment measured = experiment_on(k, rest, state);
        ++all;
        for (const Push& push : measured.pushes) {
          if (push.problem.empty()) continue;
          const double A = k.KT * k.FN - k.W * k.FT;
          const bool tip = std::abs(A) < 1e-9 * (std::abs(k.KT * k.FN) + std::abs(k.W * k.FT));
          ++failed[std::string(tip     ? "A = 0"
                               : A > 0 ? "A > 0"
                                       : "A < 0") +
                   (std::abs(k.mu - k.KT / k.W) < 1e-9 ? ", mu = KT/W, "
                    : k.mu > k.KT / k.W                ? ", mu > KT/W, "
                                                       : ", mu < KT/W, ") +
                   name(state.status[0]) + ": " + push.problem];
          if (failed.size() <= 12)
            std::printf("[ LOST     ] system %d, %s: %s\n", i, push.what.c_str(), push.problem.c_str());
        }
        if (measured.stability == by_theorem.stability) {
          ++agree;
          continue;
        }
        if (measured.stability == Stability::open) {
          ++open;  // the engine could not follow a push to its end: no verdict
          continue;
        }
        const std::string kind = std::string(name(by_theorem.stability)) + " by theorem, " +
                                 name(measured.stability) + " by experiment, " + name(state.status[0]);
        ++differences[kind];
        if (differences[kind] <= 3)
          std::printf("[ DIFFERS  ] system %d: %s; A %.3g, mu %.4g, KT/W %.4g: %s\n", i, kind.c_str(),
                      k.KT * k.FN - k.W * k.FT, k.mu, k.KT / k.W, measured.why.c_str());
      }
    }
  }
  std::printf("[ MEASURED ] %d of %d rests of %d systems agree, %d without a verdict of the experiment\n",
              agree, all, systems, open);
  for (const auto& [kind, times] : differences)
    std::printf("[ MEASURED ] %d times: %s\n", times, kind.c_str());
  for (const auto& [why, times] : failed)
    std::printf("[ MEASURED ] %d runs not followed: %s\n", times, why.c_str());
  // No experiment contradicts a theorem; few have no verdict.
  EXPECT_EQ(agree + open, all);
  EXPECT_LE(open, all / 20);
}

// Linear programs leave a rest a rounding inside its wall: pushes by a force start there, too.
TEST(RestStability, ForcesPushRestsThatLieARoundingInsideAWall) {
  const std::string text = R"toml([coordinates]
x = 1
y = 0
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "(x^2 + y^2)/2 + 0.3*x*y + y"
[[contact]]
name = "floor"
gap = "y"
slip = "x'"
friction = 0.5
[run]
until = 1
)toml";
  const RestProblem rest = problem_of(text_model(text));
  const io::ModelFile file = io::read_model_text("format = 1\n" + text);
  const Equilibria found = equilibria(rest);
  ASSERT_EQ(found.families.size(), 1U);
  for (const double inside : {1e-17, 3e-16}) {
    RestState state = found.families[0].inside;
    state.x[1] = -inside;
    ExperimentOptions how;
    how.sizes = {1e-3};
    how.mixed = 0;
    how.swings = 3;
    int forces = 0;
    for (const Push& push : experiment(file.spec, {}, rest, state, how).pushes) {
      EXPECT_EQ(push.problem, "") << push.what;
      forces += push.kind >= Push::Kind::constant ? 1 : 0;
    }
    EXPECT_EQ(forces, 8);
  }
}

// Two contacts and three coordinates: no theorem. Experiments only, and rests at which another motion may begin are marked.
TEST(RestStability, TwoContactsAreLeftToExperiments) {
  std::mt19937_64 random(300);
  std::uniform_real_distribution<double> u(0, 1);
  const int systems = count(300) == 300 ? 300 : 12;
  int rests = 0, ambiguous = 0, measured[4] = {0, 0, 0, 0};
  for (int i = 0; i < systems; ++i) {
    const auto number = [&](double low, double high) { return to_text(low + (high - low) * u(random)); };
    // A bar on two feet: its ends are pressed down by springs, both slide with it.
    const std::string text =
        "[coordinates]\nx = 0\na = 0\nb = 0\n[energy]\nkinetic = \"(x'^2 + " + number(0.5, 1) + "*a'^2 + " +
        number(0.5, 1) + "*b'^2)/2 + " + number(-0.45, 0.45) + "*x'*a' + " + number(-0.45, 0.45) +
        "*x'*b'\"\npotential = \"" + number(0.5, 2) + "*x^2 + " + number(0.5, 2) + "*a^2 + " +
        number(0.5, 2) + "*b^2 + " + number(-0.6, 0.6) + "*x*a + " + number(-0.6, 0.6) + "*x*b + " +
        number(-0.3, 0.3) + "*a*b + " + number(0.2, 1) + "*a + " + number(0.2, 1) + "*b + " +
        number(-0.5, 0.5) +
        "*x\"\n[[contact]]\nname = \"left\"\ngap = \"a\"\nslip = \"x'\"\nfriction = " + number(0.1, 4) +
        "\n[[contact]]\nname = \"right\"\ngap = \"b\"\nslip = \"x'\"\nfriction = " + number(0.1, 4) +
        "\n[run]\nuntil = 1\n";
    const RestProblem rest = problem_of(text_model(text));
    const io::ModelFile file = io::read_model_text("format = 1\n" + text);
    for (const RestFamily& family : equilibria(rest).families) {
      const RestJudgement found = judge(rest, family.inside);
      ++rests;
      ambiguous += found.ambiguous ? 1 : 0;
      EXPECT_NE(found.basis, Basis::theorem) << i;
      if (found.ambiguous) {
        EXPECT_EQ(found.stability, Stability::open);
        EXPECT_FALSE(found.other_modes.empty());
      }
      ExperimentOptions how;
      how.sizes = {1e-3, 1e-4};
      how.forces = false;
      how.mixed = 2;
      how.swings = 30;
      const Experiment seen = experiment(file.spec, {}, rest, family.inside, how);
      ++measured[static_cast<int>(seen.stability)];
      // What energy and eigenvalues say is not contradicted.
      if (found.stability == Stability::unstable) {
        EXPECT_EQ(seen.stability, Stability::unstable) << i << " " << seen.why;
      } else if (found.stability != Stability::open) {
        EXPECT_NE(seen.stability, Stability::unstable) << i << " " << seen.why;
      }
    }
  }
  std::printf(
      "[ MEASURED ] %d rests of %d systems, %d ambiguous; asymptotic %d, stable %d, unstable %d, open %d\n",
      rests, systems, ambiguous, measured[0], measured[1], measured[2], measured[3]);
  EXPECT_GT(measured[0] + measured[1] + measured[2], rests * 9 / 10);
}

// Chains of three blocks between springs, with friction: whoever starts inside the set of rest states stays, whoever starts outside moves. The
// share of a box that is at rest is the volume of the polytope.
TEST(RestStability, TheSetOfRestsOfAChainIsWhereItStays) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> u(0, 1);
  for (int system = 0; system < 3; ++system) {
    std::string potential, laws, kinetic, coordinates = "[coordinates]\n";
    double limit[3], spring[4];
    for (double& each : spring) each = 0.5 + u(random);
    for (int i = 0; i < 3; ++i) {
      const std::string x = "x" + std::to_string(i);
      limit[i] = 0.2 + 0.5 * u(random);
      coordinates += x + " = 0\n";
      kinetic += (i > 0 ? " + " : "") + ("0.5*" + x + "'^2");
      potential += (i > 0 ? " + " : "") + to_text(spring[i] / 2) +
                   (i == 0 ? "*x0^2" : "*(" + x + " - x" + std::to_string(i - 1) + ")^2");
      laws += "[[friction]]\nname = \"f" + std::to_string(i) + "\"\nslip = \"" + x +
              "'\"\nnormal = 1\nlaw = " + to_text(limit[i]) + "\n";
    }
    potential += " + " + to_text(spring[3] / 2) + "*x2^2";
    const std::string text = coordinates + "[energy]\nkinetic = \"" + kinetic + "\"\npotential = \"" +
                             potential + "\"\n" + laws + "[run]\nuntil = 0.05\n";
    const TestModel model = text_model(text);
    const RestProblem rest = problem_of(model);
    const Equilibria found = equilibria(rest);
    ASSERT_EQ(found.families.size(), 1U);
    EXPECT_EQ(found.families[0].dimension, 3U);
    EXPECT_EQ(found.families[0].vertices.size(), 8U);
    EXPECT_EQ(found.families[0].faces.size(), 6U);
    // K maps the set of rests onto the box of limits: volume = Π 2 limit / det K.
    const double a = spring[0] + spring[1], b = spring[1] + spring[2], c = spring[2] + spring[3];
    const double det = a * (b * c - spring[2] * spring[2]) - spring[1] * spring[1] * c;
    double box = 1, low[3], size[3];
    for (int i = 0; i < 3; ++i) {
      for (const RestRange& range : found.families[0].ranges) {
        if (range.name != "x" + std::to_string(i)) continue;
        low[i] = 1.1 * range.low;
        size[i] = 1.1 * (range.high - range.low);
      }
      box *= size[i];
    }
    const io::ModelFile file = io::read_model_text("format = 1\n" + text);
    const model::CompiledForm form = model::compile_form(file.spec, {});
    ASSERT_TRUE(form.form);
    const int samples = std::max(count(4000), 400);
    int stay = 0;
    for (int s = 0; s < samples; ++s) {
      std::vector<model::Form::Value> start;
      double x[3];
      for (int i = 0; i < 3; ++i) {
        x[i] = low[i] + size[i] * u(random);
        start.emplace_back("x" + std::to_string(i), x[i]);
      }
      const model::Bound bound = form.form->bind({}, start);
      ASSERT_TRUE(bound.system) << bound.refused;
      simulate::NullSink sink;
      engines::EngineOptions options = model.options;
      options.referee = false;
      const auto result = simulate::run(*bound.system, "exact", options, sink);
      const bool still = std::equal(x, x + 3, result.end.y.begin());
      contact::Polyhedron there = rest_polyhedron(rest, {});
      for (std::size_t i = 0; i < 3; ++i) {
        std::vector<double> unit(there.variables, 0);
        unit[i] = 1;
        there.add_equation(unit, x[i]);
      }
      EXPECT_EQ(contact::PolyhedronSolver(there).feasible(), still) << x[0] << " " << x[1] << " " << x[2];
      stay += still ? 1 : 0;
    }
    const double share = 8 * limit[0] * limit[1] * limit[2] / det / box,
                 seen = static_cast<double>(stay) / samples;
    EXPECT_NEAR(seen, share, 4 * std::sqrt(share * (1 - share) / samples));
  }
}

}  // namespace
}  // namespace judder::analysis
