// Judder from C++: a model, its runs, everything by name.
//
//     const judder::Model press = judder::Model::load("press.toml");
//     if (!press.ok()) return complain(press.problems());
//     const judder::Run run = press.run({.until = 3.0});
//     for (const judder::RunEvent& event : run.events()) …      // kind, where, time, impulses
//     const double height = run.last("eta");
//
// A Model is compiled once and never changes: any number of threads may run it at the same time, each with values of its own for open
// parameters and for the start. with() gives the same model with other values folded in. A Run is what came of it, in memory; a Stepper is a run that the caller moves on.
//
// Failure is a value. A model that cannot be compiled is not ok() and its problems() are the messages of `judder check`; a run that did
// not reach its end says so in status(). Exceptions are thrown for misuse only: std::logic_error where a model that is not ok() is run,
// std::out_of_range for a name that does not exist.
//
// What stands behind it (the layers of docs/architecture.md) can be included as well; this page is enough for most programs (docs/cpp.md).
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judder/core/status.hpp"
#include "judder/core/verdict.hpp"
#include "judder/model/spec.hpp"

namespace judder::model {
class System;
}
namespace judder::io {
struct ModelRequest;
struct RunData;
}  // namespace judder::io

namespace judder {

/// A parameter ("mu") or a start value ("x", "x'") and what it is set to.
using Setting = std::pair<std::string, double>;

/// A function of the caller that formulas of a model may call by its name: {"ground", 2, [](std::span<const double> u) { … }} for gap = "y - ground(x, t)"
/// (docs/cpp.md). It gives the same numbers for the same arguments, has no corners and jumps, and may be called by several threads at once.
/// What it throws ends the run (Reason::call_failed). Where it has no value it returns NaN or throws std::domain_error (range_error, overflow_error), and the
/// engine tries a shorter step.
struct Function {
  std::string name;
  int arguments = 1;  ///< up to 8
  std::function<double(std::span<const double>)> value{};
  /// Optional: by argument, and by rows. What is not given is found by differences of the rest, for two orders at most.
  std::function<void(std::span<const double>, std::span<double>)> gradient{}, hessian{};
  /// In place of these three: value and partial derivatives up to any order asked for, at most `order`, as f, f_1, f_2, f_11, f_12, f_22, f_111, …
  std::function<void(std::span<const double>, int, std::span<double>)> partials{};
  int order = 0;  ///< that `partials` gives
  std::vector<double>
      sizes{};  ///< by argument: what change of it changes the function noticeably, for differences; empty: 1
};

struct ModelOptions {
  std::vector<std::string> variants{};  ///< by name; later ones win
  std::vector<Setting> set{};           ///< wins over variants
  /// Parameters that runs will set (RunOptions::parameters) without compiling the model each time.
  std::vector<std::string> open{};
  std::vector<Function> functions{};  ///< from outside: what formulas may call beside the language
};

/// What an observer answers: go on, or end the run here. Nothing later than that instant is kept or told.
enum class Going { on, stop };

/// A row while it is made: t, coordinates, velocities, states, output columns (Model::columns()).
using Row = std::span<const double>;

struct RunEvent {
  double time = 0;
  std::string kind;    ///< "impact", "lift-off", "stick", "slip", …: docs/run-folder.md
  std::string where;   ///< the element: "plane"
  std::string detail;  ///< "rest slip+"
  double normal_impulse = 0;
  std::vector<double> tangential_impulse;  ///< by slip component
  /// Of the whole collision, told at each of its contacts: what is lost in one instant is to be counted once. Negative: an impact law created energy.
  double energy_lost = 0;
  /// Coordinates, velocities and states behind the last event of this instant: columns 1 and on of a row (Model::columns()).
  std::vector<double> state{};
};

/// What is not given is as in the model file.
struct RunOptions {
  std::optional<double> from{}, until{};
  std::optional<double> tolerance{};  ///< error of a step relative to running scales, 1e-14 to 1e-2
  std::optional<double> step{};   ///< > 0: of engines with fixed steps; the others then have no error control
  std::optional<long> samples{};  ///< rows at equal times, both ends included
  std::optional<double> every{};  ///< time between rows, in place of `samples`
  std::optional<bool> event_rows{};  ///< two rows at each instant with events: the limits before and after it
  std::string engine{};              ///< "event", "exact" or "auto"
  /// Values for this run alone: parameters, and start values ("x", "x'", "z"). What is not given follows from the file, start expressions of
  /// other values included. The run is to the bit that of Model::with(). Parameters that are open, and start values, take a
  /// fraction of a compilation; other parameters, and values that give the equations another form (a factor of 0 or 1), take a whole one.
  std::vector<Setting> parameters{}, start{};
  bool referee = true;    ///< every law is checked independently (docs/referee.md); costs up to a tenth
  bool keep_rows = true;  ///< false: only events and the last row are kept

  // Observers are called in the thread of the run, while it runs.
  std::function<Going(Row)> on_row{};
  std::function<Going(const RunEvent&)> on_event{};
  const std::atomic<bool>* cancel = nullptr;  ///< set by another thread to end the run
};

/// What came of a run.
class Run {
 public:
  /// It ended as asked, and the referee found nothing.
  [[nodiscard]] bool ok() const { return status_.ok(); }
  [[nodiscard]] const Status& status() const { return status_; }
  /// An observer ended it.
  [[nodiscard]] bool stopped() const { return stopped_; }
  /// The engine that was used: "event" or "exact".
  [[nodiscard]] const std::string& engine() const { return engine_; }
  [[nodiscard]] const Verdict& verdict() const { return verdict_; }
  /// Instants at which several motions satisfied the laws and no derivative that is known told them apart: what follows may be another motion.
  [[nodiscard]] long undecided_ties() const { return undecided_ties_; }
  /// Its parameters or start values needed a compilation of their own.
  [[nodiscard]] bool compiled() const { return compiled_; }

  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] std::size_t rows() const { return columns_.empty() ? 0 : cells_.size() / columns_.size(); }
  [[nodiscard]] Row row(std::size_t i) const;
  /// All values of a column: "t", "x", "x'", or a name of [output.columns].
  [[nodiscard]] std::vector<double> column(std::string_view name) const;
  /// The value of a column in the last row.
  [[nodiscard]] double last(std::string_view name) const;

  [[nodiscard]] const std::vector<RunEvent>& events() const { return events_; }
  /// Times of the events of a kind, at one place or at any. Throws std::out_of_range for a kind that there is not.
  [[nodiscard]] std::vector<double> times(std::string_view kind, std::string_view where = {}) const;

  /// The same as the tables of a run folder, with modes in words: for figures (report/run_plots.hpp). Of the energies of an event it has the difference alone.
  [[nodiscard]] io::RunData data() const;

 private:
  friend class Model;
  [[nodiscard]] std::size_t number(std::string_view column) const;

  Status status_;
  bool stopped_ = false;
  bool compiled_ = false;
  long undecided_ties_ = 0;
  std::string engine_;
  Verdict verdict_;
  std::vector<std::string> columns_;
  std::vector<bool> words_;  ///< columns whose numbers stand for words
  std::size_t state_ = 0;    ///< coordinates, velocities and states among them
  std::vector<double> cells_;
  std::vector<RunEvent> events_;
};

class Model {
 public:
  [[nodiscard]] static Model load(const std::filesystem::path& file, const ModelOptions& options = {});
  /// The text of a model file. Data files that it names are not read.
  [[nodiscard]] static Model from_text(std::string text, const ModelOptions& options = {});
  /// A model that was written in C++ (model/spec.hpp).
  [[nodiscard]] static Model from_spec(model::Spec spec, const ModelOptions& options = {});

  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  [[nodiscard]] bool ok() const;
  /// False: the file of load() could not be read at all; problems() says why.
  [[nodiscard]] bool opened() const;
  /// Errors and warnings as `judder check` prints them, of the model with the variants that were chosen; empty: there are none.
  [[nodiscard]] const std::string& problems() const;
  [[nodiscard]] const std::string& title() const;
  /// Names of the cells of a row, "t" first.
  [[nodiscard]] const std::vector<std::string>& columns() const;
  /// Numbers among the parameters, in the order of the file.
  [[nodiscard]] const std::vector<Setting>& parameters() const;
  [[nodiscard]] double parameter(std::string_view name) const;

  /// The same model with other values, which win over the settings that it has already. A parameter that gets a value here is no longer open.
  [[nodiscard]] Model with(const std::vector<Setting>& settings) const;

  [[nodiscard]] Run run(const RunOptions& options = {}) const;

  /// The compiled equations, for the layers behind this page.
  [[nodiscard]] const model::System& system() const;
  /// What its author wrote.
  [[nodiscard]] const model::Spec& spec() const;
  /// The same model, with its variants and settings, for the functions of judder/tasks/. With functions from outside this model must live as long as what is
  /// made of it.
  [[nodiscard]] io::ModelRequest request() const;

 private:
  friend class Stepper;
  friend struct Chosen;  ///< what a run chooses: the equations for its values
  struct Parts;
  Model();
  [[nodiscard]] const Parts& parts() const;
  [[nodiscard]] Model folded(const std::vector<Setting>& settings) const;
  std::unique_ptr<Parts> parts_;
};

/// A run that the caller moves on: for controllers, games, co-simulation. The model must live as long.
///
///     judder::Stepper stepper(model, {.until = 10.0});
///     while (stepper.advance_to(stepper.time() + 0.01)) show(stepper.value("x"));
class Stepper {
 public:
  /// `samples`, `every`, `event_rows` and `keep_rows` mean nothing here.
  Stepper(const Model& model, const RunOptions& options = {});
  Stepper(Model&&, const RunOptions& = {}) = delete;  ///< it would be gone at once
  ~Stepper();
  Stepper(Stepper&&) noexcept;
  Stepper& operator=(Stepper&&) noexcept;

  /// Moves to `time`, or to the end of the run if that comes first. False: the run is over (status()), or `time` is not later than time().
  /// Not for observers of the same stepper (std::logic_error). What an observer throws passes through, and ends the run.
  bool advance_to(double time);

  [[nodiscard]] double time() const;
  [[nodiscard]] bool over() const;
  /// How it stands: Reason::done while it goes on.
  [[nodiscard]] const Status& status() const;
  /// The value of a column now: at the time asked for, or at the event that ended the run. Its "t" says of when; a run that was interrupted, or that
  /// failed inside a step, shows the last time asked for.
  [[nodiscard]] double value(std::string_view column) const;
  [[nodiscard]] Row row() const;
  /// What the last advance_to() met.
  [[nodiscard]] const std::vector<RunEvent>& events() const;
  /// Of the referee, about everything so far.
  [[nodiscard]] Verdict verdict() const;

 private:
  struct Parts;
  [[nodiscard]] const Parts& parts() const;
  std::unique_ptr<Parts> parts_;
};

}  // namespace judder
