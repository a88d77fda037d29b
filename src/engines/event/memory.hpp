// What another run needs to go on as if this one had not been cut: a Moment from the parts of a run, and the parts from a Moment.
#pragma once

#include "engines/event/instant_state.hpp"
#include "engines/event/phase.hpp"

namespace judder::engines {

class ImpactTails;
class Settling;
class Sides;
class Sliding;
class Trial;
class Watching;

class Memory {
 public:
  Memory(Phase& now, InstantState& here, Trial& trial, Sides& sides, ImpactTails& tails, Watching& watching,
         Sliding& sliding, Settling& settling);

  void save(Moment& out) const;
  [[nodiscard]] bool take_up(const Moment& from);

 private:
  [[nodiscard]] bool recall(const PhaseMemory& phase);

  Phase& now_;
  InstantState& here_;
  Trial& trial_;
  Sides& sides_;
  ImpactTails& tails_;
  Watching& watching_;
  Sliding& sliding_;
  Settling& settling_;
};

}  // namespace judder::engines
