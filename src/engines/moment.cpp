// Moments, checked against the system that is to take them up.
#include <algorithm>
#include <cmath>

#include "judder/engines/engine.hpp"

namespace judder::engines {

namespace {

/// Whether a side is one that its switch can have, or lies between two of them.
bool side_fits(const model::SwitchInfo& info, double side) {
  if (info.two_sided()) return side >= -1 && side <= 2;
  if (info.whole) return info.resolves(side);
  return side >= -1 && side <= static_cast<double>(info.levels.size()) - 1;
}

bool normal_fits(const model::Relation& relation, NormalStatus status) {
  switch (relation.kind) {
    case model::RelationKind::contact:
      return status == NormalStatus::open || status == NormalStatus::closed || status == NormalStatus::none;
    case model::RelationKind::constraint:
      return status == NormalStatus::held || status == NormalStatus::none;
    default:
      return status == NormalStatus::none;
  }
}

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

std::string mode_problem(const model::System& system, const Mode& mode) {
  const model::Layout& layout = system.layout();
  const auto fits = [](std::size_t size, int wanted) { return size == static_cast<std::size_t>(wanted); };
  if (!fits(mode.normal.size(), layout.relations) || !fits(mode.pressed.size(), layout.relations) ||
      !fits(mode.tangent.size(), layout.tangents) || !fits(mode.side.size(), layout.switches) ||
      !fits(mode.surface.size(), layout.switches))
    return "the state does not have the sizes of this model";
  for (std::size_t r = 0; r < mode.normal.size(); ++r) {
    if (!normal_fits(system.relations()[r], mode.normal[r]))
      return "the state of '" + system.relations()[r].name + "' is none that it can have";
  }
  for (std::size_t k = 0; k < mode.side.size(); ++k) {
    const model::SwitchInfo& info = system.switches()[k];
    if (!side_fits(info, mode.side[k]) ||
        (mode.slides(k) && !info.two_sided() && !info.whole && info.levels.size() < 2))
      return "the side of the switch in " + info.place + " is none that it has";
  }
  return {};
}

}  // namespace

std::string moment_problem(const model::System& system, const Moment& moment) {
  const model::Layout& layout = system.layout();
  const auto fits = [](std::size_t size, int wanted) { return size == static_cast<std::size_t>(wanted); };
  if (!fits(moment.y.size(), layout.integrated()) || !fits(moment.dissipated.size(), layout.audits) ||
      !fits(moment.supplied.size(), layout.audits) || moment.scales.size() < moment.y.size() ||
      moment.watch_counts.size() != system.watches().size())
    return "the state does not have the sizes of this model";
  if (!std::isfinite(moment.time) || !std::isfinite(moment.initial_energy) || !all_finite(moment.y) ||
      !all_finite(moment.dissipated) || !all_finite(moment.supplied) || !all_finite(moment.scales))
    return "the state holds numbers that are not finite";
  if (std::string problem = mode_problem(system, moment.mode); !problem.empty()) return problem;
  if (!(moment.step >= 0)) return "the state has a negative step";
  const std::vector<double>& start = system.start();
  if (!moment.started && !std::equal(moment.y.begin(), moment.y.end(), start.begin() + 1))
    return "the state has not begun to move, and is not the start of this model";
  const PhaseMemory& phase = moment.phase;
  if (phase.y.empty()) return {};
  if (!fits(phase.y.size(), layout.integrated())) return "the state does not have the sizes of this model";
  if (!all_finite(phase.y) || !std::isfinite(phase.time) || !std::isfinite(phase.start))
    return "the state holds numbers that are not finite";
  if (std::string problem = mode_problem(system, phase.mode); !problem.empty()) return problem;
  if (!phase.side.empty()) {
    Mode sides = phase.mode;
    sides.side = phase.side;
    if (std::string problem = mode_problem(system, sides); !problem.empty()) return problem;
  }
  if (phase.time > moment.time || phase.start > moment.time)
    return "the phase of the state begins after its time";
  return {};
}

}  // namespace judder::engines
