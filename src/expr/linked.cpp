#include "judder/expr/linked.hpp"

#include <algorithm>
#include <cmath>

#include "expr/graph_data.hpp"

namespace judder::expr {
namespace {

constexpr std::size_t kMostParts =
    512;  ///< terms after multiplying out; longer expressions are left to their program

constexpr std::size_t kMostTaken = 4 * kMostParts;

/// A branch of a `select` that an addend stands in.
struct Gate {
  Node condition;
  bool then = true;
};

/// factor · node, an addend still to be taken apart.
struct Addend {
  Node node;
  Node factor;
  std::vector<Gate> gates;
};

class Linking {
 public:
  Linking(Graph& graph, std::span<const Variable> variables, Variable t)
      : g_(graph), variables_(variables), t_(t), zero_(graph.constant(0)) {
    out_.rest = zero_;
  }

  std::optional<LinkedForm> form(Node f) {
    open_.push_back({f, g_.constant(1), {}});
    // Brackets inside brackets meet again and again in the same links: the work is bounded, not only the result.
    for (std::size_t taken = 0; !open_.empty(); ++taken) {
      if (taken > kMostTaken) return std::nullopt;
      const Addend addend = std::move(open_.back());
      open_.pop_back();
      if (!take(addend) || out_.parts.size() + open_.size() > kMostParts) return std::nullopt;
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool constant(Node a) const { return free(a) && !g_.depends_on(a, t_); }
  [[nodiscard]] bool free(Node a) const {
    return std::none_of(variables_.begin(), variables_.end(),
                        [&](Variable x) { return g_.depends_on(a, x); });
  }
  /// Number of the variable that the node is, or −1.
  [[nodiscard]] int number(Node a) const {
    if (g_.data().at(a).kind != NodeKind::variable) return -1;
    const auto place = std::find(variables_.begin(), variables_.end(), g_.data().at(a).first);
    return place == variables_.end() ? -1 : static_cast<int>(place - variables_.begin());
  }
  /// Zero on the branches that are not taken, whatever stands there.
  [[nodiscard]] Node gated(Node value, const std::vector<Gate>& gates) {
    for (std::size_t i = gates.size(); i-- > 0;)
      value = gates[i].then ? g_.select(gates[i].condition, value, zero_)
                            : g_.select(gates[i].condition, zero_, value);
    return value;
  }
  void add_rest(const Addend& addend) {
    out_.rest = g_.add(out_.rest, gated(g_.multiply(addend.factor, addend.node), addend.gates));
  }
  void add_link(const Link& link, Node factor, const std::vector<Gate>& gates) {
    const Node value = gated(factor, gates);
    for (auto& [other, sum] : out_.parts) {
      if (!(other == link)) continue;
      sum = g_.add(sum, value);
      return;
    }
    out_.parts.emplace_back(link, value);
  }

  bool take(const Addend& addend) {
    if (free(addend.node)) {
      add_rest(addend);
      return true;
    }
    const Entry e = g_.data().at(addend.node);
    const std::vector<Term> operands(g_.data().terms(addend.node).begin(),
                                     g_.data().terms(addend.node).end());
    switch (e.kind) {
      case NodeKind::variable:
        add_link({{{static_cast<std::size_t>(number(addend.node)), 1.0}}, zero_}, addend.factor,
                 addend.gates);
        return true;
      case NodeKind::sum:
        take_sum(addend, e.value, operands);
        return true;
      case NodeKind::product:
        return take_product(addend, operands);
      case NodeKind::select: {
        if (!constant(operands[0].node)) return false;
        for (const bool then : {false, true}) {
          Addend branch{operands[then ? 1 : 2].node, addend.factor, addend.gates};
          branch.gates.push_back({operands[0].node, then});
          open_.push_back(std::move(branch));
        }
        return true;
      }
      default:
        return false;
    }
  }

  void take_sum(const Addend& addend, Number value, const std::vector<Term>& operands) {
    Link link;
    Node offset = g_.constant(value);
    std::size_t addends = value != 0 ? 1 : 0;
    for (const Term& term : operands) {
      const int variable = abs(term.coefficient) == 1 ? number(term.node) : -1;
      if (variable >= 0) {
        link.terms.emplace_back(variable, term.coefficient.fixed("how coordinates are linked"));
      } else if (constant(term.node)) {
        offset = g_.add(offset, g_.multiply(g_.constant(term.coefficient), term.node));
      } else {
        continue;
      }
      ++addends;
    }
    const bool together = !link.terms.empty() && addends > 1;
    if (together) {
      link.offset = offset;
      add_link(link, addend.factor, addend.gates);
    }
    // The rest, the last first: they are taken from the end.
    for (std::size_t i = operands.size(); i-- > 0;) {
      const Term& term = operands[i];
      const bool linked = constant(term.node) || (abs(term.coefficient) == 1 && number(term.node) >= 0);
      if (together && linked) continue;
      open_.push_back({term.node, g_.multiply(addend.factor, g_.constant(term.coefficient)), addend.gates});
    }
    if (!together && value != 0) add_rest({g_.constant(value), addend.factor, addend.gates});
  }

  bool take_product(const Addend& addend, const std::vector<Term>& operands) {
    Node factor = addend.factor;
    Node inner = addend.node;
    for (const Term& operand : operands) {
      if (constant(operand.node)) {
        factor = g_.multiply(factor, g_.power(operand.node, g_.constant(operand.coefficient)));
        continue;
      }
      if (inner != addend.node || operand.coefficient != 1 || free(operand.node)) return false;
      inner = operand.node;
    }
    open_.push_back({inner, factor, addend.gates});
    return true;
  }

  Graph& g_;
  std::span<const Variable> variables_;
  Variable t_;
  Node zero_;
  std::vector<Addend> open_;
  LinkedForm out_;
};

}  // namespace

std::optional<LinkedForm> linked_form(Graph& graph, Node f, std::span<const Variable> variables, Variable t) {
  return Linking(graph, variables, t).form(f);
}

}  // namespace judder::expr
