// What every engine takes, gives and promises.
//
// An engine moves a System from a Moment to `until`, hands rows and events to a Sink as they come, and returns how it ended. It stores nothing
// that grows with time. Rows come at the sample times and, at each instant with events, as the two limits before the first and after the
// last of them, in place of a sample row.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "judder/core/status.hpp"
#include "judder/core/verdict.hpp"
#include "judder/engines/event.hpp"
#include "judder/engines/mode.hpp"
#include "judder/engines/observer.hpp"
#include "judder/model/compile.hpp"
#include "judder/model/system.hpp"

namespace judder::engines {

enum class OnAccumulation : std::uint8_t { finish, stop };
enum class OnPainleve : std::uint8_t { stop, tangential_impact, choose };
enum class OnIndeterminate : std::uint8_t { stop, stay };
enum class Integrator : std::uint8_t { automatic, explicit_only, stiff };

struct EngineOptions {
  double from = 0;          ///< start time
  double until = 1;         ///< end time, ≥ from
  double tolerance = 1e-9;  ///< error per step relative to running scales; [1e-14, 1e-2]
  double step =
      0;  ///< > 0: fixed step without error control; engines with fixed steps alone have a default (docs/stepping.md)
  double max_step = 0;        ///< > 0: longest step
  long max_events = 1000000;  ///< the run ends with that reason when there are more
  Integrator integrator = Integrator::automatic;
  OnAccumulation on_accumulation = OnAccumulation::finish;
  OnPainleve on_painleve = OnPainleve::stop;
  OnIndeterminate on_indeterminate = OnIndeterminate::stop;
  long samples = 1001;           ///< rows at equal times, both ends included; used when every == 0
  double every = 0;              ///< > 0: time between rows; `until` always has one
  std::vector<double> instants;  ///< further sample times, ascending
  bool event_rows = true;        ///< the two rows at each instant with events
  bool list_switches = true;     ///< report switch events
  const std::atomic<bool>* cancel = nullptr;  ///< set from outside to stop at the end of the present step
  /// Set from outside, beside `cancel`: a step or an instant that does not end within a moment is given up (EngineResult::whole).
  const std::atomic<bool>* abandon = nullptr;
  Observer* observer = nullptr;  ///< is told every step and every instant; changes nothing
  bool referee = true;           ///< simulate::run lets the referee judge the run (docs/referee.md)
  std::vector<model::RunOptions::EngineOption> own;  ///< [run.NAME], of all engines; each reads its own
  bool another_goes_on =
      false;  ///< where this engine cannot go on another one does: phases stay open as in an interrupt
};

/// From the [run] and [output] tables of a model.
[[nodiscard]] EngineOptions options_of(const model::RunOptions& run);

/// What the engine remembers of the phase it is in, beyond the state of the system. With it a run goes on with the same bits as if it had
/// not been cut; without it (`y` empty) to its tolerance.
struct PhaseMemory {
  double time = 0;                   ///< where the mode was set: motion and guards are prepared there again
  std::vector<double> y;             ///< q, v, z there
  Mode mode;                         ///< as it was set
  double start = 0;                  ///< of the phase
  double last_flight = 0;            ///< length of the phase before
  std::vector<double> side;          ///< by switch, with the present coefficients of sliding ones
  std::vector<double> listed_sides;  ///< by switch: the side that was listed last, NaN while it slides
  std::vector<double> guards;        ///< of each: order of its zero, noise, its rate, band, flatness, stay
  std::vector<double>
      watch_sides;            ///< sign of each watch, 0: not known; then the sides of their own switches
  std::vector<double> rate;   ///< ẏ at the present state; empty: not known
  std::vector<double> noise;  ///< rounding of the accelerations; empty: not measured
  bool grow = true;           ///< the next step may be longer than the last
  double largest_energy = 0;
  bool stiff = false;              ///< the implicit method is in use
  std::vector<double> stepper;     ///< what the methods remember
  std::vector<double> switchings;  ///< recent switchings, for accumulation
  double tail_end = 0;             ///< first end of the tail of an accumulation; NaN: none
  std::vector<double> tail;        ///< by relation: end, impacts, length and impulse of its tail
  std::vector<double> intervals;   ///< closed phases so far: from, peak, impulse, last reaction by relation
  std::vector<double> timetable;   ///< instants found ahead
  std::vector<double> scheme;      ///< of engines with fixed steps: grid, what the scheme remembers, monitors
};

/// Everything needed to go on: a value that can be copied, saved and compared.
struct Moment {
  /// The state (q, v, z) of a system at a time, with everything else still to be decided there, as at the start of a model. A run takes it up where a model could
  /// start so, and says with a status why not elsewhere: lists of other sizes, a contact inside, a constraint that does not hold. Its `from` is this time.
  [[nodiscard]] static Moment at(const model::System& system, double time, std::span<const double> q,
                                 std::span<const double> v, std::span<const double> z = {});

  double time = 0;
  std::vector<double> y;                     ///< q, v, z
  std::vector<double> dissipated, supplied;  ///< by audit element
  double initial_energy = 0;
  Mode mode;
  double step = 0;             ///< length of the next step to try
  std::vector<double> scales;  ///< running scales of y, then, with a phase, of guards
  long events = 0;
  std::vector<long> watch_counts;
  bool started = false;         ///< false: the modes at the start are still to be decided
  std::vector<double> history;  ///< recent impacts, for accumulation
  PhaseMemory phase;
};

/// Why a Moment cannot be taken up: it is incomplete, of another system, or holds what no run gives. Empty: it can.
[[nodiscard]] std::string moment_problem(const model::System& system, const Moment& moment);
/// The inputs that a run begins with: those of the start of the model, or of a Moment that has not begun to move.
void load_start(const model::System& system, const Moment* resume, model::Workspace& work);

enum class RowKind : std::uint8_t { sample, before, after };

/// One closed phase of a contact; an instantaneous impact has from == to.
struct Interval {
  int relation = 0;
  double from = 0;
  double to = 0;
  double peak = 0;     ///< largest λ_N
  double impulse = 0;  ///< ∫ λ_N dt and the impulses of impacts
};

struct EngineResult;

class Sink {
 public:
  virtual ~Sink() = default;
  /// `work.in` holds the state; with needs_reactions() also accelerations and reactions. Output columns may be evaluated on `work`.
  virtual void row(RowKind kind, const Mode& mode, model::Workspace& work) = 0;
  /// Memory for `count` sample rows of the state alone, 1 + Layout::integrated() numbers each (t, q, v, z), which the engine fills in place
  /// of as many calls of row(); null: the sink asks for more than the state, or does not keep rows. Asked for only where neither
  /// reactions nor audits are read.
  virtual double* state_rows(std::size_t count) {
    (void)count;
    return nullptr;
  }
  /// `state`: coordinates, velocities and states (Layout::integrated() numbers) behind the last event of its instant, as the row after it has them; told
  /// whether rows at events are asked for or not.
  virtual void event(const Event& event, std::span<const double> state) = 0;
  /// A closed phase of a contact has ended.
  virtual void interval(const Interval& interval) { (void)interval; }
  /// Called at the end of steps: the time reached. Rare work only.
  virtual void progress(double time) { (void)time; }
  /// Asked after progress(): whether the sink wants everything needed to go on from here.
  virtual bool wants_state() { return false; }
  /// The result so far, as if the run had been interrupted here; `end` is the state.
  virtual void state(const EngineResult& so_far) { (void)so_far; }
};

/// Something that an engine with fixed steps watches in its own run (docs/stepping.md): how far it goes at the worst, when, and how often it is more than
/// rounding.
struct Monitor {
  std::string name;
  double worst = 0;
  double time = 0;
  long checks = 0;
  long broken = 0;
};

struct EngineResult {
  Status status;
  Moment end;
  /// False: interrupted inside a step or an instant. Rows and events since the last Sink::state() may be a part of what happens there, and `end` is
  /// that state; where there was none, what the run started from, or nothing.
  bool whole = true;
  long steps = 0, rejected = 0, evaluations = 0, events = 0, impacts = 0;
  long windows = 0;  ///< looked at for zeros, by engines that work without steps
  long undecided_ties = 0;
  bool reactions_not_unique = false;
  bool uniqueness_unchecked = false;
  double largest_energy = 0;
  double energy_imbalance = 0;    ///< balance at the end
  double worst_gap = 0;           ///< deepest penetration relative to the gap's scale
  Mode start_mode;                ///< modes at the start (no events)
  Verdict verdict;                ///< of the referee; filled in by simulate::run
  std::vector<Monitor> monitors;  ///< of engines with fixed steps
  Status gave_way;                ///< where and why the engine 'auto' went on with 'event'; done: it did not
};

/// True if the run ended because the engine could not go on, although the motion does: another engine may go on from there.
[[nodiscard]] inline bool engine_ends(Reason reason) {
  return reason == Reason::unsupported || reason == Reason::step_too_small;
}

/// Why these options make no run ("the tolerance is -1; …"), or an empty string. Every run asks it first.
[[nodiscard]] std::string options_problem(const EngineOptions& options);

/// What every engine is (engines/registry.hpp lists them). It belongs to one System, which must live as long.
class Engine {
 public:
  virtual ~Engine() = default;
  /// Runs from the start of the model, or from `resume`. May be called again: memory is kept.
  [[nodiscard]] virtual EngineResult run(const EngineOptions& options, Sink& sink,
                                         const Moment* resume = nullptr) = 0;
};

class EventRun;

/// The event-driven engine (docs/engines.md). Exact to its tolerance between events; events located to rounding.
class EventEngine final : public Engine {
 public:
  explicit EventEngine(const model::System& system);
  ~EventEngine() override;
  EventEngine(EventEngine&&) noexcept;

  /// Why the system cannot be run by this engine, or an empty string.
  [[nodiscard]] static std::string unsupported(const model::System& system);

  [[nodiscard]] EngineResult run(const EngineOptions& options, Sink& sink,
                                 const Moment* resume = nullptr) override;

 private:
  std::unique_ptr<EventRun> run_;
};

/// The exact engine, for systems that are linear in each mode (model/linear.hpp): closed forms instead of steps, every crossing deeper than
/// rounding found, event times with a bound of their error. Events are handled by the same code as in the event-driven engine. `tolerance` is
/// used for accumulations only; `step`, `max_step` and `integrator` mean nothing to it. Closed forms of the modes met are kept for later runs.
class ExactEngine final : public Engine {
 public:
  explicit ExactEngine(const model::System& system);
  ~ExactEngine() override;
  ExactEngine(ExactEngine&&) noexcept;

  /// Why the system cannot be run by this engine, or an empty string.
  [[nodiscard]] static std::string unsupported(const model::System& system);

  [[nodiscard]] EngineResult run(const EngineOptions& options, Sink& sink,
                                 const Moment* resume = nullptr) override;

 private:
  std::unique_ptr<EventRun> run_;
};

}  // namespace judder::engines
