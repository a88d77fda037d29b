// Run folders to SVG files: the figures that the model asks for, or all columns.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "judder/io/run_folder.hpp"

namespace judder::report {

struct PlotRequest {
  std::vector<std::filesystem::path>
      folders;                      ///< runs in one picture; the first decides which figures there are
  std::filesystem::path overlay{};  ///< CSV file with a header row, drawn with them: measurements
  std::filesystem::path output{};   ///< where the figures go; empty: into the first folder
  std::vector<std::vector<std::string>>
      plots{};                         ///< lists of columns, the abscissa first; empty: those of the model
  bool points = false;                 ///< rows as points, without lines between them
  std::optional<double> from{}, to{};  ///< the stretch of time that is drawn
  std::optional<double> width{};       ///< of the figures in pixels (96 to the inch); at least 240
  const std::atomic<bool>* cancel = nullptr;  ///< set from outside to stop reading
};

struct PlottedFiles {
  std::vector<std::filesystem::path> files;  ///< written, complete
  std::vector<std::string> problems;         ///< columns and plots that could not be drawn
  io::FileStatus status;                     ///< the first file that could not be read or written
};

[[nodiscard]] PlottedFiles plot_runs(const PlotRequest& request);

}  // namespace judder::report
