// From a Spec to a System: names resolved, `each` and `when` applied, definitions inlined, equations of
// motion derived, start values computed and checked.
//
//     L = T − V:   M = ∂²T/∂v∂v ,   h = −d/dt(∂L/∂v)|_{v̇=0} + ∂L/∂q − ∂D/∂v + Σ value · ∂(along)/∂v + …
//
// with the matrices of [matrices] added: M, −C v, −K q, load.
//
// Order of work: parameters from the spec, then from the variants in the order given, then from `set`;
// expressions of parameters; `when` and `each`; definitions; start values; checks. All problems are
// reported, not only the first. A System is returned only without errors.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "judder/core/diagnostics.hpp"
#include "judder/core/work.hpp"
#include "judder/model/form.hpp"
#include "judder/model/run_options.hpp"
#include "judder/model/spec.hpp"
#include "judder/model/system.hpp"
#include "judder/model/vocabulary.hpp"

namespace judder::model {

struct CompileOptions {
  std::vector<std::string> variants;  ///< names of variants; later ones win
  std::vector<Named> set;         ///< parameters and start values (`x`, `x'`, `z`); they win over variants
  std::vector<std::string> free;  ///< parameters that stay inputs of the System (Layout::free_parameter)
  /// Parameters that are left open, and which of several sets of values beside those of the file they are compiled with: for compile_form() alone.
  std::vector<std::string> open;
  int attempt = 0;
  std::string engine;                ///< engine that will run the model; wins over [run]
  std::vector<EngineWords> engines;  ///< those that exist; empty: any word is taken, and none has options
  double limit = 200000;             ///< largest number of nodes that the model may expand to
  WorkLimits work;                   ///< what compiling may cost
  const std::atomic<bool>* cancel = nullptr;  ///< set from outside to stop within a moment
  /// The Spec lacks something that could not be read: only its expressions are looked at. What is not used, has no inertia or does not fit
  /// at the start may follow from that. There is no system then.
  bool damaged = false;
};

/// Why times up to `until` cannot be stepped by `step`: it is lost in their rounding. Empty: they can, or it is not known up to when.
[[nodiscard]] std::string step_problem(double step, double from, double until);
/// Why a run from `from` to `until` cannot be made: it is so short that its steps, or their squares, would underflow to zero. Empty: it can, or its length is not known.
[[nodiscard]] std::string length_problem(double from, double until);
/// Why no run can have this tolerance. Empty: it can.
[[nodiscard]] std::string tolerance_problem(double tolerance);
inline constexpr double kMostRows = 1e9;  ///< of a trajectory

/// A parameter that is a list, or a matrix by rows.
struct ListValue {
  std::string name;
  int rows = 1, columns = 0;
  bool matrix = false;
  std::vector<double> numbers;
};

struct Compiled {
  std::optional<System> system;
  RunOptions run;
  std::string title;
  Diagnostics diagnostics;
  std::vector<std::pair<std::string, double>> parameters;  ///< resolved scalars, in the order of the file
  std::vector<ListValue> lists;  ///< resolved lists and matrices, in the order of the file
  double work = 0;               ///< operations that compiling took (core/work.hpp)
  bool cancelled = false;        ///< stopped from outside; there is no system
};

[[nodiscard]] Compiled compile(const Spec& spec, const CompileOptions& options = {});

struct CompiledForm {
  std::optional<Form> form;
  Diagnostics diagnostics;  ///< which parameters cannot be left open, why and where
};

/// The same with parameters that are left open: their values belong to each run (form.hpp). The model itself must be one that compile() takes.
[[nodiscard]] CompiledForm compile_form(const Spec& spec, const std::vector<std::string>& open,
                                        const CompileOptions& options = {});

}  // namespace judder::model
