// The linear system that holds near a rest as long as statuses do not change.
//
//     M q″ + C q′ + K q = P λ + f ,   wᵀ q = 0 for what is held
//
// Held: constraints, closed contacts, stuck rows. What slides (steadily, or imminently where that is asked for) has λ_T = −σ μ L, which makes
// K and P of λ_N: K is no longer symmetric.
#pragma once

#include <complex>
#include <vector>

#include "judder/analysis/equilibria.hpp"

namespace judder::analysis {

struct SlipMode {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t n = 0;
  std::vector<double> stiffness, damping;    ///< n × n, with the friction of what slides
  std::vector<double> held;                  ///< independent rows w, n each
  std::vector<double> force;                 ///< their columns P, n each
  std::vector<std::size_t> normal, tangent;  ///< by relation: place of its reaction behind q, kNone: none
  std::size_t freedom = 0;
  bool dependent = false;  ///< some held row follows from the others: reactions are not unique

  /// (q, λ) for the n unit loads, columns: rows (n + held) × n. False: a direction is not held by anything.
  [[nodiscard]] bool static_answer(const RestProblem& rest, std::vector<double>& answer) const;
  /// By falling real part; empty: none, or no convergence.
  [[nodiscard]] std::vector<std::complex<double>> eigenvalues(const RestProblem& rest) const;
};

/// `scale` multiplies the coefficients of what slides. `let_go`: imminent rows slip in their direction instead of being held.
[[nodiscard]] SlipMode slip_mode(const RestProblem& rest, const RestState& state, double scale, bool let_go);

}  // namespace judder::analysis
