// Contacts that close, and contacts whose reaction ends to exist: impacts, tangential impacts, jams (docs/theory.md, "Impacts" and "Painlevé").
//
// What an impact does to velocities is the collider's (collider.hpp); here it is found which contacts take part, in which order, and what is told of it.
#pragma once

#include "engines/event/instant_state.hpp"
#include "engines/event/phase.hpp"
#include "engines/event/step_findings.hpp"

namespace judder::engines {

class Decisions;
class ImpactTails;
class Roundings;
class Rows;
class Sides;

class Strikes {
 public:
  Strikes(Phase& now, InstantState& here, StepFindings& found, Roundings& rounding, Rows& rows, Sides& sides,
          Decisions& decisions, ImpactTails& tails);

  [[nodiscard]] bool touch();
  bool mark_touching();
  void join_touching();
  [[nodiscard]] bool jam(int relation);
  [[nodiscard]] double time_to_jam(int& jammed);
  [[nodiscard]] bool paradox(Status status);
  [[nodiscard]] bool meets_at_end();

 private:
  [[nodiscard]] bool impact(bool inelastic);
  void rest_by_rounding();
  void add_impact_work();
  void settle_reference();
  void strike_in_turn();
  void tell_impulses(bool tail);
  [[nodiscard]] bool turn_drives(bool& driven);

  Phase& now_;
  InstantState& here_;
  StepFindings& found_;
  Roundings& rounding_;
  Rows& rows_;
  Sides& sides_;
  Decisions& decisions_;
  ImpactTails& tails_;
  Mode before_impact_;
  Mode drive_mode_;  ///< statuses while constraints turn without the contacts
  std::vector<double> node_y_;
  /// By relation: twice Σ|w_i| of a contact whose rows and law are constant; infinite for what is looked at each time.
  std::vector<double> reach_;
};

}  // namespace judder::engines
