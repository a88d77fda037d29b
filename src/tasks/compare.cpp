#include "judder/tasks/compare.hpp"

#include <cmath>

namespace judder::tasks {

CompareReport compare_engines(const CompareRequest& request) {
  CompareReport report;
  report.model = io::load_model(request.model);
  if (!report.model.ok()) return report;
  model::RunOptions& run = report.model.compiled.run;
  if (request.until) run.until = *request.until;
  if (!std::isfinite(run.until) || run.until < run.from) {
    report.model.diagnostics.error({}, "run, until", "the run has no end time after its start",
                                   "write 'until' in [run], or give --until");
    report.model.misused = request.until.has_value();
    return report;
  }
  if (const std::string problem = model::length_problem(run.from, run.until); !problem.empty()) {
    report.model.diagnostics.error({}, "run, until", problem);
    report.model.misused = request.until.has_value();
    return report;
  }
  for (const double step : request.options.steps) {
    if (const std::string problem = model::step_problem(step, run.from, run.until); !problem.empty()) {
      report.model.diagnostics.error({}, "steps", problem);
      report.model.misused = true;
      return report;
    }
  }
  engines::EngineOptions engine = engines::options_of(run);
  engine.cancel = engine.abandon = request.model.cancel;
  report.comparison = analysis::compare(*report.model.compiled.system, engine, request.options);
  report.done = true;
  return report;
}

}  // namespace judder::tasks
