// Rounding of the rates: what the last bits of the state do to accelerations, rates of states and powers.
//
// Stiff springs that carry little make noise that no step size removes: an error estimate below it says nothing, and a step that is shortened for it is
// shortened for ever. The noise of rate i is Σ_j |∂f_i/∂y_j| ε |y_j|, by differences, and what cancels inside the expressions (1 − cos t for small t), by
// interval arithmetic. Over a step of length h it adds up to rate·h, or, where the component damps it by itself at the rate d, to rate·min(h, 1/d).
//
// It is measured where steps become short, and belongs to the phase in which it was. Rates that fade make less of it: a measurement ages.
#pragma once

#include <span>
#include <vector>

#include "mode_motion.hpp"

namespace judder::engines {

class RateNoise {
 public:
  RateNoise(const model::Layout& layout, int components);

  /// A phase ends: nothing is known of the next one.
  void forget();
  [[nodiscard]] bool measured() const { return measured_; }
  /// At the state y with rates f, in the present mode, for a step of length h. `lasting`: as if nothing were damped. The state is loaded and evaluated
  /// behind it, with its terms noted; false: the equations give no number there, and what was found before counts.
  [[nodiscard]] bool measure(ModeMotion& motion, double t, const double* y, const double* f, double h,
                             bool lasting);
  /// More of component i, found elsewhere.
  void add(int i, double noise) { rate_[i] += noise; }

  [[nodiscard]] double rate(int i) const { return rate_[i]; }
  /// How long it adds up within a step.
  [[nodiscard]] double lasts(int i, double h) const { return damping_[i] * h > 1 ? 1 / damping_[i] : h; }
  /// What it does to a component over a step.
  [[nodiscard]] double over(int i, double h) const { return rate_[i] * lasts(i, h); }

  /// A step was made.
  void age() { ++age_; }
  /// Measured for steps much shorter than h, or many steps ago.
  [[nodiscard]] bool aged(double h) const { return h > 1.1 * h_ || age_ >= kStepsItLasts; }

  /// Noise and damping by component, for a run that goes on; nothing where it is not measured.
  void save(std::vector<double>& out) const;
  void load(std::span<const double> saved);
  [[nodiscard]] double measured_for() const { return h_; }
  [[nodiscard]] int steps_since() const { return age_; }
  void load_age(double measured_for, int steps_since) {
    h_ = measured_for;
    age_ = steps_since;
  }

 private:
  static constexpr int kStepsItLasts = 8;

  const model::Layout& layout_;
  std::vector<double> rate_;     ///< by component
  std::vector<double> damping_;  ///< of each component by itself, where the noise was measured
  bool measured_ = false;
  double h_ = 0;  ///< step for which it was measured last
  int age_ = 0;   ///< steps since then
  std::vector<double> y_, f_;
};

}  // namespace judder::engines
