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

}  // namespace judder::analysis
