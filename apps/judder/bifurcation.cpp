#include "judder/tasks/bifurcation.hpp"

#include <algorithm>

#include "judder/io/files.hpp"
#include "judder/io/sweep_json.hpp"
#include "judder/report/diagram.hpp"
#include "judder/report/svg.hpp"
#include "many.hpp"
#include "verbs.hpp"

namespace judder::app {
namespace {

report::DiagramData data_of(const tasks::DiagramReport& made, const tasks::DiagramRequest& request,
                            const std::string& shown) {
  report::DiagramData data;
  data.title = made.runs.model.compiled.title;
  data.parameter = request.axis.name;
  data.quantity = shown;
  data.names = io::labels_of(made.runs.model.file.spec);
  data.from = request.axis.values.front();
  data.to = request.axis.values.back();
  for (const bool down : {false, true}) {
    tasks::DiagramPoints points = tasks::diagram_points(made, shown, down);
    const std::string name = request.carry != tasks::Carry::both ? "" : down ? "downwards" : "upwards";
    if (!points.x.empty()) data.groups.push_back({name, std::move(points.x), std::move(points.y)});
  }
  return data;
}

}  // namespace

int run_bifurcation(const Arguments& arguments) {
  const auto many = many_request(arguments);
  if (!many) return kUsage;
  tasks::DiagramRequest request;
  request.many = *many;
  auto axes = read_axes(arguments);
  if (!axes) return kUsage;
  if (axes->size() != 1 || axes->front().values.size() < 2)
    return usage_error("a diagram needs one parameter with its values", "for example om=0.6:1.6:400");
  request.axis = std::move(axes->front());
  std::sort(request.axis.values.begin(), request.axis.values.end());
  const std::string section = arguments.text("--section", "strobe");
  if (!analysis::parse_section(section, request.section))
    return usage_error("there is no section '" + section + "'",
                       "there are: strobe, impact:CONTACT, watch:NAME, and every other kind of event");
  constexpr long kMost = 100'000'000, kMostKept = 1'000'000;
  long skip = 200, keep = 100;
  if (!read_count(arguments, "--skip", 0, kMost, skip) ||
      !read_count(arguments, "--keep", 1, kMostKept, keep))
    return kUsage;
  request.skip = static_cast<std::size_t>(skip);
  request.keep = static_cast<std::size_t>(keep);
  const std::string carry = arguments.text("--carry");
  request.carry = carry == "up"     ? tasks::Carry::up
                  : carry == "down" ? tasks::Carry::down
                  : carry == "both" ? tasks::Carry::both
                                    : tasks::Carry::no;
  if (!carry.empty() && request.carry == tasks::Carry::no)
    return usage_error("--carry is up, down or both, not '" + carry + "'");
  if (request.carry != tasks::Carry::no && request.many.resume)
    return usage_error(
        "--carry cannot be taken up, each value starts where the one before has ended: leave out --resume");
  if (!arguments.has("--output"))
    return usage_error("a diagram needs the name of its table", "-o diagram.csv");
  request.output = arguments.text("--output");
  std::unique_ptr<tasks::Machines> machines;
  if (!join_processes(machines)) return kUsage;
  if (machines != nullptr && request.carry != tasks::Carry::no)
    return usage_error("--carry works in one process");
  request.many.machines = machines.get();
  show_progress_of(request.many, request.axis.values.size());

  tasks::DiagramReport made = tasks::bifurcation(request);
  if (request.many.progress) end_progress();
  if (made.runs.stage == tasks::RunsStage::part_done) return kDone;
  if (made.runs.stage == tasks::RunsStage::interrupted && request.carry != tasks::Carry::no)
    return was_interrupted();
  if (made.runs.stage != tasks::RunsStage::ended) return many_failed(made.runs);

  const std::string shown =
      arguments.has("--show") ? arguments.text("--show") : tasks::shown_column(made, request.section);
  const bool phase = shown == tasks::kPhase && made.forcing_period > 0;
  if (!phase && std::find(made.columns.begin(), made.columns.end(), shown) == made.columns.end())
    return usage_error("--show: there is no '" + shown + "' to show; the tables are written");
  std::filesystem::path picture = request.output;
  picture.replace_extension(".svg");
  report::DiagramData data = data_of(made, request, shown);
  data.subtitle = "section " + section + ", " + std::to_string(request.keep) + " points after " +
                  std::to_string(request.skip);
  if (const io::FileStatus status =
          io::write_text_file(picture, report::to_svg(report::diagram_figure(data)), io::kFigureMark);
      !status.ok()) {
    print_message(status.text());
    return kInputOutput;
  }
  made.files.push_back(picture);
  if (arguments.has("--json")) {
    print(io::sweep_json({request.output.string(), made.runs.members, made.runs.made.made, made.runs.failed,
                          made.runs.first_failure, made.runs.made.seconds, made.runs.compile_seconds}));
    return kDone;
  }
  for (const std::filesystem::path& file : made.files) print_beside(file.string());
  print(tasks::diagram_text(made, request.axis.name));
  if (made.runs.failed > 0)
    print_message(std::to_string(made.runs.failed) + " of " + std::to_string(made.runs.members) +
                  " values did not go well; the first: " + made.runs.first_failure);
  return kDone;
}

}  // namespace judder::app
