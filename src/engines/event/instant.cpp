#include "engines/event/instant.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engines/event/decisions.hpp"
#include "engines/event/impact_tails.hpp"
#include "engines/event/limits.hpp"
#include "engines/event/parting.hpp"
#include "engines/event/roundings.hpp"
#include "engines/event/rows.hpp"
#include "engines/event/settling.hpp"
#include "engines/event/sides.hpp"
#include "engines/event/sliding.hpp"
#include "engines/event/step_record.hpp"
#include "engines/event/strikes.hpp"
#include "engines/event/watching.hpp"

namespace judder::engines {
Instant::Instant(Phase& now, InstantState& here, StepFindings& found, Roundings& rounding, Rows& rows,
                 StepRecord& record, Sides& sides, Decisions& decisions, ImpactTails& tails, Strikes& impacts,
                 Limits& limits, Parting& parting, Watching& watching, Sliding& sliding, Settling& settling)
    : now_(now),
      here_(here),
      found_(found),
      rounding_(rounding),
      rows_(rows),
      record_(record),
      sides_(sides),
      decisions_(decisions),
      tails_(tails),
      impacts_(impacts),
      limits_(limits),
      parting_(parting),
      watching_(watching),
      sliding_(sliding),
      settling_(settling) {
  landing_y_.resize(now_.motion.all_components());
}

// Nothing is known yet of what an instant brings: no event, no status that is new, no row.
void Instant::begin_instant() {
  here_.reference = now_.mode;
  here_.exclusions.clear();
  now_.recorder.pending().clear();
  here_.at_surface.clear();
  std::fill(here_.touching.begin(), here_.touching.end(), std::uint8_t{0});
  std::fill(here_.fresh_relation.begin(), here_.fresh_relation.end(), std::uint8_t{0});
  std::fill(here_.fresh_tangent.begin(), here_.fresh_tangent.end(), std::uint8_t{0});
  std::fill(here_.slip_returned.begin(), here_.slip_returned.end(), std::uint8_t{0});
  std::fill(here_.fresh_switch.begin(), here_.fresh_switch.end(), std::uint8_t{0});
  watching_.watches().begin_instant();
  std::fill(here_.landed.begin(), here_.landed.end(), std::uint8_t{0});
  std::fill(here_.carried.begin(), here_.carried.end(), std::uint8_t{0});
  std::fill(here_.exit_side.begin(), here_.exit_side.end(), std::int8_t{0});
  std::fill(here_.push_zeros.begin(), here_.push_zeros.end(), std::int8_t{0});
  here_.strikes = false;
  here_.quiet_rows = true;
}

// The end of a step on a guard: find out what happened, do what it asks for, decide the next mode.
bool Instant::handle_guards() {
  begin_instant();
  for (const int index : found_.together) {
    const Guard& guard = now_.guards.list()[index];
    const bool held = guard.kind == GuardKind::held_above || guard.kind == GuardKind::held_below ||
                      guard.kind == GuardKind::corner || guard.kind == GuardKind::observed;
    const bool silent =
        held ||
        ((guard.kind == GuardKind::side || guard.kind == GuardKind::level_above ||
          guard.kind == GuardKind::level_below) &&
         !now_.system.switches()[guard.place].watched && !turns_a_row(guard.place) &&
         (now_.system.switches()[guard.place].kind != expr::SwitchKind::jump || !now_.options.list_switches));
    if (!silent) here_.quiet_rows = false;
  }
  if (!here_.quiet_rows) rows_.rows_before_event();
  now_.load();
  record_.note_closed_gaps();

  bool only_watches = true;
  bool observes = false;
  bool touched = false;
  if (!sides_.evaluate_coefficients() || !watching_.note_watches())
    return now_.fail(
        {Reason::not_finite, now_.t, {}, "the equations of motion give no finite number at an event"});
  if (now_.has_massless) now_.motion.take_massless(now_.y.data());
  sides_.note_instant();
  take_timetable();
  // Where a switch changes its side a watch may only touch its zero: what follows tells.
  const bool turns =
      now_.t == now_.limit || std::any_of(found_.together.begin(), found_.together.end(), [this](int index) {
        const GuardKind kind = now_.guards.list()[index].kind;
        return kind == GuardKind::observed || kind == GuardKind::side || kind == GuardKind::corner ||
               kind == GuardKind::level_above || kind == GuardKind::level_below;
      });
  // What ends a status has been seen with the sides before: where one of them changes as well, what follows tells.
  const bool switches = !here_.changed.empty() ||
                        std::any_of(found_.together.begin(), found_.together.end(), [this](int index) {
                          const GuardKind kind = now_.guards.list()[index].kind;
                          return kind == GuardKind::side || kind == GuardKind::level_above ||
                                 kind == GuardKind::level_below || kind == GuardKind::corner;
                        });
  for (const int index : found_.together) {
    const Guard guard = now_.guards.list()[index];
    if (guard.kind != GuardKind::watch && guard.kind != GuardKind::observed) only_watches = false;
    if (guard.kind == GuardKind::observed) observes = true;
    const auto place = guard.place;
    switch (guard.kind) {
      case GuardKind::gap:
        here_.touching[place] = 1;
        touched = true;
        break;
      case GuardKind::reaction: {
        // At the tip of the cone a sticking contact may also go on slipping; a slipping one can only leave. A reaction that only touches zero ends nothing.
        const model::Relation& relation = now_.system.relations()[place];
        const bool touches = limits_.only_touches(guard);
        bool sticks = false;
        for (int j = 0; j < relation.tangents; ++j) {
          const int number = relation.first_tangent + j;
          if (now_.mode.tangent[number] != TangentStatus::stick) continue;
          sticks = true;
          if (!touches && !switches)
            here_.exclusions.tangent[number] |= contact::bit(contact::RowStatus::stick);
          here_.fresh_tangent[number] = 1;
        }
        if (touches) here_.exclusions.normal[place] |= contact::bit(contact::RowStatus::open);
        if (!sticks && !touches && !switches)
          here_.exclusions.normal[place] |= contact::bit(contact::RowStatus::closed);
        here_.fresh_relation[place] = 1;
        for (int r = 0; r < now_.layout.relations; ++r) {
          const std::vector<int>& feeds = now_.system.relations()[r].feeds;
          if (r != place && std::find(feeds.begin(), feeds.end(), place) != feeds.end())
            limits_.keep_touched_rest(r);
        }
        break;
      }
      case GuardKind::margin:
        if (guard.tangent < 0)
          limits_.exclude_exhausted_rows(guard, limits_.only_touches(guard), switches);
        else if (limits_.only_touches(guard))
          limits_.exclude_touched(guard);
        else
          limits_.exclude_condition(guard, false, switches);
        break;
      case GuardKind::cone_plus:
      case GuardKind::cone_minus: {
        const int number = now_.system.relations()[place].first_tangent + guard.tangent;
        here_.fresh_tangent[number] = 1;
        if (limits_.only_touches(guard)) {  // a load that only touches its limit leaves the row at rest
          here_.exclusions.tangent[number] |= kSlips;
        } else if (!switches) {
          here_.exclusions.tangent[number] |= contact::bit(contact::RowStatus::stick);
        }
        break;
      }
      case GuardKind::slip: {
        const int number = now_.system.relations()[place].first_tangent + guard.tangent;
        if (limits_.slip_returns(guard)) {
          here_.fresh_tangent[number] = here_.slip_returned[number] = 1;
          Event event = rows_.event_here(EventKind::graze, place);
          event.numbers[0] = std::abs(now_.guards.value(guard));
          now_.recorder.pending().push_back(event);
          break;
        }
        if (!switches)
          here_.exclusions.tangent[number] |= contact::bit(
              now_.mode.tangent[number] == TangentStatus::slip_plus ? contact::RowStatus::slip_plus
                                                                    : contact::RowStatus::slip_minus);
        now_.mode.tangent[number] = TangentStatus::stick;
        here_.fresh_tangent[number] = 1;
        break;
      }
      case GuardKind::jam:
        if (!impacts_.jam(place)) return false;
        break;
      case GuardKind::joint_normal:
        here_.fresh_relation[place] = 1;  // what it does behind its zero is seen when the next mode is set
        limits_.keep_touched_rest(place);
        break;
      case GuardKind::pressed:
        if (!switches)
          here_.exclusions.normal[place] |=
              contact::bit(guard.sign > 0 ? contact::RowStatus::held_plus : contact::RowStatus::held_minus);
        here_.fresh_relation[place] = 1;
        break;
      case GuardKind::slide_above:
      case GuardKind::slide_below:
        here_.exit_side[place] = guard.kind == GuardKind::slide_above ? 1 : -1;
        here_.fresh_switch[place] = 1;
        break;
      case GuardKind::side:
      case GuardKind::level_below:
      case GuardKind::level_above:
        if (here_.landed[place] == 0) {
          here_.at_surface.push_back(place);
          sliding_.meet_surface(place);
        }
        here_.landed[place] = 1;
        // A kink that is on the other side by more than a landing leaves, where what is left of its zero no longer moves, has no zero here: its value tells.
        here_.carried[place] =
            now_.system.switches()[place].kind == expr::SwitchKind::kink && lies_behind(index) ? 0 : 1;
        here_.fresh_switch[place] = 1;
        break;
      case GuardKind::held_above:
      case GuardKind::held_below:
        // Its value tells where it has gone, unless it goes only now.
        if (now_.guards.value(guard) > 0) {
          here_.exit_side[place] = guard.kind == GuardKind::held_above ? 2 : -2;
          here_.fresh_switch[place] = 1;
        }
        break;
      case GuardKind::corner:
        here_.fresh_switch[place] = 1;  // the field on one side of a surface that is slid on is another
        break;
      case GuardKind::observed:
        watching_.observed().cross(guard, now_.work);
        break;
      case GuardKind::watch: {
        if (turns) {
          watching_.watches().reach(place);
          break;
        }
        Event event = rows_.event_here(EventKind::watch, place);
        event.words[0] = watching_.watches().cross(place);
        now_.recorder.pending().push_back(event);
        break;
      }
    }
  }
  if (only_watches && here_.changed.empty()) {
    for (Guard& guard : now_.guards.list()) guard.zeros = 0;
    if (turns) {
      watching_.turn_observed();
    } else {
      now_.recorder.report_pending(now_.t, now_.time_bound, now_.mode);
      for (Guard& guard : now_.guards.list())
        guard.zeros = guard.kind == GuardKind::watch && watching_.watches().fresh(guard.place) ? 1 : 0;
      rows_.rows_after_event();
    }
    now_.end_phase();
    return true;
  }
  if (observes && here_.quiet_rows) {  // a watch may jump with it
    here_.quiet_rows = false;
    rows_.rows_before_event();
    now_.load();
  }
  now_.motion.release_pins();
  // An impact of the same block, before the time of a tail is over, may open its contacts again. If the run is to stop at the tail, the instant is
  // still handled to its end.
  const bool goes_on = !touched || !tails_.tails().any() || tails_.strike_tails();
  here_.strikes = touched;
  if (!touched && !here_.at_surface.empty()) sliding_.finish_switching();
  if (now_.has_massless && now_.t == now_.entry.time) decisions_.keep_nodes_released();
  limits_.rest_unmoved_slips();
  return settling_.settle() && goes_on;
}

// Switches of time alone change their side at an instant of the timetable.
bool Instant::handle_timetable(double t) {
  begin_instant();
  now_.timetable.pass(t, now_.mode.side, here_.changed);
  if (here_.changed.empty()) {
    now_.have_f0 = false;  // a knot: the formula changes, nothing else
    // Unless a gap closes at the same time, to rounding.
    now_.load();
    sides_.load_statuses();
    here_.strikes = impacts_.mark_touching();
    if (here_.strikes) {
      here_.quiet_rows = false;
      rows_.rows_before_event();
      now_.load();
      if (!sides_.evaluate_coefficients() || !watching_.note_watches())
        return now_.fail(
            {Reason::not_finite, now_.t, {}, "the equations of motion give no finite number at an event"});
      sides_.note_instant();
      return settling_.settle();
    }
    if (now_.layout.observed == 0) return true;
    now_.load();
    now_.recorder.load_works(now_.y.data(), now_.work);
    if (watching_.note_watches()) watching_.turn_observed();
    return true;
  }
  std::swap(now_.mode.side, here_.reference.side);  // until the rows before the instant are out
  for (const int k : here_.changed) {
    if ((now_.system.switches()[k].kind == expr::SwitchKind::jump && now_.options.list_switches) ||
        turns_a_row(k))
      here_.quiet_rows = false;
  }
  // Another surface may jump with these, and so may a watch: that is known only behind the instant.
  if (here_.nested || !now_.system.watches().empty() || !here_.quiet_rows) {
    here_.quiet_rows = false;
    rows_.rows_before_event();
  }
  now_.load();
  if (!sides_.evaluate_coefficients() || !watching_.note_watches())
    return now_.fail(
        {Reason::not_finite, now_.t, {}, "the equations of motion give no finite number at an event"});
  if (now_.has_massless) now_.motion.take_massless(now_.y.data());
  sides_.note_instant();
  std::swap(now_.mode.side, here_.reference.side);
  for (int k = 0; k < now_.layout.switches; ++k) {
    if (now_.mode.slides(k)) now_.mode.side[k] = here_.reference.side[k];
  }
  for (const int k : here_.changed) here_.fresh_switch[k] = 1;
  limits_.rest_unmoved_slips();
  limits_.stop_slips();
  return settling_.settle();
}

bool Instant::handle_parting() {
  begin_instant();
  here_.quiet_rows = false;
  rows_.rows_before_event();
  now_.load();
  record_.note_closed_gaps();
  here_.changed.clear();
  if (!sides_.evaluate_coefficients() || !watching_.note_watches())
    return now_.fail(
        {Reason::not_finite, now_.t, {}, "the equations of motion give no finite number at an event"});
  sides_.note_instant();
  parting_.note_parting();
  now_.motion.release_pins();
  const bool settled = settling_.settle();
  now_.decider.parting.clear();
  return settled;
}

// Whether a switch stands in the rows of a constraint or a closed contact: velocities may jump where its side changes.
bool Instant::turns_a_row(int k) const {
  const model::SwitchInfo& info = now_.system.switches()[k];
  return info.kind != expr::SwitchKind::smooth &&
         std::any_of(info.relations.begin(), info.relations.end(), [this](int r) {
           return now_.system.relations()[r].has_normal && !now_.system.relations()[r].rows_constant &&
                  now_.mode.normal[r] != NormalStatus::open;
         });
}

// Whether a surface that is met is past its zero by more than rounding of its terms and, where it has come there in this step, of the time.
bool Instant::lies_behind(int index) {
  const Guard& guard = now_.guards.list()[index];
  if (guard.kind != GuardKind::side) return false;
  constexpr double kBits = 64 * std::numeric_limits<double>::epsilon();
  const double rate =
      index == found_.late_kink || !(found_.landing_h > 0) ? 0 : found_.root_slope[index] / found_.landing_h;
  return now_.guards.value(guard) < -(kRoundingUnits * rounding_.surface_rounding(guard.place) +
                                      std::abs(rate) * kBits * std::abs(now_.t));
}

// An instant of the timetable that rounding cannot tell from the present one belongs to it.
void Instant::take_timetable() {
  here_.changed.clear();
  const double rest = now_.limit - now_.t;
  if (rest > 64 * std::numeric_limits<double>::epsilon() * std::abs(now_.t)) return;
  if (rest != 0) {
    // The state comes along: what it slides on moves with time.
    if (now_.motion(now_.t, now_.y.data(), landing_y_.data())) {
      for (int i = 0; i < now_.motion.components(); ++i) now_.y[i] += rest * landing_y_[i];
      now_.motion.pin(now_.limit, now_.y.data());
    }
    now_.motion.load(now_.limit, now_.y.data());
    sides_.note_instant();
  }
  now_.t = now_.limit;
  now_.timetable.pass(now_.t, now_.mode.side, here_.changed);
  for (const int k : here_.changed) here_.fresh_switch[k] = 1;
}

}  // namespace judder::engines
