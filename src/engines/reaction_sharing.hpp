// Reactions of redundant contacts.
//
// When the rows of a mode are dependent, the motion is unique and the reactions are not. Rest persists as long as some reaction of the affine
// solution set is admissible; the reaction of largest margin is reported, and its margin is a guard of the mode. Blocks that are not connected share
// nothing: each has its own reaction of largest margin and its own guard, and blocks with independent rows keep the reactions that they have.
#pragma once

#include <optional>
#include <vector>

#include "judder/contact/blocks.hpp"
#include "judder/contact/decision.hpp"
#include "massless_joints.hpp"
#include "mode_motion.hpp"
#include "rest_laws.hpp"
#include "row_assembly.hpp"
#include "row_coupling.hpp"

namespace judder::engines {

class ReactionSharing {
 public:
  ReactionSharing(const model::System& system, model::Workspace& work);
  /// Asked inside long searches.
  void use(Patience* patience) {
    workspace_.use(patience);
    assembly_.use(patience);
  }

  /// The mode at the state in work.in, after ModeMotion::set_mode.
  void set_mode(const Mode& mode);
  /// The first relation of the block whose reactions this relation shares, or −1: its reactions are its own.
  [[nodiscard]] int block(int relation) const { return block_[relation]; }
  /// At a state that `motion` has evaluated: puts the reactions of largest margin into it.
  void share(ModeMotion& motion);
  /// Of the block of this relation, at the state shared last, in the unit of λ.
  [[nodiscard]] double margin(int block) const { return margin_[block]; }
  /// Contacts that clamp a body may press as hard as they like: no load exhausts them, and the margin is no number.
  [[nodiscard]] bool unlimited(int block) const { return unlimited_[block] != 0; }
  [[nodiscard]] double force_scale(int block) const { return scale_[block]; }

 private:
  contact::DecisionProblem problem();
  /// The problem of a block; its statuses are in block_statuses_.
  contact::DecisionProblem problem(std::span<const int> rows);

  void find_limits();

  const model::System& system_;
  model::Workspace& work_;
  RowAssembly assembly_;
  RestLaws rest_;
  contact::DecisionWorkspace workspace_;
  std::optional<RowCoupling> coupling_;  ///< from the first use on
  contact::Blocks blocks_;
  contact::BlockProblem block_problem_;
  std::vector<contact::ModeFactor> factors_;  ///< by block
  std::vector<contact::RowStatus> block_statuses_;
  Mode mode_;
  std::vector<std::uint8_t> massless_;  ///< joints that are no rows
  std::vector<std::uint8_t> part_;
  std::vector<contact::RowStatus> statuses_;
  std::vector<contact::TangentState> state_;
  std::vector<double> force_, acceleration_;
  std::vector<double> mu_below_,
      base_below_;                      ///< by assembled tangential row: limits of reactions below zero
  std::vector<int> block_;              ///< by relation
  std::vector<double> margin_, scale_;  ///< by first relation of a block
  std::vector<std::uint8_t> unlimited_;
};

}  // namespace judder::engines
