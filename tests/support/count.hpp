// How many cases a random test runs: all of them in a full run, a fiftieth (but at least 200) otherwise, and half of that under the sanitizers.
#pragma once

#include <algorithm>
#include <cstdlib>

namespace judder {

#ifdef JUDDER_SLOW_BUILD
inline constexpr int kQuickShare = 100;
#else
inline constexpr int kQuickShare = 50;
#endif

/// `full` when the environment variable JUDDER_FULL is set and not empty, else a share of it.
inline int count(int full) {
  const char* wish = std::getenv("JUDDER_FULL");
  return wish != nullptr && *wish != '\0' ? full : std::max(full / kQuickShare, 10000 / kQuickShare);
}

}  // namespace judder
