#include "judder/io/files.hpp"

#include <fstream>

namespace judder::io {

namespace fs = std::filesystem;

FileStatus write_text_file(const fs::path& file, const std::string& text) {
  FileStatus status;
  status.file = file.string();
  std::error_code ignored;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), ignored);
  fs::path temporary = file;
  temporary += ".tmp";
  {
    std::ofstream out(temporary, std::ios::binary);
    out << text;
    out.close();
    if (!out) {
      status.message = "cannot be written";
      fs::remove(temporary, ignored);
      return status;
    }
  }
  std::error_code error;
  fs::rename(temporary, file, error);
  if (error) {
    status.message = "cannot be written: " + error.message();
    fs::remove(temporary, ignored);
  }
  return status;
}

}  // namespace judder::io
