#include "engines/event/surface_decision.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/elementary.hpp"
#include "engines/accumulation.hpp"
#include "engines/event/decisions.hpp"
#include "engines/event/leaving.hpp"
#include "engines/event/side_trials.hpp"
#include "engines/event/sides.hpp"
#include "engines/event/strikes.hpp"
#include "engines/event/surfaces.hpp"

namespace judder::engines {
namespace {

/// Whether the value at equality is that of a side: of `<` and `step`, but not of sign.
bool has_side_at_zero(const model::SwitchInfo& info) { return info.at_zero == std::floor(info.at_zero); }

}  // namespace

SurfaceDecision::SurfaceDecision(Phase& now, InstantState& here, SideSearch& search, Sides& sides,
                                 Decisions& decisions, Strikes& impacts, Leaving& leaving, SideTrials& trials,
                                 Surfaces& surfaces)
    : now_(now),
      here_(here),
      search_(search),
      sides_(sides),
      decisions_(decisions),
      impacts_(impacts),
      leaving_(leaving),
      trials_(trials),
      surfaces_(surfaces),
      coupling_(now.system) {}

// Decides the surfaces of E and, with their sides, which contacts open, stick and slip. Those that contain others of E come after them, by value
// where these have moved them away from zero. The others have been decided with the sides that they followed to: where they contradict what comes of
// them by themselves, they keep these.
bool SurfaceDecision::decide_surfaces() {
  Mode& known = search_.at_first;
  known.normal = now_.mode.normal;
  known.pressed = now_.mode.pressed;
  known.tangent = now_.mode.tangent;
  search_.decided.clear();
  if (!decide_open_surfaces()) return false;
  while (!here_.later.empty()) {
    search_.followed = now_.mode;
    // What was decided with other sides is decided again, from what is known of this instant.
    now_.mode.normal = known.normal;
    now_.mode.pressed = known.pressed;
    now_.mode.tangent = known.tangent;
    std::vector<int>& waiting = search_.waiting;
    waiting.assign(here_.later.begin(), here_.later.end());
    here_.later.clear();
    search_.decided.insert(search_.decided.end(), here_.open.begin(), here_.open.end());
    here_.open.clear();
    now_.load();
    sides_.load_statuses();
    for (const int k : waiting) static_cast<void>(sides_.side_by_value(k));
    if (!decide_open_surfaces()) return false;
    if (here_.open.empty() || now_.mode.side == search_.followed.side || !moves_against_sides(now_.mode) ||
        moves_against_sides(search_.followed))
      continue;
    now_.mode = search_.followed;
    for (const int k : here_.open) {
      if (leaving_.leaving_direction(k, now_.mode).sign == 0) now_.mode.surface[k] = AtSurface::held;
    }
  }
  return true;
}

// Whether the motion in `mode` leaves a surface that has been decided to the other side than the one that it has.
bool SurfaceDecision::moves_against_sides(const Mode& mode) {
  now_.load();
  for (int k = 0; k < now_.layout.switches; ++k) now_.work.in[now_.layout.side() + k] = mode.side[k];
  if (!now_.motion.set_mode(mode) || !now_.motion.evaluate()) return true;
  return std::any_of(search_.decided.begin(), search_.decided.end(), [&](int k) {
    if (mode.slides(k) || now_.system.switches()[k].only_side(here_.lower[k]) != 0) return false;
    const int leaves = leaving_.leaving_direction(k, mode).sign;
    return leaves != 0 &&
           (mode.surface[k] == AtSurface::held || (leaves > 0) != (mode.side[k] > here_.lower[k]));
  });
}

// The surfaces in open_, block by block.
bool SurfaceDecision::decide_open_surfaces() {
  Status status;
  for (const int k : here_.open) here_.carried[k] = 1;  // decided once, it is not read from its value again
  if (here_.open.empty()) return decisions_.decide_with(now_.mode, status) || impacts_.paradox(status);
  const int blocks = here_.open.size() == 1 ? 1 : static_cast<int>(coupling_.group(now_.mode, here_.open));
  search_.block.assign(here_.open.size(), 0);
  if (blocks > 1) std::copy(coupling_.block().begin(), coupling_.block().end(), search_.block.begin());
  for (int b = 0; b < blocks; ++b) {
    block_.clear();
    for (std::size_t i = 0; i < here_.open.size(); ++i) {
      if (search_.block[i] == b) block_.push_back(here_.open[i]);
    }
    const bool several = block_.size() > 1;
    if (!(several && stay_at_equality(block_)) && !decide_or_rest(block_)) return false;
  }
  if (blocks == 1) return true;
  now_.load();
  return decisions_.decide_with(now_.mode, status) || impacts_.paradox(status);
}

// Where the motion on a surface that it rests on cannot be followed, it slides as far as that decides. Where nothing else does, it rests all the same: the run is for
// another engine then, and not without a motion.
bool SurfaceDecision::decide_or_rest(const std::vector<int>& members) {
  if (now_.way->can_rest()) return surfaces_.decide_members(members);
  const Mode start = now_.mode;
  for (const bool rests : {false, true}) {
    now_.mode = start;
    here_.rests_asked = rests;
    here_.probing = true;
    const bool decided = surfaces_.decide_members(members);
    here_.rests_asked = here_.probing = false;
    if (decided) return true;
    now_.load();
  }
  now_.mode = start;
  return surfaces_.decide_members(members);  // says what is wrong
}

// Several coupled surfaces: as many of them as possible stay with the value of equality, and the others are decided beside these. Those that leave by it are taken out, all
// at once, until none does. False: none stays, and nothing is decided.
bool SurfaceDecision::stay_at_equality(const std::vector<int>& members) {
  std::vector<int> held;
  for (const int k : members) {
    if (trials_.may_stay_at_equality(k)) held.push_back(k);
  }
  if (held.empty() || here_.probing) return false;
  const std::vector<int> all = members;
  const Mode start = now_.mode;
  // Those of `with`, held, that do not stay, in `out`; mode_ then has what goes with the others. False: there is no motion.
  const auto leave = [&](const std::vector<int>& with, std::vector<int>& out) {
    std::vector<int> rest;
    std::copy_if(all.begin(), all.end(), std::back_inserter(rest), [&](int k) { return !contains(with, k); });
    now_.mode = start;
    for (const int k : with) {
      here_.fresh_switch[k] = 1;
      trials_.hold_at_equality(now_.mode, k);
    }
    if (!try_beside(rest)) return false;
    const Mode decided = now_.mode;
    out.clear();
    std::copy_if(with.begin(), with.end(), std::back_inserter(out), [&](int k) {
      return now_.mode.surface[k] != AtSurface::held || leaving_.leaving_direction(k, decided).sign != 0;
    });
    if (out.empty())
      std::copy_if(with.begin(), with.end(), std::back_inserter(out),
                   [&](int k) { return is_no_rest(k, all, with, start); });
    now_.load();
    return true;
  };
  std::vector<int> out;
  while (!held.empty() && leave(held, out)) {
    if (out.empty()) return true;
    held.erase(std::remove_if(held.begin(), held.end(), [&](int k) { return contains(out, k); }), held.end());
  }
  now_.mode = start;
  now_.load();
  return false;
}

// Whether the value of equality of k is no rest, beside the others of `members`: both of its sides leave it, one of them takes the motion through, or both push back
// and the share of each is known. `start` is the mode before the decision; mode_ holds the one in which k rests.
bool SurfaceDecision::is_no_rest(int k, const std::vector<int>& members, const std::vector<int>& held,
                                 const Mode& start) {
  if (has_side_at_zero(now_.system.switches()[k])) return false;  // with a side it stays
  const Mode resting = now_.mode;
  std::vector<int> rest;
  for (const int other : members) {
    if (other != k && !contains(held, other)) rest.push_back(other);
  }
  int leaves[2] = {0, 0};
  bool possible[2] = {false, false};
  for (const int upper : {0, 1}) {
    now_.mode = start;
    for (const int other : held) trials_.hold_at_equality(now_.mode, other);
    trials_.take_side(now_.mode, k, upper);
    possible[upper] = try_beside(rest);
    if (possible[upper]) leaves[upper] = leaving_.leaving_direction(k, now_.mode).sign;
  }
  bool shared = false;
  if (possible[0] && possible[1] && leaves[0] > 0 && leaves[1] < 0) {
    now_.mode = resting;
    now_.mode.surface[k] = AtSurface::rests;
    now_.mode.side[k] = here_.lower[k] + 0.5;
    shared = try_beside({}) && !now_.motion.parallel(k);
  }
  now_.mode = resting;
  now_.load();
  const bool up = possible[1] && leaves[1] > 0;
  const bool down = possible[0] && leaves[0] < 0;
  const bool back = leaves[up ? 0 : 1] != 0 && possible[up ? 0 : 1];  // from the side that does not leave
  return (up && down) || (up != down && back) || shared;
}

// Decides `rest` beside surfaces that have got their sides in mode_. Nothing is listed, and the run does not end by it.
bool SurfaceDecision::try_beside(const std::vector<int>& rest) {
  const bool probing = here_.probing;
  here_.probing = true;
  Status status;
  now_.load();
  bool decided = false;
  if (rest.empty()) {
    Mode trial = now_.mode;
    decided = trials_.try_sides(trial, status);
    if (decided) now_.mode = trial;
  } else {
    decided = surfaces_.decide_members(rest);
  }
  here_.probing = probing;
  now_.load();
  if (decided) decided = now_.motion.set_mode(now_.mode) && now_.motion.evaluate();
  return decided;
}

}  // namespace judder::engines
