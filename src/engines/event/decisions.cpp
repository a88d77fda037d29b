#include "engines/event/decisions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/elementary.hpp"
#include "engines/event/roundings.hpp"
#include "engines/event/sides.hpp"
#include "judder/core/number.hpp"

namespace judder::engines {
namespace {

constexpr double kDecisionTolerance = 1e-10;  ///< inequalities hold to this times the scale of their row

}  // namespace

Decisions::Decisions(Phase& now, InstantState& here, Roundings& rounding, Sides& sides)
    : now_(now), here_(here), rounding_(rounding), sides_(sides), released_(now.decider.no_exclusions()) {
  node_y_.resize(now_.motion.all_components());
  landing_y_.resize(now_.motion.all_components());
}

bool Decisions::decide_with(Mode& mode, Status& status) {
  if (!here_.letting_go) return decide_now(mode, status);
  released_ = here_.exclusions;
  for (int j = 0; j < now_.layout.tangents; ++j) {
    if (here_.let_go[j] != 0) released_.tangent[j] |= contact::bit(contact::RowStatus::stick);
  }
  std::swap(here_.exclusions, released_);
  const bool decided = decide_now(mode, status);
  std::swap(here_.exclusions, released_);
  return decided;
}

bool Decisions::decide_now(Mode& mode, Status& status) {
  for (int r = 0; r < now_.layout.relations; ++r) now_.decider.force_floor[r] = now_.guards.normal_scale(r);
  for (int j = 0; j < now_.layout.tangents; ++j)
    now_.decider.force_floor[now_.layout.relations + j] = now_.guards.tangent_scale(j);
  deciding_ = mode;
  status = now_.decider.decide(mode, here_.exclusions, kDecisionTolerance);
  // Without one of them another may open: each is asked once.
  while (status.ok() && decided_by_rounding(deciding_, mode)) {
    decided_ = deciding_;
    if (!now_.decider.decide(decided_, here_.exclusions, kDecisionTolerance).ok()) break;
    mode = decided_;
  }
  if (status.reason == Reason::inconsistent) {
    // The state is known to the error of the steps only: a slip that ends on the edge of the cone may miss it by that much. So is what moves with
    // the time, to its last bit.
    const double time = std::max(now_.t - now_.entry.time, now_.last_flight);
    const double clock = time > 0 ? 64 * std::numeric_limits<double>::epsilon() * std::abs(now_.t) / time : 0;
    const double slack = std::clamp(std::max(1e3 * now_.way->state_tolerance(), clock), 1e-9, 1e-5);
    const Status again = now_.decider.decide(mode, here_.exclusions, slack);
    if (again.ok()) status = again;
  }
  if (status.reason == Reason::inconsistent && !here_.letting_go) {
    // A status that has just ended may go on where another row lets its forces jump at the same instant, from static to slip friction.
    Mode other = mode;
    const Status again = now_.decider.decide(other, here_.no_exclusions, kDecisionTolerance);
    const bool moved = other.normal != here_.reference.normal || other.pressed != here_.reference.pressed ||
                       other.tangent != here_.reference.tangent;
    if (again.ok() && moved) {
      status = again;
      mode = other;
    }
  }
  if (status.reason == Reason::inconsistent && !here_.letting_go) {
    if (let_one_go(mode)) status = {};
  }
  now_.result.undecided_ties += now_.decider.undecided_ties();
  if (!now_.decider.reactions_unique()) now_.result.reactions_not_unique = true;
  if (now_.decider.unchecked()) now_.result.uniqueness_unchecked = true;
  // A node whose friction is overcome at once has gone where it balances.
  if (status.ok() && now_.decider.any_on_massless()) now_.motion.take_massless(now_.y.data());
  if (status.ok()) free_unloaded(mode);
  return status.ok();
}

// Contacts that rounding may have decided: forces that balance, or a wall whose acceleration passes zero at this instant, leave a number whose sign means
// nothing. Their floors are raised so that it counts as nothing. True: there are some, and the decision is to be made again.
bool Decisions::decided_by_rounding(const Mode& before, const Mode& mode) {
  constexpr double kNothing = 1e-6;  ///< share of the largest reaction so far that rounding does not reach
  bool any = false;
  bool known = false;
  for (int r = 0; r < now_.layout.relations; ++r) {
    if (before.normal[r] != NormalStatus::closed || !now_.decider.takes_part(r)) continue;
    if ((here_.exclusions.normal[r] & contact::bit(contact::RowStatus::closed)) != 0) continue;
    if (!known) {
      if (!now_.system.motion(now_.work)) return false;
      std::copy_n(now_.work.force.begin(), now_.layout.coordinates, landing_y_.begin());
      now_.system.solve_mass(now_.work, landing_y_.data());
      known = true;
    }
    const model::Relation& relation = now_.system.relations()[r];
    const model::RelationRows& rows = now_.system.rows(now_.work, r);
    rows.w.write(node_y_.data(), now_.layout.coordinates);
    now_.system.solve_mass(now_.work, node_y_.data());
    double response = 0;
    double acceleration = rows.zeta_n;
    for (const int i : relation.touches) {
      response += rows.w[i] * node_y_[i];
      acceleration += rows.w[i] * landing_y_[i];
    }
    if (!(response > 0)) continue;
    // What presses as it has pressed before is more than rounding.
    const double force = -acceleration / response;
    const double usual = now_.decider.force_floor[r];
    if (mode.normal[r] == NormalStatus::closed && force > kNothing * usual && force < usual) continue;
    rounding_.enclose(now_.system.motion_program());
    double rounding = 0;
    for (int i = 0; i < now_.layout.coordinates; ++i)
      rounding += std::abs(node_y_[i]) * rounding_.enclosure().width(i);
    if (!relation.rows_constant) {
      rounding_.enclose(relation.rows);
      rounding += rounding_.enclosure().width(relation.row_begin(-1) + 1);  // ζ_N
    }
    const double floor = rounding / (response * kDecisionTolerance);
    if (!(floor > usual)) continue;
    now_.decider.force_floor[r] = floor;
    any = any || mode.normal[r] == NormalStatus::open || force < rounding / response;
  }
  return any;
}

// Of several rows that are at their limits together some may hold on: it is enough that one lets go. Where any of several would do, the one is taken that
// leaves most rows at rest, and among those the one with the smallest accelerations, whatever the order in which rows are written.
bool Decisions::let_one_go(Mode& mode) {
  constexpr std::uint16_t kStick = contact::bit(contact::RowStatus::stick);
  constexpr double kSame = 1e-9;  ///< relative difference of accelerations that is none
  const Mode known = mode;
  const std::vector<double> inputs = now_.work.in;
  Decider::Exclusions one = here_.no_exclusions;
  int chosen = -1;
  long most = 0;
  double least = 0;
  for (int j = 0; j < now_.layout.tangents; ++j) {
    if ((here_.exclusions.tangent[j] & kStick) == 0 || !now_.decider.row_takes_part(j)) continue;
    Mode other = known;
    one.tangent[j] = kStick;
    const Status again = now_.decider.decide(other, one, kDecisionTolerance);
    one.tangent[j] = 0;
    if (!again.ok()) continue;
    const long rests = std::count(other.tangent.begin(), other.tangent.end(), TangentStatus::stick);
    if (chosen >= 0 && (rests < most || other == mode)) continue;
    // v̇ᵀ M v̇: the power of the forces that these accelerations need.
    double size = 0;
    now_.load();
    if (now_.motion.set_mode(other) && now_.motion.evaluate()) {
      const std::span<const double> a = now_.motion.acceleration();
      now_.system.apply_mass(now_.work, a.data(), node_y_.data());
      for (int i = 0; i < now_.layout.coordinates; ++i) size += a[i] * node_y_[i];
    }
    now_.motion.release_pins();
    std::copy(inputs.begin(), inputs.end(), now_.work.in.begin());
    if (chosen >= 0 && most == rests && !(size < least * (1 - kSame))) continue;
    chosen = j;
    most = rests;
    least = size;
    mode = other;
  }
  if (chosen < 0) return false;
  mode = known;
  one.tangent[chosen] = kStick;
  return now_.decider.decide(mode, one, kDecisionTolerance).ok();
}

// Massless coordinates go where the forces balance with the statuses as they are: their speeds jump with the forces. What would jump against its
// slip rests instead.
bool Decisions::follow_massless() {
  sides_.load_statuses();
  if (!now_.decider.follow_massless(now_.mode, here_.exclusions))
    return now_.fail(
        {Reason::not_finite, now_.t, {}, "the equations of motion give no finite number at an event"});
  now_.motion.take_massless(now_.y.data());
  return true;
}

// Rows that nothing can press before the next event are no rows. At rest they would hold nothing, and nothing would be left of the margin of those
// that hold with them; and where others hold them, the direction of their slip is nothing but rounding.
void Decisions::free_unloaded(Mode& mode) {
  for (int r = 0; r < now_.layout.relations; ++r) {
    const model::Relation& relation = now_.system.relations()[r];
    if (relation.tangents == 0 || relation.smooth_friction || relation.direction_in_force ||
        mode.normal[r] == NormalStatus::open || now_.decider.on_massless(r) || !now_.decider.takes_part(r))
      continue;
    for (int j = 0; j < relation.tangents; ++j) {
      TangentStatus& status = mode.tangent[relation.first_tangent + j];
      if (status != TangentStatus::free && never_loaded(mode, r)) status = TangentStatus::free;
    }
  }
}

// Whether the load of a relation is zero for every state and time, with the sides and contacts of a mode.
bool Decisions::never_loaded(const Mode& mode, int r) {
  const model::Relation& relation = now_.system.relations()[r];
  for (const int feed : relation.feeds) {
    if (mode.normal[feed] != NormalStatus::open) return false;
  }
  for (int k = 0; k < now_.layout.switches; ++k) now_.work.in[now_.layout.side() + k] = mode.side[k];
  if (relation.law.outputs() == 0) return false;
  surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), relation.law.outputs()));
  relation.law.evaluate(now_.work.in.data(), surface_memory_.data(), now_.work.registers.data());
  if (surface_memory_[0] != 0) return false;
  // max(0, x) on the side of 0; what is below the least normal number is rounding of the bounds.
  rounding_.enclosure().take(now_.work.in);
  constexpr double kAnywhere = std::numeric_limits<double>::max();
  for (int i = 0; i <= now_.layout.integrated(); ++i) rounding_.enclosure().set(i, -kAnywhere, kAnywhere);
  rounding_.enclosure().evaluate(relation.law);
  return rounding_.enclosure().high(0) <= std::numeric_limits<double>::min() &&
         rounding_.enclosure().low(0) >= -std::numeric_limits<double>::min();
}

// Rows that nothing pressed have the status of their slip when they are decided again.
void Decisions::wake_unloaded() {
  for (int r = 0; r < now_.layout.relations; ++r) {
    const model::Relation& relation = now_.system.relations()[r];
    if (relation.tangents == 0 || relation.smooth_friction || now_.mode.normal[r] == NormalStatus::open)
      continue;
    for (int j = 0; j < relation.tangents; ++j) {
      TangentStatus& status = now_.mode.tangent[relation.first_tangent + j];
      if (status != TangentStatus::free) continue;
      const model::RelationRows::Tangent& row = now_.system.rows(now_.work, r).tangent[j];
      double size = std::abs(row.drive);
      for (const int i : relation.touches)
        size += std::abs(row.w[i]) * std::max(std::abs(now_.work.in[now_.layout.v() + i]),
                                              now_.scales.sizes()[now_.layout.coordinates + i]);
      const bool zero = std::abs(row.slip) <= 1e3 * std::numeric_limits<double>::epsilon() * size;
      status = zero           ? TangentStatus::stick
               : row.slip > 0 ? TangentStatus::slip_plus
                              : TangentStatus::slip_minus;
      here_.fresh_tangent[relation.first_tangent + j] = 1;
    }
  }
}

// Whether the forces on massless coordinates, and the laws of their friction, are the same with these sides as before the instant.
bool Decisions::nodes_alike(const std::vector<double>& side) const {
  for (int k = 0; k < now_.layout.switches; ++k) {
    if (side[k] == here_.reference.side[k]) continue;
    const model::SwitchInfo& info = now_.system.switches()[k];
    if (std::any_of(info.moves.begin(), info.moves.end(),
                    [this](int i) { return now_.system.massless()[i]; }) ||
        std::any_of(info.relations.begin(), info.relations.end(),
                    [this](int r) { return now_.decider.on_massless(r); }))
      return false;
  }
  return true;
}

// Whether the sides that are not those of before the instant are only such as go with the direction of a row that has just stopped sticking: its limit was that of
// this direction already, and no other force jumps.
bool Decisions::turns_with_rows(const std::vector<double>& side) const {
  constexpr std::uint16_t kStick = contact::bit(contact::RowStatus::stick);
  bool any = false;
  for (int k = 0; k < now_.layout.switches; ++k) {
    if (side[k] == here_.reference.side[k]) continue;
    const model::SwitchInfo& info = now_.system.switches()[k];
    if (!info.moves.empty() || !info.feeds.empty()) return false;
    bool turned = false;
    for (int j = 0; j < now_.layout.tangents && !turned; ++j)
      turned = (here_.exclusions.tangent[j] & kStick) != 0 && now_.guards.rest.along(j, k) != 0;
    if (!turned) return false;
    any = true;
  }
  return any;
}

// What is left of the exclusions where sides change: forces jump, and what has just stopped sticking may stick again. The balance of a massless node
// knows the forces on it alone, and where none of these jumps its friction has been overcome whatever the others do.
void Decisions::keep_node_exclusions(const std::vector<double>& side, Decider::Exclusions& out) const {
  out = here_.exclusions;
  if (turns_with_rows(side)) return;
  const bool alike = now_.has_massless && nodes_alike(side);
  for (int r = 0; r < now_.layout.relations; ++r) {
    const model::Relation& relation = now_.system.relations()[r];
    if (alike && now_.decider.on_massless(r)) continue;
    out.normal[r] = 0;
    for (int j = 0; j < relation.tangents; ++j) out.tangent[relation.first_tangent + j] = 0;
  }
}

// A massless node that was released at this very time has no slip yet, and has left its limit all the same.
void Decisions::keep_nodes_released() {
  for (int r = 0; r < now_.layout.relations; ++r) {
    if (!now_.decider.on_massless(r)) continue;
    const model::Relation& relation = now_.system.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (direction(now_.mode.tangent[number]) != 0)
        here_.exclusions.tangent[number] |= contact::bit(contact::RowStatus::stick);
    }
  }
}

}  // namespace judder::engines
