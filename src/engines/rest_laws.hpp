// Friction laws that depend on the direction of slip, at rest.
//
// A row at rest holds what lies between the forces of slipping to either side: its limit in each direction is that of the law on the side of that
// direction. Switches whose surface is the slip velocity of the row (`if(x' >= 0, 0.1, 0.5)`) are at zero while it rests, so the side that they have then says
// nothing about its limits; neither do those around them (`abs(sign(x'))`).
#pragma once

#include <vector>

#include "judder/engines/mode.hpp"
#include "judder/model/system.hpp"
#include "nested_sides.hpp"

namespace judder::engines {

class RestLaws {
 public:
  RestLaws(const model::System& system, model::Workspace& work);

  /// Finds such switches for every row that sticks, at the state in work.in. Sides of the mode are those in work.in.
  void set_mode(const Mode& mode);
  /// Whether the limits of a tangential row depend on the direction; by its number.
  [[nodiscard]] bool directed(int number) const { return any_ && !rows_[number].empty(); }
  /// To which side of the surface of switch k a slip forwards leads, where the limits depend on it; 0: they do not.
  [[nodiscard]] int along(int number, int k) const;
  /// Whether the motion slides on a surface that its limits depend on.
  [[nodiscard]] bool slides(int number, const Mode& mode) const;
  /// Puts the sides into work.in that hold while the row slips in direction ±1, and puts back what was there.
  void take_direction(int number, int direction);
  void take_back();

 private:
  [[nodiscard]] bool drifts(double ratio, double zeta) const;

  struct Turned {
    int place = 0;      ///< of a switch
    double lower = 0;   ///< its lower side
    bool along = true;  ///< it grows with the slip
    double zero = 0;    ///< what rounding leaves of it beside the row at rest
  };
  const model::System& system_;
  model::Workspace& work_;
  NestedSides nested_;
  std::vector<std::vector<Turned>> rows_;  ///< by tangential row
  std::vector<int> relation_;              ///< of a tangential row
  std::vector<int> turned_, around_;       ///< switches of the row that is asked for
  std::vector<double> kept_, surface_;
  bool any_ = false;
};

}  // namespace judder::engines
