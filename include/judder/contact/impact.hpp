// Impact of several contacts at one instant.
//
// Before the impact the rows of the closed contacts, of bilateral constraints and of their slips have the
// velocities γ⁻; impulses Λ on these rows change them by A Λ, A = Wᵀ M⁻¹ W. Positions do not move; forces
// that stay finite (springs, friction joints, given normal forces) have no impulse and no row here. Moreau's
// law:
//
//     γ⁺ = A Λ + γ⁻
//     γ_N⁺ + e min(γ_N⁻, 0) ≥ 0   ⟂   Λ_N ≥ 0         (unilateral rows)
//     γ_N⁺ = 0                                        (bilateral rows, Λ_N of any sign)
//     −Λ_T ∈ μ L ∂|γ_T⁺|,  L = Σ_k coupling_k |Λ_k|   (Coulomb, with the slip velocity after)
//
// A contact that already separates takes part with Λ = 0 as one possible answer. Where several velocities
// after the impact satisfy the law, the one of least kinetic energy is returned, so the order of the rows
// does not matter. Energy never rises for e = 0 or without friction; otherwise it can, and `energy_gain` says
// by how much.
//
// The energy change is Λᵀ(γ⁻ − drive) + ½ Λᵀ A Λ; it is the change of kinetic energy when A is symmetric.
//
// docs/theory.md, "Impacts". J. J. Moreau, Unilateral contact and dry friction in finite freedom dynamics, CISM 302
// (1988). Laws that follow the impulse through the impact: impact_path.hpp (one contact), impact_multi.hpp
// (several).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "judder/contact/decision.hpp"
#include "judder/core/laws.hpp"

namespace judder::contact {

/// Friction coefficients that change while the impact goes on. Laws that follow the impulse path ask for them.
class VaryingFriction {
 public:
  VaryingFriction() = default;
  VaryingFriction(const VaryingFriction&) = delete;
  VaryingFriction& operator=(const VaryingFriction&) = delete;
  virtual ~VaryingFriction() = default;
  /// μ of tangential row `tangent` (from 0) that slips with `speed` ≥ 0 in the direction ±1 after the impulses of all rows.
  [[nodiscard]] virtual double coefficient(int tangent, double speed, int direction,
                                           const double* impulse) = 0;
};

/// The law of one contact. A bare restitution means `moreau`.
struct ImpactLaw {
  ImpactType type = ImpactType::moreau;
  double restitution = 0;  ///< e, [0, 1]
  /// λ of γ_T⁺ = λ γ_T⁻, which then replaces Coulomb's law for the contact's own slip; NaN: Coulomb. [−1, 1]
  double tangential = std::numeric_limits<double>::quiet_NaN();
  bool friction = true;  ///< false: no tangential impulse from this contact's normal impulse
  double stiffness = 1;  ///< relative normal stiffness, `stronge` with several contacts; > 0
  double exponent = 1;   ///< η of the normal force ~ compression^η: 1 linear, 1.5 Hertz; `stronge` with
                         ///< several contacts; ≥ 1
};

/// Plain views of the caller's numbers; null pointers mean the default named beside them.
struct ImpactProblem {
  int normals = 0;                   ///< nN: unilateral contacts that are closed, and bilateral rows
  int tangents = 0;                  ///< nT: their slips, and joints whose normal force contains a normal row
  const double* A = nullptr;         ///< n × n by rows
  const double* before = nullptr;    ///< n, γ⁻
  const NormalKind* kind = nullptr;  ///< nN; null: all unilateral
  const ImpactLaw* law = nullptr;    ///< nN; null: `moreau`, e = 0. Of bilateral rows only `friction` is read
  const double* mu = nullptr;        ///< nT, coefficient for impulses at the slip before, ≥ 0
  /// nT, coefficient that holds a slip at rest; a slip whose γ⁻ is exactly zero is at rest. Null: as mu.
  const double* mu_static = nullptr;
  VaryingFriction* friction = nullptr;  ///< null: mu does not change along the path
  /// nT: the first row of the circular cone that this row is a component of; rows of one cone follow each other and share mu, mu_static
  /// and coupling. Null: every row is a cone of its own.
  const int* cone = nullptr;
  const double* coupling = nullptr;  ///< nT × nN by rows, ≥ 0
  const int* contact = nullptr;      ///< nT: normal row of this slip, −1: joint; null: the largest coupling
  const double* drive = nullptr;     ///< n, part of γ⁻ that is not from v (belt, moving wall); null: zero
  const double* velocity_scale = nullptr;  ///< n, floor for the scale of γ in tolerances; null: from γ⁻

  [[nodiscard]] int rows() const { return normals + tangents; }
};

enum class ImpactForm : std::uint8_t { moreau, path, two_phases, energetic };
/// "moreau", "impulse path", "compression and expansion", "energetic, impulses in step".
[[nodiscard]] const char* name(ImpactForm form);

enum class ImpactStatus : std::uint8_t {
  solved,
  solved_unchecked,  ///< too many modes to look for other solutions
  no_solution,       ///< all modes tried, none satisfies the law
  not_found,         ///< too many modes to try them all; none found
  no_form,           ///< the law has no form for slips of several components
  not_finished,  ///< an impulse path was cut after `max_phases`; the rest of it was finished inelastically
};
[[nodiscard]] const char* name(ImpactStatus status);

struct ImpactOptions {
  DecisionOptions decision;     ///< of the complementarity problems inside
  double energy_margin = 1e-9;  ///< rises below this times the largest γ²/A before are rounding; [0, 1e-3]
  int max_phases = 2000;        ///< of an impulse path with several contacts; ≥ 1
};

struct PathResult;  // impact_path.hpp

/// Views into the workspace, valid until its next use.
struct ImpactResult {
  ImpactStatus status = ImpactStatus::not_found;
  ImpactForm form = ImpactForm::moreau;
  bool several_velocities = false;  ///< the law allowed several velocities; the one of least energy was taken
  bool impulses_unique = true;      ///< false: dependent rows share their impulse in more than one way
  int row = -1;                     ///< for a message, where there is no solution
  double energy_change = 0;
  double energy_gain = 0;            ///< > 0: the law created this much energy
  std::span<const RowStatus> mode;   ///< n; status of the rows at the end of the impact
  std::span<const double> impulse;   ///< n, Λ
  std::span<const double> after;     ///< n, γ⁺; exactly 0 where the law says so
  std::span<const double> work;      ///< n, work of each row's impulse on its own velocity
  const PathResult* path = nullptr;  ///< only of form `path`

  [[nodiscard]] bool ok() const {
    return status == ImpactStatus::solved || status == ImpactStatus::solved_unchecked;
  }
};

/// Memory of all impact functions; `resize` is the only place that allocates.
class ImpactWorkspace {
 public:
  ImpactWorkspace();
  ImpactWorkspace(int normals, int tangents) : ImpactWorkspace() { resize(normals, tangents); }
  ~ImpactWorkspace();
  ImpactWorkspace(ImpactWorkspace&&) noexcept;
  ImpactWorkspace& operator=(ImpactWorkspace&&) noexcept;

  void resize(int normals, int tangents);
  /// The same, but what only some laws need is taken at their first use.
  void expect(int normals, int tangents);
  /// As DecisionWorkspace::use.
  void use(Patience* patience);

  struct Memory;
  [[nodiscard]] Memory& memory() { return *memory_; }

 private:
  std::unique_ptr<Memory> memory_;
};

/// Moreau's law for all rows at once; the `type` of each contact's law is not read.
[[nodiscard]] ImpactResult moreau_impact(const ImpactProblem& problem, const ImpactOptions& options,
                                         ImpactWorkspace& workspace);

/// Chooses as docs/theory.md ("Impacts") says, and tells in `form` what it chose. One unilateral contact with at most its own
/// slip, all other rows bilateral and without friction, of type newton, poisson or stronge: the impulse
/// path. Otherwise all rows at once: the energetic form if some contact is `stronge`, else compression and
/// expansion if some contact is `poisson`, else Moreau's. Several contacts of which one has a tangential
/// restitution: Moreau's. Slips of several components have circular cones under Moreau's law and in compression and expansion; the
/// energetic form knows none (`no_form`).
[[nodiscard]] ImpactResult impact(const ImpactProblem& problem, const ImpactOptions& options,
                                  ImpactWorkspace& workspace);

}  // namespace judder::contact
