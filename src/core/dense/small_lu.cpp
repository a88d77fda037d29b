#include "core/dense/small_lu.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

namespace judder::dense {

void RealLu::resize(int n) {
  n_ = n;
  const auto size = static_cast<std::size_t>(n);
  a_.assign(size * size, 0.0);
  inverse_pivot_.assign(size, 0.0);
  work_.assign(size, 0.0);
  row_.assign(size, 0);
}

bool RealLu::factor(const double* row_weight) {
  double* a = a_.data();
  for (int k = 0; k < n_; ++k) row_[static_cast<std::size_t>(k)] = k;
  for (int k = 0; k < n_; ++k) {
    if (patience_ != nullptr) patience_->look();
    int pivot = k;
    double best = -1;
    for (int i = k; i < n_; ++i) {
      const double size = std::abs(a[i * n_ + k]) * row_weight[row_[static_cast<std::size_t>(i)]];
      if (size > best) {
        best = size;
        pivot = i;
      }
    }
    if (!(best > 0) || !std::isfinite(best)) return false;
    if (pivot != k) {
      for (int j = 0; j < n_; ++j) std::swap(a[k * n_ + j], a[pivot * n_ + j]);
      std::swap(row_[static_cast<std::size_t>(k)], row_[static_cast<std::size_t>(pivot)]);
    }
    const double inverse = 1 / a[k * n_ + k];
    inverse_pivot_[static_cast<std::size_t>(k)] = inverse;
    for (int i = k + 1; i < n_; ++i) {
      const double factor = a[i * n_ + k] * inverse;
      a[i * n_ + k] = factor;
      if (factor == 0) continue;
      for (int j = k + 1; j < n_; ++j) a[i * n_ + j] -= factor * a[k * n_ + j];
    }
  }
  return true;
}

void RealLu::solve(double* x) {
  const double* a = a_.data();
  double* y = work_.data();
  for (int i = 0; i < n_; ++i) y[i] = x[row_[static_cast<std::size_t>(i)]];
  for (int i = 1; i < n_; ++i) {
    double sum = y[i];
    for (int j = 0; j < i; ++j) sum -= a[i * n_ + j] * y[j];
    y[i] = sum;
  }
  for (int i = n_ - 1; i >= 0; --i) {
    double sum = y[i];
    for (int j = i + 1; j < n_; ++j) sum -= a[i * n_ + j] * x[j];
    x[i] = sum * inverse_pivot_[static_cast<std::size_t>(i)];
  }
}

void ComplexLu::resize(int n) {
  n_ = n;
  const auto size = static_cast<std::size_t>(n);
  re_.assign(size * size, 0.0);
  im_.assign(size * size, 0.0);
  pivot_re_.assign(size, 0.0);
  pivot_im_.assign(size, 0.0);
  work_.assign(2 * size, 0.0);
  row_.assign(size, 0);
}

bool ComplexLu::factor(const double* row_weight) {
  double* re = re_.data();
  double* im = im_.data();
  for (int k = 0; k < n_; ++k) row_[static_cast<std::size_t>(k)] = k;
  for (int k = 0; k < n_; ++k) {
    if (patience_ != nullptr) patience_->look();
    int pivot = k;
    double best = -1;
    for (int i = k; i < n_; ++i) {
      const double size = (std::abs(re[i * n_ + k]) + std::abs(im[i * n_ + k])) *
                          row_weight[row_[static_cast<std::size_t>(i)]];
      if (size > best) {
        best = size;
        pivot = i;
      }
    }
    if (!(best > 0) || !std::isfinite(best)) return false;
    if (pivot != k) {
      for (int j = 0; j < n_; ++j) {
        std::swap(re[k * n_ + j], re[pivot * n_ + j]);
        std::swap(im[k * n_ + j], im[pivot * n_ + j]);
      }
      std::swap(row_[static_cast<std::size_t>(k)], row_[static_cast<std::size_t>(pivot)]);
    }
    const double x = re[k * n_ + k];
    const double y = im[k * n_ + k];
    // Smith's division, so that squares of stiff pivots do not overflow.
    double inverse_re = 0;
    double inverse_im = 0;
    if (std::abs(x) >= std::abs(y)) {
      const double ratio = y / x;
      const double scale = 1 / (x + y * ratio);
      inverse_re = scale;
      inverse_im = -ratio * scale;
    } else {
      const double ratio = x / y;
      const double scale = 1 / (x * ratio + y);
      inverse_re = ratio * scale;
      inverse_im = -scale;
    }
    pivot_re_[static_cast<std::size_t>(k)] = inverse_re;
    pivot_im_[static_cast<std::size_t>(k)] = inverse_im;
    for (int i = k + 1; i < n_; ++i) {
      const double lower_re = re[i * n_ + k] * inverse_re - im[i * n_ + k] * inverse_im;
      const double lower_im = re[i * n_ + k] * inverse_im + im[i * n_ + k] * inverse_re;
      re[i * n_ + k] = lower_re;
      im[i * n_ + k] = lower_im;
      if (lower_re == 0 && lower_im == 0) continue;
      for (int j = k + 1; j < n_; ++j) {
        const double upper_re = re[k * n_ + j];
        const double upper_im = im[k * n_ + j];
        re[i * n_ + j] -= lower_re * upper_re - lower_im * upper_im;
        im[i * n_ + j] -= lower_re * upper_im + lower_im * upper_re;
      }
    }
  }
  return true;
}

void ComplexLu::solve(double* x, double* y) {
  const double* re = re_.data();
  const double* im = im_.data();
  double* u = work_.data();
  double* v = work_.data() + n_;
  for (int i = 0; i < n_; ++i) {
    u[i] = x[row_[static_cast<std::size_t>(i)]];
    v[i] = y[row_[static_cast<std::size_t>(i)]];
  }
  for (int i = 1; i < n_; ++i) {
    double sum_re = u[i];
    double sum_im = v[i];
    for (int j = 0; j < i; ++j) {
      sum_re -= re[i * n_ + j] * u[j] - im[i * n_ + j] * v[j];
      sum_im -= re[i * n_ + j] * v[j] + im[i * n_ + j] * u[j];
    }
    u[i] = sum_re;
    v[i] = sum_im;
  }
  for (int i = n_ - 1; i >= 0; --i) {
    double sum_re = u[i];
    double sum_im = v[i];
    for (int j = i + 1; j < n_; ++j) {
      sum_re -= re[i * n_ + j] * x[j] - im[i * n_ + j] * y[j];
      sum_im -= re[i * n_ + j] * y[j] + im[i * n_ + j] * x[j];
    }
    const double p = pivot_re_[static_cast<std::size_t>(i)];
    const double q = pivot_im_[static_cast<std::size_t>(i)];
    x[i] = sum_re * p - sum_im * q;
    y[i] = sum_re * q + sum_im * p;
  }
}

}  // namespace judder::dense
