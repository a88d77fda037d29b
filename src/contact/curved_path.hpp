// The impulse path of one contact whose friction coefficient follows its slip (impact_path.hpp).
#pragma once

#include "judder/contact/impact_path.hpp"

namespace judder::contact {

/// `problem.friction` gives μ. Ends as the law says; from γ_N⁻ = 0 the root at zero impulse is skipped.
[[nodiscard]] PathResult follow_curved_path(const PathProblem& problem, ImpactType type, double restitution);

}  // namespace judder::contact
