// Rest states in the plane of reactions: for each contact the cone of friction, the reactions of all rests, and where they end.
//
// Signs are those of the model: λ_N ≥ 0 upwards, λ_T to the side. A family of one dimension is a line from end to end (an arrow's length beyond
// the last vertex where it has no end), one of more dimensions the hull of its vertices. With experiments, the paths of the reactions after a push are drawn too, and
// below them the offset of each coordinate over time.
#pragma once

#include <string>

#include "judder/analysis/rest_survey.hpp"
#include "judder/report/figure.hpp"

namespace judder::report {

/// No panels: no contact or joint of the model has a reaction to show.
[[nodiscard]] Figure equilibria_figure(const analysis::RestSurvey& survey, const std::string& title);

}  // namespace judder::report
