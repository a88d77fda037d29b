// What the schemes with one velocity per step watch: the laws of energy that their theory promises.
#include <algorithm>
#include <cmath>

#include "implicit_scheme.hpp"

namespace judder::engines {
namespace {

constexpr double kRounding = 64 * 2.220446049250313e-16;

}  // namespace

// Whether the forces are −K q + a constant with K symmetric, in the mode of the present matrix: then energies are quadratic and their identities hold.
void ImplicitScheme::check_conservative() {
  conservative_ = false;
  if (!linear_ || m_ > 0 || layout_.switches > 0 || !system_.autonomous_forces()) return;
  if (large_ != nullptr) {
    conservative_ = large_->damping.size == 0;
    return;
  }
  const int width = 2 * n_ + m_ + layout_.free_parameters;
  const double* const J = known_jacobian_.data();
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < n_; ++j) {
      if (J[i * width + n_ + j] != 0 || J[i * width + j] != J[j * width + i]) return;
    }
  }
  conservative_ = true;
}

// The kinetic energy grows by no more than the work of forces and drives. With f the mean force of the step,
//     T₁ − T₀ − h f·v₁ − W_drives = −½ |v₁ − v₀|²_M + p·γ₁ ≤ 0         printed form, e = 0
//     T₁ − T₀ − h f·v_θ − W_drives = (½ − θ) |v₁ − v₀|²_M + p·γ_θ       standard form: may be positive in contact
void ImplicitScheme::note_monitors(const StepState& state, const StepReport& report) {
  const double* const v0 = start_.data() + n_;
  const double* const v1 = state.y.data() + n_;
  const double t = state.t;
  if (c_.start_force) {
    const bool printed = numbers_.formula == StepFormula::printed;
    double gain = 0, work = 0, size = 0;
    apply_mass(mass_.data(), v0, product_.data());
    apply_mass(mass_.data(), v1, product_after_.data());
    for (int i = 0; i < n_; ++i) {
      const double before = product_[i], after = product_after_[i];
      gain += 0.5 * (after * v1[i] - before * v0[i]);
      size += 0.5 * (std::abs(after * v1[i]) + std::abs(before * v0[i]));
      const double speed = printed ? v1[i] : c_.theta * v1[i] + (1 - c_.theta) * v0[i];
      const double term = c_.h * (c_.theta * force_[i] + (1 - c_.theta) * step_force_[i]) * speed;
      work += term;
      size += std::abs(term);
    }
    energy_.note(gain - work - energy_drive_, kRounding * size, t);
    if (printed && numbers_.theta == 0.5) note_velocity_bound(state);
  } else if (remembers_accelerations()) {
    note_identity(state);
    std::copy(report.acceleration.begin(), report.acceleration.end(), acceleration_.begin());
  }
  if (!contacts_.any_part()) return;
  complementarity_.note(contacts_.complementarity(), INFINITY, t);
  cone_.note(std::max(0.0, contacts_.cone()), INFINITY, t);
  unique_.note(contacts_.solutions(), 1, t);
  iterations_.note(contacts_.iterations(), INFINITY, t);
}

// β = √(|v|²_M + q·K q) grows by at most h |F₀ + F₁|_{M⁻¹} in a step, F = f + K q.
void ImplicitScheme::note_velocity_bound(const StepState& state) {
  if (!conservative_) return;
  const double* const q0 = start_.data();
  const double* const q1 = state.y.data();
  double before = 0, after = 0;
  for (int k = 0; k < 2; ++k) {
    const double* const q = k == 0 ? q0 : q1;
    double& energy = k == 0 ? before : after;
    apply_mass(mass_.data(), q + n_, product_.data());
    apply_slopes(q, product_after_.data());
    for (int i = 0; i < n_; ++i) {
      energy += product_[i] * q[n_ + i] - product_after_[i] * q[i];
      mean_[i] = (k == 0 ? force_[i] + step_force_[i] : mean_[i]) - product_after_[i];
    }
  }
  if (!(before >= 0 && after >= 0)) return;  // K is not semidefinite: there is no such bound
  loads_ = mean_;
  system_.solve_mass(work_, mean_.data());
  double size = 0;
  for (int i = 0; i < n_; ++i) size += mean_[i] * loads_[i];
  const double bound = c_.h * std::sqrt(std::max(0.0, size));
  const double b0 = std::sqrt(before), b1 = std::sqrt(after);
  bound_.note(b1 - b0 - bound, kRounding * (b0 + b1 + bound), state.t);
}

// θ:       ΔE = (½ − θ) ((M δv, δv) + (K δu, δu)) + ((1 − θ) ρ₀ + θ ρ₁, δu)
// Newmark: ΔE = (½ − γ) (K δu, δu) + h (β − γ/2) (K δu − ρ₁ + ρ₀, δv) + ((1 − γ) ρ₀ + γ ρ₁, δu)
void ImplicitScheme::note_identity(const StepState& state) {
  const double* const q0 = start_.data();
  const double* const q1 = state.y.data();
  mean_.swap(reaction_);  // ρ₀
  for (int i = 0; i < n_; ++i) {
    const double a = (xi_[i] - base_[i]) / (c_.h * c_.theta);
    loads_[i] = a;
  }
  apply_mass(mass_.data(), loads_.data(), reaction_.data());
  for (int i = 0; i < n_; ++i) reaction_[i] -= force_[i];  // ρ₁
  if (!conservative_) return;
  const bool newmark = numbers_.formula == StepFormula::newmark;
  const double gamma = c_.theta, lag = newmark ? c_.h * (numbers_.beta - gamma / 2) : 0;
  double change = 0, said = 0, size = 0;
  for (int i = 0; i < n_; ++i) loads_[i] = q1[n_ + i] - q0[n_ + i];
  apply_mass(mass_.data(), loads_.data(), product_.data());
  for (int i = 0; i < n_; ++i) loads_[i] = q1[n_ + i] + q0[n_ + i];
  apply_mass(mass_.data(), loads_.data(), product_after_.data());
  for (int i = 0; i < n_; ++i) {
    const double du = q1[i] - q0[i], dv = q1[n_ + i] - q0[n_ + i];
    const double Mdv = product_[i], Msum = product_after_[i];
    const double Kdu = step_force_[i] - force_[i];
    const double kinetic = 0.5 * Msum * dv, potential = -0.5 * (force_[i] + step_force_[i]) * du;
    change += kinetic + potential;
    const double damping = (0.5 - gamma) * (Kdu * du + (newmark ? 0 : Mdv * dv));
    const double reactions = ((1 - gamma) * mean_[i] + gamma * reaction_[i]) * du;
    said += damping + lag * (Kdu - reaction_[i] + mean_[i]) * dv + reactions;
    // What the step changes is a small part of the energies, and has their rounding.
    size += 0.5 * std::abs(Msum) * (std::abs(q0[n_ + i]) + std::abs(q1[n_ + i])) +
            std::abs(force_[i] * q1[i]) + std::abs(step_force_[i] * q0[i]) + std::abs(reactions);
  }
  if (size > 0) identity_.note(std::abs(change - said) / size, 1e-12, state.t);
}

std::vector<StepMonitor*> ImplicitScheme::all_monitors() {
  return {&energy_, &bound_,  &identity_,   &complementarity_, &cone_,
          &unique_, &rounds_, &iterations_, &as_printed_};
}

void ImplicitScheme::monitors(std::vector<Monitor>& out) const {
  for (const StepMonitor* monitor : const_cast<ImplicitScheme*>(this)->all_monitors()) {
    if (monitor->used()) out.push_back(monitor->record());
  }
}

}  // namespace judder::engines
