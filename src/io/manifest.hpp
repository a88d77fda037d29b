// What state.json says about itself and the files beside it: how many bytes of each belong to that state, and their check.
//
//     {
//      "check": "1c…",
//      "files": { "trajectory.csv": { "bytes": 48213, "check": "0f…", "records": 1001 }, "events.csv": …, "run.json": … }, …
//
// The first check is that of all bytes behind its line. It finds what a disk, a copy or an editor has damaged; who forges a state can forge it, so that
// every number is looked at nevertheless (io/state_file.hpp).
//
// state.json is replaced by one rename, and with it the whole set: bytes of a table behind those counted here are not part of it, and where a file
// does not fit, the one that does stands beside it under the name of a draft (io/folder_lock.hpp), because the run was killed between two renames.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace judder::io {

inline const std::string kTrajectory = "trajectory.csv";
inline const std::string kEvents = "events.csv";
inline const std::string kRun = "run.json";
inline const std::string kState = "state.json";
/// The files of a run; those before the last are listed in the last.
inline const std::array<std::string, 4> kOwn = {kTrajectory, kEvents, kRun, kState};
/// Of run.json and state.json.
inline constexpr std::size_t kMostJson = std::size_t{1} << 28;

struct CommittedFile {
  std::uint64_t bytes = 0;
  std::string check{};        ///< disk::Check of these bytes
  std::uint64_t records = 0;  ///< rows of a table
};

struct Manifest {
  CommittedFile trajectory, events, run;

  [[nodiscard]] const CommittedFile& of(const std::string& file) const {
    return file == kTrajectory ? trajectory : file == kEvents ? events : run;
  }
};

/// The state with the list of files and its check in it; a text that is no JSON object stays as it is.
[[nodiscard]] std::string with_manifest(std::string_view state_json, const Manifest& manifest);
/// What is wrong with a state.json whose bytes are not those that a run wrote; empty: nothing, or it is of an earlier version.
[[nodiscard]] std::string damage_of(std::string_view state_json);
/// Nothing if the text has none: it is of an earlier version, or no state at all.
[[nodiscard]] std::optional<Manifest> read_manifest(std::string_view state_json);
/// Whether a run.json says that this program wrote it.
[[nodiscard]] bool written_by_us(std::string_view run_json);

}  // namespace judder::io
