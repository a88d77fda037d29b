// Small systems of equations by Gauss-Jordan reduction, several right-hand sides at a time, without memory of its own.
//
//     [ A | B ]  →  [ D | B' ],   D diagonal,   A X = B  ⇔  X = D⁻¹ B'
//
// Sums in the written order.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "judder/core/patience.hpp"

namespace judder::dense {

/// Row pivoting by the plain size of the entries, for equations of one unit. `a` has `rows` rows of `width` entries, the first `rows` of them A. Returns the first column of A without a pivot above `nothing`,
/// `rows` if there is none; a row without a pivot is left as it is, and the others are reduced.
inline int reduce(double* a, int rows, int width, double nothing = 0) {
  int without = rows;
  for (int p = 0; p < rows; ++p) {
    int best = p;
    for (int r = p + 1; r < rows; ++r) {
      if (std::abs(a[r * width + p]) > std::abs(a[best * width + p])) best = r;
    }
    const double pivot = a[best * width + p];
    if (!(std::abs(pivot) > nothing) || !std::isfinite(pivot)) {
      if (without == rows) without = p;
      continue;
    }
    if (best != p) {
      for (int c = 0; c < width; ++c) std::swap(a[p * width + c], a[best * width + c]);
    }
    for (int r = 0; r < rows; ++r) {
      if (r == p) continue;
      const double ratio = a[r * width + p] / pivot;
      for (int c = p; c < width; ++c) a[r * width + c] -= ratio * a[p * width + c];
    }
  }
  return without;
}

/// What is left of the responses a (size × size) of other rows when row k is held: its pivot must not be zero. Its own row stays.
inline void hold_row(double* a, std::size_t size, std::size_t k) {
  const double* const own = a + k * size;
  for (std::size_t i = 0; i < size; ++i) {
    const double share = a[i * size + k] / own[k];
    if (i == k || share == 0) continue;
    for (std::size_t j = 0; j < size; ++j) a[i * size + j] -= share * own[j];
  }
}

/// A pivot: where an unknown stands alone.
struct Pivot {
  std::size_t row = 0, column = 0;
};

/// The same with complete pivoting among the first `unknowns` columns of `rows` rows of `width` entries, for equations that may depend on each other.
/// Each pivot becomes 1, the rest of its column 0. `size(i, j)`: an entry as it is compared; it ends where none is above `least`. Returned in their order.
template <class Size>
std::vector<Pivot> reduce_ranked(double* a, std::size_t rows, std::size_t unknowns, std::size_t width,
                                 double least, const Size& size, Patience* patience = nullptr) {
  std::vector<Pivot> pivots;
  std::vector<std::uint8_t> used_row(rows, 0), used_column(unknowns, 0);
  for (;;) {
    Pivot at{rows, 0};
    double most = least;
    for (std::size_t i = 0; i < rows; ++i) {
      if (used_row[i] != 0) continue;
      for (std::size_t j = 0; j < unknowns; ++j) {
        if (used_column[j] != 0) continue;
        const double entry = size(i, j);
        if (!(entry > most)) continue;
        most = entry;
        at = {i, j};
      }
    }
    if (at.row == rows) return pivots;
    if (patience != nullptr) patience->look();
    used_row[at.row] = used_column[at.column] = 1;
    pivots.push_back(at);
    double* const own = a + at.row * width;
    const double inverse = 1 / own[at.column];
    for (std::size_t j = 0; j < width; ++j) own[j] *= inverse;
    own[at.column] = 1;
    for (std::size_t i = 0; i < rows; ++i) {
      double* const other = a + i * width;
      const double factor = other[at.column];
      if (i == at.row || factor == 0) continue;
      for (std::size_t j = 0; j < width; ++j) other[j] -= factor * own[j];
      other[at.column] = 0;
    }
  }
}

}  // namespace judder::dense
