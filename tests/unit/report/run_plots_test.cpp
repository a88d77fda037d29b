#include "judder/report/run_plots.hpp"

#include <gtest/gtest.h>

#include <set>

#include <cmath>

#include "judder/report/svg.hpp"
#include "report/put_curve.hpp"
#include "xml.hpp"

namespace judder::report {
namespace {

using io::RunData;

// A ball dropped from 1 with g = 2: it lands at t = 1 with speed 2 and rebounds with half of it.
RunData ball(const std::string& name = "ball") {
  RunData run;
  run.name = name;
  run.columns = {{"t", {0, 0.5, 1, 1, 1.5, 2, 2}, {}},
                 {"y", {1, 0.75, 0, 0, 0.25, 0, 0}, {}},
                 {"y'", {0, -1, -2, 1, 0, -1, 0.5}, {}},
                 {"mode(floor)", {}, {"open", "open", "open", "open", "open", "open", "stick"}},
                 {"N", {0, 0, 0, 0, 0, 0, 2}, {}}};
  run.events = {{1, "impact", "floor", "rebound", 3, {}, 2, 0.5, 0},
                {2, "impact", "floor", "rest", 1, {}, 0.5, 0.1, 1}};
  return run;
}

std::vector<std::string> names(const RunPlots& plots) {
  std::vector<std::string> out;
  for (const NamedFigure& figure : plots.figures) out.push_back(figure.name);
  return out;
}

// Points between rows come in where they belong; what they do not know lies between the rows around them.
TEST(RunPlots, PointsOfTheCurveStandBetweenTheRows) {
  RunData run = ball();
  put_curve(run, {{"y", "N"},
                  {-1, 0, 0.25, 1, 1.25, 1.75, 9},
                  {5, 5, 5, 5, 0.9375, 7, 5, 5, 0.1875, 8, 0.1875, 9, 5, 5}});
  EXPECT_EQ(run.find("t")->numbers, (std::vector<double>{0, 0.25, 0.5, 1, 1, 1.25, 1.5, 1.75, 2, 2}));
  EXPECT_EQ(run.find("y")->numbers, (std::vector<double>{1, 0.9375, 0.75, 0, 0, 0.1875, 0.25, 0.1875, 0, 0}));
  EXPECT_EQ(run.find("y'")->numbers, (std::vector<double>{0, -0.5, -1, -2, 1, 0.5, 0, -0.5, -1, 0.5}));
  EXPECT_EQ(run.find("N")->numbers, (std::vector<double>{0, 7, 0, 0, 0, 8, 0, 9, 0, 2}));
  EXPECT_EQ(run.find("mode(floor)")->words,
            (std::vector<std::string>{"open", "open", "open", "open", "open", "open", "open", "open", "open",
                                      "stick"}));
  RunData disordered = ball();
  std::swap(disordered.columns[0].numbers[1], disordered.columns[0].numbers[2]);
  const std::size_t rows = disordered.columns[0].size();
  put_curve(disordered, {{"y"}, {0.25}, {0.9375}});
  EXPECT_EQ(disordered.columns[0].size(), rows);
}

TEST(RunPlots, WithoutAListShowMotionPhasePortraitAndOutputs) {
  const RunData run = ball();
  const RunPlots plots = plots_of_run({&run, 1}, {}, {.title = "Ball"});
  EXPECT_EQ(names(plots), (std::vector<std::string>{"motion", "phase-portrait", "outputs"}));
  EXPECT_TRUE(plots.problems.empty());
  ASSERT_EQ(plots.figures[0].figure.panels.size(), 2U);
  EXPECT_EQ(plots.figures[0].figure.panels[1].y.label, "y'");
  EXPECT_EQ(plots.figures[0].figure.title, "Ball");
  for (const NamedFigure& figure : plots.figures)
    EXPECT_TRUE(XmlReader::read(to_svg(figure.figure)).has_value());
}

TEST(RunPlots, SeveralCoordinatesAndNoCoordinates) {
  RunData run;
  run.columns = {
      {"t", {0, 1}, {}}, {"a", {0, 1}, {}}, {"b", {0, 1}, {}}, {"a'", {1, 1}, {}}, {"b'", {1, 1}, {}}};
  EXPECT_EQ(names(plots_of_run({&run, 1}, {})), (std::vector<std::string>{"coordinates", "velocities"}));
  RunData relay;
  relay.columns = {{"t", {0, 1}, {}}, {"x1", {0, 1}, {}}, {"x2", {1, 0}, {}}};
  EXPECT_EQ(names(plots_of_run({&relay, 1}, {})), (std::vector<std::string>{"phase-portrait", "states"}));
  RunData many;
  many.columns = {{"t", {0, 1}, {}}};
  for (int i = 1; i <= 30; ++i) {
    many.columns.push_back({"x[" + std::to_string(i) + "]", {0, 1}, {}});
    many.columns.push_back({"x[" + std::to_string(i) + "]'", {0, 1}, {}});
  }
  const RunPlots plots = plots_of_run({&many, 1}, {});
  ASSERT_EQ(plots.figures[0].figure.panels.size(), 1U);
  EXPECT_EQ(plots.figures[0].figure.panels[0].series.size(), 12U);
  EXPECT_EQ(plots.figures[0].figure.subtitle, "the first 12 of 30 columns");
}

// A table may hold a column x of numbers and one x' of words, the one without the other, or one name twice.
TEST(RunPlots, AColumnIsAVelocityOnlyBesideNumbersOfItsCoordinate) {
  RunData run;
  run.columns = {{"t", {0, 1}, {}}, {"x", {0, 1}, {}}, {"x'", {0, 0}, {"fast", "slow"}}};
  EXPECT_EQ(names(plots_of_run({&run, 1}, {})), (std::vector<std::string>{"states"}));
  run.columns = {{"t", {0, 1}, {}}, {"x", {0, 0}, {"near", "far"}}, {"x'", {0, 1}, {}}};
  EXPECT_EQ(names(plots_of_run({&run, 1}, {})), (std::vector<std::string>{"states"}));
  run.columns = {{"t", {0, 1}, {}}, {"x", {0, 1}, {}}, {"x'", {1, 1}, {}}, {"x'", {2, 2}, {}}};
  EXPECT_EQ(names(plots_of_run({&run, 1}, {})), (std::vector<std::string>{"coordinates", "velocities"}));
}

TEST(RunPlots, RowsWithTheSameTimeAreJumps) {
  const RunData run = ball();
  const RunPlots plots = plots_of_run({&run, 1}, {{"t", "y'"}, {"y", "y'"}});
  ASSERT_EQ(names(plots), (std::vector<std::string>{"plot-1", "plot-2"}));
  for (const NamedFigure& figure : plots.figures) {
    EXPECT_EQ(figure.figure.panels[0].series[0].jumps, (std::vector<std::size_t>{3, 6}));
    const Element root = *XmlReader::read(to_svg(figure.figure));
    EXPECT_EQ(root.all("polyline").size(), 3U) << "two flights and the state at rest";
    EXPECT_EQ(root.all("path", "jumps").size(), 1U);
  }
}

TEST(RunPlots, EventsStandInLanesOverTimeAndOnTheCurveElsewhere) {
  const RunData run = ball();
  const RunPlots plots = plots_of_run({&run, 1}, {{"t", "y"}, {"y", "y'"}});
  const Panel& over_time = plots.figures[0].figure.panels[0];
  ASSERT_EQ(over_time.marks.size(), 2U);
  EXPECT_TRUE(std::isnan(over_time.marks[0].y));
  EXPECT_EQ(over_time.marks[0].x, 1);
  EXPECT_NE(over_time.marks[0].tip.find("impact floor: rebound"), std::string::npos);
  const Panel& portrait = plots.figures[1].figure.panels[0];
  ASSERT_EQ(portrait.marks.size(), 2U);
  EXPECT_EQ(portrait.marks[0].x, 0);
  EXPECT_EQ(portrait.marks[0].y, 1) << "the limit after the event";
  EXPECT_TRUE(
      plots_of_run({&run, 1}, {{"t", "y"}}, {.events = false}).figures[0].figure.panels[0].marks.empty());
}

// An event of a fixed-step engine need not have a row of its own.
TEST(RunPlots, AnEventBetweenTwoRowsIsPlacedBetweenThem) {
  RunData run = ball();
  run.events = {{0.25, "watch", "w", "up", 0, {}, 0, 0, 0}};
  const RunPlots plots = plots_of_run({&run, 1}, {{"y", "y'"}});
  ASSERT_EQ(plots.figures[0].figure.panels[0].marks.size(), 1U);
  EXPECT_DOUBLE_EQ(plots.figures[0].figure.panels[0].marks[0].x, 0.875);
  EXPECT_DOUBLE_EQ(plots.figures[0].figure.panels[0].marks[0].y, -0.5);
}

// Between a row before an impact and one behind it there is no state of the motion; nor for another event in the same gap.
TEST(RunPlots, NothingIsMarkedOnALineAcrossAJump) {
  RunData run = ball();
  run.events = {{0.25, "impact", "c", "", 0, {}, 0, 0, 0},
                {0.3, "watch", "w", "up", 0, {}, 0, 0, 0},
                {1e9, "watch", "w", "up", 0, {}, 0, 0, 0}};
  const RunPlots plots = plots_of_run({&run, 1}, {{"y", "y'"}});
  EXPECT_TRUE(plots.figures[0].figure.panels[0].marks.empty());
  ASSERT_EQ(plots.problems.size(), 1U);
  EXPECT_EQ(plots.problems[0].rfind("plot-1: 3 of 3 events are not marked", 0), 0U) << plots.problems[0];
  const RunPlots over_time = plots_of_run({&run, 1}, {{"t", "y"}});
  EXPECT_EQ(over_time.figures[0].figure.panels[0].marks.size(), 3U);
  EXPECT_DOUBLE_EQ(over_time.figures[0].figure.panels[0].marks[0].x, 0.25);
}

// Without rows at events the state that comes with an event tells where it is, also at a jump; other columns are read off the curve.
TEST(RunPlots, AnEventIsMarkedAtTheStateThatComesWithIt) {
  RunData run = ball();
  run.event_columns = {"y", "y'"};
  run.events = {{0.25, "impact", "c", "", 0, {}, 0, 0, 0, 0, {0.5, 2}}};
  const RunPlots plots = plots_of_run({&run, 1}, {{"y", "y'"}});
  EXPECT_TRUE(plots.problems.empty());
  ASSERT_EQ(plots.figures[0].figure.panels[0].marks.size(), 1U);
  EXPECT_EQ(plots.figures[0].figure.panels[0].marks[0].x, 0.5);
  EXPECT_EQ(plots.figures[0].figure.panels[0].marks[0].y, 2);
  run.event_columns = {"y"};
  run.events = {{0.25, "watch", "w", "up", 0, {}, 0, 0, 0, 0, {0.86}}};
  const RunPlots half = plots_of_run({&run, 1}, {{"y", "y'"}});
  ASSERT_EQ(half.figures[0].figure.panels[0].marks.size(), 1U);
  EXPECT_EQ(half.figures[0].figure.panels[0].marks[0].x, 0.86);
  EXPECT_DOUBLE_EQ(half.figures[0].figure.panels[0].marks[0].y, -0.5);
}

// A table of a stranger: words without end, names that are no line.
TEST(RunPlots, LevelsAreFewAndNamesAreLines) {
  RunData run;
  run.columns = {{"t", {}, {}}, {"word\n\u202e\x1b", {}, {}}};
  for (int i = 0; i < 5000; ++i) {
    run.columns[0].numbers.push_back(i);
    run.columns[1].words.push_back("w" + std::to_string(i) + std::string(500, 'x'));
  }
  const RunPlots plots = plots_of_run({&run, 1}, {{"t", run.columns[1].name}});
  const Panel& words = plots.figures[0].figure.panels[0];
  EXPECT_EQ(words.y.categories.size(), 60U);
  EXPECT_EQ(words.y.categories.back(), "…");
  EXPECT_LT(words.y.categories.front().size(), 100U);
  EXPECT_EQ(words.y.label, "word\\x0a\\u202e\\x1b");
  EXPECT_EQ(words.series[0].y.back(), 59);
}

TEST(RunPlots, WordsGetAPanelWithOneLevelPerWord) {
  const RunData run = ball();
  const RunPlots plots = plots_of_run({&run, 1}, {{"t", "N", "mode(floor)"}});
  ASSERT_EQ(plots.figures.size(), 1U);
  ASSERT_EQ(plots.figures[0].figure.panels.size(), 2U);
  const Panel& words = plots.figures[0].figure.panels[1];
  EXPECT_EQ(words.y.categories, (std::vector<std::string>{"open", "stick"}));
  const Series& levels = words.series[0];
  ASSERT_EQ(levels.x.size(), levels.y.size());
  for (std::size_t i = 1; i < levels.y.size(); ++i) {
    const bool jumps = std::count(levels.jumps.begin(), levels.jumps.end(), i) == 1;
    EXPECT_EQ(levels.y[i] != levels.y[i - 1], jumps) << "levels change by jumps only";
    EXPECT_TRUE(!jumps || levels.x[i] == levels.x[i - 1]);
  }
}

TEST(RunPlots, SeveralRunsAreToldApartByColourOrByDashes) {
  const std::vector<RunData> runs = {ball("soft"), ball("hard")};
  const RunPlots plots = plots_of_run(runs, {{"t", "y"}, {"t", "y", "y'"}});
  const Panel& one = plots.figures[0].figure.panels[0];
  ASSERT_EQ(one.series.size(), 2U);
  EXPECT_NE(one.series[0].colour, one.series[1].colour);
  EXPECT_EQ(one.series[1].label, "hard");
  const Panel& two = plots.figures[1].figure.panels[0];
  ASSERT_EQ(two.series.size(), 4U);
  EXPECT_EQ(two.series[0].colour, two.series[2].colour);
  EXPECT_NE(two.series[0].stroke, two.series[2].stroke);
  EXPECT_EQ(two.series[3].label, "y' (hard)");
}

TEST(RunPlots, EventsOfSeveralRunsHaveTheColourOfTheirRunAndARowInEachLane) {
  const std::vector<RunData> runs = {ball("soft"), ball("hard")};
  const RunPlots plots = plots_of_run(runs, {{"t", "y"}, {"y", "y'"}, {"t", "y", "y'"}});
  for (const NamedFigure& figure : plots.figures) {
    const Panel& panel = figure.figure.panels[0];
    ASSERT_EQ(panel.marks.size(), 4U) << "two of each run";
    EXPECT_EQ(panel.mark_rows, 2U);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(panel.marks[i].row, i / 2);
      EXPECT_EQ(panel.marks[i].tip.rfind(i < 2 ? "soft: " : "hard: ", 0), 0U) << panel.marks[i].tip;
    }
  }
  const Panel& over_time = plots.figures[0].figure.panels[0];
  const Panel& portrait = plots.figures[1].figure.panels[0];
  for (const Panel* panel : {&over_time, &portrait}) {
    EXPECT_EQ(panel->marks[0].colour, panel->series[0].colour);
    EXPECT_EQ(panel->marks[2].colour, panel->series[1].colour);
    EXPECT_NE(panel->marks[0].colour, panel->marks[2].colour);
  }
  EXPECT_EQ(XmlReader::read(to_svg(plots.figures[1].figure))->all("path", "mark").size(), 4U)
      << "runs that do the same hide no mark of one another";
  EXPECT_FALSE(plots.figures[2].figure.panels[0].marks[0].colour) << "colours tell columns apart there";
  // Drawn: in two rows, in two colours, and no thin lines.
  const Element root = *XmlReader::read(to_svg(plots.figures[0].figure));
  EXPECT_EQ(root.all("path", "mark").size(), 4U);
  EXPECT_TRUE(root.all("path", "hairlines").empty());
  std::set<std::string> strokes;
  for (const Element* mark : root.all("path", "mark")) strokes.insert(mark->attributes.at("stroke"));
  EXPECT_EQ(strokes, (std::set<std::string>{"#0072B2", "#D55E00"}));
}

// Measured data beside a run have no events, and take none away.
TEST(RunPlots, ARunBesideATableShowsItsEventsAsAlone) {
  std::vector<RunData> runs = {ball("run"), ball("table")};
  runs[1].events.clear();
  const Panel panel = plots_of_run(runs, {{"t", "y"}}).figures[0].figure.panels[0];
  ASSERT_EQ(panel.marks.size(), 2U);
  EXPECT_EQ(panel.mark_rows, 1U);
  EXPECT_FALSE(panel.marks[0].colour);
}

TEST(RunPlots, NoTwoLinesOfManyRunsLookTheSame) {
  std::vector<RunData> runs;
  for (int r = 0; r < 8; ++r) runs.push_back(ball("run " + std::to_string(r)));
  const RunPlots plots = plots_of_run(runs, {{"t", "y", "y'"}});
  const Panel& panel = plots.figures[0].figure.panels[0];
  ASSERT_EQ(panel.series.size(), 16U);
  std::set<std::pair<int, Stroke>> seen;
  for (const Series& series : panel.series)
    EXPECT_TRUE(seen.emplace(*series.colour, series.stroke).second) << series.label;
}

TEST(RunPlots, ATableWithoutEventsOverlaysWhatItHas) {
  RunData measured;
  measured.name = "measured";
  measured.columns = {{"t", {0, 1, 2}, {}}, {"y", {1, 0.1, 0}, {}}};
  const std::vector<RunData> runs = {ball(), measured};
  const RunPlots plots = plots_of_run(runs, {{"t", "y"}, {"t", "y'"}});
  EXPECT_EQ(plots.figures[0].figure.panels[0].series.size(), 2U);
  EXPECT_EQ(plots.figures[1].figure.panels[0].series.size(), 1U);
  EXPECT_TRUE(plots.problems.empty());
}

// Runs of two models: what they have in common is drawn, and what the second does not have is told.
TEST(RunPlots, TellWhatARunDoesNotHave) {
  RunData other = ball("other");
  other.columns[4].name = "M";
  RunData stranger = ball("stranger");
  stranger.columns[1].name = "z";
  stranger.columns[2].name = "z'";
  stranger.columns[4].name = "M";
  const std::vector<RunData> runs = {ball("first"), other, stranger};
  const RunPlots plots = plots_of_run(runs, {{"t", "y"}, {"t", "N"}});
  ASSERT_EQ(plots.shares.size(), 3U);
  EXPECT_EQ(plots.shares[0].curves, 2U);
  EXPECT_TRUE(plots.shares[0].absent.empty());
  EXPECT_EQ(plots.shares[1].curves, 1U);
  EXPECT_EQ(plots.shares[1].absent, std::vector<std::string>{"N"});
  EXPECT_EQ(plots.shares[2].curves, 0U);
  EXPECT_EQ(plots.figures[0].figure.panels[0].marks.size(), 4U) << "events of what is not drawn are none";
  EXPECT_EQ(plots.figures[1].figure.panels[0].marks.size(), 2U);
}

// Beside the run, the legend of several columns has the label and the unit of each.
TEST(RunPlots, KeepLabelsAndUnitsWithSeveralRuns) {
  const std::vector<RunData> runs = {ball("soft"), ball("hard")};
  RunPlotOptions options;
  options.labels = {{"y", "\\eta", "m"}};
  const RunPlots plots = plots_of_run(runs, {{"t", "y", "y'"}}, options);
  const Panel& panel = plots.figures[0].figure.panels[0];
  ASSERT_EQ(panel.series.size(), 4U);
  EXPECT_EQ(panel.series[0].label, "η [m] (soft)");
  EXPECT_EQ(panel.series[3].label, "η̇ [m/s] (hard)");
}

TEST(RunPlots, HaveNamesOfTheirColumnsWhereTheseAreChosen) {
  const RunData run = ball();
  RunPlotOptions options;
  options.named_by_columns = true;
  EXPECT_EQ(
      names(plots_of_run({&run, 1}, {{"y", "y'"}, {"t", "N"}, {"y", "y'"}, {"t", "mode(floor)"}}, options)),
      (std::vector<std::string>{"plot-y-ydot", "plot-t-N", "plot-y-ydot-2", "plot-t-mode-floor"}));
}

TEST(RunPlots, SayWhatCannotBeDrawn) {
  const RunData run = ball();
  const RunPlots plots =
      plots_of_run({&run, 1}, {{"t", "nothing"}, {"nowhere", "y"}, {"t"}, {"mode(floor)", "y"}, {"t", "y"}});
  EXPECT_EQ(names(plots), std::vector<std::string>{"plot-5"});
  ASSERT_EQ(plots.problems.size(), 4U);
  EXPECT_EQ(plots.problems[0], "there is no column 'nothing'; there are: t, y, y', mode(floor), N");
  EXPECT_TRUE(plots_of_run({}, {}).figures.empty());
}

// A figure is read in black and white as well, and measurements are no curve.
TEST(RunPlots, RunsHaveDashesBesideColoursAndMeasurementsAreSinglePoints) {
  const auto run = [](const std::string& name) {
    RunData out;
    out.name = name;
    out.columns = {{"t", {0, 1, 2}, {}}, {"x", {0, 1, 4}, {}}};
    return out;
  };
  const std::vector<RunData> runs{run("one"), run("two"), run("measured")};
  RunPlotOptions options;
  options.measured = 2;
  const Panel panel = plots_of_run(runs, {{"t", "x"}}, options).figures.at(0).figure.panels.at(0);
  ASSERT_EQ(panel.series.size(), 3U);
  EXPECT_NE(panel.series[0].stroke, panel.series[1].stroke);
  EXPECT_NE(panel.series[0].colour, panel.series[1].colour);
  EXPECT_EQ(panel.series[1].symbol, Symbol::none);
  EXPECT_EQ(panel.series[2].stroke, Stroke::none);
  EXPECT_NE(panel.series[2].symbol, Symbol::none);
  options.points = true;
  const Panel points = plots_of_run(runs, {{"t", "x"}}, options).figures.at(0).figure.panels.at(0);
  EXPECT_EQ(points.series[0].stroke, Stroke::none);
  EXPECT_NE(points.series[0].symbol, points.series[2].symbol);
}

}  // namespace
}  // namespace judder::report
