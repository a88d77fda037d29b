// A model as the hunt draws it: trees of expressions whose numbers know their dimension, so that the same model can be written in other
// units, made smaller piece by piece, and evaluated without anything of the library.
//
// A Draft is a list of elements, each with the fields of its table in the model file; `text` writes the file.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace judder::hunt {

/// Exponents of length, mass and time.
struct Dimension {
  double length = 0, mass = 0, time = 0;
  friend bool operator==(const Dimension&, const Dimension&) = default;
  friend Dimension operator+(Dimension a, Dimension b) {
    return {a.length + b.length, a.mass + b.mass, a.time + b.time};
  }
  friend Dimension operator-(Dimension a, Dimension b) {
    return {a.length - b.length, a.mass - b.mass, a.time - b.time};
  }
  friend Dimension operator*(double k, Dimension a) { return {k * a.length, k * a.mass, k * a.time}; }
};
inline constexpr Dimension kPure{};
inline constexpr Dimension kLength{1, 0, 0};
inline constexpr Dimension kMass{0, 1, 0};
inline constexpr Dimension kTime{0, 0, 1};
inline constexpr Dimension kEnergy{2, 1, -2};

/// One unit of before is `length`, `mass`, `time` units of now.
struct Units {
  double length = 1, mass = 1, time = 1;
  [[nodiscard]] double factor(Dimension d) const;
};

enum class Op : std::uint8_t {
  number,
  name,      ///< t, a coordinate, a velocity ("x'"), a state, a parameter, speed
  text,      ///< written as it is; such a model is neither rescaled nor evaluated
  add,       ///< any number of terms
  multiply,  ///< any number of factors
  divide,
  power,
  negate,
  less,
  at_least,
  call,  ///< a function of the language, a table, or a definition
  prime  ///< total derivative of a definition
};

struct Expr {
  Op op = Op::number;
  double number = 0;
  Dimension dimension{};
  std::string word;  ///< name, text, or function
  std::vector<Expr> args;
  int slot = -1;     ///< place of a name's value (prepare)
  int surface = -1;  ///< number of the switch (prepare)
};

// Building blocks. Dimensions follow from the arguments.
[[nodiscard]] Expr number(double value, Dimension dimension = kPure);
[[nodiscard]] Expr name(std::string word, Dimension dimension = kPure);
[[nodiscard]] Expr raw(std::string text);
[[nodiscard]] Expr operator+(Expr a, Expr b);
[[nodiscard]] Expr operator-(Expr a, Expr b);
[[nodiscard]] Expr operator*(Expr a, Expr b);
[[nodiscard]] Expr operator/(Expr a, Expr b);
[[nodiscard]] Expr operator-(Expr a);
[[nodiscard]] Expr power(Expr a, double exponent);
[[nodiscard]] Expr call(std::string function, std::vector<Expr> args, Dimension dimension);
[[nodiscard]] Expr less(Expr a, Expr b);
[[nodiscard]] Expr at_least(Expr a, Expr b);
[[nodiscard]] Expr prime(Expr a);

/// What stands behind a key.
struct Field {
  enum class Kind : std::uint8_t { value, values, rows, word, flag, table } kind = Kind::value;
  std::string key;
  std::vector<Expr> values;  ///< one for `value`; for `rows` those of a square matrix, row by row
  std::string word;          ///< text in quotes
  std::vector<Field> fields;
};
[[nodiscard]] Field field(std::string key, Expr value);
[[nodiscard]] Field field_list(std::string key, std::vector<Expr> values);
[[nodiscard]] Field field_rows(std::string key, std::vector<Expr> values);
[[nodiscard]] Field field_word(std::string key, std::string word);
[[nodiscard]] Field field_flag(std::string key);
[[nodiscard]] Field field_table(std::string key, std::vector<Field> fields);

struct Element {
  std::string section;  ///< "coordinates", "contact", …
  std::string name;     ///< its key in a table of names, or its `name`
  std::vector<Field> fields;
  [[nodiscard]] const Field* find(std::string_view key) const;
  [[nodiscard]] Field* find(std::string_view key);
};

struct Draft {
  std::vector<Element> elements;
  double from = 0, until = 1;
  std::string variant;               ///< run with this variant; empty: none
  std::set<std::string> features{};  ///< what was drawn
  bool repeated = false;             ///< has `each` or plain text: not rescaled, not evaluated

  [[nodiscard]] const Element* find(std::string_view section, std::string_view name) const;
};

[[nodiscard]] std::string text(const Expr& expr, const Units& units = {});
/// The model file.
[[nodiscard]] std::string text(const Draft& draft, const Units& units = {});

}  // namespace judder::hunt
