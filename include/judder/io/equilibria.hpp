// Rest states (analysis/rest_survey.hpp) in words, as JSON and as a table of their points.
//
// The table has one row per vertex and ray of each family, and per isolated rest:
//
//     family, point ("rest", "vertex", "ray", "inside", "side"), coordinates, then by contact: status, normal, tangent, gap
#pragma once

#include <string>
#include <vector>

#include "judder/analysis/family_changes.hpp"
#include "judder/analysis/impacts.hpp"
#include "judder/analysis/rest_survey.hpp"

namespace judder::io {

[[nodiscard]] std::string equilibria_text(const analysis::RestSurvey& survey);
/// `model`: its file, as named.
[[nodiscard]] std::string equilibria_json(const analysis::RestSurvey& survey, const std::string& model);
/// Where families change over a parameter.
[[nodiscard]] std::string family_changes_text(const analysis::FamilyChanges& changes,
                                              const analysis::Sweep& sweep);
[[nodiscard]] std::string family_changes_json(const analysis::FamilyChanges& changes,
                                              const analysis::Sweep& sweep);
[[nodiscard]] std::string equilibria_csv(const analysis::RestSurvey& survey);

}  // namespace judder::io
