#include "engines/event/watching.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/elementary.hpp"
#include "engines/event/roundings.hpp"
#include "engines/event/rows.hpp"
#include "engines/event/trial.hpp"
#include "engines/law_numbers.hpp"

namespace judder::engines {
namespace {

constexpr int kDoublings = 60;  ///< of the times at which a surface that starts at zero is looked at

}  // namespace

int Watching::AheadOfHere::direction(const expr::Program& value, double level, double bound) {
  return watching_.direction_ahead(watching_.now_.mode, value, level, bound);
}

double Watching::AheadOfHere::rounding(const expr::Program& value) {
  return watching_.rounding_.rounding_of(value);
}

Watching::Watching(Phase& now, InstantState& here, StepFindings& found, Roundings& rounding, Rows& rows,
                   Trial& trial)
    : now_(now),
      here_(here),
      found_(found),
      rounding_(rounding),
      rows_(rows),
      trial_(trial),
      watches_(now.system),
      observed_(now.system) {
  node_y_.resize(now_.motion.all_components());
  landing_y_.resize(now_.motion.all_components());
  ahead_.resize(now_.work.in.size());
}

// What watches may read of the motion just evaluated. Reactions that are not unique are shared as they are in the rows and in the samples of a step.
void Watching::publish_reactions() {
  if (now_.guards.watches_reactions() && now_.motion.redundant()) now_.guards.sharing.share(now_.motion);
  now_.motion.publish();
}

// What a watch must pass its zero by to be beyond doubt: tolerances of its own size, its rounding, and what the errors that a step may have make of
// it, at the loaded state. A velocity that has only begun to grow from rest is small beside these, and its sign is none yet.
double Watching::watch_error(const Guard& guard, double band, double noise) {
  const double own = std::max(kWatchBand * band, noise);
  if (guard.kind != GuardKind::watch || (!trial_.methods().stiff() && now_.motion.uniform())) return own;
  rounding_.enclosure().take(now_.work.in);
  for (int i = 0; i < now_.layout.integrated(); ++i) {
    if (now_.scales.weights()[i] > 0)
      rounding_.enclosure().widen(1 + i, kWatchBand / now_.scales.weights()[i]);
  }
  for (int i = now_.layout.integrated(); i < now_.motion.sampled(); ++i) {
    if (now_.scales.weights()[i] > 0)
      rounding_.enclosure().widen(now_.layout.dissipated() + i - now_.layout.integrated(),
                                  kWatchBand / now_.scales.weights()[i]);
  }
  rounding_.enclosure().evaluate(now_.system.watches()[guard.place].value);
  const double blur = 0.5 * rounding_.enclosure().width(0);
  return std::isfinite(blur) ? std::max(own, blur) : own;
}

// Values of the watches before the instant.
bool Watching::note_watches() {
  if (watches_.empty()) return true;
  if (!now_.motion.evaluate()) return false;
  publish_reactions();
  watches_.note_before(now_.work);
  return true;
}

// Watches whose expression jumped through zero at this instant, or is zero here and goes on to the other side.
void Watching::list_watch_jumps() {
  if (watches_.empty()) return;
  now_.load();
  now_.recorder.load_works(now_.y.data(), now_.work);
  if (!now_.motion.evaluate()) return;
  publish_reactions();
  AheadOfHere ahead(*this);
  for (const Guard& guard : now_.guards.list()) {
    if (guard.kind != GuardKind::watch || watches_.fresh(guard.place)) continue;
    const std::optional<Word> way = watches_.jumped(guard, now_.guards.value(guard), ahead);
    if (!way) continue;
    Event event = rows_.event_here(EventKind::watch, guard.place);
    event.words[0] = *way;
    now_.recorder.pending().push_back(event);
  }
}

// Sides of the switches that watches alone read. True: a side has changed.
bool Watching::take_observed() {
  if (observed_.empty()) return false;
  const bool by_time = observed_.take_timetable(now_.t, now_.timetable, now_.work);
  if (now_.motion.evaluate()) publish_reactions();
  AheadOfHere ahead(*this);
  return observed_.take(now_.mode, here_.reference, now_.work, ahead) || by_time;
}

// Guards of watches and of their switches that start at zero.
void Watching::set_watch_zeros() {
  constexpr int kUnknownOrder = -1;  // found from their samples
  for (Guard& guard : now_.guards.list()) {
    if (guard.kind == GuardKind::watch && watches_.fresh(guard.place) && now_.t > now_.options.from) {
      guard.zeros = 1;  // it crossed; behind a zero of higher odd order what is left has no other sign
    } else if (guard.kind == GuardKind::watch || guard.kind == GuardKind::observed) {
      const double small = guard.kind == GuardKind::observed
                               ? std::max(kRoundingUnits * guard.noise, 1e-13 * guard.scale)
                               : 1e-13 * guard.scale;
      guard.zeros = std::abs(now_.guards.value(guard)) <= small ? kUnknownOrder : 0;
    }
  }
}

// The sides of observed switches change at an instant at which nothing else happens: watches may jump. What was found of them before is pending already.
void Watching::turn_observed() {
  if (take_observed()) now_.guards.build_observed();
  list_watch_jumps();
  set_watch_zeros();
  if (now_.recorder.pending().empty()) return;
  if (here_.quiet_rows) rows_.rows_before_event();
  now_.recorder.report_pending(now_.t, now_.time_bound, now_.mode);
  rows_.rows_after_event();
}

// A watch has the sign of its last value that is more than its error.
void Watching::carry_watches() {
  if (watches_.empty()) return;
  const std::vector<Guard>& list = now_.guards.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].kind != GuardKind::watch) continue;
    const double value = found_.samples[i * (found_.degree + 2) + (found_.degree + 1)];
    const int side = value > 0 ? 1 : -1;
    if (value == 0 || watches_.side(list[i].place) == side) continue;
    const double error = watch_error(list[i], now_.options.tolerance * list[i].scale, list[i].noise);
    if (std::abs(value) > error) watches_.carry(list[i].place, side);
  }
}

// Where a function that has the value `level` now goes from here: +1, −1, or 0 where the motion leaves it there. Looked at by doubling, from times on
// that are long beside the error of the time itself: a body that a load lifts off has no acceleration yet, but for what the landing has left.
int Watching::direction_ahead(const Mode& mode, const expr::Program& value, double level, double bound) {
  constexpr double kLanding = 0x1p10 * std::numeric_limits<double>::epsilon();  // share of the time
  const int n = now_.layout.coordinates;
  ahead_ = now_.work.in;
  // Works grow by the power in the middle of the time: its sign and its order are those of the change.
  const bool works = now_.motion.sampled() > now_.layout.integrated();
  const bool pinned = now_.motion.pinned() && now_.motion.mode() == mode;
  const auto add_works = [&](double time, const auto& state_at) {
    state_at(0.5 * time);
    std::copy_n(ahead_.begin() + now_.layout.q(), now_.layout.integrated(), node_y_.begin());
    const bool known = now_.motion(now_.t + 0.5 * time, node_y_.data(), landing_y_.data());
    for (int i = 0; i < 2 * now_.layout.audits && known; ++i)
      ahead_[now_.layout.dissipated() + i] =
          now_.y[now_.layout.integrated() + i] + time * landing_y_[now_.layout.integrated() + i];
    now_.load();
    static_cast<void>(now_.motion.evaluate());
  };
  const auto look = [&](double longest, const auto& state_at) {
    const double least = std::min(kLanding * std::abs(now_.t), longest);
    double time = std::ldexp(longest, -kDoublings);
    for (int i = 0; i <= kDoublings; ++i, time *= 2) {
      if (time < least) continue;
      ahead_[0] = now_.t + time;
      if (works) add_works(time, state_at);
      state_at(time);
      // What a row alone holds does not move: loads that balance leave rounding in the series, and a sign would be made of it.
      if (pinned) now_.motion.pin(now_.t + time, ahead_.data() + now_.layout.q());
      double s = 0;
      value.evaluate(ahead_.data(), &s, now_.work.registers.data());
      if (std::abs(s - level) > 2 * bound) return s > level ? 1 : -1;
    }
    return 0;
  };
  if (now_.series.compute(mode, expr::kTaylorOrder)) {
    const int side = look(now_.series.time_scale(),
                          [&](double time) { now_.series.state(time, ahead_.data() + now_.layout.q()); });
    if (side != 0) return side;
  }
  return look(now_.h > 0             ? now_.h
              : now_.last_flight > 0 ? now_.last_flight
                                     : now_.options.until - now_.t,
              [&](double time) {
                for (int j = 0; j < n; ++j) {
                  const double v = now_.work.in[now_.layout.v() + j];
                  const double a = now_.motion.acceleration()[j];
                  ahead_[now_.layout.q() + j] =
                      now_.work.in[now_.layout.q() + j] + time * (v + 0.5 * time * a);
                  ahead_[now_.layout.v() + j] = v + time * a;
                }
                for (int j = 0; j < now_.layout.states; ++j)
                  ahead_[now_.layout.z() + j] = now_.work.in[now_.layout.z() + j] + time * now_.work.rate[j];
              });
}

}  // namespace judder::engines
