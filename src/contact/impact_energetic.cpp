// The energetic law for several contacts (impact_multi.hpp).
//
// Within a phase (fixed statuses) everything follows the normal forces F of the contacts linearly: impulses
// of the other rows dΛ = G dΛ_N, velocities γ = γ₀ + (A G) ΔΛ_N, limits of friction. The state integrated
// is (δ̂, ΔΛ_N, work of the slips).
#include <algorithm>
#include <cmath>

#include "core/elementary.hpp"
#include "impact_memory.hpp"
#include "judder/contact/impact_multi.hpp"

namespace judder::contact {

namespace {

enum ContactState : std::uint8_t { kIdle, kLoading, kUnloading };

constexpr double kSmallestRestitution = 1e-3;
constexpr double kStepTolerance = 1e-12;  // local error of a step, relative to the scales
constexpr double kZero = 1e-11;           // below this part of its scale a guard is at its zero
constexpr double kNegligible = 1e-9;      // remaining approach velocities that are finished inelastically

class EnergeticImpact {
 public:
  EnergeticImpact(const ImpactProblem& problem, const ImpactOptions& options, ImpactWorkspace::Memory& memory)
      : p_(problem),
        o_(options),
        m_(memory),
        n_(problem.rows()),
        nN_(problem.normals),
        nT_(problem.tangents) {
    for (int k = 0; k < nN_; ++k) {
      if (is_unilateral(problem, k)) {
        m_.contacts[nU_++] = k;
      } else {
        m_.others[nB_++] = k;
      }
    }
    for (int j = 0; j < nT_; ++j) m_.others[nB_ + j] = nN_ + j;
    nS_ = nB_ + nT_;
  }

  ImpactStatus run() {
    start();
    for (int phase = 0; phase < o_.max_phases; ++phase) {
      if (!wake_contacts()) return ImpactStatus::solved;
      if (negligible()) return finish_inelastically();
      if (!decide_friction() || !build_shares()) return ImpactStatus::no_solution;
      if (!integrate_phase()) break;
    }
    (void)finish_inelastically();
    return ImpactStatus::not_finished;
  }

  void results() {
    for (int i = 0; i < n_; ++i) {
      m_.impulse[i] = m_.total[i];
      m_.after[i] = m_.velocity[i];
    }
    for (int u = 0; u < nU_; ++u) {
      const int k = m_.contacts[u];
      if (std::abs(m_.after[k]) <= 10 * kZero * m_.velocity_scale[k] && m_.impulse[k] > 0) m_.after[k] = 0;
      m_.mode[k] = m_.after[k] > 0 ? RowStatus::open : RowStatus::closed;
    }
    for (int r = 0; r < nS_; ++r) m_.mode[m_.others[r]] = r < nB_ ? RowStatus::held : m_.sub_mode[r];
  }

 private:
  [[nodiscard]] double restitution(int u) const {
    const double e = p_.law != nullptr ? p_.law[m_.contacts[u]].restitution : 0;
    return e < kSmallestRestitution ? 0 : e;
  }
  [[nodiscard]] double stiffness(int u) const {
    return p_.law != nullptr ? p_.law[m_.contacts[u]].stiffness : 1;
  }
  [[nodiscard]] double exponent(int u) const {
    return p_.law != nullptr ? p_.law[m_.contacts[u]].exponent : 1;
  }
  [[nodiscard]] double force(int u, double deformation) const {
    const double eta = exponent(u);
    if (eta == 1) return stiffness(u) * deformation;
    return stiffness(u) * std::copysign(elementary::pow(std::abs(deformation), eta), deformation);
  }

  void start() {
    // The row of the largest energy, and what its velocity would be in the others: roots of ratios, as one mass may have any unit.
    int liveliest = -1;
    double largest = 0;
    for (int i = 0; i < n_; ++i) {
      m_.velocity[i] = p_.before[i];
      m_.total[i] = 0;
      m_.work[i] = 0;
      const double a = p_.A[i * n_ + i];
      const double energy = a > 0 ? p_.before[i] * p_.before[i] / a : 0;
      if (energy > largest) {
        largest = energy;
        liveliest = i;
      }
    }
    time_scale_ = 0;
    for (int i = 0; i < n_; ++i) {
      const double a = std::max(p_.A[i * n_ + i], 0.0);
      m_.velocity_scale[i] =
          liveliest >= 0 ? std::abs(p_.before[liveliest]) * std::sqrt(a / p_.A[liveliest * n_ + liveliest])
                         : 0;
    }
    for (int u = 0; u < nU_; ++u) {
      const int k = m_.contacts[u];
      const double v = m_.velocity_scale[k];
      const double a = p_.A[k * n_ + k];
      const double eta = exponent(u);
      // Deformation at which all of v would be stored: k δ^{η+1}/(η+1) = v²/(2a).
      const double deformation =
          a > 0 && v > 0 ? elementary::pow((eta + 1) * v * v / (2 * a * stiffness(u)), 1 / (eta + 1)) : 0;
      m_.deformation_scale[u] = deformation;
      if (v > 0 && (time_scale_ == 0 || deformation / v < time_scale_)) time_scale_ = deformation / v;
      m_.deformation[u] = 0;
      m_.contact_state[u] = kIdle;
    }
    for (int j = 0; j < nT_; ++j) {
      const double v = p_.before[nN_ + j];
      m_.sub_state[j] = v > 0   ? TangentState::slip_plus
                        : v < 0 ? TangentState::slip_minus
                                : TangentState::rest;
      m_.sub_mode[nB_ + j] = RowStatus::free;
      m_.excluded[nB_ + j] = 0;
    }
    for (int b = 0; b < nB_; ++b) m_.excluded[b] = 0;
    m_.sub_kind.assign(m_.sub_kind.size(), NormalKind::bilateral);
    for (int r = 0; r < nS_; ++r) {
      for (int s = 0; s < nS_; ++s) m_.sub_matrix[r * nS_ + s] = p_.A[m_.others[r] * n_ + m_.others[s]];
    }
    for (int j = 0; j < nT_; ++j) {
      for (int b = 0; b < nB_; ++b) m_.sub_coupling[j * nB_ + b] = m_.coupling[j * nN_ + m_.others[b]];
    }
    step_ = 0.25 * time_scale_;
  }

  // Contacts that approach are loaded; false when none carries energy or approaches.
  bool wake_contacts() {
    bool any = false;
    for (int u = 0; u < nU_; ++u) {
      const double v = m_.velocity[m_.contacts[u]];
      if (m_.contact_state[u] == kIdle && v < -kZero * m_.velocity_scale[m_.contacts[u]])
        m_.contact_state[u] = kLoading;
      any = any || m_.contact_state[u] != kIdle;
    }
    return any;
  }

  [[nodiscard]] bool negligible() const {
    for (int u = 0; u < nU_; ++u) {
      const double v = m_.velocity[m_.contacts[u]];
      if (m_.deformation[u] > kNegligible * m_.deformation_scale[u]) return false;
      if (v < -kNegligible * m_.velocity_scale[m_.contacts[u]]) return false;
    }
    return true;
  }

  ImpactStatus finish_inelastically() {
    std::copy_n(m_.velocity.begin(), n_, m_.free_velocity.begin());
    // What is left is small against the impact, and so is its rounding: tolerances refer to the whole impact.
    ImpactProblem rest = p_;
    rest.velocity_scale = m_.velocity_scale.data();
    const auto solved = [&](const DecisionOptions& options) {
      const ImpactStatus status = solve_moreau(rest, options, m_).status;
      return status == ImpactStatus::solved || status == ImpactStatus::solved_unchecked;
    };
    DecisionOptions loose = o_.decision;
    loose.tolerance = std::max(loose.tolerance, 1e-8);
    loose.rank_tolerance = std::max(loose.rank_tolerance, 1e-8);
    // Where rounding of dependent rows leaves no solution, what remains is below notice.
    if (!solved(o_.decision) && !solved(loose)) return ImpactStatus::solved;
    for (int i = 0; i < n_; ++i) {
      m_.total[i] += m_.impulse[i];
      m_.work[i] += 0.5 * m_.impulse[i] * (m_.velocity[i] + m_.after[i]);
    }
    for (int i = 0; i < n_; ++i) m_.velocity[i] = m_.after[i];
    for (int j = 0; j < nT_; ++j) m_.sub_mode[nB_ + j] = m_.mode[nN_ + j];
    return ImpactStatus::solved;
  }

  [[nodiscard]] DecisionProblem follower_problem() const {
    DecisionProblem d;
    d.normals = nB_;
    d.tangents = nT_;
    d.A = m_.sub_matrix.data();
    d.b = m_.sub_right.data();
    d.kind = m_.sub_kind.data();
    d.state = m_.sub_state.data();
    d.mu_static = m_.mu_static.data();
    d.mu_slip = m_.mu_slip.data();
    d.base = m_.sub_base.data();
    d.coupling = m_.sub_coupling.data();
    d.excluded = m_.excluded.data();
    return d;
  }

  void load_followers(const double* normal_force) {
    for (int r = 0; r < nS_; ++r) {
      double sum = 0;
      for (int u = 0; u < nU_; ++u) sum += p_.A[m_.others[r] * n_ + m_.contacts[u]] * normal_force[u];
      m_.sub_right[r] = sum;
    }
    for (int j = 0; j < nT_; ++j) {
      double limit = 0;
      for (int u = 0; u < nU_; ++u) limit += m_.coupling[j * nN_ + m_.contacts[u]] * normal_force[u];
      m_.sub_base[j] = limit;
    }
  }

  // Which slips stick, start or reverse under the present normal forces. A contact that is only beginning
  // to press takes the force it will have after a small part of the impact.
  bool decide_friction() {
    if (nS_ == 0) return true;
    for (int u = 0; u < nU_; ++u) {
      double deformation = m_.deformation[u];
      if (m_.contact_state[u] != kIdle) {
        deformation = std::max(deformation, 1e-6 * time_scale_ * std::abs(m_.velocity[m_.contacts[u]]));
        deformation = std::max(deformation, 1e-12 * m_.deformation_scale[u]);
      }
      m_.normal_force[u] = force(u, deformation);
    }
    load_followers(m_.normal_force.data());
    if (nB_ == 0 && likely_mode_holds()) return true;
    const Decision decision = decide(follower_problem(), o_.decision, m_.decision);
    // Slips under given normal forces always have a solution: without bilateral rows any other verdict is
    // rounding, and the least bad mode is the one.
    if (!decision.found() && (nB_ > 0 || decision.verdict == Verdict::not_found)) return false;
    std::copy(decision.mode.begin(), decision.mode.end(), m_.sub_mode.begin());
    for (int j = 0; j < nT_; ++j) {
      if (m_.sub_mode[nB_ + j] == RowStatus::slip_plus) m_.sub_state[j] = TangentState::slip_plus;
      if (m_.sub_mode[nB_ + j] == RowStatus::slip_minus) m_.sub_state[j] = TangentState::slip_minus;
    }
    for (int r = 0; r < nS_; ++r) m_.excluded[r] = 0;
    return true;
  }

  // Under given normal forces the slips solve a convex problem, so a mode that satisfies all inequalities
  // is the answer: try what was not touched by the last event before listing modes.
  bool likely_mode_holds() {
    for (int j = 0; j < nT_; ++j) {
      if (m_.excluded[j] != 0) return false;
      const bool carries = m_.sub_base[j] > 0 && (m_.mu_slip[j] > 0 || m_.mu_static[j] > 0);
      m_.trial_mode[j] = !carries                                      ? RowStatus::free
                         : m_.sub_state[j] == TangentState::slip_plus  ? RowStatus::slip_plus
                         : m_.sub_state[j] == TangentState::slip_minus ? RowStatus::slip_minus
                                                                       : RowStatus::stick;
    }
    const std::span<const RowStatus> mode(m_.trial_mode.data(), static_cast<std::size_t>(nT_));
    const DecisionProblem d = follower_problem();
    factor_mode(d, mode, o_.decision.rank_tolerance, m_.factor, m_.decision);
    if (!m_.factor.reactions_unique()) return false;
    const ModeValues values{m_.sub_force, m_.sub_acceleration, m_.sub_limit, m_.sub_margin};
    if (!(evaluate_mode(d, mode, m_.factor, m_.decision, values).worst_margin > o_.decision.tolerance))
      return false;
    std::copy(mode.begin(), mode.end(), m_.sub_mode.begin());
    return true;
  }

  // Impulses, limits and velocities of all rows per unit of each contact's impulse.
  bool build_shares() {
    const DecisionProblem d = follower_problem();
    const std::span<const RowStatus> mode(m_.sub_mode.data(), static_cast<std::size_t>(nS_));
    redundant_ = false;
    if (nS_ > 0) {
      factor_mode(d, mode, o_.decision.rank_tolerance, m_.factor, m_.decision);
      redundant_ = !m_.factor.reactions_unique();
    }
    const ModeValues values{m_.sub_force, m_.sub_acceleration, m_.sub_limit, m_.sub_margin};
    for (int u = 0; u < nU_; ++u) {
      for (int i = 0; i < n_; ++i) m_.share[i * nU_ + u] = 0;
      m_.share[m_.contacts[u] * nU_ + u] = 1;
      if (nS_ == 0) continue;
      for (int v = 0; v < nU_; ++v) m_.normal_force[v] = v == u ? 1 : 0;
      load_followers(m_.normal_force.data());
      (void)evaluate_mode(d, mode, m_.factor, m_.decision, values);
      for (int r = 0; r < nS_; ++r) {
        if (!std::isfinite(m_.sub_force[r])) return false;
        m_.share[m_.others[r] * nU_ + u] = m_.sub_force[r];
      }
      for (int j = 0; j < nT_; ++j) m_.limit_share[j * nU_ + u] = m_.sub_limit[j];
    }
    for (int i = 0; i < n_; ++i) {
      m_.felt_count[i] = 0;
      for (int u = 0; u < nU_; ++u) {
        double sum = 0;
        for (int k = 0; k < n_; ++k) sum += p_.A[i * n_ + k] * m_.share[k * nU_ + u];
        m_.response[i * nU_ + u] = sum;
        if (sum != 0) m_.felt[i * nU_ + m_.felt_count[i]++] = u;
      }
    }
    return true;
  }

  // Velocity of row i after the impulses ΔΛ_N of this phase.
  [[nodiscard]] double velocity_after(int i, const double* impulse) const {
    double gamma = m_.velocity[i];
    const int* felt = m_.felt.data() + i * nU_;
    const double* response = m_.response.data() + i * nU_;
    for (int f = 0; f < m_.felt_count[i]; ++f) gamma += response[felt[f]] * impulse[felt[f]];
    return gamma;
  }

  // y = (δ̂, ΔΛ_N, work of the slips)
  void rates(const double* y, double* dy, bool with_work) {
    const double* impulse = y + nU_;
    for (int u = 0; u < nU_; ++u) {
      const int k = m_.contacts[u];
      const double gamma = velocity_after(k, impulse);
      switch (m_.contact_state[u]) {
        case kLoading:
          dy[u] = -gamma;
          break;
        case kUnloading:
          dy[u] = -gamma / (restitution(u) * restitution(u));
          break;
        default:
          dy[u] = 0;
      }
      dy[nU_ + u] = m_.contact_state[u] == kIdle ? 0 : force(u, y[u]);
    }
    if (!with_work) return;
    for (int j = 0; j < nT_; ++j) {
      dy[2 * nU_ + j] = 0;
      const RowStatus s = m_.sub_mode[nB_ + j];
      if (s != RowStatus::slip_plus && s != RowStatus::slip_minus) continue;
      const int i = nN_ + j;
      double gamma = m_.velocity[i];
      double push = 0;
      for (int v = 0; v < nU_; ++v) {
        gamma += m_.response[i * nU_ + v] * impulse[v];
        push += m_.share[i * nU_ + v] * dy[nU_ + v];
      }
      dy[2 * nU_ + j] = gamma * push;
    }
  }

  // Extrapolated midpoint rule (Gragg) from y over h into trial; returns the error relative to scale.
  double extrapolated_step(double h, bool with_work) {
    const int size = with_work ? 2 * nU_ + nT_ : 2 * nU_;
    double error = 0;
    rates(m_.y.data(), m_.slope.data(), with_work);
    for (int column = 0; column < kColumns; ++column) {
      const int count = 2 * (column + 1);
      const double step = h / count;
      double* old = m_.midpoint_old.data();
      double* now = m_.midpoint.data();
      for (int i = 0; i < size; ++i) {
        old[i] = m_.y[i];
        now[i] = m_.y[i] + step * m_.slope[i];
      }
      for (int s = 1; s < count; ++s) {
        rates(now, m_.trial.data(), with_work);
        for (int i = 0; i < size; ++i) {
          const double next = old[i] + 2 * step * m_.trial[i];
          old[i] = now[i];
          now[i] = next;
        }
      }
      // Aitken and Neville in h²; entry `back` of the table is the present row's.
      for (int i = 0; i < size; ++i) {
        double value = now[i];
        double correction = 0;
        for (int back = 0; back < column; ++back) {
          double& entry = m_.table[back * size + i];
          const double ratio = static_cast<double>(count) / (2 * (column - back));
          correction = (value - entry) / (ratio * ratio - 1);
          entry = value;
          value += correction;
        }
        m_.table[column * size + i] = value;
        if (column == kColumns - 1) {
          m_.trial[i] = value;
          error = std::max(error, std::abs(correction) / scale(i));
        }
      }
    }
    return error;
  }

  // Each guard is positive in its status. Two per contact, then one per follower.
  void guards(const double* y, double* guard) {
    const double* impulse = y + nU_;
    for (int u = 0; u < nU_; ++u) {
      const int k = m_.contacts[u];
      const double gamma = velocity_after(k, impulse);
      guard[2 * u] = (m_.contact_state[u] == kLoading ? -gamma : gamma) / m_.velocity_scale[k];
      guard[2 * u + 1] = m_.contact_state[u] == kUnloading ? y[u] / m_.deformation_scale[u] : 1;
      m_.normal_force[u] = m_.contact_state[u] == kIdle ? 0 : force(u, y[u]);
    }
    double redundant_margin = 1;
    if (redundant_) {
      load_followers(m_.normal_force.data());
      double size = 0;
      for (int u = 0; u < nU_; ++u) size = std::max(size, std::abs(m_.normal_force[u]));
      const std::span<const RowStatus> mode(m_.sub_mode.data(), static_cast<std::size_t>(nS_));
      const MarginResult margin =
          largest_margin(follower_problem(), mode, m_.factor, m_.decision, m_.sub_force, m_.sub_acceleration);
      redundant_row_ = margin.row;
      redundant_margin = margin.status == MarginStatus::unbounded ? 1 : size > 0 ? margin.margin / size : 0;
    }
    for (int r = 0; r < nS_; ++r) {
      const int i = m_.others[r];
      double push = 0, gamma = m_.velocity[i], size = 0;
      for (int v = 0; v < nU_; ++v) {
        push += m_.share[i * nU_ + v] * m_.normal_force[v];
        gamma += m_.response[i * nU_ + v] * impulse[v];
        size = std::max(size, std::abs(m_.normal_force[v]) * m_.velocity_scale[m_.contacts[v]]);
      }
      // Forces of rows in different units are compared by their power.
      size = m_.velocity_scale[i] > 0 ? size / m_.velocity_scale[i] : 0;
      double& value = guard[2 * nU_ + r];
      value = 1;
      switch (m_.sub_mode[r]) {
        case RowStatus::held_plus:
          if (size > 0) value = push / size;
          break;
        case RowStatus::held_minus:
          if (size > 0) value = -push / size;
          break;
        case RowStatus::slip_plus:
          value = gamma / m_.velocity_scale[i];
          break;
        case RowStatus::slip_minus:
          value = -gamma / m_.velocity_scale[i];
          break;
        case RowStatus::stick: {
          if (redundant_) {
            value = redundant_margin;
            break;
          }
          double limit = 0;
          for (int v = 0; v < nU_; ++v) limit += m_.limit_share[(r - nB_) * nU_ + v] * m_.normal_force[v];
          if (size > 0) value = (m_.mu_static[r - nB_] * limit - std::abs(push)) / size;
          break;
        }
        default:
          break;
      }
    }
  }

  // What the zero of a guard means.
  void pass(int guard) {
    if (guard >= 2 * nU_) {
      const int r = guard - 2 * nU_;
      const RowStatus s = m_.sub_mode[r];
      if (s == RowStatus::slip_plus || s == RowStatus::slip_minus) {
        m_.sub_state[r - nB_] = TangentState::rest;
      } else if (!redundant_ || r < nB_ || redundant_row_ == r) {
        m_.excluded[r] = bit(s);
      }
      return;
    }
    const int u = guard / 2;
    if (guard % 2 == 1) {
      m_.contact_state[u] = kIdle;
      m_.deformation[u] = 0;
    } else if (m_.contact_state[u] != kLoading) {
      m_.contact_state[u] = kLoading;
    } else if (restitution(u) == 0) {
      m_.contact_state[u] = kIdle;
      m_.deformation[u] = 0;
    } else {
      m_.contact_state[u] = kUnloading;
    }
  }

  // The phase ends at y: velocities, impulses and works are brought up to date.
  void close_phase() {
    const double* impulse = m_.y.data() + nU_;
    for (int u = 0; u < nU_; ++u) {
      const double eta = exponent(u);
      const auto energy = [&](double deformation) { return deformation * force(u, deformation) / (eta + 1); };
      const double stored = energy(m_.y[u]) - energy(m_.deformation[u]);
      const double e = restitution(u);
      if (m_.contact_state[u] != kIdle)
        m_.work[m_.contacts[u]] -= m_.contact_state[u] == kUnloading ? e * e * stored : stored;
      m_.deformation[u] = m_.y[u];
    }
    for (int j = 0; j < nT_; ++j) m_.work[nN_ + j] += m_.y[2 * nU_ + j];
    for (int i = 0; i < n_; ++i) {
      for (int u = 0; u < nU_; ++u) {
        m_.velocity[i] += m_.response[i * nU_ + u] * impulse[u];
        m_.total[i] += m_.share[i * nU_ + u] * impulse[u];
      }
    }
    for (int r = 0; r < nS_; ++r) {
      const int i = m_.others[r];
      const RowStatus s = m_.sub_mode[r];
      if (r < nB_ || s == RowStatus::stick) m_.velocity[i] = 0;
      if (s == RowStatus::free) {
        const double v = m_.velocity[i];
        m_.sub_state[r - nB_] = std::abs(v) <= kZero * m_.velocity_scale[i] ? TangentState::rest
                                : v > 0                                     ? TangentState::slip_plus
                                                                            : TangentState::slip_minus;
      }
    }
  }

  // Wedged: contacts press but nothing moves or will move. Their energy stays where it is and the impact is
  // over.
  bool balanced() {
    rates(m_.y.data(), m_.slope.data(), false);
    const auto moves = [&](int i) {
      double gamma = m_.velocity[i], rate = 0;
      for (int u = 0; u < nU_; ++u) {
        gamma += m_.response[i * nU_ + u] * m_.y[nU_ + u];
        rate += m_.response[i * nU_ + u] * m_.slope[nU_ + u];
      }
      return std::max(std::abs(gamma), std::abs(rate) * time_scale_) > kNegligible * m_.velocity_scale[i];
    };
    for (int u = 0; u < nU_; ++u) {
      if (m_.contact_state[u] != kIdle && moves(m_.contacts[u])) return false;
    }
    for (int j = 0; j < nT_; ++j) {
      if (m_.sub_mode[nB_ + j] != RowStatus::free && moves(nN_ + j)) return false;
    }
    return true;
  }

  double least_armed_guard() {
    guards(m_.trial.data(), m_.guard.data());
    double least = 1;
    for (int g = 0; g < 2 * nU_ + nS_; ++g) {
      if (m_.armed[g] != 0) least = std::min(least, m_.guard[g]);
    }
    return least;
  }

  // To the next event; false if the step size vanishes.
  bool integrate_phase() {
    const int size = 2 * nU_ + nT_;
    const int count = 2 * nU_ + nS_;
    for (int i = 0; i < size; ++i) m_.y[i] = i < nU_ ? m_.deformation[i] : 0;
    guards(m_.y.data(), m_.guard.data());
    for (int g = 0; g < count; ++g) m_.armed[g] = m_.guard[g] > kZero ? 1 : 0;
    for (int step = 0; step < 100000; ++step) {
      if (m_.patience != nullptr) m_.patience->look();
      double h = step_;
      const double error = extrapolated_step(h, true) / kStepTolerance;
      if (!(error <= 1)) {
        step_ = h * (std::isfinite(error)
                         ? std::max(0.1, 0.8 * elementary::rough_pow(error, -1.0 / (2 * kColumns - 1)))
                         : 0.1);
        if (step_ < 1e-14 * time_scale_) return false;
        continue;
      }
      const double least = least_armed_guard();
      // A guard that starts at zero and falls ends the phase where it stands; one that rises first must be
      // seen rising.
      bool fallen = false;
      for (int g = 0; g < count; ++g) fallen = fallen || (m_.armed[g] == 0 && m_.guard[g] < -10 * kZero);
      if (fallen && h > 1e-5 * time_scale_) {
        step_ = 0.1 * h;
        continue;
      }
      if (fallen) {
        close_phase();
        for (int g = 0; g < count; ++g) {
          if (m_.armed[g] == 0 && m_.guard[g] < -10 * kZero) pass(g);
        }
        return true;
      }
      if (least < 0) {
        locate(h, least);
        std::copy_n(m_.trial.begin(), size, m_.y.begin());
        close_phase();
        for (int g = 0; g < count; ++g) {
          if (m_.armed[g] != 0 && m_.guard[g] <= kZero) pass(g);
        }
        return true;
      }
      std::copy_n(m_.trial.begin(), size, m_.y.begin());
      for (int g = 0; g < count; ++g) {
        if (m_.guard[g] > kZero) m_.armed[g] = 1;
      }
      if (balanced()) {
        close_phase();
        for (int u = 0; u < nU_; ++u) {
          m_.contact_state[u] = kIdle;
          m_.deformation[u] = 0;
        }
        return true;
      }
      step_ =
          h * std::min(3.0, 0.8 * elementary::rough_pow(std::max(error, 1e-12), -1.0 / (2 * kColumns - 1)));
    }
    return false;
  }

  // Shortens the step until the least armed guard is zero: Chandrupatla's rule on the step length (inverse quadratic
  // interpolation where it is safe, halving where it is not), each trial a full step without the work, which no guard
  // needs.
  void locate(double h, double value_high) {
    guards(m_.y.data(), m_.guard.data());
    double value_low = 1;
    for (int g = 0; g < 2 * nU_ + nS_; ++g) {
      if (m_.armed[g] != 0) value_low = std::min(value_low, m_.guard[g]);
    }
    // (a, fa) is the last trial, (b, fb) has the other sign, (c, fc) is the one before.
    double a = h, fa = value_high, b = 0, fb = value_low, c = 0, fc = value_low;
    double share = fa / (fa - fb);
    double end = h;
    for (int iteration = 0; iteration < 80; ++iteration) {
      const double x = a + share * (b - a);
      (void)extrapolated_step(x, false);
      const double value = least_armed_guard();
      end = x;
      if (std::abs(value) <= 0.1 * kZero || std::abs(b - a) <= 1e-15 * h) break;
      if ((value < 0) == (fa < 0)) {
        c = a;
        fc = fa;
      } else {
        c = b;
        fc = fb;
        b = a;
        fb = fa;
      }
      a = x;
      fa = value;
      const double xi = (a - b) / (c - b), phi = (fa - fb) / (fc - fb);
      share = 0.5;
      if (phi * phi < xi && (1 - phi) * (1 - phi) < 1 - xi)
        share = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb);
      share = std::clamp(share, 1e-12, 1 - 1e-12);
    }
    (void)extrapolated_step(end, true);
    (void)least_armed_guard();
  }

  [[nodiscard]] double scale(int i) const {
    if (i < nU_) return m_.deformation_scale[i];
    if (i < 2 * nU_) {
      const int k = m_.contacts[i - nU_];
      return m_.velocity_scale[k] / p_.A[k * n_ + k];
    }
    const int k = nN_ + i - 2 * nU_;
    return m_.velocity_scale[k] * m_.velocity_scale[k] / p_.A[k * n_ + k];
  }

  const ImpactProblem& p_;
  const ImpactOptions& o_;
  ImpactWorkspace::Memory& m_;
  const int n_, nN_, nT_;
  int nU_ = 0, nB_ = 0, nS_ = 0;
  double time_scale_ = 0, step_ = 0;
  bool redundant_ = false;
  int redundant_row_ = -1;
};

}  // namespace

ImpactResult stronge_impact(const ImpactProblem& problem, const ImpactOptions& options,
                            ImpactWorkspace& workspace) {
  ImpactWorkspace::Memory& memory = workspace.memory();
  memory.provide_phases();
  prepare(problem, memory);
  EnergeticImpact energetic(problem, options, memory);
  ImpactResult result;
  result.form = ImpactForm::energetic;
  result.status = energetic.run();
  energetic.results();
  publish(problem, options, true, memory, result);
  return result;
}

}  // namespace judder::contact
