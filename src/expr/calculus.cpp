// Derivatives, substitution and polynomial degree.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "expr/graph_data.hpp"
#include "judder/expr/through.hpp"

namespace judder::expr {

namespace {

std::uint64_t key(Node a, Variable x) { return (std::uint64_t{a.index} << 32) | x; }

/// f'(u) of a function of one argument; f is the node f(u) itself, because many derivatives are cheap in terms of it.
Node outer_derivative(Graph& g, Function function, Node f, Node u) {
  const Node one = g.constant(1), two = g.constant(2);
  const auto call = [&](Function h, Node a) {
    const std::array arguments{a};
    return g.call(h, arguments);
  };
  const auto square = [&](Node a) { return g.power(a, two); };
  switch (function) {
    case Function::sin:
      return call(Function::cos, u);
    case Function::cos:
      return g.negate(call(Function::sin, u));
    case Function::tan:
      return g.add(square(f), one);
    case Function::asin:
      return g.divide(one, call(Function::sqrt, g.subtract(one, square(u))));
    case Function::acos:
      return g.divide(g.constant(-1), call(Function::sqrt, g.subtract(one, square(u))));
    case Function::atan:
      return g.divide(one, g.add(square(u), one));
    case Function::sinh:
      return call(Function::cosh, u);
    case Function::cosh:
      return call(Function::sinh, u);
    case Function::tanh:
      return g.subtract(one, square(f));
    case Function::asinh:
      return g.divide(one, call(Function::sqrt, g.add(square(u), one)));
    case Function::acosh:
      return g.divide(
          one, g.multiply(call(Function::sqrt, g.subtract(u, one)), call(Function::sqrt, g.add(u, one))));
    case Function::atanh:
      return g.divide(one, g.subtract(one, square(u)));
    case Function::exp:
      return f;
    case Function::log:
      return g.divide(one, u);
    case Function::sqrt:
      return g.divide(g.constant(0.5), f);
    case Function::cbrt:
      return g.divide(one, g.multiply(g.constant(3), square(f)));
    case Function::atan2:
    case Function::hypot:
      break;
  }
  return one;
}

}  // namespace

Node Graph::derivative(Node root, Variable x) {
  Data& d = *data_;
  const std::uint64_t bit = std::uint64_t{1} << (x % 64);
  const Node zero = constant(0);
  if ((d.at(root).mask & bit) == 0) return zero;

  const auto known = [&](Node a) {
    if ((d.at(a).mask & bit) == 0) return zero;
    const auto found = d.derivatives.find(key(a, x));
    return found == d.derivatives.end() ? Node{~std::uint32_t{0}} : found->second;
  };
  const Node unknown{~std::uint32_t{0}};
  // f'/f as factors, where f grows beyond all numbers while f'/f does not: what stands below a line, as cosh(u) or 1 + exp(u), makes the whole
  // small there, and its derivative must not become inf/inf.
  const auto take_logarithmic_slope = [&](Node f, std::vector<Term>& factors) {
    const Entry e = d.at(f);
    if (e.kind == NodeKind::call && e.function == Function::cosh) {
      const std::array argument{d.terms(f)[0].node};
      factors.push_back({1, call(Function::tanh, argument)});
      factors.push_back({1, known(argument[0])});
      return true;
    }
    if (e.kind != NodeKind::sum || e.count != 1) return false;
    const Term term = d.terms(f)[0];
    const Entry inner = d.at(term.node);
    if (inner.kind != NodeKind::call || inner.function != Function::exp) return false;
    const Node u = d.terms(term.node)[0].node;
    const std::array opposite{negate(u)};
    factors.push_back({1, known(u)});
    factors.push_back({-1, d.sum({{e.value / term.coefficient, call(Function::exp, opposite)}}, 1)});
    return true;
  };

  std::vector<Node> stack{root};
  std::vector<Term> operands;
  while (!stack.empty()) {
    const Node a = stack.back();
    d.spend(2);
    if (known(a) != unknown) {
      stack.pop_back();
      continue;
    }
    bool ready = true;
    operands.assign(d.terms(a).begin(), d.terms(a).end());
    d.spend(operands.size());
    for (const Term& t : operands) {
      if (known(t.node) == unknown) {
        stack.push_back(t.node);
        ready = false;
      }
    }
    if (!ready) continue;
    stack.pop_back();

    const Entry e = d.at(a);
    const auto slope = [&](std::size_t i) { return known(operands[i].node); };
    Node result = zero;
    switch (e.kind) {
      case NodeKind::constant:
      case NodeKind::side:
      case NodeKind::sign:
      case NodeKind::lookup:
        break;
      case NodeKind::variable:
        result = constant(e.first == x ? 1 : 0);
        break;
      case NodeKind::sum: {
        std::vector<Term> terms;
        for (std::size_t i = 0; i < operands.size(); ++i)
          terms.push_back({operands[i].coefficient, slope(i)});
        result = d.sum(std::move(terms), 0);
        break;
      }
      case NodeKind::product: {
        std::vector<Term> terms;
        for (std::size_t i = 0; i < operands.size(); ++i) {
          if (d.is_constant(slope(i), 0)) continue;
          d.spend(operands.size());
          std::vector<Term> factors = operands;
          if (operands[i].coefficient < 0 && take_logarithmic_slope(operands[i].node, factors)) {
            terms.push_back({1, d.product(operands[i].coefficient, std::move(factors))});
            continue;
          }
          factors[i].coefficient -= 1;
          factors.push_back({1, slope(i)});
          terms.push_back({1, d.product(operands[i].coefficient, std::move(factors))});
        }
        result = d.sum(std::move(terms), 0);
        break;
      }
      case NodeKind::power: {
        const Node base = operands[0].node, exponent = operands[1].node;
        const std::array base_only{base};
        Node rate = multiply(slope(1), call(Function::log, base_only));
        if (!d.is_constant(slope(0), 0)) {
          rate = add(rate, divide(multiply(exponent, slope(0)), base));
        }
        result = multiply(a, rate);
        break;
      }
      case NodeKind::call:
        if (e.function == Function::hypot) {
          std::vector<Term> terms;
          for (std::size_t i = 0; i < operands.size(); ++i) {
            terms.push_back({1, d.product(1, {{1, operands[i].node}, {1, slope(i)}, {-1, a}})});
          }
          result = d.sum(std::move(terms), 0);
        } else if (e.function == Function::atan2) {
          const Node y = operands[0].node, u = operands[1].node;
          const Node squares = add(multiply(u, u), multiply(y, y));
          result = divide(subtract(multiply(u, slope(0)), multiply(y, slope(1))), squares);
        } else {
          result = multiply(outer_derivative(*this, e.function, a, operands[0].node), slope(0));
        }
        break;
      case NodeKind::select:
        result = d.select(operands[0].node, slope(1), slope(2));
        break;
      case NodeKind::turn:
        result = slope(1);
        break;
      case NodeKind::flat: {
        const Node u = operands[0].node;
        Node outer = d.flat(u, e.extra + 2);
        if (e.extra > 0) outer = subtract(outer, d.scale(e.extra, d.flat(u, e.extra + 1)));
        result = multiply(outer, slope(0));
        break;
      }
      case NodeKind::outside: {
        std::vector<Node> arguments;
        for (const Term& t : operands) arguments.push_back(t.node);
        const OutsideUse use = d.outside_uses[e.extra];
        std::vector<Term> terms;
        for (std::size_t i = 0; i < operands.size(); ++i) {
          if (d.is_constant(slope(i), 0)) continue;
          OutsideUse partial = use;
          ++partial.orders[i];
          terms.push_back({1, multiply(d.call_outside(partial, arguments), slope(i))});
        }
        result = d.sum(std::move(terms), 0);
        break;
      }
    }
    if (d.work != nullptr) d.work->keep(1);
    d.derivatives.emplace(key(a, x), result);
  }
  return known(root);
}

Node Graph::substitute(Node a, std::span<const Variable> variables, std::span<const Node> values) {
  return replace(a, variables, values, true);
}

Node Graph::substitute_frozen(Node a, std::span<const Variable> variables, std::span<const Node> values) {
  return replace(a, variables, values, false);
}

Node Graph::on_side(Node a, SwitchId id, Node side) {
  const Side known{id, side};
  return replace(a, {}, {}, false, &known);
}

Node Graph::replace(Node root, std::span<const Variable> variables, std::span<const Node> values,
                    bool surfaces, const Side* side) {
  Data& d = *data_;
  std::unordered_map<std::uint32_t, Node> replaced;
  const std::array roots{root};
  const auto image = [&](Node a) {
    const auto found = replaced.find(a.index);
    return found == replaced.end() ? a : found->second;
  };
  for (const std::uint32_t index : d.parts(roots, surfaces)) {
    const Node a{index};
    const Entry e = d.at(a);
    if (e.kind == NodeKind::constant) continue;
    if (e.kind == NodeKind::variable) {
      const auto at = std::find(variables.begin(), variables.end(), e.first);
      if (at != variables.end()) replaced[index] = values[static_cast<std::size_t>(at - variables.begin())];
      continue;
    }
    if (e.kind == NodeKind::side || e.kind == NodeKind::sign) {
      if (side != nullptr && e.first == side->id)
        replaced[index] =
            e.kind == NodeKind::sign ? add(multiply(constant(2), side->value), constant(-1)) : side->value;
      if (!surfaces) continue;
      // A copy: building the image may add switches.
      const Switch s = d.switches[e.first];
      const Node surface = image(s.surface);
      if (surface == s.surface) continue;
      Node made{};
      if (e.kind == NodeKind::sign) {
        made = d.two_sided_sign(surface, s.kind, s.place);
      } else if (s.two_sided()) {
        made = d.two_sided_side(surface, e.value.raw(), s.kind, s.place);
      } else if (d.is_constant(surface)) {
        const double at = d.at(surface).value.fixed("on which level a formula stands");
        made = constant(s.whole ? std::floor(at) : level_of(s.levels, at));
      } else {
        made = d.level_side(d.find_levels(surface, s.levels, s.whole, s.kind, s.place));
      }
      replaced[index] = made;
      continue;
    }
    std::vector<Term> operands(d.terms(a).begin(), d.terms(a).end());
    bool changed = false;
    for (Term& t : operands) {
      const Node to = image(t.node);
      changed = changed || to != t.node;
      t.node = to;
    }
    if (!changed) continue;
    Node made{};
    switch (e.kind) {
      case NodeKind::sum:
        made = d.sum(std::move(operands), e.value);
        break;
      case NodeKind::product:
        made = d.product(1, std::move(operands));
        break;
      case NodeKind::power:
        made = power(operands[0].node, operands[1].node);
        break;
      case NodeKind::call: {
        std::vector<Node> arguments;
        for (const Term& t : operands) arguments.push_back(t.node);
        made = d.call(e.function, arguments);
        break;
      }
      case NodeKind::select:
        if (side != nullptr && !d.is_constant(operands[0].node)) {  // linear in what stands for the side
          const Node more = subtract(operands[1].node, operands[2].node);
          made = add(operands[2].node, multiply(operands[0].node, more));
          break;
        }
        made = d.select(operands[0].node, operands[1].node, operands[2].node);
        break;
      case NodeKind::lookup:
        made = d.lookup(operands[0].node, e.extra);
        break;
      case NodeKind::turn:
        made = d.turn(operands[0].node, operands[1].node);
        break;
      case NodeKind::flat:
        made = d.flat(operands[0].node, e.extra);
        break;
      case NodeKind::outside: {
        std::vector<Node> arguments;
        for (const Term& t : operands) arguments.push_back(t.node);
        made = d.call_outside(OutsideUse(d.outside_uses[e.extra]), arguments);
        break;
      }
      default:
        made = a;
        break;
    }
    replaced[index] = made;
    const auto alias = d.aliases.find(index);
    if (alias != d.aliases.end() && side == nullptr) {  // on one side of it max(a, b) is no max any more
      std::vector<Node> arguments = alias->second.arguments;
      for (Node& b : arguments) b = image(b);
      d.write_as(made, std::string(alias->second.name), std::move(arguments));
    }
  }
  return image(root);
}

namespace {

constexpr int kNotPolynomial = 1 << 20;

/// An upper bound of the degree by structure alone.
int degree_bound(const Graph::Data& d, Node root, const std::vector<bool>& chosen) {
  std::unordered_map<std::uint32_t, int> degree;
  const std::array roots{root};
  for (const std::uint32_t i : d.parts(roots, false)) {
    const Entry& e = d.entries[i];
    const auto terms = d.terms(Node{i});
    long bound = 0;
    switch (e.kind) {
      case NodeKind::variable:
        bound = chosen[e.first] ? 1 : 0;
        break;
      case NodeKind::sum:
        for (const Term& t : terms) bound = std::max<long>(bound, degree[t.node.index]);
        break;
      case NodeKind::product:
        for (const Term& t : terms) {
          const int inner = degree[t.node.index];
          if (inner == 0) continue;
          const bool polynomial = is_whole(t.coefficient) && t.coefficient > 0 && t.coefficient < 1000;
          bound += polynomial ? inner * static_cast<long>(t.coefficient.fixed("the degree of a polynomial"))
                              : kNotPolynomial;
        }
        break;
      case NodeKind::select:
        bound = std::max(degree[terms[1].node.index], degree[terms[2].node.index]);
        break;
      default:
        for (const Term& t : terms)
          bound = std::max<long>(bound, degree[t.node.index] == 0 ? 0 : kNotPolynomial);
        break;
    }
    degree[i] = static_cast<int>(std::min<long>(bound, kNotPolynomial));
  }
  return degree[root.index];
}

bool degree_at_most(Graph& g, Node a, std::span<const Variable> variables, std::size_t from, int degree,
                    const std::vector<bool>& chosen) {
  if (degree >= 0 && degree_bound(g.data(), a, chosen) <= degree) return true;
  if (degree < 0) return g.is_constant(a) && g.value(a) == 0;
  // Mixed derivatives do not depend on the order, so later variables need not look back.
  for (std::size_t i = from; i < variables.size(); ++i) {
    if (!degree_at_most(g, g.derivative(a, variables[i]), variables, i, degree - 1, chosen)) return false;
  }
  return true;
}

/// By how much each of these parts grows with t in the mean: floor(u) like u, so that mod(t, 2) does not grow at all; a sine and a side do not either.
/// Nothing: it is not known.
std::vector<std::optional<Number>> mean_rates(const Graph::Data& d, std::span<const std::uint32_t> parts,
                                              Variable t) {
  std::vector<std::optional<Number>> rate(d.entries.size());
  for (const std::uint32_t i : parts) {
    const Entry& e = d.entries[i];
    const auto terms = d.terms(Node{i});
    switch (e.kind) {
      case NodeKind::constant:
        rate[i] = 0;
        break;
      case NodeKind::variable:
        rate[i] = e.first == t ? 1.0 : 0.0;
        break;
      case NodeKind::sum: {
        Number sum = 0, size = 0;
        bool known = true;
        for (const Term& term : terms) {
          known = known && rate[term.node.index];
          if (!known) break;
          sum += term.coefficient * *rate[term.node.index];
          size += abs(term.coefficient * *rate[term.node.index]);
        }
        constexpr double kRounding = 16 * std::numeric_limits<double>::epsilon();
        if (known) rate[i] = abs(sum) <= kRounding * size ? Number(0) : sum;
        break;
      }
      case NodeKind::side:
        if (d.switches[e.first].two_sided())
          rate[i] = 0;
        else if (d.switches[e.first].whole)
          rate[i] = rate[d.switches[e.first].surface.index];
        break;
      case NodeKind::sign:
        rate[i] = 0;
        break;
      default: {
        bool grows = e.kind != NodeKind::call || (e.function != Function::sin && e.function != Function::cos);
        if (grows)
          grows = std::any_of(terms.begin(), terms.end(), [&](const Term& term) {
            return !rate[term.node.index] || *rate[term.node.index] != 0;
          });
        if (!grows) rate[i] = 0;
        break;
      }
    }
  }
  return rate;
}

/// Tells every part that repeats by its form: its argument, and after what growth of it.
template <class Note>
void each_wave(const Graph::Data& d, std::span<const std::uint32_t> parts, const Note& note) {
  constexpr double kPi = 3.141592653589793;
  for (const std::uint32_t i : parts) {
    const Entry entry = d.entries[i];
    if (entry.kind == NodeKind::call) {
      const Node argument = d.operand(Node{i}, 0);
      if (entry.function == Function::sin || entry.function == Function::cos) note(argument, 2 * kPi);
      if (entry.function == Function::tan) note(argument, kPi);
    } else if (entry.kind == NodeKind::side) {
      const Node surface = d.switches[entry.first].surface;
      if (d.switches[entry.first].whole) note(surface, 1.0);
    }
  }
}

}  // namespace

std::vector<double> Graph::periods(std::span<const Node> nodes, Variable t) {
  std::vector<double> found;
  for (const Number& period : period_numbers(nodes, t)) found.push_back(period.raw());
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<Number> Graph::period_numbers(std::span<const Node> nodes, Variable t) {
  std::vector<Number> found;
  const auto parts = data_->parts(nodes, true);
  const std::vector<std::optional<Number>> rates = mean_rates(*data_, parts, t);
  each_wave(*data_, parts, [&](Node argument, double turn) {
    std::optional<Number> rate = rates[argument.index];
    if (!rate) {
      const Node slope = derivative(argument, t);
      if (is_constant(slope)) rate = value(slope);
    }
    if (rate && *rate != 0) found.push_back(turn / abs(*rate));
  });
  return found;
}

std::vector<double> periods_through(const Graph& graph, std::span<const Node> roots, Variable x) {
  std::vector<double> found;
  const auto parts = graph.data().parts(roots, true);
  const std::vector<std::optional<Number>> rates = mean_rates(graph.data(), parts, x);
  each_wave(graph.data(), parts, [&](Node argument, double turn) {
    const std::optional<Number>& rate = rates[argument.index];
    if (rate && *rate != 0) found.push_back(turn / std::abs(rate->raw()));
  });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool Graph::polynomial_degree_at_most(Node a, std::span<const Variable> variables, int degree) {
  std::vector<bool> chosen(data_->names.size());
  for (const Variable x : variables) chosen[x] = true;
  return degree_at_most(*this, a, variables, 0, degree, chosen);
}

}  // namespace judder::expr
