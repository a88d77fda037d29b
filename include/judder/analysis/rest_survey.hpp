// All that is found out about the rest states of a model (analysis/equilibria.hpp, rest_stability.hpp, perturbation.hpp, rest_search.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judder/analysis/equilibria.hpp"
#include "judder/analysis/perturbation.hpp"
#include "judder/analysis/rest_search.hpp"
#include "judder/analysis/rest_stability.hpp"

namespace judder::analysis {

struct RestSurvey {
  struct Judged {
    std::string where;  ///< "inside", "imminent slip+ of wall", …
    RestState state;
    RestJudgement judgement;
    std::optional<Experiment> experiment;
  };
  struct Family {
    RestFamily family;
    std::vector<Judged> judged;  ///< inside, then the sides
  };
  double time = 0;
  RestProblem rest;  ///< of an affine model
  Equilibria found;  ///< without its families, which are here
  std::vector<Family> families;
  std::optional<KlarbringNumbers> klarbring;
  std::optional<RestSearch> search;  ///< of a model that is not affine at rest: nothing above is filled in
};

struct RestSurveyOptions {
  EquilibriaOptions rests;  ///< `at` not given: the start of the run
  bool forces = true;       ///< margins of the named forces; the model is compiled once for each of them
  bool perturb = false;     ///< push every rest, up to 40 of them
  bool curves = false;      ///< keep motions of these experiments, for figures
};

/// `spec` and `compile` are those of the model. A problem with a message: there is no survey. Throws Abandoned when cancelled.
void survey_rests(const model::System& system, const model::Spec& spec, const model::CompileOptions& compile,
                  const model::RunOptions& run, const RestSurveyOptions& options, RestSurvey& out,
                  EquilibriaProblem& problem);

/// "wall stuck, pad imminent slip+"; "free" where nothing touches.
[[nodiscard]] std::string status_words(const RestProblem& rest, const RestState& state);
/// The same of a rest that was found by a search, switches included.
[[nodiscard]] std::string status_words(const FoundRest& rest);

/// The restitution that theorems ask about: of the only contact, or something that fits none.
[[nodiscard]] double largest_restitution(const model::System& system);

/// One number or word of a survey, for references and tests. `words` are those of a state (status_words); `number` counts states of these words from 1.
/// Fields: a coordinate; "NAME least" and "NAME most" over the family; "stability", "basis", "margin", "critical mu", "growth" (largest real part of
/// the eigenvalues), "frequency" (its imaginary part), "dimension", "vertices", "rays", "faces"; "count": how many families have such states inside.
struct RestReading {
  std::optional<double> number;
  std::optional<std::string> words;
  std::string problem;
};
[[nodiscard]] RestReading read_rest(const RestSurvey& survey, const std::string& words, int number,
                                    const std::string& field);

}  // namespace judder::analysis
