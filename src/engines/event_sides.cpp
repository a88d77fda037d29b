// Sides of switches and directions of slip by value: what an instant knows before anything is decided.
//
// mechanics: docs/theory.md, "An instant". E is the set of surfaces whose status is carried or decided, never read from a value: those whose zero
// brought us here, those that the motion slides or rests on, and those that are zero to rounding. All others have the side of their value.
#include <algorithm>
#include <cmath>
#include <limits>

#include "event_run.hpp"

namespace judder::engines {
namespace {

constexpr double kEpsilon = 2.220446049250313e-16;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

// Evaluates the motion in the mode that ends, as far as its guards need it, and takes over the coefficients with which it slides now: a
// decision about something else must not see those of the beginning.
bool EventEngine::Run::evaluate_coefficients() {
  bool slides = false;
  for (int k = 0; k < layout_.switches; ++k) slides = slides || mode_.slides(k);
  if (!slides && !guards_.needs_motion()) return true;
  if (!motion_.evaluate()) return false;
  for (int k = 0; k < layout_.switches; ++k) {
    if (mode_.slides(k)) mode_.side[k] = motion_.mode().side[k];
  }
  return true;
}

// What the present instant starts from: a jump is seen against it.
void EventEngine::Run::note_instant() {
  for (int i = 0; i < layout_.coordinates; ++i) speed_before_[i] = std::abs(work_.in[layout_.v() + i]);
  for (int k = 0; k < layout_.switches; ++k) {
    const model::SwitchInfo& info = system_.switches()[k];
    if (!info.time_only) info.value.evaluate(work_.in.data(), &surface_before_[k], work_.registers.data());
  }
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.rows_constant || relation.tangents == 0) continue;
    const model::RelationRows& rows = system_.rows(work_, r);
    for (int j = 0; j < relation.tangents; ++j)
      slip_before_[relation.first_tangent + j] = rows.tangent[j].slip;
  }
}

// Rounding of the surface of switch k: interval arithmetic with every number known to its last bit. What has moved is known to the last bit of
// its running scale only, and velocities to that of what they have been at this instant.
double EventEngine::Run::surface_rounding(int k) { return rounding_of(system_.switches()[k].value); }

// The same for the first output of any program, at the state and sides in work_.in.
double EventEngine::Run::rounding_of(const expr::Program& program) {
  enclose(program);
  return 0.5 * enclosure_.width(0);
}

// All outputs of a program as intervals, with the state known to the last bits of what it has been.
void EventEngine::Run::enclose(const expr::Program& program) {
  enclosure_.take(work_.in);
  for (int i = 0; i <= layout_.integrated(); ++i) {
    double size = std::abs(work_.in[i]);
    if (i > 0) size = std::max(size, scales_.sizes()[i - 1]);
    const int v = i - layout_.v();
    if (v >= 0 && v < layout_.coordinates) size = std::max(size, speed_before_[v]);
    enclosure_.widen(i, kEpsilon * size);
  }
  enclosure_.evaluate(program);
}

// Whether the surface contains the side of a switch that slides: it is judged on each side of that one (ModeMotion).
bool EventEngine::Run::contains_sliding(int k) {
  const auto& switches = system_.switches();
  if (switches[k].inner.empty()) return false;
  // Each switch stands behind those inside it. Looked at once each: there are as many ways down to them as the nesting has branches.
  std::fill(inside_.begin(), inside_.end(), std::uint8_t{0});
  for (const int inner : switches[k].inner) inside_[inner] = 1;
  for (int j = k - 1; j >= 0; --j) {
    if (inside_[j] == 0) continue;
    if (mode_.slides(j)) return true;
    for (const int inner : switches[j].inner) inside_[inner] = 1;
  }
  return false;
}

void EventEngine::Run::load_statuses() {
  for (int k = 0; k < layout_.switches; ++k) work_.in[layout_.side() + k] = mode_.side[k];
  for (int j = 0; j < layout_.tangents; ++j) work_.in[layout_.direction() + j] = direction(mode_.tangent[j]);
  for (int r = 0; r < layout_.relations; ++r)
    work_.in[layout_.closed() + r] = mode_.normal[r] == NormalStatus::open ? 0 : 1;
}

// The direction in which a surface of positions and time is left, where the velocities tell it beyond rounding; 0: the motion decides. Speeds of
// massless coordinates and rates of states are no more known than accelerations.
int EventEngine::Run::direction_by_speed(int k) {
  const model::SwitchInfo& info = system_.switches()[k];
  if (info.rate.outputs() == 0) return 0;
  const int n = layout_.coordinates;
  surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), info.surface.outputs()));
  info.surface.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
  double rate = surface_memory_[1];
  double terms = std::abs(rate);
  for (int i = 0; i < n; ++i) {
    if (surface_memory_[2 + i] == 0) continue;
    if (system_.massless()[i]) return 0;
    rate += surface_memory_[2 + i] * work_.in[layout_.v() + i];
    terms += std::abs(surface_memory_[2 + i] * work_.in[layout_.v() + i]);
  }
  for (int i = 0; i < layout_.states; ++i) {
    if (surface_memory_[2 + 2 * n + i] != 0) return 0;  // sees rates, which the sides decide
  }
  if (!(std::abs(rate) > std::max(kSmallRate * terms, surface_rate_rounding(k)))) return 0;
  return rate > 0 ? 1 : -1;
}

// Every switch that is not in E takes the side of its value, inner ones before those that contain them. Collects E in open_, and in later_ what
// contains members of it. True: a side has changed.
bool EventEngine::Run::sides_by_value() {
  load_statuses();
  open_.clear();
  later_.clear();
  bool changed = false;
  for (int k = 0; k < layout_.switches; ++k) changed = side_by_value(k) || changed;
  return changed;
}

// A surface that goes along with one inside it has the side of that one, where a landing has left a little of both: mod(x, 1) is not negative where
// x has just come up to 1.
double EventEngine::Run::side_along_inner(int k, double rounding, double by_value) {
  std::vector<int>& inner = search_.beside;
  inner.clear();
  for (const int j : system_.switches()[k].inner) {
    if ((carried_[j] != 0 || contains(open_, j)) && !mode_.slides(j) && !contains(later_, j))
      inner.push_back(j);
  }
  if (inner.empty() || strikes_) return by_value;
  const NestedSides::Verdict verdict = nested_sides_.judge(k, inner, rounding);
  return verdict.place == NestedSides::Place::along ? verdict.side : by_value;
}

// The same for one of them. True: its side has changed.
bool EventEngine::Run::side_by_value(int k) {
  const model::SwitchInfo& info = system_.switches()[k];
  if (info.time_only || contains_sliding(k)) return false;
  if (!system_.live(work_, k)) {  // it stands in a branch that is not taken
    mode_.surface[k] = AtSurface::away;
    landed_[k] = carried_[k] = 0;
    listed_side_[k] = mode_.side[k];
    dead_[k] = 1;
    return false;
  }
  double s = 0;
  info.value.evaluate(work_.in.data(), &s, work_.registers.data());
  const double distance = distance_from_level(info, s, lower_[k]);
  if (std::abs(exit_side_[k]) == 2) {  // the motion has shown where it goes from here
    const double left = lower_[k] + (exit_side_[k] > 0 ? 1 : 0);
    const bool changed = mode_.surface[k] != AtSurface::away || mode_.side[k] != left;
    mode_.surface[k] = AtSurface::away;
    mode_.side[k] = work_.in[layout_.side() + k] = left;
    landed_[k] = carried_[k] = dead_[k] = 0;
    return changed;
  }
  const bool carried = carried_[k] != 0 || mode_.surface[k] != AtSurface::away;
  double bound = kRoundingUnits * surface_rounding(k);
  if (std::abs(distance) > bound) bound += drive_rounding(k, std::abs(distance));
  // What has one sign by its form has it, whatever the landing of a switch inside has left of its zero.
  const int only = info.only_side(lower_[k]);
  double side = (only != 0 ? only > 0 : distance > 0) ? lower_[k] + 1 : lower_[k];
  AtSurface status = AtSurface::away;
  if (std::abs(distance) <= bound || (carried && std::abs(s - surface_before_[k]) <= bound)) {
    if (strikes_) {  // velocities jump before anything is decided
      open_.push_back(k);
      return false;
    }
    for (const int inner : info.inner) {
      if (!contains(open_, inner) && !contains(later_, inner)) continue;
      later_.push_back(k);
      return false;
    }
    // Where speeds alone tell to which side it is left, it has that side before the switches that contain it are looked at; where nothing but sides
    // stands in it, it stays.
    const int leaves = direction_by_speed(k);
    if (leaves == 0 && !nested_sides_.never_moves(k, bound)) {
      open_.push_back(k);
      return false;
    }
    carried_[k] = fresh_switch_[k] = 1;
    if (leaves == 0) status = AtSurface::held;
    const bool upper = only != 0 ? only > 0 : leaves > 0;
    side = lower_[k] + (leaves == 0 ? info.at_zero : upper ? 1 : 0);
  } else {
    landed_[k] = carried_[k] = 0;
    side = side_along_inner(k, bound, side);
  }
  const bool was_dead = dead_[k] != 0;
  dead_[k] = 0;
  if (mode_.surface[k] == status && side == mode_.side[k]) return false;
  mode_.surface[k] = status;
  mode_.side[k] = work_.in[layout_.side() + k] = side;
  fresh_switch_[k] = 1;
  if (was_dead) listed_side_[k] = side;  // it had no side before
  return true;
}

// Rounding of the drives of rows at rest along the surface of switch k: a body on a belt is as fast as the belt to the last bit, and no faster than that of its speed
// is known. Asked for where the surface is that near to its zero.
double EventEngine::Run::drive_rounding(int k, double distance) {
  const int n = layout_.coordinates;
  double most = 0;
  bool known = false;
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.rows_constant || relation.smooth_friction || mode_.normal[r] == NormalStatus::open) continue;
    for (int j = 0; j < relation.tangents; ++j) {
      if (reference_.tangent[relation.first_tangent + j] != TangentStatus::stick) continue;
      if (!known) {
        const expr::Program& surface = system_.switches()[k].surface;
        surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), surface.outputs()));
        surface.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
        double size = 0;
        for (int i = 0; i < n; ++i)
          size += std::abs(surface_memory_[2 + n + i]) * scales_.sizes()[layout_.coordinates + i];
        if (!(distance <= kSmallRate * size)) return 0;
        known = true;
      }
      const double ratio =
          parallel_to(surface_memory_.data() + 2 + n, system_.rows(work_, r).tangent[j].w, n);
      if (ratio == 0) continue;
      drive_inputs_ = work_.in;
      most = std::max(most, std::abs(ratio) * slip_rounding(r, j));
      std::copy(drive_inputs_.begin(), drive_inputs_.end(), work_.in.begin());
    }
  }
  return most;
}

// Rounding of a slip at this instant, with the sides before it and after it: where a belt comes to rest at a kink, what is left of its speed is the
// last bit of the time.
double EventEngine::Run::slip_rounding(int r, int j) {
  const model::Relation& relation = system_.relations()[r];
  const int output = relation.row_begin(j);
  double most = 0;
  for (const std::vector<double>* sides : {&reference_.side, &mode_.side}) {
    std::copy(sides->begin(), sides->end(), work_.in.begin() + layout_.side());
    enclose(relation.rows);
    most = std::max(most, 0.5 * enclosure_.width(output));
  }
  return kRoundingUnits * most;
}

// A side that changed may make the drive of a slip jump: rows whose slip is no longer what their status says are known anew. So are closed
// contacts and constraints whose rate has jumped: one that opens is opened here, one that approaches strikes (true). `all`: velocities have jumped, and with
// them the rates of rows that never change.
bool EventEngine::Run::rates_by_value(bool all) {
  load_statuses();
  const double since = phase_.y.empty() ? 0 : t_ - phase_.time;
  bool struck = false;
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if ((relation.rows_constant && !all) || mode_.normal[r] == NormalStatus::open) continue;
    const model::RelationRows& rows = system_.rows(work_, r);
    // Velocities are known to the last bits of what they have been: where all of them vanish together, what is left is no measure. Forces that balance
    // where nothing has moved yet leave theirs.
    const auto size_of = [&](const model::Row& w, double own) {
      double terms = std::abs(own);
      for (const int i : relation.touches)
        terms += std::abs(w[i]) * std::max({speed_before_[i], std::abs(work_.in[layout_.v() + i]),
                                            scales_.sizes()[layout_.coordinates + i],
                                            motion_.acceleration_terms()[i] * since});
      return terms;
    };
    if (relation.has_normal) {
      const double bound = 1e3 * kEpsilon * size_of(rows.w, rows.gap_time);
      if (mode_.normal[r] == NormalStatus::held) {
        // The formulas on both sides of a knot have their rounding.
        const auto rounding = [&] {
          enclose(relation.gap);
          return kRoundingUnits * 0.5 * enclosure_.width(1);
        };
        if (std::abs(rows.gap_rate) > bound && std::abs(rows.gap_rate) > rounding()) {
          touching_[r] = strikes;
          struck = true;
        }
      } else if (rows.gap_rate < -bound) {
        touching_[r] = 1;
        struck = true;
      } else if (rows.gap_rate > bound) {
        mode_.normal[r] = NormalStatus::open;
        for (int j = 0; j < relation.tangents; ++j)
          mode_.tangent[relation.first_tangent + j] = TangentStatus::free;
        fresh_relation_[r] = 1;
        continue;
      }
    }
    if (relation.smooth_friction) continue;
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      const double slip = rows.tangent[j].slip;
      const double size = size_of(rows.tangent[j].w, rows.tangent[j].drive);
      const double bound = std::max(1e3 * kEpsilon * size, slip_rounding(r, j));
      // What rests is known to: a landing leaves more of it than the last bit, and only a jump moves it.
      const bool rests = mode_.tangent[number] == TangentStatus::stick;
      const bool zero = std::abs(slip) <= bound || (rests && std::abs(slip - slip_before_[number]) <= bound);
      const int now = zero ? 0 : slip > 0 ? 1 : -1;
      if (now == direction(mode_.tangent[number])) continue;
      mode_.tangent[number] = now == 0  ? TangentStatus::stick
                              : now > 0 ? TangentStatus::slip_plus
                                        : TangentStatus::slip_minus;
      fresh_tangent_[number] = 1;
    }
  }
  return struck;
}

// Switches that have another side than the one listed last, or have begun or ceased to slide. Kinks are never listed.
void EventEngine::Run::list_switch_changes() {
  for (int k = 0; k < layout_.switches; ++k) {
    const model::SwitchInfo& info = system_.switches()[k];
    const bool slid = std::isnan(listed_side_[k]);
    const bool slides = mode_.slides(k);
    if (slides ? slid : mode_.side[k] == listed_side_[k]) continue;
    if (!slides && info.two_sided() && mode_.side[k] == 0.5) {
      if (!slid) continue;  // held where sign is 0: neither side
    }
    listed_side_[k] = slides ? kNone : mode_.side[k];
    if (quiet_) continue;
    const EventKind kind = slides ? EventKind::slide_begin
                           : slid ? EventKind::slide_end
                                  : EventKind::switch_side;
    // A kink is slid on where a jump stands around it: sign(max(x, 0)).
    if (kind == EventKind::switch_side && info.kind != expr::SwitchKind::jump) continue;
    if (kind == EventKind::switch_side &&
        (!options_.list_switches || contains_sliding(k) || !system_.live(work_, k)))
      continue;
    Event event = event_here(kind, k);
    event.words[0] = mode_.side[k] > 0.5 ? Word::above : Word::below;
    event.numbers[0] = mode_.side[k];
    recorder_.pending().push_back(event);
  }
}

// The largest that a rounding has with the sides that are blended now. A combination of two sides is no interval between them: each has its own.
template <class Rounding>
double EventEngine::Run::largest_on_sides(const Rounding& rounding) {
  double* const side = work_.in.data() + layout_.side();
  blended_.assign(side, side + layout_.switches);
  double most = 0;
  bool blends = true;
  for (int upper = 0; upper < 2 && blends; ++upper) {
    blends = false;
    for (int j = 0; j < layout_.switches; ++j) {
      const double lower = std::floor(blended_[j]);
      if (blended_[j] == lower) continue;
      blends = true;
      side[j] = lower + upper;
    }
    most = std::max(most, rounding());
  }
  std::copy(blended_.begin(), blended_.end(), side);
  return most;
}

// What rounding of the state may do to ds/dt. A rate made of velocities and states alone is as exact as they are, whatever is left of them;
// otherwise the slopes are: those of y*abs(y) where y has just reached zero are nothing but rounding.
double EventEngine::Run::surface_rate_rounding(int k) {
  const model::SwitchInfo& info = system_.switches()[k];
  if (info.rate.outputs() > 0)
    return kRoundingUnits * largest_on_sides([&] { return rounding_of(info.rate); });
  enclose(info.surface);
  const auto uncertain = [this](int output, double factor) {
    return 0.5 * enclosure_.width(output) * std::abs(factor);
  };
  const int n = layout_.coordinates;
  double sum = uncertain(1, 1);
  for (int i = 0; i < n; ++i) {
    sum += uncertain(2 + i, work_.in[layout_.v() + i]);
    sum += uncertain(2 + n + i, motion_.acceleration()[i]);
  }
  for (int i = 0; i < layout_.states; ++i) sum += uncertain(2 + 2 * n + i, work_.rate[i]);
  return kRoundingUnits * sum;
}

// What rounding inside the forces and the rates of states may do to ds/dt: where they cancel, nothing else is left of it.
double EventEngine::Run::force_rounding(int k) {
  const model::SwitchInfo& info = system_.switches()[k];
  const int n = layout_.coordinates;
  surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), info.surface.outputs()));
  info.surface.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
  return 0.5 * kRoundingUnits * largest_on_sides([&] {
           motion_.find_rounding();
           double sum = 0;
           for (int i = 0; i < n; ++i)
             sum += std::abs(surface_memory_[2 + n + i]) * motion_.acceleration_rounding()[i];
           for (int i = 0; i < layout_.states; ++i)
             sum += std::abs(surface_memory_[2 + 2 * n + i]) * motion_.rate_rounding()[i];
           return sum;
         });
}

// What reactions that end at this instant have been, as accelerations along a row of slopes by velocities. One that has come down to zero leaves the
// rounding of the forces that it balanced, and these may have no other size.
double EventEngine::Run::faded(const model::Row& slope) {
  double sum = 0;
  for (int r = 0; r < layout_.relations; ++r) {
    if (reference_.normal[r] != NormalStatus::closed || motion_.mode().normal[r] != NormalStatus::open)
      continue;
    system_.rows(work_, r).w.write(node_y_.data(), layout_.coordinates);
    system_.solve_mass(work_, node_y_.data());
    for (std::size_t e = 0; e < slope.values().size(); ++e)
      sum += std::abs(slope.values()[e] * node_y_[slope.places()[e]]) * guards_.normal_scale(r);
  }
  return sum;
}

// Sum of the absolute terms of ds/dt: what "zero" means for it.
double EventEngine::Run::surface_rate_scale(int k) {
  const model::SwitchInfo& info = system_.switches()[k];
  const int n = layout_.coordinates;
  surface_memory_.resize(info.surface.outputs());
  info.surface.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
  double sum = std::abs(surface_memory_[1]);
  motion_.note_terms();
  for (int i = 0; i < n; ++i) {
    sum += std::abs(surface_memory_[2 + i] * work_.in[layout_.v() + i]);
    sum += std::abs(surface_memory_[2 + n + i]) * motion_.acceleration_terms()[i];
  }
  // Where sliding has made a rate zero, what it was at the start of the last step counts too.
  for (int i = 0; i < layout_.states; ++i) {
    const double rate = std::max(std::abs(work_.rate[i]), std::abs(f0_[2 * n + i]));
    sum += std::abs(surface_memory_[2 + 2 * n + i]) * rate;
  }
  return sum + faded({every_coordinate_, surface_memory_.data() + 2 + n});
}

// The same where sliding may end: then a rate is zero because its terms cancel, be they one force, and what the rate has been counts. So it does for
// another surface along the one that was slid on.
double EventEngine::Run::faded_rate_scale(int k) {
  const double size = std::max(surface_rate_scale(k), guards_.sliding_rate_scale(k));
  double ratio = 0;
  const int other = slide_along(k, reference_, ratio);
  return other < 0 ? size : std::max(size, std::abs(ratio) * guards_.sliding_rate_scale(other));
}

// Another surface that the mode slides on, of which that of k is a multiple as far as velocities and states go (x' with a factor), or that it rests on, of which
// it is one with the positions; -1: there is none.
int EventEngine::Run::slide_along(int k, const Mode& mode, double& ratio) {
  const int n = layout_.coordinates;
  const int width = layout_.integrated();
  const auto slopes = [&](int of) {
    const expr::Program& program = system_.switches()[of].surface;
    surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), program.outputs()));
    program.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
    return surface_memory_.data() + 2;
  };
  bool known = false;
  for (int j = 0; j < layout_.switches; ++j) {
    const bool rests = mode.surface[j] == AtSurface::rests;
    if (j == k || !mode.slides(j) || (rests && !can_rest())) continue;  // nothing holds it then
    if (!known) {
      const double* own = slopes(k);
      projection_.assign(own, own + width);
      known = true;
    }
    const int first = rests ? 0 : n;
    ratio = parallel_to(projection_.data() + first, slopes(j) + first, width - first);
    if (ratio != 0) return j;
  }
  ratio = 0;
  return -1;
}

}  // namespace judder::engines
