#include "rest_laws.hpp"

#include <algorithm>
#include <cmath>

namespace judder::engines {
namespace {

constexpr double kZero = 1e-9;  ///< share of its terms below which a surface is at zero beside a row at rest

}  // namespace

RestLaws::RestLaws(const model::System& system, model::Workspace& work)
    : system_(system), work_(work), nested_(system, work) {
  rows_.resize(system.layout().tangents);
  for (int r = 0; r < system.layout().relations; ++r)
    relation_.insert(relation_.end(), system.relations()[r].tangents, r);
  surface_.resize(2 + system.layout().integrated());
}

void RestLaws::set_mode(const Mode& mode) {
  const int n = system_.layout().coordinates;
  any_ = false;
  for (std::vector<Turned>& row : rows_) row.clear();
  for (int r = 0; r < system_.layout().relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.law_constant || relation.smooth_friction || mode.normal[r] == NormalStatus::open) continue;
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (mode.tangent[number] != TangentStatus::stick) continue;
      const model::RelationRows::Tangent& slip = system_.rows(work_, r).tangent[j];
      const model::Row& w = slip.w;
      for (int k = 0; k < system_.layout().switches; ++k) {
        const model::SwitchInfo& info = system_.switches()[k];
        if (info.time_only) continue;
        info.surface.evaluate(work_.in.data(), surface_.data(), work_.registers.data());
        const double* slope = surface_.data() + 2 + n;
        const double ratio = parallel_to(slope, w, n);
        if (ratio == 0) continue;
        double terms = 0;
        for (int i = 0; i < n; ++i) terms += std::abs(slope[i] * work_.in[system_.layout().v() + i]);
        double lower = 0;
        terms = std::max(terms, std::abs(surface_[0]));
        // The row rests as exactly as it is followed; what the slip velocity is off, the surface is off by its share.
        const double distance = distance_from_level(info, surface_[0], lower) - ratio * slip.slip;
        if (std::abs(distance) > kZero * terms) continue;
        // A surface that only passes through zero while the row rests (x' = 0.1 on a belt that speeds up) has a side of its own.
        if (drifts(ratio, slip.zeta)) continue;
        rows_[number].push_back({k, lower, ratio > 0, kZero * terms});
        any_ = true;
      }
    }
  }
}

// Whether the surface evaluated last moves away from ratio times the slip velocity by itself, whatever the accelerations are.
bool RestLaws::drifts(double ratio, double zeta) const {
  const model::Layout& layout = system_.layout();
  double rate = surface_[1] - ratio * zeta;
  double terms = std::abs(surface_[1]) + std::abs(ratio * zeta);
  const auto add = [&](double slope, double by) {
    rate += slope * by;
    terms += std::abs(slope * by);
  };
  for (int i = 0; i < layout.coordinates; ++i) add(surface_[2 + i], work_.in[layout.v() + i]);
  for (int i = 0; i < layout.states; ++i) add(surface_[2 + 2 * layout.coordinates + i], work_.rate[i]);
  return std::abs(rate) > kZero * terms;
}

int RestLaws::along(int number, int k) const {
  for (const Turned& turned : rows_[number]) {
    if (turned.place == k) return turned.along ? 1 : -1;
  }
  return 0;
}

bool RestLaws::slides(int number, const Mode& mode) const {
  return std::any_of(rows_[number].begin(), rows_[number].end(),
                     [&](const Turned& turned) { return mode.slides(turned.place); });
}

void RestLaws::take_direction(int number, int direction) {
  double* side = work_.in.data() + system_.layout().side();
  const int switches = system_.layout().switches;
  kept_.assign(side, side + switches);
  turned_.clear();
  around_.clear();
  const int r = relation_[number];
  const int j = number - system_.relations()[r].first_tangent;
  const model::RelationRows::Tangent& slip = system_.rows(work_, r).tangent[j];
  for (const Turned& turned : rows_[number]) {
    double lower = 0;
    const model::SwitchInfo& info = system_.switches()[turned.place];
    info.surface.evaluate(work_.in.data(), surface_.data(), work_.registers.data());
    const double* slope = surface_.data() + 2 + system_.layout().coordinates;
    const double ratio = parallel_to(slope, slip.w, system_.layout().coordinates);
    if (std::abs(distance_from_level(info, surface_[0], lower) - ratio * slip.slip) > turned.zero)
      continue;  // left, and on a side of its own
    side[turned.place] = turned.lower + ((direction > 0) == turned.along ? 1 : 0);
    turned_.push_back(turned.place);
  }
  const auto in = [](const std::vector<int>& list, int item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  for (int k = 0; k < switches; ++k) {
    const std::vector<int>& inner = system_.switches()[k].inner;
    if (system_.switches()[k].time_only || in(turned_, k)) continue;
    if (!std::any_of(inner.begin(), inner.end(), [&](int i) { return in(turned_, i) || in(around_, i); }))
      continue;
    around_.push_back(k);
    side[k] = nested_.judge(k, turned_).side;
  }
}

void RestLaws::take_back() {
  std::copy(kept_.begin(), kept_.end(), work_.in.begin() + system_.layout().side());
}

}  // namespace judder::engines
