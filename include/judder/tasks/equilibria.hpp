// Rest states of a model file, with their stability (analysis/rest_survey.hpp).
#pragma once

#include <optional>

#include "judder/analysis/family_changes.hpp"
#include "judder/analysis/impacts.hpp"
#include "judder/analysis/rest_survey.hpp"
#include "judder/io/load.hpp"

namespace judder::tasks {

struct EquilibriaRequest {
  io::ModelRequest model;
  std::size_t limit = 10000;   ///< vertices and rays listed per family
  std::optional<double> at{};  ///< instant from which loads are constant; not given: the start of the run
  bool perturb = false;        ///< push every rest, and see what becomes of it
  bool curves = false;         ///< keep motions of these experiments, for figures
  std::optional<analysis::Sweep> sweep{};  ///< instead of all this: where families change over a parameter
};

struct EquilibriaReport {
  io::LoadedModel model;
  analysis::EquilibriaProblem problem;  ///< message not empty: nothing was computed
  bool cancelled = false;               ///< stopped from outside; what follows is a part
  analysis::RestSurvey survey;
  analysis::FamilyChanges changes;  ///< of a sweep

  [[nodiscard]] bool ok() const { return model.ok() && problem.message.empty(); }
};

[[nodiscard]] EquilibriaReport find_equilibria(const EquilibriaRequest& request);

}  // namespace judder::tasks
