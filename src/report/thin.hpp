// Fewer points, same picture. Points are in pixels.
#pragma once

#include <vector>

namespace judder::report {

struct Point {
  double x = 0;
  double y = 0;
};

/// A polyline that looks like `points`. If x never decreases and there are many points per half pixel, each half pixel
/// keeps its first, least, greatest and last point in their order. Then points are dropped whose removal moves the line by
/// less than a twentieth of a pixel. The first and the last point stay.
[[nodiscard]] std::vector<Point> thin(const std::vector<Point>& points);

}  // namespace judder::report
