// One trial step of Radau IIA, order 5: the implicit method for stiff systems.
//
//     ẏ = f(t, y):   z_i = h Σ_j a_ij f(t + c_j h, y₀ + z_j),  i = 1, 2, 3,     y₁ = y₀ + z₃
//
// A-stable, stiffly accurate and damping at infinity: springs of 1e9 N/m beside soft ones, ratios of time
// constants of 1e6 and more. The 3n equations are solved by simplified Newton iteration. The eigenvectors of
// the inverse of (a_ij) split each iteration into one real and one complex system of n equations,
//
//     (γ/h − J) Δw₁ = r₁,     ((α + iβ)/h − J)(Δw₂ + iΔw₃) = r₂ + i r₃,      J = ∂f/∂y,
//
// whose factors are kept while h and J stay. J stays while the iteration contracts by 1e-3 or better. First
// guess: the previous step's polynomial, continued.
//
// Error estimate: difference to an embedded solution of order 3, filtered through (γ/h − J)⁻¹; falls with h⁴.
// Dense output: the collocation polynomial of degree 3, exact at both ends, error of the size of the
// estimate.
//
// Quadratures (components behind the first n that do not feed back) are integrated with the same collocation
// formula and take no part in Newton's iteration or in J; their error estimate is the same with J = 0.
//
// Right-hand side: `bool rhs(double t, const double* y, double* dydt)` as for ExplicitStepper. If it also has
// `bool jacobian(double t, const double* y, double* J)` (n × n, row-major) that is used, otherwise J comes
// from differences with increments √ε · max(|y_j|, |h f_j|, typical_j), so that no unit of measure matters.
// resize() allocates; nothing else does. y and f0 must stay in place while the step is in use.
//
// E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed., Springer 1996, IV.8 (RADAU5).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "core/dense/small_lu.hpp"
#include "engines/numeric/step_outcome.hpp"

namespace judder::engines::numeric {

struct RadauOptions {
  int max_iterations = 8;      ///< of Newton's method per attempt, [3, 20]
  double newton_share = 1e-3;  ///< iteration error allowed, as a share of the tolerance, (0, 0.1]
  double keep_rate = 1e-3;  ///< J is kept for the next step while Newton contracts at least this well, [0, 1)
};

/// The caller's running scales. Arrays of n values.
struct RadauScales {
  const double* inverse = nullptr;  ///< 1/(tolerance · scale): a weighted error of 1 is the tolerance
  const double* typical = nullptr;  ///< typical magnitudes for difference increments; may be null
  const double* rounding =
      nullptr;  ///< what rounding does to each component over the step: Newton is asked for no more; may be null
};

class RadauStepper {
 public:
  RadauStepper() = default;
  explicit RadauStepper(const RadauOptions& options) : options_(options) {}

  /// Memory for n components solved implicitly and `quadratures` behind them. Contents are lost.
  void resize(int components, int quadratures);

  /// Looked at while matrices are factored; null: never.
  void use(Patience* patience) {
    real_.use(patience);
    complex_.use(patience);
  }

  /// The trial step from (t, y) with f0 = f(t, y). Afterwards y1(), error() and dense() are valid.
  template <class Rhs>
  StepOutcome step(Rhs& rhs, double t, const double* y, const double* f0, double h,
                   const RadauScales& scales);

  /// A second filtering of the error estimate, for a step that would be rejected although the slow components
  /// are accurate (first step, or after a rejection). Costs one right-hand side. False: not a number, the
  /// estimate is unchanged.
  template <class Rhs>
  bool filter_error(Rhs& rhs);

  /// f(t + h, y₁), computed at the first request. False: not a number.
  template <class Rhs>
  bool prepare_end_rate(Rhs& rhs);

  /// The step is taken: the next one may extrapolate from it and reuse J.
  void accept();

  /// The next step starts from a state that does not continue the last one (after an event).
  void restart();

  /// What later steps take from earlier ones, appended to `out`; load() takes it up again from the same place and returns the number of
  /// values read, 0 if `in` is too short. The steps that follow are the same to the last bit.
  void save(std::vector<double>& out) const;
  [[nodiscard]] std::size_t load(std::span<const double> in);
  /// How many values that are: flags, steps and rates, then numbers.
  static constexpr std::size_t kSavedHead = 8;
  [[nodiscard]] static std::size_t saved_size(int components, int quadratures);

  [[nodiscard]] const double* y1() const { return y1_.data(); }
  /// Shares of the step at which rates are taken, with its start, which the error estimate sees.
  [[nodiscard]] static std::span<const double> nodes();
  [[nodiscard]] const double* f1() const { return f1_.data(); }  ///< after prepare_end_rate()
  [[nodiscard]] double t1() const { return t_ + h_; }

  /// Largest |e_i| · inverse_scale[i] over the first `components`; not a number counts as infinite.
  [[nodiscard]] double error(const double* inverse_scale, int components) const;
  [[nodiscard]] double error_component(int i) const { return error_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::span<const double> errors() const { return error_; }

  /// h‖J‖ in the weighted maximum norm over the stability limit of the explicit method of order 8: below 1/2
  /// for long, the problem is not stiff any more (step_control.hpp).
  [[nodiscard]] double stiffness(const double* inverse_scale) const;

  /// out[i − begin] = y_i(t + θh) for begin ≤ i < end and θ ∈ [0, 1]; gives y₀ and y₁ to the last bit at the
  /// ends.
  void dense(double theta, int begin, int end, double* out) const;

  [[nodiscard]] int iterations() const { return iterations_; }  ///< of the last step, all attempts

 private:
  enum class Newton { converged, diverged, not_finite };

  template <class Rhs>
  bool compute_jacobian(Rhs& rhs, const double* f0, const RadauScales& scales);
  template <class Rhs>
  Newton iterate(Rhs& rhs, const RadauScales& scales);
  template <class Rhs>
  bool evaluate_stages(Rhs& rhs);
  double increment(int j, const double* f0, const RadauScales& scales) const;
  bool factor(const RadauScales& scales);
  void predict();
  double newton_update(const RadauScales& scales);
  [[nodiscard]] double newton_tolerance(const RadauScales& scales) const;
  void finish_quadratures();
  void fill_dense();
  void estimate_error(const double* f0);

  RadauOptions options_;
  int n_ = 0;
  int quadratures_ = 0;
  int all_ = 0;

  double t_ = 0;
  double h_ = 0;
  const double* y0_ = nullptr;
  bool have_jacobian_ = false;
  bool fresh_jacobian_ = false;  ///< computed at the state of the current step
  bool have_factors_ = false;
  bool have_history_ = false;
  bool have_end_rate_ = false;
  double factored_h_ = 0;
  double history_h_ = 0;
  double contraction_ = 1;  ///< last observed rate of Newton's iteration
  double eta_ = 1;          ///< rate/(1 − rate), carried to the next step's first iteration
  int iterations_ = 0;

  std::vector<double> jacobian_;
  std::vector<double> factor_weights_;  ///< that the pivots were chosen with
  dense::RealLu real_;
  dense::ComplexLu complex_;
  std::vector<double> w_, z_, rates_;      ///< three rows each: transformed stages, stages, right-hand sides
  std::vector<double> stage_;              ///< argument of a right-hand side
  std::vector<double> error_rhs_, error_;  ///< what the filter acts on, the estimate
  std::vector<double> y1_, f1_;
  std::vector<double> dense_, history_;  ///< three rows each: Δ, and two divided differences
};

namespace radau {
// √6 = 2.449489742783178…
inline constexpr double kC1 = 0.1550510257216821901802716;  ///< (4 − √6)/10
inline constexpr double kC2 = 0.6449489742783178098197284;  ///< (4 + √6)/10
inline constexpr std::array<double, 4> kNodes{0, kC1, kC2, 1};
inline constexpr double kGamma =
    3.637834252744495732208418513578;  ///< real eigenvalue of the inverse of the coefficient matrix
}  // namespace radau

template <class Rhs>
StepOutcome RadauStepper::step(Rhs& rhs, double t, const double* y, const double* f0, double h,
                               const RadauScales& scales) {
  t_ = t;
  h_ = h;
  y0_ = y;
  have_end_rate_ = false;
  iterations_ = 0;
  for (;;) {
    if (!have_jacobian_ && !compute_jacobian(rhs, f0, scales)) return StepOutcome::not_finite;
    if ((!have_factors_ || factored_h_ != h) && !factor(scales)) return StepOutcome::not_converged;
    predict();
    const Newton outcome = iterate(rhs, scales);
    if (outcome == Newton::converged) break;
    have_history_ = false;  // a bad guess may be the cause
    if (fresh_jacobian_) {
      return outcome == Newton::not_finite ? StepOutcome::not_finite : StepOutcome::not_converged;
    }
    have_jacobian_ = false;
  }
  if (quadratures_ > 0) {
    if (!evaluate_stages(rhs)) return StepOutcome::not_finite;
    finish_quadratures();
  }
  for (int i = 0; i < all_; ++i)
    y1_[static_cast<std::size_t>(i)] = y[i] + z_[static_cast<std::size_t>(2 * all_ + i)];
  fill_dense();
  estimate_error(f0);
  return StepOutcome::done;
}

template <class Rhs>
bool RadauStepper::compute_jacobian(Rhs& rhs, const double* f0, const RadauScales& scales) {
  have_factors_ = false;
  if constexpr (requires { rhs.jacobian(t_, y0_, jacobian_.data()); }) {
    if (!rhs.jacobian(t_, y0_, jacobian_.data())) return false;
  } else {
    for (int i = 0; i < all_; ++i) stage_[static_cast<std::size_t>(i)] = y0_[i];
    for (int j = 0; j < n_; ++j) {
      const double moved = y0_[j] + increment(j, f0, scales);
      stage_[static_cast<std::size_t>(j)] = moved;
      if (!rhs(t_, static_cast<const double*>(stage_.data()), rates_.data())) return false;
      stage_[static_cast<std::size_t>(j)] = y0_[j];
      const double difference = moved - y0_[j];
      for (int i = 0; i < n_; ++i) {
        jacobian_[static_cast<std::size_t>(i * n_ + j)] =
            (rates_[static_cast<std::size_t>(i)] - f0[i]) / difference;
      }
    }
  }
  have_jacobian_ = true;
  fresh_jacobian_ = true;
  return true;
}

template <class Rhs>
bool RadauStepper::evaluate_stages(Rhs& rhs) {
  const double nodes[3] = {radau::kC1, radau::kC2, 1};
  for (int s = 0; s < 3; ++s) {
    for (int i = 0; i < all_; ++i) {
      stage_[static_cast<std::size_t>(i)] = y0_[i] + z_[static_cast<std::size_t>(s * all_ + i)];
    }
    if (!rhs(t_ + nodes[s] * h_, static_cast<const double*>(stage_.data()), rates_.data() + s * all_))
      return false;
  }
  return true;
}

template <class Rhs>
RadauStepper::Newton RadauStepper::iterate(Rhs& rhs, const RadauScales& scales) {
  const double tolerance = newton_tolerance(scales);
  double last_norm = 0;
  for (int k = 0; k < options_.max_iterations; ++k) {
    ++iterations_;
    if (!evaluate_stages(rhs)) return Newton::not_finite;
    const double norm = newton_update(scales);
    if (!(norm < 1e300)) return Newton::diverged;
    if (norm == 0) return Newton::converged;
    if (k > 0) {
      const double rate = norm / last_norm;
      contraction_ = rate;
      if (rate >= 0.99) return Newton::diverged;
      eta_ = rate / (1 - rate);
      double expected = eta_ * norm;
      for (int left = k + 1; left < options_.max_iterations; ++left) expected *= rate;
      if (expected > tolerance) return Newton::diverged;
    }
    last_norm = norm;
    if (eta_ * norm <= tolerance) return Newton::converged;
  }
  return Newton::diverged;
}

template <class Rhs>
bool RadauStepper::filter_error(Rhs& rhs) {
  for (int i = 0; i < all_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    stage_[at] = y0_[i] + (i < n_ ? error_[at] : 0.0);
  }
  if (!rhs(t_, static_cast<const double*>(stage_.data()), rates_.data())) return false;
  for (int i = 0; i < n_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    error_[at] = rates_[at] + error_rhs_[at];
  }
  real_.solve(error_.data());
  for (int i = n_; i < all_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    error_[at] = (h_ * rates_[at] + error_rhs_[at]) / radau::kGamma;
  }
  return true;
}

template <class Rhs>
bool RadauStepper::prepare_end_rate(Rhs& rhs) {
  if (!have_end_rate_) have_end_rate_ = rhs(t_ + h_, static_cast<const double*>(y1_.data()), f1_.data());
  return have_end_rate_;
}

}  // namespace judder::engines::numeric
