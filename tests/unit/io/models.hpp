// The model files that tests read: the gallery, and first writings beside the repository where they exist.
#pragma once

#include <algorithm>
#include <filesystem>
#include <vector>

namespace judder::io::testing {

inline std::vector<std::filesystem::path> all_models() {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  std::error_code error;
  const auto is_model = [](const fs::path& path) {
    return path.extension() == ".toml" && path.filename().string().rfind("reference", 0) != 0;
  };
  for (const char* place : {JUDDER_SOURCE_DIR "/gallery", JUDDER_SOURCE_DIR "/../shared/models"}) {
    for (auto entry = fs::recursive_directory_iterator(place, error);
         !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      if (is_model(entry->path())) files.push_back(entry->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace judder::io::testing
