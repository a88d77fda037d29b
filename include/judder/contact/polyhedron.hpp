// Polyhedra, possibly unbounded or flat, and linear programs over them.
//
//     P = { x :  E x = e ,  G x ≤ g } ,        max c·x over P
//
// Equations are eliminated first (complete pivoting), then the rest is a dictionary: slacks s = g − G x as affine functions of as many
// of them as the polyhedron has directions. The simplex method walks from one to the next; ties go to the largest pivot, and after a
// while without progress to the lowest number (Bland), so it ends. Every answer has a certificate that is computed from the data alone:
//
//     optimal      c = Eᵀu + Gᵀy ,  y ≥ 0 ,  c·x = e·u + g·y            (no point is better)
//     empty        0 = Eᵀu + Gᵀy ,  y ≥ 0 ,  e·u + g·y < 0              (Farkas)
//     unbounded    E r = 0 ,  G r ≤ 0 ,  c·r > 0                        (a ray)
//
// Rows and columns are scaled by powers of two, so a change of units changes nothing but rounding. An inequality counts as satisfied
// when it is missed by `tolerance` times the scale of its row; so sets that are a single point or a line by a knife's edge are found.
//
// Vertices and rays are listed by walking over all dictionaries (their number is bounded); lines that lie in the polyhedron are listed
// apart, and vertices are then those of its section at right angles to some of its coordinates.
//
// None of the libraries for linear programs in Debian gives vertices, rays and certificates together at this size, and results would depend
// on its build; the problems here have a few dozen rows.
//
// V. Chvátal, Linear Programming (1983), chapters 2, 3, 8, 16; D. Avis, K. Fukuda, A pivoting algorithm for convex hulls and vertex
// enumeration, Discrete Comput. Geom. 8 (1992).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "judder/core/patience.hpp"

namespace judder::contact {

/// Rows by rows. Entries are finite.
struct Polyhedron {
  std::size_t variables = 0;
  std::vector<double> equations, equation_values;  ///< E (k × n), e
  std::vector<double> inequalities, bounds;        ///< G (m × n), g

  [[nodiscard]] std::size_t equation_count() const { return equation_values.size(); }
  [[nodiscard]] std::size_t inequality_count() const { return bounds.size(); }
  void add_equation(std::span<const double> row, double value);
  /// row · x ≤ bound
  void add_inequality(std::span<const double> row, double bound);
};

struct PolyhedronOptions {
  double tolerance = 1e-9;       ///< inequalities hold to this times the scale of their row; [1e-13, 1e-4]
  Patience* patience = nullptr;  ///< asked at each pivot; null: nobody
};

enum class LinearStatus : std::uint8_t {
  optimal,
  empty,
  unbounded,
  not_solved,  ///< too many pivots: the numbers are at war with each other
};
[[nodiscard]] const char* name(LinearStatus status);

struct LinearResult {
  LinearStatus status = LinearStatus::not_solved;
  double value = 0;       ///< c·x; infinite where unbounded
  std::vector<double> x;  ///< the best point; where unbounded, a point that the ray starts from
  std::vector<double> ray;
  std::vector<double> u, y;  ///< multipliers of equations and inequalities; of an empty set those of Farkas
  /// Largest violation of the certificate and of the point, relative to the terms of each row; infinite if there is none.
  double certificate = std::numeric_limits<double>::infinity();
};

struct Range {
  double low = 0, high = 0;  ///< may be infinite
};

/// Vertices and rays with the inequalities that hold there as equations (for rays: at its far end).
struct Extremes {
  struct Point {
    std::vector<double> x;
    std::vector<std::uint32_t> tight;  ///< ascending
  };
  std::vector<Point> vertices, rays;
  std::vector<std::vector<double>> lines;  ///< directions without an end, independent
  bool complete = true;                    ///< false: the list was cut
};

class PolyhedronSolver {
 public:
  explicit PolyhedronSolver(const Polyhedron& polyhedron, const PolyhedronOptions& options = {});
  ~PolyhedronSolver();
  PolyhedronSolver(PolyhedronSolver&&) noexcept;

  /// optimal: there is a point; empty, not_solved. With its certificate.
  [[nodiscard]] const LinearResult& feasibility() const;
  [[nodiscard]] bool feasible() const { return feasibility().status == LinearStatus::optimal; }

  [[nodiscard]] LinearResult maximise(std::span<const double> objective) const;
  /// Of objective · x over a polyhedron with points; NaN where not solved.
  [[nodiscard]] Range range(std::span<const double> objective) const;

  /// Inequalities that hold as equations at every point (1), by number. The polyhedron must have points, here and below.
  [[nodiscard]] const std::vector<std::uint8_t>& implicit();
  /// Number of independent directions in it; 0 for a single point.
  [[nodiscard]] std::size_t dimension();
  /// A point at which no inequality is tight that need not be.
  [[nodiscard]] const std::vector<double>& interior();
  /// Inequalities that bound it: their faces have one dimension less. Of several that bound the same face the first.
  [[nodiscard]] std::vector<std::uint32_t> facets();
  /// At most `limit` vertices and rays.
  [[nodiscard]] Extremes extremes(std::size_t limit) const;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace judder::contact
