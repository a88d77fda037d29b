#include "rate_noise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace judder::engines {

RateNoise::RateNoise(const model::Layout& layout, int components)
    : layout_(layout), rate_(components), damping_(components), y_(components), f_(components) {}

void RateNoise::forget() {
  if (measured_) {
    std::fill(rate_.begin(), rate_.end(), 0.0);
    std::fill(damping_.begin(), damping_.end(), 0.0);
  }
  measured_ = false;
}

bool RateNoise::measure(ModeMotion& motion, double t, const double* y, const double* f, double h,
                        bool lasting) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  constexpr double kShift = 0x1p-20;
  constexpr double kMargin =
      64;  // the error estimate adds the rounding of all stages; a step is not to be held back by it
  measured_ = true;
  h_ = h;
  age_ = 0;
  std::fill(damping_.begin(), damping_.end(), 0.0);
  std::fill(rate_.begin(), rate_.end(), 0.0);
  std::copy_n(y, y_.size(), y_.begin());
  for (int j = 0; j < layout_.integrated(); ++j) {
    if (y[j] == 0) continue;
    y_[j] = y[j] * (1 + kShift);
    if (motion(t, y_.data(), f_.data())) {
      for (int i = 0; i < motion.components(); ++i)
        rate_[i] += kMargin * std::abs(f_[i] - f[i]) * (kEpsilon / kShift);
      // What a component damps by itself does not add up over a step that is longer than that takes.
      if (!lasting) damping_[j] = std::max(0.0, -(f_[j] - f[j]) / (y[j] * kShift));
    }
    y_[j] = y[j];
  }
  // What cancels inside the expressions.
  motion.load(t, y);
  if (!motion.evaluate()) return false;
  motion.note_all_terms();
  motion.add_drive_rounding(rate_.data() + layout_.coordinates);
  for (int i = 0; i < layout_.states; ++i) {
    double& noise = rate_[2 * layout_.coordinates + i];
    noise = std::max(noise, motion.rate_rounding()[i]);
  }
  // What cancels between the sides of a surface that is slid on: the interval above knows one value of the side only.
  for (int i = 0; i < layout_.coordinates; ++i) {
    double& noise = rate_[layout_.coordinates + i];
    noise = std::max(noise, motion.blend_rounding_of_coordinate(i));
  }
  for (int i = 0; i < layout_.states; ++i) {
    double& noise = rate_[2 * layout_.coordinates + i];
    noise = std::max(noise, motion.blend_rounding_of_state(i));
  }
  return true;
}

void RateNoise::save(std::vector<double>& out) const {
  if (!measured_) return;
  out.assign(rate_.begin(), rate_.end());
  out.insert(out.end(), damping_.begin(), damping_.end());
}

void RateNoise::load(std::span<const double> saved) {
  measured_ = saved.size() == 2 * rate_.size();
  if (!measured_) return;
  std::copy_n(saved.begin(), rate_.size(), rate_.begin());
  std::copy_n(saved.begin() + static_cast<std::ptrdiff_t>(rate_.size()), damping_.size(), damping_.begin());
}

}  // namespace judder::engines
