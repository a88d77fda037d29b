// The run folder: what a run leaves on disk, and how it is read again.
//
//     trajectory.csv   t, coordinates, velocities, states, output columns; at each instant with events two rows with the
//                      same t, the limits before and after
//     events.csv       one row per event, in order of time and, at one instant, of cause
//     run.json         what was run, with which options, how it ended
//     state.json       everything needed to go on
//
// A RunWriter streams: records go through one buffer per file, so memory does not grow with time. What a kill, a full disk or a power cut leaves is
// the set of the last commit, whole:
//
// - A new folder is written under a hidden name beside its place (`.NAME.tmp`) and appears by one rename.
// - Later the tables grow, and run.json and state.json are replaced. state.json lists how many bytes of each file belong to it, with a check of them
//   (`files`), and its rename is the commit: bytes behind those are not part of the run, and `read_run` and the next run leave them out.
// - Over an earlier run in the same folder everything is first written beside it, under names that nobody can guess (`run.json.8f3c….tmp`). A kill
//   between the renames that follow is seen from the list, and the file that fits is taken.
// - A commit returns when files and folder are on the disk.
//
// A folder belongs to one writer at a time (a lock on it, gone with its process); a second one is refused and told who has it. Files that no run
// wrote, and those that were changed since, are not replaced, nor are drafts removed that no run is known to have written, or that state.json
// needs. Links are not followed. What cannot be read is an error, never a file that is missing or somebody else's; `open` looks at everything
// before it changes anything.
//
// Failure (no directory, no permission, disk full) is a sticky status: the first is kept with its file, later records are dropped, `commit` and
// `finish` return it, and the folder goes back to its last commit, or to a later mark: a moment up to which all records had been written.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace judder::io {

class CsvReader;

/// Success, or the file and the reason in words.
struct FileStatus {
  std::string file;      ///< as given by the caller, joined with the name inside the folder
  std::string message;   ///< empty: success
  std::size_t line = 0;  ///< of a text that was read, from 1; 0 where a line makes no sense

  [[nodiscard]] bool ok() const { return message.empty(); }
  /// "file:line: message"
  [[nodiscard]] std::string text() const;
};

/// A column of trajectory.csv: numbers, or words for `mode(…)`.
struct ColumnName {
  std::string name{};
  bool words = false;
};

/// A row of events.csv. Times and impulses in the units of the model; `mode` is the key of the mode after the event.
struct EventRow {
  double time = 0;
  std::string_view kind{};    ///< impact, contact, lift-off, stick, slip, reversal, …
  std::string_view where{};   ///< contact, joint, constraint, switch or watch
  std::string_view detail{};  ///< words separated by one space; may be empty
  double normal_impulse = 0;
  std::array<double, 3> tangential_impulse{};
  double energy_before = 0;
  double energy_after = 0;
  std::uint64_t mode = 0;
  std::span<const double> state{};  ///< coordinates, velocities and states behind the event
};

/// What of a model the columns of events.csv hang on.
struct EventShape {
  int slip_components = 1;  ///< the most that a slip of the model has, 1 to 3
  int state = 0;  ///< coordinates, velocities and states: so many columns behind `t` of trajectory.csv
};

class RunWriter {
 public:
  RunWriter();
  ~RunWriter();
  RunWriter(RunWriter&&) noexcept;
  RunWriter& operator=(RunWriter&&) noexcept;

  /// Starts both tables. The first column must be `t`. Files of an earlier run stay until the first commit. With `go_on_from`, the state.json of the last commit in that folder, the tables go on behind the
  /// records that belong to it.
  FileStatus open(const std::filesystem::path& directory, std::span<const ColumnName> columns,
                  EventShape shape = {}, std::string_view go_on_from = {});

  /// `numbers` and `words` hold the cells of the number columns and of the word columns, each in the order of the columns.
  void row(std::span<const double> numbers, std::span<const std::string_view> words = {});
  void event(const EventRow& row);

  /// Makes everything up to here the content of the folder, on the disk. Waits for the disk: meant for moments some seconds apart.
  FileStatus commit(std::string_view run_json, std::string_view state_json);

  /// Commits and closes. Nothing can be written afterwards.
  FileStatus finish(std::string_view run_json, std::string_view state_json);

  /// Writes the records so far, without waiting for the disk, and remembers what a commit at this `time` would have said. Cheaper than a commit; lost
  /// with the process.
  void mark(double time, std::string run_json, std::string state_json);
  /// Bytes of records since the last mark or commit.
  [[nodiscard]] std::uint64_t unmarked() const;

  /// After a failure: commits the last mark that there is room for, and returns its time. The failure is forgotten then; it is the caller's to report.
  std::optional<double> commit_mark();
  /// After a failure before the first commit, in a new folder: gives up all records and forgets the failure, so that the state of the start can be
  /// committed, to go on from once there is room. False: there is no way, or an earlier run is there, which stays.
  bool give_up_records();

  /// Whether the folder holds a set of this run.
  [[nodiscard]] bool committed() const;
  /// Where the set of this run is if the folder could not get its name: a hidden folder beside it. The next run into the same place names it.
  [[nodiscard]] std::filesystem::path nameless() const;
  /// Whether it holds one of an earlier run, which this one has not replaced.
  [[nodiscard]] bool over_earlier() const;
  /// What somebody else has done to the folder during the run; nothing more is written there then.
  enum class Disturbed {
    no,
    gone,       ///< it, a file in it or its lock was moved, removed or replaced
    longer,     ///< a table was written to
    shorter,    ///< a table was cut, not below what was committed
    below_save  ///< a table was cut, and with it what was committed
  };
  [[nodiscard]] Disturbed disturbed() const;
  /// Whether the first failure was a disk or a quota that is full.
  [[nodiscard]] bool no_room() const;
  /// Commits so far. One of which only the last renames failed counts: whoever comes next finishes it.
  [[nodiscard]] std::uint64_t commits() const;
  /// The first failure so far.
  [[nodiscard]] const FileStatus& status() const;

  /// Written so far, with those that were there when the tables went on.
  [[nodiscard]] std::uint64_t rows() const;
  [[nodiscard]] std::uint64_t events() const;

 private:
  struct Files;
  std::unique_ptr<Files> files_;
};

/// A column in memory; exactly one of the two lists is used.
struct Column {
  std::string name{};
  std::vector<double> numbers;
  std::vector<std::string> words;
  [[nodiscard]] std::size_t size() const { return numbers.size() + words.size(); }
};

struct Event {
  double time = 0;
  std::string kind;
  std::string where;
  std::string detail;
  double normal_impulse = 0;
  std::array<double, 3> tangential_impulse{};
  double energy_before = 0;
  double energy_after = 0;
  std::uint64_t mode = 0;
  double bound = 0;  ///< of the error of its time, from engines that know one; not in events.csv
  std::vector<double>
      state{};  ///< behind the event, by RunData::event_columns; empty in folders of earlier versions
};

/// A run in memory. Any other table of columns is one too, without events and texts.
struct RunData {
  std::string name;  ///< of the folder or file, for legends
  std::vector<Column> columns;
  std::vector<Event> events;
  std::vector<std::string> event_columns;  ///< names of coordinates, velocities and states in events.csv
  std::string run_json;                    ///< text of the file; empty if there is none
  std::string state_json;                  ///< the same

  /// The column called `name`, or nullptr.
  [[nodiscard]] const Column* find(std::string_view name) const;
};

/// The column at which the coordinates, velocities and states behind an event begin, in the header of events.csv that `csv` has read.
[[nodiscard]] std::size_t event_state_begin(const CsvReader& csv);

/// Reads a run folder: what belongs to its last commit. `trajectory.csv` must be there; the other files may be missing.
FileStatus read_run(const std::filesystem::path& directory, RunData& out);

/// The tables of a run folder as streams, for who does not want them in memory: what belongs to its last commit.
struct OpenRun {
  std::unique_ptr<std::istream> trajectory, events;  ///< no events: there is no file
  std::filesystem::path trajectory_file, events_file;
  std::string run_json;  ///< unless it is longer than asked for
};
FileStatus open_run(const std::filesystem::path& directory, std::size_t most_json, OpenRun& out);
/// Any table: a regular file.
FileStatus open_table(const std::filesystem::path& file, std::unique_ptr<std::istream>& out);

/// Reads one CSV file with a header row into `out.columns`. A column holds words if its first cell is no number; a cell of
/// the other kind further down is an error with its line.
FileStatus read_columns(const std::filesystem::path& file, RunData& out);

/// `.NAME.tmp` beside a folder, under which it is written until its first commit.
[[nodiscard]] std::filesystem::path hidden_folder(const std::filesystem::path& directory);
/// The text of the folder's state.json, a regular file of bounded size.
FileStatus read_state_text(const std::filesystem::path& directory, std::string& out);
/// The same of its run.json.
FileStatus read_run_json(const std::filesystem::path& directory, std::string& out);

}  // namespace judder::io
