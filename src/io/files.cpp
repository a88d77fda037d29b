#include "judder/io/files.hpp"

#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "io/disk.hpp"

namespace judder::io {

namespace fs = std::filesystem;

namespace {

/// A regular file that nobody has locked.
bool abandoned(const disk::Handle& folder, const std::string& name) {
  disk::Handle file;
  return disk::open_regular(folder, name, false, file) == 0 && ::flock(file.number(), LOCK_EX | LOCK_NB) == 0;
}

}  // namespace

FileStatus write_text_file(const fs::path& file, const std::string& text) {
  FileStatus status;
  status.file = file.string();
  const fs::path above = file.has_parent_path() ? file.parent_path() : fs::path(".");
  std::error_code ignored;
  fs::create_directories(above, ignored);
  disk::Handle folder;
  int error = disk::open_folder(above, folder);
  // A draft of the same name may be left from a kill, or another process may be writing it at this moment, and then holds its lock: this one takes a
  // name of its own.
  const std::string name = file.filename().string();
  std::string draft = name + ".tmp";
  if (error == 0) {
    disk::Handle out;
    error = disk::create_new(folder, draft, out);
    if (error == EEXIST && abandoned(folder, draft)) {
      static_cast<void>(disk::remove(folder, draft));
      error = disk::create_new(folder, draft, out);
    }
    struct stat mine {
    }, there{};
    // Between making it and locking it somebody may have taken it for an abandoned one.
    if (error == 0 && (::flock(out.number(), LOCK_EX | LOCK_NB) != 0 || ::fstat(out.number(), &mine) != 0 ||
                       !disk::look(folder, draft, there) || !disk::same(mine, there)))
      error = EEXIST;
    if (error == EEXIST && (!disk::look(folder, draft, there) || !S_ISDIR(there.st_mode))) {
      draft = name + "." + std::to_string(::getpid()) + ".tmp";
      error = disk::create(folder, draft, out);
    }
    if (error == 0) error = disk::write_all(out, text);
    if (error == 0) error = disk::sync({&out});
    if (error == 0) error = disk::rename(folder, draft, name);
    if (error == 0) error = disk::sync({&folder});
    if (error != 0 && out) static_cast<void>(disk::remove(folder, draft));
  }
  if (error != 0) status.message = "cannot be written: " + disk::words(error);
  return status;
}

}  // namespace judder::io
