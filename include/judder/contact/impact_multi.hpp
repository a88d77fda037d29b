// Simultaneous impacts of several contacts by laws that follow the impact.
//
// `poisson_impact`: compression is Moreau's problem with e = 0 and gives Λᶜ; expansion starts from its
// velocities and gives Λᵉ with
//
//     γ_N⁺ ≥ 0   ⟂   Λᵉ_N ≥ e Λᶜ_N          |Λᵉ_T| ≤ μ Λᵉ_N, Coulomb with the slip velocity after
//
// `stronge_impact`: impulses grow together in the proportion in which elastic contacts would press (Liu,
// Zhao, Brogliato):
//
//     dΛ_j/dΛ_i = (k_j/k_i)^{1/(η+1)} (E_j/E_i)^{η/(η+1)}
//
// E the energy stored at the contact: all of the work of compression, and 1/e² times what may still be
// returned during expansion, so that each contact ends its expansion when it has returned e² of what it
// stored. k are relative stiffnesses, η the exponent. Contacts may be compressed again. Coulomb's law holds
// along the path for all slips at once; bilateral rows follow. With E = k δ^{η+1}/(η+1) the rule becomes dΛ
// = k δ^η dτ, dδ = −γ_N dτ (compression) or −γ_N/e² dτ (expansion), which is regular at E = 0, where the
// rule has the linear limit dΛ_j/dΛ_i = (k_j/k_i) (γ_j/γ_i)^η. This form is integrated by extrapolation
// with located events: end of compression and expansion, slip stops, starts, reverses. Its result does not
// depend on the absolute stiffness. Energy never rises.
//
// Restitutions below 1e-3 are zero here: the contact lets go at the end of its compression. A contact that
// has let go and is approached again is compressed from zero at once; the law knows no gaps of the size of
// the deformation. Bodies wedged between contacts that all press and do not move have ended their impact
// with energy still stored; between contacts with e = 1 they may vibrate for ever (`not_finished`). Neither
// form reduces to the impulse path of one contact where slip reverses within the impact; `stronge_impact`
// does for one contact.
//
// C. Liu, Z. Zhao, B. Brogliato, Frictionless multiple impacts in multibody systems, Proc. R. Soc. A 464
// (2008), 465 (2009); F. Pfeiffer, C. Glocker, Multibody Dynamics with Unilateral Contacts (1996), chapter
// 8. docs/theory.md, "Impacts".
#pragma once

#include "judder/contact/impact.hpp"

namespace judder::contact {

/// Compression and expansion for all rows at once; reads the restitution of each law.
[[nodiscard]] ImpactResult poisson_impact(const ImpactProblem& problem, const ImpactOptions& options,
                                          ImpactWorkspace& workspace);

/// The energetic law for all rows at once; reads restitution, stiffness and exponent of each law.
[[nodiscard]] ImpactResult stronge_impact(const ImpactProblem& problem, const ImpactOptions& options,
                                          ImpactWorkspace& workspace);

}  // namespace judder::contact
