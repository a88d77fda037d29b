#include "regularised_scheme.hpp"

#include <algorithm>
#include <cmath>

#include "core/elementary.hpp"
#include "engines/stepping/step_inputs.hpp"

namespace judder::engines {
namespace {

constexpr double kTurn =
    0.3;  ///< angle by which a mass on a spring that is given no stiffness turns in a step
constexpr double kHalfPi = 1.5707963267948966;

}  // namespace

RegularisedScheme::RegularisedScheme(const model::System& system, ReadNumbers read)
    : system_(system), layout_(system.layout()), read_(read), work_(system) {
  stretches_ = layout_.integrated();
  const auto size = static_cast<std::size_t>(stretches_ + layout_.tangents + 2 * layout_.audits);
  for (std::vector<double>* each : {&y_, &stage_, &next_, &k_[0], &k_[1], &k_[2], &k_[3]}) each->resize(size);
  force_.resize(layout_.coordinates);
  solved_.resize(layout_.coordinates);
  normal_.resize(layout_.relations);
  tangent_.resize(layout_.tangents);
  stretch_.resize(layout_.tangents);
  slips_.resize(layout_.relations);
  powers_.resize(layout_.audits);
}

std::string RegularisedScheme::begin(const EngineOptions& options, double step) {
  numbers_ = read_(options);
  h_ = step;
  std::copy(system_.start().begin(), system_.start().end(), work_.in.begin());
  std::fill(stretch_.begin(), stretch_.end(), 0.0);
  std::fill(slips_.begin(), slips_.end(), std::uint8_t{0});
  creep_.start();
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
  }
  take_end(state);
  return {};
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

void RegularisedScheme::add_normal(int r, const double* v) {
  const model::Relation& relation = system_.relations()[r];
  const model::RelationRows& rows = work_.relation[r];
  normal_[r] = 0;
  if (!relation.has_normal) return;
  const bool contact = relation.kind == model::RelationKind::contact;
  if (contact && !(rows.gap < 0)) return;
  const double inverse_mass = response_of(rows.w, rows.push);
  if (!(inverse_mass > 0)) return;
  const double stiffness =
      numbers_.stiffness > 0 ? numbers_.stiffness : kTurn * kTurn / (h_ * h_ * inverse_mass);
  const double speed = rows.gap_time + rows.w.dot(v);
  double share = 1;  // of critical damping
  if (contact) {
    double e = 0, tangential = 0;
    system_.restitution(work_, r, std::max(0.0, -speed), e, tangential);
    // A half swing of a damped oscillator leaves e of its speed.
    const double decay = e > 0 ? -elementary::log(std::min(e, 1.0)) : INFINITY;
    share = std::isfinite(decay) ? decay / std::sqrt(4 * kHalfPi * kHalfPi + decay * decay) : 1;
  }
  const double damping =
      numbers_.normal_damping > 0 ? numbers_.normal_damping : 2 * share * std::sqrt(stiffness / inverse_mass);
  const double position = relation.holonomic ? rows.gap : 0;
  double force = -stiffness * position - damping * speed;
  if (contact) force = std::max(force, 0.0);
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
      force = speed > 0 ? -row.mu * load * (slip[j] / speed) : 0;
    } else if (load > 0) {
      const double inverse_mass = response_of(row.w, row.drag);
      const double stiffness = numbers_.tangential > 0 ? numbers_.tangential
                               : inverse_mass > 0      ? kTurn * kTurn / (h_ * h_ * inverse_mass)
                                                       : 0;
      force = -stiffness * stretch[number] - numbers_.damping * slip[j];
      stretch_rate[number] = slip[j];
    }
    tangent_[number] = force;
    push(row.drag, force);
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
  double* const dissipated = rate + stretches_ + layout_.tangents;
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
  static constexpr double kNodes[4] = {0, 0.5, 0.5, 1};
  for (int s = 0; s < 4; ++s) {
    for (std::size_t i = 0; i < y_.size(); ++i)
      stage_[i] = s == 0 ? y_[i] : y_[i] + kNodes[s] * h * k_[s - 1][i];
    if (!rate_at(state.t + kNodes[s] * h, stage_.data(), k_[s].data())) return failed();
  }
  for (std::size_t i = 0; i < y_.size(); ++i) {
    next_[i] = y_[i] + h / 6 * (k_[0][i] + 2 * k_[1][i] + 2 * k_[2][i] + k_[3][i]);
    if (!std::isfinite(next_[i])) return failed();
  }
  const int works = stretches_ + layout_.tangents;
  for (int e = 0; e < layout_.audits; ++e) {
    report.dissipated[e] = next_[works + e];
    report.supplied[e] = next_[works + layout_.audits + e];
  }
  std::copy_n(next_.begin(), layout_.integrated(), state.y.begin());
  std::copy_n(next_.begin() + stretches_, layout_.tangents, stretch_.begin());
  state.t = to;
  if (!rate_at(to, next_.data(), k_[0].data())) return failed();
  take_end(state);
  std::copy_n(k_[0].begin() + layout_.coordinates, layout_.coordinates, report.acceleration.begin());
  for (int r = 0; r < layout_.relations; ++r) report.normal[r] = h * normal_[r];
  for (int j = 0; j < layout_.tangents; ++j) report.tangent[j] = h * tangent_[j];
  return {};
}

// Which contacts press, and which rows begin or cease to slip, at the end of a step.
void RegularisedScheme::take_end(StepState& state) {
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
    const bool contact = relation.has_normal && relation.kind == model::RelationKind::contact;
    if (contact) {
      state.mode.normal[r] = rows.gap < 0 ? NormalStatus::closed : NormalStatus::open;
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
      } else if (slips_[r] == 0 && std::sqrt(force) > limit) {
        slips_[r] = 1;
      } else if (slips_[r] != 0) {
        // The stretch goes with the slip; when that turns, the spring begins with the force of slip.
        double turned = 0;
        for (int j = 0; j < relation.tangents; ++j) turned += stretch_[relation.first_tangent + j] * slip[j];
        for (int j = 0; j < relation.tangents; ++j) {
          const int number = relation.first_tangent + j;
          const double inverse_mass = response_of(rows.tangent[j].w, rows.tangent[j].drag);
          const double stiffness = numbers_.tangential > 0 ? numbers_.tangential
                                   : inverse_mass > 0      ? kTurn * kTurn / (h_ * h_ * inverse_mass)
                                                           : 0;
          if (turned >= 0 && speed > 0 && stiffness > 0)
            stretch_[number] = rows.tangent[j].mu * load / stiffness * (slip[j] / speed);
        }
        if (turned < 0 || speed == 0) slips_[r] = 0;
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
}

void RegularisedScheme::save(std::vector<double>& out) const {
  out.insert(out.end(), stretch_.begin(), stretch_.end());
  out.insert(out.end(), slips_.begin(), slips_.end());
  creep_.save(out);
}

bool RegularisedScheme::load(std::span<const double> saved, const StepState& /*state*/) {
  const std::size_t tangents = stretch_.size(), relations = slips_.size();
  if (saved.size() != tangents + relations + StepMonitor::kSaved) return false;
  for (std::size_t i = 0; i < tangents + relations; ++i) {
    if (!std::isfinite(saved[i])) return false;
  }
  std::copy_n(saved.begin(), tangents, stretch_.begin());
  for (std::size_t r = 0; r < relations; ++r) slips_[r] = saved[tangents + r] != 0 ? 1 : 0;
  creep_.load(saved.subspan(tangents + relations, StepMonitor::kSaved));
  return true;
}

}  // namespace judder::engines
