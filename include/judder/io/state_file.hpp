// state.json: a Moment as text, complete and exact, with the model it belongs to.
//
// Numbers are the shortest texts that read back as the same double; what is not finite stands as "inf", "-inf" or "nan". With the numbers stand the
// equations of the model, the numbers of its lists, tables and data files, its parameters, the variants and settings, and the engine: a state is
// taken up by the same equations only, and by other values or another engine only when that is asked for. Nothing in the file is believed: every
// number is looked at for its kind, finiteness and range.
//
// With them stands what the run has said of itself so far (io/run_past.hpp), so that a run that goes on says it again.
//
// Format 3. Format 1 did not know its model, format 2 not what had been found; both are refused.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judder/engines/engine.hpp"
#include "judder/io/load.hpp"
#include "judder/io/run_folder.hpp"
#include "judder/io/run_past.hpp"

namespace judder::io {

/// What a state belongs to. An empty one knows nothing and fits everything.
struct StateOwner {
  std::string equations;  ///< the model file without its values, runs and outputs
  std::vector<std::pair<std::string, std::string>>
      data;  ///< list, table or matrix, with the check of its numbers
  std::vector<std::pair<std::string, double>> parameters;  ///< resolved
  std::vector<std::string> variants;
  std::vector<std::pair<std::string, std::string>> set;
  std::string engine;  ///< as used
  /// The run is to end when it is periodic. What has been learnt of its period is not part of the state, so that such a run does not go on with the
  /// same bits.
  bool until_periodic = false;
  RunLimits limits{};  ///< of the run that takes the state up: not part of it
};

/// Of a model that has been loaded.
[[nodiscard]] StateOwner state_owner(const LoadedModel& model, const ModelRequest& request,
                                     const std::string& engine);

[[nodiscard]] std::string state_json(const model::System& system, const engines::Moment& moment,
                                     const StateOwner& owner = {}, const RunPast& past = {});

/// Reads what `state_json` wrote; `past->ended` says how the run ended; it is empty if the run had not ended, or if parameters, variants, data or the engine have changed since, so that it may end elsewhere now. Returns what is wrong: not JSON, not a state, the state of another model, or, unless `accept_changes`, of other
/// parameters, variants, data or another engine; empty: all is well.
[[nodiscard]] std::string read_state(std::string_view text, const model::System& system,
                                     engines::Moment& moment, const StateOwner& owner = {},
                                     bool accept_changes = false, RunPast* past = nullptr);

/// The same of the state.json in a run folder, with its `text`: also what was damaged, and what does not fit the files that it lists. FileStatus::file is
/// that of the state.
[[nodiscard]] FileStatus read_state_file(const std::filesystem::path& folder, const model::System& system,
                                         const StateOwner& owner, bool accept_changes, std::string& text,
                                         engines::Moment& moment, RunPast& past);

/// What is wrong with the format of a state: it is of another version. Empty: nothing, or the text is none at all.
[[nodiscard]] std::string state_format_problem(std::string_view text);

/// The state before the first step: a run that takes it up begins at the start of the model.
[[nodiscard]] engines::Moment start_moment(const model::System& system, double from);

}  // namespace judder::io
