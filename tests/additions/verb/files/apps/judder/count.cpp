#include "count.hpp"

#include <string>

#include "verbs.hpp"

namespace judder::app {
namespace {

int run_count(const Arguments& arguments) {
  const auto request = model_request(arguments);
  if (!request) return kUsage;
  const io::LoadedModel loaded = io::load_model(*request);
  if (const int code = report(loaded); code != kDone) return code;
  print(std::to_string(loaded.compiled.system->layout().coordinates) + " coordinates\n");
  return kDone;
}

}  // namespace

Verb count_verb() {
  return {.name = "count",
          .purpose = "counts the coordinates of a model",
          .positionals = {model_file()},
          .options = model_options(),
          .examples = {"judder count press.toml", "judder count press.toml --variant high"},
          .run = run_count};
}

}  // namespace judder::app
