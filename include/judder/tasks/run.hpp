// From a model file to a run folder: loads, simulates, streams rows and events to disk, and says how it ended.
//
//     run.json, state.json, trajectory.csv, events.csv (io/run_folder.hpp)
//
// Rows and events go to disk as they come. In memory stay the intervals of the contacts (at most kMostIntervals; a note in run.json says if
// there were more), the first events for the table, and the extremes of every column. With `estimate` everything stays in memory and a second
// run with a tenth of the tolerance (half the step, for fixed steps) shows how large the error is.
//
// The folder is committed (io/run_folder.hpp) a second after the start, then at growing distances, at least once a minute, and at the end; a run that
// is killed loses what came after. The first write that fails stops the run; the folder then holds its last commit.
//
// A resumed run starts from the state.json of an earlier folder, which must be of the same model (io/state_file.hpp), and writes its own folder, with
// the rows and events after that time only; or, if its output is the folder that it resumes from, it goes on behind the rows and events there. Both
// give the bits of a run that was never cut.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "judder/analysis/estimate.hpp"
#include "judder/engines/engine.hpp"
#include "judder/io/json.hpp"
#include "judder/io/load.hpp"
#include "judder/io/run_folder.hpp"
#include "judder/io/run_past.hpp"

namespace judder::tasks {

inline constexpr std::size_t kMostIntervals = 100'000;
inline constexpr std::size_t kMostEventsShown = 200;

struct RunRequest {
  io::ModelRequest model;
  std::optional<double> tolerance{}, step{}, until{};  ///< instead of those of [run]
  bool write = true;                                   ///< false: no folder, only the report
  std::filesystem::path output{};                      ///< run folder; empty: io::choose_run_folder
  std::filesystem::path resume{};                      ///< run folder to go on from
  std::filesystem::path
      reference{};  ///< reference file whose [structures] name the modes (io::reference_beside); empty, or not there: none
  bool accept_changes = false;  ///< go on although parameters, variants, data or the engine are others
  bool estimate = false;
  bool referee = true;  ///< let the referee judge the run
  bool extremes_between_rows =
      false;  ///< find those of the columns on the dense output: the same whatever rows there are
  /// Events, phases of contacts and extremes of the report are those between these times; what is written is whole.
  std::optional<double> summary_from{}, summary_to{};
  bool until_periodic = false;  ///< end when the motion has become periodic; not with `estimate`
  std::atomic<bool>* cancel =
      nullptr;  ///< set from outside to stop; a folder that cannot be written sets it as well
  std::function<void(double share, long events)>
      progress{};                     ///< from time to time: share of the way, events so far (progress_text)
  engines::Sink* listener = nullptr;  ///< told of every row, event and step of the run besides; null: nobody
};

/// How far `run_model` got.
enum class RunStage {
  model_invalid,  ///< nothing was run: the diagnostics of `model` say why
  cannot_resume,  ///< nothing was run: `files` says why
  files_failed,   ///< the folder could not be written: `files` says why
  ended,          ///< `summary.status` says how
  finished  ///< nothing was left to run: the run in the folder has ended already, and `summary.status` says how
};

struct RunReport {
  RunStage stage = RunStage::model_invalid;
  io::LoadedModel model;
  std::filesystem::path folder;
  io::FileStatus files;
  io::RunSummary summary;
  double from = 0,
         to = 0;  ///< the window of `events`, `extremes` and run_markdown(); −∞ and ∞: the whole run
  bool periodic_asked = false;    ///< the run was to end when periodic: `summary.periodic`
  std::vector<io::Event> events;  ///< the first kMostEventsShown
  /// Names of the source for the modes ([structures] of RunRequest::reference; empty without): at the start, and after the
  /// instant of each of `events`, at the last event of an instant.
  std::string first_structure;
  std::vector<std::string> structures;
  std::uint64_t events_in_window = 0;     ///< of which `events` are the first
  std::uint64_t event_count = 0;          ///< written to events.csv
  std::uint64_t row_count = 0;            ///< written to trajectory.csv
  std::vector<io::Extremes> extremes;     ///< of the number columns, in their order
  std::vector<std::string> unfollowed{};  ///< columns faster than can be followed: their extremes may be off
  std::vector<std::pair<std::string, double>> hardest;  ///< contact and its largest normal impulse
  std::vector<std::string>
      undefined;  ///< notes about columns that are no finite numbers somewhere, also in `summary`
  std::optional<analysis::RunDifference> difference;  ///< of `estimate`
  Status second;                                      ///< how the second run of `estimate` ended
  /// Names of the figures and pages that stood in the folder before: they show the run that was there, not this one.
  std::vector<std::string> old_pictures{};
  std::string run_json{};  ///< of the folder, at stage `finished`
  std::string more{};      ///< at the same: what to ask for to go on, in words; empty: not known
};

[[nodiscard]] RunReport run_model(const RunRequest& request);

/// "43 %, 512 events, 12 s left" after so many seconds. The time that is left is not told before it can be known to some extent: it supposes that the
/// rest goes as fast as what is done.
[[nodiscard]] std::string progress_text(double share, long events, double seconds);

/// The event table and the end of the run, for a terminal.
[[nodiscard]] std::string run_text(const RunReport& report);
/// Of a run whose folder had reached the end before.
[[nodiscard]] std::string finished_text(const RunReport& report);
/// Names `old_pictures` and what makes them anew; `page`: this run has written its page. Empty: there are none.
[[nodiscard]] std::string old_pictures_text(const RunReport& report, bool page);
/// The same as Markdown, with the loads of the contacts, the extremes of the columns and the energies.
[[nodiscard]] std::string run_markdown(const RunReport& report);
/// Differences of `estimate` in words; empty without one.
[[nodiscard]] std::string estimate_text(const RunReport& report);

}  // namespace judder::tasks
