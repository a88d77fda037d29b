#include "judder/report/plot_runs.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "judder/core/number.hpp"
#include "judder/io/ranges.hpp"
#include "judder/report/film_page.hpp"
#include "judder/report/law_plot.hpp"
#include "tools.hpp"
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

/// "svg,pdf": what is asked for; nothing after a usage error.
std::optional<std::set<std::string>> read_formats(const Arguments& arguments) {
  std::set<std::string> out;
  for (const std::string& word : split(arguments.text("--format", "svg"))) {
    if (word != "svg" && word != "pdf" && word != "png") {
      usage_error("--format knows svg, pdf and png, not '" + word + "'");
      return std::nullopt;
    }
    out.insert(word);
  }
  return out;
}

int no_tool(const std::string& words, const std::string& package) {
  print_message(words, "install it: apt install " + package);
  return kInputOutput;
}

/// Numbers for the command line of a browser.
std::string whole(double value) { return std::to_string(static_cast<long>(std::ceil(value))); }

bool write_file(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  return static_cast<bool>(out.flush());
}

/// A file is put in place of none, or of one of its kind, which its first bytes tell; everything else is somebody's.
bool put(const std::filesystem::path& made, const std::filesystem::path& target) {
  const std::string kind = target.extension().string();
  const std::string_view begin = kind == ".pdf"   ? "%PDF"
                                 : kind == ".png" ? "\x89PNG"
                                 : kind == ".gif" ? "GIF8"
                                                  : "ftyp";
  std::error_code error;
  const std::filesystem::file_status there = std::filesystem::symlink_status(target, error);
  if (std::filesystem::exists(there)) {
    std::string head(8, '\0');
    std::ifstream in(target, std::ios::binary);
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    const std::string_view first = std::string_view(head).substr(kind == ".mp4" ? 4 : 0, 4);
    if (!std::filesystem::is_regular_file(there) || (in.gcount() > 0 && first != begin)) {
      print_message(target.string() + ": is no file of that kind, and is not replaced");
      return false;
    }
  }
  std::filesystem::copy_file(made, target, std::filesystem::copy_options::overwrite_existing, error);
  if (error) print_message(target.string() + ": cannot be written: " + error.message());
  return !error;
}

/// A figure in other formats beside it.
int convert(const std::filesystem::path& figure, const std::set<std::string>& formats) {
  const auto browser = find_browser();
  if (!browser)
    return no_tool("figures as PDF and PNG are drawn by Chromium, which is not installed", "chromium");
  std::ifstream in(figure, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  double width = 0, height = 0;
  const std::string page = report::print_page(text.str(), width, height);
  const ScratchFolder scratch;
  const std::filesystem::path file = scratch.path() / "figure.html";
  if (page.empty() || scratch.path().empty() || !write_file(file, page)) {
    print_message(figure.string() + ": the figure cannot be handed to Chromium");
    return kInputOutput;
  }
  for (const std::string& format : formats) {
    if (format == "svg") continue;
    std::filesystem::path target = figure;
    target.replace_extension(format);
    const std::filesystem::path made = scratch.path() / ("figure." + format);
    const std::vector<std::string> words =
        format == "pdf"
            ? std::vector<std::string>{"--no-pdf-header-footer", "--print-to-pdf=" + made.string()}
            : std::vector<std::string>{"--window-size=" + whole(width) + "," + whole(height),
                                       "--force-device-scale-factor=2", "--screenshot=" + made.string()};
    std::error_code error;
    if (!run_browser(*browser, scratch.path(), words, file) || !std::filesystem::exists(made, error)) {
      if (interrupted()) return was_interrupted();
      print_message(target.string() + ": Chromium (" + browser->string() + ") has not drawn it");
      return kInputOutput;
    }
    if (!put(made, target)) return kInputOutput;
    print_line(target.string());
  }
  return kDone;
}

/// Pictures from a browser, joined by ffmpeg.
int animate(const Arguments& arguments) {
  const std::filesystem::path target = arguments.text("--animate");
  const std::string kind = target.extension().string();
  if (kind != ".gif" && kind != ".mp4") return usage_error("--animate makes FILE.gif or FILE.mp4");
  if (arguments.positionals.size() != 1) return usage_error("--animate takes one run");
  const auto browser = find_browser();
  if (!browser)
    return no_tool("the pictures of an animation are drawn by Chromium, which is not installed", "chromium");
  const auto joiner = find_tool({"ffmpeg"});
  if (!joiner) return no_tool("pictures are joined by ffmpeg, which is not installed", "ffmpeg");
  report::FilmRequest request;
  request.folder = arguments.positionals.front();
  request.cancel = &interrupted();
  request.frames = kind == ".gif" ? 150 : 300;
  const report::FilmPage film = report::film_page(request);
  if (interrupted()) return was_interrupted();
  if (!film.status.ok()) {
    print_message(film.status.text());
    return kInputOutput;
  }
  if (!film.problem.empty()) {
    print_message(request.folder.string() + ": " + film.problem);
    return kInputOutput;
  }
  const ScratchFolder scratch;
  const std::filesystem::path page = scratch.path() / "film.html";
  if (scratch.path().empty() || !write_file(page, film.html)) {
    print_message("there is no room for the pictures of the animation");
    return kInputOutput;
  }
  const auto drawn = run_browser(*browser, scratch.path(), {"--dump-dom"}, page);
  if (interrupted()) return was_interrupted();
  std::string pictures;
  if (drawn) {
    for (const std::string& picture : report::film_pictures(*drawn)) pictures += picture;
  }
  if (pictures.empty()) {
    print_message(request.folder.string() + ": Chromium (" + browser->string() +
                  ") has drawn no picture: the run has no length, or the browser failed");
    return kInputOutput;
  }
  const std::filesystem::path made = scratch.path() / ("film" + kind);
  const std::vector<std::string> input{
      "-loglevel", "error", "-f", "image2pipe", "-framerate", kind == ".gif" ? "12.5" : "25",
      "-c:v",      "png",   "-i", "-"};
  // A GIF has a palette of its own colours; of a film what every player understands.
  const std::vector<std::string> output =
      kind == ".gif"
          ? std::vector<
                std::string>{"-filter_complex",
                             "split[a][b];[a]palettegen=max_colors=64[p];[b][p]paletteuse=dither=none"}
          : std::vector<std::string>{"-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart"};
  std::vector<std::string> words = input;
  words.insert(words.end(), output.begin(), output.end());
  words.push_back(made.string());
  std::error_code error;
  if (!run_tool(*joiner, words, pictures) || !std::filesystem::exists(made, error)) {
    if (interrupted()) return was_interrupted();
    print_message(target.string() + ": ffmpeg (" + joiner->string() + ") has made no film");
    return kInputOutput;
  }
  if (!put(made, target)) return kInputOutput;
  print_line(target.string());
  return kDone;
}

}  // namespace

int run_plot(const Arguments& arguments) {
  if (!means_something(arguments, {"--variant", "--set"}, "--law") ||
      !not_both(arguments, "--law", "--overlay") || !not_both(arguments, "--law", "--xy") ||
      !not_both(arguments, "--law", "--from") || !not_both(arguments, "--law", "--width") ||
      !not_both(arguments, "--law", "--animate") || !not_both(arguments, "--law", "--format") ||
      !not_both(arguments, "--animate", "--format"))
    return kUsage;
  if (arguments.has("--law")) return plot_law(arguments);
  if (arguments.has("--animate")) return animate(arguments);
  const auto formats = read_formats(arguments);
  if (!formats) return kUsage;
  report::PlotRequest request;
  request.folders.assign(arguments.positionals.begin(), arguments.positionals.end());
  request.overlay = arguments.text("--overlay");
  request.points = arguments.has("--points");
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
  for (const std::filesystem::path& file : plotted.files) {
    if (formats->count("svg") > 0) print_line(file.string());
    if (formats->size() == formats->count("svg")) continue;
    if (const int code = convert(file, *formats); code != kDone) return code;
    if (formats->count("svg") == 0) std::filesystem::remove(file, ignored);
  }
  for (const std::string& problem : plotted.problems) print_message(problem);
  // A run of which nothing can be drawn is no picture, and no success.
  if (plotted.status.ok()) return plotted.files.empty() && !plotted.problems.empty() ? kInputOutput : kDone;
  print_message(plotted.status.text());
  return kInputOutput;
}

}  // namespace judder::app
