#include "judder/expr/affine.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "expr/graph_data.hpp"

namespace judder::expr {
namespace {

constexpr int kHighestPower = 12;
constexpr std::size_t kMostTerms = 512;  ///< of one load; products of long sums are no loads any more

using Terms = std::vector<TimeTerm>;

/// Sums and products of loads.
class Loads {
 public:
  explicit Loads(Graph& graph) : g_(graph), zero_(graph.constant(0)) {}

  [[nodiscard]] Terms constant(Node value) const { return {{0, zero_, zero_, value, zero_}}; }
  [[nodiscard]] Terms power_of_time() const { return {{1, zero_, zero_, g_.constant(1), zero_}}; }
  [[nodiscard]] Terms exponential(Node rate, Node factor) const { return {{0, rate, zero_, factor, zero_}}; }
  [[nodiscard]] Terms harmonic(Node frequency, Node cosine, Node sine) const {
    return {{0, zero_, frequency, cosine, sine}};
  }

  /// Terms of the same kind become one.
  void add(Terms& to, const Terms& from, Node factor) const {
    for (const TimeTerm& term : from) {
      const Node cosine = g_.multiply(factor, term.cosine);
      const Node sine = g_.multiply(factor, term.sine);
      const auto same = std::find_if(to.begin(), to.end(), [&](const TimeTerm& other) {
        return other.power == term.power && other.rate == term.rate && other.frequency == term.frequency;
      });
      if (same == to.end()) {
        to.push_back({term.power, term.rate, term.frequency, cosine, sine});
      } else {
        same->cosine = g_.add(same->cosine, cosine);
        same->sine = g_.add(same->sine, sine);
      }
    }
  }

  /// cos a cos b = (cos(a − b) + cos(a + b))/2 and its companions.
  [[nodiscard]] std::optional<Terms> multiply(const Terms& a, const Terms& b) const {
    Terms out;
    const Node half = g_.constant(0.5);
    const Node one = g_.constant(1);
    for (const TimeTerm& x : a) {
      for (const TimeTerm& y : b) {
        if (x.power + y.power > kHighestPower || out.size() > kMostTerms) return std::nullopt;
        const int power = x.power + y.power;
        const Node rate = g_.add(x.rate, y.rate);
        const auto times = [this](Node p, Node q) { return g_.multiply(p, q); };
        if (still(x) || still(y)) {
          const Node factor = still(x) ? x.cosine : y.cosine;
          const TimeTerm& other = still(x) ? y : x;
          add(out, {{power, rate, other.frequency, times(factor, other.cosine), times(factor, other.sine)}},
              one);
          continue;
        }
        const Node cc = times(x.cosine, y.cosine);
        const Node ss = times(x.sine, y.sine);
        const Node sc = times(x.sine, y.cosine);
        const Node cs = times(x.cosine, y.sine);
        add(out, {{power, rate, g_.subtract(x.frequency, y.frequency), g_.add(cc, ss), g_.subtract(sc, cs)}},
            half);
        add(out, {{power, rate, g_.add(x.frequency, y.frequency), g_.subtract(cc, ss), g_.add(sc, cs)}},
            half);
      }
    }
    return out;
  }

 private:
  [[nodiscard]] bool still(const TimeTerm& term) const { return term.frequency == zero_; }

  Graph& g_;
  Node zero_;
};

bool free_of(const Graph& graph, Node a, std::span<const Variable> variables) {
  if (graph.is_constant(a)) return true;
  return std::none_of(variables.begin(), variables.end(), [&](Variable x) { return graph.depends_on(a, x); });
}

/// The addends of the expression as written: sums inside sums taken apart.
std::vector<Node> addends(const Graph& graph, Node root) {
  std::vector<Node> out, open{root};
  while (!open.empty()) {
    const Node a = open.back();
    open.pop_back();
    const auto terms = graph.data().terms(a);
    if (graph.data().at(a).kind != NodeKind::sum) {
      out.push_back(a);
      continue;
    }
    for (std::size_t i = terms.size(); i-- > 0;) open.push_back(terms[i].node);
  }
  return out;
}

}  // namespace

std::optional<std::vector<TimeTerm>> time_terms(Graph& graph, Node root, Variable t) {
  const Loads loads(graph);
  std::unordered_map<std::uint32_t, Terms> known;  // of the parts that depend on t and are loads
  const auto load_of = [&](Node a) -> std::optional<Terms> {
    if (!graph.depends_on(a, t)) return loads.constant(a);
    const auto found = known.find(a.index);
    if (found == known.end()) return std::nullopt;
    return found->second;
  };
  // u = slope t + offset, or nothing.
  const auto line = [&](Node u) -> std::optional<std::pair<Node, Node>> {
    const Node slope = graph.derivative(u, t);
    if (graph.depends_on(slope, t)) return std::nullopt;
    const std::array variables{t};
    const std::array zeros{graph.constant(0)};
    return std::pair{slope, graph.substitute_frozen(u, variables, zeros)};
  };
  const auto call = [&](Function function, Node argument) {
    const std::array arguments{argument};
    return graph.call(function, arguments);
  };
  const Node zero = graph.constant(0);
  const Node one = graph.constant(1);
  const std::array roots{root};
  for (const std::uint32_t index : graph.data().parts(roots, false)) {
    const Node a{index};
    if (!graph.depends_on(a, t)) continue;
    const Entry e = graph.data().at(a);
    const std::vector<Term> operands(graph.data().terms(a).begin(), graph.data().terms(a).end());
    std::optional<Terms> made;
    switch (e.kind) {
      case NodeKind::variable:
        made = loads.power_of_time();
        break;
      case NodeKind::sum: {
        made = loads.constant(graph.constant(e.value));
        if (e.value == 0) made->clear();
        for (const Term& operand : operands) {
          const std::optional<Terms> part = load_of(operand.node);
          if (!part) {
            made.reset();
            break;
          }
          loads.add(*made, *part, graph.constant(operand.coefficient));
        }
        break;
      }
      case NodeKind::product: {
        made = loads.constant(one);
        for (const Term& operand : operands) {
          std::optional<Terms> part;
          if (!graph.depends_on(operand.node, t)) {
            part = loads.constant(graph.power(operand.node, graph.constant(operand.coefficient)));
            made = loads.multiply(*made, *part);
          } else {
            part = load_of(operand.node);
            const Number count = operand.coefficient;
            if (!part || !is_whole(count) || count < 1 || count > kHighestPower) made.reset();
            for (int k = 0; made && k < static_cast<int>(count.fixed("the power of a load")); ++k)
              made = loads.multiply(*made, *part);
          }
          if (!made) break;
        }
        break;
      }
      case NodeKind::power: {
        // b^(σt + τ) = b^τ e^{σ log(b) t}
        if (graph.depends_on(operands[0].node, t)) break;
        const auto exponent = line(operands[1].node);
        if (!exponent) break;
        const Node logarithm = call(Function::log, operands[0].node);
        made = loads.exponential(graph.multiply(exponent->first, logarithm),
                                 graph.power(operands[0].node, exponent->second));
        break;
      }
      case NodeKind::call: {
        if (operands.size() != 1) break;
        const auto argument = line(operands[0].node);
        if (!argument) break;
        const Node slope = argument->first;
        const Node offset = argument->second;
        const auto both = [&](double second) {
          const Node half = graph.constant(0.5);
          Terms out = loads.exponential(slope, graph.multiply(half, call(Function::exp, offset)));
          loads.add(out, loads.exponential(graph.negate(slope), call(Function::exp, graph.negate(offset))),
                    graph.constant(0.5 * second));
          return out;
        };
        switch (e.function) {
          case Function::exp:
            made = loads.exponential(slope, call(Function::exp, offset));
            break;
          case Function::cos:
            made =
                loads.harmonic(slope, call(Function::cos, offset), graph.negate(call(Function::sin, offset)));
            break;
          case Function::sin:
            made = loads.harmonic(slope, call(Function::sin, offset), call(Function::cos, offset));
            break;
          case Function::cosh:
            made = both(1);
            break;
          case Function::sinh:
            made = both(-1);
            break;
          default:
            break;
        }
        break;
      }
      case NodeKind::select: {
        if (graph.depends_on(operands[0].node, t)) break;
        const std::optional<Terms> then = load_of(operands[1].node);
        const std::optional<Terms> otherwise = load_of(operands[2].node);
        if (!then || !otherwise) break;
        // Term by term, so that the branch that is not taken may be not a number.
        const auto part = [&](Node value, bool first) {
          return first ? graph.select(operands[0].node, value, zero)
                       : graph.select(operands[0].node, zero, value);
        };
        made.emplace();
        for (const bool first : {true, false}) {
          for (TimeTerm term : first ? *then : *otherwise) {
            term.rate = graph.select(operands[0].node, first ? term.rate : zero, first ? zero : term.rate);
            term.frequency =
                graph.select(operands[0].node, first ? term.frequency : zero, first ? zero : term.frequency);
            term.cosine = part(term.cosine, first);
            term.sine = part(term.sine, first);
            loads.add(*made, {term}, one);
          }
        }
        break;
      }
      default:
        break;
    }
    if (made) known.emplace(index, std::move(*made));
  }
  return load_of(root);
}

std::optional<AffineForm> affine_form(Graph& graph, Node f, std::span<const Variable> variables, Variable t,
                                      Obstacle& obstacle) {
  AffineForm out;
  const auto spoiled = [&](Obstacle::Kind kind, const auto& spoils) {
    obstacle = {kind, f};
    for (const Node part : addends(graph, f)) {
      if (!spoils(part)) continue;
      obstacle.part = part;
      break;
    }
    return std::optional<AffineForm>();
  };
  std::vector<Node> zeros(variables.size(), graph.constant(0));
  const std::vector<Variable> used = graph.variables(f);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (!std::binary_search(used.begin(), used.end(), variables[i])) continue;
    const Node slope = graph.derivative(f, variables[i]);
    if (!free_of(graph, slope, variables)) {
      return spoiled(Obstacle::Kind::not_affine, [&](Node part) {
        return std::any_of(variables.begin(), variables.end(), [&](Variable x) {
          return graph.depends_on(part, x) && !free_of(graph, graph.derivative(part, x), variables);
        });
      });
    }
    if (graph.depends_on(slope, t)) {
      return spoiled(Obstacle::Kind::varying_slope, [&](Node part) {
        return std::any_of(variables.begin(), variables.end(), [&](Variable x) {
          return graph.depends_on(part, x) && graph.depends_on(graph.derivative(part, x), t);
        });
      });
    }
    if (!(graph.is_constant(slope) && graph.value(slope) == 0)) out.slopes.emplace_back(i, slope);
  }
  const Node rest = graph.substitute_frozen(f, variables, zeros);
  if (graph.is_constant(rest) && graph.value(rest) == 0) return out;
  std::optional<Terms> load = time_terms(graph, rest, t);
  if (!load) {
    return spoiled(Obstacle::Kind::load, [&](Node part) {
      return !time_terms(graph, graph.substitute_frozen(part, variables, zeros), t);
    });
  }
  out.load = std::move(*load);
  return out;
}

}  // namespace judder::expr
