// The descriptions of the verbs with many runs.
#pragma once

#include "command.hpp"

namespace judder::app {

[[nodiscard]] Verb sweep_verb();
[[nodiscard]] Verb bifurcation_verb();
[[nodiscard]] Verb basin_verb();

}  // namespace judder::app
