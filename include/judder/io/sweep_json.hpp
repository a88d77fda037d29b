// What `--json` says of many runs.
#pragma once

#include <cstddef>
#include <string>

namespace judder::io {

struct SweepSummary {
  std::string table;
  std::size_t members = 0, made = 0, failed = 0;
  std::string first_failure;
  double seconds = 0, compile_seconds = 0;
};

/// { table, members, made, failed, first_failure, seconds, compile_seconds, per_second }
[[nodiscard]] std::string sweep_json(const SweepSummary& summary);

}  // namespace judder::io
