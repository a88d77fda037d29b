// Changes that lie between the points of a step: a pulse of force after a long rest, a wall that comes and goes, a narrow hill on a long road.
//
// A step is as long as its error estimate allows, and the estimate sees the equations at a few points only. Where nothing happens at these points
// the step grows, and what lies between two of them is never met. Interval arithmetic knows better: over a piece of the step it encloses everything
// that a formula can be while time and state are what they are on that piece. Let [l, u] hold the values of a formula at the points whose rates the
// step is made of. A piece whose enclosure lies in [l, u], widened a little, hides nothing. Any other is halved, and its middle is looked at: a value
// outside is a change that the step has not seen. The piece that may hide most is the next, and the search is bounded: formulas that enclose badly prove nothing, and cost little.
//
// Only formulas that can have such places are searched (expr::Program::has_peaks): sums, products, sines and low powers are what they look like.
// Most steps are short beside what is in their formulas. One evaluation over all of the step shows that: an exponential, a quotient, a power
// that changes by a small factor is as smooth as the points see it (expr::Program::evaluate_gentle), and nothing is searched.
//
// The state on a piece is taken from the step's polynomial: between its ends, and beyond them by what it bends.
//
// R. E. Moore, R. B. Kearfott, M. J. Cloud, Introduction to Interval Analysis, SIAM 2009.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "enclosure.hpp"
#include "judder/model/system.hpp"

namespace judder::engines {

class HiddenChange {
 public:
  /// Writes the state at the share θ of the step: positions, velocities, states.
  using Path = std::function<void(double theta, double* y)>;

  explicit HiddenChange(const model::System& system);

  /// No formula of the system can hide anything.
  [[nodiscard]] bool impossible() const { return formulas_.empty(); }

  struct Step {
    double t0, t1;
    std::span<const double>
        seen;      ///< shares θ of the step at which the method has asked for rates that count
    double share;  ///< of what these points have seen: by so much a value between them may lie outside
  };
  /// Whether a force, a rate, a gap, a slip or a law takes values on the step that it has at none of the points seen, for the sides in `in`.
  [[nodiscard]] bool between(const Step& step, const std::vector<double>& in, const Path& path);
  /// The same of one formula, a watch for instance, whose points are those at which it is looked at.
  [[nodiscard]] bool hides(const expr::Program& program, const Step& step, const std::vector<double>& in,
                           const Path& path);

 private:
  struct Formula {
    const expr::Program* program;
    int outputs;  ///< the first ones count
  };
  struct Piece {
    int from, to;   ///< numbers of points
    double bend;    ///< of that of the parts of the step
    double excess;  ///< by how much its enclosure leaves what may be, in units of that
    bool gentle;    ///< what can have a peak is as smooth as its ends and its middle show
  };
  void begin(const Step& step, const std::vector<double>& in, const Path& path);
  [[nodiscard]] bool hidden(const Formula& formula);
  int add_point(double theta);
  void note_values(const Formula& formula);
  [[nodiscard]] bool outside(const Formula& formula);
  [[nodiscard]] const double* state(int point) const {
    return &states_[static_cast<std::size_t>(point) * width_];
  }
  void note_bends();
  void set_box(int from, int to, double bend);
  [[nodiscard]] double excess(const Formula& formula) const;
  void add_piece(const Formula& formula, int from, int to, double bend);
  void evaluate(const Formula& formula, int point);

  std::vector<Formula> formulas_;
  std::size_t width_ = 0;  ///< of a state
  std::vector<double> theta_,
      states_;                ///< by point: the parts' ends first, then those seen, then middles of pieces
  std::vector<double> bend_;  ///< by component: how far it leaves the straight line within a part
  std::vector<double> in_, out_, registers_, low_, high_, slack_;
  const Step* step_ = nullptr;
  const Path* path_ = nullptr;
  Enclosure enclosure_;
  std::vector<Piece> pieces_;
};

}  // namespace judder::engines
