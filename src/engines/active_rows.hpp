// The rows of a mode that hold: closed and held normals, sticking slips.
//
//     M v̇ = h + Σ_k C_k λ_k ,    G_k v̇ + ζ_k = 0    for the active rows k
//
// C_k is the direction in which the reaction λ_k pushes. Slipping rows are eliminated: λ_T = −σ μ L with L = base + Σ factor |λ_N| puts
// −σ μ factor · drag into the column C of the normal row. The reactions follow from the small system G M⁻¹ C λ = −(G M⁻¹ h + ζ).
//
// A coordinate that rows of constant direction determine alone (a block on a block on a belt) moves as they say, whatever forces act: its
// acceleration and its velocity follow from their drives, without the rounding of the forces that balance in it.
//
// Dependent rows: the rank is found once when the mode is set and kept; the reactions of dependent rows are zero here.
// Memory is that of the mode; it grows when a larger mode is set and is kept.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "core/dense/coupled_blocks.hpp"
#include "core/dense/ranked_lu.hpp"
#include "judder/core/patience.hpp"
#include "judder/engines/mode.hpp"
#include "judder/model/system.hpp"

namespace judder::engines {

class ActiveRows {
 public:
  struct Row {
    int relation = 0;
    int tangent = -1;  ///< tangential row within the relation, −1: the normal row
  };

  ActiveRows(const model::System& system, model::Workspace& work);

  /// Looked at between rows, of which there may be a thousand; null: never.
  void use(Patience* patience) { patience_ = patience; }
  void clear();
  void add(Row row);
  /// The number of a row, −1: it does not hold.
  [[nodiscard]] int find(Row row) const;
  [[nodiscard]] int count() const { return static_cast<int>(rows_.size()); }
  [[nodiscard]] const Row& operator[](int k) const { return rows_[k]; }
  [[nodiscard]] const model::Row& row(int k) const;  ///< G_k
  [[nodiscard]] double zeta(int k) const;
  /// The velocity that the row has at v = 0.
  [[nodiscard]] double drive(int k) const;
  [[nodiscard]] const double* response(int k) const { return response_.data() + k * n_; }  ///< M⁻¹ C_k

  /// Coordinates outside this range have no entry in the response.
  [[nodiscard]] std::pair<int, int> response_range(int k) const {
    return {response_first_[k], response_end_[k]};
  }

  /// Columns from the rows of the workspace, with the friction that the slipping rows of the `touched` relations draw from λ_N.
  void build_columns(const Mode& mode, std::span<const int> touched);
  /// LU of G M⁻¹ C by partial pivoting within the independent rows. With `find_rank` the rank and the order of rows are found first and
  /// kept for the mode. False: singular or not finite.
  [[nodiscard]] bool factorise(bool find_rank, dense::RankedLu& ranking);
  [[nodiscard]] int rank() const { return rank_; }
  /// det(G M⁻¹ C) over the product of the diagonal of its scale: falls to zero where a slipping contact jams (Painlevé).
  [[nodiscard]] double determinant() const;
  /// x (by active row) → solution (by active column); dependent columns get zero.
  void solve(double* x);

  /// Accelerations of the coordinates that the rows determine, from the terms ζ (by active row).
  void hold_accelerations(const double* zeta, double* acceleration) const;
  /// The same with the present rows.
  void hold_accelerations(double* acceleration) const;
  /// Their velocities.
  void hold_velocities(double* velocity) const;

  /// Accelerations and reactions that a force (n entries) and terms ζ (by active row) give, to the last bits. Sums that cancel to rounding
  /// are zero. For tables made once per mode. `acceleration_low`: what the last bits of the accelerations leave out; may be null.
  void respond(const double* force, const double* zeta, double* acceleration, double* lambda,
               double* acceleration_low = nullptr);
  /// One of the ways, 0 … count − rank − 1, to change the reactions without changing the motion.
  void null_reactions(int number, double* lambda);

 private:
  /// Writes to the coordinates that rows hold what `given(row)` says.
  template <class Given>
  void hold(const Given& given, double* target) const;
  void find_order(dense::RankedLu& ranking);
  void build_matrix();
  void find_held();
  using Entries = std::vector<std::pair<int, double>>;  ///< what is not zero
  void subtract(const Entries& source, double factor);
  void solve_mass(double* x, int& from, int& to) const;
  [[nodiscard]] bool direction_constant(int k) const;

  void look() const {
    if (patience_ != nullptr) patience_->look();
  }

  Patience* patience_ = nullptr;
  const model::System& system_;
  model::Workspace& work_;
  int n_ = 0;
  std::vector<Row> rows_;
  std::vector<int> first_of_;  ///< by relation: its first active row, −1: none
  int rank_ = 0;
  double determinant_scale_ = 1;
  std::vector<double> columns_;   ///< C, count × n
  std::vector<double> response_;  ///< M⁻¹ C, count × n
  std::vector<double> matrix_;    ///< G M⁻¹ C, then its LU
  std::vector<int> response_first_, response_end_;
  std::vector<std::pair<int, int>> written_;  ///< of columns_ and response_, by row: what may not be zero
  std::vector<int> meets_begin_, meets_;      ///< by coordinate: the columns whose response is not zero there
  dense::CoupledBlocks blocks_;               ///< of matrix_
  std::vector<int> row_at_, column_at_;       ///< places in row_order_, column_order_
  std::vector<int> lower_first_, upper_end_;  ///< by pivot: where the entries of its row of L begin, of U end
  std::vector<int> row_order_, column_order_;
  std::vector<int> first_rows_;  ///< row order found with the rank: where every pivoting starts
  std::vector<double> forward_, sizes_, pivot_sizes_;
  struct Share {
    int row = 0;
    double weight = 0;
  };
  struct Held {
    int coordinate = 0;
    int end = 0;  ///< of its shares, which begin where those of the one before end
  };
  std::vector<Held> held_;     ///< coordinates that the rows determine
  std::vector<Share> shares_;  ///< a rate of theirs is minus the sum of weight times what drives the row
  std::vector<Entries>
      echelon_;  ///< by row: coordinates, and behind them the rows that it is a combination of
  std::vector<int> pivots_, pivot_of_;   ///< by row of echelon_; by coordinate
  std::vector<std::vector<int>> above_;  ///< by coordinate: rows of echelon_ that may have an entry there
  std::vector<double> dense_;            ///< the present row, zero where it is not
  std::vector<int> places_;              ///< where it may be something else
  std::vector<int> meeting_;             ///< rows of echelon_ whose pivots it has
};

inline double dot(const double* a, const double* b, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

inline double dot(const model::Row& a, const double* b) {
  const std::span<const double> values = a.values();
  double sum = 0;
  for (std::size_t e = 0; e < values.size(); ++e) sum += values[e] * b[a.places()[e]];
  return sum;
}

/// What is left of a sum when its terms cancel up to rounding, relative to the sum of their sizes, is zero: held coordinates do not creep.
inline constexpr double kCancelled = 8 * 2.220446049250313e-16;

}  // namespace judder::engines
