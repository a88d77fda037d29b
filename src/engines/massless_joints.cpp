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

constexpr double kSlack = 1e-9;  // of the limit and of what it can cause: steps have errors
constexpr double kRounding = 1e-12;

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

TangentStatus along_force(double force) {
  return force > 0 ? TangentStatus::slip_minus : TangentStatus::slip_plus;
}

/// What rests but may not leaves in the direction of its load. False: there is none.
bool leave_limits(const model::System& system, const model::Workspace& work,
                  std::span<const std::uint8_t> joints, std::span<const std::uint16_t> excluded, Mode& mode) {
  bool left = false;
  for (std::size_t r = 0; r < joints.size(); ++r) {
    const model::Relation& relation = system.relations()[r];
    for (int j = 0; j < relation.tangents && joints[r] != 0; ++j) {
      const int number = relation.first_tangent + j;
      const bool may_rest = (excluded[number] & contact::bit(contact::RowStatus::stick)) == 0;
      if (mode.tangent[number] != TangentStatus::stick || may_rest) continue;
      mode.tangent[number] = along_force(work.in[system.layout().tangent() + number]);
      left = true;
    }
  }
  return left;
}

/// How far a row has come from `before`, along itself; `terms` sums the sizes of the parts.
double way_of(const model::Layout& layout, const model::Workspace& work,
              const model::RelationRows::Tangent& row, const std::vector<double>& before, double& terms) {
  double way = 0;
  terms = 0;
  for (int i = 0; i < layout.coordinates; ++i) {
    const double q = work.in[layout.q() + i];
    way += row.w[i] * (q - before[i]);
    terms += std::abs(row.w[i]) * (std::abs(q) + std::abs(before[i]));
  }
  return way;
}

/// The slipping row that has gone back farthest from `before`, against its slip, or −1. What has just left its limit (`released`) goes back by the error
/// with which the limit was met, measured by the way between the slips of both directions. Leaves work.in as it was.
int row_that_went_back(const model::System& system, model::Workspace& work,
                       std::span<const std::uint8_t> joints, std::span<const std::uint16_t> released,
                       const std::vector<double>& before, const Mode& mode) {
  const model::Layout& layout = system.layout();
  int back = -1;
  double most = 0;
  for (int r = 0; r < layout.relations; ++r) {
    for (int j = 0; j < system.relations()[r].tangents && joints[r] != 0; ++j) {
      const int number = system.relations()[r].first_tangent + j;
      const double sign = direction(mode.tangent[number]);
      double terms = 0;
      const double way = -sign * way_of(layout, work, system.rows(work, r).tangent[j], before, terms);
      if (way <= kRounding * terms || way <= most) continue;
      if ((released[number] & contact::bit(contact::RowStatus::stick)) != 0) {
        work.in[layout.direction() + number] = -sign;
        const bool evaluated = system.motion(work);
        const double other = -sign * way_of(layout, work, system.rows(work, r).tangent[j], before, terms);
        work.in[layout.direction() + number] = sign;
        if (!evaluated || !system.motion(work) || way <= kSlack * std::abs(other - way)) continue;
      }
      most = way;
      back = number;
    }
  }
  return back;
}

/// A row to which the instant gives another status; −1: none.
struct Release {
  int number = -1;
  TangentStatus status = TangentStatus::stick;
  bool failed = false;  ///< the equations have no finite solution
};

/// A row that rests at its limit, and slips with its load if it is let go: the load grows faster than the limit. Leaves work.in as it was, but for rounding.
Release row_to_release(const model::System& system, model::Workspace& work,
                       std::span<const std::uint8_t> joints, std::span<const std::uint16_t> excluded,
                       const Mode& mode) {
  const model::Layout& layout = system.layout();
  Release out;
  for (int r = 0; r < layout.relations; ++r) {
    for (int j = 0; j < system.relations()[r].tangents && joints[r] != 0; ++j) {
      const int number = system.relations()[r].first_tangent + j;
      const model::RelationRows& rows = system.rows(work, r);
      const double force = work.in[layout.tangent() + number];
      const double limit = rows.tangent[j].mu_static * rows.base;
      const TangentStatus status = along_force(force);
      const bool may_slip = (excluded[number] & contact::bit(status == TangentStatus::slip_plus
                                                                 ? contact::RowStatus::slip_plus
                                                                 : contact::RowStatus::slip_minus)) == 0;
      if (mode.tangent[number] != TangentStatus::stick || !may_slip ||
          !(std::abs(force) >= (1 - kRounding) * limit) || !(limit > 0))
        continue;
      const double sign = direction(status);
      const auto slip_with = [&](double way, double& terms) {
        work.in[layout.direction() + number] = way;
        out.failed = out.failed || !system.motion(work);
        return slip_of(layout, work, system.rows(work, r).tangent[j], terms);
      };
      double terms = 0, other_terms = 0;
      const double other = slip_with(-sign, other_terms);
      const double slip = slip_with(sign, terms);
      static_cast<void>(slip_with(0, other_terms));
      if (out.failed) return out;
      if (!(sign * slip > std::max(kRounding * terms, kSlack * std::abs(other - slip)))) continue;
      out.number = number;
      out.status = status;
      return out;
    }
  }
  return out;
}

}  // namespace

bool decide_massless(const model::System& system, model::Workspace& work,
                     std::span<const std::uint8_t> joints, std::span<const std::uint16_t> excluded,
                     std::vector<double>& before, Mode& mode) {
  const model::Layout& layout = system.layout();
  int count = 0;
  for (int r = 0; r < layout.relations; ++r) count += joints[r] != 0 ? system.relations()[r].tangents : 0;
  if (count == 0) return true;
  // What has reached its limit leaves it; then one after the other, the one that is farthest from its law first, since what changes one
  // force changes the others. After a few rounds for each, what still goes to and fro rests.
  bool first = true;
  bool jumped = false;
  const auto q = work.in.begin() + layout.q();
  before.assign(q, q + layout.coordinates);
  for (int round = 0; round <= 5 * count; ++round) {
    for (int j = 0; j < layout.tangents; ++j) work.in[layout.direction() + j] = direction(mode.tangent[j]);
    std::copy(before.begin(), before.end(), q);
    if (!system.motion(work)) return false;
    if (first) {
      first = false;
      if (leave_limits(system, work, joints, excluded, mode)) continue;
    }
    if (const int back = row_that_went_back(system, work, joints, excluded, before, mode); back >= 0) {
      mode.tangent[back] = TangentStatus::stick;
      continue;
    }
    int worst = -1;
    TangentStatus next = TangentStatus::stick;
    double most = kSlack;
    for (int r = 0; r < layout.relations; ++r) {
      for (int j = 0; j < system.relations()[r].tangents && joints[r] != 0; ++j) {
        const model::RelationRows& rows = system.rows(work, r);
        const int number = system.relations()[r].first_tangent + j;
        if (mode.tangent[number] != TangentStatus::stick) continue;
        const double force = work.in[layout.tangent() + number];
        const double limit = rows.tangent[j].mu_static * rows.base;
        const double beyond = limit > 0 ? std::abs(force) / limit - 1 : force != 0 ? 1 : 0;
        if (beyond <= most) continue;
        most = beyond;
        worst = number;
        next = along_force(force);
      }
    }
    // A jump is whole before anything stops: what jumps loads others, which jump with it.
    const bool jumps = !std::equal(before.begin(), before.end(), q, [](double a, double b) {
      return std::abs(a - b) <= kRounding * (std::abs(a) + std::abs(b));
    });
    if (worst < 0) jumped = jumped || jumps;
    for (int r = 0; r < layout.relations && (worst < 0 || !jumps); ++r) {
      for (int j = 0; j < system.relations()[r].tangents && joints[r] != 0; ++j) {
        const int number = system.relations()[r].first_tangent + j;
        if (mode.tangent[number] == TangentStatus::stick) continue;
        const double sign = direction(mode.tangent[number]);
        double terms = 0;
        const double slip = slip_of(layout, work, system.rows(work, r).tangent[j], terms);
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
    // Where nothing has jumped, what rests at its limit has rested there before, and its load has no other rate now.
    if (worst < 0 && jumped) {
      const Release release = row_to_release(system, work, joints, excluded, mode);
      if (release.failed) return false;
      worst = release.number;
      next = release.status;
    }
    if (worst < 0) return true;
    mode.tangent[worst] = round < 3 * count ? next : TangentStatus::stick;
    // What stops has jumped first, as far as its friction let it.
    if (mode.tangent[worst] == TangentStatus::stick) before.assign(q, q + layout.coordinates);
  }
  return true;
}

bool follow_massless(const model::System& system, model::Workspace& work,
                     std::span<const std::uint8_t> joints, std::span<const std::uint16_t> excluded,
                     std::vector<double>& before, Mode& mode) {
  const model::Layout& layout = system.layout();
  const auto q = work.in.begin() + layout.q();
  before.assign(q, q + layout.coordinates);
  for (int round = 0; round <= layout.tangents; ++round) {
    for (int j = 0; j < layout.tangents; ++j) work.in[layout.direction() + j] = direction(mode.tangent[j]);
    if (!system.motion(work)) return false;
    const int back = row_that_went_back(system, work, joints, excluded, before, mode);
    if (back < 0) return true;
    mode.tangent[back] = TangentStatus::stick;
    std::copy(before.begin(), before.end(), q);
  }
  return true;
}

}  // namespace judder::engines
