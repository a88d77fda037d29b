// Does a pair (U, R) solve the problem of a particle against a wall with friction, impact included?
//
//     m Ü + K U = F + R   in the sense of measures,     U_N ≤ 0 ,  R_N ≤ 0 ,  U_N R_N = 0
//     U_N = 0  ⇒  U̇_N⁺ = −e U̇_N⁻ ,                     Coulomb's law between R and the slip velocity after, U̇_T⁺
//
// R is a density and a sum of atoms Σ P δ(t − t_i); the wall is U_N > 0, the first component is the normal one, as the sources write it. A candidate is a list of
// pieces that follow each other, smooth inside, with what jumps at the beginning of each. Nothing is solved here: velocities, positions and reactions of the candidate
// are compared with each other by quadrature and by the laws, piece by piece. The friction law is that of contact/coulomb_forms.hpp, in the worst of its five forms.
//
// Every residual is relative to the sizes of its own piece (its largest speed, load and reaction, its length), so pieces that shrink to nothing count as much as the
// first. S. Basseville, thesis, Aix-Marseille II 2004, I.2.5 (problem P_u).
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace judder::analysis {

struct MeasureProblem {
  std::size_t dimension = 1;  ///< components of U, the normal one first
  double mass = 1;
  std::vector<double> stiffness;              ///< dimension × dimension, row-major; empty: none
  double friction = 0;                        ///< μ ≥ 0
  double restitution = 0;                     ///< e in [0, 1]
  std::function<void(double, double*)> load;  ///< F(t)
};

/// A stretch of time in which a candidate is smooth. Functions get the time within the piece, [0, length].
struct CandidatePiece {
  double begin = 0;
  double length = 0;
  std::function<void(double, double*)>
      load;  ///< F of the problem on this piece, from its beginning; null: MeasureProblem::load
  std::function<void(double, double*)> position;  ///< U
  std::function<void(double, double*)> velocity;  ///< U̇, at the beginning the limit from the right
  std::function<void(double, double*)> density;   ///< of R; null: zero
  std::vector<double> impulse;                    ///< atom of R at the beginning; empty: none
  std::vector<double> cuts;  ///< times inside where a derivative is large or jumps: quadrature is cut there
};

/// Residuals by law, each the largest over all pieces, with the piece where it is.
struct MeasureResiduals {
  struct One {
    double value = 0;
    std::size_t piece = 0;
  };
  One motion;  ///< m ΔU̇ = ∫(F − K U) + R, and U = ∫U̇, from the beginning of a piece to each of its points, and over the jumps
  One admissible;  ///< U_N ≤ 0
  One reaction;    ///< R_N ≤ 0, and R = 0 where U_N < 0
  One impact;      ///< the law of restitution where U_N = 0
  One friction;    ///< Coulomb's law of densities and atoms
  [[nodiscard]] double largest() const;
};

/// `points`: evaluations per part of a piece between its cuts, 8 to 1000. The velocity before the first piece is that after it.
[[nodiscard]] MeasureResiduals check_measure_problem(const MeasureProblem& problem,
                                                     const std::vector<CandidatePiece>& candidate,
                                                     int points = 12);

}  // namespace judder::analysis
