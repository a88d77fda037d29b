#include "judder/core/status.hpp"

namespace judder {

const char* name(Reason reason) {
  switch (reason) {
    case Reason::done:
      return "done";
    case Reason::watch:
      return "watch";
    case Reason::periodic:
      return "periodic";
    case Reason::accumulation:
      return "accumulation";
    case Reason::inconsistent:
      return "inconsistent";
    case Reason::indeterminate:
      return "indeterminate";
    case Reason::negative_normal:
      return "negative-normal";
    case Reason::singular_mass:
      return "singular-mass";
    case Reason::not_finite:
      return "not-finite";
    case Reason::step_too_small:
      return "step-too-small";
    case Reason::too_many_events:
      return "too-many-events";
    case Reason::discontinuous:
      return "discontinuous";
    case Reason::impact_failed:
      return "impact-failed";
    case Reason::interrupted:
      return "interrupted";
    case Reason::unsupported:
      return "unsupported";
    case Reason::laws_violated:
      return "laws-violated";
    case Reason::call_failed:
      return "call-failed";
  }
  return "unknown";
}

std::optional<Reason> reason_named(std::string_view word) {
  for (int i = 0; i <= static_cast<int>(Reason::call_failed); ++i) {
    if (word == name(static_cast<Reason>(i))) return static_cast<Reason>(i);
  }
  return std::nullopt;
}

}  // namespace judder
