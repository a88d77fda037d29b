#include "analysis/rest_modes.hpp"

#include <algorithm>
#include <cmath>

#include "core/dense/matrix.hpp"

namespace judder::analysis {
namespace {

/// Adds w to an orthogonal basis; false if it is dependent on it.
bool join(std::vector<std::vector<double>>& basis, std::vector<double> w) {
  double before = 0, after = 0;
  for (const double each : w) before += each * each;
  if (before == 0) return false;
  for (int twice = 0; twice < 2; ++twice) {
    for (const std::vector<double>& b : basis) {
      double dot = 0;
      for (std::size_t i = 0; i < w.size(); ++i) dot += b[i] * w[i];
      for (std::size_t i = 0; i < w.size(); ++i) w[i] -= dot * b[i];
    }
  }
  for (const double each : w) after += each * each;
  if (!(after > 1e-18 * before)) return false;
  for (double& each : w) each /= std::sqrt(after);
  basis.push_back(std::move(w));
  return true;
}

}  // namespace

SlipMode slip_mode(const RestProblem& rest, const RestState& state, double scale, bool let_go) {
  SlipMode out;
  const std::size_t n = out.n = rest.n, count = rest.relations.size();
  out.damping = rest.damping;
  out.stiffness.resize(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) out.stiffness[i * n + j] = rest.stiffness[i * (n + rest.m) + j];
  }
  out.normal.assign(count, SlipMode::kNone);
  out.tangent.assign(count, SlipMode::kNone);
  std::vector<std::vector<double>> basis;
  const auto hold = [&](const std::vector<double>& w, const std::vector<double>& column) {
    if (!join(basis, w)) {
      out.dependent = true;
      return SlipMode::kNone;
    }
    out.held.insert(out.held.end(), w.begin(), w.end());
    out.force.insert(out.force.end(), column.begin(), column.end());
    return n + out.held.size() / n - 1;
  };
  for (std::size_t k = 0; k < count; ++k) {
    const RestProblem::Relation& relation = rest.relations[k];
    if (!relation.has_normal || (relation.unilateral && state.status[k] == RestStatus::detached)) continue;
    if (std::any_of(relation.w.begin(), relation.w.end(), [](double a) { return a != 0; }))
      out.normal[k] = hold(relation.w, relation.push);
  }
  for (std::size_t k = 0; k < count; ++k) {
    const RestProblem::Relation& relation = rest.relations[k];
    if (relation.tangents.empty() || (relation.unilateral && state.status[k] == RestStatus::detached))
      continue;
    const RestProblem::Tangent& tangent = relation.tangents[0];
    const RestStatus status = state.status[k];
    const double damper = tangent.damper();
    for (std::size_t i = 0; i < n && damper != 0; ++i) {
      for (std::size_t j = 0; j < n; ++j) out.damping[i * n + j] += tangent.drag[i] * tangent.w[j] * damper;
    }
    int sign = tangent.drive > 0 ? 1 : tangent.drive < 0 ? -1 : 0;
    if (let_go && status == RestStatus::slip_plus) sign = 1;
    if (let_go && status == RestStatus::slip_minus) sign = -1;
    if (sign == 0) {
      if (tangent.mu > 0) out.tangent[k] = hold(tangent.w, tangent.drag);
      continue;
    }
    // λ_T = −σ μ (base_slope·q + Σ factor |λ_N|) − μ′ L w·q′
    const double mu = scale * (tangent.drive == 0 ? tangent.mu_slip : tangent.mu);
    double load = relation.base;
    for (std::size_t j = 0; j < relation.base_slope.size(); ++j) load += relation.base_slope[j] * state.x[j];
    for (std::size_t f = 0; f < relation.feeds.size(); ++f)
      load += relation.factors[f] * std::abs(state.normal[static_cast<std::size_t>(relation.feeds[f])]);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        out.stiffness[i * n + j] += tangent.drag[i] * sign * mu * relation.base_slope[j];
        out.damping[i * n + j] += tangent.drag[i] * scale * tangent.mu_slope * load * tangent.w[j];
      }
    }
    for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
      const auto fed = static_cast<std::size_t>(relation.feeds[f]);
      if (out.normal[fed] == SlipMode::kNone) continue;
      const double turn = state.normal[fed] < 0 ? -1 : 1;
      for (std::size_t i = 0; i < n; ++i)
        out.force[(out.normal[fed] - n) * n + i] -= tangent.drag[i] * sign * mu * relation.factors[f] * turn;
    }
  }
  out.freedom = n - basis.size();
  return out;
}

bool SlipMode::static_answer(const RestProblem& rest, std::vector<double>& answer) const {
  const std::size_t h = held.size() / std::max<std::size_t>(n, 1), size = n + h;
  if (rest.m != 0) return false;
  dense::RealMatrix a(size);
  answer.assign(size * n, 0);
  double most = 0;
  for (const double each : stiffness) most = std::max(most, std::abs(each));
  if (most == 0) most = 1;
  for (std::size_t i = 0; i < n; ++i) {
    answer[i * n + i] = 1 / most;
    for (std::size_t j = 0; j < n; ++j) a(i, j) = stiffness[i * n + j] / most;
    for (std::size_t c = 0; c < h; ++c) {
      a(i, n + c) = -force[c * n + i];
      a(n + c, i) = held[c * n + i];
    }
  }
  if (!dense::solve(a, answer, n)) return false;
  for (std::size_t c = 0; c < h; ++c) {
    for (std::size_t f = 0; f < n; ++f) answer[(n + c) * n + f] *= most;
  }
  return std::all_of(answer.begin(), answer.end(), [most](double x) {
    return std::isfinite(x) && std::abs(x) < 1e12 * std::max(most, 1 / most);
  });
}

std::vector<std::complex<double>> SlipMode::eigenvalues(const RestProblem& rest) const {
  const std::size_t h = held.size() / std::max<std::size_t>(n, 1), r = freedom;
  if (r == 0 || rest.m != 0) return {};
  // Accelerations for unit positions and velocities: M a − P λ = −(K | C), wᵀ a = 0.
  dense::RealMatrix a(n + h);
  std::vector<double> right((n + h) * 2 * n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      a(i, j) = rest.mass[i * n + j];
      right[i * 2 * n + j] = -stiffness[i * n + j];
      right[i * 2 * n + n + j] = -damping[i * n + j];
    }
    for (std::size_t c = 0; c < h; ++c) {
      a(i, n + c) = -force[c * n + i];
      a(n + c, i) = held[c * n + i];
    }
  }
  if (!dense::solve(a, right, 2 * n)) return {};
  // An orthogonal basis of what is free.
  std::vector<std::vector<double>> basis;
  for (std::size_t c = 0; c < h; ++c)
    join(basis, {held.begin() + static_cast<std::ptrdiff_t>(c * n),
                 held.begin() + static_cast<std::ptrdiff_t>((c + 1) * n)});
  const std::size_t first = basis.size();
  for (std::size_t i = 0; i < n && basis.size() < n; ++i) {
    std::vector<double> unit(n, 0);
    unit[i] = 1;
    std::vector<std::vector<double>> tried = basis;
    // Only directions that are well away from the others, while there are enough of them.
    if (join(tried, unit)) basis = std::move(tried);
  }
  if (basis.size() != n) return {};
  dense::ComplexMatrix system(2 * r);
  for (std::size_t i = 0; i < r; ++i) {
    system(i, r + i) = 1.0;
    for (std::size_t j = 0; j < r; ++j) {
      double position = 0, velocity = 0;
      for (std::size_t p = 0; p < n; ++p) {
        for (std::size_t q = 0; q < n; ++q) {
          position += basis[first + i][p] * right[p * 2 * n + q] * basis[first + j][q];
          velocity += basis[first + i][p] * right[p * 2 * n + n + q] * basis[first + j][q];
        }
      }
      system(r + i, j) = position;
      system(r + i, r + j) = velocity;
    }
  }
  return dense::eigenvalues(std::move(system));
}

}  // namespace judder::analysis
