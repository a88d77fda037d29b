#include "engines/event/impact_tails.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engines/event/roundings.hpp"
#include "engines/event/rows.hpp"
#include "engines/event/sides.hpp"
#include "engines/event/step_record.hpp"
#include "engines/law_numbers.hpp"

namespace judder::engines {
namespace {

constexpr double kEpsilon = 2.220446049250313e-16;
constexpr double kMoves = 1e-6;  ///< share of the mobility of a gap below which the rows beside it hold it
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

ImpactTails::ImpactTails(Phase& now, InstantState& here, Roundings& rounding, Rows& rows, StepRecord& record,
                         Sides& sides)
    : now_(now),
      here_(here),
      rounding_(rounding),
      rows_(rows),
      record_(record),
      sides_(sides),
      accumulation_(now.decider.coupling().blocks(), now.decider.coupling().block_of()),
      tails_(now.layout.relations) {
  node_y_.resize(now_.motion.all_components());
}

// Moves the state onto gap = 0: by rounding only, since the step ended there. What rests on another contact or is held by a constraint stays where it is: a
// wall may come to what rests, and what the last bit of the time leaves of the gap then is nobody's.
void ImpactTails::close_gap(int relation) {
  const int n = now_.layout.coordinates;
  for (int iteration = 0; iteration < 3; ++iteration) {
    double gap = 0;
    double rate = 0;
    now_.system.gap(now_.work, relation, gap, rate);
    if (gap == 0) return;
    const model::RelationRows& rows = now_.system.relations()[relation].rows_constant
                                          ? now_.work.relation[relation]
                                          : now_.system.rows(now_.work, relation);
    if (iteration == 0) record_.note_gap(relation, gap, 0);
    rows.w.write(node_y_.data(), n);
    if (!now_.system.motion(now_.work)) return;
    now_.system.solve_mass(now_.work, node_y_.data());
    const auto slope_along = [&](const std::vector<double>& direction) {
      double sum = 0;
      for (const int i : now_.system.relations()[relation].touches) sum += rows.w[i] * direction[i];
      return sum;
    };
    const double free = slope_along(node_y_);
    if (now_.motion.holds()) now_.motion.keep_rows(node_y_.data());
    now_.motion.keep_on_gaps(node_y_.data());
    keep_on_surfaces(node_y_.data());
    const double slope = slope_along(node_y_);
    if (!(slope > kMoves * free)) return;
    for (int i = 0; i < n; ++i) now_.work.in[now_.layout.q() + i] -= node_y_[i] * gap / slope;
  }
}

// Takes from a displacement what would leave the surfaces that are slid or rested on: x stays at zero under −sign(x) where a gap closes beside it.
void ImpactTails::keep_on_surfaces(double* displacement) {
  const int n = now_.layout.coordinates;
  for (int k = 0; k < now_.layout.switches; ++k) {
    if (!now_.mode.slides(k)) continue;
    const expr::Program& surface = now_.system.switches()[k].surface;
    surface_memory_.resize(std::max(surface_memory_.size(),
                                    static_cast<std::size_t>(surface.outputs()) + now_.layout.coordinates));
    surface.evaluate(now_.work.in.data(), surface_memory_.data(), now_.work.registers.data());
    const double* gradient = surface_memory_.data() + 2;
    double* answer = surface_memory_.data() + surface.outputs();
    std::copy_n(gradient, n, answer);
    now_.system.solve_mass(now_.work, answer);
    double along = 0, square = 0;
    for (int i = 0; i < n; ++i) {
      along += gradient[i] * displacement[i];
      square += gradient[i] * answer[i];
    }
    if (along == 0 || !(square > 0)) continue;
    for (int i = 0; i < n; ++i) displacement[i] -= answer[i] * (along / square);
  }
}

// What the last bits of the coordinates may leave of a gap, at the state in work_; rows are evaluated.
double ImpactTails::rounding_of_places(int relation) const {
  const model::Row& w = now_.work.relation[relation].w;
  double terms = 0;
  for (std::size_t e = 0; e < w.values().size(); ++e)
    terms += std::abs(w.values()[e] * now_.work.in[now_.layout.q() + w.places()[e]]);
  return 256 * kEpsilon * terms;
}

// Whether the speeds of a pattern are more than its acceleration can give in the last occurrence and all that follow, and are seen: what falls back has half of that at most.
bool ImpactTails::handed(const Accumulation::Pattern& pattern) const {
  const double scale = speed_along(now_.system, now_.work, now_.scales.sizes(), pattern.members);
  return pattern.size > std::max(pattern.pushed, now_.options.tolerance * scale);
}

// Whether the impacts have become the tail of an accumulation. If so all contacts of the pattern touch now, and the tail's end is on the timetable.
bool ImpactTails::begin_tail() {
  Accumulation::Pattern& pattern = pattern_;
  if (!accumulation_.pattern(pattern)) return false;
  for (int r = 0; r < now_.layout.relations; ++r) {
    if (!tails_.runs(r)) continue;
    for (const int member : pattern.members) {
      if (accumulation_.connected(r, member)) return false;
    }
  }
  const double speed_scale = speed_along(now_.system, now_.work, now_.scales.sizes(), pattern.members);
  for (int r = 0; r < now_.layout.relations; ++r) {
    if (!contains(pattern.members, r) || !now_.system.relations()[r].has_normal) continue;
    const double gap_scale = now_.guards.gap_scale(r);
    // A contact of the pattern that is farther away than the tail reaches has no part in it.
    double gap = 0;
    double rate = 0;
    now_.system.gap(now_.work, r, gap, rate);
    if (gap > std::max(now_.options.tolerance * gap_scale, 8 * now_.guards.gap_noise(r))) return false;
    if (pattern.equal_time) {
      if (pattern.size > 10 * now_.options.tolerance * speed_scale)
        return false;  // smaller hops drown in the error of the steps
    } else if (pattern.height > std::max(now_.options.tolerance * gap_scale, 8 * now_.guards.gap_noise(r)) &&
               !hop_counts_as_closed(pattern, r)) {
      return false;
    }
  }
  if (!pattern.equal_time) {
    // The acceleration must not change noticeably within the remaining time.
    if (pattern.jerk * pattern.remaining * pattern.remaining > now_.options.tolerance * speed_scale)
      return false;
    // Bodies that hand each other their speeds in ever shorter times, whatever the forces, have speeds where there are no gaps any more.
    if (handed(pattern)) return false;
    // Hops are followed for as long as they are seen where it is not known when they end, or the closed contacts would move anything differently.
    const bool known = end_is_known(pattern);
    const bool alike = known && (pattern.change.all.empty() || hops_move_as_rest(pattern));
    if (!alike && next_hop_is_seen(pattern)) return false;
  }
  double end = pattern.equal_time ? now_.t : now_.t + pattern.remaining;
  if (end > now_.options.until) end = std::nextafter(now_.options.until, now_.t);
  for (const int r : pattern.members) {
    if (now_.system.relations()[r].has_normal)
      tails_.begin(r, end, static_cast<double>(pattern.count), pattern.remaining);
    if (now_.mode.normal[r] != NormalStatus::open) continue;
    here_.touching[r] = 1;
    here_.fresh_relation[r] = 1;
    close_gap(r);
  }
  accumulation_.finish_pattern();
  return true;
}

// Whether the hops that remain move everything as the closed contacts would in the same time. Velocities, states and works change as they have in the last occurrence,
// R/Δ times; at rest by the impact that closes the contacts, and by their rates then. What both do alike (the reaction in the mean, Coulomb's friction
// with the same coefficient) cancels; whatever else acts in flight, in impacts or at rest alone does not.
bool ImpactTails::hops_move_as_rest(const Accumulation::Pattern& pattern) {
  TailTrial& trial = tail_trial_;
  trial.inputs = now_.work.in;
  trial.touching = here_.touching;
  const std::size_t listed = now_.recorder.pending().size();
  const bool alike = closes_for_trial(pattern) && same_change(pattern);
  now_.recorder.pending().resize(listed);
  now_.work.in = trial.inputs;
  here_.touching = trial.touching;
  static_cast<void>(now_.motion.set_mode(now_.mode) && now_.motion.evaluate());
  now_.motion.release_pins();
  return alike;
}

bool ImpactTails::closes_for_trial(const Accumulation::Pattern& pattern) {
  const int n = now_.layout.coordinates;
  TailTrial& trial = tail_trial_;
  trial.mode = now_.mode;
  for (const int r : pattern.members) {
    if (now_.mode.normal[r] != NormalStatus::open) continue;
    here_.touching[r] = strikes;
    close_gap(r);
  }
  if (!now_.collider.collide(trial.mode, here_.touching, true, now_.recorder.pending()).ok()) return false;
  take_sides_of_rest(trial.mode);
  if (!now_.decider.decide(trial.mode, here_.no_exclusions).ok()) return false;
  for (const int r : pattern.members) {
    if (trial.mode.normal[r] == NormalStatus::open) return false;
  }
  trial.jump.assign(n, 0.0);
  for (int i = 0; i < n; ++i)
    trial.jump[i] = now_.work.in[now_.layout.v() + i] - trial.inputs[now_.layout.v() + i];
  if (!now_.motion.set_mode(trial.mode)) return false;
  trial.y = now_.y;
  std::copy_n(now_.work.in.begin() + 1, now_.layout.integrated(), trial.y.begin());
  trial.rest.assign(now_.y.size(), 0.0);
  return now_.motion(now_.work.in[0], trial.y.data(), trial.rest.data());
}

bool ImpactTails::same_change(const Accumulation::Pattern& pattern) {
  const int n = now_.layout.coordinates;
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
    const model::RelationRows& rows = now_.system.rows(now_.work, r);
    double rate = 0;
    double given = 0;
    for (const int i : now_.system.relations()[r].touches) {
      rate += rows.w[i] * trial.missing[i];
      given += rows.w[i] * pattern.change.jump[i];
    }
    more -= rate * given;
    weight += given * given;
  }
  if (weight > 0) more /= weight;
  for (int i = 0; i < n; ++i) trial.missing[i] += more * pattern.change.jump[i];
  for (std::size_t i = 0; i < size; ++i) {
    const int work = static_cast<int>(i) + n - now_.layout.integrated();
    // What contacts do follows from the velocities.
    if (work >= 0 && now_.system.audits()[work % now_.layout.audits].relation >= 0) continue;
    const double scale =
        work >= 0 ? now_.recorder.residuals.largest_energy() : now_.scales.sizes()[n + static_cast<int>(i)];
    const double rounding =
        4 * kEpsilon * (share * pattern.change.terms[i] + time * std::abs(trial.rest[n + i]));
    if (!(std::abs(trial.missing[i]) <= now_.options.tolerance * scale + rounding)) return false;
  }
  return true;
}

// Where something else happens during a hop, contacts that are open by no more than rounding then count as closed (mark_touching): whether all of the next hop is
// of that kind at contact r.
bool ImpactTails::hop_counts_as_closed(const Accumulation::Pattern& pattern, int r) {
  // What friction brakes on the way up and holds on the way down rises less than its time in the air says.
  constexpr double kLower = 4;
  if (!(now_.phase_start > pattern.since)) return false;
  const double top = pattern.height * pattern.ratio * pattern.ratio;
  return top <=
         kLower * std::max(rounding_of_places(r), 8 * rounding_.rounding_of(now_.system.relations()[r].gap));
}

// Whether a hop that follows can be met: it rises above the noise of a gap, and its length can be told from that of the one before.
bool ImpactTails::next_hop_is_seen(const Accumulation::Pattern& pattern) {
  const double flight = pattern.duration * pattern.ratio / pattern.length;
  const double instant = instant_of(pattern, pattern.size * pattern.ratio, now_.system, now_.work);
  if (!(flight * Accumulation::kSteady > instant)) return false;
  return std::any_of(pattern.members.begin(), pattern.members.end(), [&](int r) {
    return hop_is_seen(pattern, now_.guards.gap_noise(r)) && !hop_counts_as_closed(pattern, r);
  });
}

// Whether R is known: to the tolerance of the time, or as well as the times tell. A duration is known to two instants, r to twice that share of it, R to 1/(1 − r)² times what r
// is, and the end that the occurrence before foretold a little worse; both are in the doubt, which is 1/(1 − r) times their difference.
bool ImpactTails::end_is_known(Accumulation::Pattern& pattern) {
  const double instant = instant_of(pattern, pattern.size, now_.system, now_.work);
  const double tolerance = now_.options.tolerance * (now_.t - now_.options.from);
  const double lack = 1 - pattern.ratio;
  const double known = std::max(tolerance, 8 * instant / (pattern.ratio * lack * lack * lack));
  if (pattern.doubt > known) accumulation_.slow_end(pattern, instant);
  return pattern.doubt <= known;
}

// The sides that switches have by value at the state in work_.in; on a surface the one that it is left to, or the one of zero.
void ImpactTails::take_sides_of_rest(Mode& mode) {
  for (int k = 0; k < now_.layout.switches; ++k) {
    const model::SwitchInfo& info = now_.system.switches()[k];
    if (info.time_only || mode.slides(k) || sides_.contains_sliding(k) || !now_.system.live(now_.work, k))
      continue;
    double value = 0;
    double lower = 0;
    info.value.evaluate(now_.work.in.data(), &value, now_.work.registers.data());
    const double distance = distance_from_level(info, value, lower);
    const bool away = std::abs(distance) > kRoundingUnits * rounding_.surface_rounding(k);
    const double leaves = away ? distance : sides_.direction_by_speed(k);
    mode.surface[k] = leaves == 0 ? AtSurface::held : AtSurface::away;
    mode.side[k] = lower + (leaves == 0 ? info.at_zero : leaves > 0 ? 1 : 0);
    now_.work.in[now_.layout.side() + k] = mode.side[k];
  }
}

// A contact that touches now may open the contacts of a tail of the same block again: that tail ends here. False: the run is to stop at it.
bool ImpactTails::strike_tails() {
  bool struck = false;
  for (int r = 0; r < now_.layout.relations; ++r) {
    if (!tails_.runs(r)) continue;
    for (int k = 0; k < now_.layout.relations; ++k) {
      if (here_.touching[k] == 0 || !accumulation_.connected(r, k)) continue;
      tails_.cut(r, now_.t);
      struck = true;
      break;
    }
  }
  return !struck || end_tail();
}

bool ImpactTails::finish_accumulation() {
  rows_.rows_before_event();
  now_.load();
  if (!now_.motion.evaluate())
    return now_.fail(
        {Reason::not_finite, now_.t, {}, "the equations of motion give no finite number at an event"});
  if (!end_tail()) {
    rows_.rows_after_event();
    return false;
  }
  rows_.rows_after_event();
  return true;
}

// Lists the accumulations whose tails end here. False: the run is to stop at them.
bool ImpactTails::end_tail() {
  const double energy = now_.recorder.residuals.energy(now_.work);
  for (int r = 0; r < now_.layout.relations; ++r) {
    const std::optional<Tail> tail = tails_.take(r, now_.t);
    if (!tail) continue;
    Event event;
    event.kind = EventKind::accumulation;
    event.place = r;
    event.numbers = {tail->count, tail->remaining};
    event.normal_impulse = tail->impulse + std::max(0.0, now_.motion.normal()[r]) * tail->remaining;
    const model::Relation& relation = now_.system.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      event.tangential_impulse[j] =
          tail->tangential[j] + now_.motion.tangent()[relation.first_tangent + j] * tail->remaining;
    }
    event.energy_before = event.energy_after = energy;
    now_.recorder.report(event, now_.t, now_.time_bound, now_.mode);
  }
  if (now_.options.on_accumulation == OnAccumulation::stop) {
    return now_.fail({Reason::accumulation, now_.t, {}, "impacts accumulate here"});
  }
  return true;
}

}  // namespace judder::engines
