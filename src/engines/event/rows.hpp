// Rows and events of an instant: the row before its first event, the events in order of cause, the row after the last one.
//
// Evaluates what a row needs beyond the state (reactions, speeds that the forces alone decide) and hands it to the recorder.
#pragma once

#include "engines/event/instant_state.hpp"
#include "engines/event/phase.hpp"

namespace judder::engines {

class Rows {
 public:
  Rows(Phase& now, InstantState& here);

  [[nodiscard]] Event event_here(EventKind kind, int place);
  void emit_row(RowKind kind);
  void row_here(RowKind kind);
  void rows_before_event();
  void rows_after_event();
  void report_graze(double time, int place, double depth, double bound);
  void list_changes();

 private:
  void complete_row();

  Phase& now_;
  InstantState& here_;
};

}  // namespace judder::engines
