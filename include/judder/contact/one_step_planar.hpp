// One planar contact alone in a one-step problem, in closed form.
//
//     u_N = a r_N + b r_T + q_N ,   u_T = c r_N + d r_T + q_T ,   0 ≤ u_N ⟂ r_N ≥ 0 ,   −r_T ∈ μ r_N Sign(u_T)
//
// Four branches: take-off if q_N ≥ 0; stick if its impulse lies in the cone; slip to the side on which the impulse of stick leaves the cone, else to the
// other. Each slip is taken only if its velocity has its sign: where a ≤ μ |b| the branch whose limit stick exceeds may be no solution while the other one
// is. There the problem may have several solutions (one_step_all.hpp), of which this order gives one: take-off, stick, slip.
//
// A. Basseville, thesis, Marseille 2004, II.3 and II.4; O. Petcoviciu, thesis, Timișoara 2010, 3.2 and annex IV (whose slips are exchanged there).
#pragma once

#include <optional>

#include "judder/contact/one_step.hpp"

namespace judder::contact {

struct PlanarStep {
  double a = 0, b = 0, c = 0, d = 0;  ///< W by rows
  double q_normal = 0, q_slip = 0;
  double mu = 0;
};

struct PlanarStepResult {
  StepContact status = StepContact::open;
  double normal = 0, tangent = 0;  ///< impulses
  double slip = 0;                 ///< u_T, exactly zero in stick
};

/// Nothing where no branch is a solution.
[[nodiscard]] std::optional<PlanarStepResult> solve_planar_step(const PlanarStep& step);

}  // namespace judder::contact
