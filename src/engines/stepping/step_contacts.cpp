#include "step_contacts.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

#include "core/dense/reduction.hpp"
#include "core/elementary.hpp"
#include "judder/contact/one_step_planar.hpp"
#include "judder/core/number.hpp"
#include "judder/model/friction.hpp"

namespace judder::engines {

using contact::StepBlock;
using contact::StepBlockKind;
using contact::StepContact;
using model::RelationKind;

namespace {

constexpr std::uint8_t kDoubtful = 2;

}  // namespace

StepContacts::StepContacts(const model::System& system, model::Workspace& work)
    : system_(system),
      work_(work),
      n_(system.layout().coordinates),
      rest_laws_(system, work),
      dry_(system, work) {
  const model::Layout& layout = system.layout();
  const auto relations = static_cast<std::size_t>(layout.relations);
  const auto tangents = static_cast<std::size_t>(layout.tangents);
  normal_slot_.assign(relations, -1);
  tangent_slot_.assign(tangents, -1);
  int most_feeds = 0;
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system.relations()[r];
    rows_constant_ = rows_constant_ && relation.rows_constant;
    most_feeds += static_cast<int>(relation.feeds.size()) + 1;
    const int single = relation.rows_constant && relation.touches.size() == 1 ? relation.touches.front() : -1;
    if (relation.has_normal) {
      normal_slot_[r] = static_cast<int>(slots_.size());
      slots_.push_back({r, -1, -1, single});
    }
    for (int j = 0; j < relation.tangents; ++j) {
      tangent_slot_[relation.first_tangent + j] = static_cast<int>(slots_.size());
      slots_.push_back({r, j, relation.first_tangent + j, single});
    }
  }
  // A row of a contact in the plane has one entry where the normal and the slip stand on different coordinates.
  for (Slot& slot : slots_) {
    const model::Relation& relation = system.relations()[slot.relation];
    if (!relation.rows_constant) continue;
    int entries = 0;
    const model::Row& row = row_of(slot);
    for (int i = 0; i < n_; ++i) {
      if (row[i] == 0) continue;
      ++entries;
      slot.single = i;
    }
    if (entries != 1) slot.single = -1;
  }
  const std::size_t slots = slots_.size();
  width_ = layout.coordinates + layout.states;
  response_.resize(slots * static_cast<std::size_t>(width_));
  smooth_push_.resize(slots * static_cast<std::size_t>(width_));
  coupling_.resize(slots * slots);
  part_.resize(relations);
  law_.resize(relations);
  approach_.resize(relations);
  slip_.resize(tangents);
  shift_.resize(relations);
  was_open_.resize(relations);
  sided_.resize(relations);
  side_.resize(relations);
  for (std::vector<double>* each : {&mu_plus_, &mu_minus_, &dry_plus_, &dry_minus_}) each->resize(relations);
  for (const model::Relation& relation : system.relations())
    may_be_sided_ = may_be_sided_ || (layout.switches > 0 && relation.tangents == 1 &&
                                      !relation.smooth_friction && (!relation.law_constant || dry_.any()));
  rested_.resize(relations);
  turned_.resize(relations);
  carries_.resize(relations);
  couples_.resize(relations);
  was_direction_.resize(tangents);
  blocks_.reserve(2 * relations);
  feeds_.reserve(static_cast<std::size_t>(most_feeds));
  block_relation_.reserve(2 * relations);
  row_slot_.reserve(slots);
  slot_row_.resize(slots);
  q_.resize(slots);
  W_.resize(slots * slots);
  held_.resize(slots * slots);
  guess_of_rows_.resize(slots);
  impulse_.resize(slots);
  u_.resize(slots);
  found_.resize(2 * relations);
  stood_.resize(2 * relations);
  guess_.resize(slots);
  first_.resize(slots);
  carried_.resize(slots);
  half_.resize(relations);
  ended_.resize(relations);
  first_mu_.resize(relations);
  first_load_.resize(relations);
  shares_.resize(relations);
  first_e_.resize(relations);
  restitution_.resize(relations);
  normal_.resize(relations);
  tangent_.resize(tangents);
  share_.resize(tangents);
  kept_begin_.push_back(0);
  for (const Slot& slot : slots_)
    kept_begin_.push_back(kept_begin_.back() + 1 +
                          2 * static_cast<int>(system.relations()[slot.relation].touches.size()));
  kept_.resize(static_cast<std::size_t>(kept_begin_.back()));
  status_.resize(tangents);
  normal_status_.resize(relations);
  memory_.resize(static_cast<std::size_t>(width_));
  workspace_.resize(static_cast<int>(slots), static_cast<int>(2 * relations));
}

void StepContacts::start() {
  known_ = false;
  std::fill(guess_.begin(), guess_.end(), 0.0);
  forget_impact();
}

// An impact happens to this contact in this step, the first or the second of its own.
bool StepContacts::strikes(int r) const { return (was_open_[r] != 0 && approach_[r] < 0) || half_[r] != 0; }

const model::Row& StepContacts::row_of(const Slot& slot) const {
  const model::RelationRows& rows = work_.relation[slot.relation];
  return slot.tangent < 0 ? rows.w : rows.tangent[slot.tangent].w;
}

const model::Row& StepContacts::push_of(const Slot& slot) const {
  const model::RelationRows& rows = work_.relation[slot.relation];
  return slot.tangent < 0 ? rows.push : rows.tangent[slot.tangent].drag;
}

double StepContacts::drive_of(const Slot& slot) const {
  const model::RelationRows& rows = work_.relation[slot.relation];
  return slot.tangent < 0 ? rows.gap_time : rows.tangent[slot.tangent].drive;
}

void StepContacts::take_rows(const Mode& mode, const double* velocity) {
  double* const direction = work_.in.data() + system_.layout().direction();
  std::fill(turned_.begin(), turned_.end(), std::uint8_t{0});
  std::fill(carries_.begin(), carries_.end(), std::uint8_t{0});
  for (int r = 0; r < system_.layout().relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    was_open_[r] = mode.normal[r] == NormalStatus::open ? 1 : 0;
    system_.rows(work_, r);
    const model::RelationRows& rows = work_.relation[r];
    bool rests = relation.tangents > 0, turned = false;
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      const double slip = rows.tangent[j].drive + rows.tangent[j].w.dot(velocity);
      slip_[number] = slip;
      was_direction_[number] = judder::engines::direction(mode.tangent[number]);
      rests = rests && (mode.tangent[number] == TangentStatus::stick || slip == 0);
      // A law that depends on the speed sees |γ| as σ γ: an open contact has no σ yet.
      if (mode.tangent[number] == TangentStatus::free || direction[number] * slip < 0) {
        direction[number] = slip > 0 ? 1 : slip < 0 ? -1 : 0;
        turned = true;
      }
    }
    rested_[r] = rests ? 1 : 0;
    if (turned && !relation.law_constant) system_.rows(work_, r);
    if (relation.has_normal) approach_[r] = rows.gap_time + rows.w.dot(velocity);
  }
  if (may_be_sided_) take_rest_limits(mode);
}

void StepContacts::choose_closed() {
  any_ = doubtful_ = false;
  for (int r = 0; r < system_.layout().relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    const bool always = !relation.has_normal || relation.kind == RelationKind::constraint;
    part_[r] = always || work_.relation[r].gap <= 0 ? 1 : 0;
    // A contact that was closed and would open by itself may also stay: which of the two is asked where friction is strong.
    if (part_[r] == 0 && was_open_[r] == 0 && relation.tangents == 1 && !relation.smooth_friction) {
      part_[r] = kDoubtful;
      doubtful_ = true;
    }
    any_ = any_ || part_[r] != 0;
  }
}

void StepContacts::choose_all() {
  std::fill(part_.begin(), part_.end(), std::uint8_t{1});
  any_ = !part_.empty();
  doubtful_ = false;
}

void StepContacts::choose_by_mode(const Mode& mode) {
  any_ = doubtful_ = false;
  for (int r = 0; r < system_.layout().relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    const bool always = !relation.has_normal || relation.kind == RelationKind::constraint;
    part_[r] = always || mode.normal[r] != NormalStatus::open ? 1 : 0;
    any_ = any_ || part_[r] != 0;
  }
}

void StepContacts::find_responses(StepMatrix& lu, int size) {
  if (known_) return;
  const int slots = static_cast<int>(slots_.size());
  for (int s = 0; s < slots; ++s) {
    if (!rows_constant_ && part_[slots_[s].relation] == 0) continue;
    double* const x = response_.data() + static_cast<std::ptrdiff_t>(s) * width_;
    std::fill_n(x, width_, 0.0);
    push_of(slots_[s]).write(x, static_cast<std::size_t>(n_));
    lu.solve(x);
  }
  static_cast<void>(size);
  if (!rows_constant_) return;
  for (int i = 0; i < slots; ++i) {
    for (int j = 0; j < slots; ++j)
      coupling_[i * slots + j] =
          row_of(slots_[i]).dot(response_.data() + static_cast<std::ptrdiff_t>(j) * width_);
  }
  known_ = true;
}

void StepContacts::settle_doubtful() {
  for (int r = 0; r < system_.layout().relations; ++r) {
    if (part_[r] != kDoubtful) continue;
    const int normal = normal_slot_[r], tangent = tangent_slot_[system_.relations()[r].first_tangent];
    const model::Row& row = row_of(slots_[normal]);
    const double a = row.dot(response_.data() + static_cast<std::ptrdiff_t>(normal) * width_);
    const double b = row.dot(response_.data() + static_cast<std::ptrdiff_t>(tangent) * width_);
    part_[r] = a > law_[r].mu * std::abs(b) ? 0 : 1;
  }
  doubtful_ = false;
}

void StepContacts::add_block(StepBlockKind kind, int relation, int slips) {
  StepBlock block;
  block.kind = kind;
  block.slips = slips;
  const model::Relation& own = system_.relations()[relation];
  if (kind != StepBlockKind::friction) row_slot_.push_back(normal_slot_[relation]);
  for (int j = 0; j < slips; ++j) row_slot_.push_back(tangent_slot_[own.first_tangent + j]);
  blocks_.push_back(block);
  block_relation_.push_back(relation);
}

// One block per contact, joint and constraint; friction of constraints, and of contacts whose load is not their own reaction, has a block of its own.
void StepContacts::list_blocks(const StepLaw& law) {
  blocks_.clear();
  feeds_.clear();
  block_relation_.clear();
  row_slot_.clear();
  kappa_ = law.kappa;
  for (int r = 0; r < system_.layout().relations; ++r) {
    if (part_[r] == 0) continue;
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = work_.relation[r];
    Law& own = law_[r];
    const bool strikes = this->strikes(r);
    const bool as_coulomb = relation.smooth_friction && relation.has_normal && !accelerating_ &&
                            (strikes || !model::has_bristle(relation.friction));
    own = {0, 0, relation.smooth_friction && !as_coulomb};
    if (accelerating_ && !own.smooth && relation.tangents > 0 && rested_[r] == 0) {
      own.smooth = true;  // the direction of a slip is known: its force is a share of the load
    } else if (as_coulomb) {
      // An impulse has Coulomb's law with the steady coefficient; so has an arctan in every step, so that no step pushes a slip beyond its zero.
      double speed = 0;
      for (int j = 0; j < relation.tangents; ++j)
        speed = elementary::hypot(speed, slip_[relation.first_tangent + j]);
      own.mu = relation.impact_friction || !strikes ? system_.impulse_coefficient(work_, r, speed) : 0;
      own.load = law.kappa * rows.base;
    } else if (relation.tangents > 0 && !relation.smooth_friction) {
      own.mu = rested_[r] == 0                   ? rows.tangent[0].mu
               : may_be_sided_ && sided_[r] != 0 ? own_coefficient(r)
                                                 : rows.tangent[0].mu_static;
      if (!relation.impact_friction && strikes) own.mu = 0;
      own.load = law.kappa * rows.base;
    }
    if (shares_[r] != 0) {
      own.mu = first_mu_[r];
      own.load += first_load_[r];
    }
    // What a row was given at the beginning of the step is sought once more, with the load that it had.
    if (carries_[r] != 0) {
      double load = rows.base;
      for (std::size_t k = 0; k < relation.feeds.size(); ++k)
        load += rows.factors[k] * std::abs(remembered_normal_[relation.feeds[k]]);
      own.load += remembered_time_ * std::max(load, 0.0);
    }
    if (may_be_sided_ && rested_[r] != 0 && sided_[r] != 0 && own.mu > 0)
      own.load += (law.kappa + (carries_[r] != 0 ? remembered_time_ : 0)) * own_dry_force(r) / own.mu;
    const int slips = own.smooth ? 0 : relation.tangents;
    const bool contact = relation.has_normal && relation.kind == RelationKind::contact;
    const bool fed_by_itself = relation.feeds.size() == 1 && relation.feeds.front() == r;
    if (contact && (slips == 0 || fed_by_itself)) {
      add_block(StepBlockKind::contact, r, slips);
      if (slips > 0) {
        // L = μ (load + f r_N) = μ f (load/f + r_N)
        const double factor = rows.factors[0];
        blocks_.back().mu = own.mu * factor;
        blocks_.back().load = factor > 0 ? own.load / factor : 0;
      }
      continue;
    }
    if (relation.has_normal) add_block(contact ? StepBlockKind::contact : StepBlockKind::bilateral, r, 0);
    if (slips == 0) continue;
    add_block(StepBlockKind::friction, r, slips);
    blocks_.back().mu = own.mu;
    blocks_.back().load = std::max(own.load, 0.0);
    blocks_.back().feed = static_cast<int>(feeds_.size());
    for (std::size_t k = 0; k < relation.feeds.size(); ++k) {
      const int fed = relation.feeds[k];
      if (part_[fed] == 0) continue;  // an open contact presses nothing
      // Friction may be left out of the impulse of an impact; then no joint has a share of it.
      if (!system_.relations()[fed].impact_friction && this->strikes(fed)) continue;
      feeds_.push_back(
          {normal_slot_[relation.feeds[k]], rows.factors[k]});  // the slot, until the rows are known
      ++blocks_.back().feed_size;
    }
  }
  std::fill(slot_row_.begin(), slot_row_.end(), -1);
  for (std::size_t i = 0; i < row_slot_.size(); ++i) slot_row_[row_slot_[i]] = static_cast<int>(i);
  for (contact::StepFeed& feed : feeds_) feed.row = slot_row_[feed.row];
}

void StepContacts::find_free(const StepLaw& law, std::span<const double> gap,
                             std::span<const double> gap_before, const double* xi) {
  constexpr double kRounding =
      1e-12;  // what rests approaches by its rounding, beside what the step would make of it
  for (std::size_t i = 0; i < row_slot_.size(); ++i) {
    const Slot& slot = slots_[row_slot_[i]];
    const model::Relation& relation = system_.relations()[slot.relation];
    double u = drive_of(slot) + row_of(slot).dot(xi);
    if (slot.tangent < 0) {
      const int r = slot.relation;
      double e = 0;
      if (law.restitution && relation.kind == RelationKind::contact && relation.restitution.outputs() == 2 &&
          (approach_[r] < 0 || law.position)) {
        // An impact between three places takes two steps, and in the second the velocity may have turned already.
        double tangential = 0;
        system_.restitution(work_, r, std::abs(approach_[r]), e, tangential);
      }
      if (half_[r] != 0 || ended_[r] != 0) e = first_e_[r];
      restitution_[r] = e;
      shift_[r] = 0;
      if (law.position && relation.holonomic) {
        u = (gap[r] + (gap_before.empty() ? 0 : e * gap_before[r])) / law.reach;
      } else if (e > 0 && std::abs(approach_[r]) > kRounding * std::abs(u)) {
        shift_[r] = e * -approach_[r];
        u -= shift_[r];
      }
      if (law.after && !relation.holonomic) u -= 0.5 * approach_[r];
    } else if (law.after) {
      u -= 0.5 * slip_[slot.number];
    }
    carried_[i] = completing_ ? first_[row_slot_[i]] : 0;
    q_[i] = u;
    guess_of_rows_[i] = guess_[row_slot_[i]];
  }
}

void StepContacts::assemble() {
  const auto rows = static_cast<int>(row_slot_.size());
  const auto slots = static_cast<int>(slots_.size());
  bool any_smooth = false;
  for (int i = 0; i < rows; ++i) any_smooth = any_smooth || law_[slots_[row_slot_[i]].relation].smooth;
  if (rows_constant_ && !any_smooth) {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < rows; ++j) W_[i * rows + j] = coupling_[row_slot_[i] * slots + row_slot_[j]];
    }
    return;
  }
  for (int j = 0; j < rows; ++j) {
    const Slot& slot = slots_[row_slot_[j]];
    const double* x = response_.data() + static_cast<std::ptrdiff_t>(row_slot_[j]) * width_;
    double* const pushed = smooth_push_.data() + static_cast<std::ptrdiff_t>(j) * width_;
    std::copy_n(x, width_, pushed);
    // λ_T = −κ λ_N belongs to the column of the normal row.
    if (slot.tangent < 0 && law_[slot.relation].smooth) {
      const model::Relation& relation = system_.relations()[slot.relation];
      for (int t = 0; t < relation.tangents; ++t) {
        const double share = work_.relation[slot.relation].tangent[t].mu;
        const double* drag = response_.data() +
                             static_cast<std::ptrdiff_t>(tangent_slot_[relation.first_tangent + t]) * width_;
        for (int i = 0; i < width_; ++i) pushed[i] -= share * drag[i];
      }
    }
    for (int i = 0; i < rows; ++i) W_[i * rows + j] = row_of(slots_[row_slot_[i]]).dot(pushed);
  }
}

bool StepContacts::solve_single() {
  if (blocks_.size() == 1 && blocks_.front().kind == StepBlockKind::friction && blocks_.front().slips == 1 &&
      blocks_.front().feed_size == 0 && W_[0] > 0) {
    // A joint with a known load: what would stop it, as far as friction goes.
    const double limit = blocks_.front().mu * blocks_.front().load, stop = -q_[0] / W_[0];
    const bool sticks = std::abs(stop) <= limit;
    impulse_[0] = sticks ? stop : std::copysign(limit, stop);
    u_[0] = sticks ? 0 : q_[0] + W_[0] * impulse_[0];
    found_[0] = sticks ? StepContact::stick : StepContact::slip;
    return true;
  }
  if (blocks_.size() != 1 || blocks_.front().kind != StepBlockKind::contact || blocks_.front().slips > 1 ||
      blocks_.front().load != 0)
    return false;
  contact::PlanarStep step;
  step.a = W_[0];
  step.q_normal = q_[0];
  const bool slips = blocks_.front().slips == 1;
  if (slips) {
    step = {W_[0], W_[1], W_[2], W_[3], q_[0], q_[1], blocks_.front().mu};
  } else {
    step.d = 1;
  }
  const std::optional<contact::PlanarStepResult> found = contact::solve_planar_step(step);
  if (!found) return false;
  found_[0] = found->status;
  impulse_[0] = found->normal;
  u_[0] = found->status == StepContact::open ? q_[0] : 0;
  if (slips) {
    impulse_[1] = found->tangent;
    u_[1] = found->slip;
  }
  return true;
}

Status StepContacts::solve_general() {
  contact::OneStepProblem problem;
  problem.blocks = blocks_;
  problem.feeds = feeds_;
  problem.q = q_.data();
  problem.W = W_.data();
  problem.guess = guess_of_rows_.data();
  const contact::OneStepResult result = contact::solve_one_step(problem, {}, workspace_);
  iterations_ = result.iterations;
  // What is left above the tolerance and still far below what is seen of the motion is taken: dependent rows may keep the last digits from being met.
  constexpr double kGoodEnough = 1e-7;
  // Where impulses balance each other and next to nothing moves, nothing is left to be solved but their rounding.
  constexpr double kRounding = 1e-10;
  if (!result.ok() && !(result.status == contact::OneStepStatus::not_converged &&
                        (result.residual_of_q <= kGoodEnough || result.residual <= kRounding))) {
    Status status;
    status.reason =
        result.status == contact::OneStepStatus::no_solution ? Reason::inconsistent : Reason::impact_failed;
    status.where = system_.relations()[block_relation_.front()].place;
    status.message = std::string("the contact problem of the step was not solved: ") +
                     contact::name(result.status) + ", residual " + to_text(result.residual_of_q, 3);
    return status;
  }
  std::copy(result.impulse.begin(), result.impulse.end(), impulse_.begin());
  std::copy(result.velocity.begin(), result.velocity.end(), u_.begin());
  std::copy(result.contacts.begin(), result.contacts.end(), found_.begin());
  classify(result.sizes);
  return {};
}

// Stick and slip by the numbers of the answer: where a limit is below the residual that is allowed, every impulse within it is one, and what slides must not be
// taken for what stands.
void StepContacts::classify(std::span<const double> sizes) {
  constexpr double kInside = 1e-9, kStands = 1e-7, kZero = 16 * std::numeric_limits<double>::epsilon();
  const auto n = row_slot_.size();
  bool doubts = false;
  std::fill(stood_.begin(), stood_.end(), std::uint8_t{0});
  std::size_t row = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const StepBlock& block = blocks_[b];
    std::size_t at = row;
    row += static_cast<std::size_t>(block.rows());
    if (block.kind != StepBlockKind::friction) ++at;
    if (block.slips == 0 || (block.kind == StepBlockKind::contact && found_[b] == StepContact::open))
      continue;
    double limit = block.load, force = 0, speed = 0, terms = 0, scale = 0;
    if (block.kind == StepBlockKind::contact) limit += impulse_[at - 1];
    for (int k = 0; k < block.feed_size; ++k) {
      const contact::StepFeed& feed = feeds_[static_cast<std::size_t>(block.feed + k)];
      limit += feed.weight * std::abs(impulse_[feed.row]);
    }
    limit *= block.mu;
    for (std::size_t i = at; i < at + static_cast<std::size_t>(block.slips); ++i) {
      force = elementary::hypot(force, impulse_[i]);
      speed = elementary::hypot(speed, u_[i]);
      terms += std::abs(q_[i]);
      scale = std::max(scale, sizes[i]);
      for (std::size_t j = 0; j < n; ++j) terms += std::abs(W_[i * n + j] * impulse_[j]);
    }
    const bool stands = force < limit * (1 - kInside) ? speed <= kStands * scale : speed <= kZero * terms;
    found_[b] = stands ? StepContact::stick : StepContact::slip;
    doubts = doubts || (!stands && speed <= kStands * scale);
    stood_[b] = !stands && speed <= kStands * scale ? kDoubtful : stands ? 1 : 0;
  }
  if (doubts) stand_together();
}

// A row at its limit cannot move where others that stand leave it no motion: two joints on one slip, or three between three bodies. Its speed is their rounding.
void StepContacts::stand_together() {
  constexpr double kLeft = 1e-10;  // of its own response, when what stands is held
  const auto n = row_slot_.size();
  std::copy_n(W_.begin(), n * n, held_.begin());
  const auto each_row = [this](const auto& visit) {
    std::size_t row = 0;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const std::size_t end = row + static_cast<std::size_t>(blocks_[b].rows());
      for (; row < end; ++row) visit(b, row);
    }
  };
  each_row([&](std::size_t b, std::size_t i) {
    const bool tangent = slots_[row_slot_[i]].tangent >= 0;
    if (tangent ? stood_[b] != 1 : blocks_[b].kind != StepBlockKind::bilateral) return;
    if (held_[i * n + i] > kLeft * W_[i * n + i]) dense::hold_row(held_.data(), n, i);
  });
  each_row([&](std::size_t b, std::size_t i) {
    if (stood_[b] != kDoubtful || slots_[row_slot_[i]].tangent < 0) return;
    if (std::abs(held_[i * n + i]) > kLeft * std::abs(W_[i * n + i])) stood_[b] = 0;
  });
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (stood_[b] == kDoubtful) found_[b] = StepContact::stick;
  }
}

// Where friction is strong and couples strongly, all modes are tried, and every motion that a step allows is named.
void StepContacts::check_unique() {
  contact::OneStepProblem problem;
  problem.blocks = blocks_;
  problem.feeds = feeds_;
  problem.q = q_.data();
  problem.W = W_.data();
  solutions_ = 1;
  if (!contact::may_be_several(problem) || contact::OneStepModes::count(problem) == 0) return;
  const auto& all = modes_.find(problem);
  solutions_ = std::max(1, static_cast<int>(all.size()));
  if (solutions_ == 1) return;
  solutions_text_.clear();
  for (const contact::OneStepSolution& solution : all) {
    std::string words;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (blocks_[b].kind == StepBlockKind::bilateral) continue;
      words += (words.empty() ? "" : ", ") + system_.relations()[block_relation_[b]].name + ' ' +
               contact::name(solution.modes[b]);
    }
    int row = 0;
    for (const StepBlock& block : blocks_) {
      if (block.kind == StepBlockKind::contact)
        words += (row == 0 ? " (impulse " : ", ") + to_text(solution.impulse[row], 6);
      row += block.rows();
    }
    solutions_text_ += (solutions_text_.empty() ? "" : "; ") + words + ")";
  }
}

Status StepContacts::solve(const StepLaw& law, std::span<const double> gap,
                           std::span<const double> gap_before, StepMatrix& lu, int size, double* xi) {
  std::fill(normal_.begin(), normal_.end(), 0.0);
  std::fill(tangent_.begin(), tangent_.end(), 0.0);
  any_impulse_ = false;
  complementarity_ = cone_ = 0;
  position_ = law.position;
  after_ = law.after;
  paradox_ = -1;
  list_blocks(law);
  if (blocks_.empty()) return {};
  find_responses(lu, size);
  if (doubtful_) {
    settle_doubtful();
    list_blocks(law);
    if (blocks_.empty()) return {};
  }
  find_free(law, gap, gap_before, xi);
  assemble();
  // What the first step of an impact has given is sought once more with the rest.
  const std::size_t rows = row_slot_.size();
  for (std::size_t i = 0; completing_ && i < rows; ++i) {
    for (std::size_t j = 0; j < rows; ++j) q_[i] -= W_[i * rows + j] * carried_[j];
  }
  find_paradox(law);
  const std::size_t turns = (may_be_sided_ ? 2 : 1) * (blocks_.size() + 1);
  for (std::size_t turn = 0; turn < turns; ++turn) {
    if (!solve_single()) {
      Status status = solve_general();
      if (!status.ok()) return status;
    }
    const bool sided = may_be_sided_ && rest_sided();
    if (!rest_turned() && !sided) break;
    list_blocks(law);
  }
  check_unique();
  take_impulses(xi, size);
  return {};
}

void StepContacts::take_impulses(double* xi, int size) {
  const auto rows = static_cast<int>(row_slot_.size());
  std::fill(guess_.begin(), guess_.end(), 0.0);
  for (int i = 0; i < rows; ++i) {
    const Slot& slot = slots_[row_slot_[i]];
    const double p = impulse_[i] - carried_[i];
    guess_[row_slot_[i]] = p;
    if (p == 0) continue;
    any_impulse_ = true;
    (slot.tangent < 0 ? normal_[slot.relation] : tangent_[slot.number]) = p;
    const double* const x = response_.data() + static_cast<std::ptrdiff_t>(row_slot_[i]) * width_;
    for (int k = 0; k < size; ++k) xi[k] += p * x[k];
    if (slot.tangent >= 0 || !law_[slot.relation].smooth) continue;
    const model::Relation& relation = system_.relations()[slot.relation];
    for (int t = 0; t < relation.tangents; ++t) {
      const int number = relation.first_tangent + t;
      tangent_[number] = -work_.relation[slot.relation].tangent[t].mu * p;
      const double* const drag =
          response_.data() + static_cast<std::ptrdiff_t>(tangent_slot_[number]) * width_;
      for (int k = 0; k < size; ++k) xi[k] += tangent_[number] * drag[k];
    }
  }
  // Rows that hold one coordinate hold it to the last bit.
  int row = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const StepBlock& block = blocks_[b];
    const int r = block_relation_[b];
    int at = row;
    row += block.rows();
    if (block.kind != StepBlockKind::friction) {
      const Slot& slot = slots_[row_slot_[at]];
      const bool holds = found_[b] != StepContact::open;
      if (holds && impulse_[at] != 0) {
        const double error = std::abs(u_[at]) * impulse_[at];
        complementarity_ = std::max(complementarity_, std::abs(error));
      }
      if (holds && slot.single >= 0 && !position_) {
        const double w = row_of(slot)[slot.single];
        xi[slot.single] = (shift_[r] - drive_of(slot)) / w + 0.0;
      }
      ++at;
    }
    if (block.slips == 0) continue;
    double limit = block.load, force = 0;
    if (block.kind == StepBlockKind::contact) limit += impulse_[at - 1];
    for (int k = 0; k < block.feed_size; ++k) {
      const contact::StepFeed& feed = feeds_[static_cast<std::size_t>(block.feed + k)];
      limit += feed.weight * std::abs(impulse_[feed.row]);
    }
    for (int j = 0; j < block.slips; ++j) force += impulse_[at + j] * impulse_[at + j];
    if (std::isfinite(block.mu)) cone_ = std::max(cone_, std::sqrt(force) - block.mu * limit);
    if (found_[b] != StepContact::stick) continue;
    for (int j = 0; j < block.slips; ++j) {
      const Slot& slot = slots_[row_slot_[at + j]];
      if (slot.single < 0) continue;
      const double w = row_of(slot)[slot.single];
      xi[slot.single] = (after_ ? 0.5 * slip_[slot.number] - drive_of(slot) : -drive_of(slot)) / w + 0.0;
    }
  }
}

void StepContacts::write_mode(Mode& mode) const {
  for (int r = 0; r < system_.layout().relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.has_normal && relation.kind == RelationKind::contact && part_[r] == 0) {
      mode.normal[r] = NormalStatus::open;
      for (int j = 0; j < relation.tangents; ++j)
        mode.tangent[relation.first_tangent + j] = TangentStatus::free;
    }
  }
  int row = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const StepBlock& block = blocks_[b];
    const int r = block_relation_[b];
    const model::Relation& relation = system_.relations()[r];
    int at = row;
    row += block.rows();
    bool open = found_[b] == StepContact::open && block.kind == StepBlockKind::contact;
    if (block.kind == StepBlockKind::contact) {
      open = open || shift_[r] > 0 || (half_[r] != 0 && first_e_[r] > 0);
      mode.normal[r] = open ? NormalStatus::open : NormalStatus::closed;
    }
    if (block.kind != StepBlockKind::friction) ++at;
    if (block.kind == StepBlockKind::friction && relation.kind == RelationKind::contact &&
        relation.has_normal)
      open = mode.normal[r] == NormalStatus::open;
    for (int j = 0; j < relation.tangents && (block.slips > 0 || relation.smooth_friction || open); ++j) {
      TangentStatus& status = mode.tangent[relation.first_tangent + j];
      if (open) {
        status = TangentStatus::free;
      } else if (relation.smooth_friction) {
        status = TangentStatus::smooth;
      } else if (found_[b] == StepContact::stick || u_[at + j] == 0) {
        status = TangentStatus::stick;
      } else {
        status = u_[at + j] > 0 ? TangentStatus::slip_plus : TangentStatus::slip_minus;
      }
    }
  }
}

double StepContacts::drive_work() const {
  double sum = 0;
  for (std::size_t i = 0; i < row_slot_.size(); ++i) sum -= impulse_[i] * drive_of(slots_[row_slot_[i]]);
  return sum;
}

void StepContacts::work_of(int relation, std::span<const double> normal, std::span<const double> tangent,
                           double share, const double* before, const double* after, double& dissipated,
                           double& supplied) const {
  const model::Relation& own = system_.relations()[relation];
  const auto add = [&](int s, double impulse) {
    if (s < 0 || impulse == 0) return;
    const Slot& slot = slots_[s];
    const model::Row& row = row_of(slot);
    const model::Row& push = push_of(slot);
    double mean = 0, pushed = 0;
    for (int i = 0; i < n_; ++i) {
      const double v = 0.5 * (before[i] + after[i]);
      mean += row[i] * v;
      pushed += push[i] * v;
    }
    const double slip = mean + drive_of(slot);
    dissipated -= share * impulse * slip;
    supplied += share * impulse * (own.own_push ? pushed - slip : -drive_of(slot));
  };
  add(normal_slot_[relation], normal[relation]);
  for (int j = 0; j < own.tangents; ++j)
    add(tangent_slot_[own.first_tangent + j], tangent[own.first_tangent + j]);
}

bool StepContacts::project(StepMatrix& lu, int size, double* q) {
  constexpr int kRounds = 4;
  for (int round = 0; round < kRounds; ++round) {
    row_slot_.clear();
    double worst = 0;
    for (int r = 0; r < system_.layout().relations; ++r) {
      const model::Relation& relation = system_.relations()[r];
      if (relation.kind != RelationKind::constraint || !relation.holonomic || !relation.has_normal) continue;
      system_.rows(work_, r);
      q_[row_slot_.size()] = work_.relation[r].gap;
      row_slot_.push_back(normal_slot_[r]);
      double terms = 0;
      for (int i = 0; i < n_; ++i) terms += std::abs(work_.relation[r].w[i] * q[i]);
      worst = std::max(worst, std::abs(work_.relation[r].gap) / (terms > 0 ? terms : 1));
    }
    if (row_slot_.empty() || worst <= 1e-15) return true;
    known_ = false;
    std::fill(part_.begin(), part_.end(), std::uint8_t{1});
    find_responses(lu, size);
    blocks_.clear();
    feeds_.clear();
    block_relation_.clear();
    for (std::size_t i = 0; i < row_slot_.size(); ++i) {
      blocks_.push_back({StepBlockKind::bilateral, 0});
      block_relation_.push_back(slots_[row_slot_[i]].relation);
      guess_of_rows_[i] = 0;
    }
    const auto rows = static_cast<int>(row_slot_.size());
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < rows; ++j)
        W_[i * rows + j] = row_of(slots_[row_slot_[i]])
                               .dot(response_.data() + static_cast<std::ptrdiff_t>(row_slot_[j]) * width_);
    }
    if (const Status status = solve_general(); !status.ok()) return false;
    for (int i = 0; i < rows; ++i) {
      const double* const x = response_.data() + static_cast<std::ptrdiff_t>(row_slot_[i]) * width_;
      for (int k = 0; k < n_; ++k) q[k] += impulse_[i] * x[k];
    }
    std::copy_n(q, n_, work_.in.begin() + system_.layout().q());
  }
  return true;
}

// --- impacts of two steps ---

void StepContacts::forget_impact() {
  completing_ = false;
  std::fill(half_.begin(), half_.end(), std::uint8_t{0});
  std::fill(ended_.begin(), ended_.end(), std::uint8_t{0});
  std::fill(shares_.begin(), shares_.end(), std::uint8_t{0});
}

// What the contacts that were met act on, by rows that couple: the rest of the step is no part of the impact.
void StepContacts::find_sharing() {
  std::copy(half_.begin(), half_.end(), shares_.begin());
  spread(shares_);
}

// Marks, by relation, whatever couples to a relation that is marked.
void StepContacts::spread(std::vector<std::uint8_t>& marks) const {
  const std::size_t rows = row_slot_.size();
  const auto shares = [&](std::size_t i) -> std::uint8_t& { return marks[slots_[row_slot_[i]].relation]; };
  for (bool grown = true; grown;) {
    grown = false;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; shares(i) == 0 && j < rows; ++j) {
        if (shares(j) == 0 || (W_[i * rows + j] == 0 && W_[j * rows + i] == 0)) continue;
        shares(i) = 1;
        grown = true;
      }
    }
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      for (int k = 0; k < blocks_[b].feed_size; ++k) {
        const auto fed = static_cast<std::size_t>(feeds_[static_cast<std::size_t>(blocks_[b].feed + k)].row);
        std::uint8_t& own = marks[block_relation_[b]];
        if (own == shares(fed)) continue;
        own = shares(fed) = 1;
        grown = true;
      }
    }
  }
}

void StepContacts::keep_impact(const double* velocity) {
  const bool begins = any_met(velocity);
  for (int r = 0; r < system_.layout().relations; ++r) {
    const bool contact = system_.relations()[r].kind == RelationKind::contact;
    ended_[r] = half_[r];
    half_[r] = begins && contact && met(r, velocity) ? 1 : 0;
    first_mu_[r] = law_[r].mu;
    first_load_[r] = shares_[r] != 0 ? law_[r].load - first_load_[r] : law_[r].load;
    first_e_[r] = restitution_[r];
  }
  completing_ = begins;
  std::fill(first_.begin(), first_.end(), 0.0);
  std::fill(shares_.begin(), shares_.end(), std::uint8_t{0});
  if (!begins) return;
  find_sharing();
  for (std::size_t i = 0; i < row_slot_.size(); ++i) {
    if (shares_[slots_[row_slot_[i]].relation] != 0) first_[row_slot_[i]] = impulse_[i] - carried_[i];
  }
}

double StepContacts::first_normal(int relation) const {
  return completing_ && normal_slot_[relation] >= 0 ? first_[normal_slot_[relation]] : 0;
}

double StepContacts::first_tangent(int number) const {
  return completing_ ? first_[tangent_slot_[number]] : 0;
}

void StepContacts::save_impact(std::vector<double>& out) const {
  out.push_back(completing_ ? 1 : 0);
  for (const std::vector<double>* each : {&first_, &first_mu_, &first_load_, &first_e_})
    out.insert(out.end(), each->begin(), each->end());
  for (const std::vector<std::uint8_t>* each : {&half_, &ended_, &shares_})
    out.insert(out.end(), each->begin(), each->end());
}

void StepContacts::load_impact(std::span<const double> saved) {
  auto at = saved.begin();
  completing_ = *at++ != 0;
  for (std::vector<double>* each : {&first_, &first_mu_, &first_load_, &first_e_}) {
    std::copy_n(at, each->size(), each->begin());
    at += static_cast<std::ptrdiff_t>(each->size());
  }
  for (std::vector<std::uint8_t>* each : {&half_, &ended_, &shares_}) {
    for (std::uint8_t& flag : *each) flag = *at++ != 0 ? 1 : 0;
  }
}

void StepContacts::save(std::vector<double>& out) const {
  out.insert(out.end(), guess_.begin(), guess_.end());
}

}  // namespace judder::engines
