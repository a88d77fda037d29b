#include "collider.hpp"

#include <algorithm>
#include <cmath>

#include "judder/contact/impact_path.hpp"

namespace judder::engines {
namespace {

constexpr double kRounding = 64 * 2.220446049250313e-16;
constexpr double kCancelled =
    16 * 2.220446049250313e-16;  ///< share of its terms that a sum which is zero may leave

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
  // Many relations are many blocks, hardly ever one: its memory is taken where it is struck.
  constexpr int kFew = 512;
  if (layout.relations + layout.tangents <= kFew) workspace_.expect(layout.relations, layout.tangents);
  settled_.resize(layout.relations);
  dissipated_.resize(layout.relations);
  supplied_.resize(layout.relations);
  jump_.resize(layout.coordinates);
  jump_terms_.resize(layout.coordinates);
  impulse_.reserve(layout.relations + layout.tangents);
  normal_impulse_.resize(layout.relations);
  tangential_impulse_.resize(layout.tangents);
}

// Along the direction in which the impulse of a row acts, in the mean of before and after: impulse times this is its share of the change of
// energy.
double Collider::mean_speed(const Collision::Row& row) const {
  const model::RelationRows& rows = work_.relation[row.relation];
  const model::Row& direction = row.tangent < 0 ? rows.push : rows.tangent[row.tangent].drag;
  double sum = 0;
  for (std::size_t e = 0; e < direction.values().size(); ++e) {
    const int k = direction.places()[e];
    sum += direction.values()[e] * (before_[k] + 0.5 * jump_[k]);
  }
  return sum;
}

void Collider::note_impulse(int row, double impulse) {
  const Collision::Row where = collision_.row(row);
  (where.tangent < 0 ? normal_impulse_[where.relation] : tangential_impulse_[where.number]) += impulse;
}

Status Collider::collide(Mode& mode, std::span<const std::uint8_t> touching, bool tail,
                         std::vector<Event>& events) {
  const model::Layout& layout = system_.layout();
  const int n = layout.coordinates;
  double* v = work_.in.data() + layout.v();
  double kinetic = 0;
  double potential = 0;
  double energy_before = 0;
  system_.energies(work_, kinetic, potential, energy_before);
  Status status = collision_.begin(mode, touching, tail);
  if (!status.ok()) return status;
  std::fill(dissipated_.begin(), dissipated_.end(), 0.0);
  std::fill(supplied_.begin(), supplied_.end(), 0.0);
  std::fill(settled_.begin(), settled_.end(), std::uint8_t{0});
  std::fill(jump_.begin(), jump_.end(), 0.0);
  std::fill(jump_terms_.begin(), jump_terms_.end(), 0.0);
  std::fill(normal_impulse_.begin(), normal_impulse_.end(), 0.0);
  std::fill(tangential_impulse_.begin(), tangential_impulse_.end(), 0.0);
  before_.assign(v, v + n);
  const std::size_t first = events.size();
  for (int block = 0; block < collision_.blocks(); ++block) {
    status = collide_block(block, mode, touching, tail, events);
    if (!status.ok()) return status;
  }
  // What the impulses stop stands still, to the last bit.
  for (int k = 0; k < n; ++k) {
    const double terms = std::abs(v[k]) + jump_terms_[k];
    v[k] += jump_[k];
    if (std::abs(v[k]) <= kCancelled * terms) v[k] = 0;
  }
  release_joints(mode);
  double energy_after = 0;
  system_.energies(work_, kinetic, potential, energy_after);
  for (std::size_t i = first; i < events.size(); ++i) {
    events[i].energy_before = energy_before;
    events[i].energy_after = energy_after;
  }
  return status;
}

// The impulses of a block. They are solved together, and what the largest of them leave in the others by rounding is no impulse: its sign would
// mean nothing. Impulses of rows are compared by the energies that they would give alone.
void Collider::take_impulses(const contact::ImpactProblem& problem, std::span<const double> impulses) {
  const int size = problem.rows();
  impulse_.assign(impulses.begin(), impulses.end());
  double sum = 0;
  for (int i = 0; i < size; ++i) {
    const double inverse = std::sqrt(std::abs(problem.A[i * size + i]));
    if (inverse > 0) sum += inverse * std::abs(impulses[i]) + std::abs(problem.before[i]) / inverse;
  }
  for (int i = 0; i < size; ++i) {
    const double inverse = std::sqrt(std::abs(problem.A[i * size + i]));
    if (inverse * std::abs(impulses[i]) <= kCancelled * sum) impulse_[i] = 0;
  }
}

// What the impulses do that push in another direction than that of their rows, beyond the work in these rows. The velocities that they meet on the way are not
// known, but what all impulses do together is: it is the mean velocity that counts, whatever the path. What the others do by their own paths is known; the rest
// is theirs, by the size of their impulses.
void Collider::account_for_pushes(const contact::ImpactProblem& problem, std::span<const double> work) {
  double rest = 0;
  double pushes = 0;
  for (int i = 0; i < collision_.size(); ++i) {
    const Collision::Row row = collision_.row(i);
    rest += impulse_[i] * mean_speed(row) - work[i];
    if (system_.relations()[row.relation].own_push)
      pushes += std::abs(impulse_[i]);
    else
      rest += impulse_[i] * problem.drive[i];
  }
  if (!(pushes > 0)) return;
  for (int i = 0; i < collision_.size(); ++i) {
    const int r = collision_.row(i).relation;
    if (system_.relations()[r].own_push) supplied_[r] += rest * (std::abs(impulse_[i]) / pushes);
  }
}

// Whether an impulse holds a contact back.
bool Collider::pulls(std::span<const double> impulses) const {
  for (int i = 0; i < collision_.normals(); ++i) {
    if (impulses[i] < 0 &&
        system_.relations()[collision_.row(i).relation].kind == model::RelationKind::contact)
      return true;
  }
  return false;
}

// Whether a contact separates behind the impact. What pushes of the others leave of a contact at rest where they cancel (a constraint between them) is rounding, and no
// rebound: forces decide.
bool Collider::leaves(const contact::ImpactProblem& problem, std::span<const double> impulses,
                      std::span<const double> after, int row) const {
  const int size = problem.rows();
  double terms = std::abs(problem.before[row]);
  for (int j = 0; j < size; ++j) terms += std::abs(problem.A[row * size + j] * impulses[j]);
  return after[row] > kCancelled * terms;
}

// Whether all contacts that strike or are closed are at rest behind the impact.
bool Collider::stops(const contact::ImpactProblem& problem, const contact::ImpactResult& result,
                     std::span<const std::uint8_t> touching) const {
  for (int i = 0; i < collision_.normals(); ++i) {
    const int r = collision_.row(i).relation;
    if (touching[r] != separates && system_.relations()[r].kind == model::RelationKind::contact &&
        leaves(problem, result.impulse, result.after, i))
      return false;
  }
  return true;
}

// Velocities jump once all blocks are done: none sees what another has done at the same instant.
Status Collider::collide_block(int block, Mode& mode, std::span<const std::uint8_t> touching, bool tail,
                               std::vector<Event>& events) {
  const int n = system_.layout().coordinates;
  Status status;
  status.time = work_.in[0];
  collision_.take(block);
  const int size = collision_.size();
  const int normals = collision_.normals();
  const contact::ImpactProblem problem = collision_.problem();
  workspace_.expect(normals, size - normals);
  contact::ImpactResult result = contact::impact(problem, {}, workspace_);
  if (tail && pulls(result.impulse)) {
    // Contacts that depend on each other share their impulse in many ways, and where friction is strong there may be other velocities without slip.
    collision_.take(block, true);
    result = contact::impact(problem, {}, workspace_);
    if (!result.ok() || !stops(problem, result, touching)) {
      collision_.take(block);
      result = contact::impact(problem, {}, workspace_);
    }
  }
  if (!result.ok()) {
    const int relation = collision_.row(std::max(result.row, 0)).relation;
    status.reason = Reason::impact_failed;
    status.where = system_.relations()[relation].place;
    status.message = std::string("the impact problem was not solved: ") + contact::name(result.status);
    if (result.status == contact::ImpactStatus::no_solution)
      status.message +=
          "; no velocities after it satisfy restitution and friction together (every mode was tried). With "
          "less "
          "restitution or friction there may be some; contacts that clamp a body need restitution 0";
    return status;
  }
  take_impulses(problem, result.impulse);
  for (int i = 0; i < size; ++i) {
    const double impulse = impulse_[i];
    if (impulse == 0) continue;
    note_impulse(i, impulse);
    const double* response = collision_.response(i);
    for (int k = 0; k < n; ++k) {
      jump_[k] += impulse * response[k];
      jump_terms_[k] += std::abs(impulse * response[k]);
    }
  }
  account_for_pushes(problem, result.work);
  for (int i = 0; i < size; ++i) {
    const Collision::Row row = collision_.row(i);
    const int r = row.relation;
    // A drive moves the other side of the contact with velocity −drive; its impulse supplies this much energy.
    const double drive_work = -impulse_[i] * problem.drive[i];
    if (!system_.relations()[r].own_push) supplied_[r] += drive_work;
    dissipated_[r] -= result.work[i];
    if (row.tangent < 0) {
      if (system_.relations()[r].kind == model::RelationKind::constraint) continue;
      mode.normal[r] = leaves(problem, impulse_, result.after, i) ? NormalStatus::open : NormalStatus::closed;
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
  bool first = true;
  for (int i = 0; i < normals; ++i) {
    const int r = collision_.row(i).relation;
    if (impulse_[i] == 0 && touching[r] != strikes) continue;
    const model::Relation& relation = system_.relations()[r];
    // Constraints pass the impulse on, without an event of theirs, unless what they prescribe has jumped.
    if (relation.kind == model::RelationKind::constraint && touching[r] != strikes) continue;
    Event event;
    event.time = work_.in[0];
    event.kind = EventKind::impact;
    event.place = r;
    event.normal_impulse = impulse_[i];
    event.energy_gain = first ? result.energy_gain : 0;  // of the block, listed once
    first = false;
    event.words[0] = mode.normal[r] == NormalStatus::open ? Word::rebound : Word::rest;
    for (int j = normals; j < size; ++j) {
      if (collision_.row(j).relation != r) continue;
      event.tangential_impulse[collision_.row(j).tangent] = impulse_[j];
      const TangentStatus after = result.after[j] > 0   ? TangentStatus::slip_plus
                                  : result.after[j] < 0 ? TangentStatus::slip_minus
                                                        : TangentStatus::stick;
      event.words[1] = relation.tangents > 1 ? (after == TangentStatus::stick ? Word::stick : Word::slip)
                                             : slip_word(after);
    }
    events.push_back(event);
  }
  return status;
}

// Joints without impulse: released or reversed if the impact moved them.
void Collider::release_joints(Mode& mode) {
  const model::Layout& layout = system_.layout();
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (settled_[r] != 0 || relation.has_normal || relation.smooth_friction) continue;
    const model::RelationRows& rows = work_.relation[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      double change = 0;
      double terms = std::abs(collision_.slip_before()[number]);
      for (const int k : relation.touches) {
        change += rows.tangent[j].w[k] * jump_[k];
        terms += std::abs(rows.tangent[j].w[k]) * jump_terms_[k];
      }
      if (std::abs(change) <= kRounding * terms) continue;
      const double slip = collision_.slip_before()[number] + change;
      mode.tangent[number] = std::abs(slip) <= kRounding * terms ? TangentStatus::stick
                             : slip > 0                          ? TangentStatus::slip_plus
                                                                 : TangentStatus::slip_minus;
    }
  }
}

bool Collider::tangential_impact(Mode& mode, int relation, bool at_jam, std::vector<Event>& events) {
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
  const contact::PathResult result = collision_.tangential_impact(*alone, normal, tangent, at_jam);
  if (result.status != contact::ImpactStatus::solved || !(result.normal_impulse > 0)) return false;

  before_.assign(v, v + n);
  double kinetic = 0;
  double potential = 0;
  Event event;
  system_.energies(work_, kinetic, potential, event.energy_before);
  std::fill(dissipated_.begin(), dissipated_.end(), 0.0);
  std::fill(supplied_.begin(), supplied_.end(), 0.0);
  std::fill(normal_impulse_.begin(), normal_impulse_.end(), 0.0);
  std::fill(tangential_impulse_.begin(), tangential_impulse_.end(), 0.0);
  // Impulses and velocities of all rows follow P and Q linearly: their work needs ∫ Q dP, and nothing else of the path.
  const double P = result.normal_impulse, Q = result.tangential_impulse;
  const auto share = [&](int i, int of) {
    if (i == normal || i == tangent) return (i == normal) == (of == 0) ? 1.0 : 0.0;
    return alone->share[2 * i + of];
  };
  for (int i = 0; i < size; ++i) {
    const Collision::Row row = collision_.row(i);
    const double by_P = share(i, 0), by_Q = share(i, 1);
    if (by_P == 0 && by_Q == 0) continue;
    const model::RelationRows& rows = work_.relation[row.relation];
    const model::Row& w = row.tangent < 0 ? rows.w : rows.tangent[row.tangent].w;
    double velocity = problem.drive[i];
    for (std::size_t e = 0; e < w.values().size(); ++e) velocity += w.values()[e] * v[w.places()[e]];
    double rate_P = 0, rate_Q = 0;
    for (int j = 0; j < size; ++j) {
      rate_P += problem.A[i * size + j] * share(j, 0);
      rate_Q += problem.A[i * size + j] * share(j, 1);
    }
    const double work = by_P * (velocity * P + 0.5 * rate_P * P * P + rate_Q * result.area) +
                        by_Q * (velocity * Q + rate_P * (P * Q - result.area) + 0.5 * rate_Q * Q * Q);
    dissipated_[row.relation] -= work;
    supplied_[row.relation] -= (by_P * P + by_Q * Q) * problem.drive[i];
  }
  std::fill(jump_.begin(), jump_.end(), 0.0);
  for (int i = 0; i < size; ++i) {
    const double push = share(i, 0) * P + share(i, 1) * Q;
    if (push == 0) continue;
    note_impulse(i, push);
    const double* response = collision_.response(i);
    for (int k = 0; k < n; ++k) jump_[k] += push * response[k];
  }
  for (int k = 0; k < n; ++k) v[k] += jump_[k];
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
