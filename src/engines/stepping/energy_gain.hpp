// Whether a run with fixed steps makes energy out of nothing.
//
// With E the energy, S what forces and drives have supplied, D what has been dissipated (each by audit element), a true motion has
//
//     E − E₀ − S + D = 0 ,      D_e never falling for any contact, constraint or joint e
//
// A scheme breaks the first by the error of its quadrature, which shrinks with the step, and the second where a reaction pushes with the
// motion. The energy that a run has gained is what the left side of the first has risen by since it was lowest, and what each D_e has
// fallen by since it was largest. In a step with an impact the sum over all contacts is taken: one may give what another takes; where
// restitution or another engine's law of impact gains energy by itself (mechanics of impacts, docs/theory.md) that is not counted.
// Springs that stand for contacts, and bristles, give back what they have taken: of them the fall below zero counts.
//
// It is compared with the largest of kinetic energy and change of energy so far. A run that has gained a fifth of that in several looks
// that follow each other does not tell the motion of its model: it goes on, for who wants to see what its scheme does, and does not end
// as done.
#pragma once

#include <span>
#include <vector>

#include "engines/stepping/scheme.hpp"
#include "engines/stepping/step_monitors.hpp"
#include "judder/core/status.hpp"
#include "judder/model/system.hpp"

namespace judder::engines {

class EnergyGain {
 public:
  explicit EnergyGain(const model::System& system);

  /// `springs`: reactions of the scheme are springs; `spread`: so are those of contacts that rebound; `step`: of the grid.
  void start(bool springs, bool spread, double step);
  /// The works of a step that has been made.
  void add(const StepReport& report);
  /// At the state in `work`, whose energies are given; `works` are all that were done so far, dissipated, then supplied.
  void look(model::Workspace& work, double kinetic, double energy, double initial,
            std::span<const double> works, bool end);
  /// How a run ends that has come to its end: not ok where it has gained too much.
  [[nodiscard]] Status verdict(double time) const;
  [[nodiscard]] const StepMonitor& monitor() const { return monitor_; }

  void save(std::vector<double>& out) const;
  [[nodiscard]] std::size_t saved_size() const { return kNumbers + 2 * total_.size() + StepMonitor::kSaved; }
  void load(std::span<const double> saved);

 private:
  static constexpr std::size_t kNumbers = 10;
  [[nodiscard]] double one_step_energy(model::Workspace& work);
  [[nodiscard]] double gained() const;

  const model::System& system_;
  double step_ = 0;
  double lowest_ = 0;   ///< of E − E₀ − S + D
  double rise_ = 0;     ///< above it
  double scale_ = 0;    ///< largest kinetic energy and change of energy
  double impacts_ = 0;  ///< gained in impacts
  double begun_ = 0;    ///< given by the first step of an impact that takes two
  long looks_ = 0;
  long high_ = 0;  ///< looks that follow each other and found too much
  bool too_much_ = false;
  double since_ = 0, made_ = 0;                  ///< when that was found, and the most since then
  std::vector<double> total_, most_;             ///< by audit element: D_e, and its largest value
  std::vector<std::uint8_t> restores_;           ///< by relation: its impact law may gain energy by itself
  std::vector<std::uint8_t> bristles_, spring_;  ///< by audit element: it has bristles; it gives back
  std::vector<int> of_relations_;                ///< audit elements of relations
  std::vector<double> rate_;
  StepMonitor monitor_{"energy_gain"};
};

}  // namespace judder::engines
