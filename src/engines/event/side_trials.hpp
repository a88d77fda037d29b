// Sides of surfaces on trial: the statuses that go with them, and whether the motion that follows agrees with them.
//
// A trial changes the mode it is given and nothing else of the run; who decides takes it or leaves it (surfaces.hpp).
#pragma once

#include <span>

#include "engines/event/instant_state.hpp"
#include "engines/event/phase.hpp"
#include "engines/event/side_search.hpp"

namespace judder::engines {

class Decisions;
class Leaving;
class Roundings;
class Sides;

class SideTrials {
 public:
  SideTrials(Phase& now, InstantState& here, SideSearch& search, Roundings& rounding, Sides& sides,
             Decisions& decisions, Leaving& leaving);
  /// Whether the motion may rest on a surface that its rate does not see.
  [[nodiscard]] bool may_rest() const { return here_.rests_asked || now_.way->can_rest(); }

  [[nodiscard]] bool try_sides(Mode& trial, Status& status);
  void take_side(Mode& trial, int k, int upper);
  [[nodiscard]] bool try_resting(Mode& trial, Status& status);
  [[nodiscard]] bool not_unique(const std::vector<int>& members);
  [[nodiscard]] bool keeps_side(int k) const;
  [[nodiscard]] bool is_place(int k) const;
  void hold_at_equality(Mode& mode, int k) const;
  [[nodiscard]] bool go_on_held(std::span<const int> members, const Mode& before);
  [[nodiscard]] bool shares_load(int k, const Mode& before);
  [[nodiscard]] bool shares_unique();
  [[nodiscard]] bool rests_alike(int k, const Mode& one, const Mode& other, bool& by_own_law);
  [[nodiscard]] bool stays_by_value(int k, const Mode& before, const Mode& held, Mode& equal);
  [[nodiscard]] bool rests_by_side_alone(int k, const std::vector<int>& members, const Mode& before,
                                         const Mode& trial);
  [[nodiscard]] bool slide_ends(int k, int upper, const std::vector<int>& members, const Mode& before,
                                const Mode& trial);
  [[nodiscard]] bool goes_with_rows(int k) const;
  [[nodiscard]] bool may_stay_at_equality(int k) const;

 private:
  void follow_sides(Mode& trial);
  [[nodiscard]] int leaves_behind_slides(int k, const std::vector<int>& members, const Mode& before,
                                         const Mode& trial);
  void take_sides_of(const Mode& trial, const std::vector<int>& members, const Mode& before, Mode& out) const;
  [[nodiscard]] bool held_by_motion(int k, double rounding);
  [[nodiscard]] bool try_slides(Mode& trial, Status& status);
  [[nodiscard]] bool try_sliding(Mode& trial, Status& status);
  [[nodiscard]] bool take_left_sides(Mode& trial);

  Phase& now_;
  InstantState& here_;
  SideSearch& search_;
  Roundings& rounding_;
  Sides& sides_;
  Decisions& decisions_;
  Leaving& leaving_;
  std::vector<double> combined_force_;  ///< of the fields that a slide is a combination of
  std::vector<double> blended_;
  std::vector<double> surface_memory_;
};

}  // namespace judder::engines
