// Whole text files: tables and figures that a verb writes where the user says.
//
// A file is written beside its place and renamed, so that one with its name is always whole. What stands in its place already is replaced only if it
// is empty or one of ours: its beginning has the mark of that kind of file, the names of a table's columns or the class of a figure. Everything else
// (somebody's file, a link, a device, a folder) is refused.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "judder/io/run_folder.hpp"

namespace judder::io {

/// Every figure has it near its beginning.
inline constexpr std::string_view kFigureMark = "class=\"judder-figure\"";

/// Success if `file` may be written: for verbs that have much to do before they write.
[[nodiscard]] FileStatus refuse_foreign(const std::filesystem::path& file, std::string_view mark);

/// Success unless the path goes up (`..`) from a folder that is not there: making it would leave folders that nobody asked for.
[[nodiscard]] FileStatus refuse_detour(const std::filesystem::path& path);

/// A text that comes in pieces.
class TextFile {
 public:
  TextFile();
  ~TextFile();  ///< without `finish` nothing is left
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  /// Folders on the way are made.
  FileStatus open(const std::filesystem::path& file, std::string_view mark);
  void add(std::string_view text);
  /// The first failure so far.
  [[nodiscard]] const FileStatus& status() const;
  /// On the disk, under its name.
  FileStatus finish();

 private:
  struct Draft;
  std::unique_ptr<Draft> draft_;
};

[[nodiscard]] FileStatus write_text_file(const std::filesystem::path& file, const std::string& text,
                                         std::string_view mark);

}  // namespace judder::io
