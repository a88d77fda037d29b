// Pictures of friction under dither: the averaged law with what it is compared to, and the map of stability.
#pragma once

#include "judder/io/dither.hpp"
#include "judder/report/figure.hpp"

namespace judder::report {

/// Resistance over the slow slip velocity: averaged, without dither, without memory, at the frequency of the dither, simulated.
[[nodiscard]] Figure dither_figure(const io::DitherReport& report);
/// Where steady sliding is unstable, over the two axes of the map. The report must have one.
[[nodiscard]] Figure dither_map_figure(const io::DitherReport& report);

/// dither.svg and map.svg into a folder; `files` gets those written.
[[nodiscard]] io::FileStatus plot_dither(const io::DitherReport& report, const std::filesystem::path& folder,
                                         std::vector<std::filesystem::path>& files);

}  // namespace judder::report
