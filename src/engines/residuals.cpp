#include "residuals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace judder::engines {

Residuals::Residuals(const model::System& system)
    : system_(system), state_(system.layout().direction(), std::numeric_limits<double>::quiet_NaN()) {}

void Residuals::start() { largest_ = worst_gap_ = 0; }

double Residuals::energy(model::Workspace& work) {
  if (std::equal(state_.begin(), state_.end(), work.in.begin())) return energy_;
  std::copy_n(work.in.begin(), state_.size(), state_.begin());
  double potential = 0;
  system_.energies(work, kinetic_, potential, energy_);
  return energy_;
}

void Residuals::note_energy(model::Workspace& work) {
  const double total = std::abs(energy(work));
  largest_ = std::max({largest_, total, std::abs(kinetic_)});
}

double Residuals::imbalance(model::Workspace& work, const double* y) {
  const model::Layout& layout = system_.layout();
  const double* const dissipated = y + layout.integrated();
  const double* const supplied = dissipated + layout.audits;
  double balance = energy(work) - work.in[layout.initial_energy()];
  for (int e = 0; e < layout.audits; ++e) balance += dissipated[e] - supplied[e];
  return balance;
}

void Residuals::note_gap(model::Workspace& work, int relation, double gap, double seen,
                         std::span<const double> moved) {
  if (!(gap < 0) || -gap <= worst_gap_ * seen) return;
  const model::Relation& own = system_.relations()[relation];
  const model::RelationRows& rows =
      own.rows_constant ? work.relation[relation] : system_.rows(work, relation);
  double way = 0;
  for (const int i : own.touches) way += std::abs(rows.w[i]) * moved[i];
  const double scale = std::max(seen, way);
  if (scale > 0) worst_gap_ = std::max(worst_gap_, -gap / scale);
}

}  // namespace judder::engines
