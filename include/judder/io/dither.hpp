// `judder dither`: friction under fast vibration, from a model file to numbers, words and tables.
//
// The dither is what the model file says (analysis/dither.hpp). Computed are: the averaged resistance over the slow slip velocity, where it
// falls, at which slip speeds steady sliding is unstable, and on request a map of stability over two parameters, the harmonics of the
// bristle at one speed, and a simulation of the model seen through a low-pass filter.
//
//     curve.csv     slip, resistance, slope, bristle, undithered, static, held
//     map.csv       the two axes, growth (largest real part of the eigenvalues), stable
//     filtered.csv  t, slip, resistance (simulated)
#pragma once

#include <complex>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judder/analysis/dither_run.hpp"
#include "judder/io/load.hpp"
#include "judder/io/run_folder.hpp"

namespace judder::io {

/// A range of values of a parameter, or of the mean slip speed ("speed").
struct DitherAxis {
  std::string name;
  std::optional<double> from{},
      to{};        ///< not given: from 0 to twice the value that the model has; speeds as the curve
  int count = 41;  ///< values, both ends included; at least 2
};

/// "speed,W" or "speed=0.02:0.8:40,W=0:1:101": two axes. Nothing if the text is not of this form.
[[nodiscard]] std::optional<std::vector<DitherAxis>> parse_dither_map(const std::string& text);
/// "a:b:n"
[[nodiscard]] std::optional<DitherAxis> parse_dither_range(const std::string& text);
inline constexpr int kMostDitherValues = 100'000;
/// Why parse_dither_map has nothing for the text.
[[nodiscard]] std::string dither_map_problem(const std::string& text);

struct DitherRequest {
  ModelRequest model;
  std::string law{};  ///< name of the joint or contact; empty: the only one
  std::optional<DitherAxis>
      speeds{};  ///< of the curve; not given: up to twice the dither, or five times the speed scale of the law
  std::optional<double> speed{};  ///< for eigenvalues and harmonics, and for maps without speed
  std::vector<DitherAxis> map{};  ///< two axes, or none
  int harmonics = 0;              ///< H; 0: none
  bool simulate = false;
  analysis::LowPass filter = analysis::LowPass::mean;
  std::optional<double> until{};  ///< of the simulation, instead of that of [run]
};

struct DitherReport {
  LoadedModel model;
  analysis::DitherProblem problem;  ///< message not empty: nothing was computed
  bool cancelled = false;           ///< stopped from outside; what follows is a part
  std::string law, friction;        ///< name, type
  analysis::Dither dither;
  model::Dissipation dissipation;
  struct Row {
    double slip = 0, resistance = 0, slope = 0, bristle = 0;
    double undithered = 0;  ///< steady sliding without dither
    double still = 0;       ///< the mean of that over the dither: a friction without memory (2.25)
    double held = 0;        ///< at the frequency of the dither
  };
  std::vector<Row> curve;
  /// Where a column of the curve jumps between two rows, and the values on both sides.
  struct Jump {
    std::size_t row = 0;  ///< the one behind it
    double slip = 0, before = 0, after = 0;
  };
  std::vector<Jump> resistance_jumps, undithered_jumps, still_jumps;
  double slope_at_rest = 0;
  std::vector<std::pair<double, double>> falling;   ///< slip speeds where the resistance falls
  std::vector<std::pair<double, double>> unstable;  ///< slip speeds where steady sliding is unstable
  std::optional<double> speed;
  std::vector<std::complex<double>> eigenvalues;  ///< at `speed`
  std::optional<analysis::Harmonics> harmonics;   ///< at `speed`
  double held_at_speed = 0;                       ///< mean resistance there, to compare with the harmonics
  struct Map {
    DitherAxis x, y;
    std::vector<double> xs, ys;
    std::vector<double> growth;  ///< largest real part; row-major, x slow; NaN: the model could not be made
    bool amplitude_varies = false, frequency_varies = false;  ///< of the dither, with the axes
  };
  std::optional<Map> map;
  std::optional<analysis::FilteredRun> run;

  [[nodiscard]] bool ok() const { return model.ok() && problem.message.empty(); }
};

[[nodiscard]] DitherReport dither_model(const DitherRequest& request);
[[nodiscard]] std::string dither_text(const DitherReport& report);
[[nodiscard]] std::string dither_json(const DitherReport& report);
/// Writes the tables into a folder; `files` are those written.
[[nodiscard]] FileStatus write_dither(const DitherReport& report, const std::filesystem::path& folder,
                                      std::vector<std::filesystem::path>& files);

}  // namespace judder::io
