// The referee: an independent reading of a run.
//
// It gets the equations of a model and what a run says of itself: the state, the mode, accelerations and reactions at both ends of every step
// and at three points inside, the limits before and after every instant, the impulses of every impact. It evaluates the laws of mechanics
// there from the model alone and reports what breaks them (docs/referee.md). It shares no code with the engines: it solves nothing, decides
// nothing, and knows no mode but the one that it is told.
//
// A departure is reported where it exceeds 100 · tolerance · scale plus the rounding of the terms; scales are the largest values seen so
// far, as in the engines. Memory is bounded and nothing is allocated after the first points.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "judder/core/verdict.hpp"
#include "judder/model/system.hpp"

namespace judder::referee {

enum class Normal : std::uint8_t { none, open, closed, held };
enum class Tangent : std::uint8_t { free, stick, plus, minus, smooth };

/// Where a switch stands.
enum class Surface : std::uint8_t {
  away,    ///< on a side
  slides,  ///< the motion is a combination of both sides that keeps it at its surface
  held     ///< something else keeps it there; its side is a convention
};

enum class Kind : std::uint8_t {
  inside,  ///< between the ends of a piece of motion
  end,     ///< end of a piece; before an instant: the limit from the left
  after    ///< the start, and the limit from the right at an instant
};

/// A point of the motion. A piece begins where the last point was, has three points inside, and an end. They lie at the inner nodes of
/// Lobatto's rule with five points, or at those of Radau's with three points and at 0.4.
struct Point {
  Kind kind = Kind::inside;
  double time = 0;
  std::span<const double> q, v, z;
  std::span<const double> side;              ///< by switch; while it slides a number between its two sides
  std::span<const Surface> surface;          ///< by switch
  std::span<const Normal> normal;            ///< by relation
  std::span<const Tangent> tangent;          ///< by tangential row
  std::span<const double> acceleration;      ///< by coordinate
  std::span<const double> rate;              ///< by state
  std::span<const double> normal_force;      ///< λ_N by relation
  std::span<const double> tangential_force;  ///< λ_T by tangential row
  std::span<const double> dissipated, supplied;  ///< work since the start by audit element; empty: not told
  bool unique = true;  ///< the reactions are the only ones; how work is shared is not known otherwise
  bool resolved =
      true;  ///< `end`: the points inside follow the motion; false: they are judged one by one only
};

/// An impact at the instant of the last point.
struct Impulse {
  double time = 0;
  std::span<const double> q, z, side;
  std::span<const double> before;              ///< velocities before it
  std::span<const double> v;                   ///< after it
  std::span<const double> normal, tangential;  ///< Λ_N by relation, Λ_T by tangential row
  bool tail = false;                           ///< stands for the rest of an accumulation
};

struct Options {
  double tolerance = 1e-9;
  bool integrals =
      true;  ///< false: steps without error control; positions are not held against the integral of velocities
  std::span<const double>
      scales;  ///< of q, v, z as far as they are known before the first point; may be empty
};

class Referee {
 public:
  Referee(const model::System& system, const Options& options);
  ~Referee();
  Referee(Referee&&) noexcept;

  /// Another run of the same system begins: as if made anew, with the memory that is there.
  void restart(const Options& options);

  void point(const Point& point);
  void impulse(const Impulse& impulse);
  /// Whether the inside of the next piece is to be told: that of the first pieces after an instant, then of every fourth. Told or not, every
  /// end is judged.
  [[nodiscard]] bool asks_inside() const;
  /// Nothing was found up to the last point.
  [[nodiscard]] bool silent();
  /// What was found up to the last point.
  [[nodiscard]] Verdict verdict();

 private:
  struct Bench;
  std::unique_ptr<Bench> bench_;
};

}  // namespace judder::referee
