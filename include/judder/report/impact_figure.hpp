// The impulse paths of a collision in the (I_N, I_T) plane.
//
// One panel per contact with friction: the friction cone |I_T| ≤ μ I_N, and for each law its impulse from the start to the
// end of the impact. For one planar contact the pieces of the path (slip, stick, reversal) are drawn with the lines on which
// the slip velocity is zero (sticking) and the normal velocity is zero (maximum compression):
//
//     γ_T⁻ + A_TN I_N + A_TT I_T = 0           γ_N⁻ + A_NN I_N + A_NT I_T = 0
//
// Signs are those of the impulses on the slip and gap velocities.
#pragma once

#include <optional>
#include <string>

#include "judder/analysis/impacts.hpp"
#include "judder/report/figure.hpp"

namespace judder::report {

/// Nothing where no law gives a contact with friction an impulse.
[[nodiscard]] std::optional<Figure> impact_figure(const analysis::Impacts& impacts, const std::string& title);

}  // namespace judder::report
