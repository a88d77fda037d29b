// What a run tells of its own errors: the balance of the energies, and how deep open or closed contacts have been inside each other.
//
// Energy. E(t) − E(0) + Σ dissipated − Σ supplied is zero for the true motion; what is left at the end is judged by the largest energy that was there. A fall
// from E = 0 keeps that sum while its parts grow: kinetic energy counts as well.
//
// Gaps. A gap below zero is measured relative to the largest that it has been, or to what its coordinates have moved, whichever is more: contacts that
// never open by more than rounding have no other scale.
#pragma once

#include <span>
#include <vector>

#include "judder/model/system.hpp"

namespace judder::engines {

class Residuals {
 public:
  explicit Residuals(const model::System& system);

  /// A run begins.
  void start();

  /// Energy of the state in work.in; at an event it is asked for more than once, and known from then on.
  [[nodiscard]] double energy(model::Workspace& work);
  /// The energy of that state is one of those that the run has had.
  void note_energy(model::Workspace& work);
  [[nodiscard]] double largest_energy() const { return largest_; }
  /// A run goes on that has had this one.
  void take_up(double largest_energy) { largest_ = largest_energy; }
  /// Of the state in work.in, with the works that stand behind the state in y.
  [[nodiscard]] double imbalance(model::Workspace& work, const double* y);

  /// A gap of the state in work.in; `seen` is the largest that it has been, `moved` how far each coordinate has moved.
  void note_gap(model::Workspace& work, int relation, double gap, double seen, std::span<const double> moved);
  [[nodiscard]] double worst_gap() const { return worst_gap_; }

 private:
  const model::System& system_;
  std::vector<double> state_;  ///< time, state and sides that energy_ belongs to: energies read nothing else
  double energy_ = 0;
  double kinetic_ = 0;
  double largest_ = 0;
  double worst_gap_ = 0;
};

}  // namespace judder::engines
