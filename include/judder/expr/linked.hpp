// Affine expressions as they were written.
//
//     f = Σ_k factor_k u_k + rest ,     u_k = Σ_i c_i x_i + offset_k
//
// with factors and offsets free of the variables x and of t, and a rest free of the variables. An affine function has one gradient but many
// ways to be computed, and they round differently: near the free length l of a spring, x − l is exact and c (x − l) right to its last bit,
// while c x − c l carries the rounding of c l. So what stands together in a bracket stays together: a bracket is a *link* u, its offset
// included, where its variables have the factors ±1; everything around it, and brackets whose products round anyway, is multiplied out.
// No term becomes larger than one that is computed when the expression is evaluated as it stands.
//
// Refused (nothing returned): expressions that are not affine by their form, and factors that depend on t.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "judder/expr/graph.hpp"

namespace judder::expr {

struct Link {
  std::vector<std::pair<std::size_t, double>> terms;  ///< number of the variable, factor c
  Node offset;
  friend bool operator==(const Link&, const Link&) = default;
};

struct LinkedForm {
  std::vector<std::pair<Link, Node>> parts;  ///< link and factor; every link once
  Node rest;
};

[[nodiscard]] std::optional<LinkedForm> linked_form(Graph& graph, Node f, std::span<const Variable> variables,
                                                    Variable t);

}  // namespace judder::expr
