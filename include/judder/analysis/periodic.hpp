// Convergence of a motion to a periodic one, noticed while it runs.
//
// A section is an instant that can come back: an event of the model (stick, impact, slide-begin, a watch), the extreme of a coordinate or
// state, or, where the forces repeat with a period T, every whole multiple of T. At each section the state y_k after it is
// compared with those of the sections of the same kind before it. With d_k = |y_k − y_{k−p}|, each component relative to the range that it has
// had so far, the motion is taken for periodic with p returns when
//
//     events and modes have been the same over two periods,   d_k ≤ accuracy,   d_k ρ/(1 − ρ) ≤ accuracy,   ρ = d_k/d_{k−p}
//
// the last being the distance that is still to go if it shrinks by ρ per period. One more period is then followed and measured. Motions
// in forced systems are compared at multiples of T only; nothing else says that the force will repeat.
//
// Coordinates and states on which nothing depends but their rates (an angle of a wheel, the way of a sled) may drift; the drift per period
// is reported. A motion whose range in the last period is below the accuracy is an equilibrium.
//
// Memory is bounded: a few dozen states per kind of section, and the events of one period.
#pragma once

#include <atomic>
#include <cstdint>
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
};

struct PeriodicMotion {
  bool equilibrium = false;  ///< it came to rest, or slides steadily
  double from = 0, to = 0;   ///< the period that was measured
  double period = 0;
  double forcing_period = 0;  ///< T; 0: nothing depends on time
  double distance = 0;        ///< estimate of what is still to go, relative
  double contraction = 0;     ///< ρ of the last two periods; NaN: below rounding
  struct Range {
    std::string name;
    double least = 0, most = 0;
  };
  /// Coordinates, velocities, states, output columns. Extremes of coordinates, and of states whose rates do not jump, are located; others
  /// are the extremes of the rows.
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
    double change = 0;  ///< per period
  };
  std::vector<Drift> drifts;

  static constexpr std::size_t kMostEvents = 1000;
};

/// The period with which everything that depends on time repeats: 0 if nothing does; nothing if there is none (ramps, tables,
/// incommensurable frequencies). Formulas say which periods there are; that their common multiple (up to 1000 of each) is a period is checked by
/// evaluating forces, rates, gaps, slips and laws.
[[nodiscard]] std::optional<double> forcing_period(const model::System& system);

/// The model with further watches, `judder_section_…`, at the extremes of its first eight coordinates and states and at multiples of T. A
/// PeriodMonitor uses them and shows them to nobody.
[[nodiscard]] model::Spec with_sections(const model::Spec& spec, const model::System& system,
                                        double forcing_period);

/// Passes a run on to another sink and looks for its period. The run must have event rows, and `cancel()` as its cancel flag:
/// it is set when the period is found.
class PeriodMonitor : public engines::Sink {
 public:
  /// `system` is that of with_sections. `event_rows`: whether `inner` wants them. `user` is the cancel flag of somebody else, or nullptr.
  PeriodMonitor(const model::System& system, const engines::EngineOptions& options, double forcing_period,
                engines::Sink& inner, const PeriodicOptions& periodic = {});

  void row(engines::RowKind kind, const engines::Mode& mode, model::Workspace& work) override;
  void event(const engines::Event& event) override;
  void interval(const engines::Interval& interval) override { inner_.interval(interval); }
  void progress(double time) override;

  [[nodiscard]] const std::atomic<bool>* cancel() const { return &cancel_; }
  [[nodiscard]] const std::optional<PeriodicMotion>& found() const { return found_; }

 private:
  struct Return {
    double time = 0;
    std::uint64_t mode = 0, hash = 0;
    long count = 0;  ///< visible events so far
    std::vector<double> y;
  };
  struct Returns {
    std::vector<Return> ring;
    std::size_t next = 0, size = 0;
    [[nodiscard]] const Return& back(std::size_t p) const {
      return ring[(next + 2 * ring.size() - 1 - p) % ring.size()];
    }
  };
  void note_state(const model::Workspace& work);
  void section(const engines::Mode& mode, const model::Workspace& work);
  void look_for_period(std::uint64_t key, const Returns& returns);
  [[nodiscard]] bool shorter_is_coming(const Returns& returns, std::size_t p) const;
  [[nodiscard]] double distance(const Return& a, const Return& b) const;
  [[nodiscard]] bool same_events(const Return& a, const Return& b, const Return& c) const;
  void begin_measuring(std::uint64_t key, std::size_t returns);
  void measure_row(const engines::Mode& mode, model::Workspace& work);
  void credit(double time);
  void take_modes(const engines::Mode& mode);
  void finish(const Return& last);
  [[nodiscard]] bool sample_time(double time) const;

  const model::System& system_;
  const engines::EngineOptions options_;
  const double forcing_;
  engines::Sink& inner_;
  const PeriodicOptions periodic_;
  std::atomic<bool> cancel_{false};
  const std::atomic<bool>* user_;
  std::vector<bool> hidden_;  ///< by watch
  int strobe_ = -1;           ///< the watch at multiples of T

  // the present instant
  std::vector<double> held_in_;
  engines::Mode held_mode_;
  model::Workspace* held_work_ = nullptr;
  bool visible_ = false, strobed_ = false;
  std::uint64_t instant_ = 0;

  std::vector<double> least_, most_;  ///< of y so far
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
