// A second, slow solution of the decision problem, sharing no code with the library: dense full matrices
// over all rows, Eigen's rank-revealing factorisation, and redundant reactions judged by going through the
// vertices of the linear program.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "judder/contact/decision.hpp"

namespace judder::contact::oracle {

/// A decision problem that owns its numbers.
struct Case {
  int normals = 0, tangents = 0;
  std::vector<double> A, b, mu_static, mu_slip, base, coupling;
  std::vector<NormalKind> kind;
  std::vector<TangentState> state;

  [[nodiscard]] int rows() const { return normals + tangents; }
  [[nodiscard]] DecisionProblem problem() const {
    DecisionProblem p;
    p.normals = normals;
    p.tangents = tangents;
    p.A = A.data();
    p.b = b.data();
    p.kind = kind.data();
    p.state = state.data();
    p.mu_static = mu_static.data();
    p.mu_slip = mu_slip.data();
    p.base = base.data();
    p.coupling = coupling.data();
    return p;
  }
  [[nodiscard]] std::string text() const {
    std::ostringstream out;
    out.precision(17);
    const auto list = [&](const char* label, const auto& values) {
      out << label << " =";
      for (const auto& v : values) out << ' ' << +v;
      out << '\n';
    };
    out << normals << " normals, " << tangents << " tangents\n";
    list("A", A);
    list("b", b);
    list("mu_static", mu_static);
    list("mu_slip", mu_slip);
    list("base", base);
    list("coupling", coupling);
    out << "kind =";
    for (const auto k : kind) out << ' ' << static_cast<int>(k);
    out << "\nstate =";
    for (const auto s : state) out << ' ' << static_cast<int>(s);
    out << '\n';
    return out.str();
  }
};

struct Answer {
  std::vector<RowStatus> mode;
  Eigen::VectorXd acceleration;
  int sticking = 0;
};

struct Verdicts {
  Verdict verdict = Verdict::inconsistent;
  std::vector<Answer> answers;  // admissible modes of the last problem solved
};

class Enumeration {
 public:
  explicit Enumeration(const Case& c, double tolerance = 1e-9) : c_(c), tolerance_(tolerance) {
    A_ = Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(c.A.data(), c.rows(), c.rows());
    b_ = Eigen::Map<const Eigen::VectorXd>(c.b.data(), c.rows());
    scale_ = b_.cwiseAbs().maxCoeff();
    for (int j = 0; j < c.tangents; ++j) scale_ = std::max(scale_, c.base[j]);
  }

  Verdicts decide() {
    std::vector<TangentState> state = c_.state;
    std::vector<double> slip = c_.mu_slip;
    for (int j = 0; j < c_.tangents; ++j) {
      if (state[j] == TangentState::rest) slip[j] = c_.mu_static[j];
    }
    std::vector<bool> released(c_.tangents, false);
    bool hysteresis = false;
    for (int j = 0; j < c_.tangents; ++j) {
      if (c_.state[j] == TangentState::rest && c_.mu_static[j] != c_.mu_slip[j]) hysteresis = true;
    }
    while (true) {
      Verdicts v;
      v.answers = all_modes(state, slip);
      if (v.answers.empty()) break;
      if (differ(v.answers)) {
        v.verdict = Verdict::indeterminate;
        return v;
      }
      const Answer& best =
          *std::max_element(v.answers.begin(), v.answers.end(), [](const Answer& x, const Answer& y) {
            return std::pair(x.sticking, closed(x)) < std::pair(y.sticking, closed(y));
          });
      bool again = false;
      for (int j = 0; j < c_.tangents; ++j) {
        const RowStatus s = best.mode[c_.normals + j];
        if (state[j] == TangentState::rest && (s == RowStatus::slip_plus || s == RowStatus::slip_minus) &&
            c_.mu_static[j] != c_.mu_slip[j]) {
          again = true;
        }
      }
      if (!again) {
        bool as_judged = true;
        for (int j = 0; j < c_.tangents; ++j) {
          const int i = c_.normals + j;
          if (!released[j] || best.mode[i] == RowStatus::free) continue;
          const double direction = state[j] == TangentState::slip_plus ? 1 : -1;
          if (direction * best.acceleration[i] < -tolerance_ * scale_) as_judged = false;
        }
        if (!as_judged) break;
        v.verdict = Verdict::unique;
        return v;
      }
      for (int j = 0; j < c_.tangents; ++j) {
        const RowStatus s = best.mode[c_.normals + j];
        if (state[j] != TangentState::rest || (s != RowStatus::slip_plus && s != RowStatus::slip_minus))
          continue;
        state[j] = s == RowStatus::slip_plus ? TangentState::slip_plus : TangentState::slip_minus;
        slip[j] = c_.mu_slip[j];
        released[j] = true;
      }
    }
    Verdicts v;
    if (!hysteresis) return v;
    v.answers = all_modes(c_.state, c_.mu_slip);
    if (v.answers.empty()) return v;
    int most = 0;
    for (const Answer& a : v.answers) most = std::max(most, a.sticking);
    std::erase_if(v.answers, [&](const Answer& a) { return a.sticking < most; });
    v.verdict = differ(v.answers) ? Verdict::indeterminate : Verdict::unique;
    return v;
  }

  /// All modes that are admissible when rows at rest stick with mu_static and slip with `slip`.
  std::vector<Answer> all_modes(const std::vector<TangentState>& state, const std::vector<double>& slip) {
    answers_.clear();
    state_ = state;
    slip_ = slip;
    mode_.assign(c_.rows(), RowStatus::open);
    choose(0);
    return answers_;
  }

  static int closed(const Answer& a) {
    return static_cast<int>(std::count(a.mode.begin(), a.mode.end(), RowStatus::closed));
  }

 private:
  [[nodiscard]] bool differ(const std::vector<Answer>& answers) const {
    for (const Answer& a : answers) {
      if ((a.acceleration - answers.front().acceleration).cwiseAbs().maxCoeff() > 1e-6 * scale_) return true;
    }
    return false;
  }

  void choose(int i) {
    if (i == c_.rows()) {
      judge();
      return;
    }
    const auto with = [&](RowStatus s) {
      mode_[i] = s;
      choose(i + 1);
    };
    if (i < c_.normals) {
      if (c_.kind[i] == NormalKind::unilateral) {
        with(RowStatus::open);
        with(RowStatus::closed);
      } else {
        bool rubs = false;
        for (int j = 0; j < c_.tangents; ++j) rubs = rubs || c_.coupling[j * c_.normals + i] > 0;
        if (rubs) {
          with(RowStatus::held_plus);
          with(RowStatus::held_minus);
        } else {
          with(RowStatus::held);
        }
      }
      return;
    }
    const int j = i - c_.normals;
    bool loaded = c_.base[j] > 0;
    for (int k = 0; k < c_.normals; ++k) {
      if (c_.coupling[j * c_.normals + k] > 0 && mode_[k] != RowStatus::open) loaded = true;
    }
    if (!loaded) {
      with(RowStatus::free);
    } else if (state_[j] == TangentState::rest) {
      with(RowStatus::slip_minus);
      with(RowStatus::slip_plus);
      with(RowStatus::stick);
    } else if (state_[j] == TangentState::follows) {
      with(RowStatus::follows);
    } else {
      with(state_[j] == TangentState::slip_plus ? RowStatus::slip_plus : RowStatus::slip_minus);
    }
  }

  // All n reactions at once: one equation per row, then the inequalities on the affine solution set.
  void judge() {
    const int n = c_.rows();
    Eigen::MatrixXd limit = Eigen::MatrixXd::Zero(c_.tangents, n);  // L = limit λ + base
    for (int j = 0; j < c_.tangents; ++j) {
      for (int k = 0; k < c_.normals; ++k) {
        const double side = mode_[k] == RowStatus::open ? 0 : mode_[k] == RowStatus::held_minus ? -1 : 1;
        limit(j, k) = c_.coupling[j * c_.normals + k] * side;
      }
    }
    Eigen::MatrixXd E = Eigen::MatrixXd::Zero(n, n);
    Eigen::VectorXd r = Eigen::VectorXd::Zero(n);
    for (int i = 0; i < n; ++i) {
      switch (mode_[i]) {
        case RowStatus::open:
        case RowStatus::free:
          E(i, i) = 1;
          break;
        case RowStatus::slip_plus:
        case RowStatus::slip_minus:
        case RowStatus::follows: {
          const int j = i - c_.normals;
          const double c = (mode_[i] == RowStatus::slip_minus ? -1 : 1) * slip_[j];
          E(i, i) = 1;
          E.row(i) += c * limit.row(j);
          r(i) = -c * c_.base[j];
          break;
        }
        default:
          E.row(i) = A_.row(i);
          r(i) = -b_(i);
      }
    }
    Eigen::FullPivLU<Eigen::MatrixXd> lu(E);
    lu.setThreshold(1e-10);
    const Eigen::VectorXd force = lu.solve(r);
    const double size = std::max(scale_, force.cwiseAbs().maxCoeff());
    if (!force.allFinite() || (E * force - r).cwiseAbs().maxCoeff() > 1e-8 * size) return;
    Eigen::MatrixXd null(n, 0);
    if (lu.rank() < n) null = lu.kernel();

    // Rows of (constant, null-space part) that must be ≥ 0.
    std::vector<std::pair<double, Eigen::VectorXd>> conditions;
    const auto affine = [&](double constant, const Eigen::RowVectorXd& gradient) {
      conditions.emplace_back(constant + gradient.dot(force), (gradient * null).transpose());
    };
    for (int i = 0; i < n; ++i) {
      const Eigen::RowVectorXd e = Eigen::RowVectorXd::Unit(n, i);
      switch (mode_[i]) {
        case RowStatus::open:
          affine(b_(i), A_.row(i));
          break;
        case RowStatus::closed:
        case RowStatus::held_plus:
          affine(0, e);
          break;
        case RowStatus::held_minus:
          affine(0, -e);
          break;
        case RowStatus::stick: {
          const int j = i - c_.normals;
          affine(c_.mu_static[j] * c_.base[j], c_.mu_static[j] * limit.row(j) - e);
          affine(c_.mu_static[j] * c_.base[j], c_.mu_static[j] * limit.row(j) + e);
          break;
        }
        case RowStatus::slip_plus:
          if (state_[i - c_.normals] == TangentState::rest) affine(b_(i), A_.row(i));
          break;
        case RowStatus::slip_minus:
          if (state_[i - c_.normals] == TangentState::rest) affine(-b_(i), -A_.row(i));
          break;
        default:
          break;
      }
    }
    std::vector<Eigen::VectorXd> vertices;
    find_vertices(conditions, static_cast<int>(null.cols()), size, vertices);
    // One answer per vertex with other accelerations: reactions that change accelerations are an
    // indeterminacy too.
    std::vector<Eigen::VectorXd> seen;
    for (const Eigen::VectorXd& y : vertices) {
      const Eigen::VectorXd acceleration = A_ * (force + null * y) + b_;
      if (std::any_of(seen.begin(), seen.end(), [&](const auto& a) {
            return (a - acceleration).cwiseAbs().maxCoeff() < 1e-6 * scale_;
          })) {
        continue;
      }
      seen.push_back(acceleration);
      answers_.push_back(
          {mode_, acceleration, static_cast<int>(std::count(mode_.begin(), mode_.end(), RowStatus::stick))});
    }
  }

  using Conditions = std::vector<std::pair<double, Eigen::VectorXd>>;

  // Corners of the set of y with constant + gradient·y ≥ −tolerance for all conditions, boxed.
  void find_vertices(const Conditions& conditions, int dimension, double size,
                     std::vector<Eigen::VectorXd>& out) const {
    const double slack = tolerance_ * size;
    Conditions boxed = conditions;
    for (int d = 0; d < dimension; ++d) {
      boxed.emplace_back(1e3 * size, Eigen::VectorXd::Unit(dimension, d));
      boxed.emplace_back(1e3 * size, -Eigen::VectorXd::Unit(dimension, d));
    }
    std::vector<int> pick(dimension);
    search(boxed, pick, 0, 0, slack, out);
  }

  static void search(const Conditions& c, std::vector<int>& pick, int depth, int from, double slack,
                     std::vector<Eigen::VectorXd>& out) {
    const int dimension = static_cast<int>(pick.size());
    if (depth < dimension) {
      for (int i = from; i < static_cast<int>(c.size()); ++i) {
        pick[depth] = i;
        search(c, pick, depth + 1, i + 1, slack, out);
      }
      return;
    }
    Eigen::VectorXd y = Eigen::VectorXd::Zero(dimension);
    if (dimension > 0) {
      Eigen::MatrixXd G(dimension, dimension);
      Eigen::VectorXd g(dimension);
      for (int d = 0; d < dimension; ++d) {
        G.row(d) = c[pick[d]].second.transpose();
        g(d) = -c[pick[d]].first - 0.5 * slack;
      }
      Eigen::FullPivLU<Eigen::MatrixXd> lu(G);
      lu.setThreshold(1e-9);
      if (lu.rank() < dimension) return;
      y = lu.solve(g);
    }
    if (std::all_of(c.begin(), c.end(), [&](const auto& x) { return x.first + x.second.dot(y) >= -slack; }))
      out.push_back(y);
  }

  const Case& c_;
  double tolerance_;
  Eigen::MatrixXd A_;
  Eigen::VectorXd b_;
  double scale_ = 0;
  std::vector<TangentState> state_;
  std::vector<double> slip_;
  std::vector<RowStatus> mode_;
  std::vector<Answer> answers_;
};

struct RandomOptions {
  int max_contacts = 4;
  bool joints = true, bilateral = true, hysteresis = true, dependent = true, known_slip = true;
};

/// A mechanical system with random mass matrix, rows and loads: A = Wᵀ M⁻¹ W, b = Wᵀ M⁻¹ h (+ noise where
/// rows are independent).
inline Case random_case(std::mt19937_64& random, const RandomOptions& options = {}) {
  std::uniform_real_distribution<double> unit(-1, 1);
  std::uniform_real_distribution<double> mu(0, 1.2);
  const auto chance = [&](double p) { return std::uniform_real_distribution<double>(0, 1)(random) < p; };
  const auto integer = [&](int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random); };
  Case c;
  const int contacts = integer(1, options.max_contacts);
  const int joints = options.joints ? integer(0, contacts < 3 ? 2 : 1) : 0;
  for (int k = 0; k < contacts; ++k) {
    c.kind.push_back(options.bilateral && chance(0.2) ? NormalKind::bilateral : NormalKind::unilateral);
  }
  c.normals = contacts;
  std::vector<std::vector<double>> coupling;
  for (int k = 0; k < contacts; ++k) {
    if (chance(0.2)) continue;  // frictionless
    std::vector<double> row(contacts, 0.0);
    row[k] = 1;
    coupling.push_back(row);
    c.base.push_back(0);
  }
  for (int j = 0; j < joints; ++j) {
    std::vector<double> row(contacts, 0.0);
    const bool shares = chance(0.2);
    if (shares) row[integer(0, contacts - 1)] = 0.5;
    coupling.push_back(row);
    c.base.push_back(shares && chance(0.5) ? 0.0 : 1.0 + 0.5 * unit(random));
  }
  c.tangents = static_cast<int>(coupling.size());
  for (const auto& row : coupling) c.coupling.insert(c.coupling.end(), row.begin(), row.end());
  for (int j = 0; j < c.tangents; ++j) {
    const double slip = mu(random);
    c.mu_slip.push_back(slip);
    c.mu_static.push_back(options.hysteresis && chance(0.4) ? slip * (1 + 0.5 * mu(random)) : slip);
    const int kind = integer(0, 9);
    TangentState s = TangentState::rest;
    if (options.known_slip && kind == 0) s = TangentState::slip_plus;
    if (options.known_slip && kind == 1) s = TangentState::slip_minus;
    if (options.known_slip && kind == 2) s = TangentState::follows;
    if (s == TangentState::follows && chance(0.5)) c.mu_slip.back() = -slip;
    c.state.push_back(s);
  }
  const int n = c.rows();
  const int freedom = options.dependent ? std::max(1, n - integer(-1, 2)) : n + integer(0, 2);
  // Draws whose rank depends on the threshold are no test of anything: the singular values of every A are
  // clearly zero or not.
  Eigen::MatrixXd A;
  Eigen::VectorXd b;
  while (true) {
    Eigen::MatrixXd L(freedom, freedom), W(freedom, n);
    for (int i = 0; i < freedom; ++i) {
      for (int j = 0; j < freedom; ++j) L(i, j) = unit(random) + (i == j ? 1.0 : 0.0);
      for (int j = 0; j < n; ++j) W(i, j) = unit(random);
    }
    Eigen::VectorXd h(freedom);
    for (int i = 0; i < freedom; ++i) h(i) = unit(random);
    const Eigen::MatrixXd inverse_mass = L * L.transpose();
    A = W.transpose() * inverse_mass * W;
    b = W.transpose() * (inverse_mass * h);
    const Eigen::VectorXd singular = A.jacobiSvd().singularValues() / A.norm();
    if ((singular.array() > 1e-12 && singular.array() < 1e-5).count() == 0) break;
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) c.A.push_back(A(i, j));
    c.b.push_back(b(i));
  }
  return c;
}

}  // namespace judder::contact::oracle
