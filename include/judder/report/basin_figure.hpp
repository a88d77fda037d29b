// Basins of attraction as a picture: a colour for each attractor, the first axis across, the second upwards.
#pragma once

#include <string>
#include <vector>

#include "judder/io/run_head.hpp"
#include "judder/report/figure.hpp"

namespace judder::report {

struct BasinData {
  std::string title, subtitle;
  std::string across, upwards;            ///< names of the axes
  std::vector<double> x, y;               ///< their values, equally spaced
  std::vector<int> labels;                ///< x.size() · y.size(), y changes fastest
  std::vector<std::string> attractors{};  ///< by label, in words
  std::vector<io::ColumnLabel> names{};   ///< what the model says of axes: labels and units
};

[[nodiscard]] Figure basin_figure(const BasinData& data);

}  // namespace judder::report
