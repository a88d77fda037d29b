#include "judder/io/version.hpp"

#include "verbs.hpp"

namespace judder::app {

int run_version(const Arguments& arguments) {
  const std::string version = io::version();
  print(arguments.has("--json") ? "{\n  \"name\": \"judder\",\n  \"version\": \"" + version + "\"\n}\n"
                                : "judder " + version + "\n");
  return kDone;
}

}  // namespace judder::app
