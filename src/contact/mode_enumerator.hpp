// All candidate modes of one round of a decision.
#pragma once

#include "mode_solver.hpp"

namespace judder::contact {

/// Goes through all candidate modes of a round, closed and sticking statuses first.
class Enumerator {
 public:
  Enumerator(const DecisionProblem& problem, const Rules& rules, DecisionWorkspace::Memory& memory)
      : p_(problem), rules_(rules), m_(memory) {
    for (int k = 0; k < p_.normals; ++k) {
      m_.choices[k] = 0;
      if (p_.kind == nullptr || p_.kind[k] == NormalKind::unilateral) {
        offer(k, RowStatus::closed);
        offer(k, RowStatus::open);
      } else if (has_friction(p_, rules_, k)) {
        offer(k, RowStatus::held_plus);
        offer(k, RowStatus::held_minus);
      } else {
        offer(k, RowStatus::held);
      }
    }
  }

  /// Number of candidate modes, or limit + 1 when there are more.
  int count(int limit) {
    long bound = 1;
    for (int k = 0; k < p_.normals; ++k) {
      bound *= m_.choices[k];
      if (bound > limit) return limit + 1;
    }
    long total = 0;
    if (!start(0, p_.normals)) return 0;
    do {
      long product = 1;
      offer_tangents();
      for (int j = p_.normals; j < p_.rows() && product <= limit; ++j) product *= m_.choices[j];
      total += product;
      if (total > limit) return limit + 1;
    } while (advance(0, p_.normals));
    return static_cast<int>(total);
  }

  template <class Visit>
  void visit(Visit&& f) {
    if (!start(0, p_.normals)) return;
    do {
      offer_tangents();
      if (!start(p_.normals, p_.rows())) continue;
      do f(m_.mode.data());
      while (advance(p_.normals, p_.rows()));
    } while (advance(0, p_.normals));
  }

 private:
  void offer(int row, RowStatus status) {
    if (p_.excluded != nullptr && (p_.excluded[row] & bit(status)) != 0) return;
    m_.choice[3 * row + m_.choices[row]++] = status;
  }

  void offer_tangents() {
    for (int j = 0; j < p_.tangents; ++j) {
      const int i = p_.normals + j;
      m_.choices[i] = 0;
      if (!can_carry(p_, rules_, m_.mode.data(), j)) {
        offer(i, RowStatus::free);
        continue;
      }
      switch (rules_.state[j]) {
        case TangentState::rest:
          offer(i, RowStatus::stick);
          offer(i, RowStatus::slip_plus);
          offer(i, RowStatus::slip_minus);
          break;
        case TangentState::slip_plus:
          offer(i, RowStatus::slip_plus);
          break;
        case TangentState::slip_minus:
          offer(i, RowStatus::slip_minus);
          break;
        case TangentState::follows:
          offer(i, RowStatus::follows);
          break;
        case TangentState::tied:
          offer(i, RowStatus::stick);
          break;
      }
    }
  }

  bool start(int from, int to) {
    for (int i = from; i < to; ++i) {
      if (m_.choices[i] == 0) return false;
      m_.digit[i] = 0;
      m_.mode[i] = m_.choice[3 * i];
    }
    return true;
  }

  bool advance(int from, int to) {
    for (int i = to - 1; i >= from; --i) {
      if (++m_.digit[i] < m_.choices[i]) {
        m_.mode[i] = m_.choice[3 * i + m_.digit[i]];
        return true;
      }
      m_.digit[i] = 0;
      m_.mode[i] = m_.choice[3 * i];
    }
    return false;
  }

  const DecisionProblem& p_;
  const Rules& rules_;
  DecisionWorkspace::Memory& m_;
};

}  // namespace judder::contact
