#include "many.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "judder/core/number.hpp"
#include "judder/io/ranges.hpp"
#include "machines.hpp"

namespace judder::app {
namespace {

constexpr int kMostValues = 10'000'000;

std::string time_text(double seconds) {
  if (!std::isfinite(seconds)) return "";
  if (seconds < 100) return to_text(std::ceil(seconds)) + " s";
  if (seconds < 6000) return to_text(std::ceil(seconds / 60)) + " min";
  return to_text(std::ceil(seconds / 360) / 10, 3) + " h";
}

bool is_terminal() { return isatty(STDERR_FILENO) != 0; }

}  // namespace

std::vector<Positional> many_positionals(const std::string& name, const std::string& doc) {
  return {model_file(),
          {.name = name, .doc = doc, .required = false, .repeats = true, .completes = Completes::setting}};
}

std::vector<Option> many_options(std::vector<Option> more) {
  std::vector<Option> out =
      model_options({{.name = "--engine",
                      .value = "E",
                      .doc = "method instead of the one of the file",
                      .completes = Completes::word,
                      .words = simulate::engine_names()},
                     {.name = "--tolerance", .value = "e", .doc = "error allowed per step"},
                     {.name = "--no-referee", .value = "", .doc = "do not check the laws along each run"},
                     {.name = "--threads,-j", .value = "N", .doc = "threads (default: all cores)"},
                     {.name = "--json", .value = "", .doc = "print one JSON document on standard output"}});
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

std::optional<analysis::Plan::Axis> read_axis(const std::string& text, bool range) {
  const std::string help = range ? "for example mu=0.1:0.5" : "for example om=0.6:1.6:200, mu=0.1,0.2,0.3";
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    usage_error(
        "'" + text + "' gives no values: NAME=FROM:TO" + (range ? "" : ":COUNT, or a list with commas"),
        help);
    return std::nullopt;
  }
  analysis::Plan::Axis axis;
  axis.name = text.substr(0, equals);
  axis.name.erase(axis.name.find_last_not_of(' ') + 1);
  const std::string values = text.substr(equals + 1);
  const std::vector<std::string> parts = io::split(values, ':');
  const auto number = [&](const std::string& part, double& out) {
    std::string why;
    const std::optional<double> value = io::read_value(part, &why);
    if (value)
      out = *value;
    else
      usage_error("'" + part + "' in '" + text + "' is no finite number" + (why.empty() ? "" : ": " + why),
                  help);
    return value.has_value();
  };
  if (parts.size() == 1 && !range) {
    for (const std::string& part : io::split_list(values)) {
      axis.values.emplace_back();
      if (!number(part, axis.values.back())) return std::nullopt;
    }
    return axis;
  }
  double from = 0, to = 0, count = 2;
  if (parts.size() != (range ? 2U : 3U)) {
    usage_error("'" + text + "' is no range, which is NAME=FROM:TO" + (range ? "" : ":COUNT"), help);
    return std::nullopt;
  }
  if (!number(parts[0], from) || !number(parts[1], to)) return std::nullopt;
  if (range) {
    axis.values = {from, to};
    return axis;
  }
  if (!number(parts[2], count)) return std::nullopt;
  if (!(count >= 2 && count <= kMostValues) || count != std::floor(count)) {
    usage_error("'" + parts[2] + "' is no count, which is a whole number from 2 to " +
                std::to_string(kMostValues));
    return std::nullopt;
  }
  const auto n = static_cast<std::size_t>(count);
  for (std::size_t i = 0; i < n; ++i)
    axis.values.push_back(i + 1 == n ? to : from + (to - from) * (static_cast<double>(i) / (count - 1)));
  return axis;
}

std::optional<std::vector<analysis::Plan::Axis>> read_axes(const Arguments& arguments, bool range) {
  std::vector<analysis::Plan::Axis> out;
  for (std::size_t i = 1; i < arguments.positionals.size(); ++i) {
    std::optional<analysis::Plan::Axis> axis = read_axis(arguments.positionals[i], range);
    if (!axis) return std::nullopt;
    for (const analysis::Plan::Axis& other : out) {
      if (other.name != axis->name) continue;
      usage_error("'" + axis->name + "' has values twice");
      return std::nullopt;
    }
    out.push_back(std::move(*axis));
  }
  return out;
}

bool read_count(const Arguments& arguments, const std::string& option, long least, long most, long& target) {
  if (!arguments.has(option)) return true;
  const std::string text = arguments.text(option);
  const std::optional<double> value = io::read_value(text);
  const auto whole = value && *value == std::floor(*value) ? whole_number(*value, least, most) : std::nullopt;
  if (!whole) {
    usage_error(option + " needs a whole number from " + std::to_string(least) + " to " +
                std::to_string(most) + ", not '" + text + "'");
    return false;
  }
  target = *whole;
  return true;
}

std::optional<tasks::ManyRequest> many_request(const Arguments& arguments) {
  const auto model = model_request(arguments);
  if (!model) return std::nullopt;
  tasks::ManyRequest request;
  request.model = *model;
  long threads = 0;
  constexpr long kMostThreads = 4096;
  if (!read_number(arguments, "--tolerance", request.tolerance) ||
      !read_until(arguments, request.until, request.model) ||
      !read_count(arguments, "--threads", 1, kMostThreads, threads))
    return std::nullopt;
  request.threads = static_cast<int>(threads);
  request.referee = !arguments.has("--no-referee");
  request.resume = arguments.has("--resume");
  if (!arguments.has("--part")) return request;
  const std::vector<std::string> parts = io::split(arguments.text("--part"), '/');
  constexpr double kMostParts = 100000;
  const auto part = parse_number(parts[0]), of = parts.size() == 2 ? parse_number(parts[1]) : std::nullopt;
  if (!part || !of || !(*of >= 1 && *of <= kMostParts) || !(*part >= 1 && *part <= *of) ||
      *part != std::floor(*part) || *of != std::floor(*of)) {
    usage_error("--part needs two whole numbers, not '" + arguments.text("--part") + "'",
                "--part 2/8 makes the second of eight parts; judder sweep --join puts them together");
    return std::nullopt;
  }
  request.part = static_cast<std::size_t>(*part);
  request.parts = static_cast<std::size_t>(*of);
  return request;
}

bool join_processes(std::unique_ptr<tasks::Machines>& machines) {
  if (processes_of_mpi() <= 1) return true;
  if (!has_mpi()) {
    print_message("this build has no MPI: each process would do everything",
                  "build it with MPI (libopenmpi-dev), or give each process a part: --part 1/4");
    return false;
  }
  machines = machines_of_mpi();
  return true;
}

void show_progress_of(tasks::ManyRequest& request, std::size_t members) {
  if (!is_terminal()) return;
  if (request.machines != nullptr && request.machines->rank() > 0) return;
  request.progress = [members](std::size_t done, double rate, double seconds) {
    const std::string left = time_text(seconds);
    print_own_message("\r" + to_text(static_cast<double>(done), 12) + " of " +
                      to_text(static_cast<double>(members), 12) + " runs, " + to_text(rate, 3) + " a second" +
                      (left.empty() ? "" : ", " + left + " to go") + "\x1b[K");
  };
}

void end_progress() {
  if (is_terminal()) print_own_message("\r\x1b[K");
}

std::string pace_text(std::size_t made, double seconds) {
  return std::to_string(made) + (made == 1 ? " run" : " runs") + " in " + to_text(seconds, 3) + " s";
}

int many_failed(const tasks::RunsReport& swept) {
  switch (swept.stage) {
    case tasks::RunsStage::model_invalid:
      if (const int code = report(swept.model); code != kDone) return code;
      return interrupted() ? was_interrupted() : kModelInvalid;
    case tasks::RunsStage::misused:
      return usage_error(swept.problem);
    case tasks::RunsStage::files_failed:
      print_message(swept.files.text());
      return kInputOutput;
    case tasks::RunsStage::interrupted:
      print_message("interrupted: " + swept.records.string() + " holds " + std::to_string(swept.made.done) +
                        " of " + std::to_string(swept.members) + " runs",
                    "the same command with --resume goes on");
      return kInterrupted;
    default:
      return kDone;
  }
}

}  // namespace judder::app
