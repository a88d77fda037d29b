// What a step tells of the forces in closed contacts (contact_loads.hpp), and what an observer is told of it (testimony.hpp).
#include "event_run.hpp"

namespace judder::engines {

// Where nothing is known between: after an event, and at rest.
void EventEngine::Run::note_reactions(double h) {
  if (motion_.redundant()) guards_.sharing.share(motion_);
  recorder_.loads.note(mode_, t_, h, motion_.normal());
  if (h > 0 && !compliant_.empty()) note_pressing_at_rest(h);
}

// The step of this length was made, the polynomials of the guards are those of the trial, which may have been longer.
void EventEngine::Run::note_step(double trial, double length) {
  note_pressing(length);
  if (!recorder_.loads.follow(mode_, t_)) return;
  const long counted =
      motion_.evaluations;  // what is looked at is no part of the motion, whoever else looks at it
  if (!prepare_dense()) return;
  ForcesInside forces(*this, length);
  const std::vector<Guard>& list = guards_.list();
  const auto points = static_cast<std::size_t>(degree_) + 2;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Guard& guard = list[i];
    if (guard.kind != GuardKind::reaction || !recorder_.loads.follows(guard.place) || guard.zeros != 0)
      continue;
    ForcePolynomial force;
    force.degree = degree_;
    force.coefficients = bernstein_.data() + i * (degree_ + 1);
    force.samples = {samples_.data() + i * points, points};
    force.error = fit_errors_[i];
    force.noise = guard.noise;
    if (guard.reduced) {  // the guard after a reduced one is its determinant
      force.divisor = force.coefficients + degree_ + 1;
      force.divisors = {samples_.data() + (i + 1) * points, points};
      force.divisor_error = fit_errors_[i + 1];
    }
    recorder_.loads.take(guard.place, force, trial, length, forces);
  }
  recorder_.loads.take_rest(length, forces);
  motion_.evaluations = counted;
}

void EventEngine::Run::load_inside(double theta, double length) {
  const double time = t_ + theta * length;
  dense(theta, node_y_.data());
  if (motion_.active() > 0) static_cast<void>(motion_.project(time, node_y_.data(), true));
  motion_.load(time, node_y_.data());
}

// As for a row.
std::span<const double> EventEngine::Run::ForcesInside::at(double theta) {
  run_.load_inside(theta, length_);
  if (!run_.motion_.evaluate()) return {};
  if (run_.motion_.redundant()) run_.guards_.sharing.share(run_.motion_);
  return std::as_const(run_.motion_).normal();
}

void EventEngine::Run::tell_inside(double t1) {
  Testimony& testimony = recorder_.testimony;
  const bool inside = testimony.asked_inside();
  if (!inside && !testimony.asked_along()) return;
  if (!methods_.prepare_dense(testimony.motion())) return;
  const double h = t1 - t_;
  const int width = layout_.integrated();
  testimony.along(t_, t1, node_y_.data(),
                  [&](double time, double* y) { methods_.dense((time - t_) / h, width, y); });
  if (!inside) return;
  for (const double theta : methods_.stiff() ? Testimony::kStiff : Testimony::kSmooth) {
    methods_.dense(theta, width, node_y_.data());
    testimony.inside(t_ + theta * h, node_y_.data());
  }
}

void EventEngine::Run::tell_evaluated_end() {
  const bool evaluated = (guards_.needs_motion() || recorder_.reads_reactions()) && !motion_.redundant();
  if (evaluated) {
    recorder_.testimony.end(motion_, work_, y_.data());
  } else {
    recorder_.testimony.end(t_, y_.data());
  }
}

void EventEngine::Run::tell_impulses(bool tail) {
  recorder_.testimony.impulses(
      {collider_.before(), work_.in, collider_.normal_impulse(), collider_.tangential_impulse(), tail});
}

}  // namespace judder::engines
