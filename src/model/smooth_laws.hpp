// Smooth friction laws without a state: a share of the coefficient acts, which grows with the slip.
//
//     R = L μ s(γ) + c γ ,    s odd, |s| ≤ 1, s → ±1 for fast slip
//
// Each law is one row in smooth_laws.cpp, with s written twice: for the equations, and as a function of the slip for pictures, averages and impacts
// (an impact has Coulomb's law with the coefficient μ s(|γ|)). Tests hold the two against each other.
#pragma once

#include "judder/core/laws.hpp"
#include "judder/expr/graph.hpp"
#include "judder/model/friction.hpp"

namespace judder::model {

struct SmoothLaw {
  FrictionType type;
  /// μ s(γ); `beta` is the key of that name, 0 for a law without it.
  expr::Node (*in_equations)(expr::Graph& graph, expr::Node mu, expr::Node beta, expr::Node gamma);
  /// `limit`·s(γ).
  double (*of_slip)(double limit, const LawNumbers& law, double slip);
};

/// The row of a law, or null: it is set-valued or has a bristle.
[[nodiscard]] const SmoothLaw* find_smooth_law(FrictionType type);

/// The outputs of Relation::curve: the load, then LawNumbers in their order.
inline constexpr int kCurveOutputs = 11;
/// These as numbers with their names.
[[nodiscard]] LawNumbers law_numbers(const double* curve);

}  // namespace judder::model
