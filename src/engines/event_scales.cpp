// The length of the first step, after an event and out of rest, and what steps are measured by (running_scales.hpp, rate_noise.hpp).
#include <algorithm>
#include <cmath>
#include <limits>

#include "event_run.hpp"

namespace judder::engines {
namespace {

constexpr double kShareOfTime = 0.01;  ///< of a characteristic time: the first step to try
constexpr double kShareOfRest = 1e-3;  ///< of a characteristic time: the step out of rest
constexpr double kShareOfRun = 1e-6;   ///< of the run, where nothing has a length

}  // namespace

// The least time in which the linearised equations change the motion: of ‖∂v̇/∂q‖^(−1/2) and ‖∂v̇/∂v‖⁻¹, and of the rates of states; infinite
// where the motion feeds nothing back. Products of mirrored entries are the same in all units of the coordinates.
double EventEngine::Run::characteristic_time() {
  const int n = layout_.coordinates;
  const int rows = n + layout_.states;
  const int width = layout_.integrated() + layout_.free_parameters;
  if (rows == 0) return std::numeric_limits<double>::infinity();
  jacobian_.resize(static_cast<std::size_t>(rows) * width);
  motion_.load(t_, y_.data());
  system_.jacobian(work_, jacobian_.data());
  const auto inertia = [&](int i) { return i < n ? work_.inertia[i] : 1.0; };
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
double EventEngine::Run::first_step() {
  if (last_flight_ > 0) return last_flight_;
  double shortest = characteristic_time();
  const int n = layout_.coordinates;
  for (int i = 0; i < n; ++i) {
    const double v = std::abs(y_[n + i]);
    const double a = std::abs(f0_[n + i]);
    const double q = std::abs(y_[i]);
    if (v > 0 && a > 0) shortest = std::min(shortest, v / a);
    if (v > 0 && q > 0) shortest = std::min(shortest, q / v);
    if (a > 0 && q > 0) shortest = std::min(shortest, std::sqrt(q / a));
  }
  for (int i = 2 * n; i < layout_.integrated(); ++i) {
    if (y_[i] != 0 && f0_[i] != 0) shortest = std::min(shortest, std::abs(y_[i] / f0_[i]));
  }
  if (!(shortest > 0) || !std::isfinite(shortest)) return kShareOfRun * (options_.until - t_);
  return kShareOfTime * shortest;
}

// Whether nothing moves and nothing is driven yet, while time may bring a force.
bool EventEngine::Run::rests() const {
  if (system_.autonomous_forces() || motion_.everything_pinned() || layout_.integrated() == 0) return false;
  for (int i = 0; i < layout_.integrated(); ++i) {
    if (f0_[i] != 0) return false;
  }
  return true;
}

// The first movement out of rest has no size to be compared with but its own, and grows with a power of time that may exceed the order of the
// error estimate: then no step is short enough. A trial over many such steps tells the size that the motion is about to have.
double EventEngine::Run::step_from_rest(double limit) {
  if (!leaving_rest_) {
    double shortest = characteristic_time();
    if (limit < options_.until) shortest = std::min(shortest, limit - t_);
    rest_step_ = std::isfinite(shortest) ? kShareOfRest * shortest : kShareOfRun * (options_.until - t_);
    h_ = rest_step_;
    leaving_rest_ = true;
  }
  return h_;
}

// The sizes at the end of a trial of `length`. False: it is too long, a guard vanishes on the way (unless `guarded`: that has been seen), or the
// equations give no number there.
bool EventEngine::Run::look_ahead(double length, bool guarded, bool& finite) {
  finite = try_step(length) && prepare_dense();
  if (!finite) return false;
  const bool moved = scales_.look(trial_step(length));
  // Rest that lasted has lengthened the steps; where it ends they are as short again as at its beginning.
  if (moved && length > kAheadAtRest * rest_step_) return false;
  if (guarded) return true;
  bool accurate = true;
  return !find_first_guard(length, accurate);
}

TrialStep EventEngine::Run::trial_step(double h) const {
  // Beyond its stability an explicit step does not know the sizes.
  const std::span<const double> errors = methods_.stiff() ? std::span<const double>() : methods_.errors();
  return {t_, h, y_.data(), f0_.data(), methods_.y1(), errors};
}

void EventEngine::Run::set_weights(double h) {
  scales_.weigh(trial_step(h), motion_, work_.inertia.data(), noise_,
                {options_.tolerance, recorder_.residuals.largest_energy(), limit_});
}

void EventEngine::Run::measure_noise(double h, bool lasting) {
  if (!noise_.measure(motion_, t_, y_.data(), f0_.data(), h, lasting)) return;
  // What cancels inside the speed of a belt is in the power of its friction, whatever rests beside it. A combination of two sides is no interval between them.
  if (motion_.slides()) return;
  for (int e = 0; e < layout_.audits; ++e) {
    const int r = system_.audits()[e].relation;
    if (r < 0 || mode_.normal[r] == NormalStatus::open || system_.relations()[r].rows_constant) continue;
    const model::Relation& relation = system_.relations()[r];
    enclose(relation.rows);
    for (int j = 0; j < relation.tangents; ++j) {
      const double noise = 0.5 * kRoundingUnits * enclosure_.width(relation.row_begin(j)) *
                           std::abs(motion_.tangent()[relation.first_tangent + j]);
      noise_.add(layout_.integrated() + e, noise);
      noise_.add(layout_.integrated() + layout_.audits + e, noise);
    }
  }
}

}  // namespace judder::engines
