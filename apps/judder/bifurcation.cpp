#include "judder/tasks/bifurcation.hpp"

#include <algorithm>
#include <cmath>

#include "judder/core/number.hpp"
#include "judder/io/files.hpp"
#include "judder/io/sweep_json.hpp"
#include "judder/report/diagram.hpp"
#include "judder/report/svg.hpp"
#include "many.hpp"
#include "verbs.hpp"

namespace judder::app {
namespace {

/// "phase": the time of a point in its period.
constexpr const char* kPhase = "phase";

/// What is shown over the parameter: as asked, or the first coordinate; at impacts the first velocity, since the gap is zero there.
std::string shown_column(const tasks::DiagramReport& made, const std::string& asked, bool strobe,
                         engines::EventKind event) {
  if (!asked.empty()) return asked;
  const auto velocity = std::find_if(made.columns.begin(), made.columns.end(),
                                     [](const std::string& name) { return name.back() == '\''; });
  const bool impact = !strobe && event == engines::EventKind::impact;
  return impact && velocity != made.columns.end() ? *velocity : made.columns[1];
}

report::DiagramData data_of(const tasks::DiagramReport& made, const tasks::DiagramRequest& request,
                            const std::string& shown) {
  report::DiagramData data;
  data.title = made.runs.model.compiled.title;
  data.parameter = request.axis.name;
  data.quantity = shown;
  data.names = io::labels_of(made.runs.model.file.spec);
  const bool phase = shown == kPhase;
  const auto column = static_cast<std::size_t>(std::find(made.columns.begin(), made.columns.end(), shown) -
                                               made.columns.begin());
  const std::size_t width = made.columns.size();
  for (const bool down : {false, true}) {
    report::DiagramData::Group group;
    if (request.carry == tasks::Carry::both) group.name = down ? "downwards" : "upwards";
    for (const tasks::DiagramValue& value : made.values) {
      if (value.down != down) continue;
      for (std::size_t k = 0; (k + 1) * width <= value.points.size(); ++k) {
        group.x.push_back(value.value);
        const double time = value.points[k * width];
        const double period = made.forcing_period;
        group.y.push_back(phase ? time / period - std::floor(time / period)
                                : value.points[k * width + column]);
      }
    }
    if (!group.x.empty()) data.groups.push_back(std::move(group));
  }
  return data;
}

/// Ranges of the parameter with the same number of points per period.
std::string windows_text(const tasks::DiagramReport& made, const std::string& name) {
  std::string out;
  constexpr std::size_t kMostLines = 40;
  std::size_t lines = 0;
  for (std::size_t i = 0; i < made.values.size();) {
    std::size_t j = i;
    while (j + 1 < made.values.size() && made.values[j + 1].period_points == made.values[i].period_points &&
           made.values[j + 1].word == made.values[i].word && made.values[j + 1].down == made.values[i].down)
      ++j;
    const tasks::DiagramValue& value = made.values[i];
    if (++lines <= kMostLines) {
      out += name + " = " + to_text(value.value, 9) +
             (j > i ? " to " + to_text(made.values[j].value, 9) : "") + (value.down ? ", downwards" : "") +
             ": " +
             (value.period_points == 0
                  ? "no period"
                  : std::to_string(value.period_points) + (value.period_points == 1 ? " point" : " points") +
                        " per period" + (value.word.empty() ? "" : " (" + value.word + ")")) +
             "\n";
    }
    i = j + 1;
  }
  if (lines > kMostLines) out += "… and " + std::to_string(lines - kMostLines) + " more ranges\n";
  return out;
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
  if (!arguments.has("--output"))
    return usage_error("a diagram needs the name of its table", "-o diagram.csv");
  request.output = arguments.text("--output");
  std::unique_ptr<tasks::Machines> machines;
  if (!join_processes(machines)) return kUsage;
  request.many.machines = machines.get();
  show_progress_of(request.many, request.axis.values.size());

  tasks::DiagramReport made = tasks::bifurcation(request);
  if (request.many.progress) end_progress();
  if (made.runs.stage == tasks::RunsStage::part_done) return kDone;
  if (made.runs.stage == tasks::RunsStage::interrupted && request.carry != tasks::Carry::no)
    return was_interrupted();
  if (made.runs.stage != tasks::RunsStage::ended) return many_failed(made.runs);

  const std::string shown =
      shown_column(made, arguments.text("--show"), request.section.strobe, request.section.event);
  const bool phase = shown == kPhase && made.forcing_period > 0;
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
  print(windows_text(made, request.axis.name));
  if (made.runs.failed > 0)
    print_message(std::to_string(made.runs.failed) + " of " + std::to_string(made.runs.members) +
                  " values did not go well; the first: " + made.runs.first_failure);
  return kDone;
}

}  // namespace judder::app
