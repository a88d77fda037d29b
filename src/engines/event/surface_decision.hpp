// All surfaces at zero at an instant: block by block, those that contain others after these, and those that stay at zero on both sides with the value that the
// language gives at equality. Rule 4 of an instant (docs/theory.md, "An instant").
#pragma once

#include "engines/coupling.hpp"
#include "engines/event/instant_state.hpp"
#include "engines/event/phase.hpp"
#include "engines/event/side_search.hpp"

namespace judder::engines {

class Decisions;
class Leaving;
class SideTrials;
class Sides;
class Strikes;
class Surfaces;

class SurfaceDecision {
 public:
  SurfaceDecision(Phase& now, InstantState& here, SideSearch& search, Sides& sides, Decisions& decisions,
                  Strikes& impacts, Leaving& leaving, SideTrials& trials, Surfaces& surfaces);

  [[nodiscard]] bool decide_surfaces();

 private:
  void group();
  [[nodiscard]] int block_of_relation(int r) const;
  [[nodiscard]] bool is_moved(int b);
  [[nodiscard]] bool decide_blocks();
  void mark_stale();
  [[nodiscard]] bool has_changed(int b) const;
  [[nodiscard]] bool begin_again(int b);
  void rows_as_in(const Mode& mode, int b);
  void take_rows(int b);
  [[nodiscard]] bool decide_rows_apart();
  [[nodiscard]] bool decide_block(int b);
  [[nodiscard]] bool moves_against_sides(const Mode& mode);
  [[nodiscard]] bool decide_open_surfaces();
  [[nodiscard]] bool decide_or_rest(const std::vector<int>& members);
  enum class Rest : std::uint8_t { none, some, two_ways };
  [[nodiscard]] Rest stay_at_equality(const std::vector<int>& members);
  [[nodiscard]] bool is_no_rest(int k, const std::vector<int>& members, const std::vector<int>& held,
                                const Mode& start);
  [[nodiscard]] bool goes_two_ways(int k, const std::vector<int>& members);
  [[nodiscard]] bool try_beside(const std::vector<int>& rest);

  Phase& now_;
  InstantState& here_;
  SideSearch& search_;
  Sides& sides_;
  Decisions& decisions_;
  Strikes& impacts_;
  Leaving& leaving_;
  SideTrials& trials_;
  Surfaces& surfaces_;
  Coupling coupling_;
  int count_ = 0;                   ///< of blocks; this number itself stands for what belongs to none of them
  int opens_ = 0;                   ///< surfaces in all_ that contain no others of E
  std::vector<int> all_, waiting_;  ///< E; those of it that contain others
  std::vector<int> order_;          ///< of the blocks
  std::vector<std::uint8_t> stale_;  ///< by block: to be decided once more
  int two_ways_ = -1;                ///< a surface that is left to both sides while others are held
  Mode entry_, found_;
  std::vector<int>
      block_;  ///< the surfaces of the present block; decisions of some of them are made within that of all
};

}  // namespace judder::engines
