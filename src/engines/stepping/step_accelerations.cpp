// The contacts of a step on the level of accelerations.
#include <algorithm>
#include <cmath>

#include "core/elementary.hpp"
#include "engines/stepping/step_contacts.hpp"

namespace judder::engines {

// ζ: the rate of the velocity of a row without accelerations.
double StepContacts::rate_of(const Slot& slot) const {
  const model::RelationRows& rows = work_.relation[slot.relation];
  return slot.tangent < 0 ? rows.zeta_n : rows.tangent[slot.tangent].zeta;
}

// λ_T = −share L: of what slips, and of smooth laws.
void StepContacts::find_shares() {
  for (int r = 0; r < system_.layout().relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    double speed = 0;
    for (int t = 0; t < relation.tangents; ++t)
      speed = elementary::hypot(speed, slip_[relation.first_tangent + t]);
    for (int t = 0; t < relation.tangents; ++t) {
      const int number = relation.first_tangent + t;
      const double mu = work_.relation[r].tangent[t].mu;
      share_[number] = part_[r] == 0 || !law_[r].smooth ? 0
                       : relation.smooth_friction       ? mu
                       : speed > 0                      ? mu * slip_[number] / speed
                                                        : 0;
    }
  }
}

// Friction of slips whose load is known, and of reactions that are known by now.
void StepContacts::push_slides(double* a) {
  for (int r = 0; r < system_.layout().relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int t = 0; t < relation.tangents; ++t) {
      const int number = relation.first_tangent + t;
      if (share_[number] == 0) continue;
      const model::RelationRows& rows = work_.relation[r];
      double load = rows.base;
      for (std::size_t k = 0; k < relation.feeds.size(); ++k)
        load += rows.factors[k] * std::abs(normal_[relation.feeds[k]]);
      const double force = -share_[number] * std::max(load, 0.0);
      const double* const x = response_.data() + static_cast<std::ptrdiff_t>(tangent_slot_[number]) * width_;
      for (int i = 0; i < n_; ++i) a[i] += (force - tangent_[number]) * x[i];
      tangent_[number] = force;
    }
  }
}

// A contact whose gap opens, by more than rounding, carries nothing.
void StepContacts::leave_separating(double step, const double* velocity, const double* a) {
  constexpr double kStands = 1e-9;
  for (int r = 0; r < system_.layout().relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (part_[r] == 0 || !relation.has_normal || relation.kind != model::RelationKind::contact) continue;
    const Slot& slot = slots_[normal_slot_[r]];
    const model::Row& row = row_of(slot);
    double terms = std::abs(drive_of(slot)) + step * std::abs(rate_of(slot) + row.dot(a));
    for (std::size_t k = 0; k < row.values().size(); ++k)
      terms += std::abs(row.values()[k] * velocity[row.places()[k]]);
    if (approach_[r] > kStands * terms) part_[r] = 0;
  }
}

bool StepContacts::any_strike(const double* velocity) const {
  for (int r = 0; r < system_.layout().relations; ++r) {
    if (system_.relations()[r].kind == model::RelationKind::contact && approached(r, velocity)) return true;
  }
  return false;
}

bool StepContacts::any_met(const double* velocity) const {
  for (int r = 0; r < system_.layout().relations; ++r) {
    if (system_.relations()[r].kind == model::RelationKind::contact && met(r, velocity)) return true;
  }
  return false;
}

bool StepContacts::approached(int r, const double* velocity) const {
  constexpr double kStands = 1e-9;
  if (!(normal_[r] > 0)) return false;
  const Slot& slot = slots_[normal_slot_[r]];
  const model::Row& row = row_of(slot);
  double terms = std::abs(drive_of(slot));
  for (std::size_t k = 0; k < row.values().size(); ++k)
    terms += std::abs(row.values()[k] * velocity[row.places()[k]]);
  return approach_[r] < -kStands * terms;
}

Status StepContacts::accelerate(double step, const double* velocity, StepMatrix& mass, double* a) {
  std::fill(normal_.begin(), normal_.end(), 0.0);
  std::fill(tangent_.begin(), tangent_.end(), 0.0);
  leave_separating(step, velocity, a);
  accelerating_ = true;
  position_ = false;
  list_blocks({});
  accelerating_ = false;
  find_shares();
  find_responses(mass, n_);
  push_slides(a);
  if (blocks_.empty()) return {};
  const auto rows = static_cast<int>(row_slot_.size());
  for (int i = 0; i < rows; ++i) {
    const Slot& slot = slots_[row_slot_[i]];
    q_[i] = rate_of(slot) + row_of(slot).dot(a);
    guess_of_rows_[i] = 0;
  }
  // A normal reaction brings the friction of the slips that it loads; of a constraint it is the pressed side that counts, and the last
  // one is tried first.
  for (int j = 0; j < rows; ++j) {
    const Slot& slot = slots_[row_slot_[j]];
    double* const pushed = smooth_push_.data() + static_cast<std::ptrdiff_t>(j) * width_;
    std::copy_n(response_.data() + static_cast<std::ptrdiff_t>(row_slot_[j]) * width_, width_, pushed);
    if (slot.tangent >= 0) continue;
    const double side =
        system_.relations()[slot.relation].kind == model::RelationKind::constraint && guess_[row_slot_[j]] < 0
            ? -1
            : 1;
    for (int r = 0; r < system_.layout().relations; ++r) {
      const model::Relation& relation = system_.relations()[r];
      for (int t = 0; t < relation.tangents; ++t) {
        const int number = relation.first_tangent + t;
        if (share_[number] == 0) continue;
        for (std::size_t k = 0; k < relation.feeds.size(); ++k) {
          if (relation.feeds[k] != slot.relation) continue;
          const double share = side * share_[number] * work_.relation[r].factors[k];
          const double* const x =
              response_.data() + static_cast<std::ptrdiff_t>(tangent_slot_[number]) * width_;
          for (int i = 0; i < n_; ++i) pushed[i] -= share * x[i];
        }
      }
    }
  }
  for (int j = 0; j < rows; ++j) {
    const double* const pushed = smooth_push_.data() + static_cast<std::ptrdiff_t>(j) * width_;
    for (int i = 0; i < rows; ++i) W_[i * rows + j] = row_of(slots_[row_slot_[i]]).dot(pushed);
  }
  for (bool again = true; again;) {
    if (!solve_single()) {
      Status status = solve_general();
      if (!status.ok()) return status;
    }
    again = may_be_sided_ && rest_sided();
    if (!again) break;
    accelerating_ = true;
    list_blocks({});
    accelerating_ = false;
  }
  std::fill(guess_.begin(), guess_.end(), 0.0);
  for (int j = 0; j < rows; ++j) {
    const Slot& slot = slots_[row_slot_[j]];
    const double reaction = impulse_[j];
    guess_[row_slot_[j]] = reaction;
    if (reaction == 0) continue;
    (slot.tangent < 0 ? normal_[slot.relation] : tangent_[slot.number]) = reaction;
    const double* const x = response_.data() + static_cast<std::ptrdiff_t>(row_slot_[j]) * width_;
    for (int i = 0; i < n_; ++i) a[i] += reaction * x[i];
  }
  push_slides(a);
  // Rows that hold one coordinate hold it to the last bit.
  int row = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const contact::StepBlock& block = blocks_[b];
    const int first = row;
    row += block.rows();
    for (int i = first; i < row; ++i) {
      const Slot& slot = slots_[row_slot_[i]];
      const bool normal = slot.tangent < 0;
      const bool holds =
          normal ? found_[b] != contact::StepContact::open : found_[b] == contact::StepContact::stick;
      if (holds && slot.single >= 0) a[slot.single] = -rate_of(slot) / row_of(slot)[slot.single] + 0.0;
    }
  }
  return {};
}

void StepContacts::take_out(const StepContacts& of, StepMatrix& mass, double* v) {
  find_responses(mass, n_);
  const auto take = [&](int slot, double impulse) {
    if (slot < 0 || impulse == 0) return;
    const double* const x = response_.data() + static_cast<std::ptrdiff_t>(slot) * width_;
    for (int i = 0; i < n_; ++i) v[i] -= impulse * x[i];
  };
  guess_ = of.guess_;
  for (std::size_t r = 0; r < normal_slot_.size(); ++r) take(normal_slot_[r], of.normal_[r]);
  for (std::size_t j = 0; j < tangent_slot_.size(); ++j) take(tangent_slot_[j], of.tangent_[j]);
}

void StepContacts::keep_rows() {
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const Slot& slot = slots_[s];
    const std::size_t width = system_.relations()[slot.relation].touches.size();
    double* const out = kept_.data() + kept_begin_[s];
    out[0] = drive_of(slot);
    std::copy_n(row_of(slot).values().begin(), width, out + 1);
    std::copy_n(push_of(slot).values().begin(), width, out + 1 + width);
  }
}

void StepContacts::work_of_kept(int relation, std::span<const double> normal, std::span<const double> tangent,
                                double share, const double* before, const double* after, double& dissipated,
                                double& supplied) const {
  const model::Relation& own = system_.relations()[relation];
  const auto add = [&](int s, double impulse) {
    if (s < 0 || impulse == 0) return;
    const std::size_t width = own.touches.size();
    const double* const kept = kept_.data() + kept_begin_[s];
    double mean = 0, pushed = 0;
    for (std::size_t k = 0; k < width; ++k) {
      const double v = 0.5 * (before[own.touches[k]] + after[own.touches[k]]);
      mean += kept[1 + k] * v;
      pushed += kept[1 + width + k] * v;
    }
    const double slip = mean + kept[0];
    dissipated -= share * impulse * slip;
    supplied += share * impulse * (own.own_push ? pushed - slip : -kept[0]);
  };
  add(normal_slot_[relation], normal[relation]);
  for (int j = 0; j < own.tangents; ++j)
    add(tangent_slot_[own.first_tangent + j], tangent[own.first_tangent + j]);
}

}  // namespace judder::engines
