// All rooted trees up to an order, for the order conditions of Runge-Kutta methods (Hairer-Nørsett-Wanner I,
// II.2): a method has order p when Σ b_i Φ_i(τ) = 1/γ(τ) for every tree τ with at most p nodes.
#pragma once

#include <cstddef>
#include <vector>

namespace judder {

struct RootedTree {
  std::vector<int> children;  ///< indices of the subtrees at the root, never ascending
  int order = 1;              ///< number of nodes
  double density = 1;         ///< γ
};

/// Ordered by number of nodes; 1, 1, 2, 4, 9, 20, 48, 115 trees with 1 to 8 nodes.
class RootedTrees {
 public:
  explicit RootedTrees(int max_order) {
    trees_.push_back({});
    for (int order = 2; order <= max_order; ++order) {
      const int known = static_cast<int>(trees_.size());
      std::vector<int> children;
      attach(order - 1, known - 1, order, children);
    }
  }
  [[nodiscard]] const std::vector<RootedTree>& all() const { return trees_; }

  /// Φ_i(τ) for all trees and stages: Φ_i = Π over children c of Σ_j a_ij Φ_j(c).
  [[nodiscard]] std::vector<std::vector<long double>> weights(
      const std::vector<std::vector<double>>& a) const {
    const std::size_t stages = a.size();
    std::vector<std::vector<long double>> phi(trees_.size(), std::vector<long double>(stages, 1));
    for (std::size_t t = 0; t < trees_.size(); ++t) {
      for (std::size_t i = 0; i < stages; ++i) {
        for (int child : trees_[t].children) {
          long double sum = 0;
          for (std::size_t j = 0; j < stages; ++j) sum += a[i][j] * phi[static_cast<std::size_t>(child)][j];
          phi[t][i] *= sum;
        }
      }
    }
    return phi;
  }

 private:
  void attach(int nodes_left, int largest, int order, std::vector<int>& children) {
    if (nodes_left == 0) {
      RootedTree tree{children, order, static_cast<double>(order)};
      for (int child : children) tree.density *= trees_[static_cast<std::size_t>(child)].density;
      trees_.push_back(tree);
      return;
    }
    for (int child = largest; child >= 0; --child) {
      const int size = trees_[static_cast<std::size_t>(child)].order;
      if (size > nodes_left) continue;
      children.push_back(child);
      attach(nodes_left - size, child, order, children);
      children.pop_back();
    }
  }

  std::vector<RootedTree> trees_;
};

}  // namespace judder
