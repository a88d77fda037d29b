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
#include "verbs.hpp"

namespace judder::app {
namespace {

/// The file for -o: as named if it has the extension, else `name` inside the folder.
std::filesystem::path output_file(const std::string& output, const std::string& extension,
                                  const std::string& name) {
  const std::filesystem::path path = output;
  return path.extension() == extension ? path : path / (name + extension);
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

/// In the names of the columns of every sweep.
constexpr std::string_view kSweepMark = "outcome,contact,law,form,status,normal_before,";

int run_sweep(const Arguments& arguments, const io::ModelRequest& request, const io::LoadedModel& loaded,
              const std::vector<analysis::Sweep>& parameters) {
  double total = 1;
  for (const analysis::Sweep& sweep : parameters) total *= sweep.count;
  const bool json = arguments.has("--json");
  constexpr double kMostInJson = 100000;
  if (json && total > kMostInJson)
    return usage_error("a sweep of " + to_text(total) + " states is too long for one JSON document",
                       "write it as CSV: -o sweep.csv");
  std::size_t components = 1;
  for (const model::Relation& relation : loaded.compiled.system->relations())
    components = std::max(components, static_cast<std::size_t>(relation.tangents));

  const bool to_file = arguments.has("--output");
  const std::filesystem::path file =
      to_file ? output_file(arguments.text("--output"), ".csv", "impact") : std::filesystem::path();
  io::TextFile table;
  if (to_file) {
    if (const io::FileStatus status = table.open(file, kSweepMark); !status.ok()) return write_failed(status);
  }
  const auto add = [&](const std::string& rows) {
    if (to_file)
      table.add(rows);
    else if (!json)
      print(rows);
  };
  const bool terminal = isatty(STDERR_FILENO) != 0;
  std::vector<analysis::SweepPoint> kept;  // for JSON
  std::string waiting = io::impact_sweep_header(parameters, components);
  std::string problem, first_reason;
  bool any = false;
  double done = 0;
  analysis::ImpactSweep sweep = analysis::sweep_impacts(
      loaded.file.spec, io::compile_options(request), parameters, [&](const analysis::SweepPoint& point) {
        if (interrupted()) return false;
        if (done == 0) first_reason = point.impacts.reason;
        if (!point.problem.empty()) {
          problem =
              "at " + parameters.back().name + " = " + to_text(point.values.back(), 9) + ": " + point.problem;
          return false;
        }
        done += 1;
        any = any || !point.impacts.laws.empty() || !point.impacts.sliding.empty();
        if (json) kept.push_back(point);
        // Nothing is printed before it is known that something collides or slides at all.
        waiting += io::impact_sweep_rows(point, components);
        constexpr std::size_t kBlock = 1 << 16;
        if (any && waiting.size() > kBlock) {
          add(waiting);
          waiting.clear();
        }
        constexpr long kPointsPerLook = 256;
        if (terminal && static_cast<long>(done) % kPointsPerLook == 0)
          print_own_message("\r" + to_text(std::floor(100 * done / total)) + " %, " + to_text(done, 9) +
                            " of " + to_text(total, 9) + " states");
        return !to_file || table.status().ok();
      });
  if (terminal) print_own_message("\r\x1b[K");
  if (interrupted()) return was_interrupted();
  if (!problem.empty()) {
    print_message(problem);
    return kModelInvalid;
  }
  if (!any) return no_collision(loaded, "at no value of the sweep; at the first, " + first_reason);
  add(waiting);
  if (to_file) {
    if (const io::FileStatus status = table.finish(); !status.ok()) return write_failed(status);
  }
  if (to_file) print_beside(file.string());
  if (json) {
    sweep.points = std::move(kept);
    print(io::impact_sweep_json(sweep, loaded.compiled.title));
  }
  // Beside the table, not in it.
  const std::string summary = io::impact_sweep_text(sweep);
  if (to_file && !json)
    print(summary);
  else
    print_own_message(printable(summary));
  return kDone;
}

}  // namespace

int run_impact(const Arguments& arguments) {
  const auto request = model_request(arguments);
  if (!request) return kUsage;
  std::vector<analysis::Sweep> parameters;
  for (const std::string& text : arguments.all("--sweep")) {
    const auto sweep = io::parse_sweep(text);
    if (!sweep) return usage_error(sweep_problem(text), "for example --sweep mu=0:1:11");
    parameters.push_back(*sweep);
  }
  if (parameters.size() > 2) return usage_error("--sweep may be given once or twice");
  if (parameters.size() == 2 && parameters[0].name == parameters[1].name)
    return usage_error("--sweep is given twice for '" + parameters[0].name + "'");
  // A name that is meant as a file must not become a folder.
  const std::string wanted = parameters.empty() ? ".svg" : ".csv";
  const std::filesystem::path output = arguments.text("--output");
  std::error_code ignored;
  for (const char* extension : {".svg", ".csv", ".pdf", ".png", ".json", ".txt"}) {
    if (output.extension() == extension && wanted != extension &&
        !std::filesystem::is_directory(output, ignored))
      return usage_error(parameters.empty() ? "-o names the impulse path, an .svg file, or a folder"
                                            : "-o names the table of the sweep, a .csv file, or a folder",
                         parameters.empty() ? "a table is written with --sweep" : "");
  }
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

  const analysis::Impacts impacts = analysis::impacts(*loaded.compiled.system, &interrupted());
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

}  // namespace judder::app
