// What formulas depend on, the surfaces of the switches in them included, and the surfaces of the switches in those.
#pragma once

#include <span>
#include <vector>

#include "judder/expr/graph.hpp"

namespace judder::expr {

/// Ascending. One walk for all of them: asking surface by surface would go through what they share again and again.
[[nodiscard]] std::vector<Variable> variables_through(const Graph& graph, std::span<const Node> roots);
[[nodiscard]] std::vector<SwitchId> switches_through(const Graph& graph, std::span<const Node> roots);
/// By switch: its surface depends on t and on nothing else. One walk through the graph.
[[nodiscard]] std::vector<bool> switches_of(const Graph& graph, Variable t);
/// Graph::periods in any variable, asked of a graph that is not built on: an argument whose growth would take a derivative is passed over.
[[nodiscard]] std::vector<double> periods_through(const Graph& graph, std::span<const Node> roots,
                                                  Variable x);

}  // namespace judder::expr
