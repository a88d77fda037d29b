// Massless coordinates without a damper follow the forces, and jump where these do: the work of a jump is that of the forces along its way.
#pragma once

#include "engines/event/instant_state.hpp"
#include "engines/event/phase.hpp"

namespace judder::engines {

class NodeJumps {
 public:
  NodeJumps(Phase& now, InstantState& here);
  /// Energy of the system before the instant that was noted last.
  [[nodiscard]] double energy_before() const { return energy_before_jump_; }

  void note_before_jump();
  [[nodiscard]] bool add_jump_work();

 private:
  void sides_along_jump();
  double add_jump_powers(const double* way, double weight, double* dissipated, double* supplied);
  double add_jump_friction(const double* way, double weight, double* dissipated, double* supplied);

  Phase& now_;
  InstantState& here_;
  std::vector<double> landing_y_;
  std::vector<double> ahead_;
  std::vector<double> jump_from_;  ///< positions before the present instant
  std::vector<double> jump_powers_;
  double energy_before_jump_ = 0;
};

}  // namespace judder::engines
