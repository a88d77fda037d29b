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

/// The value of an expression of parameters; `problem` says why there is none.
[[nodiscard]] std::optional<double> evaluate(const model::Value& value,
                                             const std::vector<std::pair<std::string, double>>& parameters,
                                             std::string& problem);

/// Instants of the value that the run must have rows at.
struct Instants {
  std::optional<double> at, from, to;
};

[[nodiscard]] Reading read_quantity(const ReferenceValue& value, const Instants& instants,
                                    const model::System& system, const simulate::Result& result);

/// "time of impact plane, number 3", "x at 0.5", …
[[nodiscard]] std::string quantity_in_words(const ReferenceValue& value);

}  // namespace judder::analysis
