// Checks of the whole model: its structure, and its numbers at the start.
#include <algorithm>
#include <cmath>

#include "judder/core/number.hpp"
#include "judder/model/friction.hpp"
#include "model/builder.hpp"
#include "model/continuity.hpp"
#include "model/held_rows.hpp"

namespace judder::model {
/// Constraints that are combinations of those before them, but ask for other accelerations than these. Elimination row by row, in which only entries that are
/// not zero cost anything: constraints of large models mostly have few. An entry that is nothing but the rounding of the terms that cancel in it is zero.
std::vector<Contradiction> contradictions(const std::vector<HeldRow>& held, std::size_t n, Work& budget) {
  constexpr double kCancelled = 1e-10, kAgree = 1e-9;
  constexpr std::size_t kPerOperation = 8;
  std::vector<Contradiction> out;
  double largest = 0;
  for (const HeldRow& row : held) largest = std::max(largest, std::abs(row.zeta));
  if (largest == 0) return out;  // nothing is asked for that could differ
  struct Entry {
    std::size_t column;
    double value;
  };
  struct Pivot {
    std::size_t column;
    double value, zeta;
    std::vector<Entry> entries;  ///< the others
  };
  std::vector<Pivot> pivots;
  std::vector<std::size_t> uses(n, 0);
  std::vector<double> reach(n, 0.0), value(n), terms(n);
  for (const HeldRow& row : held) {
    budget.spend(1 + n / kPerOperation);
    for (std::size_t i = 0; i < n; ++i) {
      uses[i] += row.w[i] != 0 ? 1 : 0;
      reach[i] = std::max(reach[i], std::abs(row.w[i]));
    }
  }
  for (const HeldRow& row : held) {
    budget.spend(1 + (n + pivots.size()) / kPerOperation);
    value = row.w;
    for (std::size_t i = 0; i < n; ++i) terms[i] = std::abs(value[i]);
    double zeta = row.zeta, zeta_terms = std::abs(zeta);
    for (const Pivot& pivot : pivots) {
      const double entry = value[pivot.column];
      value[pivot.column] = 0;
      if (!(std::abs(entry) > kCancelled * terms[pivot.column])) continue;
      const double factor = entry / pivot.value;
      budget.spend(1 + pivot.entries.size() / kPerOperation);
      for (const Entry& other : pivot.entries) {
        value[other.column] -= factor * other.value;
        terms[other.column] += std::abs(factor * other.value);
      }
      zeta -= factor * pivot.zeta;
      zeta_terms += std::abs(factor * pivot.zeta);
    }
    // Of the entries that are large as their columns go, the one whose column is needed least often: the rows that follow stay sparse.
    double most = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (!(std::abs(value[i]) > kCancelled * terms[i])) value[i] = 0;
      if (value[i] != 0) most = std::max(most, std::abs(value[i]) / reach[i]);
    }
    if (most == 0) {
      if (std::abs(zeta) > kAgree * std::max(largest, zeta_terms)) out.push_back({row.relation, zeta});
      continue;
    }
    Pivot pivot{n, 0, zeta, {}};
    for (std::size_t i = 0; i < n; ++i) {
      constexpr double kLarge = 0.1;
      if (value[i] == 0 || std::abs(value[i]) < kLarge * most * reach[i]) continue;
      if (pivot.column == n || uses[i] < uses[pivot.column]) pivot.column = i;
    }
    pivot.value = value[pivot.column];
    for (std::size_t i = 0; i < n; ++i) {
      if (value[i] != 0 && i != pivot.column) pivot.entries.push_back({i, value[i]});
    }
    pivots.push_back(std::move(pivot));
  }
  return out;
}

void Builder::warn_unused() {
  for (const ParameterDraft& p : parameters) {
    if (mentioned.contains(p.spec->name.text)) continue;
    warning(p.spec->name.span, p.place(), "the parameter " + quoted(p.spec->name.text) + " is not used");
  }
}

void Builder::check_structure() {
  const std::size_t n = coordinates.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (!coordinates[i].spec->massless) continue;
    if (large != nullptr) {
      error(coordinates[i].spec->name, "coordinate '" + coordinates[i].name + "'",
            "a model with matrices of more than " + std::to_string(kLargestFormula) +
                " rows has no massless coordinates",
            "give every coordinate inertia in the mass matrix");
      return;
    }
    for (std::size_t j = 0; j < n; ++j) {
      if (is_zero(mass[i * n + j])) continue;
      error(coordinates[i].spec->name, "coordinate '" + coordinates[i].name + "'",
            "the massless coordinate " + quoted(coordinates[i].name) +
                " has inertia: its velocity stands in the kinetic energy");
      break;
    }
  }
  if (quasi_static()) return;
  for (const RelationDraft& r : relations) {
    const auto refuse = [&](const std::vector<Node>& w, const char* what) {
      for (std::size_t i = 0; i < w.size(); ++i) {
        if (!coordinates[i].spec->massless || is_zero(w[i])) continue;
        report_error(r.span, r.where,
                     std::string("the ") + what + " moves the massless coordinate " +
                         quoted(coordinates[i].name) + ": without inertia its reaction is not determined",
                     "give the coordinate inertia, or make the contact compliant");
        return true;
      }
      return false;
    };
    if (r.has_normal && (refuse(r.w, "gap") || refuse(r.push, "push"))) continue;
    if (!r.friction || (r.smooth && r.known_load) || on_massless(r)) continue;
    for (const TangentDraft& row : r.slip) {
      if (refuse(row.w, "slip") || refuse(row.drag, "drag")) break;
    }
  }
}

/// Laws that can create energy. A constant coefficient cannot, and is not looked at.
void Builder::check_dissipation() {
  const expr::OutsideWatch not_heard(graph.outside());  // speeds that no motion may ever have
  std::optional<FrictionCurve> curve;                   // one workspace for all of them
  for (std::size_t k = 0; k < relations.size(); ++k) {
    const Relation& relation = system.data_->relations[k];
    const bool bristle =
        relation.friction == FrictionType::lugre || relation.friction == FrictionType::elastoplastic;
    if (relation.friction == FrictionType::none || (!bristle && relation.law_constant)) continue;
    // The curve is read at some thousand speeds.
    constexpr std::size_t kSpeeds = 2000;
    constexpr std::size_t kPerOperation = 8;
    budget.spend(kSpeeds * (2 + relation.curve.length() / kPerOperation));
    if (curve) {
      curve->take(static_cast<int>(k));
    } else {
      curve.emplace(system, static_cast<int>(k));
    }
    const Dissipation found = model::dissipation(*curve);
    if (found.ok()) continue;
    const RelationDraft& draft = relations[k];
    const FrictionLaw& law = draft.contact      ? draft.contact->friction
                             : draft.constraint ? draft.constraint->friction
                                                : draft.joint->law;
    const Span span = law.span.empty() ? draft.span : law.span;
    const std::string where = draft.where + (draft.joint != nullptr ? ", law" : ", friction");
    if (!std::isnan(found.negative_at)) {
      warning(span, where,
              "friction pushes instead of resisting at the slip velocity " + to_text(found.negative_at, 3),
              "the coefficient is negative there; keep it positive at every speed, for example with max()");
    } else {
      warning(
          span, where,
          "above the slip speed " + to_text(found.reachable_below, 4) + " a bent bristle can create energy",
          "let 'damping' fall with the speed: at most " + to_text(found.allowed_damping, 3) +
              " there, for example \"" + to_text(found.allowed_damping, 3) + "*exp(-(speed/" +
              to_text(found.reachable_below, 3) + ")^2)\"");
    }
  }
}

}  // namespace judder::model
