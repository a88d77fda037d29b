// Rows that act on each other, directly or through others, form a block. Blocks have nothing to do with each other: each is decided by itself, and
// what one costs does not depend on how many others there are.
#pragma once

#include <span>
#include <vector>

#include "judder/contact/decision.hpp"

namespace judder::contact {

/// A partition of rows 0 … n − 1. Blocks are numbered by their first rows; rows of a block ascend.
class Blocks {
 public:
  /// Memory for `rows` rows; nothing below allocates.
  void resize(int rows);
  /// Every row by itself.
  void start(int rows);
  void join(int a, int b);
  /// Numbers the blocks. After it:
  void finish();

  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] int block_of(int row) const { return number_[static_cast<std::size_t>(row)]; }
  [[nodiscard]] std::span<const int> rows(int block) const {
    const auto from = static_cast<std::size_t>(first_[static_cast<std::size_t>(block)]);
    return std::span(row_).subspan(
        from, static_cast<std::size_t>(first_[static_cast<std::size_t>(block) + 1]) - from);
  }

 private:
  [[nodiscard]] int root(int row);
  int size_ = 0;
  int count_ = 0;
  std::vector<int> parent_, number_, first_, row_;
};

/// Joins rows that the numbers of the problem couple: entries of A or of the coupling that are not zero. For callers who know no more of the problem than
/// its numbers; who knows its form joins by that.
void join_coupled(const DecisionProblem& problem, Blocks& blocks);

/// The problem of some of the rows, in memory of its own.
class BlockProblem {
 public:
  void resize(int normals, int tangents);
  /// `rows` ascend. The views of the result are valid until the next call.
  [[nodiscard]] DecisionProblem take(const DecisionProblem& problem, std::span<const int> rows);

 private:
  std::vector<double> A_, b_, mu_static_, mu_slip_, base_, mu_below_, mu_slip_below_, base_below_, coupling_,
      force_scale_, acceleration_scale_;
  std::vector<NormalKind> kind_;
  std::vector<TangentState> state_;
  std::vector<std::uint16_t> excluded_;
};

}  // namespace judder::contact
