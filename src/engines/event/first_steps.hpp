// The length of the first step, after an event and out of rest.
#pragma once

#include "engines/event/phase.hpp"

namespace judder::engines {

class Scan;
class Trial;

class FirstSteps {
 public:
  FirstSteps(Phase& now, Trial& trial, Scan& scan);

  [[nodiscard]] double first_step();
  [[nodiscard]] bool rests() const;
  [[nodiscard]] double step_from_rest(double limit);
  [[nodiscard]] bool look_ahead(double length, bool guarded, bool& finite);

 private:
  [[nodiscard]] double characteristic_time();
  [[nodiscard]] double characteristic_time_here();
  [[nodiscard]] TrialStep within_drives(TrialStep look);

  Phase& now_;
  Trial& trial_;
  Scan& scan_;
  std::vector<double> jacobian_;  ///< of forces and rates, for characteristic_time()
  std::vector<double> look_;      ///< states and rates of a look ahead
};

}  // namespace judder::engines
