// Surfaces of one block that the motion decides: which side it leaves each of them to, or whether it slides or rests on it, together with the statuses of
// contacts. Rule 4 of an instant (docs/theory.md, "An instant"). All combinations up to a number, an iteration beyond.
#pragma once

#include <cstdint>
#include <vector>

#include "engines/event/instant_state.hpp"
#include "engines/event/phase.hpp"
#include "engines/event/side_search.hpp"

namespace judder::engines {

class Leaving;
class SideTrials;
class Sliding;
class Strikes;

class Surfaces {
 public:
  Surfaces(Phase& now, InstantState& here, SideSearch& search, Strikes& impacts, Leaving& leaving,
           Sliding& sliding, SideTrials& trials);

  [[nodiscard]] bool decide_members(const std::vector<int>& members);

 private:
  enum class LetGo : std::uint8_t { nothing, decided, several };
  [[nodiscard]] LetGo let_rows_go(const std::vector<int>& members);
  [[nodiscard]] bool goes_otherwise(const Mode& one, const Mode& other);
  void tell_several(const std::vector<int>& rows, unsigned one, unsigned other);
  [[nodiscard]] bool decide_surface(int k);
  [[nodiscard]] bool decide_several(const std::vector<int>& members);
  [[nodiscard]] bool decide_many(const std::vector<int>& members);
  [[nodiscard]] bool hold_unmoved(const std::vector<int>& members, bool ambiguous);

  Phase& now_;
  InstantState& here_;
  SideSearch& search_;
  Strikes& impacts_;
  Leaving& leaving_;
  Sliding& sliding_;
  SideTrials& trials_;
  std::vector<double> ahead_;  ///< where two motions go
};

}  // namespace judder::engines
