// Formulas as text, LaTeX and MathML (print_styles.hpp), built from the operands upwards so that deep formulas need no stack.
#include <algorithm>
#include <array>
#include <cctype>

#include "expr/graph_data.hpp"
#include "expr/print_styles.hpp"
#include "judder/core/number.hpp"
#include "judder/expr/named_texts.hpp"

namespace judder::expr {

namespace {

// Shared parts are written out at each use, which can grow without bound. A part longer than the longest allowed is shown as "…"; once all
// parts together have reached kBudget, so is a part longer than kShort, and so is a text once kGiven characters were given away.
constexpr std::size_t kLongest = 1 << 16;
constexpr std::size_t kBudget = 1 << 22;
constexpr std::size_t kGiven = 1 << 24;
constexpr std::size_t kShort = 256;
// What is put together only to be found too long costs as much as what is kept: of a long table that is used often every use is. Sixteen bytes of
// it take about a tenth of a microsecond, so that this is a tenth of a second.
constexpr std::size_t kWasted = 1 << 24;
/// Characters that are put together for the price of one operation; each is copied a few times on its way.
constexpr std::size_t kPerOperation = 16;

constexpr std::array<const char*, 18> kNames{"sin",  "cos",  "tan",  "asin",  "acos",  "atan",
                                             "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
                                             "exp",  "log",  "sqrt", "cbrt",  "atan2", "hypot"};

template <class Style>
class Printer {
 public:
  Printer(const Graph::Data& data, std::size_t longest) : d_(data), longest_(longest) {}
  void use(Patience* patience) { patience_ = patience; }
  void show(const Looks& looks) { looks_ = looks; }

  std::string print(Node root) {
    // A piece for each node that is written and was not written before: one text of many must not cost all of the graph, and formulas that
    // stand inside one another are not made again for each of them.
    std::vector<std::uint32_t> fresh;
    const auto take = [&](Node node) {
      if (pieces_.try_emplace(node.index).second) fresh.push_back(node.index);
    };
    take(root);
    for (std::size_t at = 0; at < fresh.size(); ++at) {
      const Node node{fresh[at]};
      for (const Term& t : d_.terms(node)) take(t.node);
      const Entry& e = d_.at(node);
      if (e.kind == NodeKind::side || e.kind == NodeKind::sign) take(d_.switches[e.first].surface);
      // Written forms name operands that the canonical form may not contain any more.
      const auto alias = d_.aliases.find(node.index);
      if (alias == d_.aliases.end()) continue;
      for (const Node a : alias->second.arguments) take(a);
    }
    std::sort(fresh.begin(), fresh.end());
    for (const std::uint32_t index : fresh) {
      if (patience_ != nullptr) patience_->look();
      const auto alias = d_.aliases.find(index);
      const bool logical = alias != d_.aliases.end() && is_logical(alias->second);
      if (logical) conditions_[index] = counted(make_condition(alias->second));
      pieces_[index] = counted(alias != d_.aliases.end() ? make_alias(alias->second) : make(Node{index}));
    }
    const std::string& text = piece(root).text;
    if (text.size() > kShort && given_ > kGiven) return "…";
    given_ += text.size();
    d_.spend(1 + text.size() / kPerOperation);
    return text;
  }

  /// The same for a place where something is multiplied with it.
  std::string factor(Node root) {
    std::string text = print(root);
    return text == piece(root).text ? Style::fit(piece(root), kMultiply) : text;
  }

 private:
  const Piece& piece(Node a) const { return pieces_.find(a.index)->second; }

  /// What was made, if there is room for it.
  Piece counted(Piece made) {
    d_.spend(2 + made.text.size() / kPerOperation);
    if (too_long(made.text)) {
      wasted_ += made.text.size();
      return {"…", kAtom};
    }
    total_ += made.text.size();
    return made;
  }
  /// Whether a text that is put together from several parts will be cut anyway.
  [[nodiscard]] bool too_long(const std::string& text) const {
    return text.size() > (total_ < kBudget && wasted_ < kWasted ? longest_ : kShort);
  }

  static bool is_logical(const Alias& alias) {
    return alias.name == "and" || alias.name == "or" || alias.name == "not";
  }

  Piece variable(Variable index) const {
    if (const auto look = looks_.by_variable.find(index); look != looks_.by_variable.end())
      return {look->second, kAtom};
    const std::string& name = d_.names[index];
    const auto look = looks_.by_name.find(name);
    return look != looks_.by_name.end() ? Piece{look->second, kAtom} : Style::variable(name);
  }

  Piece call(const char* name, Node argument) {
    const std::array arguments{piece(argument)};
    return Style::call(name, arguments);
  }
  Piece logical_piece(Node a) const {
    const Piece p = condition(a);
    // A condition that lost its written form: any blend beyond one half counts as true.
    if (p.strength <= kCompare) return p;
    Piece shifted{p.text + Style::kMinusSign + Style::number(0.5).text, kAdd};
    return Style::compare(shifted, ">");
  }

  Piece make(Node a) {
    const Entry& e = d_.at(a);
    const auto terms = d_.terms(a);
    switch (e.kind) {
      case NodeKind::constant:
        return Style::number(e.value.raw());
      case NodeKind::variable:
        return variable(static_cast<Variable>(e.first));
      case NodeKind::sum:
        return make_sum(terms, e.value.raw());
      case NodeKind::product:
        return make_product(terms, 1);
      case NodeKind::power:
        return Style::raised(piece(terms[0].node), piece(terms[1].node));
      case NodeKind::call: {
        std::vector<Piece> arguments;
        for (const Term& t : terms) arguments.push_back(piece(t.node));
        return Style::call(kNames[static_cast<std::size_t>(e.function)], arguments);
      }
      case NodeKind::select:
        return Style::select(logical_piece(terms[0].node), piece(terms[1].node), piece(terms[2].node));
      case NodeKind::sign:
        return call("sign", d_.switches[e.first].surface);
      case NodeKind::side:
        return make_side(e);
      case NodeKind::lookup: {
        const Entry& side = d_.at(terms[0].node);
        return side.kind == NodeKind::side ? make_lookup(d_.switches[side.first], d_.lists[e.extra])
                                           : piece(terms[0].node);
      }
      case NodeKind::turn:
        return piece(terms[1].node);
      case NodeKind::flat:
        return make_flat(piece(terms[0].node), e.extra);
      case NodeKind::outside: {
        // A derivative has the numbers of its arguments behind the name: ground_12(x, t).
        const OutsideUse& use = d_.outside_uses[e.extra];
        std::string name = d_.outside[use.function].name;
        std::vector<Piece> arguments;
        for (std::size_t i = 0; i < terms.size(); ++i) {
          if (total(use.orders) > 0 && arguments.empty()) name += '_';
          name.append(use.orders[i], static_cast<char>('1' + i));
          arguments.push_back(piece(terms[i].node));
        }
        return Style::call(name, arguments);
      }
    }
    return {};
  }

  /// Conditions are printed as such where `if` needs them. Those of several parts are made with the pieces, from the operands upwards.
  Piece condition(Node a) const {
    const Entry& e = d_.at(a);
    if (e.kind == NodeKind::side && d_.switches[e.first].two_sided()) {
      return Style::compare(piece(d_.switches[e.first].surface), e.value.raw() == 0 ? ">" : ">=");
    }
    if (e.kind == NodeKind::lookup) {
      const Switch& s = d_.switches[d_.at(d_.operand(a, 0)).first];
      const Piece from = shifted(s.surface, s.levels.front()), to = shifted(s.surface, s.levels.back());
      return Style::logical(Style::compare(from, ">="), "and", Style::compare(to, "<"), kAnd);
    }
    // 1 − side: the relation turned round.
    if (e.kind == NodeKind::sum && e.count == 1 && e.value.raw() == 1 &&
        d_.pool[e.first].coefficient.raw() == -1) {
      const Entry& inner = d_.at(d_.pool[e.first].node);
      if (inner.kind == NodeKind::side && d_.switches[inner.first].two_sided()) {
        return Style::compare(piece(d_.switches[inner.first].surface), inner.value.raw() == 0 ? "<=" : "<");
      }
    }
    const auto made = conditions_.find(a.index);
    return made != conditions_.end() ? made->second : piece(a);
  }

  Piece make_condition(const Alias& alias) const {
    const auto& [name, arguments] = alias;
    if (name == "not") return Style::negated(logical_piece(arguments[0]));
    const int strength = name == "and" ? kAnd : kOr;
    return Style::logical(logical_piece(arguments[0]), name.c_str(), logical_piece(arguments[1]), strength);
  }

  Piece make_alias(const Alias& alias) {
    if (is_logical(alias)) {
      // As a number, which only derivatives of conditions and blends need.
      const Piece& p = piece(alias.arguments[0]);
      if (alias.name == "not")
        return {Style::number(1).text + Style::kMinusSign + Style::fit(p, kMultiply), kAdd};
      const Piece& q = piece(alias.arguments[1]);
      const std::string product = Style::times(Style::fit(p, kMultiply), Style::fit(q, kMinus));
      if (alias.name == "and") return {product, kMultiply};
      return {Style::fit(p, kAdd) + Style::kPlusSign + Style::fit(q, kMultiply) + Style::kMinusSign + product,
              kAdd};
    }
    std::vector<Piece> arguments;
    for (const Node a : alias.arguments) arguments.push_back(piece(a));
    return Style::call(alias.name, arguments);
  }

  Piece shifted(Node x, double level) const {
    if (level == 0) return piece(x);
    return {Style::fit(piece(x), kAdd) + (level < 0 ? Style::kPlusSign : Style::kMinusSign) +
                Style::fit(Style::number(std::abs(level)), kMultiply),
            kAdd};
  }

  Piece make_side(const Entry& e) {
    const Switch& s = d_.switches[e.first];
    if (s.whole) return call("floor", s.surface);
    if (s.two_sided()) {
      if (e.value.raw() != 0) return call("step", s.surface);
      return Style::select(Style::compare(piece(s.surface), ">"), Style::number(1), Style::number(0));
    }
    std::string out;
    for (const double level : s.levels) {
      if (too_long(out)) break;
      const std::array argument{shifted(s.surface, level)};
      out += (out.empty() ? "" : Style::kPlusSign) + Style::call("step", argument).text;
    }
    return {out + Style::kMinusSign + Style::number(1).text, kAdd};
  }

  /// The staircase of a list as a sum of steps. Where the table is an error the neighbour's value is printed.
  Piece make_lookup(const Switch& s, std::span<const double> list) {
    std::vector<double> values(list.begin(), list.end());
    for (std::size_t i = 1; i < values.size(); ++i) {
      if (std::isnan(values[i])) values[i] = values[i - 1];
    }
    for (std::size_t i = values.size() - 1; i-- > 0;) {
      if (std::isnan(values[i])) values[i] = values[i + 1];
    }
    std::string out = Style::number(values[0]).text;
    for (std::size_t i = 1; i < values.size(); ++i) {
      const double jump = values[i] - values[i - 1];
      if (too_long(out)) break;
      if (jump == 0) continue;
      const std::array argument{shifted(s.surface, s.levels[i - 1])};
      const std::string size = Style::fit(Style::number(std::abs(jump)), kMultiply);
      out += (jump < 0 ? Style::kMinusSign : Style::kPlusSign) +
             Style::times(size, Style::call("step", argument).text);
    }
    return {out, kAdd};
  }

  Piece make_flat(const Piece& u, std::uint32_t order) {
    const Piece over = Style::fraction(Style::number(1), u);
    const std::array argument{Piece{Style::kNegativeSign + Style::fit(over, kMultiply), kMinus}};
    Piece value = Style::call("exp", argument);
    if (order > 0) value = Style::fraction(value, order == 1 ? u : Style::raised(u, Style::number(order)));
    return Style::select(Style::compare(u, ">"), value, Style::number(0));
  }

  Piece make_product(std::span<const Term> factors, double numerator) {
    Piece above, below;
    const auto extend = [](Piece& to, const Piece& factor) {
      if (to.text.empty()) {
        to = factor;
      } else {
        to = {Style::times(Style::fit(to, kMultiply), Style::fit(factor, kMinus + 1)), kMultiply};
      }
    };
    if (numerator != 1) above = Style::number(numerator);
    for (const Term& f : factors) {
      if (too_long(above.text) || too_long(below.text)) break;
      const double n = std::abs(f.coefficient.raw());
      const Piece factor = n == 1 ? piece(f.node) : Style::raised(piece(f.node), Style::number(n));
      extend(f.coefficient.raw() > 0 ? above : below, factor);
    }
    if (below.text.empty()) return above;
    return Style::fraction(above.text.empty() ? Style::number(1) : above, below);
  }

  /// |c| times a node.
  Piece make_multiple(double c, Node node) {
    if (c == 1) return piece(node);
    const bool product = d_.at(node).kind == NodeKind::product && !d_.aliases.contains(node.index);
    if (const double w = divisor(c); w != 0 && is_whole(w) && !product)
      return Style::fraction(piece(node), Style::number(w));
    if (product) return make_product(d_.terms(node), c);
    const Piece factor = Style::number(c);
    return {Style::times(Style::fit(factor, kMultiply), Style::fit(piece(node), kMinus + 1)), kMultiply};
  }

  Piece make_sum(std::span<const Term> terms, double value) {
    std::size_t start = 0;
    while (start < terms.size() && terms[start].coefficient.raw() < 0) ++start;
    std::string out;
    int strength = kAdd;
    bool value_done = value == 0;
    if (start < terms.size()) {
      const Piece first = make_multiple(terms[start].coefficient.raw(), terms[start].node);
      out = Style::fit(first, kAdd);
      if (terms.size() == 1 && value == 0) strength = first.strength;
    } else if (value > 0) {
      out = Style::number(value).text;
      value_done = true;
    } else {
      start = 0;
      const Piece first = make_multiple(-terms[0].coefficient.raw(), terms[0].node);
      out = Style::kNegativeSign + Style::fit(first, kMultiply);
      // −a/b and −a*b read alike with the sign in front of the whole.
      if (terms.size() == 1 && value == 0) strength = std::min<int>(kMultiply, kMinus);
    }
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (i == start) continue;
      if (too_long(out)) break;
      const double c = terms[i].coefficient.raw();
      out += (c < 0 ? Style::kMinusSign : Style::kPlusSign) +
             Style::fit(make_multiple(std::abs(c), terms[i].node), kMultiply);
    }
    if (!value_done)
      out += (value < 0 ? Style::kMinusSign : Style::kPlusSign) +
             Style::fit(Style::number(std::abs(value)), kMultiply);
    return {out, strength};
  }

  const Graph::Data& d_;
  std::size_t longest_;
  std::size_t total_ = 0, wasted_ = 0, given_ = 0;
  Patience* patience_ = nullptr;
  Looks looks_;
  std::unordered_map<std::uint32_t, Piece> pieces_;  // by node
  std::unordered_map<std::uint32_t, Piece>
      conditions_;  // of `and`, `or`, `not`, where they stand as conditions
};

}  // namespace

std::string Graph::text(Node a) const { return Printer<Text>(*data_, kLongest).print(a); }
std::string Graph::latex(Node a) const { return Printer<Latex>(*data_, kLongest).print(a); }

struct Texts::Parts {
  Parts() = default;
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  virtual ~Parts() = default;
  virtual void use(Patience* patience) = 0;
  virtual std::string print(Node a) = 0;
  virtual std::string factor(Node a) = 0;
};

namespace {

template <class Style>
struct StyleParts final : Texts::Parts {
  StyleParts(const Graph::Data& data, std::size_t longest, const Looks& looks) : printer(data, longest) {
    printer.show(looks);
  }
  void use(Patience* patience) override { printer.use(patience); }
  std::string print(Node a) override { return printer.print(a); }
  std::string factor(Node a) override { return printer.factor(a); }
  Printer<Style> printer;
};

std::unique_ptr<Texts::Parts> parts_in(Notation notation, const Graph& graph, std::size_t longest,
                                       const Looks& looks) {
  const std::size_t most = std::min(longest, kLongest);
  if (notation == Notation::latex) return std::make_unique<StyleParts<Latex>>(graph.data(), most, looks);
  if (notation == Notation::mathml) return std::make_unique<StyleParts<Mathml>>(graph.data(), most, looks);
  return std::make_unique<StyleParts<Text>>(graph.data(), most, looks);
}

}  // namespace

Texts::Texts(const Graph& graph, std::size_t longest, Notation notation)
    : parts_(parts_in(notation, graph, longest, {})) {}
Texts::~Texts() = default;
void Texts::use(Patience* patience) { parts_->use(patience); }
std::string Texts::operator()(Node a) { return parts_->print(a); }
std::string Texts::factor(Node a) { return parts_->factor(a); }

NamedTexts::NamedTexts(const Graph& graph, std::size_t longest, Notation notation, const Looks& looks)
    : parts_(parts_in(notation, graph, longest, looks)) {}
NamedTexts::~NamedTexts() = default;
void NamedTexts::use(Patience* patience) { parts_->use(patience); }
std::string NamedTexts::operator()(Node a) { return parts_->print(a); }
std::string NamedTexts::factor(Node a) { return parts_->factor(a); }

std::string product_in(Notation notation, const std::string& a, const std::string& b) {
  if (notation == Notation::latex) return Latex::times(a, b);
  if (notation == Notation::mathml) return Mathml::times(a, b);
  return Text::times(a, b);
}

std::string variable_in(Notation notation, const std::string& name) {
  if (notation == Notation::latex) return Latex::variable(name).text;
  if (notation == Notation::mathml) return Mathml::variable(name).text;
  return Text::variable(name).text;
}

}  // namespace judder::expr
