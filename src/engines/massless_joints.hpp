// Friction joints that move massless coordinates.
//
// Their friction follows from the balance of forces (model/system.cpp), so they are no rows of M v̇ = h + …: at rest the force is what the balance needs, slipping it is known. System::motion
// puts it into h and into Layout::tangent(). What remains for an engine is to decide between rest and slip: rest as long as the force is within μ_s L, slip as long as
// the velocity that the balance gives has its direction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "judder/engines/mode.hpp"
#include "judder/model/system.hpp"

namespace judder::engines {

/// By relation: 1 for such joints.
[[nodiscard]] std::vector<std::uint8_t> massless_joints(const model::System& system);

/// Decides these joints at the state in work.in, whose velocities are known. On entry `mode` holds what is known: at rest as stick, slipping with direction;
/// `excluded` by tangential row as in Decider::Exclusions. False: the equations cannot be evaluated.
[[nodiscard]] bool decide_massless(const model::System& system, model::Workspace& work,
                                   std::span<const std::uint8_t> joints,
                                   std::span<const std::uint16_t> excluded, Mode& mode);

}  // namespace judder::engines
