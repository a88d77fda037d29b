// Watches at an instant: their jumps, and the switches that they alone read. These move nothing: a run is the same without them, but for the
// ends of its steps.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "event_run.hpp"

namespace judder::engines {
namespace {

constexpr double kSmall = 1e-9;  ///< share of its scale below which a watch that met its zero has not jumped
constexpr int kDoublings = 60;   ///< of the times at which a surface that starts at zero is looked at

}  // namespace

// What watches may read of the motion just evaluated. Reactions that are not unique are shared as they are in the rows and in the samples of a step.
void EventEngine::Run::publish_reactions() {
  if (guards_.watches_reactions() && motion_.redundant()) guards_.sharing.share(motion_);
  motion_.publish();
}

// What a watch must pass its zero by to be beyond doubt: tolerances of its own size, its rounding, and what the errors that a step may have make of
// it, at the loaded state. A velocity that has only begun to grow from rest is small beside these, and its sign is none yet.
double EventEngine::Run::watch_error(const Guard& guard, double band, double noise) {
  const double own = std::max(kWatchBand * band, noise);
  if (guard.kind != GuardKind::watch || (!stiff_ && motion_.uniform())) return own;
  enclosure_.take(work_.in);
  for (int i = 0; i < layout_.integrated(); ++i) {
    if (weight_[i] > 0) enclosure_.widen(1 + i, kWatchBand / weight_[i]);
  }
  for (int i = layout_.integrated(); i < motion_.sampled(); ++i) {
    if (weight_[i] > 0)
      enclosure_.widen(layout_.dissipated() + i - layout_.integrated(), kWatchBand / weight_[i]);
  }
  enclosure_.evaluate(system_.watches()[guard.place].value);
  const double blur = 0.5 * enclosure_.width(0);
  return std::isfinite(blur) ? std::max(own, blur) : own;
}

// Values of the watches before the instant.
bool EventEngine::Run::note_watches() {
  if (watch_before_.empty()) return true;
  if (!motion_.evaluate()) return false;
  publish_reactions();
  for (std::size_t w = 0; w < watch_before_.size(); ++w) {
    system_.watches()[w].value.evaluate(work_.in.data(), &watch_before_[w], work_.registers.data());
  }
  return true;
}

// Where a function that has the value `level` now goes from here: +1, −1, or 0 where the motion leaves it there. Looked at by doubling, from times on
// that are long beside the error of the time itself: a body that a load lifts off has no acceleration yet, but for what the landing has left.
int EventEngine::Run::direction_ahead(const Mode& mode, const expr::Program& value, double level,
                                      double bound) {
  constexpr double kLanding = 0x1p10 * std::numeric_limits<double>::epsilon();  // share of the time
  const int n = layout_.coordinates;
  ahead_ = work_.in;
  // Works grow by the power in the middle of the time: its sign and its order are those of the change.
  const bool works = motion_.sampled() > layout_.integrated();
  const auto add_works = [&](double time, const auto& state_at) {
    state_at(0.5 * time);
    std::copy_n(ahead_.begin() + layout_.q(), layout_.integrated(), node_y_.begin());
    const bool known = motion_(t_ + 0.5 * time, node_y_.data(), landing_y_.data());
    for (int i = 0; i < 2 * layout_.audits && known; ++i)
      ahead_[layout_.dissipated() + i] =
          y_[layout_.integrated() + i] + time * landing_y_[layout_.integrated() + i];
    motion_.load(t_, y_.data());
    static_cast<void>(motion_.evaluate());
  };
  const auto look = [&](double longest, const auto& state_at) {
    const double least = std::min(kLanding * std::abs(t_), longest);
    double time = std::ldexp(longest, -kDoublings);
    for (int i = 0; i <= kDoublings; ++i, time *= 2) {
      if (time < least) continue;
      ahead_[0] = t_ + time;
      if (works) add_works(time, state_at);
      state_at(time);
      double s = 0;
      value.evaluate(ahead_.data(), &s, work_.registers.data());
      if (std::abs(s - level) > 2 * bound) return s > level ? 1 : -1;
    }
    return 0;
  };
  if (series_.compute(mode, expr::kTaylorOrder)) {
    const int side =
        look(series_.time_scale(), [&](double time) { series_.state(time, ahead_.data() + layout_.q()); });
    if (side != 0) return side;
  }
  return look(h_ > 0             ? h_
              : last_flight_ > 0 ? last_flight_
                                 : options_.until - t_,
              [&](double time) {
                for (int j = 0; j < n; ++j) {
                  const double v = work_.in[layout_.v() + j];
                  const double a = motion_.acceleration()[j];
                  ahead_[layout_.q() + j] = work_.in[layout_.q() + j] + time * (v + 0.5 * time * a);
                  ahead_[layout_.v() + j] = v + time * a;
                }
                for (int j = 0; j < layout_.states; ++j)
                  ahead_[layout_.z() + j] = work_.in[layout_.z() + j] + time * work_.rate[j];
              });
}

// Watches whose expression jumped through zero at this instant, or is zero here and goes on to the other side.
void EventEngine::Run::list_watch_jumps() {
  if (watch_before_.empty()) return;
  motion_.load(t_, y_.data());
  load_audits(y_.data());
  if (!motion_.evaluate()) return;
  publish_reactions();
  for (const Guard& guard : guards_.list()) {
    if (guard.kind != GuardKind::watch || fresh_watch_[guard.place] != 0) continue;
    const double before = watch_before_[guard.place];
    const double after = guards_.value(guard);
    const model::WatchInfo& watch = system_.watches()[guard.place];
    double zero = std::max(guard.noise, kRoundingUnits * rounding_of(watch.value));
    // What was zero has the sign that it had before; so has what its own zero brought here, whatever the landing has left of it.
    int from = std::abs(before) > zero ? (before > 0 ? 1 : -1) : watch_side_[guard.place];
    if (reached_[guard.place] != 0) {
      from = watch_rising_[guard.place] != 0 ? -1 : 1;
      if (std::abs(after) <= kSmall * guard.scale) zero = std::max(zero, std::abs(after));
    }
    const int to =
        std::abs(after) > zero ? (after > 0 ? 1 : -1) : direction_ahead(mode_, watch.value, 0, zero);
    if (to == 0) continue;
    watch_side_[guard.place] = static_cast<std::int8_t>(to);
    if (from * to >= 0) continue;
    if (!(std::abs(after) > zero)) fresh_watch_[guard.place] = 1;
    if (!watch_direction_matches(guard.place, to > 0)) continue;
    Event event = event_here(EventKind::watch, guard.place);
    event.words[0] = to > 0 ? Word::up : Word::down;
    pending_.push_back(event);
    if (watch.stop > 0 && ++watch_counts_[guard.place] >= watch.stop) stop_by_watch_ = true;
  }
}

// The zero of a guard brought us here: the side that its switch goes to.
void EventEngine::Run::cross_observed(const Guard& guard) {
  const model::SwitchInfo& info = system_.observed()[guard.place];
  double lower = 0;  // side below the level
  if (info.whole) {
    lower = guard.level - 1;
  } else if (!info.levels.empty()) {
    const auto at = std::lower_bound(info.levels.begin(), info.levels.end(), guard.level);
    lower = static_cast<double>(at - info.levels.begin()) - 1;
  }
  crossed_[guard.place] = 1;
  crossed_side_[guard.place] = guard.sign > 0 ? lower : lower + 1;
  info.value.evaluate(work_.in.data(), &crossed_value_[guard.place], work_.registers.data());
}

// Sides of the switches that watches alone read, inner ones first: those of time from the timetable, one that was crossed by its crossing, others
// by value; at a level by where the motion goes, and if it stays there, the side that the language gives. True: a side has changed.
bool EventEngine::Run::take_observed() {
  if (layout_.observed == 0) return false;
  std::copy_n(work_.in.begin() + layout_.observed_side(), layout_.observed, observed_before_.begin());
  bool changed = timetable_.observe(t_, work_.in.data());
  for (int k = 0; k < layout_.observed; ++k)
    turned_[k] = work_.in[layout_.observed_side() + k] != observed_before_[k] ? 1 : 0;
  if (motion_.evaluate()) publish_reactions();
  for (int k = 0; k < layout_.observed; ++k) {
    const model::SwitchInfo& info = system_.observed()[k];
    if (info.time_only) continue;
    double s = 0;
    info.value.evaluate(work_.in.data(), &s, work_.registers.data());
    if (!std::isfinite(s)) continue;
    double lower = 0;
    const double distance = distance_from_level(info, s, lower);
    const double bound = kRoundingUnits * rounding_of(info.value);
    double& side = work_.in[layout_.observed_side() + k];
    const int only = info.only_side(lower);
    double next = (only != 0 ? only > 0 : distance > 0) ? lower + 1 : lower;
    // Where a switch inside it has turned, its surface goes elsewhere: abs(x) comes down to zero and rises again.
    const bool turned = std::any_of(info.inner.begin(), info.inner.end(), [this](int inner) {
      return inner < layout_.switches ? mode_.side[inner] != reference_.side[inner]
                                      : turned_[inner - layout_.switches] != 0;
    });
    if (crossed_[k] != 0 && !turned && std::abs(s - crossed_value_[k]) <= bound) {
      next = crossed_side_[k];
    } else if (std::abs(distance) <= bound) {
      const int leaves = direction_ahead(mode_, info.value, s - distance, bound);
      if (leaves == 0) {
        next = lower + info.at_zero;
      } else if (only == 0) {
        next = leaves > 0 ? lower + 1 : lower;
      }
    }
    changed = changed || next != side;
    turned_[k] = next != side ? 1 : 0;
    side = next;
  }
  std::fill(crossed_.begin(), crossed_.end(), std::uint8_t{0});
  return changed;
}

// Guards of watches and of their switches that start at zero.
void EventEngine::Run::set_watch_zeros() {
  constexpr int kUnknownOrder = -1;  // found from their samples
  for (Guard& guard : guards_.list()) {
    if (guard.kind == GuardKind::watch && fresh_watch_[guard.place] != 0 && t_ > options_.from) {
      guard.zeros = 1;  // it crossed; behind a zero of higher odd order what is left has no other sign
    } else if (guard.kind == GuardKind::watch || guard.kind == GuardKind::observed) {
      const double small = guard.kind == GuardKind::observed
                               ? std::max(kRoundingUnits * guard.noise, 1e-13 * guard.scale)
                               : 1e-13 * guard.scale;
      guard.zeros = std::abs(guards_.value(guard)) <= small ? kUnknownOrder : 0;
    }
  }
}

// The sides of observed switches change at an instant at which nothing else happens: watches may jump. What was found of them before is in
// pending_.
void EventEngine::Run::turn_observed() {
  if (take_observed()) guards_.build_observed();
  list_watch_jumps();
  set_watch_zeros();
  if (!pending_.empty() && quiet_rows_) rows_before_event();
  for (Event& event : pending_) report(event);
  if (!pending_.empty()) rows_after_event();
  pending_.clear();
}

}  // namespace judder::engines
