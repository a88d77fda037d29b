// How many cases a random test runs: all of them in a full run, a fiftieth (but at least 200) otherwise.
#pragma once

#include <algorithm>
#include <cstdlib>

namespace judder {

/// `full` when the environment variable JUDDER_FULL is set and not empty, else max(full/50, 200).
inline int count(int full) {
  const char* wish = std::getenv("JUDDER_FULL");
  return wish != nullptr && *wish != '\0' ? full : std::max(full / 50, 200);
}

}  // namespace judder
