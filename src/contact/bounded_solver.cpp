// Decision problems in which every reaction has bounds of its own: friction with given normal forces, and contacts without friction.
//
// With A symmetric and positive semidefinite these are the conditions of
//
//     minimise ½ λᵀ A λ + bᵀ λ    over    lower ≤ λ ≤ upper
//
// (Gauss's principle in the reactions): a box has a solution whatever the numbers and the size are, and all solutions share
// their accelerations. So no mode is enumerated. Rows lie between their bounds (a = 0) or on one of them (a of the right sign); all rows that contradict
// change their place at once, as long as there are fewer and fewer of them, otherwise one at a time by the rule of the last index. That ends for every
// positive definite matrix (Júdice, Pires 1994), and a share of 1e-10 on the diagonal makes dependent rows share their
// load. What rounding leaves open is finished by coordinate descent. The mode is then solved as such, without that share.
//
// J. J. Júdice, F. M. Pires, A block principal pivoting algorithm for large-scale strictly monotone linear complementarity problems, Computers Ops Res.
// 21 (1994).
#include <algorithm>
#include <cmath>
#include <limits>

#include "mode_solver.hpp"

namespace judder::contact {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kShare = 1e-10;      // of the diagonal, added to it
constexpr double kSymmetric = 1e-12;  // relative difference of A_ik and A_ki that is rounding

enum Place : std::uint8_t { kBetween, kLower, kUpper, kFixed };

class BoundedSolver {
 public:
  BoundedSolver(const DecisionProblem& problem, const Rules& rules, const DecisionOptions& options,
                DecisionWorkspace::Memory& memory)
      : p_(problem), rules_(rules), o_(options), m_(memory), nN_(problem.normals), n_(problem.rows()) {}

  bool run() {
    set_bounds();
    if (!pivot()) descend();
    read_mode();
    ModeSolver solver(p_, rules_, m_);
    if (solver.admissible(m_.mode.data(), o_)) {
      solver.settle();
      return true;
    }
    return close_enough();
  }

 private:
  [[nodiscard]] unsigned excluded(int i) const { return p_.excluded != nullptr ? p_.excluded[i] : 0U; }
  [[nodiscard]] bool allowed(int i, RowStatus status) const { return (excluded(i) & bit(status)) == 0; }

  void set_bounds() {
    for (int i = 0; i < n_; ++i) {
      m_.treatment[i] = kBetween;
      if (i < nN_) {
        const bool bilateral = p_.kind != nullptr && p_.kind[i] == NormalKind::bilateral;
        m_.lower[i] = bilateral || !allowed(i, RowStatus::open) ? -kInfinity : 0;
        m_.upper[i] = kInfinity;
        if (!bilateral && !allowed(i, RowStatus::closed)) fix(i, 0);
        continue;
      }
      const int j = i - nN_;
      const double base = p_.base != nullptr ? p_.base[j] : 0;
      const double bound = rules_.slip_mu[j] * base;
      switch (rules_.state[j]) {
        case TangentState::rest:
          m_.lower[i] = -bound;
          m_.upper[i] = bound;
          break;
        case TangentState::slip_minus:
          fix(i, bound);
          break;
        default:
          fix(i, -bound);
          break;
      }
    }
  }

  void fix(int i, double value) {
    m_.treatment[i] = kFixed;
    m_.lower[i] = m_.upper[i] = value;
  }

  // Where row i may not lie although its numbers say so; its other place.
  [[nodiscard]] Place permitted(int i, Place place) const {
    if (i < nN_) return place;
    const bool stick = allowed(i, RowStatus::stick);
    switch (place) {
      case kBetween:
        if (stick) return place;
        return (m_.force[i] < 0 || !allowed(i, RowStatus::slip_minus)) && allowed(i, RowStatus::slip_plus)
                   ? kLower
                   : kUpper;
      case kLower:
        if (allowed(i, RowStatus::slip_plus)) return place;
        return stick ? kBetween : kUpper;
      default:
        if (allowed(i, RowStatus::slip_minus)) return place;
        return stick ? kBetween : kLower;
    }
  }

  // λ of all rows with the places as they are, and a.
  void solve() {
    double* const x = m_.force.data();
    int count = 0;
    for (int i = 0; i < n_; ++i) {
      if (m_.treatment[i] == kBetween) {
        m_.active[count++] = i;
        x[i] = 0;
      } else {
        x[i] = m_.treatment[i] == kUpper ? m_.upper[i] : m_.lower[i];
      }
    }
    double* const s = m_.newton_matrix.data();
    double* const right = m_.newton_step.data();
    for (int r = 0; r < count; ++r) {
      const int i = m_.active[r];
      const double* a = p_.A + static_cast<std::ptrdiff_t>(i) * n_;
      double value = -p_.b[i];
      for (int k = 0; k < n_; ++k) value -= a[k] * x[k];
      right[r] = value;
      for (int q = 0; q < r; ++q) s[r * count + q] = a[m_.active[q]];
      s[r * count + r] = a[i] * (1 + kShare);
    }
    // L D Lᵀ; chains have few entries and no row looks before its first one.
    for (int r = 0; r < count; ++r) {
      m_.look();
      double* row = s + r * count;
      int first = 0;
      while (first < r && row[first] == 0) ++first;
      m_.row[r] = first;
      for (int q = first; q < r; ++q) {
        double value = row[q];
        const double* other = s + q * count;
        for (int k = std::max(first, m_.row[q]); k < q; ++k) value -= row[k] * other[k];
        row[q] = value;  // L D so far
      }
      double diagonal = row[r];
      for (int q = first; q < r; ++q) {
        const double pivot = s[q * count + q];
        const double entry = pivot > 0 ? row[q] / pivot : 0;
        diagonal -= entry * row[q];
        row[q] = entry;
      }
      row[r] = diagonal > 0 ? diagonal : 0;
      for (int q = first; q < r; ++q) right[r] -= row[q] * right[q];
    }
    for (int r = 0; r < count; ++r) right[r] = s[r * count + r] > 0 ? right[r] / s[r * count + r] : 0;
    for (int r = count - 1; r >= 0; --r) {
      const double value = right[r];
      for (int q = m_.row[r]; q < r; ++q) right[q] -= s[r * count + q] * value;
      x[m_.active[r]] = value;
    }
    size_ = 1;
    for (int i = 0; i < n_; ++i) size_ = std::max(size_, std::abs(x[i]) * m_.inverse_force_scale[i]);
    for (int i = 0; i < n_; ++i) m_.acceleration[i] = acceleration(i);
  }

  [[nodiscard]] double acceleration(int i) const {
    double value = p_.b[i];
    const double* a = p_.A + static_cast<std::ptrdiff_t>(i) * n_;
    for (int k = 0; k < n_; ++k) value += a[k] * m_.force[k];
    return value;
  }

  // The place that the numbers of row i ask for.
  [[nodiscard]] Place wanted(int i) const {
    const auto place = static_cast<Place>(m_.treatment[i]);
    const double force_slack = o_.tolerance * size_ * m_.force_scale[i];
    const double slack = o_.tolerance * size_ * m_.acceleration_scale[i];
    switch (place) {
      case kBetween:
        // A row that nothing can move (its masses are infinite, or its direction is driven) slips as it is driven.
        if (p_.A[i * n_ + i] == 0 && i >= nN_ && std::abs(p_.b[i]) > slack)
          return permitted(i, p_.b[i] > 0 ? kLower : kUpper);
        if (m_.force[i] < m_.lower[i] - force_slack) return permitted(i, kLower);
        if (m_.force[i] > m_.upper[i] + force_slack) return permitted(i, kUpper);
        return permitted(i, kBetween);
      case kLower:
        return m_.acceleration[i] < -slack && !(m_.lower[i] == 0 && m_.upper[i] == 0) ? leave(i, kUpper)
                                                                                      : place;
      case kUpper:
        return m_.acceleration[i] > slack && !(m_.lower[i] == 0 && m_.upper[i] == 0) ? leave(i, kLower)
                                                                                     : place;
      default:
        return place;
    }
  }

  [[nodiscard]] Place leave(int i, Place other) const {
    return i < nN_ || allowed(i, RowStatus::stick) ? kBetween : permitted(i, other);
  }

  bool pivot() {
    int fewest = n_ + 1;
    int patience = 10;
    const int most = 60 + 10 * n_;
    for (int round = 0; round < most; ++round) {
      solve();
      int contradicting = 0;
      int last = -1;
      for (int i = 0; i < n_; ++i) {
        if (wanted(i) == m_.treatment[i]) continue;
        ++contradicting;
        last = i;
      }
      if (contradicting == 0) return true;
      if (contradicting < fewest) {
        fewest = contradicting;
        patience = 10;
      } else {
        --patience;
      }
      if (patience > 0) {
        for (int i = 0; i < n_; ++i) m_.treatment[i] = wanted(i);
      } else {
        m_.treatment[last] = wanted(last);
      }
    }
    return false;
  }

  // One row after the other takes its best reaction: the energy falls with each of them.
  void descend() {
    double* const x = m_.force.data();
    for (int i = 0; i < n_; ++i) x[i] = std::clamp(x[i], m_.lower[i], m_.upper[i]);
    const int most = 200 * o_.max_iterations;
    for (int sweep = 0; sweep < most; ++sweep) {
      m_.look();
      double moved = 0;
      for (int i = 0; i < n_; ++i) {
        const double diagonal = p_.A[i * n_ + i];
        if (m_.treatment[i] == kFixed || !(diagonal > 0)) continue;
        const double next = std::clamp(x[i] - acceleration(i) / diagonal, m_.lower[i], m_.upper[i]);
        moved = std::max(moved, std::abs(next - x[i]) * m_.inverse_force_scale[i]);
        x[i] = next;
      }
      if (moved < 0.01 * o_.tolerance) break;
    }
    for (int i = 0; i < n_; ++i) {
      m_.acceleration[i] = acceleration(i);
      if (m_.treatment[i] == kFixed) continue;
      const double diagonal = p_.A[i * n_ + i];
      const double next = diagonal > 0 ? x[i] - m_.acceleration[i] / diagonal : x[i];
      const Place place = next < m_.lower[i]                                   ? kLower
                          : next > m_.upper[i]                                 ? kUpper
                          : diagonal > 0 || m_.acceleration[i] == 0 || i < nN_ ? kBetween
                          : m_.acceleration[i] > 0                             ? kLower
                                                                               : kUpper;
      m_.treatment[i] = permitted(i, place);
    }
  }

  void read_mode() {
    RowStatus* const mode = m_.mode.data();
    for (int i = 0; i < nN_; ++i) {
      const bool bilateral = p_.kind != nullptr && p_.kind[i] == NormalKind::bilateral;
      mode[i] = bilateral                     ? RowStatus::held
                : m_.treatment[i] == kBetween ? RowStatus::closed
                                              : RowStatus::open;
    }
    for (int i = nN_; i < n_; ++i) {
      const int j = i - nN_;
      if (!can_carry(p_, rules_, mode, j)) {
        mode[i] = RowStatus::free;
      } else if (m_.treatment[i] == kFixed) {
        mode[i] = rules_.state[j] == TangentState::slip_minus  ? RowStatus::slip_minus
                  : rules_.state[j] == TangentState::slip_plus ? RowStatus::slip_plus
                                                               : RowStatus::follows;
      } else {
        mode[i] = m_.treatment[i] == kBetween ? RowStatus::stick
                  : m_.treatment[i] == kLower ? RowStatus::slip_plus
                                              : RowStatus::slip_minus;
      }
    }
  }

  // Rounding beyond the tolerance of a mode: the reactions that were found count, if they solve the problem to eight digits.
  bool close_enough() {
    if (!pivot()) descend();
    read_mode();
    for (int i = 0; i < n_; ++i) {
      const double tolerance = 1e-8 * size_;
      const double force = m_.force[i];
      if (!std::isfinite(force)) return false;
      m_.acceleration[i] = acceleration(i);
      if (m_.treatment[i] == kFixed) continue;
      const double slack = tolerance * m_.force_scale[i];
      if (force < m_.lower[i] - slack || force > m_.upper[i] + slack) return false;
      const double a = m_.acceleration[i];
      const double least = m_.treatment[i] == kUpper ? -kInfinity : 0;
      const double most = m_.treatment[i] == kLower ? kInfinity : 0;
      const double band = tolerance * m_.acceleration_scale[i];
      if (a < least - band || a > most + band) return false;
      if (is_active(m_.mode[i])) m_.acceleration[i] = 0;
    }
    return true;
  }

  const DecisionProblem& p_;
  const Rules& rules_;
  const DecisionOptions& o_;
  DecisionWorkspace::Memory& m_;
  const int nN_, n_;
  double size_ = 1;
};

}  // namespace

bool is_bounded(const DecisionProblem& problem) {
  const int nN = problem.normals;
  const int n = problem.rows();
  for (int j = 0; j < problem.tangents; ++j) {
    if (problem.state != nullptr && problem.state[j] == TangentState::tied) return false;
    if (problem.coupling == nullptr) continue;
    for (int k = 0; k < nN; ++k) {
      if (problem.coupling[j * nN + k] != 0) return false;
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) {
      const double a = problem.A[i * n + k];
      const double b = problem.A[k * n + i];
      if (a == b) continue;
      const double size = std::sqrt(std::abs(problem.A[i * n + i]) * std::abs(problem.A[k * n + k]));
      if (!(std::abs(a - b) <= kSymmetric * size)) return false;
    }
  }
  return true;
}

bool solve_bounded(const DecisionProblem& problem, const Rules& rules, const DecisionOptions& options,
                   DecisionWorkspace::Memory& memory) {
  return BoundedSolver(problem, rules, options, memory).run();
}

}  // namespace judder::contact
