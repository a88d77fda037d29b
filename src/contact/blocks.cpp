#include "judder/contact/blocks.hpp"

#include <algorithm>
#include <numeric>

namespace judder::contact {

namespace {

// Vectors grow and never shrink.
template <class T>
void grow(std::vector<T>& v, int size) {
  if (static_cast<int>(v.size()) < size) v.resize(static_cast<std::size_t>(size));
}

}  // namespace

void Blocks::resize(int rows) {
  for (std::vector<int>* v : {&parent_, &number_, &row_}) grow(*v, rows);
  grow(first_, rows + 1);
}

void Blocks::start(int rows) {
  size_ = rows;
  count_ = 0;
  std::iota(parent_.begin(), parent_.begin() + rows, 0);
}

// The smallest row stands for its block, so that the result does not depend on the order of joining.
int Blocks::root(int row) {
  while (parent_[row] != row) {
    parent_[row] = parent_[parent_[row]];
    row = parent_[row];
  }
  return row;
}

void Blocks::join(int a, int b) {
  a = root(a);
  b = root(b);
  parent_[std::max(a, b)] = std::min(a, b);
}

void Blocks::finish() {
  count_ = 0;
  for (int i = 0; i < size_; ++i) {
    const int top = root(i);
    number_[i] = top == i ? count_++ : number_[top];
  }
  std::fill_n(first_.begin(), count_ + 1, 0);
  for (int i = 0; i < size_; ++i) ++first_[number_[i] + 1];
  for (int b = 0; b < count_; ++b) first_[b + 1] += first_[b];
  // parent_ has done its work and counts what is placed.
  std::fill_n(parent_.begin(), count_, 0);
  for (int i = 0; i < size_; ++i) row_[first_[number_[i]] + parent_[number_[i]]++] = i;
}

void join_coupled(const DecisionProblem& problem, Blocks& blocks) {
  const int n = problem.rows();
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < n; ++k) {
      if (k != i && problem.A[i * n + k] != 0) blocks.join(i, k);
    }
  }
  if (problem.coupling == nullptr) return;
  for (int j = 0; j < problem.tangents; ++j) {
    for (int k = 0; k < problem.normals; ++k) {
      if (problem.coupling[j * problem.normals + k] != 0) blocks.join(problem.normals + j, k);
    }
  }
}

void BlockProblem::resize(int normals, int tangents) {
  const int n = normals + tangents;
  grow(A_, n * n);
  for (std::vector<double>* v : {&b_, &force_scale_, &acceleration_scale_}) grow(*v, n);
  for (std::vector<double>* v : {&mu_static_, &mu_slip_, &base_, &mu_below_, &mu_slip_below_, &base_below_})
    grow(*v, tangents);
  grow(coupling_, normals * tangents);
  grow(kind_, normals);
  grow(state_, tangents);
  grow(excluded_, n);
}

DecisionProblem BlockProblem::take(const DecisionProblem& problem, std::span<const int> rows) {
  const int size = static_cast<int>(rows.size());
  const int all = problem.rows();
  const int nN = problem.normals;
  DecisionProblem out;
  while (out.normals < size && rows[out.normals] < nN) ++out.normals;
  out.tangents = size - out.normals;
  for (int i = 0; i < size; ++i) {
    const double* row = problem.A + static_cast<std::ptrdiff_t>(rows[i]) * all;
    for (int k = 0; k < size; ++k) A_[i * size + k] = row[rows[k]];
    b_[i] = problem.b[rows[i]];
  }
  out.A = A_.data();
  out.b = b_.data();
  const auto pick = [&](const auto* from, auto& to, int first, int offset, int count) {
    for (int i = 0; i < count; ++i) to[i] = from[rows[first + i] - offset];
    return to.data();
  };
  const int m = out.normals;
  if (problem.kind != nullptr) out.kind = pick(problem.kind, kind_, 0, 0, m);
  if (problem.state != nullptr) out.state = pick(problem.state, state_, m, nN, out.tangents);
  if (problem.mu_static != nullptr) out.mu_static = pick(problem.mu_static, mu_static_, m, nN, out.tangents);
  if (problem.mu_slip != nullptr) out.mu_slip = pick(problem.mu_slip, mu_slip_, m, nN, out.tangents);
  if (problem.base != nullptr) out.base = pick(problem.base, base_, m, nN, out.tangents);
  if (problem.mu_static_below != nullptr)
    out.mu_static_below = pick(problem.mu_static_below, mu_below_, m, nN, out.tangents);
  if (problem.mu_slip_below != nullptr)
    out.mu_slip_below = pick(problem.mu_slip_below, mu_slip_below_, m, nN, out.tangents);
  if (problem.base_below != nullptr)
    out.base_below = pick(problem.base_below, base_below_, m, nN, out.tangents);
  if (problem.coupling != nullptr) {
    for (int j = 0; j < out.tangents; ++j) {
      const double* row = problem.coupling + static_cast<std::ptrdiff_t>(rows[m + j] - nN) * nN;
      for (int k = 0; k < m; ++k) coupling_[j * m + k] = row[rows[k]];
    }
    out.coupling = coupling_.data();
  }
  if (problem.excluded != nullptr) out.excluded = pick(problem.excluded, excluded_, 0, 0, size);
  if (problem.force_scale != nullptr) out.force_scale = pick(problem.force_scale, force_scale_, 0, 0, size);
  if (problem.acceleration_scale != nullptr)
    out.acceleration_scale = pick(problem.acceleration_scale, acceleration_scale_, 0, 0, size);
  return out;
}

}  // namespace judder::contact
