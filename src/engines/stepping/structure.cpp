#include "judder/engines/structure.hpp"

#include <algorithm>
#include <utility>

namespace judder::engines {

namespace {

using contact::OneStepProblem;
using contact::StepBlock;

SparseMatrix weighted_sum(const SparseMatrix& mass, double m, const SparseMatrix& stiffness, double k) {
  std::vector<SparseEntry> entries;
  for (const auto& [matrix, weight] : {std::pair(&mass, m), std::pair(&stiffness, k)}) {
    for (int i = 0; i < matrix->size && weight != 0; ++i) {
      for (int e = matrix->begin[i]; e < matrix->begin[i + 1]; ++e)
        entries.push_back({i, matrix->column[e], weight * matrix->value[e]});
    }
  }
  return make_sparse(std::max(mass.size, stiffness.size), std::move(entries));
}

// Rows of the contacts: of each the normal coordinate, then its tangential one.
std::vector<int> list_rows(const Structure& structure, std::vector<StepBlock>& blocks) {
  std::vector<int> rows;
  for (const StructureContact& each : structure.contacts) {
    StepBlock block;
    block.slips = each.slip >= 0 ? 1 : 0;
    block.mu = each.mu;
    blocks.push_back(block);
    rows.push_back(each.normal);
    if (each.slip >= 0) rows.push_back(each.slip);
  }
  return rows;
}

// A⁻¹Bᵀ by rows, and W = B A⁻¹Bᵀ.
void find_responses(SparseFactor& factor, int n, const std::vector<int>& rows, std::vector<double>& response,
                    std::vector<double>& W) {
  const std::size_t count = rows.size();
  const auto width = static_cast<std::size_t>(n);
  response.assign(count * width, 0.0);
  W.resize(count * count);
  for (std::size_t r = 0; r < count; ++r) {
    double* x = response.data() + r * width;
    x[rows[r]] = 1;
    factor.solve(x);
  }
  for (std::size_t r = 0; r < count; ++r) {
    for (std::size_t s = 0; s < count; ++s)
      W[r * count + s] = response[s * width + static_cast<std::size_t>(rows[r])];
  }
}

void add_responses(const std::vector<double>& response, std::span<const double> impulse,
                   std::vector<double>& u) {
  for (std::size_t r = 0; r < impulse.size(); ++r) {
    if (impulse[r] == 0) continue;
    const double* x = response.data() + r * u.size();
    for (std::size_t i = 0; i < u.size(); ++i) u[i] += impulse[r] * x[i];
  }
}

double product(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

StructureRest structure_at_rest(const Structure& structure, const contact::OneStepOptions& options) {
  StructureRest out;
  SparseFactor factor;
  if (!factor.factor(structure.stiffness)) {
    out.status = StructureStatus::not_definite;
    return out;
  }
  out.u = structure.load;
  factor.solve(out.u.data());
  std::vector<StepBlock> blocks;
  const std::vector<int> rows = list_rows(structure, blocks);
  std::vector<double> response, W, q;
  find_responses(factor, structure.stiffness.size, rows, response, W);
  for (const StructureContact& each : structure.contacts) {
    q.push_back(each.gap + out.u[each.normal]);
    if (each.slip >= 0) q.push_back(out.u[each.slip]);
  }
  OneStepProblem problem;
  problem.blocks = blocks;
  problem.W = W.data();
  problem.q = q.data();
  contact::OneStepWorkspace workspace;
  const contact::OneStepResult found = contact::solve_one_step(problem, options, workspace);
  out.residual = found.residual_of_q;
  if (!found.ok()) out.status = StructureStatus::contact_not_solved;
  add_responses(response, found.impulse, out.u);
  out.contacts.assign(found.contacts.begin(), found.contacts.end());
  std::size_t row = 0;
  for (const StructureContact& each : structure.contacts) {
    out.normal.push_back(found.impulse[row++]);
    out.tangent.push_back(each.slip >= 0 ? found.impulse[row++] : 0.0);
  }
  return out;
}

StructureRun::StructureRun(const Structure& structure, const StructureOptions& options,
                           std::span<const double> u, std::span<const double> v)
    : structure_(structure), options_(options), u_(u.begin(), u.end()), v_(v.begin(), v.end()) {
  const double h = options_.step;
  switch (options_.scheme) {
    case StructureScheme::theta:
      mass_weight_ = 1 / (options_.theta * options_.theta * h * h);
      break;
    case StructureScheme::newmark:
      mass_weight_ = 1 / (options_.beta * h * h);
      break;
    case StructureScheme::paoli_schatzman:
      mass_weight_ = 1 / (h * h);
      stiffness_weight_ = 0;
      break;
    case StructureScheme::modified:
      mass_weight_ = 1 / (h * h);
      stiffness_weight_ = 0.25;
      break;
  }
  const std::size_t n = u_.size();
  for (std::vector<double>* x : {&a_, &before_, &next_, &right_, &product_, &force_}) x->assign(n, 0.0);
  normal_.assign(structure_.contacts.size(), 0.0);
  tangent_.assign(structure_.contacts.size(), 0.0);
  row_coordinate_ = list_rows(structure_, blocks_);
  q_.assign(row_coordinate_.size(), 0.0);
  guess_.assign(row_coordinate_.size(), 0.0);
  start_acceleration();
  if (status_ != StructureStatus::ok) return;
  if (!factor_.factor(weighted_sum(structure_.mass, mass_weight_, structure_.stiffness, stiffness_weight_))) {
    status_ = StructureStatus::not_definite;
    return;
  }
  find_responses(factor_, structure_.mass.size, row_coordinate_, response_, W_);
}

// M a = L − K u at the start, without contact forces, as the schemes assume of their first step.
void StructureRun::start_acceleration() {
  SparseFactor mass;
  if (!mass.factor(structure_.mass)) {
    status_ = StructureStatus::not_definite;
    return;
  }
  structure_.stiffness.apply(u_.data(), product_.data());
  for (std::size_t i = 0; i < a_.size(); ++i) a_[i] = structure_.load[i] - product_[i];
  mass.solve(a_.data());
  if (!two_steps()) return;
  const double h = options_.step;
  for (std::size_t i = 0; i < u_.size(); ++i) before_[i] = u_[i] - h * v_[i] + 0.5 * h * h * a_[i];
}

// u¹ without contact forces, into next_.
void StructureRun::free_step() {
  const double h = options_.step;
  const std::size_t n = u_.size();
  const double t = options_.theta, b = options_.beta;
  std::vector<double>& inertia = right_;  // times M
  for (std::size_t i = 0; i < n; ++i) {
    if (options_.scheme == StructureScheme::theta)
      inertia[i] = u_[i] / (t * t * h * h) + v_[i] / (t * t * h) + (1 - t) / t * a_[i];
    else if (options_.scheme == StructureScheme::newmark)
      inertia[i] = u_[i] / (b * h * h) + v_[i] / (b * h) + (0.5 - b) / b * a_[i];
    else
      inertia[i] = (2 * u_[i] - before_[i]) / (h * h);
  }
  structure_.mass.apply(inertia.data(), next_.data());
  for (std::size_t i = 0; i < n; ++i) next_[i] += structure_.load[i];
  if (two_steps()) {
    for (std::size_t i = 0; i < n; ++i)
      right_[i] = options_.scheme == StructureScheme::modified ? 0.25 * (2 * u_[i] + before_[i]) : u_[i];
    structure_.stiffness.apply(right_.data(), product_.data());
    for (std::size_t i = 0; i < n; ++i) next_[i] -= product_[i];
  }
  factor_.solve(next_.data());
}

// Slips as displacements: the velocity of the scheme is these times a positive number.
bool StructureRun::contacts() {
  const double h = options_.step, t = options_.theta, b = options_.beta, g = options_.gamma;
  const double R = options_.restitution;
  std::size_t row = 0;
  for (const StructureContact& each : structure_.contacts) {
    const int k = each.normal;
    q_[row++] = two_steps() ? (1 + R) * each.gap + next_[k] + R * before_[k] : each.gap + next_[k];
    if (each.slip < 0) continue;
    const int s = each.slip;
    double known = before_[s];
    if (options_.scheme == StructureScheme::theta) known = u_[s] + (1 - t) * h * v_[s];
    if (options_.scheme == StructureScheme::newmark)
      known = u_[s] + (g - b) / g * h * v_[s] + (0.5 * g - b) / g * h * h * a_[s];
    q_[row++] = next_[s] - known;
  }
  OneStepProblem problem;
  problem.blocks = blocks_;
  problem.W = W_.data();
  problem.q = q_.data();
  problem.guess = guess_.data();
  const contact::OneStepResult found = contact::solve_one_step(problem, options_.contact, workspace_);
  iterations_ += found.iterations;
  if (!found.ok()) {
    status_ = StructureStatus::contact_not_solved;
    return false;
  }
  std::copy(found.impulse.begin(), found.impulse.end(), guess_.begin());
  add_responses(response_, guess_, next_);
  std::fill(force_.begin(), force_.end(), 0.0);
  for (std::size_t r = 0; r < guess_.size(); ++r) force_[row_coordinate_[r]] += guess_[r];
  row = 0;
  for (std::size_t c = 0; c < structure_.contacts.size(); ++c) {
    normal_[c] = guess_[row++];
    tangent_[c] = structure_.contacts[c].slip >= 0 ? guess_[row++] : 0.0;
  }
  return true;
}

// v¹ and a¹ from u¹.
void StructureRun::finish() {
  const double h = options_.step, t = options_.theta, b = options_.beta, g = options_.gamma;
  for (std::size_t i = 0; i < u_.size(); ++i) {
    const double moved = next_[i] - u_[i];
    if (options_.scheme == StructureScheme::theta) {
      const double v = moved / (t * h) - (1 - t) / t * v_[i];
      a_[i] = moved / (t * t * h * h) - v_[i] / (t * t * h) - (1 - t) / t * a_[i];
      v_[i] = v;
    } else if (options_.scheme == StructureScheme::newmark) {
      const double a = moved / (b * h * h) - v_[i] / (b * h) - (0.5 - b) / b * a_[i];
      v_[i] += h * ((1 - g) * a_[i] + g * a);
      a_[i] = a;
    } else {
      v_[i] = (next_[i] - before_[i]) / (2 * h);
      a_[i] = (next_[i] - 2 * u_[i] + before_[i]) / (h * h);
    }
  }
  std::swap(before_, u_);
  std::swap(u_, next_);
}

bool StructureRun::step() {
  if (status_ != StructureStatus::ok) return false;
  free_step();
  if (!contacts()) return false;
  finish();
  time_ += options_.step;
  first_ = false;
  return true;
}

double StructureRun::energy() {
  const bool middle = options_.scheme == StructureScheme::modified && !first_;
  const double h = options_.step;
  for (std::size_t i = 0; i < u_.size(); ++i) {
    next_[i] = middle ? 0.5 * (u_[i] + before_[i]) : u_[i];
    right_[i] = middle ? (u_[i] - before_[i]) / h : v_[i];
  }
  structure_.mass.apply(right_.data(), product_.data());
  double energy = 0.5 * product(right_, product_);
  structure_.stiffness.apply(next_.data(), product_.data());
  energy += 0.5 * product(next_, product_);
  return energy - product(structure_.load, next_);
}

}  // namespace judder::engines
