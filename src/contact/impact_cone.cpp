// Moreau's problem with circular cones: slips of several components whose impulse is bounded by its length.
//
// Λ solves Λ_N = max(0, Λ_N − r u_N) and Λ_T = projection of Λ_T − r u_T to the ball of radius μ L, u = A Λ + f. Sweeps over the rows
// come near, a semismooth Newton method makes it exact; where Newton fails, more sweeps.
//
// P. Alart, A. Curnier, A mixed formulation for frictional contact problems prone to Newton like solution methods, Comput. Methods Appl.
// Mech. Eng. 92 (1991).
#include <algorithm>
#include <cmath>

#include "impact_memory.hpp"

namespace judder::contact {

namespace {

constexpr double kExact = 1e-14;   // residual relative to the scale of the problem
constexpr double kEnough = 1e-11;  // the same, where rounding allows no more
constexpr double kPivot = 1e-12;   // smaller pivots of a matrix with unit diagonal belong to dependent rows
constexpr int kRounds = 12;
constexpr int kNewtonSteps = 40;

class ConeProblem {
 public:
  ConeProblem(const ImpactProblem& problem, ImpactWorkspace::Memory& memory)
      : p_(problem), m_(memory), n_(problem.rows()), nN_(problem.normals) {}

  MoreauOutcome solve() {
    find_scales();
    std::fill_n(m_.impulse.begin(), n_, 0.0);
    double best = residual(m_.impulse.data());
    int sweeps = 50;
    for (int round = 0; round < kRounds && best > kExact; ++round) {
      for (int i = 0; i < sweeps; ++i) sweep();
      best = newton(residual(m_.impulse.data()));
      if (best <= kEnough && round > 1) break;
      sweeps *= 3;
    }
    MoreauOutcome outcome;
    if (!(best <= kEnough)) {
      outcome.status = ImpactStatus::not_found;
      outcome.row = 0;
    } else {
      outcome.status = decoupled() ? ImpactStatus::solved : ImpactStatus::solved_unchecked;
    }
    publish();
    return outcome;
  }

 private:
  [[nodiscard]] double entry(int i, int k) const { return p_.A[i * n_ + k]; }
  [[nodiscard]] double velocity(int i, const double* x) const {
    double u = m_.free_velocity[i];
    for (int k = 0; k < n_; ++k) u += entry(i, k) * x[k];
    return u;
  }
  // Known part and coefficient times the load that the normal impulses give.
  [[nodiscard]] double radius(int j, const double* x) const {
    double load = m_.base[j];
    for (int k = 0; k < nN_; ++k) {
      const double c = m_.coupling[j * nN_ + k];
      if (c != 0) load += c * (unilateral(k) ? std::max(x[k], 0.0) : std::abs(x[k]));
    }
    return m_.mu[j] * load;
  }
  [[nodiscard]] bool unilateral(int k) const { return m_.kind[k] == NormalKind::unilateral; }
  [[nodiscard]] bool tied(int j) const { return m_.state[j] == TangentState::tied; }
  // A tied slip acts while one of its normal rows presses.
  [[nodiscard]] bool pressed(int j, const double* x) const {
    for (int k = 0; k < nN_; ++k) {
      if (m_.coupling[j * nN_ + k] > 0 && (!unilateral(k) || x[k] > 0)) return true;
    }
    return false;
  }

  void find_scales() {
    for (int j = 0; j < n_; ++j) m_.weight[j] = entry(j, j);
    for (int j = 0; j < p_.tangents; j += cone_size(p_, j)) {
      const int size = cone_size(p_, j);
      double sum = 0;
      for (int c = 0; c < size; ++c) sum += entry(nN_ + j + c, nN_ + j + c);
      for (int c = 0; c < size; ++c) m_.weight[nN_ + j + c] = sum;
    }
    // Velocities in the unit of each row, by ratios only: a change of units by a power of two keeps all bits.
    for (int i = 0; i < n_; ++i) {
      double size = 0;
      for (int k = 0; k < n_; ++k) {
        if (m_.weight[k] > 0 && m_.weight[i] > 0)
          size = std::max(size, std::abs(m_.free_velocity[k]) * std::sqrt(m_.weight[i] / m_.weight[k]));
      }
      m_.cone_scale[i] = size > 0 ? size : 1;
    }
  }

  void sweep() {
    double* x = m_.impulse.data();
    for (int k = 0; k < nN_; ++k) {
      if (!(entry(k, k) > 0)) continue;
      x[k] -= velocity(k, x) / entry(k, k);
      if (unilateral(k)) x[k] = std::max(x[k], 0.0);
    }
    for (int j = 0; j < p_.tangents;) {
      const int size = cone_size(p_, j);
      const double r = 1 / m_.weight[nN_ + j];
      double step[3];
      double square = 0;
      for (int c = 0; c < size; ++c) {
        const int i = nN_ + j + c;
        step[c] = m_.weight[i] > 0 ? x[i] - r * velocity(i, x) : 0;
        square += step[c] * step[c];
      }
      const double length = std::sqrt(square);
      const double limit = tied(j) ? (pressed(j, x) ? length : 0) : radius(j, x);
      const double factor = length > limit ? limit / length : 1;
      for (int c = 0; c < size; ++c) x[nN_ + j + c] = factor * step[c];
      j += size;
    }
  }

  // Value, and with `jacobian` the matrix, of the equations; the largest residual in one unit.
  double equations(const double* x, double* value, double* jacobian) const {
    double worst = 0;
    for (int i = 0; i < n_; ++i) m_.trial_after[i] = velocity(i, x);
    const auto row_is_velocity = [&](int i) {
      const double r = m_.weight[i] > 0 ? 1 / m_.weight[i] : 0;
      value[i] = r * m_.trial_after[i];
      if (jacobian != nullptr) {
        for (int k = 0; k < n_; ++k) jacobian[i * n_ + k] = r * entry(i, k);
      }
    };
    const auto row_is_impulse = [&](int i) {
      value[i] = x[i];
      if (jacobian == nullptr) return;
      std::fill_n(jacobian + i * n_, n_, 0.0);
      jacobian[i * n_ + i] = 1;
    };
    for (int k = 0; k < nN_; ++k) {
      const double r = m_.weight[k] > 0 ? 1 / m_.weight[k] : 0;
      if (unilateral(k) && x[k] - r * m_.trial_after[k] <= 0)
        row_is_impulse(k);
      else
        row_is_velocity(k);
    }
    for (int j = 0; j < p_.tangents;) {
      const int size = cone_size(p_, j);
      const int first = nN_ + j;
      const double r = m_.weight[first] > 0 ? 1 / m_.weight[first] : 0;
      const double limit = tied(j) ? 0 : radius(j, x);
      double y[3];
      double square = 0;
      for (int c = 0; c < size; ++c) {
        y[c] = x[first + c] - r * m_.trial_after[first + c];
        square += y[c] * y[c];
      }
      const double length = std::sqrt(square);
      for (int c = 0; c < size; ++c) {
        const int i = first + c;
        if (tied(j) ? pressed(j, x) : length <= limit && limit > 0) {
          row_is_velocity(i);
        } else if (!(limit > 0) || !(length > 0)) {
          row_is_impulse(i);
          for (int k = 0; jacobian != nullptr && k < nN_ && length > 0; ++k)
            jacobian[i * n_ + k] -= load_slope(j, k, x) * y[c] / length;
        } else {
          value[i] = x[i] - limit * y[c] / length;
          if (jacobian == nullptr) continue;
          for (int k = 0; k < n_; ++k) {
            double along = 0, own = 0;
            for (int d = 0; d < size; ++d) {
              const double dy = (k == first + d ? 1 : 0) - r * entry(first + d, k);
              along += y[d] / length * dy;
              if (d == c) own = dy;
            }
            double slope = (k == i ? 1 : 0) - limit / length * (own - y[c] / length * along);
            if (k < nN_) slope -= load_slope(j, k, x) * y[c] / length;
            jacobian[i * n_ + k] = slope;
          }
        }
      }
      j += size;
    }
    for (int i = 0; i < n_; ++i)
      worst = std::max(worst, std::abs(value[i]) * m_.weight[i] / m_.cone_scale[i]);
    return worst;
  }

  // ∂(μ L)/∂Λ_k
  [[nodiscard]] double load_slope(int j, int k, const double* x) const {
    const double c = m_.mu[j] * m_.coupling[j * nN_ + k];
    return unilateral(k) ? (x[k] > 0 ? c : 0) : x[k] < 0 ? -c : c;
  }

  double residual(const double* x) const { return equations(x, m_.trial_impulse.data(), nullptr); }

  // From the impulses found so far; keeps what is best. Returns the residual.
  double newton(double worst) {
    double* x = m_.impulse.data();
    double* value = m_.trial_impulse.data();
    double* matrix = m_.cone_matrix.data();
    for (int step = 0; step < kNewtonSteps && worst > kExact; ++step) {
      (void)equations(x, value, matrix);
      eliminate(matrix, value, m_.cone_step.data());
      bool better = false;
      for (double share = 1; share > 1e-3 && !better; share *= 0.5) {
        for (int i = 0; i < n_; ++i) m_.cone_trial[i] = x[i] - share * m_.cone_step[i];
        const double found = residual(m_.cone_trial.data());
        if (!(found < worst)) continue;
        std::copy_n(m_.cone_trial.begin(), n_, x);
        worst = found;
        better = true;
      }
      if (!better) break;
    }
    return worst;
  }

  // Complete pivoting; what dependent rows leave undetermined is not moved.
  void eliminate(double* a, double* b, double* out) {
    std::fill_n(out, n_, 0.0);
    for (int i = 0; i < n_; ++i) m_.cone_row[i] = m_.cone_column[i] = i;
    int rank = 0;
    for (; rank < n_; ++rank) {
      int row = rank, column = rank;
      double best = 0;
      for (int i = rank; i < n_; ++i) {
        for (int k = rank; k < n_; ++k) {
          const double size = std::abs(a[m_.cone_row[i] * n_ + m_.cone_column[k]]) *
                              std::sqrt(m_.weight[m_.cone_row[i]] / m_.weight[m_.cone_column[k]]);
          if (size > best) best = size, row = i, column = k;
        }
      }
      if (!(best > kPivot)) break;
      std::swap(m_.cone_row[rank], m_.cone_row[row]);
      std::swap(m_.cone_column[rank], m_.cone_column[column]);
      const double* pivot = a + m_.cone_row[rank] * n_;
      for (int i = rank + 1; i < n_; ++i) {
        double* line = a + m_.cone_row[i] * n_;
        const double factor = line[m_.cone_column[rank]] / pivot[m_.cone_column[rank]];
        if (factor == 0) continue;
        for (int k = rank; k < n_; ++k) line[m_.cone_column[k]] -= factor * pivot[m_.cone_column[k]];
        b[m_.cone_row[i]] -= factor * b[m_.cone_row[rank]];
      }
    }
    for (int i = rank - 1; i >= 0; --i) {
      const double* line = a + m_.cone_row[i] * n_;
      double sum = b[m_.cone_row[i]];
      for (int k = i + 1; k < rank; ++k) sum -= line[m_.cone_column[k]] * out[m_.cone_column[k]];
      out[m_.cone_column[i]] = sum / line[m_.cone_column[i]];
    }
  }

  // Friction moves no normal row: normal impulses first, then a convex problem for the slips. One set of velocities.
  [[nodiscard]] bool decoupled() const {
    for (int i = 0; i < nN_; ++i) {
      for (int j = nN_; j < n_; ++j) {
        if (entry(i, j) != 0) return false;
      }
    }
    return true;
  }

  void publish() {
    const double* x = m_.impulse.data();
    for (int i = 0; i < n_; ++i) m_.after[i] = velocity(i, x);
    for (int k = 0; k < nN_; ++k) {
      m_.mode[k] = !unilateral(k) ? RowStatus::held : x[k] > 0 ? RowStatus::closed : RowStatus::open;
      if (m_.mode[k] != RowStatus::open) m_.after[k] = 0;
    }
    for (int j = 0; j < p_.tangents;) {
      const int size = cone_size(p_, j);
      const int first = nN_ + j;
      double slip = 0;
      for (int c = 0; c < size; ++c) {
        slip = std::max(slip, std::abs(m_.after[first + c]));
      }
      const double limit = radius(j, x);
      const bool acts = tied(j) ? pressed(j, x) : limit > 0;
      // Stuck: the slip is what rounding leaves of its terms.
      const bool stuck = acts && slip <= kEnough * m_.cone_scale[first];
      for (int c = 0; c < size; ++c) {
        const int i = first + c;
        m_.mode[i] = !acts              ? RowStatus::free
                     : stuck            ? RowStatus::stick
                     : m_.after[i] >= 0 ? RowStatus::slip_plus
                                        : RowStatus::slip_minus;
        if (stuck) m_.after[i] = 0;
      }
      j += size;
    }
  }

  const ImpactProblem& p_;
  ImpactWorkspace::Memory& m_;
  const int n_, nN_;
};

}  // namespace

bool has_cones(const ImpactProblem& problem) {
  for (int j = 0; problem.cone != nullptr && j < problem.tangents; ++j) {
    if (problem.cone[j] != j) return true;
  }
  return false;
}

MoreauOutcome solve_cones(const ImpactProblem& problem, ImpactWorkspace::Memory& memory) {
  memory.provide_cones();
  return ConeProblem(problem, memory).solve();
}

}  // namespace judder::contact
