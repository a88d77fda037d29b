// How long the next step should be, and when an explicit method should give way to an implicit one.
//
// With err the weighted error of the step just tried (1 = the tolerance) and k the power with which it falls
// with h, the next step is
//
//     h ← h · clamp(safety · err^(−1/k + 3β/4) · err_last^β, shrink, grow)
//
// (PI control, Gustafsson 1991; Hairer-Nørsett-Wanner I, II.4; II, IV.2). β > 0 damps the sequence of steps
// where stability, not accuracy, limits them. After a rejection the step may not grow. All quantities are
// dimensionless, so a change of units changes no decision.
//
// Stiffness (Hairer-Wanner II, IV.2): an explicit step whose |hλ|, estimated from two stages at t + h, stays
// beyond the stability limit is kept short by stability alone. Fifteen such steps, not interrupted by six
// harmless ones in a row, mean stiff. The way back: an implicit step with h‖J‖ well inside the explicit limit
// for as many steps means not stiff any more.
#pragma once

namespace judder::engines::numeric {

struct StepControlOptions {
  double power = 5;     ///< k: err ~ h^k. Order 5: 5; order 8: 8; Radau: 4
  double beta = 0.04;   ///< share of the last error, [0, 0.1]; 0 = plain control
  double safety = 0.9;  ///< (0, 1)
  double shrink = 0.2;  ///< smallest factor, (0, 1)
  double grow = 10;     ///< largest factor, > 1
  double keep = 1;  ///< factors from 1 up to this leave h as it is, so that a factorisation serves again, ≥ 1
};

/// The settings of Hairer, Nørsett and Wanner for each method.
[[nodiscard]] StepControlOptions order5_control();
[[nodiscard]] StepControlOptions order8_control();
[[nodiscard]] StepControlOptions radau_control();

class StepController {
 public:
  StepController() = default;
  explicit StepController(const StepControlOptions& options) : options_(options) {}

  /// Forgets the last error: after an event or a change of method.
  void restart();

  [[nodiscard]] static bool accepts(double error) { return error <= 1; }

  /// Factor for the next step after an accepted one with this error.
  [[nodiscard]] double after_accepted(double error);

  /// Factor for repeating a rejected step; an infinite error (not a number, Newton failed) gives `shrink`.
  /// Below one.
  [[nodiscard]] double after_rejected(double error);

 private:
  StepControlOptions options_;
  double last_error_ = 1;
  bool rejected_ = false;

  static constexpr double kLeastError = 1e-4;  ///< the least remembered: a lucky step must not count for much
};

struct StiffnessOptions {
  int stiff_steps = 15;  ///< steps beyond the limit that mean stiff, ≥ 1
  int calm_steps = 6;    ///< steps within the limit, in a row, that clear the count, ≥ 1
  double back_limit =
      0.5;  ///< an implicit step with h‖J‖ below this share of the explicit limit is harmless, (0, 1)
};

class StiffnessMonitor {
 public:
  StiffnessMonitor() = default;
  explicit StiffnessMonitor(const StiffnessOptions& options) : options_(options) {}

  void restart();

  /// Per accepted explicit step, with ExplicitStepper::stiffness(). True: change to the implicit method now.
  [[nodiscard]] bool explicit_step(double stiffness);

  /// Per accepted implicit step, with h‖J‖ over the stability limit of the explicit method. True: change back
  /// now.
  [[nodiscard]] bool implicit_step(double stiffness);

  [[nodiscard]] int beyond() const { return beyond_; }
  [[nodiscard]] int calm() const { return calm_; }
  /// Goes on from the counts of an earlier monitor.
  void load(int beyond, int calm) {
    beyond_ = beyond;
    calm_ = calm;
  }

 private:
  StiffnessOptions options_;
  int beyond_ = 0;
  int calm_ = 0;
};

}  // namespace judder::engines::numeric
