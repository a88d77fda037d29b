// The derived equations of a model, in words and formulas, for people to compare with a derivation on paper.
//
// Mass matrix, forces, gaps with their directions, slip velocities, friction laws, numbers at the start
// (w_N·M⁻¹w_N and w_T·M⁻¹w_T, possible modes), states, switches with their places, and the elements of the
// energy audit. Parameters appear as their numbers.
#pragma once

#include <atomic>
#include <string>

#include "judder/model/compile.hpp"

namespace judder::model {

/// Plain text, aligned. Without a system (the model has errors) an empty string. `cancel`: set from outside to end within a moment, with a part of it.
[[nodiscard]] std::string describe(const Compiled& compiled, const std::atomic<bool>* cancel = nullptr);

}  // namespace judder::model
