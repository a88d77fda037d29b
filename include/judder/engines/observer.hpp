// What an engine tells of a run to somebody who judges it: every step and every instant, whatever the output asks for.
//
// The story begins with `after` at the start. Each step, each piece of a closed form and each time of rest is told as three points
// `inside` and one `end`; it began where the last one ended. Of a step that nobody asks about (asks_inside) the end is told alone. At an instant the `end` of the step is the limit before it; then come the
// impulses, one call per impact, and the limit `after` it.
#pragma once

#include <cstdint>
#include <span>

#include "judder/engines/event.hpp"
#include "judder/engines/mode.hpp"

namespace judder::engines {

enum class Telling : std::uint8_t { inside, end, after };

struct ToldPoint {
  Telling kind = Telling::inside;
  std::span<const double> in;  ///< inputs of the model (model::Layout): time, state, sides
  const Mode* mode = nullptr;
  std::span<const double> acceleration, rate;    ///< by coordinate; by state
  std::span<const double> normal, tangent;       ///< λ_N by relation, λ_T by tangential row
  std::span<const double> dissipated, supplied;  ///< work by audit element; empty where it is not known
  bool unique = true;                            ///< the reactions are the only ones that give this motion
  bool resolved = true;                          ///< `end`: the three points follow the motion between them
};

struct ToldImpulses {
  std::span<const double> before;           ///< velocities before the impact
  std::span<const double> in;               ///< with the velocities after the impact
  std::span<const double> normal, tangent;  ///< Λ_N by relation, Λ_T by tangential row
  bool tail = false;                        ///< stands for the rest of an accumulation
};

/// The motion along a step, at any time of it: the dense output of the engine, with accelerations and reactions.
class Along {
 public:
  virtual ~Along() = default;
  /// Of the kind `inside`; valid until the next call. Null: nothing can be evaluated there.
  [[nodiscard]] virtual const ToldPoint* at(double time) = 0;
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void point(const ToldPoint& point) = 0;
  virtual void impulses(const ToldImpulses& impulses) = 0;
  virtual void event(const Event& event) { (void)event; }
  /// Whether the inside of the coming step is to be told: points there cost as much as stages of the step.
  [[nodiscard]] virtual bool asks_inside() const { return true; }
  /// Whether along() is to be called for the coming step, before its end is told.
  [[nodiscard]] virtual bool asks_along() const { return false; }
  virtual void along(double from, double to, Along& motion) {
    static_cast<void>(from);
    static_cast<void>(to);
    static_cast<void>(motion);
  }
};

}  // namespace judder::engines
