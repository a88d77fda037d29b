// Where everything of a figure goes: decided before anything is drawn, in pixels from the top left corner.
#pragma once

#include <string>
#include <vector>

#include "axis.hpp"
#include "judder/report/figure.hpp"

namespace judder::report {

inline constexpr double kEdge = 14;  // free space around everything
inline constexpr double kTitleSize = 15;
inline constexpr double kTitleLine = 18;
inline constexpr std::size_t kMostTitleLines = 3;
inline constexpr double kBold = 1.2;  // bold letters are wider
inline constexpr double kTextSize = 12;
inline constexpr double kSmallSize = 10.5;
inline constexpr double kLineHeight = 18;   // of legends
inline constexpr double kLaneHeight = 12;   // of marks above a panel
inline constexpr double kRowHeight = 9;     // in a lane with several rows, as long as
inline constexpr double kHighestLane = 63;  // there is room
inline constexpr double kTickLength = 4;
inline constexpr double kSample = 22;  // length of a line in a legend

/// A word of the line above a panel: the name of the ordinate, or an entry of the legend.
struct LegendItem {
  enum class Kind { ordinate, series, mark };
  Kind kind = Kind::ordinate;
  std::size_t index = 0;  ///< of the series or kind of mark
  std::string text{};
  double x = 0;
  double y = 0;  ///< base line
};

/// Marks of one kind that stand above the panel.
struct Lane {
  std::size_t kind = 0;
  double y = 0;      ///< centre of the first row
  double pitch = 0;  ///< from one row to the next
};

struct PanelLayout {
  Range x{};
  Range y{};
  Ticks x_ticks{};
  Ticks y_ticks{};
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;
  bool labels_below = true;  ///< tick labels and name of the abscissa
  std::vector<LegendItem> legend{};
  std::vector<Lane> lanes{};
  std::vector<int> colours{};  ///< of each series
};

struct FigureLayout {
  std::vector<PanelLayout> panels{};
  std::vector<std::string> title{}, subtitle{};  ///< by line
  double width = 0;
  double height = 0;
};

[[nodiscard]] FigureLayout layout_of(const Figure& figure);

}  // namespace judder::report
