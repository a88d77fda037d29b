#include "io/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <thread>

#include "io/manifest.hpp"

namespace judder::io {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kFirstWord = "judder ";
constexpr std::string_view kProcess = "process ";

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts)};
}

constexpr std::string_view kDrafts = "drafts";
constexpr std::size_t kWordLength = 16;
/// Longer than the notes of many runs that were killed one after the other before they could put the folder in order.
constexpr std::size_t kLongest = 8192;

/// "judder process 4711 since …", and in the next line "drafts" with the words of their names; one such pair for each run.
int read_text(const disk::Handle& file, std::string& out) {
  std::array<char, kLongest> text{};
  ssize_t got = 0;
  do got = ::pread(file.number(), text.data(), text.size(), 0);
  while (got < 0 && errno == EINTR);
  if (got < 0) return errno;
  out.assign(text.data(), static_cast<std::size_t>(got));
  return 0;
}

/// Written over what is there, so that on a full disk the note of a killed run stays one.
int write_text(const disk::Handle& file, const std::string& text) {
  if (::lseek(file.number(), 0, SEEK_SET) != 0) return errno;
  const int error = disk::write_all(file, text);
  return error == 0 ? disk::cut(file, text.size()) : error;
}

/// Written behind it, which stays as it is whatever happens.
int append_text(const disk::Handle& file, const std::string& text) {
  const off_t end = ::lseek(file.number(), 0, SEEK_END);
  if (end < 0) return errno;
  const int error = disk::write_all(file, text);
  if (error != 0) static_cast<void>(disk::cut(file, static_cast<std::uint64_t>(end)));
  return error;
}

/// Takes the next line from the front; `whole`: it has an end.
std::string_view next_line(std::string_view& text, bool& whole) {
  const std::size_t end = text.find('\n');
  whole = end != std::string_view::npos;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(whole ? end + 1 : text.size());
  return line;
}

/// The line of the last run that has written its own, without what a terminal would take for a command.
std::string note_of(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    bool whole = false;
    const std::string_view line = next_line(text, whole);
    if (out.empty() || (whole && line.rfind(kFirstWord, 0) == 0)) out = line;
  }
  for (char& c : out) {
    if (c < ' ' || c > '~') c = '?';
  }
  return out;
}

bool is_word(std::string_view text) {
  return text.size() == kWordLength && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    bool whole = false;
    std::string_view line = next_line(text, whole);
    if (line.rfind(kDrafts, 0) != 0) continue;
    while (!line.empty()) {
      const std::string_view word = line.substr(0, line.find(' '));
      if (is_word(word)) out.emplace_back(word);
      line.remove_prefix(std::min(word.size() + 1, line.size()));
    }
  }
  return out;
}

/// What a file holds that was found under the name of the lock; nothing: what no run writes, and no power cut leaves of it.
std::optional<FolderLock::Found> kind_of(std::string_view text, off_t length) {
  using Found = FolderLock::Found;
  if (text.rfind(kFirstWord, 0) == 0) return Found::note;
  if (length == 0) return Found::empty;
  if (static_cast<std::size_t>(length) > text.size()) return std::nullopt;
  const std::string begin = std::string(kFirstWord) + std::string(kProcess);
  constexpr std::string_view kBehind = "0123456789abcdefghijklmnopqrstuvwxyzUTC -:\n";
  bool zeros = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\0') continue;
    zeros = false;
    if (i < begin.size() ? text[i] != begin[i] : kBehind.find(text[i]) == std::string_view::npos)
      return std::nullopt;
  }
  return zeros ? Found::zeros : Found::torn;
}

std::string new_word() {
  disk::Check check;
  std::array<char, 16> bytes{};
  const ssize_t got = ::getrandom(bytes.data(), bytes.size(), GRND_NONBLOCK);
  check.add({bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))});
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  check.add(std::to_string(::getpid()) + " " + std::to_string(now));
  return check.text();
}

// Between taking the lock and writing its name, and between removing that and letting go, a holder needs a moment.
constexpr int kLooks = 50;
void wait_a_moment() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

std::string note_in(const disk::Handle& folder) {
  disk::Handle file;
  std::string text;  // for a message: what cannot be read is left out
  if (disk::open_regular(folder, kLockName, false, file) != 0 || read_text(file, text) != 0) return {};
  return note_of(std::move(text));
}

/// False only where the process of the note is known to be gone: then the note is that of a killed run, and whoever holds the lock now has not signed yet.
bool may_live(const std::string& note) {
  const std::size_t at = note.find(kProcess);
  if (at == std::string::npos) return true;
  const long process = std::strtol(note.c_str() + at + kProcess.size(), nullptr, 10);
  return process <= 0 || ::kill(static_cast<pid_t>(process), 0) == 0 || errno != ESRCH;
}

/// "another run is writing this folder: process 4711 since 2026-01-01 12:00:00 UTC"
std::string refusal(const std::string& note) {
  return "another run is writing this folder" +
         (note.rfind(kFirstWord, 0) == 0 && may_live(note) ? ": " + note.substr(kFirstWord.size())
                                                           : std::string()) +
         "; wait for it, or choose another folder with -o";
}

std::string holder(const disk::Handle& folder) {
  std::string note = note_in(folder);
  for (int i = 1; i < kLooks && (note.empty() || !may_live(note)); ++i) {
    wait_a_moment();
    note = note_in(folder);
  }
  return refusal(note);
}

}  // namespace

FileStatus FolderLock::take(const disk::Handle& folder, const fs::path& shown) {
  disk::Handle place(::openat(folder.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  int locked = -1;
  for (int i = 0; place && locked != 0; ++i) {
    locked = ::flock(place.number(), LOCK_EX | LOCK_NB);
    if (locked == 0 || errno == EINTR) continue;
    if (errno != EWOULDBLOCK) break;  // a file system that locks no folders
    if (const std::string note = note_in(folder); (!note.empty() && may_live(note)) || i >= kLooks)
      return {shown.string(), refusal(note), 0};
    wait_a_moment();
  }
  if (locked == 0) place_ = std::move(place);
  word_ = new_word();
  FileStatus status = take_file(folder, shown);
  if (!status.ok()) place_ = {};
  return status;
}

FileStatus FolderLock::take_file(const disk::Handle& folder, const fs::path& shown) {
  const std::string name = (shown / kLockName).string();
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    constexpr int kFlags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int number = ::openat(folder.number(), kLockName, kFlags);
    const bool made = number < 0 && errno == ENOENT;
    if (made) number = ::openat(folder.number(), kLockName, kFlags | O_CREAT | O_EXCL, 0666);
    if (number < 0 && (errno == EINTR || (made && errno == EEXIST))) continue;
    if (number < 0) return {name, disk::not_written(errno), 0};
    disk::Handle file(number);
    struct stat about {};
    if (::fstat(number, &about) != 0) {
      const int error = errno;
      if (made) static_cast<void>(disk::remove(folder, kLockName));  // a moment old
      return {name, disk::not_written(error), 0};
    }
    if (!S_ISREG(about.st_mode) || about.st_nlink > 1) return {name, kForeign, 0};
    if (::flock(number, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno == EWOULDBLOCK) return {shown.string(), holder(folder), 0};
      return {name, "cannot be locked: " + disk::words(errno), 0};
    }
    struct stat there {};
    const int looked = disk::look(folder, kLockName, there);
    if (looked != 0 && looked != ENOENT) {
      if (made) static_cast<void>(disk::remove(folder, kLockName));
      return {name, disk::not_read(looked), 0};
    }
    if (looked == ENOENT || !disk::same(about, there)) continue;
    // What cannot be read is not known to be empty, and so not known to be ours.
    std::string old;
    if (const int error = about.st_size > 0 ? read_text(file, old) : 0; error != 0)
      return {name, disk::not_read(error), 0};
    const std::optional<Found> kind = made ? Found::nothing : kind_of(old, about.st_size);
    if (!kind) return {name, kForeign, 0};
    found_ = *kind;
    words_ = words_of(old);
    forget_words(folder);
    if (made) {
      if (const int error = write_text(file, note()); error != 0) {
        static_cast<void>(disk::remove(folder, kLockName));
        return {name, disk::not_written(error), 0};
      }
    }
    signed_ = made;
    file_ = std::move(file);
    return {};
  }
  return {name, "cannot be locked: others keep taking it", 0};
}

void FolderLock::forget_words(const disk::Handle& folder) {
  const auto gone = [&](const std::string& word) {
    for (const std::string& own : kOwn) {
      struct stat about {};
      if (disk::look(folder, draft(own, word), about) != ENOENT) return false;
    }
    return true;
  };
  words_.erase(std::remove_if(words_.begin(), words_.end(), gone), words_.end());
}

FileStatus FolderLock::hold(const disk::Handle& folder, const fs::path& shown) {
  struct stat mine {
  }, there{};
  const int looked = disk::look(folder, kLockName, there);
  if ((looked != 0 && looked != ENOENT) || ::fstat(file_.number(), &mine) != 0)
    return {(shown / kLockName).string(), disk::not_read(looked != 0 ? looked : errno), 0};
  const bool found = looked == 0;
  if (found && disk::same(mine, there)) return {};
  lost_ = found || !place_;
  if (lost_)
    return {(shown / kLockName).string(),
            "was removed or replaced during the run, and with it what keeps other runs out", 0};
  // What this run found when it came in stays known.
  const Found before = found_;
  std::vector<std::string> words = words_;
  FileStatus status = take_file(folder, shown);
  if (status.ok() && found_ != Found::nothing) status = sign(shown);
  found_ = before;
  words_ = std::move(words);
  if (!status.ok()) return status;
  // The drafts that it names are there already.
  const int error = disk::sync({&file_, &folder});
  return error == 0 ? FileStatus{} : FileStatus{(shown / kLockName).string(), disk::not_written(error), 0};
}

std::string FolderLock::note() const {
  std::string text = std::string(kFirstWord) + std::string(kProcess) + std::to_string(::getpid()) +
                     " since " + time_now() + "\n" + std::string(kDrafts);
  return text + " " + word_ + "\n";
}

FileStatus FolderLock::sign(const fs::path& shown) {
  if (signed_) return {};
  // A word whose drafts are there must not be lost with a write that a power cut tears.
  const int error = words_.empty() ? write_text(file_, note()) : append_text(file_, "\n" + note());
  if (error != 0) return {(shown / kLockName).string(), disk::not_written(error), 0};
  signed_ = true;
  return {};
}

void FolderLock::give_back(const disk::Handle& folder) {
  if (taken_over())
    abandon();
  else
    release(folder);
}

void FolderLock::release(const disk::Handle& folder) {
  if (!file_) return;
  // What somebody has put in its place is not ours.
  struct stat mine {
  }, there{};
  if (::fstat(file_.number(), &mine) == 0 && disk::look(folder, kLockName, there) == 0 &&
      disk::same(mine, there))
    static_cast<void>(disk::remove(folder, kLockName));
  abandon();
}

void FolderLock::abandon() {
  file_ = {};
  place_ = {};
}

std::vector<std::string> FolderLock::drafts(const std::string& file) const {
  std::vector<std::string> out;
  if (!word_.empty()) out.push_back(draft(file));
  for (const std::string& word : words_) out.push_back(draft(file, word));
  return out;
}

bool FolderLock::is_draft(std::string_view name, const std::string& file) {
  return name.size() == file.size() + kWordLength + 5 && is_word(name.substr(file.size() + 1, kWordLength)) &&
         name == draft(file, std::string(name.substr(file.size() + 1, kWordLength)));
}

}  // namespace judder::io
