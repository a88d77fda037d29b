// Matrices of many coordinates, kept as numbers.
//
// Up to kLargestFormula coordinates the entries of [matrices] become formulas like everything else. Beyond that they stay what they are
// in their files: M, C and K by rows and columns, symmetric, and System::motion subtracts K q + C v from the other forces. Memory and
// work grow with the number of entries; nothing has n × n numbers. Such a model has no kinetic or potential formulas with velocities or
// positions of its own, and is moved by the schemes that need no formula for the slopes of forces: moreau, theta, newmark,
// paoli-schatzman (docs/stepping.md).
#pragma once

#include <vector>

#include "judder/model/system.hpp"

namespace judder::model {

/// Coordinates of a model whose matrices are formulas.
inline constexpr int kLargestFormula = 1000;

/// By rows, columns ascending; both triangles.
struct MatrixRows {
  int size = 0;
  std::vector<int> begin, column;
  std::vector<double> value;

  /// y = y + share A x
  void add(double share, const double* x, double* y) const {
    for (int i = 0; i < size; ++i) {
      double sum = 0;
      for (int e = begin[i]; e < begin[i + 1]; ++e) sum += value[e] * x[column[e]];
      y[i] += share * sum;
    }
  }
  /// x·A x
  [[nodiscard]] double square(const double* x) const {
    double all = 0;
    for (int i = 0; i < size; ++i) {
      double sum = 0;
      for (int e = begin[i]; e < begin[i + 1]; ++e) sum += value[e] * x[column[e]];
      all += x[i] * sum;
    }
    return all;
  }
};

struct LargeMatrices {
  MatrixRows mass, damping, stiffness;
  int damping_power = -1;  ///< output of System::powers that −v·C v is
  int kinetic = -1,
      potential =
          -1;  ///< places in the array of inputs of ½ v·M v and ½ q·K q, for energies and output columns
  bool only_matrices = false;  ///< other forces do not depend on the state, perhaps on t
};

/// Null: the matrices of the system are formulas, or it has none.
[[nodiscard]] const LargeMatrices* large_matrices(const System& system);
/// What an engine says that cannot take them; empty: there are none.
[[nodiscard]] std::string large_matrices_problem(const System& system);

}  // namespace judder::model
