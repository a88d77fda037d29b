#include <filesystem>

#include "judder/io/new_model.hpp"
#include "verbs.hpp"

namespace judder::app {

int run_new(const Arguments& arguments) {
  const std::string& name = arguments.positionals.front();
  std::filesystem::path file = arguments.text("--output", name);
  if (file.extension() != ".toml") file += ".toml";
  const io::FileStatus status = io::write_new_model(file, std::filesystem::path(name).stem().string());
  if (!status.ok()) {
    print_message(status.text());
    return kInputOutput;
  }
  print_line(file.string());
  return kDone;
}

}  // namespace judder::app
