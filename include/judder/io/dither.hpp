// Friction under fast vibration (analysis/dither_survey.hpp) in words, as JSON and as tables; ranges as they are typed.
//
//     curve.csv     slip, resistance, slope, bristle, undithered, static, held
//     map.csv       the two axes, growth (largest real part of the eigenvalues), stable
//     filtered.csv  t, slip, resistance (simulated)
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "judder/analysis/dither_survey.hpp"
#include "judder/io/run_folder.hpp"

namespace judder::io {

/// "speed,W" or "speed=0.02:0.8:40,W=0:1:101": two axes. Nothing if the text is not of this form.
[[nodiscard]] std::optional<std::vector<analysis::DitherAxis>> parse_dither_map(const std::string& text);
/// "a:b:n"
[[nodiscard]] std::optional<analysis::DitherAxis> parse_dither_range(const std::string& text);
inline constexpr int kMostDitherValues = 100'000;
/// Why parse_dither_map has nothing for the text.
[[nodiscard]] std::string dither_map_problem(const std::string& text);

[[nodiscard]] std::string dither_text(const analysis::DitherSurvey& survey);
/// `model`: its file, as named.
[[nodiscard]] std::string dither_json(const analysis::DitherSurvey& survey, const std::string& model);
/// Writes the tables into a folder; `files` are those written.
[[nodiscard]] FileStatus write_dither(const analysis::DitherSurvey& survey,
                                      const std::filesystem::path& folder,
                                      std::vector<std::filesystem::path>& files);

}  // namespace judder::io
