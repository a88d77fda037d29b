// What a PolyhedronSolver holds: the scaled and reduced problem, and its first feasible dictionary.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "contact/dictionary.hpp"
#include "judder/contact/polyhedron.hpp"

namespace judder::contact {

inline double largest(const double* row, std::size_t n) {
  double out = 0;
  for (std::size_t j = 0; j < n; ++j) out = std::max(out, std::abs(row[j]));
  return out;
}

/// Scaled variables X = x/column: E and G with rows of size one, right-hand sides of size one.
struct PolyhedronSolver::Data {
  Polyhedron p;
  PolyhedronOptions options;
  std::size_t n = 0, k = 0, m = 0;
  std::vector<double> column, equation_scale, inequality_scale;
  // X_pivot = value − Σ part X_free
  std::vector<std::size_t> pivot, free;
  std::vector<double> part;    ///< rank × d
  std::vector<double> value;   ///< rank
  std::vector<double> change;  ///< k × k: what elimination did to the equations, pivot rows first
  std::vector<double> G, g;    ///< reduced, rows of size one
  std::vector<double> reduced_scale;
  bool contradiction =
      false;  ///< the equations have no solution; the row of `change` that shows it is `witness`
  std::size_t witness = 0;
  std::optional<Dictionary> start;  ///< feasible
  LinearResult feasibility;
  // asked for later
  bool known = false;
  std::vector<std::uint8_t> implicit;
  std::vector<double> interior;
  std::size_t dimension = 0;

  [[nodiscard]] std::size_t d() const { return free.size(); }

  void scale();
  void eliminate();
  void reduce();
  void find_start();
  [[nodiscard]] std::vector<double> point_of(const std::vector<double>& y, bool direction) const;
  void multipliers_of(const std::vector<double>& reduced, std::span<const double> objective,
                      LinearResult& out) const;
  void certify(std::span<const double> objective, LinearResult& out) const;
  [[nodiscard]] std::vector<double> weights_of(std::span<const double> objective) const;
  [[nodiscard]] LinearResult maximise(std::span<const double> objective) const;
  [[nodiscard]] double slack(std::size_t i, const std::vector<double>& x) const;
  void explore();
};

}  // namespace judder::contact
