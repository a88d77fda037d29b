// Whole text files.
#pragma once

#include <filesystem>
#include <string>

#include "judder/io/run_folder.hpp"

namespace judder::io {

/// Written beside its place and renamed, so that a file with its name is always whole. Folders on the way are made.
[[nodiscard]] FileStatus write_text_file(const std::filesystem::path& file, const std::string& text);

}  // namespace judder::io
