#include "reaction_conditions.hpp"

#include <algorithm>
#include <cmath>

namespace judder::engines {
namespace {

constexpr std::size_t kMost = 512;  ///< conditions that elimination may give before it is given up
/// Numbers in the conditions before those that others imply are left out: pairs of a thousand laws would take gigabytes.
constexpr std::size_t kMostNumbers = std::size_t{1} << 23U;
constexpr double kNothing = 1e-12;  ///< of the largest coefficient: zero

struct Condition {
  std::vector<double> weight;  ///< by law
  std::vector<double> free;    ///< coefficients of the undetermined parts
  [[nodiscard]] int laws() const {
    return static_cast<int>(std::count_if(weight.begin(), weight.end(), [](double w) { return w != 0; }));
  }
  /// Whether every law of this one is in `other` too.
  [[nodiscard]] bool within(const Condition& other) const {
    for (std::size_t i = 0; i < weight.size(); ++i) {
      if (weight[i] != 0 && other.weight[i] == 0) return false;
    }
    return true;
  }
};

// What a condition says that consists of the laws of another, and more, that other one says already.
void leave_out_implied(std::vector<Condition>& conditions, Patience* patience) {
  std::vector<std::uint8_t> implied(conditions.size());
  for (std::size_t a = 0; a < conditions.size(); ++a) {
    if (patience != nullptr) patience->look();
    for (std::size_t b = 0; b < conditions.size() && implied[a] == 0; ++b) {
      if (a == b || implied[b] != 0 || !conditions[b].within(conditions[a])) continue;
      implied[a] = conditions[a].within(conditions[b]) && a < b ? 0 : 1;
    }
  }
  std::size_t kept = 0;
  for (std::size_t a = 0; a < conditions.size(); ++a) {
    if (implied[a] != 0) continue;
    if (kept != a) conditions[kept] = std::move(conditions[a]);
    ++kept;
  }
  conditions.resize(kept);
}

}  // namespace

// What reactions may share depends on the directions in which they push and on the laws of rows at rest, not on what drives the rows, on loads that are known, or on
// laws of slip; friction that slips under a reaction pushes with it. Masses have no part in it where each reaction pushes along its own row.
bool ReactionConditions::constant(const model::System& system, const Mode& mode) {
  const model::Symbols& symbols = system.symbols();
  const auto fixed = [&](const std::vector<expr::Node>& nodes) {
    return std::all_of(nodes.begin(), nodes.end(),
                       [&](expr::Node node) { return system.graph().is_constant(node); });
  };
  for (int r = 0; r < system.layout().relations; ++r) {
    const model::Relation& relation = system.relations()[r];
    if (mode.normal[r] == NormalStatus::open) continue;
    if (relation.own_push && !system.mass_constant()) return false;
    if (!fixed(symbols.normal[r].w) || !fixed(symbols.normal[r].push)) return false;
    for (int j = 0; j < relation.tangents; ++j) {
      const TangentStatus status = mode.tangent[relation.first_tangent + j];
      const bool rests = status == TangentStatus::stick;
      if (status == TangentStatus::free || (!rests && relation.feeds.empty())) continue;
      const model::Symbols::TangentRow& row = symbols.tangent[relation.first_tangent + j];
      if (!fixed(row.w) || !fixed(row.drag)) return false;
      if (relation.feeds.empty()) continue;
      if (!rests && !system.mass_constant()) return false;
      if (!fixed(symbols.factors[r]) || !fixed({rests ? row.mu_static : row.mu})) return false;
    }
  }
  return true;
}

bool ReactionConditions::list(const model::System& system, const model::Workspace& work, const Mode& mode,
                              std::span<const Row> rows, std::span<const double> ways,
                              std::span<const std::uint8_t> chosen) {
  const int active = static_cast<int>(rows.size());
  const int nullity = active == 0 ? 0 : static_cast<int>(ways.size()) / active;
  const auto add_free = [&](std::vector<double>& free, int relation, int tangent, double factor) {
    for (int k = 0; k < active; ++k) {
      if (rows[k].relation != relation || rows[k].tangent != tangent) continue;
      for (int w = 0; w < nullity; ++w) free[w] += factor * ways[w * active + k];
    }
  };
  std::vector<Part> laws;
  std::vector<Condition> conditions;
  const auto add_law = [&](Part law, std::vector<double> free) {
    laws.push_back(law);
    conditions.push_back({{}, std::move(free)});
  };
  for (int k = 0; k < active; ++k) {
    const int r = rows[k].relation;
    const int j = rows[k].tangent;
    if (chosen[r] == 0) continue;
    const model::Relation& relation = system.relations()[r];
    if (j < 0) {
      if (mode.normal[r] != NormalStatus::closed && mode.pressed[r] == 0) continue;
      const int side = mode.normal[r] == NormalStatus::closed ? 1 : mode.pressed[r];
      std::vector<double> free(nullity);
      add_free(free, r, -1, side);
      add_law({r, -1, side, 1}, std::move(free));
      continue;
    }
    std::vector<double> limit(nullity);
    for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
      const int fed = relation.feeds[f];
      const double pressed = mode.pressed[fed] < 0 ? -1 : 1;
      add_free(limit, fed, -1, pressed * work.relation[r].tangent[j].mu_static * work.relation[r].factors[f]);
    }
    for (const int side : {1, -1}) {
      std::vector<double> free = limit;
      add_free(free, r, j, -side);
      add_law({r, j, side, 1}, std::move(free));
    }
  }
  const std::size_t most = kMostNumbers / (laws.size() + static_cast<std::size_t>(nullity) + 1);
  if (nullity > 0 && conditions.size() > most) return false;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    conditions[i].weight.assign(laws.size(), 0.0);
    conditions[i].weight[i] = 1;
  }
  int eliminated = 0;
  for (int w = 0; w < nullity; ++w) {
    double largest = 0;
    for (const Condition& condition : conditions) largest = std::max(largest, std::abs(condition.free[w]));
    if (largest == 0) continue;
    ++eliminated;
    const auto sign = [&](const Condition& condition) {
      const double x = condition.free[w];
      return std::abs(x) <= kNothing * largest ? 0 : x > 0 ? 1 : -1;
    };
    std::vector<Condition> next;
    for (const Condition& condition : conditions) {
      if (sign(condition) == 0) next.push_back(condition);
    }
    for (const Condition& up : conditions) {
      if (sign(up) <= 0) continue;
      if (patience_ != nullptr) patience_->look();
      for (const Condition& down : conditions) {
        if (sign(down) >= 0) continue;
        const double total = up.free[w] - down.free[w];
        Condition both{up.weight, up.free};
        for (std::size_t i = 0; i < laws.size(); ++i)
          both.weight[i] = (up.free[w] * down.weight[i] - down.free[w] * up.weight[i]) / total;
        // With k parts gone, more than k + 1 laws together say nothing that fewer do not say.
        if (both.laws() > eliminated + 1) continue;
        for (int v = 0; v < nullity; ++v)
          both.free[v] = (up.free[w] * down.free[v] - down.free[w] * up.free[v]) / total;
        both.free[w] = 0;
        next.push_back(std::move(both));
        if (next.size() > most) return false;
      }
    }
    conditions = std::move(next);
    leave_out_implied(conditions, patience_);
    if (conditions.size() > kMost) return false;
  }
  for (const Condition& condition : conditions) {
    double first = 0;  // the unit of the condition is that of its first law, whatever the others are
    for (std::size_t i = 0; i < laws.size(); ++i) {
      if (condition.weight[i] == 0) continue;
      if (first == 0) first = condition.weight[i];
      parts_.push_back(laws[i]);
      parts_.back().weight = condition.weight[i] / first;
    }
    first_.push_back(static_cast<int>(parts_.size()));
  }
  return true;
}

}  // namespace judder::engines
