// LU factorisation of small dense matrices with partial pivoting, real and complex, in memory that is
// allocated once.
//
//     P A = L U,   A n × n, row-major
//
// A pivot is the entry of its column that is largest after multiplication with its row's weight. With weights
// 1/s_i, s_i the scale of equation i, a change of units changes no pivot. Sums run in a fixed order. Complex
// numbers are held as separate real and imaginary matrices: the library's complex product pays for infinities
// that do not occur here.
#pragma once

#include <vector>

#include "judder/core/patience.hpp"

namespace judder::dense {

class RealLu {
 public:
  void resize(int n);
  /// Looked at while a matrix is factored; null: never.
  void use(Patience* patience) { patience_ = patience; }
  [[nodiscard]] double* matrix() { return a_.data(); }  ///< write A here, then factor()

  /// False: singular to the last bit or not finite.
  bool factor(const double* row_weight);

  /// x ← A⁻¹ x
  void solve(double* x);

 private:
  Patience* patience_ = nullptr;
  int n_ = 0;
  std::vector<double> a_;
  std::vector<double> inverse_pivot_;
  std::vector<double> work_;
  std::vector<int> row_;
};

class ComplexLu {
 public:
  void resize(int n);
  /// Looked at while a matrix is factored; null: never.
  void use(Patience* patience) { patience_ = patience; }
  [[nodiscard]] double* real() { return re_.data(); }
  [[nodiscard]] double* imaginary() { return im_.data(); }
  bool factor(const double* row_weight);

  /// (x + i y) ← A⁻¹ (x + i y)
  void solve(double* x, double* y);

 private:
  Patience* patience_ = nullptr;
  int n_ = 0;
  std::vector<double> re_;
  std::vector<double> im_;
  std::vector<double> pivot_re_;  ///< reciprocal pivots
  std::vector<double> pivot_im_;
  std::vector<double> work_;
  std::vector<int> row_;
};

}  // namespace judder::dense
