// A model whose open parameters get their values run by run.
//
// compile() folds all parameters into the equations, so that a System belongs to one set of values. A Form is compiled once and *bound* to values of
// its open parameters and to start values as often as one likes; what comes of it is a System like any other, with the bits of the one
// that compile() makes for these values. Nothing that an engine keeps can be stale, because no System ever changes.
//
// Three kinds of constancy: literals and folded parameters are constant for ever; open parameters, and what is computed from them alone, are constant
// in a run; the rest varies. What is constant in a run was recorded in the order in which compiling computed it, with every comparison that decided
// something (expr/number.hpp), and is computed in that order again. A Form is compiled at values a millionth beside those of the file: there nothing is
// zero, one, whole or equal by chance. Values at which a comparison goes another way (a mass of 1, a stiffness of 0, a coefficient that changes its sign, two formulas that become one)
// are refused, and so are start values that no run can begin with: for them there is compile(), which also has the words for what is wrong.
//
// What decides of what the model consists cannot be open: an index, the end of a range, numbers of rows, options of engines. Conditions (`when`,
// `if` with constants) can: they are comparisons.
//
// A Form never changes, and any number of threads may bind it at the same time.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "judder/model/run_options.hpp"
#include "judder/model/system.hpp"

namespace judder::model {

struct Bound {
  std::optional<System> system;  ///< nothing: these values need a compilation of their own
  RunOptions run;                ///< its times may hang on parameters
  std::string refused;           ///< why there is no system, in one sentence
};

class Form {
 public:
  using Value = std::pair<std::string, double>;

  Form();
  ~Form();
  Form(Form&&) noexcept;
  Form& operator=(Form&&) noexcept;

  [[nodiscard]] std::vector<std::string> open() const;
  /// Coordinates, velocities and states by name: "x", "x'", "z", "x[2]'".
  [[nodiscard]] const std::vector<std::string>& start() const;
  /// What is not given has the value of the file, as an expression: it follows what is given.
  [[nodiscard]] Bound bind(std::span<const Value> parameters, std::span<const Value> start = {}) const;

  /// What was recorded about the open parameters while compiling.
  [[nodiscard]] const expr::Tape* tape() const;  ///< null: nothing is open

  struct Data;

 private:
  friend struct Builder;
  friend class Restart;
  std::unique_ptr<Data> data_;
};

/// Other start values for a System that bind() has made, as often as one likes and without memory from the heap, for ensembles: a run of it begins
/// to the bit as if bind() had been given them. Engines of the System stay good. The System belongs to one thread; nobody runs it meanwhile.
class Restart {
 public:
  /// Both must live as long.
  Restart(const Form& form, System& system);
  ~Restart();
  Restart(Restart&&) noexcept;
  Restart& operator=(Restart&&) noexcept;

  /// False: no run of this System can begin so; bind() or compile() say why, or make another one. What is not given follows from the file.
  [[nodiscard]] bool begin(std::span<const Form::Value> start);

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace judder::model
