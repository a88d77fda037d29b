// Watches at an instant: their jumps, and the switches that they alone read. These move nothing: a run is the same without them, but for the
// ends of its steps.
#pragma once

#include "engines/event/instant_state.hpp"
#include "engines/event/phase.hpp"
#include "engines/event/step_findings.hpp"
#include "engines/watches.hpp"

namespace judder::engines {

class Roundings;
class Rows;
class Trial;

class Watching {
 public:
  Watching(Phase& now, InstantState& here, StepFindings& found, Roundings& rounding, Rows& rows,
           Trial& trial);
  [[nodiscard]] Watches& watches() { return watches_; }
  [[nodiscard]] ObservedSwitches& observed() { return observed_; }

  void publish_reactions();
  [[nodiscard]] double watch_error(const Guard& guard, double band, double noise);
  [[nodiscard]] bool note_watches();
  void list_watch_jumps();
  bool take_observed();
  void set_watch_zeros();
  void turn_observed();
  void carry_watches();
  [[nodiscard]] int direction_ahead(const Mode& mode, const expr::Program& value, double level, double bound);

 private:
  /// Where functions go from the state in the mode that was set.
  class AheadOfHere final : public MotionAhead {
   public:
    explicit AheadOfHere(Watching& watching) : watching_(watching) {}
    [[nodiscard]] int direction(const expr::Program& value, double level, double bound) override;
    [[nodiscard]] double rounding(const expr::Program& value) override;

   private:
    Watching& watching_;
  };

  Phase& now_;
  InstantState& here_;
  StepFindings& found_;
  Roundings& rounding_;
  Rows& rows_;
  Trial& trial_;
  Watches watches_;
  ObservedSwitches observed_;
  std::vector<double> node_y_;
  std::vector<double> landing_y_;
  std::vector<double> ahead_;
};

}  // namespace judder::engines
