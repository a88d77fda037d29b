#include "engines/event/side_trials.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/elementary.hpp"
#include "engines/accumulation.hpp"
#include "engines/event/decisions.hpp"
#include "engines/event/leaving.hpp"
#include "engines/event/roundings.hpp"
#include "engines/event/sides.hpp"

namespace judder::engines {
namespace {

/// Whether the value at equality is that of a side: of `<` and `step`, but not of sign.
bool has_side_at_zero(const model::SwitchInfo& info) { return info.at_zero == std::floor(info.at_zero); }

}  // namespace

SideTrials::SideTrials(Phase& now, InstantState& here, SideSearch& search, Roundings& rounding, Sides& sides,
                       Decisions& decisions, Leaving& leaving)
    : now_(now),
      here_(here),
      search_(search),
      rounding_(rounding),
      sides_(sides),
      decisions_(decisions),
      leaving_(leaving) {}

// Contacts and motion with the sides of `trial`. Switches that contain those of E follow them by value; one that is zero itself takes the side
// that it is left to.
bool SideTrials::try_sides(Mode& trial, Status& status) {
  // Other sides, other forces: what has just stopped sticking may stick again with them.
  bool other = false;
  for (const std::vector<int>* surfaces : {&here_.open, &search_.decided}) {
    for (const int k : *surfaces) {
      if (trial.slides(k)) return try_slides(trial, status);
      other = other || trial.side[k] != here_.reference.side[k];
    }
  }
  search_.told.clear();
  for (int round = 0; round < 3; ++round) {
    now_.patience.look();
    now_.load();
    for (int k = 0; k < now_.layout.switches; ++k) now_.work.in[now_.layout.side() + k] = trial.side[k];
    follow_sides(trial);
    if (other) {
      decisions_.keep_node_exclusions(trial.side, here_.kept_exclusions);
      std::swap(here_.exclusions, here_.kept_exclusions);
    }
    const bool decided = decisions_.decide_with(trial, status);
    if (other) std::swap(here_.exclusions, here_.kept_exclusions);
    if (!decided) return false;
    now_.load();
    if (!now_.motion.set_mode(trial) || !now_.motion.evaluate()) {
      status = {Reason::not_finite,
                now_.t,
                {},
                "the equations of motion give no finite number on one side of a switch"};
      return false;
    }
    if (!take_left_sides(trial)) return true;
  }
  return true;
}

// Surfaces that are at zero by themselves have the side that the motion in `trial`, which is set, leaves them to. True: one of them has changed.
bool SideTrials::take_left_sides(Mode& trial) {
  bool again = false;
  for (const int k : search_.zero) {
    int leaves = leaving_.leaving_direction(k, trial).sign;
    double s = 0;
    double lower = 0;
    now_.system.switches()[k].value.evaluate(now_.work.in.data(), &s, now_.work.registers.data());
    static_cast<void>(distance_from_level(now_.system.switches()[k], s, lower));
    // A kink in a surface that is being decided is beside it, unless the motion goes to the other side: abs(x') is never less than zero.
    if (sides_.kink_inside(k)) {
      if (leaves == 0) continue;
      search_.told.push_back(k);
    }
    const int only = now_.system.switches()[k].only_side(lower);
    if (leaves != 0 && only != 0) leaves = only;
    const double side = leaves > 0   ? lower + 1
                        : leaves < 0 ? lower
                                     : lower + now_.system.switches()[k].at_zero;
    if (side == trial.side[k]) continue;
    trial.side[k] = side;
    again = true;
  }
  return again;
}

// Switches that contain those of E have the side of their argument beside these, and so have those in a branch that is taken again: they had no side for
// a while. The sides of `trial` are in work_.in. Collects in search_.zero those that are at zero by themselves: the motion tells.
void SideTrials::follow_sides(Mode& trial) {
  search_.zero.clear();
  if (!here_.nested) return;
  std::vector<int>& beside = search_.beside;
  beside.clear();
  for (const int k : here_.open) {
    if (!trial.slides(k)) beside.push_back(k);
  }
  const auto contains_slide = [&](int k) {
    const std::vector<int>& inner = now_.system.switches()[k].inner;
    return std::any_of(inner.begin(), inner.end(),
                       [&](int i) { return trial.slides(i) || contains(search_.blended, i); });
  };
  search_.blended.clear();
  for (int k = 0; k < now_.layout.switches; ++k) {
    const model::SwitchInfo& info = now_.system.switches()[k];
    if (info.time_only || trial.slides(k) || (here_.block_of[k] >= 0 && !here_.in_block(k))) continue;
    if (contains_slide(k)) {  // it has a side on each side of that one
      search_.blended.push_back(k);
      trial.surface[k] = AtSurface::away;
      continue;
    }
    if (contains(here_.open, k) || contains(search_.told, k)) continue;
    const bool wakes = here_.dead[k] != 0 && now_.system.live(now_.work, k);
    if (info.inner.empty() && (trial.surface[k] != AtSurface::away || (!wakes && !sides_.kink_inside(k))))
      continue;
    const double rounding = kRoundingUnits * rounding_.surface_rounding(k);
    if (trial.surface[k] == AtSurface::held && held_by_motion(k, rounding)) continue;
    const NestedSides::Verdict verdict = sides_.nested().judge(k, beside, rounding);
    if (verdict.place == NestedSides::Place::unknown) {
      if (trial.surface[k] == AtSurface::away) search_.zero.push_back(k);
      continue;
    }
    const bool constant = verdict.place == NestedSides::Place::constant;
    if (!constant && sides_.kink_inside(k)) search_.zero.push_back(k);
    trial.surface[k] = constant ? AtSurface::held : AtSurface::away;
    trial.side[k] = now_.work.in[now_.layout.side() + k] = verdict.side;
  }
}

// Whether a surface that is held is so by the motion, and the sides in work_.in leave it where it was: then it goes on as it was decided.
bool SideTrials::held_by_motion(int k, double rounding) {
  double s = 0;
  now_.system.switches()[k].value.evaluate(now_.work.in.data(), &s, now_.work.registers.data());
  if (std::abs(s - here_.surface_before[k]) > rounding) return false;
  double* side = now_.work.in.data() + now_.layout.side();
  blended_.assign(side, side + now_.layout.switches);
  std::copy(here_.reference.side.begin(), here_.reference.side.end(), side);
  const bool constant = sides_.nested().never_moves(k, rounding);
  std::copy(blended_.begin(), blended_.end(), side);
  return !constant;
}

// The same while some surfaces are slid on.
bool SideTrials::try_slides(Mode& trial, Status& status) {
  Mode& start = search_.start;
  start = trial;
  search_.told.clear();
  for (int round = 0; round < 3; ++round) {
    trial = start;
    if (!try_sliding(trial, status)) return false;
    if (search_.zero.empty()) return true;
    now_.load();
    if (!now_.motion.set_mode(trial) || !now_.motion.evaluate()) return true;
    if (!take_left_sides(trial)) return true;
    for (const int k : search_.zero) start.side[k] = trial.side[k];
  }
  return true;
}

// Slides with the sides around them as they are. The coefficients of the combination and the statuses of the rows at rest depend on each other: every
// guess of these statuses gives coefficients, and must come out of the decision that is made with them.
bool SideTrials::try_sliding(Mode& trial, Status& status) {
  constexpr std::size_t kMostRows = 4;
  static constexpr TangentStatus kGuess[] = {TangentStatus::stick, TangentStatus::slip_plus,
                                             TangentStatus::slip_minus};
  std::vector<int>& rows = search_.rows;
  rows.clear();
  now_.load();
  for (int k = 0; k < now_.layout.switches; ++k) now_.work.in[now_.layout.side() + k] = trial.side[k];
  follow_sides(trial);
  decisions_.free_unloaded(trial);  // with the sides around, which may be what presses
  for (int j = 0; j < now_.layout.tangents; ++j) {
    if (trial.tangent[j] == TangentStatus::stick && rows.size() < kMostRows && now_.decider.row_takes_part(j))
      rows.push_back(j);
  }
  int guesses = 1;
  for (std::size_t i = 0; i < rows.size(); ++i) guesses *= 3;
  Mode& known = search_.known;
  known = trial;
  status = {};
  // A slide that goes on changes no force: what has stopped sticking does not stick again.
  const auto turns = [&](int k) {
    return known.slides(k) != here_.reference.slides(k) ||
           (!known.slides(k) && known.side[k] != here_.reference.side[k]);
  };
  const bool other = std::any_of(here_.open.begin(), here_.open.end(), turns) ||
                     std::any_of(search_.decided.begin(), search_.decided.end(), turns);
  for (int code = 0; code < guesses; ++code) {
    Mode& guess = search_.guess;
    guess = known;
    int rest = code;
    for (const int j : rows) {
      guess.tangent[j] = kGuess[rest % 3];
      rest /= 3;
    }
    // Statuses of contacts that the coefficients change are taken over until they agree.
    for (int round = 0; round < 4; ++round) {
      now_.load();
      if (!now_.motion.set_mode(guess) || !now_.motion.evaluate()) break;
      combined_force_.assign(now_.work.force.begin(), now_.work.force.begin() + now_.layout.coordinates);
      trial = known;
      bool within = true;
      for (int k = 0; k < now_.layout.switches; ++k) {
        if (!known.slides(k) || !here_.in_block(k)) continue;
        trial.side[k] = now_.motion.mode().side[k];
        const double coefficient = trial.side[k] - std::floor(known.side[k]);
        within = within && coefficient >= -kSmallRate && coefficient <= 1 + kSmallRate;
      }
      if (!within && now_.options.on_indeterminate != OnIndeterminate::stay) break;
      now_.load();
      if (other)
        decisions_.keep_node_exclusions(trial.side, here_.kept_exclusions);
      else
        here_.kept_exclusions = here_.exclusions;
      // The force of the slide is given in the decision, and would leave a row at rest that the same force, free to follow, has overcome: with that row at
      // rest and the others as here, the guess before this one has failed.
      for (const int j : rows) {
        if (direction(guess.tangent[j]) != 0)
          here_.kept_exclusions.tangent[j] |= contact::bit(contact::RowStatus::stick);
      }
      std::swap(here_.exclusions, here_.kept_exclusions);
      Status decided;
      if (!now_.motion.outer().empty())
        now_.decider.given_force.assign(combined_force_.begin(), combined_force_.end());
      const bool found = decisions_.decide_with(trial, decided);
      now_.decider.given_force.clear();
      std::swap(here_.exclusions, here_.kept_exclusions);
      if (!found) {
        status = decided;
        break;
      }
      if (trial.tangent == guess.tangent && trial.normal == guess.normal && trial.pressed == guess.pressed) {
        now_.load();
        if (!now_.motion.set_mode(trial) || !now_.motion.evaluate()) break;
        // What neither side moves must be held by something else.
        bool holds = true;
        for (int k = 0; k < now_.layout.switches; ++k) {
          if (trial.slides(k) && here_.in_block(k) && now_.motion.parallel(k))
            holds = holds && std::abs(now_.motion.surface_rate(k)) <=
                                 std::max(kSmallRate * rounding_.surface_rate_scale(k),
                                          rounding_.surface_rate_rounding(k));
        }
        if (holds) return true;
        break;
      }
      // A row that is free now was guessed for a contact that opens with these coefficients.
      bool same_rows = true;
      for (const int j : rows)
        same_rows =
            same_rows && (trial.tangent[j] == guess.tangent[j] || trial.tangent[j] == TangentStatus::free);
      if (!same_rows) break;
      guess.tangent = trial.tangent;
      guess.normal = trial.normal;
      guess.pressed = trial.pressed;
    }
  }
  if (status.ok()) {
    status = {Reason::inconsistent,
              now_.t,
              {},
              "no combination of the two sides of a switch holds the motion on its surface"};
  }
  trial = known;
  return false;
}

void SideTrials::take_side(Mode& trial, int k, int upper) {
  trial.surface[k] = AtSurface::away;
  trial.side[k] = here_.lower[k] + upper;
}

// As try_sides, but a surface that is slid on, though its rate sees the forces on neither side, is rested on where its second derivative sees
// them.
bool SideTrials::try_resting(Mode& trial, Status& status) {
  if (!try_sides(trial, status)) return false;
  if (!may_rest()) return true;
  const auto blind = [&](int k, AtSurface surface) {
    return trial.surface[k] == surface && now_.motion.parallel(k) &&
           now_.system.switches()[k].rate.outputs() > 0;
  };
  if (std::none_of(here_.open.begin(), here_.open.end(), [&](int k) { return blind(k, AtSurface::slides); }))
    return true;
  Mode& kept = search_.kept;
  kept = trial;
  for (const int k : here_.open) {
    if (!blind(k, AtSurface::slides)) continue;
    trial.surface[k] = AtSurface::rests;
    trial.side[k] = here_.lower[k] + 0.5;
  }
  Status resting;
  const bool rests =
      try_sides(trial, resting) && std::none_of(here_.open.begin(), here_.open.end(), [&](int k) {
        return kept.surface[k] == AtSurface::slides && blind(k, AtSurface::rests);
      });
  if (rests) return true;
  trial = kept;  // something else holds it
  return try_sides(trial, status);
}

// No side, or two, of a surface that the motion is on.
bool SideTrials::not_unique(const std::vector<int>& members) {
  if (here_.probing) return false;
  if (now_.options.on_indeterminate == OnIndeterminate::stay) {
    Mode& trial = search_.trial;
    trial = now_.mode;
    for (const int k : members) {
      trial.surface[k] = AtSurface::slides;
      trial.side[k] = here_.lower[k] + 0.5;
    }
    Status status;
    if (try_sides(trial, status)) {
      now_.mode = trial;
      return true;
    }
  }
  return now_.fail({Reason::indeterminate, now_.t, now_.system.switches()[members.front()].place,
                    "the two sides of a switch push away from its surface: the motion is not unique"});
}

// Whether the motion has rested on the surface of k with the value at equality, and that is the value of a side: the equations that held it go on to hold there.
bool SideTrials::keeps_side(int k) const {
  return here_.reference.surface[k] == AtSurface::held && has_side_at_zero(now_.system.switches()[k]) &&
         here_.reference.side[k] == here_.lower[k] + now_.system.switches()[k].at_zero;
}

// Whether the surface is one of positions and time: its rate sees neither forces nor rates.
bool SideTrials::is_place(int k) const {
  const model::SwitchInfo& info = now_.system.switches()[k];
  return info.rate.outputs() > 0 && info.sees_states.empty();
}

void SideTrials::hold_at_equality(Mode& mode, int k) const {
  mode.surface[k] = AtSurface::held;
  mode.side[k] = here_.lower[k] + now_.system.switches()[k].at_zero;
}

// Whether surfaces that were held with the value of equality before this instant stay so: rest is kept wherever it is possible, whatever other values would
// do. Then they are.
bool SideTrials::go_on_held(std::span<const int> members, const Mode& before) {
  const auto was_held = [&](int k) {
    return here_.reference.surface[k] == AtSurface::held && before.surface[k] == AtSurface::held &&
           here_.landed[k] == 0 && here_.exit_side[k] == 0 && before.side[k] == here_.reference.side[k] &&
           before.side[k] == here_.lower[k] + now_.system.switches()[k].at_zero;
  };
  if (!std::all_of(members.begin(), members.end(), was_held)) return false;
  Mode& trial = search_.trial;
  trial = before;
  Status status;
  if (!try_sides(trial, status)) return false;
  for (const int k : members) {
    if (trial.surface[k] != AtSurface::held || trial.side[k] != here_.reference.side[k] ||
        leaving_.leaving_direction(k, trial).sign != 0)
      return false;
  }
  now_.mode = trial;
  return true;
}

// Whether the surface of k stays on one side only because friction at rest bears the rest of the load with that side, while the other side pushes back: then it may
// bear more with any share between, and that counts where something else moves with the share. mode_ then slides on it.
bool SideTrials::shares_load(int k, const Mode& before) {
  const model::SwitchInfo& info = now_.system.switches()[k];
  if (now_.layout.tangents == 0 || info.kind != expr::SwitchKind::jump) return false;
  Mode& trial = search_.chosen;
  trial = before;
  trial.surface[k] = info.rate.outputs() > 0 ? AtSurface::rests : AtSurface::slides;
  trial.side[k] = here_.lower[k] + 0.5;
  Status status;
  if (!try_sides(trial, status) || !now_.motion.parallel(k)) return false;
  const ModeMotion::SharedLoad load = now_.motion.shared_load(k);
  if (load.relation >= 0 && !here_.probing) now_.result.reactions_not_unique = true;
  if (!load.moves_others) return false;
  now_.mode = trial;
  return true;
}

// What friction at rest and a switch bear together is shared out by the run where it is not unique, and the run says so; where anything else goes with the share of the
// switch, the motion is not unique either.
bool SideTrials::shares_unique() {
  for (int k = 0; k < now_.layout.switches; ++k) {
    if (!now_.mode.slides(k) || !now_.motion.parallel(k)) continue;
    const ModeMotion::SharedLoad load = now_.motion.shared_load(k);
    if (load.relation < 0) continue;
    now_.result.reactions_not_unique = true;
    if (!load.moves_others || now_.options.on_indeterminate == OnIndeterminate::stay) continue;
    return now_.fail(
        {Reason::indeterminate, now_.t, now_.system.switches()[k].place,
         "what this switch and the friction at rest of " + now_.system.relations()[load.relation].place +
             " bear together is not unique, and something else moves with the share of the switch"});
  }
  return true;
}

// Whether the rows along the surface of k that rest in one mode do so in the other; if not, whether the switch stands in what they may carry.
bool SideTrials::rests_alike(int k, const Mode& one, const Mode& other, bool& by_own_law) {
  const int n = now_.layout.coordinates;
  const model::SwitchInfo& info = now_.system.switches()[k];
  for (int r = 0; r < now_.layout.relations; ++r) {
    const model::Relation& relation = now_.system.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (one.tangent[number] != TangentStatus::stick || other.tangent[number] == TangentStatus::stick)
        continue;
      surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), info.surface.outputs()));
      info.surface.evaluate(now_.work.in.data(), surface_memory_.data(), now_.work.registers.data());
      if (parallel_to(surface_memory_.data() + 2 + n, now_.system.rows(now_.work, r).tangent[j].w, n) == 0)
        continue;
      by_own_law = std::find(info.relations.begin(), info.relations.end(), r) != info.relations.end();
      return false;
    }
  }
  return true;
}

// Whether only the laws of rows along the surface read this switch: it goes with their statuses, and a row that begins to slip gives it its side.
bool SideTrials::goes_with_rows(int k) const {
  const model::SwitchInfo& info = now_.system.switches()[k];
  return !info.in_motion && std::all_of(info.relations.begin(), info.relations.end(), [&](int r) {
    const std::vector<int>& touches = now_.system.relations()[r].touches;
    return std::any_of(touches.begin(), touches.end(), [&](int i) { return contains(info.sees, i); });
  });
}

// Whether the motion stays on the surface of k alone with the value of equality, the rows along it resting as they do in `held`. Then `equal` is that mode.
bool SideTrials::stays_by_value(int k, const Mode& before, const Mode& held, Mode& equal) {
  if (here_.exit_side[k] != 0 || goes_with_rows(k)) return false;
  equal = before;
  hold_at_equality(equal, k);
  Status status;
  bool by_own_law = false;
  return try_sides(equal, status) && leaving_.leaving_direction(k, equal).sign == 0 &&
         rests_alike(k, held, equal, by_own_law);
}

// Whether the motion of `trial` stays on the surface of k only because the switch has been given the value of one side there, or a share of both. On the surface it has the value at zero: where
// the motion leaves with that, at whatever order, to the other side, and this does not push it back, the law of what holds it fails at once. (To the side that it has been
// given it may go, and be held there.) The other members have the sides of `trial`, and rows are decided anew from what is known `before`.
bool SideTrials::rests_by_side_alone(int k, const std::vector<int>& members, const Mode& before,
                                     const Mode& trial) {
  const model::SwitchInfo& info = now_.system.switches()[k];
  if (info.kind != expr::SwitchKind::jump || info.only_side(here_.lower[k]) != 0 || goes_with_rows(k))
    return false;
  const bool shared = trial.slides(k);
  if (shared && here_.exit_side[k] != 0) return false;
  int across = shared ? 0 : trial.side[k] > here_.lower[k] ? -1 : 1;
  Mode& aside = search_.aside;
  Status status;
  bool crosses = false;  // with the value at zero
  if (here_.exit_side[k] == 0) {
    take_sides_of(trial, members, before, aside);
    hold_at_equality(aside, k);
    if (try_sides(aside, status)) {
      int leaves = leaving_.leaving_direction(k, aside).sign;
      if (leaves == 0) leaves = leaves_behind_slides(k, members, before, aside);
      crosses = leaves != 0 && (shared || leaves == across);
      if (!crosses) return false;
      across = leaves;
    }
  }
  if (across == 0) return false;
  take_sides_of(trial, members, before, aside);
  take_side(aside, k, across > 0 ? 1 : 0);
  const bool possible = try_sides(aside, status);
  const int leaves = possible ? leaving_.leaving_direction(k, aside).sign : 0;
  return leaves == across || (crosses && leaves == 0);
}

// Whether a slide of `trial` on the surface of k is at its end on this side: the push from there is zero, and with the side itself the motion leaves, at whatever order.
bool SideTrials::slide_ends(int k, int upper, const std::vector<int>& members, const Mode& before,
                            const Mode& trial) {
  Mode& aside = search_.aside;
  Status status;
  take_sides_of(trial, members, before, aside);
  take_side(aside, k, upper);
  return try_sides(aside, status) && leaving_.leaving_direction(k, aside).sign == (upper != 0 ? 1 : -1);
}

// Where the motion leaves the surface of k to when a slide that holds it in `trial`, which is set, is at its end: with the side that this slide leaves to. 0: it stays.
int SideTrials::leaves_behind_slides(int k, const std::vector<int>& members, const Mode& before,
                                     const Mode& trial) {
  std::vector<std::pair<int, int>>& ended = search_.ended;
  ended.clear();
  for (const int m : members) {
    if (!trial.slides(m) || now_.motion.parallel(m)) continue;
    const double below = now_.motion.sliding_rate(m, 0);
    const double above = now_.motion.sliding_rate(m, 1);
    const double small = kSmallRate * (below - above);
    if (below < small) ended.emplace_back(m, 0);
    if (above > -small) ended.emplace_back(m, 1);
  }
  Mode& beyond = search_.beyond;
  for (const auto& [m, upper] : ended) {
    Status status;
    take_sides_of(trial, members, before, beyond);
    take_side(beyond, m, upper);
    if (!try_sides(beyond, status) || leaving_.leaving_direction(m, beyond).sign != (upper != 0 ? 1 : -1))
      continue;
    if (const int leaves = leaving_.leaving_direction(k, beyond).sign; leaves != 0) return leaves;
  }
  return 0;
}

// The mode before a decision with the sides that `members` have in a trial.
void SideTrials::take_sides_of(const Mode& trial, const std::vector<int>& members, const Mode& before,
                               Mode& out) const {
  out = before;
  for (const int k : members) {
    out.surface[k] = trial.surface[k];
    out.side[k] = trial.slides(k) ? here_.lower[k] + 0.5 : trial.side[k];
  }
}

// The surfaces among `members` that may be held with the value of equality: nothing is known yet of where they go.
bool SideTrials::may_stay_at_equality(int k) const {
  const model::SwitchInfo& info = now_.system.switches()[k];
  if (info.kind != expr::SwitchKind::jump || info.only_side(here_.lower[k]) != 0 || here_.exit_side[k] != 0)
    return false;
  if (goes_with_rows(k)) return false;
  if (here_.landed[k] != 0 && now_.mode.surface[k] == AtSurface::away) return false;  // it came from a side
  // A sign of what sees the forces is slid on where its sides push back, and they seldom do anything else.
  return is_place(k) || has_side_at_zero(info);
}

}  // namespace judder::engines
