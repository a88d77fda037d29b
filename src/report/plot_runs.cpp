#include "judder/report/plot_runs.hpp"

#include <algorithm>

#include "judder/io/files.hpp"
#include "judder/io/run_head.hpp"
#include "judder/report/run_plots.hpp"
#include "judder/report/svg.hpp"
#include "read_thinned.hpp"

namespace judder::report {
namespace fs = std::filesystem;

PlottedFiles plot_runs(const PlotRequest& request) {
  PlottedFiles out;
  std::vector<io::RunData> runs;
  for (const fs::path& folder : request.folders) {
    runs.emplace_back();
    std::size_t rows = 0;
    out.status = read_thinned_run(folder, runs.back(), rows, request.cancel);
    if (!out.status.ok()) return out;
  }
  io::RunHead head;
  if (!runs.empty()) head = io::read_run_head(runs.front().run_json);
  // Variants beside each other: none of their titles fits the picture.
  const bool variants = std::any_of(runs.begin(), runs.end(), [&head](const io::RunData& run) {
    return io::read_run_head(run.run_json).title != head.title;
  });
  if (variants && !head.model_title.empty()) head.title = head.model_title;
  if (!request.overlay.empty()) {
    runs.emplace_back();
    std::size_t rows = 0;
    out.status = read_thinned_columns(request.overlay, runs.back(), rows, request.cancel);
    if (!out.status.ok()) return out;
    const bool known = std::any_of(
        runs.back().columns.begin(), runs.back().columns.end(),
        [&](const io::Column& c) { return c.name != "t" && runs.front().find(c.name) != nullptr; });
    if (!known) {
      std::string names;
      for (const io::Column& column : runs.back().columns) names += (names.empty() ? "" : ", ") + column.name;
      out.problems.push_back(
          request.overlay.string() +
          ": no column is called as one of the run, so nothing of it is drawn; it has: " + names);
    }
  }

  RunPlotOptions options;
  options.title = head.title;
  if (runs.size() == 1) {
    std::vector<std::string> parts = head.variants;
    parts.insert(parts.end(), head.settings.begin(), head.settings.end());
    for (const std::string& part : parts) options.subtitle += (options.subtitle.empty() ? "" : ", ") + part;
  }
  const RunPlots plots = plots_of_run(runs, head.plots, options);
  out.problems.insert(out.problems.end(), plots.problems.begin(), plots.problems.end());

  const fs::path folder = request.output.empty() ? request.folders.front() : request.output;
  for (const NamedFigure& figure : plots.figures) {
    const fs::path file = folder / (figure.name + ".svg");
    out.status = io::write_text_file(file, to_svg(figure.figure), io::kFigureMark);
    if (!out.status.ok()) return out;
    out.files.push_back(file);
  }
  return out;
}

}  // namespace judder::report
