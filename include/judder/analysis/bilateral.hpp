// A particle held on a line or plane with friction that its own motion feeds, by Picard's iteration.
//
//     m Ü + K U = F_T + R ,   |R| ≤ r(t) ,   R opposes U̇ ,      r = μ |F_N − W·U|
//
// The proof of existence is an algorithm: with r known and the spring taken from the last round, each round is a problem of friction alone, which implicit Euler
// solves step by step,
//
//     V_{i+1} = shrink(V_i + h (F_T − K U)/m , h r/m) ,   shrink(x, a) = max(0, 1 − a/|x|) x ,
//
// and the rounds contract like (c T²)^k/k! with c = (|K| + μ |W| …)/m: they converge for every length of time, though slowly for long ones. What rests, rests exactly.
// Error of the result: first order in the step. S. Basseville, thesis, Aix-Marseille II 2004, III.4, Propositions 3.1 to 3.3 (its constant |K| T of the contraction has to be |K| T²).
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace judder::analysis {

struct BilateralProblem {
  std::size_t dimension = 1;  ///< of the line (1) or plane (2)
  double mass = 1;
  std::vector<double> stiffness;                         ///< dimension², row-major
  std::vector<double> coupling;                          ///< W
  double friction = 0;                                   ///< μ ≥ 0
  std::function<double(double)> normal_load;             ///< F_N(t)
  std::function<void(double, double*)> tangential_load;  ///< F_T(t)
  std::vector<double> position, velocity;                ///< at t = 0
};

struct BilateralOptions {
  double until = 1;          ///< length of time, > 0
  int steps = 1000;          ///< of equal length, ≥ 1
  double tolerance = 1e-13;  ///< change of the velocity from round to round, relative to its largest
  int rounds = 200;          ///< at most
};

struct BilateralMotion {
  bool converged = false;
  std::vector<double> time;                ///< steps + 1
  std::vector<double> position, velocity;  ///< by time, then component
  std::vector<double> reaction;            ///< R over the step that ends at a time; zero at the first
  std::vector<double> changes;             ///< largest change of the velocity in each round
};

[[nodiscard]] BilateralMotion solve_bilateral(const BilateralProblem& problem,
                                              const BilateralOptions& options = {});

}  // namespace judder::analysis
