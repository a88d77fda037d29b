// Which unknowns of a square matrix are coupled: i and j are in one block where a_ij or a_ji is not zero, and through others.
//
// What eliminates one block leaves the entries of the others as they are, so a factorisation of all of them need not look there. The matrix is read
// once, and memory is kept.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace judder::dense {

class CoupledBlocks {
 public:
  /// n × n by rows. Few unknowns are one block: to look is no dearer than to eliminate.
  void find(const double* a, int n) {
    few_ = n <= static_cast<int>(kFirst.size()) ? static_cast<std::size_t>(n) : 0;
    if (few_ > 0) return;
    const auto size = static_cast<std::size_t>(n);
    root_.resize(size);
    begin_.assign(size + 1, 0);
    member_.resize(size);
    for (int i = 0; i < n; ++i) root_[i] = i;
    for (int i = 0; i < n; ++i) {
      const double* row = a + static_cast<std::size_t>(i) * size;
      for (int j = 0; j < n; ++j) {
        if (j == i || row[j] == 0) continue;
        const int one = root(i);
        const int other = root(j);
        root_[std::max(one, other)] = std::min(one, other);
      }
    }
    for (int i = 0; i < n; ++i) {
      root_[i] = root(i);
      ++begin_[static_cast<std::size_t>(root_[i]) + 1];
    }
    for (std::size_t i = 0; i < size; ++i) begin_[i + 1] += begin_[i];
    // Ascending within each block; `begin_` moves to its end and back.
    for (int i = 0; i < n; ++i) member_[begin_[root_[i]]++] = i;
    for (std::size_t i = size; i > 0; --i) begin_[i] = begin_[i - 1];
    begin_[0] = 0;
  }
  /// Those coupled with i, itself among them, ascending.
  [[nodiscard]] std::span<const int> of(int i) const {
    if (few_ > 0) return {kFirst.data(), few_};
    const int block = root_[i];
    return {member_.data() + begin_[block], static_cast<std::size_t>(begin_[block + 1] - begin_[block])};
  }
  [[nodiscard]] bool together(int i, int j) const { return few_ > 0 || root_[i] == root_[j]; }

 private:
  [[nodiscard]] int root(int i) {
    while (root_[i] != i) i = root_[i] = root_[root_[i]];
    return i;
  }

  static constexpr std::array<int, 7> kFirst{0, 1, 2, 3, 4, 5, 6};

  std::size_t few_ = 0;  ///< all of them, where there are few
  std::vector<int> root_, begin_, member_;
};

}  // namespace judder::dense
