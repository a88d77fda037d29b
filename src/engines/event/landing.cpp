#include "engines/event/landing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/elementary.hpp"
#include "engines/event/scan.hpp"
#include "engines/event/sliding.hpp"
#include "engines/event/step_record.hpp"
#include "engines/event/trial.hpp"
#include "engines/event/watching.hpp"

namespace judder::engines {
namespace {

constexpr double kEpsilon = 2.220446049250313e-16;
constexpr double kLandingError =
    1.1;  ///< share of what is allowed that a step may have when it is made to end on a zero
constexpr int kMostProjected = 3;  ///< landings once more, behind the projection onto constraints

}  // namespace

Landing::Landing(Phase& now, StepFindings& found, Trial& trial, StepRecord& record, Watching& watching,
                 Sliding& sliding, Scan& scan)
    : now_(now),
      found_(found),
      trial_(trial),
      record_(record),
      watching_(watching),
      sliding_(sliding),
      scan_(scan) {
  landing_y_.resize(now_.motion.all_components());
}

// Repeats the step so that it ends on the zero: the state at an event comes from a full step, never from the polynomial.
bool Landing::land(double h, bool may_miss) {
  Guard guard = now_.guards.list()[found_.first_guard];
  found_.missed = false;
  double length = found_.first_theta * h;
  double slope = found_.first_slope / h;
  double previous_length = 0;
  double previous_value = 0;
  bool have_previous = false;
  double best_length = length;
  double best_value = std::numeric_limits<double>::infinity();
  double nearest = 0;  // the same with its sign
  const double resolution = 4 * kEpsilon * std::max(std::abs(now_.t + length), std::abs(now_.t));
  int next = -1;  // the gap or slip with the first zero behind
  for (int i = 0; i < now_.guards.size(); ++i) {
    const GuardKind kind = now_.guards.list()[i].kind;
    if (i == found_.first_guard || !(found_.root_theta[i] <= 1) ||
        (kind != GuardKind::gap && kind != GuardKind::slip))
      continue;
    if (next < 0 || found_.root_theta[i] < found_.root_theta[next]) next = i;
  }
  for (int iteration = 0; iteration < 12; ++iteration) {
    // A zero that rounding has made moves away from its landing: it must not take it over that of another guard.
    if (next >= 0 && length > (found_.root_theta[next] + kLateRoot) * h) {
      found_.first_guard = next;
      guard = now_.guards.list()[next];
      length = found_.root_theta[next] * h;
      slope = found_.root_slope[next] / h;
      have_previous = false;
      best_value = std::numeric_limits<double>::infinity();
      next = -1;
      iteration = 0;
    }
    if (!(length > 0)) length = 0.5 * resolution;
    if (!try_to_land(length)) {
      return now_.fail(
          {Reason::not_finite, now_.t, {}, "the equations of motion give no finite number at an event"});
    }
    const double* y1 = trial_.methods().y1();
    now_.motion.load(now_.t + length, y1);
    if (now_.guards.needs_motion() && !now_.motion.evaluate()) {
      return now_.fail(
          {Reason::not_finite, now_.t, {}, "the equations of motion give no finite number at an event"});
    }
    if (now_.guards.watches_reactions()) watching_.publish_reactions();
    if (guard.kind == GuardKind::margin && guard.tangent < 0) now_.guards.sharing.share(now_.motion);
    const double value = now_.guards.value(guard);
    if (std::abs(value) < best_value) {
      best_value = std::abs(value);
      nearest = value;
      best_length = length;
    }
    if (value == 0) break;
    if (have_previous && length != previous_length && value != previous_value) {
      slope = (value - previous_value) / (length - previous_length);
    }
    if (slope == 0 || !std::isfinite(slope)) break;
    const double change = -value / slope;
    if (std::abs(change) <= resolution) break;
    if (iteration > 2 && std::abs(value) > 0.5 * std::abs(previous_value))
      break;  // rounding of the guard itself
    previous_length = length;
    previous_value = value;
    have_previous = true;
    length = std::clamp(length + change, 0.25 * length, std::min(h, 4 * length));
  }
  // The polynomial went through zero, the motion only comes near: there is no event, and a shorter step will say so.
  found_.missed = may_miss && scan_.of_the_state(guard) && length > kLateRoot * h &&
                  nearest > std::max({guard.noise, 0x1p-40 * guard.scale, std::abs(slope) * resolution});
  if (found_.missed) return true;
  if (best_length != length) {
    length = best_length;
    if (!try_to_land(length))
      return now_.fail(
          {Reason::not_finite, now_.t, {}, "the equations of motion give no finite number at an event"});
  }
  // Where a zero is only touched, its landing may lie anywhere around it, also behind the zero of another function: that one comes first.
  if (const int passed = passed_first(h, length); passed >= 0 && may_miss) {
    found_.first_guard = passed;
    found_.first_theta = found_.root_theta[passed];
    found_.first_slope = found_.root_slope[passed];
    return land(h, false);
  }
  // The state is put onto its constraints, which moves the zeros of gaps and kinks beside them.
  const bool kink =
      guard.kind == GuardKind::side && now_.system.switches()[guard.place].kind == expr::SwitchKind::kink;
  const bool beside = (guard.kind == GuardKind::gap || kink) && now_.motion.holds();
  for (int i = 0; i < kMostProjected && beside; ++i) {
    std::copy_n(trial_.methods().y1(), now_.motion.components(), landing_y_.begin());
    if (!now_.motion.project(now_.t + length, landing_y_.data(), true)) break;
    now_.motion.load(now_.t + length, landing_y_.data());
    if (now_.guards.needs_motion() && !now_.motion.evaluate()) break;
    const double change = -now_.guards.value(guard) / slope;
    if (!(std::abs(change) > resolution) || !(length + change > 0 && length + change <= h)) break;
    length += change;
    if (!try_to_land(length))
      return now_.fail(
          {Reason::not_finite, now_.t, {}, "the equations of motion give no finite number at an event"});
  }
  // A step that ends where a force has no slope, as √q at q = 0, is less exact than the one that went before it was cut.
  if (may_miss && now_.options.step == 0 && (trial_.methods().stiff() || !now_.motion.uniform()) &&
      length > kLateRoot * h) {
    trial_.set_weights(length);
    found_.missed = trial_.step_error() > kLandingError;
    if (found_.missed) return true;
  }
  found_.landing_h = length;
  if (!gather_events(h, length))
    return now_.fail(
        {Reason::not_finite, now_.t, {}, "the equations of motion give no finite number at an event"});
  carry_watches(length / h);
  if (trial_.methods().stiff() || !now_.motion.uniform()) trial_.set_weights(length);
  now_.scales.update(trial_.trial_step(length));
  if (now_.recorder.samples.next() < now_.t + length && !trial_.prepare_dense()) {
    return now_.fail(
        {Reason::not_finite, now_.t, {}, "the equations of motion give no finite number at an event"});
  }
  const double* y1 = trial_.methods().y1();
  const int width = now_.motion.components();
  std::copy_n(y1, width, landing_y_.begin());
  const double t1 = now_.t + length;
  record_.tell_inside(t1);
  record_.note_step(h, length);
  record_.emit_samples(t1);
  trial_.methods().begin(now_.motion.components());
  now_.t = t1;
  std::copy_n(landing_y_.begin(), width, now_.y.begin());
  now_.have_f0 = false;
  if (now_.motion.active() > 0) static_cast<void>(now_.motion.project(now_.t, now_.y.data(), true));
  now_.note_projected(landing_y_.data());
  sliding_.project_step();
  now_.recorder.testimony.end(now_.t, now_.y.data());
  now_.load();
  return true;
}

// Newton's iteration may look beyond the place where a step is to end, and there may be nothing: √h below h = 0. Explicit steps come from before.
bool Landing::try_to_land(double length) {
  if (trial_.try_step(length)) return true;
  if (!trial_.methods().stiff() || now_.options.integrator != Integrator::automatic) return false;
  trial_.change_method();
  return now_.motion(now_.t, now_.y.data(), now_.f0.data()) && trial_.try_step(length);
}

// The function of the state with the first zero in the step that the end of a landing is behind by more than rounding, other than the one that was landed on; −1:
// there is none. The trial step ends at the landing.
int Landing::passed_first(double h, double length) {
  const double window = 64 * kEpsilon * std::max({std::abs(now_.t), std::abs(now_.t + length), length});
  int first = -1;
  bool loaded = false;
  for (int i = 0; i < now_.guards.size(); ++i) {
    const Guard& guard = now_.guards.list()[i];
    if (i == found_.first_guard || !scan_.of_the_state(guard) ||
        !(found_.root_theta[i] * h < length - window))
      continue;
    if (first >= 0 && found_.root_theta[i] >= found_.root_theta[first]) continue;
    if (!loaded) now_.motion.load(now_.t + length, trial_.methods().y1());
    loaded = true;
    Guard rounded = guard;
    static_cast<void>(now_.guards.renew_noise(rounded));
    const double past = std::max(std::abs(found_.root_slope[i]) / h * window, kRoundingUnits * rounded.noise);
    if (now_.guards.value(guard) < -past) first = i;
  }
  return first;
}

// What else happens at the instant of the landing: guards whose own zero lies within rounding of it, or that the landing has just passed.
// The polynomials name the candidates, the state at the landing decides.
bool Landing::gather_events(double h, double length) {
  found_.together.clear();
  const int count = now_.guards.size();
  if (count > 1) {
    const double* y1 = trial_.methods().y1();
    now_.motion.load(now_.t + length, y1);
    if (now_.guards.needs_motion() && !now_.motion.evaluate()) return false;
    landing_values_.resize(std::max<std::size_t>(landing_values_.size(), count));
    now_.guards.values(landing_values_.data());
  }
  const double window = 64 * kEpsilon * std::max({std::abs(now_.t), std::abs(now_.t + length), length});
  for (int i = 0; i < count; ++i) {
    if (i == found_.first_guard) {
      found_.together.push_back(i);
      continue;
    }
    if (!(found_.root_theta[i] < std::numeric_limits<double>::infinity())) continue;
    if (!comes_to_zero(i, length / h)) continue;
    // Seen from the side that the function comes from.
    const double value = found_.root_slope[i] > 0 ? -landing_values_[i] : landing_values_[i];
    if (value <= std::abs(found_.root_slope[i]) / h * window) found_.together.push_back(i);
  }
  return true;
}

// Whether a watch has the side that it leaves at its zero in this step, and is nearer to that zero than to where it took that side: sooner it may have
// the other side, as one that goes down unasked and then up, or be as small as at its zero. Its polynomial tells, but where the state contradicts it.
bool Landing::comes_to_zero(int i, double theta) const {
  const Guard& guard = now_.guards.list()[i];
  if (guard.kind != GuardKind::watch && guard.kind != GuardKind::observed) return true;
  if (2 * theta >= found_.root_from[i] + found_.root_theta[i]) return true;
  if (found_.root_from[i] > 0) return false;
  const double past = found_.root_slope[i] > 0 ? landing_values_[i] : -landing_values_[i];
  return past > kWatchBand * now_.options.tolerance * guard.scale;
}

// A watch that does not end the step may have passed zeros that are not asked for, or a pole, on the way to the landing. Its side is that of its last value
// that is more than its error.
void Landing::carry_watches(double theta) {
  const std::vector<Guard>& list = now_.guards.list();
  const int points = found_.degree + 1;
  for (int i = 0; i < now_.guards.size(); ++i) {
    if (list[i].kind != GuardKind::watch ||
        std::find(found_.together.begin(), found_.together.end(), i) != found_.together.end())
      continue;
    // Up to a zero of its own it has the side that it had.
    if (found_.root_theta[i] <= 1 && !(found_.root_from[i] > 0)) continue;
    const double* const sample = found_.samples.data() + static_cast<std::ptrdiff_t>(i) * (points + 1);
    const numeric::SamplingGrid& grid = numeric::SamplingGrid::of_degree(found_.degree);
    const int side = watching_.watches().side(list[i].place);
    bool other = side * landing_values_[i] <= 0;
    int inside = 0;
    for (; inside < points && grid.theta(inside) < theta; ++inside)
      other = other || side * sample[inside] <= 0;
    if (!other) continue;
    const double error =
        watching_.watch_error(list[i], now_.options.tolerance * list[i].scale, list[i].noise);
    double value = landing_values_[i];
    for (int j = inside - 1; j >= 0 && !(std::abs(value) > error); --j) value = sample[j];
    if (std::abs(value) > error) watching_.watches().carry(list[i].place, value > 0 ? 1 : -1);
  }
}

}  // namespace judder::engines
