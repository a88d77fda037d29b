// Memory and shared steps of the impact laws.
#pragma once

#include <span>
#include <vector>

#include "judder/contact/impact.hpp"

namespace judder::contact {

struct ImpactWorkspace::Memory {
  DecisionWorkspace decision;
  ModeFactor factor;
  int normals = 0;
  int tangents = 0;

  // the problem as the solvers see it
  std::vector<double> coupling, mu, free_velocity;
  std::vector<NormalKind> kind;
  std::vector<TangentState> state;
  std::vector<int> owner;
  std::vector<double> tangential;  // λ of the contact's own slip, NaN for Coulomb

  // results
  std::vector<double> impulse, after, work, trial_impulse, trial_after;
  std::vector<RowStatus> mode, trial_mode;

  void resize(int normal_rows, int tangent_rows);
};

/// Fills coupling (without contacts whose law has no friction), owner, tangential, kind and mu.
void prepare(const ImpactProblem& problem, ImpactWorkspace::Memory& memory);

[[nodiscard]] inline bool is_unilateral(const ImpactProblem& problem, int k) {
  return problem.kind == nullptr || problem.kind[k] == NormalKind::unilateral;
}

/// Λᵀ(γ⁻ − drive) + ½ ΛᵀAΛ.
[[nodiscard]] double energy_change(const ImpactProblem& problem, const double* impulse);

/// One problem of Moreau's kind: find Λ with free velocity f (γ_N⁺ − AΛ plus restitution terms in the normal rows), see
/// `moreau_impact`. Leaves Λ in `impulse`, the mode in `mode`, and AΛ + f in `after`; picks the least energy where the law allows
/// several velocities. The free velocities of `memory.free_velocity` are used.
struct MoreauOutcome {
  ImpactStatus status = ImpactStatus::not_found;
  bool several = false;
  bool unique_impulses = true;
  int row = -1;
};
MoreauOutcome solve_moreau(const ImpactProblem& problem, const DecisionOptions& options,
                           ImpactWorkspace::Memory& memory);

/// Work per row as the mean of velocities before and after, energy change and gain; sets all views.
void publish(const ImpactProblem& problem, const ImpactOptions& options, bool work_known,
             ImpactWorkspace::Memory& memory, ImpactResult& result);

}  // namespace judder::contact
