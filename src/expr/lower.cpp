// Syntax tree → graph: names get their meaning, definitions and sums are expanded, everything constant is decided.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numbers>
#include <unordered_map>
#include <unordered_set>

#include "expr/graph_data.hpp"
#include "expr/units.hpp"
#include "judder/core/diagnostics.hpp"
#include "judder/core/number.hpp"
#include "judder/expr/syntax.hpp"

namespace judder::expr {

namespace {

constexpr int kLargestExpansion = 200'000;
constexpr int kDeepest = 1000;   ///< levels of trees and definitions inside one another
constexpr int kMostCalls = 100;  ///< definitions with arguments inside one another
constexpr int kMost = 1'000'000'000;

enum class Builtin : std::uint8_t { smooth, abs, sign, step, min, max, mod, floor, hypot, atan2, if_, bump };

struct BuiltinFunction {
  std::string_view name;
  Builtin builtin;
  int least, most;  ///< number of arguments
  Function function = Function::sin;
};

constexpr std::array<BuiltinFunction, 27> kBuiltins{{{"sin", Builtin::smooth, 1, 1, Function::sin},
                                                     {"cos", Builtin::smooth, 1, 1, Function::cos},
                                                     {"tan", Builtin::smooth, 1, 1, Function::tan},
                                                     {"asin", Builtin::smooth, 1, 1, Function::asin},
                                                     {"acos", Builtin::smooth, 1, 1, Function::acos},
                                                     {"atan", Builtin::smooth, 1, 1, Function::atan},
                                                     {"sinh", Builtin::smooth, 1, 1, Function::sinh},
                                                     {"cosh", Builtin::smooth, 1, 1, Function::cosh},
                                                     {"tanh", Builtin::smooth, 1, 1, Function::tanh},
                                                     {"asinh", Builtin::smooth, 1, 1, Function::asinh},
                                                     {"acosh", Builtin::smooth, 1, 1, Function::acosh},
                                                     {"atanh", Builtin::smooth, 1, 1, Function::atanh},
                                                     {"exp", Builtin::smooth, 1, 1, Function::exp},
                                                     {"log", Builtin::smooth, 1, 1, Function::log},
                                                     {"sqrt", Builtin::smooth, 1, 1, Function::sqrt},
                                                     {"cbrt", Builtin::smooth, 1, 1, Function::cbrt},
                                                     {"abs", Builtin::abs, 1, 1},
                                                     {"sign", Builtin::sign, 1, 1},
                                                     {"step", Builtin::step, 1, 1},
                                                     {"min", Builtin::min, 2, kMost},
                                                     {"max", Builtin::max, 2, kMost},
                                                     {"mod", Builtin::mod, 2, 2},
                                                     {"floor", Builtin::floor, 1, 1},
                                                     {"hypot", Builtin::hypot, 2, kMost},
                                                     {"atan2", Builtin::atan2, 2, 2},
                                                     {"if", Builtin::if_, 3, 3},
                                                     {"bump", Builtin::bump, 1, 1}}};

const BuiltinFunction* find_builtin(std::string_view name) {
  const auto it =
      std::find_if(kBuiltins.begin(), kBuiltins.end(), [&](const auto& b) { return b.name == name; });
  return it == kBuiltins.end() ? nullptr : &*it;
}

struct Result {
  Node node;
  bool condition = false;
};

/// What the names of a text mean besides the environment: arguments of the definition being expanded and indices.
struct Scope {
  std::vector<std::pair<std::string, Node>> locals;
  std::string place;
  const Scope* caller = nullptr;     ///< null: the text itself
  std::string definition;            ///< the definition whose body is being expanded
  std::uint32_t begin = 0, end = 0;  ///< where the outermost call stands in the text
};

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

class Lowering {
 public:
  Lowering(Graph& graph, Environment& environment, std::vector<Problem>& problems,
           KnownDefinitions* shared = nullptr)
      : graph_(graph), environment_(environment), problems_(problems), shared_(shared) {}

  std::optional<Node> value(const Tree& tree, Scope& scope) {
    const std::optional<Result> r = lower(tree, scope);
    if (!r) return std::nullopt;
    if (r->condition) {
      return report(tree, scope, "a condition stands where a number is needed", "write if(condition, a, b)");
    }
    return r->node;
  }
  std::optional<Node> condition(const Tree& tree, Scope& scope) {
    const std::optional<Result> r = lower(tree, scope);
    if (!r) return std::nullopt;
    if (!r->condition) {
      return report(tree, scope, "a number stands where a condition is needed", "compare it: x > 0");
    }
    return r->node;
  }
  std::optional<long> integer(const Tree& tree, Scope& scope) {
    const std::optional<Node> node = value(tree, scope);
    if (!node) return std::nullopt;
    if (!graph_.is_constant(*node)) {
      report(tree, scope, "this must be known before the run",
             "indices and ranges may use parameters and indices only");
      return std::nullopt;
    }
    const double x = graph_.value(*node).fixed("an index or the end of a range");
    const double whole = std::round(x);
    if (std::abs(x - whole) > 1e-9 * std::max(1.0, std::abs(x)) || std::abs(whole) > 1e15) {
      report(tree, scope, "this must be a whole number, but is " + judder::to_text(x), "");
      return std::nullopt;
    }
    return static_cast<long>(whole);
  }

 private:
  std::nullopt_t report(const Tree& tree, const Scope& scope, std::string message, std::string help) {
    Problem p;
    if (scope.caller == nullptr) {
      p.begin = tree.begin;
      p.end = tree.end;
      p.message = std::move(message);
    } else {
      p.begin = scope.begin;
      p.end = scope.end;
      p.message = "in definition " + quoted(scope.definition) + ": " + std::move(message);
    }
    p.help = std::move(help);
    problems_.push_back(std::move(p));
    return std::nullopt;
  }

  /// Counts the work and the depth; false when a limit is passed (reported once).
  bool enter(const Tree& tree, const Scope& scope) {
    if (stopped_) return false;
    graph_.data().spend(4);
    if (++expanded_ > kLargestExpansion) {
      stopped_ = true;
      report(tree, scope, "the expression expands to more than 200 000 operations",
             "use shorter sums or fewer nested definitions");
      return false;
    }
    if (depth_ >= kDeepest) {
      stopped_ = true;
      report(tree, scope, "definitions are nested too deeply", "");
      return false;
    }
    return true;
  }

  /// A node with a number that is infinite or no number is an error of the text, never a value.
  std::optional<Result> checked(const Tree& tree, const Scope& scope, Node node) {
    const Graph::Data& d = graph_.data();
    const Entry& e = d.at(node);
    bool finite = e.kind != NodeKind::constant || isfinite(e.value);
    bool overflow = e.kind == NodeKind::constant && !isfinite(e.value) && std::isinf(e.value.raw());
    if (e.kind == NodeKind::sum) {
      finite = isfinite(e.value);
      overflow = !finite;
      for (const Term& t : d.terms(node)) {
        if (!isfinite(t.coefficient)) finite = false, overflow = true;
      }
    }
    if (finite) return Result{node};
    if (overflow) return report(tree, scope, "the result is too large for a number", "");
    return report(tree, scope, "the result is not a number", "");
  }

  /// Whether the numbers in a product, a quotient or a power have gone below the least normal number: what is multiplied by them later would lose its
  /// size, or its digits. A function that decays to zero (exp) goes there in earnest, and is not looked at.
  bool vanishes(Node made, Node a, Node b) const {
    const auto small = [](const Number& x) {
      return x.raw() != 0 && std::abs(x.raw()) < std::numeric_limits<double>::min();
    };
    if (graph_.is_constant(made)) {
      const bool constants = graph_.is_constant(a) || graph_.is_constant(b);
      return small(graph_.value(made)) ||
             (constants && graph_.value(made).raw() == 0 && !is_zero(a) && !is_zero(b));
    }
    const Graph::Data& d = graph_.data();
    if (d.at(made).kind != NodeKind::sum) return false;
    const auto& terms = d.terms(made);
    return std::any_of(terms.begin(), terms.end(), [&](const Term& t) { return small(t.coefficient); });
  }
  std::nullopt_t too_small(const Tree& tree, const Scope& scope) {
    return report(tree, scope, "the result is too small for a number", "write 0, or other units");
  }

  std::optional<Result> lower(const Tree& tree, Scope& scope) {
    if (!enter(tree, scope)) return std::nullopt;
    ++depth_;
    std::optional<Result> result = dispatch(tree, scope);
    --depth_;
    return result;
  }

  std::optional<Result> dispatch(const Tree& tree, Scope& scope) {
    switch (tree.kind) {
      case Kind::number:
        return Result{graph_.constant(tree.value)};
      case Kind::name:
        return name(tree, scope);
      case Kind::call:
        return call(tree, scope);
      case Kind::sum:
        return sum(tree, scope);
      case Kind::prime:
        return prime(tree, scope);
      case Kind::negate: {
        const std::optional<Node> a = value(tree.children[0], scope);
        return a ? std::optional(Result{graph_.negate(*a)}) : std::nullopt;
      }
      case Kind::add:
      case Kind::subtract:
        return addition(tree, scope);
      case Kind::multiply:
      case Kind::divide:
        return multiplication(tree, scope);
      case Kind::power:
        return power(tree, scope);
      case Kind::less:
      case Kind::less_equal:
      case Kind::greater:
      case Kind::greater_equal:
      case Kind::equal:
      case Kind::unequal:
        return comparison(tree, scope);
      case Kind::logical_and:
      case Kind::logical_or:
        return connective(tree, scope);
      case Kind::logical_not: {
        const std::optional<Node> a = condition(tree.children[0], scope);
        return a ? std::optional(Result{graph_.negation(*a), true}) : std::nullopt;
      }
    }
    return std::nullopt;
  }

  /// The chain a ± b ± c, which leans to the left, from its first operand on; false when a limit is passed.
  bool chain(const Tree& tree, const Scope& scope, Kind one, Kind other, std::vector<const Tree*>& links) {
    const Tree* at = &tree;
    while (at->kind == one || at->kind == other) {
      if (at != &tree && !enter(*at, scope)) return false;
      links.push_back(at);
      at = &at->children[0];
    }
    std::reverse(links.begin(), links.end());
    return true;
  }

  std::optional<Result> addition(const Tree& tree, Scope& scope) {
    std::vector<const Tree*> links;
    if (!chain(tree, scope, Kind::add, Kind::subtract, links)) return std::nullopt;
    std::vector<Node> terms;
    bool good = true;
    const auto take = [&](const Tree& t, bool minus) {
      const std::optional<Node> a = value(t, scope);
      if (a) terms.push_back(minus ? graph_.negate(*a) : *a);
      good = good && a.has_value();
    };
    take(links[0]->children[0], false);
    for (const Tree* link : links) take(link->children[1], link->kind == Kind::subtract);
    if (!good) return std::nullopt;
    return checked(tree, scope, graph_.sum(terms));
  }

  std::optional<Result> multiplication(const Tree& tree, Scope& scope) {
    std::vector<const Tree*> links;
    if (!chain(tree, scope, Kind::multiply, Kind::divide, links)) return std::nullopt;
    std::optional<Node> total = value(links[0]->children[0], scope);
    bool good = total.has_value();
    for (const Tree* link : links) {
      const std::optional<Node> b = value(link->children[1], scope);
      good = good && b.has_value();
      if (!good) continue;
      if (link->kind == Kind::divide && is_zero(*b)) {
        report(link->children[1], scope, "division by zero", "");
        good = false;
        continue;
      }
      const Node made = link->kind == Kind::divide ? graph_.divide(*total, *b) : graph_.multiply(*total, *b);
      const std::optional<Result> result =
          vanishes(made, *total, *b) ? too_small(*link, scope) : checked(*link, scope, made);
      good = result.has_value();
      if (good) total = result->node;
    }
    return good ? std::optional(Result{*total}) : std::nullopt;
  }

  bool is_zero(Node a) const { return graph_.is_constant(a) && graph_.value(a) == 0; }

  std::optional<Result> power(const Tree& tree, Scope& scope) {
    const std::optional<Node> base = value(tree.children[0], scope);
    const std::optional<Node> exponent = value(tree.children[1], scope);
    if (!base || !exponent) return std::nullopt;
    if (graph_.is_constant(*exponent) && is_zero(*base) && graph_.value(*exponent) < 0) {
      return report(tree, scope, "division by zero", "zero has no negative power");
    }
    if (graph_.is_constant(*exponent) && graph_.is_constant(*base) && graph_.value(*base) < 0 &&
        !is_whole(graph_.value(*exponent))) {
      return report(tree, scope,
                    "a negative number has no power " + judder::to_text(graph_.value(*exponent).raw()),
                    "cbrt(x) is the cube root of any x");
    }
    std::optional<Node> made;
    if (graph_.is_constant(*exponent)) made = root_of_squares(*base, graph_.value(*exponent), scope.place);
    if (!made) made = graph_.power(*base, *exponent);
    if (vanishes(*made, *base, graph_.constant(1))) return too_small(tree, scope);
    return checked(tree, scope, *made);
  }

  std::optional<Result> prime(const Tree& tree, Scope& scope) {
    std::vector<const Tree*> primes;
    for (const Tree* at = &tree; at->kind == Kind::prime; at = &at->children[0]) primes.push_back(at);
    std::optional<Node> node = value(primes.back()->children[0], scope);
    for (; node && !primes.empty(); primes.pop_back()) {
      const std::size_t before = graph_.size();
      const std::variant<Node, Forbidden> rate = environment_.prime(*node);
      expanded_ +=
          static_cast<int>(graph_.size() - before);  // a derivative may be much longer than what it is of
      if (!enter(*primes.back(), scope)) return std::nullopt;
      if (const Forbidden* no = std::get_if<Forbidden>(&rate))
        return report(*primes.back(), scope, no->message, no->help);
      const std::optional<Result> made = checked(*primes.back(), scope, std::get<Node>(rate));
      node = made ? std::optional(made->node) : std::nullopt;
    }
    return node ? std::optional(Result{*node}) : std::nullopt;
  }

  std::optional<Result> comparison(const Tree& tree, Scope& scope) {
    const std::optional<Node> a = value(tree.children[0], scope);
    const std::optional<Node> b = value(tree.children[1], scope);
    if (!a || !b) return std::nullopt;
    if (tree.kind == Kind::equal || tree.kind == Kind::unequal) {
      if (!graph_.is_constant(*a) || !graph_.is_constant(*b)) {
        return report(tree, scope, "== and != compare only what is known before the run",
                      "a quantity that varies is equal to another at single instants only; use < or <=");
      }
      const bool equal = graph_.value(*a) == graph_.value(*b);
      return Result{graph_.constant(equal == (tree.kind == Kind::equal) ? 1 : 0), true};
    }
    const bool greater = tree.kind == Kind::greater || tree.kind == Kind::greater_equal;
    const bool or_equal = tree.kind == Kind::less_equal || tree.kind == Kind::greater_equal;
    const bool varies = !graph_.is_constant(*a) || !graph_.is_constant(*b);
    const std::string text = varies ? to_text(tree) : std::string();
    return Result{graph_.less(greater ? *b : *a, greater ? *a : *b, or_equal, scope.place, text), true};
  }

  std::optional<Result> connective(const Tree& tree, Scope& scope) {
    std::vector<const Tree*> links;
    if (!chain(tree, scope, Kind::logical_and, Kind::logical_or, links)) return std::nullopt;
    std::optional<Node> a = condition(links[0]->children[0], scope);
    bool good = a.has_value();
    for (const Tree* link : links) {
      const bool is_and = link->kind == Kind::logical_and;
      // The second condition counts only if the first does not decide: i > 1 and a[i - 1] > 0.
      if (good && graph_.is_constant(*a) && (graph_.value(*a) == 0) == is_and) continue;
      const std::optional<Node> b = condition(link->children[1], scope);
      good = good && b.has_value();
      if (good) a = is_and ? graph_.both(*a, *b) : graph_.either(*a, *b);
    }
    return good ? std::optional(Result{*a, true}) : std::nullopt;
  }

  const Node* find_local(const Scope& scope, std::string_view name) const {
    for (auto it = scope.locals.rbegin(); it != scope.locals.rend(); ++it) {
      if (it->first == name) return &it->second;
    }
    return nullptr;
  }

  std::optional<Result> sum(const Tree& tree, Scope& scope) {
    const std::optional<long> from = integer(tree.children[0], scope);
    const std::optional<long> to = integer(tree.children[1], scope);
    if (!from || !to) return std::nullopt;
    if (find_local(scope, tree.text) != nullptr || tree.text == "pi" ||
        !std::holds_alternative<std::monostate>(environment_.meaning(tree.text))) {
      return report(tree, scope, "the index " + quoted(tree.text) + " is already the name of something else",
                    "choose another name for the index");
    }
    std::vector<Node> terms;
    for (long i = *from; i <= *to; ++i) {
      scope.locals.emplace_back(tree.text, graph_.constant(static_cast<double>(i)));
      const std::optional<Node> term = value(tree.children[2], scope);
      scope.locals.pop_back();
      if (!term) return std::nullopt;  // the other terms would repeat the message
      terms.push_back(*term);
    }
    return checked(tree, scope, graph_.sum(terms));
  }

  // --- names ---

  std::string suggestion(std::string_view word, bool function) {
    std::vector<std::string> names = environment_.names();
    names.emplace_back("pi");
    if (function) {
      for (const BuiltinFunction& b : kBuiltins) names.emplace_back(b.name);
      names.emplace_back("sum");
    }
    const std::string near = nearest(word, names);
    return near.empty() || near == word ? std::string() : "did you mean " + quoted(near) + "?";
  }

  std::optional<Result> name(const Tree& tree, Scope& scope) {
    if (const Node* local = find_local(scope, tree.text)) {
      if (!tree.children.empty())
        return report(tree, scope, quoted(tree.text) + " is a number and has no index", "");
      return Result{*local};
    }
    if (tree.text == "pi" && tree.children.empty()) return Result{graph_.constant(std::numbers::pi)};
    Meaning meaning = environment_.meaning(tree.text);
    if (std::holds_alternative<std::monostate>(meaning)) {
      std::string help = suggestion(tree.text, false);
      if (help.empty() && find_builtin(tree.text) != nullptr)
        help = "a function needs its argument: " + tree.text + "(…)";
      if (help.empty() && is_unit(tree.text)) help = std::string(kNoUnits);
      return report(tree, scope, "unknown name " + quoted(tree.text), std::move(help));
    }
    if (const Forbidden* no = std::get_if<Forbidden>(&meaning))
      return report(tree, scope, no->message, no->help);
    if (const Family* family = std::get_if<Family>(&meaning)) return member(tree, scope, *family);
    if (std::holds_alternative<Lookup>(meaning)) {
      return report(tree, scope, quoted(tree.text) + " is a table",
                    "call it with its argument: " + tree.text + "(x)");
    }
    if (std::holds_alternative<Callable>(meaning))
      return report(tree, scope, quoted(tree.text) + " is a function and needs its arguments", "");
    const Scalar* scalar = std::get_if<Scalar>(&meaning);
    if (!tree.children.empty() && !(scalar != nullptr && scalar->stands_in)) {
      return report(tree, scope, quoted(tree.text) + " is not a list and has no index", "");
    }
    if (const Macro* macro = std::get_if<Macro>(&meaning)) {
      if (!macro->arguments.empty()) {
        return report(tree, scope, quoted(tree.text) + " is a function and needs its arguments",
                      tree.text + "(" + joined(macro->arguments) + ")");
      }
      return expand(tree, scope, *macro, {});
    }
    return checked(tree, scope, std::get<Scalar>(meaning).node);
  }

  static std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& w : words) out += (out.empty() ? "" : ", ") + w;
    return out;
  }

  std::optional<Result> member(const Tree& tree, Scope& scope, const Family& family) {
    if (tree.children.empty()) {
      return report(tree, scope, quoted(tree.text) + " is a list and needs an index", tree.text + "[1]");
    }
    std::vector<int> indices;
    std::string shown;
    for (const Tree& child : tree.children) {
      const std::optional<long> i = integer(child, scope);
      if (!i) return std::nullopt;
      indices.push_back(static_cast<int>(std::clamp<long>(*i, -kMost, kMost)));
      shown += (shown.empty() ? "" : ", ") + std::to_string(*i);
    }
    const std::optional<Node> found =
        family.sizes.empty() || family.sizes.size() == indices.size() ? family.find(indices) : std::nullopt;
    if (found) return checked(tree, scope, *found);
    std::string help;
    if (!family.sizes.empty()) {
      help = quoted(tree.text) + " has " +
             (family.sizes.size() == 1 ? "one index: 1 to " : "two indices: 1 to ");
      for (std::size_t k = 0; k < family.sizes.size(); ++k) {
        help += (k > 0 ? " and 1 to " : "") + std::to_string(family.sizes[k]);
      }
    }
    return report(tree, scope, "there is no " + tree.text + "[" + shown + "]", std::move(help));
  }

  std::optional<Result> expand(const Tree& tree, Scope& scope, const Macro& macro,
                               std::vector<Node> arguments) {
    if (active_.contains(tree.text)) {
      return report(tree, scope, "definition " + quoted(tree.text) + " uses itself", "");
    }
    if (active_.empty()) expand_below(tree, scope, macro);
    if (arguments.empty()) {
      if (const KnownDefinition* known = find_known(tree.text)) return Result{known->node, known->condition};
      if (const auto failed = failed_.find(tree.text); failed != failed_.end()) {
        for (Problem problem : failed->second) {
          problem.begin = scope.caller == nullptr ? tree.begin : scope.begin;
          problem.end = scope.caller == nullptr ? tree.end : scope.end;
          problems_.push_back(std::move(problem));
        }
        return std::nullopt;
      }
    }
    std::pair<std::string, std::vector<Node>> key(tree.text, arguments);
    const auto known = expansions_.find(key);
    if (known != expansions_.end()) return known->second;
    if (calls_ >= kMostCalls) {
      return report(tree, scope, "more than " + std::to_string(kMostCalls) + " functions call one another",
                    "");
    }
    Scope inner;
    inner.place = macro.place.empty() ? scope.place : macro.place;
    inner.caller = &scope;
    inner.definition = tree.text;
    inner.begin = scope.caller == nullptr ? tree.begin : scope.begin;
    inner.end = scope.caller == nullptr ? tree.end : scope.end;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      inner.locals.emplace_back(macro.arguments[i], arguments[i]);
    active_.insert(tree.text);
    ++calls_;
    const std::optional<Result> result = lower(*macro.body, inner);
    --calls_;
    active_.erase(tree.text);
    if (result) expansions_.emplace(std::move(key), *result);
    return result;
  }

  [[nodiscard]] const KnownDefinition* find_known(const std::string& name) const {
    const auto own = known_.find(name);
    if (own != known_.end()) return &own->second;
    if (shared_ == nullptr) return nullptr;
    const auto other = shared_->find(name);
    return other == shared_->end() ? nullptr : &other->second;
  }

  /// Names and functions that a tree mentions, each once.
  static std::vector<std::string> mentioned(const Tree& tree) {
    std::vector<std::string> names;
    std::vector<const Tree*> open{&tree};
    while (!open.empty()) {
      const Tree& at = *open.back();
      open.pop_back();
      if (at.kind == Kind::name || at.kind == Kind::call) names.push_back(at.text);
      for (const Tree& child : at.children) open.push_back(&child);
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }

  /// Definitions without arguments that a definition is made of, the innermost first and by a loop: such a chain may be as long as the
  /// file. What fails is remembered and reported only where it is used, because a branch that is not taken need not make sense.
  void expand_below(const Tree& call, const Scope& scope, const Macro& macro) {
    struct Step {
      std::string name;
      Macro macro;
      std::vector<std::string> names;
      std::size_t next = 0;
    };
    std::vector<Step> path;
    path.push_back({call.text, macro, mentioned(*macro.body)});
    active_.insert(call.text);
    looked_at_.insert(call.text);
    while (!path.empty() && !stopped_) {
      Step& step = path.back();
      if (step.next < step.names.size()) {
        const std::string name = step.names[step.next++];
        graph_.data().spend(4);
        if (find_known(name) != nullptr || failed_.contains(name) || !looked_at_.insert(name).second)
          continue;
        const auto& arguments = step.macro.arguments;
        if (std::find(arguments.begin(), arguments.end(), name) != arguments.end()) {
          looked_at_.erase(name);  // hidden here by the argument; elsewhere it may be the definition
          continue;
        }
        std::optional<Macro> found = environment_.definition(name);
        if (!found) continue;
        std::vector<std::string> below = mentioned(*found->body);
        active_.insert(name);
        path.push_back({name, std::move(*found), std::move(below)});
        continue;
      }
      if (path.size() > 1 && step.macro.arguments.empty()) {
        Scope inner;
        inner.place = step.macro.place.empty() ? scope.place : step.macro.place;
        inner.caller = &scope;
        inner.definition = step.name;
        const std::size_t before = problems_.size();
        const std::optional<Result> result = lower(*step.macro.body, inner);
        if (result) {
          known_[step.name] = {result->node, result->condition};
          if (shared_ != nullptr) (*shared_)[step.name] = known_[step.name];
        } else if (!stopped_) {
          constexpr std::size_t kShown = 3;  // of each; they would double from definition to definition
          const auto first = problems_.begin() + static_cast<std::ptrdiff_t>(before);
          const auto count = static_cast<std::ptrdiff_t>(std::min(kShown, problems_.size() - before));
          failed_[step.name].assign(first, first + count);
          problems_.resize(before);
        } else {
          for (std::size_t i = before; i < problems_.size(); ++i) {
            problems_[i].begin = scope.caller == nullptr ? call.begin : scope.begin;
            problems_[i].end = scope.caller == nullptr ? call.end : scope.end;
          }
        }
      }
      active_.erase(step.name);
      path.pop_back();
    }
    active_.clear();
  }

  // --- functions ---

  std::optional<std::vector<Node>> values(const Tree& tree, Scope& scope) {
    std::vector<Node> nodes;
    bool good = true;
    for (const Tree& child : tree.children) {
      const std::optional<Node> a = value(child, scope);
      if (a) nodes.push_back(*a);
      good = good && a.has_value();
    }
    return good ? std::optional(std::move(nodes)) : std::nullopt;
  }

  /// Indices and arguments are local; what the environment gets to see has numbers in their places: normal(pair[1, 2]).
  void resolve(Tree& tree, const Scope& scope) {
    if (tree.kind == Kind::name && tree.children.empty()) {
      const Node* local = find_local(scope, tree.text);
      if (local == nullptr || !graph_.is_constant(*local)) return;
      tree.kind = Kind::number;
      tree.value = graph_.value(*local).fixed("what an element or a function is told");
      tree.text.clear();
    }
    for (Tree& child : tree.children) resolve(child, scope);
  }

  std::optional<Result> wrong_count(const Tree& tree, const Scope& scope, int least, int most) {
    const auto n = tree.children.size();
    std::string wanted = least == most ? std::to_string(least) : std::to_string(least) + " or more";
    return report(tree, scope,
                  tree.text + " needs " + wanted + (least == 1 && most == 1 ? " argument" : " arguments") +
                      ", not " + std::to_string(n),
                  tree.text == "if" ? "write if(condition, a, b)" : "");
  }

  std::optional<Result> call(const Tree& tree, Scope& scope) {
    if (const BuiltinFunction* builtin = find_builtin(tree.text)) return call_builtin(tree, scope, *builtin);
    Meaning meaning = environment_.meaning(tree.text);
    const auto given = static_cast<int>(tree.children.size());
    if (const Macro* macro = std::get_if<Macro>(&meaning); macro != nullptr && !macro->arguments.empty()) {
      const auto wanted = static_cast<int>(macro->arguments.size());
      if (given != wanted) return wrong_count(tree, scope, wanted, wanted);
      std::optional<std::vector<Node>> arguments = values(tree, scope);
      if (!arguments) return std::nullopt;
      return expand(tree, scope, *macro, std::move(*arguments));
    }
    if (const Lookup* lookup = std::get_if<Lookup>(&meaning)) {
      if (given != 1) return wrong_count(tree, scope, 1, 1);
      const std::optional<Node> x = value(tree.children[0], scope);
      if (!x) return std::nullopt;
      const Node made = graph_.table(lookup->table, *x, scope.place);
      if (graph_.is_constant(made) && std::isnan(graph_.value(made).raw())) {
        return report(tree, scope,
                      "the argument " + judder::to_text(graph_.value(*x).raw()) + " lies outside the table " +
                          quoted(tree.text),
                      "outside = \"hold\" or \"zero\" says what the table gives there");
      }
      return checked(tree, scope, made);
    }
    if (const Callable* callable = std::get_if<Callable>(&meaning))
      return call_outside(tree, scope, *callable);
    std::vector<Tree> named = tree.children;
    for (Tree& argument : named) resolve(argument, scope);
    if (auto special = environment_.function(tree.text, named)) {
      if (const Forbidden* no = std::get_if<Forbidden>(&*special))
        return report(tree, scope, no->message, no->help);
      return checked(tree, scope, std::get<Node>(*special));
    }
    if (const Forbidden* no = std::get_if<Forbidden>(&meaning))
      return report(tree, scope, no->message, no->help);
    if (find_local(scope, tree.text) != nullptr || !std::holds_alternative<std::monostate>(meaning)) {
      return report(tree, scope, quoted(tree.text) + " is a value, not a function",
                    "multiplication is written with *: " + tree.text + "*(…)");
    }
    return report(tree, scope, "unknown function " + quoted(tree.text), suggestion(tree.text, true));
  }

  std::optional<Result> call_outside(const Tree& tree, Scope& scope, const Callable& callable) {
    if (static_cast<int>(tree.children.size()) != callable.arguments)
      return wrong_count(tree, scope, callable.arguments, callable.arguments);
    const std::optional<std::vector<Node>> arguments = values(tree, scope);
    if (!arguments) return std::nullopt;
    const OutsideWatch watch({&graph_.outside()[callable.function], 1});
    const Node made = graph_.outside(callable.function, *arguments);
    for (const int trouble : {watch.failed(), watch.not_a_number()}) {
      if (trouble >= 0) return report(tree, scope, watch.words(trouble), "");
    }
    return checked(tree, scope, made);
  }

  std::optional<Result> call_builtin(const Tree& tree, Scope& scope, const BuiltinFunction& builtin) {
    const auto given = static_cast<int>(tree.children.size());
    if (given < builtin.least || given > builtin.most)
      return wrong_count(tree, scope, builtin.least, builtin.most);
    if (builtin.builtin == Builtin::if_) return choose(tree, scope);
    const std::optional<std::vector<Node>> arguments = values(tree, scope);
    if (!arguments) return std::nullopt;
    const std::vector<Node>& a = *arguments;
    const std::string& place = scope.place;
    Node made{};
    switch (builtin.builtin) {
      case Builtin::smooth:
        made = smooth(builtin.function, a[0], place);
        break;
      case Builtin::hypot: {
        std::vector<Node> sides;
        std::copy_if(a.begin(), a.end(), std::back_inserter(sides), [this](Node b) { return !is_zero(b); });
        made = sides.size() == 1 ? graph_.absolute(sides[0], place) : graph_.call(Function::hypot, a);
        break;
      }
      case Builtin::abs:
        made = graph_.absolute(a[0], place);
        break;
      case Builtin::sign:
        made = graph_.sign(a[0], place);
        break;
      case Builtin::step:
        made = graph_.step(a[0], place);
        break;
      case Builtin::floor:
        made = graph_.floor(a[0], place);
        break;
      case Builtin::bump:
        made = graph_.bump(a[0], place);
        break;
      case Builtin::atan2:
        made = graph_.atan2(a[0], a[1], place);
        break;
      case Builtin::mod:
        if (is_zero(a[1]))
          return report(tree.children[1], scope, "division by zero", "mod(a, b) needs b > 0");
        made = graph_.modulo(a[0], a[1], place);
        break;
      case Builtin::min:
      case Builtin::max:
        made = a[0];
        for (std::size_t i = 1; i < a.size(); ++i) {
          made = builtin.builtin == Builtin::min ? graph_.minimum(made, a[i], place)
                                                 : graph_.maximum(made, a[i], place);
        }
        break;
      case Builtin::if_:
        break;
    }
    if (graph_.is_constant(made) && !isfinite(graph_.value(made)) && a.size() == 1) {
      return report(tree, scope,
                    tree.text + "(" + judder::to_text(graph_.value(a[0]).raw()) + ") is not a finite number",
                    "");
    }
    return checked(tree, scope, made);
  }

  /// Functions that are smooth where they stand alone, but not where they undo another one.
  Node smooth(Function function, Node a, const std::string& place) {
    if (function == Function::asin || function == Function::acos || function == Function::atan)
      return graph_.angle(function, a, place);
    if (function == Function::sqrt) {
      if (const std::optional<Node> made = root_of_squares(a, 0.5, place)) return *made;
    }
    return graph_.call(function, std::array{a});
  }

  /// a^exponent where a has squares among its factors: sqrt(x^2) is abs(x), whose kink is a switch.
  std::optional<Node> root_of_squares(Node a, Number exponent, const std::string& place) {
    if (graph_.is_constant(a) || is_whole(exponent)) return std::nullopt;
    const Factored parts = graph_.factored(a);
    const auto is_square = [](const Factor& factor) { return is_even(factor.exponent); };
    if (std::none_of(parts.factors.begin(), parts.factors.end(), is_square)) return std::nullopt;
    Node sizes = graph_.constant(1);
    Node rest = graph_.constant(parts.coefficient);
    const auto raised = [this](Node base, Number power) {
      return graph_.power(base, graph_.constant(power));
    };
    for (const Factor& factor : parts.factors) {
      if (is_square(factor)) {
        const Number power = factor.exponent * exponent;
        const bool sized = is_even(power) || graph_.is_positive(factor.base);
        sizes =
            graph_.multiply(sizes, raised(sized ? factor.base : graph_.absolute(factor.base, place), power));
      } else {
        rest = graph_.multiply(rest, raised(factor.base, factor.exponent));
      }
    }
    const Node root =
        exponent == 0.5 ? graph_.call(Function::sqrt, std::array{rest}) : raised(rest, exponent);
    return graph_.multiply(sizes, root);
  }

  std::optional<Result> choose(const Tree& tree, Scope& scope) {
    const std::optional<Node> c = condition(tree.children[0], scope);
    if (!c) return std::nullopt;
    // The branch that is not taken need not make sense: if(i == 1, 0, 1/(i - 1)).
    if (graph_.is_constant(*c)) return lower(tree.children[graph_.value(*c) != 0 ? 1 : 2], scope);
    const std::optional<Result> a = lower(tree.children[1], scope);
    const std::optional<Result> b = lower(tree.children[2], scope);
    if (!a || !b) return std::nullopt;
    if (a->condition != b->condition) {
      return report(tree, scope, "one branch of if is a condition, the other a number", "");
    }
    return Result{graph_.select(*c, a->node, b->node), a->condition};
  }

  Graph& graph_;
  Environment& environment_;
  std::vector<Problem>& problems_;
  std::unordered_set<std::string> active_;  ///< definitions that are being expanded
  int calls_ = 0;                           ///< of them, those inside one another by recursion
  KnownDefinitions known_;
  KnownDefinitions* shared_ = nullptr;
  std::unordered_map<std::string, std::vector<Problem>> failed_;
  std::unordered_set<std::string> looked_at_;
  std::map<std::pair<std::string, std::vector<Node>>, Result> expansions_;
  int expanded_ = 0;
  int depth_ = 0;
  bool stopped_ = false;
};

Scope outermost(Graph& graph, const LowerOptions& options) {
  Scope scope;
  scope.place = options.place;
  for (const Index& i : options.indices)
    scope.locals.emplace_back(i.name, graph.constant(static_cast<double>(i.value)));
  return scope;
}

}  // namespace

bool is_builtin(std::string_view name) { return name == "sum" || find_builtin(name) != nullptr; }

std::optional<Node> lower(const Tree& tree, Graph& graph, Environment& environment,
                          const LowerOptions& options, std::vector<Problem>& problems) {
  Scope scope = outermost(graph, options);
  Lowering lowering(graph, environment, problems, options.known);
  return options.condition ? lowering.condition(tree, scope) : lowering.value(tree, scope);
}

std::optional<long> lower_integer(const Tree& tree, Graph& graph, Environment& environment,
                                  const LowerOptions& options, std::vector<Problem>& problems) {
  Scope scope = outermost(graph, options);
  return Lowering(graph, environment, problems).integer(tree, scope);
}

}  // namespace judder::expr
