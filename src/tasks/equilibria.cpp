#include "judder/tasks/equilibria.hpp"

#include <algorithm>
#include <cmath>

#include "judder/core/patience.hpp"
#include "judder/engines/engine.hpp"

namespace judder::tasks {
namespace {

using analysis::RestSurvey;

/// The restitution that theorems ask about: of the only contact, or something that fits none.
double restitution_of(const model::System& system) {
  double most = 0;
  model::Workspace work(system);
  for (std::size_t k = 0; k < system.relations().size(); ++k) {
    if (system.relations()[k].kind != model::RelationKind::contact || system.relations()[k].compliant)
      continue;
    double e = 0, tangential = 0;
    system.restitution(work, static_cast<int>(k), 0, e, tangential);
    most = std::max({most, std::abs(e), std::abs(tangential)});
    if (!system.relations()[k].impact_friction) most = std::max(most, 1.0);
  }
  return most;
}

void answer(const EquilibriaRequest& request, EquilibriaReport& report, Patience& patience) {
  const model::System& system = *report.model.compiled.system;
  RestSurvey& out = report.survey;
  analysis::EquilibriaOptions options;
  options.limit = request.limit;
  options.at = request.at;
  options.cancel = request.model.cancel;
  const model::RunOptions& run = report.model.compiled.run;
  if (!request.at) options.at = run.from;
  if (std::isfinite(run.until) && run.until > run.from) options.horizon = run.until - run.from;
  out.time = *options.at;
  const auto rest = analysis::rest_problem(system, options, report.problem);
  if (!rest) {
    if (!report.problem.not_affine) return;
    report.problem = {};
    analysis::RestSearchOptions search;
    search.at = options.at;
    search.cancel = options.cancel;
    out.search = analysis::search_rests(system, search, report.problem);
    return;
  }
  out.rest = *rest;
  out.klarbring = analysis::klarbring_numbers(*rest);
  out.found = analysis::equilibria(*rest, options);
  const model::CompileOptions how = io::compile_options(request.model);
  const auto forces = analysis::named_forces(report.model.file.spec, how, *rest);
  const double restitution = restitution_of(system);
  constexpr std::size_t kMostExperiments = 40;
  std::size_t experiments = 0;
  for (analysis::RestFamily& family : out.found.families) {
    patience.look();
    RestSurvey::Family made;
    const auto judge = [&](const std::string& where, const analysis::RestState& state) {
      RestSurvey::Judged judged{where, state, analysis::judge(*rest, state, forces, restitution), {}};
      if (request.perturb && experiments++ < kMostExperiments) {
        analysis::ExperimentOptions push;
        push.curves = request.curves;
        push.cancel = request.model.cancel;
        judged.experiment = analysis::experiment(report.model.file.spec, how, *rest, state, push);
      }
      made.judged.push_back(std::move(judged));
    };
    judge("inside", family.inside);
    for (const analysis::RestFace& face : family.faces) judge(face.meaning, face.state);
    made.family = std::move(family);
    out.families.push_back(std::move(made));
  }
  out.found.families.clear();
}

}  // namespace

EquilibriaReport find_equilibria(const EquilibriaRequest& request) {
  EquilibriaReport report;
  report.model = io::load_model(request.model);
  if (!report.model.ok()) return report;
  Patience patience;
  patience.start(request.model.cancel);
  try {
    answer(request, report, patience);
  } catch (const Abandoned&) {
  }
  report.cancelled = request.model.cancel != nullptr && *request.model.cancel;
  return report;
}

}  // namespace judder::tasks
