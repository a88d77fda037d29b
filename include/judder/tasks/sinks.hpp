// What is made of a run while it runs: sinks that do one thing each, for simulate::ManySinks.
//
//     Readout       evaluates a row once; the others read it there, so it comes before them
//     FolderSink    rows and events to disk
//     ColumnRecord  extremes of the columns, and which of them have no value somewhere
//     ContactRecord intervals, hardest impacts, energy that impact laws create
//     EventRecord   the first events, for a table
//     StructureRecord  names of the source for the modes
//     ProgressSink  how far the run is, from time to time
//
// Nothing grows with time, and after the first row a row allocates nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judder/analysis/verify.hpp"
#include "judder/engines/engine.hpp"
#include "judder/io/json.hpp"
#include "judder/io/run_folder.hpp"
#include "judder/io/run_past.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder::tasks {

/// A clock that is looked at every few thousandths of a second: a look costs more than a step of a small model.
class StrideClock {
 public:
  using Clock = std::chrono::steady_clock;

  /// To be asked at every step: whether this is one at which the clock was looked at.
  [[nodiscard]] bool looks();
  /// The time of the last look.
  [[nodiscard]] Clock::time_point now() const { return looked_; }

 private:
  long steps_ = 0;   // to the next look
  long stride_ = 1;  // from one to the next
  Clock::time_point looked_ = Clock::now();
};

/// The present row as cells of trajectory.csv, and the present event in words.
class Readout final : public engines::Sink {
 public:
  /// `coordinates` false: rows without coordinates and velocities.
  explicit Readout(const model::System& system, bool coordinates = true);
  void row(engines::RowKind kind, const engines::Mode& mode, model::Workspace& work) override;
  void event(const engines::Event& event, std::span<const double> state) override;

  [[nodiscard]] const std::vector<io::ColumnName>& columns() const { return columns_; }
  [[nodiscard]] bool complete() const { return left_out_ == 0; }
  [[nodiscard]] double time() const { return cells_[0]; }
  [[nodiscard]] std::span<const double> numbers() const { return numbers_; }
  [[nodiscard]] std::span<const std::string_view> words() const { return words_; }
  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] const std::string& detail() const { return detail_; }

 private:
  [[nodiscard]] bool left_out(std::size_t column) const { return column > 0 && column <= left_out_; }

  const model::System& system_;
  std::size_t left_out_ = 0;  ///< columns behind the time
  std::vector<io::ColumnName> columns_;
  std::vector<double> cells_, numbers_;
  std::vector<std::string_view> words_;
  std::string where_, detail_;
};

class ColumnRecord final : public simulate::NullSink {
 public:
  explicit ColumnRecord(const Readout& readout);
  /// Extremes of the rows between two times only.
  void use_window(double from, double to) { from_ = from, to_ = to; }
  /// Before the run: what is known of the rows before it. Columns go by name.
  void take_up(const std::vector<io::Extremes>& extremes, std::vector<std::string> undefined);
  /// As it was before the run.
  void forget();

  void row(engines::RowKind kind, const engines::Mode& mode, model::Workspace& work) override;

  [[nodiscard]] const std::vector<io::Extremes>& extremes() const { return extremes_; }
  /// Those that were taken up.
  [[nodiscard]] const std::vector<io::Extremes>& extremes_before() const { return extremes_before_; }
  /// One sentence for each column that is no finite number somewhere.
  [[nodiscard]] const std::vector<std::string>& undefined() const { return undefined_; }
  /// How these sentences begin.
  static constexpr std::string_view kUndefined = "the column '";

 private:
  void note_undefined(const std::string& column, double value);

  const Readout& readout_;
  double from_ = -INFINITY, to_ = INFINITY;
  std::vector<io::Extremes> extremes_, extremes_before_;
  std::vector<std::string> undefined_, undefined_before_;
};

/// What contacts have borne.
struct Loads {
  std::vector<std::pair<std::string, double>> hardest;  ///< contact and its largest normal impulse
  io::RunPast::Gains gains;                             ///< impacts in which a law created energy
  std::uint64_t interval_count = 0;
  std::vector<io::RunSummary::Interval> intervals;  ///< the first of them
};

class ContactRecord final : public simulate::NullSink {
 public:
  ContactRecord(const model::System& system, const Readout& readout, std::size_t most_intervals)
      : system_(system), readout_(readout), most_intervals_(most_intervals) {}
  /// Before the run: what is known of the run before it.
  void take_up(Loads before);
  /// As it was before the run.
  void forget() { loads_ = before_; }
  /// Hardest impacts are also kept for the time between these.
  void use_window(double from, double to) { from_ = from, to_ = to; }

  void event(const engines::Event& event, std::span<const double> state) override;
  void interval(const engines::Interval& interval) override;

  [[nodiscard]] const Loads& loads() const { return loads_; }
  [[nodiscard]] const std::vector<std::pair<std::string, double>>& hardest_in_window() const {
    return in_window_;
  }

 private:
  const model::System& system_;
  const Readout& readout_;
  std::size_t most_intervals_;
  double from_ = INFINITY, to_ = -INFINITY;
  std::vector<std::pair<std::string, double>> in_window_;
  Loads loads_, before_;
};

class EventRecord final : public simulate::NullSink {
 public:
  EventRecord(const Readout& readout, std::size_t most) : readout_(readout), most_(most) {}
  /// Those between two times only.
  void use_window(double from, double to) { from_ = from, to_ = to; }
  void event(const engines::Event& event, std::span<const double> state) override;

  [[nodiscard]] const std::vector<io::Event>& events() const { return events_; }
  /// All that were told, those that are not kept too.
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  const Readout& readout_;
  double from_ = -INFINITY, to_ = INFINITY;
  std::uint64_t count_ = 0;
  std::size_t most_;
  std::vector<io::Event> events_;
};

class StructureRecord final : public engines::Sink {
 public:
  /// `structures`: the names, of which the first that fits a mode is taken.
  StructureRecord(const model::System& system, std::vector<analysis::Structure> structures, std::size_t most)
      : system_(system), structures_(std::move(structures)), most_(most) {}
  /// Names for the events between two times only.
  void use_window(double from, double to) { from_ = from, to_ = to; }
  void row(engines::RowKind kind, const engines::Mode& mode, model::Workspace& work) override;
  void event(const engines::Event& event, std::span<const double> state) override;

  /// At the start.
  [[nodiscard]] const std::string& first() const { return first_; }
  /// After the instant of each of the first `most` events, at the last event of an instant; empty at the others.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  const model::System& system_;
  std::vector<analysis::Structure> structures_;
  std::size_t most_;
  double from_ = -INFINITY, to_ = INFINITY;
  bool listed_ = false;  ///< the last event was one of the window
  std::string first_;
  std::vector<std::string> names_;
};

class ProgressSink final : public simulate::NullSink {
 public:
  /// Told every fifth of a second: share of the way, events so far.
  using Tell = std::function<void(double share, long events)>;
  ProgressSink(Tell tell, const engines::EngineOptions& options, long events_before = 0)
      : tell_(std::move(tell)), from_(options.from), until_(options.until), events_(events_before) {}

  void event(const engines::Event&, std::span<const double>) override { ++events_; }
  void progress(double time) override;

 private:
  Tell tell_;
  double from_, until_;
  long events_;
  StrideClock clock_;
  StrideClock::Clock::time_point shown_ = clock_.now();
};

/// Streams into a run folder (io/run_folder.hpp), and saves there from time to time.
class FolderSink final : public engines::Sink {
 public:
  /// Makes what is so far the content of the folder. `commit`: on the disk; otherwise as a mark to go back to. The length of what was written beside
  /// the tables.
  using Save = std::function<std::size_t(const engines::EngineResult& so_far, bool commit)>;

  /// `stop` is set when the folder cannot be written.
  FolderSink(const Readout& readout, std::atomic<bool>& stop) : readout_(readout), stop_(stop) {}
  /// As RunWriter::open.
  io::FileStatus open(const std::filesystem::path& folder, const model::System& system,
                      std::string_view go_on_from);
  /// Instead of open(): nothing is written, records are counted only.
  void keep_nothing() { keeps_ = false; }
  /// Before the run.
  void use_save(Save save) { save_ = std::move(save); }

  void row(engines::RowKind kind, const engines::Mode& mode, model::Workspace& work) override;
  void event(const engines::Event& event, std::span<const double> state) override;
  void progress(double time) override;
  bool wants_state() override { return keeps_ && (due_ || writer_.unmarked() >= mark_distance_); }
  void state(const engines::EngineResult& so_far) override;

  [[nodiscard]] io::RunWriter& writer() { return writer_; }
  /// Written, or counted.
  [[nodiscard]] std::uint64_t rows() const { return keeps_ ? writer_.rows() : rows_; }
  [[nodiscard]] std::uint64_t events() const { return keeps_ ? writer_.events() : events_; }

 private:
  using Clock = StrideClock::Clock;
  static constexpr std::uint64_t kFirstMark = std::uint64_t{1} << 14U;
  static constexpr std::uint64_t kLongestMark = std::uint64_t{1} << 20U;
  static constexpr Clock::duration kFirstDistance = std::chrono::seconds(1);
  static constexpr Clock::duration kLongestDistance = std::chrono::seconds(30);
  static constexpr Clock::duration kLongestWait = std::chrono::seconds(50);

  void stop_if_failed() {
    if (!writer_.status().ok()) stop_ = true;
  }

  const Readout& readout_;
  std::atomic<bool>& stop_;
  io::RunWriter writer_;
  bool keeps_ = true;
  std::uint64_t rows_ = 0, events_ = 0;  ///< where nothing is kept
  int event_state_ = 0;                  ///< numbers of the state in the rows of events.csv
  Save save_;
  StrideClock clock_;
  Clock::duration distance_ = kFirstDistance;
  Clock::time_point commit_at_ = clock_.now() + kFirstDistance;
  bool due_ = false;
  std::uint64_t mark_distance_ = kFirstMark;  // in bytes of rows and events
};

}  // namespace judder::tasks
