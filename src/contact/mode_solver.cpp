#include "mode_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace judder::contact {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Larger coefficients are taken for this one: the motion is the same to the last bit, and products with them are numbers.
constexpr double kMostCoefficient = 0x1p960;

}  // namespace

Rules plain_rules(const DecisionProblem& problem, DecisionWorkspace::Memory& memory) {
  for (int j = 0; j < problem.tangents; ++j) {
    memory.state[j] = problem.state != nullptr ? problem.state[j] : TangentState::rest;
    memory.slip_mu[j] = problem.mu_slip != nullptr ? problem.mu_slip[j] : 0;
    memory.stick_mu[j] = problem.mu_static != nullptr ? problem.mu_static[j] : memory.slip_mu[j];
    memory.slip_mu_below[j] = problem.mu_slip_below != nullptr ? problem.mu_slip_below[j] : memory.slip_mu[j];
    memory.stick_mu_below[j] =
        problem.mu_static_below != nullptr ? problem.mu_static_below[j] : memory.stick_mu[j];
  }
  return rules_of(memory);
}

void find_scales(const DecisionProblem& problem, DecisionWorkspace::Memory& memory) {
  const int n = problem.rows();
  double* g = memory.weight.data();
  for (int i = 0; i < n; ++i) {
    const double diagonal = std::abs(problem.A[i * n + i]);
    g[i] = diagonal > 0 ? 1 / diagonal : 0;
  }
  // A row without a diagonal entry (a driven or weightless direction) takes its size from the rows it acts
  // on.
  for (int i = 0; i < n; ++i) {
    if (problem.A[i * n + i] != 0) continue;
    double diagonal = 0;
    for (int j = 0; j < n; ++j) {
      const double entry = std::max(std::abs(problem.A[i * n + j]), std::abs(problem.A[j * n + i]));
      if (problem.A[j * n + j] != 0)
        diagonal = std::max(diagonal, entry * entry / std::abs(problem.A[j * n + j]));
    }
    g[i] = diagonal > 0 ? 1 / diagonal : 0;
  }
  double beta = 0;  // β²
  for (int i = 0; i < problem.normals; ++i) beta = std::max(beta, problem.b[i] * problem.b[i] * g[i]);
  if (problem.base != nullptr) {
    for (int j = 0; j < problem.tangents; ++j) {
      const int i = problem.normals + j;
      double force = memory.stick_mu[j] * problem.base[j];
      if (problem.base_below != nullptr)
        force = std::max(force, memory.stick_mu_below[j] * problem.base_below[j]);
      if (g[i] > 0) beta = std::max(beta, force * force / g[i]);
    }
  }
  // What would hold a slip whose direction vanishes is beyond every limit, and no measure of what the others carry. The limit is known where
  // something has pressed the row: a contact that nothing has pressed yet may be pressed by the slip itself.
  constexpr double kBeyond = 1e3;
  for (int j = 0; j < problem.tangents; ++j) {
    const int i = problem.normals + j;
    if (!(g[i] > 0)) continue;
    double limit = problem.base != nullptr ? std::abs(problem.base[j]) : 0;
    for (int k = 0; k < problem.normals && problem.coupling != nullptr && problem.force_scale != nullptr; ++k)
      limit += std::abs(problem.coupling[j * problem.normals + k]) * problem.force_scale[k];
    limit *= kBeyond * std::max({memory.stick_mu[j], memory.slip_mu[j], memory.stick_mu_below[j]});
    double part = problem.b[i] * problem.b[i] * g[i];
    if (limit > 0) part = std::min(part, limit * limit / g[i]);
    beta = std::max(beta, part);
  }
  for (int i = 0; i < n; ++i) {
    memory.force_scale[i] = std::sqrt(beta * g[i]);
    memory.acceleration_scale[i] =
        g[i] > 0 ? std::max(std::sqrt(beta / g[i]), std::abs(problem.b[i])) : std::abs(problem.b[i]);
    if (problem.force_scale != nullptr)
      memory.force_scale[i] = std::max(memory.force_scale[i], problem.force_scale[i]);
    if (problem.acceleration_scale != nullptr) {
      memory.acceleration_scale[i] = std::max(memory.acceleration_scale[i], problem.acceleration_scale[i]);
    }
    memory.inverse_force_scale[i] = memory.force_scale[i] > 0 ? 1 / memory.force_scale[i] : 0;
  }
}

void ModeSolver::assemble(const RowStatus* mode) {
  mode_ = mode;
  count_ = 0;
  sliding_ = 0;
  int* const active = m_.active.data();
  double* const pressed = m_.pressed.data();
  for (int k = 0; k < nN_; ++k) {
    const RowStatus s = mode[k];
    if (s != RowStatus::open) active[count_++] = k;
    pressed[k] = s == RowStatus::closed || s == RowStatus::held_plus ? 1
                 : s == RowStatus::held_minus                        ? -1
                                                                     : 0;
  }
  const int pressing = count_;
  double* const slope = m_.slope.data();
  for (int j = 0; j < nT_; ++j) {
    double c = 0;
    switch (mode[nN_ + j]) {
      case RowStatus::stick:
        active[count_++] = nN_ + j;
        break;
      case RowStatus::slip_plus:
        c = std::min(rules_.slip_mu_below[j], kMostCoefficient);
        break;
      case RowStatus::follows:
        c = std::min(rules_.slip_mu[j], kMostCoefficient);
        break;
      case RowStatus::slip_minus:
        c = -std::min(rules_.slip_mu[j], kMostCoefficient);
        break;
      default:
        break;
    }
    slope[j] = c;
    if (c != 0) m_.sliding[sliding_++] = j;
  }
  find_ease(pressing);
  int* const row = m_.row.data();
  int* const column = m_.column.data();
  for (int r = 0; r < count_; ++r) {
    m_.look();
    const int i = active[r];
    row[r] = i;
    column[r] = i;
    const double* a = p_.A + i * n_;
    double* s = m_.matrix.data() + r * count_;
    for (int q = 0; q < count_; ++q) s[q] = a[active[q]];
    double right = -p_.b[i];
    for (int t = 0; t < sliding_; ++t) {
      const int j = m_.sliding[t];
      const double drag = a[nN_ + j] * slope[j];
      if (p_.base != nullptr) right += drag * base(j);
      if (p_.coupling == nullptr) continue;
      const double* coupling = p_.coupling + j * nN_;
      for (int q = 0; q < pressing; ++q) s[q] -= drag * (coupling[active[q]] * pressed[active[q]]);
    }
    m_.right[r] = right;
  }
}

void ModeSolver::find_ease(int pressing) {
  constexpr double kSteep = 1e3;
  if (m_.eased) std::fill_n(m_.ease.begin(), n_, 1.0);
  m_.eased = false;
  if (p_.coupling == nullptr) return;
  const double* g = m_.weight.data();
  for (int t = 0; t < sliding_; ++t) {
    const int j = m_.sliding[t];
    const double* coupling = p_.coupling + j * nN_;
    for (int q = 0; q < pressing; ++q) {
      const int k = m_.active[q];
      const double friction = m_.slope[j] * coupling[k];
      if (!(friction * friction * g[k] > kSteep * kSteep * g[nN_ + j]) || !(g[nN_ + j] > 0)) continue;
      const double steep = std::abs(friction) * std::sqrt(g[k] / g[nN_ + j]);
      m_.ease[k] = std::min(m_.ease[k], 1 / std::min(steep, kMostCoefficient));
      m_.eased = true;
    }
  }
}

void ModeSolver::eliminate(double rank_tolerance) {
  const int count = count_;
  double* s = m_.matrix.data();
  double* right = m_.right.data();
  const double* g = m_.weight.data();
  int* row = m_.row.data();
  int* column = m_.column.data();
  double threshold = 0;
  rank_ = 0;
  for (int q = 0; m_.eased && q < count; ++q) {
    constexpr double kSteep = 1e3;
    double most = 0;
    for (int r = 0; r < count; ++r)
      most = std::max(most, std::abs(s[r * count + q]) * std::sqrt(g[row[r]]) * std::sqrt(g[column[q]]));
    m_.column_scale[column[q]] = most > kSteep ? 1 / most : 1;
  }
  for (int k = 0; k < count; ++k) {
    m_.look();
    int pivot_row = k, pivot_column = k;
    double largest = -1;
    for (int r = k; r < count; ++r) {
      const double weight = g[row[r]];
      for (int q = k; q < count; ++q) {
        const double entry = m_.eased ? s[r * count + q] * m_.column_scale[column[q]] : s[r * count + q];
        const double measure = entry * entry * weight * g[column[q]];
        if (measure > largest) {
          largest = measure;
          pivot_row = r;
          pivot_column = q;
        }
      }
    }
    if (k == 0) threshold = rank_tolerance * rank_tolerance * std::max(1.0, largest);
    if (!(largest > threshold)) return;
    if (pivot_row != k) {
      for (int q = 0; q < count; ++q) std::swap(s[pivot_row * count + q], s[k * count + q]);
      std::swap(right[pivot_row], right[k]);
      std::swap(row[pivot_row], row[k]);
    }
    if (pivot_column != k) {
      for (int r = 0; r < count; ++r) std::swap(s[r * count + pivot_column], s[r * count + k]);
      std::swap(column[pivot_column], column[k]);
    }
    const double* p = s + k * count;
    for (int r = k + 1; r < count; ++r) {
      double* t = s + r * count;
      const double factor = t[k] / p[k];
      if (factor == 0) continue;
      t[k] = 0;
      for (int q = k + 1; q < count; ++q) t[q] -= factor * p[q];
      right[r] -= factor * right[k];
    }
    ++rank_;
  }
}

// Without looking for pivots, for modes that are clearly regular: false as soon as a diagonal entry is
// below a thousandth of its scale, and then nothing is known.
bool ModeSolver::eliminate_diagonally() {
  const int count = count_;
  double* s = m_.matrix.data();
  double* right = m_.right.data();
  for (int k = 0; k < count; ++k) {
    m_.look();
    const double* p = s + k * count;
    const double pivot = p[k] * m_.weight[m_.row[k]];
    if (!(pivot * pivot > 1e-6)) return false;
    const double inverse = 1 / p[k];
    for (int r = k + 1; r < count; ++r) {
      double* t = s + r * count;
      const double factor = t[k] * inverse;
      if (factor == 0) continue;
      for (int q = k + 1; q < count; ++q) t[q] -= factor * p[q];
      right[r] -= factor * right[k];
    }
  }
  rank_ = count;
  return true;
}

void ModeSolver::factor(const RowStatus* mode, double rank_tolerance) {
  assemble(mode);
  eliminate(rank_tolerance);
}

void ModeSolver::factor(const RowStatus* mode, const ModeFactor& order) {
  assemble(mode);
  // Gather the equations and unknowns in the kept order, then eliminate without looking for pivots.
  const int count = count_;
  double* s = m_.matrix.data();
  rank_ = order.rank_;
  for (int k = 0; k < count; ++k) {
    int r = k, q = k;
    while (m_.row[r] != order.row_[k]) ++r;
    while (m_.column[q] != order.column_[k]) ++q;
    if (r != k) {
      for (int c = 0; c < count; ++c) std::swap(s[r * count + c], s[k * count + c]);
      std::swap(m_.right[r], m_.right[k]);
      std::swap(m_.row[r], m_.row[k]);
    }
    if (q != k) {
      for (int c = 0; c < count; ++c) std::swap(s[c * count + q], s[c * count + k]);
      std::swap(m_.column[q], m_.column[k]);
    }
  }
  for (int k = 0; k < rank_; ++k) {
    m_.look();
    const double* p = s + k * count;
    for (int r = k + 1; r < count; ++r) {
      double* t = s + r * count;
      const double factor = t[k] / p[k];
      if (factor == 0) continue;
      t[k] = 0;
      for (int c = k + 1; c < count; ++c) t[c] -= factor * p[c];
      m_.right[r] -= factor * m_.right[k];
    }
  }
}

void ModeSolver::store(ModeFactor& order) const {
  order.active_ = count_;
  order.rank_ = rank_;
  std::copy_n(m_.row.begin(), count_, order.row_.begin());
  std::copy_n(m_.column.begin(), count_, order.column_.begin());
}

void ModeSolver::slide() {
  double* const force = m_.force.data();
  for (int j = 0; j < nT_; ++j) {
    double limit = p_.base != nullptr ? base(j) : 0;
    if (p_.coupling != nullptr) {
      const double* coupling = p_.coupling + j * nN_;
      for (int k = 0; k < nN_; ++k) {
        limit += coupling[k] * (mode_[k] == RowStatus::held ? std::abs(force[k]) : m_.pressed[k] * force[k]);
      }
    }
    m_.limit[j] = limit;
  }
  for (int t = 0; t < sliding_; ++t) {
    const int j = m_.sliding[t];
    force[nN_ + j] = -m_.slope[j] * m_.limit[j];
  }
}

void ModeSolver::solve() {
  double* const force = m_.force.data();
  for (int i = 0; i < n_; ++i) force[i] = 0;
  const double* s = m_.matrix.data();
  const int* column = m_.column.data();
  for (int k = rank_ - 1; k >= 0; --k) {
    double value = m_.right[k];
    for (int q = k + 1; q < rank_; ++q) value -= s[k * count_ + q] * force[column[q]];
    force[column[k]] = value / s[k * count_ + k];
  }
  slide();
  size_ = 1;
  const double* inverse_scale = m_.inverse_force_scale.data();
  for (int i = 0; i < n_; ++i) size_ = std::max(size_, std::abs(force[i]) * inverse_scale[i]);
}

double ModeSolver::acceleration(int row) const {
  double value = p_.b[row];
  const double* a = p_.A + row * n_;
  for (int k = 0; k < n_; ++k) value += a[k] * m_.force[k];
  return value;
}

void ModeSolver::accelerations() {
  for (int i = 0; i < n_; ++i) m_.acceleration[i] = is_active(mode_[i]) ? 0 : acceleration(i);
}

double ModeSolver::inconsistency() const {
  double worst = 0;
  for (int r = rank_; r < count_; ++r) {
    const double scale = m_.acceleration_scale[m_.row[r]];
    const double left = std::abs(m_.right[r]);
    if (left > 0) worst = std::max(worst, scale > 0 ? left / scale : kInfinity);
  }
  return worst;
}

// What is given of the load of tangential row j, in its mode.
double ModeSolver::base(int j) const {
  return mode_[nN_ + j] == RowStatus::slip_plus && p_.base_below != nullptr ? p_.base_below[j] : p_.base[j];
}

double ModeSolver::bound(int j, double sign, double load, bool with_base) const {
  const bool below = sign < 0;
  if (below && with_base && p_.base_below != nullptr) load += p_.base_below[j] - p_.base[j];
  return (below ? rules_.stick_mu_below[j] : rules_.stick_mu[j]) * load;
}

double ModeSolver::margin(int i) const {
  switch (mode_[i]) {
    case RowStatus::open:
      return acceleration(i);
    case RowStatus::closed:
    case RowStatus::held_plus:
      return m_.force[i];
    case RowStatus::held_minus:
      return -m_.force[i];
    case RowStatus::stick: {
      const int j = i - nN_;
      if (rules_.state[j] == TangentState::tied) return kInfinity;
      return std::min(bound(j, 1, m_.limit[j], true) - m_.force[i],
                      bound(j, -1, m_.limit[j], true) + m_.force[i]);
    }
    case RowStatus::slip_plus:
      return rules_.state[i - nN_] == TangentState::rest ? acceleration(i) : kInfinity;
    case RowStatus::slip_minus:
      return rules_.state[i - nN_] == TangentState::rest ? -acceleration(i) : kInfinity;
    default:
      return kInfinity;
  }
}

bool ModeSolver::reaction_inequalities_hold(double tolerance) const {
  for (int r = 0; r < count_; ++r) {
    const int i = m_.active[r];
    if (!(margin(i) >= -tolerance * force_size(i))) return false;
  }
  return true;
}

bool ModeSolver::acceleration_inequalities_hold(double tolerance) const {
  for (int i = 0; i < n_; ++i) {
    if (is_active(mode_[i])) continue;
    if (!(margin(i) >= -tolerance * m_.acceleration_scale[i])) return false;
  }
  return true;
}

double ModeSolver::worst_acceleration(int& row) const {
  double worst = kInfinity;
  for (int i = 0; i < n_; ++i) {
    if (is_active(mode_[i])) continue;
    const double value = margin(i);
    if (value == kInfinity) continue;
    const double scale = m_.acceleration_scale[i] * size_;
    const double relative = scale > 0 ? value / scale : (value == 0 ? 0 : std::copysign(kInfinity, value));
    if (relative < worst) {
      worst = relative;
      row = i;
    }
  }
  return worst;
}

bool ModeSolver::admissible(const RowStatus* mode, const DecisionOptions& options) {
  assemble(mode);
  if (m_.eased || !eliminate_diagonally()) factor(mode, options.rank_tolerance);
  solve();
  const double tolerance = options.tolerance * size_;
  rigid_ = true;
  if (rank_ == count_)
    return reaction_inequalities_hold(tolerance) && acceleration_inequalities_hold(tolerance);
  // Dependent rows must agree. Their sums are as exact as the tolerance on accelerations asks for.
  if (!(inconsistency() <= std::max(options.tolerance, options.rank_tolerance) * size_)) return false;
  rigid_ = find_null_space();
  if (rigid_ && !acceleration_inequalities_hold(tolerance)) return false;
  double best = 0;
  int row = -1;
  const MarginStatus status = linear_program(true, best, row);
  if (status == MarginStatus::bounded) return best >= -tolerance;
  return status == MarginStatus::unbounded && (rigid_ || smallest_norm(-tolerance));
}

double ModeSolver::relative_margin(const RowStatus* mode, const DecisionOptions& options, int& row) {
  factor(mode, options.rank_tolerance);
  solve();
  row = -1;
  double worst = worst_acceleration(row);
  if (rank_ < count_) {
    rigid_ = find_null_space();
    const double left = inconsistency();
    if (left > std::max(options.tolerance, options.rank_tolerance) * size_) {
      row = m_.row[rank_];
      return -left;
    }
    double best = 0;
    int where = -1;
    const MarginStatus status = linear_program(true, best, where);
    if (status == MarginStatus::infeasible) return -kInfinity;
    if (status == MarginStatus::bounded && best / size_ < worst) {
      worst = best / size_;
      row = where;
    }
    return worst;
  }
  for (int r = 0; r < count_; ++r) {
    const int i = m_.active[r];
    const double value = margin(i);
    if (value == kInfinity) continue;
    const double scale = force_size(i) * size_;
    const double relative = scale > 0 ? value / scale : (value == 0 ? 0 : std::copysign(kInfinity, value));
    if (relative < worst) {
      worst = relative;
      row = i;
    }
  }
  return worst;
}

}  // namespace judder::contact
