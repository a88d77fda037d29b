// What a run gives: rows at the sample times, events, closed phases of contacts, residuals, and testimony for who judges it.
//
// Every engine has one, however it moves the state. It owns what the outside is told and when; it moves nothing, decides nothing, and knows neither steps
// nor guards. The engine tells it what has happened, in the order of time:
//
//     begin                                                     a run begins
//     samples, load_works, row                                  rows along a step, each at samples.next()
//     loads                                                     forces of closed contacts along a step, or at its end
//     testimony                                                 points of a step for an observer
//     at an instant: row(before), pending, report, tell, row(after)   events are listed together, between two rows
//     fill                                                      the part of the result that is its own
//
// Rows of an instant stand in place of samples there (rows_after). A row is given from the workspace: the engine puts the state into work.in and, where
// reads_reactions() says so, accelerations and reactions to the places that columns read (ModeMotion::publish).
#pragma once

#include <span>
#include <vector>

#include "contact_loads.hpp"
#include "judder/engines/engine.hpp"
#include "residuals.hpp"
#include "sample_times.hpp"
#include "testimony.hpp"

namespace judder::engines {

class Recorder {
 public:
  explicit Recorder(const model::System& system, Patience* patience = nullptr);

  /// A run begins. The sink must live until its end.
  void begin(const EngineOptions& options, Sink& sink);

  SampleTimes samples;
  ContactLoads loads;
  Residuals residuals;
  Testimony testimony;

  /// Some output column reads accelerations or reactions.
  [[nodiscard]] bool reads_reactions() const { return reads_reactions_; }
  /// Some output column or watch reads the works of elements.
  [[nodiscard]] bool reads_works() const { return reads_works_; }
  /// Puts the works that stand behind the state in y to where columns and watches read them.
  void load_works(const double* y, model::Workspace& work) const;
  void row(RowKind kind, const Mode& mode, model::Workspace& work) { sink_->row(kind, mode, work); }
  /// Sink::state_rows: asked for only where neither reactions nor works are read.
  [[nodiscard]] double* state_rows(std::size_t count) { return sink_->state_rows(count); }
  /// The two rows at each instant with events are asked for.
  [[nodiscard]] bool event_rows() const { return event_rows_; }
  /// What stands behind the events of an instant at t: RowKind::after, or in its absence a sample that is due; false: nothing.
  [[nodiscard]] bool row_after(double t, RowKind& kind) const;

  /// Events of the present instant, in the order in which they will be listed.
  [[nodiscard]] std::vector<Event>& pending() { return pending_; }
  /// Lists them, with this time, bound of its error and key of the mode behind them; then there are none pending.
  void report_pending(double t, double bound, const Mode& mode);
  /// Lists one event.
  void report(Event event, double t, double bound, const Mode& mode);
  /// Events are listed that the sink has not been told: the state behind their instant is not known yet.
  [[nodiscard]] bool untold() const { return !listed_.empty(); }
  /// Tells the sink what is listed; work.in holds the state behind it.
  void tell(const model::Workspace& work);
  /// Lists and tells a touch without consequence inside a step, as it is given; work.in holds the state there.
  void report_inside(const Event& event, const model::Workspace& work);
  [[nodiscard]] long events() const { return events_; }
  /// A run goes on that has listed so many.
  void take_up(long events) { events_ = events; }

  /// The impulse of an impact at t: part of a closed phase, or a phase of its own that takes no time.
  void strike(int relation, double t, double impulse, bool closed);
  /// A closed phase ends at t, if there is one.
  void close(int relation, double t);

  /// The end of a step, after which the outside may look, save or draw: Sink::progress, and whether a state is asked for.
  [[nodiscard]] bool wants_state(double t);
  void state(const EngineResult& so_far) { sink_->state(so_far); }
  /// Puts what is counted and measured here into the result.
  void fill(EngineResult& result) const;

 private:
  /// Coordinates, velocities and states.
  [[nodiscard]] std::span<const double> state_of(const model::Workspace& work) const;

  const model::Layout& layout_;
  bool reads_reactions_ = false;
  bool reads_works_ = false;
  bool event_rows_ = true;
  Sink* sink_ = nullptr;
  long events_ = 0;
  std::vector<Event> pending_, listed_;
};

}  // namespace judder::engines
