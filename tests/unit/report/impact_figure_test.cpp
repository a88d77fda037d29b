#include "judder/report/impact_figure.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "judder/report/svg.hpp"
#include "run_model.hpp"
#include "xml.hpp"

namespace judder::report {
namespace {

const Series* series(const Panel& panel, const std::string& start) {
  for (const Series& s : panel.series) {
    if (s.label.compare(0, start.size(), start) == 0) return &s;
  }
  return nullptr;
}

TEST(ImpactFigure, DrawsPathConeAndLinesOfOneContact) {
  const analysis::Impacts found =
      analysis::impacts(gallery_model("rod-impact", {"T23"}, {{"e", 0.5}}).system);
  const auto figure = impact_figure(found, "Rod");
  ASSERT_TRUE(figure.has_value());
  ASSERT_EQ(figure->panels.size(), 1U);
  const Panel& panel = figure->panels.front();
  ASSERT_NE(series(panel, "cone"), nullptr);
  EXPECT_TRUE(series(panel, "cone")->filled);
  for (const char* law : {"moreau", "newton", "poisson", "stronge"})
    ASSERT_NE(series(panel, law), nullptr) << law;
  const Series* path = series(panel, "impulse path");
  ASSERT_NE(path, nullptr);
  ASSERT_EQ(path->x.size(), 4U);  // origin, slip stops, compression ends, impact ends
  EXPECT_EQ(path->x[0], 0);
  // The corner lies on the line of sticking, the end of compression on its line; both lines are those of the problem.
  const contact::PathProblem& p = *found.path;
  EXPECT_NEAR(p.tangent_before + p.A_TN * path->x[1] + p.A_TT * path->y[1], 0, 1e-14);
  EXPECT_NEAR(p.normal_before + p.A_NN * path->x[2] + p.A_NT * path->y[2], 0, 1e-14);
  const Series* stick = series(panel, "sticking");
  const Series* compression = series(panel, "maximum compression");
  ASSERT_NE(stick, nullptr);
  ASSERT_NE(compression, nullptr);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(p.tangent_before + p.A_TN * stick->x[i] + p.A_TT * stick->y[i], 0, 1e-12);
    EXPECT_NEAR(p.normal_before + p.A_NN * compression->x[i] + p.A_NT * compression->y[i], 0, 1e-12);
  }
  // Everything that matters is inside the frame and inside the cone.
  for (std::size_t i = 0; i < path->x.size(); ++i) {
    EXPECT_LE(path->x[i], *panel.x.to);
    EXPECT_GE(path->y[i], *panel.y.from);
    EXPECT_LE(path->y[i], *panel.y.to);
    EXPECT_LE(std::abs(path->y[i]), 0.3 * path->x[i] + 1e-15);
  }
  EXPECT_TRUE(XmlReader::read(to_svg(*figure)).has_value());
}

// Moreau's and Newton's law end at one place here, Poisson's and Stronge's at others.
TEST(ImpactFigure, EndsAtOnePlaceAreDrawnAroundEachOther) {
  const analysis::Impacts found = analysis::impacts(gallery_model("rod-impact", {"T22"}, {{"e", 1}}).system);
  const auto figure = impact_figure(found, "");
  ASSERT_TRUE(figure.has_value());
  const Panel& panel = figure->panels.front();
  EXPECT_GT(series(panel, "moreau")->radius, 1.5 * series(panel, "newton")->radius);
  EXPECT_EQ(series(panel, "poisson")->radius, series(panel, "newton")->radius);
}

TEST(ImpactFigure, OfATangentialImpactStartsOnTheLineOfCompression) {
  const analysis::Impacts found = analysis::impacts(gallery_model("painleve-rod").system);
  const auto figure = impact_figure(found, "");
  ASSERT_TRUE(figure.has_value());
  EXPECT_EQ(figure->subtitle, "tangential impact");
  const Series* compression = series(figure->panels.front(), "maximum compression");
  ASSERT_NE(compression, nullptr);
  EXPECT_NEAR(compression->x.front(), 0, 1e-15);
  EXPECT_NEAR(compression->y.front(), 0, 1e-15);
}

TEST(ImpactFigure, HasNothingToShowWithoutFriction) {
  const analysis::Impacts found = analysis::impacts(text_model(R"(
[coordinates]
y = { velocity = -1 }
[energy]
kinetic = "y'^2/2"
[[contact]]
name = "floor"
gap = "y"
)")
                                                        .system);
  ASSERT_EQ(found.outcome, analysis::ImpactsOutcome::collision);
  EXPECT_FALSE(impact_figure(found, "").has_value());
}

}  // namespace
}  // namespace judder::report
