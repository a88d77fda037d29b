#include "regularised_scheme.hpp"

#include <algorithm>
#include <cmath>

#include "core/dense/reduction.hpp"
#include "core/elementary.hpp"
#include "engines/stepping/rebound.hpp"
#include "engines/stepping/step_inputs.hpp"
#include "judder/core/number.hpp"

namespace judder::engines {
namespace {

/// Angle by which a mass on a spring that is given no stiffness turns in a step.
constexpr double kTurn = 0.3;
/// c h W of the strongest damper that a step takes without loss of order.
constexpr double kMostDamping = 0.6;
/// Without numbers of its own what sticks is held by a damper, c_T h W, beside a softer spring, k_T h² W: nothing swings when an impact ends.
constexpr double kStickDamping = 0.9, kStickSpring = 0.01;
/// Restitution below which a contact keeps a dent, and how a mass turns on it: friction has some ten steps for its share.
constexpr double kDents = 0.01, kDentTurn = 0.1;
/// What holds, below its limit and at it.
constexpr std::uint8_t kBelow = 1, kAtItsLimit = 2;
constexpr double kHalfPi = 1.5707963267948966;
/// Differences of velocities from those of the impact law, relative to the approach: worth a note; too much.
constexpr double kListed = 0.02, kTooFar = 0.1;

}  // namespace

RegularisedScheme::RegularisedScheme(const model::System& system, ReadNumbers read)
    : system_(system), layout_(system.layout()), read_(read), work_(system) {
  const auto n = static_cast<std::size_t>(layout_.coordinates);
  if (EventEngine::unsupported(system).empty()) {
    decider_ = std::make_unique<Decider>(system, work_);
    motion_ = std::make_unique<ModeMotion>(system, work_);
    collider_ = std::make_unique<Collider>(system, work_);
  } else {
    law_ = std::make_unique<StepContacts>(system, work_);
    mass_.resize(layout_.coordinates);
    after_.resize(n);
  }
  stretches_ = layout_.integrated();
  works_ = stretches_ + layout_.tangents;
  impulses_ = works_ + 2 * layout_.audits;
  const auto size = static_cast<std::size_t>(impulses_ + layout_.relations);
  for (std::vector<double>* each : {&y_, &stage_, &next_, &k_[0], &k_[1], &k_[2], &k_[3]}) each->resize(size);
  force_.resize(layout_.coordinates);
  solved_.resize(layout_.coordinates);
  normal_.resize(layout_.relations);
  tangent_.resize(layout_.tangents);
  stretch_.resize(layout_.tangents);
  slips_.resize(layout_.relations);
  turned_.resize(layout_.relations);
  holding_.resize(layout_.relations);
  const auto tangents = static_cast<std::size_t>(layout_.tangents);
  held_rows_.reserve(tangents);
  held_.resize(tangents * tangents);
  own_response_.resize(tangents);
  due_joint_.resize(tangents);
  spring_.resize(layout_.relations);
  for (std::vector<double>* each : {&gap_before_, &rate_before_, &gap_after_, &rate_after_})
    each->resize(layout_.relations);
  touching_.resize(layout_.relations);
  struck_.reserve(layout_.relations);
  powers_.resize(layout_.audits);
}

void RegularisedScheme::use(Patience* patience) {
  if (law_ != nullptr) law_->use(patience);
  if (decider_ == nullptr) return;
  decider_->use(patience);
  motion_->use(patience);
  collider_->use(patience);
}

std::string RegularisedScheme::begin(const EngineOptions& options, double step) {
  numbers_ = read_(options);
  h_ = step;
  std::copy(system_.start().begin(), system_.start().end(), work_.in.begin());
  std::fill(stretch_.begin(), stretch_.end(), 0.0);
  std::fill(slips_.begin(), slips_.end(), std::uint8_t{0});
  std::fill(spring_.begin(), spring_.end(), Spring{});
  std::fill(normal_.begin(), normal_.end(), 0.0);
  std::fill(tangent_.begin(), tangent_.end(), 0.0);
  std::fill(due_joint_.begin(), due_joint_.end(), 0.0);
  too_far_since_ = too_far_ = 0;
  if (law_ != nullptr) law_->start();
  overlaps_.start();
  creep_.start();
  impacts_.start();
  return {};
}

Status RegularisedScheme::start(StepState& state) {
  stage_mode_ = state.mode;
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    bool moves = false;
    for (int j = 0; j < relation.tangents; ++j)
      moves = moves || direction(state.mode.tangent[relation.first_tangent + j]) != 0;
    slips_[r] = moves ? 1 : 0;
    if (!relation.has_normal) continue;
    if (relation.kind != model::RelationKind::contact) {
      spring_[r].presses = true;
    } else if (state.mode.normal[r] == NormalStatus::closed) {
      close(r, state.t);
    }
  }
  start_springs(state);
  std::fill(y_.begin(), y_.end(), 0.0);
  std::copy(state.y.begin(), state.y.end(), y_.begin());
  std::copy(stretch_.begin(), stretch_.end(), y_.begin() + stretches_);
  if (!rate_at(state.t, y_.data(), k_[0].data()))
    return {Reason::not_finite, state.t, {}, "the equations cannot be evaluated at the start"};
  take_end(state);
  return {};
}

// Lengths with which springs begin to give the reactions of the true motion, where these can be found.
void RegularisedScheme::start_springs(const StepState& state) {
  if (decider_ == nullptr) return;
  write_state(layout_, state.t, state.y.data(), work_.in.data());
  Mode mode = state.mode;
  mode.pressed.assign(layout_.relations, 0);
  write_statuses(layout_, mode, work_.in.data());
  if (!system_.motion(work_) || !decider_->decide(mode, decider_->no_exclusions()).ok()) return;
  if (!motion_->set_mode(mode) || !motion_->evaluate()) return;
  motion_->publish();
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    Spring& spring = spring_[r];
    const model::RelationRows& rows = system_.rows(work_, r);
    if (relation.has_normal && relation.kind == model::RelationKind::contact &&
        mode.normal[r] == NormalStatus::open)
      spring.presses = false;
    if (relation.has_normal && relation.holonomic && spring.presses && !(numbers_.stiffness > 0)) {
      const double inverse_mass = response_of(rows.w, rows.push);
      const double stiffness = stiffness_of(r, inverse_mass);
      if (stiffness > 0) spring.rest = rows.gap + work_.in[layout_.normal() + r] / stiffness;
    }
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (mode.tangent[number] != TangentStatus::stick) continue;
      slips_[r] = 0;
      if (own_tangents() || relation.smooth_friction) continue;
      const double stiffness = tangent_stiffness(response_of(rows.tangent[j].w, rows.tangent[j].drag));
      if (stiffness > 0) stretch_[number] = -work_.in[layout_.tangent() + number] / stiffness;
    }
    for (int j = 0; j < relation.tangents; ++j) {
      if (direction(mode.tangent[relation.first_tangent + j]) != 0) slips_[r] = 1;
    }
  }
}

// 1/m of a row: how much its velocity changes by an impulse.
double RegularisedScheme::response_of(const model::Row& row, const model::Row& push) {
  push.write(solved_.data(), static_cast<std::size_t>(layout_.coordinates));
  system_.solve_mass(work_, solved_.data());
  return row.dot(solved_.data());
}

void RegularisedScheme::push(const model::Row& direction, double force) {
  for (std::size_t k = 0; k < direction.values().size(); ++k)
    force_[direction.places()[k]] += force * direction.values()[k];
}

double RegularisedScheme::stiffness_of(int r, double inverse_mass) const {
  if (numbers_.stiffness > 0) return numbers_.stiffness;
  const double turn = spring_[r].turn;
  return inverse_mass > 0 ? turn * turn / (h_ * h_ * inverse_mass) : 0;
}

double RegularisedScheme::damping_of(int r, double stiffness, double inverse_mass) const {
  if (numbers_.normal_damping > 0) return numbers_.normal_damping;
  return 2 * spring_[r].ratio * std::sqrt(stiffness / inverse_mass);
}

double RegularisedScheme::tangent_stiffness(double inverse_mass) const {
  if (numbers_.tangential > 0) return numbers_.tangential;
  return inverse_mass > 0 ? (own_tangents() ? kTurn * kTurn : kStickSpring) / (h_ * h_ * inverse_mass) : 0;
}

double RegularisedScheme::tangent_damping(double inverse_mass) const {
  if (own_tangents()) return numbers_.damping;
  return inverse_mass > 0 ? kStickDamping / (h_ * inverse_mass) : 0;
}

void RegularisedScheme::add_normal(int r, const double* v) {
  const model::Relation& relation = system_.relations()[r];
  const model::RelationRows& rows = work_.relation[r];
  normal_[r] = 0;
  if (!relation.has_normal || !spring_[r].presses) return;
  const double inverse_mass = response_of(rows.w, rows.push);
  if (!(inverse_mass > 0)) return;
  const double stiffness = stiffness_of(r, inverse_mass);
  const double damping = damping_of(r, stiffness, inverse_mass);
  const double speed = rows.gap_time + rows.w.dot(v);
  const double length = relation.holonomic ? spring_[r].rest - rows.gap : 0;
  double force = stiffness * length - damping * speed;
  if (relation.kind == model::RelationKind::contact) force = std::max(force, 0.0);
  normal_[r] = force;
  push(rows.push, force);
}

double RegularisedScheme::load_of(int r) const {
  const model::RelationRows& rows = work_.relation[r];
  const model::Relation& relation = system_.relations()[r];
  double load = rows.base;
  for (std::size_t k = 0; k < relation.feeds.size(); ++k)
    load += rows.factors[k] * std::abs(normal_[relation.feeds[k]]);
  return std::max(load, 0.0);
}

void RegularisedScheme::add_friction(int r, const double* v, const double* stretch, double* stretch_rate) {
  const model::Relation& relation = system_.relations()[r];
  const model::RelationRows& rows = work_.relation[r];
  const double load = load_of(r);
  double slip[3] = {}, speed = 0;
  for (int j = 0; j < relation.tangents; ++j) {
    slip[j] = rows.tangent[j].drive + rows.tangent[j].w.dot(v);
    speed += slip[j] * slip[j];
    stretch_rate[relation.first_tangent + j] = 0;
  }
  speed = std::sqrt(speed);
  // A slip of several components turns its direction as it goes on; within a step it turns round only where it comes to zero.
  double along = 0;
  for (int j = 0; j < relation.tangents; ++j) along += stretch_[relation.first_tangent + j] * slip[j];
  double size = 0;  // of what holds
  for (int j = 0; j < relation.tangents; ++j) {
    const int number = relation.first_tangent + j;
    const model::RelationRows::Tangent& row = rows.tangent[j];
    double force = 0;
    if (relation.smooth_friction) {
      force = -row.mu * load;
    } else if (numbers_.arctan) {
      double beta = numbers_.beta;
      if (!(beta > 0)) {
        const double slope = row.mu * load * response_of(row.w, row.drag) / kHalfPi * h_;
        beta = slope > 0 ? kTurn / slope : 0;
      }
      if (speed > 0) force = -row.mu * load * (elementary::atan(beta * speed) / kHalfPi) * (slip[j] / speed);
    } else if (load > 0 && slips_[r] != 0) {
      if (along < 0) turned_[r] = 1;
      force = speed > 0 ? -row.mu * load * (slip[j] / speed) : 0;
    } else if (load > 0) {
      const double inverse_mass = response_of(row.w, row.drag);
      force = -tangent_stiffness(inverse_mass) * stretch[number] - tangent_damping(inverse_mass) * slip[j];
      stretch_rate[number] = slip[j];
      size += force * force;
    }
    tangent_[number] = force;
  }
  // What holds stays in its cone from the first step on.
  size = std::sqrt(size);
  const double limit = relation.tangents > 0 ? rows.tangent[0].mu_static * load : 0;
  const double share = size > limit && size > 0 ? limit / size : 1;
  for (int j = 0; j < relation.tangents; ++j) {
    const int number = relation.first_tangent + j;
    tangent_[number] *= share;
    push(rows.tangent[j].drag, tangent_[number]);
  }
}

bool RegularisedScheme::rate_at(double t, const double* y, double* rate) {
  const int n = layout_.coordinates;
  double* const in = work_.in.data();
  write_state(layout_, t, y, in);
  write_statuses(layout_, stage_mode_, in);
  for (int k = 0; k < layout_.switches; ++k)
    in[layout_.side() + k] = side_by_value(system_.switches()[k], work_);
  const double* const v = y + n;
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    system_.rows(work_, r);
    for (int j = 0; j < relation.tangents; ++j) {
      const model::RelationRows::Tangent& row = work_.relation[r].tangent[j];
      const double slip = row.drive + row.w.dot(v);
      in[layout_.direction() + relation.first_tangent + j] = slip > 0 ? 1 : slip < 0 ? -1 : 0;
    }
    if (relation.tangents > 0 && !relation.law_constant) system_.rows(work_, r);
  }
  ++evaluations;
  if (!system_.motion(work_)) return false;
  std::copy(work_.force.begin(), work_.force.end(), force_.begin());
  for (int r = 0; r < layout_.relations; ++r) add_normal(r, v);
  const double* const stretch = y + stretches_;
  for (int r = 0; r < layout_.relations; ++r) add_friction(r, v, stretch, rate + stretches_);
  system_.solve_mass(work_, force_.data());
  std::copy_n(v, n, rate);
  std::copy_n(force_.begin(), n, rate + n);
  std::copy_n(work_.rate.begin(), layout_.states, rate + 2 * n);
  std::copy(normal_.begin(), normal_.end(), rate + impulses_);
  double* const dissipated = rate + works_;
  double* const supplied = dissipated + layout_.audits;
  if (layout_.audits > 0) system_.powers(work_, powers_.data());
  for (std::size_t e = 0; e < system_.audits().size(); ++e) {
    const model::AuditInfo& audit = system_.audits()[e];
    dissipated[e] = audit.power >= 0 && audit.dissipative ? -powers_[audit.power] : 0;
    supplied[e] = audit.power >= 0 && !audit.dissipative ? powers_[audit.power] : 0;
    if (audit.relation < 0) continue;
    const model::Relation& relation = system_.relations()[audit.relation];
    const model::RelationRows& rows = work_.relation[audit.relation];
    const auto add = [&](double force, const model::Row& row, const model::Row& pushed, double drive) {
      const double speed = row.dot(v) + drive;
      dissipated[e] -= force * speed;
      supplied[e] += force * (pushed.dot(v) - speed);
    };
    if (relation.has_normal) add(normal_[audit.relation], rows.w, rows.push, rows.gap_time);
    for (int j = 0; j < relation.tangents; ++j)
      add(tangent_[relation.first_tangent + j], rows.tangent[j].w, rows.tangent[j].drag,
          rows.tangent[j].drive);
  }
  return true;
}

bool RegularisedScheme::run_part(double t, double h) {
  static constexpr double kNodes[4] = {0, 0.5, 0.5, 1};
  for (int s = 0; s < 4; ++s) {
    for (std::size_t i = 0; i < y_.size(); ++i)
      stage_[i] = s == 0 ? y_[i] : y_[i] + kNodes[s] * h * k_[s - 1][i];
    if (!rate_at(t + kNodes[s] * h, stage_.data(), k_[s].data())) return false;
  }
  bool finite = true;
  for (std::size_t i = 0; i < y_.size(); ++i) {
    next_[i] = y_[i] + h / 6 * (k_[0][i] + 2 * k_[1][i] + 2 * k_[2][i] + k_[3][i]);
    finite = finite && std::isfinite(next_[i]);
  }
  return finite;
}

void RegularisedScheme::gaps_at(double t, const double* y, std::vector<double>& gap,
                                std::vector<double>& rate) {
  write_state(layout_, t, y, work_.in.data());
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.has_normal && relation.kind == model::RelationKind::contact)
      system_.gap(work_, r, gap[r], rate[r]);
  }
}

// The force by which all others press this contact, at the inputs and accelerations of the last evaluation.
double RegularisedScheme::pressed_by(int r) {
  const model::RelationRows& rows = system_.rows(work_, r);
  const double inverse_mass = response_of(rows.w, rows.push);
  if (!(inverse_mass > 0)) return 0;
  const double rate = rows.zeta_n + rows.w.dot(k_[0].data() + layout_.coordinates);
  return std::max(0.0, normal_[r] - rate / inverse_mass);
}

// By how much the spring of a contact would pull, as an acceleration of its mass; negative where it pushes.
double RegularisedScheme::pull_of(int r, double gap, double rate) {
  const model::RelationRows& rows = system_.rows(work_, r);
  const double inverse_mass = response_of(rows.w, rows.push);
  const double stiffness = stiffness_of(r, inverse_mass);
  return inverse_mass * (damping_of(r, stiffness, inverse_mass) * rate - stiffness * (spring_[r].rest - gap));
}

// What ends the part of a step that led to next_: the first gap that closes, the first spring that has given back what it may, or the first contact without restitution that is pressed farthest.
RegularisedScheme::Found RegularisedScheme::first_change(double t, double h) {
  gaps_at(t + h, next_.data(), gap_after_, rate_after_);
  Found first;
  bool evaluated = false;
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (!relation.has_normal || relation.kind != model::RelationKind::contact) continue;
    Found found{Change::closes, r, 1, gap_before_[r], gap_after_[r]};
    if (spring_[r].watched && !spring_[r].dents) {
      const double before = pull_of(r, gap_before_[r], rate_before_[r]),
                   after = pull_of(r, gap_after_[r], rate_after_[r]);
      if (!(before < 0 && after > 0)) continue;
      found = {Change::leaves, r, 1, before, after};
    } else if (spring_[r].presses) {
      if (!spring_[r].dents || !(rate_before_[r] < 0) || !(rate_after_[r] >= 0)) continue;
      if (!evaluated && !rate_at(t + h, next_.data(), k_[0].data())) continue;
      evaluated = true;
      const model::RelationRows& rows = system_.rows(work_, r);
      const double stiffness = stiffness_of(r, response_of(rows.w, rows.push));
      // Pressed by less than twice what it bears it does not throw anything back; in an impact nothing else counts.
      if (!spring_[r].watched && !(stiffness * (spring_[r].rest - gap_after_[r]) > 2 * pressed_by(r)))
        continue;
      found = {Change::turns, r, 1, rate_before_[r], rate_after_[r]};
    } else if (!(gap_before_[r] > 0 && gap_after_[r] < 0)) {
      continue;
    }
    found.share = found.before / (found.before - found.after);
    if (first.kind == Change::none || found.share < first.share) first = found;
  }
  return first;
}

// The length of the part up to the zero of what was found; next_ is the state there.
bool RegularisedScheme::locate(const Found& found, double t, double h, double& length) {
  constexpr int kRounds = 30;
  constexpr double kClose = 1e-12;
  double low = 0, high = h, before = found.before, after = found.after;
  const double enough = kClose * (std::abs(before) + std::abs(after));
  int side = 0;
  for (int round = 0; round < kRounds; ++round) {
    length = low + (high - low) * before / (before - after);
    if (!run_part(t, length)) return false;
    gaps_at(t + length, next_.data(), gap_after_, rate_after_);
    const double gap = gap_after_[found.relation], rate = rate_after_[found.relation];
    const double value = found.kind == Change::closes  ? gap
                         : found.kind == Change::turns ? rate
                                                       : pull_of(found.relation, gap, rate);
    if (std::abs(value) <= enough) return true;
    const bool same = (value > 0) == (before > 0);
    // The end that stays where it is loses half its weight.
    if (same) {
      low = length;
      before = value;
      if (side == 1) after *= 0.5;
      side = 1;
    } else {
      high = length;
      after = value;
      if (side == -1) before *= 0.5;
      side = -1;
    }
  }
  return true;
}

void RegularisedScheme::close(int r, double t) {
  double gap = 0, rate = 0, e = 0, tangential = 0;
  system_.gap(work_, r, gap, rate);
  if (system_.relations()[r].restitution.outputs() == 2)
    system_.restitution(work_, r, std::max(0.0, -rate), e, tangential);
  Spring& spring = spring_[r];
  spring = {};
  spring.presses = true;
  spring.dents = e < kDents;
  spring.ratio = spring.dents ? 1 : damping_ratio_of(std::min(e, 1.0));
  spring.turn = spring.dents ? kDentTurn : std::min(kTurn, kMostDamping / (2 * std::max(spring.ratio, 1e-3)));
  spring.approach = std::max(0.0, -rate);
  spring.since = t;
}

// Friction of a contact that closes with a slip slides from its first moment on.
void RegularisedScheme::begin_slip(int r) {
  const model::Relation& relation = system_.relations()[r];
  const model::RelationRows& rows = system_.rows(work_, r);
  const double* const v = work_.in.data() + layout_.v();
  bool moves = false;
  for (int j = 0; j < relation.tangents; ++j) {
    stretch_[relation.first_tangent + j] = 0;
    moves = moves || rows.tangent[j].drive + rows.tangent[j].w.dot(v) != 0;
  }
  slips_[r] = moves ? 1 : 0;
}

// The spring that has been pressed farthest keeps the length at which it gives what it bears.
void RegularisedScheme::dent(int r) {
  const model::RelationRows& rows = system_.rows(work_, r);
  const double stiffness = stiffness_of(r, response_of(rows.w, rows.push));
  if (stiffness > 0) spring_[r].rest = rows.gap + (spring_[r].watched ? 0 : pressed_by(r) / stiffness);
}

Status RegularisedScheme::advance(StepState& state, double to, StepReport& report) {
  const double h = to - state.t;
  const auto failed = [&state] {
    return Status{Reason::not_finite,
                  state.t,
                  {},
                  "the forces of the step have no finite value; a shorter step may help"};
  };
  stage_mode_ = state.mode;
  std::fill(y_.begin(), y_.end(), 0.0);
  std::copy(state.y.begin(), state.y.end(), y_.begin());
  std::copy(stretch_.begin(), stretch_.end(), y_.begin() + stretches_);
  std::fill(turned_.begin(), turned_.end(), std::uint8_t{0});
  // Contacts that close, and those that turn, divide the step; ever more of them in one are passed over.
  const int most = 8 + 4 * layout_.relations;
  double t = state.t, left = h;
  for (int part = 0; left > 0; ++part) {
    gaps_at(t, y_.data(), gap_before_, rate_before_);
    for (int r = 0; r < layout_.relations; ++r) {
      const model::Relation& relation = system_.relations()[r];
      if (!relation.has_normal || relation.kind != model::RelationKind::contact) continue;
      if (!spring_[r].presses && gap_before_[r] <= 0 && rate_before_[r] < 0) meet(r, t);
    }
    if (!run_part(t, left)) return failed();
    double length = left;
    const Found found = part < most ? first_change(t, left) : Found{};
    if (found.kind != Change::none && !locate(found, t, left, length)) return failed();
    const bool whole = found.kind == Change::none || !(length < left);
    t = whole ? to : t + length;
    left = whole ? 0 : to - t;
    std::swap(y_, next_);
    std::copy_n(y_.begin() + stretches_, layout_.tangents, stretch_.begin());
    if (!rate_at(t, y_.data(), k_[0].data())) return failed();
    if (found.kind == Change::turns) dent(found.relation);
    if (found.kind == Change::leaves) normal_[found.relation] = 0;
    if (found.kind == Change::closes) meet(found.relation, t);
    open_springs(t);
    std::copy(stretch_.begin(), stretch_.end(), y_.begin() + stretches_);
  }
  for (int e = 0; e < layout_.audits; ++e) {
    report.dissipated[e] = y_[works_ + e];
    report.supplied[e] = y_[works_ + layout_.audits + e];
  }
  std::copy_n(y_.begin(), layout_.integrated(), state.y.begin());
  state.t = to;
  if (!rate_at(to, y_.data(), k_[0].data())) return failed();
  take_end(state);
  std::copy_n(k_[0].begin() + layout_.coordinates, layout_.coordinates, report.acceleration.begin());
  for (int r = 0; r < layout_.relations; ++r) {
    report.normal[r] = h * normal_[r];
    report.through[r] = y_[impulses_ + r];
  }
  for (int j = 0; j < layout_.tangents; ++j) report.tangent[j] = h * tangent_[j];
  return {};
}

// A gap closes.
void RegularisedScheme::meet(int r, double t) {
  const bool evaluated = rate_at(t, y_.data(), k_[0].data());
  write_state(layout_, t, y_.data(), work_.in.data());
  close(r, t);
  begin_slip(r);
  if (evaluated) ask_law(r, t);
}

// Contacts whose gap is open again.
void RegularisedScheme::open_springs(double t) {
  gaps_at(t, y_.data(), gap_after_, rate_after_);
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    Spring& spring = spring_[r];
    if (!relation.has_normal || relation.kind != model::RelationKind::contact || !spring.presses) continue;
    if (spring.watched) compare_with_law(r, t);
    if (rate_after_[r] > 0 && gap_after_[r] >= std::max(0.0, spring.rest)) {
      spring.presses = false;
      spring.rest = 0;
      spring.watched = false;
    }
  }
}

// What the impact law of the model makes of what closes here, for the end of the spring's work.
void RegularisedScheme::ask_law(int r, double t) {
  constexpr double kWorthIt = 300;  // steps of the free motion
  if (numbers_.normal_damping > 0) return;
  const model::Relation& relation = system_.relations()[r];
  const double* const a = k_[0].data() + layout_.coordinates;
  const model::RelationRows& own = system_.rows(work_, r);
  double free = std::abs(own.zeta_n + own.w.dot(a));
  for (int j = 0; j < relation.tangents; ++j)
    free = std::max(free, std::abs(own.tangent[j].zeta + own.tangent[j].w.dot(a)));
  // Joints that this contact loads share its impact. The friction of its weight goes on behind it.
  const double weight = std::abs(own.zeta_n + own.w.dot(a)) / response_of(own.w, own.push);
  for (int k = 0; k < layout_.relations; ++k) {
    const model::Relation& joint = system_.relations()[k];
    const double factor = fed_by(k, r);
    for (int j = 0; factor > 0 && j < joint.tangents; ++j) {
      const model::RelationRows::Tangent& row = system_.rows(work_, k).tangent[j];
      free = std::max(
          free, std::abs(row.zeta + row.w.dot(a)) + row.mu * factor * weight * response_of(row.w, row.drag));
    }
  }
  spring_[r].free_rate = free;
  if (!(spring_[r].approach > kWorthIt * h_ * free)) return;
  impact_mode_ = stage_mode_;
  impact_mode_.pressed.resize(layout_.relations);
  bool alone = true;
  for (int k = 0; k < layout_.relations; ++k) {
    const model::Relation& other = system_.relations()[k];
    const Spring& spring = spring_[k];
    touching_[k] = 0;
    if (!other.has_normal || other.kind != model::RelationKind::contact) continue;
    const bool together = spring.presses && spring.since == t && spring.approach > 0;
    alone = alone && (!spring.watched || together);
    if (together) touching_[k] = strikes;
    impact_mode_.normal[k] = spring.presses && !together ? NormalStatus::closed : NormalStatus::open;
    for (int j = other.first_tangent; j < other.first_tangent + other.tangents; ++j) {
      if (impact_mode_.normal[k] == NormalStatus::open)
        impact_mode_.tangent[j] = TangentStatus::free;
      else if (impact_mode_.tangent[j] == TangentStatus::free)
        impact_mode_.tangent[j] = TangentStatus::stick;
    }
  }
  // A joint that had no load until now has no status yet.
  for (int k = 0; k < layout_.relations; ++k) {
    const model::Relation& joint = system_.relations()[k];
    if (!(fed_by(k, r) > 0) || joint.smooth_friction) continue;
    for (int j = 0; j < joint.tangents; ++j) {
      const model::RelationRows::Tangent& row = work_.relation[k].tangent[j];
      const double slip = row.drive + row.w.dot(work_.in.data() + layout_.v());
      if (slip != 0 && (slips_[k] != 0 || load_of(k) <= 0))
        impact_mode_.tangent[joint.first_tangent + j] =
            slip > 0 ? TangentStatus::slip_plus : TangentStatus::slip_minus;
    }
  }
  if (!alone) {
    // One impact in the midst of another is told by neither of their laws.
    overlaps_.note(1, 0, t);
    for (Spring& spring : spring_) spring.watched = false;
    return;
  }
  write_statuses(layout_, impact_mode_, work_.in.data());
  if (take_law()) {
    const double* const v = work_.in.data() + layout_.v();
    for (int k = 0; k < layout_.relations; ++k) {
      if (touching_[k] == 0) continue;
      const model::RelationRows& rows = system_.rows(work_, k);
      Spring& spring = spring_[k];
      spring.watched = true;
      spring.due = rows.gap_time + rows.w.dot(v);
      for (int j = 0; j < system_.relations()[k].tangents; ++j)
        spring.due_slip[j] = rows.tangent[j].drive + rows.tangent[j].w.dot(v);
    }
    for (int k = 0; k < layout_.relations; ++k) {
      const model::Relation& joint = system_.relations()[k];
      const model::RelationRows& rows = system_.rows(work_, k);
      for (int j = 0; j < joint.tangents; ++j)
        due_joint_[joint.first_tangent + j] = rows.tangent[j].drive + rows.tangent[j].w.dot(v);
    }
  }
  write_state(layout_, t, y_.data(), work_.in.data());
  write_statuses(layout_, stage_mode_, work_.in.data());
}

// Velocities in work_ behind an impact of what is touching_, with the statuses of impact_mode_. Several slip components have Moreau's law, by the solver of steps.
bool RegularisedScheme::take_law() {
  if (collider_ != nullptr) {
    struck_.clear();
    return collider_->collide(impact_mode_, touching_, false, struck_).ok();
  }
  const auto n = static_cast<std::size_t>(layout_.coordinates);
  system_.full_mass(work_, mass_.matrix());
  for (std::size_t i = 0; i < n; ++i) {
    double size = 0;
    for (std::size_t j = 0; j < n; ++j) size = std::max(size, std::abs(mass_.matrix()[i * n + j]));
    solved_[i] = size > 0 ? 1 / size : 1;
  }
  if (!mass_.factor(solved_.data())) return false;
  double* const v = work_.in.data() + layout_.v();
  std::copy_n(v, n, after_.begin());
  law_->matrix_changed();
  law_->take_rows(impact_mode_, v);
  for (int r = 0; r < layout_.relations; ++r) {
    if (touching_[r] != 0) impact_mode_.normal[r] = NormalStatus::closed;
  }
  law_->choose_by_mode(impact_mode_);
  StepLaw law;
  law.kappa = 0;
  const std::span<const double> none;
  if (!law_->solve(law, none, none, mass_, layout_.coordinates, after_.data()).ok()) return false;
  std::copy(after_.begin(), after_.end(), v);
  return true;
}

// How much of the reaction of a contact a joint has as its load.
double RegularisedScheme::fed_by(int joint, int contact) {
  if (joint == contact) return 0;
  const model::Relation& relation = system_.relations()[joint];
  for (std::size_t k = 0; k < relation.feeds.size(); ++k) {
    if (relation.feeds[k] == contact) return system_.rows(work_, joint).factors[k];
  }
  return 0;
}

void RegularisedScheme::compare_with_law(int r, double t) {
  constexpr double kStops = 50, kLongest = 300;  // steps; what presses still is held by other forces
  Spring& spring = spring_[r];
  // Without restitution nothing leaves: the spring is asked when its mass must have stopped.
  const double age = (t - spring.since) / h_;
  const bool ended = spring.dents ? age > kStops || gap_after_[r] >= 0 : normal_[r] == 0;
  if (age > kLongest) spring.watched = false;
  if (!ended || !spring.watched || !(t > spring.since)) return;
  spring.watched = false;
  double apart = std::abs(rate_after_[r] - spring.due);
  for (int j = 0; j < system_.relations()[r].tangents; ++j) {
    const model::RelationRows::Tangent& row = system_.rows(work_, r).tangent[j];
    const double slip = row.drive + row.w.dot(work_.in.data() + layout_.v());
    apart = std::max(apart, std::abs(slip - spring.due_slip[j]));
  }
  for (int k = 0; k < layout_.relations; ++k) {
    const model::Relation& joint = system_.relations()[k];
    for (int j = 0; fed_by(k, r) > 0 && j < joint.tangents; ++j) {
      const model::RelationRows::Tangent& row = system_.rows(work_, k).tangent[j];
      const double slip = row.drive + row.w.dot(work_.in.data() + layout_.v());
      apart = std::max(apart, std::abs(slip - due_joint_[joint.first_tangent + j]));
    }
  }
  const double share = std::max(0.0, apart - 2 * (t - spring.since) * spring.free_rate) / spring.approach;
  impacts_.note(share, kListed, t);
  if (!(share > kTooFar) || too_far_ > 0) return;
  too_far_ = share;
  too_far_since_ = t;
}

Status RegularisedScheme::verdict(double time) const {
  if (!(too_far_ > 0)) return {};
  return {Reason::laws_violated,
          time,
          {},
          "the impact at t = " + to_text(too_far_since_, 6) +
              " left velocities that differ from those of its law by " + to_text(100 * too_far_, 3) +
              " % of the approach: springs share an impact otherwise where several contacts or joints take "
              "part, and "
              "friction follows its path; the engines 'event' and 'moreau' take the law"};
}

// Others hold the same slip and may bear more, one on the same slip or several in a ring: what this row cannot bear goes to them, and nothing slips before they are at their limits.
bool RegularisedScheme::held_by_others(int r) {
  constexpr double kLeft = 1e-9;  // of its own response, when the others hold
  held_rows_.clear();
  for (int k = 0; k < layout_.relations; ++k) {
    if (k == r || holding_[k] != kBelow) continue;
    for (int j = 0; j < system_.relations()[k].tangents; ++j) held_rows_.push_back({k, j});
  }
  if (held_rows_.empty()) return false;
  const std::size_t others = held_rows_.size();
  for (int j = 0; j < system_.relations()[r].tangents; ++j) held_rows_.push_back({r, j});
  const std::size_t size = held_rows_.size();
  const auto row = [this](std::size_t i) -> const model::RelationRows::Tangent& {
    return work_.relation[held_rows_[i].relation].tangent[held_rows_[i].tangent];
  };
  for (std::size_t j = 0; j < size; ++j) {
    row(j).drag.write(solved_.data(), static_cast<std::size_t>(layout_.coordinates));
    system_.solve_mass(work_, solved_.data());
    for (std::size_t i = 0; i < size; ++i) held_[i * size + j] = row(i).w.dot(solved_.data());
    own_response_[j] = held_[j * size + j];
  }
  for (std::size_t p = 0; p < others; ++p) {
    if (held_[p * size + p] > kLeft * own_response_[p]) dense::hold_row(held_.data(), size, p);
  }
  for (std::size_t i = others; i < size; ++i) {
    if (held_[i * size + i] > kLeft * own_response_[i]) return false;
  }
  return true;
}

// The spring of a row at its limit gives no more than that.
void RegularisedScheme::hold_at_limit(int r, double limit) {
  const model::Relation& relation = system_.relations()[r];
  double size = 0;
  for (int j = 0; j < relation.tangents; ++j) {
    const model::RelationRows::Tangent& row = work_.relation[r].tangent[j];
    size = elementary::hypot(
        size, tangent_stiffness(response_of(row.w, row.drag)) * stretch_[relation.first_tangent + j]);
  }
  if (!(size > limit)) return;
  for (int j = 0; j < relation.tangents; ++j) stretch_[relation.first_tangent + j] *= limit / size;
}

// Which contacts press, and which rows begin or cease to slip, at the end of a step.
void RegularisedScheme::take_end(StepState& state) {
  constexpr double kAtLimit = 1e-12;  // forces are cut at it
  double* const in = work_.in.data();
  write_state(layout_, state.t, state.y.data(), in);
  for (int k = 0; k < layout_.switches; ++k) {
    state.mode.side[k] = side_by_value(system_.switches()[k], work_);
    in[layout_.side() + k] = state.mode.side[k];
  }
  const double* const v = state.y.data() + layout_.coordinates;
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = system_.rows(work_, r);
    double force = 0;
    for (int j = 0; j < relation.tangents; ++j)
      force = elementary::hypot(force, tangent_[relation.first_tangent + j]);
    const bool holds = relation.tangents > 0 && !relation.smooth_friction && !numbers_.arctan &&
                       slips_[r] == 0 && load_of(r) > 0;
    holding_[r] = !holds                                                             ? 0
                  : force >= rows.tangent[0].mu_static * load_of(r) * (1 - kAtLimit) ? kAtItsLimit
                                                                                     : kBelow;
  }
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = system_.rows(work_, r);
    const bool contact = relation.has_normal && relation.kind == model::RelationKind::contact;
    if (contact) {
      state.mode.normal[r] = spring_[r].presses ? NormalStatus::closed : NormalStatus::open;
    }
    const bool open = contact && state.mode.normal[r] == NormalStatus::open;
    const double load = load_of(r);
    double slip[3] = {}, force = 0, speed = 0;
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      slip[j] = rows.tangent[j].drive + rows.tangent[j].w.dot(v);
      speed += slip[j] * slip[j];
      force += tangent_[number] * tangent_[number];
    }
    speed = std::sqrt(speed);
    const bool ideal = relation.tangents > 0 && !relation.smooth_friction;
    if (ideal && !numbers_.arctan) {
      const double limit = rows.tangent[0].mu_static * load;
      if (open || load <= 0) {
        slips_[r] = 0;
        for (int j = 0; j < relation.tangents; ++j) stretch_[relation.first_tangent + j] = 0;
      } else if (slips_[r] == 0 && std::sqrt(force) >= limit * (1 - kAtLimit)) {
        if (held_by_others(r)) {
          hold_at_limit(r, limit);
        } else {
          slips_[r] = 1;
        }
      } else if (slips_[r] != 0) {
        // The stretch goes with the slip; when that turns, the spring begins with the force of slip.
        double turned = 0;
        for (int j = 0; j < relation.tangents; ++j) turned += stretch_[relation.first_tangent + j] * slip[j];
        for (int j = 0; j < relation.tangents; ++j) {
          const int number = relation.first_tangent + j;
          const double inverse_mass = response_of(rows.tangent[j].w, rows.tangent[j].drag);
          const double stiffness = tangent_stiffness(inverse_mass);
          if (turned >= 0 && speed > 0 && stiffness > 0)
            stretch_[number] = rows.tangent[j].mu * load / stiffness * (slip[j] / speed);
        }
        if (turned < 0 || speed == 0 || turned_[r] != 0) {
          slips_[r] = 0;
          // A damped spring finds the force of rest by itself; one that is given begins with that of slip.
          for (int j = 0; j < relation.tangents && !own_tangents(); ++j)
            stretch_[relation.first_tangent + j] = 0;
        }
      }
    }
    for (int j = 0; j < relation.tangents; ++j) {
      TangentStatus& status = state.mode.tangent[relation.first_tangent + j];
      status = open                                              ? TangentStatus::free
               : relation.smooth_friction                        ? TangentStatus::smooth
               : (numbers_.arctan ? speed == 0 : slips_[r] == 0) ? TangentStatus::stick
               : slip[j] > 0                                     ? TangentStatus::slip_plus
               : slip[j] < 0                                     ? TangentStatus::slip_minus
                                                                 : TangentStatus::stick;
      if (status == TangentStatus::stick || numbers_.arctan)
        creep_.note(std::abs(slip[j]), INFINITY, state.t);
    }
  }
}

void RegularisedScheme::monitors(std::vector<Monitor>& out) const {
  if (creep_.used() && !numbers_.arctan) out.push_back(creep_.record());
  if (impacts_.used()) out.push_back(impacts_.record());
  if (overlaps_.used()) out.push_back(overlaps_.record());
}

void RegularisedScheme::save(std::vector<double>& out) const {
  out.insert(out.end(), stretch_.begin(), stretch_.end());
  out.insert(out.end(), slips_.begin(), slips_.end());
  for (const Spring& s : spring_)
    out.insert(out.end(),
               {s.presses ? 1.0 : 0.0, s.dents ? 1.0 : 0.0, s.rest, s.ratio, s.turn, s.watched ? 1.0 : 0.0,
                s.approach, s.since, s.due, s.free_rate, s.due_slip[0], s.due_slip[1], s.due_slip[2]});
  out.insert(out.end(), due_joint_.begin(), due_joint_.end());
  out.insert(out.end(), {too_far_since_, too_far_});
  creep_.save(out);
  impacts_.save(out);
  overlaps_.save(out);
}

bool RegularisedScheme::load(std::span<const double> saved, const StepState& /*state*/) {
  const std::size_t tangents = stretch_.size(), relations = slips_.size();
  const std::size_t springs = tangents + relations, joints = springs + relations * Spring::kSaved,
                    rest = joints + tangents;
  if (saved.size() != rest + 2 + 3 * StepMonitor::kSaved) return false;
  for (std::size_t i = 0; i < rest + 2; ++i) {
    if (!std::isfinite(saved[i])) return false;
  }
  std::copy_n(saved.begin(), tangents, stretch_.begin());
  for (std::size_t r = 0; r < relations; ++r) {
    slips_[r] = saved[tangents + r] != 0 ? 1 : 0;
    const double* const s = saved.data() + springs + r * Spring::kSaved;
    spring_[r] = {
        s[0] != 0, s[1] != 0, s[2], s[3], s[4], s[5] != 0, s[6], s[7], s[8], s[9], {s[10], s[11], s[12]}};
  }
  std::copy_n(saved.begin() + static_cast<std::ptrdiff_t>(joints), tangents, due_joint_.begin());
  too_far_since_ = saved[rest];
  too_far_ = saved[rest + 1];
  creep_.load(saved.subspan(rest + 2, StepMonitor::kSaved));
  impacts_.load(saved.subspan(rest + 2 + StepMonitor::kSaved, StepMonitor::kSaved));
  overlaps_.load(saved.subspan(rest + 2 + 2 * StepMonitor::kSaved, StepMonitor::kSaved));
  return true;
}

}  // namespace judder::engines
