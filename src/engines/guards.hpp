// The functions that end a mode. Each is positive in the mode; a zero ends it. mechanics: docs/theory.md, "What ends a mode".
//
//     open contact            g
//     closed                  λ_N                          (redundant rows: the conditions of reaction_conditions.hpp instead, or the largest
//                                                           margin where their weights change)
//     stick                   μ_s L − λ_T ,  μ_s L + λ_T
//     slip σ                  σ γ_T ;  det(G M⁻¹ C) where friction can jam the contact
//     joint                   its given normal force
//     constraint with friction   ± λ on its pressed side
//     switch on a side        ± s, distance to the levels next to it; while it slides −ds/dt on the upper and ds/dt on the lower side;
//                             while it is held at zero the distance of ± s from the width of its rounding
//     switch around one that slides   distance to the levels next to it, on each side of that one
//     switch of a watch       distance to the levels next to it; it ends nothing but the piece on which the watch is smooth
//     watch                   its expression, zeros of both directions
//
// Absolute values are split in two, so every function is smooth along a step. A function that is zero at the start of a step because of
// the event there has `zeros` = the order of that zero, which the root finder divides out.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "enclosure.hpp"
#include "mode_motion.hpp"
#include "reaction_conditions.hpp"
#include "reaction_sharing.hpp"
#include "rest_laws.hpp"

namespace judder::engines {

enum class GuardKind : std::uint8_t {
  gap,
  reaction,
  margin,
  cone_plus,
  cone_minus,
  slip,
  jam,
  joint_normal,
  pressed,
  side,
  level_below,
  level_above,
  slide_above,
  slide_below,
  held_above,
  held_below,
  corner,
  observed,
  watch
};

struct Guard {
  GuardKind kind = GuardKind::gap;
  int place = 0;  ///< relation, switch, switch of System::observed or watch
  int tangent =
      0;  ///< tangential row within the relation; of a margin: its condition, −1: the largest margin; of a corner: its number
  int outer = 0;     ///< of a corner: its switch by its place in ModeMotion::outer()
  double sign = 1;   ///< orientation of switches and watches
  int slot = 0;      ///< of its running scale
  int zeros = 0;     ///< order of the zero at the start of the coming step; −1: some zero of unknown order
  double scale = 0;  ///< largest size seen of this function
  double band = 0;   ///< of a surface that is held: how far it may be from `level` by rounding
  double level = 0;  ///< that it is held at; of the switch of a watch, or at a corner: that it may cross
  int row =
      -1;  ///< of a surface that is held: the relation at rest whose row holds it; in `tangent`: which, −1: its normal
  /// Of a reaction that can jam: λ_N times the determinant, which has no pole where the determinant, the guard after it, is zero.
  bool reduced = false;
  double noise_rate =
      0;  ///< of a slip that starts from rest: what rounding of the accelerations adds to its noise per unit of time, until it is armed
  double noise =
      0;  ///< values below this are rounding: a function that never exceeds it along a step is zero, not crossing
  double flat = 0;  ///< the same, and nothing more: a load that stays at the limit of its friction
  bool stays =
      false;  ///< no derivative takes that load away from its limit: `flat` is the error of the steps
};

/// A reaction, or what it leaves of its limit.
[[nodiscard]] bool is_reaction(const Guard& guard);

class Guards {
 public:
  Guards(const model::System& system, model::Workspace& work, ModeMotion& motion);
  /// How many running scales there are.
  [[nodiscard]] static std::size_t scale_count(const model::System& system);

  /// Lists the guards of the motion's mode; `zeros` are all 0. `pushes`: of each switch that slides, for its lower and upper side, the order of the zero that the
  /// push to the surface grows from; empty: none grows from zero.
  void build(std::span<const std::int8_t> pushes = {});
  /// Lists those of the switches of watches anew, for the sides in work.in.
  void build_observed();
  [[nodiscard]] std::vector<Guard>& list() { return list_; }
  [[nodiscard]] const std::vector<Guard>& list() const { return list_; }
  [[nodiscard]] int size() const { return static_cast<int>(list_.size()); }
  [[nodiscard]] bool needs_motion() const { return needs_motion_; }
  [[nodiscard]] bool watches_reactions() const { return watches_reactions_; }
  /// Every function is a polynomial of degree two in time, or less, while the accelerations are constant.
  [[nodiscard]] bool quadratic() const { return quadratic_; }
  /// Whether most relations are open contacts: then all gaps are evaluated at once (System::gaps).
  [[nodiscard]] bool many_gaps() const {
    constexpr int kSeveral = 4;
    return gaps_ >= kSeveral && 2 * gaps_ >= system_.layout().relations;
  }
  [[nodiscard]] bool only_gaps() const { return only_gaps_; }

  /// Values at the state loaded in work.in (evaluated by the motion if needs_motion()), `stride` apart. Updates nothing.
  void values(double* out, int stride = 1);
  [[nodiscard]] double value(const Guard& guard);
  /// γ_N of an open contact at the state loaded last.
  [[nodiscard]] double gap_rate(const Guard& guard);
  /// Takes the rounding of a reaction, a slip, a gap or a surface at the state evaluated last, which may have grown since the mode began. `size` is what the
  /// parts of the state have been, whose rounding they keep. False: the guard is none of these.
  bool renew_noise(Guard& guard, std::span<const double> size = {});
  /// Running scales by kind of quantity: a guard takes over the scale of its relation's quantity.
  void note_scales();
  /// The same for a value that was met between the states seen.
  void note_scale(Guard& guard, double value);
  void load_scales(const std::vector<double>& memory);
  [[nodiscard]] const std::vector<double>& scales() const { return memory_; }
  [[nodiscard]] double gap_scale(int relation) const { return memory_[relation]; }
  /// Largest reactions seen so far, by relation and by tangential row.
  [[nodiscard]] double normal_scale(int relation) const {
    return memory_[system_.layout().relations + relation];
  }
  [[nodiscard]] double tangent_scale(int number) const {
    return memory_[2 * system_.layout().relations + system_.layout().tangents + number];
  }
  /// Largest slip velocity seen so far, by tangential row.
  [[nodiscard]] double slip_scale(int number) const {
    return memory_[2 * system_.layout().relations + number];
  }
  /// Rounding of a gap at the state in work.in.
  [[nodiscard]] double gap_noise(int relation);
  /// Rounding of the surface of switch k, from its sensitivity to the last bits of the state in work.in.
  [[nodiscard]] double surface_noise(int k);
  [[nodiscard]] double surface_scale(int k) const {
    return memory_[2 * system_.layout().relations + 2 * system_.layout().tangents + k];
  }
  /// Largest ds/dt seen so far of switch k while the motion slid on it; 0: it has not.
  [[nodiscard]] double sliding_rate_scale(int k) const {
    return memory_[2 * system_.layout().relations + 2 * system_.layout().tangents +
                   system_.layout().switches + k];
  }

  /// The laws of a margin that is a condition.
  [[nodiscard]] std::span<const ReactionConditions::Part> condition(const Guard& guard) const {
    return conditions_[guard.tangent];
  }

  /// Asked inside long searches.
  void use(Patience* patience) {
    sharing.use(patience);
    conditions_.use(patience);
  }

  ReactionSharing sharing;
  RestLaws rest;

 private:
  void add(GuardKind kind, int place, int tangent = 0, double sign = 1);
  void add_margins(int block);
  [[nodiscard]] int slot_of(const ReactionConditions::Part& part) const;
  [[nodiscard]] double scale_in_memory(const Guard& guard) const;
  [[nodiscard]] bool never_negative(int relation) const;
  void add_corners();
  [[nodiscard]] double force_noise(const Guard& guard) const;
  [[nodiscard]] double limit(int relation) const;
  [[nodiscard]] double cone(int relation, int tangent, int side);
  [[nodiscard]] double slip_terms(const Guard& guard) const;
  [[nodiscard]] double condition_value(const Guard& guard);
  [[nodiscard]] double watch_noise(int watch);
  [[nodiscard]] double surface_value(int k);
  void find_row(Guard& guard);
  [[nodiscard]] double ratio_to_row(const Guard& guard);
  [[nodiscard]] double held_value(const Guard& guard);
  [[nodiscard]] double interval_noise(const expr::Program& program);
  struct Slots {  ///< of running scales, by kind
    int first = 0;
    bool by_row = false;  ///< then by tangential row, otherwise by place
  };
  void note_shared_forces();

  const model::System& system_;
  model::Workspace& work_;
  ModeMotion& motion_;
  std::vector<Guard> list_;
  ReactionConditions conditions_;
  std::vector<ReactionConditions::Row> active_;
  std::vector<double> ways_;
  std::vector<std::uint8_t> chosen_, listed_;  ///< by relation: of a block; by block: its margins are listed
  std::array<Slots, 19> slots_;
  std::vector<double>
      memory_;  ///< running scales: gap, force by relation; slip, force by tangential row; surface and its rate by switch; watch; determinant by relation; surface by switch of watches
  Enclosure enclosure_;
  std::vector<double> surface_;
  bool watches_reactions_ = false;  ///< some watch reads what the motion must publish
  bool needs_motion_ = false;
  bool has_massless_ = false;
  bool quadratic_ = false;
  int gaps_ = 0;  ///< guards that are gaps
  bool only_gaps_ = false;
};

}  // namespace judder::engines
