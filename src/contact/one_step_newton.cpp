// Semismooth Newton for one-step problems, and the proximal loop around it.
//
// The equations are the natural map of Alart and Curnier. Far from a solution, and where W is singular, Newton's method may stall.
// The proximal loop replaces W by W + α and q by q − α r_k, solves that, takes its solution as r_{k+1} and lets α fall while it
// goes well. Its limit solves the problem itself.
#include <algorithm>
#include <cmath>

#include "one_step_memory.hpp"

namespace judder::contact {

namespace {

constexpr double kPivot = 1e-13;
constexpr int kLeaps = 5;

class Newton {
 public:
  Newton(StepMemory& memory, double alpha) : m_(memory), n_(memory.n), alpha_(alpha) {
    const auto n = static_cast<std::size_t>(n_);
    if (m_.jacobian.size() < n * n) m_.jacobian.resize(n * n);
  }

  // Error of x; m_.error holds the equations.
  double evaluate(const double* x, double* u, double* error) const {
    scaled_velocity(m_, x, u);
    for (int k = 0; alpha_ > 0 && k < n_; ++k) u[k] += alpha_ * (x[k] - m_.center[k]);
    return scaled_error(m_, x, u, error);
  }

  // Solves J step = error at x.
  void direction(const double* x, const double* u) {
    fill(x, u);
    eliminate();
  }

 private:
  /// Row `i` of the Jacobian as it is numbered there, and that of row `k` of the problem.
  double* line(int i) {
    return m_.jacobian.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(n_);
  }
  double* row_of(int k) { return line(m_.place[k]); }

  // out += factor times row `row` of W + α; `row` belongs to block `i`.
  void add_row(double* out, int i, int row, double factor) {
    const int c = row - m_.blocks[i].first;
    for (int e = m_.begin[i]; e < m_.begin[i + 1]; ++e) {
      const ScaledBlock& other = m_.blocks[m_.column[e]];
      const double* values = m_.values.data() + m_.value[e] + c * other.rows;
      for (int j = 0; j < other.rows; ++j) out[m_.place[other.first + j]] += factor * values[j];
    }
    out[m_.place[row]] += factor * alpha_;
  }

  void fill(const double* x, const double* u) {
    const auto n = static_cast<std::size_t>(n_);
    std::fill_n(m_.jacobian.begin(), n * n, 0.0);
    for (int i = 0; i < m_.count; ++i) {
      const ScaledBlock& block = m_.blocks[i];
      if (block.kind != StepBlockKind::friction) fill_normal(i, block, x, u);
      if (block.slips > 0) fill_slips(i, block, x, u);
    }
  }

  void fill_normal(int i, const ScaledBlock& block, const double* x, const double* u) {
    const int k = block.first;
    const double rho = block.rho_normal > 0 ? block.rho_normal : 1;
    if (block.kind == StepBlockKind::contact && x[k] - rho * u[k] <= 0)
      row_of(k)[m_.place[k]] = 1;
    else
      add_row(row_of(k), i, k, rho);
  }

  void fill_slips(int i, const ScaledBlock& block, const double* x, const double* u) {
    const double rho = block.rho_slip > 0 ? block.rho_slip : 1;
    const double limit = scaled_limit(m_, block, x);
    double y[3];
    double square = 0;
    for (int c = 0; c < block.slips; ++c) {
      y[c] = x[block.slip + c] - rho * u[block.slip + c];
      square += y[c] * y[c];
    }
    const double size = std::sqrt(square);
    if (size <= limit && limit > 0) {
      for (int c = 0; c < block.slips; ++c) add_row(row_of(block.slip + c), i, block.slip + c, rho);
      return;
    }
    // F = r − L y/|y|,  dF = dr − (y/|y|) dL − (L/|y|) (1 − y yᵀ/|y|²) (dr − ρ W dr)
    const double share = size > 0 ? limit / size : 0;
    for (int c = 0; c < block.slips; ++c) {
      double* out = row_of(block.slip + c);
      out[m_.place[block.slip + c]] += 1;
      if (!(size > 0)) continue;
      for (int d = 0; d < block.slips; ++d) {
        const double p = share * ((c == d ? 1 : 0) - y[c] / size * y[d] / size);
        if (p == 0) continue;
        out[m_.place[block.slip + d]] -= p;
        add_row(out, i, block.slip + d, p * rho);
      }
      const double way = y[c] / size;
      if (block.kind == StepBlockKind::contact && x[block.first] > 0)
        out[m_.place[block.first]] -= way * block.mu;
      for (int f = block.feed; f < block.feed_end; ++f) {
        const double r = x[m_.feeds[f].row];
        out[m_.place[m_.feeds[f].row]] -= way * m_.feeds[f].weight * (r > 0 ? 1 : r < 0 ? -1 : 0);
      }
    }
  }

  // Where the entries of the Jacobian end: by row, and by column with all columns before it.
  void find_ends() {
    std::fill_n(m_.last_row.begin(), n_, 0);
    for (int i = 0; i < n_; ++i) {
      const double* out = line(i);
      int first = 0, end = n_;
      while (first < n_ && out[first] == 0) ++first;
      while (end > 0 && out[end - 1] == 0) --end;
      m_.row_end[i] = end;
      if (first < n_) m_.last_row[first] = i;
    }
    for (int k = 1; k < n_; ++k) m_.last_row[k] = std::max(m_.last_row[k], m_.last_row[k - 1]);
  }

  // Rows are exchanged; a column without a pivot belongs to impulses that dependent rows share, which are not moved.
  void eliminate() {
    find_ends();
    double* b = m_.trial.data();
    for (int k = 0; k < n_; ++k) b[m_.place[k]] = m_.error[k];
    int rank = 0;
    for (int k = 0; k < n_; ++k) {
      if (k % 16 == 0) m_.look();
      const int last = std::max(m_.last_row[k], rank);
      int row = rank;
      double best = 0;
      for (int i = rank; i <= last && i < n_; ++i) {
        if (std::abs(line(i)[k]) > best) best = std::abs(line(i)[k]), row = i;
      }
      m_.pivot[k] = -1;
      if (!(best > kPivot)) continue;
      if (row != rank) {
        const int end = std::max(m_.row_end[row], m_.row_end[rank]);
        std::swap_ranges(line(row) + k, line(row) + end, line(rank) + k);
        std::swap(m_.row_end[row], m_.row_end[rank]);
        std::swap(b[row], b[rank]);
      }
      const double* top = line(rank);
      const int end = m_.row_end[rank];
      for (int i = rank + 1; i <= last && i < n_; ++i) {
        double* out = line(i);
        if (out[k] == 0) continue;
        const double factor = out[k] / top[k];
        for (int j = k + 1; j < end; ++j) out[j] -= factor * top[j];
        m_.row_end[i] = std::max(m_.row_end[i], end);
        b[i] -= factor * b[rank];
      }
      m_.pivot[k] = rank++;
    }
    substitute();
  }

  void substitute() {
    const double* b = m_.trial.data();
    double* found = m_.trial_u.data();
    for (int k = n_ - 1; k >= 0; --k) {
      found[k] = 0;
      if (m_.pivot[k] < 0) continue;
      const double* out = line(m_.pivot[k]);
      double sum = b[m_.pivot[k]];
      for (int j = k + 1; j < m_.row_end[m_.pivot[k]]; ++j) sum -= out[j] * found[j];
      found[k] = sum / out[k];
    }
    for (int k = 0; k < n_; ++k) m_.step[k] = found[m_.place[k]];
  }

  StepMemory& m_;
  const int n_;
  const double alpha_;
};

double square_sum(const double* values, int n) {
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += values[k] * values[k];
  return sum;
}

}  // namespace

int newton_steps(StepMemory& m, int steps, double tolerance, double alpha, double& residual) {
  Newton newton(m, alpha);
  double* x = m.x.data();
  double worst = newton.evaluate(x, m.u.data(), m.error.data());
  double merit = square_sum(m.error.data(), m.n);
  int done = 0;
  int leaps = 0;
  while (done < steps && worst > tolerance && std::isfinite(worst)) {
    m.look();
    newton.direction(x, m.u.data());
    ++done;
    bool better = false;
    for (double share = 1; share > 1e-3 && !better; share *= 0.5) {
      for (int k = 0; k < m.n; ++k) m.trial[k] = x[k] - share * m.step[k];
      const double found = newton.evaluate(m.trial.data(), m.trial_u.data(), m.error.data());
      const double sum = square_sum(m.error.data(), m.n);
      if (!(sum < (1 - 1e-4 * share) * merit)) continue;
      std::copy_n(m.trial.begin(), m.n, x);
      std::copy_n(m.trial_u.begin(), m.n, m.u.begin());
      worst = found;
      merit = sum;
      better = true;
    }
    if (better) continue;
    // A kink holds the line search up: step across it, a few times.
    if (++leaps > kLeaps) break;
    if (!(alpha > 0)) (void)judge(m);
    for (int k = 0; k < m.n; ++k) x[k] -= m.step[k];
    worst = newton.evaluate(x, m.u.data(), m.error.data());
    merit = square_sum(m.error.data(), m.n);
  }
  residual = alpha > 0 ? worst : judge(m);
  return done;
}

int proximal_rounds(StepMemory& m, const OneStepOptions& options, double& residual) {
  const double tolerance = 0.25 * options.tolerance;
  double alpha = 1;
  double fall = 0.1;  // of α after a success; gentler after each failure
  int done = 0;
  for (int round = 0; round < options.proximal_rounds; ++round) {
    std::copy_n(m.x.begin(), m.n, m.center.begin());
    const double before = judge(m);
    const double target = std::max(0.1 * tolerance, 1e-3 * before);
    double inner = 0;
    const int used = newton_steps(m, options.newton_steps, target, alpha, inner);
    done += used;
    if (!(inner <= target)) {
      std::copy_n(m.center.begin(), m.n, m.x.begin());
      alpha /= fall;
      fall = std::sqrt(fall);
      if (alpha > 1e6) break;
      continue;
    }
    residual = judge(m);
    if (residual <= tolerance) break;
    if (used <= 4) fall = std::max(0.1, fall * fall);
    alpha = std::max(1e-12, alpha * fall);
  }
  return done;
}

}  // namespace judder::contact
