// Several engines on one model file: from a request to the comparison.
#pragma once

#include <optional>

#include "judder/analysis/compare.hpp"
#include "judder/io/load.hpp"

namespace judder::tasks {

struct CompareRequest {
  io::ModelRequest model;
  analysis::CompareOptions options;
  std::optional<double> until{};  ///< instead of that of [run]
};

struct CompareReport {
  io::LoadedModel model;  ///< its diagnostics say why nothing was compared
  bool done = false;
  analysis::Comparison comparison;
};

[[nodiscard]] CompareReport compare_engines(const CompareRequest& request);

}  // namespace judder::tasks
