// Klarbring's particle: a mass in a coupled spring, pressed against a rough wall, and what can be said of it in closed form.
//
//     m U″ + K U = F + R ,   K = (K_N W; W K_T) ,   U_N ≤ 0 ,  R_N ≤ 0 ,  |R_T| ≤ −μ R_N ,  inelastic impacts
//
// With A = K_T F_N − W F_T, k₋ = K_T − μ W, k₊ = K_T + μ W: the wall is left at the tip of the cone, U_T = F_N/W. Slip towards it obeys
// m U_T″ + k₋ (U_T − c) = 0, slip away from it the same with k₊; flights are two harmonic modes. For A = 0 motion about the tip is
// homogeneous: its size does not matter, and successive passages of the tip form a geometric sequence.
//
// S. Basseville, thesis, Aix-Marseille II 2004, IV.3, with the corrections told in docs/equilibria.md.
#pragma once

#include <optional>

#include "judder/analysis/equilibria.hpp"

namespace judder::analysis {

/// The numbers of Klarbring's particle that a rest problem is, or nothing. Signs of Basseville: the wall occupies UN > 0.
struct KlarbringNumbers {
  double m = 0, KN = 0, W = 0, KT = 0, FN = 0, FT = 0, mu = 0;
  bool mirrored = false;  ///< the tangential direction is turned so that W ≥ 0
  [[nodiscard]] double A() const { return KT * FN - W * FT; }
};
[[nodiscard]] std::optional<KlarbringNumbers> klarbring_numbers(const RestProblem& rest);

/// Critical values of such a particle (Basseville 4.2 and 4.3, corrected). `normal` = −R_N of the rest at which a push along the wall begins.
struct StopBeforeTip {
  double forward =
      0;  ///< the push towards the tip of the cone below which it stops before; 0 where any push reaches it
  double backward =
      0;  ///< the push the other way whose return swing just reaches the tip; infinite: none does
};
[[nodiscard]] StopBeforeTip stop_before_tip(const KlarbringNumbers& k, double normal);
/// The coefficients and tangential loads at which families appear, vanish or change type: μ = K_T/W, and F_T = K_T F_N/W (A = 0).
struct TypeChange {
  double mu = 0, pull = 0;
};
[[nodiscard]] TypeChange type_change(const KlarbringNumbers& k);

/// What follows a passage of the tip, for A = 0.
struct TipReturn {
  enum class Kind : std::uint8_t {
    returns,  ///< to the tip, with `ratio` times the speed, after `duration`
    rests,    ///< before the tip, after `duration`
    hops  ///< for ever, landing at rest beyond the tip each time: equal times `duration`, sizes shrinking by `ratio`
  } kind = Kind::rests;
  double ratio = 0;
  double duration = 0;
  int landings = 0;     ///< until then; of hops until they begin
  double farthest = 0;  ///< from the tip along the wall, over the speed; for hops up to where they begin
};
[[nodiscard]] TipReturn tip_return(const KlarbringNumbers& k);

}  // namespace judder::analysis
