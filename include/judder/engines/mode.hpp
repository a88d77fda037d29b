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

struct Mode {
  std::vector<NormalStatus> normal;  ///< by relation
  std::vector<std::int8_t>
      pressed;  ///< by relation: sign of the multiplier of a constraint with friction, 0 if it does not matter
  std::vector<TangentStatus> tangent;  ///< by tangential row
  std::vector<double> side;            ///< by switch
  std::vector<std::uint8_t> sliding;   ///< by switch: 1 while the motion slides on its surface

  /// Equal for equal modes in any run of the same model (FNV-1a over the statuses and sides; the coefficient of a sliding switch is
  /// not part of it).
  [[nodiscard]] std::uint64_t key() const;
  friend bool operator==(const Mode&, const Mode&) = default;
};

}  // namespace judder::engines
