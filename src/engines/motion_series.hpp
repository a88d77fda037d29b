// Taylor coefficients of the motion in a mode, and of the functions that guard it.
//
// With q, v, z known up to order k the programs of the System give h, rows and laws up to order k, and the coefficient of order k of
//
//     M v̇ = h + C λ ,   G v̇ + ζ = 0
//
// is a linear problem with the matrix of order zero: M₀ a_k − C₀ λ_k = known, G₀ a_k = known. It gives a_k and λ_k, hence v_{k+1}, q_{k+1}, z_{k+1}.
// Dependent rows: a_k is unique, λ_k is one of many; unique() tells which reactions are.
//
// Use: several modes share the accelerations of an instant (slip onset, lift-off, landing at rest, tip of the cone). A mode is right if
// each of its guards has a positive first non-zero coefficient. Also: the order of the zero with which a guard leaves an event.
// Basseville 2004, III.4, Theorem 4.1 (a particle at rest at the tip of its cone needs order 4); mechanics: docs/theory.md. Costs tens of microseconds; used at ties only.
// Sides of sliding switches are taken as constants here.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/dense/ranked_lu.hpp"
#include "enclosure.hpp"
#include "judder/core/patience.hpp"
#include "judder/engines/mode.hpp"
#include "judder/expr/program.hpp"
#include "judder/model/system.hpp"
#include "massless_joints.hpp"
#include "reaction_conditions.hpp"

namespace judder::engines {

class MotionSeries {
 public:
  MotionSeries(const model::System& system, model::Workspace& work);
  /// Asked between the orders of a series.
  void use(Patience* patience) {
    patience_ = patience;
    solver_.use(patience);
  }

  /// Coefficients up to `order` (≤ kTaylorOrder) of the motion in `mode` from the state in work.in. False: not finite; then order() is the
  /// last order that something has, infinite for some, 0 if there is none, and of what follows only surface() and state scales are to be asked.
  /// `size`: m a² of accelerations that count as large here, 0 if not known; the time scale is that in which they are reached.
  /// `from_rest`: by tangential row, those that slip from rest, with the static coefficient as long as their decision lasts; may be empty.
  [[nodiscard]] bool compute(const Mode& mode, int order, double size = 0,
                             std::span<const std::uint8_t> from_rest = {});

  /// Whether the reaction of this row (tangent −1: normal) is determined. After compute.
  [[nodiscard]] bool unique(int relation, int tangent) const;

  /// Whether the coordinates without mass move with their balance: joints that hold them may have rows that the series does not follow.
  [[nodiscard]] bool follows_nodes() const { return follows_; }

  // After compute; coefficients 0 … order() are valid (reactions and rates to order − 1).
  [[nodiscard]] int order() const { return order_; }
  [[nodiscard]] expr::Series gap(int relation);
  [[nodiscard]] expr::Series gap_rate(int relation);
  [[nodiscard]] const expr::Series& normal(int relation) const { return normal_[relation]; }
  [[nodiscard]] const expr::Series& tangent(int number) const { return tangent_[number]; }
  [[nodiscard]] expr::Series slip_coefficient(int relation,
                                              int tangent) const;  ///< μ of a row that slips, or κ
  [[nodiscard]] expr::Series limit(int relation) const;            ///< L
  [[nodiscard]] expr::Series cone(int relation, int tangent, int side) const;  ///< μ_s L − side λ_T
  /// Of reactions that are not unique: the same for all of them.
  [[nodiscard]] expr::Series condition(std::span<const ReactionConditions::Part> parts) const;
  /// Lists the conditions of the relations that are `chosen`. False: they are too many, or they change with the state.
  [[nodiscard]] bool list_conditions(std::span<const std::uint8_t> chosen, ReactionConditions& out);
  [[nodiscard]] bool redundant() const { return solver_.rank() < static_cast<int>(active_.size()); }
  /// The lowest order of accelerations in which rows that depend on each other are driven apart, −1: they are not; and what then drives a
  /// row (tangent −1: normal) whose reaction is not unique, without reactions of this order.
  [[nodiscard]] int parted() const { return parted_; }
  [[nodiscard]] double drive(int relation, int tangent) const;
  [[nodiscard]] expr::Series slip(int relation, int tangent);
  [[nodiscard]] expr::Series surface(int k);
  [[nodiscard]] const expr::Series& velocity(int coordinate) const {
    return in_[system_.layout().v() + coordinate];
  }
  /// q, v, z a time `later`, by the polynomials.
  void state(double later, double* y) const;
  /// A time in which the motion changes noticeably: coefficients are compared after multiplication with its powers.
  [[nodiscard]] double time_scale() const { return time_scale_; }
  /// What rounding leaves in the coefficients of the acceleration of a coordinate, by order.
  [[nodiscard]] double rounding(int order, int coordinate) const {
    return rounding_[order * (n_ + m_) + coordinate];
  }

 private:
  Patience* patience_ = nullptr;
  using Active = ReactionConditions::Row;
  void provide();  ///< memory, at the first use
  void evaluate_rows(int order);
  void solve_mass(double* x, std::span<const int> places) const;
  [[nodiscard]] bool factorise();
  [[nodiscard]] double without_inertia(int coordinate, int order, double right) const;
  template <class Advance>
  [[nodiscard]] bool hold_surfaces(int k, const Advance& advance);
  [[nodiscard]] bool follow_massless(int k);
  [[nodiscard]] bool balance_massless(int order, int first);
  void add_rounding_of_forces();
  [[nodiscard]] bool rows_part(int order) const;
  void find_time_scale(int order, double size);
  [[nodiscard]] const expr::Series* row(const Active& a) const;
  [[nodiscard]] const expr::Series* column(const Active& a) const;
  [[nodiscard]] const expr::Series& zeta(const Active& a) const;

  const model::System& system_;
  model::Workspace& work_;
  int n_, m_;
  int order_ = 0;
  double time_scale_ = 1;
  std::vector<double> rounding_;  ///< of the accelerations and of the rates of states, by order
  Mode mode_;
  std::span<const std::uint8_t> from_rest_;
  std::vector<Active> active_;
  std::vector<int> touched_;
  std::vector<std::uint8_t> massless_;  ///< joints that are no rows
  std::vector<expr::Series> in_, registers_, motion_, scratch_;
  std::vector<std::vector<expr::Series>> rows_, laws_;  ///< by relation
  std::vector<expr::Series> columns_;                   ///< active × n
  std::vector<expr::Series> acceleration_, normal_, tangent_, lambda_, drives_;
  int parted_ = -1;
  std::vector<double> ways_;
  std::vector<double> right_, load_, response_, size_, rounding_terms_;
  std::vector<double> terms_;                       ///< by coordinate: of its acceleration
  std::vector<int> pushed_;                         ///< coordinates that a column has an entry for
  std::vector<int> response_first_, response_end_;  ///< by active row: entries of its response
  std::vector<std::uint8_t> slips_known_;           ///< by relation: rows_ hold its slips
  std::vector<std::uint8_t> constant_;              ///< by active row: its column has no higher coefficients
  std::vector<int> sliding_;                        ///< switches that are slid or rested on
  std::vector<double> held_;                        ///< of them: how each coefficient moves each surface
  dense::RankedLu solver_;                          ///< G M⁻¹ C of order zero
  model::System::MasslessBalance balance_;          ///< of the coordinates without mass
  bool follows_ = false;                            ///< they move with it
  std::vector<int> resting_;                        ///< joints of balance_ that hold them
  std::vector<int> holding_;                        ///< of these: the ones of the present balance
  std::vector<expr::Series> balance_series_, friction_series_;
  std::vector<double> slopes_, unknown_, unknown_size_;
  Enclosure enclosure_;
};

}  // namespace judder::engines
