// The parts of a run from event to event, each with its own state, in the order in which they build on each other.
//
// A part is given what it uses and nothing else; none knows one that stands below it in this list. Shared are the phase, the facts of the present instant, and
// what was found along the present step.
#pragma once

#include "engines/event/at_once.hpp"
#include "engines/event/decisions.hpp"
#include "engines/event/first_steps.hpp"
#include "engines/event/guard_zeros.hpp"
#include "engines/event/impact_tails.hpp"
#include "engines/event/instant.hpp"
#include "engines/event/landing.hpp"
#include "engines/event/leaving.hpp"
#include "engines/event/limits.hpp"
#include "engines/event/memory.hpp"
#include "engines/event/node_jumps.hpp"
#include "engines/event/parting.hpp"
#include "engines/event/pressing.hpp"
#include "engines/event/roundings.hpp"
#include "engines/event/rows.hpp"
#include "engines/event/scan.hpp"
#include "engines/event/settling.hpp"
#include "engines/event/side_search.hpp"
#include "engines/event/side_trials.hpp"
#include "engines/event/sides.hpp"
#include "engines/event/sliding.hpp"
#include "engines/event/step_record.hpp"
#include "engines/event/strikes.hpp"
#include "engines/event/surface_decision.hpp"
#include "engines/event/surfaces.hpp"
#include "engines/event/trial.hpp"
#include "engines/event/watching.hpp"

namespace judder::engines {

struct EventParts {
  explicit EventParts(const model::System& system);
  EventParts(const EventParts&) = delete;
  EventParts& operator=(const EventParts&) = delete;

  Phase now;
  InstantState here;
  StepFindings found;
  SideSearch search;
  Roundings rounding;
  Rows rows;
  Trial trial;
  Pressing pressed;
  StepRecord record;
  Sides sides;
  Decisions decisions;
  ImpactTails tails;
  Strikes impacts;
  NodeJumps jumps;
  Limits limits;
  Parting parting;
  Watching watching;
  Leaving leaving;
  Sliding sliding;
  SideTrials trials;
  Surfaces surfaces;
  SurfaceDecision decision;
  GuardZeros guard_zeros;
  Scan scan;
  AtOnce at_once;
  FirstSteps first;
  Landing landing;
  Settling settling;
  Instant instant;
  Memory memory;
};

}  // namespace judder::engines
