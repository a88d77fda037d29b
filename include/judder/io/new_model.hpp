// A model to start from: a commented file that runs as it is.
#pragma once

#include <filesystem>
#include <string>

#include "judder/io/run_folder.hpp"

namespace judder::io {

/// The text of the file, with this title.
[[nodiscard]] std::string new_model_text(const std::string& title);

/// Writes it to `file`, which must not be there. Folders on the way are made.
[[nodiscard]] FileStatus write_new_model(const std::filesystem::path& file, const std::string& title);

}  // namespace judder::io
