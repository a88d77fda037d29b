// The run folder: what a run leaves on disk, and how it is read again.
//
//     trajectory.csv   t, coordinates, velocities, states, output columns; at each instant with events two rows with the
//                      same t, the limits before and after
//     events.csv       one row per event, in order of time and, at one instant, of cause
//     run.json         what was run, with which options, how it ended
//     state.json       everything needed to go on
//
// A RunWriter streams: records go through one buffer per file into `trajectory.csv.tmp` and `events.csv.tmp`, so memory
// does not grow with time. The files get their names at the first `commit`, in an order that makes one promise: where
// there is a run.json, the other files are there and belong to it. After a commit the same files grow further, always by
// whole records; run.json and state.json are replaced by rename at each commit. A run that is interrupted therefore
// commits and leaves complete files; one that is killed leaves those of its last commit, perhaps with a few records more.
//
// Failure (no directory, no permission, disk full) is a sticky status: the first is kept with its file, later records are
// dropped, `commit` and `finish` return it. A table that could not be written is cut back to whole records and stays, if
// need be under its temporary name; a writer that is abandoned without failure removes its temporary files.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace judder::io {

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
};

class RunWriter {
 public:
  RunWriter();
  ~RunWriter();
  RunWriter(RunWriter&&) noexcept;
  RunWriter& operator=(RunWriter&&) noexcept;

  /// Makes the directory if needed and starts both tables. The first column must be `t`; `slip_components` (1 to 3) is the
  /// most components that a slip of the model has. Files of an earlier run stay until the first commit.
  FileStatus open(const std::filesystem::path& directory, std::span<const ColumnName> columns,
                  int slip_components = 1);

  /// `numbers` and `words` hold the cells of the number columns and of the word columns, each in the order of the columns.
  void row(std::span<const double> numbers, std::span<const std::string_view> words = {});
  void event(const EventRow& row);

  /// Makes everything up to here visible under the final names. Costs a few system calls: meant for interrupts and for
  /// events some seconds apart, not for every event.
  FileStatus commit(std::string_view run_json, std::string_view state_json);

  /// Commits and closes. Nothing can be written afterwards.
  FileStatus finish(std::string_view run_json, std::string_view state_json);

  /// The first failure so far.
  [[nodiscard]] const FileStatus& status() const;

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
};

/// A run in memory. Any other table of columns is one too, without events and texts.
struct RunData {
  std::string name;  ///< of the folder or file, for legends
  std::vector<Column> columns;
  std::vector<Event> events;
  std::string run_json;    ///< text of the file; empty if there is none
  std::string state_json;  ///< the same

  /// The column called `name`, or nullptr.
  [[nodiscard]] const Column* find(std::string_view name) const;
};

/// Reads a run folder. `trajectory.csv` must be there; the other files may be missing.
FileStatus read_run(const std::filesystem::path& directory, RunData& out);

/// Reads one CSV file with a header row into `out.columns`. A column holds words if its first cell is no number; a cell of
/// the other kind further down is an error with its line.
FileStatus read_columns(const std::filesystem::path& file, RunData& out);

}  // namespace judder::io
