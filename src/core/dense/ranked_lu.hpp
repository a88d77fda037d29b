// LU factorisation of a small square matrix whose rows may depend on each other.
//
//     A x = b,   A n × n, row-major, b in the range of A up to rounding
//
// Complete pivoting, entries compared as a_ij²/(s_i s_j) with given sizes s of rows and columns: a change of units changes no pivot, and no
// root rounds differently in units that differ by a power of two. A remaining block with all entries below 1e-10 of the first pivot is zero; its
// unknowns are free and get zero. What is not coupled costs nothing together. Where some solution of A x = 0 has a part in an unknown, that unknown is not unique.
#pragma once

#include <cstdint>
#include <vector>

#include "core/dense/coupled_blocks.hpp"
#include "judder/core/patience.hpp"

namespace judder::dense {

class RankedLu {
 public:
  void resize(int n);
  /// Looked at while a matrix is factored; null: never.
  void use(Patience* patience) { patience_ = patience; }
  [[nodiscard]] double* matrix() { return a_.data(); }  ///< write A here, then factor()
  /// False: not finite.
  bool factor(const double* size);
  [[nodiscard]] int rank() const { return rank_; }
  /// Row and column of pivot p; beyond the rank the dependent ones.
  [[nodiscard]] int row(int p) const { return row_[static_cast<std::size_t>(p)]; }
  [[nodiscard]] int column(int p) const { return column_[static_cast<std::size_t>(p)]; }
  [[nodiscard]] bool unique(int unknown) const { return unique_[static_cast<std::size_t>(unknown)] != 0; }
  /// x ← the solution with free unknowns zero. Equations beyond the rank are not looked at.
  void solve(double* x);
  /// x ← the solution of A x = 0 with free unknown `number`, of n − rank() ones, equal to 1 and the others zero.
  void null_vector(int number, double* x) const;

 private:
  bool find_largest(int i, int p, const double* size);

  static constexpr double kRankTolerance = 1e-10;
  static constexpr double kUniqueTolerance = 1e-8;  ///< of a free unknown of the same size

  void look() const {
    if (patience_ != nullptr) patience_->look();
  }

  Patience* patience_ = nullptr;
  int n_ = 0;
  int rank_ = 0;
  std::vector<double> a_, work_;
  std::vector<int> row_, column_;
  std::vector<int> row_at_, column_at_;  ///< the pivot that they are, or will be
  CoupledBlocks blocks_;
  std::vector<int> lower_first_, upper_end_;  ///< by pivot: where the entries of its row of L begin, of U end
  std::vector<double> largest_;               ///< by row: its largest entry that is left, as compared
  std::vector<int> largest_at_;               ///< its column
  std::vector<std::uint8_t> unique_;
};

}  // namespace judder::dense
