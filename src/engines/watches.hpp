// Watches: expressions of the author whose zeros are listed and may end the run, and the switches that they alone read. They move nothing: a run is the same
// without them, but for the ends of its steps.
//
// A watch is crossed where its expression goes through zero, or jumps through it at an instant. Rounding must not cross it twice, nor hide a crossing: its sign
// is carried from where it was beyond doubt (side) over zeros and over values that are less than their error; what is zero at an instant has the sign that the
// motion is about to give it.
//
// A switch that only watches read has a side as others have. It changes where its own zero is met, at the instants of the timetable, and wherever another
// event moves its surface.
//
// An engine says what it meets (meet, reach, cross), notes the values before an instant, and asks behind it what has jumped. Where a function goes from here, and
// what rounding leaves of it, is asked through MotionAhead.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "guards.hpp"
#include "judder/engines/event.hpp"
#include "judder/engines/mode.hpp"
#include "judder/model/system.hpp"
#include "nested_sides.hpp"
#include "timetable.hpp"

namespace judder::engines {

/// The motion behind the present instant, at the state in the workspace.
class MotionAhead {
 public:
  virtual ~MotionAhead() = default;
  /// Where a function that has the value `level` now, to twice `bound`, goes from here: +1, −1, or 0 where the motion leaves it there.
  [[nodiscard]] virtual int direction(const expr::Program& value, double level, double bound) = 0;
  /// What rounding makes of a function.
  [[nodiscard]] virtual double rounding(const expr::Program& value) = 0;
};

class Watches {
 public:
  static constexpr double kRoundingUnits = 8;  ///< within this many rounding bounds a function is at zero

  explicit Watches(const model::System& system);

  /// A run begins: no sign is known, nothing has been counted.
  void start();
  void begin_instant();

  [[nodiscard]] bool empty() const { return side_.empty(); }
  /// The author asks for crossings in this direction.
  [[nodiscard]] bool counts(int watch, bool rising) const;
  /// Sign that the watch has, carried over its zeros; 0: not known.
  [[nodiscard]] int side(int watch) const { return side_[watch]; }
  void carry(int watch, int side) { side_[watch] = static_cast<std::int8_t>(side); }
  /// Its zero brought about the present instant, or its event left it there: it begins the next phase at zero.
  [[nodiscard]] bool fresh(int watch) const { return fresh_[watch] != 0; }

  /// A zero of its expression lies at the end of the step.
  void meet(int watch, bool rising) { rising_[watch] = rising ? 1 : 0; }
  /// That zero is the present instant, at which switches may turn: what has become of it is seen behind them (jumped).
  void reach(int watch) { reached_[watch] = 1; }
  /// That zero is a crossing: up or down. It is counted.
  Word cross(int watch);
  /// Values before the present instant.
  void note_before(model::Workspace& work);
  /// Behind the instant, with the value `after` of its guard: up or down where it has jumped through zero, or is zero and goes on to the other side; then it is
  /// counted.
  [[nodiscard]] std::optional<Word> jumped(const Guard& guard, double after, MotionAhead& ahead);
  /// Some watch has been crossed as often as the author wants.
  [[nodiscard]] bool stopped() const { return stopped_; }

  /// How often each was crossed, and signs: for a run that goes on.
  [[nodiscard]] const std::vector<long>& crossings() const { return crossings_; }
  void save_sides(std::vector<double>& out) const;
  /// Nothing is at zero where a run is taken up.
  void load_crossings(const std::vector<long>& crossings);
  void load_sides(std::span<const double> saved);

 private:
  void count(int watch);

  const model::System& system_;
  std::vector<std::int8_t> side_;
  std::vector<std::uint8_t> rising_, fresh_, reached_;
  std::vector<double> before_;
  std::vector<long> crossings_;
  bool stopped_ = false;
};

class ObservedSwitches {
 public:
  explicit ObservedSwitches(const model::System& system);

  /// A run begins: nothing has been crossed.
  void start();

  [[nodiscard]] bool empty() const { return crossed_.empty(); }
  /// The zero of this guard is the present instant: the side that its switch goes to.
  void cross(const Guard& guard, model::Workspace& work);
  /// Sides at the instant t, in work.in: those of time alone. True: one has changed. Then the motion is evaluated, and take() asked.
  [[nodiscard]] bool take_timetable(double t, Timetable& timetable, model::Workspace& work);
  /// The others, inner ones first: one that was crossed by its crossing, others by value; at a level by where the motion goes, and if it stays there, the side that
  /// the language gives. `before` is the mode before the instant. True: one has changed.
  [[nodiscard]] bool take(const Mode& mode, const Mode& before, model::Workspace& work, MotionAhead& ahead);

 private:
  [[nodiscard]] bool inner_turned(const model::SwitchInfo& info, const Mode& mode, const Mode& before) const;

  const model::System& system_;
  std::vector<std::uint8_t> crossed_;  ///< its own zero is the present instant
  std::vector<std::uint8_t> turned_;   ///< it has changed its side at this instant
  std::vector<double> crossed_side_;   ///< the side that it then goes to
  std::vector<double> crossed_value_;  ///< its surface there
  std::vector<double> before_;         ///< its side before
};

}  // namespace judder::engines
