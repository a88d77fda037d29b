// What fast vibration makes of one friction law, as data for words, tables and pictures: the averaged resistance over the slow slip velocity, where it
// falls, at which slip speeds steady sliding is unstable, and as far as asked for a map of stability over two parameters, the harmonics of the bristle
// at one speed, and a simulation of the model seen through a low-pass filter. tasks/dither.hpp makes one.
#pragma once

#include <complex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judder/analysis/dither_run.hpp"

namespace judder::analysis {

/// A range of values of a parameter, or of the mean slip speed ("speed").
struct DitherAxis {
  std::string name;
  std::optional<double> from{},
      to{};        ///< not given: from 0 to twice the value that the model has; speeds as the curve
  int count = 41;  ///< values, both ends included; at least 2
};

struct DitherSurvey {
  std::string law, friction;  ///< name, type
  Dither dither;
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
  std::optional<Harmonics> harmonics;             ///< at `speed`
  double held_at_speed = 0;                       ///< mean resistance there, to compare with the harmonics
  struct Map {
    DitherAxis x, y;
    std::vector<double> xs, ys;
    std::vector<double> growth;  ///< largest real part; row-major, x slow; NaN: the model could not be made
    bool amplitude_varies = false, frequency_varies = false;  ///< of the dither, with the axes
  };
  std::optional<Map> map;
  std::optional<FilteredRun> run;
};

}  // namespace judder::analysis
