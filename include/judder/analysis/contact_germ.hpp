// How the motion of a particle that touches a wall begins, decided by power series.
//
// m Ü + K U = F + R in two components (normal first, wall U_N > 0, signs of the sources), F = Σ f_i t^i, U_N = U̇_N = 0 at t = 0. With U = Σ u_i t^i, R_N = Σ r_i t^i and
// no friction as long as there is no reaction, rank by rank
//
//     m i (i+1) u_{T,i+1} + (K u_{i−1})_T = f_{T,i−1} ,      m (i+1)(i+2) u_{N,i+2} + (K u_i)_N = f_{N,i} + r_i ,
//     u_{N,i+2} ≤ 0 ,  r_i ≤ 0 ,  u_{N,i+2} r_i = 0
//
// and the first pair that is not zero decides: u < 0, the particle leaves; r < 0, it stays in contact. In contact what it does along the wall follows from V_T or,
// from rest, from the *excess* of the force that drives it over the friction that it meets,
//
//     s (F_T − K_T U_T0) − μ |F_N − W U_T0| = Σ e_p t^p ,   s the sign of the first coefficient of F_T − K_T U_T0 :
//
// the first e_p that is not zero tells stick (e_p < 0, or none) or slip in the direction s, with U_T − U_T0 ~ s e_p t^{p+2}/(m (p+1)(p+2)). The thesis and the article
// behind it take p to be the order of the driving force itself; where both sides cancel there (F_T − K_T U_T0 = 1 + t against 1) that begins with t², and the motion with t³.
//
// S. Basseville, thesis, Aix-Marseille II 2004, III.4, Theorem 4.1 and Proposition 3.5. The engines decide by the same rule (mechanics: docs/theory.md).
#pragma once

#include <array>
#include <vector>

namespace judder::analysis {

struct GermProblem {
  double mass = 1;
  double normal_stiffness = 1, coupling = 0, tangential_stiffness = 1;  ///< K_N, W, K_T
  double friction = 0;                                                  ///< μ ≥ 0
  std::vector<double> normal_load, tangential_load;                     ///< f_N, f_T by power of t
  double position = 0, velocity = 0;                                    ///< U_T, U̇_T at t = 0
};

enum class GermStatus { leaves, stick, slip_plus, slip_minus, grazes };
[[nodiscard]] const char* name(GermStatus status);

struct Germ {
  GermStatus status = GermStatus::grazes;
  int order = 0;                ///< leaves: i + 2 of u_N; contact: i of r; grazes: up to which all are zero
  double coefficient = 0;       ///< u_{N,order} or r_order
  int slip_order = 0;           ///< of slip from rest: p + 2
  double slip_coefficient = 0;  ///< of U_T − U_T0 there
};

/// Ranks 0 … max_order are looked at. A coefficient counts as zero below 2^-40 of the sum of the sizes of its terms.
[[nodiscard]] Germ contact_germ(const GermProblem& problem, int max_order = 12);

}  // namespace judder::analysis
