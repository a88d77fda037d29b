#include "reaction_sharing.hpp"

#include <algorithm>
#include <cmath>

namespace judder::engines {

ReactionSharing::ReactionSharing(const model::System& system, model::Workspace& work)
    : system_(system), assembly_(system, work) {
  const model::Layout& layout = system.layout();
  workspace_.expect(layout.relations, layout.tangents);
  factor_.resize(layout.relations + layout.tangents);
  part_.resize(layout.relations);
  state_.resize(layout.tangents);
  force_.resize(layout.relations + layout.tangents);
  acceleration_.resize(layout.relations + layout.tangents);
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
  problem.coupling = assembly_.coupling.data();
  return problem;
}

void ReactionSharing::set_mode(const Mode& mode) {
  mode_ = mode;
  for (int r = 0; r < system_.layout().relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    part_[r] = mode.normal[r] != NormalStatus::open && (relation.has_normal || relation.tangents > 0) ? 1 : 0;
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
  contact::factor_mode(problem(), statuses_, contact::DecisionOptions{}.rank_tolerance, factor_, workspace_);
}

double ReactionSharing::share(ModeMotion& motion) {
  assembly_.assemble(part_, false);
  scale_ = 0;
  for (int i = 0; i < assembly_.normals(); ++i) scale_ = std::max(scale_, assembly_.force_scale[i]);
  const contact::MarginResult result = contact::largest_margin(
      problem(), statuses_, factor_, workspace_, std::span(force_).first(assembly_.size()),
      std::span(acceleration_).first(assembly_.size()));
  for (int i = 0; i < assembly_.size(); ++i) {
    const RowAssembly::Row& row = assembly_[i];
    (row.tangent < 0 ? motion.normal()[row.relation] : motion.tangent()[row.number]) = force_[i];
  }
  switch (result.status) {
    case contact::MarginStatus::unbounded:
      return scale_;
    case contact::MarginStatus::infeasible:
      return -scale_;
    case contact::MarginStatus::bounded:
      break;
  }
  return result.margin;
}

}  // namespace judder::engines
