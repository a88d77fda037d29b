#include "core/dense/ranked_lu.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace judder::dense {

void RankedLu::resize(int n) {
  n_ = n;
  a_.resize(static_cast<std::size_t>(n) * n);
  work_.assign(n, 0.0);
  for (std::vector<int>* list : {&row_, &column_, &row_at_, &column_at_, &lower_first_, &upper_end_})
    list->assign(n, 0);
  unique_.assign(n, 1);
  largest_.assign(n, 0.0);
  largest_at_.assign(n, 0);
}

// The largest entry of row i among the columns from p on, the first of equal ones; false: not finite.
bool RankedLu::find_largest(int i, int p, const double* size) {
  const double* row = a_.data() + i * n_;
  double best = 0;
  int at = column_[p];
  for (const int c : blocks_.of(i)) {
    if (column_at_[c] < p) continue;
    const double entry = row[c];
    if (!std::isfinite(entry)) return false;
    const double value = entry / size[i] * (entry / size[c]);
    if (value > best || (value == best && best > 0 && column_at_[c] < column_at_[at])) {
      best = value;
      at = c;
    }
  }
  largest_[i] = best;
  largest_at_[i] = at;
  return true;
}

bool RankedLu::factor(const double* size) {
  blocks_.find(a_.data(), n_);
  for (int i = 0; i < n_; ++i) row_[i] = column_[i] = row_at_[i] = column_at_[i] = i;
  for (int i = 0; i < n_; ++i) {
    if (!find_largest(i, 0, size)) return false;
  }
  rank_ = 0;
  double first = 0;
  for (int p = 0; p < n_; ++p) {
    look();
    int best_row = p;
    double best = -1;
    for (int i = p; i < n_; ++i) {
      if (largest_[row_[i]] > best) {
        best = largest_[row_[i]];
        best_row = i;
      }
    }
    if (p == 0) first = best;
    if (!(best > kRankTolerance * kRankTolerance * first)) break;
    const int best_column = column_at_[largest_at_[row_[best_row]]];
    const int moved = column_[p];
    std::swap(row_[p], row_[best_row]);
    std::swap(column_[p], column_[best_column]);
    row_at_[row_[best_row]] = best_row;
    row_at_[row_[p]] = column_at_[column_[p]] = p;
    column_at_[moved] = best_column;
    column_at_[column_[p]] = p;
    const double* pivot_row = a_.data() + row_[p] * n_;
    // What is not coupled with the pivot stays as it is: blocks cost no more together than each alone.
    for (const int r : blocks_.of(row_[p])) {
      if (row_at_[r] <= p) continue;
      double* row = a_.data() + r * n_;
      const double ratio = row[column_[p]] / pivot_row[column_[p]];
      row[column_[p]] = ratio;
      if (ratio != 0) {
        for (const int c : blocks_.of(r)) {
          if (column_at_[c] > p) row[c] -= ratio * pivot_row[c];
        }
      } else if (largest_at_[r] != column_[p] && largest_at_[r] != moved) {
        continue;
      }
      if (!find_largest(r, p + 1, size)) return false;
    }
    // Of equal entries the first counts, and the column that made room for the pivot is a later one now.
    if (!blocks_.together(moved, row_[p])) {
      for (const int r : blocks_.of(moved)) {
        if (row_at_[r] > p && largest_at_[r] == moved && !find_largest(r, p + 1, size)) return false;
      }
    }
    ++rank_;
  }
  for (int p = 0; p < rank_; ++p) {
    const double* row = a_.data() + row_[p] * n_;
    lower_first_[p] = p;
    upper_end_[p] = p + 1;
    for (const int c : blocks_.of(row_[p])) {
      const int at = column_at_[c];
      if (row[c] == 0 || at >= rank_) continue;
      lower_first_[p] = std::min(lower_first_[p], at);
      upper_end_[p] = std::max(upper_end_[p], at + 1);
    }
  }
  // Null vectors, one for each free unknown; sizes compared as squares again.
  for (int i = 0; i < n_; ++i) unique_[column_[i]] = i < rank_ ? 1 : 0;
  for (int f = rank_; f < n_; ++f) {
    look();
    for (int p = rank_ - 1; p >= 0; --p) {
      const double* row = a_.data() + row_[p] * n_;
      double sum = -row[column_[f]];
      for (int j = p + 1; j < rank_; ++j) sum -= row[column_[j]] * work_[j];
      work_[p] = sum / row[column_[p]];
      if (work_[p] * work_[p] * size[column_[p]] > kUniqueTolerance * kUniqueTolerance * size[column_[f]])
        unique_[column_[p]] = 0;
    }
  }
  return true;
}

void RankedLu::null_vector(int number, double* x) const {
  const int free = rank_ + number;
  for (int i = 0; i < n_; ++i) x[i] = 0;
  x[column_[free]] = 1;
  for (int p = rank_ - 1; p >= 0; --p) {
    const double* row = a_.data() + row_[p] * n_;
    double sum = -row[column_[free]];
    for (int j = p + 1; j < rank_; ++j) sum -= row[column_[j]] * x[column_[j]];
    x[column_[p]] = sum / row[column_[p]];
  }
}

void RankedLu::solve(double* x) {
  for (int p = 0; p < rank_; ++p) {
    const double* row = a_.data() + row_[p] * n_;
    double sum = x[row_[p]];
    for (int j = lower_first_[p]; j < p; ++j) sum -= row[column_[j]] * work_[j];
    work_[p] = sum;
  }
  for (int i = 0; i < n_; ++i) x[i] = 0;
  for (int p = rank_ - 1; p >= 0; --p) {
    const double* row = a_.data() + row_[p] * n_;
    double sum = work_[p];
    for (int j = p + 1; j < upper_end_[p]; ++j) sum -= row[column_[j]] * x[column_[j]];
    x[column_[p]] = sum / row[column_[p]];
  }
}

}  // namespace judder::dense
