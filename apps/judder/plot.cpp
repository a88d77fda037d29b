#include "judder/report/plot_runs.hpp"

#include <algorithm>

#include "judder/core/number.hpp"
#include "judder/io/ranges.hpp"
#include "judder/report/law_plot.hpp"
#include "verbs.hpp"

namespace judder::app {

namespace {

int plot_law(const Arguments& arguments) {
  if (arguments.positionals.size() > 2)
    return usage_error("--law takes a model file and the name of one law");
  const auto model = model_request(arguments);
  if (!model) return kUsage;
  report::LawPlotRequest request;
  request.model = *model;
  if (arguments.positionals.size() == 2) request.law = arguments.positionals[1];
  if (arguments.has("--to")) {
    std::optional<double> to;
    if (!read_number(arguments, "--to", to)) return kUsage;
    if (!(*to > 0)) return usage_error("--to needs a positive speed, not '" + arguments.text("--to") + "'");
    request.to = *to;
  }
  request.output = arguments.text("--output");
  const report::PlottedLaw plotted = report::plot_law(request);
  if (const int code = report(plotted.model); code != kDone) return code;
  if (plotted.cancelled) return was_interrupted();
  if (!plotted.problem.empty()) {
    print_message((plotted.no_law ? plotted.model.file.name + ": " : "") + plotted.problem, plotted.help);
    return plotted.no_law ? kModelInvalid : kUsage;
  }
  if (!plotted.status.ok()) {
    print_message(plotted.status.text());
    return kInputOutput;
  }
  print_line(plotted.file.string());
  return kDone;
}

/// "84mm" or "400": pixels, 96 to the inch.
std::optional<double> read_width(const std::string& text) {
  const bool millimetres = text.size() > 2 && text.compare(text.size() - 2, 2, "mm") == 0;
  const std::optional<double> number = io::read_value(millimetres ? text.substr(0, text.size() - 2) : text);
  if (!number) return std::nullopt;
  const double pixels = millimetres ? *number * 96 / 25.4 : *number;
  return pixels >= 240 && pixels <= 10000 ? std::optional<double>(pixels) : std::nullopt;
}

/// "x,x'": names of columns; "pair[1,2]" is one.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> out{""};
  int open = 0;
  for (const char c : text) {
    open += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && open <= 0)
      out.emplace_back();
    else if (c != ' ' || !out.back().empty())
      out.back() += c;
  }
  return out;
}

/// False after a message.
bool read_choice(const Arguments& arguments, report::PlotRequest& request) {
  for (const std::string& text : arguments.all("--xy")) {
    request.plots.push_back(split(text));
    const auto& names = request.plots.back();
    if (names.size() > 1 &&
        std::none_of(names.begin(), names.end(), [](const std::string& n) { return n.empty(); }))
      continue;
    usage_error("--xy needs two columns or more, such as \"x,x'\", not '" + text + "'");
    return false;
  }
  if (!read_number(arguments, "--from", request.from) || !read_number(arguments, "--to", request.to))
    return false;
  if (request.from && request.to && !(*request.from < *request.to)) {
    usage_error("--from must be smaller than --to");
    return false;
  }
  if (!arguments.has("--width")) return true;
  request.width = read_width(arguments.text("--width"));
  if (request.width) return true;
  usage_error("--width needs a width of 64mm to 2600mm or 240 to 10000 pixels, not '" +
              arguments.text("--width") + "'");
  return false;
}

}  // namespace

int run_plot(const Arguments& arguments) {
  if (!means_something(arguments, {"--variant", "--set"}, "--law") ||
      !not_both(arguments, "--law", "--overlay") || !not_both(arguments, "--law", "--xy") ||
      !not_both(arguments, "--law", "--from") || !not_both(arguments, "--law", "--width"))
    return kUsage;
  if (arguments.has("--law")) return plot_law(arguments);
  report::PlotRequest request;
  request.folders.assign(arguments.positionals.begin(), arguments.positionals.end());
  request.overlay = arguments.text("--overlay");
  request.output = arguments.text("--output");
  if (!read_choice(arguments, request)) return kUsage;
  std::error_code ignored;
  for (const std::filesystem::path& folder : request.folders) {
    if (folder.extension() == ".toml" && std::filesystem::is_regular_file(folder, ignored))
      return usage_error("plot takes the folder of a run, not the model '" + folder.string() + "'",
                         "judder run " + folder.string() + " -o DIR && judder plot DIR");
    if (!std::filesystem::is_directory(folder, ignored)) {
      print_message(folder.string() + ": there is no run folder of that name");
      return kInputOutput;
    }
  }
  for (const char* extension : {".svg", ".pdf", ".png", ".eps", ".jpg"}) {
    if (request.output.extension() == extension && !std::filesystem::is_directory(request.output, ignored))
      return usage_error("-o names a folder; figures are SVG files with names of their own",
                         "judder plot DIR -o figures");
  }
  request.cancel = &interrupted();
  const report::PlottedFiles plotted = report::plot_runs(request);
  if (interrupted() && !plotted.status.ok()) return was_interrupted();
  for (const std::filesystem::path& file : plotted.files) print_line(file.string());
  for (const std::string& problem : plotted.problems) print_message(problem);
  // A run of which nothing can be drawn is no picture, and no success.
  if (plotted.status.ok()) return plotted.files.empty() && !plotted.problems.empty() ? kInputOutput : kDone;
  print_message(plotted.status.text());
  return kInputOutput;
}

}  // namespace judder::app
