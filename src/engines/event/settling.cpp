#include "engines/event/settling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engines/accumulation.hpp"
#include "engines/event/decisions.hpp"
#include "engines/event/guard_zeros.hpp"
#include "engines/event/impact_tails.hpp"
#include "engines/event/node_jumps.hpp"
#include "engines/event/roundings.hpp"
#include "engines/event/rows.hpp"
#include "engines/event/side_trials.hpp"
#include "engines/event/sides.hpp"
#include "engines/event/sliding.hpp"
#include "engines/event/step_record.hpp"
#include "engines/event/strikes.hpp"
#include "engines/event/surface_decision.hpp"
#include "engines/event/trial.hpp"
#include "engines/event/watching.hpp"
#include "judder/core/number.hpp"

namespace judder::engines {
namespace {

constexpr int kMostRounds = 50;     ///< of sides and decisions at one instant
constexpr int kMostImpacts = 1000;  ///< one after another at one instant
/// Whether the potential energy is the same on both sides of the surfaces of place that have been crossed. Where it jumps, its force is an impulse that no
/// equation of motion has. Energies that a switch of time or of a state changes come from outside.
/// `rounding` of a surface, at the state in work: what its value may be off by.
template <class Rounding>
bool potential_continues(const model::System& system, model::Workspace& work,
                         const std::vector<double>& before, const std::vector<double>& after,
                         double tolerance, double energy, std::span<const double> sizes, double time,
                         const Rounding& rounding, Status& status) {
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
  // The place of the crossing is known to the tolerance, and to the rounding of its surface (a wall that comes back to what rests); energies to what forces do along that.
  const expr::Program& surface = system.switches()[crossed].surface;
  constexpr std::size_t kFew = 128;
  std::array<double, kFew> few{};
  std::vector<double> many(surface.outputs() > static_cast<int>(kFew) ? surface.outputs() : 0);
  double* const slopes = many.empty() ? few.data() : many.data();
  surface.evaluate(work.in.data(), slopes, work.registers.data());
  const double off = rounding(crossed);
  double along = 0, within = 0;
  const auto note_forces = [&] {
    if (!system.motion(work)) return;
    double sum = 0, rounded = 0;
    for (int i = 0; i < layout.coordinates; ++i) {
      sum += std::abs(work.force[i]) * std::max(sizes[i], std::abs(work.in[layout.q() + i]));
      const double slope = std::abs(slopes[2 + i]);
      if (slope > 0) rounded += std::abs(work.force[i]) * off / slope;
    }
    along = std::max(along, sum);
    within = std::max(within, rounded);
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
      tolerance * std::max(energy, along) + kRounding * std::max(std::abs(here), std::abs(there)) + within;
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

Settling::Settling(Phase& now, InstantState& here, Roundings& rounding, Rows& rows, Trial& trial,
                   StepRecord& record, Sides& sides, Decisions& decisions, ImpactTails& tails,
                   Strikes& impacts, NodeJumps& jumps, Watching& watching, Sliding& sliding,
                   SideTrials& trials, SurfaceDecision& decision, GuardZeros& guard_zeros)
    : now_(now),
      here_(here),
      rounding_(rounding),
      rows_(rows),
      trial_(trial),
      record_(record),
      sides_(sides),
      decisions_(decisions),
      tails_(tails),
      impacts_(impacts),
      jumps_(jumps),
      watching_(watching),
      sliding_(sliding),
      trials_(trials),
      decision_(decision),
      guard_zeros_(guard_zeros) {
  landing_y_.resize(now_.motion.all_components());
}

// Decides the mode, lists what changed, and starts the next phase: sides and directions by value, impacts, then what the motion decides, until
// nothing changes any more (mechanics: docs/theory.md, "An instant").
bool Settling::settle() {
  here_.seen_open.clear();
  here_.tangential_impacts = 0;
  bool decided = false;
  bool settled = false;
  bool crossed = false;  // a decision has changed a side
  bool struck = false;
  if (now_.may_jump) jumps_.note_before_jump();
  int impacts = 0;
  for (int round = 0; round < kMostRounds + std::min(impacts, kMostImpacts) && !settled; ++round) {
    now_.patience.look();
    now_.load();
    if (now_.has_massless && !decisions_.follow_massless()) return false;
    if (!decided) decisions_.wake_unloaded();
    const bool sides = sides_.sides_by_value();
    const bool jumped =
        sides || crossed || (round == 0 && !here_.changed.empty() && now_.mode.side != here_.reference.side);
    bool moved = false;  // a status that the jump of a rate has changed
    if (jumped) {
      // What was decided with other sides is decided again, from what is known of this instant.
      if (decided && sides) {
        now_.mode.normal = here_.entering.normal;
        now_.mode.pressed = here_.entering.pressed;
        now_.mode.tangent = here_.entering.tangent;
        decisions_.keep_node_exclusions(now_.mode.side, here_.kept_exclusions);
        std::swap(here_.exclusions, here_.kept_exclusions);
      }
      // What an event ended was seen with the sides before: where an impact has changed one, what follows tells.
      if (struck && sides) here_.exclusions.clear();
      known_ = now_.mode;
      if (sides_.rates_by_value(false, decided && !sides)) here_.strikes = true;
      moved = !(known_ == now_.mode);
    }
    if (!decided || sides) here_.entering = now_.mode;
    crossed = false;
    sides_.list_switch_changes();
    if (!here_.quiet && !gaps_continue()) return false;
    // A contact that opened or was open with a gap of zero may approach now: that is an impact of the same instant.
    if (!here_.strikes) {
      std::fill(here_.touching.begin(), here_.touching.end(), std::uint8_t{0});
      here_.strikes = impacts_.mark_touching();
      if (here_.strikes && decided) here_.exclusions.clear();
      if (!here_.strikes && !decided) impacts_.join_touching();
    }
    if (here_.strikes) {
      here_.strikes = false;
      decided = false;
      struck = true;
      if (!impacts_.touch()) return false;
      ++impacts;
      if (round > 0) here_.exclusions.clear();
      // A slip that an impact leaves has its direction by value, whatever it was to end with.
      for (int j = 0; j < now_.layout.tangents; ++j) {
        if (direction(now_.mode.tangent[j]) != 0) here_.exclusions.tangent[j] = 0;
      }
      continue;
    }
    // A slide has put the state onto its surface: what is at zero only now is decided too.
    bool joined = false;
    for (const int k : here_.open) joined = joined || !contains(here_.seen_open, k);
    settled = decided && !sides && !moved && !joined;
    if (settled) break;
    sides_before_ = now_.mode.side;
    if (!decision_.decide_surfaces()) return false;
    if (take_open_surfaces() && !here_.quiet) {
      sides_.shift_slips(-1);
      sliding_.project_sliding();
      sides_.shift_slips(1);
    }
    crossed = !here_.quiet && now_.mode.side != sides_before_;
    sides_.list_switch_changes();
    decided = true;
  }
  if (!settled) {
    std::string names;
    for (const int k : here_.open) names += (names.empty() ? "" : ", ") + now_.system.switches()[k].place;
    return now_.fail({Reason::indeterminate, now_.t, names,
                      "switches and contacts change each other's sides in a circle at this instant"});
  }
  for (int r = 0; r < now_.layout.relations; ++r) {
    if (now_.mode.normal[r] != here_.reference.normal[r]) here_.fresh_relation[r] = 1;
  }
  for (int j = 0; j < now_.layout.tangents; ++j) {
    if (now_.mode.tangent[j] != here_.reference.tangent[j]) here_.fresh_tangent[j] = 1;
  }
  if (!restart()) return false;
  const bool jumped = now_.may_jump && jumps_.add_jump_work();
  const bool goes_on = tails_.tails().first_end() != now_.t || tails_.end_tail();
  if (!here_.quiet) {
    rows_.list_changes();
    watching_.list_watch_jumps();
    // Impacts have energies of their own.
    if (jumped && !struck) {
      for (Event& event : now_.recorder.pending()) {
        event.energy_before = jumps_.energy_before();
        event.energy_after = now_.recorder.residuals.energy(now_.work);
      }
    }
    now_.recorder.report_pending(now_.t, now_.time_bound, now_.mode);
    if (now_.recorder.untold()) here_.quiet_rows = false;
    if (!here_.quiet_rows) rows_.rows_after_event();
  }
  now_.recorder.pending().clear();
  return goes_on;
}

// Where a switch changes side no gap may jump: a closed contact would have to leap, an open one would find itself inside the other body.
bool Settling::gaps_continue() {
  if (now_.mode.side == here_.reference.side) return true;
  now_.load();
  for (int r = 0; r < now_.layout.relations; ++r) {
    const model::Relation& relation = now_.system.relations()[r];
    if (!relation.has_normal || !relation.holonomic) continue;
    double before = 0;
    double after = 0;
    double rate = 0;
    double slack = now_.options.tolerance * now_.guards.gap_scale(r);
    // At the knots of bump and of cubic tables only the form of the formula changes.
    for (int k = 0; k < now_.layout.switches; ++k) {
      const bool smooth = now_.system.switches()[k].kind == expr::SwitchKind::smooth;
      now_.work.in[now_.layout.side() + k] = smooth ? now_.mode.side[k] : here_.reference.side[k];
    }
    now_.system.gap(now_.work, r, before, rate);
    slack += 8 * rounding_.rounding_of(relation.gap);
    for (int k = 0; k < now_.layout.switches; ++k) now_.work.in[now_.layout.side() + k] = now_.mode.side[k];
    now_.system.gap(now_.work, r, after, rate);
    slack += 8 * rounding_.rounding_of(relation.gap);
    const bool open = now_.mode.normal[r] == NormalStatus::open;
    // An open gap may be a little below zero before, where its contact is about to close: it must not be deeper afterwards.
    if (open ? after >= std::min(before, 0.0) - slack : std::abs(after - before) <= slack) continue;
    return now_.fail({Reason::discontinuous, now_.t, relation.place,
                      "the gap jumps from " + to_text(before) + " to " + to_text(after) +
                          " where a switch changes its side; write branches that meet there"});
  }
  // What jumps without inertia and damper moves its surfaces with it.
  if (now_.may_jump) return true;
  return potential_continues(
      now_.system, now_.work, here_.reference.side, now_.mode.side, now_.options.tolerance,
      now_.recorder.residuals.largest_energy(), now_.scales.sizes(), now_.t,
      [this](int k) { return kRoundingUnits * rounding_.surface_rounding(k); }, now_.result.status);
}

// Notes the surfaces at zero that this instant has decided. True: some are slid on.
bool Settling::take_open_surfaces() {
  bool slides = false;
  for (int k = 0; k < now_.layout.switches; ++k) {
    if (here_.carried[k] == 0) continue;
    slides = slides || now_.mode.slides(k);
    if (!contains(here_.seen_open, k))
      here_.seen_open.insert(std::lower_bound(here_.seen_open.begin(), here_.seen_open.end(), k), k);
  }
  return slides;
}

// Sets the decided mode in motion.
bool Settling::restart() {
  now_.scales.recall_states();
  reset_bristles();
  now_.entry.time = now_.t;
  now_.entry.y.assign(now_.y.begin(), now_.y.begin() + now_.layout.integrated());
  now_.entry.mode = now_.mode;
  now_.load();
  now_.recorder.load_works(now_.y.data(), now_.work);
  if (!now_.motion.set_mode(now_.mode)) {
    return now_.fail({now_.work.mass_failed ? Reason::singular_mass : Reason::not_finite,
                      now_.t,
                      {},
                      "the equations of motion cannot be evaluated in the new mode"});
  }
  for (int k = 0; k < now_.layout.switches; ++k) {
    const model::SwitchInfo& info = now_.system.switches()[k];
    if (!info.resolves(now_.mode.side[k]) && now_.system.live(now_.work, k)) {
      return now_.fail({Reason::not_finite, now_.t, info.place,
                        "floor or mod of a number above 2^50: the arithmetic does not tell its steps apart"});
    }
  }
  if (!slides_apart()) return false;
  trial_.methods().begin(
      now_.motion.components());  // what they know of the last mode would mislead Newton's iteration
  if (now_.motion.active() > 0) static_cast<void>(now_.motion.project(now_.t, now_.y.data(), false));
  now_.load();
  if (!now_.motion.evaluate()) {
    if (const int k = take_back_rests(); k >= 0)
      return now_.fail({Reason::unsupported,
                        now_.t,
                        {},
                        "the exact engine cannot go on: the motion rests on the surface of " +
                            now_.system.switches()[k].place});
    return now_.fail(
        {Reason::not_finite, now_.t, {}, "the equations of motion give no finite number in the new mode"});
  }
  if (now_.motion.slides()) now_.mode = now_.motion.mode();  // with the coefficients of the sliding switches
  if (now_.motion.slides() && !trials_.shares_unique()) return false;
  now_.motion.note_terms();
  sliding_.project_sliding();
  if (now_.motion.redundant()) now_.guards.sharing.set_mode(now_.mode);
  watching_.take_observed();
  sliding_.note_pushes();
  now_.guards.build(here_.push_zeros);
  guard_zeros_.set_guard_zeros();
  if (guard_zeros_.negative_joint() >= 0) {
    return now_.fail({Reason::negative_normal, now_.t,
                      now_.system.relations()[guard_zeros_.negative_joint()].place,
                      "the normal force of the joint becomes negative; write abs() or max() where its sign "
                      "may change"});
  }
  for (int r = 0; r < now_.layout.relations; ++r) {
    if (now_.mode.normal[r] == NormalStatus::open && !now_.system.relations()[r].compliant)
      now_.recorder.close(r, now_.t);
  }
  record_.note_reactions(0);
  now_.have_f0 = false;
  now_.end_phase();
  return true;
}

// Where the motion cannot be followed on a surface that it rests on: the surfaces are slid on again, for the engine that takes the run over. The first of
// them, −1: there is none.
int Settling::take_back_rests() {
  int first = -1;
  for (int k = now_.layout.switches - 1; k >= 0 && !now_.way->can_rest(); --k) {
    if (now_.mode.surface[k] != AtSurface::rests) continue;
    now_.mode.surface[k] = now_.entry.mode.surface[k] = AtSurface::slides;
    first = k;
  }
  return first;
}

// Two switches that are slid on at one surface, written differently (step(x') and floor(1 + x')), jump together; with a weight for each, the
// motion would be one of many, and leave the surface at any time or never.
bool Settling::slides_apart() {
  const int n = now_.layout.coordinates;
  const int width = n + now_.layout.states;
  for (int j = 0; j < now_.layout.switches; ++j) {
    if (now_.mode.surface[j] != AtSurface::slides) continue;
    for (int k = 0; k < now_.layout.switches; ++k) {
      if (k == j || (k < j && now_.mode.surface[k] == AtSurface::slides) || !acts_on(k, j)) continue;
      if (now_.mode.surface[k] == AtSurface::away && !at_zero(k)) continue;
      std::vector<double>& other = landing_y_;
      const auto slope = [&](int of) {
        const model::SwitchInfo& info = now_.system.switches()[of];
        surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), info.surface.outputs()));
        info.surface.evaluate(now_.work.in.data(), surface_memory_.data(), now_.work.registers.data());
        return surface_memory_.data() + 2 + n;  // by velocities and states
      };
      std::copy_n(slope(j), width, other.begin());
      if (parallel_to(slope(k), other.data(), width) == 0) continue;
      return now_.fail({Reason::indeterminate, now_.t, now_.system.switches()[j].place,
                        "the motion slides on a surface at which two switches jump (the other: " +
                            now_.system.switches()[k].place +
                            "); write both with the same argument, and they are one"});
    }
  }
  return true;
}

// Whether a change of the side of switch k makes what the rate of the surface of j sees jump.
bool Settling::acts_on(int k, int j) const {
  const model::SwitchInfo& by = now_.system.switches()[k];
  const model::SwitchInfo& on = now_.system.switches()[j];
  // A kink acts on both of its sides alike where it is met.
  if (by.time_only || by.kind != expr::SwitchKind::jump) return false;
  if (contains(on.inner, k) || contains(by.inner, j)) return false;
  const auto meet = [](const std::vector<int>& a, const std::vector<int>& b) {
    return std::any_of(a.begin(), a.end(), [&](int i) { return contains(b, i); });
  };
  if (meet(by.moves, on.sees) || meet(by.feeds, on.sees_states)) return true;
  return std::any_of(by.relations.begin(), by.relations.end(),
                     [&](int r) { return meet(now_.system.relations()[r].touches, on.sees); });
}

bool Settling::at_zero(int k) {
  const model::SwitchInfo& info = now_.system.switches()[k];
  if (!now_.system.live(now_.work, k)) return false;
  double s = 0;
  double lower = 0;
  info.value.evaluate(now_.work.in.data(), &s, now_.work.registers.data());
  return std::abs(distance_from_level(info, s, lower)) <= kRoundingUnits * rounding_.surface_rounding(k);
}

void Settling::reset_bristles() {
  for (int r = 0; r < now_.layout.relations; ++r) {
    const model::Relation& relation = now_.system.relations()[r];
    if (relation.bristles.empty() || now_.mode.normal[r] != NormalStatus::open ||
        here_.fresh_relation[r] == 0)
      continue;
    for (const int state : relation.bristles) now_.y[2 * now_.layout.coordinates + state] = 0;
  }
}

}  // namespace judder::engines
