// From the arguments of a command to a compiled model: read, compile, and every message in one list.
//
// This is what all verbs with a MODEL argument share: the file, variants, settings. Messages of the reader and of the
// compiler are joined; where the reader already complained about a place the compiler's echo is left out.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "judder/core/diagnostics.hpp"
#include "judder/io/reader.hpp"
#include "judder/model/compile.hpp"

namespace judder::io {

/// FILE [--variant NAME]… [--set name=value]…
struct ModelRequest {
  std::filesystem::path file{};
  /// The text of the model, in place of what stands in `file`, which is then its name in messages alone.
  std::optional<std::string> text{};
  std::filesystem::path folder{};       ///< where the data files of `text` are; empty: they are errors
  std::vector<std::string> variants{};  ///< later ones win
  std::vector<model::Named> set{};      ///< wins over variants
  std::string engine{};                 ///< replaces `engine` of [run]; empty: as in the file
  std::string until{};  ///< replaces `until` of [run]: an expression of parameters; empty: as in the file
  std::string impact_law{};  ///< replaces the impact law of every contact: its word; empty: as in the file
  std::vector<expr::OutsideFunction> functions{};  ///< from outside, that formulas of the model may call
  std::vector<std::string> free{};                 ///< parameters that stay inputs of the System
  double work = 1;                                 ///< so many times the usual work may be spent on compiling
  const std::atomic<bool>* cancel = nullptr;       ///< set from outside to stop compiling
};

/// The file, or the text.
[[nodiscard]] ModelFile read_model(const ModelRequest& request);
/// What the compiler is told of it.
[[nodiscard]] model::CompileOptions compile_options(const ModelRequest& request);

/// "name=value" of --set; nothing if there is no name or no value.
[[nodiscard]] std::optional<model::Named> parse_setting(const std::string& text);

struct LoadedModel {
  ModelFile file;
  model::Compiled compiled;  ///< without a system if there are errors
  Diagnostics diagnostics;   ///< of the file and of the equations
  bool misused = false;      ///< the model is well; an option beside it (end time, tolerance, step) is not

  [[nodiscard]] bool ok() const { return compiled.system.has_value() && !diagnostics.has_errors(); }
};

[[nodiscard]] LoadedModel load_model(const ModelRequest& request);
/// The same of what has been read already; `request.file` is not looked at.
[[nodiscard]] LoadedModel load_model(ModelFile file, const ModelRequest& request);

/// The same with the parameters as inputs, so that formulas keep their names (CompileOptions::free). Parameters that cannot be, because they count elements
/// or decide what the model is, are listed in `numbers` and stay numbers. `known` is the model as load_model() gave it, without errors.
[[nodiscard]] LoadedModel load_with_names(const ModelFile& file, const ModelRequest& request,
                                          const LoadedModel& known, std::vector<std::string>& numbers);

/// What keeps the engine of [run] or of the request from running a model that has compiled, as an error at its place.
void check_engine(const ModelRequest& request, LoadedModel& model);
/// "the model is not linear between events: force on y: y^3 at line 12"
[[nodiscard]] std::string not_linear_text(const LoadedModel& model);

/// The same for a check of the whole file, also of what only a run asks for: unless variants are named, the errors of each variant are reported as well.
[[nodiscard]] LoadedModel check_model(const ModelRequest& request);

/// "press.toml: 3 coordinates, 1 contact, 1 friction joint; 0 warnings" for a model without errors.
[[nodiscard]] std::string check_summary(const LoadedModel& loaded);

}  // namespace judder::io
