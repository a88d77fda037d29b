// Landing on the zero that ends a step: the step is made again to end there, so that the state at an event comes from a full step and never from its polynomial.
#pragma once

#include "engines/event/phase.hpp"
#include "engines/event/step_findings.hpp"

namespace judder::engines {

class Scan;
class Sliding;
class StepRecord;
class Trial;
class Watching;

class Landing {
 public:
  Landing(Phase& now, StepFindings& found, Trial& trial, StepRecord& record, Watching& watching,
          Sliding& sliding, Scan& scan);

  bool land(double h, bool may_miss);

 private:
  [[nodiscard]] bool try_to_land(double length);
  [[nodiscard]] int passed_first(double h, double length);
  [[nodiscard]] bool gather_events(double h, double length);
  [[nodiscard]] bool comes_to_zero(int i, double theta) const;
  void carry_watches(double theta);

  Phase& now_;
  StepFindings& found_;
  Trial& trial_;
  StepRecord& record_;
  Watching& watching_;
  Sliding& sliding_;
  Scan& scan_;
  std::vector<double> landing_y_;
  std::vector<double> landing_values_;  ///< of the guards at an event
};

}  // namespace judder::engines
