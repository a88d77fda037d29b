// Help texts; each fits a screen of 24 lines and 80 columns.
#pragma once

#include <string>

#include "command.hpp"

namespace judder::app {

[[nodiscard]] std::string general_help();
/// `all`: also the options that are rarely wanted; then it may be longer than a screen.
[[nodiscard]] std::string verb_help(const Verb& verb, bool all = false);
/// The reference page of all verbs (docs/command-line.md), in Markdown.
[[nodiscard]] std::string command_reference();
/// "judder check FILE [options]"
[[nodiscard]] std::string usage_line(const Verb& verb);

}  // namespace judder::app
