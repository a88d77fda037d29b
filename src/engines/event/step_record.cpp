#include "engines/event/step_record.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/elementary.hpp"
#include "engines/event/pressing.hpp"
#include "engines/event/rows.hpp"
#include "engines/event/trial.hpp"
#include "engines/law_numbers.hpp"
#include "judder/engines/collision.hpp"
#include "judder/model/large_matrices.hpp"

namespace judder::engines {
// As for a row.
std::span<const double> ForcesInside::at(double theta) {
  now_.way->load_inside(theta, length_);
  if (!now_.motion.evaluate()) return {};
  if (now_.motion.redundant()) now_.guards.sharing.share(now_.motion);
  return std::as_const(now_.motion).normal();
}

StepRecord::StepRecord(Phase& now, StepFindings& found, Rows& rows, Trial& trial, Pressing& pressed)
    : now_(now), found_(found), rows_(rows), trial_(trial), pressed_(pressed) {
  node_y_.resize(now_.motion.all_components());
  landing_y_.resize(now_.motion.all_components());
}

// Where nothing is known between: after an event, and at rest.
void StepRecord::note_reactions(double h) {
  if (now_.motion.redundant()) now_.guards.sharing.share(now_.motion);
  now_.recorder.loads.note(now_.mode, now_.t, h, now_.motion.normal());
  if (h > 0 && !pressed_.contacts().empty()) pressed_.note_pressing_at_rest(h);
}

// The step of this length was made, the polynomials of the guards are those of the trial, which may have been longer.
void StepRecord::note_step(double trial, double length) {
  pressed_.note_pressing(length);
  if (!now_.recorder.loads.follow(now_.mode, now_.t)) return;
  const long counted =
      now_.motion.evaluations;  // what is looked at is no part of the motion, whoever else looks at it
  if (!trial_.prepare_dense()) return;
  ForcesInside forces(now_, length);
  const std::vector<Guard>& list = now_.guards.list();
  const auto points = static_cast<std::size_t>(found_.degree) + 2;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Guard& guard = list[i];
    if (guard.kind != GuardKind::reaction || !now_.recorder.loads.follows(guard.place) || guard.zeros != 0)
      continue;
    ForcePolynomial force;
    force.degree = found_.degree;
    force.coefficients = found_.bernstein.data() + i * (found_.degree + 1);
    force.samples = {found_.samples.data() + i * points, points};
    force.error = found_.fit_errors[i];
    force.noise = guard.noise;
    if (guard.reduced) {  // the guard after a reduced one is its determinant
      force.divisor = force.coefficients + found_.degree + 1;
      force.divisors = {found_.samples.data() + (i + 1) * points, points};
      force.divisor_error = found_.fit_errors[i + 1];
    }
    now_.recorder.loads.take(guard.place, force, trial, length, forces);
  }
  now_.recorder.loads.take_rest(length, forces);
  now_.motion.evaluations = counted;
}

void StepRecord::tell_inside(double t1) {
  Testimony& testimony = now_.recorder.testimony;
  const bool inside = testimony.asked_inside();
  if (!inside && !testimony.asked_along()) return;
  if (!trial_.methods().prepare_dense(testimony.motion())) return;
  const double h = t1 - now_.t;
  const int width = now_.layout.integrated();
  testimony.along(now_.t, t1, node_y_.data(),
                  [&](double time, double* y) { trial_.methods().dense((time - now_.t) / h, width, y); });
  if (!inside) return;
  for (const double theta : trial_.methods().stiff() ? Testimony::kStiff : Testimony::kSmooth) {
    trial_.methods().dense(theta, width, node_y_.data());
    testimony.inside(now_.t + theta * h, node_y_.data());
  }
}

void StepRecord::tell_evaluated_end() {
  const bool evaluated =
      (now_.guards.needs_motion() || now_.recorder.reads_reactions()) && !now_.motion.redundant();
  if (evaluated) {
    now_.recorder.testimony.end(now_.motion, now_.work, now_.y.data());
  } else {
    now_.recorder.testimony.end(now_.t, now_.y.data());
  }
}

// Regular samples before `to`, straight from the polynomial of the step into the rows.
void StepRecord::emit_states(double to) {
  const std::size_t count = now_.recorder.samples.count_before(to);
  if (count == 0) return;
  const int width = now_.layout.integrated();
  const auto stride = static_cast<std::size_t>(width) + 1;
  double* const block = now_.recorder.state_rows(count);
  if (block != nullptr) {
    now_.recorder.samples.take(count, block, stride);
    trial_.methods().dense_rows(block, count, stride, width);
    if (now_.motion.pinned()) {
      for (std::size_t i = 0; i < count; ++i) now_.motion.pin(block[i * stride], block + i * stride + 1);
    }
    return;
  }
  double* const in = now_.work.in.data();
  for (std::size_t i = 0; i < count; ++i) {
    now_.recorder.samples.take(1, in, stride);
    trial_.methods().dense_rows(in, 1, stride, width);
    now_.motion.pin(in[0], in + 1);
    now_.recorder.row(RowKind::sample, now_.mode, now_.work);
  }
}

// Rows at the sample times before `to`, along the step just made.
void StepRecord::emit_samples(double to) {
  const double h = to - now_.t;
  if (!trial_.methods().stiff() && !now_.recorder.reads_reactions() && !now_.has_massless &&
      !now_.recorder.reads_works() && now_.motion.all_pinned() && now_.recorder.samples.only_regular()) {
    // Only the state is asked for.
    emit_states(to);
    return;
  }
  if (!(now_.recorder.samples.next() < to)) return;
  // Rows are no part of the motion: the coefficients of a slide begin where the step has left them.
  const bool slides = now_.motion.slides();
  if (slides) {
    kept_terms_.assign(now_.motion.acceleration_terms().begin(), now_.motion.acceleration_terms().end());
    kept_side_ = now_.motion.mode().side;
  }
  for (double time = now_.recorder.samples.next(); time < to; time = now_.recorder.samples.next()) {
    now_.patience.look();
    trial_.dense((time - now_.t) / h, node_y_.data());
    if (now_.motion.active() > 0) static_cast<void>(now_.motion.project(time, node_y_.data(), true));
    now_.motion.load(time, node_y_.data());
    now_.recorder.load_works(
        now_.motion.components() == now_.motion.all_components() ? node_y_.data() : now_.y.data(), now_.work);
    rows_.emit_row(RowKind::sample);
    now_.recorder.samples.advance();
  }
  if (slides) now_.motion.recall(kept_terms_, kept_side_);
}

void StepRecord::note_gap(int relation, double gap, double seen) {
  now_.recorder.residuals.note_gap(now_.work, relation, gap, std::max(seen, now_.guards.gap_scale(relation)),
                                   now_.scales.sizes());
}

void StepRecord::note_closed_gaps() {
  for (int r = 0; r < now_.layout.relations; ++r) {
    if (now_.mode.normal[r] != NormalStatus::closed) continue;
    double gap = 0;
    double rate = 0;
    now_.system.gap(now_.work, r, gap, rate);
    note_gap(r, gap, 0);
  }
}

// The end of a step that is no event: scales of the guards and of the energy.
void StepRecord::finish_step() {
  now_.load();
  note_closed_gaps();
  if (now_.guards.needs_motion() || now_.recorder.reads_reactions()) {
    if (!now_.motion.evaluate()) return;
  }
  if (now_.has_massless) now_.motion.take_massless(now_.y.data());
  now_.guards.note_scales();
  now_.recorder.residuals.note_energy(now_.work);
}

// Everything rests and nothing can change before the limit: go there at once.
bool StepRecord::hold(double limit) {
  if (!now_.motion.everything_pinned() || !now_.system.steady() || !now_.system.watches().empty())
    return false;
  for (int i = 0; i < now_.layout.coordinates; ++i) {
    if (now_.y[now_.layout.coordinates + i] != 0) return false;
  }
  // Drives go on below what rests, and do work at a constant rate.
  const int all = now_.motion.components();
  const double since = now_.t;
  std::copy_n(now_.y.begin(), all, node_y_.begin());
  if (all > now_.layout.integrated() && !now_.motion(now_.t, now_.y.data(), landing_y_.data())) return false;
  const auto work_until = [&](double time) {
    for (int i = now_.layout.integrated(); i < all; ++i)
      now_.y[i] = node_y_[i] + landing_y_[i] * (time - since);
  };
  while (now_.recorder.samples.next() < limit) {
    if (now_.recorder.reads_works()) work_until(now_.recorder.samples.next());
    now_.motion.load(now_.recorder.samples.next(), now_.y.data());
    now_.recorder.load_works(now_.y.data(), now_.work);
    rows_.emit_row(RowKind::sample);
    now_.recorder.samples.advance();
  }
  work_until(limit);
  now_.motion.load(limit, now_.y.data());
  if (!now_.motion.evaluate()) return false;
  now_.recorder.testimony.rest(now_.t, limit, now_.y.data());
  const double h = limit - now_.t;
  now_.t = limit;
  note_reactions(h);
  now_.have_f0 = false;
  return true;
}

// The limit is within the last bits of the time, where a step cannot be made shorter, and something was seen in it that asks for that. Nothing moves
// in such a time: what is due there is decided at the limit.
void StepRecord::pass_crumb(double limit) {
  while (now_.recorder.samples.next() < limit) {
    now_.motion.load(now_.recorder.samples.next(), now_.y.data());
    now_.recorder.load_works(now_.y.data(), now_.work);
    rows_.emit_row(RowKind::sample);
    now_.recorder.samples.advance();
  }
  now_.recorder.testimony.rest(now_.t, limit, now_.y.data());
  now_.t = limit;
  now_.have_f0 = false;
  finish_step();
}

}  // namespace judder::engines
