// Small linear systems whose rows have units of their own: balances of massless coordinates, rests that move with a load.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace judder::dense {

/// Gaussian elimination with partial pivoting on a k×k system in place; false if singular. Rows have units of their own: their entries are
/// compared after division by the size of the row, Σ a_rc²/|a_cc|, so that a stiffness and the row of a joint are alike in all units. `size` is memory.
inline bool eliminate(double* a, double* b, double* size, std::size_t k) {
  for (std::size_t r = 0; r < k; ++r) {
    size[r] = 0;
    for (std::size_t c = 0; c < k; ++c) {
      const double own = std::abs(a[c * k + c]);
      if (own > 0) size[r] += std::abs(a[r * k + c]) / own * std::abs(a[r * k + c]);
    }
  }
  for (std::size_t c = 0; c < k; ++c) {
    std::size_t best = c;
    double most = 0;
    for (std::size_t r = c; r < k; ++r) {
      const double entry = std::abs(a[r * k + c]);
      const double share = entry > 0 ? entry / size[r] * entry : 0;
      if (!(share > most)) continue;
      most = share;
      best = r;
    }
    if (!(std::abs(a[best * k + c]) > 0)) return false;
    if (best != c) {
      for (std::size_t j = 0; j < k; ++j) std::swap(a[c * k + j], a[best * k + j]);
      std::swap(b[c], b[best]);
      std::swap(size[c], size[best]);
    }
    for (std::size_t r = c + 1; r < k; ++r) {
      if (a[r * k + c] == 0) continue;  // of many springs few meet at one node
      const double factor = a[r * k + c] / a[c * k + c];
      for (std::size_t j = c; j < k; ++j) a[r * k + j] -= factor * a[c * k + j];
      b[r] -= factor * b[c];
    }
  }
  for (std::size_t c = k; c-- > 0;) {
    for (std::size_t j = c + 1; j < k; ++j) b[c] -= a[c * k + j] * b[j];
    b[c] /= a[c * k + c];
  }
  return true;
}

/// Elimination with partial pivoting on an n×n system in place, entries compared with the largest of their row. The sign of the determinant;
/// 0: not finite, singular to the last bit, or a pivot is below the share `least` of its row. `size` is memory.
inline int solve_scaled(double* a, double* b, double* size, std::size_t n, double least = 0) {
  int sign = 1;
  for (std::size_t i = 0; i < n; ++i) {
    size[i] = 0;
    for (std::size_t j = 0; j < n; ++j) size[i] = std::max(size[i], std::abs(a[i * n + j]));
    if (!(size[i] > 0) || !std::isfinite(size[i])) return 0;
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i) {
      if (std::abs(a[i * n + k]) * size[pivot] > std::abs(a[pivot * n + k]) * size[i]) pivot = i;
    }
    if (a[pivot * n + k] == 0 || !std::isfinite(a[pivot * n + k])) return 0;
    if (std::abs(a[pivot * n + k]) < least * size[pivot]) return 0;
    if (pivot != k) {
      for (std::size_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
      std::swap(b[k], b[pivot]);
      std::swap(size[k], size[pivot]);
      sign = -sign;
    }
    if (a[k * n + k] < 0) sign = -sign;
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      if (factor == 0) continue;
      for (std::size_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k * n + j] * b[j];
    b[k] /= a[k * n + k];
  }
  return sign;
}

}  // namespace judder::dense
