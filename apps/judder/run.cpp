#include "judder/tasks/run.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <thread>

#include "judder/core/number.hpp"
#include "judder/io/model_files.hpp"
#include "judder/io/reference_file.hpp"
#include "judder/simulate/simulate.hpp"
#include "verbs.hpp"

namespace judder::app {
namespace {

/// In one line that is written over; what an earlier, longer text has left behind its end is cleared.
void show_progress(double share, long events, double seconds) {
  print_own_message("\r" + tasks::progress_text(share, events, seconds) + "\x1b[K");
  std::fflush(stderr);
}

/// False after a usage error.
bool read_window(const Arguments& arguments, tasks::RunRequest& request) {
  if (!means_something(arguments, {"--from", "--to"}, "--summary") ||
      !read_number(arguments, "--from", request.summary_from) ||
      !read_number(arguments, "--to", request.summary_to))
    return false;
  if (!request.summary_from || !request.summary_to || *request.summary_from < *request.summary_to)
    return true;
  usage_error("--from must be smaller than --to");
  return false;
}

/// False after a usage error: a run without a folder has none to be put, told of or gone on in.
bool read_output(const Arguments& arguments, tasks::RunRequest& request) {
  for (const char* option : {"--output", "--report"}) {
    if (!not_both(arguments, "--no-output", option)) return false;
  }
  request.write = !arguments.has("--no-output");
  request.output = arguments.text("--output");
  return true;
}

/// What the referee found, a line each.
void print_findings(const Verdict& verdict) {
  constexpr std::size_t kMost = 10;
  for (std::size_t i = 0; i < std::min(kMost, verdict.findings.size()); ++i) {
    const Finding& finding = verdict.findings[i];
    print_message("referee: " + finding.place + ": " + simulate::finding_text(finding));
  }
  if (verdict.findings.size() > kMost)
    print_message("referee: " + std::to_string(verdict.findings.size() - kMost) + " more in run.json");
}

/// Tells in words why it is not 0, where there is a document for them.
int exit_code(const Status& status) {
  if (status.ok()) return kDone;
  note_error(std::string(name(status.reason)) + " at t = " + to_text(status.time) +
             (status.where.empty() ? "" : ", " + status.where) +
             (status.message.empty() ? "" : ": " + status.message));
  return status.reason == Reason::interrupted ? kInterrupted : kEndedEarly;
}

/// One run, and what is said of it.
int run_once(const Arguments& arguments, tasks::RunRequest request, std::string* problems = nullptr,
             std::filesystem::path* folder = nullptr) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const auto begin = std::chrono::steady_clock::now();
  if (terminal)
    request.progress = [begin](double share, long events) {
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
      show_progress(share, events, passed.count());
    };

  const tasks::RunReport run = tasks::run_model(request);
  if (terminal) print_own_message("\r\x1b[K");
  const int model_code = report(run.model);
  if (folder != nullptr) *folder = run.folder;
  if (problems != nullptr && run.stage == tasks::RunStage::model_invalid)
    *problems = render(run.model.diagnostics, run.model.file.name, run.model.file.text);
  switch (run.stage) {
    case tasks::RunStage::model_invalid:
      return model_code == kDone ? kModelInvalid : model_code;
    case tasks::RunStage::cannot_resume:
    case tasks::RunStage::files_failed:
      print_message(run.files.text());
      return kInputOutput;
    case tasks::RunStage::finished:
      print(arguments.has("--json") ? run.run_json : tasks::finished_text(run));
      print_findings(run.summary.verdict);
      return exit_code(run.summary.status);
    case tasks::RunStage::ended:
      break;
  }
  if (arguments.has("--json"))
    print(io::run_json(run.summary, run.events));
  else
    print((arguments.has("--summary") ? tasks::run_markdown(run) : tasks::run_text(run)) +
          tasks::estimate_text(run));
  for (const std::string& note : run.undefined) print_message(note);
  print_findings(run.summary.verdict);
  if (arguments.has("--report") || arguments.has("--watch")) {
    const int code =
        write_report({.folders = {run.folder}, .watched = arguments.has("--watch")}, arguments.has("--json"));
    if (code != kDone) return code;
  }
  const bool page = arguments.has("--report") || arguments.has("--watch");
  if (const std::string old = tasks::old_pictures_text(run, page); !old.empty()) print_message(old);
  return exit_code(run.summary.status);
}

std::vector<std::filesystem::path> files_of(const std::filesystem::path& model) {
  std::vector<std::filesystem::path> out{model};
  for (const std::string& data : io::data_files(io::read_model(model).spec))
    out.push_back(model.parent_path() / data);
  return out;
}

/// When files were written, and how long they are; empty while one is missing, as where an editor saves.
std::string last_change(const std::vector<std::filesystem::path>& files) {
  std::string out;
  for (const std::filesystem::path& one : files) {
    std::error_code error;
    const auto time = std::filesystem::last_write_time(one, error);
    const auto size = error ? 0 : std::filesystem::file_size(one, error);
    if (error) return {};
    out += std::to_string(time.time_since_epoch().count()) + " " + std::to_string(size) + "\n";
  }
  return out;
}

/// Waits for a while. False: standard input has ended, so that whoever has started this one does not wait for its end.
bool still_attended() {
  pollfd input{0, POLLIN, 0};
  constexpr int kWait = 200;
  if (poll(&input, 1, kWait) <= 0) return true;
  std::array<char, 256> typed;
  const bool open = read(0, typed.data(), typed.size()) > 0;
  if (open) std::this_thread::sleep_for(std::chrono::milliseconds(kWait));
  return open;
}

/// Runs again whenever the model changes, until somebody interrupts or standard input ends. The page of the run shows the last one, and what is wrong with the model now.
int watch(const Arguments& arguments, const tasks::RunRequest& request) {
  std::filesystem::path page;
  for (;;) {
    const std::vector<std::filesystem::path> files = files_of(request.model.file);
    const std::string seen = last_change(files);
    std::string problems;
    std::filesystem::path folder;
    const int code = run_once(arguments, request, &problems, &folder);
    if (interrupted()) return code;
    if (code == kInputOutput) return code;
    if (problems.empty() && !folder.empty()) page = folder / "report.html";
    if (!problems.empty() && !page.empty()) {
      if (const io::FileStatus status = report::write_page_problems(page, problems); !status.ok())
        print_message(status.text());
    }
    static_cast<void>(output_error());  // who watches reads now
    print_beside("watching " + request.model.file.string() + "; Ctrl-C ends it");
    for (;;) {
      if (!still_attended() || interrupted()) return code;
      const std::string now = last_change(files);
      if (!now.empty() && now != seen) break;
    }
  }
}

}  // namespace

int run_run(const Arguments& arguments) {
  const auto model = model_request(arguments);
  if (!model) return kUsage;
  if (!means_something(arguments, {"--accept-changes"}, "--resume") ||
      !not_both(arguments, "--summary", "--json"))
    return kUsage;
  tasks::RunRequest request;
  request.model = *model;
  request.model.impact_law = arguments.text("--law");
  if (const std::vector<std::string> laws = impact_words();
      arguments.has("--law") && std::find(laws.begin(), laws.end(), request.model.impact_law) == laws.end())
    return usage_error("there is no impact law '" + request.model.impact_law + "'",
                       "there are: moreau, newton, poisson, stronge");
  request.reference = io::reference_beside(request.model.file);
  if (!read_number(arguments, "--tolerance", request.tolerance) ||
      !read_number(arguments, "--step", request.step) || !read_until(arguments, request.until, request.model))
    return kUsage;
  if (arguments.has("--watch") &&
      (arguments.has("--json") || arguments.has("--resume") || arguments.has("--estimate")))
    return usage_error(
        "--watch runs the model again and again; --json, --resume and --estimate ask for one run");
  if (!not_both(arguments, "--watch", "--no-output") || !read_window(arguments, request) ||
      !read_output(arguments, request))
    return kUsage;
  request.resume = arguments.text("--resume");
  request.accept_changes = arguments.has("--accept-changes");
  request.estimate = arguments.has("--estimate");
  request.extremes_between_rows = arguments.has("--summary");
  request.until_periodic = arguments.has("--until-periodic");
  if (request.estimate && request.until_periodic)
    return usage_error("--estimate compares runs of equal length; --until-periodic ends them when it likes");
  request.cancel = &interrupted();
  return arguments.has("--watch") ? watch(arguments, request) : run_once(arguments, request);
}

}  // namespace judder::app
