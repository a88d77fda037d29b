// Reactions of redundant contacts.
//
// When the rows of a mode are dependent, the motion is unique and the reactions are not. Rest persists as long as some reaction of the affine
// solution set is admissible; the reaction of largest margin is reported, and its margin is the guard of the mode.
#pragma once

#include <vector>

#include "judder/contact/decision.hpp"
#include "mode_motion.hpp"
#include "row_assembly.hpp"

namespace judder::engines {

class ReactionSharing {
 public:
  ReactionSharing(const model::System& system, model::Workspace& work);

  /// The mode at the state in work.in, after ModeMotion::set_mode.
  void set_mode(const Mode& mode);
  /// At a state that `motion` has evaluated: puts the reactions of largest margin into it and returns that margin (in the unit of λ).
  double share(ModeMotion& motion);
  [[nodiscard]] double force_scale() const { return scale_; }

 private:
  contact::DecisionProblem problem();

  const model::System& system_;
  RowAssembly assembly_;
  contact::DecisionWorkspace workspace_;
  contact::ModeFactor factor_;
  Mode mode_;
  std::vector<std::uint8_t> part_;
  std::vector<contact::RowStatus> statuses_;
  std::vector<contact::TangentState> state_;
  std::vector<double> force_, acceleration_;
  double scale_ = 0;
};

}  // namespace judder::engines
