#include "engines/numeric/explicit_rk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace judder::engines::numeric {

namespace {

/// The larger of two norms where not a number wins: a comparison with NaN is false.
double larger(double norm, double value) { return value <= norm ? norm : value; }

/// Nodes with a weight in y₁; row kStages of `a` holds the weights.
template <class Table>
struct WeightedNodes {
  static constexpr bool counts(int stage) { return Table::a[Table::kStages][stage] != 0; }
  static constexpr int kCount = [] {
    int count = 0;
    for (int i = 0; i < Table::kStages; ++i) count += counts(i) ? 1 : 0;
    return count;
  }();
  static constexpr std::array<double, kCount> value = [] {
    std::array<double, kCount> nodes{};
    int next = 0;
    for (int i = 0; i < Table::kStages; ++i) {
      if (counts(i)) nodes[next++] = Table::c[i];
    }
    return nodes;
  }();
};
constexpr std::array<double, 9> kEverywhere{0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1};

}  // namespace

std::span<const double> ExplicitStepper::nodes() const {
  switch (method_) {
    case Method::order5:
      return WeightedNodes<Order5Table>::value;
    case Method::order8:
      return WeightedNodes<Order8Table>::value;
    case Method::uniform:
      break;
  }
  return kEverywhere;
}

void ExplicitStepper::resize(int components) {
  n_ = components;
  const auto n = static_cast<std::size_t>(components);
  stages_.assign(n * kMaxStages, 0.0);
  argument_.assign(n, 0.0);
  last_argument_.assign(n, 0.0);
  y1_.assign(n, 0.0);
  error_.assign(2 * n, 0.0);
  dense_.assign(n * kDensePolynomial, 0.0);
  dense_error_.assign(n, 0.0);
  change_.assign(n, 0.0);
  rate_.assign(n, 0.0);
  have_end_rate_ = false;
  have_dense_ = false;
}

void ExplicitStepper::step_uniform(double t, const double* y, const double* f0, double h) {
  const bool cleared = method_ == Method::uniform;  // by the step before
  method_ = Method::uniform;
  t_ = t;
  h_ = h;
  y0_ = y;
  end_stage_ = 1;
  const int half = n_ / 2;
  double* const end = stages_.data() + n_;
  double* const difference = dense_.data();
  double* const bulge = difference + n_;
  for (int i = 0; i < half; ++i) {
    const double v = f0[i];
    const double a = f0[half + i];
    const double v1 = v + h * a;
    stages_[i] = v;
    stages_[half + i] = a;
    end[i] = v1;
    end[half + i] = a;
    y1_[i] = y[i] + h * (v + 0.5 * h * a);
    y1_[half + i] = y[half + i] + h * a;
    difference[i] = y1_[i] - y[i];
    difference[half + i] = y1_[half + i] - y[half + i];
    bulge[i] = -0.5 * h * h * a;  // q(θ) = q₀ + θ Δ − θ(1 − θ) h² a/2
    bulge[half + i] = 0;
  }
  if (!cleared) {
    std::fill_n(error_.begin(), 2 * n_, 0.0);
    std::fill_n(dense_.begin() + 2 * n_, 2 * n_, 0.0);
  }
  std::copy_n(y1_.begin(), n_, last_argument_.begin());
  have_end_rate_ = true;
  have_dense_ = true;
}

double ExplicitStepper::error(const double* inverse_scale, int components) const {
  const double infinite = std::numeric_limits<double>::infinity();
  double first = 0;
  double second = 0;
  for (int i = 0; i < components; ++i) {
    const auto at = static_cast<std::size_t>(i);
    first = larger(first, std::abs(error_[at]) * inverse_scale[i]);
    if (method_ == Method::order8) {
      second = larger(second, std::abs(error_[at + static_cast<std::size_t>(n_)]) * inverse_scale[i]);
    }
  }
  if (method_ == Method::order8 && first > 0) {
    // E₅²/√(E₅² + E₃²/100) without squares that could overflow.
    const double ratio = 0.1 * second / first;
    first = first / std::sqrt(1 + ratio * ratio);
  }
  return first <= infinite ? first : infinite;
}

double ExplicitStepper::dense_error(const double* inverse_scale, int components) const {
  double norm = 0;
  for (int i = 0; i < components; ++i) {
    norm = larger(norm, dense_error_[static_cast<std::size_t>(i)] * inverse_scale[i]);
  }
  return norm <= std::numeric_limits<double>::infinity() ? norm : std::numeric_limits<double>::infinity();
}

double ExplicitStepper::stiffness(const double* inverse_scale, int components) const {
  const bool eighth = method_ == Method::order8;
  const int last_stage = end_stage_ - 1;
  const double* end_rate = stages_.data() + end_stage_ * n_;
  const double* last_rate = stages_.data() + last_stage * n_;
  double rate_change = 0;
  double state_change = 0;
  for (int i = 0; i < components; ++i) {
    const auto at = static_cast<std::size_t>(i);
    rate_change = larger(rate_change, std::abs(h_ * (end_rate[i] - last_rate[i])) * inverse_scale[i]);
    state_change = larger(state_change, std::abs(y1_[at] - last_argument_[at]) * inverse_scale[i]);
  }
  const double limit = eighth ? Order8Table::kStiffLimit : Order5Table::kStiffLimit;
  return state_change > 0 ? rate_change / (limit * state_change) : 0.0;
}

bool ExplicitStepper::dense_suspicious(const double* inverse_scale, int components) const {
  if (method_ != Method::order8) return false;
  constexpr double kLargest = 1e4;
  const double* highest = dense_.data() + 6 * n_;
  for (int i = 0; i < components; ++i) {
    if (!(std::abs(highest[i]) * inverse_scale[i] <= kLargest)) return true;
  }
  return false;
}

void ExplicitStepper::dense(double theta, int begin, int end, double* out) const {
  if (method_ == Method::uniform) {
    parabola(theta, begin, end, out);
  } else {
    polynomial(theta, begin, end, out);
  }
}

void ExplicitStepper::dense_rows(double* rows, std::size_t count, std::size_t stride, int components) const {
  if (method_ == Method::uniform) {
    const double t = t_;
    const double h = h_;
    for (std::size_t r = 0; r < count; ++r, rows += stride)
      parabola((rows[0] - t) / h, 0, components, rows + 1);
  } else {
    for (std::size_t r = 0; r < count; ++r, rows += stride)
      polynomial((rows[0] - t_) / h_, 0, components, rows + 1);
  }
}

inline void ExplicitStepper::parabola(double theta, int begin, int end, double* out) const {
  const double rest = 1 - theta;
  const double product = theta * rest;
  // From the nearer end, so that both ends are exact.
  const double* const origin = theta <= 0.5 ? y0_ : y1_.data();
  const double part = theta <= 0.5 ? theta : -rest;
  const double* const change = dense_.data();
  const double* const bulge = change + n_;
  // By pairs, position and velocity of one coordinate at least: a loop over single components would be prepared for more of them at every row.
  int i = begin;
  for (; i + 1 < end; i += 2) {
    const double first = (origin[i] + part * change[i]) + product * bulge[i];
    const double second = (origin[i + 1] + part * change[i + 1]) + product * bulge[i + 1];
    out[i - begin] = first;
    out[i + 1 - begin] = second;
  }
  if (i < end) out[i - begin] = (origin[i] + part * change[i]) + product * bulge[i];
}

inline void ExplicitStepper::polynomial(double theta, int begin, int end, double* out) const {
  const double rest = 1 - theta;
  const double product = theta * rest;
  const bool eighth = method_ == Method::order8;
  for (int i = begin; i < end; ++i) {
    const double* c = dense_.data() + i;
    double inner = c[3 * n_];
    if (eighth) inner += theta * (c[4 * n_] + rest * (c[5 * n_] + theta * c[6 * n_]));
    const double bulge = product * (c[n_] + theta * (c[2 * n_] + rest * inner));
    // From the nearer end, so that both ends are exact.
    const double base = theta <= 0.5 ? y0_[i] + theta * c[0] : y1_[static_cast<std::size_t>(i)] - rest * c[0];
    out[i - begin] = base + bulge;
  }
}

void ExplicitStepper::dense_change(double theta, int begin, int end, double* out) const {
  // The nested form of dense() with its derivative carried along, innermost bracket first; d(1 − θ) = −1.
  const double rest = 1 - theta;
  const bool eighth = method_ == Method::order8;
  for (int i = begin; i < end; ++i) {
    const double* c = dense_.data() + i;
    double value = c[3 * n_];
    double slope = 0;
    if (eighth) {
      const double third = c[5 * n_] + theta * c[6 * n_];
      const double second = c[4 * n_] + rest * third;
      const double second_slope = rest * c[6 * n_] - third;
      value += theta * second;
      slope = second + theta * second_slope;
    }
    slope = rest * slope - value;
    value = c[2 * n_] + rest * value;
    slope = value + theta * slope;
    value = c[n_] + theta * value;
    out[i - begin] = c[0] + (rest - theta) * value + theta * rest * slope;
  }
}

}  // namespace judder::engines::numeric
