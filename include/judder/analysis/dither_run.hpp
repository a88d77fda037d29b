// A model under dither, simulated, and its slip velocity and friction seen through a low-pass filter.
//
// The motion is sampled at the middles of equal parts of a dither period; slip velocity and resistance go through the same filter, so that its delay shows in neither
// against the other. What remains is one point (v̄, R̄) per period, to be held against the averaged law (analysis/dither.hpp).
//
//     mean          over exactly one period: removes the dither and all its harmonics
//     butterworth   order 8, cut-off at half the dither frequency, as in the source (bilinear transform): the dither is damped by 2⁻⁸
//
// Memory holds the sample times and one point per period; `Shares` and deviations are gathered on the way.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "judder/analysis/dither.hpp"
#include "judder/core/status.hpp"

namespace judder::analysis {

enum class LowPass { mean, butterworth };

/// Low-pass of order 8 as four sections of order 2; per sample, in the order of time.
class Butterworth {
 public:
  /// `cutoff` and `sampling` in rad per unit of time; cutoff < sampling/2.
  Butterworth(double cutoff, double sampling);
  double step(double x);

 private:
  struct Section {
    double b0 = 0, a1 = 0, a2 = 0;  ///< numerator b0 (1 + 2 z⁻¹ + z⁻²)
    double s1 = 0, s2 = 0;
  };
  std::array<Section, 4> sections_;
};

struct FilteredRunOptions {
  LowPass filter = LowPass::mean;
  int rows_per_period = 64;  ///< of the dither; ≥ 8
  double settle = 20;  ///< periods at the start that are not compared: the filter and the bristle settle
  std::optional<double> until{};
  std::optional<double> tolerance{};
};

/// Where the friction was, as shares of the time. Elastoplastic: α = 0, between, α > 0.9 (α = 1 is approached but not reached); sticking and slipping of a set-valued
/// law; a spring below and at its limit for penalty. LuGre and arctan always slip.
struct Shares {
  double stick = 0, presliding = 0, slip = 0;
  std::array<double, 10> alpha{};  ///< histogram of α in [0, 1] in equal bins
  double longest_stick = 0;        ///< the longest time without slip
  long sticks = 0;                 ///< how often stick began
};

struct FilteredRun {
  Status status;
  struct Point {
    double time = 0, slip = 0, resistance = 0;
  };
  double settled = 0;            ///< time from which points are compared
  std::vector<Point> points;     ///< after the filter, one per period of the dither
  double largest_deviation = 0;  ///< of R̄ from the averaged law at v̄, over the points that are compared
  double deviation_slip = 0;     ///< v̄ there
  double rms_deviation = 0;
  double least_slip = 0, most_slip = 0;  ///< of v̄
  Shares shares;                         ///< over the whole run
};

/// `study` is of the same spec and options. Without dither the rows are those of [output] and nothing is filtered.
[[nodiscard]] FilteredRun filtered_run(const model::Spec& spec, const model::CompileOptions& options,
                                       DitherStudy& study, const FilteredRunOptions& run = {});

}  // namespace judder::analysis
