// By how much what is evaluated at an instant may be off by rounding, and how large its rates have been.
//
// Whether a surface, a gap or a slip is at zero is never asked of a number alone. It is asked of the number and of its bound: the interval that the program
// gives where every input of it is known to its last bits. Behind a jump velocities enter with the larger of their sizes before and behind it.
#pragma once

#include "engines/enclosure.hpp"
#include "engines/event/instant_state.hpp"
#include "engines/event/phase.hpp"

namespace judder::engines {

class Roundings {
 public:
  Roundings(Phase& now, InstantState& here);
  /// Enclosures of programs at the state in work.in, with their memory.
  [[nodiscard]] Enclosure& enclosure() { return enclosure_; }

  [[nodiscard]] double surface_rounding(int k);
  [[nodiscard]] double rounding_of(const expr::Program& program);
  void enclose(const expr::Program& program);
  [[nodiscard]] double slip_rounding(int r, int j);
  [[nodiscard]] double drive_rounding(int k, double distance);
  [[nodiscard]] double surface_rate_rounding(int k);
  [[nodiscard]] double force_rounding(int k);
  [[nodiscard]] double faded(const model::Row& slope);
  [[nodiscard]] double surface_rate_scale(int k);
  [[nodiscard]] double faded_rate_scale(int k);
  [[nodiscard]] int slide_along(int k, const Mode& mode, double& ratio);

 private:
  template <class Rounding>
  [[nodiscard]] double largest_on_sides(const Rounding& rounding);

  Phase& now_;
  InstantState& here_;
  std::vector<double> node_y_;
  std::vector<double> drive_inputs_;
  std::vector<double> blended_;
  std::vector<double> surface_memory_;
  std::vector<double> projection_;
  std::vector<int> every_coordinate_;  ///< their numbers: a row that has all of them
  Enclosure enclosure_;
};

}  // namespace judder::engines
