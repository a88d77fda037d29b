#include "judder/io/dither.hpp"

#include "judder/core/number.hpp"
#include "judder/io/ranges.hpp"
#include "judder/report/dither_plot.hpp"
#include "judder/tasks/dither.hpp"
#include "verbs.hpp"

namespace judder::app {

int run_dither(const Arguments& arguments) {
  const auto model = model_request(arguments);
  if (!model) return kUsage;
  tasks::DitherRequest request;
  request.model = *model;
  request.law = arguments.text("--law");
  if (arguments.has("--speeds")) {
    request.speeds = io::parse_dither_range(arguments.text("--speeds"));
    if (!request.speeds)
      return usage_error(
          "--speeds: " + io::range_problem(arguments.text("--speeds"), io::kMostDitherValues, false),
          "for example 0:1:101");
  }
  if (!read_number(arguments, "--speed", request.speed) ||
      !read_number(arguments, "--until", request.until) ||
      !means_something(arguments, {"--until", "--filter"}, "--simulate"))
    return kUsage;
  if (arguments.has("--map")) {
    const auto axes = io::parse_dither_map(arguments.text("--map"));
    if (!axes)
      return usage_error(io::dither_map_problem(arguments.text("--map")),
                         "for example speed,W or speed=0.1:0.8:71,W=0:1:101");
    request.map = *axes;
  }
  if (arguments.has("--harmonics")) {
    const auto harmonics = io::read_value(arguments.text("--harmonics"));
    if (!harmonics || *harmonics < 1 || *harmonics > 500 || *harmonics != static_cast<int>(*harmonics))
      return usage_error("--harmonics needs a whole number from 1 to 500, not '" +
                         arguments.text("--harmonics") + "'");
    request.harmonics = static_cast<int>(*harmonics);
  }
  request.simulate = arguments.has("--simulate");
  const std::string filter = arguments.text("--filter", "mean");
  if (filter != "mean" && filter != "butterworth")
    return usage_error("there is no filter '" + filter + "'", "there are: mean, butterworth");
  request.filter = filter == "mean" ? analysis::LowPass::mean : analysis::LowPass::butterworth;

  const tasks::DitherReport found = tasks::dither_model(request);
  if (const int code = report(found.model); code != kDone) return code;
  if (interrupted()) return was_interrupted();
  if (!found.problem.message.empty()) {
    print_message((found.problem.in_model ? found.model.file.name + ": " : "") + found.problem.message,
                  found.problem.help);
    return found.problem.in_model ? kModelInvalid : kUsage;
  }
  print(arguments.has("--json") ? io::dither_json(found.survey, found.model.file.name)
                                : io::dither_text(found.survey));
  const bool ended_early = found.survey.run && !found.survey.run->status.ok();
  if (ended_early) note_error(found.survey.run->status.message);
  if (!arguments.has("--output")) return ended_early ? kEndedEarly : kDone;
  std::vector<std::filesystem::path> files;
  io::FileStatus status = io::write_dither(found.survey, arguments.text("--output"), files);
  if (status.ok())
    status = report::plot_dither(found.survey, found.model.compiled.title, arguments.text("--output"), files);
  if (!arguments.has("--json")) {
    for (const std::filesystem::path& file : files) print_line(file.string());
  }
  if (!status.ok()) {
    print_message(status.text());
    return kInputOutput;
  }
  return ended_early ? kEndedEarly : kDone;
}

}  // namespace judder::app
