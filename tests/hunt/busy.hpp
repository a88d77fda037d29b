// Motions that have as much to do as the run says: a ball that is thrown back ten thousand times, a growing oscillation that passes a joint's reversal as often, a mass that
// changes with sin(1.5 y) while y runs away.
//
// A run that is ended by the number of its events, or by time, is no fault where that is the motion. Both are judged by numbers that are not the engine's own: what its event
// functions are half-way between its events, and how often a formula of the model oscillates along the way that has been gone.
#pragma once

#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "draft.hpp"
#include "judder/engines/engine.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder::hunt {

/// Whether the last events of a run up to `until` are apart by more than the tolerances know: half-way to the next one of its place the function of each (gap, slip,
/// surface) is more than a hundred tolerances of its largest value, and so is the impulse of each blow.
[[nodiscard]] bool events_are_real(const model::System& system, engines::EngineOptions options, double until,
                                   std::span<const engines::Event> events);

/// How many periods the sines and cosines in the model have passed on the way of the rows of a run, at least: Σ |k Δq|/2π over those of k q.
[[nodiscard]] double periods_of_formulas(const Draft& draft, const simulate::MemorySink& rows);

}  // namespace judder::hunt
