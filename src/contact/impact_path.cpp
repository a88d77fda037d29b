#include "judder/contact/impact_path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "curved_path.hpp"
#include "path_laws.hpp"

namespace judder::contact {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLocked = 1e-10;  // a slope of γ_N below this part of A_NN is none
// Larger coefficients are taken for this one: slip stops, or carries the contact off, at once, and products with it are numbers.
constexpr double kMostCoefficient = 0x1p960;

// One direction of the path: dQ = τ dP over a length in P.
struct Leg {
  double tau = 0;
  double length = 0;
  RowStatus status = RowStatus::free;
};

double static_coefficient(const PathProblem& problem, double mu) {
  return std::isnan(problem.mu_static) ? mu : std::max(mu, problem.mu_static);
}

class Path {
 public:
  Path(const PathProblem& problem, double coefficient)
      : p_(problem), gamma_N_(problem.normal_before), gamma_T_(problem.tangent_before) {
    const double mu = std::min(coefficient, kMostCoefficient);
    const double s = p_.tangent_before > 0 ? 1 : p_.tangent_before < 0 ? -1 : 0;
    if (mu == 0 && static_coefficient(p_, mu) == 0) {
      leg_[0] = {0, kInfinity, RowStatus::free};
      legs_ = 1;
      return;
    }
    if (s != 0) {
      const double rate = p_.A_TN - mu * s * p_.A_TT;
      const bool stops = rate * s < 0;
      leg_[legs_++] = {-mu * s, stops ? -p_.tangent_before / rate : kInfinity,
                       s > 0 ? RowStatus::slip_plus : RowStatus::slip_minus};
      if (!stops) return;
    }
    if (std::abs(p_.A_TN) <= static_coefficient(p_, mu) * p_.A_TT) {
      leg_[legs_++] = {-p_.A_TN / p_.A_TT, kInfinity, RowStatus::stick};
    } else {
      const double direction = p_.A_TN > 0 ? 1 : -1;
      leg_[legs_++] = {-mu * direction, kInfinity,
                       direction > 0 ? RowStatus::slip_plus : RowStatus::slip_minus};
    }
  }

  /// The path is the straight line with this slope.
  Path(const PathProblem& problem, Leg line)
      : p_(problem), gamma_N_(problem.normal_before), gamma_T_(problem.tangent_before), legs_(1) {
    leg_[0] = line;
  }

  /// Slope of γ_N on the present leg.
  [[nodiscard]] double slope() const { return p_.A_NN + p_.A_NT * leg_[at_].tau; }
  [[nodiscard]] double left() const { return leg_[at_].length - used_; }
  [[nodiscard]] double normal() const { return gamma_N_; }
  [[nodiscard]] double impulse() const { return P_; }
  [[nodiscard]] double normal_work() const { return work_N_; }

  /// Goes on by `length` in P, at most to the end of the leg; γ_N becomes `value` exactly where it is known
  /// (NaN: not known).
  void advance(double length, PathResult& r, bool compression, double value) {
    const Leg& leg = leg_[at_];
    const bool whole = length >= left();
    const double step = whole ? left() : length;
    const double normal = std::isnan(value) || whole ? gamma_N_ + slope() * step : value;
    double tangent = gamma_T_ + (p_.A_TN + p_.A_TT * leg.tau) * step;
    if (leg.status == RowStatus::stick || whole) tangent = 0;
    work_N_ += 0.5 * (gamma_N_ + normal) * step;
    work_T_ += 0.5 * (gamma_T_ + tangent) * leg.tau * step;
    gamma_N_ = normal;
    gamma_T_ = tangent;
    area_ += (Q_ + 0.5 * leg.tau * step) * step;
    P_ += step;
    Q_ += leg.tau * step;
    used_ += step;
    if (step > 0) r.piece[r.pieces++] = {leg.status, P_, Q_, gamma_N_, gamma_T_, compression};
    if (whole) {
      ++at_;
      used_ = 0;
    }
  }

  /// Stuck where sticking also holds the normal (one degree of freedom): no further impulse changes anything.
  [[nodiscard]] bool locked() const {
    return leg_[at_].status == RowStatus::stick && slope() <= kLocked * p_.A_NN;
  }

  /// To the next root of γ_N from below; false if γ_N never rises.
  bool compress(PathResult& r) {
    while (true) {
      if (locked()) {
        if (gamma_N_ < kLocked * p_.normal_before) return false;
        gamma_N_ = 0;
        return true;
      }
      const double k = slope();
      if (k > 0 && -gamma_N_ <= k * left()) {
        advance(-gamma_N_ / k, r, true, 0.0);
        return true;
      }
      if (left() == kInfinity) return false;
      advance(left(), r, true, std::numeric_limits<double>::quiet_NaN());
    }
  }

  /// Until γ_N = target.
  void expand_to_velocity(double target, PathResult& r) {
    while (gamma_N_ < target && !locked()) {
      const double need = (target - gamma_N_) / slope();
      advance(std::min(need, left()), r, false, target);
    }
  }

  /// By `length` in P.
  void expand_by(double length, PathResult& r) {
    const double end = P_ + length;
    while (P_ < end && length > 0 && !locked()) {
      const double step = std::min(length, left());
      advance(step, r, false, std::numeric_limits<double>::quiet_NaN());
      length -= step;
    }
  }

  /// Until `work` has been returned: γ_N x + k x²/2 = work on each leg.
  void expand_by_work(double work, PathResult& r) {
    while (work > 0 && !locked()) {
      const double k = slope();
      const double room = left();
      const double available = room == kInfinity ? kInfinity : room * (gamma_N_ + 0.5 * k * room);
      if (available <= work) {
        work -= available;
        advance(room, r, false, std::numeric_limits<double>::quiet_NaN());
        continue;
      }
      const double end = std::sqrt(gamma_N_ * gamma_N_ + 2 * k * work);
      advance((2 * work) / (gamma_N_ + end), r, false, end);
      return;
    }
  }

  void finish(PathResult& r) const {
    r.normal_impulse = P_;
    r.tangential_impulse = Q_;
    r.normal_after = gamma_N_;
    r.tangent_after = gamma_T_;
    r.normal_work = work_N_;
    r.tangential_work = work_T_;
    r.energy_change = work_N_ + work_T_;
    r.area = area_;
    r.slip = r.pieces > 0 ? r.piece[r.pieces - 1].status : RowStatus::free;
    // Slip that stops with the last bit of impulse has stopped.
    if (r.pieces > 0 && gamma_T_ == 0 && leg_[0].status != RowStatus::free && at_ < legs_)
      r.slip = leg_[at_].status;
  }

 private:
  const PathProblem& p_;
  std::array<Leg, 2> leg_{};
  double gamma_N_, gamma_T_;
  int legs_ = 0;
  int at_ = 0;
  double used_ = 0;
  double P_ = 0, Q_ = 0;
  double work_N_ = 0, work_T_ = 0;
  double area_ = 0;
};

PathResult nothing(const PathProblem& problem) {
  PathResult r;
  r.normal_after = problem.normal_before;
  r.tangent_after = problem.tangent_before;
  return r;
}

void run(Path& path, const PathProblem& problem, ImpactType type, double e, PathResult& r) {
  if (!path.compress(r)) {
    r = nothing(problem);
    r.status = ImpactStatus::no_solution;
    return;
  }
  r.compression_impulse = path.impulse();
  if (e > 0) {
    const PathEnd end = end_of_path(type, e, {problem.normal_before, path.impulse(), path.normal_work()});
    switch (end.goal) {
      case PathGoal::impulse:
        path.expand_by(end.change, r);
        break;
      case PathGoal::work:
        path.expand_by_work(end.change, r);
        break;
      case PathGoal::normal_velocity:
        path.expand_to_velocity(end.total, r);
    }
  }
  path.finish(r);
}

}  // namespace

PathResult path_impact(const PathProblem& problem, const ImpactLaw& law) {
  PathResult r;
  if (!(problem.normal_before < 0)) return nothing(problem);
  if (std::isnan(law.tangential)) {
    if (law.friction && problem.friction != nullptr)
      return follow_curved_path(problem, law.type, law.restitution);
    PathProblem smooth = problem;
    if (!law.friction) smooth.mu = smooth.mu_static = 0;
    Path path(smooth, smooth.mu);
    run(path, problem, law.type, law.restitution, r);
    return r;
  }
  // A (P, Q) = (−(1 + e) γ_N⁻, −(1 − λ) γ_T⁻) gives the slope of the line.
  const double normal = -(1 + law.restitution) * problem.normal_before;
  const double tangent = -(1 - law.tangential) * problem.tangent_before;
  const double determinant = problem.A_NN * problem.A_TT - problem.A_NT * problem.A_TN;
  const double P = (problem.A_TT * normal - problem.A_NT * tangent) / determinant;
  const double Q = (problem.A_NN * tangent - problem.A_TN * normal) / determinant;
  if (!(determinant > 0) || !(P > 0)) {
    r = nothing(problem);
    r.status = ImpactStatus::no_solution;
    return r;
  }
  const RowStatus status = problem.tangent_before > 0   ? RowStatus::slip_plus
                           : problem.tangent_before < 0 ? RowStatus::slip_minus
                                                        : RowStatus::stick;
  Path path(problem, {Q / P, kInfinity, status});
  run(path, problem, ImpactType::newton, law.restitution, r);
  if (r.status != ImpactStatus::solved) return r;
  r.tangent_after = law.tangential * problem.tangent_before;
  r.slip = r.tangent_after > 0   ? RowStatus::slip_plus
           : r.tangent_after < 0 ? RowStatus::slip_minus
                                 : RowStatus::stick;
  return r;
}

PathResult jam_impact(const PathProblem& problem) {
  PathResult r = nothing(problem);
  const double determinant = problem.A_NN * problem.A_TT - problem.A_NT * problem.A_TN;
  const double P = problem.A_NT * problem.tangent_before / determinant;
  if (!(determinant > 0) || !(P > 0)) return r;
  r.normal_impulse = P;
  r.tangential_impulse = -problem.A_NN * problem.tangent_before / determinant;
  r.normal_after = r.tangent_after = 0;
  r.tangential_work = r.energy_change = 0.5 * problem.tangent_before * r.tangential_impulse;
  r.area = 0.5 * r.normal_impulse * r.tangential_impulse;
  r.slip = RowStatus::stick;
  r.pieces = 1;
  r.piece[0] = {problem.tangent_before > 0 ? RowStatus::slip_plus : RowStatus::slip_minus,
                P,
                r.tangential_impulse,
                0,
                0,
                true};
  return r;
}

PathResult tangential_impact(const PathProblem& problem) {
  Path path(problem, problem.mu);
  if (!(path.slope() < 0)) return nothing(problem);
  if (problem.friction != nullptr) return follow_curved_path(problem, ImpactType::newton, 0);
  PathResult r;
  run(path, problem, ImpactType::newton, 0, r);
  return r;
}

}  // namespace judder::contact
