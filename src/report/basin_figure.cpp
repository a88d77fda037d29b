#include "judder/report/basin_figure.hpp"

#include <algorithm>

#include "report/axis_label.hpp"

namespace judder::report {

Figure basin_figure(const BasinData& data) {
  Figure figure;
  figure.title = data.title;
  figure.subtitle = data.subtitle;
  Panel panel;
  panel.height = 480;
  panel.x.label = axis_label(data.names, data.across);
  panel.y.label = axis_label(data.names, data.upwards);
  panel.x.tight = panel.y.tight = true;
  const std::size_t columns = data.x.size(), rows = data.y.size();
  Raster raster;
  raster.columns = columns;
  raster.rows = rows;
  raster.cells.assign(columns * rows, 0);
  constexpr int kMost = 254;
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t r = 0; r < rows; ++r) {
      const int label = data.labels[c * rows + r];
      raster.cells[(rows - 1 - r) * columns + c] =
          static_cast<std::uint8_t>(std::clamp(label, -1, kMost) + 1);
    }
  }
  // A cell has its start in its middle.
  const auto edges = [](const std::vector<double>& values, double& low, double& high) {
    const double half = 0.5 * (values.back() - values.front()) /
                        static_cast<double>(std::max<std::size_t>(values.size() - 1, 1));
    low = values.front() - half;
    high = values.back() + half;
    if (low > high) std::swap(low, high);
  };
  edges(data.x, raster.left, raster.right);
  edges(data.y, raster.bottom, raster.top);
  if (data.x.front() > data.x.back() || data.y.front() > data.y.back()) {
    // Values that fall: the picture is turned with them.
    std::vector<std::uint8_t> turned(raster.cells.size());
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        const std::size_t to_r = data.y.front() > data.y.back() ? rows - 1 - r : r;
        const std::size_t to_c = data.x.front() > data.x.back() ? columns - 1 - c : c;
        turned[to_r * columns + to_c] = raster.cells[r * columns + c];
      }
    }
    raster.cells = std::move(turned);
  }
  panel.raster = std::move(raster);
  for (std::size_t i = 0; i < data.attractors.size(); ++i) {
    Series series;
    series.label = data.attractors[i];
    series.colour = static_cast<int>(i);
    series.stroke = Stroke::none;
    series.symbol = Symbol::disc;
    series.radius = 5;
    panel.series.push_back(std::move(series));
  }
  figure.panels.push_back(std::move(panel));
  return figure;
}

}  // namespace judder::report
