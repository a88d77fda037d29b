// Graph → straight-line program.
//
// 1. Nodes are visited operands first, from the outputs; each becomes a few instructions on values that are written once. Equal
//    instructions are one value, so squares and prefixes of products are shared.
// 2. A product that is used once, in a sum, becomes one instruction with the sum (two roundings, as before).
// 3. Constants that multiply or are added become part of the instruction: they need no register and nobody copies them. So do a multiple
//    that such a multiple is added to, a product that it is a multiple of, and the angle ω t + φ of a sine.
// 4. Instructions are put in an order in which values die early, and values get registers; a register is free again after the last
//    use of its value.
#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>
#include <map>
#include <tuple>

#include "expr/graph_data.hpp"
#include "expr/outside_calls.hpp"
#include "expr/run.hpp"

namespace judder::expr {

namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

struct Draft {
  Operation operation = Operation::add;
  std::uint16_t extra = 0;
  std::uint32_t first = kNone, second = kNone, third = kNone;
  friend auto operator<=>(const Draft&, const Draft&) = default;
};

/// A value is a constant, an input, or the result of an instruction.
struct Value {
  enum class Kind : std::uint8_t { constant, input, result } kind = Kind::result;
  Number constant = 0;
  std::uint32_t input = 0;
  Draft draft;
};

bool uses_second(Operation o) {
  switch (o) {
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
    case Operation::divide:
    case Operation::multiply_add:
    case Operation::multiply_subtract:
    case Operation::subtract_multiple:
    case Operation::scale_product_add:
    case Operation::power:
    case Operation::atan2:
    case Operation::hypot:
    case Operation::select:
    case Operation::turn:
    case Operation::put:
      return true;
    default:
      return false;
  }
}

bool uses_third(Operation o) {
  switch (o) {
    case Operation::multiply_add:
    case Operation::multiply_subtract:
    case Operation::subtract_multiple:
    case Operation::scale_add:
    case Operation::scale_both:
    case Operation::scale_product_add:
    case Operation::select:
      return true;
    default:
      return false;
  }
}

class Compiler {
 public:
  Compiler(const Graph::Data& data, const InputMap& map, Sides sides) : d_(data), map_(map), sides_(sides) {}

  void visit(std::span<const Node> outputs) {
    std::uint32_t top = 0;
    for (const Node o : outputs) top = std::max(top, o.index + 1);
    value_of_.assign(top, kNone);
    d_.spend(1 + top / 64 + outputs.size());
    std::vector<Node> stack;
    for (const Node o : outputs) {
      stack.push_back(o);
      while (!stack.empty()) {
        const Node a = stack.back();
        if (value_of_[a.index] != kNone) {
          stack.pop_back();
          continue;
        }
        const std::size_t before = stack.size();
        const auto terms = d_.terms(a);
        for (std::size_t k = terms.size(); k-- > 0;) {
          if (value_of_[terms[k].node.index] == kNone) stack.push_back(terms[k].node);
        }
        const Entry& e = d_.at(a);
        if ((e.kind == NodeKind::side || e.kind == NodeKind::sign) && side_by_value(e.first)) {
          const Node surface = d_.switches[e.first].surface;
          if (value_of_[surface.index] == kNone) stack.push_back(surface);
        }
        if (stack.size() != before) continue;
        d_.spend(12 + 4 * terms.size());
        value_of_[a.index] = emit(a);
        stack.pop_back();
      }
      outputs_.push_back(value_of_[o.index]);
    }
  }

  /// A product that is used once goes into the sum that uses it.
  void fuse();
  /// Constants that multiply or are added go into the instruction.
  void take_in_constants();
  /// What a multiple is added to, or a multiple of, and the angle ω t + φ of a sine go into the instruction if they are used once.
  void fuse_multiples();
  /// Instructions in the order in which values die early: a sum takes up each term as soon as it is known.
  [[nodiscard]] std::vector<std::uint32_t> schedule() const;
  void finish(std::vector<Instruction>& code, std::vector<Number>& constants,
              std::vector<std::uint32_t>& loads, std::vector<std::uint32_t>& outputs, int& registers) const;
  std::vector<double> tables;
  std::vector<Number> literals;
  std::vector<OutsideCall> calls;

 private:
  [[nodiscard]] bool side_by_value(std::uint32_t id) const {
    return sides_ == Sides::by_value || (sides_ == Sides::where_given && map_.side[id] < 0);
  }
  std::uint32_t add_value(Value v) {
    values_.push_back(v);
    return static_cast<std::uint32_t>(values_.size() - 1);
  }
  std::uint32_t constant(const Number& c) {
    const auto [it, added] = constants_.emplace(key(c), 0);
    if (added) {
      Value v;
      v.kind = Value::Kind::constant;
      v.constant = c;
      it->second = add_value(v);
    }
    return it->second;
  }
  std::uint32_t input(const std::vector<int>& places, std::uint32_t index) {
    const int place = index < places.size() ? places[index] : -1;
    assert(place >= 0 && "a variable or side that is not an input");
    if (place < 0) return constant(std::numeric_limits<double>::quiet_NaN());
    const auto [it, added] = inputs_.emplace(static_cast<std::uint32_t>(place), 0);
    if (added) {
      Value v;
      v.kind = Value::Kind::input;
      v.input = static_cast<std::uint32_t>(place);
      it->second = add_value(v);
    }
    return it->second;
  }
  std::uint32_t result(Operation operation, std::uint32_t first, std::uint32_t second = kNone,
                       std::uint32_t third = kNone, std::uint16_t extra = 0) {
    const Draft draft{operation, extra, first, second, third};
    const auto [it, added] = results_.emplace(draft, 0);
    if (added) {
      Value v;
      v.draft = draft;
      it->second = add_value(v);
    }
    return it->second;
  }
  std::uint32_t list(const std::vector<double>& numbers) {
    const auto begin = static_cast<std::uint32_t>(tables.size());
    tables.insert(tables.end(), numbers.begin(), numbers.end());
    return begin;
  }

  /// How often each value is an operand or an output.
  [[nodiscard]] std::vector<int> uses() const;
  std::uint32_t literal(const Number& c) {
    const auto [it, added] = literals_.emplace(key(c), static_cast<std::uint32_t>(literals.size()));
    if (added) literals.push_back(c);
    return it->second;
  }

  std::uint32_t emit(Node a);
  std::uint32_t emit_sum(Node a);
  std::uint32_t multiply_all(std::span<const std::pair<std::uint32_t, std::uint32_t>> factors);
  std::uint32_t emit_product(std::span<const Term> factors, const Number& numerator);
  std::uint32_t emit_power(std::uint32_t base, const Number& exponent);
  /// The base of a root or of a fractional power. Sides are frozen along a step, and a step may reach beyond the surface before its end is
  /// found there: |x| is then negative by little. What is never negative on its own sides counts as zero there.
  std::uint32_t emit_base(Node a) {
    return d_.sign_of(a) > 0 ? result(Operation::clip, value_of_[a.index]) : value_of_[a.index];
  }
  std::uint32_t emit_side(const Entry& e);
  std::uint32_t emit_outside(const Entry& e, std::span<const Term> arguments);
  /// |c| times the node.
  std::uint32_t emit_multiple(const Number& c, Node node);

  const Graph::Data& d_;
  const InputMap& map_;
  Sides sides_;
  std::vector<Value> values_;
  std::vector<std::uint32_t> value_of_;
  std::vector<std::uint32_t> outputs_;
  using Key = std::pair<std::uint64_t, std::uint32_t>;
  /// Constants are one if they are for all values of open parameters.
  static Key key(const Number& c) {
    return {std::bit_cast<std::uint64_t>(c.raw()), c.open() ? c.origin()->step : kNone};
  }
  std::map<Key, std::uint32_t> constants_, literals_;
  std::map<std::uint32_t, std::uint32_t> inputs_;
  std::map<Draft, std::uint32_t> results_;
  std::map<std::uint32_t, std::uint32_t> list_at_, levels_at_;
  /// By function and values of arguments: number of the call, and its value.
  std::map<std::pair<OutsideId, std::vector<std::uint32_t>>, std::pair<std::uint32_t, std::uint32_t>>
      call_at_;
};

std::uint32_t Compiler::emit_power(std::uint32_t base, const Number& exponent) {
  if (exponent == 1) return base;
  if (exponent == 0.5) {
    return result(operation_of(Function::sqrt), base);
  }
  if (!is_whole(exponent) || exponent > 30000) return result(Operation::power, base, constant(exponent));
  const auto n = static_cast<std::uint16_t>(exponent.fixed("the form of a power"));
  if (n == 2) return result(Operation::square, base);
  if (n == 3) return result(Operation::cube, base);
  if (n == 4) return result(Operation::square, result(Operation::square, base));
  return result(Operation::power_whole, base, kNone, kNone, n);
}

std::uint32_t Compiler::multiply_all(std::span<const std::pair<std::uint32_t, std::uint32_t>> factors) {
  if (factors.size() <= 3) {
    std::uint32_t total = factors[0].second;
    for (std::size_t i = 1; i < factors.size(); ++i)
      total = result(Operation::multiply, total, factors[i].second);
    return total;
  }
  // Split by the highest bit in which the numbers of the nodes differ, constants not counted: which of them are equal must not decide how products
  // round. The tree depends on the factors alone, so the products of a gradient,
  // which lack one factor each, share its branches: n log n multiplications instead of n²/2.
  const unsigned bit = std::bit_floor(factors.front().first ^ factors.back().first);
  const auto middle = std::find_if(factors.begin(), factors.end(), [&](const auto& f) {
    return (f.first & bit) != (factors.front().first & bit);
  });
  const auto left = static_cast<std::size_t>(middle - factors.begin());
  const std::uint32_t low = multiply_all(factors.first(left));
  return result(Operation::multiply, low, multiply_all(factors.subspan(left)));
}

std::uint32_t Compiler::emit_product(std::span<const Term> factors, const Number& numerator) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> over,
      under;  // ordinal of the node, value of its power
  for (const Term& f : factors) {
    const bool whole = is_whole(f.coefficient);
    const std::uint32_t base = whole ? value_of_[f.node.index] : emit_base(f.node);
    const std::uint32_t p = emit_power(base, abs(f.coefficient));
    (f.coefficient > 0 ? over : under).emplace_back(d_.at(f.node).ordinal, p);
  }
  const std::uint32_t above = over.empty() ? kNone : multiply_all(over);
  const std::uint32_t below = under.empty() ? kNone : multiply_all(under);
  if (below == kNone) return above;
  if (above != kNone) return result(Operation::divide, above, below);
  return numerator == 1 ? result(Operation::reciprocal, below)
                        : result(Operation::divide, constant(numerator), below);
}

std::uint32_t Compiler::emit_multiple(const Number& c, Node node) {
  const std::uint32_t v = value_of_[node.index];
  if (c == 1) return v;
  if (d_.at(node).kind == NodeKind::product) {
    const auto factors = d_.terms(node);
    const bool fraction =
        std::all_of(factors.begin(), factors.end(), [](const Term& f) { return f.coefficient < 0; });
    if (fraction) return emit_product(factors, c);  // c/x in one division
  }
  const double w = divisor(c);
  return w != 0 ? result(Operation::divide, v, constant(w)) : result(Operation::multiply, constant(c), v);
}

std::uint32_t Compiler::emit_sum(Node a) {
  const auto terms = d_.terms(a);
  const Number value = d_.at(a).value;
  // Start with something positive, so that x − v is a subtraction in whatever order its terms are kept.
  std::size_t start = 0;
  while (start < terms.size() && terms[start].coefficient < 0) ++start;
  std::uint32_t total = kNone;
  bool constant_done = value == 0;
  if (start < terms.size()) {
    total = emit_multiple(terms[start].coefficient, terms[start].node);
  } else if (value > 0) {
    total = constant(value);
    constant_done = true;
  } else {
    start = 0;
    const Number c = terms[0].coefficient;
    total =
        c == -1 ? result(Operation::negate, value_of_[terms[0].node.index]) : emit_multiple(c, terms[0].node);
  }
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (i == start) continue;
    const Number c = terms[i].coefficient;
    total = result(c < 0 ? Operation::subtract : Operation::add, total, emit_multiple(abs(c), terms[i].node));
  }
  if (!constant_done) {
    total = result(value < 0 ? Operation::subtract : Operation::add, total, constant(abs(value)));
  }
  return total;
}

std::uint32_t Compiler::emit_side(const Entry& e) {
  const Switch& s = d_.switches[e.first];
  if (!side_by_value(e.first)) {
    const std::uint32_t side = input(map_.side, e.first);
    if (e.kind == NodeKind::sign) return result(Operation::side_to_sign, side);
    if (!s.differ_at_zero || e.value == kOnSurface) return side;
    return result(e.value == 0 ? Operation::own_open : Operation::own_closed, side);
  }
  const std::uint32_t surface = value_of_[s.surface.index];
  if (e.kind == NodeKind::sign) return result(Operation::sign, surface);
  if (s.two_sided()) return result(e.value == 0 ? Operation::side_open : Operation::side_closed, surface);
  if (s.whole) return result(Operation::floor, surface);
  const auto [it, added] = levels_at_.emplace(e.first, 0);
  if (added) it->second = list(s.levels);
  return result(Operation::level, surface, it->second, static_cast<std::uint32_t>(s.levels.size()));
}

// All derivatives at the same arguments are one call. What is put is a chain, so that the call stands behind all of it.
std::uint32_t Compiler::emit_outside(const Entry& e, std::span<const Term> arguments) {
  const OutsideUse& use = d_.outside_uses[e.extra];
  std::vector<std::uint32_t> values;
  for (const Term& t : arguments) values.push_back(value_of_[t.node.index]);
  const auto [it, added] = call_at_.emplace(std::pair(use.function, values), std::pair(0U, kNone));
  auto& [number, made] = it->second;
  if (added) {
    number = static_cast<std::uint32_t>(calls.size());
    calls.push_back(outside_call(d_.outside[use.function], {}));
    std::uint32_t last = values.front();
    for (std::size_t k = 0; k < values.size(); ++k)
      last = result(Operation::put, values[k], last, number, static_cast<std::uint16_t>(k));
    made = result(Operation::outside, last, number);
  }
  std::vector<Orders>& wanted = calls[number].wanted;
  const auto found = std::find(wanted.begin(), wanted.end(), use.orders);
  const auto place = static_cast<std::uint16_t>(found - wanted.begin());
  if (found == wanted.end()) wanted.push_back(use.orders);
  return result(Operation::take, made, kNone, number, place);
}

std::uint32_t Compiler::emit(Node a) {
  const Entry& e = d_.at(a);
  const auto terms = d_.terms(a);
  const auto operand = [&](std::size_t k) { return value_of_[terms[k].node.index]; };
  switch (e.kind) {
    case NodeKind::constant:
      return constant(e.value);
    case NodeKind::variable:
      return input(map_.variable, e.first);
    case NodeKind::sum:
      return emit_sum(a);
    case NodeKind::product:
      return emit_product(terms, 1);
    case NodeKind::power:
      return result(Operation::power, emit_base(terms[0].node), operand(1));
    case NodeKind::call: {
      if (e.function == Function::atan2) return result(Operation::atan2, operand(0), operand(1));
      if (e.function == Function::hypot) {
        if (terms.size() == 1) return result(Operation::absolute, operand(0));
        std::uint32_t length = operand(0);
        for (std::size_t k = 1; k < terms.size(); ++k) length = result(Operation::hypot, length, operand(k));
        return length;
      }
      if (e.function == Function::sqrt) return result(Operation::sqrt, emit_base(terms[0].node));
      return result(operation_of(e.function), operand(0));
    }
    case NodeKind::select:
      return result(Operation::select, operand(0), operand(1), operand(2));
    case NodeKind::side:
    case NodeKind::sign:
      return emit_side(e);
    case NodeKind::lookup: {
      const auto [it, added] = list_at_.emplace(e.extra, 0);
      if (added) it->second = list(d_.lists[e.extra]);
      return result(Operation::lookup, operand(0), it->second,
                    static_cast<std::uint32_t>(d_.lists[e.extra].size()));
    }
    case NodeKind::turn:
      return result(Operation::turn, operand(0), operand(1));
    case NodeKind::flat:
      return result(Operation::flat, operand(0), kNone, kNone, static_cast<std::uint16_t>(e.extra));
    case NodeKind::outside:
      return emit_outside(e, terms);
  }
  return kNone;
}

std::vector<int> Compiler::uses() const {
  std::vector<int> count(values_.size());
  for (const std::uint32_t v : schedule()) {
    const Draft& draft = values_[v].draft;
    ++count[draft.first];
    if (uses_second(draft.operation)) ++count[draft.second];
    if (uses_third(draft.operation)) ++count[draft.third];
  }
  for (const std::uint32_t o : outputs_) ++count[o];
  return count;
}

void Compiler::fuse() {
  std::vector<int> uses = this->uses();
  const auto is_lone_product = [&](std::uint32_t v) {
    return values_[v].kind == Value::Kind::result && values_[v].draft.operation == Operation::multiply &&
           uses[v] == 1;
  };
  for (Value& v : values_) {
    if (v.kind != Value::Kind::result) continue;
    Draft& draft = v.draft;
    if (draft.operation != Operation::add && draft.operation != Operation::subtract) continue;
    const bool plus = draft.operation == Operation::add;
    const std::uint32_t left = draft.first, right = draft.second;
    if (is_lone_product(right)) {
      const Draft factors = values_[right].draft;
      draft = {plus ? Operation::multiply_add : Operation::subtract_multiple, 0, factors.first,
               factors.second, left};
      uses[right] = 0;
    } else if (is_lone_product(left)) {
      const Draft factors = values_[left].draft;
      draft = {plus ? Operation::multiply_add : Operation::multiply_subtract, 0, factors.first,
               factors.second, right};
      uses[left] = 0;
    }
  }
}

void Compiler::take_in_constants() {
  const auto is_constant = [&](std::uint32_t v) { return values_[v].kind == Value::Kind::constant; };
  for (const std::uint32_t v : schedule()) {
    Draft& d = values_[v].draft;
    if (d.operation == Operation::add || d.operation == Operation::subtract) {
      // a − c is a + (−c), to the bit.
      const double sign = d.operation == Operation::add ? 1 : -1;
      if (d.operation == Operation::add && is_constant(d.first)) std::swap(d.first, d.second);
      if (!is_constant(d.second)) continue;
      d = {Operation::shift, 0, d.first, literal(sign * values_[d.second].constant), kNone};
      continue;
    }
    const bool product = d.operation == Operation::multiply;
    const bool plus = d.operation == Operation::multiply_add,
               minus = d.operation == Operation::multiply_subtract,
               from = d.operation == Operation::subtract_multiple;
    if (!product && !plus && !minus && !from) continue;
    if (is_constant(d.first)) std::swap(d.first, d.second);
    if (!is_constant(d.second)) continue;
    // c − k a is (−k) a + c, to the bit.
    const Number k = (from ? -1 : 1) * values_[d.second].constant;
    if (product) {
      d = {Operation::scale, 0, d.first, literal(k), kNone};
    } else if (is_constant(d.third)) {
      d = {Operation::scale_shift, 0, d.first, literal(k),
           literal((minus ? -1 : 1) * values_[d.third].constant)};
    } else if (!minus) {
      d = {Operation::scale_add, 0, d.first, literal(k), d.third};
    }
  }
}

void Compiler::fuse_multiples() {
  const std::vector<int> count = uses();
  const auto is_lone = [&](std::uint32_t v, Operation o) {
    return values_[v].kind == Value::Kind::result && values_[v].draft.operation == o && count[v] == 1;
  };
  constexpr std::uint32_t kMostLiterals = std::numeric_limits<std::uint16_t>::max();
  for (const std::uint32_t v : schedule()) {
    Draft& d = values_[v].draft;
    if ((d.operation == Operation::sin || d.operation == Operation::cos) &&
        is_lone(d.first, Operation::scale_shift)) {
      const Draft& angle = values_[d.first].draft;
      d = {d.operation == Operation::sin ? Operation::sin_linear : Operation::cos_linear, 0, angle.first,
           angle.second, angle.third};
    }
    if (d.operation != Operation::scale_add) continue;
    const Draft& onto = values_[d.third].draft;
    const Draft& of = values_[d.first].draft;
    if (is_lone(d.third, Operation::scale) && onto.second <= kMostLiterals) {
      d = {Operation::scale_both, static_cast<std::uint16_t>(onto.second), d.first, d.second, onto.first};
    } else if (is_lone(d.first, Operation::multiply) && d.second <= kMostLiterals) {
      d = {Operation::scale_product_add, static_cast<std::uint16_t>(d.second), of.first, of.second, d.third};
    }
  }
}

std::vector<std::uint32_t> Compiler::schedule() const {
  std::vector<std::uint32_t> order, stack;
  std::vector<bool> done(values_.size());
  for (const std::uint32_t o : outputs_) {
    stack.push_back(o);
    while (!stack.empty()) {
      const std::uint32_t v = stack.back();
      if (done[v] || values_[v].kind != Value::Kind::result) {
        stack.pop_back();
        continue;
      }
      const std::size_t before = stack.size();
      const Draft& draft = values_[v].draft;
      const auto visit = [&](std::uint32_t operand) {
        if (!done[operand] && values_[operand].kind == Value::Kind::result) stack.push_back(operand);
      };
      // Pushed in reverse: what is added to comes first, then what is added.
      const bool select = draft.operation == Operation::select;
      if (uses_third(draft.operation) && select) visit(draft.third);
      if (uses_second(draft.operation)) visit(draft.second);
      visit(draft.first);
      if (uses_third(draft.operation) && !select) visit(draft.third);
      if (stack.size() != before) continue;
      done[v] = true;
      order.push_back(v);
      stack.pop_back();
    }
  }
  return order;
}

void Compiler::finish(std::vector<Instruction>& code, std::vector<Number>& constants,
                      std::vector<std::uint32_t>& loads, std::vector<std::uint32_t>& outputs,
                      int& registers) const {
  constexpr std::size_t kForever = ~std::size_t{0};
  const std::vector<std::uint32_t> order = schedule();
  const auto each_operand = [&](const Draft& draft, const auto& visit) {
    visit(draft.first);
    if (uses_second(draft.operation)) visit(draft.second);
    if (uses_third(draft.operation)) visit(draft.third);
  };
  std::vector<std::size_t> last_use(values_.size(), 0);
  std::vector<bool> used(values_.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    each_operand(values_[order[k]].draft, [&](std::uint32_t o) {
      last_use[o] = k;
      used[o] = true;
    });
  }
  for (const std::uint32_t o : outputs_) {
    last_use[o] = kForever;
    used[o] = true;
  }

  std::vector<std::uint32_t> place(values_.size(), kNone);
  std::uint32_t next = 0;
  for (std::size_t v = 0; v < values_.size(); ++v) {
    if (values_[v].kind != Value::Kind::constant || !used[v]) continue;
    place[v] = next++;
    constants.push_back(values_[v].constant);
  }
  for (std::size_t v = 0; v < values_.size(); ++v) {
    if (values_[v].kind != Value::Kind::input || !used[v]) continue;
    place[v] = next++;
    loads.push_back(values_[v].input);
  }
  std::vector<std::uint32_t> free_places;
  std::vector<std::size_t>
      blocks;  // instructions whose third is a call, and the place in its block in `extra`
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::uint32_t v = order[k];
    const Draft& draft = values_[v].draft;
    Instruction i;
    i.operation = static_cast<std::uint16_t>(draft.operation);
    i.extra = draft.extra;
    i.first = register_name(place[draft.first]);
    if (draft.second != kNone)
      i.second = uses_second(draft.operation) ? register_name(place[draft.second]) : draft.second;
    if (draft.third != kNone)
      i.third = uses_third(draft.operation) ? register_name(place[draft.third]) : draft.third;
    each_operand(draft, [&](std::uint32_t o) {
      if (values_[o].kind == Value::Kind::result && last_use[o] == k) {
        free_places.push_back(place[o]);
        last_use[o] = kForever;  // an operand may stand twice in one instruction
      }
    });
    if (free_places.empty()) {
      place[v] = next++;
    } else {
      place[v] = free_places.back();
      free_places.pop_back();
    }
    i.target = register_name(place[v]);
    if (draft.operation == Operation::put || draft.operation == Operation::outside ||
        draft.operation == Operation::take)
      blocks.push_back(code.size());
    code.push_back(i);
  }
  // Blocks lie behind all other registers, and none is used twice.
  std::vector<std::uint32_t> begin;
  for (const OutsideCall& call : calls) {
    begin.push_back(next);
    next += static_cast<std::uint32_t>(call.arguments) + static_cast<std::uint32_t>(call.wanted.size());
  }
  for (const std::size_t at : blocks) {
    Instruction& i = code[at];
    const auto operation = static_cast<Operation>(i.operation);
    const std::uint32_t number = operation == Operation::outside ? i.second : i.third;
    const auto arguments = static_cast<std::uint32_t>(calls[number].arguments);
    i.third = register_name(begin[number] + i.extra + (operation == Operation::take ? arguments : 0));
    i.extra = 0;
  }
  Instruction stop;
  stop.operation = static_cast<std::uint16_t>(Operation::stop);
  code.push_back(stop);
  for (const std::uint32_t o : outputs_) outputs.push_back(register_name(place[o]));
  registers = static_cast<int>(next);
}

}  // namespace

Program compile(const Graph& graph, std::span<const Node> outputs, const InputMap& map, int inputs,
                Sides sides) {
  Compiler compiler(graph.data(), map, sides);
  compiler.visit(outputs);
  compiler.fuse();
  compiler.take_in_constants();
  compiler.fuse_multiples();
  Program p;
  p.inputs_ = inputs;
  std::vector<Number> constants;
  compiler.finish(p.code_, constants, p.loads_, p.outputs_, p.registers_);
  p.tables_ = std::move(compiler.tables);
  p.outside_ = std::move(compiler.calls);
  const auto place = [&p](const std::vector<Number>& numbers, std::vector<double>& out, bool literal) {
    for (const Number& number : numbers) {
      if (number.open())
        p.open_.push_back({static_cast<std::uint32_t>(out.size()), number.origin()->step, literal});
      out.push_back(number.raw());
    }
  };
  place(constants, p.constants_, false);
  place(compiler.literals, p.literals_, true);
  return p;
}

void Program::bind(std::span<const double> values) {
  for (const Open& open : open_) (open.literal ? literals_ : constants_)[open.place] = values[open.step];
  open_.clear();
}

std::size_t Program::cost() const {
  constexpr std::size_t kFunction = 12;  // measured: 10 to 15 nanoseconds, where an addition takes one
  constexpr std::size_t kOutside = 100;  // not known; in Python several times as much
  std::size_t sum = 0;
  for (const Instruction& i : code_) {
    const auto operation = static_cast<Operation>(i.operation);
    const bool function = (operation >= Operation::sin && operation <= Operation::cbrt) ||
                          operation == Operation::power || operation == Operation::atan2 ||
                          operation == Operation::hypot || operation == Operation::flat;
    sum += operation == Operation::outside ? kOutside : function ? kFunction : 1;
  }
  return sum;
}

bool Program::has_peaks() const {
  constexpr int kBroad = 4;  // powers up to this one are flat nowhere that counts
  return std::any_of(code_.begin(), code_.end(), [](const Instruction& i) {
    switch (static_cast<Operation>(i.operation)) {
      case Operation::power_whole:
        return i.extra > kBroad;
      case Operation::divide:
      case Operation::reciprocal:
      case Operation::power:
      case Operation::atan2:
      case Operation::flat:
      case Operation::tan:
      case Operation::atan:
      case Operation::tanh:
      case Operation::exp:
      case Operation::log:
      case Operation::sinh:
      case Operation::cosh:
      case Operation::absolute:
      case Operation::clip:
      case Operation::side_open:
      case Operation::side_closed:
      case Operation::sign:
      case Operation::floor:
      case Operation::level:
        return true;
      default:
        return false;
    }
  });
}

Program Program::only(int output) const {
  Program out = *this;
  if (code_.empty()) return out;
  out.outputs_ = {outputs_[static_cast<std::size_t>(output)]};
  // Backwards: an instruction stays where its target is read before it is written again. Registers are used again, so a target is done with.
  std::vector<bool> read(static_cast<std::size_t>(registers_));
  const auto number = [](std::uint32_t name) { return name / register_name(1); };
  read[number(out.outputs_.front())] = true;
  std::vector<Instruction> kept{code_.back()};
  for (auto i = code_.rbegin() + 1; i != code_.rend(); ++i) {
    if (!read[number(i->target)]) continue;
    const auto operation = static_cast<Operation>(i->operation);
    read[number(i->target)] = false;
    read[number(i->first)] = true;
    if (uses_second(operation)) read[number(i->second)] = true;
    if (uses_third(operation)) read[number(i->third)] = true;
    kept.push_back(*i);
  }
  out.code_.assign(kept.rbegin(), kept.rend());
  return out;
}

}  // namespace judder::expr
