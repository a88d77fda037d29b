// A mode: the status of every relation and the side of every switch. Within a mode the motion is smooth.
//
// Statuses are carried from event to event and never read off small numbers: an event sets the quantity that caused it to zero and
// says so here (mechanics: docs/theory.md).
#pragma once

#include <cstdint>
#include <vector>

namespace judder::engines {

enum class NormalStatus : std::uint8_t {
  none,    ///< no normal row: a joint
  open,    ///< gap > 0, no reaction
  closed,  ///< gap = 0, reaction ≥ 0
  held     ///< bilateral
};

enum class TangentStatus : std::uint8_t {
  free,        ///< the contact is open
  stick,       ///< slip velocity zero
  slip_plus,   ///< slip velocity positive
  slip_minus,  ///< slip velocity negative
  smooth       ///< a smooth law: no rest
};

[[nodiscard]] inline int direction(TangentStatus status) {
  return status == TangentStatus::slip_plus ? 1 : status == TangentStatus::slip_minus ? -1 : 0;
}

/// What a switch does at its surface.
enum class AtSurface : std::uint8_t {
  away,    ///< it has a side
  slides,  ///< the motion slides on it: ṡ = 0 by Filippov's combination of both sides
  rests,  ///< the same for a surface that does not see forces in its rate: ṡ = 0, and s̈ = 0 by the combination
  held  ///< something else keeps the motion on it; the side is the one that the language gives at equality
};

struct Mode {
  std::vector<NormalStatus> normal;  ///< by relation
  std::vector<std::int8_t>
      pressed;  ///< by relation: sign of the multiplier of a constraint with friction, 0 if it does not matter
  std::vector<TangentStatus> tangent;  ///< by tangential row
  std::vector<double> side;            ///< by switch; while it slides or rests a number between its two sides
  std::vector<AtSurface> surface;      ///< by switch

  /// The motion on the surface of switch k is a combination of its two sides.
  [[nodiscard]] bool slides(std::size_t k) const {
    return surface[k] == AtSurface::slides || surface[k] == AtSurface::rests;
  }

  /// Equal for equal modes in any run of the same model (FNV-1a over the statuses and sides; the coefficient of a sliding switch is
  /// not part of it).
  [[nodiscard]] std::uint64_t key() const;
  friend bool operator==(const Mode&, const Mode&) = default;
};

}  // namespace judder::engines
