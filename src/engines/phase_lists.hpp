// How many numbers each row of a list of PhaseMemory has: for who writes, reads and checks them.
#pragma once

#include <cstddef>

namespace judder::engines::phase_lists {

inline constexpr std::size_t kGuard = 6;     ///< saved of each guard
inline constexpr std::size_t kInterval = 4;  ///< saved of each relation
inline constexpr std::size_t kTail = 7;      ///< saved of each relation in a tail
/// Saved of the choice between the methods, of the step out of rest, of the states' means, of rounding.
inline constexpr std::size_t kMethod = 9;

}  // namespace judder::engines::phase_lists
