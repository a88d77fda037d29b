// A run that stays in memory: what a run folder would hold, without files.
//
// For whoever wants to look at it at once and throw it away. The model has been loaded before, so that a run costs what moving costs. Rows, events
// and summary are those of run_model() (tasks/run.hpp) to the bit.
#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "judder/engines/engine.hpp"
#include "judder/io/json.hpp"
#include "judder/io/load.hpp"
#include "judder/io/run_folder.hpp"

namespace judder::tasks {

struct MemoryRunRequest {
  io::ModelRequest model;         ///< what the model was loaded with; its engine, where one is named, runs it
  std::optional<double> until{};  ///< instead of that of [run]
  bool referee = true;            ///< let the referee judge the run
  bool coordinates = false;       ///< keep coordinates and velocities also where [output] leaves them out
  bool curve = false;             ///< also the points between rows at which pictures turn (RunSummary::curve)
  std::size_t most_events = 10000;                            ///< that are kept; all are counted
  const std::atomic<bool>* cancel = nullptr;                  ///< set from outside to stop
  std::function<void(double share, long events)> progress{};  ///< from time to time
};

struct MemoryRun {
  bool ran = false;  ///< false: the diagnostics of the model say why not
  io::RunData data;  ///< rows and events; no texts
  io::RunSummary summary;
  engines::Moment end;  ///< where it ended
};

/// Complaints about what was asked for go into the diagnostics of `model`, which must be ok().
[[nodiscard]] MemoryRun run_in_memory(const MemoryRunRequest& request, io::LoadedModel& model);

}  // namespace judder::tasks
