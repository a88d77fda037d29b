#include "judder/io/gallery.hpp"

#include <algorithm>

#include "judder/io/reader.hpp"

namespace judder::io {

namespace fs = std::filesystem;

fs::path find_gallery(const fs::path& chosen, const fs::path& program) {
  std::error_code error;
  std::vector<fs::path> places;
  if (!chosen.empty()) places.push_back(chosen);
  if (!program.empty())
    places.push_back(fs::weakly_canonical(program, error).parent_path().parent_path() /
                     "share/judder/gallery");
  places.emplace_back(JUDDER_SOURCE_GALLERY);
  for (const fs::path& place : places) {
    if (fs::is_directory(place, error)) return place;
  }
  return {};
}

std::vector<GalleryModel> list_gallery(const fs::path& gallery) {
  std::vector<GalleryModel> models;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(gallery, error)) {
    if (!fs::is_regular_file(entry.path() / "model.toml", error)) continue;
    GalleryModel model;
    model.name = entry.path().filename().string();
    const ModelFile file = read_model(entry.path() / "model.toml");
    model.title = file.spec.title.text;
    model.source = file.spec.source.text;
    for (const fs::directory_entry& inner : fs::directory_iterator(entry.path(), error)) {
      const std::string name = inner.path().filename().string();
      if (name.rfind("model-", 0) == 0 && inner.path().extension() == ".toml") model.models.push_back(name);
    }
    std::sort(model.models.begin(), model.models.end());
    model.models.insert(model.models.begin(), "model.toml");
    models.push_back(std::move(model));
  }
  std::sort(models.begin(), models.end(),
            [](const GalleryModel& a, const GalleryModel& b) { return a.name < b.name; });
  return models;
}

FileStatus copy_gallery_model(const fs::path& gallery, const std::string& name, const fs::path& target) {
  FileStatus status;
  std::error_code error;
  status.file = target.string();
  if (fs::exists(target, error)) {
    status.message = "exists already";
    return status;
  }
  fs::copy(gallery / name, target, fs::copy_options::recursive, error);
  if (error) status.message = "cannot be written: " + error.message();
  return status;
}

}  // namespace judder::io
