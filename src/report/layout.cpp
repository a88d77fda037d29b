#include "layout.hpp"

#include <algorithm>
#include <cmath>

#include "svg_text.hpp"

namespace judder::report {
namespace {

constexpr double kGap = 14;    // between panels, and between entries of a legend
constexpr double kBelow = 38;  // tick labels and name of the abscissa
constexpr double kPixelsPerXTick = 90;
constexpr double kPixelsPerYTick = 34;
constexpr std::size_t kLongestLegend = 16;

struct Extents {
  Extent x{};
  Extent y{};
};

Extents extents_of(const Panel& panel) {
  Extents out;
  const auto add = [&](double x, double y) {
    if (!drawable(x, panel.x.logarithmic) || !drawable(y, panel.y.logarithmic)) return;
    out.x.add(x, panel.x.logarithmic);
    out.y.add(y, panel.y.logarithmic);
  };
  for (const Series& series : panel.series) {
    for (std::size_t i = 0; i < std::min(series.x.size(), series.y.size()); ++i)
      add(series.x[i], series.y[i]);
  }
  if (panel.raster) {
    add(panel.raster->left, panel.raster->bottom);
    add(panel.raster->right, panel.raster->top);
  }
  for (const Mark& mark : panel.marks) {
    if (std::isfinite(mark.y)) add(mark.x, mark.y);
  }
  return out;
}

// Lengthens the range whose unit is drawn longer.
void equalise(PanelLayout& panel, double width, double height) {
  const double x_unit = width / (panel.x.to - panel.x.from);
  const double y_unit = height / (panel.y.to - panel.y.from);
  Range& loose = x_unit > y_unit ? panel.x : panel.y;
  const double wanted = x_unit > y_unit ? width / y_unit : height / x_unit;
  const double more = 0.5 * (wanted - (loose.to - loose.from));
  loose.from -= more;
  loose.to += more;
}

double widest(const Ticks& ticks) {
  double width = 0;
  for (const std::string& label : ticks.labels) width = std::max(width, text_width(label, kSmallSize));
  return width + (ticks.powers ? text_width("10", kSmallSize) : 0);
}

std::vector<std::size_t> kinds_of_marks(const Panel& panel, bool in_lanes) {
  std::vector<std::size_t> kinds;
  for (std::size_t k = 0; k < panel.mark_kinds.size(); ++k) {
    const bool used = std::any_of(panel.marks.begin(), panel.marks.end(), [&](const Mark& mark) {
      return mark.kind == k && std::isfinite(mark.y) != in_lanes;
    });
    if (used) kinds.push_back(k);
  }
  return kinds;
}

// The name of the ordinate, then the entries; wrapped at the right end. Returns the base line of the last line.
double place_legend(const Panel& panel, PanelLayout& out, double base) {
  std::vector<LegendItem>& items = out.legend;
  if (!panel.y.label.empty()) items.push_back({LegendItem::Kind::ordinate, 0, panel.y.label, 0, 0});
  std::size_t named = 0;
  for (std::size_t i = 0; i < panel.series.size(); ++i) {
    if (panel.series[i].label.empty()) continue;
    if (++named <= kLongestLegend)
      items.push_back({LegendItem::Kind::series, i, panel.series[i].label, 0, 0});
  }
  if (named > kLongestLegend) {
    items.push_back(
        {LegendItem::Kind::ordinate, 0, "and " + std::to_string(named - kLongestLegend) + " more", 0, 0});
  }
  for (const std::size_t kind : kinds_of_marks(panel, false)) {
    items.push_back({LegendItem::Kind::mark, kind, panel.mark_kinds[kind].label, 0, 0});
  }
  // The factor and offset of the ordinate stand at the right end of the last line.
  const double reserved = (out.y_ticks.exponent != 0 ? 45 : 0) + (out.y_ticks.offset != 0 ? 95 : 0);
  double x = out.left;
  for (LegendItem& item : items) {
    const double sample = item.kind == LegendItem::Kind::series ? kSample + 5
                          : item.kind == LegendItem::Kind::mark ? 12
                                                                : 0;
    item.text = fitted(item.text, kTextSize, out.right - out.left - sample);
    const double width = sample + text_width(item.text, kTextSize);
    if (x > out.left && x + width > out.right - reserved) {
      x = out.left;
      base += kLineHeight;
    }
    item.x = x;
    item.y = base;
    x += width + kGap;
  }
  return base;
}

}  // namespace

FigureLayout layout_of(const Figure& figure) {
  FigureLayout out;
  out.width = std::max(figure.width, 240.0);
  out.panels.resize(figure.panels.size());

  Extent shared;
  std::vector<Extents> extents;
  for (const Panel& panel : figure.panels) {
    extents.push_back(extents_of(panel));
    shared.add(extents.back().x.least, panel.x.logarithmic);
    shared.add(extents.back().x.greatest, panel.x.logarithmic);
  }

  double margin = 30;
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    const Panel& panel = figure.panels[i];
    PanelLayout& place = out.panels[i];
    place.x = range_of(figure.shared_x ? shared : extents[i].x, panel.x);
    place.y = range_of(extents[i].y, panel.y);
    for (const std::size_t kind : kinds_of_marks(panel, true)) {
      place.lanes.push_back({kind, 0, 0});
      margin = std::max(margin, text_width(panel.mark_kinds[kind].label, kSmallSize) + 12);
    }
    int next = 0;
    for (const Series& series : panel.series)
      place.colours.push_back(series.colour ? *series.colour : next++);
    // The range may still grow to make the scales equal; labels have about the same width then.
    const int most = std::max(2, static_cast<int>(std::max(panel.height, 40.0) / kPixelsPerYTick));
    place.y_ticks = ticks_of(place.y, panel.y, most);
    margin = std::max(margin, widest(place.y_ticks) + kTickLength + 8);
  }

  double y = kEdge;
  const double room = out.width - 2 * kEdge;
  out.title = wrapped(figure.title, kBold * kTitleSize, room, kMostTitleLines);
  out.subtitle = wrapped(figure.subtitle, kTextSize, room, kMostTitleLines);
  y += kTitleLine * static_cast<double>(out.title.size());
  y += (kTextSize + 4) * static_cast<double>(out.subtitle.size());
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    const Panel& panel = figure.panels[i];
    PanelLayout& place = out.panels[i];
    place.left = kEdge + margin;
    place.right = out.width - kEdge - 6;
    y += i == 0 ? 7 : 4;
    const auto rows = static_cast<double>(std::max<std::size_t>(panel.mark_rows, 1));
    const double pitch = std::min(kRowHeight, kHighestLane / rows);
    for (Lane& lane : place.lanes) {
      lane.y = y + 0.5 * kLaneHeight;
      lane.pitch = pitch;
      y += kLaneHeight + (rows - 1) * pitch;
    }
    place.top = place_legend(panel, place, y + kTextSize + 2) + 7;
    place.bottom = place.top + std::max(panel.height, 40.0);
    if (panel.same_scale) equalise(place, place.right - place.left, place.bottom - place.top);
    place.labels_below = !figure.shared_x || i + 1 == figure.panels.size();
    place.x_ticks = ticks_of(place.x, panel.x,
                             std::max(2, static_cast<int>((place.right - place.left) / kPixelsPerXTick)));
    place.y_ticks = ticks_of(place.y, panel.y,
                             std::max(2, static_cast<int>((place.bottom - place.top) / kPixelsPerYTick)));
    y = place.bottom + (place.labels_below ? kBelow : 0) + (i + 1 < figure.panels.size() ? kGap - 4 : 0);
  }
  out.height = y + 4;
  return out;
}

}  // namespace judder::report
