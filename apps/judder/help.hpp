// Help texts; each fits a screen of 24 lines and 80 columns.
#pragma once

#include <string>

#include "command.hpp"

namespace judder::app {

[[nodiscard]] std::string general_help();
[[nodiscard]] std::string verb_help(const Verb& verb);
/// "judder check FILE [options]"
[[nodiscard]] std::string usage_line(const Verb& verb);

}  // namespace judder::app
