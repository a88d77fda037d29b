// Friction joints that move massless coordinates.
//
// Their friction follows from the balance of forces (model/system.cpp), so they are no rows of M v̇ = h + …: at rest the force is what the balance needs, slipping it is known. System::motion
// puts it into h and into Layout::tangent(). What remains for an engine is to decide between rest and slip: rest as long as the force is within μ_s L, slip as long as
// the velocity that the balance gives has its direction. A coordinate without damper has a position by the balance and jumps where a force or a limit jumps; friction lets it jump in the
// direction of its slip only.
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
/// `excluded` by tangential row as in Decider::Exclusions, `before` is memory. False: the equations cannot be evaluated.
[[nodiscard]] bool decide_massless(const model::System& system, model::Workspace& work,
                                   std::span<const std::uint8_t> joints,
                                   std::span<const std::uint16_t> excluded, std::vector<double>& before,
                                   Mode& mode);

/// Puts massless coordinates where the forces balance, from the positions in work.in that they had before the instant. A joint that slips and would jump back does not jump: `mode` has it at
/// rest. `before` is memory. False: the equations cannot be evaluated.
[[nodiscard]] bool follow_massless(const model::System& system, model::Workspace& work,
                                   std::span<const std::uint8_t> joints,
                                   std::span<const std::uint16_t> excluded, std::vector<double>& before,
                                   Mode& mode);

}  // namespace judder::engines
