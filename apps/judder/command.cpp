#include "command.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

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
                               .repeats = true},
                              {.name = "--set",
                               .value = "NAME=VALUE",
                               .doc = "parameter or start value (x, x'); may be repeated",
                               .repeats = true}};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

std::optional<io::ModelRequest> model_request(const Arguments& arguments) {
  io::ModelRequest request;
  request.file = arguments.positionals.front();
  request.variants = arguments.all("--variant");
  request.engine = arguments.text("--engine");
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

int usage_error(const std::string& message, const std::string& help) {
  print_message("judder: " + message + "\n" + (help.empty() ? "" : "  help: " + help + "\n"));
  return kUsage;
}

bool colours() {
  const char* refused = std::getenv("NO_COLOR");
  return (refused == nullptr || *refused == '\0') && isatty(STDERR_FILENO) != 0;
}

int report(const io::LoadedModel& loaded) {
  print_message(render(loaded.diagnostics, loaded.file.name, loaded.file.text, colours()));
  if (!loaded.file.opened) return kInputOutput;
  return loaded.ok() ? kDone : kModelInvalid;
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }
void print_message(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace judder::app
