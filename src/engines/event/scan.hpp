// Zeros of event functions along a trial step.
//
// Each guard is sampled at the Chebyshev points of the step, replaced by a polynomial with an error estimate, and all its real zeros and its extrema near zero are
// found (numeric/roots.hpp). What is found stands in StepFindings.
#pragma once

#include <array>
#include <cstdint>

#include "engines/event/phase.hpp"
#include "engines/event/step_findings.hpp"
#include "engines/hidden_change.hpp"
#include "engines/numeric/roots.hpp"

namespace judder::engines {

class Roundings;
class Trial;
class Watching;

class Scan {
 public:
  Scan(Phase& now, StepFindings& found, Roundings& rounding, Trial& trial, Watching& watching);
  [[nodiscard]] HiddenChange& hidden_change() { return hidden_change_; }

  [[nodiscard]] bool find_first_guard(double h, bool& accurate);
  [[nodiscard]] double unmoved(int k, double h, bool free = false);
  [[nodiscard]] bool load_passes_zero() const;
  [[nodiscard]] static bool reports_graze(const Guard& guard);
  [[nodiscard]] static bool of_the_state(const Guard& guard);
  [[nodiscard]] bool hides_change(double h);

 private:
  [[nodiscard]] bool note_residues();
  [[nodiscard]] bool determined(int i) const;
  [[nodiscard]] bool passes_at_once(int i, double theta, double first);
  void scan_watch(int i, double h, double band, double time_noise);
  void take_zero(int i, const numeric::Root& root);
  enum class Start : std::uint8_t { leaves, too_long, unknown };
  [[nodiscard]] Start start_by_series(const Guard& guard, double h, double end);
  [[nodiscard]] double comes_back(int i, int r, int points, int side, double error) const;
  void take_watch_zero(int i, const double* sample, int points, double noise, double band);
  [[nodiscard]] bool watch_hides(const Guard& guard, double h, double from, double length,
                                 const numeric::SamplingGrid& grid);
  void start_parabolas(double h);
  [[nodiscard]] bool approaches(int relation);
  [[nodiscard]] int side_before(const Guard& guard) const;
  [[nodiscard]] bool crossing_counts(const Guard& guard, bool rising);

  Phase& now_;
  StepFindings& found_;
  Roundings& rounding_;
  Trial& trial_;
  Watching& watching_;
  HiddenChange hidden_change_;
  std::array<const numeric::SamplingGrid*, 3> grids_{&numeric::SamplingGrid::of_degree(4),
                                                     &numeric::SamplingGrid::of_degree(8),
                                                     &numeric::SamplingGrid::of_degree(16)};
  std::vector<double> node_y_;
  std::vector<double> slopes_;
  std::vector<double> start_values_;  ///< of the guards, where the step begins a phase
  std::vector<double> residues_;      ///< of the guards at the start of a step that begins with a zero
  std::array<double, numeric::kMaxRootDegree + 1> clean_{};  ///< samples without it
  numeric::RootList roots_;
  std::vector<double> surface_memory_;
};

}  // namespace judder::engines
