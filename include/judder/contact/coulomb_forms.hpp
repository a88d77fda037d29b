// Coulomb's law of one contact, written in the five ways of the literature, as residuals.
//
// λ_N is the normal reaction, λ_T the friction force, γ the slip velocity after (both with 1 to 3 components), r = μ λ_N, C(r) the ball of radius r. In all forms
// |λ_T| ≤ r; then
//
//     classical      |λ_T| < r ⇒ γ = 0 ;  |λ_T| = r ⇒ λ_T and γ point in opposite directions
//     variational    ⟨λ_T, Y − γ⟩ + r (|Y| − |γ|) ≥ 0   for every Y
//     reaction       λ_T ∈ ∂S_C(r)(−γ) ,   S_C(r)(X) = r |X| the support function of the ball
//     velocity       −γ ∈ normal cone of C(r) at λ_T ,  that is λ_T = P_C(r)(λ_T − ρ γ) for any ρ > 0
//     cone           X_N ⟨λ_T, γ⟩ ≤ λ_N ⟨X_T, γ⟩   for every X with |X_T| ≤ μ X_N
//
// The forms are equivalent, and hold for impulses with the slip after the impact as they do for forces. "Opposite directions" includes γ = 0 and λ_T = 0:
// the classical form is often printed as λ_T = −k γ, k ≥ 0 (which forbids rest on the edge of the cone) or as γ = −k λ_T (which forbids slip without
// reaction). Those two are here as well, to be compared.
//
// A residual is 0 where its form holds and grows with what is missing, as a share of the sizes of force and slip: a law that is broken altogether has a residual
// around 1. S. Basseville, thesis, Aix-Marseille II 2004, I.2; O. Petcoviciu, thesis, Timișoara 2010, 1.8.
#pragma once

#include <array>
#include <span>

namespace judder::contact {

enum class CoulombForm { classical, variational, reaction, velocity, cone };
inline constexpr std::array<CoulombForm, 5> kCoulombForms{CoulombForm::classical, CoulombForm::variational,
                                                          CoulombForm::reaction, CoulombForm::velocity,
                                                          CoulombForm::cone};
[[nodiscard]] const char* name(CoulombForm form);

struct FrictionState {
  double normal = 0;                   ///< λ_N
  std::span<const double> tangential;  ///< λ_T
  std::span<const double> slip;        ///< γ, as many components
  double mu = 0;                       ///< ≥ 0
  /// Sizes that forces and slips are compared with; 0: those of this state alone.
  double force_size = 0;
  double slip_size = 0;
};

[[nodiscard]] double residual(CoulombForm form, const FrictionState& state);

/// The left side of the variational form at one Y.
[[nodiscard]] double variational_value(const FrictionState& state, std::span<const double> y);
/// λ_N ⟨X_T, γ⟩ − X_N ⟨λ_T, γ⟩ of the cone form at one X.
[[nodiscard]] double cone_value(const FrictionState& state, double x_normal,
                                std::span<const double> x_tangential);

/// The classical form with λ_T = −k γ, and with γ = −k λ_T, on the edge of the cone.
[[nodiscard]] double residual_force_along_slip(const FrictionState& state);
[[nodiscard]] double residual_slip_along_force(const FrictionState& state);

}  // namespace judder::contact
