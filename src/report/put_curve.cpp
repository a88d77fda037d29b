#include "report/put_curve.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace judder::report {
namespace {

/// A point and the row in front of it.
struct Place {
  std::size_t row = 0, point = 0;
};

std::vector<Place> places_of(const std::vector<double>& rows, const std::vector<double>& points) {
  std::vector<Place> out;
  std::size_t row = 0;
  for (std::size_t point = 0; point < points.size(); ++point) {
    while (row + 1 < rows.size() && rows[row + 1] <= points[point]) ++row;
    if (row + 1 == rows.size()) break;
    if (points[point] > rows[row]) out.push_back({row, point});
  }
  return out;
}

}  // namespace

void put_curve(io::RunData& run, const simulate::CurvePoints& curve) {
  const io::Column* time = run.find("t");
  if (time == nullptr || !time->words.empty() || curve.times.empty()) return;
  const std::vector<double> rows = time->numbers;
  const auto earlier = [](double a, double b) { return !(b >= a); };
  if (std::adjacent_find(rows.begin(), rows.end(), earlier) != rows.end()) return;
  const std::vector<Place> places = places_of(rows, curve.times);
  if (places.empty()) return;
  for (io::Column& column : run.columns) {
    const auto found = std::find(curve.columns.begin(), curve.columns.end(), column.name);
    const auto known = static_cast<std::size_t>(found - curve.columns.begin());
    const auto value = [&](const Place& place) {
      if (&column == time) return curve.times[place.point];
      if (found != curve.columns.end()) return curve.values[place.point * curve.columns.size() + known];
      const double share =
          (curve.times[place.point] - rows[place.row]) / (rows[place.row + 1] - rows[place.row]);
      return column.numbers[place.row] + share * (column.numbers[place.row + 1] - column.numbers[place.row]);
    };
    io::Column merged;
    merged.name = column.name;
    std::size_t next = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const bool words = !column.words.empty();
      if (words)
        merged.words.push_back(column.words[row]);
      else
        merged.numbers.push_back(column.numbers[row]);
      for (; next < places.size() && places[next].row == row; ++next) {
        if (words)
          merged.words.push_back(column.words[row]);
        else
          merged.numbers.push_back(value(places[next]));
      }
    }
    column.numbers = std::move(merged.numbers);
    column.words = std::move(merged.words);
  }
}

}  // namespace judder::report
