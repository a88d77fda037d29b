// Where a state and its mode stand in the array of inputs of a model, for engines with fixed steps.
#pragma once

#include <algorithm>
#include <cmath>

#include "judder/engines/mode.hpp"
#include "judder/model/system.hpp"

namespace judder::engines {

inline void write_state(const model::Layout& layout, double t, const double* y, double* in) {
  in[0] = t;
  std::copy_n(y, layout.integrated(), in + layout.q());
}

/// Sides, directions of slip, and which relations carry forces.
inline void write_statuses(const model::Layout& layout, const Mode& mode, double* in) {
  std::copy(mode.side.begin(), mode.side.end(), in + layout.side());
  for (int j = 0; j < layout.tangents; ++j) in[layout.direction() + j] = direction(mode.tangent[j]);
  for (int r = 0; r < layout.relations; ++r)
    in[layout.closed() + r] = mode.normal[r] == NormalStatus::open ? 0 : 1;
}

/// The side on which the value of its surface puts a switch, at the inputs in `work`.
inline double side_by_value(const model::SwitchInfo& info, model::Workspace& work) {
  double s = 0;
  info.value.evaluate(work.in.data(), &s, work.registers.data());
  // sign(0) is 0; at a kink both sides have the same value, and one of them has a row.
  if (info.two_sided()) return s > 0 ? 1 : s < 0 ? 0 : info.kind == expr::SwitchKind::jump ? info.at_zero : 1;
  if (info.whole) return info.never_negative ? std::max(std::floor(s), 0.0) : std::floor(s);
  double side = -1;
  for (const double level : info.levels) side += s >= level ? 1 : 0;
  return side;
}

}  // namespace judder::engines
