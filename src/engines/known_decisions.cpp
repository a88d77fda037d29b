#include "known_decisions.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace judder::engines {

KnownDecisions::KnownDecisions(const model::System& system, model::Workspace& work)
    : system_(system), work_(work), n_(system.layout().coordinates) {
  const model::Layout& layout = system.layout();
  for (const model::Relation& relation : system.relations())
    varies_.push_back(relation.rows_constant && relation.law_constant && !relation.smooth_friction ? 0 : 1);
  key_.resize(layout.relations + layout.tangents);
  free_.resize(n_);
}

bool KnownDecisions::look_up(std::span<const std::uint8_t> part, std::span<const TangentStatus> tangent,
                             std::span<const std::uint16_t> excluded_normal,
                             std::span<const std::uint16_t> excluded_tangent) {
  if (!system_.mass_constant()) return false;
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto mix = [&hash](std::uint32_t& place, std::uint32_t value) {
    place = value;
    hash = (hash ^ value) * 0x100000001b3ULL;
  };
  const std::vector<model::Relation>& relations = system_.relations();
  const std::size_t count = part.size();
  for (std::size_t r = 0; r < count; ++r) {
    const bool takes_part = part[r] != 0;
    if (takes_part && varies_[r] != 0) return false;
    mix(key_[r], takes_part ? 1U + (static_cast<std::uint32_t>(excluded_normal[r]) << 1U) : 0U);
    for (int j = 0; j < relations[r].tangents; ++j) {
      const int number = relations[r].first_tangent + j;
      const auto status = static_cast<std::uint32_t>(tangent[number]);
      mix(key_[count + number],
          takes_part ? status + (static_cast<std::uint32_t>(excluded_tangent[number]) << 4U) : 0U);
    }
  }
  for (at_ = 0; at_ < kept_.size(); ++at_) {
    if (kept_[at_].hash == hash && kept_[at_].key == key_) return true;
  }
  if (kept_.size() == kMost) return false;
  kept_.emplace_back();
  kept_.back().key = key_;
  kept_.back().hash = hash;
  return true;
}

void KnownDecisions::learn(const contact::DecisionProblem& problem, const contact::DecisionOptions& options,
                           const RowAssembly& assembly, contact::DecisionWorkspace& workspace) {
  Kept& kept = kept_[at_];
  if (kept.tried) return;
  kept.tried = true;
  kept.usable = kept.table.build(problem, options, workspace);
  if (!kept.usable) return;
  const int size = assembly.size();
  kept.rows.assign(assembly.rows().begin(), assembly.rows().end());
  kept.matrix.assign(problem.A, problem.A + size * size);
  for (const RowAssembly::Row& row : kept.rows) {
    const model::RelationRows& rows = work_.relation[row.relation];
    kept.row.push_back(row.tangent < 0 ? rows.w : rows.tangent[row.tangent].w);
    kept.zeta.push_back(row.tangent < 0 ? rows.zeta_n : rows.tangent[row.tangent].zeta);
    kept.floors.push_back(
        static_cast<std::uint32_t>(row.tangent < 0 ? row.relation : system_.layout().relations + row.number));
  }
}

// b and the scales of the rows, as the assembly of a decision and the decider form them.
std::span<const contact::RowStatus> KnownDecisions::find(std::span<const double> force_floor) {
  Kept& kept = kept_[at_];
  if (!kept.usable) return {};
  constexpr int kRows = contact::DecisionTable::kMostRows;
  std::array<double, kRows> b;
  std::array<double, kRows> force_scale;
  std::array<double, kRows> acceleration_scale;
  const int size = static_cast<int>(kept.rows.size());
  const int n = n_;
  double* free = free_.data();
  for (int k = 0; k < n; ++k) free[k] = work_.force[k];
  system_.solve_mass(work_, free);
  for (int i = 0; i < size; ++i) {
    double value = kept.zeta[i];
    double terms = std::abs(value);
    const double* row = kept.row[i];
    for (int k = 0; k < n; ++k) {
      const double term = row[k] * free[k];
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
