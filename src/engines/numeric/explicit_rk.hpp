// One trial step of an explicit Runge-Kutta method with an error estimate and, on demand, a polynomial along
// the step.
//
//     ẏ = f(t, y),   y(t) = y₀   →   y₁ ≈ y(t + h)
//
// Method::order5: Dormand-Prince 5(4), 6 right-hand sides per step (the last one is the next step's first),
// dense output of order 4.
// Method::order8: DOP853, 12 right-hand sides per step, error from embedded solutions of order 5 and 3, dense
// output of order 7 with three more right-hand sides, computed only when asked for.
//
// step_uniform: q̈ = a constant, in closed form; its dense output is the motion itself.
//
// The dense output is less accurate inside a step than y₁ is at its end: where the error estimate just meets
// a tolerance, the polynomial of order 5 was seen to miss it by up to 17 times, that of order 8 by up to 35
// times. Who must know measures: prepare_dense_error() takes the defect h(ẏ − f(t, y)) of the polynomial at
// two places, and dense_error() bounds the error by 0.6 of it (on six nonlinear systems the error was 0.07 to
// 0.6 of the defect). A state that must keep the method's order is computed by a step that ends there.
//
// The stepper neither accepts nor rejects: it computes y₁, and error() weighs the estimate with the caller's
// scales. Components behind those the caller weighs (quadratures) are integrated with the same formulas and
// do not influence the step.
//
// Right-hand side: `bool rhs(double t, const double* y, double* dydt)`; false means not a number and ends the
// step at once. It is a template argument, so that a system of two components pays for no call. Sums over
// stages run from stage 0 upwards. resize() allocates; nothing else does. y and f0 given to step() must stay
// in place until the step's dense output is no longer used.
//
// E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed., Springer 1993,
// II.4 to II.6, II.10.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "engines/numeric/explicit_tables.hpp"
#include "engines/numeric/step_outcome.hpp"

namespace judder::engines::numeric {

enum class Method { order5, order8, uniform };

class ExplicitStepper {
 public:
  /// Memory for systems of `components` equations. Contents are lost.
  void resize(int components);
  [[nodiscard]] int components() const { return n_; }
  /// Works on the first `components` of what resize() made room for, from the next step on.
  void use(int components) { n_ = components; }

  /// The trial step from (t, y) with f0 = f(t, y); h may be negative. Afterwards y1() and error() are valid.
  template <class Rhs>
  StepOutcome step(Method method, Rhs& rhs, double t, const double* y, const double* f0, double h);

  /// The step of y = (q, v) with accelerations that do not change, f0 = (v, a): exact but for rounding, its error is zero and its dense
  /// output valid at once. The components are the 2n of q and v alone.
  void step_uniform(double t, const double* y, const double* f0, double h);

  /// f(t + h, y₁). Order 5 has it already; order 8 computes it at the first request. False: not a number.
  template <class Rhs>
  bool prepare_end_rate(Rhs& rhs);

  /// Makes dense() valid (order 8: end rate and three more right-hand sides, once per step). False: not a
  /// number.
  template <class Rhs>
  bool prepare_dense(Rhs& rhs);

  /// Makes dense_error() valid; two right-hand sides on top of prepare_dense(), which comes first. False: not
  /// a number.
  template <class Rhs>
  bool prepare_dense_error(Rhs& rhs);

  [[nodiscard]] const double* y1() const { return y1_.data(); }
  /// Shares of the step at which the rates were taken that y1 is made of, of the last step. A uniform step knows its rates everywhere: nine points.
  [[nodiscard]] std::span<const double> nodes() const;
  [[nodiscard]] const double* f1() const {
    return stages_.data() + end_stage_ * n_;
  }  ///< after prepare_end_rate()
  [[nodiscard]] double t1() const { return t_ + h_; }

  /// The largest weighted component of the error estimate over the first `components`, each |e_i| ·
  /// inverse_scale[i]; order 8 combines the two estimates as E₅²/√(E₅² + E₃²/100). Not a number counts as
  /// infinite.
  [[nodiscard]] double error(const double* inverse_scale, int components) const;

  /// The estimate itself (order 8: that of order 5), for component i.
  [[nodiscard]] double error_component(int i) const { return error_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::span<const double> errors() const { return error_; }

  /// Estimate of the largest error of dense() along the step, in the same norm, or of one component.
  [[nodiscard]] double dense_error(const double* inverse_scale, int components) const;
  [[nodiscard]] double dense_error_component(int i) const {
    return dense_error_[static_cast<std::size_t>(i)];
  }

  /// |hλ| of the dominant eigenvalue over the stability limit of the method, from the two stages at t + h;
  /// valid after prepare_end_rate(). Above 1 on many steps the problem is stiff for this method
  /// (step_control.hpp).
  [[nodiscard]] double stiffness(const double* inverse_scale, int components) const;

  /// Whether the polynomial of order 8 may miss the weights by more than some thirty times, seen at no cost: on ẏ = λy its error is 0.0010 to
  /// 0.0025 of its highest coefficient for all |hλ| < 8 with Re λ ≤ 0. The error estimate does not tell: it vanishes for hλ near −5.6 and near
  /// 6 exp(±2πi/3), inside the region of stability, where steps that stability keeps short come to stay. Valid after prepare_dense().
  [[nodiscard]] bool dense_suspicious(const double* inverse_scale, int components) const;

  /// out[i − begin] = y_i(t + θh) for begin ≤ i < end and θ ∈ [0, 1]; gives y₀ and y₁ to the last bit at the
  /// ends.
  void dense(double theta, int begin, int end, double* out) const;

  /// Fills `count` rows, `stride` apart: at the time in row[0] the first `components` of y to row[1], …
  void dense_rows(double* rows, std::size_t count, std::size_t stride, int components) const;

  /// out[i − begin] = h ẏ_i(t + θh) of the same polynomial.
  void dense_change(double theta, int begin, int end, double* out) const;

 private:
  template <class Table, int Stage, class Rhs>
  bool run_stage(Rhs& rhs, double* argument);
  template <class Table, class Rhs, std::size_t... Stage>
  bool run_stages(Rhs& rhs, std::index_sequence<Stage...>);
  template <class Table, class Rhs>
  StepOutcome run(Rhs& rhs);
  template <class Table>
  void fill_dense();
  void parabola(double theta, int begin, int end, double* out) const;
  void polynomial(double theta, int begin, int end, double* out) const;

  static constexpr int kMaxStages = Order8Table::kAllStages;
  static constexpr int kDensePolynomial = 7;  ///< stored coefficients per component: Δ, then six

  int n_ = 0;
  Method method_ = Method::order5;
  int end_stage_ = 6;
  bool have_end_rate_ = false;
  bool have_dense_ = false;
  double t_ = 0;
  double h_ = 0;
  const double* y0_ = nullptr;
  std::vector<double> stages_;         ///< k, stage-major
  std::vector<double> argument_;       ///< y of the current stage
  std::vector<double> last_argument_;  ///< y of the last stage before y₁, kept for stiffness()
  std::vector<double> y1_;
  std::vector<double> error_;  ///< first estimate, then (order 8) the second
  std::vector<double> dense_;  ///< coefficient-major
  std::vector<double> dense_error_;
  std::vector<double> change_;  ///< of the dense output at one place
  std::vector<double> rate_;    ///< right-hand side at the same place
};

namespace detail {

/// Σ_j row[j] k_j over the non-zero coefficients, j ascending; `Row` picks the row at compile time.
template <const auto& Rows, int Row, std::size_t... J>
inline double weighted_sum(const double* k, int stride, std::index_sequence<J...>) {
  double sum = Rows[Row][0] * k[0];
  [[maybe_unused]] const auto add = [&]<std::size_t Column>(std::integral_constant<std::size_t, Column>) {
    if constexpr (Rows[Row][Column] != 0.0) sum += Rows[Row][Column] * k[static_cast<int>(Column) * stride];
  };
  (add(std::integral_constant<std::size_t, J + 1>{}), ...);
  return sum;
}

/// Σ_j row[j] (k_j − k_0), for rows whose coefficients add up to one.
template <const auto& Rows, int Row, std::size_t... J>
inline double weighted_difference(const double* k, int stride, std::index_sequence<J...>) {
  double sum = 0;
  [[maybe_unused]] const auto add = [&]<std::size_t Column>(std::integral_constant<std::size_t, Column>) {
    if constexpr (Rows[Row][Column] != 0.0)
      sum += Rows[Row][Column] * (k[static_cast<int>(Column) * stride] - k[0]);
  };
  (add(std::integral_constant<std::size_t, J + 1>{}), ...);
  return sum;
}

template <const auto& Rows, int Row, int Stages>
inline double weighted_difference(const double* k, int stride) {
  return weighted_difference<Rows, Row>(k, stride,
                                        std::make_index_sequence<static_cast<std::size_t>(Stages - 1)>{});
}

template <const auto& Rows, int Row, int Stages>
inline double weighted_sum(const double* k, int stride) {
  return weighted_sum<Rows, Row>(k, stride, std::make_index_sequence<static_cast<std::size_t>(Stages - 1)>{});
}

}  // namespace detail

template <class Table, int Stage, class Rhs>
bool ExplicitStepper::run_stage(Rhs& rhs, double* argument) {
  const double* k = stages_.data();
  for (int i = 0; i < n_; ++i) {
    argument[i] = y0_[i] + h_ * detail::weighted_sum<Table::a, Stage, Stage>(k + i, n_);
  }
  return rhs(t_ + Table::c[Stage] * h_, static_cast<const double*>(argument), stages_.data() + Stage * n_);
}

template <class Table, class Rhs, std::size_t... Stage>
bool ExplicitStepper::run_stages(Rhs& rhs, std::index_sequence<Stage...>) {
  return (run_stage<Table, static_cast<int>(Stage) + 1>(rhs, argument_.data()) && ...);
}

template <class Table, class Rhs>
StepOutcome ExplicitStepper::run(Rhs& rhs) {
  constexpr int stages = Table::kStages;
  constexpr auto middle = std::make_index_sequence<static_cast<std::size_t>(stages - 2)>{};
  if (!run_stages<Table>(rhs, middle)) return StepOutcome::not_finite;
  if (!run_stage<Table, stages - 1>(rhs, last_argument_.data())) return StepOutcome::not_finite;
  const double* k = stages_.data();
  if constexpr (stages == Order5Table::kStages) {
    if (!run_stage<Table, stages>(rhs, y1_.data())) return StepOutcome::not_finite;
    have_end_rate_ = true;
    for (int i = 0; i < n_; ++i) {
      error_[static_cast<std::size_t>(i)] = h_ * detail::weighted_sum<Table::error, 0, stages + 1>(k + i, n_);
    }
  } else {
    for (int i = 0; i < n_; ++i) {
      const auto at = static_cast<std::size_t>(i);
      // Weights relative to f0: their rounded sum is not one, and a constant rate shall be integrated exactly.
      y1_[at] = y0_[i] + h_ * (k[i] + detail::weighted_difference<Table::a, stages, stages>(k + i, n_));
      error_[at] = h_ * detail::weighted_sum<Table::error, 0, stages>(k + i, n_);
      error_[at + static_cast<std::size_t>(n_)] =
          h_ * detail::weighted_sum<Table::error, 1, stages>(k + i, n_);
    }
  }
  return StepOutcome::done;
}

template <class Rhs>
StepOutcome ExplicitStepper::step(Method method, Rhs& rhs, double t, const double* y, const double* f0,
                                  double h) {
  method_ = method;
  t_ = t;
  h_ = h;
  y0_ = y;
  have_end_rate_ = false;
  have_dense_ = false;
  for (int i = 0; i < n_; ++i) stages_[static_cast<std::size_t>(i)] = f0[i];
  if (method == Method::order5) {
    end_stage_ = Order5Table::kStages;
    return run<Order5Table>(rhs);
  }
  end_stage_ = Order8Table::kStages;
  return run<Order8Table>(rhs);
}

template <class Rhs>
bool ExplicitStepper::prepare_end_rate(Rhs& rhs) {
  if (!have_end_rate_) {
    have_end_rate_ = rhs(t_ + h_, static_cast<const double*>(y1_.data()), stages_.data() + end_stage_ * n_);
  }
  return have_end_rate_;
}

template <class Rhs>
bool ExplicitStepper::prepare_dense(Rhs& rhs) {
  if (have_dense_) return true;
  if (!prepare_end_rate(rhs)) return false;
  if (method_ == Method::order5) {
    fill_dense<Order5Table>();
  } else {
    double* argument = argument_.data();
    if (!run_stage<Order8Table, 13>(rhs, argument) || !run_stage<Order8Table, 14>(rhs, argument) ||
        !run_stage<Order8Table, 15>(rhs, argument)) {
      return false;
    }
    fill_dense<Order8Table>();
  }
  have_dense_ = true;
  return true;
}

template <class Rhs>
bool ExplicitStepper::prepare_dense_error(Rhs& rhs) {
  if (!prepare_dense(rhs)) return false;
  // Where the defect is large for every elementary differential tried; the ends, where it vanishes, are
  // useless.
  const double offset = method_ == Method::order5 ? 0.3 : 0.2;
  constexpr double share = 0.6;
  for (int side = 0; side < 2; ++side) {
    const double theta = side == 0 ? 0.5 - offset : 0.5 + offset;
    dense(theta, 0, n_, argument_.data());
    dense_change(theta, 0, n_, change_.data());
    if (!rhs(t_ + theta * h_, static_cast<const double*>(argument_.data()), rate_.data())) return false;
    for (std::size_t i = 0; i < argument_.size(); ++i) {
      const double defect = share * std::abs(change_[i] - h_ * rate_[i]);
      dense_error_[i] = side == 0 || defect > dense_error_[i] ? defect : dense_error_[i];
    }
  }
  return true;
}

template <class Table>
void ExplicitStepper::fill_dense() {
  const double* k = stages_.data();
  for (int i = 0; i < n_; ++i) {
    double* column = dense_.data() + i;
    const double difference = y1_[static_cast<std::size_t>(i)] - y0_[i];
    const double first = h_ * k[i] - difference;
    column[0] = difference;
    column[n_] = first;
    column[2 * n_] = difference - h_ * k[end_stage_ * n_ + i] - first;
    column[3 * n_] = h_ * detail::weighted_sum<Table::dense, 0, Table::kAllStages>(k + i, n_);
    if constexpr (Table::kDenseRows == 4) {
      column[4 * n_] = h_ * detail::weighted_sum<Table::dense, 1, Table::kAllStages>(k + i, n_);
      column[5 * n_] = h_ * detail::weighted_sum<Table::dense, 2, Table::kAllStages>(k + i, n_);
      column[6 * n_] = h_ * detail::weighted_sum<Table::dense, 3, Table::kAllStages>(k + i, n_);
    }
  }
}

}  // namespace judder::engines::numeric
