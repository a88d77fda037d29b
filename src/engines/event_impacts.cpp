// Contacts that close: impact or plain contact, and impacts that accumulate.
#include <algorithm>
#include <cmath>
#include <limits>

#include "event_run.hpp"
#include "law_numbers.hpp"

namespace judder::engines {
namespace {

constexpr double kEpsilon = 2.220446049250313e-16;
constexpr double kNearlyClosed = 1e-9;  ///< share of a gap's scale below which its rounding is looked at
constexpr double kMoves = 1e-6;   ///< share of the mobility of a gap below which the rows beside it hold it
constexpr double kNearJam = 0.1;  // of its scale: k is looked at more closely from here on
constexpr double kInstant = 64 * kEpsilon;  ///< share of the time within which all happens at one instant

/// Whether the hop that follows rises or, at the end of its first step, falls by more than the noise of its gap; otherwise its zero is not found. A step
/// after an impact is a little longer than the last flight.
bool hop_is_seen(const Accumulation::Pattern& pattern, double noise) {
  constexpr double kStepPerFlight = 1.05;
  const double end = kStepPerFlight / pattern.ratio;  // of the step, in flights to come
  return 4 * pattern.height * pattern.ratio * pattern.ratio * std::max(1.0, end * (end - 1)) > noise;
}

/// What the velocities of these gaps have been, by the running scales of their coordinates: an angle and a way have no common measure.
double speed_along(const model::System& system, const model::Workspace& work, std::span<const double> sizes,
                   const Members& members) {
  const int n = system.layout().coordinates;
  double scale = 0;
  for (const int r : members) {
    if (!system.relations()[r].has_normal) continue;
    for (const int i : system.relations()[r].touches)
      scale = std::max(scale, std::abs(work.relation[r].w[i]) * sizes[n + i]);
  }
  return scale;
}

/// To what the times of impacts with this speed are known: where gaps are told to their last bits only, that is a time as well.
double instant_of(const Accumulation::Pattern& pattern, double speed, const model::System& system,
                  model::Workspace& work) {
  const double time = work.in[0];
  double rounding = 0;
  for (const int r : pattern.members) {
    const model::RelationRows& rows = system.rows(work, r);
    double terms = std::abs(time * rows.gap_time);
    for (const int i : system.relations()[r].touches)
      terms += std::abs(rows.w[i] * work.in[system.layout().q() + i]);
    rounding = std::max(rounding, kEpsilon * terms);
  }
  return kInstant * std::abs(time) + rounding / speed;
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
    rows.w.write(node_y_.data(), n);
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
  mark_touching();
  bool driven = false;
  if (!turn_drives(driven)) return false;
  strike_in_turn();
  accumulation_.begin(t_);
  for (int r = 0; r < layout_.relations; ++r) {
    if (touching_[r] != strikes) continue;
    close_gap(r);
    const model::RelationRows& rows = system_.rows(work_, r);
    const model::Relation& relation = system_.relations()[r];
    const double rate = rows.gap_rate;
    double terms = std::abs(rows.gap_time);
    for (const int i : relation.touches)
      terms += std::abs(rows.w[i]) * std::max(std::abs(work_.in[layout_.v() + i]), scales_.sizes()[n + i]);
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
    event.energy_before = event.energy_after = recorder_.residuals.energy(work_);
    recorder_.pending().push_back(event);
  }
  std::copy_n(work_.in.begin() + 1, layout_.integrated(), y_.begin());
  if (!approaching) {
    settle_reference();
    return true;
  }
  accumulation_.end(std::span(y_).subspan(n, layout_.integrated() + 2 * layout_.audits - n));
  const bool tail = begin_tail();
  if (!impact(tail)) return false;
  accumulation_.jumped(collider_.before(), std::span(y_).subspan(n, n));
  settle_reference();
  return true;
}

// Constraints of which what they prescribe has jumped turn first, without the contacts: these meet what moves as it moves from now on, as they meet a wall whose
// velocity is written into their gap. False: the run has ended.
bool EventEngine::Run::turn_drives(bool& driven) {
  driven = false;
  for (int r = 0; r < layout_.relations; ++r)
    driven = driven || (touching_[r] == strikes && mode_.normal[r] == NormalStatus::held);
  if (!driven) return true;
  const auto is_contact = [this](int r) {
    return system_.relations()[r].kind == model::RelationKind::contact && system_.relations()[r].has_normal;
  };
  drive_mode_ = mode_;
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = system_.rows(work_, r);
    for (int j = 0; j < relation.tangents; ++j)
      slip_before_[relation.first_tangent + j] = rows.tangent[j].slip;
    if (!is_contact(r)) continue;
    touching_[r] = 0;
    mode_.normal[r] = NormalStatus::open;
    for (int j = 0; j < relation.tangents; ++j)
      mode_.tangent[relation.first_tangent + j] = TangentStatus::free;
  }
  const bool turned = impact(false);
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    touching_[r] = 0;
    if (!is_contact(r)) continue;
    mode_.normal[r] = drive_mode_.normal[r];
    for (int j = 0; j < relation.tangents; ++j)
      mode_.tangent[relation.first_tangent + j] = drive_mode_.tangent[relation.first_tangent + j];
  }
  if (!turned) return false;
  // No part of any rhythm, but a jump of the velocities between impacts that are.
  const int n = layout_.coordinates;
  accumulation_.begin(t_);
  accumulation_.end(std::span(y_).subspan(n, layout_.integrated() + 2 * layout_.audits - n));
  accumulation_.jumped(collider_.before(), std::span(y_).subspan(n, n));
  motion_.load(t_, y_.data());
  static_cast<void>(rates_by_value(true));
  for (int r = 0; r < layout_.relations; ++r) {
    if (mode_.normal[r] == NormalStatus::held) touching_[r] = 0;
  }
  mark_touching();
  if (!motion_.evaluate())
    return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an impact"});
  return true;
}

// Bodies that hand each other their speeds in ever shorter times strike one after another, also where rounding leaves no time between: the contacts beside the next one
// have a gap yet, unless they strike with it every time or have moved together since the last impact.
void EventEngine::Run::strike_in_turn() {
  Accumulation::Pattern& pattern = pattern_;
  if (std::count_if(touching_.begin(), touching_.end(), [](std::uint8_t t) { return t != 0; }) == 0) return;
  if (!accumulation_.pattern(pattern) || pattern.equal_time || pattern.around.size() < 2) return;
  if (!handed(pattern)) return;
  int next = -1;
  double fastest = 0;
  for (const int r : pattern.around) {
    if (touching_[r] != strikes) continue;
    const double rate = system_.rows(work_, r).gap_rate;
    if (!(rate < fastest)) continue;
    fastest = rate;
    next = r;
  }
  if (next < 0) return;
  const bool at_once = t_ == pattern.time;
  for (const int r : pattern.around) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.kind != model::RelationKind::contact || accumulation_.together(next, r)) continue;
    const model::RelationRows& rows = system_.rows(work_, r);
    double speed = std::abs(rows.gap_time);
    for (const int i : relation.touches)
      speed += std::abs(rows.w[i]) *
               std::max(std::abs(work_.in[layout_.v() + i]), scales_.sizes()[layout_.coordinates + i]);
    if (!at_once && std::abs(rows.gap_rate) <= 64 * kEpsilon * speed) continue;
    touching_[r] = 0;
    // An impact of this instant has left it at rest, and nothing has pressed it since.
    if (!at_once || mode_.normal[r] != NormalStatus::closed) continue;
    mode_.normal[r] = reference_.normal[r] = NormalStatus::open;
    for (int j = 0; j < relation.tangents; ++j)
      mode_.tangent[relation.first_tangent + j] = TangentStatus::free;
    fresh_relation_[r] = 1;
  }
}

// Whether the speeds of a pattern are more than its acceleration can give in the last occurrence and all that follow, and are seen: what falls back has half of that at most.
bool EventEngine::Run::handed(const Accumulation::Pattern& pattern) const {
  const double scale = speed_along(system_, work_, scales_.sizes(), pattern.members);
  return pattern.size > std::max(pattern.pushed, options_.tolerance * scale);
}

// What the last bits of the coordinates may leave of a gap, at the state in work_; rows are evaluated.
double EventEngine::Run::rounding_of_places(int relation) const {
  const model::Row& w = work_.relation[relation].w;
  double terms = 0;
  for (std::size_t e = 0; e < w.values().size(); ++e)
    terms += std::abs(w.values()[e] * work_.in[layout_.q() + w.places()[e]]);
  return 256 * kEpsilon * terms;
}

// Open contacts whose gap is nothing but rounding take part in whatever happens at this instant.
bool EventEngine::Run::mark_touching() {
  bool any = false;
  const bool many = guards_.many_gaps();
  if (many) system_.gaps(work_);
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (!relation.has_normal || relation.kind != model::RelationKind::contact ||
        mode_.normal[r] != NormalStatus::open)
      continue;
    // Most of many are far away, which takes no rows to see.
    if (many && relation.rows_constant && relation.law_constant &&
        work_.gap_value[r] > std::max(rounding_of_places(r), kNearlyClosed * guards_.gap_scale(r)))
      continue;
    // A contact that was closed until now, or that the last impact left at rest, has no approach velocity.
    const bool rested = reference_.normal[r] == NormalStatus::closed;
    const model::RelationRows& rows = system_.rows(work_, r);
    const double gap = rows.gap;
    const double rate = rows.gap_rate;
    // Velocities are known to the last bits of what they have been.
    double speed = std::abs(rows.gap_time);
    for (const int i : relation.touches)
      speed += std::abs(rows.w[i]) *
               std::max(std::abs(work_.in[layout_.v() + i]), scales_.sizes()[layout_.coordinates + i]);
    if (gap > rounding_of_places(r)) {
      // Walls that move have rounding of their own; it is asked for where the gap is next to nothing. What closes within the last bits of the
      // time closes now.
      if (gap > kNearlyClosed * guards_.gap_scale(r)) continue;
      const double soon = kInstant * std::abs(t_) * std::max(0.0, -rate);
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

// Open contacts with a gap of zero that neither approach nor separate are decided with the others: forces that jump may press them. What rounding leaves of their
// gaps is taken away as where they strike: a contact that is closed has none.
void EventEngine::Run::join_touching() {
  for (int r = 0; r < layout_.relations; ++r) {
    if (touching_[r] != strikes) continue;
    touching_[r] = 0;
    close_gap(r);
    std::copy_n(work_.in.begin() + layout_.q(), layout_.coordinates, y_.begin());
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
    const std::vector<Event>& pending = recorder_.pending();
    const bool told = std::any_of(pending.begin(), pending.end(),
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
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (touching_[r] != strikes || relation.kind != model::RelationKind::contact) continue;
    LawDefect defect =
        defect_of_restitution(system_, work_, r, std::max(0.0, -system_.rows(work_, r).gap_rate));
    if (!defect && relation.impact_friction) defect = defect_of_law(system_, work_, r);
    if (defect) return fail({Reason::impact_failed, t_, relation.place, describe(defect)});
  }
  std::vector<Event>& pending = recorder_.pending();
  const std::size_t first = pending.size();
  before_impact_ = mode_;
  const Status status = collider_.collide(mode_, touching_, inelastic, pending);
  if (!status.ok()) return fail(status);
  std::copy_n(work_.in.begin() + 1, layout_.integrated(), y_.begin());
  ++result_.impacts;
  add_impact_work();
  tell_impulses(inelastic);
  for (std::size_t i = first; i < pending.size(); ++i) {
    const int r = pending[i].place;
    fresh_relation_[r] = 1;
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) fresh_tangent_[relation.first_tangent + j] = 1;
    recorder_.strike(
        r, t_, pending[i].normal_impulse,
        mode_.normal[r] == NormalStatus::closed || before_impact_.normal[r] == NormalStatus::closed);
  }
  rest_by_rounding();
  for (int j = 0; j < layout_.tangents; ++j) {
    if (before_impact_.tangent[j] != mode_.tangent[j]) fresh_tangent_[j] = 1;
  }
  if (inelastic) {
    // The tail's impulse is listed with its accumulation, not as an impact.
    for (std::size_t i = first; i < pending.size(); ++i)
      tails_.add_impulse(pending[i].place, pending[i].normal_impulse, pending[i].tangential_impulse);
    pending.resize(first);
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
  recorder_.pending().push_back(event);
  if (options_.on_painleve == OnPainleve::tangential_impact) {
    motion_.load(t_, y_.data());
    if (collider_.tangential_impact(mode_, relation, true, recorder_.pending())) {
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
  recorder_.report_pending(t_, time_bound_, mode_);
  return fail(
      {Reason::inconsistent, t_, system_.relations()[relation].place,
       "dynamic jam: the reaction of the slipping contact grows without bound (w_N M⁻¹ (w_N − μ s w_T) falls "
       "to zero)"});
}

// The sides that switches have by value at the state in work_.in; on a surface the one that it is left to, or the one of zero.
void EventEngine::Run::take_sides_of_rest(Mode& mode) {
  for (int k = 0; k < layout_.switches; ++k) {
    const model::SwitchInfo& info = system_.switches()[k];
    if (info.time_only || mode.slides(k) || contains_sliding(k) || !system_.live(work_, k)) continue;
    double value = 0;
    double lower = 0;
    info.value.evaluate(work_.in.data(), &value, work_.registers.data());
    const double distance = distance_from_level(info, value, lower);
    const bool away = std::abs(distance) > kRoundingUnits * surface_rounding(k);
    const double leaves = away ? distance : direction_by_speed(k);
    mode.surface[k] = leaves == 0 ? AtSurface::held : AtSurface::away;
    mode.side[k] = lower + (leaves == 0 ? info.at_zero : leaves > 0 ? 1 : 0);
    work_.in[layout_.side() + k] = mode.side[k];
  }
}

// Whether the hops that remain move everything as the closed contacts would in the same time. Velocities, states and works change as they have in the last occurrence,
// R/Δ times; at rest by the impact that closes the contacts, and by their rates then. What both do alike (the reaction in the mean, Coulomb's friction
// with the same coefficient) cancels; whatever else acts in flight, in impacts or at rest alone does not.
bool EventEngine::Run::hops_move_as_rest(const Accumulation::Pattern& pattern) {
  TailTrial& trial = tail_trial_;
  trial.inputs = work_.in;
  trial.touching = touching_;
  const std::size_t listed = recorder_.pending().size();
  const bool alike = closes_for_trial(pattern) && same_change(pattern);
  recorder_.pending().resize(listed);
  work_.in = trial.inputs;
  touching_ = trial.touching;
  static_cast<void>(motion_.set_mode(mode_) && motion_.evaluate());
  motion_.release_pins();
  return alike;
}

bool EventEngine::Run::closes_for_trial(const Accumulation::Pattern& pattern) {
  const int n = layout_.coordinates;
  TailTrial& trial = tail_trial_;
  trial.mode = mode_;
  for (const int r : pattern.members) {
    if (mode_.normal[r] != NormalStatus::open) continue;
    touching_[r] = strikes;
    close_gap(r);
  }
  if (!collider_.collide(trial.mode, touching_, true, recorder_.pending()).ok()) return false;
  take_sides_of_rest(trial.mode);
  if (!decider_.decide(trial.mode, no_exclusions_).ok()) return false;
  for (const int r : pattern.members) {
    if (trial.mode.normal[r] == NormalStatus::open) return false;
  }
  trial.jump.assign(n, 0.0);
  for (int i = 0; i < n; ++i) trial.jump[i] = work_.in[layout_.v() + i] - trial.inputs[layout_.v() + i];
  if (!motion_.set_mode(trial.mode)) return false;
  trial.y = y_;
  std::copy_n(work_.in.begin() + 1, layout_.integrated(), trial.y.begin());
  trial.rest.assign(y_.size(), 0.0);
  return motion_(work_.in[0], trial.y.data(), trial.rest.data());
}

bool EventEngine::Run::same_change(const Accumulation::Pattern& pattern) {
  const int n = layout_.coordinates;
  const double time = pattern.remaining;
  const double share = time / pattern.duration;
  TailTrial& trial = tail_trial_;
  const std::size_t size = pattern.change.all.size();
  trial.missing.assign(size, 0.0);
  for (std::size_t i = 0; i < size; ++i)
    trial.missing[i] = share * pattern.change.all[i] - time * trial.rest[n + i];
  for (int i = 0; i < n; ++i) trial.missing[i] -= trial.jump[i];
  // In the end nothing is left of the approach: so many more impulses there are, where the ratio changes.
  double more = 0;
  double weight = 0;
  for (const int r : pattern.members) {
    const model::RelationRows& rows = system_.rows(work_, r);
    double rate = 0;
    double given = 0;
    for (const int i : system_.relations()[r].touches) {
      rate += rows.w[i] * trial.missing[i];
      given += rows.w[i] * pattern.change.jump[i];
    }
    more -= rate * given;
    weight += given * given;
  }
  if (weight > 0) more /= weight;
  for (int i = 0; i < n; ++i) trial.missing[i] += more * pattern.change.jump[i];
  for (std::size_t i = 0; i < size; ++i) {
    const int work = static_cast<int>(i) + n - layout_.integrated();
    // What contacts do follows from the velocities.
    if (work >= 0 && system_.audits()[work % layout_.audits].relation >= 0) continue;
    const double scale =
        work >= 0 ? recorder_.residuals.largest_energy() : scales_.sizes()[n + static_cast<int>(i)];
    const double rounding =
        4 * kEpsilon * (share * pattern.change.terms[i] + time * std::abs(trial.rest[n + i]));
    if (!(std::abs(trial.missing[i]) <= options_.tolerance * scale + rounding)) return false;
  }
  return true;
}

// Where something else happens during a hop, contacts that are open by no more than rounding then count as closed (mark_touching): whether all of the next hop is
// of that kind at contact r.
bool EventEngine::Run::hop_counts_as_closed(const Accumulation::Pattern& pattern, int r) {
  // What friction brakes on the way up and holds on the way down rises less than its time in the air says.
  constexpr double kLower = 4;
  if (!(phase_start_ > pattern.since)) return false;
  const double top = pattern.height * pattern.ratio * pattern.ratio;
  return top <= kLower * std::max(rounding_of_places(r), 8 * rounding_of(system_.relations()[r].gap));
}

// Whether a hop that follows can be met: it rises above the noise of a gap, and its length can be told from that of the one before.
bool EventEngine::Run::next_hop_is_seen(const Accumulation::Pattern& pattern) {
  const double flight = pattern.duration * pattern.ratio / pattern.length;
  const double instant = instant_of(pattern, pattern.size * pattern.ratio, system_, work_);
  if (!(flight * Accumulation::kSteady > instant)) return false;
  return std::any_of(pattern.members.begin(), pattern.members.end(), [&](int r) {
    return hop_is_seen(pattern, guards_.gap_noise(r)) && !hop_counts_as_closed(pattern, r);
  });
}

// Whether R is known: to the tolerance of the time, or as well as the times tell. A duration is known to two instants, r to twice that share of it, R to 1/(1 − r)² times what r
// is, and the end that the occurrence before foretold a little worse; both are in the doubt, which is 1/(1 − r) times their difference.
bool EventEngine::Run::end_is_known(Accumulation::Pattern& pattern) {
  const double instant = instant_of(pattern, pattern.size, system_, work_);
  const double tolerance = options_.tolerance * (t_ - options_.from);
  const double lack = 1 - pattern.ratio;
  const double known = std::max(tolerance, 8 * instant / (pattern.ratio * lack * lack * lack));
  if (pattern.doubt > known) accumulation_.slow_end(pattern, instant);
  return pattern.doubt <= known;
}

// Whether the impacts have become the tail of an accumulation. If so all contacts of the pattern touch now, and the tail's end is on the timetable.
bool EventEngine::Run::begin_tail() {
  Accumulation::Pattern& pattern = pattern_;
  if (!accumulation_.pattern(pattern)) return false;
  for (int r = 0; r < layout_.relations; ++r) {
    if (!tails_.runs(r)) continue;
    for (const int member : pattern.members) {
      if (accumulation_.connected(r, member)) return false;
    }
  }
  const double speed_scale = speed_along(system_, work_, scales_.sizes(), pattern.members);
  for (int r = 0; r < layout_.relations; ++r) {
    if (!contains(pattern.members, r) || !system_.relations()[r].has_normal) continue;
    const double gap_scale = guards_.gap_scale(r);
    // A contact of the pattern that is farther away than the tail reaches has no part in it.
    double gap = 0;
    double rate = 0;
    system_.gap(work_, r, gap, rate);
    if (gap > std::max(options_.tolerance * gap_scale, 8 * guards_.gap_noise(r))) return false;
    if (pattern.equal_time) {
      if (pattern.size > 10 * options_.tolerance * speed_scale)
        return false;  // smaller hops drown in the error of the steps
    } else if (pattern.height > std::max(options_.tolerance * gap_scale, 8 * guards_.gap_noise(r)) &&
               !hop_counts_as_closed(pattern, r)) {
      return false;
    }
  }
  if (!pattern.equal_time) {
    // The acceleration must not change noticeably within the remaining time.
    if (pattern.jerk * pattern.remaining * pattern.remaining > options_.tolerance * speed_scale) return false;
    // Bodies that hand each other their speeds in ever shorter times, whatever the forces, have speeds where there are no gaps any more.
    if (handed(pattern)) return false;
    // Hops are followed for as long as they are seen where it is not known when they end, or the closed contacts would move anything differently.
    const bool known = end_is_known(pattern);
    const bool alike = known && (pattern.change.all.empty() || hops_move_as_rest(pattern));
    if (!alike && next_hop_is_seen(pattern)) return false;
  }
  double end = pattern.equal_time ? t_ : t_ + pattern.remaining;
  if (end > options_.until) end = std::nextafter(options_.until, t_);
  for (const int r : pattern.members) {
    if (system_.relations()[r].has_normal)
      tails_.begin(r, end, static_cast<double>(pattern.count), pattern.remaining);
    if (mode_.normal[r] != NormalStatus::open) continue;
    touching_[r] = 1;
    fresh_relation_[r] = 1;
    close_gap(r);
  }
  accumulation_.finish_pattern();
  return true;
}

// A contact that touches now may open the contacts of a tail of the same block again: that tail ends here. False: the run is to stop at it.
bool EventEngine::Run::strike_tails() {
  bool struck = false;
  for (int r = 0; r < layout_.relations; ++r) {
    if (!tails_.runs(r)) continue;
    for (int k = 0; k < layout_.relations; ++k) {
      if (touching_[k] == 0 || !accumulation_.connected(r, k)) continue;
      tails_.cut(r, t_);
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
  const double energy = recorder_.residuals.energy(work_);
  for (int r = 0; r < layout_.relations; ++r) {
    const std::optional<Tail> tail = tails_.take(r, t_);
    if (!tail) continue;
    Event event;
    event.kind = EventKind::accumulation;
    event.place = r;
    event.numbers = {tail->count, tail->remaining};
    event.normal_impulse = tail->impulse + std::max(0.0, motion_.normal()[r]) * tail->remaining;
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      event.tangential_impulse[j] =
          tail->tangential[j] + motion_.tangent()[relation.first_tangent + j] * tail->remaining;
    }
    event.energy_before = event.energy_after = energy;
    recorder_.report(event, t_, time_bound_, mode_);
  }
  if (options_.on_accumulation == OnAccumulation::stop) {
    return fail({Reason::accumulation, t_, {}, "impacts accumulate here"});
  }
  return true;
}

}  // namespace judder::engines
