// The state on the surfaces that it slides on, or has come to: what rounding leaves of their distance is taken away.
#pragma once

#include "engines/accumulation.hpp"
#include "engines/event/instant_state.hpp"
#include "engines/event/phase.hpp"

namespace judder::engines {

class Rows;
class Sides;

class Sliding {
 public:
  Sliding(Phase& now, InstantState& here, Rows& rows, Sides& sides);
  /// Switchings that follow each other ever faster.
  [[nodiscard]] Accumulation& switching() { return switching_; }

  void project_sliding();
  void project_step();  ///< the same where a step has ended
  void meet_surface(int k);
  void meet_kinks(int k);
  void finish_switching();
  void note_pushes();

 private:
  std::vector<int> onto_, members_;  ///< surfaces that the state is put onto; of a pattern of switchings
  Mode beside_;                      ///< the mode on one side of a surface
  void project_onto(std::vector<int>& sliding);
  [[nodiscard]] bool follow_nodes();
  [[nodiscard]] double off_surfaces();

  Phase& now_;
  InstantState& here_;
  Rows& rows_;
  Sides& sides_;
  Accumulation switching_;  ///< of switchings
  Accumulation::Entry switched_now_;
  Accumulation::Pattern switching_pattern_;
  std::vector<double> node_y_;
  std::vector<double> landing_y_;
  std::vector<double> stepped_y_;  ///< before it is put onto its surfaces
  std::vector<double> surface_memory_;
  std::vector<double> projection_;
};

}  // namespace judder::engines
