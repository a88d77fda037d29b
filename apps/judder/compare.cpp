#include "judder/io/compare.hpp"

#include "judder/core/number.hpp"
#include "judder/io/files.hpp"
#include "judder/io/ranges.hpp"
#include "judder/report/compare_figure.hpp"
#include "judder/report/svg.hpp"
#include "judder/tasks/compare.hpp"
#include "verbs.hpp"

namespace judder::app {
namespace {

/// "a,b": the parts that are not empty.
std::vector<std::string> list(const std::string& text) {
  std::vector<std::string> out = io::split_list(text);
  std::erase(out, "");
  return out;
}

/// False after a usage error, which has been printed.
bool read_numbers(const Arguments& arguments, const std::string& option, double least, double most,
                  std::vector<double>& target) {
  for (const std::string& part : list(arguments.text(option))) {
    const auto number = io::read_value(part);
    if (!number || !(*number >= least && *number <= most)) {
      usage_error(option + " needs numbers between " + to_text(least) + " and " + to_text(most) + ", not '" +
                  part + "'");
      return false;
    }
    target.push_back(*number);
  }
  return true;
}

}  // namespace

int run_compare(const Arguments& arguments) {
  const auto model = model_request(arguments);
  if (!model) return kUsage;
  tasks::CompareRequest request;
  request.model = *model;
  if (arguments.has("--engines")) request.options.engines = list(arguments.text("--engines"));
  for (const std::string& engine : request.options.engines) {
    if (!known_engine(engine)) return kUsage;
  }
  if (request.options.engines.empty()) return usage_error("--engines names no engine");
  if (!read_numbers(arguments, "--tolerances", 1e-14, 1e-2, request.options.tolerances) ||
      !read_numbers(arguments, "--steps", 1e-300, 1e300, request.options.steps))
    return kUsage;
  if (!read_until(arguments, request.until, request.model)) return kUsage;

  // Asked before the work is done.
  const bool figure = arguments.text("--output").ends_with(".svg");
  const std::string_view kMark =
      figure ? std::string_view("<?xml") : std::string_view("engine,tolerance,step,events,agree,");
  if (arguments.has("--output")) {
    if (const io::FileStatus status = io::refuse_foreign(arguments.text("--output"), kMark); !status.ok()) {
      print_message(status.text());
      return kInputOutput;
    }
  }
  const tasks::CompareReport compared = tasks::compare_engines(request);
  const int model_code = report(compared.model);
  if (interrupted()) return was_interrupted();
  if (!compared.done) return model_code == kDone ? kModelInvalid : model_code;
  if (const std::string file = arguments.text("--output"); !file.empty()) {
    const io::FileStatus status = io::write_text_file(
        file,
        figure ? report::to_svg(report::compare_figure(compared.comparison, compared.model.compiled.title))
               : io::compare_csv(compared.comparison),
        kMark);
    if (!status.ok()) {
      print_message(status.text());
      return kInputOutput;
    }
  }
  print(arguments.has("--json") ? io::compare_json(compared.comparison, compared.model.file.name)
                                : io::compare_text(compared.comparison));
  // An engine that was asked for by name and cannot run the model, or a run that ended early, is no comparison.
  bool failed = !compared.comparison.reference_status.ok();
  if (failed) note_error(compared.comparison.reference_status.message);
  for (const analysis::CompareRow& row : compared.comparison.rows) {
    if (row.problem.empty() || !(row.ran || arguments.has("--engines"))) continue;
    failed = true;
    note_error(row.engine + ": " + row.problem);
  }
  return failed ? kEndedEarly : kDone;
}

}  // namespace judder::app
