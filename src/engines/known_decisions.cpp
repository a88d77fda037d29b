#include "known_decisions.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace judder::engines {

KnownDecisions::KnownDecisions(const model::System& system, model::Workspace& work,
                               const RowCoupling& coupling)
    : system_(system), work_(work), coupling_(coupling) {
  const model::Layout& layout = system.layout();
  for (const model::Relation& relation : system.relations())
    varies_.push_back(relation.rows_constant && relation.law_constant && !relation.smooth_friction ? 0 : 1);
  key_.reserve(2 * (layout.relations + layout.tangents));
}

int KnownDecisions::look_up(std::span<const RowAssembly::Row> rows, std::span<const TangentStatus> tangent,
                            std::span<const std::uint16_t> excluded_normal,
                            std::span<const std::uint16_t> excluded_tangent) {
  if (!system_.mass_constant()) return -1;
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  key_.clear();
  const auto mix = [&](std::uint32_t value) {
    key_.push_back(value);
    hash = (hash ^ value) * 0x100000001b3ULL;
  };
  for (const RowAssembly::Row& row : rows) {
    if (varies_[row.relation] != 0) return -1;
    mix(static_cast<std::uint32_t>(row.relation));
    if (row.tangent < 0) {
      mix(1U + (static_cast<std::uint32_t>(excluded_normal[row.relation]) << 1U));
    } else {
      // The tangential row, told from the normal row by its zero bit.
      mix((static_cast<std::uint32_t>(row.tangent) << 22U) |
          (static_cast<std::uint32_t>(tangent[row.number]) << 17U) |
          (static_cast<std::uint32_t>(excluded_tangent[row.number]) << 1U));
    }
  }
  const auto known = number_of_.find(hash);
  if (known != number_of_.end()) return kept_[known->second].key == key_ ? known->second : -1;
  if (kept_.size() >= std::max(kMost, kMostPerRelation * varies_.size())) return -1;
  const int number = static_cast<int>(kept_.size());
  kept_.emplace_back();
  kept_.back().key = key_;
  number_of_.emplace(hash, number);
  return number;
}

void KnownDecisions::learn(int number, std::span<const RowAssembly::Row> rows,
                           const contact::DecisionProblem& problem, const contact::DecisionOptions& options,
                           contact::DecisionWorkspace& workspace) {
  Kept& kept = kept_[number];
  if (kept.tried) return;
  kept.tried = true;
  kept.usable = kept.table.build(problem, options, workspace);
  if (!kept.usable) return;
  kept.matrix.assign(problem.A, problem.A + rows.size() * rows.size());
  for (const RowAssembly::Row& row : rows) {
    const model::RelationRows& numbers = work_.relation[row.relation];
    const model::Row& w = row.tangent < 0 ? numbers.w : numbers.tangent[row.tangent].w;
    kept.coordinates.push_back(coupling_.coordinates(row.relation, row.tangent < 0 ? -1 : row.number));
    kept.row.emplace_back();
    for (const int k : kept.coordinates.back()) kept.row.back().push_back(w[k]);
    kept.zeta.push_back(row.tangent < 0 ? numbers.zeta_n : numbers.tangent[row.tangent].zeta);
    kept.floors.push_back(
        static_cast<std::uint32_t>(row.tangent < 0 ? row.relation : system_.layout().relations + row.number));
  }
}

// b and the scales of the rows, as the assembly of a decision and the decider form them.
std::span<const contact::RowStatus> KnownDecisions::find(int number, std::span<const double> force_floor,
                                                         std::span<const double> free) const {
  const Kept& kept = kept_[number];
  if (!kept.usable) return {};
  constexpr int kRows = contact::DecisionTable::kMostRows;
  std::array<double, kRows> b;
  std::array<double, kRows> force_scale;
  std::array<double, kRows> acceleration_scale;
  const int size = static_cast<int>(kept.row.size());
  for (int i = 0; i < size; ++i) {
    double value = kept.zeta[i];
    double terms = std::abs(value);
    const double* entry = kept.row[i].data();
    for (const int k : kept.coordinates[i]) {
      const double term = *entry++ * free[k];
      value += term;
      terms += std::abs(term);
    }
    b[i] = value;
    acceleration_scale[i] = terms;
    force_scale[i] = std::max(terms / kept.matrix[i * size + i], force_floor[kept.floors[i]]);
  }
  const double* matrix = kept.matrix.data();
  for (int k = 0; k < size; ++k, matrix += size) {
    double scale = acceleration_scale[k];
    for (int i = 0; i < size; ++i) scale = std::max(scale, force_floor[kept.floors[i]] * std::abs(matrix[i]));
    acceleration_scale[k] = scale;
  }
  return kept.table.find(b.data(), force_scale.data(), acceleration_scale.data());
}

}  // namespace judder::engines
