#include "engines/event/instant_state.hpp"

#include <algorithm>

namespace judder::engines {

InstantState::InstantState(const Phase& now) {
  const model::Layout& layout = now.layout;
  const std::vector<model::SwitchInfo>& switches = now.system.switches();
  nested = std::any_of(switches.begin(), switches.end(), [](const model::SwitchInfo& info) {
    return !info.inner.empty() || info.live.outputs() > 0;
  });
  landed.resize(layout.switches);
  carried.resize(layout.switches);
  dead.resize(layout.switches);
  exit_side.resize(layout.switches);
  push_zeros.resize(2 * layout.switches);
  surface_before.resize(layout.switches);
  slip_before.resize(layout.tangents);
  lower.resize(layout.switches);
  listed_side.resize(layout.switches);
  speed_before.resize(layout.coordinates);
  touching.resize(layout.relations);
  fresh_relation.resize(layout.relations);
  fresh_tangent.resize(layout.tangents);
  slip_returned.resize(layout.tangents);
  let_go.resize(layout.tangents);
  fresh_switch.resize(layout.switches);
  exclusions = now.decider.no_exclusions();
  no_exclusions = now.decider.no_exclusions();
  kept_exclusions = now.decider.no_exclusions();
  block_of.assign(layout.switches, -1);
  block_of_component.assign(layout.coordinates + layout.states, -1);
  changed.reserve(2 * layout.switches);
  open.reserve(layout.switches);
  seen_open.reserve(layout.switches);
  later.reserve(layout.switches);
  at_surface.reserve(layout.switches);
}

bool InstantState::acts_on_block(const model::System& system, int k) const {
  if (block < 0 || block_of[k] == block) return true;
  const model::SwitchInfo& info = system.switches()[k];
  const auto is_here = [this](int component) { return block_of_component[component] == block; };
  const int coordinates = system.layout().coordinates;
  return std::any_of(info.moves.begin(), info.moves.end(), is_here) ||
         std::any_of(info.feeds.begin(), info.feeds.end(), [&](int z) { return is_here(coordinates + z); }) ||
         std::any_of(info.relations.begin(), info.relations.end(), [&](int r) {
           const std::vector<int>& touches = system.relations()[r].touches;
           return !touches.empty() && is_here(touches.front());
         });
}

}  // namespace judder::engines
