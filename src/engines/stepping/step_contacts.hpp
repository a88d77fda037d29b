// The contacts, constraints and friction joints of one step with fixed length: a one-step problem (contact/one_step.hpp) from the rows of a model.
//
//     ξ = ξ_free + X p ,   X = A⁻¹ (push, drag) ,   u = G ξ + drive ,   p = κ λ
//
// ξ are the velocities that a scheme solves for, A its iteration matrix (M + κ-weighted stiffness and damping), κ the time that a force acts in the step. Two
// laws of the normal direction are in use:
//
//     velocity   contacts whose gap is predicted to be closed:  0 ≤ γ_N + e min(γ_N⁰, 0) ⟂ p_N ≥ 0        (Moreau)
//     position   all contacts:  0 ≤ (g(q₁) + e g₋)/c ⟂ p_N ≥ 0,  q₁ = q̂ + c ξ                             (θ, Newmark, Paoli-Schatzman)
//
// Friction is Coulomb's law between impulse and slip velocity of the step; its coefficient is that of the slip at the beginning of the step, and the static one
// where the row was at rest, or where its slip would turn in the step. Where that differs between both directions a row at rest holds −μ₊ L ≤ p_T ≤ μ₋ L: it is solved with the larger one, and once more with
// that of the direction in which it is pushed beyond it. What forces of switches hold beside it is in dry_forces.hpp. Smooth laws are explicit: p_T = −κ(γ) p_N.
//
// An impact of Paoli and Schatzman's schemes takes two steps: in which of them the gap is met says how much of the impulse is given in the first one. Its friction
// is found for both together. With p' the impulses of the first step,
//
//     first     the laws of friction and of velocity constraints are about the velocity after the step, not about the mean of both
//     second    the same laws between p' + p and the velocity after the impact, with the coefficients and the restitution that it began with, and the
//               known loads of both steps
//
// for the rows that couple to the contacts that were met, so that what comes out is the impact of Moreau's law, 0 ≤ γ_N⁺ + e γ_N⁻ ⟂ P_N ≥ 0 and −P_T ∈ μ P_N ∂|γ_T⁺|, P = p' + p, whatever the phase.
//
// A single planar contact is solved in closed form (four branches, the signs of the slips tested); everything else by contact::solve_one_step, started from
// the impulses of the step before.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engines/rest_laws.hpp"
#include "engines/stepping/dry_forces.hpp"
#include "engines/stepping/step_matrix.hpp"
#include "judder/contact/one_step.hpp"
#include "judder/contact/one_step_all.hpp"
#include "judder/core/status.hpp"
#include "judder/engines/mode.hpp"
#include "judder/model/system.hpp"

namespace judder::engines {

struct StepLaw {
  double kappa = 1;       ///< time that a force acts
  bool position = false;  ///< law of the normal direction
  double reach = 1;       ///< c = ∂q₁/∂ξ, for the position law
  bool restitution = true;
  bool after = false;  ///< position law, κ = h/2: friction is about the velocity after the step, 2ξ − v
};

class StepContacts {
 public:
  StepContacts(const model::System& system, model::Workspace& work);
  void use(Patience* patience) { workspace_.use(patience); }
  /// A run begins: nothing is known of the step before.
  void start();
  [[nodiscard]] bool empty() const { return slots_.empty(); }
  [[nodiscard]] bool rows_constant() const { return rows_constant_; }

  /// The matrix of the scheme has changed: responses are computed anew.
  void matrix_changed() { known_ = false; }

  /// Takes the rows at the inputs in `work`: places and time of the end of the step, velocities of its beginning. `mode` is that before the step.
  void take_rows(const Mode& mode, const double* velocity);
  /// Contacts that take part under the velocity law: those whose gap is closed at the inputs of take_rows.
  void choose_closed();
  /// Under the position law all of them do.
  void choose_all();
  /// Those that are closed in this mode, and everything that is no contact.
  void choose_by_mode(const Mode& mode);

  /// Accelerations: takes a = M⁻¹ f to those that the laws of closed contacts, constraints and friction leave between reactions and the rates of velocities,
  ///     0 ≤ γ̇_N ⟂ λ_N ≥ 0 ,   −λ_T ∈ μ_s L ∂|γ̇_T| at rest,   λ_T = −μ L γ_T/|γ_T| in slip ,
  /// for the relations that were chosen; contacts that separate have no reaction. Reactions are in normal() and tangent(). `mass` holds the factors of M,
  /// n × n; `step` is the time in which a velocity counts as more than rounding. Rows and velocities are those of take_rows.
  [[nodiscard]] Status accelerate(double step, const double* velocity, StepMatrix& mass, double* a);

  /// The scheme has given these reactions, by relation and by tangential row, for this time before it asks for the rest of the impulses of the step.
  void remember(double time, std::span<const double> normal, std::span<const double> tangent);

  /// Solves for the impulses and adds X p to ξ (and to the states behind it). `lu` holds the factors of A, of this size.
  [[nodiscard]] Status solve(const StepLaw& law, std::span<const double> gap,
                             std::span<const double> gap_before, StepMatrix& lu, int size, double* xi);
  /// Statuses after the step into the mode.
  void write_mode(Mode& mode) const;

  /// Takes M⁻¹ times impulses of another solve, by relation and by tangential row, out of the velocities `v`. `mass` as in accelerate().
  void take_out(const StepContacts& of, StepMatrix& mass, double* v);

  /// Impulses of the last solve by relation and by tangential row.
  [[nodiscard]] std::span<const double> normal() const { return normal_; }
  [[nodiscard]] std::span<const double> tangent() const { return tangent_; }
  [[nodiscard]] bool was_open(int relation) const { return was_open_[relation] != 0; }
  [[nodiscard]] bool any_part() const { return any_; }
  [[nodiscard]] bool any_impulse() const { return any_impulse_; }
  /// Some contact had an impulse that approached before, with these velocities, by more than rounding.
  [[nodiscard]] bool any_strike(const double* velocity) const;
  /// The same of this contact, which was open before and is not in the second step of an impact.
  [[nodiscard]] bool met(int relation, const double* velocity) const {
    return was_open_[relation] != 0 && half_[relation] == 0 && approached(relation, velocity);
  }
  [[nodiscard]] bool any_met(const double* velocity) const;

  /// Impacts of two steps: behind a step in which a contact was met, with these velocities before, its impulses are kept for the next one.
  void keep_impact(const double* velocity);
  void forget_impact();
  /// The impact of the step before goes on in this one; this contact was met by it.
  [[nodiscard]] bool completing() const { return completing_; }
  [[nodiscard]] bool completing(int relation) const { return half_[relation] != 0; }
  /// Impulses of its first step, by relation and by tangential row.
  [[nodiscard]] double first_normal(int relation) const;
  [[nodiscard]] double first_tangent(int number) const;
  void save_impact(std::vector<double>& out) const;
  [[nodiscard]] std::size_t saved_impact_size() const {
    return 1 + first_.size() + 3 * first_mu_.size() + 3 * half_.size();
  }
  void load_impact(std::span<const double> saved);
  /// The impulses of this step are not the only ones, and how many other motions there are.
  [[nodiscard]] int solutions() const { return solutions_; }
  [[nodiscard]] const std::string& solutions_text() const { return solutions_text_; }
  [[nodiscard]] int iterations() const { return iterations_; }
  /// The relation that no finite reaction lets go on slipping in this step; -1: none. Then its normal acceleration is k λ_N + a.
  [[nodiscard]] int paradox() const { return paradox_; }
  [[nodiscard]] double paradox_k() const { return paradox_k_; }
  [[nodiscard]] double paradox_a() const { return paradox_a_; }

  /// Largest errors of the laws in the last solve: u_N p_N / κ-free complementarity, friction beyond its cone; in the units of the rows.
  [[nodiscard]] double complementarity() const { return complementarity_; }
  [[nodiscard]] double cone() const { return cone_; }
  /// Work of drives, −Σ p·b.
  [[nodiscard]] double drive_work() const;
  /// Work of the impulses of one relation, with velocities before and after.
  void work_of(int relation, const double* before, const double* after, double& dissipated,
               double& supplied) const {
    work_of(relation, normal_, tangent_, 1, before, after, dissipated, supplied);
  }
  /// The same of other impulses, by relation and tangential row, times `share`.
  void work_of(int relation, std::span<const double> normal, std::span<const double> tangent, double share,
               const double* before, const double* after, double& dissipated, double& supplied) const;
  /// Copies the present rows; work_of_kept() tells what impulses along them do later.
  void keep_rows();
  void work_of_kept(int relation, std::span<const double> normal, std::span<const double> tangent,
                    double share, const double* before, const double* after, double& dissipated,
                    double& supplied) const;

  /// Takes what bilateral rows are off by at the inputs in `work` out of q, along X. False: they cannot be met.
  [[nodiscard]] bool project(StepMatrix& lu, int size, double* q);

  void save(std::vector<double>& out) const;
  [[nodiscard]] std::size_t saved_size() const { return guess_.size(); }
  void load(std::span<const double> saved) { guess_.assign(saved.begin(), saved.end()); }

 private:
  struct Slot {
    int relation = 0;
    int tangent = -1;  ///< within the relation; −1: normal
    int number = -1;   ///< of the tangential row
    int single = -1;   ///< its only coordinate, where its rows are constant
  };
  struct Law {  ///< of the friction of a relation in this step
    double mu = 0, load = 0;
    bool smooth = false;
  };

  [[nodiscard]] const model::Row& row_of(const Slot& slot) const;
  [[nodiscard]] const model::Row& push_of(const Slot& slot) const;
  [[nodiscard]] double drive_of(const Slot& slot) const;
  [[nodiscard]] double rate_of(const Slot& slot) const;
  void find_shares();
  void push_slides(double* a);
  void leave_separating(double step, const double* velocity, const double* a);
  void find_responses(StepMatrix& lu, int size);
  void list_blocks(const StepLaw& law);
  void settle_doubtful();
  [[nodiscard]] bool strikes(int relation) const;
  void find_sharing();
  [[nodiscard]] bool approached(int relation, const double* velocity) const;
  void add_block(contact::StepBlockKind kind, int relation, int slips);
  void find_free(const StepLaw& law, std::span<const double> gap, std::span<const double> gap_before,
                 const double* xi);
  void assemble();
  [[nodiscard]] bool solve_single();
  [[nodiscard]] Status solve_general();
  [[nodiscard]] double slip_before(const contact::StepBlock& block, int number) const;
  [[nodiscard]] bool turned_by_impact(const contact::StepBlock& block, std::size_t at, int first) const;
  [[nodiscard]] bool rest_turned();
  void carry(std::size_t block, std::size_t at);
  [[nodiscard]] bool carry_coupled();
  void spread(std::vector<std::uint8_t>& marks) const;
  void take_rest_limits(const Mode& mode);
  [[nodiscard]] bool rest_sided();
  [[nodiscard]] double load_of(std::size_t block, std::size_t at) const;
  [[nodiscard]] double own_coefficient(int relation) const;
  [[nodiscard]] double own_dry_force(int relation) const;
  /// `sizes`: of the rows, as velocities.
  void classify(std::span<const double> sizes);
  void stand_together();
  void check_unique();
  void find_paradox(const StepLaw& law);
  void take_impulses(double* xi, int size);

  const model::System& system_;
  model::Workspace& work_;
  int n_ = 0;
  std::vector<Slot> slots_;
  std::vector<int> normal_slot_, tangent_slot_;  ///< by relation; by tangential row
  bool rows_constant_ = true;
  bool known_ = false;
  std::vector<double> response_;  ///< X, by slot, `width_` numbers each
  int width_ = 0;
  std::vector<double> coupling_;  ///< G X of all slots, where rows are constant
  std::vector<std::uint8_t> part_;
  std::vector<Law> law_;
  std::vector<double> approach_, slip_;  ///< velocities before: by relation, by tangential row
  std::vector<double> shift_;            ///< by relation: e |γ_N⁰|
  std::vector<std::uint8_t> was_open_, rested_;
  std::vector<std::uint8_t> turned_;   ///< by relation: its slip has turned within the step
  std::vector<std::uint8_t> carries_;  ///< by relation: its reaction of the beginning is sought once more
  std::vector<std::uint8_t> couples_;  ///< by relation: it couples to a slip that turns or stops
  std::vector<double> was_direction_;  ///< by tangential row: of the slip at the beginning of the step
  // reactions of the beginning of the step, of which a scheme makes a part of the impulse
  double remembered_time_ = 0;
  std::span<const double> remembered_normal_, remembered_tangent_;
  // coefficients of rows at rest that depend on the direction
  RestLaws rest_laws_;
  DryForces dry_;
  bool may_be_sided_ = false;
  double kappa_ = 1;  ///< of the blocks
  Mode rest_mode_;
  std::vector<std::uint8_t> sided_;  ///< by relation: both directions differ
  std::vector<std::int8_t>
      side_;  ///< by relation: the direction whose limit is taken; 0: the larger numbers of both
  /// Coefficients of slips forwards and backwards, and what dry forces hold beside them.
  std::vector<double> mu_plus_, mu_minus_, dry_plus_, dry_minus_;
  // the problem
  std::vector<contact::StepBlock> blocks_;
  std::vector<contact::StepFeed> feeds_;
  std::vector<int> block_relation_;
  std::vector<int> row_slot_, slot_row_;
  std::vector<double> q_, W_, guess_of_rows_, impulse_, u_;
  std::vector<contact::StepContact> found_;
  std::vector<std::uint8_t> stood_;  ///< by block: its slips stand; whether they do is asked of the others
  std::vector<double> held_;         ///< W with what stands held
  std::vector<double> smooth_push_;  ///< by row: X of a normal row with the smooth friction that it draws
  contact::OneStepWorkspace workspace_;
  contact::OneStepModes modes_;
  std::vector<double> guess_;  ///< impulses of the step before, by slot
  std::vector<double> normal_, tangent_;
  std::vector<TangentStatus> status_;
  std::vector<NormalStatus> normal_status_;
  std::vector<double> memory_;
  // an impact of two steps
  bool completing_ = false, after_ = false;
  std::vector<std::uint8_t> half_;  ///< by relation: met in the step before
  std::vector<std::uint8_t>
      ended_;  ///< by relation: met two steps before; its restitution holds for the gap of the step between
  std::vector<double> first_,
      carried_;  ///< impulses of the first step by slot; the same by row of the problem
  std::vector<double> first_mu_, first_load_, first_e_;  ///< by relation: of the first step
  std::vector<std::uint8_t> shares_;  ///< by relation: it has a part in the impact that goes on
  std::vector<double> restitution_;   ///< by relation: e of this step
  std::vector<double>
      share_;  ///< by tangential row, while accelerations are sought: of its load, against the slip; 0 at rest
  std::vector<double> kept_;  ///< by slot: drive, then its row and its push at the touched coordinates
  std::vector<int> kept_begin_;
  bool accelerating_ = false;
  bool any_ = false, any_impulse_ = false, position_ = false, doubtful_ = false;
  int solutions_ = 1, iterations_ = 0, paradox_ = -1;
  double paradox_k_ = 0, paradox_a_ = 0;
  std::string solutions_text_;
  double complementarity_ = 0, cone_ = 0;
};

}  // namespace judder::engines
