#include "judder/analysis/rest_stability.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/rest_modes.hpp"
#include "core/dense/matrix.hpp"
#include "judder/contact/decision.hpp"
#include "judder/core/number.hpp"

namespace judder::analysis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTie = 1e-9;  ///< relative: values this close are equal

bool rests(RestStatus status) {
  return status == RestStatus::stuck || status == RestStatus::slip_plus || status == RestStatus::slip_minus;
}

/// The motions that may begin at the state, beside staying.
void find_other_modes(const RestProblem& rest, const RestState& state, RestJudgement& out) {
  using contact::RowStatus;
  struct Row {
    std::size_t relation;
    bool normal;
  };
  std::vector<Row> rows;
  const auto touching = [&](std::size_t k) {
    return !rest.relations[k].unilateral || state.status[k] != RestStatus::detached;
  };
  for (std::size_t k = 0; k < rest.relations.size(); ++k) {
    if (rest.relations[k].has_normal && touching(k)) rows.push_back({k, true});
  }
  const std::size_t normals = rows.size();
  for (std::size_t k = 0; k < rest.relations.size(); ++k) {
    if (!rest.relations[k].tangents.empty() && touching(k)) rows.push_back({k, false});
  }
  const std::size_t count = rows.size(), n = rest.n, tangents = count - normals;
  if (count == 0) return;
  std::vector<double> response(n * (count + 1));  // M⁻¹ of the columns, then of the free force
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < count; ++c) {
      const RestProblem::Relation& relation = rest.relations[rows[c].relation];
      response[i * (count + 1) + c] = rows[c].normal ? relation.push[i] : relation.tangents[0].drag[i];
    }
    double force = rest.load[i];
    for (std::size_t j = 0; j < n + rest.m; ++j) force -= rest.stiffness[i * (n + rest.m) + j] * state.x[j];
    for (std::size_t r = normals; r < count; ++r) {
      const RestProblem::Tangent& tangent = rest.relations[rows[r].relation].tangents[0];
      force -= tangent.drag[i] * tangent.viscous * tangent.drive;
    }
    response[i * (count + 1) + count] = force;
  }
  dense::RealMatrix mass(n);
  mass.a = rest.mass;
  if (!dense::solve(mass, response, count + 1)) return;
  std::vector<double> A(count * count), b(count);
  for (std::size_t r = 0; r < count; ++r) {
    const RestProblem::Relation& relation = rest.relations[rows[r].relation];
    const std::vector<double>& w = rows[r].normal ? relation.w : relation.tangents[0].w;
    for (std::size_t c = 0; c <= count; ++c) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += w[i] * response[i * (count + 1) + c];
      if (c < count)
        A[r * count + c] = sum;
      else
        b[r] = sum;
    }
  }
  std::vector<contact::NormalKind> kind;
  for (std::size_t r = 0; r < normals; ++r)
    kind.push_back(rest.relations[rows[r].relation].unilateral ? contact::NormalKind::unilateral
                                                               : contact::NormalKind::bilateral);
  std::vector<contact::TangentState> tangent_state;
  std::vector<double> mu_static, mu_slip, base, coupling(tangents * normals, 0);
  for (std::size_t r = normals; r < count; ++r) {
    const RestProblem::Relation& relation = rest.relations[rows[r].relation];
    const RestProblem::Tangent& tangent = relation.tangents[0];
    tangent_state.push_back(tangent.drive > 0   ? contact::TangentState::slip_plus
                            : tangent.drive < 0 ? contact::TangentState::slip_minus
                                                : contact::TangentState::rest);
    mu_static.push_back(tangent.mu);
    mu_slip.push_back(tangent.drive == 0 ? tangent.mu_slip : tangent.mu);
    double load = relation.base;
    for (std::size_t j = 0; j < relation.base_slope.size(); ++j) load += relation.base_slope[j] * state.x[j];
    base.push_back(std::max(load, 0.0));
    for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
      for (std::size_t c = 0; c < normals; ++c) {
        if (rows[c].relation == static_cast<std::size_t>(relation.feeds[f]))
          coupling[(r - normals) * normals + c] += relation.factors[f];
      }
    }
  }
  contact::DecisionProblem problem;
  problem.normals = static_cast<int>(normals);
  problem.tangents = static_cast<int>(tangents);
  problem.A = A.data();
  problem.b = b.data();
  problem.kind = kind.data();
  problem.state = tangent_state.data();
  problem.mu_static = mu_static.data();
  problem.mu_slip = mu_slip.data();
  problem.base = base.data();
  problem.coupling = coupling.data();
  contact::DecisionWorkspace workspace(problem.normals, problem.tangents);
  const contact::Decision decision = contact::decide(problem, {}, workspace);
  out.ambiguous = decision.verdict == contact::Verdict::indeterminate;
  if (!out.ambiguous) return;
  for (int c = 0; c < decision.candidates; ++c) {
    const auto mode = decision.candidate(c);
    bool moves = false;
    std::string words;
    for (std::size_t r = 0; r < count; ++r) {
      const RestProblem::Relation& relation = rest.relations[rows[r].relation];
      const bool slips = mode[r] == RowStatus::slip_plus || mode[r] == RowStatus::slip_minus;
      moves = moves || (rows[r].normal && mode[r] == RowStatus::open) ||
              (slips && relation.tangents[0].drive == 0);
      if (rows[r].normal && mode[r] == RowStatus::closed && !relation.tangents.empty()) continue;
      if (!rows[r].normal && mode[r] == RowStatus::free) continue;
      words += (words.empty() ? "" : ", ") + relation.name + " " + contact::name(mode[r]);
    }
    if (moves) out.other_modes.push_back(words);
  }
}

/// Slacks of all statuses and how they answer to a change of the load.
struct Slack {
  double value = 0;
  std::vector<double> slope;  ///< value − slope · f
  std::string what;
};

void load_margins(const RestProblem& rest, const RestState& state, const std::vector<NamedForce>& forces,
                  RestJudgement& out) {
  const std::size_t n = rest.n;
  const SlipMode mode = slip_mode(rest, state, 1, false);
  out.margin_is_bound = mode.dependent;
  std::vector<double> answer;  // (x, λ) by unit loads, columns
  if (!mode.static_answer(rest, answer)) {
    out.margin = 0;
    out.margin_at = "a direction that nothing holds";
    for (const NamedForce& force : forces) out.forces.push_back({force.name, 0, 0});
    return;
  }
  std::vector<Slack> slacks;
  const auto change = [&](std::size_t place, std::size_t f) {
    return place == SlipMode::kNone ? 0.0 : answer[place * n + f];
  };
  for (std::size_t k = 0; k < rest.relations.size(); ++k) {
    const RestProblem::Relation& relation = rest.relations[k];
    if (relation.unilateral && state.status[k] == RestStatus::detached) {
      Slack slack{state.gap[k], std::vector<double>(n, 0), "touch of " + relation.name};
      for (std::size_t f = 0; f < n; ++f) {
        for (std::size_t i = 0; i < n; ++i) slack.slope[f] -= relation.w[i] * change(i, f);
      }
      slacks.push_back(std::move(slack));
      continue;
    }
    if (relation.unilateral) {
      Slack slack{state.normal[k], std::vector<double>(n, 0), "lift-off of " + relation.name};
      for (std::size_t f = 0; f < n; ++f) slack.slope[f] = -change(mode.normal[k], f);
      slacks.push_back(std::move(slack));
    }
    if (relation.tangents.empty() || relation.tangents[0].drive != 0) continue;
    const RestProblem::Tangent& tangent = relation.tangents[0];
    for (const double sign : {1.0, -1.0}) {
      // μ L + sign λ_T: slip+ for the positive sign
      Slack slack;
      slack.what = std::string("slip") + (sign > 0 ? "+" : "-") + " of " + relation.name;
      slack.value = state.reserve[k] + std::abs(state.tangent[k]) + sign * state.tangent[k];
      if (state.status[k] == (sign > 0 ? RestStatus::slip_plus : RestStatus::slip_minus)) slack.value = 0;
      slack.slope.assign(n, 0);
      for (std::size_t f = 0; f < n; ++f) {
        double load = 0;
        for (std::size_t j = 0; j < n + rest.m; ++j) load += relation.base_slope[j] * change(j, f);
        for (std::size_t i = 0; i < relation.feeds.size(); ++i) {
          const auto fed = static_cast<std::size_t>(relation.feeds[i]);
          load += relation.factors[i] * change(mode.normal[fed], f) * (state.normal[fed] < 0 ? -1 : 1);
        }
        slack.slope[f] = -tangent.mu * load - sign * change(mode.tangent[k], f);
      }
      slacks.push_back(std::move(slack));
    }
  }
  out.margin = kInfinity;
  for (const Slack& slack : slacks) {
    double square = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) square += slack.slope[i] * rest.mass[i * n + j] * slack.slope[j];
    }
    if (!(square > 0)) continue;
    const double r = std::max(slack.value, 0.0) / std::sqrt(square);
    if (r < out.margin) {
      out.margin = r;
      out.margin_at = slack.what;
    }
  }
  for (const NamedForce& force : forces) {
    ForceMargin made{force.name, kInfinity, kInfinity};
    for (const Slack& slack : slacks) {
      double slope = 0, terms = 0;
      for (std::size_t i = 0; i < n; ++i) {
        slope += slack.slope[i] * force.direction[i];
        terms += std::abs(slack.slope[i] * force.direction[i]);
      }
      if (std::abs(slope) <= 1e-12 * terms || slope == 0) continue;
      double& side = slope > 0 ? made.more : made.less;
      side = std::min(side, std::max(slack.value, 0.0) / std::abs(slope));
    }
    out.forces.push_back(std::move(made));
  }
}

void by_theorem(const KlarbringNumbers& k, const RestState& state, std::size_t relation, RestJudgement& out) {
  const double size = std::abs(k.KT * k.FN) + std::abs(k.W * k.FT), A = k.A();
  const int sign = std::abs(A) <= kTie * size ? 0 : A > 0 ? 1 : -1;
  const double critical = k.KT / k.W;
  const int friction = std::abs(k.mu - critical) <= kTie * critical ? 0 : k.mu > critical ? 1 : -1;
  RestStatus status = state.status[relation];
  if (k.mirrored && status == RestStatus::slip_plus)
    status = RestStatus::slip_minus;
  else if (k.mirrored && status == RestStatus::slip_minus)
    status = RestStatus::slip_plus;
  const auto say = [&](Stability stability, const char* why) {
    out.stability = stability;
    out.basis = Basis::theorem;
    out.why = why;
  };
  switch (status) {
    case RestStatus::detached:
      return say(Stability::lyapunov, "swings about it for ever (Basseville theorem IV.1)");
    case RestStatus::grazing:
      if (friction < 0)
        return say(Stability::asymptotic,
                   "grazing as the only rest, A = 0, mu < KT/W (Basseville theorem IV.2)");
      return friction == 0 ? say(Stability::lyapunov, "grazing, A = 0, mu = KT/W (Basseville theorem IV.3)")
                           : say(Stability::lyapunov, "grazing, A = 0, mu > KT/W (Basseville theorem IV.5)");
    case RestStatus::slip_plus:
      if (sign < 0)
        return say(Stability::unstable,
                   "imminent slip, A < 0, mu > KT/W: a push towards the tip of the cone grows (Basseville "
                   "theorem IV.6)");
      if (sign == 0)
        return say(Stability::unstable,
                   "imminent slip, A = 0, mu = KT/W: any push travels to the tip of the cone (Basseville "
                   "theorem IV.4)");
      return say(Stability::lyapunov, "imminent slip, A > 0 (Basseville theorem IV.5)");
    case RestStatus::slip_minus:
      return say(Stability::lyapunov, "imminent slip, A > 0 (Basseville theorem IV.5)");
    case RestStatus::stuck:
      return sign < 0 ? say(Stability::lyapunov,
                            "stuck, A < 0, mu > KT/W: missing in both theses; stops while the push is below "
                            "a threshold")
                      : say(Stability::lyapunov, "stuck, A >= 0 (Basseville theorem IV.5)");
    default:
      return;
  }
}

/// K symmetric, and positive where constraints and (with `held`) strictly stuck joints leave freedom.
bool positive(const RestProblem& rest, const RestState& state, bool stuck_too) {
  const std::size_t n = rest.n;
  double trace = 0;
  for (std::size_t i = 0; i < n; ++i) trace = std::max(trace, std::abs(rest.stiffness[i * n + i]));
  if (trace == 0) trace = 1;
  dense::RealMatrix a(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (std::abs(rest.stiffness[i * n + j] - rest.stiffness[j * n + i]) > kTie * trace) return false;
      a(i, j) = rest.stiffness[i * n + j];
    }
  }
  const auto hold = [&](const std::vector<double>& w) {
    double square = 0;
    for (const double each : w) square += each * each;
    if (square == 0) return;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) a(i, j) += 1e4 * trace * w[i] * w[j] / square;
    }
  };
  for (std::size_t k = 0; k < rest.relations.size(); ++k) {
    const RestProblem::Relation& relation = rest.relations[k];
    if (relation.kind == model::RelationKind::constraint && relation.has_normal) hold(relation.w);
    if (stuck_too && state.status[k] == RestStatus::stuck && !relation.tangents.empty())
      hold(relation.tangents[0].w);
    if (stuck_too && state.status[k] == RestStatus::pressed) hold(relation.w);
  }
  for (std::size_t c = 0; c < n; ++c) {
    if (!(a(c, c) > 1e-9 * trace)) return false;
    for (std::size_t r = c + 1; r < n; ++r) {
      const double factor = a(r, c) / a(c, c);
      for (std::size_t j = c; j < n; ++j) a(r, j) -= factor * a(c, j);
    }
  }
  return true;
}

/// Without friction a rest is a minimum of the energy over what the contacts leave, and no impact adds to it.
bool by_minimum(const RestProblem& rest, const RestState& state, RestJudgement& out) {
  for (const RestProblem::Relation& relation : rest.relations) {
    if (!relation.tangents.empty() && (relation.tangents[0].mu != 0 || relation.tangents[0].viscous != 0))
      return false;
    if (relation.push != relation.w) return false;
  }
  if (std::none_of(rest.relations.begin(), rest.relations.end(), [](const auto& r) { return r.unilateral; }))
    return false;
  if (std::any_of(rest.damping.begin(), rest.damping.end(), [](double c) { return c != 0; })) return false;
  if (!positive(rest, state, true)) return false;
  out.stability = Stability::lyapunov;
  out.basis = Basis::energy;
  out.why = "the energy has its minimum over the places that the contacts leave";
  return true;
}

bool by_energy(const RestProblem& rest, const RestState& state, RestJudgement& out) {
  if (rest.m != 0) return false;
  if (by_minimum(rest, state, out)) return true;
  bool all_strict = true, any = false;
  for (std::size_t k = 0; k < rest.relations.size(); ++k) {
    const RestProblem::Relation& relation = rest.relations[k];
    if (relation.unilateral) {
      if (state.status[k] != RestStatus::detached) return false;
      continue;
    }
    if (relation.tangents.empty()) continue;
    if (!relation.constant_law || relation.tangents[0].drag != relation.tangents[0].w ||
        relation.tangents[0].viscous < 0)
      return false;
    any = true;
    all_strict = all_strict && state.status[k] == RestStatus::stuck;
  }
  for (std::size_t i = 0; i < rest.n; ++i) {
    for (std::size_t j = 0; j < rest.n; ++j) {
      if (rest.damping[i * rest.n + j] != rest.damping[j * rest.n + i]) return false;
    }
  }
  // Damping that is not negative: its own test by the same elimination.
  RestProblem damped = rest;
  damped.stiffness = rest.damping;
  double most = 0;
  for (const double each : rest.damping) most = std::max(most, std::abs(each));
  for (std::size_t i = 0; i < rest.n; ++i) damped.stiffness[i * rest.n + i] += 1e-6 * most;
  for (RestProblem::Relation& relation : damped.relations) relation.kind = model::RelationKind::joint;
  if (most > 0 && !positive(damped, state, false)) return false;
  if (positive(rest, state, false)) {
    out.stability = Stability::lyapunov;
    out.basis = Basis::energy;
    out.why = any ? "friction with constant limits is monotone: the distance to the rest in the norm of the "
                    "energy does not grow"
                  : "the energy has a minimum there";
    return true;
  }
  if (any && all_strict && positive(rest, state, true)) {
    out.stability = Stability::lyapunov;
    out.basis = Basis::energy;
    out.why =
        "strictly stuck: a push loses its energy over a path no longer than its energy over the reserve";
    return true;
  }
  return false;
}

/// Whether a status is about to change, other than the one place given.
bool strict_elsewhere(const RestProblem& rest, const RestState& state, std::size_t but) {
  for (std::size_t k = 0; k < rest.relations.size(); ++k) {
    if (k == but) continue;
    if (state.status[k] == RestStatus::grazing || state.status[k] == RestStatus::slip_plus ||
        state.status[k] == RestStatus::slip_minus)
      return false;
  }
  return true;
}

void by_linearisation(const RestProblem& rest, const RestState& state, RestJudgement& out) {
  std::size_t imminent = rest.relations.size(), sliding = 0, stuck = 0, at_border = 0, closed = 0;
  for (std::size_t k = 0; k < rest.relations.size(); ++k) {
    const RestStatus status = state.status[k];
    if (status == RestStatus::slip_plus || status == RestStatus::slip_minus) {
      imminent = k;
      ++at_border;
    }
    sliding += status == RestStatus::sliding_plus || status == RestStatus::sliding_minus ? 1 : 0;
    stuck += status == RestStatus::stuck ? 1 : 0;
    closed += rest.relations[k].unilateral && status != RestStatus::detached ? 1 : 0;
    if (status == RestStatus::grazing) ++at_border;
  }
  const bool free = sliding + stuck + at_border + closed == 0;
  if (sliding == 0 && at_border != 1 && !free) return;
  const SlipMode mode = slip_mode(rest, state, 1, true);
  out.eigenvalues = mode.eigenvalues(rest);
  if (out.eigenvalues.empty()) return;
  double size = 0;
  for (const auto& each : out.eigenvalues) size = std::max(size, std::abs(each));
  const double growth = out.eigenvalues.front().real();
  const bool grows = growth > 1e-7 * size;
  const bool turns = std::abs(out.eigenvalues.front().imag()) > 1e-7 * size;
  const std::string rate = to_text(growth, 6);
  if (out.stability == Stability::open) {
    if (sliding > 0 && at_border == 0 && stuck == 0) {
      out.basis = Basis::linearised;
      if (grows) {
        out.stability = Stability::unstable;
        out.why = turns ? "steady sliding flutters: a pair of eigenvalues has the real part " + rate
                        : "steady sliding diverges with the rate " + rate;
      } else if (growth < -1e-7 * size) {
        out.stability = Stability::asymptotic;
        out.why = "all eigenvalues of steady sliding have real parts up to " + rate;
      } else {
        out.basis = Basis::experiment;
        out.why = "eigenvalues of steady sliding lie on the imaginary axis, which decides nothing";
      }
    } else if (free) {
      if (growth < -1e-7 * size) {
        out.stability = Stability::asymptotic;
        out.basis = Basis::linearised;
        out.why = "all eigenvalues have real parts up to " + rate;
      } else if (grows) {
        out.stability = Stability::unstable;
        out.basis = Basis::linearised;
        out.why = "an eigenvalue has the real part " + rate;
      }
    } else if (imminent < rest.relations.size() && at_border == 1 && grows && !turns && mode.freedom == 1 &&
               strict_elsewhere(rest, state, imminent)) {
      // The single slip that is possible grows in its own direction.
      out.stability = Stability::unstable;
      out.basis = Basis::linearised;
      out.why = "the slip that is imminent grows with the rate " + rate + " (divergence)";
    }
  }
  // The friction at which the answer changes.
  const auto unstable_at = [&](double scale, bool* pair) {
    const auto values = slip_mode(rest, state, scale, true).eigenvalues(rest);
    if (values.empty()) return false;
    double most = 0;
    for (const auto& each : values) most = std::max(most, std::abs(each));
    if (pair != nullptr) *pair = std::abs(values.front().imag()) > 1e-7 * most;
    return values.front().real() > 1e-7 * most;
  };
  const bool now = unstable_at(1, nullptr);
  double before = 1;
  for (int step = 1; step <= 80; ++step) {
    const double scale = now ? 1 - step / 80.0 : 1 + step * step / 320.0;
    if (unstable_at(scale, nullptr) == now) {
      before = scale;
      continue;
    }
    double a = before, b = scale;
    for (int i = 0; i < 60; ++i) {
      const double middle = (a + b) / 2;
      (unstable_at(middle, nullptr) == now ? a : b) = middle;
    }
    // Unstable however small the friction: there is no such coefficient.
    if (now && a < 1e-5) break;
    out.critical_scale = now ? a : b;
    unstable_at(now ? a : b, &out.flutter);
    if (sliding + (at_border == 1 && imminent < rest.relations.size() ? 1 : 0) == 1) {
      for (std::size_t k = 0; k < rest.relations.size(); ++k) {
        const RestStatus status = state.status[k];
        if (status == RestStatus::sliding_plus || status == RestStatus::sliding_minus || k == imminent)
          out.critical_mu = *out.critical_scale * rest.relations[k].tangents[0].mu;
      }
    }
    break;
  }
}

/// A joint or contact that only its static coefficient holds.
bool by_onset(const RestProblem& rest, const RestState& state, RestJudgement& out) {
  for (std::size_t k = 0; k < rest.relations.size(); ++k) {
    const RestProblem::Relation& relation = rest.relations[k];
    if (relation.tangents.empty() || !rests(state.status[k])) continue;
    const RestProblem::Tangent& tangent = relation.tangents[0];
    if (!(tangent.mu_slip < tangent.mu * (1 - kTie))) continue;
    const double load = (state.reserve[k] + std::abs(state.tangent[k])) / tangent.mu;
    if (std::abs(state.tangent[k]) <= tangent.mu_slip * load * (1 + kTie)) continue;
    out.stability = Stability::unstable;
    out.basis = Basis::onset;
    out.why =
        "'" + relation.name +
        "' is held by its static coefficient alone: once it slips, the pull is larger than the friction";
    return true;
  }
  return false;
}

}  // namespace

const char* name(Stability stability) {
  switch (stability) {
    case Stability::asymptotic:
      return "asymptotically stable";
    case Stability::lyapunov:
      return "stable";
    case Stability::unstable:
      return "unstable";
    case Stability::open:
      break;
  }
  return "open";
}

const char* name(Basis basis) {
  switch (basis) {
    case Basis::theorem:
      return "theorem";
    case Basis::energy:
      return "energy";
    case Basis::linearised:
      return "linearised";
    case Basis::onset:
      return "slip onset";
    case Basis::experiment:
      break;
  }
  return "experiment";
}

std::vector<NamedForce> named_forces(const model::Spec& spec, const model::CompileOptions& options,
                                     const RestProblem& rest, std::size_t most) {
  std::vector<NamedForce> out;
  for (std::size_t f = 0; f < spec.forces.size() && out.size() < most; ++f) {
    const model::Force& force = spec.forces[f];
    if (!force.each.empty()) continue;
    model::Spec more = spec;
    const std::string value = force.value.number ? to_text(*force.value.number) : force.value.text.text;
    more.forces[f].value = model::Value("(" + value + ") + 1");
    const model::Compiled compiled = model::compile(more, options);
    if (!compiled.system) continue;
    EquilibriaProblem problem;
    EquilibriaOptions at;
    at.at = rest.time;
    const auto changed = rest_problem(*compiled.system, at, problem);
    if (!changed || changed->n != rest.n) continue;
    NamedForce made;
    made.name = force.name.empty() ? "force" + std::to_string(f + 1) : force.name.text;
    for (std::size_t i = 0; i < rest.n; ++i) made.direction.push_back(changed->load[i] - rest.load[i]);
    out.push_back(std::move(made));
  }
  return out;
}

RestJudgement judge(const RestProblem& rest, const RestState& state, const std::vector<NamedForce>& forces,
                    double restitution) {
  RestJudgement out;
  load_margins(rest, state, forces, out);
  find_other_modes(rest, state, out);
  const auto numbers = restitution == 0 ? klarbring_numbers(rest) : std::nullopt;
  if (out.ambiguous) {
    out.why = "another motion may begin at once, so nothing is said without an experiment";
  } else if (numbers) {
    by_theorem(*numbers, state, 0, out);
  } else if (!by_onset(rest, state, out)) {
    by_energy(rest, state, out);
  }
  if (!out.ambiguous) by_linearisation(rest, state, out);
  // Energy tells that it stays near; eigenvalues may tell that it also comes back.
  if (out.stability == Stability::lyapunov && out.basis == Basis::energy && !out.eigenvalues.empty()) {
    double size = 0;
    for (const auto& each : out.eigenvalues) size = std::max(size, std::abs(each));
    const bool all_slide =
        std::none_of(state.status.begin(), state.status.end(), [](RestStatus s) { return rests(s); });
    if (all_slide && out.eigenvalues.front().real() < -1e-7 * size) {
      out.stability = Stability::asymptotic;
      out.basis = Basis::linearised;
      out.why = "all eigenvalues have real parts up to " + to_text(out.eigenvalues.front().real(), 6);
    }
  }
  if (out.why.empty()) out.why = "no theorem applies";
  return out;
}

}  // namespace judder::analysis
