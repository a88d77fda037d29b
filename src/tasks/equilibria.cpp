#include "judder/tasks/equilibria.hpp"

#include "judder/core/patience.hpp"

namespace judder::tasks {

EquilibriaReport find_equilibria(const EquilibriaRequest& request) {
  EquilibriaReport report;
  report.model = io::load_model(request.model);
  if (!report.model.ok()) return report;
  analysis::RestSurveyOptions options;
  options.rests.limit = request.limit;
  options.rests.at = request.at;
  options.rests.cancel = request.model.cancel;
  options.perturb = request.perturb;
  options.curves = request.curves;
  try {
    analysis::survey_rests(*report.model.compiled.system, report.model.file.spec,
                           io::compile_options(request.model), report.model.compiled.run, options,
                           report.survey, report.problem);
  } catch (const Abandoned&) {
  }
  report.cancelled = request.model.cancel != nullptr && *request.model.cancel;
  return report;
}

}  // namespace judder::tasks
