// A linear system under load, written as one autonomous system.
//
//     ẋ = A x + b(t),    b(t) = Σ t^k e^{σt} (c cos ωt + s sin ωt)
//
// A load of this kind is the output of a linear system of its own: with w_k = t^k/k! e^{σt} cos ωt and z_k
// likewise with sin,
//
//     ẇ_k = w_{k−1} + σ w_k − ω z_k,     ż_k = z_{k−1} + σ z_k + ω w_k,
//
// so x̂ = (x, w, z, …) obeys dx̂/dt = Â x̂ with Â constant, and exp(Â h) is the exact solution with load,
// particular solution, resonance and all. Terms with the same σ and ω share their chain; a constant load is
// the chain of one state with σ = ω = 0. The load's states at the start of a phase are computed from their
// formula, never carried over, so that errors of earlier phases cannot grow in them.
#pragma once

#include <span>
#include <vector>

namespace judder::engines::numeric {

struct LoadTerm {
  int power = 0;                 ///< k ≥ 0
  double rate = 0;               ///< σ, 1/s
  double frequency = 0;          ///< ω ≥ 0, 1/s
  std::vector<double> cosine{};  ///< c: one value per state, or empty for zero
  std::vector<double> sine{};    ///< s: one value per state, or empty for zero; ignored when ω = 0
};

class LinearMotion {
 public:
  /// a: n × n, row-major. Allocates.
  void build(int n, const double* a, std::span<const LoadTerm> loads);

  [[nodiscard]] int states() const { return n_; }
  [[nodiscard]] int size() const { return size_; }  ///< of x̂
  [[nodiscard]] const double* matrix() const { return matrix_.data(); }

  /// Index in x̂ of w_k, k = power, of the load with this rate and frequency; z_k follows it where ω ≠ 0. −1: there is no such load.
  [[nodiscard]] int load_state(int power, double rate, double frequency) const;

  /// x̂ at time t from x: copies x and evaluates the load's states.
  void start(double t, const double* x, double* augmented) const;

 private:
  struct Chain {
    double rate;
    double frequency;
    int powers;  ///< 0 … powers − 1
    int first;   ///< index of w_0; harmonic chains alternate w, z
  };
  [[nodiscard]] static int width(const Chain& chain) { return chain.frequency == 0 ? 1 : 2; }

  int n_ = 0;
  int size_ = 0;
  std::vector<double> matrix_;
  std::vector<Chain> chains_;
};

}  // namespace judder::engines::numeric
