// Factors of a formula, and what is known of its sign without knowing its variables.
#include <algorithm>
#include <limits>
#include <optional>

#include "graph_data.hpp"

#include "core/elementary.hpp"

namespace judder::expr {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Bounds that hold for all values of the variables; `positive` where even a lower bound of zero is not reached.
struct Bounds {
  Number low = -kInfinity, high = kInfinity;
  bool positive = false;
};

Bounds bounds_of_call(Function function, const Bounds& x) {
  switch (function) {
    case Function::sin:
    case Function::cos:
    case Function::tanh:
      return {-1, 1, false};
    case Function::exp:
      return {0, kInfinity, true};
    case Function::cosh:
      return {1, kInfinity, true};
    case Function::sqrt:
      return {0, kInfinity, x.positive};
    case Function::hypot:
    case Function::acos:
      return {0, kInfinity, false};
    case Function::atan:
    case Function::asin:
      return {-1.5707963267948968, 1.5707963267948968, false};
    case Function::atan2:
      return {-3.1415926535897936, 3.1415926535897936, false};
    default:
      return {};
  }
}

Number root_of(const Number& x) {
  const double root = std::sqrt(x.raw());
  if (!x.open()) return root;
  return x.origin()->tape->make(Step::call, x, Number(), root, static_cast<std::uint32_t>(Function::sqrt));
}

/// The node whose square is a product of even powers, as factors; empty if it is no such product.
std::vector<Term> root_of_square(const Graph::Data& data, Node a) {
  std::vector<Term> out;
  if (data.at(a).kind != NodeKind::product) return out;
  for (const Term& factor : data.terms(a)) {
    if (!is_even(factor.coefficient) || factor.coefficient <= 0) return {};
    out.push_back({factor.coefficient / 2, factor.node});
  }
  return out;
}

}  // namespace

bool Graph::is_positive(Node a) const {
  const Data& data = *data_;
  const std::vector<std::uint32_t> order = data.parts(std::span(&a, 1), false);
  std::unordered_map<std::uint32_t, Bounds> known;
  for (const std::uint32_t index : order) {
    const Node node{index};
    const Entry& e = data.at(node);
    Bounds b;
    switch (e.kind) {
      case NodeKind::constant:
        b = {e.value, e.value, e.value > 0};
        break;
      case NodeKind::sum: {
        b = {e.value, e.value, e.value > 0};
        bool any_positive = b.positive, none_negative = e.value >= 0;
        for (const Term& term : data.terms(node)) {
          const Bounds& x = known[term.node.index];
          b.low += term.coefficient * (term.coefficient > 0 ? x.low : x.high);
          b.high += term.coefficient * (term.coefficient > 0 ? x.high : x.low);
          none_negative = none_negative && (term.coefficient > 0 ? x.low >= 0 : x.high <= 0);
          any_positive = any_positive || (term.coefficient > 0 && x.positive);
        }
        b.positive = b.low > 0 || (none_negative && any_positive);
        break;
      }
      case NodeKind::product: {
        bool positive = true, not_negative = true;
        for (const Term& factor : data.terms(node)) {
          const Bounds& x = known[factor.node.index];
          positive = positive && x.positive;
          not_negative = not_negative && (x.low >= 0 || is_even(factor.coefficient));
        }
        b = {positive || not_negative ? 0 : -kInfinity, kInfinity, positive};
        break;
      }
      case NodeKind::power: {
        const bool positive = known[data.operand(node, 0).index].positive;
        b = {positive ? 0 : -kInfinity, kInfinity, positive};
        break;
      }
      case NodeKind::call:
        b = bounds_of_call(e.function, known[data.operand(node, 0).index]);
        break;
      case NodeKind::side:
        if (data.switches[e.first].two_sided()) b = {0, 1, false};
        break;
      case NodeKind::sign:
        b = {-1, 1, false};
        break;
      default:
        break;
    }
    known[index] = b;
  }
  return known[a.index].positive;
}

Factored Graph::factored(Node a) {
  Data& data = *data_;
  Factored out;
  std::unordered_map<std::uint32_t, std::size_t>
      place;  // of a base among the factors: each square splits in two, so they can be many
  const auto add = [&](Node base, Number exponent) {
    data.spend(4);
    const auto [at, first] = place.try_emplace(base.index, out.factors.size());
    if (!first) {
      out.factors[at->second].exponent += exponent;
      return;
    }
    if (data.work != nullptr) data.work->keep(1);
    out.factors.push_back({base, exponent});
  };
  std::vector<Factor> open{{a, 1}};
  while (!open.empty()) {
    const Factor now = open.back();
    open.pop_back();
    data.spend(24);  // roots, sums and products are made to see whether it splits
    const Entry e = data.at(now.base);
    // A root of a product is not the product of the roots where signs are unknown.
    if (!is_whole(now.exponent)) {
      add(now.base, now.exponent);
      continue;
    }
    if (e.kind == NodeKind::constant) {
      out.coefficient *= plain_power(e.value, now.exponent);
      continue;
    }
    const std::span<const Term> view = data.terms(now.base);
    const std::vector<Term> terms(view.begin(), view.end());  // building nodes moves the pool
    if (e.kind == NodeKind::product) {
      for (std::size_t i = terms.size(); i-- > 0;)
        open.push_back({terms[i].node, terms[i].coefficient * now.exponent});
      continue;
    }
    if (e.kind == NodeKind::sum && terms.size() == 1 && e.value == 0) {
      out.coefficient *= plain_power(terms[0].coefficient, now.exponent);
      open.push_back({terms[0].node, now.exponent});
      continue;
    }
    // c A² − d B² = (√c A − √d B)(√c A + √d B), where one of the squares may be a constant.
    if (e.kind == NodeKind::sum && (terms.size() == 1 || (terms.size() == 2 && e.value == 0))) {
      const auto root = [&](const Term& term) -> std::optional<Node> {
        std::vector<Term> factors = root_of_square(data, term.node);
        if (factors.empty()) return std::nullopt;
        return data.scale(root_of(abs(term.coefficient)), data.product(1, std::move(factors)));
      };
      std::optional<Node> first = root(terms[0]);
      Number first_sign = terms[0].coefficient, second_sign = e.value;
      std::optional<Node> second;
      if (terms.size() == 2) {
        second = root(terms[1]);
        second_sign = terms[1].coefficient;
      } else {
        second = data.constant(root_of(abs(e.value)));
      }
      if (first && second && first_sign * second_sign < 0) {
        if (first_sign < 0) std::swap(first, second);
        const Node sum_node = this->add(*first, *second);
        const Node difference = this->subtract(*first, *second);
        open.push_back({sum_node, now.exponent});
        open.push_back({difference, now.exponent});
        continue;
      }
    }
    add(now.base, now.exponent);
  }
  out.factors.erase(
      std::remove_if(out.factors.begin(), out.factors.end(), [](const Factor& f) { return f.exponent == 0; }),
      out.factors.end());
  return out;
}

// What the form above the surface has more than the one below is c s: with c < 0 it is the smaller one where s > 0, and the larger one where s < 0. Formulas are
// linear in a side, so it is a derivative, in which what both have has gone.
int Graph::extreme(Node a, SwitchId id, Variable side) {
  if (!data_->switches[id].two_sided()) return 0;
  const Node difference = derivative(on_side(a, id, variable(side)), side);
  if (depends_on(difference, side)) return 0;
  const Factored more = factored(difference);
  const Factored surface = factored(data_->switches[id].surface);
  if (more.coefficient == 0 || surface.coefficient == 0) return 0;
  int sign = (more.coefficient < 0) == (surface.coefficient < 0) ? 1 : -1;
  // Brackets that differ by a number are one.
  const auto bracket = [&](const Factor& factor) {
    bool flipped = false;
    const Node base = data_->normalised(factor.base, flipped);
    if (flipped && std::fmod(factor.exponent.fixed("the form of a gap"), 2) != 0) sign = -sign;
    return base;
  };
  std::vector<Factor> left;
  for (const Factor& factor : surface.factors) {
    if (factor.exponent < 0) return 0;
    left.push_back({bracket(factor), factor.exponent});
  }
  for (const Factor& factor : more.factors) {
    if (is_positive(factor.base)) continue;
    const Node base = bracket(factor);
    const auto at = std::find_if(left.begin(), left.end(), [&](const Factor& f) { return f.base == base; });
    if (at == left.end() || at->exponent != factor.exponent) return 0;
    left.erase(at);
  }
  // What is positive in the surface changes no sign of it.
  const bool rest =
      std::any_of(left.begin(), left.end(), [&](const Factor& factor) { return !is_positive(factor.base); });
  return rest ? 0 : sign;
}

}  // namespace judder::expr
