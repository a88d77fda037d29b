#include "engines/event/surface_decision.hpp"

#include <algorithm>
#include <bit>
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

constexpr int kMostTaken = 5;  ///< surfaces that leave together and may take each other along

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

// Decides the surfaces of E and, with their sides, which contacts open, stick and slip. What is not coupled is decided apart, each block
// from what is known of this instant and with its own rows only: what an unconnected block decides changes nothing of what another one has
// found, such as the share of a load that its friction bears beside a surface. Blocks see each other in higher derivatives alone; where
// one of them comes out otherwise than the others took it for, these are decided once more.
bool SurfaceDecision::decide_surfaces() {
  search_.decided.clear();
  bool decided = true;
  if (here_.open.empty() && here_.later.empty()) {
    Status status;
    decided = decisions_.decide_with(now_.mode, status) || impacts_.paradox(status);
  } else {
    group();
    decided = decide_blocks();
  }
  here_.block = -1;
  now_.decider.among.clear();
  return decided;
}

// The blocks of E, and what each of them acts on. Relations that no block reaches are decided by themselves.
void SurfaceDecision::group() {
  all_.assign(here_.open.begin(), here_.open.end());
  all_.insert(all_.end(), here_.later.begin(), here_.later.end());
  waiting_.assign(here_.later.begin(), here_.later.end());
  opens_ = static_cast<int>(here_.open.size());
  count_ = static_cast<int>(coupling_.group(now_.mode, all_));
  for (int k = 0; k < now_.layout.switches; ++k) here_.block_of[k] = coupling_.block_of_switch(k);
  for (int i = 0; i < now_.layout.coordinates; ++i)
    here_.block_of_component[i] = coupling_.block_of_coordinate(i);
  for (int z = 0; z < now_.layout.states; ++z)
    here_.block_of_component[now_.layout.coordinates + z] = coupling_.block_of_state(z);
  entry_ = now_.mode;
  order_.clear();
  // What has brought the motion here is decided first: the others are at rest or go on, and see what it does.
  for (const bool moved : {true, false}) {
    for (int b = 0; b < count_; ++b) {
      if (is_moved(b) == moved) order_.push_back(b);
    }
  }
}

// The block of a relation; `count_`: none of those of E.
int SurfaceDecision::block_of_relation(int r) const {
  const std::vector<int>& touches = now_.system.relations()[r].touches;
  const int block = touches.empty() ? -1 : here_.block_of_component[touches.front()];
  return block < 0 ? count_ : block;
}

bool SurfaceDecision::is_moved(int b) {
  here_.block = b;
  bool moved = false;
  for (int k = 0; k < now_.layout.switches && !moved; ++k) {
    const bool jumps = now_.mode.side[k] != here_.reference.side[k] && !now_.mode.slides(k);
    moved = (here_.landed[k] != 0 || here_.exit_side[k] != 0 || jumps) && here_.acts_on_block(now_.system, k);
  }
  for (int r = 0; r < now_.layout.relations && !moved; ++r) {
    if (block_of_relation(r) != b) continue;
    const model::Relation& relation = now_.system.relations()[r];
    moved = here_.fresh_relation[r] != 0;
    for (int j = 0; j < relation.tangents; ++j)
      moved = moved || here_.fresh_tangent[relation.first_tangent + j] != 0;
  }
  here_.block = -1;
  return moved;
}

bool SurfaceDecision::decide_blocks() {
  constexpr int kMostPasses = 3;
  stale_.assign(count_ + 1, 1);
  for (int pass = 0; pass < kMostPasses; ++pass) {
    // Rows that no surface acts on come first.
    bool any = false;
    for (int at = -1; at < count_; ++at) {
      const int b = at < 0 ? count_ : order_[at];
      if (stale_[b] == 0) continue;
      stale_[b] = 0;
      any = true;
      found_ = now_.mode;
      if (pass > 0 && !begin_again(b)) continue;
      if (!(b == count_ ? decide_rows_apart() : decide_block(b))) return false;
      if (pass == 0 || found_ == now_.mode) continue;
      for (int other = 0; other <= count_; ++other) {
        if (other != b) stale_[other] = 1;
      }
    }
    if (!any || count_ == 0) return true;
    if (pass == 0 && !(entry_ == now_.mode)) mark_stale();
  }
  return true;
}

// After the first pass: a block has seen the others as they were before if these have come after it and have changed.
void SurfaceDecision::mark_stale() {
  bool changed = false;
  for (int at = count_ - 1; at >= -1; --at) {
    const int b = at < 0 ? count_ : order_[at];
    if (changed) stale_[b] = 1;
    changed = changed || has_changed(b);
  }
}

/// Whether what is decided of a block is other than it was before.
bool SurfaceDecision::has_changed(int b) const {
  for (int k = 0; k < now_.layout.switches; ++k) {
    if (here_.block_of[k] == b &&
        (entry_.surface[k] != now_.mode.surface[k] || entry_.side[k] != now_.mode.side[k]))
      return true;
  }
  for (int r = 0; r < now_.layout.relations; ++r) {
    if (block_of_relation(r) != b) continue;
    const model::Relation& relation = now_.system.relations()[r];
    if (entry_.normal[r] != now_.mode.normal[r] || entry_.pressed[r] != now_.mode.pressed[r]) return true;
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (entry_.tangent[number] != now_.mode.tangent[number]) return true;
    }
  }
  return false;
}

// Puts back what a block was when the instant began. False: surfaces that contain others of it have been moved by these, and it stays as
// it is.
bool SurfaceDecision::begin_again(int b) {
  for (const int k : waiting_) {
    if (here_.block_of[k] == b) return false;
  }
  for (int k = 0; k < now_.layout.switches; ++k) {
    if (here_.block_of[k] != b) continue;
    now_.mode.surface[k] = entry_.surface[k];
    now_.mode.side[k] = entry_.side[k];
  }
  rows_as_in(entry_, b);
  return true;
}

// Statuses of the rows of a block as they are in another mode.
void SurfaceDecision::rows_as_in(const Mode& mode, int b) {
  for (int r = 0; r < now_.layout.relations; ++r) {
    if (block_of_relation(r) != b) continue;
    const model::Relation& relation = now_.system.relations()[r];
    now_.mode.normal[r] = mode.normal[r];
    now_.mode.pressed[r] = mode.pressed[r];
    for (int j = 0; j < relation.tangents; ++j)
      now_.mode.tangent[relation.first_tangent + j] = mode.tangent[relation.first_tangent + j];
  }
}

// Nothing but these rows is decided from here on.
void SurfaceDecision::take_rows(int b) {
  now_.decider.among.assign(now_.layout.relations, 0);
  for (int r = 0; r < now_.layout.relations; ++r) now_.decider.among[r] = block_of_relation(r) == b ? 1 : 0;
}

bool SurfaceDecision::decide_rows_apart() {
  take_rows(count_);
  here_.block = count_;
  here_.open.clear();
  here_.later.clear();
  search_.decided.clear();
  now_.load();
  Status status;
  return decisions_.decide_with(now_.mode, status) || impacts_.paradox(status);
}

// One block. Surfaces that contain others of it come after them, by value where these have moved them away from zero. The others have been
// decided with the sides that they followed to: where they contradict what comes of them by themselves, they keep these.
bool SurfaceDecision::decide_block(int b) {
  take_rows(b);
  here_.block = b;
  const auto mine = [&](int k) { return here_.block_of[k] == b; };
  here_.open.clear();
  here_.later.clear();
  std::copy_if(all_.begin(), all_.begin() + opens_, std::back_inserter(here_.open), mine);
  std::copy_if(waiting_.begin(), waiting_.end(), std::back_inserter(here_.later), mine);
  search_.decided.clear();
  search_.at_first = now_.mode;
  if (!decide_open_surfaces()) return false;
  while (!here_.later.empty()) {
    search_.followed = now_.mode;
    // What was decided with other sides is decided again, from what is known of this instant.
    rows_as_in(search_.at_first, b);
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

// The surfaces in open_, which belong to one block.
bool SurfaceDecision::decide_open_surfaces() {
  for (const int k : here_.open) here_.carried[k] = 1;  // decided once, it is not read from its value again
  if (here_.open.empty()) {
    // A share that friction bears is known to the trial of a slide alone.
    Status status;
    const bool slides = std::any_of(search_.decided.begin(), search_.decided.end(),
                                    [this](int k) { return now_.mode.slides(k); });
    return (slides ? trials_.try_sides(now_.mode, status) : decisions_.decide_with(now_.mode, status)) ||
           impacts_.paradox(status);
  }
  block_.assign(here_.open.begin(), here_.open.end());
  if (block_.size() > 1) {
    const Rest rest = stay_at_equality(block_);
    if (rest == Rest::two_ways) return trials_.not_unique({two_ways_});
    if (rest == Rest::some) return true;
  }
  return decide_or_rest(block_);
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

// Several coupled surfaces: as many of them as possible stay with the value of equality, and the others are decided beside these. Those
// that leave by it are taken out, as few as let the others stay, until none does. One that leaves to both sides while the others are held is `two_ways_`, before one of these
// ways is taken for the motion.
SurfaceDecision::Rest SurfaceDecision::stay_at_equality(const std::vector<int>& members) {
  std::vector<int> held;
  for (const int k : members) {
    if (trials_.may_stay_at_equality(k)) held.push_back(k);
  }
  if (held.empty() || here_.probing) return Rest::none;
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
    two_ways_ = -1;
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
  const auto goes_both = [&] {
    if (two_ways_ < 0) return false;
    now_.mode = start;
    return goes_two_ways(two_ways_, all);
  };
  std::vector<int> out;
  while (!held.empty() && leave(held, out)) {
    if (out.empty()) return Rest::some;
    if (goes_both()) return Rest::two_ways;
    // Where several leave, one of them may take the others along: as few as possible are taken out.
    const std::vector<int> leaving = out;
    const auto count = static_cast<int>(leaving.size());
    for (int taken = 1; taken < count && count <= kMostTaken; ++taken) {
      for (unsigned set = 1; set < (1U << count); ++set) {
        if (std::popcount(set) != taken) continue;
        std::vector<int> fewer;
        std::copy_if(held.begin(), held.end(), std::back_inserter(fewer), [&](int k) {
          const auto at = std::find(leaving.begin(), leaving.end(), k) - leaving.begin();
          return at == count || ((set >> at) & 1U) == 0;
        });
        if (!leave(fewer, out)) continue;
        if (out.empty()) return Rest::some;
        if (goes_both()) return Rest::two_ways;
      }
    }
    out = leaving;
    held.erase(std::remove_if(held.begin(), held.end(), [&](int k) { return contains(out, k); }), held.end());
  }
  now_.mode = start;
  now_.load();
  return Rest::none;
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
  if (up && down) two_ways_ = k;
  const bool back = leaves[up ? 0 : 1] != 0 && possible[up ? 0 : 1];  // from the side that does not leave
  return (up && down) || (up != down && back) || shared;
}

// Whether a surface that is left to both sides while the others of `members` are held is so too where these follow: then there are two
// motions, whichever of them leaves more surfaces.
bool SurfaceDecision::goes_two_ways(int k, const std::vector<int>& members) {
  const Mode start = now_.mode;
  std::vector<int> held;
  std::vector<int> rest;
  std::vector<int> others;
  for (const int other : members) {
    if (other == k) continue;
    others.push_back(other);
    (trials_.may_stay_at_equality(other) ? held : rest).push_back(other);
  }
  int ways = 0;
  for (const int upper : {0, 1}) {
    bool goes = false;
    for (const bool follow : {false, true}) {
      if (goes) break;
      now_.mode = start;
      trials_.take_side(now_.mode, k, upper);
      for (const int other : held) {
        if (!follow) trials_.hold_at_equality(now_.mode, other);
      }
      if (!try_beside(follow ? others : rest)) continue;
      const Mode decided = now_.mode;
      goes = leaving_.leaving_direction(k, decided).sign == (upper != 0 ? 1 : -1) &&
             (follow || std::all_of(held.begin(), held.end(), [&](int other) {
                return leaving_.leaving_direction(other, decided).sign == 0;
              }));
    }
    ways += goes ? 1 : 0;
  }
  now_.mode = start;
  now_.load();
  return ways == 2;
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
