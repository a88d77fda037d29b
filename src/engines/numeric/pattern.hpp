// Where a square matrix has entries: sums over its rows pass over zeros, in the order in which a sum over all of them would go, so that the bits are
// the same and what is not connected costs nothing.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace judder::engines::numeric {

class Pattern {
 public:
  /// Of the n × n matrix `a`, by rows.
  Pattern(int n, const double* a) {
    first_.reserve(static_cast<std::size_t>(n) + 1);
    first_.push_back(0);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        if (a[static_cast<std::size_t>(i) * n + j] != 0) column_.push_back(j);
      }
      first_.push_back(column_.size());
    }
  }

  /// Columns of the entries of a row that are not zero, in their order.
  [[nodiscard]] std::span<const int> row(int i) const {
    const auto at = static_cast<std::size_t>(i);
    return std::span(column_).subspan(first_[at], first_[at + 1] - first_[at]);
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<int> column_;
};

}  // namespace judder::engines::numeric
