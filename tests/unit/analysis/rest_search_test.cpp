// The search for rests of models that are not affine: roots, families, their dimension and ends.
#include "judder/analysis/rest_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "count.hpp"
#include "judder/analysis/rest_survey.hpp"
#include "judder/core/number.hpp"
#include "run_model.hpp"

namespace judder::analysis {
namespace {

RestSearch search_in(const TestModel& model) {
  EquilibriaProblem problem;
  const auto found = search_rests(model.system, {}, problem);
  if (!found) throw std::runtime_error(problem.message);
  return *found;
}

const RestRange& range(const FoundRest& rest, const std::string& name) {
  for (const RestRange& each : rest.family) {
    if (each.name == name) return each;
  }
  throw std::runtime_error("no range " + name);
}

/// The only rest with these words.
const FoundRest& the(const RestSearch& search, const std::string& words) {
  const FoundRest* out = nullptr;
  for (const FoundRest& rest : search.rests) {
    if (status_words(rest) != words) continue;
    if (out != nullptr) throw std::runtime_error("two rests " + words);
    out = &rest;
  }
  if (out == nullptr) throw std::runtime_error("no rest " + words);
  return *out;
}

std::string pad(double limit) {
  return "[[friction]]\nname = \"pad\"\nslip = \"x'\"\nnormal = 1\nlaw = " + to_text(limit) + "\n";
}

std::vector<std::string> meanings(const FoundRest& rest) {
  std::vector<std::string> out;
  for (const FoundRest::End& end : rest.ends) out.push_back(end.meaning);
  std::sort(out.begin(), out.end());
  return out;
}

// A stiffness that vanishes at the rest: one rest of dimension 0, wherever it is and however it is written; with friction one stretch through it.
TEST(RestSearch, StiffnessMayVanishAtARest) {
  for (const auto& [force, place] : std::vector<std::pair<std::string, double>>{
           {"-x^3", 0}, {"-(x - 1)^3", 1}, {"-(x^3 - 3*x^2 + 3*x - 1)", 1}, {"-(x - 0.3)^5", 0.3}}) {
    const RestSearch found = search_in(mass_under(force));
    ASSERT_EQ(found.rests.size(), 1U) << force;
    EXPECT_NEAR(found.rests[0].state.x[0], place, 2e-5) << force << " is rounding below this";
    EXPECT_EQ(found.rests[0].dimension, 0U);
    EXPECT_TRUE(found.rests[0].family.empty());
  }
  for (const double limit : {0.1, 1e-3, 5.0}) {
    const FoundRest rough = the(search_in(mass_under("-x^3", pad(limit))), "pad stuck");
    EXPECT_EQ(rough.dimension, 1U);
    EXPECT_NEAR(range(rough, "x").low, -std::cbrt(limit), 1e-10);
    EXPECT_NEAR(range(rough, "x").high, std::cbrt(limit), 1e-10);
    EXPECT_EQ(meanings(rough), (std::vector<std::string>{"imminent slip+ of pad", "imminent slip- of pad"}));
  }
}

// A family ends where a wall is met, or where the law of a spring changes, to the last digits; behind it another one goes on.
TEST(RestSearch, FamiliesEndAtTouchesAndSwitches) {
  const RestSearch walled = search_in(
      mass_under("-x^3", "[[contact]]\nname = \"wall\"\ngap = \"0.3 - x - 0.05*x^2\"\n" + pad(0.1)));
  const FoundRest open = the(walled, "wall detached, pad stuck");
  // 0.05 x² + x = 0.3
  const double wall = (std::sqrt(1 + 0.06) - 1) / 0.1;
  EXPECT_NEAR(range(open, "x").low, -std::cbrt(0.1), 1e-10);
  EXPECT_NEAR(range(open, "x").high, wall, 1e-10);
  EXPECT_EQ(meanings(open), (std::vector<std::string>{"imminent slip+ of pad", "touch of wall"}))
      << "x < 0 pulls forwards";
  // At the wall both reactions are free: λ_T = x³ + λ_N (1 + 0.1 x) up to the limit.
  const FoundRest closed = the(walled, "wall pressed, pad stuck");
  EXPECT_EQ(closed.dimension, 1U);
  EXPECT_NEAR(range(closed, "x").low, wall, 1e-12);
  EXPECT_NEAR(range(closed, "x").high, wall, 1e-12);
  EXPECT_NEAR(range(closed, "normal(wall)").low, 0, 1e-10);
  EXPECT_NEAR(range(closed, "normal(wall)").high, (0.1 - wall * wall * wall) / (1 + 0.1 * wall), 1e-10);
  EXPECT_EQ(meanings(closed), (std::vector<std::string>{"imminent slip- of pad", "lift-off of wall"}));
  const RestSearch kinked = search_in(mass_under("-if(x < 0.2, x^3, x^3 + 2*(x - 0.2))", pad(0.1)));
  double low = 1, high = -1;
  int stuck = 0;
  for (const FoundRest& rest : kinked.rests) {
    if (rest.dimension == 0) continue;
    ++stuck;
    low = std::min(low, range(rest, "x").low);
    high = std::max(high, range(rest, "x").high);
    EXPECT_TRUE(std::abs(range(rest, "x").low - 0.2) < 1e-9 || std::abs(range(rest, "x").high - 0.2) < 1e-9);
  }
  EXPECT_EQ(stuck, 2);
  EXPECT_NEAR(low, -std::cbrt(0.1), 1e-10);
  EXPECT_NEAR(high * high * high + 2 * (high - 0.2), 0.1, 1e-10);
}

// Where no force acts on a stretch, every place of it is a rest, without any friction.
TEST(RestSearch, ADeadZoneIsAFamily) {
  const RestSearch found = search_in(mass_under("-if(x > 1, (x - 1)^2, if(x < -2, -(x + 2)^2, 0))"));
  const auto family = std::find_if(found.rests.begin(), found.rests.end(),
                                   [](const FoundRest& rest) { return rest.dimension == 1; });
  ASSERT_NE(family, found.rests.end());
  EXPECT_NEAR(range(*family, "x").low, -2, 1e-9);
  EXPECT_NEAR(range(*family, "x").high, 1, 1e-9);
  EXPECT_EQ(family->ends.size(), 2U);
}

// A coordinate may turn within a family: y = −sin(3x) has its largest value inside.
TEST(RestSearch, CoordinatesThatTurnInAFamilyHaveTheirExtremes) {
  const RestSearch found = search_in(text_model(
      "[coordinates]\nx = 0\ny = 0\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"y^2/2 + "
      "y*sin(3*x) + x^2/2\"\n" +
      pad(1.7) + "[run]\nuntil = 1\n"));
  const auto around = std::find_if(found.rests.begin(), found.rests.end(), [](const FoundRest& rest) {
    return rest.dimension == 1 && range(rest, "x").low < 0 && range(rest, "x").high > 0;
  });
  ASSERT_NE(around, found.rests.end());
  const FoundRest& family = *around;
  EXPECT_EQ(family.dimension, 1U);
  EXPECT_NEAR(range(family, "y").low, -1, 1e-10);
  EXPECT_NEAR(range(family, "y").high, 1, 1e-10);
  const double end = range(family, "x").high;
  EXPECT_NEAR(std::abs(end - 1.5 * std::sin(6 * end)), 1.7, 1e-9);
  // The first place on the way at which the force is as large as the limit.
  for (double x = 0; x < end - 1e-6; x += 1e-4) EXPECT_LT(std::abs(x - 1.5 * std::sin(6 * x)), 1.7);
}

// Two masses on springs that give way, on rough ground: a family of two dimensions, stretched to its corners.
TEST(RestSearch, FamiliesOfTwoDimensionsAreStretchedToTheirCorners) {
  const auto masses = [](double spring) {
    return search_in(text_model(
        "[coordinates]\nx = 0\ny = 0\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"log(cosh(x)) + "
        "log(cosh(y)) + " +
        to_text(spring) +
        "*log(cosh(x - y))\"\n[[friction]]\nname = \"a\"\nslip = \"x'\"\nnormal = 1\nlaw = "
        "0.3\n[[friction]]\nname = \"b\"\nslip = \"y'\"\nnormal = 1\nlaw = 0.4\n[run]\nuntil = 1\n"));
  };
  const auto around = [](const RestSearch& search) {
    for (const FoundRest& rest : search.rests) {
      if (rest.dimension == 2 && range(rest, "x").low < 0 && range(rest, "x").high > 0 &&
          range(rest, "y").low < 0 && range(rest, "y").high > 0)
        return rest;
    }
    throw std::runtime_error("no family around zero");
  };
  const FoundRest free = around(masses(0));
  EXPECT_NEAR(range(free, "x").high, std::atanh(0.3), 1e-9);
  EXPECT_NEAR(range(free, "x").low, -std::atanh(0.3), 1e-9);
  EXPECT_NEAR(range(free, "y").high, std::atanh(0.4), 1e-9);
  EXPECT_EQ(free.ends.size(), 4U);
  const double k = 0.7;
  const FoundRest coupled = around(masses(k));
  // x is largest where both are at their limits and pull it the same way.
  double x = 0.3, y = 0.3;
  for (int i = 0; i < 200; ++i) {
    x += 0.3 * (0.3 - std::tanh(x) - k * std::tanh(x - y));
    y += 0.3 * (0.4 - std::tanh(y) + k * std::tanh(x - y));
  }
  EXPECT_NEAR(range(coupled, "x").high, x, 1e-9);
  EXPECT_NEAR(range(coupled, "x").low, -x, 1e-9);
  EXPECT_NEAR(range(coupled, "y").high, y, 1e-9);
}

// A family whose friction points the same way at both ends, with a fold between them; the friction of its middle is not far from the limit.
TEST(RestSearch, FamiliesWithinAFoldAreFoundFromTheirEdges) {
  for (const double height : {0.2, 1e-2, 1e-4}) {
    // The largest force is 0.1 + height at x = 0, the limit is 0.1: rests lie where it is at most that, and on the far sides down to −0.1.
    const auto force = [&](double x) {
      return 0.1 + height - (x * x - 1) * (x * x - 1) * (0.1 + 2 * height);
    };
    const RestSearch found = search_in(
        mass_under(to_text(0.1 + height) + " - (x^2 - 1)^2*" + to_text(0.1 + 2 * height), pad(0.1)));
    double covered = 0;
    for (const FoundRest& rest : found.rests) {
      if (rest.dimension == 0) continue;
      for (const double end : {range(rest, "x").low, range(rest, "x").high})
        EXPECT_NEAR(std::abs(force(end)), 0.1, 1e-9) << height;
      covered += range(rest, "x").high - range(rest, "x").low;
    }
    double expected = 0;
    for (double x = -3; x < 3; x += 1e-5) expected += std::abs(force(x)) <= 0.1 ? 1e-5 : 0;
    EXPECT_NEAR(covered, expected, 1e-4) << height;
  }
}

// A force that is the same on a stretch: no friction but one holds there, and each place of it is a rest.
TEST(RestSearch, FamiliesOfOneFrictionForceAreFound) {
  const RestSearch found =
      search_in(mass_under("0.07 - if(x > 0.8, (x - 0.8)^2, if(x < -0.5, x + 0.5, 0))", pad(0.1)));
  double covered = 0;
  for (const FoundRest& rest : found.rests) {
    if (rest.dimension > 0) covered += range(rest, "x").high - range(rest, "x").low;
  }
  EXPECT_NEAR(covered, 0.8 + std::sqrt(0.17) - (-0.5 - 0.03), 1e-8);
}

// Two families with a narrow gap between them are two: no step leaps over it.
TEST(RestSearch, FamiliesBesideEachOtherAreToldApart) {
  const RestSearch found = search_in(text_model(
      "[coordinates]\nx = 0\ny = 0\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\n[[force]]\nalong = "
      "\"x'\"\nvalue = "
      "\"0.22*cos(4*x) - 0.001*x + 0.01*y\"\n[[force]]\nalong = \"y'\"\nvalue = \"-y\"\n" +
      pad(0.2) + "[[friction]]\nname = \"b\"\nslip = \"y'\"\nnormal = 1\nlaw = 0.3\n[run]\nuntil = 1\n"));
  // Along y = 0.3 and y = −0.3 the gaps in x lie where the force exceeds the limit.
  std::size_t families = 0;
  for (const FoundRest& rest : found.rests) {
    if (rest.dimension != 2 || range(rest, "x").low < -2 || range(rest, "x").high > 2) continue;
    ++families;
    EXPECT_LT(range(rest, "x").high - range(rest, "x").low, 1.57 / 2)
        << "it lies between two crests of the force";
    EXPECT_NEAR(range(rest, "y").low, -0.3, 1e-9);
    EXPECT_NEAR(range(rest, "y").high, 0.3, 1e-9);
  }
  EXPECT_GE(families, 3U);
}

// Two pendulums on each other hang or stand: four rests, of which the hanging one has the least energy. A start near it does not hide the others.
TEST(RestSearch, AStartNearOneRestDoesNotHideTheOthers) {
  for (const double start : {0.0, 0.1, 1e-3}) {
    const RestSearch found = search_in(
        text_model("[coordinates]\na = " + to_text(start) + "\nb = " + to_text(start) +
                   "\n[energy]\nkinetic = \"a'^2 + b'^2/2 + a'*b'*cos(a - b)\"\npotential = \"-2*cos(a) - "
                   "cos(b)\"\n[run]\nuntil = 1\n"));
    for (const double a : {0.0, M_PI}) {
      for (const double b : {0.0, M_PI}) {
        if (start < 0.01 && start > 0 && (a > 0 || b > 0)) continue;  // a hundred times the start are 0.1
        const auto there = std::find_if(found.rests.begin(), found.rests.end(), [&](const FoundRest& rest) {
          return std::abs(rest.state.x[0] - a) < 1e-9 && std::abs(rest.state.x[1] - b) < 1e-9;
        });
        ASSERT_NE(there, found.rests.end()) << a << " " << b << " from " << start;
        EXPECT_EQ(there->stability, a + b == 0 ? Stability::lyapunov : Stability::unstable);
      }
    }
  }
  // With a force nobody knows whether energy is conserved.
  EXPECT_EQ(search_in(mass_under("-sinh(x)")).rests[0].stability, Stability::open);
}

// Pushes at rests that a search has found: Duffing's stuck middle is left from its edges, the outer ones are not.
TEST(RestSearch, ExperimentsPushWhatWasFound) {
  const io::ModelFile file = io::read_model_text(
      "format = 1\n[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = "
      "\"x - "
      "x^3\"\n" +
      pad(0.1) + "[run]\nuntil = 1\n");
  const model::Compiled compiled = model::compile(file.spec, {});
  ASSERT_TRUE(compiled.system);
  RestSurveyOptions how;
  how.perturb = true;
  RestSurvey survey;
  EquilibriaProblem problem;
  survey_rests(*compiled.system, file.spec, {}, compiled.run, how, survey, problem);
  ASSERT_TRUE(survey.search);
  int pushed = 0;
  for (const FoundRest& rest : survey.search->rests) {
    ASSERT_TRUE(rest.experiment);
    ++pushed;
    const double x = rest.state.x[0];
    const bool edge = rest.dimension == 0 && std::abs(x) < 0.5;
    EXPECT_EQ(rest.experiment->stability == Stability::unstable, edge) << x << " " << rest.experiment->why;
    EXPECT_NE(rest.experiment->stability, Stability::open) << rest.experiment->why;
  }
  EXPECT_EQ(pushed, 9);
}

// All zeros of random functions between the starts, against a fine grid: none is missed, none is invented.
TEST(RestSearch, MissesNoZeroOfRandomFunctions) {
  std::mt19937_64 random(60);
  std::uniform_real_distribution<double> u(-1, 1);
  const int systems = count(5000) / 10;
  int zeros = 0, missed = 0;
  for (int i = 0; i < systems; ++i) {
    double a[6];
    for (double& each : a) each = u(random);
    const auto value = [&](double x) {
      return a[0] + a[1] * x + a[2] * std::sin((3 + 2 * a[3]) * x) + a[4] * std::cos(5 * x + a[5]);
    };
    const std::string force = to_text(a[0]) + " + (" + to_text(a[1]) + ")*x + (" + to_text(a[2]) + ")*sin((" +
                              to_text(3 + 2 * a[3]) + ")*x) + (" + to_text(a[4]) + ")*cos(5*x + (" +
                              to_text(a[5]) + "))";
    const RestSearch found = search_in(mass_under(force));
    for (const FoundRest& rest : found.rests) EXPECT_NEAR(value(rest.state.x[0]), 0, 1e-9) << force;
    for (double x = -3; x < 3; x += 1e-3) {
      if (value(x) * value(x + 1e-3) > 0) continue;
      ++zeros;
      const bool seen = std::any_of(found.rests.begin(), found.rests.end(), [&](const FoundRest& rest) {
        return std::abs(rest.state.x[0] - x) < 2e-3;
      });
      missed += seen ? 0 : 1;
      EXPECT_TRUE(seen) << force << " at " << x;
    }
  }
  std::printf("[ MEASURED ] %d of %d zeros of %d functions missed\n", missed, zeros, systems);
  EXPECT_GT(zeros, 2 * systems);
}

// First-order models: an equilibrium beside the surface, and pseudo-equilibria on it.
TEST(RestSearch, FindsEquilibriaAndPseudoEquilibria) {
  const auto search = [](const TestModel& model) {
    EquilibriaProblem problem;
    RestSearchOptions options;
    options.starts = 30;
    return search_rests(model.system, options, problem).value();
  };
  const RestSearch belt = search(gallery_model("belt/model-first-order.toml"));
  ASSERT_EQ(belt.rests.size(), 1U);
  EXPECT_NEAR(belt.rests[0].state.x[0], 0.625, 1e-9);
  EXPECT_EQ(belt.rests[0].stability, Stability::unstable);
  // y is drawn to y = 0, on which x′ = 1 − 2 x α − … : fields (1 − x, −1) above and (−1 − x, 1) below mix to x′ = −x.
  const RestSearch pseudo =
      search(text_model("[state]\nx = { start = 1, rate = \"sign(y) - x\" }\ny = { start = 1, rate = "
                        "\"-sign(y)\" }\n[run]\nuntil = 1\n"));
  ASSERT_EQ(pseudo.rests.size(), 1U);
  EXPECT_TRUE(pseudo.rests[0].pseudo);
  EXPECT_NEAR(pseudo.rests[0].state.x[0], 0, 1e-9);
  EXPECT_NEAR(pseudo.rests[0].share[0], 0.5, 1e-9);
  EXPECT_EQ(pseudo.rests[0].stability, Stability::asymptotic);
  const RestSearch repelled =
      search(text_model("[state]\nx = { start = 1, rate = \"-sign(y) - x\" }\ny = { start = 1, rate = "
                        "\"sign(y)\" }\n[run]\nuntil = 1\n"));
  ASSERT_EQ(repelled.rests.size(), 1U);
  EXPECT_EQ(repelled.rests[0].stability, Stability::unstable);
}

// Smooth and nonlinear: Duffing's three rests; with dry friction each of them becomes a family with known ends.
// A force that is one formula has nothing to be measured by where it is zero: roots that are no round numbers were refused.
TEST(RestSearch, FindsRootsThatAreNoRoundNumbers) {
  const auto places = [](const std::string& rate) {
    EquilibriaProblem problem;
    RestSearchOptions options;
    options.starts = 60;
    std::vector<double> out;
    const RestSearch found =
        search_rests(
            text_model("[state]\nx = { start = 1, rate = \"" + rate + "\" }\n[run]\nuntil = 1\n").system,
            options, problem)
            .value();
    for (const FoundRest& rest : found.rests) out.push_back(rest.state.x[0]);
    std::sort(out.begin(), out.end());
    return out;
  };
  for (const char* rate : {"2 - x^2", "1e-3*(2 - x^2)", "1000*(2 - x^2)"}) {
    const std::vector<double> both = places(rate);
    ASSERT_EQ(both.size(), 2U) << rate;
    EXPECT_NEAR(both[0], -std::sqrt(2), 1e-10);
    EXPECT_NEAR(both[1], std::sqrt(2), 1e-10);
  }
  const std::vector<double> cubic = places("0.2 - x + x^3/4");
  ASSERT_EQ(cubic.size(), 3U);
  for (const double x : cubic) EXPECT_NEAR(0.2 - x + x * x * x / 4, 0, 1e-12);
  // FitzHugh and Nagumo: x − x³/3 = y, x + 0.7 = 0.8 y have one solution.
  EquilibriaProblem problem;
  const RestSearch neuron =
      search_rests(text_model("[state]\nx = { start = 0, rate = \"x - x^3/3 - y\" }\ny = { start = 0, rate = "
                              "\"0.08*(x + 0.7 - 0.8*y)\" }\n[run]\nuntil = 1\n")
                       .system,
                   {}, problem)
          .value();
  ASSERT_EQ(neuron.rests.size(), 1U);
  EXPECT_NEAR(neuron.rests[0].state.x[0], -1.19940803524404, 1e-10);
  EXPECT_NEAR(neuron.rests[0].state.x[1], (-1.19940803524404 + 0.7) / 0.8, 1e-10);
  EXPECT_EQ(neuron.rests[0].stability, Stability::asymptotic);
}

// A lever that its load turns against a stop, or away from it; a mass that slides on a belt with viscous friction against a spring that hardens.
TEST(RestSearch, TellsWhatContactsDo) {
  const auto lever = [](const std::string& load) {
    EquilibriaProblem problem;
    return search_rests(
               text_model("[coordinates]\nth = 0.1\n[energy]\nkinetic = \"th'^2/2\"\npotential = \"" + load +
                          "*sin(th) + th^2/2\"\n[[contact]]\nname = \"stop\"\ngap = "
                          "\"sin(th)\"\n[run]\nuntil = 1\n")
                   .system,
               {}, problem)
        .value();
  };
  // Once around it may rest against the stop again; here it is about the first turn.
  const auto first = [](const RestSearch& search) {
    std::vector<FoundRest> out;
    for (const FoundRest& rest : search.rests) {
      if (std::abs(rest.state.x[0]) < 2) out.push_back(rest);
    }
    if (out.size() != 1) throw std::runtime_error(std::to_string(out.size()) + " rests");
    return out[0];
  };
  const RestSearch all = lever("1");
  const FoundRest pressed = first(all), away = first(lever("-1"));
  EXPECT_NEAR(pressed.state.x[0], 0, 1e-12);
  EXPECT_NEAR(pressed.state.normal[0], 1, 1e-9);
  EXPECT_EQ(status_words(pressed), "stop pressed");
  EXPECT_NEAR(away.state.x[0], std::cos(away.state.x[0]), 1e-10);
  EXPECT_EQ(status_words(away), "stop detached");
  // cos(th) (1 - λ) + th = 0
  for (const FoundRest& rest : all.rests)
    EXPECT_NEAR(std::cos(rest.state.x[0]) * (1 - rest.state.normal[0]) + rest.state.x[0], 0, 1e-9);
  EquilibriaProblem problem;
  const RestSearch belt =
      search_rests(
          text_model("[coordinates]\nx = 0.1\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2 + "
                     "x^4/4\"\n[[friction]]\nname = \"belt\"\nslip = \"x' - 2\"\nnormal = 3\nlaw = { mu = "
                     "0.4, viscous = 0.3 }\n[run]\nuntil = 1\n")
              .system,
          {}, problem)
          .value();
  ASSERT_EQ(belt.rests.size(), 1U);
  const double x = belt.rests[0].state.x[0];
  EXPECT_NEAR(x + x * x * x, 1.2 + 0.6, 1e-10);
  EXPECT_NEAR(belt.rests[0].state.tangent[0], 1.2 + 0.6, 1e-10);
  // x″ + 0.3 x′ + (1 + 3 x²) x = 0
  EXPECT_NEAR(belt.rests[0].eigenvalues[0].real(), -0.15, 1e-7);
}

TEST(RestSearch, FollowsFamiliesOfNonlinearModels) {
  EquilibriaProblem problem;
  const RestSearch smooth = search_rests(mass_under("x - x^3 - 0.1*x'").system, {}, problem).value();
  ASSERT_EQ(smooth.rests.size(), 3U);
  int stable = 0;
  for (const FoundRest& rest : smooth.rests) {
    stable += rest.stability == Stability::asymptotic ? 1 : 0;
    EXPECT_NEAR(rest.state.x[0] * (rest.state.x[0] * rest.state.x[0] - 1), 0, 1e-9);
  }
  EXPECT_EQ(stable, 2);
  const RestSearch rough =
      search_rests(
          mass_under("x - x^3", "[[friction]]\nname = \"pad\"\nslip = \"x'\"\nnormal = 1\nlaw = 0.1\n")
              .system,
          {}, problem)
          .value();
  double widest = 0;
  for (const FoundRest& rest : rough.rests) {
    for (const RestRange& range : rest.family) {
      // At both ends the spring force is at the limit.
      if (range.name != "x" || range.high - range.low < 0.05) continue;
      widest = std::max(widest, range.high - range.low);
      for (const double end : {range.low, range.high})
        EXPECT_NEAR(std::abs(end - end * end * end), 0.1, 1e-6);
    }
  }
  EXPECT_GT(widest, 0.05);
}

}  // namespace
}  // namespace judder::analysis
