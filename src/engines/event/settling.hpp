// The next mode: sides, impacts and decisions until nothing changes, and the phase that then begins (docs/theory.md, "An instant").
#pragma once

#include "engines/event/instant_state.hpp"
#include "engines/event/phase.hpp"

namespace judder::engines {

class Decisions;
class GuardZeros;
class ImpactTails;
class NodeJumps;
class Roundings;
class Rows;
class SideTrials;
class Sides;
class Sliding;
class StepRecord;
class Strikes;
class SurfaceDecision;
class Trial;
class Watching;

class Settling {
 public:
  Settling(Phase& now, InstantState& here, Roundings& rounding, Rows& rows, Trial& trial, StepRecord& record,
           Sides& sides, Decisions& decisions, ImpactTails& tails, Strikes& impacts, NodeJumps& jumps,
           Watching& watching, Sliding& sliding, SideTrials& trials, SurfaceDecision& decision,
           GuardZeros& guard_zeros);

  [[nodiscard]] bool settle();
  [[nodiscard]] bool restart();

 private:
  Mode known_;  ///< statuses before rates are read by value
  [[nodiscard]] bool gaps_continue();
  [[nodiscard]] bool take_open_surfaces();
  [[nodiscard]] int take_back_rests();
  [[nodiscard]] bool slides_apart();
  [[nodiscard]] bool acts_on(int k, int j) const;
  [[nodiscard]] bool at_zero(int k);
  void reset_bristles();

  Phase& now_;
  InstantState& here_;
  Roundings& rounding_;
  Rows& rows_;
  Trial& trial_;
  StepRecord& record_;
  Sides& sides_;
  Decisions& decisions_;
  ImpactTails& tails_;
  Strikes& impacts_;
  NodeJumps& jumps_;
  Watching& watching_;
  Sliding& sliding_;
  SideTrials& trials_;
  SurfaceDecision& decision_;
  GuardZeros& guard_zeros_;
  std::vector<double> landing_y_;
  std::vector<double> sides_before_;  ///< by switch, before the last decision
  std::vector<double> surface_memory_;
};

}  // namespace judder::engines
