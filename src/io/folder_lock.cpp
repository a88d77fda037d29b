#include "io/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <thread>

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
/// Of runs killed one after the other before they could put the folder in order.
constexpr std::size_t kMostWords = 16;

/// "judder process 4711 since …", and in the second line "drafts" with the words of their names.
int read_text(const disk::Handle& file, std::string& out) {
  std::array<char, 512> text{};
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

/// The first line, without what a terminal would take for a command.
std::string note_of(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

bool is_word(std::string_view text) {
  return text.size() == kWordLength && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  text = text.substr(0, text.find('\n'));
  while (!text.empty() && out.size() < kMostWords) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (is_word(word)) out.emplace_back(word);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return out;
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
  constexpr const char* kForeign =
      "is in the way: not a file of a run; move it away, or choose another folder with -o";
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    const int number =
        ::openat(folder.number(), kLockName, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (number < 0 && errno == EINTR) continue;
    if (number < 0) return {name, disk::not_written(errno), 0};
    disk::Handle file(number);
    struct stat about {};
    if (::fstat(number, &about) != 0) return {name, disk::not_written(errno), 0};
    if (!S_ISREG(about.st_mode) || about.st_nlink > 1) return {name, kForeign, 0};
    if (::flock(number, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno == EWOULDBLOCK) return {shown.string(), holder(folder), 0};
      return {name, "cannot be locked: " + disk::words(errno), 0};
    }
    struct stat there {};
    const int looked = disk::look(folder, kLockName, there);
    if (looked != 0 && looked != ENOENT) {
      if (about.st_size == 0) static_cast<void>(disk::remove(folder, kLockName));  // a moment old
      return {name, disk::not_read(looked), 0};
    }
    if (looked == ENOENT || !disk::same(about, there)) continue;
    // What cannot be read is not known to be empty, and so not known to be ours.
    std::string old;
    if (const int error = about.st_size > 0 ? read_text(file, old) : 0; error != 0)
      return {name, disk::not_read(error), 0};
    if (!old.empty() && old.rfind(kFirstWord, 0) != 0) return {name, kForeign, 0};
    words_ = words_of(old);
    taken_over_ = !old.empty();
    if (old.empty()) {
      if (const int error = write_text(file, note()); error != 0) {
        static_cast<void>(disk::remove(folder, kLockName));
        return {name, disk::not_written(error), 0};
      }
    }
    signed_ = old.empty();
    file_ = std::move(file);
    return {};
  }
  return {name, "cannot be locked: others keep taking it", 0};
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
  const bool before = taken_over_;
  std::vector<std::string> words = words_;
  FileStatus status = take_file(folder, shown);
  if (status.ok() && taken_over_) status = sign(shown);
  taken_over_ = before;
  words_ = std::move(words);
  return status;
}

std::string FolderLock::note() const {
  std::string text = std::string(kFirstWord) + std::string(kProcess) + std::to_string(::getpid()) +
                     " since " + time_now() + "\n";
  // The own word comes last: a note that was cut still has those of the drafts that are there.
  text += kDrafts;
  for (std::size_t k = 0; k < std::min(words_.size(), kMostWords - 1); ++k) text += " " + words_[k];
  return text + " " + word_ + "\n";
}

FileStatus FolderLock::sign(const fs::path& shown) {
  if (signed_) return {};
  if (const int error = write_text(file_, note()); error != 0)
    return {(shown / kLockName).string(), disk::not_written(error), 0};
  signed_ = true;
  return {};
}

void FolderLock::give_back(const disk::Handle& folder) {
  if (taken_over_)
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
  std::vector<std::string> out{draft(file)};
  for (const std::string& word : words_) out.push_back(draft(file, word));
  return out;
}

bool FolderLock::is_draft(std::string_view name, const std::string& file) {
  return name.size() == file.size() + kWordLength + 5 && is_word(name.substr(file.size() + 1, kWordLength)) &&
         name == draft(file, std::string(name.substr(file.size() + 1, kWordLength)));
}

}  // namespace judder::io
