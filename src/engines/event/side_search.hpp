// Memory of the decisions about surfaces at an instant (side_trials.hpp, surfaces.hpp, surface_decision.hpp): nothing is allocated in one.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "judder/engines/mode.hpp"

namespace judder::engines {

struct SideSearch {
  std::vector<int> members, block, zero, rows, leaves, chosen_leaves, borne, moved, waiting, decided, beside,
      blended, told;
  std::vector<long> not_unique_at;
  std::vector<std::pair<int, int>> edges, ended;
  Mode before, aside, beyond, followed, trial, chosen, guess, known, kept, at_first, start;
  std::array<Mode, 2> on_side;
};

}  // namespace judder::engines
