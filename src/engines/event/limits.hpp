// Statuses at their limits: whether a reaction, a cone or a slip that has come to zero passes it or only touches it, and which statuses of the next decision
// that excludes.
#pragma once

#include "engines/event/instant_state.hpp"
#include "engines/event/phase.hpp"

namespace judder::engines {

class Roundings;

class Limits {
 public:
  Limits(Phase& now, InstantState& here, Roundings& rounding);

  [[nodiscard]] bool only_touches(const Guard& guard);
  [[nodiscard]] bool slip_returns(const Guard& guard);
  void exclude_condition(const Guard& guard, bool touched, bool switches);
  void exclude_touched(const Guard& guard);
  void keep_touched_rest(int relation);
  void exclude_exhausted_rows(const Guard& margin, bool touched, bool switches);
  void rest_unmoved_slips();
  void stop_slips();

 private:
  [[nodiscard]] double tied_to_rows(const Guard& guard) const;
  Mode turned_;  ///< the mode with sides that this instant turns
  [[nodiscard]] bool stays_at_limit(const Guard& guard, double time);
  [[nodiscard]] bool margin_touches(const Guard& guard, double time);

  Phase& now_;
  InstantState& here_;
  Roundings& rounding_;
  std::vector<double> node_y_;
};

}  // namespace judder::engines
