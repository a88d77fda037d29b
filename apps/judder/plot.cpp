#include "judder/report/plot_runs.hpp"

#include "verbs.hpp"

namespace judder::app {

int run_plot(const Arguments& arguments) {
  report::PlotRequest request;
  request.folders.assign(arguments.positionals.begin(), arguments.positionals.end());
  request.overlay = arguments.text("--overlay");
  request.output = arguments.text("--output");
  const report::PlottedFiles plotted = report::plot_runs(request);
  for (const std::filesystem::path& file : plotted.files) print(file.string() + "\n");
  for (const std::string& problem : plotted.problems) print_message("judder: " + problem + "\n");
  if (plotted.status.ok()) return kDone;
  print_message("judder: " + plotted.status.text() + "\n");
  return kInputOutput;
}

}  // namespace judder::app
