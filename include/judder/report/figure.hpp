// Figures as plain data: panels of curves, with what happened marked.
//
// A figure says what is to be seen, not how it is drawn; svg.hpp draws it, and anything else may. Curves of non-smooth
// motion jump: a series lists the points at which it does, and the drawing keeps the two one-sided values apart (a thin
// dashed link, never a slope that is not there). A point that is not finite is a gap.
//
// Used for time series, phase portraits, friction laws, impulse paths, orders of convergence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace judder::report {

enum class Stroke { solid, dashed, dotted, dash_dotted, long_dashed, dash_dot_dotted, none };

enum class Symbol { none, circle, disc, square, diamond, triangle_up, triangle_down, cross, plus, bar };

/// A curve, a cloud of points or a filled region, by its points.
struct Series {
  std::string label{};               ///< for the legend; may be empty
  std::vector<double> x{};           ///< same length as y
  std::vector<double> y{};           ///< not finite: a gap
  std::vector<std::size_t> jumps{};  ///< ascending; i: between points i − 1 and i there is a jump
  std::optional<int> colour{};       ///< number of a colour of the palette, from 0; absent: the next one
  Stroke stroke = Stroke::solid;     ///< `none` with a symbol: only points
  Symbol symbol = Symbol::none;      ///< at every point
  double radius = 3;                 ///< of the symbol, in pixels
  double width = 1.5;                ///< of the line, in pixels
  bool filled = false;  ///< the closed region inside the points, lightly tinted (a friction cone)
};

/// A picture of cells behind the curves: what is too much for points, or has a colour at every place.
struct Raster {
  std::size_t columns = 0, rows = 0;
  std::vector<std::uint8_t> cells{};  ///< rows from the top; 0: nothing, k: colour k − 1 of the palette
  double left = 0, right = 0, bottom = 0, top = 0;  ///< of its edges
};

/// A kind of mark: "impact", "lift-off".
struct MarkKind {
  std::string label{};
  Symbol symbol = Symbol::circle;
};

/// Something that happened at x. Without y it concerns the whole panel and stands in a lane above it.
struct Mark {
  std::size_t kind = 0;  ///< index in Panel::mark_kinds
  double x = 0;
  double y = std::numeric_limits<double>::quiet_NaN();
  std::string tip{};            ///< shown when the pointer rests on it
  std::optional<int> colour{};  ///< number of a colour of the palette; absent: black
  std::size_t row = 0;          ///< in its lane, from the top; less than Panel::mark_rows
};

struct Axis {
  std::string label{};
  std::optional<double> from{};           ///< absent: from the data
  std::optional<double> to{};             ///< absent: from the data
  bool logarithmic = false;               ///< values that are not positive are gaps
  bool tight = false;                     ///< no margin between the data and the frame: time
  std::vector<std::string> categories{};  ///< not empty: the values are 0, 1, … and are labelled so
};

struct Panel {
  Axis x{};
  Axis y{};
  std::optional<Raster> raster{};
  std::vector<Series> series{};
  std::vector<MarkKind> mark_kinds{};
  std::vector<Mark> marks{};
  std::size_t mark_rows =
      1;  ///< of each lane; where there are several, marks are small and have no thin lines
  std::vector<double> guides{};  ///< thin vertical lines at these x; marks without y have theirs already
  double height = 200;           ///< of the plotting area, in pixels; at least 40
  bool same_scale = false;       ///< one unit of x as long as one unit of y
};

/// Panels one above another.
struct Figure {
  std::string title{};
  std::string subtitle{};
  std::vector<Panel> panels{};
  bool shared_x = false;  ///< all panels have the same abscissa: one range, labelled below the last
  double width = 720;     ///< in pixels; at least 240
};

}  // namespace judder::report
