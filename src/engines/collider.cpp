#include "collider.hpp"

#include <algorithm>
#include <cmath>

#include "judder/contact/impact_path.hpp"

namespace judder::engines {
namespace {

constexpr double kRounding = 64 * 2.220446049250313e-16;

contact::ImpactType impact_type(model::ImpactType type) {
  switch (type) {
    case model::ImpactType::newton: return contact::ImpactType::newton;
    case model::ImpactType::poisson: return contact::ImpactType::poisson;
    case model::ImpactType::stronge: return contact::ImpactType::stronge;
    case model::ImpactType::moreau: break;
  }
  return contact::ImpactType::moreau;
}

Word slip_word(TangentStatus status) {
  switch (status) {
    case TangentStatus::stick: return Word::stick;
    case TangentStatus::slip_plus: return Word::slip_plus;
    case TangentStatus::slip_minus: return Word::slip_minus;
    default: return Word::none;
  }
}

}  // namespace

Collider::Collider(const model::System& system, model::Workspace& work) : system_(system), work_(work), assembly_(system, work) {
  const model::Layout& layout = system.layout();
  workspace_.expect(layout.relations, layout.tangents);
  part_.resize(layout.relations);
  laws_.resize(layout.relations);
  slip_before_.resize(layout.tangents);
  dissipated_.resize(layout.relations);
  supplied_.resize(layout.relations);
}

Status Collider::collide(Mode& mode, std::span<const std::uint8_t> touching, bool tail, std::vector<Event>& events) {
  const model::Layout& layout = system_.layout();
  const int n = layout.coordinates;
  double* in = work_.in.data();
  double* v = in + layout.v();
  Status status;
  status.time = in[0];
  double kinetic = 0;
  double potential = 0;
  double energy_before = 0;
  system_.energies(work_, kinetic, potential, energy_before);

  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    part_[r] = relation.has_normal ? (mode.normal[r] != NormalStatus::open || touching[r] != 0) : !relation.feeds.empty();
  }
  if (!system_.motion(work_)) {
    status.reason = work_.mass_failed ? Reason::singular_mass : Reason::not_finite;
    status.message = "the equations cannot be evaluated at the impact";
    return status;
  }
  // Friction coefficients at the slip speed before the impact: the direction of every slip that takes part, also of opening contacts.
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.tangents == 0) continue;
    const model::RelationRows& rows = system_.rows(work_, r);
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      double slip = rows.tangent[j].drive;
      for (int i = 0; i < n; ++i) slip += rows.tangent[j].w[i] * v[i];
      const TangentStatus known = mode.tangent[number];
      if (known == TangentStatus::stick) slip = 0;
      slip_before_[number] = slip;
      in[layout.direction() + number] = slip > 0 ? 1 : slip < 0 ? -1 : 0;
    }
  }
  assembly_.assemble(part_, true);
  const int size = assembly_.size();
  const int normals = assembly_.normals();
  for (int i = 0; i < size; ++i) {
    const RowAssembly::Row& row = assembly_[i];
    if (row.tangent < 0) {
      if (touching[row.relation] == 0) assembly_.velocity[i] = 0;  // closed and held rows: exactly zero by status
      const model::Relation& relation = system_.relations()[row.relation];
      contact::ImpactLaw& law = laws_[i];
      law = {};
      law.type = impact_type(relation.impact);
      law.friction = relation.impact_friction;
      law.stiffness = relation.impact_stiffness;
      law.exponent = relation.impact_exponent;
      if (relation.kind == model::RelationKind::contact) {
        double tangential = 0;
        system_.restitution(work_, row.relation, std::max(0.0, -assembly_.velocity[i]), law.restitution, tangential);
        if (relation.has_tangential_restitution) law.tangential = tangential;
        if (tail) {
          law = {};
          assembly_.kind[i] = contact::NormalKind::bilateral;
        }
      }
    } else {
      assembly_.velocity[i] = slip_before_[row.number];
    }
  }
  contact::ImpactProblem problem;
  problem.normals = normals;
  problem.tangents = assembly_.tangents();
  problem.A = assembly_.A.data();
  problem.before = assembly_.velocity.data();
  problem.kind = assembly_.kind.data();
  problem.law = laws_.data();
  problem.mu = assembly_.mu_slip.data();
  problem.coupling = assembly_.coupling.data();
  problem.contact = assembly_.contact_of.data();
  problem.drive = assembly_.drive.data();
  const contact::ImpactResult result = contact::impact(problem, {}, workspace_);
  if (!result.ok()) {
    const int relation = result.row >= 0 ? assembly_[result.row].relation : assembly_[0].relation;
    status.reason = Reason::impact_failed;
    status.where = system_.relations()[relation].place;
    status.message = std::string("the impact problem was not solved: ") + contact::name(result.status);
    return status;
  }
  for (int i = 0; i < size; ++i) {
    const double impulse = result.impulse[i];
    if (impulse == 0) continue;
    const double* response = assembly_.response(i);
    for (int k = 0; k < n; ++k) v[k] += impulse * response[k];
  }

  std::fill(dissipated_.begin(), dissipated_.end(), 0.0);
  std::fill(supplied_.begin(), supplied_.end(), 0.0);
  std::fill(part_.begin(), part_.end(), std::uint8_t{0});
  for (int i = 0; i < size; ++i) {
    const RowAssembly::Row& row = assembly_[i];
    const int r = row.relation;
    // A drive moves the other side of the contact with velocity −drive; its impulse supplies this much energy.
    const double drive_work = -result.impulse[i] * assembly_.drive[i];
    supplied_[r] += drive_work;
    dissipated_[r] -= result.work[i];
    if (row.tangent < 0) {
      if (system_.relations()[r].kind == model::RelationKind::constraint) continue;
      mode.normal[r] = result.after[i] > 0 ? NormalStatus::open : NormalStatus::closed;
    } else {
      part_[r] = 1;  // its slip is settled here
      const bool open = system_.relations()[r].has_normal && mode.normal[r] == NormalStatus::open;
      if (system_.relations()[r].smooth_friction) {
        mode.tangent[row.number] = open ? TangentStatus::free : TangentStatus::smooth;
      } else {
        mode.tangent[row.number] = open                   ? TangentStatus::free
                                   : result.after[i] > 0  ? TangentStatus::slip_plus
                                   : result.after[i] < 0  ? TangentStatus::slip_minus
                                                          : TangentStatus::stick;
      }
    }
  }
  // Joints without impulse: released or reversed if the impact moved them.
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (part_[r] != 0 || relation.has_normal || relation.smooth_friction) continue;
    const model::RelationRows& rows = work_.relation[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      double change = 0;
      double terms = std::abs(slip_before_[number]);
      for (int i = 0; i < size; ++i) {
        if (result.impulse[i] == 0) continue;
        const double* response = assembly_.response(i);
        for (int k = 0; k < n; ++k) {
          const double term = rows.tangent[j].w[k] * response[k] * result.impulse[i];
          change += term;
          terms += std::abs(term);
        }
      }
      if (std::abs(change) <= kRounding * terms) continue;
      const double slip = slip_before_[number] + change;
      mode.tangent[number] = std::abs(slip) <= kRounding * terms ? TangentStatus::stick
                             : slip > 0                          ? TangentStatus::slip_plus
                                                                 : TangentStatus::slip_minus;
    }
  }

  double energy_after = 0;
  system_.energies(work_, kinetic, potential, energy_after);
  for (int i = 0; i < normals; ++i) {
    const int r = assembly_[i].relation;
    if (result.impulse[i] == 0 && !(touching[r] != 0 && assembly_.velocity[i] < 0)) continue;
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
      if (assembly_[j].relation != r) continue;
      event.tangential_impulse[assembly_[j].tangent] = result.impulse[j];
      const TangentStatus after = result.after[j] > 0   ? TangentStatus::slip_plus
                                  : result.after[j] < 0 ? TangentStatus::slip_minus
                                                        : TangentStatus::stick;
      event.words[1] = relation.tangents > 1 ? (after == TangentStatus::stick ? Word::stick : Word::slip) : slip_word(after);
    }
    if (relation.kind == model::RelationKind::constraint) continue;  // constraints pass the impulse on; no event of theirs
    events.push_back(event);
  }
  return status;
}

bool Collider::tangential_impact(Mode& mode, int relation, std::vector<Event>& events) {
  const model::Layout& layout = system_.layout();
  const model::Relation& own = system_.relations()[relation];
  const int n = layout.coordinates;
  double* v = work_.in.data() + layout.v();
  if (own.tangents != 1 || !own.has_normal || !system_.motion(work_)) return false;
  for (int r = 0; r < layout.relations; ++r) {
    part_[r] = system_.relations()[r].has_normal && mode.normal[r] != NormalStatus::open ? 1 : 0;
  }
  assembly_.assemble(part_, true);
  const int size = assembly_.size();
  int normal = -1;
  int tangent = -1;
  std::vector<int>& others = others_;
  others.clear();
  for (int i = 0; i < size; ++i) {
    if (assembly_[i].relation == relation) {
      (assembly_[i].tangent < 0 ? normal : tangent) = i;
    } else if (assembly_[i].tangent < 0 || mode.tangent[assembly_[i].number] == TangentStatus::stick) {
      others.push_back(i);
    }
  }
  if (normal < 0 || tangent < 0) return false;

  // share: impulses of the other rows per unit impulse of the normal and of the tangential row, from A_oo x = −A_o.
  const int count = static_cast<int>(others.size());
  share_.assign(2 * count, 0.0);
  matrix_.assign(count * (count + 2), 0.0);
  const int stride = count + 2;
  for (int a = 0; a < count; ++a) {
    for (int b = 0; b < count; ++b) matrix_[a * stride + b] = assembly_.A[others[a] * size + others[b]];
    matrix_[a * stride + count] = -assembly_.A[others[a] * size + normal];
    matrix_[a * stride + count + 1] = -assembly_.A[others[a] * size + tangent];
  }
  for (int p = 0; p < count; ++p) {
    int best = p;
    for (int r = p + 1; r < count; ++r) {
      if (std::abs(matrix_[r * stride + p]) > std::abs(matrix_[best * stride + p])) best = r;
    }
    if (matrix_[best * stride + p] == 0) return false;
    for (int c = 0; c < stride; ++c) std::swap(matrix_[p * stride + c], matrix_[best * stride + c]);
    for (int r = 0; r < count; ++r) {
      if (r == p) continue;
      const double ratio = matrix_[r * stride + p] / matrix_[p * stride + p];
      for (int c = p; c < stride; ++c) matrix_[r * stride + c] -= ratio * matrix_[p * stride + c];
    }
  }
  for (int p = 0; p < count; ++p) {
    share_[2 * p] = matrix_[p * stride + count] / matrix_[p * stride + p];
    share_[2 * p + 1] = matrix_[p * stride + count + 1] / matrix_[p * stride + p];
  }
  const auto reduced = [&](int row, int column, int which) {
    double value = assembly_.A[row * size + column];
    for (int a = 0; a < count; ++a) value += assembly_.A[row * size + others[a]] * share_[2 * a + which];
    return value;
  };
  contact::PathProblem problem;
  problem.A_NN = reduced(normal, normal, 0);
  problem.A_NT = reduced(normal, tangent, 1);
  problem.A_TN = reduced(tangent, normal, 0);
  problem.A_TT = reduced(tangent, tangent, 1);
  problem.tangent_before = assembly_.velocity[tangent];
  problem.mu = assembly_.mu_slip[tangent - assembly_.normals()];
  const contact::PathResult result = contact::tangential_impact(problem);
  if (result.status != contact::ImpactStatus::solved || !(result.normal_impulse > 0)) return false;

  double kinetic = 0;
  double potential = 0;
  Event event;
  system_.energies(work_, kinetic, potential, event.energy_before);
  const auto push = [&](int row, double impulse) {
    const double* response = assembly_.response(row);
    for (int i = 0; i < n; ++i) v[i] += impulse * response[i];
  };
  push(normal, result.normal_impulse);
  push(tangent, result.tangential_impulse);
  for (int a = 0; a < count; ++a) {
    push(others[a], share_[2 * a] * result.normal_impulse + share_[2 * a + 1] * result.tangential_impulse);
  }
  system_.energies(work_, kinetic, potential, event.energy_after);
  std::fill(dissipated_.begin(), dissipated_.end(), 0.0);
  std::fill(supplied_.begin(), supplied_.end(), 0.0);
  supplied_[relation] = -result.normal_impulse * assembly_.drive[normal] - result.tangential_impulse * assembly_.drive[tangent];
  dissipated_[relation] = -(result.normal_work + result.tangential_work);
  mode.normal[relation] = result.normal_after > 0 ? NormalStatus::open : NormalStatus::closed;
  mode.tangent[own.first_tangent] = result.normal_after > 0    ? TangentStatus::free
                                    : result.tangent_after > 0 ? TangentStatus::slip_plus
                                    : result.tangent_after < 0 ? TangentStatus::slip_minus
                                                               : TangentStatus::stick;
  event.kind = EventKind::tangential_impact;
  event.place = relation;
  event.words = {result.normal_after > 0 ? Word::rebound : Word::rest, slip_word(mode.tangent[own.first_tangent])};
  event.normal_impulse = result.normal_impulse;
  event.tangential_impulse[0] = result.tangential_impulse;
  events.push_back(event);
  return true;
}

}  // namespace judder::engines
