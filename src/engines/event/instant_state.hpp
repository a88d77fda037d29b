// What is known of the present instant while it is decided, and what stays known of switches between instants.
//
// An instant begins with what has brought the motion here and ends with the next mode (instant.hpp, settling.hpp). Its parts share these facts; each says who may
// still change it.
#pragma once

#include <cstdint>
#include <vector>

#include "engines/event/phase.hpp"

namespace judder::engines {

struct InstantState {
  explicit InstantState(const Phase& now);

  Mode reference;                            ///< what changes of the present instant are compared with
  int tangential_impacts = 0;                ///< at the present instant
  std::vector<std::uint8_t> touching;        ///< by relation, at the present event
  std::vector<std::uint8_t> fresh_relation;  ///< status changed at the last event
  std::vector<std::uint8_t> fresh_tangent, fresh_switch;
  std::vector<std::uint8_t>
      slip_returned;  ///< by tangential row: it touches zero at this instant, and goes on
  Mode entering;      ///< statuses as the present instant knows them before anything is decided
  Decider::Exclusions exclusions;
  Decider::Exclusions no_exclusions;
  Decider::Exclusions kept_exclusions;  ///< with other sides: those of massless nodes
  std::vector<int> changed;
  std::vector<int> at_surface;       ///< switches whose own zero brought us here
  std::vector<std::uint8_t> landed;  ///< the same by switch
  std::vector<std::uint8_t> dead;    ///< by switch: it stands in a branch that is not taken
  std::vector<std::uint8_t>
      carried;  ///< by switch: in E at this instant, until a jump moves the surface away
  std::vector<std::int8_t>
      exit_side;  ///< by switch: where it has just ceased to slide, the side that it leaves to; ±2 where it was held
  std::vector<std::int8_t>
      push_zeros;  ///< by switch that slides, lower and upper side: order of the zero that its push grows from
  std::vector<double> surface_before;  ///< by switch: its surface when the present instant began
  std::vector<double> slip_before;     ///< by row: its slip then, where it may jump
  std::vector<double> speed_before;    ///< |v| by coordinate, then
  std::vector<double> lower;           ///< by switch: the side below the level that it is nearest to
  std::vector<double> listed_side;     ///< by switch: listed last; NaN while it slides
  std::vector<int>
      open;  ///< E: surfaces that this instant decides; while blocks are decided, those of the present one
  std::vector<int> seen_open;  ///< surfaces at zero that this instant has decided
  std::vector<int> later;      ///< surfaces at zero that contain some of E: decided after these
  /// Blocks of E and of what acts on it (coupling.hpp): by switch, and by coordinate and state; −1: none of them. `block` is the one that
  /// is being decided, and nothing else is: surfaces and rows of other blocks are what they are.
  std::vector<int> block_of, block_of_component;
  int block = -1;
  /// By tangential row: let go, because it held only with sides that the motion refutes.
  std::vector<std::uint8_t> let_go;
  bool letting_go = false;   ///< there are some
  bool nested = false;       ///< some surface contains the side of a switch
  bool strikes = false;      ///< contacts of touching_ approach, or a constraint has got a rate
  bool probing = false;      ///< a decision is tried: it lists nothing and ends nothing
  bool rests_asked = false;  ///< also where the engine cannot follow the motion there
  bool quiet = false;        ///< the modes at the start are no events
  bool quiet_rows = false;   ///< nothing listed happens at this instant: no rows for it

  [[nodiscard]] bool in_block(int k) const { return block < 0 || block_of[k] == block; }
  /// Whether switch k acts on what is being decided.
  [[nodiscard]] bool acts_on_block(const model::System& system, int k) const;
};

}  // namespace judder::engines
