// One trial step by the method in use, its error, and its polynomial.
//
// Two methods are at hand, an explicit one and one for stiff motion (numeric/two_methods.hpp). A trial goes from now.t, now.y with the rates now.f0 and is
// judged by weights that come from running scales (running_scales.hpp) and from rounding (rate_noise.hpp). It changes nothing of the phase; whoever
// accepts it does.
#pragma once

#include "engines/event/phase.hpp"
#include "engines/numeric/roots.hpp"
#include "engines/numeric/two_methods.hpp"

namespace judder::engines {

class Roundings;

class Trial {
 public:
  Trial(Phase& now, Roundings& rounding);
  [[nodiscard]] numeric::TwoMethods& methods() { return methods_; }
  [[nodiscard]] numeric::MethodChoice& choice() { return method_choice_; }

  bool try_step(double h);
  [[nodiscard]] double step_error();
  bool prepare_dense();
  void dense(double theta, double* y);
  [[nodiscard]] TrialStep trial_step(double h) const;
  void set_weights(double h);
  void measure_noise(double h, bool lasting);
  void choose_method(double limit);
  void change_method();
  void watch_stability();
  [[nodiscard]] std::string worst_component() const;

 private:
  [[nodiscard]] bool passes_trial(double length);

  Phase& now_;
  Roundings& rounding_;
  numeric::TwoMethods methods_;
  numeric::MethodChoice method_choice_;
  std::array<const numeric::SamplingGrid*, 3> grids_{&numeric::SamplingGrid::of_degree(4),
                                                     &numeric::SamplingGrid::of_degree(8),
                                                     &numeric::SamplingGrid::of_degree(16)};
};

}  // namespace judder::engines
