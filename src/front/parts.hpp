// What the classes of judder.hpp share behind it.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "judder/engines/engine.hpp"
#include "judder/io/load.hpp"
#include "judder/judder.hpp"
#include "judder/model/compile.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder {

/// A Function with what a formula needs of it.
class Called final : public expr::Outside {
 public:
  explicit Called(const Function& function) : function_(function) {}
  [[nodiscard]] expr::OutsideFunction entry() const;

 private:
  void compute(std::span<const double> u, int order, std::span<double> out) const override;
  const Function& function_;
};

struct Model::Parts {
  /// Keeps the functions of `options` for what is compiled, as long as this lives.
  [[nodiscard]] std::vector<expr::OutsideFunction> call_functions();
  std::deque<Called> called;

  model::Spec spec;
  std::string name, text;        ///< of the file, for messages
  std::filesystem::path folder;  ///< of its data files
  bool written = false;          ///< in C++: there is no text
  ModelOptions options;
  bool opened = true;           // false: there was no file to read
  std::string reader_problems;  ///< of the file alone; a model that has them cannot be compiled
  model::Compiled compiled;
  std::string problems;
  std::vector<std::string> columns;

  /// Compiles `spec` with `options` and tells what is wrong.
  void compile();
  /// What was read and compiled.
  void take(io::LoadedModel loaded);
  /// The model with its open parameters open. Made when it is asked for first, by whatever thread; null: there is none.
  [[nodiscard]] const model::Form* form() const;
  [[nodiscard]] model::CompileOptions how() const;
  /// Makes the form of a model that has open parameters, and tells what is wrong with them.
  void open();

 private:
  mutable std::once_flag once_;
  mutable model::CompiledForm form_;
};

/// The equations of one run: those of the model, or others for its parameters and start values.
struct Chosen {
  Chosen(const Model& model, const Model::Parts& parts, const RunOptions& options);

  const model::System* system = nullptr;  ///< null: there are none for these values
  model::RunOptions run;
  std::string problem;
  bool compiled = false;

 private:
  std::optional<model::System> bound_;
  std::unique_ptr<Model> other_;
};

/// The options of the model with those that are given here.
[[nodiscard]] engines::EngineOptions engine_options(const model::RunOptions& model, const RunOptions& given);
/// The engine that was asked for, by the run or by the model.
[[nodiscard]] std::string engine_name(const model::RunOptions& model, const RunOptions& given);
[[nodiscard]] RunEvent run_event(const model::System& system, const engines::Event& event,
                                 std::span<const double> state);
/// Number of a column; throws std::out_of_range where there is none.
[[nodiscard]] std::size_t column_number(const std::vector<std::string>& columns, std::string_view name);

/// Keeps rows and events as a Run has them, and asks the observers whether to go on.
class Keeper final : public engines::Sink {
 public:
  Keeper(const model::System& system, const RunOptions& options);
  void row(engines::RowKind kind, const engines::Mode& mode, model::Workspace& work) override;
  void event(const engines::Event& event, std::span<const double> state) override;
  void progress(double time) override;

  /// Set where an observer or the caller ends the run.
  [[nodiscard]] const std::atomic<bool>& stop() const { return stop_; }
  [[nodiscard]] bool stopped_by_observer() const { return by_observer_; }
  [[nodiscard]] double stop_time() const { return stop_time_; }

  std::vector<double> cells;  ///< rows; only the last of them where rows are not kept
  std::vector<RunEvent> events;
  bool keep_rows = true;
  bool samples_only = false;  ///< observers do not hear of rows at events

 private:
  void answer(Going going, double time);
  /// Whether that is behind the moment at which an observer has ended the run: an engine hears of it at the end of its step.
  [[nodiscard]] bool late(double time) const { return by_observer_ && !samples_only && time > stop_time_; }

  const model::System& system_;
  const RunOptions& options_;
  std::size_t width_;
  std::atomic<bool> stop_{false};
  bool by_observer_ = false;
  double stop_time_ = 0;
};

}  // namespace judder
