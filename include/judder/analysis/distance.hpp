// How far two motions of one model lie apart, in the norm that friction can only shrink.
//
//     d² = Δvᵀ M Δv + Δqᵀ K Δq ,     K = ∂²V/∂q∂q
//
// Where M and K are constant, K has no negative direction, and friction is monotone (its force does not fall when the slip grows: Coulomb's law with one coefficient, a
// damper, a belt under such a law), two motions under the same load satisfy d(d²)/dt = 2 ΔvᵀΔλ ≤ 0: they never part, and there is only one from each start. A static
// coefficient above the dynamic one, or friction that falls with speed, breaks this: then the distance may grow, and by how much is measured. Impacts and unilateral contacts are not
// monotone in this sense. S. Basseville, thesis, Aix-Marseille II 2004, III.4; O. Petcoviciu, Sebeș 2011.
#pragma once

#include <string>
#include <vector>

#include "judder/core/status.hpp"
#include "judder/engines/engine.hpp"
#include "judder/model/system.hpp"

namespace judder::analysis {

struct Distances {
  Status status;  ///< of the run that did not end well, or why there is no such norm
  std::vector<double> time, distance;
  double largest_rise = 0;  ///< the most by which the distance exceeds an earlier one
};

/// Runs of two systems of one model that differ in their starts, with the engine of that name, compared at the sample times of `options`. Refused where M or K is not
/// constant, K not symmetric, or where the model has states, unilateral contacts or constraints.
[[nodiscard]] Distances distance_of_motions(const model::System& one, const model::System& other,
                                            const std::string& engine, const engines::EngineOptions& options);

}  // namespace judder::analysis
