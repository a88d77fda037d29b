#include "engines/event/rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "judder/engines/collision.hpp"
#include "judder/model/large_matrices.hpp"

namespace judder::engines {
Rows::Rows(Phase& now, InstantState& here) : now_(now), here_(here) {}

// An event that leaves the velocities as they are, at the state in work_.
Event Rows::event_here(EventKind kind, int place) {
  Event event;
  event.kind = kind;
  event.place = place;
  event.energy_before = event.energy_after = now_.recorder.residuals.energy(now_.work);
  return event;
}

void Rows::emit_row(RowKind kind) {
  complete_row();
  now_.recorder.row(kind, now_.mode, now_.work);
}

// What follows from the state in work_ and belongs to a row: reactions, and speeds that the forces alone decide.
void Rows::complete_row() {
  if (now_.recorder.reads_reactions() || now_.has_massless || now_.motion.slides()) {
    if (now_.motion.evaluate()) {
      if (now_.motion.redundant()) now_.guards.sharing.share(now_.motion);
      now_.motion.publish();
      now_.recorder.loads.note_peaks(now_.mode, now_.motion.normal());
    }
  }
}

void Rows::row_here(RowKind kind) {
  now_.load();
  now_.recorder.load_works(now_.y.data(), now_.work);
  emit_row(kind);
}

void Rows::rows_before_event() {
  if (now_.recorder.event_rows()) row_here(RowKind::before);
}

void Rows::rows_after_event() {
  RowKind kind{};
  const bool row = now_.recorder.row_after(now_.t, kind);
  if (row || now_.recorder.untold()) {
    now_.load();
    now_.recorder.load_works(now_.y.data(), now_.work);
    complete_row();
    now_.recorder.tell(now_.work);
    if (row) now_.recorder.row(kind, now_.mode, now_.work);
  }
  now_.recorder.samples.pass(now_.t);
}

// A touch without consequence at the state in work_, before the end of the phase: its event, and two equal rows instead of a sample.
void Rows::report_graze(double time, int place, double depth, double bound) {
  Event event = event_here(EventKind::graze, place);
  event.time = time;
  event.bound = bound;
  event.numbers[0] = depth;
  event.mode = now_.mode.key();
  if (now_.recorder.event_rows()) emit_row(RowKind::before);
  now_.recorder.report_inside(event, now_.work);
  if (!now_.recorder.event_rows()) return;
  emit_row(RowKind::after);
  now_.recorder.samples.pass(time);
}

// What changed in this instant, besides impacts and switches: one event per row.
void Rows::list_changes() {
  const Mode& before = here_.reference;
  const double energy = now_.recorder.residuals.energy(now_.work);
  const auto add = [&](EventKind kind, int relation, Word word) {
    Event event;
    event.kind = kind;
    event.place = relation;
    event.words[0] = word;
    event.energy_before = event.energy_after = energy;
    now_.recorder.pending().push_back(event);
  };
  for (int r = 0; r < now_.layout.relations; ++r) {
    const model::Relation& relation = now_.system.relations()[r];
    if (before.normal[r] == NormalStatus::closed && now_.mode.normal[r] == NormalStatus::open) {
      add(EventKind::lift_off, r, Word::none);
      continue;
    }
    if (before.normal[r] == NormalStatus::open && now_.mode.normal[r] == NormalStatus::closed)
      add(EventKind::contact, r, Word::rest);
    for (int j = 0; j < relation.tangents; ++j) {
      const TangentStatus was = before.tangent[relation.first_tangent + j];
      const TangentStatus now = now_.mode.tangent[relation.first_tangent + j];
      if (was == now || was == TangentStatus::free || now == TangentStatus::free ||
          now == TangentStatus::smooth)
        continue;
      if (now == TangentStatus::stick) {
        add(EventKind::stick, r, was == TangentStatus::slip_plus ? Word::plus : Word::minus);
      } else if (was == TangentStatus::stick) {
        add(EventKind::slip, r, now == TangentStatus::slip_plus ? Word::plus : Word::minus);
      } else {
        add(EventKind::reversal, r, now == TangentStatus::slip_plus ? Word::plus : Word::minus);
      }
    }
  }
}

}  // namespace judder::engines
