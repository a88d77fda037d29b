#include "row_coupling.hpp"

#include <algorithm>

namespace judder::engines {
namespace {

bool vanishes(const expr::Graph& graph, expr::Node node) {
  return graph.is_constant(node) && graph.value(node) == 0;
}

}  // namespace

RowCoupling::RowCoupling(const model::System& system)
    : system_(system), relations_(system.layout().relations) {
  const expr::Graph& graph = system.graph();
  const model::Symbols& symbols = system.symbols();
  const int n = system.layout().coordinates;

  contact::Blocks tied;
  tied.resize(n);
  tied.start(n);
  // The balance of massless coordinates may join any others.
  const bool massless =
      std::find(system.massless().begin(), system.massless().end(), true) != system.massless().end();
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      if (massless || symbols.mass.empty() || !vanishes(graph, symbols.mass[i * n + j])) tied.join(i, j);
    }
  }
  tied.finish();
  groups_ = tied.count();

  const auto add = [&](const std::vector<expr::Node>& row, const std::vector<expr::Node>& column) {
    std::vector<int>& touched = coordinates_.emplace_back();
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const bool acts = row.size() <= at || !vanishes(graph, row[at]) ||
                        (at < column.size() && !vanishes(graph, column[at]));
      if (acts) touched.push_back(i);
    }
    std::vector<int>& groups = group_.emplace_back();
    for (const int i : touched) groups.push_back(tied.block_of(i));
    std::sort(groups.begin(), groups.end());
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  };
  std::vector<RowAssembly::Row> rows;
  for (int r = 0; r < relations_; ++r) {
    const model::Symbols::Row& row = symbols.normal[r];
    add(row.w, row.push);
    if (system.relations()[r].has_normal) rows.push_back({r, -1, -1});
  }
  for (const model::Symbols::TangentRow& row : symbols.tangent) add(row.w, row.drag);

  first_.resize(groups_);
  normal_.resize(relations_);
  for (int r = 0; r < relations_; ++r) {
    const model::Relation& relation = system.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) rows.push_back({r, j, relation.first_tangent + j});
  }
  contact::Blocks all;
  all.resize(static_cast<int>(rows.size()));
  find_blocks(rows, all);
  blocks_ = all.count();
  block_of_.assign(relations_, -1);
  for (int b = 0; b < blocks_; ++b) {
    int normals = 0;
    for (const int i : all.rows(b)) {
      const RowAssembly::Row& row = rows[i];
      block_of_[row.relation] = b;
      normals += row.tangent < 0 ? 1 : 0;
    }
    most_normals_ = std::max(most_normals_, normals);
    most_tangents_ = std::max(most_tangents_, static_cast<int>(all.rows(b).size()) - normals);
  }
}

void RowCoupling::find_blocks(std::span<const RowAssembly::Row> rows, contact::Blocks& blocks) const {
  const int count = static_cast<int>(rows.size());
  blocks.start(count);
  std::fill(first_.begin(), first_.end(), -1);
  std::fill(normal_.begin(), normal_.end(), -1);
  for (int i = 0; i < count; ++i) {
    const RowAssembly::Row& row = rows[i];
    if (row.tangent < 0) normal_[row.relation] = i;
    for (const int group : group_[place(row.relation, row.tangent < 0 ? -1 : row.number)]) {
      int& first = first_[group];
      if (first < 0) {
        first = i;
      } else {
        blocks.join(first, i);
      }
    }
  }
  for (int i = 0; i < count; ++i) {
    const RowAssembly::Row& row = rows[i];
    if (row.tangent < 0) continue;
    if (row.tangent > 0) blocks.join(i - 1, i);  // components of one relation
    if (normal_[row.relation] >= 0) blocks.join(normal_[row.relation], i);
    for (const int fed : system_.relations()[row.relation].feeds) {
      const int normal = normal_[fed];
      if (normal >= 0) blocks.join(normal, i);
    }
  }
  blocks.finish();
}

}  // namespace judder::engines
