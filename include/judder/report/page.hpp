// Runs as one page of HTML: what was run and how it ended, the referee's verdict, the drawing of the model in motion, plots that can be zoomed,
// events, loads, works, equations. One file, which asks for nothing from anywhere: it opens from a disk, offline.
//
// A page is made from run folders alone. The model text in run.json is compiled again for drawings and equations; where that fails (data files
// beside the model, another version), the page says so and has everything else.
//
// Plots carry about 400 000 numbers of 32 bits per run, thinned so that every peak stays; the full data are in trajectory.csv. Titles, names and
// texts of a model reach the page as data, never as markup.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "judder/io/run_folder.hpp"

namespace judder::report {

struct PageRequest {
  std::vector<std::filesystem::path> folders;  ///< runs; their curves share the plots
  std::filesystem::path output{};              ///< the file; empty: report.html in the first folder
  bool watched =
      false;  ///< the page looks for `page_note` beside it, and loads itself again when it is another one
  const std::atomic<bool>* cancel = nullptr;  ///< set from outside to stop
};

struct WrittenPage {
  std::filesystem::path file;
  std::vector<std::string> problems;  ///< what is missing in the page
  io::FileStatus status;              ///< the first file that could not be read or written
};

[[nodiscard]] WrittenPage write_page(const PageRequest& request);

/// The file beside a watched page that says which page it should be by now, and what has gone wrong since: NAME.note.js. write_page() writes it as well.
[[nodiscard]] std::filesystem::path page_note(const std::filesystem::path& page);
/// Shows `problems` on a watched page without changing it.
[[nodiscard]] io::FileStatus write_page_problems(const std::filesystem::path& page,
                                                 const std::string& problems);

}  // namespace judder::report
