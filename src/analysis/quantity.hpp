// Reads one quantity of a reference off a run.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "judder/analysis/verify.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder::analysis {

/// A number, or words, or why there is neither.
struct Reading {
  std::optional<double> number;
  std::optional<std::string> words;
  std::string problem;
};

/// The value of an expression of the parameters and lists of a model; `problem` says why there is none. A plain number must be finite, too. Throws
/// WorkStopped.
[[nodiscard]] std::optional<double> evaluate(const model::Value& value, const model::Compiled& model,
                                             Work& work, std::string& problem);

/// A name in a value that the model does not have.
struct Misnamed {
  Span span;
  std::string message, help;
};
/// The first of them: the place of an event, a column, a field. `columns` are those of the trajectory.
[[nodiscard]] std::optional<Misnamed> find_misnamed(const ReferenceValue& value, const model::System& system,
                                                    const std::vector<std::string>& columns);
/// "did you mean 'x'?", or an empty text.
[[nodiscard]] std::string suggestion(const std::string& word, const std::vector<std::string>& known);

/// What the expressions of a value come to in a run, which must have rows at these instants.
struct Instants {
  std::optional<double> at, from, to, exact;
  bool usable = false;  ///< every name is known, and every expression has a finite value
};

[[nodiscard]] Reading read_quantity(const ReferenceValue& value, const Instants& instants,
                                    const model::System& system, const simulate::Result& result);

/// "time of impact plane, number 3", "x at 0.5", …
[[nodiscard]] std::string quantity_in_words(const ReferenceValue& value);

}  // namespace judder::analysis
