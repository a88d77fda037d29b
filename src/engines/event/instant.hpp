// What has happened: a step has ended on zeros of guards, at a known instant, or where rows part. Each is turned into what the next mode is decided from
// (settling.hpp), and into events.
#pragma once

#include "engines/event/instant_state.hpp"
#include "engines/event/phase.hpp"
#include "engines/event/step_findings.hpp"

namespace judder::engines {

class Decisions;
class ImpactTails;
class Limits;
class Parting;
class Roundings;
class Rows;
class Settling;
class Sides;
class Sliding;
class StepRecord;
class Strikes;
class Watching;

class Instant {
 public:
  Instant(Phase& now, InstantState& here, StepFindings& found, Roundings& rounding, Rows& rows,
          StepRecord& record, Sides& sides, Decisions& decisions, ImpactTails& tails, Strikes& impacts,
          Limits& limits, Parting& parting, Watching& watching, Sliding& sliding, Settling& settling);

  void begin_instant();
  [[nodiscard]] bool handle_guards();
  [[nodiscard]] bool handle_timetable(double t);
  [[nodiscard]] bool handle_parting();

 private:
  [[nodiscard]] bool turns_a_row(int k) const;
  [[nodiscard]] bool lies_behind(int index);
  void take_timetable();

  Phase& now_;
  InstantState& here_;
  StepFindings& found_;
  Roundings& rounding_;
  Rows& rows_;
  StepRecord& record_;
  Sides& sides_;
  Decisions& decisions_;
  ImpactTails& tails_;
  Strikes& impacts_;
  Limits& limits_;
  Parting& parting_;
  Watching& watching_;
  Sliding& sliding_;
  Settling& settling_;
  std::vector<double> landing_y_;
};

}  // namespace judder::engines
