// How many cases a random test runs: all of them in a full run, a fiftieth (but at least 200) otherwise; in a build with sanitizers, which is ten
// times slower, a five-hundredth (but at least 20).
#pragma once

#include <algorithm>
#include <cstdlib>

namespace judder {

/// `full` when the environment variable JUDDER_FULL is set and not empty, else max(full/50, 200), or max(full/500, 20) in a slow build.
inline int count(int full) {
  const char* wish = std::getenv("JUDDER_FULL");
  if (wish != nullptr && *wish != '\0') return full;
#ifdef JUDDER_SLOW_BUILD
  return std::max(full / 500, 20);
#else
  return std::max(full / 50, 200);
#endif
}

}  // namespace judder
