#include "engines/event/parting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/elementary.hpp"
#include "engines/event/trial.hpp"

namespace judder::engines {
Parting::Parting(Phase& now, Trial& trial) : now_(now), trial_(trial) {
  node_y_.resize(now_.motion.all_components());
}

// Whether rows that depend on each other and are driven hold here. No derivative need tell when their drives part (a bump, a Gauss curve).
bool Parting::may_part() const {
  if (!now_.motion.redundant()) return false;
  for (int k = 0; k < now_.motion.active(); ++k) {
    if (!now_.system.relations()[now_.motion.active_relation(k)].rows_constant) return true;
  }
  return false;
}

// Rows that depend on each other hold together only while their drives agree: a wall that stands pushes a body on its brake from the moment on at
// which it comes.
bool Parting::rows_part() {
  if (!may_part()) return false;
  now_.load();
  return std::max(rates_parted(), accelerations_parted()) > 1;
}

// By how much the rates of dependent rows disagree at the loaded state, relative to what steps may leave; more than 1: they part.
double Parting::rates_parted() {
  constexpr double kParted = 100;  ///< errors of steps add up to some tolerances
  constexpr double kBits = 64 * std::numeric_limits<double>::epsilon();
  constexpr double kLeastNumber = 0x1p-1000;  ///< near the end of the range of numbers nothing has digits
  constexpr double kStopped = 1e-13;          ///< share of what a slip has been: at rest
  const int n = now_.layout.coordinates;
  const auto speed = now_.scales.sizes().begin() + n;  // that each coordinate has had
  const double fastest = *std::max_element(speed, speed + n);
  const double since = std::abs(now_.work.in[0] - now_.entry.time);
  double ratio = 0;
  for (int k = 0; k < now_.motion.active(); ++k) {
    const int r = now_.motion.active_relation(k);
    const model::Relation& relation = now_.system.relations()[r];
    const int j = now_.motion.active_tangent(k);
    if (j < 0 && !relation.holonomic) continue;
    const model::RelationRows& rows = now_.system.rows(now_.work, r);
    const model::Row& w = j < 0 ? rows.w : rows.tangent[j].w;
    double size = std::abs(j < 0 ? rows.gap_time : rows.tangent[j].drive);
    // Rows are solved together, and what others carry leaves its last bits in all of them. So do forces that balance where nothing has a speed yet.
    double rounding = 0;
    for (const int i : relation.touches) {
      size += std::abs(w[i]) * speed[i];
      rounding += std::abs(w[i]) * kBits * (fastest + now_.motion.acceleration_terms()[i] * since);
    }
    const double rate = std::abs(j < 0 ? rows.gap_rate : rows.tangent[j].slip);
    const double been = j < 0 ? 0 : now_.guards.slip_scale(relation.first_tangent + j);
    const double allowed =
        std::max({kParted * now_.options.tolerance * size + rounding, kStopped * been, kLeastNumber});
    if (rate > allowed) ratio = std::max(ratio, rate / allowed);
  }
  return ratio;
}

// The same of their accelerations, which no step leaves anything of: they are solved for, to rounding of the forces that the rows share.
double Parting::accelerations_parted() {
  if (!now_.motion.evaluate() || !(now_.motion.parting(row_accelerations_) > 1)) return 0;
  now_.guards.sharing.share(now_.motion);
  return now_.motion.parting(row_accelerations_);
}

// Tells the decision by which rates, or accelerations, dependent rows have parted.
void Parting::note_parting() {
  std::vector<double>& parting = now_.decider.parting;
  parting.assign(now_.layout.relations + now_.layout.tangents, 0);
  now_.load();
  const bool by_rates = rates_parted() > 1;
  if (!by_rates) static_cast<void>(accelerations_parted());
  double most = 0;
  for (int k = 0; k < now_.motion.active(); ++k) {
    const int r = now_.motion.active_relation(k);
    const int j = now_.motion.active_tangent(k);
    const model::Relation& relation = now_.system.relations()[r];
    const model::RelationRows& rows = now_.system.rows(now_.work, r);
    const double rate = j < 0 ? rows.gap_rate : rows.tangent[j].slip;
    const double parted = by_rates ? rate : row_accelerations_[k];
    parting[j < 0 ? r : now_.layout.relations + relation.first_tangent + j] = parted;
    most = std::max(most, std::abs(parted));
  }
  for (double& parted : parting) parted = most > 0 ? parted / most : 0;
}

// Whether dependent rows part within the trial step, and not just at its end. `shorter`: the share of the step to try next.
bool Parting::parts_within(double h, double& shorter) {
  constexpr int kPlaces = 16;
  constexpr double kJustParted = 2;  ///< of what counts as parted
  if (!may_part()) return false;
  const auto load = [&](int place) {
    if (place == kPlaces) {
      now_.motion.load(now_.t + h, trial_.methods().y1());
      return;
    }
    trial_.dense(static_cast<double>(place) / kPlaces, node_y_.data());
    now_.motion.load(now_.t + place * h / kPlaces, node_y_.data());
  };
  load(kPlaces);
  const bool accelerate = accelerations_parted() > 1;
  for (int place = 1; place <= kPlaces; ++place) {
    load(place);
    const double ratio = std::max(rates_parted(), accelerate ? accelerations_parted() : 0);
    if (!(ratio > 1)) continue;
    const bool just = ratio <= kJustParted;
    if (place == kPlaces && just) return false;
    shorter = (just ? place : place - 0.5) / kPlaces;
    return true;
  }
  return false;
}

}  // namespace judder::engines
