#include "running_scales.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "numeric/power_of_two.hpp"

namespace judder::engines {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kMostForgotten = 0.5;  ///< share of the size of a state that is kept over a step, at least
constexpr double kLeastNumber = 0x1p-1000;  ///< errors near the end of the range of numbers are no errors

/// The speed that the largest kinetic energy of one coordinate would give another. Squares are taken in units of the greatest speed: those of small
/// speeds would be no numbers.
class SpeedByEnergy {
 public:
  SpeedByEnergy(const double* inertia, const double* speed, int n) {
    const double fastest = n > 0 ? *std::max_element(speed, speed + n) : 0;
    if (fastest > 0 && std::isfinite(fastest)) unit_ = numeric::power_of_two(numeric::exponent_of(fastest));
    for (int i = 0; i < n; ++i) {
      const double own = speed[i] / unit_;
      energy_ = std::max(energy_, inertia[i] * own * own);
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

RunningScales::RunningScales(const model::System& system, int components)
    : system_(system),
      layout_(system.layout()),
      size_(layout_.integrated()),
      weight_(components),
      start_(layout_.integrated()),
      typical_(layout_.integrated()),
      rounding_(layout_.integrated()),
      trial_(layout_.integrated()),
      look_(layout_.integrated()),
      mean_(layout_.states),
      recent_(layout_.states),
      movement_(layout_.integrated()),
      speed_floor_(layout_.coordinates),
      now_(components),
      later_(components),
      ahead_(components) {}

void RunningScales::start(double t, const double* y) {
  origin_ = t;
  std::copy_n(y, start_.size(), start_.begin());
  std::fill(size_.begin(), size_.end(), 0.0);
  for (int i = 0; i < layout_.coordinates; ++i) size_[i] = system_.scale_floor()[i];
  std::fill(trial_.begin(), trial_.end(), 0.0);
  std::fill(speed_floor_.begin(), speed_floor_.end(), 0.0);
  std::copy_n(y + 2 * layout_.coordinates, layout_.states, mean_.begin());
  std::fill(recent_.begin(), recent_.end(), 0.0);
}

void RunningScales::weigh(const TrialStep& step, ModeMotion& motion, const double* inertia,
                          const RateNoise& noise, const Measure& measure) {
  rounding_rules_ = false;
  const double work_noise = weigh_coordinates(step, motion, inertia, noise, measure.tolerance);
  weigh_states(step, noise, measure.tolerance);
  weigh_first_movements(step, motion, noise, measure);
  // Work is as exact as the motion, relative to the largest energy.
  double work = measure.largest_energy;
  for (int i = layout_.integrated(); i < motion.components(); ++i)
    work = std::max(
        {work, std::abs(step.y[i]), std::abs(step.rate[i]) * step.h, std::abs(step.end[i] - step.y[i])});
  for (int i = layout_.integrated(); i < motion.components(); ++i) {
    const bool began = step.y[i] != 0 || step.rate[i] != 0;  // as with states
    weight_[i] =
        began ? 1 / std::max({measure.tolerance * work, work_noise, noise.rate(i) * step.h, kLeastNumber})
              : 0;
  }
}

// Returns what rounding of the forces does to a work.
double RunningScales::weigh_coordinates(const TrialStep& step, const ModeMotion& motion,
                                        const double* inertia, const RateNoise& noise, double tolerance) {
  const int n = layout_.coordinates;
  const double h = step.h;
  const double* v = step.y + n;
  const double* a = step.rate + n;
  const double* y1 = step.end;
  double work_noise = 0;
  for (int i = 0; i < n; ++i) {
    typical_[n + i] =
        std::max({size_[n + i], trial_[n + i], std::abs(v[i]), std::abs(a[i]) * h, std::abs(y1[n + i])});
  }
  const SpeedByEnergy speed(inertia, typical_.data() + n, n);
  for (int i = 0; i < n; ++i) {
    const double floor = tolerance * speed.of(inertia[i]);
    speed_floor_[i] = tolerance * floor;
    const double position = std::max({size_[i], trial_[i], std::abs(v[i]) * h, std::abs(a[i]) * h * h,
                                      std::abs(y1[i] - start_[i]), std::abs(y1[i] - step.y[i]), floor * h});
    const double velocity = std::max(typical_[n + i], floor);
    const double jitter =
        std::max(4 * kEpsilon * motion.acceleration_terms()[i], noise.rate(n + i)) * noise.lasts(n + i, h);
    const double drift = noise.over(i, h);
    const double position_error =
        std::max({tolerance * position, 4 * kEpsilon * std::abs(y1[i]), jitter * h, drift, kLeastNumber});
    const double velocity_error = std::max({tolerance * velocity, jitter, kLeastNumber});
    work_noise += inertia[i] * jitter * std::max(std::abs(v[i]), std::abs(y1[n + i]));
    weight_[i] = 1 / position_error;
    weight_[n + i] = 1 / velocity_error;
    rounding_rules_ =
        rounding_rules_ ||
        (noise.measured() && (velocity_error <= jitter || position_error <= std::max(jitter * h, drift)));
    // A massless coordinate has no energy to be compared with: its first movement is that of a state.
    if (system_.massless()[i] && !moved(i, step)) weight_[i] = weight_[n + i] = 0;
  }
  return work_noise;
}

void RunningScales::weigh_states(const TrialStep& step, const RateNoise& noise, double tolerance) {
  const int first = 2 * layout_.coordinates;
  const double* y1 = step.end;
  for (int i = first; i < layout_.integrated(); ++i) {
    const double state = std::max({recent_[i - first], trial_[i], std::abs(step.rate[i]) * step.h,
                                   std::abs(y1[i] - mean_[i - first]), std::abs(y1[i] - step.y[i])});
    const double jitter = noise.over(i, step.h);
    const double error = std::max({tolerance * state, 4 * kEpsilon * std::abs(y1[i]), jitter, kLeastNumber});
    weight_[i] = moved(i, step) ? 1 / error : 0;
    rounding_rules_ = rounding_rules_ || (moved(i, step) && jitter > 0 && error <= jitter);
  }
}

bool RunningScales::moved(int i, const TrialStep& step) const {
  return size_[i] > 0 || trial_[i] > 0 || step.rate[i] != 0;
}

bool RunningScales::inert(int i) const {
  const int n = layout_.coordinates;
  return i < 2 * n && (i >= n || !system_.massless()[i]);
}

bool RunningScales::size_known(int i, const TrialStep& step) {
  constexpr double kKnown = 0.1;  // of the size: the largest error with which a step knows it
  return step.errors.empty() || std::abs(step.errors[i]) <= kKnown * std::abs(step.end[i] - step.y[i]);
}

// What has no inertia and moves for the first time is weighed by what comes after it.
void RunningScales::weigh_first_movements(const TrialStep& step, ModeMotion& motion, const RateNoise& noise,
                                          const Measure& measure) {
  bool looked = false;
  for (int i = 0; i < layout_.integrated(); ++i) {
    if (inert(i) || moved(i, step) || step.end[i] == step.y[i]) continue;
    if (!looked) look_for_movement(step, motion, measure.limit);
    looked = true;
    weight_[i] = 1 / std::max({measure.tolerance * movement_[i], noise.over(i, step.h), kLeastNumber});
  }
}

// How far what has not moved before the present step would come if its rate a few steps later held for that long. Where time alone does not change
// the rate, the motion does, which is followed in such steps along its rates: a rate that does not grow so has been passed in this step, which is all that there
// is to measure it by. What moves a state has an error of its own, but that says nothing of how fast the state answers.
void RunningScales::look_for_movement(const TrialStep& step, ModeMotion& motion, double limit) {
  constexpr int kStepsAhead = 8;
  const double h = step.h;
  const double* y1 = step.end;
  const double time = std::min(step.t + kStepsAhead * h, std::max(limit, step.t + h));
  const auto width = static_cast<int>(movement_.size());
  std::fill(movement_.begin(), movement_.end(), std::numeric_limits<double>::infinity());
  if (motion(step.t, y1, now_.data()) && motion(time, y1, later_.data())) {
    for (int i = 0; i < width; ++i) {
      if (later_[i] != now_[i])
        movement_[i] = std::max(std::abs(y1[i] - step.y[i]), std::abs(later_[i]) * (time - step.t));
    }
  }
  // A state that slides on a surface moves by rounding only.
  if (motion.slides() || !motion(step.t + h, y1, now_.data())) return;
  const double stride = (time - (step.t + h)) / (kStepsAhead - 1);
  std::copy_n(y1, motion.components(), ahead_.begin());
  std::copy_n(now_.begin(), motion.components(), later_.begin());
  for (int k = 1; k < kStepsAhead; ++k) {
    for (int i = 0; i < motion.components(); ++i) ahead_[i] += later_[i] * stride;
    if (motion(step.t + h + k * stride, ahead_.data(), later_.data())) continue;
    // Nobody goes there: the step itself is all that is known.
    for (int i = 0; i < width; ++i) movement_[i] = std::abs(y1[i] - step.y[i]);
    return;
  }
  for (int i = 0; i < width; ++i) {
    if (!std::isinf(movement_[i])) continue;
    const bool grows = std::abs(later_[i]) > std::abs(now_[i]);
    movement_[i] = std::max(std::abs(y1[i] - step.y[i]),
                            grows ? std::abs(later_[i]) * (time - step.t) : std::abs(now_[i]) * h);
  }
  // What drives a component says how far it comes, without its own answer: that may have gone anywhere in a step beyond its stability, and anywhere
  // else in the next ones.
  for (int i = 0; i < width; ++i) {
    if (inert(i) || moved(i, step) || y1[i] == step.y[i]) continue;
    const double value = std::exchange(ahead_[i], step.y[i]);
    if (motion(time, ahead_.data(), later_.data()) && later_[i] != 0)
      movement_[i] = std::min(movement_[i], std::abs(later_[i]) * (time - step.t));
    ahead_[i] = value;
  }
}

numeric::RadauScales RunningScales::foresee(const TrialStep& step, ModeMotion& motion, const double* inertia,
                                            const RateNoise& noise, double tolerance) {
  const int n = layout_.coordinates;
  const double h = step.h;
  bool unmoved = false;
  for (int i = 0; i < layout_.integrated(); ++i) {
    double scale = std::max(i < 2 * n ? size_[i] : recent_[i - 2 * n], std::abs(step.rate[i]) * h);
    if (i < n) scale = std::max(scale, std::abs(step.rate[n + i]) * h * h);
    typical_[i] = scale;
    unmoved = unmoved || scale == 0;
  }
  if (unmoved) size_as_fellows(step, motion, inertia);
  for (int i = 0; i < layout_.integrated(); ++i) {
    rounding_[i] = std::max(4 * kEpsilon * std::abs(step.y[i]), noise.over(i, h));
    if (i < n) rounding_[i] = std::max(rounding_[i], noise.over(n + i, h) * h);
    weight_[i] = 1 / std::max(tolerance * typical_[i], rounding_[i]);
  }
  return {weight_.data(), typical_.data(), rounding_.data()};
}

// What has never moved has the speed that the largest energy seen would give it, and comes as far with it as a step lasts. What has no inertia is
// taken as large as the value that it has, or else as the largest of the others.
void RunningScales::size_as_fellows(const TrialStep& step, ModeMotion& motion, const double* inertia) {
  const int n = layout_.coordinates;
  const double largest = *std::max_element(typical_.begin(), typical_.end());
  if (motion(step.t, step.y, later_.data())) {
    const SpeedByEnergy speed(inertia, typical_.data() + n, n);
    for (int i = 0; i < n; ++i) {
      if (typical_[n + i] == 0) typical_[n + i] = speed.of(inertia[i]);
      if (typical_[i] == 0) typical_[i] = typical_[n + i] * step.h;
    }
  }
  for (int i = 0; i < layout_.integrated(); ++i) {
    if (typical_[i] == 0) typical_[i] = step.y[i] != 0 ? std::abs(step.y[i]) : largest > 0 ? largest : 1;
  }
}

void RunningScales::update(const TrialStep& step) {
  std::fill(trial_.begin(), trial_.end(), 0.0);
  const int n = layout_.coordinates;
  const double h = step.h;
  const double* y = step.y;
  const double* f = step.rate;
  const double* y1 = step.end;
  for (int i = 0; i < n; ++i) {
    size_[i] =
        std::max({size_[i], std::abs(y[n + i]) * h, std::abs(f[n + i]) * h * h, std::abs(y1[i] - start_[i])});
    size_[n + i] = std::max({size_[n + i], std::abs(y[n + i]), std::abs(f[n + i]) * h, std::abs(y1[n + i])});
  }
  const double passed = step.t - origin_;
  const double kept = passed / (passed + h);
  for (int i = 2 * n; i < layout_.integrated(); ++i) {
    size_[i] = std::max({size_[i], std::abs(f[i]) * h, std::abs(y1[i] - start_[i])});
    double& mean = mean_[i - 2 * n];
    double& recent = recent_[i - 2 * n];
    const double fallen = y[i] != 0 ? std::clamp(std::abs(y1[i] / y[i]), kMostForgotten, 1.0) : 1;
    mean = y1[i] + kept * fallen * (mean - y1[i]);
    // Below the last bit of what it has been it is gone, as an empty vessel.
    recent = std::max({kept * fallen * recent, kEpsilon * size_[i], std::abs(f[i]) * h,
                       std::abs(y1[i] - mean), std::abs(y1[i] - y[i])});
  }
}

void RunningScales::note_rejected(const TrialStep& step) {
  for (int i = 0; i < layout_.integrated(); ++i) {
    if (size_[i] != 0 || !size_known(i, step)) continue;
    trial_[i] = std::max(trial_[i], std::abs(step.end[i] - step.y[i]));
  }
}

void RunningScales::begin_look() { std::fill(look_.begin(), look_.end(), 0.0); }

bool RunningScales::look(const TrialStep& step) {
  bool moved = false;
  for (int i = 0; i < layout_.integrated(); ++i) {
    // A look that was too far counts for the next one: low orders need more than 33 steps to see what is coming.
    const double size = std::abs(step.end[i] - step.y[i]);
    trial_[i] = std::max(size, look_[i]);
    look_[i] = size;
    moved = moved || size > 0;
  }
  return moved;
}

void RunningScales::recall_states() {
  for (int i = 0; i < layout_.states; ++i)
    recent_[i] = std::max(recent_[i], size_[2 * layout_.coordinates + i]);
}

void RunningScales::load_sizes(std::span<const double> sizes) {
  std::copy_n(sizes.begin(), size_.size(), size_.begin());
}

void RunningScales::save_states(std::vector<double>& out) const {
  out.insert(out.end(), mean_.begin(), mean_.end());
  out.insert(out.end(), recent_.begin(), recent_.end());
}

void RunningScales::load_states(double origin, std::span<const double> saved) {
  origin_ = origin;
  std::copy_n(saved.begin(), mean_.size(), mean_.begin());
  std::copy_n(saved.begin() + static_cast<std::ptrdiff_t>(mean_.size()), recent_.size(), recent_.begin());
}

}  // namespace judder::engines
