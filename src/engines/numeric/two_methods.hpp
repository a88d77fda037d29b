// An explicit and an implicit method as one: Dormand-Prince (explicit_rk.hpp) and Radau IIA (radau.hpp), of which one is in use, and when the other one is to be
// given a trial.
//
// TwoMethods has the functions that both have, and asks the one in use. A step that was tried is there until the next one is, or until the method changes.
// What only one method can do says so: nothing of it is asked while the other one is in use.
//
// MethodChoice counts. Now and then the other method is given a trial step, as long as it must be to be worth the change; trials that fail become rarer, so that
// they cost no more than a few per cent. Explicit steps that are kept short by stability alone call for a trial soon.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "explicit_rk.hpp"
#include "radau.hpp"
#include "step_control.hpp"

namespace judder::engines::numeric {

class TwoMethods {
 public:
  /// Memory for `components` that are solved and `quadratures` behind them. `patience` is looked at while matrices are factored.
  void resize(int components, int quadratures, Patience* patience = nullptr) {
    explicit_.resize(components + quadratures);
    radau_.resize(components, quadratures);
    radau_.use(patience);
  }

  /// A run begins with one of them; `order` is that of the explicit one.
  void start(bool stiff, Method order) {
    stiff_ = stiff;
    order_ = order;
    newton_failed_ = false;
    radau_.restart();
  }
  [[nodiscard]] bool stiff() const { return stiff_; }
  [[nodiscard]] Method order() const { return order_; }
  /// The error of a step falls with this power of its length.
  [[nodiscard]] double power() const { return stiff_ ? 4 : order_ == Method::order8 ? 8 : 5; }
  /// The other one is in use from here on, with so many components.
  void change(int components) {
    stiff_ = !stiff_;
    begin(components);
  }
  /// The next step does not continue the last one: after an event, and where the equations have so many components from here on.
  void begin(int components) {
    explicit_.use(components);
    radau_.restart();
  }

  /// A trial step from (t, y) with f0 = f(t, y); `scales` are looked at by the implicit method alone. False: no result.
  template <class Rhs>
  bool step(Rhs& rhs, double t, const double* y, const double* f0, double h, const RadauScales& scales) {
    if (!stiff_) return explicit_.step(order_, rhs, t, y, f0, h) == StepOutcome::done;
    const StepOutcome outcome = radau_.step(rhs, t, y, f0, h, scales);
    newton_failed_ = outcome == StepOutcome::not_converged;
    return outcome == StepOutcome::done;
  }
  /// Explicit: accelerations that do not change (ExplicitStepper::step_uniform).
  void step_uniform(double t, const double* y, const double* f0, double h) {
    explicit_.step_uniform(t, y, f0, h);
  }
  /// The last implicit trial was not solved, though every number was finite.
  [[nodiscard]] bool newton_failed() const { return stiff_ && newton_failed_; }

  [[nodiscard]] const double* y1() const { return stiff_ ? radau_.y1() : explicit_.y1(); }
  [[nodiscard]] double error(const double* weights, int components) const {
    return stiff_ ? radau_.error(weights, components) : explicit_.error(weights, components);
  }
  /// The estimate by component.
  [[nodiscard]] std::span<const double> errors() const {
    return stiff_ ? radau_.errors() : explicit_.errors();
  }
  /// Implicit: the estimate without a transient that the method damps. False: as it was.
  template <class Rhs>
  bool filter_error(Rhs& rhs) {
    return stiff_ && radau_.filter_error(rhs);
  }

  /// Makes dense() valid. False: not a number.
  template <class Rhs>
  bool prepare_dense(Rhs& rhs) {
    return stiff_ || explicit_.prepare_dense(rhs);
  }
  /// The first `components` of y(t + θh).
  void dense(double theta, int components, double* y) const {
    if (stiff_) {
      radau_.dense(theta, 0, components, y);
    } else {
      explicit_.dense(theta, 0, components, y);
    }
  }
  /// Explicit: many of them at once (ExplicitStepper::dense_rows).
  void dense_rows(double* rows, std::size_t count, std::size_t stride, int components) const {
    explicit_.dense_rows(rows, count, stride, components);
  }
  /// Explicit: the largest weighted error of dense() along the step, where there is reason to ask for it; otherwise 0.
  template <class Rhs>
  double suspected_dense_error(Rhs& rhs, const double* weights, int components) {
    if (stiff_ || !explicit_.dense_suspicious(weights, components) || !explicit_.prepare_dense_error(rhs))
      return 0;
    return explicit_.dense_error(weights, components);
  }
  /// Shares of the step at which rates were taken.
  [[nodiscard]] std::span<const double> nodes() const { return stiff_ ? radau_.nodes() : explicit_.nodes(); }

  /// Makes f1() valid: the rate at the end of the step. False: not a number.
  template <class Rhs>
  bool prepare_end_rate(Rhs& rhs) {
    return stiff_ ? radau_.prepare_end_rate(rhs) : explicit_.prepare_end_rate(rhs);
  }
  [[nodiscard]] const double* f1() const { return stiff_ ? radau_.f1() : explicit_.f1(); }
  /// Explicit: ExplicitStepper::stiffness, behind prepare_end_rate().
  [[nodiscard]] double stiffness(const double* weights, int components) const {
    return explicit_.stiffness(weights, components);
  }
  /// The step is taken.
  void accept() {
    if (stiff_) radau_.accept();
  }

  /// What later steps take from earlier ones, for a run that goes on; nothing where the explicit method is in use.
  void save(std::vector<double>& out) const {
    if (stiff_) radau_.save(out);
  }
  void load(std::span<const double> in) {
    if (stiff_) static_cast<void>(radau_.load(in));
  }

 private:
  bool stiff_ = false;
  bool newton_failed_ = false;
  Method order_ = Method::order8;
  ExplicitStepper explicit_;
  RadauStepper radau_;
};

class MethodChoice {
 public:
  void start() {
    stiffness_.restart();
    since_ = every_ = 0;
    unstable_ = false;
  }
  /// A step is about to be made: whether the other method is to have a trial.
  [[nodiscard]] bool due() {
    every_ = std::max(every_, kFirst);
    return ++since_ >= (unstable_ ? kFirst : every_);
  }
  /// It has one now.
  void begin_trial() {
    since_ = 0;
    unstable_ = false;
    every_ = std::min(2 * every_, kRarest);
  }
  /// It was worth the change.
  void passed() { every_ = kFirst; }
  /// An explicit step was made, with |hλ| over the limit of stability as given.
  void note(double stiffness) {
    if (stiffness_.explicit_step(stiffness)) unstable_ = true;
  }

  static constexpr std::size_t kSaved = 5;
  [[nodiscard]] std::array<double, kSaved> save() const {
    return {static_cast<double>(stiffness_.beyond()), static_cast<double>(stiffness_.calm()),
            static_cast<double>(since_), static_cast<double>(every_), unstable_ ? 1.0 : 0.0};
  }
  /// The numbers as they were saved, whole and not negative.
  void load(int beyond, int calm, long since, long every, bool unstable) {
    stiffness_.load(beyond, calm);
    since_ = since;
    every_ = every;
    unstable_ = unstable;
  }

 private:
  static constexpr long kFirst = 64;
  static constexpr long kRarest = 1024;

  StiffnessMonitor stiffness_;
  long since_ = 0;  ///< steps since the other method had its last trial
  long every_ = 0;
  bool unstable_ = false;  ///< explicit steps are as long as stability allows
};

}  // namespace judder::engines::numeric
