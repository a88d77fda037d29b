// Reactions that are not unique: what must hold so that some of them are admissible.
//
// The reactions of a mode with dependent rows are λ = λ⁰ + N y with any y, and each of its laws asks for g_i(λ) ≥ 0: a pressure, or what friction
// leaves of its limit. Some y satisfies all of them if and only if every combination of them that is free of y, with weights u ≥ 0, Nᵀ∇g u = 0, is
// not negative (Farkas). There are finitely many that matter; elimination of one y after the other (Fourier and Motzkin) lists them. A combination
// has the same value for every reaction of the set, so it is a smooth function of the motion with a Taylor series, as a reaction that is
// unique is. Where it vanishes all laws in it are at their limits together, and they are those that let go: u is the way in which the bodies give way.
//
// The weights are those of rows and coefficients that do not change (constant()); otherwise they hold at one instant only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "judder/core/patience.hpp"
#include "judder/engines/mode.hpp"
#include "judder/model/system.hpp"

namespace judder::engines {

class ReactionConditions {
 public:
  struct Row {
    int relation = 0;
    int tangent = -1;  ///< −1: the normal row
  };
  /// weight · side λ_N, or weight · (μ_s L − side λ_T). The weight of the first part of a condition is 1.
  struct Part {
    int relation = 0;
    int tangent = -1;
    int side = 0;
    double weight = 0;
  };

  /// Looked at inside long eliminations; null: never.
  void use(Patience* patience) { patience_ = patience; }

  /// Whether the weights of a mode are the same in every state.
  [[nodiscard]] static bool constant(const model::System& system, const Mode& mode);

  /// Adds those of the rows of `mode` for which `chosen` (by relation) is not zero. `rows` are all that are active, `ways` the changes of their
  /// reactions that move nothing, one after the other. Coefficients of friction are those in work.relation. False: there are too many, and
  /// nothing is added.
  [[nodiscard]] bool list(const model::System& system, const model::Workspace& work, const Mode& mode,
                          std::span<const Row> rows, std::span<const double> ways,
                          std::span<const std::uint8_t> chosen);
  void clear() {
    parts_.clear();
    first_.assign(1, 0);
  }
  [[nodiscard]] int size() const { return static_cast<int>(first_.size()) - 1; }
  [[nodiscard]] std::span<const Part> operator[](int condition) const {
    return std::span(parts_).subspan(first_[condition], first_[condition + 1] - first_[condition]);
  }

 private:
  Patience* patience_ = nullptr;
  std::vector<Part> parts_;
  std::vector<int> first_ = {0};
};

}  // namespace judder::engines
