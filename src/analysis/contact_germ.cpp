#include "judder/analysis/contact_germ.hpp"

#include <cmath>
#include <cstddef>

namespace judder::analysis {
namespace {

constexpr double kZero = 0x1p-40;

/// A sum with the sizes of its terms, zero where only rounding is left.
struct Sum {
  double value = 0, size = 0;
  void add(double term, double error = 0) {
    value += term;
    size += std::abs(term) + error;
  }
  [[nodiscard]] double decided() const { return std::abs(value) <= kZero * size ? 0 : value; }
};

double coefficient(const std::vector<double>& series, int order) {
  return order >= 0 && static_cast<std::size_t>(order) < series.size()
             ? series[static_cast<std::size_t>(order)]
             : 0;
}

int sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

/// F − K U with U at rest at `position`: coefficient of order k.
double driven(const std::vector<double>& load, double stiffness, double position, int k) {
  Sum sum;
  sum.add(coefficient(load, k));
  if (k == 0) sum.add(-stiffness * position);
  return sum.decided();
}

void slide(const GermProblem& p, int max_order, Germ& out) {
  if (p.velocity != 0) {
    out.status = p.velocity > 0 ? GermStatus::slip_plus : GermStatus::slip_minus;
    out.slip_order = 1;
    out.slip_coefficient = p.velocity;
    return;
  }
  int push = 0, press = 0;
  for (int k = 0; k <= max_order; ++k) {
    const double along = driven(p.tangential_load, p.tangential_stiffness, p.position, k);
    const double against = driven(p.normal_load, p.coupling, p.position, k);
    if (push == 0) push = sign(along);
    if (press == 0) press = sign(against);
    Sum excess;
    excess.add(push * along);
    excess.add(-p.friction * press * against);
    const double value = excess.decided();
    if (value == 0) continue;
    if (value < 0) break;
    out.status = push > 0 ? GermStatus::slip_plus : GermStatus::slip_minus;
    out.slip_order = k + 2;
    out.slip_coefficient = push * value / (p.mass * (k + 1) * (k + 2));
    return;
  }
  out.status = GermStatus::stick;
}

}  // namespace

const char* name(GermStatus status) {
  switch (status) {
    case GermStatus::leaves:
      return "leaves";
    case GermStatus::stick:
      return "stick";
    case GermStatus::slip_plus:
      return "slip+";
    case GermStatus::slip_minus:
      return "slip-";
    case GermStatus::grazes:
      return "grazes";
  }
  return "";
}

Germ contact_germ(const GermProblem& p, int max_order) {
  Germ out;
  // U_T along the wall without friction, as long as there is no reaction; U_N = 0.
  std::vector<double> along{p.position, p.velocity};
  std::vector<double> size{std::abs(p.position), std::abs(p.velocity)};
  for (int i = 0; i <= max_order; ++i) {
    if (i >= 1) {
      Sum next;
      next.add(coefficient(p.tangential_load, i - 1));
      next.add(-p.tangential_stiffness * along[static_cast<std::size_t>(i) - 1],
               p.tangential_stiffness * size[static_cast<std::size_t>(i) - 1]);
      const double factor = p.mass * i * (i + 1);
      if (static_cast<std::size_t>(i) + 1 >= along.size()) {
        along.push_back(next.decided() / factor);
        size.push_back(next.size / factor);
      }
    }
    const auto k = static_cast<std::size_t>(i);
    Sum rest;
    rest.add(coefficient(p.normal_load, i));
    rest.add(-p.coupling * along[k], std::abs(p.coupling) * size[k]);
    const double q = rest.decided();
    out.order = i;
    if (q == 0) continue;
    if (q < 0) {
      out.status = GermStatus::leaves;
      out.order = i + 2;
      out.coefficient = q / (p.mass * (i + 1) * (i + 2));
      return out;
    }
    out.coefficient = -q;
    slide(p, max_order, out);
    return out;
  }
  return out;
}

}  // namespace judder::analysis
