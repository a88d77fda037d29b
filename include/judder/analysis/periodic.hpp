// Convergence of a motion to a periodic one, noticed while it runs.
//
// A section is an instant that can come back: an event of the model (stick, impact, slide-begin, a watch), the extreme of a coordinate or
// state, or, where the forces repeat with a period T, a phase of its period T (nothing else says that the force will repeat). At each section the
// state y_k after it is compared with those of the sections of the same kind before it: d_k = |y_k − y_{k−p}|, the largest component,
// each relative to the range that it has over these p returns.
//
// How far the periodic motion still is cannot be read from two distances: a transient that turns while it decays comes near to itself after
// returns that are no period. D, the largest d_k of a window of returns, bounds what such a transient does. How slowly it decays is told by n, the number of
// returns in which D fell to a tenth: the largest such number of the last three tenfold falls, or the returns since the last one if these are more. By the triangle inequality
//
//     |y_k − y*| ≤ D (1 + ρ + ρ² + …) = D/(1 − ρ) ,     ρ = 10^(−1/n)
//
// That is far too much for a transient that turns quickly and decays slowly, and for rounding. There the limit of the sequence is found as that of a
// linear recurrence, once from each of two separate windows of states. The bound is then twice the distance of the state from the limit plus four times the distance between the two limits.
//
// The motion is taken for periodic with p returns when events and modes have been the same over two periods and this is below the accuracy. If it is also
// within the accuracy after a divisor of p, that is the period. One more period is then followed and measured at many places; in a forced system
// parts of it that repeat within the period are found there.
//
// A component that hardly moves over the p returns is compared with the range that it has had so far. If all of them do, the motion has settled; in a
// system that does not depend on time, a state that stays the same to rounding is rest, from the moment at which it began to.
//
// Coordinates and states on which nothing depends but their rates (an angle of a wheel, the way of a sled) may drift; the drift per period
// is reported, or its rate where everything else has settled and no force has a period. At rest is what does not drift either.
//
// The same holds modulo a turn: where nothing that moves the system tells an angle from the angle a turn further on (cos(x), mod(x, 2)), states are compared
// without whole turns, and a motion that comes back a turn further on is periodic and drifts by that turn. It is met where the angle has one
// value, once in each turn.
//
// Memory is bounded: a few dozen states per kind of section, and the states and events of one period.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "judder/model/spec.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder::analysis {

struct PeriodicOptions {
  double accuracy =
      1e-7;  ///< distance to the periodic motion relative to the range of each component; (0, 1e-2]
  int most_returns = 24;  ///< longest period in returns to one kind of section; up to 1000
  const std::vector<double>* turns = nullptr;  ///< what turns() says of the system, if it has been asked
};

struct PeriodicMotion {
  bool equilibrium = false;   ///< it came to rest, or slides steadily
  bool at_rest = false;       ///< an equilibrium that has been reached: nothing has changed since `from`
  double from = 0, to = 0;    ///< the period that was measured
  double period = 0;          ///< 0: an equilibrium
  double forcing_period = 0;  ///< T; 0: nothing depends on time
  double distance = 0;        ///< bound of what is still to go, relative
  double contraction = 0;     ///< per period, the slowest of the last three powers of ten; NaN: none was seen
  struct Range {
    std::string name;
    double least = 0, most = 0;
  };
  /// Coordinates, velocities, states, output columns. Extremes of coordinates are located, others are those of kMeasured equal parts of the
  /// period and of the instants with events.
  std::vector<Range> ranges;
  struct Share {
    std::string element, mode;  ///< "belt", "stick"; a switch that slides: its place, "slide"
    double share = 0;           ///< of the period
  };
  std::vector<Share> shares;
  std::vector<std::string> events;  ///< of one period, in order: "slip belt -"
  bool events_cut = false;          ///< there were more than kMostEvents
  struct Drift {
    std::string name;
    double change = 0;  ///< per period; in an equilibrium, which has none, per unit of time
  };
  std::vector<Drift> drifts;

  static constexpr std::size_t kMostEvents = 1000;
  static constexpr int kMeasured = 2520;  ///< divisible by all numbers up to 10
};

/// The period with which everything that depends on time repeats: 0 if nothing does; nothing if there is none (ramps, tables,
/// incommensurable frequencies). Formulas say which periods there are; that their common multiple (up to 1000 of each) is a period is checked by
/// evaluating forces, rates, gaps, slips and laws.
[[nodiscard]] std::optional<double> forcing_period(const model::System& system);

/// By coordinate: the shift of it alone after which nothing that moves the system differs, 2π for the angle of a pendulum; 0: none is known. Formulas say what
/// may be one; that it is, is checked by evaluating. 0 also for coordinates on which nothing depends at all (System::cyclic) and in
/// models of more than 64 coordinates.
[[nodiscard]] std::vector<double> turns(const model::System& system);

/// The model with further watches, `judder_section_…`, where nothing depends on time: at the extremes of its first eight coordinates and states, and where
/// its first four angles with a turn have one value. A
/// PeriodMonitor uses them and shows them to nobody.
[[nodiscard]] model::Spec with_sections(const model::Spec& spec, const model::System& system,
                                        double forcing_period);

/// Passes a run on to another sink and looks for its period. The run is made in legs: of length T where forces repeat, so that the state at multiples of T
/// is that of a step's end, otherwise until something is found. Each leg ends at leg_until(), has event rows, `cancel()` as its cancel flag and instants()
/// as its further sample times; after it, next_leg() says whether there is another.
class PeriodMonitor : public engines::Sink {
 public:
  /// `system` is that of with_sections. `event_rows`: whether `inner` wants them; `cancel`: the flag of somebody else, or nullptr.
  PeriodMonitor(const model::System& system, const engines::EngineOptions& options, double forcing_period,
                engines::Sink& inner, const PeriodicOptions& periodic = {});

  void row(engines::RowKind kind, const engines::Mode& mode, model::Workspace& work) override;
  void event(const engines::Event& event, std::span<const double> state) override;
  void interval(const engines::Interval& interval) override;
  void progress(double time) override;
  bool wants_state() override { return inner_.wants_state(); }
  void state(const engines::EngineResult& so_far) override { inner_.state(so_far); }

  /// To be told the steps of every leg: ranges are those of the motion, whatever rows are asked for.
  [[nodiscard]] engines::Observer* observer() { return &steps_; }
  [[nodiscard]] const std::atomic<bool>* cancel() const { return &cancel_; }
  /// Prepares the next leg of the run, which begins at `time`. False: there is none.
  [[nodiscard]] bool next_leg(double time);
  [[nodiscard]] const std::vector<double>& instants() const { return instants_; }
  [[nodiscard]] double leg_until() const { return leg_until_; }
  /// The run is over: closed phases that the last leg cut have ended.
  void end_intervals();
  [[nodiscard]] const std::optional<PeriodicMotion>& found() const { return found_; }

 private:
  static constexpr int kDecades = 18;
  struct Return {
    double time = 0;
    std::uint64_t mode = 0, hash = 0;
    long count = 0;  ///< visible events so far
    std::vector<double> y;
    std::vector<double> least, most;  ///< since the return before
  };
  /// What is known of |y_k − y_{k−p}| for one p.
  struct Stride {
    std::vector<double> recent;  ///< the window and the one before it, a ring
    long count = 0;
    int near = 0;  ///< returns for which it has been within the accuracy
    std::array<long, kDecades>
        reached{};  ///< count at which the window fell below 10^−j for good; 0: not yet
    [[nodiscard]] double largest(bool before = false) const;  ///< in the window, or in the one before it
    [[nodiscard]] bool steady() const;
    void add(double distance);
    /// It has shrunk by a power of ten since the first return.
    [[nodiscard]] bool shrank() const;
    /// Returns per power of ten.
    [[nodiscard]] double per_decade() const;
    [[nodiscard]] double bound() const;
  };
  struct Returns {
    std::vector<Return> ring;
    std::size_t next = 0, size = 0;
    std::vector<Stride> stride;       ///< by p − 1
    std::vector<double> least, most;  ///< since the last return
    [[nodiscard]] const Return& back(std::size_t p) const {
      return ring[(next + 2 * ring.size() - 1 - p) % ring.size()];
    }
  };
  class Steps final : public engines::Observer {
   public:
    Steps(PeriodMonitor& monitor, engines::Observer* next) : monitor_(monitor), next_(next) {}
    void point(const engines::ToldPoint& point) override;
    void impulses(const engines::ToldImpulses& impulses) override;
    void event(const engines::Event& event) override;
    [[nodiscard]] bool asks_along() const override { return next_ != nullptr && next_->asks_along(); }
    void along(double from, double to, engines::Along& motion) override { next_->along(from, to, motion); }

   private:
    PeriodMonitor& monitor_;
    engines::Observer* next_;  ///< somebody else who listens
  };
  [[nodiscard]] bool drifts(std::size_t component) const;
  [[nodiscard]] bool counts_turns(std::size_t k) const;
  [[nodiscard]] double moved(double to, double from, std::size_t component) const;
  [[nodiscard]] std::uint64_t mode_of(const engines::Mode& mode);
  Returns* returns_of(std::uint64_t key);
  void note_state(const double* y);
  [[nodiscard]] bool rests(const engines::Mode& mode, model::Workspace& work);
  void settle(const engines::Mode& mode, model::Workspace& work, double since, bool at_rest);
  [[nodiscard]] bool awaits_switch(model::Workspace& work) const;
  void section(std::uint64_t key, const engines::Mode& mode, model::Workspace& work);
  void look_for_period(std::uint64_t key, Returns& returns, const engines::Mode& mode,
                       model::Workspace& work);
  [[nodiscard]] bool same_modes(const Returns& returns, std::size_t p) const;
  [[nodiscard]] bool limit_of(const Returns& returns, std::size_t p, std::size_t offset,
                              std::vector<double>& limit) const;
  [[nodiscard]] double distance_to_limit(const Returns& returns, std::size_t p) const;
  [[nodiscard]] double distance(const Return& a, const Return& b) const;
  /// With what a change of a component is compared, and whether it hardly moves; by own_.
  [[nodiscard]] double scale(std::size_t component) const;
  [[nodiscard]] bool still(std::size_t component) const;
  [[nodiscard]] double rounding(std::size_t component) const;
  [[nodiscard]] bool same_events(const Return& a, const Return& b, const Return& c) const;
  void begin_measuring(std::uint64_t key, std::size_t returns, double period);
  void begin_ranges();
  void measure_row(const engines::Mode& mode, model::Workspace& work);
  void measure_cells();
  void locate_extremes();
  void gather_shares(double duration);
  void credit(double time);
  void take_modes(const engines::Mode& mode);
  void finish(const Return& last);
  [[nodiscard]] int repetitions(const Return& last) const;
  [[nodiscard]] bool sample_time(double time) const;

  const model::System& system_;
  const engines::EngineOptions options_;
  const double forcing_;
  engines::Sink& inner_;
  PeriodicOptions periodic_;
  double same_ = 0;  ///< what parts of a period may differ by that are one
  std::atomic<bool> cancel_{false};
  const std::atomic<bool>* user_;
  std::vector<bool> hidden_;  ///< by watch
  std::vector<bool> counts_;  ///< by switch: its number is no part of a mode that repeats
  std::vector<double> turn_;  ///< by component of y; 0: it has none

  // the present instant
  std::vector<double> held_in_;
  engines::Mode held_mode_;
  engines::Mode repeated_;  ///< workspace of mode_of
  model::Workspace* held_work_ = nullptr;
  bool visible_ = false;
  std::uint64_t instant_ = 0;

  Steps steps_;
  std::vector<double> least_, most_;              ///< of y so far
  std::vector<double> since_least_, since_most_;  ///< of y since the last section of any kind
  std::vector<double> own_;                       ///< range over the returns that are compared
  std::vector<double> rest_y_;                    ///< where it may have come to rest
  std::uint64_t rest_mode_ = 0;
  double rest_time_ = 0;
  double passed_ = std::numeric_limits<double>::quiet_NaN();  ///< time of the last sample row passed on
  std::vector<double> instants_;
  double leg_until_ = 0;
  bool leg_over_ = false;
  std::vector<engines::Interval> cut_;  ///< closed by the end of the leg
  std::size_t instants_met_ = 0;
  std::uint64_t hash_ = 0;
  long count_ = 0;
  std::map<std::uint64_t, Returns> returns_;

  // the period that is measured
  bool measuring_ = false;
  std::uint64_t key_ = 0;
  std::size_t returns_left_ = 0;
  Return first_;
  PeriodicMotion motion_;
  std::vector<double> cells_, shares_;
  std::vector<double> before_;  ///< t and y of the row before
  std::vector<double> track_;   ///< y at the kMeasured places, one after the other
  std::vector<int> modes_;
  double credited_ = 0;
  std::optional<PeriodicMotion> found_;
};

/// Runs until the motion is periodic (Reason::periodic) or the run ends otherwise. `system` is that of with_sections.
[[nodiscard]] engines::EngineResult run_until_periodic(const model::System& system, std::string_view engine,
                                                       engines::EngineOptions options, double forcing_period,
                                                       engines::Sink& sink,
                                                       std::optional<PeriodicMotion>& found,
                                                       const PeriodicOptions& periodic = {},
                                                       const engines::Moment* resume = nullptr);

}  // namespace judder::analysis
