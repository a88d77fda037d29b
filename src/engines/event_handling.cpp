// What happened: what the zeros of guards and known instants ask for, and what is listed of it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "event_run.hpp"

namespace judder::engines {

// Nothing is known yet of what an instant brings: no event, no status that is new, no row.
void EventEngine::Run::begin_instant() {
  reference_ = mode_;
  exclusions_.clear();
  recorder_.pending().clear();
  at_surface_.clear();
  std::fill(touching_.begin(), touching_.end(), std::uint8_t{0});
  std::fill(fresh_relation_.begin(), fresh_relation_.end(), std::uint8_t{0});
  std::fill(fresh_tangent_.begin(), fresh_tangent_.end(), std::uint8_t{0});
  std::fill(slip_returned_.begin(), slip_returned_.end(), std::uint8_t{0});
  std::fill(fresh_switch_.begin(), fresh_switch_.end(), std::uint8_t{0});
  watches_.begin_instant();
  std::fill(landed_.begin(), landed_.end(), std::uint8_t{0});
  std::fill(carried_.begin(), carried_.end(), std::uint8_t{0});
  std::fill(exit_side_.begin(), exit_side_.end(), std::int8_t{0});
  std::fill(push_zeros_.begin(), push_zeros_.end(), std::int8_t{0});
  strikes_ = false;
  quiet_rows_ = true;
}

// An event that leaves the velocities as they are, at the state in work_.
Event EventEngine::Run::event_here(EventKind kind, int place) {
  Event event;
  event.kind = kind;
  event.place = place;
  event.energy_before = event.energy_after = recorder_.residuals.energy(work_);
  return event;
}

// Whether a switch stands in the rows of a constraint or a closed contact: velocities may jump where its side changes.
bool EventEngine::Run::turns_a_row(int k) const {
  const model::SwitchInfo& info = system_.switches()[k];
  return info.kind != expr::SwitchKind::smooth &&
         std::any_of(info.relations.begin(), info.relations.end(), [this](int r) {
           return system_.relations()[r].has_normal && !system_.relations()[r].rows_constant &&
                  mode_.normal[r] != NormalStatus::open;
         });
}

// Whether a surface that is met is past its zero by more than rounding of its terms and, where it has come there in this step, of the time.
bool EventEngine::Run::lies_behind(int index) {
  const Guard& guard = guards_.list()[index];
  if (guard.kind != GuardKind::side) return false;
  constexpr double kBits = 64 * std::numeric_limits<double>::epsilon();
  const double rate = index == late_kink_ || !(landing_h_ > 0) ? 0 : root_slope_[index] / landing_h_;
  return guards_.value(guard) <
         -(kRoundingUnits * surface_rounding(guard.place) + std::abs(rate) * kBits * std::abs(t_));
}

// The end of a step on a guard: find out what happened, do what it asks for, decide the next mode.
bool EventEngine::Run::handle_guards() {
  begin_instant();
  for (const int index : together_) {
    const Guard& guard = guards_.list()[index];
    const bool held = guard.kind == GuardKind::held_above || guard.kind == GuardKind::held_below ||
                      guard.kind == GuardKind::corner || guard.kind == GuardKind::observed;
    const bool silent =
        held || ((guard.kind == GuardKind::side || guard.kind == GuardKind::level_above ||
                  guard.kind == GuardKind::level_below) &&
                 !system_.switches()[guard.place].watched && !turns_a_row(guard.place) &&
                 (system_.switches()[guard.place].kind != expr::SwitchKind::jump || !options_.list_switches));
    if (!silent) quiet_rows_ = false;
  }
  if (!quiet_rows_) rows_before_event();
  motion_.load(t_, y_.data());
  note_closed_gaps();

  bool only_watches = true;
  bool observes = false;
  bool touched = false;
  if (!evaluate_coefficients() || !note_watches())
    return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an event"});
  if (has_massless_) motion_.take_massless(y_.data());
  note_instant();
  take_timetable();
  // Where a switch changes its side a watch may only touch its zero: what follows tells.
  const bool turns = t_ == limit_ || std::any_of(together_.begin(), together_.end(), [this](int index) {
                       const GuardKind kind = guards_.list()[index].kind;
                       return kind == GuardKind::observed || kind == GuardKind::side ||
                              kind == GuardKind::corner || kind == GuardKind::level_above ||
                              kind == GuardKind::level_below;
                     });
  // What ends a status has been seen with the sides before: where one of them changes as well, what follows tells.
  const bool switches =
      !changed_.empty() || std::any_of(together_.begin(), together_.end(), [this](int index) {
        const GuardKind kind = guards_.list()[index].kind;
        return kind == GuardKind::side || kind == GuardKind::level_above || kind == GuardKind::level_below ||
               kind == GuardKind::corner;
      });
  for (const int index : together_) {
    const Guard guard = guards_.list()[index];
    if (guard.kind != GuardKind::watch && guard.kind != GuardKind::observed) only_watches = false;
    if (guard.kind == GuardKind::observed) observes = true;
    const auto place = guard.place;
    switch (guard.kind) {
      case GuardKind::gap:
        touching_[place] = 1;
        touched = true;
        break;
      case GuardKind::reaction: {
        // At the tip of the cone a sticking contact may also go on slipping; a slipping one can only leave. A reaction that only touches zero ends nothing.
        const model::Relation& relation = system_.relations()[place];
        const bool touches = only_touches(guard);
        bool sticks = false;
        for (int j = 0; j < relation.tangents; ++j) {
          const int number = relation.first_tangent + j;
          if (mode_.tangent[number] != TangentStatus::stick) continue;
          sticks = true;
          if (!touches && !switches) exclusions_.tangent[number] |= contact::bit(contact::RowStatus::stick);
          fresh_tangent_[number] = 1;
        }
        if (touches) exclusions_.normal[place] |= contact::bit(contact::RowStatus::open);
        if (!sticks && !touches && !switches)
          exclusions_.normal[place] |= contact::bit(contact::RowStatus::closed);
        fresh_relation_[place] = 1;
        for (int r = 0; r < layout_.relations; ++r) {
          const std::vector<int>& feeds = system_.relations()[r].feeds;
          if (r != place && std::find(feeds.begin(), feeds.end(), place) != feeds.end()) keep_touched_rest(r);
        }
        break;
      }
      case GuardKind::margin:
        if (guard.tangent < 0)
          exclude_exhausted_rows(guard, only_touches(guard), switches);
        else if (only_touches(guard))
          exclude_touched(guard);
        else
          exclude_condition(guard, false, switches);
        break;
      case GuardKind::cone_plus:
      case GuardKind::cone_minus: {
        const int number = system_.relations()[place].first_tangent + guard.tangent;
        fresh_tangent_[number] = 1;
        if (only_touches(guard)) {  // a load that only touches its limit leaves the row at rest
          exclusions_.tangent[number] |= kSlips;
        } else if (!switches) {
          exclusions_.tangent[number] |= contact::bit(contact::RowStatus::stick);
        }
        break;
      }
      case GuardKind::slip: {
        const int number = system_.relations()[place].first_tangent + guard.tangent;
        if (slip_returns(guard)) {
          fresh_tangent_[number] = slip_returned_[number] = 1;
          Event event = event_here(EventKind::graze, place);
          event.numbers[0] = std::abs(guards_.value(guard));
          recorder_.pending().push_back(event);
          break;
        }
        if (!switches)
          exclusions_.tangent[number] |= contact::bit(mode_.tangent[number] == TangentStatus::slip_plus
                                                          ? contact::RowStatus::slip_plus
                                                          : contact::RowStatus::slip_minus);
        mode_.tangent[number] = TangentStatus::stick;
        fresh_tangent_[number] = 1;
        break;
      }
      case GuardKind::jam:
        if (!jam(place)) return false;
        break;
      case GuardKind::joint_normal:
        fresh_relation_[place] = 1;  // what it does behind its zero is seen when the next mode is set
        keep_touched_rest(place);
        break;
      case GuardKind::pressed:
        if (!switches)
          exclusions_.normal[place] |=
              contact::bit(guard.sign > 0 ? contact::RowStatus::held_plus : contact::RowStatus::held_minus);
        fresh_relation_[place] = 1;
        break;
      case GuardKind::slide_above:
      case GuardKind::slide_below:
        exit_side_[place] = guard.kind == GuardKind::slide_above ? 1 : -1;
        fresh_switch_[place] = 1;
        break;
      case GuardKind::side:
      case GuardKind::level_below:
      case GuardKind::level_above:
        if (landed_[place] == 0) {
          at_surface_.push_back(place);
          meet_surface(place);
        }
        landed_[place] = 1;
        // A kink that is on the other side by more than a landing leaves, where what is left of its zero no longer moves, has no zero here: its value tells.
        carried_[place] =
            system_.switches()[place].kind == expr::SwitchKind::kink && lies_behind(index) ? 0 : 1;
        fresh_switch_[place] = 1;
        break;
      case GuardKind::held_above:
      case GuardKind::held_below:
        // Its value tells where it has gone, unless it goes only now.
        if (guards_.value(guard) > 0) {
          exit_side_[place] = guard.kind == GuardKind::held_above ? 2 : -2;
          fresh_switch_[place] = 1;
        }
        break;
      case GuardKind::corner:
        fresh_switch_[place] = 1;  // the field on one side of a surface that is slid on is another
        break;
      case GuardKind::observed:
        observed_.cross(guard, work_);
        break;
      case GuardKind::watch: {
        if (turns) {
          watches_.reach(place);
          break;
        }
        Event event = event_here(EventKind::watch, place);
        event.words[0] = watches_.cross(place);
        recorder_.pending().push_back(event);
        break;
      }
    }
  }
  if (only_watches && changed_.empty()) {
    for (Guard& guard : guards_.list()) guard.zeros = 0;
    if (turns) {
      turn_observed();
    } else {
      recorder_.report_pending(t_, time_bound_, mode_);
      for (Guard& guard : guards_.list())
        guard.zeros = guard.kind == GuardKind::watch && watches_.fresh(guard.place) ? 1 : 0;
      rows_after_event();
    }
    end_phase();
    return true;
  }
  if (observes && quiet_rows_) {  // a watch may jump with it
    quiet_rows_ = false;
    rows_before_event();
    motion_.load(t_, y_.data());
  }
  motion_.release_pins();
  // An impact of the same block, before the time of a tail is over, may open its contacts again. If the run is to stop at the tail, the instant is
  // still handled to its end.
  const bool goes_on = !touched || !tails_.any() || strike_tails();
  strikes_ = touched;
  if (!touched && !at_surface_.empty()) finish_switching();
  if (has_massless_ && t_ == phase_.time) keep_nodes_released();
  rest_unmoved_slips();
  return settle() && goes_on;
}

// A massless node that was released at this very time has no slip yet, and has left its limit all the same.
void EventEngine::Run::keep_nodes_released() {
  for (int r = 0; r < layout_.relations; ++r) {
    if (!decider_.on_massless(r)) continue;
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (direction(mode_.tangent[number]) != 0)
        exclusions_.tangent[number] |= contact::bit(contact::RowStatus::stick);
    }
  }
}

// An instant of the timetable that rounding cannot tell from the present one belongs to it.
void EventEngine::Run::take_timetable() {
  changed_.clear();
  const double rest = limit_ - t_;
  if (rest > 64 * std::numeric_limits<double>::epsilon() * std::abs(t_)) return;
  if (rest != 0) {
    // The state comes along: what it slides on moves with time.
    if (motion_(t_, y_.data(), landing_y_.data())) {
      for (int i = 0; i < motion_.components(); ++i) y_[i] += rest * landing_y_[i];
      motion_.pin(limit_, y_.data());
    }
    motion_.load(limit_, y_.data());
    note_instant();
  }
  t_ = limit_;
  timetable_.pass(t_, mode_.side, changed_);
  for (const int k : changed_) fresh_switch_[k] = 1;
}

// Switches of time alone change their side at an instant of the timetable.
bool EventEngine::Run::handle_timetable(double t) {
  begin_instant();
  timetable_.pass(t, mode_.side, changed_);
  if (changed_.empty()) {
    have_f0_ = false;  // a knot: the formula changes, nothing else
    // Unless a gap closes at the same time, to rounding.
    motion_.load(t_, y_.data());
    load_statuses();
    strikes_ = mark_touching();
    if (strikes_) {
      quiet_rows_ = false;
      rows_before_event();
      motion_.load(t_, y_.data());
      if (!evaluate_coefficients() || !note_watches())
        return fail(
            {Reason::not_finite, t_, {}, "the equations of motion give no finite number at an event"});
      note_instant();
      return settle();
    }
    if (layout_.observed == 0) return true;
    motion_.load(t_, y_.data());
    recorder_.load_works(y_.data(), work_);
    if (note_watches()) turn_observed();
    return true;
  }
  std::swap(mode_.side, reference_.side);  // until the rows before the instant are out
  for (const int k : changed_) {
    if ((system_.switches()[k].kind == expr::SwitchKind::jump && options_.list_switches) || turns_a_row(k))
      quiet_rows_ = false;
  }
  // Another surface may jump with these, and so may a watch: that is known only behind the instant.
  if (nested_ || !system_.watches().empty() || !quiet_rows_) {
    quiet_rows_ = false;
    rows_before_event();
  }
  motion_.load(t_, y_.data());
  if (!evaluate_coefficients() || !note_watches())
    return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an event"});
  if (has_massless_) motion_.take_massless(y_.data());
  note_instant();
  std::swap(mode_.side, reference_.side);
  for (int k = 0; k < layout_.switches; ++k) {
    if (mode_.slides(k)) mode_.side[k] = reference_.side[k];
  }
  for (const int k : changed_) fresh_switch_[k] = 1;
  rest_unmoved_slips();
  stop_slips();
  return settle();
}

bool EventEngine::Run::handle_parting() {
  begin_instant();
  quiet_rows_ = false;
  rows_before_event();
  motion_.load(t_, y_.data());
  note_closed_gaps();
  changed_.clear();
  if (!evaluate_coefficients() || !note_watches())
    return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an event"});
  note_instant();
  note_parting();
  motion_.release_pins();
  const bool settled = settle();
  decider_.parting.clear();
  return settled;
}

void EventEngine::Run::end_phase() {
  if (t_ > phase_start_) last_flight_ = t_ - phase_start_;
  phase_start_ = t_;
  noise_.forget();
  if (last_flight_ > 0 && h_ > 1.05 * last_flight_) {
    // A phase that rounding made short says nothing about the next one.
    const double shortest =
        1e3 * std::numeric_limits<double>::epsilon() * std::max(std::abs(t_), std::abs(limit_));
    h_ = std::max(1.05 * last_flight_, shortest);
  }
  have_f0_ = false;
}

void EventEngine::Run::reset_bristles() {
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.bristles.empty() || mode_.normal[r] != NormalStatus::open || fresh_relation_[r] == 0)
      continue;
    for (const int state : relation.bristles) y_[2 * layout_.coordinates + state] = 0;
  }
}

// What changed in this instant, besides impacts and switches: one event per row.
void EventEngine::Run::list_changes() {
  const Mode& before = reference_;
  const double energy = recorder_.residuals.energy(work_);
  const auto add = [&](EventKind kind, int relation, Word word) {
    Event event;
    event.kind = kind;
    event.place = relation;
    event.words[0] = word;
    event.energy_before = event.energy_after = energy;
    recorder_.pending().push_back(event);
  };
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (before.normal[r] == NormalStatus::closed && mode_.normal[r] == NormalStatus::open) {
      add(EventKind::lift_off, r, Word::none);
      continue;
    }
    if (before.normal[r] == NormalStatus::open && mode_.normal[r] == NormalStatus::closed)
      add(EventKind::contact, r, Word::rest);
    for (int j = 0; j < relation.tangents; ++j) {
      const TangentStatus was = before.tangent[relation.first_tangent + j];
      const TangentStatus now = mode_.tangent[relation.first_tangent + j];
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
