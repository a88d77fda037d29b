#include "judder/analysis/compare.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

#include "core/elementary.hpp"
#include "judder/analysis/estimate.hpp"
#include "judder/core/number.hpp"
#include "judder/engines/registry.hpp"

namespace judder::analysis {
namespace {

using simulate::MemorySink;

void drop_grazes(MemorySink& sink) {
  std::erase_if(sink.events,
                [](const engines::Event& event) { return event.kind == engines::EventKind::graze; });
}

/// Largest difference of a coordinate, velocity or state, divided by the range of its column.
///
/// A column that only rests, or stays zero by symmetry, has no range but rounding, which no run has in common with another. Each step rounds by the last bit of
/// the largest number of its kind (positions, velocities, states), and what velocities have gained by it moves positions for the rest of the run: a column whose
/// range and difference are both within that many roundings is left out.
double error_of(const model::System& system, const RunDifference& apart, double duration, long steps) {
  const auto n = static_cast<std::size_t>(system.layout().coordinates);
  const auto own = static_cast<std::size_t>(system.layout().integrated());
  const std::size_t count = std::min(own, apart.columns.size());
  enum Kind : std::size_t { kPositions, kVelocities, kStates, kKinds };
  const auto kind = [n](std::size_t c) { return c < n ? kPositions : c < 2 * n ? kVelocities : kStates; };
  std::array<double, kKinds> rounding{};
  for (std::size_t c = 0; c < count; ++c)
    rounding[kind(c)] = std::max(rounding[kind(c)], apart.columns[c].size);
  rounding[kPositions] += rounding[kVelocities] * duration;
  for (double& size : rounding)
    size *= std::numeric_limits<double>::epsilon() * static_cast<double>(std::max(steps, 1L));
  double error = 0;
  for (std::size_t c = 0; c < count; ++c) {
    const ColumnDifference& column = apart.columns[c];
    if (std::max(column.largest, column.range) <= rounding[kind(c)]) continue;
    if (column.largest > 0)
      error = std::max(error, column.range > 0 ? column.largest / column.range : INFINITY);
  }
  return error;
}

/// The errors that the theory of schemes with fixed steps speaks of.
struct StepErrors {
  double place = 0, velocity = 0;
  double place_square = 0, velocity_square = 0;
};

StepErrors step_errors(const model::System& system, const MemorySink& reference, const MemorySink& run,
                       long steps) {
  const auto n = static_cast<std::size_t>(system.layout().coordinates);
  StepErrors out;
  std::vector<double> least(2 * n, INFINITY), most(2 * n, -INFINITY), largest(n), integral(n), last(n);
  double first_time = 0, last_time = 0;
  std::size_t count = 0, j = 0;
  for (std::size_t i = 0; i < reference.rows(); ++i) {
    if (reference.kinds[i] == engines::RowKind::before) continue;
    const double time = reference.cell(i, 0);
    // Grids of different steps round their times differently.
    const double same = 4 * std::numeric_limits<double>::epsilon() * std::abs(time);
    while (j < run.rows() && run.cell(j, 0) < time - same) ++j;
    if (j == run.rows()) break;
    if (run.cell(j, 0) > time + same) continue;
    if (count == 0) first_time = last_time = time;
    for (std::size_t k = 0; k < n; ++k) {
      const double q = reference.cell(i, 1 + k), v = reference.cell(i, 1 + n + k);
      const double dq = std::abs(run.cell(j, 1 + k) - q), dv = std::abs(run.cell(j, 1 + n + k) - v);
      least[k] = std::min(least[k], q);
      most[k] = std::max(most[k], q);
      least[n + k] = std::min(least[n + k], v);
      most[n + k] = std::max(most[n + k], v);
      largest[k] = std::max(largest[k], dq);
      integral[k] += 0.5 * (dv + (count > 0 ? last[k] : dv)) * (time - last_time);
      last[k] = dv;
      out.place_square += dq * dq;
      out.velocity_square += dv * dv;
    }
    last_time = time;
    ++count;
  }
  if (count == 0) return out;
  out.place_square /= static_cast<double>(count);
  out.velocity_square /= static_cast<double>(count);
  // Columns that only rest have rounding for a range (error_of).
  double size = 0, speed = 0;
  for (std::size_t k = 0; k < n; ++k) {
    size = std::max({size, std::abs(most[k]), std::abs(least[k])});
    speed = std::max({speed, std::abs(most[n + k]), std::abs(least[n + k])});
  }
  const double rounding = std::numeric_limits<double>::epsilon() * static_cast<double>(std::max(steps, 1L)) *
                          (size + speed * (last_time - first_time));
  for (std::size_t k = 0; k < n; ++k) {
    if (std::max(largest[k], most[k] - least[k]) <= rounding) continue;
    const double place = most[k] - least[k],
                 velocity = (most[n + k] - least[n + k]) * (last_time - first_time);
    if (place > 0) out.place = std::max(out.place, largest[k] / place);
    if (velocity > 0) out.velocity = std::max(out.velocity, integral[k] / velocity);
  }
  return out;
}

bool fixed_steps(const std::string& engine) {
  const engines::EngineEntry* const entry = engines::find_engine(engine);
  return entry != nullptr && !entry->judged;
}

// The number of steps of the longest grid of which all others are parts; 0: there is none, or it is too long.
long common_grid(const model::System& system, const std::vector<double>& steps, double duration) {
  constexpr long kMostRows = 200'000;
  constexpr double kMostNumbers = 2e7, kWhole = 1e-9;
  if (steps.empty()) return 0;
  const double count = duration / *std::min_element(steps.begin(), steps.end());
  if (!(count <= kMostRows) || count * (1 + 2.0 * system.layout().integrated()) > kMostNumbers) return 0;
  const auto whole = [](double x) { return x >= 1 && std::abs(x - std::round(x)) <= kWhole * x; };
  for (const double step : steps) {
    const double own = duration / step;
    if (!whole(own) || !whole(std::round(count) / std::round(own))) return 0;
  }
  return std::lround(count);
}

CompareRow run_row(const model::System& system, const engines::EngineOptions& options, int repeats,
                   const MemorySink& reference, long reference_steps, CompareRow row) {
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
  row.error = error_of(system, apart, options.until - options.from,
                       std::max(reference_steps, result.steps + result.windows));
  if (fixed_steps(row.engine)) {
    const StepErrors errors = step_errors(system, reference, sink, result.steps + reference_steps);
    row.error = errors.place;
    row.velocity_error = errors.velocity;
    row.place_square = errors.place_square;
    row.velocity_square = errors.velocity_square;
  }
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
  long most_steps = 0;  // of a reference
  const auto follow = [&](double allowed, MemorySink& sink) {
    engines::EngineOptions own = best;
    own.tolerance = allowed;
    sink.clear();
    const engines::EngineResult result = simulate::run(system, engine, own, sink);
    drop_grazes(sink);
    most_steps = std::max(most_steps, result.steps + result.windows);
    return result.status;
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
    out.reference_error = std::max(
        out.reference_error,
        error_of(system, difference(system, reference, coarser), best.until - best.from, most_steps));
  }

  // Between its steps a scheme has no order: it is compared where its own steps end, and the reference has rows at all of these instants.
  const double duration = best.until - best.from;
  const bool any_fixed = std::any_of(options.engines.begin(), options.engines.end(), fixed_steps);
  const long grid_steps = any_fixed ? common_grid(system, options.steps, duration) : 0;
  MemorySink grid(system);
  if (grid_steps > 0) {
    best.every = 0;
    best.samples = grid_steps + 1;
    best.instants.clear();
    static_cast<void>(follow(tightness, grid));
    if (cancelled()) return out;
  }

  for (const std::string& asked : options.engines) {
    if (cancelled()) return out;
    const auto add = [&](const engines::EngineOptions& own, CompareRow row) -> const CompareRow& {
      const bool on_grid = grid_steps > 0 && row.step && fixed_steps(row.engine);
      out.rows.push_back(
          run_row(system, own, options.repeats, on_grid ? grid : reference, most_steps, std::move(row)));
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
    const bool fixed = fixed_steps(asked);
    if (fixed) {
      own.event_rows = false;
      own.step = run.step;
      if (options.steps.empty()) add(own, {.engine = asked});
      tolerances.clear();
    }
    for (const double tolerance : tolerances) {
      if (cancelled()) return out;
      own.tolerance = tolerance;
      add(own, {.engine = asked, .tolerance = tolerance});
    }
    own.tolerance = run.tolerance;
    double step_before = 0, error_before = 0;  // of the last run that came to its end; 0: none
    double velocity_before = 0;
    for (const double step : options.steps) {
      if (cancelled()) return out;
      own.step = step;
      if (fixed && grid_steps > 0) {
        own.every = 0;
        own.samples = std::lround(duration / step) + 1;
        own.instants.clear();
      }
      const CompareRow& row = add(own, {.engine = asked, .step = step});
      if (!row.problem.empty()) {  // not run, or not to the end
        step_before = 0;
        continue;
      }
      if (step_before > 0 && step_before != step) {
        const double least = kMargin * out.reference_error;
        if (error_before > least && row.error > least)
          out.rows.back().order =
              elementary::log(error_before / row.error) / elementary::log(step_before / step);
        else
          out.rows.back().order_unknown = true;
      }
      if (step_before > 0 && step_before != step && row.velocity_error && velocity_before > 0 &&
          *row.velocity_error > 0)
        out.rows.back().velocity_order =
            elementary::log(velocity_before / *row.velocity_error) / elementary::log(step_before / step);
      step_before = step;
      error_before = row.error;
      velocity_before = row.velocity_error.value_or(0);
    }
  }
  return out;
}

}  // namespace judder::analysis
