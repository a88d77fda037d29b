// The same model by several engines: how far each is from the reference, and what it costs.
//
// The reference is the exact engine where it applies, otherwise the event-driven engine: with a tenth of the tightest tolerance asked for, and where steps are
// asked for with the tightest tolerance at which it reaches the end, because a short step of a method of order eight is better than most tolerances. A second
// run of the reference at ten times its tolerance tells its own error. The exact engine runs once: it has neither tolerance nor step. Others run once per
// tolerance and once per step.
//
//     error        largest |x − x_ref| of a coordinate, velocity or state at a sample, divided by the range of that column
//     time error   largest |t − t_ref| of an event, over the events that agree in kind and place with those of the reference
//     order        log(e₁/e₂)/log(h₁/h₂) between successive steps of one engine; left out where an error is less than ten times that of the reference,
//                  because it then tells as much about the reference as about the step
//
// Engines with fixed steps alone (docs/stepping.md) are run per step, without a tolerance. Velocities that jump are off by their jump around an impact, whatever the
// step; so their error is measured in the norms of their theory, and orders belong to these:
//
//     error        largest |q − q_ref| at a sample, relative to the range of the column
//     velocity L¹  ∫|v − v_ref| dt, relative to the range of the column times the length of the run (trapezoidal rule over the samples)
//     squares      1/L Σ (q − q_ref)² and 1/L Σ (v − v_ref)² over the samples, summed over the columns (Zabuga 2017, 4.25)
//
// Where the steps that are asked for make one grid (each a multiple of the shortest, and the run a multiple of each), the samples of these engines are the ends of
// their own steps: what lies between is interpolated, and has an order of its own. Otherwise they are those of the run.
//
// Touches without consequence (`graze`) are left out of the comparison: engines see them down to different depths.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judder/simulate/simulate.hpp"

namespace judder::analysis {

struct CompareOptions {
  std::vector<std::string> engines{"event", "exact"};
  std::vector<double> tolerances{};  ///< of engines with error control; empty: that of the run
  std::vector<double> steps{};       ///< > 0; empty: none
  int repeats = 3;                   ///< runs per row, of which the fastest is timed; ≥ 1
};

struct CompareRow {
  std::string engine;
  std::optional<double> tolerance{}, step{};
  std::string problem{};  ///< why the engine cannot run the model, or how its run ended early
  bool ran = false;
  std::size_t events = 0;
  std::size_t agreeing = 0;  ///< events that agree with the reference, from the first on
  bool events_agree = false;
  double error = 0, time_error = 0;
  std::optional<double> order{};
  std::optional<double> velocity_error{}, velocity_order{};  ///< L¹; of engines with fixed steps alone
  std::optional<double> place_square{}, velocity_square{};
  bool order_unknown =
      false;  ///< there is a step before this one, and the reference is not good enough to tell the order
  long steps = 0, evaluations = 0, windows = 0;
  double seconds = 0;
};

struct Comparison {
  std::string reference;  ///< "exact", or "event, tolerance 1e-10"
  Status reference_status;
  std::size_t reference_events = 0;
  double reference_error = 0;  ///< estimate, measured as `error` of a row; at least rounding
  std::vector<CompareRow> rows;
};

[[nodiscard]] Comparison compare(const model::System& system, const engines::EngineOptions& run,
                                 const CompareOptions& options);

}  // namespace judder::analysis
