#include "collider.hpp"

#include <algorithm>
#include <cmath>

#include "judder/contact/impact_path.hpp"

namespace judder::engines {
namespace {

constexpr double kRounding = 64 * 2.220446049250313e-16;

Word slip_word(TangentStatus status) {
  switch (status) {
    case TangentStatus::stick:
      return Word::stick;
    case TangentStatus::slip_plus:
      return Word::slip_plus;
    case TangentStatus::slip_minus:
      return Word::slip_minus;
    default:
      return Word::none;
  }
}

}  // namespace

Collider::Collider(const model::System& system, model::Workspace& work)
    : system_(system), work_(work), collision_(system, work) {
  const model::Layout& layout = system.layout();
  workspace_.expect(layout.relations, layout.tangents);
  settled_.resize(layout.relations);
  dissipated_.resize(layout.relations);
  supplied_.resize(layout.relations);
}

Status Collider::collide(Mode& mode, std::span<const std::uint8_t> touching, bool tail,
                         std::vector<Event>& events) {
  const model::Layout& layout = system_.layout();
  const int n = layout.coordinates;
  double* in = work_.in.data();
  double* v = in + layout.v();
  double kinetic = 0;
  double potential = 0;
  double energy_before = 0;
  system_.energies(work_, kinetic, potential, energy_before);
  Status status = collision_.assemble(mode, touching, tail);
  if (!status.ok()) return status;
  const int size = collision_.size();
  const int normals = collision_.normals();
  const contact::ImpactProblem problem = collision_.problem();
  const contact::ImpactResult result = contact::impact(problem, {}, workspace_);
  if (!result.ok()) {
    const int relation = collision_.row(std::max(result.row, 0)).relation;
    status.reason = Reason::impact_failed;
    status.where = system_.relations()[relation].place;
    status.message = std::string("the impact problem was not solved: ") + contact::name(result.status);
    return status;
  }
  for (int i = 0; i < size; ++i) {
    const double impulse = result.impulse[i];
    if (impulse == 0) continue;
    const double* response = collision_.response(i);
    for (int k = 0; k < n; ++k) v[k] += impulse * response[k];
  }

  std::fill(dissipated_.begin(), dissipated_.end(), 0.0);
  std::fill(supplied_.begin(), supplied_.end(), 0.0);
  std::fill(settled_.begin(), settled_.end(), std::uint8_t{0});
  for (int i = 0; i < size; ++i) {
    const Collision::Row row = collision_.row(i);
    const int r = row.relation;
    // A drive moves the other side of the contact with velocity −drive; its impulse supplies this much energy.
    const double drive_work = -result.impulse[i] * problem.drive[i];
    supplied_[r] += drive_work;
    dissipated_[r] -= result.work[i];
    if (row.tangent < 0) {
      if (system_.relations()[r].kind == model::RelationKind::constraint) continue;
      mode.normal[r] = result.after[i] > 0 ? NormalStatus::open : NormalStatus::closed;
    } else {
      settled_[r] = 1;
      const bool open = system_.relations()[r].has_normal && mode.normal[r] == NormalStatus::open;
      if (system_.relations()[r].smooth_friction) {
        mode.tangent[row.number] = open ? TangentStatus::free : TangentStatus::smooth;
      } else {
        mode.tangent[row.number] = open                  ? TangentStatus::free
                                   : result.after[i] > 0 ? TangentStatus::slip_plus
                                   : result.after[i] < 0 ? TangentStatus::slip_minus
                                                         : TangentStatus::stick;
      }
    }
  }
  // Joints without impulse: released or reversed if the impact moved them.
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (settled_[r] != 0 || relation.has_normal || relation.smooth_friction) continue;
    const model::RelationRows& rows = work_.relation[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      double change = 0;
      double terms = std::abs(collision_.slip_before()[number]);
      for (int i = 0; i < size; ++i) {
        if (result.impulse[i] == 0) continue;
        const double* response = collision_.response(i);
        for (int k = 0; k < n; ++k) {
          const double term = rows.tangent[j].w[k] * response[k] * result.impulse[i];
          change += term;
          terms += std::abs(term);
        }
      }
      if (std::abs(change) <= kRounding * terms) continue;
      const double slip = collision_.slip_before()[number] + change;
      mode.tangent[number] = std::abs(slip) <= kRounding * terms ? TangentStatus::stick
                             : slip > 0                          ? TangentStatus::slip_plus
                                                                 : TangentStatus::slip_minus;
    }
  }

  double energy_after = 0;
  system_.energies(work_, kinetic, potential, energy_after);
  for (int i = 0; i < normals; ++i) {
    const int r = collision_.row(i).relation;
    if (result.impulse[i] == 0 && !(touching[r] != 0 && problem.before[i] < 0)) continue;
    const model::Relation& relation = system_.relations()[r];
    Event event;
    event.time = in[0];
    event.kind = EventKind::impact;
    event.place = r;
    event.normal_impulse = result.impulse[i];
    event.energy_before = energy_before;
    event.energy_after = energy_after;
    event.energy_gain = result.energy_gain;
    if (relation.kind == model::RelationKind::contact) {
      event.words[0] = mode.normal[r] == NormalStatus::open ? Word::rebound : Word::rest;
    }
    for (int j = normals; j < size; ++j) {
      if (collision_.row(j).relation != r) continue;
      event.tangential_impulse[collision_.row(j).tangent] = result.impulse[j];
      const TangentStatus after = result.after[j] > 0   ? TangentStatus::slip_plus
                                  : result.after[j] < 0 ? TangentStatus::slip_minus
                                                        : TangentStatus::stick;
      event.words[1] = relation.tangents > 1 ? (after == TangentStatus::stick ? Word::stick : Word::slip)
                                             : slip_word(after);
    }
    if (relation.kind == model::RelationKind::constraint)
      continue;  // constraints pass the impulse on; no event of theirs
    events.push_back(event);
  }
  return status;
}

bool Collider::tangential_impact(Mode& mode, int relation, std::vector<Event>& events) {
  const model::Layout& layout = system_.layout();
  const model::Relation& own = system_.relations()[relation];
  const int n = layout.coordinates;
  double* v = work_.in.data() + layout.v();
  const std::optional<contact::SlidingContact> alone = collision_.sliding(mode, relation, true);
  if (!alone || alone->kind != contact::NormalKind::unilateral) return false;
  const contact::ImpactProblem problem = collision_.problem();
  const int size = collision_.size();
  int normal = -1;
  int tangent = -1;
  for (int i = 0; i < size; ++i) {
    if (collision_.row(i).relation == relation) (collision_.row(i).tangent < 0 ? normal : tangent) = i;
  }
  const contact::PathResult result = contact::tangential_impact(alone->path(0, problem.before[tangent]));
  if (result.status != contact::ImpactStatus::solved || !(result.normal_impulse > 0)) return false;

  double kinetic = 0;
  double potential = 0;
  Event event;
  system_.energies(work_, kinetic, potential, event.energy_before);
  std::fill(dissipated_.begin(), dissipated_.end(), 0.0);
  std::fill(supplied_.begin(), supplied_.end(), 0.0);
  // Along a piece of the path impulses and velocities of all rows are linear, so the mean velocity gives the work exactly.
  double P = 0;
  double Q = 0;
  for (int piece = 0; piece < result.pieces; ++piece) {
    const double dP = result.piece[piece].normal_impulse - P;
    const double dQ = result.piece[piece].tangential_impulse - Q;
    const auto impulse = [&](int i) {
      return i == normal ? dP : i == tangent ? dQ : alone->share[2 * i] * dP + alone->share[2 * i + 1] * dQ;
    };
    for (int i = 0; i < size; ++i) {
      const Collision::Row row = collision_.row(i);
      const double push = impulse(i);
      if (push == 0) continue;
      const model::RelationRows& rows = work_.relation[row.relation];
      const double* w = row.tangent < 0 ? rows.w : rows.tangent[row.tangent].w;
      double velocity = problem.drive[i];
      for (int k = 0; k < n; ++k) velocity += w[k] * v[k];
      for (int j = 0; j < size; ++j) velocity += 0.5 * problem.A[i * size + j] * impulse(j);
      dissipated_[row.relation] -= push * velocity;
      supplied_[row.relation] -= push * problem.drive[i];
    }
    for (int i = 0; i < size; ++i) {
      const double push = impulse(i);
      if (push == 0) continue;
      const double* response = collision_.response(i);
      for (int k = 0; k < n; ++k) v[k] += push * response[k];
    }
    P += dP;
    Q += dQ;
  }
  system_.energies(work_, kinetic, potential, event.energy_after);
  mode.normal[relation] = result.normal_after > 0 ? NormalStatus::open : NormalStatus::closed;
  mode.tangent[own.first_tangent] = result.normal_after > 0    ? TangentStatus::free
                                    : result.tangent_after > 0 ? TangentStatus::slip_plus
                                    : result.tangent_after < 0 ? TangentStatus::slip_minus
                                                               : TangentStatus::stick;
  event.kind = EventKind::tangential_impact;
  event.place = relation;
  event.words = {result.normal_after > 0 ? Word::rebound : Word::rest,
                 slip_word(mode.tangent[own.first_tangent])};
  event.normal_impulse = result.normal_impulse;
  event.tangential_impulse[0] = result.tangential_impulse;
  events.push_back(event);
  return true;
}

}  // namespace judder::engines
