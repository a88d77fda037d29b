// What the classes of judder.hpp share behind it.
#pragma once

#include <string>
#include <vector>

#include "judder/engines/engine.hpp"
#include "judder/judder.hpp"
#include "judder/model/compile.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder {

struct Model::Parts {
  model::Spec spec;
  std::string name, text;  ///< of the file, for messages
  ModelOptions options;
  std::string reader_problems;  ///< of the file alone; a model that has them cannot be compiled
  model::Compiled compiled;
  std::string problems;
  std::vector<std::string> columns;

  /// Compiles `spec` with `options` and tells what is wrong.
  void compile();
};

/// The options of the model with those that are given here.
[[nodiscard]] engines::EngineOptions engine_options(const model::RunOptions& model, const RunOptions& given);
/// The engine that was asked for, by the run or by the model.
[[nodiscard]] std::string engine_name(const model::RunOptions& model, const RunOptions& given);
[[nodiscard]] RunEvent run_event(const model::System& system, const engines::Event& event);
/// Number of a column; throws std::out_of_range where there is none.
[[nodiscard]] std::size_t column_number(const std::vector<std::string>& columns, std::string_view name);

/// Keeps rows and events as a Run has them, and asks the observers whether to go on.
class Keeper final : public engines::Sink {
 public:
  Keeper(const model::System& system, const RunOptions& options);
  void row(engines::RowKind kind, const engines::Mode& mode, model::Workspace& work) override;
  void event(const engines::Event& event) override;
  void progress(double time) override;

  /// Set where an observer or the caller ends the run.
  [[nodiscard]] const std::atomic<bool>& stop() const { return stop_; }
  [[nodiscard]] bool stopped_by_observer() const { return by_observer_; }

  std::vector<double> cells;  ///< rows; only the last of them where rows are not kept
  std::vector<RunEvent> events;
  bool keep_rows = true;
  bool samples_only = false;  ///< observers do not hear of rows at events

 private:
  void answer(Going going);

  const model::System& system_;
  const RunOptions& options_;
  std::size_t width_;
  std::atomic<bool> stop_{false};
  bool by_observer_ = false;
};

}  // namespace judder
