// Small linear systems whose rows have units of their own: the balances of massless coordinates.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>

namespace judder {

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

}  // namespace judder
