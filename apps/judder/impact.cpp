#include "judder/io/impacts.hpp"

#include <filesystem>

#include "judder/core/number.hpp"
#include "judder/io/files.hpp"
#include "judder/report/impact_figure.hpp"
#include "judder/report/svg.hpp"
#include "verbs.hpp"

namespace judder::app {
namespace {

/// The file for -o: as named if it has the extension, else `name` inside the folder.
std::filesystem::path output_file(const std::string& output, const std::string& extension,
                                  const std::string& name) {
  const std::filesystem::path path = output;
  return path.extension() == extension ? path : path / (name + extension);
}

int write(const std::filesystem::path& file, const std::string& text) {
  const io::FileStatus status = io::write_text_file(file, text);
  if (!status.ok()) {
    print_message("judder: " + status.text() + "\n");
    return kInputOutput;
  }
  print_message(file.string() + "\n");
  return kDone;
}

int no_collision(const std::string& file, const std::string& reason) {
  print_message(
      "judder: " + file + ": the start state is no collision: " + reason +
      "\n  help: start with a gap of zero that shrinks (--set \"y=0\", --set \"y'=-1\"), or run the model:\n"
      "        events.csv of judder run lists every impact on the way\n");
  return kModelInvalid;
}

int run_sweep(const Arguments& arguments, const io::ModelRequest& request, const io::LoadedModel& loaded,
              const std::vector<analysis::Sweep>& parameters) {
  const analysis::ImpactSweep sweep =
      analysis::sweep_impacts(loaded.file.spec, io::compile_options(request), parameters);
  for (const analysis::SweepPoint& point : sweep.points) {
    if (point.problem.empty()) continue;
    print_message("judder: at " + parameters.back().name + " = " + to_text(point.values.back(), 9) + ": " +
                  point.problem + "\n");
    return kModelInvalid;
  }
  if (!sweep.any_collision() && !sweep.any_sliding())
    return no_collision(loaded.file.name,
                        "at no value of the sweep; at the first, " + sweep.points.front().impacts.reason);
  if (arguments.has("--json")) {
    print(io::impact_sweep_json(sweep, loaded.compiled.title));
  } else if (!arguments.has("--output")) {
    print(io::impact_sweep_csv(sweep));
  }
  if (arguments.has("--output")) {
    const int code =
        write(output_file(arguments.text("--output"), ".csv", "impact"), io::impact_sweep_csv(sweep));
    if (code != kDone) return code;
  }
  // Beside the table, not in it.
  const std::string summary = io::impact_sweep_text(sweep);
  if (arguments.has("--output") && !arguments.has("--json"))
    print(summary);
  else
    print_message(summary);
  return kDone;
}

}  // namespace

int run_impact(const Arguments& arguments) {
  const auto request = model_request(arguments);
  if (!request) return kUsage;
  std::vector<analysis::Sweep> parameters;
  for (const std::string& text : arguments.all("--sweep")) {
    const auto sweep = io::parse_sweep(text);
    if (!sweep)
      return usage_error("--sweep needs NAME=FROM:TO:COUNT, not '" + text + "'",
                         "for example --sweep mu=0:1:11");
    parameters.push_back(*sweep);
  }
  if (parameters.size() > 2) return usage_error("--sweep may be given once or twice");
  io::ModelRequest first = *request;
  for (const analysis::Sweep& sweep : parameters) {
    model::Named named;
    named.name = sweep.name;
    named.value = model::Value(sweep.from);
    first.set.push_back(std::move(named));
  }
  const io::LoadedModel loaded = io::load_model(first);
  if (const int code = report(loaded); code != kDone) return code;
  if (!parameters.empty()) return run_sweep(arguments, *request, loaded, parameters);

  const analysis::Impacts impacts = analysis::impacts(*loaded.compiled.system);
  if (impacts.outcome == analysis::ImpactsOutcome::failed) {
    print_message("judder: " + loaded.file.name + ": " + impacts.status.message + "\n");
    return kEndedEarly;
  }
  if (arguments.has("--json")) print(io::impacts_json(impacts, loaded.compiled.title));
  if (impacts.outcome == analysis::ImpactsOutcome::no_collision) {
    if (!arguments.has("--json")) print(io::sliding_text(impacts));
    return no_collision(loaded.file.name, impacts.reason);
  }
  if (!arguments.has("--json")) print(io::impacts_text(impacts, loaded.compiled.title));
  if (arguments.has("--output")) {
    const auto figure = report::impact_figure(impacts, loaded.compiled.title);
    if (!figure) {
      print_message("judder: no contact of this collision has friction; there is no path to draw\n");
    } else if (const int code =
                   write(output_file(arguments.text("--output"), ".svg", "impact"), report::to_svg(*figure));
               code != kDone) {
      return code;
    }
  }
  for (const analysis::LawImpact& law : impacts.laws) {
    if (!law.ok()) return kEndedEarly;
  }
  return kDone;
}

}  // namespace judder::app
