// Memory of the decisions about surfaces at an instant (side_trials.hpp, surfaces.hpp, surface_decision.hpp): nothing is allocated in one.
#pragma once

#include <array>
#include <vector>

#include "judder/engines/mode.hpp"

namespace judder::engines {

struct SideSearch {
  std::vector<int> members, block, zero, rows, leaves, chosen_leaves, moved, waiting, decided, beside,
      blended, told;
  std::vector<long> not_unique_at;
  Mode before, followed, trial, chosen, guess, known, kept, at_first, start;
  std::array<Mode, 2> on_side;
};

}  // namespace judder::engines
