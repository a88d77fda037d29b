#include "judder/report/svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "judder/core/number.hpp"
#include "judder/core/printable.hpp"
#include "layout.hpp"
#include "png.hpp"
#include "svg_text.hpp"
#include "thin.hpp"

namespace judder::report {
namespace {

constexpr std::string_view kInk = "#222222";
constexpr std::string_view kQuiet = "#5f5f5f";
constexpr std::string_view kGrid = "#e9e9e9";
constexpr std::string_view kZero = "#bdbdbd";
constexpr std::string_view kHairline = "#c4c4c4";
constexpr std::string_view kFont = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

// Okabe and Ito without yellow, which is too light for a line on paper.
constexpr std::array<std::string_view, 7> kPalette = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                      "#E69F00", "#56B4E9", "#000000"};

constexpr std::string_view kTint = "0.12";  // of filled regions, in the panel and in the legend
constexpr std::size_t kMostHairlines = 60;  // beyond this they would be a grey wash
constexpr std::size_t kLongestTitle = 200;
constexpr double kLargestSample = 5;    // radius of a symbol in a legend
constexpr double kStill = 3;            // radius of a curve that is a point
constexpr std::size_t kMostTips = 400;  // beyond this nobody points at a single mark

std::string colour_of(int number) {
  return std::string(kPalette[static_cast<std::size_t>(number) % kPalette.size()]);
}

std::string dashes_of(const Series& series, int colour) {
  if (series.stroke == Stroke::dashed) return "7 3";
  if (series.stroke == Stroke::dotted) return "1.5 2.5";
  if (series.stroke == Stroke::dash_dotted) return "7 2.5 1.5 2.5";
  if (series.stroke == Stroke::long_dashed) return "13 4";
  if (series.stroke == Stroke::dash_dot_dotted) return "10 2.5 1.5 2.5 1.5 2.5";
  // Colours repeat after seven: the next round is told apart by its dashes.
  const auto round = static_cast<std::size_t>(colour) / kPalette.size();
  return round == 0 ? "" : round % 2 == 1 ? "7 3" : "3 2";
}

std::string place(const Point& at) { return pixels(at.x) + ' ' + pixels(at.y); }

// The outline of a symbol around (x, y); `open` tells that it has no inside.
std::string outline(Symbol symbol, const Point& at, double radius, bool& open) {
  const auto point = [&](double dx, double dy) { return place({at.x + dx * radius, at.y + dy * radius}); };
  const std::string r = pixels(radius);
  open = false;
  switch (symbol) {
    case Symbol::none:
      return {};
    case Symbol::circle:
    case Symbol::disc:
      return "M" + point(-1, 0) + "a" + r + ' ' + r + " 0 1 0 " + pixels(2 * radius) + " 0a" + r + ' ' + r +
             " 0 1 0 " + pixels(-2 * radius) + " 0Z";
    case Symbol::square:
      return "M" + point(-0.9, -0.9) + "L" + point(0.9, -0.9) + "L" + point(0.9, 0.9) + "L" +
             point(-0.9, 0.9) + "Z";
    case Symbol::diamond:
      return "M" + point(0, -1.2) + "L" + point(1.2, 0) + "L" + point(0, 1.2) + "L" + point(-1.2, 0) + "Z";
    case Symbol::triangle_up:
      return "M" + point(-1.05, 0.8) + "L" + point(0, -1.1) + "L" + point(1.05, 0.8) + "Z";
    case Symbol::triangle_down:
      return "M" + point(-1.05, -0.8) + "L" + point(0, 1.1) + "L" + point(1.05, -0.8) + "Z";
    case Symbol::cross:
      open = true;
      return "M" + point(-0.9, -0.9) + "L" + point(0.9, 0.9) + "M" + point(-0.9, 0.9) + "L" +
             point(0.9, -0.9);
    case Symbol::plus:
      open = true;
      return "M" + point(-1.1, 0) + "L" + point(1.1, 0) + "M" + point(0, -1.1) + "L" + point(0, 1.1);
    case Symbol::bar:
      open = true;
      return "M" + point(0, -1.2) + "L" + point(0, 1.2);
  }
  return {};
}

// Pixels of one panel, and the drawing of its parts.
class PanelDrawing {
 public:
  PanelDrawing(SvgWriter& svg, const Panel& panel, const PanelLayout& layout)
      : svg_(svg),
        panel_(panel),
        layout_(layout),
        x_(layout.x, panel.x.logarithmic, layout.left, layout.right),
        y_(layout.y, panel.y.logarithmic, layout.bottom, layout.top) {}

  void draw() {
    svg_.open("g", {{"class", "panel"}});
    grid();
    hairlines();
    const bool clipped = panel_.x.from || panel_.x.to || panel_.y.from || panel_.y.to;
    if (clipped) {
      // A nested viewport clips without an id, so that several figures can stand in one page.
      const std::string width = pixels(layout_.right - layout_.left);
      const std::string height = pixels(layout_.bottom - layout_.top);
      const std::string left = pixels(layout_.left);
      const std::string top = pixels(layout_.top);
      svg_.open("svg", {{"x", left},
                        {"y", top},
                        {"width", width},
                        {"height", height},
                        {"overflow", "hidden"},
                        {"viewBox", left + ' ' + top + ' ' + width + ' ' + height}});
    }
    raster();
    for (std::size_t i = 0; i < panel_.series.size(); ++i) series(panel_.series[i], layout_.colours[i]);
    if (clipped) svg_.close("svg");
    axes();
    legend();
    lanes();
    point_marks();
    svg_.close("g");
  }

 private:
  void line(double x1, double y1, double x2, double y2, std::string_view colour, double width) {
    svg_.leaf("line", {{"x1", pixels(x1)},
                       {"y1", pixels(y1)},
                       {"x2", pixels(x2)},
                       {"y2", pixels(y2)},
                       {"stroke", std::string(colour)},
                       {"stroke-width", pixels(width)}});
  }

  void raster() {
    if (!panel_.raster || panel_.raster->cells.empty()) return;
    const Raster& raster = *panel_.raster;
    std::vector<Colour> palette{{255, 255, 255, 0}};
    for (int i = 0; i < 255; ++i) {
      const std::string hex = colour_of(i);
      Colour colour{0, 0, 0, 255};
      for (std::size_t k = 0; k < 3; ++k)
        colour[k] = static_cast<std::uint8_t>(std::stoi(hex.substr(1 + 2 * k, 2), nullptr, 16));
      palette.push_back(colour);
    }
    const double x = x_(raster.left), y = y_(raster.top);
    svg_.leaf("image", {{"class", "raster"},
                        {"x", pixels(x)},
                        {"y", pixels(y)},
                        {"width", pixels(x_(raster.right) - x)},
                        {"height", pixels(y_(raster.bottom) - y)},
                        {"preserveAspectRatio", "none"},
                        {"style", "image-rendering:pixelated"},
                        {"xlink:href", "data:image/png;base64," +
                                           base64(png(raster.columns, raster.rows, raster.cells, palette))}});
  }

  void grid() {
    for (const double value : layout_.x_ticks.values) {
      const bool zero = value == 0 && layout_.x.from < 0;
      line(x_(value), layout_.top, x_(value), layout_.bottom, zero ? kZero : kGrid, 1);
    }
    for (const double value : layout_.y_ticks.values) {
      const bool zero = value == 0 && layout_.y.from < 0 && panel_.y.categories.empty();
      line(layout_.left, y_(value), layout_.right, y_(value), zero ? kZero : kGrid, 1);
    }
  }

  void tick_label(const Ticks& ticks, std::size_t index, double x, double y, std::string_view anchor) {
    if (ticks.powers) {
      svg_.power_of_ten(x, y, "", ticks.labels[index], kSmallSize, anchor, kInk);
    } else {
      svg_.text(x, y, ticks.labels[index], kSmallSize, anchor, kInk);
    }
  }

  // What a tick label must be multiplied by and added to.
  void factor(const Ticks& ticks, double x, double y) {
    std::string offset;
    if (ticks.offset != 0) offset = (ticks.offset < 0 ? "−" : "+") + to_text(std::abs(ticks.offset), 12);
    if (ticks.exponent != 0) {
      const std::string exponent = (ticks.exponent < 0 ? "−" : "") + std::to_string(std::abs(ticks.exponent));
      svg_.power_of_ten(x, y, (offset.empty() ? "" : offset + ",  ") + "×", exponent, kSmallSize, "end",
                        kQuiet);
    } else if (!offset.empty()) {
      svg_.text(x, y, offset, kSmallSize, "end", kQuiet);
    }
  }

  void axes() {
    svg_.open("g", {{"class", "axes"}});
    line(layout_.left, layout_.top, layout_.left, layout_.bottom, kInk, 1);
    line(layout_.left, layout_.bottom, layout_.right, layout_.bottom, kInk, 1);
    svg_.open("g", {{"class", "x-ticks"}});
    for (std::size_t i = 0; i < layout_.x_ticks.values.size(); ++i) {
      const double x = x_(layout_.x_ticks.values[i]);
      line(x, layout_.bottom, x, layout_.bottom + kTickLength, kInk, 1);
      if (layout_.labels_below)
        tick_label(layout_.x_ticks, i, x, layout_.bottom + kTickLength + 12, "middle");
    }
    svg_.close("g");
    svg_.open("g", {{"class", "y-ticks"}});
    for (std::size_t i = 0; i < layout_.y_ticks.values.size(); ++i) {
      const double y = y_(layout_.y_ticks.values[i]);
      line(layout_.left - kTickLength, y, layout_.left, y, kInk, 1);
      tick_label(layout_.y_ticks, i, layout_.left - kTickLength - 4, y + 0.36 * kSmallSize, "end");
    }
    svg_.close("g");
    if (layout_.labels_below) {
      const double base = layout_.bottom + kTickLength + 29;
      if (!panel_.x.label.empty()) {
        svg_.text(0.5 * (layout_.left + layout_.right), base,
                  fitted(panel_.x.label, kTextSize, layout_.right - layout_.left), kTextSize, "middle", kInk);
      }
      factor(layout_.x_ticks, layout_.right, base);
    }
    factor(layout_.y_ticks, layout_.right, layout_.top - 7);
    svg_.close("g");
  }

  void legend() {
    for (const LegendItem& item : layout_.legend) {
      double x = item.x;
      const double middle = item.y - 0.34 * kTextSize;
      if (item.kind == LegendItem::Kind::series) {
        const Series& series = panel_.series[item.index];
        const int colour = layout_.colours[item.index];
        if (series.filled) {
          svg_.leaf("rect", {{"class", "swatch"},
                             {"x", pixels(x)},
                             {"y", pixels(middle - 5)},
                             {"width", pixels(kSample)},
                             {"height", "10"},
                             {"fill", colour_of(colour)},
                             {"fill-opacity", std::string(kTint)},
                             {"stroke", colour_of(colour)},
                             {"stroke-width", "0.5"},
                             {"stroke-dasharray", dashes_of(series, colour)}});
        } else if (series.stroke != Stroke::none) {
          svg_.leaf("line", {{"x1", pixels(x)},
                             {"y1", pixels(middle)},
                             {"x2", pixels(x + kSample)},
                             {"y2", pixels(middle)},
                             {"stroke", colour_of(colour)},
                             {"stroke-width", pixels(std::max(series.width, 2.0))},
                             {"stroke-dasharray", dashes_of(series, colour)}});
        }
        if (series.symbol != Symbol::none)
          symbol(series.symbol, {x + 0.5 * kSample, middle}, std::min(series.radius, kLargestSample),
                 colour_of(colour), {});
        x += kSample + 5;
      } else if (item.kind == LegendItem::Kind::mark) {
        symbol(panel_.mark_kinds[item.index].symbol, {x + 4, middle}, 3.6, std::string(kInk), {});
        x += 12;
      }
      svg_.text(x, item.y, item.text, kTextSize, "start", kInk);
    }
  }

  void symbol(Symbol shape, const Point& at, double radius, const std::string& colour, std::string_view tip) {
    bool open = false;
    const std::string path = outline(shape, at, radius, open);
    if (path.empty()) return;
    const std::string inside = open ? "none" : shape == Symbol::disc ? colour : "#ffffff";
    const SvgWriter::Attributes attributes = {{"d", path},
                                              {"fill", inside},
                                              {"stroke", colour},
                                              {"stroke-width", "1.2"},
                                              {"class", tip.empty() ? "" : "mark"}};
    if (tip.empty()) {
      svg_.leaf("path", attributes);
    } else {
      svg_.open("path", attributes);
      svg_.title(tip);
      svg_.close("path");
    }
  }

  // Thin vertical lines through the panel at what happened, as long as they can be told apart.
  void hairlines() {
    std::set<int> columns;
    const auto add = [&](double value) {
      const double x = x_(value);
      if (inside_x(x)) columns.insert(static_cast<int>(std::lround(x * 2)));
    };
    for (const Mark& mark : panel_.marks) {
      if (!std::isfinite(mark.y) && panel_.mark_rows <= 1) add(mark.x);
    }
    for (const double value : panel_.guides) add(value);
    if (columns.size() > kMostHairlines) return;
    std::string path;
    for (const int column : columns) {
      path += "M" + place({0.5 * column, layout_.top}) + "V" + pixels(layout_.bottom);
    }
    if (path.empty()) return;
    svg_.leaf("path", {{"class", "hairlines"},
                       {"d", path},
                       {"fill", "none"},
                       {"stroke", std::string(kHairline)},
                       {"stroke-width", "0.6"}});
  }

  [[nodiscard]] bool inside_x(double x) const { return x >= layout_.left - 0.5 && x <= layout_.right + 0.5; }
  [[nodiscard]] bool inside_y(double y) const { return y >= layout_.top - 0.5 && y <= layout_.bottom + 0.5; }

  void lanes() {
    for (const Lane& lane : layout_.lanes) {
      const MarkKind& kind = panel_.mark_kinds[lane.kind];
      svg_.open("g", {{"class", "lane"}});
      const auto row_at = [&](std::size_t row) { return lane.y + static_cast<double>(row) * lane.pitch; };
      const std::size_t last = std::max<std::size_t>(panel_.mark_rows, 1) - 1;
      for (std::size_t row = 0; row <= last && lane.pitch > 3; ++row)
        line(layout_.left, row_at(row), layout_.right, row_at(row), kGrid, 1);
      svg_.text(layout_.left - 8, 0.5 * (lane.y + row_at(last)) + 0.34 * kSmallSize, kind.label, kSmallSize,
                "end", kQuiet);
      marks_of(
          lane.kind,
          [&](const Mark& mark) {
            return Point{x_(mark.x), row_at(mark.row)};
          },
          false, last == 0 ? 3.2 : std::min(2.4, 0.4 * lane.pitch));
      svg_.close("g");
    }
  }

  void point_marks() {
    svg_.open("g", {{"class", "marks"}});
    for (std::size_t kind = 0; kind < panel_.mark_kinds.size(); ++kind) {
      marks_of(
          kind,
          [&](const Mark& mark) {
            return Point{x_(mark.x), y_(mark.y)};
          },
          true, panel_.mark_rows > 1 ? 2.6 : 3.6);
    }
    svg_.close("g");
  }

  // A lane with more marks than fit side by side would be a solid bar, in which nothing is seen. There marks keep their distance: those that stay are
  // at their true places, and what lies between two of them is dense.
  void thin_lane(std::vector<std::pair<Point, const Mark*>>& shown, double radius) const {
    const double fit = (layout_.right - layout_.left) / (2 * radius);
    std::map<std::size_t, std::size_t> count;
    for (const auto& [at, mark] : shown) ++count[mark->row];
    if (std::none_of(count.begin(), count.end(),
                     [fit](const auto& row) { return static_cast<double>(row.second) > fit; }))
      return;
    std::stable_sort(shown.begin(), shown.end(),
                     [](const auto& a, const auto& b) { return a.first.x < b.first.x; });
    std::map<std::size_t, double> last;
    std::erase_if(shown, [&](const auto& one) {
      const std::size_t row = one.second->row;
      if (static_cast<double>(count[row]) <= fit) return false;
      const auto before = last.find(row);
      if (before != last.end() && one.first.x - before->second < 2 * radius + 1) return true;
      last[row] = one.first.x;
      return false;
    });
  }

  // One symbol per pixel and run is enough; as with the curves, the last run is on top.
  template <typename Where>
  void marks_of(std::size_t kind, const Where& where, bool with_ordinate, double radius) {
    std::set<std::tuple<int, int, std::size_t>> taken;
    std::vector<std::pair<Point, const Mark*>> shown;
    for (const Mark& mark : panel_.marks) {
      if (mark.kind != kind || std::isfinite(mark.y) != with_ordinate) continue;
      const Point at = where(mark);
      if (!std::isfinite(at.x) || !std::isfinite(at.y) || !inside_x(at.x) ||
          (with_ordinate && !inside_y(at.y)))
        continue;
      if (taken.emplace(static_cast<int>(at.x), static_cast<int>(at.y), mark.row).second)
        shown.emplace_back(at, &mark);
    }
    if (!with_ordinate) thin_lane(shown, radius);
    const auto colour = [](const Mark& mark) {
      return mark.colour ? colour_of(*mark.colour) : std::string(kInk);
    };
    if (shown.size() <= kMostTips) {
      for (const auto& [at, mark] : shown) {
        symbol(panel_.mark_kinds[kind].symbol, at, radius, colour(*mark),
               mark->tip.empty() ? panel_.mark_kinds[kind].label : mark->tip);
      }
      return;
    }
    bool open = false;
    std::map<std::string, std::string> paths;  // by colour
    for (const auto& [at, mark] : shown)
      paths[colour(*mark)] += outline(panel_.mark_kinds[kind].symbol, at, radius, open);
    for (const auto& [stroke, path] : paths)
      svg_.leaf("path", {{"class", "mark"},
                         {"d", path},
                         {"fill", open ? "none" : "#ffffff"},
                         {"stroke", stroke},
                         {"stroke-width", "1"}});
  }

  // Pieces between gaps and visible jumps; the jumps as their own thin links.
  void series(const Series& series, int colour) {
    std::vector<std::vector<Point>> pieces(1);
    std::vector<std::pair<Point, Point>> links;
    const std::size_t size = std::min(series.x.size(), series.y.size());
    // So many jumps cannot be told apart: they are drawn as part of the line.
    const bool dense = static_cast<double>(series.jumps.size()) > layout_.right - layout_.left;
    auto jump = series.jumps.begin();
    for (std::size_t i = 0; i < size; ++i) {
      const Point at = {x_(series.x[i]), y_(series.y[i])};
      while (jump != series.jumps.end() && *jump < i) ++jump;
      const bool jumps = jump != series.jumps.end() && *jump == i && !dense;
      if (!std::isfinite(at.x) || !std::isfinite(at.y)) {
        if (!pieces.back().empty()) pieces.emplace_back();
        continue;
      }
      if (jumps && !pieces.back().empty()) {
        const Point before = pieces.back().back();
        if (std::hypot(at.x - before.x, at.y - before.y) > 0.5) {
          links.emplace_back(before, at);
          pieces.emplace_back();
        }
      }
      pieces.back().push_back(at);
    }
    const std::string ink = colour_of(colour);
    svg_.open("g", {{"class", "series"}});
    if (!links.empty()) {
      std::string path;
      for (const auto& [from, to] : links) path += "M" + place(from) + "L" + place(to);
      svg_.leaf("path", {{"class", "jumps"},
                         {"d", path},
                         {"fill", "none"},
                         {"stroke", ink},
                         {"stroke-width", "0.8"},
                         {"stroke-dasharray", "2 2.5"},
                         {"stroke-opacity", "0.75"}});
    }
    if (series.stroke != Stroke::none || series.filled) {
      for (const std::vector<Point>& piece : pieces) polyline(series, colour, piece);
    }
    if (series.symbol != Symbol::none) points(series, ink, pieces);
    if (series.symbol == Symbol::none && series.stroke != Stroke::none && !series.filled) still(ink, pieces);
    svg_.close("g");
  }

  // All values at one place: a line of no length would not be seen, the place is drawn instead.
  void still(const std::string& ink, const std::vector<std::vector<Point>>& pieces) {
    const Point* first = nullptr;
    for (const std::vector<Point>& piece : pieces) {
      for (const Point& at : piece) {
        if (first == nullptr) first = &at;
        if (std::hypot(at.x - first->x, at.y - first->y) > 0.5) return;
      }
    }
    if (first != nullptr) symbol(Symbol::disc, *first, kStill, ink, {});
  }

  void polyline(const Series& series, int colour, const std::vector<Point>& piece) {
    if (piece.empty()) return;
    std::string text;
    for (const Point& at : thin(piece)) {
      if (!text.empty()) text += ' ';
      text += pixels(at.x) + ',' + pixels(at.y);
    }
    // A single value between two gaps or jumps is a dot: a line of no length with round ends.
    if (piece.size() == 1) text += ' ' + text;
    svg_.leaf(series.filled ? "polygon" : "polyline",
              {{"points", text},
               {"fill", series.filled ? colour_of(colour) : "none"},
               {"fill-opacity", series.filled ? std::string(kTint) : ""},
               {"stroke", series.stroke == Stroke::none ? "none" : colour_of(colour)},
               {"stroke-width", pixels(series.width)},
               {"stroke-dasharray", dashes_of(series, colour)},
               {"stroke-linejoin", "round"},
               {"stroke-linecap", piece.size() == 1 ? "round" : ""}});
  }

  void points(const Series& series, const std::string& colour,
              const std::vector<std::vector<Point>>& pieces) {
    std::set<std::pair<int, int>> taken;
    std::string path;
    bool open = false;
    for (const std::vector<Point>& piece : pieces) {
      for (const Point& at : piece) {
        const auto cell = std::pair(static_cast<int>(at.x * 2), static_cast<int>(at.y * 2));
        if (taken.insert(cell).second) path += outline(series.symbol, at, series.radius, open);
      }
    }
    if (path.empty()) return;
    const bool solid = series.symbol == Symbol::disc;
    svg_.leaf("path", {{"class", "points"},
                       {"d", path},
                       {"fill", open    ? "none"
                                : solid ? colour
                                        : "#ffffff"},
                       {"stroke", solid ? "none" : colour},
                       {"stroke-width", "1.2"}});
  }

  SvgWriter& svg_;
  const Panel& panel_;
  const PanelLayout& layout_;
  Scale x_;
  Scale y_;
};

}  // namespace

std::string to_svg(const Figure& figure) {
  const FigureLayout layout = layout_of(figure);
  const std::string width = pixels(layout.width);
  const std::string height = pixels(layout.height);
  SvgWriter svg;
  const bool pictures = std::any_of(figure.panels.begin(), figure.panels.end(),
                                    [](const Panel& panel) { return panel.raster.has_value(); });
  svg.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                   {"xmlns:xlink", pictures ? "http://www.w3.org/1999/xlink" : ""},
                   {"width", width},
                   {"height", height},
                   {"viewBox", "0 0 " + width + ' ' + height},
                   {"class", "judder-figure"},  // io::kFigureMark: figures may be replaced by figures
                   {"role", "img"},
                   {"font-family", std::string(kFont)}});
  if (!figure.title.empty()) svg.title(printable_name(figure.title, kLongestTitle));
  svg.leaf("rect", {{"width", "100%"}, {"height", "100%"}, {"fill", "#ffffff"}});
  double base = kEdge + kTitleSize - 3;
  for (const std::string& line : layout.title) {
    svg.text(kEdge, base, line, kTitleSize, "start", kInk, true);
    base += kTitleLine;
  }
  for (const std::string& line : layout.subtitle) {
    svg.text(kEdge, base, line, kTextSize, "start", kQuiet);
    base += kTextSize + 4;
  }
  for (std::size_t i = 0; i < figure.panels.size(); ++i)
    PanelDrawing(svg, figure.panels[i], layout.panels[i]).draw();
  svg.close("svg");
  return svg.take();
}

}  // namespace judder::report
