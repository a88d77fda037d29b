#include "judder/io/json.hpp"
#include "judder/model/describe.hpp"
#include "judder/tasks/equations.hpp"
#include "verbs.hpp"

namespace judder::app {

int run_explain(const Arguments& arguments) {
  const auto request = model_request(arguments);
  if (!request) return kUsage;
  if (!not_both(arguments, "--latex", "--json") || !means_something(arguments, {"--symbolic"}, "--latex"))
    return kUsage;
  if (arguments.has("--latex")) {
    const tasks::EquationsReport equations = tasks::model_equations(*request, arguments.has("--symbolic"));
    if (const int code = report(equations.model); code != kDone) return code;
    if (interrupted()) return was_interrupted();
    print(equations.latex);
    for (const std::string& note : equations.notes) print_message(note);
    return kDone;
  }
  const io::LoadedModel loaded = io::load_model(*request);
  if (const int code = report(loaded); code != kDone) return code;
  const std::string text = arguments.has("--json") ? io::explain_json(loaded.compiled, request->cancel)
                                                   : model::describe(loaded.compiled, request->cancel);
  if (interrupted()) return was_interrupted();
  print(text);
  return kDone;
}

}  // namespace judder::app
