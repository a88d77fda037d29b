// What makes a model linear in each of its modes, found when it is compiled.
//
// With frozen sides of switches, directions of slip and statuses of contacts the motion is
//
//     M v̇ = h + Σ push λ_N + Σ drag λ_T ,   M constant ,   h, ż, gaps, slips, friction limits and surfaces affine in y = (q, v, z)
//
// with constant slopes and loads b(t) = Σ t^k e^{σt} (c cos ωt + s sin ωt). Then it has a closed form (docs/engines.md, the exact engine).
// Coefficients are outputs of one program, which is evaluated once per mode: sides, directions and statuses are its inputs, as for every
// program of the System. A model that is not linear has a reason instead, with the place in the file that causes it.
#pragma once

#include <string>
#include <vector>

#include "judder/core/diagnostics.hpp"
#include "judder/expr/program.hpp"

namespace judder::model {

/// f = Σ slope · variable + Σ t^power e^{rate t} (cosine cos + sine sin). Numbers are outputs of LinearStructure::coefficients.
/// Variables: y, then accelerations, λ_N by relation, λ_T by tangential row (the latter three in watches only).
struct AffineFunction {
  struct Slope {
    int variable = 0;
    int output = 0;
  };
  struct Load {
    int power = 0;
    int rate = 0, frequency = 0, cosine = 0, sine = 0;
  };
  std::vector<Slope> slopes;
  std::vector<Load> loads;
};

/// A power of the energy audit: Σ factor · other, factor a variable or 1.
struct QuadraticFunction {
  struct Product {
    int variable = -1;  ///< −1: the factor is 1
    AffineFunction other;
  };
  std::vector<Product> products;
};

struct LinearStructure {
  std::string reason;  ///< why the model is not linear: "force on y: y^3"; empty: it is
  std::string where;   ///< place in words: "energy, potential"; empty: none
  Span span;           ///< place in the file; empty: none

  expr::Program coefficients;
  std::vector<AffineFunction> force;  ///< h by coordinate
  std::vector<AffineFunction> rate;   ///< by state
  struct Normal {
    AffineFunction gap;             ///< of a velocity constraint: its velocity
    AffineFunction gap_time, zeta;  ///< loads only
    std::vector<int> w, push;       ///< outputs by coordinate
  };
  std::vector<Normal> normal;  ///< by relation; empty where it has no normal row
  struct Tangent {
    AffineFunction slip;
    AffineFunction drive, zeta;      ///< loads only
    std::vector<int> w, drag;        ///< outputs by coordinate
    AffineFunction known, at_rest;   ///< μ base and μ_s base
    std::vector<int> fed, fed_rest;  ///< outputs μ factor and μ_s factor, by Relation::feeds
  };
  std::vector<Tangent> tangent;           ///< by tangential row
  std::vector<AffineFunction> base;       ///< by relation
  std::vector<std::vector<int>> factors;  ///< by relation: outputs by Relation::feeds
  std::vector<AffineFunction> surface;    ///< by switch; empty for switches of time alone
  std::vector<AffineFunction> watch;      ///< by watch
  std::vector<QuadraticFunction> power;   ///< by output of System::powers

  [[nodiscard]] bool linear() const { return reason.empty(); }
};

}  // namespace judder::model
