// Many runs of a model file into one table, from a request to the file.
//
// Which runs is a Plan (analysis/ensemble.hpp), what is kept of each are Reductions (analysis/reductions.hpp). Records are kept beside
// the table, in FILE.members, until all are there; then the table is written and they go. What ends early leaves them, and `resume` goes
// on.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "judder/analysis/ensemble.hpp"
#include "judder/io/load.hpp"
#include "judder/io/member_table.hpp"
#include "judder/tasks/members.hpp"

namespace judder::tasks {

/// What every task with many runs is told.
struct ManyRequest {
  io::ModelRequest model;
  std::optional<double> until{}, tolerance{};  ///< in place of those of [run]
  bool referee = true;
  int threads = 0;
  bool resume = false;
  std::size_t part = 1, parts = 1;
  Machines* machines = nullptr;
  std::function<void(std::size_t done, double rate, double seconds)> progress{};
};

struct RunsRequest {
  ManyRequest many;
  analysis::Plan plan;
  std::string collect;  ///< the words of analysis::parse_reductions
  double after = 0;     ///< what is collected begins here; −∞: at the start
  std::filesystem::path output{};
  std::filesystem::path folders{};  ///< a run folder for each member goes here; empty: none
};

enum class RunsStage {
  model_invalid,  ///< nothing was run: the diagnostics of `model`
  misused,        ///< `problem` says what of the request cannot be
  files_failed,   ///< `files` says why
  interrupted,    ///< the records that are there wait in `records`
  part_done,      ///< of several: the others are still to come, or to be joined
  ended
};

struct RunsReport {
  RunsStage stage = RunsStage::model_invalid;
  io::LoadedModel model;
  std::string problem;
  io::FileStatus files;
  std::filesystem::path records;
  MembersReport made;
  std::size_t members = 0;
  std::size_t failed = 0;     ///< members whose run has not ended well
  std::string first_failure;  ///< of them: number, reason, words
  std::size_t doubtful =
      0;                    ///< members that ended well and have a message: an extreme or integral may be off
  std::string first_doubt;  ///< of them: number, words
  double compile_seconds = 0;
};

[[nodiscard]] RunsReport sweep_runs(const RunsRequest& request);

/// Parts of one sweep that were made apart, into its table. They must be of the same members, and together all of them.
[[nodiscard]] RunsReport join_runs(const std::vector<std::filesystem::path>& parts,
                                   const std::filesystem::path& output);

/// The file of records of a table; of a part of it.
[[nodiscard]] std::filesystem::path records_of(const std::filesystem::path& output, std::size_t part,
                                               std::size_t parts);

/// What the members of a request depend on, in one text: the model with its data, variants, settings, times. Its key tells files of
/// records apart.
[[nodiscard]] std::string identity_of(const ManyRequest& request, const io::LoadedModel& model);
[[nodiscard]] std::string identity_of(const analysis::Plan& plan);

/// The options of a member's run.
[[nodiscard]] engines::EngineOptions member_options(const ManyRequest& request, const model::RunOptions& run);
/// Why this engine cannot make members of which section points or ends of motions are asked: both are found between steps. Empty: it can.
[[nodiscard]] std::string engine_problem(const ManyRequest& request, const model::RunOptions& run);

/// The model for the first of these members whose values make one: the first, the last, the middle and some more are tried. If none of
/// them does, the model of the first, with what is wrong.
[[nodiscard]] io::LoadedModel load_some_member(const io::ModelRequest& request, const io::ModelFile& file,
                                               const analysis::Plan& plan);

}  // namespace judder::tasks
