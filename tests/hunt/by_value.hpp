// The rows of a run against the laws, read by value: an own evaluation of the drawn expressions, Lagrange's equations by differences, and
// nothing of the library but the numbers in the rows.
//
//     M v̇ = h + Σ w_N λ_N + Σ w_T λ_T ,   λ_N ≥ 0 ,   g ≥ 0 ,   g λ_N = 0 ,   |λ_T| ≤ μ λ_N at rest ,   λ_T = −μ λ_N sign γ in motion
//
// Rows so close to the surface of a switch that its side means nothing are left out.
#pragma once

#include <string>
#include <vector>

#include "draft.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder::hunt {

/// Output columns that the check reads: names and expressions.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> columns_to_check(const Draft& draft);

struct Contradiction {
  std::string what;  ///< empty: none found
  double time = 0;
};

/// The first row that contradicts the laws. `data` has the columns above. `rows` counts the rows judged.
[[nodiscard]] Contradiction contradiction(const Draft& draft, const simulate::MemorySink& data, long& rows);

}  // namespace judder::hunt
