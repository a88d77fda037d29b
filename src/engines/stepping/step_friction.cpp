// What friction a row has in a step: at rest by the direction in which it is pushed, and where its slip turns.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "engines/stepping/step_contacts.hpp"

namespace judder::engines {

using contact::StepBlock;
using contact::StepBlockKind;
using model::RelationKind;

// Coefficients of the slips to either side, of planar rows at rest.
void StepContacts::take_rest_limits(const Mode& mode) {
  rest_mode_ = mode;
  for (int r = 0; r < system_.layout().relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    sided_[r] = 0;
    for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j)
      rest_mode_.tangent[j] = rested_[r] != 0 ? TangentStatus::stick : TangentStatus::slip_plus;
  }
  rest_laws_.set_mode(rest_mode_);
  for (int r = 0; r < system_.layout().relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.tangents != 1 || relation.smooth_friction || rested_[r] == 0) continue;
    side_[r] = 0;
    mu_plus_[r] = mu_minus_[r] = work_.relation[r].tangent[0].mu_static;
    dry_plus_[r] = dry_minus_[r] = 0;
    if (rest_laws_.directed(relation.first_tangent)) {
      for (const int way : {1, -1}) {
        rest_laws_.take_direction(relation.first_tangent, way);
        (way > 0 ? mu_plus_ : mu_minus_)[r] = system_.rows(work_, r).tangent[0].mu_static;
        rest_laws_.take_back();
      }
      system_.rows(work_, r);
    }
    // What pushes the row along instead of holding it is no dry force.
    double forwards = 0, backwards = 0;
    if (dry_.any() && dry_.find(r, forwards, backwards) && forwards >= 0 && backwards >= 0) {
      dry_plus_[r] = forwards;
      dry_minus_[r] = backwards;
    }
    sided_[r] = mu_plus_[r] != mu_minus_[r] || dry_plus_[r] > 0 || dry_minus_[r] > 0 ? 1 : 0;
  }
  if (!rows_constant_) known_ = false;
  solutions_ = 1;
  iterations_ = 0;
}

// Painlevé: a closed contact that slips and that nothing else acts on has γ_N = k p_N + q along its slip. With k ≤ 0 and q < 0 no reaction, however large, lets
// the slip go on; what solves the step then is an impulse that stops it, or turns it, at every length of the step.
void StepContacts::find_paradox(const StepLaw& law) {
  if (law.position) return;
  const std::size_t rows = row_slot_.size();
  std::size_t row = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const StepBlock& block = blocks_[b];
    const std::size_t n = row, t = row + 1;
    row += static_cast<std::size_t>(block.rows());
    const int r = block_relation_[b];
    if (block.kind != StepBlockKind::contact || block.slips != 1 || block.load != 0) continue;
    if (was_open_[r] != 0 || rested_[r] != 0 || !(q_[n] < 0)) continue;
    const double slip = slip_before(block, system_.relations()[r].first_tangent);
    const double k = W_[n * rows + n] - (slip > 0 ? block.mu : -block.mu) * W_[n * rows + t];
    if (k > 0) continue;
    bool alone = true;
    for (std::size_t i = 0; alone && i < rows; ++i)
      alone = i == n || i == t || (W_[n * rows + i] == 0 && W_[t * rows + i] == 0);
    if (!alone) continue;
    paradox_ = r;
    paradox_k_ = k;
    paradox_a_ = q_[n] / law.kappa;
  }
}

void StepContacts::remember(double time, std::span<const double> normal, std::span<const double> tangent) {
  remembered_time_ = time;
  remembered_normal_ = normal;
  remembered_tangent_ = tangent;
}

// The slip of a component at the beginning of the step. Of one component it is the side on which it was: the drive has that of the end.
double StepContacts::slip_before(const StepBlock& block, int number) const {
  return block.slips == 1 && was_direction_[number] != 0 ? was_direction_[number] : slip_[number];
}

// Normal impulses of a step with an impact turn this slip by themselves.
bool StepContacts::turned_by_impact(const StepBlock& block, std::size_t at, int first) const {
  bool strikes = false;
  double along = 0;
  const std::size_t rows = row_slot_.size();
  for (int c = 0; c < block.slips; ++c) {
    double after = slip_[first + c];
    for (std::size_t i = 0; i < rows; ++i) {
      const Slot& slot = slots_[row_slot_[i]];
      if (slot.tangent >= 0 || impulse_[i] == 0) continue;
      const bool contact = system_.relations()[slot.relation].kind == RelationKind::contact;
      strikes = strikes || (contact && this->strikes(slot.relation));
      after += W_[(at + static_cast<std::size_t>(c)) * rows + i] * impulse_[i];
    }
    along += after * slip_before(block, first + c);
  }
  return strikes && along <= 0;
}

// A slip that turns within the step has stood still on the way: whether it goes on is for the static coefficient to say. Where a scheme gives a part of the
// impulse by the reaction of the beginning, which was against the slip that there was, what holds makes up for that too,
// and so does what couples to it.
bool StepContacts::rest_turned() {
  bool any = false;
  std::size_t row = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const StepBlock& block = blocks_[b];
    const int r = block_relation_[b];
    const std::size_t at = row + (block.kind == StepBlockKind::friction ? 0 : 1);
    row += static_cast<std::size_t>(block.rows());
    const model::Relation& relation = system_.relations()[r];
    if (block.slips == 0 || rested_[r] != 0 || relation.smooth_friction) continue;
    // An impact has the coefficient of the slip before it, whatever that becomes.
    if (shares_[r] != 0 || (was_open_[r] != 0 && approach_[r] < 0)) continue;
    const model::RelationRows::Tangent& tangent = work_.relation[r].tangent[0];
    if (!(tangent.mu_static > tangent.mu) && !(remembered_time_ > 0)) continue;
    double along = 0;
    for (int c = 0; c < block.slips; ++c)
      along += u_[at + static_cast<std::size_t>(c)] * slip_before(block, relation.first_tangent + c);
    if (!(along < 0) || turned_by_impact(block, at, relation.first_tangent)) continue;
    rested_[r] = turned_[r] = 1;
    any = true;
    carry(b, at);
  }
  return carry_coupled() || any;
}

// What a row was given by the reaction of the beginning of the step is sought once more with the rest of its impulse.
void StepContacts::carry(std::size_t b, std::size_t at) {
  const int r = block_relation_[b];
  if (!(remembered_time_ > 0) || carries_[r] != 0) return;
  carries_[r] = 1;
  const std::size_t rows = row_slot_.size();
  for (int c = 0; c < blocks_[b].slips; ++c) {
    const std::size_t i = at + static_cast<std::size_t>(c);
    carried_[i] = remembered_time_ * remembered_tangent_[system_.relations()[r].first_tangent + c];
    for (std::size_t k = 0; k < rows; ++k) q_[k] -= W_[k * rows + i] * carried_[i];
  }
}

// The friction of a slip that turns or stops jumps within the step, and the reaction of every row at rest that couples to it jumps with it. Its mean is within its
// limit; what is left of it behind the reaction of the beginning is not.
bool StepContacts::carry_coupled() {
  if (!(remembered_time_ > 0)) return false;
  bool jumps = false, any = false;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const int r = block_relation_[b];
    const bool stops = blocks_[b].slips > 0 && rested_[r] == 0 && found_[b] == contact::StepContact::stick &&
                       (was_open_[r] == 0 || approach_[r] >= 0);
    couples_[r] = turned_[r] != 0 || stops ? 1 : 0;
    jumps = jumps || couples_[r] != 0;
  }
  if (!jumps) return false;
  spread(couples_);
  std::size_t row = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const StepBlock& block = blocks_[b];
    const int r = block_relation_[b];
    const std::size_t at = row + (block.kind == StepBlockKind::friction ? 0 : 1);
    row += static_cast<std::size_t>(block.rows());
    if (block.slips == 0 || couples_[r] == 0 || rested_[r] == 0 || carries_[r] != 0) continue;
    if (system_.relations()[r].smooth_friction || strikes(r)) continue;
    carry(b, at);
    any = true;
  }
  return any;
}

double StepContacts::load_of(std::size_t b, std::size_t at) const {
  const StepBlock& block = blocks_[b];
  double load = block.load;
  if (block.kind == StepBlockKind::contact) load += impulse_[at - 1];
  for (int k = 0; k < block.feed_size; ++k) {
    const contact::StepFeed& feed = feeds_[static_cast<std::size_t>(block.feed + k)];
    load += feed.weight * std::abs(impulse_[feed.row]);
  }
  return load;
}

double StepContacts::own_coefficient(int r) const {
  return side_[r] > 0 ? mu_plus_[r] : side_[r] < 0 ? mu_minus_[r] : std::max(mu_plus_[r], mu_minus_[r]);
}

double StepContacts::own_dry_force(int r) const {
  return side_[r] > 0 ? dry_plus_[r] : side_[r] < 0 ? dry_minus_[r] : std::max(dry_plus_[r], dry_minus_[r]);
}

// Rows at rest that are pushed beyond the limit of their direction, or slip with that of the other one.
bool StepContacts::rest_sided() {
  constexpr double kAbove = 1 + 1e-12;
  bool any = false;
  std::size_t row = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const StepBlock& block = blocks_[b];
    const int r = block_relation_[b];
    const std::size_t at = row + (block.kind == StepBlockKind::friction ? 0 : 1);
    row += static_cast<std::size_t>(block.rows());
    if (block.slips != 1 || sided_[r] == 0 || rested_[r] == 0 || side_[r] != 0 || !(block.mu > 0)) continue;
    const bool forwards = impulse_[at] < 0;
    const double most = own_coefficient(r), held = own_dry_force(r);
    const double mu = forwards ? mu_plus_[r] : mu_minus_[r], dry = forwards ? dry_plus_[r] : dry_minus_[r];
    if (mu == most && dry == held) continue;
    // The known part of the limit has the dry force of both in it.
    const double time = kappa_ + (carries_[r] != 0 ? remembered_time_ : 0);
    const double load = load_of(b, at) - (held > 0 ? time * held / block.mu : 0);
    const double limit = mu / most * block.mu * std::max(load, 0.0) + time * dry;
    if (!(std::abs(impulse_[at]) > kAbove * limit)) continue;
    side_[r] = forwards ? 1 : -1;
    any = true;
  }
  return any;
}

}  // namespace judder::engines
