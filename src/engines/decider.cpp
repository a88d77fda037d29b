#include "decider.hpp"

#include <algorithm>
#include <cmath>

#include "core/elementary.hpp"
#include "judder/contact/painleve.hpp"
#include "judder/core/number.hpp"

namespace judder::engines {
namespace {

using contact::RowStatus;

TangentStatus tangent_status(RowStatus status) {
  switch (status) {
    case RowStatus::stick:
      return TangentStatus::stick;
    case RowStatus::slip_plus:
      return TangentStatus::slip_plus;
    case RowStatus::slip_minus:
      return TangentStatus::slip_minus;
    case RowStatus::follows:
      return TangentStatus::smooth;
    default:
      return TangentStatus::free;
  }
}

}  // namespace

void Decider::Exclusions::clear() {
  std::fill(normal.begin(), normal.end(), std::uint16_t{0});
  std::fill(tangent.begin(), tangent.end(), std::uint16_t{0});
}

Decider::Decider(const model::System& system, model::Workspace& work)
    : system_(system),
      work_(work),
      coupling_(system),
      assembly_(system, work),
      known_(system, work, coupling_),
      series_(system, work),
      rest_(system, work) {
  const model::Layout& layout = system.layout();
  const int rows = layout.relations + layout.tangents;
  workspace_.expect(coupling_.most_normals(), coupling_.most_tangents());
  part_.resize(layout.relations);
  listed_.resize(layout.relations);
  open_.resize(layout.relations);
  known_of_.resize(layout.relations);
  free_.resize(layout.coordinates);
  state_.resize(layout.tangents);
  for (auto* v : {&mu_static_below_, &mu_slip_below_, &base_below_, &mu_told_, &base_told_})
    v->resize(layout.tangents);
  chosen_.resize(layout.relations);
  relation_of_.resize(layout.tangents);
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system.relations()[r];
    std::fill_n(relation_of_.begin() + relation.first_tangent, relation.tangents, r);
  }
  from_rest_.resize(layout.tangents);
  excluded_.resize(rows);
  force_scale_.resize(rows);
  acceleration_scale_.resize(rows);
  force_floor.resize(rows);
  massless_ = massless_joints(system);
}

void Decider::use(Patience* patience) {
  patience_ = patience;
  workspace_.use(patience);
  assembly_.use(patience);
  series_.use(patience);
  conditions_.use(patience);
}

Decider::Exclusions Decider::no_exclusions() const {
  return {std::vector<std::uint16_t>(system_.layout().relations, 0),
          std::vector<std::uint16_t>(system_.layout().tangents, 0)};
}

void Decider::take_block_rows(std::span<const int> rows) {
  block_rows_.clear();
  for (const int i : rows) block_rows_.push_back(assembly_[i]);
}

void Decider::apply(std::span<const RowStatus> statuses, Mode& mode) {
  for (std::size_t i = 0; i < block_rows_.size(); ++i) {
    const RowAssembly::Row& row = block_rows_[i];
    if (row.tangent >= 0) {
      // Without normal force a row is free to move; its slip is kept, unless its own contact opens (below). One at rest gets a direction
      // when all are decided.
      if (statuses[i] != RowStatus::free) mode.tangent[row.number] = tangent_status(statuses[i]);
      if (statuses[i] == RowStatus::free && mode.tangent[row.number] == TangentStatus::stick) {
        if (&mode == &next_)
          unloaded_.push_back(row);
        else if (holds_nothing(row.relation, mode))
          mode.tangent[row.number] =
              TangentStatus::free;  // beside others it would make their reactions not unique
      }
      continue;
    }
    const model::Relation& relation = system_.relations()[row.relation];
    mode.pressed[row.relation] = statuses[i] == RowStatus::held_plus    ? 1
                                 : statuses[i] == RowStatus::held_minus ? -1
                                                                        : 0;
    mode.normal[row.relation] = statuses[i] == RowStatus::open     ? NormalStatus::open
                                : statuses[i] == RowStatus::closed ? NormalStatus::closed
                                                                   : NormalStatus::held;
    if (statuses[i] == RowStatus::open) {
      for (int j = 0; j < relation.tangents; ++j)
        mode.tangent[relation.first_tangent + j] = TangentStatus::free;
    }
  }
  for (const RowAssembly::Row& row : block_rows_) {
    if (row.tangent < 0) continue;
    const model::Relation& relation = system_.relations()[row.relation];
    if (relation.has_normal && mode.normal[row.relation] == NormalStatus::open)
      mode.tangent[row.number] = TangentStatus::free;
  }
}

// Whether nothing can press a joint before the next event: its load comes from contacts alone, and these are open, or from nothing.
bool Decider::holds_nothing(int relation, const Mode& mode) const {
  const model::Relation& joint = system_.relations()[relation];
  const expr::Node base = system_.symbols().base[relation];
  const bool known = system_.graph().is_constant(base) && system_.graph().value(base) == 0;
  if (joint.has_normal || !known) return false;
  return std::all_of(joint.feeds.begin(), joint.feeds.end(),
                     [&mode](int fed) { return mode.normal[fed] == NormalStatus::open; });
}

// k and a of the contact that failed, seen alone, where it slips: ": k = -0.85, a = -9.8".
std::string Decider::paradox_words(const Mode& mode) {
  int normal = -1;
  int tangent = -1;
  for (int i = 0; i < assembly_.size(); ++i) {
    if (assembly_[i].relation == failed_) (assembly_[i].tangent < 0 ? normal : tangent) = i;
  }
  const model::Relation& relation = system_.relations()[failed_];
  if (normal < 0 || tangent < 0 || relation.tangents != 1 ||
      direction(mode.tangent[relation.first_tangent]) == 0)
    return {};
  std::vector<RowStatus> statuses;
  assembly_.statuses(mode, statuses);
  const contact::SlidingContact alone =
      contact::sliding_contact(problem_, statuses, normal, tangent - assembly_.normals());
  if (contact::regular(alone.sliding)) return {};
  std::string words =
      alone.kind == contact::NormalKind::bilateral
          ? ": friction of a constraint with mu*|b| = " + to_text(alone.mu * std::abs(alone.A_NT), 6) +
                " >= k = " + to_text(alone.A_NN, 6)
          : ": k = " + to_text(alone.k, 6);
  return words + ", a = " + to_text(alone.b_N, 6);
}

// The rows of all relations that take part, in the order of an assembly, and their blocks.
void Decider::list_rows() {
  const std::vector<model::Relation>& relations = system_.relations();
  if (!rows_.empty() && listed_ == part_) return;
  listed_ = part_;
  rows_.clear();
  const int count = static_cast<int>(part_.size());
  for (int r = 0; r < count; ++r) {
    if (part_[r] != 0 && relations[r].has_normal) rows_.push_back({r, -1, -1});
  }
  for (int r = 0; r < count; ++r) {
    for (int j = 0; part_[r] != 0 && j < relations[r].tangents; ++j)
      rows_.push_back({r, j, relations[r].first_tangent + j});
  }
  all_blocks_.resize(static_cast<int>(part_.size() + state_.size()));
  coupling_.find_blocks(rows_, all_blocks_);
}

// Whether there are more rows than there is room for, and where.
Status Decider::too_many_rows() {
  Status status;
  status.time = work_.in[0];
  const auto refuse = [&](std::size_t rows, int limit, int relation) {
    status.reason = Reason::unsupported;
    status.where = system_.relations()[relation].place;
    status.message = std::to_string(rows) + " contacts, constraints and slips " +
                     (limit == kMostRows ? "are to be decided at this instant"
                                         : "that act on each other are to be decided at this instant") +
                     "; at most " + std::to_string(limit) + " can be";
    failed_ = relation;
    return status;
  };
  if (rows_.size() > kMostRows) return refuse(rows_.size(), kMostRows, rows_.front().relation);
  if (rows_.size() <= kMostWithFriction) return status;
  for (int b = 0; b < all_blocks_.count(); ++b) {
    const std::span<const int> block = all_blocks_.rows(b);
    const bool friction = std::any_of(block.begin(), block.end(), [this](int i) {
      return rows_[i].tangent >= 0 && !system_.relations()[rows_[i].relation].feeds.empty();
    });
    const int limit = friction ? kMostWithFriction : kMostTogether;
    if (static_cast<int>(block.size()) > limit)
      return refuse(block.size(), limit, rows_[block.front()].relation);
  }
  return status;
}

/// Whether several of these rows are at their limits together. The motion of one may hold another, which nothing but its derivatives tell.
bool Decider::let_go_together(std::span<const RowAssembly::Row> rows, const Mode& mode,
                              const Exclusions& exclusions) const {
  const auto count = std::count_if(rows.begin(), rows.end(), [&](const RowAssembly::Row& row) {
    return row.tangent >= 0 && mode.tangent[row.number] == TangentStatus::stick &&
           (exclusions.tangent[row.number] & contact::bit(RowStatus::stick)) != 0;
  });
  return count > 1;
}

// Blocks that a table decides; open_ tells the others.
bool Decider::decide_known(const Mode& mode, const Exclusions& exclusions, bool constant) {
  std::fill(open_.begin(), open_.end(), std::uint8_t{0});
  std::fill(known_of_.begin(), known_of_.end(), -1);
  if (constant) {
    std::copy_n(work_.force.begin(), free_.size(), free_.begin());
    system_.solve_mass(work_, free_.data());
  }
  bool all = true;
  for (int b = 0; b < all_blocks_.count(); ++b) {
    block_rows_.clear();
    for (const int i : all_blocks_.rows(b)) block_rows_.push_back(rows_[i]);
    const int number = constant && !let_go_together(block_rows_, mode, exclusions)
                           ? known_.look_up(block_rows_, mode.tangent, exclusions.normal, exclusions.tangent)
                           : -1;
    if (number >= 0) {
      const std::span<const RowStatus> statuses = known_.find(number, force_floor, free_);
      if (!statuses.empty()) {
        apply(statuses, next_);
        continue;
      }
    }
    all = false;
    for (const RowAssembly::Row& row : block_rows_) {
      open_[row.relation] = 1;
      known_of_[row.relation] = number;
    }
  }
  return all;
}

// Rates that part are accelerations that part for a short time: larger than what counts as zero, and so small beside the forces that they move no limit.
void Decider::pull_apart() {
  constexpr double kShare = 1e-6;
  for (int b = 0; b < blocks_.count(); ++b) {
    const std::span<const int> rows = blocks_.rows(b);
    double most = 0;
    for (const int i : rows) {
      most = std::max(most, assembly_.acceleration_scale[i]);
      const int j = i - assembly_.normals();
      if (j >= 0)
        most = std::max(most,
                        assembly_.A[i * assembly_.size() + i] * assembly_.mu_static[j] * assembly_.base[j]);
    }
    for (const int i : rows) {
      const RowAssembly::Row& row = assembly_[i];
      assembly_.b[i] += kShare * (most > 0 ? most : 1) *
                        parting[row.tangent < 0 ? row.relation : system_.layout().relations + row.number];
    }
  }
}

// A row at rest holds what lies between the forces of slipping to either side, whatever the sides say that its switches have while it rests: each of its
// limits is that of the slip that would begin.
void Decider::find_directed_limits(const Mode& mode) {
  directed_any_ = false;
  rest_.set_mode(mode);
  const int normals = assembly_.normals();
  for (int t = 0; t < assembly_.tangents(); ++t) {
    const RowAssembly::Row& row = assembly_[normals + t];
    mu_told_[t] = mu_static_below_[t] = assembly_.mu_static[t];
    base_told_[t] = base_below_[t] = assembly_.base[t];
    mu_slip_below_[t] = assembly_.mu_slip[t];
    if (!rest_.directed(row.number) || rest_.slides(row.number, mode)) continue;
    directed_any_ = true;
    const auto take = [&](int direction, double& at_rest, double& in_slip, double& base) {
      rest_.take_direction(row.number, direction);
      const model::RelationRows& there = system_.rows(work_, row.relation);
      at_rest = there.tangent[row.tangent].mu_static;
      in_slip = there.tangent[row.tangent].mu;
      base = there.base;
      rest_.take_back();
    };
    take(-1, assembly_.mu_static[t], assembly_.mu_slip[t], assembly_.base[t]);
    take(1, mu_static_below_[t], mu_slip_below_[t], base_below_[t]);
    static_cast<void>(system_.rows(work_, row.relation));
  }
}

// By how much the coefficient falls where an assembled row leaves rest to one side.
double Decider::jump_of_coefficient(int t, RowStatus status) const {
  if (directed_any_ && status == RowStatus::slip_plus) return mu_static_below_[t] - mu_slip_below_[t];
  return assembly_.mu_static[t] - assembly_.mu_slip[t];
}

// The numbers of all open rows at once.
void Decider::set_problem(const Mode& mode) {
  assembly_.assemble(open_, false);
  find_directed_limits(mode);
  const int size = assembly_.size();
  const int normals = assembly_.normals();
  blocks_.resize(static_cast<int>(part_.size() + state_.size()));
  coupling_.find_blocks(assembly_.rows(), blocks_);
  for (int b = 0; b < blocks_.count(); ++b) {
    const std::span<const int> rows = blocks_.rows(b);
    for (const int i : rows) {
      const RowAssembly::Row& row = assembly_[i];
      const double floor =
          force_floor[row.tangent < 0 ? row.relation : system_.layout().relations + row.number];
      assembly_.force_scale[i] = std::max(assembly_.force_scale[i], floor);
      // A force of its usual size moves every row: what it leaves behind when it vanishes is rounding of that size.
      for (const int k : rows) {
        const double moved = floor * std::abs(assembly_.A[k * size + i]);
        assembly_.acceleration_scale[k] = std::max(assembly_.acceleration_scale[k], moved);
      }
    }
  }
  if (!parting.empty()) pull_apart();
  for (int i = normals; i < size && !ahead_.empty(); ++i) {
    const double later = ahead_[assembly_[i].number];
    if (later != 0) assembly_.mu_slip[i - normals] = later;
  }
  for (int i = 0; i < size && !ahead_acceleration_.empty(); ++i) {
    const RowAssembly::Row& row = assembly_[i];
    assembly_.b[i] +=
        ahead_acceleration_[row.tangent < 0 ? row.relation : system_.layout().relations + row.number];
    if (i >= normals) assembly_.mu_static[i - normals] += ahead_static_[row.number];
  }
  for (int i = 0; i < size; ++i) {
    const RowAssembly::Row& row = assembly_[i];
    if (row.tangent < 0) {
      excluded_[i] = excluding_.normal[row.relation];
      continue;
    }
    excluded_[i] = excluding_.tangent[row.number];
    const model::Relation& relation = system_.relations()[row.relation];
    const TangentStatus known = mode.tangent[row.number];
    state_[i - normals] = relation.smooth_friction             ? contact::TangentState::follows
                          : known == TangentStatus::slip_plus  ? contact::TangentState::slip_plus
                          : known == TangentStatus::slip_minus ? contact::TangentState::slip_minus
                                                               : contact::TangentState::rest;
  }
  problem_ = {};
  problem_.normals = normals;
  problem_.tangents = assembly_.tangents();
  problem_.A = assembly_.A.data();
  problem_.b = assembly_.b.data();
  problem_.kind = assembly_.kind.data();
  problem_.state = state_.data();
  problem_.mu_static = assembly_.mu_static.data();
  problem_.mu_slip = assembly_.mu_slip.data();
  problem_.base = assembly_.base.data();
  problem_.coupling = assembly_.coupling.data();
  problem_.excluded = excluded_.data();
  if (directed_any_) {
    problem_.mu_static_below = mu_static_below_.data();
    problem_.mu_slip_below = mu_slip_below_.data();
    problem_.base_below = base_below_.data();
  }
  problem_.force_scale = assembly_.force_scale.data();
  problem_.acceleration_scale = assembly_.acceleration_scale.data();
}

Status Decider::failure(const contact::Decision& decision, std::span<const int> rows, const Mode& mode) {
  Status status;
  status.time = work_.in[0];
  failed_ = assembly_[rows[decision.row >= 0 ? decision.row : 0]].relation;
  status.reason =
      decision.verdict == contact::Verdict::indeterminate ? Reason::indeterminate : Reason::inconsistent;
  status.where = system_.relations()[failed_].place;
  status.message = decision.verdict == contact::Verdict::indeterminate
                       ? "several motions satisfy contact and friction here (" +
                             std::to_string(decision.candidates) + " modes)"
                   : decision.verdict == contact::Verdict::inconsistent
                       ? "no finite reaction satisfies contact and friction here (all " +
                             std::to_string(decision.modes_tried) + " modes tried)"
                       : "no reaction was found; absence is not proved";
  if (decision.verdict != contact::Verdict::not_found) status.message += paradox_words(mode);
  return status;
}

// A block whose accelerations leave several modes is added to the ties; otherwise next_ gets its statuses.
Status Decider::decide_block(int block, Mode& mode, const contact::DecisionOptions& options) {
  const std::span<const int> rows = blocks_.rows(block);
  block_problem_.resize(coupling_.most_normals(), coupling_.most_tangents());
  const contact::DecisionProblem problem = block_problem_.take(problem_, rows);
  take_block_rows(rows);
  const int number = known_of_[block_rows_[0].relation];
  if (number >= 0) known_.learn(number, block_rows_, problem, options, workspace_);
  const contact::Decision decision = contact::decide(problem, options, workspace_);
  reactions_unique_ = reactions_unique_ && decision.reactions_unique;
  // Where nothing acts any reactions do, and which of them are there is not known.
  constexpr double kNothing = 0x1p-960;
  const bool acts = std::any_of(decision.force_scale.begin(), decision.force_scale.end(),
                                [](double scale) { return scale > kNothing; });
  for (int j = 0; j < problem.tangents && (!acts || !decision.reactions_unique) && !unloaded_friction_; ++j) {
    double load = problem.base[j];
    bool fed = false;
    for (int k = 0; k < problem.normals; ++k) {
      const double factor = problem.coupling[j * problem.normals + k];
      fed = fed || factor > 0;
      if (std::abs(decision.force[k]) > kTieTolerance * decision.force_scale[k])
        load += factor * std::abs(decision.force[k]);
    }
    unloaded_friction_ = fed && load == 0;
  }
  unchecked_ = unchecked_ || decision.verdict == contact::Verdict::found_unchecked;
  if (!decision.found()) return failure(decision, rows, mode);
  // A row that no load acts on is as exact as what its neighbours carry.
  for (std::size_t k = 0; k < rows.size(); ++k) {
    force_scale_[rows[k]] = decision.force_scale[k];
    acceleration_scale_[rows[k]] = decision.acceleration_scale[k];
  }
  const bool turns = !decision.alternative.empty() &&
                     !std::equal(decision.mode.begin(), decision.mode.end(), decision.alternative.begin());
  const bool alone = decision.candidates <= 1 && !turns;
  if (alone && !let_go_together(block_rows_, mode, excluding_)) {
    apply(decision.mode, next_);
    return {};
  }
  Tie tie;
  tie.block = block;
  tie.first = static_cast<int>(candidates_.size());
  tie.count = alone ? 1 : turns ? 0 : decision.candidates;
  if (alone) {
    candidates_.insert(candidates_.end(), decision.mode.begin(), decision.mode.end());
  } else if (turns) {
    candidates_.insert(candidates_.end(), decision.mode.begin(), decision.mode.end());
    candidates_.insert(candidates_.end(), decision.alternative.begin(), decision.alternative.end());
  } else {
    candidates_.insert(candidates_.end(), decision.candidate_modes.begin(), decision.candidate_modes.end());
  }
  ties_.push_back(tie);
  return {};
}

Status Decider::decide(Mode& mode, const Exclusions& exclusions, double tolerance) {
  known_mode_ = mode;
  Status status = decide_once(mode, exclusions, tolerance);
  if (status.ok()) status = decide_without_opened(mode, exclusions, tolerance);
  if (status.ok() && any_on_massless()) release_nodes(mode, exclusions, tolerance);
  if (!status.ok() || !parting.empty()) return status;
  if (driven_apart(mode)) {
    held_mode_ = mode;
    mode = known_mode_;
    if (!decide_once(mode, exclusions, tolerance).ok()) mode = held_mode_;
    parting.clear();
  }
  if (friction_begins(mode) || loads_begin(mode)) {
    const bool unique = reactions_unique_;
    const Status later = decide_once(known_mode_, exclusions, tolerance);
    ahead_.clear();
    ahead_acceleration_.clear();
    ahead_static_.clear();
    reactions_unique_ = reactions_unique_ && unique;
    if (later.reason == Reason::indeterminate) return later;
  }
  return status;
}

// A node without mass that rests at the limit of its friction slips at once where the first derivative of its load that tells takes it beyond: the speeds of the
// others, which its balance sees, may be zero at this instant.
void Decider::release_nodes(Mode& mode, const Exclusions& exclusions, double tolerance) {
  for (int round = 0; round < system_.layout().tangents; ++round) {
    const int number = node_beyond_limit(mode, exclusions);
    if (number < 0) return;
    const TangentStatus status = work_.in[system_.layout().tangent() + number] > 0 ? TangentStatus::slip_minus
                                                                                   : TangentStatus::slip_plus;
    held_mode_ = mode;
    released_ = exclusions;
    released_.tangent[number] |= contact::bit(RowStatus::stick);
    mode.tangent[number] = status;
    if (decide_once(mode, released_, tolerance).ok() && mode.tangent[number] == status) continue;
    mode = held_mode_;
    return;
  }
}

// Forces that end with a contact (its viscous friction) have been acting so far: where it opens, the others are decided again without them, and it must
// stay open without them. Where it does not, it can neither be open nor closed.
Status Decider::decide_without_opened(Mode& mode, const Exclusions& exclusions, double tolerance) {
  const model::Layout& layout = system_.layout();
  const auto opened = [&](int r, const Mode& to) {
    return system_.relations()[r].reads_closed && known_mode_.normal[r] != NormalStatus::open &&
           to.normal[r] == NormalStatus::open;
  };
  int count = 0;
  Status status;
  for (int more = 1; more > 0;) {
    more = -count;
    for (int r = 0; r < layout.relations; ++r) more += opened(r, mode) ? 1 : 0;
    if (more <= 0) break;
    count += more;
    opened_mode_ = known_mode_;
    for (int r = 0; r < layout.relations; ++r) {
      const model::Relation& relation = system_.relations()[r];
      if (!opened(r, mode)) continue;
      opened_mode_.normal[r] = NormalStatus::open;
      for (int j = 0; j < relation.tangents; ++j)
        opened_mode_.tangent[relation.first_tangent + j] = TangentStatus::free;
    }
    status = decide_once(opened_mode_, exclusions, tolerance);
    if (!status.ok()) {
      mode = known_mode_;
      return status;
    }
    mode = opened_mode_;
  }
  if (count == 0) return status;
  trial_ = mode;
  if (!follow_series() || !evaluate_forces()) return status;
  for (int r = 0; r < layout.relations; ++r) open_[r] = part_[r] != 0 || opened(r, mode) ? 1 : 0;
  excluding_.normal.assign(exclusions.normal.begin(), exclusions.normal.end());
  excluding_.tangent.assign(exclusions.tangent.begin(), exclusions.tangent.end());
  set_problem(mode);
  for (int i = 0; i < assembly_.normals(); ++i) {
    const int r = assembly_[i].relation;
    if (!opened(r, mode)) continue;
    const expr::Series gap = series_.gap(r);
    const double tau = series_.time_scale();
    const double size =
        std::max(assembly_.acceleration_scale[i] * tau * tau, series_size(gap, 2, series_.order()));
    if (first_sign(gap, 2, series_.order(), size) >= 0) continue;
    failed_ = r;
    status.reason = Reason::inconsistent;
    status.time = work_.in[0];
    status.where = system_.relations()[r].place;
    status.message =
        "with its viscous friction the contact opens, without it it closes: there is no motion that goes on";
    mode = known_mode_;
    return status;
  }
  open_ = part_;
  set_problem(mode);
  return status;
}

bool Decider::evaluate_forces() {
  if (!system_.motion(work_)) return false;
  if (!given_force.empty()) std::copy(given_force.begin(), given_force.end(), work_.force.begin());
  return true;
}

Status Decider::decide_once(Mode& mode, const Exclusions& exclusions, double tolerance) {
  const model::Layout& layout = system_.layout();
  Status status;
  status.time = work_.in[0];
  failed_ = -1;
  undecided_ = 0;
  reactions_unique_ = true;
  unloaded_friction_ = false;
  unchecked_ = false;
  for (int k = 0; k < layout.switches; ++k) work_.in[layout.side() + k] = mode.side[k];
  for (int j = 0; j < layout.tangents; ++j) work_.in[layout.direction() + j] = direction(mode.tangent[j]);
  int rows = 0;
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    work_.in[layout.closed() + r] = mode.normal[r] == NormalStatus::open ? 0 : 1;
    part_[r] = mode.normal[r] != NormalStatus::open && (relation.has_normal || relation.tangents > 0) &&
                       massless_[r] == 0 && takes_part(r)
                   ? 1
                   : 0;
    rows += part_[r];
  }
  if (!decide_massless(system_, work_, massless_, exclusions.tangent, positions_, mode)) {
    status.reason = Reason::not_finite;
    status.message = "the balance of forces does not determine the massless coordinates";
    return status;
  }
  if (rows == 0) return status;
  if (!evaluate_forces()) {
    status.reason = work_.mass_failed ? Reason::singular_mass : Reason::not_finite;
    status.message =
        work_.mass_failed ? "the mass matrix is not positive definite" : "the forces are not finite numbers";
    return status;
  }

  next_ = mode;
  unloaded_.clear();
  list_rows();
  if (Status many = too_many_rows(); !many.ok()) return many;
  contact::DecisionOptions options;
  if (decide_known(mode, exclusions,
                   tolerance == options.tolerance && system_.mass_constant() && parting.empty())) {
    mode = next_;
    direct_unloaded(mode, exclusions);
    return status;
  }
  options.tolerance = tolerance;
  excluding_.normal.assign(exclusions.normal.begin(), exclusions.normal.end());
  excluding_.tangent.assign(exclusions.tangent.begin(), exclusions.tangent.end());
  set_problem(mode);
  again_.assign(blocks_.count(), 1);
  for (int round = 0; round <= layout.tangents + 1; ++round) {
    ties_.clear();
    candidates_.clear();
    for (int b = 0; b < blocks_.count(); ++b) {
      if (again_[b] == 0) continue;
      again_[b] = 0;
      if (patience_ != nullptr) patience_->look();
      const Status failed = decide_block(b, mode, options);
      if (!failed.ok()) return failed;
    }
    if (!ties_.empty()) break_ties();
    // Where all statuses were tried, a derivative that refutes the last is one of forces that are hardly there; where some were excluded, one of these goes on.
    for (const Tie& tie : ties_) {
      const std::span<const int> of = blocks_.rows(tie.block);
      if (tie.refuted && std::any_of(of.begin(), of.end(), [this](int i) { return excluded_[i] != 0; }))
        return refuted(tie);
    }
    bool again = false;
    for (const Tie& tie : ties_) {
      if (released(tie)) {
        again_[tie.block] = 1;
        again = true;
      } else {
        take_block_rows(blocks_.rows(tie.block));
        apply(choice(tie), next_);
      }
    }
    if (!again) {
      mode = next_;
      direct_unloaded(mode, exclusions);
      return status;
    }
  }
  status.reason = Reason::inconsistent;
  status.message = "the decision between stick and slip did not settle";
  return status;
}

}  // namespace judder::engines
