#include "judder/io/schema.hpp"

#include "verbs.hpp"

namespace judder::app {

int run_schema(const Arguments& arguments) {
  print(arguments.has("--reference") ? io::model_reference() : io::model_schema());
  return kDone;
}

}  // namespace judder::app
