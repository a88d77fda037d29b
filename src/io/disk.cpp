#include "io/disk.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <system_error>
#include <thread>
#include <vector>

namespace judder::io::disk {
namespace {

constexpr mode_t kFile = 0666;  // less what the user's mask takes away

int open_again(int folder, const char* name, int flags, mode_t mode, Handle& out) {
  int number = -1;
  do number = ::openat(folder, name, flags | O_CLOEXEC, mode);
  while (number < 0 && errno == EINTR);
  if (number < 0) return errno;
  out = Handle(number);
  return 0;
}

int sync_one(int number) {
  int result = 0;
  do result = ::fsync(number);
  while (result != 0 && errno == EINTR);
  // Some file systems have nothing to wait for.
  return result == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno;
}

int regular(const Handle& file) {
  struct stat about {};
  if (::fstat(file.number(), &about) != 0) return errno;
  if (S_ISDIR(about.st_mode)) return EISDIR;
  return S_ISREG(about.st_mode) ? 0 : ENOTSUP;
}

int read_open(const Handle& file, std::size_t limit, std::string& out) {
  struct stat about {};
  if (::fstat(file.number(), &about) != 0) return errno;
  const auto size = static_cast<std::size_t>(std::max<off_t>(about.st_size, 0));
  if (size > limit) return EFBIG;
  out.clear();
  out.reserve(size + 1);
  // A file may grow while it is read, and some say nothing of their length: the limit counts what comes.
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  while (out.size() <= limit) {
    const std::size_t before = out.size();
    out.resize(before + std::max(kBlock, size > before ? size - before : 0));
    const ssize_t got = ::read(file.number(), out.data() + before, out.size() - before);
    const int error = errno;
    out.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got < 0 && error == EINTR) continue;
    if (got < 0) return error;
    if (got == 0) return 0;
  }
  out.clear();
  return EFBIG;
}

}  // namespace

int Handle::close() {
  if (number_ < 0) return 0;
  // After an interrupted close the number is free on Linux; closing again could hit another file.
  return ::close(std::exchange(number_, -1)) == 0 || errno == EINTR ? 0 : errno;
}

int open_folder(const std::filesystem::path& path, Handle& out) {
  return open_again(AT_FDCWD, path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY, 0, out);
}

int open_folder_itself(const std::filesystem::path& path, Handle& out) {
  // The system says the same (ENOTDIR) of a link and of a file.
  struct stat about {};
  if (::lstat(path.c_str(), &about) == 0 && S_ISLNK(about.st_mode)) return ELOOP;
  return open_again(AT_FDCWD, path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, out);
}

int open_folder_in(const Handle& folder, const std::string& name, Handle& out) {
  return open_again(folder.number(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, out);
}

int create(const Handle& folder, const std::string& name, Handle& out) {
  if (const int error = remove(folder, name); error != 0) return error;
  return create_new(folder, name, out);
}

int create_new(const Handle& folder, const std::string& name, Handle& out) {
  return open_again(folder.number(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, kFile, out);
}

namespace {

std::string place_of(const Handle& file) { return "/proc/self/fd/" + std::to_string(file.number()); }

}  // namespace

int create_nameless(const Handle& folder, Handle& out) {
  // Without /proc it could not get its name later.
  if (::access(place_of(folder).c_str(), F_OK) != 0) return ENOTSUP;
  const int error = open_again(folder.number(), ".", O_RDWR | O_TMPFILE, kFile, out);
  // File systems and kernels that have none say so in different words.
  return error == EISDIR || error == EINVAL || error == ENOENT || error == EOPNOTSUPP ? ENOTSUP : error;
}

int give_name(const Handle& file, const Handle& folder, const std::string& name) {
  return ::linkat(AT_FDCWD, place_of(file).c_str(), folder.number(), name.c_str(), AT_SYMLINK_FOLLOW) == 0
             ? 0
             : errno;
}

int open_regular(const Handle& folder, const std::string& name, bool write, Handle& out) {
  // Without O_NONBLOCK the opening of a pipe waits for its other end.
  Handle file;
  if (const int error = open_again(folder.number(), name.c_str(),
                                   (write ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK, 0, file);
      error != 0)
    return error;
  if (const int error = regular(file); error != 0) return error;
  out = std::move(file);
  return 0;
}

int size_of(const Handle& file, std::uint64_t& out) {
  struct stat about {};
  if (::fstat(file.number(), &about) != 0) return errno;
  out = static_cast<std::uint64_t>(std::max<off_t>(about.st_size, 0));
  return 0;
}

int write_all(const Handle& file, std::string_view bytes, std::size_t* written) {
  if (written != nullptr) *written = 0;
  while (!bytes.empty()) {
    const ssize_t some = ::write(file.number(), bytes.data(), bytes.size());
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) return errno;
    if (some == 0) return ENOSPC;
    bytes.remove_prefix(static_cast<std::size_t>(some));
    if (written != nullptr) *written += static_cast<std::size_t>(some);
  }
  return 0;
}

int only_append(const Handle& file) {
  const int flags = ::fcntl(file.number(), F_GETFL);
  return flags >= 0 && ::fcntl(file.number(), F_SETFL, flags | O_APPEND) == 0 ? 0 : errno;
}

int cut(const Handle& file, std::uint64_t length) {
  const auto end = static_cast<off_t>(length);
  if (::ftruncate(file.number(), end) != 0) return errno;
  return ::lseek(file.number(), end, SEEK_SET) == end ? 0 : errno;
}

int sync(std::initializer_list<const Handle*> handles) {
  std::vector<int> numbers;
  for (const Handle* handle : handles) {
    if (*handle) numbers.push_back(handle->number());
  }
  if (numbers.empty()) return 0;
  // Waits at the same time: the file system then needs one commit of its journal instead of one for each.
  std::vector<int> errors(numbers.size(), 0);
  std::vector<std::thread> others;
  others.reserve(numbers.size());
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    const auto wait = [&errors, &numbers, i] { errors[i] = sync_one(numbers[i]); };
    try {
      others.emplace_back(wait);
    } catch (...) {  // no thread to be had, or no memory for one
      wait();
    }
  }
  errors[0] = sync_one(numbers[0]);
  for (std::thread& other : others) other.join();
  const auto bad = std::find_if(errors.begin(), errors.end(), [](int error) { return error != 0; });
  return bad == errors.end() ? 0 : *bad;
}

int rename(const Handle& folder, const std::string& from, const std::string& to) {
  return ::renameat(folder.number(), from.c_str(), folder.number(), to.c_str()) == 0 ? 0 : errno;
}

namespace {

int rename_by(unsigned how, const Handle& folder, const std::string& from, const std::string& to) {
#ifdef RENAME_EXCHANGE
  if (::renameat2(folder.number(), from.c_str(), folder.number(), to.c_str(), how) == 0) return 0;
  return errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP ? ENOTSUP : errno;
#else
  static_cast<void>(how), static_cast<void>(folder), static_cast<void>(from), static_cast<void>(to);
  return ENOTSUP;
#endif
}

#ifdef RENAME_EXCHANGE
constexpr unsigned kNoReplace = RENAME_NOREPLACE, kExchange = RENAME_EXCHANGE;
#else
constexpr unsigned kNoReplace = 1, kExchange = 2;
#endif

}  // namespace

int rename_new(const Handle& folder, const std::string& from, const std::string& to) {
  return rename_by(kNoReplace, folder, from, to);
}

int exchange(const Handle& folder, const std::string& one, const std::string& other) {
  return rename_by(kExchange, folder, one, other);
}

int remove(const Handle& folder, const std::string& name) {
  return ::unlinkat(folder.number(), name.c_str(), 0) == 0 || errno == ENOENT ? 0 : errno;
}

int look(const Handle& folder, const std::string& name, struct stat& out) {
  return ::fstatat(folder.number(), name.c_str(), &out, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno;
}

bool same(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

int same_place(const std::filesystem::path& first, const std::filesystem::path& second, bool& out) {
  struct stat a {
  }, b{};
  out = false;
  if (::stat(first.c_str(), &a) != 0) return errno;
  if (::stat(second.c_str(), &b) != 0) return errno == ENOENT || errno == ENOTDIR ? 0 : errno;
  out = same(a, b);
  return 0;
}

int open_to_read(const std::filesystem::path& path, Handle& out, Links links) {
  Handle file;
  const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | (links == Links::refuse ? O_NOFOLLOW : 0);
  if (const int error = open_again(AT_FDCWD, path.c_str(), flags, 0, file); error != 0) return error;
  if (const int error = regular(file); error != 0) return error;
  out = std::move(file);
  return 0;
}

int read_bounded(const std::filesystem::path& path, std::size_t limit, std::string& out, Links links) {
  Handle file;
  if (const int error = open_to_read(path, file, links); error != 0) return error;
  return read_open(file, limit, out);
}

int read_bounded(const Handle& folder, const std::string& name, std::size_t limit, std::string& out) {
  Handle file;
  if (const int error = open_regular(folder, name, false, file); error != 0) return error;
  return read_open(file, limit, out);
}

pid_t writer_of(std::string_view draft, const std::string& name) {
  const std::string begin = "." + name + ".";
  constexpr std::string_view kEnd = ".tmp";
  if (draft.size() <= begin.size() + kEnd.size() || draft.substr(0, begin.size()) != begin ||
      draft.substr(draft.size() - kEnd.size()) != kEnd)
    return 0;
  const std::string_view digits = draft.substr(begin.size(), draft.size() - begin.size() - kEnd.size());
  pid_t out = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return read.ec == std::errc{} && read.ptr == digits.data() + digits.size() && out > 0 ? out : 0;
}

std::string words(int error) {
  switch (error) {
    case ELOOP:
      return "is a symbolic link, which is not followed here";
    case ENOTSUP:
      return "is not a regular file";
    default:
      return std::generic_category().message(error != 0 ? error : EIO);
  }
}

bool no_room(int error) { return error == ENOSPC || error == EDQUOT; }

std::string not_written(int error) {
  if (error == ELOOP || error == ENOTSUP) return words(error);  // a sentence of its own
  std::string out = "cannot be written: " + words(error);
  switch (error) {
    case EIO:
      return out + " (the disk or the connection to it has failed)";
    case EFBIG:
      return out + " (see ulimit -f)";
    case EACCES:
    case EPERM:
    case EROFS:
      return out + "; choose another folder with -o";
    default:
      return out;
  }
}

std::string not_read(int error) {
  if (error == ELOOP || error == ENOTSUP) return words(error);
  return "cannot be read: " + words(error) +
         (error == EIO ? " (the disk or the connection to it has failed)" : "");
}

std::string Check::text() const {
  std::string out(16, '0');
  std::uint64_t rest = value();
  for (std::size_t i = out.size(); i-- > 0; rest >>= 4U) out[i] = "0123456789abcdef"[rest & 0xFU];
  return out;
}

int check_of(const Handle& file, std::uint64_t bytes, Check& out, std::uint64_t* lines) {
  std::vector<char> block(std::size_t{1} << 18);
  std::uint64_t at = 0;
  while (at < bytes) {
    const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), bytes - at));
    const ssize_t got = ::pread(file.number(), block.data(), want, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return ENODATA;
    out.add({block.data(), static_cast<std::size_t>(got)});
    if (lines != nullptr)
      *lines += static_cast<std::uint64_t>(std::count(block.data(), block.data() + got, '\n'));
    at += static_cast<std::uint64_t>(got);
  }
  return 0;
}

}  // namespace judder::io::disk
