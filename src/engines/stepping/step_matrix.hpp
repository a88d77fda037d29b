// Factors of the matrix of a step: dense, or sparse where the matrices of a model are large.
#pragma once

#include "core/dense/small_lu.hpp"
#include "judder/engines/structure.hpp"
#include "judder/model/large_matrices.hpp"

namespace judder::engines {

class StepMatrix {
 public:
  /// Memory for a dense matrix.
  void resize(int n) { dense_.resize(n); }
  void use(Patience* patience) { dense_.use(patience); }
  [[nodiscard]] double* matrix() { return dense_.matrix(); }  ///< write a dense one here, then factor()
  [[nodiscard]] bool factor(const double* row_weight) {
    is_sparse_ = false;
    return dense_.factor(row_weight);
  }
  /// M + k K + c C of large matrices. False: it is not positive definite.
  [[nodiscard]] bool factor(const model::LargeMatrices& large, double k, double c);
  /// x ← A⁻¹ x
  void solve(double* x) {
    if (is_sparse_)
      sparse_.solve(x);
    else
      dense_.solve(x);
  }

 private:
  bool is_sparse_ = false;
  dense::RealLu dense_;
  SparseFactor sparse_;
};

}  // namespace judder::engines
