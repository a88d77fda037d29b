// Impact of one planar contact, followed through the impact with the normal impulse P as the independent
// variable.
//
//     γ_N(P) = γ_N⁻ + A_NN P + A_NT Q(P)        γ_T(P) = γ_T⁻ + A_TN P + A_TT Q(P)
//
// Coulomb's law holds at every instant: while the contact slips in direction s, dQ/dP = −μ s; when the slip
// velocity comes to zero it stays there with dQ/dP = −A_TN/A_TT if the static coefficient allows that much,
// otherwise it reverses. With a constant μ the path in the (P, Q) plane has at most two straight pieces, and γ_N
// and γ_T are linear in P along each. With a μ that follows the slip, dQ/dP = −s μ(|γ_T|) is integrated (extrapolated
// linearly implicit Euler steps, which a steep arctan law needs; local error 1e-12) and its events are located by
// repeating the step. Where μ jumps at a slip speed, and friction drives the slip towards this speed from both sides, the slip keeps this speed, with a μ between the two values. A piece on which γ_N falls although the contact is pressed (a jam, the impact form of
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
// With a constant μ it costs tens of nanoseconds; nothing is allocated. `moreau` is not a path law (impact.hpp) and is treated as
// `newton`.
//
// E. J. Routh, Dynamics of a System of Rigid Bodies (1905); W. J. Stronge, Rigid body collisions with
// friction, Proc. R. Soc. A 431 (1990). The hypotheses: Zabuga 2017, 1.4 and chapter 2. docs/theory.md, "Impacts".
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "judder/contact/impact.hpp"

namespace judder::contact {

/// The coefficient of one contact along its path.
class PathFriction {
 public:
  PathFriction() = default;
  PathFriction(const PathFriction&) = delete;
  PathFriction& operator=(const PathFriction&) = delete;
  virtual ~PathFriction() = default;
  /// μ of the slip with `speed` ≥ 0 in the direction ±1, after the impulses P and Q.
  [[nodiscard]] virtual double coefficient(double speed, int direction, double P, double Q) = 0;
};

/// One contact with one slip. A need not be symmetric.
struct PathProblem {
  double A_NN = 1;  ///< > 0
  double A_NT = 0;
  double A_TN = 0;
  double A_TT = 1;            ///< > 0
  double normal_before = 0;   ///< γ_N⁻; a contact that separates gets no impulse
  double tangent_before = 0;  ///< γ_T⁻
  double mu = 0;              ///< ≥ 0
  double mu_static = std::numeric_limits<double>::quiet_NaN();  ///< while stuck; NaN: as mu
  PathFriction* friction = nullptr;                             ///< null: mu is constant
};

/// A piece of the path by its end; straight where μ is constant.
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
  double area = 0;             ///< ∫ Q dP: with it the work of every row that follows P and Q linearly
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
  int contact = -1;   ///< normal row
  int slip = -1;      ///< tangential row, from 0; −1: without friction
  bool held = false;  ///< by constraints altogether: no impulse moves it
};
[[nodiscard]] std::optional<SingleContact> single_contact(const ImpactProblem& problem,
                                                          ImpactWorkspace& workspace);

/// The inelastic path from γ_N = 0 with slip. Zero impulse where the contact does not jam.
[[nodiscard]] PathResult tangential_impact(const PathProblem& problem);

/// The same where k = A_NN − μ s A_NT is zero but for the error of the state: along the slip no impulse moves the normal, so the impulse that
/// stops the slip is the one that leaves both velocities at zero.
[[nodiscard]] PathResult jam_impact(const PathProblem& problem);

}  // namespace judder::contact
