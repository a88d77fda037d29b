#include "judder/contact/coulomb_forms.hpp"

#include <algorithm>
#include <cmath>

namespace judder::contact {
namespace {

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double length(std::span<const double> a) { return std::sqrt(dot(a, a)); }

/// What the forms are made of. Without any force or slip a size is one: then all is zero anyway.
struct Numbers {
  explicit Numbers(const FrictionState& s)
      : force(length(s.tangential)),
        slip(length(s.slip)),
        radius(s.mu * s.normal),
        power(dot(s.tangential, s.slip)) {
    force_size = std::max({s.force_size, force, std::abs(radius)});
    slip_size = std::max(s.slip_size, slip);
    if (!(force_size > 0)) force_size = 1;
    if (!(slip_size > 0)) slip_size = 1;
  }
  /// By how much the reaction lies outside its cone; a contact that pulls does.
  [[nodiscard]] double outside(const FrictionState& s) const {
    const double normal_size = std::max(std::abs(s.normal), force_size);
    return std::max({0.0, (force - std::max(0.0, radius)) / force_size, -s.normal / normal_size});
  }
  double force, slip, radius, power;
  double force_size = 0, slip_size = 0;
};

}  // namespace

const char* name(CoulombForm form) {
  switch (form) {
    case CoulombForm::classical:
      return "classical";
    case CoulombForm::variational:
      return "variational";
    case CoulombForm::reaction:
      return "reaction";
    case CoulombForm::velocity:
      return "velocity";
    case CoulombForm::cone:
      return "cone";
  }
  return "";
}

double residual(CoulombForm form, const FrictionState& state) {
  const Numbers x(state);
  const double outside = x.outside(state), size = x.force_size * x.slip_size;
  switch (form) {
    case CoulombForm::classical: {
      const double room = std::max(0.0, x.radius - x.force);  // inside the cone there is no slip
      const double against = x.force * x.slip + x.power;      // zero where the directions are opposite
      return std::max({outside, room * x.slip / size, against / size});
    }
    case CoulombForm::variational: {
      // The least value over |Y| ≤ 2 slip_size: the terms with Y grow with its length, and fall where λ_T is too large.
      const double least =
          std::min(0.0, 2 * (x.radius - x.force) * x.slip_size) - (x.power + x.radius * x.slip);
      return std::max({0.0, -least / size, -state.normal > 0 ? outside : 0.0});
    }
    case CoulombForm::reaction: {
      if (x.slip == 0) return outside;
      double away = 0;
      for (std::size_t i = 0; i < state.slip.size(); ++i) {
        const double difference = state.tangential[i] + x.radius * state.slip[i] / x.slip;
        away += difference * difference;
      }
      // The distance counts as far as the slip does: what slips by rounding alone is at rest.
      return std::max(outside, std::sqrt(away) / x.force_size * (x.slip / x.slip_size));
    }
    case CoulombForm::velocity: {
      const double rho = x.force_size / x.slip_size, radius = std::max(0.0, x.radius);
      double reach = 0, away = 0;
      for (std::size_t i = 0; i < state.slip.size(); ++i) {
        const double aim = state.tangential[i] - rho * state.slip[i];
        reach += aim * aim;
      }
      reach = std::sqrt(reach);
      const double shrink = reach > radius ? radius / reach : 1;
      for (std::size_t i = 0; i < state.slip.size(); ++i) {
        const double difference = state.tangential[i] - shrink * (state.tangential[i] - rho * state.slip[i]);
        away += difference * difference;
      }
      return std::max(outside, std::sqrt(away) / x.force_size);
    }
    case CoulombForm::cone:
      // Of all X with X_N = 1 the one against the slip is the worst: ⟨X_T, γ⟩ = −μ |γ|.
      return std::max(outside, (x.power + x.radius * x.slip) / size);
  }
  return 0;
}

double variational_value(const FrictionState& state, std::span<const double> y) {
  double sum = state.mu * state.normal * (length(y) - length(state.slip));
  for (std::size_t i = 0; i < y.size(); ++i) sum += state.tangential[i] * (y[i] - state.slip[i]);
  return sum;
}

double cone_value(const FrictionState& state, double x_normal, std::span<const double> x_tangential) {
  return state.normal * dot(x_tangential, state.slip) - x_normal * dot(state.tangential, state.slip);
}

double residual_force_along_slip(const FrictionState& state) {
  const Numbers x(state);
  const double plain = residual(CoulombForm::classical, state);
  const bool edge = x.force >= x.radius * (1 - 1e-12) && x.force > 0;
  return edge && x.slip == 0 ? std::max(plain, x.force / x.force_size) : plain;
}

double residual_slip_along_force(const FrictionState& state) {
  const Numbers x(state);
  const double plain = residual(CoulombForm::classical, state);
  return x.force == 0 && x.radius == 0 ? std::max(plain, x.slip / x.slip_size) : plain;
}

}  // namespace judder::contact
