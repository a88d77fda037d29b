#include "nested_sides.hpp"

#include <algorithm>
#include <cmath>

namespace judder::engines {
namespace {

constexpr double kUnits = 8;         ///< a surface within this many rounding bounds is at zero
constexpr double kParallel = 1e-10;  ///< relative slack of gradients for rounding

}  // namespace

double distance_from_level(const model::SwitchInfo& info, double s, double& lower) {
  if (info.two_sided()) {
    lower = 0;
    return s;
  }
  if (info.whole) {
    const double level = info.never_negative ? std::max(std::round(s), 1.0) : std::round(s);
    lower = level - 1;
    return s - level;
  }
  const auto above = std::lower_bound(info.levels.begin(), info.levels.end(), s);
  auto nearest = above;
  if (above == info.levels.end() || (above != info.levels.begin() && s - *(above - 1) < *above - s))
    --nearest;
  lower = static_cast<double>(nearest - info.levels.begin()) - 1;
  return s - *nearest;
}

double parallel_to(const double* slope, const double* w, int n) {
  int first = 0;
  while (first < n && w[first] == 0) ++first;
  if (first == n) return 0;
  const double ratio = slope[first] / w[first];
  for (int i = 0; i < n; ++i) {
    if (!(std::abs(slope[i] - ratio * w[i]) <= kParallel * (std::abs(slope[i]) + std::abs(ratio * w[i]))))
      return 0;
  }
  return std::isfinite(ratio) ? ratio : 0;
}

NestedSides::NestedSides(const model::System& system, model::Workspace& work) : system_(system), work_(work) {
  own_.resize(2 + system.layout().integrated());
  other_.resize(own_.size());
}

bool NestedSides::never_moves(int k, double rounding) {
  constexpr double kAnywhere = 1e100;
  enclosure_.take(work_.in);
  for (int i = 0; i <= system_.layout().integrated(); ++i) enclosure_.set(i, -kAnywhere, kAnywhere);
  enclosure_.evaluate(system_.switches()[k].value);
  return enclosure_.high(0) - enclosure_.low(0) <= rounding;
}

NestedSides::Verdict NestedSides::judge(int k, std::span<const int> surfaces) {
  enclosure_.take(work_.in);
  enclosure_.blur(0, 1 + system_.layout().integrated());
  enclosure_.evaluate(system_.switches()[k].value);
  return judge(k, surfaces, kUnits * enclosure_.width(0));
}

NestedSides::Verdict NestedSides::judge(int k, std::span<const int> surfaces, double rounding) {
  const model::SwitchInfo& info = system_.switches()[k];
  info.surface.evaluate(work_.in.data(), own_.data(), work_.registers.data());
  double lower = 0;
  const double distance = distance_from_level(info, own_[0], lower);
  const int only = info.only_side(lower);
  const auto side = [&](bool upper) { return (only != 0 ? only > 0 : upper) ? lower + 1 : lower; };
  for (const int j : surfaces) {
    if (j == k || system_.switches()[j].time_only) continue;
    const model::SwitchInfo& inner = system_.switches()[j];
    inner.surface.evaluate(work_.in.data(), other_.data(), work_.registers.data());
    const double ratio = parallel_to(own_.data() + 1, other_.data() + 1, static_cast<int>(own_.size()) - 1);
    if (ratio == 0) continue;
    double below = 0;
    const double beside = ratio * distance_from_level(inner, other_[0], below);
    if (!(std::abs(distance - beside) <= rounding + kParallel * std::abs(beside))) continue;
    const bool upper = work_.in[system_.layout().side() + j] > below + 0.5;
    return {Place::along, side((ratio > 0) == upper)};
  }
  if (!(std::abs(distance) <= rounding)) return {Place::apart, side(distance > 0)};
  if (never_moves(k, rounding)) return {Place::constant, lower + info.at_zero};
  return {Place::unknown, side(distance >= 0)};
}

}  // namespace judder::engines
