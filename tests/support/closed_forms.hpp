// Motions known in closed form, in long double: oracles that share nothing with the engines.
#pragma once

#include <cmath>
#include <vector>

namespace judder {

using Real = long double;
inline constexpr Real kPiReal = 3.14159265358979323846264338327950288L;

/// The zero of f in [a, b], where f changes its sign: bisection down to neighbouring numbers.
template <class F>
Real zero_between(F f, Real a, Real b) {
  const bool rising = f(b) > 0;
  for (int i = 0; i < 200; ++i) {
    const Real middle = (a + b) / 2;
    if (middle == a || middle == b) break;
    ((f(middle) > 0) == rising ? b : a) = middle;
  }
  return (a + b) / 2;
}

/// x'' + 2δ x' + (ω² + δ²) x = (ω² + δ²)(c0 + c1 (t − t0)), from x0, v0 at t0; ω > 0.
struct Oscillation {
  Real delta, omega, t0, x0, v0, c0, c1;
  void at(Real t, Real& x, Real& v) const {
    const Real square = omega * omega + delta * delta;
    const Real offset = c0 - 2 * delta * c1 / square;  // particular solution: offset + c1 (t − t0)
    const Real a = x0 - offset;
    const Real b = (v0 - c1 + delta * a) / omega;
    const Real s = t - t0;
    const Real e = std::exp(-delta * s);
    const Real c = std::cos(omega * s);
    const Real d = std::sin(omega * s);
    x = offset + c1 * s + e * (a * c + b * d);
    v = c1 + e * ((b * omega - delta * a) * c - (a * omega + delta * b) * d);
  }
  [[nodiscard]] Real speed(Real t) const {
    Real x = 0;
    Real v = 0;
    at(t, x, v);
    return v;
  }
};

/// Zabuga 2017, 4.2: x'' of a mass with spring, damper and Coulomb friction, torn loose by a ramp (gallery: zabuga-oscillator).
struct ZabugaOscillator {
  std::vector<Real> turns;  ///< T1 … T6; at the last it sticks
  Real slip = 0;            ///< t_br
  Real x = 0, v = 0;        ///< at t = 20
};
inline ZabugaOscillator zabuga_oscillator() {
  const Real m = 2;
  const Real k = 3;
  const Real h = static_cast<Real>(0.3);
  const Real limit = static_cast<Real>(0.75) * m * static_cast<Real>(9.81);
  const Real delta = h / m;
  const Real omega = std::sqrt(k / m - delta * delta);
  ZabugaOscillator out;
  Oscillation piece{delta, omega, 0, 85, 225, -limit / k, 0};
  Real x = 0;
  Real v = 0;
  for (int i = 1; i <= 6; ++i) {
    // Half a period between two stops; the first stop comes earlier.
    const Real end = i == 1 ? zero_between([&](Real t) { return piece.speed(t); }, 0.1L, kPiReal / omega)
                            : piece.t0 + kPiReal / omega;
    piece.at(end, x, v);
    out.turns.push_back(end);
    piece = {delta, omega, end, x, 0, (i % 2 == 0 ? -1 : 1) * limit / k, 0};
  }
  out.slip = 16 + (limit + k * x) / 50;
  const Oscillation pulled{delta, omega, out.slip, x, 0, (50 * (out.slip - 16) - limit) / k, 50 / k};
  pulled.at(20, out.x, out.v);
  return out;
}

/// code_aster SDND106 (gallery: sdnd106): two masses and a spring; the first rubs with 3000 N at rest and 2000 N in motion.
struct FrictionPad {
  Real t1 = 0, t3 = 0;                  ///< slip begins, ends
  Real x1 = 0, x2 = 0, v1 = 0, v2 = 0;  ///< at t = 0.34
};
inline FrictionPad friction_pad() {
  const Real m = 5;
  const Real k = 10000;
  const Real pull = 3000;
  const Real rub = 10000 * static_cast<Real>(0.2);
  const Real rest = 10000 * static_cast<Real>(0.3);
  const Real omega = std::sqrt(k / m);
  const Real fast = std::sqrt(2 * k / m);
  const Real until = static_cast<Real>(0.2);  // the pull ends here, at the double nearest to 0.2
  FrictionPad out;
  out.t1 = std::acos(1 - rest / pull) / omega;
  // Sum X of the positions, difference Y.
  struct Pair {
    Real t0, X, VX, Y, VY, force, rub, m, fast;
    void at(Real t, Real& x1, Real& v1, Real& x2, Real& v2) const {
      const Real s = t - t0;
      const Real a = (force - rub) / m;
      const Real sum = X + VX * s + a * s * s / 2;
      const Real sum_rate = VX + a * s;
      const Oscillation o{0, fast, t0, Y, VY, -(force + rub) / m / (fast * fast), 0};
      Real y = 0;
      Real w = 0;
      o.at(t, y, w);
      x1 = (sum + y) / 2;
      v1 = (sum_rate + w) / 2;
      x2 = (sum - y) / 2;
      v2 = (sum_rate - w) / 2;
    }
  };
  const Real x2 = pull / k * (1 - std::cos(omega * out.t1));
  const Real v2 = pull / k * omega * std::sin(omega * out.t1);
  const Pair pulled{out.t1, x2, v2, -x2, -v2, pull, rub, m, fast};
  Real a1 = 0;
  Real b1 = 0;
  Real a2 = 0;
  Real b2 = 0;
  pulled.at(until, a1, b1, a2, b2);
  const Pair coasting{until, a1 + a2, b1 + b2, a1 - a2, b1 - b2, 0, rub, m, fast};
  out.t3 = zero_between(
      [&](Real t) {
        Real x = 0;
        Real v = 0;
        Real y = 0;
        Real w = 0;
        coasting.at(t, x, v, y, w);
        return v;
      },
      0.29L, 0.34L);
  coasting.at(out.t3, a1, b1, a2, b2);
  const Oscillation swing{0, omega, out.t3, a2, b2, a1, 0};
  out.x1 = a1;
  swing.at(static_cast<Real>(0.34), out.x2, out.v2);
  return out;
}

/// x'' = −x + cos 2t above a stop at x = −1/5 with restitution e, from x = 1 at rest: impacts and the state at `until`.
struct StoppedOscillator {
  std::vector<Real> impacts;
  Real x = 0, v = 0;
};
inline StoppedOscillator stopped_oscillator(Real e, Real until) {
  StoppedOscillator out;
  Real t0 = 0;
  Real x0 = 1;
  Real v0 = 0;
  const Real stop = static_cast<Real>(-0.2);
  for (;;) {
    const auto state = [&](Real t, Real& x, Real& v) {
      // x = A cos s + B sin s − cos(2 t)/3
      const Real a = x0 + std::cos(2 * t0) / 3;
      const Real b = v0 - 2 * std::sin(2 * t0) / 3;
      const Real s = t - t0;
      x = a * std::cos(s) + b * std::sin(s) - std::cos(2 * t) / 3;
      v = -a * std::sin(s) + b * std::cos(s) + 2 * std::sin(2 * t) / 3;
    };
    Real hit = -1;
    Real x = 0;
    Real v = 0;
    for (Real t = t0 + 1e-4L; t < until; t += 1e-3L) {
      state(t + 1e-3L, x, v);
      if (x >= stop) continue;
      hit = zero_between(
          [&](Real s) {
            Real position = 0;
            Real speed = 0;
            state(s, position, speed);
            return position - stop;
          },
          t, t + 1e-3L);
      break;
    }
    if (hit < 0 || hit > until) {
      state(until, out.x, out.v);
      return out;
    }
    state(hit, x, v);
    out.impacts.push_back(hit);
    t0 = hit;
    x0 = stop;
    v0 = -e * v;
  }
}

}  // namespace judder
