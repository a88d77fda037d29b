#include "massless_joints.hpp"

#include <algorithm>
#include <cmath>

#include "judder/contact/decision.hpp"

namespace judder::engines {

std::vector<std::uint8_t> massless_joints(const model::System& system) {
  std::vector<std::uint8_t> out(system.relations().size(), 0);
  const auto& symbols = system.symbols();
  const auto moves = [&](const std::vector<expr::Node>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool zero = system.graph().is_constant(row[i]) && system.graph().value(row[i]) == 0;
      if (system.massless()[i] && !zero) return true;
    }
    return false;
  };
  for (std::size_t r = 0; r < out.size(); ++r) {
    const model::Relation& relation = system.relations()[r];
    if (relation.has_normal || relation.smooth_friction) continue;
    for (int j = 0; j < relation.tangents; ++j) {
      const auto& row = symbols.tangent[static_cast<std::size_t>(relation.first_tangent + j)];
      if (moves(row.w) || moves(row.drag)) out[r] = 1;
    }
  }
  return out;
}

namespace {

double slip_of(const model::Layout& layout, const model::Workspace& work,
               const model::RelationRows::Tangent& row, double& terms) {
  double slip = row.drive;
  terms = std::abs(slip);
  for (int i = 0; i < layout.coordinates; ++i) {
    const double term = row.w[i] * work.in[layout.v() + i];
    slip += term;
    terms += std::abs(term);
  }
  return slip;
}

}  // namespace

bool decide_massless(const model::System& system, model::Workspace& work,
                     std::span<const std::uint8_t> joints, std::span<const std::uint16_t> excluded,
                     Mode& mode) {
  constexpr double kSlack = 1e-9;  // of the limit and of the slip that it can cause: steps have errors
  constexpr double kRounding = 1e-12;
  const model::Layout& layout = system.layout();
  int count = 0;
  for (int r = 0; r < layout.relations; ++r) count += joints[r] != 0 ? system.relations()[r].tangents : 0;
  if (count == 0) return true;
  // What has reached its limit leaves it; then one after the other, the one that is farthest from its law first, since what changes one
  // force changes the others. After a few rounds for each, what still goes to and fro rests.
  bool first = true;
  for (int round = 0; round <= 4 * count; ++round) {
    for (int j = 0; j < layout.tangents; ++j) work.in[layout.direction() + j] = direction(mode.tangent[j]);
    if (!system.motion(work)) return false;
    int worst = -1;
    TangentStatus next = TangentStatus::stick;
    double most = kSlack;
    bool left = false;
    for (int r = 0; r < layout.relations; ++r) {
      if (joints[r] == 0) continue;
      for (int j = 0; j < system.relations()[r].tangents; ++j) {
        const model::RelationRows& rows = system.rows(work, r);
        const int number = system.relations()[r].first_tangent + j;
        const double force = work.in[layout.tangent() + number];
        if (mode.tangent[number] == TangentStatus::stick) {
          const TangentStatus away = force > 0 ? TangentStatus::slip_minus : TangentStatus::slip_plus;
          if (first && (excluded[number] & contact::bit(contact::RowStatus::stick)) != 0) {
            mode.tangent[number] = away;
            left = true;
            continue;
          }
          const double limit = rows.tangent[j].mu_static * rows.base;
          const double beyond = limit > 0 ? std::abs(force) / limit - 1 : force != 0 ? 1 : 0;
          if (beyond > most) {
            most = beyond;
            worst = number;
            next = away;
          }
          continue;
        }
        const double sign = direction(mode.tangent[number]);
        double terms = 0;
        const double slip = slip_of(layout, work, rows.tangent[j], terms);
        const bool released = (excluded[number] & contact::bit(contact::RowStatus::stick)) != 0;
        if (sign * slip > (released ? 0 : kRounding * terms)) continue;
        // Against its direction it stops; also without slip, unless it has just left its limit.
        work.in[layout.direction() + number] = -sign;
        double other_terms = 0;
        const bool evaluated = system.motion(work);
        const double other = slip_of(layout, work, system.rows(work, r).tangent[j], other_terms);
        work.in[layout.direction() + number] = sign;
        if (!evaluated || !system.motion(work)) return false;
        const double size = std::max(kSlack * std::abs(other - slip), kRounding * (terms - std::abs(slip)));
        if ((released && -sign * slip <= size) || most >= 1) continue;
        most = 1;
        worst = number;
        next = TangentStatus::stick;
      }
    }
    first = false;
    if (left) continue;
    if (worst < 0) return true;
    mode.tangent[worst] = round < 3 * count ? next : TangentStatus::stick;
  }
  return true;
}

bool follow_massless(const model::System& system, model::Workspace& work,
                     std::span<const std::uint8_t> joints, std::vector<double>& before, Mode& mode) {
  constexpr double kRounding = 1e-12;  // of the terms of a way
  const model::Layout& layout = system.layout();
  const auto q = work.in.begin() + layout.q();
  before.assign(q, q + layout.coordinates);
  for (int round = 0; round <= layout.tangents; ++round) {
    for (int j = 0; j < layout.tangents; ++j) work.in[layout.direction() + j] = direction(mode.tangent[j]);
    if (!system.motion(work)) return false;
    int back = -1;  // the row that goes back farthest
    double most = 0;
    for (int r = 0; r < layout.relations; ++r) {
      if (joints[r] == 0) continue;
      const model::RelationRows& rows = system.rows(work, r);
      for (int j = 0; j < system.relations()[r].tangents; ++j) {
        const int number = system.relations()[r].first_tangent + j;
        const double sign = direction(mode.tangent[number]);
        double way = 0, terms = 0;
        for (int i = 0; i < layout.coordinates; ++i) {
          const double w = rows.tangent[j].w[i];
          way += w * (q[i] - before[i]);
          terms += std::abs(w) * (std::abs(q[i]) + std::abs(before[i]));
        }
        if (-sign * way <= kRounding * terms || -sign * way <= most) continue;
        most = -sign * way;
        back = number;
      }
    }
    if (back < 0) return true;
    mode.tangent[back] = TangentStatus::stick;
    std::copy(before.begin(), before.end(), q);
  }
  return true;
}

}  // namespace judder::engines
