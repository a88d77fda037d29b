#include "judder/contact/painleve.hpp"

#include "core/dense/reduction.hpp"

#include <cmath>
#include <utility>

namespace judder::contact {
namespace {

constexpr double kRoundOff = 1e-13;
constexpr double kDependent = 1e-10;  // a pivot below this part of its diagonal is none

int direction_of(RowStatus status) {
  return status == RowStatus::slip_plus ? 1 : status == RowStatus::slip_minus ? -1 : 0;
}

bool holds(RowStatus status) {
  return status == RowStatus::closed || status == RowStatus::held || status == RowStatus::held_plus ||
         status == RowStatus::held_minus || status == RowStatus::stick;
}

// λ_j of the slipping and following rows per unit of each normal reaction: dλ_j = factor dλ_k.
double friction_factor(const DecisionProblem& p, std::span<const RowStatus> mode, int j, int k) {
  const double coupling = p.coupling != nullptr ? p.coupling[j * p.normals + k] : 0;
  if (coupling == 0) return 0;
  const double pressed = mode[k] == RowStatus::closed || mode[k] == RowStatus::held_plus ? 1
                         : mode[k] == RowStatus::held_minus                              ? -1
                                                                                         : 0;
  const RowStatus status = mode[p.normals + j];
  const double s = status == RowStatus::follows ? 1 : direction_of(status);
  return -s * p.mu_slip[j] * coupling * pressed;
}

}  // namespace

const char* name(SlidingCase sliding) {
  switch (sliding) {
    case SlidingCase::slides:
      return "slides";
    case SlidingCase::lifts_off:
      return "lifts off";
    case SlidingCase::inconsistent:
      return "inconsistent";
    case SlidingCase::indeterminate:
      return "indeterminate";
    case SlidingCase::jam:
      return "dynamic jam";
  }
  return "";
}

SlidingCase unilateral_case(double k, double b, double k_scale) {
  if (std::abs(k) <= kRoundOff * k_scale) return b < 0 ? SlidingCase::jam : SlidingCase::lifts_off;
  if (k > 0) return b < 0 ? SlidingCase::slides : SlidingCase::lifts_off;
  // k < 0 and b = 0: λ_N = 0 with the contact kept is the only answer.
  return b < 0 ? SlidingCase::inconsistent : b > 0 ? SlidingCase::indeterminate : SlidingCase::slides;
}

SlidingCase bilateral_case(double A_NN, double A_NT, double b, double mu, int direction) {
  const double pull = mu * direction * A_NT;
  const double scale = kRoundOff * (std::abs(A_NN) + std::abs(pull));
  const auto answers = [&](double k, double side) {
    if (std::abs(k) <= scale) return 0;
    return side * (-b / k) > 0 ? 1 : 0;
  };
  if (b == 0) return std::abs(A_NN - std::abs(pull)) <= scale ? SlidingCase::jam : SlidingCase::slides;
  const int count = answers(A_NN - pull, 1) + answers(A_NN + pull, -1);
  if (count == 1) return SlidingCase::slides;
  if (count == 2) return SlidingCase::indeterminate;
  return std::abs(A_NN - std::abs(pull)) <= scale ? SlidingCase::jam : SlidingCase::inconsistent;
}

SlidingContact sliding_contact(const DecisionProblem& p, std::span<const RowStatus> mode, int normal,
                               int tangent) {
  const int n = p.rows();
  const int own = p.normals + tangent;
  SlidingContact out;
  out.kind = p.kind != nullptr ? p.kind[normal] : NormalKind::unilateral;
  out.direction = direction_of(mode[own]);
  out.mu = p.mu_slip[tangent] * (p.coupling != nullptr ? p.coupling[tangent * p.normals + normal] : 0);
  out.share.assign(static_cast<std::size_t>(2 * n), 0.0);

  // Column of a row: its own, and for a normal row that of the friction it feeds, except the slip we look at.
  const auto column = [&](int i, int row) {
    double value = p.A[i * n + row];
    if (row >= p.normals) return value;
    for (int j = 0; j < p.tangents; ++j) {
      if (j == tangent && row == normal) continue;
      const double factor = friction_factor(p, mode, j, row);
      if (factor != 0) value += factor * p.A[i * n + p.normals + j];
    }
    return value;
  };
  std::vector<int> others;
  for (int i = 0; i < n; ++i) {
    if (i != normal && i != own && holds(mode[i])) others.push_back(i);
  }
  // Free accelerations under the friction whose load is known.
  const auto free_acceleration = [&](int i) {
    double value = p.b[i];
    if (p.base == nullptr) return value;
    for (int j = 0; j < p.tangents; ++j) {
      const RowStatus status = mode[p.normals + j];
      const double s = status == RowStatus::follows ? 1 : direction_of(status);
      if (s != 0) value -= s * p.mu_slip[j] * p.base[j] * p.A[i * n + p.normals + j];
    }
    return value;
  };
  // a_others = 0: unknowns are their reactions; three right-hand sides: unit normal, unit tangential, free motion.
  const int count = static_cast<int>(others.size());
  const int stride = count + 3;
  std::vector<double> m(static_cast<std::size_t>(count * stride));
  for (int r = 0; r < count; ++r) {
    for (int c = 0; c < count; ++c) m[r * stride + c] = column(others[r], others[c]);
    m[r * stride + count] = -column(others[r], normal);
    m[r * stride + count + 1] = -p.A[others[r] * n + own];
    m[r * stride + count + 2] = -free_acceleration(others[r]);
  }
  std::vector<double> size(static_cast<std::size_t>(count));
  for (int r = 0; r < count; ++r) size[r] = std::abs(p.A[others[r] * n + others[r]]);
  const auto share = [&](std::size_t r, std::size_t c) {
    const double scale = std::sqrt(size[r] * size[c]);
    return scale > 0 ? std::abs(m[r * static_cast<std::size_t>(stride) + c]) / scale : 0;
  };
  std::vector<int> pivot_row(static_cast<std::size_t>(count), -1);  // by column
  for (const dense::Pivot& at : dense::reduce_ranked(m.data(), size.size(), size.size(),
                                                     static_cast<std::size_t>(stride), kDependent, share))
    pivot_row[at.column] = static_cast<int>(at.row);
  std::vector<double> free(static_cast<std::size_t>(count), 0.0);
  for (int c = 0; c < count; ++c) {
    if (pivot_row[c] < 0) continue;
    const double* line = m.data() + pivot_row[c] * stride;
    out.share[2 * others[c]] = line[count];
    out.share[2 * others[c] + 1] = line[count + 1];
    free[c] = line[count + 2];
  }
  const auto reduced = [&](int i, double value, int which) {
    for (int c = 0; c < count; ++c) {
      const double reaction = which < 2 ? out.share[2 * others[c] + which] : free[c];
      if (reaction != 0) value += column(i, others[c]) * reaction;
    }
    return value;
  };
  out.A_NN = reduced(normal, column(normal, normal), 0);
  out.A_NT = reduced(normal, p.A[normal * n + own], 1);
  out.A_TN = reduced(own, column(own, normal), 0);
  out.A_TT = reduced(own, p.A[own * n + own], 1);
  out.b_N = reduced(normal, free_acceleration(normal), 2);
  out.b_T = reduced(own, free_acceleration(own), 2);
  // Friction that the other normal reactions feed goes with them.
  for (int j = 0; j < p.tangents; ++j) {
    if (j == tangent) continue;
    for (int k = 0; k < p.normals; ++k) {
      const double factor = friction_factor(p, mode, j, k);
      if (factor == 0) continue;
      const double normal_part = k == normal ? 1 : out.share[2 * k];
      const double tangential_part = k == normal ? 0 : out.share[2 * k + 1];
      out.share[2 * (p.normals + j)] += factor * normal_part;
      out.share[2 * (p.normals + j) + 1] += factor * tangential_part;
    }
  }

  if (out.kind == NormalKind::bilateral) {
    out.k = out.A_NN - out.mu * std::abs(out.A_NT);
    out.sliding = bilateral_case(out.A_NN, out.A_NT, out.b_N, out.mu, out.direction);
  } else {
    const double friction = out.mu * out.direction * out.A_NT;
    out.k = out.A_NN - friction;
    out.sliding = unilateral_case(out.k, out.b_N, std::abs(out.A_NN) + std::abs(friction));
  }
  return out;
}

}  // namespace judder::contact
