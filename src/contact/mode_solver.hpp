// One mode of a decision problem: its linear system, the inequalities it must satisfy, and its redundant
// reactions.
//
// In a mode the rows E with a = 0 are known, and every slipping or following row has λ_j = −c_j (base_j +
// Σ_k p_jk λ_k) with p_jk = coupling_jk σ_k, σ_k = ±1 the sign of the pressed side. Inserted into a_E = 0:
//
//     Σ_k (A_ik − Σ_j A_ij c_j p_jk) λ_k = −b_i + Σ_j A_ij c_j base_j          i, k ∈ E
//
// eliminated with complete pivoting. The pivot is the largest S_ik² g_i g_k, g_i = 1/|A_ii|: this choice,
// and hence every bit of the result, does not change when a unit is changed by a power of two. A column whose λ_k gives rise to friction more than a
// thousand times as large is measured by that friction: beside it the entries of the other columns would seem to be nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "judder/contact/decision.hpp"
#include "judder/contact/lcp.hpp"

namespace judder::contact {

struct DecisionWorkspace::Memory {
  int normals = 0;
  int tangents = 0;
  int max_candidates = 0;
  bool all_provided = false;  // also what only dependent rows and Lemke's method need
  Patience* patience = nullptr;
  void look() const {
    if (patience != nullptr) patience->look();
  }

  // scales, one per row
  std::vector<double> weight;  // g_i; 0 for a row of zeros
  std::vector<double> force_scale, inverse_force_scale, acceleration_scale;

  // the mode at hand
  std::vector<double> matrix, right, force, acceleration, limit, slope;
  std::vector<double> pressed;  // side of each normal row: 1, −1, or 0 where no friction depends on it
  std::vector<double> ease;     // of each row: 1, or less where friction makes much of its reaction
  bool eased = false;           // some row is
  std::vector<double>
      column_scale;  // of each unknown where some row is eased: what its column is measured by
  std::vector<int> active, row, column, sliding;
  std::vector<RowStatus> mode;

  // null space and linear program of redundant reactions
  std::vector<double> null_space, inequality, inequality_right, inequality_weight, simplex, shift, best_shift,
      gram, lcp_matrix, lcp_vector;
  std::vector<int> simplex_basis, inequality_row;
  LcpWorkspace lcp;

  // rules of the round, choice of each row, answers
  std::vector<TangentState> state;
  std::vector<double> stick_mu, slip_mu, stick_mu_below, slip_mu_below;
  std::vector<RowStatus> choice;  // rows × 3, choices of the enumeration
  std::vector<int> choices, digit;
  std::vector<RowStatus> candidates, answer;
  std::vector<double> first_acceleration, answer_force, answer_acceleration;
  std::vector<int> released;
  ModeFactor factor;

  // iterative solution
  std::vector<double> reaction_of_unknowns, newton_matrix, newton_step, newton_trial, newton_value;
  std::vector<std::uint8_t> free_row, treatment, failing;
  std::vector<double> side, lower, upper;
  std::vector<int> unknown_of_row;
  std::vector<RowStatus> alternative;

  void resize(int normal_rows, int tangent_rows);
  void provide_all();
};

/// Room for `size` numbers; what was in it is lost where there was too little.
template <class T>
void provide(std::vector<T>& v, std::size_t size) {
  if (v.size() >= size) return;
  v = std::vector<T>();  // the old and the new are not both needed
  v.resize(size);
}

/// What the tangential rows may do, and with which coefficients: one round of rule 1.
struct Rules {
  const TangentState* state = nullptr;
  const double* stick_mu = nullptr;
  const double* slip_mu = nullptr;
  const double* stick_mu_below = nullptr;  ///< of reactions below zero, which hold or drive a slip forwards
  const double* slip_mu_below = nullptr;
};

/// The coefficients that are in memory.
[[nodiscard]] inline Rules rules_of(const DecisionWorkspace::Memory& memory) {
  return {memory.state.data(), memory.stick_mu.data(), memory.slip_mu.data(), memory.stick_mu_below.data(),
          memory.slip_mu_below.data()};
}
/// The rules as the problem states them: static coefficients for stick, slip coefficients for slip.
Rules plain_rules(const DecisionProblem& problem, DecisionWorkspace::Memory& memory);

/// Fills weight, force_scale and acceleration_scale.
void find_scales(const DecisionProblem& problem, DecisionWorkspace::Memory& memory);

/// True for statuses with a = 0.
[[nodiscard]] constexpr bool is_active(RowStatus s) {
  return s == RowStatus::closed || s == RowStatus::held || s == RowStatus::held_plus ||
         s == RowStatus::held_minus || s == RowStatus::stick;
}

/// Row k has friction (or a smooth law) that depends on |λ_k|.
[[nodiscard]] bool has_friction(const DecisionProblem& problem, const Rules& rules, int k);
/// The limit of tangential row j can be positive in `mode`.
[[nodiscard]] bool can_carry(const DecisionProblem& problem, const Rules& rules, const RowStatus* mode,
                             int j);

/// Every reaction has bounds of its own, and A is symmetric: such a problem is convex (bounded_solver.cpp).
[[nodiscard]] bool is_bounded(const DecisionProblem& problem);
/// The solution of such a problem, of any size. False: there is none (contradicting held rows, excluded statuses). Leaves the mode in
/// `memory.mode`, λ and a in `memory.force` and `memory.acceleration`.
[[nodiscard]] bool solve_bounded(const DecisionProblem& problem, const Rules& rules,
                                 const DecisionOptions& options, DecisionWorkspace::Memory& memory);

/// One solution by a search from the first mode, by Lemke's method or a semismooth Newton method, for problems with too many modes. Leaves
/// the mode in `memory.mode`, λ and a in `memory.force` and `memory.acceleration`.
[[nodiscard]] bool solve_iteratively(const DecisionProblem& problem, const Rules& rules,
                                     const DecisionOptions& options, bool search,
                                     DecisionWorkspace::Memory& memory);

class ModeSolver {
 public:
  ModeSolver(const DecisionProblem& problem, const Rules& rules, DecisionWorkspace::Memory& memory)
      : p_(problem),
        rules_(rules),
        m_(memory),
        nN_(problem.normals),
        nT_(problem.tangents),
        n_(problem.rows()) {}

  /// Assembles and eliminates `mode`; returns the rank.
  void factor(const RowStatus* mode, double rank_tolerance);
  void factor(const RowStatus* mode, const ModeFactor& order);
  void store(ModeFactor& order) const;

  /// λ with zero on dependent rows, and L.
  void solve();
  [[nodiscard]] double acceleration(int row) const;
  /// All accelerations; zero on the rows of E.
  void accelerations();

  [[nodiscard]] int active() const { return count_; }
  [[nodiscard]] int rank() const { return rank_; }
  /// Largest λ relative to its scale, at least 1: the size that rounding and tolerances of this mode refer
  /// to.
  [[nodiscard]] double size() const { return size_; }
  /// False if the last `admissible` mode has reactions that change accelerations.
  [[nodiscard]] bool rigid() const { return rigid_; }
  /// Largest |a| left on dependent rows relative to its scale.
  [[nodiscard]] double inconsistency() const;

  /// Factors and solves `mode`; true if all its inequalities hold to `tolerance` for some reaction.
  bool admissible(const RowStatus* mode, const DecisionOptions& options);
  /// Smallest margin of the mode relative to scale (over reactions where they are not unique), and its row.
  double relative_margin(const RowStatus* mode, const DecisionOptions& options, int& row);

  /// What a reaction is measured by in the mode last assembled. Where friction is many times the normal reaction, a wrong sign of this is as bad as
  /// friction in the wrong direction, however small it is.
  [[nodiscard]] double force_size(int row) const { return m_.force_scale[row] * m_.ease[row]; }

  /// The margin of row i in the mode last solved: infinity where the row has no inequality.
  [[nodiscard]] double margin(int row) const;
  /// The limit of a tangential row at rest for reactions of this sign, from its load; `with_base`: the load has its base in it.
  [[nodiscard]] double bound(int tangent, double sign, double load, bool with_base) const;

  /// After `solve`: moves λ to the reaction of largest margin, smallest norm, and fills the accelerations.
  MarginResult settle();

  /// After `solve` with rank < active: fills the null space; false if it changes accelerations.
  bool find_null_space();
  /// max over reactions of min over rows of margin/weight; the weight is the force scale or 1. Leaves y in
  /// `shift`.
  MarginStatus linear_program(bool relative, double& best, int& row);
  /// After `admissible` with reactions that change accelerations: how far admissible accelerations lie
  /// apart, relative to scale. Leaves λ at an admissible one.
  double spread(double tolerance);
  /// Smallest λ with all margins at least `level`, from the inequalities of the last linear program; false
  /// if there is none.
  bool smallest_norm(double level);
  /// Adds the null vectors with the coefficients in `shift` to λ and updates L.
  void apply_shift();

 private:
  void assemble(const RowStatus* mode);
  void find_ease(int pressing);
  void eliminate(double rank_tolerance);
  bool eliminate_diagonally();
  void slide();
  [[nodiscard]] int reference() const;
  [[nodiscard]] double unit(int row) const;
  [[nodiscard]] double acceleration_unit(int row) const;
  [[nodiscard]] double base(int tangent) const;
  bool reaction_inequalities_hold(double tolerance) const;
  bool acceleration_inequalities_hold(double tolerance) const;
  double worst_acceleration(int& row) const;
  bool collect_inequalities(bool relative, bool all);
  MarginStatus simplex(double& best, int& row);
  void add_inequality(int row, double sign, bool reaction, bool relative);

  const DecisionProblem& p_;
  const Rules rules_;
  DecisionWorkspace::Memory& m_;
  const int nN_, nT_, n_;
  const RowStatus* mode_ = nullptr;
  int count_ = 0;    // |E|
  int sliding_ = 0;  // rows with λ = −c L, c ≠ 0
  int rank_ = 0;
  int inequalities_ = 0;
  bool rigid_ = true;  // the null space leaves accelerations alone
  double size_ = 1;
};

}  // namespace judder::contact
