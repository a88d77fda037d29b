// Surfaces that the motion stays on without being slid on: with the value that the language gives at equality, where that keeps it there.
//
// Rest is kept wherever the equations as they are written keep it. A surface whose value at equality moves it nowhere is held with that value, also where the
// motion would leave it on one side: `if(x < 0, -1, 0)` pulls nothing at x = 0. Three cases are none of rest: both sides leave it (that is not unique),
// the motion comes to it on one side and leaves it on the other (a crossing), and both sides push back with shares that the motion determines (a slide).
#include <algorithm>
#include <cmath>
#include <iterator>

#include "event_run.hpp"

namespace judder::engines {
namespace {

/// Whether the value at equality is that of a side: of `<` and `step`, but not of sign.
bool has_side_at_zero(const model::SwitchInfo& info) { return info.at_zero == std::floor(info.at_zero); }

}  // namespace

// Whether surfaces that were held with the value of equality before this instant stay so: rest is kept wherever it is possible, whatever other values would
// do. Then they are.
bool EventEngine::Run::go_on_held(const std::vector<int>& members, const Mode& before) {
  const auto was_held = [&](int k) {
    return reference_.surface[k] == AtSurface::held && before.surface[k] == AtSurface::held &&
           landed_[k] == 0 && exit_side_[k] == 0 && before.side[k] == reference_.side[k] &&
           before.side[k] == lower_[k] + system_.switches()[k].at_zero;
  };
  if (!std::all_of(members.begin(), members.end(), was_held)) return false;
  Mode& trial = search_.trial;
  trial = before;
  Status status;
  if (!try_sides(trial, status)) return false;
  for (const int k : members) {
    if (trial.surface[k] != AtSurface::held || trial.side[k] != reference_.side[k] ||
        leaving_direction(k, trial).sign != 0)
      return false;
  }
  mode_ = trial;
  return true;
}

// Whether the surface is one of positions and time: its rate sees neither forces nor rates.
bool EventEngine::Run::is_place(int k) const {
  const model::SwitchInfo& info = system_.switches()[k];
  return info.rate.outputs() > 0 && info.sees_states.empty();
}

// Whether the motion has rested on the surface of k with the value at equality, and that is the value of a side: the equations that held it go on to hold there.
bool EventEngine::Run::keeps_side(int k) const {
  return reference_.surface[k] == AtSurface::held && has_side_at_zero(system_.switches()[k]) &&
         reference_.side[k] == lower_[k] + system_.switches()[k].at_zero;
}

// The surfaces among `members` that may be held with the value of equality: nothing is known yet of where they go.
bool EventEngine::Run::may_stay_at_equality(int k) const {
  const model::SwitchInfo& info = system_.switches()[k];
  if (info.kind != expr::SwitchKind::jump || info.only_side(lower_[k]) != 0 || exit_side_[k] != 0)
    return false;
  if (landed_[k] != 0 && mode_.surface[k] == AtSurface::away) return false;  // it came from a side
  // A sign of what sees the forces is slid on where its sides push back, and they seldom do anything else.
  return is_place(k) || has_side_at_zero(info);
}

// Decides `rest` beside surfaces that have got their sides in mode_. Nothing is listed, and the run does not end by it.
bool EventEngine::Run::try_beside(const std::vector<int>& rest) {
  const bool probing = probing_;
  probing_ = true;
  Status status;
  motion_.load(t_, y_.data());
  bool decided = false;
  if (rest.empty()) {
    Mode trial = mode_;
    decided = try_sides(trial, status);
    if (decided) mode_ = trial;
  } else {
    decided = decide_members(rest);
  }
  probing_ = probing;
  motion_.load(t_, y_.data());
  if (decided) decided = motion_.set_mode(mode_) && motion_.evaluate();
  return decided;
}

// Whether the value of equality of k is no rest, beside the others of `members`: both of its sides leave it, one of them takes the motion through, or both push back
// and the share of each is known. `start` is the mode before the decision; mode_ holds the one in which k rests.
bool EventEngine::Run::is_no_rest(int k, const std::vector<int>& members, const std::vector<int>& held,
                                  const Mode& start) {
  if (has_side_at_zero(system_.switches()[k])) return false;  // with a side it stays
  const Mode resting = mode_;
  std::vector<int> rest;
  for (const int other : members) {
    if (other != k && !contains(held, other)) rest.push_back(other);
  }
  int leaves[2] = {0, 0};
  bool possible[2] = {false, false};
  for (const int upper : {0, 1}) {
    mode_ = start;
    for (const int other : held) hold_at_equality(mode_, other);
    take_side(mode_, k, upper);
    possible[upper] = try_beside(rest);
    if (possible[upper]) leaves[upper] = leaving_direction(k, mode_).sign;
  }
  bool shared = false;
  if (possible[0] && possible[1] && leaves[0] > 0 && leaves[1] < 0) {
    mode_ = resting;
    mode_.surface[k] = AtSurface::rests;
    mode_.side[k] = lower_[k] + 0.5;
    shared = try_beside({}) && !motion_.parallel(k);
  }
  mode_ = resting;
  motion_.load(t_, y_.data());
  const bool up = possible[1] && leaves[1] > 0;
  const bool down = possible[0] && leaves[0] < 0;
  const bool back = leaves[up ? 0 : 1] != 0 && possible[up ? 0 : 1];  // from the side that does not leave
  return (up && down) || (up != down && back) || shared;
}

void EventEngine::Run::hold_at_equality(Mode& mode, int k) const {
  mode.surface[k] = AtSurface::held;
  mode.side[k] = lower_[k] + system_.switches()[k].at_zero;
}

// Several coupled surfaces: as many of them as possible stay with the value of equality, and the others are decided beside these. Those that leave by it are taken out, all
// at once, until none does. False: none stays, and nothing is decided.
bool EventEngine::Run::stay_at_equality(const std::vector<int>& members) {
  std::vector<int> held;
  for (const int k : members) {
    if (may_stay_at_equality(k)) held.push_back(k);
  }
  if (held.empty() || probing_) return false;
  const std::vector<int> all = members;
  const Mode start = mode_;
  // Those of `with`, held, that do not stay, in `out`; mode_ then has what goes with the others. False: there is no motion.
  const auto leave = [&](const std::vector<int>& with, std::vector<int>& out) {
    std::vector<int> rest;
    std::copy_if(all.begin(), all.end(), std::back_inserter(rest), [&](int k) { return !contains(with, k); });
    mode_ = start;
    for (const int k : with) {
      fresh_switch_[k] = 1;
      hold_at_equality(mode_, k);
    }
    if (!try_beside(rest)) return false;
    const Mode decided = mode_;
    out.clear();
    std::copy_if(with.begin(), with.end(), std::back_inserter(out), [&](int k) {
      return mode_.surface[k] != AtSurface::held || leaving_direction(k, decided).sign != 0;
    });
    if (out.empty())
      std::copy_if(with.begin(), with.end(), std::back_inserter(out),
                   [&](int k) { return is_no_rest(k, all, with, start); });
    motion_.load(t_, y_.data());
    return true;
  };
  std::vector<int> out;
  while (!held.empty() && leave(held, out)) {
    if (out.empty()) return true;
    held.erase(std::remove_if(held.begin(), held.end(), [&](int k) { return contains(out, k); }), held.end());
  }
  mode_ = start;
  motion_.load(t_, y_.data());
  return false;
}

// What friction at rest and a switch bear together is shared out by the run where it is not unique, and the run says so; where anything else goes with the share of the
// switch, the motion is not unique either.
bool EventEngine::Run::shares_unique() {
  for (int k = 0; k < layout_.switches; ++k) {
    if (!mode_.slides(k) || !motion_.parallel(k)) continue;
    const ModeMotion::SharedLoad load = motion_.shared_load(k);
    if (load.relation < 0) continue;
    result_.reactions_not_unique = true;
    if (!load.moves_others || options_.on_indeterminate == OnIndeterminate::stay) continue;
    return fail({Reason::indeterminate, t_, system_.switches()[k].place,
                 "what this switch and the friction at rest of " + system_.relations()[load.relation].place +
                     " bear together is not unique, and something else moves with the share of the switch"});
  }
  return true;
}

// Whether the surface of k stays on one side only because friction at rest bears the rest of the load with that side, while the other side pushes back: then it may
// bear more with any share between, and that counts where something else moves with the share. mode_ then slides on it.
bool EventEngine::Run::shares_load(int k, const Mode& before) {
  const model::SwitchInfo& info = system_.switches()[k];
  if (layout_.tangents == 0 || info.kind != expr::SwitchKind::jump) return false;
  Mode& trial = search_.chosen;
  trial = before;
  trial.surface[k] = info.rate.outputs() > 0 ? AtSurface::rests : AtSurface::slides;
  trial.side[k] = lower_[k] + 0.5;
  Status status;
  if (!try_sides(trial, status) || !motion_.parallel(k)) return false;
  const ModeMotion::SharedLoad load = motion_.shared_load(k);
  if (load.relation >= 0 && !probing_) result_.reactions_not_unique = true;
  if (!load.moves_others) return false;
  mode_ = trial;
  return true;
}

// Where the motion on a surface that it rests on cannot be followed, it slides as far as that decides. Where nothing else does, it rests all the same: the run is for
// another engine then, and not without a motion.
bool EventEngine::Run::decide_or_rest(const std::vector<int>& members) {
  if (can_rest()) return decide_members(members);
  const Mode start = mode_;
  for (const bool rests : {false, true}) {
    mode_ = start;
    rests_asked_ = rests;
    probing_ = true;
    const bool decided = decide_members(members);
    rests_asked_ = probing_ = false;
    if (decided) return true;
    motion_.load(t_, y_.data());
  }
  mode_ = start;
  return decide_members(members);  // says what is wrong
}

// Whether the motion stays on the surface of k alone with the value of equality, the rows along it resting as they do in `held`. Then `equal` is that mode.
bool EventEngine::Run::stays_by_value(int k, const Mode& before, const Mode& held, Mode& equal) {
  if (exit_side_[k] != 0) return false;
  equal = before;
  hold_at_equality(equal, k);
  Status status;
  bool by_own_law = false;
  return try_sides(equal, status) && leaving_direction(k, equal).sign == 0 &&
         rests_alike(k, held, equal, by_own_law);
}

// Whether the rows along the surface of k that rest in one mode do so in the other; if not, whether the switch stands in what they may carry.
bool EventEngine::Run::rests_alike(int k, const Mode& one, const Mode& other, bool& by_own_law) {
  const int n = layout_.coordinates;
  const model::SwitchInfo& info = system_.switches()[k];
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (one.tangent[number] != TangentStatus::stick || other.tangent[number] == TangentStatus::stick)
        continue;
      surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), info.surface.outputs()));
      info.surface.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
      if (parallel_to(surface_memory_.data() + 2 + n, system_.rows(work_, r).tangent[j].w, n) == 0) continue;
      by_own_law = std::find(info.relations.begin(), info.relations.end(), r) != info.relations.end();
      return false;
    }
  }
  return true;
}

// What nothing moves is held. `search_.before` is the mode from which `members` were decided, `search_.chosen_leaves` tells which of them leave. `ambiguous`: the
// others may go more than one way as they are.
bool EventEngine::Run::hold_unmoved(const std::vector<int>& members, bool ambiguous) {
  // With another side the rows, and the switches that contain a member, start from what is known of this instant.
  const auto others_before = [&](Mode& mode) {
    mode.normal = search_.before.normal;
    mode.pressed = search_.before.pressed;
    mode.tangent = search_.before.tangent;
    for (int j = 0; j < layout_.switches; ++j) {
      if (contains(members, j)) continue;
      mode.surface[j] = search_.before.surface[j];
      mode.side[j] = search_.before.side[j];
    }
  };
  for (std::size_t i = 0; i < members.size(); ++i) {
    const int k = members[i];
    if (mode_.surface[k] != AtSurface::away || search_.chosen_leaves[i] != 0) continue;
    mode_.surface[k] = AtSurface::held;
    Mode& trial = search_.trial;
    trial = mode_;
    others_before(trial);
    take_side(trial, k, mode_.side[k] > lower_[k] ? 0 : 1);
    Status status;
    if (system_.switches()[k].only_side(lower_[k]) == 0 &&
        (!try_sides(trial, status) || leaving_direction(k, trial).sign != 0))
      continue;
    trial = mode_;
    others_before(trial);
    trial.side[k] = lower_[k] + system_.switches()[k].at_zero;
    // Unless the row that holds it would slip then: other rows are decided again.
    bool by_own_law = false;
    if (!try_sides(trial, status) || !rests_alike(k, mode_, trial, by_own_law) ||
        leaving_direction(k, trial).sign != 0)
      continue;
    if (trial.side[k] == mode_.side[k] && !ambiguous) {
      mode_ = trial;
      continue;
    }
    // All others have been decided with another side of it, also those that nothing moved then. They are decided again, and must leave it where it is;
    // if they do not, it has the side that it was found with.
    const Mode found = mode_;
    const Mode before = search_.before;
    const std::vector<int> leaves = search_.chosen_leaves;
    mode_ = trial;
    std::vector<int> rest;
    for (const int other : members) {
      if (other == k) continue;
      rest.push_back(other);
      mode_.surface[other] = before.surface[other];
      mode_.side[other] = before.side[other];
    }
    others_before(mode_);
    motion_.load(t_, y_.data());
    if (!(rest.size() == 1 ? decide_surface(rest.front()) : decide_several(rest))) return false;
    motion_.load(t_, y_.data());
    const bool stays = motion_.set_mode(mode_) && motion_.evaluate() && leaving_direction(k, mode_).sign == 0;
    motion_.load(t_, y_.data());
    if (stays) return true;
    mode_ = found;
    search_.before = before;
    search_.chosen_leaves = leaves;
  }
  motion_.load(t_, y_.data());
  if (!ambiguous) return true;
  mode_ = search_.before;
  return not_unique(members);
}

// Whether the motion that is set stands still, beside the rates with which the sides push to the surfaces.
bool EventEngine::Run::nothing_moves() {
  double most = 0;
  for (const int k : open_) {
    if (!motion_.mode().slides(k) || motion_.parallel(k)) continue;
    most = std::max({most, std::abs(motion_.sliding_rate(k, 0)), std::abs(motion_.sliding_rate(k, 1))});
  }
  std::vector<double>& rates = landing_y_;
  if (!motion_(t_, y_.data(), rates.data())) return false;
  for (int i = 0; i < layout_.integrated(); ++i) {
    if (std::abs(rates[i]) > kSmallRate * most) return false;
  }
  return true;
}

// As try_sides, but a surface that is slid on, though its rate sees the forces on neither side, is rested on where its second derivative sees
// them.
bool EventEngine::Run::try_resting(Mode& trial, Status& status) {
  if (!try_sides(trial, status)) return false;
  if (!may_rest()) return true;
  const auto blind = [&](int k, AtSurface surface) {
    return trial.surface[k] == surface && motion_.parallel(k) && system_.switches()[k].rate.outputs() > 0;
  };
  if (std::none_of(open_.begin(), open_.end(), [&](int k) { return blind(k, AtSurface::slides); }))
    return true;
  Mode& kept = search_.kept;
  kept = trial;
  for (const int k : open_) {
    if (!blind(k, AtSurface::slides)) continue;
    trial.surface[k] = AtSurface::rests;
    trial.side[k] = lower_[k] + 0.5;
  }
  Status resting;
  const bool rests = try_sides(trial, resting) && std::none_of(open_.begin(), open_.end(), [&](int k) {
                       return kept.surface[k] == AtSurface::slides && blind(k, AtSurface::rests);
                     });
  if (rests) return true;
  trial = kept;  // something else holds it
  return try_sides(trial, status);
}

// Whether a surface that is held is so by the motion, and the sides in work_.in leave it where it was: then it goes on as it was decided.
bool EventEngine::Run::held_by_motion(int k, double rounding) {
  double s = 0;
  system_.switches()[k].value.evaluate(work_.in.data(), &s, work_.registers.data());
  if (std::abs(s - surface_before_[k]) > rounding) return false;
  double* side = work_.in.data() + layout_.side();
  blended_.assign(side, side + layout_.switches);
  std::copy(reference_.side.begin(), reference_.side.end(), side);
  const bool constant = nested_sides_.never_moves(k, rounding);
  std::copy(blended_.begin(), blended_.end(), side);
  return !constant;
}

}  // namespace judder::engines
