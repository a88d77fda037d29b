// A model as its author wrote it: one struct per table of the model file, field by field
// (docs/model-file.md).
//
// A Spec is editable and knows nothing of mechanics; `compile` (model/compile.hpp) turns it into a System.
// The reader in io fills it from TOML and keeps the place of every value, a C++ user fills it by hand:
//
//     Spec spec;
//     spec.coordinates.push_back({.name = "h", .start = 1});
//     spec.energy.kinetic = "h'^2/2";
//     spec.energy.potential = "9.81*h";
//     spec.contacts.push_back({.name = "ground", .gap = "h", .impact = {.restitution = 0.9}});
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "judder/core/diagnostics.hpp"
#include "judder/expr/outside.hpp"

namespace judder::model {

/// Text with the bytes of the model file it came from. `origin[i]` is the file offset of text[i]; empty when
/// the text stands in the file as it is (no escapes), then text[i] is at span.begin + quote + i.
struct Text {
  std::string text;
  Span span;                ///< the whole value, with its quotes
  std::uint32_t quote = 1;  ///< bytes from span.begin to text[0]
  std::vector<std::uint32_t> origin;

  Text() = default;
  Text(std::string t) : text(std::move(t)) {}
  Text(const char* t) : text(t) {}
  [[nodiscard]] bool empty() const { return text.empty(); }
  /// File bytes of text[begin, end).
  [[nodiscard]] Span locate(std::size_t begin, std::size_t end) const;
};

/// A number or an expression; `given` is false for a key that was left out.
struct Value {
  bool given = false;
  std::optional<double> number;  ///< set for a plain number
  Text text;  ///< the expression; for a number its shortest text, with the place in the file

  Value() = default;
  Value(double n);
  Value(int n) : Value(static_cast<double>(n)) {}
  Value(std::string t) : given(true), text(std::move(t)) {}
  Value(const char* t) : given(true), text(t) {}
};

/// A named value: parameters of variants, `--set`, output columns.
struct Named {
  Text name{};
  Value value{};
};

/// A further column of the output.
struct OutputColumn {
  Text name{};
  Value value{};
  Text unit{}, label{};  ///< for pictures
};

struct Parameter {
  Text name{};
  Value value{};                           ///< scalar; not given for lists
  std::vector<std::vector<Value>> rows{};  ///< a list is one row; a matrix has equal rows
  bool is_matrix = false;
  Text file{};                  ///< name of the data file it was read from; rows hold its numbers
  std::vector<double> range{};  ///< smallest and largest value for sliders and sweeps, or empty
  Text unit{}, label{};         ///< for pictures: free text, and LaTeX
};

struct Definition {
  Text signature{};  ///< "name" or "name(a, b)"
  Value body{};
};

struct Table {
  Text name{};
  std::vector<double> x{}, y{};
  Text file{};
  Text between{};  ///< "linear" (default), "step", "cubic"
  Text outside{};  ///< "error" (default), "hold", "zero"
};

struct Coordinate {
  Text name{};
  Value start{};
  Value velocity{};
  bool massless = false;
  Value scale{};
  Text each{};
  Text unit{}, label{};  ///< for pictures
};

struct StateVariable {
  Text name{};
  Value start{};
  Value rate{};
  Text each{};
};

struct Energy {
  Value kinetic{}, potential{}, dissipation{};
};

/// A matrix or vector given by values (row-major) or read from a file.
struct MatrixEntry {
  int row = 0, column = 0;  ///< from 0
  double value = 0;
};

/// Rows as they were written, or the entries of a sparse file. Entries that are not listed are zero.
struct Matrix {
  bool given = false;
  std::vector<std::vector<Value>> rows{};
  std::vector<MatrixEntry> entries{};  ///< by rows, each place once; read when `sparse`
  bool sparse = false;
  int row_count = 0, column_count = 0;  ///< of a sparse one
  Text file{};
  Span span{};
};

struct Matrices {
  Matrix mass{}, damping{}, stiffness{}, load{};
};

struct Force {
  Text name{};  ///< empty: force1, force2, …
  Value along{}, value{};
  Text each{};
  Value when{};
  Span span{};
};

/// type: coulomb, lugre, elastoplastic, arctan, penalty. A bare value fills `mu`: {.mu = 0.2} is Coulomb's law.
struct FrictionLaw {
  bool given = false;  ///< a table was written, be it an empty one
  Text type{};
  Value mu{}, static_coefficient{}, dynamic{}, velocity{}, exponent{}, viscous{}, stiffness{}, damping{},
      breakaway{}, beta{};
  Span span{};

  /// There is a law: a table, a word or any number.
  [[nodiscard]] bool stated() const {
    return given || !type.empty() || mu.given || static_coefficient.given || dynamic.given ||
           velocity.given || exponent.given || viscous.given || stiffness.given || damping.given ||
           breakaway.given || beta.given;
  }
};

/// type: moreau, newton, poisson, stronge. A bare value fills `restitution`.
struct ImpactLaw {
  Text type{};
  Value restitution{}, tangential{}, stiffness{}, exponent{};
  bool friction = true;
  Span span{};
};

struct Joint {
  Text name{};
  std::vector<Value> slip{};
  Value normal{};
  FrictionLaw law{};
  Text each{};
  Value when{};
  Span span{};
};

struct Compliance {
  bool given = false;  ///< a table was written, be it an empty one
  Value stiffness{}, damping{}, exponent{};

  [[nodiscard]] bool stated() const { return given || stiffness.given || damping.given || exponent.given; }
};

struct Contact {
  Text name{};
  Value gap{};
  std::vector<Value> slip{};
  FrictionLaw friction{};
  ImpactLaw impact{};
  Compliance compliant{};
  Value push{};
  std::vector<Value> drag{};
  Text each{};
  Value when{};
  Span span{};
};

struct Constraint {
  Text name{};
  Value zero{};      ///< holonomic
  Value velocity{};  ///< or affine in the velocities
  std::vector<Value> slip{};
  FrictionLaw friction{};
  Text each{};
  Value when{};
  Span span{};
};

struct Watch {
  Text name{};
  Value zero{};
  Text direction{};  ///< "both" (default), "up", "down"
  int stop = 0;      ///< end the run at the n-th; 0: never
  Text each{};
  Value when{};
  Span span{};
};

struct Draw {
  Text shape{};
  std::vector<Value> at{}, size{}, from{}, to{};  ///< two values each
  std::vector<std::vector<Value>> points{};
  Value radius{}, turn{}, shift{};
  Value of{};                  ///< contact, joint or constraint whose status colours the shape
  std::vector<Value> force{};  ///< of an arrow: two output columns, or zero
  Text each{};
  Value when{};
  Span span{};
};

struct Variant {
  Text name{};
  Text title{};
  std::vector<Named> values{};
};

/// Options of the engine called `name`, read by that engine only.
struct EngineTable {
  Text name{};
  std::vector<Named> values{};  ///< numbers; texts for keys such as form = "printed"
};

struct Run {
  Value from{}, until{}, tolerance{}, step{}, max_step{}, max_events{}, solver_tolerance{};
  Text engine{}, method{}, on_accumulation{}, on_painleve{}, on_indeterminate{}, solver{};
  std::vector<EngineTable> engines{};
};

struct Output {
  std::vector<OutputColumn> columns{};
  Value samples{}, every{};
  bool event_rows = true;
  bool switches = true;
  bool coordinates = true;
  std::vector<std::vector<Text>> plots{};
};

struct Spec {
  Text title{}, description{}, source{};
  std::vector<Parameter> parameters{};
  std::vector<Definition> definitions{};
  std::vector<Table> tables{};
  std::vector<Coordinate> coordinates{};
  std::vector<StateVariable> states{};
  Energy energy{};
  Matrices matrices{};
  std::vector<Force> forces{};
  std::vector<Joint> joints{};
  std::vector<Contact> contacts{};
  std::vector<Constraint> constraints{};
  std::vector<Watch> watches{};
  std::vector<Draw> drawings{};
  std::vector<Variant> variants{};
  Run run{};
  Output output{};
  /// What formulas may call by name beside the language: given by the caller, never by a file.
  std::vector<expr::OutsideFunction> functions{};
};

}  // namespace judder::model
