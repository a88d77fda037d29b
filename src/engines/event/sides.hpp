// Sides of switches and directions of slip by value: rules 1 and 2 of an instant (docs/theory.md, "An instant").
//
// Inner switches come before those that contain them. What is at zero, to its rounding, by the event of this instant, at rest or slid on is not read from its value:
// it goes into here.open and is decided by the motion (surfaces.hpp).
#pragma once

#include "engines/event/instant_state.hpp"
#include "engines/event/phase.hpp"
#include "engines/nested_sides.hpp"

namespace judder::engines {

class Roundings;
class Rows;

class Sides {
 public:
  Sides(Phase& now, InstantState& here, Roundings& rounding, Rows& rows);
  /// Sides of switches that contain others.
  [[nodiscard]] NestedSides& nested() { return nested_sides_; }

  void note_instant();
  [[nodiscard]] bool contains_sliding(int k);
  void load_statuses();
  [[nodiscard]] int direction_by_speed(int k);
  [[nodiscard]] bool sides_by_value();
  [[nodiscard]] bool side_by_value(int k);
  [[nodiscard]] bool rates_by_value(bool all = false, bool decided = false);
  void shift_slips(double sign);
  void list_switch_changes();
  [[nodiscard]] bool evaluate_coefficients();
  [[nodiscard]] bool kink_inside(int k) const;
  [[nodiscard]] double start_side(int k);

 private:
  std::vector<int> inner_;  ///< of a switch: those at zero that it contains
  [[nodiscard]] double side_along_inner(int k, double rounding, double by_value);

  Phase& now_;
  InstantState& here_;
  Roundings& rounding_;
  Rows& rows_;
  NestedSides nested_sides_;
  std::vector<std::uint8_t>
      inside_;  ///< by switch, for contains_sliding(): its side stands in the one looked at
  std::vector<double> surface_memory_;
};

}  // namespace judder::engines
