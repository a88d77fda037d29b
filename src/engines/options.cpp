#include <cmath>

#include "judder/core/number.hpp"
#include "judder/engines/engine.hpp"

namespace judder::engines {

EngineOptions options_of(const model::RunOptions& run) {
  EngineOptions out;
  out.from = run.from;
  out.until = run.until;
  out.tolerance = run.tolerance;
  out.step = run.step;
  out.max_step = run.max_step;
  out.max_events = run.max_events;
  out.integrator = run.method == "explicit" ? Integrator::explicit_only
                   : run.method == "stiff"  ? Integrator::stiff
                                            : Integrator::automatic;
  out.on_accumulation = run.on_accumulation == "stop" ? OnAccumulation::stop : OnAccumulation::finish;
  out.on_painleve = run.on_painleve == "tangential-impact" ? OnPainleve::tangential_impact
                    : run.on_painleve == "choose"          ? OnPainleve::choose
                                                           : OnPainleve::stop;
  out.on_indeterminate = run.on_indeterminate == "stay" ? OnIndeterminate::stay : OnIndeterminate::stop;
  out.samples = run.samples;
  out.every = run.every;
  out.event_rows = run.event_rows;
  out.list_switches = run.list_switches;
  out.own = run.engine_options;
  return out;
}

std::string options_problem(const EngineOptions& options) {
  if (!std::isfinite(options.from) || !std::isfinite(options.until)) return "the run has no end time";
  if (options.until < options.from)
    return "the run ends at " + to_text(options.until) + " before it begins at " + to_text(options.from);
  if (std::string problem = model::tolerance_problem(options.tolerance); !problem.empty()) return problem;
  for (const auto& [name, value] :
       {std::pair("step", options.step), std::pair("longest step", options.max_step),
        std::pair("time between rows", options.every)}) {
    if (!(value >= 0 && std::isfinite(value)))
      return std::string("the ") + name + " is " + to_text(value) + "; it must be positive, or 0 for none";
  }
  if (options.every == 0 && options.samples < 2)
    return "the number of samples is " + std::to_string(options.samples) + "; both ends need one";
  const double rows = options.every > 0 ? (options.until - options.from) / options.every
                                        : static_cast<double>(options.samples);
  if (rows > model::kMostRows)
    return "the run would have " + to_text(rows, 3) + " rows; the most is " + to_text(model::kMostRows);
  if (options.max_events < 1) return "at least one event must be allowed";
  return model::length_problem(options.from, options.until);
}

}  // namespace judder::engines
