// To which side the motion leaves a surface that it is on, with given sides and statuses: rule 4 of an instant (docs/theory.md, "An instant").
//
// The first derivative of the surface along the motion that is not zero, beyond rounding, tells.
#pragma once

#include "engines/event/instant_state.hpp"
#include "engines/event/phase.hpp"

namespace judder::engines {

class Roundings;
class Watching;

/// To which side the motion in a mode leaves a surface.
struct Departure {
  int sign = 0;   ///< 0: it stays
  int order = 0;  ///< of the derivative that tells
};

class Leaving {
 public:
  Leaving(Phase& now, InstantState& here, Roundings& rounding, Watching& watching);

  [[nodiscard]] bool reads_node_speed(int k);
  [[nodiscard]] Departure leaving_direction(int k, const Mode& trial);
  [[nodiscard]] Departure small_push(int k, const Mode& trial);
  [[nodiscard]] Departure leaving_ahead(int k, const Mode& trial);
  [[nodiscard]] bool nothing_moves();
  [[nodiscard]] bool others_changed(int k) const;

 private:
  [[nodiscard]] int slips_across(int k, const Mode& trial) const;
  [[nodiscard]] Departure leaving_past_rounding(const expr::Series& surface, double rounding) const;
  [[nodiscard]] Departure leaving_by_acceleration(int k);

  Phase& now_;
  InstantState& here_;
  Roundings& rounding_;
  Watching& watching_;
  std::vector<double> landing_y_;
  std::vector<double> surface_memory_;
};

}  // namespace judder::engines
