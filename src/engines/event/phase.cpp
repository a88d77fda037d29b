#include "engines/event/phase.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace judder::engines {

Phase::Phase(const model::System& of)
    : system(of),
      layout(of.layout()),
      work(of),
      motion(of, work),
      scales(of, motion.all_components()),
      noise(layout, motion.all_components()),
      guards(of, work, motion),
      decider(of, work),
      collider(of, work),
      timetable(of, work),
      series(of, work),
      recorder(of, &patience) {
  y.resize(motion.all_components());
  f0.resize(motion.all_components());
  projected.assign(of.layout().coordinates, 0.0);
  has_massless = std::find(of.massless().begin(), of.massless().end(), true) != of.massless().end();
  may_jump = !of.massless_balance().velocity.empty();
  motion.carry_works(of.watches_read_works());
  timetable.use(&patience);
  decider.use(&patience);
  collider.use(&patience);
  guards.use(&patience);
  motion.use(&patience);
  series.use(&patience);
}

bool Phase::fail(Status status) {
  if (result.status.reason == Reason::done) result.status = std::move(status);
  return false;
}

bool Phase::follow(const Mode& as) {
  const int least = system.graph().outside().empty() ? expr::kTaylorOrder : 1;
  for (int order = expr::kTaylorOrder; order >= least; --order) {
    if (series.compute(as, order)) return true;
  }
  return false;
}

void Phase::note_unknown(const expr::Series& asked) {
  if (system.graph().outside().empty()) return;
  if (series.order() < expr::kTaylorOrder || std::isnan(asked.c[series.order()])) ++result.undecided_ties;
}

void Phase::note_projected(const double* before) {
  const int n = layout.coordinates;
  for (int i = 0; i < n; ++i) projected[i] = motion.active() > 0 ? std::abs(y[n + i] - before[n + i]) : 0;
}

void Phase::end_phase() {
  if (t > phase_start) last_flight = t - phase_start;
  phase_start = t;
  noise.forget();
  if (last_flight > 0 && h > 1.05 * last_flight) {
    // A phase that rounding made short says nothing about the next one.
    const double shortest =
        1e3 * std::numeric_limits<double>::epsilon() * std::max(std::abs(t), std::abs(limit));
    h = std::max(1.05 * last_flight, shortest);
  }
  have_f0 = false;
}

}  // namespace judder::engines
