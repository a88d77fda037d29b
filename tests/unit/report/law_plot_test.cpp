#include "judder/report/law_plot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "judder/io/dither.hpp"
#include "judder/io/reader.hpp"
#include "judder/report/dither_plot.hpp"
#include "judder/report/svg.hpp"
#include "judder/tasks/dither.hpp"
#include "xml.hpp"

namespace judder::report {
namespace {

model::System pad(const std::string& law) {
  const io::ModelFile file = io::read_model_text(
      "format = 1\n[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\n[[friction]]\nname = \"pad\"\nslip "
      "= \"x'\"\nnormal = 10\nlaw = " +
      law + "\n[run]\nuntil = 1\n");
  model::Compiled compiled = model::compile(file.spec);
  if (!compiled.system) throw std::runtime_error(render(compiled.diagnostics, file.name, file.text));
  return std::move(*compiled.system);
}

double most(const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); }

TEST(LawPlot, ShowsTheLimitAtRestAboveTheSlidingForce) {
  const model::System system = pad("{ static = 0.3, dynamic = 0.2 }");
  const Figure figure = law_figure(system, 0);
  ASSERT_EQ(figure.panels.size(), 1U);
  const Panel& panel = figure.panels[0];
  ASSERT_EQ(panel.series.size(), 2U);
  EXPECT_NEAR(most(panel.series[0].y), 2, 1e-12) << "10 N times the dynamic coefficient";
  EXPECT_NEAR(most(panel.series[1].y), 3, 1e-12) << "and the static one";
  EXPECT_EQ(panel.series[0].jumps.size(), 1U) << "the force jumps at rest";
  EXPECT_NE(panel.series[1].label.find("up to 3"), std::string::npos);
}

TEST(LawPlot, TheHysteresisLoopEnclosesTheWorkOfSliding) {
  const model::System system =
      pad("{ type = \"elastoplastic\", mu = 0.2, stiffness = 100, damping = 0, breakaway = 0.001 }");
  const Figure figure = law_figure(system, 0);
  ASSERT_EQ(figure.panels.size(), 2U);
  const auto area = [](const Series& loop) {
    double sum = 0;
    // the last full turn of one and a quarter
    for (std::size_t i = loop.x.size() / 5; i + 1 < loop.x.size(); ++i)
      sum += 0.5 * (loop.y[i] + loop.y[i + 1]) * (loop.x[i + 1] - loop.x[i]);
    return sum;
  };
  const Series& small = figure.panels[1].series[0];
  const Series& large = figure.panels[1].series[1];
  EXPECT_NEAR(area(small), 0, 1e-6) << "below break-away the bristle is a spring";
  const double deflection = 0.002;
  // At most the parallelogram of an ideal slider on a spring, 4 F (A − z).
  EXPECT_GT(area(large), 0.7 * 4 * 2 * (3 * deflection - deflection));
  EXPECT_LT(area(large), 4 * 2 * (3 * deflection - deflection));
  EXPECT_NEAR(most(large.y), 2, 0.02) << "L μ";
}

TEST(LawPlot, EveryLawGivesAPicture) {
  for (const char* law :
       {"0.3", "\"0.1/(1 + 3*speed)\"", "{ static = 0.3, dynamic = 0.2, velocity = 0.1, viscous = 1 }",
        "{ type = \"lugre\", mu = 0.3, stiffness = 1e5, damping = 10 }",
        "{ type = \"arctan\", mu = 0.3, beta = 100 }",
        "{ type = \"penalty\", mu = 0.3, stiffness = 1e5, damping = 10 }",
        "{ type = \"penalty\", mu = 0.3, stiffness = 1e5, damping = 0 }"}) {
    const model::System system = pad(law);
    const Figure figure = law_figure(system, 0, {"title", 2});
    for (const Panel& panel : figure.panels) {
      for (const Series& series : panel.series) {
        ASSERT_EQ(series.x.size(), series.y.size());
        for (const double y : series.y) ASSERT_TRUE(std::isfinite(y)) << law;
      }
    }
    EXPECT_NE(to_svg(figure).find("</svg>"), std::string::npos);
    EXPECT_NEAR(most(figure.panels[0].series[0].x), 2, 1e-12) << "as far as was asked";
  }
}

TEST(LawPlot, SaysWhichLawsThereAre) {
  LawPlotRequest request;
  request.model.file = std::string(JUDDER_SOURCE_DIR) + "/gallery/press/model.toml";
  const PlottedLaw several = plot_law(request);
  EXPECT_NE(several.problem.find("several"), std::string::npos);
  EXPECT_NE(several.help.find("piston"), std::string::npos);
  request.law = "pistom";
  EXPECT_NE(plot_law(request).problem.find("no friction law 'pistom'"), std::string::npos);
}

TEST(DitherPlot, DrawsCurvesAndTheMap) {
  tasks::DitherRequest request;
  request.model.file = std::string(JUDDER_SOURCE_DIR) + "/gallery/dither-square/model.toml";
  request.map = *io::parse_dither_map("speed=0.1:0.5:5,W=0:0.6:13");
  request.speeds = io::parse_dither_range("0:1:21");
  const tasks::DitherReport report = tasks::dither_model(request);
  ASSERT_TRUE(report.ok()) << report.problem.message;
  const Figure curves = dither_figure(report.survey, report.model.compiled.title);
  ASSERT_GE(curves.panels[0].series.size(), 4U);
  EXPECT_EQ(curves.panels[0].series[0].x.size(), 21U);
  EXPECT_TRUE(curves.panels[0].series[0].jumps.empty());
  // Without dither friction jumps to its limit at rest (1.5) at once, without memory at the speed of the dither; between are no slopes.
  for (const auto& [line, at, size] : {std::tuple(1U, 0.0, 1.5), std::tuple(2U, 0.5, 1.5)}) {
    const Series& series = curves.panels[0].series[line];
    ASSERT_FALSE(series.jumps.empty()) << series.label;
    double height = 0;  // in two parts where a row stands in the middle of it
    for (const std::size_t i : series.jumps) {
      EXPECT_EQ(series.x[i], series.x[i - 1]);
      EXPECT_NEAR(series.x[i], at, 1e-6);
      height += series.y[i] - series.y[i - 1];
    }
    EXPECT_NEAR(height, size, 1e-3) << series.label;
  }
  EXPECT_NE(curves.subtitle.find("amplitude 0.5"), std::string::npos) << curves.subtitle;
  const Figure map = dither_map_figure(report.survey, report.model.compiled.title);
  EXPECT_GT(map.panels[0].series.size(), 4U) << "every speed has an unstable range of W, some two";
  EXPECT_EQ(map.subtitle.find("amplitude"), std::string::npos) << "W is an axis: " << map.subtitle;
  EXPECT_NE(map.subtitle.find("frequency"), std::string::npos) << map.subtitle;
  EXPECT_NE(to_svg(map).find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace judder::report
