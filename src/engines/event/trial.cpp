#include "engines/event/trial.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/elementary.hpp"
#include "engines/event/roundings.hpp"
#include "engines/law_numbers.hpp"

namespace judder::engines {
Trial::Trial(Phase& now, Roundings& rounding) : now_(now), rounding_(rounding) {
  methods_.resize(now_.layout.integrated(), now_.motion.all_components() - now_.layout.integrated(),
                  &now_.patience);
}

bool Trial::try_step(double h) {
  if (!methods_.stiff() && now_.motion.uniform()) {
    methods_.step_uniform(now_.t, now_.y.data(), now_.f0.data(), h);
    return true;
  }
  numeric::RadauScales scales;
  if (methods_.stiff())
    scales = now_.scales.foresee(trial_step(h), now_.motion, now_.work.inertia.data(), now_.noise,
                                 now_.options.tolerance);
  return methods_.step(now_.motion, now_.t, now_.y.data(), now_.f0.data(), h, scales);
}

double Trial::step_error() { return methods_.error(now_.scales.weights().data(), now_.motion.components()); }

bool Trial::prepare_dense() { return methods_.prepare_dense(now_.motion); }

void Trial::dense(double theta, double* y) { methods_.dense(theta, now_.motion.components(), y); }

TrialStep Trial::trial_step(double h) const {
  // Beyond its stability an explicit step does not know the sizes.
  const std::span<const double> errors = methods_.stiff() ? std::span<const double>() : methods_.errors();
  return {now_.t, h, now_.y.data(), now_.f0.data(), methods_.y1(), errors};
}

void Trial::set_weights(double h) {
  now_.scales.weigh(trial_step(h), now_.motion, now_.work.inertia.data(), now_.noise,
                    {now_.options.tolerance, now_.recorder.residuals.largest_energy(), now_.limit});
}

void Trial::measure_noise(double h, bool lasting) {
  if (!now_.noise.measure(now_.motion, now_.t, now_.y.data(), now_.f0.data(), h, lasting)) return;
  // What cancels inside the speed of a belt is in the power of its friction, whatever rests beside it. A combination of two sides is no interval between them.
  if (now_.motion.slides()) return;
  for (int e = 0; e < now_.layout.audits; ++e) {
    const int r = now_.system.audits()[e].relation;
    if (r < 0 || now_.mode.normal[r] == NormalStatus::open || now_.system.relations()[r].rows_constant)
      continue;
    const model::Relation& relation = now_.system.relations()[r];
    rounding_.enclose(relation.rows);
    for (int j = 0; j < relation.tangents; ++j) {
      const double noise = 0.5 * kRoundingUnits * rounding_.enclosure().width(relation.row_begin(j)) *
                           std::abs(now_.motion.tangent()[relation.first_tangent + j]);
      now_.noise.add(now_.layout.integrated() + e, noise);
      now_.noise.add(now_.layout.integrated() + now_.layout.audits + e, noise);
    }
  }
}

// Explicit or implicit is a question of cost: right-hand sides per unit of time. Now and then the other method is given a trial step, as long as
// it must be to be worth the change; if its error allows that step, the run goes on with it. Steps at the limit of stability call for a
// trial at once; trials that fail become rarer, so that they cost no more than a few per cent. A trial moves nothing.
void Trial::choose_method(double limit) {
  if (now_.options.integrator != Integrator::automatic || now_.options.step > 0 ||
      now_.layout.integrated() == 0 || !(now_.h > 0))
    return;
  if (now_.motion.uniform()) {  // explicit steps are exact there, and as long as anyone likes
    if (!methods_.stiff()) return;
    change_method();
    now_.have_f0 = now_.motion(now_.t, now_.y.data(), now_.f0.data());
    return;
  }
  constexpr double kGain = 1.5;  ///< the other method must be cheaper by this factor
  constexpr int kShorterTrials = 6;
  if (!method_choice_.due()) return;
  // Samples for the guards, then stages, dense output and, for the implicit method, its Jacobian and Newton's iterations.
  const double guards = now_.guards.size() > 0 ? grids_.front()->points() : 0;
  const double explicit_cost = guards + (methods_.order() == numeric::Method::order8 ? 16 : 6);
  const double implicit_cost = guards + now_.layout.integrated() + 16;
  const double length =
      now_.h * kGain * (methods_.stiff() ? explicit_cost / implicit_cost : implicit_cost / explicit_cost);
  if (now_.t + length >= limit) return;  // soon
  method_choice_.begin_trial();
  change_method();
  if (now_.motion(now_.t, now_.y.data(), now_.f0.data())) {
    if (passes_trial(length)) {
      now_.h = length;
      method_choice_.passed();
      return;
    }
    // Explicit steps that jump to and fro over a steep place leave Newton's iteration on the wrong side of it. Shorter steps find the way in, and
    // grow from there; if they do not, the next trial is for the way back.
    double shorter = length;
    for (int trial = 0; trial < kShorterTrials && methods_.newton_failed(); ++trial) {
      shorter *= 0.25;
      if (!passes_trial(shorter)) continue;
      now_.h = shorter;
      return;
    }
  }
  change_method();
  now_.have_f0 = now_.motion(now_.t, now_.y.data(), now_.f0.data());
}

bool Trial::passes_trial(double length) {
  if (!try_step(length)) return false;
  set_weights(length);
  double error = step_error();
  // What explicit steps at the limit of stability leave behind, within the tolerance, is a transient that the implicit method damps.
  if (error > 1 && methods_.filter_error(now_.motion)) error = step_error();
  return error <= 1;
}

void Trial::change_method() {
  now_.motion.always_audit(!methods_.stiff());
  methods_.change(now_.motion.components());
}

// Whether explicit steps are kept short by stability alone.
void Trial::watch_stability() {
  if (methods_.stiff() || now_.options.integrator != Integrator::automatic || now_.options.step > 0 ||
      now_.layout.integrated() == 0)
    return;
  if (!methods_.prepare_end_rate(now_.motion)) return;
  method_choice_.note(methods_.stiffness(now_.scales.weights().data(), now_.layout.integrated()));
}

// The component whose error was the largest in the last trial.
std::string Trial::worst_component() const {
  const int n = now_.layout.coordinates;
  int worst = 0;
  double largest = -1;
  for (int i = 0; i < now_.motion.components(); ++i) {
    const double error = std::abs(methods_.errors()[i]) * now_.scales.weights()[i];
    if (error <= largest || (i >= now_.layout.integrated() && largest > 1)) continue;
    largest = error;
    worst = i;
  }
  if (worst < n) return "coordinate '" + now_.system.coordinate_names()[worst] + "'";
  if (worst < 2 * n) return "velocity of '" + now_.system.coordinate_names()[worst - n] + "'";
  if (worst < now_.layout.integrated()) return "state '" + now_.system.state_names()[worst - 2 * n] + "'";
  const int element = (worst - now_.layout.integrated()) % std::max(now_.layout.audits, 1);
  return "work of '" + now_.system.audits()[element].name + "'";
}

}  // namespace judder::engines
