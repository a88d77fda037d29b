#include "io/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <thread>

namespace judder::io {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kFirstWord = "judder ";

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts)};
}

/// The first line of the file, without what a terminal would take for a command.
std::string note_in(const disk::Handle& file) {
  std::array<char, 200> text{};
  const ssize_t got = ::pread(file.number(), text.data(), text.size(), 0);
  std::string out(text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  out.resize(std::min(out.find('\n'), out.size()));
  for (char& c : out) {
    if (c < ' ' || c > '~') c = '?';
  }
  return out;
}

/// "another run writes here: process 4711 since 2026-01-01 12:00:00 UTC"
std::string holder(const disk::Handle& file) {
  // Between taking the lock and writing its name the holder needs a moment.
  std::string note;
  for (int i = 0; i < 50 && note.empty(); ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    note = note_in(file);
  }
  return "another run is writing this folder" +
         (note.rfind(kFirstWord, 0) == 0 ? ": " + note.substr(kFirstWord.size()) : std::string()) +
         "; wait for it, or choose another folder with -o";
}

}  // namespace

FileStatus FolderLock::take(const disk::Handle& folder, const fs::path& shown) {
  const std::string name = (shown / kLockName).string();
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    const int number =
        ::openat(folder.number(), kLockName, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (number < 0 && errno == EINTR) continue;
    if (number < 0) return {name, disk::words(errno), 0};
    disk::Handle file(number);
    struct stat about {};
    if (::fstat(number, &about) != 0) return {name, disk::words(errno), 0};
    if (!S_ISREG(about.st_mode) || about.st_nlink > 1) return {name, "is in the way: not a file of a run", 0};
    if (::flock(number, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno == EWOULDBLOCK) return {shown.string(), holder(file), 0};
      return {name, "cannot be locked: " + disk::words(errno), 0};
    }
    struct stat there {};
    if (!disk::look(folder, kLockName, there) || !disk::same(about, there)) continue;
    const std::string old = note_in(file);
    if (!old.empty() && old.rfind(kFirstWord, 0) != 0) return {name, "is in the way: not a file of a run", 0};
    // On a full disk the lock holds without its note.
    if (disk::cut(file, 0) == 0)
      static_cast<void>(disk::write_all(
          file,
          std::string(kFirstWord) + "process " + std::to_string(::getpid()) + " since " + time_now() + "\n"));
    file_ = std::move(file);
    taken_over_ = !old.empty();
    return {};
  }
  return {name, "cannot be locked: others keep taking it", 0};
}

void FolderLock::release(const disk::Handle& folder) {
  if (!file_) return;
  static_cast<void>(disk::remove(folder, kLockName));
  file_ = {};
}

}  // namespace judder::io
