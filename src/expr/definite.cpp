// Formulas whose sign or bounds are known from their structure: abs(x), max(0, x), mod(x, 2), cos(x), their sums, products and multiples.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "expr/graph_data.hpp"

#include "core/elementary.hpp"

namespace judder::expr {
namespace {

constexpr int kMostNodes = 64;  ///< looked at before the sign counts as unknown

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLastBit = 0x1p-53;
constexpr double kSame = 1e-12;  ///< relative difference of coefficients that is rounding

/// c · [low, high]; nothing times infinity is nothing.
Extent times(const Number& c, const Extent& b) {
  if (c == 0) return {0, 0};
  return c > 0 ? Extent{c * b.low, c * b.high} : Extent{c * b.high, c * b.low};
}

Extent product_of(const Extent& a, const Extent& b) {
  const auto of = [](const Number& x, const Number& y) { return x == 0 || y == 0 ? Number(0) : x * y; };
  Extent out{of(a.low, b.low), of(a.low, b.low)};
  for (const Number& each : {of(a.low, b.high), of(a.high, b.low), of(a.high, b.high)})
    out = {min(out.low, each), max(out.high, each)};
  return out;
}

Extent power_of(const Extent& base, const Number& exponent) {
  const Number low = plain_power(base.low, exponent);
  const Number high = plain_power(base.high, exponent);
  if (base.low >= 0)
    return exponent > 0 ? Extent{low, high} : Extent{high, base.low > 0 ? low : Number(kInfinity)};
  if (exponent > 0 && is_even(exponent)) return {base.high < 0 ? high : Number(0), max(low, high)};
  if (exponent > 0 && is_whole(exponent)) return {low, high};
  return {-kInfinity, kInfinity};
}

}  // namespace

int Graph::only_sign(Node a) const { return data_->sign_of(a); }

void Graph::assume_size(Node a) { data_->sizes.push_back(a.index); }

int Graph::Data::size_sign(Node a) const {
  int sign = 1;
  while (is_multiple(a)) {
    if (terms(a)[0].coefficient < 0) sign = -sign;
    a = terms(a)[0].node;
  }
  return std::find(sizes.begin(), sizes.end(), a.index) != sizes.end() ? sign : 0;
}

int Graph::Data::ratio_sign(std::span<const Term> factors, Node b) const {
  // c · b' for b, with the sign of c in `sign`.
  int sign = 1;
  while (is_multiple(b)) {
    if (terms(b)[0].coefficient < 0) sign = -sign;
    b = terms(b)[0].node;
  }
  if (at(b).kind == NodeKind::product) {
    const auto other = terms(b);
    const bool equal = std::equal(
        factors.begin(), factors.end(), other.begin(), other.end(),
        [](const Term& x, const Term& y) { return x.node == y.node && x.coefficient == y.coefficient; });
    return equal ? sign : 0;
  }
  if (factors.size() != 1 || factors[0].coefficient != 1) return 0;
  const Node a = factors[0].node;
  if (a == b) return sign;
  if (at(a).kind != NodeKind::sum || at(b).kind != NodeKind::sum) return 0;
  const auto one = terms(a);
  const auto two = terms(b);
  if (one.size() != two.size()) return 0;
  const Number ratio = one[0].coefficient / two[0].coefficient;
  const auto differs = [&ratio](const Number& x, const Number& y) {
    return abs(x - ratio * y) > 1e-12 * abs(x);
  };
  if (differs(at(a).value, at(b).value)) return 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i].node != two[i].node || differs(one[i].coefficient, two[i].coefficient)) return 0;
  }
  return ratio > 0 ? sign : -sign;
}

int Graph::Data::sign_of_product(std::span<const Term> factors, int& budget) const {
  // A switch times its own surface, as in sign(x) x and step(x) x; 1 − step(x) belongs to −x.
  std::vector<Term> rest;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (factors[i].coefficient != 1) continue;
    const Entry* side = &at(factors[i].node);
    int sign = 1;
    if (side->kind == NodeKind::sum && side->count == 1 && abs(side->value) == 1 &&
        terms(factors[i].node)[0].coefficient == -side->value) {
      sign = side->value > 0 ? -1 : 1;  // step(x) − 1 is its negative
      side = &at(terms(factors[i].node)[0].node);
      if (side->kind != NodeKind::side) continue;
    }
    if (side->kind != NodeKind::side && side->kind != NodeKind::sign) continue;
    if (!switches[side->first].two_sided()) continue;
    rest.assign(factors.begin(), factors.end());
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    const int found = ratio_sign(rest, switches[side->first].surface);
    if (found != 0) return sign * found;
    // The same beside other factors: |x| |y|.
    for (std::size_t j = 0; j < rest.size(); ++j) {
      if (rest[j].coefficient != 1) continue;
      const int own = ratio_sign(std::span<const Term>(&rest[j], 1), switches[side->first].surface);
      if (own == 0) continue;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(j));
      return sign * own * sign_of_product(rest, budget);
    }
  }
  int sign = 1;
  rest.clear();
  bool simpler = false;  // odd powers have the sign of the first
  for (const Term& f : factors) {
    if (is_even(f.coefficient) || !is_whole(f.coefficient)) continue;
    const int own = sign_of(f.node, budget);
    if (own == 0) {
      rest.push_back({1, f.node});
      simpler = simpler || f.coefficient != 1;
    } else {
      sign *= own;
    }
  }
  if (rest.empty()) return sign;
  return simpler || rest.size() < factors.size() ? sign * sign_of_product(rest, budget) : 0;
}

int Graph::Data::sign_of(Node a) const {
  int budget = kMostNodes;
  return sign_of(a, budget);
}

int Graph::Data::sign_of(Node a, int& budget) const {
  if (--budget < 0) return 0;
  if (std::find(sizes.begin(), sizes.end(), a.index) != sizes.end()) return 1;
  const Entry& e = at(a);
  switch (e.kind) {
    case NodeKind::constant:
      return e.value >= 0 ? 1 : -1;
    case NodeKind::side:
      return switches[e.first].two_sided() ? 1 : 0;
    case NodeKind::sum: {
      int sign = e.value > 0 ? 1 : e.value < 0 ? -1 : 0;
      for (const Term& t : terms(a)) {
        const int own = t.coefficient > 0 ? sign_of(t.node, budget) : -sign_of(t.node, budget);
        if (own == 0 || own * sign < 0) {
          const Extent range = range_of_sum(a, budget);
          return range.low >= 0 ? 1 : range.high <= 0 ? -1 : 0;
        }
        sign = own;
      }
      return sign;
    }
    case NodeKind::product:
      return sign_of_product(terms(a), budget);
    case NodeKind::select: {
      // max(x, −x): each branch is the surface, or its negative, where it is taken.
      const Entry& side = at(terms(a)[0].node);
      const bool known = side.kind == NodeKind::side && switches[side.first].two_sided();
      const auto branch = [&](std::size_t i, int taken) {
        std::array factor{Term{1, terms(a)[i].node}};
        int sign = taken;
        while (is_multiple(factor[0].node)) {
          if (terms(factor[0].node)[0].coefficient < 0) sign = -sign;
          factor[0].node = terms(factor[0].node)[0].node;
        }
        const int own = known ? sign * ratio_sign(factor, switches[side.first].surface) : 0;
        return own != 0 ? own : sign_of(terms(a)[i].node, budget);
      };
      const int above = branch(1, 1);
      return above != 0 && above == branch(2, -1) ? above : 0;
    }
    case NodeKind::call:
      return e.function == Function::sqrt || e.function == Function::exp || e.function == Function::cosh ||
                     e.function == Function::hypot
                 ? 1
                 : 0;
    case NodeKind::flat:
      return 1;
    default:
      return 0;
  }
}

// A sum written with what its sums and multiples are made of: coefficient by node. False: too many.
bool Graph::Data::add_flat(Node a, const Number& factor, FlatSum& out, int& budget) const {
  if (--budget < 0) return false;
  const Entry& e = at(a);
  if (e.kind != NodeKind::sum) {
    out.of[a.index] += factor;
    return true;
  }
  out.value += factor * e.value;
  for (const Term& t : terms(a)) {
    if (!add_flat(t.node, factor * t.coefficient, out, budget)) return false;
  }
  return true;
}

// mod(x, b) is x − b floor(x/b): such pairs are taken out of the sum, and what is left is bounded term by term.
Extent Graph::Data::range_of_sum(Node a, int& budget) const {
  const Extent kAnything{-kInfinity, kInfinity};
  FlatSum whole;
  if (!add_flat(a, 1, whole, budget)) return kAnything;
  Extent out{0, 0};
  const FlatSum given = whole;
  for (const auto& [node, coefficient] : given.of) {
    const Entry& side = entries[node];
    if (side.kind != NodeKind::side || !switches[side.first].whole) continue;
    FlatSum argument;
    if (!add_flat(switches[side.first].surface, -coefficient, argument, budget)) return kAnything;
    // All of the argument, or more of it, stands beside its side.
    const bool inside =
        whole.of.contains(node) && std::all_of(argument.of.begin(), argument.of.end(), [&](const auto& part) {
          const auto found = whole.of.find(part.first);
          if (found == whole.of.end()) return false;
          const Number share = part.second / found->second;
          return share > 0 && share <= 1 + kSame;
        });
    if (!inside) continue;
    for (const auto& part : argument.of) {
      Number& left = whole.of[part.first];
      left = abs(left - part.second) <= kSame * abs(left) ? Number(0) : left - part.second;
    }
    whole.of.erase(node);
    const Number left = whole.value - argument.value;
    whole.value = abs(left) <= kSame * abs(whole.value) ? Number(0) : left;
    const Extent rest = times(-coefficient, {0, 1 - kLastBit});  // the divisor itself is not reached
    out = {out.low + rest.low, out.high + rest.high};
  }
  for (const auto& [node, coefficient] : whole.of) {
    const Extent part = times(coefficient, range_of(Node{node}, budget));
    out = {out.low + part.low, out.high + part.high};
  }
  return {out.low + whole.value, out.high + whole.value};
}

Extent Graph::Data::range_of(Node a) const {
  int budget = kMostNodes;
  return range_of(a, budget);
}

bool Graph::Data::never_zero(Node a) const {
  const Extent range = range_of(a);
  return range.low > 0 || range.high < 0;
}

Extent Graph::Data::range_of(Node a, int& budget) const {
  if (--budget < 0) return {-kInfinity, kInfinity};
  const Entry& e = at(a);
  if (e.kind == NodeKind::constant) return {e.value, e.value};
  if (e.kind == NodeKind::side && switches[e.first].two_sided()) return {0, 1};
  if (e.kind == NodeKind::sign) return {-1, 1};
  if (e.kind == NodeKind::call &&
      (e.function == Function::sin || e.function == Function::cos || e.function == Function::tanh))
    return {-1, 1};
  if (e.kind == NodeKind::call && e.function == Function::sqrt) {
    const Extent inside = range_of(terms(a)[0].node, budget);
    return power_of({max(inside.low, 0.0), inside.high}, 0.5);
  }
  Extent out{-kInfinity, kInfinity};
  if (e.kind == NodeKind::sum) {
    out = range_of_sum(a, budget);
  } else if (e.kind == NodeKind::select) {
    const Extent then = range_of(terms(a)[1].node, budget);
    const Extent otherwise = range_of(terms(a)[2].node, budget);
    out = {min(then.low, otherwise.low), max(then.high, otherwise.high)};
  }
  const int sign = e.kind == NodeKind::sum ? 0 : sign_of(a, budget);
  if (sign > 0) out.low = max(out.low, 0.0);
  if (sign < 0) out.high = min(out.high, 0.0);
  if (e.kind != NodeKind::product) return out;
  Extent all{1, 1};
  for (const Term& f : terms(a)) all = product_of(all, power_of(range_of(f.node, budget), f.coefficient));
  return {max(out.low, all.low), min(out.high, all.high)};
}

}  // namespace judder::expr
