// Models of the gallery, compiled.
#pragma once

#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "judder/engines/engine.hpp"
#include "judder/io/load.hpp"

namespace judder::bench {

struct Model {
  model::System system;
  engines::EngineOptions options;
};

/// "press"; ends the program with the messages if it does not compile.
inline Model gallery_model(const std::string& name, const std::vector<std::string>& variants = {}) {
  io::LoadedModel loaded =
      io::load_model({.file = std::string(JUDDER_SOURCE_DIR) + "/gallery/" + name + "/model.toml",
                      .variants = variants,
                      .set = {}});
  if (!loaded.compiled.system) {
    std::cerr << render(loaded.diagnostics, loaded.file.name, loaded.file.text);
    std::exit(1);
  }
  return {std::move(*loaded.compiled.system), engines::options_of(loaded.compiled.run)};
}

}  // namespace judder::bench
