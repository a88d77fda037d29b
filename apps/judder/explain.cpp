#include "judder/io/json.hpp"
#include "judder/model/describe.hpp"
#include "verbs.hpp"

namespace judder::app {

int run_explain(const Arguments& arguments) {
  const auto request = model_request(arguments);
  if (!request) return kUsage;
  const io::LoadedModel loaded = io::load_model(*request);
  if (const int code = report(loaded); code != kDone) return code;
  const std::string text = arguments.has("--json") ? io::explain_json(loaded.compiled, request->cancel)
                                                   : model::describe(loaded.compiled, request->cancel);
  if (interrupted()) return was_interrupted();
  print(text);
  return kDone;
}

}  // namespace judder::app
