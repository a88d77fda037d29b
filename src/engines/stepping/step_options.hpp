// The options of an engine with fixed steps, as its row in the registry describes them: [run.moreau] theta = 0.5.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judder/engines/engine.hpp"
#include "judder/model/vocabulary.hpp"

namespace judder::engines {

/// Reads what a run says of one engine; what is left out has the fallback of its field.
class StepOptions {
 public:
  StepOptions(const EngineOptions& options, std::string_view engine,
              std::span<const model::OptionField> fields)
      : options_(options), engine_(engine), fields_(fields) {}

  [[nodiscard]] double number(std::string_view key) const;
  [[nodiscard]] std::string word(std::string_view key) const;

 private:
  [[nodiscard]] const model::RunOptions::EngineOption* given(std::string_view key) const;
  [[nodiscard]] const std::string& fallback(std::string_view key) const;

  const EngineOptions& options_;
  std::string_view engine_;
  std::span<const model::OptionField> fields_;
};

/// Why the options of this engine make no run (a number out of its bounds, a word that it does not know), or an empty string: callers of the library pass them
/// without a model file.
[[nodiscard]] std::string step_options_problem(const EngineOptions& options, std::string_view engine,
                                               std::span<const model::OptionField> fields);

}  // namespace judder::engines
