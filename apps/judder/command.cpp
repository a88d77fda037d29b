#include "command.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "judder/core/number.hpp"
#include "judder/core/printable.hpp"
#include "judder/io/json.hpp"
#include "judder/io/ranges.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder::app {

std::string Arguments::text(const std::string& name, const std::string& otherwise) const {
  const auto found = options.find(name);
  return found == options.end() || found->second.empty() ? otherwise : found->second.back();
}

std::vector<std::string> Arguments::all(const std::string& name) const {
  const auto found = options.find(name);
  return found == options.end() ? std::vector<std::string>{} : found->second;
}

Positional model_file() { return {.name = "FILE", .doc = "model file", .completes = Completes::model}; }

std::vector<Option> model_options(std::vector<Option> more) {
  std::vector<Option> options{{.name = "--variant",
                               .value = "NAME",
                               .doc = "variant of the model; may be repeated, later ones win",
                               .repeats = true,
                               .completes = Completes::variant},
                              {.name = "--set",
                               .value = "NAME=VALUE",
                               .doc = "parameter or start value (x, x'); may be repeated",
                               .repeats = true,
                               .completes = Completes::setting},
                              {.name = "--work",
                               .value = "FACTOR",
                               .doc = "allow so many times the usual work for compiling",
                               .rare = true}};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

std::optional<io::ModelRequest> model_request(const Arguments& arguments) {
  io::ModelRequest request;
  request.file = arguments.positionals.front();
  request.cancel = &interrupted();
  request.variants = arguments.all("--variant");
  request.engine = arguments.text("--engine");
  if (arguments.has("--engine") && !known_engine(request.engine)) return std::nullopt;
  if (arguments.has("--work")) {
    const auto factor = io::read_value(arguments.text("--work"));
    if (!factor || !(*factor >= 1 && *factor <= 1e6)) {
      usage_error("--work needs a number from 1 to 1e6, not '" + arguments.text("--work") + "'",
                  "--work 10 allows ten times the usual work for compiling the model");
      return std::nullopt;
    }
    request.work = *factor;
  }
  for (const std::string& text : arguments.all("--set")) {
    const auto named = io::parse_setting(text);
    if (!named) {
      usage_error("--set needs NAME=VALUE, not '" + text + "'", "for example --set mu=0.3, --set \"x'=1\"");
      return std::nullopt;
    }
    request.set.push_back(*named);
  }
  return request;
}

bool known_engine(const std::string& engine) {
  const std::vector<std::string>& known = simulate::engine_names();
  if (std::find(known.begin(), known.end(), engine) != known.end()) return true;
  std::string names;
  for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
  usage_error("there is no engine '" + engine + "'", "there are: " + names);
  return false;
}

bool read_number(const Arguments& arguments, const std::string& option, std::optional<double>& target) {
  if (!arguments.has(option)) return true;
  std::string why;
  target = io::read_value(arguments.text(option), &why);
  if (!target)
    usage_error(
        option + " needs a finite number, not '" + arguments.text(option) + "'" +
            (why.empty() ? "" : ": " + why),
        why.find("unknown name") == std::string::npos
            ? ""
            : "numbers on the command line know no parameters; the model file does: until = \"…\" in [run], "
              "or --set \"NAME = …\"");
  return target.has_value();
}

bool read_until(const Arguments& arguments, std::optional<double>& number, io::ModelRequest& model) {
  std::string why;
  if (!arguments.has("--until") || io::read_value(arguments.text("--until"), &why) ||
      why.find("unknown name") == std::string::npos)
    return read_number(arguments, "--until", number);
  model.until = arguments.text("--until");
  return true;
}

bool means_something(const Arguments& arguments, const std::vector<std::string>& options,
                     const std::string& needed) {
  if (arguments.has(needed)) return true;
  for (const std::string& option : options) {
    if (!arguments.has(option)) continue;
    usage_error(option + " says nothing without " + needed);
    return false;
  }
  return true;
}

bool not_both(const Arguments& arguments, const std::string& one, const std::string& other) {
  if (!arguments.has(one) || !arguments.has(other)) return true;
  usage_error(one + " and " + other + " exclude one another");
  return false;
}

namespace {

std::atomic<bool> signalled{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void interrupt(int number) {
  signalled = true;
  std::signal(number, SIG_DFL);
}

}  // namespace

std::atomic<bool>& interrupted() { return signalled; }

// From the keyboard, from who ends a session, from a terminal that goes away. Each of them may have been told to pass the program by: by nohup, or by
// a script that has put it in the background.
void catch_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      std::signal(number, interrupt);
  }
}

int was_interrupted() {
  print_message("interrupted");
  return kInterrupted;
}

namespace {

/// What the two streams of this process have got so far.
struct Said {
  bool printed = false;  ///< something went to standard output
  bool holds = false;    ///< what goes there is held back until it is known how the command ends
  std::string held{};
  int error = 0;           ///< the first with which it could not be written
  std::string messages{};  ///< without colours; no longer than kMost
  std::string problems{};  ///< of a model, as JSON
  static constexpr std::size_t kMost = 1 << 16;
  void add(const std::string& text) {
    if (messages.size() < kMost) messages += text;
  }
};

Said& said() {
  static Said so_far;
  return so_far;
}

/// Paths come whole, as long as a system takes them; what is longer was never one.
std::string one_line(const std::string& text) {
  constexpr std::size_t kLongest = 8192;
  return printable_name(text, kLongest);
}

}  // namespace

int usage_error(const std::string& message, const std::string& help) {
  print_message(message, help);
  return kUsage;
}

bool colours() {
  const char* refused = std::getenv("NO_COLOR");
  return (refused == nullptr || *refused == '\0') && isatty(STDERR_FILENO) != 0;
}

int report(const io::LoadedModel& loaded, bool notes) {
  Diagnostics shown;
  for (const Diagnostic& message : loaded.diagnostics.all()) {
    if (notes || !loaded.ok() || message.severity != Severity::note) shown.add(message);
  }
  print_own_message(render(shown, loaded.file.name, loaded.file.text, colours()));
  if (!loaded.ok()) {
    said().add(render(loaded.diagnostics, loaded.file.name, loaded.file.text, false));
    said().problems = io::diagnostics_json(loaded.diagnostics, loaded.file.name, loaded.file.text);
  }
  if (loaded.compiled.cancelled) return kInterrupted;
  if (!loaded.file.opened) return kInputOutput;
  if (loaded.misused) return kUsage;
  return loaded.ok() ? kDone : kModelInvalid;
}

void print(const std::string& text) {
  const std::string shown = printable(text);
  if (said().holds) {
    said().held += shown;
    return;
  }
  said().printed = said().printed || !shown.empty();
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) != shown.size() && said().error == 0)
    said().error = errno;
}
std::optional<int> output_error() {
  const bool flushed = std::fflush(stdout) == 0;
  if (!flushed && said().error == 0) said().error = errno;
  if (flushed && std::ferror(stdout) == 0) return std::nullopt;
  return said().error;
}
void print_line(const std::string& line) { print(one_line(line) + "\n"); }
void print_beside(const std::string& line) { print_own_message(one_line(line) + "\n"); }
void print_message(const std::string& message, const std::string& help) {
  const std::string shown =
      "judder: " + one_line(message) + "\n" + (help.empty() ? "" : "  help: " + one_line(help) + "\n");
  said().add(shown);
  print_own_message(shown);
}
bool printed() { return said().printed; }
void note_error(const std::string& message) { said().add(message + "\n"); }
void hold_json() { said().holds = true; }
void print_json(int code) {
  Said& so_far = said();
  const std::string document = std::move(so_far.held);
  so_far.held.clear();
  so_far.holds = false;
  if (code == kDone) return print(document);
  if (so_far.messages.empty())
    so_far.add(code == kCheckFailed ? "a requested check failed" : "the command has not come to its end");
  if (document.empty())
    print(io::error_json(code, so_far.messages, so_far.problems));
  else
    print(io::with_error(document, code, so_far.messages));
}
void print_own_message(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace judder::app
