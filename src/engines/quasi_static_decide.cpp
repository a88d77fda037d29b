#include "quasi_static_decide.hpp"

#include <algorithm>
#include <cmath>

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

QuasiStaticDecision::QuasiStaticDecision(QuasiStaticScene& scene)
    : scene_(scene),
      options_(static_cast<std::size_t>(scene.layout.relations)),
      rate_(scene.point()),
      turned_(scene.point()),
      found_(scene.point()),
      direction_(scene.point()) {
  for (Flow* flow : {&flow_, &tried_}) {
    flow->velocity.resize(scene.n);
    flow->normal.resize(static_cast<std::size_t>(scene.layout.relations));
    flow->tangent.resize(static_cast<std::size_t>(scene.layout.tangents));
  }
}

void QuasiStaticDecision::apply(int relation, const QuasiStaticOption& option, Mode& mode) const {
  mode.normal[relation] = option.normal;
  const model::Relation& info = scene_.system.relations()[relation];
  for (int j = 0; j < info.tangents; ++j) mode.tangent[info.first_tangent + j] = option.tangent;
}

/// Calls action(mode) for every combination until it returns true. False: there are too many.
template <class Action>
bool QuasiStaticDecision::each_mode(const Options& options, const Action& action) {
  std::size_t count = 1;
  for (const std::vector<QuasiStaticOption>& own : options) {
    if (own.empty()) return true;  // nothing is possible
    count *= own.size();
    if (count > kMostModes)
      return scene_.fail(Reason::unsupported, "more than 4096 combinations of contacts at one instant");
  }
  for (std::size_t number = 0; number < count; ++number) {
    scene_.patience.look();
    candidate_ = scene_.mode;
    std::size_t rest = number;
    for (std::size_t r = 0; r < options.size(); ++r) {
      apply(static_cast<int>(r), options[r][rest % options[r].size()], candidate_);
      rest /= options[r].size();
    }
    scene_.statics.set_mode(candidate_);
    if (action(candidate_)) break;
  }
  return true;
}

/// Where rows that stick depend on each other, how they share their friction no law says.
bool QuasiStaticDecision::skip_redundant() {
  const bool out = scene_.statics.rows_depend();
  redundant_ = redundant_ || out;
  return out;
}

bool QuasiStaticDecision::nothing_found(const char* message) {
  if (redundant_)
    return scene_.fail(
        Reason::indeterminate,
        "the friction of rows that stick together is not determined: their slips depend on each other");
  return scene_.fail(Reason::inconsistent, message);
}

/// By relation, in the order of preference: what may hold while time stands still.
const QuasiStaticDecision::Options& QuasiStaticDecision::flow_options() {
  Options& out = options_;
  for (std::vector<QuasiStaticOption>& own : out) own.clear();
  for (int r = 0; r < scene_.layout.relations; ++r) {
    const model::Relation& relation = scene_.system.relations()[r];
    const bool rubs = relation.tangents > 0;
    const auto add = [&](NormalStatus normal, TangentStatus tangent) {
      const QuasiStaticOption option{normal, tangent};
      if (!scene_.excludes(r, option)) out[r].push_back(option);
    };
    const auto with_friction = [&](NormalStatus normal) {
      if (!rubs) return add(normal, TangentStatus::free);
      for (const TangentStatus status :
           {TangentStatus::stick, TangentStatus::slip_plus, TangentStatus::slip_minus})
        add(normal, status);
    };
    if (scene_.mode.normal[r] == NormalStatus::closed) {
      with_friction(NormalStatus::closed);
      add(NormalStatus::open, TangentStatus::free);
    } else if (scene_.mode.normal[r] == NormalStatus::none) {
      with_friction(NormalStatus::none);
    } else {
      out[r].push_back({scene_.mode.normal[r], TangentStatus::free});
    }
  }
  return out;
}

/// Whether the motion in `tried_` agrees with the inequalities of its mode.
bool QuasiStaticDecision::flow_fits(const Mode& mode, double force) const {
  const double small = kZeroForce * std::max(force, norm(tried_.velocity));
  for (int r = 0; r < scene_.layout.relations; ++r) {
    const model::RelationRows& rows = scene_.statics.rows(r);
    const model::Relation& relation = scene_.system.relations()[r];
    if (mode.normal[r] == NormalStatus::closed && tried_.normal[r] < -small) return false;
    if (mode.normal[r] == NormalStatus::open && scene_.mode.normal[r] == NormalStatus::closed &&
        product(rows.w, tried_.velocity) < -small)
      return false;
    for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j) {
      const double slip = scene_.statics.slip(r, j, tried_.velocity, 0);
      const int sigma = engines::direction(mode.tangent[j]);
      if (sigma != 0 && sigma * slip < -small) return false;
      if (mode.tangent[j] == TangentStatus::stick &&
          std::abs(tried_.tangent[j]) > scene_.statics.limit(r, j, tried_.normal) + small)
        return false;
    }
  }
  return true;
}

bool QuasiStaticDecision::decide_flow(bool& moves) {
  bool found = false, several = false;
  const double force = scene_.force_scale();
  redundant_ = false;
  const bool few = each_mode(flow_options(), [&](const Mode& mode) {
    if (skip_redundant()) return false;
    if (!scene_.statics.flow(tried_.velocity, tried_.normal, tried_.tangent)) return false;
    if (!flow_fits(mode, force)) return false;
    if (!found) {
      found = true;
      best_ = mode;
      flow_ = tried_;
      return false;
    }
    double difference = 0;
    for (std::size_t i = 0; i < scene_.n; ++i)
      difference = std::max(difference, std::abs(tried_.velocity[i] - flow_.velocity[i]));
    several = several || difference > 1e-6 * std::max(force, norm(tried_.velocity));
    return several;
  });
  if (!few) return false;
  if (!found) return nothing_found("no reaction of the contacts satisfies their laws");
  if (several && scene_.options.on_indeterminate != OnIndeterminate::stay)
    return scene_.fail(Reason::indeterminate, "several motions at a frozen time satisfy the laws");
  scene_.set_mode(best_);
  moves = norm(flow_.velocity) > kZeroForce * std::max(force, 1e-300);
  return true;
}

/// By relation: what may hold on a path from here, by the reactions at this point.
const QuasiStaticDecision::Options& QuasiStaticDecision::path_options() {
  Options& out = options_;
  for (std::vector<QuasiStaticOption>& own : out) own.clear();
  double size = 0;
  for (const double value : scene_.here.normal) size = std::max(size, std::abs(value));
  const double small = kZeroForce * std::max(size, scene_.force_scale());
  for (int r = 0; r < scene_.layout.relations; ++r) {
    const model::Relation& relation = scene_.system.relations()[r];
    const bool rubs = relation.tangents > 0;
    const auto add = [&](NormalStatus normal, TangentStatus tangent) {
      const QuasiStaticOption option{normal, tangent};
      if (!scene_.excludes(r, option)) out[r].push_back(option);
    };
    const NormalStatus now = scene_.mode.normal[r];
    const bool tip = now == NormalStatus::closed && scene_.here.normal[r] <= small;
    if (now == NormalStatus::open || now == NormalStatus::held) {
      out[r].push_back({now, TangentStatus::free});
      continue;
    }
    if (!rubs) {
      add(now, TangentStatus::free);
    } else {
      const int j = relation.first_tangent;
      const double limit = tip ? 0 : scene_.statics.limit(r, j, scene_.here.normal),
                   edge = 1e2 * kZeroForce * std::max(limit, small);
      const double force = scene_.here.tangent[j];
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

/// Whether rates (per unit of arc length; homogeneous: at a frozen time) of the candidate agree with its inequalities.
bool QuasiStaticDecision::admissible(const QuasiStaticPoint& rate, bool homogeneous) const {
  const double t_rate = homogeneous ? 0 : rate.t_rate;
  double force = 0;
  for (const double value : rate.normal_rate) force = std::max(force, std::abs(value));
  for (const double value : rate.tangent_rate) force = std::max(force, std::abs(value));
  const double small_force = kTie * std::max(force, scene_.statics.stiffness() * norm(rate.q_rate));
  double size = 0;
  for (const double value : scene_.here.normal) size = std::max(size, std::abs(value));
  const double zero = kZeroForce * std::max(size, scene_.force_scale());
  for (int r = 0; r < scene_.layout.relations; ++r) {
    const model::Relation& relation = scene_.system.relations()[r];
    const model::RelationRows& rows = scene_.statics.rows(r);
    const Mode& mode = candidate_;
    const bool was_closed = scene_.mode.normal[r] == NormalStatus::closed;
    const bool tip = was_closed && scene_.here.normal[r] <= zero;
    if (tip && mode.normal[r] == NormalStatus::open) {
      const double speed = product(rows.w, rate.q_rate) + rows.gap_time * t_rate;
      if (speed < -kTie * (norm(rate.q_rate) + std::abs(rows.gap_time * t_rate))) return false;
      continue;
    }
    if (tip && rate.normal_rate[r] < -small_force) return false;
    for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j) {
      if (mode.normal[r] == NormalStatus::open) continue;
      const int sigma = engines::direction(mode.tangent[j]);
      if (sigma != 0) {
        const double slip = scene_.statics.slip(r, j, rate.q_rate, t_rate);
        if (sigma * slip < -kTie) return false;
        continue;
      }
      const double limit = scene_.statics.limit(r, j, scene_.here.normal);
      const double limit_rate =
          relation.feeds.empty() ? 0 : rows.tangent[0].mu * rows.factors[0] * rate.normal_rate[r];
      const double edge = 1e2 * kZeroForce * std::max(limit, zero);
      if (tip) {
        if (std::abs(rate.tangent_rate[j]) > limit_rate + small_force) return false;
        continue;
      }
      if (scene_.here.tangent[j] <= -limit + edge && limit_rate + rate.tangent_rate[j] < -small_force)
        return false;
      if (scene_.here.tangent[j] >= limit - edge && limit_rate - rate.tangent_rate[j] < -small_force)
        return false;
    }
  }
  return true;
}

/// Of all modes the direction in which the imbalance grows fastest.
bool QuasiStaticDecision::find_jump(bool& jumps) {
  double largest = 0;
  jumps = false;
  return each_mode(options_, [&](const Mode& mode) {
    if (!scene_.place() || skip_redundant() || !scene_.statics.differentiate(scene_.here.normal))
      return false;
    double gamma = 0;
    rate_ = scene_.here;
    if (!scene_.statics.unstable(gamma, rate_)) return false;
    for (const int sign : {1, -1}) {
      turned_ = rate_;
      for (std::vector<double>* values : {&turned_.q_rate, &turned_.normal_rate, &turned_.tangent_rate}) {
        for (double& value : *values) value *= sign;
      }
      for (int r = 0; r < scene_.layout.relations; ++r) {
        const model::Relation& relation = scene_.system.relations()[r];
        for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j) {
          const int sigma = engines::direction(mode.tangent[j]);
          if (sigma != 0 && !relation.feeds.empty())
            turned_.tangent_rate[j] = -sigma * scene_.statics.rows(r).tangent[0].mu * turned_.normal_rate[r];
        }
      }
      if (!admissible(turned_, true)) continue;
      // Of a direction and its opposite, both free, the one in which the path came.
      double along = 0;
      for (std::size_t i = 0; i < scene_.n; ++i) along += turned_.q_rate[i] * scene_.here.q_rate[i];
      if (jumps && gamma <= largest && !(gamma == largest && along > 0)) continue;
      jumps = true;
      largest = gamma;
      direction_ = turned_;
      best_ = mode;
    }
    return false;
  });
}

QuasiStaticDecision::Verdict QuasiStaticDecision::decide_path(bool jumps) {
  static_cast<void>(path_options());
  redundant_ = false;
  if (jumps) {
    if (!find_jump(jumps)) return Verdict::failed;
    if (jumps) {
      scene_.set_mode(best_);
      return Verdict::jump;
    }
  }
  bool found = false, several = false;
  const bool few = each_mode(options_, [&](const Mode& mode) {
    rate_ = scene_.here;
    if (!scene_.place() || skip_redundant() || !scene_.statics.tangent(rate_, scene_.no_border, 1))
      return false;
    if (!admissible(rate_, false)) return false;
    if (!found) {
      found = true;
      best_ = mode;
      found_ = rate_;
      return false;
    }
    double difference = 0;
    for (std::size_t i = 0; i < scene_.n; ++i)
      difference = std::max(difference, std::abs(rate_.q_rate[i] - found_.q_rate[i]));
    several = several || difference > 1e-6;
    return false;
  });
  if (!few) return Verdict::failed;
  if (!found) {
    scene_.statics.set_mode(scene_.mode);
    return Verdict::none;
  }
  if (several && scene_.options.on_indeterminate != OnIndeterminate::stay) {
    static_cast<void>(
        scene_.fail(Reason::indeterminate, "several continuations of the path satisfy the laws"));
    return Verdict::failed;
  }
  scene_.set_mode(best_);
  scene_.here = found_;
  return Verdict::path;
}

}  // namespace judder::engines
