// How safe a rest is: what moves it, and what becomes of it after a small push.
//
// Load margin: the largest r such that every constant change f of the load with √(fᵀM⁻¹f) ≤ r keeps all statuses (what is free to move
// follows f as its springs let it; with mass m times the unit matrix it is √m times the distance of the reaction to the border of the cone).
// For a force of the model: how much may be added and taken away. Where reactions are not unique both are lower bounds.
//
// Stability, in the sense of Lyapunov, of the position under small velocities (a small displacement of what is stuck is another rest):
//
//     theorem      one contact, two coordinates of equal inertia, no damping, inelastic impact, K symmetric and positive: the corrected
//                  tables of Basseville (IV.3) and Petcoviciu (4.3), with A = K_T F_N − W F_T and μ against K_T/W
//     energy       joints with constant limits of friction, no closed contact, K symmetric: friction is monotone, and neither does the
//                  distance to the rest in the norm of the energy grow nor can strictly stuck joints be moved far
//     linearised   steady sliding, or slip that is imminent at one place: eigenvalues of M q″ + C q′ + K q = P λ, wᵀq = 0, with the friction
//                  λ_T = −σ μ (L + …) in K, so that K is not symmetric; flutter (a complex pair) and divergence (a real one). The coefficient at which it
//                  begins is found by scaling μ of what slides.
//     slip onset   held by the static coefficient alone: any push in the direction of the pull sets it going
//     experiment   nothing of this applies; analysis/perturbation.hpp measures
//
// A rest at which the laws of contact allow another motion to begin at once (several contacts, large friction) is ambiguous. All these
// motions are listed, and none of the above calls such a rest stable.
#pragma once

#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "judder/analysis/equilibria.hpp"
#include "judder/analysis/klarbring.hpp"
#include "judder/model/compile.hpp"

namespace judder::analysis {

enum class Stability : std::uint8_t { asymptotic, lyapunov, unstable, open };
enum class Basis : std::uint8_t { theorem, energy, linearised, onset, experiment };
[[nodiscard]] const char* name(Stability stability);
[[nodiscard]] const char* name(Basis basis);

/// A force of the model: what one unit of it adds to h.
struct NamedForce {
  std::string name;
  std::vector<double> direction;
};
/// The forces of a model that are written without `each`. Compiles it once for each of them, at most `most`.
[[nodiscard]] std::vector<NamedForce> named_forces(const model::Spec& spec,
                                                   const model::CompileOptions& options,
                                                   const RestProblem& rest, std::size_t most = 32);

struct ForceMargin {
  std::string name;
  double less = 0, more = 0;  ///< what may be taken away and added, ≥ 0; may be infinite
};

struct RestJudgement {
  Stability stability = Stability::open;
  Basis basis = Basis::experiment;
  std::string why;  ///< one sentence
  double margin = 0;
  std::string margin_at;  ///< what gives way first: "slip+ of wall", "lift-off of wall"
  bool margin_is_bound = false;
  std::vector<ForceMargin> forces;
  /// Of steady sliding, or of the slip that is imminent; by falling real part; empty where nothing slides.
  std::vector<std::complex<double>> eigenvalues;
  std::optional<double>
      critical_scale;  ///< of the coefficients of what slides, at which it becomes unstable or stable
  std::optional<double> critical_mu;  ///< the coefficient there, where one place slides
  bool flutter = false;               ///< there, a complex pair crosses
  bool ambiguous = false;
  std::vector<std::string> other_modes;  ///< "left open, right slip+"
};

[[nodiscard]] RestJudgement judge(const RestProblem& rest, const RestState& state,
                                  const std::vector<NamedForce>& forces = {}, double restitution = 0);

}  // namespace judder::analysis
