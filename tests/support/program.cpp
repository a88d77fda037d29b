#include "program.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace judder {

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void ProgramTest::SetUp() {
  folder_ = std::filesystem::temp_directory_path() / ("judder-cli-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder_);
}

void ProgramTest::TearDown() { std::filesystem::remove_all(folder_); }

Outcome ProgramTest::run(const std::string& arguments, const std::string& before) const {
  const std::string command = "cd '" + folder_.string() + "' && " + before + " '" JUDDER_PROGRAM "' " +
                              arguments + " > '" + (folder_ / "out").string() + "' 2> '" +
                              (folder_ / "err").string() + "' < /dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(folder_ / "out"), contents(folder_ / "err")};
}

void ProgramTest::write(const std::string& name, const std::string& text) const {
  std::ofstream(folder_ / name, std::ios::binary) << text;
}

}  // namespace judder
