// Any bytes as the files of a run folder: read it as `judder plot` does, and draw it.
//
// The input is the four files one after the other, with a line "====" between them: trajectory.csv, events.csv, run.json, state.json. A fourth part
// that is "committed" stands for a state that fits the others. Looked for are crashes, hangs and refusals without a reason.
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "io/disk.hpp"
#include "io/manifest.hpp"
#include "judder/io/run_head.hpp"
#include "judder/report/run_plots.hpp"
#include "judder/report/svg.hpp"

namespace {

namespace fs = std::filesystem;
namespace io = judder::io;

void require(bool promise) {
  if (!promise) std::abort();
}

/// In memory where the system has such a place; gone with the process.
struct Folder {
  fs::path path = (fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) /
                  ("judder-fuzz-folder-" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

io::CommittedFile committed(const std::string& text) {
  io::disk::Check check;
  check.add(text);
  return {text.size(), check.text(), 0};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  constexpr std::array<const char*, 4> kNames = {"trajectory.csv", "events.csv", "run.json", "state.json"};
  const std::string input(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> parts;
  for (std::size_t at = 0; parts.size() < kNames.size() && at != std::string::npos;) {
    const std::size_t end = parts.size() + 1 < kNames.size() ? input.find("====\n", at) : std::string::npos;
    parts.push_back(input.substr(at, end == std::string::npos ? end : end - at));
    at = end == std::string::npos ? end : end + 5;
  }
  if (parts.size() == kNames.size() && parts[3].rfind("committed", 0) == 0)
    parts[3] = io::with_manifest("{}", {committed(parts[0]), committed(parts[1]), committed(parts[2])});
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (i < parts.size())
      std::ofstream(folder.path / kNames[i], std::ios::binary) << parts[i];
    else
      fs::remove(folder.path / kNames[i]);
  }
  std::vector<io::RunData> runs(1);
  const io::FileStatus status = io::read_run(folder.path, runs.front());
  if (!status.ok()) {
    require(!status.message.empty() && !status.file.empty());
    return 0;
  }
  const io::RunHead head = io::read_run_head(runs.front().run_json);
  judder::report::RunPlotOptions options;
  options.title = head.title;
  const judder::report::RunPlots plots = judder::report::plots_of_run(runs, head.plots, options);
  for (const judder::report::NamedFigure& figure : plots.figures) {
    require(figure.name.find('/') == std::string::npos && !figure.name.empty());
    require(judder::report::to_svg(figure.figure).rfind("<svg", 0) == 0);
  }
  return 0;
}
