// Which contacts open, stick and slip, with given sides of the switches: the decider (decider.hpp), and what stands around it in a run.
//
// A decision that only rounding has made is taken back, rows without load wake when one comes, and massless coordinates follow the forces.
#pragma once

#include "engines/event/instant_state.hpp"
#include "engines/event/phase.hpp"

namespace judder::engines {

class Roundings;
class Sides;

class Decisions {
 public:
  Decisions(Phase& now, InstantState& here, Roundings& rounding, Sides& sides);

  [[nodiscard]] bool decide_with(Mode& mode, Status& status);
  [[nodiscard]] bool follow_massless();
  void free_unloaded(Mode& mode);
  void wake_unloaded();
  void keep_node_exclusions(const std::vector<double>& side, Decider::Exclusions& out) const;
  void keep_nodes_released();

 private:
  [[nodiscard]] bool decide_now(Mode& mode, Status& status);
  [[nodiscard]] bool decided_by_rounding(const Mode& before, const Mode& mode);
  [[nodiscard]] bool let_one_go(Mode& mode);
  [[nodiscard]] bool never_loaded(const Mode& mode, int relation);
  [[nodiscard]] bool turns_with_rows(const std::vector<double>& side) const;
  [[nodiscard]] bool nodes_alike(const std::vector<double>& side) const;

  Phase& now_;
  InstantState& here_;
  Roundings& rounding_;
  Sides& sides_;
  std::vector<double> node_y_;
  std::vector<double> landing_y_;
  Decider::Exclusions released_;
  Mode deciding_;
  Mode decided_;
  std::vector<double> surface_memory_;
};

}  // namespace judder::engines
