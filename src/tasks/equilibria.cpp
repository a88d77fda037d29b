#include "judder/tasks/equilibria.hpp"

#include <cmath>

#include "judder/core/patience.hpp"

namespace judder::tasks {
namespace {

/// Where families change over a parameter. The model is that of the first value, so that a wrong name or value is told at once.
void find_changes(const EquilibriaRequest& request, EquilibriaReport& report) {
  const analysis::Sweep& sweep = *request.sweep;
  const model::Spec& spec = report.model.file.spec;
  const model::RunOptions& run = report.model.compiled.run;
  analysis::EquilibriaOptions options;
  options.limit = 0;  // vertices are not looked at
  options.at = request.at.value_or(run.from);
  if (std::isfinite(run.until) && run.until > run.from) options.horizon = run.until - run.from;
  options.cancel = request.model.cancel;
  if (!analysis::rest_problem(*report.model.compiled.system, options, report.problem)) {
    if (report.problem.not_affine)
      report.problem.help = "families are followed over a parameter where forces and gaps are affine at rest";
    return;
  }
  report.changes = analysis::family_changes(spec, io::compile_options(request.model), sweep.name, sweep.from,
                                            sweep.to, sweep.count, options);
}

}  // namespace

EquilibriaReport find_equilibria(const EquilibriaRequest& request) {
  EquilibriaReport report;
  io::ModelRequest model = request.model;
  if (request.sweep) {
    std::erase_if(model.set,
                  [&](const model::Named& named) { return named.name.text == request.sweep->name; });
    model.set.push_back({request.sweep->name, request.sweep->from});
  }
  report.model = io::load_model(model);
  if (!report.model.ok()) return report;
  analysis::RestSurveyOptions options;
  options.rests.limit = request.limit;
  options.rests.at = request.at;
  options.rests.cancel = request.model.cancel;
  options.perturb = request.perturb;
  options.curves = request.curves;
  const expr::OutsideWatch watch(report.model.compiled.system->graph().outside());
  try {
    if (request.sweep) {
      find_changes(request, report);
    } else {
      analysis::survey_rests(*report.model.compiled.system, report.model.file.spec,
                             io::compile_options(request.model), report.model.compiled.run, options,
                             report.survey, report.problem);
    }
  } catch (const Abandoned&) {
  }
  if (watch.failed() >= 0) report.problem = {watch.words(watch.failed()), {}};
  report.cancelled = request.model.cancel != nullptr && *request.model.cancel;
  return report;
}

}  // namespace judder::tasks
