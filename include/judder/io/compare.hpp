// A comparison of engines (analysis/compare.hpp) as a table, as CSV and as JSON.
#pragma once

#include <string>

#include "judder/analysis/compare.hpp"

namespace judder::io {

/// engine, tolerance, step, events, agreeing, error, time error, order, steps, evaluations, windows, seconds; then what is to be known.
[[nodiscard]] std::string compare_text(const analysis::Comparison& comparison);
/// The same columns with a header row (RFC 4180); empty cells where a number has no meaning.
[[nodiscard]] std::string compare_csv(const analysis::Comparison& comparison);
/// `model`: its file, as named.
[[nodiscard]] std::string compare_json(const analysis::Comparison& comparison, const std::string& model);

}  // namespace judder::io
