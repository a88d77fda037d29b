#include "judder/report/diagram.hpp"

#include <algorithm>
#include <cmath>

#include "report/axis_label.hpp"

namespace judder::report {
namespace {

constexpr std::size_t kMostPoints = 20'000;
constexpr double kHeight = 380;

/// A few points must be seen, many must not run together: the area that all of them cover stays, between two bounds.
double radius_of(std::size_t points) {
  constexpr double kSmall = 0.9, kLarge = 2.5, kMany = 4000;
  if (points == 0) return kLarge;
  return std::clamp(kSmall * std::sqrt(kMany / static_cast<double>(points)), kSmall, kLarge);
}

/// Cells of a pixel, so that none is lost where the picture is drawn; later groups over earlier ones.
Raster raster_of(const DiagramData& data) {
  Raster out;
  out.columns = 640;
  out.rows = 380;
  out.cells.assign(out.columns * out.rows, 0);
  bool first = true;
  for (const DiagramData::Group& group : data.groups) {
    for (std::size_t i = 0; i < group.x.size(); ++i) {
      if (!std::isfinite(group.x[i]) || !std::isfinite(group.y[i])) continue;
      if (first) {
        out.left = out.right = group.x[i];
        out.bottom = out.top = group.y[i];
        first = false;
      }
      out.left = std::min(out.left, group.x[i]);
      out.right = std::max(out.right, group.x[i]);
      out.bottom = std::min(out.bottom, group.y[i]);
      out.top = std::max(out.top, group.y[i]);
    }
  }
  if (!(out.right > out.left)) out.right = out.left + 1;
  if (!(out.top > out.bottom)) out.top = out.bottom + 1;
  for (std::size_t g = 0; g < data.groups.size(); ++g) {
    const DiagramData::Group& group = data.groups[g];
    for (std::size_t i = 0; i < group.x.size(); ++i) {
      if (!std::isfinite(group.x[i]) || !std::isfinite(group.y[i])) continue;
      const double across = (group.x[i] - out.left) / (out.right - out.left);
      const double down = (out.top - group.y[i]) / (out.top - out.bottom);
      const auto c =
          std::min(out.columns - 1, static_cast<std::size_t>(across * static_cast<double>(out.columns)));
      const auto r = std::min(out.rows - 1, static_cast<std::size_t>(down * static_cast<double>(out.rows)));
      out.cells[r * out.columns + c] = static_cast<std::uint8_t>(g + 1);
    }
  }
  return out;
}

}  // namespace

Figure diagram_figure(const DiagramData& data) {
  Figure figure;
  figure.title = data.title;
  figure.subtitle = data.subtitle;
  Panel panel;
  panel.height = kHeight;
  panel.x.label = axis_label(data.names, data.parameter);
  panel.y.label = axis_label(data.names, data.quantity);
  if (data.from && data.to && *data.from < *data.to) {
    // So that points at both ends are whole.
    constexpr double kMargin = 0.01;
    const double margin = kMargin * (*data.to - *data.from);
    panel.x.from = *data.from - margin;
    panel.x.to = *data.to + margin;
  }
  panel.x.tight = true;
  std::size_t points = 0;
  for (const DiagramData::Group& group : data.groups) points += group.x.size();
  if (points > kMostPoints) panel.raster = raster_of(data);
  for (std::size_t g = 0; g < data.groups.size(); ++g) {
    const DiagramData::Group& group = data.groups[g];
    Series series;
    series.label = group.name;
    series.colour = static_cast<int>(g);
    series.stroke = Stroke::none;
    series.symbol = Symbol::disc;
    series.radius = radius_of(points);
    if (!panel.raster) {
      series.x = group.x;
      series.y = group.y;
    } else if (group.name.empty()) {
      continue;
    }
    panel.series.push_back(std::move(series));
  }
  figure.panels.push_back(std::move(panel));
  return figure;
}

}  // namespace judder::report
