// Where motions end up: each is known by a few numbers, and those that are one motion are put together.
//
//     at rest      nothing moves any more, or the motion is damped smoothly towards a point where nothing does (analysis/approach.hpp). Sticking friction holds a body wherever
//                  it has stopped, so that all such ends with the same contacts sticking are one set; without friction an end is a point
//     equilibrium  the same while a contact slides steadily on something that moves
//     periodic     by its least period, its events and its ranges
//     drifting     periodic or steady but for coordinates on which nothing depends (an angle, a way), or that grow by whole turns (a pendulum that goes round)
//     unbounded    a coordinate, velocity or state has left the bound
//     not settled  none of these until the end of the run: chaotic, or slow
//     failed       the run has ended early, or there were no equations
//
// Periods are found as in analysis/periodic.hpp. A motion has the same description whichever start it comes from, up to its accuracy; two
// descriptions are of one motion if kind, events and modes are equal and period and ranges agree within `same` of their size.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judder/analysis/approach.hpp"
#include "judder/analysis/periodic.hpp"
#include "judder/engines/engine.hpp"

namespace judder::analysis {

enum class EndKind : unsigned char { rest, equilibrium, periodic, drifting, unbounded, not_settled, failed };
[[nodiscard]] const char* name(EndKind kind);

/// Where one motion has ended up.
struct MotionEnd {
  EndKind kind = EndKind::failed;
  bool set = false;  ///< at rest, held by friction
  double period = 0;
  double mode = 0;                  ///< key of modes and events, as a number that a double holds
  std::vector<double> least, most;  ///< of coordinates, velocities, states
  std::vector<double> drift;        ///< of the same per period, or per unit of time
  std::vector<double> reach;        ///< of the same: largest less least value of the whole motion
  std::string events;               ///< of one period, or why it failed

  /// As numbers of a record, size(components) of them, and back.
  [[nodiscard]] static std::size_t size(std::size_t components) { return 4 + 4 * components; }
  void put(std::span<double> out) const;
  static MotionEnd get(std::span<const double> numbers, std::string_view events);
};

/// Looks at one run and says where it ends up.
class EndFinder {
 public:
  /// `bound`: of what counts as unbounded; infinite: nothing does.
  EndFinder(const model::System& system, double forcing_period, double bound);
  /// False: interrupted. `system` is the one that is run (with_sections).
  bool find(std::string_view engine, engines::EngineOptions options, const std::atomic<bool>* cancel,
            MotionEnd& out);

 private:
  [[nodiscard]] MotionEnd describe(const PeriodicMotion& motion, const engines::Moment& end) const;
  void describe(const ApproachedRest& rest, const engines::Moment& end, MotionEnd& out) const;
  void note_modes(const engines::Mode& mode, std::uint64_t& hash, MotionEnd& out) const;

  const model::System& system_;
  ApproachFinder approach_;
  std::vector<double> turns_;
  double forcing_, bound_;
};

/// Motions that are one, with what all of them cover.
struct Attractor {
  MotionEnd first;                  ///< as it was met first
  std::vector<double> least, most;  ///< over all members, for sets
  std::size_t members = 0;
};

/// Puts ends together in the order in which they come. The number of the attractor.
class Attractors {
 public:
  explicit Attractors(double same = 1e-3) : same_(same) {}
  std::size_t add(const MotionEnd& end);
  [[nodiscard]] const std::vector<Attractor>& all() const { return all_; }

 private:
  [[nodiscard]] bool one(const MotionEnd& a, const Attractor& of) const;
  double same_;
  std::vector<Attractor> all_;
};

/// What a picture of basins says of its boundary; labels by row, −1: not known.
struct Boundary {
  /// By distance in cells, 1, 2, 4, …: the share of cells for which a neighbour at this distance along an axis ends elsewhere.
  std::vector<std::pair<int, double>> uncertain;
  double exponent = 0;  ///< slope of log(share) over log(distance); NaN: there is no boundary
  /// Mean over boxes of 5 × 5 cells of −Σ p ln p, over all boxes and over those with several labels (A. Daza et al., Basin entropy, 2016).
  double entropy = 0, boundary_entropy = 0;
};
[[nodiscard]] Boundary boundary_of(const std::vector<int>& labels, std::size_t rows, std::size_t columns);

}  // namespace judder::analysis
