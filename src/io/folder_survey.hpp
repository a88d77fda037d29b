// What is in a run folder before a run writes there: the set that state.json lists, what a killed run has left to do, and what is somebody else's.
//
// A set counts from the rename of its state.json on. A kill may come before its other files have their names: the one that fits the list then
// stands under the name of a draft, which the lock of the killed run knows. To look changes nothing, so that whoever is refused leaves all as it was;
// `carry_out` gives the drafts that count their names and removes the others. An error while reading is never taken for a file that is absent
// or another one: it stops everything.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/disk.hpp"
#include "io/folder_lock.hpp"
#include "io/manifest.hpp"
#include "judder/io/run_folder.hpp"

namespace judder::io {

class FolderSurvey {
 public:
  /// The folder, its name for messages, and its lock, which is held; all three outlive the survey.
  FolderSurvey(const disk::Handle& folder, const std::filesystem::path& shown, const FolderLock& lock)
      : folder_(folder), shown_(shown), lock_(lock) {}

  FileStatus look();
  /// What can be seen before anything is locked, and without a change to the folder: it is somebody else's. Not a word for what another run may be
  /// changing at this moment.
  FileStatus look_before_locking();
  /// A file that no run wrote, or that was changed since, is not replaced without a word.
  [[nodiscard]] FileStatus refuse_foreign() const;
  /// Who goes on needs the whole set.
  [[nodiscard]] FileStatus refuse_missing() const;
  /// Finishes what a killed run began.
  [[nodiscard]] FileStatus carry_out() const;

  [[nodiscard]] const std::optional<Manifest>& manifest() const { return manifest_; }
  [[nodiscard]] const std::string& state() const { return state_; }
  /// The name under which the best of a file stands, of the first three of kOwn.
  [[nodiscard]] const std::string& place_of(std::size_t own) const {
    return draft_[own].empty() ? kOwn[own] : draft_[own];
  }

  /// Bytes behind the committed ones.
  [[nodiscard]] std::uint64_t more(std::size_t own) const { return found_[own].more; }
  /// Whether a killed run has left such bytes in a table.
  [[nodiscard]] bool has_more() const { return found_[0].more > 0 || found_[1].more > 0; }
  /// What `place_of` was when it was looked at; nothing: it is not there.
  [[nodiscard]] std::optional<struct stat> about(std::size_t own) const {
    return found_[own].fits() ? std::optional(found_[own].about) : std::nullopt;
  }

  /// What stands under a name, beside what state.json lists.
  struct Found {
    enum class Fit { absent, fits, differs, unreadable } fit = Fit::absent;
    std::uint64_t more = 0;  ///< bytes behind the committed ones
    int error = 0;           ///< why it cannot be read: then nobody knows whether it fits
    struct stat about {};
    [[nodiscard]] bool fits() const { return fit == Fit::fits; }
  };

 private:
  FileStatus look_at_state();
  FileStatus find_best(std::size_t own);
  [[nodiscard]] FileStatus refuse_without_run() const;
  [[nodiscard]] FileStatus changed(const std::string& own, const CommittedFile& wanted) const;

  const disk::Handle& folder_;
  const std::filesystem::path& shown_;
  const FolderLock& lock_;
  std::optional<Manifest> manifest_;
  std::string state_;
  std::array<Found, 3> found_{};  // of the first three of kOwn: the best there is
  std::array<std::string, 3>
      draft_{};  // the draft that is to become the file; empty: the file itself is the best
  std::vector<std::string> stale_;  // drafts that nothing needs any more
};

/// Whether the files under their own names are a whole set and nothing more: such a folder is a run, whatever it is called.
FileStatus is_whole_set(const disk::Handle& folder, const std::filesystem::path& shown, bool& out);

/// The name of something in a folder for a new run that no run puts there; empty: there is none.
int find_stranger(const disk::Handle& folder, const std::vector<std::string>& drafts, std::string& out);

}  // namespace judder::io
