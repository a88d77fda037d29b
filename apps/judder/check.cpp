#include "judder/io/json.hpp"
#include "verbs.hpp"

namespace judder::app {

int run_check(const Arguments& arguments) {
  const auto request = model_request(arguments);
  if (!request) return kUsage;
  const io::LoadedModel loaded = io::check_model(*request);
  if (arguments.has("--json")) {
    print(io::diagnostics_json(loaded.diagnostics, loaded.file.name, loaded.file.text));
    return !loaded.file.opened ? kInputOutput : loaded.ok() ? kDone : kModelInvalid;
  }
  const int code = report(loaded);
  if (code == kDone) print(io::check_summary(loaded));
  return code;
}

}  // namespace judder::app
