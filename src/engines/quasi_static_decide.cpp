// What comes next at an instant of a quasi-static evolution.
//
// First it is asked whether the forces are in balance with some admissible reaction: if not, a jump begins with the force that is left over. If they are,
// contacts on the edge of their cone or without reaction have several ways on. A direction in which the imbalance would grow with the motion itself
// (QuasiStatics::unstable) and that the contacts admit is a jump; otherwise the rates of the path decide.
#include <algorithm>
#include <cmath>

#include "quasi_static_run.hpp"

namespace judder::engines {
namespace {

constexpr double kTie = 1e-9;         ///< share of a rate that counts as zero
constexpr double kZeroForce = 1e-11;  ///< share of the largest force that counts as zero
constexpr std::size_t kMostModes = 4096;

double norm(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return std::sqrt(sum);
}

double product(const model::Row& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.values().size(); ++k)
    sum += a.values()[k] * b[static_cast<std::size_t>(a.places()[k])];
  return sum;
}

}  // namespace

void QuasiStaticEngine::Run::apply(int relation, const Option& option, Mode& mode) const {
  mode.normal[relation] = option.normal;
  const model::Relation& info = system_.relations()[relation];
  for (int j = 0; j < info.tangents; ++j) mode.tangent[info.first_tangent + j] = option.tangent;
}

bool QuasiStaticEngine::Run::excluded(int relation, const Option& option) const {
  const Option& out = excluded_[relation];
  if (out.normal == NormalStatus::none && out.tangent == TangentStatus::free) return false;
  return out.normal == option.normal && out.tangent == option.tangent;
}

/// Calls action(mode) for every combination until it returns true. False: there are too many.
template <class Action>
bool QuasiStaticEngine::Run::each_mode(const std::vector<std::vector<Option>>& options,
                                       const Action& action) {
  std::size_t count = 1;
  for (const std::vector<Option>& own : options) {
    if (own.empty()) return true;  // nothing is possible
    count *= own.size();
    if (count > kMostModes)
      return fail(Reason::unsupported, "more than 4096 combinations of contacts at one instant");
  }
  for (std::size_t number = 0; number < count; ++number) {
    patience_.look();
    Mode mode = mode_;
    std::size_t rest = number;
    for (std::size_t r = 0; r < options.size(); ++r) {
      apply(static_cast<int>(r), options[r][rest % options[r].size()], mode);
      rest /= options[r].size();
    }
    statics_.set_mode(mode);
    if (action(mode)) break;
  }
  return true;
}

/// Where rows that stick depend on each other, how they share their friction no law says.
bool QuasiStaticEngine::Run::skip_redundant() {
  const bool out = statics_.rows_depend();
  redundant_ = redundant_ || out;
  return out;
}

bool QuasiStaticEngine::Run::nothing_found(const char* message) {
  if (redundant_)
    return fail(
        Reason::indeterminate,
        "the friction of rows that stick together is not determined: their slips depend on each other");
  return fail(Reason::inconsistent, message);
}

/// By relation, in the order of preference: what may hold while time stands still.
std::vector<std::vector<QuasiStaticEngine::Run::Option>> QuasiStaticEngine::Run::flow_options() {
  std::vector<std::vector<Option>> out(static_cast<std::size_t>(layout_.relations));
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    const bool rubs = relation.tangents > 0;
    const auto add = [&](NormalStatus normal, TangentStatus tangent) {
      const Option option{normal, tangent};
      if (!excluded(r, option)) out[r].push_back(option);
    };
    const auto with_friction = [&](NormalStatus normal) {
      if (!rubs) return add(normal, TangentStatus::free);
      for (const TangentStatus status :
           {TangentStatus::stick, TangentStatus::slip_plus, TangentStatus::slip_minus})
        add(normal, status);
    };
    if (mode_.normal[r] == NormalStatus::closed) {
      with_friction(NormalStatus::closed);
      add(NormalStatus::open, TangentStatus::free);
    } else if (mode_.normal[r] == NormalStatus::none) {
      with_friction(NormalStatus::none);
    } else {
      out[r].push_back({mode_.normal[r], TangentStatus::free});
    }
  }
  return out;
}

/// Decides the motion at a frozen time: velocity_, flow_normal_, flow_tangent_ and the mode. `moves`: forces are left over.
bool QuasiStaticEngine::Run::decide_flow(bool& moves) {
  bool found = false, several = false;
  Mode best;
  std::vector<double> velocity(n_), normal(flow_normal_.size()), tangent(flow_tangent_.size());
  const double force = force_scale();
  redundant_ = false;
  const bool few = each_mode(flow_options(), [&](const Mode& mode) {
    if (skip_redundant()) return false;
    if (!statics_.flow(velocity, normal, tangent)) return false;
    const double small = kZeroForce * std::max(force, norm(velocity));
    for (int r = 0; r < layout_.relations; ++r) {
      const model::RelationRows& rows = statics_.rows(r);
      const model::Relation& relation = system_.relations()[r];
      if (mode.normal[r] == NormalStatus::closed && normal[r] < -small) return false;
      if (mode.normal[r] == NormalStatus::open && mode_.normal[r] == NormalStatus::closed &&
          product(rows.w, velocity) < -small)
        return false;
      for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j) {
        const double slip = statics_.slip(r, j, velocity, 0);
        const int sigma = direction(mode.tangent[j]);
        if (sigma != 0 && sigma * slip < -small) return false;
        if (mode.tangent[j] == TangentStatus::stick &&
            std::abs(tangent[j]) > statics_.limit(r, j, normal) + small)
          return false;
      }
    }
    if (!found) {
      found = true;
      best = mode;
      velocity_ = velocity;
      flow_normal_ = normal;
      flow_tangent_ = tangent;
      return false;
    }
    double difference = 0;
    for (std::size_t i = 0; i < n_; ++i)
      difference = std::max(difference, std::abs(velocity[i] - velocity_[i]));
    several = several || difference > 1e-6 * std::max(force, norm(velocity));
    return several;
  });
  if (!few) return false;
  if (!found) return nothing_found("no reaction of the contacts satisfies their laws");
  if (several && options_.on_indeterminate != OnIndeterminate::stay)
    return fail(Reason::indeterminate, "several motions at a frozen time satisfy the laws");
  mode_ = best;
  statics_.set_mode(mode_);
  moves = norm(velocity_) > kZeroForce * std::max(force, 1e-300);
  return true;
}

/// By relation: what may hold on a path from here, by the reactions at this point.
std::vector<std::vector<QuasiStaticEngine::Run::Option>> QuasiStaticEngine::Run::path_options() {
  std::vector<std::vector<Option>> out(static_cast<std::size_t>(layout_.relations));
  double size = 0;
  for (const double value : here_.normal) size = std::max(size, std::abs(value));
  const double small = kZeroForce * std::max(size, force_scale());
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    const bool rubs = relation.tangents > 0;
    const auto add = [&](NormalStatus normal, TangentStatus tangent) {
      const Option option{normal, tangent};
      if (!excluded(r, option)) out[r].push_back(option);
    };
    const NormalStatus now = mode_.normal[r];
    const bool tip = now == NormalStatus::closed && here_.normal[r] <= small;
    if (now == NormalStatus::open || now == NormalStatus::held) {
      out[r].push_back({now, TangentStatus::free});
      continue;
    }
    if (!rubs) {
      add(now, TangentStatus::free);
    } else {
      const int j = relation.first_tangent;
      const double limit = tip ? 0 : statics_.limit(r, j, here_.normal),
                   edge = 1e2 * kZeroForce * std::max(limit, small);
      const double force = here_.tangent[j];
      // Friction without a limit slips whichever way it is moved.
      const bool frictionless = !tip && limit <= 0;
      if (!frictionless) add(now, TangentStatus::stick);
      if (tip || force <= -limit + edge) add(now, TangentStatus::slip_plus);
      if (tip || force >= limit - edge) add(now, TangentStatus::slip_minus);
    }
    if (tip) add(NormalStatus::open, TangentStatus::free);
  }
  return out;
}

/// Whether rates (per unit of arc length; homogeneous: at a frozen time) of the mode in `mode_` agree with its inequalities.
bool QuasiStaticEngine::Run::admissible(const QuasiStaticPoint& rate, bool homogeneous) {
  const double t_rate = homogeneous ? 0 : rate.t_rate;
  double force = 0;
  for (const double value : rate.normal_rate) force = std::max(force, std::abs(value));
  for (const double value : rate.tangent_rate) force = std::max(force, std::abs(value));
  const double small_force = kTie * std::max(force, statics_.stiffness() * norm(rate.q_rate));
  double size = 0;
  for (const double value : here_.normal) size = std::max(size, std::abs(value));
  const double zero = kZeroForce * std::max(size, force_scale());
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = statics_.rows(r);
    const Mode& mode = trial_;
    const bool was_closed = mode_.normal[r] == NormalStatus::closed;
    const bool tip = was_closed && here_.normal[r] <= zero;
    if (tip && mode.normal[r] == NormalStatus::open) {
      const double speed = product(rows.w, rate.q_rate) + rows.gap_time * t_rate;
      if (speed < -kTie * (norm(rate.q_rate) + std::abs(rows.gap_time * t_rate))) return false;
      continue;
    }
    if (tip && rate.normal_rate[r] < -small_force) return false;
    for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j) {
      if (mode.normal[r] == NormalStatus::open) continue;
      const int sigma = direction(mode.tangent[j]);
      if (sigma != 0) {
        const double slip = statics_.slip(r, j, rate.q_rate, t_rate);
        if (sigma * slip < -kTie) return false;
        continue;
      }
      const double limit = statics_.limit(r, j, here_.normal);
      const double limit_rate =
          relation.feeds.empty() ? 0 : rows.tangent[0].mu * rows.factors[0] * rate.normal_rate[r];
      const double edge = 1e2 * kZeroForce * std::max(limit, zero);
      if (tip) {
        if (std::abs(rate.tangent_rate[j]) > limit_rate + small_force) return false;
        continue;
      }
      if (here_.tangent[j] <= -limit + edge && limit_rate + rate.tangent_rate[j] < -small_force) return false;
      if (here_.tangent[j] >= limit - edge && limit_rate - rate.tangent_rate[j] < -small_force) return false;
    }
  }
  return true;
}

/// From a balanced point: the mode in which the path goes on, or the direction of a jump.
QuasiStaticEngine::Run::Verdict QuasiStaticEngine::Run::decide_path(QuasiStaticPoint& direction_out) {
  QuasiStaticPoint rate = here_, found_rate;
  Mode best, jumping;
  bool jumps = false, found = false, several = false;
  double largest = 0;
  const std::vector<std::vector<Option>> options = path_options();
  redundant_ = false;
  bool few = each_mode(options, [&](const Mode& mode) {
    trial_ = mode;
    if (!statics_.place(here_.t, here_.q) || skip_redundant() || !statics_.differentiate(here_.normal))
      return false;
    double gamma = 0;
    rate = here_;
    if (!statics_.unstable(gamma, rate)) return false;
    for (const int sign : {1, -1}) {
      QuasiStaticPoint turned = rate;
      for (std::vector<double>* values : {&turned.q_rate, &turned.normal_rate, &turned.tangent_rate}) {
        for (double& value : *values) value *= sign;
      }
      for (int r = 0; r < layout_.relations; ++r) {
        const model::Relation& relation = system_.relations()[r];
        for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j) {
          const int sigma = direction(mode.tangent[j]);
          if (sigma != 0 && !relation.feeds.empty())
            turned.tangent_rate[j] = -sigma * statics_.rows(r).tangent[0].mu * turned.normal_rate[r];
        }
      }
      if (!admissible(turned, true)) continue;
      // Of a direction and its opposite, both free, the one in which the path came.
      double along = 0;
      for (std::size_t i = 0; i < n_; ++i) along += turned.q_rate[i] * here_.q_rate[i];
      if (jumps && gamma <= largest && !(gamma == largest && along > 0)) continue;
      jumps = true;
      largest = gamma;
      direction_out = turned;
      jumping = mode;
    }
    return false;
  });
  if (!few) return Verdict::failed;
  if (jumps) {
    mode_ = jumping;
    statics_.set_mode(mode_);
    return Verdict::jump;
  }
  few = each_mode(options, [&](const Mode& mode) {
    trial_ = mode;
    rate = here_;
    if (!statics_.place(here_.t, here_.q) || skip_redundant() || !statics_.tangent(rate, no_border_, 1))
      return false;
    if (!admissible(rate, false)) return false;
    if (!found) {
      found = true;
      best = mode;
      found_rate = rate;
      return false;
    }
    double difference = 0;
    for (std::size_t i = 0; i < n_; ++i)
      difference = std::max(difference, std::abs(rate.q_rate[i] - found_rate.q_rate[i]));
    several = several || difference > 1e-6;
    return false;
  });
  if (!few) return Verdict::failed;
  if (!found) {
    statics_.set_mode(mode_);
    return Verdict::none;
  }
  if (several && options_.on_indeterminate != OnIndeterminate::stay) {
    static_cast<void>(fail(Reason::indeterminate, "several continuations of the path satisfy the laws"));
    return Verdict::failed;
  }
  mode_ = best;
  statics_.set_mode(mode_);
  here_ = found_rate;
  return Verdict::path;
}

/// Everything that happens at the present time until a path goes on: balance, decisions, jumps.
bool QuasiStaticEngine::Run::settle(bool imbalanced) {
  constexpr int kMostRounds = 100;
  bool look = imbalanced;
  for (int round = 0; round < kMostRounds; ++round) {
    const Mode before = mode_;
    if (look) {
      if (!statics_.place(here_.t, here_.q)) return fail(Reason::not_finite, "a force is not finite");
      static_cast<void>(statics_.differentiate(here_.normal));  // the stiffness is a measure of forces
      bool moves = false;
      if (!decide_flow(moves)) return false;
      if (moves) {
        open_instant(before);
        list_changes(before);
        if (!jump(nullptr)) return false;
        std::fill(excluded_.begin(), excluded_.end(), Option{});
        look = false;
        continue;
      }
      here_.normal = flow_normal_;
      here_.tangent = flow_tangent_;
      look = false;
    }
    const Mode undecided = mode_;
    QuasiStaticPoint direction = here_;
    if (!statics_.place(here_.t, here_.q)) return fail(Reason::not_finite, "a force is not finite");
    switch (decide_path(direction)) {
      case Verdict::failed:
        return false;
      case Verdict::none:
        if (statics_.sees_velocity())
          return fail(Reason::unsupported,
                      "a force depends on velocities; quasi-static evolution has no dampers");
        // What may not end as it did may still be all there is.
        if (std::any_of(excluded_.begin(), excluded_.end(), [](const Option& out) {
              return out.normal != NormalStatus::none || out.tangent != TangentStatus::free;
            })) {
          std::fill(excluded_.begin(), excluded_.end(), Option{});
          continue;
        }
        return nothing_found("the path cannot go on: no rates satisfy the laws of the contacts");
      case Verdict::path:
        list_changes(undecided);
        std::fill(excluded_.begin(), excluded_.end(), Option{});
        statics_.stick_here(here_.t, here_.q);
        return true;
      case Verdict::jump:
        open_instant(undecided);
        list_changes(undecided);
        if (!jump(&direction)) return false;
        std::fill(excluded_.begin(), excluded_.end(), Option{});
        break;
    }
  }
  return fail(Reason::too_many_events, "one jump follows the other at this time");
}

}  // namespace judder::engines
