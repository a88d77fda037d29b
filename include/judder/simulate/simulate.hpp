// Runs a compiled model with an engine and keeps what it gives.
//
// A row is t, coordinates, velocities, states, output columns, in the order of the model file; `mode(c)` columns hold the number of a word
// (mode_word). MemorySink keeps everything; other sinks (tasks/sinks.hpp) stream. Several go side by side (simulate/sinks.hpp).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judder/engines/engine.hpp"
#include "judder/model/compile.hpp"

namespace judder::simulate {

/// "open", "closed", "stick", "slip+", "slip-", "slip", "held", "slide": the words of mode(c), by number.
[[nodiscard]] std::string_view mode_word(int number);
[[nodiscard]] int mode_number(const model::System& system, const engines::Mode& mode, int relation);

/// Names of the cells of a row, "t" first.
[[nodiscard]] std::vector<std::string> column_names(const model::System& system);
/// Writes one row (column_names().size() cells) from the state in `work`.
void fill_row(const model::System& system, const engines::Mode& mode, model::Workspace& work, double* cells);

class MemorySink : public engines::Sink {
 public:
  explicit MemorySink(const model::System& system);
  void row(engines::RowKind kind, const engines::Mode& mode, model::Workspace& work) override;
  double* state_rows(std::size_t count) override;
  void event(const engines::Event& event, std::span<const double> state) override {
    events.push_back(event);
    event_states.insert(event_states.end(), state.begin(), state.end());
  }
  void interval(const engines::Interval& interval) override { intervals.push_back(interval); }
  void clear();
  /// Memory for this many rows; more may come.
  void reserve(std::size_t rows);

  std::vector<std::string> names;
  std::size_t width = 0;
  std::vector<double> cells;  ///< rows · width
  std::vector<engines::RowKind> kinds;
  std::vector<engines::Event> events;
  std::vector<double> event_states;  ///< Layout::integrated() numbers by event: the state behind its instant
  std::vector<engines::Interval> intervals;

  [[nodiscard]] std::size_t rows() const { return kinds.size(); }
  [[nodiscard]] double cell(std::size_t row, std::size_t column) const { return cells[row * width + column]; }
  /// Number of a column, or −1.
  [[nodiscard]] int column(std::string_view name) const;

 private:
  const model::System* system_;
  bool plain_;  ///< no output columns: a row is the state
};

/// Keeps nothing: for runs of which only the end matters, and for sinks that hear one thing only.
class NullSink : public engines::Sink {
 public:
  void row(engines::RowKind, const engines::Mode&, model::Workspace&) override {}
  void event(const engines::Event&, std::span<const double>) override {}
};

struct Result {
  engines::EngineResult end;
  MemorySink data;
  std::string engine;  ///< the engine used
};

/// Why the engine called `name` cannot run the system ("no such engine", "needs …"), or an empty string.
[[nodiscard]] std::string engine_problem(const model::System& system, std::string_view name);
/// The engine that a name stands for: 'auto' is 'exact' where that applies, else 'event'; others stand for themselves. Where 'exact' cannot go on in the
/// middle of a run, 'auto' goes on with 'event' (EngineResult::gave_way).
[[nodiscard]] std::string engine_used(const model::System& system, std::string_view name);
/// The names of the engines that exist.
[[nodiscard]] const std::vector<std::string>& engine_names();

/// Runs with the engine called `name` into any sink. The referee judges the run (docs/referee.md) unless EngineOptions::referee is false; what
/// breaks a law is in EngineResult::verdict, and a run that would have ended well ends with Reason::laws_violated.
[[nodiscard]] engines::EngineResult run(const model::System& system, std::string_view name,
                                        const engines::EngineOptions& options, engines::Sink& sink,
                                        const engines::Moment* resume = nullptr);

/// A run in several legs, each of which goes on where the one before it ended: the engine keeps its memory from one to the next, and the referee
/// judges them as one run.
class Legs {
 public:
  /// `options` and `resume` are those of the whole run. An observer named there is told every leg, after the referee.
  Legs(const model::System& system, std::string_view name, const engines::EngineOptions& options,
       const engines::Moment* resume = nullptr);
  ~Legs();
  Legs(Legs&&) noexcept;
  /// One leg. Its `observer` and `referee` are those of the whole run.
  [[nodiscard]] engines::EngineResult run(const engines::EngineOptions& options, engines::Sink& sink,
                                          const engines::Moment* resume);
  /// After the last leg: the verdict on all of them into its result, as run() above gives it.
  void judge(engines::EngineResult& result);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Counts and extremes of an earlier leg into the result of the one that went on.
void add_earlier(const engines::EngineResult& earlier, engines::EngineResult& result);
/// A run in which something was found does not end well.
void condemn(const Verdict& verdict, Status& status);
/// A finding as one sentence.
[[nodiscard]] std::string finding_text(const Finding& finding);
[[nodiscard]] Result simulate(const model::System& system, const engines::EngineOptions& options,
                              std::string_view name = "event");

}  // namespace judder::simulate
