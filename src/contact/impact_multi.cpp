#include "judder/contact/impact_multi.hpp"

#include <algorithm>
#include <cmath>

#include "impact_memory.hpp"
#include "judder/contact/impact_path.hpp"
#include "path_laws.hpp"

namespace judder::contact {

ImpactResult poisson_impact(const ImpactProblem& problem, const ImpactOptions& options,
                            ImpactWorkspace& workspace) {
  ImpactWorkspace::Memory& memory = workspace.memory();
  memory.provide_phases();
  prepare(problem, memory);
  const int nN = problem.normals;
  const int nT = problem.tangents;
  const int n = problem.rows();
  ImpactResult result;
  result.form = ImpactForm::two_phases;
  const auto note = [&](const MoreauOutcome& outcome) {
    result.status = outcome.status;
    result.several_velocities = result.several_velocities || outcome.several;
    result.impulses_unique = result.impulses_unique && outcome.unique_impulses;
    result.row = outcome.row;
    return outcome.status == ImpactStatus::solved || outcome.status == ImpactStatus::solved_unchecked;
  };

  std::copy_n(problem.before, n, memory.free_velocity.begin());
  bool solved = note(solve_moreau(problem, options.decision, memory));
  std::copy_n(memory.impulse.begin(), n, memory.compression.begin());
  if (solved) {
    const ImpactStatus compression = result.status;
    std::copy_n(memory.after.begin(), n, memory.velocity.begin());
    // Λᵉ_N = e Λᶜ_N + x, x ≥ 0: the part that is due already moves the rows and gives friction its base.
    for (int k = 0; k < nN; ++k) {
      const bool returns = is_unilateral(problem, k) && problem.law != nullptr;
      memory.total[k] = returns ? problem.law[k].restitution * std::max(memory.compression[k], 0.0) : 0;
    }
    for (int i = 0; i < n; ++i) {
      double velocity = memory.after[i];
      for (int k = 0; k < nN; ++k) velocity += problem.A[i * n + k] * memory.total[k];
      memory.free_velocity[i] = velocity;
    }
    for (int j = 0; j < nT; ++j) {
      double base = 0;
      for (int k = 0; k < nN; ++k) base += memory.coupling[j * nN + k] * memory.total[k];
      memory.base[j] = base;
    }
    solved = note(solve_moreau(problem, options.decision, memory));
    if (compression == ImpactStatus::solved_unchecked && solved) result.status = compression;
    for (int k = 0; k < nN; ++k) memory.impulse[k] += memory.total[k];
    for (int i = 0; i < n; ++i) {
      memory.work[i] = 0.5 * memory.compression[i] * (problem.before[i] + memory.velocity[i]) +
                       0.5 * memory.impulse[i] * (memory.velocity[i] + memory.after[i]);
      memory.impulse[i] += memory.compression[i];
    }
  }
  publish(problem, options, solved, memory, result);
  return result;
}

namespace {

// The work of `single_contact` below; `prepare` has been called. False if the impact is not of this kind.
bool isolate_contact(const ImpactProblem& problem, ImpactWorkspace::Memory& memory, SingleContact& single) {
  int contact = -1;
  int slip = -1;
  for (int k = 0; k < problem.normals; ++k) {
    if (!is_unilateral(problem, k)) continue;
    if (contact >= 0) return false;
    contact = k;
  }
  if (contact < 0) return false;
  for (int j = 0; j < problem.tangents; ++j) {
    for (int k = 0; k < problem.normals; ++k) {
      if (problem.coupling[j * problem.normals + k] == 0) continue;
      if (k != contact || slip >= 0) return false;
    }
    if (problem.coupling[j * problem.normals + contact] == 0) return false;
    slip = j;
  }
  if (slip >= 0 && memory.owner[slip] != contact) return false;

  // Eliminate bilateral rows with complete pivoting on the symmetric part; dependent ones drop out.
  constexpr double kDependent = 1e-10;  // share of a row that rounding may leave of it
  const int n = problem.rows();
  double* a = memory.sub_matrix.data();
  std::copy_n(problem.A, n * n, a);
  std::copy_n(problem.before, n, memory.velocity.begin());
  for (int round = 0; round < problem.normals; ++round) {
    int pivot = -1;
    for (int k = 0; k < problem.normals; ++k) {
      if (is_unilateral(problem, k) || !(a[k * n + k] > kDependent * problem.A[k * n + k])) continue;
      if (pivot < 0 ||
          a[k * n + k] / problem.A[k * n + k] > a[pivot * n + pivot] / problem.A[pivot * n + pivot])
        pivot = k;
    }
    if (pivot < 0) break;
    for (int i = 0; i < n; ++i) {
      if (i == pivot) continue;
      const double factor = a[i * n + pivot] / a[pivot * n + pivot];
      if (factor == 0) continue;
      for (int j = 0; j < n; ++j) {
        if (j != pivot) a[i * n + j] -= factor * a[pivot * n + j];
      }
      memory.velocity[i] -= factor * memory.velocity[pivot];
      a[i * n + pivot] = 0;
    }
    for (int j = 0; j < n; ++j) a[pivot * n + j] = 0;
    memory.velocity[pivot] = 0;
  }
  single.contact = contact;
  single.slip = slip;
  PathProblem& path = single.path;
  path.A_NN = a[contact * n + contact];
  path.normal_before = memory.velocity[contact];
  if (slip >= 0) {
    const int t = problem.normals + slip;
    path.A_NT = a[contact * n + t];
    path.A_TN = a[t * n + contact];
    path.A_TT = a[t * n + t];
    path.tangent_before = memory.velocity[t];
    const double coupling = problem.coupling[slip * problem.normals + contact];
    path.mu = memory.mu_slip[slip] * coupling;
    path.mu_static = memory.mu_static[slip] * coupling;
  }
  // What constraints hold altogether moves by no impulse.
  const auto moves = [&](int i, double left) { return left > kDependent * problem.A[i * n + i]; };
  single.held = !moves(contact, path.A_NN);
  return !single.held && (slip < 0 || moves(problem.normals + slip, path.A_TT));
}

// Impulses of the bilateral rows that keep them at zero velocity, by Moreau's problem for these rows alone.
void support(const ImpactProblem& problem, ImpactWorkspace::Memory& memory, int contact, int slip,
             const ImpactOptions& options) {
  const int n = problem.rows();
  const int nN = problem.normals;
  int bilateral = 0;
  for (int k = 0; k < nN; ++k) {
    if (k != contact) memory.others[bilateral++] = k;
  }
  if (bilateral == 0) return;
  for (int r = 0; r < bilateral; ++r) {
    const int i = memory.others[r];
    memory.sub_mode[r] = RowStatus::held;
    memory.sub_kind[r] = NormalKind::bilateral;
    double velocity = problem.before[i] + problem.A[i * n + contact] * memory.impulse[contact];
    if (slip >= 0) velocity += problem.A[i * n + nN + slip] * memory.impulse[nN + slip];
    memory.sub_right[r] = velocity;
    for (int s = 0; s < bilateral; ++s)
      memory.sub_matrix[r * bilateral + s] = problem.A[i * n + memory.others[s]];
  }
  DecisionProblem d;
  d.normals = bilateral;
  d.A = memory.sub_matrix.data();
  d.b = memory.sub_right.data();
  d.kind = memory.sub_kind.data();
  const std::span<const RowStatus> mode(memory.sub_mode.data(), static_cast<std::size_t>(bilateral));
  factor_mode(d, mode, options.decision.rank_tolerance, memory.factor, memory.decision);
  (void)largest_margin(d, mode, memory.factor, memory.decision, memory.sub_force, memory.sub_acceleration);
  for (int r = 0; r < bilateral; ++r) memory.impulse[memory.others[r]] = memory.sub_force[r];
}

// The coefficient of the slip along the path. Bilateral rows follow P and Q linearly.
class FollowedFriction : public PathFriction {
 public:
  FollowedFriction(const ImpactProblem& problem, int contact, int slip, const ImpactOptions& options,
                   ImpactWorkspace::Memory& memory)
      : problem_(problem),
        memory_(memory),
        slip_(slip),
        coupling_(problem.coupling[slip * problem.normals + contact]) {
    const int n = problem.rows();
    ImpactProblem unit = problem;
    std::fill_n(memory.trial_after.begin(), n, 0.0);
    unit.before = memory.trial_after.data();
    const auto respond = [&](double P, double Q, std::vector<double>& share) {
      std::fill_n(memory.impulse.begin(), n, 0.0);
      memory.impulse[contact] = P;
      memory.impulse[problem.normals + slip] = Q;
      support(unit, memory, contact, slip, options);
      std::copy_n(memory.impulse.begin(), n, share.begin());
    };
    respond(1, 0, memory.normal_share);
    respond(0, 1, memory.slip_share);
  }

  double coefficient(double speed, int direction, double P, double Q) override {
    for (int i = 0; i < problem_.rows(); ++i)
      memory_.trial_impulse[i] = memory_.normal_share[i] * P + memory_.slip_share[i] * Q;
    return coupling_ * problem_.friction->coefficient(slip_, speed, direction, memory_.trial_impulse.data());
  }

 private:
  const ImpactProblem& problem_;
  ImpactWorkspace::Memory& memory_;
  int slip_;
  double coupling_;
};

ImpactResult follow_path(const ImpactProblem& problem, PathProblem path, int contact, int slip,
                         const ImpactOptions& options, ImpactWorkspace::Memory& memory) {
  const int n = problem.rows();
  std::optional<FollowedFriction> followed;
  if (slip >= 0 && problem.friction != nullptr) {
    followed.emplace(problem, contact, slip, options, memory);
    path.friction = &*followed;
  }
  memory.path = path_impact(path, problem.law != nullptr ? problem.law[contact] : ImpactLaw{});
  const PathResult& r = memory.path;
  ImpactResult result;
  result.form = ImpactForm::path;
  result.path = &memory.path;
  result.status = r.status;
  for (int i = 0; i < n; ++i) {
    memory.impulse[i] = 0;
    memory.after[i] = 0;
    memory.work[i] = 0;
    memory.mode[i] = i < problem.normals ? RowStatus::held : RowStatus::free;
  }
  memory.impulse[contact] = r.normal_impulse;
  memory.after[contact] = r.normal_after;
  memory.work[contact] = r.normal_work;
  memory.mode[contact] = r.normal_after > 0 ? RowStatus::open : RowStatus::closed;
  if (slip >= 0) {
    const int t = problem.normals + slip;
    memory.impulse[t] = r.tangential_impulse;
    memory.after[t] = r.tangent_after;
    memory.work[t] = r.tangential_work;
    memory.mode[t] = r.slip;
  }
  support(problem, memory, contact, slip, options);
  publish(problem, options, true, memory, result);
  return result;
}

}  // namespace

std::optional<SingleContact> single_contact(const ImpactProblem& problem, ImpactWorkspace& workspace) {
  workspace.memory().provide_phases();
  prepare(problem, workspace.memory());
  SingleContact single;
  if (!isolate_contact(problem, workspace.memory(), single)) return std::nullopt;
  return single;
}

namespace {

ImpactResult no_form(const ImpactProblem& problem, const ImpactOptions& options, ImpactWorkspace& workspace) {
  ImpactWorkspace::Memory& memory = workspace.memory();
  for (int i = 0; i < problem.rows(); ++i) {
    memory.impulse[i] = memory.work[i] = 0;
    memory.after[i] = problem.before[i];
    memory.mode[i] = i < problem.normals ? RowStatus::open : RowStatus::free;
  }
  ImpactResult result;
  result.form = ImpactForm::energetic;
  result.status = ImpactStatus::no_form;
  publish(problem, options, true, memory, result);
  return result;
}

}  // namespace

ImpactResult impact(const ImpactProblem& problem, const ImpactOptions& options, ImpactWorkspace& workspace) {
  bool follows = false, tangential = false;
  ImpactForm several = ImpactForm::moreau;
  for (int k = 0; k < problem.normals; ++k) {
    if (!is_unilateral(problem, k) || problem.law == nullptr) continue;
    if (const PathLaw* law = find_path_law(problem.law[k].type)) {
      follows = true;
      several = std::max(several, law->several);
    }
    tangential = tangential || !std::isnan(problem.law[k].tangential);
  }
  if (follows) {
    ImpactWorkspace::Memory& memory = workspace.memory();
    memory.provide_phases();
    prepare(problem, memory);
    SingleContact single;
    if (isolate_contact(problem, memory, single)) {
      return follow_path(problem, single.path, single.contact, single.slip, options, memory);
    }
    if (single.held) return moreau_impact(problem, options, workspace);  // no law has a path for it
  }
  const bool energetic = !tangential && several == ImpactForm::energetic;
  if (energetic && has_cones(problem)) return no_form(problem, options, workspace);
  if (energetic) return stronge_impact(problem, options, workspace);
  if (!tangential && several == ImpactForm::two_phases) return poisson_impact(problem, options, workspace);
  return moreau_impact(problem, options, workspace);
}

}  // namespace judder::contact
