// Where the potential energy of a model jumps over a place.
//
// A force is minus the slope of the potential on each side of a switch; a step between them would be an impulse, which no equation of motion has. Its places are
// looked for near the start: along the slope of each surface by Newton's method to its zero, and there on both of its sides. What is not found is
// met by the run, which then ends (docs/theory.md).
#pragma once

#include <string>
#include <vector>

#include "judder/model/system.hpp"

namespace judder::model {

struct PotentialStep {
  int number = 0;  ///< of the switch
  std::string at;  ///< the place: "x = 0.5"
  double below = 0, above = 0;
};

/// One for each switch over whose surface the potential jumps at a place that was found. work.in is that of the start, and is again afterwards.
[[nodiscard]] std::vector<PotentialStep> potential_steps(const System& system, Workspace& work);

}  // namespace judder::model
