// Guards that pass zero before a step can: at the instant that a run is taken up at, and within rounding of the start of a phase.
#pragma once

#include "engines/event/phase.hpp"
#include "engines/event/step_findings.hpp"

namespace judder::engines {

class Roundings;
class Scan;
class Sides;
class Trial;

class AtOnce {
 public:
  AtOnce(Phase& now, StepFindings& found, Roundings& rounding, Trial& trial, Sides& sides, Scan& scan);

  [[nodiscard]] bool meets_at_once();
  [[nodiscard]] bool gives_way_at_once(double h);
  [[nodiscard]] bool reaches_surface(double rounding);

 private:
  void find_at_once();

  Phase& now_;
  StepFindings& found_;
  Roundings& rounding_;
  Trial& trial_;
  Sides& sides_;
  Scan& scan_;
  std::vector<double> node_y_;
};

}  // namespace judder::engines
