#include "implicit_scheme.hpp"

#include <algorithm>
#include <cmath>

#include "engines/decider.hpp"
#include "engines/mode_motion.hpp"
#include "engines/stepping/step_inputs.hpp"
#include "judder/core/number.hpp"

namespace judder::engines {
namespace {

constexpr int kMostRounds = 40;    ///< of Newton's method in one step
constexpr int kSideRounds = 8;     ///< in which sides of kinks follow the state
constexpr double kStands = 1e-13;  ///< of ξ between two rounds, relative to what it is made of

}  // namespace

ImplicitScheme::ImplicitScheme(const model::System& system, ReadNumbers read)
    : system_(system),
      layout_(system.layout()),
      large_(model::large_matrices(system)),
      read_(read),
      work_(system),
      contacts_(system, work_),
      ends_(system, work_),
      n_(layout_.coordinates),
      m_(layout_.states),
      size_(n_ + m_) {
  const auto n = static_cast<std::size_t>(n_), size = static_cast<std::size_t>(size_);
  if (large_ == nullptr) {
    lu_.resize(size_);
    mass_lu_.resize(n_);
    end_mass_.resize(n * n);
    mass_.resize(n * n);
    jacobian_.resize(size * (2 * n + static_cast<std::size_t>(m_ + layout_.free_parameters)));
    known_jacobian_.resize(jacobian_.size());
  }
  product_.resize(n);
  product_after_.resize(n);
  end_velocity_.resize(n);
  normal_before_.resize(layout_.relations);
  tangent_before_.resize(layout_.tangents);
  for (std::vector<double>* each : {&start_, &end_}) each->resize(layout_.integrated());
  for (std::vector<double>* each : {&force_, &acceleration_, &reaction_, &before_, &base_, &place_, &speed_,
                                    &given_, &step_force_, &mean_, &loads_})
    each->resize(n);
  rate_.resize(m_);
  for (std::vector<double>* each : {&xi_, &free_, &residual_, &weights_}) each->resize(size);
  sides_.resize(layout_.switches);
  last_sides_.resize(layout_.switches);
  matrix_sides_.resize(layout_.free_parameter() - layout_.side());
  gap_.resize(layout_.relations);
  gap_before_.resize(layout_.relations);
  for (const model::AuditInfo& audit : system.audits()) has_powers_ = has_powers_ || audit.power >= 0;
  powers_.resize(layout_.audits);
  start_powers_.resize(layout_.audits);
  for (const model::SwitchInfo& info : system.switches())
    kinks_ = kinks_ || info.kind != expr::SwitchKind::jump;
  bool directed = false;  // forces read directions of slips, or which contacts are closed
  for (const model::Relation& relation : system.relations())
    directed = directed || relation.direction_in_force || relation.reads_closed;
  const bool linear = large_ != nullptr ? large_->only_matrices : system.linear().linear();
  affine_ = linear && system.mass_constant() && contacts_.rows_constant() && !directed &&
            layout_.switches == 0 && layout_.states == 0 && system.autonomous_forces();
  linear_ = linear && system.mass_constant() && contacts_.rows_constant();
}

void ImplicitScheme::use(Patience* patience) {
  lu_.use(patience);
  mass_lu_.use(patience);
  contacts_.use(patience);
  ends_.use(patience);
}

std::string ImplicitScheme::begin(const EngineOptions& options, double step) {
  step_ = step;
  numbers_ = read_(options);
  on_indeterminate_ = options.on_indeterminate;
  on_painleve_ = options.on_painleve;
  std::copy(system_.start().begin(), system_.start().end(), work_.in.begin());
  contacts_.start();
  ends_.start();
  have_matrix_ = has_force_ = has_before_ = have_mass_lu_ = has_rows_ = false;
  std::fill(normal_before_.begin(), normal_before_.end(), 0.0);
  std::fill(tangent_before_.begin(), tangent_before_.end(), 0.0);
  for (StepMonitor* monitor : all_monitors()) monitor->start();
  return {};
}

Status ImplicitScheme::start(StepState& state) {
  has_force_ = has_before_ = false;
  if (remembers_accelerations()) return start_accelerations(state);
  return {};
}

// θ and Newmark begin with the accelerations of the true motion: contacts that are closed are decided as the event-driven engine decides them.
Status ImplicitScheme::start_accelerations(StepState& state) {
  if (large_ != nullptr) {
    if (state.mode.pressed.size() != static_cast<std::size_t>(layout_.relations))
      state.mode.pressed.assign(layout_.relations, 0);
    if (!evaluate_start(state)) return failed(state);
    return find_accelerations(state);
  }
  Decider decider(system_, work_);
  ModeMotion motion(system_, work_);
  write_state(layout_, state.t, state.y.data(), work_.in.data());
  write_statuses(layout_, state.mode, work_.in.data());
  Mode mode = state.mode;
  if (mode.pressed.size() != static_cast<std::size_t>(layout_.relations))
    mode.pressed.assign(layout_.relations, 0);
  const Decider::Exclusions none = decider.no_exclusions();
  Status status = decider.decide(mode, none);
  if (!status.ok()) return status;
  if (!motion.set_mode(mode) || !motion.evaluate())
    return {Reason::not_finite, state.t, {}, "the equations cannot be evaluated at the start"};
  motion.publish();
  std::copy_n(work_.in.begin() + layout_.acceleration(), n_, acceleration_.begin());
  state.mode = mode;
  if (!system_.motion(work_))
    return {Reason::not_finite, state.t, {}, "the equations cannot be evaluated at the start"};
  if (makes_consistent()) {
    if (!evaluate_start(state)) return failed(state);
    return find_accelerations(state);
  }
  system_.apply_mass(work_, acceleration_.data(), reaction_.data());
  for (int i = 0; i < n_; ++i) reaction_[i] -= work_.force[i];
  return {};
}

void ImplicitScheme::set_coefficients(const StepState& state, double h) {
  const double* q0 = state.y.data();
  const double* v0 = q0 + n_;
  c_ = {};
  c_.h = h;
  c_.theta = numbers_.theta;
  c_.cv = 1;
  c_.t = state.t + h;
  const double theta = numbers_.theta;
  switch (numbers_.formula) {
    case StepFormula::moreau:
    case StepFormula::printed: {
      const bool printed = numbers_.formula == StepFormula::printed;
      c_.kappa = h * theta;
      c_.force = h;
      c_.cq = printed ? h : h * theta;
      c_.start_force = true;
      for (int i = 0; i < n_; ++i) {
        base_[i] = v0[i];
        place_[i] = printed ? q0[i] : q0[i] + h * (1 - theta) * v0[i];
        speed_[i] = 0;
      }
      break;
    }
    case StepFormula::theta:
    case StepFormula::newmark: {
      const bool newmark = numbers_.formula == StepFormula::newmark;
      const double gamma = newmark ? numbers_.gamma : theta;
      c_.theta = gamma;
      c_.kappa = c_.force = h * gamma;
      c_.cq = newmark ? h * numbers_.beta / gamma : h * theta;
      c_.position = true;
      for (int i = 0; i < n_; ++i) {
        base_[i] = v0[i] + h * (1 - gamma) * acceleration_[i];
        place_[i] =
            newmark ? q0[i] + h * v0[i] + h * h * (0.5 - numbers_.beta) * acceleration_[i] - c_.cq * base_[i]
                    : q0[i] + h * (1 - theta) * v0[i];
        speed_[i] = 0;
      }
      break;
    }
    case StepFormula::central:
    case StepFormula::explicit_central: {
      const bool free = numbers_.formula == StepFormula::explicit_central;
      c_.kappa = c_.force = h / 2;
      c_.cq = free ? 0 : h / 2;
      c_.cv = free ? 0 : 1;
      c_.t = state.t;
      c_.position = true;
      for (int i = 0; i < n_; ++i) {
        base_[i] = (q0[i] - before_[i]) / h;
        place_[i] = free ? q0[i] : (q0[i] + before_[i]) / 2;
        speed_[i] = free ? base_[i] : 0;
      }
      break;
    }
  }
  c_.reach = central() ? 2 * h : c_.cq;
}

bool ImplicitScheme::evaluate_start(const StepState& state) {
  write_state(layout_, state.t, state.y.data(), work_.in.data());
  write_statuses(layout_, state.mode, work_.in.data());
  ++evaluations;
  if (!system_.motion(work_)) return false;
  std::copy(work_.force.begin(), work_.force.end(), force_.begin());
  std::copy(work_.rate.begin(), work_.rate.end(), rate_.begin());
  if (has_powers_) system_.powers(work_, start_powers_.data());
  has_force_ = true;
  return true;
}

// Masses that depend on the place are those of the middle of the step. θ and Newmark give the momentum of the beginning by the acceleration there, and what is
// left belongs to the end.
Status ImplicitScheme::take_mass(const StepState& state) {
  if (large_ != nullptr) return {};
  if (system_.mass_constant()) {
    system_.full_mass(work_, mass_.data());
    return {};
  }
  write_state(layout_, state.t, state.y.data(), work_.in.data());
  write_statuses(layout_, state.mode, work_.in.data());
  const double share = central() ? 0 : remembers_accelerations() ? 1 : c_.theta;
  work_.in[0] = state.t + share * c_.h;
  for (int i = 0; i < n_; ++i) {
    work_.in[layout_.q() + i] = state.y[i] + share * c_.h * state.y[n_ + i];
    if (remembers_accelerations()) work_.in[layout_.q() + i] += 0.5 * c_.h * c_.h * acceleration_[i];
  }
  ++evaluations;
  if (!system_.motion(work_)) {
    if (work_.mass_failed)
      return {Reason::singular_mass, state.t, {}, "the mass matrix is not positive definite"};
    return failed(state);
  }
  system_.full_mass(work_, mass_.data());
  have_matrix_ = false;
  return {};
}

Status ImplicitScheme::failed(const StepState& state) const {
  return {Reason::not_finite,
          state.t,
          {},
          "the forces of the step have no finite value; a shorter step may help"};
}

// All sides by value, or those of kinks alone.
void ImplicitScheme::take_sides(Mode& mode, bool all) {
  for (int k = 0; k < layout_.switches; ++k) {
    const model::SwitchInfo& info = system_.switches()[k];
    if (!all && info.kind == expr::SwitchKind::jump) continue;
    mode.side[k] = side_by_value(system_.switches()[k], work_);
    work_.in[layout_.side() + k] = mode.side[k];
  }
}

bool ImplicitScheme::load_evaluation(const StepState& state, int round) {
  double* const in = work_.in.data();
  in[0] = c_.t;
  for (int i = 0; i < n_; ++i) {
    in[layout_.q() + i] = place_[i] + c_.cq * xi_[i];
    in[layout_.v() + i] = speed_[i] + c_.cv * xi_[i];
  }
  for (int i = 0; i < m_; ++i) in[layout_.z() + i] = xi_[n_ + i];
  if (round == 0) {
    trial_ = state.mode;
    write_statuses(layout_, trial_, in);
  }
  // Friction of known loads is part of the forces and reads the direction of its slip.
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (!relation.direction_in_force) continue;
    system_.rows(work_, r);
    for (int j = 0; j < relation.tangents; ++j) {
      double slip = work_.relation[r].tangent[j].drive;
      for (int i = 0; i < n_; ++i) slip += work_.relation[r].tangent[j].w[i] * in[layout_.v() + i];
      in[layout_.direction() + relation.first_tangent + j] = slip > 0 ? 1 : slip < 0 ? -1 : 0;
    }
  }
  if (round < kSideRounds && layout_.switches > 0) take_sides(trial_, round == 0);
  ++evaluations;
  return system_.motion(work_);
}

// A, factorised anew only where it has changed.
Status ImplicitScheme::take_matrix() {
  const double* const frozen = work_.in.data() + layout_.side();
  if (large_ != nullptr) {
    if (have_matrix_ && matrix_h_ == c_.h && matrix_kappa_ == c_.kappa) return {};
    matrix_h_ = c_.h;
    matrix_kappa_ = c_.kappa;
    have_matrix_ = lu_.factor(*large_, c_.kappa * c_.cq, c_.kappa * c_.cv);
    if (!have_matrix_)
      return {Reason::singular_mass, c_.t, {}, "the matrix of the step is not positive definite"};
    check_conservative();
    contacts_.matrix_changed();
    return {};
  }
  const bool same_inputs = have_matrix_ && matrix_h_ == c_.h && matrix_kappa_ == c_.kappa &&
                           std::equal(matrix_sides_.begin(), matrix_sides_.end(), frozen);
  if (same_inputs && linear_) return {};
  system_.jacobian(work_, jacobian_.data());
  if (same_inputs && jacobian_ == known_jacobian_) return {};
  std::swap(jacobian_, known_jacobian_);
  std::copy_n(frozen, matrix_sides_.size(), matrix_sides_.begin());
  matrix_h_ = c_.h;
  matrix_kappa_ = c_.kappa;
  const int width = 2 * n_ + m_ + layout_.free_parameters;
  const double* const J = known_jacobian_.data();
  double* const A = lu_.matrix();
  for (int i = 0; i < size_; ++i) {
    const bool state = i >= n_;
    const double share = state ? c_.h * c_.theta : c_.kappa;
    double size = 0;
    for (int j = 0; j < size_; ++j) {
      const double* row = J + static_cast<std::ptrdiff_t>(i) * width;
      double a = j < n_ ? -share * (c_.cq * row[j] + c_.cv * row[n_ + j]) : -share * row[n_ + j];
      if (!state && j < n_) a += mass_[i * n_ + j];
      if (i == j && state) a += 1;
      A[i * size_ + j] = a;
      size = std::max(size, std::abs(a));
    }
    weights_[i] = size > 0 ? 1 / size : 1;
  }
  if (!lu_.factor(weights_.data())) {
    have_matrix_ = false;
    return {Reason::singular_mass,
            c_.t,
            {},
            "the matrix of the step, inertia with stiffness and damping over the step, is singular; try "
            "another step"};
  }
  have_matrix_ = true;
  check_conservative();
  contacts_.matrix_changed();
  return {};
}

// The forces at the evaluation point from those of the beginning, where they differ by constant slopes alone.
void ImplicitScheme::find_affine_forces(const StepState& state) {
  const int width = 2 * n_ + layout_.free_parameters;
  const double* const q0 = state.y.data();
  for (int j = 0; j < n_; ++j) {
    mean_[j] = place_[j] + c_.cq * xi_[j] - q0[j];
    loads_[j] = speed_[j] + c_.cv * xi_[j] - q0[n_ + j];
  }
  if (large_ != nullptr) {
    std::copy(force_.begin(), force_.end(), work_.force.begin());
    large_->stiffness.add(-1, mean_.data(), work_.force.data());
    large_->damping.add(-1, loads_.data(), work_.force.data());
    return;
  }
  for (int i = 0; i < n_; ++i) {
    const double* const row = known_jacobian_.data() + static_cast<std::ptrdiff_t>(i) * width;
    double sum = force_[i];
    for (int j = 0; j < n_; ++j) sum += row[j] * mean_[j] + row[n_ + j] * loads_[j];
    work_.force[i] = sum;
  }
}

// R(ξ, z₁) of the formula, without impulses.
void ImplicitScheme::find_residual(const StepState& state) {
  if (large_ != nullptr) {
    for (int i = 0; i < n_; ++i) {
      mean_[i] = xi_[i] - base_[i];
      residual_[i] = -given_[i] - c_.kappa * work_.force[i];
    }
    large_->mass.add(1, mean_.data(), residual_.data());
    return;
  }
  for (int i = 0; i < n_; ++i) {
    double sum = -given_[i] - c_.kappa * work_.force[i];
    for (int j = 0; j < n_; ++j) sum += mass_[i * n_ + j] * (xi_[j] - base_[j]);
    residual_[i] = sum;
  }
  const double* z0 = state.y.data() + 2 * n_;
  for (int i = 0; i < m_; ++i)
    residual_[n_ + i] = xi_[n_ + i] - z0[i] - c_.h * ((1 - c_.theta) * rate_[i] + c_.theta * work_.rate[i]);
}

Status ImplicitScheme::solve_step(const StepState& state) {
  const double* v0 = state.y.data() + n_;
  for (int i = 0; i < n_; ++i) {
    given_[i] = c_.start_force ? c_.h * (1 - c_.theta) * force_[i] : 0;
    xi_[i] = central() ? base_[i] : v0[i];
  }
  after_ = joins_impacts();
  for (int i = 0; i < m_; ++i) xi_[n_ + i] = state.y[2 * n_ + i];
  double last = INFINITY;
  for (int round = 0; round < kMostRounds; ++round) {
    if (!affine_ || !have_matrix_ || matrix_h_ != c_.h || matrix_kappa_ != c_.kappa) {
      if (!load_evaluation(state, round)) return failed(state);
      std::copy_n(work_.in.begin() + layout_.side(), layout_.switches, sides_.begin());
      if (Status status = take_matrix(); !status.ok()) return status;
    } else {
      find_affine_forces(state);
    }
    find_residual(state);
    lu_.solve(residual_.data());
    double scale = 0, change = 0;
    for (int i = 0; i < size_; ++i) {
      free_[i] = xi_[i] - residual_[i];
      scale = std::max(scale, std::abs(xi_[i]) + std::abs(free_[i]));
    }
    std::swap(xi_, free_);  // now ξ without impulses, and the guess before
    if (Status status = solve_contacts(state); !status.ok()) return status;
    for (int i = 0; i < size_; ++i) {
      change = std::max(change, std::abs(xi_[i] - free_[i]));
      scale = std::max(scale, std::abs(xi_[i]));
      if (!std::isfinite(xi_[i])) return failed(state);
    }
    const bool sides_stand = !kinks_ || round >= kSideRounds || (round > 0 && sides_ == last_sides_);
    std::swap(sides_, last_sides_);
    if (linear_ && sides_stand) {
      rounds_.note(round + 1, kMostRounds, c_.t);
      return {};
    }
    if (round > 0 && sides_stand &&
        (change <= kStands * scale || (change >= last && change <= 1e-9 * scale))) {
      rounds_.note(round + 1, kMostRounds, c_.t);
      return {};
    }
    last = change;
  }
  return {Reason::step_too_small,
          state.t,
          {},
          "the equations of the step were not solved in " + std::to_string(kMostRounds) +
              " rounds; a shorter step brings them closer to linear ones"};
}

// Places at which the laws of contact are asked for, and their gaps there.
void ImplicitScheme::find_gaps(const StepState& state) {
  double* const in = work_.in.data();
  in[0] = state.t + c_.h;
  const double* q0 = state.y.data();
  const double* v0 = q0 + n_;
  for (int i = 0; i < n_; ++i) {
    in[layout_.q() + i] = c_.position
                              ? (central() ? before_[i] + 2 * c_.h * xi_[i] : place_[i] + c_.cq * xi_[i])
                              : q0[i] + c_.h * (c_.theta * xi_[i] + (1 - c_.theta) * v0[i]);
    in[layout_.v() + i] = v0[i];
  }
  contacts_.take_rows(state.mode, v0);
  for (int r = 0; r < layout_.relations; ++r) gap_[r] = work_.relation[r].gap;
}

Status ImplicitScheme::solve_contacts(const StepState& state) {
  if (contacts_.empty()) return {};
  find_gaps(state);
  StepLaw law;
  law.kappa = c_.force;
  law.position = c_.position;
  law.reach = c_.reach;
  law.restitution = !remembers_accelerations();
  law.after = after_;
  if (c_.position)
    contacts_.choose_all();
  else
    contacts_.choose_closed();
  const std::span<const double> none, gap = c_.position ? std::span<const double>(gap_) : none,
                                      before = central() ? std::span<const double>(gap_before_) : none;
  return contacts_.solve(law, gap, before, lu_, size_, xi_.data());
}

Status ImplicitScheme::advance(StepState& state, double to, StepReport& report) {
  // Differences of grid times have the rounding of the times; the steps of a grid are equal.
  constexpr double kEqualSteps = 1e-6;
  const bool regular = std::abs(to - state.t - step_) <= kEqualSteps * step_;
  if (!central() || (has_before_ && regular)) return one_step(state, to, report);
  // The schemes of two steps begin with one of Moreau's, which has the order that they need; so does a last step that is shorter.
  const StepFormula formula = numbers_.formula;
  numbers_.formula = StepFormula::moreau;
  contacts_.forget_impact();
  Status status = one_step(state, to, report);
  numbers_.formula = formula;
  have_matrix_ = false;
  has_before_ = regular;
  if (!status.ok() || !regular) return status;
  std::copy_n(start_.begin(), n_, before_.begin());
  // Of an impact in it the place has seen half; the schemes of two steps would make the other half a second one.
  if (contacts_.any_strike(start_.data() + n_)) {
    for (int i = 0; i < n_; ++i) state.y[i] = start_[i] + c_.h * state.y[n_ + i];
  } else {
    for (int i = 0; i < n_; ++i) state.y[n_ + i] = (state.y[i] - start_[i]) / c_.h;
  }
  has_force_ = false;  // it was that of the other velocity
  return status;
}

Status ImplicitScheme::one_step(StepState& state, double to, StepReport& report) {
  std::copy(state.y.begin(), state.y.end(), start_.begin());
  if (!has_force_ && !evaluate_start(state)) return failed(state);
  if (makes_consistent()) {
    start_mode_ = state.mode;
    if (!has_rows_) take_start_rows(state);
  }
  // Differences of grid times have the rounding of the times; the steps of a grid are equal.
  constexpr double kEqualSteps = 1e-6;
  const double h = to - state.t;
  set_coefficients(state, std::abs(h - step_) <= kEqualSteps * step_ ? step_ : h);
  const double remembered = makes_consistent() ? c_.h * (1 - c_.theta) : 0;
  for (StepContacts* each : {&contacts_, &ends_}) each->remember(remembered, normal_before_, tangent_before_);
  if (central()) find_gaps_before(state);
  if (Status status = take_mass(state); !status.ok()) return status;
  if (Status status = solve_step(state); !status.ok()) return status;
  return finish(state, to, report);
}

// Rows at the beginning of a step whose end before is not known: the run was taken up.
void ImplicitScheme::take_start_rows(const StepState& state) {
  write_state(layout_, state.t, state.y.data(), work_.in.data());
  write_statuses(layout_, state.mode, work_.in.data());
  ends_.take_rows(state.mode, state.y.data() + n_);
  ends_.keep_rows();
  has_rows_ = true;
}

// Gaps at q₋, for Paoli-Schatzman's restitution.
void ImplicitScheme::find_gaps_before(const StepState& state) {
  double* const in = work_.in.data();
  write_state(layout_, state.t - c_.h, state.y.data(), in);
  write_statuses(layout_, state.mode, in);
  std::copy(before_.begin(), before_.end(), in + layout_.q());
  for (int r = 0; r < layout_.relations; ++r) {
    double rate = 0;
    if (system_.relations()[r].has_normal) system_.gap(work_, r, gap_before_[r], rate);
  }
}

Status ImplicitScheme::finish(StepState& state, double to, StepReport& report) {
  note_contacts(report);
  if (contacts_.solutions() > 1 && on_indeterminate_ == OnIndeterminate::stop)
    return {Reason::indeterminate,
            state.t,
            {},
            "the step from here has " + std::to_string(contacts_.solutions()) +
                " solutions: " + contacts_.solutions_text() + "; a shorter step may have one"};
  if (const int r = contacts_.paradox(); r >= 0 && on_painleve_ != OnPainleve::tangential_impact)
    return {Reason::inconsistent, state.t, system_.relations()[r].place,
            "no finite reaction lets this contact go on slipping: k = " + to_text(contacts_.paradox_k(), 6) +
                ", a = " + to_text(contacts_.paradox_a(), 6) +
                "; with on_painleve = \"tangential-impact\" an impulse ends the slip"};
  contacts_.write_mode(state.mode);
  if (joins_impacts()) {
    // What is met closes, or rebounds, at the end of the second step.
    for (int r = 0; r < layout_.relations; ++r) {
      if (report.met[r] == 0) continue;
      const model::Relation& relation = system_.relations()[r];
      state.mode.normal[r] = NormalStatus::open;
      std::fill_n(state.mode.tangent.begin() + relation.first_tangent, relation.tangents,
                  TangentStatus::free);
    }
    contacts_.keep_impact(start_.data() + n_);
  }
  take_end(state, to, report);
  std::fill(report.dissipated.begin(), report.dissipated.end(), 0.0);
  std::fill(report.supplied.begin(), report.supplied.end(), 0.0);
  if (contacts_.any_impulse()) note_contact_works(state, report);
  energy_drive_ = contacts_.any_impulse() ? contacts_.drive_work() : 0;
  write_state(layout_, state.t, state.y.data(), work_.in.data());
  if (!contacts_.rows_constant() && !c_.position && !contacts_.project(lu_, size_, state.y.data()))
    return {Reason::discontinuous,
            state.t,
            {},
            "the constraints cannot be met at the end of the step; a shorter step may help"};
  // What the next step begins with, and what the monitors ask about.
  if (layout_.switches > 0) take_sides(state.mode, true);
  std::swap(force_, step_force_);
  std::swap(powers_, start_powers_);
  if (!evaluate_start(state)) return failed(state);
  if (has_powers_) note_powers(report);
  note_monitors(state, report);
  return makes_consistent() ? make_consistent(state, report) : Status{};
}

// y = M x, of the dense matrix or of the large one.
void ImplicitScheme::apply_mass(const double* mass, const double* x, double* y) const {
  if (large_ != nullptr) {
    std::fill_n(y, n_, 0.0);
    large_->mass.add(1, x, y);
    return;
  }
  for (int i = 0; i < n_; ++i) {
    double sum = 0;
    for (int j = 0; j < n_; ++j) sum += mass[i * n_ + j] * x[j];
    y[i] = sum;
  }
}

// y = ∂h/∂q x
void ImplicitScheme::apply_slopes(const double* q, double* y) const {
  std::fill_n(y, n_, 0.0);
  if (large_ != nullptr) {
    large_->stiffness.add(-1, q, y);
    return;
  }
  const int width = 2 * n_ + m_ + layout_.free_parameters;
  for (int i = 0; i < n_; ++i) {
    const double* const row = known_jacobian_.data() + static_cast<std::ptrdiff_t>(i) * width;
    for (int j = 0; j < n_; ++j) y[i] += row[j] * q[j];
  }
}

// Factors of the mass matrix at the state in work_.
Status ImplicitScheme::take_end_mass(const StepState& state) {
  if (have_mass_lu_ && system_.mass_constant()) return {};
  if (large_ != nullptr) {
    if (!mass_lu_.factor(*large_, 0, 0))
      return {Reason::singular_mass, state.t, {}, "the mass matrix is not positive definite"};
    have_mass_lu_ = true;
    ends_.matrix_changed();
    return {};
  }
  system_.full_mass(work_, end_mass_.data());
  double* const A = mass_lu_.matrix();
  std::copy(end_mass_.begin(), end_mass_.end(), A);
  for (int i = 0; i < n_; ++i) {
    double size = 0;
    for (int j = 0; j < n_; ++j) size = std::max(size, std::abs(A[i * n_ + j]));
    weights_[i] = size > 0 ? 1 / size : 1;
  }
  if (!mass_lu_.factor(weights_.data()))
    return {Reason::singular_mass, state.t, {}, "the mass matrix is singular"};
  have_mass_lu_ = true;
  ends_.matrix_changed();
  return {};
}

// The accelerations of the true motion at a state whose forces are known, and their reactions.
Status ImplicitScheme::find_accelerations(const StepState& state) {
  write_state(layout_, state.t, state.y.data(), work_.in.data());
  write_statuses(layout_, state.mode, work_.in.data());
  if (Status status = take_end_mass(state); !status.ok()) return status;
  ends_.take_rows(state.mode, state.y.data() + n_);
  ends_.choose_by_mode(state.mode);
  std::copy(force_.begin(), force_.end(), acceleration_.begin());
  mass_lu_.solve(acceleration_.data());
  if (Status status = ends_.accelerate(step_, state.y.data() + n_, mass_lu_, acceleration_.data());
      !status.ok()) {
    status.time = state.t;
    return status;
  }
  apply_mass(end_mass_.data(), acceleration_.data(), reaction_.data());
  for (int i = 0; i < n_; ++i) reaction_[i] -= force_[i];
  std::copy(ends_.normal().begin(), ends_.normal().end(), normal_before_.begin());
  std::copy(ends_.tangent().begin(), ends_.tangent().end(), tangent_before_.begin());
  ends_.keep_rows();
  has_rows_ = true;
  return {};
}

// The impulses of the step, sought again so that the velocities at its end are allowed, and the accelerations there.
Status ImplicitScheme::make_consistent(StepState& state, StepReport& report) {
  double* const v = state.y.data() + n_;
  std::copy_n(v, n_, end_velocity_.begin());
  write_state(layout_, state.t, state.y.data(), work_.in.data());
  write_statuses(layout_, state.mode, work_.in.data());
  if (Status status = take_end_mass(state); !status.ok()) return status;
  // The laws of the step: coefficients are those of the slips at its beginning.
  std::copy_n(start_.begin() + n_, n_, work_.in.begin() + layout_.v());
  ends_.take_rows(start_mode_, start_.data() + n_);
  ends_.choose_by_mode(state.mode);
  if (ends_.any_part()) {
    ends_.take_out(contacts_, mass_lu_, v);
    StepLaw law;
    law.kappa = c_.force;
    law.restitution = false;
    const std::span<const double> none;
    if (Status status = ends_.solve(law, none, none, mass_lu_, n_, v); !status.ok()) {
      status.time = state.t;
      return status;
    }
    end_mode_ = state.mode;
    ends_.write_mode(end_mode_);
    // Whether a contact is closed is said by its gap; what its slip does, by the velocities.
    for (int r = 0; r < layout_.relations; ++r) {
      const model::Relation& relation = system_.relations()[r];
      if (end_mode_.normal[r] != state.mode.normal[r]) continue;
      for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j)
        state.mode.tangent[j] = end_mode_.tangent[j];
    }
    for (int r = 0; r < layout_.relations; ++r) {
      if (report.struck[r] == 0) continue;
      report.normal[r] = ends_.normal()[r];
      const model::Relation& relation = system_.relations()[r];
      for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j)
        report.tangent[j] = ends_.tangent()[j];
    }
  }
  note_end_works(state, report);
  if (!std::equal(end_velocity_.begin(), end_velocity_.end(), v) && !evaluate_start(state))
    return failed(state);
  if (Status status = find_accelerations(state); !status.ok()) return status;
  std::copy(acceleration_.begin(), acceleration_.end(), report.acceleration.begin());
  // The reaction of a phase is that at its end; an impact has its impulse.
  for (int r = 0; r < layout_.relations; ++r) {
    if (report.struck[r] == 0) report.normal[r] = c_.h * normal_before_[r];
  }
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j) {
      if (report.struck[r] == 0) report.tangent[j] = c_.h * tangent_before_[j];
    }
  }
  return {};
}

// What the remembered reactions and those that were found do with the mean velocities of the step, and their correction at its end.
void ImplicitScheme::note_end_works(const StepState& state, StepReport& report) {
  std::fill(report.dissipated.begin(), report.dissipated.end(), 0.0);
  std::fill(report.supplied.begin(), report.supplied.end(), 0.0);
  if (has_powers_) note_powers(report);
  const double* const before = start_.data() + n_;
  const double* const reached = end_velocity_.data();
  const double* const after = state.y.data() + n_;
  for (std::size_t e = 0; e < system_.audits().size(); ++e) {
    const int r = system_.audits()[e].relation;
    if (r < 0) continue;
    double dissipated = 0, supplied = 0;
    ends_.work_of_kept(r, normal_before_, tangent_before_, c_.h * (1 - c_.theta), before, reached, dissipated,
                       supplied);
    contacts_.work_of(r, before, reached, dissipated, supplied);
    if (ends_.any_part()) {
      contacts_.work_of(r, contacts_.normal(), contacts_.tangent(), -1, reached, after, dissipated, supplied);
      ends_.work_of(r, reached, after, dissipated, supplied);
    }
    report.dissipated[e] += dissipated;
    report.supplied[e] += supplied;
  }
}

// Impacts of two steps are told with the second one.
void ImplicitScheme::note_impacts(StepReport& report) {
  const double share = c_.h / c_.force;
  report.finishes = contacts_.completing();
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    const bool met = relation.kind == model::RelationKind::contact && contacts_.met(r, start_.data() + n_);
    const bool ends = contacts_.completing(r);
    report.met[r] = met ? 1 : 0;
    report.struck[r] = ends ? 1 : 0;
    impacts += ends ? 1 : 0;
    report.unfinished = report.unfinished || met;
    if (!met && !ends) continue;
    const auto told = [&](double now, double first) { return met ? 0 : share * (now + first); };
    report.normal[r] = told(contacts_.normal()[r], contacts_.first_normal(r));
    for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j)
      report.tangent[j] = told(contacts_.tangent()[j], contacts_.first_tangent(j));
  }
  report.smooth = report.smooth && !report.finishes && !report.unfinished;
}

void ImplicitScheme::note_contacts(StepReport& report) {
  const double share = c_.h / c_.force;  // from the force of the scheme to its impulse over the step
  for (int r = 0; r < layout_.relations; ++r) {
    const double impulse = share * contacts_.normal()[r];
    report.normal[r] = impulse;
    const bool struck = !joins_impacts() && system_.relations()[r].kind == model::RelationKind::contact &&
                        contacts_.was_open(r) && impulse > 0;
    report.struck[r] = struck ? 1 : 0;
    impacts += struck ? 1 : 0;
    report.smooth = report.smooth && !struck;
  }
  for (int j = 0; j < layout_.tangents; ++j) report.tangent[j] = share * contacts_.tangent()[j];
  if (joins_impacts()) note_impacts(report);
  if (!numbers_.mean_friction) return;
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    bool rubs = false;
    for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j)
      rubs = rubs || report.tangent[j] != 0;
    if (report.struck[r] != 0 && rubs) as_printed_.note(1, 0, c_.t);
  }
}

// The new state from ξ.
void ImplicitScheme::take_end(StepState& state, double to, StepReport& report) {
  const double h = c_.h;
  double* const y = state.y.data();
  const double* const v0 = start_.data() + n_;
  for (int i = 0; i < n_; ++i) {
    const double xi = xi_[i];
    if (central()) {
      y[i] = before_[i] + 2 * h * xi;
      y[n_ + i] = (y[i] - start_[i]) / h;
      before_[i] = start_[i];
    } else {
      y[i] = place_[i] + c_.cq * xi;
      y[n_ + i] = xi;
    }
    report.acceleration[i] =
        remembers_accelerations() ? (xi - base_[i]) / (h * c_.theta) : (y[n_ + i] - v0[i]) / h;
  }
  for (int i = 0; i < m_; ++i) y[2 * n_ + i] = xi_[n_ + i];
  state.t = to;
}

void ImplicitScheme::note_contact_works(const StepState& state, StepReport& report) {
  const double share = c_.h / c_.force;
  for (std::size_t e = 0; e < system_.audits().size(); ++e) {
    const int relation = system_.audits()[e].relation;
    if (relation < 0) continue;
    double dissipated = 0, supplied = 0;
    contacts_.work_of(relation, start_.data() + n_, state.y.data() + n_, dissipated, supplied);
    report.dissipated[e] += share * dissipated;
    report.supplied[e] += share * supplied;
  }
}

void ImplicitScheme::note_powers(StepReport& report) {
  for (std::size_t e = 0; e < system_.audits().size(); ++e) {
    const model::AuditInfo& audit = system_.audits()[e];
    if (audit.power < 0) continue;
    const double work = 0.5 * c_.h * (powers_[audit.power] + start_powers_[audit.power]);
    (audit.dissipative ? report.dissipated[e] : report.supplied[e]) += audit.dissipative ? -work : work;
  }
}

// --- memory ---

void ImplicitScheme::save(std::vector<double>& out) const {
  out.push_back(has_before_ ? 1 : 0);
  for (const std::vector<double>* each :
       {&acceleration_, &reaction_, &before_, &normal_before_, &tangent_before_})
    out.insert(out.end(), each->begin(), each->end());
  contacts_.save(out);
  if (central()) contacts_.save_impact(out);
  for (const StepMonitor* monitor : const_cast<ImplicitScheme*>(this)->all_monitors()) monitor->save(out);
}

bool ImplicitScheme::load(std::span<const double> saved, const StepState& /*state*/) {
  const auto n = static_cast<std::size_t>(n_);
  const std::vector<StepMonitor*> all = all_monitors();
  const std::size_t reactions = normal_before_.size() + tangent_before_.size();
  const std::size_t guess = 1 + 3 * n + reactions, impact = guess + contacts_.saved_size(),
                    numbers = impact + (central() ? contacts_.saved_impact_size() : 0);
  if (saved.size() != numbers + all.size() * StepMonitor::kSaved) return false;
  for (std::size_t i = 0; i < numbers; ++i) {
    if (!std::isfinite(saved[i])) return false;
  }
  has_before_ = saved[0] != 0;
  const auto take = [&saved](std::size_t from, std::vector<double>& to) {
    std::copy_n(saved.begin() + static_cast<std::ptrdiff_t>(from), to.size(), to.begin());
  };
  take(1, acceleration_);
  take(1 + n, reaction_);
  take(1 + 2 * n, before_);
  take(1 + 3 * n, normal_before_);
  take(1 + 3 * n + normal_before_.size(), tangent_before_);
  contacts_.load(saved.subspan(guess, contacts_.saved_size()));
  if (central()) contacts_.load_impact(saved.subspan(impact, numbers - impact));
  std::size_t at = numbers;
  for (StepMonitor* monitor : all) {
    monitor->load(saved.subspan(at, StepMonitor::kSaved));
    at += StepMonitor::kSaved;
  }
  has_force_ = have_matrix_ = has_rows_ = false;
  return true;
}

}  // namespace judder::engines
