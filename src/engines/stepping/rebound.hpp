// The damping of a spring and a dashpot side by side that let a mass rebound with a given restitution.
//
//     m ẍ + max(0, c ẋ + k x) = 0 while they touch,   x(0) = 0, ẋ(0) = V;     ζ = c/(2 √(k m))
//
// They do not pull: the mass leaves where the force becomes zero, before the spring has its length again. With β = √|1 − ζ²| it does so at the phase φ, and
//
//     e(ζ) = exp(−(ζ/β) φ) ,   φ = 2 arccos ζ (ζ < 1),   2 arcosh ζ (ζ > 1);      e(1) = exp(−2)
//
// which falls from 1 to 0, like 1/(4ζ²) in the end. T. Schwager, T. Pöschel, Coefficient of restitution and linear-dashpot model revisited, Granular
// Matter 9 (2007).
#pragma once

namespace judder::engines {

/// e(ζ), ζ ≥ 0.
[[nodiscard]] double rebound_of(double damping_ratio);
/// ζ(e), 0 < e ≤ 1: to rounding. e below rebound_of(1e3) gives 1e3.
[[nodiscard]] double damping_ratio_of(double restitution);

}  // namespace judder::engines
