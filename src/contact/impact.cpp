#include "judder/contact/impact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "impact_memory.hpp"

namespace judder::contact {

namespace {

constexpr double kSameEnergy = 1e-9;  // relative to the largest γ²/A before the impact
constexpr int kFewContacts = 5;       // up to here listing all modes costs no more than a pivoting method

// Without friction and with symmetric A the problem is convex: its velocities are unique, so one solution is enough.
bool is_convex(const DecisionProblem& d) {
  for (int j = 0; j < d.tangents; ++j) {
    if (d.mu_slip[j] != 0 || d.state[j] == TangentState::tied) return false;
  }
  const int n = d.rows();
  for (int i = 0; i < d.normals; ++i) {
    for (int k = 0; k < i; ++k) {
      const double size = std::sqrt(std::abs(d.A[i * n + i] * d.A[k * n + k]));
      if (std::abs(d.A[i * n + k] - d.A[k * n + i]) > 1e-14 * size) return false;
    }
  }
  return true;
}

// Finds one solution of a convex problem by pivoting. False where it fails, or where dependent rows could share
// their impulse in several ways: then the caller looks at all modes.
bool solve_convex(const DecisionProblem& d, const DecisionOptions& options, ImpactWorkspace::Memory& memory) {
  DecisionOptions one = options;
  one.max_modes = 1;
  const Decision decision = decide(d, one, memory.decision);
  if (!decision.found()) return false;
  const auto n = static_cast<std::size_t>(d.rows());
  double size = 0;
  for (int i = 0; i < d.normals; ++i)
    size = std::max(size, std::abs(d.b[i]) / std::sqrt(std::max(std::abs(d.A[i * d.rows() + i]), 1e-300)));
  std::copy(decision.mode.begin(), decision.mode.end(), memory.mode.begin());
  std::copy(decision.mode.begin(), decision.mode.end(), memory.trial_mode.begin());
  for (int i = 0; i < d.normals; ++i) {
    const double scale = size * std::sqrt(std::abs(d.A[i * d.rows() + i]));
    if (memory.mode[i] == RowStatus::open &&
        std::abs(decision.acceleration[i]) <= options.same_acceleration * scale)
      memory.trial_mode[i] = RowStatus::closed;
  }
  factor_mode(d, {memory.trial_mode.data(), n}, options.rank_tolerance, memory.factor, memory.decision);
  if (!memory.factor.reactions_unique()) return false;
  const std::span<const RowStatus> mode(memory.mode.data(), n);
  factor_mode(d, mode, options.rank_tolerance, memory.factor, memory.decision);
  const MarginResult margin =
      largest_margin(d, mode, memory.factor, memory.decision, memory.impulse, memory.after);
  double largest = 0;
  for (int i = 0; i < d.normals; ++i) largest = std::max(largest, std::abs(memory.impulse[i]));
  return margin.status != MarginStatus::infeasible && margin.margin >= -options.tolerance * largest;
}

}  // namespace

const char* name(ImpactForm form) {
  switch (form) {
    case ImpactForm::moreau:
      return "moreau";
    case ImpactForm::path:
      return "impulse path";
    case ImpactForm::two_phases:
      return "compression and expansion";
    case ImpactForm::energetic:
      return "energetic, impulses in step";
  }
  return "";
}

const char* name(ImpactStatus status) {
  switch (status) {
    case ImpactStatus::solved:
      return "solved";
    case ImpactStatus::solved_unchecked:
      return "solved, uniqueness not checked";
    case ImpactStatus::no_solution:
      return "no solution";
    case ImpactStatus::not_found:
      return "none found, absence not proved";
    case ImpactStatus::not_finished:
      return "impulse path not finished";
    case ImpactStatus::no_form:
      return "no form of the law for several slip components";
  }
  return "";
}

ImpactWorkspace::ImpactWorkspace() : memory_(std::make_unique<Memory>()) {}
ImpactWorkspace::~ImpactWorkspace() = default;
ImpactWorkspace::ImpactWorkspace(ImpactWorkspace&&) noexcept = default;
ImpactWorkspace& ImpactWorkspace::operator=(ImpactWorkspace&&) noexcept = default;
void ImpactWorkspace::resize(int normals, int tangents) {
  memory_->resize(normals, tangents);
  memory_->decision.resize(normals, tangents);
  memory_->provide_phases();
}

void ImpactWorkspace::expect(int normals, int tangents) { memory_->resize(normals, tangents); }
void ImpactWorkspace::use(Patience* patience) {
  memory_->patience = patience;
  memory_->decision.use(patience);
}

void ImpactWorkspace::Memory::resize(int normal_rows, int tangent_rows) {
  if (normal_rows <= normals && tangent_rows <= tangents) return;
  normals = std::max(normals, normal_rows);
  tangents = std::max(tangents, tangent_rows);
  decision.expect(normals, tangents);
  factor.resize(normals + tangents);
  const auto n = static_cast<std::size_t>(normals + tangents);
  coupling.resize(n * n);
  for (auto* v : {&mu, &mu_slip, &mu_static, &free_velocity, &tangential, &impulse, &after, &work,
                  &trial_impulse, &trial_after})
    v->resize(n);
  kind.resize(n);
  state.resize(n);
  owner.resize(n);
  for (auto* v : {&mode, &trial_mode}) v->resize(n);
  for (auto* v : {&base, &impulse_scale}) v->resize(n);
}

void ImpactWorkspace::Memory::provide_phases() {
  const auto n = static_cast<std::size_t>(normals + tangents);
  if (phase_rows == n) return;
  phase_rows = n;
  sub_mode.resize(n);
  for (auto* v : {&compression, &normal_share, &slip_share, &velocity, &deformation, &total, &sub_base,
                  &sub_right, &sub_force, &sub_acceleration, &sub_limit, &sub_margin, &normal_force,
                  &velocity_scale, &deformation_scale}) {
    v->resize(n);
  }
  for (auto* v : {&sub_matrix, &sub_coupling, &share, &limit_share, &response}) v->resize(n * n);
  for (auto* v : {&y, &trial, &slope, &midpoint, &midpoint_old}) v->resize(3 * n);
  table.resize(3 * n * kColumns);
  for (auto* v : {&guard, &guard_scale}) v->resize(2 * n);
  armed.resize(2 * n);
  contacts.resize(n);
  others.resize(n);
  felt.resize(n * n);
  felt_count.resize(n);
  sub_kind.resize(n);
  sub_state.resize(n);
  excluded.resize(n);
  contact_state.resize(n);
}

void ImpactWorkspace::Memory::provide_cones() {
  const auto n = static_cast<std::size_t>(normals + tangents);
  if (weight.size() == n) return;
  for (auto* v : {&weight, &cone_scale, &cone_step, &cone_trial}) v->resize(n);
  cone_matrix.resize(n * n);
  cone_row.resize(n);
  cone_column.resize(n);
}

void prepare(const ImpactProblem& problem, ImpactWorkspace::Memory& memory) {
  const int nN = problem.normals;
  const int nT = problem.tangents;
  for (int k = 0; k < nN; ++k) {
    memory.kind[k] = problem.kind != nullptr ? problem.kind[k] : NormalKind::unilateral;
  }
  for (int j = 0; j < nT; ++j) {
    memory.base[j] = 0;
    double largest = 0;
    memory.owner[j] = -1;
    for (int k = 0; k < nN; ++k) {
      const double c = problem.coupling[j * nN + k];
      if (problem.contact == nullptr && c > largest) {
        largest = c;
        memory.owner[j] = k;
      }
      memory.coupling[j * nN + k] = problem.law != nullptr && !problem.law[k].friction ? 0 : c;
    }
    if (problem.contact != nullptr) memory.owner[j] = problem.contact[j];
    memory.mu_slip[j] = problem.mu != nullptr ? problem.mu[j] : 0;
    memory.mu_static[j] = problem.mu_static != nullptr ? problem.mu_static[j] : memory.mu_slip[j];
    memory.mu[j] = at_rest(problem, j) ? memory.mu_static[j] : memory.mu_slip[j];
    const int k = memory.owner[j];
    memory.tangential[j] = k >= 0 && problem.law != nullptr ? problem.law[k].tangential
                                                            : std::numeric_limits<double>::quiet_NaN();
    memory.state[j] = std::isnan(memory.tangential[j]) ? TangentState::rest : TangentState::tied;
    // A slip that is tied to its contact needs no coefficient, and keeps its coupling whatever `friction`
    // says.
    if (memory.state[j] == TangentState::tied) memory.coupling[j * nN + k] = problem.coupling[j * nN + k];
  }
}

double energy_change(const ImpactProblem& problem, const double* impulse) {
  const int n = problem.rows();
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    double velocity = problem.before[i] - (problem.drive != nullptr ? problem.drive[i] : 0);
    double change = 0;
    for (int k = 0; k < n; ++k) change += problem.A[i * n + k] * impulse[k];
    sum += impulse[i] * (velocity + 0.5 * change);
  }
  return sum;
}

MoreauOutcome solve_moreau(const ImpactProblem& problem, const DecisionOptions& options,
                           ImpactWorkspace::Memory& memory) {
  DecisionProblem d;
  d.normals = problem.normals;
  d.tangents = problem.tangents;
  d.A = problem.A;
  d.b = memory.free_velocity.data();
  d.kind = memory.kind.data();
  d.state = memory.state.data();
  d.mu_slip = memory.mu.data();
  d.base = memory.base.data();
  d.coupling = memory.coupling.data();
  const int n = problem.rows();
  if (problem.velocity_scale != nullptr) {
    for (int i = 0; i < n; ++i) {
      const double a = std::abs(problem.A[i * n + i]);
      memory.impulse_scale[i] = a > 0 ? problem.velocity_scale[i] / a : 0;
    }
    d.acceleration_scale = problem.velocity_scale;
    d.force_scale = memory.impulse_scale.data();
  }
  MoreauOutcome outcome;
  if (has_cones(problem)) return solve_cones(problem, memory);
  if (problem.normals > kFewContacts && is_convex(d) && solve_convex(d, options, memory)) {
    outcome.status = ImpactStatus::solved;
    return outcome;
  }
  const Decision decision = decide(d, options, memory.decision);
  outcome.row = decision.row;
  outcome.unique_impulses = decision.reactions_unique;
  switch (decision.verdict) {
    case Verdict::inconsistent:
      outcome.status = ImpactStatus::no_solution;
      break;
    case Verdict::not_found:
      outcome.status = ImpactStatus::not_found;
      break;
    case Verdict::found_unchecked:
      outcome.status = ImpactStatus::solved_unchecked;
      break;
    default:
      outcome.status = ImpactStatus::solved;
  }
  std::copy(decision.force.begin(), decision.force.end(), memory.impulse.begin());
  std::copy(decision.acceleration.begin(), decision.acceleration.end(), memory.after.begin());
  std::copy(decision.mode.begin(), decision.mode.end(), memory.mode.begin());
  if (decision.verdict != Verdict::indeterminate) return outcome;

  // Equal energies are told apart by what does not depend on the order of the rows: sticking and closed
  // rows, then margin.
  outcome.several = true;
  double scale = 0;
  for (int i = 0; i < n; ++i) {
    const double a = std::abs(problem.A[i * n + i]);
    if (a > 0) scale = std::max(scale, problem.before[i] * problem.before[i] / a);
  }
  double least = std::numeric_limits<double>::infinity();
  double best_margin = 0;
  int best_score = -1;
  for (int c = 0; c < decision.candidates; ++c) {
    const std::span<const RowStatus> mode = decision.candidate(c);
    factor_mode(d, mode, options.rank_tolerance, memory.factor, memory.decision);
    const MarginResult margin =
        largest_margin(d, mode, memory.factor, memory.decision, memory.trial_impulse, memory.trial_after);
    if (margin.status == MarginStatus::infeasible) continue;
    const double energy = energy_change(problem, memory.trial_impulse.data());
    int score = 0;
    for (const RowStatus s : mode) score += s == RowStatus::stick ? n + 1 : s == RowStatus::closed ? 1 : 0;
    const double difference = energy - least;
    const bool equal = std::abs(difference) <= kSameEnergy * scale;
    const bool better =
        equal ? score > best_score || (score == best_score && margin.margin > best_margin) : difference < 0;
    if (!better) continue;
    least = energy;
    best_score = score;
    best_margin = margin.margin;
    outcome.unique_impulses = memory.factor.reactions_unique();
    std::copy_n(memory.trial_impulse.begin(), n, memory.impulse.begin());
    std::copy_n(memory.trial_after.begin(), n, memory.after.begin());
    std::copy(mode.begin(), mode.end(), memory.mode.begin());
  }
  return outcome;
}

namespace {

/// Whether what was found is an answer to the data at all, computed from these alone: numbers, impulses that make the velocities, contacts that do not
/// pull, and friction within its limit. Who has computed it looks closely at all that already; this is for data at which their arithmetic breaks.
bool answers(const ImpactProblem& problem, const ImpactWorkspace::Memory& memory) {
  constexpr double kGross = 1e-6;
  const int n = problem.rows(), nN = problem.normals;
  double size = 0;  // of an impulse times the root of its inertia
  for (int i = 0; i < n; ++i) {
    const double a = problem.A[i * n + i];
    if (!std::isfinite(memory.impulse[i]) || !std::isfinite(memory.after[i])) return false;
    if (a > 0) size = std::max(size, std::abs(problem.before[i]) / std::sqrt(a));
  }
  for (int i = 0; i < n; ++i) {
    const double root = std::sqrt(std::max(problem.A[i * n + i], 0.0));
    double after = problem.before[i], scale = std::abs(problem.before[i]) + root * size;
    if (problem.velocity_scale != nullptr) scale += problem.velocity_scale[i];
    for (int k = 0; k < n; ++k) {
      const double part = problem.A[i * n + k] * memory.impulse[k];
      after += part;
      scale += std::abs(part);
    }
    if (!(std::abs(after - memory.after[i]) <= kGross * scale)) return false;
    const double allowed = root > 0 ? kGross * scale / (root * root) : scale;
    if (i < nN) {
      if (is_unilateral(problem, i) && memory.impulse[i] < -allowed) return false;
      continue;
    }
    const int j = i - nN;
    if (problem.friction != nullptr || memory.state[j] == TangentState::tied) continue;
    double load = 0;
    bool presses =
        true;  // a constraint may be pressed on both sides in turn: its impulse is no measure of that
    for (int k = 0; k < nN; ++k) {
      const double c = memory.coupling[j * nN + k];
      presses = presses && (c == 0 || is_unilateral(problem, k));
      load += c * std::abs(memory.impulse[k]);
    }
    if (!presses) continue;
    const double limit = std::max(memory.mu_slip[j], memory.mu_static[j]) * load;
    if (std::abs(memory.impulse[i]) > (1 + kGross) * limit + allowed) return false;
  }
  return true;
}

}  // namespace

void publish(const ImpactProblem& problem, const ImpactOptions& options, bool work_known,
             ImpactWorkspace::Memory& memory, ImpactResult& result) {
  if (result.ok() && !answers(problem, memory)) result.status = ImpactStatus::not_found;
  const int n = problem.rows();
  const auto size = static_cast<std::size_t>(n);
  double total = 0;
  double scale = 0;
  for (int i = 0; i < n; ++i) {
    if (!work_known) memory.work[i] = 0.5 * memory.impulse[i] * (problem.before[i] + memory.after[i]);
    total += memory.work[i];
    const double inertia = std::abs(problem.A[i * n + i]);
    if (inertia > 0) scale = std::max(scale, problem.before[i] * problem.before[i] / inertia);
  }
  result.energy_change = energy_change(problem, memory.impulse.data());
  result.energy_gain = total > options.energy_margin * scale ? total : 0;
  result.mode = {memory.mode.data(), size};
  result.impulse = {memory.impulse.data(), size};
  result.after = {memory.after.data(), size};
  result.work = {memory.work.data(), size};
}

namespace {

/// One unilateral row that approaches: closed is its only mode, and nothing needs to be tried. The same bits as by solve_moreau.
bool closes_alone(const ImpactProblem& problem, const ImpactWorkspace::Memory& memory) {
  return problem.normals == 1 && problem.tangents == 0 && memory.kind[0] == NormalKind::unilateral &&
         problem.velocity_scale == nullptr && problem.A[0] > 0 && memory.free_velocity[0] < 0;
}

MoreauOutcome close_alone(const ImpactProblem& problem, ImpactWorkspace::Memory& memory) {
  memory.impulse[0] = -memory.free_velocity[0] / problem.A[0];
  memory.after[0] = 0;
  memory.mode[0] = RowStatus::closed;
  MoreauOutcome outcome;
  outcome.status = ImpactStatus::solved;
  return outcome;
}

}  // namespace

ImpactResult moreau_impact(const ImpactProblem& problem, const ImpactOptions& options,
                           ImpactWorkspace& workspace) {
  ImpactWorkspace::Memory& memory = workspace.memory();
  prepare(problem, memory);
  const int nN = problem.normals;
  const int n = problem.rows();
  for (int i = 0; i < n; ++i) {
    double f = problem.before[i];
    if (i < nN) {
      if (is_unilateral(problem, i) && problem.law != nullptr)
        f += problem.law[i].restitution * std::min(problem.before[i], 0.0);
    } else if (memory.state[i - nN] == TangentState::tied) {
      f -= memory.tangential[i - nN] * problem.before[i];
    }
    memory.free_velocity[i] = f;
  }
  const MoreauOutcome outcome = closes_alone(problem, memory)
                                    ? close_alone(problem, memory)
                                    : solve_moreau(problem, options.decision, memory);
  ImpactResult result;
  result.form = ImpactForm::moreau;
  result.status = outcome.status;
  result.several_velocities = outcome.several;
  result.impulses_unique = outcome.unique_impulses;
  result.row = outcome.row;
  for (int i = 0; i < n; ++i) {
    double after = 0;
    if (memory.mode[i] == RowStatus::closed) {
      after = problem.law != nullptr ? -problem.law[i].restitution * std::min(problem.before[i], 0.0) : 0;
    } else if (memory.mode[i] == RowStatus::stick) {
      after = memory.state[i - nN] == TangentState::tied ? memory.tangential[i - nN] * problem.before[i] : 0;
    } else if (i >= nN || is_unilateral(problem, i)) {
      after = problem.before[i];
      for (int k = 0; k < n; ++k) after += problem.A[i * n + k] * memory.impulse[k];
    }
    memory.after[i] = after;
  }
  publish(problem, options, false, memory, result);
  return result;
}

}  // namespace judder::contact
