#include "report/thin.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "count.hpp"

namespace judder::report {
namespace {

double distance_to_segment(const Point& p, const Point& a, const Point& b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double length = dx * dx + dy * dy;
  const double share = length == 0 ? 0 : std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0);
  return std::hypot(p.x - a.x - share * dx, p.y - a.y - share * dy);
}

double distance_to_line(const Point& p, const std::vector<Point>& line) {
  double least = std::hypot(p.x - line[0].x, p.y - line[0].y);
  for (std::size_t i = 1; i < line.size(); ++i)
    least = std::min(least, distance_to_segment(p, line[i - 1], line[i]));
  return least;
}

bool same(const Point& a, const Point& b) { return a.x == b.x && a.y == b.y; }

// Walks that turn back on themselves, stand still and run straight: what phase portraits do.
TEST(Thin, NoPointOfACurveIsFartherThanTheToleranceFromWhatIsDrawn) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int run = 0; run < count(5'000); ++run) {
    std::vector<Point> points = {{uniform(random) * 100, uniform(random) * 100}};
    double dx = 1;
    double dy = 0;
    const std::size_t size = 3 + random() % 120;
    while (points.size() < size) {
      switch (random() % 8) {
        case 0:
          dx = uniform(random);
          dy = uniform(random);
          break;
        case 1:
          dx = -dx;
          dy = -dy;
          break;
        case 2:
          dx *= 0.01;
          dy *= 0.01;
          break;
        case 3:
          dx = 10 * uniform(random);
          break;
        default:
          break;
      }
      points.push_back({points.back().x + dx, points.back().y + dy});
    }
    const std::vector<Point> line = thin(points);
    ASSERT_LE(line.size(), points.size() + 1);
    ASSERT_TRUE(same(line.front(), points.front()) && same(line.back(), points.back()));
    for (const Point& p : points) ASSERT_LE(distance_to_line(p, line), 0.0501) << "run " << run;
  }
}

TEST(Thin, ADenseSeriesKeepsEveryExtremeOfAPixel) {
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal(0, 20);
  std::vector<Point> points;
  for (int i = 0; i < 200'000; ++i) points.push_back({i * 0.003, normal(random)});
  points[123'456].y = 5000;
  points[77'777].y = -5000;
  const std::vector<Point> line = thin(points);
  EXPECT_LT(line.size(), 5 * 1202U);
  const auto holds = [&](const Point& p) {
    return std::any_of(line.begin(), line.end(), [&](const Point& q) { return same(p, q); });
  };
  EXPECT_TRUE(holds(points[123'456]));
  EXPECT_TRUE(holds(points[77'777]));
  for (std::size_t column = 0; column < 600; ++column) {
    double least = 1e9;
    double greatest = -1e9;
    for (const Point& p : points) {
      if (p.x >= static_cast<double>(column) && p.x < static_cast<double>(column + 1)) {
        least = std::min(least, p.y);
        greatest = std::max(greatest, p.y);
      }
    }
    double drawn_least = 1e9;
    double drawn_greatest = -1e9;
    for (const Point& p : line) {
      if (p.x >= static_cast<double>(column) && p.x < static_cast<double>(column + 1)) {
        drawn_least = std::min(drawn_least, p.y);
        drawn_greatest = std::max(drawn_greatest, p.y);
      }
    }
    ASSERT_NEAR(drawn_least, least, 0.06) << column;
    ASSERT_NEAR(drawn_greatest, greatest, 0.06) << column;
  }
}

TEST(Thin, AStraightLineIsTwoPointsAndAPointIsAPoint) {
  std::vector<Point> straight;
  for (int i = 0; i <= 1000; ++i) straight.push_back({i * 0.7, 3 + i * 0.1});
  EXPECT_EQ(thin(straight).size(), 2U);
  EXPECT_EQ(thin({{1, 2}}).size(), 1U);
  EXPECT_TRUE(thin({}).empty());
}

}  // namespace
}  // namespace judder::report
