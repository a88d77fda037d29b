// Stability of what the search has found: eigenvalues of the smooth motion, and of sliding on a surface.
#include <algorithm>
#include <cmath>

#include "analysis/rest_finder.hpp"
#include "core/dense/matrix.hpp"
#include "judder/core/number.hpp"

namespace judder::analysis {

using Row = std::vector<double>;

namespace {

class Judge {
 public:
  explicit Judge(RestEquations& equations)
      : equations_(equations),
        system_(equations.system()),
        layout_(system_.layout()),
        work_(equations.work()),
        n_(static_cast<std::size_t>(layout_.coordinates)),
        m_(static_cast<std::size_t>(layout_.states)) {}
  void judge(const Row& u, FoundRest& rest);

 private:
  bool field(const Row& y, Row& rate);
  void judge_smooth(const Row& u, FoundRest& rest);
  void judge_sliding(const Row& u, FoundRest& rest);
  [[nodiscard]] bool minimum_of_energy(const Row& u);
  [[nodiscard]] double scale(std::size_t i) const { return equations_.position_scale(i); }

  RestEquations& equations_;
  const model::System& system_;
  const model::Layout& layout_;
  model::Workspace& work_;
  std::size_t n_, m_;
};

/// ẏ of the motion with all statuses as they are, friction of what slides included; y = (q, v, z). No contact is closed.
bool Judge::field(const Row& y, Row& rate) {
  for (std::size_t i = 0; i < 2 * n_ + m_; ++i) work_.in[static_cast<std::size_t>(layout_.q()) + i] = y[i];
  equations_.set_sides(0);
  if (!system_.motion(work_)) return false;
  Row force = work_.force;
  for (std::size_t k = 0; k < system_.relations().size(); ++k) {
    const model::Relation& relation = system_.relations()[k];
    if (!equations_.active(k) || relation.tangents == 0 || relation.smooth_friction) continue;
    const model::RelationRows& rows = system_.rows(work_, static_cast<int>(k));
    const double sign = rows.tangent[0].drive > 0 ? 1 : -1;
    for (std::size_t i = 0; i < n_; ++i)
      force[i] -= sign * rows.tangent[0].drag[static_cast<int>(i)] * rows.tangent[0].mu * rows.base;
  }
  system_.solve_mass(work_, force.data());
  rate.assign(2 * n_ + m_, 0);
  for (std::size_t i = 0; i < n_; ++i) {
    rate[i] = y[n_ + i];
    rate[n_ + i] = force[i];
  }
  for (std::size_t i = 0; i < m_; ++i) rate[2 * n_ + i] = work_.rate[i];
  return true;
}

void Judge::judge_smooth(const Row& u, FoundRest& rest) {
  const std::size_t size = 2 * n_ + m_;
  Row y(size, 0), plus, minus;
  for (std::size_t i = 0; i < n_; ++i) y[i] = u[i];
  for (std::size_t i = 0; i < m_; ++i) y[2 * n_ + i] = u[n_ + i];
  dense::ComplexMatrix a(size);
  for (std::size_t j = 0; j < size; ++j) {
    const double length = j < n_ ? scale(j) : scale(j - n_);
    const double h = 1e-5 * std::max(length, std::abs(y[j]));
    Row moved = y;
    moved[j] += h;
    if (!field(moved, plus)) return;
    moved[j] = y[j] - h;
    if (!field(moved, minus)) return;
    for (std::size_t i = 0; i < size; ++i) a(i, j) = (plus[i] - minus[i]) / (2 * h);
  }
  for (std::size_t i = 0; i < n_; ++i) work_.in[static_cast<std::size_t>(layout_.v()) + i] = 0;
  rest.eigenvalues = dense::eigenvalues(std::move(a));
  if (rest.eigenvalues.empty()) return;
  double most = 0;
  for (const auto& each : rest.eigenvalues) most = std::max(most, std::abs(each));
  const double growth = rest.eigenvalues.front().real();
  const std::string text = to_text(growth, 6);
  if (growth > 1e-7 * most) {
    rest.stability = Stability::unstable;
    rest.why = "an eigenvalue has the real part " + text;
  } else if (growth < -1e-7 * most) {
    rest.stability = Stability::asymptotic;
    rest.why = "all eigenvalues have real parts up to " + text;
  } else if (minimum_of_energy(u)) {
    rest.stability = Stability::lyapunov;
    rest.why = "energy is conserved, and its potential has a minimum here";
  } else {
    rest.why = "eigenvalues lie on the imaginary axis, which decides nothing";
  }
}

/// Lagrange and Dirichlet. Nothing but inertia and potentials may be at work: no other element has a power, and no friction acts.
bool Judge::minimum_of_energy(const Row& u) {
  if (m_ > 0 || !system_.autonomous()) return false;
  for (const model::AuditInfo& info : system_.audits()) {
    if (info.power >= 0) return false;
  }
  for (std::size_t k = 0; k < system_.relations().size(); ++k) {
    if (equations_.active(k) && system_.relations()[k].tangents > 0) return false;
  }
  // Cholesky's factors of the stiffness.
  std::vector<double> a = equations_.linearised(u).stiffness;
  double most = 0;
  for (const double each : a) most = std::max(most, std::abs(each));
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      if (std::abs(a[i * n_ + j] - a[j * n_ + i]) > 1e-9 * most) return false;
      double sum = a[i * n_ + j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i * n_ + k] * a[j * n_ + k];
      if (i == j && !(sum > 1e-9 * most)) return false;
      a[i * n_ + j] = i == j ? std::sqrt(sum) : sum / a[j * n_ + j];
    }
  }
  return n_ > 0;
}

/// One surface of a first-order model: does it attract, and where does the sliding motion go?
void Judge::judge_sliding(const Row& u, FoundRest& rest) {
  const std::size_t k = equations_.slid().front();
  const model::SwitchInfo& info = system_.switches()[k];
  Row parts(static_cast<std::size_t>(info.surface.outputs()));
  const auto sliding = [&](const Row& z, Row& rate, double& into_above, double& into_below) {
    equations_.load(z);
    Row both[2];
    for (unsigned corner = 0; corner < 2; ++corner) {
      equations_.set_sides(corner);
      if (!system_.motion(work_)) return false;
      both[corner] = work_.rate;
    }
    info.surface.evaluate(work_.in.data(), parts.data(), work_.registers.data());
    into_above = into_below = 0;
    for (std::size_t i = 0; i < m_; ++i) {
      into_above += parts[2 + i] * both[1][i];
      into_below += parts[2 + i] * both[0][i];
    }
    const double share = into_below / (into_below - into_above);
    rate.resize(m_);
    for (std::size_t i = 0; i < m_; ++i) rate[i] = share * both[1][i] + (1 - share) * both[0][i];
    return true;
  };
  Row z(u.begin(), u.begin() + static_cast<std::ptrdiff_t>(m_)), rate;
  double above = 0, below = 0;
  if (!sliding(z, rate, above, below)) return;
  if (!(above < 0 && below > 0)) {
    rest.stability = Stability::unstable;
    rest.why = above > 0 && below < 0 ? "the surface repels on both sides"
                                      : "the surface does not attract from both sides";
    return;
  }
  Row plus, minus;
  dense::ComplexMatrix a(m_);
  for (std::size_t j = 0; j < m_; ++j) {
    const double h = 1e-5 * std::max(scale(j), std::abs(z[j]));
    Row moved = z;
    double x = 0, y = 0;
    moved[j] += h;
    if (!sliding(moved, plus, x, y)) return;
    moved[j] = z[j] - h;
    if (!sliding(moved, minus, x, y)) return;
    for (std::size_t i = 0; i < m_; ++i) a(i, j) = (plus[i] - minus[i]) / (2 * h);
  }
  auto values = dense::eigenvalues(std::move(a));
  if (values.empty()) return;
  // One of them belongs to the direction off the surface, on which the field is tangent: it is zero.
  const auto least = std::min_element(values.begin(), values.end(),
                                      [](const auto& p, const auto& q) { return std::abs(p) < std::abs(q); });
  values.erase(least);
  rest.eigenvalues = values;
  if (values.empty()) {
    rest.stability = Stability::asymptotic;
    rest.why = "the surface attracts from both sides";
    return;
  }
  double most = 0;
  for (const auto& each : values) most = std::max(most, std::abs(each));
  const double growth = values.front().real();
  rest.stability = growth > 1e-6 * most    ? Stability::unstable
                   : growth < -1e-6 * most ? Stability::asymptotic
                                           : Stability::open;
  rest.why = "the surface attracts, and the eigenvalues of sliding on it have real parts up to " +
             to_text(growth, 6);
}

void Judge::judge(const Row& u, FoundRest& rest) {
  bool held = !equations_.pressed().empty();
  for (const RestStatus status : rest.state.status)
    held = held || status == RestStatus::stuck || status == RestStatus::slip_plus ||
           status == RestStatus::slip_minus;
  for (std::size_t k = 0; k < system_.switches().size(); ++k)
    held = held || equations_.kind(k) == RestEquations::Switch::idle;
  rest.why = "no theorem applies";
  if (!held && equations_.slid().empty()) return judge_smooth(u, rest);
  if (!held && equations_.slid().size() == 1 && n_ == 0) return judge_sliding(u, rest);
}

}  // namespace

void judge_found(RestEquations& equations, const std::vector<double>& u, FoundRest& rest) {
  Judge(equations).judge(u, rest);
}

}  // namespace judder::analysis
