// Values at which families of rest states change: all of them within one step, narrow ones, and types that exist at one value alone.
#include "judder/analysis/family_changes.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "klarbring.hpp"
#include "run_model.hpp"

namespace judder::analysis {
namespace {

using Words = std::vector<std::string>;

FamilyChanges changes_of(const std::string& text, const std::string& parameter, double from, double to,
                         int points) {
  const io::ModelFile file = io::read_model_text("format = 1\n" + text);
  return family_changes(file.spec, {}, parameter, from, to, points);
}

FamilyChanges changes_in(const std::string& model, const std::string& parameter, double from, double to,
                         int points) {
  const io::LoadedModel loaded =
      io::load_model({.file = std::string(JUDDER_SOURCE_DIR) + "/gallery/" + model + "/model.toml"});
  return family_changes(loaded.file.spec, {}, parameter, from, to, points);
}

/// A mass on a spring of stiffness one between stops at -1 and 1, under a force that is a formula of p.
std::string between_stops(const std::string& force) {
  return "[parameters]\np = 0\n[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\npotential = "
         "\"x^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = \"" +
         force +
         "\"\n[[contact]]\nname = \"left\"\ngap = \"x + 1\"\n[[contact]]\nname = \"right\"\ngap = \"1 - "
         "x\"\n[run]\nuntil = 1\n";
}

/// Klarbring's particle whose coefficient of friction is the parameter p.
std::string with_parameter(const Klarbring& k) {
  std::string text = k.text();
  const std::string law = "friction = \"(" + to_text(k.mu) + ")\"";
  text.replace(text.find(law), law.size(), "friction = \"p\"");
  return "[parameters]\np = 1\n" + text;
}

// At mu = K_T/W a half-line of stuck states appears, at A = 0 the particle touches; a plank rests tilted from a/h on.
TEST(FamilyChanges, LieWhereClosedFormsSay) {
  const auto by_mu = changes_in("klarbring-equilibria", "mu", 0.5, 1.7, 8).changes;
  ASSERT_EQ(by_mu.size(), 1U);
  EXPECT_NEAR(by_mu[0].value, 1, 1e-6);
  EXPECT_EQ(by_mu[0].below, Words{"wall detached, dimension 0, stable"});
  EXPECT_EQ(by_mu[0].above.size(), 2U);
  const auto by_load = changes_in("klarbring-equilibria", "FT", 0.3, 1.9, 8).changes;
  ASSERT_EQ(by_load.size(), 1U);
  EXPECT_NEAR(by_load[0].value, 1, 1e-6) << "A = 0";
  const auto by_foot = changes_in("tilting-plank", "mr", 0.31, 0.9, 6).changes;
  ASSERT_EQ(by_foot.size(), 1U);
  EXPECT_NEAR(by_foot[0].value, 0.5, 1e-6) << "a/h: from here on it may rest tilted";
}

// Two values, five types between them: none is lost, whichever way the sweep goes.
TEST(FamilyChanges, AllOfOneStepAreFound) {
  // It meets the right stop at p = 0.2, leaves it at 0.5, meets the left one at 0.8 and leaves it at 1.1.
  const std::string text = between_stops(
      "if(p < 0.35, 1 + 10*(p - 0.2), if(p < 0.65, 1 + 10*(0.5 - p), if(p < 0.95, -1 - 10*(p - "
      "0.8), -1 - 10*(1.1 - p))))");
  const std::vector<double> expected{0.2, 0.5, 0.8, 1.1};
  const auto risen = changes_of(text, "p", 0.03, 1.27, 2).changes;
  const auto fallen = changes_of(text, "p", 1.27, 0.03, 2).changes;
  ASSERT_EQ(risen.size(), expected.size());
  ASSERT_EQ(fallen.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(risen[i].value, expected[i], 1e-8);
    EXPECT_NEAR(fallen[3 - i].value, expected[i], 1e-8);
    EXPECT_EQ(fallen[3 - i].below, risen[i].above);
    if (i == 0) continue;
    EXPECT_EQ(risen[i - 1].above, risen[i].below);
  }
}

TEST(FamilyChanges, BothOfTwoStopsAreTold) {
  for (const int points : {2, 3, 8}) {
    const auto found = changes_of(between_stops("p"), "p", -3, 3.1, points).changes;
    ASSERT_EQ(found.size(), 2U) << points;
    EXPECT_NEAR(found[0].value, -1, 1e-8);
    EXPECT_NEAR(found[1].value, 1, 1e-8);
    EXPECT_EQ(found[0].above, found[1].below);
  }
}

// A stop that is met for a short while and left again: the type is the same at all given values.
TEST(FamilyChanges, WhatComesAndGoesIsSeenWhereItsMarginDips) {
  for (const double width : {0.1, 1e-2, 1e-3}) {
    const auto found =
        changes_of(between_stops("1 + " + to_text(width * width) + " - (p - 0.3711)^2"), "p", 0, 1.5, 3)
            .changes;
    ASSERT_EQ(found.size(), 2U) << width;
    EXPECT_NEAR(found[0].value, 0.3711 - width, 1e-6 * width + 1e-8 / width);
    EXPECT_NEAR(found[1].value, 0.3711 + width, 1e-6 * width + 1e-8 / width);
  }
  EXPECT_TRUE(changes_of(between_stops("0.99 - (p - 0.3711)^2"), "p", 0, 1.5, 3).changes.empty());
}

// Two frequencies that pass each other: k11 - k22 = p, and k12 k21 = -1e-4, so it flutters for |p| < 0.02.
TEST(FamilyChanges, AShortFlutterIsSeenWhereFrequenciesMeet) {
  const std::string text =
      "[parameters]\np = 0\n[coordinates]\nx = 0\ny = 0\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential "
      "= "
      "\"(2 + p)*x^2/2 + 0.01*x*y + y^2\"\n[[friction]]\nname = \"belt\"\nslip = \"x' - 1\"\nnormal = \"10 + "
      "0.02*y\"\nlaw = 1\n[run]\nuntil = 1\n";
  // On the row of x: 0.01 - 0.02 = -0.01; on that of y: 0.01.
  const auto found = changes_of(text, "p", -1.03, 1.1, 4).changes;
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NEAR(found[0].value, -0.02, 1e-6);
  EXPECT_NEAR(found[1].value, 0.02, 1e-6);
  EXPECT_NE(found[0].above[0].find("unstable"), std::string::npos);
}

// For A = 0 the particle grazes below K_T/W, and may stick without an end above; at K_T/W itself it is about to slip on all of the half-line. That
// type lasts for the tolerance of the linear programs, and is told as what cannot be separated.
TEST(FamilyChanges, TypesOfASingleValueAreToldBesideIt) {
  Klarbring k;
  k.FN = 1, k.FT = 1, k.mu = 0.5;
  const std::string text = with_parameter(k);
  const auto found = changes_of(text, "p", 0.5, 1.7, 4).changes;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].value, 1, 1e-7);
  EXPECT_EQ(found[0].below, Words{"wall grazing, dimension 0, asymptotically stable"});
  ASSERT_FALSE(found[0].together.empty());
  EXPECT_NE(found[0].together[0][0].find("wall imminent slip+, dimension 1, unbounded, unstable"),
            std::string::npos)
      << found[0].together[0][0];
  EXPECT_NE(found[0].above[0].find("wall stuck, dimension 1, unbounded, stable"), std::string::npos);
}

// A family that gets or loses its end changes type, though there is one before and behind: A > 0 at mu = K_T/W.
TEST(FamilyChanges, AFamilyThatLosesItsEndChangesType) {
  Klarbring k;
  k.FN = 2, k.FT = 1, k.mu = 0.5;
  const std::string text = with_parameter(k);
  const auto found = changes_of(text, "p", 0.5, 1.7, 4).changes;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].value, 1, 1e-6);
  EXPECT_EQ(found[0].below[0].find("unbounded"), std::string::npos);
  EXPECT_NE(found[0].above[0].find("unbounded"), std::string::npos);
}

}  // namespace
}  // namespace judder::analysis
