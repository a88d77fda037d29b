#include "engines/event/surfaces.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "core/elementary.hpp"
#include "engines/accumulation.hpp"
#include "engines/event/leaving.hpp"
#include "engines/event/side_trials.hpp"
#include "engines/event/sliding.hpp"
#include "engines/event/strikes.hpp"

namespace judder::engines {
namespace {

constexpr std::size_t kMostEnumerated = 7;  ///< surfaces of one block: 3⁷ combinations
constexpr int kMostFlips = 50;              ///< rounds of the iteration for larger blocks

/// In which order motions are looked for: whether rest keeps the laws as they are written, and whether pushes too small for a sign count.
struct Pass {
  bool strict, smallest;
};
constexpr std::array<Pass, 4> kPasses{{{true, true}, {true, false}, {false, true}, {false, false}}};

}  // namespace

Surfaces::Surfaces(Phase& now, InstantState& here, SideSearch& search, Strikes& impacts, Leaving& leaving,
                   Sliding& sliding, SideTrials& trials)
    : now_(now),
      here_(here),
      search_(search),
      impacts_(impacts),
      leaving_(leaving),
      sliding_(sliding),
      trials_(trials) {}

// One surface alone. Both sides point to it: it is slid on, or rested on where its rate does not see the forces. One points away: it is left to
// that side. Neither moves it: it is held, with the side that the language gives at equality.
bool Surfaces::decide_surface(int k) {
  Mode& before = search_.before;
  before = now_.mode;
  here_.fresh_switch[k] = 1;
  const model::SwitchInfo& info = now_.system.switches()[k];
  if (trials_.go_on_held({&k, 1}, before)) return true;
  const int only = info.only_side(here_.lower[k]);
  const bool was_upper = before.surface[k] == AtSurface::away ? before.side[k] > here_.lower[k] : false;
  const bool crossing = here_.landed[k] != 0 && before.surface[k] == AtSurface::away;
  Status status[2];
  bool possible[2] = {false, false};
  Departure leaves[2];
  const int first = crossing ? (was_upper ? 0 : 1) : 1;
  for (const int upper : {first, 1 - first}) {
    Mode& trial = search_.on_side[upper];
    trial = before;
    trials_.take_side(trial, k, upper);
    // What has one sign by its form is left to that side, if at all.
    if (only != 0 && (only > 0) != (upper != 0)) continue;
    possible[upper] = trials_.try_sides(trial, status[upper]);
    if (possible[upper]) leaves[upper] = leaving_.leaving_direction(k, trial);
    // A touch of high order, as that of |x|³, is left by the motion of what is inside, where derivatives of the surface tell nothing yet.
    if (only != 0 && possible[upper] && leaves[upper].sign == 0)
      leaves[upper] = leaving_.leaving_ahead(k, trial);
    if (only != 0 && leaves[upper].sign != 0) leaves[upper].sign = only;
    // It came from the other side, and goes on.
    if (upper == first && crossing && possible[upper] && leaves[upper].sign == (upper != 0 ? 1 : -1)) {
      now_.mode = trial;
      return true;
    }
  }
  if (only != 0 && !possible[0] && !possible[1]) {
    now_.mode = before;
    now_.load();
    return impacts_.paradox(status[only > 0 ? 1 : 0]);
  }
  // What is too small for a sign beside a side that pushes has the sign that it has: friction at its limit to the last digits holds, or lets go.
  for (const int upper : {0, 1}) {
    if (only != 0 || !possible[0] || !possible[1] || leaves[upper].sign != 0) continue;
    if (leaves[1 - upper].sign == (upper != 0 ? 1 : -1))
      leaves[upper] = leaving_.small_push(k, search_.on_side[upper]);
  }
  const bool up = possible[1] && leaves[1].sign > 0;
  const bool down = possible[0] && leaves[0].sign < 0;
  const bool stays[2] = {possible[0] && leaves[0].sign == 0, possible[1] && leaves[1].sign == 0};
  // One side pushes to the other, where the motion is not unique.
  for (const int upper : {0, 1}) {
    if (possible[upper] || status[upper].reason != Reason::indeterminate || !possible[1 - upper]) continue;
    if (leaves[1 - upper].sign != (upper != 0 ? 1 : -1)) continue;
    now_.mode = before;
    now_.load();
    return impacts_.paradox(status[upper]);
  }
  if (up && down) {
    if (here_.exit_side[k] != 0) {
      now_.mode = search_.on_side[here_.exit_side[k] > 0 ? 1 : 0];
      return true;
    }
    if (trials_.keeps_side(k)) {
      now_.mode = search_.on_side[here_.reference.side[k] > here_.lower[k] ? 1 : 0];
      return true;
    }
    now_.mode = before;
    return trials_.not_unique({k});
  }
  // One side leaves it or pushes back, and the other does nothing: it stays where the value of equality keeps it, as that does at rest.
  if (stays[0] != stays[1] && only == 0 &&
      trials_.stays_by_value(k, before, search_.on_side[stays[1] ? 1 : 0], search_.chosen)) {
    now_.mode = search_.chosen;
    return true;
  }
  if (up || down) {
    now_.mode = search_.on_side[up ? 1 : 0];
    return true;
  }
  if (stays[0] != stays[1] && only == 0 && here_.exit_side[k] == 0 && trials_.shares_load(k, before))
    return true;
  if (stays[0] || stays[1]) {
    Mode& held = search_.trial;
    held = search_.on_side[stays[1] ? 1 : 0];
    held.surface[k] = AtSurface::held;
    // A massless node that has just come to rest slips with the side that pushes back, at the limit of its friction, and is at rest all the same.
    const int other = stays[1] ? 0 : 1;
    const bool comes_back = now_.has_massless && possible[other] &&
                            leaves[other].sign == (other == 0 ? 1 : -1) && leaving_.reads_node_speed(k);
    if ((stays[0] && stays[1]) || comes_back || only != 0) {
      const double side = here_.lower[k] + info.at_zero;
      Status next;
      Mode& equal = search_.chosen;
      equal = before;
      equal.surface[k] = AtSurface::held;
      equal.side[k] = side;
      // Unless the row that holds it would slip then. If it does so by its own law (`abs(sign(x'))`), which at rest is that of the sides, the value is
      // that of equality all the same; if others make it slip, they have been decided on a side, and that is kept.
      bool by_own_law = true;
      // And unless it is left with the value of equality, which holds at an instant only then: it has the value of a side.
      if (trials_.try_sides(equal, next)) {
        const bool leaves_it = leaving_.leaving_direction(k, equal).sign != 0;
        if (trials_.rests_alike(k, held, equal, by_own_law)) {
          if (!leaves_it) held = equal;
          by_own_law = false;
        }
      }
      if (by_own_law && only == 0) held.side[k] = side;
    }
    now_.mode = held;
    return true;
  }
  // It has just ceased to slide, unless its push only touched zero: then the next derivatives say that it presses on.
  // Where another side has changed in the same instant, what its push was before tells nothing.
  const int exit = here_.exit_side[k] > 0 ? 1 : 0;
  if (here_.exit_side[k] != 0 && possible[exit] && leaves[exit].order <= 1 && !leaving_.others_changed(k)) {
    now_.mode = search_.on_side[exit];
    return true;
  }
  if (std::min(leaves[0].order, leaves[1].order) > 1) sliding_.meet_kinks(k);
  Mode& trial = search_.trial;
  trial = before;
  // Where neither rate tells, the surface does not see the forces in its first derivative.
  const bool second = info.rate.outputs() > 0 && std::min(leaves[0].order, leaves[1].order) > 1;
  trial.surface[k] = second ? AtSurface::rests : AtSurface::slides;
  trial.side[k] = here_.lower[k] + 0.5;
  Status sliding;
  // A push that grows from zero has no sign yet.
  const auto pushes = [&](int upper) {
    return leaves[upper].order > 1 ||
           (upper != 0 ? now_.motion.sliding_rate(k, 1) <= 0 : now_.motion.sliding_rate(k, 0) >= 0);
  };
  if (trials_.try_sides(trial, sliding) && (now_.motion.parallel(k) || (pushes(0) && pushes(1)))) {
    // Beside a row at rest the share of the sides is not known, and the value of equality is one that solves the equations as they are written.
    if (second && now_.motion.parallel(k) && trials_.stays_by_value(k, before, trial, search_.chosen)) {
      now_.mode = search_.chosen;
      return true;
    }
    for (const int upper : {0, 1})
      here_.push_zeros[2 * k + upper] =
          static_cast<std::int8_t>(std::max(leaves[upper].order - (second ? 2 : 1), 0));
    now_.mode = trial;
    return true;
  }
  const Status failed[2] = {status[0], status[1]};
  now_.mode = before;
  now_.load();
  if (const LetGo gone = let_rows_go({k}); gone != LetGo::nothing) return gone == LetGo::decided;
  for (const int upper : {0, 1}) {
    if (!possible[upper] && !failed[upper].ok()) return impacts_.paradox(failed[upper]);
  }
  return trials_.not_unique({k});
}

// Several coupled surfaces: all assignments of sides are tried; each must be confirmed by the motion that it gives. Of those that leave as many
// surfaces as possible the first is taken, crossings before others; only if there is none some of them are slid on.
bool Surfaces::decide_several(const std::vector<int>& members) {
  Mode& before = search_.before;
  before = now_.mode;
  const int count = static_cast<int>(members.size());
  for (const int k : members) here_.fresh_switch[k] = 1;
  if (trials_.go_on_held(members, before)) {
    now_.load();
    return true;
  }
  Mode& chosen = search_.chosen;
  std::vector<int>& leaves = search_.leaves;
  std::vector<int>& chosen_leaves = search_.chosen_leaves;
  std::vector<int>& moved = search_.moved;  // with any sides that the motion confirms
  moved.assign(members.size(), 0);
  int best = -1;
  bool ambiguous = false;
  Status last;
  bool by_crossing = true;
  bool ends = true;      // sliding may have come to its end
  bool smallest = true;  // pushes too small for a sign count
  bool all_refuting = false;
  int refuting = 0;     // members that leave their surfaces to the other side
  int refuted_by = -1;  // the only one of them
  for (const int k : members)
    by_crossing = by_crossing && here_.landed[k] != 0 && before.surface[k] == AtSurface::away;
  std::vector<long>& not_unique_at = search_.not_unique_at;
  std::vector<std::pair<int, int>>& edges = search_.edges;  // slides without a push from one side
  std::vector<int>& borne = search_.borne;  // places that something else holds, with any share of their sides
  bool chosen_turns = false;
  bool places = false;  // surfaces of places may be rested on by a combination of their sides
  bool strict =
      true;  // rest on the surface of a switch that has the value of a side it would not keep is none
  bool doubtful = false;  // there was such a rest
  const auto attempt = [&](const long number, int base) {
    long code = number;
    refuting = 0;
    refuted_by = -1;
    Mode& trial = search_.trial;
    trial = before;
    bool slides = false;
    for (const int k : members) {
      const int choice = static_cast<int>(code % base);
      code /= base;
      const bool was_upper = before.surface[k] == AtSurface::away && before.side[k] > here_.lower[k];
      // First the natural continuation: what was met is crossed, what was not keeps its side.
      const bool natural = trials_.keeps_side(k)  ? here_.reference.side[k] > here_.lower[k]
                           : here_.landed[k] != 0 ? !was_upper
                                                  : was_upper || before.surface[k] != AtSurface::away;
      if (choice == 2) {
        if (!places && trials_.is_place(k) && before.surface[k] != AtSurface::rests) return;
        // What it rested on it goes on resting on.
        trial.surface[k] = before.surface[k] == AtSurface::rests ? AtSurface::rests : AtSurface::slides;
        trial.side[k] = here_.lower[k] + 0.5;
        slides = true;
      } else {
        const int upper = (choice == 0) == natural ? 1 : 0;
        const int own = now_.system.switches()[k].only_side(here_.lower[k]);
        if (own != 0 && (own > 0) != (upper != 0)) return;
        trials_.take_side(trial, k, upper);
      }
    }
    if (base == 3 && !slides) return;
    for (const int k : members) {
      if (base == 3 && best >= 0 && !places && trial.slides(k) != chosen.slides(k)) return;
    }
    Status status;
    if (!trials_.try_resting(trial, status)) {
      last = status;
      if (base == 2 && status.reason == Reason::indeterminate) not_unique_at.push_back(number);
      return;
    }
    leaves.assign(members.size(), 0);
    edges.clear();
    borne.assign(members.size(), 0);
    int left = 0;
    for (int i = 0; i < count; ++i) {
      const int k = members[i];
      if (trial.slides(k)) {
        if (now_.motion.parallel(k)) {
          // Neither side moves its rate, and nothing else may hold it: then its next derivative tells.
          if (leaving_.leaving_direction(k, trial).sign != 0) return;
          borne[i] = trials_.is_place(k) ? 1 : 0;
          continue;
        }
        const double below = now_.motion.sliding_rate(k, 0);
        const double above = now_.motion.sliding_rate(k, 1);
        // At its end a push is zero to rounding, of either sign: how it grows tells.
        const double small = kSmallRate * (below - above);
        const double least = ends ? -small : small;
        if (!(below >= least && above <= -least && below > above)) return;
        if (below < small) edges.emplace_back(k, 0);
        if (above > -small) edges.emplace_back(k, 1);
        continue;
      }
      const bool upper = trial.side[k] > here_.lower[k];
      leaves[i] = leaving_.leaving_direction(k, trial).sign;
      if (leaves[i] == 0) {
        const bool may_slide = smallest && now_.system.switches()[k].only_side(here_.lower[k]) == 0;
        if (may_slide && leaving_.small_push(k, trial).sign * (upper ? 1 : -1) < 0) return;
        continue;
      }
      if ((leaves[i] > 0) != upper) {
        if (!all_refuting) return;
        refuted_by = refuting++ == 0 ? i : -1;
        continue;
      }
      ++left;
    }
    if (refuting > 0) return;
    for (const auto& [k, upper] : edges) {
      if (trials_.slide_ends(k, upper, members, before, trial)) return;
    }
    for (int i = 0; i < count && strict; ++i) {
      if (leaves[i] != 0 || (trial.slides(members[i]) && borne[i] == 0) ||
          !trials_.rests_by_side_alone(members[i], members, before, trial))
        continue;
      doubtful = true;
      return;
    }
    for (int i = 0; i < count; ++i) moved[i] |= leaves[i];
    // What has rested with the side of its value goes on with that one.
    const bool turns = std::any_of(members.begin(), members.end(), [&](int k) {
      return trials_.keeps_side(k) && trial.side[k] != here_.reference.side[k];
    });
    const bool alike = best >= 0 && std::all_of(members.begin(), members.end(),
                                                [&](int k) { return trial.slides(k) == chosen.slides(k); });
    if (left < best || (left == best && (!alike || turns >= chosen_turns))) {
      for (int i = 0; i < count && left == best && alike && turns == chosen_turns; ++i)
        ambiguous = ambiguous || leaves[i] * chosen_leaves[i] < 0;
      return;
    }
    best = left;
    chosen_turns = turns;
    ambiguous = false;
    chosen = trial;
    chosen_leaves = leaves;
  };
  // A surface with a small push back to it on one side is slid on, or else what is too small for a sign is none. Rest by a side alone counts only where
  // there is no other motion.
  for (const auto [keeps_law, counts] : kPasses) {
    if (!keeps_law && !doubtful) break;
    strict = keeps_law;
    smallest = counts;
    not_unique_at.clear();
    long combinations = 1;
    for (int i = 0; i < count; ++i) combinations *= 2;
    for (long code = 0; code < combinations; ++code) {
      attempt(code, 2);
      if (best == count && by_crossing) break;  // all of them are crossed
    }
    if (best >= 0) break;
    // Sides with which the motion is not unique, and another side of one surface that pushes to them.
    if (!not_unique_at.empty() && !(strict && doubtful)) {
      const std::vector<long> found = not_unique_at;
      all_refuting = true;
      for (const long code : found) {
        for (int i = 0; i < count; ++i) {
          attempt(code ^ (1L << i), 2);
          if (refuted_by != i) continue;
          attempt(code, 2);  // its status
          now_.mode = before;
          now_.load();
          return impacts_.paradox(last);
        }
      }
      all_refuting = false;
    }
    combinations = 1;
    for (int i = 0; i < count; ++i) combinations *= 3;
    // A surface that one side no longer brings the motion to is slid on only where nothing leaves it. With the same surfaces slid on, as many others as
    // possible are left.
    // What friction holds rests on one side of a place, and on a combination of both only where that lets more of the others go.
    const bool any_place =
        std::any_of(members.begin(), members.end(), [this](int k) { return trials_.is_place(k); });
    // A slide that has come to its end goes on only where nothing else does.
    for (const bool last_of_it : {false, true}) {
      ends = last_of_it;
      for (const bool both : {false, true}) {
        if (both && !any_place) continue;
        places = both;
        for (long code = 0; code < combinations; ++code) attempt(code, 3);
      }
      if (best >= 0) break;
    }
    if (best >= 0) break;
  }
  if (best < 0) {
    // No side is confirmed, and no surface attracts by itself: they are slid on together where a combination holds all of them.
    Mode& trial = search_.trial;
    trial = before;
    for (const int k : members) {
      trial.surface[k] = AtSurface::slides;
      trial.side[k] = here_.lower[k] + 0.5;
    }
    Status status;
    if (trials_.try_resting(trial, status)) {
      best = 0;
      chosen = trial;
      chosen_leaves.assign(members.size(), 0);
    }
  }
  now_.load();
  if (best < 0) {
    now_.mode = before;
    const Status failed = last;
    if (const LetGo gone = let_rows_go(members); gone != LetGo::nothing) return gone == LetGo::decided;
    return failed.ok() ? trials_.not_unique(members) : impacts_.paradox(failed);
  }
  if (ambiguous && !by_crossing) {
    // With a surface that nothing moves on either side the others may go either way: it is held, and they are decided beside it.
    now_.mode = chosen;
    chosen_leaves = moved;
    return hold_unmoved(members, true);
  }
  now_.mode = chosen;
  if (!trials_.may_rest() && now_.motion.set_mode(now_.mode) && now_.motion.evaluate() &&
      !leaving_.nothing_moves()) {
    for (const int k :
         members) {  // sliding would not stay on it: the engine has to say that it cannot follow
      if (now_.mode.surface[k] == AtSurface::slides && now_.motion.parallel(k) &&
          now_.system.switches()[k].rate.outputs() > 0)
        now_.mode.surface[k] = AtSurface::rests;
    }
    now_.load();
  }
  return hold_unmoved(members, false);
}

// More surfaces than can be enumerated: sides that the motion contradicts are changed, all at once; a surface that goes back and forth is slid on.
bool Surfaces::decide_many(const std::vector<int>& members) {
  Mode trial = now_.mode;
  std::vector<int> flips(members.size(), 0);
  for (const int k : members) {
    here_.fresh_switch[k] = 1;
    const bool was_upper = now_.mode.surface[k] == AtSurface::away && now_.mode.side[k] > here_.lower[k];
    const int own = now_.system.switches()[k].only_side(here_.lower[k]);
    trials_.take_side(trial, k, own != 0 ? (own > 0 ? 1 : 0) : here_.landed[k] != 0 ? !was_upper : was_upper);
  }
  Status status;
  for (int round = 0; round < kMostFlips; ++round) {
    if (!trials_.try_sides(trial, status)) return impacts_.paradox(status);
    bool consistent = true;
    Mode next = trial;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const int k = members[i];
      if (trial.slides(k)) {
        if (now_.motion.parallel(k) ||
            (now_.motion.sliding_rate(k, 0) >= 0 && now_.motion.sliding_rate(k, 1) <= 0))
          continue;
        trials_.take_side(next, k, now_.motion.sliding_rate(k, 1) > 0 ? 1 : 0);
        consistent = false;
        continue;
      }
      const int leaves = leaving_.leaving_direction(k, trial).sign;
      const bool upper = trial.side[k] > here_.lower[k];
      if (leaves == 0 || (leaves > 0) == upper || now_.system.switches()[k].only_side(here_.lower[k]) != 0)
        continue;
      consistent = false;
      if (++flips[i] > 2) {
        next.surface[k] = AtSurface::slides;
        next.side[k] = here_.lower[k] + 0.5;
      } else {
        trials_.take_side(next, k, upper ? 0 : 1);
      }
    }
    if (consistent) {
      now_.mode = trial;
      return true;
    }
    trial = next;
  }
  return trials_.not_unique(members);
}

// Rest is kept where it can be, with given sides; but a row may rest with sides only that the motion then refutes, and with those that it
// confirms be beyond its limit. Then it slips: as few of such rows as possible are let go, and the surfaces decided beside them. Where different rows will do, and
// the motion is not the same, it is not unique; rows beside others that suffice rest.
// `now_.mode` is that before the decision, and stays so where nothing is decided.
Surfaces::LetGo Surfaces::let_rows_go(const std::vector<int>& members) {
  constexpr std::size_t kMost = 6;
  if (here_.letting_go) return LetGo::nothing;
  constexpr std::uint16_t kSlipsBoth =
      contact::bit(contact::RowStatus::slip_plus) | contact::bit(contact::RowStatus::slip_minus);
  std::vector<int> rows;
  for (int j = 0; j < now_.layout.tangents && rows.size() < kMost; ++j) {
    if (now_.mode.tangent[j] == TangentStatus::stick && now_.decider.row_takes_part(j) &&
        (here_.exclusions.tangent[j] & kSlipsBoth) != kSlipsBoth)
      rows.push_back(j);
  }
  if (rows.empty()) return LetGo::nothing;
  const Mode before = now_.mode;
  const std::vector<int> surfaces = members;
  const bool probing = here_.probing;
  here_.letting_go = here_.probing = true;
  std::vector<unsigned> enough;
  Mode chosen;
  unsigned other = 0;  // rows with which the motion is another one
  const auto count = static_cast<int>(rows.size());
  for (int released = 1; released <= count; ++released) {
    for (unsigned set = 1; set < (1U << count); ++set) {
      if (std::popcount(set) != released ||
          std::any_of(enough.begin(), enough.end(), [set](unsigned less) { return (set & less) == less; }))
        continue;
      for (int i = 0; i < count; ++i) here_.let_go[rows[i]] = (set >> i) & 1U;
      now_.mode = before;
      now_.load();
      if (!decide_members(surfaces)) continue;
      enough.push_back(set);
      if (enough.size() == 1)
        chosen = now_.mode;
      else if (other == 0 && goes_otherwise(chosen, now_.mode))
        other = set;
    }
  }
  for (const int j : rows) here_.let_go[j] = 0;
  here_.letting_go = false;
  here_.probing = probing;
  now_.mode = enough.empty() ? before : chosen;
  now_.load();
  if (enough.empty()) return LetGo::nothing;
  if (other == 0 || now_.options.on_indeterminate == OnIndeterminate::stay) return LetGo::decided;
  now_.mode = before;
  tell_several(rows, enough.front(), other);
  return LetGo::several;
}

// Whether two modes take the present state different ways, at whatever order.
bool Surfaces::goes_otherwise(const Mode& one, const Mode& other) {
  constexpr double kAhead = 1e-2;  ///< share of the time in which the motion changes
  constexpr double kSame = 1e-6;   ///< of what has moved by then
  constexpr double kBits = 16 * std::numeric_limits<double>::epsilon();
  if (one == other) return false;
  const auto follow = [this](const Mode& mode) {
    now_.load();
    for (int order = expr::kTaylorOrder; order >= 1; --order) {
      if (now_.series.compute(mode, order)) return true;
    }
    return false;
  };
  if (!follow(one)) return true;
  double later = now_.series.time_scale();
  if (!follow(other)) return true;
  later = kAhead * std::min(later, now_.series.time_scale());
  const int width = now_.layout.integrated();
  ahead_.resize(2 * static_cast<std::size_t>(width));
  now_.series.state(later, ahead_.data());
  if (!follow(one)) return true;
  now_.series.state(later, ahead_.data() + width);
  for (int i = 0; i < width; ++i) {
    const double a = ahead_[i];
    const double b = ahead_[width + i];
    const double moved = std::abs(a - now_.y[i]) + std::abs(b - now_.y[i]);
    if (std::abs(a - b) > kSame * moved + kBits * (std::abs(a) + std::abs(b))) return true;
  }
  return false;
}

// Ends the run with the names of the rows that may let go, unless a decision is only tried.
void Surfaces::tell_several(const std::vector<int>& rows, unsigned one, unsigned other) {
  if (here_.probing) return;
  const auto names = [&](unsigned set) {
    std::string text;
    for (const model::Relation& relation : now_.system.relations()) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (((set >> i) & 1U) == 0 || rows[i] < relation.first_tangent ||
            rows[i] >= relation.first_tangent + relation.tangents)
          continue;
        text += (text.empty() ? "" : ", ") + relation.place;
      }
    }
    return text;
  };
  const std::string first = names(one);
  static_cast<void>(now_.fail({Reason::indeterminate, now_.t, first,
                               "what rests lets go here, and it may be " + first + " or " + names(other) +
                                   ": the motion is not unique"}));
}

bool Surfaces::decide_members(const std::vector<int>& members) {
  return members.size() == 1                 ? decide_surface(members.front())
         : members.size() <= kMostEnumerated ? decide_several(members)
                                             : decide_many(members);
}

// What nothing moves is held. `search_.before` is the mode from which `members` were decided, `search_.chosen_leaves` tells which of them leave. `ambiguous`: the
// others may go more than one way as they are.
bool Surfaces::hold_unmoved(const std::vector<int>& members, bool ambiguous) {
  // With another side the rows, and the switches that contain a member, start from what is known of this instant.
  const auto others_before = [&](Mode& mode) {
    mode.normal = search_.before.normal;
    mode.pressed = search_.before.pressed;
    mode.tangent = search_.before.tangent;
    for (int j = 0; j < now_.layout.switches; ++j) {
      if (contains(members, j)) continue;
      mode.surface[j] = search_.before.surface[j];
      mode.side[j] = search_.before.side[j];
    }
  };
  for (std::size_t i = 0; i < members.size(); ++i) {
    const int k = members[i];
    if (now_.mode.surface[k] != AtSurface::away || search_.chosen_leaves[i] != 0) continue;
    now_.mode.surface[k] = AtSurface::held;
    Mode& trial = search_.trial;
    trial = now_.mode;
    others_before(trial);
    trials_.take_side(trial, k, now_.mode.side[k] > here_.lower[k] ? 0 : 1);
    Status status;
    if (now_.system.switches()[k].only_side(here_.lower[k]) == 0 &&
        (!trials_.try_sides(trial, status) || leaving_.leaving_direction(k, trial).sign != 0))
      continue;
    trial = now_.mode;
    others_before(trial);
    trial.side[k] = here_.lower[k] + now_.system.switches()[k].at_zero;
    // Unless the row that holds it would slip then: other rows are decided again.
    bool by_own_law = false;
    if (!trials_.try_sides(trial, status) || !trials_.rests_alike(k, now_.mode, trial, by_own_law) ||
        leaving_.leaving_direction(k, trial).sign != 0)
      continue;
    if (trial.side[k] == now_.mode.side[k] && !ambiguous) {
      now_.mode = trial;
      continue;
    }
    // All others have been decided with another side of it, also those that nothing moved then. They are decided again, and must leave it where it is;
    // if they do not, it has the side that it was found with.
    const Mode found = now_.mode;
    const Mode before = search_.before;
    const std::vector<int> leaves = search_.chosen_leaves;
    now_.mode = trial;
    std::vector<int> rest;
    for (const int other : members) {
      if (other == k) continue;
      rest.push_back(other);
      now_.mode.surface[other] = before.surface[other];
      now_.mode.side[other] = before.side[other];
    }
    others_before(now_.mode);
    now_.load();
    if (!(rest.size() == 1 ? decide_surface(rest.front()) : decide_several(rest))) return false;
    now_.load();
    const bool stays = now_.motion.set_mode(now_.mode) && now_.motion.evaluate() &&
                       leaving_.leaving_direction(k, now_.mode).sign == 0;
    now_.load();
    if (stays) return true;
    now_.mode = found;
    search_.before = before;
    search_.chosen_leaves = leaves;
  }
  now_.load();
  if (!ambiguous) return true;
  now_.mode = search_.before;
  return trials_.not_unique(members);
}

}  // namespace judder::engines
