// [run] and [output]: expressions evaluated, words checked.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "judder/core/number.hpp"
#include "model/builder.hpp"

namespace judder::model {
std::string step_problem(double step, double from, double until) {
  const double largest = std::max(std::abs(from), std::abs(until));
  const double least = std::numeric_limits<double>::epsilon() * largest;
  if (!(step > 0) || !std::isfinite(largest) || step >= least) return {};
  return "the step is " + to_text(step) + ", which is lost in the rounding of times up to " +
         to_text(largest) + "; it must be at least " + to_text(least, 3);
}

std::string length_problem(double from, double until) {
  constexpr double kShortest =
      1e-270;  // what is a share of it, and a square of that share, is still a number
  const double length = until - from;
  if (!(length > 0) || length >= kShortest) return {};
  return "the run lasts " + to_text(length) +
         ", which is too short to be divided into steps; it must last at least " + to_text(kShortest, 3);
}

std::string tolerance_problem(double tolerance) {
  constexpr double kLeast = 1e-14, kMost = 1e-2;
  if (tolerance >= kLeast && tolerance <= kMost) return {};
  return "the tolerance is " + to_text(tolerance) + "; it must lie between " + to_text(kLeast) + " and " +
         to_text(kMost);
}

void Builder::read_run() {
  RunOptions& run = result.run;
  const auto read = [&](const Value& value, const char* key, double& target, bool positive) {
    if (!value.given) return;
    const std::string where = std::string("run, ") + key;
    const auto found = number(value, where);
    if (!found) return;
    if (positive && !(*found > 0)) {
      error(value, where, std::string("'") + key + "' is " + to_text(found->raw()) + "; it must be positive");
      return;
    }
    target = found->raw();
    // The times of a run may hang on open parameters; how it is computed may not.
    const bool time =
        &target == &run.from || &target == &run.until || &target == &run.step || &target == &run.max_step;
    if (time && found->open())
      for_form.times.push_back({&target == &run.from    ? &RunOptions::from
                                : &target == &run.until ? &RunOptions::until
                                : &target == &run.step  ? &RunOptions::step
                                                        : &RunOptions::max_step,
                                found->origin()->step});
    else
      target = found->fixed("how a run is computed");
  };
  const auto word = [&](const Text& text, const char* key, std::string& target,
                        const std::vector<std::string>& words) {
    if (text.empty()) return;
    if (std::find(words.begin(), words.end(), text.text) == words.end()) {
      std::string help = suggestion(text.text, words);
      if (help.empty()) {
        help = "choices:";
        for (const std::string& w : words) help += " " + w;
      }
      error(text, std::string("run, ") + key, quoted(text.text) + " is not a choice for '" + key + "'", help);
      return;
    }
    target = text.text;
  };
  run.until = std::numeric_limits<double>::quiet_NaN();
  read(spec.run.from, "from", run.from, false);
  read(spec.run.until, "until", run.until, false);
  if (run.until < run.from) {
    error(spec.run.until, "run, until",
          "the run ends at " + to_text(run.until) + " before it begins at " + to_text(run.from));
  } else if (const std::string problem = length_problem(run.from, run.until); !problem.empty()) {
    error(spec.run.until, "run, until", problem);
  }
  read(spec.run.tolerance, "tolerance", run.tolerance, true);
  if (const std::string problem = tolerance_problem(run.tolerance); !problem.empty())
    error(spec.run.tolerance, "run, tolerance", problem);
  read(spec.run.step, "step", run.step, true);
  read(spec.run.max_step, "max_step", run.max_step, true);
  for (const auto& [value, name, step] : {std::tuple(&spec.run.step, "run, step", run.step),
                                          std::tuple(&spec.run.max_step, "run, max_step", run.max_step)}) {
    if (const std::string problem = step_problem(step, run.from, run.until); !problem.empty())
      error(*value, name, problem);
  }
  read(spec.run.solver_tolerance, "solver_tolerance", run.solver_tolerance, true);
  if (!(run.solver_tolerance >= 1e-16 && run.solver_tolerance <= 1e-2))
    error(spec.run.solver_tolerance, "run, solver_tolerance",
          "'solver_tolerance' is " + to_text(run.solver_tolerance) + "; it must lie between 1e-16 and 0.01");
  else if (spec.run.solver_tolerance.given)
    note(spec.run.solver_tolerance.text.span, "run, solver_tolerance",
         "'solver_tolerance' is read and checked, but no engine uses it yet");
  double events = static_cast<double>(run.max_events);
  read(spec.run.max_events, "max_events", events, true);
  if (!(events >= 1) || (events != std::floor(events)))
    error(spec.run.max_events, "run, max_events",
          "'max_events' is " + to_text(events) + "; it must be a whole number from 1 on");
  run.max_events = static_cast<long>(std::min(events, 9e15));
  std::vector<std::string> engines;
  for (const EngineWords& engine : options.engines) engines.push_back(engine.name);
  if (engines.empty() && !spec.run.engine.empty())
    run.engine = spec.run.engine.text;
  else
    word(spec.run.engine, "engine", run.engine, engines);
  if (!options.engine.empty()) run.engine = options.engine;
  word(spec.run.method, "method", run.method, {"auto", "explicit", "stiff"});
  word(spec.run.on_accumulation, "on_accumulation", run.on_accumulation, {"finish", "stop"});
  word(spec.run.on_painleve, "on_painleve", run.on_painleve, {"stop", "tangential-impact", "choose"});
  word(spec.run.on_indeterminate, "on_indeterminate", run.on_indeterminate, {"stop", "stay"});
  word(spec.run.solver, "solver", run.solver, {"auto"});

  for (const EngineTable& table : spec.run.engines) {
    const std::string where = "run, " + table.name.text;
    const auto engine = std::find_if(options.engines.begin(), options.engines.end(),
                                     [&](const EngineWords& e) { return e.name == table.name.text; });
    if (engine == options.engines.end() || engine->options.empty()) {
      error(table.name, where, "there are no options for an engine " + quoted(table.name.text),
            suggestion(table.name.text, engines));
      continue;
    }
    std::vector<std::string> keys;
    for (const OptionField& field : engine->options) keys.push_back(field.name);
    for (const Named& named : table.values) {
      const std::string place = where + ", " + named.name.text;
      const auto key = std::find(keys.begin(), keys.end(), named.name.text);
      if (key == keys.end()) {
        error(named.name, where,
              "the engine " + quoted(table.name.text) + " has no option " + quoted(named.name.text),
              suggestion(named.name.text, keys));
        continue;
      }
      const OptionField& field = engine->options[static_cast<std::size_t>(key - keys.begin())];
      RunOptions::EngineOption option{table.name.text, named.name.text, 0, {}};
      if (!field.words.empty()) {
        word(named.value.text, field.name.c_str(), option.text, field.words);
      } else if (const auto found = number(named.value, place)) {
        option.number = found->fixed("how a run is computed");
        if (!(*found >= field.least && *found <= field.most))
          error(named.value, place,
                quoted(field.name) + " is " + to_text(found->raw()) + "; it must be between " +
                    to_text(field.least) + " and " + to_text(field.most));
      }
      run.engine_options.push_back(std::move(option));
    }
  }
}

void Builder::read_output() {
  RunOptions& run = result.run;
  run.event_rows = spec.output.event_rows;
  run.list_switches = spec.output.switches;
  if (spec.output.samples.given && spec.output.every.given) {
    error(spec.output.every, "output, every", "'samples' and 'every' exclude each other");
  }
  if (spec.output.samples.given) {
    if (const auto given = number(spec.output.samples, "output, samples")) {
      const std::optional found = given->fixed("how many rows there are");
      if (*found < 2 || *found != std::floor(*found) || *found > kMostRows) {
        error(spec.output.samples, "output, samples",
              "'samples' is " + to_text(*found) + "; it must be a whole number from 2 to " +
                  to_text(kMostRows));
      } else {
        run.samples = static_cast<long>(*found);
      }
    }
  }
  if (spec.output.every.given) {
    if (const auto given = number(spec.output.every, "output, every")) {
      const std::optional found = given->fixed("how many rows there are");
      run.every = *found;
      const double rows = (run.until - run.from) / *found;
      if (*found > 0 && rows > kMostRows)
        error(spec.output.every, "output, every",
              "'every' asks for " + to_text(rows, 3) + " rows from " + to_text(run.from) + " to " +
                  to_text(run.until) + "; at most " + to_text(kMostRows) + " are written",
              "make 'every' larger");
      if (!(*found > 0))
        error(spec.output.every, "output, every", "'every' is " + to_text(*found) + "; it must be positive");
    }
  }
  std::vector<std::string> known{"t"};
  for (const CoordinateDraft& c : coordinates) {
    known.push_back(c.name);
    known.push_back(c.name + "'");
  }
  for (const StateDraft& s : states) known.push_back(s.name);
  for (const OutputColumn& column : spec.output.columns) known.push_back(column.name.text);
  // A family in a plot is all of its members, in every plot that names it.
  constexpr std::size_t kLettersBeside = 32;
  for (const auto& plot : spec.output.plots) {
    std::vector<std::string> columns;
    if (!plot.empty()) {
      costs.try_emplace(&plot, Cost{plot.front().span, "output, plots", 0});
      reading = &plot;
    }
    if (plot.size() < 2) {
      if (!plot.empty())
        error(plot.front(), "output, plots", "a plot needs an abscissa and at least one other column");
      continue;
    }
    for (const Text& column : plot) {
      // The name of coordinates or states made by `each` stands for all of them.
      const bool primed = column.text.ends_with('\'');
      const auto entity = names.find(primed ? column.text.substr(0, column.text.size() - 1) : column.text);
      const bool family = entity != names.end() && (entity->second.kind == EntityKind::coordinate ||
                                                    (entity->second.kind == EntityKind::state && !primed));
      if (family && families[static_cast<std::size_t>(entity->second.index)].arity > 0) {
        const bool coordinate = entity->second.kind == EntityKind::coordinate;
        for (const auto& [at, member] : families[static_cast<std::size_t>(entity->second.index)].members) {
          const auto k = static_cast<std::size_t>(member);
          budget.keep_letters((coordinate ? coordinates[k].name : states[k].name).size() + kLettersBeside);
          columns.push_back((coordinate ? coordinates[k].name : states[k].name) + (primed ? "'" : ""));
        }
        continue;
      }
      if (std::find(known.begin(), known.end(), column.text) == known.end()) {
        error(column, "output, plots", "there is no column " + quoted(column.text),
              suggestion(column.text, known));
      }
      columns.push_back(column.text);
    }
    run.plots.push_back(std::move(columns));
  }
  reading = nullptr;
}

}  // namespace judder::model
