// What is recorded of a step that was made: rows at sample times, forces in closed contacts, gaps, what the referee is told.
//
// Also the times that need no step: rest in which nothing can change, and the last bits before a known instant.
#pragma once

#include "engines/contact_loads.hpp"
#include "engines/event/phase.hpp"
#include "engines/event/step_findings.hpp"

namespace judder::engines {

class Pressing;
class Rows;
class Trial;

/// The normal forces along the step of this length that begins at now.t.
class ForcesInside final : public ForcesAlongStep {
 public:
  ForcesInside(Phase& now, double length) : now_(now), length_(length) {}
  [[nodiscard]] std::span<const double> at(double theta) override;

 private:
  Phase& now_;
  double length_;
};

class StepRecord {
 public:
  StepRecord(Phase& now, StepFindings& found, Rows& rows, Trial& trial, Pressing& pressed);

  void note_reactions(double h);
  void note_step(double trial, double length);
  void tell_inside(double t1);
  void tell_evaluated_end();  ///< behind finish_step
  void emit_samples(double to);
  void note_gap(int relation, double gap, double seen);
  void note_closed_gaps();
  void finish_step();
  [[nodiscard]] bool hold(double limit);
  void pass_crumb(double limit);

 private:
  void emit_states(double to);

  Phase& now_;
  StepFindings& found_;
  Rows& rows_;
  Trial& trial_;
  Pressing& pressed_;
  std::vector<double> node_y_;
  std::vector<double> landing_y_;
  std::vector<double> kept_terms_, kept_side_;  ///< of the motion, while rows are emitted
};

}  // namespace judder::engines
