#include "judder/analysis/compare.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "judder/analysis/estimate.hpp"
#include "judder/core/number.hpp"

namespace judder::analysis {
namespace {

using simulate::MemorySink;

void drop_grazes(MemorySink& sink) {
  std::erase_if(sink.events,
                [](const engines::Event& event) { return event.kind == engines::EventKind::graze; });
}

CompareRow run_row(const model::System& system, const engines::EngineOptions& options, int repeats,
                   const MemorySink& reference, CompareRow row) {
  row.problem = simulate::engine_problem(system, row.engine);
  if (!row.problem.empty()) return row;
  MemorySink sink(system);
  engines::EngineResult result;
  row.seconds = INFINITY;
  for (int repeat = 0; repeat < std::max(repeats, 1); ++repeat) {
    sink.clear();
    const auto begin = std::chrono::steady_clock::now();
    result = simulate::run(system, row.engine, options, sink);
    row.seconds = std::min(row.seconds,
                           std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  row.ran = true;
  row.engine = row.engine == "auto" ? "auto: " + simulate::engine_used(system, "auto") : row.engine;
  if (!result.status.ok())
    row.problem = "ended at " + to_text(result.status.time, 9) + ", " + name(result.status.reason) + ": " +
                  result.status.message;
  drop_grazes(sink);
  const RunDifference apart = difference(system, reference, sink);
  row.events = sink.events.size();
  row.agreeing = apart.events;
  row.events_agree = apart.events_agree;
  row.time_error = apart.largest_time;
  const auto own = static_cast<std::size_t>(system.layout().integrated());
  for (std::size_t c = 0; c < std::min(own, apart.columns.size()); ++c) {
    const ColumnDifference& column = apart.columns[c];
    if (column.largest > 0)
      row.error = std::max(row.error, column.range > 0 ? column.largest / column.range : INFINITY);
  }
  row.steps = result.steps;
  row.evaluations = result.evaluations;
  row.windows = result.windows;
  return row;
}

}  // namespace

Comparison compare(const model::System& system, const engines::EngineOptions& run,
                   const CompareOptions& options) {
  Comparison out;
  engines::EngineOptions best = run;
  const std::string engine = simulate::engine_used(system, "auto");
  const bool exact = engine == "exact";
  if (!exact) {
    for (const double tolerance : options.tolerances) best.tolerance = std::min(best.tolerance, tolerance);
    best.tolerance = std::max(best.tolerance / 10, 1e-14);
  }
  best.step = 0;
  out.reference = exact ? engine : engine + ", tolerance " + to_text(best.tolerance);
  MemorySink reference(system);
  out.reference_status = simulate::run(system, engine, best, reference).status;
  drop_grazes(reference);
  out.reference_events = reference.events.size();

  for (const std::string& asked : options.engines) {
    const auto add = [&](const engines::EngineOptions& own, CompareRow row) -> const CompareRow& {
      out.rows.push_back(run_row(system, own, options.repeats, reference, std::move(row)));
      return out.rows.back();
    };
    if (simulate::engine_used(system, asked) == "exact") {  // without tolerance and step
      add(run, {asked});
      continue;
    }
    engines::EngineOptions own = run;
    own.step = 0;
    std::vector<double> tolerances = options.tolerances;
    if (tolerances.empty() && options.steps.empty()) tolerances.push_back(run.tolerance);
    for (const double tolerance : tolerances) {
      own.tolerance = tolerance;
      add(own, {.engine = asked, .tolerance = tolerance});
    }
    own.tolerance = run.tolerance;
    std::optional<std::pair<double, double>> before;  // step and error
    for (const double step : options.steps) {
      own.step = step;
      const double error = add(own, {.engine = asked, .step = step}).error;
      if (before && before->second > 0 && error > 0 && before->first != step)
        out.rows.back().order = std::log(before->second / error) / std::log(before->first / step);
      before = {step, error};
    }
  }
  return out;
}

}  // namespace judder::analysis
