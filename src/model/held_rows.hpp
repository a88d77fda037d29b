// Constraints at the start of a run. Private to the model layer.
#pragma once

#include <cstddef>
#include <vector>

#include "judder/core/work.hpp"

namespace judder::model {

constexpr double kRoundOff = 1e-12;  ///< relative to the terms that make up a gap or a velocity
constexpr double kLargest =
    1e150;  ///< energies and error measures are squares: beyond its root nothing is computed

/// A constraint at the start: w·a + zeta = 0 for the accelerations a.
struct HeldRow {
  std::size_t relation;
  std::vector<double> w;
  double zeta;
};

struct Contradiction {
  std::size_t relation;
  double difference;
};

[[nodiscard]] std::vector<Contradiction> contradictions(const std::vector<HeldRow>& held, std::size_t n,
                                                        Work& budget);

}  // namespace judder::model
