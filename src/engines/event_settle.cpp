// The next mode: sides, impacts and decisions until nothing changes, and the phase that then begins (docs/theory.md, "An instant").
#include <algorithm>
#include <cmath>
#include <limits>

#include "event_run.hpp"
#include "judder/core/number.hpp"

namespace judder::engines {
namespace {

constexpr double kDecisionTolerance = 1e-10;  ///< inequalities hold to this times the scale of their row
constexpr int kMostTangentialImpacts = 100;   ///< at one instant
constexpr int kMostRounds = 50;               ///< of sides and decisions at one instant
constexpr int kMostImpacts = 1000;            ///< one after another at one instant

/// Whether the potential energy is the same on both sides of the surfaces of place that have been crossed. Where it jumps, its force is an impulse that no
/// equation of motion has. Energies that a switch of time or of a state changes come from outside.
bool potential_continues(const model::System& system, model::Workspace& work,
                         const std::vector<double>& before, const std::vector<double>& after,
                         double tolerance, double energy, std::span<const double> sizes, double time,
                         Status& status) {
  constexpr double kRounding = 1e-12;  ///< of the potential
  const model::Layout& layout = system.layout();
  int crossed = -1;
  for (int k = layout.switches - 1; k >= 0; --k) {
    const model::SwitchInfo& info = system.switches()[k];
    work.in[layout.side() + k] = after[k];
    if (before[k] == after[k] || info.kind == expr::SwitchKind::smooth) continue;
    if (info.time_only) return true;  // what jumps with the time may move a surface over the place
    if (!info.sees.empty() && info.rate.outputs() > 0) crossed = k;
  }
  if (crossed < 0) return true;
  double kinetic = 0, total = 0, here = 0, there = 0;
  system.energies(work, kinetic, here, total);
  // The place of the crossing is known to the tolerance, and energies to what forces do along that.
  double along = 0;
  const auto note_forces = [&] {
    if (!system.motion(work)) return;
    double sum = 0;
    for (int i = 0; i < layout.coordinates; ++i)
      sum += std::abs(work.force[i]) * std::max(sizes[i], std::abs(work.in[layout.q() + i]));
    along = std::max(along, sum);
  };
  note_forces();
  for (int k = crossed; k < layout.switches; ++k) {
    const model::SwitchInfo& info = system.switches()[k];
    if (!info.sees.empty() && info.rate.outputs() > 0) work.in[layout.side() + k] = before[k];
  }
  system.energies(work, kinetic, there, total);
  note_forces();
  for (int k = 0; k < layout.switches; ++k) work.in[layout.side() + k] = after[k];
  const double slack =
      tolerance * std::max(energy, along) + kRounding * std::max(std::abs(here), std::abs(there));
  if (!std::isfinite(here) || !std::isfinite(there) || std::abs(here - there) <= slack) return true;
  if (status.reason == Reason::done)
    status = {
        Reason::discontinuous, time, system.switches()[crossed].place,
        "the potential energy jumps from " + to_text(there) + " to " + to_text(here) +
            " where a switch changes its side; write branches that meet there, or a contact where a body is "
            "to be stopped"};
  return false;
}

}  // namespace

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
    // At the knots of bump and of cubic tables only the form of the formula changes.
    for (int k = 0; k < layout_.switches; ++k) {
      const bool smooth = system_.switches()[k].kind == expr::SwitchKind::smooth;
      work_.in[layout_.side() + k] = smooth ? mode_.side[k] : reference_.side[k];
    }
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
  // What jumps without inertia and damper moves its surfaces with it.
  if (may_jump_) return true;
  return potential_continues(system_, work_, reference_.side, mode_.side, options_.tolerance,
                             recorder_.residuals.largest_energy(), scales_.sizes(), t_, result_.status);
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

// Massless coordinates go where the forces balance with the statuses as they are: their speeds jump with the forces. What would jump against its
// slip rests instead.
bool EventEngine::Run::follow_massless() {
  load_statuses();
  if (!decider_.follow_massless(mode_, exclusions_))
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
  bool struck = false;
  if (may_jump_) note_before_jump();
  int impacts = 0;
  for (int round = 0; round < kMostRounds + std::min(impacts, kMostImpacts) && !settled; ++round) {
    patience_.look();
    motion_.load(t_, y_.data());
    if (has_massless_ && !follow_massless()) return false;
    if (!decided) wake_unloaded();
    const bool sides = sides_by_value();
    const bool jumped =
        sides || crossed || (round == 0 && !changed_.empty() && mode_.side != reference_.side);
    bool moved = false;  // a status that the jump of a rate has changed
    if (jumped) {
      // What was decided with other sides is decided again, from what is known of this instant.
      if (decided && sides) {
        mode_.normal = entering_.normal;
        mode_.pressed = entering_.pressed;
        mode_.tangent = entering_.tangent;
        keep_node_exclusions(mode_.side, kept_exclusions_);
        std::swap(exclusions_, kept_exclusions_);
      }
      // What an event ended was seen with the sides before: where an impact has changed one, what follows tells.
      if (struck && sides) exclusions_.clear();
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
      struck = true;
      if (!touch()) return false;
      ++impacts;
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
  const bool jumped = may_jump_ && add_jump_work();
  const bool goes_on = tails_.first_end() != t_ || end_tail();
  if (!quiet_) {
    list_changes();
    list_watch_jumps();
    // Impacts have energies of their own.
    if (jumped && !struck) {
      for (Event& event : recorder_.pending()) {
        event.energy_before = energy_before_jump_;
        event.energy_after = recorder_.residuals.energy(work_);
      }
    }
    recorder_.report_pending(t_, time_bound_, mode_);
    if (recorder_.untold()) quiet_rows_ = false;
    if (!quiet_rows_) rows_after_event();
  }
  recorder_.pending().clear();
  return goes_on;
}

// Of several rows that are at their limits together some may hold on: it is enough that one lets go. Where any of several would do, the one is taken that
// leaves most rows at rest, and among those the one with the smallest accelerations, whatever the order in which rows are written.
bool EventEngine::Run::let_one_go(Mode& mode) {
  constexpr std::uint16_t kStick = contact::bit(contact::RowStatus::stick);
  constexpr double kSame = 1e-9;  ///< relative difference of accelerations that is none
  const Mode known = mode;
  const std::vector<double> inputs = work_.in;
  Decider::Exclusions one = no_exclusions_;
  int chosen = -1;
  long most = 0;
  double least = 0;
  for (int j = 0; j < layout_.tangents; ++j) {
    if ((exclusions_.tangent[j] & kStick) == 0) continue;
    Mode other = known;
    one.tangent[j] = kStick;
    const Status again = decider_.decide(other, one, kDecisionTolerance);
    one.tangent[j] = 0;
    if (!again.ok()) continue;
    const long rests = std::count(other.tangent.begin(), other.tangent.end(), TangentStatus::stick);
    if (chosen >= 0 && (rests < most || other == mode)) continue;
    // v̇ᵀ M v̇: the power of the forces that these accelerations need.
    double size = 0;
    motion_.load(t_, y_.data());
    if (motion_.set_mode(other) && motion_.evaluate()) {
      const std::span<const double> a = motion_.acceleration();
      system_.apply_mass(work_, a.data(), node_y_.data());
      for (int i = 0; i < layout_.coordinates; ++i) size += a[i] * node_y_[i];
    }
    motion_.release_pins();
    std::copy(inputs.begin(), inputs.end(), work_.in.begin());
    if (chosen >= 0 && most == rests && !(size < least * (1 - kSame))) continue;
    chosen = j;
    most = rests;
    least = size;
    mode = other;
  }
  if (chosen < 0) return false;
  mode = known;
  one.tangent[chosen] = kStick;
  return decider_.decide(mode, one, kDecisionTolerance).ok();
}

// Contacts that rounding may have decided: forces that balance, or a wall whose acceleration passes zero at this instant, leave a number whose sign means
// nothing. Their floors are raised so that it counts as nothing. True: there are some, and the decision is to be made again.
bool EventEngine::Run::decided_by_rounding(const Mode& before, const Mode& mode) {
  constexpr double kNothing = 1e-6;  ///< share of the largest reaction so far that rounding does not reach
  bool any = false;
  bool known = false;
  for (int r = 0; r < layout_.relations; ++r) {
    if (before.normal[r] != NormalStatus::closed) continue;
    if ((exclusions_.normal[r] & contact::bit(contact::RowStatus::closed)) != 0) continue;
    if (!known) {
      if (!system_.motion(work_)) return false;
      std::copy_n(work_.force.begin(), layout_.coordinates, landing_y_.begin());
      system_.solve_mass(work_, landing_y_.data());
      known = true;
    }
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = system_.rows(work_, r);
    rows.w.write(node_y_.data(), layout_.coordinates);
    system_.solve_mass(work_, node_y_.data());
    double response = 0;
    double acceleration = rows.zeta_n;
    for (const int i : relation.touches) {
      response += rows.w[i] * node_y_[i];
      acceleration += rows.w[i] * landing_y_[i];
    }
    if (!(response > 0)) continue;
    // What presses as it has pressed before is more than rounding.
    const double force = -acceleration / response;
    const double usual = decider_.force_floor[r];
    if (mode.normal[r] == NormalStatus::closed && force > kNothing * usual && force < usual) continue;
    enclose(system_.motion_program());
    double rounding = 0;
    for (int i = 0; i < layout_.coordinates; ++i) rounding += std::abs(node_y_[i]) * enclosure_.width(i);
    if (!relation.rows_constant) {
      enclose(relation.rows);
      rounding += enclosure_.width(relation.row_begin(-1) + 1);  // ζ_N
    }
    const double floor = rounding / (response * kDecisionTolerance);
    if (!(floor > usual)) continue;
    decider_.force_floor[r] = floor;
    any = any || mode.normal[r] == NormalStatus::open || force < rounding / response;
  }
  return any;
}

bool EventEngine::Run::decide_with(Mode& mode, Status& status) {
  for (int r = 0; r < layout_.relations; ++r) decider_.force_floor[r] = guards_.normal_scale(r);
  for (int j = 0; j < layout_.tangents; ++j)
    decider_.force_floor[layout_.relations + j] = guards_.tangent_scale(j);
  deciding_ = mode;
  status = decider_.decide(mode, exclusions_, kDecisionTolerance);
  // Without one of them another may open: each is asked once.
  while (status.ok() && decided_by_rounding(deciding_, mode)) {
    decided_ = deciding_;
    if (!decider_.decide(decided_, exclusions_, kDecisionTolerance).ok()) break;
    mode = decided_;
  }
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
    if (let_one_go(mode)) status = {};
  }
  result_.undecided_ties += decider_.undecided_ties();
  if (!decider_.reactions_unique()) result_.reactions_not_unique = true;
  if (decider_.unchecked()) result_.uniqueness_unchecked = true;
  // A node whose friction is overcome at once has gone where it balances.
  if (status.ok() && decider_.any_on_massless()) motion_.take_massless(y_.data());
  if (status.ok()) free_unloaded(mode);
  return status.ok();
}

// No reaction, or several. True: the run goes on, with mode_ decided.
bool EventEngine::Run::paradox(Status status) {
  if (probing_) return false;
  // Attempts with other exclusions have come after the one that the status tells about.
  int relation = layout_.relations - 1;
  while (relation >= 0 && system_.relations()[relation].place != status.where) --relation;
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
  recorder_.pending().push_back(event);

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
    if (collider_.tangential_impact(mode_, relation, false, recorder_.pending())) {
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
  recorder_.report_pending(t_, time_bound_, mode_);
  return fail(std::move(status));
}

// Whether a change of the side of switch k makes what the rate of the surface of j sees jump.
bool EventEngine::Run::acts_on(int k, int j) const {
  const model::SwitchInfo& by = system_.switches()[k];
  const model::SwitchInfo& on = system_.switches()[j];
  // A kink acts on both of its sides alike where it is met.
  if (by.time_only || by.kind != expr::SwitchKind::jump) return false;
  if (contains(on.inner, k) || contains(by.inner, j)) return false;
  const auto meet = [](const std::vector<int>& a, const std::vector<int>& b) {
    return std::any_of(a.begin(), a.end(), [&](int i) { return contains(b, i); });
  };
  if (meet(by.moves, on.sees) || meet(by.feeds, on.sees_states)) return true;
  return std::any_of(by.relations.begin(), by.relations.end(),
                     [&](int r) { return meet(system_.relations()[r].touches, on.sees); });
}

bool EventEngine::Run::at_zero(int k) {
  const model::SwitchInfo& info = system_.switches()[k];
  if (!system_.live(work_, k)) return false;
  double s = 0;
  double lower = 0;
  info.value.evaluate(work_.in.data(), &s, work_.registers.data());
  return std::abs(distance_from_level(info, s, lower)) <= kRoundingUnits * surface_rounding(k);
}

// Two switches that are slid on at one surface, written differently (step(x') and floor(1 + x')), jump together; with a weight for each, the
// motion would be one of many, and leave the surface at any time or never.
bool EventEngine::Run::slides_apart() {
  const int n = layout_.coordinates;
  const int width = n + layout_.states;
  for (int j = 0; j < layout_.switches; ++j) {
    if (mode_.surface[j] != AtSurface::slides) continue;
    for (int k = 0; k < layout_.switches; ++k) {
      if (k == j || (k < j && mode_.surface[k] == AtSurface::slides) || !acts_on(k, j)) continue;
      if (mode_.surface[k] == AtSurface::away && !at_zero(k)) continue;
      std::vector<double>& other = landing_y_;
      const auto slope = [&](int of) {
        const model::SwitchInfo& info = system_.switches()[of];
        surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), info.surface.outputs()));
        info.surface.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
        return surface_memory_.data() + 2 + n;  // by velocities and states
      };
      std::copy_n(slope(j), width, other.begin());
      if (parallel_to(slope(k), other.data(), width) == 0) continue;
      return fail({Reason::indeterminate, t_, system_.switches()[j].place,
                   "the motion slides on a surface at which two switches jump (the other: " +
                       system_.switches()[k].place +
                       "); write both with the same argument, and they are one"});
    }
  }
  return true;
}

// Where the motion cannot be followed on a surface that it rests on: the surfaces are slid on again, for the engine that takes the run over. The first of
// them, −1: there is none.
int EventEngine::Run::take_back_rests() {
  int first = -1;
  for (int k = layout_.switches - 1; k >= 0 && !can_rest(); --k) {
    if (mode_.surface[k] != AtSurface::rests) continue;
    mode_.surface[k] = phase_.mode.surface[k] = AtSurface::slides;
    first = k;
  }
  return first;
}

// Sets the decided mode in motion.
bool EventEngine::Run::restart() {
  scales_.recall_states();
  reset_bristles();
  phase_.time = t_;
  phase_.y.assign(y_.begin(), y_.begin() + layout_.integrated());
  phase_.mode = mode_;
  motion_.load(t_, y_.data());
  recorder_.load_works(y_.data(), work_);
  if (!motion_.set_mode(mode_)) {
    return fail({work_.mass_failed ? Reason::singular_mass : Reason::not_finite,
                 t_,
                 {},
                 "the equations of motion cannot be evaluated in the new mode"});
  }
  for (int k = 0; k < layout_.switches; ++k) {
    const model::SwitchInfo& info = system_.switches()[k];
    if (!info.resolves(mode_.side[k]) && system_.live(work_, k)) {
      return fail({Reason::not_finite, t_, info.place,
                   "floor or mod of a number above 2^50: the arithmetic does not tell its steps apart"});
    }
  }
  if (!slides_apart()) return false;
  methods_.begin(motion_.components());  // what they know of the last mode would mislead Newton's iteration
  if (motion_.active() > 0) static_cast<void>(motion_.project(t_, y_.data(), false));
  motion_.load(t_, y_.data());
  if (!motion_.evaluate()) {
    if (const int k = take_back_rests(); k >= 0)
      return fail({Reason::unsupported,
                   t_,
                   {},
                   "the exact engine cannot go on: the motion rests on the surface of " +
                       system_.switches()[k].place});
    return fail(
        {Reason::not_finite, t_, {}, "the equations of motion give no finite number in the new mode"});
  }
  if (motion_.slides()) mode_ = motion_.mode();  // with the coefficients of the sliding switches
  if (motion_.slides() && !shares_unique()) return false;
  motion_.note_terms();
  project_sliding();
  if (motion_.redundant()) guards_.sharing.set_mode(mode_);
  take_observed();
  note_pushes();
  guards_.build(push_zeros_);
  set_guard_zeros();
  if (negative_joint_ >= 0) {
    return fail({Reason::negative_normal, t_, system_.relations()[negative_joint_].place,
                 "the normal force of the joint becomes negative; write abs() or max() where its sign "
                 "may change"});
  }
  for (int r = 0; r < layout_.relations; ++r) {
    if (mode_.normal[r] == NormalStatus::open && !system_.relations()[r].compliant) recorder_.close(r, t_);
  }
  note_reactions(0);
  have_f0_ = false;
  end_phase();
  return true;
}

}  // namespace judder::engines
