// Storage of Graph. Private to the layer.
//
// Nodes are numbered in order of creation, so an operand always has a smaller number than the node that uses it (the surface of
// a switch included) and walking the numbers upwards visits operands first. No function here recurses over the graph: its depth
// is not bounded by the depth of any text.
//
// Canonical forms
//     sum      value + Σ coefficient · node     sorted by node; no constants, no pure multiples and no sums with coefficient ±1
//                                               among the nodes; one term without constant is a multiple: 2 x
//     product  Π node ^ coefficient             sorted by node; carries no factor: 2 x y is the sum of one term
// A constant times a sum is not multiplied out: k (x − y) is computed as written.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/elementary.hpp"
#include "judder/core/work.hpp"
#include "judder/expr/graph.hpp"
#include "judder/expr/number.hpp"

namespace judder::expr {

enum class NodeKind : std::uint8_t {
  constant,
  variable,
  sum,
  product,
  power,   ///< operands: base, exponent (not constant)
  call,    ///< operands: arguments of `function`
  select,  ///< operands: condition, then, otherwise
  side,    ///< of switch `first`; `value` is the side at surface = 0 outside a run
  sign,    ///< 2 side − 1 of switch `first`, 0 at surface = 0 outside a run
  lookup,  ///< operand: a level side; the value stands in list `extra`
  turn,    ///< operands: side, angle: the angle continued over the cut of atan2 on the given side
  flat,    ///< operand u: exp(−1/u) u^−extra for u > 0, 0 for u ≤ 0: a smooth function
  outside  ///< operands: arguments of the function from outside, or derivative of it, `extra` in `outside_uses`
};

struct Term {
  Number coefficient = 1;  ///< of a sum; the exponent in a product
  Node node;
};

struct Entry {
  NodeKind kind = NodeKind::constant;
  Function function = Function::sin;
  std::uint32_t first = 0;  ///< variable, switch, or the first operand in the pool
  std::uint32_t count = 0;  ///< number of operands
  std::uint32_t extra = 0;
  std::uint32_t ordinal = 0;  ///< number of nodes before it that are no constants
  std::uint64_t mask = 0;     ///< bit (variable mod 64) is set if the node may depend on it
  Number value = 0;
};

/// How a node was written: abs(x), max(a, b), a and b. Only for printing.
struct Alias {
  std::string name;
  std::vector<Node> arguments;
};

struct Table {
  std::string name;
  std::vector<double> levels;
  std::vector<double> y;             ///< at the knots, for constants
  std::vector<std::uint32_t> lists;  ///< knot, then coefficients of 1, u, u², u³ (as many as needed)
  SwitchKind kind = SwitchKind::jump;
  double from = 0, to = 0;  ///< its first and last knot
  bool ends = false;        ///< there is nothing outside of them
};

/// A function from outside, or a partial derivative of it.
struct OutsideUse {
  OutsideId function = 0;
  Orders orders{};
  friend bool operator==(const OutsideUse&, const OutsideUse&) = default;
  friend bool operator<(const OutsideUse& a, const OutsideUse& b) {
    return a.function != b.function ? a.function < b.function : a.orders < b.orders;
  }
};

/// What a formula lies between, as long as all switches stand on the sides of their values.
struct Extent {
  Number low = 0, high = 0;
};

/// value + Σ coefficient · node, without sums among the nodes.
struct FlatSum {
  Number value = 0;
  std::map<std::uint32_t, Number> of;
};

/// Nodes by their hash, by open addressing: a formula is looked up for each operation that is built, mostly without being found.
class NodeTable {
 public:
  /// The first node with this hash that `is_it` accepts; null: there is none.
  template <class Test>
  [[nodiscard]] const std::uint32_t* find(std::uint64_t hash, const Test& is_it) const {
    if (slots_.empty()) return nullptr;
    for (std::size_t at = hash & last(); slots_[at].node != kFree; at = (at + 1) & last()) {
      if (slots_[at].hash == hash && is_it(slots_[at].node)) return &slots_[at].node;
    }
    return nullptr;
  }
  void add(std::uint64_t hash, std::uint32_t node) {
    if (2 * (count_ + 1) > slots_.size()) {
      const std::vector<Slot> before = std::move(slots_);
      slots_.assign(before.empty() ? 64 : 2 * before.size(), Slot{});
      for (const Slot& slot : before) {
        if (slot.node != kFree) place(slot);
      }
    }
    place({hash, node});
    ++count_;
  }

 private:
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t node = kFree;
  };
  [[nodiscard]] std::size_t last() const { return slots_.size() - 1; }
  void place(const Slot& slot) {
    std::size_t at = slot.hash & last();
    while (slots_[at].node != kFree) at = (at + 1) & last();
    slots_[at] = slot;
  }
  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

struct Graph::Data {
  Work* work = nullptr;        ///< null: unlimited
  std::unique_ptr<Tape> tape;  ///< of parameters that are left open; null: there are none
  void spend(std::size_t operations) const {
    if (work != nullptr) work->spend(operations);
  }
  std::vector<Entry> entries;
  std::vector<Term> pool;
  std::uint32_t formulas = 0;  ///< nodes that are no constants
  NodeTable index;
  Node zero{~std::uint32_t{0}};  ///< the constant 0, once it was asked for
  std::vector<std::string> names;
  std::vector<Node> variable_nodes;
  std::vector<Switch> switches;
  /// Normalised surface → switch, and whether its surface has the same sign as the normalised one.
  std::unordered_map<std::uint32_t, std::pair<SwitchId, bool>> two_sided;
  std::map<std::pair<std::uint32_t, std::vector<double>>, SwitchId> levelled;
  std::map<std::uint32_t, SwitchId> floors;
  std::vector<std::vector<double>> lists;
  std::map<std::vector<std::uint64_t>, std::uint32_t> list_index;
  std::vector<Table> tables;
  std::vector<std::pair<TableId, Node>> table_uses;  ///< of tables that end, with their argument
  std::vector<OutsideFunction> outside;
  std::vector<OutsideUse> outside_uses;
  std::map<OutsideUse, std::uint32_t> outside_index;
  std::unordered_map<std::uint32_t, Alias> aliases;
  std::vector<std::uint32_t> sizes;  ///< nodes that their maker knows to be never negative
  std::unordered_map<std::uint64_t, Node> derivatives;

  [[nodiscard]] const Entry& at(Node a) const { return entries[a.index]; }
  [[nodiscard]] std::span<const Term> terms(Node a) const {
    const Entry& e = at(a);
    const bool none = e.kind == NodeKind::constant || e.kind == NodeKind::variable ||
                      e.kind == NodeKind::side || e.kind == NodeKind::sign;
    return none ? std::span<const Term>() : std::span<const Term>(pool).subspan(e.first, e.count);
  }
  [[nodiscard]] Node operand(Node a, std::size_t i) const { return pool[at(a).first + i].node; }
  [[nodiscard]] bool is_constant(Node a) const { return at(a).kind == NodeKind::constant; }
  [[nodiscard]] bool is_constant(Node a, const Number& value) const {
    return is_constant(a) && at(a).value == value;
  }
  /// c · node without constant.
  [[nodiscard]] bool is_multiple(Node a) const {
    return at(a).kind == NodeKind::sum && at(a).count == 1 && at(a).value == 0;
  }
  /// A sum whose first coefficient is negative; its negative is preferred inside products and odd functions.
  [[nodiscard]] bool is_negative(Node a) const {
    return at(a).kind == NodeKind::sum && pool[at(a).first].coefficient < 0;
  }

  Node intern(Entry entry, std::span<const Term> operands);
  void mark_jumps(std::vector<Term>& factors);
  [[nodiscard]] bool join_root_of_size(std::vector<Term>& factors);
  Node constant(Number value);
  Node sum(std::vector<Term> terms, Number value);
  Node product(Number coefficient, std::vector<Term> factors);
  bool merge_squares(std::vector<Term>& sum_terms);
  Node scale(Number coefficient, Node a) { return sum({Term{coefficient, a}}, 0.0); }
  Node call(Function function, std::span<const Node> arguments);
  Node select(Node condition, Node then, Node otherwise);
  Node turn(Node side, Node angle);
  Node flat(Node u, std::uint32_t order);
  Node lookup(Node side, std::uint32_t list);
  Node call_outside(const OutsideUse& use, std::span<const Node> arguments);
  /// For numbers.
  [[nodiscard]] double outside_value(const OutsideUse& use, std::span<const double> arguments) const;
  Node side_node(SwitchId id, double at_zero);
  Node sign_node(SwitchId id);
  Node level_side(SwitchId id);
  std::uint32_t add_list(std::vector<double> values);

  /// The switch of `surface` and whether it is used with the opposite sign.
  std::pair<SwitchId, bool> find_switch(Node surface, SwitchKind kind, std::string_view place,
                                        double at_zero);
  SwitchId find_levels(Node x, const std::vector<double>& levels, bool every_whole, SwitchKind kind,
                       std::string_view place);
  Node two_sided_side(Node surface, double at_zero, SwitchKind kind, std::string_view place);
  Node two_sided_sign(Node surface, SwitchKind kind, std::string_view place);
  /// The surface divided by its leading coefficient, to a precision that forgives rounding; a key, not for evaluation.
  Node normalised(Node surface, bool& flipped);
  void write_as(Node a, std::string name, std::vector<Node> arguments);

  /// 1: never negative, −1: never positive, as long as all switches stand on the sides of their values; 0: not known.
  [[nodiscard]] int sign_of(Node a) const;
  [[nodiscard]] int sign_of(Node a, int& budget) const;
  [[nodiscard]] int sign_of_product(std::span<const Term> factors, int& budget) const;
  [[nodiscard]] Extent range_of(Node a) const;
  [[nodiscard]] bool never_zero(Node a) const;
  [[nodiscard]] Extent range_of(Node a, int& budget) const;
  [[nodiscard]] Extent range_of_sum(Node a, int& budget) const;
  [[nodiscard]] bool add_flat(Node a, const Number& factor, FlatSum& out, int& budget) const;
  /// Sign of the constant ratio of a product of these factors to the node; 0: they are not proportional.
  /// ±1 for multiples of what assume_size() names: it is read only while it is above zero (`speed` of a row that slips), and a comparison with
  /// zero is no switch. Otherwise 0.
  [[nodiscard]] int size_sign(Node a) const;
  [[nodiscard]] int ratio_sign(std::span<const Term> factors, Node b) const;

  /// Nodes that `roots` are made of, ascending; with `surfaces` also what the surfaces of used switches are made of.
  [[nodiscard]] std::vector<std::uint32_t> parts(std::span<const Node> roots, bool surfaces) const;
};

[[nodiscard]] inline bool is_whole(double x) {
  return std::abs(x) <= 9007199254740992.0 && std::floor(x) == x;
}
[[nodiscard]] inline bool is_whole(const Number& x) {
  return x.open() ? x.origin()->tape->test(Test::whole, x, Number(), is_whole(x.raw())) : is_whole(x.raw());
}

[[nodiscard]] inline bool is_even(const Number& x) {
  return is_whole(x) && std::fmod(x.fixed("the form of a power"), 2.0) == 0;
}

/// w if c = 1/w for a small whole w, or one times a power of two, such that c has no short decimal form: x/3 is one rounding, 0.333… x two, and
/// nobody wrote the latter. 0 otherwise.
[[nodiscard]] double divisor(double c);
[[nodiscard]] inline double divisor(const Number& c) {
  if (!c.open()) return divisor(c.raw());
  const double w = divisor(c.raw());
  c.origin()->tape->test(Test::divisor, c, Number(), w == 0);
  return w == 0 ? 0 : divisor(c.fixed("whether a multiple is a fraction"));
}

/// x^n by repeated squaring: the same bits everywhere.
[[nodiscard]] double whole_power(double x, long n);
[[nodiscard]] double constant_power(double base, double exponent);
[[nodiscard]] inline Number constant_power(const Number& base, const Number& exponent) {
  const double power = constant_power(base.raw(), exponent.raw());
  if (!base.open() && !exponent.open()) return power;
  return tape_of(base, exponent)->make(Step::power, base, exponent, power);
}
[[nodiscard]] inline Number plain_power(const Number& base, const Number& exponent) {
  const double power = elementary::pow(base.raw(), exponent.raw());
  if (!base.open() && !exponent.open()) return power;
  return tape_of(base, exponent)->make(Step::pow, base, exponent, power);
}
/// Coefficients that differ by rounding only (0.3/0.1 and 3) must give one key.
[[nodiscard]] double rounded(double x);
[[nodiscard]] inline Number rounded(const Number& x) {
  const double key = rounded(x.raw());
  return x.open() ? x.origin()->tape->make(Step::rounded, x, Number(), key) : Number(key);
}

[[nodiscard]] double flat_value(double u, std::uint32_t order);
[[nodiscard]] double turn_value(double side, double angle);
[[nodiscard]] double lookup_value(std::span<const double> list, double side);
[[nodiscard]] double level_of(std::span<const double> levels, double x);
[[nodiscard]] inline double select_value(double condition, double then, double otherwise) {
  return condition == 1 ? then : condition == 0 ? otherwise : condition * then + (1 - condition) * otherwise;
}
/// The side of a switch that is kept on its surface, where its uses differ there.
inline constexpr double kOnSurface = 0.5;
[[nodiscard]] inline double own_side(double side, double at_zero) {
  return side == kOnSurface ? at_zero : side;
}
/// 1 above, 0 below, `at_zero` on the surface; NaN stays NaN.
[[nodiscard]] inline double side_value(double surface, double at_zero) {
  return surface > 0 ? 1.0 : surface < 0 ? 0.0 : surface == 0 ? at_zero : surface;
}
[[nodiscard]] inline double sign_value(double surface) {
  return surface > 0 ? 1.0 : surface < 0 ? -1.0 : surface;
}
// The same of numbers that may be open: the side is none of their functions, but decided by guards.
[[nodiscard]] inline double side_value(const Number& surface, double at_zero) {
  return surface > 0 ? 1.0 : surface < 0 ? 0.0 : surface == 0 ? at_zero : surface.raw();
}
[[nodiscard]] inline double sign_value(const Number& surface) {
  return surface > 0 ? 1.0 : surface < 0 ? -1.0 : surface.raw();
}

}  // namespace judder::expr
