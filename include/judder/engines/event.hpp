// Events as the engines report them: plain numbers, turned into words only when they are written.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "judder/model/system.hpp"

namespace judder::engines {

enum class EventKind : std::uint8_t {
  impact,
  contact,
  lift_off,
  stick,
  slip,
  reversal,
  tangential_impact,
  accumulation,
  painleve,
  switch_side,
  slide_begin,
  slide_end,
  graze,
  jump,  ///< of the coordinates at a frozen time, in quasi-static evolution; place −1
  watch
};

enum class Word : std::uint8_t {
  none,
  rest,
  rebound,
  stick,
  slip_plus,
  slip_minus,
  slip,
  plus,
  minus,
  up,
  down,
  inconsistent,
  indeterminate,
  below,
  above,
  level,
  jam
};

struct Event {
  double time = 0;
  EventKind kind = EventKind::impact;
  int place = 0;  ///< relation; switch for switch_side, slide_begin, slide_end; watch; see `on_switch`
  bool on_switch = false;  ///< graze or accumulation of a switch
  std::array<Word, 2> words{Word::none, Word::none};
  std::array<double, 2>
      numbers{};  ///< accumulation: count, remaining time; graze: depth; level: the new level; jump: arc length
  double normal_impulse = 0;
  std::array<double, 3> tangential_impulse{};
  double energy_before = 0;
  double energy_after = 0;
  double energy_gain = 0;  ///< > 0: an impact law created this much energy
  double bound = 0;        ///< error bound of the time, for engines that know one
  std::uint64_t mode = 0;  ///< key of the mode after it
};

/// "impact", "lift-off", "switch", …: column `kind` of events.csv.
[[nodiscard]] const char* name(EventKind kind);
/// Column `where`: the element's or switch's name.
[[nodiscard]] std::string where(const model::System& system, const Event& event);
/// Column `detail`.
[[nodiscard]] std::string detail(const model::System& system, const Event& event);

}  // namespace judder::engines
