#include <algorithm>
#include <cctype>
#include <string_view>

#include "judder/io/json.hpp"
#include "verbs.hpp"

namespace judder::app {
namespace {

/// For completion: what --variant or --set may be followed by. The file is read, not compiled.
int list_names(const io::ModelRequest& request, const std::string& which, bool json) {
  if (which != "variants" && which != "parameters")
    return usage_error("--names lists variants or parameters, not '" + which + "'");
  const io::ModelFile file = io::read_model(request.file);
  if (!file.opened || !file.parsed) {
    print_own_message(render(file.diagnostics, file.name, file.text, colours()));
    return file.opened ? kModelInvalid : kInputOutput;
  }
  std::string out;
  if (which == "variants") {
    // Names of variants are free; those that a shell would take for something else are not offered to it.
    const auto plain = [](unsigned char c) {
      return std::isalnum(c) != 0 || c >= 0x80 ||
             std::string_view("_-.+,:@%").find(static_cast<char>(c)) != std::string_view::npos;
    };
    for (const model::Variant& variant : file.spec.variants) {
      const std::string& name = variant.name.text;
      if (!name.empty() && name.front() != '-' && std::all_of(name.begin(), name.end(), plain))
        out += name + "\n";
    }
  } else {
    for (const model::Parameter& parameter : file.spec.parameters) out += parameter.name.text + "\n";
    for (const model::Coordinate& coordinate : file.spec.coordinates)
      out += coordinate.name.text + "\n" + coordinate.name.text + "'\n";
    for (const model::StateVariable& state : file.spec.states) out += state.name.text + "\n";
  }
  if (json) {
    std::vector<std::string> names;
    for (std::size_t at = 0, end = 0; (end = out.find('\n', at)) != std::string::npos; at = end + 1)
      names.push_back(out.substr(at, end - at));
    out = io::names_json(which, names);
  }
  print(out);
  return kDone;
}

}  // namespace

int run_check(const Arguments& arguments) {
  for (const char* unread : {"--variant", "--set", "--work", "--engine"}) {
    if (!not_both(arguments, "--names", unread)) return kUsage;
  }
  const auto request = model_request(arguments);
  if (!request) return kUsage;
  if (arguments.has("--names"))
    return list_names(*request, arguments.text("--names"), arguments.has("--json"));
  const io::LoadedModel loaded = io::check_model(*request);
  if (arguments.has("--json")) {
    const std::string problems = io::diagnostics_json(loaded.diagnostics, loaded.file.name, loaded.file.text);
    const int code = loaded.compiled.cancelled ? kInterrupted
                     : !loaded.file.opened     ? kInputOutput
                     : loaded.ok()             ? kDone
                                               : kModelInvalid;
    const std::string text = render(loaded.diagnostics, loaded.file.name, loaded.file.text, false);
    print(code == kDone ? problems : io::error_json(code, text, problems));
    return code;
  }
  const int code = report(loaded, true);
  if (code == kDone) print(io::check_summary(loaded));
  return code;
}

}  // namespace judder::app
