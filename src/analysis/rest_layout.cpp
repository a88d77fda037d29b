#include "analysis/rest_layout.hpp"

#include <algorithm>
#include <cmath>

namespace judder::analysis {

using Row = std::vector<double>;

std::vector<std::size_t> chosen_relations(const RestProblem& rest) {
  std::vector<std::size_t> out;
  for (std::size_t k = 0; k < rest.relations.size(); ++k) {
    if (rest.relations[k].unilateral) out.push_back(k);
  }
  std::vector<std::uint8_t> feeds(rest.relations.size(), 0);
  for (const RestProblem::Relation& relation : rest.relations) {
    if (relation.tangents.empty()) continue;
    for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
      if (relation.factors[f] != 0) feeds[static_cast<std::size_t>(relation.feeds[f])] = 1;
    }
  }
  for (std::size_t k = 0; k < rest.relations.size(); ++k) {
    if (feeds[k] != 0 && !rest.relations[k].unilateral) out.push_back(k);
  }
  return out;
}

std::size_t unilateral_count(const RestProblem& rest) {
  return static_cast<std::size_t>(std::count_if(rest.relations.begin(), rest.relations.end(),
                                                [](const auto& r) { return r.unilateral; }));
}

std::vector<std::uint8_t> choice_by_relation(const RestProblem& rest,
                                             const std::vector<std::uint8_t>& closed) {
  std::vector<std::uint8_t> out(rest.relations.size(), 1);
  const std::vector<std::size_t> chosen = chosen_relations(rest);
  for (std::size_t i = 0; i < chosen.size() && i < closed.size(); ++i) out[chosen[i]] = closed[i];
  return out;
}

double load_row(const RestProblem& rest, const RestLayout& layout, const std::vector<std::uint8_t>& choice,
                std::size_t k, Row& row) {
  const RestProblem::Relation& relation = rest.relations[k];
  row.assign(layout.size, 0);
  for (std::size_t i = 0; i < rest.n + rest.m; ++i) row[i] = relation.base_slope[i];
  for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
    const auto fed = static_cast<std::size_t>(relation.feeds[f]);
    if (layout.normal[fed] == RestLayout::kNone) continue;
    const double sign = !rest.relations[fed].unilateral && choice[fed] == 0 ? -1 : 1;
    row[layout.normal[fed]] += sign * relation.factors[f];
  }
  return relation.base;
}

contact::Polyhedron make_polyhedron(const RestProblem& rest, const std::vector<std::uint8_t>& closed,
                                    RestLayout& layout) {
  const std::vector<std::uint8_t> choice = choice_by_relation(rest, closed);
  const std::size_t n = rest.n, width = rest.n + rest.m, count = rest.relations.size();
  layout = {};
  layout.size = width;
  layout.normal.assign(count, RestLayout::kNone);
  layout.tangent.assign(count, RestLayout::kNone);
  const auto active = [&](std::size_t k) { return !rest.relations[k].unilateral || choice[k] != 0; };
  for (std::size_t k = 0; k < count; ++k) {
    if (rest.relations[k].has_normal && active(k)) layout.normal[k] = layout.size++;
    if (!rest.relations[k].tangents.empty() && active(k)) layout.tangent[k] = layout.size++;
  }
  contact::Polyhedron p;
  p.variables = layout.size;
  Row row(layout.size);
  for (std::size_t i = 0; i < n; ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    for (std::size_t j = 0; j < width; ++j) row[j] = rest.stiffness[i * width + j];
    for (std::size_t k = 0; k < count; ++k) {
      if (layout.normal[k] != RestLayout::kNone) row[layout.normal[k]] = -rest.relations[k].push[i];
      if (layout.tangent[k] != RestLayout::kNone)
        row[layout.tangent[k]] = -rest.relations[k].tangents[0].drag[i];
    }
    p.add_equation(row, rest.load[i]);
  }
  for (std::size_t i = 0; i < rest.m; ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    for (std::size_t j = 0; j < width; ++j) row[j] = rest.rate_slope[i * width + j];
    p.add_equation(row, -rest.rate[i]);
  }
  const auto inequality = [&](double bound, RestLayout::Meaning meaning, std::size_t k) {
    p.add_inequality(row, bound);
    layout.sides.push_back({meaning, k});
  };
  for (std::size_t k = 0; k < count; ++k) {
    const RestProblem::Relation& relation = rest.relations[k];
    if (relation.has_normal) {
      std::fill(row.begin(), row.end(), 0.0);
      for (std::size_t j = 0; j < n; ++j) row[j] = relation.w[j];
      const bool moves = std::any_of(row.begin(), row.end(), [](double a) { return a != 0; });
      if (relation.unilateral && choice[k] != 1) {
        for (double& a : row) a = a == 0 ? 0 : -a;
        inequality(relation.gap, RestLayout::Meaning::apart, k);
      } else if (moves || relation.unilateral) {
        p.add_equation(row, -relation.gap);
      }
    }
    if (layout.normal[k] != RestLayout::kNone &&
        (relation.unilateral || choice[k] == 0 || closed.size() > 0)) {
      // A bilateral reaction has a side only where friction depends on it.
      const std::vector<std::size_t> chosen = chosen_relations(rest);
      const bool sided = std::find(chosen.begin(), chosen.end(), k) != chosen.end();
      if (sided && (relation.unilateral || choice[k] != 2)) {
        std::fill(row.begin(), row.end(), 0.0);
        row[layout.normal[k]] = !relation.unilateral && choice[k] == 0 ? 1 : -1;
        inequality(0, relation.unilateral ? RestLayout::Meaning::presses : RestLayout::Meaning::sign, k);
      }
    }
    if (layout.tangent[k] == RestLayout::kNone) continue;
    const RestProblem::Tangent& tangent = relation.tangents[0];
    const double base = load_row(rest, layout, choice, k, row);
    const std::size_t place = layout.tangent[k];
    if (tangent.drive != 0) {
      // λ_T + sign(b) μ L = −c b
      const double mu = tangent.drive > 0 ? tangent.mu : -tangent.mu;
      for (double& a : row) a *= mu;
      row[place] += 1;
      p.add_equation(row, -mu * base - tangent.viscous * tangent.drive);
      continue;
    }
    // −μ L − λ_T ≤ 0 and λ_T − μ L ≤ 0
    for (double& a : row) a = a == 0 ? 0 : -tangent.mu * a;
    row[place] -= 1;
    inequality(tangent.mu * base, RestLayout::Meaning::slip_plus, k);
    row[place] += 2;
    inequality(tangent.mu * base, RestLayout::Meaning::slip_minus, k);
  }
  return p;
}

RestState state_of(const RestProblem& rest, const RestLayout& layout, const std::vector<std::uint8_t>& choice,
                   const std::vector<double>& x, const std::vector<std::uint8_t>& tight, bool direction) {
  const std::size_t count = rest.relations.size();
  RestState out;
  out.x.assign(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(rest.n + rest.m));
  out.normal.assign(count, 0);
  out.tangent.assign(count, 0);
  out.gap.assign(count, 0);
  out.reserve.assign(count, 0);
  out.status.assign(count, RestStatus::held);
  std::vector<std::uint8_t> touches(count, 0), unloaded(count, 0), plus(count, 0), minus(count, 0);
  for (std::size_t i = 0; i < layout.sides.size(); ++i) {
    if (tight[i] == 0) continue;
    const auto [meaning, k] = layout.sides[i];
    if (meaning == RestLayout::Meaning::apart) touches[k] = 1;
    if (meaning == RestLayout::Meaning::presses) unloaded[k] = 1;
    if (meaning == RestLayout::Meaning::slip_plus) plus[k] = 1;
    if (meaning == RestLayout::Meaning::slip_minus) minus[k] = 1;
  }
  std::vector<double> row;
  for (std::size_t k = 0; k < count; ++k) {
    const RestProblem::Relation& relation = rest.relations[k];
    RestStatus& status = out.status[k];
    if (layout.normal[k] != RestLayout::kNone) out.normal[k] = x[layout.normal[k]];
    if (layout.tangent[k] != RestLayout::kNone) out.tangent[k] = x[layout.tangent[k]];
    if (relation.unilateral && choice[k] == 0) {
      out.gap[k] = direction ? 0 : relation.gap;
      for (std::size_t j = 0; j < rest.n; ++j) out.gap[k] += relation.w[j] * x[j];
      status = touches[k] != 0 ? RestStatus::grazing : RestStatus::detached;
      continue;
    }
    if (relation.tangents.empty()) {
      if (relation.unilateral) status = unloaded[k] != 0 ? RestStatus::grazing : RestStatus::pressed;
      continue;
    }
    const RestProblem::Tangent& tangent = relation.tangents[0];
    const double base = load_row(rest, layout, choice, k, row);
    double load = direction ? 0 : base;
    for (std::size_t j = 0; j < layout.size; ++j) load += row[j] * x[j];
    if (tangent.drive != 0) {
      status = tangent.drive > 0 ? RestStatus::sliding_plus : RestStatus::sliding_minus;
    } else {
      out.reserve[k] = tangent.mu * load - std::abs(out.tangent[k]);
      status = plus[k] != 0 && minus[k] != 0 ? RestStatus::grazing
               : plus[k] != 0                ? RestStatus::slip_plus
               : minus[k] != 0               ? RestStatus::slip_minus
                                             : RestStatus::stuck;
      if (relation.unilateral && tangent.mu == 0) status = RestStatus::pressed;
    }
    if (relation.unilateral && unloaded[k] != 0) status = RestStatus::grazing;
  }
  return out;
}

std::pair<double, double> viscous_friction(const model::System& system, model::Workspace& work,
                                           std::size_t relation, double speed) {
  const expr::Program& curve = system.relations()[relation].curve;
  constexpr int kViscous = 3, kViscousSlope = 9;  // behind the load, in the order of LawNumbers
  if (curve.outputs() <= kViscousSlope) return {0, 0};
  std::vector<double> numbers(static_cast<std::size_t>(curve.outputs()));
  work.in[static_cast<std::size_t>(system.layout().approach_speed())] = speed;
  curve.evaluate(work.in.data(), numbers.data(), work.registers.data());
  return {numbers[kViscous], numbers[kViscousSlope]};
}

contact::Polyhedron rest_polyhedron(const RestProblem& rest, const std::vector<std::uint8_t>& closed) {
  RestLayout layout;
  return make_polyhedron(rest, closed, layout);
}

}  // namespace judder::analysis
