// The equations of a model as they stand on paper, one line each:
//
//     Σ_j M_ij q̈_j = h_i + Σ_r push_ri λ_N,r + drag_ri λ_T,r          (each coordinate)
//     ż = rate                                                         (each state)
//     0 ≤ g ⟂ λ_N ≥ 0,   |λ_T| ≤ μ_s λ_N,   γ_T = …                    (each contact; joints and constraints alike)
//     λ_T = −μ(|γ_T|) λ_N γ_T/|γ_T|                                    (where that says more than the bound)
//     γ_N⁺ = −e γ_N⁻ or what the impact law has in its place            (each contact)
//
// in LaTeX or in MathML. Parameters that were left open when the model was compiled (CompileOptions::free) keep their names.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "judder/expr/named_texts.hpp"
#include "judder/model/compile.hpp"

namespace judder::model {

struct Equation {
  std::string name;  ///< what it is about, in words: "x", "contact 'plane'"
  std::string text;  ///< LaTeX without dollar signs, or the elements of one MathML row
};

/// Empty without a system. `cancel`: set from outside to end within a moment, with a part of it. `labels`: what stands for coordinates and parameters
/// instead of their names, in the signs of the notation; velocities have their dots by themselves.
[[nodiscard]] std::vector<Equation> equations(const Compiled& compiled, expr::Notation notation,
                                              const std::atomic<bool>* cancel = nullptr,
                                              const std::map<std::string, std::string>& labels = {});

}  // namespace judder::model
