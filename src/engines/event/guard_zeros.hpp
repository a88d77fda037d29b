// Guards that start a phase at zero: of which order that zero is, so that the search for the next one does not find it again.
#pragma once

#include "engines/event/instant_state.hpp"
#include "engines/event/phase.hpp"

namespace judder::engines {

class Roundings;
class Watching;

class GuardZeros {
 public:
  GuardZeros(Phase& now, InstantState& here, Roundings& rounding, Watching& watching);
  /// A joint whose normal force starts the phase at zero and falls; −1: there is none.
  [[nodiscard]] int negative_joint() const { return negative_joint_; }

  void set_guard_zeros();

 private:
  [[nodiscard]] bool negative_ahead(const Guard& guard, double time);
  [[nodiscard]] double reaction_scale(int relation);

  Phase& now_;
  InstantState& here_;
  Roundings& rounding_;
  Watching& watching_;
  std::vector<double> node_y_;
  int negative_joint_ = -1;  ///< a joint whose normal force starts the phase at zero and falls
};

}  // namespace judder::engines
