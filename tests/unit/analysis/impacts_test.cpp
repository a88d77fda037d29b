#include "judder/analysis/impacts.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "run_model.hpp"

namespace judder::analysis {
namespace {

using contact::SlidingCase;

const LawImpact& law(const Impacts& impacts, const std::string& name) {
  for (const LawImpact& each : impacts.laws) {
    if (each.law == name) return each;
  }
  throw std::runtime_error("no law " + name);
}

Impacts rod(const std::vector<std::string>& variants, double e) {
  const TestModel model = gallery_model("rod-impact", variants, {{"e", e}});
  return impacts(model.system);
}

model::Spec spec_of(const std::string& text) {
  io::ModelFile file = io::read_model_text("format = 1\n" + text);
  if (file.diagnostics.has_errors()) throw std::runtime_error(render(file.diagnostics, file.name, file.text));
  return file.spec;
}

// Zabuga 2017, (2.6), slip stops, e = 1: side by side, with the gain of Newton's law flagged.
TEST(Impacts, ShowTheLawsSideBySide) {
  const Impacts found = rod({"T22"}, 1);
  ASSERT_EQ(found.outcome, ImpactsOutcome::collision);
  ASSERT_EQ(found.contacts.size(), 1U);
  EXPECT_EQ(found.contacts[0].name, "point");
  EXPECT_EQ(found.contacts[0].normal_before, -1);
  EXPECT_EQ(found.contacts[0].slip_before, std::vector<double>{0.5});
  ASSERT_EQ(found.laws.size(), 4U);
  const double impulses[] = {1.46262024, 1.46262024, 1.30024047, 1.32125560};
  const double energies[] = {0.10769226, 0.10769226, -0.03846154, -0.02137455};
  for (std::size_t l = 0; l < 4; ++l) {
    const LawImpact& one = found.laws[l];
    EXPECT_TRUE(one.ok());
    EXPECT_NEAR(one.contacts[0].normal_impulse, impulses[l], 1e-8) << one.law;
    EXPECT_NEAR(one.energy_change, energies[l], 1e-8) << one.law;
    EXPECT_EQ(one.energy_gain > 0, l < 2) << one.law;
    // The energy by the velocities after, and by the works.
    EXPECT_NEAR(one.energy_after - found.energy_before, one.energy_change, 1e-14) << one.law;
    EXPECT_NEAR(one.contacts[0].normal_work + one.contacts[0].tangential_work, one.energy_change, 1e-14)
        << one.law;
  }
  EXPECT_EQ(law(found, "newton").form, contact::ImpactForm::path);
  EXPECT_EQ(law(found, "moreau").form, contact::ImpactForm::moreau);
}

TEST(Impacts, GiveThePathInItsPieces) {
  const Impacts found = rod({"T23"}, 0.5);  // slip stops and reverses
  const LawImpact& stronge = law(found, "stronge");
  ASSERT_EQ(stronge.path.size(), 3U);
  EXPECT_EQ(stronge.path[0].status, contact::RowStatus::slip_plus);
  EXPECT_EQ(stronge.path[1].status, contact::RowStatus::slip_minus);
  EXPECT_TRUE(stronge.path[1].compression);
  EXPECT_FALSE(stronge.path[2].compression);
  EXPECT_EQ(stronge.path[0].tangential_velocity, 0);
  EXPECT_EQ(stronge.path[1].normal_velocity, 0);
  EXPECT_NEAR(stronge.path[1].normal_impulse, stronge.compression_impulse, 1e-15);
  EXPECT_EQ(stronge.path[2].normal_impulse, stronge.contacts[0].normal_impulse);
  ASSERT_TRUE(found.path.has_value());
  EXPECT_EQ(found.path_contact, 0);
  EXPECT_NEAR(found.path->A_NN, 1.75, 1e-14);
}

// What the verb shows is what the engine does.
TEST(Impacts, AreThoseOfTheEngine) {
  for (const char* variant : {"T21", "T22", "T23", "T24", "T25"}) {
    for (int type = 0; type < 4; ++type) {
      const TestModel model = gallery_model("rod-impact", {variant}, {{"e", 0.7}, {"law", type}});
      const Impacts found = impacts(model.system);
      const simulate::Result result = run(model);
      const engines::Event& event = result.data.events.front();
      EXPECT_EQ(event.normal_impulse, found.laws[type].contacts[0].normal_impulse)
          << variant << found.laws[type].law;
      EXPECT_EQ(event.tangential_impulse[0], found.laws[type].contacts[0].tangential_impulse[0]) << variant;
      EXPECT_EQ(event.energy_gain, found.laws[type].energy_gain) << variant;
    }
  }
}

const char* const kBalls = R"model(
[coordinates]
a = { velocity = 1 }
b = 1
c = 2
[energy]
kinetic = "a'^2/2 + b'^2/2 + c'^2/2"
[[contact]]
name = "ab"
gap = "b - a - 1"
impact = 1
[[contact]]
name = "bc"
gap = "c - b - 1"
impact = 1
)model";

// Petcoviciu's and everybody's three balls: (−1/3, 2/3, 2/3) at once, whatever the order of the contacts.
TEST(Impacts, OfThreeBallsTakeBothContacts) {
  const TestModel model = text_model(kBalls);
  const Impacts found = impacts(model.system);
  ASSERT_EQ(found.contacts.size(), 2U);
  EXPECT_TRUE(found.contacts[0].approaches);
  EXPECT_FALSE(found.contacts[1].approaches);
  EXPECT_FALSE(found.path.has_value());
  for (const char* name : {"moreau", "newton", "poisson"}) {
    const LawImpact& one = law(found, name);
    EXPECT_NEAR(one.velocity[0], -1.0 / 3, 1e-14) << name;
    EXPECT_NEAR(one.velocity[1], 2.0 / 3, 1e-14) << name;
    EXPECT_NEAR(one.velocity[2], 2.0 / 3, 1e-14) << name;
    EXPECT_NEAR(one.energy_change, 0, 1e-14) << name;
  }
  EXPECT_EQ(law(found, "newton").form, contact::ImpactForm::moreau);
  EXPECT_EQ(law(found, "stronge").form, contact::ImpactForm::energetic);
  EXPECT_NEAR(law(found, "stronge").energy_change, 0, 1e-9);
}

TEST(Impacts, SayWhyAStateIsNoCollision) {
  Impacts found = impacts(gallery_model("bouncing-ball").system);
  EXPECT_EQ(found.outcome, ImpactsOutcome::no_collision);
  EXPECT_NE(found.reason.find("'ground' has gap 1"), std::string::npos) << found.reason;
  EXPECT_TRUE(found.laws.empty());
  found = impacts(gallery_model("painleve-rod", {"forward"}).system);
  EXPECT_EQ(found.outcome, ImpactsOutcome::no_collision);
  ASSERT_EQ(found.sliding.size(), 1U);
  EXPECT_EQ(found.sliding[0].contact.sliding, SlidingCase::slides);
  found = impacts(text_model("[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\n").system);
  EXPECT_EQ(found.reason, "the model has no rigid contact");
}

// Zabuga 2017, 1.2: no finite reaction; the tangential impact stops the end of the rod.
TEST(Impacts, OfPainlevesRodIsTheTangentialOne) {
  const Impacts found = impacts(gallery_model("painleve-rod").system);
  ASSERT_EQ(found.outcome, ImpactsOutcome::tangential);
  ASSERT_EQ(found.sliding.size(), 1U);
  EXPECT_NEAR(found.sliding[0].contact.k, 1 + 3 * (0.5 - 2 * std::sqrt(0.75)) * 0.5, 1e-14);
  EXPECT_NEAR(found.sliding[0].contact.b_N, -9.81, 1e-14);
  EXPECT_EQ(found.sliding[0].contact.sliding, SlidingCase::inconsistent);
  ASSERT_EQ(found.laws.size(), 1U);
  const LawImpact& one = found.laws.front();
  EXPECT_NEAR(one.contacts[0].normal_impulse, 3 * std::sqrt(3.0) / 16, 1e-14);
  EXPECT_NEAR(one.contacts[0].tangential_impulse[0], 7.0 / 16, 1e-14);
  EXPECT_NEAR(one.velocity[0], -0.5625, 1e-14);
  EXPECT_NEAR(one.velocity[1], 0.324760, 1e-6);
  EXPECT_NEAR(one.velocity[2], 1.299038, 1e-6);
  EXPECT_NEAR(one.energy_after, 0.28125, 1e-14);
  EXPECT_EQ(one.contacts[0].slip_after[0], 0);
}

// Zabuga 2017, (1.15), by a sweep over the angle: tan θ = 3 ∓ √5 for μ = 2.
TEST(ImpactSweeps, FindTheAnglesOfTheParadox) {
  io::ModelFile file = io::read_model(JUDDER_SOURCE_DIR "/gallery/painleve-rod/model.toml");
  const ImpactSweep sweep = sweep_impacts(file.spec, {}, {{"theta0", 0.1, 1.5, 15}});
  ASSERT_EQ(sweep.points.size(), 15U);
  ASSERT_EQ(sweep.changes.size(), 2U);
  EXPECT_EQ(sweep.changes[0].contact, "end");
  EXPECT_NEAR(sweep.changes[0].value, std::atan(3 - std::sqrt(5.0)), 1e-14);
  EXPECT_EQ(sweep.changes[0].below, SlidingCase::slides);
  EXPECT_EQ(sweep.changes[0].above, SlidingCase::inconsistent);
  EXPECT_NEAR(sweep.changes[1].value, std::atan(3 + std::sqrt(5.0)), 1e-14);
  EXPECT_EQ(sweep.changes[1].above, SlidingCase::slides);
  for (const SweepPoint& point : sweep.points) {
    const double theta = point.values[0];
    const bool paradox = theta > sweep.changes[0].value && theta < sweep.changes[1].value;
    EXPECT_EQ(point.impacts.outcome, paradox ? ImpactsOutcome::tangential : ImpactsOutcome::no_collision)
        << theta;
  }
}

// The same: the threshold μ = 4/3 at tan θ = 2, found without telling the program either.
TEST(ImpactSweeps, FindTheThresholdOfTheUniformRod) {
  io::ModelFile file = io::read_model(JUDDER_SOURCE_DIR "/gallery/painleve-rod/model.toml");
  const ImpactSweep sweep = sweep_impacts(file.spec, {}, {{"mu", 0.5, 2, 4}, {"theta0", 0.1, 1.5, 8}});
  ASSERT_EQ(sweep.points.size(), 32U);
  ASSERT_EQ(sweep.thresholds.size(), 1U);
  EXPECT_NEAR(sweep.thresholds[0].outer, 4.0 / 3, 1e-13);
  EXPECT_NEAR(sweep.thresholds[0].inner, std::atan(2.0), 1e-6);
  EXPECT_TRUE(sweep.any_collision());
  EXPECT_TRUE(sweep.any_sliding());
}

// A rod whose end is held to a rail on both sides: μ|b| = k is the limit.
TEST(ImpactSweeps, NameTheBilateralCase) {
  const model::Spec spec = spec_of(R"model(
[parameters]
mu = 2
v0 = -1
[coordinates]
x = { velocity = "v0" }
y = { start = "sin(theta)/2" }
theta = { start = "pi/3" }
[energy]
kinetic = "(x'^2 + y'^2)/2 + theta'^2/24"
potential = "9.81*y"
[[constraint]]
name = "rail"
zero = "y - sin(theta)/2"
slip = "(x - cos(theta)/2)'"
friction = "mu"
)model");
  const ImpactSweep sweep = sweep_impacts(spec, {}, {{"mu", 0.5, 2, 4}});
  ASSERT_EQ(sweep.changes.size(), 1U);
  EXPECT_NEAR(sweep.changes[0].value, 1.75 / (0.75 * std::sqrt(3.0)), 1e-14);
  const SlidingClass& last = sweep.points.back().impacts.sliding.front();
  EXPECT_EQ(last.contact.kind, contact::NormalKind::bilateral);
  EXPECT_EQ(last.contact.sliding, SlidingCase::inconsistent);
  model::CompileOptions forward;
  forward.set.push_back({"v0", 1});
  EXPECT_EQ(
      sweep_impacts(spec, forward, {{"mu", 1, 2, 2}}).points.back().impacts.sliding.front().contact.sliding,
      SlidingCase::indeterminate);
}

// Two closed contacts: the class of one depends on whether the other stays.
TEST(Impacts, ListTheOtherContactsOpenAndClosed) {
  const TestModel model = text_model(R"model(
[parameters]
mu = 0.3
[coordinates]
x = { velocity = 1 }
y = 1
th = 0
[energy]
kinetic = "(x'^2 + y'^2)/2 + th'^2/3"
potential = "9.81*y"
[[contact]]
name = "foot"
each = "i = 1 to 2"
gap = "y + (2*i - 3)*sin(th) - cos(th)"
slip = "(x + (2*i - 3)*cos(th) + sin(th))'"
friction = "mu"
)model");
  const Impacts found = impacts(model.system);
  ASSERT_EQ(found.sliding.size(), 4U);
  EXPECT_TRUE(found.sliding[0].opened.empty());
  EXPECT_EQ(found.sliding[1].opened, std::vector<std::string>{"foot[2]"});
  EXPECT_EQ(found.sliding[3].opened, std::vector<std::string>{"foot[1]"});
  EXPECT_NE(found.sliding[0].contact.k, found.sliding[1].contact.k);
}

TEST(ImpactSweeps, KeepEnergyByLaw) {
  io::ModelFile file = io::read_model(JUDDER_SOURCE_DIR "/gallery/rod-impact/model.toml");
  model::CompileOptions options;
  options.set.push_back({"e", 1});
  options.set.push_back({"vT0", 0.5});
  const ImpactSweep sweep = sweep_impacts(file.spec, options, {{"mu", 0, 1.5, 31}});
  int gains = 0;
  for (const SweepPoint& point : sweep.points) {
    EXPECT_EQ(law(point.impacts, "poisson").energy_gain, 0) << point.values[0];
    EXPECT_EQ(law(point.impacts, "stronge").energy_gain, 0) << point.values[0];
    gains += law(point.impacts, "newton").energy_gain > 0 ? 1 : 0;
  }
  EXPECT_GT(gains, 0);
}

TEST(ImpactSweeps, SayWhereTheModelIsNoModel) {
  io::ModelFile file = io::read_model(JUDDER_SOURCE_DIR "/gallery/rod-impact/model.toml");
  const ImpactSweep sweep = sweep_impacts(file.spec, {}, {{"e", 0.5, 1.5, 3}});
  EXPECT_TRUE(sweep.points[0].problem.empty());
  EXPECT_NE(sweep.points[2].problem.find("restitution"), std::string::npos) << sweep.points[2].problem;
}

}  // namespace
}  // namespace judder::analysis
