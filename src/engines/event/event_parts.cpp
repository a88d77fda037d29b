#include "engines/event/event_parts.hpp"

namespace judder::engines {

EventParts::EventParts(const model::System& system)
    : now(system),
      here(now),
      rounding(now, here),
      rows(now, here),
      trial(now, rounding),
      pressed(now, trial),
      record(now, found, rows, trial, pressed),
      sides(now, here, rounding, rows),
      decisions(now, here, rounding, sides),
      tails(now, here, rounding, rows, record, sides),
      impacts(now, here, found, rounding, rows, sides, decisions, tails),
      jumps(now, here),
      limits(now, here, rounding),
      parting(now, trial),
      watching(now, here, found, rounding, rows, trial),
      leaving(now, here, rounding, watching),
      sliding(now, here, rows, sides),
      trials(now, here, search, rounding, sides, decisions, leaving),
      surfaces(now, here, search, impacts, leaving, sliding, trials),
      decision(now, here, search, sides, decisions, impacts, leaving, trials, surfaces),
      guard_zeros(now, here, rounding, watching),
      scan(now, found, rounding, trial, watching),
      at_once(now, found, rounding, trial, sides, scan),
      first(now, trial, scan),
      landing(now, found, trial, record, watching, sliding, scan),
      settling(now, here, rounding, rows, trial, record, sides, decisions, tails, impacts, jumps, watching,
               sliding, trials, decision, guard_zeros),
      instant(now, here, found, rounding, rows, record, sides, decisions, tails, impacts, limits, parting,
              watching, sliding, settling),
      memory(now, here, trial, sides, tails, watching, sliding, settling) {}

}  // namespace judder::engines
