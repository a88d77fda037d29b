#include "recorder.hpp"

#include <algorithm>

namespace judder::engines {

Recorder::Recorder(const model::System& system, Patience* patience)
    : loads(system.layout().relations),
      residuals(system),
      testimony(system, patience),
      layout_(system.layout()) {
  reads_works_ = !system.columns().empty() || system.watches_read_works();
  reads_reactions_ = std::any_of(system.columns().begin(), system.columns().end(),
                                 [](const model::ColumnInfo& column) { return column.needs_reactions; });
  pending_.reserve(16);
  listed_.reserve(16);
}

void Recorder::begin(const EngineOptions& options, Sink& sink) {
  sink_ = &sink;
  event_rows_ = options.event_rows;
  events_ = 0;
  pending_.clear();
  listed_.clear();
  samples.start(options);
  loads.start(options.tolerance);
  residuals.start();
  testimony.listen(options.observer);
}

void Recorder::load_works(const double* y, model::Workspace& work) const {
  if (!reads_works_) return;
  std::copy_n(y + layout_.integrated(), layout_.audits, work.in.begin() + layout_.dissipated());
  std::copy_n(y + layout_.integrated() + layout_.audits, layout_.audits,
              work.in.begin() + layout_.supplied());
}

bool Recorder::row_after(double t, RowKind& kind) const {
  kind = event_rows_ ? RowKind::after : RowKind::sample;
  return event_rows_ || samples.next() <= t;
}

void Recorder::report(Event event, double t, double bound, const Mode& mode) {
  event.time = t;
  event.bound = bound;
  event.mode = mode.key();
  listed_.push_back(event);
  ++events_;
  testimony.event(event);
}

void Recorder::report_pending(double t, double bound, const Mode& mode) {
  for (const Event& event : pending_) report(event, t, bound, mode);
  pending_.clear();
}

void Recorder::tell(const model::Workspace& work) {
  for (const Event& event : listed_) sink_->event(event, state_of(work));
  listed_.clear();
}

void Recorder::report_inside(const Event& event, const model::Workspace& work) {
  sink_->event(event, state_of(work));
  ++events_;
}

std::span<const double> Recorder::state_of(const model::Workspace& work) const {
  return {work.in.data() + layout_.q(), static_cast<std::size_t>(layout_.integrated())};
}

void Recorder::strike(int relation, double t, double impulse, bool closed) {
  if (closed) {
    loads.strike(relation, t, impulse);
  } else {
    sink_->interval({relation, t, t, 0, impulse});
  }
}

void Recorder::close(int relation, double t) {
  if (const std::optional<Interval> interval = loads.close(relation, t)) sink_->interval(*interval);
}

bool Recorder::wants_state(double t) {
  sink_->progress(t);
  return sink_->wants_state();
}

void Recorder::fill(EngineResult& result) const {
  result.events = events_;
  result.largest_energy = residuals.largest_energy();
  result.worst_gap = residuals.worst_gap();
}

}  // namespace judder::engines
