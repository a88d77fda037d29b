#include "judder/report/diagram.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace judder::report {
namespace {

DiagramData half_of_a_range(std::size_t points) {
  DiagramData data;
  data.from = 3;
  data.to = 12;
  data.groups.resize(1);
  for (std::size_t i = 0; i < points; ++i) {
    data.groups[0].x.push_back(3 + 6 * static_cast<double>(i) / static_cast<double>(points));
    data.groups[0].y.push_back(std::sin(static_cast<double>(i)));
  }
  return data;
}

TEST(Diagram, ItsAxisIsTheRangeThatWasGoneOver) {
  for (const std::size_t points : {0UL, 10UL, 1000UL, 30'000UL}) {
    const Figure figure = diagram_figure(half_of_a_range(points));
    ASSERT_EQ(figure.panels.size(), 1U);
    const Axis& axis = figure.panels[0].x;
    ASSERT_TRUE(axis.from && axis.to);
    EXPECT_LE(*axis.from, 3);
    EXPECT_GE(*axis.to, 12);
    EXPECT_LT(*axis.to - *axis.from, 9 * 1.05);
    EXPECT_EQ(figure.panels[0].raster.has_value(), points > 20'000);
  }
}

TEST(Diagram, FewPointsAreLargerThanMany) {
  const auto radius = [](std::size_t points) {
    return diagram_figure(half_of_a_range(points)).panels[0].series.at(0).radius;
  };
  EXPECT_GE(radius(20), 2);
  EXPECT_GT(radius(20), radius(2000));
  EXPECT_GT(radius(2000), radius(15'000));
  EXPECT_GT(radius(15'000), 0.5);
}

}  // namespace
}  // namespace judder::report
