// What state.json says about the files beside it: how many bytes of each belong to that state, and their check.
//
//     { "files": { "trajectory.csv": { "bytes": 48213, "check": "0f…", "records": 1001 }, "events.csv": …, "run.json": … }, …
//
// state.json is replaced by one rename, and with it the whole set: bytes of a table behind those counted here are not part of it, and where a file
// does not fit, the one that does stands beside it with ".tmp" at its name, because the run was killed between two renames.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace judder::io {

struct CommittedFile {
  std::uint64_t bytes = 0;
  std::string check{};        ///< disk::Check of these bytes
  std::uint64_t records = 0;  ///< rows of a table
};

struct Manifest {
  CommittedFile trajectory, events, run;
};

/// The state with the list of files in it; a text that is no JSON object stays as it is.
[[nodiscard]] std::string with_manifest(std::string_view state_json, const Manifest& manifest);
/// Nothing if the text has none: it is of an earlier version, or no state at all.
[[nodiscard]] std::optional<Manifest> read_manifest(std::string_view state_json);
/// Whether a run.json says that this program wrote it.
[[nodiscard]] bool written_by_us(std::string_view run_json);

}  // namespace judder::io
