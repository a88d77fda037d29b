// Many runs from a request to the files: tables, diagrams, basins, and the extremes of a run.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "count.hpp"
#include "judder/io/csv.hpp"
#include "judder/tasks/basin.hpp"
#include "judder/tasks/bifurcation.hpp"
#include "judder/tasks/run.hpp"
#include "judder/tasks/sweep.hpp"

namespace judder::tasks {
namespace {

namespace fs = std::filesystem;
using analysis::Plan;

class Many : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("judder-many-" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] static ManyRequest of(const std::string& name) {
    ManyRequest out;
    out.model.file = fs::path(JUDDER_SOURCE_DIR "/gallery") / name / "model.toml";
    return out;
  }
  [[nodiscard]] std::vector<std::vector<std::string>> table(const fs::path& file) const {
    std::ifstream in(file);
    io::CsvReader csv(in);
    std::vector<std::vector<std::string>> out;
    while (csv.next()) {
      out.emplace_back();
      for (std::size_t i = 0; i < csv.size(); ++i) out.back().emplace_back(csv.field(i));
    }
    EXPECT_FALSE(csv.error());
    return out;
  }
  fs::path folder_;
};

// A ball from 1 m: the largest speed is √(2 g) and nothing else that a row could say.
TEST_F(Many, ExtremesOfASummaryDoNotDependOnRows) {
  std::vector<std::vector<io::Extremes>> found;
  for (const bool between : {true, false}) {
    for (const int samples : {2, 11, 1001}) {
      std::ofstream(folder_ / "swing.toml")
          << "format = 1\n[coordinates]\nx = 1\n[energy]\nkinetic = \"x'^2/2\"\n"
             "potential = \"2*x^2\"\n[run]\nuntil = 7\n[output]\ncolumns = { P = \"x*x'\" }\n"
             "event_rows = false\nsamples = "
          << samples << "\n";
      RunRequest request;
      request.model.file = folder_ / "swing.toml";
      request.output = folder_ / "out";
      request.extremes_between_rows = between;
      const RunReport report = run_model(request);
      ASSERT_EQ(report.stage, RunStage::ended);
      found.push_back(report.extremes);
    }
  }
  for (std::size_t c = 1; c < found[0].size(); ++c) {
    EXPECT_EQ(found[0][c].most, found[1][c].most) << found[0][c].name;
    EXPECT_EQ(found[0][c].most, found[2][c].most);
    EXPECT_EQ(found[0][c].least, found[2][c].least);
    EXPECT_EQ(found[0][c].most_time, found[2][c].most_time);
  }
  EXPECT_NEAR(found[0][2].most, 2, 1e-8);  // x' = −2 sin 2t
  EXPECT_NEAR(found[0][3].most, 1, 1e-8);  // P = −sin(4t)
  EXPECT_GT(std::abs(found[3][3].most - 1), 1e-3) << "the rows alone would do as well";
}

TEST_F(Many, ASummaryNamesColumnsThatCouldNotBeFollowed) {
  std::ofstream(folder_ / "swing.toml")
      << "format = 1\n[coordinates]\nx = 1\n[energy]\nkinetic = \"x'^2/2\"\n"
         "potential = \"2*x^2\"\n[run]\nuntil = 0.1\n[output]\ncolumns = { calm = \"x*x'\", fast = "
         "\"sin(1e8*x)\" }\n";
  RunRequest request;
  request.model.file = folder_ / "swing.toml";
  request.output = folder_ / "out";
  request.extremes_between_rows = true;
  const RunReport report = run_model(request);
  ASSERT_EQ(report.stage, RunStage::ended);
  EXPECT_EQ(report.unfollowed, (std::vector<std::string>{"fast"}));
  EXPECT_NE(run_markdown(report).find("extremes of fast may be off"), std::string::npos);
}

TEST_F(Many, AMemberThatFailsHasItsReasonAndStopsNothing) {
  RunsRequest request{.many = of("bouncing-ball"),
                      .plan = Plan::grid({{"h", {1, -1, 2}}, {"e", {0.5, 0.9, 1.5}}}),
                      .collect = "max(h), count(impact)",
                      .after = -INFINITY,
                      .output = folder_ / "balls.csv"};
  const RunsReport report = sweep_runs(request);
  ASSERT_EQ(report.stage, RunsStage::ended) << report.problem << report.files.text();
  const auto rows = table(request.output);
  ASSERT_EQ(rows.size(), 10U);
  EXPECT_EQ(rows[0], (std::vector<std::string>{"member", "status", "time", "h", "e", "max(h)",
                                               "count(impact)", "message"}));
  EXPECT_EQ(report.failed, 5U);  // three start in the ground, two of the others gain energy
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const bool good = rows[i][3] != "-1" && rows[i][4] != "1.5";
    EXPECT_EQ(rows[i][1], good ? "done" : "no-equations") << i;
    EXPECT_EQ(rows[i].back().empty(), good) << i;
    if (good) {
      EXPECT_EQ(rows[i][5], rows[i][3]) << "it never rises above its start";
    }
  }
}

// The values that come first make no model: others say what the model is.
TEST_F(Many, AFirstMemberWithoutAModelStopsNothing) {
  RunsRequest request{.many = of("bouncing-ball"),
                      .plan = Plan::grid({{"h", {-2, -1, 0.5, 1, 2}}}),
                      .collect = "max(h)",
                      .after = -INFINITY,
                      .output = folder_ / "balls.csv"};
  for (const std::vector<std::string>& variants : {std::vector<std::string>{}, {"half", "dead"}}) {
    request.plan = Plan::grid({{"h", {-2, -1, 0.5, 1, 2}}}, variants);
    const RunsReport report = sweep_runs(request);
    ASSERT_EQ(report.stage, RunsStage::ended)
        << render(report.model.diagnostics, "model", report.model.file.text);
    EXPECT_EQ(report.failed, 2 * std::max<std::size_t>(variants.size(), 1));
    const auto rows = table(request.output);
    EXPECT_EQ(rows[1][1], "no-equations");
    EXPECT_FALSE(rows[1].back().empty());
    EXPECT_EQ(rows[3][1], "done");
  }
  // Where nothing is a model, it is said where it is wrong.
  request.plan = Plan::grid({{"h", {-2, -1}}});
  const RunsReport none = sweep_runs(request);
  EXPECT_EQ(none.stage, RunsStage::model_invalid);
  EXPECT_FALSE(none.model.diagnostics.all().empty());

  DiagramRequest diagram;
  diagram.many = of("bouncing-table");
  diagram.axis = {"e", {-0.5, 0.2, 0.5, 0.8}};
  EXPECT_TRUE(analysis::parse_section("impact:table", diagram.section));
  diagram.keep = 20;
  diagram.output = folder_ / "diagram.csv";
  const DiagramReport drawn = bifurcation(diagram);
  ASSERT_EQ(drawn.runs.stage, RunsStage::ended);
  EXPECT_FALSE(drawn.values[0].ok);
  EXPECT_TRUE(drawn.values[3].ok);
}

// Of engines with fixed steps the rows are read: the numbers are those of the motion within the step, the impulse is what gravity has
// taken to rounding.
TEST_F(Many, EnginesWithFixedStepsAreReadByTheirRows) {
  RunsRequest request{
      .many = of("bouncing-ball"),
      .plan = Plan::grid({{"e", {0.5, 0.9}}}),
      .collect = "end(h), count(impact ground), max(h'), impulse(ground), integral(h), end(h'), start(h)",
      .after = -INFINITY,
      .output = folder_ / "balls.csv"};
  request.many.until = 1.3;
  std::vector<std::vector<std::vector<std::string>>> tables;
  for (const char* engine : {"event", "moreau"}) {
    request.many.model.engine = engine;
    const RunsReport report = sweep_runs(request);
    ASSERT_EQ(report.stage, RunsStage::ended) << report.problem;
    tables.push_back(table(request.output));
  }
  for (std::size_t row = 1; row <= 2; ++row) {
    for (std::size_t c = 4; c <= 10; ++c)
      EXPECT_NEAR(std::stod(tables[0][row][c]), std::stod(tables[1][row][c]), 5e-3) << row << " " << c;
    EXPECT_EQ(tables[0][row][5], tables[1][row][5]);
    EXPECT_NEAR(std::stod(tables[1][row][7]), 9.81 * 1.3 + std::stod(tables[1][row][9]), 1e-9);
    EXPECT_NE(tables[0][row][4], tables[1][row][4]) << "these are the rows of another engine";
  }
  request.collect = "period";
  EXPECT_EQ(sweep_runs(request).stage, RunsStage::misused);
  request.collect = "end(h)";
  request.many.model.engine = "quasi-static";
  EXPECT_NE(sweep_runs(request).stage, RunsStage::ended);
}

// Damped to a point: no event, no period, and yet an end. With little damping and with much.
TEST_F(Many, WhatIsDampedSmoothlyHasThePeriodZero) {
  std::ofstream(folder_ / "swing.toml")
      << "format = 1\n[parameters]\nc = 1\n[coordinates]\nx = 1\n[energy]\nkinetic = \"x'^2/2\"\n"
         "potential = \"x^2/2\"\ndissipation = \"c*x'^2/2\"\n[run]\nuntil = 30\n";
  RunsRequest request{.many = {},
                      .plan = Plan::grid({{"c", {0, 0.05, 0.5, 2, 20}}}),
                      .collect = "period",
                      .after = -INFINITY,
                      .output = folder_ / "swing.csv"};
  request.many.model.file = folder_ / "swing.toml";
  ASSERT_EQ(sweep_runs(request).stage, RunsStage::ended);
  const auto rows = table(request.output);
  EXPECT_NEAR(std::stod(rows[1][4]), 2 * M_PI, 1e-6);
  for (std::size_t i = 2; i < rows.size(); ++i) EXPECT_EQ(rows[i][4], "0") << rows[i][3];
}

TEST_F(Many, VariantsAreAnAxis) {
  RunsRequest request{.many = of("bouncing-ball"),
                      .plan = Plan::grid({{"H", {0.5, 1}}}, {"half", "dead"}),
                      .collect = "count(impact)",
                      .after = -INFINITY,
                      .output = folder_ / "variants.csv"};
  ASSERT_EQ(sweep_runs(request).stage, RunsStage::ended);
  const auto rows = table(request.output);
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[1][3], "half");
  EXPECT_EQ(rows[3][3], "dead");
  EXPECT_EQ(rows[3][5], "1");
  EXPECT_NE(rows[1][5], "1");
}

TEST_F(Many, WhatIsAskedForIsReadBeforeAnythingRuns) {
  RunsRequest request{.many = of("bouncing-ball"),
                      .plan = Plan::grid({{"h", {1, 2}}}),
                      .collect = "",
                      .after = -INFINITY,
                      .output = folder_ / "x.csv"};
  for (const auto& [collect, stage] : {std::pair{"max(nothing)", RunsStage::model_invalid},
                                       {"impulse(wall)", RunsStage::misused},
                                       {"most(h)", RunsStage::misused}}) {
    request.collect = collect;
    EXPECT_EQ(sweep_runs(request).stage, stage) << collect;
  }
  request.collect = "max(h)";
  request.after = 100;
  EXPECT_EQ(sweep_runs(request).stage, RunsStage::misused);
  request.after = 0;
  request.output = folder_ / "x.txt";
  EXPECT_EQ(sweep_runs(request).stage, RunsStage::misused);
  EXPECT_TRUE(fs::is_empty(folder_));
}

std::vector<std::size_t> points_at(const std::string& name, std::vector<std::string> variants,
                                   const std::string& parameter, std::vector<double> values,
                                   const std::string& section, const fs::path& folder,
                                   std::size_t skip = 5000, std::size_t keep = 300) {
  DiagramRequest request;
  request.many.model.file = fs::path(JUDDER_SOURCE_DIR "/gallery") / name / "model.toml";
  request.many.model.variants = std::move(variants);
  request.axis = {parameter, std::move(values)};
  EXPECT_TRUE(analysis::parse_section(section, request.section));
  request.skip = skip;
  request.keep = keep;
  request.output = folder / "diagram.csv";
  const DiagramReport report = bifurcation(request);
  EXPECT_EQ(report.runs.stage, RunsStage::ended) << report.runs.problem << report.runs.files.text();
  std::vector<std::size_t> out;
  for (const DiagramValue& value : report.values) {
    out.push_back(value.period_points);
    if (value.ok) {
      EXPECT_EQ(value.points.size() % keep, 0U);
    }
  }
  return out;
}

// A mass on a spring from rest at x = a meets a wall at x = -0.5 if a > 0.5, at once with the speed √(a² - 1/4).
TEST_F(Many, ADiagramSaysWhereNothingMeetsItsSection) {
  DiagramRequest request;
  request.many.model.file = folder_ / "wall.toml";
  std::ofstream(request.many.model.file) << R"toml(format = 1
[coordinates]
x = 1
[energy]
kinetic   = "x'^2/2"
potential = "x^2/2"
[[contact]]
name   = "wall"
gap    = "x + 0.5"
impact = 1
[run]
until = 600
)toml";
  request.axis = {"x", {0.2, 0.4, 0.6, 0.8}};
  EXPECT_TRUE(analysis::parse_section("impact:wall", request.section));
  request.skip = 0;
  request.keep = 60;
  request.output = folder_ / "diagram.csv";
  const DiagramReport report = bifurcation(request);
  ASSERT_EQ(report.runs.stage, RunsStage::ended) << report.runs.problem;
  const std::string text = diagram_text(report, "x");
  EXPECT_EQ(text.find("x = 0.2 to 0.4: no section points\nx = 0.6 to 0.8: 1 point per period"), 0U) << text;
  const std::string shown = shown_column(report, request.section);
  EXPECT_EQ(shown, "x'");
  const DiagramPoints points = diagram_points(report, shown, false);
  ASSERT_EQ(points.x.size(), 120U);
  for (std::size_t i = 0; i < points.x.size(); ++i)
    EXPECT_NEAR(points.y[i], std::sqrt(points.x[i] * points.x[i] - 0.25), 1e-8);
  EXPECT_TRUE(diagram_points(report, shown, true).x.empty());
}

// A ball on a vibrating table, once per period: it begins at Γ = π (1 − e)/(1 + e) and loses its stability at
// Γ² = (π (1 − e)/(1 + e))² + 4 (1 + e²)²/(1 + e)⁴ (Guckenheimer and Holmes 1983, 2.4; with the table's way left in).
// Strobes stand at whole periods of the force, whatever its frequency; at the frequency zero there are none, and the other values are drawn.
TEST_F(Many, PhasesAreThoseOfThePeriodAtEachValue) {
  std::ofstream(folder_ / "shaken.toml")
      << "format = 1\n[parameters]\nw = 1\n[coordinates]\nx = 1\n[energy]\nkinetic = \"x'^2/2\"\n"
         "potential = \"x^2/2\"\ndissipation = \"0.1*x'^2\"\n[[force]]\nname = \"shake\"\nalong = \"x'\"\n"
         "value = \"sin(w*t)\"\n";
  DiagramRequest request;
  request.many.model.file = folder_ / "shaken.toml";
  request.axis = {"w", {0, 0.5, 0.7, 2}};
  request.section.strobe = true;
  request.skip = 3;
  request.keep = 4;
  request.output = folder_ / "shaken.csv";
  const DiagramReport report = bifurcation(request);
  ASSERT_EQ(report.runs.stage, RunsStage::ended) << report.runs.problem;
  ASSERT_EQ(report.values.size(), 4U);
  EXPECT_EQ(report.runs.failed, 1U);
  EXPECT_FALSE(report.values[0].ok);
  const DiagramPoints phases = diagram_points(report, kPhase, false);
  ASSERT_EQ(phases.y.size(), 12U);
  for (const double phase : phases.y) EXPECT_NEAR(phase, std::round(phase), 1e-9);
}

TEST_F(Many, TheFlipOfTheBouncingTableIsWhereItBelongs) {
  const double e = 0.8, fold = M_PI * (1 - e) / (1 + e);
  const double flip = std::sqrt(fold * fold + 4 * std::pow(1 + e * e, 2) / std::pow(1 + e, 4));
  EXPECT_NEAR(flip, 1.070836468248, 1e-11);
  EXPECT_EQ(points_at("bouncing-table", {}, "Gamma", {flip - 2.5e-4, flip + 2.5e-4}, "impact:table", folder_),
            (std::vector<std::size_t>{1, 2}));
  // Fewer kept than a period is told from: those passed by serve as well.
  for (const std::size_t keep : {1U, 10U})
    EXPECT_EQ(points_at("bouncing-table", {}, "Gamma", {flip - 0.02, flip + 0.02}, "impact:table", folder_,
                        500, keep),
              (std::vector<std::size_t>{1, 2}))
        << keep;
  EXPECT_EQ(
      points_at("bouncing-table", {}, "Gamma", {fold - 5e-3, fold + 5e-3}, "impact:table", folder_, 100),
      (std::vector<std::size_t>{0, 1}));
}

// The oscillator with its stop in the middle: the eigenvalue of its one-impact motion is −1 at w = 2.65888455 (own closed form: flights
// of a damped oscillator, saltation at the impact).
TEST_F(Many, TheFlipOfTheImpactOscillatorIsWhereItBelongs) {
  const double flip = 2.65888455;
  EXPECT_EQ(
      points_at("impact-oscillator", {"once"}, "w", {flip - 2.5e-4, flip + 2.5e-4}, "impact:stop", folder_),
      (std::vector<std::size_t>{1, 2}));
}

// The flutter of the valve touches its seat at q = 7.557210972: below it knocks, above it does not.
TEST_F(Many, TheReliefValveKnocksBelowItsGrazingFlow) {
  RunsRequest request{.many = of("relief-valve"),
                      .plan = Plan::grid({{"q", {7.5571, 7.5573}}}),
                      .collect = "count(impact seat), min(x)",
                      .after = 1300,
                      .output = folder_ / "valve.csv"};
  request.many.until = 1500;
  ASSERT_EQ(sweep_runs(request).stage, RunsStage::ended);
  const auto rows = table(request.output);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_NE(rows[1][4], "0");
  EXPECT_EQ(rows[2][4], "0");
  const double least = std::stod(rows[2][5]);
  EXPECT_GT(least, 0);
  EXPECT_LT(least, 1e-3);
}

TEST_F(Many, ACarriedDiagramGoesOnWhereTheValueBeforeEnded) {
  DiagramRequest request;
  request.many = of("bouncing-table");
  request.axis = {"Gamma", {0.5, 0.6, 0.7}};
  ASSERT_TRUE(analysis::parse_section("impact:table", request.section));
  request.skip = 30;
  request.keep = 60;
  request.carry = Carry::both;
  request.output = folder_ / "carried.csv";
  const DiagramReport report = bifurcation(request);
  ASSERT_EQ(report.runs.stage, RunsStage::ended) << report.runs.problem;
  ASSERT_EQ(report.values.size(), 6U);
  for (const DiagramValue& value : report.values) {
    EXPECT_TRUE(value.ok) << value.status;
    EXPECT_EQ(value.status, "done") << value.value << (value.down ? " down" : " up");
    EXPECT_EQ(value.period_points, 1U) << value.value;
    EXPECT_NEAR(value.period, 2 * M_PI, 1e-6);
  }
}

// Free rocking, folded: y'' = y − 1, restitution r at y = 0. A start comes to rest if its energy at the first passage is below that of
// the upright tip; the share of |x| < 1, |x'| < 2 is 0.307055818 for r = 0.9 (integral in closed form). By symmetry y and y' are uniform
// in (0, 1) and (−2, 2).
TEST_F(Many, TheShareOfTheRockingBasinIsThatOfTheClosedForm) {
  const bool full = std::getenv("JUDDER_FULL") != nullptr;
  for (const std::uint64_t seed : {1, 2, 3}) {
    BasinRequest request;
    request.many = of("rocking-basin");
    request.axes = {{"y", {0, 1}}, {"y'", {-2, 2}}};
    request.random = full ? 1000000 : 1000;
    request.seed = seed;
    request.output = folder_ / ("rocking" + std::to_string(seed) + ".npz");
    const BasinReport report = basin(request);
    ASSERT_EQ(report.runs.stage, RunsStage::ended) << report.runs.problem << report.runs.files.text();
    ASSERT_EQ(report.attractors.size(), 2U);
    const auto rest = std::find_if(
        report.attractors.begin(), report.attractors.end(),
        [](const analysis::Attractor& each) { return each.first.kind == analysis::EndKind::rest; });
    ASSERT_NE(rest, report.attractors.end());
    const double n = static_cast<double>(request.random), share = static_cast<double>(rest->members) / n;
    constexpr double kExact = 0.307055818;
    EXPECT_NEAR(share, kExact, 3 * std::sqrt(kExact * (1 - kExact) / n)) << "seed " << seed;
  }
}

// Values that make no model, and a run that ends in the middle after many equal points: neither has a period, and zero is the one of rest.
TEST_F(Many, WhatFailsInADiagramHasNoPeriod) {
  std::ofstream(folder_ / "ends.toml")
      << "format = 1\n[parameters]\nk = 1\n[coordinates]\nx = 0.2\n[state]\nz = { start = 3, rate = -0.01 }\n"
         "[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nalong = \"x'\"\n"
         "value = \"-sqrt(k)*x - 0.5*x' + cos(t) + if(k > 1.5, 1e-6*sqrt(z), 0)\"\n[run]\nuntil = 9\n";
  DiagramRequest request;
  request.many.model.file = folder_ / "ends.toml";
  request.axis = {"k", {-1, 1, 2}};
  request.section.strobe = true;
  request.skip = 20;
  request.keep = 60;
  request.output = folder_ / "ends.csv";
  const DiagramReport report = bifurcation(request);
  ASSERT_EQ(report.runs.stage, RunsStage::ended) << report.runs.problem << report.runs.files.text();
  ASSERT_EQ(report.values.size(), 3U);
  EXPECT_EQ(report.runs.failed, 2U);
  for (const std::size_t i : {0U, 2U}) {
    EXPECT_FALSE(report.values[i].ok) << report.values[i].status;
    EXPECT_EQ(report.values[i].period_points, 0U);
    EXPECT_TRUE(std::isnan(report.values[i].period)) << report.values[i].period;
    EXPECT_EQ(report.values[i].word, "");
  }
  EXPECT_GT(report.values[2].points.size(), 60U) << "it went well for a while";
  EXPECT_EQ(report.values[1].period_points, 1U);
  EXPECT_NEAR(report.values[1].period, 6.283185307179586, 1e-9);
}

TEST_F(Many, APartThatIsDoneSaysSo) {
  RunsRequest request{.many = of("bouncing-ball"),
                      .plan = Plan::grid({{"h", {0.5, 1, 1.5, 2, 2.5}}}),
                      .collect = "end(h)",
                      .after = -INFINITY,
                      .output = folder_ / "ball.csv"};
  request.many.parts = 2;
  request.many.part = 1;
  ASSERT_EQ(sweep_runs(request).stage, RunsStage::part_done);
  RunsReport again = sweep_runs(request);
  EXPECT_EQ(again.stage, RunsStage::files_failed);
  EXPECT_NE(again.files.message.find("all of it is done"), std::string::npos) << again.files.message;
  EXPECT_NE(again.files.message.find("--join"), std::string::npos);
  // Other questions are not done, and neither is what was interrupted.
  request.collect = "max(h)";
  again = sweep_runs(request);
  EXPECT_NE(again.files.message.find("has not ended"), std::string::npos) << again.files.message;
}

TEST_F(Many, AnEndMayBeAnExpressionOfWhatIsSwept) {
  RunsRequest request{.many = of("bouncing-ball"),
                      .plan = Plan::grid({{"H", {0.5, 1, 1.5}}}),
                      .collect = "end(h)",
                      .after = -INFINITY,
                      .output = folder_ / "ends.csv"};
  request.many.model.until = "0.1*H";  // before the first impact: h − g t²/2
  const RunsReport report = sweep_runs(request);
  ASSERT_EQ(report.stage, RunsStage::ended) << report.problem << report.files.text();
  const auto rows = table(request.output);
  ASSERT_EQ(rows.size(), 4U);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const double h = std::stod(rows[i][3]), t = 0.1 * h;
    EXPECT_NEAR(std::stod(rows[i][2]), t, 1e-15);
    EXPECT_NEAR(std::stod(rows[i][4]), h - 9.81 * t * t / 2, 1e-9);
  }
}

// It would be seen at the end of a long sweep otherwise.
TEST_F(Many, AnArchiveThatWouldBeTooLargeIsRefusedBeforeAnythingRuns) {
  RunsRequest request{.many = of("bouncing-ball"),
                      .plan = Plan::random({{"h", {0.5, 1}}}, 60'000'000, 1),
                      .collect = "end(h)",
                      .after = -INFINITY,
                      .output = folder_ / "balls.npz"};
  const RunsReport report = sweep_runs(request);
  EXPECT_EQ(report.stage, RunsStage::files_failed);
  EXPECT_NE(report.files.message.find("4 GB"), std::string::npos) << report.files.message;
  EXPECT_EQ(report.made.made, 0U);
  EXPECT_TRUE(fs::is_empty(folder_));
}

// A driven pendulum goes round or comes to rest. Starts a turn apart, and whichever way round at first, end in the one motion that goes round: at equal
// energy after a turn, 2 π M = c ∫ x' dx, by Runge's method over the angle.
TEST_F(Many, APendulumThatGoesRoundIsOneAttractor) {
  std::ofstream(folder_ / "round.toml")
      << "format = 1\n[parameters]\nM = 0.5\nc = 0.2\n[coordinates]\nx = 0\n[energy]\nkinetic = "
         "\"x'^2/2\"\npotential = "
         "\"-cos(x)\"\n[[force]]\nalong = \"x'\"\nvalue = \"M - c*x'\"\n[run]\nuntil = 300\n";
  BasinRequest request;
  request.many.model.file = folder_ / "round.toml";
  request.axes = {{"x", {-9, -3, 0, 4}}, {"x'", {-4, 0, 3, 5}}};
  request.output = folder_ / "round.npz";
  const BasinReport report = basin(request);
  ASSERT_EQ(report.runs.stage, RunsStage::ended) << report.runs.problem << report.runs.files.text();
  const analysis::Attractor* round = nullptr;
  for (const analysis::Attractor& each : report.attractors) {
    EXPECT_TRUE(each.first.kind == analysis::EndKind::rest || each.first.kind == analysis::EndKind::drifting)
        << analysis::name(each.first.kind);
    if (each.first.kind != analysis::EndKind::drifting) continue;
    EXPECT_EQ(round, nullptr) << "two of them";
    round = &each;
  }
  ASSERT_NE(round, nullptr);
  // dv/dx = (M − sin x − c v)/v, dt/dx = 1/v.
  constexpr int kSteps = 4000;
  constexpr double kTurn = 6.283185307179586;
  double v = 2.5, time = 0;
  const auto slope = [](double x, double speed) { return (0.5 - std::sin(x) - 0.2 * speed) / speed; };
  for (int turn = 0; turn < 60; ++turn) {
    time = 0;
    for (int k = 0; k < kSteps; ++k) {
      const double h = kTurn / kSteps, x = k * h;
      const double a = slope(x, v), b = slope(x + h / 2, v + h / 2 * a), c = slope(x + h / 2, v + h / 2 * b);
      const double d = slope(x + h, v + h * c), next = v + h / 6 * (a + 2 * b + 2 * c + d);
      time += h / 6 * (1 / v + 4 / (v + h / 4 * (a + b)) + 1 / next);
      v = next;
    }
  }
  EXPECT_NEAR(round->first.period, time, 1e-5);
  EXPECT_NEAR(round->first.drift[0], kTurn, 1e-9);
  EXPECT_GT(round->members, 6U);
  // The same in a diagram: shaken, it goes round once in two of its periods, whatever its angle has grown to.
  std::ofstream(folder_ / "shaken.toml")
      << "format = 1\n[parameters]\nA = 1.5\n[coordinates]\nx = { start = 0, velocity = 2 "
         "}\n[energy]\nkinetic = \"x'^2/2\"\npotential = "
         "\"-cos(x)\"\n[[force]]\nalong = \"x'\"\nvalue = \"-0.3*x' - 4*A*cos(2*t)*sin(x)\"\n";
  DiagramRequest diagram;
  diagram.many.model.file = folder_ / "shaken.toml";
  diagram.axis = {"A", {1.5}};
  diagram.section.strobe = true;
  diagram.output = folder_ / "shaken.csv";
  const DiagramReport shaken = bifurcation(diagram);
  ASSERT_EQ(shaken.runs.stage, RunsStage::ended) << shaken.runs.problem << shaken.runs.files.text();
  EXPECT_EQ(shaken.values[0].period_points, 1U);
  const std::vector<double>& points = shaken.values[0].points;
  EXPECT_GT(std::abs(points[points.size() - 2] - points[1]), 90 * kTurn) << "it went round all the time";
}

// Divided only where ends differ, the picture is that of all cells but for single ones.
TEST_F(Many, ARefinedPictureIsTheWholeOne) {
  BasinRequest request;
  request.many = of("rocking-basin");
  for (int i = 0; i < 33; ++i) {
    if (i == 0) request.axes = {{"y", {}}, {"y'", {}}};
    request.axes[0].values.push_back(0.01 + 0.03 * i);
    request.axes[1].values.push_back(-2 + 0.125 * i);
  }
  request.output = folder_ / "whole.npz";
  const BasinReport whole = basin(request);
  request.refine = true;
  request.output = folder_ / "refined.npz";
  const BasinReport refined = basin(request);
  ASSERT_EQ(whole.labels.size(), refined.labels.size());
  EXPECT_LT(refined.runs_made, whole.runs_made * 3 / 4);
  int other = 0;
  for (std::size_t i = 0; i < whole.labels.size(); ++i) {
    const auto kind = [i](const BasinReport& of) {
      return of.attractors[static_cast<std::size_t>(of.labels[i])].first.kind;
    };
    if (kind(whole) != kind(refined)) ++other;
  }
  EXPECT_EQ(other, 0);
}

}  // namespace
}  // namespace judder::tasks
