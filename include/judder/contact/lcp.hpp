// Linear complementarity problems, dense and small.
//
//     w = M z + q,     0 ≤ w_i  ⟂  z_i ≥ 0            (ordinary rows)
//                      w_i = 0,    z_i free           (free rows of a mixed problem)
//
// M is any square matrix. Two solvers and one judge:
// - `solve_lemke`: Lemke's method with lexicographic ratio test, so it cannot cycle. It ends with a
//   solution or on a ray. For copositive-plus matrices a ray proves that there is no solution; in general
//   it proves nothing, and other covering vectors are tried.
// - `solve_enumeration`: all 2ⁿ choices of which side of each row is zero; finds a solution if there is one
//   with a regular basis, and says on request whether there are others. n ≤ 24.
// - `lcp_residual`: how far (z, Mz + q) is from a solution, computed from the data only, in no unit (below).
//
// Rows and columns are equilibrated first, so a change of the units of w or z changes nothing but rounding.
// Free rows are eliminated with complete pivoting; dependent free rows are dropped if they agree with the
// others, and are an `inconsistent_free_rows` status if they do not. Nothing allocates after
// LcpWorkspace::resize.
//
// R. W. Cottle, J.-S. Pang, R. E. Stone, The Linear Complementarity Problem, SIAM (2009), chapter 4.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judder/core/patience.hpp"

namespace judder::contact {

/// Views of the caller's numbers.
struct LcpProblem {
  int size = 0;
  const double* M = nullptr;           ///< size × size by rows
  const double* q = nullptr;           ///< size
  const std::uint8_t* free = nullptr;  ///< size; 1 marks a free row; null: an ordinary problem
};

struct LemkeOptions {
  int max_pivots = 0;              ///< per covering vector; 0 means 50 + 20 · size
  int other_covers = 4;            ///< further covering vectors to try after a ray; ≥ 0
  double pivot_tolerance = 1e-11;  ///< entries below this times their column's largest are zero; (0, 1e-6]
};

struct EnumerationOptions {
  double tolerance = 1e-10;  ///< z and w may be negative by this, relative to their terms; [0, 1e-3]
  bool count_all = false;    ///< go through all bases instead of stopping at the first solution
};

enum class LcpStatus : std::uint8_t {
  solved,
  ray,                     ///< Lemke ended on a ray
  no_solution,             ///< enumeration: no regular basis gives a solution
  too_many_pivots,         ///< Lemke's limit
  too_large,               ///< enumeration of more than 24 rows
  inconsistent_free_rows,  ///< dependent free rows contradict each other
};
[[nodiscard]] const char* name(LcpStatus status);

/// Views into the workspace, valid until its next use.
struct LcpSolution {
  LcpStatus status = LcpStatus::no_solution;
  int iterations = 0;   ///< pivots, or bases tried
  int solutions = 0;    ///< enumeration: bases whose z differs from the first one's, plus one
  double residual = 1;  ///< lcp_residual of z
  std::span<const double> z;
  std::span<const double> w;
};

class LcpWorkspace {
 public:
  /// Memory for problems up to `size`; grows, never shrinks.
  void resize(int size);
  /// Asked at each pivot whether to go on; it must live as long. Null: nobody.
  void use(Patience* patience) { patience_ = patience; }

 private:
  friend class LcpSolver;
  int capacity_ = 0;
  Patience* patience_ = nullptr;
  std::vector<double> matrix_, vector_, row_scale_, column_scale_, tableau_, z_, w_, first_;
  std::vector<int> basis_, free_row_, free_column_, ordinary_, order_;
};

[[nodiscard]] LcpSolution solve_lemke(const LcpProblem& problem, const LemkeOptions& options,
                                      LcpWorkspace& workspace);
[[nodiscard]] LcpSolution solve_enumeration(const LcpProblem& problem, const EnumerationOptions& options,
                                            LcpWorkspace& workspace);

/// max_i |min(ŵ_i, ẑ_i)| over ordinary rows and |ŵ_i| over free rows, where ŵ_i is w_i relative to the
/// terms it is the sum of, t_i = |q_i| + Σ_j |M_ij z_j|, and ẑ_i = max_k |M_ki| z_i / t_k is what z_i
/// contributes to any row. Each lies in [−1, 1], so the residual has no unit and is 1 for z = 0 with a
/// negative q. Infinite when z is not finite.
[[nodiscard]] double lcp_residual(const LcpProblem& problem, std::span<const double> z);

/// A problem that owns its numbers.
struct LcpData {
  int size = 0;
  std::vector<double> M, q;
  std::string error;  ///< empty, or why the text could not be read
  [[nodiscard]] LcpProblem problem() const { return {size, M.data(), q.data(), nullptr}; }
};

/// Reads the text of a `.dat` file: size, storage (0, dense), rows, columns, twice; the matrix by columns;
/// q. What follows is a remark.
[[nodiscard]] LcpData read_lcp(std::string_view text);

}  // namespace judder::contact
