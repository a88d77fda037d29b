// Small dense matrices for analysis: solving and eigenvalues. Not for anything that decides an event.
//
// Eigenvalues: Hessenberg form by Householder reflections, then QR steps with Wilkinson shifts in complex arithmetic, deflating from the end
// (G. H. Golub and C. F. Van Loan, Matrix Computations, 7.4 and 7.5). Matrices here have a few to a few dozen rows; cost n³.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

#include "judder/core/patience.hpp"

namespace judder::dense {

using Complex = std::complex<double>;

/// n×n, row-major.
template <class Scalar>
struct SquareMatrix {
  std::size_t n = 0;
  std::vector<Scalar> a;
  explicit SquareMatrix(std::size_t size) : n(size), a(size * size) {}
  Scalar& operator()(std::size_t i, std::size_t j) { return a[i * n + j]; }
};
using ComplexMatrix = SquareMatrix<Complex>;
using RealMatrix = SquareMatrix<double>;

/// b becomes A⁻¹ b for `columns` right-hand sides (n×columns, row-major), by Gaussian elimination with row pivoting; A is used up. False: singular.
/// `patience` is looked at for each row, here and below.
[[nodiscard]] bool solve(ComplexMatrix& a, std::vector<Complex>& b, std::size_t columns = 1,
                         Patience* patience = nullptr);
[[nodiscard]] bool solve(RealMatrix& a, std::vector<double>& b, std::size_t columns = 1,
                         Patience* patience = nullptr);

/// By falling real part, then by falling imaginary part. Empty: not finite, or no convergence.
[[nodiscard]] std::vector<Complex> eigenvalues(ComplexMatrix a, Patience* patience = nullptr);

[[nodiscard]] double dot(const std::vector<double>& a, const std::vector<double>& b);
[[nodiscard]] double norm(const std::vector<double>& a);
/// Independent directions among rows, orthonormal, the longest first; those shorter than `least` are left out.
[[nodiscard]] std::vector<std::vector<double>> independent(std::vector<std::vector<double>> rows,
                                                           double least);
/// Orthonormal vectors of this width that are orthogonal to all of an orthonormal basis and complete it.
[[nodiscard]] std::vector<std::vector<double>> orthogonal_to(const std::vector<std::vector<double>>& basis,
                                                             std::size_t width);

}  // namespace judder::dense
