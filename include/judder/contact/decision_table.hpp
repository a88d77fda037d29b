// A decision that returns again and again with other right-hand sides.
//
// Where masses, rows and laws are constant, the decision problems of one set of rows and rules (decision.hpp) differ in b alone. In each of its
// modes reactions and accelerations are affine in b, and so is every inequality:
//
//     λ = Λ b + λ₀ ,   a = A λ + b ,      m_c = r_cᵀ b + s_c ≥ 0
//
// The table holds r_c and s_c of all modes; a decision is a list of scalar products. `decide` relaxes inequalities by a tolerance ε of their scale.
// Here one holds *surely* where it misses by no more than ½ ε, and fails *surely* where it misses by 10 ε: far from ε in terms of the rounding by
// which a table differs from an elimination. Where exactly one mode surely holds and every other surely fails, that mode is what `decide` returns,
// without a tie. In any other case the table says nothing and `decide` is to be asked. So the answer does not depend on whether a table is used.
//
// Rows that a decision releases from rest with another coefficient than their static one are decided in rounds, which a table does not have.
#pragma once

#include <span>
#include <vector>

#include "judder/contact/decision.hpp"

namespace judder::contact {

class DecisionTable {
 public:
  /// Lists all modes of `problem`, whose b and scales are not read. False: it cannot serve here (too many modes or rows, dependent rows, a row
  /// that nothing moves). Allocates. `options` are those of the decisions to come.
  [[nodiscard]] bool build(const DecisionProblem& problem, const DecisionOptions& options,
                           DecisionWorkspace& workspace);

  /// The only admissible mode at this b (n entries), with the floors of scales as in DecisionProblem (n entries each or null): the statuses of
  /// its rows. Empty: ask `decide`.
  [[nodiscard]] std::span<const RowStatus> find(const double* b, const double* force_scale,
                                                const double* acceleration_scale) const;

  static constexpr int kMostRows = 8;
  static constexpr int kMostModes = 16;
  static constexpr double kSure = 0.5;  ///< times ε
  static constexpr double kClear = 10;  ///< times ε

 private:
  struct Mode {
    int first = 0;        ///< of its inequalities
    double size = 1;      ///< bound of |λ| relative to its scale
    bool settled = true;  ///< no row is released with another coefficient
  };
  void add(int row, bool reaction, const double* coefficients, double constant);

  int n_ = 0;
  double tolerance_ = 0;
  double base_size_ = 0;       ///< β of the known limits
  std::vector<Mode> modes_;    ///< and one behind the last
  std::vector<int> scale_;     ///< by inequality: row, plus n for a reaction
  std::vector<double> table_;  ///< by inequality: r_c, s_c
  std::vector<RowStatus> statuses_;
  std::vector<double> root_, inverse_root_;  ///< by row: √|A_ii| and its inverse
};

}  // namespace judder::contact
