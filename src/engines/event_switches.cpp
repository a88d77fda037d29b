// Switches at an instant: surfaces that the motion decides, block by block. E is the set of surfaces at zero (event_sides.cpp).
#include <algorithm>
#include <cmath>

#include "event_run.hpp"

#include "core/elementary.hpp"

namespace judder::engines {
namespace {

constexpr std::size_t kMostEnumerated = 7;  ///< surfaces of one block: 3⁷ combinations
constexpr int kMostFlips = 50;              ///< rounds of the iteration for larger blocks

}  // namespace

// Whether the forces on massless coordinates, and the laws of their friction, are the same with these sides as before the instant.
bool EventEngine::Run::nodes_alike(const std::vector<double>& side) const {
  for (int k = 0; k < layout_.switches; ++k) {
    if (side[k] == reference_.side[k]) continue;
    const model::SwitchInfo& info = system_.switches()[k];
    if (std::any_of(info.moves.begin(), info.moves.end(), [this](int i) { return system_.massless()[i]; }) ||
        std::any_of(info.relations.begin(), info.relations.end(),
                    [this](int r) { return decider_.on_massless(r); }))
      return false;
  }
  return true;
}

// What is left of the exclusions where sides change: forces jump, and what has just stopped sticking may stick again. The balance of a massless node
// knows the forces on it alone, and where none of these jumps its friction has been overcome whatever the others do.
void EventEngine::Run::keep_node_exclusions(const std::vector<double>& side, Decider::Exclusions& out) const {
  out = exclusions_;
  const bool alike = has_massless_ && nodes_alike(side);
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (alike && decider_.on_massless(r)) continue;
    out.normal[r] = 0;
    for (int j = 0; j < relation.tangents; ++j) out.tangent[relation.first_tangent + j] = 0;
  }
}

// Contacts and motion with the sides of `trial`. Switches that contain those of E follow them by value; one that is zero itself takes the side
// that it is left to.
bool EventEngine::Run::try_sides(Mode& trial, Status& status) {
  for (const int k : open_) {
    if (trial.slides(k)) return try_sliding(trial, status);
  }
  // Other sides, other forces: what has just stopped sticking may stick again with them.
  bool other = false;
  for (const int k : open_) other = other || trial.side[k] != reference_.side[k];
  search_.told.clear();
  for (int round = 0; round < 3; ++round) {
    patience_.look();
    motion_.load(t_, y_.data());
    for (int k = 0; k < layout_.switches; ++k) work_.in[layout_.side() + k] = trial.side[k];
    follow_sides(trial);
    const std::vector<int>& zero = search_.zero;
    if (other) {
      keep_node_exclusions(trial.side, kept_exclusions_);
      std::swap(exclusions_, kept_exclusions_);
    }
    const bool decided = decide_with(trial, status);
    if (other) std::swap(exclusions_, kept_exclusions_);
    if (!decided) return false;
    motion_.load(t_, y_.data());
    if (!motion_.set_mode(trial) || !motion_.evaluate()) {
      status = {Reason::not_finite,
                t_,
                {},
                "the equations of motion give no finite number on one side of a switch"};
      return false;
    }
    bool again = false;
    for (const int k : zero) {
      int leaves = leaving_direction(k, trial).sign;
      double s = 0;
      double lower = 0;
      system_.switches()[k].value.evaluate(work_.in.data(), &s, work_.registers.data());
      static_cast<void>(distance_from_level(system_.switches()[k], s, lower));
      // A kink in a surface that is being decided is beside it, unless the motion goes to the other side: abs(x') is never less than zero.
      if (kink_inside(k)) {
        if (leaves == 0) continue;
        search_.told.push_back(k);
      }
      const int only = system_.switches()[k].only_side(lower);
      if (leaves != 0 && only != 0) leaves = only;
      const double side = leaves > 0 ? lower + 1 : leaves < 0 ? lower : lower + system_.switches()[k].at_zero;
      if (side == trial.side[k]) continue;
      trial.side[k] = side;
      again = true;
    }
    if (!again) return true;
  }
  return true;
}

// Switches that contain those of E have the side of their argument beside these, and so have those in a branch that is taken again: they had no side for
// a while. The sides of `trial` are in work_.in. Collects in search_.zero those that are at zero by themselves: the motion tells.
void EventEngine::Run::follow_sides(Mode& trial) {
  search_.zero.clear();
  if (!nested_) return;
  std::vector<int>& beside = search_.beside;
  beside.clear();
  for (const int k : open_) {
    if (!trial.slides(k)) beside.push_back(k);
  }
  const auto contains_slide = [&](int k) {
    const std::vector<int>& inner = system_.switches()[k].inner;
    return std::any_of(inner.begin(), inner.end(),
                       [&](int i) { return trial.slides(i) || contains(search_.blended, i); });
  };
  search_.blended.clear();
  for (int k = 0; k < layout_.switches; ++k) {
    const model::SwitchInfo& info = system_.switches()[k];
    if (info.time_only || trial.slides(k)) continue;
    if (contains_slide(k)) {  // it has a side on each side of that one
      search_.blended.push_back(k);
      trial.surface[k] = AtSurface::away;
      continue;
    }
    if (contains(open_, k) || contains(search_.told, k)) continue;
    const bool wakes = dead_[k] != 0 && system_.live(work_, k);
    if (info.inner.empty() && (trial.surface[k] != AtSurface::away || (!wakes && !kink_inside(k)))) continue;
    const double rounding = kRoundingUnits * surface_rounding(k);
    if (trial.surface[k] == AtSurface::held && held_by_motion(k, rounding)) continue;
    const NestedSides::Verdict verdict = nested_sides_.judge(k, beside, rounding);
    if (verdict.place == NestedSides::Place::unknown) {
      if (trial.surface[k] == AtSurface::away) search_.zero.push_back(k);
      continue;
    }
    const bool constant = verdict.place == NestedSides::Place::constant;
    if (!constant && kink_inside(k)) search_.zero.push_back(k);
    trial.surface[k] = constant ? AtSurface::held : AtSurface::away;
    trial.side[k] = work_.in[layout_.side() + k] = verdict.side;
  }
}

// Whether k is a kink at zero in a surface that is being decided: it goes where each side of that one takes it.
bool EventEngine::Run::kink_inside(int k) const {
  if (system_.switches()[k].kind != expr::SwitchKind::kink || carried_[k] == 0) return false;
  for (const int outer : open_) {
    const std::vector<int>& inner = system_.switches()[outer].inner;
    if (std::find(inner.begin(), inner.end(), k) != inner.end()) return true;
  }
  return false;
}

// The same while some surfaces are slid on. The coefficients of the combination and the statuses of the rows at rest depend on each other: every
// guess of these statuses gives coefficients, and must come out of the decision that is made with them.
bool EventEngine::Run::try_sliding(Mode& trial, Status& status) {
  constexpr std::size_t kMostRows = 4;
  static constexpr TangentStatus kGuess[] = {TangentStatus::stick, TangentStatus::slip_plus,
                                             TangentStatus::slip_minus};
  std::vector<int>& rows = search_.rows;
  rows.clear();
  motion_.load(t_, y_.data());
  for (int k = 0; k < layout_.switches; ++k) work_.in[layout_.side() + k] = trial.side[k];
  search_.told.clear();
  follow_sides(trial);
  free_unloaded(trial);  // with the sides around, which may be what presses
  for (int j = 0; j < layout_.tangents; ++j) {
    if (trial.tangent[j] == TangentStatus::stick && rows.size() < kMostRows) rows.push_back(j);
  }
  int guesses = 1;
  for (std::size_t i = 0; i < rows.size(); ++i) guesses *= 3;
  Mode& known = search_.known;
  known = trial;
  status = {};
  // A slide that goes on changes no force: what has stopped sticking does not stick again.
  const bool other = std::any_of(open_.begin(), open_.end(), [&](int k) {
    return known.slides(k) != reference_.slides(k) ||
           (!known.slides(k) && known.side[k] != reference_.side[k]);
  });
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
      motion_.load(t_, y_.data());
      if (!motion_.set_mode(guess) || !motion_.evaluate()) break;
      combined_force_.assign(work_.force.begin(), work_.force.begin() + layout_.coordinates);
      trial = known;
      bool within = true;
      for (int k = 0; k < layout_.switches; ++k) {
        if (!known.slides(k)) continue;
        trial.side[k] = motion_.mode().side[k];
        const double coefficient = trial.side[k] - std::floor(known.side[k]);
        within = within && coefficient >= -kSmallRate && coefficient <= 1 + kSmallRate;
      }
      if (!within && options_.on_indeterminate != OnIndeterminate::stay) break;
      motion_.load(t_, y_.data());
      if (other)
        keep_node_exclusions(trial.side, kept_exclusions_);
      else
        kept_exclusions_ = exclusions_;
      // The force of the slide is given in the decision, and would leave a row at rest that the same force, free to follow, has overcome: with that row at
      // rest and the others as here, the guess before this one has failed.
      for (const int j : rows) {
        if (direction(guess.tangent[j]) != 0)
          kept_exclusions_.tangent[j] |= contact::bit(contact::RowStatus::stick);
      }
      std::swap(exclusions_, kept_exclusions_);
      Status decided;
      if (!motion_.outer().empty())
        decider_.given_force.assign(combined_force_.begin(), combined_force_.end());
      const bool found = decide_with(trial, decided);
      decider_.given_force.clear();
      std::swap(exclusions_, kept_exclusions_);
      if (!found) {
        status = decided;
        break;
      }
      if (trial.tangent == guess.tangent && trial.normal == guess.normal && trial.pressed == guess.pressed) {
        motion_.load(t_, y_.data());
        if (!motion_.set_mode(trial) || !motion_.evaluate()) break;
        // What neither side moves must be held by something else.
        bool holds = true;
        for (int k = 0; k < layout_.switches; ++k) {
          if (trial.slides(k) && motion_.parallel(k))
            holds = holds && std::abs(motion_.surface_rate(k)) <=
                                 std::max(kSmallRate * surface_rate_scale(k), surface_rate_rounding(k));
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
              t_,
              {},
              "no combination of the two sides of a switch holds the motion on its surface"};
  }
  trial = known;
  return false;
}

// Whether the surface of switch k changes with the speed of a massless coordinate, at the loaded state.
bool EventEngine::Run::reads_node_speed(int k) {
  const expr::Program& program = system_.switches()[k].surface;
  surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), program.outputs()));
  program.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
  const int n = layout_.coordinates;
  for (int i = 0; i < n; ++i) {
    if (system_.massless()[i] && surface_memory_[2 + n + i] != 0) return true;
  }
  return false;
}

// The direction in which a row leaves its rest across the surface of switch k, away from the side that the switch has in `trial`: friction there is that of
// the other side, and the forces are of this one, so no motion shows it. 0: none does.
int EventEngine::Run::slips_across(int k, const Mode& trial) const {
  if (trial.slides(k)) return 0;
  const bool upper = trial.side[k] > lower_[k];
  for (int j = 0; j < layout_.tangents; ++j) {
    if (direction(trial.tangent[j]) == 0 || entering_.tangent[j] != TangentStatus::stick) continue;
    const int to = direction(trial.tangent[j]) * decider_.rest_laws().along(j, k);
    if (to != 0 && (to > 0) != upper) return to;
  }
  return 0;
}

// In which direction the motion of the mode that is set leaves the surface of switch k: the sign of the first derivative that is not zero, and its
// order. Zero: the motion stays on it, as far as order 8 tells.
EventEngine::Run::Leaving EventEngine::Run::leaving_direction(int k, const Mode& trial) {
  patience_.look();
  if (const int across = slips_across(k, trial); across != 0) return {across, 1};
  if (has_massless_ && reads_node_speed(k)) {
    // The speed of a massless node jumps where its friction is overcome, and a surface that reads it is left by that jump. What a landing has left
    // of its zero is none: it was there before the instant.
    const model::SwitchInfo& info = system_.switches()[k];
    double s = 0;
    info.value.evaluate(work_.in.data(), &s, work_.registers.data());
    const double distance = s - (info.two_sided() ? 0 : info.level_above(lower_[k]));
    if (std::min(std::abs(distance), std::abs(s - surface_before_[k])) > kRoundingUnits * surface_rounding(k))
      return {distance > 0 ? 1 : -1, 1};
  }
  // A multiple of a surface that is slid on stays where that one does: what is left is what parts them.
  double ratio = 0;
  const int along = slide_along(k, trial, ratio);
  const double rate = motion_.surface_rate(k) - (along < 0 ? 0 : ratio * motion_.surface_rate(along));
  // A surface with a fractional power may have no slope at zero, and goes where its value does all the same.
  if (std::isnan(rate)) return leaving_ahead(k, trial);
  const double scale = faded_rate_scale(k);
  const double rounding = surface_rate_rounding(k);
  if (std::abs(rate) > std::max(kSmallRate * scale, rounding) && std::abs(rate) > force_rounding(k))
    return {rate > 0 ? 1 : -1, 1};
  // To the highest order that it has: at the touch the force of a contact with the exponent 1.5 has two.
  if (!series_.compute(trial, expr::kTaylorOrder) && series_.order() < 2) return leaving_by_acceleration(k);
  expr::Series s = series_.surface(k);
  if (along >= 0) {
    const expr::Series other = series_.surface(along);
    for (int o = 1; o <= series_.order(); ++o) {
      const double terms = std::abs(s.c[o]) + std::abs(ratio * other.c[o]);
      s.c[o] -= ratio * other.c[o];
      if (std::abs(s.c[o]) <= kSmallRate * terms) s.c[o] = 0;
    }
  }
  // Terms that cancel for good leave rounding in all derivatives.
  const double least = std::max(kSmallRate * scale * series_.time_scale(),
                                rounding > 0 && scale <= rounding ? kRoundingUnits * surface_rounding(k) : 0);
  const int from = rounding > 0 ? 2 : 1;
  double power = from == 2 ? series_.time_scale() * series_.time_scale() : series_.time_scale();
  // A friction that is just overcome leaves the rounding of forces that balance, where nothing has moved yet.
  const model::SwitchInfo& info = system_.switches()[k];
  surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), info.surface.outputs()));
  info.surface.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
  const auto unbalanced = [&](int o) {
    double sum = 0;
    for (int i = 0; i < layout_.coordinates; ++i) {
      sum += std::abs(surface_memory_[2 + layout_.coordinates + i]) * series_.rounding(o - 1, i) / o;
      if (o > 1) sum += std::abs(surface_memory_[2 + i]) * series_.rounding(o - 2, i) / (o * (o - 1));
    }
    return sum;
  };
  if (exit_side_[k] != 0 && info.rate.outputs() == 0) {
    // What the landing has left of the rate is no more than rounding either.
    const Leaving leaves =
        leaving_past_rounding(s, std::max({rounding, force_rounding(k), std::abs(s.c[1])}));
    if (leaves.sign != 0) return leaves;
  }
  for (int o = from; o <= series_.order(); ++o, power *= series_.time_scale()) {
    if (std::abs(s.c[o] * power) > least && std::abs(s.c[o]) > unbalanced(o)) return {s.c[o] > 0 ? 1 : -1, o};
  }
  return series_.order() < 2 ? leaving_by_acceleration(k) : Leaving{0, 0};
}

// Where a slide ends because its push passes zero to a high order, rounding puts the instant somewhere into the time in which the push is less than that: its
// derivatives there may have either sign (those of (t - 2)^3 shortly before t = 2). What leaves is the rate that comes out of the rounding first.
EventEngine::Run::Leaving EventEngine::Run::leaving_past_rounding(const expr::Series& surface,
                                                                  double rounding) const {
  constexpr int kHalvings = 60;  ///< of the time that phases last
  constexpr double kClear = 8;   ///< roundings
  const double longest = std::max({series_.time_scale(), t_ - phase_.time, last_flight_});
  for (int halving = kHalvings; halving >= 0; --halving) {
    const double time = elementary::whole_pow(0.5, halving) * longest;
    double rate = 0;
    double largest = 0;
    double power = 1;
    int order = 0;
    for (int o = 1; o <= series_.order(); ++o, power *= time) {
      const double term = o * surface.c[o] * power;
      rate += term;
      if (std::abs(term) > largest) order = o;
      largest = std::max(largest, std::abs(term));
    }
    if (std::abs(rate) > kClear * rounding) return {rate > 0 ? 1 : -1, order};
  }
  return {0, 0};
}

// The sign of a rate that sees the forces, and is more than rounding, however small beside its terms.
EventEngine::Run::Leaving EventEngine::Run::small_push(int k, const Mode& trial) {
  if (system_.switches()[k].rate.outputs() > 0) return {0, 0};
  motion_.load(t_, y_.data());
  if (!motion_.set_mode(trial) || !motion_.evaluate()) return {0, 0};
  const double rate = motion_.surface_rate(k);
  if (!(std::abs(rate) > std::max(surface_rate_rounding(k), force_rounding(k)))) return {0, 0};
  return {rate > 0 ? 1 : -1, 1};
}

// The same by the values that the surface has a little later.
EventEngine::Run::Leaving EventEngine::Run::leaving_ahead(int k, const Mode& trial) {
  const model::SwitchInfo& info = system_.switches()[k];
  const double level = info.two_sided() ? 0 : info.level_above(lower_[k]);
  const int sign = direction_ahead(trial, info.value, level, kRoundingUnits * surface_rounding(k));
  return {sign, 1};
}

// The same where higher derivatives do not exist, as those of sqrt(abs(x)) at zero: s̈ of a surface that does not see velocities.
EventEngine::Run::Leaving EventEngine::Run::leaving_by_acceleration(int k) {
  constexpr double kSure = 1e-9;  ///< share of its terms beyond which the sign is known
  const model::SwitchInfo& info = system_.switches()[k];
  if (info.rate.outputs() == 0) return {0, 0};
  surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), info.rate.outputs()));
  info.rate.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
  double sum = surface_memory_[1];
  double terms = std::abs(sum);
  const auto add = [&](double slope, double by, double size) {
    if (slope == 0) return;
    sum += slope * by;
    terms += std::abs(slope) * size;
  };
  const int n = layout_.coordinates;
  for (int i = 0; i < n; ++i) {
    const double v = work_.in[layout_.v() + i];
    add(surface_memory_[2 + i], v, std::abs(v));
    add(surface_memory_[2 + n + i], motion_.acceleration()[i], motion_.acceleration_terms()[i]);
  }
  for (int i = 0; i < layout_.states; ++i)
    add(surface_memory_[2 + 2 * n + i], work_.rate[i], std::abs(work_.rate[i]));
  return std::abs(sum) > kSure * terms ? Leaving{sum > 0 ? 1 : -1, 2} : Leaving{0, 0};
}

// Decides the surfaces of E and, with their sides, which contacts open, stick and slip. Those that contain others of E come after them, by value
// where these have moved them away from zero. The others have been decided with the sides that they followed to: where they contradict what comes of
// them by themselves, they keep these.
bool EventEngine::Run::decide_surfaces() {
  Mode& known = search_.at_first;
  known.normal = mode_.normal;
  known.pressed = mode_.pressed;
  known.tangent = mode_.tangent;
  search_.decided.clear();
  if (!decide_open_surfaces()) return false;
  while (!later_.empty()) {
    search_.followed = mode_;
    // What was decided with other sides is decided again, from what is known of this instant.
    mode_.normal = known.normal;
    mode_.pressed = known.pressed;
    mode_.tangent = known.tangent;
    std::vector<int>& waiting = search_.waiting;
    waiting.assign(later_.begin(), later_.end());
    later_.clear();
    search_.decided.insert(search_.decided.end(), open_.begin(), open_.end());
    open_.clear();
    motion_.load(t_, y_.data());
    load_statuses();
    for (const int k : waiting) static_cast<void>(side_by_value(k));
    if (!decide_open_surfaces()) return false;
    if (open_.empty() || mode_.side == search_.followed.side || !moves_against_sides(mode_) ||
        moves_against_sides(search_.followed))
      continue;
    mode_ = search_.followed;
    for (const int k : open_) {
      if (leaving_direction(k, mode_).sign == 0) mode_.surface[k] = AtSurface::held;
    }
  }
  return true;
}

// Whether the motion in `mode` leaves a surface that has been decided to the other side than the one that it has.
bool EventEngine::Run::moves_against_sides(const Mode& mode) {
  motion_.load(t_, y_.data());
  for (int k = 0; k < layout_.switches; ++k) work_.in[layout_.side() + k] = mode.side[k];
  if (!motion_.set_mode(mode) || !motion_.evaluate()) return true;
  return std::any_of(search_.decided.begin(), search_.decided.end(), [&](int k) {
    if (mode.slides(k) || system_.switches()[k].only_side(lower_[k]) != 0) return false;
    const int leaves = leaving_direction(k, mode).sign;
    return leaves != 0 && (mode.surface[k] == AtSurface::held || (leaves > 0) != (mode.side[k] > lower_[k]));
  });
}

// The surfaces in open_, block by block.
bool EventEngine::Run::decide_open_surfaces() {
  Status status;
  for (const int k : open_) carried_[k] = 1;  // decided once, it is not read from its value again
  if (open_.empty()) return decide_with(mode_, status) || paradox(status);
  const int blocks = open_.size() == 1 ? 1 : static_cast<int>(coupling_.group(mode_, open_));
  search_.block.assign(open_.size(), 0);
  if (blocks > 1) std::copy(coupling_.block().begin(), coupling_.block().end(), search_.block.begin());
  for (int b = 0; b < blocks; ++b) {
    std::vector<int> members;  // decisions of some of them are made within that of all
    for (std::size_t i = 0; i < open_.size(); ++i) {
      if (search_.block[i] == b) members.push_back(open_[i]);
    }
    const bool several = members.size() > 1;
    if (!(several && stay_at_equality(members)) && !decide_or_rest(members)) return false;
  }
  if (blocks == 1) return true;
  motion_.load(t_, y_.data());
  return decide_with(mode_, status) || paradox(status);
}

bool EventEngine::Run::decide_members(const std::vector<int>& members) {
  return members.size() == 1                 ? decide_surface(members.front())
         : members.size() <= kMostEnumerated ? decide_several(members)
                                             : decide_many(members);
}

void EventEngine::Run::take_side(Mode& trial, int k, int upper) {
  trial.surface[k] = AtSurface::away;
  trial.side[k] = lower_[k] + upper;
}

// No side, or two, of a surface that the motion is on.
bool EventEngine::Run::not_unique(const std::vector<int>& members) {
  if (probing_) return false;
  if (options_.on_indeterminate == OnIndeterminate::stay) {
    Mode& trial = search_.trial;
    trial = mode_;
    for (const int k : members) {
      trial.surface[k] = AtSurface::slides;
      trial.side[k] = lower_[k] + 0.5;
    }
    Status status;
    if (try_sides(trial, status)) {
      mode_ = trial;
      return true;
    }
  }
  return fail({Reason::indeterminate, t_, system_.switches()[members.front()].place,
               "the two sides of a switch push away from its surface: the motion is not unique"});
}

// One surface alone. Both sides point to it: it is slid on, or rested on where its rate does not see the forces. One points away: it is left to
// that side. Neither moves it: it is held, with the side that the language gives at equality.
bool EventEngine::Run::decide_surface(int k) {
  Mode& before = search_.before;
  before = mode_;
  fresh_switch_[k] = 1;
  const model::SwitchInfo& info = system_.switches()[k];
  if (go_on_held({k}, before)) return true;
  const int only = info.only_side(lower_[k]);
  const bool was_upper = before.surface[k] == AtSurface::away ? before.side[k] > lower_[k] : false;
  const bool crossing = landed_[k] != 0 && before.surface[k] == AtSurface::away;
  Status status[2];
  bool possible[2] = {false, false};
  Leaving leaves[2];
  const int first = crossing ? (was_upper ? 0 : 1) : 1;
  for (const int upper : {first, 1 - first}) {
    Mode& trial = search_.on_side[upper];
    trial = before;
    take_side(trial, k, upper);
    // What has one sign by its form is left to that side, if at all.
    if (only != 0 && (only > 0) != (upper != 0)) continue;
    possible[upper] = try_sides(trial, status[upper]);
    if (possible[upper]) leaves[upper] = leaving_direction(k, trial);
    // A touch of high order, as that of |x|³, is left by the motion of what is inside, where derivatives of the surface tell nothing yet.
    if (only != 0 && possible[upper] && leaves[upper].sign == 0) leaves[upper] = leaving_ahead(k, trial);
    if (only != 0 && leaves[upper].sign != 0) leaves[upper].sign = only;
    // It came from the other side, and goes on.
    if (upper == first && crossing && possible[upper] && leaves[upper].sign == (upper != 0 ? 1 : -1)) {
      mode_ = trial;
      return true;
    }
  }
  if (only != 0 && !possible[0] && !possible[1]) {
    mode_ = before;
    motion_.load(t_, y_.data());
    return paradox(status[only > 0 ? 1 : 0]);
  }
  // What is too small for a sign beside a side that pushes has the sign that it has: friction at its limit to the last digits holds, or lets go.
  for (const int upper : {0, 1}) {
    if (only != 0 || !possible[0] || !possible[1] || leaves[upper].sign != 0) continue;
    if (leaves[1 - upper].sign == (upper != 0 ? 1 : -1))
      leaves[upper] = small_push(k, search_.on_side[upper]);
  }
  const bool up = possible[1] && leaves[1].sign > 0;
  const bool down = possible[0] && leaves[0].sign < 0;
  const bool stays[2] = {possible[0] && leaves[0].sign == 0, possible[1] && leaves[1].sign == 0};
  // One side pushes to the other, where the motion is not unique.
  for (const int upper : {0, 1}) {
    if (possible[upper] || status[upper].reason != Reason::indeterminate || !possible[1 - upper]) continue;
    if (leaves[1 - upper].sign != (upper != 0 ? 1 : -1)) continue;
    mode_ = before;
    motion_.load(t_, y_.data());
    return paradox(status[upper]);
  }
  if (up && down) {
    if (exit_side_[k] != 0) {
      mode_ = search_.on_side[exit_side_[k] > 0 ? 1 : 0];
      return true;
    }
    if (keeps_side(k)) {
      mode_ = search_.on_side[reference_.side[k] > lower_[k] ? 1 : 0];
      return true;
    }
    mode_ = before;
    return not_unique({k});
  }
  // One side leaves it or pushes back, and the other does nothing: it stays where the value of equality keeps it, as that does at rest.
  if (stays[0] != stays[1] && only == 0 &&
      stays_by_value(k, before, search_.on_side[stays[1] ? 1 : 0], search_.chosen)) {
    mode_ = search_.chosen;
    return true;
  }
  if (up || down) {
    mode_ = search_.on_side[up ? 1 : 0];
    return true;
  }
  if (stays[0] != stays[1] && only == 0 && exit_side_[k] == 0 && shares_load(k, before)) return true;
  if (stays[0] || stays[1]) {
    Mode& held = search_.trial;
    held = search_.on_side[stays[1] ? 1 : 0];
    held.surface[k] = AtSurface::held;
    // A massless node that has just come to rest slips with the side that pushes back, at the limit of its friction, and is at rest all the same.
    const int other = stays[1] ? 0 : 1;
    const bool comes_back = has_massless_ && possible[other] && leaves[other].sign == (other == 0 ? 1 : -1) &&
                            reads_node_speed(k);
    if ((stays[0] && stays[1]) || comes_back || only != 0) {
      const double side = lower_[k] + info.at_zero;
      Status next;
      Mode& equal = search_.chosen;
      equal = before;
      equal.surface[k] = AtSurface::held;
      equal.side[k] = side;
      // Unless the row that holds it would slip then. If it does so by its own law (`abs(sign(x'))`), which at rest is that of the sides, the value is
      // that of equality all the same; if others make it slip, they have been decided on a side, and that is kept.
      bool by_own_law = true;
      // And unless it is left with the value of equality, which holds at an instant only then: it has the value of a side.
      if (try_sides(equal, next)) {
        const bool leaves_it = leaving_direction(k, equal).sign != 0;
        if (rests_alike(k, held, equal, by_own_law)) {
          if (!leaves_it) held = equal;
          by_own_law = false;
        }
      }
      if (by_own_law && only == 0) held.side[k] = side;
    }
    mode_ = held;
    return true;
  }
  // It has just ceased to slide, unless its push only touched zero: then the next derivatives say that it presses on.
  // Where another side has changed in the same instant, what its push was before tells nothing.
  const int exit = exit_side_[k] > 0 ? 1 : 0;
  if (exit_side_[k] != 0 && possible[exit] && leaves[exit].order <= 1 && !others_changed(k)) {
    mode_ = search_.on_side[exit];
    return true;
  }
  if (std::min(leaves[0].order, leaves[1].order) > 1) meet_kinks(k);
  Mode& trial = search_.trial;
  trial = before;
  // Where neither rate tells, the surface does not see the forces in its first derivative.
  const bool second = info.rate.outputs() > 0 && std::min(leaves[0].order, leaves[1].order) > 1;
  trial.surface[k] = second ? AtSurface::rests : AtSurface::slides;
  trial.side[k] = lower_[k] + 0.5;
  Status sliding;
  // A push that grows from zero has no sign yet.
  const auto pushes = [&](int upper) {
    return leaves[upper].order > 1 ||
           (upper != 0 ? motion_.sliding_rate(k, 1) <= 0 : motion_.sliding_rate(k, 0) >= 0);
  };
  if (try_sides(trial, sliding) && (motion_.parallel(k) || (pushes(0) && pushes(1)))) {
    // Beside a row at rest the share of the sides is not known, and the value of equality is one that solves the equations as they are written.
    if (second && motion_.parallel(k) && stays_by_value(k, before, trial, search_.chosen)) {
      mode_ = search_.chosen;
      return true;
    }
    for (const int upper : {0, 1})
      push_zeros_[2 * k + upper] =
          static_cast<std::int8_t>(std::max(leaves[upper].order - (second ? 2 : 1), 0));
    mode_ = trial;
    return true;
  }
  mode_ = before;
  motion_.load(t_, y_.data());
  for (const int upper : {0, 1}) {
    if (!possible[upper] && !status[upper].ok()) return paradox(status[upper]);
  }
  return not_unique({k});
}

// Whether this instant has changed the side of a switch other than k that neither slides now nor did so before.
bool EventEngine::Run::others_changed(int k) const {
  for (int j = 0; j < layout_.switches; ++j) {
    if (j != k && !mode_.slides(j) && !reference_.slides(j) && mode_.side[j] != reference_.side[j])
      return true;
  }
  return false;
}

// Several coupled surfaces: all assignments of sides are tried; each must be confirmed by the motion that it gives. Of those that leave as many
// surfaces as possible the first is taken, crossings before others; only if there is none some of them are slid on.
bool EventEngine::Run::decide_several(const std::vector<int>& members) {
  Mode& before = search_.before;
  before = mode_;
  const int count = static_cast<int>(members.size());
  for (const int k : members) fresh_switch_[k] = 1;
  if (go_on_held(members, before)) {
    motion_.load(t_, y_.data());
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
    by_crossing = by_crossing && landed_[k] != 0 && before.surface[k] == AtSurface::away;
  std::vector<long>& not_unique_at = search_.not_unique_at;
  bool chosen_turns = false;
  bool places = false;  // surfaces of places may be rested on by a combination of their sides
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
      const bool was_upper = before.surface[k] == AtSurface::away && before.side[k] > lower_[k];
      // First the natural continuation: what was met is crossed, what was not keeps its side.
      const bool natural = keeps_side(k)     ? reference_.side[k] > lower_[k]
                           : landed_[k] != 0 ? !was_upper
                                             : was_upper || before.surface[k] != AtSurface::away;
      if (choice == 2) {
        if (!places && is_place(k) && before.surface[k] != AtSurface::rests) return;
        // What it rested on it goes on resting on.
        trial.surface[k] = before.surface[k] == AtSurface::rests ? AtSurface::rests : AtSurface::slides;
        trial.side[k] = lower_[k] + 0.5;
        slides = true;
      } else {
        const int upper = (choice == 0) == natural ? 1 : 0;
        const int own = system_.switches()[k].only_side(lower_[k]);
        if (own != 0 && (own > 0) != (upper != 0)) return;
        take_side(trial, k, upper);
      }
    }
    if (base == 3 && !slides) return;
    for (const int k : members) {
      if (base == 3 && best >= 0 && !places && trial.slides(k) != chosen.slides(k)) return;
    }
    Status status;
    if (!try_resting(trial, status)) {
      last = status;
      if (base == 2 && status.reason == Reason::indeterminate) not_unique_at.push_back(number);
      return;
    }
    leaves.assign(members.size(), 0);
    int left = 0;
    for (int i = 0; i < count; ++i) {
      const int k = members[i];
      if (trial.slides(k)) {
        if (motion_.parallel(k)) {
          // Neither side moves its rate, and nothing else may hold it: then its next derivative tells.
          if (leaving_direction(k, trial).sign != 0) return;
          continue;
        }
        const double below = motion_.sliding_rate(k, 0);
        const double above = motion_.sliding_rate(k, 1);
        const double least = ends ? 0 : kSmallRate * (below - above);
        if (!(below >= least && above <= -least && below > above)) return;
        continue;
      }
      const bool upper = trial.side[k] > lower_[k];
      leaves[i] = leaving_direction(k, trial).sign;
      if (leaves[i] == 0) {
        const bool may_slide = smallest && system_.switches()[k].only_side(lower_[k]) == 0;
        if (may_slide && small_push(k, trial).sign * (upper ? 1 : -1) < 0) return;
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
    for (int i = 0; i < count; ++i) moved[i] |= leaves[i];
    // What has rested with the side of its value goes on with that one.
    const bool turns = std::any_of(members.begin(), members.end(), [&](int k) {
      return keeps_side(k) && trial.side[k] != reference_.side[k];
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
  // A surface with a small push back to it on one side is slid on, or else what is too small for a sign is none.
  for (const bool counts : {true, false}) {
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
    if (!not_unique_at.empty()) {
      const std::vector<long> found = not_unique_at;
      all_refuting = true;
      for (const long code : found) {
        for (int i = 0; i < count; ++i) {
          attempt(code ^ (1L << i), 2);
          if (refuted_by != i) continue;
          attempt(code, 2);  // its status
          mode_ = before;
          motion_.load(t_, y_.data());
          return paradox(last);
        }
      }
      all_refuting = false;
    }
    combinations = 1;
    for (int i = 0; i < count; ++i) combinations *= 3;
    // A surface that one side no longer brings the motion to is slid on only where nothing leaves it. With the same surfaces slid on, as many others as
    // possible are left.
    // What friction holds rests on one side of a place, and on a combination of both only where that lets more of the others go.
    const bool any_place = std::any_of(members.begin(), members.end(), [this](int k) { return is_place(k); });
    for (const bool both : {false, true}) {
      if (both && !any_place) continue;
      places = both;
      for (const bool last_of_it : {false, true}) {
        ends = last_of_it;
        for (long code = 0; code < combinations; ++code) attempt(code, 3);
        if (best >= 0) break;
      }
    }
    if (best >= 0) break;
  }
  if (best < 0) {
    // No side is confirmed, and no surface attracts by itself: they are slid on together where a combination holds all of them.
    Mode& trial = search_.trial;
    trial = before;
    for (const int k : members) {
      trial.surface[k] = AtSurface::slides;
      trial.side[k] = lower_[k] + 0.5;
    }
    Status status;
    if (try_resting(trial, status)) {
      best = 0;
      chosen = trial;
      chosen_leaves.assign(members.size(), 0);
    }
  }
  motion_.load(t_, y_.data());
  if (best < 0) return last.ok() ? not_unique(members) : paradox(last);
  if (ambiguous && !by_crossing) {
    // With a surface that nothing moves on either side the others may go either way: it is held, and they are decided beside it.
    mode_ = chosen;
    chosen_leaves = moved;
    return hold_unmoved(members, true);
  }
  mode_ = chosen;
  if (!may_rest() && motion_.set_mode(mode_) && motion_.evaluate() && !nothing_moves()) {
    for (const int k :
         members) {  // sliding would not stay on it: the engine has to say that it cannot follow
      if (mode_.surface[k] == AtSurface::slides && motion_.parallel(k) &&
          system_.switches()[k].rate.outputs() > 0)
        mode_.surface[k] = AtSurface::rests;
    }
    motion_.load(t_, y_.data());
  }
  return hold_unmoved(members, false);
}

// More surfaces than can be enumerated: sides that the motion contradicts are changed, all at once; a surface that goes back and forth is slid on.
bool EventEngine::Run::decide_many(const std::vector<int>& members) {
  Mode trial = mode_;
  std::vector<int> flips(members.size(), 0);
  for (const int k : members) {
    fresh_switch_[k] = 1;
    const bool was_upper = mode_.surface[k] == AtSurface::away && mode_.side[k] > lower_[k];
    const int own = system_.switches()[k].only_side(lower_[k]);
    take_side(trial, k, own != 0 ? (own > 0 ? 1 : 0) : landed_[k] != 0 ? !was_upper : was_upper);
  }
  Status status;
  for (int round = 0; round < kMostFlips; ++round) {
    if (!try_sides(trial, status)) return paradox(status);
    bool consistent = true;
    Mode next = trial;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const int k = members[i];
      if (trial.slides(k)) {
        if (motion_.parallel(k) || (motion_.sliding_rate(k, 0) >= 0 && motion_.sliding_rate(k, 1) <= 0))
          continue;
        take_side(next, k, motion_.sliding_rate(k, 1) > 0 ? 1 : 0);
        consistent = false;
        continue;
      }
      const int leaves = leaving_direction(k, trial).sign;
      const bool upper = trial.side[k] > lower_[k];
      if (leaves == 0 || (leaves > 0) == upper || system_.switches()[k].only_side(lower_[k]) != 0) continue;
      consistent = false;
      if (++flips[i] > 2) {
        next.surface[k] = AtSurface::slides;
        next.side[k] = lower_[k] + 0.5;
      } else {
        take_side(next, k, upper ? 0 : 1);
      }
    }
    if (consistent) {
      mode_ = trial;
      return true;
    }
    trial = next;
  }
  return not_unique(members);
}

}  // namespace judder::engines
