#include "reaction_sharing.hpp"

#include <algorithm>
#include <cmath>

namespace judder::engines {

ReactionSharing::ReactionSharing(const model::System& system, model::Workspace& work)
    : system_(system), work_(work), assembly_(system, work), rest_(system, work) {
  const model::Layout& layout = system.layout();
  massless_ = massless_joints(system);
  part_.resize(layout.relations);
  state_.resize(layout.tangents);
  mu_below_.resize(layout.tangents);
  base_below_.resize(layout.tangents);
  force_.resize(layout.relations + layout.tangents);
  acceleration_.resize(layout.relations + layout.tangents);
  block_.assign(layout.relations, -1);
  margin_.resize(layout.relations);
  scale_.resize(layout.relations);
  unlimited_.resize(layout.relations);
}

contact::DecisionProblem ReactionSharing::problem() {
  contact::DecisionProblem problem;
  problem.normals = assembly_.normals();
  problem.tangents = assembly_.tangents();
  problem.A = assembly_.A.data();
  problem.b = assembly_.b.data();
  problem.kind = assembly_.kind.data();
  problem.state = state_.data();
  problem.mu_static = assembly_.mu_static.data();
  problem.mu_slip = assembly_.mu_slip.data();
  problem.base = assembly_.base.data();
  problem.mu_static_below = mu_below_.data();
  problem.base_below = base_below_.data();
  problem.coupling = assembly_.coupling.data();
  return problem;
}

contact::DecisionProblem ReactionSharing::problem(std::span<const int> rows) {
  block_statuses_.clear();
  for (const int i : rows) block_statuses_.push_back(statuses_[i]);
  return block_problem_.take(problem(), rows);
}

void ReactionSharing::set_mode(const Mode& mode) {
  if (!coupling_.has_value()) {
    coupling_.emplace(system_);
    workspace_.expect(coupling_->most_normals(), coupling_->most_tangents());
    block_problem_.resize(coupling_->most_normals(), coupling_->most_tangents());
    blocks_.resize(system_.layout().relations + system_.layout().tangents);
  }
  mode_ = mode;
  rest_.set_mode(mode);
  for (int r = 0; r < system_.layout().relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    // Joints on massless coordinates are part of the balance of these, no rows.
    part_[r] = mode.normal[r] != NormalStatus::open && massless_[r] == 0 &&
                       (relation.has_normal || relation.tangents > 0)
                   ? 1
                   : 0;
  }
  assembly_.assemble(part_, false);
  assembly_.statuses(mode, statuses_);
  for (int i = assembly_.normals(); i < assembly_.size(); ++i) {
    const TangentStatus status = mode.tangent[assembly_[i].number];
    state_[i - assembly_.normals()] = status == TangentStatus::slip_plus ? contact::TangentState::slip_plus
                                      : status == TangentStatus::slip_minus
                                          ? contact::TangentState::slip_minus
                                      : status == TangentStatus::smooth ? contact::TangentState::follows
                                                                        : contact::TangentState::rest;
  }
  coupling_->find_blocks(assembly_.rows(), blocks_);
  if (static_cast<int>(factors_.size()) < blocks_.count()) factors_.resize(blocks_.count());
  std::fill(block_.begin(), block_.end(), -1);
  bool any = false;
  for (int b = 0; b < blocks_.count(); ++b) {
    const std::span<const int> rows = blocks_.rows(b);
    factors_[b].resize(static_cast<int>(rows.size()));
    const contact::DecisionProblem block = problem(rows);
    contact::factor_mode(block, block_statuses_, contact::DecisionOptions{}.rank_tolerance, factors_[b],
                         workspace_);
    any = any || !factors_[b].reactions_unique();
  }
  for (int b = 0; b < blocks_.count(); ++b) {
    if (any && factors_[b].reactions_unique())
      continue;  // where the ranks are next to each other all are shared
    int first = assembly_[blocks_.rows(b)[0]].relation;
    for (const int i : blocks_.rows(b)) first = std::min(first, assembly_[i].relation);
    for (const int i : blocks_.rows(b)) block_[assembly_[i].relation] = first;
  }
}

// A row at rest is held against a slip forwards by reactions below zero: the law on that side limits them, and the other one those above.
void ReactionSharing::find_limits() {
  const int normals = assembly_.normals();
  for (int i = normals; i < assembly_.size(); ++i) {
    const RowAssembly::Row& row = assembly_[i];
    const int t = i - normals;
    mu_below_[t] = assembly_.mu_static[t];
    base_below_[t] = assembly_.base[t];
    if (!rest_.directed(row.number)) continue;
    const auto take = [&](int direction, double& mu, double& base) {
      rest_.take_direction(row.number, direction);
      const model::RelationRows& there = system_.rows(work_, row.relation);
      mu = there.tangent[row.tangent].mu_static;
      base = there.base;
      rest_.take_back();
    };
    take(-1, assembly_.mu_static[t], assembly_.base[t]);
    take(1, mu_below_[t], base_below_[t]);
    static_cast<void>(system_.rows(work_, row.relation));
  }
}

void ReactionSharing::share(ModeMotion& motion) {
  assembly_.assemble(part_, false);
  find_limits();
  for (int b = 0; b < blocks_.count(); ++b) {
    const std::span<const int> rows = blocks_.rows(b);
    const int place = block_[assembly_[rows[0]].relation];
    if (place < 0) continue;
    double scale = 0;
    for (const int i : rows) {
      if (i < assembly_.normals()) scale = std::max(scale, assembly_.force_scale[i]);
    }
    const contact::DecisionProblem block = problem(rows);
    const contact::MarginResult result = contact::largest_margin(
        block, block_statuses_, factors_[b], workspace_, std::span(force_).first(rows.size()),
        std::span(acceleration_).first(rows.size()));
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const RowAssembly::Row& row = assembly_[rows[k]];
      (row.tangent < 0 ? motion.normal()[row.relation] : motion.tangent()[row.number]) = force_[k];
    }
    scale_[place] = scale;
    unlimited_[place] = result.status == contact::MarginStatus::unbounded ? 1 : 0;
    margin_[place] = result.status == contact::MarginStatus::bounded      ? result.margin
                     : result.status == contact::MarginStatus::infeasible ? -scale
                                                                          : scale;
  }
}

}  // namespace judder::engines
