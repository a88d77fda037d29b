#include "quasi_static_jump.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/elementary.hpp"

namespace judder::engines {
namespace {

constexpr double kKick = 1e-4;         ///< of the reach: first stretch along an unstable direction
constexpr int kShorter = 3;            ///< tenths of it that are tried where something lies nearer
constexpr int kMostTurns = 8;          ///< doublings of it before a direction counts as stable
constexpr double kFaded = 1e-5;        ///< share of the largest V below which the end is looked for
constexpr double kNearLanding = 1e-3;  ///< of the reach: a last stretch as long as this is straight
constexpr double kFarLanding = 0.2;    ///< the same where the force was seen to lead there
constexpr double kLegTolerance = 1e-11;
constexpr double kSlow = 1e-6;       ///< of the forces: below it V is not resolved by its own size
constexpr double kFirstStep = 1e-3;  ///< of a leg, as a share of the reach
constexpr double kFarthest = 1e6;    ///< reaches after which a jump counts as endless
constexpr double kBounce = 1e-9;     ///< of the reach: longest step that is believed to have met the end
constexpr double kNearest = 1e-13;   ///< of the reach: steps this short have arrived where V fades

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

QuasiStaticJump::QuasiStaticJump(QuasiStaticScene& scene, QuasiStaticDecision& decision,
                                 QuasiStaticRecords& records)
    : scene_(scene), decision_(decision), records_(records), point_(scene.point()) {
  leg_work_.resize(static_cast<std::size_t>(scene.layout.relations));
  leg_powers_.resize(2 * static_cast<std::size_t>(scene.layout.audits));
  stages_.assign(7, std::vector<double>(scene.n));
  for (std::vector<double>* values : {&from_, &to_, &half_, &way_, &place_, &straight_})
    values->resize(scene.n);
}

bool QuasiStaticJump::flow_direction(const std::vector<double>& q, std::vector<double>& out, double& speed) {
  if (!scene_.statics.place(scene_.here.t, q) ||
      !scene_.statics.flow(flow().velocity, flow().normal, flow().tangent))
    return false;
  speed = norm(flow().velocity);
  for (std::size_t i = 0; i < scene_.n; ++i) out[i] = speed > 0 ? flow().velocity[i] / speed : 0;
  return true;
}

/// From `from_` to `to_`.
bool QuasiStaticJump::flow_step(double arc, double& error) {
  double speed = 0;
  if (!flow_direction(from_, stages_[0], speed)) return false;
  std::array<double, 7> speeds{speed};
  for (std::size_t s = 0; s < 6; ++s) {
    for (std::size_t i = 0; i < scene_.n; ++i) {
      double sum = 0;
      for (std::size_t k = 0; k <= s; ++k) sum += kNodes[s][k] * stages_[k][i];
      place_[i] = from_[i] + arc * sum;
    }
    if (!flow_direction(place_, stages_[s + 1], speed)) return false;
    speeds[s + 1] = speed;
  }
  to_ = place_;
  error = 0;
  for (std::size_t i = 0; i < scene_.n; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < 7; ++k) sum += kErrorWeights[k] * stages_[k][i];
    error += arc * sum * arc * sum;
  }
  error = std::sqrt(error);
  // The direction may be the same everywhere, on a line for instance: what is left over must be resolved, too, or the place where it is balanced
  // lies between the stages. As a length, the error of its integral over the largest that was met.
  double sum = 0, most = std::max(fastest_, kSlow * scene_.force_scale());
  for (std::size_t k = 0; k < 7; ++k) {
    sum += kErrorWeights[k] * speeds[k];
    most = std::max(most, speeds[k]);
  }
  if (most > 0) error = std::max(error, arc * std::abs(sum) / most);
  return true;
}

/// The smallest guard of the flow at the place of the last flow_direction(), relative to its size.
double QuasiStaticJump::flow_guards(std::vector<QuasiStaticFired>* fired) {
  using What = QuasiStaticFired::What;
  double worst = 1;
  const double force = std::max(scene_.force_scale(), norm(flow().velocity)), length = size_;
  const auto look = [&](double value, double size, What what, int place) {
    constexpr double kNoise = 1e-13;
    const double share = size > 0 ? value / size + kNoise : 1;
    worst = std::min(worst, share);
    if (share < 0 && fired != nullptr) fired->push_back({what, place});
  };
  for (int r = 0; r < scene_.layout.relations; ++r) {
    const model::Relation& relation = scene_.system.relations()[r];
    const model::RelationRows& rows = scene_.statics.rows(r);
    if (scene_.mode.normal[r] == NormalStatus::open) {
      double scale = 0;
      for (const double w : rows.w.values()) scale += std::abs(w);
      look(scene_.statics.gap(r), scale * length, What::gap, r);
      continue;
    }
    if (scene_.mode.normal[r] == NormalStatus::closed) look(flow().normal[r], force, What::reaction, r);
    for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j) {
      const int sigma = direction(scene_.mode.tangent[j]);
      if (sigma == 0) {
        look(scene_.statics.limit(r, j, flow().normal) - std::abs(flow().tangent[j]), force, What::cone, r);
      } else {
        look(sigma * scene_.statics.slip(r, j, flow().velocity, 0), force, What::slip, r);
      }
    }
  }
  return worst;
}

/// A place off balance by this length, from `from_`: gone if what is left over there leads on, and all statuses stay.
QuasiStaticJump::Kick QuasiStaticJump::try_kick(const std::vector<double>& direction, double length,
                                                double& along) {
  point_ = scene_.here;
  for (std::size_t i = 0; i < scene_.n; ++i) point_.q[i] = from_[i] + length * direction[i];
  if (!scene_.statics.hold_along(point_, from_, direction, length)) {
    for (std::size_t i = 0; i < scene_.n; ++i) point_.q[i] = from_[i] + length * direction[i];
  }
  if (!scene_.statics.place(scene_.here.t, point_.q) ||
      !scene_.statics.flow(flow().velocity, flow().normal, flow().tangent))
    return Kick::failed;
  const bool held = flow_guards(nullptr) >= 0;
  along = 0;
  for (std::size_t i = 0; i < scene_.n; ++i) along += flow().velocity[i] * direction[i];
  const double noise = 1e-13 * scene_.force_scale();
  if (along > noise && held) return Kick::gone;
  return along < -noise ? Kick::back : Kick::neutral;
}

/// On a neutral direction nothing is left over, and it ends where a status does.
bool QuasiStaticJump::end_of_status(const std::vector<double>& direction, double length) {
  double low = 0, high = length;
  const auto at = [&](double share) {
    for (std::size_t i = 0; i < scene_.n; ++i) point_.q[i] = from_[i] + share * direction[i];
    return scene_.statics.place(scene_.here.t, point_.q) &&
           scene_.statics.flow(flow().velocity, flow().normal, flow().tangent);
  };
  for (int halving = 0; halving < 80; ++halving) {
    const double middle = 0.5 * (low + high);
    if (!at(middle)) return false;
    (flow_guards(nullptr) < 0 ? high : low) = middle;
  }
  return at(high);
}

/// The first stretch along an unstable direction, from where there is no force left over to where there is some.
QuasiStaticJump::Kick QuasiStaticJump::kick(const QuasiStaticPoint& direction, const Mode& before,
                                            double& arc) {
  from_ = scene_.here.q;
  scene_.statics.stick_here(scene_.here.t, from_);
  const double first = kKick * size_;
  double along = 0;
  const auto take = [&] {
    arc = 0;
    for (std::size_t i = 0; i < scene_.n; ++i) arc += (point_.q[i] - from_[i]) * (point_.q[i] - from_[i]);
    arc = std::sqrt(arc);
    records_.open_instant(before);
    records_.list_changes(before);
    rub_straight(from_, point_.q);
    scene_.here.q = point_.q;
    return Kick::gone;
  };
  double length = first;
  for (int k = 0; k <= kShorter; ++k, length /= 10) {
    const Kick found = try_kick(direction.q_rate, length, along);
    if (found == Kick::gone) return take();
    if (found == Kick::failed) return found;
  }
  length = first;
  bool back = false;
  for (int k = 0; k < 60; ++k, length *= 2) {
    const Kick found = try_kick(direction.q_rate, length, along);
    if (found == Kick::gone) return take();
    if (found == Kick::failed) return found;
    if (found == Kick::back) {
      back = true;
      if (k >= kMostTurns) break;  // just before a fold the force still points back
      continue;
    }
    if (!back && flow_guards(nullptr) < 0)
      return end_of_status(direction.q_rate, length) ? take() : Kick::failed;
  }
  scene_.here.q = from_;
  return back ? Kick::back : Kick::neutral;
}

/// Whether the force that is left over points from `here` to `point_` on all of the way, in the same statuses.
bool QuasiStaticJump::leads_on(double away) {
  if (away > kFarLanding * size_) return false;
  constexpr int kPlaces = 8;
  for (int k = 1; k < kPlaces; ++k) {
    double along = 0, speed = 0;
    for (std::size_t i = 0; i < scene_.n; ++i)
      place_[i] = scene_.here.q[i] + (point_.q[i] - scene_.here.q[i]) * k / kPlaces;
    if (!flow_direction(place_, way_, speed) || flow_guards(nullptr) < 0) return false;
    for (std::size_t i = 0; i < scene_.n; ++i) along += (point_.q[i] - scene_.here.q[i]) * flow().velocity[i];
    if (!(along > 0.5 * away * speed)) return false;
  }
  return true;
}

/// The last stretch of a leg: the balanced point near by. False: it is not near.
bool QuasiStaticJump::land(double speed, double& arc) {
  QuasiStaticPoint& here = scene_.here;
  point_ = here;
  point_.normal = flow().normal;
  point_.tangent = flow().tangent;
  scene_.statics.stick_here(here.t, here.q);
  // Where forces vanish with their slope Newton's method goes a share of the way at a time.
  constexpr int kMostCorrections = 400;
  double moved = 0;
  if (!scene_.statics.correct(point_, scene_.no_border, 1, &moved, kMostCorrections)) return false;
  double away = 0, along = 0;
  for (std::size_t i = 0; i < scene_.n; ++i) {
    away += (point_.q[i] - here.q[i]) * (point_.q[i] - here.q[i]);
    along += (point_.q[i] - here.q[i]) * flow().velocity[i];
  }
  away = std::sqrt(away);
  // The force that is left over points there: otherwise it fades for another reason.
  if (away > 1e-12 * size_ && !(along > 0.5 * away * speed)) return false;
  if (!(away <= kNearLanding * size_) && !leads_on(away)) return false;
  rub_straight(here.q, point_.q);
  here.q = point_.q;
  here.normal = point_.normal;
  here.tangent = point_.tangent;
  arc += away;
  return true;
}

/// Lists a leg that has ended, with the work of friction in it.
void QuasiStaticJump::end_leg(double arc) {
  const double energy = records_.energy_of(scene_.here.q);
  records_.add_jump(arc, leg_energy_, energy);
  double rubbed = 0;
  double* const dissipated = records_.dissipated();
  for (int r = 0; r < scene_.layout.relations; ++r) {
    const int audit = scene_.system.relations()[r].audit;
    if (audit >= 0) dissipated[audit] += leg_work_[r];
    rubbed += leg_work_[r];
  }
  // What the load has done beside is neither stored nor rubbed away.
  double given = 0;
  const auto audits = static_cast<std::size_t>(scene_.layout.audits);
  for (std::size_t e = 0; e < audits; ++e) {
    dissipated[e] += leg_powers_[e];
    records_.supplied()[e] += leg_powers_[audits + e];
    given += leg_powers_[audits + e] - leg_powers_[e];
  }
  for (int e = 0; e < scene_.layout.audits; ++e) {
    if (scene_.system.audits()[e].of_jumps) dissipated[e] += leg_energy_ - energy + given - rubbed;
  }
  leg_energy_ = energy;
  for (std::size_t i = 0; i < scene_.n; ++i)
    scene_.largest[i] = std::max(scene_.largest[i], std::abs(scene_.here.q[i] - scene_.start[i]));
  std::fill(leg_work_.begin(), leg_work_.end(), 0.0);
  std::fill(leg_powers_.begin(), leg_powers_.end(), 0.0);
}

/// Works along a stretch of a jump, at the velocity of the last flow.
void QuasiStaticJump::rub(double length) {
  const double speed = norm(flow().velocity);
  if (!(speed > 0)) return;
  for (int r = 0; r < scene_.layout.relations; ++r) {
    const model::Relation& relation = scene_.system.relations()[r];
    for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j)
      leg_work_[r] -= length * flow().tangent[j] * scene_.statics.slip(r, j, flow().velocity, 0) / speed;
  }
  records_.add_works_over(flow().velocity, length / speed, leg_powers_);
}

/// The same on a straight way, by Gauss' rule of three places; the last flow is another one after it.
void QuasiStaticJump::rub_straight(const std::vector<double>& from, const std::vector<double>& to) {
  constexpr double kOuter = 0.7745966692414834;
  constexpr std::array<std::array<double, 2>, 3> kRule{
      {{0.5 * (1 - kOuter), 5.0 / 18}, {0.5, 8.0 / 18}, {0.5 * (1 + kOuter), 5.0 / 18}}};
  for (const auto& [share, weight] : kRule) {
    double speed = 0;
    for (std::size_t i = 0; i < scene_.n; ++i) straight_[i] = from[i] + share * (to[i] - from[i]);
    if (!flow_direction(straight_, way_, speed)) continue;
    for (std::size_t i = 0; i < scene_.n; ++i) straight_[i] = to[i] - from[i];
    for (int r = 0; r < scene_.layout.relations; ++r) {
      const model::Relation& relation = scene_.system.relations()[r];
      for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j)
        leg_work_[r] -= weight * flow().tangent[j] * scene_.statics.slip(r, j, straight_, 0);
    }
    records_.add_works_over(straight_, weight, leg_powers_);
  }
}

QuasiStaticJump::Outcome QuasiStaticJump::lose(const char* message) {
  static_cast<void>(scene_.fail(Reason::inconsistent, message));
  return Outcome::failed;
}

/// A status has ended in a jump: what has fired changes, and the rest is decided anew. `moves`: the jump goes on.
bool QuasiStaticJump::next_leg(bool& moves) {
  using What = QuasiStaticFired::What;
  Mode& mode = scene_.mode;
  for (const QuasiStaticFired& one : scene_.fired) {
    const model::Relation& relation = scene_.system.relations()[one.place];
    const bool rubs = relation.tangents > 0;
    if (one.what == What::gap) {
      mode.normal[one.place] = NormalStatus::closed;
    } else if (one.what == What::reaction && rubs) {
      mode.normal[one.place] = NormalStatus::open;
      mode.tangent[relation.first_tangent] = TangentStatus::free;
    } else {
      scene_.excluded[one.place] = {mode.normal[one.place],
                                    rubs ? mode.tangent[relation.first_tangent] : TangentStatus::free};
    }
  }
  const Mode before = undecided_;
  if (!scene_.place() || !decision_.decide_flow(moves)) {
    static_cast<void>(lose("the jump cannot go on"));
    return false;
  }
  records_.list_changes(before);
  scene_.forget_excluded();
  if (moves) return true;
  scene_.here.normal = flow().normal;
  scene_.here.tangent = flow().tangent;
  scene_.statics.stick_here(scene_.here.t, scene_.here.q);
  return true;
}

/// One step along the force that is left over, cut where a status ends. `faded`: a step that finds no length has arrived.
QuasiStaticJump::Step QuasiStaticJump::flow_on(bool faded, double& step, double& arc) {
  from_ = scene_.here.q;
  double error = 0, speed = 0, unused = 0;
  while (!flow_step(step, error) || error > kLegTolerance * size_) {
    step /= 2;
    if (step > kNearest * size_) continue;
    if (faded) return Step::arrived;
    static_cast<void>(
        scene_.fail(Reason::step_too_small, "a jump cannot be followed: its step has become too small"));
    return Step::failed;
  }
  // The flow is that at the end of the step, where the last stage stands.
  if (flow_guards(nullptr) < 0) {
    double low = 0, high = step;
    for (int k = 0; k < 100; ++k) {
      const double middle = 0.5 * (low + high);
      if (!(middle > low && middle < high) || !flow_step(middle, error)) break;
      (flow_guards(nullptr) < 0 ? high : low) = middle;
    }
    step = high;
    if (!flow_step(step, error)) {
      static_cast<void>(lose("the jump cannot be followed"));
      return Step::failed;
    }
  }
  // Steps that go to and fro within the tolerance have found the end.
  double turn = 0;
  for (std::size_t i = 0; i < scene_.n; ++i) turn += stages_.front()[i] * stages_.back()[i];
  const bool arrived = faded && turn <= 0 && step <= kBounce * size_;
  // Work of friction by Simpson's rule.
  half_ = to_;
  if (flow_direction(from_, way_, speed)) rub(step / 6);
  if (flow_step(step / 2, unused) && flow_direction(to_, way_, speed)) rub(step * 4 / 6);
  if (flow_direction(half_, way_, speed)) rub(step / 6);
  scene_.here.q = half_;
  arc += step;
  step *= std::clamp(error > 0 ? 0.9 * elementary::pow(kLegTolerance * size_ / error, 0.2) : 4.0, 0.2, 4.0);
  return arrived ? Step::arrived : Step::done;
}

void QuasiStaticJump::begin() {
  leg_energy_ = records_.energy_of(scene_.here.q);
  std::fill(leg_work_.begin(), leg_work_.end(), 0.0);
  std::fill(leg_powers_.begin(), leg_powers_.end(), 0.0);
  undecided_ = scene_.mode;
  size_ = scene_.reach();
}

QuasiStaticJump::Outcome QuasiStaticJump::from_imbalance() {
  begin();
  return follow(0);
}

QuasiStaticJump::Outcome QuasiStaticJump::along(const QuasiStaticPoint& direction, const Mode& before) {
  begin();
  double arc = 0;
  switch (kick(direction, before, arc)) {
    case Kick::gone:
      return follow(arc);
    case Kick::back:
      return Outcome::held;
    case Kick::neutral:
      static_cast<void>(
          scene_.fail(Reason::indeterminate, "the equilibrium is neutral: nothing decides where it ends"));
      return Outcome::failed;
    case Kick::failed:
      break;
  }
  return lose("the jump cannot be followed");
}

/// From where the force that is left over leads, leg by leg; `arc` lies behind already.
QuasiStaticJump::Outcome QuasiStaticJump::follow(double arc) {
  double step = 0, total = 0;
  fastest_ = 0;
  while (true) {
    if (scene_.cancelled()) return Outcome::failed;
    scene_.patience.look();
    double speed = 0;
    if (!flow_direction(scene_.here.q, way_, speed))
      return lose("the reactions of the contacts are not determined in a jump");
    scene_.fired.clear();
    if (flow_guards(&scene_.fired) < 0) {
      if (arc > 0) end_leg(arc);
      total += arc;
      arc = step = fastest_ = 0;
      bool moves = false;
      if (!next_leg(moves)) return Outcome::failed;
      if (!moves) return Outcome::balanced;
      continue;
    }
    undecided_ = scene_.mode;
    fastest_ = std::max(fastest_, speed);
    const bool faded = speed <= kFaded * fastest_;
    if (faded && land(speed, arc)) break;
    if (total + arc > kFarthest * size_)
      return lose("a jump finds no equilibrium: the forces never come to balance");
    if (!(step > 0)) step = kFirstStep * size_;
    const Step made = flow_on(faded, step, arc);
    if (made == Step::failed) return Outcome::failed;
    if (made == Step::arrived) {
      // V fades with its slope, and Newton's method with it: the steps have found the end.
      if (!flow_direction(scene_.here.q, way_, speed)) return lose("the jump cannot be followed");
      scene_.here.normal = flow().normal;
      scene_.here.tangent = flow().tangent;
      scene_.statics.stick_here(scene_.here.t, scene_.here.q);
      break;
    }
  }
  if (!scene_.place()) {
    static_cast<void>(scene_.fail(Reason::not_finite, "a force is not finite"));
    return Outcome::failed;
  }
  end_leg(arc);
  return Outcome::balanced;
}

}  // namespace judder::engines
