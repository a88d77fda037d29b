// Changes with time that lie between the points of a step: a pulse of force after a long rest, a wall that comes and goes.
//
// A step is as long as its error estimate allows, and the estimate sees the equations at a few points only. Where nothing happens at these points
// the step grows, and a pulse between two of them is never met. Interval arithmetic knows better: over a piece of the step, with the state as it is
// at its start, it encloses everything that a formula of time can be. Let [l, u] hold the values of a formula at nine points of the step. A piece whose enclosure lies in [l, u], widened a little, hides nothing. Any other is halved, and its middle is looked at: a value outside is
// a change that the step has not seen. The search is breadth first, and bounded: formulas that enclose badly prove nothing, and cost little.
//
// It is asked where a step was easy: its error far below the tolerance. A step that the error holds back follows its formulas anyway.
//
// R. E. Moore, R. B. Kearfott, M. J. Cloud, Introduction to Interval Analysis, SIAM 2009.
#pragma once

#include <vector>

#include "enclosure.hpp"
#include "judder/model/system.hpp"

namespace judder::engines {

class HiddenChange {
 public:
  explicit HiddenChange(const model::System& system);

  /// Whether a force, a rate, a gap, a slip or a law takes values between t0 and t1 that it has at none of the points there, for the state and the
  /// sides in `in`.
  [[nodiscard]] bool between(double t0, double t1, const std::vector<double>& in);

 private:
  struct Formula {
    const expr::Program* program;
    int outputs;  ///< the first ones count
  };
  struct Piece {
    double from, to;  ///< times
  };
  [[nodiscard]] bool hidden(const Formula& formula, double t0, double t1);
  void enclose(const Formula& formula, Piece piece);
  [[nodiscard]] bool within(const Formula& formula) const;
  void evaluate(const Formula& formula, double time);

  std::vector<Formula> formulas_;
  std::vector<double> in_, out_, registers_, low_, high_, slack_;
  Enclosure enclosure_;
  std::vector<Piece> pieces_;
};

}  // namespace judder::engines
