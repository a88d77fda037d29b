#include <algorithm>
#include <cmath>
#include <limits>

#include "event_run.hpp"

namespace judder::engines {
namespace {

constexpr double kNothingLeft = 1e-9;  ///< of the time that a phase has lasted: a jam is reached
constexpr double kEpsilon = 2.220446049250313e-16;
constexpr double kEasy = 1e-2;  ///< share of the error allowed below which a step is longer than it can know
constexpr double kMostForgotten = 0.5;  ///< share of the size of a state that is kept over a step, at least
constexpr int kTrialsUntilNoise = 6;    ///< trial steps in a row before rounding is suspected
constexpr int kNoiseLasts = 8;          ///< steps that a measured rounding is good for
constexpr int kMostMisses = 40;         ///< of a zero that the motion does not have
constexpr double kShareOfTime = 0.01;   ///< of a characteristic time: the first step to try
constexpr double kShareOfRest = 1e-3;   ///< of a characteristic time: the step out of rest
constexpr double kShareOfRun = 1e-6;    ///< of the run, where nothing has a length
constexpr double kAhead = 33;           ///< steps that are looked ahead at rest
constexpr double kLateRoot =
    1.0 / 64;  ///< a zero nearer than this to the start of a step is looked for on a shorter one
constexpr double kWatchBand = 10;  ///< tolerances of its scale that a watch must pass its zero by
constexpr double kSteep =
    100;  ///< errors per step: a watch as steep as this has passed its zero, however near the end of the step
constexpr double kSampleRounding = 8;       ///< last bits of the time that samples may disagree by
constexpr double kLeastNumber = 0x1p-1000;  ///< errors near the end of the range of numbers are no errors
constexpr double kFirstLength = 1024;       ///< smallest steps: the least that is tried first
constexpr double kLeastShare =
    0x1p-100;  ///< of the first trial: the smallest step where time itself has no rounding yet

/// The parabola g with g(0), g(1) in sample[0], sample[3] and g'(0) = slope: its values in between, and the Bernstein coefficients of g, or of
/// g/θ, g/θ² where g(0), g'(0) are known zeros.
numeric::Interpolation parabola(double* sample, double slope, int zeros, double* coefficients) {
  const double start = sample[0];
  const double end = sample[3];
  const double middle = start + 0.5 * slope;
  sample[1] = 0.5625 * start + 0.375 * middle + 0.0625 * end;
  sample[2] = 0.25 * start + 0.5 * middle + 0.25 * end;
  coefficients[0] = zeros == 0 ? start : zeros == 1 ? slope : end;
  coefficients[1] = zeros == 0 ? middle : zeros == 1 ? 0.5 * (slope + end) : end;
  coefficients[2] = end;
  numeric::Interpolation out;
  out.magnitude = std::max({std::abs(coefficients[0]), std::abs(coefficients[1]), std::abs(end)});
  out.error =
      std::isfinite(out.magnitude) ? 4 * kEpsilon * out.magnitude : std::numeric_limits<double>::infinity();
  return out;
}

/// Whether the polynomial that falls through this zero turns round behind the end of the step, less than `band` below zero.
bool dip_beyond_end(const double* coefficients, int degree, const numeric::Root& root, double band) {
  double slope = 0;
  double before = 0;
  const double earlier = 0.9 * root.theta;
  static_cast<void>(numeric::bernstein_value(coefficients, degree, root.theta, &slope));
  static_cast<void>(numeric::bernstein_value(coefficients, degree, earlier, &before));
  const double curvature = (slope - before) / (root.theta - earlier);
  return slope < 0 && curvature > 0 && slope * slope <= 2 * curvature * band &&
         root.theta - slope / curvature > 1;
}

/// Whether the samples grow from zero like a power of θ, which need not be a whole one: then the function has no other zero in the step. The
/// power that neighbours tell may change slowly.
bool follows_power(const numeric::SamplingGrid& grid, const double* sample) {
  constexpr double kSteady = 0.5;  // of the power: the largest change from pair to pair
  double last = 0;
  for (int j = 0; j + 1 < grid.points(); ++j) {
    if (!(sample[j] > 0) || !(sample[j + 1] > sample[j])) return false;
    const double power = std::log(sample[j + 1] / sample[j]) / std::log(grid.theta(j + 1) / grid.theta(j));
    if (!(power > 0) || (j > 0 && std::abs(power - last) > kSteady * last)) return false;
    last = power;
  }
  return true;
}

/// How far a function gets to the other side of zero than `side`, behind θ, by its samples and its value at the end of the step.
double depth_behind(const numeric::SamplingGrid& grid, const double* sample, double theta, int side) {
  const int points = grid.points();
  double depth = -side * sample[points];
  for (int j = 0; j < points; ++j) {
    if (grid.theta(j) > theta) depth = std::max(depth, -side * sample[j]);
  }
  return depth;
}

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
  if (moved && length > kAhead * rest_step_) return false;
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
  double energy = 0;      // twice the largest kinetic energy of one coordinate
  double work_noise = 0;  // of the forces' rounding
  for (int i = 0; i < n; ++i) {
    const double velocity = std::max(
        {scale_[n + i], trial_scale_[n + i], std::abs(v[i]), std::abs(a[i]) * h, std::abs(y1[n + i])});
    typical_[n + i] = velocity;
    energy = std::max(energy, mass[i * n + i] * velocity * velocity);
  }
  for (int i = 0; i < n; ++i) {
    const double inertia = mass[i * n + i];
    const double floor = inertia > 0 ? tolerance * std::sqrt(energy / inertia) : 0;
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
  for (int i = 2 * n; i < layout_.integrated(); ++i) {
    const double state = std::max({recent_[i - 2 * n], trial_scale_[i], std::abs(f0_[i]) * h,
                                   std::abs(y1[i] - mean_[i - 2 * n]), std::abs(y1[i] - y_[i])});
    const double noise = rate_noise_[i] * noise_lasts(i, h);
    const double state_error =
        std::max({tolerance * state, 4 * kEpsilon * std::abs(y1[i]), noise, kLeastNumber});
    const bool moved = scale_[i] > 0 || trial_scale_[i] > 0 || f0_[i] != 0;
    weight_[i] = moved ? 1 / state_error : 0;
    // The first movement is weighed by what comes after it: a rate that rises like t¹² has no digits in its first step, and needs none.
    if (!moved && y1[i] != y_[i]) weight_[i] = 1 / std::max(tolerance * movement_ahead(i, h), kLeastNumber);
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

bool EventEngine::Run::hides_change(double h) {
  motion_.load(t_, y_.data());
  return hidden_change_.between(t_, t_ + h, work_.in);
}

// How far a state that has not moved before the present step of length h would come if its rate a few steps later held for that long. Infinite where
// time alone does not change the rate: what moves it is under control itself.
double EventEngine::Run::movement_ahead(int i, double h) {
  constexpr double kStepsAhead = 8;
  const double* y1 = stiff_ ? radau_.y1() : explicit_.y1();
  const double time = std::min(t_ + kStepsAhead * h, std::max(limit_, t_ + h));
  if (!motion_(t_, y1, landing_y_.data())) return std::numeric_limits<double>::infinity();
  const double now = landing_y_[i];
  if (!motion_(time, y1, landing_y_.data()) || landing_y_[i] == now)
    return std::numeric_limits<double>::infinity();
  return std::max(std::abs(y1[i] - y_[i]), std::abs(landing_y_[i]) * (time - t_));
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
  // then as well. In their weights, what they have been counts by the share that its time has of the time now, and they are measured from the
  // mean of all that. What falls faster is forgotten as it falls: prey that is down to the last billionth decides when the next wave comes.
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
  for (int i = 0; i < layout_.states; ++i) {
    double& noise = rate_noise_[2 * layout_.coordinates + i];
    noise = std::max(noise, motion_.rate_rounding()[i]);
  }
}

bool EventEngine::Run::try_step(double h) {
  if (!stiff_ && motion_.uniform()) {
    explicit_.step_uniform(t_, y_.data(), f0_.data(), h);
    return true;
  }
  if (!stiff_)
    return explicit_.step(method_, motion_, t_, y_.data(), f0_.data(), h) == numeric::StepOutcome::done;
  // Newton's iteration needs weights before there is a result: those of the last accepted step. What has never moved takes the size of its
  // fellows, and so do the differences for the Jacobian.
  const int n = layout_.coordinates;
  double largest = 0;
  for (int i = 0; i < layout_.integrated(); ++i) {
    double scale = std::max(i < 2 * n ? scale_[i] : recent_[i - 2 * n], std::abs(f0_[i]) * h);
    if (i < n) scale = std::max(scale, std::abs(f0_[n + i]) * h * h);
    typical_[i] = scale;
    largest = std::max(largest, scale);
  }
  for (int i = 0; i < layout_.integrated(); ++i) {
    if (typical_[i] == 0) typical_[i] = largest > 0 ? largest : 1;
    rounding_[i] = std::max(4 * kEpsilon * std::abs(y_[i]), rate_noise_[i] * noise_lasts(i, h));
    if (i < n) rounding_[i] = std::max(rounding_[i], rate_noise_[n + i] * noise_lasts(n + i, h) * h);
    weight_[i] = 1 / std::max(options_.tolerance * typical_[i], rounding_[i]);
  }
  const numeric::RadauScales scales{weight_.data(), typical_.data(), rounding_.data()};
  const numeric::StepOutcome outcome = radau_.step(motion_, t_, y_.data(), f0_.data(), h, scales);
  newton_failed_ = outcome == numeric::StepOutcome::not_converged;
  return outcome == numeric::StepOutcome::done;
}

double EventEngine::Run::step_error() {
  return stiff_ ? radau_.error(weight_.data(), motion_.components())
                : explicit_.error(weight_.data(), motion_.components());
}

bool EventEngine::Run::prepare_dense() { return stiff_ || explicit_.prepare_dense(motion_); }

void EventEngine::Run::dense(double theta, double* y) {
  if (stiff_) {
    radau_.dense(theta, 0, motion_.components(), y);
  } else {
    explicit_.dense(theta, 0, motion_.components(), y);
  }
}

// Whether a pivot of the mass matrix is so small that rounding of the accelerations drowns them.
bool EventEngine::Run::mass_nearly_singular() {
  if (system_.mass_constant()) return false;
  const int massive =
      static_cast<int>(std::count(system_.massless().begin(), system_.massless().end(), false));
  int at = 0;
  for (int i = 0; i < layout_.coordinates; ++i) {
    if (system_.massless()[i]) continue;
    if (work_.factor[at * massive + at] <= 1e-8 * work_.mass[i * layout_.coordinates + i]) return true;
    ++at;
  }
  return false;
}

// Everything rests and nothing can change before the limit: go there at once.
bool EventEngine::Run::hold(double limit) {
  if (!motion_.everything_pinned() || !system_.steady() || !system_.watches().empty()) return false;
  for (int i = 0; i < layout_.coordinates; ++i) {
    if (y_[layout_.coordinates + i] != 0) return false;
  }
  // Drives go on below what rests, and do work at a constant rate.
  const int all = motion_.components();
  const double since = t_;
  std::copy_n(y_.begin(), all, node_y_.begin());
  if (all > layout_.integrated() && !motion_(t_, y_.data(), landing_y_.data())) return false;
  const auto work_until = [&](double time) {
    for (int i = layout_.integrated(); i < all; ++i) y_[i] = node_y_[i] + landing_y_[i] * (time - since);
  };
  while (next_sample_ < limit) {
    if (reads_audits_) work_until(next_sample_);
    motion_.load(next_sample_, y_.data());
    load_audits(y_.data());
    emit_row(RowKind::sample);
    advance_sample();
  }
  work_until(limit);
  motion_.load(limit, y_.data());
  if (!motion_.evaluate()) return false;
  tell_rest(limit);
  const double h = limit - t_;
  t_ = limit;
  note_reactions(h, false);
  have_f0_ = false;
  return true;
}

EventEngine::Run::StepEnd EventEngine::Run::advance(double limit) {
  if (!have_f0_) {
    if (!motion_(t_, y_.data(), f0_.data())) {
      static_cast<void>(fail({work_.mass_failed ? Reason::singular_mass : Reason::not_finite,
                              t_,
                              {},
                              "the equations of motion give no finite number here"}));
      return StepEnd::failed;
    }
    have_f0_ = true;
  }
  if (hold(limit)) {
    finish_step();
    return StepEnd::limit;
  }
  // No step goes over the pole that a reaction has at a jam.
  int jammed = -1;
  const double to_jam = time_to_jam(jammed);
  if (to_jam <= kNothingLeft * (t_ - phase_start_)) {
    together_.assign(1, jammed);
    return StepEnd::guard;
  }
  const bool rest = options_.step == 0 && rests();
  bool guarded = leaving_rest_;  // a guard within sight of rest shortens its first step only
  if (!rest) leaving_rest_ = false;
  if (rest) std::fill(last_look_.begin(), last_look_.end(), 0.0);
  if (jammed >= 0 && h_ > 0)
    h_ = std::min(h_, 0.125 * to_jam);  // so far from the pole a method keeps its order
  // Near a pole explicit steps are short, but not for stability.
  if (jammed < 0 || stiff_) choose_method(limit);
  if (rest) {
    h_ = step_from_rest(limit);
  } else if (!(h_ > 0)) {
    h_ = first_step();
  }
  double h = options_.step > 0 ? options_.step : h_;
  if (options_.max_step > 0) h = std::min(h, options_.max_step);
  // Steps are as short as rounding of the time allows, whatever comes later.
  const double smallest = std::max(16 * kEpsilon * std::abs(t_), kLeastShare * h);
  // Two events within rounding of each other leave a step behind that is no measure of the motion after them.
  if (options_.step == 0) h = std::max(h, kFirstLength * smallest);
  const double crumb = 2 * kEpsilon * std::max(std::abs(t_), std::abs(limit));
  bool to_limit = false;
  bool finite = true;
  bool singular = false;
  int misses = 0;
  int trials = 0;
  int unsolved = 0;      // trials that Newton's iteration ended
  bool looked = false;   // the size out of rest is known
  bool shifted = false;  // the step ends before a touch that would have straddled its end
  for (;;) {
    to_limit = t_ + h >= limit || limit - (t_ + h) < crumb;
    if (!to_limit && options_.step == 0 && limit - (t_ + h) < 0.2 * h)
      h = 0.5 * (limit - t_);  // no crumb of a step before the limit
    if (to_limit) h = limit - t_;
    if (stiff_ && !noise_measured_ && !to_limit) measure_noise(h, false);
    ++trials;
    if (h < smallest && !to_limit) {
      singular = singular || mass_nearly_singular();
      if (!singular && reaches_surface(kFirstLength * smallest)) return StepEnd::guard;
      fail_small(singular, finite);
      return StepEnd::failed;
    }
    if (rest && !looked) {
      if (!look_ahead(std::min(kAhead * h, limit - t_), guarded, finite)) {
        guarded = guarded || (finite && h <= rest_step_);
        h = !finite ? 0.25 * h : h > rest_step_ ? rest_step_ : h / kAhead;
        continue;
      }
      looked = true;  // the size stays while the step is made short enough for it
    }
    if (!try_step(h)) {
      finite = stiff_ && newton_failed_;
      // Newton's iteration, or the differences that it needs, may fail where explicit steps are possible.
      if (stiff_ && ++unsolved == kTrialsUntilNoise && options_.integrator == Integrator::automatic) {
        change_method();
        have_f0_ = motion_(t_, y_.data(), f0_.data());
        if (!have_f0_) finite = false;
      }
      singular = singular || work_.mass_failed;
      ++result_.rejected;
      h *= 0.25;
      grow_allowed_ = false;
      continue;
    }
    const bool exact = !stiff_ && motion_.uniform();
    if (!exact) set_weights(h);
    // The work of the first movement is nothing beside that of the next.
    if (rest) std::fill(weight_.begin() + layout_.integrated(), weight_.end(), 0.0);
    double error = exact || options_.step > 0 ? 0 : step_error();
    // After an event or a rejection the estimate may be that of a transient which the method damps.
    if (stiff_ && error > 1 && (!grow_allowed_ || t_ == phase_start_) && radau_.filter_error(motion_))
      error = step_error();
    // Two trials too long: perhaps it is rounding, which may have grown since it was measured.
    const bool old = noise_rules_ && (h > 1.1 * noise_h_ || noise_age_ >= kNoiseLasts);
    // At last all of it is taken, whatever is damped.
    if (error > 1 ? trials == 2 || trials == kTrialsUntilNoise : !exact && old) {
      measure_noise(h, trials >= kTrialsUntilNoise);
      set_weights(h);
      if (options_.step == 0) error = step_error();
    }
    if (!(error <= 1)) {
      ++result_.rejected;
      if (!rest) note_trial();
      const double power = stiff_ ? 4 : power_;
      h *= std::isfinite(error) ? std::clamp(0.9 * std::pow(error, -1 / power), 0.1, 0.9) : 0.1;
      grow_allowed_ = false;
      finite = true;
      blamed_guard_ = -1;
      continue;
    }
    if (!prepare_dense()) {
      h *= 0.25;
      finite = false;
      continue;
    }
    if (t_ == phase_start_ && options_.step == 0 && gives_way_at_once(h)) return StepEnd::guard;
    // An easy step may have gone over something between its points.
    if (error < kEasy && options_.step == 0 && h > smallest && !system_.steady() && hides_change(h)) {
      ++result_.rejected;
      h *= 0.5;
      grow_allowed_ = false;
      continue;
    }
    bool accurate = true;
    share_of_error_ = error;
    const bool ended = find_first_guard(h, accurate);
    // Out of rest a guard that follows the motion is as little known as the motion itself; the look ahead has seen that none vanishes. Rest that
    // lasts lengthens the steps: then it is the guards that time moves, and they must be known.
    if (!accurate && (!rest || h > rest_step_) && options_.step == 0) {
      ++result_.rejected;
      h *= 0.5;
      grow_allowed_ = false;
      continue;
    }
    if (ended && first_theta_ < kLateRoot && options_.step == 0 && first_theta_ * h > smallest) {
      // Values before the zero are small beside those after it, and so is what rounding leaves of them.
      h *= 4 * first_theta_;
      continue;
    }
    if (ended && dips_beyond_ && !shifted && options_.step == 0) {
      h *= 0.7 * first_theta_;  // the next step sees the whole touch
      shifted = true;
      continue;
    }
    // Accepted.
    const double power = stiff_ ? 4 : power_;
    const double factor = error > 0
                              ? std::clamp(0.9 * std::pow(error, -1 / power), 0.2, grow_allowed_ ? 6.0 : 1.0)
                              : (grow_allowed_ ? 6.0 : 1.0);
    grow_allowed_ = true;
    ++result_.steps;
    const double trial = h;
    if (ended) {
      if (!land(h, ++misses < kMostMisses)) return StepEnd::failed;
      if (missed_) {
        ++result_.rejected;
        h *= 0.5;
        grow_allowed_ = false;
        continue;
      }
      h_ = std::max(trial * std::min(factor, 1.0), landing_h_);
      return StepEnd::guard;
    }
    update_scales(h);
    ++noise_age_;
    note_reactions(h, true);
    if (!to_limit || factor < 1) h_ = h * factor;
    watch_stability();
    commit_step(to_limit ? limit : t_ + h);
    if (to_limit) leaving_rest_ = false;  // a force may begin here
    if (contradicted()) return StepEnd::guard;
    return to_limit ? StepEnd::limit : StepEnd::plain;
  }
}

// The smallest step has not been short enough: which quantity asks for shorter ones, and what may help.
void EventEngine::Run::fail_small(bool singular, bool finite) {
  Status status;
  status.time = t_;
  status.reason = singular ? Reason::singular_mass : finite ? Reason::step_too_small : Reason::not_finite;
  if (singular) {
    status.message = "the mass matrix becomes singular here";
  } else if (!finite) {
    status.message = "the equations of motion give no finite number beyond this time";
  } else if (blamed_guard_ >= 0 && blamed_guard_ < guards_.size()) {
    status.where = guard_name(guards_.list()[blamed_guard_]);
    status.message =
        "this function, whose zero would be an event, is not smooth enough for the smallest step; look for a "
        "pole or an endless oscillation in it";
  } else {
    status.where = worst_component();
    status.message =
        "the error cannot be kept within the tolerance, even with the smallest step; if the motion does not "
        "end here, look at the forces on it for a pole or an unbounded derivative";
  }
  static_cast<void>(fail(std::move(status)));
}

std::string EventEngine::Run::guard_name(const Guard& guard) const {
  switch (guard.kind) {
    case GuardKind::observed:
      return "switch in " + system_.observed()[guard.place].place;
    case GuardKind::watch:
      return "watch '" + system_.watches()[guard.place].name + "'";
    case GuardKind::side:
    case GuardKind::level_below:
    case GuardKind::level_above:
    case GuardKind::slide_above:
    case GuardKind::slide_below:
    case GuardKind::held_above:
    case GuardKind::held_below:
      return "switch in " + system_.switches()[guard.place].place;
    case GuardKind::margin:
      return "the shared reactions";
    default:
      break;
  }
  const std::string& place = system_.relations()[guard.place].place;
  switch (guard.kind) {
    case GuardKind::gap:
      return place + ", gap";
    case GuardKind::slip:
      return place + ", slip velocity";
    case GuardKind::cone_plus:
    case GuardKind::cone_minus:
      return place + ", friction limit";
    case GuardKind::jam:
      return place + ", jam";
    default:
      return place + ", normal force";
  }
}

// The component whose error was the largest in the last trial.
std::string EventEngine::Run::worst_component() const {
  const int n = layout_.coordinates;
  int worst = 0;
  double largest = -1;
  for (int i = 0; i < motion_.components(); ++i) {
    const double error =
        std::abs(stiff_ ? radau_.error_component(i) : explicit_.error_component(i)) * weight_[i];
    if (error <= largest || (i >= layout_.integrated() && largest > 1)) continue;
    largest = error;
    worst = i;
  }
  if (worst < n) return "coordinate '" + system_.coordinate_names()[worst] + "'";
  if (worst < 2 * n) return "velocity of '" + system_.coordinate_names()[worst - n] + "'";
  if (worst < layout_.integrated()) return "state '" + system_.state_names()[worst - 2 * n] + "'";
  const int element = (worst - layout_.integrated()) % std::max(layout_.audits, 1);
  return "work of '" + system_.audits()[element].name + "'";
}

// Explicit or implicit is a question of cost: right-hand sides per unit of time. Now and then the other method is given a trial step, as long as
// it must be to be worth the change; if its error allows that step, the run goes on with it. Steps at the limit of stability call for a
// trial at once; trials that fail become rarer, so that they cost no more than a few per cent. A trial moves nothing.
void EventEngine::Run::choose_method(double limit) {
  if (options_.integrator != Integrator::automatic || options_.step > 0 || layout_.integrated() == 0 ||
      !(h_ > 0))
    return;
  constexpr long kFirstTrial = 64;
  constexpr long kRarest = 1024;
  constexpr double kGain = 1.5;  ///< the other method must be cheaper by this factor
  trial_every_ = std::max(trial_every_, kFirstTrial);
  if (++since_trial_ < (unstable_ ? kFirstTrial : trial_every_)) return;
  // Samples for the guards, then stages, dense output and, for the implicit method, its Jacobian and Newton's iterations.
  const double guards = guards_.size() > 0 ? grids_.front()->points() : 0;
  const double explicit_cost = guards + (method_ == numeric::Method::order8 ? 16 : 6);
  const double implicit_cost = guards + layout_.integrated() + 16;
  const double length = h_ * kGain * (stiff_ ? explicit_cost / implicit_cost : implicit_cost / explicit_cost);
  if (t_ + length >= limit) return;  // soon
  since_trial_ = 0;
  unstable_ = false;
  trial_every_ = std::min(2 * trial_every_, kRarest);
  change_method();
  if (motion_(t_, y_.data(), f0_.data()) && try_step(length)) {
    set_weights(length);
    if (step_error() <= 1) {
      h_ = length;
      trial_every_ = kFirstTrial;
      return;
    }
  }
  change_method();
  have_f0_ = motion_(t_, y_.data(), f0_.data());
}

void EventEngine::Run::change_method() {
  stiff_ = !stiff_;
  motion_.always_audit(stiff_);
  explicit_.use(motion_.components());
  radau_.restart();
}

// Whether explicit steps are kept short by stability alone.
void EventEngine::Run::watch_stability() {
  if (stiff_ || options_.integrator != Integrator::automatic || options_.step > 0 ||
      layout_.integrated() == 0)
    return;
  if (!explicit_.prepare_end_rate(motion_)) return;
  if (stiffness_.explicit_step(explicit_.stiffness(weight_.data(), layout_.integrated()))) unstable_ = true;
}

void EventEngine::Run::commit_step(double t1) {
  const double before = t_;
  if (graze_guard_ >= 0) list_graze(t1 - t_);
  note_open_gaps();
  tell_inside(t1);
  emit_samples(t1);
  const double* y1 = stiff_ ? radau_.y1() : explicit_.y1();
  const int width = motion_.components();
  std::copy_n(y1, width, landing_y_.begin());
  const bool end_rate = stiff_ ? radau_.prepare_end_rate(motion_) : explicit_.prepare_end_rate(motion_);
  const double* f1 = stiff_ ? radau_.f1() : explicit_.f1();
  if (end_rate) std::copy_n(f1, width, f0_.begin());
  if (stiff_) radau_.accept();
  t_ = t1;
  std::copy_n(landing_y_.begin(), width, y_.begin());
  have_f0_ = end_rate && motion_.active() == 0;
  if (motion_.active() > 0 && !motion_.project(t_, y_.data(), true)) have_f0_ = false;
  project_sliding();
  carry_watches();
  arm_slips(t1 - before);
  for (Guard& guard : guards_.list()) guard.zeros = 0;
  finish_step();
  tell_evaluated_end();
}

// Functions of the state alone: gaps, slips, sides. What they are is seen from their value.
bool EventEngine::Run::of_the_state(const Guard& guard) {
  return guard.kind == GuardKind::gap || guard.kind == GuardKind::slip || guard.kind == GuardKind::side ||
         guard.kind == GuardKind::level_above || guard.kind == GuardKind::level_below;
}

// Whether a gap, a slip or a surface has come to the wrong side within the tolerance, where no zero could be seen (a touch that the error of
// the steps makes a crossing and back): the instant is now, and the values tell.
bool EventEngine::Run::contradicted() {
  together_.clear();
  const std::vector<Guard>& list = guards_.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Guard& guard = list[i];
    if (!of_the_state(guard) || !(samples_[i * (degree_ + 2) + (degree_ + 1)] < 0)) continue;
    const double value = guards_.value(guard);
    double noise = std::max(guard.noise + guard.noise_rate * h_, 0x1p-43 * guard.scale);
    if (guard.kind == GuardKind::gap)
      noise = std::max(noise, 8 * rounding_of(system_.relations()[guard.place].gap));
    if (guard.kind != GuardKind::gap && guard.kind != GuardKind::slip)
      noise = std::max({noise, 8 * surface_rounding(guard.place), unmoved(guard.place, h_)});
    if (value < -noise) together_.push_back(static_cast<int>(i));
  }
  return !together_.empty();
}

// A gap below zero: how deep, relative to what the gap has been (`seen`: in this step) or its coordinates have moved, whichever is more.
// Contacts that never open by more than rounding have no other scale.
void EventEngine::Run::note_gap(int relation, double gap, double seen) {
  seen = std::max(seen, guards_.gap_scale(relation));
  if (!(gap < 0) || -gap <= result_.worst_gap * seen) return;
  const model::RelationRows& rows =
      system_.relations()[relation].rows_constant ? work_.relation[relation] : system_.rows(work_, relation);
  double moved = 0;
  for (int i = 0; i < layout_.coordinates; ++i) moved += std::abs(rows.w[i]) * scale_[i];
  const double scale = std::max(seen, moved);
  if (scale > 0) result_.worst_gap = std::max(result_.worst_gap, -gap / scale);
}

// Gaps of open contacts at the samples of the step.
void EventEngine::Run::note_open_gaps() {
  const std::vector<Guard>& list = guards_.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].kind != GuardKind::gap) continue;
    const double* sample = samples_.data() + i * (degree_ + 2);
    const auto [lowest, highest] = std::minmax_element(sample, sample + degree_ + 2);
    if (*lowest < 0) note_gap(list[i].place, *lowest, *highest);
  }
}

void EventEngine::Run::note_closed_gaps() {
  for (int r = 0; r < layout_.relations; ++r) {
    if (mode_.normal[r] != NormalStatus::closed) continue;
    double gap = 0;
    double rate = 0;
    system_.gap(work_, r, gap, rate);
    note_gap(r, gap, 0);
  }
}

// A slip that started from rest is armed once it is more than rounding.
void EventEngine::Run::arm_slips(double h) {
  std::vector<Guard>& list = guards_.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].noise_rate == 0) continue;
    list[i].noise += list[i].noise_rate * h;
    if (samples_[i * (degree_ + 2) + (degree_ + 1)] > list[i].noise) list[i].noise = list[i].noise_rate = 0;
  }
}

// A watch has the sign of its last value that is more than its error.
void EventEngine::Run::carry_watches() {
  if (watch_side_.empty()) return;
  const std::vector<Guard>& list = guards_.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].kind != GuardKind::watch) continue;
    const double value = samples_[i * (degree_ + 2) + (degree_ + 1)];
    const double error = std::max(list[i].noise, kWatchBand * options_.tolerance * list[i].scale);
    if (std::abs(value) > error) watch_side_[list[i].place] = value > 0 ? 1 : -1;
  }
}

// A touch without consequence inside the step: an event with its depth, and two equal rows.
void EventEngine::Run::list_graze(double h) {
  const Guard& guard = guards_.list()[graze_guard_];
  const double time = t_ + graze_theta_ * h;
  while (next_sample_ < time) {
    dense((next_sample_ - t_) / h, node_y_.data());
    motion_.load(next_sample_, node_y_.data());
    load_audits(node_y_.data());
    emit_row(RowKind::sample);
    advance_sample();
  }
  dense(graze_theta_, node_y_.data());
  motion_.load(time, node_y_.data());
  load_audits(node_y_.data());
  report_graze(time, guard.place, graze_depth_, 0);
}

// The end of a step that is no event: scales of the guards and of the energy.
void EventEngine::Run::finish_step() {
  motion_.load(t_, y_.data());
  note_closed_gaps();
  if (guards_.needs_motion() || needs_reactions_) {
    if (!motion_.evaluate()) return;
  }
  guards_.note_scales();
  note_energy();
}

// A fall from E = 0 keeps that sum while its parts grow: what is kept is measured by what flows.
void EventEngine::Run::note_energy() {
  const double energy = std::abs(total_energy());
  result_.largest_energy = std::max({result_.largest_energy, energy, std::abs(kinetic_energy_)});
}

// Gaps that are parabolas in time, at the start of the step: their values and their slopes per step.
void EventEngine::Run::start_parabolas(double h) {
  motion_.load(t_, y_.data());
  const int count = guards_.size();
  slopes_.resize(std::max<std::size_t>(slopes_.size(), count));
  for (int i = 0; i < count; ++i) {
    double rate = 0;
    system_.gap(work_, guards_.list()[i].place, samples_[4 * i], rate);
    slopes_[i] = h * rate;
  }
}

// What a surface may be off by because its coordinates have hardly moved: their errors are controlled to the tolerance of what the energy seen
// would move (set_weights), and below that a value has no digits and no sign. At the loaded state, for a step of length h.
double EventEngine::Run::unmoved(int k, double h) {
  const expr::Program& program = system_.switches()[k].surface;
  surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), program.outputs()));
  program.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
  const int n = layout_.coordinates;
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += speed_floor_[i] * (std::abs(surface_memory_[2 + i]) * h + std::abs(surface_memory_[2 + n + i]));
  return std::isfinite(sum) ? sum : 0;
}

// Reactions and limits that begin a phase at zero and are negative from there on, and kinks that are held and left at once, where no Taylor
// series could tell (a force like √t or t^2.5 has none): their zero is the start itself, and the instant is decided again without them. In
// together_.
bool EventEngine::Run::gives_way_at_once(double h) {
  constexpr int kPlaces = 12;
  constexpr int kClear = 3;      // of the places, the last ones: more than rounding
  constexpr int kClearHeld = 2;  // near its beginning the polynomial of a step like t^2.5 has no sign
  together_.clear();
  const std::vector<Guard>& list = guards_.list();
  const auto of_a_force = [](const Guard& guard) {
    return guard.kind == GuardKind::reaction || guard.kind == GuardKind::cone_plus ||
           guard.kind == GuardKind::cone_minus;
  };
  const auto held = [this](const Guard& guard) {
    return (guard.kind == GuardKind::held_above || guard.kind == GuardKind::held_below) &&
           system_.switches()[guard.place].kind == expr::SwitchKind::kink;
  };
  if (std::none_of(list.begin(), list.end(), [&](const Guard& g) { return of_a_force(g) || held(g); }))
    return false;
  motion_.load(t_, y_.data());
  if (!motion_.evaluate()) return false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (held(list[i]) || (of_a_force(list[i]) && std::abs(guards_.value(list[i])) <= list[i].noise))
      together_.push_back(static_cast<int>(i));
  }
  double theta = std::pow(0.25, kPlaces - 1);
  for (int place = 0; place < kPlaces && !together_.empty(); ++place, theta *= 4) {
    dense(theta, node_y_.data());
    motion_.load(t_ + theta * h, node_y_.data());
    if (!motion_.evaluate()) {
      together_.clear();
      break;
    }
    std::erase_if(together_, [&](int i) {
      const Guard& guard = list[i];
      const double value = guards_.value(guard);
      if (!held(guard)) return !(place >= kPlaces - kClear ? value < -guard.noise : value <= guard.noise);
      return place >= kPlaces - kClearHeld && !(value < -unmoved(guard.place, h));
    });
  }
  if (!together_.empty()) have_f0_ = false;
  return !together_.empty();
}

// Where the equations end at a surface, as √h at h = 0, no step goes over it, and its zero is only approached. It is reached where it is within
// `rounding` of the time: in together_.
bool EventEngine::Run::reaches_surface(double rounding) {
  together_.clear();
  motion_.load(t_, y_.data());
  if (!motion_.evaluate()) return false;
  const std::vector<Guard>& list = guards_.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].kind != GuardKind::side) continue;
    const double value = guards_.value(list[i]);
    const double rate = list[i].sign * motion_.surface_rate(list[i].place);
    if (value >= 0 && value <= options_.tolerance * list[i].scale && rate * rounding <= -value)
      together_.push_back(static_cast<int>(i));
  }
  if (!together_.empty()) have_f0_ = false;
  return !together_.empty();
}

// Samples every guard along the trial step, replaces it by a polynomial and finds the first zero of all. `accurate` is false when a polynomial
// does not represent its guard to the tolerance: the step is too long for events to be trusted.
bool EventEngine::Run::find_first_guard(double h, bool& accurate) {
  std::vector<Guard>& list = guards_.list();
  const int count = static_cast<int>(list.size());
  first_guard_ = -1;
  together_.clear();
  accurate = true;
  if (count == 0) return false;
  const double* y1 = stiff_ ? radau_.y1() : explicit_.y1();
  const double time_rounding = kSampleRounding * kEpsilon * std::max(std::abs(t_), std::abs(t_ + h)) / h;

  // What is held is held within the error of what has hardly moved.
  for (Guard& guard : list) {
    if (guard.kind != GuardKind::held_above && guard.kind != GuardKind::held_below) continue;
    guard.band = std::max(guard.band, unmoved(guard.place, h));
  }

  // Parabolas are known by both ends and a slope if they are gaps, otherwise by the five points of the first grid.
  const bool parabolas = !stiff_ && motion_.uniform() && guards_.quadratic();
  bool closed_form = parabolas && guards_.only_gaps();
  for (std::size_t g = parabolas ? 0 : 1; g < grids_.size(); closed_form ? closed_form = false : ++g) {
    const numeric::SamplingGrid& grid = *grids_[g];
    const int points = closed_form ? 3 : grid.points();
    samples_.resize(std::max<std::size_t>(samples_.size(), (points + 1) * count));
    bernstein_.resize(std::max<std::size_t>(bernstein_.size(), points * count));
    const int width = layout_.integrated();
    bool finite = true;
    if (closed_form) start_parabolas(h);
    for (int j = 0; j < points && finite && !closed_form; ++j) {
      if (stiff_) {
        radau_.dense(grid.theta(j), 0, width, node_y_.data());
      } else {
        explicit_.dense(grid.theta(j), 0, width, node_y_.data());
      }
      motion_.load(t_ + grid.theta(j) * h, node_y_.data());
      if (guards_.needs_motion()) finite = motion_.evaluate();
      guards_.values(samples_.data() + j, points + 1);
    }
    if (finite) {
      motion_.load(t_ + h, y1);
      if (guards_.needs_motion()) finite = motion_.evaluate();
      guards_.values(samples_.data() + points, points + 1);
    }
    if (!finite) {
      accurate = false;
      return false;
    }
    if (!closed_form && !note_residues()) {
      accurate = false;
      return false;
    }
    degree_ = points - 1;
    first_guard_ = -1;
    first_theta_ = 2;
    dips_beyond_ = false;
    graze_guard_ = -1;
    root_theta_.assign(count, std::numeric_limits<double>::infinity());
    root_slope_.resize(count);
    bool good = true;
    for (int i = 0; i < count; ++i) {
      Guard& guard = list[i];
      double* coefficients = bernstein_.data() + i * points;
      double* sample = samples_.data() + i * (points + 1);
      const bool watch = guard.kind == GuardKind::watch || guard.kind == GuardKind::observed;
      const double* clean = sample;
      if (guard.zeros != 0 && !closed_form && residues_[i] != 0) {
        for (int j = 0; j < points; ++j) clean_[j] = sample[j] - residues_[i];
        clean = clean_.data();
      }
      if (guard.zeros < 0) {
        // A watch that starts at zero: the order of that zero from its first two samples.
        const double ratio = std::abs(clean[1] / clean[0]);
        const double order = std::log(ratio) / std::log(grid.theta(1) / grid.theta(0));
        guard.zeros = std::isfinite(order) ? std::clamp(static_cast<int>(std::lround(order)), 1, 3) : 1;
      }
      if (closed_form && guard.zeros > 2) {
        good = false;
        break;
      }
      const numeric::Interpolation fit =
          closed_form ? parabola(sample, slopes_[i], guard.zeros, coefficients)
                      : grid.interpolate(clean, 1, std::min(guard.zeros, 3), coefficients);
      double largest = 0;
      double lowest = sample[points];
      double highest = sample[points];
      for (int j = 0; j <= points; ++j) {
        largest = std::max(largest, std::abs(sample[j]));
        lowest = std::min(lowest, sample[j]);
        highest = std::max(highest, sample[j]);
      }
      // The time of a sample is rounded, and so is what is computed from it.
      const double time_noise = time_rounding * (highest - lowest);
      const double noise = guard.noise + guard.noise_rate * h;
      // A function that is nothing but rounding throughout does not cross: a reaction where no force presses keeps its contact,
      // bodies that move together keep their gap of zero. A surface is crossed even so: its side must be that of its value.
      const bool surface = guard.kind == GuardKind::side;
      if (largest <= (surface ? 0 : noise) &&
          (guard.kind != GuardKind::gap || std::abs(guards_.gap_rate(guard)) * h <= noise))
        continue;
      const double scale = std::max(guard.scale, largest);
      const double band = std::max(options_.tolerance * scale, surface ? guard.noise : 0);
      // Far from zero the polynomial need not be good: an error smaller than half the distance cannot hide a zero.
      double least = std::numeric_limits<double>::infinity();
      for (int j = 0; j < points; ++j) least = std::min(least, coefficients[j]);
      if (!watch && least > 2 * fit.error && least > band) continue;
      if (surface && largest <= unmoved(guard.place, h)) continue;
      bool rounded = false;  // the polynomial is no better than the rounding of its samples
      if (!(fit.error <= std::max(band, 64 * kEpsilon * fit.magnitude))) {
        if (guards_.renew_noise(guard) && largest <= (surface ? 0 : guard.noise)) continue;
        // Rounding of the samples, magnified where a zero is divided out, is no fault of the polynomial.
        if (!std::isfinite(fit.error) ||
            fit.error > (guard.noise + time_noise) / std::pow(grid.theta(0), std::min(guard.zeros, 3))) {
          if (watch && g + 1 == grids_.size()) {
            scan_watch(i, h, band, time_noise);
            continue;
          }
          if (guard.zeros > 0 && g + 1 == grids_.size() && follows_power(grid, clean)) continue;
          blamed_guard_ = i;
          good = false;
          break;
        }
        rounded = true;
      }
      // A force that is positive wherever it was asked for, and dips by less than the tolerance between, presses on: fading loads have no zero.
      const bool force = is_reaction(guard.kind) || guard.kind == GuardKind::joint_normal;
      if (force && lowest >= 0 && (guard.zeros > 0 || least >= -(rounded ? fit.error : band))) continue;
      if (!numeric::isolate(coefficients, degree_, rounded ? fit.error : band, roots_)) {
        good = false;
        break;
      }
      if (watch) {
        take_watch_zero(i, sample, points, noise, band);
        continue;
      }
      const bool below = roots_.empty();  // from the start, if at all
      numeric::close_at_end(sample[points], 1, roots_);
      // At a kink either side will do while its function is rounding; once it is more than that, the side is that of its value.
      const bool kink = surface && system_.switches()[guard.place].kind == expr::SwitchKind::kink;
      const bool late = kink && below && sample[0] < 0;
      for (int r = 0; r < roots_.size(); ++r) {
        const numeric::Root& root = roots_[r];
        const bool returns = r + 2 < roots_.size() && root.kind != numeric::RootKind::graze &&
                             roots_[r + 1].kind == numeric::RootKind::graze &&
                             roots_[r + 2].kind != numeric::RootKind::graze;
        if (returns && rounded) {
          r += 2;  // there and back within that rounding
          continue;
        }
        // A gap that dips by less than the error of the step touches: the graze between the two zeros.
        if (returns && guard.kind == GuardKind::gap && root.kind == numeric::RootKind::falling &&
            guard.zeros == 0 && std::abs(roots_[r + 1].value) <= share_of_error_ * band) {
          if (graze_guard_ < 0) {
            graze_guard_ = i;
            graze_theta_ = roots_[r + 1].theta;
            graze_depth_ = roots_[r + 1].value;
          }
          r += 2;
          continue;
        }
        if (root.kind == numeric::RootKind::graze) {
          // A touch deeper than the band would have been two zeros; report the first of this step, without consequence.
          if (graze_guard_ < 0 && reports_graze(guard) && !(guard.zeros > 0)) {
            graze_guard_ = i;
            graze_theta_ = root.theta;
            graze_depth_ = root.value;
          }
          continue;
        }
        if (root.kind == numeric::RootKind::rising) continue;
        if (kink && depth_behind(grid, sample, root.theta, 1) <= guard.noise) continue;
        // Behind a zero that was divided out the first values are rounding, and so is their sign; unless what follows is more than that.
        const bool stays = (guard.zeros > 0 || guard.noise_rate > 0) && lowest >= -noise;
        if (stays && std::pow(root.theta, guard.zeros + 1) * std::abs(root.slope) <= noise) continue;
        const double theta = late ? std::min(root.theta, kLateRoot) : root.theta;
        if (theta < first_theta_) {
          first_guard_ = i;
          dips_beyond_ = guard.kind == GuardKind::gap && guard.zeros == 0 &&
                         dip_beyond_end(coefficients, degree_, root, share_of_error_ * band);
          first_theta_ = theta;
          first_slope_ = late ? sample[points] - sample[0] : root.slope;
        }
        root_theta_[i] = theta;
        root_slope_[i] = guard.zeros > 0 ? root.slope * std::pow(root.theta, guard.zeros) : root.slope;
        break;
      }
      // Below zero at the end without a zero on the way: it began within the band. A shorter step tells where.
      if (of_the_state(guard) && sample[points] < -band && !(root_theta_[i] <= 1)) {
        good = false;
        break;
      }
    }
    if (good) break;
    if (!closed_form && g + 1 == grids_.size()) {
      accurate = false;
      return false;
    }
  }
  return first_guard_ >= 0;
}

// What is left at the start of a step of the functions that begin with a zero: the last bit of the time of the event just handled. It is
// taken away before the zero is divided out. False: the equations give no number there.
bool EventEngine::Run::note_residues() {
  const std::vector<Guard>& list = guards_.list();
  if (std::none_of(list.begin(), list.end(), [](const Guard& guard) { return guard.zeros != 0; }))
    return true;
  residues_.resize(std::max(residues_.size(), list.size()));
  motion_.load(t_, y_.data());
  if (guards_.needs_motion() && !motion_.evaluate()) return false;
  guards_.values(residues_.data());
  return true;
}

// The first zero of a watch that one polynomial does not follow over the whole step (a pole, a kink, an oscillation): by polynomials on parts of
// it. The motion is the same with and without a watch, so its step is not shortened for it.
void EventEngine::Run::scan_watch(int i, double h, double band, double time_noise) {
  constexpr double kShortestPart = 0x1p-12;
  constexpr int kMostParts = 2000;
  const Guard& guard = guards_.list()[i];
  const numeric::SamplingGrid& grid = *grids_.back();
  const int points = grid.points();
  const double error = std::max(kWatchBand * band, guard.noise);
  const auto value_at = [&](double theta) {
    dense(theta, node_y_.data());
    motion_.load(t_ + theta * h, node_y_.data());
    if (guards_.watches_reactions()) {
      if (!motion_.evaluate()) return std::numeric_limits<double>::quiet_NaN();
      motion_.publish();
    }
    return guards_.value(guard);
  };
  std::array<double, numeric::kMaxRootDegree + 2> sample{};
  std::array<double, numeric::kMaxRootDegree + 1> coefficients{};
  int side = side_before(guard);
  bool open = false;  // it has passed to the other side, and it is not known yet by how much
  numeric::Root candidate;
  // True: the watch has passed zero by more than its error, in the direction asked for.
  const auto passes = [&](double depth) {
    if (!open || depth <= error) return false;
    open = false;
    side = -side;
    return crossing_counts(guard, side > 0);
  };
  const auto see = [&](double value) {  // a value on the way, in order
    if (!std::isfinite(value) || value == 0) return false;
    if (side == 0) {
      if (std::abs(value) > error) side = value > 0 ? 1 : -1;
      return false;
    }
    if (side * value > 0) {
      open = false;
      return false;
    }
    if (!open) {  // since before this step
      open = true;
      candidate = {.theta = kLateRoot,
                   .kind = side > 0 ? numeric::RootKind::falling : numeric::RootKind::rising,
                   .value = 0,
                   .slope = value};
    }
    return passes(-side * value);
  };
  bool found = false;
  double from = 0;
  double length = 0.5;
  for (int parts = 0; from < 1 && !found; ++parts) {
    length = std::min(length, 1 - from);
    for (int j = 0; j < points; ++j) sample[j] = value_at(from + grid.theta(j) * length);
    sample[points] = value_at(from + length);
    const int zeros = from == 0 ? std::clamp(guard.zeros, 0, 3) : 0;
    if (zeros > 0) {
      for (int j = 0; j <= points; ++j) sample[j] -= residues_[i];
    }
    const numeric::Interpolation fit = grid.interpolate(sample.data(), 1, zeros, coefficients.data());
    const double allowed = std::max(
        {band, 64 * kEpsilon * fit.magnitude, (guard.noise + time_noise) / std::pow(grid.theta(0), zeros)});
    const bool follows = fit.error <= allowed;
    if (!follows && length > kShortestPart && parts < kMostParts) {
      length *= 0.5;
      continue;
    }
    if (!follows || !numeric::isolate(coefficients.data(), grid.degree(), std::max(band, fit.error), roots_))
      roots_.clear();
    int next = 0;
    double before = 0;
    for (int j = 0; j <= points && !found; ++j) {
      const double theta = j < points ? grid.theta(j) : 1.0;
      for (; next < roots_.size() && roots_[next].theta <= theta; ++next) {
        const numeric::Root& root = roots_[next];
        const int to = root.kind == numeric::RootKind::rising ? 1 : -1;
        if (root.kind == numeric::RootKind::graze || side == 0 || to == side || open) continue;
        open = true;
        candidate = root;
        candidate.theta = from + root.theta * length;
        candidate.slope = root.slope * std::pow(root.theta, zeros) / length;
        if (next + 1 < roots_.size()) {  // there and back between two samples
          const double middle = 0.5 * (root.theta + roots_[next + 1].theta);
          found = see(numeric::bernstein_value(coefficients.data(), grid.degree(), middle) *
                      std::pow(middle, zeros));
          if (found) break;
        }
      }
      if (found) break;
      // Without a polynomial a zero is between two samples, unless they grow towards it: a pole.
      if (!follows && side != 0 && !open && before * sample[j] < 0) {
        const double last = from + length * (j > 0 ? grid.theta(j - 1) : 0.0);
        const double middle = value_at(0.5 * (last + from + theta * length));
        if (!(std::abs(middle) <= std::max(std::abs(before), std::abs(sample[j])))) {
          side = -side;
        } else {
          open = true;
          candidate = {.theta = from + theta * length,
                       .kind = side > 0 ? numeric::RootKind::falling : numeric::RootKind::rising,
                       .value = 0,
                       .slope = (sample[j] - before) / length};
        }
      }
      before = sample[j];
      found = see(sample[j]);
    }
    from += length;
    length *= 2;
  }
  if (!found && open && std::abs(candidate.slope) > kSteep * error) found = passes(2 * error);
  if (found) take_zero(i, candidate);
}

void EventEngine::Run::take_zero(int i, const numeric::Root& root) {
  const Guard& guard = guards_.list()[i];
  if (root.theta < first_theta_) {
    first_guard_ = i;
    first_theta_ = root.theta;
    first_slope_ = root.slope;
    dips_beyond_ = false;
  }
  root_theta_[i] = root.theta;
  root_slope_[i] = root.slope;
  if (guard.kind == GuardKind::watch)
    watch_rising_[guard.place] = root.kind == numeric::RootKind::rising ? 1 : 0;
}

// Whether a watch that passes the zero with number r in roots_ returns within the step, after no more than `error`.
bool EventEngine::Run::comes_back(int i, int r, int points, int side, double error) const {
  const double* coefficients = bernstein_.data() + i * points;
  const int zeros = std::clamp(guards_.list()[i].zeros, 0, 3);
  for (int next = r + 1; next < roots_.size(); ++next) {
    const int to = roots_[next].kind == numeric::RootKind::rising ? 1 : -1;
    if (roots_[next].kind == numeric::RootKind::graze || to != side) continue;
    const double middle = 0.5 * (roots_[r].theta + roots_[next].theta);
    const double value = numeric::bernstein_value(coefficients, points - 1, middle) * std::pow(middle, zeros);
    return -side * value <= error;
  }
  return false;
}

// The first of the zeros in roots_ that ends the step: the side that the watch has is left for good, which is by more than its error, and in
// the direction asked for.
void EventEngine::Run::take_watch_zero(int i, const double* sample, int points, double noise, double band) {
  const Guard& guard = guards_.list()[i];
  const numeric::SamplingGrid& grid = *grids_[points == 5 ? 0 : points == 9 ? 1 : 2];
  const double error = std::max(kWatchBand * band, noise);
  int side = side_before(guard);
  if (side == 0) {
    for (int j = 0; j <= points && side == 0; ++j) side = sample[j] > noise ? 1 : sample[j] < -noise ? -1 : 0;
    if (side == 0) return;
  }
  numeric::Root found;
  found.theta = 2;
  for (int r = 0; r < roots_.size() && found.theta > 1; ++r) {
    const numeric::Root& root = roots_[r];
    const int to = root.kind == numeric::RootKind::rising ? 1 : -1;
    if (root.kind == numeric::RootKind::graze || to == side) continue;
    const double slope = std::abs(root.slope) * std::pow(root.theta, std::max(guard.zeros, 0));
    // Behind a zero that was divided out the first values are rounding, and so is their sign.
    if (guard.zeros > 0 && root.theta * slope <= noise) continue;
    if (depth_behind(grid, sample, root.theta, side) <= error &&
        (slope <= kSteep * error || comes_back(i, r, points, side, error)))
      continue;
    if (crossing_counts(guard, to > 0)) {
      found = root;
    } else {
      side = to;
    }
  }
  if (found.theta > 1 && side == side_before(guard) && depth_behind(grid, sample, 0, side) > error &&
      -side * sample[0] > 0) {
    // It had passed its zero by no more than its error before this step, and now it is clear that it did.
    bool back = false;
    for (int r = 0; r < roots_.size(); ++r)
      back = back || roots_[r].kind == (side > 0 ? numeric::RootKind::rising : numeric::RootKind::falling);
    if (!back && crossing_counts(guard, side < 0)) {
      found.theta = kLateRoot;
      found.kind = side > 0 ? numeric::RootKind::falling : numeric::RootKind::rising;
      found.slope = (sample[points] - sample[0]);
    }
  }
  if (found.theta > 1) return;
  if (guard.zeros > 0) found.slope *= std::pow(found.theta, guard.zeros);
  take_zero(i, found);
}

bool EventEngine::Run::reports_graze(const Guard& guard) {
  return guard.kind == GuardKind::gap || guard.kind == GuardKind::slip;
}

bool EventEngine::Run::watch_direction_matches(int watch, bool rising) {
  const int wanted = system_.watches()[watch].direction;
  return wanted == 0 || (wanted > 0) == rising;
}

// A switch of a watch is on the positive side of its guard, and leaves it downwards.
int EventEngine::Run::side_before(const Guard& guard) const {
  return guard.kind == GuardKind::observed ? 1 : watch_side_[guard.place];
}

bool EventEngine::Run::crossing_counts(const Guard& guard, bool rising) {
  return guard.kind == GuardKind::observed ? !rising : watch_direction_matches(guard.place, rising);
}

// What else happens at the instant of the landing: guards whose own zero lies within rounding of it, or that the landing has just passed.
// The polynomials name the candidates, the state at the landing decides.
bool EventEngine::Run::gather_events(double h, double length) {
  together_.clear();
  const int count = guards_.size();
  if (count > 1) {
    const double* y1 = stiff_ ? radau_.y1() : explicit_.y1();
    motion_.load(t_ + length, y1);
    if (guards_.needs_motion() && !motion_.evaluate()) return false;
    landing_values_.resize(std::max<std::size_t>(landing_values_.size(), count));
    guards_.values(landing_values_.data());
  }
  const double window = 64 * kEpsilon * std::max({std::abs(t_), std::abs(t_ + length), length});
  for (int i = 0; i < count; ++i) {
    if (i == first_guard_) {
      together_.push_back(i);
      continue;
    }
    if (!(root_theta_[i] < std::numeric_limits<double>::infinity())) continue;
    // Seen from the side that the function comes from.
    const double value = root_slope_[i] > 0 ? -landing_values_[i] : landing_values_[i];
    if (value <= std::abs(root_slope_[i]) / h * window) together_.push_back(i);
  }
  return true;
}

// Repeats the step so that it ends on the zero: the state at an event comes from a full step, never from the polynomial.
bool EventEngine::Run::land(double h, bool may_miss) {
  const Guard guard = guards_.list()[first_guard_];
  missed_ = false;
  double length = first_theta_ * h;
  double slope = first_slope_ / h;
  double previous_length = 0;
  double previous_value = 0;
  bool have_previous = false;
  double best_length = length;
  double best_value = std::numeric_limits<double>::infinity();
  double nearest = 0;  // the same with its sign
  const double resolution = 4 * kEpsilon * std::max(std::abs(t_ + length), std::abs(t_));
  for (int iteration = 0; iteration < 12; ++iteration) {
    if (!(length > 0)) length = 0.5 * resolution;
    if (!try_step(length)) {
      return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an event"});
    }
    const double* y1 = stiff_ ? radau_.y1() : explicit_.y1();
    motion_.load(t_ + length, y1);
    if (guards_.needs_motion() && !motion_.evaluate()) {
      return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an event"});
    }
    if (guards_.watches_reactions()) motion_.publish();
    if (guard.kind == GuardKind::margin) guards_.sharing.share(motion_);
    const double value = guards_.value(guard);
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
  missed_ = may_miss && of_the_state(guard) && nearest > std::max(guard.noise, 0x1p-40 * guard.scale) &&
            length > kLateRoot * h;
  if (missed_) return true;
  note_landing_reactions(h);
  if (best_length != length) {
    length = best_length;
    if (!try_step(length))
      return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an event"});
  }
  landing_h_ = length;
  if (!gather_events(h, length))
    return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an event"});
  if (stiff_ || !motion_.uniform()) set_weights(length);
  update_scales(length);
  if (next_sample_ < t_ + length && !prepare_dense()) {
    return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an event"});
  }
  const double* y1 = stiff_ ? radau_.y1() : explicit_.y1();
  const int width = motion_.components();
  std::copy_n(y1, width, landing_y_.begin());
  const double t1 = t_ + length;
  tell_inside(t1);
  emit_samples(t1);
  if (stiff_) radau_.restart();
  t_ = t1;
  std::copy_n(landing_y_.begin(), width, y_.begin());
  have_f0_ = false;
  if (motion_.active() > 0) static_cast<void>(motion_.project(t_, y_.data(), true));
  project_sliding();
  tell_end();
  motion_.load(t_, y_.data());
  return true;
}

}  // namespace judder::engines
