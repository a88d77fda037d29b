// A friction law as a function of slip, taken out of its model: for pictures, averages and checks.
//
// The resistance R = −λ_T against a slip velocity γ, with the normal load L, the coefficient μ(|γ|) and the viscous part c:
//
//     coulomb         R = L μ γ/|γ| + c γ ;  at rest |R| ≤ L μ_s
//     arctan          R = L μ (2/π) atan(β γ) + c γ
//     lugre           R = L (σ0 z + σ1 ż) + c γ ,   ż = γ − σ0 |γ| z/μ
//     elastoplastic   the same with the last term times α(z, γ): 0 while the bristle only bends, 1 while it slides
//     penalty         R = the spring and damper k z + d γ, cut at ± L μ, + c γ ;  d ż = R − k z
//
// Engines use the compiled form inside the equations of motion; this one is written a second time from the formulas, and tests hold
// the two against each other. A law may also depend on the state of its model and on the direction of slip: everything but the slip
// velocity is taken as at the start.
//
// H. Olsson, K. J. Åström, C. Canudas de Wit, M. Gäfvert, P. Lischinsky, Friction models and friction compensation, Eur. J.
// Control 4 (1998); P. Dupont, V. Hayward, B. Armstrong, F. Altpeter, Single state elastoplastic friction models, IEEE Trans. Autom.
// Control 47 (2002).
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "judder/core/patience.hpp"
#include "judder/model/system.hpp"

namespace judder::model {

/// The numbers of a law at one slip velocity; those that the law does not have are 0.
struct LawNumbers {
  double load = 1;           ///< L; 1 where it is a reaction
  double mu = 0;             ///< μ at this speed
  double mu_static = 0;      ///< largest coefficient at rest
  double viscous = 0;        ///< c, N s/m
  double stiffness = 0;      ///< σ0 per unit of load; k of penalty
  double damping = 0;        ///< σ1 per unit of load; d of penalty
  double breakaway = 0;      ///< bristle deflection up to which nothing slides
  double beta = 0;           ///< β of arctan, s/m
  double mu_slope = 0;       ///< dμ/d|γ|
  double viscous_slope = 0;  ///< dc/d|γ|
  double damping_slope = 0;  ///< dσ1/d|γ|
};

/// The friction law that a user means: the one of this name, or the only one if the name is empty.
struct ChosenLaw {
  int relation = -1;    ///< −1: `problem` says why
  std::string problem;  ///< one line
  std::string help;     ///< the names there are
  bool none = false;    ///< the model has no friction law at all
};
[[nodiscard]] ChosenLaw choose_law(const System& system, const std::string& name);

/// The force of the law depends on the past.
[[nodiscard]] bool has_bristle(FrictionType type);

/// A law of a system. Not for several threads: it has a Workspace.
class FrictionCurve {
 public:
  /// The relation must have friction (Relation::friction).
  FrictionCurve(const System& system, int relation);
  ~FrictionCurve();
  FrictionCurve(FrictionCurve&&) noexcept;

  /// From here on the law of another relation: who looks at many laws needs one workspace for all of them.
  void take(int relation);
  /// Looked at by `at`, which may throw Abandoned from then on: all that is asked of a law goes through it, and a law may be long.
  void use(Patience* patience) { patience_ = patience; }
  [[nodiscard]] Patience* patience() const { return patience_; }

  [[nodiscard]] FrictionType type() const { return type_; }
  [[nodiscard]] bool load_known() const { return load_known_; }
  [[nodiscard]] bool has_bristle() const { return model::has_bristle(type_); }
  /// Its numbers are the same at every slip velocity.
  [[nodiscard]] bool constant() const;
  [[nodiscard]] LawNumbers at(double slip);

 private:
  FrictionType type_ = FrictionType::none;
  bool load_known_ = false;
  const System* system_;
  const Relation* relation_ = nullptr;
  const Layout* layout_;
  std::unique_ptr<Workspace> work_;
  Patience* patience_ = nullptr;
  std::vector<std::size_t> moved_;            ///< coordinates whose velocities the slip sees
  std::vector<double> slope_;                 ///< of the slip by these
  std::vector<double> velocity_, row_, out_;  ///< the first: of these coordinates, at the start
  double slip_ = 0, square_ = 0;              ///< at the start; |W_T|²
};

/// α(z, γ) of the elastoplastic law in [0, 1]; 1 for every other law.
[[nodiscard]] double sliding_share(FrictionType type, const LawNumbers& law, double slip, double z);
/// ż; 0 without a bristle.
[[nodiscard]] double bristle_rate(FrictionType type, const LawNumbers& law, double slip, double z);
/// R. Without a bristle z is not read; the set-valued law gives 0 at rest.
[[nodiscard]] double resistance(FrictionType type, const LawNumbers& law, double slip, double z);
/// The bristle and the resistance after sliding at this velocity for long. The bristle is 0 where there is none.
[[nodiscard]] double steady_bristle(FrictionType type, const LawNumbers& law, double slip);
[[nodiscard]] double steady_resistance(FrictionType type, const LawNumbers& law, double slip);

/// Whether a law can create energy.
///
/// A coefficient law dissipates where L μ + c |γ| ≥ 0. A bristle stores L σ0 z²/2; what is put in beyond that is, per unit of load and with
/// θ = σ0 z/μ along the slip, μ α θ² |γ| + σ1 (1 − α θ) γ² + (c/L) γ². It is never negative
///   - for any bristle whatever, if σ1 |γ| ≤ 4 μ (Petcoviciu 2010, 2.1);
///   - for |θ| ≤ 1, always: so with a constant μ a bristle that starts unbent never gives energy back that it did not get;
///   - in general for θ up to Θ(γ) = (largest μ at any speed)/μ(γ), the most that the bristle can be bent from other speeds.
struct Dissipation {
  double ratio = 0;  ///< largest σ1 |γ|/(4 μ) over all speeds; infinite if it grows with the speed for ever
  double ratio_speed = 0;  ///< where
  /// Below this speed the first condition holds (infinite: at every speed).
  double any_bristle_below = std::numeric_limits<double>::infinity();
  /// Below this speed no bristle that the law can reach creates energy (infinite: at every speed).
  double reachable_below = std::numeric_limits<double>::infinity();
  double allowed_damping = 0;  ///< the largest σ1 that creates nothing just above reachable_below
  /// Slip velocity at which L μ + c |γ| is negative, NaN: nowhere.
  double negative_at = std::numeric_limits<double>::quiet_NaN();

  [[nodiscard]] bool ok() const;
};

/// Speeds from 1e-12 to 1e12 in the units of the model are looked at, both directions, 32 to a decade; extremes and borders are refined.
[[nodiscard]] Dissipation dissipation(FrictionCurve& curve);

/// "dissipates at every speed; σ1 v/(4 μ) is at most 0.0835, at speed 0.0866": for `explain`.
[[nodiscard]] std::string in_words(const Dissipation& dissipation, FrictionType type);

/// A speed on the scale of the law: where its coefficient (or its bristle damping) does most of its change, or where the viscous part has
/// grown to the dry one; 1 if nothing says.
[[nodiscard]] double typical_speed(FrictionCurve& curve);

}  // namespace judder::model
