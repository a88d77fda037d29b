#include "judder/contact/decision_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "mode_enumerator.hpp"
#include "mode_solver.hpp"

namespace judder::contact {
namespace {

/// Largest entry of a table relative to the scales of its rows: beyond it rounding comes near what is called clear.
constexpr double kLargest = 1e4;

}  // namespace

void DecisionTable::add(int row, bool reaction, const double* coefficients, double constant) {
  scale_.push_back(reaction ? n_ + row : row);
  table_.insert(table_.end(), coefficients, coefficients + n_);
  table_.push_back(constant);
}

bool DecisionTable::build(const DecisionProblem& problem, const DecisionOptions& options,
                          DecisionWorkspace& workspace) {
  n_ = problem.rows();
  tolerance_ = options.tolerance;
  modes_.clear();
  scale_.clear();
  table_.clear();
  statuses_.clear();
  if (n_ == 0 || n_ > kMostRows) return false;
  DecisionWorkspace::Memory& memory = workspace.memory();

  // Everything at rest with its static coefficient, as in the first round of `decide`.
  const Rules rules = plain_rules(problem, memory);
  for (int j = 0; j < problem.tangents; ++j) {
    if (memory.state[j] == TangentState::rest)
      memory.slip_mu[j] = memory.slip_mu_below[j] = memory.stick_mu[j];
  }
  const int nN = problem.normals;
  std::array<double, kMostRows> right{};
  DecisionProblem loaded = problem;  // with one unit of b at a time, or with the known limits alone
  loaded.b = right.data();
  loaded.force_scale = loaded.acceleration_scale = nullptr;
  find_scales(loaded, memory);
  root_.resize(n_);
  inverse_root_.resize(n_);
  for (int i = 0; i < n_; ++i) {
    if (!(problem.A[i * n_ + i] > 0)) return false;
    root_[i] = std::sqrt(problem.A[i * n_ + i]);
    inverse_root_[i] = 1 / root_[i];
  }
  base_size_ = 0;
  for (int j = 0; j < problem.tangents; ++j) {
    const double base = problem.base != nullptr ? problem.base[j] : 0;
    if (base != 0 && memory.stick_mu[j] == 0 && memory.slip_mu[j] != 0) return false;
    base_size_ = std::max(base_size_, memory.stick_mu[j] * base * root_[nN + j]);
  }

  Enumerator enumerator(loaded, rules, memory);
  const int count = enumerator.count(kMostModes);
  if (count > kMostModes || count > options.max_modes) return false;
  bool usable = true;
  std::array<std::array<double, kMostRows + 1>, kMostRows> force{}, acceleration{},
      limit{};  // by row; last: constant
  enumerator.visit([&](const RowStatus* mode) {
    if (!usable) return;
    ModeSolver solver(loaded, rules, memory);
    for (int k = 0; k <= n_; ++k) {
      right.fill(0);
      if (k < n_) right[k] = 1;
      loaded.base = k < n_ ? nullptr : problem.base;
      solver.factor(mode, options.rank_tolerance);
      if (solver.rank() < solver.active()) {
        usable = false;
        return;
      }
      solver.solve();
      for (int i = 0; i < n_; ++i) {
        force[i][k] = memory.force[i];
        acceleration[i][k] = is_active(mode[i]) ? 0 : solver.acceleration(i);
        if (i >= nN) limit[i][k] = memory.limit[i - nN];
      }
    }
    Mode entry;
    entry.first = static_cast<int>(scale_.size());
    for (int i = 0; i < n_; ++i) {
      // |b_k| ≤ β √A_kk, and what the known limits give is at most their share of β.
      double size = 0;
      for (int k = 0; k < n_; ++k) size += std::abs(force[i][k]) * root_[i] * root_[k];
      if (force[i][n_] != 0) size += std::abs(force[i][n_]) * root_[i] / base_size_;
      entry.size = std::max(entry.size, size);
    }
    usable = entry.size <= kLargest;
    std::array<double, kMostRows + 1> row{};
    const auto inequality = [&](int i, bool reaction, const auto& value) {
      for (int k = 0; k <= n_; ++k) row[k] = value(k);
      add(i, reaction, row.data(), row[n_]);
    };
    for (int i = 0; i < n_; ++i) {
      const bool rests = i >= nN && rules.state[i - nN] == TangentState::rest;
      switch (mode[i]) {
        case RowStatus::open:
          inequality(i, false, [&](int k) { return acceleration[i][k]; });
          break;
        case RowStatus::closed:
        case RowStatus::held_plus:
          inequality(i, true, [&](int k) { return force[i][k]; });
          break;
        case RowStatus::held_minus:
          inequality(i, true, [&](int k) { return -force[i][k]; });
          break;
        case RowStatus::stick:
          if (!rests) break;
          inequality(i, true, [&](int k) { return rules.stick_mu[i - nN] * limit[i][k] - force[i][k]; });
          inequality(i, true, [&](int k) { return rules.stick_mu[i - nN] * limit[i][k] + force[i][k]; });
          break;
        case RowStatus::slip_plus:
        case RowStatus::slip_minus: {
          if (!rests) break;
          const double sign = mode[i] == RowStatus::slip_plus ? 1 : -1;
          inequality(i, false, [&](int k) { return sign * acceleration[i][k]; });
          const double slip_mu = problem.mu_slip != nullptr ? problem.mu_slip[i - nN] : 0;
          if (slip_mu != rules.stick_mu[i - nN]) entry.settled = false;
          break;
        }
        default:
          break;
      }
    }
    modes_.push_back(entry);
    statuses_.insert(statuses_.end(), mode, mode + n_);
  });
  if (!usable || modes_.empty()) return false;
  modes_.push_back({static_cast<int>(scale_.size()), 1, true});
  return true;
}

std::span<const RowStatus> DecisionTable::find(const double* b, const double* force_scale,
                                               const double* acceleration_scale) const {
  const int n = n_;
  std::array<double, kMostRows> right;
  std::array<double, 2 * kMostRows> scales;  // tolerance times the scales of accelerations, then of reactions
  double beta = base_size_;
  for (int i = 0; i < n; ++i) {
    right[i] = b[i];
    beta = std::max(beta, std::abs(b[i]) * inverse_root_[i]);
  }
  for (int i = 0; i < n; ++i) {
    double motion = beta * root_[i];
    double reaction = beta * inverse_root_[i];
    if (acceleration_scale != nullptr) motion = std::max(motion, acceleration_scale[i]);
    if (force_scale != nullptr) reaction = std::max(reaction, force_scale[i]);
    scales[i] = tolerance_ * motion;
    scales[n + i] = tolerance_ * reaction;
  }
  int found = -1;
  const int count = static_cast<int>(modes_.size()) - 1;
  const Mode* mode = modes_.data();
  for (int m = 0; m < count; ++m, ++mode) {
    bool holds = true;
    bool fails = false;
    const double* row = table_.data() + mode[0].first * (n + 1);
    const double clear = -kClear * mode[0].size;
    const int end = mode[1].first;
    for (int c = mode[0].first; c < end; ++c) {
      double value = row[n];
      for (int k = 0; k < n; ++k) value += row[k] * right[k];
      row += n + 1;
      const double scale = scales[scale_[c]];
      if (value < clear * scale) {
        fails = true;
        break;
      }
      holds = holds && value >= -kSure * scale;
    }
    if (fails) continue;
    if (!holds || found >= 0) return {};
    found = m;
  }
  if (found < 0 || !modes_[found].settled) return {};
  return {statuses_.data() + found * n, static_cast<std::size_t>(n)};
}

}  // namespace judder::contact
