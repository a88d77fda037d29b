#include "judder/analysis/dither.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/dense/matrix.hpp"
#include "core/elementary.hpp"

namespace judder::analysis {
namespace {

using model::FrictionCurve;
using model::LawNumbers;

constexpr double kPi = 3.141592653589793;

// Gauss-Legendre on (−1, 1), 16 points.
constexpr std::array<double, 8> kNode{0.0950125098376374, 0.2816035507792589, 0.4580167776572274,
                                      0.6178762444026438, 0.7554044083550030, 0.8656312023878318,
                                      0.9445750230732326, 0.9894009349916499};
constexpr std::array<double, 8> kWeight{0.1894506104550685, 0.1826034150449236, 0.1691565193950025,
                                        0.1495959888165767, 0.1246289712555339, 0.0951585116824928,
                                        0.0622535239386479, 0.0271524594117541};

/// Adds ∫ f over [a, b], component by component.
template <std::size_t N, class F>
void gauss(double a, double b, const F& f, std::array<double, N>& sum) {
  const double half = 0.5 * (b - a), middle = 0.5 * (a + b);
  for (std::size_t i = 0; i < kNode.size(); ++i) {
    for (const double sign : {-1.0, 1.0}) {
      const std::array<double, N> value = f(middle + sign * half * kNode[i]);
      for (std::size_t k = 0; k < N; ++k) sum[k] += half * kWeight[i] * value[k];
    }
  }
}

/// [a, b] in pieces that halve towards a: friction changes most where the slip reverses.
template <std::size_t N, class F>
void graded(double a, double b, const F& f, std::array<double, N>& sum) {
  constexpr int kLevels = 24;
  double far = b;
  for (int i = 0; i < kLevels; ++i) {
    const double near = a + 0.5 * (far - a);
    gauss(std::min(near, far), std::max(near, far), f, sum);
    far = near;
  }
  gauss(std::min(a, far), std::max(a, far), f, sum);
}

/// ⟨f(v + w)⟩ for a function with several values.
template <std::size_t N, class F>
std::array<double, N> mean(const Dither& dither, double v, const F& f) {
  std::array<double, N> out{};
  switch (dither.wave) {
    case Wave::none:
      return f(v);
    case Wave::square: {
      const std::array<double, N> up = f(v + dither.amplitude), down = f(v - dither.amplitude);
      for (std::size_t k = 0; k < N; ++k) out[k] = 0.5 * (up[k] + down[k]);
      return out;
    }
    case Wave::sine: {
      if (dither.amplitude == 0) return f(v);
      const auto along = [&](double theta) { return f(v + dither.amplitude * elementary::cos(theta)); };
      // The integrand has its features where the slip is least: at its zero, or at the end nearest to it.
      const double least = elementary::acos(std::clamp(-v / dither.amplitude, -1.0, 1.0));
      if (least > 0) graded(least, 0.0, along, out);
      if (least < kPi) graded(least, kPi, along, out);
      for (double& x : out) x /= kPi;
      return out;
    }
    case Wave::other: {
      const std::size_t count = dither.samples.size();
      const auto part = [&](double from, double to, double share) {
        // Two points of Gauss in a piece without reversal; so that the mean is smooth in v, no piece goes across zero.
        const double half = 0.5 * (to - from), middle = 0.5 * (from + to), apart = half * 0.5773502691896258;
        const std::array<double, N> low = f(middle - apart), high = f(middle + apart);
        for (std::size_t k = 0; k < N; ++k) out[k] += 0.5 * share * (low[k] + high[k]);
      };
      for (std::size_t i = 0; i < count; ++i) {
        const double from = v + dither.amplitude * dither.samples[i];
        const double to = v + dither.amplitude * dither.samples[(i + 1) % count];
        if (dither.jumps(i)) {
          part(from, from, 0.5);
          part(to, to, 0.5);
        } else if ((from > 0 && to < 0) || (from < 0 && to > 0)) {
          const double share = from / (from - to);
          part(from, 0, share);
          part(0, to, 1 - share);
        } else {
          part(from, to, 1);
        }
      }
      for (double& x : out) x /= static_cast<double>(count);
      return out;
    }
  }
  return out;
}

double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

/// A small change of the slip velocity, for differences: of its own size and that of the dither, at rest without dither of the speeds of the law.
double small_change(FrictionCurve& curve, const Dither& dither, double v) {
  const double size = std::abs(v) + dither.amplitude;
  return 1e-6 * (size > 0 ? size : model::typical_speed(curve));
}

/// The slope of `at` by differences; infinite at a jump: what a slope leaves of the difference shrinks with the distance.
template <class Function>
double slope_of(const Function& at, double v, double dv) {
  const double after = at(v + dv), before = at(v - dv), difference = after - before;
  constexpr double kNotice = 1e-3, kNearer = 1.0 / 1024;
  if (std::abs(difference) > kNotice * std::max(std::abs(after), std::abs(before)) &&
      std::abs(at(v + kNearer * dv) - at(v - kNearer * dv)) > 0.5 * std::abs(difference))
    return std::copysign(std::numeric_limits<double>::infinity(), difference);
  return difference / (2 * dv);
}

/// LuGre: everything is linear in Z.
Averaged averaged_lugre(FrictionCurve& curve, const Dither& dither, double v) {
  struct Names {
    enum : std::size_t {
      relax,
      relax_v,
      elastic,
      damped,
      damped_v,
      slide,
      slide_v,
      viscous,
      viscous_v,
      count
    };
  };
  const auto m = mean<Names::count>(dither, v, [&](double u) {
    const LawNumbers law = curve.at(u);
    const double s = sign_of(u), size = std::abs(u);
    const double quotient = law.stiffness * size / law.mu;
    const double quotient_v = law.stiffness * s / law.mu * (1 - size * law.mu_slope / law.mu);
    std::array<double, Names::count> out{};
    out[Names::relax] = quotient;
    out[Names::relax_v] = quotient_v;
    out[Names::elastic] = law.load * law.stiffness;
    out[Names::damped] = law.load * law.damping * u;
    out[Names::damped_v] = law.load * (law.damping + law.damping_slope * size);
    out[Names::slide] = law.load * law.damping * quotient;
    out[Names::slide_v] = law.load * (law.damping * quotient_v + law.damping_slope * s * quotient);
    out[Names::viscous] = law.viscous * u;
    out[Names::viscous_v] = law.viscous + law.viscous_slope * size;
    return out;
  });
  Averaged out;
  const double limit =
      steady_bristle(curve.type(), curve.at(v), v);  // without dither and at v = 0 the quotient is 0/0
  out.bristle = m[Names::relax] > 0 ? v / m[Names::relax] : limit;
  out.rate_v = 1 - m[Names::relax_v] * out.bristle;
  out.rate_z = -m[Names::relax];
  out.force_v = m[Names::damped_v] - m[Names::slide_v] * out.bristle + m[Names::viscous_v];
  out.force_z = m[Names::elastic] - m[Names::slide];
  out.resistance = m[Names::damped] + m[Names::viscous] + out.force_z * out.bristle;
  // At rest without dither the bristle goes over from one side to the other.
  out.slope = m[Names::relax] > 0 ? out.force_v + out.force_z * out.rate_v / m[Names::relax]
                                  : std::copysign(std::numeric_limits<double>::infinity(), out.force_z);
  return out;
}

/// (Ż, R̄) of a bristle that is averaged at Z.
std::array<double, 2> slow_bristle(FrictionCurve& curve, const Dither& dither, double v, double z) {
  return mean<2>(dither, v, [&](double u) {
    const LawNumbers law = curve.at(u);
    return std::array<double, 2>{bristle_rate(curve.type(), law, u, z), resistance(curve.type(), law, u, z)};
  });
}

/// Laws whose bristle enters nonlinearly: the equilibrium by bisection, derivatives by differences.
Averaged averaged_bristle(FrictionCurve& curve, const Dither& dither, double v) {
  Averaged out;
  double reach = 0;
  for (const double u :
       {v, v + dither.amplitude, v - dither.amplitude, 1e-12 * (std::abs(v) + dither.amplitude)})
    reach = std::max(reach, 2 * std::abs(steady_bristle(curve.type(), curve.at(u == 0 ? 1e-300 : u), 1)));
  const auto equilibrium = [&](double at) {
    double low = -reach, high = reach;
    for (int i = 0; i < 200 && low < high; ++i) {
      const double middle = 0.5 * (low + high);
      if (middle == low || middle == high) break;
      // An unbent bristle that only bends is in balance anywhere: from the side of the motion.
      const double rate = slow_bristle(curve, dither, at, middle)[0];
      (rate > 0 || (rate == 0 && at > 0) ? low : high) = middle;
    }
    return 0.5 * (low + high);
  };
  out.bristle = v == 0 ? 0 : equilibrium(v);
  const double dv = small_change(curve, dither, v), dz = 1e-6 * reach;
  const auto v_plus = slow_bristle(curve, dither, v + dv, out.bristle),
             v_minus = slow_bristle(curve, dither, v - dv, out.bristle);
  const auto z_plus = slow_bristle(curve, dither, v, out.bristle + dz),
             z_minus = slow_bristle(curve, dither, v, out.bristle - dz);
  out.rate_v = (v_plus[0] - v_minus[0]) / (2 * dv);
  out.force_v = (v_plus[1] - v_minus[1]) / (2 * dv);
  out.rate_z = (z_plus[0] - z_minus[0]) / (2 * dz);
  out.force_z = (z_plus[1] - z_minus[1]) / (2 * dz);
  out.resistance = slow_bristle(curve, dither, v, out.bristle)[1];
  const auto at = [&](double x) { return slow_bristle(curve, dither, x, equilibrium(x))[1]; };
  out.slope = slope_of(at, v, dv);
  return out;
}

Averaged averaged_static(FrictionCurve& curve, const Dither& dither, double v) {
  const auto at = [&](double x) {
    return mean<1>(dither, x,
                   [&](double u) { return std::array{resistance(curve.type(), curve.at(u), u, 0)}; })[0];
  };
  Averaged out;
  out.resistance = at(v);
  const double dv = small_change(curve, dither, v);
  out.force_v = (at(v + dv) - at(v - dv)) / (2 * dv);
  out.slope = slope_of(at, v, dv);
  return out;
}

/// Beyond that many relaxation times in a step the explicit method for bristles is not stable.
constexpr double kStiff = 2.5;

/// One over the time in which a bristle relaxes at the slip u.
double relaxation(FrictionType type, const LawNumbers& law, double u) {
  if (type != FrictionType::penalty) return law.stiffness * std::abs(u) / law.mu;
  return law.damping > 0 ? law.stiffness / law.damping : 0;
}

/// The bristle after the time h at constant slip, by its linear relaxation at z: exact for one that relaxes linearly, at rest in the equilibrium for all.
double relaxed(FrictionType type, const LawNumbers& law, double u, double z, double h) {
  const double per_time = relaxation(type, law, u);
  return z - bristle_rate(type, law, u, z) * elementary::expm1(-per_time * h) / per_time;
}

/// Ranges of [from, to] where `wrong` holds, scanned at count + 1 places.
template <class Wrong>
std::vector<std::pair<double, double>> ranges(double from, double to, int count, const Wrong& wrong) {
  std::vector<std::pair<double, double>> out;
  const auto border = [&](double a, double b, bool at_a) {
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (a + b);
      (wrong(middle) == at_a ? a : b) = middle;
    }
    return 0.5 * (a + b);
  };
  bool before = false;
  double last = from;
  for (int i = 0; i <= count; ++i) {
    const double x = from + (to - from) * i / count;
    const bool now = wrong(x);
    if (i == 0 && now) out.push_back({x, x});
    if (i > 0 && now && !before) out.push_back({border(last, x, false), x});
    if (i > 0 && !now && before) out.back().second = border(last, x, true);
    if (i == count && now) out.back().second = x;
    before = now;
    last = x;
  }
  return out;
}

}  // namespace

const char* name(Wave wave) {
  switch (wave) {
    case Wave::none:
      return "none";
    case Wave::square:
      return "square";
    case Wave::sine:
      return "sine";
    case Wave::other:
      return "other";
  }
  return "";
}

double Dither::at(double phase) const {
  switch (wave) {
    case Wave::none:
      return 0;
    case Wave::square:
      return phase < 0.5 ? amplitude : -amplitude;
    case Wave::sine:
      return amplitude * elementary::cos(2 * kPi * phase);
    case Wave::other: {
      const double place =
          phase * static_cast<double>(samples.size()) + static_cast<double>(samples.size()) - 0.5;
      const double before = std::floor(place);
      const auto i = static_cast<std::size_t>(before) % samples.size(), next = (i + 1) % samples.size();
      const double share = place - before;
      if (jumps(i)) return amplitude * samples[share < 0.5 ? i : next];
      return amplitude * (samples[i] + share * (samples[next] - samples[i]));
    }
  }
  return 0;
}

bool Dither::jumps(std::size_t i) const {
  const std::size_t n = samples.size();
  const auto change = [&](std::size_t k) { return std::abs(samples[(k + 1) % n] - samples[k % n]); };
  return change(i) > 0.02 && change(i) > 10 * std::max(change(i + n - 1), change(i + 1));
}

double mean_speed_of_sine(double v, double amplitude) {
  const double speed = std::abs(v);
  if (speed >= amplitude) return speed;
  const double theta = elementary::acos(speed / amplitude);
  return (2 * amplitude * elementary::sin(theta) + speed * (kPi - 2 * theta)) / kPi;
}

Averaged averaged(FrictionCurve& curve, const Dither& dither, double v) {
  if (curve.type() == FrictionType::lugre) return averaged_lugre(curve, dither, v);
  return curve.has_bristle() ? averaged_bristle(curve, dither, v) : averaged_static(curve, dither, v);
}

double memoryless_mean(FrictionCurve& curve, const Dither& dither, double v) {
  return mean<1>(dither, v,
                 [&](double u) { return std::array{steady_resistance(curve.type(), curve.at(u), u)}; })[0];
}

double held_mean(FrictionCurve& curve, const Dither& dither, double v, int steps) {
  if (!curve.has_bristle() || dither.wave == Wave::none) return averaged(curve, dither, v).resistance;
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const double h = 2 * kPi / dither.frequency / steps;
  // At the ends of a step the wave is taken as its limit from inside: a square wave jumps between steps.
  const auto slip = [&](int step, double part) {
    const double inside = std::clamp(part, 1e-9, 1 - 1e-9);
    return v + dither.at((step + inside) / steps);
  };
  double sum = 0;
  const auto period = [&](double z) {
    sum = 0;
    for (int i = 0; i < steps; ++i) {
      const double u0 = slip(i, 0), u1 = slip(i, 0.5), u2 = slip(i, 1);
      const LawNumbers a = curve.at(u0), b = curve.at(u1), c = curve.at(u2);
      const double k1 = bristle_rate(curve.type(), a, u0, z);
      const double k2 = bristle_rate(curve.type(), b, u1, z + 0.5 * h * k1);
      double middle = z + 0.5 * h * k2;
      const double k3 = bristle_rate(curve.type(), b, u1, middle);
      const double k4 = bristle_rate(curve.type(), c, u2, z + h * k3);
      double next = z + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6;
      // A bristle that relaxes within a step: the method above would blow up where this one goes to the equilibrium.
      if (h * relaxation(curve.type(), b, u1) > kStiff) {
        middle = relaxed(curve.type(), b, u1, z, 0.5 * h);
        next = relaxed(curve.type(), b, u1, z, h);
      }
      sum += (resistance(curve.type(), a, u0, z) + 4 * resistance(curve.type(), b, u1, middle) +
              resistance(curve.type(), c, u2, next)) /
             6;
      z = next;
    }
    return z;
  };
  if (curve.type() == FrictionType::lugre) {
    // The period maps z linearly.
    const double at_zero = period(0), at_one = period(1);
    static_cast<void>(period(at_zero / (1 - (at_one - at_zero))));
    return sum / steps;
  }
  double z = averaged(curve, dither, v).bristle, before = std::numeric_limits<double>::infinity();
  double low = -before, high = before, change_low = 0, change_high = 0;
  // Once around moves z towards the motion that repeats, and never past it: what lies between is kept as a bracket. Where that is slow (a bristle
  // that only bends for many periods) the secant through its ends, or its middle, is faster.
  constexpr int kPatience = 40, kMost = 120;
  for (int i = 0; i < kMost; ++i) {
    const double next = period(z);
    if (!std::isfinite(next)) return kNone;
    const double change = std::abs(next - z), size = std::max(std::abs(next), std::abs(z));
    // What is still to go if the change shrinks on as it did.
    const double shrinks = change / before;
    const bool settled = change <= 1e-15 * size || (i > 0 && i < kPatience && shrinks < 1 &&
                                                    change * shrinks / (1 - shrinks) <= 1e-10 * size);
    if (settled || (std::isfinite(low) && std::isfinite(high) && high - low <= 1e-10 * size))
      return sum / steps;
    if (next > z) {
      low = z;
      change_low = next - z;
    } else {
      high = z;
      change_high = next - z;
    }
    before = change;
    if (i < kPatience) {
      z = next;
    } else if (!std::isfinite(low) || !std::isfinite(high)) {
      z += std::ldexp(next - z, i - kPatience + 1);  // further and further, until there is a bracket
    } else {
      const double secant = low - change_low * (high - low) / (change_high - change_low);
      z = i % 2 == 0 && secant > low && secant < high ? secant : 0.5 * (low + high);
    }
  }
  return kNone;
}

std::vector<std::pair<double, double>> falling_zones(FrictionCurve& curve, const Dither& dither, double from,
                                                     double to, int points) {
  return ranges(from, to, points, [&](double v) { return averaged(curve, dither, v).slope < 0; });
}

std::vector<std::complex<double>> sliding_eigenvalues(const SlidingStructure& structure, FrictionCurve& curve,
                                                      const Dither& dither, double v) {
  const std::size_t n = structure.slip.size();
  const std::size_t size = 2 * n + (curve.has_bristle() ? 1 : 0);
  const Averaged law = averaged(curve, dither, v);
  // Unknowns: positions, velocities, bristle. Rows n … 2n − 1 are M⁻¹ (−K, −C − drag F_v slipᵀ, −drag F_Z).
  dense::ComplexMatrix mass(n);
  std::vector<dense::Complex> rows(n * size);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      mass(i, j) = structure.mass[i * n + j];
      rows[i * size + j] = -structure.stiffness[i * n + j];
      rows[i * size + n + j] =
          -structure.damping[i * n + j] - structure.drag[i] * law.force_v * structure.slip[j];
    }
    if (curve.has_bristle()) rows[i * size + 2 * n] = -structure.drag[i] * law.force_z;
  }
  if (!dense::solve(mass, rows, size, curve.patience())) return {};
  dense::ComplexMatrix a(size);
  for (std::size_t i = 0; i < n; ++i) {
    a(i, n + i) = 1;
    for (std::size_t j = 0; j < size; ++j) a(n + i, j) = rows[i * size + j];
    if (curve.has_bristle()) a(2 * n, n + i) = law.rate_v * structure.slip[i];
  }
  if (curve.has_bristle()) a(2 * n, 2 * n) = law.rate_z;
  return dense::eigenvalues(std::move(a), curve.patience());
}

std::vector<std::pair<double, double>> unstable_amplitudes(const SlidingStructure& structure,
                                                           FrictionCurve& curve, Dither dither, double v,
                                                           double most, double step) {
  const int count = std::max(1, static_cast<int>(std::lround(most / step)));
  return ranges(0, most, count, [&](double amplitude) {
    dither.amplitude = amplitude;
    const auto values = sliding_eigenvalues(structure, curve, dither, v);
    return !values.empty() && values.front().real() > 0;
  });
}

std::vector<std::pair<double, double>> unstable_speeds(const SlidingStructure& structure,
                                                       FrictionCurve& curve, const Dither& dither,
                                                       double from, double to, int points) {
  return ranges(from, to, points, [&](double v) {
    const auto values = sliding_eigenvalues(structure, curve, dither, v);
    return !values.empty() && values.front().real() > 0;
  });
}

std::optional<Harmonics> harmonic_balance(FrictionCurve& curve, const Dither& dither, double v,
                                          int harmonics) {
  if (curve.type() != FrictionType::lugre || harmonics < 1 || dither.wave == Wave::none) return std::nullopt;
  const int order = harmonics;
  const int points = std::max(4096, 16 * order);
  // Fourier coefficients of p and u up to 2 H, by the rectangle rule at the middles (spectrally accurate for smooth functions).
  std::vector<double> slip(static_cast<std::size_t>(points)), quotient(slip.size());
  std::vector<LawNumbers> laws(slip.size());
  for (std::size_t i = 0; i < slip.size(); ++i) {
    slip[i] = v + dither.at((static_cast<double>(i) + 0.5) / points);
    laws[i] = curve.at(slip[i]);
    quotient[i] = laws[i].stiffness * std::abs(slip[i]) / laws[i].mu;
  }
  // exp(-2πi n (i + 1/2)/points) is one of 2 points roots of unity.
  std::vector<dense::Complex> roots(2 * slip.size());
  for (std::size_t k = 0; k < roots.size(); ++k)
    roots[k] = std::polar(1.0, -kPi * static_cast<double>(k) / points);
  const auto root = [&](std::size_t n, std::size_t i) { return roots[n * (2 * i + 1) % roots.size()]; };
  const auto coefficient = [&](const std::vector<double>& f, int n) {
    dense::Complex sum = 0;
    for (std::size_t i = 0; i < f.size(); ++i) sum += f[i] * root(static_cast<std::size_t>(n), i);
    return sum / static_cast<double>(points);
  };
  std::vector<dense::Complex> p(static_cast<std::size_t>(2 * order + 1));
  for (std::size_t k = 0; k < p.size(); ++k) p[k] = coefficient(quotient, static_cast<int>(k));
  const auto p_at = [&](int k) {
    return k >= 0 ? p[static_cast<std::size_t>(k)] : std::conj(p[static_cast<std::size_t>(-k)]);
  };
  // Σ p_{n−k} z_k + i n Ω z_n = u_n with z_{−k} the conjugate of z_k = a_k + i b_k: real parts in the rows n, imaginary ones in the rows H + n; a real
  // matrix costs a quarter of a complex one of its size. b_0 is zero, and so is its row.
  const auto count = static_cast<std::size_t>(order + 1);
  dense::RealMatrix a(2 * count - 1);
  std::vector<double> z(a.n);
  for (int n = 0; n <= order; ++n) {
    const auto real = static_cast<std::size_t>(n), imaginary = static_cast<std::size_t>(order + n);
    const dense::Complex u = coefficient(slip, n);
    z[real] = u.real();
    if (n > 0) z[imaginary] = u.imag();
    for (int k = 0; k <= order; ++k) {
      const dense::Complex near = p_at(n - k), far = k == 0 ? dense::Complex(0) : p_at(n + k);
      const auto of_a = static_cast<std::size_t>(k), of_b = static_cast<std::size_t>(order + k);
      a(real, of_a) = near.real() + far.real();
      if (n > 0) a(imaginary, of_a) = near.imag() + far.imag();
      if (k > 0) a(real, of_b) = far.imag() - near.imag();
      if (n > 0 && k > 0) a(imaginary, of_b) = near.real() - far.real();
    }
    if (n == 0) continue;
    a(real, imaginary) -= n * dither.frequency;
    a(imaginary, real) += n * dither.frequency;
  }
  if (!dense::solve(a, z, 1, curve.patience())) return std::nullopt;
  Harmonics out;
  for (std::size_t n = 0; n < count; ++n) {
    out.cosine.push_back(n == 0 ? z[n] : 2 * z[n]);
    out.sine.push_back(n == 0 ? 0 : 2 * z[count - 1 + n]);
  }
  out.last = elementary::hypot(z[count - 1], z.back()) / std::max(std::abs(z[0]), 1e-300);
  // The mean resistance, from z and ż = u − p z along the period.
  for (std::size_t i = 0; i < slip.size(); ++i) {
    double bristle = out.cosine[0];
    for (std::size_t n = 1; n < out.cosine.size(); ++n) {
      const dense::Complex turned = root(n, i);  // cos − i sin
      bristle += out.cosine[n] * turned.real() + out.sine[n] * turned.imag();
    }
    out.mean += resistance(curve.type(), laws[i], slip[i], bristle) / points;
  }
  return out;
}

}  // namespace judder::analysis
