// The engines with fixed steps, for the registry: names, options, what they cannot run.
#pragma once

#include <vector>

#include "judder/engines/registry.hpp"

namespace judder::engines {

[[nodiscard]] std::vector<EngineEntry> stepping_engines();

}  // namespace judder::engines
