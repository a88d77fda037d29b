// Decision problems with too many modes: a search from the first mode, Lemke's method on the complementarity
// form, then a semismooth Newton method.
//
// Complementarity form: every row at rest has λ_j = ξ_j − μ L_j with ξ_j ≥ 0 complementary to the positive
// part of a_j, and 2 μ L_j − ξ_j ≥ 0 complementary to its negative part. So λ = P z + r, z = (normal
// reactions; ξ, a⁻ of rows at rest), and the rows of M are those of A P. Friction of a bilateral row needs
// the side it presses to: guessed, solved, corrected.
#include <algorithm>
#include <cmath>
#include <limits>

#include "mode_solver.hpp"

namespace judder::contact {

namespace {

constexpr double kAccepted = 1e-8;  // natural map of a solution, relative to scale

enum Treatment : std::uint8_t { kComplementary, kHeld, kAbsent };

class IterativeSolver {
 public:
  IterativeSolver(const DecisionProblem& problem, const Rules& rules, const DecisionOptions& options,
                  DecisionWorkspace::Memory& memory)
      : p_(problem),
        rules_(rules),
        o_(options),
        m_(memory),
        nN_(problem.normals),
        nT_(problem.tangents),
        n_(problem.rows()) {
    for (int k = 0; k < nN_; ++k) {
      const bool bilateral = p_.kind != nullptr && p_.kind[k] == NormalKind::bilateral;
      const unsigned excluded = p_.excluded != nullptr ? p_.excluded[k] : 0u;
      m_.side[k] = 1;
      m_.treatment[k] = bilateral || (excluded & bit(RowStatus::open)) != 0 ? kHeld : kComplementary;
      if ((excluded & bit(RowStatus::closed)) != 0 && !bilateral) m_.treatment[k] = kAbsent;
    }
  }

  bool run(bool searching) {
    if (searching && search()) return true;
    // Sides of pressed bilateral rows settle in a few rounds or not at all.
    for (int round = 0; round < 4; ++round) {
      if (!lemke()) break;
      bool changed = false;
      for (int k = 0; k < nN_; ++k) {
        const double side = m_.treatment[k] == kHeld && m_.force[k] < 0 ? -1 : 1;
        if (is_bilateral(k) && has_friction(p_, rules_, k) && side != m_.side[k]) changed = true;
        if (is_bilateral(k)) m_.side[k] = side;
      }
      if (!changed && accept()) return true;
    }
    if (newton()) return accept();
    return false;
  }

 private:
  [[nodiscard]] bool excluded(int i, RowStatus status) const {
    return p_.excluded != nullptr && (p_.excluded[i] & bit(status)) != 0;
  }

  // What a row turns to when its inequality fails, its reaction being λ.
  [[nodiscard]] static RowStatus turned(RowStatus status, double force) {
    switch (status) {
      case RowStatus::open:
        return RowStatus::closed;
      case RowStatus::closed:
        return RowStatus::open;
      case RowStatus::held_plus:
        return RowStatus::held_minus;
      case RowStatus::held_minus:
        return RowStatus::held_plus;
      case RowStatus::stick:
        return force < 0 ? RowStatus::slip_plus : RowStatus::slip_minus;
      case RowStatus::slip_plus:
      case RowStatus::slip_minus:
        return RowStatus::stick;
      default:
        return status;
    }
  }

  // Tangential rows follow their normal rows: free without them, at rest where they carry again.
  void follow_normals(RowStatus* mode) const {
    for (int j = 0; j < nT_; ++j) {
      RowStatus& status = mode[nN_ + j];
      if (!can_carry(p_, rules_, mode, j)) {
        status = RowStatus::free;
      } else if (rules_.state[j] == TangentState::slip_plus) {
        status = RowStatus::slip_plus;
      } else if (rules_.state[j] == TangentState::slip_minus) {
        status = RowStatus::slip_minus;
      } else if (rules_.state[j] == TangentState::follows) {
        status = RowStatus::follows;
      } else if (status == RowStatus::free || rules_.state[j] == TangentState::tied) {
        status = RowStatus::stick;
      }
    }
  }

  // From everything closed and at rest: rows whose inequalities fail turn, first all of them, then the worst alone. At most events few rows
  // turn, and this finds them at once.
  bool search() {
    RowStatus* const mode = m_.mode.data();
    for (int k = 0; k < nN_; ++k) {
      mode[k] = !is_bilateral(k)               ? RowStatus::closed
                : !has_friction(p_, rules_, k) ? RowStatus::held
                                               : RowStatus::held_plus;
    }
    for (int j = 0; j < nT_; ++j) mode[nN_ + j] = RowStatus::free;
    follow_normals(mode);
    ModeSolver solver(p_, rules_, m_);
    int fewest = n_ + 1;
    int patience = 4;
    for (int round = 0; round < 20 + 2 * n_; ++round) {
      solver.factor(mode, o_.rank_tolerance);
      solver.solve();
      solver.settle();
      const double tolerance = o_.tolerance * solver.size();
      int count = 0;
      int worst = -1;
      double least = 0;
      for (int i = 0; i < n_; ++i) {
        const double scale = is_active(mode[i]) ? m_.force_scale[i] : m_.acceleration_scale[i];
        const double margin = solver.margin(i);
        const bool out = excluded(i, mode[i]);
        m_.failing[i] = out || margin < -tolerance * scale ? 1 : 0;
        if (m_.failing[i] == 0) continue;
        if (excluded(i, turned(mode[i], m_.force[i])) || turned(mode[i], m_.force[i]) == mode[i]) {
          m_.failing[i] = 0;
          continue;
        }
        ++count;
        const double relative =
            out ? -std::numeric_limits<double>::infinity() : margin / (scale > 0 ? scale : 1);
        if (worst < 0 || relative < least) {
          least = relative;
          worst = i;
        }
      }
      if (count == 0) {
        for (int i = 0; i < n_; ++i) {
          if (excluded(i, mode[i])) return false;
        }
        if (!solver.admissible(mode, o_)) return false;
        solver.settle();
        return true;
      }
      if (count < fewest) {
        fewest = count;
        patience = 4;
      } else if (--patience < -2 * n_) {
        return false;
      }
      for (int i = 0; i < n_; ++i) {
        if (m_.failing[i] == 0 || (patience <= 0 && i != worst)) continue;
        mode[i] = turned(mode[i], m_.force[i]);
      }
      follow_normals(mode);
    }
    return false;
  }

  [[nodiscard]] bool is_bilateral(int k) const {
    return p_.kind != nullptr && p_.kind[k] == NormalKind::bilateral;
  }
  [[nodiscard]] double base(int j) const { return p_.base != nullptr ? p_.base[j] : 0; }
  [[nodiscard]] double coupling(int j, int k) const {
    return p_.coupling != nullptr ? p_.coupling[j * nN_ + k] : 0;
  }
  [[nodiscard]] double slope(int j) const {
    return rules_.state[j] == TangentState::slip_minus ? -rules_.slip_mu[j] : rules_.slip_mu[j];
  }

  bool lemke() {
    int size = 0;
    for (int i = 0; i < n_; ++i) {
      m_.unknown_of_row[i] = -1;
      const bool normal = i < nN_;
      const bool present =
          normal ? m_.treatment[i] != kAbsent
                 : rules_.state[i - nN_] == TangentState::rest || rules_.state[i - nN_] == TangentState::tied;
      if (!present) continue;
      const bool free = normal ? m_.treatment[i] == kHeld : rules_.state[i - nN_] == TangentState::tied;
      m_.unknown_of_row[i] = size;
      m_.free_row[size++] = free ? 1 : 0;
      if (!normal && !free) m_.free_row[size++] = 0;
    }
    // λ = P z + r, r in the last column.
    const int width = size + 1;
    provide(m_.reaction_of_unknowns, static_cast<std::size_t>(n_) * static_cast<std::size_t>(width));
    provide(m_.lcp_matrix, static_cast<std::size_t>(size) * static_cast<std::size_t>(size));
    m_.lcp.resize(size);
    double* P = m_.reaction_of_unknowns.data();
    std::fill_n(P, n_ * width, 0.0);
    for (int i = 0; i < n_; ++i) {
      const int z = m_.unknown_of_row[i];
      if (z >= 0) P[i * width + z] = 1;
    }
    for (int j = 0; j < nT_; ++j) {
      if (rules_.state[j] == TangentState::tied) continue;
      const double mu = rules_.state[j] == TangentState::rest ? rules_.slip_mu[j] : slope(j);
      double* row = P + (nN_ + j) * width;
      for (int k = 0; k < nN_; ++k) {
        if (m_.unknown_of_row[k] >= 0) row[m_.unknown_of_row[k]] -= mu * coupling(j, k) * m_.side[k];
      }
      row[size] -= mu * base(j);
    }
    double* M = m_.lcp_matrix.data();
    double* q = m_.lcp_vector.data();
    std::fill_n(M, size * size, 0.0);
    for (int i = 0; i < n_; ++i) {
      const int z = m_.unknown_of_row[i];
      if (z < 0) continue;
      double* row = M + z * size;
      m_.look();
      for (int k = 0; k < n_; ++k) {
        const double entry = p_.A[i * n_ + k];
        if (entry == 0) continue;
        // A row of P has its own unknown and, for friction, those of the normal reactions that feed it.
        const int own = m_.unknown_of_row[k];
        if (own >= 0) row[own] += entry * P[k * width + own];
        if (k < nN_) continue;
        for (int u = 0; u < nN_; ++u) {
          const int fed = m_.unknown_of_row[u];
          if (fed >= 0 && P[k * width + fed] != 0) row[fed] += entry * P[k * width + fed];
        }
      }
      q[z] = p_.b[i];
      for (int k = 0; k < n_; ++k) q[z] += p_.A[i * n_ + k] * P[k * width + size];
      if (i < nN_ || m_.free_row[z] != 0) continue;
      const int j = i - nN_;
      row[z + 1] += 1;  // a⁺ = a + a⁻
      double* twin = M + (z + 1) * size;
      twin[z] = -1;
      for (int k = 0; k < nN_; ++k) {
        if (m_.unknown_of_row[k] >= 0)
          twin[m_.unknown_of_row[k]] += 2 * rules_.slip_mu[j] * coupling(j, k) * m_.side[k];
      }
      q[z + 1] = 2 * rules_.slip_mu[j] * base(j);
    }
    const LcpProblem lcp{size, M, q, m_.free_row.data()};
    const LcpSolution solution = solve_lemke(lcp, {.max_pivots = 20 * (n_ + 1) + 50}, m_.lcp);
    if (solution.status != LcpStatus::solved) return false;
    for (int i = 0; i < n_; ++i) {
      double value = P[i * width + size];
      for (int c = 0; c < size; ++c) value += P[i * width + c] * solution.z[c];
      m_.force[i] = value;
    }
    return true;
  }

  [[nodiscard]] double limit(const double* force, int j) const {
    double value = base(j);
    for (int k = 0; k < nN_; ++k) {
      value += coupling(j, k) * (is_bilateral(k) ? std::abs(force[k]) : std::max(force[k], 0.0));
    }
    return value;
  }

  [[nodiscard]] double ratio(int i) const {
    return m_.acceleration_scale[i] > 0 ? m_.force_scale[i] / m_.acceleration_scale[i] : 1;
  }

  // The natural map, each entry a force. Zero exactly at the solutions.
  double natural_map(const double* force, double* value) const {
    double norm = 0;
    for (int i = 0; i < n_; ++i) {
      double a = p_.b[i];
      for (int k = 0; k < n_; ++k) a += p_.A[i * n_ + k] * force[k];
      const double push = ratio(i) * a;
      if (i < nN_) {
        switch (m_.treatment[i]) {
          case kHeld:
            value[i] = push;
            break;
          case kAbsent:
            value[i] = force[i];
            break;
          default:
            value[i] = std::min(force[i], push);
            break;
        }
      } else {
        const int j = i - nN_;
        const double L = limit(force, j);
        switch (rules_.state[j]) {
          case TangentState::rest: {
            const double bound = rules_.slip_mu[j] * L;
            value[i] = force[i] - std::clamp(force[i] - push, -bound, bound);
            break;
          }
          case TangentState::tied:
            value[i] = L > 0 ? push : force[i];
            break;
          default:
            value[i] = force[i] + slope(j) * L;
            break;
        }
      }
      const double relative = m_.force_scale[i] > 0 ? value[i] / m_.force_scale[i] : value[i];
      norm += relative * relative;
    }
    return std::sqrt(norm);
  }

  // Row i of a generalised derivative of the natural map.
  void derivative(const double* force, int i, double* row) const {
    std::fill_n(row, n_, 0.0);
    double a = p_.b[i];
    for (int k = 0; k < n_; ++k) a += p_.A[i * n_ + k] * force[k];
    const double push = ratio(i) * a;
    const auto add_push = [&] {
      for (int k = 0; k < n_; ++k) row[k] += ratio(i) * p_.A[i * n_ + k];
    };
    const auto add_limit = [&](int j, double factor) {
      for (int k = 0; k < nN_; ++k) {
        const double side = is_bilateral(k) ? std::copysign(1.0, force[k]) : (force[k] >= 0 ? 1.0 : 0.0);
        row[k] += factor * coupling(j, k) * side;
      }
    };
    if (i < nN_) {
      if (m_.treatment[i] == kHeld || (m_.treatment[i] == kComplementary && push < force[i])) {
        add_push();
      } else {
        row[i] = 1;
      }
      return;
    }
    const int j = i - nN_;
    const double L = limit(force, j);
    if (rules_.state[j] == TangentState::rest) {
      const double bound = rules_.slip_mu[j] * L;
      const double pull = force[i] - push;
      if (std::abs(pull) <= bound && bound > 0) {
        add_push();
      } else {
        row[i] = 1;
        add_limit(j, pull > 0 ? -rules_.slip_mu[j] : rules_.slip_mu[j]);
      }
    } else if (rules_.state[j] == TangentState::tied && L > 0) {
      add_push();
    } else {
      row[i] = 1;
      if (rules_.state[j] != TangentState::tied) add_limit(j, slope(j));
    }
  }

  bool newton() {
    double* x = m_.force.data();
    double* value = m_.newton_value.data();
    double* trial = m_.newton_trial.data();
    double* step = m_.newton_step.data();
    std::fill_n(x, n_, 0.0);
    for (int i = 0; i < nN_; ++i) x[i] = m_.treatment[i] == kAbsent ? 0 : m_.force_scale[i];
    double norm = natural_map(x, value);
    for (int iteration = 0; iteration < o_.max_iterations; ++iteration) {
      if (norm <= 0.01 * kAccepted) return true;
      for (int i = 0; i < n_; ++i) derivative(x, i, m_.newton_matrix.data() + i * n_);
      std::copy_n(value, n_, step);
      if (!solve_dense(step)) return false;
      double length = 1;
      for (int halving = 0; halving < 8; ++halving) {
        for (int i = 0; i < n_; ++i) trial[i] = x[i] - length * step[i];
        const double next = natural_map(trial, value);
        if (next < (1 - 1e-4 * length) * norm || halving == 7) {
          norm = next;
          break;
        }
        length *= 0.5;
      }
      std::copy_n(trial, n_, x);
      if (!std::isfinite(norm)) return false;
    }
    return norm <= kAccepted;
  }

  // Partial pivoting on newton_matrix; a vanishing pivot is a direction without information and is left
  // alone.
  bool solve_dense(double* right) {
    double* s = m_.newton_matrix.data();
    for (int k = 0; k < n_; ++k) {
      m_.look();
      int best = k;
      for (int r = k + 1; r < n_; ++r) {
        if (std::abs(s[r * n_ + k]) > std::abs(s[best * n_ + k])) best = r;
      }
      if (best != k) {
        for (int c = 0; c < n_; ++c) std::swap(s[best * n_ + c], s[k * n_ + c]);
        std::swap(right[best], right[k]);
      }
      if (!(std::abs(s[k * n_ + k]) > 1e-12)) {
        for (int c = 0; c < n_; ++c) s[k * n_ + c] = c == k ? 1 : 0;
        right[k] = 0;
        continue;
      }
      for (int r = k + 1; r < n_; ++r) {
        const double factor = s[r * n_ + k] / s[k * n_ + k];
        if (factor == 0) continue;
        for (int c = k; c < n_; ++c) s[r * n_ + c] -= factor * s[k * n_ + c];
        right[r] -= factor * right[k];
      }
    }
    for (int k = n_ - 1; k >= 0; --k) {
      for (int c = k + 1; c < n_; ++c) right[k] -= s[k * n_ + c] * right[c];
      right[k] /= s[k * n_ + k];
      if (!std::isfinite(right[k])) return false;
    }
    return true;
  }

  // Reads the mode off λ, checks the natural map, and takes the mode's own exact solution where it is
  // admissible.
  bool accept() {
    double size = 1;
    for (int i = 0; i < n_; ++i) {
      if (!std::isfinite(m_.force[i])) return false;
      if (m_.force_scale[i] > 0) size = std::max(size, std::abs(m_.force[i]) / m_.force_scale[i]);
    }
    if (!(natural_map(m_.force.data(), m_.newton_value.data()) <= kAccepted * size)) return false;
    RowStatus* mode = m_.mode.data();
    bool turned = false;
    for (int i = 0; i < n_; ++i) {
      double a = p_.b[i];
      for (int k = 0; k < n_; ++k) a += p_.A[i * n_ + k] * m_.force[k];
      m_.acceleration[i] = a;
    }
    for (int k = 0; k < nN_; ++k) {
      if (is_bilateral(k)) {
        mode[k] = !has_friction(p_, rules_, k) ? RowStatus::held
                  : m_.force[k] >= 0           ? RowStatus::held_plus
                                               : RowStatus::held_minus;
      } else if (m_.treatment[k] == kAbsent ||
                 (m_.treatment[k] == kComplementary && m_.force[k] < ratio(k) * m_.acceleration[k])) {
        mode[k] = RowStatus::open;
      } else {
        mode[k] = RowStatus::closed;
      }
    }
    for (int j = 0; j < nT_; ++j) {
      const int i = nN_ + j;
      if (!can_carry(p_, rules_, mode, j)) {
        mode[i] = RowStatus::free;
        continue;
      }
      switch (rules_.state[j]) {
        case TangentState::rest: {
          const double pull = m_.force[i] - ratio(i) * m_.acceleration[i];
          const double bound = rules_.slip_mu[j] * limit(m_.force.data(), j);
          mode[i] = std::abs(pull) <= bound ? RowStatus::stick
                    : pull < 0              ? RowStatus::slip_plus
                                            : RowStatus::slip_minus;
          // On the edge of the cone a row has two statuses; the one that is excluded leaves the other.
          if (excluded(i, mode[i])) {
            mode[i] = mode[i] != RowStatus::stick ? RowStatus::stick
                      : m_.force[i] < 0           ? RowStatus::slip_plus
                                                  : RowStatus::slip_minus;
            turned = true;
          }
          break;
        }
        case TangentState::slip_plus:
          mode[i] = RowStatus::slip_plus;
          break;
        case TangentState::slip_minus:
          mode[i] = RowStatus::slip_minus;
          break;
        case TangentState::follows:
          mode[i] = RowStatus::follows;
          break;
        case TangentState::tied:
          mode[i] = RowStatus::stick;
          break;
      }
    }
    for (int i = 0; i < n_; ++i) {
      if (excluded(i, mode[i])) return false;
    }
    std::copy_n(m_.force.begin(), n_, m_.newton_trial.begin());
    std::copy_n(m_.acceleration.begin(), n_, m_.newton_value.begin());
    ModeSolver solver(p_, rules_, m_);
    if (solver.admissible(mode, o_)) {
      solver.settle();
      return true;
    }
    if (turned) return false;
    std::copy_n(m_.newton_trial.begin(), n_, m_.force.begin());
    for (int i = 0; i < n_; ++i) m_.acceleration[i] = is_active(mode[i]) ? 0 : m_.newton_value[i];
    return true;
  }

  const DecisionProblem& p_;
  const Rules& rules_;
  const DecisionOptions& o_;
  DecisionWorkspace::Memory& m_;
  const int nN_, nT_, n_;
};

}  // namespace

bool solve_iteratively(const DecisionProblem& problem, const Rules& rules, const DecisionOptions& options,
                       bool search, DecisionWorkspace::Memory& memory) {
  return IterativeSolver(problem, rules, options, memory).run(search);
}

}  // namespace judder::contact
