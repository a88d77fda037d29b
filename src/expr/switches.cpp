// Non-smooth functions, written with sides of switches.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "expr/graph_data.hpp"

namespace judder::expr {

namespace {

constexpr double kSameLevel = 1e-12;  ///< relative distance of a bound from a level that is rounding

/// "a > b" for "a <= b": the other side in the author's words.
std::string opposite(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kPairs{
      {{" <= ", " > "}, {" >= ", " < "}, {" < ", " >= "}, {" > ", " <= "}}};
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if (text[i] == ')' || text[i] == ']') --depth;
    if (depth != 0) continue;
    for (const auto& [from, to] : kPairs) {
      if (text.substr(i, from.size()) == from) {
        return std::string(text.substr(0, i)) + std::string(to) + std::string(text.substr(i + from.size()));
      }
    }
  }
  return text.empty() ? std::string() : "not (" + std::string(text) + ")";
}

}  // namespace

double rounded(double x) {
  int exponent = 0;
  const double part = std::frexp(x, &exponent);
  return std::ldexp(std::round(part * 0x1p40), exponent - 40);
}

Node Graph::Data::side_node(SwitchId id, double at_zero) {
  Entry e;
  e.kind = NodeKind::side;
  e.first = id;
  e.value = at_zero;
  return intern(e, {});
}

Node Graph::Data::sign_node(SwitchId id) {
  Entry e;
  e.kind = NodeKind::sign;
  e.first = id;
  return intern(e, {});
}

Node Graph::Data::level_side(SwitchId id) { return side_node(id, 1); }

Node Graph::Data::normalised(Node surface, bool& flipped) {
  const Entry e = at(surface);
  if (e.kind == NodeKind::sum) {
    const auto span = terms(surface);
    std::vector<Term> key(span.begin(), span.end());
    const Number leading = key[0].coefficient;
    flipped = leading < 0;
    for (Term& t : key) t.coefficient = rounded(t.coefficient / leading);
    // A single bracket, 3 (x − v), is normalised inside.
    if (key.size() == 1 && e.value == 0) {
      bool inner = false;
      const Node result = normalised(key[0].node, inner);
      flipped = flipped != inner;
      return result;
    }
    return sum(std::move(key), rounded(e.value / leading));
  }
  flipped = false;
  if (e.kind == NodeKind::product) {
    const auto span = terms(surface);
    std::vector<Term> key(span.begin(), span.end());
    for (Term& t : key) {
      if (!is_whole(t.coefficient)) continue;
      bool inner = false;
      t.node = normalised(t.node, inner);
      if (inner && std::fmod(t.coefficient.fixed("the form of a power"), 2.0) != 0) flipped = !flipped;
    }
    return product(1, std::move(key));
  }
  return surface;
}

std::pair<SwitchId, bool> Graph::Data::find_switch(Node surface, SwitchKind kind, std::string_view place,
                                                   double at_zero) {
  bool flipped = false;
  const Node key = normalised(surface, flipped);
  const auto found = two_sided.find(key.index);
  if (found != two_sided.end()) {
    Switch& s = switches[found->second.first];
    const bool opposed = found->second.second == flipped;
    const double own = opposed ? 1 - at_zero : at_zero;
    if (kind == SwitchKind::jump && s.kind != SwitchKind::jump) {
      s.at_zero = own;
    } else if (kind == SwitchKind::jump && own != s.at_zero) {
      s.at_zero = kOnSurface;
      s.differ_at_zero = true;
    }
    s.kind = std::min(s.kind, kind);
    return {found->second.first, opposed};
  }
  const auto id = static_cast<SwitchId>(switches.size());
  if (work != nullptr) work->keep_letters(place.size());
  Switch s;
  s.surface = surface;
  s.kind = kind;
  s.place = place;
  s.at_zero = at_zero;
  s.one_sided = sign_of(surface);
  switches.push_back(std::move(s));
  two_sided.emplace(key.index, std::pair(id, !flipped));
  return {id, false};
}

SwitchId Graph::Data::find_levels(Node x, const std::vector<double>& levels, bool every_whole,
                                  SwitchKind kind, std::string_view place) {
  const auto next = static_cast<SwitchId>(switches.size());
  // The key is compared with those of the same formula, and a new one keeps its levels here, with the switch and in the system.
  spend(levels.size());
  const SwitchId id = every_whole ? floors.emplace(x.index, next).first->second
                                  : levelled.emplace(std::pair(x.index, levels), next).first->second;
  if (id == next) {
    if (work != nullptr) {
      work->keep(1 + levels.size() / 8);
      work->keep_letters(place.size());
    }
    Switch s;
    s.surface = x;
    s.kind = kind;
    s.whole = every_whole;
    s.levels = levels;
    s.place = place;
    // What is never negative comes down to zero and turns: no side lies below, and nothing is to be decided there.
    if (sign_of(x) > 0) {
      s.never_negative = every_whole;
      for (double& level : s.levels) {
        if (level <= 0) level = -std::numeric_limits<double>::infinity();
      }
    }
    // What comes up to a level and turns there does not pass it.
    const Number top = range_of(x).high;
    if (isfinite(top)) {
      const double high = top.fixed("which level is the last");
      const double reached = high - kSameLevel * std::abs(high);
      const auto at = std::lower_bound(levels.begin(), levels.end(), reached);
      if (every_whole) {
        s.top = std::ceil(reached);
      } else if (at != levels.end()) {
        s.top = *at;
      }
    }
    switches.push_back(std::move(s));
  }
  switches[id].kind = std::min(switches[id].kind, kind);
  return id;
}

Node Graph::Data::two_sided_side(Node surface, double at_zero, SwitchKind kind, std::string_view place) {
  if (is_constant(surface)) return constant(side_value(at(surface).value, at_zero));
  if (const int sign = size_sign(surface); sign != 0) return constant(sign > 0 ? 1 : 0);
  // abs(x) >= 0 holds always, and what is continuous at zero does not see whether it is met: there is no switch. sign(abs(x)) is one, for where
  // x stays at zero.
  const int only = sign_of(surface);
  if (only != 0 && (kind != SwitchKind::jump || at_zero == (only > 0 ? 1 : 0) || never_zero(surface)))
    return constant(only > 0 ? 1 : 0);
  const auto [id, opposed] = find_switch(surface, kind, place, at_zero);
  if (!opposed) return side_node(id, at_zero);
  return sum({{-1, side_node(id, 1 - at_zero)}}, 1);
}

Node Graph::Data::two_sided_sign(Node surface, SwitchKind kind, std::string_view place) {
  if (is_constant(surface)) return constant(sign_value(at(surface).value));
  if (const int sign = size_sign(surface); sign != 0) return constant(sign);
  if (const int only = sign_of(surface); only != 0 && (kind != SwitchKind::jump || never_zero(surface)))
    return constant(only);
  const auto [id, opposed] = find_switch(surface, kind, place, 0.5);
  return scale(opposed ? -1 : 1, sign_node(id));
}

void Graph::Data::write_as(Node a, std::string name, std::vector<Node> arguments) {
  const NodeKind kind = at(a).kind;
  if (kind == NodeKind::constant || kind == NodeKind::variable || kind == NodeKind::side ||
      kind == NodeKind::sign)
    return;
  // A formula that was first met in another dress keeps it, and nothing is written with itself.
  for (const Node b : arguments) {
    if (b.index >= a.index) return;
  }
  aliases.emplace(a.index, Alias{std::move(name), std::move(arguments)});
}

Node Graph::sign(Node s, std::string_view place) { return data_->two_sided_sign(s, SwitchKind::jump, place); }
Node Graph::step(Node s, std::string_view place) {
  return data_->two_sided_side(s, 1, SwitchKind::jump, place);
}

Node Graph::absolute(Node s, std::string_view place) {
  if (data_->is_constant(s)) return data_->constant(abs(data_->at(s).value));
  const Node made = multiply(s, data_->two_sided_sign(s, SwitchKind::kink, place));
  data_->write_as(made, "abs", {data_->is_negative(s) ? negate(s) : s});
  return made;
}

// One of the two to the last bit: b + (a - b)*side would lose b beside a large a. Against zero it is the other one times its side, which is
// exactly zero beyond.
Node Graph::maximum(Node a, Node b, std::string_view place) {
  const Node difference = subtract(a, b);
  if (data_->is_constant(difference)) return data_->at(difference).value >= 0 ? a : b;
  const bool first_zero = data_->is_constant(a, 0);
  const Node above = data_->two_sided_side(first_zero ? b : difference, 1, SwitchKind::kink, place);
  const Node made = first_zero                 ? multiply(b, above)
                    : data_->is_constant(b, 0) ? multiply(a, above)
                                               : select(above, a, b);
  data_->write_as(made, "max", {a, b});
  return made;
}

Node Graph::minimum(Node a, Node b, std::string_view place) {
  const Node difference = subtract(a, b);
  if (data_->is_constant(difference)) return data_->at(difference).value <= 0 ? a : b;
  const bool second_zero = data_->is_constant(b, 0);
  const Node above = data_->two_sided_side(second_zero ? negate(a) : difference, 1, SwitchKind::kink, place);
  const Node made = second_zero                ? multiply(a, above)
                    : data_->is_constant(a, 0) ? multiply(b, above)
                                               : select(above, b, a);
  data_->write_as(made, "min", {a, b});
  return made;
}

Node Graph::floor(Node x, std::string_view place) {
  if (data_->is_constant(x)) return data_->constant(std::floor(data_->at(x).value.fixed("a whole number")));
  return data_->level_side(data_->find_levels(x, {}, true, SwitchKind::jump, place));
}

Node Graph::modulo(Node a, Node b, std::string_view place) {
  if (data_->is_constant(a) && data_->is_constant(b)) {
    const double divisor = data_->at(b).value.fixed("a remainder");
    double rest = std::fmod(data_->at(a).value.fixed("a remainder"), divisor);
    if (rest != 0 && (rest < 0) != (divisor < 0)) rest += divisor;
    if (rest == divisor) rest = 0;  // −1e-20 + 1
    return data_->constant(rest);
  }
  const Node made = subtract(a, multiply(b, floor(divide(a, b), place)));
  data_->write_as(made, "mod", {a, b});
  return made;
}

Node Graph::atan2(Node y, Node x, std::string_view place) {
  const std::array arguments{y, x};
  const Node angle = call(Function::atan2, arguments);
  if (data_->is_constant(angle)) return angle;
  if (data_->is_constant(y, 0)) {  // along the cut: 0 on the one side of the origin, π on the other
    const Node side = data_->two_sided_side(x, 1, SwitchKind::jump, place);
    const Node made =
        multiply(constant(std::copysign(std::numbers::pi, data_->at(y).value.fixed("an angle"))),
                 subtract(constant(1), side));
    data_->write_as(made, "atan2", {y, x});
    return made;
  }
  if (data_->is_constant(y)) return angle;  // the cut is never crossed
  if (data_->is_constant(x) && data_->at(x).value > 0) return angle;
  const Node made = data_->turn(data_->two_sided_side(y, 1, SwitchKind::jump, place), angle);
  data_->write_as(made, "atan2", {y, x});
  return made;
}

Node Graph::angle(Function inverse, Node x, std::string_view place) {
  constexpr double kPi = std::numbers::pi;
  const Node plain = call(inverse, std::array{x});
  const bool opposed = data_->is_multiple(x) && data_->terms(x)[0].coefficient == -1;
  const Node inside = opposed ? data_->operand(x, 0) : x;
  const Entry e = data_->at(inside);
  if (e.kind != NodeKind::call || (data_->is_multiple(x) && !opposed)) return plain;
  const bool saw = inverse == Function::atan;
  if (saw ? e.function != Function::tan : e.function != Function::sin && e.function != Function::cos)
    return plain;
  const Node turns = divide(data_->operand(inside, 0), constant(saw ? kPi : 2 * kPi));
  // x less the nearest whole number: −½ … ½
  const auto rest = [&](double shift, SwitchKind kind) {
    const Node shifted = add(turns, constant(shift + 0.5));
    const Node whole = data_->level_side(data_->find_levels(shifted, {}, true, kind, place));
    return subtract(subtract(shifted, constant(0.5)), whole);
  };
  Node made{};
  if (saw) {
    made = multiply(constant(opposed ? -kPi : kPi), rest(0, SwitchKind::jump));
  } else {
    // asin(sin y) = π/2 − 2π |rest of y/2π − ¼|, acos(cos y) = 2π |rest of y/2π|
    const Node valley = multiply(
        constant(2 * kPi), absolute(rest(e.function == Function::sin ? -0.25 : 0, SwitchKind::kink), place));
    const bool cosine =
        (inverse == Function::acos) != opposed;  // acos(x) = π/2 − asin(x), acos(−x) = π − acos(x)
    const double level = inverse == Function::acos ? (opposed ? kPi : 0) : (opposed ? -kPi / 2 : kPi / 2);
    made = cosine ? add(constant(level), valley) : subtract(constant(level), valley);
  }
  data_->write_as(made, saw ? "atan" : inverse == Function::asin ? "asin" : "acos", {x});
  return made;
}

Node Graph::bump(Node s, std::string_view place) {
  // exp(1/(s (s − 1)))/Z, with Z its integral over (0, 1) (Basseville 2004, III.1).
  constexpr double kIntegral = 0.0070298584066096562392;
  // Beside its ends no derivative would tell that it has begun, and its values would leave the range of numbers. A power that is nothing
  // elsewhere takes its place there (docs/theory.md, "What begins flat").
  constexpr double kBegins = 0x1p-100;
  const Node inside = multiply(s, subtract(constant(1), s));
  const Node value = add(divide(data_->flat(inside, 0), constant(kIntegral)),
                         multiply(constant(kBegins), power(inside, constant(4))));
  const std::vector<double> ends{0.0, 1.0};
  if (data_->is_constant(s))
    return level_of(ends, data_->at(s).value.fixed("a constant bump")) == 0 ? value : constant(0);
  const SwitchId id = data_->find_levels(s, ends, false, SwitchKind::smooth, place);
  const Node within = data_->lookup(data_->level_side(id), data_->add_list({0.0, 1.0, 0.0}));
  const Node made = select(within, value, constant(0));
  data_->write_as(made, "bump", {s});
  return made;
}

Node Graph::less(Node a, Node b, bool or_equal, std::string_view place, std::string_view text) {
  const Node surface = subtract(b, a);
  const double at_zero = or_equal ? 1 : 0;
  const Node made = data_->two_sided_side(surface, at_zero, SwitchKind::jump, place);
  if (!data_->is_constant(made) && !text.empty()) {
    const auto [id, opposed] = data_->find_switch(surface, SwitchKind::jump, place, at_zero);
    Switch& s = data_->switches[id];
    if (s.above.empty()) {
      s.above = opposed ? opposite(text) : std::string(text);
      s.below = opposed ? std::string(text) : opposite(text);
    }
  }
  return made;
}

Node Graph::both(Node a, Node b) {
  if (a == b) return a;
  const Node made = multiply(a, b);
  data_->write_as(made, "and", {a, b});
  return made;
}

Node Graph::either(Node a, Node b) {
  if (a == b) return a;
  if (data_->is_constant(a, 1) || data_->is_constant(b, 1)) return constant(1);
  const std::array terms{a, b, negate(multiply(a, b))};
  const Node made = sum(terms);
  data_->write_as(made, "or", {a, b});
  return made;
}

Node Graph::negation(Node a) {
  const Node made = subtract(constant(1), a);
  data_->write_as(made, "not", {a});
  return made;
}

Node Graph::side(SwitchId id) { return data_->side_node(id, 1); }

std::vector<Node> Graph::uses(std::span<const Node> roots) {
  const Node always = constant(1);
  const Node never = constant(0);
  std::vector<Node> used(data_->switches.size(), never);
  const std::vector<std::uint32_t> parts = data_->parts(roots, true);
  if (parts.empty()) return used;
  std::vector<Node> reached(parts.back() + 1, never);
  for (const Node root : roots) reached[root.index] = always;
  const std::size_t most = data_->entries.size() + 16 * parts.size();
  const auto reach = [&](Node& place, Node way) {
    // Conditions that would make a large formula of their own count as met: then nothing is left out.
    place = way == never || place == always  ? place
            : place == never                 ? way
            : way == always || size() > most ? always
                                             : either(place, way);
  };
  for (std::size_t p = parts.size(); p-- > 0;) {
    const Node node{parts[p]};
    const Node way = reached[node.index];
    if (way == never) continue;
    const Entry entry = data_->at(node);
    if (entry.kind == NodeKind::side || entry.kind == NodeKind::sign) {
      reach(used[entry.first], way);
      reach(reached[data_->switches[entry.first].surface.index], way);
      continue;
    }
    if (entry.kind == NodeKind::select) {
      const Node condition = data_->operand(node, 0);
      const Node then = data_->operand(node, 1);
      const Node otherwise = data_->operand(node, 2);
      reach(reached[condition.index], way);
      reach(reached[then.index], both(way, condition));
      reach(reached[otherwise.index], both(way, negation(condition)));
      continue;
    }
    for (std::size_t i = 0; i < data_->at(node).count; ++i)
      reach(reached[data_->operand(node, i).index], way);
  }
  return used;
}

// --- tables ---

namespace {

/// Second derivatives at the knots of the cubic spline with "not-a-knot" ends: the two outer pieces at each end are one cubic. With
/// three points that is the parabola through them, with two the straight line.
std::vector<double> spline_curvatures(const std::vector<double>& x, const std::vector<double>& y) {
  const std::size_t n = x.size();
  std::vector<double> m(n, 0.0);
  if (n < 3) return m;
  const auto h = [&](std::size_t i) { return x[i + 1] - x[i]; };
  const auto slope = [&](std::size_t i) { return (y[i + 1] - y[i]) / h(i); };
  if (n == 3) {
    const double c = 2 * (slope(1) - slope(0)) / (x[2] - x[0]);
    return {c, c, c};
  }
  // Unknown m₁ … m_{n−2}; m₀ and m_{n−1} follow from equal third derivatives over the first and the last two pieces.
  const std::size_t k = n - 2;
  std::vector<double> lower(k), middle(k), upper(k), right(k);
  for (std::size_t i = 0; i < k; ++i) {
    lower[i] = h(i);
    middle[i] = 2 * (h(i) + h(i + 1));
    upper[i] = h(i + 1);
    right[i] = 6 * (slope(i + 1) - slope(i));
  }
  const double first = h(0) / h(1);
  middle[0] += lower[0] * (1 + first);
  upper[0] -= lower[0] * first;
  const double last = h(n - 2) / h(n - 3);
  middle[k - 1] += upper[k - 1] * (1 + last);
  lower[k - 1] -= upper[k - 1] * last;
  for (std::size_t i = 1; i < k; ++i) {
    const double factor = lower[i] / middle[i - 1];
    middle[i] -= factor * upper[i - 1];
    right[i] -= factor * right[i - 1];
  }
  for (std::size_t i = k; i-- > 0;) {
    m[i + 1] = (right[i] - (i + 1 < k ? upper[i] * m[i + 2] : 0.0)) / middle[i];
  }
  m[0] = m[1] * (1 + first) - m[2] * first;
  m[n - 1] = m[n - 2] * (1 + last) - m[n - 3] * last;
  return m;
}

}  // namespace

TableId Graph::add_table(std::string name, std::vector<double> x, std::vector<double> y, TableShape shape,
                         TableOutside outside) {
  const std::size_t n = x.size();
  Table table;
  table.name = std::move(name);
  // Entry i + 1 of a list belongs to the piece that starts at knot i; entry 0 to the left of all.
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const double left = outside == TableOutside::error ? kNone : outside == TableOutside::hold ? y[0] : 0.0;
  const double right = outside == TableOutside::error  ? kNone
                       : outside == TableOutside::hold ? y[n - 1]
                                                       : 0.0;
  std::vector<double> knot(n + 1, x[0]), c0(n + 1, left), c1(n + 1), c2(n + 1), c3(n + 1);
  for (std::size_t i = 0; i < n; ++i) knot[i + 1] = x[i];
  const std::vector<double> m = shape == TableShape::cubic ? spline_curvatures(x, y) : std::vector<double>(n);
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const double h = x[i + 1] - x[i];
    c0[i + 1] = y[i];
    if (shape == TableShape::step) continue;
    c1[i + 1] = (y[i + 1] - y[i]) / h - h * (2 * m[i] + m[i + 1]) / 6;
    c2[i + 1] = m[i] / 2;
    c3[i + 1] = (m[i + 1] - m[i]) / (6 * h);
  }
  c0[n] = right;
  table.levels = x;
  table.from = x[0];
  table.to = x[n - 1];
  table.ends = outside == TableOutside::error;
  // The last knot itself is inside, with the rounding of an argument that reaches it: a run to the end of its data is a run inside.
  constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon();
  if (outside == TableOutside::error)
    table.levels[n - 1] += kRounding * std::max(std::abs(x[0]), std::abs(x[n - 1]));
  const bool jumps =
      shape == TableShape::step || (outside == TableOutside::zero && (y[0] != 0 || y[n - 1] != 0));
  table.kind = jumps                                                          ? SwitchKind::jump
               : shape == TableShape::cubic && outside == TableOutside::error ? SwitchKind::smooth
                                                                              : SwitchKind::kink;
  table.lists.push_back(data_->add_list(std::move(knot)));
  table.lists.push_back(data_->add_list(std::move(c0)));
  if (shape != TableShape::step) table.lists.push_back(data_->add_list(std::move(c1)));
  if (shape == TableShape::cubic) {
    table.lists.push_back(data_->add_list(std::move(c2)));
    table.lists.push_back(data_->add_list(std::move(c3)));
  }
  data_->tables.push_back(std::move(table));
  return static_cast<TableId>(data_->tables.size() - 1);
}

std::vector<TableUse> Graph::table_uses() const {
  std::vector<TableUse> out;
  for (const auto& [id, argument] : data_->table_uses) {
    const Table& table = data_->tables[id];
    out.push_back({table.name, table.from, table.to, argument});
  }
  return out;
}

Node Graph::table(TableId id, Node x, std::string_view place) {
  const Table& t = data_->tables[id];
  const std::vector<std::uint32_t> lists = t.lists;
  Node piece{};
  if (data_->is_constant(x)) {
    piece = data_->constant(level_of(t.levels, data_->at(x).value.fixed("where a table is read")));
  } else {
    piece = data_->level_side(data_->find_levels(x, t.levels, false, t.kind, place));
  }
  // Horner's rule in the distance from the knot.
  Node made = data_->lookup(piece, lists.back());
  if (lists.size() > 2) {
    const Node u = subtract(x, data_->lookup(piece, lists[0]));
    for (std::size_t i = lists.size() - 1; i-- > 1;) {
      made = add(data_->lookup(piece, lists[i]), multiply(u, made));
    }
  }
  if (data_->tables[id].ends && !data_->is_constant(x)) data_->table_uses.push_back({id, x});
  data_->write_as(made, data_->tables[id].name, {x});
  return made;
}

}  // namespace judder::expr
