// Moreau-Jean's scheme on Klarbring's particle, against numbers of single steps, exact motions and laws of energy.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "step_support.hpp"

namespace judder {
namespace {

TestModel klarbring(const std::vector<std::string>& variants, const std::vector<model::Named>& set = {}) {
  return gallery_model("klarbring", variants, set);
}

// Single steps of the printed scheme, worked out by hand from its formulas (Petcoviciu 3.2, corrected).
TEST(Printed, SlipsAsItsFormulasSay) {
  const simulate::Result run = step_run(klarbring({"T15a"}), "moreau", 0.01, 120, kPrinted);
  ASSERT_TRUE(run.end.status.ok()) << run.end.status.message;
  EXPECT_NEAR(cell(run, 1, "UT"), 0.9019824256590379, 1e-14);
  EXPECT_NEAR(cell(run, 1, "UT'"), 0.1982425659037786, 1e-14);
  EXPECT_NEAR(cell(run, 1, "RN"), -1.099008787170481, 1e-14);
  EXPECT_NEAR(cell(run, 1, "RT"), -0.2747521967926203, 1e-14);
  EXPECT_EQ(simulate::mode_word(static_cast<int>(cell(run, 1, "status"))), "slip+");
  EXPECT_NEAR(cell(run, 3, "UT"), 0.9058939632195603, 1e-14);
  EXPECT_NEAR(cell(run, 3, "UT'"), 0.1946834259782855, 1e-14);
  EXPECT_EQ(simulate::mode_word(static_cast<int>(cell(run, 90, "status"))), "slip+");
  EXPECT_EQ(simulate::mode_word(static_cast<int>(cell(run, 91, "status"))), "stick");
  EXPECT_NEAR(cell(run, 91, "UT"), 0.9940541975033078, 1e-12);
  EXPECT_EQ(cell(run, 120, "UT"), cell(run, 91, "UT"));
  EXPECT_EQ(cell(run, 120, "UT'"), 0);
}

TEST(Printed, FliesAsItsFormulasSay) {
  const simulate::Result run = step_run(klarbring({"TC41"}), "moreau", 0.01, 1, kPrinted);
  EXPECT_NEAR(cell(run, 1, "UN"), -1.0999850017497752, 1e-14);
  EXPECT_NEAR(cell(run, 1, "UT"), 3.050004999000137, 1e-14);
  EXPECT_NEAR(cell(run, 1, "UN'"), 0.001499825022497066, 1e-14);
  EXPECT_NEAR(cell(run, 1, "UT'"), 0.0004999000137481917, 1e-14);
}

TEST(Printed, SticksForEver) {
  const simulate::Result run = step_run(klarbring({}, {{"FN", "2"}, {"FT", "2"}, {"UT", "0"}, {"UT'", "0"}}),
                                        "moreau", 0.01, 500, kPrinted);
  for (const long row : {1L, 2L, 250L, 500L}) {
    EXPECT_NEAR(cell(run, row, "RN"), -2, 1e-14);
    EXPECT_NEAR(cell(run, row, "RT"), -2, 1e-14);
    EXPECT_EQ(cell(run, row, "UT"), 0);
    EXPECT_EQ(cell(run, row, "UN'"), 0);
  }
}

// After an impact the error jumps with the step, since the impact falls anywhere in one: there is a bound, and no order.
TEST(Printed, ReachesTheRestBehindAnImpactToTheStep) {
  const TestModel model = klarbring({}, {{"FN", "2"}, {"FT", "2"}, {"UN", "-1"}, {"UT", "0"}, {"UT'", "0"}});
  for (const double h : {4e-3, 2e-3, 1e-3, 5e-4}) {
    const simulate::Result run = step_to(model, "moreau", h, 2, kPrinted);
    EXPECT_LE(std::abs(last(run, "UT") - 0.76604243), 0.5 * h) << h;
    EXPECT_EQ(last(run, "UT'"), 0);
  }
  EXPECT_NEAR(last(step_to(model, "moreau", 1e-3, 2, kPrinted), "UT"), 0.766264, 5e-7);
}

// Without an impact the order is one, and the factor is known.
TEST(Printed, HasOrderOneInSlip) {
  const TestModel c = klarbring({"T15c"});
  const TestModel back = klarbring({"TC46b"});
  for (const double h : {4e-3, 2e-3, 1e-3, 5e-4}) {
    EXPECT_NEAR(std::abs(last(step_to(c, "moreau", h, 4, kPrinted), "UT") - 1.152146807527911) / h, 0.139,
                0.02 * 0.139)
        << h;
    EXPECT_NEAR(std::abs(last(step_to(back, "moreau", h, 2, kPrinted), "UT") - 0.93333333333333335) / h,
                0.0392, 0.02 * 0.0392)
        << h;
  }
}

// Rest places of grazing starts at three steps (Petcoviciu 4.4; read at t = 12).
TEST(Printed, ReachesTheRestsOfGrazingStarts) {
  struct Case {
    std::vector<model::Named> set;
    double expected[2];
  };
  const std::vector<Case> cases{
      {{{"FT", "1"}, {"mu", "1"}, {"UT", "FN/W"}, {"UT'", "0.1"}}, {0.991600, 0.991177}},
      {{{"FT", "1"}, {"mu", "1.25"}, {"UT", "FN/W"}, {"UT'", "-0.1"}}, {0.933726, 0.933373}},
      {{{"FT", "1"}, {"mu", "1"}, {"UT", "FN/W"}, {"UT'", "0"}, {"UN'", "-0.1"}}, {0.984536, 0.983796}}};
  for (const Case& each : cases) {
    const TestModel model = klarbring({}, each.set);
    EXPECT_NEAR(last(step_to(model, "moreau", 1e-2, 12, kPrinted), "UT"), each.expected[0], 6e-7);
    EXPECT_NEAR(last(step_to(model, "moreau", 1e-3, 12, kPrinted), "UT"), each.expected[1], 6e-7);
  }
}

double distance(const simulate::Result& run, const double (&exact)[2]) {
  return std::hypot(last(run, "UN") - exact[0], last(run, "UT") - exact[1]);
}

// Detached motion (Basseville IV.4.3.1): the printed form has order one there and loses energy; the standard one has order two and keeps it.
TEST(Detached, ShowsTheOrdersOfBothForms) {
  const TestModel model = klarbring({"T05"});
  const double exact[2] = {-0.9305440897, 2.9824255227};
  const double steps[] = {0.1, 0.05, 0.02, 0.01, 0.001};
  const double printed[] = {3.6e-2, 2.4e-2, 1.2e-2, 6.4e-3, 6.8e-4};
  for (int i = 0; i < 5; ++i) {
    const double error = distance(step_to(model, "moreau", steps[i], 20, kPrinted), exact);
    EXPECT_NEAR(error, printed[i], 0.02 * printed[i]) << steps[i];
  }
  double before = 0;
  for (const double h : {0.02, 0.01, 0.005, 0.0025}) {
    const double error = distance(step_to(model, "moreau", h, 20), exact);
    if (before > 0) {
      EXPECT_NEAR(std::log2(before / error), 2, 0.1) << h;
    }
    before = error;
  }
}

double energy_about_rest(const simulate::Result& run, long row) {
  // K = [[2, 1], [1, 1]], F = (1, 2): the equilibrium of the flight is K⁻¹ F = (−1, 3).
  const double n = cell(run, row, "UN") + 1, t = cell(run, row, "UT") - 3;
  const double vn = cell(run, row, "UN'"), vt = cell(run, row, "UT'");
  return 0.5 * (vn * vn + vt * vt) + 0.5 * (2 * n * n + 2 * n * t + t * t);
}

TEST(Detached, KeepsItsEnergyInTheStandardForm) {
  const TestModel model = klarbring({"T05"});
  for (const double h : {0.1, 0.01}) {
    const simulate::Result run = step_to(model, "moreau", h, 20);
    const double start = energy_about_rest(run, 0);
    for (long row = 0; row < static_cast<long>(run.data.rows()); row += 10)
      EXPECT_NEAR(energy_about_rest(run, row), start, 1e-11 * start) << h << " " << row;
  }
  const double steps[] = {0.1, 0.05, 0.02, 0.01, 0.001};
  const double ratio[] = {0.1039, 0.2953, 0.6059, 0.7771, 0.9750};
  for (int i = 0; i < 5; ++i) {
    const simulate::Result run = step_to(model, "moreau", steps[i], 20, kPrinted);
    EXPECT_NEAR(energy_about_rest(run, static_cast<long>(run.data.rows()) - 1) / energy_about_rest(run, 0),
                ratio[i], 1e-4)
        << steps[i];
  }
}

// The discrete energy inequality and the bound of the velocity of the printed form hold at every step of 200 random runs of 500 steps.
TEST(Printed, NeverBreaksItsInequalities) {
  std::mt19937_64 random(20040217);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto text = [](double x) { return std::to_string(x); };
  for (int test = 0; test < 200; ++test) {
    const double KN = 1.5 + uniform(random), KT = 1.5 + uniform(random),
                 W = 0.9 * std::sqrt(KN * KT) * uniform(random);
    const std::vector<model::Named> set{{"KN", text(KN)},
                                        {"KT", text(KT)},
                                        {"W", text(W)},
                                        {"mu", text(1 + uniform(random))},
                                        {"FN", text(2 * uniform(random))},
                                        {"FT", text(2 * uniform(random))},
                                        {"UN", text(-1 + uniform(random))},
                                        {"UT", text(2 * uniform(random))},
                                        {"UN'", text(uniform(random))},
                                        {"UT'", text(2 * uniform(random))}};
    const simulate::Result run = step_run(klarbring({}, set), "moreau", 0.01, 500, kPrinted);
    ASSERT_TRUE(run.end.status.ok()) << test << run.end.status.message;
    EXPECT_EQ(monitor(run, "energy").broken, 0) << test;
    EXPECT_EQ(monitor(run, "energy").checks, 500);
    EXPECT_EQ(monitor(run, "velocity_bound").broken, 0) << test;
    EXPECT_EQ(monitor(run, "velocity_bound").checks, 500);
    EXPECT_LT(monitor(run, "penetration").worst, 1e-3) << test;
  }
}

// A bouncing ball loses (1 − e²) of its energy at each impact, to the step.
TEST(Standard, BouncesByRestitution) {
  const TestModel model = gallery_model("bouncing-ball");
  const simulate::Result event = run(model);
  const double first = event.data.events.front().time;
  for (const double h : {1e-3, 1e-4}) {
    const simulate::Result stepped = step_to(model, "moreau", h, 2);
    ASSERT_FALSE(stepped.data.events.empty());
    EXPECT_EQ(stepped.data.events.front().kind, engines::EventKind::impact);
    EXPECT_EQ(stepped.data.events.front().words[0], engines::Word::rebound);
    EXPECT_NEAR(stepped.data.events.front().time, first, h);
    EXPECT_NEAR(stepped.data.events.front().normal_impulse, event.data.events.front().normal_impulse,
                10 * h * event.data.events.front().normal_impulse);
  }
}

TEST(Standard, NamesAllSolutionsOfAStepThatIsNotUnique) {
  // M + h²θK as in Basseville's example: strong coupling, strong friction, one long step.
  const TestModel model = text_model(R"toml(
[coordinates]
n = { start = 0 }
s = { start = 0 }
[energy]
kinetic = "0.5*(n'^2 + s'^2) + 0.9*n'*s'"
[[force]]
along = "n'"
value = "1"
[[force]]
along = "s'"
value = "1.5"
[[contact]]
name = "wall"
gap = "-n"
slip = "s'"
friction = 2
[run]
until = 1
)toml");
  const simulate::Result stopped = step_run(model, "moreau", 1, 1);
  EXPECT_EQ(stopped.end.status.reason, Reason::indeterminate);
  for (const char* word : {"open", "stick", "slip+"})
    EXPECT_NE(stopped.end.status.message.find(word), std::string::npos) << stopped.end.status.message;
}

}  // namespace
}  // namespace judder
