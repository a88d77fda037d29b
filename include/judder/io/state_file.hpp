// state.json: a Moment as text, complete and exact.
//
// Numbers are the shortest texts that read back as the same double; what is not finite stands as "inf", "-inf" or "nan". Names of coordinates,
// states, relations and watches stand beside the numbers, so that a state is only taken up by a model that has the same ones; values of
// parameters may differ (go on under another load).
#pragma once

#include <string>
#include <string_view>

#include "judder/engines/engine.hpp"

namespace judder::io {

[[nodiscard]] std::string state_json(const model::System& system, const engines::Moment& moment);

/// Reads what `state_json` wrote. Returns what is wrong: not JSON, not a state, or the state of another model; empty: all is well.
[[nodiscard]] std::string read_state(std::string_view text, const model::System& system,
                                     engines::Moment& moment);

}  // namespace judder::io
