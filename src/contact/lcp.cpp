#include "judder/contact/lcp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "judder/core/number.hpp"

namespace judder::contact {

const char* name(LcpStatus status) {
  switch (status) {
    case LcpStatus::solved:
      return "solved";
    case LcpStatus::ray:
      return "ended on a ray";
    case LcpStatus::no_solution:
      return "no solution";
    case LcpStatus::too_many_pivots:
      return "too many pivots";
    case LcpStatus::too_large:
      return "too large to enumerate";
    case LcpStatus::inconsistent_free_rows:
      return "inconsistent free rows";
  }
  return "";
}

double lcp_residual(const LcpProblem& problem, std::span<const double> z) {
  const int n = problem.size;
  const auto term_sum = [&](int i) {
    double sum = std::abs(problem.q[i]);
    for (int j = 0; j < n; ++j) sum += std::abs(problem.M[i * n + j] * z[j]);
    return sum;
  };
  double worst = 0;
  for (int i = 0; i < n; ++i) {
    double w = problem.q[i];
    for (int j = 0; j < n; ++j) w += problem.M[i * n + j] * z[j];
    if (!std::isfinite(w) || !std::isfinite(z[i])) return std::numeric_limits<double>::infinity();
    const double terms = term_sum(i);
    const double relative_w = terms > 0 ? w / terms : 0;
    if (problem.free != nullptr && problem.free[i] != 0) {
      worst = std::max(worst, std::abs(relative_w));
      continue;
    }
    double influence = 0;
    for (int k = 0; k < n; ++k) {
      const double entry = std::abs(problem.M[k * n + i] * z[i]);
      if (entry > 0) influence = std::max(influence, entry / term_sum(k));
    }
    worst = std::max(worst, std::abs(std::min(relative_w, std::copysign(influence, z[i]))));
  }
  return worst;
}

void LcpWorkspace::resize(int size) {
  if (size <= capacity_) return;
  capacity_ = size;
  const auto n = static_cast<std::size_t>(size);
  matrix_.resize(n * n);
  vector_.resize(n);
  row_scale_.resize(n);
  column_scale_.resize(n);
  tableau_.resize(n * (2 * n + 2));
  z_.resize(n);
  w_.resize(n);
  first_.resize(n);
  basis_.resize(n);
  free_row_.resize(n);
  free_column_.resize(n);
  ordinary_.resize(n);
  order_.resize(n);
}

// Works on the equilibrated problem M' = R⁻¹ M C, q' = R⁻¹ q, with z = C z' and w = R w'; signs and
// complementarity are kept.
class LcpSolver {
 public:
  LcpSolver(const LcpProblem& problem, LcpWorkspace& workspace)
      : p_(problem), ws_(workspace), n_(problem.size) {
    ws_.resize(n_);
  }

  LcpSolution lemke(const LemkeOptions& options) {
    LcpSolution solution;
    prepare();
    if (!eliminate_free_rows()) {
      solution.status = LcpStatus::inconsistent_free_rows;
      return finish(solution);
    }
    // A ray depends on the covering vector: others, all positive, are tried before giving up.
    for (int cover = 0; cover <= options.other_covers; ++cover) {
      solution.status = run_lemke(ordinary_count_, options, cover, solution.iterations);
      if (solution.status == LcpStatus::solved) break;
    }
    return finish(solution);
  }

  LcpSolution enumeration(const EnumerationOptions& options) {
    LcpSolution solution;
    prepare();
    if (!eliminate_free_rows()) {
      solution.status = LcpStatus::inconsistent_free_rows;
      return finish(solution);
    }
    const int m = ordinary_count_;
    if (m > 24) {
      solution.status = LcpStatus::too_large;
      return finish(solution);
    }
    const std::uint32_t bases = 1u << m;
    for (std::uint32_t basis = 0; basis < bases; ++basis) {
      ++solution.iterations;
      if (!solve_basis(m, basis, options.tolerance)) continue;
      if (solution.solutions == 0) {
        std::copy_n(ws_.z_.begin(), m, ws_.first_.begin());
        solution.solutions = 1;
        if (!options.count_all) break;
      } else if (differs_from_first(m)) {
        ++solution.solutions;
      }
    }
    if (solution.solutions > 0) {
      std::copy_n(ws_.first_.begin(), m, ws_.z_.begin());
      solution.status = LcpStatus::solved;
    }
    return finish(solution);
  }

 private:
  [[nodiscard]] bool is_free(int i) const { return p_.free != nullptr && p_.free[i] != 0; }
  double& m_(int i, int j) { return ws_.matrix_[i * n_ + j]; }

  // Powers of two, so that scaling is exact. Two sweeps bring rows and columns to a largest entry near one.
  void prepare() {
    double* r = ws_.row_scale_.data();
    double* c = ws_.column_scale_.data();
    std::fill_n(c, n_, 1.0);
    std::fill_n(r, n_, 1.0);
    const auto power_of_two = [](double x) { return x > 0 ? std::ldexp(1.0, std::ilogb(x)) : 1.0; };
    for (int sweep = 0; sweep < 2; ++sweep) {
      for (int i = 0; i < n_; ++i) {
        double largest = 0;
        for (int j = 0; j < n_; ++j) largest = std::max(largest, std::abs(p_.M[i * n_ + j]) * c[j]);
        r[i] = power_of_two(largest);
      }
      for (int j = 0; j < n_; ++j) {
        double largest = 0;
        for (int i = 0; i < n_; ++i) largest = std::max(largest, std::abs(p_.M[i * n_ + j]) / r[i]);
        c[j] = power_of_two(largest > 0 ? 1 / largest : 0);
      }
    }
    double size = 0;
    for (int i = 0; i < n_; ++i) size = std::max(size, std::abs(p_.q[i]) / r[i]);
    size_ = power_of_two(size);
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < n_; ++j) m_(i, j) = p_.M[i * n_ + j] * c[j] / r[i];
      ws_.vector_[i] = p_.q[i] / r[i] / size_;
    }
  }

  // Gauss-Jordan on the free block: each pivot expresses one free z by the others. The pivot rows stay in
  // the matrix for the back substitution.
  bool eliminate_free_rows() {
    ordinary_count_ = 0;
    free_rank_ = 0;
    for (int i = 0; i < n_; ++i) {
      if (!is_free(i)) ws_.ordinary_[ordinary_count_++] = i;
    }
    const int free_count = n_ - ordinary_count_;
    ws_.z_.assign(ws_.z_.size(), 0.0);
    std::vector<int>& order = ws_.order_;
    std::fill(order.begin(), order.end(), 0);  // 1 marks a used row, 2 a used column, 3 both
    for (int step = 0; step < free_count; ++step) {
      if (ws_.patience_ != nullptr) ws_.patience_->look();
      int pivot_row = -1, pivot_column = -1;
      double largest = 1e-10;
      for (int i = 0; i < n_; ++i) {
        if (!is_free(i) || (order[i] & 1) != 0) continue;
        for (int j = 0; j < n_; ++j) {
          if (!is_free(j) || (order[j] & 2) != 0) continue;
          if (std::abs(m_(i, j)) > largest) {
            largest = std::abs(m_(i, j));
            pivot_row = i;
            pivot_column = j;
          }
        }
      }
      if (pivot_row < 0) break;
      order[pivot_row] |= 1;
      order[pivot_column] |= 2;
      ws_.free_row_[free_rank_] = pivot_row;
      ws_.free_column_[free_rank_] = pivot_column;
      ++free_rank_;
      for (int i = 0; i < n_; ++i) {
        if (i == pivot_row || m_(i, pivot_column) == 0) continue;
        const double factor = m_(i, pivot_column) / m_(pivot_row, pivot_column);
        for (int j = 0; j < n_; ++j) m_(i, j) -= factor * m_(pivot_row, j);
        m_(i, pivot_column) = 0;
        ws_.vector_[i] -= factor * ws_.vector_[pivot_row];
      }
    }
    // Dependent free rows: their z is zero; they must agree by themselves.
    for (int i = 0; i < n_; ++i) {
      if (!is_free(i) || (order[i] & 1) != 0) continue;
      if (std::abs(ws_.vector_[i]) > 1e-9) return false;
    }
    return true;
  }

  // Columns of the tableau: w_0 … w_{m−1} (the inverse of the basis), z_0 … z_{m−1}, the artificial z0, the
  // right side.
  LcpStatus run_lemke(int m, const LemkeOptions& options, int cover, int& pivots) {
    const int width = 2 * m + 2;
    const int artificial = 2 * m;
    const int right = 2 * m + 1;
    double* t = ws_.tableau_.data();
    std::fill_n(t, m * width, 0.0);
    for (int i = 0; i < m; ++i) {
      const int row = ws_.ordinary_[i];
      t[i * width + i] = 1;
      for (int j = 0; j < m; ++j) t[i * width + m + j] = -m_(row, ws_.ordinary_[j]);
      t[i * width + artificial] = cover == 0 ? -1.0 : -1.0 - (i * cover) % (m + cover);
      t[i * width + right] = ws_.vector_[row];
      ws_.basis_[i] = i;
    }
    int leaving = -1;
    double smallest = 0;
    for (int i = 0; i < m; ++i) {
      const double value = -t[i * width + right] / t[i * width + artificial];
      // Ties by the larger index: the lexicographic order of the rows (q, I).
      if (value < 0 && (leaving < 0 || value <= smallest)) {
        leaving = i;
        smallest = value;
      }
    }
    std::fill_n(ws_.z_.begin(), m, 0.0);
    if (leaving < 0) return LcpStatus::solved;

    const int limit = pivots + (options.max_pivots > 0 ? options.max_pivots : 50 + 20 * m);
    int entering = artificial;
    while (true) {
      if (ws_.patience_ != nullptr) ws_.patience_->look();
      const int out = ws_.basis_[leaving];
      pivot(t, m, width, leaving, entering);
      ws_.basis_[leaving] = entering;
      ++pivots;
      if (out == artificial) break;
      if (pivots >= limit) return LcpStatus::too_many_pivots;
      entering = out < m ? out + m : out - m;
      leaving = lexicographic_minimum(t, m, width, entering, artificial, options.pivot_tolerance);
      if (leaving < 0) return LcpStatus::ray;
    }
    for (int i = 0; i < m; ++i) {
      const int variable = ws_.basis_[i];
      if (variable >= m && variable < 2 * m) ws_.z_[variable - m] = t[i * width + right];
    }
    return LcpStatus::solved;
  }

  static void pivot(double* t, int m, int width, int row, int column) {
    double* p = t + row * width;
    const double inverse = 1 / p[column];
    for (int j = 0; j < width; ++j) p[j] *= inverse;
    p[column] = 1;
    for (int i = 0; i < m; ++i) {
      double* r = t + i * width;
      const double factor = r[column];
      if (i == row || factor == 0) continue;
      for (int j = 0; j < width; ++j) r[j] -= factor * p[j];
      r[column] = 0;
    }
  }

  // Row of least (right, inverse basis) / pivot in lexicographic order; z0 leaves as soon as it may.
  int lexicographic_minimum(const double* t, int m, int width, int column, int artificial,
                            double tolerance) const {
    double largest = 0;
    for (int i = 0; i < m; ++i) largest = std::max(largest, std::abs(t[i * width + column]));
    const double threshold = std::max(largest, 1.0) * tolerance;
    int best = -1;
    for (int i = 0; i < m; ++i) {
      const double* r = t + i * width;
      if (r[column] <= threshold) continue;
      if (best < 0) {
        best = i;
        continue;
      }
      const double* b = t + best * width;
      const int right = width - 1;
      double difference = r[right] / r[column] - b[right] / b[column];
      double size = std::abs(r[right] / r[column]) + std::abs(b[right] / b[column]);
      bool decided = std::abs(difference) > 1e-13 * size;
      if (!decided) {
        if (ws_.basis_[i] == artificial) {
          best = i;
          continue;
        }
        if (ws_.basis_[best] == artificial) continue;
      }
      for (int j = 0; j < m && !decided; ++j) {
        const double x = r[j] / r[column];
        const double y = b[j] / b[column];
        difference = x - y;
        size = std::abs(x) + std::abs(y);
        decided = std::abs(difference) > 1e-13 * size;
      }
      if (decided && difference < 0) best = i;
    }
    return best;
  }

  // z of the rows in `basis` from w = 0 there; the others have z = 0. True if both are nonnegative.
  bool solve_basis(int m, std::uint32_t basis, double tolerance) {
    int count = 0;
    for (int i = 0; i < m; ++i) {
      if ((basis >> i & 1u) != 0) ws_.basis_[count++] = i;
    }
    double* t = ws_.tableau_.data();
    const int width = count + 1;
    for (int i = 0; i < count; ++i) {
      const int row = ws_.ordinary_[ws_.basis_[i]];
      for (int j = 0; j < count; ++j) {
        t[i * width + j] = m_(row, ws_.ordinary_[ws_.basis_[j]]);
      }
      t[i * width + count] = -ws_.vector_[row];
    }
    for (int k = 0; k < count; ++k) {
      int best = k;
      for (int i = k + 1; i < count; ++i) {
        if (std::abs(t[i * width + k]) > std::abs(t[best * width + k])) best = i;
      }
      if (std::abs(t[best * width + k]) < 1e-12) return false;
      if (best != k) {
        for (int j = k; j < width; ++j) std::swap(t[best * width + j], t[k * width + j]);
      }
      for (int i = k + 1; i < count; ++i) {
        const double factor = t[i * width + k] / t[k * width + k];
        if (factor == 0) continue;
        for (int j = k; j < width; ++j) t[i * width + j] -= factor * t[k * width + j];
      }
    }
    std::fill_n(ws_.z_.begin(), m, 0.0);
    for (int k = count - 1; k >= 0; --k) {
      double value = t[k * width + count];
      for (int j = k + 1; j < count; ++j) {
        value -= t[k * width + j] * ws_.z_[ws_.basis_[j]];
      }
      ws_.z_[ws_.basis_[k]] = value / t[k * width + k];
    }
    double largest = 0;
    for (int i = 0; i < m; ++i) largest = std::max(largest, std::abs(ws_.z_[i]));
    for (int i = 0; i < m; ++i) {
      if (ws_.z_[i] < -tolerance * largest) return false;
      const int row = ws_.ordinary_[i];
      double w = ws_.vector_[row];
      double terms = std::abs(w);
      for (int j = 0; j < m; ++j) {
        const double term = m_(row, ws_.ordinary_[j]) * ws_.z_[j];
        w += term;
        terms += std::abs(term);
      }
      if (w < -tolerance * terms) return false;
    }
    return true;
  }

  [[nodiscard]] bool differs_from_first(int m) const {
    double largest = 0;
    double difference = 0;
    for (int i = 0; i < m; ++i) {
      const auto k = static_cast<std::size_t>(i);
      largest = std::max({largest, std::abs(ws_.z_[k]), std::abs(ws_.first_[k])});
      difference = std::max(difference, std::abs(ws_.z_[k] - ws_.first_[k]));
    }
    return difference > 1e-8 * largest;
  }

  // From the ordinary z' at the front of z_ to z and w of the caller.
  LcpSolution finish(LcpSolution solution) {
    std::vector<double>& z = ws_.z_;
    std::copy_n(z.begin(), ordinary_count_, ws_.w_.begin());
    std::fill_n(z.begin(), n_, 0.0);
    for (int i = 0; i < ordinary_count_; ++i) {
      z[ws_.ordinary_[i]] = ws_.w_[i];
    }
    for (int k = 0; k < free_rank_; ++k) {
      const int row = ws_.free_row_[k];
      const int column = ws_.free_column_[k];
      double value = -ws_.vector_[row];
      for (int i = 0; i < ordinary_count_; ++i) {
        const int j = ws_.ordinary_[i];
        value -= m_(row, j) * z[j];
      }
      z[column] = value / m_(row, column);
    }
    for (int i = 0; i < n_; ++i) {
      const auto k = static_cast<std::size_t>(i);
      z[k] *= ws_.column_scale_[k] * size_;
    }
    for (int i = 0; i < n_; ++i) {
      double w = p_.q[i];
      for (int j = 0; j < n_; ++j) w += p_.M[i * n_ + j] * z[j];
      ws_.w_[i] = w;
    }
    solution.z = {z.data(), static_cast<std::size_t>(n_)};
    solution.w = {ws_.w_.data(), static_cast<std::size_t>(n_)};
    solution.residual = lcp_residual(p_, solution.z);
    return solution;
  }

  const LcpProblem& p_;
  LcpWorkspace& ws_;
  int n_;
  int ordinary_count_ = 0;
  int free_rank_ = 0;
  double size_ = 1;
};

LcpSolution solve_lemke(const LcpProblem& problem, const LemkeOptions& options, LcpWorkspace& workspace) {
  return LcpSolver(problem, workspace).lemke(options);
}

LcpSolution solve_enumeration(const LcpProblem& problem, const EnumerationOptions& options,
                              LcpWorkspace& workspace) {
  return LcpSolver(problem, workspace).enumeration(options);
}

namespace {

class Numbers {
 public:
  explicit Numbers(std::string_view text) : text_(text) {}
  bool next(double& value) {
    while (at_ < text_.size() && space(text_[at_])) ++at_;
    std::size_t end = at_;
    while (end < text_.size() && !space(text_[end])) ++end;
    const auto number = parse_number(text_.substr(at_, end - at_));
    if (!number) return false;
    value = *number;
    at_ = end;
    return true;
  }

 private:
  static bool space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

LcpData read_lcp(std::string_view text) {
  LcpData data;
  Numbers numbers(text);
  double head[6] = {};
  for (double& value : head) {
    if (!numbers.next(value)) {
      data.error = "the file ends before the matrix begins";
      return data;
    }
  }
  const double size = head[0];
  if (!(size >= 1 && size <= 4096) || size != std::floor(size)) {
    data.error = "the size must be a whole number from 1 to 4096";
  } else if (head[1] != 0) {
    data.error = "only dense storage (0) is read";
  } else if (head[2] != size || head[3] != size || head[4] != size || head[5] != size) {
    data.error = "rows and columns of the matrix must equal the size";
  }
  if (!data.error.empty()) return data;
  const int n = static_cast<int>(size);
  data.M.resize(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  data.q.resize(static_cast<std::size_t>(n));
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      if (!numbers.next(data.M[i * n + j])) data.error = "the matrix is incomplete";
    }
  }
  for (double& value : data.q) {
    if (!numbers.next(value) && data.error.empty()) data.error = "q is incomplete";
  }
  if (data.error.empty()) data.size = n;
  return data;
}

}  // namespace judder::contact
