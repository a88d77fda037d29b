#include "engines/event/first_steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engines/event/scan.hpp"
#include "engines/event/trial.hpp"

namespace judder::engines {
namespace {

constexpr double kShareOfTime = 0.01;  ///< of a characteristic time: the first step to try
constexpr double kShareOfRest = 1e-3;  ///< of a characteristic time: the step out of rest
constexpr double kShareOfRun = 1e-6;   ///< of the run, where nothing has a length
constexpr double kLeastLook =
    0x1p-20;  ///< of the first look ahead: shorter ones are not shortened for what begins faster than they are long

}  // namespace

FirstSteps::FirstSteps(Phase& now, Trial& trial, Scan& scan) : now_(now), trial_(trial), scan_(scan) {}

// The least time in which the linearised equations change the motion: of ‖∂v̇/∂q‖^(−1/2) and ‖∂v̇/∂v‖⁻¹, and of the rates of states; infinite
// where the motion feeds nothing back. Products of mirrored entries are the same in all units of the coordinates.
double FirstSteps::characteristic_time() {
  now_.load();
  return characteristic_time_here();
}

double FirstSteps::characteristic_time_here() {
  const int n = now_.layout.coordinates;
  const int rows = n + now_.layout.states;
  const int width = now_.layout.integrated() + now_.layout.free_parameters;
  if (rows == 0) return std::numeric_limits<double>::infinity();
  jacobian_.resize(static_cast<std::size_t>(rows) * width);
  now_.system.jacobian(now_.work, jacobian_.data());
  const auto inertia = [&](int i) { return i < n ? now_.work.inertia[i] : 1.0; };
  double stiffness = 0;
  double damping = 0;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j <= i; ++j) {
      const double masses = inertia(i) * inertia(j);
      if (!(masses > 0) || (i >= n) != (j >= n)) continue;
      const auto mirrored = [&](int first) {
        const double product = (jacobian_[i * width + first + j] * jacobian_[j * width + first + i]) / masses;
        return std::isfinite(product) ? std::sqrt(std::abs(product)) : 0;
      };
      if (i < n) {
        stiffness = std::max(stiffness, mirrored(0));
        damping = std::max(damping, mirrored(n));
      } else {
        damping =
            std::max(damping, mirrored(n));  // states stand behind q and v, as their rows behind those of v
      }
    }
  }
  double shortest = std::numeric_limits<double>::infinity();
  if (stiffness > 0) shortest = std::min(shortest, 1 / std::sqrt(stiffness));
  if (damping > 0) shortest = std::min(shortest, 1 / damping);
  return shortest;
}

// A first step from what is known at the start; error control does the rest. What happens before t does not depend on `until`: it is asked for
// a length only where nothing in the model has one.
double FirstSteps::first_step() {
  if (now_.last_flight > 0) return now_.last_flight;
  double shortest = characteristic_time();
  const int n = now_.layout.coordinates;
  for (int i = 0; i < n; ++i) {
    const double v = std::abs(now_.y[n + i]);
    const double a = std::abs(now_.f0[n + i]);
    const double q = std::abs(now_.y[i]);
    if (v > 0 && a > 0) shortest = std::min(shortest, v / a);
    if (v > 0 && q > 0) shortest = std::min(shortest, q / v);
    if (a > 0 && q > 0) shortest = std::min(shortest, std::sqrt(q / a));
  }
  for (int i = 2 * n; i < now_.layout.integrated(); ++i) {
    if (now_.y[i] != 0 && now_.f0[i] != 0) shortest = std::min(shortest, std::abs(now_.y[i] / now_.f0[i]));
  }
  if (!(shortest > 0) || !std::isfinite(shortest)) return kShareOfRun * (now_.options.until - now_.t);
  return kShareOfTime * shortest;
}

// Whether nothing moves and nothing is driven yet, while time may bring a force.
bool FirstSteps::rests() const {
  if (now_.system.autonomous_forces() || now_.motion.everything_pinned() || now_.layout.integrated() == 0)
    return false;
  for (int i = 0; i < now_.layout.integrated(); ++i) {
    if (now_.f0[i] != 0) return false;
  }
  return true;
}

// The first movement out of rest has no size to be compared with but its own, and grows with a power of time that may exceed the order of the
// error estimate: then no step is short enough. A trial over many such steps tells the size that the motion is about to have.
double FirstSteps::step_from_rest(double limit) {
  if (!now_.leaving_rest) {
    double shortest = characteristic_time();
    if (limit < now_.options.until) shortest = std::min(shortest, limit - now_.t);
    now_.rest_step =
        std::isfinite(shortest) ? kShareOfRest * shortest : kShareOfRun * (now_.options.until - now_.t);
    now_.h = now_.rest_step;
    now_.leaving_rest = true;
  }
  return now_.h;
}

// A look ahead may be far beyond the stability of a state that answers fast once something moves it (a bristle under a belt), and then its end says nothing of
// its size. What drives it does: a state comes no farther than the largest of its rates with all states where they were.
TrialStep FirstSteps::within_drives(TrialStep look) {
  constexpr double kTimes = 4;
  constexpr int kPlaces = 4;
  const int first = 2 * now_.layout.coordinates;
  const int end = now_.layout.integrated();
  if (first == end) return look;
  const auto size = static_cast<std::size_t>(now_.motion.all_components());
  look_.resize(4 * size);
  double* const capped = look_.data();
  double* const there = capped + size;
  double* const rate = there + size;
  double* const drive = rate + size;
  std::copy_n(look.end, now_.motion.components(), capped);
  std::fill_n(drive, size, 0.0);
  for (int place = 1; place <= kPlaces; ++place) {
    const double theta = static_cast<double>(place) / kPlaces;
    trial_.dense(theta, there);
    std::copy(look.y + first, look.y + end, there + first);
    if (!now_.motion(look.t + theta * look.h, there, rate)) continue;
    for (int i = first; i < end; ++i) drive[i] = std::max(drive[i], std::abs(rate[i]) * look.h);
  }
  for (int i = first; i < end; ++i) {
    const double most = kTimes * drive[i];
    if (most > 0) capped[i] = std::clamp(capped[i], look.y[i] - most, look.y[i] + most);
  }
  look.end = capped;
  return look;
}

// The sizes at the end of a trial of `length`. False: it is too long, a guard vanishes on the way (unless `guarded`: that has been seen), or the
// equations give no number there.
bool FirstSteps::look_ahead(double length, bool guarded, bool& finite) {
  finite = trial_.try_step(length) && trial_.prepare_dense();
  if (!finite) return false;
  // Where what begins is faster than the look is long (a bristle answers as fast as its belt moves) the look has gone past it.
  const TrialStep seen = within_drives(trial_.trial_step(length));
  const double first = kAheadAtRest * now_.rest_step;
  if (length <= first && length > kLeastLook * first) {
    now_.motion.load(now_.t + length, seen.end);
    if (length > characteristic_time_here()) {
      finite = false;
      return false;
    }
  }
  const bool moved = now_.scales.look(seen);
  // Rest that lasted has lengthened the steps; where it ends they are as short again as at its beginning.
  if (moved && length > kAheadAtRest * now_.rest_step) return false;
  if (guarded) return true;
  bool accurate = true;
  return !scan_.find_first_guard(length, accurate);
}

}  // namespace judder::engines
