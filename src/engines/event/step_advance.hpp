// From event to event by steps with error control: the event-driven engine.
//
// One call makes one step. It is shortened until its error, its guards and what may hide between its points are known well enough, and ends on the first zero
// of a guard, if there is one.
#pragma once

#include <memory>

#include "engines/event/advance.hpp"
#include "engines/event/phase.hpp"
#include "engines/event/step_findings.hpp"

namespace judder::engines {

class AtOnce;
class FirstSteps;
class Landing;
class Parting;
class Roundings;
class Rows;
class Scan;
class Sliding;
class StepRecord;
class Strikes;
class Trial;
class Watching;
struct EventParts;
struct LawDefect;

class StepAdvance final : public Advance {
 public:
  StepAdvance(Phase& now, StepFindings& found, Roundings& rounding, Rows& rows, Trial& trial,
              StepRecord& record, Strikes& impacts, Parting& parting, Watching& watching, Sliding& sliding,
              Scan& scan, AtOnce& at_once, FirstSteps& first, Landing& landing);
  [[nodiscard]] StepEnd advance(double limit) override;
  [[nodiscard]] double state_tolerance() const override { return now_.options.tolerance; }
  [[nodiscard]] bool can_rest() const override { return true; }
  [[nodiscard]] bool next_derivative_clear(const Guard& /*guard*/, int /*order*/) override { return false; }
  void load_inside(double theta, double length) override;

 private:
  [[nodiscard]] bool mass_nearly_singular();
  [[nodiscard]] double place_of_defect(double h, double end, LawDefect& defect);
  void fail_small(bool singular, bool finite);
  [[nodiscard]] std::string guard_name(const Guard& guard) const;
  void commit_step(double t1);
  [[nodiscard]] bool contradicted();
  void note_open_gaps();
  void arm_slips(double h);
  void list_graze(double h);

  Phase& now_;
  StepFindings& found_;
  Roundings& rounding_;
  Rows& rows_;
  Trial& trial_;
  StepRecord& record_;
  Strikes& impacts_;
  Parting& parting_;
  Watching& watching_;
  Sliding& sliding_;
  Scan& scan_;
  AtOnce& at_once_;
  FirstSteps& first_;
  Landing& landing_;
  std::vector<double> node_y_;
  std::vector<double> landing_y_;
  std::vector<double> law_numbers_;  ///< at the places of a step that are looked at
  std::vector<double> inside_y_;     ///< a state within a step, for load_inside()
};

/// The way of the event-driven engine.
[[nodiscard]] std::unique_ptr<Advance> by_steps(EventParts& parts);

}  // namespace judder::engines
