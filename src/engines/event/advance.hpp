// How an engine that goes from event to event gets to the next one: by steps or by closed forms.
//
// Everything else of such an engine is one code for both: what an event does, rows, memory (event_run.hpp).
#pragma once

#include <cstdint>

namespace judder::engines {

struct Guard;

/// plain: time has moved, nothing happens; limit: the known instant was reached; guard: guards are at zero, StepFindings::together; failed: the run has ended.
enum class StepEnd : std::uint8_t { plain, limit, guard, failed };

class Advance {
 public:
  virtual ~Advance() = default;
  /// Moves the phase towards the time `limit`, rows on the way included.
  [[nodiscard]] virtual StepEnd advance(double limit) = 0;
  /// Relative error that the state at an event may have.
  [[nodiscard]] virtual double state_tolerance() const = 0;
  /// Whether the motion can be followed while it rests on a surface that its rate does not see.
  [[nodiscard]] virtual bool can_rest() const = 0;
  /// Whether a guard that vanishes to order `order` at the start of the coming phase certainly has a derivative of the next order. False: not
  /// known; the Taylor series tells.
  [[nodiscard]] virtual bool next_derivative_clear(const Guard& guard, int order) = 0;
  /// The state at the share θ of the step of this length that begins at the phase's time, into its Workspace.
  virtual void load_inside(double theta, double length) = 0;
};

}  // namespace judder::engines
