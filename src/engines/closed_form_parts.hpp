// What the parts of ClosedForm share while a closed form is built. Private to it.
#pragma once

#include <algorithm>
#include <vector>

#include "closed_form.hpp"

namespace judder::engines {

struct ClosedForm::Context {
  const model::System& system;
  model::Workspace& work;
  ModeMotion& motion;
  const Guards& guards;
  const model::Layout& layout;
  const model::LinearStructure& structure;
  const Mode& mode;
  std::vector<Row> above, below;  ///< by switch: ds/dt on its two sides while it slides

  void evaluate(std::vector<double>& values) {
    values.resize(structure.coefficients.outputs());
    structure.coefficients.evaluate(work.in.data(), values.data(), work.registers.data());
  }
  [[nodiscard]] bool touched(int r) const {
    const model::Relation& relation = system.relations()[r];
    return mode.normal[r] != NormalStatus::open && (relation.has_normal || relation.tangents > 0);
  }
  /// |λ_N| of a feed is this times λ_N.
  [[nodiscard]] double pressed(int r) const { return mode.pressed[r] == 0 ? 1 : mode.pressed[r]; }
};

struct ClosedForm::Stack {
  std::vector<Row> acceleration, rate, normal, tangent;
  std::vector<Row> acceleration_low;  ///< what the last bits of the accelerations leave out; empty: not known

  template <class Visit>
  static void pairs(Stack& a, const Stack& b, const Visit& visit) {
    const auto lists = [&](std::vector<Row>& x, const std::vector<Row>& y) {
      for (std::size_t i = 0; i < x.size(); ++i) visit(x[i], y[i]);
    };
    lists(a.acceleration, b.acceleration);
    lists(a.rate, b.rate);
    lists(a.normal, b.normal);
    lists(a.tangent, b.tangent);
  }
  [[nodiscard]] std::vector<const Row*> all() const {
    std::vector<const Row*> out;
    for (const auto* list : {&acceleration, &rate, &normal, &tangent}) {
      for (const Row& row : *list) out.push_back(&row);
    }
    return out;
  }
  [[nodiscard]] std::vector<Row*> all() {
    std::vector<Row*> out;
    for (auto* list : {&acceleration, &rate, &normal, &tangent}) {
      for (Row& row : *list) out.push_back(&row);
    }
    return out;
  }
};

inline bool slips(TangentStatus status) {
  return status != TangentStatus::stick && status != TangentStatus::free;
}

}  // namespace judder::engines
