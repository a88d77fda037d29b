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

double parallel_to(const double* slope, const model::Row& w, int n) {
  const std::span<const double> values = w.values();
  std::size_t first = 0;
  while (first < values.size() && values[first] == 0) ++first;
  if (first == values.size()) return 0;
  const double ratio = slope[w.places()[first]] / values[first];
  std::size_t e = 0;
  for (int i = 0; i < n; ++i) {
    const bool listed = e < values.size() && w.places()[e] == i;
    const double own = listed ? values[e++] : 0;
    if (!(std::abs(slope[i] - ratio * own) <= kParallel * (std::abs(slope[i]) + std::abs(ratio * own))))
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
  return enclosure_.high(0) - enclosure_.low(0) <= std::max(rounding, Enclosure::kLeastNumber);
}

// Whether the argument of switch k, which is at zero, is not a little away from the surface of an inner one, on the side that has.
bool NestedSides::leaves_zero(int k, int inner) {
  constexpr double kLittle = 0x1p-100;  // that no unit makes large, and of which low powers are numbers yet
  constexpr double kShare = 0x1p-30;
  const model::SwitchInfo& info = system_.switches()[k];
  const model::SwitchInfo& other = system_.switches()[inner];
  const double now = work_.in[system_.layout().side() + inner];
  if (now != std::floor(now)) return false;  // on neither side
  other.surface.evaluate(work_.in.data(), other_.data(), work_.registers.data());
  double below = 0;
  static_cast<void>(distance_from_level(other, other_[0], below));
  beside_ = work_.in;
  for (int i = 0; i < system_.layout().integrated(); ++i) {
    const double slope = other_[2 + i];
    if (slope == 0) continue;
    double& value = beside_[1 + i];
    const double away = std::max(kLittle, kShare * std::abs(value));
    value += (slope > 0) == (now > below + 0.5) ? away : -away;
  }
  double value = 0;
  info.value.evaluate(beside_.data(), &value, work_.registers.data());
  double lower = 0;
  return distance_from_level(info, value, lower) != 0;
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
  // What has one sign by its form may touch zero without a slope: |x|³ is more than zero on both sides of x = 0.
  for (const int j : surfaces) {
    if (only != 0 && j != k && !system_.switches()[j].time_only && leaves_zero(k, j))
      return {Place::along, side(only > 0)};
  }
  if (never_moves(k, rounding)) return {Place::constant, lower + info.at_zero};
  return {Place::unknown, side(distance >= 0)};
}

}  // namespace judder::engines
