#include "judder/io/gallery.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <vector>

#include "io/disk.hpp"
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
    const fs::file_type type = fs::status(place, error).type();
    if (type == fs::file_type::directory || type == fs::file_type::none) return place;
  }
  return {};
}

std::vector<GalleryModel> list_gallery(const fs::path& gallery, FileStatus* status) {
  std::vector<GalleryModel> models;
  const auto failed = [status](const fs::path& place, const std::error_code& why) {
    if (status != nullptr && status->ok() && why) *status = {place.string(), disk::not_read(why.value()), 0};
  };
  std::error_code error;
  fs::directory_iterator entries(gallery, error);
  failed(gallery, error);
  for (; entries != fs::directory_iterator(); entries.increment(error), failed(gallery, error)) {
    const fs::directory_entry& entry = *entries;
    const fs::file_type kind = fs::status(entry.path() / "model.toml", error).type();
    if (kind == fs::file_type::none) failed(entry.path() / "model.toml", error);
    if (kind != fs::file_type::regular) continue;
    GalleryModel model;
    model.name = entry.path().filename().string();
    const ModelFile file = read_model(entry.path() / "model.toml");
    model.title = file.spec.title.text;
    model.source = file.spec.source.text;
    fs::directory_iterator files(entry.path(), error);
    failed(entry.path(), error);
    for (; files != fs::directory_iterator(); files.increment(error), failed(entry.path(), error)) {
      const fs::path inner = files->path();
      const std::string name = inner.filename().string();
      if (name.rfind("model-", 0) == 0 && inner.extension() == ".toml") model.models.push_back(name);
    }
    std::sort(model.models.begin(), model.models.end());
    model.models.insert(model.models.begin(), "model.toml");
    models.push_back(std::move(model));
  }
  std::sort(models.begin(), models.end(),
            [](const GalleryModel& a, const GalleryModel& b) { return a.name < b.name; });
  return models;
}

namespace {

/// The files of a folder, and of those in it, written anew into an open one.
int copy_files(const fs::path& from, const disk::Handle& to) {
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(from, code)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory(code)) {
      if (::mkdirat(to.number(), name.c_str(), 0777) != 0) return errno;
      disk::Handle inner;
      if (const int error = disk::open_folder_in(to, name, inner); error != 0) return error;
      if (const int error = copy_files(entry.path(), inner); error != 0) return error;
      continue;
    }
    constexpr std::size_t kMost = std::size_t{1} << 28;
    std::string bytes;
    disk::Handle file;
    if (const int error = disk::read_bounded(entry.path(), kMost, bytes); error != 0) return error;
    if (const int error = disk::create(to, name, file); error != 0) return error;
    if (const int error = disk::write_all(file, bytes); error != 0) return error;
    // Scripts stay programs.
    struct stat about {};
    if (::stat(entry.path().c_str(), &about) == 0 && (about.st_mode & S_IXUSR) != 0 &&
        ::fstat(file.number(), &about) == 0)
      static_cast<void>(::fchmod(file.number(), about.st_mode | ((about.st_mode & 0444) >> 2)));
    if (const int error = disk::sync({&file}); error != 0) return error;
  }
  if (code) return code.value();
  return disk::sync({&to});
}

/// Whether everything in a folder has the name and kind of something in the model: it is a copy of it, perhaps not a whole one.
bool part_of(const fs::path& model, const fs::path& folder) {
  std::error_code code;
  for (fs::recursive_directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
    const fs::file_status mine = at->symlink_status(code);
    if (code || mine.type() != fs::symlink_status(model / at->path().lexically_relative(folder), code).type())
      return false;
  }
  return !code;
}

/// Drafts that a killed process has left beside a copy of the same name. Who still writes holds the lock of the draft, on this machine or another.
void remove_stale_drafts(const fs::path& model, const fs::path& above, const disk::Handle& parent,
                         const std::string& name) {
  std::error_code code;
  std::vector<std::string> stale;
  for (const fs::directory_entry& entry : fs::directory_iterator(above, code)) {
    const std::string draft = entry.path().filename().string();
    const pid_t writer = disk::writer_of(draft, name);
    if (writer == 0 || (writer != ::getpid() && (::kill(writer, 0) == 0 || errno != ESRCH))) continue;
    disk::Handle folder;
    if (disk::open_folder_in(parent, draft, folder) == 0 &&
        ::flock(folder.number(), LOCK_EX | LOCK_NB) == 0 && part_of(model, entry.path()))
      stale.push_back(draft);
  }
  for (const std::string& draft : stale) fs::remove_all(above / draft, code);
}

}  // namespace

FileStatus copy_gallery_model(const fs::path& gallery, const std::string& name, const fs::path& target) {
  const auto failed = [&target](const std::string& message) {
    return FileStatus{target.string(), message, 0};
  };
  const fs::path path = target.has_filename() ? target : target.parent_path();  // "press/"
  std::error_code code;
  if (fs::exists(fs::symlink_status(path, code))) return failed("exists already");
  const fs::path above = path.has_parent_path() ? path.parent_path() : fs::path(".");
  fs::create_directories(above, code);
  // Under a name of its own beside its place, then one rename: there is the whole model or nothing.
  const fs::path draft = above / ("." + path.filename().string() + "." + std::to_string(::getpid()) + ".tmp");
  disk::Handle parent, folder;
  int error = disk::open_folder(above, parent);
  if (error == 0) remove_stale_drafts(gallery / name, above, parent, path.filename().string());
  if (error == 0 && ::mkdirat(parent.number(), draft.filename().c_str(), 0777) != 0) error = errno;
  if (error != 0) return failed(disk::not_written(error));
  error = disk::open_folder_in(parent, draft.filename().string(), folder);
  if (error == 0) static_cast<void>(::flock(folder.number(), LOCK_EX | LOCK_NB));
  if (error == 0) error = copy_files(gallery / name, folder);
  if (error == 0) error = disk::rename(parent, draft.filename().string(), path.filename().string());
  if (error == 0) error = disk::sync({&parent});
  if (error == 0) return {target.string(), {}, 0};
  fs::remove_all(draft, code);
  return failed(disk::not_written(error));
}

}  // namespace judder::io
