#include "judder/io/files.hpp"

#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "io/disk.hpp"

namespace judder::io {

namespace fs = std::filesystem;

namespace {

/// What is in the way of a file with that name; empty: nothing.
std::string foreign(const disk::Handle& folder, const std::string& name, std::string_view mark) {
  constexpr const char* kHelp = "; move it away, or choose another name with -o";
  struct stat about {};
  if (const int error = disk::look(folder, name, about); error != 0)
    return error == ENOENT ? std::string() : disk::not_read(error);
  if (S_ISDIR(about.st_mode)) return "is a folder; name a file";
  if (S_ISLNK(about.st_mode)) return std::string("is a symbolic link, which is not followed here") + kHelp;
  if (!S_ISREG(about.st_mode)) return std::string("is not a regular file") + kHelp;
  disk::Handle file;
  std::string head(1024, '\0');
  if (const int error = disk::open_regular(folder, name, false, file); error != 0)
    return disk::not_read(error) + kHelp;
  const ssize_t got = ::pread(file.number(), head.data(), head.size(), 0);
  head.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (head.find(mark) != std::string::npos) return {};
  return std::string("exists and is none of the files that this command writes") + kHelp;
}

bool is_empty(const disk::Handle& file) {
  std::uint64_t size = 0;
  return disk::size_of(file, size) != 0 || size == 0;
}

/// Drafts that killed processes have left beside a file of the same name; what does not begin like one, or is empty, may be anybody's. Who still
/// writes holds the lock of his.
void remove_stale_drafts(const fs::path& place, const disk::Handle& folder, const std::string& name,
                         std::string_view mark) {
  std::error_code code;
  std::vector<std::string> stale;
  for (const fs::directory_entry& entry : fs::directory_iterator(place, code)) {
    const std::string draft = entry.path().filename().string();
    const pid_t writer = disk::writer_of(draft, name);
    disk::Handle file;
    if (writer != 0 && (writer == ::getpid() || (::kill(writer, 0) != 0 && errno == ESRCH)) &&
        disk::open_regular(folder, draft, false, file) == 0 &&
        ::flock(file.number(), LOCK_EX | LOCK_NB) == 0 && !is_empty(file) &&
        foreign(folder, draft, mark).empty())
      stale.push_back(draft);
  }
  for (const std::string& draft : stale) static_cast<void>(disk::remove(folder, draft));
}

fs::path above(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

}  // namespace

FileStatus refuse_foreign(const fs::path& file, std::string_view mark) {
  disk::Handle folder;
  if (disk::open_folder(above(file), folder) != 0)
    return {file.string(), {}, 0};  // it is made later, or fails then
  return {file.string(), foreign(folder, file.filename().string(), mark), 0};
}

FileStatus refuse_detour(const fs::path& path) {
  fs::path so_far;
  for (const fs::path& part : path) {
    std::error_code code;
    if (part == ".." && !so_far.empty() && !fs::is_directory(so_far, code))
      return {path.string(), "there is no folder " + so_far.string() + " to go up from", 0};
    so_far /= part;
  }
  return {};
}

struct TextFile::Draft {
  disk::Handle folder, out;
  std::string name, draft;
  std::string mark;
  FileStatus status;
  bool begun = false;  // the draft has a name

  /// With the number of this process in it. Somebody's file may have it already: then another one.
  template <class Make>
  int name_draft(const Make& make) {
    constexpr int kTries = 100;
    int error = EEXIST;
    for (int i = 0; i < kTries && error == EEXIST; ++i) {
      draft = "." + name + "." + std::string(static_cast<std::size_t>(i), '0') + std::to_string(::getpid()) +
              ".tmp";
      error = make();
    }
    begun = error == 0;
    return error;
  }
  void keep(int error) {
    if (error != 0 && status.ok()) status.message = disk::not_written(error);
  }
  void give_up() {
    if (begun) static_cast<void>(disk::remove(folder, draft));
    begun = false;
  }
};

TextFile::TextFile() = default;
TextFile::~TextFile() {
  if (draft_) draft_->give_up();
}

FileStatus TextFile::open(const fs::path& file, std::string_view mark) {
  draft_ = std::make_unique<Draft>();
  Draft& d = *draft_;
  d.status.file = file.string();
  d.name = file.filename().string();
  d.mark = mark;
  if (const FileStatus detour = refuse_detour(file); !detour.ok()) {
    d.status.message = detour.message;
    return d.status;
  }
  std::error_code ignored;
  fs::create_directories(above(file), ignored);
  d.keep(disk::open_folder(above(file), d.folder));
  if (d.status.ok()) d.status.message = foreign(d.folder, d.name, mark);
  if (d.status.ok()) {
    remove_stale_drafts(above(file), d.folder, d.name, d.mark);
    // Without a name until it is whole: what is empty is never ours.
    int error = disk::create_nameless(d.folder, d.out);
    if (error == ENOTSUP) error = d.name_draft([&d] { return disk::create_new(d.folder, d.draft, d.out); });
    if (error == 0) static_cast<void>(::flock(d.out.number(), LOCK_EX | LOCK_NB));
    d.keep(error);
  }
  return d.status;
}

void TextFile::add(std::string_view text) {
  if (draft_->status.ok()) draft_->keep(disk::write_all(draft_->out, text));
}

const FileStatus& TextFile::status() const { return draft_->status; }

FileStatus TextFile::finish() {
  Draft& d = *draft_;
  if (d.status.ok()) d.keep(disk::sync({&d.out}));
  if (d.status.ok() && !d.begun)
    d.keep(d.name_draft([&d] { return disk::give_name(d.out, d.folder, d.draft); }));
  // Somebody may have put a file there meanwhile.
  if (d.status.ok()) d.status.message = foreign(d.folder, d.name, d.mark);
  if (d.status.ok()) d.keep(disk::rename(d.folder, d.draft, d.name));
  if (d.status.ok()) {
    d.begun = false;
    d.keep(disk::sync({&d.folder}));
  }
  d.give_up();
  return d.status;
}

FileStatus write_text_file(const fs::path& file, const std::string& text, std::string_view mark) {
  TextFile out;
  if (FileStatus status = out.open(file, mark); !status.ok()) return status;
  out.add(text);
  return out.finish();
}

}  // namespace judder::io
