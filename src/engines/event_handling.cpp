// From what happened to the next mode: what an event asks for, the decision, the next phase.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "event_run.hpp"
#include "judder/core/number.hpp"

namespace judder::engines {
namespace {

constexpr double kDecisionTolerance = 1e-10;  ///< inequalities hold to this times the scale of their row
constexpr int kMostTangentialImpacts = 100;   ///< at one instant
constexpr int kMostRounds = 50;               ///< of sides, impacts and decisions at one instant
constexpr std::uint16_t kSlips = static_cast<std::uint16_t>(contact::bit(contact::RowStatus::slip_plus) |
                                                            contact::bit(contact::RowStatus::slip_minus));

}  // namespace

// Nothing is known yet of what an instant brings: no event, no status that is new, no row.
void EventEngine::Run::begin_instant() {
  reference_ = mode_;
  exclusions_.clear();
  pending_.clear();
  at_surface_.clear();
  std::fill(touching_.begin(), touching_.end(), std::uint8_t{0});
  std::fill(fresh_relation_.begin(), fresh_relation_.end(), std::uint8_t{0});
  std::fill(fresh_tangent_.begin(), fresh_tangent_.end(), std::uint8_t{0});
  std::fill(slip_returned_.begin(), slip_returned_.end(), std::uint8_t{0});
  std::fill(fresh_switch_.begin(), fresh_switch_.end(), std::uint8_t{0});
  std::fill(fresh_watch_.begin(), fresh_watch_.end(), std::uint8_t{0});
  std::fill(reached_.begin(), reached_.end(), std::uint8_t{0});
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
  event.energy_before = event.energy_after = total_energy();
  return event;
}

// The end of a step on a guard: find out what happened, do what it asks for, decide the next mode.
bool EventEngine::Run::handle_guards() {
  begin_instant();
  for (const int index : together_) {
    const Guard& guard = guards_.list()[index];
    const bool held = guard.kind == GuardKind::held_above || guard.kind == GuardKind::held_below ||
                      guard.kind == GuardKind::observed;
    const bool silent =
        held || ((guard.kind == GuardKind::side || guard.kind == GuardKind::level_above ||
                  guard.kind == GuardKind::level_below) &&
                 !system_.switches()[guard.place].watched &&
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
                              kind == GuardKind::level_above || kind == GuardKind::level_below;
                     });
  // What ends a status has been seen with the sides before: where one of them changes as well, what follows tells.
  const bool switches =
      !changed_.empty() || std::any_of(together_.begin(), together_.end(), [this](int index) {
        const GuardKind kind = guards_.list()[index].kind;
        return kind == GuardKind::side || kind == GuardKind::level_above || kind == GuardKind::level_below;
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
          pending_.push_back(event);
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
        landed_[place] = carried_[place] = 1;
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
      case GuardKind::observed:
        cross_observed(guard);
        break;
      case GuardKind::watch: {
        reached_[place] = turns ? 1 : 0;
        if (turns) break;
        fresh_watch_[place] = 1;
        Event event = event_here(EventKind::watch, place);
        event.words[0] = watch_rising_[place] != 0 ? Word::up : Word::down;
        pending_.push_back(event);
        watch_side_[place] = watch_rising_[place] != 0 ? 1 : -1;
        const model::WatchInfo& watch = system_.watches()[place];
        if (watch.stop > 0 && ++watch_counts_[place] >= watch.stop) stop_by_watch_ = true;
        break;
      }
    }
  }
  if (only_watches && changed_.empty()) {
    for (Guard& guard : guards_.list()) guard.zeros = 0;
    if (turns) {
      turn_observed();
    } else {
      for (Event& event : pending_) report(event);
      pending_.clear();
      for (Guard& guard : guards_.list())
        guard.zeros = guard.kind == GuardKind::watch && fresh_watch_[guard.place] != 0 ? 1 : 0;
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
  const bool goes_on = !touched || std::isnan(accumulation_end_) || strike_tails();
  strikes_ = touched;
  if (!touched && !at_surface_.empty()) finish_switching();
  rest_unmoved_slips();
  return settle() && goes_on;
}

// Whether a limit of friction, or the end of a reaction, is reached with a horizontal tangent and left again, as far as the series of the motion tells.
bool EventEngine::Run::only_touches(const Guard& guard) {
  constexpr double kFlat = 1e-6;  ///< share of its scale that it would change by in the time of a phase
  const double time = std::max(t_ - phase_start_, last_flight_);
  const Mode& mode = motion_.mode();
  if (!(time > 0) || !changed_.empty()) return false;
  if (decider_.on_massless(guard.place)) return false;  // the series knows no balance of forces
  if (guard.kind == GuardKind::margin && guard.tangent < 0) return margin_touches(guard, time);
  if (!series_.compute(mode, 3)) return false;
  const expr::Series margin =
      guard.kind == GuardKind::reaction ? series_.normal(guard.place)
      : guard.kind == GuardKind::margin
          ? series_.condition(guards_.condition(guard))
          : series_.cone(guard.place, guard.tangent, guard.kind == GuardKind::cone_plus ? 1 : -1);
  return margin.c[1] * time >= -kFlat * guard.scale && margin.c[2] * time * time > kFlat * guard.scale;
}

// The margin of reactions that are not unique has no series: it is asked for a little earlier and later.
bool EventEngine::Run::margin_touches(const Guard& guard, double time) {
  constexpr double kShare = 1e-3;  ///< of the time of a phase
  constexpr double kFlat = 1e-6;   ///< as above
  if (!series_.compute(motion_.mode(), expr::kTaylorOrder)) return false;
  const auto margin_at = [&](double later) {
    series_.state(later, node_y_.data());
    motion_.load(t_ + later, node_y_.data());
    if (!motion_.evaluate()) return std::numeric_limits<double>::quiet_NaN();
    guards_.sharing.share(motion_);
    return guards_.value(guard);
  };
  const double before = margin_at(-kShare * time);
  const double after = margin_at(kShare * time);
  motion_.load(t_, y_.data());
  if (!motion_.evaluate()) return false;
  const double slope = (after - before) / (2 * kShare);
  const double curvature = (after + before) / (kShare * kShare);
  return slope >= -kFlat * guard.scale && curvature > kFlat * guard.scale;
}

// A slip that is zero and grows in the direction of its mode has only been touched: the dip was shallower than what the landing resolves.
bool EventEngine::Run::slip_returns(const Guard& guard) {
  const model::RelationRows::Tangent& row = work_.relation[guard.place].tangent[guard.tangent];
  double rate = row.zeta;
  double terms = std::abs(row.zeta);
  for (int i = 0; i < layout_.coordinates; ++i) {
    rate += row.w[i] * motion_.acceleration()[i];
    terms += std::abs(row.w[i] * motion_.acceleration()[i]);
  }
  if (guard.sign * rate > 64 * std::numeric_limits<double>::epsilon() * terms) return true;
  // Reached with a horizontal tangent, and left again: a belt that stops for a moment.
  constexpr double kFlat = 1e-6;  ///< share of its scale that it would change by in the time of a phase
  const double time = std::max(t_ - phase_start_, last_flight_);
  if (!(time > 0) || !changed_.empty() || guard.sign * rate * time < -kFlat * guard.scale) return false;
  if (!series_.compute(motion_.mode(), 3)) return false;
  const expr::Series slip = series_.slip(guard.place, guard.tangent);
  return guard.sign * slip.c[1] * time >= -kFlat * guard.scale &&
         guard.sign * slip.c[2] * time * time > kFlat * guard.scale;
}

// The laws of a condition are at their limits together: their rows let go, or, where it is only touched, none of them does. Where a side
// changes at the same instant, what follows tells.
void EventEngine::Run::exclude_condition(const Guard& guard, bool touched, bool switches) {
  const bool binding = touched || !switches;
  constexpr std::uint16_t kStick = contact::bit(contact::RowStatus::stick);
  for (const ReactionConditions::Part& part : guards_.condition(guard)) {
    const model::Relation& relation = system_.relations()[part.relation];
    if (part.tangent >= 0) {
      const int number = relation.first_tangent + part.tangent;
      if (binding) exclusions_.tangent[number] |= touched ? kSlips : kStick;
      fresh_tangent_[number] = 1;
      continue;
    }
    fresh_relation_[part.relation] = 1;
    if (mode_.normal[part.relation] == NormalStatus::held) {
      if (!touched && binding)
        exclusions_.normal[part.relation] |=
            contact::bit(part.side > 0 ? contact::RowStatus::held_plus : contact::RowStatus::held_minus);
      continue;
    }
    // At the tip of the cone a sticking contact may also go on slipping.
    bool sticks = false;
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (mode_.tangent[number] != TangentStatus::stick) continue;
      sticks = true;
      if (!touched && binding) exclusions_.tangent[number] |= kStick;
      fresh_tangent_[number] = 1;
    }
    if (touched)
      exclusions_.normal[part.relation] |= contact::bit(contact::RowStatus::open);
    else if (!sticks && binding)
      exclusions_.normal[part.relation] |= contact::bit(contact::RowStatus::closed);
  }
}

// Other conditions of the block may touch zero with it, though no zero of theirs was seen.
void EventEngine::Run::exclude_touched(const Guard& guard) {
  constexpr double kNear = 1e-6;  ///< of its scale: at zero
  exclude_condition(guard, true, false);
  for (const Guard& other : guards_.list()) {
    if (other.kind != GuardKind::margin || other.tangent < 0 || other.tangent == guard.tangent ||
        other.place != guard.place || guards_.value(other) > kNear * other.scale)
      continue;
    if (only_touches(other)) exclude_condition(other, true, false);
  }
}

// Rows whose share of the reactions is used up, at the margin of a redundant block. Where it is only touched they may not leave.
void EventEngine::Run::exclude_exhausted_rows(const Guard& margin, bool touched, bool switches) {
  guards_.sharing.share(motion_);
  // Forces that vanish together leave no scale of their own: what they have been counts too.
  const double threshold = 1e-6 * std::max(guards_.sharing.force_scale(margin.place), margin.scale);
  for (int r = 0; r < layout_.relations; ++r) {
    if (mode_.normal[r] == NormalStatus::open || guards_.sharing.block(r) != margin.place) continue;
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = work_.relation[r];
    double limit = rows.base;
    for (std::size_t f = 0; f < relation.feeds.size(); ++f)
      limit += rows.factors[f] * std::abs(motion_.normal()[relation.feeds[f]]);
    bool sticks = false;
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (mode_.tangent[number] != TangentStatus::stick) continue;
      sticks = true;
      if (rows.tangent[j].mu_static * limit - std::abs(motion_.tangent()[number]) > threshold) continue;
      if (touched || !switches)
        exclusions_.tangent[number] |= touched ? kSlips : contact::bit(contact::RowStatus::stick);
      fresh_tangent_[number] = 1;
    }
    if (mode_.normal[r] == NormalStatus::closed && (!sticks || touched) && motion_.normal()[r] <= threshold) {
      if (touched || !switches)
        exclusions_.normal[r] |=
            contact::bit(touched ? contact::RowStatus::open : contact::RowStatus::closed);
      fresh_relation_[r] = 1;
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
    load_audits(y_.data());
    if (note_watches()) turn_observed();
    return true;
  }
  std::swap(mode_.side, reference_.side);  // until the rows before the instant are out
  for (const int k : changed_) {
    if (system_.switches()[k].kind == expr::SwitchKind::jump && options_.list_switches) quiet_rows_ = false;
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

// Rows that depend on each other hold together only while their drives agree: a wall that stands pushes a body on its brake from the moment on at
// which it comes.
bool EventEngine::Run::rows_part() {
  constexpr double kParted = 100;  ///< errors of steps add up to some tolerances
  constexpr double kBits = 64 * std::numeric_limits<double>::epsilon();
  if (!motion_.redundant()) return false;
  motion_.load(t_, y_.data());
  const int n = layout_.coordinates;
  const auto speed = scale_.begin() + n;  // that each coordinate has had
  const double fastest = *std::max_element(speed, speed + n);
  for (int k = 0; k < motion_.active(); ++k) {
    const int r = motion_.active_relation(k);
    const model::Relation& relation = system_.relations()[r];
    const int j = motion_.active_tangent(k);
    if (relation.rows_constant || (j < 0 && !relation.holonomic)) continue;
    const model::RelationRows& rows = system_.rows(work_, r);
    const double* w = j < 0 ? rows.w : rows.tangent[j].w;
    double size = std::abs(j < 0 ? rows.gap_time : rows.tangent[j].drive);
    double rounding =
        0;  // rows are solved together, and what others carry leaves its last bits in all of them
    for (int i = 0; i < n; ++i) {
      size += std::abs(w[i]) * speed[i];
      rounding += std::abs(w[i]) * kBits * fastest;
    }
    const double rate = j < 0 ? rows.gap_rate : rows.tangent[j].slip;
    if (std::abs(rate) > kParted * options_.tolerance * size + rounding) return true;
  }
  return false;
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
  motion_.release_pins();
  rates_jump_ = true;
  return settle();
}

// A slip that is nothing but rounding, since it began with no acceleration or because this is the instant at which it ends: what it has been says
// nothing, and the row is decided as one at rest.
void EventEngine::Run::rest_unmoved_slips() {
  constexpr double kBits = 64 * std::numeric_limits<double>::epsilon();
  const double elapsed = t_ - phase_.time;
  if (!(elapsed > 0)) return;
  motion_.load(t_, y_.data());
  for (const Guard& guard : guards_.list()) {
    if (guard.kind != GuardKind::slip || decider_.on_massless(guard.place)) continue;
    const int number = system_.relations()[guard.place].first_tangent + guard.tangent;
    if (mode_.tangent[number] != reference_.tangent[number] || slip_returned_[number] != 0) continue;
    const model::RelationRows::Tangent& row = system_.rows(work_, guard.place).tangent[guard.tangent];
    double size = std::abs(row.drive);
    double terms = std::abs(row.zeta);
    for (int i = 0; i < layout_.coordinates; ++i) {
      size += std::abs(row.w[i]) * std::max(std::abs(work_.in[layout_.v() + i]), speed_before_[i]);
      terms += std::abs(row.w[i]) * motion_.acceleration_terms()[i];
    }
    if (std::abs(guards_.value(guard)) > kBits * size + 0.125 * kBits * terms * elapsed) continue;
    mode_.tangent[number] = TangentStatus::stick;
    fresh_tangent_[number] = 1;
  }
}

// Slips that are zero to rounding where time switches: what follows tells whether they go on.
void EventEngine::Run::stop_slips() {
  constexpr double kStopped = 1e-13;  ///< share of what a slip has been
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (mode_.normal[r] == NormalStatus::open || relation.smooth_friction) continue;
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (direction(mode_.tangent[number]) == 0) continue;
      const double slip = system_.rows(work_, r).tangent[j].slip;
      if (std::abs(slip) > std::max(kStopped * guards_.slip_scale(number), slip_rounding(r, j))) continue;
      mode_.tangent[number] = TangentStatus::stick;
      fresh_tangent_[number] = 1;
    }
  }
}

// Where a switch changes side no gap may jump: a closed contact would have to leap, an open one would find itself inside the other body.
bool EventEngine::Run::gaps_continue() {
  if (mode_.side == reference_.side) return true;
  motion_.load(t_, y_.data());
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (!relation.has_normal || !relation.holonomic) continue;
    double before = 0;
    double after = 0;
    double rate = 0;
    double slack = options_.tolerance * guards_.gap_scale(r);
    for (int k = 0; k < layout_.switches; ++k) work_.in[layout_.side() + k] = reference_.side[k];
    system_.gap(work_, r, before, rate);
    slack += 8 * rounding_of(relation.gap);
    for (int k = 0; k < layout_.switches; ++k) work_.in[layout_.side() + k] = mode_.side[k];
    system_.gap(work_, r, after, rate);
    slack += 8 * rounding_of(relation.gap);
    const bool open = mode_.normal[r] == NormalStatus::open;
    // An open gap may be a little below zero before, where its contact is about to close: it must not be deeper afterwards.
    if (open ? after >= std::min(before, 0.0) - slack : std::abs(after - before) <= slack) continue;
    return fail({Reason::discontinuous, t_, relation.place,
                 "the gap jumps from " + to_text(before) + " to " + to_text(after) +
                     " where a switch changes its side; write branches that meet there"});
  }
  return true;
}

// Notes the surfaces at zero that this instant has decided. True: some are slid on.
bool EventEngine::Run::take_open_surfaces() {
  bool slides = false;
  for (int k = 0; k < layout_.switches; ++k) {
    if (carried_[k] == 0) continue;
    slides = slides || mode_.slides(k);
    if (!contains(seen_open_, k))
      seen_open_.insert(std::lower_bound(seen_open_.begin(), seen_open_.end(), k), k);
  }
  return slides;
}

// Massless coordinates go where the forces balance with the statuses as they are: their speeds jump with the forces.
bool EventEngine::Run::follow_massless() {
  load_statuses();
  if (!system_.motion(work_))
    return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an event"});
  motion_.take_massless(y_.data());
  return true;
}

// Decides the mode, lists what changed, and starts the next phase: sides and directions by value, impacts, then what the motion decides, until
// nothing changes any more (mechanics: docs/theory.md, "An instant").
bool EventEngine::Run::settle() {
  seen_open_.clear();
  tangential_impacts_ = 0;
  bool decided = false;
  bool settled = false;
  bool crossed = false;  // a decision has changed a side
  for (int round = 0; round < kMostRounds && !settled; ++round) {
    motion_.load(t_, y_.data());
    if (has_massless_ && !follow_massless()) return false;
    if (!decided) wake_unloaded();
    const bool sides = sides_by_value();
    const bool jumped =
        sides || crossed || rates_jump_ || (round == 0 && !changed_.empty() && mode_.side != reference_.side);
    rates_jump_ = false;
    bool moved = false;  // a status that the jump of a rate has changed
    if (jumped) {
      // What was decided with other sides is decided again, from what is known of this instant.
      if (decided && sides) {
        mode_.normal = entering_.normal;
        mode_.pressed = entering_.pressed;
        mode_.tangent = entering_.tangent;
        exclusions_.clear();
      }
      search_.known = mode_;
      if (rates_by_value()) strikes_ = true;
      moved = !(search_.known == mode_);
    }
    if (!decided || sides) entering_ = mode_;
    crossed = false;
    list_switch_changes();
    if (!quiet_ && !gaps_continue()) return false;
    // A contact that opened or was open with a gap of zero may approach now: that is an impact of the same instant.
    if (!strikes_) {
      std::fill(touching_.begin(), touching_.end(), std::uint8_t{0});
      strikes_ = mark_touching();
      if (strikes_ && decided) exclusions_.clear();
      if (!strikes_ && !decided) join_touching();
    }
    if (strikes_) {
      strikes_ = false;
      decided = false;
      if (!touch()) return false;
      if (round > 0) exclusions_.clear();
      // A slip that an impact leaves has its direction by value, whatever it was to end with.
      for (int j = 0; j < layout_.tangents; ++j) {
        if (direction(mode_.tangent[j]) != 0) exclusions_.tangent[j] = 0;
      }
      continue;
    }
    // A slide has put the state onto its surface: what is at zero only now is decided too.
    bool joined = false;
    for (const int k : open_) joined = joined || !contains(seen_open_, k);
    settled = decided && !sides && !moved && !joined;
    if (settled) break;
    sides_before_ = mode_.side;
    if (!decide_surfaces()) return false;
    if (take_open_surfaces() && !quiet_) project_sliding();
    crossed = !quiet_ && mode_.side != sides_before_;
    list_switch_changes();
    decided = true;
  }
  if (!settled) {
    std::string names;
    for (const int k : open_) names += (names.empty() ? "" : ", ") + system_.switches()[k].place;
    return fail({Reason::indeterminate, t_, names,
                 "switches and contacts change each other's sides in a circle at this instant"});
  }
  for (int r = 0; r < layout_.relations; ++r) {
    if (mode_.normal[r] != reference_.normal[r]) fresh_relation_[r] = 1;
  }
  for (int j = 0; j < layout_.tangents; ++j) {
    if (mode_.tangent[j] != reference_.tangent[j]) fresh_tangent_[j] = 1;
  }
  if (!restart()) return false;
  const bool goes_on = accumulation_end_ != t_ || end_tail();
  if (!quiet_) {
    list_changes();
    list_watch_jumps();
    for (Event& event : pending_) report(event);
    if (!pending_.empty() && quiet_rows_) quiet_rows_ = false;
    if (!quiet_rows_) rows_after_event();
  }
  pending_.clear();
  return goes_on;
}

bool EventEngine::Run::decide_with(Mode& mode, Status& status) {
  for (int r = 0; r < layout_.relations; ++r) decider_.force_floor[r] = guards_.normal_scale(r);
  for (int j = 0; j < layout_.tangents; ++j)
    decider_.force_floor[layout_.relations + j] = guards_.tangent_scale(j);
  status = decider_.decide(mode, exclusions_, kDecisionTolerance);
  if (status.reason == Reason::inconsistent) {
    // The state is known to the error of the steps only: a slip that ends on the edge of the cone may miss it by that much. So is what moves with
    // the time, to its last bit.
    const double time = std::max(t_ - phase_.time, last_flight_);
    const double clock = time > 0 ? 64 * std::numeric_limits<double>::epsilon() * std::abs(t_) / time : 0;
    const double slack = std::clamp(std::max(1e3 * state_tolerance(), clock), 1e-9, 1e-5);
    const Status again = decider_.decide(mode, exclusions_, slack);
    if (again.ok()) status = again;
  }
  if (status.reason == Reason::inconsistent) {
    // A status that has just ended may go on where another row lets its forces jump at the same instant, from static to slip friction.
    Mode other = mode;
    const Status again = decider_.decide(other, no_exclusions_, kDecisionTolerance);
    const bool moved = other.normal != reference_.normal || other.pressed != reference_.pressed ||
                       other.tangent != reference_.tangent;
    if (again.ok() && moved) {
      status = again;
      mode = other;
    }
  }
  if (status.reason == Reason::inconsistent) {
    // Of several rows that are at their limits together some may hold on: it is enough that one lets go.
    constexpr std::uint16_t kStick = contact::bit(contact::RowStatus::stick);
    for (int j = 0; j < layout_.tangents; ++j) {
      if ((exclusions_.tangent[j] & kStick) == 0) continue;
      Mode other = mode;
      Decider::Exclusions one = no_exclusions_;
      one.tangent[j] = kStick;
      const Status again = decider_.decide(other, one, kDecisionTolerance);
      if (!again.ok()) continue;
      status = again;
      mode = other;
      break;
    }
  }
  result_.undecided_ties += decider_.undecided_ties();
  if (!decider_.reactions_unique()) result_.reactions_not_unique = true;
  if (decider_.unchecked()) result_.uniqueness_unchecked = true;
  // A node whose friction is overcome at once has gone where it balances.
  if (status.ok() && decider_.any_on_massless()) motion_.take_massless(y_.data());
  if (status.ok()) free_unloaded(mode);
  return status.ok();
}

// Rows that nothing can press before the next event are no rows. At rest they would hold nothing, and nothing would be left of the margin of those
// that hold with them; and where others hold them, the direction of their slip is nothing but rounding.
void EventEngine::Run::free_unloaded(Mode& mode) {
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.tangents == 0 || relation.smooth_friction || relation.direction_in_force ||
        mode.normal[r] == NormalStatus::open || decider_.on_massless(r))
      continue;
    for (int j = 0; j < relation.tangents; ++j) {
      TangentStatus& status = mode.tangent[relation.first_tangent + j];
      if (status != TangentStatus::free && never_loaded(mode, r)) status = TangentStatus::free;
    }
  }
}

// Whether the load of a relation is zero for every state and time, with the sides and contacts of a mode.
bool EventEngine::Run::never_loaded(const Mode& mode, int r) {
  const model::Relation& relation = system_.relations()[r];
  for (const int feed : relation.feeds) {
    if (mode.normal[feed] != NormalStatus::open) return false;
  }
  for (int k = 0; k < layout_.switches; ++k) work_.in[layout_.side() + k] = mode.side[k];
  if (relation.law.outputs() == 0) return false;
  surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), relation.law.outputs()));
  relation.law.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
  if (surface_memory_[0] != 0) return false;
  // A formula that is exactly zero at states that have nothing in common is zero: max(0, x) on the side of 0.
  const int state_end = 1 + layout_.integrated();
  probe_.assign(work_.in.begin(), work_.in.end());
  constexpr int kProbes = 3;
  for (int probe = 0; probe < kProbes; ++probe) {
    for (int i = 0; i < state_end; ++i) {
      const double sign = ((i + probe) & 1) != 0 ? -1 : 1;
      probe_[i] = sign * (0.7548776662466927 + 0.5698402909980532 * i + 1.3247179572447460 * probe);
    }
    relation.law.evaluate(probe_.data(), surface_memory_.data(), work_.registers.data());
    if (surface_memory_[0] != 0) return false;
  }
  return true;
}

// Rows that nothing pressed have the status of their slip when they are decided again.
void EventEngine::Run::wake_unloaded() {
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.tangents == 0 || relation.smooth_friction || mode_.normal[r] == NormalStatus::open) continue;
    for (int j = 0; j < relation.tangents; ++j) {
      TangentStatus& status = mode_.tangent[relation.first_tangent + j];
      if (status != TangentStatus::free) continue;
      const model::RelationRows::Tangent& row = system_.rows(work_, r).tangent[j];
      double size = std::abs(row.drive);
      for (int i = 0; i < layout_.coordinates; ++i)
        size += std::abs(row.w[i]) *
                std::max(std::abs(work_.in[layout_.v() + i]), scale_[layout_.coordinates + i]);
      const bool zero = std::abs(row.slip) <= 1e3 * std::numeric_limits<double>::epsilon() * size;
      status = zero           ? TangentStatus::stick
               : row.slip > 0 ? TangentStatus::slip_plus
                              : TangentStatus::slip_minus;
      fresh_tangent_[relation.first_tangent + j] = 1;
    }
  }
}

// No reaction, or several. True: the run goes on, with mode_ decided.
bool EventEngine::Run::paradox(Status status) {
  const int relation = decider_.failed_relation();
  if ((status.reason != Reason::inconsistent && status.reason != Reason::indeterminate) || relation < 0)
    return fail(std::move(status));
  const bool inconsistent = status.reason == Reason::inconsistent;
  if (quiet_) {  // at the start: from here on there is something to list
    quiet_ = false;
    quiet_rows_ = false;
    rows_before_event();
  }
  Event event = event_here(EventKind::painleve, relation);
  event.words[0] = inconsistent ? Word::inconsistent : Word::indeterminate;
  pending_.push_back(event);

  if (!inconsistent && options_.on_painleve != OnPainleve::stop &&
      mode_.normal[relation] == NormalStatus::closed) {
    // The branch with sliding contact is unstable under any compliance of the contact; the contact opens.
    exclusions_.normal[relation] |= contact::bit(contact::RowStatus::closed);
    fresh_relation_[relation] = 1;
    Status next;
    if (decide_with(mode_, next)) return true;
  }
  if (inconsistent && options_.on_painleve == OnPainleve::tangential_impact &&
      tangential_impacts_ < kMostTangentialImpacts) {
    ++tangential_impacts_;
    motion_.load(t_, y_.data());
    for (int j = 0; j < layout_.tangents; ++j)
      work_.in[layout_.direction() + j] = direction(mode_.tangent[j]);
    if (collider_.tangential_impact(mode_, relation, false, pending_)) {
      std::copy_n(work_.in.begin() + 1, layout_.integrated(), y_.begin());
      add_impact_work();
      tell_impulses(false);
      settle_reference();
      exclusions_.clear();
      fresh_relation_[relation] = 1;
      fresh_tangent_[system_.relations()[relation].first_tangent] = 1;
      ++result_.impacts;
      Status next;
      return decide_with(mode_, next) || paradox(next);
    }
  }
  for (Event& listed : pending_) report(listed);
  pending_.clear();
  return fail(std::move(status));
}

// Sets the decided mode in motion.
bool EventEngine::Run::restart() {
  // What drives a state may be another from here on: what it has been counts again.
  for (int i = 0; i < layout_.states; ++i)
    recent_[i] = std::max(recent_[i], scale_[2 * layout_.coordinates + i]);
  reset_bristles();
  if (stiff_) radau_.restart();  // what it knows of the last mode would mislead Newton's iteration
  phase_.time = t_;
  phase_.y.assign(y_.begin(), y_.begin() + layout_.integrated());
  phase_.mode = mode_;
  motion_.load(t_, y_.data());
  if (!motion_.set_mode(mode_)) {
    return fail({work_.mass_failed ? Reason::singular_mass : Reason::not_finite,
                 t_,
                 {},
                 "the equations of motion cannot be evaluated in the new mode"});
  }
  explicit_.use(motion_.components());
  if (motion_.active() > 0) static_cast<void>(motion_.project(t_, y_.data(), false));
  motion_.load(t_, y_.data());
  if (!motion_.evaluate())
    return fail(
        {Reason::not_finite, t_, {}, "the equations of motion give no finite number in the new mode"});
  if (motion_.slides()) mode_ = motion_.mode();  // with the coefficients of the sliding switches
  motion_.note_terms();
  project_sliding();
  if (motion_.redundant()) guards_.sharing.set_mode(mode_);
  take_observed();
  guards_.build();
  set_guard_zeros();
  if (negative_joint_ >= 0) {
    return fail({Reason::negative_normal, t_, system_.relations()[negative_joint_].place,
                 "the normal force of the joint becomes negative; write abs() or max() where its sign "
                 "may change"});
  }
  for (int r = 0; r < layout_.relations; ++r) {
    if (mode_.normal[r] == NormalStatus::open) {
      close_interval(r);
      last_reaction_[r] = 0;
    }
  }
  note_reactions(0, false);
  have_f0_ = false;
  end_phase();
  return true;
}

void EventEngine::Run::end_phase() {
  if (t_ > phase_start_) last_flight_ = t_ - phase_start_;
  phase_start_ = t_;
  if (noise_measured_) {
    std::fill(rate_noise_.begin(), rate_noise_.end(), 0.0);
    std::fill(damping_.begin(), damping_.end(), 0.0);
  }
  noise_measured_ = false;
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
  const double energy = total_energy();
  const auto add = [&](EventKind kind, int relation, Word word) {
    Event event;
    event.kind = kind;
    event.place = relation;
    event.words[0] = word;
    event.energy_before = event.energy_after = energy;
    pending_.push_back(event);
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
