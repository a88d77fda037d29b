#include "dry_forces.hpp"

#include <algorithm>
#include <cmath>

#include "engines/nested_sides.hpp"

namespace judder::engines {

DryForces::DryForces(const model::System& system, model::Workspace& work) : system_(system), work_(work) {
  const model::Layout& layout = system.layout();
  for (int k = 0; k < layout.switches; ++k) {
    const model::SwitchInfo& info = system.switches()[k];
    if (info.kind == expr::SwitchKind::jump && info.in_motion && !info.time_only && info.two_sided())
      candidates_.push_back(k);
  }
  found_.reserve(candidates_.size());
  ratio_.reserve(candidates_.size());
  surface_.resize(2 + layout.integrated());
  force_.resize(layout.coordinates);
  change_.resize(layout.coordinates);
  kept_.resize(layout.switches);
}

// The change of the forces as a multiple of the drag of a row; false where it is none.
bool DryForces::along(const model::Row& drag, double& share) const {
  constexpr double kRounding = 1e-9;
  double square = 0, dot = 0;
  for (std::size_t k = 0; k < drag.values().size(); ++k) {
    square += drag.values()[k] * drag.values()[k];
    dot += drag.values()[k] * change_[drag.places()[k]];
  }
  if (!(square > 0)) return false;
  share = dot / square;
  double rest = 0, size = 0;
  for (int i = 0; i < system_.layout().coordinates; ++i) {
    rest = std::max(rest, std::abs(change_[i] - share * drag[i]));
    size = std::max(size, std::abs(change_[i]));
  }
  return rest <= kRounding * size;
}

bool DryForces::find(int relation, double& forwards, double& backwards) {
  constexpr double kZero = 1e-9;
  const int n = system_.layout().coordinates;
  const model::RelationRows::Tangent& row = work_.relation[relation].tangent[0];
  double* const in = work_.in.data();
  double slip = row.drive;
  for (std::size_t k = 0; k < row.w.values().size(); ++k)
    slip += row.w.values()[k] * in[system_.layout().v() + row.w.places()[k]];
  found_.clear();
  ratio_.clear();
  for (const int k : candidates_) {
    const model::SwitchInfo& info = system_.switches()[k];
    info.surface.evaluate(in, surface_.data(), work_.registers.data());
    const double* const slope = surface_.data() + 2 + n;
    const double ratio = parallel_to(slope, row.w, n);
    if (ratio == 0) continue;
    double terms = std::abs(surface_[0]);
    for (int i = 0; i < n; ++i) terms += std::abs(slope[i] * in[system_.layout().v() + i]);
    if (std::abs(surface_[0] - ratio * slip) > kZero * terms) continue;
    found_.push_back(k);
    ratio_.push_back(ratio);
  }
  if (found_.empty()) return false;
  double* const side = in + system_.layout().side();
  std::copy_n(side, kept_.size(), kept_.begin());
  bool ok = system_.motion(work_);
  std::copy(work_.force.begin(), work_.force.end(), force_.begin());
  double change[2] = {0, 0};
  for (const int way : {1, -1}) {
    for (std::size_t k = 0; k < found_.size(); ++k) side[found_[k]] = (ratio_[k] > 0) == (way > 0) ? 1 : 0;
    ok = ok && system_.motion(work_);
    for (int i = 0; i < n; ++i) change_[i] = work_.force[i] - force_[i];
    ok = ok && along(row.drag, change[way > 0 ? 0 : 1]);
  }
  std::copy(kept_.begin(), kept_.end(), side);
  std::copy(force_.begin(), force_.end(), work_.force.begin());
  if (!ok || (change[0] == 0 && change[1] == 0)) return false;
  forwards = -change[0];
  backwards = change[1];
  return true;
}

std::string DryForces::problem(const model::System& system) {
  model::Workspace work(system);
  DryForces dry(system, work);
  if (!dry.any()) return {};
  std::copy(system.start().begin(), system.start().end(), work.in.begin());
  for (int r = 0; r < system.layout().relations; ++r) {
    const model::Relation& relation = system.relations()[r];
    if (relation.tangents != 1 || relation.smooth_friction) continue;
    system.rows(work, r);
    double forwards = 0, backwards = 0;
    if (!dry.find(r, forwards, backwards)) continue;
    return relation.place + " slips with the zero of '" + system.switches()[dry.found_.front()].place +
           "', whose force jumps there: at rest both hold together, which this scheme does not know; "
           "'moreau', 'theta', "
           "'newmark' and 'event' do";
  }
  return {};
}

}  // namespace judder::engines
