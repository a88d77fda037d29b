// The pictures of an animation of a run: a page of HTML that makes them when a browser opens it, and what comes back from there.
//
// The drawing is that of the page of the run (page.hpp); a browser without a window and a program that joins pictures to a film are the caller's.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "judder/io/run_folder.hpp"

namespace judder::report {

struct FilmRequest {
  std::filesystem::path folder;  ///< of the run
  int frames = 300;              ///< pictures, at equal distances in time
  int width = 720, height = 400;
  const std::atomic<bool>* cancel = nullptr;  ///< set from outside to stop
};

struct FilmPage {
  std::string html;
  std::string problem;  ///< why there is nothing to be seen; empty: there is
  io::FileStatus status;
};

[[nodiscard]] FilmPage film_page(const FilmRequest& request);

/// The pictures (PNG) in what the browser says the page has become; none where the page has failed.
[[nodiscard]] std::vector<std::string> film_pictures(std::string_view page);

/// A page of the size of a figure, for a browser that prints it: `svg` is the text of one of ours. Empty: it has no size.
[[nodiscard]] std::string print_page(const std::string& svg, double& width, double& height);

}  // namespace judder::report
