// Models as one page of HTML in which they run: the solver as WebAssembly, the model texts with their data files, sliders, plots (docs/live.md).
//
// The page asks for nothing from anywhere and works from a disk. The solver is two files that scripts/live builds once, with emscripten; who builds
// the program without them gets everything but live pages, and is told what to do.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "judder/io/reader.hpp"
#include "judder/io/run_folder.hpp"

namespace judder::report {

/// The folder of the solver: the first with both files of share/judder/live beside the folder of `program` (bin/judder) and the place where scripts/live
/// puts them; `chosen` (the environment variable JUDDER_SOLVER) alone where it is not empty. Empty: there is none.
[[nodiscard]] std::filesystem::path find_solver(const std::filesystem::path& chosen,
                                                const std::filesystem::path& program);

struct LivePageModel {
  std::string name;  ///< in the gallery, and in links
  std::string title;
  std::string text;
  std::map<std::string, std::string> files{};  ///< data files, by their names in the text
};

/// The model with its data files, which are looked for in `folder`.
[[nodiscard]] io::FileStatus live_page_model(const io::ModelFile& file, std::string name,
                                             const std::filesystem::path& folder, LivePageModel& out);

struct LivePageRequest {
  std::vector<LivePageModel> models;
  bool gallery = false;  ///< begins with a list of the models
  std::string title{};
  std::filesystem::path solver;  ///< find_solver()
  std::filesystem::path output;  ///< the file
};

[[nodiscard]] io::FileStatus write_live_page(const LivePageRequest& request);

}  // namespace judder::report
