#include "judder/expr/graph.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>

#include "core/elementary.hpp"
#include "expr/functions.hpp"
#include "expr/graph_data.hpp"
#include "expr/outside_calls.hpp"
#include "judder/expr/through.hpp"

namespace judder::expr {

namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash ^= word + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
  hash *= 0xff51afd7ed558ccdULL;
  return hash ^ (hash >> 33);
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// Of two numbers that open parameters are behind, equal ones are one while they stay equal: when values are bound, that is tested.
bool same_bits(const Number& a, const Number& b) {
  if (a.origin() == b.origin() && a.open()) return true;
  if (!same_bits(a.raw(), b.raw())) return false;
  return (!a.open() && !b.open()) || a == b;
}

bool is_odd(const Number& whole) { return std::fmod(whole.fixed("the form of a power"), 2.0) != 0; }

bool is_odd_function(Function f) {
  switch (f) {
    case Function::sin:
    case Function::tan:
    case Function::asin:
    case Function::atan:
    case Function::sinh:
    case Function::tanh:
    case Function::asinh:
    case Function::atanh:
    case Function::cbrt:
      return true;
    default:
      return false;
  }
}

bool is_even_function(Function f) {
  return f == Function::cos || f == Function::cosh || f == Function::hypot;
}

/// Sorts by node, adds the coefficients of equal nodes in the order given, drops zeros.
void collect(std::vector<Term>& terms, bool forgive_rounding) {
  std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.node < b.node; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < terms.size();) {
    Number total = 0, size = 0;
    std::size_t j = i;
    for (; j < terms.size() && terms[j].node == terms[i].node; ++j) {
      total += terms[j].coefficient;
      size += abs(terms[j].coefficient);
    }
    // 0.1 x + 0.2 x − 0.3 x is nothing, not 5.6e-17 x.
    if (forgive_rounding && j - i > 1 && abs(total) <= 4 * std::numeric_limits<double>::epsilon() * size)
      total = 0;
    if (total != 0) terms[kept++] = {total, terms[i].node};
    i = j;
  }
  terms.resize(kept);
}

Number apply(Function function, const Number& x) {
  const double value = expr::apply(function, x.raw());
  if (!x.open()) return value;
  return x.origin()->tape->make(Step::call, x, Number(), value, static_cast<std::uint32_t>(function));
}

Number arctangent(const Number& y, const Number& x) {
  const double value = elementary::atan2(y.raw(), x.raw());
  return y.open() || x.open() ? tape_of(y, x)->make(Step::atan2, y, x, value) : Number(value);
}

Number hypotenuse(const Number& a, const Number& b) {
  const double value = expr::hypotenuse(a.raw(), b.raw());
  return a.open() || b.open() ? tape_of(a, b)->make(Step::hypot, a, b, value) : Number(value);
}

/// A set of node numbers, in blocks of 64 by open addressing: what belongs together was mostly made together.
class Marks {
 public:
  /// False if it is a member already.
  bool add(std::uint32_t member) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    std::uint64_t& bits = block(member / 64);
    const std::uint64_t bit = std::uint64_t{1} << (member % 64);
    if ((bits & bit) != 0) return false;
    bits |= bit;
    return true;
  }

 private:
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};
  struct Slot {
    std::uint32_t number = kFree;
    std::uint64_t bits = 0;
  };
  std::uint64_t& block(std::uint32_t number) {
    const std::size_t last = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>((number * std::uint64_t{0x9e3779b97f4a7c15ULL}) >> 32U) & last;
    while (slots_[at].number != number) {
      if (slots_[at].number == kFree) {
        slots_[at].number = number;
        ++count_;
        break;
      }
      at = (at + 1) & last;
    }
    return slots_[at].bits;
  }
  void grow() {
    const std::vector<Slot> before = std::move(slots_);
    slots_.assign(std::max<std::size_t>(16, 4 * before.size()), Slot{});
    count_ = 0;
    for (const Slot& slot : before) {
      if (slot.number != kFree) block(slot.number) = slot.bits;
    }
  }
  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

}  // namespace

// What counts is c without its power of two, so that a change of units by one changes no rounding: of w = odd · 2^k, the odd part is small.
double divisor(double c) {
  constexpr int kBits = 20;  // of the odd part, at most
  int exponent = 0;
  const double r = std::frexp(1 / c, &exponent);  // 1/2 ≤ |r| < 1
  if (!std::isfinite(r) || r == 0) return 0;
  const double w = std::round(std::ldexp(r, kBits));
  if (1 / w != std::ldexp(c, exponent - kBits)) return 0;
  long rest = static_cast<long>(std::abs(w));
  while (rest % 2 == 0) rest /= 2;
  while (rest % 5 == 0) rest /= 5;
  return rest == 1 ? 0 : std::ldexp(w, exponent - kBits);
}

double whole_power(double x, long n) {
  double result = 1, square = x;
  for (unsigned long m = static_cast<unsigned long>(n < 0 ? -n : n); m != 0; m >>= 1) {
    if ((m & 1) != 0) result *= square;
    square *= square;
  }
  return n < 0 ? 1 / result : result;
}

double constant_power(double base, double exponent) {
  if (exponent == -1) return 1 / base;
  return is_whole(exponent) && std::abs(exponent) <= 64 ? whole_power(base, static_cast<long>(exponent))
                                                        : elementary::pow(base, exponent);
}

/// Whether c^n is far from both ends of the range of numbers, so that (c x)^n may be written as c^n x^n.
bool in_range(const Number& c, const Number& n) {
  constexpr double kMost = 1e150;
  const Number power = abs(constant_power(c, n));
  return power < kMost && power > 1 / kMost;
}

double flat_value(double u, std::uint32_t order) {
  // Nothing beside the power that bump begins with, and far from the end of the range of numbers with every order.
  if (u < 1.0 / 200) return 0;
  const double r = 1 / u;
  return apply(Function::exp, -r) * whole_power(r, static_cast<long>(order));
}

double turn_value(double side, double angle) {
  constexpr double pi = 3.141592653589793;
  const double above = angle < -pi / 2 ? angle + 2 * pi : angle;
  const double below = angle > pi / 2 ? angle - 2 * pi : angle;
  return side == 1 ? above : side == 0 ? below : side * above + (1 - side) * below;
}

double lookup_value(std::span<const double> list, double side) {
  if (!(side == side)) return side;
  const double last = static_cast<double>(list.size() - 1);
  const double place = std::clamp(side + 1, 0.0, last);
  const double whole = std::floor(place);
  const double below = list[static_cast<std::size_t>(whole)];
  const double part = place - whole;
  return part == 0 ? below : (1 - part) * below + part * list[static_cast<std::size_t>(whole) + 1];
}

double level_of(std::span<const double> levels, double x) {
  if (!(x == x)) return x;
  return static_cast<double>(std::upper_bound(levels.begin(), levels.end(), x) - levels.begin()) - 1;
}

Node Graph::Data::intern(Entry entry, std::span<const Term> operands) {
  spend(4 + operands.size());
  std::uint64_t hash =
      mix(static_cast<std::uint64_t>(entry.kind), static_cast<std::uint64_t>(entry.function));
  hash = mix(hash, entry.extra);
  hash = mix(hash, std::bit_cast<std::uint64_t>(entry.value.raw()));
  if (operands.empty()) hash = mix(hash, entry.first);
  for (const Term& t : operands) {
    hash = mix(hash, t.node.index);
    hash = mix(hash, std::bit_cast<std::uint64_t>(t.coefficient.raw()));
  }
  const auto is_it = [&](std::uint32_t node) {
    const Entry& other = entries[node];
    if (other.kind != entry.kind || other.function != entry.function || other.extra != entry.extra ||
        !same_bits(other.value, entry.value) || other.count != operands.size()) {
      return false;
    }
    if (operands.empty()) return other.first == entry.first;
    return std::equal(operands.begin(), operands.end(), pool.begin() + other.first,
                      [](const Term& a, const Term& b) {
                        return a.node == b.node && same_bits(a.coefficient, b.coefficient);
                      });
  };
  if (const std::uint32_t* const known = index.find(hash, is_it); known != nullptr) return Node{*known};
  if (!operands.empty()) {
    entry.first = static_cast<std::uint32_t>(pool.size());
    entry.count = static_cast<std::uint32_t>(operands.size());
    for (const Term& t : operands) entry.mask |= at(t.node).mask;
    pool.insert(pool.end(), operands.begin(), operands.end());
  } else if (entry.kind == NodeKind::variable) {
    entry.mask = std::uint64_t{1} << (entry.first % 64);
  }
  if (work != nullptr) work->keep(1 + operands.size() / 8);
  const auto made = static_cast<std::uint32_t>(entries.size());
  entry.ordinal = formulas;
  if (entry.kind != NodeKind::constant) ++formulas;
  entries.push_back(entry);
  index.add(hash, made);
  return Node{made};
}

Node Graph::Data::constant(Number value) {
  const bool is_zero = value == 0;  // one zero only
  if (is_zero && zero.index < entries.size()) return zero;
  Entry e;
  e.kind = NodeKind::constant;
  e.value = is_zero ? Number(0.0) : value;
  const Node made = intern(e, {});
  if (is_zero) zero = made;
  return made;
}

// c R sin² u + c R cos² u = c R. Returns whether a pair was found; the caller collects again.
bool Graph::Data::merge_squares(std::vector<Term>& sum_terms) {
  const auto square_of = [&](const Term& factor, Function function) {
    const Entry& e = at(factor.node);
    return e.kind == NodeKind::call && e.function == function && factor.coefficient >= 2 &&
           is_whole(factor.coefficient);
  };
  // Factors of a product with one square taken out.
  const auto without = [](std::span<const Term> factors, std::size_t which) {
    std::vector<Term> rest(factors.begin(), factors.end());
    rest[which].coefficient -= 2;
    if (rest[which].coefficient == 0) rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(which));
    return rest;
  };
  for (std::size_t i = 0; i < sum_terms.size(); ++i) {
    if (at(sum_terms[i].node).kind != NodeKind::product) continue;
    const auto mine = terms(sum_terms[i].node);
    spend(mine.size() / 4);
    for (std::size_t f = 0; f < mine.size(); ++f) {
      if (!square_of(mine[f], Function::sin)) continue;
      std::vector<Term> rest = without(mine, f);
      spend(sum_terms.size());
      for (std::size_t j = 0; j < sum_terms.size(); ++j) {
        if (j == i || sum_terms[j].coefficient != sum_terms[i].coefficient) continue;
        if (at(sum_terms[j].node).kind != NodeKind::product) continue;
        const auto other = terms(sum_terms[j].node);
        // With its square taken out it is as long as the rest.
        if (other.size() != rest.size() && other.size() != rest.size() + 1) continue;
        spend(other.size() / 4);
        for (std::size_t g = 0; g < other.size(); ++g) {
          if (!square_of(other[g], Function::cos) || operand(other[g].node, 0) != operand(mine[f].node, 0))
            continue;
          const std::vector<Term> other_rest = without(other, g);
          const bool equal = std::equal(rest.begin(), rest.end(), other_rest.begin(), other_rest.end(),
                                        [](const Term& a, const Term& b) {
                                          return a.node == b.node && a.coefficient == b.coefficient;
                                        });
          if (!equal) continue;
          const Number c = sum_terms[i].coefficient;
          sum_terms.erase(sum_terms.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
          sum_terms.erase(sum_terms.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
          sum_terms.push_back({c, product(1, std::move(rest))});
          return true;
        }
      }
    }
  }
  return false;
}

Node Graph::Data::sum(std::vector<Term> terms, Number value) {
  for (bool again = true; again;) {
    again = false;
    std::vector<Term> flat;
    flat.reserve(terms.size());
    for (const Term& t : terms) {
      const Number c = t.coefficient;
      if (c == 0) continue;
      const Entry& e = at(t.node);
      if (e.kind == NodeKind::constant) {
        value += c * e.value;
      } else if (e.kind == NodeKind::sum && (c == 1 || c == -1 || is_multiple(t.node))) {
        value += c * e.value;
        for (const Term& inner : this->terms(t.node)) flat.push_back({c * inner.coefficient, inner.node});
      } else {
        flat.push_back(t);
      }
    }
    collect(flat, true);
    for (const Term& t : flat) {
      if (at(t.node).kind == NodeKind::sum && (t.coefficient == 1 || t.coefficient == -1)) again = true;
    }
    terms = std::move(flat);
    if (again) continue;

    again = merge_squares(terms);
  }
  if (terms.empty()) return constant(value);
  if (terms.size() == 1 && value == 0 && terms[0].coefficient == 1) return terms[0].node;
  Entry e;
  e.kind = NodeKind::sum;
  e.value = value == 0 ? Number(0.0) : value;
  return intern(e, terms);
}

// After a division. 1/sign(s) is sign(s), and where s itself is cancelled what was a kink is a jump: x/abs(x), abs(x)/x.
void Graph::Data::mark_jumps(std::vector<Term>& factors) {
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const Entry e = at(factors[i].node);
    if (e.kind != NodeKind::sign || !is_whole(factors[i].coefficient) || !is_odd(factors[i].coefficient))
      continue;
    factors[i].coefficient = 1;
    bool flipped = false;
    const Node surface = normalised(switches[e.first].surface, flipped);
    bool vanishes = at(surface).kind == NodeKind::product;  // not taken apart here
    Number power = 0;                                       // of s in the other factors, however it is scaled
    for (std::size_t k = 0; k < factors.size() && !vanishes; ++k) {
      if (k == i || at(factors[k].node).kind == NodeKind::sign) continue;
      if (normalised(factors[k].node, flipped) == surface) power += factors[k].coefficient;
    }
    vanishes = vanishes || power > 0;
    if (!vanishes) switches[e.first].kind = SwitchKind::jump;
  }
}

// x/√|x| is sign(x) √|x|, and so with every power of |x| between 0 and 1: where x is zero it has a value. True if such factors were rewritten.
bool Graph::Data::join_root_of_size(std::vector<Term>& factors) {
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const Number n = factors[i].coefficient;
    const Entry e = at(factors[i].node);
    const bool root = e.kind == NodeKind::call && e.function == Function::sqrt && n == -1;
    const bool power = e.kind == NodeKind::product && n > -1 && n < 0;
    if (!root && !power) continue;
    const Node size = root ? operand(factors[i].node, 0) : factors[i].node;
    if (at(size).kind != NodeKind::product || terms(size).size() != 2) continue;
    Term sign = terms(size)[0];
    Term x = terms(size)[1];
    if (at(sign.node).kind != NodeKind::sign) std::swap(sign, x);
    if (at(sign.node).kind != NodeKind::sign || sign.coefficient != 1 || x.coefficient != 1) continue;
    const auto same = [&](const Term& f) { return f.node == x.node && f.coefficient == 1; };
    const auto found = std::find_if(factors.begin(), factors.end(), same);
    if (found == factors.end()) continue;
    // Its slope is not finite there: the motion may end. In the slope of x √|x| the sign cancels.
    const auto cancels = [&](const Term& f) { return f.node == sign.node; };
    if (std::none_of(factors.begin(), factors.end(), cancels))
      switches[at(sign.node).first].kind = SwitchKind::jump;
    *found = sign;
    factors[i].coefficient = root ? Number(1) : n + 1;
    return true;
  }
  return false;
}

Node Graph::Data::product(Number coefficient, std::vector<Term> factors) {
  const bool divides =
      std::any_of(factors.begin(), factors.end(), [](const Term& f) { return f.coefficient < 0; });
  for (bool again = true; again;) {
    again = false;
    std::vector<Term> flat;
    flat.reserve(factors.size());
    for (const Term& f : factors) {
      const Number n = f.coefficient;
      if (n == 0) continue;
      const bool whole = is_whole(n);
      const Entry e = at(f.node);
      if (e.kind == NodeKind::constant) {
        coefficient = n == -1 ? coefficient / e.value : coefficient * constant_power(e.value, n);
      } else if (e.kind == NodeKind::product && whole) {
        for (const Term& inner : terms(f.node)) flat.push_back({n * inner.coefficient, inner.node});
      } else if (is_multiple(f.node) && (whole || terms(f.node)[0].coefficient > 0) &&
                 in_range(terms(f.node)[0].coefficient, n)) {
        const Term only = terms(f.node)[0];
        coefficient =
            n == -1 ? coefficient / only.coefficient : coefficient * constant_power(only.coefficient, n);
        flat.push_back({n, only.node});
        again = again || at(only.node).kind == NodeKind::product || at(only.node).kind == NodeKind::sum;
      } else if (whole && is_negative(f.node)) {
        if (is_odd(n)) coefficient = -coefficient;
        flat.push_back({n, scale(-1, f.node)});
      } else if (e.kind == NodeKind::call && e.function == Function::sqrt && whole && !is_odd(n)) {
        flat.push_back({n / 2, operand(f.node, 0)});
        again = true;
      } else if (e.kind == NodeKind::call && e.function == Function::cbrt && whole &&
                 std::fmod(n.fixed("the form of a power"), 3.0) == 0) {
        flat.push_back({n / 3, operand(f.node, 0)});
        again = true;
      } else {
        flat.push_back(f);
      }
    }
    const std::size_t before = flat.size();
    collect(flat, true);
    again = again || flat.size() != before;  // merged exponents may open a root or a bracket
    factors = std::move(flat);
  }
  if (coefficient == 0) return constant(0);
  if (join_root_of_size(factors)) return product(coefficient, std::move(factors));
  if (divides) mark_jumps(factors);
  if (factors.empty()) return constant(coefficient);
  if (factors.size() == 1 && factors[0].coefficient == 1) return scale(coefficient, factors[0].node);
  Entry e;
  e.kind = NodeKind::product;
  const Node made = intern(e, factors);
  return coefficient == 1 ? made : scale(coefficient, made);
}

Node Graph::Data::call(Function function, std::span<const Node> arguments) {
  std::vector<Term> operands;
  bool constants = true;
  double outer = 1;
  for (Node a : arguments) {
    if (is_even_function(function) && is_negative(a)) a = scale(-1, a);
    if (is_odd_function(function) && is_negative(a)) {
      a = scale(-1, a);
      outer = -1;
    }
    constants = constants && is_constant(a);
    operands.push_back({1, a});
  }
  if (constants) {
    Number result = at(operands[0].node).value;
    if (function == Function::atan2) {
      result = arctangent(result, at(operands[1].node).value);
    } else if (function == Function::hypot) {
      for (std::size_t i = 1; i < operands.size(); ++i)
        result = hypotenuse(result, at(operands[i].node).value);
      result = abs(result);
    } else {
      result = apply(function, result);
    }
    return constant(outer * result);
  }
  Entry e;
  e.kind = NodeKind::call;
  e.function = function;
  const Node made = intern(e, operands);
  return outer == 1 ? made : scale(outer, made);
}

Node Graph::Data::select(Node condition, Node then, Node otherwise) {
  if (is_constant(condition, 1) || then == otherwise) return then;
  if (is_constant(condition, 0)) return otherwise;
  Entry e;
  e.kind = NodeKind::select;
  const std::array operands{Term{1, condition}, Term{1, then}, Term{1, otherwise}};
  return intern(e, operands);
}

Node Graph::Data::turn(Node side, Node angle) {
  if (is_constant(side) && is_constant(angle))
    return constant(turn_value(at(side).value.fixed("an angle"),
                               at(angle).value.fixed("on which side of a cut it lies")));
  Entry e;
  e.kind = NodeKind::turn;
  const std::array operands{Term{1, side}, Term{1, angle}};
  return intern(e, operands);
}

Node Graph::Data::flat(Node u, std::uint32_t order) {
  if (is_constant(u)) return constant(flat_value(at(u).value.fixed("a constant bump"), order));
  Entry e;
  e.kind = NodeKind::flat;
  e.extra = order;
  const std::array operands{Term{1, u}};
  return intern(e, operands);
}

Node Graph::Data::lookup(Node side, std::uint32_t list) {
  const std::vector<double>& values = lists[list];
  if (is_constant(side)) return constant(lookup_value(values, at(side).value.fixed("where a table is read")));
  if (std::all_of(values.begin(), values.end(), [&](double v) { return v == values[0]; }))
    return constant(values[0]);
  Entry e;
  e.kind = NodeKind::lookup;
  e.extra = list;
  const std::array operands{Term{1, side}};
  return intern(e, operands);
}

double Graph::Data::outside_value(const OutsideUse& use, std::span<const double> arguments) const {
  double value = 0;
  expr::evaluate(outside_call(outside[use.function], {use.orders}), arguments.data(), &value, nullptr);
  return value;
}

Node Graph::Data::call_outside(const OutsideUse& use, std::span<const Node> arguments) {
  const auto known = [&](Node a) { return is_constant(a); };
  if (std::all_of(arguments.begin(), arguments.end(), known)) {
    std::vector<double> numbers;
    for (const Node a : arguments)
      numbers.push_back(at(a).value.fixed("what a function from outside is told"));
    return constant(outside_value(use, numbers));
  }
  const auto [it, added] = outside_index.emplace(use, static_cast<std::uint32_t>(outside_uses.size()));
  if (added) outside_uses.push_back(use);
  Entry e;
  e.kind = NodeKind::outside;
  e.extra = it->second;
  std::vector<Term> operands;
  for (const Node a : arguments) operands.push_back({1, a});
  return intern(e, operands);
}

std::uint32_t Graph::Data::add_list(std::vector<double> values) {
  std::vector<std::uint64_t> key;
  key.reserve(values.size());
  for (const double v : values) key.push_back(std::bit_cast<std::uint64_t>(v));
  const auto [it, added] = list_index.emplace(std::move(key), static_cast<std::uint32_t>(lists.size()));
  if (added) lists.push_back(std::move(values));
  return it->second;
}

std::vector<std::uint32_t> Graph::Data::parts(std::span<const Node> roots, bool surfaces) const {
  // What is found is few nodes of a large graph as a rule: the marks are kept in a table of their own size.
  Marks seen;
  std::vector<std::uint32_t> found;
  const auto take = [&](Node node) {
    if (seen.add(node.index)) found.push_back(node.index);
  };
  for (const Node r : roots) take(r);
  for (std::size_t at = 0; at < found.size(); ++at) {
    const Node node{found[at]};
    for (const Term& t : terms(node)) take(t.node);
    const Entry& e = entries[node.index];
    if (surfaces && (e.kind == NodeKind::side || e.kind == NodeKind::sign)) take(switches[e.first].surface);
  }
  // Sorting is dearer than finding.
  constexpr std::size_t kMany = 256;
  spend(1 + (found.size() > kMany ? 2 : 1) * found.size());
  std::sort(found.begin(), found.end());
  return found;
}

// --- the public face ---

Graph::Graph() : data_(std::make_unique<Data>()) {}
Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;

void Graph::limit(Work* work) { data_->work = work; }

Node Graph::constant(Number value) { return data_->constant(value); }

Variable Graph::declare(std::string name) {
  const auto made = static_cast<Variable>(data_->names.size());
  data_->names.push_back(std::move(name));
  Entry e;
  e.kind = NodeKind::variable;
  e.first = made;
  data_->variable_nodes.push_back(data_->intern(e, {}));
  return made;
}

Node Graph::variable(Variable variable) { return data_->variable_nodes[variable]; }
Node Graph::add(Node a, Node b) { return data_->sum({{1, a}, {1, b}}, 0); }
Node Graph::subtract(Node a, Node b) { return data_->sum({{1, a}, {-1, b}}, 0); }
Node Graph::negate(Node a) { return data_->scale(-1, a); }
Node Graph::multiply(Node a, Node b) { return data_->product(1, {{1, a}, {1, b}}); }
Node Graph::divide(Node a, Node b) { return data_->product(1, {{1, a}, {-1, b}}); }

Node Graph::power(Node base, Node exponent) {
  if (data_->is_constant(exponent)) return data_->product(1, {{data_->at(exponent).value, base}});
  if (data_->is_constant(base, 1)) return base;
  Entry e;
  e.kind = NodeKind::power;
  const std::array operands{Term{1, base}, Term{1, exponent}};
  return data_->intern(e, operands);
}

Node Graph::sum(std::span<const Node> terms) {
  std::vector<Term> all;
  all.reserve(terms.size());
  for (const Node t : terms) all.push_back({1, t});
  return data_->sum(std::move(all), 0);
}

Node Graph::product(std::span<const Node> factors) {
  std::vector<Term> all;
  all.reserve(factors.size());
  for (const Node f : factors) all.push_back({1, f});
  return data_->product(1, std::move(all));
}

Node Graph::call(Function function, std::span<const Node> arguments) {
  return data_->call(function, arguments);
}
Node Graph::select(Node condition, Node then, Node otherwise) {
  return data_->select(condition, then, otherwise);
}

OutsideId Graph::add_outside(OutsideFunction function) {
  data_->outside.push_back(std::move(function));
  return static_cast<OutsideId>(data_->outside.size() - 1);
}
Node Graph::outside(OutsideId function, std::span<const Node> arguments, const Orders& orders) {
  return data_->call_outside({function, orders}, arguments);
}
const std::vector<OutsideFunction>& Graph::outside() const { return data_->outside; }

bool Graph::is_constant(Node a) const { return data_->is_constant(a); }
Number Graph::value(Node a) const { return data_->at(a).value; }

bool Graph::depends_on(Node a, Variable x) const {
  data_->spend(1);
  const std::uint64_t bit = std::uint64_t{1} << (x % 64);
  if ((data_->at(a).mask & bit) == 0) return false;
  if (data_->names.size() <= 64) return true;
  if (data_->at(a).kind == NodeKind::variable) return data_->at(a).first == x;
  const Node wanted = data_->variable_nodes[x];
  const std::array roots{a};
  const std::vector<std::uint32_t> parts = data_->parts(roots, false);
  return std::binary_search(parts.begin(), parts.end(), wanted.index);
}

std::vector<Variable> Graph::variables(Node a) const {
  std::vector<Variable> found;
  const std::array roots{a};
  for (const std::uint32_t i : data_->parts(roots, false)) {
    if (data_->entries[i].kind == NodeKind::variable) found.push_back(data_->entries[i].first);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<SwitchId> Graph::switches(Node a) const {
  std::vector<SwitchId> found;
  if (data_->switches.empty() || data_->is_constant(a)) return found;
  const std::array roots{a};
  for (const std::uint32_t i : data_->parts(roots, false)) {
    const Entry& e = data_->entries[i];
    if (e.kind == NodeKind::side || e.kind == NodeKind::sign) found.push_back(e.first);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<Variable> variables_through(const Graph& graph, std::span<const Node> roots) {
  std::vector<Variable> found;
  for (const std::uint32_t i : graph.data().parts(roots, true)) {
    const Entry& e = graph.data().entries[i];
    if (e.kind == NodeKind::variable) found.push_back(e.first);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<SwitchId> switches_through(const Graph& graph, std::span<const Node> roots) {
  std::vector<SwitchId> found;
  for (const std::uint32_t i : graph.data().parts(roots, true)) {
    const Entry& e = graph.data().entries[i];
    if (e.kind == NodeKind::side || e.kind == NodeKind::sign) found.push_back(e.first);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<bool> switches_of(const Graph& graph, Variable t) {
  const Graph::Data& d = graph.data();
  constexpr std::uint8_t kTime = 1, kOther = 2;
  d.spend(d.entries.size());
  std::vector<std::uint8_t> sees(d.entries.size(), 0);
  for (std::uint32_t i = 0; i < d.entries.size(); ++i) {
    const Entry& e = d.entries[i];
    if (e.kind == NodeKind::variable) sees[i] = e.first == t ? kTime : kOther;
    if (e.kind == NodeKind::side || e.kind == NodeKind::sign)
      sees[i] = sees[d.switches[e.first].surface.index];
    for (const Term& term : d.terms(Node{i})) sees[i] |= sees[term.node.index];
    // Ahead of the motion only zeros of formulas are found, which can be enclosed.
    if (e.kind == NodeKind::outside) sees[i] |= kOther;
  }
  std::vector<bool> out;
  for (const Switch& each : d.switches) out.push_back(sees[each.surface.index] == kTime);
  return out;
}

std::size_t Graph::variable_count() const { return data_->names.size(); }
const std::string& Graph::name(Variable x) const { return data_->names[x]; }
const std::vector<Switch>& Graph::switches() const { return data_->switches; }
std::size_t Graph::size() const { return data_->entries.size(); }

double Graph::evaluate(Node a, std::span<const double> values) const {
  const Data& d = *data_;
  if (d.is_constant(a)) return d.at(a).value.raw();
  const std::array roots{a};
  const std::vector<std::uint32_t> parts = d.parts(roots, true);
  std::vector<double> result(parts.size());
  const auto at = [&](Node node) {
    const auto place = std::lower_bound(parts.begin(), parts.end(), node.index);
    return result[static_cast<std::size_t>(place - parts.begin())];
  };
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::uint32_t i = parts[p];
    const Entry& e = d.entries[i];
    const auto terms = d.terms(Node{i});
    const auto operand = [&](std::size_t k) { return at(terms[k].node); };
    double r = e.value.raw();
    switch (e.kind) {
      case NodeKind::constant:
        break;
      case NodeKind::variable:
        r = values[e.first];
        break;
      case NodeKind::sum:
        r = 0;
        for (std::size_t k = 0; k < terms.size(); ++k) r += terms[k].coefficient.raw() * operand(k);
        r += e.value.raw();
        break;
      case NodeKind::product: {
        double above = 1, below = 1;
        for (std::size_t k = 0; k < terms.size(); ++k) {
          const double n = terms[k].coefficient.raw();
          (n > 0 ? above : below) *= constant_power(operand(k), std::abs(n));
        }
        r = above / below;
        break;
      }
      case NodeKind::power:
        r = elementary::pow(operand(0), operand(1));
        break;
      case NodeKind::call:
        if (e.function == Function::atan2) {
          r = elementary::atan2(operand(0), operand(1));
        } else if (e.function == Function::hypot) {
          r = std::abs(operand(0));
          for (std::size_t k = 1; k < terms.size(); ++k) r = hypotenuse(r, operand(k));
        } else {
          r = apply(e.function, operand(0));
        }
        break;
      case NodeKind::select:
        r = select_value(operand(0), operand(1), operand(2));
        break;
      case NodeKind::sign:
        r = sign_value(at(d.switches[e.first].surface));
        break;
      case NodeKind::side: {
        const Switch& s = d.switches[e.first];
        const double surface = at(s.surface);
        r = s.two_sided() ? side_value(surface, e.value.raw())
            : s.whole     ? std::floor(surface)
                          : level_of(s.levels, surface);
        break;
      }
      case NodeKind::lookup:
        r = lookup_value(d.lists[e.extra], operand(0));
        break;
      case NodeKind::turn:
        r = turn_value(operand(0), operand(1));
        break;
      case NodeKind::flat:
        r = flat_value(operand(0), e.extra);
        break;
      case NodeKind::outside: {
        std::array<double, kMostArguments> arguments{};
        for (std::size_t k = 0; k < terms.size(); ++k) arguments[k] = operand(k);
        r = d.outside_value(d.outside_uses[e.extra], {arguments.data(), terms.size()});
        break;
      }
    }
    result[p] = r;
  }
  return at(a);
}

}  // namespace judder::expr
