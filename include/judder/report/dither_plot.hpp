// Pictures of friction under dither: the averaged law with what it is compared to, and the map of stability.
#pragma once

#include "judder/analysis/dither_survey.hpp"
#include "judder/io/run_folder.hpp"
#include "judder/report/figure.hpp"

namespace judder::report {

// `title`: the model's.

/// Resistance over the slow slip velocity: averaged, without dither, without memory, at the frequency of the dither, simulated.
[[nodiscard]] Figure dither_figure(const analysis::DitherSurvey& survey, const std::string& title);
/// Where steady sliding is unstable, over the two axes of the map. The survey must have one.
[[nodiscard]] Figure dither_map_figure(const analysis::DitherSurvey& survey, const std::string& title);

/// dither.svg and map.svg into a folder; `files` gets those written.
[[nodiscard]] io::FileStatus plot_dither(const analysis::DitherSurvey& survey, const std::string& title,
                                         const std::filesystem::path& folder,
                                         std::vector<std::filesystem::path>& files);

}  // namespace judder::report
