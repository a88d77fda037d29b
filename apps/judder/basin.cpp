#include "judder/tasks/basin.hpp"

#include <algorithm>
#include <limits>

#include "judder/core/number.hpp"
#include "judder/io/files.hpp"
#include "judder/report/basin_figure.hpp"
#include "judder/report/svg.hpp"
#include "many.hpp"
#include "verbs.hpp"

namespace judder::app {
namespace {

/// Of several points at rest the component by which they differ most tells which is which.
std::size_t telling_component(const std::vector<analysis::Attractor>& all) {
  std::size_t best = 0;
  double widest = 0;
  for (std::size_t i = 0; i < all.front().least.size(); ++i) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const analysis::Attractor& each : all) {
      if (each.first.kind != analysis::EndKind::rest || each.first.set || i >= each.least.size()) continue;
      least = std::min(least, each.least[i]);
      most = std::max(most, each.least[i]);
    }
    if (most - least > widest) {
      widest = most - least;
      best = i;
    }
  }
  return best;
}

/// "periodic, period 6.28": an attractor in the legend.
std::string legend_of(const analysis::Attractor& attractor, std::size_t telling,
                      const std::vector<std::string>& components) {
  std::string out = name(attractor.first.kind);
  if (attractor.first.set) out += " (a set)";
  if (attractor.first.period > 0) out += ", period " + to_text(attractor.first.period, 5);
  if (attractor.first.kind == analysis::EndKind::rest && !attractor.first.set && telling < components.size())
    out += ", " + components[telling] + " = " + to_text(attractor.least[telling], 4);
  return out;
}

int draw(const tasks::BasinReport& found, const tasks::BasinRequest& request, std::filesystem::path picture) {
  report::BasinData data;
  data.title = found.runs.model.compiled.title;
  data.across = request.axes[0].name;
  data.upwards = request.axes[1].name;
  data.names = io::labels_of(found.runs.model.file.spec);
  data.x = request.axes[0].values;
  data.y = request.axes[1].values;
  data.labels = found.labels;
  data.subtitle = std::to_string(data.x.size()) + " x " + std::to_string(data.y.size()) + " starts";
  const std::size_t telling = found.attractors.empty() ? 0 : telling_component(found.attractors);
  for (const analysis::Attractor& attractor : found.attractors)
    data.attractors.push_back(legend_of(attractor, telling, found.components));
  const io::FileStatus status =
      io::write_text_file(picture, report::to_svg(report::basin_figure(data)), io::kFigureMark);
  if (!status.ok()) {
    print_message(status.text());
    return kInputOutput;
  }
  print_beside(picture.string());
  return kDone;
}

}  // namespace

int run_basin(const Arguments& arguments) {
  const auto many = many_request(arguments);
  if (!many) return kUsage;
  tasks::BasinRequest request;
  request.many = *many;
  const bool random = arguments.has("--random");
  auto axes = read_axes(arguments, random);
  if (!axes || !means_something(arguments, {"--seed"}, "--random")) return kUsage;
  if (axes->empty())
    return usage_error("there are no starts to go over", "for example x=-2:2:400 \"x'=-2:2:400\"");
  request.axes = std::move(*axes);
  constexpr long kMost = 1'000'000'000;
  long count = 0, seed = 1;
  if (!read_count(arguments, "--random", 1, kMost, count) ||
      !read_count(arguments, "--seed", 0, std::numeric_limits<int>::max(), seed))
    return kUsage;
  request.random = static_cast<std::size_t>(count);
  request.seed = static_cast<std::uint64_t>(seed);
  request.refine = arguments.has("--refine");
  if (request.refine && request.many.resume)
    return usage_error("--refine cannot be taken up: leave out --resume");
  std::optional<double> bound;
  if (!read_number(arguments, "--bound", bound)) return kUsage;
  if (bound && !(*bound > 0)) return usage_error("--bound must be positive");
  request.bound = bound.value_or(0);
  if (!arguments.has("--output"))
    return usage_error("basins need the name of their array", "-o basin.npz; the picture stands beside it");
  request.output = arguments.text("--output");
  std::size_t members = request.random;
  if (members == 0) {
    members = 1;
    for (const analysis::Plan::Axis& axis : request.axes) members *= axis.values.size();
  }
  std::unique_ptr<tasks::Machines> machines;
  if (!join_processes(machines)) return kUsage;
  if (machines != nullptr && request.refine) return usage_error("--refine works in one process");
  request.many.machines = machines.get();
  show_progress_of(request.many, members);

  const tasks::BasinReport found = tasks::basin(request);
  if (request.many.progress) end_progress();
  if (found.runs.stage == tasks::RunsStage::part_done) return kDone;
  if (found.runs.stage == tasks::RunsStage::interrupted && request.refine) return was_interrupted();
  if (found.runs.stage != tasks::RunsStage::ended) return many_failed(found.runs);
  print_beside(request.output.string());
  if (!found.random && request.axes.size() == 2 && request.axes[0].values.size() > 1 &&
      request.axes[1].values.size() > 1) {
    std::filesystem::path picture = request.output;
    if (const int code = draw(found, request, picture.replace_extension(".svg")); code != kDone) return code;
  }
  print(arguments.has("--json") ? tasks::basin_json(found) : tasks::basin_text(found));
  return kDone;
}

}  // namespace judder::app
