// A jump: the body follows the force that is left over while time stands still, q' = V/|V| by arc length.
//
// V is the velocity that a body without inertia would have in a uniform viscous medium of vanishing viscosity; the contacts share in it by their laws. Each leg
// between two changes of status is integrated by Dormand and Prince's pair of order 5, with the arc length as independent variable. Near its end V fades in proportion
// to the distance that is left: there Newton's method takes the last stretch, which is straight to the square of its length.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/elementary.hpp"
#include "quasi_static_run.hpp"

namespace judder::engines {
namespace {

constexpr double kKick = 1e-5;   ///< of the reach: first stretch along an unstable direction
constexpr int kMostTurns = 10;   ///< doublings of it before a direction counts as stable
constexpr double kFaded = 1e-5;  ///< share of the largest V below which the end is looked for
constexpr double kLegTolerance = 1e-11;
constexpr double kFirstStep = 1e-3;  ///< of a leg, as a share of the reach
constexpr double kFarthest = 1e6;    ///< reaches after which a jump counts as endless

constexpr std::array<std::array<double, 6>, 6> kNodes{
    {{1.0 / 5},
     {3.0 / 40, 9.0 / 40},
     {44.0 / 45, -56.0 / 15, 32.0 / 9},
     {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
     {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
     {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}}};
constexpr std::array<double, 7> kErrorWeights{71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
                                              -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

double norm(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return std::sqrt(sum);
}

}  // namespace

/// A length of the present problem: what the coordinates are, have moved, or would move under the present forces.
double QuasiStaticEngine::Run::reach() const {
  double size = statics_.stiffness() > 0 ? statics_.force_size() / statics_.stiffness() : 0;
  for (std::size_t i = 0; i < n_; ++i) size = std::max({size, largest_[i], std::abs(here_.q[i])});
  return size > 0 ? size : 1;
}

/// A force of the present problem: what acts, or what springs must carry that cancel each other.
double QuasiStaticEngine::Run::force_scale() const {
  double size = 0;
  for (std::size_t i = 0; i < n_; ++i) size = std::max({size, largest_[i], std::abs(here_.q[i])});
  return std::max(statics_.force_size(), statics_.stiffness() * size);
}

bool QuasiStaticEngine::Run::flow_direction(const std::vector<double>& q, std::vector<double>& out,
                                            double& speed) {
  if (!statics_.place(here_.t, q) || !statics_.flow(velocity_, flow_normal_, flow_tangent_)) return false;
  speed = norm(velocity_);
  for (std::size_t i = 0; i < n_; ++i) out[i] = speed > 0 ? velocity_[i] / speed : 0;
  return true;
}

bool QuasiStaticEngine::Run::flow_step(const std::vector<double>& q, double arc, std::vector<double>& to,
                                       double& error) {
  double speed = 0;
  std::vector<double> place(n_);
  if (!flow_direction(q, stages_[0], speed)) return false;
  for (std::size_t s = 0; s < 6; ++s) {
    for (std::size_t i = 0; i < n_; ++i) {
      double sum = 0;
      for (std::size_t k = 0; k <= s; ++k) sum += kNodes[s][k] * stages_[k][i];
      place[i] = q[i] + arc * sum;
    }
    if (!flow_direction(place, stages_[s + 1], speed)) return false;
  }
  to = place;
  error = 0;
  for (std::size_t i = 0; i < n_; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < 7; ++k) sum += kErrorWeights[k] * stages_[k][i];
    error += arc * sum * arc * sum;
  }
  error = std::sqrt(error);
  return true;
}

/// The smallest guard of the flow at the place of the last flow_direction(), relative to its size.
double QuasiStaticEngine::Run::flow_guards(std::vector<Fired>* fired) {
  double worst = 1;
  const double force = std::max(force_scale(), norm(velocity_)), length = reach();
  const auto look = [&](double value, double size, Fired::What what, int place) {
    constexpr double kNoise = 1e-13;
    const double share = size > 0 ? value / size + kNoise : 1;
    worst = std::min(worst, share);
    if (share < 0 && fired != nullptr) fired->push_back({what, place});
  };
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = statics_.rows(r);
    if (mode_.normal[r] == NormalStatus::open) {
      double scale = 0;
      for (const double w : rows.w.values()) scale += std::abs(w);
      look(statics_.gap(r), scale * length, Fired::What::gap, r);
      continue;
    }
    if (mode_.normal[r] == NormalStatus::closed) look(flow_normal_[r], force, Fired::What::reaction, r);
    for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j) {
      const int sigma = direction(mode_.tangent[j]);
      if (sigma == 0) {
        const double limit = statics_.limit(r, j, flow_normal_);
        look(limit - std::abs(flow_tangent_[j]), force, Fired::What::cone, r);
      } else {
        look(sigma * statics_.slip(r, j, velocity_, 0), force, Fired::What::slip, r);
      }
    }
  }
  return worst;
}

/// The first stretch along an unstable direction, from where there is no force left over to where there is some.
bool QuasiStaticEngine::Run::kick(const QuasiStaticPoint& direction, double& arc) {
  const std::vector<double> from = here_.q;
  double length = kKick * reach();
  std::vector<double> way(n_);
  for (int k = 0; k < 60; ++k, length *= 2) {
    for (std::size_t i = 0; i < n_; ++i) here_.q[i] = from[i] + length * direction.q_rate[i];
    if (!statics_.place(here_.t, here_.q) || !statics_.flow(velocity_, flow_normal_, flow_tangent_))
      return false;
    const bool held = flow_guards(nullptr) >= 0;
    double along = 0;
    for (std::size_t i = 0; i < n_; ++i) along += velocity_[i] * direction.q_rate[i];
    arc = length;
    if (along > 1e-13 * force_scale() && held) return true;
    if (along < -1e-13 * force_scale()) {
      if (k >= kMostTurns) break;  // just before a fold the force still points back
      continue;
    }
    // A neutral direction: nothing is left over along it, and it ends where a status does.
    if (!held) {
      double low = 0, high = length;
      for (int halving = 0; halving < 80; ++halving) {
        const double middle = 0.5 * (low + high);
        for (std::size_t i = 0; i < n_; ++i) here_.q[i] = from[i] + middle * direction.q_rate[i];
        if (!statics_.place(here_.t, here_.q) || !statics_.flow(velocity_, flow_normal_, flow_tangent_))
          return false;
        (flow_guards(nullptr) < 0 ? high : low) = middle;
      }
      for (std::size_t i = 0; i < n_; ++i) here_.q[i] = from[i] + high * direction.q_rate[i];
      if (!statics_.place(here_.t, here_.q) || !statics_.flow(velocity_, flow_normal_, flow_tangent_))
        return false;
      arc = high;
      return true;
    }
  }
  here_.q = from;
  return fail(Reason::indeterminate, "the equilibrium is neutral: nothing decides where it ends");
}

/// The last stretch of a leg: the balanced point near by. False: it is not near.
bool QuasiStaticEngine::Run::land(double speed, double& arc) {
  QuasiStaticPoint point = here_;
  point.normal = flow_normal_;
  point.tangent = flow_tangent_;
  statics_.stick_here(here_.t, here_.q);
  double moved = 0;
  if (!statics_.correct(point, no_border_, 1, &moved)) return false;
  double away = 0, along = 0;
  for (std::size_t i = 0; i < n_; ++i) {
    away += (point.q[i] - here_.q[i]) * (point.q[i] - here_.q[i]);
    along += (point.q[i] - here_.q[i]) * velocity_[i];
  }
  away = std::sqrt(away);
  // The force that is left over points there: otherwise it fades for another reason.
  if (!(away <= 1e-3 * reach()) || (away > 1e-12 * reach() && !(along > 0.5 * away * speed))) return false;
  here_.q = point.q;
  here_.normal = point.normal;
  here_.tangent = point.tangent;
  arc += away;
  return true;
}

/// Lists a leg that has ended, with the work of friction in it.
void QuasiStaticEngine::Run::end_leg(double arc) {
  const double energy = energy_of(here_.q);
  Event event;
  event.kind = EventKind::jump;
  event.place = -1;
  event.numbers = {arc, 0};
  event.energy_before = leg_energy_;
  event.energy_after = energy;
  recorder_.pending().push_back(event);
  double rubbed = 0;
  double* const dissipated = works_.data() + layout_.integrated();
  for (int r = 0; r < layout_.relations; ++r) {
    const int audit = system_.relations()[r].audit;
    if (audit >= 0) dissipated[audit] += leg_work_[r];
    rubbed += leg_work_[r];
  }
  for (int e = 0; e < layout_.audits; ++e) {
    if (system_.audits()[e].of_jumps) dissipated[e] += leg_energy_ - energy - rubbed;
  }
  leg_energy_ = energy;
  std::fill(leg_work_.begin(), leg_work_.end(), 0.0);
}

/// Work of friction along a stretch of a jump, at the velocity of the last flow.
void QuasiStaticEngine::Run::rub(double length) {
  const double speed = norm(velocity_);
  if (!(speed > 0)) return;
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j)
      leg_work_[r] -= length * flow_tangent_[j] * statics_.slip(r, j, velocity_, 0) / speed;
  }
}

bool QuasiStaticEngine::Run::lose_jump(const char* message) {
  return result_.status.reason == Reason::done ? fail(Reason::inconsistent, message) : false;
}

/// A status has ended in a jump: what `fired_` names changes, and the rest is decided anew. `moves`: the jump goes on.
bool QuasiStaticEngine::Run::next_leg(bool& moves) {
  for (const Fired& one : fired_) {
    const model::Relation& relation = system_.relations()[one.place];
    const bool rubs = relation.tangents > 0;
    if (one.what == Fired::What::gap) {
      mode_.normal[one.place] = NormalStatus::closed;
    } else if (one.what == Fired::What::reaction && rubs) {
      mode_.normal[one.place] = NormalStatus::open;
      mode_.tangent[relation.first_tangent] = TangentStatus::free;
    } else {
      excluded_[one.place] = {mode_.normal[one.place],
                              rubs ? mode_.tangent[relation.first_tangent] : TangentStatus::free};
    }
  }
  const Mode before = undecided_;
  if (!statics_.place(here_.t, here_.q) || !decide_flow(moves)) return lose_jump("the jump cannot go on");
  list_changes(before);
  std::fill(excluded_.begin(), excluded_.end(), Option{});
  if (moves) return true;
  here_.normal = flow_normal_;
  here_.tangent = flow_tangent_;
  statics_.stick_here(here_.t, here_.q);
  return true;
}

/// One step along the force that is left over, cut where a status ends.
bool QuasiStaticEngine::Run::flow_on(double size, double& step, double& arc) {
  const std::vector<double> from = here_.q;
  std::vector<double> to(n_), half(n_), way(n_);
  double error = 0, speed = 0, unused = 0;
  for (int attempt = 0;; ++attempt) {
    if (attempt > 200)
      return fail(Reason::step_too_small, "a jump cannot be followed: its step has become too small");
    if (flow_step(from, step, to, error) && error <= kLegTolerance * size) break;
    step /= 2;
  }
  // velocity_ is that at the end of the step, where the last stage stands.
  if (flow_guards(nullptr) < 0) {
    double low = 0, high = step;
    for (int k = 0; k < 100; ++k) {
      const double middle = 0.5 * (low + high);
      if (!(middle > low && middle < high) || !flow_step(from, middle, to, error)) break;
      (flow_guards(nullptr) < 0 ? high : low) = middle;
    }
    step = high;
    if (!flow_step(from, step, to, error)) return lose_jump("the jump cannot be followed");
  }
  // Work of friction by Simpson's rule.
  if (flow_direction(from, way, speed)) rub(step / 6);
  if (flow_step(from, step / 2, half, unused) && flow_direction(half, way, speed)) rub(step * 4 / 6);
  if (flow_direction(to, way, speed)) rub(step / 6);
  here_.q = to;
  arc += step;
  step *= std::clamp(error > 0 ? 0.9 * elementary::pow(kLegTolerance * size / error, 0.2) : 4.0, 0.2, 4.0);
  return true;
}

bool QuasiStaticEngine::Run::jump(const QuasiStaticPoint* direction) {
  double arc = 0, fastest = 0, step = 0, total = 0;
  leg_energy_ = energy_of(here_.q);
  std::fill(leg_work_.begin(), leg_work_.end(), 0.0);
  undecided_ = mode_;
  const double size = reach();
  if (direction != nullptr) {
    if (!kick(*direction, arc)) return lose_jump("the jump cannot be followed");
    rub(arc);
  }
  std::vector<double> way(n_);
  while (true) {
    if (cancelled()) return false;
    patience_.look();
    double speed = 0;
    if (!flow_direction(here_.q, way, speed))
      return lose_jump("the reactions of the contacts are not determined in a jump");
    fired_.clear();
    if (flow_guards(&fired_) < 0) {
      if (arc > 0) end_leg(arc);
      total += arc;
      arc = step = fastest = 0;
      bool moves = false;
      if (!next_leg(moves)) return false;
      if (!moves) return true;
      continue;
    }
    undecided_ = mode_;
    fastest = std::max(fastest, speed);
    if (speed <= kFaded * fastest && land(speed, arc)) break;
    if (total + arc > kFarthest * size)
      return lose_jump("a jump finds no equilibrium: the forces never come to balance");
    if (!(step > 0)) step = kFirstStep * size;
    if (!flow_on(size, step, arc)) return false;
  }
  if (!statics_.place(here_.t, here_.q)) return fail(Reason::not_finite, "a force is not finite");
  end_leg(arc);
  return true;
}

}  // namespace judder::engines
