// Expressions as one shared graph, with derivatives and switches.
//
// Every expression of a model lives in one Graph. Equal expressions are one Node (hash-consing), sums and products are kept in a
// canonical form (constants folded, like terms collected, operands in a fixed order), so comparing nodes compares formulas and
// value, gradient and Hessian share their common parts without further work.
//
// Non-smooth functions do not exist inside the graph. `sign`, `step`, `abs`, `min`, `max`, comparisons, `floor`, `mod`, tables and the
// cut of `atan2` are written with *switches*: a switch k has a surface s_k, and `side(k)` is an input of the evaluation, not a function of
// s_k. Frozen sides make every expression smooth up to the surface and a little beyond it:
//
//     step(s)   = side                 side = 1 where s > 0, 0 where s < 0; in (0, 1) while the motion slides on s = 0 (Filippov)
//     sign(s)   = 2 side − 1
//     abs(s)    = s (2 side − 1)
//     max(a, b) = b + (a − b) side(a − b)
//     if(c,a,b) = select(c, a, b):  a where c = 1, b where c = 0 (the other branch may be NaN), the blend c a + (1 − c) b between
//     floor(x)  = side of a level switch: the whole number n with n ≤ x < n + 1
//     table(x)  = polynomial in x whose coefficients are looked up by the side of a level switch with the table's knots
//
// Surfaces equal up to a constant factor are one switch: sign(x' − v) and abs(v − x') share it. Derivatives treat sides as constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judder/core/patience.hpp"
#include "judder/expr/number.hpp"
#include "judder/expr/outside.hpp"

namespace judder {
class Work;
}

namespace judder::expr {

/// A formula of one Graph; nodes of different graphs must not be mixed.
struct Node {
  std::uint32_t index = 0;
  friend bool operator==(Node, Node) = default;
  friend auto operator<=>(Node, Node) = default;
};

using Variable = std::uint32_t;  ///< number of a variable of the graph, in order of declaration
using SwitchId = std::uint32_t;  ///< number of a switch of the graph, in order of first use
using TableId = std::uint32_t;
using OutsideId = std::uint32_t;

enum class Function : std::uint8_t {
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  exp,
  log,
  sqrt,
  cbrt,
  atan2,
  hypot
};

enum class SwitchKind : std::uint8_t {
  jump,   ///< sign, step, if, a cut: the value may jump; listed as events
  kink,   ///< abs, min, max, knots of a linear table: the value is continuous; never listed
  smooth  ///< knots of `bump` and of cubic tables: only the form of the formula changes
};

/// Two-sided (`levels` empty and not `whole`): side 1 where surface > 0, side 0 below.
/// Level switch: `surface` is the argument x and the side is a whole number: the count of levels ≤ x, minus one, so that
/// −1 means below the first; or, with `whole`, floor(x).
struct Switch {
  Node surface;
  SwitchKind kind = SwitchKind::jump;  ///< the strongest of its uses: jump > kink > smooth
  bool whole = false;                  ///< levels are all whole numbers
  std::vector<double> levels;          ///< −∞ for those that the argument cannot come below
  bool never_negative =
      false;  ///< by the form of the argument, where levels are whole numbers: floor(abs(x)) has no step at zero
  /// Two-sided, by the form of the surface: 1 never negative, −1 never positive: it is touched, and perhaps stayed on, but not crossed.
  int one_sided = 0;
  /// The level that the argument reaches by its form and does not pass: 1 for floor(cos(x)). Otherwise ∞.
  double top = std::numeric_limits<double>::infinity();
  std::string place;  ///< where it stands first: "force.limiter.value"
  std::string
      above;  ///< the side with surface > 0 in the author's words: "a > phi1*b"; empty: printed from the surface
  std::string below;
  /// Side at surface = 0 as its first use writes it: 1 for step, >=, <=, floor and tables, 0 for > and <, 0.5 for sign, whose value
  /// is 0 there. Seen from the side with surface > 0.
  double at_zero = 1;
  /// Some use has another value at surface = 0: x > 0 and x < 0 in one model. The side is 0.5 there, and each use takes its own.
  bool differ_at_zero = false;
  [[nodiscard]] bool two_sided() const { return !whole && levels.empty(); }
};

/// coefficient · Π base ^ exponent.
struct Factor {
  Node base;
  Number exponent = 1;
};
struct Factored {
  Number coefficient = 1;
  std::vector<Factor> factors;  ///< different bases, none of them constant
};

enum class TableShape : std::uint8_t { step, linear, cubic };
enum class TableOutside : std::uint8_t { error, hold, zero };

/// A call of a table that has nothing outside of its knots.
struct TableUse {
  std::string table;
  double from = 0, to = 0;
  Node argument{};
};

class Graph {
 public:
  Graph();
  ~Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;

  /// What building and asking may cost from now on; null: unlimited. Beyond it every function throws WorkStopped (core/work.hpp).
  void limit(Work* work);

  // --- building; every function folds constants and returns the canonical node ---
  Node constant(Number value);
  Variable declare(std::string name);  ///< a new variable; `name` is only for printing
  Node variable(Variable variable);
  Node add(Node a, Node b);
  Node subtract(Node a, Node b);
  Node negate(Node a);
  Node multiply(Node a, Node b);
  Node divide(Node a, Node b);
  Node power(Node base, Node exponent);
  Node sum(std::span<const Node> terms);
  Node product(std::span<const Node> factors);
  Node call(Function function, std::span<const Node> arguments);
  /// `condition` is built from sides by `both`, `either`, `negation` and has values in [0, 1].
  Node select(Node condition, Node then, Node otherwise);

  // --- functions from outside (outside.hpp) ---
  OutsideId add_outside(OutsideFunction function);  ///< one without outside_problem()
  /// The function of these arguments, or a partial derivative of it. Of constants it is called now.
  Node outside(OutsideId function, std::span<const Node> arguments, const Orders& orders = {});
  [[nodiscard]] const std::vector<OutsideFunction>& outside() const;  ///< by OutsideId

  // --- parameters that are left open (number.hpp) ---
  /// A constant that stands for such a parameter: `value` is what the formulas are compiled with, `otherwise` what it has where nothing is given.
  Node open(std::string name, double value, Number otherwise);
  [[nodiscard]] Tape* tape() const;  ///< null: nothing is open
  /// Formulas that differ in numbers only, some of them open: where these become equal, folding would have made one formula of two. `compared` are
  /// constants that were compared as nodes.
  [[nodiscard]] std::vector<std::vector<Node>> alike(std::span<const Node> compared) const;
  /// Whether some of them are equal for these values of the steps of the tape.
  [[nodiscard]] bool coincide(std::span<const std::vector<Node>> alike, std::span<const double> values) const;
  /// The graph with these values, to be asked and not to be built on.
  [[nodiscard]] Graph bound(std::span<const double> values) const;

  // --- non-smooth functions; `place` is kept by the first use of a switch ---
  Node sign(Node s, std::string_view place);
  Node step(Node s, std::string_view place);
  Node absolute(Node s, std::string_view place);
  /// Says that the value is never negative in a run, whatever its formula looks like: a slip velocity times its direction.
  void assume_size(Node a);
  Node minimum(Node a, Node b, std::string_view place);
  Node maximum(Node a, Node b, std::string_view place);
  Node floor(Node x, std::string_view place);
  Node modulo(Node a, Node b, std::string_view place);
  Node atan2(Node y, Node x, std::string_view place);  ///< with its cut as a switch
  /// asin, acos and atan. asin(sin(y)) is a triangle, atan(tan(y)) a saw: they are written with floor, so that kinks and jumps are switches.
  Node angle(Function inverse, Node x, std::string_view place);
  Node bump(Node s, std::string_view place);
  Node less(Node a, Node b, bool or_equal, std::string_view place,
            std::string_view text);  ///< condition a < b
  Node both(Node a, Node b);
  Node either(Node a, Node b);
  Node negation(Node a);
  TableId add_table(std::string name, std::vector<double> x, std::vector<double> y, TableShape shape,
                    TableOutside outside);
  Node table(TableId table, Node x, std::string_view place);
  [[nodiscard]] std::vector<TableUse> table_uses() const;  ///< in the order of the calls
  Node side(SwitchId id);

  // --- asking ---
  [[nodiscard]] bool is_constant(Node a) const;
  [[nodiscard]] Number value(Node a) const;  ///< of a constant
  [[nodiscard]] bool depends_on(Node a, Variable x) const;
  [[nodiscard]] std::vector<Variable> variables(
      Node a) const;  ///< ascending, those it depends on; not through surfaces of switches
  [[nodiscard]] std::vector<SwitchId> switches(Node a) const;  ///< ascending, those whose sides it uses
  [[nodiscard]] std::size_t variable_count() const;
  [[nodiscard]] const std::string& name(Variable x) const;
  [[nodiscard]] const std::vector<Switch>& switches() const;
  [[nodiscard]] std::size_t size() const;  ///< number of nodes

  /// The formula as a product: constants, products and whole powers taken apart, differences of two squares split
  /// (q0² − q² = (q0 − q)(q0 + q)), everything else a factor as it stands.
  [[nodiscard]] Factored factored(Node a);
  /// True if the formula is known to be positive whatever its variables are: exp(x), 1 + x^2, 2 + cos(x). False proves nothing.
  [[nodiscard]] bool is_positive(Node a) const;
  /// 1: never negative by its form, −1: never positive, as long as all switches stand on the sides of their values; 0: not known.
  [[nodiscard]] int only_sign(Node a) const;

  /// Of the two forms that the formula has on the sides of a two-sided switch, the one that holds by value is −1: always the smaller one (min, -abs), 1:
  /// always the larger one (max, abs), as far as that can be seen; 0: not known. `side`: a variable that stands nowhere.
  int extreme(Node a, SwitchId id, Variable side);

  /// By switch: a formula of sides that is above zero where some root reads the side of the switch, not only in a branch of `if` that is
  /// not taken; constant 1 where it is always read, constant 0 where never. Surfaces are read where the sides are.
  std::vector<Node> uses(std::span<const Node> roots);

  // --- calculus ---
  Node derivative(Node a, Variable x);  ///< sides constant; memoised
  /// Replaces variables by nodes (simultaneously).
  Node substitute(Node a, std::span<const Variable> variables, std::span<const Node> values);
  /// The same with frozen sides: surfaces of switches keep their variables.
  Node substitute_frozen(Node a, std::span<const Variable> variables, std::span<const Node> values);
  /// The formula with this in the place of the side of a two-sided switch, 1 or 0; surfaces of other switches stay as they are.
  Node on_side(Node a, SwitchId id, Node side);
  /// Periods in t of what repeats by its form: sin and cos of c t + …, 2π/|c|, tan, π/|c|, floor and mod of c t + …, 1/|c|, also
  /// inside surfaces of switches; c is the mean slope of the argument over time; where floor(u) stands in the argument, it counts with the slope of u. Ascending, equal ones once. What else depends on t (a ramp, a table) is not seen here.
  std::vector<double> periods(std::span<const Node> nodes, Variable t);
  /// The same before they are sorted.
  std::vector<Number> period_numbers(std::span<const Node> nodes, Variable t);
  /// True if a is a polynomial of degree ≤ `degree` in the given variables (their products counted), judged on the canonical
  /// form and its derivatives; sides and other variables count as coefficients.
  bool polynomial_degree_at_most(Node a, std::span<const Variable> variables, int degree);

  // --- printing: text parses back to the same value; LaTeX for reports. Parts too long to be read are shown as "…" ---
  [[nodiscard]] std::string text(Node a) const;
  [[nodiscard]] std::string latex(Node a) const;

  /// Value with sides taken from the surfaces by value (sign(0) = 0, step(0) = 1): parameters, start values, checks.
  /// `values` is indexed by Variable.
  [[nodiscard]] double evaluate(Node a, std::span<const double> values) const;

  struct Data;  ///< storage, private to src/expr
  [[nodiscard]] const Data& data() const { return *data_; }

 private:
  struct Side {
    SwitchId id = 0;
    Node value;
  };
  Node replace(Node a, std::span<const Variable> variables, std::span<const Node> values, bool surfaces,
               const Side* side = nullptr);
  std::unique_ptr<Data> data_;
};

/// How a formula is written. MathML: one or more elements, for a row.
enum class Notation : std::uint8_t { text, latex, mathml };
/// A variable of this name: x', phi1.
[[nodiscard]] std::string variable_in(Notation notation, const std::string& name);

/// Texts of many formulas of one graph, as Graph::text gives them, but what they share is put together once. Their size is bounded: a part
/// of more than `longest` bytes is shown as "…", and when all of them have become many megabytes, so is all that is not short.
class Texts {
 public:
  explicit Texts(const Graph& graph, std::size_t longest = std::size_t{1} << 16,
                 Notation notation = Notation::text);
  ~Texts();
  Texts(const Texts&) = delete;
  Texts& operator=(const Texts&) = delete;
  /// Looked at while a text is made; may throw Abandoned from then on.
  void use(Patience* patience);
  [[nodiscard]] std::string operator()(Node a);
  /// The same, in brackets where something that stands before it would not be multiplied with all of it.
  [[nodiscard]] std::string factor(Node a);

  struct Parts;

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace judder::expr
