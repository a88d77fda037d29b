#include "judder/io/equilibria.hpp"

#include <filesystem>

#include "judder/core/number.hpp"
#include "judder/io/files.hpp"
#include "judder/io/impacts.hpp"
#include "judder/report/equilibria_figure.hpp"
#include "judder/report/svg.hpp"
#include "judder/tasks/equilibria.hpp"
#include "verbs.hpp"

namespace judder::app {

int run_equilibria(const Arguments& arguments) {
  const auto model = model_request(arguments);
  if (!model) return kUsage;
  tasks::EquilibriaRequest request;
  request.model = *model;
  std::optional<double> limit;
  if (!read_number(arguments, "--at", request.at) || !read_number(arguments, "--limit", limit)) return kUsage;
  if (limit) {
    if (*limit < 1 || *limit > 1e6 || *limit != static_cast<double>(static_cast<long>(*limit)))
      return usage_error("--limit needs a whole number from 1 to 1000000, not '" + arguments.text("--limit") +
                         "'");
    request.limit = static_cast<std::size_t>(*limit);
  }
  request.perturb = arguments.has("--perturb");
  request.curves = request.perturb && arguments.has("--output");
  const std::filesystem::path output = arguments.text("--output");
  if (arguments.has("--output") && output.extension() != ".svg" && output.extension() != ".csv")
    return usage_error("-o needs a file that ends in .svg or .csv, not '" + arguments.text("--output") + "'");

  if (arguments.has("--sweep")) {
    request.sweep = io::parse_sweep(arguments.text("--sweep"));
    if (!request.sweep)
      return usage_error("--sweep needs NAME=FROM:TO:COUNT, not '" + arguments.text("--sweep") + "'",
                         "for example --sweep mu=0.1:1.5:15");
    if (request.perturb || arguments.has("--output"))
      return usage_error("--sweep lists where families change; it takes neither --perturb nor -o");
  }

  const tasks::EquilibriaReport found = tasks::find_equilibria(request);
  if (const int code = report(found.model); code != kDone) return code;
  if (interrupted()) return was_interrupted();
  if (!found.problem.message.empty()) {
    print_message(found.model.file.name + ": " + found.problem.message, found.problem.help);
    return kModelInvalid;
  }
  if (request.sweep) {
    print(arguments.has("--json") ? io::family_changes_json(found.changes, *request.sweep)
                                  : io::family_changes_text(found.changes, *request.sweep));
    return kDone;
  }
  print(arguments.has("--json") ? io::equilibria_json(found.survey, found.model.file.name)
                                : io::equilibria_text(found.survey));
  if (!arguments.has("--output")) return kDone;
  io::FileStatus status;
  if (output.extension() == ".csv") {
    status = io::write_text_file(output, io::equilibria_csv(found.survey),
                                 found.survey.search ? "rest," : "family,point,");
  } else {
    const report::Figure figure = report::equilibria_figure(found.survey, found.model.compiled.title);
    if (figure.panels.empty()) {
      print_message(found.model.file.name + ": no contact with friction has a plane of reactions to draw",
                    "-o FILE.csv writes the states as a table");
      return kModelInvalid;
    }
    status = io::write_text_file(output, report::to_svg(figure), io::kFigureMark);
  }
  if (!status.ok()) {
    print_message(status.text());
    return kInputOutput;
  }
  print_beside(output.string());
  return kDone;
}

}  // namespace judder::app
