// Reactions of dependent rows: the null space of a mode, the reaction of largest margin, and the smallest
// of them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "mode_solver.hpp"

namespace judder::contact {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNullTolerance =
    1e-8;  // null vectors whose effect is below this part of their size have none

}  // namespace

// The row whose reactions and accelerations all others are measured in: the first that has an inertia.
int ModeSolver::reference() const {
  int row = 0;
  while (row < n_ && !(m_.weight[row] > 0)) ++row;
  return row;
}

// A power of two near √(A_ii/A_00), 0 being the reference: λ_i times it is a reaction of that row. Scaling with it is exact. It does not change when all of
// A changes its unit, and where one row does it changes like that row: the root is rounded downwards, whatever its sign.
double ModeSolver::unit(int row) const {
  const int first = reference();
  if (first == n_ || !(m_.weight[row] > 0)) return 1;
  const int exponent = std::ilogb(m_.weight[first]) - std::ilogb(m_.weight[row]);
  return std::ldexp(1.0, exponent >= 0 ? exponent / 2 : -((1 - exponent) / 2));
}

// A power of two near A_00 √(A_ii/A_00): an acceleration of the row in this unit, beside reactions in theirs, has no unit at all.
double ModeSolver::acceleration_unit(int row) const {
  const int first = reference();
  return first == n_ ? unit(row) : std::ldexp(unit(row), -std::ilogb(m_.weight[first]));
}

bool ModeSolver::find_null_space() {
  const int dimension = count_ - rank_;
  const double* s = m_.matrix.data();
  bool rigid = true;
  provide(m_.null_space, static_cast<std::size_t>(dimension) * static_cast<std::size_t>(n_));
  for (int f = 0; f < dimension; ++f) {
    m_.look();
    double* v = m_.null_space.data() + f * n_;
    std::fill_n(v, n_, 0.0);
    const int free = rank_ + f;
    v[m_.column[free]] = 1 / unit(m_.column[free]);
    for (int k = rank_ - 1; k >= 0; --k) {
      double value = -s[k * count_ + free] * v[m_.column[free]];
      for (int q = k + 1; q < rank_; ++q) value -= s[k * count_ + q] * v[m_.column[q]];
      v[m_.column[k]] = value / s[k * count_ + k];
    }
    for (int t = 0; t < sliding_; ++t) {
      const int j = m_.sliding[t];
      if (p_.coupling == nullptr) break;
      double limit = 0;
      for (int k = 0; k < nN_; ++k) limit += p_.coupling[j * nN_ + k] * (m_.pressed[k] * v[k]);
      v[nN_ + j] = -m_.slope[j] * limit;
    }
    double size = 0;
    for (int i = 0; i < n_; ++i) size = std::max(size, std::abs(v[i]) * unit(i));
    for (int i = 0; i < n_; ++i) {
      if (is_active(mode_[i])) continue;
      double change = 0;
      for (int k = 0; k < n_; ++k) change += p_.A[i * n_ + k] * v[k];
      if (std::abs(change) > kNullTolerance * size * acceleration_unit(i)) rigid = false;
    }
  }
  return rigid;
}

// One inequality: margin of `row`, for a stick row its upper (sign +1: μL − λ) or lower (−1: μL + λ) half.
void ModeSolver::add_inequality(int row, double sign, bool reaction, bool relative) {
  const int dimension = count_ - rank_;
  m_.look();
  double* g = m_.inequality.data() + inequalities_ * dimension;
  const double scale = reaction ? unit(row) : 1 / acceleration_unit(row);
  const auto combination = [&](const double* force, const double* limit) {
    if (!reaction) {
      double change = limit == nullptr ? 0 : p_.b[row];
      for (int k = 0; k < n_; ++k) change += p_.A[row * n_ + k] * force[k];
      return sign * change;
    }
    if (mode_[row] != RowStatus::stick) return sign * force[row];
    const int j = row - nN_;
    double load = 0;
    if (limit != nullptr) {
      load = limit[j];
    } else if (p_.coupling != nullptr) {
      for (int k = 0; k < nN_; ++k) load += p_.coupling[j * nN_ + k] * (m_.pressed[k] * force[k]);
    }
    return bound(j, sign, load, limit != nullptr) - sign * force[row];
  };
  for (int f = 0; f < dimension; ++f) g[f] = scale * combination(m_.null_space.data() + f * n_, nullptr);
  m_.inequality_right[inequalities_] = scale * combination(m_.force.data(), m_.limit.data());
  m_.inequality_weight[inequalities_] = reaction ? scale * (relative ? force_size(row) : 1.0) : 0;
  m_.inequality_row[inequalities_] = row;
  ++inequalities_;
}

// Inequalities on the reactions; with `all`, also those on the accelerations, which matter where reactions
// change them.
bool ModeSolver::collect_inequalities(bool relative, bool all) {
  inequalities_ = 0;
  bool bounded = false;
  provide(m_.inequality, static_cast<std::size_t>(2 * n_ + 1) * static_cast<std::size_t>(count_ - rank_));
  for (int r = 0; r < count_; ++r) {
    const int i = m_.active[r];
    const RowStatus status = mode_[i];
    if (status == RowStatus::held) continue;
    if (status == RowStatus::stick) {
      if (rules_.state[i - nN_] == TangentState::tied) continue;
      add_inequality(i, 1, true, relative);
      add_inequality(i, -1, true, relative);
    } else {
      add_inequality(i, status == RowStatus::held_minus ? -1 : 1, true, relative);
    }
    bounded = true;
  }
  if (all) {
    for (int i = 0; i < n_; ++i) {
      const bool from_rest = i >= nN_ && rules_.state[i - nN_] == TangentState::rest;
      if (mode_[i] == RowStatus::open || (mode_[i] == RowStatus::slip_plus && from_rest)) {
        add_inequality(i, 1, false, relative);
      } else if (mode_[i] == RowStatus::slip_minus && from_rest) {
        add_inequality(i, -1, false, relative);
      }
    }
  }
  return bounded;
}

MarginStatus ModeSolver::linear_program(bool relative, double& best, int& row) {
  std::fill_n(m_.shift.begin(), count_ - rank_, 0.0);
  best = kInfinity;
  row = -1;
  if (!collect_inequalities(relative, !rigid_)) return MarginStatus::unbounded;
  return simplex(best, row);
}

double ModeSolver::spread(double tolerance) {
  collect_inequalities(true, true);
  const int conditions = inequalities_;
  for (int c = 0; c < conditions; ++c) {
    const int i = m_.inequality_row[c];
    const double slack =
        is_active(mode_[i]) ? force_size(i) * unit(i) : m_.acceleration_scale[i] / acceleration_unit(i);
    m_.inequality_right[c] += tolerance * slack;
    m_.inequality_weight[c] = 0;
  }
  double widest = 0;
  for (int i = 0; i < n_; ++i) {
    if (is_active(mode_[i])) continue;
    double end[2] = {0, 0};
    for (const int side : {0, 1}) {
      inequalities_ = conditions;
      add_inequality(i, side == 0 ? 1 : -1, false, true);
      m_.inequality_weight[conditions] = 1;
      int row = -1;
      if (simplex(end[side], row) != MarginStatus::bounded) return kInfinity;
      end[side] *= acceleration_unit(i);
    }
    if (m_.acceleration_scale[i] > 0) widest = std::max(widest, (end[0] + end[1]) / m_.acceleration_scale[i]);
  }
  apply_shift();
  return widest;
}

// max t subject to G y + g ≥ c t, by the simplex method (Bland's rule) on the dual, min gᵀu, Gᵀu = 0, cᵀu =
// 1, u ≥ 0, which has as many rows as there are null vectors, plus one.
MarginStatus ModeSolver::simplex(double& best, int& row) {
  const int dimension = count_ - rank_;
  const int rows = dimension + 1;
  const int columns = inequalities_;
  const int right = columns + rows;
  const int width = right + 1;
  provide(m_.simplex, static_cast<std::size_t>(rows + 1) * static_cast<std::size_t>(width));
  double* t = m_.simplex.data();  // rows constraints, then the reduced costs
  double cost_scale = 0;
  double weight_scale = 0;
  for (int i = 0; i < columns; ++i) {
    cost_scale = std::max(cost_scale, std::abs(m_.inequality_right[i]));
    weight_scale = std::max(weight_scale, m_.inequality_weight[i]);
  }
  if (!(weight_scale > 0)) return MarginStatus::infeasible;
  weight_scale = std::ldexp(1.0, std::ilogb(weight_scale));
  std::fill_n(t, (rows + 1) * width, 0.0);
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < columns; ++i) {
      t[r * width + i] =
          r < dimension ? m_.inequality[i * dimension + r] : m_.inequality_weight[i] / weight_scale;
    }
    t[r * width + columns + r] = 1;
    m_.simplex_basis[r] = columns + r;
  }
  t[dimension * width + right] = 1;

  constexpr double kEpsilon = 1e-11;
  double* cost = t + rows * width;
  const auto pivot = [&](int leaving, int entering) {
    m_.look();
    double* p = t + leaving * width;
    const double inverse = 1 / p[entering];
    for (int c = 0; c < width; ++c) p[c] *= inverse;
    p[entering] = 1;
    for (int r = 0; r <= rows; ++r) {
      double* q = t + r * width;
      const double factor = q[entering];
      if (r == leaving || factor == 0) continue;
      for (int c = 0; c < width; ++c) q[c] -= factor * p[c];
      q[entering] = 0;
    }
    m_.simplex_basis[leaving] = entering;
  };
  const auto minimise = [&](double epsilon) {
    for (int step = 0; step < 1000 + 50 * columns; ++step) {
      int entering = -1;
      for (int c = 0; c < columns && entering < 0; ++c) {
        if (cost[c] < -epsilon) entering = c;
      }
      if (entering < 0) return true;
      int leaving = -1;
      for (int r = 0; r < rows; ++r) {
        if (t[r * width + entering] <= kEpsilon) continue;
        if (leaving < 0) {
          leaving = r;
          continue;
        }
        const double difference = t[r * width + right] * t[leaving * width + entering] -
                                  t[leaving * width + right] * t[r * width + entering];
        if (difference < 0 || (difference == 0 && m_.simplex_basis[r] < m_.simplex_basis[leaving]))
          leaving = r;
      }
      if (leaving < 0) return false;
      pivot(leaving, entering);
    }
    return true;
  };

  // First phase: artificial variables out.
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) cost[c] -= t[r * width + c];
    cost[right] -= t[r * width + right];
  }
  minimise(kEpsilon);
  if (-cost[right] > 1e-9) return MarginStatus::unbounded;
  for (int r = 0; r < rows; ++r) {
    if (m_.simplex_basis[r] < columns) continue;
    for (int c = 0; c < columns; ++c) {
      if (std::abs(t[r * width + c]) > 1e-9) {
        pivot(r, c);
        break;
      }
    }
  }
  // Second phase.
  std::fill_n(cost, width, 0.0);
  for (int c = 0; c < columns; ++c) cost[c] = m_.inequality_right[c];
  for (int r = 0; r < rows; ++r) {
    const int variable = m_.simplex_basis[r];
    const double factor = variable < columns ? m_.inequality_right[variable] : 0;
    if (factor == 0) continue;
    for (int c = 0; c < width; ++c) cost[c] -= factor * t[r * width + c];
  }
  if (!minimise(kEpsilon * cost_scale)) return MarginStatus::infeasible;
  for (int f = 0; f < dimension; ++f) m_.shift[f] = cost[columns + f];
  best = -cost[columns + dimension] / weight_scale;
  for (int r = 0; r < rows; ++r) {
    const int variable = m_.simplex_basis[r];
    if (variable < columns && t[r * width + right] > kEpsilon) {
      row = m_.inequality_row[variable];
      break;
    }
  }
  return MarginStatus::bounded;
}

// min |λ + N y|² over G y + g ≥ c level: a complementarity problem for the multipliers, solved by Lemke's
// method, which cannot fail for the positive semidefinite G H⁻¹ Gᵀ, H = NᵀN, unless there is no such y.
bool ModeSolver::smallest_norm(double level) {
  const int dimension = count_ - rank_;
  const int count = inequalities_;
  const int width = dimension + count + 1;
  provide(m_.gram, static_cast<std::size_t>(dimension) * static_cast<std::size_t>(width));
  provide(m_.lcp_matrix, static_cast<std::size_t>(count) * static_cast<std::size_t>(count));
  m_.lcp.resize(count);
  double* h = m_.gram.data();  // H | Gᵀ | −Nᵀλ, turned into I | H⁻¹Gᵀ | y of the unconstrained minimum
  for (int f = 0; f < dimension; ++f) {
    m_.look();
    const double* v = m_.null_space.data() + f * n_;
    for (int e = 0; e < dimension; ++e) {
      double sum = 0;
      for (int i = 0; i < n_; ++i) sum += v[i] * m_.null_space[e * n_ + i];
      h[f * width + e] = sum;
    }
    for (int c = 0; c < count; ++c) h[f * width + dimension + c] = m_.inequality[c * dimension + f];
    double sum = 0;
    for (int i = 0; i < n_; ++i) sum += v[i] * m_.force[i];
    h[f * width + dimension + count] = -sum;
  }
  for (int f = 0; f < dimension; ++f) {
    m_.look();
    const double pivot = h[f * width + f];
    if (!(pivot > 0)) return false;
    for (int c = 0; c < width; ++c) h[f * width + c] /= pivot;
    for (int e = 0; e < dimension; ++e) {
      const double factor = h[e * width + f];
      if (e == f || factor == 0) continue;
      for (int c = 0; c < width; ++c) h[e * width + c] -= factor * h[f * width + c];
    }
  }
  for (int r = 0; r < count; ++r) {
    m_.look();
    const double* g = m_.inequality.data() + r * dimension;
    for (int c = 0; c < count; ++c) {
      double sum = 0;
      for (int f = 0; f < dimension; ++f) sum += g[f] * h[f * width + dimension + c];
      m_.lcp_matrix[r * count + c] = sum;
    }
    double sum = m_.inequality_right[r] - m_.inequality_weight[r] * level;
    for (int f = 0; f < dimension; ++f) sum += g[f] * h[f * width + dimension + count];
    m_.lcp_vector[r] = sum;
  }
  const LcpProblem dual{count, m_.lcp_matrix.data(), m_.lcp_vector.data(), nullptr};
  const LcpSolution solution = solve_lemke(dual, {}, m_.lcp);
  if (solution.status != LcpStatus::solved) return false;
  for (int f = 0; f < dimension; ++f) {
    double y = h[f * width + dimension + count];
    for (int c = 0; c < count; ++c) y += h[f * width + dimension + c] * solution.z[c];
    if (!std::isfinite(y)) return false;  // a pivot below what numbers can divide by
    m_.shift[f] = y;
  }
  return true;
}

void ModeSolver::apply_shift() {
  const int dimension = count_ - rank_;
  for (int f = 0; f < dimension; ++f) {
    for (int i = 0; i < n_; ++i) m_.force[i] += m_.null_space[f * n_ + i] * m_.shift[f];
  }
  slide();
}

MarginResult largest_margin(const DecisionProblem& problem, std::span<const RowStatus> mode,
                            const ModeFactor& factor, DecisionWorkspace& workspace, std::span<double> force,
                            std::span<double> acceleration) {
  DecisionWorkspace::Memory& memory = workspace.memory();
  const Rules rules = plain_rules(problem, memory);
  find_scales(problem, memory);
  ModeSolver solver(problem, rules, memory);
  solver.factor(mode.data(), factor);
  solver.solve();
  const MarginResult result = solver.settle();
  const int n = problem.rows();
  std::copy_n(memory.force.begin(), n, force.begin());
  std::copy_n(memory.acceleration.begin(), n, acceleration.begin());
  return result;
}

MarginResult ModeSolver::settle() {
  MarginResult result;
  if (rank_ == count_) {
    accelerations();
    result.status = MarginStatus::unbounded;
    result.margin = kInfinity;
    for (int r = 0; r < count_; ++r) {
      const double value = margin(m_.active[r]);
      if (value < result.margin) {
        result.margin = value;
        result.row = m_.active[r];
        result.status = MarginStatus::bounded;
      }
    }
    return result;
  }
  rigid_ = find_null_space();
  result.status = linear_program(false, result.margin, result.row);
  if (result.status == MarginStatus::infeasible) {
    result.margin = -kInfinity;
  } else {
    // Rounding must not empty the set of best reactions: a part in 1e12 of the margin's terms is given away.
    double size = 0;
    for (int c = 0; c < inequalities_; ++c) {
      if (m_.inequality_weight[c] > 0) {
        size = std::max(size, std::abs(m_.inequality_right[c]) / m_.inequality_weight[c]);
      }
    }
    const bool bounded = result.status == MarginStatus::bounded;
    // Keep the answer of the linear program where the smaller one cannot be found to rounding.
    std::copy_n(m_.shift.begin(), count_ - rank_, m_.best_shift.begin());
    // What has nothing to give away keeps its sign: a reaction that must vanish does not pull.
    const double given = std::abs(result.margin) <= 1e-12 * size ? 0 : 1e-12 * size;
    if (!smallest_norm(bounded ? result.margin - given : 0.0)) {
      if (bounded) {
        std::copy_n(m_.best_shift.begin(), count_ - rank_, m_.shift.begin());
      } else {
        result.status = MarginStatus::infeasible;
        result.margin = -kInfinity;
      }
    }
    if (result.status != MarginStatus::infeasible) apply_shift();
  }
  accelerations();
  return result;
}

}  // namespace judder::contact
