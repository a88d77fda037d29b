#include "thin.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace judder::report {
namespace {

constexpr double kBucket = 0.5;      // pixels
constexpr double kTolerance = 0.05;  // pixels

bool ascending(const std::vector<Point>& points) {
  return std::is_sorted(points.begin(), points.end(),
                        [](const Point& a, const Point& b) { return a.x < b.x; });
}

std::vector<Point> extremes_per_bucket(const std::vector<Point>& points) {
  std::vector<Point> out;
  for (std::size_t begin = 0; begin < points.size();) {
    const double bucket = std::floor(points[begin].x / kBucket);
    std::size_t least = begin;
    std::size_t greatest = begin;
    std::size_t end = begin;
    for (; end < points.size() && std::floor(points[end].x / kBucket) == bucket; ++end) {
      if (points[end].y < points[least].y) least = end;
      if (points[end].y > points[greatest].y) greatest = end;
    }
    std::array<std::size_t, 4> kept = {begin, least, greatest, end - 1};
    std::sort(kept.begin(), kept.end());
    const auto last = std::unique(kept.begin(), kept.end());
    for (auto i = kept.begin(); i != last; ++i) out.push_back(points[*i]);
    begin = end;
  }
  return out;
}

// Sklansky and Gonzalez: from an anchor the line may go on as long as one direction passes within the tolerance of every
// point so far and the distance grows; where it cannot, the point before becomes the next anchor.
std::vector<Point> within_tolerance(const std::vector<Point>& points) {
  std::vector<Point> out = {points.front()};
  Point anchor = points.front();
  double low = 0;
  double high = 0;
  double farthest = 0;  // 0: no direction yet
  double base = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    for (bool again = true; again;) {
      again = false;
      const double dx = points[i].x - anchor.x;
      const double dy = points[i].y - anchor.y;
      const double distance = std::hypot(dx, dy);
      if (farthest == 0) {
        if (distance <= kTolerance) break;
        base = std::atan2(dy, dx);
        high = std::asin(kTolerance / distance);
        low = -high;
        farthest = distance;
        break;
      }
      const double turn = std::remainder(std::atan2(dy, dx) - base, 2 * std::acos(-1.0));
      const double half = distance > kTolerance ? std::asin(kTolerance / distance) : 0;
      if (distance < farthest || turn < low || turn > high) {
        anchor = points[i - 1];
        out.push_back(anchor);
        farthest = 0;
        again = true;
        continue;
      }
      low = std::max(low, turn - half);
      high = std::min(high, turn + half);
      farthest = distance;
    }
  }
  out.push_back(points.back());
  return out;
}

}  // namespace

std::vector<Point> thin(const std::vector<Point>& points) {
  if (points.size() < 3) return points;
  const double width = std::abs(points.back().x - points.front().x);
  const bool dense = static_cast<double>(points.size()) > 4 * (width / kBucket + 1);
  if (dense && ascending(points)) return within_tolerance(extremes_per_bucket(points));
  return within_tolerance(points);
}

}  // namespace judder::report
