// Dry friction under fast vibration: what the slow motion feels.
//
// A slip velocity γ = v + w(t) has a slow part v and a fast periodic part w of mean zero, the dither. Averaged over one period of w,
// friction is a smooth function of v, whatever jumps it has itself. With ⟨·⟩ the mean over a period, u = v + w and everything per unit of load:
//
//     coulomb, arctan    R̄ = ⟨μ(|u|) sign u⟩ + c v                                            (2.25)
//     lugre              Z = v/⟨σ0 |u|/μ(u)⟩                                                   (2.21)
//                        R̄ = σ0 Z + ⟨σ1(u) (u − σ0 |u| Z/μ(u))⟩ + c v                          (2.20)
//     elastoplastic      the same with |u| times α(Z, u), Z the root of v = ⟨α σ0 |u|/μ⟩ Z
//     penalty            k Z = ⟨cut(k Z + d u)⟩
//
// This is the limit of infinitely fast dither: the bristle does not have time to follow it. For a square wave the mean has two terms, for
// a sine and a constant coefficient it is elementary,
//
//     ⟨|u|⟩ = (2 W sin θ + v (π − 2θ))/π ,  θ = arccos(v/W) for |v| ≤ W, and |v| beyond          (2.30 with its 1/π, 2.31)
//
// everything else is integrated numerically. `held_mean` gives the mean at the true frequency instead, from the periodic motion of
// the bristle; `filtered_run` (analysis/dither_run.hpp) simulates the whole model.
//
// Steady sliding at the mean slip velocity v of a structure M q̈ + C q̇ + K q = −drag R is stable if all eigenvalues of its linearisation,
// with the averaged bristle as one more state, have negative real parts (2.33 to 2.39; the structure of the source is one mass and one spring).
//
// A law may be long, and each of these functions asks it often. Whoever may want to leave gives the curve a Patience (FrictionCurve::use): it is asked with the
// law, and by eliminations and eigenvalues of large structures.
//
// Petcoviciu 2010, chapter 2, with the corrections told in gallery/dither-square and docs/dither.md.
#pragma once

#include <complex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judder/model/compile.hpp"
#include "judder/model/friction.hpp"

namespace judder::analysis {

enum class Wave { none, square, sine, other };
[[nodiscard]] const char* name(Wave wave);

/// The dither velocity w over one period.
struct Dither {
  Wave wave = Wave::none;
  double amplitude = 0;         ///< W: of the square or sine; else the largest |w|
  double frequency = 0;         ///< rad per unit of time
  std::vector<double> samples;  ///< `other`: w/W at the middles of equal parts of a period

  /// w at a phase in [0, 1): W, then −W; W cos(2π phase); the samples, joined by straight lines where they do not jump.
  [[nodiscard]] double at(double phase) const;
  /// Between sample i and the next: a change far beyond those beside it.
  [[nodiscard]] bool jumps(std::size_t i) const;
};

/// Averaged friction at one slow slip velocity.
struct Averaged {
  double resistance = 0;  ///< R̄, opposes v
  double bristle = 0;     ///< Z
  double slope = 0;       ///< dR̄/dv with the bristle at its equilibrium
  // The averaged dynamics Ż = rate(v, Z), R̄(v, Z), linearised:
  double rate_v = 0, rate_z = 0;  ///< both 0 without a bristle
  double force_v = 0, force_z = 0;
};

[[nodiscard]] Averaged averaged(model::FrictionCurve& curve, const Dither& dither, double v);

/// The mean of the steady resistance over the dither, as if friction had no memory (2.25).
[[nodiscard]] double memoryless_mean(model::FrictionCurve& curve, const Dither& dither, double v);

/// ⟨|v + W cos|⟩ in closed form.
[[nodiscard]] double mean_speed_of_sine(double v, double amplitude);

/// Mean resistance at the held mean slip velocity v and the frequency of the dither: over one period of the periodic motion of the
/// bristle, found by integration (Runge-Kutta of order 4, `steps` per period, even; exponential steps where the bristle relaxes within one).
/// NaN if no such motion is found in 120 periods.
[[nodiscard]] double held_mean(model::FrictionCurve& curve, const Dither& dither, double v, int steps = 4000);

/// Ranges of v in [from, to] where R̄ falls with v: scanned at `points` places, borders refined by bisection.
[[nodiscard]] std::vector<std::pair<double, double>> falling_zones(model::FrictionCurve& curve,
                                                                   const Dither& dither, double from,
                                                                   double to, int points = 4000);

/// M q̈ + C q̇ + K q = −drag R, slip velocity slip·q̇ + …: the model without the friction law, linearised at its start.
struct SlidingStructure {
  std::vector<double> mass, damping, stiffness;  ///< n×n, row-major
  std::vector<double> slip, drag;                ///< n
};

/// Eigenvalues of steady sliding at v, by falling real part. Empty if they could not be computed.
[[nodiscard]] std::vector<std::complex<double>> sliding_eigenvalues(const SlidingStructure& structure,
                                                                    model::FrictionCurve& curve,
                                                                    const Dither& dither, double v);

/// Amplitudes W in [0, most] for which steady sliding at v is unstable: scanned with `step`, borders refined by bisection.
[[nodiscard]] std::vector<std::pair<double, double>> unstable_amplitudes(const SlidingStructure& structure,
                                                                         model::FrictionCurve& curve,
                                                                         Dither dither, double v, double most,
                                                                         double step);

/// Slip velocities in [from, to] at which steady sliding is unstable, likewise.
[[nodiscard]] std::vector<std::pair<double, double>> unstable_speeds(const SlidingStructure& structure,
                                                                     model::FrictionCurve& curve,
                                                                     const Dither& dither, double from,
                                                                     double to, int points = 1000);

/// Harmonics of a LuGre bristle whose slip velocity is v + w(t), without reversal of the bristle equation's coefficients being needed:
///
///     z = X₀ + Σ X_n cos nΩt − Σ Y_n sin nΩt ,     i n Ω z_n + Σ_k p_{n−k} z_k = u_n ,   p = σ0 |u|/μ(u)            (2.8, 2.9)
///
/// The phase is that of `Dither::at`. Smooth coefficients (|w| < v) converge faster than any power of 1/H, others slowly.
struct Harmonics {
  std::vector<double> cosine, sine;  ///< X_0 … X_H; Y_0 = 0, Y_1 … Y_H
  double mean = 0;                   ///< mean resistance (2.10)
  double last = 0;                   ///< |z_H|/|z_0|: what was cut off
};
/// Nothing for laws other than lugre, for H < 1, or without dither.
[[nodiscard]] std::optional<Harmonics> harmonic_balance(model::FrictionCurve& curve, const Dither& dither,
                                                        double v, int harmonics);

/// A friction law of a model with the dither that its file gives it.
struct DitherStudy {
  std::string law;       ///< name of the joint or contact
  model::System system;  ///< the model
  int relation = 0;
  Dither dither;
  SlidingStructure structure;
};
struct DitherProblem {
  std::string message, help;
  bool in_model =
      false;  ///< the model has no friction law, or no dither; otherwise it was not asked for rightly
};

/// Finds the dither of a law: the part of its slip velocity that repeats with the shortest period of the model, or with the common one of those up to eight
/// times as long (a wave with its harmonics), from the slip as it is written (a belt, `X' + W*sign(sin(Om*t))`) and from forces of that period (∫ W_T M⁻¹ h dt).
/// Forces that are not faster than the structure are no dither. `law` may be empty if the model has one law.
/// Nothing, too, if it was cancelled from outside (CompileOptions::cancel).
[[nodiscard]] std::optional<DitherStudy> dither_study(const model::Spec& spec,
                                                      const model::CompileOptions& options,
                                                      const std::string& law, DitherProblem& problem);

}  // namespace judder::analysis
