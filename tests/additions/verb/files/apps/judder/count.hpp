#pragma once

#include "command.hpp"

namespace judder::app {

[[nodiscard]] Verb count_verb();

}  // namespace judder::app
