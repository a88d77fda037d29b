// What the error of a step is measured by.
//
// An error of component i counts |error|·w_i, w_i = 1/(tolerance · size), and a step is good if none counts more than one. Sizes are those that the motion
// has had so far: S_i of |q_i − q_i(start)|, |v_i| h and |v̇_i| h², V_i of |v_i| and |v̇_i| h. Four cases need more:
//
// What has hardly moved is measured by the tolerance times the speed that the energy seen would give it: the last mass of a chain need not be exact while
// only the first one moves, and yet a gram beside a tonne keeps its control.
//
// States have no inertia that would carry a great past on: a concentration that falls like 1/t from one to a millionth is meant to be right then as well. Over
// a step h, a time t after the start, their earlier size and their mean count t/(t + h); they are measured from that mean. What falls faster is forgotten
// as it falls: prey that is down to the last billionth decides when the next wave comes.
//
// What moves for the first time has no size but that of the step that is to be judged. Rejected steps count for it, a look ahead out of rest, and for states the
// rates a few steps later: a rate that rises like t¹² has no digits in its first step, and needs none.
//
// Below rounding (rate_noise.hpp) there is nothing to control.
//
// The parts of a run that decide events read the sizes too; closed forms add theirs with note().
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "engines/numeric/radau.hpp"
#include "mode_motion.hpp"
#include "rate_noise.hpp"

namespace judder::engines {

/// A step as its method has left it, or as it is about to be tried (end = null).
struct TrialStep {
  double t = 0;
  double h = 0;
  const double* y = nullptr;     ///< at its start, works included
  const double* rate = nullptr;  ///< ẏ there
  const double* end = nullptr;   ///< y at its end
  std::span<const double> errors =
      {};  ///< estimated; empty: the end is as good as its sizes, whatever the step
};

class RunningScales {
 public:
  RunningScales(const model::System& system, int components);

  /// A run begins: its model starts at time t with q, v, z in y. A run that goes on loads its sizes behind this.
  void start(double t, const double* y);

  /// The largest that each of q, v, z has been: positions and states relative to the start.
  [[nodiscard]] const std::vector<double>& sizes() const { return size_; }
  [[nodiscard]] double start_of(int i) const { return start_[i]; }
  /// Component i has had this size.
  void note(int i, double size) { size_[i] = std::max(size_[i], size); }

  struct Measure {
    double tolerance = 0;
    double largest_energy = 0;  ///< that the run has had: works are as exact as the motion, relative to it
    double limit = 0;           ///< the known instant that the present phase leads to
  };
  /// The weights of a step that was tried; `inertia` is the diagonal of M at its start or end.
  void weigh(const TrialStep& step, ModeMotion& motion, const double* inertia, const RateNoise& noise,
             const Measure& measure);
  [[nodiscard]] const std::vector<double>& weights() const { return weight_; }
  /// Rounding, not the tolerance, was the weight of some component.
  [[nodiscard]] bool rounding_rules() const { return rounding_rules_; }
  /// Error of a velocity below which there is no control.
  [[nodiscard]] double speed_floor(int coordinate) const { return speed_floor_[coordinate]; }
  /// Sizes and weights of a step that is about to be tried: Newton's iteration needs them before there is a result. What has never moved takes the size of its
  /// fellows, and so do the differences for the Jacobian. `inertia` is read behind an evaluation of the motion.
  [[nodiscard]] numeric::RadauScales foresee(const TrialStep& step, ModeMotion& motion, const double* inertia,
                                             const RateNoise& noise, double tolerance);

  /// The step was taken.
  void update(const TrialStep& step);
  /// The step was rejected. What it gives to what has never moved counts as seen: a force like √t moves by the same share of itself in every step, and
  /// no step is short enough for that.
  void note_rejected(const TrialStep& step);
  /// A look ahead out of rest begins; the end of one is seen. False: nothing has moved there.
  void begin_look();
  bool look(const TrialStep& step);
  /// What drives a state may be another from here on: what it has been counts again.
  void recall_states();

  /// Sizes; time from which means count, means and sizes of the states about them: for a run that goes on.
  void load_sizes(std::span<const double> sizes);
  [[nodiscard]] double origin() const { return origin_; }
  void save_states(std::vector<double>& out) const;
  void load_states(double origin, std::span<const double> saved);

 private:
  double weigh_coordinates(const TrialStep& step, const ModeMotion& motion, const double* inertia,
                           const RateNoise& noise, double tolerance);
  void weigh_states(const TrialStep& step, const RateNoise& noise, double tolerance);
  void weigh_first_movements(const TrialStep& step, ModeMotion& motion, const RateNoise& noise,
                             const Measure& measure);
  void look_for_movement(const TrialStep& step, ModeMotion& motion, double limit);
  /// Whether component i has inertia, or belongs to a coordinate that has.
  [[nodiscard]] bool inert(int i) const;
  /// Whether component i has a size by which a step from here can be measured.
  [[nodiscard]] bool moved(int i, const TrialStep& step) const;
  /// Whether the step knows how far component i comes in it, if no more.
  [[nodiscard]] static bool size_known(int i, const TrialStep& step);
  void size_as_fellows(const TrialStep& step, ModeMotion& motion, const double* inertia);

  const model::System& system_;
  const model::Layout& layout_;
  std::vector<double> size_, weight_, start_;
  std::vector<double> typical_;      ///< sizes that the present step is measured by
  std::vector<double> rounding_;     ///< what rounding does to a component over the step
  std::vector<double> trial_;        ///< of what has never moved, from rejected steps
  std::vector<double> look_;         ///< sizes at the end of the last look ahead
  std::vector<double> mean_;         ///< of the states so far
  std::vector<double> recent_;       ///< size of the states about that mean
  std::vector<double> movement_;     ///< how far comes what has not moved yet
  std::vector<double> speed_floor_;  ///< by coordinate
  double origin_ = 0;                ///< time at which the means begin
  bool rounding_rules_ = false;
  std::vector<double> now_, later_, ahead_;
};

}  // namespace judder::engines
