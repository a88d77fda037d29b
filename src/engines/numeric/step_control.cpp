#include "engines/numeric/step_control.hpp"

#include "core/elementary.hpp"

#include <algorithm>
#include <cmath>

namespace judder::engines::numeric {

StepControlOptions order5_control() {
  return {.power = 5, .beta = 0.04, .safety = 0.9, .shrink = 0.2, .grow = 10, .keep = 1};
}

StepControlOptions order8_control() {
  return {.power = 8, .beta = 0, .safety = 0.9, .shrink = 1.0 / 3, .grow = 6, .keep = 1};
}

StepControlOptions radau_control() {
  return {.power = 4, .beta = 0.04, .safety = 0.9, .shrink = 0.2, .grow = 8, .keep = 1.2};
}

void StepController::restart() {
  last_error_ = 1;
  rejected_ = false;
}

double StepController::after_accepted(double error) {
  // A step without error may grow as far as allowed; the bound only keeps the power finite.
  const double bounded = std::max(error, 1e-30);
  double factor = options_.safety * elementary::rough_pow(bounded, 0.75 * options_.beta - 1 / options_.power);
  if (options_.beta > 0) factor *= elementary::rough_pow(last_error_, options_.beta);
  factor = std::clamp(factor, options_.shrink, options_.grow);
  if (rejected_) factor = std::min(factor, 1.0);
  if (factor >= 1 && factor < options_.keep) factor = 1;
  last_error_ = std::max(error, kLeastError);
  rejected_ = false;
  return factor;
}

double StepController::after_rejected(double error) {
  rejected_ = true;
  if (!std::isfinite(error)) return options_.shrink;
  const double factor =
      options_.safety * elementary::rough_pow(error, 0.75 * options_.beta - 1 / options_.power);
  return std::clamp(factor, options_.shrink, options_.safety);
}

void StiffnessMonitor::restart() {
  beyond_ = 0;
  calm_ = 0;
}

bool StiffnessMonitor::explicit_step(double stiffness) {
  if (stiffness > 1) {
    calm_ = 0;
    ++beyond_;
    if (beyond_ < options_.stiff_steps) return false;
    restart();
    return true;
  }
  if (++calm_ >= options_.calm_steps) beyond_ = 0;
  return false;
}

bool StiffnessMonitor::implicit_step(double stiffness) {
  beyond_ = 0;
  calm_ = stiffness < options_.back_limit ? calm_ + 1 : 0;
  if (calm_ < options_.stiff_steps) return false;
  restart();
  return true;
}

}  // namespace judder::engines::numeric
