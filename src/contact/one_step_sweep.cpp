// Block Gauss-Seidel for one-step problems: every block is solved exactly while the others rest.
//
// With slips of several components the exact solution of one contact that slides is found along α ≥ 0: the slip is u_T = −α r_T, so
//
//     r_T(α) = −(S + α)⁻¹ p,   r_N(α) from u_N = 0,   |r_T(α)| = L(α),
//
// S the Schur complement of the normal row. |r_T| − L is positive at α = 0 (no stick) and negative for large α, so a root is
// enclosed from the start, whatever S is.
#include <algorithm>
#include <cmath>
#include <limits>

#include "one_step_memory.hpp"

namespace judder::contact {

namespace {

// The slips of one block with the normal row eliminated: S r_T + p = u_T, r_N = a + b·r_T, L = base + mu r_N.
struct Slide {
  int size = 0;
  double S[9] = {};
  double p[3] = {};
  double a = 0;
  double b[3] = {};
  double base = 0;
  double mu = 0;

  [[nodiscard]] double normal(const double* r) const {
    double value = a;
    for (int c = 0; c < size; ++c) value += b[c] * r[c];
    return value;
  }
  [[nodiscard]] double limit(const double* r) const { return base + mu * normal(r); }
};

double length(const double* r, int size) {
  double square = 0;
  for (int c = 0; c < size; ++c) square += r[c] * r[c];
  return std::sqrt(square);
}

// (S + α) out = right by elimination with pivoting; false if singular.
bool solve_shifted(const Slide& slide, double alpha, const double* right, double* out) {
  const int n = slide.size;
  double m[3][4];
  double scale = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      m[i][j] = slide.S[3 * i + j] + (i == j ? alpha : 0);
      scale = std::max(scale, std::abs(m[i][j]));
    }
    m[i][n] = right[i];
  }
  for (int k = 0; k < n; ++k) {
    int row = k;
    for (int i = k + 1; i < n; ++i) {
      if (std::abs(m[i][k]) > std::abs(m[row][k])) row = i;
    }
    if (!(std::abs(m[row][k]) > 1e-14 * scale)) return false;
    for (int j = k; j <= n && row != k; ++j) std::swap(m[row][j], m[k][j]);
    for (int i = k + 1; i < n; ++i) {
      const double factor = m[i][k] / m[k][k];
      for (int j = k + 1; j <= n; ++j) m[i][j] -= factor * m[k][j];
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    double sum = m[i][n];
    for (int j = i + 1; j < n; ++j) sum -= m[i][j] * out[j];
    out[i] = sum / m[i][i];
  }
  return true;
}

// r_T(α) and g(α) = |r_T| − L; NaN where the matrix is singular.
double excess(const Slide& slide, double alpha, double* r, double& slope) {
  double right[3] = {};
  for (int c = 0; c < slide.size; ++c) right[c] = -slide.p[c];
  if (!solve_shifted(slide, alpha, right, r)) return std::numeric_limits<double>::quiet_NaN();
  double change[3] = {};
  for (int c = 0; c < slide.size; ++c) right[c] = -r[c];
  (void)solve_shifted(slide, alpha, right, change);
  const double size = length(r, slide.size);
  slope = 0;
  for (int c = 0; c < slide.size; ++c)
    slope += change[c] * ((size > 0 ? r[c] / size : 0) - slide.mu * slide.b[c]);
  return size - slide.limit(r);
}

// Root of g between low (g > 0 or singular) and high (g ≤ 0): Newton kept inside the bracket, ends at the last bit.
bool slide_root(const Slide& slide, double* r) {
  double slope = 0;
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i, high *= 8) {
    if (excess(slide, high, r, slope) <= 0) break;
    low = high;
  }
  if (!(excess(slide, high, r, slope) <= 0)) return false;
  double alpha = high;
  for (int i = 0; i < 200; ++i) {
    const double value = excess(slide, alpha, r, slope);
    if (value == 0) return true;
    (value <= 0 ? high : low) = alpha;
    if (std::isnan(value)) low = alpha;
    double next = alpha - value / slope;
    // Between bounds of very different size the middle of their logarithms; Newton's step where it stays inside.
    if (!(next > low && next < high))
      next = low > 0 && high > 4 * low ? std::sqrt(low) * std::sqrt(high) : 0.5 * (low + high);
    if (next == alpha || !(next > low && next < high)) break;
    alpha = next;
  }
  return std::isfinite(excess(slide, alpha, r, slope));
}

bool solve_ball(const Slide& slide, double* r) {
  double right[3] = {};
  for (int c = 0; c < slide.size; ++c) right[c] = -slide.p[c];
  if (solve_shifted(slide, 0, right, r) && length(r, slide.size) <= slide.limit(r)) return true;
  if (slide.mu == 0 && slide.base <= 0) {
    std::fill_n(r, slide.size, 0.0);
    return true;
  }
  return slide_root(slide, r);
}

// One slip component: stick, then both directions of slip, without iteration.
bool solve_planar(const Slide& slide, double* r) {
  if (slide.S[0] > 0) {
    r[0] = -slide.p[0] / slide.S[0];
    if (std::abs(r[0]) <= slide.limit(r)) return true;
  }
  // r_T = −s L, L = base + mu (a + b r_T)
  const double first = slide.p[0] >= 0 ? 1 : -1;
  for (const double s : {first, -first}) {
    const double divisor = 1 + s * slide.mu * slide.b[0];
    if (!(divisor > 0)) continue;
    const double limit = (slide.base + slide.mu * slide.a) / divisor;
    if (!(limit >= 0)) continue;
    r[0] = -s * limit;
    if (s * (slide.S[0] * r[0] + slide.p[0]) >= 0) return true;
  }
  return false;
}

bool solve_slips(const Slide& slide, bool tied, double* r) {
  if (!tied) return slide.size == 1 ? solve_planar(slide, r) : solve_ball(slide, r);
  if (!(slide.base > 0) && slide.mu == 0) {
    std::fill_n(r, slide.size, 0.0);
    return true;
  }
  double right[3] = {};
  for (int c = 0; c < slide.size; ++c) right[c] = -slide.p[c];
  return solve_shifted(slide, 0, right, r);
}

// Where the block alone has no solution: one step of r_N = max(0, r_N − ρ u_N), r_T = P(r_T − ρ u_T).
void project(const StepMemory& m, const ScaledBlock& block, const double* free, double* x) {
  const double* own = m.values.data() + block.diagonal;
  const auto velocity = [&](int i) {
    double u = free[i];
    for (int j = 0; j < block.rows; ++j) u += own[i * block.rows + j] * x[block.first + j];
    return u;
  };
  const int lead = block.slip - block.first;
  if (lead == 1) x[block.first] = std::max(0.0, x[block.first] - block.rho_normal * velocity(0));
  double r[3] = {};
  for (int c = 0; c < block.slips; ++c) r[c] = x[block.slip + c] - block.rho_slip * velocity(lead + c);
  const double limit = scaled_limit(m, block, x);
  const double size = length(r, block.slips);
  for (int c = 0; c < block.slips; ++c) x[block.slip + c] = size > limit ? r[c] * (limit / size) : r[c];
}

}  // namespace

bool solve_block(const StepMemory& m, const ScaledBlock& block, const double* free, double* x) {
  const double* own = m.values.data() + block.diagonal;
  const int rows = block.rows;
  const int lead = block.slip - block.first;  // 1 with a normal row
  const auto W = [&](int i, int j) { return own[i * rows + j]; };

  Slide slide;
  slide.size = block.slips;
  slide.base = known_limit(m, block, x);
  if (lead == 1) {
    if (!(W(0, 0) > 0)) return false;
    slide.a = -free[0] / W(0, 0);
    if (free[0] >= 0 && !(slide.base > 0)) {  // open is a solution, and the one that needs no impulse
      std::fill_n(x + block.first, rows, 0.0);
      return true;
    }
    if (block.slips == 0) {
      x[block.first] = std::max(slide.a, 0.0);
      return true;
    }
    slide.mu = block.mu;
    for (int j = 0; j < slide.size; ++j) slide.b[j] = -W(0, 1 + j) / W(0, 0);
  }
  for (int i = 0; i < slide.size; ++i) {
    slide.p[i] = free[lead + i] + (lead == 1 ? W(lead + i, 0) * slide.a : 0);
    for (int j = 0; j < slide.size; ++j)
      slide.S[3 * i + j] = W(lead + i, lead + j) + (lead == 1 ? W(lead + i, 0) * slide.b[j] : 0);
  }
  double r[3] = {};
  bool found = solve_slips(slide, block.tied, r);
  double normal = slide.normal(r);
  if (lead == 1 && found && normal < 0) {
    // Stuck with a pull: a known part of the limit lets friction act on an open contact.
    for (int i = 0; i < slide.size; ++i) {
      slide.p[i] = free[lead + i];
      for (int j = 0; j < slide.size; ++j) slide.S[3 * i + j] = W(lead + i, lead + j);
    }
    slide.mu = slide.a = normal = 0;
    std::fill_n(slide.b, 3, 0.0);
    found = solve_slips(slide, block.tied, r);
  }
  if (!found) {
    project(m, block, free, x);
    return false;
  }
  if (lead == 1) x[block.first] = std::max(0.0, normal);
  for (int c = 0; c < slide.size; ++c) x[block.slip + c] = r[c];
  return true;
}

int gauss_seidel(StepMemory& m, int sweeps, double tolerance, double& residual) {
  double* x = m.x.data();
  double free[4];
  double before[4];
  int done = 0;
  bool judged = false;
  for (; done < sweeps; ++done) {
    m.look();
    double change = 0;
    for (int i = 0; i < m.count; ++i) {
      const ScaledBlock& block = m.blocks[i];
      for (int c = 0; c < block.rows; ++c) free[c] = m.q[block.first + c];
      for (int e = m.begin[i]; e < m.begin[i + 1]; ++e) {
        if (m.column[e] == i) continue;
        const ScaledBlock& other = m.blocks[m.column[e]];
        const double* values = m.values.data() + m.value[e];
        for (int c = 0; c < block.rows; ++c) {
          for (int j = 0; j < other.rows; ++j) free[c] += values[c * other.rows + j] * x[other.first + j];
        }
      }
      std::copy_n(x + block.first, block.rows, before);
      if (block.kind == StepBlockKind::bilateral) {
        const double own = m.values[block.diagonal];
        if (own > 0) x[block.first] = -free[0] / own;
      } else {
        (void)solve_block(m, block, free, x);
      }
      for (int c = 0; c < block.rows; ++c)
        change = std::max(change, std::abs(x[block.first + c] - before[c]));
    }
    judged = false;
    if (!(change <= 0.1 * tolerance) && done % 16 != 15) continue;
    residual = judge(m);
    judged = true;
    if (residual <= tolerance || !std::isfinite(residual) || change == 0) {
      ++done;
      break;
    }
  }
  if (!judged) residual = judge(m);
  return done;
}

}  // namespace judder::contact
