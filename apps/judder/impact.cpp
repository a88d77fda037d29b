#include "judder/io/impacts.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "judder/core/number.hpp"
#include "judder/core/printable.hpp"
#include "judder/io/files.hpp"
#include "judder/io/ranges.hpp"
#include "judder/report/impact_figure.hpp"
#include "judder/report/svg.hpp"
#include "judder/tasks/impacts.hpp"
#include "verbs.hpp"

namespace judder::app {
namespace {

/// The file for -o: as named if it has the extension, else `name` inside the folder.
std::filesystem::path output_file(const std::string& output, const std::string& extension,
                                  const std::string& name) {
  const std::filesystem::path path = output;
  return path.extension() == extension ? path : path / (name + extension);
}

void show_progress(double done, double total) {
  print_own_message("\r" + to_text(std::floor(100 * done / total)) + " %, " + to_text(done, 9) + " of " +
                    to_text(total, 9) + " states");
}

std::string sweep_problem(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return "--sweep needs NAME=FROM:TO:COUNT, not '" + text + "'";
  return "--sweep: " + io::range_problem(text.substr(equals + 1), io::kMostSweepValues, true);
}

int write_failed(const io::FileStatus& status) {
  print_message(status.text());
  return kInputOutput;
}

int write(const std::filesystem::path& file, const std::string& text) {
  const io::FileStatus status = io::write_text_file(file, text, io::kFigureMark);
  if (!status.ok()) return write_failed(status);
  print_beside(file.string());
  return kDone;
}

/// What can be done about it: nothing at the start of a model that has nothing to collide with.
int no_collision(const io::LoadedModel& loaded, const std::string& reason) {
  const std::string file = loaded.file.name + ": ";
  const model::System& system = *loaded.compiled.system;
  bool rigid = false, compliant = false;
  for (const model::Relation& relation : system.relations()) {
    rigid = rigid || (relation.kind == model::RelationKind::contact && relation.has_normal);
    compliant = compliant || relation.compliant;
  }
  if (!rigid) {
    print_message(
        file + "there is nothing to collide: the model has no rigid contact",
        compliant
            ? "a contact with stiffness takes its time: judder run shows its force; without it the contact "
              "is rigid"
            : "a [[contact]] with a gap is one (docs/model-file.md); judder run shows how the model moves");
    return kModelInvalid;
  }
  constexpr std::size_t kMost = 6;
  std::string names;
  for (std::size_t i = 0; i < std::min(kMost, system.coordinate_names().size()); ++i)
    names += (i == 0 ? "" : ", ") + system.coordinate_names()[i];
  if (system.coordinate_names().size() > kMost) names += ", …";
  print_message(file + "the start state is no collision: " + reason,
                "start where a gap is zero and shrinks (--set NAME=VALUE, --set \"NAME'=VALUE\", of " +
                    names + "), or run the model: its events.csv lists every impact on the way");
  return kModelInvalid;
}

int run_sweep(const Arguments& arguments, tasks::ImpactRequest request, const io::LoadedModel& loaded) {
  double total = 1;
  for (const analysis::Sweep& sweep : request.parameters) total *= sweep.count;
  const bool json = arguments.has("--json");
  constexpr double kMostInJson = 100000;
  if (json && total > kMostInJson)
    return usage_error("a sweep of " + to_text(total) + " states is too long for one JSON document",
                       "write it as CSV: -o sweep.csv");
  const bool to_file = arguments.has("--output");
  if (to_file) request.table = output_file(arguments.text("--output"), ".csv", "impact");
  request.keep_points = json;
  if (!json) request.rows = print;
  const bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal) request.progress = show_progress;

  const tasks::SweepReport swept = tasks::sweep_model(request, loaded);
  if (terminal) print_own_message("\r\x1b[K");
  switch (swept.stage) {
    case tasks::SweepStage::files_failed:
      return write_failed(swept.files);
    case tasks::SweepStage::interrupted:
      return was_interrupted();
    case tasks::SweepStage::point_invalid:
      print_message(swept.problem);
      return kModelInvalid;
    case tasks::SweepStage::nothing_collides:
      return no_collision(loaded, "at no value of the sweep; at the first, " + swept.problem);
    case tasks::SweepStage::ended:
      break;
  }
  if (to_file) print_beside(request.table.string());
  if (json) print(io::impact_sweep_json(swept.sweep, loaded.compiled.title));
  // Beside the table, not in it.
  const std::string summary = io::impact_sweep_text(swept.sweep);
  if (to_file && !json)
    print(summary);
  else
    print_own_message(printable(summary));
  return kDone;
}

/// One collision as text or JSON, with its figure.
int show(const Arguments& arguments, const io::LoadedModel& loaded, const analysis::Impacts& impacts) {
  if (interrupted()) return was_interrupted();
  if (impacts.outcome == analysis::ImpactsOutcome::failed) {
    print_message(loaded.file.name + ": " + impacts.status.message);
    return kEndedEarly;
  }
  if (arguments.has("--json")) print(io::impacts_json(impacts, loaded.compiled.title));
  if (impacts.outcome == analysis::ImpactsOutcome::no_collision) {
    if (!arguments.has("--json")) print(io::sliding_text(impacts));
    return no_collision(loaded, impacts.reason);
  }
  if (!arguments.has("--json")) print(io::impacts_text(impacts, loaded.compiled.title));
  bool drawn = true;
  if (arguments.has("--output")) {
    const auto figure = report::impact_figure(impacts, loaded.compiled.title);
    if (!figure) {
      print_message("no contact of this collision has friction; there is no path to draw");
      drawn = false;
    } else if (const int code =
                   write(output_file(arguments.text("--output"), ".svg", "impact"), report::to_svg(*figure));
               code != kDone) {
      return code;
    }
  }
  for (const analysis::LawImpact& law : impacts.laws) {
    if (!law.ok()) return kEndedEarly;
  }
  // What was asked for is not there: no success.
  return drawn ? kDone : kInputOutput;
}

/// A name that is meant as a file must not become a folder.
int refuse_output(const Arguments& arguments, bool sweeps) {
  const std::string wanted = sweeps ? ".csv" : ".svg";
  const std::filesystem::path output = arguments.text("--output");
  std::error_code ignored;
  for (const char* extension : {".svg", ".csv", ".pdf", ".png", ".json", ".txt"}) {
    if (output.extension() != extension || wanted == extension ||
        std::filesystem::is_directory(output, ignored))
      continue;
    return usage_error(sweeps ? "-o names the table of the sweep, a .csv file, or a folder"
                              : "-o names the impulse path, an .svg file, or a folder",
                       sweeps ? "" : "a table is written with --sweep");
  }
  return kDone;
}

/// "6" of --event; nothing after a usage error.
std::optional<long> event_number(const Arguments& arguments) {
  const std::string text = arguments.text("--event");
  const auto value = io::read_value(text);
  constexpr double kMost = 1e15;
  if (value && *value >= 1 && *value <= kMost && *value == std::floor(*value))
    return static_cast<long>(*value);
  usage_error("--event needs the number of an event, from 1, not '" + text + "'",
              "judder impact runs/press --event 6: the rows of events.csv are counted");
  return std::nullopt;
}

/// The collision of an event that a run has recorded.
int run_event(const Arguments& arguments) {
  for (const char* option : {"--sweep", "--variant", "--set", "--work"}) {
    if (!not_both(arguments, "--event", option)) return kUsage;
  }
  const std::optional<long> number = event_number(arguments);
  if (!number || refuse_output(arguments, false) != kDone) return kUsage;
  const std::filesystem::path folder = arguments.positionals.front();
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    print_message(folder.string() + ": there is no run folder of that name",
                  "--event looks at a run: judder run MODEL -o DIR && judder impact DIR --event 1");
    return kInputOutput;
  }
  const tasks::MetImpact found = tasks::read_met_impact(folder, *number);
  if (!found.problem.empty()) {
    print_message(folder.string() + ": " + found.problem, found.help);
    return found.in_files ? kInputOutput : kUsage;
  }
  if (const int code = report(found.model); code != kDone) return code;
  if (!arguments.has("--json")) print(io::met_impact_text(found.recorded, static_cast<std::size_t>(*number)));
  return show(arguments, found.model,
              analysis::impacts(*found.model.compiled.system, found.met, &interrupted()));
}

}  // namespace

int run_impact(const Arguments& arguments) {
  if (arguments.has("--event")) return run_event(arguments);
  const auto model = model_request(arguments);
  if (!model) return kUsage;
  tasks::ImpactRequest request;
  request.model = *model;
  std::vector<analysis::Sweep>& parameters = request.parameters;
  for (const std::string& text : arguments.all("--sweep")) {
    const auto sweep = io::parse_sweep(text);
    if (!sweep) return usage_error(sweep_problem(text), "for example --sweep mu=0:1:11");
    parameters.push_back(*sweep);
  }
  if (parameters.size() > 2) return usage_error("--sweep may be given once or twice");
  if (parameters.size() == 2 && parameters[0].name == parameters[1].name)
    return usage_error("--sweep is given twice for '" + parameters[0].name + "'");
  if (const int code = refuse_output(arguments, !parameters.empty()); code != kDone) return code;
  const io::LoadedModel loaded = tasks::load_impact_model(request);
  if (const int code = report(loaded); code != kDone) return code;
  if (!parameters.empty()) return run_sweep(arguments, request, loaded);

  return show(arguments, loaded, analysis::impacts(*loaded.compiled.system, &interrupted()));
}

}  // namespace judder::app
