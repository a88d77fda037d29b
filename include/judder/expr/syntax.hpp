// The expression language of model files (docs/language.md): text → syntax tree → graph.
//
// `parse` knows the grammar only. `lower` gives names a meaning through an Environment and builds nodes: it expands definitions, sums and
// indices, takes primes, and checks who may use what. Errors carry byte offsets into the text; all problems of one expression are reported.
// Limits: text 64 KiB, nesting 200, expansion 200 000 nodes; a larger expression is an error, never a crash.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "judder/expr/graph.hpp"

namespace judder::expr {

/// A message about text[begin, end).
struct Problem {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::string message;
  std::string help;
};

enum class Kind : std::uint8_t {
  number,  ///< value
  name,    ///< text; children are indices: a[i, j]
  call,    ///< text is the function; children are arguments
  sum,     ///< text is the index; children: from, to, body
  prime,   ///< children[0]'
  negate,
  add,
  subtract,
  multiply,
  divide,
  power,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  unequal,
  logical_and,
  logical_or,
  logical_not
};

/// Trees lean: a + b + c + … is as tall as it is long. They are moved and, by a loop, freed; nothing walks them by recursion along a chain.
struct Tree {
  Tree() = default;
  Tree(const Tree&) = default;
  Tree(Tree&&) noexcept = default;
  Tree& operator=(const Tree&) = default;
  Tree& operator=(Tree&&) noexcept = default;
  ~Tree();
  Kind kind = Kind::number;
  double value = 0;
  std::string text;
  std::uint32_t begin = 0;  ///< bytes of the source text
  std::uint32_t end = 0;
  std::vector<Tree> children;
};

/// The tree, or nothing and at least one problem.
[[nodiscard]] std::optional<Tree> parse(std::string_view text, std::vector<Problem>& problems);

/// "i = 1 to n, j = i + 1 to n": the ranges of `each`.
struct Range {
  std::string index;
  Tree from;
  Tree to;
};
[[nodiscard]] std::optional<std::vector<Range>> parse_ranges(std::string_view text,
                                                             std::vector<Problem>& problems);

/// "name" or "name(a, b)": the key of a definition.
struct Signature {
  std::string name;
  std::vector<std::string> arguments;
  bool is_function = false;
};
[[nodiscard]] std::optional<Signature> parse_signature(std::string_view text, std::vector<Problem>& problems);

// --- what a name means ---

struct Scalar {
  Node node;
  bool stands_in = false;  ///< for what could not be read, and may have been a list
};
/// A list or matrix of numbers or of coordinates made by `each`: a[i], B[i, j], x[3]. `find` returns nothing if out of range.
struct Family {
  std::vector<int>
      sizes;  ///< for lists: length of each dimension (counted from 1); empty for coordinate families
  std::function<std::optional<Node>(std::span<const int>)> find;
};
/// A definition, replaced by its body. `body` outlives the lowering. Arguments are lowered at the place of the call and may be whole
/// numbers used as indices. `is_condition` bodies give a condition.
struct Macro {
  const Tree* body = nullptr;
  std::vector<std::string> arguments;
  std::string place;  ///< "definitions.edge": place of the switches in its body
};
struct Lookup {
  TableId table = 0;
};
/// A function from outside.
struct Callable {
  OutsideId function = 0;
  int arguments = 1;
};
/// The name exists but must not be used here: the reason, and what to do.
struct Forbidden {
  std::string message;
  std::string help;
};
using Meaning = std::variant<std::monostate, Scalar, Family, Macro, Lookup, Callable, Forbidden>;

class Environment {
 public:
  virtual ~Environment() = default;
  /// monostate: unknown.
  virtual Meaning meaning(std::string_view name) = 0;
  /// The definition of that name, if it is one: what `meaning` gives, but nothing else is looked at or evaluated.
  virtual std::optional<Macro> definition(std::string_view name) {
    (void)name;
    return std::nullopt;
  }
  /// Names for "did you mean".
  virtual std::vector<std::string> names() = 0;
  /// The total time derivative of `node` (already lowered), or a Problem-like reason.
  virtual std::variant<Node, Forbidden> prime(Node node) = 0;
  /// Functions that are not part of the language proper: normal(c), energy(), … `arguments` are trees because they name elements; local
  /// indices and arguments in them have been replaced by their numbers.
  /// nullopt: no such function here.
  virtual std::optional<std::variant<Node, Forbidden>> function(std::string_view name,
                                                                std::span<const Tree> arguments) {
    (void)name, (void)arguments;
    return std::nullopt;
  }
};

/// sin, min, if, …: a function of the language itself. Those of an Environment are not known here.
[[nodiscard]] bool is_builtin(std::string_view name);

/// A local index or argument with a whole-number value.
struct Index {
  std::string name;
  long value = 0;
};

/// Definitions without arguments that are known already, by name. May be shared by texts that may use the same things and in which the
/// environment has no memory of what was used.
struct KnownDefinition {
  Node node;
  bool condition = false;
};
using KnownDefinitions = std::unordered_map<std::string, KnownDefinition>;

struct LowerOptions {
  std::string place;           ///< place of the switches: "force.limiter.value"
  std::vector<Index> indices;  ///< from `each`
  bool condition = false;      ///< the text must be a condition (when), otherwise a value
  KnownDefinitions* known = nullptr;
};

/// The node, or nothing and at least one problem. `problems` of an inlined definition point at the call and name the definition.
[[nodiscard]] std::optional<Node> lower(const Tree& tree, Graph& graph, Environment& environment,
                                        const LowerOptions& options, std::vector<Problem>& problems);

/// A whole number (indices, bounds of ranges), or nothing and a problem.
[[nodiscard]] std::optional<long> lower_integer(const Tree& tree, Graph& graph, Environment& environment,
                                                const LowerOptions& options, std::vector<Problem>& problems);

/// The tree as text again (canonical spacing).
[[nodiscard]] std::string to_text(const Tree& tree);

}  // namespace judder::expr
