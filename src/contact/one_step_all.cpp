#include "judder/contact/one_step_all.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace judder::contact {
namespace {

int modes_of(const StepBlock& block) {
  if (block.slips > 1) return 0;
  switch (block.kind) {
    case StepBlockKind::bilateral:
      return 1;
    case StepBlockKind::friction:
      return 3;
    case StepBlockKind::contact:
      return block.slips == 0 ? 2 : 4;
  }
  return 0;
}

StepMode mode_of(const StepBlock& block, int number) {
  if (block.kind == StepBlockKind::bilateral) return StepMode::held;
  if (block.kind == StepBlockKind::friction) ++number;
  return static_cast<StepMode>(number);
}

double entry(const OneStepProblem& problem, int i, int j) {
  const int stride = problem.stride > 0 ? problem.stride : problem.rows();
  return problem.W[static_cast<std::ptrdiff_t>(i) * stride + j];
}

/// Gauss elimination with row pivoting, in place. False: singular.
bool solve(std::vector<double>& a, std::vector<double>& b, int n) {
  for (int c = 0; c < n; ++c) {
    int best = c;
    for (int r = c + 1; r < n; ++r) {
      if (std::abs(a[r * n + c]) > std::abs(a[best * n + c])) best = r;
    }
    double size = 0;
    for (int j = 0; j < n; ++j) size = std::max(size, std::abs(a[best * n + j]));
    if (!(std::abs(a[best * n + c]) > 1e-14 * size)) return false;
    if (best != c) {
      for (int j = 0; j < n; ++j) std::swap(a[c * n + j], a[best * n + j]);
      std::swap(b[c], b[best]);
    }
    for (int r = c + 1; r < n; ++r) {
      const double factor = a[r * n + c] / a[c * n + c];
      if (factor == 0) continue;
      for (int j = c; j < n; ++j) a[r * n + j] -= factor * a[c * n + j];
      b[r] -= factor * b[c];
    }
  }
  for (int c = n; c-- > 0;) {
    for (int j = c + 1; j < n; ++j) b[c] -= a[c * n + j] * b[j];
    b[c] /= a[c * n + c];
  }
  return true;
}

}  // namespace

const char* name(StepMode mode) {
  switch (mode) {
    case StepMode::open:
      return "open";
    case StepMode::stick:
      return "stick";
    case StepMode::slip_plus:
      return "slip+";
    case StepMode::slip_minus:
      return "slip-";
    case StepMode::held:
      return "held";
  }
  return "";
}

bool may_be_several(const OneStepProblem& problem) {
  if (problem.W == nullptr) return false;
  int row = 0;
  for (const StepBlock& block : problem.blocks) {
    if (block.kind == StepBlockKind::contact && block.slips == 1 &&
        !(entry(problem, row, row) > block.mu * std::abs(entry(problem, row, row + 1))))
      return true;
    row += block.rows();
  }
  return false;
}

int OneStepModes::count(const OneStepProblem& problem) {
  if (problem.W == nullptr) return 0;
  long product = 1;
  for (const StepBlock& block : problem.blocks) {
    product *= modes_of(block);
    if (product == 0 || product > kMostModes) return 0;
  }
  return static_cast<int>(product);
}

// Unknown are the impulses of all rows: W r + q = 0 in rows that are closed or stick, r = 0 in those that are open, and r_T ± L = 0 in those that slip, where L
// sees the other impulses with the signs that their modes give them (bilateral rows: that of a first solution without their friction).
bool OneStepModes::try_modes(const OneStepProblem& problem, double tolerance, OneStepSolution& out) {
  const int n = problem.rows();
  std::fill(matrix_.begin(), matrix_.end(), 0.0);
  const auto equation = [&](int i) {
    for (int j = 0; j < n; ++j) matrix_[i * n + j] = entry(problem, i, j);
    right_[i] = -problem.q[i];
  };
  for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
    const StepBlock& block = problem.blocks[b];
    const StepMode mode = out.modes[b];
    int row = first_[b];
    if (block.kind != StepBlockKind::friction) {
      if (mode == StepMode::open) {
        matrix_[row * n + row] = 1;
        right_[row] = 0;
      } else {
        equation(row);
      }
      ++row;
    }
    if (block.slips == 0) continue;
    if (mode == StepMode::open) {
      matrix_[row * n + row] = 1;
      right_[row] = 0;
    } else if (mode == StepMode::stick) {
      equation(row);
    } else {
      const double s = mode == StepMode::slip_plus ? 1 : -1;
      matrix_[row * n + row] = 1;
      right_[row] = -s * block.mu * block.load;
      if (block.kind == StepBlockKind::contact) matrix_[row * n + first_[b]] += s * block.mu;
      for (int k = 0; k < block.feed_size; ++k) {
        const StepFeed& feed = problem.feeds[static_cast<std::size_t>(block.feed + k)];
        const double sign = out.impulse[feed.row] < 0 ? -1 : 1;
        matrix_[row * n + feed.row] += s * block.mu * feed.weight * sign;
      }
    }
  }
  if (!solve(matrix_, right_, n)) return false;
  const std::vector<double> feed_signs = out.impulse;
  out.impulse.assign(right_.begin(), right_.begin() + n);
  out.velocity.assign(n, 0.0);
  std::vector<double> terms(n);
  for (int i = 0; i < n; ++i) {
    double sum = problem.q[i], size = std::abs(problem.q[i]);
    for (int j = 0; j < n; ++j) {
      const double term = entry(problem, i, j) * out.impulse[j];
      sum += term;
      size += std::abs(term);
    }
    out.velocity[i] = sum;
    terms[i] = tolerance * size;
  }
  double largest = 0;
  for (int i = 0; i < n; ++i) largest = std::max(largest, std::abs(out.impulse[i]));
  const double band = tolerance * largest;
  for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
    const StepBlock& block = problem.blocks[b];
    const StepMode mode = out.modes[b];
    int row = first_[b];
    double limit = block.mu * block.load;
    if (block.kind == StepBlockKind::contact) {
      if (mode == StepMode::open ? out.velocity[row] < -terms[row] : out.impulse[row] < -band) return false;
      limit += block.mu * out.impulse[row];
    }
    for (int k = 0; k < block.feed_size; ++k) {
      const StepFeed& feed = problem.feeds[static_cast<std::size_t>(block.feed + k)];
      limit += block.mu * feed.weight * std::abs(out.impulse[feed.row]);
      const double sign = feed_signs[feed.row] < 0 ? -1 : 1;
      if (sign * out.impulse[feed.row] < -band) return false;
    }
    if (block.kind != StepBlockKind::friction) ++row;
    if (block.slips == 0 || mode == StepMode::open) continue;
    if (mode == StepMode::stick && std::abs(out.impulse[row]) > limit + band) return false;
    if (mode == StepMode::slip_plus && out.velocity[row] < -terms[row]) return false;
    if (mode == StepMode::slip_minus && out.velocity[row] > terms[row]) return false;
  }
  return true;
}

const std::vector<OneStepSolution>& OneStepModes::find(const OneStepProblem& problem, double tolerance) {
  found_.clear();
  const int modes = count(problem);
  const int n = problem.rows();
  if (modes == 0) return found_;
  matrix_.resize(static_cast<std::size_t>(n) * n);
  right_.resize(n);
  first_.clear();
  int row = 0;
  for (const StepBlock& block : problem.blocks) {
    first_.push_back(row);
    row += block.rows();
  }
  std::vector<int> bilateral;
  for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
    if (problem.blocks[b].kind == StepBlockKind::bilateral && problem.feeds.size() > 0)
      bilateral.push_back(first_[b]);
  }
  const int signs = bilateral.size() <= 4 ? 1 << bilateral.size() : 1;
  for (int number = 0; number < modes; ++number) {
    for (int sign = 0; sign < signs; ++sign) {
      OneStepSolution trial;
      trial.impulse.assign(n, 1.0);
      for (std::size_t k = 0; k < bilateral.size(); ++k)
        trial.impulse[bilateral[k]] = (sign >> k) & 1 ? -1 : 1;
      int rest = number;
      for (const StepBlock& block : problem.blocks) {
        trial.modes.push_back(mode_of(block, rest % modes_of(block)));
        rest /= modes_of(block);
      }
      if (!try_modes(problem, tolerance, trial)) continue;
      const bool known = std::any_of(found_.begin(), found_.end(), [&](const OneStepSolution& other) {
        for (int i = 0; i < n; ++i) {
          const double size = std::abs(problem.q[i]) + std::abs(trial.velocity[i]);
          if (std::abs(trial.velocity[i] - other.velocity[i]) > 1e-7 * size) return false;
        }
        return true;
      });
      if (!known) found_.push_back(std::move(trial));
    }
  }
  return found_;
}

}  // namespace judder::contact
