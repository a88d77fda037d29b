// Statuses at their limits: loads that only touch zero and those that let go, slips that are nothing but rounding, rows that nothing presses, and
// dependent rows whose drives part.
#include <algorithm>
#include <cmath>
#include <limits>

#include "event_run.hpp"

#include "core/elementary.hpp"

namespace judder::engines {

// Whether a limit of friction, or the end of a reaction, is reached with a horizontal tangent and left again, as far as the series of the motion tells.
bool EventEngine::Run::only_touches(const Guard& guard) {
  constexpr double kFlat = 1e-6;  ///< share of its scale that it would change by in the time of a phase
  const double time = std::max(t_ - phase_start_, last_flight_);
  const Mode& mode = motion_.mode();
  if (!(time > 0) || !changed_.empty()) return false;
  if (decider_.on_massless(guard.place)) return false;  // the series knows no balance of forces
  if (guard.kind == GuardKind::margin && guard.tangent < 0) return margin_touches(guard, time);
  if (guard.kind == GuardKind::cone_plus || guard.kind == GuardKind::cone_minus) {
    const int number = system_.relations()[guard.place].first_tangent + guard.tangent;
    if (guards_.rest.directed(number)) {
      Mode& turned = search_.trial;
      turned = mode;
      guards_.rest.take_direction(number, guard.kind == GuardKind::cone_plus ? -1 : 1);
      std::copy_n(work_.in.begin() + layout_.side(), layout_.switches, turned.side.begin());
      guards_.rest.take_back();
      if (!series_.compute(turned, 3)) return false;
    } else if (!series_.compute(mode, 3)) {
      return false;
    }
  } else if (!series_.compute(mode, 3)) {
    return false;
  }
  const expr::Series margin =
      guard.kind == GuardKind::reaction ? series_.normal(guard.place)
      : guard.kind == GuardKind::margin
          ? series_.condition(guards_.condition(guard))
          : series_.cone(guard.place, guard.tangent, guard.kind == GuardKind::cone_plus ? 1 : -1);
  if (margin.c[1] * time < -kFlat * guard.scale) return false;
  return margin.c[2] * time * time > kFlat * guard.scale || stays_at_limit(guard, time);
}

// Whether no derivative takes a load away from the limit of its friction, or those that do take it back inside: what touches with a high order
// is zero to rounding long before, and its low derivatives there say little.
bool EventEngine::Run::stays_at_limit(const Guard& guard, double time) {
  constexpr double kFlat = 1e-9;  ///< share of its scale that it would change by in the time of a phase
  constexpr int kHalvings = 40;
  if (guard.kind != GuardKind::cone_plus && guard.kind != GuardKind::cone_minus) return false;
  if (!series_.compute(motion_.mode(), expr::kTaylorOrder)) return false;
  const expr::Series margin =
      series_.cone(guard.place, guard.tangent, guard.kind == GuardKind::cone_plus ? 1 : -1);
  const int last = series_.order() - 1;
  double power = 1;
  bool stays = true;
  for (int k = 1; k <= last; ++k) {
    power *= time;
    stays = stays && std::abs(margin.c[k]) * power <= kFlat * guard.scale;
  }
  if (stays) return true;
  // The first value that is more than a dip without consequence tells, as long as the series does.
  double later = std::ldexp(time, -kHalvings);
  for (int j = 0; j < kHalvings; ++j, later *= 2) {
    double value = margin.c[last];
    for (int k = last - 1; k >= 1; --k) value = margin.c[k] + later * value;
    value *= later;
    if (!(std::abs(value) > options_.tolerance * guard.scale)) continue;
    return value > 2 * std::abs(margin.c[last]) * elementary::whole_pow(later, last);
  }
  return false;
}

// The margin of reactions that are not unique has no series: it is asked for a little earlier and later.
bool EventEngine::Run::margin_touches(const Guard& guard, double time) {
  constexpr double kShare = 1e-3;  ///< of the time of a phase
  constexpr double kFlat = 1e-6;   ///< as above
  if (!series_.compute(motion_.mode(), expr::kTaylorOrder)) return false;
  const auto margin_at = [&](double later) {
    series_.state(later, node_y_.data());
    motion_.load(t_ + later, node_y_.data());
    if (!motion_.evaluate()) return std::numeric_limits<double>::quiet_NaN();
    guards_.sharing.share(motion_);
    return guards_.value(guard);
  };
  const double before = margin_at(-kShare * time);
  const double after = margin_at(kShare * time);
  motion_.load(t_, y_.data());
  if (!motion_.evaluate()) return false;
  const double slope = (after - before) / (2 * kShare);
  const double curvature = (after + before) / (kShare * kShare);
  return slope >= -kFlat * guard.scale && curvature > kFlat * guard.scale;
}

// A slip that is zero and grows in the direction of its mode has only been touched: the dip was shallower than what the landing resolves.
bool EventEngine::Run::slip_returns(const Guard& guard) {
  const model::RelationRows::Tangent& row = work_.relation[guard.place].tangent[guard.tangent];
  double rate = row.zeta;
  double terms = std::abs(row.zeta);
  for (const int i : system_.relations()[guard.place].touches) {
    rate += row.w[i] * motion_.acceleration()[i];
    terms += std::abs(row.w[i] * motion_.acceleration()[i]);
  }
  if (guard.sign * rate > 64 * std::numeric_limits<double>::epsilon() * terms) return true;
  // Reached with a horizontal tangent, and left again: a belt that stops for a moment.
  constexpr double kFlat = 1e-6;  ///< share of its scale that it would change by in the time of a phase
  const double time = std::max(t_ - phase_start_, last_flight_);
  if (!(time > 0) || !changed_.empty() || guard.sign * rate * time < -kFlat * guard.scale) return false;
  if (!series_.compute(motion_.mode(), 3)) return false;
  const expr::Series slip = series_.slip(guard.place, guard.tangent);
  if (guard.sign * slip.c[1] * time < -kFlat * guard.scale ||
      !(guard.sign * slip.c[2] * time * time > kFlat * guard.scale))
    return false;
  // A rate that takes away what the phase began with is no horizontal tangent, however small both are beside what slips have been.
  constexpr double kFalls = 0.5;
  motion_.load_state(phase_.time, phase_.y.data());
  const double first = system_.rows(work_, guard.place).tangent[guard.tangent].slip;
  motion_.load(t_, y_.data());
  static_cast<void>(system_.rows(work_, guard.place));
  return guard.sign * rate * (t_ - phase_.time) > -kFalls * std::abs(first) || first == 0;
}

// The laws of a condition are at their limits together: their rows let go, or, where it is only touched, none of them does. Where a side
// changes at the same instant, what follows tells.
void EventEngine::Run::exclude_condition(const Guard& guard, bool touched, bool switches) {
  const bool binding = touched || !switches;
  constexpr std::uint16_t kStick = contact::bit(contact::RowStatus::stick);
  for (const ReactionConditions::Part& part : guards_.condition(guard)) {
    const model::Relation& relation = system_.relations()[part.relation];
    if (part.tangent >= 0) {
      const int number = relation.first_tangent + part.tangent;
      if (binding) exclusions_.tangent[number] |= touched ? kSlips : kStick;
      fresh_tangent_[number] = 1;
      continue;
    }
    fresh_relation_[part.relation] = 1;
    if (mode_.normal[part.relation] == NormalStatus::held) {
      if (!touched && binding)
        exclusions_.normal[part.relation] |=
            contact::bit(part.side > 0 ? contact::RowStatus::held_plus : contact::RowStatus::held_minus);
      continue;
    }
    // At the tip of the cone a sticking contact may also go on slipping.
    bool sticks = false;
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (mode_.tangent[number] != TangentStatus::stick) continue;
      sticks = true;
      if (!touched && binding) exclusions_.tangent[number] |= kStick;
      fresh_tangent_[number] = 1;
    }
    if (touched)
      exclusions_.normal[part.relation] |= contact::bit(contact::RowStatus::open);
    else if (!sticks && binding)
      exclusions_.normal[part.relation] |= contact::bit(contact::RowStatus::closed);
  }
}

// Other conditions of the block may touch zero with it, though no zero of theirs was seen.
void EventEngine::Run::exclude_touched(const Guard& guard) {
  constexpr double kNear = 1e-6;  ///< of its scale: at zero
  exclude_condition(guard, true, false);
  for (const Guard& other : guards_.list()) {
    if (other.kind != GuardKind::margin || other.tangent < 0 || other.tangent == guard.tangent ||
        other.place != guard.place || guards_.value(other) > kNear * other.scale)
      continue;
    if (only_touches(other)) exclude_condition(other, true, false);
  }
}

// Where the normal force of a joint only touches zero, so do the limits of its rows at rest, though no zero of theirs was seen.
void EventEngine::Run::keep_touched_rest(int relation) {
  std::array<int, 3> touched{};  // limits, by row
  for (const Guard& guard : guards_.list()) {
    if (guard.place != relation ||
        (guard.kind != GuardKind::cone_plus && guard.kind != GuardKind::cone_minus))
      continue;
    if (!only_touches(guard) || ++touched[guard.tangent] < 2) continue;
    const int number = system_.relations()[relation].first_tangent + guard.tangent;
    exclusions_.tangent[number] |= kSlips;
    fresh_tangent_[number] = 1;
  }
}

// Rows whose share of the reactions is used up, at the margin of a redundant block. Where it is only touched they may not leave.
void EventEngine::Run::exclude_exhausted_rows(const Guard& margin, bool touched, bool switches) {
  guards_.sharing.share(motion_);
  // Forces that vanish together leave no scale of their own: what they have been counts too.
  const double threshold = 1e-6 * std::max(guards_.sharing.force_scale(margin.place), margin.scale);
  for (int r = 0; r < layout_.relations; ++r) {
    if (mode_.normal[r] == NormalStatus::open || guards_.sharing.block(r) != margin.place) continue;
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = work_.relation[r];
    double limit = rows.base;
    for (std::size_t f = 0; f < relation.feeds.size(); ++f)
      limit += rows.factors[f] * std::abs(motion_.normal()[relation.feeds[f]]);
    bool sticks = false;
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (mode_.tangent[number] != TangentStatus::stick) continue;
      sticks = true;
      if (rows.tangent[j].mu_static * limit - std::abs(motion_.tangent()[number]) > threshold) continue;
      if (touched || !switches)
        exclusions_.tangent[number] |= touched ? kSlips : contact::bit(contact::RowStatus::stick);
      fresh_tangent_[number] = 1;
    }
    if (mode_.normal[r] == NormalStatus::closed && (!sticks || touched) && motion_.normal()[r] <= threshold) {
      if (touched || !switches)
        exclusions_.normal[r] |=
            contact::bit(touched ? contact::RowStatus::open : contact::RowStatus::closed);
      fresh_relation_[r] = 1;
    }
  }
}

// Whether rows that depend on each other and are driven hold here. No derivative need tell when their drives part (a bump, a Gauss curve).
bool EventEngine::Run::may_part() const {
  if (!motion_.redundant()) return false;
  for (int k = 0; k < motion_.active(); ++k) {
    if (!system_.relations()[motion_.active_relation(k)].rows_constant) return true;
  }
  return false;
}

// Rows that depend on each other hold together only while their drives agree: a wall that stands pushes a body on its brake from the moment on at
// which it comes.
bool EventEngine::Run::rows_part() {
  if (!may_part()) return false;
  motion_.load(t_, y_.data());
  return std::max(rates_parted(), accelerations_parted()) > 1;
}

// By how much the rates of dependent rows disagree at the loaded state, relative to what steps may leave; more than 1: they part.
double EventEngine::Run::rates_parted() {
  constexpr double kParted = 100;  ///< errors of steps add up to some tolerances
  constexpr double kBits = 64 * std::numeric_limits<double>::epsilon();
  constexpr double kLeastNumber = 0x1p-1000;  ///< near the end of the range of numbers nothing has digits
  constexpr double kStopped = 1e-13;          ///< share of what a slip has been: at rest
  const int n = layout_.coordinates;
  const auto speed = scales_.sizes().begin() + n;  // that each coordinate has had
  const double fastest = *std::max_element(speed, speed + n);
  const double since = std::abs(work_.in[0] - phase_.time);
  double ratio = 0;
  for (int k = 0; k < motion_.active(); ++k) {
    const int r = motion_.active_relation(k);
    const model::Relation& relation = system_.relations()[r];
    const int j = motion_.active_tangent(k);
    if (j < 0 && !relation.holonomic) continue;
    const model::RelationRows& rows = system_.rows(work_, r);
    const model::Row& w = j < 0 ? rows.w : rows.tangent[j].w;
    double size = std::abs(j < 0 ? rows.gap_time : rows.tangent[j].drive);
    // Rows are solved together, and what others carry leaves its last bits in all of them. So do forces that balance where nothing has a speed yet.
    double rounding = 0;
    for (const int i : relation.touches) {
      size += std::abs(w[i]) * speed[i];
      rounding += std::abs(w[i]) * kBits * (fastest + motion_.acceleration_terms()[i] * since);
    }
    const double rate = std::abs(j < 0 ? rows.gap_rate : rows.tangent[j].slip);
    const double been = j < 0 ? 0 : guards_.slip_scale(relation.first_tangent + j);
    const double allowed =
        std::max({kParted * options_.tolerance * size + rounding, kStopped * been, kLeastNumber});
    if (rate > allowed) ratio = std::max(ratio, rate / allowed);
  }
  return ratio;
}

// The same of their accelerations, which no step leaves anything of: they are solved for, to rounding of the forces that the rows share.
double EventEngine::Run::accelerations_parted() {
  if (!motion_.evaluate() || !(motion_.parting(row_accelerations_) > 1)) return 0;
  guards_.sharing.share(motion_);
  return motion_.parting(row_accelerations_);
}

// Tells the decision by which rates, or accelerations, dependent rows have parted.
void EventEngine::Run::note_parting() {
  std::vector<double>& parting = decider_.parting;
  parting.assign(layout_.relations + layout_.tangents, 0);
  motion_.load(t_, y_.data());
  const bool by_rates = rates_parted() > 1;
  if (!by_rates) static_cast<void>(accelerations_parted());
  double most = 0;
  for (int k = 0; k < motion_.active(); ++k) {
    const int r = motion_.active_relation(k);
    const int j = motion_.active_tangent(k);
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = system_.rows(work_, r);
    const double rate = j < 0 ? rows.gap_rate : rows.tangent[j].slip;
    const double parted = by_rates ? rate : row_accelerations_[k];
    parting[j < 0 ? r : layout_.relations + relation.first_tangent + j] = parted;
    most = std::max(most, std::abs(parted));
  }
  for (double& parted : parting) parted = most > 0 ? parted / most : 0;
}

// Whether dependent rows part within the trial step, and not just at its end. `shorter`: the share of the step to try next.
bool EventEngine::Run::parts_within(double h, double& shorter) {
  constexpr int kPlaces = 16;
  constexpr double kJustParted = 2;  ///< of what counts as parted
  if (!may_part()) return false;
  const auto load = [&](int place) {
    if (place == kPlaces) {
      motion_.load(t_ + h, methods_.y1());
      return;
    }
    dense(static_cast<double>(place) / kPlaces, node_y_.data());
    motion_.load(t_ + place * h / kPlaces, node_y_.data());
  };
  load(kPlaces);
  const bool accelerate = accelerations_parted() > 1;
  for (int place = 1; place <= kPlaces; ++place) {
    load(place);
    const double ratio = std::max(rates_parted(), accelerate ? accelerations_parted() : 0);
    if (!(ratio > 1)) continue;
    const bool just = ratio <= kJustParted;
    if (place == kPlaces && just) return false;
    shorter = (just ? place : place - 0.5) / kPlaces;
    return true;
  }
  return false;
}

// A slip that is nothing but rounding, since it began with no acceleration or because this is the instant at which it ends: what it has been says
// nothing, and the row is decided as one at rest.
void EventEngine::Run::rest_unmoved_slips() {
  constexpr double kBits = 64 * std::numeric_limits<double>::epsilon();
  const double elapsed = t_ - phase_.time;
  if (!(elapsed > 0)) return;
  motion_.load(t_, y_.data());
  for (const Guard& guard : guards_.list()) {
    if (guard.kind != GuardKind::slip || decider_.on_massless(guard.place)) continue;
    const int number = system_.relations()[guard.place].first_tangent + guard.tangent;
    if (mode_.tangent[number] != reference_.tangent[number] || slip_returned_[number] != 0) continue;
    const model::RelationRows::Tangent& row = system_.rows(work_, guard.place).tangent[guard.tangent];
    double size = std::abs(row.drive);
    double terms = std::abs(row.zeta);
    for (const int i : system_.relations()[guard.place].touches) {
      size += std::abs(row.w[i]) * std::max(std::abs(work_.in[layout_.v() + i]), speed_before_[i]);
      terms += std::abs(row.w[i]) * motion_.acceleration_terms()[i];
    }
    if (std::abs(guards_.value(guard)) > kBits * size + 0.125 * kBits * terms * elapsed) continue;
    mode_.tangent[number] = TangentStatus::stick;
    fresh_tangent_[number] = 1;
  }
}

// Slips that are zero to rounding where time switches: what follows tells whether they go on.
void EventEngine::Run::stop_slips() {
  constexpr double kStopped = 1e-13;  ///< share of what a slip has been
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (mode_.normal[r] == NormalStatus::open || relation.smooth_friction) continue;
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (direction(mode_.tangent[number]) == 0) continue;
      const double slip = system_.rows(work_, r).tangent[j].slip;
      if (std::abs(slip) > std::max(kStopped * guards_.slip_scale(number), slip_rounding(r, j))) continue;
      mode_.tangent[number] = TangentStatus::stick;
      fresh_tangent_[number] = 1;
    }
  }
}

// Rows that nothing can press before the next event are no rows. At rest they would hold nothing, and nothing would be left of the margin of those
// that hold with them; and where others hold them, the direction of their slip is nothing but rounding.
void EventEngine::Run::free_unloaded(Mode& mode) {
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.tangents == 0 || relation.smooth_friction || relation.direction_in_force ||
        mode.normal[r] == NormalStatus::open || decider_.on_massless(r))
      continue;
    for (int j = 0; j < relation.tangents; ++j) {
      TangentStatus& status = mode.tangent[relation.first_tangent + j];
      if (status != TangentStatus::free && never_loaded(mode, r)) status = TangentStatus::free;
    }
  }
}

// Whether the load of a relation is zero for every state and time, with the sides and contacts of a mode.
bool EventEngine::Run::never_loaded(const Mode& mode, int r) {
  const model::Relation& relation = system_.relations()[r];
  for (const int feed : relation.feeds) {
    if (mode.normal[feed] != NormalStatus::open) return false;
  }
  for (int k = 0; k < layout_.switches; ++k) work_.in[layout_.side() + k] = mode.side[k];
  if (relation.law.outputs() == 0) return false;
  surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), relation.law.outputs()));
  relation.law.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
  if (surface_memory_[0] != 0) return false;
  // max(0, x) on the side of 0; what is below the least normal number is rounding of the bounds.
  enclosure_.take(work_.in);
  constexpr double kAnywhere = std::numeric_limits<double>::max();
  for (int i = 0; i <= layout_.integrated(); ++i) enclosure_.set(i, -kAnywhere, kAnywhere);
  enclosure_.evaluate(relation.law);
  return enclosure_.high(0) <= std::numeric_limits<double>::min() &&
         enclosure_.low(0) >= -std::numeric_limits<double>::min();
}

// Rows that nothing pressed have the status of their slip when they are decided again.
void EventEngine::Run::wake_unloaded() {
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.tangents == 0 || relation.smooth_friction || mode_.normal[r] == NormalStatus::open) continue;
    for (int j = 0; j < relation.tangents; ++j) {
      TangentStatus& status = mode_.tangent[relation.first_tangent + j];
      if (status != TangentStatus::free) continue;
      const model::RelationRows::Tangent& row = system_.rows(work_, r).tangent[j];
      double size = std::abs(row.drive);
      for (const int i : relation.touches)
        size += std::abs(row.w[i]) *
                std::max(std::abs(work_.in[layout_.v() + i]), scales_.sizes()[layout_.coordinates + i]);
      const bool zero = std::abs(row.slip) <= 1e3 * std::numeric_limits<double>::epsilon() * size;
      status = zero           ? TangentStatus::stick
               : row.slip > 0 ? TangentStatus::slip_plus
                              : TangentStatus::slip_minus;
      fresh_tangent_[relation.first_tangent + j] = 1;
    }
  }
}

}  // namespace judder::engines
