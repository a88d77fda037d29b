// What is said of a run beside its rows and events: the words of its modes, its counts, residuals and energies, and what a reader must know.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "judder/engines/engine.hpp"
#include "judder/io/json.hpp"
#include "judder/io/load.hpp"
#include "judder/io/run_past.hpp"

namespace judder::tasks {

/// Every contact, joint, constraint and two-sided switch with the word of its state.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> modes_in_words(const model::System& system,
                                                                              const engines::Mode& mode);

/// What follows from the result, into a summary that says already what was run. `past`: everything up to here; `earlier`: what stood in the folder in
/// which the run went on; `events`: records of events.csv.
void summarise(const model::System& system, const engines::EngineResult& result, const io::RunPast& past,
               const io::EarlierPart& earlier, std::uint64_t events, io::RunSummary& out);

/// Tables that a run without finite numbers has left: "the table 'F' (line 12) was asked for x = 2.5 at t = 2.1, outside 0 to 2".
[[nodiscard]] std::string left_tables(const io::LoadedModel& model, const model::System& system,
                                      const engines::Moment& end);

}  // namespace judder::tasks
