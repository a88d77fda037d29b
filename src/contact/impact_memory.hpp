// Memory and shared steps of the impact laws.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "judder/contact/impact.hpp"
#include "judder/contact/impact_path.hpp"
#include "judder/core/patience.hpp"

namespace judder::contact {

/// Columns of the extrapolation table of the energetic impact.
constexpr int kColumns = 4;

struct ImpactWorkspace::Memory {
  DecisionWorkspace decision;
  ModeFactor factor;
  Patience* patience = nullptr;
  int normals = 0;
  int tangents = 0;

  // the problem as the solvers see it
  std::vector<double> coupling, free_velocity, impulse_scale;
  std::vector<double> mu;                  // for the whole impact: at the slip before, static at rest
  std::vector<double> mu_slip, mu_static;  // for laws that follow the path
  std::vector<NormalKind> kind;
  std::vector<TangentState> state;
  std::vector<int> owner;
  std::vector<double> tangential;  // λ of the contact's own slip, NaN for Coulomb

  // results
  std::vector<double> impulse, after, work, trial_impulse, trial_after;
  std::vector<RowStatus> mode, trial_mode;

  // compression and expansion
  std::vector<double> base, compression;

  // impulse path: impulses of all rows per unit of P and of Q
  std::vector<double> normal_share, slip_share;

  // energetic impact: the contacts that carry energy, the rows that follow them, one phase
  std::vector<int> contacts, others;                 // unilateral rows; bilateral rows, then slips
  std::vector<double> velocity, deformation, total;  // γ, δ̂ and Λ at the start of the phase
  std::vector<double> sub_matrix, sub_coupling, sub_base, sub_right, sub_force, sub_acceleration, sub_limit,
      sub_margin;
  std::vector<NormalKind> sub_kind;
  std::vector<TangentState> sub_state;
  std::vector<RowStatus> sub_mode;
  std::vector<std::uint16_t> excluded;
  std::vector<double> share, limit_share, response;  // rows × contacts: dΛ/dΛ_N, dL/dΛ_N, dγ/dΛ_N
  std::vector<int> felt, felt_count;                 // by row: contacts whose impulses it feels
  std::vector<double> normal_force, guard, guard_scale, velocity_scale, deformation_scale;
  std::vector<double> y, trial, table, slope, midpoint, midpoint_old;  // integration
  std::vector<std::uint8_t> contact_state, armed;

  // circular cones
  std::vector<double> weight, cone_scale, cone_matrix, cone_step, cone_trial;
  std::vector<int> cone_row, cone_column;

  PathResult path;

  std::size_t phase_rows = 0;  // size of what the laws other than Moreau's need

  void resize(int normal_rows, int tangent_rows);
  /// Memory of the laws that follow an impact through its phases, taken at their first use.
  void provide_phases();
  void provide_cones();
};

/// Fills coupling (without contacts whose law has no friction), owner, tangential, kind and mu.
void prepare(const ImpactProblem& problem, ImpactWorkspace::Memory& memory);

[[nodiscard]] inline bool is_unilateral(const ImpactProblem& problem, int k) {
  return problem.kind == nullptr || problem.kind[k] == NormalKind::unilateral;
}

/// Rows of the cone that starts at tangential row j; 1 where it is no cone of several.
[[nodiscard]] inline int cone_size(const ImpactProblem& problem, int j) {
  if (problem.cone == nullptr) return 1;
  int size = 1;
  while (j + size < problem.tangents && problem.cone[j + size] == j) ++size;
  return size;
}

/// Exactly zero in every component of its cone: the status of the slip, not a small number.
[[nodiscard]] inline bool at_rest(const ImpactProblem& problem, int j) {
  const int first = problem.cone != nullptr ? problem.cone[j] : j;
  const int size = cone_size(problem, first);
  for (int c = 0; c < size; ++c) {
    if (problem.before[problem.normals + first + c] != 0) return false;
  }
  return true;
}

/// Λᵀ(γ⁻ − drive) + ½ ΛᵀAΛ.
[[nodiscard]] double energy_change(const ImpactProblem& problem, const double* impulse);

/// One problem of Moreau's kind: find Λ with free velocity f (γ_N⁺ − AΛ plus restitution terms in the
/// normal rows), see `moreau_impact`. Leaves Λ in `impulse`, the mode in `mode`, and AΛ + f in `after`;
/// picks the least energy where the law allows several velocities. Uses `memory.free_velocity` and, for
/// limits that are known beforehand, `memory.base`.
struct MoreauOutcome {
  ImpactStatus status = ImpactStatus::not_found;
  bool several = false;
  bool unique_impulses = true;
  int row = -1;
};
MoreauOutcome solve_moreau(const ImpactProblem& problem, const DecisionOptions& options,
                           ImpactWorkspace::Memory& memory);

/// Whether some slip has several components.
[[nodiscard]] bool has_cones(const ImpactProblem& problem);
/// The same problem where slips have several components. Uniqueness is not looked at, unless friction moves no normal row.
MoreauOutcome solve_cones(const ImpactProblem& problem, ImpactWorkspace::Memory& memory);

/// Work per row as the mean of velocities before and after, energy change and gain; sets all views.
void publish(const ImpactProblem& problem, const ImpactOptions& options, bool work_known,
             ImpactWorkspace::Memory& memory, ImpactResult& result);

}  // namespace judder::contact
