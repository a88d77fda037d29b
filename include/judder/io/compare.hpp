// Several engines on one model file: the comparison as a table, as CSV and as JSON.
#pragma once

#include <optional>
#include <string>

#include "judder/analysis/compare.hpp"
#include "judder/io/load.hpp"

namespace judder::io {

struct CompareRequest {
  ModelRequest model;
  analysis::CompareOptions options;
  std::optional<double> until{};  ///< instead of that of [run]
};

struct CompareReport {
  LoadedModel model;  ///< its diagnostics say why nothing was compared
  bool done = false;
  analysis::Comparison comparison;
};

[[nodiscard]] CompareReport compare_engines(const CompareRequest& request);

/// engine, tolerance, step, events, agreeing, error, time error, order, steps, evaluations, windows, seconds; then what is to be known.
[[nodiscard]] std::string compare_text(const CompareReport& report);
/// The same columns with a header row (RFC 4180); empty cells where a number has no meaning.
[[nodiscard]] std::string compare_csv(const CompareReport& report);
[[nodiscard]] std::string compare_json(const CompareReport& report);

}  // namespace judder::io
