#include "judder/contact/one_step_planar.hpp"

#include <cmath>

namespace judder::contact {

std::optional<PlanarStepResult> solve_planar_step(const PlanarStep& step) {
  const auto [a, b, c, d, q_normal, q_slip, mu] = step;
  if (q_normal >= 0) return PlanarStepResult{StepContact::open, 0, 0, q_slip};
  const double determinant = a * d - b * c;
  double wanted = 0;
  if (determinant > 0) {
    const double normal = (b * q_slip - d * q_normal) / determinant;
    const double tangent = (c * q_normal - a * q_slip) / determinant;
    if (normal >= 0 && std::abs(tangent) <= mu * normal)
      return PlanarStepResult{StepContact::stick, normal, tangent, 0};
    wanted = tangent;
  }
  for (int turn = 0; turn < 2; ++turn) {
    const double s = (wanted > 0) == (turn == 0) ? -1 : 1;
    const double k = a - s * mu * b;
    if (!(k > 0)) continue;
    const double normal = -q_normal / k;
    const double slip = q_slip + (c - s * mu * d) * normal;
    if (s * slip >= 0) return PlanarStepResult{StepContact::slip, normal, -s * mu * normal, slip};
  }
  return std::nullopt;
}

}  // namespace judder::contact
