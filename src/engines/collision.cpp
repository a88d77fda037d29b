#include "judder/engines/collision.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "row_assembly.hpp"

namespace judder::engines {
namespace {

constexpr double kRounding = 16 * 2.220446049250313e-16;

contact::ImpactType impact_type(model::ImpactType type) {
  switch (type) {
    case model::ImpactType::newton:
      return contact::ImpactType::newton;
    case model::ImpactType::poisson:
      return contact::ImpactType::poisson;
    case model::ImpactType::stronge:
      return contact::ImpactType::stronge;
    case model::ImpactType::moreau:
      break;
  }
  return contact::ImpactType::moreau;
}

}  // namespace

bool observe(const model::System& system, model::Workspace& work, Mode& mode,
             std::vector<std::uint8_t>& touching) {
  const model::Layout& layout = system.layout();
  mode.normal.resize(layout.relations, NormalStatus::none);
  mode.pressed.resize(layout.relations, 0);
  mode.tangent.resize(layout.tangents, TangentStatus::free);
  touching.assign(layout.relations, std::uint8_t{0});
  bool closing = false;
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system.relations()[r];
    const model::RelationRows& rows = system.rows(work, r);
    if (relation.has_normal) {
      double gap = 0;
      double rate = 0;
      system.gap(work, r, gap, rate);
      double terms = 0;
      for (int i = 0; i < layout.coordinates; ++i) terms += std::abs(rows.w[i] * work.in[layout.q() + i]);
      if (relation.kind == model::RelationKind::constraint) {
        mode.normal[r] = NormalStatus::held;
      } else if (gap > kRounding * terms) {
        mode.normal[r] = NormalStatus::open;
      } else {
        double speed = std::abs(rows.gap_time);
        for (int i = 0; i < layout.coordinates; ++i) speed += std::abs(rows.w[i] * work.in[layout.v() + i]);
        const bool still = std::abs(rate) <= kRounding * speed;
        mode.normal[r] = still ? NormalStatus::closed : NormalStatus::open;
        if (!still && rate < 0) {
          touching[r] = 1;
          closing = true;
        }
      }
    }
    for (int j = 0; j < relation.tangents; ++j) {
      TangentStatus& status = mode.tangent[relation.first_tangent + j];
      if (mode.normal[r] == NormalStatus::open) {
        status = TangentStatus::free;
      } else if (relation.smooth_friction) {
        status = TangentStatus::smooth;
      } else {
        double slip = rows.tangent[j].drive;
        double terms = std::abs(slip);
        for (int i = 0; i < layout.coordinates; ++i) {
          slip += rows.tangent[j].w[i] * work.in[layout.v() + i];
          terms += std::abs(rows.tangent[j].w[i] * work.in[layout.v() + i]);
        }
        status = std::abs(slip) <= kRounding * terms ? TangentStatus::stick
                 : slip > 0                          ? TangentStatus::slip_plus
                                                     : TangentStatus::slip_minus;
      }
    }
  }
  return closing;
}

struct Collision::Rows {
  Rows(const model::System& s, model::Workspace& w) : system(s), work(w), assembly(s, w) {
    const model::Layout& layout = s.layout();
    part.resize(layout.relations);
    laws.resize(layout.relations);
    slip_before.resize(layout.tangents);
  }
  const model::System& system;
  model::Workspace& work;
  RowAssembly assembly;
  std::vector<std::uint8_t> part;
  std::vector<contact::ImpactLaw> laws;
  std::vector<double> slip_before;
};

Collision::Collision(const model::System& system, model::Workspace& work)
    : rows_(std::make_unique<Rows>(system, work)) {}
Collision::~Collision() = default;
Collision::Collision(Collision&&) noexcept = default;

int Collision::size() const { return rows_->assembly.size(); }
int Collision::normals() const { return rows_->assembly.normals(); }
const double* Collision::response(int i) const { return rows_->assembly.response(i); }
std::span<const double> Collision::slip_before() const { return rows_->slip_before; }

Collision::Row Collision::row(int i) const {
  const RowAssembly::Row& row = rows_->assembly[i];
  return {row.relation, row.tangent, row.number};
}

Status Collision::assemble(const Mode& mode, std::span<const std::uint8_t> touching, bool inelastic) {
  const model::System& system = rows_->system;
  model::Workspace& work = rows_->work;
  RowAssembly& assembly = rows_->assembly;
  const model::Layout& layout = system.layout();
  const int n = layout.coordinates;
  double* in = work.in.data();
  const double* v = in + layout.v();
  Status status;
  status.time = in[0];
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system.relations()[r];
    rows_->part[r] = relation.has_normal ? (mode.normal[r] != NormalStatus::open || touching[r] != 0)
                                         : !relation.feeds.empty();
  }
  if (!system.motion(work)) {
    status.reason = work.mass_failed ? Reason::singular_mass : Reason::not_finite;
    status.message = "the equations cannot be evaluated at the impact";
    return status;
  }
  // Friction coefficients at the slip speed before the impact: the direction of every slip that takes part, also of opening contacts.
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system.relations()[r];
    if (relation.tangents == 0) continue;
    const model::RelationRows& rows = system.rows(work, r);
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      double slip = rows.tangent[j].drive;
      for (int i = 0; i < n; ++i) slip += rows.tangent[j].w[i] * v[i];
      if (mode.tangent[number] == TangentStatus::stick) slip = 0;
      rows_->slip_before[number] = slip;
      in[layout.direction() + number] = slip > 0 ? 1 : slip < 0 ? -1 : 0;
    }
  }
  assembly.assemble(rows_->part, true);
  for (int i = 0; i < assembly.size(); ++i) {
    const RowAssembly::Row& row = assembly[i];
    if (row.tangent >= 0) {
      assembly.velocity[i] = rows_->slip_before[row.number];
      continue;
    }
    if (touching[row.relation] == 0)
      assembly.velocity[i] = 0;  // closed and held rows: exactly zero by status
    const model::Relation& relation = system.relations()[row.relation];
    contact::ImpactLaw& law = rows_->laws[i];
    law = {};
    law.type = impact_type(relation.impact);
    law.friction = relation.impact_friction;
    law.stiffness = relation.impact_stiffness;
    law.exponent = relation.impact_exponent;
    if (relation.kind != model::RelationKind::contact) continue;
    double tangential = 0;
    system.restitution(work, row.relation, std::max(0.0, -assembly.velocity[i]), law.restitution, tangential);
    if (relation.has_tangential_restitution) law.tangential = tangential;
    if (inelastic) {
      law = {};
      assembly.kind[i] = contact::NormalKind::bilateral;
    }
  }
  return status;
}

contact::ImpactProblem Collision::problem() const {
  const RowAssembly& assembly = rows_->assembly;
  contact::ImpactProblem problem;
  problem.normals = assembly.normals();
  problem.tangents = assembly.tangents();
  problem.A = assembly.A.data();
  problem.before = assembly.velocity.data();
  problem.kind = assembly.kind.data();
  problem.law = rows_->laws.data();
  problem.mu = assembly.mu_slip.data();
  problem.coupling = assembly.coupling.data();
  problem.contact = assembly.contact_of.data();
  problem.drive = assembly.drive.data();
  return problem;
}

std::optional<contact::SlidingContact> Collision::sliding(const Mode& mode, int relation, bool impulses) {
  const model::System& system = rows_->system;
  model::Workspace& work = rows_->work;
  RowAssembly& assembly = rows_->assembly;
  const model::Layout& layout = system.layout();
  const model::Relation& own = system.relations()[relation];
  if (own.tangents != 1 || !own.has_normal || mode.normal[relation] == NormalStatus::open)
    return std::nullopt;
  if (direction(mode.tangent[own.first_tangent]) == 0) return std::nullopt;
  for (int j = 0; j < layout.tangents; ++j) work.in[layout.direction() + j] = direction(mode.tangent[j]);
  for (int r = 0; r < layout.relations; ++r) {
    const bool closed = mode.normal[r] != NormalStatus::open;
    work.in[layout.closed() + r] = closed ? 1 : 0;
    rows_->part[r] = closed ? 1 : 0;
  }
  if (!system.motion(work)) return std::nullopt;
  assembly.assemble(rows_->part, impulses);
  int normal = -1;
  int tangent = -1;
  for (int i = 0; i < assembly.size(); ++i) {
    if (assembly[i].relation == relation) (assembly[i].tangent < 0 ? normal : tangent) = i;
  }
  if (normal < 0 || tangent < 0) return std::nullopt;
  std::vector<contact::RowStatus> statuses;
  assembly.statuses(mode, statuses);
  contact::DecisionProblem problem;
  problem.normals = assembly.normals();
  problem.tangents = assembly.tangents();
  problem.A = assembly.A.data();
  problem.b = assembly.b.data();
  problem.kind = assembly.kind.data();
  problem.mu_slip = assembly.mu_slip.data();
  problem.base = assembly.base.data();
  problem.coupling = assembly.coupling.data();
  return contact::sliding_contact(problem, statuses, normal, tangent - assembly.normals());
}

}  // namespace judder::engines
