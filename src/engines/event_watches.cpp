// Watches at an instant: their jumps, and the switches that they alone read. These move nothing: a run is the same without them, but for the
// ends of its steps.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "event_run.hpp"

namespace judder::engines {
namespace {

constexpr int kDoublings = 60;  ///< of the times at which a surface that starts at zero is looked at

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
  if (guard.kind != GuardKind::watch || (!methods_.stiff() && motion_.uniform())) return own;
  enclosure_.take(work_.in);
  for (int i = 0; i < layout_.integrated(); ++i) {
    if (scales_.weights()[i] > 0) enclosure_.widen(1 + i, kWatchBand / scales_.weights()[i]);
  }
  for (int i = layout_.integrated(); i < motion_.sampled(); ++i) {
    if (scales_.weights()[i] > 0)
      enclosure_.widen(layout_.dissipated() + i - layout_.integrated(), kWatchBand / scales_.weights()[i]);
  }
  enclosure_.evaluate(system_.watches()[guard.place].value);
  const double blur = 0.5 * enclosure_.width(0);
  return std::isfinite(blur) ? std::max(own, blur) : own;
}

// Values of the watches before the instant.
bool EventEngine::Run::note_watches() {
  if (watches_.empty()) return true;
  if (!motion_.evaluate()) return false;
  publish_reactions();
  watches_.note_before(work_);
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
  const bool pinned = motion_.pinned() && motion_.mode() == mode;
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
      // What a row alone holds does not move: loads that balance leave rounding in the series, and a sign would be made of it.
      if (pinned) motion_.pin(t_ + time, ahead_.data() + layout_.q());
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
  if (watches_.empty()) return;
  motion_.load(t_, y_.data());
  recorder_.load_works(y_.data(), work_);
  if (!motion_.evaluate()) return;
  publish_reactions();
  AheadOfHere ahead(*this);
  for (const Guard& guard : guards_.list()) {
    if (guard.kind != GuardKind::watch || watches_.fresh(guard.place)) continue;
    const std::optional<Word> way = watches_.jumped(guard, guards_.value(guard), ahead);
    if (!way) continue;
    Event event = event_here(EventKind::watch, guard.place);
    event.words[0] = *way;
    recorder_.pending().push_back(event);
  }
}

// Sides of the switches that watches alone read. True: a side has changed.
bool EventEngine::Run::take_observed() {
  if (observed_.empty()) return false;
  const bool by_time = observed_.take_timetable(t_, timetable_, work_);
  if (motion_.evaluate()) publish_reactions();
  AheadOfHere ahead(*this);
  return observed_.take(mode_, reference_, work_, ahead) || by_time;
}

// Guards of watches and of their switches that start at zero.
void EventEngine::Run::set_watch_zeros() {
  constexpr int kUnknownOrder = -1;  // found from their samples
  for (Guard& guard : guards_.list()) {
    if (guard.kind == GuardKind::watch && watches_.fresh(guard.place) && t_ > options_.from) {
      guard.zeros = 1;  // it crossed; behind a zero of higher odd order what is left has no other sign
    } else if (guard.kind == GuardKind::watch || guard.kind == GuardKind::observed) {
      const double small = guard.kind == GuardKind::observed
                               ? std::max(kRoundingUnits * guard.noise, 1e-13 * guard.scale)
                               : 1e-13 * guard.scale;
      guard.zeros = std::abs(guards_.value(guard)) <= small ? kUnknownOrder : 0;
    }
  }
}

// The sides of observed switches change at an instant at which nothing else happens: watches may jump. What was found of them before is pending already.
void EventEngine::Run::turn_observed() {
  if (take_observed()) guards_.build_observed();
  list_watch_jumps();
  set_watch_zeros();
  if (recorder_.pending().empty()) return;
  if (quiet_rows_) rows_before_event();
  recorder_.report_pending(t_, time_bound_, mode_);
  rows_after_event();
}

}  // namespace judder::engines
