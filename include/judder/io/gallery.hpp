// The bundled models: where they are, which there are, and a copy of one to start from.
//
// A gallery is a folder with one folder per model: model.toml, further writings model-NAME.toml, reference.toml, README.md.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "judder/io/run_folder.hpp"

namespace judder::io {

/// The first that exists, or of which nobody may know whether it does, of: `chosen` (the environment variable JUDDER_GALLERY), share/judder/gallery beside the folder of
/// the program, the source tree from which it was built. Empty: none.
[[nodiscard]] std::filesystem::path find_gallery(const std::filesystem::path& chosen,
                                                 const std::filesystem::path& program);

struct GalleryModel {
  std::string name;                 ///< of the folder
  std::string title;                ///< of model.toml
  std::string source;               ///< the same
  std::vector<std::string> models;  ///< files: model.toml first
};

/// Models by name. Folders without a model.toml do not count. `status` tells what could not be read, be it one folder of many.
[[nodiscard]] std::vector<GalleryModel> list_gallery(const std::filesystem::path& gallery,
                                                     FileStatus* status = nullptr);

/// Copies the folder of one model to `target`, which must not exist yet.
[[nodiscard]] FileStatus copy_gallery_model(const std::filesystem::path& gallery, const std::string& name,
                                            const std::filesystem::path& target);

}  // namespace judder::io
