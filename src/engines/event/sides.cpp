#include "engines/event/sides.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/elementary.hpp"
#include "engines/accumulation.hpp"
#include "engines/event/roundings.hpp"
#include "engines/event/rows.hpp"
#include "judder/engines/collision.hpp"
#include "judder/model/large_matrices.hpp"

namespace judder::engines {
namespace {

constexpr double kEpsilon = 2.220446049250313e-16;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Sides::Sides(Phase& now, InstantState& here, Roundings& rounding, Rows& rows)
    : now_(now), here_(here), rounding_(rounding), rows_(rows), nested_sides_(now.system, now.work) {
  inside_.resize(now_.layout.switches);
}

// What the present instant starts from: a jump is seen against it.
void Sides::note_instant() {
  for (int i = 0; i < now_.layout.coordinates; ++i)
    here_.speed_before[i] = std::abs(now_.work.in[now_.layout.v() + i]);
  for (int k = 0; k < now_.layout.switches; ++k) {
    const model::SwitchInfo& info = now_.system.switches()[k];
    if (!info.time_only)
      info.value.evaluate(now_.work.in.data(), &here_.surface_before[k], now_.work.registers.data());
  }
  for (int r = 0; r < now_.layout.relations; ++r) {
    const model::Relation& relation = now_.system.relations()[r];
    if (relation.rows_constant || relation.tangents == 0) continue;
    const model::RelationRows& rows = now_.system.rows(now_.work, r);
    for (int j = 0; j < relation.tangents; ++j)
      here_.slip_before[relation.first_tangent + j] = rows.tangent[j].slip;
  }
}

// What puts the state onto a surface moves the slips of rows at rest by what the landing has left of it, which is no jump: called with −1
// before and with 1 behind it.
void Sides::shift_slips(double sign) {
  now_.load();
  for (int r = 0; r < now_.layout.relations; ++r) {
    const model::Relation& relation = now_.system.relations()[r];
    if (relation.rows_constant || relation.tangents == 0) continue;
    const model::RelationRows& rows = now_.system.rows(now_.work, r);
    for (int j = 0; j < relation.tangents; ++j)
      here_.slip_before[relation.first_tangent + j] += sign * rows.tangent[j].slip;
  }
}

// Whether the surface contains the side of a switch that slides: it is judged on each side of that one (ModeMotion).
bool Sides::contains_sliding(int k) {
  const auto& switches = now_.system.switches();
  if (switches[k].inner.empty()) return false;
  // Each switch stands behind those inside it. Looked at once each: there are as many ways down to them as the nesting has branches.
  std::fill(inside_.begin(), inside_.end(), std::uint8_t{0});
  for (const int inner : switches[k].inner) inside_[inner] = 1;
  for (int j = k - 1; j >= 0; --j) {
    if (inside_[j] == 0) continue;
    if (now_.mode.slides(j)) return true;
    for (const int inner : switches[j].inner) inside_[inner] = 1;
  }
  return false;
}

void Sides::load_statuses() {
  for (int k = 0; k < now_.layout.switches; ++k) now_.work.in[now_.layout.side() + k] = now_.mode.side[k];
  for (int j = 0; j < now_.layout.tangents; ++j)
    now_.work.in[now_.layout.direction() + j] = direction(now_.mode.tangent[j]);
  for (int r = 0; r < now_.layout.relations; ++r)
    now_.work.in[now_.layout.closed() + r] = now_.mode.normal[r] == NormalStatus::open ? 0 : 1;
}

// The direction in which a surface of positions and time is left, where the velocities tell it beyond rounding; 0: the motion decides. Speeds of
// massless coordinates and rates of states are no more known than accelerations.
int Sides::direction_by_speed(int k) {
  const model::SwitchInfo& info = now_.system.switches()[k];
  if (info.rate.outputs() == 0) return 0;
  const int n = now_.layout.coordinates;
  surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), info.surface.outputs()));
  info.surface.evaluate(now_.work.in.data(), surface_memory_.data(), now_.work.registers.data());
  double rate = surface_memory_[1];
  double terms = std::abs(rate);
  for (int i = 0; i < n; ++i) {
    if (surface_memory_[2 + i] == 0) continue;
    if (now_.system.massless()[i]) return 0;
    rate += surface_memory_[2 + i] * now_.work.in[now_.layout.v() + i];
    terms += std::abs(surface_memory_[2 + i] * now_.work.in[now_.layout.v() + i]);
  }
  for (int i = 0; i < now_.layout.states; ++i) {
    if (surface_memory_[2 + 2 * n + i] != 0) return 0;  // sees rates, which the sides decide
  }
  if (!(std::abs(rate) > std::max(kSmallRate * terms, rounding_.surface_rate_rounding(k)))) return 0;
  return rate > 0 ? 1 : -1;
}

// Every switch that is not in E takes the side of its value, inner ones before those that contain them. Collects E in open_, and in later_ what
// contains members of it. True: a side has changed.
bool Sides::sides_by_value() {
  load_statuses();
  here_.open.clear();
  here_.later.clear();
  bool changed = false;
  for (int k = 0; k < now_.layout.switches; ++k) changed = side_by_value(k) || changed;
  return changed;
}

// A surface that goes along with one inside it has the side of that one, where a landing has left a little of both: mod(x, 1) is not negative where
// x has just come up to 1.
double Sides::side_along_inner(int k, double rounding, double by_value) {
  std::vector<int>& inner = inner_;
  inner.clear();
  for (const int j : now_.system.switches()[k].inner) {
    if ((here_.carried[j] != 0 || contains(here_.open, j)) && !now_.mode.slides(j) &&
        !contains(here_.later, j))
      inner.push_back(j);
  }
  if (inner.empty() || here_.strikes) return by_value;
  const NestedSides::Verdict verdict = nested_sides_.judge(k, inner, rounding);
  return verdict.place == NestedSides::Place::along ? verdict.side : by_value;
}

// The same for one of them. True: its side has changed.
bool Sides::side_by_value(int k) {
  const model::SwitchInfo& info = now_.system.switches()[k];
  if (info.time_only || contains_sliding(k)) return false;
  if (!now_.system.live(now_.work, k)) {  // it stands in a branch that is not taken
    now_.mode.surface[k] = AtSurface::away;
    here_.landed[k] = here_.carried[k] = 0;
    here_.listed_side[k] = now_.mode.side[k];
    here_.dead[k] = 1;
    return false;
  }
  double s = 0;
  info.value.evaluate(now_.work.in.data(), &s, now_.work.registers.data());
  const double distance = distance_from_level(info, s, here_.lower[k]);
  if (std::abs(here_.exit_side[k]) == 2) {  // the motion has shown where it goes from here
    const double left = here_.lower[k] + (here_.exit_side[k] > 0 ? 1 : 0);
    const bool changed = now_.mode.surface[k] != AtSurface::away || now_.mode.side[k] != left;
    now_.mode.surface[k] = AtSurface::away;
    now_.mode.side[k] = now_.work.in[now_.layout.side() + k] = left;
    here_.landed[k] = here_.carried[k] = here_.dead[k] = 0;
    return changed;
  }
  const bool carried = here_.carried[k] != 0 || now_.mode.surface[k] != AtSurface::away;
  double bound = kRoundingUnits * rounding_.surface_rounding(k);
  if (std::abs(distance) > bound) bound += rounding_.drive_rounding(k, std::abs(distance));
  // What has one sign by its form has it, whatever the landing of a switch inside has left of its zero.
  const int only = info.only_side(here_.lower[k]);
  double side = (only != 0 ? only > 0 : distance > 0) ? here_.lower[k] + 1 : here_.lower[k];
  AtSurface status = AtSurface::away;
  if (std::abs(distance) <= bound || (carried && std::abs(s - here_.surface_before[k]) <= bound)) {
    if (here_.strikes) {  // velocities jump before anything is decided
      here_.open.push_back(k);
      return false;
    }
    for (const int inner : info.inner) {
      if (!contains(here_.open, inner) && !contains(here_.later, inner)) continue;
      here_.later.push_back(k);
      return false;
    }
    // Where speeds alone tell to which side it is left, it has that side before the switches that contain it are looked at; where nothing but sides
    // stands in it, it stays.
    const int leaves = direction_by_speed(k);
    if (leaves == 0 && !nested_sides_.never_moves(k, bound)) {
      here_.open.push_back(k);
      return false;
    }
    here_.carried[k] = here_.fresh_switch[k] = 1;
    if (leaves == 0) status = AtSurface::held;
    const bool upper = only != 0 ? only > 0 : leaves > 0;
    side = here_.lower[k] + (leaves == 0 ? info.at_zero : upper ? 1 : 0);
  } else {
    here_.landed[k] = here_.carried[k] = 0;
    side = side_along_inner(k, bound, side);
  }
  const bool was_dead = here_.dead[k] != 0;
  here_.dead[k] = 0;
  if (now_.mode.surface[k] == status && side == now_.mode.side[k]) return false;
  now_.mode.surface[k] = status;
  now_.mode.side[k] = now_.work.in[now_.layout.side() + k] = side;
  here_.fresh_switch[k] = 1;
  if (was_dead) here_.listed_side[k] = side;  // it had no side before
  return true;
}

// A side that changed may make the drive of a slip jump: rows whose slip is no longer what their status says are known anew. So are closed
// contacts and constraints whose rate has jumped: one that opens is opened here, one that approaches strikes (true). `all`: velocities have jumped, and with
// them the rates of rows that never change. `decided`: the statuses are those that this instant has decided, from `entering`.
bool Sides::rates_by_value(bool all, bool decided) {
  load_statuses();
  const double since = now_.entry.y.empty() ? 0 : now_.t - now_.entry.time;
  bool struck = false;
  for (int r = 0; r < now_.layout.relations; ++r) {
    const model::Relation& relation = now_.system.relations()[r];
    if ((relation.rows_constant && !all) || now_.mode.normal[r] == NormalStatus::open) continue;
    const model::RelationRows& rows = now_.system.rows(now_.work, r);
    // Velocities are known to the last bits of what they have been: where all of them vanish together, what is left is no measure. Forces that balance
    // where nothing has moved yet leave theirs.
    const auto size_of = [&](const model::Row& w, double own) {
      double terms = std::abs(own);
      for (const int i : relation.touches)
        terms +=
            std::abs(w[i]) * std::max({here_.speed_before[i], std::abs(now_.work.in[now_.layout.v() + i]),
                                       now_.scales.sizes()[now_.layout.coordinates + i],
                                       now_.motion.acceleration_terms()[i] * since});
      return terms;
    };
    if (relation.has_normal) {
      const double bound = 1e3 * kEpsilon * size_of(rows.w, rows.gap_time);
      if (now_.mode.normal[r] == NormalStatus::held) {
        // The formulas on both sides of a knot have their rounding.
        const auto rounding = [&] {
          rounding_.enclose(relation.gap);
          return kRoundingUnits * 0.5 * rounding_.enclosure().width(1);
        };
        if (std::abs(rows.gap_rate) > bound && std::abs(rows.gap_rate) > rounding()) {
          here_.touching[r] = strikes;
          struck = true;
        }
      } else if (rows.gap_rate < -bound) {
        here_.touching[r] = 1;
        struck = true;
      } else if (rows.gap_rate > bound) {
        now_.mode.normal[r] = NormalStatus::open;
        for (int j = 0; j < relation.tangents; ++j)
          now_.mode.tangent[relation.first_tangent + j] = TangentStatus::free;
        here_.fresh_relation[r] = 1;
        continue;
      }
    }
    if (relation.smooth_friction) continue;
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      const double slip = rows.tangent[j].slip;
      const double size = size_of(rows.tangent[j].w, rows.tangent[j].drive);
      const double bound = std::max(1e3 * kEpsilon * size, rounding_.slip_rounding(r, j));
      // What rests is known to: a landing leaves more of it than the last bit, and only a jump moves it. What this instant lets go from
      // rest has the direction that was decided, and no slip yet.
      const bool let_go = decided && direction(now_.mode.tangent[number]) != 0 &&
                          here_.entering.tangent[number] == TangentStatus::stick;
      const bool rests = now_.mode.tangent[number] == TangentStatus::stick || let_go;
      const bool zero =
          std::abs(slip) <= bound || (rests && std::abs(slip - here_.slip_before[number]) <= bound);
      if (zero && let_go) continue;
      const int now = zero ? 0 : slip > 0 ? 1 : -1;
      if (now == direction(now_.mode.tangent[number])) continue;
      now_.mode.tangent[number] = now == 0  ? TangentStatus::stick
                                  : now > 0 ? TangentStatus::slip_plus
                                            : TangentStatus::slip_minus;
      here_.fresh_tangent[number] = 1;
    }
  }
  return struck;
}

// Switches that have another side than the one listed last, or have begun or ceased to slide. Kinks are never listed.
void Sides::list_switch_changes() {
  for (int k = 0; k < now_.layout.switches; ++k) {
    const model::SwitchInfo& info = now_.system.switches()[k];
    const bool slid = std::isnan(here_.listed_side[k]);
    const bool slides = now_.mode.slides(k);
    if (slides ? slid : now_.mode.side[k] == here_.listed_side[k]) continue;
    if (!slides && info.two_sided() && now_.mode.side[k] == 0.5) {
      if (!slid) continue;  // held where sign is 0: neither side
    }
    here_.listed_side[k] = slides ? kNone : now_.mode.side[k];
    if (here_.quiet) continue;
    const EventKind kind = slides ? EventKind::slide_begin
                           : slid ? EventKind::slide_end
                                  : EventKind::switch_side;
    // A kink is slid on where a jump stands around it: sign(max(x, 0)).
    if (kind == EventKind::switch_side && info.kind != expr::SwitchKind::jump) continue;
    if (kind == EventKind::switch_side &&
        (!now_.options.list_switches || contains_sliding(k) || !now_.system.live(now_.work, k)))
      continue;
    Event event = rows_.event_here(kind, k);
    event.words[0] = now_.mode.side[k] > 0.5 ? Word::above : Word::below;
    event.numbers[0] = now_.mode.side[k];
    now_.recorder.pending().push_back(event);
  }
}

// Evaluates the motion in the mode that ends, as far as its guards need it, and takes over the coefficients with which it slides now: a
// decision about something else must not see those of the beginning.
bool Sides::evaluate_coefficients() {
  bool slides = false;
  for (int k = 0; k < now_.layout.switches; ++k) slides = slides || now_.mode.slides(k);
  if (!slides && !now_.guards.needs_motion()) return true;
  if (!now_.motion.evaluate()) return false;
  for (int k = 0; k < now_.layout.switches; ++k) {
    if (now_.mode.slides(k)) now_.mode.side[k] = now_.motion.mode().side[k];
  }
  return true;
}

// Whether k is a kink at zero in a surface that is being decided: it goes where each side of that one takes it.
bool Sides::kink_inside(int k) const {
  if (now_.system.switches()[k].kind != expr::SwitchKind::kink || here_.carried[k] == 0) return false;
  for (const int outer : here_.open) {
    const std::vector<int>& inner = now_.system.switches()[outer].inner;
    if (std::find(inner.begin(), inner.end(), k) != inner.end()) return true;
  }
  return false;
}

// The side of a switch by its value; of one at its surface that to which the velocities lead, where they tell: gaps and rates are read behind it.
double Sides::start_side(int k) {
  const model::SwitchInfo& info = now_.system.switches()[k];
  double value = 0;
  double lower = 0;
  info.value.evaluate(now_.work.in.data(), &value, now_.work.registers.data());
  if (std::abs(distance_from_level(info, value, lower)) <= kRoundingUnits * rounding_.surface_rounding(k)) {
    const int leaves = direction_by_speed(k);
    if (leaves != 0) return lower + (leaves > 0 ? 1 : 0);
  }
  return now_.system.side_of_value(now_.work, k);
}

}  // namespace judder::engines
