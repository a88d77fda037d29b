// A run folder belongs to one run at a time.
//
// The lock is flock(2) on the file `lock` inside the folder, so that it ends with its process, however that ends. The file says who holds it; what
// a dead process left there is taken over. The holder removes the file at the end, still holding it: whoever opened it before finds that it is no
// longer the one in the folder and looks again.
#pragma once

#include <filesystem>

#include "io/disk.hpp"
#include "judder/io/run_folder.hpp"

namespace judder::io {

inline constexpr const char* kLockName = "lock";

class FolderLock {
 public:
  /// `shown` is the folder's name for messages. A folder that is in use is refused with the process and its time.
  FileStatus take(const disk::Handle& folder, const std::filesystem::path& shown);
  /// Removes the file and lets go.
  void release(const disk::Handle& folder);
  /// Lets go as a kill would: the file stays, for the next run to see that this one could not put its folder in order.
  void abandon() { file_ = {}; }
  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(file_); }
  /// Whether the lock of a run that did not end by itself was found: it may have left records behind its last save.
  [[nodiscard]] bool taken_over() const { return taken_over_; }

 private:
  disk::Handle file_;
  bool taken_over_ = false;
};

}  // namespace judder::io
