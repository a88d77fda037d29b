// Formulas whose sign is known from their structure: abs(x), max(0, x), their sums, products and multiples.
#include <algorithm>
#include <array>
#include <cmath>

#include "expr/graph_data.hpp"

namespace judder::expr {
namespace {

constexpr int kMostNodes = 64;  ///< looked at before the sign counts as unknown

bool is_even(double exponent) { return std::fmod(exponent, 2.0) == 0; }

}  // namespace

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
  const double ratio = one[0].coefficient / two[0].coefficient;
  const auto differs = [ratio](double x, double y) { return std::abs(x - ratio * y) > 1e-12 * std::abs(x); };
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
    if (side->kind == NodeKind::sum && side->count == 1 && std::abs(side->value) == 1 &&
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
  }
  int sign = 1;
  rest.clear();
  for (const Term& f : factors) {
    if (is_even(f.coefficient) || !is_whole(f.coefficient)) continue;
    const int own = sign_of(f.node, budget);
    if (own == 0) {
      rest.push_back(f);
    } else {
      sign *= own;
    }
  }
  if (rest.empty()) return sign;
  return rest.size() < factors.size() ? sign * sign_of_product(rest, budget) : 0;
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
        if (own == 0 || own * sign < 0) return 0;
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
    default:
      return 0;
  }
}

}  // namespace judder::expr
