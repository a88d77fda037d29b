#include "engines/numeric/ranked_lu.hpp"

#include <cmath>
#include <utility>

namespace judder::engines::numeric {

void RankedLu::resize(int n) {
  n_ = n;
  a_.assign(n * n, 0.0);
  work_.assign(n, 0.0);
  row_.assign(n, 0);
  column_.assign(n, 0);
  unique_.assign(n, 1);
  largest_.assign(n, 0.0);
  largest_at_.assign(n, 0);
}

// The largest entry of row i among the columns from p on, the first of equal ones; false: not finite.
bool RankedLu::find_largest(int i, int p, const double* size) {
  const double* row = a_.data() + i * n_;
  double best = -1;
  int at = column_[p];
  for (int j = p; j < n_; ++j) {
    const double entry = row[column_[j]];
    if (!std::isfinite(entry)) return false;
    const double value = entry / size[i] * (entry / size[column_[j]]);
    if (value > best) {
      best = value;
      at = column_[j];
    }
  }
  largest_[i] = best;
  largest_at_[i] = at;
  return true;
}

bool RankedLu::factor(const double* size) {
  for (int i = 0; i < n_; ++i) row_[i] = column_[i] = i;
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
    int best_column = p;
    while (column_[best_column] != largest_at_[row_[best_row]]) ++best_column;
    if (p == 0) first = best;
    if (!(best > kRankTolerance * kRankTolerance * first)) break;
    std::swap(row_[p], row_[best_row]);
    const int moved = column_[p];
    std::swap(column_[p], column_[best_column]);
    const double* pivot_row = a_.data() + row_[p] * n_;
    for (int i = p + 1; i < n_; ++i) {
      const int r = row_[i];
      double* row = a_.data() + r * n_;
      const double ratio = row[column_[p]] / pivot_row[column_[p]];
      row[column_[p]] = ratio;
      // What is not coupled with the pivot stays as it is: blocks cost no more together than each alone.
      if (ratio != 0) {
        for (int j = p + 1; j < n_; ++j) row[column_[j]] -= ratio * pivot_row[column_[j]];
      } else if (largest_at_[r] != column_[p] && largest_at_[r] != moved) {
        continue;
      }
      if (!find_largest(r, p + 1, size)) return false;
    }
    ++rank_;
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
    for (int j = 0; j < p; ++j) sum -= row[column_[j]] * work_[j];
    work_[p] = sum;
  }
  for (int i = 0; i < n_; ++i) x[i] = 0;
  for (int p = rank_ - 1; p >= 0; --p) {
    const double* row = a_.data() + row_[p] * n_;
    double sum = work_[p];
    for (int j = p + 1; j < rank_; ++j) sum -= row[column_[j]] * x[column_[j]];
    x[column_[p]] = sum / row[column_[p]];
  }
}

}  // namespace judder::engines::numeric
