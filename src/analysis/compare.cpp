#include "judder/analysis/compare.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "judder/analysis/estimate.hpp"
#include "judder/core/number.hpp"

namespace judder::analysis {
namespace {

using simulate::MemorySink;

void drop_grazes(MemorySink& sink) {
  std::erase_if(sink.events,
                [](const engines::Event& event) { return event.kind == engines::EventKind::graze; });
}

/// Largest difference of a coordinate, velocity or state, divided by the range of its column.
double error_of(const model::System& system, const RunDifference& apart) {
  double error = 0;
  const auto own = static_cast<std::size_t>(system.layout().integrated());
  for (std::size_t c = 0; c < std::min(own, apart.columns.size()); ++c) {
    const ColumnDifference& column = apart.columns[c];
    if (column.largest > 0)
      error = std::max(error, column.range > 0 ? column.largest / column.range : INFINITY);
  }
  return error;
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
    if (result.status.reason == Reason::interrupted) break;
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
  row.error = error_of(system, apart);
  row.steps = result.steps;
  row.evaluations = result.evaluations;
  row.windows = result.windows;
  return row;
}

constexpr double kTightest = 1e-14;  // the least tolerance that a run takes
constexpr double kMargin = 10;       // by which an error must exceed that of the reference to tell an order
constexpr double kRounding = 16 * std::numeric_limits<double>::epsilon();  // no run is better than this

}  // namespace

Comparison compare(const model::System& system, const engines::EngineOptions& run,
                   const CompareOptions& options) {
  Comparison out;
  // Whoever has cancelled does not wait for the next engine to be set up.
  const auto cancelled = [&run] {
    return run.cancel != nullptr && run.cancel->load(std::memory_order_relaxed);
  };
  engines::EngineOptions best = run;
  const std::string engine = simulate::engine_used(system, "auto");
  const bool exact = engine == "exact";
  if (!exact) {
    for (const double tolerance : options.tolerances) best.tolerance = std::min(best.tolerance, tolerance);
    best.tolerance = std::max(best.tolerance / 10, kTightest);
  }
  best.step = 0;
  MemorySink reference(system);
  const auto follow = [&](double allowed, MemorySink& sink) {
    engines::EngineOptions own = best;
    own.tolerance = allowed;
    sink.clear();
    const Status status = simulate::run(system, engine, own, sink).status;
    drop_grazes(sink);
    return status;
  };
  // Rounding may keep a run from its end at the tightest tolerances; the next one is tried then.
  double tightness = exact || options.steps.empty() ? best.tolerance : kTightest;
  out.reference_status = follow(tightness, reference);
  while (!out.reference_status.ok() && out.reference_status.reason != Reason::interrupted &&
         tightness < best.tolerance) {
    tightness = std::min(10 * tightness, best.tolerance);
    out.reference_status = follow(tightness, reference);
  }
  out.reference = exact ? engine : engine + ", tolerance " + to_text(tightness);
  out.reference_events = reference.events.size();
  out.reference_error = kRounding;
  if (cancelled()) return out;
  if (!exact) {
    MemorySink coarser(system);
    static_cast<void>(follow(10 * tightness, coarser));
    // The error goes with the tolerance, so that of the reference is a tenth of the difference; the whole of it is on the safe side.
    out.reference_error =
        std::max(out.reference_error, error_of(system, difference(system, reference, coarser)));
  }

  for (const std::string& asked : options.engines) {
    if (cancelled()) return out;
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
      if (cancelled()) return out;
      own.tolerance = tolerance;
      add(own, {.engine = asked, .tolerance = tolerance});
    }
    own.tolerance = run.tolerance;
    double step_before = 0, error_before = 0;  // of the last run that came to its end; 0: none
    for (const double step : options.steps) {
      if (cancelled()) return out;
      own.step = step;
      const CompareRow& row = add(own, {.engine = asked, .step = step});
      if (!row.problem.empty()) {  // not run, or not to the end
        step_before = 0;
        continue;
      }
      if (step_before > 0 && step_before != step) {
        const double least = kMargin * out.reference_error;
        if (error_before > least && row.error > least)
          out.rows.back().order = std::log(error_before / row.error) / std::log(step_before / step);
        else
          out.rows.back().order_unknown = true;
      }
      step_before = step;
      error_before = row.error;
    }
  }
  return out;
}

}  // namespace judder::analysis
