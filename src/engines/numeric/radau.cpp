#include "engines/numeric/radau.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/elementary.hpp"
#include "engines/numeric/explicit_tables.hpp"

namespace judder::engines::numeric {

namespace {

using radau::kC1;
using radau::kC2;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// Eigenvalues of the inverse of the coefficient matrix: γ, α ± iβ.
using radau::kGamma;
constexpr double kAlpha = 2.681082873627752133895790743211;
constexpr double kBeta = 3.050430199247410569426377624788;

// Columns: the real eigenvector, then real and negative imaginary part of the complex one; third components 1
// and 1 + 0i.
constexpr double kT[3][3] = {
    {0.09443876248897524148749008, -0.1412552950209542084279904, -0.03002919410514742449186112},
    {0.2502131229653333113765091, 0.2041293522937999319959908, 0.3829421127572619377954382},
    {1, 1, 0}};
constexpr double kInverseT[3][3] = {
    {4.178718591551904727346463, 0.3276828207610623870825333, 0.5233764454994495480399309},
    {-4.178718591551904727346463, -0.3276828207610623870825333, 0.4766235545005504519600691},
    {-0.5028726349457868759512473, 2.571926949855605429186785, -0.5960392048282249249688219}};

// The coefficient matrix of the method.
constexpr double kA[3][3] = {
    {0.1968154772236604258683861, -0.06553542585019838810852278, 0.02377097434822015242040823},
    {0.3944243147390872769974117, 0.2920734116652284630205027, -0.04154875212599793019818601},
    {0.3764030627004672750500754, 0.5124858261884216138388134, 0.1111111111111111111111111}};

// Error estimate: −(13 + 7√6)/3, (−13 + 7√6)/3, −1/3.
constexpr double kE[3] = {-10.04880939982741556246033, 1.382142733160748895793663,
                          -0.3333333333333333333333333};

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

std::span<const double> RadauStepper::nodes() { return radau::kNodes; }

void RadauStepper::resize(int components, int quadratures) {
  n_ = components;
  quadratures_ = quadratures;
  all_ = components + quadratures;
  jacobian_.assign(at(n_ * n_), 0.0);
  factor_weights_.assign(at(n_), 0.0);
  real_.resize(n_);
  complex_.resize(n_);
  w_.assign(at(3 * n_), 0.0);
  z_.assign(at(3 * all_), 0.0);
  rates_.assign(at(3 * all_), 0.0);
  stage_.assign(at(all_), 0.0);
  error_rhs_.assign(at(all_), 0.0);
  error_.assign(at(all_), 0.0);
  y1_.assign(at(all_), 0.0);
  f1_.assign(at(all_), 0.0);
  dense_.assign(at(3 * all_), 0.0);
  history_.assign(at(3 * all_), 0.0);
  restart();
}

void RadauStepper::restart() {
  have_jacobian_ = false;
  fresh_jacobian_ = false;
  have_factors_ = false;
  have_history_ = false;
  have_end_rate_ = false;
  contraction_ = 1;
  eta_ = 1;
}

void RadauStepper::save(std::vector<double>& out) const {
  out.insert(out.end(), {have_jacobian_ ? 1.0 : 0.0, fresh_jacobian_ ? 1.0 : 0.0, have_factors_ ? 1.0 : 0.0,
                         have_history_ ? 1.0 : 0.0, factored_h_, history_h_, contraction_, eta_});
  out.insert(out.end(), jacobian_.begin(), jacobian_.end());
  out.insert(out.end(), factor_weights_.begin(), factor_weights_.end());
  out.insert(out.end(), history_.begin(), history_.end());
}

std::size_t RadauStepper::saved_size(int components, int quadratures) {
  const auto n = static_cast<std::size_t>(components);
  return kSavedHead + n * n + n + 3 * (n + static_cast<std::size_t>(quadratures));
}

std::size_t RadauStepper::load(std::span<const double> in) {
  const std::size_t size = saved_size(n_, quadratures_);
  if (in.size() < size) return 0;
  std::size_t next = kSavedHead;
  for (std::vector<double>* part : {&jacobian_, &factor_weights_, &history_}) {
    for (double& value : *part) value = in[next++];
  }
  restart();
  history_h_ = in[5];
  if (in[2] != 0) {
    h_ = in[4];
    static_cast<void>(factor({factor_weights_.data(), nullptr}));
  }
  have_jacobian_ = in[0] != 0;
  fresh_jacobian_ = in[1] != 0;
  have_history_ = in[3] != 0;
  contraction_ = in[6];
  eta_ = in[7];
  return size;
}

void RadauStepper::accept() {
  for (int i = 0; i < 3 * all_; ++i) history_[at(i)] = dense_[at(i)];
  history_h_ = h_;
  have_history_ = true;
  fresh_jacobian_ = false;
  if (contraction_ > options_.keep_rate) have_jacobian_ = false;
}

double RadauStepper::increment(int j, const double* f0, const RadauScales& scales) const {
  const double size = std::max({std::abs(y0_[j]), std::abs(h_ * f0[j]), 1 / scales.inverse[j],
                                scales.typical != nullptr ? scales.typical[j] : 0.0});
  // Into the direction of motion: the other side may not be defined.
  return std::copysign(std::sqrt(kEpsilon) * size, h_ * f0[j]);
}

bool RadauStepper::factor(const RadauScales& scales) {
  const double real_shift = kGamma / h_;
  const double alpha = kAlpha / h_;
  const double beta = kBeta / h_;
  double* real = real_.matrix();
  double* re = complex_.real();
  double* im = complex_.imaginary();
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < n_; ++j) {
      const int k = i * n_ + j;
      real[k] = -jacobian_[at(k)];
      re[k] = -jacobian_[at(k)];
      im[k] = 0;
    }
    real[i * n_ + i] += real_shift;
    re[i * n_ + i] += alpha;
    im[i * n_ + i] = beta;
  }
  std::copy_n(scales.inverse, n_, factor_weights_.begin());
  have_factors_ = real_.factor(scales.inverse) && complex_.factor(scales.inverse);
  factored_h_ = h_;
  return have_factors_;
}

void RadauStepper::predict() {
  if (!have_history_) {
    std::fill(z_.begin(), z_.end(), 0.0);
    std::fill(w_.begin(), w_.end(), 0.0);
    return;
  }
  const double ratio = h_ / history_h_;
  const double nodes[3] = {kC1, kC2, 1};
  for (int s = 0; s < 3; ++s) {
    const double ahead = nodes[s] * ratio;
    const double theta = 1 + ahead;
    for (int i = 0; i < all_; ++i) {
      const double* c = history_.data() + i;
      z_[at(s * all_ + i)] = ahead * (c[0] + theta * (c[all_] + (theta - kC1) * c[2 * all_]));
    }
  }
  for (int s = 0; s < 3; ++s) {
    for (int i = 0; i < n_; ++i) {
      w_[at(s * n_ + i)] = kInverseT[s][0] * z_[at(i)] + kInverseT[s][1] * z_[at(all_ + i)] +
                           kInverseT[s][2] * z_[at(2 * all_ + i)];
    }
  }
  eta_ = elementary::rough_pow(std::max(eta_, kEpsilon), 0.8);
}

double RadauStepper::newton_tolerance(const RadauScales& scales) const {
  double rounding = 0;
  for (int i = 0; i < n_; ++i) {
    const double own = scales.rounding != nullptr ? scales.rounding[i] : 0.0;
    rounding = std::max(rounding, std::max(4 * kEpsilon * std::abs(y0_[i]), own) * scales.inverse[i]);
  }
  return std::max(options_.newton_share, rounding);
}

double RadauStepper::newton_update(const RadauScales& scales) {
  double* first = rates_.data();
  double* second = rates_.data() + all_;
  double* third = rates_.data() + 2 * all_;
  for (int i = 0; i < n_; ++i) {
    const double f1 = first[i];
    const double f2 = second[i];
    const double f3 = third[i];
    const double w1 = w_[at(i)];
    const double w2 = w_[at(n_ + i)];
    const double w3 = w_[at(2 * n_ + i)];
    first[i] = kInverseT[0][0] * f1 + kInverseT[0][1] * f2 + kInverseT[0][2] * f3 - kGamma / h_ * w1;
    second[i] = kInverseT[1][0] * f1 + kInverseT[1][1] * f2 + kInverseT[1][2] * f3 -
                (kAlpha / h_ * w2 - kBeta / h_ * w3);
    third[i] = kInverseT[2][0] * f1 + kInverseT[2][1] * f2 + kInverseT[2][2] * f3 -
               (kBeta / h_ * w2 + kAlpha / h_ * w3);
  }
  real_.solve(first);
  complex_.solve(second, third);
  double norm = 0;
  for (int i = 0; i < n_; ++i) {
    const double size =
        std::max({std::abs(first[i]), std::abs(second[i]), std::abs(third[i])}) * scales.inverse[i];
    if (!(size <= norm)) norm = size;
    const double w1 = w_[at(i)] += first[i];
    const double w2 = w_[at(n_ + i)] += second[i];
    const double w3 = w_[at(2 * n_ + i)] += third[i];
    for (int s = 0; s < 3; ++s) z_[at(s * all_ + i)] = kT[s][0] * w1 + kT[s][1] * w2 + kT[s][2] * w3;
  }
  return norm;
}

void RadauStepper::finish_quadratures() {
  for (int i = n_; i < all_; ++i) {
    for (int s = 0; s < 3; ++s) {
      z_[at(s * all_ + i)] = h_ * (kA[s][0] * rates_[at(i)] + kA[s][1] * rates_[at(all_ + i)] +
                                   kA[s][2] * rates_[at(2 * all_ + i)]);
    }
  }
}

void RadauStepper::fill_dense() {
  // y₀ + θ Δ + θ(θ − 1)(P + (θ − c₁) Q) through y₀ + z₁ at c₁, y₀ + z₂ at c₂, y₁ at 1.
  for (int i = 0; i < all_; ++i) {
    const double z1 = z_[at(i)];
    const double z2 = z_[at(all_ + i)];
    const double difference = y1_[at(i)] - y0_[i];
    const double p1 = (z1 - kC1 * difference) / (kC1 * (kC1 - 1));
    const double p2 = (z2 - kC2 * difference) / (kC2 * (kC2 - 1));
    dense_[at(i)] = difference;
    dense_[at(all_ + i)] = p1;
    dense_[at(2 * all_ + i)] = (p2 - p1) / (kC2 - kC1);
  }
}

void RadauStepper::dense(double theta, int begin, int end, double* out) const {
  const double rest = 1 - theta;
  for (int i = begin; i < end; ++i) {
    const double* c = dense_.data() + i;
    const double bulge = -theta * rest * (c[all_] + (theta - kC1) * c[2 * all_]);
    const double base = theta <= 0.5 ? y0_[i] + theta * c[0] : y1_[at(i)] - rest * c[0];
    out[i - begin] = base + bulge;
  }
}

void RadauStepper::estimate_error(const double* f0) {
  for (int i = 0; i < n_; ++i) {
    const double sum = kE[0] * z_[at(i)] + kE[1] * z_[at(all_ + i)] + kE[2] * z_[at(2 * all_ + i)];
    error_rhs_[at(i)] = sum / h_;
    error_[at(i)] = f0[i] + error_rhs_[at(i)];
  }
  real_.solve(error_.data());
  for (int i = n_; i < all_; ++i) {
    const double sum = kE[0] * z_[at(i)] + kE[1] * z_[at(all_ + i)] + kE[2] * z_[at(2 * all_ + i)];
    error_rhs_[at(i)] = sum;
    error_[at(i)] = (h_ * f0[i] + sum) / kGamma;
  }
}

double RadauStepper::error(const double* inverse_scale, int components) const {
  double norm = 0;
  for (int i = 0; i < components; ++i) {
    const double size = std::abs(error_[at(i)]) * inverse_scale[i];
    if (!(size <= norm)) norm = size;
  }
  const double infinite = std::numeric_limits<double>::infinity();
  return norm <= infinite ? norm : infinite;
}

double RadauStepper::stiffness(const double* inverse_scale) const {
  double norm = 0;
  for (int i = 0; i < n_; ++i) {
    double sum = 0;
    for (int j = 0; j < n_; ++j)
      sum += std::abs(jacobian_[at(i * n_ + j)]) * (inverse_scale[i] / inverse_scale[j]);
    norm = std::max(norm, sum);
  }
  return std::abs(h_) * norm / Order8Table::kStiffLimit;
}

}  // namespace judder::engines::numeric
