// A bifurcation diagram as a figure: section points over the parameter. The axis is the range that was gone over, also where there are no points.
// Few points are drawn larger; more than 20 000 of them become a picture of cells.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judder/io/run_head.hpp"
#include "judder/report/figure.hpp"

namespace judder::report {

struct DiagramData {
  std::string title, parameter, quantity, subtitle;
  /// Points of each group: "up" and "down", or one without a name.
  struct Group {
    std::string name;
    std::vector<double> x, y;
  };
  std::vector<Group> groups;
  std::optional<double> from{}, to{};    ///< the range that was gone over; absent: that of the points
  std::vector<io::ColumnLabel> names{};  ///< what the model says of axes: labels and units
};

[[nodiscard]] Figure diagram_figure(const DiagramData& data);

}  // namespace judder::report
