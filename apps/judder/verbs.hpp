// All verbs of the program. A new verb is one entry in verbs.cpp and one file with its function.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"

namespace judder::app {

[[nodiscard]] const std::vector<Verb>& verbs();
[[nodiscard]] const Verb* find_verb(const std::string& name);

int run_check(const Arguments& arguments);
int run_completion(const Arguments& arguments);
int run_explain(const Arguments& arguments);
int run_gallery(const Arguments& arguments);
int run_schema(const Arguments& arguments);
int run_version(const Arguments& arguments);

}  // namespace judder::app
