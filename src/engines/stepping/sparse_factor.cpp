// Sparse matrices and the envelope factorisation of structures.
#include <algorithm>
#include <cmath>

#include "judder/core/renumber.hpp"
#include "judder/engines/structure.hpp"

namespace judder::engines {

void SparseMatrix::apply(const double* x, double* y) const {
  for (int i = 0; i < size; ++i) {
    double sum = 0;
    for (int e = begin[i]; e < begin[i + 1]; ++e) sum += value[e] * x[column[e]];
    y[i] = sum;
  }
}

SparseMatrix make_sparse(int size, std::vector<SparseEntry> entries) {
  std::stable_sort(entries.begin(), entries.end(), [](const SparseEntry& a, const SparseEntry& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  SparseMatrix out;
  out.size = size;
  out.begin.assign(static_cast<std::size_t>(size) + 1, 0);
  for (std::size_t k = 0; k < entries.size(); ++k) {
    if (k > 0 && entries[k].row == entries[k - 1].row && entries[k].column == entries[k - 1].column) {
      out.value.back() += entries[k].value;
      continue;
    }
    out.column.push_back(entries[k].column);
    out.value.push_back(entries[k].value);
    ++out.begin[entries[k].row + 1];
  }
  for (int i = 0; i < size; ++i) out.begin[i + 1] += out.begin[i];
  return out;
}

bool SparseFactor::factor(const SparseMatrix& a) {
  n_ = a.size;
  const auto n = static_cast<std::size_t>(n_);
  place_ = renumber(a.size, a.begin, a.column);
  first_.resize(n);
  for (int i = 0; i < n_; ++i) first_[i] = i;
  for (int i = 0; i < n_; ++i) {
    for (int e = a.begin[i]; e < a.begin[i + 1]; ++e)
      first_[place_[i]] = std::min(first_[place_[i]], place_[a.column[e]]);
  }
  row_.resize(n + 1);
  row_[0] = 0;
  for (std::size_t i = 0; i < n; ++i) row_[i + 1] = row_[i] + (i - static_cast<std::size_t>(first_[i]));
  value_.assign(row_[n], 0.0);
  diagonal_.assign(n, 0.0);
  work_.resize(n);
  for (int i = 0; i < n_; ++i) {
    for (int e = a.begin[i]; e < a.begin[i + 1]; ++e) {
      const int r = place_[i], c = place_[a.column[e]];
      if (c < r) value_[row_[r] + static_cast<std::size_t>(c - first_[r])] = a.value[e];
      if (c == r) diagonal_[r] = a.value[e];
    }
  }
  for (int i = 0; i < n_; ++i) {
    double* line = value_.data() + row_[i] - first_[i];  // line[c] is entry (i, c)
    for (int j = first_[i]; j < i; ++j) {
      const double* other = value_.data() + row_[j] - first_[j];
      double sum = line[j];
      for (int k = std::max(first_[i], first_[j]); k < j; ++k) sum -= line[k] * other[k];
      line[j] = sum;  // times the pivot, until the row is done
    }
    double pivot = diagonal_[i];
    for (int j = first_[i]; j < i; ++j) {
      const double factor = line[j] / diagonal_[j];
      pivot -= factor * line[j];
      line[j] = factor;
    }
    if (!(pivot > 0) || !(pivot > 1e-14 * diagonal_[i])) return false;
    diagonal_[i] = pivot;
  }
  return true;
}

void SparseFactor::solve(double* x) {
  for (int i = 0; i < n_; ++i) work_[place_[i]] = x[i];
  for (int i = 0; i < n_; ++i) {
    const double* line = value_.data() + row_[i] - first_[i];
    double sum = work_[i];
    for (int k = first_[i]; k < i; ++k) sum -= line[k] * work_[k];
    work_[i] = sum;
  }
  for (int i = 0; i < n_; ++i) work_[i] /= diagonal_[i];
  for (int i = n_ - 1; i >= 0; --i) {
    const double* line = value_.data() + row_[i] - first_[i];
    const double known = work_[i];
    for (int k = first_[i]; k < i; ++k) work_[k] -= line[k] * known;
  }
  for (int i = 0; i < n_; ++i) x[i] = work_[place_[i]];
}

}  // namespace judder::engines
