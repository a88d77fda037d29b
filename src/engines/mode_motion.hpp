// The smooth motion within one mode.
//
//     M v̇ = h + Σ_k C_k λ_k ,    G_a v̇ + ζ_a = 0   for the active rows a: closed and held normals, sticking slips
//
// Slipping rows are eliminated: λ_T = −σ μ L with L = base + Σ factor |λ_N| puts −σ μ factor · drag into the column C of the normal row and
// −σ μ base · drag into h. What is constant in the mode (mass matrix, rows, laws) is factorised once when the mode is set.
//
// While switches slide, the motion is Filippov's convex combination of the vector fields on their two sides, with coefficients such that
// every sliding surface stays at zero: one coefficient α_k per switch, products of them for several that are coupled (coupling.hpp). Surfaces
// that are not coupled share their evaluations, so that m of them cost two, not 2ᵐ. On each side of a sliding switch the switches whose
// surfaces contain it are judged by value.
//
// A sticking or closed row with a single, constant entry pins its coordinate: its velocity is exactly that of the drive and its position
// exactly start + drive · time, to the last bit.
//
// Dependent rows: the rank is found once when the mode is set and kept; the reactions of dependent rows are zero here, and
// reaction_sharing.hpp finds the ones of largest margin.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "coupling.hpp"
#include "enclosure.hpp"
#include "judder/core/patience.hpp"
#include "judder/engines/mode.hpp"
#include "judder/model/system.hpp"
#include "massless_joints.hpp"
#include "mode_setting.hpp"
#include "motion_series.hpp"
#include "nested_sides.hpp"

namespace judder::engines {

class ModeMotion {
 public:
  ModeMotion(const model::System& system, model::Workspace& work);

  /// Takes over the mode at the state in work.in: writes sides and directions into it, pins coordinates, factorises.
  /// False: the equations cannot be evaluated here.
  [[nodiscard]] bool set_mode(const Mode& mode);
  [[nodiscard]] const Mode& mode() const { return set_->mode; }

  /// Length of the integrated vector: q, v, z, then dissipated and supplied work by audit element; the latter are left out in a mode in
  /// which no element does work.
  [[nodiscard]] int components() const {
    return set_->works || always_audit_ ? components_ : layout_.integrated();
  }
  [[nodiscard]] int all_components() const { return components_; }
  /// Work is integrated in every mode: for the implicit method, whose number of components is fixed.
  void always_audit(bool always) { always_audit_ = always; }
  /// Asked at each evaluation by a stepper.
  void use(Patience* patience);
  /// Right-hand side for the steppers. False: not finite.
  [[nodiscard]] bool operator()(double t, const double* y, double* rate);
  /// Accelerations, reactions and rates at the state in work.in.
  [[nodiscard]] bool evaluate() {
    ++evaluations;
    if (!set_->table.ready()) return evaluate_equations();
    if (!set_->table.evaluate(work_.in.data(), work_.registers.data(), outcome_.data(),
                              powers_asked_ ? powers_.data() : nullptr))
      return false;
    powers_known_ = powers_asked_ && set_->table.gives_powers();
    for (int i = at_.rate; i < at_.size; ++i) work_.rate[i - at_.rate] = outcome_[i];
    return true;
  }
  /// load() also takes the works out of y, all components of which must be there then: for watches that read them.
  void carry_works(bool carry) { carries_works_ = carry; }
  /// Components that a sample of a step needs.
  [[nodiscard]] int sampled() const { return carries_works_ ? components() : integrated_; }
  /// Puts t and y into work.in (pinned coordinates exactly).
  void load(double t, const double* y) {
    load_state(t, y);
    // In a mode without work they stay as they are.
    if (!carries_works_ || components() != components_) return;
    std::copy_n(y + integrated_, 2 * layout_.audits, work_.in.begin() + layout_.dissipated());
  }
  void load_state(double t, const double* y) {
    double* in = work_.in.data();
    in[0] = t;
    for (int i = 0; i < n_; ++i) {
      in[1 + i] = y[i];
      in[1 + n_ + i] = y[n_ + i];
    }
    for (int i = 2 * n_; i < integrated_; ++i) in[1 + i] = y[i];
    for (const Pin& pin : pins_) {
      in[1 + pin.coordinate] = pin.at(t);
      in[1 + n_ + pin.coordinate] = pin.velocity;
    }
  }
  /// Replaces the pinned entries of y at time t by their exact values.
  void pin(double t, double* y) const;
  /// The mode has ended: what was pinned may be moved by an impact.
  void release_pins() { pins_.clear(); }
  /// Takes out of a displacement what one gap alone holds, in the mode that was set last.
  void keep_on_gaps(double* displacement) const {
    for (const ModeSetting::Pin& pin : set_->pins) {
      if (pin.by_gap) displacement[pin.coordinate] = 0;
    }
  }

  [[nodiscard]] std::span<const double> acceleration() const { return part(0, n_); }
  [[nodiscard]] std::span<const double> normal() const {
    return part(at_.normal, layout_.relations);
  }  ///< λ_N by relation
  [[nodiscard]] std::span<const double> tangent() const {
    return part(at_.tangent, layout_.tangents);
  }  ///< λ_T by tangential row
  /// Writes accelerations and reactions to the places that output columns read.
  void publish();
  /// Takes positions and velocities of massless coordinates into y as the last evaluation has found them.
  void take_massless(double* y) const;

  /// Sum of the absolute terms of each acceleration at the present evaluated state, kept until the next call: what rounding is
  /// relative to.
  void note_terms();
  /// The same, with what cancels inside the expressions of the forces: interval arithmetic on the state known to its last bit, and to
  /// that of the `size` its parts have had, if given. Dearer.
  void note_all_terms(std::span<const double> size = {});
  /// Accelerations of the active rows at the evaluated state, 0 where they are rounding, and how much larger the largest is than its rounding. Rows that
  /// depend on each other and are driven apart cannot all have none.
  [[nodiscard]] double parting(std::vector<double>& accelerations);
  /// Adds, by coordinate, what rounding of the drives of active rows does to its acceleration.
  void add_drive_rounding(double* accelerations);
  /// What rounding leaves where the fields beside surfaces that are slid on cancel, at the evaluated state: of an acceleration, of the rate of a state.
  [[nodiscard]] double blend_rounding_of_coordinate(int i) const { return slides() ? blend_rounding_[i] : 0; }
  [[nodiscard]] double blend_rounding_of_state(int i) const {
    return slides() ? blend_rounding_[at_.rate + i] : 0;
  }
  [[nodiscard]] std::span<const double> acceleration_terms() const { return terms_; }
  /// What rounding inside the expressions of forces and rates does to accelerations and to the rates of states, at the loaded state: by coordinate and by
  /// state, until the next call of this or of note_all_terms(); `size` as there.
  void find_rounding(std::span<const double> size = {});
  [[nodiscard]] std::span<const double> acceleration_rounding() const { return rest_; }
  [[nodiscard]] std::span<const double> rate_rounding() const { return rate_rounding_; }
  /// Takes up terms and the coefficients of sliding switches where an earlier run left them.
  void recall(std::span<const double> terms, std::span<const double> side);
  /// The size that a reaction of this relation would have if the terms of its row did not cancel.
  [[nodiscard]] double natural_force(int relation) const;
  /// The same of one of its rows, or the limit of its friction where that is more.
  [[nodiscard]] double natural_force(int relation, int tangent) const;

  [[nodiscard]] int active() const { return set_->rows.count(); }
  [[nodiscard]] bool redundant() const { return set_->rows.rank() < active(); }
  [[nodiscard]] bool structure_constant() const { return set_->constant; }
  /// evaluate() is the product with a table (mode_table.hpp).
  [[nodiscard]] bool tabled() const { return set_->table.ready(); }
  /// Every active row pins a coordinate: there is no drift.
  [[nodiscard]] bool all_pinned() const { return static_cast<int>(pins_.size()) >= active(); }
  /// Constant accelerations, and no element that does work: the state moves on a parabola.
  [[nodiscard]] bool uniform() const { return set_->uniform && !set_->works; }
  [[nodiscard]] bool slides() const { return !set_->sliding.empty(); }  ///< on the surface of a switch
  [[nodiscard]] bool holds() const;  ///< a constraint, or a contact between several coordinates
  [[nodiscard]] bool pinned() const { return !pins_.empty(); }
  [[nodiscard]] bool everything_pinned() const { return set_->everything_pinned; }
  /// For the reactions of redundant rows, found elsewhere (reaction_sharing.hpp).
  [[nodiscard]] std::span<double> normal() { return part(at_.normal, layout_.relations); }
  [[nodiscard]] std::span<double> tangent() { return part(at_.tangent, layout_.tangents); }
  /// det(G M⁻¹ C) over the product of the diagonal of its scale: falls to zero where a slipping contact jams (Painlevé).
  [[nodiscard]] double determinant() const { return set_->rows.determinant(); }

  /// Removes drift: positions of closed and held rows, then velocities of all active rows. Returns false if the positions do not converge.
  bool project(double t, double* y, bool positions);
  /// Takes from a direction M⁻¹ w what the active rows do not let move, at the state in the workspace.
  void keep_rows(double* direction);

  /// The linear part of evaluate() where the structure is constant: accelerations and, by active row, the reactions that a force (n entries)
  /// and terms ζ (by active row) give, to the last bits. Sums that
  /// cancel to rounding are zero. For tables made once per mode: it allocates. `acceleration_low`: what the last bits of the accelerations
  /// leave out; may be null.
  void respond(const double* force, const double* zeta, double* acceleration, double* lambda,
               double* acceleration_low = nullptr);
  [[nodiscard]] int active_relation(int k) const { return set_->rows[k].relation; }
  [[nodiscard]] int active_tangent(int k) const {
    return set_->rows[k].tangent;
  }  ///< within the relation; −1: the normal row
  /// Number of ways to change the reactions of a redundant mode without changing the motion, and one of them, by active row.
  [[nodiscard]] int nullity() const { return active() - set_->rows.rank(); }
  void null_reactions(int number, double* lambda) { set_->rows.null_reactions(number, lambda); }

  /// d/dt of the surface of switch k along the present motion (after evaluate), and on its two sides while it slides.
  double surface_rate(int k);
  /// The same of the second order, for surfaces that do not see velocities.
  double surface_acceleration(int k);
  /// The side of switch k does not act on the rate of its surface: it stands on the slip velocity of a row that sticks, or other surfaces hold it.
  /// Friction and switch act in parallel, only their sum is defined, and the coefficient is the one that leaves least to friction.
  [[nodiscard]] bool parallel(int k) const { return parallel_[k] != 0; }
  /// Of such a switch, at the evaluated state: whether friction of a row at rest leaves its coefficient open, and whether anything else moves with it.
  struct SharedLoad {
    int relation =
        -1;  ///< whose friction bears the other share; −1: there is none, or its limit leaves one coefficient only
    bool moves_others = false;
  };
  [[nodiscard]] SharedLoad shared_load(int k);
  [[nodiscard]] double sliding_rate(int k, int side) const { return sliding_rates_[2 * k + side]; }

  /// Switch k contains one that slides: it has a side on each side of that one.
  [[nodiscard]] bool on_corners(int k) const {
    return !set_->sliding.empty() && std::find(outer_.begin(), outer_.end(), k) != outer_.end();
  }

  /// Those switches, inner before outer; the combinations of sides that each of them has; its side at a combination, and whether it keeps it; its argument
  /// there, and the rate of that along the present motion. Outer switches are counted by their place in the list.
  [[nodiscard]] std::span<const int> outer() const {
    return set_->sliding.empty() ? std::span<const int>() : std::span<const int>(outer_);
  }
  [[nodiscard]] int corners(int outer) const { return blocks_[outer_block_[outer]].corners(); }
  [[nodiscard]] double corner_side(int outer, int corner) const {
    return locked_[static_cast<std::size_t>(corner) * outer_.size() + outer];
  }
  [[nodiscard]] bool corner_fixed(int outer, int corner) const {
    return fixed_[static_cast<std::size_t>(corner) * outer_.size() + outer] != 0;
  }
  [[nodiscard]] double corner_value(int outer, int corner);
  [[nodiscard]] double corner_rate(int outer, int corner);
  /// Puts the sides of a corner into work.in, as far as an outer switch sees them.
  void load_corner(int outer, int corner) {
    take_corner(outer_block_[outer], corner);
    judge_outer(corner, outer_block_[outer]);
  }
  /// Puts the outer switches on their sides for the whole sides of the sliding ones in work.in.
  void judge_outer_here();
  /// What a slide is besides its mode: lower sides of the sliding switches, sides of the outer ones at all corners.
  [[nodiscard]] std::vector<double> corner_sides() const;
  /// The lower of the two sides between which switch k slides.
  [[nodiscard]] double lower_side(int k) const {
    const auto at = std::find(set_->sliding.begin(), set_->sliding.end(), k) - set_->sliding.begin();
    return lower_[at];
  }

  long evaluations = 0;  ///< of the right-hand side

 private:
  struct Pin {
    int coordinate = 0;
    double position = 0;
    double velocity = 0;
    double time = 0;
    [[nodiscard]] double at(double t) const { return position + velocity * (t - time); }
  };

  void take_up();
  bool prepare(const Mode& mode);
  void find_pins();
  void pin_if_immobile();
  void find_work();
  bool evaluate_equations();
  bool evaluate_plain();
  bool evaluate_sliding();
  void group_sliding();
  void still_what_slides();
  [[nodiscard]] bool evaluate_corners();
  [[nodiscard]] bool find_coefficients(int block);
  [[nodiscard]] double weight(int block, int corner, int without) const;
  [[nodiscard]] double block_rate(int corner, int k) const;
  void take_corner(int corner);
  void take_corner(int block, int corner);
  void lock_outer();
  [[nodiscard]] bool decide_open_corners();
  template <class Action>
  void at_corner(int outer, int corner, const Action& action);
  void judge_outer(int corner, int block);
  void combine_powers();
  [[nodiscard]] double rate_of(const expr::Program& program);
  [[nodiscard]] double massless_part(const double* slopes);
  [[nodiscard]] double parallel_coefficient(int k);
  void refresh_rows();
  [[nodiscard]] double zeta_rounding(int k);
  void add_terms(std::vector<double>& terms);
  void audit(double* rate);
  [[nodiscard]] int place(const ActiveRows::Row& row) const;  ///< of its reaction in the outcome
  [[nodiscard]] std::span<double> part(int from, int count) {
    return std::span(outcome_).subspan(from, count);
  }
  [[nodiscard]] std::span<const double> part(int from, int count) const {
    return std::span(outcome_).subspan(from, count);
  }

  const model::System& system_;
  model::Workspace& work_;
  Patience* patience_ = nullptr;
  const model::Layout& layout_;
  const OutcomeLayout at_;
  int n_ = 0;
  int integrated_ = 0;  ///< length of y
  int components_ = 0;
  bool always_audit_ = false;
  bool carries_works_ = false;

  KeptModes kept_;
  ModeSetting* set_ = nullptr;            ///< of the present mode
  std::vector<std::uint8_t> massless_;    ///< joints that are no rows
  std::unique_ptr<MotionSeries> series_;  ///< where there are massless coordinates: how their speeds change
  Mode beside_;
  std::vector<double> node_places_;  ///< positions, velocities and states while rows are written
  std::vector<Pin> pins_;
  std::vector<int> pinned_;
  dense::RankedLu ranking_;
  bool uniform_known_ =
      false;  ///< accelerations and reactions are constant in this mode and have been evaluated

  std::vector<double> outcome_;  ///< accelerations, reactions, rates
  std::vector<double> residual_;
  std::vector<double>
      sum_terms_;  ///< by coordinate: absolute terms of its acceleration, while it is summed up
  std::vector<double> powers_, blended_powers_, corner_powers_, kept_sides_;
  bool powers_asked_ = false;  ///< evaluate() is to give them if that costs little
  bool powers_known_ = false;  ///< it has
  std::vector<double> reactions_;
  std::vector<double> terms_, present_terms_, rest_, drag_response_, rate_rounding_;
  Enclosure enclosure_;

  // sliding
  Coupling coupling_;
  struct Block {
    std::vector<int> members;  ///< positions in the list of sliding switches
    [[nodiscard]] int corners() const { return 1 << members.size(); }
  };
  [[nodiscard]] std::span<const Block> blocks() const { return std::span(blocks_).first(block_count_); }
  std::vector<Block> blocks_;  ///< memory of those of modes before is kept
  std::size_t block_count_ = 0;
  std::vector<int> block_of_;  ///< by entry of the outcome; −1: no sliding switch acts on it
  std::vector<double> lower_;  ///< by sliding switch: its lower side
  std::vector<int> outer_;     ///< switches whose surfaces contain a sliding one, inner before outer
  NestedSides nested_sides_;
  std::vector<double> locked_;       ///< by combination of sides and outer switch: its side there
  std::vector<std::uint8_t> fixed_;  ///< the same: it has that side for as long as the surfaces are slid on
  std::vector<int> open_corners_;    ///< places in locked_ that the first evaluation decides
  std::vector<int> outer_block_;     ///< by outer switch: that of the sliding ones in it
  std::vector<double> corner_;       ///< per combination of sides: v̇, λ_N, λ_T, ż
  std::vector<double>
      blend_rounding_;                ///< by entry of the outcome: of the sum over the combinations of sides
  std::vector<double> corner_force_;  ///< per combination of sides: h
  std::vector<int> damped_nodes_;     ///< coordinates without mass whose speeds the balance of forces gives
  std::vector<double> corner_speed_;  ///< per combination of sides: of these
  std::vector<double>
      corner_rate_;  ///< per combination: ds/dt of each sliding switch, or its second derivative
  /// What a row at rest carries on the lower side of a switch that acts beside it, and by how much more on the upper one.
  struct Share {
    int relation, tangent;
    double force, change;
  };
  std::vector<Share> shares_;
  std::vector<double> alpha_, newton_;
  std::vector<double> beta_;           ///< 1 − α, without the rounding of the difference
  std::vector<double> sliding_rates_;  ///< by switch: ds/dt on the lower and on the upper side
  std::vector<double> surface_;
  std::vector<std::uint8_t> parallel_;  ///< by switch
};

}  // namespace judder::engines
