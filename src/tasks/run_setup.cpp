#include "tasks/run_setup.hpp"

#include <cmath>

#include "judder/analysis/periodic.hpp"
#include "judder/core/number.hpp"
#include "judder/io/writer.hpp"

namespace judder::tasks {

using io::LoadedModel;

void override_options(const RunRequest& request, LoadedModel& model) {
  model::RunOptions& run = model.compiled.run;
  const model::Run& written = model.file.spec.run;
  Diagnostics& out = model.diagnostics;
  // Named as the user has given them: by an option, or in the file at their place.
  const auto refuse = [&](bool option, const char* key, const model::Value& value, const std::string& problem,
                          const std::string& help = {}) {
    out.error(option ? Span{} : value.text.span, (option ? "--" : "run, ") + std::string(key), problem, help);
    model.misused = model.misused || option;
  };
  if (request.until) run.until = *request.until;
  if (request.tolerance) run.tolerance = *request.tolerance;
  if (request.step) run.step = *request.step;
  const bool until = request.until.has_value(), step = request.step.has_value();
  if (!std::isfinite(run.until)) {
    refuse(until, "until", written.until,
           until ? "the end time is not a finite number" : "the run has no end time",
           "write 'until' in [run], or give --until");
  } else if (run.until < run.from) {
    refuse(until, "until", written.until,
           "the run ends at " + to_text(run.until) + " before it begins at " + to_text(run.from));
  } else if (const std::string problem = model::length_problem(run.from, run.until); !problem.empty()) {
    refuse(until, "until", written.until, problem);
  }
  if (const std::string problem = model::tolerance_problem(run.tolerance); !problem.empty())
    refuse(request.tolerance.has_value(), "tolerance", written.tolerance, problem);
  if (step && !(run.step > 0 && std::isfinite(run.step)))
    refuse(true, "step", written.step,
           "the step is " + to_text(run.step) + "; it must be positive and finite");
  if (step || until) {
    if (const std::string problem = model::step_problem(run.step, run.from, run.until); !problem.empty())
      refuse(step || until, "step", written.step, problem);
    if (const std::string problem = model::step_problem(run.max_step, run.from, run.until); !problem.empty())
      refuse(until, "max_step", written.max_step, problem);
  }
  io::check_engine(request.model, model);
}

std::string resolved_text(const model::Spec& spec, const RunRequest& request, const model::RunOptions& used) {
  model::Spec out = spec;
  model::Variant rest;
  rest.name = "used";
  const auto put = [&](const model::Named& named) {
    const std::string& name = named.name.text;
    for (model::Parameter& parameter : out.parameters) {
      if (parameter.name.text == name) {
        parameter.value = named.value;
        return;
      }
    }
    for (model::Coordinate& coordinate : out.coordinates) {
      if (!coordinate.each.empty()) continue;
      if (coordinate.name.text == name) {
        coordinate.start = named.value;
        return;
      }
      if (coordinate.name.text + "'" == name) {
        coordinate.velocity = named.value;
        return;
      }
    }
    for (model::StateVariable& state : out.states) {
      if (state.each.empty() && state.name.text == name) {
        state.start = named.value;
        return;
      }
    }
    rest.values.push_back(named);
  };
  for (const std::string& wanted : request.model.variants) {
    for (const model::Variant& variant : spec.variants) {
      if (variant.name.text != wanted) continue;
      for (const model::Named& named : variant.values) put(named);
    }
  }
  for (const model::Named& named : request.model.set) put(named);
  out.variants.clear();
  if (!rest.values.empty()) out.variants.push_back(std::move(rest));
  out.run.engine = used.engine;
  if (request.until) out.run.until = *request.until;
  if (request.tolerance) out.run.tolerance = *request.tolerance;
  if (request.step) out.run.step = *request.step;
  return io::write_model(out);
}

std::optional<model::System> with_sections(const RunRequest& request, LoadedModel& model,
                                           double& forcing_period) {
  const std::optional<double> period = analysis::forcing_period(*model.compiled.system);
  if (!period) {
    model.diagnostics.error(
        {}, "run", "what moves the system depends on time without a period that could be found",
        "ramps, tables and incommensurable frequencies never repeat; leave out --until-periodic");
    return std::nullopt;
  }
  forcing_period = *period;
  model::Compiled compiled =
      model::compile(analysis::with_sections(model.file.spec, *model.compiled.system, *period),
                     io::compile_options(request.model));
  if (compiled.cancelled) {
    model.compiled.cancelled = true;
    model.diagnostics.error({}, "", "interrupted while the sections of the period were compiled");
  } else if (!compiled.system) {
    model.diagnostics.error(
        {}, "run", "the model does not compile with the sections at which its period is looked for",
        compiled.diagnostics.all().empty() ? "" : compiled.diagnostics.all().front().message);
  }
  return std::move(compiled.system);
}

}  // namespace judder::tasks
