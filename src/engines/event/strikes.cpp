#include "engines/event/strikes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engines/event/decisions.hpp"
#include "engines/event/impact_tails.hpp"
#include "engines/event/roundings.hpp"
#include "engines/event/rows.hpp"
#include "engines/event/sides.hpp"
#include "engines/law_numbers.hpp"
#include "judder/core/number.hpp"

namespace judder::engines {
namespace {

constexpr double kEpsilon = 2.220446049250313e-16;
constexpr double kNearlyClosed = 1e-9;       ///< share of a gap's scale below which its rounding is looked at
constexpr double kNearJam = 0.1;             // of its scale: k is looked at more closely from here on
constexpr double kInstant = 64 * kEpsilon;   ///< share of the time within which all happens at one instant
constexpr int kMostTangentialImpacts = 100;  ///< at one instant

}  // namespace

Strikes::Strikes(Phase& now, InstantState& here, StepFindings& found, Roundings& rounding, Rows& rows,
                 Sides& sides, Decisions& decisions, ImpactTails& tails)
    : now_(now),
      here_(here),
      found_(found),
      rounding_(rounding),
      rows_(rows),
      sides_(sides),
      decisions_(decisions),
      tails_(tails) {
  node_y_.resize(now_.motion.all_components());
  for (int r = 0; r < now_.layout.relations; ++r) {
    const model::Relation& relation = now_.system.relations()[r];
    reach_.push_back(std::numeric_limits<double>::infinity());
    if (!relation.has_normal || relation.kind != model::RelationKind::contact || !relation.rows_constant ||
        !relation.law_constant)
      continue;
    double slopes = 0;
    for (const double slope : now_.work.relation[r].w.values()) slopes += std::abs(slope);
    reach_.back() = 2 * slopes;
  }
}

// Contacts that have just closed: impact where they approach, plain contact where they do not. reference_ gets the statuses that later
// changes of this instant are compared with.
bool Strikes::touch() {
  const int n = now_.layout.coordinates;
  if (!now_.motion.evaluate())
    return now_.fail(
        {Reason::not_finite, now_.t, {}, "the equations of motion give no finite number at an impact"});
  bool approaching = false;
  mark_touching();
  bool driven = false;
  if (!turn_drives(driven)) return false;
  strike_in_turn();
  tails_.accumulation().begin(now_.t);
  for (int r = 0; r < now_.layout.relations; ++r) {
    if (here_.touching[r] != strikes) continue;
    tails_.close_gap(r);
    const model::RelationRows& rows = now_.system.rows(now_.work, r);
    const model::Relation& relation = now_.system.relations()[r];
    const double rate = rows.gap_rate;
    double terms = std::abs(rows.gap_time);
    for (const int i : relation.touches)
      terms += std::abs(rows.w[i]) *
               std::max(std::abs(now_.work.in[now_.layout.v() + i]), now_.scales.sizes()[n + i]);
    here_.fresh_relation[r] = 1;
    if (rate < -16 * kEpsilon * terms) {
      approaching = true;
      double acceleration = rows.zeta_n;
      for (const int i : relation.touches) acceleration += rows.w[i] * now_.motion.acceleration()[i];
      tails_.accumulation().add(r, -rate, acceleration);
      continue;
    }
    // Touches with zero approach velocity.
    here_.touching[r] = 0;
    now_.mode.normal[r] = NormalStatus::closed;
    Event event;
    event.kind = EventKind::contact;
    event.place = r;
    event.words[0] = Word::rest;
    for (int j = 0; j < relation.tangents; ++j) {
      const double slip = rows.tangent[j].slip;
      TangentStatus& status = now_.mode.tangent[relation.first_tangent + j];
      status = relation.smooth_friction ? TangentStatus::smooth
               : slip > 0               ? TangentStatus::slip_plus
               : slip < 0               ? TangentStatus::slip_minus
                                        : TangentStatus::stick;
      event.words[1] = slip > 0 ? Word::slip_plus : slip < 0 ? Word::slip_minus : Word::stick;
      here_.fresh_tangent[relation.first_tangent + j] = 1;
    }
    event.energy_before = event.energy_after = now_.recorder.residuals.energy(now_.work);
    now_.recorder.pending().push_back(event);
  }
  std::copy_n(now_.work.in.begin() + 1, now_.layout.integrated(), now_.y.begin());
  if (!approaching) {
    settle_reference();
    return true;
  }
  tails_.accumulation().end(
      std::span(now_.y).subspan(n, now_.layout.integrated() + 2 * now_.layout.audits - n));
  const bool tail = tails_.begin_tail();
  if (!impact(tail)) return false;
  tails_.accumulation().jumped(now_.collider.before(), std::span(now_.y).subspan(n, n));
  settle_reference();
  return true;
}

// Open contacts whose gap is nothing but rounding take part in whatever happens at this instant.
bool Strikes::mark_touching() {
  bool any = false;
  const bool many = now_.guards.many_gaps();
  double farthest = 0;
  if (many) {
    now_.system.gaps(now_.work);
    const double* q = now_.work.in.data() + now_.layout.q();
    for (int i = 0; i < now_.layout.coordinates; ++i) farthest = std::max(farthest, std::abs(q[i]));
    farthest *= 256 * kEpsilon;
  }
  for (int r = 0; r < now_.layout.relations; ++r) {
    // Most of many are far away, by more than any rounding of places.
    if (many &&
        now_.work.gap_value[r] > std::max(reach_[r] * farthest, kNearlyClosed * now_.guards.gap_scale(r)))
      continue;
    const model::Relation& relation = now_.system.relations()[r];
    if (!relation.has_normal || relation.kind != model::RelationKind::contact ||
        now_.mode.normal[r] != NormalStatus::open)
      continue;
    // The same by its own places, which takes no rows to see.
    if (many && relation.rows_constant && relation.law_constant &&
        now_.work.gap_value[r] >
            std::max(tails_.rounding_of_places(r), kNearlyClosed * now_.guards.gap_scale(r)))
      continue;
    // A contact that was closed until now, or that the last impact left at rest, has no approach velocity.
    const bool rested = here_.reference.normal[r] == NormalStatus::closed;
    const model::RelationRows& rows = now_.system.rows(now_.work, r);
    const double gap = rows.gap;
    const double rate = rows.gap_rate;
    // Velocities are known to the last bits of what they have been.
    double speed = std::abs(rows.gap_time);
    for (const int i : relation.touches)
      speed += std::abs(rows.w[i]) * std::max(std::abs(now_.work.in[now_.layout.v() + i]),
                                              now_.scales.sizes()[now_.layout.coordinates + i]);
    if (gap > tails_.rounding_of_places(r)) {
      // Walls that move have rounding of their own; it is asked for where the gap is next to nothing. What closes within the last bits of the
      // time closes now.
      if (gap > kNearlyClosed * now_.guards.gap_scale(r)) continue;
      const double soon = kInstant * std::abs(now_.t) * std::max(0.0, -rate);
      if (gap > 8 * rounding_.rounding_of(relation.gap) + soon) continue;
    }
    if (rested || rate > 64 * kEpsilon * speed) {
      here_.touching[r] = separates;  // the impact of another may bring it back
      continue;
    }
    here_.touching[r] = strikes;
    any = any || rate < -64 * kEpsilon * speed;
  }
  return any;
}

// Open contacts with a gap of zero that neither approach nor separate are decided with the others: forces that jump may press them. What rounding leaves of their
// gaps is taken away as where they strike: a contact that is closed has none.
void Strikes::join_touching() {
  for (int r = 0; r < now_.layout.relations; ++r) {
    if (here_.touching[r] != strikes) continue;
    here_.touching[r] = 0;
    tails_.close_gap(r);
    std::copy_n(now_.work.in.begin() + now_.layout.q(), now_.layout.coordinates, now_.y.begin());
    const model::Relation& relation = now_.system.relations()[r];
    const model::RelationRows& rows = now_.system.rows(now_.work, r);
    now_.mode.normal[r] = NormalStatus::closed;
    here_.fresh_relation[r] = 1;
    for (int j = 0; j < relation.tangents; ++j) {
      const double slip = rows.tangent[j].slip;
      now_.mode.tangent[relation.first_tangent + j] = relation.smooth_friction ? TangentStatus::smooth
                                                      : slip > 0               ? TangentStatus::slip_plus
                                                      : slip < 0               ? TangentStatus::slip_minus
                                                                               : TangentStatus::stick;
      here_.fresh_tangent[relation.first_tangent + j] = 1;
    }
  }
}

bool Strikes::impact(bool inelastic) {
  now_.motion.release_pins();
  for (int r = 0; r < now_.layout.relations; ++r) {
    const model::Relation& relation = now_.system.relations()[r];
    if (here_.touching[r] != strikes || relation.kind != model::RelationKind::contact) continue;
    LawDefect defect = defect_of_restitution(now_.system, now_.work, r,
                                             std::max(0.0, -now_.system.rows(now_.work, r).gap_rate));
    if (!defect && relation.impact_friction) defect = defect_of_law(now_.system, now_.work, r);
    if (defect) return now_.fail({Reason::impact_failed, now_.t, relation.place, describe(defect)});
  }
  std::vector<Event>& pending = now_.recorder.pending();
  const std::size_t first = pending.size();
  before_impact_ = now_.mode;
  const Status status = now_.collider.collide(now_.mode, here_.touching, inelastic, pending);
  if (!status.ok()) return now_.fail(status);
  std::copy_n(now_.work.in.begin() + 1, now_.layout.integrated(), now_.y.begin());
  ++now_.result.impacts;
  add_impact_work();
  tell_impulses(inelastic);
  for (std::size_t i = first; i < pending.size(); ++i) {
    const int r = pending[i].place;
    here_.fresh_relation[r] = 1;
    const model::Relation& relation = now_.system.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) here_.fresh_tangent[relation.first_tangent + j] = 1;
    now_.recorder.strike(
        r, now_.t, pending[i].normal_impulse,
        now_.mode.normal[r] == NormalStatus::closed || before_impact_.normal[r] == NormalStatus::closed);
  }
  rest_by_rounding();
  for (int j = 0; j < now_.layout.tangents; ++j) {
    if (before_impact_.tangent[j] != now_.mode.tangent[j]) here_.fresh_tangent[j] = 1;
  }
  if (inelastic) {
    // The tail's impulse is listed with its accumulation, not as an impact.
    for (std::size_t i = first; i < pending.size(); ++i)
      tails_.tails().add_impulse(pending[i].place, pending[i].normal_impulse, pending[i].tangential_impulse);
    pending.resize(first);
  }
  return true;
}

// A slip that an impact leaves at rounding of what slips have been is rest: its sign means nothing, and the decision tells where it goes.
void Strikes::rest_by_rounding() {
  for (int r = 0; r < now_.layout.relations; ++r) {
    const model::Relation& relation = now_.system.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      TangentStatus& status = now_.mode.tangent[relation.first_tangent + j];
      if (direction(status) == 0) continue;
      const model::RelationRows::Tangent& row = now_.system.rows(now_.work, r).tangent[j];
      double slip = row.drive;
      for (const int i : relation.touches) slip += row.w[i] * now_.work.in[now_.layout.v() + i];
      if (std::abs(slip) <= 1e-13 * now_.guards.slip_scale(relation.first_tangent + j))
        status = TangentStatus::stick;
    }
  }
}

void Strikes::add_impact_work() {
  for (std::size_t e = 0; e < now_.system.audits().size(); ++e) {
    const int r = now_.system.audits()[e].relation;
    if (r < 0) continue;
    now_.y[now_.layout.integrated() + static_cast<int>(e)] += now_.collider.dissipated()[r];
    now_.y[now_.layout.integrated() + now_.layout.audits + static_cast<int>(e)] +=
        now_.collider.supplied()[r];
  }
}

// An impact tells itself how its contacts ended; joints are compared with what they were before it.
void Strikes::settle_reference() {
  for (int r = 0; r < now_.layout.relations; ++r) {
    const model::Relation& relation = now_.system.relations()[r];
    if (!relation.has_normal) continue;
    const std::vector<Event>& pending = now_.recorder.pending();
    const bool told = std::any_of(pending.begin(), pending.end(),
                                  [r](const Event& event) { return event.place == r && !event.on_switch; });
    if (!told && here_.reference.normal[r] == NormalStatus::closed &&
        now_.mode.normal[r] == NormalStatus::open)
      continue;  // it lifts off
    here_.reference.normal[r] = now_.mode.normal[r];
    for (int j = 0; j < relation.tangents; ++j)
      here_.reference.tangent[relation.first_tangent + j] = now_.mode.tangent[relation.first_tangent + j];
  }
}

// Bodies that hand each other their speeds in ever shorter times strike one after another, also where rounding leaves no time between: the contacts beside the next one
// have a gap yet, unless they strike with it every time or have moved together since the last impact.
void Strikes::strike_in_turn() {
  Accumulation::Pattern& pattern = tails_.pattern();
  if (std::count_if(here_.touching.begin(), here_.touching.end(), [](std::uint8_t t) { return t != 0; }) == 0)
    return;
  if (!tails_.accumulation().pattern(pattern) || pattern.equal_time || pattern.around.size() < 2) return;
  if (!tails_.handed(pattern)) return;
  int next = -1;
  double fastest = 0;
  for (const int r : pattern.around) {
    if (here_.touching[r] != strikes) continue;
    const double rate = now_.system.rows(now_.work, r).gap_rate;
    if (!(rate < fastest)) continue;
    fastest = rate;
    next = r;
  }
  if (next < 0) return;
  const bool at_once = now_.t == pattern.time;
  for (const int r : pattern.around) {
    const model::Relation& relation = now_.system.relations()[r];
    if (relation.kind != model::RelationKind::contact || tails_.accumulation().together(next, r)) continue;
    const model::RelationRows& rows = now_.system.rows(now_.work, r);
    double speed = std::abs(rows.gap_time);
    for (const int i : relation.touches)
      speed += std::abs(rows.w[i]) * std::max(std::abs(now_.work.in[now_.layout.v() + i]),
                                              now_.scales.sizes()[now_.layout.coordinates + i]);
    if (!at_once && std::abs(rows.gap_rate) <= 64 * kEpsilon * speed) continue;
    here_.touching[r] = 0;
    // An impact of this instant has left it at rest, and nothing has pressed it since.
    if (!at_once || now_.mode.normal[r] != NormalStatus::closed) continue;
    now_.mode.normal[r] = here_.reference.normal[r] = NormalStatus::open;
    for (int j = 0; j < relation.tangents; ++j)
      now_.mode.tangent[relation.first_tangent + j] = TangentStatus::free;
    here_.fresh_relation[r] = 1;
  }
}

// A dynamic jam: no finite reaction keeps the contact closed a moment longer. Its velocities may go on after an impulse that stops the slip.
bool Strikes::jam(int relation) {
  Event event = rows_.event_here(EventKind::painleve, relation);
  event.words[0] = Word::jam;
  now_.recorder.pending().push_back(event);
  if (now_.options.on_painleve == OnPainleve::tangential_impact) {
    now_.load();
    if (now_.collider.tangential_impact(now_.mode, relation, true, now_.recorder.pending())) {
      std::copy_n(now_.work.in.begin() + 1, now_.layout.integrated(), now_.y.begin());
      add_impact_work();
      tell_impulses(false);
      settle_reference();
      here_.fresh_relation[relation] = 1;
      here_.fresh_tangent[now_.system.relations()[relation].first_tangent] = 1;
      ++now_.result.impacts;
      return true;
    }
  }
  now_.recorder.report_pending(now_.t, now_.time_bound, now_.mode);
  return now_.fail(
      {Reason::inconsistent, now_.t, now_.system.relations()[relation].place,
       "dynamic jam: the reaction of the slipping contact grows without bound (w_N M⁻¹ (w_N − μ s w_T) falls "
       "to zero)"});
}

// The time in which a slipping contact jams if it goes on as it moves now: k falls to zero while the contact is pressed together, and its reaction
// grows without bound. Infinite where nothing comes near to that; `jammed` is the guard of the first.
double Strikes::time_to_jam(int& jammed) {
  double least = std::numeric_limits<double>::infinity();
  const double back = 1e-9 * (now_.t - now_.phase_start);
  bool moved = false;
  for (std::size_t i = 0; i < now_.guards.list().size(); ++i) {
    const Guard& guard = now_.guards.list()[i];
    if (guard.kind != GuardKind::jam || !(back > 0)) continue;
    if (moved || least == std::numeric_limits<double>::infinity()) {
      now_.load();
      if (!now_.motion.evaluate()) break;
      moved = false;
    }
    const double now = now_.guards.value(guard);
    if (!(now < kNearJam * guard.scale) || !(now_.motion.normal()[guard.place] > 0)) continue;
    std::copy_n(now_.y.begin(), now_.layout.integrated(), node_y_.begin());
    for (int k = 0; k < now_.layout.coordinates; ++k)
      node_y_[k] -= back * now_.y[now_.layout.coordinates + k];
    now_.motion.load(now_.t - back, node_y_.data());
    moved = true;
    if (!now_.motion.evaluate()) break;
    const double fall = now_.guards.value(guard) - now;
    const double left = fall > 0 ? back * std::max(now, 0.0) / fall : std::numeric_limits<double>::infinity();
    if (!(left < least)) continue;
    least = left;
    jammed = static_cast<int>(i);
  }
  if (moved) {
    now_.load();
    static_cast<void>(now_.motion.evaluate());
  }
  return least;
}

// No reaction, or several. True: the run goes on, with mode_ decided.
bool Strikes::paradox(Status status) {
  if (here_.probing) return false;
  // Attempts with other exclusions have come after the one that the status tells about.
  int relation = now_.layout.relations - 1;
  while (relation >= 0 && now_.system.relations()[relation].place != status.where) --relation;
  if ((status.reason != Reason::inconsistent && status.reason != Reason::indeterminate) || relation < 0)
    return now_.fail(std::move(status));
  const bool inconsistent = status.reason == Reason::inconsistent;
  if (here_.quiet) {  // at the start: from here on there is something to list
    here_.quiet = false;
    here_.quiet_rows = false;
    rows_.rows_before_event();
  }
  Event event = rows_.event_here(EventKind::painleve, relation);
  event.words[0] = inconsistent ? Word::inconsistent : Word::indeterminate;
  now_.recorder.pending().push_back(event);

  if (!inconsistent && now_.options.on_painleve != OnPainleve::stop &&
      now_.mode.normal[relation] == NormalStatus::closed) {
    // The branch with sliding contact is unstable under any compliance of the contact; the contact opens.
    here_.exclusions.normal[relation] |= contact::bit(contact::RowStatus::closed);
    here_.fresh_relation[relation] = 1;
    Status next;
    if (decisions_.decide_with(now_.mode, next)) return true;
  }
  if (inconsistent && now_.options.on_painleve == OnPainleve::tangential_impact &&
      here_.tangential_impacts < kMostTangentialImpacts) {
    ++here_.tangential_impacts;
    now_.load();
    for (int j = 0; j < now_.layout.tangents; ++j)
      now_.work.in[now_.layout.direction() + j] = direction(now_.mode.tangent[j]);
    if (now_.collider.tangential_impact(now_.mode, relation, false, now_.recorder.pending())) {
      std::copy_n(now_.work.in.begin() + 1, now_.layout.integrated(), now_.y.begin());
      add_impact_work();
      tell_impulses(false);
      settle_reference();
      here_.exclusions.clear();
      here_.fresh_relation[relation] = 1;
      here_.fresh_tangent[now_.system.relations()[relation].first_tangent] = 1;
      ++now_.result.impacts;
      Status next;
      return decisions_.decide_with(now_.mode, next) || paradox(next);
    }
  }
  now_.recorder.report_pending(now_.t, now_.time_bound, now_.mode);
  return now_.fail(std::move(status));
}

void Strikes::tell_impulses(bool tail) {
  now_.recorder.testimony.impulses({now_.collider.before(), now_.work.in, now_.collider.normal_impulse(),
                                    now_.collider.tangential_impulse(), tail});
}

// Contacts that close at the end of the run, to rounding: there is no step behind it that could meet them. In together_.
bool Strikes::meets_at_end() {
  constexpr double kBits = 64 * std::numeric_limits<double>::epsilon();
  found_.together.clear();
  now_.load();
  const std::vector<Guard>& list = now_.guards.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].kind != GuardKind::gap || now_.mode.normal[list[i].place] != NormalStatus::open) continue;
    const model::Relation& relation = now_.system.relations()[list[i].place];
    double gap = 0;
    double rate = 0;
    now_.system.gap(now_.work, list[i].place, gap, rate);
    if (!relation.holonomic || gap > kNearlyClosed * now_.guards.gap_scale(list[i].place)) continue;
    const model::RelationRows& rows = now_.system.rows(now_.work, list[i].place);
    double speed = std::abs(rows.gap_time);
    for (const int k : relation.touches) speed += std::abs(rows.w[k] * now_.work.in[now_.layout.v() + k]);
    if (!(rows.gap_rate < -kBits * speed)) continue;
    if (rows.gap > 8 * rounding_.rounding_of(relation.gap) - rows.gap_rate * kBits * std::abs(now_.t))
      continue;
    found_.together.push_back(static_cast<int>(i));
  }
  return !found_.together.empty();
}

// Constraints of which what they prescribe has jumped turn first, without the contacts: these meet what moves as it moves from now on, as they meet a wall whose
// velocity is written into their gap. False: the run has ended.
bool Strikes::turn_drives(bool& driven) {
  driven = false;
  for (int r = 0; r < now_.layout.relations; ++r)
    driven = driven || (here_.touching[r] == strikes && now_.mode.normal[r] == NormalStatus::held);
  if (!driven) return true;
  const auto is_contact = [this](int r) {
    return now_.system.relations()[r].kind == model::RelationKind::contact &&
           now_.system.relations()[r].has_normal;
  };
  drive_mode_ = now_.mode;
  for (int r = 0; r < now_.layout.relations; ++r) {
    const model::Relation& relation = now_.system.relations()[r];
    const model::RelationRows& rows = now_.system.rows(now_.work, r);
    for (int j = 0; j < relation.tangents; ++j)
      here_.slip_before[relation.first_tangent + j] = rows.tangent[j].slip;
    if (!is_contact(r)) continue;
    here_.touching[r] = 0;
    now_.mode.normal[r] = NormalStatus::open;
    for (int j = 0; j < relation.tangents; ++j)
      now_.mode.tangent[relation.first_tangent + j] = TangentStatus::free;
  }
  const bool turned = impact(false);
  for (int r = 0; r < now_.layout.relations; ++r) {
    const model::Relation& relation = now_.system.relations()[r];
    here_.touching[r] = 0;
    if (!is_contact(r)) continue;
    now_.mode.normal[r] = drive_mode_.normal[r];
    for (int j = 0; j < relation.tangents; ++j)
      now_.mode.tangent[relation.first_tangent + j] = drive_mode_.tangent[relation.first_tangent + j];
  }
  if (!turned) return false;
  // No part of any rhythm, but a jump of the velocities between impacts that are.
  const int n = now_.layout.coordinates;
  tails_.accumulation().begin(now_.t);
  tails_.accumulation().end(
      std::span(now_.y).subspan(n, now_.layout.integrated() + 2 * now_.layout.audits - n));
  tails_.accumulation().jumped(now_.collider.before(), std::span(now_.y).subspan(n, n));
  now_.load();
  static_cast<void>(sides_.rates_by_value(true));
  for (int r = 0; r < now_.layout.relations; ++r) {
    if (now_.mode.normal[r] == NormalStatus::held) here_.touching[r] = 0;
  }
  mark_touching();
  if (!now_.motion.evaluate())
    return now_.fail(
        {Reason::not_finite, now_.t, {}, "the equations of motion give no finite number at an impact"});
  return true;
}

}  // namespace judder::engines
