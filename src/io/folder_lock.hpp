// A run folder belongs to one run at a time.
//
// The lock is flock(2) on the folder itself, which nobody can take away from under a run, and on the file `lock` in it, for file systems that lock no
// folders. Both end with their process, however that ends. The file says who holds the folder and which names the drafts of that run have; what a dead
// process left there is taken over. The holder removes the file at the end, still holding it: whoever opened it before finds that it is no
// longer the one in the folder and looks again.
//
// Whoever takes over a file that names drafts which are still there writes behind that, so that a power cut never takes the names of the drafts
// away. Of a note that was just being written a power cut leaves the beginning, or zeros, or nothing: that is known as ours by what else the
// folder holds, since no draft is made before the note is on the disk.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/disk.hpp"
#include "judder/io/run_folder.hpp"

namespace judder::io {

inline constexpr const char* kLockName = "lock";

class FolderLock {
 public:
  /// `shown` is the folder's name for messages. A folder that is in use is refused with the process and its time. The file of a run that did not end by
  /// itself is left as it is until `sign`: whoever is refused afterwards has changed nothing.
  FileStatus take(const disk::Handle& folder, const std::filesystem::path& shown);
  /// Writes this run into the file that was taken over, behind the words of the drafts that are there.
  FileStatus sign(const std::filesystem::path& shown);
  /// Whether the folder is still ours. A file that was removed is put back as long as the folder itself is locked.
  FileStatus hold(const disk::Handle& folder, const std::filesystem::path& shown);
  /// Removes the file and lets go.
  void release(const disk::Handle& folder);
  /// Lets go and leaves everything as it was found: the file of a killed run stays, a new one goes.
  void give_back(const disk::Handle& folder);
  /// Lets go as a kill would: the file stays, for the next run to see that this one could not put its folder in order.
  void abandon();
  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(file_); }
  [[nodiscard]] const disk::Handle& file() const { return file_; }
  /// Whether the folder itself is locked, so that nobody comes in without the file.
  [[nodiscard]] bool holds_folder() const { return static_cast<bool>(place_); }
  /// Whether `hold` found that the file is gone, or somebody else's.
  [[nodiscard]] bool lost() const { return lost_; }
  /// Whether the lock of a run that did not end by itself was found: it may have left records behind its last save, and drafts.
  [[nodiscard]] bool taken_over() const { return found_ != Found::nothing; }
  /// Of a file with the name of the lock that no run has written.
  static constexpr const char* kForeign =
      "is in the way: not a file of a run; move it away, or choose another folder with -o";
  /// What the file held when it was taken.
  enum class Found {
    nothing,  ///< there was none
    empty,    ///< not a byte
    zeros,    ///< zeros alone
    torn,     ///< letters that a note has at their places, the first word of one not whole
    note
  };
  [[nodiscard]] Found found() const { return found_; }

  /// The name under which this run writes `file` before it counts: nobody can guess it, so that no file of somebody else has it.
  [[nodiscard]] std::string draft(const std::string& file) const { return draft(file, word_); }
  /// The same of this run and of those that did not end by themselves.
  [[nodiscard]] std::vector<std::string> drafts(const std::string& file) const;
  /// Whether `name` can be a draft of `file`, of whichever run.
  static bool is_draft(std::string_view name, const std::string& file);

 private:
  static std::string draft(const std::string& file, const std::string& word) {
    return file + "." + word + ".tmp";
  }
  FileStatus take_file(const disk::Handle& folder, const std::filesystem::path& shown);
  /// Those of which there are no drafts any more need not be known.
  void forget_words(const disk::Handle& folder);
  [[nodiscard]] std::string note() const;

  disk::Handle place_;  // the folder, if it could be locked
  disk::Handle file_;
  Found found_ = Found::nothing;
  bool lost_ = false;
  bool signed_ = false;             // the file names this run
  std::string word_;                // of the drafts of this run
  std::vector<std::string> words_;  // of those that were found
};

}  // namespace judder::io
