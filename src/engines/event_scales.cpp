// What a step is measured by: running scales, weights, rounding of the rates, and the length of the first step.
#include <algorithm>
#include <cmath>
#include <limits>

#include "event_run.hpp"
#include "numeric/power_of_two.hpp"

namespace judder::engines {
namespace {

constexpr double kEpsilon = 2.220446049250313e-16;
constexpr double kMostForgotten = 0.5;  ///< share of the size of a state that is kept over a step, at least
constexpr double kShareOfTime = 0.01;   ///< of a characteristic time: the first step to try
constexpr double kShareOfRest = 1e-3;   ///< of a characteristic time: the step out of rest
constexpr double kShareOfRun = 1e-6;    ///< of the run, where nothing has a length
constexpr double kLeastNumber = 0x1p-1000;  ///< errors near the end of the range of numbers are no errors

/// The speed that the largest kinetic energy of one coordinate would give another. Squares are taken in units of the greatest speed: those of small
/// speeds would be no numbers.
class SpeedByEnergy {
 public:
  SpeedByEnergy(const double* mass, const double* speed, int n) {
    const double fastest = n > 0 ? *std::max_element(speed, speed + n) : 0;
    if (fastest > 0 && std::isfinite(fastest)) unit_ = numeric::power_of_two(numeric::exponent_of(fastest));
    for (int i = 0; i < n; ++i) {
      const double own = speed[i] / unit_;
      energy_ = std::max(energy_, mass[i * n + i] * own * own);
    }
  }
  [[nodiscard]] double of(double inertia) const {
    return inertia > 0 ? std::sqrt(energy_ / inertia) * unit_ : 0;
  }

 private:
  double unit_ = 1;
  double energy_ = 0;  ///< twice the largest
};

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
  const auto inertia = [&](int i) { return i < n ? work_.mass[i * n + i] : 1.0; };
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
  const double* y1 = stiff_ ? radau_.y1() : explicit_.y1();
  bool moved = false;
  for (int i = 0; i < layout_.integrated(); ++i) {
    // A look that was too far counts for the next one: low orders need more than 33 steps to see what is coming.
    const double size = std::abs(y1[i] - y_[i]);
    trial_scale_[i] = std::max(size, last_look_[i]);
    last_look_[i] = size;
    moved = moved || size > 0;
  }
  // Rest that lasted has lengthened the steps; where it ends they are as short again as at its beginning.
  if (moved && length > kAheadAtRest * rest_step_) return false;
  if (guarded) return true;
  bool accurate = true;
  return !find_first_guard(length, accurate);
}

// Running scales, and the weights 1/(tolerance · scale) of a trial step of length h: S_i is the largest of |q_i − q_i(start)|, |v_i| h and |v̇_i| h²
// seen so far, V_i of |v_i| and |v̇_i| h, states likewise, but forgetting (update_scales). What has hardly moved is measured by the tolerance times the speed that the energy seen
// would give it: the last mass of a chain need not be exact while only the first one moves, and yet a gram beside a tonne keeps its control.
void EventEngine::Run::set_weights(double h) {
  const int n = layout_.coordinates;
  const double* v = y_.data() + n;
  const double* a = f0_.data() + n;
  const double* y1 = stiff_ ? radau_.y1() : explicit_.y1();
  const double* mass = work_.mass.data();
  const double tolerance = options_.tolerance;
  noise_rules_ = false;
  double work_noise = 0;  // of the forces' rounding
  for (int i = 0; i < n; ++i) {
    typical_[n + i] = std::max(
        {scale_[n + i], trial_scale_[n + i], std::abs(v[i]), std::abs(a[i]) * h, std::abs(y1[n + i])});
  }
  const SpeedByEnergy speed(mass, typical_.data() + n, n);
  for (int i = 0; i < n; ++i) {
    const double inertia = mass[i * n + i];
    const double floor = tolerance * speed.of(inertia);
    speed_floor_[i] = tolerance * floor;
    const double position = std::max({scale_[i], trial_scale_[i], std::abs(v[i]) * h, std::abs(a[i]) * h * h,
                                      std::abs(y1[i] - start_y_[i]), std::abs(y1[i] - y_[i]), floor * h});
    const double velocity = std::max(typical_[n + i], floor);
    // Below rounding there is nothing to control.
    const double noise =
        std::max(4 * kEpsilon * motion_.acceleration_terms()[i], rate_noise_[n + i]) * noise_lasts(n + i, h);
    const double drift = rate_noise_[i] * noise_lasts(i, h);
    const double position_error =
        std::max({tolerance * position, 4 * kEpsilon * std::abs(y1[i]), noise * h, drift, kLeastNumber});
    const double velocity_error = std::max({tolerance * velocity, noise, kLeastNumber});
    work_noise += inertia * noise * std::max(std::abs(v[i]), std::abs(y1[n + i]));
    weight_[i] = 1 / position_error;
    weight_[n + i] = 1 / velocity_error;
    noise_rules_ =
        noise_rules_ ||
        (noise_measured_ && (velocity_error <= noise || position_error <= std::max(noise * h, drift)));
    // A massless coordinate has no energy to be compared with: it is controlled once it has moved.
    if (!(inertia > 0) && scale_[i] == 0 && trial_scale_[i] == 0 && f0_[i] == 0)
      weight_[i] = weight_[n + i] = 0;
  }
  bool looked_ahead = false;
  for (int i = 2 * n; i < layout_.integrated(); ++i) {
    const double state = std::max({recent_[i - 2 * n], trial_scale_[i], std::abs(f0_[i]) * h,
                                   std::abs(y1[i] - mean_[i - 2 * n]), std::abs(y1[i] - y_[i])});
    const double noise = rate_noise_[i] * noise_lasts(i, h);
    const double state_error =
        std::max({tolerance * state, 4 * kEpsilon * std::abs(y1[i]), noise, kLeastNumber});
    const bool moved = scale_[i] > 0 || trial_scale_[i] > 0 || f0_[i] != 0;
    weight_[i] = moved ? 1 / state_error : 0;
    // The first movement is weighed by what comes after it: a rate that rises like t¹² has no digits in its first step, and needs none.
    if (!moved && y1[i] != y_[i]) {
      if (!looked_ahead) note_movement_ahead(h);
      looked_ahead = true;
      weight_[i] = 1 / std::max({tolerance * movement_ahead_[i - 2 * n], noise, kLeastNumber});
    }
    noise_rules_ = noise_rules_ || (moved && noise > 0 && state_error <= noise);
  }
  // Work is as exact as the motion, relative to the largest energy.
  double work = result_.largest_energy;
  for (int i = layout_.integrated(); i < motion_.components(); ++i)
    work = std::max({work, std::abs(y_[i]), std::abs(f0_[i]) * h, std::abs(y1[i] - y_[i])});
  for (int i = layout_.integrated(); i < motion_.components(); ++i) {
    const bool began = y_[i] != 0 || f0_[i] != 0;  // as above
    weight_[i] = began ? 1 / std::max({tolerance * work, work_noise, rate_noise_[i] * h, kLeastNumber}) : 0;
  }
}

// How far states that have not moved before the present step of length h would come if their rates a few steps later held for that long. Where
// time alone does not change the rate, the motion does: a rate that grows along it is held by the control of what moves it (infinite), and one
// that does not has been passed in this step, which is all that there is to measure it by.
void EventEngine::Run::note_movement_ahead(double h) {
  constexpr double kStepsAhead = 8;
  const int first = 2 * layout_.coordinates;
  const double* y1 = stiff_ ? radau_.y1() : explicit_.y1();
  const double time = std::min(t_ + kStepsAhead * h, std::max(limit_, t_ + h));
  std::vector<double>& now = node_y_;
  std::vector<double>& later = landing_y_;
  const bool known = motion_(t_, y1, now.data()) && motion_(time, y1, later.data());
  bool state_matters = !known;
  for (int i = first; i < layout_.integrated(); ++i) {
    const bool by_time = known && later[i] != now[i];
    movement_ahead_[i - first] = by_time ? std::max(std::abs(y1[i] - y_[i]), std::abs(later[i]) * (time - t_))
                                         : std::numeric_limits<double>::infinity();
    state_matters = state_matters || !by_time;
  }
  // A state that slides on a surface moves by rounding only.
  for (int k = 0; k < layout_.switches; ++k) state_matters = state_matters && !mode_.slides(k);
  if (!state_matters || !motion_(t_ + h, y1, now.data())) return;
  for (int i = 0; i < motion_.components(); ++i) ahead_y_[i] = y1[i] + now[i] * (time - (t_ + h));
  if (!motion_(time, ahead_y_.data(), later.data())) return;
  for (int i = first; i < layout_.integrated(); ++i) {
    if (std::isinf(movement_ahead_[i - first]) && std::abs(later[i]) <= std::abs(now[i]))
      movement_ahead_[i - first] = std::max(std::abs(y1[i] - y_[i]), std::abs(now[i]) * h);
  }
}

// What has never moved has the speed that the largest energy seen would give it, and comes as far with it as a step lasts. What has no inertia is
// taken as large as the value that it has, or else as the largest of the others.
void EventEngine::Run::size_as_fellows(double h) {
  const int n = layout_.coordinates;
  const double largest = *std::max_element(typical_.begin(), typical_.begin() + layout_.integrated());
  if (motion_(t_, y_.data(), landing_y_.data())) {
    const SpeedByEnergy speed(work_.mass.data(), typical_.data() + n, n);
    for (int i = 0; i < n; ++i) {
      if (typical_[n + i] == 0) typical_[n + i] = speed.of(work_.mass[i * n + i]);
      if (typical_[i] == 0) typical_[i] = typical_[n + i] * h;
    }
  }
  for (int i = 0; i < layout_.integrated(); ++i) {
    if (typical_[i] == 0) typical_[i] = y_[i] != 0 ? std::abs(y_[i]) : largest > 0 ? largest : 1;
  }
}

// The size that a rejected step gives to what has never moved counts as seen: a force like √t moves by the same share of itself in every
// step, and no step is short enough for that. An explicit step counts where it knows the size at all: beyond its stability it does not.
void EventEngine::Run::note_trial() {
  constexpr double kKnown = 0.1;  // of the size: the largest error
  const double* y1 = stiff_ ? radau_.y1() : explicit_.y1();
  for (int i = 0; i < layout_.integrated(); ++i) {
    if (scale_[i] != 0) continue;
    const double size = std::abs(y1[i] - y_[i]);
    if (stiff_ || std::abs(explicit_.error_component(i)) <= kKnown * size)
      trial_scale_[i] = std::max(trial_scale_[i], size);
  }
}

void EventEngine::Run::update_scales(double h) {
  std::fill(trial_scale_.begin(), trial_scale_.end(), 0.0);
  const int n = layout_.coordinates;
  const double* y1 = stiff_ ? radau_.y1() : explicit_.y1();
  for (int i = 0; i < n; ++i) {
    scale_[i] = std::max(
        {scale_[i], std::abs(y_[n + i]) * h, std::abs(f0_[n + i]) * h * h, std::abs(y1[i] - start_y_[i])});
    scale_[n + i] =
        std::max({scale_[n + i], std::abs(y_[n + i]), std::abs(f0_[n + i]) * h, std::abs(y1[n + i])});
  }
  // States have no inertia that would carry a great past on: a concentration that falls like 1/t from one to a millionth is meant to be right
  // then as well. Over a step h, a time t after the start, their earlier size and their mean count t/(t + h); they are measured from that
  // mean. What falls faster is forgotten as it falls: prey that is down to the last billionth decides when the next wave comes.
  const double passed = t_ - origin_;
  const double kept = passed / (passed + h);
  for (int i = 2 * n; i < layout_.integrated(); ++i) {
    scale_[i] = std::max({scale_[i], std::abs(f0_[i]) * h, std::abs(y1[i] - start_y_[i])});
    double& mean = mean_[i - 2 * n];
    double& recent = recent_[i - 2 * n];
    const double fallen = y_[i] != 0 ? std::clamp(std::abs(y1[i] / y_[i]), kMostForgotten, 1.0) : 1;
    mean = y1[i] + kept * fallen * (mean - y1[i]);
    // Below the last bit of what it has been it is gone, as an empty vessel.
    recent = std::max({kept * fallen * recent, kEpsilon * scale_[i], std::abs(f0_[i]) * h,
                       std::abs(y1[i] - mean), std::abs(y1[i] - y_[i])});
  }
}

// Rounding of the rates (accelerations, speeds of massless coordinates, powers), from their sensitivity to the last bits of the state: stiff
// springs that carry little make noise that no step size removes. Measured when steps become short, and again where it is what the steps are
// measured by (set_weights) while the motion goes on: rates that fade make less of it.
void EventEngine::Run::measure_noise(double h, bool lasting) {
  noise_measured_ = true;
  std::fill(damping_.begin(), damping_.end(), 0.0);
  noise_h_ = h;
  noise_age_ = 0;
  std::fill(rate_noise_.begin(), rate_noise_.end(), 0.0);
  std::copy(y_.begin(), y_.end(), node_y_.begin());
  constexpr double kShift = 0x1p-20;
  constexpr double kMargin =
      64;  // the error estimate adds the rounding of all stages; a step is not to be held back by it
  for (int j = 0; j < layout_.integrated(); ++j) {
    if (y_[j] == 0) continue;
    node_y_[j] = y_[j] * (1 + kShift);
    if (motion_(t_, node_y_.data(), landing_y_.data())) {
      for (int i = 0; i < motion_.components(); ++i) {
        rate_noise_[i] += kMargin * std::abs(landing_y_[i] - f0_[i]) * (kEpsilon / kShift);
      }
      // What a component damps by itself does not add up over a step that is longer than that takes.
      if (!lasting) damping_[j] = std::max(0.0, -(landing_y_[j] - f0_[j]) / (y_[j] * kShift));
    }
    node_y_[j] = y_[j];
  }
  // What cancels inside the expressions, as in 1 − cos t for small t.
  motion_.load(t_, y_.data());
  if (!motion_.evaluate()) return;
  motion_.note_all_terms();
  motion_.add_drive_rounding(rate_noise_.data() + layout_.coordinates);
  for (int i = 0; i < layout_.states; ++i) {
    double& noise = rate_noise_[2 * layout_.coordinates + i];
    noise = std::max(noise, motion_.rate_rounding()[i]);
  }
  // The same inside the speed of a belt: it is in the power of its friction, whatever rests beside it. A combination of two sides is no interval between them.
  if (motion_.slides()) return;
  for (int e = 0; e < layout_.audits; ++e) {
    const int r = system_.audits()[e].relation;
    if (r < 0 || mode_.normal[r] == NormalStatus::open || system_.relations()[r].rows_constant) continue;
    const model::Relation& relation = system_.relations()[r];
    enclose(relation.rows);
    for (int j = 0; j < relation.tangents; ++j) {
      const double noise = 0.5 * kRoundingUnits *
                           enclosure_.width(relation.row_begin(j, layout_.coordinates)) *
                           std::abs(motion_.tangent()[relation.first_tangent + j]);
      rate_noise_[layout_.integrated() + e] += noise;
      rate_noise_[layout_.integrated() + layout_.audits + e] += noise;
    }
  }
}

}  // namespace judder::engines
