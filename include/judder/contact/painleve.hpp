// Painlevé's paradoxes: a slipping contact seen alone.
//
// All other active rows (closed contacts, bilateral rows, sticking slips) are eliminated; a closed contact that slips
// brings its friction with it. What is left is one normal and one tangential row,
//
//     a_N = A_NN λ_N + A_NT λ_T + b_N ,     λ_T = −μ s λ_N      ⇒      a_N = k λ_N + b_N ,   k = A_NN − μ s A_NT
//
//     unilateral      k > 0          one answer: slips on with λ_N = −b_N/k, or lifts off
//     (λ_N ≥ 0)       k < 0, b_N < 0 none: inconsistent            k < 0, b_N > 0    two: indeterminate
//                     k = 0, b_N < 0 dynamic jam: reactions grow without bound as k → 0
//
//     bilateral       λ_T = −μ s |λ_N|: (A_NN ∓ μ s A_NT) λ_N = −b_N on the pressed sides ±; exactly one answer for every
//     (any λ_N)       b_N if and only if μ |A_NT| < A_NN; otherwise none or two
//
// A factor k that is zero but for rounding (a part 1e-13 of the sum of its terms) is zero.
//
// P. Painlevé, Sur les lois du frottement de glissement, C. R. Acad. Sci. 121 (1895); F. Génot, B. Brogliato, New results on
// Painlevé paradoxes, Eur. J. Mech. A/Solids 18 (1999). docs/theory.md, "Painlevé".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "judder/contact/decision.hpp"
#include "judder/contact/impact_path.hpp"

namespace judder::contact {

enum class SlidingCase : std::uint8_t {
  slides,         ///< one answer, the contact presses
  lifts_off,      ///< one answer, the contact opens
  inconsistent,   ///< no answer
  indeterminate,  ///< two answers
  jam,            ///< k = 0 and the contact is pressed together
};
/// "slides", "lifts off", "inconsistent", "indeterminate", "dynamic jam".
[[nodiscard]] const char* name(SlidingCase sliding);

/// True for the two cases in which Coulomb's law and rigid contact have exactly one answer.
[[nodiscard]] constexpr bool regular(SlidingCase sliding) {
  return sliding == SlidingCase::slides || sliding == SlidingCase::lifts_off;
}

/// One normal row with its slip after the elimination of all others.
struct SlidingContact {
  NormalKind kind = NormalKind::unilateral;
  double A_NN = 0, A_NT = 0, A_TN = 0, A_TT = 0;
  double b_N = 0, b_T = 0;  ///< free accelerations of both rows
  double mu = 0;            ///< coefficient of the slip times its coupling to the normal row
  int direction = 0;        ///< s: sign of the slip
  double k = 0;             ///< A_NN − μ s A_NT; bilateral: A_NN − μ |A_NT|
  SlidingCase sliding = SlidingCase::slides;
  /// By row: reaction of the other rows per unit reaction of the normal row, then of the tangential row (2 n).
  std::vector<double> share;

  /// The impulse path from these velocities.
  [[nodiscard]] PathProblem path(double normal_before, double tangent_before) const {
    return {A_NN, A_NT, A_TN, A_TT, normal_before, tangent_before, mu};
  }
};

/// The case of given numbers; `k_scale` is the sum of the absolute terms of k.
[[nodiscard]] SlidingCase unilateral_case(double k, double b, double k_scale);
[[nodiscard]] SlidingCase bilateral_case(double A_NN, double A_NT, double b, double mu, int direction);

/// Looks at normal row `normal` and tangential row `tangent` (numbered from 0 among the tangential rows) alone. `mode` says
/// what the other rows do; rows that are open or free take no part. Bilateral rows whose pressed side the mode does not
/// name bring no friction of their own. Dependent rows are left out. The direction is that of `mode`.
[[nodiscard]] SlidingContact sliding_contact(const DecisionProblem& problem, std::span<const RowStatus> mode,
                                             int normal, int tangent);

}  // namespace judder::contact
