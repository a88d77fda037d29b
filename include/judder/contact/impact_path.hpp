// Impact of one planar contact, followed through the impact with the normal impulse P as the independent
// variable.
//
//     γ_N(P) = γ_N⁻ + A_NN P + A_NT Q(P)        γ_T(P) = γ_T⁻ + A_TN P + A_TT Q(P)
//
// Coulomb's law holds at every instant: while the contact slips in direction s, dQ/dP = −μ s; when the slip
// velocity comes to zero it stays there with dQ/dP = −A_TN/A_TT if that is at most μ, otherwise it
// reverses. So the path in the (P, Q) plane has at most two straight pieces. Along a piece γ_N and γ_T are
// linear in P. A piece on which γ_N falls although the contact is pressed (a jam, the impact form of
// Painlevé's paradox) ends because the slip stops; compression ends at the root of γ_N after it. The impact
// ends
//
//     newton     where γ_N = −e γ_N⁻                                  (Kane, Levinson, Whittaker)
//     poisson    at (1 + e) times the impulse of compression          (Routh)
//     stronge    where restitution has returned e² of the work of compression
//
// All agree for e = 0, for central impact (A_NT = 0), without friction, and where slip neither stops nor
// reverses. `newton` can gain energy; the others cannot. With a tangential restitution λ the path is the
// straight line that ends at γ_T = λ γ_T⁻; there the three laws agree, and energy can rise.
//
// `tangential_impact` resolves Painlevé's paradox: a slipping contact with γ_N = 0 that no finite reaction
// can hold receives the inelastic impulse that stops its slip; the root at zero impulse is skipped.
//
// Costs tens of nanoseconds, allocates nothing. `moreau` is not a path law (impact.hpp) and is treated as
// `newton`.
//
// E. J. Routh, Dynamics of a System of Rigid Bodies (1905); W. J. Stronge, Rigid body collisions with
// friction, Proc. R. Soc. A 431 (1990). Zabuga 2017, 2.5; mechanics.md 4, 5.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "judder/contact/impact.hpp"

namespace judder::contact {

/// One contact with one slip. A need not be symmetric.
struct PathProblem {
  double A_NN = 1;  ///< > 0
  double A_NT = 0;
  double A_TN = 0;
  double A_TT = 1;            ///< > 0
  double normal_before = 0;   ///< γ_N⁻; a contact that separates gets no impulse
  double tangent_before = 0;  ///< γ_T⁻
  double mu = 0;              ///< ≥ 0
};

/// A straight piece of the path, by its end.
struct PathPiece {
  RowStatus status = RowStatus::stick;  ///< slip_plus, slip_minus, stick; free without friction
  double normal_impulse = 0;            ///< P at the end
  double tangential_impulse = 0;        ///< Q at the end
  double normal_velocity = 0;           ///< γ_N at the end
  double tangential_velocity = 0;       ///< γ_T at the end
  bool compression = false;             ///< before the end of compression
};

struct PathResult {
  ImpactStatus status = ImpactStatus::solved;  ///< or no_solution: γ_N falls for ever, A is not definite
  double normal_impulse = 0;
  double tangential_impulse = 0;
  double normal_after = 0;
  double tangent_after = 0;    ///< exactly 0 after stick
  double normal_work = 0;      ///< ∫ γ_N dP
  double tangential_work = 0;  ///< ∫ γ_T dQ ≤ 0 under Coulomb's law
  double compression_impulse = 0;
  double energy_change = 0;          ///< the sum of both works
  RowStatus slip = RowStatus::free;  ///< at the end of the impact
  int pieces = 0;
  std::array<PathPiece, 4> piece{};
};

[[nodiscard]] PathResult path_impact(const PathProblem& problem, const ImpactLaw& law);

/// An impact of one unilateral contact with at most its own slip, all other rows bilateral and without friction, after these
/// have been eliminated. Nothing for an impact of any other kind.
struct SingleContact {
  PathProblem path;
  int contact = -1;  ///< normal row
  int slip = -1;     ///< tangential row, from 0; −1: without friction
};
[[nodiscard]] std::optional<SingleContact> single_contact(const ImpactProblem& problem,
                                                          ImpactWorkspace& workspace);

/// The inelastic path from γ_N = 0 with slip. Zero impulse where the contact does not jam.
[[nodiscard]] PathResult tangential_impact(const PathProblem& problem);

}  // namespace judder::contact
