// Basins of attraction of a model file: where the motions from a grid of starts, or from random ones, end up.
//
// Two axes make a picture; any number of them, or random starts, give shares alone. With `refine` a grid is made coarse first, and only the cells
// whose corners end differently are divided, down to the step that was asked for: the rest takes the label that stands around it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "judder/analysis/attractors.hpp"
#include "judder/tasks/sweep.hpp"

namespace judder::tasks {

struct BasinRequest {
  ManyRequest many;
  std::vector<analysis::Plan::Axis> axes;
  std::size_t random = 0;  ///< > 0: so many random starts in the ranges of the axes
  std::uint64_t seed = 1;
  bool refine = false;
  double bound = 0;  ///< of what counts as unbounded; 0: a million times the largest start, at least 1e6
  std::filesystem::path output{};  ///< the array: .npz; empty: none
};

struct BasinReport {
  RunsReport runs;
  std::vector<std::string> components;  ///< names of the state
  std::vector<analysis::Attractor> attractors;
  std::vector<int> labels;  ///< by member, the last axis changes fastest
  std::vector<std::size_t> shape;
  analysis::Boundary boundary;  ///< of a grid of two axes
  std::size_t runs_made = 0;    ///< fewer than labels where it was refined
  bool random = false;
};

[[nodiscard]] BasinReport basin(const BasinRequest& request);

/// A table of the attractors with their shares.
[[nodiscard]] std::string basin_text(const BasinReport& report);
[[nodiscard]] std::string basin_json(const BasinReport& report);

}  // namespace judder::tasks
