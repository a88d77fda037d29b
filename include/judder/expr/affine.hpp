// Expressions that are affine in some variables, with loads of time: the form in which motion has a closed solution.
//
//     f = Σ_i a_i x_i + b(t) ,     b(t) = Σ t^k e^{σt} (c cos ωt + s sin ωt)
//
// with a_i, σ, ω, c, s free of the x_i and of t. They may depend on sides of switches and on any other variable: within a mode those are
// constant. The judgement is symbolic and never wrong in one direction: a form is returned only if the derivatives are, as formulas, free of
// the variables. Formulas that are affine but do not look so after the simplifications of the graph (graph.hpp) are refused.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "judder/expr/graph.hpp"

namespace judder::expr {

/// t^power e^{rate t} (cosine cos(frequency t) + sine sin(frequency t)); the nodes are free of t.
struct TimeTerm {
  int power = 0;
  Node rate, frequency, cosine, sine;
};

/// A part of an expression that spoils the form.
struct Obstacle {
  enum class Kind {
    not_affine,     ///< in the variables
    varying_slope,  ///< a slope depends on t
    load            ///< a function of t of another kind
  } kind = Kind::not_affine;
  Node part;
};

struct AffineForm {
  std::vector<std::pair<std::size_t, Node>>
      slopes;  ///< number of the variable, ascending; zero slopes are left out
  std::vector<TimeTerm> load;
};

/// `f` in the form above, or nothing; then `obstacle` tells the first term that is not of it. Highest power of t: 12.
[[nodiscard]] std::optional<AffineForm> affine_form(Graph& graph, Node f, std::span<const Variable> variables,
                                                    Variable t, Obstacle& obstacle);

/// A function of t alone (and of whatever counts as constant) as a sum of such terms.
[[nodiscard]] std::optional<std::vector<TimeTerm>> time_terms(Graph& graph, Node f, Variable t);

}  // namespace judder::expr
