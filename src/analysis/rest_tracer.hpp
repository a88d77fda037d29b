// Points, dimension and extent of the set of rests of one choice of statuses (analysis/rest_equations.hpp).
//
// The set is F(u) = 0 with conditions ≥ 0, and F has fewer equations than unknowns, or dependent ones. Points are found by Newton's method with
// the shortest step in scaled unknowns. The dimension at a point is the number of independent directions in which there are points near by: of the directions
// of the null space of ∂F/∂u those which the correction of a short step does not take back. So x³ = 0 has dimension 0, though its slope
// vanishes, and x³ = λ_T has dimension 1 at zero, too.
//
// One dimension: the curve is followed from the point both ways by its arc length, to the place where a condition fails, found by bisection. Coordinates that turn on the
// way are found where their rate vanishes. More dimensions: each coordinate, reaction and condition is driven to its extreme by linear programs along the tangent
// space, in a box that shrinks where the set bends, corrected onto the set and onto what is tight. That is a local extreme; where
// the set is not convex another one may lie further.
//
// E. L. Allgower, K. Georg, Introduction to Numerical Continuation Methods (2003), chapters 3 and 6. Deflation: P. E. Farrell, Á. Birkisson, S. W. Funke, Deflation techniques for finding distinct solutions of
// nonlinear partial differential equations, SIAM J. Sci. Comput. 37 (2015).
#pragma once

#include <vector>

#include "analysis/rest_equations.hpp"

namespace judder::analysis {

/// What a trace has found out.
struct TracedRests {
  std::size_t dimension = 0;
  std::vector<double> inside;     ///< an inner point
  std::vector<double> low, high;  ///< by unknown; infinite where the set goes on further than it was followed
  struct End {
    std::vector<double> u;
    RestCondition condition;  ///< that fails beyond it
  };
  std::vector<End> ends;
  bool whole = true;                        ///< false: it was lost on the way, and may be larger
  std::vector<std::vector<double>> points;  ///< along it
};

class RestTracer {
 public:
  RestTracer(RestEquations& equations, double tolerance, Patience& patience)
      : equations_(equations), tolerance_(tolerance), patience_(patience) {}

  /// A root of F near u. `known`: roots that are not wanted again. `error`: what is left, relative to its terms.
  [[nodiscard]] bool solve(std::vector<double>& u, double& error,
                           const std::vector<std::vector<double>>& known = {});
  /// Everything about the set around a root that satisfies the conditions.
  [[nodiscard]] TracedRests trace(const std::vector<double>& u);
  /// Whether a root belongs to the set.
  [[nodiscard]] bool contains(const TracedRests& set, const std::vector<double>& u);
  /// Whether two roots are one, found twice.
  [[nodiscard]] bool same_root(const std::vector<double>& a, const std::vector<double>& b);
  /// The largest range of an unknown, in scales.
  [[nodiscard]] double extent(const TracedRests& set) const { return distance(set.high, set.low); }
  /// Largest difference in scaled unknowns.
  [[nodiscard]] double distance(const std::vector<double>& a, const std::vector<double>& b) const;

 private:
  using Row = std::vector<double>;
  /// Further equations of a correction: normal·(u − point)/scale = 0, and conditions that are zero.
  struct Border {
    Row normal, point;
    std::vector<std::size_t> tight;
  };
  [[nodiscard]] bool newton(Row& u, double& error, const Border* border, const std::vector<Row>& known);
  [[nodiscard]] bool noise_only(const Row& u, const Row& r, const std::vector<std::uint8_t>& open);
  void shortest(std::vector<double>& a, std::size_t rows, Row& b, Row& step);
  [[nodiscard]] std::vector<Row> null_space(const Row& u);
  [[nodiscard]] std::vector<Row> directions(const Row& u);
  void condition_slopes(const Row& u, std::size_t count, std::vector<double>& out);
  void widen(TracedRests& out, const Row& u) const;
  [[nodiscard]] bool follow(const Row& from, const Row& direction, TracedRests& out);
  [[nodiscard]] bool step_along(const Row& from, const Row& tangent, double length, Row& to, Row& turned);
  void turn(const Row& from, const Row& tangent, double length, std::size_t i, TracedRests& out);
  struct Goal {
    bool condition = false;
    std::size_t number = 0;  ///< of the unknown or the condition
    double sign = 1;         ///< to the largest or least
  };
  [[nodiscard]] double value(const Goal& goal, const Row& u);
  [[nodiscard]] bool connected(const Row& from, const Row& to);
  [[nodiscard]] Row extreme(const Row& from, const Goal& goal, bool& endless);
  void extend(const Row& u, TracedRests& out);
  [[nodiscard]] bool walk(const Row& from, const Row& to);

  RestEquations& equations_;
  double tolerance_;
  Patience& patience_;
  std::vector<double> a_, basis_;
  std::vector<RestCondition> conditions_;
};

}  // namespace judder::analysis
