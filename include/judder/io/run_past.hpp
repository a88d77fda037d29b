// What a run has said of itself up to a moment, and must say again when it goes on from there: a law that was broken stays broken, a motion
// that was not checked for uniqueness stays unchecked, an extreme stays one. It is part of state.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judder/core/status.hpp"
#include "judder/core/verdict.hpp"

namespace judder::io {

/// The largest and smallest value of a column over all rows.
struct Extremes {
  std::string name;
  double least = 0, least_time = 0;
  double most = 0, most_time = 0;
};

/// What a run was asked for that can end it.
struct RunLimits {
  double until = 0, tolerance = 0, step = 0, max_step = 0;
  long max_events = 0;
};

/// How a run ended, and under which limits. A run that was interrupted has not ended.
struct RunEnd {
  Status status;
  RunLimits asked;

  /// Whether a run under the limits of `now` goes on where this one ended: to a later end, if it had ended as it was asked to; to more events, if there were
  /// too many; with other steps, if the motion could not be followed. False where `now` asks for nothing more: such a run would only end again as this one did, or run past a stop that ended this one.
  [[nodiscard]] bool goes_on(const RunLimits& now) const;
  /// What to ask for, in words: "a later end than t = 10 (--until)".
  [[nodiscard]] std::string more() const;
};

struct RunPast {
  Verdict verdict;  ///< of the referee
  bool reactions_not_unique = false;
  bool uniqueness_unchecked = false;
  double worst_gap = 0;
  /// Impacts in which a law created energy.
  struct Gains {
    std::uint64_t count = 0;
    double sum = 0;
    std::string first;  ///< "'floor' at t = 1.5"
  } gains;
  std::optional<RunEnd> ended{};
  // Of the rows and events of the folder, for a run that goes on in it.
  std::uint64_t intervals = 0;     ///< of contacts, with those that run.json does not list
  std::vector<Extremes> extremes;  ///< of the number columns
  std::vector<std::pair<std::string, double>> hardest;  ///< contact and its largest normal impulse
};

/// Two parts of a run judged as one: what both found at one place is one finding, with the first time and the largest departure.
[[nodiscard]] Verdict joined(const Verdict& earlier, const Verdict& later);

}  // namespace judder::io
