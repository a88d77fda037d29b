// Whether an impact has a solution, found by trying all of its modes: another way than that of the engines, and nothing of their solvers.
//
//     γ⁺ = γ⁻ + A Λ ,   γ_N⁺ + e min(γ_N⁻, 0) ≥ 0  ⟂  Λ_N ≥ 0 ,   γ⁺ = 0 of constraints ,   −Λ_T ∈ μ L ∂|γ_T⁺| ,   L = Σ f |Λ_N|
//
// Each contact is open or struck, each slip stops or goes on to either side, each constraint pushes or pulls: one linear problem for each choice.
// Rest may be held by the larger of the coefficients at rest and in motion, so "none" is said only where no reading of the law leaves a solution.
#pragma once

#include "judder/engines/engine.hpp"

namespace judder::hunt {

enum class ImpactModes {
  some,     ///< a mode satisfies everything
  none,     ///< each mode is refuted, by more than rounding
  unknown,  ///< another law than Moreau's or Newton's, or too many modes
};

/// The impact that `moment` stands before, of all contacts whose gap is closed there.
[[nodiscard]] ImpactModes impact_modes(const model::System& system, const engines::Moment& moment);

}  // namespace judder::hunt
