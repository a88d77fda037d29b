// Where a run from event to event stands: time, state, mode, and what a model is evaluated and followed with.
//
// A phase lasts from one instant to the next; its mode is fixed. The parts of a run (event_parts.hpp) share one Phase. The state is `y`; `work.in` holds what was
// loaded last, which load() makes the state itself.
#pragma once

#include <cstdint>
#include <vector>

#include "engines/collider.hpp"
#include "engines/decider.hpp"
#include "engines/event/advance.hpp"
#include "engines/guards.hpp"
#include "engines/mode_motion.hpp"
#include "engines/motion_series.hpp"
#include "engines/rate_noise.hpp"
#include "engines/recorder.hpp"
#include "engines/running_scales.hpp"
#include "engines/timetable.hpp"
#include "engines/watches.hpp"
#include "judder/engines/engine.hpp"

namespace judder::engines {

// Thresholds that more than one part of a run must agree on.
inline constexpr double kLateRoot =
    1.0 / 64;  ///< a zero nearer than this to the start of a step is looked for on a shorter one
inline constexpr double kWatchBand = 10;    ///< tolerances of its scale that a watch must pass its zero by
inline constexpr double kAheadAtRest = 33;  ///< steps that are looked ahead at rest
inline constexpr double kSmallRate =
    1e-9;  ///< a derivative of a surface below this share of its terms is a zero of some order
inline constexpr double kRoundingUnits =
    Watches::kRoundingUnits;  ///< a surface within this many rounding bounds is at zero
// Of what the points of a step have seen of a formula: by so much a smooth one may lie outside between them, with eight points and with four.
inline constexpr double kShareOfPoints = 0.1;
inline constexpr double kShareOfFewPoints = 0.25;
inline constexpr std::uint16_t kSlips = static_cast<std::uint16_t>(
    contact::bit(contact::RowStatus::slip_plus) | contact::bit(contact::RowStatus::slip_minus));

struct Phase {
  explicit Phase(const model::System& system);
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

  /// The state at the present time into work.in.
  void load() { motion.load(t, y.data()); }
  /// Ends the run, if nothing has ended it before. Always false.
  [[nodiscard]] bool fail(Status status);
  /// The next phase begins here.
  /// Takes `projected` from a state before it was put onto the rows, whose velocities are y[n…]; nothing was moved without rows.
  void note_projected(const double* before);
  void end_phase();
  /// The series of a mode, to the highest order that functions from outside leave known.
  [[nodiscard]] bool follow(const Mode& as);
  /// No coefficient of this series has told what was asked for. Where later ones are not known, because functions from outside give no derivative, that is a
  /// tie that is not decided.
  void note_unknown(const expr::Series& asked);

  const model::System& system;
  const model::Layout& layout;
  model::Workspace work;
  ModeMotion motion;
  RunningScales scales;
  RateNoise noise;
  Guards guards;
  Decider decider;
  Collider collider;
  Timetable timetable;
  MotionSeries series;
  Recorder recorder;
  EngineOptions options;
  Patience patience;
  EngineResult result;
  double t = 0;
  double limit = 0;           ///< the known instant that the present phase leads to
  double time_bound = 0;      ///< of the error of the present event's time; 0: not known
  double h = 0;               ///< next step to try
  std::vector<double> y, f0;  ///< components of ModeMotion
  bool have_f0 = false;
  Mode mode;
  bool grow_allowed = true;
  bool leaving_rest = false;  ///< the last step began at rest
  double rest_step = 0;       ///< first step of that rest
  bool has_massless = false;
  bool may_jump = false;  ///< some massless coordinate has no damper
  std::vector<double>
      projected;  ///< by coordinate: what its velocity was moved by to be on the rows at the end of the last step
  double last_flight = 0;  ///< length of the last phase, a good first step for the next
  double phase_start = 0;
  double resumed_at = 0;   ///< time at which the run was taken up; NaN: it was not
  PhaseMemory entry;       ///< state and mode where the present mode was set
  Advance* way = nullptr;  ///< to the next event; belongs to the run
};

}  // namespace judder::engines
