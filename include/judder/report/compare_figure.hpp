// A comparison of engines as a figure: errors over the step, and over what they cost.
//
// One curve per engine that was run with several steps, both axes logarithmic: an order is a slope. Engines with fixed steps alone have a second curve, of their
// velocities (analysis/compare.hpp). Engines that were run with tolerances stand in the second panel.
#pragma once

#include <string>

#include "judder/analysis/compare.hpp"
#include "judder/report/figure.hpp"

namespace judder::report {

[[nodiscard]] Figure compare_figure(const analysis::Comparison& comparison, const std::string& title);

}  // namespace judder::report
