// How a numerical task ended. Numerical failure is a value: it says what happened, when, where, and what to try.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace judder {

enum class Reason {
  done,             ///< reached the end that was asked for
  watch,            ///< a watch with `stop` ended the run
  periodic,         ///< the motion has become periodic, and the run was asked to end there
  accumulation,     ///< infinitely many events, and the run was asked to stop there
  inconsistent,     ///< no reaction satisfies the laws (Painlevé)
  indeterminate,    ///< several motions satisfy the laws
  negative_normal,  ///< the normal force of a joint became negative
  singular_mass,    ///< the mass matrix lost its definiteness
  not_finite,  ///< an expression gave NaN or infinity at the smallest step, or floor and mod of a number too large for them
  step_too_small,   ///< the error could not be kept within the tolerance
  too_many_events,  ///< more than `max_events`
  discontinuous,    ///< a gap or constraint jumped while it was closed
  impact_failed,    ///< the impact problem was not solved
  interrupted,      ///< cancelled from outside
  unsupported,      ///< the engine cannot treat this model
  laws_violated,    ///< the referee found that the motion breaks a law (docs/referee.md)
  call_failed       ///< a function from outside has thrown (docs/cpp.md, docs/python.md)
};

/// The word used in run.json and by the command line.
[[nodiscard]] const char* name(Reason reason);
/// The reason of that word; nothing if there is none.
[[nodiscard]] std::optional<Reason> reason_named(std::string_view word);

struct Status {
  Reason reason = Reason::done;
  double time = 0;      ///< the time reached
  std::string where;    ///< element: "contact 'plane'", "force 'limiter', value"; may be empty
  std::string message;  ///< one sentence with the values that matter

  /// A run that ended as asked: by its end time, a watch, a period, or a requested stop at an accumulation.
  [[nodiscard]] bool ok() const {
    return reason == Reason::done || reason == Reason::watch || reason == Reason::periodic ||
           reason == Reason::accumulation;
  }
};

}  // namespace judder
