#include "judder/io/files.hpp"

#include <unistd.h>

#include <cerrno>

#include "io/disk.hpp"

namespace judder::io {

namespace fs = std::filesystem;

FileStatus write_text_file(const fs::path& file, const std::string& text) {
  FileStatus status;
  status.file = file.string();
  const fs::path above = file.has_parent_path() ? file.parent_path() : fs::path(".");
  std::error_code ignored;
  fs::create_directories(above, ignored);
  disk::Handle folder;
  int error = disk::open_folder(above, folder);
  // A draft of the same name may be left from a kill, or another process may be writing it at this moment: then this one takes a name of its own.
  const std::string name = file.filename().string();
  std::string draft = name + ".tmp";
  if (error == 0) {
    disk::Handle out;
    error = disk::create_new(folder, draft, out);
    struct stat there {};
    if (error == EEXIST && disk::look(folder, draft, there) && !S_ISDIR(there.st_mode)) {
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
