// A model held against the values published or derived for it.
//
// A reference (gallery/NAME/reference.toml) is a list of values; each names one quantity of one run: the time of an event, a column at an
// instant, a count, an extremum, a mean, the reason of the end, the order of the events. `verify` runs every writing of the model that a
// value is meant for, once per distinct run, and compares:
//
//     |computed − exact| ≤ max(tolerance, relative |exact|)            what we hold to be right
//     |computed − published| ≤ published_tolerance                     what the source prints, unless known to be wrong there
//
// A value with neither tolerance must be met exactly (counts). Expressions in a reference are of parameters; they are evaluated with those of
// the run, so that a closed form follows a changed parameter. Extrema and means are taken over the rows of the run (samples, both sides of
// every event, both ends of the interval and 8191 instants inside it); the mean is the integral by the trapezoidal rule over the length.
//
// Models that are linear between events run twice, by the event-driven and by the exact engine; each value then has two outcomes.
//
// A run that cannot be compiled or ends early is no error here: values that it does not reach are off, and say why. What a reference asks for and no run
// could give (a column that there is not, an expression without a value) is off, too, and stands in `Verification::faults` with its place in the file.
//
// A reference may come from a stranger. Its expressions, the rows that it asks for and the compiling of its runs are spent from one budget (core/work.hpp).
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judder/core/diagnostics.hpp"
#include "judder/core/work.hpp"
#include "judder/model/compile.hpp"

namespace judder::analysis {

enum class Quantity { event, column, count, minimum, maximum, mean, reason, sequence, rest };

/// The limit of a column at an instant with events.
enum class Side { before, after };

/// One [[value]] of a reference.
struct ReferenceValue {
  std::string label;
  std::string model;  ///< the writing it is meant for; empty: model.toml, and the others unless `only`
  bool only = false;  ///< for model.toml alone
  std::vector<std::string> variants;  ///< later ones win
  std::vector<model::Named> set;      ///< parameters and start values; win over variants
  std::vector<model::Named> run;      ///< keys of [run], for this value; win over those of the reference
  model::Value until;                 ///< replaces `until` of [run]

  Quantity quantity = Quantity::column;
  /// "impact plane", a column, a reason, the kinds in order: "impact lift-off", or the statuses of a rest: "wall stuck".
  std::string subject;
  int number = 1;  ///< n-th occurrence of the event; −1: the last; n-th rest of these statuses
  std::string field =
      "time";  ///< of the event: time, normal_impulse, …, detail, or a column; of a rest: analysis/rest_survey.hpp
  Side side = Side::after;
  model::Value at;                 ///< instant of a column; not given: the end of the run
  model::Value from, to;           ///< of an extremum or mean; not given: the whole run
  std::vector<std::string> kinds;  ///< of a sequence: only these count; empty: all

  model::Value exact;               ///< not given: only `published` counts
  std::optional<std::string> text;  ///< expected word or words instead of a number
  double tolerance = 0;             ///< absolute
  double relative = 0;              ///< of |exact|
  std::optional<double> published;
  double published_tolerance = 0;
  bool wrong = false;  ///< the printed value is known to be wrong: `note` says why
  std::string note, where, check;

  /// In the file of the reference: the value as a whole, and some of its keys (their values in the file; empty where left out).
  Span span, subject_span, field_span, model_span, relative_span;
};

/// A parameter or start value that a test changes to see the reference fail.
struct Perturbation {
  std::string name;
  double factor = 1;
};

/// A name that the source gives to a mode: every place listed (contact, joint, switch) is in the state that its word says.
struct Structure {
  std::string name;
  std::vector<std::pair<std::string, std::string>>
      words;  ///< place and word: {"roller", "stick"}, {"definitions.edge", "a > phi1*b"}

  /// `modes` are all places with their words; "slip" stands for "slip+" and "slip-" too.
  [[nodiscard]] bool fits(const std::vector<std::pair<std::string, std::string>>& modes) const;
};

struct Reference {
  std::string source;
  std::vector<model::Named> run;  ///< keys of [run] that replace those of the model
  std::optional<Perturbation> perturb;
  std::vector<ReferenceValue> values;
  std::vector<Structure> structures{};
};

/// One file of the same model.
struct Writing {
  std::string name;  ///< "model.toml", "model-states.toml"
  model::Spec spec;
};

struct VerifyOptions {
  std::string engine{};                   ///< instead of the model's; empty: as in the file
  std::optional<Perturbation> perturb{};  ///< changes this in every run that has it
  bool both_engines =
      true;  ///< a run by the event-driven engine is repeated by the exact one where that applies
  const std::atomic<bool>* cancel = nullptr;  ///< set from outside to end the runs; what is left is off
  bool first_failure = false;  ///< leave out the runs after the first one with a value that is off
  WorkLimits
      work{};  ///< what the expressions, further rows and compilations of the reference may cost together
};

enum class Verdict {
  ok,
  published_wrong,  ///< as we hold it to be right; the printed value is known to be wrong
  off
};
[[nodiscard]] const char* name(Verdict verdict);

/// One row of the table: a value on one writing.
struct Outcome {
  const ReferenceValue* value = nullptr;  ///< of the Reference given to `verify`
  std::string model;                      ///< name of the writing
  std::string engine;                     ///< that ran it; empty: the run was not made
  std::string quantity;                   ///< in words: "time of impact plane, 3rd"
  std::optional<double> exact, computed;  ///< nothing for words, or when there is no such number
  std::string computed_text;              ///< of words
  std::string run;                        ///< "model.toml, variant high, mu=0.3, until 2"
  Verdict verdict = Verdict::off;
  std::string why;  ///< for `off`: one sentence with the digits that matter

  /// computed − exact, or computed − published where nothing is exact.
  [[nodiscard]] std::optional<double> deviation() const;
};

struct Verification {
  std::vector<Outcome> outcomes;  ///< in the order of the reference; writings of one value one after another
  int runs = 0;                   ///< simulations made
  /// A writing that does not compile as it is, without variants and settings of the reference, with its messages; then nothing of it has been compared.
  std::string invalid_model;
  Diagnostics diagnostics;
  std::string invalid_run;  ///< a run of the reference that does not compile, and why; empty: all do
  /// What is wrong with the reference itself, by the bytes of its file: names that there are not, expressions without a finite value, too much work.
  Diagnostics faults;
  bool cancelled = false;  ///< from outside; values of runs that were not made are off
  [[nodiscard]] int failed() const;
  [[nodiscard]] int passed() const { return static_cast<int>(outcomes.size()) - failed(); }
};

/// `reference` must outlive the result. The first of `writings` is model.toml.
[[nodiscard]] Verification verify(const Reference& reference, const std::vector<Writing>& writings,
                                  const VerifyOptions& options = {});

}  // namespace judder::analysis
