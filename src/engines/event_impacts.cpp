// Contacts that close: impact or plain contact, and impacts that accumulate.
#include <algorithm>
#include <cmath>
#include <limits>

#include "event_run.hpp"

namespace judder::engines {
namespace {

constexpr double kEpsilon = 2.220446049250313e-16;
constexpr double kNearlyClosed = 1e-9;  ///< share of a gap's scale below which its rounding is looked at
constexpr double kMoves = 1e-6;   ///< share of the mobility of a gap below which the rows beside it hold it
constexpr double kNearJam = 0.1;  // of its scale: k is looked at more closely from here on

/// Whether the hop that follows rises or, at the end of its first step, falls by more than the noise of its gap; otherwise its zero is not found. A step
/// after an impact is a little longer than the last flight.
bool hop_is_seen(const Accumulation::Pattern& pattern, double noise) {
  constexpr double kStepPerFlight = 1.05;
  const double end = kStepPerFlight / pattern.ratio;  // of the step, in flights to come
  return 4 * pattern.height * pattern.ratio * pattern.ratio * std::max(1.0, end * (end - 1)) > noise;
}

}  // namespace

// Contacts that close at the end of the run, to rounding: there is no step behind it that could meet them. In together_.
bool EventEngine::Run::meets_at_end() {
  constexpr double kBits = 64 * std::numeric_limits<double>::epsilon();
  together_.clear();
  motion_.load(t_, y_.data());
  const std::vector<Guard>& list = guards_.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].kind != GuardKind::gap || mode_.normal[list[i].place] != NormalStatus::open) continue;
    const model::Relation& relation = system_.relations()[list[i].place];
    double gap = 0;
    double rate = 0;
    system_.gap(work_, list[i].place, gap, rate);
    if (!relation.holonomic || gap > kNearlyClosed * guards_.gap_scale(list[i].place)) continue;
    const model::RelationRows& rows = system_.rows(work_, list[i].place);
    double speed = std::abs(rows.gap_time);
    for (const int k : relation.touches) speed += std::abs(rows.w[k] * work_.in[layout_.v() + k]);
    if (!(rows.gap_rate < -kBits * speed)) continue;
    if (rows.gap > 8 * rounding_of(relation.gap) - rows.gap_rate * kBits * std::abs(t_)) continue;
    together_.push_back(static_cast<int>(i));
  }
  return !together_.empty();
}

// Moves the state onto gap = 0: by rounding only, since the step ended there. What rests on another contact or is held by a constraint stays where it is: a
// wall may come to what rests, and what the last bit of the time leaves of the gap then is nobody's.
void EventEngine::Run::close_gap(int relation) {
  const int n = layout_.coordinates;
  for (int iteration = 0; iteration < 3; ++iteration) {
    double gap = 0;
    double rate = 0;
    system_.gap(work_, relation, gap, rate);
    if (gap == 0) return;
    const model::RelationRows& rows = system_.relations()[relation].rows_constant
                                          ? work_.relation[relation]
                                          : system_.rows(work_, relation);
    if (iteration == 0) note_gap(relation, gap, 0);
    std::copy_n(rows.w, n, node_y_.begin());
    if (!system_.motion(work_)) return;
    system_.solve_mass(work_, node_y_.data());
    const auto slope_along = [&](const std::vector<double>& direction) {
      double sum = 0;
      for (const int i : system_.relations()[relation].touches) sum += rows.w[i] * direction[i];
      return sum;
    };
    const double free = slope_along(node_y_);
    if (motion_.holds()) motion_.keep_rows(node_y_.data());
    motion_.keep_on_gaps(node_y_.data());
    const double slope = slope_along(node_y_);
    if (!(slope > kMoves * free)) return;
    for (int i = 0; i < n; ++i) work_.in[layout_.q() + i] -= node_y_[i] * gap / slope;
  }
}

// Contacts that have just closed: impact where they approach, plain contact where they do not. reference_ gets the statuses that later
// changes of this instant are compared with.
bool EventEngine::Run::touch() {
  const int n = layout_.coordinates;
  if (!motion_.evaluate())
    return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an impact"});
  bool approaching = false;
  accumulation_.begin(t_);
  mark_touching();
  for (int r = 0; r < layout_.relations; ++r) {
    if (touching_[r] != strikes) continue;
    if (mode_.normal[r] == NormalStatus::held) {  // what it prescribes has jumped
      approaching = true;
      continue;
    }
    close_gap(r);
    const model::RelationRows& rows = system_.rows(work_, r);
    const model::Relation& relation = system_.relations()[r];
    const double rate = rows.gap_rate;
    double terms = std::abs(rows.gap_time);
    for (const int i : relation.touches)
      terms += std::abs(rows.w[i]) * std::max(std::abs(work_.in[layout_.v() + i]), scale_[n + i]);
    fresh_relation_[r] = 1;
    if (rate < -16 * kEpsilon * terms) {
      approaching = true;
      double acceleration = rows.zeta_n;
      for (const int i : relation.touches) acceleration += rows.w[i] * motion_.acceleration()[i];
      accumulation_.add(r, -rate, acceleration);
      continue;
    }
    // Touches with zero approach velocity.
    touching_[r] = 0;
    mode_.normal[r] = NormalStatus::closed;
    Event event;
    event.kind = EventKind::contact;
    event.place = r;
    event.words[0] = Word::rest;
    for (int j = 0; j < relation.tangents; ++j) {
      const double slip = rows.tangent[j].slip;
      TangentStatus& status = mode_.tangent[relation.first_tangent + j];
      status = relation.smooth_friction ? TangentStatus::smooth
               : slip > 0               ? TangentStatus::slip_plus
               : slip < 0               ? TangentStatus::slip_minus
                                        : TangentStatus::stick;
      event.words[1] = slip > 0 ? Word::slip_plus : slip < 0 ? Word::slip_minus : Word::stick;
      fresh_tangent_[relation.first_tangent + j] = 1;
    }
    event.energy_before = event.energy_after = total_energy();
    pending_.push_back(event);
  }
  std::copy_n(work_.in.begin() + 1, layout_.integrated(), y_.begin());
  if (!approaching) {
    settle_reference();
    return true;
  }
  accumulation_.end();
  const bool tail = begin_tail();
  if (!impact(tail)) return false;
  settle_reference();
  return true;
}

// Open contacts whose gap is nothing but rounding take part in whatever happens at this instant.
bool EventEngine::Run::mark_touching() {
  bool any = false;
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (!relation.has_normal || relation.kind != model::RelationKind::contact ||
        mode_.normal[r] != NormalStatus::open)
      continue;
    // A contact that was closed until now, or that the last impact left at rest, has no approach velocity.
    const bool rested = reference_.normal[r] == NormalStatus::closed;
    const model::RelationRows& rows = system_.rows(work_, r);
    const double gap = rows.gap;
    const double rate = rows.gap_rate;
    double terms = 0;
    // Velocities are known to the last bits of what they have been.
    double speed = std::abs(rows.gap_time);
    for (const int i : relation.touches) {
      terms += std::abs(rows.w[i] * work_.in[layout_.q() + i]);
      speed += std::abs(rows.w[i]) *
               std::max(std::abs(work_.in[layout_.v() + i]), scale_[layout_.coordinates + i]);
    }
    if (gap > 256 * kEpsilon * terms) {
      // Walls that move have rounding of their own; it is asked for where the gap is next to nothing. What closes within the last bits of the
      // time closes now.
      if (gap > kNearlyClosed * guards_.gap_scale(r)) continue;
      const double soon = 64 * kEpsilon * std::abs(t_) * std::max(0.0, -rate);
      if (gap > 8 * rounding_of(relation.gap) + soon) continue;
    }
    if (rested || rate > 64 * kEpsilon * speed) {
      touching_[r] = separates;  // the impact of another may bring it back
      continue;
    }
    touching_[r] = strikes;
    any = any || rate < -64 * kEpsilon * speed;
  }
  return any;
}

// Open contacts with a gap of zero that neither approach nor separate are decided with the others: forces that jump may press them.
void EventEngine::Run::join_touching() {
  for (int r = 0; r < layout_.relations; ++r) {
    if (touching_[r] != strikes) continue;
    touching_[r] = 0;
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = system_.rows(work_, r);
    mode_.normal[r] = NormalStatus::closed;
    fresh_relation_[r] = 1;
    for (int j = 0; j < relation.tangents; ++j) {
      const double slip = rows.tangent[j].slip;
      mode_.tangent[relation.first_tangent + j] = relation.smooth_friction ? TangentStatus::smooth
                                                  : slip > 0               ? TangentStatus::slip_plus
                                                  : slip < 0               ? TangentStatus::slip_minus
                                                                           : TangentStatus::stick;
      fresh_tangent_[relation.first_tangent + j] = 1;
    }
  }
}

// An impact tells itself how its contacts ended; joints are compared with what they were before it.
void EventEngine::Run::settle_reference() {
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (!relation.has_normal) continue;
    const bool told = std::any_of(pending_.begin(), pending_.end(),
                                  [r](const Event& event) { return event.place == r && !event.on_switch; });
    if (!told && reference_.normal[r] == NormalStatus::closed && mode_.normal[r] == NormalStatus::open)
      continue;  // it lifts off
    reference_.normal[r] = mode_.normal[r];
    for (int j = 0; j < relation.tangents; ++j)
      reference_.tangent[relation.first_tangent + j] = mode_.tangent[relation.first_tangent + j];
  }
}

bool EventEngine::Run::impact(bool inelastic) {
  motion_.release_pins();
  const std::size_t first = pending_.size();
  before_impact_ = mode_;
  const Status status = collider_.collide(mode_, touching_, inelastic, pending_);
  if (!status.ok()) return fail(status);
  std::copy_n(work_.in.begin() + 1, layout_.integrated(), y_.begin());
  ++result_.impacts;
  add_impact_work();
  tell_impulses(inelastic);
  for (std::size_t i = first; i < pending_.size(); ++i) {
    const int r = pending_[i].place;
    fresh_relation_[r] = 1;
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) fresh_tangent_[relation.first_tangent + j] = 1;
    if (mode_.normal[r] == NormalStatus::closed || before_impact_.normal[r] == NormalStatus::closed) {
      Interval& interval = open_intervals_[r];
      if (std::isnan(interval.from)) interval = {r, t_, t_, 0, 0};
      interval.impulse += pending_[i].normal_impulse;
    } else {
      sink_->interval({r, t_, t_, 0, pending_[i].normal_impulse});
    }
  }
  rest_by_rounding();
  for (int j = 0; j < layout_.tangents; ++j) {
    if (before_impact_.tangent[j] != mode_.tangent[j]) fresh_tangent_[j] = 1;
  }
  if (inelastic) {
    // The tail's impulse is listed with its accumulation, not as an impact.
    // What stops a contact of the pattern on its way out is below the tolerance, and no impulse of a contact.
    for (std::size_t i = first; i < pending_.size(); ++i) {
      Tail& tail = tails_[pending_[i].place];
      tail.impulse += std::max(0.0, pending_[i].normal_impulse);
      for (std::size_t j = 0; j < tail.tangential.size(); ++j)
        tail.tangential[j] += pending_[i].tangential_impulse[j];
    }
    pending_.resize(first);
  }
  return true;
}

// A slip that an impact leaves at rounding of what slips have been is rest: its sign means nothing, and the decision tells where it goes.
void EventEngine::Run::rest_by_rounding() {
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      TangentStatus& status = mode_.tangent[relation.first_tangent + j];
      if (direction(status) == 0) continue;
      const model::RelationRows::Tangent& row = system_.rows(work_, r).tangent[j];
      double slip = row.drive;
      for (const int i : relation.touches) slip += row.w[i] * work_.in[layout_.v() + i];
      if (std::abs(slip) <= 1e-13 * guards_.slip_scale(relation.first_tangent + j))
        status = TangentStatus::stick;
    }
  }
}

void EventEngine::Run::add_impact_work() {
  for (std::size_t e = 0; e < system_.audits().size(); ++e) {
    const int r = system_.audits()[e].relation;
    if (r < 0) continue;
    y_[layout_.integrated() + static_cast<int>(e)] += collider_.dissipated()[r];
    y_[layout_.integrated() + layout_.audits + static_cast<int>(e)] += collider_.supplied()[r];
  }
}

// The time in which a slipping contact jams if it goes on as it moves now: k falls to zero while the contact is pressed together, and its reaction
// grows without bound. Infinite where nothing comes near to that; `jammed` is the guard of the first.
double EventEngine::Run::time_to_jam(int& jammed) {
  double least = std::numeric_limits<double>::infinity();
  const double back = 1e-9 * (t_ - phase_start_);
  bool moved = false;
  for (std::size_t i = 0; i < guards_.list().size(); ++i) {
    const Guard& guard = guards_.list()[i];
    if (guard.kind != GuardKind::jam || !(back > 0)) continue;
    if (moved || least == std::numeric_limits<double>::infinity()) {
      motion_.load(t_, y_.data());
      if (!motion_.evaluate()) break;
      moved = false;
    }
    const double now = guards_.value(guard);
    if (!(now < kNearJam * guard.scale) || !(motion_.normal()[guard.place] > 0)) continue;
    std::copy_n(y_.begin(), layout_.integrated(), node_y_.begin());
    for (int k = 0; k < layout_.coordinates; ++k) node_y_[k] -= back * y_[layout_.coordinates + k];
    motion_.load(t_ - back, node_y_.data());
    moved = true;
    if (!motion_.evaluate()) break;
    const double fall = guards_.value(guard) - now;
    const double left = fall > 0 ? back * std::max(now, 0.0) / fall : std::numeric_limits<double>::infinity();
    if (!(left < least)) continue;
    least = left;
    jammed = static_cast<int>(i);
  }
  if (moved) {
    motion_.load(t_, y_.data());
    static_cast<void>(motion_.evaluate());
  }
  return least;
}

// A dynamic jam: no finite reaction keeps the contact closed a moment longer. Its velocities may go on after an impulse that stops the slip.
bool EventEngine::Run::jam(int relation) {
  Event event = event_here(EventKind::painleve, relation);
  event.words[0] = Word::jam;
  pending_.push_back(event);
  if (options_.on_painleve == OnPainleve::tangential_impact) {
    motion_.load(t_, y_.data());
    if (collider_.tangential_impact(mode_, relation, true, pending_)) {
      std::copy_n(work_.in.begin() + 1, layout_.integrated(), y_.begin());
      add_impact_work();
      tell_impulses(false);
      settle_reference();
      fresh_relation_[relation] = 1;
      fresh_tangent_[system_.relations()[relation].first_tangent] = 1;
      ++result_.impacts;
      return true;
    }
  }
  for (Event& listed : pending_) report(listed);
  pending_.clear();
  return fail(
      {Reason::inconsistent, t_, system_.relations()[relation].place,
       "dynamic jam: the reaction of the slipping contact grows without bound (w_N M⁻¹ (w_N − μ s w_T) falls "
       "to zero)"});
}

// Whether friction that the impacts of this contact do not have (bristles move at rest, and slip with μ in impacts) would be felt if it were closed for `time`.
bool EventEngine::Run::friction_of_rest(int relation, double time) {
  const model::Relation& own = system_.relations()[relation];
  if (own.tangents == 0) return false;
  const int n = layout_.coordinates;
  const model::RelationRows& rows = system_.rows(work_, relation);
  // Impacts with a tangential restitution hold a slip again and again; a contact that has closed does not. The slip that they leave goes some way yet.
  for (int j = 0; j < own.tangents && own.has_tangential_restitution; ++j) {
    double rate = rows.tangent[j].zeta;
    double size = 0;
    double reach = 0;
    for (const int i : own.touches) {
      rate += rows.tangent[j].w[i] * motion_.acceleration()[i];
      size += std::abs(rows.tangent[j].w[i]) * scale_[n + i];
      reach += std::abs(rows.tangent[j].w[i]) * scale_[i];
    }
    if (std::abs(rate) * time > options_.tolerance * size) return true;
    if (std::abs(rows.tangent[j].slip) * time > options_.tolerance * reach) return true;
  }
  if (own.impact_friction && own.bristles.empty()) return false;
  std::copy_n(rows.w, n, node_y_.begin());
  system_.solve_mass(work_, node_y_.data());
  double mobility = 0;
  double fall = rows.zeta_n;
  for (const int i : own.touches) {
    mobility += rows.w[i] * node_y_[i];
    fall += rows.w[i] * motion_.acceleration()[i];
  }
  if (!(mobility > 0)) return false;
  const double normal = std::max(0.0, -fall) / mobility;
  for (int j = 0; j < own.tangents; ++j) {
    std::copy_n(rows.tangent[j].drag, n, node_y_.begin());
    system_.solve_mass(work_, node_y_.data());
    const double mu = own.bristles.empty()
                          ? std::abs(rows.tangent[j].mu)
                          : system_.impulse_coefficient(work_, relation, std::abs(rows.tangent[j].slip));
    const double force = mu * normal;
    for (int i = 0; i < n; ++i) {
      if (std::abs(node_y_[i]) * force * time > options_.tolerance * scale_[n + i]) return true;
    }
  }
  return false;
}

// Whether the impacts have become the tail of an accumulation. If so all contacts of the pattern touch now, and the tail's end is on the timetable.
bool EventEngine::Run::begin_tail() {
  Accumulation::Pattern& pattern = pattern_;
  if (!accumulation_.pattern(pattern)) return false;
  for (int r = 0; r < layout_.relations; ++r) {
    if (std::isnan(tails_[r].end)) continue;
    for (const int member : pattern.members) {
      if (accumulation_.connected(r, member)) return false;
    }
  }
  double speed_scale = 0;
  for (int i = 0; i < layout_.coordinates; ++i)
    speed_scale = std::max(speed_scale, scale_[layout_.coordinates + i]);
  for (int r = 0; r < layout_.relations; ++r) {
    if (!contains(pattern.members, r) || !system_.relations()[r].has_normal) continue;
    const double gap_scale = guards_.gap_scale(r);
    // A contact of the pattern that is farther away than the tail reaches has no part in it.
    double gap = 0;
    double rate = 0;
    system_.gap(work_, r, gap, rate);
    if (gap > std::max(options_.tolerance * gap_scale, 8 * guards_.gap_noise(r))) return false;
    if (!pattern.equal_time && hop_is_seen(pattern, guards_.gap_noise(r)) &&
        friction_of_rest(r, pattern.remaining))
      return false;
    if (pattern.equal_time) {
      if (pattern.size > 10 * options_.tolerance * speed_scale)
        return false;  // smaller hops drown in the error of the steps
    } else if (pattern.height > std::max(options_.tolerance * gap_scale, 8 * guards_.gap_noise(r))) {
      return false;
    }
  }
  if (!pattern.equal_time) {
    // The acceleration must not change noticeably within the remaining time.
    if (pattern.jerk * pattern.remaining * pattern.remaining > options_.tolerance * speed_scale) return false;
  }
  double end = pattern.equal_time ? t_ : t_ + pattern.remaining;
  if (end > options_.until) end = std::nextafter(options_.until, t_);
  for (const int r : pattern.members) {
    if (system_.relations()[r].has_normal)
      tails_[r] = {end, static_cast<double>(pattern.count), pattern.remaining, 0, {}};
    if (mode_.normal[r] != NormalStatus::open) continue;
    touching_[r] = 1;
    fresh_relation_[r] = 1;
    close_gap(r);
  }
  find_accumulation_end();
  accumulation_.finish_pattern();
  return true;
}

void EventEngine::Run::find_accumulation_end() {
  accumulation_end_ = std::numeric_limits<double>::quiet_NaN();
  for (const Tail& tail : tails_) {
    if (!(accumulation_end_ <= tail.end) && !std::isnan(tail.end)) accumulation_end_ = tail.end;
  }
}

// A contact that touches now may open the contacts of a tail of the same block again: that tail ends here. False: the run is to stop at it.
bool EventEngine::Run::strike_tails() {
  bool struck = false;
  for (int r = 0; r < layout_.relations; ++r) {
    if (std::isnan(tails_[r].end)) continue;
    for (int k = 0; k < layout_.relations; ++k) {
      if (touching_[k] == 0 || !accumulation_.connected(r, k)) continue;
      tails_[r].end = t_;
      struck = true;
      break;
    }
  }
  return !struck || end_tail();
}

bool EventEngine::Run::finish_accumulation() {
  rows_before_event();
  motion_.load(t_, y_.data());
  if (!motion_.evaluate())
    return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an event"});
  if (!end_tail()) {
    rows_after_event();
    return false;
  }
  rows_after_event();
  return true;
}

// Lists the accumulations whose tails end here. False: the run is to stop at them.
bool EventEngine::Run::end_tail() {
  const double energy = total_energy();
  for (int r = 0; r < layout_.relations; ++r) {
    Tail& tail = tails_[r];
    if (!(tail.end <= t_)) continue;
    tail.end = std::numeric_limits<double>::quiet_NaN();
    Event event;
    event.kind = EventKind::accumulation;
    event.place = r;
    event.numbers = {tail.count, tail.remaining};
    event.normal_impulse = tail.impulse + std::max(0.0, motion_.normal()[r]) * tail.remaining;
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      event.tangential_impulse[j] =
          tail.tangential[j] + motion_.tangent()[relation.first_tangent + j] * tail.remaining;
    }
    event.energy_before = event.energy_after = energy;
    report(event);
  }
  find_accumulation_end();
  if (options_.on_accumulation == OnAccumulation::stop) {
    return fail({Reason::accumulation, t_, {}, "impacts accumulate here"});
  }
  return true;
}

}  // namespace judder::engines
